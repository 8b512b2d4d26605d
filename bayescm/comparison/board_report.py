"""What follows from the ranks: the variables of a leaderboard."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.comparison import rank_draws, ranks
from bayescm.comparison.field import Field, Worths
from bayescm.comparison.population import Learned
from bayescm.data.schema import CI_BOUND, SYSTEM, VERSUS, interval_coordinate
from bayescm.distributions import Distribution
from bayescm.distributions.sample import Draws, share_error
from bayescm.inference.fixed_units import win_rates

Array = NDArray[np.float64]
Found = ranks.Exact | rank_draws.Drawn

RANK, TOP = "rank", "top"
_ROUNDING = 1e-14  # between means of draws of what all systems share, such as a prevalence
LONG_NAMES = {
    "point": "{} of the counts",
    "mean": "Posterior mean of {}",
    "interval": "Credible interval of {}",
    "rank_probability": "P(rank)",
    "probability_best": "P(best)",
    "top_probability": "P(among the best)",
    "expected_rank": "Expected rank",
    "rank_interval": "Interval of the rank",
    "simultaneous_rank_interval": "Interval of the rank, for all systems at once",
    "best_set": "Whether it may be the best",
    "expected_prize": "Expected prize",
    "tie_group": "Group of systems that the data don't separate from its first",
    "probability_better": "P(system better than versus)",
    "probability_equivalent": "P(system and versus differ by at most the rope)",
    "probability_above": "P(system is ranked above versus)",
    "probability_above_interval": "Credible interval of P(system is ranked above versus)",
    "win_rate": "Share of the others that a system beats in a unit, on average",
    "win_rate_interval": "Credible interval of the win rate",
    "mcse_rank_probability": "Monte Carlo standard error of P(rank)",
}


class Options(NamedTuple):
    """What is to be said of the ranks."""

    ci_prob: float
    top: list[int]
    prizes: Array | None
    pairwise: bool
    rope: float | None


class Answer(NamedTuple):
    """The ranks, and what they come from.

    Attributes
    ----------
    found : Exact or Drawn
    dist : Distribution or Learned
        Of each system.
    alone : callable
        Returns P(row better than column) as each system's own data say it, whatever prior was learnt.
    """

    found: Found
    dist: Distribution | Learned
    alone: Callable[[], Array]


def dataset(field: Field | Worths, answer: Answer, options: Options) -> xr.Dataset:
    """Say what follows from the ranks."""
    found = answer.found
    ranks = _shared(found.ranks, field)
    n = len(ranks)
    expected = ranks @ np.arange(1.0, n + 1.0)
    cumulated = np.minimum(np.cumsum(ranks, axis=1), 1.0)
    within = _intervals(field, answer, options.ci_prob)
    overlap = _intervals(field, answer, _sure(options))
    better = answer.alone()
    variables: dict[str, Any] = {
        "point": (SYSTEM, field.point),
        "mean": (SYSTEM, np.broadcast_to(answer.dist.mean(), n)),
        "interval": ((SYSTEM, CI_BOUND), within),
        "rank_probability": ((SYSTEM, RANK), ranks),
        "probability_best": (SYSTEM, ranks[:, 0]),
        "top_probability": ((SYSTEM, TOP), cumulated[:, np.array(options.top) - 1]),
        "expected_rank": (SYSTEM, expected),
        "rank_interval": ((SYSTEM, CI_BOUND), _rank_interval(cumulated, options.ci_prob)),
        "simultaneous_rank_interval": ((SYSTEM, CI_BOUND), _simultaneous(better, options.ci_prob)),
        "best_set": (SYSTEM, _best_set(better, options.ci_prob)),
        "tie_group": (
            SYSTEM,
            _tie_groups(-overlap[:, ::-1] if field.metric.loss else overlap, found, expected, options),
        ),
    }
    kept = {name: c for name, c in field.coords.items() if name not in {*LONG_NAMES, VERSUS}}
    coords = {**kept, RANK: np.arange(1, n + 1), TOP: options.top}
    if options.prizes is not None:
        variables["expected_prize"] = (SYSTEM, ranks[:, : len(options.prizes)] @ options.prizes)
    if (wins := win_rates(field.block, field.metric)) is not None:
        rates = Draws(wins)
        variables["win_rate"] = (SYSTEM, rates.mean())
        variables["win_rate_interval"] = ((SYSTEM, CI_BOUND), np.stack(rates.eti(options.ci_prob), -1))
    if isinstance(found, rank_draws.Drawn):
        variables["mcse_rank_probability"] = ((SYSTEM, RANK), share_error(ranks, len(found.values)))
    if options.pairwise:
        variables["probability_better"] = ((SYSTEM, VERSUS), _pairwise(field, found))
        if isinstance(field, Worths) and isinstance(found, rank_draws.Drawn):
            variables |= _above(found.values, options.ci_prob)
    if options.rope is not None:
        variables["probability_equivalent"] = ((SYSTEM, VERSUS), found.equivalent(options.rope))
    if options.pairwise or options.rope is not None:
        coords[VERSUS] = np.asarray(field.coords[SYSTEM])
    return xr.Dataset(variables, coords=coords | {CI_BOUND: interval_coordinate(options.ci_prob, "eti")})


def _shared(ranks: Array, field: Field | Worths) -> Array:
    """Give systems with the same data the same row: their mean, since they are exchangeable."""
    ranks = np.ascontiguousarray(ranks)
    for group in field.alike:
        ranks[group] = ranks[group].mean(0)
    return ranks


def _pairwise(field: Field | Worths, found: Found) -> Array:
    """Return P(row better than column), 1/2 between systems with the same data."""
    table = found.pairwise()
    for group in field.alike:
        table[group] = table[group].mean(0)
        table[:, group] = table[:, group].mean(1, keepdims=True)
        table[np.ix_(group, group)] = 0.5
    return table


def _above(minus_logs: Array, ci_prob: float) -> dict[str, Any]:
    """Return the probability that a system is ranked above another, mean and interval, of log worths."""
    tail = 0.5 * (1.0 - ci_prob)
    means, bounds = [], []
    for one in minus_logs.T:
        above = special.expit(minus_logs - one[:, None])
        means.append(above.mean(0))
        bounds.append(np.quantile(above, [tail, 1.0 - tail], axis=0).T)
    return {
        "probability_above": ((SYSTEM, VERSUS), np.stack(means)),
        "probability_above_interval": ((SYSTEM, VERSUS, CI_BOUND), np.stack(bounds)),
    }


def _tie_groups(intervals: Array, found: Found, expected: Array, options: Options) -> NDArray[np.int64]:
    """Group each leader with those that it doesn't beat surely enough; only overlapping intervals are compared."""
    low, high = intervals.T
    groups = np.zeros(len(expected), np.int64)
    rest = np.argsort(expected, kind="stable")
    while len(rest):
        leader, behind = rest[0], rest[1:]
        near = behind[high[behind] >= low[leader]]
        unbeaten = near[found.beats(leader, near) <= _sure(options)]
        groups[[leader, *unbeaten]] = groups.max() + 1
        rest = rest[groups[rest] == 0]
    return groups


def _sure(options: Options) -> float:
    """Return P(better) from which on the central interval of a difference excludes 0."""
    return 0.5 + 0.5 * options.ci_prob


def _intervals(field: Field | Worths, answer: Answer, prob: float) -> Array:
    """Return equal-tailed intervals of the metric, (systems, 2)."""
    return np.broadcast_to(np.stack(answer.dist.eti(prob), axis=-1), (len(field.point), 2))


def _rank_interval(cumulated: Array, prob: float) -> NDArray[np.int64]:
    """Return the smallest ranks up to which each tail's probability is reached."""
    tails = (1.0 - prob) / 2.0, (1.0 + prob) / 2.0
    ranks = [1 + (cumulated < tail - 1e-9).sum(1) for tail in tails]
    return np.stack(ranks, axis=1).clip(max=cumulated.shape[1])


def _simultaneous(better: Array, prob: float) -> NDArray[np.int64]:
    """Return ranks by how many systems surely beat one, and how many it surely beats, with an error for all pairs."""
    n = len(better)
    sure = better > 1.0 - (1.0 - prob) / max(n * (n - 1), 1)
    return np.stack([1 + sure.sum(0), n - sure.sum(1)], axis=1)


def _best_set(better: Array, ci_prob: float) -> NDArray[np.bool_]:
    """Say which systems no other one surely beats, with an error for all others."""
    return ~(better > 1.0 - (1.0 - ci_prob) / max(len(better) - 1, 1)).any(0)


def better_by_moments(values: Array, *, together: bool) -> Array:
    """Return P(row smaller than column) of draws (draws, systems), as if differences were normal.

    Counting draws says nothing of probabilities beyond 1/draws, which many systems need.
    """
    mean, variance = values.mean(0), values.var(0)
    spread = variance[:, None] + variance
    if together:
        spread = spread - 2.0 * np.cov(values, rowvar=False, bias=True).reshape(spread.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = mean - mean[:, None]
        z = np.where(np.abs(gap) < _ROUNDING, 0.0, gap / np.sqrt(np.maximum(spread, 0.0)))
    return np.asarray(special.ndtr(np.where(np.isnan(z), 0.0, z)))
