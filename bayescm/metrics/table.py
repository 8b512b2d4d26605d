"""The table of metrics: name, formula, range, when undefined, when moments exist, exact distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from numbers import Real
from typing import Any, Literal

from bayescm.data.schema import MEAN_SCORE
from bayescm.metrics import binary, multiclass
from bayescm.metrics.forms import ALL, DETERMINANT, FN, FP, PN, PP, TN, TP, Form, N, P, product, ratio

Kind = Literal["cells", "matrix", "macro", "micro", "weighted"]


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A metric and what is known about it.

    Attributes
    ----------
    name, title : str
        Canonical name, and the one for axes and tables.
    formula : str
        In terms of TP, FN, FP, TN.
    function : callable
        Takes cells, sums of cells or other metrics by name (kind "cells" and the averages; see
        :mod:`bayescm.metrics.binary`), or the K x K array (kind "matrix").
    lower, upper : float
        Range.
    undefined : str
        When the plug-in value is 0/0, in words.
    moments : tuple of str
        The r-th posterior moment is finite if and only if the concentration of each of these cells exceeds r.
    ratio : pair of tuples of cells, optional
        (S, T) if the metric is S/(S+T), or a monotone map of it: then its distribution under a cell Dirichlet is a
        Beta's.
    link : {"identity", "f1"}
        The map from that Beta variable to the metric; "f1" is 2 J / (1 + J).
    form : Form, optional
        The metric of two labels as a ratio of quadratic forms, where `ratio` doesn't say it; from either comes its
        exact distribution.
    kind : str
        How the function is fed; "macro", "micro" and "weighted" average one-vs-rest values.
    aliases : tuple of str
        Short names that are accepted.
    loss : bool
        Whether smaller is better.
    alias : str
        The name that the user gave it, one of `aliases` such as "sensitivity"; empty if it was the canonical one.
    of_shares : bool
        Whether `function` gets cells over their sum, of counts, too: as a user's does, so that counts and draws say one
        thing. Other metrics are the same of both.
    """

    name: str
    title: str
    formula: str
    function: Callable[..., Any]
    lower: float = 0.0
    upper: float = 1.0
    undefined: str = ""
    moments: tuple[str, ...] = ()
    ratio: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    link: Literal["identity", "f1"] = "identity"
    form: Form | None = None
    kind: Kind = "cells"
    aliases: tuple[str, ...] = ()
    loss: bool = False
    alias: str = ""
    of_shares: bool = False


_NO_P, _NO_N = "no actual positives", "no actual negatives"
_NO_PP, _NO_PN = "no predicted positives", "no predicted negatives"
_INF = float("inf")
MAX_COST = 1e100
"""Largest cost: squares of larger ones, and their sums, leave the range of numbers."""

_CHANCE = product(2.0 * TP + FN + FP, 2.0 * TN + FN + FP)
_PI = Form(_CHANCE - 2.0 * product(ALL, FN + FP), _CHANCE)

BINARY: tuple[Metric, ...] = (
    Metric(
        "prevalence", "Prevalence", "(TP + FN) / N", binary.prevalence, undefined="no items",
        ratio=(("tp", "fn"), ("fp", "tn")), aliases=("base_rate",),
    ),
    Metric(
        "predicted_prevalence", "Predicted prevalence", "(TP + FP) / N", binary.predicted_prevalence,
        undefined="no items", ratio=(("tp", "fp"), ("fn", "tn")), aliases=("bias", "detection_prevalence"),
    ),
    Metric(
        "recall", "Recall", "TP / (TP + FN)", binary.recall, undefined=_NO_P, ratio=(("tp",), ("fn",)),
        aliases=(
            "tpr", "sensitivity", "sens", "se", "true_positive_rate", "hit_rate", "detection_rate", "pod",
            "probability_of_detection", "recall_score",
        ),
    ),
    Metric(
        "specificity", "Specificity", "TN / (TN + FP)", binary.specificity, undefined=_NO_N,
        ratio=(("tn",), ("fp",)), aliases=("tnr", "spec", "sp", "selectivity", "true_negative_rate"),
    ),
    Metric(
        "false_positive_rate", "False positive rate", "FP / (FP + TN)", binary.false_positive_rate,
        undefined=_NO_N, ratio=(("fp",), ("tn",)), loss=True,
        aliases=("fpr", "fall_out", "fallout", "false_alarm_rate", "pofd", "probability_of_false_detection"),
    ),
    Metric(
        "false_negative_rate", "False negative rate", "FN / (FN + TP)", binary.false_negative_rate,
        undefined=_NO_P, ratio=(("fn",), ("tp",)), aliases=("fnr", "miss_rate"), loss=True,
    ),
    Metric(
        "precision", "Precision", "TP / (TP + FP)", binary.precision, undefined=_NO_PP,
        ratio=(("tp",), ("fp",)), aliases=("ppv", "positive_predictive_value", "success_ratio", "precision_score"),
    ),
    Metric(
        "negative_predictive_value", "Negative predictive value", "TN / (TN + FN)", binary.negative_predictive_value,
        undefined=_NO_PN, ratio=(("tn",), ("fn",)), aliases=("npv",),
    ),
    Metric(
        "false_discovery_rate", "False discovery rate", "FP / (FP + TP)", binary.false_discovery_rate,
        undefined=_NO_PP, ratio=(("fp",), ("tp",)), aliases=("fdr", "false_alarm_ratio"), loss=True,
    ),
    Metric(
        "false_omission_rate", "False omission rate", "FN / (FN + TN)", binary.false_omission_rate,
        undefined=_NO_PN, ratio=(("fn",), ("tn",)), aliases=("for",), loss=True,
    ),
    Metric(
        "accuracy", "Accuracy", "(TP + TN) / N", binary.accuracy, undefined="no items",
        ratio=(("tp", "tn"), ("fn", "fp")),
        aliases=("acc", "proportion_correct", "observed_agreement", "accuracy_score"),
    ),
    Metric(
        "error_rate", "Error rate", "(FP + FN) / N", binary.error_rate, undefined="no items",
        ratio=(("fn", "fp"), ("tp", "tn")), loss=True,
        aliases=("err", "misclassification_rate", "zero_one_loss", "hamming_loss"),
    ),
    Metric(
        "balanced_accuracy", "Balanced accuracy", "(recall + specificity) / 2", binary.balanced_accuracy,
        undefined="a class has no items", aliases=("ba", "bacc", "balanced_accuracy_score"),
        form=Form(product(TP, N) + product(TN, P), 2.0 * product(P, N)),
    ),
    Metric(
        "f1", "F1", "2 TP / (2 TP + FN + FP)", binary.f1, undefined="TP = FN = FP = 0",
        ratio=(("tp",), ("fn", "fp")), link="f1",
        aliases=(
            "dice", "dice_coefficient", "sorensen_dice", "dsc", "f_score", "f1_score", "positive_agreement",
            "specific_agreement",
        ),
    ),
    Metric(
        "f2", "F2", "5 TP / (5 TP + 4 FN + FP)", partial(binary.f_score, beta=2.0),
        undefined="TP = FN = FP = 0",
        form=ratio(5.0 * TP, 5.0 * TP + 4.0 * FN + FP),
    ),
    Metric(
        "f0.5", "F0.5", "1.25 TP / (1.25 TP + 0.25 FN + FP)", partial(binary.f_score, beta=0.5),
        undefined="TP = FN = FP = 0",
        form=ratio(1.25 * TP, 1.25 * TP + 0.25 * FN + FP),
    ),
    Metric(
        "matthews_correlation", "Matthews correlation",
        "(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))", binary.matthews_correlation, lower=-1.0,
        undefined="a class is absent or never predicted", aliases=("mcc", "phi", "matthews_corrcoef"),
        form=Form(DETERMINANT, DETERMINANT, "correlation"),
    ),
    Metric(
        "cohen_kappa", "Cohen's kappa", "2 (TP TN - FP FN) / ((TP + FP)(FP + TN) + (TP + FN)(FN + TN))",
        binary.cohen_kappa, lower=-1.0, undefined="all items in TP, or all in TN",
        aliases=("kappa", "hss", "heidke_skill_score", "cohen_kappa_score"),
        form=Form(2.0 * DETERMINANT, product(PP, N) + product(P, PN)),
    ),
    Metric(
        "scotts_pi", "Scott's pi", "(4 TP TN - (FN + FP)^2) / ((2 TP + FN + FP)(2 TN + FN + FP))", binary.scotts_pi,
        lower=-1.0, undefined="all items in TP, or all in TN", aliases=("fleiss_kappa",), form=_PI,
    ),
    Metric(
        "krippendorff_alpha", "Krippendorff's alpha", "pi + (1 - pi) / (2 N)", binary.krippendorff_alpha, lower=-1.0,
        undefined="all items in TP, or all in TN", form=_PI,
    ),
    Metric(
        "gwets_ac1", "Gwet's AC1", "(2 N (TP + TN) - chance) / (2 N^2 - chance), "
        "chance = (2 TP + FN + FP)(2 TN + FN + FP)", binary.gwets_ac1, lower=-1.0, undefined="no items",
        aliases=("ac1",), form=Form(2.0 * product(ALL, TP + TN) - _CHANCE, 2.0 * product(ALL, ALL) - _CHANCE),
    ),
    Metric(
        "negative_agreement", "Negative agreement", "2 TN / (2 TN + FN + FP)", binary.negative_agreement,
        undefined="TN = FN = FP = 0", ratio=(("tn",), ("fn", "fp")), link="f1",
    ),
    Metric(
        "informedness", "Informedness", "recall + specificity - 1", binary.informedness, lower=-1.0,
        undefined="a class has no items",
        aliases=(
            "bm", "bookmaker_informedness", "youden", "youden_j", "youden_index", "j", "peirce_skill_score", "pss",
            "hanssen_kuipers", "true_skill_statistic", "tss",
        ),
        form=Form(DETERMINANT, product(P, N)),
    ),
    Metric(
        "markedness", "Markedness", "precision + NPV - 1", binary.markedness, lower=-1.0,
        undefined="a class is never predicted", aliases=("mk",),
        form=Form(DETERMINANT, product(PP, PN)),
    ),
    Metric(
        "jaccard", "Jaccard index", "TP / (TP + FN + FP)", binary.jaccard,
        undefined="TP = FN = FP = 0", ratio=(("tp",), ("fn", "fp")),
        aliases=(
            "iou", "intersection_over_union", "csi", "critical_success_index", "threat_score", "ts", "jaccard_index",
            "jaccard_score",
        ),
    ),
    Metric(
        "fowlkes_mallows", "Fowlkes-Mallows index", "sqrt(precision recall)", binary.fowlkes_mallows,
        undefined=f"{_NO_P} or {_NO_PP}", aliases=("fm", "fmi", "g_score"),
        form=Form(product(TP, TP), product(P, PP), "square"),
    ),
    Metric(
        "geometric_mean", "Geometric mean", "sqrt(recall specificity)", binary.geometric_mean,
        undefined="a class has no items", aliases=("g_mean", "gmean"),
        form=Form(product(TP, TN), product(P, N), "square"),
    ),
    Metric(
        "p4", "P4", "4 TP TN / (4 TP TN + (TP + TN)(FP + FN))", binary.p4,
        undefined="TP = TN = 0, or no errors and one class only",
        form=Form(4.0 * product(TP, TN), 4.0 * product(TP, TN) + product(TP + TN, FP + FN)),
    ),
    Metric(
        "positive_likelihood_ratio", "Positive likelihood ratio", "recall / FPR", binary.positive_likelihood_ratio,
        upper=_INF, undefined="a class has no items, or TP = FP = 0", moments=("fp",),
        aliases=("lr+", "plr", "lr_plus"),
        form=Form(product(TP, N), product(FP, P)),
    ),
    Metric(
        "negative_likelihood_ratio", "Negative likelihood ratio", "FNR / specificity",
        binary.negative_likelihood_ratio, upper=_INF, undefined="a class has no items, or FN = TN = 0",
        moments=("tn",), aliases=("lr-", "nlr", "lr_minus"), loss=True,
        form=Form(product(FN, N), product(TN, P)),
    ),
    Metric(
        "diagnostic_odds_ratio", "Diagnostic odds ratio", "TP TN / (FP FN)", binary.diagnostic_odds_ratio,
        upper=_INF, undefined="TP TN = 0 and FP FN = 0", moments=("fp", "fn"), aliases=("dor", "odds_ratio"),
        form=Form(product(TP, TN), product(FP, FN)),
    ),
    Metric(
        "prevalence_threshold", "Prevalence threshold", "sqrt(FPR) / (sqrt(recall) + sqrt(FPR))",
        binary.prevalence_threshold, undefined="a class has no items, or TP = FP = 0", aliases=("pt",), loss=True,
        form=Form(product(FP, P), product(TP, N), "odds_square"),
    ),
    Metric(
        "equitable_threat_score", "Equitable threat score",
        "(TP - chance) / (TP + FN + FP - chance), chance = (TP + FN)(TP + FP) / N",
        binary.equitable_threat_score, lower=-1.0 / 3.0, undefined="all items in TP, or all in TN",
        aliases=("ets", "gilbert_skill_score", "gss"),
        form=Form(DETERMINANT, product(TP + FN + FP, ALL) - product(P, PP)),
    ),
)  # fmt: skip


def _is_number(value: object) -> bool:
    return isinstance(value, Real)


def fbeta(beta: float = 1.0) -> Metric:
    """Return F-beta for a given `beta`: recall weighs beta times as much as precision."""
    if not (_is_number(beta) and 0.0 < beta <= MAX_COST):
        raise ValueError(f"`beta` of fbeta must be a positive number up to {MAX_COST:g}; got {beta!r}.")
    return Metric(
        f"fbeta(beta={beta:.15g})", f"F{beta:g}", "(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)",
        partial(binary.f_score, beta=beta), undefined="TP = FN = FP = 0",
        form=ratio((1.0 + beta**2) * TP, (1.0 + beta**2) * TP + beta**2 * FN + FP),
    )  # fmt: skip


def expected_cost(tp: float = 0.0, fn: float = 1.0, fp: float = 1.0, tn: float = 0.0) -> Metric:
    """Return the mean cost of an item, given the cost of each cell; may be negative for gains."""
    costs = (tp, fn, fp, tn)
    if not all(_is_number(cost) and -MAX_COST <= cost <= MAX_COST for cost in costs):
        raise ValueError(
            "`tp`, `fn`, `fp`, `tn`: the costs of expected_cost must be numbers up to "
            f"{MAX_COST:g}; got {costs}. Rescale them."
        )
    return Metric(
        f"expected_cost(tp={tp:.15g}, fn={fn:.15g}, fp={fp:.15g}, tn={tn:.15g})", "Expected cost",
        f"({tp:g} TP + {fn:g} FN + {fp:g} FP + {tn:g} TN) / N",
        partial(binary.expected_cost, c_tp=tp, c_fn=fn, c_fp=fp, c_tn=tn), lower=min(costs), upper=max(costs),
        undefined="no items", form=ratio(tp * TP + fn * FN + fp * FP + tn * TN, ALL), loss=True,
    )  # fmt: skip


def net_benefit(threshold: float = 0.5) -> Metric:
    """Return the net benefit (Vickers and Elkin 2006) of acting on a positive call at a threshold probability."""
    if not (_is_number(threshold) and 0.0 <= threshold < 1.0):
        raise ValueError(f"`threshold` of net_benefit must be a probability in [0, 1); got {threshold!r}.")
    return _net_benefit(float(threshold))


@lru_cache(maxsize=256)  # of a decision curve, at each threshold: what is known of its form is kept too
def _net_benefit(threshold: float) -> Metric:
    odds = threshold / (1.0 - threshold)
    return Metric(
        f"net_benefit(threshold={threshold:.15g})", f"Net benefit at {threshold:g}", f"(TP - {odds:g} FP) / N",
        partial(binary.net_benefit, threshold=threshold), lower=-odds, undefined="no items",
        form=ratio(TP - odds * FP, ALL),
    )  # fmt: skip


FACTORIES: dict[str, Callable[..., Metric]] = {
    "fbeta": fbeta,
    "expected_cost": expected_cost,
    "net_benefit": net_benefit,
}

_DIAGONAL = (("diagonal",), ("off_diagonal",))

MATRIX: tuple[Metric, ...] = (
    Metric(
        MEAN_SCORE, "Mean score", "mean of the items' scores from 0 (wrong) to 1 (right)", multiclass.accuracy,
        undefined="no items", ratio=_DIAGONAL, kind="matrix", aliases=("average_score",),
    ),
    Metric(
        "accuracy", "Accuracy", "diagonal / N", multiclass.accuracy, undefined="no items", ratio=_DIAGONAL,
        kind="matrix", aliases=("acc", "proportion_correct", "observed_agreement", "accuracy_score"),
    ),
    Metric(
        "error_rate", "Error rate", "off-diagonal / N", multiclass.error_rate, undefined="no items",
        ratio=_DIAGONAL[::-1], kind="matrix", loss=True,
        aliases=("err", "misclassification_rate", "zero_one_loss", "hamming_loss"),
    ),
    Metric(
        "balanced_accuracy", "Balanced accuracy", "mean recall of the classes that have items",
        multiclass.balanced_accuracy, undefined="no items", kind="matrix",
        aliases=("ba", "bacc", "balanced_accuracy_score"),
    ),
    Metric(
        "matthews_correlation", "Matthews correlation", "Gorodkin's R_K", multiclass.matthews_correlation, lower=-1.0,
        undefined="all items in one row or one column", kind="matrix", aliases=("mcc", "phi", "matthews_corrcoef"),
    ),
    Metric(
        "cohen_kappa", "Cohen's kappa", "1 - observed / expected disagreement", multiclass.cohen_kappa, lower=-1.0,
        undefined="all items in one diagonal cell", kind="matrix",
        aliases=("kappa", "hss", "heidke_skill_score", "cohen_kappa_score"),
    ),
    *(
        Metric(
            name, title, formula, function, lower=-1.0, undefined="all items in one diagonal cell", kind="matrix",
            aliases=aliases,
        )
        for name, title, formula, function, aliases in (
            ("scotts_pi", "Scott's pi", "the same, chance by the mean shares of rows and columns", multiclass.scotts_pi,
             ("fleiss_kappa",)),
            ("krippendorff_alpha", "Krippendorff's alpha", "pi + (1 - pi) / (2 N)", multiclass.krippendorff_alpha, ()),
            ("krippendorff_alpha_ordinal", "Krippendorff's alpha, ordinal",
             "the same, weights by the ratings from i to j, squared", multiclass.ordinal_alpha, ()),
            ("krippendorff_alpha_interval", "Krippendorff's alpha, interval", "the same, weights (i - j)^2",
             partial(multiclass.krippendorff_alpha, power=2), ()),
            ("gwets_ac1", "Gwet's AC1", "(observed - chance) / (1 - chance), chance = sum pi (1 - pi) / (K - 1)",
             multiclass.gwets_ac, ("ac1",)),
        )
    ),
    *(
        Metric(
            f"{name}_{word}", f"{title}, {word} weights", f"the same, weights {weights}",
            partial(function, power=power), lower=-_INF, undefined="all items in one diagonal cell", kind="matrix",
            aliases=(f"{short}_{word}",) if short else (),
        )
        for name, short, title, function in (
            ("cohen_kappa", "kappa", "Cohen's kappa", multiclass.cohen_kappa),
            ("scotts_pi", "", "Scott's pi", multiclass.scotts_pi),
            ("gwets_ac2", "ac2", "Gwet's AC2", multiclass.gwets_ac),
        )
        for word, power, weights in (("linear", 1, "|i - j|"), ("quadratic", 2, "(i - j)^2"))
    ),
)  # fmt: skip

OF_RATERS = ("observed_agreement", "krippendorff_alpha", "fleiss_kappa", "gwets_ac1", "specific_agreement")
"""What is computed for pairs of ratings when no metrics are named."""
_ALONE = ("scotts_pi", "krippendorff_alpha", "gwets_ac1", "negative_agreement", "equitable_threat_score")
OF_TWO = tuple(metric.name for metric in BINARY if metric.name not in _ALONE)
"""What is computed for two labels when no metrics are named: all but those of raters, of whom none is the truth, and a
score of forecasters, kappa on another scale."""

OF_MANY = (
    "accuracy", "balanced_accuracy", "matthews_correlation", "cohen_kappa", "precision_macro", "recall_macro",
    "f1_macro", "f1_weighted", "prevalence", "precision", "recall", "f1",
)  # fmt: skip
"""What is computed for more than two labels when no metrics are named."""
