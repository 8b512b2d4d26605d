"""Comparison of systems: differences of two, and leaderboards of many, on separate test sets or on the same items."""

from bayescm.comparison.boards import leaderboard
from bayescm.comparison.gates import gate
from bayescm.comparison.systems import compare_systems

__all__ = ["compare_systems", "gate", "leaderboard"]
