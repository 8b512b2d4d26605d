from . import calibration as calibration
from . import datasets as datasets
from . import metrics as metrics
from . import models as models
from . import plots as plots
from .counts import confusion_matrix as confusion_matrix
from .counts import counts_at_thresholds as counts_at_thresholds
from .counts import from_array as from_array
from .counts import from_cells as from_cells
from .counts import from_table as from_table
from .ladder import choose as choose
from .ladder import posterior as posterior
from .metrics import evaluate as evaluate
from .plots import plot_confusion_matrix as plot_confusion_matrix
from .plots import plot_forest as plot_forest
from .priors import prior_from_metrics as prior_from_metrics
from .summaries import cell_summary as cell_summary
from .summaries import summary as summary

__version__: str
