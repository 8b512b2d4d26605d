"""leaderboard(): the probability of every rank, and what follows from it."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.comparison import mixtures, population, rank_draws, ranks, shrinkage, worths
from bayescm.comparison.audits import INDEPENDENT, PAIRED
from bayescm.comparison.board_report import LONG_NAMES, Answer, Options, better_by_moments, dataset
from bayescm.comparison.evidence import FOLDS, JOINT, read, together
from bayescm.comparison.field import Field, Worths, one_number
from bayescm.data import validate
from bayescm.data.assumptions import ONE_KIND
from bayescm.data.inputs import takes_board
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.rankings import PLACKETT_LUCE
from bayescm.data.schema import ONE_CLASS, SYSTEM, attributes, positive_class
from bayescm.data.words import Design
from bayescm.distributions import Beta, Distribution
from bayescm.distributions.sample import Draws
from bayescm.inference.options import PosteriorOptions, number_of_draws
from bayescm.metrics import Metric, MetricLike
from bayescm.metrics.naming import naming
from bayescm.priors.concentrations import PriorLike
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

METHODS = ("exact", "draws")
LEARNED = "learned"
_FEW = {1: 100, 2: 10}  # systems whose distributions by so many integrals don't take long
_MANY = 200  # systems from which every pair is said only if asked for
_NEAR = 1e-12  # draws that are ties but for rounding, where systems share items, or a prevalence
_TRUSTED = 1e-4
_DOUBT = 0.2  # width of P(best)'s range: beyond it P(best) is .22 off on average over kinds of boards, else .07
_LEARN = 5  # systems from which a prior is learnt by default
_DRAWS = 10_000


class BoardOptions(PosteriorOptions, total=False):
    """How a board's posterior is made, on how many items accuracies were measured, and who has no rank."""

    n_items: Any
    unranked: Literal["missing", "worst"]


@stamped
@takes_board
def leaderboard(
    counts: Any,
    *,
    metric: MetricLike = "accuracy",
    method: Literal["exact", "draws"] | None = None,
    design: Design | None = None,
    prizes: ArrayLike | None = None,
    top: int | Sequence[int] = 3,
    pairwise: bool | None = None,
    rope: float | None = None,
    ci_prob: float = 0.95,
    **options: Unpack[BoardOptions],
) -> xr.Dataset:
    """Give every system on a leaderboard the probabilities of its ranks.

    Parameters
    ----------
    counts : xarray.DataArray or xarray.Dataset
        ``counts(system, actual, predicted)``, one test set each; or ``correct(system)`` and ``wrong(system)`` where
        only accuracies were published; or answers to the same items: a joint table
        (:func:`bayescm.data.paired_counts`) or, of any number of systems, :func:`bayescm.predictions`. Also
        ``leaderboard(y_true, {"A": y_pred, ...})``; 0 and 1 for wrong and right answers, items by systems; a frame with
        columns `system`, `item` and `correct`; ``{"correct": [...], "wrong": [...]}`` or a frame of these; a mapping of
        systems to matrices, or to accuracies with `n_items`. Several runs of an item: predictions of shape (items,
        runs), a column `run` in the frame, or how many of 4 runs passed with ``runs=4``. A mapping of systems
        to audits (:func:`bayescm.audited`), or audits over ``system``: each by its own totals; as the same items if
        there are two, each with the verdicts of the other as strata. A tree of draws of several systems,
        ``theta(chain, draw, system, actual, predicted)``: ranked draw by draw. With ``model="plackett_luce"``
        rankings: ranks, 1 the best, a row per ranking and a column per system; a table with `system`, `rank` and what
        names the ranking; lists of names, the best first. Votes are rankings of two: ``[("A", "B"), ...]``, or a
        table with `winner` and `loser`, or an arena's `model_a`, `model_b` and `winner` (Bradley-Terry).
    metric : str, Metric or callable
        One number per system. The best is the largest, or the smallest of a loss such as the error rate.
    design : {"independent", "paired"}, optional
        Default: "paired" for answers to the same items, else "independent", with a warning where all systems have the
        same totals. Say "independent" where they did have items of their own, or where no more is known.
    method : {"exact", "draws"}, optional
        "exact" integrates over independent systems; "draws" counts ranks in `draws` draws, joint ones of systems on
        the same items. By default "exact" for independent systems where the metric has an exact distribution and
        ``error`` is below 1e-4 (of integrals: of up to 100 systems, of two integrals 10), else "draws".
    prizes : array_like, optional
        Of the ranks, from the first on.
    top : int or sequence of int
        For which k to say the probability of being among the k best.
    pairwise : bool, optional
        Whether to say P(better) of every pair; by default of up to 200 systems.
    rope : float, optional
        Differences from -`rope` to `rope` count as none: says P(equivalent) of every pair.
    ci_prob : float
        Probability of the equal-tailed intervals of the metric and of the rank, and the confidence of ``best_set``.
    **options
        `n_items`, a number, one each or a mapping: how many items accuracies were measured on. `unranked`, of rankings:
        "missing", where a system without a rank wasn't compared (the default), or "worst", below all that have one
        (only the k best were named). `model`, `prior`,
        `prevalence`, `draws` (10,000 by default), `random_seed` and what a model takes, as in :func:`bayescm.summary`.
        ``model="hierarchical"`` is one model of all systems, ranked draw by draw. Systems over tasks have a `unit`,
        "task", and an `average`: "units", the mean over tasks as a sample, or "fixed_units", over these tasks alone. A
        prevalence given as a Beta is the same for all systems, and is drawn; `correct` and `wrong` have none, and of
        priors a name, a number or a Beta's two numbers, right answers first. ``prior="learned"`` learns from all
        systems how they scatter, and pulls each towards the others: the cure for the winner's curse. Of independent
        systems for metrics that are one Beta for each (accuracy, recall, precision, F1, ...), of systems on the same
        items for metrics between two bounds; the default there from 5 systems on. Else "jeffreys": each system by
        itself.

    Returns
    -------
    xarray.Dataset
        Over ``system``: ``point``, as measured, ``mean`` and ``interval(ci_bound)`` of the posterior, under a learned
        prior corrected for having been picked; ``rank_probability(rank)``, ``probability_best``,
        ``top_probability(top)``, ``expected_rank``, ``rank_interval(ci_bound)``,
        ``simultaneous_rank_interval(ci_bound)``, ``best_set``, ``tie_group`` (1, 2, ...), with `prizes`
        ``expected_prize``, with an `average` over units ``win_rate`` and ``win_rate_interval(ci_bound)``, the share of
        the others that it beats in a unit, on average, ``probability_better(versus)``, with `rope`
        ``probability_equivalent(versus)``, of rankings ``probability_above(versus)`` and its interval, the chance to be
        ranked above the other; there the metric is the worth as the share of rankings of all in which a system is
        first, and ``point``, the likeliest worths, NaN where the likelihood has no maximum. Of draws also
        ``mcse_rank_probability(rank)``; the attr ``error`` of an exact answer is how far the sums of probabilities,
        over ranks and over systems, are from 1. A learned prior of independent systems leaves the mean of the systems'
        true values and the standard deviation between them in the attrs ``population_mean`` and ``population_sd``; and
        in ``probability_best_range`` between which P(best) of the leader is with a probability of .9, given how the
        systems scatter, where that is wider than .2: then the systems hardly tell how they do.

    Raises
    ------
    ValueError
        For a metric without one number per system, or without a distribution under "exact"; of rankings for ties.

    Warns
    -----
    UserWarning
        If systems with the same totals are taken as independent without being told to; if chains of worths don't agree.

    Notes
    -----
    Draws that tie share their ranks in equal parts; systems with the same data get the same row, exactly. A tie group
    is the best by expected rank of those left, with all that it doesn't beat with a probability above
    (1 + `ci_prob`)/2.

    ``simultaneous_rank_interval`` holds the ranks of all systems at once with a confidence of `ci_prob`: from 1 plus
    how many systems surely beat one, to the number of systems less those that it surely beats; of n systems surely
    means with probability 1 - (1 - ci_prob)/(n(n - 1)). ``best_set`` holds the best with `ci_prob`: all that no
    other surely beats, with 1 - (1 - ci_prob)/(n - 1). Both take each system's data alone, never a
    learned prior; of draws by means and variances of differences, as if these were normal.

    Under the learned prior arcsin(sqrt(rate)) comes from one of two normal clusters, or from a rest whose rates are
    uniform. Places of the clusters and the share of the first are uniform, the share of the rest is Beta(1, 3), the
    scatter of a cluster half-Cauchy with a scale of .02, up to .45; all are integrated without draws, which is right
    to about .005 of P(best). On the same items draws are pulled together on that scale: there systems scatter normally
    around one mean, a system ten times as far with probability min(.1, 1/n). Each metric learns by itself.

    Of rankings shares of worths have a Dirichlet prior, of concentrations 1/2 ("jeffreys"), 1 ("laplace") or a number:
    of two systems a Beta, and proper, so that the worth of one that always wins is finite. Gibbs samples them.

    References
    ----------
    Caron and Doucet 2012, JCGS 21:174 (worths); Toetsch and Hoffmann 2021, Fig. 5; Efron and Morris 1975, JASA 70:311;
    Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91:476 (sets of ranks).

    Examples
    --------
    >>> import bayescm
    >>> kaggle = bayescm.datasets.kaggle2019()
    >>> board = bayescm.leaderboard(kaggle, design="independent", prior="laplace", prizes=[10_000, 2000, 1000])
    >>> board.probability_best.values[:3].round(4)
    array([0.9311, 0.0654, 0.0035])
    >>> board.expected_prize.values[:3].round()
    array([9446., 2351.,  986.])
    >>> learned = bayescm.leaderboard(kaggle, design="independent")
    >>> learned[["point", "mean", "probability_best"]].to_array().values[:, 0].round(4)
    array([0.9976, 0.9974, 0.9159])
    >>> votes = [("A", "B")] * 14 + [("B", "A")] * 6 + [("B", "C")] * 12 + [("C", "B")] * 8
    >>> worth = bayescm.leaderboard(votes, model="plackett_luce", random_seed=1)
    >>> worth["probability_above"].values[0].round(2)
    array([0.5 , 0.68, 0.75])
    """
    if method is not None:
        validate.choice("method", method, METHODS)
    made: dict[str, Any] = dict(options)
    prior, seed = made.pop("prior", None), validate.seed(made.pop("random_seed", None))
    draws = number_of_draws(made.get("draws"), _DRAWS)
    field: Field | Worths
    if made.get("model") == PLACKETT_LUCE:
        other = {"metric": None if metric == "accuracy" else metric, "design": design, "method": method}
        field, answer, settings = worths.of_rankings(counts, made | other, prior, draws, seed)
    elif made.pop("unranked", None) is not None:
        raise ValueError(f"`unranked` is of rankings; say model={PLACKETT_LUCE!r}, too.")
    else:
        field, answer, settings = _of_answers(counts, metric, method, design, prior, draws, seed, made)
    n = len(field.point)
    asked = Options(
        validate.number("ci_prob", ci_prob, 0, 1),
        _top(top, n),
        None if prizes is None else _prizes(prizes, n),
        n <= _MANY if pairwise is None else pairwise,
        None if rope is None else validate.number("rope", rope, 0, np.inf, closed=True),
    )
    board = dataset(field, answer, asked)
    if isinstance(answer.found, ranks.Exact) and answer.found.parts:
        settings |= _doubt(board, answer.found)
    board = board.assign_attrs(
        attributes(
            **naming(field.metric), title=field.metric.title, ci_prob=asked.ci_prob,
            ties="systems that are equal share their ranks in equal parts", **settings,
            **{name: value for name, value in (("prizes", asked.prizes), ("rope", rope)) if value is not None},
        )
    )  # fmt: skip
    for name in board.data_vars:
        board[name].attrs = {"long_name": LONG_NAMES[str(name)].format(field.metric.title)}
    return board


def _of_answers(
    counts: Any, metric: MetricLike, method: str | None, design: Design | None, prior: Any, draws: int, seed: int,
    options: dict[str, Any],
) -> tuple[Field, Answer, dict[str, Any]]:  # fmt: skip
    """Return systems by a metric of their answers, what is known of it, and attrs that say how."""
    requested = isinstance(prior, str) and prior == LEARNED
    evidence = read(
        counts, "counts", design, first=1, otherwise=_DRAWS, prior=None if requested else prior, random_seed=seed,
        **options,
    )  # fmt: skip
    resolved = one_number(metric, evidence.block.k)
    evidence.check([resolved])
    field = Field(evidence, resolved, together(evidence, draws, seed))
    learned = _learns(field, prior)
    how = _method(field, method)
    answer = _answer(field, how, draws, seed, learned=learned)
    error = getattr(answer.found, "error", 0.0)
    if error > _TRUSTED and method is None:
        how = "draws"
        answer = _answer(field, how, draws, seed, learned=learned)
    elif error > _TRUSTED:
        validate.warn(f"The probabilities of the ranks are right to about {error:.0e} only.")
    of_draws = isinstance(answer.found, rank_draws.Drawn)
    settings = {
        "method": how, "design": evidence.design, "model": evidence.model, "prevalence": evidence.prevalence,
        "prior": LEARNED if learned else evidence.prior,
        **(evidence.assumptions(*([ONE_KIND] if learned else [])) | evidence.notes([resolved])),
        **({"runs": evidence.runs} if evidence.runs > 1 else {}),
        **({"draws": field.block.n, "random_seed": seed} if of_draws else {"error": error}),
        **({} if ONE_CLASS in evidence.posterior.settings else positive_class(evidence.labels)),
    }  # fmt: skip
    if isinstance(answer.dist, population.Learned):
        settings |= dict(zip(("population_mean", "population_sd"), answer.dist.between(), strict=True))
    return field, answer, settings


def _doubt(board: xr.Dataset, found: ranks.Exact) -> dict[str, Any]:
    """Return the attr with the range of the leader's P(best), where the systems don't tell how they scatter."""
    low, high = found.between(int(board["expected_rank"].argmin(SYSTEM)))
    return {"probability_best_range": [low, high]} if high - low > _DOUBT else {}


def _learns(field: Field, prior: PriorLike | None) -> bool:
    """Say whether a prior is learnt from the systems, or why it can't be."""
    requested = isinstance(prior, str) and prior == LEARNED
    if prior is not None and not requested:
        return False
    metric, n, design = field.metric, len(field.point), field.evidence.design
    if design in (JOINT, FOLDS) and requested:
        raise ValueError("`prior`='learned' is for counts; these draws have the prior of their model.")
    paired = design == PAIRED
    if not requested:
        return n >= _LEARN and (field.counted is not None or (paired and _bounded(metric)))
    if n < 2:
        raise ValueError("`prior`='learned' learns from several systems; there is one. Take prior='jeffreys'.")
    if paired and not _bounded(metric):
        raise ValueError(f"`prior`='learned' needs a metric between two bounds, which {metric.name} isn't.")
    if not paired and field.counted is None:
        why = "shares an uncertain prevalence" if field.common else "isn't one Beta for each system"
        raise ValueError(
            f"`prior`='learned' can't answer: {metric.name} {why}. Take prior='jeffreys', and expect the best of many "
            "close systems to be stated too high."
        )
    return True


def _bounded(metric: Metric) -> bool:
    return bool(np.isfinite([metric.lower, metric.upper]).all())


def _method(field: Field, requested: str | None) -> str:
    """Return how the ranks are found."""
    if field.evidence.design != INDEPENDENT:
        if requested == "exact":
            raise ValueError(
                "`method`='exact' takes systems as independent: leave it out, or say design='independent'."
            )
        return "draws"
    known = field.dist is not None and not field.common
    if requested == "exact" and not known:
        why = "shares an uncertain prevalence" if field.common else "has no exact distribution that is known"
        raise ValueError(f"`method`='exact' can't answer: {field.metric.name} {why}; take method='draws'.")
    if requested is not None:
        return requested
    if known and field.beta is None:
        each: list[Any] = field.each
        hardest = max(getattr(dist, "integrals", 1) for dist in each)
        smooth = hardest == 1 or all(bool((dist.cells >= 1.0).all()) for dist in each)
        known = smooth and len(each) <= _FEW[hardest]
    return "exact" if known else "draws"


def _answer(field: Field, how: str, draws: int, seed: int, *, learned: bool) -> Answer:
    """Find the ranks."""
    beta, metric = field.beta, field.metric
    learnt = (
        population.learn(field.counted.a, field.counted.b, field.counted.link, smallest=metric.loss)
        if learned and field.counted is not None
        else None
    )
    of_all: Distribution | population.Learned | None = field.dist if learnt is None else learnt
    if how == "exact" and of_all is not None:
        own = ranks.of_betas(beta) if beta is not None else ranks.of_dists(field.each)
        found = own if learnt is None else mixtures.of_learned(learnt)
        own, found = (own.smallest_first(), found.smallest_first()) if metric.loss else (own, found)
        return Answer(found, of_all, own.pairwise)
    if beta is not None and not learned:
        by_quantiles = rank_draws.of_betas(Beta(beta.b, beta.a) if metric.loss else beta, draws, seed)
        return Answer(by_quantiles, beta, partial(better_by_moments, by_quantiles.values, together=False))
    values = field.block.draws([metric])[0].T
    if np.isnan(values).any():
        name = np.asarray(field.coords[SYSTEM])[np.isnan(values).any(0).argmax()]
        raise ValueError(f"`metric`: draws leave {metric.name} of system {name!s} undefined; it has no rank.")
    sign = 1.0 if metric.loss else -1.0
    alone = partial(better_by_moments, sign * values, together=field.common)
    if learnt is not None:
        values = learnt.draw(draws, matrix_rng(seed, 3, Stream.RANKS))
    elif learned:
        of_all, values = None, shrinkage.shrink(values, (metric.lower, metric.upper), seed)
    return Answer(rank_draws.of_values(sign * values, _NEAR), Draws(values.T) if of_all is None else of_all, alone)


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
