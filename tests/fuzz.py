"""Call every public function with random valid, edge and hostile arguments, and judge what comes back.

A call may give a right answer, a clear error, or a NaN that its documentation explains: nothing else. `python
tests/fuzz.py --seconds 600 --seed 1` runs for ten minutes and prints every defect once, with the call that shows it
(`--only summary,auc` names the functions, `--first 7` starts at call 7 of each); :mod:`test_fuzz` makes a short run of
it. NUTS isn't run: models without a closed form are called up to the place where it would start.
"""

import argparse
import contextlib
import inspect
import io
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import xarray as xr
from fuzz_calls import FUNCTIONS, OPTIONS
from fuzz_inputs import junk
from public import PUBLIC

import bayescm

LONGEST = 700
"""Characters of a message: more is a page of labels."""
HANGING = 300
"""Seconds of processor time: the first call of a kernel compiles it."""


class NutsError(Exception):
    """Raised where NUTS would start."""


class HangingError(Exception):
    """Raised when a call takes too long."""


class Call(NamedTuple):
    """One call: a function by its name, and its arguments."""

    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        told = ", ".join(f"{key}={_shown(value)}" for key, value in self.arguments.items())
        return f"{self.name}({told})"


# --- calls ------------------------------------------------------------------------------------------------------------


def function(name: str) -> Any:
    """Return a public function, a class, or a method of an object that a maker makes."""
    first, *parts = name.split(".")
    thing: Any = PUBLIC[first] if first in PUBLIC else getattr(bayescm, first)
    for part in parts:
        thing = getattr(thing, part)
    return thing


def arguments_of(name: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return random arguments: those that are needed, and some of the others."""
    own = FUNCTIONS[name]
    hostile = rng.random() < 0.25
    made: dict[str, Any] = {}
    for key, parameter in inspect.signature(function(name)).parameters.items():
        if key == "ax" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        maker = own.get(key, OPTIONS.get(key))
        needed = parameter.default is parameter.empty
        if maker is not None and (needed or rng.random() < (0.6 if key in own else 0.25)):
            made[key] = junk(rng) if hostile and rng.random() < 0.2 else maker(rng)
    if "**" in own:
        made |= own["**"](rng)
    if hostile and rng.random() < 0.1:
        made["no_such_option"] = 1
    return made


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, np.ndarray) else f"np.{value!r}"
    text = " ".join(text.split())
    return text if len(text) < 400 else text[:400] + "..."


# --- judgement --------------------------------------------------------------------------------------------------------


def judge(call: Call) -> Iterator[str]:
    """Make a call and yield what is wrong with what came back."""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            found = function(call.name)(**call.arguments)
            if isinstance(found, bayescm.inference.MetricDistribution):
                yield from _of_dist(found)
                found = found.to_dataset()
        except (NutsError, NotImplementedError):
            return
        except Exception as error:
            yield from _of_error(error, call)
            found = None
    yield from _of_warnings(caught)
    reasons = [str(one.message) for one in caught]
    for where, data in _datasets(found):
        yield from (f"{where}{what}" for what in _of_result(data, call, where, bool(reasons)))


def _of_error(error: Exception, call: Call) -> Iterator[str]:
    text = str(error)
    kind = type(error).__name__
    where = traceback.extract_tb(error.__traceback__)[-1]
    at = f"{Path(where.filename).name}:{where.name}"
    if not isinstance(error, ValueError | TypeError):
        yield f"{kind} at {at}: {text[:150]}"
    elif "unexpected keyword argument" in text or ("missing" in text and "required" in text):
        return
    elif "`" not in text:
        yield f"{kind} without an argument's name at {at}: {text[:150]}"
    elif len(text) > LONGEST:
        yield f"{kind} of {len(text)} characters at {at}: {text[:80]}"


def _of_warnings(caught: list[warnings.WarningMessage]) -> Iterator[str]:
    for one in caught:
        if one.category is not UserWarning:
            yield f"{one.category.__name__} from {Path(one.filename).name}: {str(one.message)[:100]}"
        elif len(str(one.message)) > LONGEST:
            yield f"a warning of {len(str(one.message))} characters: {str(one.message)[:80]}"


def _datasets(found: Any, where: str = "") -> Iterator[tuple[str, xr.Dataset]]:
    if isinstance(found, xr.DataTree):
        for group in found.subtree:
            yield f"{group.path}: ", group.to_dataset()
    elif isinstance(found, xr.DataArray):
        yield where, found.to_dataset(name=found.name or "value")
    elif isinstance(found, xr.Dataset):
        yield where, found


NAN = {
    "point",
    "sd",
    "mcse_mean",
    "error",
    "elpd",
    "se",
    "ratio",
    "ratio_interval",
    "p_value",
    "p_value_holm",
    "stuart_maxwell",
    "cochran_q",
    "risk_ratio",
    "odds_ratio",
    "newcombe",
    "miettinen_nurminen",
    "agresti_caffo",
    "tango",
    "x",
    "matches",
    "undefined",
    "mcse_interval",
    "band",
}
"""Variables that may be NaN by their documentation: 0/0, no moment, no such test, no items in the cell."""
FREE = ("evaluate", "regions.contour", "calibration.coverage")
"""Functions whose NaN mean what they are documented to: 0/0 of given cells, the gap between two outlines."""
OF_TESTS = ("posterior", "prior_predictive")
"""Functions that draw test sets, where a metric may be 0/0."""
RATES = (
    "probability", "probability_better", "probability_larger", "ties", "probability_best",
    "rank_probability", "top_probability", "p_value_holm",
    "assurance", "probability_best", "probability_better", "p_value", "requirement", "undefined", "cdf", "theta",
)  # fmt: skip


def _of_result(data: xr.Dataset, call: Call, where: str, explained: bool) -> Iterator[str]:
    """Yield what is wrong with numbers: bounds, ranges, probabilities, NaN without a reason."""
    for name, values in data.data_vars.items():
        if values.dtype.kind != "f":
            continue
        base = re.sub(r"^mcse_.*", "mcse", str(name))
        may = (
            explained
            or name in NAN
            or where.startswith("/predictive_values")
            or base == "mcse"
            or "reason" in data.attrs
            or call.name in FREE
        )
        may = may or (call.name in OF_TESTS and where.endswith("replicate: "))
        if "undefined" in data:  # in every test: there is nothing to tell
            values = values.where(data["undefined"] < 1.0, 0.0)
        if np.isnan(values).any() and not may:
            yield f"NaN in {name} without a reason"
        if name in RATES and "log_" not in where and ((values < -1e-9) | (values > 1 + 1e-9)).any():
            yield f"{name} outside [0, 1]"
        if "ci_bound" in values.dims and name != "mcse_interval":
            yield from _of_interval(str(name), values, data)
    if "rank_probability" in data:
        total = data["rank_probability"].sum("rank")
        if (abs(total - 1) > 1e-6).any():
            yield "rank_probability doesn't sum to 1"
    if "side" in data.dims and "probability" in data and (abs(data["probability"].sum("side") - 1) > 1e-6).any():
        yield "probability(side) doesn't sum to 1"


def _of_dist(dist: Any) -> Iterator[str]:
    """Yield where quantiles and intervals of a distribution contradict its probabilities."""
    error = 1e-6
    q = [0.001, 0.025, 0.5, 0.975, 0.999]
    quantiles = dist.ppf(q)
    if (quantiles.diff("quantile") < 0).any():
        yield "quantiles fall"
    if type(dist.dist).__name__ == "Point":
        return
    back = dist.cdf(quantiles.drop_vars("quantile").rename(quantile="x")).values
    if np.nanmax(abs(back - np.array(q))) > error:
        yield "cdf(ppf(q)) isn't q"
    for kind, found in (("eti", dist.eti(0.9)), ("hdi", dist.hdi(0.9))):
        low, high = found.sel(ci_bound="lower", drop=True), found.sel(ci_bound="upper", drop=True)
        content = dist.cdf(high) - dist.cdf(low)
        if (abs(content - 0.9) > 1e-4).any():
            yield f"the {kind} of .9 holds another probability"


def _of_interval(name: str, values: xr.DataArray, data: xr.Dataset) -> Iterator[str]:
    lower, upper = values.sel(ci_bound="lower"), values.sel(ci_bound="upper")
    if name != "hull" and (lower > upper + 1e-12).any():  # of a hull the sides are, not each metric
        yield f"{name}: lower above upper"
    if (np.isnan(lower) != np.isnan(upper)).any():
        yield f"{name}: one bound is NaN"
    if name == "interval" and "median" in data and set(data["median"].dims) <= set(lower.dims):
        slack = 1e-9 * (1 + abs(data["median"]))
        outside = (data["median"] < lower - slack) | (data["median"] > upper + slack)
        if data.attrs.get("ci_prob", 1.0) > 0.5 and outside.any():
            yield "median outside the interval"
    if name == "interval" and "metric" in data.coords and "metric" in lower.dims and "difference" not in data:
        for one in data["metric"].values:
            known = next((m for m in bayescm.metrics.available() if m.name == str(one).split("[")[0]), None)
            if known and "comparison" not in data.dims:
                a, b = lower.sel(metric=one), upper.sel(metric=one)
                if (a < known.lower - 1e-9).any() or (b > known.upper + 1e-9).any():
                    yield f"interval of {one} beyond its range"


def same_twice(call: Call) -> Iterator[str]:
    """Yield whether a call with a seed gives other numbers when it is repeated."""
    if not isinstance(call.arguments.get("random_seed"), int):
        return
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            try:
                found.append(list(_datasets(function(call.name)(**call.arguments))))
            except Exception:
                return
    for (where, a), (_, b) in zip(*found, strict=True):
        if not a.identical(b):
            yield f"{where}other numbers with the same seed"


# --- runs -------------------------------------------------------------------------------------------------------------


def rng_of(seed: int, name: str, number: int) -> np.random.Generator:
    """Return the generator of one call: its own stream, so that it can be made again alone."""
    return np.random.default_rng([seed, *name.encode(), number])


@contextlib.contextmanager
def no_sampler() -> Iterator[None]:
    """Replace NUTS and interrupt what hangs."""
    from bayescm.models import nuts

    def refuse(*_: Any, **__: Any) -> None:
        raise NutsError

    def interrupt(*_: Any) -> None:
        raise HangingError(f"took more than {HANGING} seconds")

    kept, nuts.sample = nuts.sample, refuse
    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        yield
    finally:
        nuts.sample = kept
        signal.signal(signal.SIGPROF, before)


def defects(name: str, seed: int, number: int, *, twice: bool = False) -> list[tuple[str, Call]]:
    """Return what is wrong with one random call of a function."""
    import matplotlib.pyplot as plt

    rng = rng_of(seed, name, number)
    try:
        call = Call(name, arguments_of(name, rng))
    except (ValueError, TypeError):  # the makers call the package, too
        return []
    signal.setitimer(signal.ITIMER_PROF, HANGING)
    try:
        found = [(what, call) for what in judge(call)]
        found += [(what, call) for what in same_twice(call)] if twice and not found else []
    except HangingError as error:
        found = [(str(error), call)]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        plt.close("all")
    return found


def main() -> None:
    """Run for a while and print every kind of defect once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--calls", type=int, default=10**9)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    mpl.use("agg")
    names = [name for name in asked.only.split(",") if name] or list(FUNCTIONS)
    seen: Counter[tuple[str, str]] = Counter()
    calls, spent = 0, Counter[str]()
    bayescm.summary([[6, 2], [1, 26]])  # compiles
    end = time.monotonic() + asked.seconds
    with no_sampler():
        for number in range(asked.first, asked.first + asked.calls):
            for name in names:
                if time.monotonic() > end:
                    break
                began = time.process_time()
                for what, call in defects(name, asked.seed, number, twice=number % 10 == 0):
                    kind = re.sub(r"\d+", "#", what)
                    seen[name, kind] += 1
                    if seen[name, kind] == 1:
                        print(f"\n{name} #{number}: {what}\n    {call}", flush=True)
                calls += 1
                spent[name] += time.process_time() - began
            if time.monotonic() > end:
                break
    print(f"\nseed {asked.seed}: {calls} calls, {len(seen)} kinds of defects")
    for (name, kind), n in seen.most_common():
        print(f"{n:6d} {name}: {kind}")
    print("slowest:", ", ".join(f"{name} {seconds:.0f}s" for name, seconds in spent.most_common(10)))
    sys.exit(bool(seen))


if __name__ == "__main__":
    main()
