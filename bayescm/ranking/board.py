"""leaderboard(): the probability of every rank, and what follows from it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm import same_items, validate
from bayescm.draws import share_error
from bayescm.laws import BetaLaw
from bayescm.metrics import MetricLike
from bayescm.priors import PrevalenceLike, PriorLike
from bayescm.ranking import drawn, exact
from bayescm.ranking.field import INDEPENDENT, Field, independent, published, together
from bayescm.results import CI_BOUND, SYSTEM, attributes, interval_coordinate, positive_class

Array = NDArray[np.float64]
Found = exact.Exact | drawn.Drawn

METHODS = ("exact", "draws", "paired")
RANK, TOP, VERSUS = "rank", "top", "versus"
_FEW = {1: 100, 2: 10}  # systems whose laws by so many integrals don't take long
_MANY = 200  # systems from which every pair is said only if asked for
_NEAR = 1e-12  # draws that are ties but for rounding, where systems share items, or a prevalence
_TRUSTED = 1e-4
_LONG_NAMES = {
    "point": "{} of the counts",
    "interval": "Credible interval of {}",
    "rank_probability": "P(rank)",
    "best_probability": "P(best)",
    "top_probability": "P(among the best)",
    "expected_rank": "Expected rank",
    "rank_interval": "Interval of the rank",
    "expected_prize": "Expected prize",
    "tie_group": "Group of systems that the data don't separate from its first",
    "pairwise": "P(system better than versus)",
    "mcse": "Monte Carlo standard error of P(rank)",
}


def leaderboard(
    counts: Any,
    *,
    metric: MetricLike = "accuracy",
    method: str | None = None,
    model: str = "dirichlet_multinomial",
    prior: PriorLike = "jeffreys",
    prevalence: PrevalenceLike = None,
    prizes: ArrayLike | None = None,
    top: int | Sequence[int] = 3,
    confidence: float = 0.95,
    pairwise: bool | None = None,
    ci_prob: float = 0.95,
    draws: int = 10_000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Give every system on a leaderboard the probabilities of its ranks.

    Parameters
    ----------
    counts : xarray.DataArray or xarray.Dataset
        ``counts(system, actual, predicted)``, one test set each; or ``correct(system)`` and ``wrong(system)`` where
        only accuracies were published; or answers to the same items: a joint table
        (:func:`bayescm.paired_counts`) or, of any number of systems, :func:`bayescm.predictions`.
    metric : str, Metric or callable
        One number per system. The best is the largest, or the smallest of a loss such as the error rate.
    method : {"exact", "draws", "paired"}, optional
        "exact" integrates over independent systems; "draws" counts ranks in `draws` of them; "paired" in joint draws of
        systems on the same items. By default "paired" for answers to the same items, else "exact" where the metric has
        a law and ``error`` is below 1e-4, else "draws". Of laws that are integrals themselves up to 100 systems are
        exact by default; of those that are two up to 10, if all cells have concentrations of at least 1.
    model, prevalence
        As in :func:`bayescm.summary`. A prevalence given as a Beta is the same for all systems, and is drawn. Neither
        applies to `correct` and `wrong`.
    prior : str, number, array_like or mapping
        As in :func:`bayescm.summary`. For `correct` and `wrong` that of a proportion: a name, a number or a Beta's two
        numbers, right answers first.
    prizes : array_like, optional
        Of the ranks, from the first on.
    top : int or sequence of int
        For which k to say the probability of being among the k best.
    confidence : float
        Probability with which the first of a tie group must beat a system to put it into another group.
    pairwise : bool, optional
        Whether to say P(better) of every pair; by default of up to 200 systems.
    ci_prob : float
        Probability of the equal-tailed intervals of the metric and of the rank.
    draws : int
        At least 1000.
    random_seed : int, numpy.random.Generator or None

    Returns
    -------
    xarray.Dataset
        Over ``system``: ``point``, ``interval(ci_bound)``, ``rank_probability(rank)``, ``best_probability``,
        ``top_probability(top)``, ``expected_rank``, ``rank_interval(ci_bound)``, ``tie_group`` (1, 2, ...), with
        `prizes` ``expected_prize``, and ``pairwise(versus)``. Of draws also ``mcse(rank)``; the attr ``error`` of an
        exact answer is how far the sums of probabilities, over ranks and over systems, are from 1.

    Raises
    ------
    ValueError
        For a metric without one number per system, or without a law under "exact".

    Warns
    -----
    UserWarning
        If matrices with the same class totals are taken as independent without being told to.

    Notes
    -----
    With probability 1 no two systems are equal, but draws may be: tied systems share their ranks in equal parts.
    Systems with the same data get the same row, exactly.

    A tie group is made from its first: of the systems not yet in a group the one with the best expected rank, with all
    that it doesn't beat with probability `confidence`.

    Systems that answered the same items are taken as independent by "exact" and "draws". That ranks them less surely
    than the data do if they tend to err together, as systems mostly do.

    References
    ----------
    Toetsch and Hoffmann 2021, Fig. 5.

    Examples
    --------
    >>> import bayescm
    >>> board = bayescm.leaderboard(bayescm.datasets.kaggle2019(), prior="laplace", prizes=[10_000, 2000, 1000])
    >>> board.best_probability.values[:3].round(4)
    array([0.9311, 0.0654, 0.0035])
    >>> board.expected_prize.values[:3].round()
    array([9446., 2351.,  986.])
    """
    field = _field(counts, metric, method, model, prior, prevalence)
    n, seed = len(field.point), validate.seed(random_seed)
    if validate.positive_integer("draws", draws) < 1000:
        raise ValueError(f"`draws` must be at least 1000; got {draws}.")
    asked = _Asked(
        validate.number("confidence", confidence, 0.5, 1),
        validate.number("ci_prob", ci_prob, 0, 1),
        _top(top, n),
        None if prizes is None else _prizes(prizes, n),
        n <= _MANY if pairwise is None else pairwise,
    )
    how = _method(field, method)
    found = _ranks(field, how, draws, seed)
    if isinstance(found, exact.Exact) and found.error > _TRUSTED:
        if method is None:
            how = "draws"
            found = _ranks(field, how, draws, seed)
        else:
            validate.warn(f"The probabilities of the ranks are right to about {found.error:.0e} only.")
    settings = {
        "method": how, "design": field.design, "metric": field.metric.name, "title": field.metric.title,
        "model": model, "prior": prior, "prevalence": prevalence, "confidence": confidence, "ci_prob": ci_prob,
        "ties": "systems that are equal share their ranks in equal parts",
    }  # fmt: skip
    settings |= {"error": found.error} if isinstance(found, exact.Exact) else {"draws": draws, "random_seed": seed}
    if asked.prizes is not None:
        settings["prizes"] = asked.prizes
    board = _dataset(field, found, asked).assign_attrs(attributes(**settings, **positive_class(list(field.labels))))
    for name in board.data_vars:
        board[name].attrs = {"long_name": _LONG_NAMES[str(name)].format(field.metric.title)}
    return board


class _Asked(NamedTuple):
    """What is to be said of the ranks."""

    confidence: float
    ci_prob: float
    top: list[int]
    prizes: Array | None
    pairwise: bool


def _dataset(field: Field, found: Found, asked: _Asked) -> xr.Dataset:
    """Say what follows from the ranks."""
    ranks = _shared(found.ranks, field)
    n = len(ranks)
    expected = ranks @ np.arange(1.0, n + 1.0)
    cumulated = np.minimum(np.cumsum(ranks, axis=1), 1.0)
    within = _intervals(field, found, asked.ci_prob)
    overlap = within if asked.confidence == asked.ci_prob else _intervals(field, found, asked.confidence)
    variables: dict[str, Any] = {
        "point": (SYSTEM, field.point),
        "interval": ((SYSTEM, CI_BOUND), within),
        "rank_probability": ((SYSTEM, RANK), ranks),
        "best_probability": (SYSTEM, ranks[:, 0]),
        "top_probability": ((SYSTEM, TOP), cumulated[:, np.array(asked.top) - 1]),
        "expected_rank": (SYSTEM, expected),
        "rank_interval": ((SYSTEM, CI_BOUND), _rank_interval(cumulated, asked.ci_prob)),
        "tie_group": (SYSTEM, _tie_groups(-overlap[:, ::-1] if field.metric.loss else overlap, found, expected, asked)),
    }
    kept = {name: c for name, c in field.coords.items() if name not in {*_LONG_NAMES, VERSUS}}
    coords = {**kept, RANK: np.arange(1, n + 1), TOP: asked.top}
    if asked.prizes is not None:
        variables["expected_prize"] = (SYSTEM, ranks[:, : len(asked.prizes)] @ asked.prizes)
    if isinstance(found, drawn.Drawn):
        variables["mcse"] = ((SYSTEM, RANK), share_error(ranks, len(found.values)))
    if asked.pairwise:
        variables["pairwise"] = ((SYSTEM, VERSUS), _pairwise(field, found))
        coords[VERSUS] = np.asarray(field.coords[SYSTEM])
    return xr.Dataset(variables, coords=coords | {CI_BOUND: interval_coordinate(asked.ci_prob, "eti")})


def _field(
    counts: Any, metric: MetricLike, method: str | None, model: str, prior: PriorLike, prevalence: PrevalenceLike
) -> Field:
    """Read the systems, whatever they came as."""
    if method is not None:
        validate.choice("method", method, METHODS)
    if same_items.answered_together(counts):
        if method in ("exact", "draws"):
            validate.warn(
                f"`method`={method!r} takes systems as independent that answered the same items; 'paired' doesn't."
            )
            return independent(same_items.patterns(counts).labelled(), metric, model, prior, prevalence)
        if model != "dirichlet_multinomial":
            raise ValueError(f"`model` must be 'dirichlet_multinomial' for answers to the same items; got {model!r}.")
        return together(counts, metric, prior, prevalence)
    if method == "paired":
        raise ValueError(
            "`method`='paired' needs answers to the same items; build `counts` with bayescm.predictions or "
            "bayescm.paired_counts."
        )
    if isinstance(counts, xr.Dataset):
        if prevalence is not None or model != "dirichlet_multinomial":
            raise ValueError(
                "`prevalence` and `model` don't apply to right and wrong answers, which don't say of which class the "
                "items were; leave them out."
            )
        return published(counts, metric, prior)
    field = independent(counts, metric, model, prior, prevalence)
    totals = field.data.sum(-1)
    if method is None and len(totals) > 1 and (totals == totals[0]).all():
        same_items.warn_of_same_totals("method='exact'")
    return field


def _method(field: Field, asked: str | None) -> str:
    """Return how the ranks are found."""
    if field.design != INDEPENDENT:
        return "paired"
    known = field.law is not None and not field.common
    if asked == "exact" and not known:
        why = "shares an uncertain prevalence" if field.common else "has no exact law that is known"
        raise ValueError(f"`method`='exact' can't answer: {field.metric.name} {why}; take method='draws'.")
    if asked is not None:
        return asked
    if known and not isinstance(field.law, BetaLaw):
        hardest = max(law.integrals for law in field.law or [])
        smooth = hardest == 1 or all(bool((law.cells >= 1.0).all()) for law in field.law or [])
        known = smooth and len(field.point) <= _FEW[hardest]
    return "exact" if known else "draws"


def _ranks(field: Field, how: str, draws: int, seed: int) -> Found:
    """Find the ranks."""
    law, loss = field.law, field.metric.loss
    if how == "exact":
        found = exact.of_betas(law) if isinstance(law, BetaLaw) else exact.of_laws(law or [])
        return found.smallest_first() if loss else found
    if how == "draws" and isinstance(law, BetaLaw) and not field.common:
        return drawn.of_betas(BetaLaw(law.b, law.a) if loss else law, draws, seed)
    values = field.draw(draws, seed)
    if np.isnan(values).any():
        name = np.asarray(field.coords[SYSTEM])[np.isnan(values).any(0).argmax()]
        raise ValueError(f"`metric`: draws leave {field.metric.name} of system {name!s} undefined; it has no rank.")
    return drawn.of_values(values if loss else -values, _NEAR)


def _shared(ranks: Array, field: Field) -> Array:
    """Give systems with the same data the same row: their mean, since they are exchangeable."""
    ranks = np.ascontiguousarray(ranks)
    for group in field.alike:
        ranks[group] = ranks[group].mean(0)
    return ranks


def _pairwise(field: Field, found: Found) -> Array:
    """Return P(row better than column), 1/2 between systems with the same data."""
    table = found.pairwise()
    for group in field.alike:
        table[group] = table[group].mean(0)
        table[:, group] = table[:, group].mean(1, keepdims=True)
        table[np.ix_(group, group)] = 0.5
    return table


def _tie_groups(intervals: Array, found: Found, expected: Array, asked: _Asked) -> NDArray[np.int64]:
    """Group each leader with those that it doesn't beat surely enough; only overlapping intervals are compared."""
    low, high = intervals.T
    groups = np.zeros(len(expected), np.int64)
    rest = np.argsort(expected, kind="stable")
    while len(rest):
        leader, behind = rest[0], rest[1:]
        near = behind[high[behind] >= low[leader]]
        unbeaten = near[found.beats(leader, near) < asked.confidence]
        groups[[leader, *unbeaten]] = groups.max() + 1
        rest = rest[groups[rest] == 0]
    return groups


def _intervals(field: Field, found: Found, prob: float) -> Array:
    """Return equal-tailed intervals of the metric, (systems, 2)."""
    if isinstance(field.law, BetaLaw):
        return np.stack(field.law.eti(prob), axis=-1)
    if field.law is not None:
        return np.array([law.eti(prob) for law in field.law]).reshape(-1, 2)
    values = found.values if isinstance(found, drawn.Drawn) else np.empty((0, 0))
    tails = (1.0 - prob) / 2.0, (1.0 + prob) / 2.0
    return np.quantile(values if field.metric.loss else -values, tails, axis=0).T


def _rank_interval(cumulated: Array, prob: float) -> NDArray[np.int64]:
    """Return the smallest ranks up to which each tail's probability is reached."""
    tails = (1.0 - prob) / 2.0, (1.0 + prob) / 2.0
    ranks = [1 + (cumulated < tail - 1e-9).sum(1) for tail in tails]
    return np.stack(ranks, axis=1).clip(max=cumulated.shape[1])


def _top(top: int | Sequence[int], n: int) -> list[int]:
    given = list(top) if isinstance(top, Sequence | np.ndarray) else [top]
    ks = sorted({min(validate.positive_integer("top", k), n) for k in given})
    if not ks:
        raise ValueError("`top` is empty; give at least one number of systems.")
    return ks


def _prizes(prizes: ArrayLike, n: int) -> Array:
    values = validate.real_numbers("prizes", np.atleast_1d(prizes))
    if len(values) > n:
        raise ValueError(f"`prizes` has {len(values)} for {n} systems; there are no more ranks.")
    return values
