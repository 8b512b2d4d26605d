"""Answers of the stories that are more than one conjugate matrix, and of programs of the user's own."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm import conjugate, models, sampling, validate, workflow
from bayescm.cells import PRIOR, SHARES, with_metrics
from bayescm.closed_form import SAMPLE, ClosedForm
from bayescm.metrics import MetricsLike, evaluate
from bayescm.priors import PrevalenceLike
from bayescm.results import CHAIN, DRAW, MATRIX, flatten_cells, in_chains, matrix_of_cells

TARGET_ACCEPT = 0.95
"""Of these stories: their posteriors are harder than those of one matrix (at .9 some diverged)."""


class Told(NamedTuple):
    """A story with its options, for data of one shape."""

    name: str
    story: Any  # None for a program of the user's own
    program: Any  # the user's own
    data: Any
    arguments: dict[str, Any]  # of the story's functions

    def closed_form(self) -> ClosedForm | None:
        """Return the closed form under these options, if there is one."""
        exact = getattr(self.story, "exact", None)
        return None if exact is None else exact(self.data, **self.arguments)

    def build(self) -> Any:
        """Return the PyMC program."""
        if self.story is None:
            return _with_counts(self.program, self.data)
        return self.story.model(self.data, **self.arguments)

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """Lend the program to one thread at a time: the one that was compiled before, if there is one of its like."""
        with sampling.TURN:
            fresh = self.build()
            yield fresh if self.story is None else sampling.reused(self._key(fresh), fresh, self.story)

    def _key(self, program: Any) -> str:
        """Name what a compiled program depends on: everything but the values of its data."""
        shapes = {data.name: data.get_value().shape for data in program.data_vars}
        return repr(_exactly([self.name, id(self.story), self.arguments, shapes, dict(program.coords)]))


def _exactly(value: Any) -> Any:
    """Return plain lists whose text tells any two values apart, arrays of any length included."""
    if isinstance(value, xr.DataArray):
        return [value.dims, _exactly(value.values), _exactly({name: c.values for name, c in value.coords.items()})]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return [[repr(name), _exactly(item)] for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [_exactly(item) for item in value]
    numbers = validate.beta_numbers("prior", value) if type(value).__name__ == "Beta" else value
    return numbers if isinstance(numbers, tuple) else repr(value)


def tell(model: Any, data: Any, prior: Any, options: dict[str, Any]) -> tuple[Told, dict[str, Any]]:
    """Split options into the story's own and those of the sampler.

    Parameters
    ----------
    model : str, story or pymc.Model
    data
        What the story takes; None for a program with data of its own.
    prior
        None for the story's default.
    options : dict

    Returns
    -------
    told : Told
    sample_options : dict
    """
    given = {} if prior is None else {"prior": prior}
    if hasattr(model, "free_RVs"):
        if given:
            raise ValueError("`prior` is part of a program of your own; change it there.")
        return Told("your own program", None, model, data, {}), options
    story = models.load(validate.choice("model", model, models.names())) if isinstance(model, str) else model
    if not hasattr(story, "model"):
        raise TypeError(
            f"`model` must be the name of a story ({', '.join(models.names())}), an object with a function `model`, "
            f"or a pymc.Model; got {type(model).__name__}."
        )
    defaults = {p.name: p.default for p in list(inspect.signature(story.model).parameters.values())[1:]}
    name = model if isinstance(model, str) else getattr(model, "__name__", type(model).__name__)
    if given and "prior" not in defaults:
        raise ValueError(f"`prior` isn't an option of {name}, which states its own.")
    own = {option: value for option, value in options.items() if option in defaults}
    rest = {option: value for option, value in options.items() if option not in defaults}
    return Told(name, story, None, data, defaults | given | own), rest


def _with_counts(program: Any, counts: Any) -> Any:
    """Give a program of the user's own these counts."""
    if [rv.name for rv in program.observed_RVs] != ["counts"]:
        raise ValueError(
            "`model` as a pymc.Model must observe one variable called 'counts'; "
            f"this one observes {[rv.name for rv in program.observed_RVs]}."
        )
    if counts is None:
        return program
    is_matrix = isinstance(counts, xr.DataArray) and set(MATRIX) <= set(counts.dims)
    values = np.asarray(flatten_cells(counts) if is_matrix else counts)
    have = np.asarray(program.rvs_to_values[program["counts"]].eval())
    values = values.reshape(have.shape) if values.size == have.size else values
    if values.shape != have.shape:
        raise ValueError(f"`counts` has the shape {values.shape}, and `model` observes {have.shape}.")
    data = {v.name: v for v in program.data_vars}
    if "counts_data" in data:
        data["counts_data"].set_value(values.astype(data["counts_data"].get_value().dtype))
    elif not np.array_equal(values, have):
        raise ValueError(
            "`counts` differs from what `model` observes, and that can't be replaced: observe a pm.Data called "
            "'counts_data', or build the model with these counts."
        )
    return program


def answer(
    told: Told,
    form: ClosedForm | None,
    *,
    method: str,
    prevalence: PrevalenceLike,
    metrics: MetricsLike,
    run: sampling.Run,
    prior_draws: int,
    replicate: bool,
    full: bool,
) -> dict[str, xr.Dataset]:
    """Return the groups of a posterior, by the closed form or by NUTS."""
    groups: dict[str, xr.Dataset] = {}
    if form is not None and method == "exact":
        posterior = _closed_draws(form.draw, run.seed, 0, run.chains, run.draws)
        groups["observed_data"] = form.observed.to_dataset(name=form.observed.name)
        if form.prior is not None:
            groups["prior"] = _closed_draws(form.prior, run.seed, PRIOR, 1, prior_draws)
        if replicate or full:
            groups |= workflow.from_program(told.build(), posterior, run.seed, prior_draws) | groups
    else:
        with told.lent() as program:
            patient = replace(run, options={"target_accept": TARGET_ACCEPT} | run.options)
            posterior, groups["sample_stats"] = sampling.sample(program, patient)
            sampling.check_fit(posterior, groups["sample_stats"])
            groups["observed_data"] = workflow.observed(program)
            groups["constant_data"] = workflow.constants(program)
            if replicate or full:
                groups |= workflow.from_program(program, posterior, run.seed, prior_draws)
    if not full:
        groups = {name: group for name, group in groups.items() if name not in ("log_likelihood", "log_prior")}
    groups["posterior"] = posterior
    averaged = None if form is None else form.averaged
    for group in {"posterior", "prior"} & set(groups):
        groups[group] = measured(groups[group], prevalence, metrics, averaged, run.seed)
    return groups | of_future(groups, metrics)


def _closed_draws(draw: Any, seed: int, stream: int, chains: int, draws: int) -> xr.Dataset:
    """Draw from a closed form, and give the draws the shape that ArviZ expects."""
    drawn: xr.Dataset = draw(conjugate.matrix_rng(seed, 0, stream), chains * draws)
    one_chain = drawn.transpose(SAMPLE, ...).rename({SAMPLE: DRAW}).expand_dims(CHAIN)
    return in_chains(one_chain, chains)


def measured(
    group: xr.Dataset, prevalence: PrevalenceLike, metrics: MetricsLike, averaged: str | None, seed: int
) -> xr.Dataset:
    """Add the metrics of theta to a group, at another prevalence if one is given."""
    if "theta" not in group:
        if metrics is not None or prevalence is not None:
            raise ValueError(
                "`metrics` and `prevalence` need a variable theta(..., actual, predicted), and this program has none; "
                "its posterior holds its own variables."
            )
        return group
    theta = group["theta"].transpose(CHAIN, DRAW, ..., *MATRIX)
    if prevalence is not None:
        theta = sampling.exchange_draws(theta, None, prevalence, conjugate.matrix_rng(seed, 0, SHARES))
        group = group.drop_vars([name for name in ("prevalence",) if name in group.data_vars])
    theta.attrs = {"long_name": "Probability of the cell", "units": "1"}
    values = with_metrics(theta, metrics)
    if averaged is not None:
        named = [name for name in values.data_vars if name != "theta"]
        values = values.assign(values[named].mean(averaged, keep_attrs=True))
    return group.assign(values)


def of_future(groups: dict[str, xr.Dataset], metrics: MetricsLike) -> dict[str, xr.Dataset]:
    """Return the metrics of future matrices, where a group holds some."""
    made = {}
    for group, name, source in (
        ("posterior_predictive", "replicate", "posterior"),
        ("prior_predictive", "prior_replicate", "prior"),
    ):
        if group in groups and "counts" in groups[group] and "theta" in groups[source]:
            matrix = matrix_of_cells(groups[group]["counts"], groups[source]["theta"])
            if matrix is not None:
                made[name] = evaluate(matrix, metrics)
    return made
