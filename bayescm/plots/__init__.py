"""Pictures: an answer in, axes out. A model's draws are asked first; nothing else is computed here."""

from bayescm.plots import visuals
from bayescm.plots.areas import plot_areas
from bayescm.plots.arviz import arviz_options
from bayescm.plots.comparisons import plot_difference, plot_pairwise
from bayescm.plots.curves import plot_curve
from bayescm.plots.decisions import plot_decision_curve, plot_prevalence
from bayescm.plots.display import CurveDisplay
from bayescm.plots.distribution import plot_distribution
from bayescm.plots.forest import plot_forest
from bayescm.plots.leaderboard import plot_leaderboard
from bayescm.plots.matrix import plot_confusion_matrix
from bayescm.plots.planning import plot_interval_width, plot_sequential
from bayescm.plots.regions import plot_band, plot_region
from bayescm.plots.thresholds import plot_thresholds
from bayescm.plots.uncertainty import plot_metric_uncertainty

__all__ = [
    "CurveDisplay",
    "arviz_options",
    "plot_areas",
    "plot_band",
    "plot_confusion_matrix",
    "plot_curve",
    "plot_decision_curve",
    "plot_difference",
    "plot_distribution",
    "plot_forest",
    "plot_interval_width",
    "plot_leaderboard",
    "plot_metric_uncertainty",
    "plot_pairwise",
    "plot_prevalence",
    "plot_region",
    "plot_sequential",
    "plot_thresholds",
    "visuals",
]
