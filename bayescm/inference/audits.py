"""Metrics of items of which only some were checked: exact where a distribution is known, else by draws."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import strata, validate
from bayescm.data.assumptions import of_model
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import LABEL, METRIC, attributes, labels_of, positive_class
from bayescm.distributions import strata as groups
from bayescm.distributions.discrete import Discrete
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.tabulated import DOUBTFUL, Tabulated
from bayescm.inference import tables
from bayescm.metrics import Metric, MetricLike, MetricsLike, compute, describe, per_label, resolve
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

Array = NDArray[np.float64]


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
    """Return the summary of an audit: see :func:`bayescm.summary`."""
    of, posterior, labels = _read(counts, prior, prevalence)
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    kind = validate.choice("ci_kind", ci_kind, ("hdi", "eti"))
    seed = validate.seed(random_seed)
    samples = validate.draws(samples)
    resolved = resolve(metrics, len(labels))
    exact = {m.name: dist for m in resolved if (dist := groups.exact_of(m, posterior)) is not None}
    found = {name: dist.statistics(prob, kind) for name, dist in exact.items()}
    for name, dist in exact.items():
        if isinstance(dist, Tabulated) and (found[name]["error"] > DOUBTFUL).any():
            del found[name]
    for metric in resolved:
        if (dists := groups.items_of(metric, posterior)) is not None:
            found[metric.name] = _of_items(metric, dists, len(labels), prob, kind)
    known = list(found)
    drawn = [metric for metric in resolved if metric.name not in found]
    found |= _of_draws(drawn, posterior, samples, matrix_rng(seed, 0, Stream.AUDIT), prob, kind)
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
    dist = groups.exact_of(resolved, posterior)
    if dist is None:
        raise ValueError(
            f"`metric`: no exact distribution of {resolved.name} is known for this audit (of={of.of!r}). Exact are, "
            "for totals by predicted class alone, most metrics of two labels, and of more what is a ratio of linear "
            "forms at of='population'; for several strata shares of cells at of='population'. bayescm.summary and "
            "bayescm.posterior answer by draws."
        )
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
    """Return the statistics of metrics by draws, of which blocks are made."""
    if not metrics:
        return {}
    values: list[list[Array]] = []
    block = max(2**21 // posterior.cells.size, 1)
    for start in range(0, samples, block):
        theta = groups.draw(posterior, rng, min(block, samples - start))[2]
        values.append(compute(metrics, theta))
    draws = (np.concatenate(parts) for parts in zip(*values, strict=True))
    found = {metric.name: tables.of_draws(metric, one, prob, kind) for metric, one in zip(metrics, draws, strict=True)}
    for metric in metrics:
        no_mean, no_variance = groups.without_moments(metric, posterior)
        statistics = found[metric.name]
        if no_mean or no_variance:
            statistics |= {"sd": np.array(np.nan if no_mean else np.inf), "mcse_mean": np.array(np.nan)}
        if no_mean:
            statistics["mean"] = np.array(np.inf)
    return found


def _of_items(metric: Metric, dists: list[Discrete], n_labels: int, prob: float, kind: str) -> dict[str, Any]:
    """Return the statistics of these items alone: a number, or one for every class."""
    several = [dist.statistics(prob, kind) | {"is_hdi": kind == "hdi"} for dist in dists]
    if any(0.0 < dist.undefined < 1.0 for dist in dists):
        validate.warn(f"These items may leave {metric.name} undefined (0/0); what is said is for where it isn't.")
    each = {name: np.array([one[name] for one in several]) for name in several[0]}
    return each if per_label(metric, n_labels) else {name: values[0] for name, values in each.items()}
