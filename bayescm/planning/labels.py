"""What one more label is worth, and where to spend it: audits, whose items are checked by stratum."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import strata, validate
from bayescm.data.schema import GROUP, attributes, labels_of
from bayescm.distributions import beta_quantiles
from bayescm.distributions import strata as groups
from bayescm.distributions.beta_binomial import Rate
from bayescm.inference import audits
from bayescm.metrics import MetricLike, parts, per_label, resolve
from bayescm.planning.costs import constant_actions, cost_matrix
from bayescm.priors.concentrations import PriorLike, resolved_prior
from bayescm.results.objects import stamped

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Lumps = tuple[Array, Array]
"""Values and their probabilities."""


class Outcome(NamedTuple):
    """What labels lead to: the expected least cost, whether it is exact, and how they are spent."""

    least: float
    exact: bool
    spent: Whole


LABELS = "n_checks"
MOST = 10**6
_LONG_NAMES = {
    "labels": "Labels to be spent",
    "neyman": "Neyman's shares of the labels",
    "sd": "Standard deviation of the share now",
    "expected_sd": "Root of the expected variance after the labels",
    "value": "What the labels save on average",
    "net": "The same less their price",
    "value_of_information": "What knowing all rates would save",
    "cost": "Expected cost of all items",
}
_USUAL = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_OUTCOMES = 1_000_000
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_NODES, _TAIL = 2**15, 1e-16


@stamped
def allocate(
    counts: xr.DataArray, n_checks: int, metric: MetricLike = "accuracy", *, prior: PriorLike | None = None
) -> xr.Dataset:
    """Say of which stratum to check how many of the next labels.

    Parameters
    ----------
    counts : xarray.DataArray
        An audit: see :func:`bayescm.audited`.
    n_checks : int
        Labels to be spent.
    metric : str, Metric
        A share of all items: accuracy, error rate, prevalence (of two classes).
    prior : str, number or array_like
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over ``group``: ``labels``, which make the expected posterior variance least, one label after the other, among
        items that nobody looked at; ``neyman``, Neyman's shares of the labels (share of all items times the standard
        deviation at the posterior mean), not rounded and without regard to what was checked; ``totals`` and
        ``checked``. Without it: ``sd`` now, from the strata alone, and ``expected_sd``, the root of the expected
        variance afterwards.

    Raises
    ------
    ValueError
        If `metric` isn't linear in the cells, or there are fewer unchecked items.

    Notes
    -----
    The variance of a group's share v after m more labels is on average v A / (A + m), A the sum of its concentrations:
    convex in m, so that the greedy choice is the best.

    References
    ----------
    Neyman 1934; Cochran 1977, section 5.5.

    Examples
    --------
    >>> import bayescm
    >>> audit = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900])
    >>> bayescm.planning.allocate(audit, 40)["labels"].to_series().to_dict()
    {'predicted 0': 0, 'predicted 1': 40}
    """
    prior = resolved_prior(prior)
    of, posterior = audits.posterior_of(counts, prior)
    left = _left(of)
    n = _number("n_checks", n_checks, left)
    resolved = resolve([metric], counts.sizes["actual"])[0]
    k = counts.sizes["actual"]
    if resolved.ratio is None or resolved.link != "identity" or per_label(resolved, k):
        raise ValueError(f"`metric` must be one share of all items, such as accuracy; got {resolved.name}.")
    over, under = parts(resolved, np.eye(k * k).reshape(k * k, k, k))
    flat = posterior.cells.reshape(len(left), -1)
    if (flat @ (1.0 - over - under)).any():
        raise ValueError(f"`metric` must be a share of all items, such as accuracy; {resolved.name} is of some.")
    a, size = flat @ over, flat.sum(1)
    weights, mean = _shares(posterior), a / size
    variance = weights**2 * mean * (1.0 - mean) / (size + 1.0)
    labels = _split(variance, size, left, n)
    neyman = weights * np.sqrt(mean * (1.0 - mean))
    after = variance * size / (size + labels)
    whole = {"sd": float(np.sqrt(variance.sum())), "expected_sd": float(np.sqrt(after.sum()))}
    found = {"labels": labels, "neyman": n * neyman / neyman.sum(), "totals": of.totals, "checked": of.checked}
    return xr.Dataset(
        {name: (GROUP, values) for name, values in found.items()} | whole,
        coords={GROUP: of.names},
        attrs=audits.attrs_of(counts, prior) | attributes(metric=resolved.name, n_checks=n),
    ).pipe(_named)


@stamped
def label_value(
    counts: xr.DataArray,
    costs: Any,
    *,
    per_check: float,
    n_items: int,
    n_checks: Sequence[int] | None = None,
    prior: PriorLike | None = None,
) -> xr.Dataset:
    """Say what further labels are worth to a decision, and how many are worth their price.

    Of taking the verdict for all `n_items` further items, and calling all negative or positive, the action with the
    least expected cost is chosen. Labels are worth what they can be expected to save by another choice.

    Parameters
    ----------
    counts : xarray.DataArray
        An audit of two labels with totals by predicted class: see :func:`bayescm.audited`.
    costs : mapping or array_like of shape (2, 2)
        What an item of each cell costs, as in :func:`bayescm.decide`.
    per_check : float
        Price of a label, in the same money.
    n_items : int
        Items to be decided about.
    n_checks : sequence of int, optional
        Numbers of further labels; by default 1, 2, 5, 10, ... up to the unchecked items.
    prior : str, number or array_like
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over ``n_checks``: ``value`` (expected saving, all items), ``net`` (less the price of the labels) and
        ``labels(n_checks, group)``, how they are spent: the best of five ways to divide them between the two verdicts,
        and so that what another action gains becomes least uncertain within each. Without it
        ``value_of_information``, the saving if the truth of every group were known;
        ``best_n``, the number among those given with the largest ``net``, 0 if none is worth its price; ``best``, the
        action now; ``cost(action)``, expected, of all items.

    Notes
    -----
    Expected value of sample information: for each outcome of the labels, a beta-binomial number of positives in each
    group, the least posterior expected cost; summed over all outcomes (``method`` "exact"), or, where those of the
    groups with one verdict are more than a million, over a lattice of 32,768 sums of money ("quadrature"; the error is
    some 1e-9 of the whole range). What labels can't tell, the groups' shares, is at its mean.

    References
    ----------
    Raiffa and Schlaifer 1961.

    Examples
    --------
    >>> import bayescm
    >>> audit = bayescm.audited([[4, 2], [1, 5]], totals=[600, 400])
    >>> found = bayescm.planning.label_value(audit, {"fn": 5, "fp": 2}, per_check=1, n_items=5000)
    >>> found["best"].item(), int(found["best_n"])
    ('classifier', 50)
    """
    prior = resolved_prior(prior)
    of, posterior = audits.posterior_of(counts, prior)
    labels = labels_of(counts)
    if len(labels) != 2 or not of.by_verdict:
        raise ValueError("`counts` must be an audit of two labels with totals by predicted class.")
    price = validate.number("per_check", per_check, 0, np.inf, closed=True)
    items = validate.positive_integer("n_items", n_items)
    matrix, left = cost_matrix(costs, labels), _left(of)
    grid = _grid(n_checks, left)
    a, b = posterior.cells.sum(2)[:, ::-1].T  # of positives and negatives in every group
    verdict = of.possible.any(1).argmax(1)
    given = np.stack([matrix[:, verdict], *(np.repeat(matrix[:, [j]], len(verdict), 1) for j in range(2))])
    slope = _shares(posterior) * (given[:, 1] - given[:, 0])  # (action, group)
    now = given[:, 0] @ _shares(posterior) + slope @ (a / (a + b))
    rates = list(zip(a.tolist(), b.tolist(), strict=True))
    outcomes = [_best_split(now, slope, rates, left, n) for n in grid]
    value = np.array([items * max(now.min() - one.least, 0.0) for one in outcomes])
    perfect = items * max(now.min() - _least(now, slope, [_beta(*rate) for rate in rates])[0], 0.0)
    net, spent = value - price * np.array(grid), np.stack([one.spent for one in outcomes])
    actions = ["classifier", *constant_actions(labels)]
    attrs = audits.attrs_of(counts, prior) | attributes(
        per_check=price, n_items=items, method="exact" if all(one.exact for one in outcomes) else "quadrature",
    )  # fmt: skip
    return xr.Dataset(
        {
            "value": (LABELS, value), "net": (LABELS, net), "labels": ((LABELS, GROUP), spent),
            "value_of_information": perfect, "best_n": grid[int(net.argmax())] if net.max() > 0.0 else 0,
            "best": actions[int(now.argmin())], "cost": ("action", items * now),
        },
        coords={LABELS: (LABELS, grid, {"long_name": "Further labels"}), GROUP: of.names, "action": actions},
        attrs=attrs,
    ).pipe(_named)  # fmt: skip


def _named(found: xr.Dataset) -> xr.Dataset:
    """Say what each number is, so that pictures of them have their words."""
    for name, text in _LONG_NAMES.items():
        if name in found:
            found[name].attrs["long_name"] = text
    return found


def _shares(posterior: groups.Groups) -> Array:
    """Return the mean share of every group."""
    return posterior.shares / posterior.shares.sum()


def _left(of: strata.Strata) -> Whole:
    """Return how many items of each group nobody looked at; areas have no end of points."""
    if of.of == "population":
        return np.where(of.totals > 0, MOST, 0)
    return (of.totals - of.checked).astype(np.int64)


def _number(name: str, value: Any, left: Whole) -> int:
    """Return a number of labels that can be spent."""
    n = validate.positive_integer(name, value)
    most = min(int(left.sum()), MOST)
    if n > most:
        raise ValueError(f"`{name}` must be at most {most:,}, of items that nobody looked at; got {n:,}.")
    return n


def _grid(n_checks: Any, left: Whole) -> list[int]:
    """Return the numbers of labels to look at."""
    if n_checks is None:
        found = [n for n in _USUAL if n <= left.sum()]
        if not found:
            raise ValueError("`counts` has no unchecked item; there is nothing to label.")
        return found
    grid = [_number("n_checks", n, left) for n in validate.listed("n_checks", n_checks)]
    if not grid:
        raise ValueError("`n_checks` is empty; give at least one number.")
    validate.unique("n_checks", grid)
    return grid


def _split(variance: Array, size: Array, left: Whole, n: int) -> Whole:
    """Spend n labels so that the sum of v A / (A + m) is least: with equal gains to each, then one after the other."""
    root, spent = np.sqrt(variance * size), np.zeros(len(left), np.int64)
    if n == 0:
        return spent
    if not root.any():
        root = np.sqrt(size)
    low, high = 0.0, float((root / np.maximum(size, 1e-9)).max())
    for _ in range(100):  # the multiplier at which the labels of all groups add up to n
        middle = 0.5 * (low + high)
        wanted = np.minimum(np.maximum(root / max(middle, 1e-300) - size, 0.0), left)
        low, high = (middle, high) if wanted.sum() > n else (low, middle)
    wanted = np.minimum(np.maximum(root / max(high, 1e-300) - size, 0.0), left)
    spent[:] = np.maximum(np.floor(wanted) - 1, 0)
    for _ in range(n - int(spent.sum())):
        gain = root**2 / ((size + spent) * (size + spent + 1.0))
        spent[int(np.where(spent < left, gain, -1.0).argmax())] += 1
    return spent


def _best_split(now: Array, slope: Array, rates: Sequence[tuple[float, float]], left: Whole, n: int) -> Outcome:
    """Divide n labels between what is called negative and positive in some ways, and return the best of these."""
    a, b = np.array(rates).T
    gain = slope[1:] - slope[0]  # of calling all items negative, and positive: each differs in other groups
    variance = (gain**2).sum(0) * a * b / ((a + b) ** 2 * (a + b + 1.0))
    sides = [gain[0] != 0.0, gain[0] == 0.0]
    found: dict[int, Outcome] = {}
    for share in _SHARES:
        m = max(min(round(share * n), int(left[sides[0]].sum())), n - int(left[sides[1]].sum()))
        if m in found:
            continue
        spent = np.zeros(len(left), np.int64)
        for side, number in zip(sides, (m, n - m), strict=True):
            spent[side] = _split(variance[side], (a + b)[side], left[side], number)
        after = [_after_labels(*rate, int(k)) for rate, k in zip(rates, spent, strict=True)]
        found[m] = Outcome(*_least(now, slope, after), spent)
    return min(found.values(), key=lambda one: one.least)


def _least(now: Array, slope: Array, rates: Sequence[Lumps]) -> tuple[float, bool]:
    """Return the expected least cost of three actions, and whether it is a sum over all outcomes.

    To call all items positive, or all negative, differs from the verdict only where that says otherwise. So the two
    differences come from different groups, and are independent.
    """
    means = np.array([values @ weights for values, weights in rates])
    constant = now - slope @ means
    extra, exact = [], True
    for action in (1, 2):
        differs = slope[action] - slope[0]
        terms = [(differs[g] * rates[g][0], rates[g][1]) for g in np.flatnonzero(differs).tolist()]
        (values, weights), whole = _sum(terms)
        extra.append((values + constant[action] - constant[0], weights))
        exact = exact and whole
    return float(now[0]) + _mean_of_least(*extra), exact


def _mean_of_least(first: Lumps, second: Lumps) -> float:
    """Return the mean of min(0, X, Y) of independent X and Y."""
    points = np.unique(np.concatenate([first[0], second[0], [0.0]]))
    points = points[points <= 0.0]
    above = np.ones(len(points))
    for values, weights in (first, second):
        order = np.argsort(values, kind="stable")
        below = np.append(0.0, np.cumsum(weights[order]))
        above *= np.maximum(1.0 - below[np.searchsorted(values[order], points, side="right")], 0.0)
    above[-1] = 0.0
    return float(points @ -np.diff(above, prepend=1.0))


def _sum(terms: Sequence[Lumps]) -> tuple[Lumps, bool]:
    """Return the sum of independent numbers: of all their combinations, or where these are too many on a lattice."""
    if np.prod([float(len(values)) for values, _ in terms]) <= _OUTCOMES:
        whole, weight = np.zeros(1), np.ones(1)
        for values, weights in terms:
            whole = np.asarray(np.add.outer(whole, values).ravel())
            weight = np.asarray(np.multiply.outer(weight, weights).ravel())
        return (whole, weight), True
    step = sum(float(np.ptp(values)) for values, _ in terms) / _NODES
    low, weight = 0.0, np.ones(1)
    for values, weights in terms:
        place = (values - values.min()) / step
        left = np.floor(place).astype(np.int64)
        part = place - left
        each = np.bincount(left, weights * (1.0 - part), int(left.max()) + 2)
        each += np.bincount(left + 1, weights * part, len(each))  # two neighbours, with the same mean
        low, size = low + float(values.min()), len(weight) + len(each) - 1
        weight = np.maximum(np.fft.irfft(np.fft.rfft(weight, size) * np.fft.rfft(each, size), size), 0.0)
    return (low + step * np.arange(float(len(weight))), weight), False


def _after_labels(a: float, b: float, n: int) -> Lumps:
    """Return the means that a rate may have after n labels, and their beta-binomial probabilities."""
    m = np.arange(n + 1.0)
    return (a + m) / (a + b + n), np.exp(Rate(a, b).log_pmf(m, n))


def _beta(a: float, b: float) -> Lumps:
    """Return a Beta on a lattice: between neighbours its mean stays, so that only a kink between them errs."""
    low, high = float(beta_quantiles.ppf(_TAIL, a, b)), float(beta_quantiles.isf(_TAIL, a, b))
    nodes = np.linspace(low, high, _NODES + 1)
    mean = a / (a + b)
    area = nodes * special.betainc(a, b, nodes) - mean * special.betainc(a + 1.0, b, nodes)  # under the cdf
    return nodes, np.diff(np.diff(area) / np.diff(nodes), prepend=0.0, append=1.0)
