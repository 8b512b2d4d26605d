"""sample_size_of_auc(): how many items until an area under the ROC curve is known well enough, or told from another."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from scipy import optimize, special

from bayescm.curves.delong import exponential as hanley_mcneil
from bayescm.curves.delong import mann_whitney
from bayescm.data import validate
from bayescm.data.assumptions import EACH_CLASS, OWN_ITEMS, SAME_ITEMS, assumed
from bayescm.data.schema import attributes
from bayescm.distributions.beta_binomial import MOST
from bayescm.inference.proportions import normal_quantile
from bayescm.results.objects import stamped

_HIGHEST = 1.0 - 1e-9  # area
_LEAST = 2  # items of a class, to see how its scores vary


def binormal(auc: float, cases: float, controls: float) -> float:
    """Return the variance of an area of normal scores of equal spread.

    Q1 = Q2 is the probability of two normals of correlation 1/2.
    """
    h = special.ndtri(auc)
    both = float(auc - 2.0 * special.owens_t(h, 1.0 / np.sqrt(3.0)))
    return float(mann_whitney(auc, both, both, cases, controls))


def obuchowski(auc: float, cases: float, controls: float) -> float:
    """Return that of ratings of a binormal curve, by the printed approximation."""
    a, ratio = 1.414 * special.ndtri(auc), controls / cases
    return float(0.0099 * np.exp(-(a**2) / 2.0) * (5.0 * a**2 + 8.0 + (a**2 + 8.0) / ratio) / cases)


METHODS: dict[str, Callable[[float, float, float], float]] = {
    "binormal": binormal, "hanley_mcneil": hanley_mcneil, "obuchowski": obuchowski,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is wanted of an area, or of two."""

    auc: float
    other: float | None
    null: float
    correlation: float
    prevalence: float
    method: str
    z: float

    def sizes(self, cases: int) -> tuple[int, int]:
        """Return the cases and the controls that go with them."""
        return cases, max(round(cases * (1.0 - self.prevalence) / self.prevalence), 1)

    def errors(self, cases: int) -> tuple[float, float]:
        """Return the standard errors without a difference, and with the one that is planned for."""
        n, m = self.sizes(cases)
        variance = METHODS[self.method]
        if self.other is None:
            return float(np.sqrt(variance(self.null, n, m))), float(np.sqrt(variance(self.auc, n, m)))
        one, two = variance(self.auc, n, m), variance(self.other, n, m)
        alike = 2.0 * (1.0 - self.correlation) * variance((self.auc + self.other) / 2.0, n, m)
        return float(np.sqrt(alike)), float(np.sqrt(one + two - 2.0 * self.correlation * np.sqrt(one * two)))

    def width(self, cases: int) -> float:
        """Return the length of the interval of the area, or of the difference."""
        return 2.0 * self.z * self.errors(cases)[1]

    def power(self, cases: int) -> float:
        """Return the probability of a two-sided test to find the difference, on the side where it is."""
        without, planned = self.errors(cases)
        gap = abs(self.auc - (self.null if self.other is None else self.other))
        return float(special.ndtr((gap - self.z * without) / planned))


@stamped
def sample_size_of_auc(
    auc: float | None = None,
    other: float | None = None,
    *,
    width: float | None = None,
    null: float = 0.5,
    correlation: float | None = None,
    cases: int | None = None,
    prevalence: float | None = None,
    method: str = "binormal",
    assurance: float = 0.8,
    ci_prob: float = 0.95,
) -> xr.Dataset:
    """Return how many cases and controls an area under the ROC curve needs, or what a number of them will show.

    Parameters
    ----------
    auc : float, optional
        What is thought of the area. Left out, with `cases`: the least one that is told from `other`, or from `null`,
        with the assurance.
    other : float, optional
        That of a second system, which is to be told from the first.
    width : float, optional
        Wanted length of the interval of the area, or of the difference. Default: the areas are to be told apart.
    null : float
        The area that a single one is to be told from.
    correlation : float, optional
        For both systems on the SAME items: the correlation of the two areas, from -1 to 1 (of an earlier test by the
        ``covariance`` of :func:`bayescm.auc`). Default: each on items of its own.
    cases : int, optional
        Answer for that many cases (of each system) instead of searching for the least number.
    prevalence : float, optional
        Share of the cases among the items. Default: as many controls as cases.
    method : {"binormal", "hanley_mcneil", "obuchowski"}
        Variance of an area: of normal scores of equal spread, exact; of exponential scores; of ratings, the
        approximation of Obuchowski and McClish, which pROC uses.
    assurance : float
        Wanted probability to find the difference (power).
    ci_prob : float
        Level of the interval, and 1 - the two-sided level of the test.

    Returns
    -------
    xarray.Dataset
        ``cases``, ``controls`` and ``n_items`` (of each system, or common ones), ``width`` and ``assurance`` that they
        give. The assurance doesn't count a difference that is found the wrong way round; it is NaN, with the attr
        ``reason``, where there is none to find.

    Raises
    ------
    ValueError
        If there is nothing to tell apart, both `width` and `cases` are given, or more than a billion cases are needed.

    Notes
    -----
    Normal theory: the test rejects beyond z standard errors, those of two equal areas (their mean, or `null`), and
    the estimate varies with that of the areas as stated. DeLong's test takes the items' own standard error, which is
    nearly the same from some 30 items a class on; docs/planning.md compares them.

    References
    ----------
    Hanley and McNeil 1982, Radiology 143, and 1983, Radiology 148; Obuchowski and McClish 1997, Statistics in Medicine
    16, 1529-1542.

    Examples
    --------
    >>> import bayescm
    >>> plan = bayescm.planning.sample_size_of_auc(0.8, width=0.1)
    >>> int(plan.cases), int(plan.controls)
    (146, 146)
    >>> plan = bayescm.planning.sample_size_of_auc(0.85, 0.8, correlation=0.6)
    >>> int(plan.cases), round(float(plan.assurance), 3)
    (210, 0.802)
    >>> least = bayescm.planning.sample_size_of_auc(cases=41, prevalence=41 / 113, assurance=0.95)
    >>> round(least.attrs["auc"], 3)
    0.695
    """
    wanted = validate.number("assurance", assurance, 0, 1)
    if auc is None:
        if cases is None or width is not None:
            raise ValueError("`auc` is needed; it is found from `cases` alone: the least area that so many tell apart.")
        auc = _least_auc(_read(0.5, other, null, correlation, prevalence, method, ci_prob), cases, wanted)
    plan = _read(auc, other, null, correlation, prevalence, method, ci_prob)
    length = None if width is None else validate.number("width", width, 0, np.inf)
    if cases is not None and width is not None:
        raise ValueError("`width` and `cases` can't both be given: ask for the cases, or for what so many give.")
    apart = auc != (null if other is None else other)
    if length is None and cases is None and not apart:
        raise ValueError(f"`auc`={auc:g} is what it is to be told from; give another one, or a `width`.")
    if cases is not None:
        n = validate.positive_integer("cases", cases)
        if not _LEAST <= n <= MOST:
            raise ValueError(f"`cases` must be from {_LEAST} to {MOST:,}; got {n:,}.")
    elif length is not None:
        n = _least(lambda k: plan.width(k) <= length, "width", length)
    else:
        n = _least(lambda k: plan.power(k) >= wanted, "assurance", wanted)
    n, m = plan.sizes(n)
    named = {
        "cases": (n, "Cases"), "controls": (m, "Controls"), "n_items": (n + m, "Items"),
        "width": (plan.width(n), "Length of the interval"),
        "assurance": (plan.power(n) if apart else np.nan, "Probability to find the difference"),
    }  # fmt: skip
    design = {} if other is None else {"design": "independent" if correlation is None else "paired"}
    reason = {} if apart else {"reason": "there is no difference to find"}
    items = () if other is None else (OWN_ITEMS if correlation is None else SAME_ITEMS,)
    return xr.Dataset(
        {name: ((), value, {"long_name": text}) for name, (value, text) in named.items()},
        attrs=attributes(
            auc=plan.auc, **({"null": plan.null} if other is None else {"other": other, "correlation": correlation}),
            **design, **reason, wanted_width=length, wanted_assurance=wanted, prevalence=plan.prevalence, method=method,
            ci_prob=ci_prob, assumptions=assumed(None, *items, "areas as stated", items=EACH_CLASS),
        ),
    )  # fmt: skip


def _read(
    auc: object, other: object, null: object, correlation: object, prevalence: object, method: str, ci_prob: object
) -> _Plan:
    """Check what is asked."""
    if correlation is not None and other is None:
        raise ValueError("`correlation` is that of two areas: give the `other` one.")
    level = validate.number("ci_prob", ci_prob, 0, 1)
    share = 0.5 if prevalence is None else validate.number("prevalence", prevalence, 0, 1)
    together = 0.0 if correlation is None else validate.number("correlation", correlation, -1, 1)
    validate.choice("method", method, METHODS)
    return _Plan(
        validate.number("auc", auc, 0, 1), None if other is None else validate.number("other", other, 0, 1),
        validate.number("null", null, 0, 1), together, share, method, normal_quantile(level),
    )  # fmt: skip


def _least_auc(plan: _Plan, cases: object, wanted: float) -> float:
    """Return the least area that so many cases tell from a smaller one with the wanted probability."""
    n, start = validate.positive_integer("cases", cases), plan.null if plan.other is None else plan.other

    def lacks(auc: float) -> float:
        return replace(plan, auc=auc).power(n) - wanted

    if lacks(_HIGHEST) < 0.0:
        raise ValueError(f"`cases`={n} tell no area from {start:g} with probability {wanted:g}; give more.")
    return float(optimize.brentq(lacks, start, _HIGHEST, xtol=1e-12))


def _least(enough: Callable[[int], bool], name: str, value: float) -> int:
    """Return the least number of cases that is enough, where all larger ones are."""
    low, high = _LEAST - 1, _LEAST
    while not enough(high):
        if high >= MOST:
            raise ValueError(f"`{name}`={value:g} needs more than {MOST:,} cases; ask for less.")
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
