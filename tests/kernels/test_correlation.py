"""The quick road of the Matthews correlation: against the other, and where it isn't taken."""

import numpy as np
import pytest

import bayescm
from bayescm._kernels import dispatch
from bayescm.distributions import integral

pytestmark = pytest.mark.skipif(not dispatch.ready(), reason="without the library it isn't taken")


def both(cells, monkeypatch, **how):
    """Answers of both roads, for matrices of tp, fn, fp, tn."""
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells.T, strict=True)))
    quick = bayescm.summary(counts, "mcc", **how)
    monkeypatch.setattr(integral, "ready", lambda: False)
    return quick, bayescm.summary(counts, "mcc", **how)


@pytest.mark.parametrize("prob", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("most", [30, 10_000, 900_000])
def test_both_roads_agree(most, prob, monkeypatch):
    rng = np.random.default_rng(most)
    cells = np.exp(rng.uniform(np.log(10), np.log(most), (150, 4))).astype(int)
    quick, slow = both(cells, monkeypatch, ci_prob=prob)
    assert (quick["error"] == integral._QUICK_ERROR).mean() > 0.9
    for name in ("mean", "sd", "median", "interval"):
        away = np.abs(quick[name] - slow[name]) / slow["sd"]
        assert away.max() < 4e-6, name
    assert np.isfinite(quick["interval"]).all()


OTHERS = {"ci_kind": "hdi"}, {"ci_prob": 0.9999}, {"model": "three_binomial"}, {"prevalence": 0.3}


@pytest.mark.parametrize("how", OTHERS)
def test_all_else_goes_the_other_way(how, monkeypatch):
    quick, slow = both(np.array([[45, 12, 18, 142], [3, 50, 60, 70]]), monkeypatch, **how)
    np.testing.assert_array_equal(quick["interval"], slow["interval"])


def test_small_cells_and_other_metrics_beside_are_as_alone(monkeypatch):
    cells = np.array([[45, 12, 18, 142], [3, 50, 60, 70], [0, 9, 5, 8], [2_000_000, 20, 30, 40]])
    quick, slow = both(cells, monkeypatch)
    np.testing.assert_array_equal(quick["interval"][1:], slow["interval"][1:])
    assert (quick["interval"][0] != slow["interval"][0]).any()
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells.T, strict=True)))
    monkeypatch.undo()
    several = bayescm.summary(counts, ["f1", "mcc", "kappa", "p4"])
    np.testing.assert_array_equal(several["interval"].sel(metric="matthews_correlation"), quick["interval"][:, 0])
    alone = bayescm.summary(counts, ["kappa"])
    np.testing.assert_array_equal(several["interval"].sel(metric="cohen_kappa"), alone["interval"][:, 0])


def test_answers_are_those_of_draws():
    cells = np.array([25, 11, 14, 90])
    theta = np.random.default_rng(1).dirichlet(cells + 0.5, 400_000)
    tp, fn, fp, tn = theta.T
    drawn = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    found = bayescm.summary([[90, 14], [11, 25]], "mcc", prior="jeffreys_cell")
    assert found["mean"].item() == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 630)
    np.testing.assert_allclose(found["interval"].values.ravel(), np.quantile(drawn, [0.025, 0.975]), atol=1e-3)
    assert found["sd"].item() == pytest.approx(drawn.std(), rel=0.01)


def test_digits_dont_depend_on_threads(monkeypatch):
    cells = np.random.default_rng(1).integers(10, 200, (300, 4))
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells.T, strict=True)))
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("BAYESCM_THREADS", threads)
        found.append(bayescm.summary(counts, "mcc")["interval"].values)
    np.testing.assert_array_equal(*found)
