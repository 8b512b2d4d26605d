"""Paired classifiers: the joint table, the patterns behind it, and the two kinds of dependence."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import xarray as xr
from agreement import draw, hardly_diverges, log_density, proportional, recovers
from scipy import integrate, special, stats
from scipy.optimize import brentq

import bayescm
from bayescm import models
from bayescm.data.items import check_joint, joint_cells, margins, paired_counts
from bayescm.models.patterns import intercepts, pattern_probabilities, patterns
from bayescm.priors.concentrations import concentrations

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]
STORY = models.load("paired")


def table(systems=2, n_labels=2, n=150, seed=0):
    rng = np.random.default_rng(seed)
    dims = ("actual", *"ABCDEF"[:systems])
    shape = (n_labels,) * len(dims)
    counts = rng.multinomial(n, rng.dirichlet(np.ones(int(np.prod(shape))))).reshape(shape)
    return check_joint(xr.DataArray(counts, dims=dims))


def adaptive(right, load):
    """Pattern probabilities by root finding and adaptive quadrature."""

    def density(u):
        return np.exp(-u * u / 2) / np.sqrt(2 * np.pi)

    def over_items(function):
        return integrate.quad(lambda u: density(u) * function(u), -9, 9, epsabs=1e-12, epsrel=1e-11, limit=300)[0]

    roots = [brentq(lambda b, m=m: over_items(lambda u: special.expit(b + load * u)) - m, -40, 40) for m in right]
    b = np.array(roots)
    return np.array(
        [
            over_items(lambda u, y=y: np.prod(special.expit(np.where(y, 1, -1) * (b + load * u))))
            for y in patterns(len(b))
        ]
    )


# the table


@pytest.mark.parametrize("k", [2, 4])
def test_margins_are_the_confusion_matrices(k):
    rng = np.random.default_rng(1)
    y, a, b, c = rng.integers(0, k, (4, 200))
    joint = paired_counts(y, {"A": a, "B": b, "C": c})
    assert joint.shape == (k,) * 4
    assert joint.values[y[0], a[0], b[0], c[0]] >= 1
    each = margins(joint)
    assert each.dims == ("system", "actual", "predicted")
    for name, predicted in {"A": a, "B": b, "C": c}.items():
        want = bayescm.confusion_matrix(y, predicted)
        np.testing.assert_array_equal(each.sel(system=name), want)
        np.testing.assert_array_equal(each.actual, want.actual)
    assert bayescm.summary(each, "accuracy").sizes["system"] == 3


def test_labels_follow_the_rules_of_one_matrix():
    joint = paired_counts(["s", "h"], [["s", "s"], ["h", "h"]], pos_label="h")
    assert joint.dims == ("actual", "predicted_1", "predicted_2")
    assert joint.actual.values.tolist() == ["s", "h"]
    assert joint.loc["s", "s", "h"] == 1
    assert paired_counts([1, 1], [[1, 1], [1, 1]], labels=[0, 1]).values.sum() == 2


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ({"A": [0, 1, 1]}, r"`y_true` has 2 and `y_pred\['A'\]` has 3 items"),
        ({"actual": [0, 1]}, "can't have 'actual'"),
        ({"system": [0, 1]}, "can't have a system called 'system'"),
        ({"joint": [0, 1]}, "can't have a system called 'joint'"),
        ({}, "is empty"),
        ({"A": [0, None]}, r"`y_pred\['A'\]` has a missing label at position 1"),
    ],
)
def test_bad_predictions(predictions, message):
    with pytest.raises(ValueError, match=message):
        paired_counts([0, 1], predictions)


def test_bad_tables():
    with pytest.raises(TypeError, match="Build it with"):
        STORY.model([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="at least 2 more"):
        STORY.model(bayescm.confusion_matrix([0, 1], [0, 1]))
    with pytest.raises(ValueError, match="same labels"):
        STORY.exact(table().assign_coords(A=["x", "y"]))
    with pytest.raises(ValueError, match="'difficulty' is for two labels"):
        STORY.model(table(n_labels=3), dependence="difficulty")
    with pytest.raises(ValueError, match="with 6 systems take 'difficulty'"):
        STORY.exact(table(6), dependence="dirichlet")
    with pytest.raises(ValueError, match=r"cell .* has no items and a concentration of 0"):
        STORY.exact(table() * 0, prior="haldane")
    with pytest.raises(ValueError, match="as a mapping is for"):
        STORY.exact(table(), prior={"prevalence": 1, "rows": 1})


def test_the_order_of_dims_does_not_matter():
    joint = table()
    np.testing.assert_array_equal(check_joint(joint.transpose("A", "actual", "B")), joint)


# the saturated table


@pytest.mark.parametrize("systems", [2, 3, 4])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("prior", ["jeffreys", "laplace", "perks", 0.3, "array"])
def test_every_margin_is_the_single_story(systems, k, prior):
    prior = np.arange(1.0, k * k + 1).reshape(k, k) / 3 if prior == "array" else prior
    joint = table(systems, k)
    form = STORY.exact(joint, prior=prior, dependence="dirichlet")
    want = models.load("dirichlet_multinomial").exact(margins(joint), prior=prior)
    np.testing.assert_allclose(form.cells.rows, want.rows, rtol=1e-12)
    np.testing.assert_allclose(form.cells.shares, want.shares, rtol=1e-12)
    assert form.cells.one_dirichlet


def test_a_full_prior_is_taken_as_it_is():
    joint = table()
    alpha = np.arange(1.0, 9).reshape(2, 2, 2)
    labelled = xr.DataArray(alpha, dims=joint.dims, coords=joint.coords).transpose("B", "actual", "A")
    for prior in (alpha, labelled):
        form = STORY.exact(joint, prior=prior)
        np.testing.assert_allclose(form.cells.rows[0], (alpha + joint.values).sum(2))
    with pytest.raises(ValueError, match="dims"):
        STORY.exact(joint, prior=xr.DataArray(alpha, dims=("x", "y", "z")))


def test_draws_have_the_distributions_and_who_is_better_is_a_beta():
    joint = table(n=60)
    form = STORY.exact(joint)
    draws = form.draw(np.random.default_rng(1), 40_000)
    assert draws["theta"].dims == ("sample", "system", "actual", "predicted")
    assert draws["joint"].dims == ("sample", *joint.dims)
    for cell in range(8):
        dist = stats.beta(*(a[cell] for a in form.distributions["joint_cell"].args))
        assert stats.kstest(draws["joint_cell"][:, cell], dist.cdf).pvalue > 1e-4
    accuracy = bayescm.metrics.evaluate(draws["theta"], "accuracy").accuracy
    alpha = 0.25 + joint.values
    b, c = (alpha[0, i, 1 - i] + alpha[1, 1 - i, i] for i in (0, 1))
    want = stats.beta.sf(0.5, b, c)
    got = float((accuracy.sel(system="A") > accuracy.sel(system="B")).mean())
    assert got == pytest.approx(want, abs=5 * np.sqrt(want * (1 - want) / 40_000))
    single = bayescm.summary(margins(joint), "accuracy")
    np.testing.assert_allclose(accuracy.mean("sample"), single["mean"].sel(metric="accuracy"), atol=2e-3)
    np.testing.assert_allclose(form.prior(np.random.default_rng(2), 20_000)["joint"].mean("sample"), 1 / 8, atol=0.006)


@pytest.mark.parametrize("dependence", ["dirichlet", "difficulty"])
def test_programs_follow_the_contract(dependence):
    joint = table(3)
    program = STORY.model(joint, dependence=dependence)
    assert [v.name for v in program.observed_RVs] == ["counts"]
    assert program.named_vars_to_dims["counts"] == ("cell",)
    assert program.named_vars_to_dims["theta"] == ("system", "actual", "predicted")
    assert program.named_vars_to_dims["joint"] == joint.dims
    assert list(program.coords["cell"]) == joint_cells(joint).cell.values.tolist()
    assert program.coords["cell"][6] == "0->1,1,0"
    theta, whole = pm.draw([program["theta"], program["joint"]], random_seed=1)
    np.testing.assert_allclose(theta, margins(xr.DataArray(whole, dims=joint.dims)), rtol=1e-9)


def test_the_program_has_the_density_of_the_closed_form():
    joint = table(n=80)
    alpha = 0.25 + joint.values.ravel()
    cells = np.random.default_rng(1).dirichlet(np.ones(8), 5)
    points = [{"joint_cell": p} for p in cells]
    proportional(STORY.model(joint), lambda joint_cell: stats.dirichlet.logpdf(joint_cell, alpha), points)


# patterns and difficulty


@pytest.mark.parametrize("load", [0.0, 0.6, 1.5, 3.0])
def test_patterns_agree_with_adaptive_quadrature(load):
    right = np.array([0.95, 0.3, 0.7])
    got = pattern_probabilities(right, load)
    np.testing.assert_allclose(got, adaptive(right, load), atol=5e-8)
    assert got.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(got @ patterns(3), right, atol=1e-13)
    if load == 0:
        np.testing.assert_allclose(got, pattern_probabilities(right), rtol=1e-12)


def test_intercepts_solve_at_the_edges():
    right = np.array([1e-10, 1e-4, 0.5, 0.999, 1 - 1e-6])
    for load, error in ((0.1, 1e-13), (2.0, 1e-12), (4.0, 1e-12), (6.0, 1e-9)):
        b = intercepts(right, load)
        probabilities = np.array([pattern_probabilities(np.array([m]), load)[1] for m in right])
        np.testing.assert_allclose(special.logit(probabilities), special.logit(right), atol=error * 100)
        assert (np.diff(b) > 0).all()


def test_the_gradient_is_that_of_the_implicit_function():
    right, load = pt.vector("right", shape=(3,)), pt.scalar("load")
    cells = pattern_probabilities(right, load)
    function = pytensor.function([right, load], [cells, *pt.grad(pt.log(cells)[5], [right, load])])
    at, step = np.array([0.9, 0.2, 0.6]), 1e-5
    value, by_right, by_load = function(at, 1.3)
    np.testing.assert_allclose(value, pattern_probabilities(at, 1.3), rtol=1e-12)

    def log(right, load):
        return np.log(pattern_probabilities(right, load)[5])

    want = [(log(at + d, 1.3) - log(at - d, 1.3)) / (2 * step) for d in step * np.eye(3)]
    np.testing.assert_allclose(by_right, want, rtol=1e-7)
    assert by_load == pytest.approx((log(at, 1.3 + step) - log(at, 1.3 - step)) / (2 * step), rel=1e-7)


def test_the_likelihood_of_difficulty():
    joint = table(3, n=60)
    program = STORY.model(joint)
    share, right, sd = 0.4, np.array([[0.9, 0.7], [0.6, 0.8], [0.75, 0.95]]), np.array([0.5, 1.8])
    point = {"positive_share_logodds__": special.logit(share), "right_logodds__": special.logit(right)}
    got = program.compile_logp(vars=program.observed_RVs)(point | {"difficulty_sd_log__": np.log(sd)})
    negative, positive = adaptive(right[:, 0], sd[0]), adaptive(right[:, 1], sd[1])
    cells = {(0, *(1 - y)): (1 - share) * p for y, p in zip(patterns(3), negative, strict=True)}
    cells |= {(1, *y): share * p for y, p in zip(patterns(3), positive, strict=True)}
    flat = np.array([cells[index] for index in np.ndindex(joint.shape)])
    assert got == pytest.approx(stats.multinomial.logpmf(joint.values.ravel(), 60, flat / flat.sum()), abs=1e-5)


@pytest.mark.slow
def test_the_program_has_the_prior_that_simulate_draws_from():
    """So simulation-based calibration holds; and each margin's prior is the single model's."""
    program = STORY.model(table(2), prior="laplace", dependence="difficulty")
    worlds = [STORY.simulate(np.random.default_rng([5, i]), 1, prior="laplace", dependence="difficulty")
              for i in range(400)]  # fmt: skip
    base = concentrations("laplace", "dirichlet_multinomial", 2)
    dists = {
        "positive_share": stats.beta(*base.shares[::-1]),
        "right": stats.beta(1, 1),
        "difficulty_sd": stats.halfnorm(0, 1.5),
    }
    at = log_density(program, vars=program.free_RVs)
    for world in worlds[:5]:
        point = {name: world[name].values for name in dists}
        want = sum(dist.logpdf(point[name]).sum() for name, dist in dists.items())
        assert at(**point) == pytest.approx(want, abs=1e-6)
    for name, dist in dists.items():
        drawn = np.array([w[name].values.ravel()[-1] for w in worlds])
        assert stats.kstest(drawn, dist.cdf).pvalue > 1e-3, name
    both_wrong = np.array([float(w["joint"][1, 0, 0]) for w in worlds])
    ahead = pm.draw(program["joint"][1, 0, 0], 400, random_seed=3)
    assert stats.ks_2samp(both_wrong, ahead).pvalue > 1e-3


RIGHT, SD, SHARE = np.array([[0.95, 0.7], [0.8, 0.75], [0.6, 0.85]]), np.array([0.5, 2.0]), 0.45


@pytest.fixture(scope="module")
def difficulty(seed):
    """Draws given the expected counts of a truth."""
    negative, positive = (pattern_probabilities(RIGHT[:, i], SD[i]) for i in (0, 1))
    cells = np.concatenate([(1 - SHARE) * negative[::-1], SHARE * positive])
    counts = np.round(20_000 * cells).astype(int).reshape((2,) * 4)
    joint = check_joint(xr.DataArray(counts, dims=("actual", *"ABC")))
    return draw(STORY.model(joint), seed(1), draws=300, tune=400)


@pytest.mark.long
def test_difficulty_is_recovered(difficulty):
    posterior, sampled = difficulty
    hardly_diverges(sampled)
    for name, truth in {"right": RIGHT, "difficulty_sd": SD, "positive_share": SHARE}.items():
        recovers(posterior[name], truth)
    assert float(posterior["difficulty_sd"].std(("chain", "draw")).max()) < 0.3
    recall = bayescm.metrics.evaluate(posterior["theta"], "recall").recall
    np.testing.assert_allclose(recall, posterior["right"][..., 1], rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"systems": 3}, {"n_labels": 3}, {"systems": 3, "dependence": "dirichlet"}])
def test_simulate_gives_what_the_program_takes(options):
    world = STORY.simulate(np.random.default_rng(1), 90, **options)
    assert int(world["counts"].sum()) == 90
    np.testing.assert_allclose(world["theta"].sum(("actual", "predicted")), 1)
    dependence = options.get("dependence")
    names = {v.name for v in STORY.model(world["counts"], dependence=dependence).free_RVs}
    assert names <= set(world.data_vars)


@pytest.mark.slow
def test_simulated_tables_are_covered():
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(150):
        world = STORY.simulate(rng, 50)
        dist = STORY.exact(world["counts"]).distributions["joint_cell"]
        low, high = dist.ppf([[0.05]]), dist.ppf([[0.95]])
        truth = world["joint_cell"].values
        hits += ((low <= truth) & (truth <= high)).sum()
    assert abs(hits / 1200 - 0.9) < 4 * np.sqrt(0.09 / 150)
