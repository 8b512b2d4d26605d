"""The same work by hand in NumPy, and with prob-conf-mat."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prob_conf_mat.experiment import Experiment, SamplingMethod
from prob_conf_mat.metrics.abc import METRIC_REGISTRY, RootMetric
from prob_conf_mat.metrics.collection import MetricCollection
from prob_conf_mat.metrics.interface import get_metric
from prob_conf_mat.utils.rng import RNG

Array = NDArray[np.float64]
N = 10**6
TP, FN, FP, TN = 50, 10, 20, 120
FORMULAS: dict[str, Callable[..., Any]] = {
    "recall": lambda tp, fn, fp, tn: tp / (tp + fn),
    "specificity": lambda tp, fn, fp, tn: tn / (tn + fp),
    "precision": lambda tp, fn, fp, tn: tp / (tp + fp),
    "negative_predictive_value": lambda tp, fn, fp, tn: tn / (tn + fn),
    "accuracy": lambda tp, fn, fp, tn: tp + tn,
    "balanced_accuracy": lambda tp, fn, fp, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "f1": lambda tp, fn, fp, tn: 2 * tp / (2 * tp + fn + fp),
    "matthews_correlation": lambda a, b, c, d: (a * d - b * c) / np.sqrt((a + c) * (a + b) * (d + c) * (d + b)),
    "cohen_kappa": lambda a, b, c, d: 2 * (a * d - b * c) / ((a + c) * (c + d) + (a + b) * (b + d)),
    "informedness": lambda tp, fn, fp, tn: tp / (tp + fn) + tn / (tn + fp) - 1,
    "markedness": lambda tp, fn, fp, tn: tp / (tp + fp) + tn / (tn + fn) - 1,
    "jaccard": lambda tp, fn, fp, tn: tp / (tp + fn + fp),
}
METRICS = tuple(FORMULAS)
NOT_RATES = ("accuracy", "f1", "matthews_correlation", "cohen_kappa", "jaccard")
PEER_NAMES = {name: {"matthews_correlation": "mcc"}.get(name, name) for name in METRICS}
COMMON = tuple(name for name in METRICS if PEER_NAMES[name] in METRIC_REGISTRY)
PEER_REPORT = (
    "prevalence model_bias recall specificity fpr fnr precision npv fdr for acc ba f1 fbeta+beta=2.0 fbeta+beta=0.5 "
    "mcc kappa bm markedness jaccard p4 plr nlr dor pt"
)  # what it has of bayescm's 28: it lacks error_rate, fowlkes_mallows and geometric_mean
FIRST_PEER = f"""
from prob_conf_mat import Study
from prob_conf_mat.metrics import get_metric
study = Study(seed=0, num_samples=10_000, ci_probability=0.95)
study.add_experiment("a/a", confusion_matrix=[[6, 2], [0, 26]], prevalence_prior=1.0, confusion_prior=0.5)
names = {PEER_REPORT!r}.split()
for name in names:
    study.add_metric(name)
for name in names:
    label = None if get_metric(name).is_multiclass else 1
    study.report_metric_summaries(name, class_label=label, table_fmt="records")
"""


def draw_theta_numpy(seed: int) -> Array:
    """Draw cell probabilities with NumPy, (N, 4): tp, fn, fp, tn."""
    return np.random.default_rng(seed).dirichlet(np.array([TP, FN, FP, TN]) + 0.5, N)


def draw_numpy(seed: int) -> dict[str, Array]:
    """Draw theta and the metrics with NumPy."""
    theta = draw_theta_numpy(seed)
    return {"theta": theta, **{name: formula(*theta.T) for name, formula in FORMULAS.items()}}


def draw_numpy_shared(seed: int) -> list[Array]:
    """Draw theta and the metrics with NumPy, computing no rate twice."""
    theta = draw_theta_numpy(seed)
    tp, fn, fp, tn = theta.T
    tpr, tnr, ppv, npv = tp / (tp + fn), tn / (tn + fp), tp / (tp + fp), tn / (tn + fn)
    rest = [FORMULAS[name](tp, fn, fp, tn) for name in NOT_RATES]
    return [theta, tpr, tnr, ppv, npv, (tpr + tnr) / 2, tpr + tnr - 1, ppv + npv - 1, *rest]


def draw_gamma(seed: int) -> None:
    """Draw the gamma variables behind one Dirichlet, and nothing else, into memory that stays in cache."""
    rng, block = np.random.default_rng(seed), np.empty(8000)
    for _ in range(N // 8000):
        for count in (TP, FN, FP, TN):
            rng.standard_gamma(count + 0.5, out=block)


def experiment(seed: int) -> Experiment:
    """Return the same posterior in prob-conf-mat: shares Dirichlet(n + 1), rows Dirichlet(counts + 1/2)."""
    return Experiment("e", RNG(seed), np.array([[TN, FP], [FN, TP]]), prevalence_prior=1.0, confusion_prior=0.5)


def draw_roots(seed: int) -> Any:
    """Draw what prob-conf-mat computes its metrics from."""
    return experiment(seed).sample(SamplingMethod.POSTERIOR, N)


def draw_peer(seed: int) -> Any:
    """Draw theta and the metrics with prob-conf-mat."""
    metrics = MetricCollection([PEER_NAMES[name] for name in COMMON])
    return experiment(seed).sample_metrics(metrics=metrics, sampling_method=SamplingMethod.POSTERIOR, num_samples=N)


def evaluate_numpy(name: str, cells: Array, _: int) -> Any:
    """Evaluate one metric on given draws."""
    return FORMULAS[name](*cells)


def evaluate_peer(name: str, roots: Mapping[Any, Any], _: int) -> Any:
    """Evaluate one metric of prob-conf-mat, and what it depends on, on given draws."""
    order = MetricCollection(PEER_NAMES[name]).get_compute_order()
    values = {metric: result.values for metric, result in roots.items()}
    for metric in order:
        if not isinstance(metric, RootMetric):
            values[metric] = metric(**{word: values[order[word]] for word in metric.dependencies})
    return values[get_metric(PEER_NAMES[name])][:, -1]
