"""Two systems on the same items of which only margins are printed."""

import re

import numpy as np
import pytest
from scipy import special

import bayescm


def test_accuracies_against_the_sum_over_every_overlap():
    n, k = 60, (50, 43)
    found = bayescm.compare_systems(
        {"A": k[0] / n, "B": k[1] / n}, n_items=n, design="paired", random_seed=1, draws=5000, chains=4
    )
    x = np.arange(max(0, sum(k) - n), min(k) + 1)
    table = np.stack([x, k[0] - x, k[1] - x, n - sum(k) + x], -1)
    prior = np.array([0.5, 1, 1, 0.5])
    weight = special.softmax((special.gammaln(table + prior) - special.gammaln(table + 1)).sum(-1))
    better = special.betainc(table[:, 2] + 1, table[:, 1] + 1, 0.5)  # of the discordant more than half are the first's
    expected = weight @ better
    got = float(found["summary"].probability_better.squeeze())
    assert abs(got - expected) < 5 * (expected * (1 - expected) / 20_000) ** 0.5
    printed = [
        float(number)
        for number in re.findall(r"is (\S+) with the fewest such items and (\S+) with", found.attrs["carried_by"])[0]
    ]
    np.testing.assert_allclose(printed, [better[0], better[-1]], atol=0.02)
    assert "tests" not in found.children
    ends = [better[x == x.min()].item(), better[x == x.max()].item()]
    assert ends[0] < got < ends[1]
    alone = bayescm.compare_systems({"A": k[0] / n, "B": k[1] / n}, n_items=n, design="independent", random_seed=1)
    assert ends[0] - 0.02 < float(alone["summary"].probability_better.squeeze()) < ends[1]


def test_known_overlap_lies_between():
    """The interval by margins is at least about as wide as those with a known number of discordant items."""
    a = bayescm.from_reported(recall="0.81", specificity="0.90", n_items=400, positives=100)
    b = bayescm.from_reported(recall="0.77", specificity="0.88", n_items=400, positives=100)
    paired = bayescm.compare_systems({"a": a, "b": b}, ["recall", "accuracy"], design="paired", random_seed=1)
    apart = bayescm.compare_systems({"a": a, "b": b}, ["recall", "accuracy"], random_seed=1)
    width = [np.diff(one["summary"].interval.values)[..., 0] for one in (paired, apart)]
    assert (width[0] < width[1]).all()
    assert (width[0] > 0.4 * width[1]).all()
    np.testing.assert_allclose(paired["summary"]["mean"], apart["summary"]["mean"], atol=0.02)
    board = bayescm.leaderboard({"a": a, "b": b}, metric="recall", design="paired", random_seed=1)
    p = float(paired["summary"].probability_better.sel(metric="recall").squeeze())
    assert abs(float(board.probability_best.sel(system="a")) - p) < 0.02


def test_what_is_refused():
    a = bayescm.from_reported(recall=1, specificity=1, n_items=40, positives=10)
    other_classes = bayescm.from_reported(recall=1, specificity=1, n_items=40, positives=11)
    other_items = bayescm.from_reported(recall=1, specificity=1, n_items=41, positives=10)
    for data, words in (
        ({"a": a, "b": other_classes}, "same class totals"),
        ({"a": a, "b": other_items}, "numbers of items differ"),
        ({"a": a, "b": a, "c": a}, "two systems"),
        ({"a": a, "b": bayescm.from_cells(tp=1, fn=1, fp=1, tn=1)}, "needs to know which of the same items"),
    ):
        with pytest.raises(ValueError, match=words):
            bayescm.compare_systems(data, "recall", design="paired", random_seed=1)
    none = bayescm.from_reported(recall=0.5, precision=0.99, n_items=3)
    with pytest.raises(ValueError, match="no matrix of 3"):
        bayescm.compare_systems({"a": none, "b": none}, "recall")


def test_equal_reports_are_equal():
    a = bayescm.from_reported(recall="0.81", specificity="0.90", n_items=400, positives=100)
    for design in ("paired", "independent"):
        found = bayescm.compare_systems({"a": a, "b": a}, ["recall", "mcc"], design=design, random_seed=1)
        assert (np.abs(found["summary"].probability_better - 0.5) < 0.03).all()
