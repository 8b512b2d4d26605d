"""decision_curve(): net benefit of acting on the calls of a classifier, with its posterior."""

from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts, takes_scores
from bayescm.data.schema import CI_BOUND, MATRIX, METRIC, THRESHOLD, attributes
from bayescm.data.words import CiKind
from bayescm.inference import claims
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import DRAWS, ModelOptions
from bayescm.inference.read import read
from bayescm.inference.summaries import of_posterior
from bayescm.metrics import net_benefit
from bayescm.planning.checks import ACTION, no_dim, two_labels
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

ACTIONS = ("classifier", "all positive", "all negative")
_STATISTICS = {
    "point": "Net benefit of the counts themselves",
    "mean": "Posterior mean of the net benefit",
    "median": "Posterior median of the net benefit",
    "sd": "Posterior standard deviation of the net benefit",
    "interval": "Credible interval of the net benefit",
}


@takes_scores
@takes_counts
def decision_curve(
    counts: Any,
    thresholds: ArrayLike | None = None,
    *,
    prevalence: PrevalenceLike = None,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
) -> xr.Dataset:
    """Return the net benefit of acting on a classifier's calls against the threshold probability.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)`` of two labels: a classifier as it is, at every threshold probability. With a
        dim ``threshold`` (:func:`bayescm.curves.counts_at_thresholds` of calibrated probabilities) the matrix of a
        threshold is used at that threshold probability. May be lazy (dask). Or what else :func:`bayescm.summary` takes:
        audits, systems on the same items, draws of any model.
    thresholds : array_like of numbers in (0, 1), optional
        Threshold probabilities: how probable a positive must be for one to act. Default: 0.01, 0.02, ..., 0.99; those
        of the counts, if they have any.
    prevalence, model, prior, ci_prob, **options
        As in :func:`bayescm.summary`.
    ci_kind : {"eti", "hdi"}
    random_seed : int, numpy.random.Generator or None
        Of draws, where they are needed: of counts only for concentrations below 0.05.

    Returns
    -------
    xarray.Dataset
        ``point``, ``mean``, ``median``, ``sd`` and ``interval(ci_bound)`` of the net benefit over ``(..., threshold,
        action)``, the actions being to follow the classifier, to call all positive, and to call all negative (whose
        net benefit is 0). ``probability_useful(..., threshold)`` is the probability that the classifier has more net
        benefit than either of the others, and ``error`` its estimated relative error.

    Raises
    ------
    ValueError
        For more than two labels, a threshold outside (0, 1), or `thresholds` for counts that have their own.

    Notes
    -----
    Net benefit is TP/N - FP/N t/(1 - t), in true positives per item. It takes the threshold probability t for the odds
    of harm to good: acting on a negative harms t/(1 - t) times as much as acting on a positive does good, whatever
    the item. The classifier is useful at t if precision > t (better than calling none positive) and NPV > 1 - t (better
    than calling all).

    References
    ----------
    Vickers and Elkin 2006; Vickers, Van Calster and Steyerberg 2016.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=4, fp=20, tn=150)
    >>> curve = bayescm.planning.decision_curve(counts, [0.05, 0.2, 0.6])
    >>> curve.probability_useful.values.round(4)
    array([0.9247, 1.    , 0.3125])
    >>> curve["mean"].sel(action=["classifier", "all positive"]).values.round(3)
    array([[ 0.126,  0.109],
           [ 0.106, -0.058],
           [-0.021, -1.116]])
    """
    data: Any = counts
    own = isinstance(counts, xr.DataArray) and THRESHOLD in counts.dims
    if isinstance(counts, xr.DataArray):  # one threshold may have been selected
        data = _same_items(check_counts(counts)) if own else counts.drop_vars(THRESHOLD, errors="ignore")
    at = _thresholds(data if own else None, thresholds)
    parts = [(data, at)]
    if own:
        parts = [(data.isel({THRESHOLD: i}, drop=True), at[i : i + 1]) for i in range(len(at))]
    seed = validate.seed(random_seed)
    made = [
        (read(part, model=model, prior=prior, prevalence=prevalence, random_seed=seed, **options), some)
        for part, some in parts
    ]
    posterior, _ = made[0]
    two_labels(posterior)
    no_dim(posterior.over, ACTION)
    acting = xr.concat([_benefits(part, some, ci_prob, ci_kind) for part, some in made], THRESHOLD)
    useful = xr.concat([_useful(part, some) for part, some in made], THRESHOLD)
    method = acting["method"]
    acting = acting[[*_STATISTICS]]
    shares = of_posterior(posterior, "prevalence", ci_prob, ci_kind, {}).isel({METRIC: 0}, drop=True)[[*_STATISTICS]]
    t = acting[THRESHOLD]
    everyone = ((shares - t) / (1 - t)).assign(sd=shares["sd"] / (1 - t))
    actions = xr.DataArray(list(ACTIONS), dims=ACTION, name=ACTION)
    found = xr.concat([acting, everyone, xr.zeros_like(everyone)], actions, coords="minimal", compat="override")
    found = found.transpose(..., THRESHOLD, ACTION, CI_BOUND)
    for name, words in _STATISTICS.items():
        found[name].attrs = {"long_name": words, "units": "1"}
    found["probability_useful"] = useful["probability"].assign_attrs(long_name="P(useful)")
    found["error"], found["method"] = useful["error"], method
    found[THRESHOLD].attrs = {"long_name": "Threshold probability", "units": "1"}
    settings = (
        {"draws": DRAWS, "random_seed": seed} | dict(posterior.settings) | {"ci_prob": ci_prob, "ci_kind": ci_kind}
    )
    return found.assign_attrs(attributes(**settings))


def _same_items(counts: xr.DataArray) -> xr.DataArray:
    """Return counts whose thresholds share their items, which is checked when they are computed."""
    core = [THRESHOLD, *MATRIX]
    lazy = counts if counts.chunks is None else counts.chunk(dict.fromkeys(core, -1))
    checked: xr.DataArray = xr.apply_ufunc(
        _checked_totals, lazy, input_core_dims=[core], output_core_dims=[core], dask="parallelized",
        output_dtypes=[np.int64], keep_attrs=True,
    )  # fmt: skip
    return checked


def _checked_totals(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Refuse plain counts (..., threshold, 2, 2) whose class totals differ between thresholds."""
    values = validate.count_values("counts", counts)
    totals = values.sum(-1)
    if (totals != totals[..., :1, :]).any():
        raise ValueError("`counts` must have the same items at every threshold; the class totals differ.")
    return values


def _thresholds(counts: xr.DataArray | None, thresholds: ArrayLike | None) -> list[float]:
    """Return the threshold probabilities that are wanted, of counts their own."""
    own = counts is not None
    if own and thresholds is not None:
        raise ValueError("`thresholds` must be left out: the counts have their own; select some of those.")
    if thresholds is None:
        thresholds = np.arange(1, 100) / 100 if counts is None else counts[THRESHOLD].values
    values = validate.real_numbers("thresholds", np.atleast_1d(validate.array_of("thresholds", thresholds)))
    bad = values[(values <= 0) | (values >= 1) | (1 - values == 1)]
    if len(bad):
        raise ValueError(
            f"`{'counts' if own else 'thresholds'}` must have threshold probabilities in (0, 1); got {bad[0]:g}."
            + (" Scores must be calibrated probabilities; leave out those that are 0 or 1." if own else "")
        )
    validate.unique("thresholds", values.tolist())
    return [float(value) for value in values]


def _benefits(posterior: Posterior, at: list[float], ci_prob: float, ci_kind: str) -> xr.Dataset:
    """Summarise the net benefit of a classifier at threshold probabilities."""
    found = of_posterior(posterior, [net_benefit(t) for t in at], ci_prob, ci_kind, {})[[*_STATISTICS, "method"]]
    return found.rename({METRIC: THRESHOLD}).assign_coords({THRESHOLD: at})


def _useful(posterior: Posterior, at: list[float]) -> xr.Dataset:
    """Return the probability that a classifier has more net benefit than calling all, or none, positive."""
    wanted = [f"precision > {t!r} and npv > {1.0 - t!r}" for t in at]
    found = claims.of_posterior(posterior, wanted, "claims", {})
    return found.rename(claim=THRESHOLD).assign_coords({THRESHOLD: at})
