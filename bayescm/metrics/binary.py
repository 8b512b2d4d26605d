"""Metrics of two labels: pure functions of the four cells.

The cells are counts or probabilities, numbers or arrays: every function divides out the total where it matters.
0/0 is NaN and x/0 is infinite, as the formula says; nothing is replaced.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def prevalence(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP + FN) / N."""
    positives = tp + fn
    return positives / (positives + (fp + tn))


def predicted_prevalence(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP + FP) / N."""
    positives = tp + fp
    return positives / (positives + (fn + tn))


def recall(tp: Array, fn: Array) -> Array:
    """TP / (TP + FN)."""
    return tp / (tp + fn)


def specificity(fp: Array, tn: Array) -> Array:
    """TN / (TN + FP)."""
    return tn / (tn + fp)


def false_positive_rate(fp: Array, tn: Array) -> Array:
    """FP / (FP + TN)."""
    return fp / (fp + tn)


def false_negative_rate(tp: Array, fn: Array) -> Array:
    """FN / (FN + TP)."""
    return fn / (fn + tp)


def precision(tp: Array, fp: Array) -> Array:
    """TP / (TP + FP)."""
    return tp / (tp + fp)


def negative_predictive_value(fn: Array, tn: Array) -> Array:
    """TN / (TN + FN)."""
    return tn / (tn + fn)


def false_discovery_rate(tp: Array, fp: Array) -> Array:
    """FP / (FP + TP)."""
    return fp / (fp + tp)


def false_omission_rate(fn: Array, tn: Array) -> Array:
    """FN / (FN + TN)."""
    return fn / (fn + tn)


def accuracy(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP + TN) / N."""
    right = tp + tn
    return right / (right + (fn + fp))


def error_rate(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(FP + FN) / N."""
    wrong = fp + fn
    return wrong / (wrong + (tp + tn))


def balanced_accuracy(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(recall + specificity) / 2."""
    return 0.5 * (tp / (tp + fn) + tn / (tn + fp))


def f_score(tp: Array, fn: Array, fp: Array, *, beta: float = 1.0) -> Array:
    """(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)."""
    weighted = (1.0 + beta**2) * tp
    return weighted / (weighted + beta**2 * fn + fp)


def f1(tp: Array, fn: Array, fp: Array) -> Array:
    """2 TP / (2 TP + FN + FP)."""
    twice = 2.0 * tp
    return twice / (twice + fn + fp)


def matthews_correlation(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))."""
    return (tp * tn - fp * fn) / np.sqrt(((tp + fp) * (tp + fn)) * ((tn + fp) * (tn + fn)))


def cohen_kappa(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """2 (TP TN - FP FN) / ((TP + FP)(FP + TN) + (TP + FN)(FN + TN))."""
    return 2.0 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def informedness(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """recall + specificity - 1, written without the subtraction from 1."""
    return tp / (tp + fn) - fp / (fp + tn)


def markedness(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """precision + negative predictive value - 1, written without the subtraction from 1."""
    return tp / (tp + fp) - fn / (fn + tn)


def jaccard(tp: Array, fn: Array, fp: Array) -> Array:
    """TP / (TP + FN + FP)."""
    return tp / (tp + fn + fp)


def fowlkes_mallows(tp: Array, fn: Array, fp: Array) -> Array:
    """sqrt(precision recall)."""
    return tp / np.sqrt((tp + fp) * (tp + fn))


def geometric_mean(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """sqrt(recall specificity)."""
    return np.sqrt(tp / (tp + fn) * (tn / (tn + fp)))


def p4(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """4 TP TN / (4 TP TN + (TP + TN)(FP + FN))."""
    product = 4.0 * tp * tn
    return product / (product + (tp + tn) * (fp + fn))


def positive_likelihood_ratio(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """recall / false positive rate."""
    return (tp / (tp + fn)) / (fp / (fp + tn))


def negative_likelihood_ratio(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """false negative rate / specificity."""
    return (fn / (tp + fn)) / (tn / (fp + tn))


def diagnostic_odds_ratio(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """(TP / FN)(TN / FP), undefined when a whole class is absent."""
    return (tp * tn) / (fp * fn)


def prevalence_threshold(tp: Array, fn: Array, fp: Array, tn: Array) -> Array:
    """sqrt(FPR) / (sqrt(recall) + sqrt(FPR))."""
    root = np.sqrt(fp / (fp + tn))
    return np.asarray(root / (np.sqrt(tp / (tp + fn)) + root))


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
