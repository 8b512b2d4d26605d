"""synthesis(): studies of one test together, by the bivariate model of diagnostic meta-analysis."""

from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import (
    ACTUAL,
    CHAIN,
    CI_BOUND,
    DRAW,
    MATRIX,
    METRIC,
    attributes,
    interval_coordinate,
    labels_of,
    tree,
)
from bayescm.data.words import CiKind
from bayescm.distributions import importance
from bayescm.distributions.sample import bounds
from bayescm.distributions.two_rates import TwoRates
from bayescm.inference import sroc
from bayescm.inference.options import ModelOptions, number_of_draws
from bayescm.inference.posteriors import posterior
from bayescm.inference.sampled import of_tree
from bayescm.inference.summaries import of_posterior
from bayescm.metrics import Metric, MetricsLike, compute, resolve
from bayescm.models.covariates import several_matrices
from bayescm.priors.concentrations import PrevalenceLike, PriorLike
from bayescm.results.names import CARRIED_BY
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

STUDY, ESTIMATE, PARAMETER, FPR = "study", "estimate", "parameter", "fpr"
MEDIAN, MEAN, NEXT = "median study", "mean of studies", "next study"
RATES = ("recall", "specificity")
_METRICS = (*RATES, "positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio")
_AT = ("precision", "negative_predictive_value")
_FEW = 5
_FLAT = 1e-3  # curvature of the log likelihood
_SPREAD = ("sd_logit_recall", "sd_logit_specificity", "correlation")
_ASSUMED = (
    "studies of one kind, each of independent items, that trade recall for specificity along one curve; the reference "
    "is right, and no study is missing because of its result"
)
_POINTS = np.linspace(0.005, 0.995, 199)


@stamped
@takes_counts
def synthesis(
    counts: Any,
    metrics: MetricsLike = None,
    *,
    prevalence: PrevalenceLike = None,
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    fpr_range: tuple[float, float] | None = None,
    leave_one_out: bool = False,
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
) -> xr.DataTree:
    """Put studies of one test together: what it does in the median study, on average, and in the next one.

    Parameters
    ----------
    counts : xarray.DataArray, data frame or array_like
        ``counts(study, actual, predicted)`` of two labels: one dim of any name. A frame has a row per study, with
        columns tp, fn, fp, tn and one of names. Zero cells need no correction. Or a mapping of names to matrices and
        :func:`bayescm.from_reported`'s of papers, each of whose numbers one matrix alone has.
    metrics
        As in :func:`bayescm.summary`. Default: recall, specificity, likelihood ratios and odds ratio, and predictive
        values where there is a `prevalence`.
    prevalence : number, pair of numbers or PreliZ Beta, optional
        Where the test will be used: what predictive values stand for. That of the studies is no guide.
    prior : str, number or mapping, optional
        Of the rates in the median study: see ``models/hierarchical.py``. Default: "laplace", which is uniform.
    ci_prob, ci_kind : float, {"eti", "hdi"}
    fpr_range : pair of float, optional
        Between which false positive rates the summary ROC curve's partial area lies; default: those of the studies.
    leave_one_out : bool
        Whether the studies are left out in turn.
    draws : int, optional
        All chains together, 10,000 by default.
    random_seed : int, numpy.random.Generator or None
    **options
        ``scale`` of the half-normal priors of the spread (1); ``sampler="nuts"`` and its options: by default units are
        integrated out by quadrature, and NUTS answers where that can't be trusted (attrs ``method``, ``pareto_k``).

    Returns
    -------
    xarray.DataTree
        ``summary``: what :func:`bayescm.summary` returns, over ``(estimate, metric)``. The estimates are "median study"
        (the rates at the mean logits: the summary point), "mean of studies" (rates averaged over studies, nearer to
        1/2) and "next study" (whose interval is that of a prediction); ``point`` is the maximum of the exact binomial
        likelihood. ``studies(study, metric)``: each study alone (``point``) and shrunken, and its ``n_items``.
        ``spread(parameter)``: standard deviations of the logits, their correlation, the share of the variance that is
        between studies, Rutter and Gatsonis' parameters, areas. ``curve(fpr)``: the summary ROC curve with its interval
        at each rate; ``region`` and ``prediction`` over ``(angle, metric)``: outlines that hold `ci_prob` of the median
        study, and of the next, with their ``median``. ``likelihood(metric)``: maximum and Wald interval, on logits,
        without a prior; the attr ``at_an_end`` names parameters that are held at an end of their range.
        ``left_out(study, metric)`` on request. ``posterior``: draws, with ``theta(chain, draw, estimate, actual,
        predicted)``, so that all questions take the tree, at a prevalence of 1/2 if there is no other.
        ``asymmetry``: slope and p-value of Deeks' test.

    Raises
    ------
    ValueError
        For counts without a dim of studies.

    Notes
    -----
    With three to five studies the spread is as much the prior's as the data's, and the intervals say so by their
    width. Deeks' test has little power below ten studies, or where odds ratios differ; a small p-value may be due to
    anything that goes with size. The curve is drawn for all rates, and means little beyond the studies'.

    References
    ----------
    Reitsma et al. 2005, J Clin Epidemiol 58:982; Chu and Cole 2006, ibid. 59:1331; Harbord et al. 2007, Biostatistics
    8:239; Rutter and Gatsonis 2001, Stat Med 20:2865; Zhou and Dendukuri 2014, Stat Med 33:2701; Deeks, Macaskill and
    Irwig 2005, J Clin Epidemiol 58:882.

    Examples
    --------
    >>> import bayescm
    >>> studies = bayescm.from_cells(tp=[25, 17, 88, 16], fn=[8, 4, 16, 10], fp=[1, 3, 16, 3], tn=[25, 11, 31, 80])
    >>> found = bayescm.synthesis(studies, random_seed=1)
    >>> found.summary.interval.sel(estimate="median study", metric="recall").values.round(1)
    array([0.6, 0.9])
    """
    seed = validate.seed(random_seed)
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    counts = _studies(counts)
    wanted = resolve(metrics if metrics is not None else (*_METRICS, *(_AT if prevalence is not None else ())), 2)
    if prevalence is None:
        _refuse_prevalence(wanted)
    more: dict[str, Any] = dict(options)
    chains = more.pop("chains", 4)
    n = number_of_draws(draws, 10_000)
    each = -(-n // chains)
    fit = posterior(
        counts, model="hierarchical", prior=prior, metrics=list(RATES), chains=chains, draws=each, random_seed=seed,
        **more,
    )  # fmt: skip
    drawn = fit["posterior"].to_dataset()
    seen = _rates_of(counts)
    likelihood, best = _likelihood(seen, prob)
    known = _posterior(fit, counts)
    asked = of_tree(known, prevalence, seed)
    notes = {"studies": counts.sizes[STUDY], "method": fit.attrs["method"], "reason": fit.attrs["reason"]}
    notes |= {name: drawn.attrs[name] for name in ("pareto_k", "effective_share") if name in drawn.attrs}
    if counts.sizes[STUDY] < _FEW:
        notes[CARRIED_BY] = f"{counts.sizes[STUDY]} studies: how they differ is as much the prior's word as theirs"
    about = {"draws": n, "random_seed": seed}
    summary = of_posterior(asked, wanted, prob, ci_kind, about).assign_attrs(notes)
    summary = summary.assign(point=(summary["point"].dims, _points(best, wanted, prevalence)))
    summary["point"].attrs = {"long_name": "At the maximum of the likelihood", "units": "1"}
    of_each = of_posterior(of_tree(fit, None, seed), RATES, prob, ci_kind, about).assign_attrs(notes)
    of_each["n_items"] = STUDY, seen.items.sum(0).astype(np.int64)
    pairs = _pairs(drawn)
    with np.errstate(invalid="ignore"):
        ends = _range(fpr_range, 1.0 - seen.right[1] / seen.items[1])
    groups = {
        "summary": summary, "studies": of_each, "spread": _spread(pairs, seen, ends, prob),
        "curve": _curve(pairs, prob), "region": _outline(pairs.mean, prob), "likelihood": likelihood,
        "prediction": _outline(special.logit(np.stack([_flat(drawn[f"new_{one}"]) for one in RATES], 1)), prob),
        "asymmetry": _asymmetry(counts),
    }  # fmt: skip
    if leave_one_out:
        groups["left_out"] = _left_out(counts, prior, prob, seed, more)
    groups |= {name: known[name].to_dataset() for name in known.children}
    return tree(groups, dict(summary.attrs))


def _studies(counts: Any) -> xr.DataArray:
    """Return counts over `study`, of two labels, with names that differ."""
    checked, dim = several_matrices(counts, ())
    checked = checked.rename({dim: STUDY}) if dim != STUDY else checked
    if checked.sizes[STUDY] < 2:
        raise ValueError("`counts` must be of several studies; of one ask bayescm.summary.")
    if checked.sizes[ACTUAL] != 2:
        raise ValueError(f"`counts` must have two labels; got {labels_of(checked)}. Make one class against the rest.")
    names = checked[STUDY].values.tolist()
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(
            f"`counts` has the study {twice[0]!r} {names.count(twice[0])} times: name the column of the studies, or "
            "select one test."
        )
    return checked


def _refuse_prevalence(wanted: list[Metric]) -> None:
    """Refuse metrics that depend on the prevalence where there is none."""
    rates = np.array([[0.9, 0.1], [0.3, 0.7]])
    few, many = (compute(wanted, rates * np.array([[1.0 - share], [share]])) for share in (0.1, 0.6))
    for metric, one, other in zip(wanted, few, many, strict=True):
        if not np.allclose(one, other):
            raise ValueError(
                f"`metrics` has {metric.alias or metric.name}, which depends on the prevalence, and that of studies is "
                "no guide: give `prevalence`, a number or the two numbers of a Beta."
            )


def _rates_of(counts: xr.DataArray) -> TwoRates:
    table = counts.values.astype(np.float64)
    right = np.stack([table[:, 1, 1], table[:, 0, 0]])
    return TwoRates(right, table.sum(-1).T[::-1], np.ones((len(table), 1)))


def _flat(values: xr.DataArray) -> Array:
    return np.asarray(values.transpose(CHAIN, DRAW, ...).values.reshape(-1, *values.shape[2:]))


def _pairs(drawn: xr.Dataset) -> sroc.Pairs:
    mean = special.logit(np.stack([_flat(drawn[f"mean_{one}"]) for one in RATES], 1))
    return sroc.Pairs(mean, _flat(drawn["sd_logit"]), _flat(drawn["correlation"]))


def _cells(rates: Array, share: float = 0.5) -> Array:
    """Return cells (..., 2, 2) of rates (..., 2)."""
    recall, specificity = np.moveaxis(rates, -1, 0)
    rows = np.stack([np.stack([specificity, 1 - specificity], -1), np.stack([1 - recall, recall], -1)], -2)
    return np.asarray(rows * np.array([[1.0 - share], [share]]))


def _posterior(fit: xr.DataTree, counts: xr.DataArray) -> xr.DataTree:
    """Return draws of the median study, the mean of studies and the next: a posterior that all questions take."""
    drawn = fit["posterior"].to_dataset()
    mean = _pairs(drawn).mean_rates()
    medians, following = (np.stack([_flat(drawn[f"{of}_{one}"]) for one in RATES], 1) for of in ("mean", "new"))
    shape = drawn.sizes[CHAIN], drawn.sizes[DRAW]
    theta = _cells(np.stack([medians, mean, following], 1)).reshape(*shape, 3, 2, 2)
    labels = labels_of(counts)
    made = xr.DataArray(
        theta, dims=(CHAIN, DRAW, ESTIMATE, *MATRIX),
        coords={CHAIN: drawn[CHAIN], DRAW: drawn[DRAW], ESTIMATE: [MEDIAN, MEAN, NEXT]} | dict.fromkeys(MATRIX, labels),
        attrs={"long_name": "Probability of the cell, at a prevalence of 1/2", "units": "1"},
    )  # fmt: skip
    kept = drawn[["sd_logit", "correlation"]].assign(theta=made)
    attrs: dict[Any, Any] = dict(fit.attrs) | {"assumptions": _ASSUMED}
    return tree({"posterior": kept.assign_attrs(attrs)}, attrs)


def _likelihood(seen: TwoRates, prob: float) -> tuple[xr.Dataset, Array]:
    """Return maximum and Wald interval of the median study's rates, and the parameters at the maximum.

    Parameters at an end of their range, where the likelihood is flat, are held.
    """
    best = importance.maximise(seen.log_likelihood, seen.start)
    curvature = -importance.hessian(seen.log_likelihood, best)
    free = np.diag(curvature) > _FLAT
    inverse = np.linalg.pinv(curvature[np.ix_(free, free)], hermitian=True)
    variance = np.full(len(best), np.nan)
    variance[free] = np.diag(inverse)
    with np.errstate(invalid="ignore"):
        se = np.sqrt(np.where(variance > 0.0, variance, np.nan))[:2]
    ends = best[:2, None] + special.ndtri(0.5 * (1.0 + prob)) * se[:, None] * np.array([-1.0, 1.0])
    coords = {METRIC: list(RATES), CI_BOUND: interval_coordinate(prob, "eti")}
    variables = {
        "point": (METRIC, special.expit(best[:2])), "interval": ((METRIC, CI_BOUND), special.expit(ends)),
        "sd_logit": (METRIC, np.exp(best[2:4])), "correlation": np.tanh(best[4]),
        "log_likelihood": seen.log_likelihood(best[None])[0],
    }  # fmt: skip
    held = [name for name, one in zip(("recall", "specificity", *_SPREAD), free, strict=True) if not one]
    return xr.Dataset(
        variables, coords=coords, attrs={"ci_method": "wald, on logits", "at_an_end": ", ".join(held)}
    ), best


def _points(best: Array, wanted: list[Metric], prevalence: PrevalenceLike) -> Array:
    """Return metrics (estimate, metric) at the maximum of the likelihood; the next study has none."""
    pair = sroc.Pairs(best[None, :2], np.exp(best[None, 2:4]), np.tanh(best[4:]))
    rates = np.stack([special.expit(best[:2]), pair.mean_rates()[0]])
    share = 0.5 if prevalence is None else _mean_share(prevalence)
    found = np.stack(compute(wanted, _cells(rates, share)), -1)
    return np.concatenate([found, np.full((1, len(wanted)), np.nan)])


def _mean_share(prevalence: Any) -> float:
    numbers = np.asarray(validate.beta_numbers("prevalence", prevalence), np.float64)
    return float(numbers) if numbers.ndim == 0 else float(numbers[0] / numbers.sum())


def _range(given: Any, seen: Array) -> tuple[float, float]:
    """Return between which false positive rates a partial area lies."""
    if given is None:
        inside = seen[np.isfinite(seen)]
        return (float(inside.min()), float(inside.max())) if inside.size and np.ptp(inside) > 0 else (0.0, 1.0)
    low, high = (validate.number("fpr_range", one, 0, 1, closed=True) for one in given)
    if not low < high:
        raise ValueError(f"`fpr_range` must be two rates, the lower first; got {given!r}.")
    return low, high


def _spread(pairs: sroc.Pairs, seen: TwoRates, ends: tuple[float, float], prob: float) -> xr.Dataset:
    shares = pairs.share_between(seen.items.T)
    found = {
        **{f"sd_logit_{rate}": pairs.sd[:, i] for i, rate in enumerate(RATES)}, "correlation": pairs.correlation,
        **{f"between_{rate}": shares[:, i] for i, rate in enumerate(RATES)}, **pairs.rutter_gatsonis(),
        "area": pairs.area(), "partial_area": pairs.area(*ends),
    }  # fmt: skip
    values = np.stack(list(found.values()))
    low, median, high = bounds(values, prob)
    variables = {
        "mean": (PARAMETER, values.mean(1)), "median": (PARAMETER, median), "sd": (PARAMETER, values.std(1)),
        "interval": ((PARAMETER, CI_BOUND), np.stack([low, high], 1)),
    }  # fmt: skip
    coords = {PARAMETER: list(found), CI_BOUND: interval_coordinate(prob, "eti")}
    return xr.Dataset(variables, coords=coords, attrs={"fpr_low": ends[0], "fpr_high": ends[1]})


def _curve(pairs: sroc.Pairs, prob: float) -> xr.Dataset:
    low, median, high = bounds(pairs.curve(_POINTS).T, prob)
    variables = {"recall": (FPR, median), "interval": ((FPR, CI_BOUND), np.stack([low, high], 1))}
    return xr.Dataset(variables, coords={FPR: _POINTS, CI_BOUND: interval_coordinate(prob, "eti")})


def _outline(logits: Array, prob: float) -> xr.Dataset:
    found = {
        "outline": (("angle", METRIC), sroc.ellipse(logits, prob)),
        "median": (METRIC, special.expit(np.median(logits, 0))),
    }
    return xr.Dataset(found, coords={METRIC: list(RATES)}, attrs={"ci_prob": prob})


def _asymmetry(counts: xr.DataArray) -> xr.Dataset:
    slope, p = sroc.deeks(counts.values.astype(np.float64))
    return xr.Dataset({"slope": slope, "p_value": p}, attrs={"method": "Deeks, Macaskill and Irwig 2005"})


def _left_out(counts: xr.DataArray, prior: PriorLike | None, prob: float, seed: int, options: Any) -> xr.Dataset:
    """Return the median study's rates without each study in turn."""
    names = counts[STUDY].values
    if len(names) < 3:
        raise ValueError("`leave_one_out` needs three studies.")
    found = []
    for i in range(len(names)):
        rest = posterior(
            counts.isel({STUDY: np.arange(len(names)) != i}), model="hierarchical", prior=prior, metrics=list(RATES),
            random_seed=seed, **options,
        )["posterior"].to_dataset()  # fmt: skip
        found.append(bounds(np.stack([_flat(rest[f"mean_{one}"]) for one in RATES]), prob))
    values = np.stack(found)  # (study, bound, rate)
    variables = {
        "median": ((STUDY, METRIC), values[:, 1]),
        "interval": ((STUDY, METRIC, CI_BOUND), np.moveaxis(values[:, ::2], 1, -1)),
    }
    coords = {STUDY: names, METRIC: list(RATES), CI_BOUND: interval_coordinate(prob, "eti")}
    return xr.Dataset(variables, coords=coords, attrs=attributes(ci_prob=prob))
