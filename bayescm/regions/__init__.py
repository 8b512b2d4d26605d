"""Joint regions of two metrics on the PR and the ROC plane, and bands of whole curves."""

from bayescm.regions.clouds import bootstrap
from bayescm.regions.contours import area, contains, contour
from bayescm.regions.grid import axis
from bayescm.regions.levels import region_level
from bayescm.regions.surfaces import band, region

__all__ = ["area", "axis", "band", "bootstrap", "contains", "contour", "region", "region_level"]
