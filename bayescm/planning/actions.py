"""decide(): the expected cost of every action, which is best, and what not knowing the truth may cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.data import strata, validate
from bayescm.data.assumptions import OWN_ITEMS, SAME_ITEMS, assumed
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import (
    ACTUAL,
    CI_BOUND,
    MATRIX,
    SYSTEM,
    TOTALS,
    attributes,
    interval_coordinate,
    positive_class,
    tables_by_matrix,
    words_at,
)
from bayescm.data.shapes import is_reported
from bayescm.data.units import by_unit, without_units
from bayescm.data.words import CiKind, Design
from bayescm.distributions import dirichlet
from bayescm.distributions.sample import Draws
from bayescm.inference import learned
from bayescm.inference.blocks import exchanged
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import PosteriorOptions, number_of_draws
from bayescm.inference.read import MODEL, opened
from bayescm.metrics import Metric, expected_cost, resolve
from bayescm.models import same_items
from bayescm.planning.checks import ACTION, no_dim
from bayescm.planning.costs import constant_actions, cost_matrix
from bayescm.priors.concentrations import (
    MODELS,
    Concentrations,
    PrevalenceLike,
    PriorLike,
    concentrations,
    exchange,
    resolved_prior,
)
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

_TIE = 1e-12  # of the largest cost: costs that differ by less are the same
_LONG_NAMES = {
    "point": "Cost per item of the counts themselves",
    "mean": "Expected cost per item",
    "sd": "Posterior standard deviation of the cost per item",
    "interval": "Credible interval of the cost per item",
    "probability_best": "Probability of the least cost",
    "expected_regret": "Expected cost beyond that of the best action",
    "mcse_probability": "Monte Carlo standard error of the probability",
    "mcse_regret": "Monte Carlo standard error of the expected regret",
    "value_of_information": "Cost per item that knowing the truth would save",
}


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is decided about: the actions' costs and how they are summarised."""

    costs: Array
    ci_prob: float
    ci_kind: str
    seed: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is computed for every position of the batch."""

    problem: _Problem
    labels: list[Any]
    base: Concentrations
    prior: PriorLike
    prevalence: PrevalenceLike
    design: str | None
    which: same_items.Patterns | None
    draws: int


@stamped
@takes_counts
def decide(
    counts: Any,
    costs: Any,
    *,
    design: Design | None = None,
    decision_prob: float = 0.95,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    **options: Unpack[PosteriorOptions],
) -> xr.Dataset:
    """Compare the costs of using each classifier, or none.

    Parameters
    ----------
    counts : xarray.DataArray, xarray.Dataset or array_like
        ``counts(..., actual, predicted)``, where systems of a dim ``system`` are alternatives; may be lazy (dask).
        Or the same items answered by several systems, from :func:`bayescm.data.paired_counts` or
        :func:`bayescm.predictions`. Or draws of a model, ``theta(chain, draw[, system], actual, predicted)``. Or an
        audit (:func:`bayescm.audited`), one of several systems each by name, or over ``system``.
    costs : mapping, xarray.DataArray or array_like of shape (K, K)
        What an item of each cell costs; gains are negative. By name (``{"fn": 10, "fp": 1}``; for more than two
        labels ``{"a->b": 1}``), where cells that are left out cost 0; or an array with rows actual.
    design : {None, "independent", "paired"}
        Whether the systems answered the same items: read from `counts`. "independent" says that equal class totals
        are a coincidence.
    decision_prob : float
        How probable the best action must be for the decision to count as decisive.
    ci_prob : float
    ci_kind : {"eti", "hdi"}
    **options
        `model`, `prior`, `prevalence`, `draws`, `random_seed` and what a model takes, as in :func:`bayescm.summary`;
        `prevalence` is that of the items to be decided about, the same for every action. The same items need
        ``model="dirichlet_multinomial"``.

    Returns
    -------
    xarray.Dataset
        Over ``(..., action)``, where the actions are to use each system ("classifier" if there is no dim ``system``),
        "all negative" and "all positive" ("always <label>" for more than two labels): ``point``, ``mean``, ``sd`` and
        ``interval(ci_bound)`` of the cost per item, ``method`` of the interval ("exact" or "draws");
        ``probability_best`` (equal costs share it) and ``expected_regret``, with their Monte Carlo errors
        ``mcse_probability`` and ``mcse_regret``. Without ``action``: ``best``, the action with the least expected
        cost, whether it is ``decisive``, and the ``value_of_information``.

    Raises
    ------
    ValueError
        For costs that name no cell, or one that doesn't exist.

    Warns
    -----
    UserWarning
        For systems with the same number of items of every class, which are probably the same items.

    Notes
    -----
    Costs add up over items. Then the expected cost needs the posterior means of the cells alone: it is exact, and the
    action that minimises it is the one to take, however uncertain its lead. The interval is exact for two labels.

    The share of each class is learnt from all test sets together, or once if the systems answered the same items (or
    have the same class totals); of draws and audits it is the mean over the systems, by the items of each. The
    expected regret of the best action is the most that further testing can be worth, per item.

    References
    ----------
    Raiffa and Schlaifer 1961 (expected value of perfect information).

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=4, fp=20, tn=150)
    >>> found = bayescm.decide(counts, {"fn": 10, "fp": 1}, random_seed=1)
    >>> found["mean"].to_series().round(3)
    action
    classifier      0.324
    all negative    1.535
    all positive    0.847
    Name: mean, dtype: float64
    >>> found.best.item(), found.decisive.item()
    ('classifier', True)
    """
    decision_prob = validate.number("decision_prob", decision_prob, 0, 1)
    ci_prob = validate.number("ci_prob", ci_prob, 0, 1)
    validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    how: dict[str, Any] = dict(options)
    draws, seed = number_of_draws(how.get("draws")), validate.seed(how.pop("random_seed", None))
    model, prior, prevalence = how.get("model", MODEL), how.get("prior"), how.pop("prevalence", None)
    drawn = isinstance(counts, xr.DataTree | dict) or strata.is_audit(counts) or by_unit(counts) is not None
    drawn |= is_reported(counts) or model not in MODELS
    if drawn or (learned.asked(model, prior) and not same_items.answered_together(counts)):
        if isinstance(prevalence, str):
            raise ValueError(f"`prevalence`={prevalence!r} is for counts; of draws and audits give numbers.")
        if not drawn:
            counts = _matrices(without_units(counts), None)
            _same_totals(counts.values[None], _design(design, None, model))
            design = "independent"
        at = opened(counts, random_seed=seed, **how)
        posterior = at(None)
        labels, names = list(posterior.labels), _names(posterior.whole()[1])
        problem = _Problem(cost_matrix(costs, labels), ci_prob, ci_kind, seed)
        if drawn:
            _check_design(counts, design)
        tables = _by_draws(posterior, problem, prevalence)
        own = {"draws": draws, "random_seed": seed}
        settings = own | dict(posterior.settings) | {"design": design or "joint"}
        settings |= {} if prevalence is None else dict(at(prevalence).settings) | {"random_seed": seed}
    elif unknown := sorted(set(how) - {"model", "prior", "draws"}):
        raise TypeError(f"`{unknown[0]}` is no option of {model}.")
    else:
        prior, counts = resolved_prior(prior), without_units(counts)
        which = same_items.patterns(counts) if same_items.answered_together(counts) else None
        kept = _design(design, which, model)
        matrices = _matrices(counts, which)
        labels, names = matrices[ACTUAL].values.tolist(), [str(name) for name in matrices[SYSTEM].values]
        problem = _Problem(cost_matrix(costs, labels), ci_prob, ci_kind, seed)
        base = concentrations(prior, model, labels)
        plan = _Plan(problem, labels, base, prior, prevalence, kept, which, draws)
        sizes = _sizes(len(names) + len(labels))
        tables = tables_by_matrix(lambda c, i: _decided(c, i, plan), matrices, sizes, core=(SYSTEM, *MATRIX))
        settings = {
            "model": model, "prior": prior, "prevalence": prevalence, "draws": draws, "random_seed": seed,
            "design": kept or "independent", **positive_class(labels),
            "assumptions": assumed(prevalence, *_answered(len(names), which is not None)),
        }  # fmt: skip
    actions = names + constant_actions(labels)
    validate.unique("actions", actions)
    settings |= {"decision_prob": decision_prob, "ci_prob": ci_prob, "ci_kind": ci_kind}
    return _dataset(tables, actions, labels, problem, decision_prob).assign_attrs(attributes(**settings))


def _check_design(counts: Any, design: str | None) -> None:
    """Refuse a design of draws, which have one, and warn of audits that seem to be of the same items."""
    several = isinstance(counts, dict)
    if design is not None and not (several and design == "independent"):
        raise ValueError("`design` is that of the draws already, and of audits 'independent'; leave it out.")
    totals = [float(one.coords[TOTALS].sum()) for one in counts.values()] if several else []
    if design is None and len(totals) > 1 and len(set(totals)) == 1:
        same_items.warn_of_same_totals("design='independent'", "number of items")


def _names(over: xr.DataArray) -> list[str]:
    """Return the names of the systems of a posterior."""
    if set(over.dims) - {SYSTEM}:
        raise ValueError(f"`counts` as draws may be over 'system' alone; got {list(map(str, over.dims))}. Select.")
    return [str(name) for name in over[SYSTEM].values] if SYSTEM in over.coords else ["classifier"]


def _by_draws(posterior: Posterior, problem: _Problem, prevalence: PrevalenceLike) -> dict[str, xr.DataArray]:
    """Return the tables by draws of any posterior's cells, the same class shares for all systems of a draw."""
    block, k = posterior.whole()[0], len(posterior.labels)
    block.check(())
    named = {f"{i}->{j}": partial(_cell, i, j) for i, j in np.ndindex(k, k)}
    cells = np.stack(block.draws(resolve(named, k)), -2).reshape(-1, k, k, block.n)
    observed, items = block.cells().reshape(-1, k, k), np.ravel(block.n_items())
    weights = items / items.sum() if items.sum() > 0 else np.full(len(cells), 1.0 / len(cells))
    of_classes = cells.sum(2)  # (S, K, n)
    if prevalence is None:
        shares = np.tensordot(weights, of_classes, 1)
        with np.errstate(invalid="ignore"):
            point = np.tensordot(weights, observed.sum(-1) / observed.sum((1, 2))[:, None], 1)
    else:
        rng = matrix_rng(problem.seed, 0, Stream.SHARES)
        shares = exchanged(np.ones((block.n, k, k)) / k, prevalence, rng).sum(-1).T
        point = shares.mean(1)
    drawn = _of_actions(cells / of_classes[:, :, None] * shares[:, None], shares, problem.costs)
    found = block.wrap(drawn).statistics(problem.ci_prob, problem.ci_kind)
    tables = {"point": _point(observed, point, problem.costs)} | _summarised(drawn.mean(1), found, drawn, problem)
    dims = {name: tuple(sizes) for name, sizes in _sizes(1).items()}
    return {name: xr.DataArray(np.asarray(value, np.float64), dims=dims[name]) for name, value in tables.items()}


def _cell(i: int, j: int, theta: Array) -> Array:
    """Return one cell of matrices (..., K, K)."""
    return theta[..., i, j]


def _sizes(actions: int) -> dict[str, dict[str, int]]:
    """Return the dims of the tables of a decision among actions."""
    sizes = {name: {ACTION: actions} for name in _LONG_NAMES} | {"interval": {ACTION: actions, CI_BOUND: 2}}
    return sizes | {name: {} for name in ("value_of_information", "best", "probability", "exact")}


def _decided(counts: NDArray[Any], index: NDArray[np.int64], plan: _Plan) -> dict[str, Array]:
    """Return the tables for plain counts (..., S, K, K)."""
    values = validate.count_values("counts", counts).reshape(-1, *counts.shape[-3:])
    found = []
    shared = _same_totals(values, plan.design)
    for number, some, same in zip(index.flat, values, shared, strict=True):
        totals = some[0].sum(-1) if same else some.sum((0, -1))
        posterior = _posterior(some, totals, plan.base, plan.prevalence)
        dirichlet.check_proper(posterior, plan.labels)
        drawn = _drawn(posterior, plan, int(number)) if plan.which is None else _paired(plan.which, posterior, plan)
        shares = totals if plan.prevalence is None else posterior.shares
        point = {"point": _point(some, shares, plan.problem.costs)}
        exact = _exact(posterior, plan.problem)
        statistics = Draws(drawn).statistics(plan.problem.ci_prob, plan.problem.ci_kind) if exact is None else exact
        mean = _mean(posterior, plan.problem.costs)
        found.append(point | _summarised(mean, statistics, drawn, plan.problem) | {"exact": exact is not None})
    return {name: np.array([one[name] for one in found], np.float64) for name in found[0]}


def _answered(systems: int, together: bool) -> list[str]:
    """Return what is assumed of the items of several systems."""
    return [] if systems == 1 else [SAME_ITEMS if together else OWN_ITEMS]


def _design(design: str | None, which: same_items.Patterns | None, model: str) -> str | None:
    """Return whether systems answered the same items; None where nothing was said about it."""
    if design is not None:
        validate.choice("design", design, ("independent", "paired"))
    if which is None:
        if design == "paired":
            raise ValueError(
                "`design`='paired' needs to know which items each system got right: give "
                "bayescm.data.paired_counts(...) or bayescm.predictions(...), not separate matrices."
            )
        return design
    same_items.refuse_runs(which, "bayescm.decide")
    if design == "independent":
        raise ValueError(
            "`design` must be 'paired' for the same items; or give their matrices, bayescm.data.margins(...)."
        )
    if model != "dirichlet_multinomial":
        raise ValueError(f"`model` must be 'dirichlet_multinomial' for systems on the same items; got {model!r}.")
    return "paired"


def _matrices(counts: Any, which: same_items.Patterns | None) -> xr.DataArray:
    """Return counts(..., system, actual, predicted)."""
    if which is not None:
        return which.labelled()
    matrices = check_counts(counts)
    if SYSTEM not in matrices.dims:
        matrices = matrices.expand_dims({SYSTEM: ["classifier"]})
    elif SYSTEM not in matrices.coords:
        matrices = matrices.assign_coords({SYSTEM: np.arange(matrices.sizes[SYSTEM])})
    no_dim(matrices, ACTION)
    return matrices.transpose(..., SYSTEM, *MATRIX)


def _same_totals(values: NDArray[np.int64], design: str | None) -> NDArray[np.bool_]:
    """Say for which matrices (..., S, K, K) the class totals are to be counted once."""
    totals = values.sum(-1)
    if design is not None or values.shape[1] == 1:
        return np.full(len(values), design == "paired")
    same: NDArray[np.bool_] = (totals == totals[:, :1]).all((1, 2))
    if same.any():
        same_items.warn_of_same_totals("design='independent'")
    return same


def _posterior(
    counts: NDArray[np.int64], totals: NDArray[np.int64], base: Concentrations, prevalence: PrevalenceLike
) -> Concentrations:
    """Return the posterior of systems (S, K, K) that share the class shares."""
    one = base.one_dirichlet and bool((counts.sum(-1) == totals).all())
    updated = Concentrations(base.rows + counts, base.shares + totals, one_dirichlet=one)
    return exchange(updated, prevalence, totals.astype(np.float64))


def _point(counts: NDArray[Any], shares: Array, costs: Array) -> Array:
    """Return the cost of every action at the plug-in rates; NaN where a class has no items but a share."""
    with np.errstate(invalid="ignore"):
        shares = shares / shares.sum()
        rates = counts / counts.sum(-1, keepdims=True)
    cells = np.where(shares[:, None] == 0.0, 0.0, rates * shares[:, None])
    return _of_actions(cells, shares, costs)


def _of_actions(cells: Array, shares: Array, costs: Array) -> Array:
    """Return the cost (A, ...) of every action, of cell probabilities (S, K, K, ...) and class shares (K, ...)."""
    return np.concatenate([np.einsum("sij...,ij->s...", cells, costs), np.tensordot(costs.T, shares, 1)])


def _drawn(posterior: Concentrations, plan: _Plan, index: int) -> Array:
    """Draw the cost of every action, (A, n), from independent test sets."""
    systems, k = posterior.rows.shape[:2]
    costs = plan.problem.costs
    streams = [matrix_rng(plan.problem.seed, index * (systems + 1) + s, Stream.ACTIONS) for s in range(systems + 1)]
    shares = dirichlet.draw_shares(posterior, streams[-1], plan.draws)
    each = []
    for rows, rng in zip(posterior.rows, streams, strict=False):
        rates = dirichlet.draw_theta(Concentrations(rows, np.ones(k), known=True), rng, plan.draws)
        each.append(np.einsum("ijn,ij->n", rates * shares[:, None], costs))
    return np.concatenate([each, np.tensordot(costs.T, shares, 1)])


def _paired(which: same_items.Patterns, posterior: Concentrations, plan: _Plan) -> Array:
    """Draw the cost of every action, (A, n), from the same items."""
    theta = same_items.draw(which, plan.prior, 1, plan.draws, plan.problem.seed).values[0]
    cells = np.moveaxis(theta, 0, -1)  # (S, K, K, n)
    shares = cells[0].sum(1)
    if not posterior.one_dirichlet:  # another prevalence
        if not shares.all():
            raise ValueError("`prevalence` can't be exchanged: a class has no items, and no share in some draws.")
        rng = matrix_rng(plan.problem.seed, 0, Stream.ACTIONS)
        other = dirichlet.draw_shares(posterior, rng, plan.draws)
        cells, shares = cells * (other / shares)[:, None], other
    return _of_actions(cells, shares, plan.problem.costs)


def _mean(posterior: Concentrations, costs: Array) -> Array:
    """Return the expected cost of every action."""
    rows, shares = posterior.rows, posterior.shares / posterior.shares.sum()
    return _of_actions(rows / rows.sum(-1, keepdims=True) * shares[:, None], shares, costs)


def _summarised(mean: Array, found: Mapping[str, Any], drawn: Array, problem: _Problem) -> dict[str, Any]:
    """Return what is said of every action, of the mean and statistics of its cost and of draws (A, n) of all costs."""
    least = drawn.min(0)
    ties = drawn <= least + _TIE * np.abs(problem.costs).max()
    share, regret = ties / ties.sum(0), np.where(ties, 0.0, drawn - least)
    root = np.sqrt(drawn.shape[1])
    best = int(mean.argmin())
    return {
        "mean": mean,
        "sd": found["sd"],
        "interval": np.stack([found["lower"], found["upper"]], axis=-1),
        "probability_best": share.mean(1),
        "expected_regret": regret.mean(1),
        "mcse_probability": share.std(1) / root,
        "mcse_regret": regret.std(1) / root,
        "best": best,
        "probability": share.mean(1)[best],
        "value_of_information": regret.mean(1)[best],
        "exact": False,
    }


def _exact(posterior: Concentrations, problem: _Problem) -> dict[str, Array] | None:
    """Return the statistics of the exact distributions of all actions' costs, or None where there are none."""
    if posterior.rows.shape[-1] != len(MATRIX) or posterior.rows.min() < distributions.LEAST:
        return None
    follow = distributions.exact_distribution(_metric(problem.costs), posterior)
    one = dirichlet.single(posterior, (0,))
    always = [
        distributions.exact_distribution(_metric(np.repeat(problem.costs[:, [j]], 2, axis=1)), one) for j in range(2)
    ]
    parts = [dist.statistics(problem.ci_prob, problem.ci_kind) for dist in (follow, *always) if dist is not None]
    if len(parts) <= len(always):
        return None
    return {name: np.concatenate([np.atleast_1d(part[name]) for part in parts]) for name in ("sd", "lower", "upper")}


def _metric(costs: Array) -> Metric:
    """Return the cost of an item as a metric of two labels."""
    (tn, fp), (fn, tp) = costs.tolist()
    return expected_cost(tp=tp, fn=fn, fp=fp, tn=tn)


def _dataset(
    tables: dict[str, xr.DataArray], actions: list[str], labels: list[Any], problem: _Problem, decision_prob: float
) -> xr.Dataset:
    """Give the tables their names."""
    variables: dict[str, Any] = {
        name: tables[name].assign_attrs(long_name=words, units="1") for name, words in _LONG_NAMES.items()
    }
    variables["best"] = words_at(tables["best"], actions)
    decisive = f"Whether the best action has the least cost with probability {decision_prob:g}"
    variables["decisive"] = (tables["probability"] >= decision_prob).assign_attrs(long_name=decisive)
    variables["method"] = words_at(tables["exact"], ("draws", "exact"))
    variables["costs"] = (MATRIX, problem.costs, {"long_name": "Cost of an item"})
    bounds = interval_coordinate(problem.ci_prob, problem.ci_kind)
    return xr.Dataset(variables, coords={ACTION: actions, CI_BOUND: bounds, **dict.fromkeys(MATRIX, labels)})
