"""An area under the ROC curve of which only the number, the cases and the controls are printed."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.curves.area_report import METHOD
from bayescm.curves.delong import exponential
from bayescm.data import validate
from bayescm.data.assumptions import EACH_CLASS, TEST_SET
from bayescm.data.schema import CI_BOUND, attributes
from bayescm.priors.reported import Rounding, ends_of, number_as_printed
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

METHODS = ("hanley_mcneil", "least", "most")


@stamped
def auc_from_reported(
    auc: float | str,
    *,
    cases: int,
    controls: int,
    decimals: int | None = None,
    rounding: Rounding = "nearest",
    ci_prob: float = 0.95,
) -> xr.Dataset:
    """Give a printed area under the ROC curve an interval, without the scores.

    Parameters
    ----------
    auc : number or str
        As it is printed: 0.87, "0.870", "87%".
    cases, controls : int
        Positive and negative items.
    decimals, rounding
        As in :func:`bayescm.from_reported`.
    ci_prob : float
        Level of the intervals.

    Returns
    -------
    xarray.Dataset
        Over ``ci_method``: ``point``, ``se`` and ``interval(ci_bound)`` on the logistic scale, from the lowest area
        that is rounded to what is printed to the highest. "hanley_mcneil": the standard error of exponential scores.
        "least" and "most": the smallest and the largest that any distributions of scores without ties have, so that
        the true one lies between. NaN at an area of 0 or 1.

    Raises
    ------
    ValueError
        For cases or controls that aren't positive integers.

    Notes
    -----
    The variance of an area A of n cases and m controls is [A(1 - A) + (n - 1) V + (m - 1) W] / (nm) with the variances
    V and W of placements. With the share h(u) of cases above the u-th quantile of controls, largest first, they are
    int h^2 - A^2 and 2 int u h - A^2: least at h(u) = (c - (m - 1) u) / (n - 1), cut to [0, 1]. The most is that of a
    proportion of the smaller class (Birnbaum and Klose 1957).

    References
    ----------
    Hanley and McNeil 1982, Radiology 143; Birnbaum and Klose 1957, Annals of Mathematical Statistics 28.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.curves.auc_from_reported("0.87", cases=40, controls=60)
    >>> found["interval"].values.round(2)
    array([[0.77, 0.93],
           [0.78, 0.93],
           [0.72, 0.95]])
    """
    n, m = validate.positive_integer("cases", cases), validate.positive_integer("controls", controls)
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    value, unit = number_as_printed("auc", auc, decimals)
    ends = np.clip(ends_of(value, unit, rounding), 0.0, 1.0)
    z = special.ndtri(0.5 + 0.5 * prob)
    rows = []
    for method in METHODS:
        (low, high), point = (np.sqrt(variance(a, n, m, method)) for a in (ends, np.array([value])))
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = z * np.array([-low, high]) / (ends * (1.0 - ends))
            bounds = special.expit(special.logit(ends) + scale)
        inside = 0.0 < value < 1.0
        rows.append([point[0] if inside else np.nan, *(np.clip(bounds, 0.0, 1.0) if inside else (np.nan, np.nan))])
    table = np.array(rows)
    return xr.Dataset(
        {
            "point": (METHOD, np.full(len(METHODS), value)),
            "se": (METHOD, table[:, 0]),
            "interval": ((METHOD, CI_BOUND), table[:, 1:]),
            "clipped": ((METHOD, CI_BOUND), np.zeros((len(METHODS), 2), bool)),
        },
        coords={METHOD: list(METHODS), CI_BOUND: ["lower", "upper"]},
        attrs=attributes(
            cases=n, controls=m, method=list(METHODS), ci_prob=prob, ci_kind="confidence", rounding=rounding,
            assumptions=f"{EACH_CLASS}; scores without ties; {TEST_SET}",
        ),
    )  # fmt: skip


def variance(area: Array, n: int, m: int, method: str) -> Array:
    """Return the variance of areas with n cases and m controls."""
    rest = area * (1.0 - area)
    if method == "most":
        return np.asarray(rest / min(n, m))
    if method == "hanley_mcneil":
        return np.asarray(exponential(area, n, m))
    least = np.array([_least(float(a), n - 1, m - 1) for a in area])
    return np.asarray((rest + least) / (n * m))


def _least(area: float, n: int, m: int) -> float:
    """Return the least n V + m W."""
    if n == 0 or m == 0:
        return 0.0  # a flat, or a steep, curve has it
    grid = np.linspace(0.0, 1.0, 4001)

    def curve(c: float) -> Array:
        return np.clip((c - m * grid) / n, 0.0, 1.0)

    low, high = 0.0, float(n + m)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.trapezoid(curve(middle), grid) > area else (middle, high)
    h = curve(0.5 * (low + high))
    return float(n * np.trapezoid(h**2, grid) + 2.0 * m * np.trapezoid(grid * h, grid) - (n + m) * area**2)
