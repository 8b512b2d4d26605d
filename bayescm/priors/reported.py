"""from_reported(): the matrices that numbers printed in a paper leave, and whether any has them all."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.labels import label_array
from bayescm.data.options import plain_words
from bayescm.data.schema import CI_BOUND, MATRIX, METRIC, POSSIBLE, STANDS_FOR, attributes
from bayescm.metrics import Metric, MetricLike, resolve
from bayescm.priors.concentrations import DEFAULT_PRIOR, concentrations
from bayescm.priors.possible import Bounds, Possible, exists, possible
from bayescm.results.objects import stamped

Array = NDArray[np.float64]
Rounding = Literal["nearest", "truncated", "any"]

ROUNDINGS: dict[str, tuple[float, float]] = {"nearest": (0.5, 0.5), "truncated": (0.0, 1.0), "any": (0.5, 1.0)}
"""How far below and above the printed number, in units of its last digit, the true one may lie."""
_SIZES = 60  # of test sets around the stated one that are tried where nothing fits
_STEPS = 2**53  # of the last digit, beyond which no number is looked for
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")
_OPEN = 3e-10  # by which a truncated number stays below the next


class Stated(NamedTuple):
    """A number as it is printed: its value and one unit of its last digit."""

    value: float
    unit: float


@plain_words
@stamped
def from_reported(
    metrics: Mapping[MetricLike, Any] | None = None,
    *,
    n_items: int,
    positives: int | None = None,
    decimals: int | None = None,
    rounding: Rounding = "nearest",
    folds: int = 1,
    labels: Sequence[Any] = (0, 1),
    **reported: Any,
) -> xr.Dataset:
    """Find every confusion matrix of two labels that has the printed metrics, and say whether there is any.

    What comes back goes to every question (:func:`bayescm.summary`, :func:`bayescm.compare_systems`, ...), which weighs
    all matrices by how probable each was.

    Parameters
    ----------
    metrics : mapping of metric to number or str, optional
        What can't be a keyword: ``{"f0.5": 0.8, "fbeta(beta=3)": "0.80"}``.
    n_items : int
        Items of the test set.
    positives : int, optional
        Items of the positive class among them, where they are printed.
    decimals : int, optional
        To which numbers are rounded. Default: of text as it is written, "0.80" and "80.0%" as well; of numbers as many
        as the one with the most of them has, at least 2 (0.80 is the number 0.8); metrics that may exceed 1, such as
        likelihood ratios, have their own.
    rounding : {"nearest", "truncated", "any"}
        "nearest" takes a tie for either neighbour: half up, half even and what binary numbers make of it. "truncated":
        further digits were cut off. "any": one or the other.
    folds : int
        Of cross-validation, whose values' means are printed: folds as even as they can be, for recall and the like of
        each class too (stratified). For shares of items or of a class: accuracy, recall, specificity and their losses.
    labels : sequence of two labels
        The negative and the positive class.
    **reported : number or str
        One metric or more by name or short name: ``precision=0.85, recall="81%", f1=0.83``.

    Returns
    -------
    xarray.Dataset
        ``counts(possible, actual, predicted)``, the matrices, and ``stands_for(possible)``, how many each stands for: 1
        up to 4,096 matrices, which are all there are; of more 2,000 are kept, at even steps of their probability.
        ``matches``: how many there are; between ``least`` and ``most(actual, predicted)`` each cell lies.
        Over ``metric``: ``stated``, ``allowed(ci_bound)``, what its rounding allows, and where nothing fits
        ``nearest``, the printed number nearest to it that the others leave (NaN: none). The attr ``verdict`` is
        "unique", "ambiguous" or "impossible"; ``at_odds`` names each number without which the others fit.

    Raises
    ------
    ValueError
        If a metric is out of its range or has no digits, or its mean over folds says nothing of one matrix.

    Notes
    -----
    Boxes of matrices are halved until all of one fit or none; what is left is looked at one by one. Beyond 20 million
    of these a sample is, and ``matches``, ``least`` and ``most`` are estimates (the attr ``counted`` says "sample").
    Numbers that were averaged over classes or seeds are no one matrix's: then "impossible" is a right answer. Nor are
    means of folds, but for shares: with `folds` each number by itself is one that folds of such a matrix can have;
    where folds are uneven, accuracy beside recall might need others.

    References
    ----------
    Fazekas and Kovacs 2024, Neurocomputing (whether reported scores are consistent, by the package mlscorecheck).

    Examples
    --------
    >>> import bayescm
    >>> paper = bayescm.from_reported(accuracy=0.94, specificity=0.75, precision=0.93, n_items=34)
    >>> paper.attrs["verdict"], paper.counts.values.tolist()
    ('unique', [[[6, 2], [0, 26]]])
    >>> bayescm.from_reported(precision=0.85, recall=0.81, f1=0.90, n_items=1000).attrs["at_odds"]
    'precision, recall, f1'
    """
    names, stated = _stated(metrics, reported, decimals)
    n = validate.positive_integer("n_items", n_items)
    if positives is not None and not (isinstance(positives, int | np.integer) and 0 <= positives <= n):
        raise ValueError(f"`positives` must be a whole number from 0 to `n_items`, {n}; got {positives!r}.")
    values, units = np.array(stated).T
    lower, upper = ends_of(values, units, rounding)
    bounds = Bounds(names, lower, upper, _check_folds(folds, names, n))
    prior = concentrations(DEFAULT_PRIOR, "dirichlet_multinomial", 2)
    found = possible(bounds, n, prior, positives)
    if not found.number and not found.exact:
        raise ValueError("`metrics`: so many digits of so many items can't be searched; leave out a metric or digits.")
    nearest, at_odds = np.full(len(names), np.nan), ""
    if not found.number:
        nearest, at_odds = _at_odds(bounds, Possibly(n, positives), stated)
    return _dataset(found, bounds, values, nearest, labels).assign_attrs(
        attributes(
            n=n, verdict=_verdict(found), at_odds=at_odds, counted="all" if found.exact else "sample",
            rounding=rounding, assumptions="all numbers are of one matrix of so many items, rounded as said"
            + f", and means over {bounds.folds} folds" * (bounds.folds > 1),
        )
    )  # fmt: skip


def _check_folds(folds: int, metrics: Sequence[Metric], n: int) -> int:
    """Return the number of folds, each with an item; refuse metrics that are no shares of a number known beforehand."""
    if validate.positive_integer("folds", folds) > n:
        raise ValueError(f"`folds` must not exceed `n_items`, {n}; got {folds}.")
    for metric in metrics if folds > 1 else ():
        whole = {cell for part in metric.ratio or () for cell in part}
        if metric.link != "identity" or whole not in ({"tp", "fn"}, {"fp", "tn"}, {"tp", "fn", "fp", "tn"}):
            raise ValueError(
                f"`folds`: a mean of folds' {metric.alias or metric.name} leaves the matrix open; "
                "state accuracy, recall or specificity."
            )
    return int(folds)


def ends_of(value: Any, unit: Any, rounding: str) -> Array:
    """Return between which numbers the true one lies, first the lower ones."""
    below, above = ROUNDINGS[validate.choice("rounding", rounding, tuple(ROUNDINGS))]
    return np.stack([value - below * unit, value + above * unit - (_OPEN if rounding == "truncated" else 0.0)])


class Possibly(NamedTuple):
    """How many items there are, and how many of them are positive."""

    n: int
    positives: int | None

    def fits(self, bounds: Bounds) -> bool:
        """Say whether any matrix does."""
        return exists(bounds, self.n, self.n, self.positives)


def _verdict(found: Possible) -> str:
    return "impossible" if not found.number else "unique" if found.number == 1 else "ambiguous"


def _dataset(found: Possible, bounds: Bounds, values: Array, nearest: Array, labels: Sequence[Any]) -> xr.Dataset:
    """Label what was found."""
    names = [metric.alias or metric.name for metric in bounds.metrics]
    order = label_array("labels", list(labels))
    if len(order) != 2 or order[0] == order[1]:
        raise ValueError(f"`labels` must be two, the negative and the positive class; got {labels!r}.")
    of_cells = {"least": found.least, "most": found.most}
    return xr.Dataset(
        {
            "counts": ((POSSIBLE, *MATRIX), found.cells.reshape(-1, 2, 2)),
            STANDS_FOR: (POSSIBLE, found.stands_for),
            "matches": ((), found.number, {"long_name": "Matrices that have the printed metrics"}),
            **{name: (MATRIX, cells.reshape(2, 2).astype(np.float64)) for name, cells in of_cells.items()},
            "stated": (METRIC, values),
            "allowed": ((METRIC, CI_BOUND), np.stack([bounds.lower, bounds.upper], -1)),
            "nearest": (METRIC, nearest),
        },
        coords={METRIC: names, CI_BOUND: ["lower", "upper"], **dict.fromkeys(MATRIX, order)},
    )


def _at_odds(bounds: Bounds, items: Possibly, stated: Sequence[Stated]) -> tuple[Array, str]:
    """Return of each number the nearest that fits the others, and the names of those without which the others fit."""
    nearest, names = np.full(len(stated), np.nan), []
    for i, one in enumerate(stated):
        if items.fits(bounds.without(i)):
            names.append(bounds.metrics[i].alias or bounds.metrics[i].name)
            nearest[i] = _nearest(bounds, i, items, *one)
    if items.positives is not None and items._replace(positives=None).fits(bounds):
        names.append("positives")
    least, most = max(items.positives or 0, 1, items.n - _SIZES // 2), items.n + _SIZES // 2
    near = sorted(range(least, most + 1), key=lambda n: abs(n - items.n))[1:]
    some = exists(bounds, least, most, items.positives)  # seldom, so all are asked at once before each is
    other = next((n for n in near if items._replace(n=n).fits(bounds)), None) if some else None
    return nearest, ", ".join([*names, *([f"n_items ({other:,} would do)"] if other else [])])


def _nearest(bounds: Bounds, i: int, items: Possibly, value: float, unit: float) -> float:
    """Return the nearest printed number of one metric that fits the others."""
    own = np.eye(len(bounds.lower))[i] * unit

    def fits(down: int, up: int) -> bool:
        return items.fits(bounds._replace(lower=bounds.lower + down * own, upper=bounds.upper + up * own))

    low, high = 0, 1
    while not fits(-high, high):
        if high > _STEPS:  # the others leave it no value
            return math.nan
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(-middle, middle) else (middle, high)
    steps = high if fits(high, high) else -high
    return float(np.round(value + steps * unit, 12))


def _stated(
    metrics: Mapping[MetricLike, Any] | None, reported: Mapping[str, Any], decimals: int | None
) -> tuple[list[Metric], list[Stated]]:
    """Return the metrics, and their numbers as they are printed."""
    if not isinstance(metrics, Mapping | None):
        raise TypeError(f"`metrics` must be a mapping of metrics to numbers; got {metrics!r}.")
    pairs = [*(metrics or {}).items(), *reported.items()]
    if not pairs:
        raise ValueError("`metrics`: give what is printed, such as precision=0.85, recall=0.81, f1=0.83.")
    names = resolve([name for name, _ in pairs], 2)
    validate.unique("metrics", [metric.name for metric in names])
    digits = None if decimals is None else validate.count_values("decimals", decimals).item()
    shares = [value for metric, (_, value) in zip(names, pairs, strict=True) if metric.upper <= 1]
    usual = usual_decimals(shares)
    return names, [
        _read(metric, value, digits if digits is not None else usual if metric.upper <= 1 else None)
        for metric, (_, value) in zip(names, pairs, strict=True)
    ]


def _read(metric: Metric, value: Any, digits: int | None) -> Stated:
    """Read one number: text as it is written, of others with so many decimals, or their own."""
    return number_as_printed(metric.alias or metric.name, value, digits, metric.lower, metric.upper)


def number_as_printed(
    name: str, value: Any, digits: int | None = None, lowest: float = 0.0, highest: float = 1.0
) -> Stated:
    """Read a number, or text, called `name`: text as it is written, of others with so many decimals, or their own."""
    scale = 1.0
    if isinstance(value, str):
        text = value.strip()
        if text.endswith("%"):
            text, scale = text[:-1].strip(), 0.01
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"`{name}` must be a number or text such as '0.80' or '80%'; got {value!r}.")
        value, digits = float(text), decimals_of(text)
    number = validate.number(name, value, -math.inf, math.inf, closed=True) * scale
    unit = scale * 10.0 ** -(decimals_of(value) if digits is None else digits)
    number = validate.number(name, number, lowest, highest, closed=True)
    if math.isinf(number):
        raise ValueError(f"`{name}` must be finite; got {value!r}. State a rate instead, such as recall.")
    return Stated(number, unit)


def usual_decimals(values: Iterable[Any]) -> int:
    """Return to how many decimals numbers are rounded that lost their last zeros: text keeps its own."""
    return max([2, *(decimals_of(value) for value in values if not isinstance(value, str))])


def decimals_of(value: Any) -> int:
    """Return how many decimals a number is written with."""
    try:
        return max(-int(Decimal(str(value).strip()).as_tuple().exponent), 0)
    except (ArithmeticError, ValueError, TypeError):  # refused where it is read
        return 0
