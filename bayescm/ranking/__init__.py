"""Leaderboards of systems whose metrics are uncertain: which rank each one may have."""

from bayescm.ranking.board import leaderboard

__all__ = ["leaderboard"]
