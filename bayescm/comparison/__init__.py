"""Comparison of systems: differences and ratios of metrics, on separate test sets or on the same items."""

from bayescm.comparison.systems import compare_systems

__all__ = ["compare_systems"]
