"""Areas of which only the number is printed: against distributions of scores, and Hanley and McNeil by hand."""

import numpy as np
import pytest
from scipy import special

import bayescm
from bayescm.curves.printed import variance


def of_distributions(cases, controls, n, m):
    """Return the area and its variance of scores of finitely many values with given probabilities."""
    below = np.concatenate([[0], np.cumsum(controls)[:-1]]) + 0.5 * controls
    above = 1 - (np.cumsum(cases) - 0.5 * cases)
    area = cases @ below
    return area, (n - 1) * (controls @ above**2 - area**2) + (m - 1) * (cases @ below**2 - area**2)


def test_variances_lie_between_the_least_and_the_most():
    rng = np.random.default_rng(3)
    n, m = 12, 30
    for _ in range(300):
        cases, controls = rng.dirichlet(np.full(400, rng.choice([0.02, 0.2, 2])), 2)
        area, spread = of_distributions(cases, controls, n, m)
        if not 0.01 < area < 0.99:
            continue
        total = (area * (1 - area) + spread) / (n * m)
        least, most = (variance(np.array([area]), n, m, kind)[0] for kind in ("least", "most"))
        assert least - 1e-3 / (n * m) <= total <= most + 1e-9
        assert least <= variance(np.array([area]), n, m, "hanley_mcneil")[0] <= most


@pytest.mark.parametrize("area", [0.55, 0.8, 0.95])
def test_the_least_is_reached_by_its_curve(area):
    """Scores whose curve is h(u) = clip((c - (m - 1) u) / (n - 1), 0, 1), drawn, have that variance."""
    n, m, steps = 8, 20, 20_001
    u = (np.arange(steps) + 0.5) / steps
    low, high = 0.0, n + m
    for _ in range(60):
        c = 0.5 * (low + high)
        low, high = (low, c) if np.clip((c - (m - 1) * u) / (n - 1), 0, 1).mean() > area else (c, high)
    h = np.clip((c - (m - 1) * u) / (n - 1), 0, 1)
    rng = np.random.default_rng(0)
    control = rng.random((40_000, m))  # u, largest score first
    place = rng.random((40_000, n))  # a case lies above the controls with h(u) > place
    beaten = np.interp(control, u, h)[:, None, :] > place[:, :, None]
    seen = beaten.mean((1, 2))
    assert abs(seen.mean() - area) < 0.003
    assert abs(seen.var() / variance(np.array([area]), n, m, "least")[0] - 1) < 0.04


def test_hanley_and_mcneil_by_hand_and_what_is_refused():
    found = bayescm.curves.auc_from_reported(0.87, cases=40, controls=60, decimals=12)
    a = 0.87
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    error = ((a * (1 - a) + 39 * (q1 - a * a) + 59 * (q2 - a * a)) / 2400) ** 0.5
    assert abs(float(found.se.sel(ci_method="hanley_mcneil")) - error) < 1e-12
    ends = special.expit(special.logit(a) + np.array([-1, 1]) * 1.959963984540054 * error / (a * (1 - a)))
    np.testing.assert_allclose(found.interval.sel(ci_method="hanley_mcneil"), ends, atol=1e-9)
    assert np.isnan(bayescm.curves.auc_from_reported(1, cases=4, controls=6).interval).all()
    one = bayescm.curves.auc_from_reported("50%", cases=1, controls=1)
    assert (one.se == one.se[0]).all()
    for wrong in ({"auc": 1.2}, {"cases": 0}, {"controls": 2.5}, {"auc": "high"}):
        with pytest.raises((TypeError, ValueError)):
            bayescm.curves.auc_from_reported(**({"auc": 0.8, "cases": 10, "controls": 10} | wrong))
