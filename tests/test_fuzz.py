"""A short run of the fuzz: every public function, seeded calls. ``python tests/fuzz.py --seconds 600`` goes on."""

import re
from pathlib import Path

import pytest
from fuzz import defects, no_sampler
from fuzz_calls import FUNCTIONS, NOT_CALLED

import bayescm

ROOT = Path(bayescm.__file__).parents[1]
SEED, CALLS = 15, 6


def public():
    """Return every public callable, and what the reference lists beside them."""
    names = {name for name in dir(bayescm) if not name.startswith("_") and callable(getattr(bayescm, name))}
    listed = re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "reference" / "index.md").read_text(), re.MULTILINE)
    return names | set(listed)


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
