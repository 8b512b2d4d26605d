"""Coverage over repeated test sets."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.calibration.interval_coverage import confusion_probabilities, coverage


def test_coverage_against_exact_enumeration():
    theta = confusion_probabilities(2, accuracy=0.8)
    got = coverage(theta, 40, ["accuracy"], ci_kind="eti", repeats=4000, random_seed=1)
    right = np.arange(41)
    low, high = stats.beta.ppf([[0.025], [0.975]], right + 1, 41 - right)
    want = stats.binom.pmf(right, 40, 0.8)[(low <= 0.8) & (high >= 0.8)].sum()
    assert float(got.coverage[0]) == pytest.approx(want, abs=5 * float(got.mcse[0]))


def test_coverage_says_what_it_refused():
    theta = confusion_probabilities(3, accuracy=0.9)
    result = coverage(theta, 20, ["recall"], prior="haldane", repeats=200, random_seed=1)
    assert result.attrs["refused"] > 0.9
    assert result.metric.values.tolist() == ["recall[0]", "recall[1]", "recall[2]"]


def test_truths_are_probabilities():
    theta = confusion_probabilities(5, accuracy=0.7, skew=10)
    assert theta.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.diag(theta) / theta.sum(1), 0.7)
    assert theta.sum(1).max() / theta.sum(1).min() == pytest.approx(10)
    with pytest.raises(ValueError, match="add up to 1"):
        coverage([[1, 1], [1, 1]], 10)


def test_committed_coverage_justifies_the_default():
    """What the docs say of the priors must hold in the committed table."""
    import csv
    from pathlib import Path

    file = Path(bayescm.__file__).parents[1] / "docs" / "verification" / "coverage.csv"
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    mean = {}
    for row in rows:
        mean.setdefault((row["prior"], row["metric"]), []).append(float(row["coverage"]))
    distance = {key: abs(np.nanmean(values) - 0.95) for key, values in mean.items() if key[0] != "haldane"}
    for metric, best in (
        ("recall", "jeffreys"),
        ("precision", "jeffreys"),
        ("accuracy", "perks"),
        ("f1_macro", "perks"),
    ):
        priors = {prior: d for (prior, m), d in distance.items() if m == metric}
        assert min(priors, key=priors.get) == best
    assert all(distance["jeffreys", metric] < 0.02 for metric in ("recall", "precision"))
