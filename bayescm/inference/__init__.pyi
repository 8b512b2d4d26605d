from .before_data import prior_predictive as prior_predictive
from .cells import cell_summary as cell_summary
from .left_out import loo as loo
from .metric_distributions import MetricDistribution as MetricDistribution
from .posteriors import choose as choose
from .prevalence import rogan_gladen as rogan_gladen
