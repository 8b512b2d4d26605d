"""pass@k and pass^k: whether one, or every one, of k runs of a task passes, which no confusion matrix tells."""

from typing import Any, NamedTuple

from bayescm.data.answers import of_k_runs
from bayescm.metrics.table import Metric

_MOST = 10**6


class OfRuns(NamedTuple):
    """What is asked of k runs of a task; as the function of a metric it refuses matrices.

    Attributes
    ----------
    k : int
    every : bool
        Whether all must pass (pass^k), or one is enough (pass@k).
    """

    k: int
    every: bool

    @property
    def name(self) -> str:
        """The name of the metric."""
        return f"pass{'^' if self.every else '@'}{self.k}"

    def __call__(self, matrix: Any) -> Any:
        """Refuse a confusion matrix."""
        raise ValueError(
            f"`metrics`: {self.name} takes several runs of each task: bayescm.summary(passes, 'pass@3', runs=5), or "
            "bayescm.predictions of shape (items, runs), and no `unit`: tasks are the units."
        )


def named(word: str) -> Metric | None:
    """Return the metric of a name such as "pass@3", "pass^8" or "pass_at_3"; None of any other name."""
    if (found := of_k_runs(word)) is None:
        return None
    asked: Any = OfRuns(*found)
    if not 1 <= asked.k <= _MOST:
        raise ValueError(f"`metrics`: k of {word} must be a whole number from 1 to {_MOST:,}.")
    which, formula = ("all", "mean of p^k") if asked.every else ("any", "mean of 1 - (1 - p)^k")
    title = f"{asked.name}, {which} of {asked.k} runs passing"
    return Metric(asked.name, title, f"{formula} over tasks", asked, undefined="no tasks", kind="matrix")


def asked_of_runs(metric: Metric) -> OfRuns | None:
    """Return what a metric asks of the runs of a task; None of metrics of a matrix."""
    return metric.function if isinstance(metric.function, OfRuns) else None
