"""drift(): whether a series (weeks, releases, batches) is worse than at its start, and since when."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.comparison.field import one_number
from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ACTUAL, CI_BOUND, METRIC, ONE_CLASS, SYSTEM, attributes, interval_coordinate
from bayescm.distributions import Beta
from bayescm.distributions.sample import Draws, share_error
from bayescm.inference.conjugate import Conjugate
from bayescm.inference.options import number_of_draws
from bayescm.inference.read import read
from bayescm.metrics import Metric, MetricLike, compute
from bayescm.metrics.naming import naming
from bayescm.models.covariates import several_matrices
from bayescm.priors.concentrations import PriorLike
from bayescm.results.names import CARRIED_BY
from bayescm.results.objects import stamped
from bayescm.results.writing import listed

Array = NDArray[np.float64]

PERIOD, OF_PERIODS = "period", "independent items of each period, whose labels come whatever they are"
_LATE = 0.5
"""Of the median number of items: last periods with less are named, as labels may still come."""
_OF_ANSWERS = {"recall": "accuracy", "false_negative_rate": "error_rate"}
"""What the rates of the one class of right and wrong answers are called."""
_MOST = 1000
"""Periods, whose segments are held all at once."""


class _Parts(NamedTuple):
    """What draws say of one series.

    Attributes
    ----------
    shares : ndarray of shape (periods, draws, kinds)
    unchanged : float
        Probability that nothing has changed, exactly.
    """

    shares: Array
    unchanged: float


@stamped
@takes_counts
def drift(
    counts: Any,
    metric: MetricLike = "accuracy",
    *,
    rope: float = 0.0,
    change_prob: float = 0.5,
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Say whether a series is worse than at its start, and since when.

    Parameters
    ----------
    counts : xarray.DataArray, data frame, mapping or array_like
        ``counts(period, actual, predicted)``, in order, with one dim of any name; the first is that of acceptance. Or
        right and wrong answers, ``{"correct": [...], "wrong": [...]}``. A period without labels has zeros.
    metric
        One number per period.
    rope : float
        A loss up to this size doesn't matter.
    change_prob : float
        Prior probability that anything changes within the series; all periods are as likely.
    prior, ci_prob, draws, random_seed
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over ``period``: ``point`` of its counts, ``mean`` and ``interval(ci_bound)`` by all counts,
        ``probability_worse`` and ``probability_better`` than the first, ``since``, the probability that it has been
        worse without a break since then, if it is worse at the end: the last period with items; ``n_items`` that tell
        of the metric. ``change`` and ``change_interval`` of the end less the first, ``probability_changed`` that
        anything has; the attr ``verdict``, "worse" or "better" if the probability of that at the end is above
        `ci_prob`, else "undecided".

    Raises
    ------
    ValueError
        For fewer than two periods with items, the first among them, or more than 1,000 periods.

    Notes
    -----
    A product partition model: between neighbouring periods all changes with the same probability, after which it is
    drawn anew from the prior; within a segment it stays. The probabilities of all segmentations are summed exactly in
    steps that grow with the square of the number of periods, from which independent draws come (Fearnhead 2006). A
    metric that is one Beta changes by itself; else class shares and the answers to each class change, each by
    themselves. Without a change the odds of one pass 19 in at most 1 of 19 series. Slow changes come as several
    steps, and are found late.

    References
    ----------
    Barry and Hartigan 1992, Annals of Statistics 20:260; Fearnhead 2006, Statistics and Computing 16:203.

    Examples
    --------
    >>> import bayescm
    >>> weeks = {"correct": [92, 90, 93, 91, 80, 78, 81], "wrong": [8, 10, 7, 9, 20, 22, 19]}
    >>> found = bayescm.drift(weeks, random_seed=1)
    >>> found.attrs["verdict"], int(found.since.values.argmax())
    ('worse', 4)
    """
    seed = validate.seed(random_seed)
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    rope = validate.number("rope", rope, 0, np.inf, closed=True)
    change_prob = validate.number("change_prob", change_prob, 0, 1)
    matrices, series = several_matrices(counts, ())
    matrices, series = matrices.rename({series: PERIOD}), PERIOD if series == SYSTEM else series
    t = matrices.sizes[PERIOD]
    validate.unique(series, matrices[PERIOD].values.tolist())
    if not 2 <= t <= _MOST:
        raise ValueError(f"`counts` must be of 2 to {_MOST} periods; got {t}.")
    resolved = one_number(metric, matrices.sizes[ACTUAL])
    n = number_of_draws(draws, 10_000)
    posterior = read(matrices, prior=prior, draws=n, random_seed=seed)
    block, _ = posterior.whole()
    if not isinstance(block, Conjugate) or not (block.prior.rows > 0.0).all():
        raise ValueError(f"`prior` must be one of each period by itself, and above 0; got {prior!r}.")
    values, items, unchanged = _values(block, resolved, np.log1p(-change_prob) / (t - 1), seed)
    end = int(np.flatnonzero(np.append(1.0, items[1:]))[-1])
    if not items[0] > 0.0 or not end:
        raise ValueError(f"`counts` of the first period, and of a later one, must tell of {resolved.name}.")
    gain = (values - values[0]) * (-1.0 if resolved.loss else 1.0)
    worse, better = gain < -rope, gain > rope
    last = worse[: end + 1, worse[end]]
    begun = end + 1 - np.argmin(np.vstack([last[::-1], np.zeros(last.shape[1], bool)]), 0)
    since = np.bincount(begun, minlength=t)[:t] / max(last.shape[1], 1)
    told = Draws(values).statistics(prob, "eti")
    change = Draws(values[end] - values[0]).statistics(prob, "eti")
    worst, best = float(worse[end].mean()), float(better[end].mean())
    variables = {
        "point": (PERIOD, block.points([resolved])[0]), "mean": (PERIOD, told["mean"]),
        "interval": ((PERIOD, CI_BOUND), np.stack([told["lower"], told["upper"]], -1)),
        "probability_worse": (PERIOD, worse.mean(1)), "probability_better": (PERIOD, better.mean(1)),
        "since": (PERIOD, since), "n_items": (PERIOD, np.asarray(items, float)), "change": change["mean"],
        "change_interval": (CI_BOUND, np.array([change["lower"], change["upper"]])),
        "probability_changed": 1.0 - unchanged, "mcse_probability": share_error(worst, n),
    }  # fmt: skip
    settings: dict[str, Any] = dict(posterior.settings) | {
        **naming(resolved), "series": series, "rope": rope, "change_prob": change_prob,
        "ci_prob": prob, "draws": n, "random_seed": seed,
        "verdict": "worse" if worst > prob else "better" if best > prob else "undecided",
        "assumptions": assumed(None, "from one period to the next a rate stays, or is drawn anew", items=OF_PERIODS),
    }  # fmt: skip
    if ONE_CLASS in matrices.attrs:
        settings[METRIC] = _OF_ANSWERS[resolved.name]
        del settings["positive_class"]
    if late := _late([f"{series} {name}" for name in matrices[PERIOD].values.tolist()], items):
        settings[CARRIED_BY] = late
    coords = {PERIOD: matrices[PERIOD].values, CI_BOUND: interval_coordinate(prob, "eti")}
    return xr.Dataset(variables, coords=coords, attrs=attributes(**settings))


def _values(block: Conjugate, metric: Metric, stays: float, seed: int) -> tuple[Array, Array, float]:
    """Return draws (periods, n) of a metric, the numbers of items that tell of it, and P(nothing has changed)."""
    known, seen = block.exact(metric), block.evidence(metric)
    if isinstance(known, Beta) and seen is not None:
        pairs, every = np.stack([seen.a, seen.b], -1), np.stack([known.a, known.b], -1)
        prior = (every - pairs)[pairs.sum(-1).argmin()]
        found = _partitions(pairs, prior, stays, block.n, matrix_rng(seed, 0, Stream.DRIFT))
        share = found.shares[..., 0]
        return 2.0 * share / (1.0 + share) if seen.link == "f1" else share, pairs.sum(-1), found.unchanged
    counts, rows = block.counts, block.prior.rows
    series = [(counts.sum(-1), rows.sum(-1)), *zip(np.moveaxis(counts, 1, 0), rows, strict=True)]
    parts = [
        _partitions(one, a, stays / len(series), block.n, matrix_rng(seed, i, Stream.DRIFT))
        for i, (one, a) in enumerate(series)
    ]
    theta = np.stack([part.shares for part in parts[1:]], -2) * parts[0].shares[..., None]
    return compute([metric], theta)[0], counts.sum((-2, -1)), float(np.prod([part.unchanged for part in parts]))


def _partitions(seen: Array, prior: Array, stays: float, n: int, rng: np.random.Generator) -> _Parts:
    """Draw segmentations of counts (periods, kinds), and the shares of the kinds in each segment.

    Parameters
    ----------
    seen : ndarray of shape (T, C)
    prior : ndarray of shape (C,)
        Concentrations of the shares.
    stays : float
        Logarithm of the prior probability that nothing changes between two periods.
    """
    t, total = len(seen), np.concatenate([np.zeros((1, seen.shape[1])), np.cumsum(seen, 0)])
    log = np.full((t + 1, t + 1), -np.inf)  # of what was seen from one period up to another, as one segment
    for end in range(1, t + 1):
        a = prior + total[end] - total[:end]
        evidence = (special.gammaln(a) - special.gammaln(prior)).sum(-1)
        evidence += special.gammaln(prior.sum()) - special.gammaln(a.sum(-1))
        log[:end, end] = evidence + np.arange(end - 1, -1, -1) * stays
    log[1:] += np.log(-np.expm1(stays))
    reach = np.zeros(t + 1)
    for end in range(1, t + 1):
        reach[end] = special.logsumexp(reach[:end] + log[:end, end])
    begins, stop = np.zeros((t, n), bool), np.full(n, t)
    shares = np.empty((t, n, seen.shape[1]))
    for end in range(t, 0, -1):
        at = np.flatnonzero(stop == end)
        start = rng.choice(end, len(at), p=special.softmax(reach[:end] + log[:end, end]))
        drawn = np.maximum(rng.standard_gamma(prior + total[end] - total[start]), 1e-300)
        shares[start, at], begins[start, at], stop[at] = drawn / drawn.sum(-1, keepdims=True), True, start
    first = np.maximum.accumulate(np.where(begins, np.arange(t)[:, None], 0))
    return _Parts(np.take_along_axis(shares, first[..., None], 0), float(np.exp(log[0, t] - reach[t])))


def _late(names: list[str], items: Array) -> str:
    """Name the last periods with far fewer items than the others: their labels may come late."""
    few = items < _LATE * np.median(items[items > 0])
    late = len(items) - int(np.argmin(np.append(few[::-1], False)))
    if late == len(items):
        return ""
    told = [f"{names[i]} ({items[i]:,.0f} items)" for i in range(late, len(items))]
    return f"{listed(told)}: labels may come late, and those that come first may be unlike the others"
