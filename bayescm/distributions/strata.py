"""Posteriors of items that were checked by stratum, and the metrics whose distributions follow exactly.

Within a group of items that is sampled by itself (a stratum, or one predicted class of it) the cells that its items can
be in are Dirichlet; theta is the mean of the groups by their shares. Where a group is one predicted class, and there
is one stratum, this is the model of separate rows with truth and prediction exchanged, and so are the metrics.

Several strata share the prior of one matrix (Jeffreys' own in each would decide about many strata of few items): a
stratum has of it what it has of all items, and leans for the rest on where the items of all strata lie. Its n checked
items count as n - 1, but for its part of all: as the unbiased variance of a stratified mean divides by n - 1 (Cochran
1977, section 5.4).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayescm.data.strata import OTHERS, Strata
from bayescm.distributions import exact_distribution
from bayescm.distributions.beta import Point
from bayescm.distributions.beta_binomial import Rate
from bayescm.distributions.dirichlet import draw_dirichlet
from bayescm.distributions.discrete import MOST_MATRICES, Discrete, collected, distinct
from bayescm.distributions.linear import Linear
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.several import LEAST_OF_ALL
from bayescm.metrics import Metric, compute, multiclass, parts, per_label, resolve
from bayescm.priors.concentrations import Concentrations, PriorLike, concentrations

Array = NDArray[np.float64]

_ONE = 1e-12
_EXCHANGED = {
    "recall": "precision", "specificity": "negative_predictive_value", "false_positive_rate": "false_omission_rate",
    "false_negative_rate": "false_discovery_rate", "prevalence": "predicted_prevalence", "informedness": "markedness",
    "f2": "f0.5", "recall_macro": "precision_macro", "false_negative_rate_macro": "false_discovery_rate_macro",
}  # fmt: skip
_SAME = ("accuracy", "error_rate", "f1", "matthews_correlation", "cohen_kappa", "jaccard", "fowlkes_mallows", "p4",
         "diagnostic_odds_ratio", "scotts_pi", "krippendorff_alpha", "gwets_ac1", "negative_agreement")  # fmt: skip
EXCHANGED = _EXCHANGED | {b: a for a, b in _EXCHANGED.items()} | {name: name for name in _SAME}
"""What a metric becomes where truth and prediction change places."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Concentrations of every group's cells, and its share.

    Attributes
    ----------
    cells : ndarray of shape (G, K, K)
        0 for cells that no item of the group can be in.
    shares : ndarray of shape (G,)
        Concentrations of the shares; or, if `known`, the shares themselves.
    known : bool
    by_verdict : bool
        Whether a group is one predicted class (of a stratum).
    checked : ndarray of shape (G, K, K), optional
        Of these items and no others: those of which the truth is known.
    unchecked : ndarray of shape (G,), optional
        And the number of the others.
    weight : ndarray of shape (G,), optional
        What each checked item counts for; 1 without.
    """

    cells: Array
    shares: Array
    known: bool
    by_verdict: bool
    checked: NDArray[np.int64] | None = None
    unchecked: NDArray[np.int64] | None = None
    weight: Array | None = None


def prior_of(strata: Strata, prior: PriorLike, labels: list[object]) -> Groups:
    """Return the prior: of one stratum the concentrations of each group's cells, and their sum for its share."""
    base = concentrations(prior, "dirichlet_multinomial", labels).rows
    cells, weight = np.where(strata.possible, base, 0.0), None
    sums = cells.sum((1, 2))
    if strata.alike:
        sums = sums * (len(base) if strata.by_verdict else 1) / len(sums)
        cells, weight = _shared(strata, cells)
    known = strata.of != "process"
    shares = strata.totals / strata.totals.sum() if known else sums
    return Groups(cells, shares, known, strata.by_verdict, weight=weight)


def _shared(strata: Strata, cells: Array) -> tuple[Array, Array]:
    """Return the prior (G, K, K) of groups whose strata share one, and what a checked item of each counts for (G,).

    Where all lean on the same place, it is where the strata's mean stays that of the observed shares.
    """
    k, tiny = cells.shape[-1], np.finfo(np.float64).tiny
    shape = (-1, k if strata.by_verdict else 1)  # stratum, verdict
    base, seen = (one.reshape(*shape, k, k) for one in (cells, strata.counts))
    n, size, totals = seen.sum((2, 3)), base.sum((2, 3)), strata.totals.reshape(shape)
    part = np.where(totals > 0.0, totals / np.maximum(totals.sum(0), tiny), 1.0)
    known = part * (n > 0)
    pull = known / np.maximum(n + size, tiny)
    rates = seen / np.maximum(n, 1)[..., None, None]
    mean = (pull[..., None, None] * rates).sum(0) / np.maximum(pull.sum(0), tiny)[:, None, None]
    items = (known.sum(0) ** 2 / np.maximum((known**2 / np.maximum(n, 1)).sum(0), tiny))[:, None, None]
    middle = (items * mean + base[0]) / np.maximum(items + size[0][:, None, None], tiny)
    part_of, size_of = part[..., None, None], size[..., None, None]
    leaning = part_of * base + (1.0 - part_of) * size_of * middle
    weight = (np.maximum(n - (1.0 - part), 0.0) + part * size) / np.maximum(n + size, tiny)
    return (weight[..., None, None] * leaning).reshape(cells.shape), weight.ravel()


def posterior_of(strata: Strata, prior: Groups) -> Groups:
    """Return the posterior: the checked items are added to the cells, all items to the shares."""
    if strata.of == OTHERS:
        raise ValueError(
            "`counts` are an audit of other items (of='others'), of which bayescm.summary, probability, "
            "metric_distribution and compare_systems answer."
        )
    cells = prior.cells + (strata.counts if prior.weight is None else prior.weight[:, None, None] * strata.counts)
    shares = prior.shares if prior.known else prior.shares + strata.totals
    if strata.of != "items":
        return replace(prior, cells=cells, shares=shares)
    unchecked = (strata.totals - strata.checked).astype(np.int64)
    return replace(prior, cells=cells, checked=strata.counts, unchecked=unchecked)


def check_proper(groups: Groups, strata: Strata) -> None:
    """Raise a ValueError that names the first group without a proper posterior."""
    bad = ((groups.cells <= 0.0) & strata.possible).any((1, 2)) & (strata.totals > 0)
    if not groups.known:
        bad = ((groups.cells <= 0.0) & strata.possible).any((1, 2)) | (groups.shares <= 0.0)
    if bad.any():
        raise ValueError(
            f"`prior` leaves the posterior improper: {strata.names[int(np.argmax(bad))]} has a cell without checked "
            "items and a concentration of 0. Take prior='jeffreys', or any prior with positive concentrations."
        )


def plug_in(strata: Strata) -> Array:
    """Return the cells (K, K) of the stratified estimator: each group's observed shares, by its part of all items.

    NaN are those cells that items of a group can be in of which nothing was checked.
    """
    with np.errstate(invalid="ignore"):
        rates = np.where(strata.possible, strata.counts / strata.checked[:, None, None], 0.0)
    weights = strata.totals / strata.totals.sum()
    return np.asarray((weights[:, None, None] * np.where(weights[:, None, None] > 0, rates, 0.0)).sum(0))


def draw(groups: Groups, rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Draw shares (n, G), every group's cells (n, G, K, K) and theta (n, K, K)."""
    theta = np.zeros((n, *groups.cells.shape[1:]))
    shares, cells = draw_parts(groups, rng, n, lambda g, part: np.add(theta, part, out=theta))
    return shares, cells, theta


def draw_parts(
    groups: Groups, rng: np.random.Generator, n: int, take: Callable[[int, Array], object]
) -> tuple[Array, Array]:
    """Draw shares (n, G) and cells (n, G, K, K); `take` is called with each group and its part of theta (n, K, K)."""
    size, k = len(groups.shares), groups.cells.shape[-1]
    shares = np.repeat(groups.shares[None], n, 0)
    if not groups.known:
        shares = _dirichlet(groups.shares, rng, n)
    cells = np.zeros((n, size, k, k))
    for g in range(size):
        inside = groups.cells[g] > 0.0
        if inside.any():
            cells[:, g, inside] = _dirichlet(groups.cells[g, inside], rng, n)
        part = cells[:, g]
        if groups.checked is not None and groups.unchecked is not None:
            part = _items(part, groups.checked[g], int(groups.unchecked[g]), rng)
        take(g, shares[:, g, None, None] * part)
    return shares, cells


def _items(cells: Array, checked: NDArray[np.int64], unchecked: int, rng: np.random.Generator) -> Array:
    """Return the shares of a group's items: those checked, and a draw of the others."""
    total = unchecked + int(checked.sum())
    if total == 0:
        return np.zeros_like(cells)
    flat = cells.reshape(len(cells), -1)
    future = rng.multinomial(unchecked, flat / np.maximum(flat.sum(1, keepdims=True), 1e-300)) if unchecked else 0
    return np.asarray((checked.ravel() + future) / total * np.ones_like(flat)).reshape(cells.shape)


def _dirichlet(concentration: Array, rng: np.random.Generator, n: int) -> Array:
    """Draw from a Dirichlet, (n, cells)."""
    out = np.empty((len(concentration), n))
    draw_dirichlet(concentration, rng, list(out))
    return out.T


def exact_of(metric: Metric, groups: Groups) -> Distribution | None:
    """Return the exact distribution of a metric, or None where it has none that is known.

    Every metric of two labels whose partner under an exchange of truth and prediction is in the table; of more at known
    shares ratios of linear forms; of several strata, at known shares, what is linear in the cells.
    """
    if groups.unchecked is not None:
        return None  # discrete: see items_of
    if groups.by_verdict and len(groups.shares) == groups.cells.shape[-1]:
        return _exchanged(metric, groups)
    return linear_of(metric, groups) if groups.known else None


def _exchanged(metric: Metric, groups: Groups) -> Distribution | None:
    """Return the distribution of the metric's partner, with the predicted classes as rows."""
    k = groups.cells.shape[-1]
    partner = EXCHANGED.get(metric.name)
    if metric.name.startswith("fbeta(beta="):
        beta = float(metric.name[len("fbeta(beta=") : -1])
        partner = f"fbeta(beta={1.0 / beta:.15g})"
    if partner is None or (groups.known and (groups.shares <= 0.0).any()):
        return None
    rows = np.stack([groups.cells[j, :, j] for j in range(k)])
    one = not groups.known and bool(np.allclose(rows.sum(-1), groups.shares, rtol=_ONE, atol=0))
    which = Concentrations(rows, groups.shares, known=groups.known, one_dirichlet=one)
    return exact_distribution(resolve([partner], k)[0], which)


def linear_of(metric: Metric, groups: Groups) -> Distribution | None:
    """Return the distribution of S / (S + T) where each group's items either all count in S + T, or none does."""
    if (found := _shares_of(metric, groups)) is None:
        return None
    a, b, counted = found
    weights = groups.shares * counted
    if (weights.sum(-1) == 0.0).any():
        return None
    weights /= weights.sum(-1, keepdims=True)
    constant = (weights * (b == 0.0)).sum(-1)
    weights = np.where((a > 0.0) & (b > 0.0), weights, 0.0)
    a, b = np.where(a > 0.0, a, 1.0), np.where(b > 0.0, b, 1.0)
    if not per_label(metric, groups.cells.shape[-1]):
        weights, a, b, constant = weights[0], a[0], b[0], constant[0]
    random = (weights > 0.0).any(-1)
    if not random.any():
        return Point(constant)
    least = np.where(weights > 0.0, np.minimum(a, b), 0.0).sum(-1)
    return Linear(weights, a, b, constant) if (random & (least >= LEAST_OF_ALL)).all() else None


def _shares_of(metric: Metric, groups: Groups) -> tuple[Array, Array, NDArray[np.bool_]] | None:
    """Return the concentrations (class, group) of S and T and whether a group's items count; None if only some do."""
    if metric.ratio is None or metric.link != "identity":
        return None
    k = groups.cells.shape[-1]
    over, under = _parts(metric, k)
    flat = groups.cells.reshape(-1, k * k)
    a, b, rest = flat @ over, flat @ under, flat @ (1.0 - over - under)  # (group, class)
    if ((rest > 0.0) & (a + b > 0.0)).any():
        return None
    return a.T, b.T, (rest == 0.0).T


def difference_of_the_same(metric: Metric, groups: Groups, other: NDArray[np.intp]) -> Linear | None:
    """Return the distribution of the difference of two systems' shares, of whose verdicts each group has one pair.

    Each group's part is linear in the truth of its items. It is a Beta's where the truth counts in two ways at most:
    always for two labels, for shares of one verdict (precision), and for groups on which the systems agree.

    Parameters
    ----------
    metric : Metric
    groups : Groups
        Of the first system, by its verdict within that of the second.
    other : ndarray of shape (G,)
        The second system's verdict in each group.
    """
    if not groups.known or groups.unchecked is not None or metric.ratio is None or metric.link != "identity":
        return None
    k = groups.cells.shape[-1]
    own = np.tile(np.arange(k), len(groups.shares) // k)
    counted = [_share_of_verdicts(metric, groups, verdict) for verdict in (own, other)]
    if counted[0] is None or counted[1] is None:
        return None
    values = counted[0] - counted[1]  # (group, truth, class)
    low, high = values.min(1, keepdims=True), values.max(1, keepdims=True)
    above = values > high - _ONE
    if not (above | (values < low + _ONE)).all():
        return None
    alpha = np.stack([groups.cells[g, :, verdict] for g, verdict in enumerate(own)])[..., None]
    a, b = (alpha * above).sum(1), (alpha * ~above).sum(1)  # (group, class)
    weights, constant = np.where((a > 0.0) & (b > 0.0), (high - low)[:, 0], 0.0), low[:, 0].sum(0)
    constant = constant + np.where((a > 0.0) & (b <= 0.0), (high - low)[:, 0], 0.0).sum(0)
    if not (weights > _ONE).any(0).all():
        return None
    of_all = Linear(weights.T, np.where(a > 0.0, a, 1.0).T, np.where(b > 0.0, b, 1.0).T, constant)
    return of_all if per_label(metric, k) else of_all.at(..., 0)


def _share_of_verdicts(metric: Metric, groups: Groups, verdict: NDArray[np.intp]) -> Array | None:
    """Return by how much truth raises a share (group, truth, class), of groups that count as a whole; else None."""
    k = groups.cells.shape[-1]
    over, under = _parts(metric, k)
    cells = np.arange(k)[None] * k + verdict[:, None]
    of = (over + under)[cells]
    if (of != of[:, :1]).any():
        return None
    weights = groups.shares[:, None] * of[:, 0]
    if (weights.sum(0) == 0.0).any():
        return None
    return np.asarray(over[cells] * (weights / weights.sum(0))[:, None])


def _parts(metric: Metric, k: int) -> tuple[Array, Array]:
    """Return which cells are in S, and which in T: (cell, class) of 0 and 1."""
    over, under = parts(metric, np.eye(k * k).reshape(k * k, k, k))
    return over.reshape(k * k, -1), under.reshape(k * k, -1)


def items_of(metric: Metric, groups: Groups) -> list[Discrete] | None:
    """Return the distribution of a metric of these items alone, for every class; None where it has to be drawn.

    Numbers of unchecked items are beta-binomial: added up for shares of whole groups; of two groups all pairs.
    """
    if groups.checked is None or groups.unchecked is None:
        return None
    sizes = (groups.unchecked + groups.checked.sum((1, 2))).astype(np.float64)
    if (found := _shares_of(metric, groups)) is not None and groups.unchecked.sum() <= MOST_MATRICES:
        over = _parts(metric, groups.cells.shape[-1])[0]
        seen = (groups.checked.reshape(len(groups.shares), -1) @ over).T
        return [_sum_of_items(*one, sizes, groups.unchecked) for one in zip(seen, *found, strict=True)]
    if groups.cells.shape[1:] != (2, 2) or len(groups.shares) != 2 or not groups.by_verdict:
        return None
    if np.prod(groups.unchecked + 1.0) > MOST_MATRICES:
        return None
    numbers, chance = zip(*(_of_group(groups, g) for g in (0, 1)), strict=True)
    pairs = np.stack(np.meshgrid(*numbers, indexing="ij"), -1).reshape(-1, 2)  # positives of each verdict
    values, place = distinct(compute([metric], np.stack([sizes - pairs, pairs], 1))[0])
    return [collected(values, np.bincount(place, np.multiply.outer(*chance).ravel(), len(values)))]


def _of_group(groups: Groups, g: int) -> tuple[Array, Array]:
    """Return the numbers of positives that a group of one verdict may have, and their probabilities."""
    b, a = groups.cells[g, :, g]
    assert groups.checked is not None
    assert groups.unchecked is not None
    return groups.checked[g, 1, g] + np.arange(groups.unchecked[g] + 1.0), _of_items(a, b, int(groups.unchecked[g]))


def _of_items(a: float, b: float, n: int) -> Array:
    """Return the probabilities of 0 to n of n unchecked items."""
    if n == 0 or min(a, b) <= 0.0:
        return np.asarray(np.arange(n + 1) == (n if b <= 0.0 else 0), np.float64)
    found = np.exp(Rate(float(a), float(b)).log_pmf(np.arange(n + 1.0), float(n)))
    return np.asarray(found / found.sum())


def _sum_of_items(
    seen: Array, a: Array, b: Array, counted: NDArray[np.bool_], sizes: Array, unchecked: NDArray[np.int64]
) -> Discrete:
    """Return the distribution of the share of items of the groups that count."""
    whole, weight = float(sizes[counted].sum()), np.ones(1)
    if whole == 0.0:
        return Discrete(np.empty(0), np.empty(0), 1.0)
    for g in np.flatnonzero(counted):
        each = _of_items(a[g], b[g], int(unchecked[g]))
        size = len(weight) + len(each) - 1
        weight = np.maximum(np.fft.irfft(np.fft.rfft(weight, size) * np.fft.rfft(each, size), size), 0.0)
    return Discrete((seen[counted].sum() + np.arange(len(weight))) / whole, weight / weight.sum(), 0.0)


def infinite_moment(metric: Metric, groups: Groups) -> float:
    """Return the order from which on moments of a metric of two labels are infinite.

    They are where a sum of cells may be too near 0: its concentrations add up over the groups.
    """
    if not metric.moments:
        return np.inf
    cells = groups.cells if groups.checked is None else np.where(groups.checked > 0, np.inf, 0.0) * (groups.cells > 0)
    random = groups.shares > 0.0
    of_two = multiclass.of_two(cells[random])._asdict()
    return min(float(of_two[name].sum()) for name in metric.moments)
