"""Printed metrics against every matrix there is, counted by whole numbers alone."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

import bayescm
from bayescm.distributions.beta import Beta
from bayescm.distributions.mixed import Mixed
from bayescm.inference.read import read
from bayescm.metrics import resolve
from bayescm.priors import possible
from bayescm.priors.concentrations import concentrations

JEFFREYS = concentrations("jeffreys", "dirichlet_multinomial", 2)
TRIPLES = (("precision", "recall", "f1"), ("accuracy", "recall", "specificity"))


def every_matrix(n):
    """Return all matrices of n items: TN, FP, FN, TP."""
    some = np.array(list(itertools.combinations(range(n + 3), 3)))
    ends = np.concatenate([np.full((len(some), 1), -1), some, np.full((len(some), 1), n + 3)], 1)
    return np.diff(ends, axis=1) - 1


def shares(names, cells):
    """Return each metric as a fraction of whole numbers."""
    tn, fp, fn, tp = cells.T
    known = {
        "precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn),
        "accuracy": (tp + tn, tp + tn + fp + fn), "specificity": (tn, tn + fp),
    }  # fmt: skip
    return [known[name] for name in names]


def fits(names, cells, printed):
    """Say, by whole numbers, which matrices have metrics within half a percent of those printed, in percents."""
    held = np.ones(len(cells), bool)
    for (top, bottom), percents in zip(shares(names, cells), printed, strict=True):
        held &= (bottom > 0) & (np.abs(200 * top - 2 * percents * bottom) <= bottom)
    return held


def found(names, printed, n, folds=1, positives=None):
    values = np.array(printed) / 100
    bounds = possible.Bounds(resolve(names, 2), values - 0.005, values + 0.005, folds)
    return possible.possible(bounds, n, JEFFREYS, positives)


def printed_of(names, cells):
    """Return the distinct printed triples, in percents, of matrices whose metrics all have values."""
    defined = np.all([bottom > 0 for _, bottom in shares(names, cells)], 0)
    some = cells[defined]
    return np.unique(np.stack([np.rint(100 * top / bottom) for top, bottom in shares(names, some)], -1), axis=0)


def check_all(names, n, step):
    cells = every_matrix(n)
    triples = printed_of(names, cells).astype(int)[::step]
    for printed in triples.tolist():
        expected = cells[fits(names, cells, printed)]
        assert len(expected)
        got = found(names, printed, n)
        assert got.exact
        assert got.number == len(expected)
        np.testing.assert_array_equal(got.least, expected.min(0))
        np.testing.assert_array_equal(got.most, expected.max(0))
        if len(expected) <= possible.KEPT:
            assert set(map(tuple, got.cells.tolist())) == set(map(tuple, expected.tolist()))
    return len(triples)


@pytest.mark.slow
@pytest.mark.parametrize("names", TRIPLES)
def test_some_are_every_matrix_that_fits(names):
    assert sum(check_all(names, n, 97) for n in (1, 2, 7, 19, 40)) > 70


@pytest.mark.long
@pytest.mark.parametrize("names", TRIPLES)
def test_up_to_40_items_are_every_matrix_that_fits(names):
    """With a step of 1, all of them, this takes 20 minutes, and was seen to hold."""
    assert sum(check_all(names, n, 9) for n in range(1, 41)) > 5000


def test_what_no_matrix_has_is_impossible():
    cells, rng = every_matrix(23), np.random.default_rng(1)
    none = 0
    for printed in rng.integers(0, 101, (60, 3)).tolist():
        number = fits(TRIPLES[0], cells, printed).sum()
        assert found(TRIPLES[0], printed, 23).number == number
        none += number == 0
    assert none > 40


@pytest.mark.slow
def test_numbers_at_odds_and_what_the_others_leave():
    paper = bayescm.from_reported(precision=0.85, recall=0.81, f1=0.90, n_items=1000)
    assert paper.attrs["verdict"] == "impossible"
    assert paper.sizes["possible"] == 0
    assert paper.nearest.sel(metric="f1") == 0.83
    assert "f1 (the others leave 0.83)" in paper.bayescm.sentence
    with pytest.raises(ValueError, match="no matrix of 1000 items has"):
        bayescm.summary(paper, "f1")
    high = bayescm.from_reported(precision=0.85, recall=0.81, f1=0.93, n_items=1000)  # others would have to exceed 1
    assert high.attrs["at_odds"] == "f1"
    one = bayescm.from_reported(accuracy=0.94, specificity=0.75, precision=0.93, recall=0.5, n_items=34)
    assert one.attrs["at_odds"] == "recall"
    assert one.nearest.sel(metric="recall") == 1.0
    size = bayescm.from_reported(recall="0.8333", specificity="0.7500", n_items=11, positives=6)
    assert "n_items (10 would do)" in size.attrs["at_odds"]


@pytest.mark.slow
def test_at_odds_is_the_nearest_number_of_every_matrix_that_fits_the_others():
    names, cells = TRIPLES[0], every_matrix(23)
    seen = 0
    for printed in np.random.default_rng(2).integers(0, 101, (12, 3)).tolist():
        if fits(names, cells, printed).any():
            continue
        paper = bayescm.from_reported(dict(zip(names, np.array(printed) / 100, strict=True)), n_items=23)
        for i, name in enumerate(names):
            others = [each for each in range(101) if fits(names, cells, [*printed[:i], each, *printed[i + 1 :]]).any()]
            got = float(paper.nearest[i])
            assert (name in paper.attrs["at_odds"].split(", ")) == np.isfinite(got) == bool(others)
            if others:
                assert abs(round(100 * got) - printed[i]) == min(abs(each - printed[i]) for each in others)
                seen += 1
    assert seen > 5


def test_unique_matrix_answers_as_itself():
    paper = bayescm.from_reported(accuracy=0.94, specificity=0.75, precision=0.93, n_items=34)
    assert paper.attrs["verdict"] == "unique"
    plain = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    names = ["recall", "mcc", "f1", "accuracy"]
    for model in ("dirichlet_multinomial", "three_binomial"):
        got, expected = (bayescm.summary(one, names, model=model) for one in (paper, plain))
        np.testing.assert_allclose(got.interval, expected.interval, rtol=1e-9)
        assert (got.method == "exact").all()


@pytest.mark.slow
def test_mixture_is_the_posterior_of_the_cells_given_that_they_fit():
    """By simulation: cells from the prior, items from the cells, kept where the printed numbers come out."""
    paper = bayescm.from_reported(precision=0.75, recall=0.6, n_items=20)
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(4, 0.5), 3_000_000)
    cells = np.stack(rng.multinomial(20, theta).T, -1)
    kept = theta[fits(("precision", "recall"), cells, (75, 60))]
    assert len(kept) > 2000
    summary = bayescm.summary(paper, ["accuracy", "recall", "mcc"], random_seed=1)
    tn, fp, fn, tp = kept.T
    simulated = {"accuracy": tp + tn, "recall": tp / (tp + fn)}
    for name, values in simulated.items():
        one = summary.sel(metric=name)
        assert one.method == "exact"
        assert abs(float(one["mean"]) - values.mean()) < 5 * values.std() / len(values) ** 0.5
        assert abs(np.mean(values < float(one.interval[0])) - 0.025) < 5 * (0.025 / len(values)) ** 0.5
    mcc = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert abs(float(summary.sel(metric="matthews_correlation")["mean"]) - mcc.mean()) < 5 * mcc.std() / len(mcc) ** 0.5


@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
def test_weights_are_the_probabilities_of_matrices(model):
    cells = every_matrix(9)
    prior = concentrations("laplace" if model == "dirichlet_multinomial" else {"prevalence": (2, 5)}, model, 2)
    log = possible.log_weight(cells, prior)
    weight = np.exp(log - special.logsumexp(log))
    rng = np.random.default_rng(0)
    n = 200_000
    if prior.one_dirichlet:
        theta = rng.dirichlet(prior.rows.ravel(), n)
    else:
        classes = rng.dirichlet(prior.shares, n)
        theta = np.concatenate([classes[:, [i]] * rng.dirichlet(prior.rows[i], n) for i in (0, 1)], 1)
    drawn = rng.multinomial(9, theta)
    place = {tuple(one): i for i, one in enumerate(cells.tolist())}
    seen = np.bincount([place[tuple(one)] for one in drawn.tolist()], minlength=len(cells)) / n
    assert np.all(np.abs(seen - weight) < 5.5 * np.sqrt(weight / n) + 3 / n)
    large = np.array([10**7, 3, 0, 10**12])
    exact = special.gammaln(large[:2] + 0.5) - special.gammaln(large[:2] + 1.0)
    np.testing.assert_allclose(possible._rising(large[:2], np.full(2, 0.5)), exact, rtol=1e-7)


def test_some_matrices_stand_for_all(monkeypatch):
    how = {"precision": 0.85, "recall": 0.81, "f1": 0.83, "n_items": 400}
    metrics = ["accuracy", "specificity", "npv", "recall"]
    some = bayescm.from_reported(**how)
    assert some.sizes["possible"] == 1999 or some.sizes["possible"] < possible.KEPT
    monkeypatch.setattr(possible, "KEPT", 10**7)
    every = bayescm.from_reported(**how)
    monkeypatch.setattr(possible, "KEPT", 1000)
    few = bayescm.from_reported(**how)
    assert every.sizes["possible"] == every.matches == few.matches
    assert few.sizes["possible"] == 2000
    assert abs(float(few.stands_for.sum()) / float(every.matches) - 1) < 0.05
    exact, sampled = (bayescm.summary(one, metrics) for one in (every, few))
    np.testing.assert_allclose(sampled.interval, exact.interval, atol=0.01)
    np.testing.assert_allclose(sampled["mean"], exact["mean"], atol=0.005)


def test_another_prior_weighs_anew():
    paper = bayescm.from_reported(precision=0.8, recall=0.7, n_items=60)
    for prior in ("jeffreys", "laplace"):
        block = read(paper, prior=prior).whole()[0]
        each = np.array([block.each.counts.reshape(-1, 4)[i] for i in range(len(block.weight))])
        base = concentrations(prior, "dirichlet_multinomial", 2).rows.ravel()
        log = (special.gammaln(each + base) - special.gammaln(each + 1)).sum(-1)
        np.testing.assert_allclose(block.weight, special.softmax(log), rtol=1e-10)


@pytest.mark.parametrize(
    ("printed", "n", "verdict"),
    [
        ({"recall": "0.66"}, 3, "impossible"),
        ({"recall": "0.67"}, 3, "unique"),
        ({"recall": "66%", "rounding": "truncated"}, 3, "unique"),
        ({"recall": "66%", "rounding": "any"}, 3, "unique"),
        ({"recall": "0.67", "rounding": "truncated"}, 3, "impossible"),
        ({"accuracy": "50%", "precision": "50%"}, 4, "ambiguous"),
        ({"accuracy": "12%", "specificity": 1, "positives": 7}, 8, "unique"),  # 1/8: a tie goes either way
        ({"accuracy": "13%", "specificity": 1, "positives": 7}, 8, "unique"),
        ({"accuracy": 1.0, "recall": 1, "positives": 4}, 10, "unique"),
    ],
)
def test_rounding(printed, n, verdict):
    assert bayescm.from_reported(n_items=n, **printed).attrs["verdict"] == verdict


def test_sizes_from_one_to_a_trillion():
    assert bayescm.from_reported(f1=1, n_items=1).attrs["verdict"] == "unique"
    huge = bayescm.from_reported(accuracy=0.91, recall=0.5, mcc=0.3, n_items=10**12)
    assert huge.attrs["counted"] == "sample"
    held = bayescm.summary(huge, ["accuracy", "recall"]).interval.values
    assert ((held > [[0.904], [0.494]]) & (held < [[0.916], [0.506]])).all()
    million = bayescm.from_reported({"positive_likelihood_ratio": "5.2"}, recall=0.8, n_items=10_000, positives=1000)
    assert million.attrs["verdict"] == "ambiguous"


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"n_items": 10}, ValueError, "give what is printed"),
        ({"n_items": 10, "recall": 81}, ValueError, "As a share it is 0.81"),
        ({"n_items": 10, "recall": "eighty"}, ValueError, "text such as"),
        ({"n_items": 10, "recall": float("nan")}, ValueError, "must be a number"),
        ({"n_items": 0, "recall": 0.5}, ValueError, "positive integer"),
        ({"n_items": 1.5, "recall": 0.5}, TypeError, "positive integer"),
        ({"n_items": 10, "recall": 0.5, "positives": 11}, ValueError, "from 0 to `n_items`"),
        ({"n_items": 10, "recall": 0.5, "labels": "a"}, ValueError, "must be two"),
        ({"n_items": 10, "recall": 0.5, "rounding": "up"}, ValueError, "rounding"),
        ({"n_items": 10, "recall": 0.5, "tpr": 0.5}, ValueError, "metrics"),
        ({"n": 10, "n_items": 10, "recall": 0.5}, TypeError, "say `n_items`"),
        ({"n_items": 10, "lr+": float("inf")}, ValueError, "finite"),
    ],
)
def test_what_is_refused(how, error, words):
    with pytest.raises(error, match=words):
        bayescm.from_reported(how, n_items=how.pop("n_items")) if "lr+" in how else bayescm.from_reported(**how)


def test_toetschs_table_from_its_printed_metrics():
    """Behind accuracy, recall and specificity of two decimals is each published matrix, of the few that fit."""
    matches = []
    for cells in bayescm.datasets.toetsch2021().transpose("system", ...).values.reshape(-1, 4):
        tn, fp, fn, tp = cells.tolist()
        n = tn + fp + fn + tp
        printed = {"accuracy": (tp + tn) / n, "recall": tp / (tp + fn), "specificity": tn / (tn + fp)}
        paper = bayescm.from_reported(n_items=n, **{name: f"{value:.2f}" for name, value in printed.items()})
        assert cells.tolist() in paper.counts.values.reshape(-1, 4).tolist()
        matches.append(int(paper.matches))
    assert len(matches) == 24
    assert np.sum(np.array(matches) == 1) >= 12


def test_mixture_of_betas():
    a, b, weight = np.array([3.0, 10.0, 3.0]), np.array([5.0, 2.0, 5.0]), np.array([0.2, 0.5, 0.3])
    mixed = Mixed.of(Beta(a, b), weight)
    assert len(mixed.weight) == 2
    p = np.array([[0.025, 0.5], [0.9, 1e-9]])
    np.testing.assert_allclose(mixed.cdf(mixed.ppf(p)), p, rtol=1e-9)
    np.testing.assert_allclose(mixed.sf(mixed.isf(p)), p, rtol=1e-9)
    x = np.random.default_rng(0).beta(*(one[np.random.default_rng(1).choice(3, 400_000, p=weight)] for one in (a, b)))
    assert abs(mixed.mean() - x.mean()) < 0.002
    assert abs(mixed.sd() - x.std()) < 0.002
    assert abs(mixed.cdf(0.5) - (x < 0.5).mean()) < 0.004


def means_of_folds(total, folds):
    """Return of every number of hits in a total, dealt out evenly over folds, the means its folds can have."""
    sizes = [total // folds + (i < total % folds) for i in range(folds)]
    means = {}
    for hits in itertools.product(*(range(size + 1) for size in sizes)):
        means.setdefault(sum(hits), set()).add(sum(map(Fraction, hits, sizes)) / folds)
    return means


@pytest.mark.parametrize(("n", "positives", "folds"), [(9, 4, 2), (11, 5, 3), (13, 6, 4), (12, 6, 3)])
def test_means_of_folds_are_all_that_folds_can_have(n, positives, folds):
    of_cases, of_controls, of_all = (means_of_folds(total, folds) for total in (positives, n - positives, n))

    def hold(means, percents):
        return [hits for hits, some in means.items() if any(abs(200 * one - 2 * percents) <= 1 for one in some)]

    numbers = set()
    for percents in range(101):
        paper = found(["recall", "specificity"], [percents, 100 - percents], n, folds, positives)
        expected = set(itertools.product(hold(of_controls, 100 - percents), hold(of_cases, percents)))
        assert {(tn, tp) for tn, _, _, tp in paper.cells.tolist()} == expected
        right = found(["accuracy"], [percents], n, folds).cells
        cells = every_matrix(n)
        assert len(right) == np.isin(cells[:, 0] + cells[:, 3], hold(of_all, percents)).sum()
        assert {*(right[:, 0] + right[:, 3]).tolist()} == {*hold(of_all, percents)}
        numbers |= {len(expected), len(right)}
    assert min(numbers) == 0
    assert max(numbers) > 1


def test_even_folds_have_the_accuracy_of_all_items_and_uneven_ones_others():
    alone, five = (bayescm.from_reported(accuracy="0.9120", n_items=500, folds=folds) for folds in (1, 5))
    assert float(alone["matches"]) == float(five["matches"])
    means = {"accuracy": "0.90278", "n_items": 11, "folds": 3}  # 4/4, 4/4 and 2/3 are .8889; 3/4, 4/4 and 3/3 .9167
    assert bayescm.from_reported(**means).attrs["verdict"] == "impossible"
    uneven = bayescm.from_reported(**means | {"accuracy": "0.9167"})
    assert {int(cells.trace()) for cells in uneven["counts"].values} == {10}  # 10 / 11 is .9091
    assert bayescm.from_reported(accuracy="0.9167", n_items=11).attrs["verdict"] == "impossible"
    assert "means over 3 folds" in uneven.attrs["assumptions"]


def test_what_folds_refuse():
    for metric in ("precision", "f1", "balanced_accuracy", "npv", "lr+"):
        with pytest.raises(ValueError, match=f"a mean of folds' {re.escape(metric)} leaves the matrix open"):
            bayescm.from_reported({metric: 0.9}, n_items=100, folds=5)
    for wrong, text in ((101, "must not exceed `n_items`, 100"), (0, "positive integer"), (2.5, "positive integer")):
        with pytest.raises((ValueError, TypeError), match=text):
            bayescm.from_reported(accuracy=0.9, n_items=100, folds=wrong)


def test_a_metric_that_the_others_leave_no_value_has_no_nearest():
    paper = bayescm.from_reported(prevalence="0.0000", recall="0.5", n_items=100)
    assert paper.attrs["verdict"] == "impossible"
    assert np.isnan(paper["nearest"].sel(metric="recall"))
    assert "nan" not in paper.bayescm.sentence


@pytest.mark.parametrize("positives", [None, 9])
def test_sizes_of_the_test_set_together_are_those_one_by_one(positives):
    rng, metrics, found = np.random.default_rng(1), resolve(["accuracy", "recall"], 2), []
    for _ in range(40):
        stated = rng.uniform(0.2, 1.0, 2)
        bounds = possible.Bounds(metrics, stated - 0.004, stated + 0.004)
        found.append(possible.exists(bounds, 20, 34, positives))
        assert found[-1] == any(possible.exists(bounds, n, n, positives) for n in range(20, 35))
    assert 0 < sum(found) < 40
