"""Several systems, read once: how they were tested, and what is known of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.comparison import audits as of_checks
from bayescm.comparison import printed as of_margins
from bayescm.comparison.audits import INDEPENDENT, PAIRED
from bayescm.data import strata, validate
from bayescm.data.answers import of_accuracies
from bayescm.data.assumptions import (
    CHECKED,
    IN_STRATA,
    ITEMS,
    OF_AUDIT,
    OWN_ITEMS,
    PRINTED,
    SAME_ITEMS,
    assumed,
    of_model,
    of_runs,
)
from bayescm.data.counts import check_counts
from bayescm.data.schema import ASKS, MATRIX, ONE_CLASS, RUN, STRATUM, SYSTEM, UNIT
from bayescm.data.shapes import is_reported
from bayescm.data.units import by_unit, plural, without_units
from bayescm.distributions import Distribution
from bayescm.inference.blocks import Block, Stack
from bayescm.inference.labelled import Posterior, Separate
from bayescm.inference.options import DRAWS
from bayescm.inference.passes import OfTasks, apart
from bayescm.inference.read import MODEL
from bayescm.inference.read import read as read_posterior
from bayescm.inference.reported import OfReports
from bayescm.inference.sampled import Sampled, over_systems
from bayescm.inference.units import of_units_alone
from bayescm.metrics import Metric, check_of_answers
from bayescm.metrics.passes import asked_of_runs
from bayescm.models import same_items
from bayescm.models.cell_draws import draws_of_answers
from bayescm.priors.concentrations import MODELS, PrevalenceLike, PriorLike, resolved_prior

Array = NDArray[np.float64]

FOLD = "fold"
FOLDS = "folds"
DESIGNS = (INDEPENDENT, PAIRED)
JOINT = "joint"
"""The design of systems whose draws are one model's."""
MODELS_OF_ONE = ("dirichlet_multinomial", "three_binomial", strata.MODEL, "kfold", "informative")
"""Models of one system, so that each has a posterior of its own; others are asked for that of all systems."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Several systems.

    Attributes
    ----------
    design : {"independent", "paired", "folds", "joint"}
    posterior : Posterior
        Over the systems: of each by itself, or of all by one model's draws.
    block : Block
        The same as one block.
    over : xarray.DataArray
        Any values over ``system``, with its coordinates.
    counts : xarray.DataArray
        ``counts(system, ..., actual, predicted)``, of audits those of the checked items; NaN where they aren't known.
    model, prior, prevalence
    answers : Patterns or None
        Where the same items were answered.
    audits : mapping of str to xarray.DataArray
        Of the systems, where only some of their items were checked.
    one_class : bool
        Whether only right and wrong answers are known.
    options : mapping
        Of the model.
    asks : str
        What data with a column that may name units ask.
    """

    design: str
    posterior: Posterior
    block: Block
    over: xr.DataArray
    counts: xr.DataArray
    model: Any
    prior: Any
    prevalence: PrevalenceLike
    answers: same_items.Patterns | None = None
    audits: Mapping[str, xr.DataArray] = field(default_factory=dict)
    one_class: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    asks: str = ""

    @property
    def runs(self) -> int:
        """How often each system answered each of the same items."""
        return 1 if self.answers is None else self.answers.runs

    @property
    def printed(self) -> bool:
        """Whether only printed metrics are known."""
        return isinstance(self.posterior, OfReports)

    @property
    def labels(self) -> list[Any]:
        """The class labels."""
        return list(self.posterior.labels)

    @cached_property
    def systems(self) -> list[str]:
        """The names of the systems."""
        return [str(name) for name in self.over[SYSTEM].values]

    @property
    def unit(self) -> str:
        """What was sampled, where it has several items; empty where items were."""
        return str(self.posterior.settings.get(UNIT, ""))

    @cached_property
    def checked(self) -> list[strata.Strata]:
        """The groups of items of each system's audit."""
        return [strata.read(strata.by_items(one)) for one in self.audits.values()]

    @property
    def same_strata(self) -> bool:
        """Whether the systems were tested in the same strata, on items of their own chosen whatever the verdict."""
        names = {() if one.by_verdict else tuple(one.names) for one in self.checked}
        return self.design == INDEPENDENT and len(names) == 1 and len(names.pop()) > 1

    @property
    def of(self) -> str:
        """What audits are about; empty without."""
        return self.checked[0].of if self.checked else ""

    def check(self, metrics: Sequence[Metric]) -> None:
        """Refuse metrics of two classes where only right and wrong answers are known, and improper posteriors."""
        if self.one_class:
            check_of_answers(metrics)
        self.block.check(metrics if self.unit else ())

    def notes(self, metrics: Sequence[Metric]) -> dict[str, Any]:
        """Return the attrs that say over which tasks runs are judged, of metrics of these."""
        return self.posterior.of_runs(metrics) if isinstance(self.posterior, OfTasks) else {}

    def assumptions(self, *more: str) -> dict[str, str]:
        """Return the attrs that say what is assumed."""
        if self.unit:
            told, same = of_units_alone(self.posterior.settings), plural(self.unit)
            of_items = [f"all systems were tested on the same {same}" if self.design == PAIRED else OWN_ITEMS]
            about, *rest = told["assumptions"].split("; ")
            return told | {"assumptions": "; ".join((about, *of_items, *more, *rest))}
        if self.design == JOINT:
            return of_model(None, None, {}) | {k: v for k, v in self.posterior.settings.items() if k == "assumptions"}
        if self.design == FOLDS:
            return of_model(self.model, self.prevalence, {"pooling": "partial"} | dict(self.options))
        of_items = [SAME_ITEMS if self.design == PAIRED else OWN_ITEMS, *of_runs(self.runs)]
        of_items += [OF_AUDIT[self.of]] if self.audits else []
        of_items += [PRINTED] if self.printed else []
        items = IN_STRATA if self.same_strata else CHECKED if self.audits else ITEMS
        said = assumed(self.prevalence, *of_items, *more, items=items)
        told = {"of": self.of, ASKS: self.asks, "assumptions": said}
        return {name: text for name, text in told.items() if text}


def read(
    data: Any, name: str, design: str | None, *, first: int = 0, model: Any = MODEL, prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None, random_seed: int, draws: int | None = None, otherwise: int = DRAWS,
    chains: int = 4, **options: Any,
) -> Evidence:  # fmt: skip
    """Read systems, whatever they came as.

    Parameters
    ----------
    data, design
        As in :func:`bayescm.compare_systems` and :func:`bayescm.leaderboard`.
    name : str
        Of the argument that the data came as.
    first : int
        From where on systems without names are numbered.
    model, prior, prevalence, random_seed, draws, otherwise, chains, **options
        As in :func:`bayescm.inference.read.opened`.
    """
    if design is not None:
        validate.choice("design", design, DESIGNS)
    data = {SYSTEM: data} if is_reported(data) else data
    of_accuracies(data, None)  # refuses those whose numbers of items aren't known
    audits = isinstance(data, dict) and any(map(strata.is_audit, data.values()))
    reports = isinstance(data, dict) and any(map(is_reported, data.values()))
    if not (audits or reports) and not isinstance(data, xr.DataArray | xr.Dataset | xr.DataTree):
        data = check_counts(data)
    if isinstance(data, xr.DataArray) and {SYSTEM, STRATUM} <= {*data.dims} and model == MODEL:
        data, design, audits = _in_strata(data, design), INDEPENDENT, True
    posterior: Posterior
    how: dict[str, Any] = {
        "prior": prior, "prevalence": prevalence, "draws": draws, "otherwise": otherwise, "chains": chains,
    }  # fmt: skip
    if (units := by_unit(data)) is not None:
        posterior = read_posterior(data, model=model, random_seed=random_seed, **how, **options)
        return _of_units(posterior, units, design, prevalence, name)
    data = without_units(data)
    same = same_items.answered_together(data)
    right = isinstance(data, xr.Dataset) and not same
    if isinstance(data, xr.DataTree) or not (model in MODELS_OF_ONE or audits or reports or right):
        if design is not None:
            raise ValueError("`design` is the model's, which has drawn all systems together; leave it out.")
        posterior = read_posterior(data, model=model, random_seed=random_seed, rebuilt=False, **how, **options)
        return _of_one_model(posterior, prevalence, name)
    how["prior"] = prior = resolved_prior(prior)
    if audits:
        known = of_checks.read(data, design, model)
    elif reports:
        known = {"design": design or INDEPENDENT, "whole": data}
    elif same:
        known = _of_the_same(data, design, model)
    else:
        if SYSTEM in getattr(data, "dims", ()) and SYSTEM not in data.coords:
            data = data.assign_coords({SYSTEM: np.arange(first, first + data.sizes[SYSTEM])})
        if not right:
            _refuse_paired(design)
        known = (
            {"design": design or INDEPENDENT, "whole": data, "one_class": True}
            if right
            else _separate(data, design, model, name)
        )
    known = {"model": model, "prior": prior, "prevalence": prevalence} | known
    whole, model = known.pop("whole", known.get("counts")), known["model"]
    if model not in (*MODELS, strata.MODEL):
        posterior = _one_by_one(whole, model, random_seed, how | options)
    elif options:
        raise TypeError(f"`{next(iter(options))}` is no option of {model}.")
    else:
        posterior = read_posterior(whole, model=model, random_seed=random_seed, **how)
        known["model"] = posterior.settings["model"]
    block, over = posterior.whole()
    validate.unique("system", over[SYSTEM].values.tolist())
    if right or reports:
        known["counts"] = _cells(posterior, block, over)
    if right:
        _warn_of_same(block.n_items(), design, "number of items")
    if isinstance(block, Stack) and "audits" in known and known["design"] == PAIRED:
        block = of_checks.together(block, data, prevalence, random_seed)
    elif (right or reports) and known["design"] == PAIRED:
        block = of_margins.together(block, random_seed)
    known["asks"] = getattr(data, "attrs", {}).get(ASKS, "")
    return Evidence(posterior=posterior, block=block, over=over, options=options, **known)


def _of_units(
    posterior: Posterior, counts: xr.DataArray, design: str | None, prevalence: PrevalenceLike, name: str
) -> Evidence:
    """Return systems that were tested on the same units, all of them weighed alike, or on units of their own."""
    tested = (counts.sum(MATRIX) > 0).transpose(SYSTEM, ...).values if SYSTEM in counts.dims else np.ones((1, 1))
    known = PAIRED if (tested.sum(0) > 1).any() else INDEPENDENT
    if design not in (None, known):
        raise ValueError(f"`design` must be {known!r}, as the units are; got {design!r}. Leave it out.")
    return _of_one_model(posterior, prevalence, name, known)


def _of_one_model(posterior: Posterior, prevalence: PrevalenceLike, name: str, design: str = JOINT) -> Evidence:
    """Return systems whose draws are one model's."""
    block, over = over_systems(posterior, name)
    validate.unique("system", over[SYSTEM].values.tolist())
    return Evidence(
        design=design, posterior=posterior, block=block, over=over, counts=_cells(posterior, block, over),
        prevalence=prevalence, model=posterior.settings["model"], prior=posterior.settings.get("prior"),
        one_class=ONE_CLASS in posterior.settings,
    )  # fmt: skip


def _cells(posterior: Posterior, block: Block, over: xr.DataArray) -> xr.DataArray:
    """Return what was counted of each system, as far as its posterior knows it."""
    coords = {SYSTEM: over[SYSTEM].values} | {dim: list(posterior.labels) for dim in MATRIX}
    return xr.DataArray(block.cells(), dims=(SYSTEM, *MATRIX), coords=coords, name="counts")


def _of_the_same(data: Any, design: str | None, model: str) -> dict[str, Any]:
    """Read answers to the same items."""
    answers = same_items.patterns(data)
    known = {"counts": answers.labelled(), "one_class": ONE_CLASS in data.attrs}
    if design == INDEPENDENT:
        same_items.refuse_runs(answers, "`design`='independent'")
        validate.warn(
            "The systems answered the same items, and design='independent' ignores that: errors on the same items "
            "no longer cancel, so that differences look more uncertain than they are, or less."
        )
        return known | {"design": design}
    if model != "dirichlet_multinomial":
        raise ValueError(
            f"`model` must be 'dirichlet_multinomial' for systems on the same items; got {model!r}. Draws of another "
            "model, such as 'paired' with dependence='difficulty', come from bayescm.posterior."
        )
    return known | {"design": PAIRED, "answers": answers} | ({"whole": data} if RUN in data.dims else {})


def _separate(data: Any, design: str | None, model: Any, name: str) -> dict[str, Any]:
    """Read matrices, one for each system, or one for each system and fold."""
    counts = check_counts(data).compute()
    batch = [str(dim) for dim in counts.dims if dim not in MATRIX]
    if SYSTEM not in batch or not set(batch) <= {SYSTEM, FOLD}:
        raise ValueError(
            f"`{name}` must have the dim 'system', and may have 'fold' or 'stratum'; got {batch}. Rename or select, or "
            "give a mapping of systems to matrices, {'A': counts_a, 'B': counts_b}."
        )
    counts = counts.transpose(SYSTEM, ..., *MATRIX)
    validate.count_values("counts", counts.values)
    if FOLD in batch:
        if counts.sizes[FOLD] < 2:
            raise ValueError(f"`{name}` has one fold; give at least two, or drop the dim.")
        return {"design": FOLDS, "counts": counts, "model": "kfold" if model in MODELS else model}
    _warn_of_same(counts.values.sum(-1), design, "class totals")
    return {"design": INDEPENDENT, "counts": counts}


def _in_strata(data: xr.DataArray, design: str | None) -> dict[str, xr.DataArray]:
    """Return systems over ``(system, stratum)`` as audits of a population with the strata's shares of all items."""
    _refuse_paired(design)
    counts = check_counts(data).compute().transpose(SYSTEM, ..., *MATRIX)
    _warn_of_same(counts.values.sum(-1), design, "class totals")
    totals = counts.sum([SYSTEM, *MATRIX])
    names = counts[SYSTEM].values.tolist() if SYSTEM in counts.coords else range(len(counts))
    return {
        name: strata.audited(one.drop_vars(SYSTEM, errors="ignore"), totals, of="population")
        for name, one in zip(names, counts, strict=True)
    }


def _refuse_paired(design: str | None) -> None:
    """Refuse separate numbers as answers to the same items."""
    if design == PAIRED:
        raise ValueError(
            "`design`='paired' needs to know which of the same items each system got right: give the joint table of "
            "bayescm.data.paired_counts, or bayescm.predictions."
        )


def _warn_of_same(totals: NDArray[Any], design: str | None, what: str) -> None:
    """Warn of systems whose totals (system, ...) are the same, unless they are told to be independent."""
    if design is None and len(totals) > 1 and (totals == totals[0]).all():
        same_items.warn_of_same_totals("design='independent'", what)


def _one_by_one(counts: xr.DataArray, model: str, seed: int, how: Mapping[str, Any]) -> Separate:
    """Return the posteriors of systems that a model of one system is fitted to, one after the other."""
    blocks = np.empty(counts.sizes[SYSTEM], object)
    for i in range(len(blocks)):
        one = counts.isel({SYSTEM: i}, drop=True)
        fitted = read_posterior(one, model=model, random_seed=seed + i, **how)
        blocks[i] = fitted.whole()[0]
    return Separate(fitted.labels, {}, blocks, counts[SYSTEM].reset_coords(drop=True))


@dataclass(frozen=True)
class Together(Sampled):
    """Draws of all systems on the same items, each of which by itself is known, too.

    Attributes
    ----------
    alone : Block
    answers : Patterns
    """

    alone: Block
    answers: same_items.Patterns

    def points(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        return self.alone.points(metrics)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        runs = [metric for metric in metrics if asked_of_runs(metric) is not None]
        return apart(
            metrics, super().draws, dict(zip(map(asked_of_runs, runs), self.alone.draws(runs), strict=True)).__getitem__
        )

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return self.alone.known(metric)

    def data(self) -> NDArray[np.int64]:  # noqa: D102
        return self.answers.answers().swapaxes(0, 1)


def together(evidence: Evidence, n: int, seed: int) -> Block:
    """Return what is known of all systems at once: draws of the same items are joint."""
    answers = evidence.answers
    if answers is None or answers.runs > 1:
        return evidence.block
    theta = draws_of_answers(answers, evidence.prior, evidence.prevalence, 1, n, seed)
    cells = theta.transpose("chain", SYSTEM, "draw", *MATRIX).values[0, :, :, None]
    index = np.arange(cells.shape[0])
    seen = evidence.counts.values.astype(np.float64)
    return Together(cells, {}, evidence.block.cells(), 0, seen, index, seed, evidence.block, answers)
