"""The multinomial assumption: whether the matrices of several hold-outs scatter as it says."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import stats

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.counts import check_counts, checked_when_computed
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import MATRIX, METRIC, attributes, batch_dim, labels_of, tables_by_matrix
from bayescm.metrics import Metric, MetricsLike, compute, coordinates, joined, resolve

Array = NDArray[np.float64]

_BLOCK = 2**20
"""Cells of the simulated tables in memory at once."""
_SAME = 1e-9
"""Statistics that differ by a smaller share of themselves are tied."""
_TEXTS = {
    "share": "Share of all items",
    "sd": "Standard deviation over the hold-outs",
    "sd_expected": "Standard deviation of independent items",
    "dispersion": "Variance divided by that of independent items",
    "p_value": "Two-sided p-value of the dispersion",
    "undefined": "Hold-outs without a value",
}


@takes_counts
def dispersion(
    counts: Any,
    metrics: MetricsLike = ("precision", "recall"),
    *,
    dim: str = "hold_out",
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Check the multinomial assumption: whether hold-outs scatter as independent items do.

    Every answer of this package from counts alone takes the items as independent. With several test sets of one
    classifier that can be looked at: the variance of each cell's share over the test sets, divided by the binomial
    variance p (1 - p) / n, is 1 on average if they are, more if the items of a test set are alike, less if the test
    sets were stratified or overlap.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., hold_out, actual, predicted)``: a matrix for each test set, none of which shares items with
        another. Their sizes may differ. May be lazy (dask).
    metrics
        As in :func:`bayescm.summary`: the scatter of these is looked at, too.
    dim : str
        The dim of the test sets.
    draws : int
        Tables that are simulated for the p-values, at least 1000.
    random_seed : int, numpy.random.Generator or None

    Returns
    -------
    xarray.Dataset
        Over ``actual`` and ``predicted``, of the shares of the cells: ``share`` of all items together, ``cell_sd`` over
        the hold-outs, ``cell_sd_expected``, ``cell_dispersion`` and ``cell_p_value``. Over ``metric``: ``metric_sd``,
        ``metric_sd_expected``, ``metric_dispersion``, ``metric_p_value`` and ``undefined``, the number of hold-outs
        where a metric is 0/0, which are left out. Of all cells together: ``dispersion``, Pearson's statistic divided
        by its degrees of freedom, and ``p_value``. NaN where nothing varies: a cell that is always empty.

    Raises
    ------
    ValueError
        If `dim` isn't a dim of `counts`, or there are fewer than two hold-outs with items.

    Notes
    -----
    The p-values need no large counts: under the assumption, and given the sum of all matrices and the sizes of the
    hold-outs, every table of hold-outs by cells has a known probability; `draws` of them are drawn. A p-value is two
    times the smaller tail, the observed table counted as one of the draws.

    A large p-value is no proof: five hold-outs show a doubled variance in half of the cases. Hold-outs drawn again
    and again from one pool of N items aren't independent: with a fixed classifier their dispersion is near 1 - n / N.
    If the classifier is trained anew for each, the variance of training is in it as well. What makes all hold-outs
    alike, such as one hospital, isn't seen.

    References
    ----------
    Urlus et al. 2023, Pointwise sampling uncertainties on the precision-recall curve, appendix B, Figs 5 and 6. Fisher
    1950, The significance of deviations from expectation in a Poisson series.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescm
    >>> tables = np.random.default_rng(1).multinomial(500, [0.4, 0.1, 0.1, 0.4], size=100).reshape(-1, 2, 2)
    >>> counts = bayescm.from_array(tables, dims="hold_out")
    >>> found = bayescm.calibration.dispersion(counts, random_seed=1)
    >>> found.dispersion.round(2).item(), found.p_value.round(1).item()
    (0.9, 0.2)
    """
    checked = check_counts(counts)
    batch_dim(checked, dim)
    checked = checked_when_computed(checked.transpose(..., dim, *MATRIX))
    labels = labels_of(checked)
    resolved = resolve(metrics, len(labels))
    coords = coordinates(resolved, labels)
    draws, seed = validate.draws(draws), validate.seed(random_seed)
    of_cells, of_metrics = {name: len(labels) for name in MATRIX}, {METRIC: len(coords[METRIC])}
    sizes: dict[str, dict[str, int]] = {
        "share": of_cells,
        **{f"cell_{name}": of_cells for name in ("sd", "sd_expected", "dispersion", "p_value")},
        **{f"metric_{name}": of_metrics for name in ("sd", "sd_expected", "dispersion", "p_value")},
        "undefined": of_metrics, "dispersion": {}, "p_value": {},
    }  # fmt: skip

    def kernel(tables: NDArray[np.int64], index: NDArray[np.int64]) -> dict[str, Any]:
        plain = tables.reshape(-1, *tables.shape[-3:])
        found = [
            _of_one(one, resolved, draws, matrix_rng(seed, int(i), Stream.HOLD_OUTS))
            for one, i in zip(plain, index.ravel(), strict=True)
        ]
        return {name: np.array([one[name] for one in found]) for name in sizes}

    tables = tables_by_matrix(kernel, checked, sizes, core=(dim, *MATRIX))
    attrs = attributes(dim=dim, draws=draws, random_seed=seed, assumptions=assumed())
    data = xr.Dataset(tables, attrs=attrs).assign_coords({name: checked[name] for name in MATRIX} | coords)
    for name in sizes:
        data[name].attrs = {"long_name": _TEXTS[name.removeprefix("cell_").removeprefix("metric_")]}
    return data


def _of_one(tables: NDArray[np.int64], metrics: list[Metric], draws: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the answers for the matrices (hold-outs, K, K) of one classifier."""
    tables = tables[tables.sum((-2, -1)) > 0]
    if len(tables) < 2:
        raise ValueError(f"`counts` has {len(tables)} hold-outs with items; scatter needs at least two.")
    n, totals = tables.sum((-2, -1)), tables.sum(0)
    share = totals / n.sum()
    expected = np.sqrt(share * (1 - share) * (1 / n).mean())
    cells, whole, variances = _scatter(tables[None], metrics)
    drawn = [_scatter(part, metrics) for part in _simulated(n, totals, draws, rng)]
    drawn_cells, drawn_whole, drawn_variances = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    usual = _mean(drawn_variances)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(usual > 0, variances[0] / usual, np.nan)
    values = _values(tables[None], metrics)[0]
    return {
        "share": share,
        "cell_sd": np.sqrt(((tables / n[:, None, None] - share) ** 2).sum(0) / (len(n) - 1)),
        "cell_sd_expected": expected,
        "cell_dispersion": cells[0],
        "cell_p_value": _p_value(cells[0], drawn_cells),
        "metric_sd": np.sqrt(variances[0]),
        "metric_sd_expected": np.sqrt(usual),
        "metric_dispersion": ratio,
        "metric_p_value": np.where(np.isnan(ratio), np.nan, _p_value(variances[0], drawn_variances)),
        "undefined": np.isnan(values).sum(0),
        "dispersion": whole[0],
        "p_value": _p_value(whole[0], drawn_whole),
    }


def _simulated(
    n: NDArray[np.int64], totals: NDArray[np.int64], draws: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Draw tables (draws, hold-outs, K, K) of independent items, given both sums, in blocks."""
    table = stats.random_table(n, totals.ravel(), seed=rng)
    at_once = max(1, _BLOCK // (len(n) * totals.size))
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        yield table.rvs(size).astype(np.int64).reshape(size, len(n), *totals.shape)


def _scatter(tables: NDArray[np.int64], metrics: list[Metric]) -> tuple[Array, Array, Array]:
    """Return dispersions of cells (tables, K, K) and of all (tables,), and variances of metrics (tables, metrics).

    All tables (tables, hold-outs, K, K) have the same sums.
    """
    n, totals = tables[0].sum((-2, -1)), tables[0].sum(0)
    share = totals / n.sum()
    expected = n[:, None, None] * share
    squares = (tables - expected) ** 2
    degrees = len(n) - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        cells = (squares / (expected * (1 - share))).sum(1) / degrees
        pearson = np.where(expected > 0, squares / expected, 0.0).sum((1, 2, 3))
        whole = pearson / (degrees * ((totals > 0).sum() - 1))
    values = _values(tables, metrics)
    there = ~np.isnan(values)
    count = there.sum(1)
    mean = np.where(there, values, 0.0).sum(1) / np.maximum(count, 1)
    spread = np.where(there, (values - mean[:, None]) ** 2, 0.0).sum(1)
    return cells, whole, np.where(count > 1, spread / np.maximum(count - 1, 1), np.nan)


def _values(tables: NDArray[np.int64], metrics: list[Metric]) -> Array:
    """Return metrics (tables, hold-outs, metrics), NaN where they are undefined or infinite."""
    values = joined(metrics, compute(metrics, tables), tables.shape[-1])
    return np.where(np.isfinite(values), values, np.nan)


def _mean(values: Array) -> Array:
    """Return means over the first axis of what is defined, NaN where nothing is."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(0)
    return np.where(there.any(0), total / np.maximum(there.sum(0), 1), np.nan)


def _p_value(observed: Array, drawn: Array) -> Array:
    """Return two-sided p-values; NaN where the statistic is undefined."""
    margin = _SAME * np.maximum(1e-300, np.abs(observed))
    above = 1 + (drawn >= observed - margin).sum(0)
    below = 1 + (drawn <= observed + margin).sum(0)
    found = np.minimum(1.0, 2.0 * np.minimum(above, below) / (1 + (~np.isnan(drawn)).sum(0)))
    return np.where(np.isnan(observed), np.nan, found)
