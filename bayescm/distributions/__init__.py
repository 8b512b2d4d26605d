"""Exact distributions of metrics, without a draw.

Under a cell Dirichlet any S/(S+T) of disjoint sums of cells is Beta, and F1 = 2J/(1+J) with the Jaccard index
J ~ Beta(a_TP, a_FN + a_FP). Under separate priors that holds for what stays within one row, and for the prevalence.
Every other metric of two labels is an integral of a Beta's cdf over one or two others
(:mod:`bayescm.distributions.integral`).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Beta, Point
from bayescm.distributions.class_pairs import macro_variance
from bayescm.distributions.conditional import Known
from bayescm.distributions.integral import LEAST, Integral, integral_distribution, joint_probability, statistics
from bayescm.distributions.linear import Linear
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.quotient import Quotient
from bayescm.distributions.several import several_distribution
from bayescm.metrics import Metric, multiclass, of_one_class, resolve
from bayescm.priors.concentrations import Concentrations

__all__ = [
    "LEAST",
    "Beta",
    "Distribution",
    "Integral",
    "Linear",
    "Point",
    "Quotient",
    "exact_distribution",
    "is_prevalence",
    "joint_probability",
    "known_of_average",
    "statistics",
    "statistics_of",
]

Array = NDArray[np.float64]


def exact_distribution(
    metric: Metric, which: Concentrations, prior: Concentrations | None = None
) -> Distribution | None:
    """Return the exact distribution of a metric, or None where it has none that is known.

    Parameters
    ----------
    metric : Metric
    which : Concentrations
        Of the posterior or the prior, batched or not.
    prior : Concentrations, optional
        Of which, where they aren't 0, too small ones leave a metric to draws: then the answer is the same for every
        matrix.

    Returns
    -------
    Beta, Point, Integral, Linear, Quotient or None
        A point for a known prevalence. Over the batch axes, and the classes for metrics per class of more than two
        labels.
    """
    found = _closed_form(metric, which)
    if found is not None:
        return found
    several = several_distribution if which.rows.shape[-1] > 2 else integral_distribution
    if prior is not None:
        rows, shares = (np.where(part > 0.0, part, 1.0) for part in (prior.rows, prior.shares))
        if several(metric, replace(which, rows=rows, shares=which.shares if which.known else shares)) is None:
            return None
    return several(metric, which)


def statistics_of(dists: Mapping[str, Distribution], prob: float, kind: str) -> dict[str, dict[str, Any]]:
    """Return the statistics of several metrics of the same matrices, together where that is faster.

    Integrals share the tables of their Betas; Betas of one link and shape are fewer and longer loops.
    """
    integrals = {name: dist for name, dist in dists.items() if isinstance(dist, Integral)}
    found = dict(zip(integrals, statistics([*integrals.values()], prob, kind), strict=True))
    alike: dict[Any, dict[str, Beta]] = {}
    for name, dist in dists.items():
        if isinstance(dist, Beta):
            alike.setdefault((dist.link, np.broadcast_shapes(np.shape(dist.a), np.shape(dist.b))), {})[name] = dist
        elif name not in found:
            found[name] = dist.statistics(prob, kind)
    for (link, shape), betas in alike.items():
        a, b = (np.stack([np.broadcast_to(getattr(beta, part), shape) for beta in betas.values()]) for part in "ab")
        several = Beta(a, b, link).statistics(prob, kind)
        found |= {name: {key: value[i] for key, value in several.items()} for i, name in enumerate(betas)}
    return found


def known_of_average(metric: Metric, which: Concentrations) -> Known:
    """Return what is known exactly of an average over the classes of one matrix."""
    k = which.rows.shape[-1]
    if metric.kind != "macro" or k == 2:
        return Known()
    base = resolve([metric.name.removesuffix("_macro")], k)[0]
    of_class = _closed_form(base, which)
    if not isinstance(of_class, Beta):
        return Known()
    means = np.asarray(of_class.mean())
    variance = macro_variance(base, which.rows, of_class) if which.one_dirichlet else None
    return Known(float(means.mean()), variance, means)


def _closed_form(metric: Metric, which: Concentrations) -> Beta | Point | None:
    if metric.ratio is None:
        return None
    over, under = metric.ratio
    k = which.rows.shape[-1]
    if is_prevalence(metric):
        return _prevalence_distribution(which)
    if over[0].endswith("diagonal"):
        return _diagonal_dist(metric, which) if which.one_dirichlet else None
    if not (which.one_dirichlet or of_one_class(metric, k)):
        return None
    cells: Any = multiclass.of_two(which.rows) if k == 2 else multiclass.one_vs_rest(which.rows)
    a, b = (sum(getattr(cells, name) for name in names) for names in (over, under))
    return Beta(np.asarray(a), np.asarray(b), metric.link)


def is_prevalence(metric: Metric) -> bool:
    """Say whether a metric is the prevalence."""
    return metric.ratio == (("tp", "fn"), ("fp", "tn"))


def _prevalence_distribution(which: Concentrations) -> Beta | Point:
    """Return the distribution of the share of the positive class of two, or of every class."""
    k = which.shares.shape[-1]
    shares = np.broadcast_to(which.shares, (*which.rows.shape[:-2], k))  # one for all matrices, where it was given
    of_two = (..., 1) if k == 2 else ...
    if which.known:
        return Point(shares[of_two])
    return Beta(shares[of_two], (shares @ (1.0 - np.eye(k)))[of_two])


def _diagonal_dist(metric: Metric, which: Concentrations) -> Beta:
    off = 1.0 - np.eye(which.rows.shape[-1])
    right, wrong = (which.rows * (1.0 - off)).sum((-2, -1)), (which.rows * off).sum((-2, -1))
    return Beta(wrong, right) if metric.ratio == (("off_diagonal",), ("diagonal",)) else Beta(right, wrong)
