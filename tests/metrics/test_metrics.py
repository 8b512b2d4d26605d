"""Metrics against definitions written another way, exhaustively over small tables, and against scikit-learn."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk
from small import tables

import bayescm
from bayescm.metrics import available, compute, evaluate, fbeta, net_benefit, resolve
from bayescm.metrics.multiclass import one_vs_rest
from bayescm.metrics.table import BINARY

ALL_210 = tables(6)
NAN, INF = math.nan, math.inf


def ratio(a, b):
    """a / b in exact arithmetic, with 0/0 undefined and x/0 infinite."""
    if b == 0:
        return NAN if a == 0 or a != a else INF
    return a / b


def slow(name, tp, fn, fp, tn):
    """Return a metric by its textbook definition, in fractions as far as roots allow."""
    tp, fn, fp, tn = map(Fraction, (tp, fn, fp, tn))
    n = tp + fn + fp + tn
    tpr, tnr, fpr, fnr = ratio(tp, tp + fn), ratio(tn, tn + fp), ratio(fp, fp + tn), ratio(fn, fn + tp)
    ppv, npv = ratio(tp, tp + fp), ratio(tn, tn + fn)
    chance = (tp + fn) * (tp + fp) / n if n else NAN

    def fb(b2):
        return ratio((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)

    def kappa():
        if n == 0:
            return NAN
        po = (tp + tn) / n
        pe = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
        return ratio(po - pe, 1 - pe)

    def corrected(same, chance):
        return ratio(4 * n * same - chance, 4 * n**2 - chance)

    def alpha():
        ratings, same = 2 * n, [2 * tp + fn + fp, 2 * tn + fn + fp]
        return 1 - ratio((ratings - (n > 1)) * (fn + fp), same[0] * same[1]) if n else NAN

    def mcc():
        product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return NAN if product == 0 else float(tp * tn - fp * fn) / math.sqrt(product)

    def p4():
        # harmonic mean of precision, recall, specificity, NPV where all are positive, else the limit
        return ratio(4 * tp * tn, 4 * tp * tn + (tp + tn) * (fp + fn))

    def threshold():
        return ratio(math.sqrt(fpr), math.sqrt(tpr) + math.sqrt(fpr)) if fpr == fpr and tpr == tpr else NAN

    return float(
        {
            "prevalence": lambda: ratio(tp + fn, n),
            "predicted_prevalence": lambda: ratio(tp + fp, n),
            "recall": lambda: tpr,
            "specificity": lambda: tnr,
            "false_positive_rate": lambda: fpr,
            "false_negative_rate": lambda: fnr,
            "precision": lambda: ppv,
            "negative_predictive_value": lambda: npv,
            "false_discovery_rate": lambda: 1 - ppv,
            "false_omission_rate": lambda: 1 - npv,
            "accuracy": lambda: ratio(tp + tn, n),
            "error_rate": lambda: 1 - ratio(tp + tn, n),
            "balanced_accuracy": lambda: (tpr + tnr) / 2,
            "f1": lambda: fb(1),
            "f2": lambda: fb(4),
            "f0.5": lambda: fb(Fraction(1, 4)),
            "matthews_correlation": mcc,
            "cohen_kappa": kappa,
            "scotts_pi": lambda: corrected(tp + tn, (2 * tp + fn + fp) ** 2 + (2 * tn + fn + fp) ** 2),
            "krippendorff_alpha": alpha,
            "gwets_ac1": lambda: corrected(tp + tn, 2 * (2 * tp + fn + fp) * (2 * tn + fn + fp)),
            "negative_agreement": lambda: ratio(2 * tn, 2 * tn + fn + fp),
            "equitable_threat_score": lambda: ratio(tp - chance, tp + fn + fp - chance) if n else NAN,
            "informedness": lambda: tpr + tnr - 1,
            "markedness": lambda: ppv + npv - 1,
            "jaccard": lambda: ratio(tp, tp + fn + fp),
            "fowlkes_mallows": lambda: math.sqrt(ppv * tpr) if ppv == ppv and tpr == tpr else NAN,
            "geometric_mean": lambda: math.sqrt(tpr * tnr) if tpr == tpr and tnr == tnr else NAN,
            "p4": p4,
            "positive_likelihood_ratio": lambda: ratio(tpr, fpr),
            "negative_likelihood_ratio": lambda: ratio(fnr, tnr),
            "diagnostic_odds_ratio": lambda: ratio(tp * tn, fp * fn),
            "prevalence_threshold": threshold,
        }[name]()
    )


def test_there_are_210_small_tables():
    assert len(ALL_210) == 210


@pytest.mark.parametrize("metric", BINARY, ids=lambda m: m.name)
def test_every_metric_on_every_small_table(metric):
    (got,) = compute([metric], ALL_210)
    want = np.array([slow(metric.name, tp, fn, fp, tn) for (tn, fp), (fn, tp) in ALL_210.tolist()])
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
    (shares,) = compute([metric], ALL_210 / np.maximum(ALL_210.sum((1, 2)), 1)[:, None, None])
    if metric.name == "krippendorff_alpha":  # corrects for the number of ratings, which shares don't have
        (want,) = compute(resolve("scotts_pi", 2), ALL_210)
    np.testing.assert_allclose(shares, want, rtol=1e-12, atol=1e-14)
    defined = got[np.isfinite(got)]
    assert metric.lower <= defined.min()
    assert defined.max() <= metric.upper
    assert np.isnan(got).any() == bool(metric.undefined)


def test_all_zero_is_undefined_for_every_metric():
    values = evaluate(bayescm.from_cells(tp=0, fn=0, fp=0, tn=0))
    assert all(np.isnan(v) for v in values.values())


SKLEARN = {
    "recall": lambda y, p: sk.recall_score(y, p, zero_division=np.nan),
    "precision": lambda y, p: sk.precision_score(y, p, zero_division=np.nan),
    "f1": lambda y, p: sk.f1_score(y, p, zero_division=np.nan),
    "f2": lambda y, p: sk.fbeta_score(y, p, beta=2, zero_division=np.nan),
    "accuracy": sk.accuracy_score,
    "matthews_correlation": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}


def items(matrix):
    """Return y_true, y_pred of a matrix."""
    k = len(matrix)
    cells = [(i, j) for i in range(k) for j in range(k) for _ in range(int(matrix[i][j]))]
    return [i for i, _ in cells], [j for _, j in cells]


@pytest.mark.slow
@pytest.mark.parametrize("name", SKLEARN)
def test_two_labels_against_scikit_learn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = evaluate(bayescm.from_array(np.array(ALL_210[1:]), dims="table"), name)[name]
        for matrix, got in zip(ALL_210[1:], every.values, strict=True):
            y, p = items(matrix.tolist())
            want = SKLEARN[name](y, p)
            if name in {"matthews_correlation", "cohen_kappa"} and np.isnan(got):
                continue  # scikit-learn puts 0 (or NaN) where the correlation is undefined
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


MULTI = [
    [[3, 0, 0], [0, 8, 0], [2, 1, 6]],
    [[2, 0, 0], [0, 0, 1], [1, 0, 2]],
    [[5, 1, 0], [0, 0, 0], [2, 3, 4]],  # a class without items
    [[5, 0, 1], [2, 0, 3], [1, 0, 4]],  # a class never predicted
    [[4, 0, 0], [0, 3, 0], [0, 0, 2]],
    [[1, 2, 3, 4], [4, 3, 2, 1], [0, 5, 0, 5], [2, 2, 2, 2]],
]


@pytest.mark.parametrize("matrix", MULTI, ids=str)
@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_averages_are_scikit_learns(matrix, average):
    y, p = items(matrix)
    labels = range(len(matrix))
    counts = bayescm.from_array(matrix)
    functions = {
        "recall": sk.recall_score,
        "precision": sk.precision_score,
        "f1": sk.f1_score,
        "jaccard": sk.jaccard_score,
        "f2": lambda *a, **k: sk.fbeta_score(*a, beta=2, **k),
    }
    for name, function in functions.items():
        zero = {"zero_division": 0.0} if name == "jaccard" else {"zero_division": np.nan}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = function(y, p, labels=labels, average=average, **zero)
        key = name if average is None else f"{name}_{average}"
        got = evaluate(counts, key)[key].values
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("matrix", MULTI, ids=str)
def test_whole_matrix_metrics_are_scikit_learns(matrix):
    y, p = items(matrix)
    counts = bayescm.from_array(matrix)
    got = evaluate(
        counts, ["accuracy", "error_rate", "balanced_accuracy", "mcc", "kappa", "kappa_linear", "kappa_quadratic"]
    )
    labels = list(range(len(matrix)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = {
            "accuracy": sk.accuracy_score(y, p),
            "error_rate": 1 - sk.accuracy_score(y, p),
            "balanced_accuracy": sk.balanced_accuracy_score(y, p),
            "matthews_correlation": sk.matthews_corrcoef(y, p),
            "cohen_kappa": sk.cohen_kappa_score(y, p, labels=labels),
            "cohen_kappa_linear": sk.cohen_kappa_score(y, p, labels=labels, weights="linear"),
            "cohen_kappa_quadratic": sk.cohen_kappa_score(y, p, labels=labels, weights="quadratic"),
        }
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-12)


def test_multiclass_oracles(oracle):
    entry = oracle("field.24")
    names = {
        "acc": "accuracy",
        "ba": "balanced_accuracy",
        "kappa": "cohen_kappa",
        "kappa_linear": "cohen_kappa_linear",
        "kappa_quadratic": "cohen_kappa_quadratic",
        "mcc": "matthews_correlation",
        "f1": "f1",
        "f1_micro": "f1_micro",
        "f1_macro": "f1_macro",
        "f1_weighted": "f1_weighted",
        "f2_macro": "f2_macro",
        "jaccard": "jaccard",
    }
    for key, matrix in entry["inputs"]["matrices"].items():
        got = evaluate(bayescm.from_array(matrix), list(names.values()))
        for theirs, ours in names.items():
            np.testing.assert_allclose(got[ours], entry["expected"][key][theirs], rtol=1e-12, err_msg=f"{key} {ours}")


def test_two_label_oracles(oracle):
    entry = oracle("mmu.metrics")
    tn, fp, fn, tp = entry["inputs"]["cm_TN_FP_FN_TP"]
    got = evaluate(
        bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn), ["npv", "ppv", "tnr", "tpr", "fpr", "fnr", "acc", "mcc"]
    )
    for short, value in entry["expected"].items():
        if short not in {"neg_f1", "pos_f1"}:
            np.testing.assert_allclose(got[resolve(short, 2)[0].name], value, atol=1e-7)
    swapped = evaluate(bayescm.from_cells(tp=tn, fn=fp, fp=fn, tn=tp), "f1").f1
    np.testing.assert_allclose(swapped, entry["expected"]["neg_f1"], atol=1e-7)
    entry = oracle("caelen.mcc")
    for system, (tp, tn, fp, fn) in zip("AB", entry["inputs"].values(), strict=True):
        got = evaluate(bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn), "mcc").matthews_correlation
        np.testing.assert_allclose(got, entry["expected"][system], rtol=1e-12)


counts_2x2 = hnp.arrays(np.int64, (2, 2), elements=st.integers(0, 10**9))
counts_kxk = st.integers(3, 6).flatmap(lambda k: hnp.arrays(np.int64, (k, k), elements=st.integers(0, 1000)))


@given(counts_2x2)
def test_values_stay_in_range_up_to_a_billion(matrix):
    for metric, value in zip(BINARY, compute(BINARY, matrix), strict=True):
        assert np.isnan(value) or metric.lower - 1e-12 <= value <= metric.upper + 1e-12


@given(counts_kxk)
def test_relabelling_changes_nothing_overall(matrix):
    order = np.random.default_rng(0).permutation(len(matrix))
    names = ["accuracy", "balanced_accuracy", "mcc", "kappa", "f1_macro", "f1_micro", "f1_weighted"]
    metrics = resolve(names, len(matrix))
    for a, b in zip(compute(metrics, matrix), compute(metrics, matrix[np.ix_(order, order)]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@given(counts_kxk)
def test_one_vs_rest_adds_up(matrix):
    cells = one_vs_rest(matrix.astype(float))
    for k in range(len(matrix)):
        rest = [i for i in range(len(matrix)) if i != k]
        assert cells.tp[k] == matrix[k, k]
        assert cells.fn[k] == matrix[k, rest].sum()
        assert cells.fp[k] == matrix[rest, k].sum()
        assert cells.tn[k] == matrix[np.ix_(rest, rest)].sum()


def test_small_probabilities_keep_their_digits():
    tiny = np.full((3, 3), 1e-30)
    tiny[0, 0] = 1.0
    rest = one_vs_rest(tiny)
    np.testing.assert_allclose(rest.tn[0], 4e-30, rtol=1e-12)


def test_multiclass_forms_agree_with_binary_ones_on_two_labels():
    from bayescm.metrics import multiclass
    from bayescm.metrics.table import MATRIX

    for metric in MATRIX[:5]:
        matrix = ALL_210.astype(float)
        with np.errstate(all="ignore"):
            got = metric.function(matrix)
        want = compute(resolve(metric.name, 2), ALL_210)[0]
        if metric.name == "balanced_accuracy":  # leaves classes without items out, as scikit-learn does
            got = np.where(np.isnan(want), np.nan, got)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14, err_msg=metric.name)
    assert multiclass.of_two(ALL_210[7]).tp == ALL_210[7][1, 1]


def test_parameters():
    counts = bayescm.from_cells(tp=8, fn=2, fp=3, tn=7)
    got = evaluate(counts, ["fbeta(beta=2)", "expected_cost(fn=5, fp=1)", "net_benefit(threshold=0.2)", "fbeta"])
    assert float(got["fbeta(beta=2)"]) == float(evaluate(counts, "f2").f2)
    assert float(got["expected_cost(tp=0, fn=5, fp=1, tn=0)"]) == pytest.approx((5 * 2 + 3) / 20)
    assert float(got["net_benefit(threshold=0.2)"]) == pytest.approx((8 - 3 * 0.25) / 20)
    assert float(got["fbeta"]) == float(evaluate(counts, "f1").f1)
    assert evaluate(counts, fbeta(2)).equals(evaluate(counts, "fbeta(beta=2)"))
    with pytest.raises(ValueError, match="probability in"):
        net_benefit(1.0)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_metrics_with_parameters_have_averages(average):
    counts = bayescm.from_array([[9, 1, 0], [2, 7, 1], [0, 3, 12]])
    actual, predicted = (np.repeat(index.ravel(), counts.values.ravel()) for index in np.indices((3, 3)))
    want = sk.fbeta_score(actual, predicted, beta=2, average=average)
    for name in (f"fbeta(beta=2)_{average}", f"{average}_fbeta(beta=2)", f"f2_{average}"):
        assert float(evaluate(counts, name).to_array()[0]) == pytest.approx(want)
    with pytest.raises(ValueError, match="can't read"):
        evaluate(counts, f"fbeta(gamma=2)_{average}")


def test_user_functions():
    counts = bayescm.from_cells(tp=[8, 1], fn=[2, 1], fp=[3, 1], tn=[7, 1])

    def odds(tp, fp):
        return tp / fp

    def off(theta):
        return theta[..., 0, 1]

    got = evaluate(counts, [odds, off, "recall"])
    np.testing.assert_allclose(got.odds, [8 / 3, 1])
    np.testing.assert_allclose(got.off, [3 / 20, 1 / 4])  # shares, of counts, too
    assert list(evaluate(counts, {"mine": odds, "theirs": "mcc"})) == ["mine", "theirs"]

    def harmonic(precision, recall):
        return 2 / (1 / precision + 1 / recall)

    np.testing.assert_allclose(evaluate(counts, harmonic).harmonic, evaluate(counts, "f1").f1)
    per_class = evaluate(bayescm.from_array(MULTI[0]), odds)
    assert per_class.odds.dims == ("class_label",)


@pytest.mark.parametrize(
    ("metrics", "error", "words"),
    [
        ("recal", ValueError, "has no 'recal'"),
        ([], ValueError, "empty"),
        (["f1", "dice"], ValueError, "twice"),
        ({"theta": "mcc"}, ValueError, "keep that name"),
        ({"chain": "mcc"}, ValueError, "keep that name"),
        ({"a/b": "mcc"}, ValueError, "keep that name"),
        (3, TypeError, "takes names"),
        (max, TypeError, "named arguments"),
        (lambda tp, /: tp, TypeError, "named arguments"),
        (lambda tp, **cells: tp, TypeError, "named arguments"),
        ("fbeta(beta=-1)", ValueError, "positive number"),
        ("fbeta(beta=2, beta=3)", ValueError, "can't read"),
        ([3], TypeError, "takes names"),
        (lambda a, b: a, TypeError, "cells named"),
        ("fbeta(gamma=2)", ValueError, "can't read"),
        ("fbeta(beta=x)", ValueError, "can't read"),
        ("recall(beta=1)", ValueError, "take parameters"),
        ("accuracy_macro", ValueError, "has no"),
        (lambda theta: theta.sum(), ValueError, "returned shape"),
        (lambda theta: theta[..., 0], ValueError, "returned shape"),
    ],
)
def test_bad_metrics(metrics, error, words):
    counts = bayescm.from_array(np.ones((5, 2, 2), int))
    with pytest.raises(error, match=words):
        evaluate(counts, metrics)


def test_evaluate_checks_what_it_is_given():
    crossed = xr.DataArray(
        [[1, 2], [3, 4]], dims=("actual", "predicted"), coords={"actual": [0, 1], "predicted": [1, 0]}
    )
    with pytest.raises(ValueError, match="same order"):
        evaluate(crossed)
    with pytest.raises(TypeError, match="DataArray"):
        evaluate([[1, 2], [3, 4]])
    sweep = bayescm.from_array(np.ones((2, 2, 2)), dims="recall").assign_coords(recall=[0.1, 0.2])
    with pytest.raises(ValueError, match="dim or coordinate"):
        bayescm.posterior(sweep, metrics=["recall", "mcc"])


def test_aliases_and_unhashable_functions():
    from dataclasses import dataclass

    @dataclass
    class Weighted:
        weight: float

        def __call__(self, tpr, tnr):
            return self.weight * tpr + (1 - self.weight) * tnr

    counts = bayescm.from_cells(tp=8, fn=2, fp=3, tn=7)
    got = evaluate(counts, {"mine": Weighted(0.5), "ba": "balanced_accuracy"})
    assert float(got.mine) == pytest.approx(float(got.ba))


def test_evaluate_keeps_dims_coordinates_and_laziness():
    counts = bayescm.datasets.toetsch2021()
    eager = evaluate(counts)
    assert eager.recall.dims == ("system",)
    assert "doi" in eager.coords
    lazy = evaluate(counts.chunk(system=5))
    assert lazy.recall.chunks is not None
    xr.testing.assert_identical(lazy.compute(), eager)


def test_average_names_both_ways():
    assert [m.name for m in resolve(["macro_f1", "precision_micro"], 3)] == ["f1_macro", "precision_micro"]
    assert [m.name for m in resolve(["MCC", " kappa "], 3)] == ["matthews_correlation", "cohen_kappa"]


def test_every_alias_is_found_and_unique():
    metrics = available(2)
    aliases = [a for m in metrics for a in m.aliases]
    assert len(aliases) == len(set(aliases))
    for metric in metrics:
        for alias in metric.aliases:
            assert resolve(alias, 2)[0].name == metric.name


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("hit rat", None), ("hit rate", "recall"), ("hit_rate", "recall"), ("POD", "recall"),
        ("POFD", "false_positive_rate"),
        ("false_alarm_ratio", "false_discovery_rate"), ("false_alarm_rate", "false_positive_rate"),
        ("CSI", "jaccard"), ("threat_score", "jaccard"), ("IoU", "jaccard"), ("Dice", "f1"), ("DSC", "f1"),
        ("PSS", "informedness"), ("hanssen_kuipers", "informedness"), ("TSS", "informedness"), ("HSS", "cohen_kappa"),
        ("ETS", "equitable_threat_score"), ("gilbert_skill_score", "equitable_threat_score"),
        ("LR+", "positive_likelihood_ratio"),
        ("success_ratio", "precision"), ("positive_agreement", "f1"), ("observed_agreement", "accuracy"),
    ],
)  # fmt: skip
def test_names_of_other_trades(name, canonical):
    if canonical is None:
        with pytest.raises(ValueError, match="hit_rate"):
            resolve(name, 2)
    else:
        assert resolve(name, 2)[0].name == canonical


def test_a_name_of_two_metrics_is_asked_back():
    with pytest.raises(ValueError, match=r"say which: 'false_alarm_ratio' is .* 'false_alarm_rate'"):
        resolve("FAR", 2)


def test_no_name_stands_for_two_metrics():
    names = [name for metric in BINARY for name in (metric.name, *metric.aliases)]
    assert len(names) == len(set(names))


def test_the_equitable_threat_score_is_kappa_on_another_scale():
    """Of counts, and of the whole posterior: the map is monotone, so that quantiles go with it."""
    found = evaluate(bayescm.from_cells(tp=28, fn=23, fp=72, tn=2680), ["ets", "hss"])  # Finley's tornadoes, 1884
    assert found.equitable_threat_score == pytest.approx(0.216, abs=5e-4)
    assert found.cohen_kappa == pytest.approx(0.355, abs=5e-4)
    ets, kappa = (bayescm.metric_distribution([[9, 3], [2, 6]], name) for name in ("ets", "kappa"))
    p = np.array([0.01, 0.3, 0.5, 0.9, 0.999])
    ends = kappa.ppf(p).values
    np.testing.assert_allclose(ets.ppf(p), ends / (2 - ends), atol=1e-8)
    np.testing.assert_allclose(ets.cdf(0.2), kappa.cdf(1 / 3), atol=1e-9)


@pytest.mark.parametrize(("name", "title"), [("mcc", "Matthews correlation (mcc)"), ("f1_macro", "F1, macro")])
def test_metrics_are_described_by_name(name, title):
    said = bayescm.metrics.describe(name)
    assert said["long_name"] == title
    assert said == bayescm.metrics.describe(resolve(name, 2)[0])
    assert said["formula"]
