"""The optimiser of docs/verification/searching.py: it finds what is planted, and what it reports isn't luck."""

import numpy as np
import pytest
from studies import study

searching = study("searching")
BOX = searching.Box({name: searching.Range(0.0, 1.0) for name in "xyz"})
PLANTED = np.array([0.83, 0.0, 0.37])


def planted(places, runs, seed):
    """Return a coverage of .95 that falls to .4 at one truth, on the edge of the ranges."""
    return 0.95 - 0.55 * float(np.exp(-0.5 * (((places - PLANTED) / 0.15) ** 2).sum())), 0.0


def lucky(places, runs, seed):
    """Return an estimate of .9 whatever the truth: only luck tells truths apart."""
    held = np.random.default_rng([seed, *(1e6 * places).astype(int)]).random(runs) < 0.9
    return float(held.mean()), float(held.std() / runs**0.5)


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_worst_case_is_found(seed):
    found = searching.worst(planted, BOX.draw, BOX.move, searching.Effort(40, 3, 40, 0, 0), seed)
    assert found.coverage < 0.45
    assert found.error == 0.0
    assert np.abs(found.truth - PLANTED).max() < 0.1
    assert found.mean > 0.85  # no start is there


def test_what_is_reported_has_no_selection_in_it():
    effort, repeats = searching.Effort(20, 3, 10, 40, 40), 60
    found = [searching.worst(lucky, BOX.draw, BOX.move, effort, seed) for seed in range(repeats)]
    room = 4.0 * (0.9 * 0.1 / effort.fresh / repeats) ** 0.5
    assert abs(np.mean([one.coverage for one in found]) - 0.9) < room
    assert np.mean([one.chosen for one in found]) < 0.9 - room  # as the least of three is
    assert abs(np.mean([one.mean for one in found]) - 0.9) < room


def test_ranges_reach_both_ends_and_keep_to_them():
    ranges = {
        "rate": searching.Range(0.5, 0.999, "logit"), "items": searching.Range(10, 1000, "whole"),
        "sd": searching.Range(0.01, 1.0, "log"), "kind": searching.Range(values=("a", "b")),
    }  # fmt: skip
    box = searching.Box(ranges)
    assert box.truth(np.zeros(4)) == pytest.approx({"rate": 0.5, "items": 10, "sd": 0.01, "kind": "a"})
    assert box.truth(np.ones(4)) == pytest.approx({"rate": 0.999, "items": 1000, "sd": 1.0, "kind": "b"})
    rng, places = np.random.default_rng(0), np.full(4, 0.5)
    seen = []
    for _ in range(300):
        places = box.move(places, rng)
        seen.append(places)
    cornered = searching.Box(ranges, to_ends=1.0).move(np.full(4, 0.5), rng)
    assert sorted(np.abs(cornered - 0.5)) == [0.0, 0.0, 0.0, 0.5]
    assert np.min(seen) == 0.0
    assert np.max(seen) == 1.0
