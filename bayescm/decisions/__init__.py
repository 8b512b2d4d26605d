"""Decisions: what a matrix means at another prevalence, what acting on it costs, and whether it is of use."""

from bayescm.decisions.actions import decide
from bayescm.decisions.benefit import decision_curve
from bayescm.decisions.prevalences import at_prevalences

__all__ = ["at_prevalences", "decide", "decision_curve"]
