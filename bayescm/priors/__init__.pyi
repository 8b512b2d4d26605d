from .concentrations import LogitNormal as LogitNormal
from .elicitation import beta_from_interval as beta_from_interval
from .from_metrics import counts_from_metrics as counts_from_metrics
from .from_metrics import prior_from_metrics as prior_from_metrics
from .hidden import hidden_size as hidden_size
from .reported import from_reported as from_reported
