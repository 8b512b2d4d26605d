"""Areas under the ROC and the PR curve: estimators and intervals."""

from bayescm.areas.pr import aucpr
from bayescm.areas.roc import auc, auc_difference

__all__ = ["auc", "auc_difference", "aucpr"]
