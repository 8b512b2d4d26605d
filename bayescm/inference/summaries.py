"""summary(): point, mean, median, sd and interval of every metric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.data import strata, validate
from bayescm.data.assumptions import assumed, of_runs
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import METRIC, ONE_CLASS, as_read, attributes, by_matrix, labels_of
from bayescm.distributions import dirichlet
from bayescm.distributions.tabulated import DOUBTFUL, Tabulated
from bayescm.inference import audits, averages, tables
from bayescm.metrics import Metric, MetricsLike, compute, multiclass, per_label, resolve
from bayescm.models import same_items
from bayescm.models.cell_draws import draws_of_answers
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, PriorLike, concentrations, resolved_prior
from bayescm.results.names import of_empty_classes
from bayescm.results.stamps import stamped

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is computed for every matrix."""

    metrics: tuple[Metric, ...]
    labels: tuple[Any, ...]
    prior: Concentrations
    prevalence: PrevalenceLike
    ci_prob: float
    ci_kind: str
    draws: int
    seed: int
    theta: Array | None = None
    """Draws (draws, systems, K, K) of systems that answered items several times."""
    exact: frozenset[str] = frozenset()
    """Names of the metrics that need no draws: the same for every matrix."""


@stamped
@takes_counts
def summary(
    counts: Any,
    metrics: MetricsLike = None,
    *,
    model: str = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    ci_prob: float = 0.95,
    ci_kind: str = "eti",
    samples: int = 40_000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Summarise the posterior of every metric.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``; a bare array is read as by :func:`bayescm.from_array`. May be lazy (dask).
        Right and wrong answers alone, ``{"correct": [...], "wrong": [...]}`` or from :func:`bayescm.from_inspect`, have
        an accuracy (and an error rate) and no other metric.
        Of an audit (:func:`bayescm.audited`) the answer is for all items, the default `model` then "stratified".
        Of answers kept one by one (:func:`bayescm.predictions`) each system's own; several runs of an item, or numbers
        of passes with ``runs=4``, are answered by draws, in which an item counts once.
    metrics : str, callable, sequence or mapping, optional
        Names (``"mcc"``, ``"f1_macro"``, ``"fbeta(beta=2)"``), functions of the cells (any of ``tp, fn, fp, tn`` by
        name, or one array of shape (..., K, K)), or a mapping of new names to these. Default: the usual ones.
    model : {"dirichlet_multinomial", "three_binomial"}
        One Dirichlet over all cells (Caelen 2017), or separate priors for the prevalence and for each class's rates
        (Toetsch and Hoffmann 2021).
    prior : str, number, array_like or mapping
        See :func:`bayescm.priors.concentrations.concentrations`.
    prevalence : None, "fixed", number or sequence
        Estimated; fixed by design at the observed shares; exchanged for a number; or for a Beta given by its two
        numbers, positives first. For K labels, K shares.
    ci_prob : float
        Probability of the interval.
    ci_kind : {"eti", "hdi"}
        Equal tails or highest density. Where the density has no single peak the interval is "eti", and the variable
        ``ci_kind`` says so.
    samples : int
        Draws for the metrics without an exact distribution: most averages over more than two labels; for two averages,
        functions whose distribution isn't known, and concentrations below 0.05. Averages that the attr ``integrated``
        names take fewer, to err less: each is an exact distribution of its own.
    random_seed : int, numpy.random.Generator or None
        Of those draws. Each position of a batch has a stream of its own.

    Returns
    -------
    xarray.Dataset
        Over ``(..., metric)``: ``point`` (of the counts, at the exchanged prevalence if there is one; NaN where it is
        0/0), ``mean``, ``median``, ``sd``, ``interval(ci_bound)``, ``width`` (length of the interval),
        ``mcse_mean`` and ``mcse_interval`` (0 where exact), ``error`` (estimated relative error of the probabilities
        behind an exact interval), ``ci_kind`` and ``method`` ("exact" or "draws"). For more than two labels a metric
        per class appears as ``recall[a]``, with the coordinate ``class_label``. The attr ``no_items`` names classes
        without items and the metrics that take in their recall, which is the prior's.

    Notes
    -----
    For two labels every metric of the table is exact: a closed form, or one or two integrals of one
    (:func:`bayescm.metric_distribution`). The first call on a machine compiles for about half a minute. A mean that
    doesn't exist is infinite: the mean of a likelihood ratio needs a concentration above 1 in its denominator's cell.

    References
    ----------
    Caelen 2017, eq. 6; Toetsch and Hoffmann 2021, eqs 8 to 11 and "Metric uncertainty equals credible interval
    length".

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> s = bayescm.summary(counts, ["recall", "specificity"], model="three_binomial", prior="laplace")
    >>> s.interval.values.round(2)
    array([[0.87, 1.  ],
           [0.4 , 0.93]])
    """
    prior = resolved_prior(prior)
    if strata.is_audit(counts):
        strata.of_data(counts, model)
        return audits.summarise(counts, metrics, prior, prevalence, ci_prob, ci_kind, samples, random_seed)
    answers = same_items.patterns(counts) if isinstance(counts, xr.Dataset) else None
    runs = 1 if answers is None else answers.runs
    one_class = {name: value for name, value in getattr(counts, "attrs", {}).items() if name == ONE_CLASS}
    counts = check_counts(counts if answers is None else answers.labelled())
    labels = tuple(labels_of(counts))
    resolved = tuple(resolve(metrics, len(labels)))
    plan = _Plan(
        metrics=resolved,
        labels=labels,
        prior=concentrations(prior, model, labels),
        prevalence=prevalence,
        ci_prob=validate.number("ci_prob", ci_prob, 0, 1),
        ci_kind=validate.choice("ci_kind", ci_kind, ("eti", "hdi")),
        draws=validate.draws(samples),
        seed=validate.seed(random_seed),
    )
    if answers is not None and runs > 1:
        if model != "dirichlet_multinomial":
            raise ValueError(f"`model` must be 'dirichlet_multinomial' for several runs of an item; got {model!r}.")
        plan = replace(plan, theta=draws_of_answers(answers, prior, prevalence, 1, plan.draws, plan.seed).values[0])
    some = dirichlet.posterior(np.ones((len(labels),) * 2, np.int64), plan.prior, prevalence)
    plan = replace(plan, exact=frozenset(_exact(resolved, some, plan, plan.prior)))
    table = by_matrix(
        lambda c, i: _summarise(c, i, plan), counts, {METRIC: _width(plan), "statistic": len(tables.STATISTICS)}
    )
    attrs = attributes(
        model=model, prior=prior, prevalence=prevalence, ci_prob=plan.ci_prob, ci_kind=plan.ci_kind, samples=plan.draws,
        random_seed=plan.seed, assumptions=assumed(prevalence, *of_runs(runs)), **as_read(counts),
        **({"runs": runs} if runs > 1 else {}), **of_empty_classes(resolved, counts.assign_attrs(one_class)),
    )  # fmt: skip
    left = [metric for metric in resolved if metric.name not in plan.exact] if plan.theta is None else []
    if names := averages.integrated(left, dirichlet.single(some, ())):
        attrs[averages.INTEGRATED] = ", ".join(names)
    return tables.dataset(table, plan.metrics, labels, plan.exact, plan.ci_prob, plan.ci_kind, attrs)


def _width(plan: _Plan) -> int:
    k = len(plan.labels)
    return sum(k if per_label(metric, k) else 1 for metric in plan.metrics)


def _summarise(counts: NDArray[Any], index: NDArray[np.int64], plan: _Plan) -> Array:
    """Fill the table of statistics, (..., metric, statistic), for plain counts (..., K, K)."""
    counts = validate.count_values("counts", counts)
    posterior = dirichlet.posterior(counts, plan.prior, plan.prevalence)
    dirichlet.check_proper(posterior, plan.labels, plan.metrics)
    exact = _exact([metric for metric in plan.metrics if metric.name in plan.exact], posterior, plan)
    drawn = [m for m in plan.metrics if m.name not in exact]
    integrals = {name: dist for name, dist in exact.items() if isinstance(dist, distributions.Integral)}
    found = dict(
        zip(integrals, distributions.statistics([*integrals.values()], plan.ci_prob, plan.ci_kind), strict=True)
    )
    betas = {name: dist for name, dist in exact.items() if isinstance(dist, distributions.Beta)}
    found |= _of_betas(betas, plan)
    found |= {name: dist.statistics(plan.ci_prob, plan.ci_kind) for name, dist in exact.items() if name not in found}
    found |= _of_draws(drawn, index, posterior, plan)
    for metric in plan.metrics:
        if isinstance(exact.get(metric.name), Tabulated) and (found[metric.name]["error"] > DOUBTFUL).any():
            found[metric.name] = _doubtful(found[metric.name], metric, index, posterior, plan)
    points = compute(plan.metrics, dirichlet.plug_in(counts, posterior, plan.prevalence))
    for i, metric in enumerate(plan.metrics):
        if plan.prevalence is not None and distributions.is_prevalence(metric):
            points[i] = np.broadcast_to(exact[metric.name].mean(), points[i].shape)  # also where a class has no items
    return tables.rows(found, plan.metrics, points, len(plan.labels))


def _of_betas(betas: dict[str, distributions.Beta], plan: _Plan) -> dict[str, dict[str, Any]]:
    """Return the statistics of Betas, of those with one link and shape together: fewer and longer loops."""
    alike: dict[Any, list[str]] = {}
    for name, dist in betas.items():
        alike.setdefault((dist.link, np.broadcast_shapes(np.shape(dist.a), np.shape(dist.b))), []).append(name)
    found: dict[str, dict[str, Any]] = {}
    for (link, shape), names in alike.items():
        a, b = (np.stack([np.broadcast_to(getattr(betas[n], part), shape) for n in names]) for part in ("a", "b"))
        several = distributions.Beta(a, b, link).statistics(plan.ci_prob, plan.ci_kind)
        found |= {n: {key: value[i] for key, value in several.items()} for i, n in enumerate(names)}
    return found


def _exact(
    metrics: Sequence[Metric], posterior: Concentrations, plan: _Plan, prior: Concentrations | None = None
) -> dict[str, distributions.Distribution]:
    """Return the exact distributions of the metrics that have one."""
    if plan.theta is not None:
        return {}
    found = {metric.name: distributions.exact_distribution(metric, posterior, prior) for metric in metrics}
    return {name: dist for name, dist in found.items() if dist is not None}


def _doubtful(
    found: dict[str, Any], metric: Metric, index: NDArray[np.int64], posterior: Concentrations, plan: _Plan
) -> dict[str, Any]:
    """Return the statistics of a metric with draws where its exact distribution is worse, and say so."""
    bad = np.asarray(found["error"] > DOUBTFUL)
    drawn = _of_draws([metric], index, posterior, plan)[metric.name]
    validate.warn(
        f"the exact distribution of {metric.name} is right to {np.nanmax(found['error']):.0%} of a tail's probability "
        f"only, where a class of a few items weighs more than classes of many: {int(bad.sum())} of {bad.size} "
        f"answered by {plan.draws} draws (`mcse_interval`; `error` is NaN)."
    )
    return {name: np.where(bad, values, found.get(name, 0.0)) for name, values in drawn.items()}


def _of_draws(
    metrics: Sequence[Metric], index: NDArray[np.int64], posterior: Concentrations, plan: _Plan
) -> dict[str, dict[str, Any]]:
    """Return the statistics of metrics by Monte Carlo, one matrix at a time."""
    if not metrics:
        return {}
    rows: list[list[dict[str, Any]]] = []
    for position in range(index.size):
        one = dirichlet.single(posterior, np.unravel_index(position, index.shape))
        if plan.theta is None:
            found = averages.drawn(metrics, one, plan.seed, int(index.flat[position]), plan.draws)
        else:
            values = compute(metrics, plan.theta[:, position])
            found = averages.Drawn(dict(zip((metric.name for metric in metrics), values, strict=True)), {})
        rows.append([_of_metric(metric, found, one, plan) for metric in metrics])
    several = {}
    for i, metric in enumerate(metrics):
        stacked = {name: np.stack([row[i][name] for row in rows]) for name in rows[0][i]}
        several[metric.name] = {name: v.reshape((*index.shape, *v.shape[1:])) for name, v in stacked.items()}
    return several


def _of_metric(metric: Metric, drawn: averages.Drawn, posterior: Concentrations, plan: _Plan) -> dict[str, Any]:
    """Return the statistics of one metric's draws for one matrix."""
    if metric.name in drawn.averages:
        return drawn.averages[metric.name].statistics(plan.ci_prob, plan.ci_kind)
    found = tables.of_draws(metric, drawn.values[metric.name], plan.ci_prob, plan.ci_kind)
    if plan.theta is None:
        known = distributions.known_of_average(metric, posterior)
        found |= {} if known.mean is None else {"mean": np.asarray(known.mean), "mcse_mean": np.zeros(())}
    if metric.moments:  # inf or NaN instead of the luck of the draws
        least = _least_concentration(metric, posterior.rows)
        found["mean"] = np.where(least <= 1, np.inf, found["mean"])
        found["sd"] = np.where(least <= 1, np.nan, np.where(least <= 2, np.inf, found["sd"]))
        found["mcse_mean"] = np.where(least <= 2, np.nan, found["mcse_mean"])
    return found


def _least_concentration(metric: Metric, rows: Array) -> Array:
    """Return the concentration that decides which moments of a metric exist."""
    of_two = metric.kind == "cells" and rows.shape[-1] == 2
    cells = multiclass.of_two(rows) if of_two else multiclass.one_vs_rest(rows)
    if metric.kind == "micro":
        cells = multiclass.Cells(*(cell.sum(-1) for cell in cells))
    least = np.min([getattr(cells, name) for name in metric.moments], axis=0)
    return np.asarray(least.min(-1) if metric.kind in ("macro", "weighted") else least)
