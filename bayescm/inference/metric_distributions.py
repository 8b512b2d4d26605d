"""metric_distribution(): a metric's exact distribution as an object."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import CI_BOUND, LABEL, attributes, interval_coordinate
from bayescm.distributions import Distribution
from bayescm.distributions.tabulated import DOUBTFUL
from bayescm.inference.blocks import Block
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import ModelOptions
from bayescm.inference.read import read
from bayescm.metrics import Metric, MetricLike, describe, per_label, resolve
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

Array = NDArray[np.float64]

NUMERICAL = "numerical"  # the attr `method` of a distribution that is found from a function alone
_GRID = 257
_ENDS = 5e-4  # probability beyond the grid of a density, on either side
_WORDS = {
    "pdf": "density of {}", "cdf": "P({} <= x)", "sf": "P({} > x)", "error": "relative error of the distribution of {}",
    "ppf": "quantile of {}",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class MetricDistribution:
    """The posterior distribution of one metric, with the method names of SciPy's and PreliZ's distributions.

    Made by :func:`bayescm.metric_distribution`. Every method returns a DataArray over the batch dims of the counts;
    arguments may be numbers, arrays (a new dim ``x`` or ``quantile`` behind the batch dims) or DataArrays.

    Parameters
    ----------
    metric : Metric
    posterior : Posterior
    point : xarray.DataArray
        The metric of the counts themselves, and the batch dims with their coordinates; lazy where these are.
    attrs : dict
        How it was made.

    Examples
    --------
    >>> import bayescm
    >>> f1 = bayescm.metric_distribution(bayescm.from_cells(tp=10, fn=5, fp=10, tn=100), "f1")
    >>> f1.ppf([0.025, 0.975]).values.round(4)
    array([0.364, 0.738])
    """

    metric: Metric
    posterior: Posterior
    point: xr.DataArray
    attrs: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Name the metric and the distribution behind it."""
        numerical = self.attrs.get("method") == NUMERICAL
        kind = "lazy" if self.point.chunks is not None else self.dist.words
        kind = "numerical, from its function: error() says how good" if numerical else kind
        sizes = ", ".join(f"{dim}: {size}" for dim, size in self.point.sizes.items())
        return (
            f"<bayescm.inference.MetricDistribution of {self.metric.name} ({kind}){' over ' + sizes if sizes else ''}>"
        )

    def plot(self, **options: Any) -> Any:
        """Draw the distribution: see :func:`bayescm.plots.plot_distribution`."""
        return importlib.import_module("bayescm.plots").plot_distribution(self, **options)

    @property
    def dist(self) -> Distribution:
        """The distribution as plain numbers, one of :mod:`bayescm.distributions`; computed."""
        return self.posterior.whole()[0].answer(self.metric)

    @property
    def _classes(self) -> dict[str, int]:
        """The dim of a metric that each class has."""
        return {LABEL: self.point.sizes[LABEL]} if LABEL in self.point.dims else {}

    def _asked(self, question: Callable[[Distribution], Any], words: str) -> xr.DataArray:
        """Ask the distribution of every matrix for one number."""
        sizes = self._classes

        def kernel(block: Block) -> Array:
            return np.broadcast_to(question(block.answer(self.metric)), (*block.shape, *sizes.values()))

        return self._labelled(self.posterior.map(kernel, sizes), words)

    def _labelled(self, table: xr.DataArray, words: str) -> xr.DataArray:
        """Give a table its class labels and its name."""
        found = table.assign_coords({name: c for name, c in self.point.coords.items() if LABEL in c.dims})
        attrs = {**self.point.attrs, "long_name": words.format(self.metric.title)}
        return found.rename(self.metric.name).assign_attrs(attrs)

    def _over(self, argument: Any, dim: str, name: str) -> xr.DataArray:
        """Call a method of the distribution at arguments of any shape."""
        if isinstance(argument, xr.DataArray):
            wanted = argument.astype(np.float64)
        else:
            values = np.asarray(argument)
            if values.dtype.kind not in "iuf":
                raise TypeError(f"`{dim}` must be numbers; got {argument!r}.")
            if values.ndim > 1:
                raise ValueError(f"`{dim}` must be a number, one-dimensional or a DataArray; got shape {values.shape}.")
            wanted = xr.DataArray(values, dims=[dim] * values.ndim, coords={dim: values} if values.ndim else {})
        _, wanted = xr.broadcast(self.point, wanted)
        batch = [one for one in self.point.dims if one != LABEL]
        wanted = wanted.transpose(*self.point.dims, ...)
        n = wanted.ndim - self.point.ndim
        ends, starts = range(-n, 0), range(n)  # further dims first: more points for each matrix

        def kernel(block: Block, at: Array) -> Array:
            points = np.moveaxis(at, ends, starts)
            found = getattr(block.answer(self.metric), name)(points)
            return np.moveaxis(np.broadcast_to(found, points.shape), starts, ends)

        sizes = {str(one): size for one, size in wanted.sizes.items() if one not in batch}
        result = self.posterior.map(kernel, sizes, wanted).assign_coords(wanted.coords).rename(self.metric.name)
        result.attrs = {"long_name": _WORDS[name].format(self.metric.title), "units": "1"}
        return result

    def pdf(self, x: ArrayLike | xr.DataArray) -> xr.DataArray:
        """Return the density at x, to 2e-5 or better between the quantiles .01 and .99."""
        return self._over(x, "x", "pdf")

    def cdf(self, x: ArrayLike | xr.DataArray) -> xr.DataArray:
        """Return P(metric <= x)."""
        return self._over(x, "x", "cdf")

    def sf(self, x: ArrayLike | xr.DataArray) -> xr.DataArray:
        """Return P(metric > x), with full relative precision where it is small."""
        return self._over(x, "x", "sf")

    def error(self, x: ArrayLike | xr.DataArray) -> xr.DataArray:
        """Return an upper estimate of the relative error of cdf and sf above 1e-30; 0 for a closed form."""
        return self._over(x, "x", "error")

    def ppf(self, q: ArrayLike | xr.DataArray) -> xr.DataArray:
        """Return the quantile at probability q."""
        values = np.asarray(q)
        if values.dtype.kind not in "iuf" or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"`q` must be probabilities from 0 to 1; got {q!r}.")
        return self._over(q, "quantile", "ppf")

    def mean(self) -> xr.DataArray:
        """Return the mean; infinite where the table of metrics says that there is none."""
        return self._asked(lambda dist: dist.mean(), "mean of {}")

    def median(self) -> xr.DataArray:
        """Return the median."""
        return self._asked(lambda dist: dist.ppf(0.5), "median of {}")

    def std(self) -> xr.DataArray:
        """Return the standard deviation; infinite, or NaN without a mean, where there is none."""
        return self._asked(lambda dist: dist.sd(), "standard deviation of {}")

    def var(self) -> xr.DataArray:
        """Return the variance."""
        return self._asked(lambda dist: dist.sd() ** 2, "variance of {}")

    def eti(self, prob: float = 0.95) -> xr.DataArray:
        """Return the equal-tailed interval over a new last dim ``ci_bound``."""
        return self._interval(prob, "eti")

    def hdi(self, prob: float = 0.95) -> xr.DataArray:
        """Return the highest-density interval over ``ci_bound``; equal-tailed where that isn't unique."""
        return self._interval(prob, "hdi")

    def _interval(self, prob: float, kind: str) -> xr.DataArray:
        prob = validate.number("prob", prob, 0, 1)
        table = self.posterior.map(
            lambda block: self._ends(block.answer(self.metric), block.shape, prob, kind), self._classes | {CI_BOUND: 2}
        )
        found = self._labelled(table, f"{100 * prob:g}% {kind.upper()} of {{}}")
        return found.assign_coords({CI_BOUND: interval_coordinate(prob, kind)})

    def _ends(self, dist: Distribution, batch: tuple[int, ...], prob: float, kind: str) -> Array:
        """Return the bounds of an interval, and say so where its tails aren't right."""
        found = dist.interval(prob, kind)
        if dist.worst > DOUBTFUL * (1.0 - prob) / 2.0:
            error = max(float(np.max(dist.error(end))) for end in found)
            if error > DOUBTFUL:
                validate.warn(f"the tails of {self.metric.name} beyond its interval are right to {error:.0%} only.")
        shape = (*batch, *self._classes.values())
        return np.stack([np.broadcast_to(end, shape) for end in found], -1)

    def to_dataset(self, ci_prob: float = 0.95, ci_kind: str = "eti", points: int = _GRID) -> xr.Dataset:
        """Return everything that a picture or a report of the distribution needs.

        Parameters
        ----------
        ci_prob : float
        ci_kind : {"eti", "hdi"}
        points : int
            Of the grid, from the quantile .0005 to .9995 (or the edge of the range, where the density doesn't vanish);
            in even steps, or for a metric without an upper limit in even ratios.

        Returns
        -------
        xarray.Dataset
            ``point``, ``mean``, ``median``, ``sd``, ``interval(ci_bound)`` and ``ci_kind`` over the batch dims; ``x``,
            ``pdf`` and ``cdf`` also over ``grid``.
        """
        ci_prob = validate.number("ci_prob", ci_prob, 0, 1)
        ci_kind = validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
        points = validate.positive_integer("points", points)
        classes = self._classes

        def kernel(block: Block) -> dict[str, Any]:
            dist, shape = block.answer(self.metric), (*block.shape, *classes.values())
            grid = self._grid(dist, points)
            cdf, pdf = dist.on_grid(grid)
            found = dist.statistics(ci_prob, ci_kind)
            found["interval"] = np.stack([np.broadcast_to(found[end], shape) for end in ("lower", "upper")], -1)
            on_grid = {"x": grid, "pdf": pdf, "cdf": cdf}
            found |= {name: np.moveaxis(np.broadcast_to(one, grid.shape), 0, -1) for name, one in on_grid.items()}
            return {name: np.broadcast_to(one, shape) if np.ndim(one) == 0 else one for name, one in found.items()}

        sizes = dict.fromkeys(("mean", "median", "sd", "is_hdi"), classes) | {"interval": classes | {CI_BOUND: 2}}
        sizes |= dict.fromkeys(("x", "pdf", "cdf"), classes | {"grid": points})
        words = {"interval": "interval of {}", "x": "{}", "pdf": _WORDS["pdf"], "cdf": _WORDS["cdf"]}
        tables = {
            name: self._labelled(table, words.get(name, f"{name} of {{}}"))
            for name, table in self.posterior.tables(kernel, sizes).items()
        }
        is_hdi = tables.pop("is_hdi").drop_attrs() > 0
        dataset = xr.Dataset(
            {"point": self.point, **tables, "ci_kind": xr.where(is_hdi, "hdi", "eti")},  # type: ignore[no-untyped-call]
            attrs={**self.attrs, "metric": self.metric.name, "title": self.metric.title},
        ).assign_coords({CI_BOUND: interval_coordinate(ci_prob, ci_kind)})
        return dataset.assign_attrs({"ci_prob": ci_prob, "ci_kind": ci_kind})

    def _grid(self, dist: Distribution, points: int) -> Array:
        """Return points (points, ...) between which nearly all of a distribution lies."""
        low, high = dist.ppf(_ENDS), dist.isf(_ENDS)
        span = high - low
        if np.isfinite(self.metric.lower) and np.isfinite(self.metric.upper):
            low = np.where(low - self.metric.lower < 0.02 * span, self.metric.lower, low)
        if np.isfinite(self.metric.upper):
            high = np.where(self.metric.upper - high < 0.02 * span, self.metric.upper, high)
        share = (np.arange(points) + 0.5) / points  # a density may be infinite at edges
        share = share.reshape(-1, *[1] * np.ndim(low))
        unbounded = self.metric.lower == 0.0 and np.isinf(self.metric.upper)
        return np.asarray(low * (high / low) ** share if unbounded else low + (high - low) * share)


@takes_counts
def metric_distribution(
    counts: Any,
    metric: MetricLike,
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
) -> MetricDistribution:
    """Return the posterior distribution of a metric: exact where it is known, else by draws.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)`` of two labels; for metrics that are Beta variables of more labels too. Of
        lazy counts (dask) every answer is lazy. Those of :func:`bayescm.audited` are answered for all items; of these
        items alone (``of="items"``) the metric has finitely many values, and no density.
    metric : str, Metric or callable
        One metric, as in :func:`bayescm.summary`.
    model, prior, prevalence, draws, random_seed, **options
        As in :func:`bayescm.summary`.

    Returns
    -------
    MetricDistribution
        With ``pdf cdf sf ppf mean median var std hdi eti error`` and ``to_dataset()``. The attr ``method`` is "exact",
        "numerical" for a function of one's own, or "draws": of more than two classes for most averages (each draw is an
        exact distribution where one Beta can be integrated out), and for functions that aren't monotone in recall and
        specificity.

    Raises
    ------
    ValueError
        For an unknown metric, model or prior, or a prior that leaves the posterior improper.

    Notes
    -----
    A closed form where there is one; else the mean of a Beta's cdf over one or two other Betas, by quadrature whose
    step is halved until two answers agree (``error`` is their difference). See the page on theory. The distribution of
    a function of one's own, monotone in recall and in specificity, is found from the function alone: slower (some
    tenths of a second for a matrix) and good to 1e-4 or so, not exact; ``error`` says how far it came. `summary`,
    made for many metrics of many matrices, answers such a function by draws.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> mcc = bayescm.metric_distribution(counts, "mcc")
    >>> mcc
    <bayescm.inference.MetricDistribution of matthews_correlation (2 integrals)>
    >>> float(mcc.sf(0.5).round(6))
    0.974012
    >>> mcc.hdi(0.9).values.round(3)
    array([0.592, 0.953])
    """
    posterior = read(
        counts, model=model, prior=prior, prevalence=prevalence, draws=draws, random_seed=random_seed, **options
    )
    resolved = resolve([metric], len(posterior.labels))[0]
    several = per_label(resolved, len(posterior.labels))

    def kernel(block: Block) -> Array:
        block.check([resolved])
        return block.points([resolved])[0]

    point = posterior.map(kernel, {LABEL: len(posterior.labels)} if several else {})
    if several:
        point = point.assign_coords({LABEL: list(posterior.labels)})
    point = point.rename(resolved.name).assign_attrs(describe(resolved))
    methods = set(posterior.by_structure(lambda block: [block.method(resolved)], "_").values.flat)
    method = methods.pop() if len(methods) == 1 else "draws"
    found = MetricDistribution(resolved, posterior, point, attributes(**dict(posterior.settings), method=method))
    if point.chunks is None:
        found.dist.warn_undefined(resolved.name)
    return found
