"""sample_size_to_compare(): how many items until the better of two systems is likely to be seen as such."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.assumptions import OWN_ITEMS, SAME_ITEMS, assumed
from bayescm.data.options import plain_words
from bayescm.data.schema import attributes
from bayescm.distributions import Beta, exact_distribution
from bayescm.distributions.beta_binomial import MOST, Rate, above, below
from bayescm.metrics import Metric, MetricLike, resolve
from bayescm.metrics.naming import naming
from bayescm.planning import gaps
from bayescm.priors.concentrations import Concentrations, PriorLike, concentrations, of_pairs, resolved_prior

Array = NDArray[np.float64]

_ONE_BY_ONE, _GROUPS = 512, 128
_CLOSE = 1e-3
_STEPS, _NEAR = 200, 1.01  # to find an error rate that is kept, but for the rounding of groups
_CLASSES = {"accuracy": (0, 1), "specificity": (0,), "recall": (1,)}


@plain_words
def sample_size_to_compare(
    first: Any,
    second: float | None = None,
    *,
    discordance: float | None = None,
    metric: MetricLike = "accuracy",
    concentration: float | None = None,
    decision_prob: float = 0.95,
    assurance: float = 0.8,
    error_rate: float | None = None,
    prior: PriorLike | None = None,
    model: str = "dirichlet_multinomial",
) -> xr.Dataset:
    """Return the number of items after which the better of two systems is likely to be found so, and equal ones not.

    Parameters
    ----------
    first, second : float
        What is thought of the metric of the better system and of the other one. Of a rate of errors, such as
        "error_rate", the smaller is the better. Or, as `first` alone, the comparison of two systems
        (:func:`compare_systems`) or a board (:func:`leaderboard`, its two best): then the gap is taken as it was seen,
        which for the best of many is rather too large, with its metric and discordance.
    discordance : float, optional
        For both systems on the SAME items: the share of items that exactly one of them gets right, at least the
        difference. Default: each on items of its own.
    metric : str
        A proportion, which decides on the prior; on the same items accuracy, recall or specificity.
    concentration : float, optional
        Of the Betas with these modes (see :func:`sample_size`). Default: the numbers are the truth.
    decision_prob : float
        The first counts as better once its posterior probability to be better is so large.
    assurance : float
        Wanted probability of that.
    error_rate : float, optional
        Largest probability that one of two equal systems is found better, whichever. Default: 2(1 - `decision_prob`).
    prior, model
        Of the analysis to come.

    Returns
    -------
    xarray.Dataset
        ``n_items``, the items that the metric is about (of each system, or common ones); the ``assurance`` that it
        reaches; ``limit``, that of endless data; the ``error_rate``, of the rates `first` or `second` for both,
        whichever is larger; for the same items ``discordant``, how many are expected that exactly one system gets
        right.

    Raises
    ------
    ValueError
        If the first isn't the better one; if the assurance can't be reached: with a concentration the second system
        may be the better one; or if the error rate stays too large, which takes more `decision_prob`, not more items.

    Notes
    -----
    Outcomes are enumerated, up to 512 of a count one by one and beyond in groups. The assurance goes up and down a
    little with the number of items, as counts are whole: `n` reaches it and `n` - 1 (or, above a thousand, a number
    less than a thousandth smaller) doesn't, unless the error rate asks for some more. That rate is held within a
    hundredth of itself.

    On the same items only the discordant ones count: b that the first gets right and c that the second does; the first
    is better with probability I_(1/2)(c + 1, b + 1), see :func:`compare_systems`.

    Examples
    --------
    >>> import bayescm
    >>> int(bayescm.sample_size_to_compare(0.85, 0.80).n_items)
    712
    >>> plan = bayescm.sample_size_to_compare(0.85, 0.80, discordance=0.1)
    >>> int(plan.n_items), round(float(plan.error_rate), 3)
    (235, 0.098)
    >>> board = bayescm.leaderboard({"A": 0.85, "B": 0.80}, n_items=[200, 201])
    >>> int(bayescm.sample_size_to_compare(board).n_items)
    754
    """
    prior = resolved_prior(prior)
    if gaps.is_result(first):
        if second is not None or discordance is not None:
            raise ValueError("`second` and `discordance` are those of the comparison in `first`; leave them out.")
        first, second, discordance, metric = gaps.of_result(first)
    elif second is None or not isinstance(first, Real):
        raise TypeError(
            "`first` and `second` must be rates, bayescm.sample_size_to_compare(0.85, 0.80), or `first` what "
            "bayescm.compare_systems or bayescm.leaderboard returned."
        )
    for name, value in (("first", first), ("second", second)):
        validate.number(name, value, 0, 1, closed=True)
    sure = validate.number("decision_prob", decision_prob, 0.5, 1)
    wanted = validate.number("assurance", assurance, 0, 1)
    most = 2.0 * (1.0 - sure) if error_rate is None else validate.number("error_rate", error_rate, 0, 1)
    base, resolved = concentrations(prior, model, 2), resolve([metric], 2)[0]
    if first == second or (first < second) != resolved.loss:
        least = "smaller" if resolved.loss else "larger"
        raise ValueError(f"`first` must be better than `second`, {least} of {resolved.name}; got {first} and {second}.")
    if discordance is None:
        rates = Rate.of_mode("first", first, concentration), Rate.of_mode("second", second, concentration)
        a, b = _of_one(resolved, base)
        if resolved.loss:  # the share without the error is a proportion too
            rates, a, b = (rates[0].reversed(), rates[1].reversed()), b, a
        limit = _limit(*rates)
        same = [Rate(0.0, 0.0, 1.0 - value if resolved.loss else value) for value in (first, second)]
        find: Callable[[int], float] = lambda n: _independent(n, *rates, a, b, sure)  # noqa: E731
        wrong: Callable[[int], float] = lambda n: 2.0 * max(_independent(n, r, r, a, b, sure) for r in same)  # noqa: E731
    else:
        of_each, even = _of_pair(resolved, prior, base), Rate(0.0, 0.0, 0.5)
        share, part = _discordant(first, second, discordance, concentration)
        limit = _limit(part, even)
        find = lambda n: _paired(n, share, part, of_each, sure)  # noqa: E731
        wrong = lambda n: 2.0 * _paired(n, Rate(0.0, 0.0, discordance), even, of_each, sure)  # noqa: E731
    if limit <= wanted:
        raise ValueError(
            f"`assurance`={wanted:g} can't be reached with any number of items: the first system is better with "
            f"probability {limit:.3g} only. Give a larger concentration, or leave it out."
        )
    n, reached, errs = _rarely_wrong(find, wrong, wanted, most)
    named = {
        "n_items": (n, "Items"),
        "assurance": (reached, "Probability that the first is found better"),
        "limit": (limit, "The same with endless data"),
        "error_rate": (errs, "Probability that one of two equal systems is found better"),
    }
    if discordance is not None:
        named["discordant"] = (n * discordance, "Items expected that exactly one system gets right")
    return xr.Dataset(
        {name: ((), value, {"long_name": text}) for name, (value, text) in named.items()},
        attrs=attributes(
            first=first, second=second, discordance=discordance, **naming(resolved),
            concentration=concentration, decision_prob=sure, wanted_assurance=wanted, wanted_error_rate=most,
            prior=prior, model=model, design="independent" if discordance is None else "paired",
            assumptions=assumed(None, OWN_ITEMS if discordance is None else SAME_ITEMS, "rates as stated"),
        ),
    )  # fmt: skip


def _of_one(metric: Metric, prior: Concentrations) -> tuple[float, float]:
    """Return the prior of a proportion."""
    dist = exact_distribution(metric, prior)
    if not isinstance(dist, Beta) or dist.link != "identity" or min(dist.a, dist.b) <= 0:
        raise ValueError(f"`metric` must be a proportion with a proper Beta as its prior; {metric.name} isn't.")
    return float(dist.a), float(dist.b)


def _of_pair(metric: Metric, prior: PriorLike, base: Concentrations) -> float:
    """Return the prior concentration of "only one of two is right", the same for both."""
    if metric.name not in _CLASSES:
        raise ValueError(f"`metric` must be accuracy, recall or specificity with `discordance`; got {metric.name}.")
    each = of_pairs(prior)
    if each is None:  # a sum over the joint cells
        right, total = np.diag(base.rows), base.rows.sum(-1)
        each = (right * (total - right) / np.where(total > 0, total, 1.0))[list(_CLASSES[metric.name])].sum()
    if each <= 0:
        raise ValueError("`prior` must be proper: tests to come may leave a cell empty. Take prior='jeffreys'.")
    return float(each)


def _discordant(first: float, second: float, discordance: float, concentration: float | None) -> tuple[Rate, Rate]:
    """Return the share of discordant items, and the first system's part of them."""
    share = validate.number("discordance", discordance, 0, 1, closed=True)
    least, most = abs(first - second), min(first + second, 2 - first - second)
    if not least - 1e-12 <= share <= most + 1e-12 or share == 0:
        raise ValueError(f"`discordance` must be from {least:g} (the difference) to {most:g} and not 0; got {share:g}.")
    part = min((1 + (first - second) / share) / 2, 1.0)
    return Rate.of_mode("discordance", share, concentration), Rate.of_mode("first", part, concentration)


def _limit(first: Rate, second: Rate) -> float:
    """Return P(first > second) of the rates themselves."""
    if first.known is not None and second.known is not None:
        return float(first.known > second.known)
    if second.known is not None:
        return float(special.betaincc(first.a, first.b, second.known))
    return float(below(second.a, second.b, first.a, first.b))


def _independent(n: int, first: Rate, second: Rate, a: float, b: float, decision_prob: float) -> float:
    """Return the probability that P(first better | data) reaches the confidence, n items each."""
    k, chance = _outcomes(first, n)
    better = above(k + a, n - k + b)

    def sure(other: Array) -> NDArray[np.bool_]:
        return np.asarray(better(other + a, n - other + b) >= decision_prob)

    return float(chance @ second.cdf(_last(sure, k.shape, n), n))


def _paired(n: int, share: Rate, part: Rate, prior: float, decision_prob: float) -> float:
    """Return the same for n common items: the discordant ones are m, of which the first gets b right."""
    m, chance = _outcomes(share, n)
    m = np.floor(m)

    def sure(wrong: Array) -> NDArray[np.bool_]:
        inside = np.maximum(m - wrong, 0.0)
        return np.asarray((wrong <= m) & (special.betaincc(inside + prior, wrong + prior, 0.5) >= decision_prob))

    return float(chance @ part.reversed().cdf(_last(sure, m.shape, n), m))


def _outcomes(rate: Rate, n: int) -> tuple[Array, Array]:
    """Return the counts of successes and their probabilities, many in groups."""
    return rate.outcomes(n, _ONE_BY_ONE if n < _ONE_BY_ONE else _GROUPS)


def _last(holds: Callable[[Array], NDArray[np.bool_]], shape: tuple[int, ...], n: int) -> Array:
    """Return the largest count, -1 for none, up to which something holds."""
    low, high = np.full(shape, -1.0), np.full(shape, n + 1.0)
    for _ in range(n.bit_length() + 1):
        middle = np.floor((low + high) / 2)
        good = (middle < 0) | holds(np.clip(middle, 0, n))
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return low


def _rarely_wrong(
    find: Callable[[int], float], wrong: Callable[[int], float], wanted: float, most: float
) -> tuple[int, float, float]:
    """Return a number of items with the wanted assurance and an error rate of at most so much, and what they are.

    The error rate goes up and down a little, and in the long run up to 2(1 - confidence): no use to look far.
    """
    n, reached = _least(find, wanted)
    for _ in range(_STEPS):
        errs = wrong(n)
        if errs <= most * _NEAR and reached >= wanted:
            return n, reached, errs
        n += max(1, n // 1000)
        reached = find(n)
    raise ValueError(
        f"`error_rate`={most:g} isn't kept by the items that the assurance needs: one of two equal systems is found "
        f"better with probability {errs:.3g}. Ask for a `decision_prob` of {1.0 - most / 2.0:g} or more."
    )


def _least(find: Callable[[int], float], wanted: float) -> tuple[int, float]:
    """Return a number of items that reaches the wanted assurance where a little less doesn't, and what it reaches."""
    low, high = 0, 1
    while (reached := find(high)) < wanted:
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"`assurance`={wanted:g} needs more than {MOST:,} items; ask for less.")
    while high - low > max(1.0, _CLOSE * high * (high > 1 / _CLOSE)):
        middle = (low + high) // 2
        found = find(middle)
        low, high, reached = (low, middle, found) if found >= wanted else (middle, high, reached)
    return high, reached
