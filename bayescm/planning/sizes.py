"""sample_size() and interval_width(): how many items, and what they will tell."""

import math
from numbers import Real
from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.assumptions import PILOTED, STATED, assumed
from bayescm.data.options import plain_words
from bayescm.data.schema import METRIC, attributes
from bayescm.distributions.beta_binomial import MOST
from bayescm.inference.options import AnalysisOptions
from bayescm.metrics import MetricsLike, coordinates
from bayescm.planning.beliefs import Beliefs
from bayescm.planning.clusters import design_effect, units_for
from bayescm.planning.protocols import Goal, one_sided
from bayescm.planning.searches import of_proportions, of_tests
from bayescm.planning.whole_tests import Test, quantile
from bayescm.results.objects import stamped

Array = NDArray[np.float64]


@stamped
@plain_words
def sample_size(
    metrics: MetricsLike = "accuracy",
    *,
    width: float | None = None,
    lower: float | None = None,
    method: str | None = None,
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
    lower : float
        Instead of `width`: the value that the lower bound, alone at the level `ci_prob`, is to reach.
    method : str, optional
        Of the interval that will be reported: a name of :func:`bayescm.interval` for proportions, such as "wilson" or
        "clopper_pearson". Or the formula of protocols: "buderer" (proportions; with `prevalence` whole tests), "simel"
        (likelihood ratios); it takes the stated rates for the truth and an average test for every one. Default: the
        credible interval.
    assurance : float
        Wanted probability that the interval will be at most so long, or its bound so high.
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
        reach; ``rule``, the items by the rule of thumb width = 2/sqrt(n); ``formula``, the items by Buderer's formula
        or Simel's (NaN without one), and ``formula_assurance``, which these reach. With `prevalence` also
        ``n_items_together`` and ``assurance_together``, for all intervals at once. With `unit_size` also ``n_units``,
        and all items are those of as many units; ``assurance`` is then that of as few independent items as these stand
        for, and so is ``formula``.

    Raises
    ------
    ValueError
        If more than a billion items are needed, the prior is improper, a metric needs `prevalence` or has no exact
        distribution, or `fixed_totals` has no number that fixes them.

    Notes
    -----
    Proportions are exact: the successes are beta-binomial. `n_items` reaches the assurance, and so do all larger
    numbers. Whole tests are computed by quadrature, and their `n_items` is good to a few parts in a hundred; metrics
    whose distribution takes two integrals, such as MCC, take tens of seconds unless the class totals are fixed.

    Units multiply the items by the design effect 1 + (unit_size - 1) icc, and by what it takes so that few units don't
    scatter more than expected: the quantile of chi-squared/(G - 1) at the assurance, of G units.

    References
    ----------
    Kruschke 2015, Doing Bayesian Data Analysis, chapter 13; Toetsch and Hoffmann 2021, Fig. 6 and eq. 15; Buderer 1996,
    Academic Emergency Medicine 3; Simel, Samsa and Matchar 1991, Journal of Clinical Epidemiology 44; Flahault,
    Cadilhac and Thomas 2005, ibid. 58 (`lower`); of units Kish 1965, Survey Sampling, and Kupper and Hafner 1989, The
    American Statistician 43.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.sample_size("accuracy", width=0.1)
    >>> int(found.n_items.item()), int(found.rule.item())
    (379, 400)
    >>> total = bayescm.sample_size(["recall", "specificity"], width=0.1, prevalence=0.3)
    >>> total.n_items.values, int(total.n_items_together)
    (array([1283,  545]), 1283)
    >>> rarely = bayescm.sample_size("recall", width=0.1, prevalence=0.1, mode=0.9, method="buderer")
    >>> int(rarely.n_items.item()), round(rarely.assurance.item(), 2)
    (1383, 0.3)
    >>> bound = bayescm.sample_size("recall", lower=0.8, mode=0.9, concentration=None, method="clopper_pearson")
    >>> int(bound.n_items.item())
    147
    """
    if (width is None) == (lower is None):
        raise ValueError("give one of `width`, the wanted length of the interval, and `lower`, the wanted lower bound.")
    level = validate.number("assurance", assurance, 0, 1)
    _check_totals(prevalence, fixed_totals)
    design = design_effect(unit_size, icc)
    beliefs = Beliefs.read(metrics, mode, concentration, pilot, method, **analysis)
    if lower is None:
        wanted = validate.number("width", width, 0, np.inf)
        widest = min(metric.upper - metric.lower for metric in beliefs.metrics)
        if wanted > widest:
            raise ValueError(
                f"`width` must be at most {widest:g}, the range of the metric; got {wanted:g}. 10% is 0.1."
            )
        goal = Goal(beliefs.ci_prob, wanted)
    else:
        goal = Goal(one_sided(beliefs.ci_prob), lower=validate.number("lower", lower, 0, np.inf))
    if prevalence is None:
        found = of_proportions(beliefs, goal, level)
    else:
        found = of_tests(beliefs, beliefs.test(prevalence, fixed_totals), goal, level)
    count = len(beliefs.metrics)
    sizes, reached = zip(*found.sizes, strict=True)
    extra: dict[str, Any] = dict(zip(("n_items_together", "assurance_together"), found.together, strict=False))
    if unit_size is not None:
        units = [units_for(n, design, unit_size, level) for n in sizes]
        extra |= {"n_units": (METRIC, units, {"long_name": "Units", "units": "1"})}
        sizes = tuple(math.ceil(n * unit_size) for n in units)
        if found.together:
            extra["n_items_together"] = math.ceil(units_for(found.together[0], design, unit_size, level) * unit_size)
    return xr.Dataset(
        {
            "n_items": (METRIC, list(sizes), {"long_name": "Items", "units": "1"}),
            "assurance": (METRIC, list(reached), {"long_name": "Probability of such an interval", "units": "1"}),
            "rule": (METRIC, np.full(count, np.ceil(4 / goal.width**2)), {"long_name": "Items by the rule 2/sqrt(n)"}),
            "formula": (METRIC, found.formula, {"long_name": "Items by the formula of protocols"}),
            "formula_assurance": (METRIC, found.by_formula, {"long_name": "Probability of it after these"}),
            "about": (METRIC, found.about),
            **extra,
        },
        coords=coordinates(beliefs.metrics, (0, 1)),
        attrs=attributes(
            width=width, **({} if lower is None else {"lower": lower}), wanted_assurance=level, mode=mode,
            concentration=concentration, pilot=pilot,
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
    method: str | None = None,
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
    method, mode, concentration, pilot, prevalence, fixed_totals, **analysis
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
    beliefs = Beliefs.read(metrics, mode, concentration, pilot, method, **analysis)
    if beliefs.by_formula:
        raise ValueError(f"`method`={method!r} finds the items for a width: take bayescm.sample_size.")
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
