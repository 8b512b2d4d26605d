"""Whole ROC and PR curves, the areas under them, and bands around them."""

from bayescm.curves.area_difference import auc_difference
from bayescm.curves.bands import curve_band
from bayescm.curves.calibration_curve import reliability
from bayescm.curves.joint import curve_posterior
from bayescm.curves.pointwise import hull, intervals
from bayescm.curves.pr_area import aucpr
from bayescm.curves.printed import auc_from_reported
from bayescm.curves.roc_area import auc
from bayescm.data.thresholds import counts_at_thresholds

__all__ = [
    "auc",
    "auc_difference",
    "auc_from_reported",
    "aucpr",
    "counts_at_thresholds",
    "curve_band",
    "curve_posterior",
    "hull",
    "intervals",
    "reliability",
]
