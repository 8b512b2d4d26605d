"""Items that come in clusters: pixels in images, questions in documents (Dirichlet-multinomial).

What happens
    Items of one cluster are alike: an image is all bright or all dark, a document is easy or hard. So each cluster has
    cell probabilities of its own, scattered around those of the population, and a cluster of m items tells less than
    m items of m clusters. How alike two items of a cluster are is the intra-cluster correlation rho: 0 is the
    multinomial of independent items, 1 means that a cluster's items all fall into the same cell.

In symbols, for cluster c of N_c items, overdispersion="cells"
    theta    ~ Dirichlet(alpha)                  over the K x K cells
    rho      ~ Beta(1, 4)
    theta_c  ~ Dirichlet(s theta),               s = (1 - rho) / rho
    counts_c ~ Multinomial(N_c, theta_c)         together: DirichletMultinomial(N_c, s theta) (Mosimann 1962)

overdispersion="rates"
    Truth and answers may depend in different ways (Morais 2023 draws each from a chain of its own and leaves their
    inference as future work). A Dirichlet tree: each decision has a correlation of its own.
    class_shares ~ Dirichlet,  rates_i ~ Dirichlet,  theta_ij = class_shares_i rates_ij
    rho          ~ Beta(1, 4), one of the class shares and one of each class's rates
    class totals of c | N_c          ~ DirichletMultinomial(N_c, s_0 class_shares)
    row i of c       | its total     ~ DirichletMultinomial(total, s_i rates_i)
    The correlation of a class's rates is that of two items of this class in one cluster.

    theta is the mean of the clusters' probabilities: that of an item of a new cluster. The more alike the items of a
    cluster are, the more every cluster counts the same, whatever its size; so the model assumes that size has nothing
    to do with the rates.

The design effect (Kish 1965; Eldridge, Ashby and Kerry 2006 for clusters of unequal size)
    Var(n_cj) = N_c p_j (1 - p_j) (1 + (N_c - 1) rho), and clusters are independent, so that of the pooled share is
    Var(sum_c n_cj / N) = p_j (1 - p_j) / N * D,   D = 1 + (m_w - 1) rho,   m_w = sum_c N_c^2 / sum_c N_c:
    the mean cluster size weighted by size (m_w = mean (1 + cv^2)). N / D independent items tell as much: the
    effective number of items. For a class's rates N_c is its total in the cluster, and D holds given these totals.

Priors
    Concentrations as under dirichlet_multinomial ("cells") and three_binomial ("rates"). Beta(1, 4) of rho is largest
    at independence and finite there, has half its mass below 0.16 and 6% above 0.5: it lets data say that items are
    independent, and holds the correlations of the field (some 0.01 to 0.2 in cluster-randomised trials, more between
    pixels). With few clusters it matters: try others by `rho_prior`.

Mosimann 1962, Biometrika 49:65; Kish 1965, Survey Sampling; Eldridge, Ashby and Kerry 2006, International Journal of
Epidemiology 35:1292.

Run ``python models/overdispersed.py`` to see chains of dependent items in three ways.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import from_array
from bayescm.data.schema import ACTUAL, MATRIX, PREDICTED, flatten_cells, labels_of
from bayescm.models.blocks import dirichlet_variable, items_of, proper
from bayescm.models.covariates import several_matrices
from bayescm.priors.concentrations import DEFAULT_PRIOR, PriorLike, concentrations

Array = NDArray[np.float64]

CLUSTER, PART = "cluster", "part"
OVERDISPERSIONS = ("cells", "rates")
PROGRAM = {"cells": "dirichlet_multinomial", "rates": "three_binomial"}
RHO_PRIOR = (1.0, 4.0)
_TAKEN = (PART, "theta_cell", "class_shares", "rates", "rho", "design_effect", "effective_items", "alpha", "a_shares",
          "a_rows", "counts_data")  # fmt: skip


def model(
    counts: Any, *, prior: PriorLike = DEFAULT_PRIOR, overdispersion: str = "cells", rho_prior: Any = RHO_PRIOR
) -> pm.Model:
    """Return the model as a PyMC model of several matrices.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (clusters, K, K)
        ``counts(<cluster>, actual, predicted)``: one dim of any name beside the two of a matrix.
    prior : str, number, array_like of shape (K, K) or mapping
        See :func:`bayescm.priors.concentrations.concentrations`, as under ``dirichlet_multinomial`` for "cells"
        and as under ``three_binomial`` for "rates".
    overdispersion : {"cells", "rates"}
        One correlation of all cells, or one of the class shares and one of each class's rates.
    rho_prior : pair of numbers or PreliZ Beta
        The two numbers of the Beta of each correlation.

    Returns
    -------
    pymc.Model
        ``theta(actual, predicted)``, ``rho``, ``design_effect``, ``effective_items``, the last three over ``part``
        for "rates", and with it ``class_shares(actual)`` and ``rates(actual, predicted)``; the observed
        ``counts(<cluster>, cell)``; data ``counts_data`` and the concentrations.
    """
    counts, cluster = several_matrices(counts, _TAKEN)
    rho_a, rho_b = _rho_prior(rho_prior)
    validate.choice("overdispersion", overdispersion, OVERDISPERSIONS)
    base = proper(concentrations(prior, PROGRAM[overdispersion], labels_of(counts)))
    part = PART if overdispersion == "rates" else None
    observed = flatten_cells(counts)
    k = counts.sizes[ACTUAL]
    labels = counts[ACTUAL].values
    coords = {cluster: counts[cluster].values, ACTUAL: labels, PREDICTED: labels, "cell": observed["cell"].values}
    with pm.Model(coords=coords | ({PART: parts(labels_of(counts))} if part else {})) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=(cluster, "cell"))
        items = items_of(counts_data)
        rho = pm.Beta("rho", rho_a, rho_b, dims=part)
        dist: dict[str, Any] = {"observed": counts_data, "dims": (cluster, "cell"), "dtype": "int64"}
        if part is None:
            theta_cell = dirichlet_variable(
                "theta_cell", a=pm.Data("alpha", base.rows.ravel(), dims="cell"), dims="cell"
            )
            theta, sizes = theta_cell.reshape((k, k)), items
            dist |= {"logp": _logp, "random": _draw, "signature": "(),(c),()->(c)"}
            pm.CustomDist("counts", items, theta_cell, rho, **dist)
        else:
            shares = dirichlet_variable("class_shares", a=pm.Data("a_shares", base.shares, dims=ACTUAL), dims=ACTUAL)
            rates = dirichlet_variable("rates", a=pm.Data("a_rows", base.rows, dims=MATRIX), dims=MATRIX)
            totals = counts_data.reshape((-1, k, k)).sum(-1)
            theta, sizes = shares[:, None] * rates, pm.math.concatenate([items[:, None], totals], axis=1)
            dist |= {"logp": _tree_logp, "random": _draw_tree, "signature": "(),(k),(c),(p)->(c)"}
            pm.CustomDist("counts", items, shares, rates.ravel(), rho, **dist)
        pm.Deterministic("theta", theta, dims=MATRIX)
        effect, effective = _design(sizes.astype("float64"), rho)
        pm.Deterministic("design_effect", effect, dims=part)
        pm.Deterministic("effective_items", effective, dims=part)
    return program


def _design(sizes: Any, rho: Any) -> tuple[Any, Any]:
    """Return the design effect and the effective number of items of cluster sizes (clusters, ...)."""
    n = sizes.sum(0)
    weighted = (sizes**2).sum(0) / pt.maximum(n, 1)
    effect = 1 + (pt.maximum(weighted, 1) - 1) * rho
    return effect, n / effect


def simulate(
    rng: np.random.Generator,
    clusters: int = 20,
    size: int | Sequence[int] = 50,
    *,
    prior: PriorLike = DEFAULT_PRIOR,
    overdispersion: str = "cells",
    rho_prior: Any = RHO_PRIOR,
    n_labels: int = 2,
) -> xr.Dataset:
    """Draw a truth from the prior and the clusters' matrices from the truth.

    Parameters
    ----------
    rng : numpy.random.Generator
    clusters : int
    size : int or sequence of length `clusters`
        Items of each cluster.
    prior, overdispersion, rho_prior
        As in :func:`model`.
    n_labels : int

    Returns
    -------
    xarray.Dataset
        ``counts(cluster, actual, predicted)``, and the truth under the names of the program.
    """
    tree = validate.choice("overdispersion", overdispersion, OVERDISPERSIONS) == "rates"
    base = proper(concentrations(prior, PROGRAM[overdispersion], n_labels))
    items = np.broadcast_to(np.asarray(size, np.int64), validate.positive_integer("clusters", clusters))
    a, b = _rho_prior(rho_prior)
    rho = rng.beta(a, b, n_labels + 1 if tree else 1)
    truth: dict[str, Any]
    if tree:
        shares, rates = rng.dirichlet(base.shares), np.stack([rng.dirichlet(row) for row in base.rows])
        theta = shares[:, None] * rates
        counts = _draw_tree(items, shares, rates.ravel(), rho, rng=rng)
        truth = {"class_shares": (ACTUAL, shares), "rates": (MATRIX, rates), "rho": (PART, rho)}
    else:
        theta = rng.dirichlet(base.rows.ravel()).reshape(base.rows.shape)
        counts = _draw(items, theta.ravel(), rho, rng=rng)
        truth = {"rho": rho[0]}
    table = from_array(counts.reshape((-1, *theta.shape)), dims=CLUSTER)
    coords = {PART: parts(labels_of(table))} if tree else {}
    return xr.Dataset({"counts": table, "theta": (MATRIX, theta), **truth}, coords=coords)


def parts(labels: Sequence[Any]) -> list[str]:
    """Name the decisions that have a correlation of their own: the classes, then the rates of each class."""
    rates = ["specificity", "recall"] if len(labels) == 2 else [f"rates[{label}]" for label in labels]
    return ["prevalence", *rates]


def _rho_prior(given: Any) -> tuple[float, float]:
    """Return the two numbers of the Beta of a correlation."""
    numbers = np.asarray(validate.beta_numbers("rho_prior", given))
    if numbers.dtype.kind not in "iuf" or numbers.shape != (2,) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(f"`rho_prior` must be the two positive numbers of a Beta, such as (1, 4); got {given!r}.")
    return float(numbers[0]), float(numbers[1])


# ---- the distribution: its logarithm (PyTensor) and its draws (NumPy)

_LARGE = 20.0
"""From here on Stirling's series is right to 1e-12."""
_LEAST_RHO = 1e-15
"""A correlation this near to 0 or 1 gives the limit to all digits."""


def log_rising(x: Any, n: Any) -> Any:
    """Return log Gamma(x + n) - log Gamma(x), losing no digits where x is large: there it goes to n log x.

    The plain difference loses all of them as rho goes to 0 and x = s theta to infinity.
    """
    far = pt.maximum(x, _LARGE)
    end = far + n
    series = n * pt.log(far) + (end - 0.5) * pt.log1p(n / far) - n
    series += (1 / end - 1 / far) / 12 - (end**-3 - far**-3) / 360 + (end**-5 - far**-5) / 1260
    near = pt.clip(x, 1e-300, _LARGE)
    return pt.switch(x >= _LARGE, series, pt.gammaln(near + n) - pt.gammaln(near))


def _logp(value: Any, items: Any, mean: Any, rho: Any) -> Any:
    """Return log DirichletMultinomial(items, s mean) of counts (..., cell)."""
    rho = pt.clip(rho, _LEAST_RHO, 1 - _LEAST_RHO)
    s = (1 - rho) / rho
    ways = pt.gammaln(items + 1) - pt.gammaln(value + 1).sum(-1)
    logp = ways + log_rising(s[..., None] * mean, value).sum(-1) - log_rising(s, items)
    return pt.switch(pt.eq(value.sum(-1), items), logp, -np.inf)


def _tree_logp(value: Any, items: Any, shares: Any, rates: Any, rho: Any) -> Any:
    """Return the log probability of the class totals plus that of each row given its total."""
    k = shares.shape[-1]
    rows = value.reshape((-1, k, k))
    totals = rows.sum(-1)
    of_each: Any = pt.broadcast_to(rates, value.shape)
    within = _logp(rows, totals, of_each.reshape((-1, k, k)), rho[..., 1:]).sum(-1)
    return _logp(totals, items, shares, rho[..., 0]) + within


def _draw(
    items: NDArray[np.int64], mean: Array, rho: Any, rng: np.random.Generator, size: Any = None
) -> NDArray[np.int64]:
    """Draw counts (..., cell): one Dirichlet-multinomial for each number of items."""
    rho = np.clip(rho, _LEAST_RHO, 1 - _LEAST_RHO)
    concentration = np.maximum(((1 - rho) / rho)[..., None] * mean, 1e-300)
    concentration = np.broadcast_to(concentration, (*items.shape, mean.shape[-1]))
    counts = np.empty(concentration.shape, np.int64)
    for at in np.ndindex(items.shape):
        counts[at] = rng.multinomial(items[at], rng.dirichlet(concentration[at]))
    return counts


def _draw_tree(
    items: NDArray[np.int64], shares: Array, rates: Array, rho: Array, rng: np.random.Generator, size: Any = None
) -> NDArray[np.int64]:
    """Draw class totals, then each row given its total: counts (..., cell)."""
    k = shares.shape[-1]
    totals = _draw(items, shares, rho[..., 0], rng)
    rows = _draw(totals, rates.reshape((*rates.shape[:-1], k, k)), rho[..., 1:], rng)
    return rows.reshape((*items.shape, k * k))


# ---- the thesis' dependent items


def markov_transition(
    *, prevalence: float, persistence: float, recall: float, specificity: float, stickiness: float
) -> Array:
    """Return the transition matrix (4, 4) of the chain of :func:`simulate_markov` over the cells `tn fp fn tp`."""
    recall = validate.number("recall", recall, 0, 1, closed=True)
    specificity = validate.number("specificity", specificity, 0, 1, closed=True)
    stickiness = validate.number("stickiness", stickiness, 0, 1, closed=True)
    share = validate.number("prevalence", prevalence, 0, 1)
    least = -min(share / (1 - share), (1 - share) / share)
    if validate.number("persistence", persistence, -1, 1) < least:
        raise ValueError(f"`persistence` must be at least {least:g} at this prevalence; got {persistence!r}.")
    stationary = np.array([1 - share, share])
    truth = persistence * np.eye(2) + (1 - persistence) * stationary
    fresh = np.array([[specificity, 1 - specificity], [1 - recall, recall]])
    answer = np.broadcast_to(fresh[None, None], (2, 2, 2, 2)).copy()  # truth before, answer before, truth, answer
    for same in (0, 1):
        answer[same, :, same] = stickiness * np.eye(2) + (1 - stickiness) * fresh[same]
    transition: Array = (truth[:, None, :, None] * answer).reshape(4, 4)
    return transition


def stationary_dist(transition: Array) -> Array:
    """Return the one distribution (n,) that a transition matrix (n, n) leaves as it is."""
    n = len(transition)
    system = np.vstack([transition.T - np.eye(n), np.ones(n)])
    dist: Array = np.linalg.lstsq(system, np.append(np.zeros(n), 1), rcond=None)[0]
    return dist


def simulate_markov(
    rng: np.random.Generator,
    clusters: int = 20,
    size: int = 50,
    *,
    prevalence: float = 0.3,
    persistence: float = 0.5,
    recall: float = 0.8,
    specificity: float = 0.9,
    stickiness: float = 0.5,
) -> xr.Dataset:
    """Draw clusters of dependent items, each a chain (Morais 2023, conclusion).

    The truth of an item is that of the one before with probability `persistence`, else drawn anew: the thesis' chain,
    which repeats with probability p, else takes the opposite, is prevalence 1/2 and persistence 2 p - 1. Where the
    truth is that of the item before, the answer too is that before with probability `stickiness`, else drawn anew
    given the truth. So `prevalence`, `recall` and `specificity` are those of every item of the chain, whose first
    item follows the stationary distribution.

    Parameters
    ----------
    rng : numpy.random.Generator
    clusters, size : int
        Number of chains, and items of each.
    prevalence, recall, specificity : float
        Of the stationary distribution.
    persistence : float
        Correlation of neighbours' truths; negative if they alternate.
    stickiness : float

    Returns
    -------
    xarray.Dataset
        ``counts(cluster, actual, predicted)``, and ``theta(actual, predicted)``, the stationary distribution, solved
        for from the transition matrix.
    """
    clusters, size = validate.positive_integer("clusters", clusters), validate.positive_integer("size", size)
    transition = markov_transition(
        prevalence=prevalence, persistence=persistence, recall=recall, specificity=specificity, stickiness=stickiness
    )
    theta = stationary_dist(transition)
    counts = np.zeros((clusters, 4), np.int64)
    dist = np.broadcast_to(theta, (clusters, 4))
    for _ in range(size):
        cell = (rng.random((clusters, 1)) > dist.cumsum(-1)[:, :-1]).sum(-1)
        counts[np.arange(clusters), cell] += 1
        dist = transition[cell]
    table = from_array(counts.reshape(-1, 2, 2), dims=CLUSTER)
    return xr.Dataset({"counts": table, "theta": (MATRIX, theta.reshape(2, 2))})


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = simulate_markov(np.random.default_rng(1), persistence=0.9, stickiness=0.9)["counts"]
    metrics = ["prevalence", "recall", "specificity"]
    print("as if independent", bayescm.summary(table.sum(CLUSTER), metrics)["interval"].to_pandas(), sep="\n")
    for overdispersion in OVERDISPERSIONS:
        fit = bayescm.posterior(
            table, model="overdispersed", overdispersion=overdispersion, metrics=metrics, random_seed=1
        )
        shown = [*metrics, "rho", "design_effect", "effective_items"]
        print(overdispersion, az.summary(fit, var_names=shown, ci_prob=0.95, ci_kind="eti"), sep="\n")
