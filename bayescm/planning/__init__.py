"""Planning a test, updating while it runs, and what a second one would show."""

from bayescm.planning.contests import sample_size_to_compare
from bayescm.planning.replication import replicate
from bayescm.planning.sizes import interval_width, sample_size
from bayescm.planning.stepwise import sequential

__all__ = ["interval_width", "replicate", "sample_size", "sample_size_to_compare", "sequential"]
