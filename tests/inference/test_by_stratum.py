"""Bounds that hold at every look of shares whose items are chosen by stratum."""

import numpy as np
import pytest

import bayescm
from bayescm.inference import by_stratum, proportions


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 10), (0, 0), (450, 500), (10**6, 2 * 10**6), (1, 10**9)])
def test_one_stratum_is_a_proportion(k, n):
    np.testing.assert_allclose(by_stratum.anytime([k], [n], [1.0]), proportions.anytime(k, n), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("k", "n"), [((17, 30), (20, 50)), ((0, 50), (20, 50)), ((3, 0), (4, 0))])
def test_bounds_are_the_ends_of_a_grid(k, n):
    grid = np.linspace(0.0005, 0.9995, 2000)
    one, other = (by_stratum.evidence(np.array(a), np.array(b), grid) for a, b in zip(k, n, strict=True))
    inside = one[:, None] + other <= np.log(20)
    mean = (0.3 * grid[:, None] + 0.7 * grid)[inside]
    assert by_stratum.anytime(k, n, [0.3, 0.7]) == pytest.approx((mean.min(), mean.max()), abs=0.002)


def test_they_hold_however_items_are_chosen():
    rng, truth, weight = np.random.default_rng(1), np.array([0.95, 0.6]), np.array([0.8, 0.2])
    missed, runs = 0, 60
    for _ in range(runs):
        k, n, ever = np.zeros(2), np.zeros(2), False
        for look in range(120):
            widest = weight * np.sqrt((k + 0.5) * (n - k + 0.5) / (n + 1.0) ** 3)
            at = int(widest.argmax())  # the stratum that tells least so far
            n[at], k[at] = n[at] + 1, k[at] + (rng.random() < truth[at])
            if look % 10 == 9:
                lower, upper = by_stratum.anytime(k, n, weight)
                ever |= not lower <= weight @ truth <= upper
        missed += ever
    assert missed <= 10  # P(more than 10 of 60 at 5%) = .0002


def test_an_audit_of_known_shares_is_asked_by_interval():
    audit = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900], of="population")
    found = bayescm.interval(audit, ["accuracy", "prevalence", "error_rate"], "anytime")
    wanted = by_stratum.anytime([17, 19], [20, 20], [0.05, 0.95])
    np.testing.assert_allclose(found["interval"].values[0], wanted)
    np.testing.assert_allclose(found["interval"].values[2], 1.0 - np.array(wanted)[::-1], atol=1e-9)
    assert found["point"].values == pytest.approx([0.945, 0.91, 0.055])
    for metric, why in (("recall", "shares of all items"), ("matthews_correlation", "for proportions")):
        with pytest.raises(ValueError, match=why):
            bayescm.interval(audit, metric, "anytime")
    with pytest.raises(ValueError, match="of='process'"):
        bayescm.interval(bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900]), "accuracy", "anytime")
    with pytest.raises(ValueError, match="are audits"):
        bayescm.interval(audit, "accuracy", "wilson")
