"""Reliability: against scikit-learn, exact sums, and coverage under known chances."""

import csv
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

import bayescm
from bayescm.calibration import coverage_of
from bayescm.curves import calibration_curve as ours
from bayescm.curves import calibration_units


def sample(seed, n=300):
    rng = np.random.default_rng(seed)
    chance = rng.beta(1, 3, n)
    return (rng.uniform(size=n) < chance).astype(int), chance


def test_points_and_losses_are_those_of_scikit_learn():
    y, score = sample(1)
    found = bayescm.curves.reliability(y, score, bins=np.linspace(0, 1, 6))
    shares, means = calibration_curve(y, score, n_bins=5)
    some = found["items"] > 0
    np.testing.assert_allclose(found["point"][some], shares)
    np.testing.assert_allclose(found["mean_score"][some], means)
    assert found["items"].sum() == 300
    assert found["mean_loss"].sel(loss="brier").item() == pytest.approx(brier_score_loss(y, score))
    assert found["mean_loss"].sel(loss="log_loss").item() == pytest.approx(log_loss(y, score))
    assert found["loss_se"].sel(loss="brier").item() == pytest.approx(stats.sem((score - y) ** 2))


@pytest.mark.parametrize(("seed", "n"), [(1, 300), (2, 20), (3, 5)])
def test_intervals_of_losses_are_those_of_the_bootstrap_with_a_right_and_a_wrong_half(seed, n):
    y, score = sample(seed, n)
    found = bayescm.curves.reliability(y, score, labels=[0, 1])["loss_interval"]
    drawn = np.random.default_rng(seed).standard_gamma(np.append(np.ones(n), [0.5, 0.5]), (100_000, n + 2))
    two = {"brier": np.stack([(1 - score) ** 2, score**2]), "log_loss": -np.log([score, 1 - score])}
    for loss, (positive, negative) in two.items():
        each = np.where(y == 1, positive, negative)
        prior = [np.minimum(positive, negative).mean(), np.maximum(positive, negative).mean()]
        means = drawn @ np.append(each, prior) / drawn.sum(1)
        wanted = np.quantile(means, [0.025, 0.975])
        np.testing.assert_allclose(found.sel(loss=loss), wanted, atol=0.03 * np.ptp(wanted))


@pytest.mark.slow
def test_losses_where_none_was_wrong_yet_or_one_in_a_hundred_is_confidently():
    held = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        said, wrong = rng.uniform(size=200) < 0.5, rng.uniform(size=200) < 0.01
        low, high = bayescm.curves.reliability(said ^ wrong, np.where(said, 0.999, 0.001), bins=1, labels=[0, 1])[
            "loss_interval"
        ].values.T
        truth = 0.01 * np.array([0.999**2, -np.log(0.001)]) + 0.99 * np.array([1e-6, -np.log(0.999)])
        held.append((low <= truth) & (truth <= high))
    assert (np.mean(held, 0) > 0.95 - 4.5 * 0.0126).all()  # Student's t: .857
    sure = bayescm.curves.reliability([0, 1, 1], [0.0, 1.0, 0.9])["loss_interval"].sel(loss="log_loss").values
    assert 0 <= sure[0] < 0.1
    assert sure[1] == np.inf  # a score of 1 that is wrong loses more than any number
    assert "no score far from those seen" in bayescm.curves.reliability([0, 1], [0.2, 0.9]).attrs["assumptions"]


def test_bins_hold_equally_many_items_and_their_intervals_are_exact():
    y, score = sample(2)
    found = bayescm.curves.reliability(y, score, bins=6, ci_prob=0.9)
    assert found["items"].values.tolist() == [50] * 6
    level = 0.9 ** (1 / 6)
    for i in range(6):
        one = found.isel(bin=i)
        inside = (score >= one["bin_lower"].item()) & (score < one["bin_upper"].item())
        wanted = stats.binomtest(int(y[inside].sum()), 50).proportion_ci(level)
        np.testing.assert_allclose(one["interval"], wanted)
    one = bayescm.curves.reliability(y, score, bins=1)
    np.testing.assert_allclose(one["interval"][0], stats.binomtest(int(y.sum()), 300).proportion_ci(0.95))


@pytest.mark.parametrize(("method", "least"), [("clopper_pearson", 0.95), ("wilson", 0.93), ("jeffreys", 0.93)])
@pytest.mark.slow
def test_the_band_holds_the_chances_of_all_bins(method, least):
    chance = np.random.default_rng(3).beta(0.6, 2, 200)
    edges = np.array([0, 0.05, 0.15, 0.3, 0.5, 1])
    place = np.searchsorted(edges, chance, side="right") - 1
    truth = [np.array([chance[place == i].mean() for i in range(5)])]

    def bounds(y):
        found = bayescm.curves.reliability(y, chance, bins=edges, method=method, labels=[0, 1])["interval"].values
        return found[:, 0], found[:, 1]

    found = coverage_of(
        bounds, truth, simulate=lambda rng, p: (rng.uniform(size=200) < chance).astype(int), simultaneous=True,
        simulations=400, random_seed=1,
    )  # fmt: skip
    assert found["coverage"].item() > least - 4 * (least * (1 - least) / 400) ** 0.5


@pytest.mark.slow
def test_intervals_of_losses_hold_their_means():
    rng, held = np.random.default_rng(4), []
    brier, log = 1 / 6, 0.5  # of a uniform chance: E p (1 - p); E of the entropy
    for _ in range(400):
        chance = rng.uniform(size=100)
        found = bayescm.curves.reliability(rng.uniform(size=100) < chance, chance, bins=2)["loss_interval"].values
        held.append((found[:, 0] < [brier, log]) & ([brier, log] < found[:, 1]))
    assert (np.mean(held, 0) > 0.95 - 5 * 0.011).all()


def test_scores_of_one_are_told_from_those_below():
    y = np.repeat([0, 1], [40, 20])
    perfect = bayescm.curves.reliability(y, y.astype(float))
    assert perfect["point"].values.tolist() == perfect["mean_score"].values.tolist() == [0.0, 1.0]
    assert perfect["items"].values.tolist() == [40, 20]
    assert perfect.attrs["off"] == 0
    three = bayescm.curves.reliability([0, 1, 1, 1, 0, 1], [0.2, 0.9, 1.0, 1.0, 0.2, 1.0], bins=3)
    assert three["items"].values.tolist() == [2, 1, 3]
    np.testing.assert_allclose(three["bin_upper"], [0.9, 0.95, 1.0])


def test_histogram_counts_every_score():
    y, score = sample(5)
    found = bayescm.curves.reliability(y, score)["histogram"]
    np.testing.assert_array_equal(found, np.bincount((score * 20).astype(int), minlength=20))
    np.testing.assert_allclose(found["score"], np.arange(0.025, 1, 0.05))
    assert bayescm.curves.reliability([0, 1], [0.0, 1.0])["histogram"].values.sum() == 2


def test_edges():
    y = np.array([0, 1, 1, 0])
    tied = bayescm.curves.reliability(y, [0.5] * 4)
    assert tied.sizes["bin"] == 1
    assert tied.attrs["off"] == 0
    sure = bayescm.curves.reliability(y, [0.0, 1.0, 0.0, 0.0])
    assert np.isinf(sure["mean_loss"].sel(loss="log_loss"))
    assert np.isnan(sure["loss_interval"].sel(loss="log_loss")).all()
    empty = bayescm.curves.reliability(y, [0.1, 0.9, 0.9, 0.1], bins=[0, 0.2, 0.8, 1])
    assert empty["items"].values.tolist() == [2, 0, 2]
    np.testing.assert_array_equal(empty["interval"][1], [0, 1])
    assert np.isnan(empty["point"][1])
    assert empty.attrs["off"] == 0
    off = bayescm.curves.reliability(np.r_[np.zeros(50), np.ones(50)], np.r_[np.full(50, 0.6), np.full(50, 0.7)])
    assert off.attrs["off"] == 2
    assert "in 2 of the 2 bins" in off.bayescm.sentence
    words = bayescm.curves.reliability(["no", "yes", "yes", "no"], [0.1, 0.9, 0.8, 0.3], bins=2)
    assert words["mean_loss"].sel(loss="brier").item() == pytest.approx(0.15 / 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_score": [0.1, 1.2, 0.3]}, "must be probabilities"), ({"y_score": [-0.1, 0.2, 0.3]}, "probabilities"),
        ({"y_score": [np.nan, 0.2, 0.3]}, "missing value"), ({"y_true": [0, 1, 2]}, "two classes"),
        ({"bins": 0}, "`bins`"), ({"bins": [0, 0.5]}, "from 0 to 1"), ({"bins": [0, 0.5, 0.5, 1]}, "from 0 to 1"),
        ({"method": "wald"}, "`method`"), ({"ci_prob": 1}, "`ci_prob`"),
        ({"y_score": {"a": [0.1, 0.2, 0.3]}}, "one system"),
    ],
)  # fmt: skip
def test_wrong_input_is_explained(change, message):
    given = {"y_true": [0, 1, 1], "y_score": [0.1, 0.2, 0.3]} | change
    with pytest.raises(ValueError, match=message):
        bayescm.curves.reliability(given.pop("y_true"), given.pop("y_score"), **given)


STUDY = Path(bayescm.__file__).parents[1] / "docs" / "verification" / "reliability.csv"


def test_the_study_says_the_same_by_enumeration_and_by_simulation():
    with STUDY.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["method"] == "clopper_pearson"]
    exact, drawn = (
        {(r["truth"], r["items"], r["bins"]): r for r in rows if r["by"] == by} for by in ("exact", "simulation")
    )
    assert len(exact) == len(drawn) == 5 * 4 * 2
    for key, one in exact.items():
        assert float(one["least"]) >= 0.95 - 1e-4, key
        for name in ("coverage", "some_bin_off"):
            share = float(one[name])
            error = max((share * (1 - share) / 1000) ** 0.5, 0.001) + 0.01 * (name == "some_bin_off")
            assert abs(float(drawn[key][name]) - share) < 5 * error, (key, name)


def test_the_page_says_what_the_study_found():
    text = " ".join(STUDY.with_suffix(".md").read_text(encoding="utf-8").split())
    with STUDY.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["by"] == "exact"]
    for method, digits, pattern in (
        ("clopper_pearson", 3, r"says\*\*: (\S+) to (\S+), in no set of scores below (\.\d+)\."),
        ("jeffreys", 3, r"holds (\.\d+) to (\S+)\*\*, in the worst set (\.\d+),"),
        ("wilson", 2, r"for this\*\*: (\S+) to (\S+), in the worst set (\.\d+)\."),
    ):
        held, least = (
            np.array([float(row[name]) for row in rows if row["method"] == method]) for name in ("coverage", "least")
        )
        said = [float(text) for text in re.search(pattern, text).groups()]
        np.testing.assert_allclose(said, [held.min(), held.max(), least.min()], atol=0.5001 * 10**-digits)


def test_what_the_study_enumerates_is_what_is_drawn_of_few_items():
    chance = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.9])
    held = 0.0
    for y in itertools.product((0, 1), repeat=6):
        found = bayescm.curves.reliability(np.array(y), chance, bins=2, labels=[0, 1], method="wilson", ci_prob=0.5)
        low, high = found["interval"].values.T
        mean = chance.reshape(2, 3).mean(1)
        held += np.prod(np.where(y, chance, 1 - chance)) * ((low <= mean) & (mean <= high)).all()
    each = []
    for part in chance.reshape(2, 3):
        mass = np.ones(1)
        for p in part:
            mass = np.convolve(mass, [1 - p, p])
        limits = [stats.binomtest(k, 3).proportion_ci(0.5**0.5, "wilson") for k in range(4)]
        each.append(sum(m for m, one in zip(mass, limits, strict=True) if one.low <= part.mean() <= one.high))
    assert held == pytest.approx(each[0] * each[1])
    assert 0.1 < held < 0.95


def test_units_of_one_item_are_items():
    rng = np.random.default_rng(3)
    score = rng.beta(1, 2, 120)
    positive = (rng.uniform(size=120) < score).astype(float)
    place = np.searchsorted([0.2, 0.5], score)
    each, prior = ours._each_loss(score, positive)
    found = calibration_units.of_units(np.arange(120), place, positive, each, prior, 4, (0.9, 0.95), 1)
    for i in range(3):  # Jeffreys' posterior
        hits, n = positive[place == i].sum(), (place == i).sum()
        share = stats.beta.cdf(found.band[i], hits + 0.5, n - hits + 0.5)
        np.testing.assert_allclose(share, [0.05, 0.95], atol=0.006)  # 40,000 draws: .0011
    assert np.isnan(found.band[3]).all()  # an empty bin
    error, limits = ours._losses(each, prior, 0.95)
    np.testing.assert_allclose(found.error, error, rtol=1e-12)
    np.testing.assert_allclose(found.limits, limits, atol=0.03 * np.ptp(limits, axis=1).max())


def test_units_that_are_alike_count_once():
    rng = np.random.default_rng(4)
    score, unit = rng.beta(1, 2, 30), np.repeat(np.arange(30), 6)
    positive = rng.uniform(size=30) < score
    one, many = (
        bayescm.curves.reliability(np.repeat(positive, k), np.repeat(score, k), bins=[0, 0.3, 1], unit=u, random_seed=1)
        for k, u in ((6, unit), (6, None))
    )
    alone = bayescm.curves.reliability(positive, score, bins=[0, 0.3, 1], method="jeffreys")
    width = [np.ptp(found["interval"].values, axis=1) for found in (one, many, alone)]
    np.testing.assert_allclose(width[0], width[2], atol=0.02)  # six copies of an item say what the item says
    assert (width[1] < 0.6 * width[0]).all()
    assert "Over all items of 30 units, of 6 items each" in one.bayescm.sentence
    sure = bayescm.curves.reliability([0, 1, 0, 1], [0, 1, 0.5, 0.5], bins=2, unit=[1, 1, 2, 2], random_seed=1)
    assert np.isinf(sure["loss_interval"].sel(loss="log_loss")[1])
    wrong = bayescm.curves.reliability([1, 1, 0, 1], [0, 1, 0.5, 0.5], bins=2, unit=[1, 1, 2, 2], random_seed=1)
    assert np.isnan(wrong["loss_interval"].sel(loss="log_loss")).all()
    assert np.isfinite(wrong["loss_interval"].sel(loss="brier")).all()
