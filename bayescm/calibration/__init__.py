"""How often intervals hold the truth (coverage), and whether models and samplers agree (simulation)."""

from bayescm.calibration.any_coverage import coverage_of
from bayescm.calibration.hold_outs import dispersion
from bayescm.calibration.interval_coverage import confusion_probabilities, coverage, from_probabilities
from bayescm.calibration.simulation import sbc

__all__ = ["confusion_probabilities", "coverage", "coverage_of", "dispersion", "from_probabilities", "sbc"]
