"""Pictures: a Dataset in, Axes out. Nothing is computed here."""

from bayescm.plots.forest import plot_forest
from bayescm.plots.matrix import plot_confusion_matrix

__all__ = ["plot_confusion_matrix", "plot_forest"]
