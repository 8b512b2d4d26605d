"""What is meant by a name that the top level doesn't have: one of a room, or another library's."""

import ast
import difflib
from functools import cache
from pathlib import Path

ROOMS = ("planning", "plots", "curves", "regions", "inference", "priors", "models", "metrics", "calibration", "data")
"""Where public functions live that aren't at the top level."""
RENAMED: dict[str, str] = {}
"""Public names that were renamed since a release, and what each is now: taken with a warning (CONTRIBUTING.md)."""
_OTHERS = {
    "classification_report": "bayescm.summary(y_true, y_pred).bayescm.per_class()",
    "precision_recall_fscore_support": "bayescm.summary(y_true, y_pred, ['precision', 'recall', 'f1'])",
    "fleiss_kappa": "bayescm.summary(bayescm.agreement(ratings), 'fleiss_kappa')",
    "krippendorff_alpha": "bayescm.summary(bayescm.agreement(ratings), 'krippendorff_alpha')",
    "cohen_kappa_score": "bayescm.summary(y_true, y_pred, 'cohen_kappa')",
    "matthews_corrcoef": "bayescm.summary(y_true, y_pred, 'mcc')",
    "accuracy_score": "bayescm.summary(y_true, y_pred, 'accuracy')",
    "balanced_accuracy_score": "bayescm.summary(y_true, y_pred, 'balanced_accuracy')",
    "f1_score": "bayescm.summary(y_true, y_pred, 'f1')",
    "precision_score": "bayescm.summary(y_true, y_pred, 'precision')",
    "recall_score": "bayescm.summary(y_true, y_pred, 'recall')",
    "roc_auc_score": "bayescm.auc(y_true, y_score)",
    "average_precision_score": "bayescm.aucpr(y_true, y_score)",
    "precision_recall_curve": "bayescm.curve_posterior(y_true, y_score)",
    "roc_curve": "bayescm.curve_posterior(y_true, y_score)",
    "calibration_curve": "bayescm.curves.reliability(y_true, y_score)",
    "RocCurveDisplay": "bayescm.CurveDisplay",
    "PrecisionRecallDisplay": "bayescm.CurveDisplay",
    "ConfusionMatrixDisplay": "bayescm.plots.plot_confusion_matrix(counts)",
    "plot_roc": "bayescm.CurveDisplay.from_predictions(y_true, y_score)",
    "plot_posterior": "bayescm.plots.plot_distribution(tree), or ArviZ's az.plot_dist(tree)",
    "compare": "bayescm.compare_systems(y_true, {'A': y_pred_a, 'B': y_pred_b})",
    "make_scorer": "bayescm.scorer(metrics)",
    "cross_val_score": "bayescm.summary(folds, model='kfold')",
    "mcnemar": "bayescm.compare_systems(y_true, {'A': y_pred_a, 'B': y_pred_b})['tests']",
    "bootstrap": "bayescm.interval(counts, metric, 'bootstrap'), or bayescm.summary, which needs no resampling",
    "proportion_confint": "bayescm.interval(k, n)",
    "power": "bayescm.sample_size(metric, width=0.1)",
}


def meant(name: str) -> str:
    """Return what to call instead of a name, or nothing where that isn't known."""
    if name in _OTHERS:
        return _OTHERS[name]
    public = {one: f"bayescm.{room}.{one}" for room in reversed(ROOMS) for one in _offered(room)}
    public |= {one: f"bayescm.{one}" for one in _offered("")}
    near = name if name in public else next(iter(difflib.get_close_matches(name, public, 1, 0.75)), "")
    return public.get(near, "")


@cache
def _offered(room: str) -> list[str]:
    """Return the public names of a room as its file lists them: to import all rooms would take seconds."""
    folder = Path(__file__).parents[1] / room
    stub = folder / "__init__.pyi"
    body = ast.parse((stub if stub.exists() else folder / "__init__.py").read_text()).body
    if stub.exists():
        return [name.asname or name.name for line in body if isinstance(line, ast.ImportFrom) for name in line.names]
    lists = [line.value for line in body if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__"]
    return [name for names in lists for name in ast.literal_eval(names)]
