"""summary(): point, mean, median, sd and interval of every metric."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.inputs import takes_runs
from bayescm.data.schema import METRIC, RATERS, attributes
from bayescm.data.words import CiKind
from bayescm.inference import tables
from bayescm.inference.blocks import Block
from bayescm.inference.labelled import Posterior
from bayescm.inference.options import ModelOptions, number_of_draws
from bayescm.inference.read import read
from bayescm.metrics import OF_RATERS, MetricsLike, coordinates, resolve
from bayescm.priors.concentrations import PrevalenceLike, PriorLike
from bayescm.results.objects import stamped

Array = NDArray[np.float64]


@stamped
@takes_runs
def summary(
    counts: Any,
    metrics: MetricsLike = None,
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
) -> xr.Dataset:
    """Summarise the posterior of every metric.

    Parameters
    ----------
    counts : xarray.DataArray, array_like or whatever :func:`bayescm.read` takes
        ``counts(..., actual, predicted)``, also lazy; two lists of labels, tables, logs; an audit
        (:func:`bayescm.audited`: the answer is for all items); answers kept one by one (:func:`bayescm.predictions`:
        each system's own, several runs of an item count once); or draws, such as those of :func:`bayescm.posterior`
        or of any PyMC program. Right and wrong answers alone have an accuracy and an error rate.
    metrics : str, callable, sequence or mapping, optional
        Names (``"mcc"``, ``"f1_macro"``, ``"fbeta(beta=2)"``), functions of the cells (any of ``tp, fn, fp, tn``, or
        one array of shape (..., K, K)), or a mapping of new names to these. Default: the usual ones.
    model : str, module or pymc.Model
        "dirichlet_multinomial", one Dirichlet over all cells; "three_binomial", separate priors for the prevalence and
        for each class's rates; or any other that :func:`bayescm.posterior` takes, answered by its draws.
    prior : str, number, array_like or mapping
        See :func:`bayescm.priors.concentrations.concentrations`.
    prevalence : None, "fixed", number or sequence
        Estimated; fixed by design at the observed shares; exchanged for a number, for a Beta given by its two numbers,
        positives first, or for K shares.
    ci_prob, ci_kind : float, {"eti", "hdi"}
        Of the interval: equal tails or highest density. Where the density has no single peak it is "eti".
    draws : int, optional
        How many, 40,000 by default, for metrics without an exact distribution, such as most averages over classes; of
        a model that is sampled all chains together (by default 4 of 1,000).
    random_seed : int, numpy.random.Generator or None
        Of those draws. Each position of a batch has a stream of its own.
    **options
        Of another `model`, and of its sampler, as in :func:`bayescm.posterior`.

    Returns
    -------
    xarray.Dataset
        Over ``(..., metric)``: ``point`` (of the counts, at the exchanged prevalence if there is one; NaN where it is
        0/0), ``mean``, ``median``, ``sd``, ``interval(ci_bound)``, ``width`` (length of the interval),
        ``mcse_mean`` and ``mcse_interval`` (0 where exact), ``error`` (estimated relative error of the probabilities
        behind an exact interval), ``ci_kind`` and ``method`` ("exact", "draws" or, close to exact, "numerical"). For
        more than two labels a metric per class appears as ``recall[a]``, with the coordinate ``class_label``. The attr
        ``no_items`` names classes without items and the metrics that take in their recall, which is the prior's.

    Raises
    ------
    ValueError
        For negative or unreadable counts, an unknown metric, model or prior, a prior that leaves the posterior
        improper, or a ``ci_prob`` outside (0, 1).

    Notes
    -----
    For two labels every metric of the table is exact: a closed form, or one or two integrals of one
    (:func:`bayescm.metric_distribution`). A mean that doesn't exist is infinite: the mean of a likelihood ratio needs a
    concentration above 1 in its denominator's cell.

    References
    ----------
    Caelen 2017, eq. 6; Toetsch and Hoffmann 2021, eqs 8 to 11 and "Metric uncertainty equals credible interval
    length".

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> s = bayescm.summary(counts, ["recall", "specificity"], model="three_binomial", prior="laplace")
    >>> s.interval.values.round(2)
    array([[0.87, 1.  ],
           [0.4 , 0.93]])
    """
    seed = validate.seed(random_seed)
    posterior = read(counts, model=model, prior=prior, prevalence=prevalence, draws=draws, random_seed=seed, **options)
    return of_posterior(posterior, metrics, ci_prob, ci_kind, {"draws": number_of_draws(draws), "random_seed": seed})


def of_posterior(
    posterior: Posterior, metrics: MetricsLike, ci_prob: float, ci_kind: str, drawn: Mapping[str, Any]
) -> xr.Dataset:
    """Summarise metrics; `drawn` are attrs of what takes draws."""
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    kind = validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    resolved = resolve(
        OF_RATERS if metrics is None and RATERS in posterior.settings else metrics, len(posterior.labels)
    )
    coords = coordinates(resolved, posterior.labels)
    width = len(coords[METRIC])

    def kernel(block: Block) -> Array:
        block.check(resolved)
        return tables.rows(block.statistics(resolved, prob, kind), resolved, block.points(resolved), block.shape)

    table = posterior.map(kernel, {METRIC: width, "statistic": len(tables.STATISTICS)})

    def methods(block: Block) -> list[str]:
        known = [block.closed if known else "draws" for known in block.are_known(resolved)]
        return list(tables.by_row(known, resolved, block.k))

    attrs = attributes(
        **dict(drawn) | dict(posterior.settings) | {"ci_prob": prob, "ci_kind": kind} | posterior.notes(resolved, prob)
    )
    return tables.dataset(table, coords, posterior.by_structure(methods, METRIC), prob, kind, attrs)
