"""probability(): what the posterior says of claims in words, such as "mcc > 0.3"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm import distributions
from bayescm.data import strata, validate
from bayescm.data.assumptions import assumed
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import LABEL, as_read, attributes, labels_of, tables_by_matrix
from bayescm.distributions import Point, dirichlet
from bayescm.distributions.discrete import DiscreteDistribution
from bayescm.distributions.integral import form_of
from bayescm.distributions.sample import share_error, warn_undefined
from bayescm.distributions.strata import Groups
from bayescm.distributions.tabulated import DOUBTFUL, Tabulated
from bayescm.inference import audits, averages
from bayescm.inference.metric_distributions import plain_distribution
from bayescm.metrics import Metric, per_label, resolve
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, PriorLike, concentrations, resolved_prior

Array = NDArray[np.float64]

CLAIM, TWO = "claim", 2
_NEXT = 5e-11  # beside a number, where a metric has finitely many values
_LONG_NAMES = {
    "probability": "Posterior probability",
    "error": "Estimated relative error (NaN: draws)",
    "mcse_probability": "Monte Carlo standard error (0: exact)",
}
_CLAIM = re.compile(r"^(?P<metric>[^<>]+?)\s*(?P<sign>>=?|<=?)\s*(?P<value>[-+]?[0-9.eE+-]+%?)$")


class _Claim(NamedTuple):
    """Metrics that must lie above numbers, or below, all of them together."""

    metrics: tuple[Metric, ...]
    signs: tuple[str, ...]
    numbers: Array
    several: bool
    """Whether a metric has one value per class."""

    @property
    def above(self) -> NDArray[np.bool_]:
        """Whether each metric must lie above its number; whether it may equal it matters for finitely many values."""
        return np.array([sign[0] == ">" for sign in self.signs])

    def of(self, places: Sequence[int], k: int) -> "_Claim":
        """Return some of the parts."""
        metrics = tuple(self.metrics[i] for i in places)
        several = any(per_label(metric, k) for metric in metrics)
        return _Claim(metrics, tuple(self.signs[i] for i in places), self.numbers[list(places)], several)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is answered for every matrix."""

    claims: list[_Claim]
    labels: list[Any]
    prior: Concentrations
    prevalence: PrevalenceLike
    draws: int
    seed: int


def read_claim(claim: str, k: int) -> list[tuple[Metric, str, float]]:
    """Read ``"mcc > 0.3"``, ``"recall >= .8 and f1 > .7"``, ``"informative"`` or ``"deceptive"`` of `k` classes."""
    words = {"informative": "informedness > 0", "deceptive": "informedness < 0"}
    parts = []
    for part in re.split(r"\s+and\s+|\s*&\s*", words.get(claim.strip().lower(), claim)):
        match = _CLAIM.match(part.strip())
        try:
            value = match["value"] if match else ""
            number = float(value.removesuffix("%")) / (100.0 if value.endswith("%") else 1.0)
        except ValueError:
            match = None
        if match is None:
            raise ValueError(
                f"`claims` can't read {claim!r}; write it like 'mcc > 0.3' or 'recall > .8 and precision > .7', "
                "or 'informative' or 'deceptive'."
            )
        metric = resolve([match["metric"].strip()], k)[0]
        if not metric.lower <= number <= metric.upper:
            cure = f" Percent are written {number:g}%." if 1.0 < number <= 100.0 else ""
            raise ValueError(
                f"`claims`: {metric.name} lies between {metric.lower:g} and {metric.upper:g}, so that {part.strip()!r} "
                f"says nothing.{cure}"
            )
        parts.append((metric, match["sign"], number))
    return parts


def holds(values: ArrayLike, sign: str, number: float) -> NDArray[np.bool_]:
    """Compare values that agree to twelve decimals as equal."""
    difference = np.round(np.asarray(values) - number, 12)
    compared = {">": difference > 0, ">=": difference >= 0, "<": difference < 0, "<=": difference <= 0}
    return np.asarray(compared[sign])


@takes_counts
def probability(
    counts: Any,
    claims: str | Sequence[str],
    *,
    model: str = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    samples: int = 40_000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Return the posterior probability of claims about metrics, exactly where their distribution is known.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``, as in :func:`bayescm.summary`. May be lazy (dask). Of an audit
        (:func:`bayescm.audited`) the answer is for all items.
    claims : str or sequence of str
        Each ``"<metric> > <number>"`` or ``<`` (``>=`` and ``<=`` differ from these where a value has a probability
        of its own: a known prevalence, a metric of finitely many items); several joined by ``and`` must hold
        together. ``"informative"`` is informedness > 0, ``"deceptive"`` informedness < 0: worse than chance
        (Toetsch and Hoffmann 2021).
    model, prior, prevalence
        As in :func:`bayescm.summary`.
    samples, random_seed
        Of the draws for other claims: of more than two labels most averages, and claims that must hold together.

    Returns
    -------
    xarray.Dataset
        Over the batch dims and ``claim``: ``probability``; ``error``, estimated, relative to the smaller of it and its
        complement (NaN: draws); ``mcse_probability``, the Monte Carlo standard error (0: exact); over ``claim``
        ``method``, "exact" or "draws".

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> found = bayescm.probability(counts, ["deceptive", "mcc > 0.5", "recall > .9 and specificity > .6"])
    >>> found.probability.values.round(4)
    array([0.    , 0.974 , 0.7887])
    """
    prior = resolved_prior(prior)
    wanted = [claims] if isinstance(claims, str) else validate.listed("claims", claims)
    if not wanted or not all(isinstance(claim, str) for claim in wanted):
        raise TypeError(f"`claims` must be text such as 'mcc > 0.3', or several of these; got {claims!r}.")
    validate.unique("claims", wanted)
    size, seed = validate.positive_integer("samples", samples), validate.seed(random_seed)
    if strata.is_audit(counts):
        strata.of_data(counts, model)
        return _of_audit(counts, wanted, prior, prevalence, size, seed)
    counts = check_counts(counts)
    labels = labels_of(counts)
    plan = _Plan(
        [_claim(claim, len(labels)) for claim in wanted], labels, concentrations(prior, model, labels), prevalence,
        size, seed,
    )  # fmt: skip
    several = any(claim.several for claim in plan.claims)
    over = {**({LABEL: len(labels)} if several else {}), CLAIM: len(wanted)}
    tables = tables_by_matrix(lambda c, i: _answers(c, i, plan), counts, dict.fromkeys(_LONG_NAMES, over))
    posterior = dirichlet.posterior(np.ones((len(labels),) * 2, np.int64), plan.prior, prevalence)
    methods = ["draws" if _parts(claim, posterior, plan)[2] is None else "exact" for claim in plan.claims]
    drawn = {"samples": plan.draws, "random_seed": plan.seed} if "draws" in methods else {}
    attrs = attributes(
        model=model, prior=prior, prevalence=prevalence, **drawn, assumptions=assumed(prevalence),
        **as_read(counts),
    )  # fmt: skip
    return _dataset(tables, wanted, labels if several else None, methods, attrs)


def _dataset(
    tables: Any, wanted: Sequence[str], labels: list[Any] | None, methods: list[str], attrs: dict[str, Any]
) -> xr.Dataset:
    """Give the tables their names; `labels` where a claim has an answer for each."""
    dataset = xr.Dataset(tables, coords={CLAIM: wanted} | ({} if labels is None else {LABEL: labels}), attrs=attrs)
    dataset["method"] = (CLAIM, methods)
    for name, words in _LONG_NAMES.items():
        dataset[name].attrs = {"long_name": words, "units": "1"}
    return dataset


def _of_audit(
    counts: xr.DataArray, wanted: Sequence[str], prior: PriorLike, prevalence: PrevalenceLike, draws: int, seed: int
) -> xr.Dataset:
    """Answer claims about audits, one after the other where there are several."""
    labels = labels_of(counts)
    claims = [_claim(claim, len(labels)) for claim in wanted]
    several = any(claim.several for claim in claims)
    dims = (LABEL, CLAIM) if several else (CLAIM,)

    def answer(one: xr.DataArray, index: int) -> xr.Dataset:
        posterior = audits.posterior_alone(one, prior, prevalence)
        rng = matrix_rng(seed, index, Stream.AUDIT)
        answers = [_claimed(claim, posterior, draws, rng) for claim in claims]
        methods = [method for _, method in answers]
        shape = (len(_LONG_NAMES), len(labels)) if several else (len(_LONG_NAMES), 1)
        found = np.stack([np.broadcast_to(part.reshape(len(_LONG_NAMES), -1), shape) for part, _ in answers], -1)
        tables = {name: (dims, part if several else part[0]) for name, part in zip(_LONG_NAMES, found, strict=True)}
        drawn = {"samples": draws, "random_seed": seed} if "draws" in methods else {}
        attrs = audits.attrs_of(one, prior) | attributes(**drawn)
        return _dataset(tables, wanted, labels if several else None, methods, attrs)

    return audits.each(counts, answer)


def _claim(claim: str, k: int) -> _Claim:
    """Read a claim about matrices of `k` classes."""
    metrics, signs, numbers = zip(*read_claim(claim, k), strict=True)
    return _Claim(metrics, signs, np.array(numbers), any(per_label(metric, k) for metric in metrics))


def _answers(counts: NDArray[Any], index: NDArray[np.int64], plan: _Plan) -> dict[str, Array]:
    """Return the tables (..., [class,] claim) for plain counts (..., K, K)."""
    counts = validate.count_values("counts", counts)
    posterior = dirichlet.posterior(counts, plan.prior, plan.prevalence)
    dirichlet.check_proper(posterior, plan.labels, [metric for claim in plan.claims for metric in claim.metrics])
    found = [_answer(claim, index, posterior, plan) for claim in plan.claims]
    if any(claim.several for claim in plan.claims):
        shape = (*index.shape, len(plan.labels))
        found = [
            answer if claim.several else np.broadcast_to(answer[..., None], (len(_LONG_NAMES), *shape))
            for claim, answer in zip(plan.claims, found, strict=True)
        ]
    return dict(zip(_LONG_NAMES, np.stack(found, -1), strict=True))


def _parts(
    claim: _Claim, posterior: Concentrations, plan: _Plan
) -> tuple[dict[int, Point], _Claim, list[distributions.Distribution] | None]:
    """Return the parts about known numbers, and the claim that is left with its distributions, or None: by draws."""
    dists = [plain_distribution(metric, posterior, plan.prior) for metric in claim.metrics]
    known = {i: dist for i, dist in enumerate(dists) if isinstance(dist, Point)}
    places = [i for i in range(len(dists)) if i not in known]
    rest, of_rest = claim.of(places, len(plan.labels)), [dist for dist in dists if not isinstance(dist, Point)]
    exact = [dist for dist in of_rest if dist is not None]
    together = len(plan.labels) == TWO and all(form_of(metric) is not None for metric in rest.metrics)
    return known, rest, None if len(exact) < len(of_rest) or (len(exact) > 1 and not together) else exact


def _answer(claim: _Claim, index: NDArray[np.int64], posterior: Concentrations, plan: _Plan) -> Array:
    """Return the probability that all of a claim holds, its relative error, and its Monte Carlo error, (3, ...)."""
    known, rest, dists = _parts(claim, posterior, plan)
    k, shape = len(plan.labels), (*index.shape, len(plan.labels)) if claim.several else index.shape

    def over_classes(values: NDArray[Any], *, several: bool) -> NDArray[Any]:
        return values[..., None] if claim.several and not several and values.ndim else values

    found = np.stack([np.ones(shape), *np.zeros((2, *shape))])
    if rest.metrics:
        found = over_classes(_of_unknown(rest, dists, index, posterior, plan), several=rest.several)
    held = np.ones(shape, bool)
    for i, dist in known.items():
        one = holds(dist.value, claim.signs[i], claim.numbers[i])
        held &= over_classes(one, several=per_label(claim.metrics[i], k))
    return np.where(held, np.broadcast_to(found, (len(_LONG_NAMES), *shape)), 0.0)


def _of_unknown(
    claim: _Claim, dists: list[distributions.Distribution] | None, index: NDArray[np.int64], posterior: Concentrations,
    plan: _Plan,
) -> Array:  # fmt: skip
    """Return the same of a claim without known numbers."""
    if dists is None:
        share, spread = _drawn(claim, index, posterior, plan)
        return np.stack([share, np.full(share.shape, np.nan), spread])
    if len(dists) > 1:
        found, error = distributions.joint_probability(claim.metrics, claim.numbers, claim.above, posterior)
    else:
        number = claim.numbers[0]
        below = np.nextafter(number, -np.inf) if claim.signs[0] == "<" else number
        found = dists[0].sf(number) if claim.above[0] else dists[0].cdf(below)
        error = dists[0].error(number)
        if isinstance(dists[0], Tabulated):
            return _checked(claim, np.stack([found, error, np.zeros_like(found)]), index, posterior, plan)
    shape = (*index.shape, len(plan.labels)) if claim.several else index.shape
    return np.stack([np.broadcast_to(part, shape) for part in (found, error, 0.0)])


def _checked(claim: _Claim, found: Array, index: NDArray[np.int64], posterior: Concentrations, plan: _Plan) -> Array:
    """Return the probability, its error and its Monte Carlo error with draws where the exact ones are worse."""
    share, error, _ = found
    least = np.minimum(share, 1.0 - share)
    bad = error * least > DOUBTFUL * np.maximum(least, 1.0 / plan.draws)
    if not bad.any():
        return found
    drawn, spread = _drawn(claim, index, posterior, plan)
    validate.warn(
        f"the exact distribution of {claim.metrics[0].name} isn't right enough for {int(bad.sum())} of {bad.size} "
        f"probabilities: answered by {plan.draws} draws."
    )
    return np.where(bad, np.stack([drawn, np.full(drawn.shape, np.nan), spread]), found)


def _drawn(claim: _Claim, index: NDArray[np.int64], posterior: Concentrations, plan: _Plan) -> Array:
    """Return the probability that all of a claim holds, by draws, and its Monte Carlo error, (2, ...[, class])."""
    k = len(plan.labels)
    found = np.empty((2, index.size, k if claim.several else 1))
    for position in range(index.size):
        one = dirichlet.single(posterior, np.unravel_index(position, index.shape))
        found[:, position] = _of_one(claim, one, int(index.flat[position]), plan)
    return found.reshape(2, *index.shape, k) if claim.several else found.reshape(2, *index.shape)


def _of_one(claim: _Claim, one: Concentrations, position: int, plan: _Plan) -> Array:
    """Return the probability of a claim about one matrix and its Monte Carlo error, (2, 1) or (2, class)."""
    if len(claim.metrics) == 1:
        drawn = averages.drawn(claim.metrics, one, plan.seed, position, plan.draws)
        for average in drawn.averages.values():
            below, error = average.probability(float(claim.numbers[0]))
            return np.array([[1.0 - below if claim.above[0] else below], [error]])
        values = [*drawn.values.values()]
    else:
        rng = matrix_rng(plan.seed, position, Stream.POSTERIOR)
        values = averages.draws_of(claim.metrics, one, rng, plan.draws)
    return np.stack(_share_of(claim, values))


def _share_of(claim: _Claim, values: Sequence[Array]) -> tuple[Array, Array]:
    """Return the share of draws (draws[, class]) for which all of a claim holds, (1 or class), and its error."""
    warn_undefined({metric.name: value for metric, value in zip(claim.metrics, values, strict=True)})
    draws = len(values[0])
    parts = zip(values, claim.signs, claim.numbers, strict=True)
    met = [holds(value, sign, number).reshape(draws, -1) for value, sign, number in parts]
    share = np.all(np.broadcast_arrays(*met), axis=0).mean(0)
    return share, share_error(share, draws)


def _claimed(claim: _Claim, posterior: Groups, draws: int, rng: np.random.Generator) -> tuple[Array, str]:
    """Return the probability that all of a claim about an audit holds, its errors, (3, ...), and how it was found."""
    dist = audits.distribution_of(claim.metrics[0], posterior) if len(claim.metrics) == 1 else None
    if dist is not None:
        number, above = claim.numbers[0], bool(claim.above[0])
        audits.warn_of_undefined(claim.metrics[0], dist)
        if isinstance(dist, DiscreteDistribution):  # whether a value counts itself
            number += _NEXT * (1.0 if above != claim.signs[0].endswith("=") else -1.0)
        found, error = dist.sf(number) if above else dist.cdf(number), dist.error(number)
        least = np.maximum(np.minimum(found, 1.0 - found), 1.0 / draws)
        if not isinstance(dist, Tabulated) or (error <= DOUBTFUL * least / np.minimum(found, 1.0 - found)).all():
            return np.stack(np.broadcast_arrays(found, error, 0.0)), "exact"
    values = audits.drawn(claim.metrics, posterior, draws, rng)
    share, spread = _share_of(claim, values)
    return np.stack([share, np.full(share.shape, np.nan), spread]), "draws"
