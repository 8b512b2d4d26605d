"""The door to every question: what somebody has becomes a posterior, whatever it is."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import strata, validate
from bayescm.data.counts import check_counts
from bayescm.data.schema import ONE_CLASS
from bayescm.inference.audits import beside, of_audits
from bayescm.inference.blocks import Posterior
from bayescm.inference.conjugate import of_counts
from bayescm.inference.posteriors import posterior
from bayescm.inference.right import ANSWERS, of_right
from bayescm.inference.sampled import of_answers, of_tree
from bayescm.models import fit, same_items
from bayescm.priors.concentrations import PrevalenceLike, PriorLike, resolved_prior


def read(
    data: Any,
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    samples: int = 40_000,
    random_seed: int | np.random.Generator | None = None,
    **options: Any,
) -> Posterior:
    """Return the posterior of data of any kind.

    Parameters
    ----------
    data : xarray.DataTree, xarray.DataArray, xarray.Dataset, dict or array_like
        Draws of a model; counts, those of :func:`bayescm.audited` too; answers to the same items; right
        and wrong answers of systems; their audits.
    model : str, story or pymc.Model
        Of counts any that :func:`bayescm.posterior` takes; those that aren't concentrations answer by its draws.
    prior, prevalence
        As in :func:`bayescm.summary`.
    samples, random_seed
        Of what has no exact distribution.
    **options
        As in :func:`bayescm.posterior`.

    Returns
    -------
    Posterior
    """
    n, seed, given = validate.draws(samples), validate.seed(random_seed), data
    if isinstance(data, xr.DataTree):
        if prior is not None or model != "dirichlet_multinomial" or options:
            raise ValueError("`prior`, `model` and their options are those of the draws already; leave them out.")
        return of_tree(data, prevalence, seed)
    if isinstance(data, dict):
        audits = [of_audits(one, resolved_prior(prior), prevalence, n, seed, i) for i, one in enumerate(data.values())]
        return beside(dict(zip(data, audits, strict=True)))
    if isinstance(data, xr.Dataset) and set(ANSWERS) & set(data.data_vars):
        return of_right(data, model, resolved_prior(prior), prevalence, n, seed)
    if same_items.answered_together(data):
        answers = same_items.patterns(data)
        if answers.runs > 1:
            if model != "dirichlet_multinomial":
                raise ValueError(f"`model` must be 'dirichlet_multinomial' for several runs of an item; got {model!r}.")
            return of_answers(answers, resolved_prior(prior), prevalence, n, seed)
        data = answers.labelled()
    one_class = {name: value for name, value in getattr(given, "attrs", {}).items() if name == ONE_CLASS}
    model = strata.of_data(data, fit.name_of(model, prior))
    if strata.is_audit(data) and not options:
        return of_audits(data, resolved_prior(prior), prevalence, n, seed)
    if fit.is_conjugate(model) and not options:
        return of_counts(check_counts(data).assign_attrs(one_class), model, resolved_prior(prior), prevalence, n, seed)
    drawn = posterior(data, model=model, prior=prior, random_seed=seed, **options)
    return of_tree(drawn, prevalence, seed)
