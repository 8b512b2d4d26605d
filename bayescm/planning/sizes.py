"""sample_size() and interval_width(): how many items, and what they will tell."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from numbers import Real
from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from bayescm.data import validate
from bayescm.data.assumptions import PILOTED, STATED, assumed
from bayescm.data.options import plain_words
from bayescm.data.schema import METRIC, attributes
from bayescm.distributions.beta_binomial import MOST
from bayescm.inference.options import AnalysisOptions
from bayescm.metrics import MetricsLike, coordinates
from bayescm.planning.beliefs import Beliefs
from bayescm.planning.whole_tests import Test, quantile
from bayescm.planning.widths import Proportion
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

_CLOSE = 1e-3  # relative, of a number of items that is searched by quadrature
_MOST_SCANNED = 4096
TOGETHER = "all together"


@stamped
@plain_words
def sample_size(
    metrics: MetricsLike = "accuracy",
    *,
    width: float,
    assurance: float = 0.95,
    mode: Any = 0.8,
    concentration: Any = 10.0,
    pilot: Any = None,
    prevalence: Any = None,
    fixed_totals: bool = False,
    unit_size: float | None = None,
    icc: float | None = None,
    **analysis: Unpack[AnalysisOptions],
) -> xr.Dataset:
    """Return the number of items after which a metric's interval is narrow enough, with a stated assurance.

    Parameters
    ----------
    metrics : str, callable, sequence or mapping
        As `metrics` of :func:`bayescm.summary`, of two labels.
    width : float
        Wanted length of the interval.
    assurance : float
        Wanted probability that the interval will be at most so long.
    mode, concentration : number or mapping
        What is thought of the classifier: its rate is Beta(w (k - 2) + 1, (1 - w)(k - 2) + 1) with mode w and
        concentration k >= 2 (Kruschke); with ``concentration=None`` it is w itself. Without `prevalence` it is the
        metric's own mode; with it, that of recall and specificity. A mapping gives each its own.
    pilot : xarray.DataArray or array_like, optional
        Counts of an earlier test, whose posterior replaces mode and concentration.
    prevalence : number, pair or "pilot", optional
        The share of positives among the items to come, a number or the two numbers of its Beta. Then whole tests are
        planned; any metric can be, and all of them together. Without it, metrics must be proportions.
    fixed_totals : bool
        Whether the test will have exactly these shares of the classes, by design. Needs `prevalence` as a number.
    unit_size, icc : number, optional
        Where items will come in units (patients with lesions): how many of them a unit has, and the correlation of two
        of these (intraclass, from 0 to 1), such as the attr ``icc`` of a pilot that was summarised by `unit`.
    **analysis
        `prior`, `model`, `ci_prob` and `ci_kind` of the analysis to come, as in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over ``metric``: ``n_items``, the items that the metric is ``about`` (the actual positives for recall, the
        predicted ones for precision, ...) or, with `prevalence`, all items of the test; ``assurance``, which these
        reach; ``rule``, the items by the rule of thumb width = 2/sqrt(n). With `prevalence` also ``n_items_together``
        and ``assurance_together``, for all intervals at once. With `unit_size` also ``n_units``, and all items are
        those of as many units; ``assurance`` is then that of as few independent items as these stand for.

    Raises
    ------
    ValueError
        If more than a billion items are needed, the prior is improper, a metric needs `prevalence` or has no exact
        distribution, or `fixed_totals` has no number that fixes them.

    Notes
    -----
    Proportions are exact: the successes are beta-binomial, and nothing is simulated. As counts are whole, the assurance
    goes up and down a little with the number of items: `n_items` reaches the wanted one, and so do all larger numbers.
    Whole tests are computed by quadrature, and their `n_items` is good to a few parts in a hundred. Metrics whose
    distribution takes two integrals, such as MCC, take tens of seconds there unless the class totals are fixed.

    Units multiply the items by the design effect 1 + (unit_size - 1) icc, and by what it takes so that few units don't
    scatter more than expected: the quantile of chi-squared/(G - 1) at the assurance, of G units.

    References
    ----------
    Kruschke 2015, Doing Bayesian Data Analysis, chapter 13; Toetsch and Hoffmann 2021, Fig. 6 and eq. 15; of units
    Kish 1965, Survey Sampling, and Kupper and Hafner 1989, The American Statistician 43.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.sample_size("accuracy", width=0.1)
    >>> int(found.n_items.item()), int(found.rule.item())
    (379, 400)
    >>> total = bayescm.sample_size(["recall", "specificity"], width=0.1, prevalence=0.3)
    >>> total.n_items.values, int(total.n_items_together)
    (array([1283,  545]), 1283)
    """
    wanted = validate.number("width", width, 0, np.inf)
    level = validate.number("assurance", assurance, 0, 1)
    _check_totals(prevalence, fixed_totals)
    design = _design_effect(unit_size, icc)
    beliefs = Beliefs.read(metrics, mode, concentration, pilot, **analysis)
    count = len(beliefs.metrics)
    widest = min(metric.upper - metric.lower for metric in beliefs.metrics)
    if wanted > widest:
        raise ValueError(f"`width` must be at most {widest:g}, the range of the metric; got {wanted:g}. 10% is 0.1.")
    extra: dict[str, Any] = {}
    if prevalence is None:
        proportions, about = beliefs.proportions()
        found = [_of_proportion(one, wanted, level) for one in proportions]
    else:
        about = ["items"] * count
        *found, together = _of_test(beliefs.test(prevalence, fixed_totals), wanted, level)
        extra = {"n_items_together": together[0], "assurance_together": together[1]}
    sizes, reached = zip(*found, strict=True)
    if unit_size is not None:
        units = [_units(n, design, unit_size, level) for n in sizes]
        extra |= {"n_units": (METRIC, units, {"long_name": "Units", "units": "1"})}
        sizes = tuple(math.ceil(n * unit_size) for n in units)
        if prevalence is not None:
            extra["n_items_together"] = math.ceil(_units(together[0], design, unit_size, level) * unit_size)
    return xr.Dataset(
        {
            "n_items": (METRIC, list(sizes), {"long_name": "Items", "units": "1"}),
            "assurance": (METRIC, list(reached), {"long_name": "Probability of such an interval", "units": "1"}),
            "rule": (METRIC, np.full(count, np.ceil(4 / wanted**2)), {"long_name": "Items by the rule 2/sqrt(n)"}),
            "about": (METRIC, about),
            **extra,
        },
        coords=coordinates(beliefs.metrics, (0, 1)),
        attrs=attributes(
            width=wanted, wanted_assurance=level, mode=mode, concentration=concentration, pilot=pilot,
            prevalence=prevalence, fixed_totals=fixed_totals, **beliefs.analysis,
            **({} if unit_size is None else {"unit_size": unit_size, "icc": icc, "design_effect": design}),
            assumptions=_assumed(fixed_totals, pilot),
        ),
    )  # fmt: skip


@plain_words
def interval_width(
    metrics: MetricsLike = "accuracy",
    n_items: ArrayLike = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
    *,
    assurance: float = 0.95,
    mode: Any = 0.8,
    concentration: Any = 10.0,
    pilot: Any = None,
    prevalence: Any = None,
    fixed_totals: bool = False,
    **analysis: Unpack[AnalysisOptions],
) -> xr.Dataset:
    """Return how long a metric's interval will be after given numbers of items.

    Parameters
    ----------
    metrics : str, callable, sequence or mapping
    n_items : int or sequence of int
        Numbers of items: those that a metric is about or, with `prevalence`, all of the test.
    assurance : float
        Probability that the interval will be at most as long as ``width``.
    mode, concentration, pilot, prevalence, fixed_totals, **analysis
        As in :func:`sample_size`.

    Returns
    -------
    xarray.Dataset
        Over ``(metric, n_items)``: ``width``, reached with the assurance, and ``mean_width``; over ``metric`` what the
        items are (``about``); over ``n_items`` the ``rule`` 2/sqrt(n).

    Raises
    ------
    ValueError
        For ``n_items`` that aren't positive integers.

    References
    ----------
    Toetsch and Hoffmann 2021, Fig. 6 and eq. 15.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.planning.interval_width("accuracy", [100, 10_000, 1_000_000])
    >>> found.width.sel(metric="accuracy").values.round(4)
    array([0.1921, 0.0195, 0.002 ])
    """
    level = validate.number("assurance", assurance, 0, 1)
    sizes = np.atleast_1d(validate.array_of("n_items", n_items))
    if sizes.ndim != 1 or not sizes.size:
        raise ValueError(f"`n_items` must be numbers of items; got shape {sizes.shape}.")
    items = [_items(size) for size in sizes.tolist()]
    _check_totals(prevalence, fixed_totals)
    beliefs = Beliefs.read(metrics, mode, concentration, pilot, **analysis)
    if prevalence is None:
        proportions, about = beliefs.proportions()
        plain = np.array(items, np.float64)
        table = np.stack([[one.quantile(plain, level), one.mean(plain)] for one in proportions])
    else:
        about = ["items"] * len(beliefs.metrics)
        test = beliefs.test(prevalence, fixed_totals)
        table = np.stack([_widths_of_test(test, size, level) for size in items], axis=-1)
    long_names = (f"Length of the interval, with {100 * level:g}% assurance", "Mean length of the interval")
    return xr.Dataset(
        {
            "width": ((METRIC, "n_items"), table[:, 0], {"long_name": long_names[0]}),
            "mean_width": ((METRIC, "n_items"), table[:, 1], {"long_name": long_names[1]}),
            "rule": ("n_items", 2 / np.sqrt(items), {"long_name": "Rule of thumb 2/sqrt(n)"}),
            "about": (METRIC, about),
        },
        coords={**coordinates(beliefs.metrics, (0, 1)), "n_items": ("n_items", items, {"long_name": "Items"})},
        attrs=attributes(
            assurance=level, mode=mode, concentration=concentration, pilot=pilot, prevalence=prevalence,
            fixed_totals=fixed_totals, **beliefs.analysis,
            assumptions=_assumed(fixed_totals, pilot),
        ),
    )  # fmt: skip


def _assumed(fixed_totals: bool, pilot: Any) -> str:
    return assumed("fixed" if fixed_totals else None, STATED if pilot is None else PILOTED)


def _design_effect(unit_size: float | None, icc: float | None) -> float:
    """Return how many items of units stand for one that is independent."""
    if unit_size is None and icc is None:
        return 1.0
    if unit_size is None or icc is None:
        raise ValueError("`unit_size` and `icc` go together: items of a unit, and how alike two of them are (0 to 1).")
    size, alike = validate.number("unit_size", unit_size, 0, np.inf), validate.number("icc", icc, -1, 2)
    if size < 1.0 or not 0.0 <= alike <= 1.0:
        raise ValueError(f"`unit_size` must be at least 1 and `icc` from 0 to 1; got {size:g} and {alike:g}.")
    return 1.0 + (size - 1.0) * alike


def _units(n: int, design: float, unit_size: float, assurance: float) -> int:
    """Return how many units tell as much as n independent items, though few of them may scatter more than expected."""
    least = max(math.ceil(n * design / unit_size), 2)
    units = least
    while units * unit_size < n * design * max(stats.chi2.ppf(assurance, units - 1) / (units - 1), 1.0):
        units = math.ceil(1.001 * units + 0.5)
    return units


def _check_totals(prevalence: Any, fixed_totals: bool) -> None:
    """Refuse fixed class totals without the number that fixes them."""
    if fixed_totals and not isinstance(prevalence, Real):
        raise ValueError(
            "`prevalence` must be a number with `fixed_totals`, the share of positives of the design; got "
            f"{prevalence!r}."
        )


def _items(n: object) -> int:
    """Return a number of items that can be planned with."""
    size = validate.positive_integer("n_items", n)
    if size > MOST:
        raise ValueError(f"`n_items` must not exceed {MOST:,}; got {size:,}.")
    return size


def _widths_of_test(test: Test, n: int, assurance: float) -> Array:
    """Return the width reached with the assurance and the mean width of each metric, (metrics, 2)."""
    widths, weights = test.widths(n)
    return np.stack([[quantile(row, weights, assurance), row @ weights] for row in widths])


def _of_proportion(one: Proportion, width: float, assurance: float) -> tuple[int, float]:
    """Return the least number of items from which on a proportion's interval is narrow enough, and the assurance.

    The assurance rises with the number of items but for steps, as counts are whole: of the two limits between which
    the counts must not lie, each moves by one about every 1/(2 share) items, and the rise of as many items makes up
    for a step. So beyond a multiple of that the wanted assurance isn't lost again.
    """
    crossing = _search(lambda n: float(one.quantile(np.array([float(n)]), assurance)[0]), width, 0.0)
    reach = min(16 + int(8 * max(1.0, 4 / width**2 / crossing)), _MOST_SCANNED)
    while True:
        around = np.arange(max(crossing - reach, 1), min(crossing + reach, MOST) + 1, dtype=np.float64)
        reached = one.assurance(around, width)
        enough = reached >= assurance - 1e-12
        if enough[-1] or around[-1] == MOST:
            break
        crossing += reach
    first = len(enough) - int(np.argmin(enough[::-1])) if not enough.all() else 0
    if first == len(enough):
        raise _too_many(width)
    return int(around[first]), float(reached[first])


def _too_many(width: float) -> ValueError:
    """Return the error of a width that is out of reach."""
    return ValueError(f"`width`={width:g} needs more than {MOST:,} items; ask for a wider interval.")


def _of_test(test: Test, width: float, assurance: float) -> list[tuple[int, float]]:
    """Return the number of items and the assurance for each metric, and for all together."""
    each = [replace(test, metrics=(metric,)) for metric in test.metrics]
    together = len(each)

    @cache
    def look(n: int, i: int) -> tuple[Array, Array]:
        """Return the widths of a metric, or the largest of all, and their probabilities."""
        if i < together:
            widths, weights = each[i].widths(n)
            return widths[0], weights
        found = [look(n, j) for j in range(together)]
        return np.stack([widths for widths, _ in found]).max(0), found[0][1]

    def size(i: int, low: int = 0) -> int:
        return _search(lambda n: quantile(*look(n, i), assurance), width, _CLOSE, low)

    sizes = [size(i) for i in range(together)]
    sizes.append(size(together, max(sizes) - 1))  # fewer can't be enough for all
    looks = [look(n, i) for i, n in enumerate(sizes)]
    return [(n, float(p[widths <= width].sum())) for n, (widths, p) in zip(sizes, looks, strict=True)]


def _search(reached: Callable[[int], float], width: float, close: float, low: int = 0) -> int:
    """Return a number of items above `low` that reaches a width where one less, or a little less, doesn't.

    Widths go like 1/sqrt(n), which gives the next number to try; each third time the bracket is halved.
    """
    high, turn = MOST + 1, 0
    n = low + 1 if low else int(min(max(4 / width**2, 1), MOST))
    while high - low > max(1.0, close * high):
        found = reached(n)
        low, high = (low, n) if found <= width else (n, high)
        if low >= MOST:
            raise _too_many(width)
        turn += 1
        guess = n * min(max(found / width, 0.1), 10.0) ** 2 * (1.0 + (close / 2 + 1e-9) * (1 if found > width else -1))
        guess = (low * high) ** 0.5 if turn % 3 == 0 and high <= MOST and low else guess
        n = int(min(max(round(guess), low + 1), high - 1))
    return high
