"""summary(): numbers, shapes, laziness, seeds, degenerate tables."""

import numpy as np
import pytest
import xarray as xr
from small import tables

import bayescm
from bayescm.distributions.sample import Draws, interval
from bayescm.metrics.table import BINARY


def test_layout():
    counts = bayescm.datasets.toetsch2021()
    s = bayescm.summary(counts, ["recall", "mcc"], random_seed=1)
    assert s.interval.dims == ("system", "metric", "ci_bound")
    assert s["mean"].dims == ("system", "metric")
    assert s.metric.values.tolist() == ["recall", "matthews_correlation"]
    assert s.ci_bound.attrs == {"ci_prob": 0.95, "ci_kind": "eti"}
    assert (s.method == "exact").all()
    assert s.doi.dims == ("system",)
    xr.testing.assert_allclose(s.width, s.interval[..., 1] - s.interval[..., 0])
    assert (s.mcse_mean.sel(metric="recall") == 0).all()
    assert (s.error.sel(metric="recall") == 0).all()
    assert (s.error < 2e-3).all()


def test_batches_of_any_dims_equal_one_by_one():
    counts = bayescm.from_array(np.arange(1, 25).reshape(2, 3, 2, 2), dims=("system", "fold"))
    s = bayescm.summary(counts, ["recall", "f1"], model="three_binomial", random_seed=7)
    assert s["mean"].dims == ("system", "fold", "metric")
    one = bayescm.summary(counts.isel(system=0, fold=0), ["recall", "f1"], model="three_binomial", random_seed=7)
    for name in ("mean", "sd", "interval", "median"):
        np.testing.assert_array_equal(s[name].isel(system=0, fold=0), one[name])


def test_lazy_counts_give_the_same_numbers():
    counts = bayescm.datasets.toetsch2021()
    eager = bayescm.summary(counts, ["recall", "mcc"], random_seed=1)
    lazy = bayescm.summary(counts.chunk(system=7), ["recall", "mcc"], random_seed=1)
    assert lazy["mean"].chunks is not None
    xr.testing.assert_equal(lazy.compute(), eager)
    bad = xr.where(counts == 26, -1, counts).chunk(system=7)
    with pytest.raises(ValueError, match="negative"):
        bayescm.summary(bad, "recall").compute()


def test_seeds():
    counts = [[35, 30, 2], [30, 50, 1], [4, 5, 6]]
    one, two = (bayescm.summary(counts, "mcc", random_seed=5) for _ in range(2))
    assert (one.mcse_mean > 0).all()
    assert np.isnan(one.error).all()
    xr.testing.assert_identical(one, two)
    free = bayescm.summary(counts, "mcc")
    assert not free["mean"].equals(one["mean"])
    again = bayescm.summary(counts, "mcc", random_seed=free.attrs["random_seed"])
    xr.testing.assert_identical(free, again)
    generated = [bayescm.summary(counts, "mcc", random_seed=np.random.default_rng(3))["mean"].item() for _ in "ab"]
    assert generated[0] == generated[1]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("prior", ["jeffreys", "laplace"])
def test_every_small_table_has_an_answer(model, prior):
    counts = bayescm.from_array(tables(4 if model == "dirichlet_multinomial" else 3), dims="table")
    s = bayescm.summary(counts, BINARY, model=model, prior=prior, draws=1000, random_seed=1)
    point = bayescm.metrics.evaluate(counts, BINARY)
    for metric in BINARY:
        row = s.sel(metric=metric.name)
        np.testing.assert_array_equal(row.point, point[metric.name])
        assert not np.isnan(row["median"]).any()
        assert (row.interval[:, 0] <= row["median"]).all()
        assert (row["median"] <= row.interval[:, 1]).all()
        assert (row.interval[:, 0] >= metric.lower).all()
        assert (row.interval[:, 1] <= metric.upper).all()
        if not metric.moments:
            assert np.isfinite(row["mean"]).all()
            assert (row.width > 0).all()


def test_all_zero_counts_give_the_prior():
    s = bayescm.summary(bayescm.from_cells(tp=0, fn=0, fp=0, tn=0), ["recall", "prevalence"], prior="jeffreys")
    np.testing.assert_allclose(s["mean"], 0.5)
    assert s.ci_kind.values.tolist() == ["eti", "eti"]  # U-shaped, and flat
    np.testing.assert_allclose(s.interval[0], [0.0015413331, 0.9984586669], atol=1e-9)
    assert np.isnan(s.point).all()


def test_a_class_without_items_has_its_prior():
    s = bayescm.summary(bayescm.from_cells(tp=0, fn=0, fp=3, tn=9), "recall", prior="laplace")
    np.testing.assert_allclose(s.interval.values[0], [0.025, 0.975], atol=1e-12)
    assert s.ci_kind.item() == "eti"


def test_a_perfect_classifier_is_uncertain():
    s = bayescm.summary(bayescm.from_cells(tp=20, fn=0, fp=0, tn=20), random_seed=1)
    for name in ("recall", "precision", "f1", "matthews_correlation", "accuracy"):
        row = s.sel(metric=name)
        assert row.point == 1
        assert 0.7 < row.interval[0] < 0.99
        assert row.interval[1] > 0.998


def test_means_that_do_not_exist():
    names = ["lr+", "lr-", "dor"]
    s = bayescm.summary(bayescm.from_cells(tp=20, fn=1, fp=0, tn=20), names, prior="jeffreys", random_seed=1)
    assert s["mean"].values[0] == np.inf  # FP + 1/2 <= 1
    assert np.isnan(s["sd"].values[0])
    assert np.isfinite(s["mean"].values[1])
    assert s["mean"].values[2] == np.inf
    s = bayescm.summary(bayescm.from_cells(tp=20, fn=5, fp=1, tn=20), "lr+", prior="jeffreys", random_seed=1)
    assert np.isfinite(s["mean"].item())  # 1.5 > 1
    assert s["sd"].item() == np.inf


def test_the_mean_of_a_likelihood_ratio_where_it_exists():
    tp, fn, fp, tn = 20, 5, 9, 20
    s = bayescm.summary(bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn), "lr+", prior=1, random_seed=1)
    # E[1/FPR] = (a + b - 1) / (a - 1) for FPR ~ Beta(a, b)
    want = (tp + 1) / (tp + fn + 2) * (fp + tn + 1) / fp
    np.testing.assert_allclose(s["mean"], want, rtol=1e-12)


def test_posterior_means_oracle(oracle):
    entry = oracle("cmu.test.metric_means")
    cells = {n.lower(): entry["inputs"][n] for n in ("TP", "FN", "FP", "TN")}
    names = {"PREVALENCE": "prevalence", "BIAS": "bias", "TPR": "tpr", "TNR": "tnr", "PPV": "ppv", "NPV": "npv",
             "ACC": "acc", "BM": "bm", "MK": "mk", "F1_mean": "f1", "MCC_mean": "mcc"}  # fmt: skip
    s = bayescm.summary(bayescm.from_cells(**cells), list(names.values()), prior=0)
    for i, key in enumerate(names):
        np.testing.assert_allclose(s["mean"][i], entry["expected"][key], atol=2e-3, err_msg=key)
    np.testing.assert_allclose(
        s.point[-2:], [entry["expected"]["F1_plugin"], entry["expected"]["MCC_plugin"]], atol=2e-3
    )


def test_one_item_oracle(oracle):
    want = oracle("totsch.n1")["expected"]
    counts = bayescm.from_cells(tp=1, fn=0, fp=0, tn=0)
    one = bayescm.summary(counts, "accuracy", prior="laplace")
    np.testing.assert_allclose(one["mean"], want["dirichlet_flat_E"], rtol=1e-12)
    three = bayescm.summary(counts, "accuracy", prior="laplace", model="three_binomial")
    np.testing.assert_allclose(three["mean"], want["three_beta_flat_E"], rtol=1e-8)


def test_deceptive_oracle(oracle):
    entry = oracle("cmu.tutorial.deceptive")
    cells = {n.lower(): entry["inputs"][n] for n in ("TP", "FN", "FP", "TN")}
    dt = bayescm.posterior(bayescm.from_cells(**cells), model="three_binomial", prior="laplace",
                           metrics=["bm", "mcc"], draws=100_000, random_seed=4)  # fmt: skip
    p = entry["expected"]
    error = 5 * np.sqrt(p * (1 - p) / 400_000)
    assert float((dt.posterior.informedness < 0).mean()) == pytest.approx(p, abs=error)
    assert float((dt.posterior.matthews_correlation < 0).mean()) == pytest.approx(p, abs=error)


def test_exchanged_prevalence_moves_point_and_interval_together():
    counts = bayescm.from_cells(tp=90, fn=10, fp=20, tn=80)
    s = bayescm.summary(counts, ["precision", "prevalence", "recall"], prevalence=0.01, random_seed=1)
    point = 0.9 * 0.01 / (0.9 * 0.01 + 0.2 * 0.99)
    np.testing.assert_allclose(s.point, [point, 0.01, 0.9])
    assert s.interval[0, 0] < point < s.interval[0, 1]
    np.testing.assert_allclose(s.interval[1], 0.01)
    same = bayescm.summary(counts, "recall")
    np.testing.assert_allclose(s.interval[2], same.interval[0])
    beta = bayescm.summary(counts, ["precision", "prevalence"], prevalence=(2, 198), random_seed=1)
    assert beta.point[1] == pytest.approx(0.01)
    assert beta.width[0] > s.width[0]
    assert s["sd"][1] == 0
    fixed = bayescm.summary(counts, ["precision", "prevalence"], prevalence="fixed", random_seed=1)
    np.testing.assert_allclose(fixed.point, [90 / 110, 0.5])
    np.testing.assert_allclose(fixed.interval[1], 0.5)


def test_more_than_two_labels():
    counts = bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]], labels=["cat", "dog", "fish"])
    s = bayescm.summary(counts, ["accuracy", "recall", "specificity"], random_seed=1)
    assert s.metric.values.tolist()[:3] == ["accuracy", "recall[cat]", "recall[dog]"]
    assert s.class_label.values.tolist() == ["", *["cat", "dog", "fish"] * 2]
    np.testing.assert_allclose(s.point[:2], [120 / 136, 50 / 55])
    assert (s.method == "exact").all()
    np.testing.assert_allclose(s["mean"][1], 50.5 / 56)
    three = bayescm.summary(counts, ["accuracy", "recall", "specificity"], model="three_binomial", random_seed=1)
    assert three.method.values.tolist() == ["draws", *["exact"] * 3, *["draws"] * 3]
    np.testing.assert_allclose(three["mean"], s["mean"], atol=0.01)


def test_draws_against_exact_distributions():
    counts = [[35, 30], [30, 50]]
    names = ["recall", "precision", "f1", "accuracy"]
    exact = bayescm.summary(counts, names)
    copies = {name: lambda tp, fn, fp, tn, n=name: compute_one(n, tp, fn, fp, tn) for name in names}
    drawn = bayescm.summary(counts, copies, random_seed=1, draws=200_000)
    assert (drawn.method == "draws").all()
    for name in ("mean", "median", "sd"):
        np.testing.assert_allclose(drawn[name], exact[name], atol=6 * float(drawn.mcse_mean.max()))
    np.testing.assert_allclose(drawn.interval, exact.interval, atol=6 * float(drawn.mcse_interval.max()))


def compute_one(name, tp, fn, fp, tn):
    from bayescm.metrics import compute, resolve

    matrix = np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2)
    return compute(resolve(name, 2), matrix)[0]


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_monte_carlo_errors_are_what_they_say(kind):
    rng = np.random.default_rng(0)
    runs = [Draws(rng.beta(5, 3, 4000)).statistics(0.9, kind) for _ in range(300)]
    for name, error in (("mean", "mcse_mean"), ("lower", "mcse_lower"), ("upper", "mcse_upper")):
        true = np.std([run[name] for run in runs])
        claimed = np.mean([run[error] for run in runs])
        assert claimed == pytest.approx(true, rel=0.15 if kind == "eti" or name == "mean" else 0.35)
        assert claimed > 0.9 * true


def test_narrowest_interval_against_a_plain_loop():
    rng = np.random.default_rng(1)
    draws = np.sort(rng.gamma(1.5, size=500))
    k = int(np.ceil(0.8 * 500))
    want = min((draws[i + k] - draws[i], draws[i], draws[i + k]) for i in range(500 - k))[1:]
    assert interval(draws, 0.8, "hdi") == want


def test_undefined_draws_warn():
    counts = bayescm.from_cells(tp=0, fn=0, fp=3, tn=9)
    with pytest.warns(UserWarning, match="undefined"):
        bayescm.summary(counts, "balanced_accuracy", prior=1e-4, random_seed=1)


def test_a_metric_with_nan_draws_has_no_interval():
    found = Draws(np.array([0.1, np.nan, *np.linspace(0, 1, 318)])).statistics(0.9, "hdi")
    assert np.isnan([found["lower"], found["upper"], found["mean"]]).all()


def test_means_of_averages_that_do_not_exist():
    counts = np.diag([5, 7, 9])
    names = ["lr+", "positive_likelihood_ratio_macro", "positive_likelihood_ratio_micro"]
    s = bayescm.summary(counts, names, random_seed=1)
    # FP of each class has 1/2, FP of all together 3/2
    assert s["mean"].values.tolist()[:4] == [np.inf] * 4
    assert np.isfinite(s["mean"].values[4])
    assert s["sd"].values[4] == np.inf
    more = bayescm.summary(counts + 3, names, random_seed=1)
    assert np.isfinite(more["sd"]).all()


def test_labelled_priors_are_read_by_their_labels():
    counts = bayescm.from_array([[6, 2], [0, 26]], labels=["a", "b"])
    prior = xr.DataArray(
        [[100, 1], [1, 50]], dims=("actual", "predicted"), coords={"actual": ["a", "b"], "predicted": ["a", "b"]}
    )
    straight = bayescm.summary(counts, "recall", prior=prior)
    turned = bayescm.summary(counts, "recall", prior=prior.isel(actual=[1, 0], predicted=[1, 0]))
    bare = bayescm.summary(counts, "recall", prior=prior.values)
    assert straight["mean"].item() == turned["mean"].item() == bare["mean"].item()
    with pytest.raises(ValueError, match="give both the same"):
        bayescm.summary([[6, 2], [0, 26]], "recall", prior=prior)
    # a Beta's two numbers come positives first, classes positives last: labels here would say the opposite
    labelled = {"prevalence": xr.DataArray([100, 1], dims="actual", coords={"actual": ["a", "b"]}), "rows": 1}
    with pytest.raises(ValueError, match="plain numbers"):
        bayescm.summary(counts, "recall", prior=labelled, model="three_binomial")
    with pytest.raises(TypeError, match="plain numbers"):
        bayescm.summary(counts, "recall", prevalence=xr.DataArray([0.5, 0.5], dims="actual"))


def test_points_at_an_exchanged_prevalence_where_a_class_has_no_items():
    counts = [[5, 1, 2], [0, 0, 0], [1, 1, 9]]
    s = bayescm.summary(counts, ["recall", "prevalence"], prevalence=(0.2, 0.3, 0.5), random_seed=1)
    np.testing.assert_allclose(s.point, [5 / 8, np.nan, 9 / 11, 0.2, 0.3, 0.5])
    np.testing.assert_allclose(s["mean"][3:], [0.2, 0.3, 0.5])
    two = bayescm.summary([[0, 0], [2, 26]], ["recall", "prevalence"], prevalence=0.3)
    np.testing.assert_allclose(two.point, [26 / 28, 0.3])


@pytest.mark.parametrize("dim", ["row", "metric", "chain", "cell", "ci_bound", "counts"])
def test_batch_dims_that_results_need_are_refused(dim):
    counts = xr.DataArray(np.ones((2, 2, 2), int), dims=(dim, "actual", "predicted"))
    with pytest.raises(ValueError, match=f"can't have '{dim}'"):
        bayescm.summary(counts, "recall")


def test_users_functions_cannot_change_the_draws():
    def greedy(tp, fn):
        tp += fn
        return tp

    with pytest.raises(ValueError, match="read-only"):
        bayescm.summary([[6, 2], [1, 26]], [greedy, "recall"])


def test_what_is_no_rate_is_of_shares_in_the_data_too():
    def gain(tp, fp):
        return 5 * tp - fp

    for counts in ([[6, 2], [0, 26]], [[60, 20], [0, 260]]):
        s = bayescm.summary(counts, gain, random_seed=1)
        assert s.point.item() == pytest.approx((5 * 26 - 2) / 34)
        assert s.interval[0, 0] < s.point[0] < s.interval[0, 1]


def test_optional_cells_are_given_too():
    def mine(tp, fn=None):
        return tp / (tp if fn is None else tp + fn)

    s = bayescm.summary([[6, 2], [1, 26]], [mine, "recall"], random_seed=1)
    assert s.point[0] == s.point[1]


def test_float_and_numpy_input():
    a = bayescm.summary(np.array([[6.0, 2.0], [0.0, 26.0]]), "recall")
    b = bayescm.summary([[6, 2], [0, 26]], "recall")
    xr.testing.assert_identical(a.drop_attrs(), b.drop_attrs())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"ci_prob": 1}, ValueError, "`ci_prob`"),
        ({"ci_prob": "high"}, TypeError, "`ci_prob`"),
        ({"ci_kind": "hpd"}, ValueError, "'eti', 'hdi'"),
        ({"model": "binomial"}, ValueError, "`model`"),
        ({"draws": 10}, ValueError, "at least 1000"),
        ({"draws": 1e5}, TypeError, "positive integer"),
        ({"random_seed": "a"}, TypeError, "`random_seed`"),
        ({"random_seed": -1}, ValueError, "`random_seed`"),
        ({"metrics": "nonsense"}, ValueError, "nonsense"),
    ],
)
def test_bad_options(options, error, words):
    with pytest.raises(error, match=words):
        bayescm.summary([[6, 2], [0, 26]], **options)


@pytest.mark.parametrize("normalize", ["actual", "predicted", "all"])
def test_cells_against_draws(normalize):
    counts = bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]])
    cells = bayescm.inference.cell_summary(counts, normalize=normalize)
    theta = bayescm.posterior(counts, draws=20_000, random_seed=1).posterior.theta
    over = {"actual": ["predicted"], "predicted": ["actual"], "all": ["actual", "predicted"]}[normalize]
    share = theta / theta.sum(over)
    np.testing.assert_allclose(share.mean(("chain", "draw")), cells["mean"], atol=5 / np.sqrt(80_000))
    np.testing.assert_allclose(share.std(("chain", "draw")), cells["sd"], atol=2e-3)
    np.testing.assert_allclose(share.median(("chain", "draw")), cells["median"], atol=3e-3)
    inside = (share >= cells.interval[..., 0]) & (share <= cells.interval[..., 1])
    np.testing.assert_allclose(inside.mean(("chain", "draw")), 0.95, atol=0.006)
    np.testing.assert_allclose(cells.point.sum(over), 1)


def test_cells_of_the_row_model():
    cells = bayescm.inference.cell_summary([[6, 2], [0, 26]], model="three_binomial", prior="laplace", ci_kind="eti")
    assert cells["mean"].values[1, 1] == pytest.approx(27 / 28)
    empty = bayescm.inference.cell_summary([[0, 0], [0, 26]], ci_kind="hdi")
    assert empty.ci_kind.values.tolist() == [["eti", "eti"], ["hdi", "hdi"]]
    whole = bayescm.inference.cell_summary([[6, 2], [0, 26]], model="three_binomial", normalize="all", random_seed=1)
    drawn = bayescm.posterior([[6, 2], [0, 26]], model="three_binomial", draws=10_000, random_seed=2).posterior.theta
    assert (abs(whole["mean"] - drawn.mean(("chain", "draw"))) < 7 * whole["mcse_mean"]).all()


def test_two_threads_agree_with_one():
    from concurrent.futures import ThreadPoolExecutor

    counts = bayescm.datasets.toetsch2021()

    def run(_):
        return bayescm.summary(counts, ["recall", "mcc"], random_seed=1)

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, range(2))
    xr.testing.assert_identical(one, two)
    xr.testing.assert_identical(one, run(0))


@pytest.mark.parametrize("name", ["f1", "jaccard", "specificity", "precision"])
def test_means_of_macro_averages_are_exact_where_those_of_the_classes_are(name):
    counts = np.array([[17, 2, 1], [0, 6, 0], [3, 1, 12]])
    average = bayescm.summary(counts, f"{name}_macro", draws=1000, random_seed=1)
    classes = bayescm.summary(counts, name)
    np.testing.assert_allclose(average["mean"].item(), classes["mean"].values.mean(), rtol=1e-12)
    assert average.mcse_mean.item() == 0
    estimated = bayescm.summary(counts, f"{name}_macro", model="three_binomial", draws=1000, random_seed=1)
    assert estimated.mcse_mean.item() > 0
