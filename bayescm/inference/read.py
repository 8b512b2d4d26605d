"""The door to every question: what somebody has becomes a posterior, whatever it is."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import strata, validate
from bayescm.data.counts import check_counts
from bayescm.data.schema import ONE_CLASS, RUN
from bayescm.data.shapes import is_reported
from bayescm.data.units import by_unit, check_average, without_units
from bayescm.inference.audits import beside, of_audits
from bayescm.inference.conjugate import of_counts
from bayescm.inference.fixed_units import FixedUnits
from bayescm.inference.labelled import Posterior
from bayescm.inference.learned import asked, of_learned
from bayescm.inference.options import DRAWS, number_of_draws
from bayescm.inference.passes import of_tasks
from bayescm.inference.posteriors import posterior
from bayescm.inference.reported import of_reported
from bayescm.inference.right import ANSWERS, of_right
from bayescm.inference.sampled import of_answers, of_tree, unchanged
from bayescm.inference.units import ByUnit, of_units, refuse_models
from bayescm.models import fit, same_items
from bayescm.priors.concentrations import MODELS, PrevalenceLike, PriorLike, resolved_prior

MODEL = "dirichlet_multinomial"


def read(data: Any, *, prevalence: PrevalenceLike = None, **how: Any) -> Posterior:
    """Return the posterior of data of any kind.

    Parameters
    ----------
    data, **how
        As in :func:`opened`.
    prevalence
        As in :func:`bayescm.summary`.

    Returns
    -------
    Posterior
    """
    return opened(data, **how)(prevalence)


def opened(
    data: Any,
    *,
    model: Any = MODEL,
    prior: PriorLike | None = None,
    draws: int | None = None,
    otherwise: int = DRAWS,
    chains: int = 4,
    random_seed: int | np.random.Generator | None = None,
    rebuilt: bool = True,
    average: str = "items",
    **options: Any,
) -> Callable[[PrevalenceLike], Posterior]:
    """Return the posterior of data of any kind at every prevalence: data are read, and fitted, once.

    Parameters
    ----------
    data : xarray.DataTree, xarray.DataArray, xarray.Dataset, dict or array_like
        Draws of a model; counts, those of :func:`bayescm.audited` too; answers to the same items; right
        and wrong answers of systems; their audits.
    model : str, module or pymc.Model
        Of counts any that :func:`bayescm.posterior` takes; those that aren't concentrations answer by its draws.
    prior
        As in :func:`bayescm.summary`.
    draws : int, optional
        Of what has no exact distribution: together, `otherwise` if it isn't said; of a sampler all `chains` together,
        1,000 each if it isn't said.
    rebuilt : bool
        Whether draws of a closed form that nobody changed stand for the counts that they came from.
    average : {"items", "units", "fixed_units"}
        Of data by unit.
    **options
        As in :func:`bayescm.posterior`.
    """
    n, seed = number_of_draws(draws, otherwise), validate.seed(random_seed)
    if isinstance(data, xr.DataTree):
        if prior is not None or model != MODEL or options:
            raise ValueError("`prior`, `model` and their options are those of the draws already; leave them out.")
        known = unchanged(data) if rebuilt else None
        if known is None:
            return lambda prevalence: of_tree(data, prevalence, seed)
        counts, model, prior, drawn_at = known
        return lambda prevalence: of_counts(
            counts, model, prior, drawn_at if prevalence is None else prevalence, n, seed
        )
    if (units := by_unit(data)) is not None:
        refuse_models(model, prior, **options)
        kind = FixedUnits if average == "fixed_units" else ByUnit
        return lambda prevalence: of_units(units, prevalence, average, None if draws is None else n, seed, kind)
    if check_average(average) != "items":
        raise ValueError(
            f"`average`={average!r} is for several items in each `unit` of sampling, which has to be named."
        )
    data = without_units(data)
    if is_reported(data) or (isinstance(data, dict) and data and all(map(is_reported, data.values()))):
        if not fit.is_conjugate(model) or options:
            raise ValueError(f"`model` must be one of {', '.join(MODELS)} for printed metrics, without more options.")
        return lambda prevalence: of_reported(data, model, resolved_prior(prior), prevalence, n, seed)
    if isinstance(data, dict) and data and all(map(strata.is_audit, data.values())):
        return partial(_of_audits, data, resolved_prior(prior), n, seed)
    if isinstance(data, xr.Dataset) and set(ANSWERS) & set(data.data_vars):
        return lambda prevalence: of_right(data, model, resolved_prior(prior), prevalence, n, seed)
    runs: xr.Dataset | None = None
    one_class = {name: value for name, value in getattr(data, "attrs", {}).items() if name == ONE_CLASS}
    if same_items.answered_together(data):
        answers, runs = same_items.patterns(data), data if RUN in data.dims else None
        if answers.runs > 1:
            if model != MODEL:
                raise ValueError(f"`model` must be {MODEL!r} for several runs of an item; got {model!r}.")
            return lambda prevalence: of_tasks(of_answers(answers, resolved_prior(prior), prevalence, n, seed), data)
        data = answers.labelled()
    model = strata.of_data(data, fit.name_of(model, prior))
    if fit.is_conjugate(model) and options.get("sampler") in ("auto", "exact"):
        options.pop("sampler")
    if strata.is_audit(data) and not options:
        return lambda prevalence: of_audits(data, resolved_prior(prior), prevalence, n, seed)
    if fit.is_conjugate(model) and not options:
        counts = check_counts(data).assign_attrs(one_class)
        if asked(model, prior):
            return lambda prevalence: of_learned(counts, prevalence, None if draws is None else n, seed)
        return lambda prevalence: of_tasks(of_counts(counts, model, resolved_prior(prior), prevalence, n, seed), runs)
    of_sampler: dict[str, Any] = {"chains": chains} | ({} if draws is None else {"draws": -(-n // chains)})
    drawn = posterior(data, model=model, prior=prior, random_seed=seed, **of_sampler, **options)
    return lambda prevalence: of_tree(drawn, prevalence, seed)


def _of_audits(
    audits: dict[str, xr.DataArray], prior: PriorLike, n: int, seed: int, prevalence: PrevalenceLike
) -> Posterior:
    """Return the posterior of one audit of each system."""
    each = [of_audits(one, prior, prevalence, n, seed, i) for i, one in enumerate(audits.values())]
    return beside(dict(zip(audits, each, strict=True)))
