"""The posterior of tasks that were run several times: whether one, or every one, of k runs of a task passes.

Tasks are the units. Each system's pass^k and pass@k have the distribution of
:mod:`bayescm.distributions.pass_rates`. Systems that ran the same tasks are drawn together: tasks weigh at random, the
same in all systems, and the weighted means of what each task is thought to do rank the draws, whose values are the
quantiles of each system's own distribution. So margins are exact, and what is hard for all is hard in all draws.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data.assumptions import assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ACTUAL, ITEM, ONE_CLASS, PREDICTED, RUN, RUNS_OF, SYSTEM
from bayescm.data.units import SAMPLED
from bayescm.distributions import Distribution
from bayescm.distributions.pass_rates import Grid, PassRate, grid, pass_rate
from bayescm.distributions.sample import Each
from bayescm.inference.blocks import Block
from bayescm.inference.conjugate import Conjugate
from bayescm.inference.labelled import Alike
from bayescm.inference.sampled import Sampled
from bayescm.metrics import Metric, check_of_answers
from bayescm.metrics.passes import OfRuns, asked_of_runs
from bayescm.results.names import CARRIED_BY

Array = NDArray[np.float64]

FLAKY = "flaky"
"""The attr that names tasks which passed in some runs and failed in others, those nearest to half first."""
_RATES = ((("tp",), ("fn",)), (("fn",), ("tp",)))
"""Of the only class that right and wrong answers have: what the accuracy and the error rate are there."""
_ASSUMED = "independent tasks of one population, whose chances of passing are a Beta's, and independent runs of each"
_FEW = 8
_NAMED = 3
_BLOCK = 2**21


class Tasks(NamedTuple):
    """How often each task passed.

    Attributes
    ----------
    passes : ndarray of shape (systems, tasks)
    runs : ndarray of shape (systems,)
        Of each task.
    names : ndarray of shape (tasks,)
    one_class : bool
        Whether only right and wrong answers are known.
    """

    passes: NDArray[np.int64]
    runs: NDArray[np.int64]
    names: NDArray[Any]
    one_class: bool

    def at(self, place: Any) -> "Tasks":
        """Return those of some systems."""
        return self._replace(passes=self.passes[place], runs=self.runs[place])

    @classmethod
    def of(cls, data: xr.Dataset) -> Self:
        """Count the passes of ``predicted(system, item, run)``: the answers that are right."""
        right = (data[PREDICTED] == data[ACTUAL]).transpose(SYSTEM, ITEM, RUN).values
        made = right.shape[-1]
        runs = data[RUNS_OF].values if RUNS_OF in data.coords else np.full(len(right), made)
        if (made % runs != 0).any():
            raise ValueError("`data` has lost runs, whose number differs by system: select runs before predictions.")
        names = data[ITEM].values if ITEM in data.coords else np.arange(right.shape[1])
        return cls(right.sum(-1) * runs[:, None] // made, runs, names, ONE_CLASS in data.attrs)

    def flaky(self) -> NDArray[np.intp]:
        """Return the tasks that neither passed nor failed in all runs of any system, the most so first."""
        share = self.passes / self.runs[:, None]
        unsure = (share * (1.0 - share)).max(0)
        order = np.argsort(-unsure, kind="stable")
        return order[unsure[order] > 0.0]


class Passing(Block):
    """What is known of k runs of some systems, beside what their matrices say.

    Attributes
    ----------
    tasks : Tasks
        Of these systems.
    """

    tasks: Tasks

    @cached_property
    def _grids(self) -> list[Grid]:
        return [grid(passes, int(runs)) for passes, runs in zip(*self._by_system(), strict=True)]

    def _by_system(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.atleast_2d(self.tasks.passes), np.atleast_1d(self.tasks.runs)

    def singles(self) -> Iterator[Any]:  # noqa: D102
        for place, one in zip(np.ndindex(self.shape), super().singles(), strict=True):  # type: ignore[safe-super]
            yield _passing(one, self.tasks.at(place))

    def pieces(self) -> Iterator[Any]:  # noqa: D102
        yield self

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        if self.tasks.one_class:
            check_of_answers([one for one in metrics if one.ratio not in _RATES])
        super().check([one for one in metrics if asked_of_runs(one) is None])

    def _of(self, asked: OfRuns) -> list[PassRate]:
        return [PassRate(one, *asked) for one in self._grids]

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        if (asked := asked_of_runs(metric)) is None:
            return super().exact(metric)
        dists = self._of(asked)
        return Each(tuple(dists), self.shape) if self.shape else dists[0]

    def points(self, metrics: Sequence[Metric]) -> list[Array]:
        """Return the unbiased estimates; of more runs than there were the posterior means."""
        return apart(metrics, super().points, lambda asked: self._shaped([self._point(asked, i) for i in self._places]))

    @property
    def _places(self) -> range:
        return range(len(self._grids))

    def _shaped(self, values: Any) -> Array:
        return np.reshape(values, (*self.shape, *np.shape(values)[1:]))

    def _point(self, asked: OfRuns, system: int) -> float:
        (passes, n), k = (one[system] for one in self._by_system()), asked.k
        if k > n:
            return float(self._of(asked)[system].mean())
        right = passes if asked.every else n - passes
        share = float((special.comb(right, k) / special.comb(n, k)).mean())
        return share if asked.every else 1.0 - share

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        matrices: Any = super().draws  # type: ignore[safe-super]
        return apart(metrics, matrices, lambda asked: self._shaped(self._together(asked)))

    def _together(self, asked: OfRuns) -> Array:
        """Draw all systems' rates (systems, n), ranked as the weighted means of their tasks."""
        passes, runs = self._by_system()
        expected = np.stack([_expected(*one, asked) for one in zip(self._grids, passes, runs, strict=True)], -1)
        rng, means = matrix_rng(self.seed, 0, Stream.PASSES), []
        own = [matrix_rng(self.seed, 1 + int(i), Stream.PASSES) for i in np.ravel(self.index)]
        for start in range(0, self.n, step := max(_BLOCK // len(expected), 1)):
            n = min(step, self.n - start)
            weights = rng.standard_exponential((n, 1 + len(expected)))
            prior = np.stack([one.beta(0.5, 0.5, n) for one in own], -1)
            means.append((weights[:, 1:] @ expected + weights[:, :1] * prior) / weights.sum(1, keepdims=True))
        order = np.argsort(np.concatenate(means), 0, kind="stable")
        values = np.empty((len(runs), self.n))
        for i, dist in enumerate(self._of(asked)):
            values[i, order[:, i]] = dist.ppf((np.arange(self.n) + 0.5) / self.n)
        return values


def _expected(which: Grid, passes: NDArray[np.int64], runs: int, asked: OfRuns) -> Array:
    """Return what each task (tasks,) is expected to do in k runs, given the mean and concentration of all."""
    a, b = ((which.weights * part).sum() for part in (which.a, which.b))
    return pass_rate(a + passes, b + runs - passes, asked.k, every=asked.every)


@dataclass(frozen=True)
class Drawn(Passing, Sampled):
    """Systems whose runs differ."""

    tasks: Tasks


@dataclass(frozen=True)
class Counted(Passing, Conjugate):
    """Systems of which all runs of a task agree: counts, of which each task is one item."""

    tasks: Tasks


def _passing(block: Block, tasks: Tasks) -> Passing:
    kind: Any = Drawn if isinstance(block, Sampled) else Counted
    return kind(**{one.name: getattr(block, one.name) for one in fields(kind) if one.name != "tasks"}, tasks=tasks)  # type: ignore[no-any-return]


def apart(
    metrics: Sequence[Metric], others: Callable[[list[Metric]], list[Array]], own: Callable[[OfRuns], Array]
) -> list[Array]:
    """Return what is asked of all metrics: of runs by `own`, and of matrices by `others`."""
    asked = [asked_of_runs(metric) for metric in metrics]
    rest = iter(others([metric for metric, one in zip(metrics, asked, strict=True) if one is None]))
    return [next(rest) if one is None else own(one) for one in asked]


@dataclass(frozen=True)
class OfTasks(Alike):
    """The posterior of systems that ran tasks several times.

    Attributes
    ----------
    matrices : Alike
        What their matrices say.
    tasks : Tasks
    """

    matrices: Alike | None = None
    tasks: Tasks | None = None

    def counts(self, question: str) -> xr.DataArray:  # noqa: D102
        return super().counts(question) if self.matrices is None else self.matrices.counts(question)

    def notes(self, metrics: Sequence[Metric], ci_prob: float) -> dict[str, Any]:  # noqa: D102
        others = [metric for metric in metrics if asked_of_runs(metric) is None]
        told = {} if self.matrices is None or not others else self.matrices.notes(others, ci_prob)
        return told | self.of_runs(metrics)

    def of_runs(self, metrics: Sequence[Metric]) -> dict[str, Any]:
        """Return the attrs that tell of the tasks, if metrics are of runs of these."""
        return {} if self.tasks is None else notes_of(self.tasks, metrics)


def of_tasks(known: Alike, data: xr.Dataset | None) -> Alike:
    """Return the posterior of systems that answered items in several runs, with what is known of k of these."""
    if data is None:
        return known
    tasks = Tasks.of(data)
    parts = {one.name: getattr(known, one.name) for one in fields(Alike)}
    parts["block"] = lambda values, index: _passing(known.block(values, index), tasks.at(index))
    parts["some"] = _passing(known.some, tasks.at(0))
    return OfTasks(**parts, matrices=known, tasks=tasks)


def notes_of(tasks: Tasks, metrics: Sequence[Metric]) -> dict[str, Any]:
    """Return the attrs that say over which tasks k runs are judged, and which of them are flaky."""
    asked = [one for metric in metrics if (one := asked_of_runs(metric)) is not None]
    if not asked:
        return {}
    n, flaky = tasks.passes.shape[1], [str(tasks.names[i]) for i in tasks.flaky()]
    runs = sorted(set(tasks.runs.tolist()))
    listed = ", ".join(flaky[:_NAMED]) + (f" and {len(flaky) - _NAMED} more" if len(flaky) > _NAMED else "")
    said = f"over tasks like these {n}, of {' or '.join(map(str, runs))} runs each"
    said += f"; {len(flaky)} passed in some runs only ({listed})" if flaky else "; all agreed with themselves"
    notes = []
    beyond = [one.name for one in asked if one.k > runs[0]]
    if beyond:
        notes.append(
            f"{' and '.join(beyond)}: more runs than the {runs[0]} seen, as far as chances of tasks are a Beta's"
        )
    if n < _FEW:
        notes.append(f"with fewer than {_FEW} tasks an interval rests much on the prior")
    told = {SAMPLED: said, FLAKY: flaky} | ({CARRIED_BY: "; ".join(notes)} if notes else {})
    return told | ({"assumptions": assumed(items=_ASSUMED)} if len(asked) == len(metrics) else {})
