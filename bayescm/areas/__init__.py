"""Areas under the ROC and the PR curve: estimators and intervals."""

from bayescm.areas.difference import auc_difference
from bayescm.areas.pr import aucpr
from bayescm.areas.roc import auc

__all__ = ["auc", "auc_difference", "aucpr"]
