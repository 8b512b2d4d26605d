"""What is given: counts, labels, scores, items of several systems, data sets; and how results are labelled."""

from bayescm.data import datasets

__all__ = ["datasets"]
