"""What to do: how many items to test, when to stop, what a second test would show, and what acting on it costs."""

from bayescm.planning.actions import decide
from bayescm.planning.areas import sample_size_of_auc
from bayescm.planning.labels import allocate, label_value
from bayescm.planning.looks import sequential
from bayescm.planning.net_benefit import decision_curve
from bayescm.planning.prevalences import at_prevalences
from bayescm.planning.replication import replicate
from bayescm.planning.sizes import interval_width, sample_size
from bayescm.planning.two_systems import sample_size_to_compare

__all__ = [
    "allocate",
    "at_prevalences",
    "decide",
    "decision_curve",
    "interval_width",
    "label_value",
    "replicate",
    "sample_size",
    "sample_size_of_auc",
    "sample_size_to_compare",
    "sequential",
]
