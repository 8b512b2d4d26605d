"""The systems on a leaderboard: what is known of each, and of all together."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.comparison.audits import check_alike
from bayescm.comparison.inputs import JOINT
from bayescm.data import validate
from bayescm.data.counts import computed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import MATRIX, ONE_CLASS, SYSTEM, labels_of
from bayescm.distributions import Beta, Integral, Linear, dirichlet, is_prevalence
from bayescm.distributions import strata as groups
from bayescm.distributions.tabulated import DOUBTFUL
from bayescm.inference.audits import posterior_of
from bayescm.inference.labelled import Posterior
from bayescm.inference.sampled import over_systems
from bayescm.metrics import Metric, MetricLike, check_of_answers, compute, of_one_class, per_label, resolve
from bayescm.models import same_items
from bayescm.models.cell_draws import draws_of_answers, draws_of_systems, shared
from bayescm.priors.concentrations import PrevalenceLike, PriorLike, concentrations, pair

Array = NDArray[np.float64]
INDEPENDENT, TOGETHER = "independent", "paired"
_CORRECT, _WRONG = "correct", "wrong"
_BLOCK = 2**22  # numbers at a time


@dataclass(frozen=True)
class Field:
    """Systems and the metric they are ranked by.

    Attributes
    ----------
    coords : dict
        Of the dim ``system``.
    metric : Metric
    point : ndarray of shape (systems,)
        The metric of the counts.
    dist : Beta, list of Integral or Linear, or None
        Of each system alone: one Beta distribution over the systems, or one distribution for each; None where none is
        known.
    draw : callable
        Takes a number of draws and a seed, returns values of the metric (draws, systems).
    data : ndarray of shape (systems, ...)
        What was observed; systems with the same are exchangeable.
    design : str
    common : bool
        Whether the systems' metrics depend on each other, so that no distribution of each alone ranks them.
    labels : tuple
        The classes, where they are known.
    runs : int
        How often each system answered each item.
    evidence : Beta or None
        What was counted, as concentrations of the distribution that it makes with a prior of no weight; None where the
        metric isn't one Beta for each system.
    of : str
        What it is about where only some items of each system were checked; else empty.
    model : mapping
        Settings of the model whose draws these are; else empty.
    """

    coords: dict[str, Any]
    metric: Metric
    point: Array
    dist: Beta | list[Integral | Linear] | None
    draw: Callable[[int, int], Array]
    data: NDArray[Any]
    design: str
    common: bool = False
    labels: tuple[Any, ...] = ()
    evidence: Beta | None = None
    runs: int = 1
    of: str = ""
    model: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @cached_property
    def alike(self) -> list[NDArray[np.intp]]:
        """Groups of two or more systems with the same data."""
        flat = self.data.reshape(len(self.data), -1)
        _, which = np.unique(flat, axis=0, return_inverse=True)
        return [np.flatnonzero(which == g) for g in np.flatnonzero(np.bincount(which) > 1)]


def published(data: xr.Dataset, metric: MetricLike, prior: PriorLike) -> Field:
    """Read how many items each system got right and wrong."""
    resolved = resolve([metric], 2)[0]
    check_of_answers([resolved])
    right, wrong = (_column(data, name) for name in (_CORRECT, _WRONG))
    a, b = pair("prior", prior)
    if (right + a <= 0).any() or (wrong + b <= 0).any():
        raise ValueError(
            "`prior` leaves the posterior improper: a system has no right or no wrong answers and a concentration of "
            "0. Take prior='jeffreys'."
        )
    one, other = (wrong + b, right + a) if resolved.loss else (right + a, wrong + b)
    dist, counted = Beta(one, other), np.stack([wrong, right] if resolved.loss else [right, wrong]).astype(np.float64)
    with np.errstate(invalid="ignore"):
        point = (wrong if resolved.loss else right) / (right + wrong)
    return Field(
        _coords(data), resolved, point, dist, lambda draws, seed: _drawn(seed).beta(one, other, (draws, len(one))),
        np.stack([right, wrong], 1), INDEPENDENT, evidence=Beta(counted[0], counted[1]),
    )  # fmt: skip


def _column(data: xr.Dataset, name: str) -> NDArray[np.int64]:
    if name not in data or data[name].dims != (SYSTEM,):
        raise ValueError(
            f"`counts` as a Dataset must have the variables correct(system) and wrong(system), or those of "
            f"bayescm.predictions; got { {str(key): v.dims for key, v in data.data_vars.items()} }."
        )
    return validate.count_values(name, data[name].values)


def independent(counts: Any, metric: MetricLike, model: str, prior: PriorLike, prevalence: PrevalenceLike) -> Field:
    """Read a confusion matrix for each system."""
    counts = computed(counts)
    batch = [str(dim) for dim in counts.dims if dim not in MATRIX]
    if batch != [SYSTEM]:
        raise ValueError(
            f"`counts` must have the dim {SYSTEM!r} and no other beside the matrix; got {batch}. Select, sum or rename."
        )
    labels = labels_of(counts)
    resolved = _one_number(metric, len(labels))
    base = concentrations(prior, model, labels)
    posterior = dirichlet.posterior(counts.values, base, prevalence)
    dirichlet.check_proper(posterior, labels)
    common = shared(prevalence, base) and not of_one_class(resolved, len(labels))

    def draw(draws: int, seed: int) -> Array:
        values = np.empty((draws, counts.sizes[SYSTEM]))
        block = max(_BLOCK // counts.size, 1)
        for start in range(0, draws, block):
            size = min(block, draws - start)
            theta = draws_of_systems(counts, base, prevalence, 1, size, seed + start)
            values[start : start + size] = _values(theta, resolved)
        return values

    point = compute([resolved], dirichlet.plug_in(counts.values, posterior, prevalence))[0]
    dist, seen = _dists(resolved, posterior), None
    if isinstance(dist, Beta) and not common and not (is_prevalence(resolved) and prevalence is not None):
        nothing = concentrations("haldane", model, labels)
        seen = distributions.exact_distribution(resolved, dirichlet.posterior(counts.values, nothing, prevalence))
    evidence = seen if isinstance(seen, Beta) else None
    return Field(
        _coords(counts), resolved, point, dist, draw, counts.values, INDEPENDENT, common, tuple(labels), evidence
    )


def audited(audits: Mapping[str, Any], metric: MetricLike, prior: PriorLike) -> Field:
    """Read an audit of each system (:func:`bayescm.audited`): each for itself, by its own totals."""
    check_alike(audits)
    read = [posterior_of(one, prior) for one in audits.values()]
    labels = labels_of(next(iter(audits.values())))
    resolved = _one_number(metric, len(labels))
    dists = [groups.exact_of(resolved, posterior) for _, posterior in read]

    def draw(draws: int, seed: int) -> Array:
        values = np.empty((draws, len(read)))
        for i, (_, posterior) in enumerate(read):
            theta = groups.draw(posterior, matrix_rng(seed, i, Stream.AUDIT), draws)[2]
            values[:, i] = compute([resolved], theta)[0]
        return values

    point = np.array([compute([resolved], groups.plug_in(of))[0] for of, _ in read])
    observed = [(of.of, of.totals.tobytes(), of.counts.tobytes()) for of, _ in read]
    data = np.array([[observed.index(one)] for one in observed])
    return Field(
        {SYSTEM: list(audits)}, resolved, point, _all_exact(dists), draw, data, INDEPENDENT,
        labels=tuple(labels), of=read[0][0].of,
    )  # fmt: skip


def of_draws(posterior: Posterior, metric: MetricLike) -> Field:
    """Read systems whose draws are one model's."""
    block, names = over_systems(posterior, "counts")
    resolved = _one_number(metric, block.k)
    (drawn,), (point,) = block.draws([resolved]), block.points([resolved])
    return Field(
        _coords(names), resolved, point, None, lambda draws, seed: drawn.T, np.arange(len(drawn))[:, None], JOINT, True,
        tuple(posterior.labels), model=posterior.settings,
    )  # fmt: skip


def together(data: Any, metric: MetricLike, prior: PriorLike, prevalence: PrevalenceLike) -> Field:
    """Read the answers of systems to the same items."""
    seen = same_items.patterns(data)
    resolved = _one_number(metric, len(seen.labels))
    if ONE_CLASS in data.attrs:
        check_of_answers([resolved])
    counts = seen.matrices()
    posterior = dirichlet.posterior(counts, concentrations(prior, "dirichlet_multinomial", seen.labels), prevalence)
    dirichlet.check_proper(posterior, seen.labels)

    def draw(draws: int, seed: int) -> Array:
        return _values(draws_of_answers(seen, prior, prevalence, 1, draws, seed), resolved)

    point = compute([resolved], dirichlet.plug_in(counts, posterior, prevalence))[0]
    return Field(
        {SYSTEM: seen.systems},
        resolved,
        point,
        _dists(resolved, posterior) if seen.runs == 1 else None,
        draw,
        seen.answers().swapaxes(0, 1),
        TOGETHER,
        True,
        tuple(seen.labels),
        runs=seen.runs,
    )


def _one_number(metric: MetricLike, n_labels: int) -> Metric:
    """Return a metric that has one value for each system."""
    resolved = resolve([metric], n_labels)[0]
    if per_label(resolved, n_labels):
        raise ValueError(
            f"`metric`: {resolved.name} has a value for each of {n_labels} classes; take '{resolved.name}_macro' or "
            "the like."
        )
    return resolved


def _dists(metric: Metric, posterior: Any) -> Beta | list[Integral | Linear] | None:
    """Return the distribution of each system's metric, None where it isn't known or is a known number."""
    whole = distributions.exact_distribution(metric, posterior)
    n = len(posterior.rows)
    if isinstance(whole, Beta):  # one for all, of a prevalence that is given
        return Beta(np.broadcast_to(whole.a, n), np.broadcast_to(whole.b, n), whole.link)
    if not isinstance(whole, Integral | Linear):
        return None
    return _all_exact([distributions.exact_distribution(metric, dirichlet.single(posterior, (s,))) for s in range(n)])


def _all_exact(dists: Sequence[Any]) -> list[Integral | Linear] | None:
    """Return the distributions of all systems; None if one isn't known, or not well enough."""
    known = [one for one in dists if isinstance(one, Integral | Linear)]
    doubtful = any(isinstance(one, Linear) and one.worst > DOUBTFUL for one in known)
    return None if doubtful or len(known) < len(dists) else known


def _values(theta: xr.DataArray, metric: Metric) -> Array:
    """Return the metric of draws of one chain, (draws, systems)."""
    ordered = theta.transpose("chain", "draw", SYSTEM, *MATRIX)
    return compute([metric], ordered.values[0])[0]


def _drawn(seed: int) -> np.random.Generator:
    return matrix_rng(seed, 1, Stream.RANKS)


def _coords(data: Any) -> dict[str, Any]:
    """Return the coordinates of the systems, which are numbered from 1 if they have no names."""
    found = {str(name): c.variable for name, c in data.coords.items() if c.dims == (SYSTEM,)}
    names = found.setdefault(SYSTEM, xr.Variable(SYSTEM, np.arange(1, data.sizes[SYSTEM] + 1)))
    validate.unique(SYSTEM, names.values.tolist())
    return found
