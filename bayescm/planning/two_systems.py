"""sample_size_to_compare(): how many items until the better of two systems is likely to be seen as such."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import xarray as xr
from scipy.special import ndtri

from bayescm.data import validate
from bayescm.data.assumptions import OWN_ITEMS, PILOTED, SAME_ITEMS, STATED, assumed
from bayescm.data.options import plain_words
from bayescm.data.schema import attributes
from bayescm.distributions import exact_distribution
from bayescm.distributions.beta_binomial import MOST, Rate
from bayescm.metrics import Metric, MetricLike, resolve
from bayescm.metrics.naming import naming
from bayescm.planning import gaps
from bayescm.planning.clusters import design_effect, units_for
from bayescm.planning.contests import Apart, Together
from bayescm.planning.protocols import OF_PAIRS, pairs
from bayescm.priors.concentrations import Concentrations, PriorLike, concentrations, of_pairs, resolved_prior
from bayescm.results.objects import stamped

_CLOSE = 1e-3
_STEPS, _NEAR = 200, 1.01  # to find an error rate that is kept, but for the rounding of groups
_OF_PAIRS = ("accuracy", "specificity", "recall")


@stamped
@plain_words
def sample_size_to_compare(
    first: Any,
    second: float | None = None,
    *,
    discordance: float | None = None,
    method: str | None = None,
    n_items: int | None = None,
    ratio: float = 1.0,
    metric: MetricLike = "accuracy",
    concentration: float | None = None,
    ci_prob: float = 0.95,
    assurance: float = 0.8,
    error_rate: float | None = None,
    prior: PriorLike | None = None,
    model: str = "dirichlet_multinomial",
    unit_size: float | None = None,
    icc: float | None = None,
) -> xr.Dataset:
    """Return the number of items after which the better of two systems is likely to be found so, and equal ones not.

    Parameters
    ----------
    first, second : float
        What is thought of the metric of the two systems, in either order; with `ratio` that of the better one first
        (of a rate of errors, such as "error_rate", the smaller). Or, as `first` alone, a pilot: the comparison of two
        systems (:func:`compare_systems`) or a board (:func:`leaderboard`, its two best), with its metric. What it
        leaves open of the rates, and of which is the better, is averaged over.
    discordance : float, optional
        For both systems on the SAME items: the share of items that exactly one of them gets right, at least the
        difference. Default: each on items of its own.
    method : {"connor", "lachenbruch"}, optional
        Items on which McNemar's test finds the difference by a formula of protocols; Lachenbruch's takes a middle
        `discordance` where none is given. Default: the items after which the verdict is right with the assurance.
    n_items : int, optional
        Answer for that many items instead of searching for the least number.
    ratio : float
        Items of the second system to one of the first, where each has items of its own.
    metric : str
        A proportion, which decides on the prior; on the same items accuracy, recall or specificity.
    concentration : float, optional
        Of the Betas with these modes (see :func:`sample_size`), which are averaged over. Default: the numbers are the
        truth.
    ci_prob : float
        A system counts as better where the central interval of the difference, of this probability, excludes 0, as in
        :func:`compare_systems`: once its posterior probability to be better is above (1 + ci_prob) / 2.
    assurance : float
        Wanted probability that the better one is found so.
    error_rate : float, optional
        Largest probability that one of two equal systems is found better, whichever. Default: 1 - `ci_prob`.
    prior, model
        Of the analysis to come, and of that of the pilot.
    unit_size, icc : number, optional
        Where items will come in units, as in :func:`sample_size`; on the same items `icc` is that of their differences,
        right by the first minus right by the second.

    Returns
    -------
    xarray.Dataset
        ``n_items``, the items that the metric is about (of each system, or common ones; of the first with `ratio`, and
        ``n_items_second``); the ``assurance`` that it
        reaches; the ``error_rate``, of the rates `first` or `second` for both, whichever is larger (of a pilot their
        means), both of as few independent items as stand for them with `unit_size`, which adds ``n_units``;
        for the same items ``discordant``, how many are expected that exactly one system gets right. The attr
        ``gap`` is "stated" or, of a pilot, "seen".

    Raises
    ------
    ValueError
        If neither is better, or with `ratio` the second is; if more than a billion items are needed; or if the error
        rate stays too large, which takes a higher `ci_prob`, not more items.

    Notes
    -----
    Outcomes are enumerated, up to 512 of a count one by one and beyond in groups, which hold the error rate within a
    hundredth of itself.

    On the same items only the discordant ones count: b that the first gets right and c that the second does; the first
    is better with probability I_(1/2)(c + 1, b + 1), see :func:`compare_systems`.

    A pilot's gap is averaged over, as an assurance is (O'Hagan, Stevens and Campbell 2005): stated as the truth it
    makes for too few items. Where it may be near 0, state the gap that would matter.

    References
    ----------
    O'Hagan, Stevens and Campbell 2005, Pharmaceutical Statistics 4, 187-201; Connor 1987, Biometrics 43; Lachenbruch
    1992, Statistics in Medicine 11.

    Examples
    --------
    >>> import bayescm
    >>> int(bayescm.planning.sample_size_to_compare(0.85, 0.80).n_items)
    903
    >>> plan = bayescm.planning.sample_size_to_compare(0.85, 0.80, discordance=0.1)
    >>> int(plan.n_items), round(float(plan.error_rate), 3)
    (305, 0.045)
    >>> plan = bayescm.planning.sample_size_to_compare(0.85, 0.80, discordance=0.1, method="connor")
    >>> int(plan.n_items), round(float(plan.assurance), 3)
    (312, 0.81)
    >>> round(float(bayescm.planning.sample_size_to_compare(0.85, 0.80, n_items=500).assurance), 2)
    0.55
    >>> board = bayescm.leaderboard({"A": 0.85, "B": 0.80}, n_items=[200, 201])
    >>> int(bayescm.planning.sample_size_to_compare(board).n_items)
    2556
    """
    level = validate.number("ci_prob", ci_prob, 0, 1)
    wanted = validate.number("assurance", assurance, 0, 1)
    most = 1.0 - level if error_rate is None else validate.number("error_rate", error_rate, 0, 1)
    design = design_effect(unit_size, icc)
    if unit_size is not None and (n_items is not None or method is not None):
        raise ValueError("`unit_size` is for the number of items that is found, without `n_items` and `method`.")
    prior = resolved_prior(prior)
    base, sure = concentrations(prior, model, 2), (1.0 + level) / 2.0
    seen, known = gaps.is_result(first), None if n_items is None else validate.positive_integer("n_items", n_items)
    if method is not None:
        validate.choice("method", method, OF_PAIRS)
        if seen or known is not None or ratio != 1.0:
            raise ValueError(f"`method`={method!r} finds the items of two stated rates, of the same items: give those.")
    if seen:
        if any(value is not None for value in (second, discordance, concentration)):
            raise ValueError(
                "`second`, `discordance` and `concentration` are those of the comparison in `first`; leave them out."
            )
        pilot = gaps.of_result(first)
        first, second, resolved = pilot.first, pilot.second, resolve([pilot.metric], 2)[0]
        contest, equal = _after(pilot, resolved, base, sure)
        discordance = pilot.counts[0][0] / sum(pilot.counts[0]) if pilot.paired else None
    elif second is None or not isinstance(first, Real):
        raise TypeError(
            "`first` and `second` must be rates, bayescm.planning.sample_size_to_compare(0.85, 0.80), or `first` what "
            "bayescm.compare_systems or bayescm.leaderboard returned."
        )
    else:
        resolved = resolve([metric], 2)[0]
        first, second = (validate.number(n, v, 0, 1, closed=True) for n, v in (("first", first), ("second", second)))
        if ratio == 1.0:  # else it says which has more items
            first, second = sorted((first, second), reverse=not resolved.loss)
        if method == "lachenbruch" and discordance is None:
            discordance = (abs(first - second) + min(first + second, 2.0 - first - second)) / 2.0
        if method is not None and discordance is None:
            raise ValueError("`discordance` is needed by Connor's formula; or take method='lachenbruch'.")
        contest, equal = _stated(first, second, discordance, concentration, resolved, base, sure)
        if method is not None and discordance is not None:
            known = pairs(method, abs(first - second), discordance, level, wanted)
    if isinstance(contest, Apart):
        contest = contest._replace(ratio=validate.number("ratio", ratio, 0, MOST))
    elif ratio != 1.0:
        raise ValueError("`ratio` is for systems with items of their own; these answer the same.")
    if known is None:
        n, reached, errs = _rarely_wrong(contest.right, lambda n: contest.wrong(n, equal), wanted, most)
    else:
        n, reached, errs = known, contest.right(known), contest.wrong(known, equal)
    named = {
        "n_items": (n, "Items"),
        "assurance": (reached, "Probability that the better one is found so"),
        "error_rate": (errs, "Probability that one of two equal systems is found better"),
    }
    if unit_size is not None:
        units = units_for(n, design, unit_size, wanted)
        n = math.ceil(units * unit_size)
        named |= {"n_items": (n, "Items"), "n_units": (units, "Units")}
    if ratio != 1.0:
        named["n_items_second"] = contest.of_second(n), "Items of the second system"
    if isinstance(contest, Together):
        named["discordant"] = (n * contest.share.mean(), "Items expected that exactly one system gets right")
    return xr.Dataset(
        {name: ((), value, {"long_name": text}) for name, (value, text) in named.items()},
        attrs=attributes(
            first=first, second=second, discordance=discordance, gap="seen" if seen else "stated", **naming(resolved),
            concentration=concentration, ci_prob=level, wanted_assurance=wanted, wanted_error_rate=most,
            **({} if method is None else {"method": method}),
            **({} if unit_size is None else {"unit_size": unit_size, "icc": icc, "design_effect": design}),
            prior=prior, model=model, design="paired" if isinstance(contest, Together) else "independent",
            assumptions=assumed(
                None, SAME_ITEMS if isinstance(contest, Together) else OWN_ITEMS, PILOTED if seen else STATED
            ),
        ),
    )  # fmt: skip


def _stated(
    first: float, second: float, discordance: float | None, concentration: float | None, metric: Metric,
    base: Concentrations, sure: float,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the contest of rates as stated, and what equal systems share."""
    if first == second or (first < second) != metric.loss:
        least = "smaller" if metric.loss else "larger"
        raise ValueError(f"`first` must be better than `second`, {least} of {metric.name}; got {first} and {second}.")
    if discordance is not None:
        each = _of_pair(metric, base)
        return Together(*_discordant(first, second, discordance, concentration), each, sure), discordance
    rates = Rate.of_mode("first", first, concentration), Rate.of_mode("second", second, concentration)
    return _apart(metric, rates, (first, second), _of_one(metric, base), sure)


def _after(pilot: gaps.Pilot, metric: Metric, base: Concentrations, sure: float) -> tuple[Any, Any]:
    """Return the contest of rates as a pilot leaves them, and what equal systems share: the mean."""
    if pilot.paired:
        each = _of_pair(metric, base)
        share, part = pilot.rates((2.0 * each, each), (each, each))
        return Together(share, part, each, sure), share.mean()
    own = _of_one(metric, base)
    rates = pilot.rates(own, own)
    return _apart(metric, rates, (rates[0].mean(), rates[1].mean()), own, sure)


def _apart(
    metric: Metric, rates: tuple[Rate, Rate], equal: tuple[float, float], prior: tuple[float, float], sure: float
) -> tuple[Apart, tuple[float, float]]:
    """Return the contest on items of their own; of errors, that of the shares without them: proportions, too."""
    if metric.loss:
        rates, prior = (rates[0].reversed(), rates[1].reversed()), prior[::-1]
        equal = 1.0 - equal[0], 1.0 - equal[1]
    return Apart(*rates, prior, sure), equal


def _of_one(metric: Metric, prior: Concentrations) -> tuple[float, float]:
    """Return the prior of a proportion."""
    dist = exact_distribution(metric, prior)
    beta = None if dist is None else dist.concentrations
    if beta is None or min(beta) <= 0:
        raise ValueError(f"`metric` must be a proportion with a proper Beta as its prior; {metric.name} isn't.")
    return float(beta[0]), float(beta[1])


def _of_pair(metric: Metric, prior: Concentrations) -> float:
    """Return the prior concentration of "only one of two is right", of either, and of all other items."""
    if metric.name not in _OF_PAIRS:
        raise ValueError(f"`metric` must be accuracy, recall or specificity with `discordance`; got {metric.name}.")
    if not (each := of_pairs(prior.rows)):
        raise ValueError("`prior` must be proper: tests to come may leave a cell empty. Take prior='jeffreys'.")
    return each


def _discordant(first: float, second: float, discordance: float, concentration: float | None) -> tuple[Rate, Rate]:
    """Return the share of discordant items, and the first system's part of them."""
    share = validate.number("discordance", discordance, 0, 1, closed=True)
    least, most = abs(first - second), min(first + second, 2 - first - second)
    if not least - 1e-12 <= share <= most + 1e-12 or share == 0:
        raise ValueError(f"`discordance` must be from {least:g} (the difference) to {most:g} and not 0; got {share:g}.")
    part = min((1 + (first - second) / share) / 2, 1.0)
    return Rate.of_mode("discordance", share, concentration), Rate.of_mode("first", part, concentration)


def _rarely_wrong(
    find: Callable[[int], float], wrong: Callable[[int], float], wanted: float, most: float
) -> tuple[int, float, float]:
    """Return a number of items with the wanted assurance and an error rate of at most so much, and what they are.

    The error rate goes up and down a little, and in the long run up to 1 - ci_prob: no use to look far.
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
        f"better with probability {errs:.3g}. Ask for a `ci_prob` of {1.0 - most:g} or more."
    )


def _least(find: Callable[[int], float], wanted: float) -> tuple[int, float]:
    """Return a number of items that reaches the wanted assurance where a little less doesn't, and what it reaches."""
    low, high, missed, step = 0, 1, 0.0, 0
    while (reached := find(high)) < wanted:
        low, high, missed = high, 2 * high, reached
        if high > MOST:
            raise ValueError(f"`assurance`={wanted:g} needs more than {MOST:,} items; ask for less.")
    while high - low > (near := max(1.0, _CLOSE * high * (high > 1 / _CLOSE))):
        middle, (below, at, above), step = (low + high) // 2, ndtri([missed, wanted, reached]), step + 1
        if near > 1.0 and step % 3 and math.isfinite(above - below):  # every third time halved, which is never slow
            on_line = low + (high - low) * (at - below) / (above - below)
            aside = 0.5 * near if on_line < middle else -0.5 * near  # to bring the end near that is farther away
            middle = min(max(round(on_line + aside), low + 1), high - 1)
        found = find(middle)
        if found >= wanted:
            high, reached = middle, found
        else:
            low, missed = middle, found
    return high, reached
