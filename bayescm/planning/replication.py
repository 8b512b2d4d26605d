"""replicate(): what a second test would show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import OF_PROGRAM, SECOND_TEST
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import (
    CI_BOUND,
    METRIC,
    ONE_CLASS,
    SYSTEM,
    UNIT,
    VERSUS,
    attributes,
    interval_coordinate,
    words_at,
)
from bayescm.data.units import plural
from bayescm.data.words import CiKind
from bayescm.distributions import dirichlet
from bayescm.distributions.discrete import MOST_MATRICES, Discrete, Unsorted
from bayescm.distributions.protocol import holds
from bayescm.inference.blocks import Block, Part
from bayescm.inference.claims import read_claim
from bayescm.inference.options import PosteriorOptions, number_of_draws
from bayescm.inference.read import read
from bayescm.metrics import Metric, MetricsLike, compute, coordinates, joined, per_label, resolve
from bayescm.planning.future import Lattice, drawn, matrices, of_draws, of_proportion
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

CLAIM = "claim"
_DRAWS = 100_000  # tests, where they can't be enumerated
_STATISTICS = {
    "point": "Value of the counts themselves",
    "mean": "Mean of the values that tests would show",
    "median": "Median of the values that tests would show",
    "sd": "Standard deviation of the values that tests would show",
    "undefined": "Probability that a test leaves the metric undefined (0/0)",
    "mcse_mean": "Monte Carlo standard error of the mean (0: exact)",
}

_CLAIMED = {
    "probability": "Probability that a second test meets the claim",
    "mcse_probability": "Monte Carlo standard error (0: exact)",
}
_PAIRS = {
    "probability_larger": "Probability that the first shows the larger value",
    "ties": "Probability that both show the same value",
}


class _Test(NamedTuple):
    """What a second test of one matrix has: its size, the first one's class totals, its own if they are fixed."""

    size: int
    totals: NDArray[np.int64]
    kept: NDArray[np.int64]
    fixed: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What is predicted for every matrix."""

    metrics: tuple[Metric, ...]
    labels: tuple[Any, ...]
    claims: dict[str, list[Part]]
    fixed: bool
    size: int | None
    ci_prob: float
    ci_kind: str
    compared: bool
    one_class: bool
    """Whether the counts are k of n, which has no other class than that of the items."""

    @property
    def ordered(self) -> bool:
        """Whether values must be in order."""
        return self.compared or self.ci_kind == "hdi"


@dataclass(frozen=True, slots=True, eq=False)
class _One:
    """The predictions of one matrix; its distributions, which are large, only if they are compared."""

    statistics: list[dict[str, float]]
    errors: list[float]
    """Monte Carlo standard errors of the means."""
    exact: list[bool]
    claims: list[tuple[float, float]]
    dists: list[Any]
    drawn: list[Array]
    """Values of systems that one draw of a model goes for."""

    @classmethod
    def of(
        cls, dists: Sequence[Discrete | Unsorted], errors: list[float | None], claims: list[tuple[float, float]],
        plan: _Plan, n: int = 1, drawn: Sequence[Array] = (),
    ) -> "_One":  # fmt: skip
        """Summarise distributions; those with an error at least so large, not None, are known by n draws."""
        statistics = [dist.statistics(plan.ci_prob, plan.ci_kind) for dist in dists]
        least = [
            0.0 if error is None else float(np.maximum(error, one["sd"] / np.sqrt(n)))
            for error, one in zip(errors, statistics, strict=True)
        ]
        exact = [error is None for error in errors]
        return cls(statistics, least, exact, claims, list(dists) if plan.compared else [], list(drawn))


@stamped
@takes_counts
def replicate(
    counts: Any,
    metrics: MetricsLike = None,
    *,
    n_items: int | None = None,
    claims: str | Sequence[str] | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    **options: Unpack[PosteriorOptions],
) -> xr.Dataset:
    """Return what a second test of the same classifier would show.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``. May be lazy (dask). Or what else :func:`bayescm.summary` takes: audits,
        systems on the same items, draws of any model, all answered by draws.
    metrics
        As in :func:`bayescm.summary`.
    n_items : int, optional
        Items of the second test. Default: as many as the first had, of an audit as many as were checked.
    claims : str or sequence of str, optional
        Such as ``"mcc > 0"`` or ``"recall > .8 and precision > .7"``, see :func:`bayescm.probability`; here ``>=`` and
        ``>`` differ. About the values that the second test shows, computed from its counts as they are.
    ci_prob, ci_kind
        Of the predictive interval. The values are discrete: "hdi" is the narrowest interval between two values that
        holds at least `ci_prob`, "eti" goes from the least value with at least (1 - `ci_prob`)/2 at or below it to the
        least one with at least (1 + `ci_prob`)/2.
    **options
        `model`, `prior`, `prevalence`, `random_seed` and what a model takes, as in :func:`bayescm.summary`; `draws`
        are the second tests (100,000) that are drawn where they can't be enumerated. With ``prevalence="fixed"`` the
        second test has the same class totals (or multiples of the smallest numbers with these shares).

    Returns
    -------
    xarray.Dataset
        Over ``(..., metric)``: ``point``, ``mean``, ``median``, ``sd`` and ``interval(ci_bound)`` of the values that
        are defined, ``undefined`` (probability of 0/0), ``mcse_mean`` and ``method`` ("exact" or "draws"). With claims,
        ``probability(..., claim)`` and its ``mcse_probability``; a test that leaves a metric undefined doesn't meet a
        claim about it. With a dim ``system`` also ``probability_larger(..., metric, system, versus)``, the probability
        that the first shows the larger value in independent second tests (after the same draw of a model), and
        ``ties``; of draws their Monte Carlo
        standard errors are at most 1/(2 sqrt(draws)).

    Raises
    ------
    ValueError
        For ``n_items`` that isn't a positive integer, or a claim that can't be read.

    Notes
    -----
    Exact for two labels: all C(M + 3, 3) matrices of M items are enumerated, to M = 226 (two million; with fixed class
    totals products of two); those of less than 1e-18 each are left out. Proportions are beta-binomial given their
    trials, which are a known number or beta-binomial too (F1 and Jaccard as well): exact to M = 1,998, and of known
    trials to 200,000.

    Caelen (2017) showed these intervals; that of the metric itself, :func:`bayescm.summary`, is shorter.

    References
    ----------
    Caelen 2017, section 4 and Algorithm 1; Toetsch and Hoffmann 2021, "Measuring true rather than empirical
    uncertainty".

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.planning.replicate(bayescm.datasets.caelen2017(), "mcc", claims="mcc > 0", prior="haldane")
    >>> found.probability.sel(system="B").values.round(5)
    array([0.91901])
    >>> found.interval.sel(system="B").values.round(3)
    array([[-0.066,  0.387]])
    >>> float(found.probability_larger.sel(system="A", versus="B").item())  # doctest: +ELLIPSIS
    0.7915...
    """
    seed = options["random_seed"] = validate.seed(options.get("random_seed"))
    posterior = read(counts, otherwise=_DRAWS, **options)
    if unit := posterior.settings.get(UNIT):
        raise ValueError(
            f"`counts` are of {plural(unit)}, and a second test would have others, whose items this doesn't draw; the "
            f"items alone, as if independent, are counts.sum({unit!r}).drop_attrs()."
        )
    over = posterior.over
    compared = SYSTEM in over.dims
    _check_names(over)
    fixed = isinstance(posterior.settings.get("prevalence"), str)
    plan = _plan(
        list(posterior.labels), metrics, claims, fixed, n_items, ci_prob, ci_kind, compared, ONE_CLASS in over.attrs
    )
    beside = posterior.beside(SYSTEM) if compared else posterior
    tables = beside.tables(lambda block: _predicted(block, plan), _sizes(over.sizes.get(SYSTEM), plan))
    settings = {"draws": number_of_draws(options.get("draws"), _DRAWS), "random_seed": seed} | dict(posterior.settings)
    settings |= {"size": n_items, "claims": claims, "ci_prob": plan.ci_prob, "ci_kind": plan.ci_kind}
    *more, error = settings.get("assumptions", OF_PROGRAM).split("; ")
    settings["assumptions"] = "; ".join((*more, SECOND_TEST, error))
    return _dataset(tables, over, plan).assign_attrs(attributes(**settings))


def _sizes(systems: int | None, plan: _Plan) -> dict[str, dict[str, int]]:
    """Return the dims of the tables of all predictions."""
    k = len(plan.labels)
    width = sum(k if per_label(metric, k) else 1 for metric in plan.metrics)
    of_system = {} if systems is None else {SYSTEM: systems}
    sizes = dict.fromkeys((*_STATISTICS, "exact"), of_system | {METRIC: width})
    sizes["interval"] = of_system | {METRIC: width, CI_BOUND: 2}
    if plan.claims:
        sizes |= dict.fromkeys(_CLAIMED, of_system | {CLAIM: len(plan.claims)})
    if systems is not None:
        sizes |= dict.fromkeys(_PAIRS, {METRIC: width} | of_system | {VERSUS: systems})
    return sizes


def _predicted(block: Block, plan: _Plan) -> dict[str, Array]:
    """Return the tables of a block, whose last dim is the system where systems are compared."""
    block.check(())
    seen = block.seen().reshape(-1, block.k, block.k)
    joint = plan.compared and block.which is None and not all(map(block.independent, plan.metrics))
    found = []
    for one, counts in zip(block.singles(), seen, strict=True):
        predicted = _predict(one, _second_test(counts, plan), plan)
        found.append(predicted if joint else replace(predicted, drawn=[]))
    tables = _statistics(found, joined(plan.metrics, block.points(plan.metrics), block.k))
    if plan.claims:
        pairs = np.reshape([one.claims for one in found], (*block.shape, len(plan.claims), 2))
        tables |= dict(zip(_CLAIMED, np.moveaxis(pairs, -1, 0), strict=True))
    return tables | (_pairs(_array(found, block.shape)) if plan.compared else {})


def _array(values: Sequence[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of objects."""
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape(shape)


def _check_names(over: xr.DataArray) -> None:
    """Refuse dims whose names the result keeps, and systems that can't be told apart."""
    taken = [dim for dim in over.dims if dim in (CLAIM, VERSUS)]
    if taken:
        raise ValueError(f"`counts` can't have a dim {taken[0]!r} here: the result keeps that name. Rename it.")
    if SYSTEM in over.dims and SYSTEM in over.coords:
        validate.unique("system", over[SYSTEM].values.tolist())


def _plan(
    labels: list[Any], metrics: MetricsLike, claims: Any, fixed: bool, size: int | None, ci_prob: float, ci_kind: str,
    compared: bool, one_class: bool,
) -> _Plan:  # fmt: skip
    """Check the arguments."""
    wanted = [] if claims is None else list(claims) if isinstance(claims, list | tuple) else [claims]
    if claims is not None and (not wanted or not all(isinstance(claim, str) for claim in wanted)):
        raise TypeError(f"`claims` must be text such as 'mcc > 0.3', or several of these; got {claims!r}.")
    validate.unique("claims", wanted)
    plan = _Plan(
        tuple(resolve(metrics, len(labels))), tuple(labels), {claim: _claim(claim, len(labels)) for claim in wanted},
        fixed, None if size is None else validate.positive_integer("n_items", size),
        validate.number("ci_prob", ci_prob, 0, 1),
        validate.choice("ci_kind", ci_kind, ("eti", "hdi")), compared, one_class,
    )  # fmt: skip
    if (plan.size or 0) > validate.MAX_COUNT:
        raise ValueError(f"`n_items` must not exceed {validate.MAX_COUNT:,}; got {plan.size:,}.")
    return plan


def _claim(claim: str, n_labels: int) -> list[Part]:
    """Read a claim: metrics, signs (strict or not) and values."""
    found = read_claim(claim, n_labels)
    several = [metric.name for metric, _, _ in found if per_label(metric, n_labels)]
    if several:
        raise ValueError(f"`claims`: {several[0]} has one value per class of {n_labels}; claim an average of it.")
    return found


def _second_test(seen: Array, plan: _Plan) -> _Test:
    """Return what a second test has of one matrix."""
    items = seen.sum()
    if plan.size is None and not items > 0:
        raise ValueError("`n_items` must be given for a matrix without items; it has none to repeat.")
    size, totals = int(items) if plan.size is None else plan.size, np.nan_to_num(seen.sum(-1)).astype(np.int64)
    fixed = plan.fixed or plan.one_class
    kept = np.array([0, size]) if plan.one_class else dirichlet.fixed_totals(totals, size) if fixed else totals
    return _Test(size, totals, kept, fixed)


def _predict(one: Block, test: _Test, plan: _Plan) -> _One:
    """Return the distributions of the metrics, and the probabilities of the claims, for one matrix."""

    def exact(metric: Metric) -> Discrete | None:
        return None if one.which is None else of_proportion(metric, one.which, test.kept, test.size, fixed=test.fixed)

    dists = [exact(metric) for metric in plan.metrics]
    alone = [exact(claim[0][0]) if len(claim) == 1 else None for claim in plan.claims.values()]
    chances: list[tuple[float, float] | None] = [
        None if dist is None else (float(dist.probability[holds(dist.values, *claim[0][1:])].sum()), 0.0)
        for dist, claim in zip(alone, plan.claims.values(), strict=True)
    ]
    positives = int(test.kept[1]) if test.fixed else None
    if one.which is None or one.k > 2 or matrices(test.size, positives) > MOST_MATRICES:
        return _by_draws(one, test, plan, dists, chances)
    lattice = Lattice(test.size, one.which, positives, edges=any(np.isinf(metric.upper) for metric in plan.metrics))
    claims = [
        chance or (float(lattice.weights[_meets(claim, lattice.matrix)].sum()), 0.0)
        for claim, chance in zip(plan.claims.values(), chances, strict=True)
    ]

    def enumerated(metric: Metric) -> Discrete | Unsorted:
        if plan.ordered:
            return lattice.dist(metric)
        return Unsorted.of(compute([metric], lattice.matrix)[0], lattice.weights)

    known = [dist or enumerated(metric) for metric, dist in zip(plan.metrics, dists, strict=True)]
    return _One.of(known, [None] * len(known), claims, plan)


def _by_draws(
    one: Block, test: _Test, plan: _Plan, dists: list[Discrete | None], chances: list[tuple[float, float] | None]
) -> _One:
    """Predict by draws what isn't known."""
    shown = np.empty((one.n, one.k, one.k), np.int64)
    if None in dists or None in chances:
        shown = drawn(one, test.totals, test.size, test.fixed)
    found: list[Discrete | Unsorted] = []
    errors: list[float | None] = []
    values: list[Array] = []
    for metric, dist in zip(plan.metrics, dists, strict=True):
        columns = [] if dist is not None else list(compute([metric], shown)[0].reshape(one.n, -1).T)
        found += [of_draws(column, ordered=plan.ordered) for column in columns] if dist is None else [dist]
        errors += [_error(one, column) for column in columns] if dist is None else [None]
        values += columns
    claims = []
    for chance, claim in zip(chances, plan.claims.values(), strict=True):
        if chance is None:
            held = one.wrap(_meets(claim, shown).astype(np.float64)).side(0.5, ">")
            chance = float(held.probability), float(held.mcse)
        claims.append(chance)
    return _One.of(found, errors, claims, plan, one.n, values)


def _error(one: Block, values: Array) -> float:
    """Return what the Monte Carlo standard error of the mean is at least, where draws depend on one another."""
    if one.which is not None or np.isnan(values).any():
        return 0.0
    return float(one.wrap(values).statistics(0.5, "eti")["mcse_mean"])


def _meets(claim: list[tuple[Metric, str, float]], matrices: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which matrices meet all parts of a claim; undefined metrics don't."""
    values = compute([metric for metric, _, _ in claim], matrices)
    parts = [holds(v, sign, number) for v, (_, sign, number) in zip(values, claim, strict=True)]
    return np.asarray(np.all(parts, axis=0))


def _statistics(found: list[_One], points: Array) -> dict[str, Array]:
    """Return the statistics of all matrices, as tables like `points`."""

    def column(name: str) -> Array:
        return np.reshape([[values[name] for values in one.statistics] for one in found], points.shape)

    tables = {name: column(name) for name in ("mean", "median", "sd", "undefined")} | {"point": points}
    tables["mcse_mean"] = np.reshape([one.errors for one in found], points.shape)
    tables["exact"] = np.reshape([one.exact for one in found], points.shape)
    return tables | {"interval": np.stack([column("lower"), column("upper")], -1)}


def _pairs(found: NDArray[Any]) -> dict[str, Array]:
    """Return which of two systems shows the larger value, and how often they tie, of matrices (..., system)."""
    *batch, systems = found.shape
    metrics = len(found.flat[0].dists)
    values = np.empty((2, *batch, metrics, systems, systems))
    for at in np.ndindex(*batch, metrics, systems, systems):
        *place, metric, first, second = at
        one, other = (found[(*place, system)] for system in (first, second))
        if one.drawn and first != second:
            held = [holds(one.drawn[metric] - other.drawn[metric], sign, 0.0) for sign in (">", ">=", "<")]
            values[(slice(None), *at)] = held[0].mean(), (held[1] & ~held[0]).mean()
        else:
            values[(slice(None), *at)] = one.dists[metric].compare(other.dists[metric])
    return dict(zip(_PAIRS, values, strict=True))


def _dataset(tables: dict[str, xr.DataArray], over: xr.DataArray, plan: _Plan) -> xr.Dataset:
    """Give the tables their names."""
    words = _STATISTICS | (_CLAIMED if plan.claims else {}) | (_PAIRS if plan.compared else {})
    of_systems = [name for name, table in tables.items() if SYSTEM in table.dims and VERSUS not in table.dims]
    tables = tables | {name: tables[name].transpose(*over.dims, ...) for name in of_systems}
    variables: dict[str, Any] = {
        name: tables[name].assign_attrs(long_name=text, units="1") for name, text in words.items()
    }
    variables["interval"] = tables["interval"].assign_attrs(long_name="Predictive")
    variables["method"] = words_at(tables["exact"], ("draws", "exact"))
    coords: dict[Any, Any] = {
        **over.coords,
        **coordinates(plan.metrics, plan.labels),
        CI_BOUND: interval_coordinate(plan.ci_prob, plan.ci_kind),
    }
    if plan.claims:
        coords[CLAIM] = list(plan.claims)
    if plan.compared:
        coords[VERSUS] = over[SYSTEM].values if SYSTEM in over.coords else np.arange(over.sizes[SYSTEM])
    return xr.Dataset(variables, coords=coords)
