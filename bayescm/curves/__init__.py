"""Joint posteriors of whole ROC and PR curves, and bands around them."""

from bayescm.curves.bands import curve_band
from bayescm.curves.joint import curve_posterior
from bayescm.curves.pointwise import curve_hull, curve_intervals

__all__ = ["curve_band", "curve_hull", "curve_intervals", "curve_posterior"]
