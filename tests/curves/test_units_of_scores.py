"""Scores of items that come in units, such as lesions of patients."""

import numpy as np
import pytest

import bayescm

RNG = np.random.default_rng(3)
UNITS = np.repeat(np.arange(25), RNG.integers(1, 7, 25))
TRUTH = (RNG.random(len(UNITS)) < 0.4).astype(int)
SCORE = RNG.standard_normal(25)[UNITS] + 1.5 * TRUTH + RNG.standard_normal(len(UNITS))


def by_hand(n):
    """Return draws of the area and of the prevalence, pair by pair."""
    cases, controls = (np.flatnonzero(one == TRUTH) for one in (1, 0))
    wins = (SCORE[cases][:, None] > SCORE[controls]).astype(float)
    weights = RNG.gamma(25 / 27, size=(n, 25))[:, UNITS]
    found = np.empty((n, 2))
    for d, w in enumerate(weights):
        p, q = w[cases], w[controls]
        extra = [RNG.gamma(1 / 3) * len(one) / len(np.unique(UNITS[one])) for one in (cases, controls)]
        like_control = RNG.choice(len(q), p=q / q.sum())
        like_case = RNG.choice(len(p), p=p / p.sum())
        all_cases = np.append(SCORE[cases], SCORE[controls][like_control])
        all_controls = np.append(SCORE[controls], SCORE[cases][like_case])
        above = (all_cases[:, None] > all_controls) + 0.5 * (all_cases[:, None] == all_controls)
        p, q = np.append(p, extra[0]), np.append(q, extra[1])
        found[d] = p @ above @ q / (p.sum() * q.sum()), p.sum() / (p.sum() + q.sum())
    assert wins.shape == (len(cases), len(controls))
    return found.T


def test_areas_are_those_of_weighted_units():
    drawn = bayescm.curve_posterior(TRUTH, SCORE, unit=UNITS, over=None, draws=5000, random_seed=1)["posterior"]
    ends = [0.025, 0.5, 0.975]
    for name, other in zip(("auc", "prevalence"), by_hand(8000), strict=True):
        np.testing.assert_allclose(drawn[name].quantile(ends), np.quantile(other, ends), atol=0.012)
    found = bayescm.auc(TRUTH, SCORE, unit=UNITS, draws=20_000, random_seed=2)
    np.testing.assert_allclose(found["interval"], drawn["auc"].quantile([0.025, 0.975]), atol=0.008)
    assert "25 units" in found.bayescm.sentence
    assert found.attrs["assumptions"].startswith("independent units")


def test_units_of_one_item_are_items():
    each = np.arange(len(UNITS))
    for ask in (bayescm.auc, bayescm.aucpr):
        np.testing.assert_array_equal(
            ask(TRUTH, SCORE, unit=each, random_seed=1)["interval"], ask(TRUTH, SCORE, random_seed=1)["interval"]
        )


def test_systems_share_the_units():
    scores = {"a": SCORE, "same": SCORE * 2, "b": SCORE + RNG.standard_normal(len(SCORE))}
    tree = bayescm.curve_posterior(TRUTH, scores, unit=UNITS, over=None, random_seed=1)["posterior"]
    np.testing.assert_array_equal(tree["auc"].sel(system="a"), tree["auc"].sel(system="same"))
    alone = bayescm.curve_posterior(TRUTH, SCORE, unit=UNITS, over=None, random_seed=1)["posterior"]
    np.testing.assert_allclose(tree["auc"].sel(system="a").mean(), alone["auc"].mean(), atol=0.005)
    pair = {name: scores[name] for name in ("a", "b")}
    items, units = (bayescm.curves.auc_difference(TRUTH, pair, random_seed=1, **how) for how in ({}, {"unit": UNITS}))
    assert units["point"] == items["point"]
    assert units.attrs["units"] == 25
    band = bayescm.curve_band(TRUTH, SCORE, unit=UNITS, random_seed=1)
    assert (band["band"].diff("ci_bound") > 0).mean() > 0.9
    apart = bayescm.curve_posterior(TRUTH, SCORE, unit=UNITS, by=UNITS % 2, over=None, random_seed=1)["posterior"]
    assert dict(apart["auc"].sizes) == {"chain": 4, "draw": 1000, "group": 2}


@pytest.mark.parametrize(
    ("ask", "how", "said"),
    [
        (bayescm.auc, {"method": "hanley_mcneil"}, "independent"),
        (bayescm.aucpr, {"method": "smoothed"}, "independent"),
        (bayescm.curve_posterior, {"prior": "smoothed"}, "independent"),
        (bayescm.curve_band, {"method": "whole"}, "independent"),
        (bayescm.auc, {"unit": UNITS[:-1]}, "items"),
    ],
)
def test_what_takes_items_for_independent_is_refused(ask, how, said):
    with pytest.raises(ValueError, match=said):
        ask(TRUTH, SCORE, **{"unit": UNITS} | how)
