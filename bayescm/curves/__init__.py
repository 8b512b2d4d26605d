"""Whole ROC and PR curves, the areas under them, and bands around them."""

from bayescm.curves.area_difference import auc_difference
from bayescm.curves.bands import curve_band
from bayescm.curves.joint import curve_posterior
from bayescm.curves.pointwise import curve_hull, curve_intervals
from bayescm.curves.pr_area import aucpr
from bayescm.curves.reliability import reliability
from bayescm.curves.roc_area import auc

__all__ = [
    "auc",
    "auc_difference",
    "aucpr",
    "curve_band",
    "curve_hull",
    "curve_intervals",
    "curve_posterior",
    "reliability",
]
