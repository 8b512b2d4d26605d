"""Averages over classes by conditional draws: against plain draws, known distributions, and themselves."""

import numpy as np
import pytest

import bayescm
from bayescm.data.random import Stream
from bayescm.distributions import dirichlet, known_of_average
from bayescm.distributions.conditional import Average, ConditionalDraws, Known, Nodes, _given_rest, _monotone
from bayescm.distributions.conditional import conditional_draws as several
from bayescm.distributions.splits import average, split_of
from bayescm.inference.averages import drawn, draws_of
from bayescm.metrics import compute, multiclass, resolve
from bayescm.priors.concentrations import concentrations

FEW = np.array([[4, 0, 1], [0, 2, 0], [2, 0, 1]])
UNEVEN = np.array([[999_000, 700, 300], [1, 2, 0], [500, 3, 40]])
TEN = np.random.default_rng(5).multinomial(60, (np.eye(10) * 6 + 0.5).ravel() / (60 + 50)).reshape(10, 10)
COUNTS = {"few": FEW, "uneven": UNEVEN, "ten": TEN}
MODELS = ("dirichlet_multinomial", "three_binomial")
NAMES = ("f1_macro", "jaccard_macro", "f1_weighted", "precision_macro", "npv_macro", "fnr_macro", "mcc", "kappa")


def conditional_draws(metric, split, known, draws, rng):
    return several([Average(metric, split, known)], draws, rng)[0]


def posterior_of(counts, model, prevalence=None, prior="jeffreys"):
    return dirichlet.posterior(counts, concentrations(prior, model, list(range(len(counts)))), prevalence)


def distribution(counts, name, model="dirichlet_multinomial", prevalence=None, draws=40_000, seed=1, prior="jeffreys"):
    which = posterior_of(counts, model, prevalence, prior)
    found = drawn([resolve([name], len(counts))[0]], which, seed, 0, draws)
    (dist,) = found.values()
    assert isinstance(dist, ConditionalDraws)
    return dist


def test_what_has_underflown_is_left_to_draws_without_a_word():
    split = split_of(resolve(["f1_macro"], 3)[0], posterior_of(FEW, "dirichlet_multinomial", prior=0.01))
    theta = np.random.default_rng(1).dirichlet(np.ones(9), 20).T.reshape(3, 3, 20)
    for i in range(3):
        theta[i, i] = np.where(np.arange(20) % 2, 0.0, 1e-310)
    (_, cells), *_ = split.along(theta, np.array([-3.0, 0.0, 3.0]), np.empty(0))
    assert len(cells) == 3


@pytest.mark.parametrize("prevalence", [None, "fixed"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("which", COUNTS)
def test_against_many_draws(which, model, prevalence):
    counts = COUNTS[which]
    if prevalence == "fixed" and (counts.sum(1) == 0).any():
        pytest.skip("a class has no items")
    n, k = 15_000, len(counts)
    metrics = resolve(list(NAMES), k)
    posterior = posterior_of(counts, model, prevalence)
    values = draws_of(metrics, posterior, np.random.default_rng(7), n)
    for metric, value in zip(metrics, values, strict=True):
        if (split := split_of(metric, posterior)) is None:
            continue
        dist = conditional_draws(metric, split, known_of_average(metric, posterior), n, np.random.default_rng(8))
        if dist is None:
            assert not metric.name.startswith(("f1_macro", "jaccard", "precision"))  # these are monotone
            continue
        found = dist.statistics(0.95, "eti")
        assert found["mean"] == pytest.approx(value.mean(), abs=5 * value.std() / np.sqrt(n) + 5 * found["mcse_mean"])
        assert found["sd"] == pytest.approx(value.std(), rel=0.03)
        for p in (0.025, 0.3, 0.975):
            x = float(dist.ppf(p))
            share, error = dist.probability(x)
            assert share == pytest.approx(p, abs=3e-4)
            off = np.hypot(np.sqrt(p * (1 - p) / n), error)
            assert (value <= x).mean() == pytest.approx(share, abs=5 * off), metric.name


@pytest.mark.parametrize("model", MODELS)
def test_cells_along_the_split_are_those_of_the_draws_at_their_own_place(model):
    """A split with U put where each draw has it gives the draw back; at another place rows still add up."""
    posterior = posterior_of(TEN, model)
    metric = resolve(["f1_macro"], 10)[0]
    split = split_of(metric, posterior)
    theta = dirichlet.draw_theta(posterior, np.random.default_rng(1), 50)
    gammas = np.random.default_rng(2).standard_gamma(3.0, (10, 50))
    off = ~np.eye(10, dtype=bool)
    if model == "dirichlet_multinomial":
        right = np.einsum("iin->in", theta)[split.right].sum(0)
        wrong = theta[split.wrong].sum(0)
        for n in range(50):
            own = np.log(right[n] / wrong[n])
            ((_, (cells,)),) = split.along(theta[..., [n]], np.array([own]), np.empty(0))
            np.testing.assert_allclose(np.array(cells)[..., 0], multiclass.one_vs_rest(theta[..., n]), atol=1e-14)
    for part, each in split.along(theta, np.array([-2.0, 3.0]), gammas):
        for cells in each:
            assert (np.array(cells) >= 0).all()
            np.testing.assert_allclose(sum(cells), 1, atol=1e-13)
            np.testing.assert_allclose((cells.tp + cells.fn).sum(0), 1, atol=1e-13)
            np.testing.assert_allclose(cells.fp.sum(0), cells.fn.sum(0), atol=1e-13)
        if model == "three_binomial":
            np.testing.assert_allclose(each[0].tp + each[0].fn, theta[..., part].sum(1), atol=1e-14)
    assert off.sum() >= split.wrong.sum() > 0


@pytest.mark.parametrize("counts", [FEW, UNEVEN, TEN])
def test_macro_recall_by_draws_is_the_sum_of_betas(counts):
    """An average whose distribution is known, as if it were not."""
    posterior = posterior_of(counts, "dirichlet_multinomial")
    metric = resolve(["recall_macro"], len(counts))[0]
    known = bayescm.metric_distribution(counts, "recall_macro")
    dist = conditional_draws(metric, split_of(metric, posterior), Known(), 40_000, np.random.default_rng(2))
    for p in (0.025, 0.5, 0.975):
        share, error = dist.probability(float(known.ppf(p)))
        assert share == pytest.approx(p, abs=5 * error)


def scatter_by_stated_error(counts, model, kind, seeds, draws=4000):
    """Root mean squares over seeds of the distance of both bounds and a probability from their mean, in stated errors.

    Also the variance of the probability, times as many draws, by that of one draw.
    """
    posterior = posterior_of(counts, model)
    metric = resolve(["f1_macro"], len(counts))[0]
    split, known = split_of(metric, posterior), known_of_average(metric, posterior)
    runs = [conditional_draws(metric, split, known, draws, np.random.default_rng(seed)) for seed in range(seeds)]
    found = [run.statistics(0.9, kind) for run in runs]
    x = float(np.mean([one["median"] for one in found]))
    pairs = [[(one[end], one[f"mcse_{end}"]) for one in found] for end in ("lower", "upper")]
    values, stated = np.moveaxis(np.array([*pairs, [run.probability(x) for run in runs]]), -1, 0)
    ratio = np.sqrt(((values - values.mean(1, keepdims=True)) ** 2 / stated**2).sum(1) / (seeds - 1))
    return ratio, values[2].var(ddof=1) * draws / (values[2].mean() * (1 - values[2].mean()))


@pytest.mark.parametrize("kind", ["hdi", "eti"])
@pytest.mark.parametrize("model", MODELS)
def test_stated_errors_are_those_of_replications(model, kind):
    """Bounds and a probability over seeds scatter as is said, and less than those of as many plain draws as asked."""
    ratio, variance = scatter_by_stated_error(FEW, model, kind, 40)
    assert (np.abs(np.log(ratio)) < np.log(1.45)).all(), ratio  # 40 values: standard error .11
    assert variance < 0.5


@pytest.mark.long
@pytest.mark.parametrize("which", COUNTS)
@pytest.mark.parametrize("model", MODELS)
def test_stated_errors_are_those_of_200_replications(which, model):
    ratio, variance = scatter_by_stated_error(COUNTS[which], model, "hdi", 200, 40_000)
    assert (ratio < 1.25).all(), ratio
    if variance > 1e-4:  # else the error of the interpolation, which is no less, is the larger one
        assert (ratio > 0.8).all(), ratio
    if model == "dirichlet_multinomial":
        assert variance < 0.1


def test_mean_and_sd_of_macro_f1_don_t_depend_on_the_seed():
    first, second = (bayescm.summary(TEN, "f1_macro", random_seed=seed) for seed in (1, 2))
    assert first["mean"].item() == second["mean"].item()
    assert first["sd"].item() == second["sd"].item()
    assert first["mcse_mean"].item() == 0
    assert first.interval.values != pytest.approx(second.interval.values, rel=1e-12)


def test_seeds_are_reproduced_and_places_of_a_batch_are_independent_of_blocks():
    counts = bayescm.from_array(np.stack([FEW, UNEVEN, FEW]))
    names = ["f1_macro", "f1_weighted", "mcc"]
    whole = bayescm.summary(counts, names, random_seed=3, draws=4000)
    again = bayescm.summary(counts, names, random_seed=3, draws=4000)
    lazy = bayescm.summary(counts.chunk({"system": 2}), names, random_seed=3, draws=4000).compute()
    for name in ("interval", "median", "sd", "mcse_interval"):
        np.testing.assert_array_equal(whole[name], again[name])
        np.testing.assert_array_equal(whole[name], lazy[name])
    assert (whole.isel(system=0).interval != whole.isel(system=2).interval).any()


def test_the_result_says_what_was_integrated_out():
    found = bayescm.summary(FEW, ["f1_macro", "kappa_linear", "recall_macro", "mcc"], random_seed=1)
    assert found.attrs["integrated"] == "f1_macro, matthews_correlation"
    assert found.method.values.tolist() == ["draws", "draws", "exact", "draws"]
    assert "integrated" not in bayescm.summary(FEW, "kappa_linear", random_seed=1).attrs


def test_an_answer_doesnt_depend_on_what_else_is_asked():
    for model in MODELS:
        both = bayescm.summary(FEW, ["f1_macro", "mcc", "f1_weighted"], model=model, random_seed=1, draws=8000)
        alone = bayescm.summary(FEW, "mcc", model=model, random_seed=1, draws=8000)
        np.testing.assert_array_equal(both.interval[1], alone.interval[0])


def test_claims_take_the_same_draws():
    found = bayescm.probability(FEW, ["f1_macro > 0.5", "f1_macro < 0.5", "f1_macro > 1"], random_seed=1)
    above, below, beyond = found.probability.values
    assert above + below == pytest.approx(1, abs=1e-12)
    assert beyond == 0
    cells = np.random.default_rng(4).dirichlet((FEW + posterior_of(FEW * 0, MODELS[0]).rows).ravel(), 200_000)
    values = compute(resolve(["f1_macro"], 3), cells.reshape(-1, 3, 3))[0]
    off = np.sqrt(above * below / len(values))
    assert (values > 0.5).mean() == pytest.approx(above, abs=5 * np.hypot(off, found.mcse_probability.values[0]))
    assert found.mcse_probability.values[0] < 0.3 * np.sqrt(above * below / 40_000)


def test_intervals_agree_with_each_other():
    dist = distribution(TEN, "f1_macro")
    lower, upper, is_hdi = dist.hdi(0.9)
    assert is_hdi
    assert dist.cdf(upper) - dist.cdf(lower) == pytest.approx(0.9, abs=1e-3)
    assert dist.pdf(lower) == pytest.approx(dist.pdf(upper), rel=0.02)
    assert upper - lower <= np.diff(dist.eti(0.9))[0]
    assert dist.sf(upper) == pytest.approx(1 - dist.cdf(upper))
    x = np.linspace(0.001, 0.999, 2001)
    assert np.trapezoid(dist.pdf(x), x) == pytest.approx(1, abs=2e-3)
    assert np.trapezoid(x * dist.pdf(x), x) == pytest.approx(dist.mean(), abs=1e-3)


@pytest.mark.parametrize("counts", [[[32, 1, 0], [81, 0, 0], [0, 3, 108]], [[0, 0, 0], [0, 0, 0], [5, 0, 9]]])
def test_nodes_are_close_enough_where_the_beta_is_next_to_its_edges(counts):
    counts = np.array(counts)
    which, metric = posterior_of(counts, "dirichlet_multinomial"), resolve(["precision_macro"], 3)[0]
    split = split_of(metric, which)
    assert min(split.a, split.b) == 0.5
    nodes = Nodes.of(split)
    more = Nodes(np.linspace(nodes.normal[0], nodes.normal[-1], 4 * (len(nodes.normal) - 1) + 1))
    theta, one, close = (
        dirichlet.draw_theta(which, np.random.default_rng(1), 500),
        *(Average(metric, split) for _ in "12"),
    )
    close.__dict__["nodes"] = more
    found, finer = (_monotone(each, *_given_rest(each, theta, np.empty(0))) for each in (one, close))
    for x in finer.ppf(np.array([0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995])):
        share = finer.probability(x)[0]
        assert found.probability(x)[0] == pytest.approx(share, abs=1e-4 * np.sqrt(share * (1 - share)))


@pytest.mark.parametrize("name", ["precision_macro", "f1_macro"])
@pytest.mark.parametrize(
    "counts", [[[2, 0, 0], [33, 0, 1], [0, 1, 5]], [[0, 0, 5, 0], [0, 0, 0, 0], [0, 1, 0, 0], [9, 0, 6, 6]]]
)
def test_the_highest_density_interval_of_a_rough_density_is_the_narrowest(counts, name):
    counts = np.array(counts)  # nearly discrete: densities of draws that are equal in many places
    dist = distribution(counts, name, prior="perks")
    lower, upper, _ = dist.hdi(0.95)
    left = np.linspace(1e-5, 0.05 - 1e-5, 1000)
    assert upper - lower <= 1.001 * (dist.ppf(left + 0.95) - dist.ppf(left)).min()
    below, up_to = dist.table.cdf(np.array([np.nextafter(lower, -1.0), upper]))
    assert up_to - below == pytest.approx(0.95, abs=1e-4)


def test_what_isn_t_monotone_or_has_no_average_is_drawn():
    posterior = posterior_of(FEW, "dirichlet_multinomial")
    for name in ("kappa_linear", "f1", "lr_plus_macro"):
        assert split_of(resolve([name], 3)[0], posterior) is None
    metric = resolve(["f1_macro"], 3)[0]
    one = Average(metric, split_of(metric, posterior))
    (found,) = several([one], 1000, np.random.default_rng(0))
    values = found.values.copy()
    values[7, 3] = 2.0
    assert _monotone(one, values, found.controls.T) is None


def test_averages_of_cells_agree_with_the_metrics():
    theta = np.random.default_rng(1).dirichlet(np.ones(16), 40).reshape(40, 4, 4)
    cells = multiclass.Cells(*(cell.T for cell in multiclass.one_vs_rest(theta)))
    for name in (
        "f1_macro",
        "f1_weighted",
        "accuracy",
        "error_rate",
        "specificity_macro",
        "precision_weighted",
        "mcc",
        "kappa",
    ):
        metric = resolve([name], 4)[0]
        np.testing.assert_allclose(average(metric, cells)[0], compute([metric], theta)[0])


def test_the_stream_is_its_own():
    assert sorted(Stream)[-1] >= Stream.SPLIT
    assert len({*Stream}) == len(Stream)
