"""replicate(): what a second test would show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import SECOND_TEST, assumed
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import (
    CI_BOUND,
    MATRIX,
    METRIC,
    ONE_CLASS,
    SYSTEM,
    VERSUS,
    attributes,
    interval_coordinate,
    labels_of,
    positive_class,
    tables_by_matrix,
    words_at,
)
from bayescm.distributions import dirichlet, exact_distribution
from bayescm.distributions.discrete import MOST_MATRICES, Discrete
from bayescm.distributions.protocol import holds
from bayescm.distributions.sample import share_error
from bayescm.inference.claims import read_claim
from bayescm.metrics import Metric, MetricsLike, compute, coordinates, joined, of_one_class, per_label, resolve
from bayescm.planning.future import Lattice, drawn, of_draws, of_trials
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, PriorLike, concentrations, resolved_prior

Array = NDArray[np.float64]

CLAIM = "claim"
_MOST_VALUES = 200_000  # of a proportion
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
Lattices = dict[tuple[int, int | None], Lattice]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What is predicted for every matrix."""

    metrics: tuple[Metric, ...]
    labels: tuple[Any, ...]
    claims: dict[str, list[tuple[Metric, str, float]]]
    prior: Concentrations
    prevalence: PrevalenceLike
    size: int | None
    ci_prob: float
    ci_kind: str
    draws: int
    seed: int
    compared: bool
    one_class: bool
    """Whether the counts are k of n, which has no other class than that of the items."""


@dataclass(frozen=True, slots=True, eq=False)
class _One:
    """The predictions of one matrix; its distributions, which are large, only if they are compared."""

    statistics: list[dict[str, float]]
    exact: list[bool]
    claims: list[tuple[float, bool]]
    dists: list[Discrete]

    @classmethod
    def of(cls, dists: list[tuple[Discrete, bool]], claims: list[tuple[float, bool]], plan: _Plan) -> "_One":
        """Summarise distributions of which it is said whether they are exact."""
        return cls(
            [dist.statistics(plan.ci_prob, plan.ci_kind) for dist, _ in dists], [known for _, known in dists], claims,
            [dist for dist, _ in dists] if plan.compared else [],
        )  # fmt: skip


@takes_counts
def replicate(
    counts: Any,
    metrics: MetricsLike = None,
    *,
    n_items: int | None = None,
    claims: str | Sequence[str] | None = None,
    model: str = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    ci_prob: float = 0.95,
    ci_kind: str = "eti",
    samples: int = 100_000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Return what a second test of the same classifier would show.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``. May be lazy (dask).
    metrics
        As in :func:`bayescm.summary`.
    n_items : int, optional
        Items of the second test. Default: as many as the first had.
    claims : str or sequence of str, optional
        Such as ``"mcc > 0"`` or ``"recall > .8 and precision > .7"``, see :func:`bayescm.probability`; here ``>=`` and
        ``>`` differ. About the values that the second test shows, computed from its counts as they are.
    model, prior, prevalence
        As in :func:`bayescm.summary`. With ``prevalence="fixed"`` the second test has the same class totals (or
        multiples of the smallest numbers with these shares).
    ci_prob, ci_kind
        Of the predictive interval. The values are discrete: "hdi" is the narrowest interval between two values that
        holds at least `ci_prob`, "eti" goes from the least value with at least (1 - `ci_prob`)/2 at or below it to the
        least one with at least (1 + `ci_prob`)/2.
    samples : int
        Second tests that are drawn where they can't be enumerated.
    random_seed : int, numpy.random.Generator or None

    Returns
    -------
    xarray.Dataset
        Over ``(..., metric)``: ``point``, ``mean``, ``median``, ``sd`` and ``interval(ci_bound)`` of the values that
        are defined, ``undefined`` (probability of 0/0), ``mcse_mean`` and ``method`` ("exact" or "draws"). With claims,
        ``probability(..., claim)`` and its ``mcse_probability``; a test that leaves a metric undefined doesn't meet a
        claim about it. With a dim ``system`` also ``probability_larger(..., metric, system, versus)``, the probability
        that the first shows the larger value in independent second tests, and ``ties``; of draws their Monte Carlo
        standard errors are at most 1/(2 sqrt(samples)).

    Notes
    -----
    Exact for two labels: all C(M + 3, 3) matrices of M items are enumerated, to M = 226 (two million; with fixed class
    totals products of two), and larger tests for proportions with a fixed number of trials, which are beta-binomial.

    This is not the posterior of the metric: a second test adds its own chance to what is unknown. Caelen (2017) showed
    these intervals; that of the metric itself, :func:`bayescm.summary`, is shorter.

    References
    ----------
    Caelen 2017, section 4 and Algorithm 1; Toetsch and Hoffmann 2021, "Measuring true rather than empirical
    uncertainty".

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.replicate(bayescm.datasets.caelen2017(), "mcc", claims="mcc > 0", prior="haldane")
    >>> found.probability.sel(system="B").values.round(5)
    array([0.91901])
    >>> found.interval.sel(system="B").values.round(3)
    array([[-0.066,  0.387]])
    >>> float(found.probability_larger.sel(system="A", versus="B").item())  # doctest: +ELLIPSIS
    0.7915...
    """
    prior = resolved_prior(prior)
    matrices = check_counts(counts)
    batch = [str(dim) for dim in matrices.dims if dim not in MATRIX]
    _check_names(matrices, batch)
    plan = _plan(
        labels_of(matrices), metrics, claims, model, prior, prevalence, n_items, ci_prob, ci_kind, samples, random_seed,
        SYSTEM in batch, ONE_CLASS in matrices.attrs,
    )  # fmt: skip
    core = (SYSTEM, *MATRIX) if plan.compared else MATRIX
    tables = tables_by_matrix(lambda c, i: _predicted(c, i, plan), matrices, _sizes(matrices, plan), core=core)
    attrs = attributes(
        size=n_items, claims=claims, model=model, prior=prior, prevalence=prevalence, ci_prob=ci_prob, ci_kind=ci_kind,
        samples=plan.draws, random_seed=plan.seed, assumptions=assumed(prevalence, SECOND_TEST),
        **positive_class(matrices),
    )  # fmt: skip
    return _dataset(tables, matrices, plan).assign_attrs(attrs)


def _sizes(matrices: xr.DataArray, plan: _Plan) -> dict[str, dict[str, int]]:
    """Return the dims of the tables of all predictions."""
    k = len(plan.labels)
    width = sum(k if per_label(metric, k) else 1 for metric in plan.metrics)
    of_system = {SYSTEM: matrices.sizes[SYSTEM]} if plan.compared else {}
    sizes = dict.fromkeys((*_STATISTICS, "exact"), of_system | {METRIC: width})
    sizes["interval"] = of_system | {METRIC: width, CI_BOUND: 2}
    if plan.claims:
        sizes |= dict.fromkeys(("probability", "mcse_probability"), of_system | {CLAIM: len(plan.claims)})
    if plan.compared:
        sizes |= dict.fromkeys(_PAIRS, {METRIC: width} | of_system | {VERSUS: matrices.sizes[SYSTEM]})
    return sizes


def _predicted(counts: NDArray[Any], index: NDArray[np.int64], plan: _Plan) -> dict[str, Array]:
    """Return the tables for plain counts (..., [system,] K, K)."""
    counts = validate.count_values("counts", counts)
    batch = counts.shape[:-2]
    numbers = np.broadcast_to(index, batch) if not plan.compared else index[..., None] * batch[-1] + range(batch[-1])
    posterior = dirichlet.posterior(counts, plan.prior, plan.prevalence)
    dirichlet.check_proper(posterior, plan.labels)
    places = list(np.ndindex(*batch))
    totals = [counts[at].sum(-1).tolist() for at in places]
    alike = sorted(range(len(places)), key=lambda i: (sum(totals[i]), totals[i]))  # those of a size follow each other
    lattices: Lattices = {}
    made = {
        i: _predict(counts[at := places[i]], dirichlet.single(posterior, at), plan, int(numbers[at]), lattices)
        for i in alike
    }
    found = [made[i] for i in range(len(places))]
    points = compute(plan.metrics, dirichlet.plug_in(counts, posterior, plan.prevalence))
    tables = _statistics(found, joined(plan.metrics, points, len(plan.labels)), plan)
    if plan.claims:
        tables |= _claimed(found, batch, plan)
    return tables | (_pairs(np.array(found, object).reshape(batch)) if plan.compared else {})


def _check_names(matrices: xr.DataArray, batch: list[str]) -> None:
    """Refuse dims whose names the result keeps, and systems that can't be told apart."""
    taken = [dim for dim in batch if dim in (CLAIM, VERSUS)]
    if taken:
        raise ValueError(f"`counts` can't have a dim {taken[0]!r} here: the result keeps that name. Rename it.")
    if SYSTEM in batch and SYSTEM in matrices.coords:
        validate.unique("system", matrices[SYSTEM].values.tolist())


def _plan(
    labels: list[Any], metrics: MetricsLike, claims: Any, model: str, prior: PriorLike, prevalence: PrevalenceLike,
    size: int | None, ci_prob: float, ci_kind: str, draws: int, random_seed: Any, compared: bool,
    one_class: bool,
) -> _Plan:  # fmt: skip
    """Check the arguments."""
    wanted = [] if claims is None else list(claims) if isinstance(claims, list | tuple) else [claims]
    if claims is not None and (not wanted or not all(isinstance(claim, str) for claim in wanted)):
        raise TypeError(f"`claims` must be text such as 'mcc > 0.3', or several of these; got {claims!r}.")
    validate.unique("claims", wanted)
    plan = _Plan(
        tuple(resolve(metrics, len(labels))), tuple(labels), {claim: _claim(claim, len(labels)) for claim in wanted},
        concentrations(prior, model, labels), prevalence,
        None if size is None else validate.positive_integer("n_items", size), validate.number("ci_prob", ci_prob, 0, 1),
        validate.choice("ci_kind", ci_kind, ("eti", "hdi")), validate.draws(draws),
        validate.seed(random_seed), compared, one_class,
    )  # fmt: skip
    if (plan.size or 0) > validate.MAX_COUNT:
        raise ValueError(f"`n_items` must not exceed {validate.MAX_COUNT:,}; got {plan.size:,}.")
    return plan


def _claim(claim: str, n_labels: int) -> list[tuple[Metric, str, float]]:
    """Read a claim: metrics, signs (strict or not) and values."""
    found = read_claim(claim, n_labels)
    several = [metric.name for metric, _, _ in found if per_label(metric, n_labels)]
    if several:
        raise ValueError(f"`claims`: {several[0]} has one value per class of {n_labels}; claim an average of it.")
    return found


def _predict(counts: NDArray[np.int64], which: Concentrations, plan: _Plan, index: int, lattices: Lattices) -> _One:
    """Return the distributions of the metrics, and the probabilities of the claims, for one matrix."""
    totals = counts.sum(-1)
    size = int(counts.sum()) if plan.size is None else plan.size
    if size == 0:
        raise ValueError("`n_items` must be given for a matrix without items; it has none to repeat.")
    fixed = isinstance(plan.prevalence, str) or plan.one_class
    kept = np.array([0, size]) if plan.one_class else dirichlet.fixed_totals(totals, size) if fixed else totals
    lattice = Lattice(size, int(kept[1]) if fixed else None)
    if len(plan.labels) == 2 and lattice.matrices() <= MOST_MATRICES:
        if (size, lattice.positives) not in lattices:
            lattices.clear()  # one at a time: they are large
        lattice = lattices.setdefault((size, lattice.positives), lattice)
        weights = lattice.weights(which)
        claims = [(float(weights[_meets(claim, lattice.matrix)].sum()), True) for claim in plan.claims.values()]
        return _One.of([(lattice.dist(metric, weights), True) for metric in plan.metrics], claims, plan)
    exact = [_of_trials(metric, which, kept, size, fixed) for metric in plan.metrics]
    alone = [
        _of_trials(claim[0][0], which, kept, size, fixed) if len(claim) == 1 else None for claim in plan.claims.values()
    ]
    matrices = np.empty((plan.draws, 2, 2), np.int64)
    if None in exact or None in alone:
        matrices = drawn(which, totals, size, fixed, plan.draws, plan.seed, index)
    dists: list[tuple[Discrete, bool]] = []
    for metric, dist in zip(plan.metrics, exact, strict=True):
        columns: Any = [] if dist is not None else compute([metric], matrices)[0].reshape(plan.draws, -1).T
        dists += [(of_draws(column), False) for column in columns] if dist is None else [(dist, True)]
    met = [
        (float(_meets(claim, matrices).mean()), False)
        if dist is None
        else (float(dist.probability[holds(dist.values, *claim[0][1:])].sum()), True)
        for claim, dist in zip(plan.claims.values(), alone, strict=True)
    ]
    return _One.of(dists, met, plan)


def _of_trials(
    metric: Metric, which: Concentrations, totals: NDArray[np.int64], size: int, fixed: bool
) -> Discrete | None:
    """Return the beta-binomial distribution of a proportion with a fixed number of trials, not too many."""
    dist = exact_distribution(metric, which)
    beta = None if dist is None else dist.concentrations
    if beta is None or np.ndim(beta[0]) or metric.ratio is None:
        return None
    names = set(metric.ratio[0] + metric.ratio[1])
    if len(names) == 4 or "diagonal" in names:
        trials = size
    elif fixed and of_one_class(metric, len(totals)):
        trials = int(totals[int("tp" in names)])
    else:
        return None
    return of_trials(trials, float(beta[0]), float(beta[1])) if trials <= _MOST_VALUES else None


def _meets(claim: list[tuple[Metric, str, float]], matrices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which matrices meet all parts of a claim; undefined metrics don't."""
    values = compute([metric for metric, _, _ in claim], matrices)
    parts = [holds(v, sign, number) for v, (_, sign, number) in zip(values, claim, strict=True)]
    return np.asarray(np.all(parts, axis=0))


def _statistics(found: list[_One], points: Array, plan: _Plan) -> dict[str, Array]:
    """Return the statistics of all matrices, as tables like `points`."""
    exact = np.reshape([one.exact for one in found], points.shape)

    def column(name: str) -> Array:
        return np.reshape([[values[name] for values in one.statistics] for one in found], points.shape)

    tables = {name: column(name) for name in ("mean", "median", "sd", "undefined")} | {"point": points}
    tables["mcse_mean"] = np.where(exact, 0.0, tables["sd"] / np.sqrt(plan.draws))
    return tables | {"exact": exact, "interval": np.stack([column("lower"), column("upper")], -1)}


def _claimed(found: list[_One], batch: tuple[int, ...], plan: _Plan) -> dict[str, Array]:
    """Return the probabilities of the claims, and their Monte Carlo errors."""
    shape = (*batch, len(plan.claims))
    p, exact = (np.reshape([[pair[i] for pair in one.claims] for one in found], shape) for i in (0, 1))
    return {"probability": p, "mcse_probability": np.where(exact > 0, 0.0, share_error(p, plan.draws))}


def _pairs(found: NDArray[Any]) -> dict[str, Array]:
    """Return which of two systems shows the larger value, and how often they tie, of matrices (..., system)."""
    *batch, systems = found.shape
    metrics = len(found.flat[0].dists)
    values = np.empty((2, *batch, metrics, systems, systems))
    for at in np.ndindex(*batch, metrics, systems, systems):
        *place, metric, first, second = at
        dists = [found[(*place, system)].dists[metric] for system in (first, second)]
        values[(slice(None), *at)] = dists[0].compare(dists[1])
    return dict(zip(_PAIRS, values, strict=True))


def _dataset(tables: dict[str, xr.DataArray], matrices: xr.DataArray, plan: _Plan) -> xr.Dataset:
    """Give the tables their names."""
    words = _STATISTICS | (_CLAIMED if plan.claims else {}) | (_PAIRS if plan.compared else {})
    template = matrices.isel(dict.fromkeys(MATRIX, 0), drop=True)
    of_systems = [name for name, table in tables.items() if SYSTEM in table.dims and VERSUS not in table.dims]
    tables = tables | {name: tables[name].transpose(*template.dims, ...) for name in of_systems}
    variables: dict[str, Any] = {
        name: tables[name].assign_attrs(long_name=text, units="1") for name, text in words.items()
    }
    variables["interval"] = tables["interval"].assign_attrs(long_name="Predictive")
    variables["method"] = words_at(tables["exact"], ("draws", "exact"))
    coords: dict[Any, Any] = {
        **template.coords,
        **coordinates(plan.metrics, plan.labels),
        CI_BOUND: interval_coordinate(plan.ci_prob, plan.ci_kind),
    }
    if plan.claims:
        coords[CLAIM] = list(plan.claims)
    if plan.compared:
        n = matrices.sizes[SYSTEM]
        coords[VERSUS] = matrices[SYSTEM].values if SYSTEM in matrices.coords else np.arange(n)
    return xr.Dataset(variables, coords=coords)
