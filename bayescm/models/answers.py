"""Answers of the models that are more than one conjugate matrix, and of programs of the user's own."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ACTUAL, CHAIN, DRAW, MATRIX, in_chains, matrix_of_cells
from bayescm.metrics import MetricsLike, evaluate, resolve
from bayescm.models import nuts, predictive, samplers
from bayescm.models.cell_draws import PRIOR_DRAWS, with_metrics
from bayescm.models.closed_form import SAMPLE, ClosedForm
from bayescm.models.fit import BoundModel
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, exchange

NO_THETA = (
    "`metrics` and `prevalence` need a variable theta(..., actual, predicted), and this program has none; "
    "its posterior holds its own variables."
)


def answer(
    bound: BoundModel,
    form: ClosedForm | None,
    *,
    exact: bool,
    prevalence: PrevalenceLike,
    metrics: MetricsLike,
    run: nuts.Run,
    replicate: bool,
    full: bool,
) -> dict[str, xr.Dataset]:
    """Return the groups of a posterior: by the closed form or by a sampler."""
    if prevalence is not None and (replicate or full):
        raise ValueError(
            "`prevalence` can't go with `replicate` or `workflow` here: they are of the observed population."
        )
    groups: dict[str, xr.Dataset] = {}
    if form is not None and exact:
        if ACTUAL in getattr(bound.data, "dims", ()):
            _check_options(bound.data.sizes[ACTUAL], metrics, prevalence)
        posterior = _closed_draws(form.draw, run.seed, Stream.POSTERIOR, run.chains, run.draws)
        groups["observed_data"] = form.observed.to_dataset(name=form.observed.name)
        if form.prior is not None:
            if form.has_program:
                groups["constant_data"] = predictive.constants(bound.build())
            groups["prior"] = _closed_draws(form.prior, run.seed, Stream.PRIOR, 1, PRIOR_DRAWS)
        if form.constants is not None:
            groups["constant_data"] = groups.get("constant_data", xr.Dataset()).assign(form.constants)
        if replicate or full:
            groups = _further(bound.build(), posterior, run.seed, full) | groups
    else:
        with bound.compiled() as program:
            has_theta = "theta" in program.named_vars
            _check_options(len(program.coords[ACTUAL]) if has_theta else None, metrics, prevalence)
            groups = samplers.draw(program, run)
            posterior = groups["posterior"]
            groups["observed_data"] = predictive.observed(program)
            groups["constant_data"] = predictive.constants(program)
            if replicate or full:
                groups |= _further(program, posterior, run.seed, full)
    groups["posterior"] = posterior
    averaged = None if form is None else form.averaged
    for stream, group in enumerate(("posterior", "prior")):
        if group in groups:
            groups[group] = measured(groups[group], prevalence, metrics, averaged, run.seed, stream)
    return groups | of_future(groups, metrics)


def _further(program: Any, posterior: xr.Dataset, seed: int, full: bool) -> dict[str, xr.Dataset]:
    """Return future data, and all other groups of a workflow if it is to be full."""
    if full:
        return predictive.from_program(program, posterior, seed, PRIOR_DRAWS)
    return predictive.predictive(program, posterior, seed)


def _check_options(k: int | None, metrics: MetricsLike, prevalence: PrevalenceLike) -> None:
    """Refuse what can't be computed of `theta` with k labels, or without it, before it takes time."""
    if k is not None:
        resolve(metrics, k)
        exchange(Concentrations(np.ones((k, k)), np.ones(k)), prevalence)
    elif metrics is not None or prevalence is not None:
        raise ValueError(NO_THETA)


def _closed_draws(draw: Any, seed: int, stream: int, chains: int, draws: int) -> xr.Dataset:
    """Draw from a closed form, and give the draws the shape that ArviZ expects."""
    drawn: xr.Dataset = draw(matrix_rng(seed, 0, stream), chains * draws)
    one_chain = drawn.transpose(SAMPLE, ...).rename({SAMPLE: DRAW}).expand_dims(CHAIN)
    return in_chains(one_chain, chains)


def measured(
    group: xr.Dataset, prevalence: PrevalenceLike, metrics: MetricsLike, averaged: str | None, seed: int, stream: int
) -> xr.Dataset:
    """Add the metrics of theta to a group; at another prevalence they and theta are all that is left of it."""
    if "theta" not in group:
        if metrics is not None or prevalence is not None:
            raise ValueError(NO_THETA)
        return group
    theta = group["theta"].transpose(CHAIN, DRAW, ..., *MATRIX)
    if prevalence is not None:
        theta = nuts.exchange_draws(theta, None, prevalence, matrix_rng(seed, stream, Stream.SHARES))
        group = group[["theta"]]
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
