"""All of an answer in one call: as text, or as one page with pictures."""

from bayescm.reports.page import report

__all__ = ["report"]
