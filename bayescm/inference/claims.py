"""probability(): what the posterior says of claims in words, such as "mcc > 0.3"."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.inputs import takes_runs
from bayescm.data.schema import LABEL, attributes
from bayescm.inference.blocks import Block, Part
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import ModelOptions, number_of_draws
from bayescm.inference.read import read
from bayescm.metrics import per_label, resolve
from bayescm.priors.concentrations import PrevalenceLike, PriorLike
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

CLAIM, _WHAT = "claim", "_what"
LONG_NAMES = {
    "probability": "Posterior probability",
    "error": "Estimated relative error (NaN: draws)",
    "mcse_probability": "Monte Carlo standard error (0: exact)",
}
_SIGNS = str.maketrans({"\u2265": ">=", "\u2264": "<="})
_CLAIM = re.compile(r"^(?P<metric>[^<>]+?)\s*(?P<sign>>=?|<=?)\s*(?P<value>[-+]?[0-9.eE+-]+%?)$")


def read_claim(claim: str, k: int) -> list[Part]:
    """Read ``"mcc > 0.3"``, ``"recall >= .8 and f1 > .7"``, ``"informative"`` or ``"deceptive"`` of `k` classes."""
    words = {"informative": "informedness > 0", "deceptive": "informedness < 0"}
    parts = []
    for part in re.split(r"\s+and\s+|\s*&\s*", words.get(claim.strip().lower(), claim).translate(_SIGNS)):
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


@stamped
@takes_runs
def probability(
    counts: Any,
    claims: str | Sequence[str],
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
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
    draws, random_seed
        Of the draws for other claims: of more than two labels most averages, and claims that must hold together.
    **options
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over the batch dims and ``claim``: ``probability``; ``error``, estimated, relative to the smaller of it and its
        complement (NaN: draws); ``mcse_probability``, the Monte Carlo standard error (0: exact); over ``claim``
        ``method``, "exact", "draws" or, close to exact, "numerical".

    Raises
    ------
    ValueError
        For a claim that can't be read, or whose metric is unknown.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> found = bayescm.probability(counts, ["deceptive", "mcc > 0.5", "recall > .9 and specificity > .6"])
    >>> found.probability.values.round(4)
    array([0.    , 0.974 , 0.7887])
    """
    seed = validate.seed(random_seed)
    posterior = read(counts, model=model, prior=prior, prevalence=prevalence, draws=draws, random_seed=seed, **options)
    return of_posterior(posterior, claims, "claims", {"draws": number_of_draws(draws), "random_seed": seed})


def of_posterior(posterior: Posterior, claims: str | Sequence[str], name: str, drawn: Mapping[str, Any]) -> xr.Dataset:
    """Answer claims, the argument called `name`; `drawn` are attrs of what takes draws."""
    wanted = [claims] if isinstance(claims, str) else validate.listed(name, claims)
    if not wanted or not all(isinstance(claim, str) for claim in wanted):
        raise TypeError(f"`{name}` must be text such as 'mcc > 0.3', or several of these; got {claims!r}.")
    validate.unique(name, wanted)
    labels = list(posterior.labels)
    parts = [read_claim(claim, len(labels)) for claim in wanted]
    metrics = [metric for claim in parts for metric, _, _ in claim]
    several = any(per_label(metric, len(labels)) for metric in metrics)

    def kernel(block: Block) -> Array:
        block.check(metrics)
        sides = [np.stack([np.asarray(part) for part in block.chance(claim)], -1) for claim in parts]
        full = (*block.shape, *([len(labels)] if several else []), len(LONG_NAMES))
        wide = [side if side.ndim == len(full) else side[..., None, :] for side in sides]
        return np.stack([np.broadcast_to(side, full) for side in wide], -2)

    table = posterior.map(
        kernel, {**({LABEL: len(labels)} if several else {}), CLAIM: len(wanted), _WHAT: len(LONG_NAMES)}
    )
    method = posterior.by_structure(
        lambda block: [block.closed if block.is_exact(claim) else "draws" for claim in parts], CLAIM
    )
    settings = ({} if "draws" not in method.values else dict(drawn)) | dict(posterior.settings)
    dataset = xr.Dataset(
        {variable: table.isel({_WHAT: i}) for i, variable in enumerate(LONG_NAMES)},
        coords={CLAIM: wanted} | ({LABEL: labels} if several else {}),
        attrs=attributes(**settings),
    )
    dataset["method"] = method
    for variable, words in LONG_NAMES.items():
        dataset[variable].attrs = {"long_name": words, "units": "1"}
    return dataset
