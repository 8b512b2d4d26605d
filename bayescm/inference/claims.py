"""probability(): what the posterior says of claims in words, such as "mcc > 0.3"."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm import distributions
from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import LABEL, MATRIX, attributes, labels_of, positive_class
from bayescm.distributions import dirichlet
from bayescm.distributions.sample import share_error, warn_undefined
from bayescm.inference.metric_distributions import MetricDistribution, known_distribution
from bayescm.inference.summaries import draws_of
from bayescm.metrics import per_label, resolve
from bayescm.priors.concentrations import PrevalenceLike, PriorLike, concentrations, resolved_prior

_CLAIM = re.compile(r"^(?P<metric>[^<>]+?)\s*(?P<sign>>=?|<=?)\s*(?P<value>[-+]?[0-9.eE+-]+%?)$")


def read_claim(claim: str) -> list[tuple[str, str, float]]:
    """Read ``"mcc > 0.3"``, ``"recall > .8 and precision > .7"``, ``"informative"`` or ``"deceptive"``."""
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
        parts.append((match["metric"].strip(), match["sign"][0], number))
    return parts


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
        As in :func:`metric_distribution`.
    claims : str or sequence of str
        Each ``"<metric> > <number>"`` or ``<``; several joined by ``and`` must hold together. ``"informative"`` is
        informedness > 0, ``"deceptive"`` informedness < 0: worse than chance (Toetsch and Hoffmann 2021).
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
    counts = check_counts(counts).compute()
    settings: dict[str, Any] = {"model": model, "prior": prior, "prevalence": prevalence}
    samples, seed = validate.positive_integer("samples", samples), validate.seed(random_seed)
    found = [_answer(counts, read_claim(claim), settings, samples, seed) for claim in wanted]
    index = xr.DataArray(wanted, dims="claim", name="claim")
    joined = [
        xr.concat(xr.broadcast(*(part.drop_attrs().rename("v") for part in parts)), index)
        for parts in zip(*(answer[:3] for answer in found), strict=True)
    ]
    methods = [answer[3] for answer in found]
    drawn = {"samples": samples, "random_seed": seed} if "draws" in methods else {}
    attrs = attributes(**settings, **drawn, assumptions=assumed(prevalence), **positive_class(counts))
    dataset = xr.Dataset(dict(zip(("probability", "error", "mcse_probability"), joined, strict=True)), attrs=attrs)
    dataset["method"] = ("claim", methods)
    dataset["probability"].attrs = {"long_name": "Posterior probability", "units": "1"}
    dataset["error"].attrs = {"long_name": "Estimated relative error (NaN: draws)", "units": "1"}
    dataset["mcse_probability"].attrs = {"long_name": "Monte Carlo standard error (0: exact)", "units": "1"}
    return dataset.transpose(..., "claim")


_Parts = list[tuple[str, str, float]]


def _answer(
    counts: xr.DataArray, parts: _Parts, settings: dict[str, Any], samples: int, seed: int
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray, str]:
    """Return the probability that claims hold together, its relative error, its Monte Carlo error, and the method."""
    single = [known_distribution(counts, name, **settings) for name, _, _ in parts]
    known = [one for one in single if one is not None]
    if len(known) < len(parts) or (len(parts) > 1 and counts.sizes[MATRIX[0]] > 2):
        return *_drawn(counts, parts, settings, samples, seed), "draws"
    if len(parts) > 1:
        found, error = _joint(counts, known, parts, settings)
    else:
        (_, sign, number), dist = parts[0], known[0]
        found = dist.sf(number) if sign == ">" else dist.cdf(np.nextafter(number, -np.inf))
        error = dist.error(number)
    return found, error, xr.zeros_like(found), "exact"


def _drawn(
    counts: xr.DataArray, parts: _Parts, settings: dict[str, Any], samples: int, seed: int
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Return the share of draws for which claims hold together, NaN, and the Monte Carlo error of the share."""
    labels = labels_of(counts)
    metrics = [resolve([name], len(labels))[0] for name, _, _ in parts]
    base = concentrations(settings["prior"], settings["model"], labels)
    posterior = dirichlet.posterior(validate.count_values("counts", counts.values), base, settings["prevalence"])
    dirichlet.check_proper(posterior, labels)
    several = any(per_label(metric, len(labels)) for metric in metrics)
    template = counts.isel(dict.fromkeys(MATRIX, 0), drop=True)
    template = template.expand_dims({LABEL: labels}, -1) if several else template
    shares = np.empty((template.size // (len(labels) if several else 1), len(labels) if several else 1))
    for position in range(len(shares)):
        one = dirichlet.single(posterior, np.unravel_index(position, counts.shape[:-2]))
        values = draws_of(metrics, one, matrix_rng(seed, position, Stream.POSTERIOR), samples)
        warn_undefined({metric.name: value for metric, value in zip(metrics, values, strict=True)})
        held = np.ones((samples, shares.shape[1]), bool)
        for value, (_, sign, number) in zip(values, parts, strict=True):
            held &= (value > number if sign == ">" else value < number).reshape(samples, -1)
        shares[position] = held.mean(0)
    found = template.copy(data=shares.reshape(template.shape))
    error = share_error(found.values, samples)
    return found, found.copy(data=np.full(found.shape, np.nan)), found.copy(data=error)


def _joint(
    counts: xr.DataArray, single: list[MetricDistribution], parts: _Parts, settings: dict[str, Any]
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the probability that several claims about two labels hold together, and its error."""
    metrics = [one.metric for one in single]
    base = concentrations(settings["prior"], settings["model"], labels_of(counts))
    posterior = dirichlet.posterior(counts.values, base, settings["prevalence"])
    found, error = distributions.joint_probability(
        metrics, np.array([value for _, _, value in parts]), np.array([sign == ">" for _, sign, _ in parts]), posterior
    )
    template = single[0].point
    return template.copy(data=found), template.copy(data=error)
