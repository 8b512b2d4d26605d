"""A short run of the fuzz: every public function, seeded calls. ``python tests/fuzz.py --seconds 600`` goes on."""

import re
from pathlib import Path

import numpy as np
import pytest
from fuzz import defects, no_sampler
from fuzz_calls import FUNCTIONS, NOT_CALLED
from public import PUBLIC

import bayescm
from bayescm.calibration.interval_coverage import confusion_probabilities, coverage
from bayescm.models.rope import rope_probabilities

ROOT = Path(bayescm.__file__).parents[1]
SEED, CALLS = 15, 3


def public():
    """Return every public callable, and what the reference lists beside them."""
    listed = re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "reference" / "index.md").read_text(), re.MULTILINE)
    return PUBLIC.keys() | {name.split(".")[-1] if name.split(".")[-1] in PUBLIC else name for name in listed}


def test_every_public_function_is_called():
    assert public() <= FUNCTIONS.keys() | NOT_CALLED.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_clear_error_or_documented_nan(name):
    with no_sampler():
        found = [(number, what, str(call)) for number in range(CALLS) for what, call in defects(name, SEED, number)]
    assert not found


def test_the_judge_sees_what_is_wrong(monkeypatch):
    def broken(counts):
        summary = bayescm.metrics  # a module has no such variable
        return summary.interval[counts]

    def reversed_bounds(counts):
        found = bayescm.interval(counts, "recall")
        return found.assign(interval=-found["interval"])

    import fuzz

    for wrong, said in ((broken, "AttributeError"), (reversed_bounds, "lower above upper")):
        monkeypatch.setattr(fuzz, "function", lambda _, wrong=wrong: wrong)
        told = list(fuzz.judge(fuzz.Call("interval", {"counts": [[6, 2], [1, 26]]})))
        assert any(said in one for one in told), told


TWICE = bayescm.from_cells(tp=[1, 2], fn=1, fp=1, tn=1, dims="x")
FOUND = {
    "labels": [
        lambda: bayescm.from_cells(tp=1, fn=1, fp=1, tn=1, labels=5),
        lambda: bayescm.from_array([[1, 2], [3, 4]], labels=5),
        lambda: bayescm.curves.counts_at_thresholds([0, 1], [0.1, 0.2], labels=5),
        lambda: bayescm.inference.prior_predictive(n_items=5, labels=0),
    ],
    "dims": [lambda: bayescm.from_table({"actual": [0, 1], "predicted": [0, 1]}, n=None, dims=3)],
    "claims": [lambda: bayescm.probability([[6, 2], [1, 26]], 3)],
    "array": [lambda: bayescm.summary([[1, 2], [3]]), lambda: bayescm.planning.decision_curve([[1, 2], [3]])],
    "model": [
        lambda: bayescm.summary([[6, 2], [1, 26]], model=np.array(["a", "b"])),
        lambda: bayescm.calibration.sbc(3),
    ],
    "beta": [lambda: bayescm.metrics.fbeta("x"), lambda: bayescm.metrics.fbeta(1e300)],
    "tn": [lambda: bayescm.metrics.expected_cost(tp="x")],
    "threshold": [lambda: bayescm.metrics.net_benefit("x")],
    "n_labels": [lambda: bayescm.metrics.available("x")],
    "k": [lambda: confusion_probabilities(1, accuracy=0.8), lambda: confusion_probabilities(1.5, accuracy=0.8)],
    "accuracy": [lambda: confusion_probabilities(2, accuracy=2)],
    "repeats": [lambda: coverage([[0.4, 0.1], [0.1, 0.4]], 20, repeats=0)],
    "theta": [lambda: coverage({}, 20)],
    "draws": [lambda: bayescm.summary([[6, 2], [1, 26]], "f1", draws=10**30)],
    "ci_prob": [lambda: bayescm.summary([[6, 2], [1, 26]], "f1", ci_prob=10**400)],
    "reference": [lambda: bayescm.plots.plot_forest(bayescm.summary([[6, 2], [1, 26]], "f1"), reference={})],
    "levels": [
        lambda: bayescm.plots.plot_region(bayescm.region([[6, 2], [1, 26]], grid=15), levels=[0.5, 0.5]),
        lambda: bayescm.plots.plot_region(bayescm.region([[6, 2], [1, 26]], grid=15), levels=float),
    ],
    "posterior": [lambda: rope_probabilities(bayescm.metric_distribution(TWICE, "f1"), 0.1)],
}
"""What the fuzz found, by the argument that the error names now."""


@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in FOUND.items() for call in calls])
def test_what_was_found_is_said_in_our_voice(name, call):
    with pytest.raises((ValueError, TypeError), match=f"`{name}`") as caught:
        call()
    assert len(str(caught.value)) < 400


def test_a_tiny_predictive_interval_isnt_reversed():
    found = bayescm.planning.replicate([[0, 7], [0, 4]], ci_prob=1e-12)["interval"]
    assert (found.sel(ci_bound="lower") <= found.sel(ci_bound="upper")).sum() >= 5
    assert not (found.sel(ci_bound="lower") > found.sel(ci_bound="upper")).any()
