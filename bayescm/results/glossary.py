"""What a reader looks up: how columns are read, what metrics are, and what a method is taken from."""

import importlib
import inspect
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

import xarray as xr

from bayescm.data.schema import CI_BOUND, METRIC
from bayescm.results.names import known
from bayescm.results.writing import percent

Pairs = list[tuple[str, str]]

_REFERENCES = re.compile(r"^References\n-+\n(.*?)(?:\n\n\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
_COLUMNS = {
    "point": "The value of the items that were tested.",
    "mean": "The mean of the posterior: what is expected of the population.",
    "sd": "The standard deviation of the posterior.",
    "se": "The standard error.",
    "fpr": "The false positive rate: 1 - specificity.",
    "P(better)": "The probability that the first of the two is the better one.",
    "verdict": "Better or worse where the whole interval lies beyond 0, or beyond the rope; equivalent where it lies "
    "within the rope; else undecided, which doesn't say that they are equal.",
    "P(best)": "The probability that no other system is better.",
    "rank": "The best rank, with the worst beside it (to), that the system may have.",
    "tie_group": "Systems of one group can't be told apart from its first.",
    "probability": "The probability that the claim is true.",
    "P(least)": "The probability that no other action costs less.",
    "expected_regret": "What the action is expected to cost more than the best one.",
    "mean_score": "The mean score of the items of the bin, which should be their share of positives.",
    "items": "How many items.",
    "method": "Exact: computed from the distribution itself; draws: from random draws, with their error.",
}
_OF_GATE = {
    "probability": "The probability that what the check asks is true.",
    "verdict": "Better where the whole interval of new - old lies above 0, or the rope; not worse where the "
    "probability reaches the level that the margin asks for; worse where the interval lies below; else undecided. "
    "Of a floor: met or missed where its probability, or that of the opposite, reaches the level.",
}
_TELLS = {
    "credible": "by the model, the prior and these data the true value lies within with a probability of {level}",
    "confidence": "of intervals made so from many tests, at least about {level} hold the true value",
}


def of_columns(columns: Iterable[str], data: xr.Dataset) -> Pairs:
    """Say how the columns of a table are read."""
    columns = list(columns)
    meanings = _COLUMNS | (_OF_GATE if "passed" in data.attrs else {})
    found = [(name, meanings[name]) for name in columns if name in meanings]
    kind = str(data[CI_BOUND].attrs.get("ci_kind", "")) if CI_BOUND in data.coords else ""
    kind = "credible" if str(data.attrs.get("ci_kind", kind)) in ("eti", "hdi") else kind
    if "lower" not in columns or kind not in _TELLS or "ci_prob" not in data.attrs:
        return found
    level = percent(float(data.attrs["ci_prob"]))
    return [*found, ("lower, upper", f"The ends of the {level} interval: {_TELLS[kind].format(level=level)}.")]


def of_metrics(names: Iterable[str], k: int = 2) -> Pairs:
    """Define metrics of k classes, each once for all classes; a user's own are left out."""
    metrics = [known(name, k) for name in dict.fromkeys(name.partition("[")[0] for name in names)]
    return [(one.title, f"{one.formula}." + _undefined(one.undefined)) for one in metrics if one is not None]


def of_result(data: xr.Dataset) -> Pairs:
    """Define the metrics of a result."""
    names = data[METRIC].values.ravel() if METRIC in data.coords else [data.attrs.get(METRIC, "")]
    return of_metrics(map(str, names), 2 if "positive_class" in data.attrs else 3)


def _undefined(when: str) -> str:
    return f" Undefined where: {when}." if when else ""


def sources(*functions: Callable[..., Any] | str) -> str:
    """Return the references that functions, or public names of bayescm, give in their docstrings."""
    package = importlib.import_module("bayescm")
    called = [operator.attrgetter(one)(package) if isinstance(one, str) else one for one in functions]
    named = [_REFERENCES.search(inspect.getdoc(one) or "") for one in called]
    return " ".join(" ".join(one[1].split()) for one in named if one is not None)
