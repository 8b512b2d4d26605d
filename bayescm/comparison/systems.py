"""compare_systems(): differences of metrics between systems, and what they are worth."""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import xarray as xr

from bayescm.comparison import companions, inputs, report
from bayescm.comparison.audits import PAIRED
from bayescm.comparison.evidence import FOLD, FOLDS, JOINT, MODELS_OF_ONE, read
from bayescm.comparison.posteriors import Posteriors, SameItems
from bayescm.comparison.predictive_values import predictive_values
from bayescm.comparison.printed import notes
from bayescm.data import validate
from bayescm.data.inputs import takes_systems
from bayescm.data.schema import ITEM, SYSTEM, attributes, flatten_cells, positive_class, tree
from bayescm.data.words import CiKind, Design
from bayescm.distributions.sample import warn_undefined
from bayescm.inference.claims import of_posterior
from bayescm.inference.options import PosteriorOptions
from bayescm.inference.read import MODEL
from bayescm.metrics import MetricsLike
from bayescm.results.objects import stamped

MEETS = "Probability that the system meets the claim"
_MEANING = {
    JOINT: "All systems' draws are those of one model, and are compared draw by draw: a probability is about "
    "the systems on its population, and as right as the model.",
    "independent": "Each system was tested on items of its own: a probability is about the systems on the population, "
    "given both test sets.",
    "paired": "All systems answered the same items, so that easy and hard items cancel: a probability is about the "
    "systems on further items like these.",
    "units": "All systems were tested on the same units, so that easy and hard ones cancel: a probability is about the "
    "systems on further units like these.",
    "folds": "All systems were trained and tested on the same folds, but each has a posterior of its own here and they "
    "are compared as if the items were different: a probability is about these trained systems, and too cautious where "
    "they err on the same items. The training sets overlap: for the recipe on another sample read the correlated "
    "t-test in the group 'tests'.",
}


_MOST_DRAWS = 2.5e8
"""Of all differences: 2 GB."""
_TREE = {"chains": 4, "draws": 1000}
"""Of the group ``posterior``, unless said."""


@stamped
@takes_systems
def compare_systems(
    data: Any,
    metrics: MetricsLike = "accuracy",
    *,
    reference: str | None = None,
    design: Design | None = None,
    rope: float = 0.0,
    require: str | Sequence[str] | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    **options: Unpack[PosteriorOptions],
) -> xr.DataTree:
    """Compare systems, two by two: how much better is one than the other, and how probably.

    Parameters
    ----------
    data : xarray.DataArray or xarray.Dataset
        The same items: the joint table of :func:`bayescm.data.paired_counts`, or :func:`bayescm.predictions`. Other
        items for each system: ``counts(system, actual, predicted)``. Folds: ``counts(system, fold, actual,
        predicted)``. Strata: ``counts(system, stratum, actual, predicted)``, or ``stratum="site"``, a column of a frame
        or a dim of counts: compared at the strata's shares of all items. Also ``compare_systems(y_true, {"A": y_pred,
        "B": y_pred})``, of the same items, and ``compare_systems({"A": counts, "B": counts})``, of others. Several runs
        of the same items: predictions of shape (items, runs), a long frame with a column `run`, or
        ``compare_systems({"A": passes, "B": passes}, runs=4)``, how many of 4 runs passed. A mapping of systems to
        audits (:func:`bayescm.audited`), or audits over ``system``: each by its own totals; as the same items if there
        are two, each with the verdicts of the other as strata. Right and wrong answers alone, ``{"correct": [...],
        "wrong": [...]}``: their accuracy or error rate. A tree of draws of several systems, as of
        ``bayescm.posterior(counts, model="hierarchical")`` or any program with ``theta(chain, draw, system, actual,
        predicted)``: draw by draw.
    metrics
        As in :func:`bayescm.summary`.
    reference : str, optional
        The system that the others are compared with. Default: all pairs.
    design : {"independent", "paired"}, optional
        Default: paired for the same items, else independent.
    rope : float
        Differences from -`rope` to `rope` count as none; in the unit of the metric. A verdict is where the interval
        lies: "better" or "worse" beyond the rope, "equivalent" inside it, else "undecided".
    require : str or sequence of str, optional
        Claims about each system, such as "recall > .8 and precision > .7", as in :func:`bayescm.probability`.
    ci_prob, ci_kind
        Probability and kind ("eti", "hdi") of the credible intervals, by which the verdicts are given. Of three systems
        or more the intervals of a metric hold all at once with this probability.
    **options
        `model`, `prior`, `prevalence`, `random_seed` and what a model takes, as in :func:`bayescm.summary`; `chains`
        (4) and `draws` of each (1,000) of the group ``posterior``. The same items need
        ``model="dirichlet_multinomial"``; `prior` is that of each system, and what it says of their difference is in
        the notes. Other models answer by draws: those of one system (folds by ``kfold``) for each by itself, others
        ("hierarchical") and programs of your own for all together. Of folds also ``pooling`` ("partial", "complete" or
        "average") and ``runs`` (repetitions of the cross-validation).

    Returns
    -------
    xarray.DataTree
        ``posterior``: draws of each metric's difference, first minus second, over ``(chain, draw, comparison)``, with
        the coordinates ``first`` and ``second``. ``summary`` over ``(comparison, metric)``: ``point`` (difference of
        the counts' own values), ``mean``, ``sd`` and ``interval(ci_bound)`` of the difference; ``ratio`` (posterior
        median) and ``ratio_interval(ci_bound)``, NaN for metrics that may be negative; ``probability(side)``: worse,
        equivalent, better; ``probability_better``, its last; ``mcse_probability(side)``; ``verdict`` and ``method``
        ("exact" or "draws"). For the same items ``discordant(only)``, how many speak for the first system alone and for
        the second, and ``reason``, the verdict's in words. "Better" is smaller for error rates and other losses. With
        `require`, ``requirement(claim, system)``. ``tests``: ``p_value(test)`` and confidence intervals for proportions
        of actual classes, NaN elsewhere: ``newcombe`` and, for the same items, ``tango``, for others
        ``miettinen_nurminen``, ``agresti_caffo`` and those of ``risk_ratio`` and ``odds_ratio``; over strata
        "mantel_haenszel" p-values, ``odds_ratio``, its point ``common_odds_ratio``, and ``breslow_day`` and
        ``breslow_day_tarone``, p-values that all strata have the same; of several comparisons
        ``p_value_holm``, and of more than 20 no Boschloo's or Barnard's tests (the attr ``left_out``); for the same
        items the p-values ``bowker``, ``stuart_maxwell``, ``both_classes`` (every recall is the same) and, of three
        systems or more, ``cochran_q``. For the same items, ``flips`` over ``(comparison, actual)`` and, if there are
        precision or other shares of predicted classes among the metrics, ``predictive_values``: ``point``,
        ``interval``, ``ratio``, ``ratio_interval`` and the ``p_value`` of the weighted generalised score test.
        ``observed_data``. The attr ``meaning`` says what the probabilities are about.

    Raises
    ------
    ValueError
        For fewer than two systems, more than 5,000 comparisons (500 of the same items), an unknown reference, or
        ``design="paired"`` of counts that don't say which items were answered alike.

    Warns
    -----
    UserWarning
        Where the same items are, or seem to be, analysed as independent.

    Notes
    -----
    Exact without a draw: for separate test sets every metric with a distribution
    (:func:`bayescm.metric_distribution`), by quadrature; for the same items proportions of actual classes (accuracy,
    recall, specificity and their opposites). There P(first > second) = I_1/2(n_01 + 1, n_10 + 1), with n_10 (n_01) the
    items that only the first (second) got right: any prior but "haldane" gives one item to either and one to all others
    that count, of however many classes, so that the three shares are uniform. Then two equal systems get a verdict some
    1 - `ci_prob` of the time; at .95 it takes five items, all for one system. All else by draws; the ratio of systems
    on the same items always.

    Of three systems or more each interval has the probability that the attr ``ci_prob_each`` names, so that all of one
    metric hold together with `ci_prob`: by Tukey's range for all pairs, by Sidak's inequality for one `reference`.
    ``probability`` is of one comparison, and the ``tests`` are made one by one.

    An item that was answered in several runs counts once, by the shares of its answers, and speaks for the system that
    got it in more of them. All is by draws then: of proportions from a Dirichlet over the pairs of shares that were
    seen, with one item of the prior for either system, which tells them apart as much as those seen do in root mean
    square, and one for none. ``tests`` has the t-test of the items' differences, and there are no ``flips``.

    Of audits, differences of two labels are exact (quadrature), at known shares and of these items alone too (sums of
    Betas; all pairs of values); of the same items at known shares where each group's truth counts in two ways, as it
    does for accuracy of two labels and for precision. All else is drawn, and there are no ``tests``.

    References
    ----------
    McNemar 1947, Psychometrika 12; Bonett and Price 2012, Journal of Educational and Behavioral Statistics 37 (one item
    added to either side); Newcombe 1998, Statistics in Medicine 17, 873-890 and 2635-2650; Tango 1998, ibid. 891-908;
    Miettinen and Nurminen 1985, ibid. 4, 213-226; Agresti and Caffo 2000, The American Statistician 54;
    Mantel and Haenszel 1959, JNCI 22; Robins, Breslow and Greenland 1986, Biometrics 42; Tarone 1985, Biometrika 72;
    Kosinski 2013, Statistics in Medicine 32; Moskowitz and Pepe 2006, Clinical Trials 3; Nadeau and
    Bengio 2003, Machine Learning 52; Caelen 2017, section 4; Kruschke 2018 (rope); Tukey 1953 and Hayter 1984, Annals
    of Statistics 12 (all pairs); Sidak 1967, JASA 62 (one reference).

    Examples
    --------
    >>> import bayescm
    >>> table = bayescm.data.paired_counts(
    ...     [0] * 60 + [1] * 40, {"A": [0] * 55 + [1] * 40 + [0] * 5, "B": [0] * 50 + [1] * 38 + [0] * 12}
    ... )
    >>> found = bayescm.compare_systems(table, ["accuracy", "mcc"], random_seed=1)
    >>> found["summary"].probability_better.values.round(2)
    array([[1., 1.]])
    >>> accuracy = found["summary"].sel(metric="accuracy", comparison="A - B")
    >>> str(accuracy.verdict.item()), str(accuracy.reason.item())
    ('better', '12 items against 0')
    """
    rope, ci_prob = _finite("rope", rope, 0.0), validate.number("ci_prob", ci_prob, 0, 1)
    validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    how: dict[str, Any] = dict(options)
    given = {name: how.pop(name, None) for name in _TREE}
    chains, draws = (
        validate.positive_integer(name, n if given[name] is None else given[name]) for name, n in _TREE.items()
    )
    if chains * draws < 160:
        raise ValueError(f"`chains` times `draws` must be at least 160 for an interval; got {chains * draws}.")
    seed, runs = validate.seed(how.pop("random_seed", None)), 1
    if isinstance(data, xr.DataArray) and FOLD in data.dims and how.get("model", MODEL) in MODELS_OF_ONE:
        runs = validate.positive_integer("runs", how.pop("runs", 1))
    evidence = read(data, "data", design, chains=chains, draws=max(chains * draws, 1000), random_seed=seed, **how)
    compared = inputs.compared(evidence, reference, metrics)
    if compared.design == JOINT:
        chains = getattr(compared.block, "chains", chains)
        draws = compared.block.n // chains
    if (size := float(chains * draws * len(compared.pairs) * len(compared.entries))) > _MOST_DRAWS:
        raise ValueError(
            f"`draws`: those of {len(compared.pairs):,} comparisons in {len(compared.entries)} metrics take "
            f"{8e-9 * size:.1f} GB; take fewer draws or metrics, or give a `reference`."
        )
    each = report.level_of_each(ci_prob, len(compared.systems), len(compared.pairs))
    question = report.Question(rope, ci_prob, ci_kind, each)
    paired = compared.answers is not None
    posteriors = (SameItems if paired else Posteriors)(compared, chains, draws, seed)
    drawn = report.differences(posteriors)
    warn_undefined({str(name): value.values for name, value in drawn.items()})
    groups = {"posterior": drawn, "summary": report.summary(posteriors, drawn, question)}
    if require is not None:
        met = of_posterior(compared.posterior, require, "require", {})["probability"].transpose("claim", ...)
        met = met.assign_coords({SYSTEM: compared.systems}).assign_attrs(long_name=MEETS)
        groups["summary"]["requirement"] = met
    apart = compared.printed or (compared.one_class and compared.design == PAIRED and not paired)
    untested = bool(compared.audits) and not compared.same_strata
    if paired and compared.runs == 1:
        groups["flips"] = report.flips(compared)
    if not (apart or untested or compared.unit) and compared.design != JOINT:
        groups["tests"] = companions.table(compared, question, runs, groups.get("flips"))
    if (predictive := predictive_values(compared, ci_prob)) is not None:
        groups["predictive_values"] = predictive
    if not compared.printed and np.isfinite(compared.counts).all():
        groups["observed_data"] = flatten_cells(compared.counts.astype(np.int64)).to_dataset()
    said = "units" if compared.unit not in ("", ITEM) and compared.design == "paired" else compared.design
    attrs = attributes(
        design=compared.design, meaning=_MEANING[said], model=compared.model, prior=compared.prior,
        prevalence=compared.prevalence, reference=reference, rope=rope,
        comparisons=len(compared.pairs), ci_prob=ci_prob, ci_prob_each=each, ci_kind=ci_kind, random_seed=seed,
        **compared.options, **({} if compared.one_class else positive_class(compared.counts)),
        **(compared.assumptions() | compared.notes(compared.metrics)),
        **notes(compared.block, compared.metrics[0], compared.systems),
        **(groups["tests"].attrs if "tests" in groups else {}),
        **({"runs": runs} if compared.design == FOLDS else {"runs": compared.runs} if compared.runs > 1 else {}),
    )  # fmt: skip
    return tree(groups, attrs)


def _finite(name: str, value: object, lower: float) -> float:
    """Return a finite number that is at least `lower`."""
    found = validate.number(name, value, lower, np.inf, closed=True)
    if not np.isfinite(found):
        raise ValueError(f"`{name}` must be finite; got {found}.")
    return found
