"""Areas of more than two classes, against scikit-learn, pairs of items, and simulation."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import bayescm
from bayescm.curves import multiclass
from bayescm.curves.multiclass import check_several


def items(seed, n=60, k=3, decimals=None, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate(
        [np.arange(k), np.arange(k), rng.choice(k, n - 2 * k, p=np.arange(k, 0, -1) / (k * (k + 1) / 2))]
    )
    score = np.exp(rng.normal(size=(n, k)) + shift * np.eye(k)[y])
    score = score / score.sum(1, keepdims=True)
    return y, score if decimals is None else np.round(score, decimals)


@pytest.mark.parametrize("k", [3, 4, 7])
@pytest.mark.parametrize("decimals", [None, 1])
def test_points_are_those_of_scikit_learn(k, decimals):
    y, score = items(k, 120, k, decimals)
    found = bayescm.auc(y, score)["point"]
    for estimator, word in (("hand_till", "ovo"), ("one_vs_rest", "ovr")):
        theirs = [roc_auc_score(y == c, score[:, c]) for c in range(k)] if word == "ovr" else None
        wanted = np.mean(theirs) if theirs else hand_till(y, score)
        assert found.sel(estimator=estimator).item() == pytest.approx(wanted, abs=1e-12)
        if decimals is None:  # else rows don't sum to 1
            wanted = roc_auc_score(y, score, multi_class=word)
            assert found.sel(estimator=estimator).item() == pytest.approx(wanted, abs=1e-12)


def hand_till(y, score, weight=None):
    """Return M from every pair of items."""
    weight = np.ones(len(y)) if weight is None else weight
    k = score.shape[1]
    areas = []
    for i, j in itertools.permutations(range(k), 2):
        a, b = score[y == i, i], score[y == j, i]
        wins = np.greater.outer(a, b) + np.equal.outer(a, b) / 2
        areas.append(np.average(np.average(wins, axis=1, weights=weight[y == j]), weights=weight[y == i]))
    return np.mean(areas)


def test_the_variance_is_that_of_the_derivatives_in_the_weights():
    y, score = items(1, 40, 3, 1)
    found = bayescm.auc(y, score, method="delong")
    variance = 0.0
    for c in range(3):
        slopes = []
        for place in np.flatnonzero(y == c):
            more = np.ones(len(y))
            more[place] += 1e-6
            slopes.append((hand_till(y, score, more) - hand_till(y, score)) / 1e-6 * (y == c).sum())
        variance += np.var(slopes, ddof=1) / len(slopes)
    assert found["se"].sel(estimator="hand_till").item() == pytest.approx(variance**0.5, rel=1e-4)


@pytest.mark.slow
def test_standard_errors_and_resamples_are_those_of_repeated_samples():
    sd = np.random.default_rng(0)
    sizes = np.repeat(np.arange(3), [40, 30, 20])
    points, errors, covered = [], [], []
    for _ in range(400):
        score = sd.normal(size=(90, 3)) + np.eye(3)[sizes]
        found = bayescm.auc(sizes, score, method="logit_delong")
        points.append(found["point"].values)
        errors.append(found["se"].values)
        covered.append(found["interval"].values)
    ratio = np.mean(errors, 0) / np.std(points, 0)
    assert (np.abs(ratio - 1) < 0.15).all()
    truth = 0.7602499389065233  # Phi(1 / sqrt 2)
    inside = np.mean([(b[:, 0] <= truth) & (truth <= b[:, 1]) for b in covered], 0)
    assert ((inside > 0.9) & (inside < 0.99)).all()


def test_resamples_agree_with_delong_and_weigh_ties():
    y, score = items(3, 150, 4, 1)
    found = bayescm.auc(y, score, method=["delong", "bootstrap"], random_seed=1)
    np.testing.assert_allclose(found["se"].sel(ci_method="bootstrap"), found["se"].sel(ci_method="delong"), rtol=0.08)
    several = check_several(y, score, None, None, "larger")
    shares = several._resamples(np.random.default_rng(1), 3)
    counts = np.zeros((3, len(y)))
    for places, own in zip(several.members, shares.own, strict=True):
        counts[:, places] = own * len(places)
        assert counts[:, places].sum(1) == pytest.approx(len(places))
    columns = [multiclass._Column(i, scores, several.members) for i, scores in enumerate(score.T)]
    drawn = sum(several.weights[0, i] @ column.areas(shares) for i, column in enumerate(columns))
    np.testing.assert_allclose(drawn, [hand_till(y, score, row.astype(float)) for row in counts], atol=1e-12)


def test_posterior_areas_are_those_of_all_weights_side_by_side(monkeypatch):
    y, score = items(3, 60, 4, 1)
    several = check_several(y, score, None, None, "larger")
    shares = several._posterior(np.random.default_rng(1), 5)
    weights = np.zeros((4, 5, len(y)))
    for c, places in enumerate(several.members):
        weights[c][:, places] = shares.own[c]
        weights[c, np.arange(5), shares.item[c]] += shares.share[c]
        assert not np.isin(shares.item[c], places).any()
    np.testing.assert_allclose(weights.sum(-1), 1)
    for i in range(4):
        above = (score[:, None, i] > score[:, i]) + 0.5 * (score[:, None, i] == score[:, i])
        wanted = np.einsum("dn,nm,jdm->jd", weights[i], above, weights)
        wanted[i] = 0.0
        np.testing.assert_allclose(multiclass._Column(i, score[:, i], several.members).areas(shares), wanted)
    whole = several.drawn("bayesian", 130, 2)
    monkeypatch.setattr(multiclass, "_NUMBERS", 7 * len(y))
    np.testing.assert_allclose(several.drawn("bayesian", 130, 2), whole, rtol=1e-12)


def test_layout_systems_labels_and_direction():
    y, score = items(4)
    words = np.array(["ape", "bee", "cat"])[y]
    two = bayescm.auc(words, {"a": score, "b": score[:, ::-1]}, method=["delong", "bootstrap"], random_seed=1)
    assert two["interval"].dims == ("system", "estimator", "ci_method", "ci_bound")
    assert (two.attrs["classes"], two.attrs["items"]) == (3, 60)
    np.testing.assert_allclose(two["point"].sel(system="a"), bayescm.auc(y, score)["point"])
    turned = bayescm.auc(words, score[:, ::-1], labels=["cat", "bee", "ape"])
    np.testing.assert_allclose(turned["point"], two["point"].sel(system="a"))
    np.testing.assert_allclose(bayescm.auc(y, -score, direction="smaller")["point"], turned["point"])
    assert turned.bayescm.sentence.startswith("Hand and Till's M is ")
    assert "of 2 systems" in two.bayescm.sentence
    assert len(two.bayescm.table()) == 8
    again = bayescm.auc(words, {"a": score, "b": score[:, ::-1]}, method="bootstrap", random_seed=1)
    np.testing.assert_array_equal(again["interval"], two["interval"].sel(ci_method="bootstrap"))


def test_what_has_no_interval_says_so():
    y = np.repeat(np.arange(3), 5)
    for method in ("delong", "bootstrap", "logit_delong"):
        with pytest.warns(UserWarning, match="not certainty"):
            perfect = bayescm.auc(y, np.eye(3)[y], method=method, random_seed=1)
        assert np.isnan(perfect["interval"]).all()
        assert (perfect["point"] == 1).all()
        with pytest.warns(UserWarning, match="one item of a class"):
            bayescm.auc([0, 0, 1, 1, 2], items(1, 6)[1][:5], method=method)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": [0, 1] * 30}, "a column for each of 2 classes"),
        ({"labels": [0, 1, 2, 3]}, "a column for each of 4 classes"),
        ({"y_true": [0, 1] * 30, "labels": [0, 1, 2]}, "items of every class"),
        ({"method": "bca"}, "more than two classes"),
        ({"fpr_range": (0, 0.1)}, "`fpr_range` is for two classes"),
        ({"pos_label": 1}, "`pos_label` is for two classes"),
        ({"y_true": [0, 1, 2]}, "a row for each of 3 items"),
        ({"y_score": np.full((60, 3), np.nan)}, "missing value"),
        ({"draws": 10}, "at least 1000"),
    ],
)
def test_wrong_input_is_explained(change, message):
    y, score = items(5)
    given = {"y_true": y, "y_score": score} | change
    with pytest.raises(ValueError, match=message):
        bayescm.auc(given.pop("y_true"), given.pop("y_score"), **given)


def test_a_difference_of_two_systems():
    y, one = items(6, 150)
    scores = {"a": one, "b": one + 0.3 * np.random.default_rng(1).normal(size=one.shape)}
    alone = bayescm.auc(y, scores, method="delong")
    found = bayescm.curves.auc_difference(y, scores, method="delong")
    np.testing.assert_allclose(found["auc"], alone["point"])
    np.testing.assert_allclose(found["point"], alone["point"][0] - alone["point"][1])
    drawn = bayescm.curves.auc_difference(y, scores, method="bootstrap", random_seed=1)
    np.testing.assert_allclose(drawn["se"], found["se"], rtol=0.08)
    np.testing.assert_allclose(drawn["interval"], found["interval"], atol=0.012)
    apart = bayescm.curves.auc_difference(dict.fromkeys(scores, y), scores, method="delong", design="independent")
    np.testing.assert_allclose(apart["se"], (alone["se"] ** 2).sum("system") ** 0.5)
    assert "a and b" in found.bayescm.sentence or "of a is" in found.bayescm.sentence
    assert len(found.bayescm.table()) == 2
    far = bayescm.curves.auc_difference(dict.fromkeys(scores, y), scores, design="independent", method="bootstrap")
    np.testing.assert_allclose(far["se"], apart["se"], rtol=0.1)


def test_a_difference_of_two_classes_by_columns_is_that_of_two_scores():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [30, 30, 1000])
    tables = {}
    for name in "ab":  # class 2 is far below in columns 0 and 1 and far above in its own: only the pair (0, 1) counts
        score = rng.normal(size=(1060, 3))
        score[:30, 0] += 1.0
        score[30:60, 1] = -score[30:60, 0]
        score[:30, 1] = -score[:30, 0]
        score[60:, :2] -= 100.0
        score[:60, 2] -= 100.0
        tables[name] = score
    found = bayescm.curves.auc_difference(y, tables, method="delong").sel(estimator="hand_till")
    two = bayescm.curves.auc_difference(
        y[:60], {name: -score[:60, 0] for name, score in tables.items()}, method="delong"
    )
    assert found["point"].item() == pytest.approx(two["point"].item() / 3)
    assert found["se"].item() == pytest.approx(two["se"].item() / 3)
    assert found["p_value"].item() == pytest.approx(two["p_value"].item())


@pytest.mark.slow
def test_no_difference_is_rejected_as_often_as_stated():
    rng, y, rejected = np.random.default_rng(3), np.repeat([0, 1, 2], 30), 0
    for _ in range(400):
        common = rng.normal(size=(90, 3)) + np.eye(3)[y]
        scores = {name: common + rng.normal(size=(90, 3)) for name in "ab"}
        rejected += bayescm.curves.auc_difference(y, scores, method="delong")["p_value"].values < 0.05
    for count in rejected:
        assert stats.binomtest(int(count), 400, 0.05).pvalue > 1e-5


def test_differences_without_an_answer():
    y, score = items(7)
    for method in ("delong", "bootstrap"):
        with pytest.warns(UserWarning, match="rank all items alike"):
            same = bayescm.curves.auc_difference(y, {"a": score, "b": 2 * score}, method=method)
        np.testing.assert_array_equal(same["interval"], 0.0)
        assert (same["p_value"] == 1).all()
        with pytest.warns(UserWarning, match="one item of a class"):
            few = bayescm.curves.auc_difference([0, 0, 1, 1, 2], {"a": score[:5], "b": score[5:10]}, method=method)
        assert np.isnan(few["p_value"]).all()
    for change in ({"fpr_range": (0, 0.1)}, {"recall_range": (0, 0.5)}):
        with pytest.raises(ValueError, match="classes"):
            bayescm.curves.auc_difference(y, {"a": score, "b": -score}, **change)
    with pytest.raises(ValueError, match="a column for each"):
        bayescm.curves.auc_difference(y, {"a": score, "b": score[:, 0]})
