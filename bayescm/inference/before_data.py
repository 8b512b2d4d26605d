"""What a prior expects, drawn before there are data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.counts import from_array
from bayescm.data.schema import in_chains, labels_of
from bayescm.distributions import dirichlet
from bayescm.inference.learned import asked, of_learned
from bayescm.inference.posteriors import as_arviz, cells_of
from bayescm.metrics import MetricsLike, resolve
from bayescm.models import answers, fit, predictive
from bayescm.models.cell_draws import constants, prior_draws, replicates, with_metrics, with_variables
from bayescm.priors.concentrations import PrevalenceLike, concentrations, exchange, resolved_prior


def prior_predictive(
    metrics: MetricsLike = None,
    *,
    n_items: int,
    model: Any = "dirichlet_multinomial",
    prior: Any = None,
    prevalence: PrevalenceLike = None,
    labels: Sequence[Any] = (0, 1),
    chains: int = 4,
    draws: int = 1000,
    random_seed: int | np.random.Generator | None = None,
    **options: Any,
) -> xr.DataTree:
    """Draw what a prior expects of metrics and of a test set, before any data.

    Parameters
    ----------
    metrics
        As in :func:`bayescm.summary`.
    n_items : int
        Items of the test set.
    model, prior, prevalence, chains, draws, random_seed, **options
        As in :func:`bayescm.posterior`, of a model of one matrix; no ``prevalence="fixed"``, which needs counts.
    labels : sequence
        The classes; of two the last is positive.

    Returns
    -------
    xarray.DataTree
        ``prior``: ``theta(chain, draw, actual, predicted)`` and each metric of it. ``prior_predictive``:
        ``counts(chain, draw, cell)`` of test sets of `n_items` items. ``prior_replicate``: the metrics of these, NaN
        where a test set leaves one undefined. ``constant_data``: the prior's concentrations.

    Examples
    --------
    >>> import bayescm
    >>> recall = bayescm.priors.beta_from_interval(0.70, 0.95)
    >>> asked = {"model": "three_binomial", "prior": {"prevalence": (2, 8), "recall": recall, "specificity": "laplace"}}
    >>> dt = bayescm.inference.prior_predictive("precision", n_items=40, **asked, random_seed=1)
    >>> dt.prior_replicate.precision.quantile([0.05, 0.5, 0.95]).values.round(2)
    array([0.03, 0.3 , 0.9 ])
    """
    labels = validate.listed("labels", labels)
    counts = from_array(np.zeros((len(labels), len(labels)), np.int64), labels=labels)
    n_items, seed = validate.positive_integer("n_items", n_items), validate.seed(random_seed)
    chains, draws = validate.positive_integer("chains", chains), validate.positive_integer("draws", draws)
    model = fit.name_of(model, prior)
    name = model if isinstance(model, str) else getattr(model, "__name__", "your own")
    settings = {"model": name, "prevalence": prevalence, "size": n_items, "random_seed": seed}
    if not fit.is_conjugate(model):
        counts[0, 0] = n_items  # a program knows the number of items from its counts
        bound, rest = fit.bind(model, counts, prior, options)
        _refuse(rest, bound.name)
        with bound.compiled() as program:
            groups = predictive.before_data(program, seed, chains * draws)
        groups = {name: in_chains(group, chains) for name, group in groups.items()}
        groups["prior"] = answers.measured(groups["prior"], prevalence, metrics, None, seed, 1)
        groups |= answers.of_future(groups, metrics)
        return as_arviz(groups, settings | bound.arguments, "pymc")
    _refuse(options, name)
    prior = resolved_prior(prior)
    resolved = resolve(metrics, len(labels))
    if asked(model, prior):
        theta, told = cells_of(of_learned(counts, prevalence, chains * draws, seed), counts, chains, draws), {}
    else:
        base = concentrations(prior, model, labels_of(counts))
        if dirichlet.improper(exchange(base, prevalence)) is not None:
            raise ValueError("`prior` is improper, so nothing can be drawn before there are data; take 'jeffreys'.")
        theta = prior_draws(counts, base, prevalence, seed, chains, draws)
        told = {"constant_data": constants(base, counts, model)}
    future, metrics_of_future = replicates(theta, counts, resolved, None, seed, n_items)
    groups = {
        "prior": with_variables(with_metrics(theta, resolved), model),
        "prior_predictive": future,
        "prior_replicate": metrics_of_future,
    }  # fmt: skip
    return as_arviz(groups | told, settings | {"prior": prior}, "bayescm")


def _refuse(options: dict[str, Any], name: str) -> None:
    if options:
        raise TypeError(f"`{next(iter(options))}` isn't an option of {name}.")
