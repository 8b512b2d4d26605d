"""Items of which none was checked, with error rates from elsewhere: audited(..., of="others")."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.distributions.misclassified import draw

KNOWN = np.array([[80, 15, 5], [6, 50, 4], [2, 8, 30]])


def summary(known, totals, metrics="prevalence", **how):
    return bayescm.summary(bayescm.audited(known, totals, of="others"), metrics, random_seed=1, **how)


@pytest.mark.parametrize("totals", [[1880, 120], [60, 40], [300, 700]])
def test_two_classes_are_a_quadrature(totals):
    """The posterior of the share on a grid, rates summed out, those better than chance."""
    known = np.array([[91, 9], [5, 45]])
    p = (np.arange(400) + 0.5) ** 2 / 400**2  # dense where shares may be small
    width = np.gradient(p)[:, None, None]
    sensitivity, specificity = np.linspace(0.6, 1, 101)[None, :-1, None], np.linspace(0.7, 1, 101)[None, None, :-1]
    called = p[:, None, None] * sensitivity + (1 - p[:, None, None]) * (1 - specificity)
    log = stats.beta.logpdf(sensitivity, 45.5, 5.5) + stats.beta.logpdf(specificity, 91.5, 9.5)
    log = log + totals[1] * np.log(called) + totals[0] * np.log1p(-called)
    mass = (np.exp(log - log.max()) * width).sum((1, 2))
    mass /= mass.sum()
    found = summary(known, totals).isel(metric=0)
    mean = mass @ p
    assert float(found["mean"]) == pytest.approx(mean, abs=5 * float(found["mcse_mean"]) + 2e-3 * mean)
    ends = np.interp([0.025, 0.975], np.cumsum(mass), p)
    np.testing.assert_allclose(found["interval"], ends, atol=6e-3)


def test_three_classes_are_gibbs_sampling():
    """A chain that fills in the truth of every item, whose conditionals are Dirichlet and multinomial."""
    rng, totals = np.random.default_rng(3), np.array([30, 50, 20])
    shares, rates, kept = np.full(3, 1 / 3), KNOWN / KNOWN.sum(1, keepdims=True), []
    for step in range(6000):
        truth = shares[:, None] * rates
        cells = np.stack([rng.multinomial(n, one / one.sum()) for n, one in zip(totals, truth.T, strict=True)], 1)
        shares = rng.dirichlet(1 + cells.sum(1))
        rates = np.stack([rng.dirichlet(1 / 3 + known + row) for known, row in zip(KNOWN, cells, strict=True)])
        if step >= 500:
            kept.append(shares)
    drawn = draw(KNOWN, totals.astype(float), np.random.default_rng(1), 20_000).sum(-1)
    np.testing.assert_allclose(drawn.mean(0), np.mean(kept, 0), atol=0.012)
    np.testing.assert_allclose(drawn.std(0), np.std(kept, 0), atol=0.01)


def test_point_is_the_adjusted_count():
    totals = [300, 500, 200]
    found = summary(KNOWN, totals)["point"].values
    rates = KNOWN / KNOWN.sum(1, keepdims=True)
    np.testing.assert_allclose(rates.T @ found, np.array(totals) / 1000)
    two = summary([[91, 9], [5, 45]], [80, 20])["point"].item()
    assert two == pytest.approx(bayescm.inference.rogan_gladen(0.2, 45 / 50, 91 / 100))
    assert np.isnan(summary([[91, 9], [5, 45]], [1880, 120])["point"].item())  # a share below 0


def test_every_question_follows():
    audit = bayescm.audited(KNOWN, [300, 500, 200], of="others")
    found = bayescm.summary(audit, "accuracy", random_seed=1)
    chance = bayescm.probability(audit, "accuracy > .8", random_seed=1)["probability"].item()
    assert 0.3 < chance < 0.5
    assert "none was checked" in found.attrs["assumptions"].replace("of which ", "")
    same = bayescm.summary(audit, "accuracy", prevalence=[0.5, 0.3, 0.2], random_seed=1)
    assert float(same["sd"].item()) < float(found["sd"].item())  # known shares
    both = bayescm.compare_systems({"A": audit, "B": audit}, "accuracy", design="independent", random_seed=1)
    assert both["summary"]["verdict"].item() == "undecided"


@pytest.mark.slow
def test_what_has_no_answer_is_refused():
    with pytest.raises(ValueError, match="at odds"):
        summary([[900, 100], [50, 450]], [10_000_000, 10])
    with pytest.raises(ValueError, match="of other items"):
        bayescm.posterior(bayescm.audited(KNOWN, [3, 5, 2], of="others"))
    with pytest.raises(ValueError, match="prior"):
        summary(KNOWN, [3, 5, 2], prior="laplace")
    with pytest.raises(ValueError, match="no strata"):
        bayescm.audited([KNOWN, KNOWN], [[3, 5, 2]] * 2, of="others")
    with pytest.warns(UserWarning, match="class 2 was checked"):
        bayescm.audited([[5, 1, 0], [1, 5, 0], [0, 0, 0]], [3, 5, 2], of="others")
