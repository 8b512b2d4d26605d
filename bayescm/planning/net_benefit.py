"""decision_curve(): net benefit of acting on the calls of a classifier, with its posterior."""

from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts, takes_scores
from bayescm.data.schema import CI_BOUND, MATRIX, METRIC, THRESHOLD, as_read, attributes
from bayescm.data.words import CiKind
from bayescm.distributions import Beta
from bayescm.inference.blocks import Block
from bayescm.inference.claims import LONG_NAMES
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import DRAWS, ModelOptions
from bayescm.inference.read import read
from bayescm.inference.summaries import of_posterior
from bayescm.inference.tables import STATISTICS, dataset, rows
from bayescm.metrics import net_benefit, resolve
from bayescm.models.fit import is_conjugate
from bayescm.planning.checks import ACTION, no_dim, two_labels
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

Array = NDArray[np.float64]

ACTIONS = ("classifier", "all positive", "all negative")
_PLACE = "_place"
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
    Net benefit is TP/N - FP/N t/(1 - t), in true positives per item. Acting on a negative harms t/(1 - t) times as much
    as acting on a positive does good. The classifier is useful at t if precision > t (better than calling none
    positive) and NPV > 1 - t (better than calling all).

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
    seed = validate.seed(random_seed)
    how: dict[str, Any] = {"model": model, "prior": prior, "prevalence": prevalence, "random_seed": seed} | options
    parts = [(data, at)]
    if own and not is_conjugate(model):  # a fit for each
        parts = [(data.isel({THRESHOLD: i}, drop=True), at[i : i + 1]) for i in range(len(at))]
    made = [(read(part, **how), some) for part, some in parts]
    posterior, _ = made[0]
    two_labels(posterior)
    no_dim(posterior.over, ACTION)
    classifiers = [_classifier(part, some, ci_prob, ci_kind) for part, some in made]
    classifier = classifiers[0] if len(made) == 1 else xr.concat(classifiers, THRESHOLD)
    acting, useful = classifier[[*_STATISTICS]], classifier[["probability_useful", "error", "method"]]
    shares = of_posterior(posterior, "prevalence", ci_prob, ci_kind, {}).isel({METRIC: 0}, drop=True)[[*_STATISTICS]]
    shares = shares.isel({THRESHOLD: 0}, drop=True) if THRESHOLD in shares.dims else shares
    t = acting[THRESHOLD]
    everyone = ((shares - t) / (1 - t)).assign(sd=shares["sd"] / (1 - t))
    actions = xr.DataArray(list(ACTIONS), dims=ACTION, name=ACTION)
    found = xr.concat([acting, everyone, xr.zeros_like(everyone)], actions, coords="minimal", compat="override")
    found = found.transpose(..., THRESHOLD, ACTION, CI_BOUND)
    for name, words in _STATISTICS.items():
        found[name].attrs = {"long_name": words, "units": "1"}
    found = found.assign({name: values.variable for name, values in useful.data_vars.items()})
    found["probability_useful"].attrs = {"long_name": "P(useful)", "units": "1"}
    found["error"].attrs = {"long_name": LONG_NAMES["error"], "units": "1"}
    found[THRESHOLD].attrs = {"long_name": "Threshold probability", "units": "1"}
    settings = (
        {"draws": DRAWS, "random_seed": seed} | dict(posterior.settings) | {"ci_prob": ci_prob, "ci_kind": ci_kind}
    )
    settings |= as_read(data.isel({THRESHOLD: 0}, drop=True)) if own else {}
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


def _classifier(posterior: Posterior, at: list[float], ci_prob: float, ci_kind: str) -> xr.Dataset:
    """Summarise the net benefit at threshold probabilities; of a batch over thresholds, of each matrix at its own."""
    prob, kind = validate.number("ci_prob", ci_prob, 0, 1), validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    benefits, (precision, npv) = [net_benefit(t) for t in at], resolve(["precision", "npv"], 2)

    def statistics(block: Block, places: list[int]) -> Array:
        metrics = [benefits[i] for i in places]
        return rows(block.statistics(metrics, prob, kind), metrics, block.points(metrics), block.shape)

    def useful(block: Block, t: Any) -> Array:
        return np.stack(block.chance([(precision, ">", t), (npv, ">", 1.0 - t)])[:2], -1)

    def kernel(block: Block, places: NDArray[np.int64]) -> Array:
        block.check(benefits[:1])  # all need the same cells
        each = places.reshape(-1, places.shape[-1])
        if (each == each[:1]).all():
            some = each[0].tolist()
            return np.concatenate([statistics(block, some), np.stack([useful(block, at[i]) for i in some], -2)], -1)
        found = [statistics(one, some) for one, some in zip(block.singles(), each.tolist(), strict=True)]
        t = np.array(at)[places[..., 0]]
        if all(isinstance(block.known(metric), Beta) for metric in (precision, npv)):
            chances = useful(block, t)
        else:  # which takes one number for all matrices
            chances = np.array([useful(one, float(x)) for one, x in zip(block.singles(), t.ravel(), strict=True)])
        parts = np.array(found), chances
        return np.concatenate([part.reshape(*places.shape, -1) for part in parts], -1)

    over = posterior.over
    own = THRESHOLD in over.dims
    places = xr.DataArray(np.arange(len(at)), dims=THRESHOLD)
    places = places.expand_dims(_PLACE, -1) if own else places.rename({THRESHOLD: _PLACE})
    places = places.broadcast_like(over.drop_vars(over.coords)).transpose(..., _PLACE)
    table = posterior.map(kernel, {_PLACE: places.sizes[_PLACE], METRIC: len(STATISTICS) + 2}, places)
    table = table.isel({_PLACE: 0}) if own else table.rename({_PLACE: THRESHOLD})
    known: Any = posterior.by_structure(lambda block: block.are_known(benefits[:1]), _PLACE).isel({_PLACE: 0})
    method = known.copy(data=np.where(known.values, "exact", "draws")).set_dims({**known.sizes, THRESHOLD: len(at)})
    found = dataset(table, {THRESHOLD: at}, method, prob, kind, {})[[*_STATISTICS, "method"]]
    return found.assign(probability_useful=table[..., -2], error=table[..., -1])
