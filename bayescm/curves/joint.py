"""curve_posterior(): one joint posterior for a whole ROC or PR curve and everything that is read from it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm._kernels import codes, dispatch
from bayescm._kernels.codes import Read
from bayescm.curves.exchanged import warn_of_ends, warn_of_few
from bayescm.curves.options import Plan, groups_of, plan, shape_of
from bayescm.curves.reading import dataset, marked, part, room
from bayescm.data.assumptions import EACH_CLASS, assumed
from bayescm.data.inputs import takes_items
from bayescm.data.labels import Label
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import CHAIN, DRAW, attributes, positive_class, tree
from bayescm.data.scores import ITEM, Ranking, Scores, check_scores, rank, signed
from bayescm.data.streams import is_stream, scores_of
from bayescm.data.units import in_units, of_units, one_by_one
from bayescm.data.words import Direction
from bayescm.metrics import MetricsLike
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, exchange

Array = NDArray[np.float64]
_Units = tuple[NDArray[np.int64], Array]  # the first item of each item's unit, and items of a unit by class

_BLOCK = 128  # draws that share a generator
_MOST = 2**23  # numbers that are read at a time: 64 MB
_RARE = 1e-15  # a drawn prevalence may underflow to 0 or 1, where precision isn't defined


@takes_items
def curve_posterior(
    y_true: Any,
    y_score: Any = None,
    *,
    over: Literal["rate", "threshold"] | None = "rate",
    points: int | ArrayLike | None = None,
    metrics: MetricsLike = None,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    recall_range: tuple[float, float] | None = None,
    at_specificity: float | ArrayLike | None = None,
    at_sensitivity: float | ArrayLike | None = None,
    by: ArrayLike | Mapping[str, ArrayLike] | None = None,
    unit: ArrayLike | None = None,
    prior: str | float | None = None,
    prevalence: PrevalenceLike = None,
    chains: int = 4,
    draws: int = 1000,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    direction: Direction = "larger",
    random_seed: int | np.random.Generator | None = None,
) -> xr.DataTree:
    """Draw whole ROC and PR curves from their joint posterior, with everything that is read from a curve.

    The items of each class weigh at random, as in the Bayesian bootstrap, and with them a prior item, which has the
    score of an item of the other class. Every draw is a pair of distributions, so its rates at all thresholds, its
    areas and its best threshold belong together.

    Parameters
    ----------
    y_true : array_like of shape (n,), or iterator
        Actual labels, two classes. Or, without `y_score`, an iterator over chunks, pairs of labels and scores, of which
        the distinct ones are kept: for 10^7 and more round the scores first.
    y_score : array_like of shape (n,), mapping, data frame or xarray.DataArray
        Real scores, also infinite ones; equal scores are ties, and nothing is compared with a tolerance. Several
        systems that scored the same items: a mapping of names to scores, a data frame with a column for each, or a
        DataArray over ``item`` and another dim. Their posterior is joint.
    over : {"rate", "threshold", None}
        What curves are given over: a fixed axis of rates, thresholds, or nothing (areas only).
    points : int or array_like, optional
        Over rates: that many from 0 to 1, or the rates (101). Over thresholds: at most that many of the observed
        scores, evenly spaced in rank (301), or the thresholds.
    metrics : str, callable, sequence or mapping, optional
        Over thresholds: metrics of two labels, as in :func:`bayescm.summary`, that are given at each threshold and at
        the best one. Of metrics such as the error rate or ``bayescm.metrics.expected_cost`` the least value is the
        best; a function is maximised, so let it return minus a cost.
    fpr_range, tpr_range : pair of numbers, optional
        Ranges of partial areas under the ROC curve.
    recall_range : pair of numbers, optional
        Range of a partial area under the PR curve, such as (0.2, 1): the mean precision over these recalls.
    at_specificity, at_sensitivity : float or array_like, optional
        Where sensitivity, and specificity, are read.
    by : array_like of shape (n,) or mapping of a name to it, optional
        Groups of the items, such as folds: each has a posterior of its own, over the dim ``group`` or that name.
    unit : array_like of shape (n,), optional
        What was sampled, where it has several items, such as the patient of each lesion: units weigh at random, and
        the prior item of a class stands for as many items as a unit has of it.
    prior : {"prior_item", "smoothed", "bootstrap"} or float, optional
        "prior_item": a third of an item in each class, with the score of an item of the other class, whichever comes; a
        number is another share (0: "bootstrap"). "smoothed": a unit of weight between neighbouring items of a class
        (Banks 1988); for one system. "bootstrap": none, the Bayesian bootstrap. Default: "prior_item", but "smoothed"
        for one system at the prevalence of another population.
    prevalence : None, "fixed", number or pair of numbers
        None: estimated from the items, whose distribution is that of a random sample, with the prior Beta(1/2, 1/2)
        (none for "bootstrap"). "fixed": their share. A number, or the two numbers of a Beta: that of another
        population; where it is low only "smoothed" has areas under the PR curve that cover.
    chains, draws : int
        The draws are independent; chains are there for ArviZ.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.
    direction : {"larger", "smaller"}
        Scores that mean positive.
    random_seed : int, numpy.random.Generator or None
        The same seed gives the same draws for any number of threads.

    Returns
    -------
    xarray.DataTree
        ``posterior``, over ``(chain, draw)`` and the dim of groups or systems: ``auc``; ``average_precision`` (the mean
        over cases of the precision at their score); ``pr_area`` (the area under the PR curve, ties and gaps as slopes);
        ``prevalence``; over rates ``tpr(fpr)`` and ``precision(recall)``; over thresholds ``tpr``, ``fpr``,
        ``precision`` and each metric by its name, ``best_threshold(metric)``, ``best_value(metric)`` and
        ``regret(metric)``, what the chosen threshold falls short of the best; ``partial_auc_fpr``, ``partial_auc_tpr``
        and both as ``..._corrected``; ``partial_pr_area``, with `recall_range`: as ``pr_area``;
        ``sensitivity_at_specificity(specificity)`` and
        ``specificity_at_sensitivity(sensitivity)``.
        ``constant_data``, with `metrics`: ``chosen_threshold(metric)``, the best on average of the thresholds at which
        the metric is defined in all draws; NaN for a metric that is infinite in some (likelihood ratios, odds ratios).
        ``observed_data``: ``score(item)``, ``actual(item)`` and ``positive(item)``; of a stream its distinct pairs, and
        ``n(item)``, how often each occurs.

    Raises
    ------
    ValueError
        If a class has no items and the prior is no proper one; if "smoothed" is asked for several systems.

    Warns
    -----
    UserWarning
        Where controls x prevalence / (1 - prevalence) is below 20 for another population's prevalence, and the prior
        isn't "smoothed"; where a specificity or sensitivity is nearer to 1 than one item of its class.

    Notes
    -----
    A predicted positive has ``score >= threshold`` (direction "smaller": <=). A threshold between two observed scores,
    or beyond all of them, lies in the middle of the gap.

    "prior_item": of a class of n items each weighs Gamma(n / (n + 2)), from 500 items on Gamma(1), and the prior item
    Gamma(1/3), with the score of an item of the other class that is drawn by weight. "smoothed" gives the rate of n
    items at an observed score that k of them reach the distribution Beta(k + u, n - k + 1 - u), where u in [0, 1] says
    how far it lies between its neighbours in the ranking.

    Systems share the weights of all items; a prior item has every system's score of the item that it looks like.
    Systems that rank all items alike get the same draws.

    References
    ----------
    Rubin 1981, Annals of Statistics 9; Banks 1988, Biometrika 75; McClish 1989. docs/curves.md shows the coverage.

    Examples
    --------
    >>> import bayescm
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.4, 0.7, 0.8, 0.9]
    >>> post = bayescm.curve_posterior(y, s, random_seed=1)["posterior"]
    >>> post["auc"].quantile([0.025, 0.975]).values.round(2)
    array([0.51, 0.99])
    >>> dict(post["tpr"].sizes)
    {'chain': 4, 'draw': 1000, 'fpr': 101}
    """
    if is_stream(y_true) and y_score is None:
        if by is not None or unit is not None:
            raise ValueError("`by` isn't known of a stream's items, nor `unit`: give each group a stream of its own.")
        scores = scores_of(y_true, labels, pos_label, direction)
    elif y_score is None:
        raise TypeError("`y_score` is missing: give y_true and y_score, or an iterator over such pairs.")
    else:
        scores = one_by_one(in_units(check_scores(y_true, y_score, labels, pos_label, direction), unit))
    group_dim, groups = groups_of(by, len(scores.positive))
    if by is not None and scores.systems is not None and group_dim == scores.dim:
        raise ValueError(f"`by` can't be called {group_dim!r}: the systems are called so. Give it another name.")
    made = plan(
        over, points, metrics, prior, prevalence, chains, draws, random_seed, scores, fpr_range, tpr_range,
        recall_range, at_specificity, at_sensitivity,
    )  # fmt: skip
    parts = [_part(scores, groups == group, made, metrics, i) for i, group in enumerate(np.unique(groups))]
    controls = np.where(scores.positive, 0, scores.times())
    fewest = min(int(controls[groups == group].sum()) for group in np.unique(groups))
    cases = min(int((scores.times() - controls)[groups == group].sum()) for group in np.unique(groups))
    warn_of_few(made.prior, len(scores.score), fewest, prevalence)
    warn_of_ends({
        "at_specificity": (made.specificities, fewest, "controls"),
        "at_sensitivity": (made.sensitivities, cases, "cases"),
    })  # fmt: skip
    if by is None:
        posterior = parts[0]
    else:
        posterior = xr.concat(parts, group_dim, data_vars="all", coords="minimal", compat="override", join="override")
        posterior = posterior.assign_coords({group_dim: np.unique(groups)})
        posterior = posterior.transpose(CHAIN, DRAW, group_dim, ..., missing_dims="ignore")
    attrs = attributes(
        prior=made.prior, prior_weight=made.weight, prevalence=prevalence, over=over or "nothing",
        draws=draws, chains=chains, random_seed=made.seed, labels=scores.labels.tolist(), direction=direction,
        **positive_class(scores.labels.tolist()),
        **{"assumptions": assumed(None if isinstance(prevalence, str) else prevalence, items=EACH_CLASS)}
        | of_units(scores.unit, prevalence),
        **({} if by is None else {"groups": group_dim}),
        **({} if fpr_range is None else {"fpr_range": list(fpr_range)}),
        **({} if tpr_range is None else {"tpr_range": list(tpr_range)}),
        **({} if recall_range is None else {"recall_range": list(recall_range)}),
    )  # fmt: skip
    found = {"posterior": posterior, "observed_data": _observed(scores, by, group_dim, groups)}
    if "chosen_threshold" in posterior:  # no draw: ArviZ is not to take it for one
        found["constant_data"] = posterior[["chosen_threshold"]]
        found["posterior"] = posterior.drop_vars("chosen_threshold")
    return tree(found, attrs)


def _part(scores: Scores, mask: NDArray[np.bool_], plan: Plan, metrics: MetricsLike, group: int) -> xr.Dataset:
    """Return the posterior of one group of items."""
    positive, score, n = scores.positive[mask], scores.score[:, mask], scores.times()[mask]
    totals = np.array([n[~positive].sum(), n[positive].sum()], np.float64)
    if plan.prior == "bootstrap" and not totals.all():
        raise ValueError(
            f"`prior`='bootstrap' needs items of both classes; got {totals[1]:g} cases and {totals[0]:g} controls. "
            "Take 'prior_item', whose answer for a class without items is its prior."
        )
    size, shapes = plan.chains * plan.draws, plan.shapes(totals)
    prevalence = _prevalence(plan, totals, size, matrix_rng(plan.seed, group, Stream.CURVE_PREVALENCE))
    units = None
    if scores.unit is not None:
        units, shapes = _of_units(scores.unit[mask], positive, shapes, plan)
        prevalence = np.full(size, np.nan) if plan.prevalence is None else prevalence
    fprs, tprs = plan.rates()
    ranked = [rank(positive, one, n) for one in score]
    first, which = _distinct(ranked)
    marks, columns = _marks(ranked, which, plan.axis if plan.over == "threshold" else np.empty(0))
    kept = [ranked[i] for i in first]
    odds = (1 - prevalence) / prevalence

    def drawn(start: int, stop: int) -> Read:
        read = room(len(first), stop - start, len(fprs), len(tprs), marks.shape[1])
        draw = _kernel(positive, kept, marks, shapes, plan.prior, read, odds[start:stop], fprs, tprs, units)
        dispatch.in_blocks(
            lambda a, b: draw(matrix_rng(plan.seed, (group << 32) + (start + a) // _BLOCK, Stream.CURVE), a, b),
            stop - start, _BLOCK,
        )  # fmt: skip
        if scores.unit is not None:
            prevalence[start:stop] = 1.0 / (1.0 + odds[start:stop])
        return marked(part(read, which), columns)

    numbers = len(which) * (3 + 2 * (len(fprs) + len(tprs) + marks.shape[1]))  # of a draw
    step = max(_MOST // numbers // _BLOCK, 1) * _BLOCK
    return dataset(scores, plan, metrics, dispatch.parts(size, step), drawn, prevalence, fprs, tprs)


def _of_units(unit: NDArray[np.int64], positive: NDArray[np.bool_], shapes: Array, plan: Plan) -> tuple[_Units, Array]:
    """Return the units, and the shapes of masses, alike for both classes."""
    _, first, which = np.unique(unit, return_index=True, return_inverse=True)
    tested = [np.maximum(len(np.unique(unit[positive == one])), 1) for one in (False, True)]
    sizes = np.array([np.maximum((positive == one).sum(), 1) / n for one, n in zip((False, True), tested, strict=True)])
    mine = 1.0 if plan.prior == "bootstrap" else shape_of(len(first))
    return (first[which].astype(np.int64), sizes), np.stack([np.full(2, mine), shapes[:, 1]], axis=1)


def _distinct(ranked: Sequence[Ranking]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of the systems that rank all items alike, and which of these each system is.

    They get the same draws: what no item tells apart isn't drawn apart.
    """
    if len(ranked) == 1:
        return np.zeros(1, np.intp), np.zeros(1, np.intp)
    rows = np.stack([one.step for one in ranked])
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which.ravel()]


def _prevalence(plan: Plan, totals: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw the prevalence."""
    own = totals + (0.0 if plan.prior == "bootstrap" else 0.5)
    which = exchange(Concentrations(np.ones((2, 2)), own), plan.prevalence, totals)
    if which.known:
        return np.full(size, float(which.shares[1]))
    return np.clip(rng.beta(which.shares[1], which.shares[0], size), _RARE, 1 - _RARE)


def _kernel(
    positive: NDArray[np.bool_], ranked: Sequence[Ranking], marks: Array,
    shapes: Array, prior: str, read: Read, odds: Array, fprs: Array, tprs: Array, units: _Units | None = None,
) -> Callable[[np.random.Generator, int, int], None]:  # fmt: skip
    """Return a function that fills some of the draws."""
    leads, sizes = units or (np.arange(len(positive)), np.ones(2))
    if len(ranked) > 1 or (leads < np.arange(len(leads))).any():
        steps = np.stack([one.step for one in ranked])
        kinds = np.array([len(one.score) for one in ranked])
        cuts = np.floor(marks)
        draw_all = dispatch.kernel("roc", "joint")
        return lambda rng, start, stop: draw_all(
            rng, positive, steps, kinds, shapes, leads, sizes, cuts, odds[start:stop], fprs, tprs,
            part(read, np.s_[:, start:stop]),
        )  # fmt: skip
    draw, args = dispatch.kernel("roc", "smoothed"), [ranked[0].cases, ranked[0].controls, marks[0]]
    if prior != "smoothed":
        first, above, cuts, *items = _steps(ranked[0], marks[0])
        draw, args = dispatch.kernel("roc", "single"), [codes.Ranking(first, above, cuts), codes.Steps(*items), shapes]
    return lambda rng, a, b: draw(rng, *args, odds[a:b], fprs, tprs, part(read, np.s_[0, a:b]))


def _marks(ranked: Sequence[Ranking], which: NDArray[np.intp], thresholds: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the places at which each distinct ranking is to be read, and each system's thresholds among them.

    Places (rankings, marks) are rising; rows with fewer end with the same place again. Columns are (systems, M).
    """
    mine = np.stack([_places(one, thresholds) for one in ranked])
    rows = [np.unique(mine[which == i]) for i in range(which.max() + 1)]
    most = max(len(row) for row in rows)
    marks = np.stack([np.concatenate([row, np.repeat(row[-1:], most - len(row))]) for row in rows])
    return marks, np.stack([np.searchsorted(rows[i], places) for i, places in zip(which, mine, strict=True)])


def _places(ranking: Ranking, thresholds: Array) -> Array:
    """Return the places of falling thresholds on the stretched axis: behind an observed score, else amid a gap.

    Infinite thresholds are the ends of the axis, unless a score is infinite too.
    """
    rising = ranking.score[::-1]
    above = len(rising) - np.searchsorted(rising, thresholds)  # scores that reach each threshold
    amid = np.where(np.isinf(thresholds), above + (thresholds < 0), above + 0.5)
    return np.where(np.isin(thresholds, rising), above, amid).astype(np.float64)


def _steps(ranking: Ranking, marks: Array) -> tuple[NDArray[np.int64], ...]:
    """Return the ranking in the steps that the kernel takes: runs of controls, ended by cases or cut at a mark."""
    number = len(ranking.score)
    places = np.minimum(np.floor(marks), number).astype(np.int64)
    above = np.append(0, np.cumsum(ranking.controls))
    at_cases = np.flatnonzero(ranking.cases)
    middle = np.concatenate([at_cases, np.unique(places), [number]])
    atom = np.zeros(len(middle), np.int64)
    atom[: len(at_cases)] = 1
    order = np.lexsort((atom, middle))  # a cut comes before the cases behind it
    middle, atom = middle[order], atom[order]
    first = np.append(0, middle + atom)
    cases, controls = (np.append(part, 0)[middle] * atom for part in (ranking.cases, ranking.controls))
    runs = above[middle] - above[first[:-1]]
    return first, above, np.searchsorted(first, places, side="right") - 1, runs, cases, controls


def _observed(scores: Scores, by: Any, group_dim: str, groups: NDArray[Any]) -> xr.Dataset:
    """Return the items."""
    several = scores.systems is not None
    given = signed(scores.score, scores.sign)
    dims, values = ((ITEM, scores.dim), given.T) if several else ((ITEM,), given[0])
    observed = xr.Dataset(
        {
            "score": (dims, values),
            "actual": (ITEM, scores.labels[scores.positive.astype(np.int64)]),
            "positive": (ITEM, scores.positive),
        },
        coords={scores.dim: scores.systems} if several else {},
    )
    if scores.n is not None:
        observed["n"] = (ITEM, scores.n)
    return observed if by is None else observed.assign({group_dim: (ITEM, groups)})
