"""What the variables of a curve are called."""

AREAS = {
    "auc": "Area under the ROC curve",
    "average_precision": "Average precision",
    "pr_area": "Area under the PR curve",
}
LONG_NAMES = AREAS | {
    "prevalence": "Prevalence",
    "tpr": "True positive rate",
    "fpr": "False positive rate",
    "recall": "Recall",
    "precision": "Precision",
    "partial_auc_fpr": "Area under the ROC curve over a range of false positive rates",
    "partial_auc_fpr_corrected": "The same, 1/2 for chance, 1 for a perfect ranking, no lower limit (McClish 1989)",
    "partial_auc_tpr": "Area to the right of the ROC curve over a range of true positive rates",
    "partial_auc_tpr_corrected": "The same, 1/2 for chance, 1 for a perfect ranking, no lower limit (McClish 1989)",
    "partial_pr_area": "Mean precision over a range of recalls",
    "sensitivity_at_specificity": "Sensitivity at a specificity",
    "specificity_at_sensitivity": "Specificity at a sensitivity",
    "best_threshold": "Threshold at which the metric is best",
    "best_value": "Metric at its best threshold",
    "chosen_threshold": "Threshold at which the metric is best on average",
    "regret": "What the chosen threshold falls short of the best",
}
