"""Metrics of two labels: pure functions of the four cells and of one another.

A function names what it needs: the cells ``tp, fn, fp, tn``, the sums of cells below, or any other metric here. What
several metrics need is computed once (:class:`bayescm.metrics.quantities.Quantities`).

The cells are counts or probabilities, numbers or arrays: every function divides out the total where it matters.
0/0 is NaN and x/0 is infinite, as the formula says; nothing is replaced.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def positives(tp: Array, fn: Array) -> Array:
    """TP + FN, items of the positive class."""
    return tp + fn


def negatives(fp: Array, tn: Array) -> Array:
    """FP + TN, items of the negative class."""
    return fp + tn


def predicted_positives(tp: Array, fp: Array) -> Array:
    """TP + FP."""
    return tp + fp


def predicted_negatives(fn: Array, tn: Array) -> Array:
    """FN + TN."""
    return fn + tn


def correct(tp: Array, tn: Array) -> Array:
    """TP + TN."""
    return tp + tn


def wrong(fn: Array, fp: Array) -> Array:
    """FN + FP."""
    return fn + fp


def determinant(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """TP TN - FP FN."""
    return tp * tn - fp * fn


def prevalence(positives: Array, negatives: Array) -> Array:
    """(TP + FN) / N."""
    return positives / (positives + negatives)


def predicted_prevalence(predicted_positives: Array, predicted_negatives: Array) -> Array:
    """(TP + FP) / N."""
    return predicted_positives / (predicted_positives + predicted_negatives)


def recall(tp: Array, positives: Array) -> Array:
    """TP / (TP + FN)."""
    return tp / positives


def specificity(tn: Array, negatives: Array) -> Array:
    """TN / (TN + FP)."""
    return tn / negatives


def false_positive_rate(fp: Array, negatives: Array) -> Array:
    """FP / (FP + TN)."""
    return fp / negatives


def false_negative_rate(fn: Array, positives: Array) -> Array:
    """FN / (FN + TP)."""
    return fn / positives


def precision(tp: Array, predicted_positives: Array) -> Array:
    """TP / (TP + FP)."""
    return tp / predicted_positives


def negative_predictive_value(tn: Array, predicted_negatives: Array) -> Array:
    """TN / (TN + FN)."""
    return tn / predicted_negatives


def false_discovery_rate(fp: Array, predicted_positives: Array) -> Array:
    """FP / (FP + TP)."""
    return fp / predicted_positives


def false_omission_rate(fn: Array, predicted_negatives: Array) -> Array:
    """FN / (FN + TN)."""
    return fn / predicted_negatives


def accuracy(correct: Array, wrong: Array) -> Array:
    """(TP + TN) / N."""
    return correct / (correct + wrong)


def error_rate(correct: Array, wrong: Array) -> Array:
    """(FP + FN) / N."""
    return wrong / (correct + wrong)


def balanced_accuracy(recall: Array, specificity: Array) -> Array:
    """(recall + specificity) / 2."""
    return 0.5 * (recall + specificity)


def f_score(tp: Array, fn: Array, fp: Array, *, beta: float = 1.0) -> Array:
    """(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)."""
    weighted = (1.0 + beta**2) * tp
    return weighted / (weighted + beta**2 * fn + fp)


def f1(tp: Array, wrong: Array) -> Array:
    """2 TP / (2 TP + FN + FP)."""
    twice = 2.0 * tp
    return twice / (twice + wrong)


def matthews_correlation(
    determinant: Array,
    positives: Array,
    negatives: Array,
    predicted_positives: Array,
    predicted_negatives: Array,
) -> Array:
    """(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))."""
    return np.asarray(determinant / np.sqrt(positives * negatives * (predicted_positives * predicted_negatives)))


def cohen_kappa(
    determinant: Array,
    positives: Array,
    negatives: Array,
    predicted_positives: Array,
    predicted_negatives: Array,
) -> Array:
    """2 (TP TN - FP FN) / ((TP + FP)(FP + TN) + (TP + FN)(FN + TN))."""
    return 2.0 * determinant / (predicted_positives * negatives + positives * predicted_negatives)


def scotts_pi(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(4 TP TN - (FN + FP)^2) / ((2 TP + FN + FP)(2 TN + FN + FP))."""
    apart = fn + fp
    return (4.0 * tp * tn - apart**2) / ((2.0 * tp + apart) * (2.0 * tn + apart))


def gwets_ac1(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(2 N (TP + TN) - chance) / (2 N^2 - chance), chance = (2 TP + FN + FP)(2 TN + FN + FP)."""
    apart, total = fn + fp, tp + fn + fp + tn
    chance = (2.0 * tp + apart) * (2.0 * tn + apart)
    return (2.0 * total * (tp + tn) - chance) / (2.0 * total**2 - chance)


def krippendorff_alpha(scotts_pi: Array, tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """Scott's pi + (1 - pi) / (2 N) of counts, Scott's pi of probabilities."""
    return scotts_pi + (1.0 - scotts_pi) * of_a_sample(tp + fn + fp + tn)


def of_a_sample(total: Array) -> Array:
    """Return what Krippendorff's alpha of a sample corrects: 1 / (2 N) of N items, nothing of probabilities."""
    return np.where(total > 1.0 + 1e-6, 0.5 / np.maximum(total, 1.0), 0.0)


def negative_agreement(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """2 TN / (2 TN + FN + FP)."""
    return 2.0 * tn / (2.0 * tn + fn + fp)


def equitable_threat_score(determinant: Array, wrong: Array, tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP TN - FP FN) / (N (TP + FN + FP) - (TP + FN)(TP + FP)), kappa / (2 - kappa)."""
    return determinant / (wrong * (tp + wrong + tn) - fn * fp + tp * tn)


def informedness(recall: Array, false_positive_rate: Array) -> Array:
    """recall + specificity - 1, written without the subtraction from 1."""
    return recall - false_positive_rate


def markedness(precision: Array, false_omission_rate: Array) -> Array:
    """precision + negative predictive value - 1, written without the subtraction from 1."""
    return precision - false_omission_rate


def jaccard(tp: Array, wrong: Array) -> Array:
    """TP / (TP + FN + FP)."""
    return tp / (tp + wrong)


def fowlkes_mallows(tp: Array, positives: Array, predicted_positives: Array) -> Array:
    """sqrt(precision recall)."""
    return np.asarray(tp / np.sqrt(positives * predicted_positives))


def geometric_mean(recall: Array, specificity: Array) -> Array:
    """sqrt(recall specificity)."""
    return np.sqrt(recall * specificity)


def p4(tp: Array, tn: Array, correct: Array, wrong: Array) -> Array:
    """4 TP TN / (4 TP TN + (TP + TN)(FP + FN))."""
    product = 4.0 * tp * tn
    return product / (product + correct * wrong)


def positive_likelihood_ratio(recall: Array, false_positive_rate: Array) -> Array:
    """recall / false positive rate."""
    return recall / false_positive_rate


def negative_likelihood_ratio(false_negative_rate: Array, specificity: Array) -> Array:
    """false negative rate / specificity."""
    return false_negative_rate / specificity


def diagnostic_odds_ratio(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP / FN)(TN / FP), undefined when a whole class is absent."""
    return (tp * tn) / (fp * fn)


def prevalence_threshold(recall: Array, false_positive_rate: Array) -> Array:
    """sqrt(FPR) / (sqrt(recall) + sqrt(FPR))."""
    root = np.sqrt(false_positive_rate)
    return np.asarray(root / (np.sqrt(recall) + root))


def expected_cost(
    tp: Array,
    fn: Array,
    fp: Array,
    tn: Array,
    *,
    c_tp: float = 0.0,
    c_fn: float = 1.0,
    c_fp: float = 1.0,
    c_tn: float = 0.0,
) -> Array:
    """Mean cost per item, (c_TP TP + c_FN FN + c_FP FP + c_TN TN) / N."""
    total = tp + fn + fp + tn
    return np.asarray((c_tp * tp + c_fn * fn + c_fp * fp + c_tn * tn) / total)


def net_benefit(tp: Array, fn: Array, fp: Array, tn: Array, *, threshold: float = 0.5) -> Array:
    """TP / N - FP / N t / (1 - t), with t the probability at which one would act."""
    return np.asarray((tp - threshold / (1.0 - threshold) * fp) / (tp + fn + fp + tn))
