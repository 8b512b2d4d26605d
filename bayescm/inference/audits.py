"""Metrics of items of which only some were checked: exact where a distribution is known, else by draws."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import strata, validate
from bayescm.data.assumptions import of_model
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import LABEL, METRIC, TOTALS, attributes, labels_of, positive_class
from bayescm.distributions import strata as groups
from bayescm.distributions.discrete import DiscreteDistribution
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.tabulated import DOUBTFUL, Tabulated
from bayescm.inference import tables
from bayescm.metrics import Metric, MetricLike, MetricsLike, compute, describe, per_label, resolve
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

Array = NDArray[np.float64]

_OF_EACH = (TOTALS, "checked")  # attrs that say what was known of each of several audits


def summarise(
    counts: xr.DataArray,
    metrics: MetricsLike,
    prior: PriorLike,
    prevalence: PrevalenceLike,
    ci_prob: float,
    ci_kind: str,
    samples: int,
    random_seed: int | np.random.Generator | None,
) -> xr.Dataset:
    """Return the summary of an audit, or of each of several: see :func:`bayescm.summary`."""
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    kind = validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    seed, samples = validate.seed(random_seed), validate.draws(samples)
    return each(counts, lambda one, i: _summary(one, metrics, prior, prevalence, prob, kind, samples, seed, i))


def each(counts: xr.DataArray, answer: Callable[[xr.DataArray, int], xr.Dataset], start: int = 0) -> xr.Dataset:
    """Return the answer for an audit and its number, or the answers for several over their batch dims."""
    if not (batch := strata.batch_dims(counts)):
        return answer(counts, start)
    dim, size = batch[0], int(np.prod([counts.sizes[other] for other in batch[1:]]))
    coords = {str(name): c.variable for name, c in counts.coords.items() if c.dims == (dim,) and name != TOTALS}
    names = counts[dim].values.tolist()
    parts = [each(counts.isel({dim: i}), answer, start + i * size) for i in range(len(names))]
    parts = [part.drop_vars([name for name in coords if name in part.coords]) for part in parts]
    methods = [part["method"] for part in parts]
    same = all(method.identical(methods[0]) for method in methods)
    made = xr.concat([part.drop_vars("method") for part in parts], dim, data_vars="all", coords="minimal",
                     compat="override", combine_attrs="override")  # fmt: skip
    made["method"] = methods[0] if same else xr.concat(methods, dim)
    known = {name: [part.attrs[name] for part in parts] for name in _OF_EACH}
    of_each = {
        name: {
            str(one): json.loads(value) if isinstance(value, str) else value
            for one, value in zip(names, values, strict=True)
        }
        for name, values in known.items()
    }
    return made.assign_coords(coords).assign_attrs(parts[0].attrs | attributes(**of_each))


def _summary(
    counts: xr.DataArray,
    metrics: MetricsLike,
    prior: PriorLike,
    prevalence: PrevalenceLike,
    prob: float,
    kind: str,
    samples: int,
    seed: int,
    index: int,
) -> xr.Dataset:
    """Return the summary of one audit, the `index`-th of a batch."""
    of, posterior, labels = _read(counts, prior, prevalence)
    resolved = resolve(metrics, len(labels))
    exact = {m.name: dist for m in resolved if (dist := groups.exact_of(m, posterior)) is not None}
    found = {name: dist.statistics(prob, kind) for name, dist in exact.items()}
    for name, dist in exact.items():
        if isinstance(dist, Tabulated) and (found[name]["error"] > DOUBTFUL).any():
            del found[name]
    for metric in resolved:
        if (dist := of_items(metric, posterior)) is not None:
            warn_of_undefined(metric, dist)
            found[metric.name] = dist.statistics(prob, kind)
    known = list(found)
    rest = [metric for metric in resolved if metric.name not in found]
    found |= _of_draws(rest, posterior, samples, matrix_rng(seed, index, Stream.AUDIT), prob, kind)
    rows = tables.rows(found, resolved, compute(resolved, groups.plug_in(of)), len(labels))
    table = xr.DataArray(rows, dims=(METRIC, "statistic"))
    attrs = attrs_of(counts, prior) | attributes(ci_prob=prob, ci_kind=kind, samples=samples, random_seed=seed)
    return tables.dataset(table, resolved, labels, known, prob, kind, attrs)


def distribution(
    counts: xr.DataArray, metric: MetricLike, prior: PriorLike, prevalence: PrevalenceLike
) -> tuple[Metric, Distribution, xr.DataArray, dict[str, Any]]:
    """Return the parts of the exact distribution of a metric of an audit: see :func:`bayescm.metric_distribution`."""
    of, posterior, labels = _read(counts, prior, prevalence)
    resolved = resolve([metric], len(labels))[0]
    dist = distribution_of(resolved, posterior)
    if dist is None:
        raise ValueError(
            f"`metric`: no exact distribution of {resolved.name} is known for this audit (of={of.of!r}). Exact are, "
            "for totals by predicted class alone, most metrics of two labels, and of more what is a ratio of linear "
            "forms at of='population'; for several strata shares of cells at of='population'; at of='items' shares of "
            "whole groups, and of two labels all metrics of at most two million outcomes. bayescm.summary, "
            "bayescm.probability and bayescm.posterior answer by draws."
        )
    warn_of_undefined(resolved, dist)
    point = compute([resolved], groups.plug_in(of))[0]
    several = per_label(resolved, len(labels))
    labelled = xr.DataArray(
        point, dims=LABEL if several else (), coords={LABEL: labels} if several else {}, name=resolved.name,
        attrs=describe(resolved),
    )  # fmt: skip
    return resolved, dist, labelled, attrs_of(counts, prior)


def _read(
    counts: xr.DataArray, prior: PriorLike, prevalence: PrevalenceLike
) -> tuple[strata.Strata, groups.Groups, list[Any]]:
    """Return the audit, its posterior and its labels."""
    if prevalence is not None:
        raise ValueError(
            "`prevalence` isn't for an audit's summary, whose totals say how frequent a verdict is; leave it out. "
            "bayescm.posterior(counts, prevalence=...) exchanges it, draw by draw."
        )
    return *posterior_of(counts, prior), labels_of(counts)


def posterior_alone(counts: xr.DataArray, prior: PriorLike, prevalence: PrevalenceLike) -> groups.Groups:
    """Return the posterior of one audit, whose prevalence is its own."""
    return _read(counts, prior, prevalence)[1]


def posterior_of(counts: Any, prior: PriorLike) -> tuple[strata.Strata, groups.Groups]:
    """Return an audit and its posterior."""
    of = strata.read(counts)
    posterior = groups.posterior_of(of, groups.prior_of(of, prior, labels_of(counts)))
    groups.check_proper(posterior, of)
    return of, posterior


def attrs_of(counts: xr.DataArray, prior: PriorLike) -> dict[str, str | int | float]:
    """Say how an answer was made."""
    said = strata.settings(counts)
    return attributes(
        model=strata.MODEL, prior=prior, **said, **of_model(strata.MODEL, None, said), **positive_class(counts)
    )


def _of_draws(
    metrics: Sequence[Metric], posterior: groups.Groups, samples: int, rng: np.random.Generator, prob: float, kind: str
) -> dict[str, dict[str, Any]]:
    """Return the statistics of metrics by draws."""
    if not metrics:
        return {}
    draws = drawn(metrics, posterior, samples, rng)
    found = {metric.name: tables.of_draws(metric, one, prob, kind) for metric, one in zip(metrics, draws, strict=True)}
    for metric in metrics:
        no_mean, no_variance = groups.without_moments(metric, posterior)
        statistics = found[metric.name]
        if no_mean or no_variance:
            statistics |= {"sd": np.array(np.nan if no_mean else np.inf), "mcse_mean": np.array(np.nan)}
        if no_mean:
            statistics["mean"] = np.array(np.inf)
    return found


def drawn(metrics: Sequence[Metric], posterior: groups.Groups, samples: int, rng: np.random.Generator) -> list[Array]:
    """Return draws (draws, ...) of metrics, block by block, so that not all cells are held at once."""
    values: list[list[Array]] = []
    block = max(2**21 // posterior.cells.size, 1)
    for start in range(0, samples, block):
        theta = groups.draw(posterior, rng, min(block, samples - start))[2]
        values.append(compute(metrics, theta))
    return [np.concatenate(parts) for parts in zip(*values, strict=True)]


def distribution_of(metric: Metric, posterior: groups.Groups) -> Distribution | None:
    """Return the exact distribution of a metric, continuous or of these items alone, or None."""
    dist = groups.exact_of(metric, posterior)
    return of_items(metric, posterior) if dist is None else dist


def of_items(metric: Metric, posterior: groups.Groups) -> DiscreteDistribution | None:
    """Return the distribution of a metric of these items alone, or None where it has to be drawn."""
    dists = groups.items_of(metric, posterior)
    return None if dists is None else DiscreteDistribution(tuple(dists), per_label(metric, posterior.cells.shape[-1]))


def warn_of_undefined(metric: Metric, dist: Distribution) -> None:
    """Warn where these items may leave a metric without a value."""
    if isinstance(dist, DiscreteDistribution) and ((dist.undefined > 0.0) & (dist.undefined < 1.0)).any():
        validate.warn(f"These items may leave {metric.name} undefined (0/0); what is said is for where it isn't.")
