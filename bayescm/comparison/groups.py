"""gaps(): how far groups are apart, at most: largest minus smallest, with its uncertainty."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import check_counts, confusion_matrix
from bayescm.data.options import plain_words
from bayescm.data.reading import read as understood
from bayescm.data.recognisers import COUNTS
from bayescm.data.schema import ACTUAL, CI_BOUND, METRIC, PREDICTED, attributes, interval_coordinate
from bayescm.data.units import unit_of, without_units
from bayescm.data.words import CiKind
from bayescm.distributions.sample import Draws
from bayescm.inference.options import number_of_draws
from bayescm.inference.read import read
from bayescm.metrics import MetricsLike, resolve
from bayescm.models.covariates import several_matrices
from bayescm.priors.concentrations import PriorLike
from bayescm.results.names import CARRIED_BY
from bayescm.results.objects import stamped
from bayescm.results.writing import listed

Array = NDArray[np.float64]

GROUP = "group"
_METRICS = ("predicted_prevalence", "recall", "false_positive_rate", "precision", "accuracy")
_ODDS = "equalised_odds"
_FEW = 10  # items of a class of a group
_POOLED = 5  # groups: see docs/verification/hierarchies.py


@plain_words
@stamped
def gaps(
    counts: Any,
    y_pred: Any = None,
    metrics: MetricsLike = None,
    *,
    sensitive_features: Any = None,
    unit: Any = None,
    pooled: bool | None = None,
    rope: float = 0.05,
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Say how far groups are apart, at most, and whether that may be chance.

    Parameters
    ----------
    counts : xarray.DataArray, data frame or array_like
        ``counts(group, actual, predicted)`` of two labels, with one dim of any name; or the true labels.
    y_pred : array_like of shape (n,), optional
        Predicted labels, with `sensitive_features`.
    metrics
        As in :func:`bayescm.summary`. Default: the selection rate (its gap is that of demographic parity), recall,
        false positive rate, precision and accuracy. The larger of the gaps of recall and false positive rate is
        ``equalised_odds``, given where both are asked for.
    sensitive_features : array_like of shape (n,), data frame of columns or str, optional
        Of each item; of several columns every combination that occurs is a group. Or the name of a column of `counts`.
    unit : array_like of shape (n,), optional
        With `sensitive_features`: what was sampled, with several items each, as in :func:`bayescm.summary`. Groups may
        share units, and aren't pooled.
    pooled : bool, optional
        Whether groups are of one kind and learn from one another, by the model ``hierarchical``; else each stands for
        itself. Default: from five groups on, where separate ones claim gaps that aren't there.
    rope : float
        A gap up to this size doesn't matter.
    prior, ci_prob, ci_kind, draws, random_seed
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over ``metric``: the largest value minus the smallest, draw by draw (``point`` of the counts, ``mean``,
        ``median``, ``sd``, ``interval``); ``ratio``, the median of the smallest over the largest;
        ``probability_within``, the probability that all groups are within `rope`; ``lowest`` and ``highest`` over
        ``(metric, group)``, the probability that a group has the smallest, or the largest value.

    Notes
    -----
    A gap is never negative, so that its interval never holds 0, whatever the groups are: see ``probability_within``.
    Equal groups have a gap by chance, the more the smaller and the more numerous they are: without pooling six equal
    groups of 40 look far apart. Pooling takes that away, and hides part of a real gap where one small group is unlike
    the others.

    References
    ----------
    Hardt, Price and Srebro 2016, Equality of opportunity in supervised learning, NIPS 29 (equalised odds).

    Examples
    --------
    >>> import bayescm
    >>> groups = bayescm.from_cells(tp=[80, 78, 55], fn=[20, 22, 45], fp=[9, 12, 10], tn=[91, 88, 90], dims="group")
    >>> found = bayescm.gaps(groups, metrics="recall", random_seed=1)
    >>> found.point.values.round(2), found.interval.values.round(1)
    (array([0.25]), array([[0.1, 0.4]]))
    """
    seed = validate.seed(random_seed)
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    kind = validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    rope = validate.number("rope", rope, 0, 1)
    whole, matrices = _groups(counts, y_pred, sensitive_features, unit)
    wanted = resolve(_METRICS if metrics is None else metrics, 2)
    units = unit_of(whole)
    pooled = matrices.sizes[GROUP] >= _POOLED and not units if pooled is None else pooled
    if pooled and units:
        raise ValueError("`pooled` groups learn from one another's items, and these come in units; leave it out.")
    n = number_of_draws(draws, 10_000)
    model = "hierarchical" if pooled else "dirichlet_multinomial"
    posterior = read(whole, model=model, prior=prior, draws=n, random_seed=seed)
    block, _ = posterior.whole()
    names = [metric.name for metric in wanted]
    values = np.stack(block.draws(wanted))  # (metric, group, draw)
    points = np.stack(block.points(wanted))
    gap, point = np.ptp(values, axis=1), np.ptp(points, axis=1)
    low, high = values.min(1), values.max(1)
    shares = [(values == one[:, None]).mean(-1) for one in (low, high)]
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.median(low / high, -1)
    if {"recall", "false_positive_rate"} <= set(names):
        both = [names.index(one) for one in ("recall", "false_positive_rate")]
        gap, point = np.vstack([gap, gap[both].max(0)]), np.append(point, point[both].max())
        ratio = np.append(ratio, ratio[both].min())
        shares = [np.vstack([one, np.full(one.shape[1], np.nan)]) for one in shares]
        names = [*names, _ODDS]
    told = Draws(gap).statistics(prob, kind)
    within = (gap <= rope).mean(-1)
    variables = {
        "point": (METRIC, point), **{name: (METRIC, told[name]) for name in ("mean", "median", "sd")},
        "interval": ((METRIC, CI_BOUND), np.stack([told["lower"], told["upper"]], -1)), "ratio": (METRIC, ratio),
        "probability_within": (METRIC, within), "mcse_mean": (METRIC, told["mcse_mean"]),
        "lowest": ((METRIC, GROUP), shares[0]), "highest": ((METRIC, GROUP), shares[1]),
    }  # fmt: skip
    coords = {METRIC: names, GROUP: matrices[GROUP].values, CI_BOUND: interval_coordinate(prob, kind)}
    settings: dict[str, Any] = dict(posterior.settings) | {"groups": matrices.sizes[GROUP], "rope": rope, "draws": n}
    settings |= {"random_seed": seed, "ci_prob": prob, "ci_kind": kind, "pooled": int(pooled)}
    if few := _few(matrices):
        settings[CARRIED_BY] = f"{listed(few)}: the gap is as much chance as theirs"
    return xr.Dataset(variables, coords=coords, attrs=attributes(**settings))


def _groups(counts: Any, y_pred: Any, features: Any, unit: Any) -> tuple[Any, xr.DataArray]:
    """Return counts over `group`, those by unit, and of all items."""
    if isinstance(features, str) and y_pred is None:
        counts = check_counts(understood(counts, columns={"by": features}, unit=unit, about=COUNTS).data)
    elif features is not None:
        if y_pred is None:
            raise ValueError(
                "`sensitive_features` go with labels: bayescm.gaps(y_true, y_pred, sensitive_features=...)."
            )
        columns = getattr(features, "columns", None)
        named = [np.asarray(features[name]) for name in columns] if columns is not None else [np.asarray(features)]
        groups = (
            named[0] if len(named) == 1 else np.array([", ".join(map(str, row)) for row in zip(*named, strict=True)])
        )
        counts = confusion_matrix(counts, y_pred, group=groups, unit=unit)
    elif y_pred is not None:
        raise ValueError("`sensitive_features` must say of which group each item is.")
    elif not isinstance(counts, xr.DataArray):
        counts = check_counts(understood(counts).data)
    matrices, dim = several_matrices(without_units(counts), ())
    whole, matrices = (one.rename({dim: GROUP}) if dim != GROUP else one for one in (counts, matrices))
    if matrices.sizes[ACTUAL] != 2:
        raise ValueError("`counts` must have two labels; make one class against the rest.")
    if matrices.sizes[GROUP] < 2:
        raise ValueError("`counts` must be of two groups at least.")
    return whole if unit_of(whole) else matrices, matrices


def _few(matrices: xr.DataArray) -> list[str]:
    """Name the groups with few items of a class."""
    totals = matrices.sum(PREDICTED)
    least = totals.min(ACTUAL).values
    named = zip(matrices[GROUP].values.tolist(), least, strict=True)
    return [f"group {name!r} has {int(n)} items of a class" for name, n in named if n < _FEW]
