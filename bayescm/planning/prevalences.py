"""at_prevalences(): metrics of two labels over a range of prevalences, known or uncertain."""

from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import special

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import CI_BOUND, METRIC
from bayescm.data.words import CiKind
from bayescm.inference.options import ModelOptions, number_of_draws
from bayescm.inference.read import opened
from bayescm.inference.summaries import of_posterior
from bayescm.metrics import MetricsLike, resolve
from bayescm.planning.checks import TWO, no_dim, two_labels
from bayescm.priors.concentrations import PriorLike
from bayescm.results.objects import stamped

PREVALENCE = "prevalence"

_GRID = special.expit(np.linspace(special.logit(0.001), special.logit(0.999), 61))
_ONE_NUMBER = {
    "precision", "false_discovery_rate", "negative_predictive_value", "false_omission_rate", "recall", "specificity",
    "false_positive_rate", "false_negative_rate", "balanced_accuracy", "informedness", "geometric_mean",
    "positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio", "prevalence_threshold",
}  # fmt: skip
"""Metrics that are, at every known prevalence, a monotone function of one number that doesn't depend on it."""
_FUNCTIONS = {metric.function for metric in resolve(sorted(_ONE_NUMBER), TWO)}  # whatever they are called


@stamped
@takes_counts
def at_prevalences(
    counts: Any,
    metrics: MetricsLike = ("precision", "negative_predictive_value"),
    prevalence: Any = None,
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
) -> xr.Dataset:
    """Summarise metrics as they would be at other prevalences.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)`` of two labels. May be lazy (dask). Or what else :func:`bayescm.summary`
        takes: audits, systems on the same items, draws of any model.
    metrics
        As in :func:`bayescm.summary`.
    prevalence : number, tuple of two numbers, PreliZ Beta, or sequence of these, optional
        A number is a known prevalence, a tuple the two numbers of a Beta, positives first. Default: 61 known ones from
        0.001 to 0.999, in even steps of their logit.
    model, prior, ci_prob, draws, random_seed, **options
        As in :func:`bayescm.summary`.
    ci_kind : {"eti", "hdi"}
        Equal tails, the default, make the bands of precision and NPV simultaneous.

    Returns
    -------
    xarray.Dataset
        What :func:`bayescm.summary` returns, over ``(..., prevalence, metric)``. The coordinate ``prevalence`` is the
        number or the mean of the Beta, ``prevalence_distribution`` says which ("known", "Beta(2, 18)").
        ``simultaneous(metric)`` says whether the intervals of all prevalences hold together with `ci_prob`;
        ``observed_prevalence`` is that of the counts.

    Raises
    ------
    ValueError
        For more than two labels, a prevalence outside (0, 1), or a batch dim called "prevalence".

    Notes
    -----
    The recall and the specificity keep their posteriors: those of the test set, whose cases and controls must be like
    those to come. An uncertain prevalence is averaged over, exactly where :func:`bayescm.summary` is exact.

    At every prevalence the precision is an increasing function of the positive likelihood ratio alone, and NPV a
    decreasing one of the negative. So its quantile at one prevalence and that at another belong to the same likelihood
    ratio, and equal-tailed intervals at all known prevalences contain the whole true curve, or none of it.

    References
    ----------
    Altman and Bland 1994, BMJ 309, 102; Fagan 1975, New England Journal of Medicine 293, 257 (the nomogram).

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=90, fn=10, fp=5, tn=95)
    >>> found = bayescm.planning.at_prevalences(counts, "precision", [0.01, 0.5, (2, 98)])
    >>> found.interval.sel(metric="precision").values.round(3)
    array([[0.078, 0.319],
           [0.894, 0.979],
           [0.037, 0.59 ]])
    >>> found.prevalence_distribution.values.tolist()
    ['known', 'known', 'Beta(2, 98)']
    """
    seed = validate.seed(random_seed)
    at = opened(counts, model=model, prior=prior, draws=draws, random_seed=seed, **options)
    now = at(None)
    two_labels(now)
    no_dim(now.over, PREVALENCE)
    wanted, resolved = _prevalences(prevalence), resolve(metrics, TWO)
    drawn = {"draws": number_of_draws(draws), "random_seed": seed}
    each = [of_posterior(at(one), resolved, ci_prob, ci_kind, drawn) for one in wanted]
    index = xr.DataArray([_mean(one) for one in wanted], dims=PREVALENCE, name=PREVALENCE)
    index.attrs = {"long_name": "Prevalence", "units": "1"}
    found = xr.concat(each, index, combine_attrs="drop_conflicts").transpose(..., PREVALENCE, METRIC, CI_BOUND)
    known = all(isinstance(one, float) for one in wanted)
    together = [known and ci_kind == "eti" and metric.function in _FUNCTIONS for metric in resolved]
    held = {"long_name": "Whether the intervals of all prevalences hold together"}
    found["simultaneous"] = (METRIC, together, held)
    observed = of_posterior(now, "prevalence", ci_prob, ci_kind, drawn)["point"].isel({METRIC: 0}, drop=True)
    observed = observed.drop_vars([name for name in observed.coords if name not in observed.dims])
    found["observed_prevalence"] = observed.assign_attrs({"long_name": "Prevalence of the counts", "units": "1"})
    return found.assign_coords(prevalence_distribution=(PREVALENCE, [_dist(one) for one in wanted]))


def _prevalences(prevalence: ArrayLike | None) -> list[float | tuple[float, float]]:
    """Return known prevalences as numbers and uncertain ones as the two numbers of a Beta."""
    if prevalence is None:
        return [float(value) for value in _GRID]
    single = isinstance(prevalence, str | tuple) or not hasattr(prevalence, "__iter__")
    single = single or getattr(prevalence, "ndim", 1) == 0
    given: list[Any] = [prevalence] if single else list(prevalence)  # type: ignore[arg-type]
    if not given:
        raise ValueError("`prevalence` is empty; give at least one number or Beta.")
    return [_prevalence(validate.beta_numbers("prevalence", one)) for one in map(validate.fraction, given)]


def _prevalence(value: Any) -> float | tuple[float, float]:
    if isinstance(value, str) or np.ndim(value) == 0:
        return validate.number("prevalence", value, 0, 1)
    if np.shape(value) != (TWO,):
        raise ValueError(f"`prevalence` must hold numbers, and the two numbers of a Beta as a tuple; got {value!r}.")
    return validate.number("prevalence", value[0], 0, np.inf), validate.number("prevalence", value[1], 0, np.inf)


def _mean(value: float | tuple[float, float]) -> float:
    return value if isinstance(value, float) else value[0] / (value[0] + value[1])


def _dist(value: float | tuple[float, float]) -> str:
    return "known" if isinstance(value, float) else f"Beta({value[0]:.12g}, {value[1]:.12g})"
