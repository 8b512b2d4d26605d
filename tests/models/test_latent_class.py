"""No gold standard: the oracle, the truncated prior, what is identified, and known errors."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import xarray as xr
from agreement import OVER, draw, hardly_diverges, log_density, recovers
from scipy import optimize, special, stats

import bayescm
from bayescm import models
from bayescm.data.datasets import hui_walter1980
from bayescm.data.items import check_tests, joint_cells
from bayescm.inference.prevalence import rogan_gladen

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:Numba will use object mode"
    ),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]
STORY = models.load("latent_class")


def empty(tests=2, populations=2):
    dims = ("population", *(f"t{i}" for i in range(tests)))
    return xr.DataArray(np.zeros((populations,) + (2,) * tests, np.int64), dims=dims)


def hand_written(prevalence, sensitivity, specificity):
    """Probabilities of the patterns, written out for independent tests."""
    cells = np.empty((len(prevalence),) + (2,) * len(sensitivity))
    for p, share in enumerate(prevalence):
        for y in np.ndindex(*cells.shape[1:]):
            given_positive = np.prod([se if a else 1 - se for a, se in zip(y, sensitivity, strict=True)])
            given_negative = np.prod([1 - sp if a else sp for a, sp in zip(y, specificity, strict=True)])
            cells[(p, *y)] = share * given_positive + (1 - share) * given_negative
    return cells


@pytest.fixture(scope="module")
def tuberculosis(seed):
    return draw(STORY.model(hui_walter1980()), seed(1))


def test_the_data_are_the_paper_s(oracle):
    counts = hui_walter1980()
    for name, want in zip(("school", "sanatorium"), oracle("field.30")["inputs"].values(), strict=True):
        four = counts.sel(population=name).values
        assert [four[1, 1], four[1, 0], four[0, 1], four[0, 0]] == want


def test_maximum_likelihood(oracle):
    counts = hui_walter1980().values.reshape(2, 4)

    def minus(x):
        p = special.expit(x)
        cells = STORY._cells(p[:2], np.array([p[2], p[4]]), np.array([p[3], p[5]]), None)
        return -(counts * np.log(cells)).sum()

    start = special.logit([0.1, 0.6, 0.8, 0.8, 0.8, 0.8])
    best = optimize.minimize(minus, start, method="BFGS", options={"gtol": 1e-9})
    found = special.expit(
        optimize.minimize(minus, best.x, method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 0}).x
    )
    want = oracle("field.30")["expected"]
    np.testing.assert_allclose(found, want["prev1,prev2,se1,sp1,se2,sp2"], atol=oracle("field.30")["tolerance"]["mle"])
    np.testing.assert_allclose(found, want["published"], atol=oracle("field.30")["tolerance"]["published"])


def test_the_likelihood_of_the_program():
    program = STORY.model(hui_walter1980())
    prevalence, sensitivity, specificity = [0.1, 0.7], [0.8, 0.9], [0.95, 0.6]
    rates = np.array([*specificity, *sensitivity])
    change = program.rvs_to_transforms[program["rates"]]
    point = {"true_prevalence_logodds__": special.logit(prevalence), "rates_triangle__": change.forward(rates).eval()}
    got = program.compile_logp(vars=program.observed_RVs)(point)
    cells = hand_written(prevalence, sensitivity, specificity).reshape(2, 4)
    counts = hui_walter1980().values.reshape(2, 4)
    assert got == pytest.approx(stats.multinomial.logpmf(counts, counts.sum(1), cells).sum(), rel=1e-10)


def test_three_tests_and_dependence_reduce_to_independence():
    rates = np.array([[0.8, 0.7, 0.9], [0.95, 0.6, 0.85]])
    want = hand_written([0.3], rates[0], rates[1]).reshape(1, 8)
    np.testing.assert_allclose(STORY._cells(np.array([0.3]), *rates, None), want, rtol=1e-12)
    np.testing.assert_allclose(STORY._cells(np.array([0.3]), *rates, np.zeros(2)), want, rtol=1e-9)
    dependent = STORY._cells(np.array([0.3]), *rates, np.array([1.0, 2.0])).reshape(2, 2, 2)
    for axis in range(3):  # what one test says alone doesn't change
        others = tuple(a for a in range(3) if a != axis)
        np.testing.assert_allclose(dependent.sum(others), want.reshape(2, 2, 2).sum(others), rtol=1e-9)
    assert dependent[1, 1, 1] > want[0, 7]


@pytest.mark.long
def test_flat_prior_means_are_near_the_maximum(tuberculosis, oracle):
    posterior, sampled = tuberculosis
    hardly_diverges(sampled)
    names = ["true_prevalence", "test_sensitivity", "test_specificity"]
    p, se, sp = (posterior[name].mean(OVER).values for name in names)
    want = oracle("field.30")["expected"]["prev1,prev2,se1,sp1,se2,sp2"]
    np.testing.assert_allclose([*p, se[0], sp[0], se[1], sp[1]], want, atol=0.008)
    assert posterior["test_sensitivity"].dims == ("chain", "draw", "test")
    assert posterior["test"].values.tolist() == ["mantoux", "tine"]


def test_theta_is_each_test_against_the_truth():
    posterior = pm.sample_prior_predictive(50, model=STORY.model(hui_walter1980()), random_seed=1)["prior"]
    theta = posterior["theta"]
    assert theta.dims[2:] == ("population", "test", "actual", "predicted")
    metrics = bayescm.metrics.evaluate(theta, ["recall", "specificity", "prevalence"])
    for metric, name in (
        ("recall", "test_sensitivity"),
        ("specificity", "test_specificity"),
        ("prevalence", "true_prevalence"),
    ):
        np.testing.assert_allclose(metrics[metric], posterior[name].broadcast_like(metrics[metric]), rtol=1e-9)


# the truncated prior


def test_the_transform_is_a_bijection_onto_the_triangle():
    for known in (None, {"tine": (None, 0.9)}, {"mantoux": (0.7, None)}, {"mantoux": (0.9, 0.8)}):
        setting = STORY._setting(check_tests(hui_walter1980(), "population"), "laplace", known, False)
        change, n = STORY.BetterThanChance(setting), len(setting.free())
        x = pt.vector("x", shape=(n,))
        rates = change.backward(x)
        jacobian = pt.stack([pt.grad(rates[i], x) for i in range(n)])
        function = pytensor.function([x], [rates, jacobian, change.log_jac_det(x), change.forward(rates)])
        for at in np.random.default_rng(1).normal(0, 2, (5, n)):
            made, derivative, log_det, back = function(at)
            full = setting.known.copy()
            full[setting.free()[:, 1], setting.free()[:, 0]] = made
            assert (full.sum(1) > 1).all()
            assert np.log(abs(np.linalg.det(derivative))) == pytest.approx(log_det, abs=1e-10)
            np.testing.assert_allclose(back, at, atol=1e-8)


@pytest.mark.parametrize(
    "prior", ["laplace", {"sensitivity": {"test_1": (3, 2)}, "specificity": (2, 5), "prevalence": (2, 6)}]
)
@pytest.mark.slow
def test_the_program_has_the_prior_that_simulate_draws_from(prior):
    rng = np.random.default_rng(5)
    worlds = [STORY.simulate(rng, 1, prior=prior) for _ in range(800)]
    program = STORY.model(worlds[0]["counts"], prior=prior)
    setting = STORY._setting(check_tests(worlds[0]["counts"], "population"), prior, None, False)
    at = log_density(program, vars=program.free_RVs)
    for world in worlds[:5]:
        rates = np.concatenate([world["test_specificity"], world["test_sensitivity"]])
        got = at(true_prevalence=world["true_prevalence"].values, rates=rates)
        want = stats.beta.logpdf(world["true_prevalence"], *setting.prevalence.T[::-1]).sum()
        right, wrong = np.concatenate([setting.numbers[:, 0], setting.numbers[:, 1]]).T
        assert got == pytest.approx(want + stats.beta.logpdf(rates, right, wrong).sum(), abs=1e-6)
    forward = pm.sample_prior_predictive(800, model=program, random_seed=2)["prior"]
    for name in ("true_prevalence", "test_sensitivity", "test_specificity"):
        drawn = np.array([w[name].values for w in worlds])
        ahead = forward[name].values.reshape(800, -1)
        for i in range(2):
            assert stats.ks_2samp(drawn[:, i], ahead[:, i]).pvalue > 1e-3, name
    assert float((forward["test_sensitivity"] + forward["test_specificity"]).min()) > 1


@pytest.mark.slow
def test_the_flat_prior_is_uniform_on_the_triangle():
    rng = np.random.default_rng(1)
    draws = np.array([STORY.simulate(rng, 1)["test_sensitivity"].values[0] for _ in range(700)])
    assert stats.kstest(draws, stats.beta(2, 1).cdf).pvalue > 1e-3


DEPENDENT = {
    "true_prevalence": np.array([0.4]), "test_sensitivity": np.array([0.9, 0.8, 0.85, 0.7]),
    "test_specificity": np.array([0.95, 0.9, 0.8, 0.85]), "difficulty_sd": np.array([1.0, 1.5]),
}  # fmt: skip


@pytest.fixture(scope="module")
def dependent(seed):
    """Draws given the expected counts of a truth."""
    counts = np.round(4000 * STORY._cells(*DEPENDENT.values())).reshape(2, 2, 2, 2).astype(int)
    program = STORY.model(xr.DataArray(counts, dims=tuple("abcd")), dependence=True)
    return draw(program, seed(1), draws=250, tune=400)


@pytest.mark.long
def test_recovery_with_dependence(dependent):
    posterior, sampled = dependent
    hardly_diverges(sampled)
    for name, want in DEPENDENT.items():
        recovers(posterior[name], want)


# what is identified


@pytest.mark.parametrize(
    ("tests", "populations", "dependence", "rank", "parameters"),
    [(2, 2, False, 6, 6), (2, 1, False, 3, 5), (3, 1, False, 7, 7), (2, 9, True, 13, 15), (3, 1, True, 7, 9),
     (4, 1, True, 11, 11), (1, 4, False, 4, 6)],
)  # fmt: skip
def test_identification(tests, populations, dependence, rank, parameters):
    counts = empty(tests, populations)
    setting = STORY._setting(check_tests(counts, "population"), "laplace", None, dependence)
    assert STORY._rank(setting)[:2] == (rank, parameters)
    if rank < parameters:
        with pytest.raises(ValueError, match=f"tell apart {rank} of the {parameters} parameters"):
            STORY.model(counts, dependence=dependence)
        with pytest.warns(UserWarning, match="the posterior is the prior"):
            STORY.model(counts, dependence=dependence, prior={"sensitivity": (20, 2)})
    else:
        STORY.model(counts, dependence=dependence)


def test_known_errors_add_degrees_of_freedom():
    assert {v.name for v in STORY.model(empty(2, 1), known={"t0": (0.9, 0.95)}).free_RVs} == {
        "true_prevalence",
        "rates",
    }
    assert [v.name for v in STORY.model(empty(1, 3), known={"t0": (1, 0.95)}).free_RVs] == ["true_prevalence"]


# known errors


def test_known_error_is_a_one_dimensional_posterior():
    table = xr.DataArray([160, 40], dims="labeller")
    at = log_density(STORY.model(table, known={"labeller": (0.85, 0.93)}))
    p = np.linspace(0.01, 0.9, 40)
    got = np.array([at(true_prevalence=np.array([share])) for share in p])
    np.testing.assert_allclose(got, stats.binom.logpmf(40, 200, p * 0.85 + (1 - p) * 0.07), rtol=1e-9)
    weight = np.exp(got)
    mean = (weight * p).sum() / weight.sum()
    sd = np.sqrt((weight * (p - mean) ** 2).sum() / weight.sum())
    assert float(rogan_gladen(0.2, 0.85, 0.93)) == pytest.approx(mean, abs=sd / 4)


@pytest.mark.slow
def test_a_calibrated_label_error_is_a_prior():
    table = xr.DataArray([160, 40], dims="labeller")
    with pytest.warns(UserWarning, match="tell apart 1 of the 3"):
        program = STORY.model(table, prior={"sensitivity": (85, 15), "specificity": {"labeller": (93, 7)}})
    at = log_density(program)
    for p, se, sp in [(0.2, 0.8, 0.9), (0.4, 0.9, 0.97), (0.05, 0.7, 0.95)]:
        got = at(true_prevalence=np.array([p]), rates=np.array([sp, se]))
        want = stats.beta.logpdf(se, 85, 15) + stats.beta.logpdf(sp, 93, 7)
        want += stats.binom.logpmf(40, 200, p * se + (1 - p) * (1 - sp))
        assert got == pytest.approx(want, rel=1e-9)


def test_rogan_gladen():
    assert rogan_gladen(0.10, 0.90, 0.95) == pytest.approx(0.05 / 0.85)
    assert rogan_gladen(0.03, 0.90, 0.95) == 0
    assert rogan_gladen(0.97, 0.90, 0.95) == 1
    assert np.isnan(rogan_gladen(0.3, 0.5, 0.5))
    assert np.isnan(rogan_gladen(0.3, 0.2, 0.3))
    truth = xr.DataArray([0.0, 0.2, 1.0], dims="p", coords={"p": ["a", "b", "c"]})
    back = rogan_gladen(truth * 0.8 + (1 - truth) * 0.1, xr.DataArray([0.8, 0.8], dims="draw"), 0.9)
    assert back.dims == ("p", "draw")
    np.testing.assert_allclose(back, truth.broadcast_like(back), atol=1e-12)
    with pytest.raises(ValueError, match=r"`specificity` must be in \[0, 1\]; got"):
        rogan_gladen(0.3, 0.5, 1.5)
    with pytest.raises(TypeError, match="`apparent` must be numbers"):
        rogan_gladen("much", 0.5, 0.5)


# arguments


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"known": {"x": (1, 1)}}, ValueError, "names the test 'x'"),
        ({"known": {"t0": 0.9}}, TypeError, r"must be \(sensitivity, specificity\)"),
        ({"known": {"t0": (0.4, 0.5)}}, ValueError, "sensitivity \\+ specificity above 1"),
        ({"known": {"t0": (1.2, 0.5)}}, ValueError, r"must be a number in \[0, 1\]"),
        ({"known": {"t0": (1.0, None)}, "dependence": True}, ValueError, r"must be a number in \(0, 1\)"),
        ({"prior": {"recall": 1}}, ValueError, "may have the keys"),
        ({"prior": {"sensitivity": {"x": 1}}}, ValueError, "names 'x'"),
        ({"prior": "haldane"}, ValueError, "proper Beta"),
        ({"prior": {"prevalence": (1, 2, 3)}}, TypeError, "two numbers of a Beta"),
        ({"prior": "flat"}, ValueError, "must be one of"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        STORY.model(empty(), **options)


def test_bad_tables():
    with pytest.raises(TypeError, match="one dim per test"):
        STORY.model([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="two labels per test"):
        STORY.model(xr.DataArray(np.zeros((2, 3, 3), int), dims=("population", "a", "b")))
    with pytest.raises(ValueError, match="same labels"):
        STORY.model(empty().assign_coords(t0=["n", "p"]))


def test_simulate_gives_what_the_program_takes():
    options = {"tests": 3, "populations": 2, "dependence": True}
    world = STORY.simulate(np.random.default_rng(1), 70, **options)
    assert (world["counts"].sum(("test_1", "test_2", "test_3")) == 70).all()
    np.testing.assert_allclose(world["theta"].sum(("actual", "predicted")), 1)
    program = STORY.model(world["counts"], dependence=True)
    assert program.named_vars_to_dims["counts"] == ("population", "cell")
    np.testing.assert_array_equal(program["counts_data"].get_value(), joint_cells(world["counts"], "population"))
    assert list(program.coords["cell"])[:2] == ["0,0,0", "0,0,1"]
    theta = pm.draw(program["theta"], random_seed=1)
    np.testing.assert_allclose(theta.sum((-1, -2)), 1)
