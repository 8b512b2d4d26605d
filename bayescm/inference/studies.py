"""synthesis(): studies of one test together, by the bivariate model of diagnostic meta-analysis."""

from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import (
    ACTUAL,
    CHAIN,
    CI_BOUND,
    DRAW,
    MATRIX,
    METRIC,
    ONE_CLASS,
    attributes,
    interval_coordinate,
    labels_of,
    tree,
)
from bayescm.data.words import CiKind
from bayescm.distributions.sample import Draws, bounds
from bayescm.distributions.two_rates import TwoRates, factor_of
from bayescm.inference import reviews, sroc
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import ModelOptions, number_of_draws
from bayescm.inference.posteriors import posterior
from bayescm.inference.reviews import RATES
from bayescm.inference.sampled import of_tree
from bayescm.inference.summaries import of_posterior
from bayescm.metrics import Metric, MetricsLike, compute, resolve
from bayescm.models.covariates import Design, design_of, several_matrices, units_of
from bayescm.priors.concentrations import PrevalenceLike, PriorLike
from bayescm.results.names import CARRIED_BY
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

STUDY, ESTIMATE, AT = "study", "estimate", "at"
MEDIAN, MEAN, NEXT = "median study", "mean of studies", "next study"
_METRICS = (*RATES, "positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio")
_AT = ("precision", "negative_predictive_value")
_FEW = 5
_ASSUMED = (
    "studies of one kind, each of independent items, that trade recall for specificity along one curve; the reference "
    "is right, and no study is missing because of its result"
)


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
        columns tp, fn, fp, tn and one of names. Zero cells need no correction, and a study that tells of one rate alone
        has zeros for the other; or correct, wrong and one of names. Or a mapping of names to matrices and
        :func:`bayescm.from_reported`'s of papers, each of whose numbers one matrix alone has. With ``covariates`` also
        of several dims, such as ``counts(study, test, actual, predicted)``, or a frame with a row per study and test.
    metrics
        As in :func:`bayescm.summary`. Default: recall, specificity, likelihood ratios and odds ratio, and predictive
        values where there is a `prevalence`.
    prevalence : number, pair of numbers or PreliZ Beta, optional
        Where the test will be used: what predictive values stand for. That of the studies is no guide.
    prior : str, number or mapping, optional
        Of the rates in the median study: see ``models/regression.py``. Default: "laplace", which is uniform.
    ci_prob, ci_kind : float, {"eti", "hdi"}
    fpr_range : pair of float, optional
        Between which false positive rates the summary ROC curve's partial area lies; default: those of the studies.
    leave_one_out : bool
        Whether the studies are left out in turn.
    draws : int, optional
        All chains together, 10,000 by default.
    random_seed : int, numpy.random.Generator or None
    **options
        ``covariates`` of studies (design, year, which test): columns of the frame, coordinates, or values by name, as
        for the model ``regression``. Each acts on both logits (meta-regression), and the spread is what is left between
        studies, the same everywhere. ``scale`` of the normal priors of their coefficients, per standard deviation (1;
        that model's .5 holds large differences too rarely); ``group_scale`` of the half-normal priors of the spread
        (1); ``sampler="nuts"`` and its options: by default units are integrated out by quadrature, and NUTS answers
        where that can't be trusted (attrs ``method``, ``pareto_k``).

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
        With ``covariates`` there is a dim ``at`` of the levels of each, such as "design=cohort", of a number its lowest
        and highest, where all other covariates are at their means; `summary` has the ``difference`` from the first
        level in alphabetical order (``versus``), ``difference_interval`` and ``probability_better``.

    Raises
    ------
    ValueError
        For counts without a dim of studies, and for covariates that these studies can't tell apart.

    Notes
    -----
    With three to five studies the spread is as much the prior's as the data's, and the intervals say so by their
    width. Deeks' test has little power below ten studies, or where odds ratios differ; a small p-value may be due to
    anything that goes with size. The curve is drawn for all rates, and means little beyond the studies'.

    Two tests in the same studies are compared as if the studies were different ones: rows share their covariates and
    no effect of the study, so that the difference's interval is wider than it need be where studies that are hard for
    one test are hard for the other. Differences between groups of studies may be due to anything else in which these
    differ; with few studies a group the prior draws them together.

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
    more: dict[str, Any] = dict(options)
    covariates = more.get("covariates")
    if wrong := [name for name in ("shares", "scale") if name in more and (covariates is None or name == "shares")]:
        raise ValueError(f"`{wrong[0]}` doesn't apply: of studies' spread the scale is `group_scale`; leave it out.")
    more |= {} if covariates is None else {"scale": more.get("scale", 1.0)}
    counts = _studies(counts, several=covariates is not None)
    design = design_of(counts, STUDY, covariates, STUDY, ())
    if leave_one_out and design.names:
        raise ValueError("`leave_one_out` isn't for `covariates`; leave one of them out.")
    seen = TwoRates.of(counts.values.astype(np.float64), design.columns)
    if design.names and min(np.linalg.matrix_rank(seen.design), counts.sizes[STUDY] - 1) < seen.columns:
        raise ValueError(
            f"`covariates` have the columns {design.names}, which {counts.sizes[STUDY]} studies can't tell apart, or "
            "not from their own spread. Leave some out, or put levels together."
        )
    told = [rate for rate, items in zip(RATES, seen.items, strict=True) if items.any()]
    default = (*(_METRICS if len(told) == 2 else told or RATES), *(_AT if prevalence is not None else ()))
    wanted = resolve(default if metrics is None else metrics, 2)
    if prevalence is None:
        _refuse_prevalence(wanted)
    chains = more.pop("chains", 4)
    n = number_of_draws(draws, 10_000)
    each = -(-n // chains)
    fit = posterior(
        counts, model="regression", groups=STUDY, prior=prior, metrics=list(RATES), chains=chains, draws=each,
        random_seed=seed, **more,
    )  # fmt: skip
    drawn = fit["posterior"].to_dataset()
    rows = _rows(design)
    pairs = [reviews.pairs_of(drawn, STUDY, row) for row in rows.values()]
    likelihood = reviews.Likelihood.of(seen)
    standard = matrix_rng(seed, 0, Stream.NEXT_STUDY).standard_normal((len(pairs[0].mean), 2, 1))
    following = [one.mean + (factor_of(one.sd, one.correlation) @ standard)[..., 0] for one in pairs]
    known = _posterior(fit, counts, pairs, following, list(rows))
    asked = of_tree(known, prevalence, seed)
    notes = {"studies": counts.sizes[STUDY], "method": fit.attrs["method"], "reason": fit.attrs["reason"]}
    notes |= {name: drawn.attrs[name] for name in ("pareto_k", "effective_share") if name in drawn.attrs}
    carried = []
    if counts.sizes[STUDY] - len(design.names) < _FEW:
        levels = f" and {len(rows)} levels" if design.names else ""
        carried.append(f"{counts.sizes[STUDY]} studies{levels}: how they differ is as much the prior's word as theirs")
    if len(told) == 1 and ONE_CLASS not in counts.attrs:
        carried.append(f"no study tells of another rate than {told[0]}: that, and the curve, are the prior's word")
    notes |= {CARRIED_BY: "; ".join(carried)} if carried else {}
    about = {"draws": n, "random_seed": seed}
    summary = of_posterior(asked, wanted, prob, ci_kind, about).assign_attrs(notes)
    points = _along([xr.DataArray(likelihood.points(row, wanted, prevalence)) for row in rows.values()], list(rows))
    summary = summary.assign(point=(summary["point"].dims, points.values))
    summary["point"].attrs = {"long_name": "At the maximum of the likelihood", "units": "1"}
    if design.names:
        summary = summary.assign(_differences(asked, wanted, design, prob, ci_kind))
    of_each = of_posterior(of_tree(fit, None, seed), RATES, prob, ci_kind, about).assign_attrs(notes)
    of_each["n_items"] = STUDY, seen.items.sum(0).astype(np.int64)
    with np.errstate(invalid="ignore"):
        ends = reviews.fpr_range(fpr_range, 1.0 - seen.right[1] / seen.items[1])
    at_each = {
        "spread": [reviews.spread(one, seen, ends, prob) for one in pairs],
        "curve": [reviews.curve(one, prob) for one in pairs],
        "region": [reviews.outline(one.mean, prob) for one in pairs],
        "prediction": [reviews.outline(logits, prob) for logits in following],
        "likelihood": [likelihood.at(row, prob) for row in rows.values()],
    }
    groups = {name: _along(parts, list(rows)) for name, parts in at_each.items()}
    groups |= {"summary": summary, "studies": of_each, "asymmetry": _asymmetry(counts)}
    if leave_one_out:
        groups["left_out"] = _left_out(counts, prior, prob, seed, more)
    groups |= {name: known[name].to_dataset() for name in known.children}
    return tree(groups, dict(summary.attrs))


def _rows(design: Design) -> dict[str, Array]:
    """Return the rows of covariates that are answered, by name; without covariates one, without a name."""
    named = {f"{name}={level}": row for name, rows in design.levels.items() for level, row in rows.items()}
    return named or {"": np.zeros(0)}


def _along[D: (xr.Dataset, xr.DataArray)](parts: list[D], names: list[str]) -> D:
    """Put what is said at each row of covariates together; without covariates there is one."""
    return parts[0] if names == [""] else xr.concat(parts, AT).assign_coords({AT: names})


def _differences(
    known: Posterior, wanted: list[Metric], design: Design, prob: float, kind: CiKind
) -> dict[str, tuple[Any, ...]]:
    """Return how each level differs from the first of its covariate, draw by draw; nothing of the first."""
    values = np.stack(known.whole()[0].draws(wanted), 2)  # (at, estimate, metric, draw)
    firsts = {name: f"{name}={next(iter(rows))}" for name, rows in design.levels.items()}
    names = list(_rows(design))
    versus = [firsts[name] for name, rows in design.levels.items() for _ in rows]
    difference = values - values[[names.index(one) for one in versus]]
    told = Draws(difference).statistics(prob, kind)
    sign = np.array([-1.0 if metric.loss else 1.0 for metric in wanted])
    first = np.array([name == other for name, other in zip(names, versus, strict=True)])[:, None, None]
    better = np.where(first, np.nan, (sign[:, None] * difference > 0.0).mean(-1))
    dims = (AT, ESTIMATE, METRIC)
    interval = np.where(first[..., None], np.nan, np.stack([told["lower"], told["upper"]], -1))
    return {
        "versus": (AT, versus), "difference": (dims, np.where(first, np.nan, told["median"])),
        "difference_interval": ((*dims, CI_BOUND), interval), "probability_better": (dims, better),
    }  # fmt: skip


def _studies(counts: Any, several: bool) -> xr.DataArray:
    """Return counts over `study`, of two labels, with names that differ; of several dims, if these may be several."""
    checked, dim = (units_of if several else several_matrices)(counts, ())
    checked = checked.drop_vars(STUDY, errors="ignore").rename({dim: STUDY}) if dim != STUDY else checked
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


def _posterior(
    fit: xr.DataTree, counts: xr.DataArray, pairs: list[sroc.Pairs], following: list[Array], names: list[str]
) -> xr.DataTree:
    """Return draws of the median study, the mean of studies and the next: a posterior that all questions take."""
    drawn = fit["posterior"].to_dataset()
    shape = drawn.sizes[CHAIN], drawn.sizes[DRAW], 3, 2, 2
    rates = [
        np.stack([special.expit(one.mean), one.mean_rates(), special.expit(logits)], 1)
        for one, logits in zip(pairs, following, strict=True)
    ]
    coords: dict[str, Any] = {CHAIN: drawn[CHAIN], DRAW: drawn[DRAW], ESTIMATE: [MEDIAN, MEAN, NEXT]}
    coords |= dict.fromkeys(MATRIX, labels_of(counts))
    dims = (CHAIN, DRAW, ESTIMATE, *MATRIX)
    made = _along([xr.DataArray(reviews.cells(one).reshape(shape), coords, dims) for one in rates], names)
    made.attrs = {"long_name": "Probability of the cell, at a prevalence of 1/2", "units": "1"}
    kept = drawn[[f"{STUDY}_sd", f"{STUDY}_correlation", *(["coefficient"] if "coefficient" in drawn else [])]]
    kept = kept.rename({f"{STUDY}_sd": "sd_logit", f"{STUDY}_correlation": "correlation"})
    attrs: dict[Any, Any] = dict(fit.attrs) | {"assumptions": _ASSUMED}
    return tree({"posterior": kept.assign(theta=made.transpose(CHAIN, DRAW, ...)).assign_attrs(attrs)}, attrs)


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
            counts.isel({STUDY: np.arange(len(names)) != i}), model="regression", groups=STUDY, prior=prior,
            metrics=list(RATES), random_seed=seed, **options,
        )["posterior"].to_dataset()  # fmt: skip
        found.append(bounds(special.expit(reviews.pairs_of(rest, STUDY, np.zeros(0)).mean.T), prob))
    values = np.stack(found)  # (study, bound, rate)
    variables = {
        "median": ((STUDY, METRIC), values[:, 1]),
        "interval": ((STUDY, METRIC, CI_BOUND), np.moveaxis(values[:, ::2], 1, -1)),
    }
    coords = {STUDY: names, METRIC: list(RATES), CI_BOUND: interval_coordinate(prob, "eti")}
    return xr.Dataset(variables, coords=coords, attrs=attributes(ci_prob=prob))
