"""Studies of calibration: coverage of the intervals, and PIT values of the stories."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import conjugate, laws, models, validate
from bayescm.counts import from_array
from bayescm.metrics import MetricsLike, compute, per_label, resolve
from bayescm.priors import PriorLike, concentrations
from bayescm.results import LABEL, METRIC, attributes, tree
from bayescm.summaries import summary

Array = NDArray[np.float64]


def confusion_probabilities(k: int, *, accuracy: float, skew: float = 1.0) -> Array:
    """Return a truth for studies: cell probabilities of a plausible classifier.

    Parameters
    ----------
    k : int
        Number of classes.
    accuracy : float
        Recall of every class.
    skew : float
        Ratio of the largest to the smallest class share; shares fall geometrically.

    Returns
    -------
    ndarray of shape (k, k)
        Half of each class's errors go to the next class, the others evenly to the rest.

    Examples
    --------
    >>> from bayescm.calibration import confusion_probabilities
    >>> confusion_probabilities(2, accuracy=0.9, skew=3).round(3)
    array([[0.675, 0.075],
           [0.025, 0.225]])
    """
    shares = skew ** -np.linspace(0.0, 1.0, k)
    errors = np.ones((k, k)) - np.eye(k)
    errors[np.arange(k), (np.arange(k) + 1) % k] += max(k - 2, 0)
    rows = accuracy * np.eye(k) + (1 - accuracy) * errors / errors.sum(1, keepdims=True)
    return np.asarray(shares[:, None] / shares.sum() * rows)


def coverage(
    theta: Any,
    n: int,
    metrics: MetricsLike = ("recall", "precision", "accuracy", "f1_macro"),
    *,
    model: str = "dirichlet_multinomial",
    prior: PriorLike = "jeffreys",
    ci_prob: float = 0.95,
    ci_kind: str = "hdi",
    repeats: int = 400,
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Count how often the intervals of :func:`bayescm.summary` hold the truth over repeated test sets.

    Parameters
    ----------
    theta : array_like of shape (K, K)
        True cell probabilities.
    n : int
        Items of each test set.
    metrics, model, prior, ci_prob, ci_kind, draws
        As in :func:`bayescm.summary`.
    repeats : int
        Number of test sets.
    random_seed : int, numpy.random.Generator or None

    Returns
    -------
    xarray.Dataset
        Over ``metric``: ``truth``, ``coverage``, ``mcse`` (its standard error) and ``length`` (mean of the intervals).
        attr ``refused``: the share of test sets that an improper prior can't answer and that are left out.

    Examples
    --------
    >>> from bayescm.calibration import confusion_probabilities, coverage
    >>> theta = confusion_probabilities(2, accuracy=0.9)
    >>> c = coverage(theta, 100, ["recall"], repeats=500, random_seed=1)
    >>> bool(c.coverage > 0.9)
    True
    """
    truth = from_probabilities(theta)
    k = truth.shape[0]
    seed = validate.seed(random_seed)
    rng = np.random.default_rng(seed)
    tables = rng.multinomial(validate.positive_integer("n", n), truth.ravel(), size=repeats).reshape(-1, k, k)
    base = concentrations(prior, model, k)
    bad = conjugate.improper(conjugate.posterior(tables, base))
    answered = np.ones(repeats, bool) if bad is None else ~bad.any((-2, -1))
    resolved = resolve(metrics, k)
    values = compute(resolved, truth)
    true = np.concatenate([np.atleast_1d(v) for v in values])
    attrs = attributes(
        model=model, prior=prior, ci_prob=ci_prob, ci_kind=ci_kind, n=n, repeats=repeats, random_seed=seed,
        refused=float(1 - answered.mean()),
    )  # fmt: skip
    names = [
        f"{m.name}[{i}]" if per_label(m, k) else m.name for m in resolved for i in range(k if per_label(m, k) else 1)
    ]
    if not answered.any():
        nothing = (METRIC, np.full(len(names), np.nan))
        empty = {"truth": (METRIC, true), "coverage": nothing, "mcse": nothing, "length": nothing}
        return xr.Dataset(empty, coords={METRIC: names}, attrs=attrs)
    s = summary(
        from_array(tables[answered], dims="repeat"), resolved, model=model, prior=prior, ci_prob=ci_prob,
        ci_kind=ci_kind, draws=draws, random_seed=seed,
    )  # fmt: skip
    inside = (s["interval"].isel(ci_bound=0) <= true) & (true <= s["interval"].isel(ci_bound=1))
    share = inside.mean("repeat")
    return xr.Dataset(
        {
            "truth": (METRIC, true),
            "coverage": share,
            "mcse": np.sqrt(share * (1 - share) / answered.sum()),
            "length": s["metric_uncertainty"].mean("repeat"),
        },
        attrs=attrs,
    )


def from_probabilities(theta: Any) -> Array:
    """Return valid cell probabilities as an array."""
    values = np.asarray(theta, dtype=np.float64)
    if (
        values.ndim != 2
        or values.shape[0] != values.shape[1]
        or not np.isclose(values.sum(), 1.0)
        or (values < 0).any()
    ):
        raise ValueError("`theta` must be a square array of probabilities that add up to 1.")
    return np.asarray(values / values.sum())


def pit(
    story: str,
    metrics: MetricsLike = None,
    *,
    n: int = 50,
    n_labels: int = 2,
    prior: PriorLike = "laplace",
    fit_prior: PriorLike | None = None,
    simulations: int = 500,
    draws: int = 999,
    random_seed: int | np.random.Generator | None = None,
) -> xr.DataTree:
    """Simulate truths and tables from a story and locate each truth in its posterior.

    Parameters
    ----------
    story : str
        A name of :func:`bayescm.models.names`.
    metrics
        As in :func:`bayescm.summary`.
    n : int
        Items of each simulated test set.
    n_labels : int
    prior : str, number, array_like or mapping
        Of the simulation; proper.
    fit_prior : optional
        Of the fit, if it is to differ (to see that a wrong one is caught).
    simulations, draws : int
        Number of truths, and of posterior draws for metrics without an exact law.
    random_seed : int, numpy.random.Generator or None

    Returns
    -------
    xarray.DataTree
        Group ``prior_sbc``: PIT values over ``(chain=1, draw=simulations)``, uniform if the story's posterior is right;
        ``az.plot_ecdf_pit`` reads it. Exact where there is a law, else randomised ranks.

    References
    ----------
    Talts et al. 2018; Saeilynoja, Buerkner and Vehtari 2022.
    """
    told = models.load(story)
    seed = validate.seed(random_seed)
    rng = np.random.default_rng(seed)
    simulated = [told.simulate(rng, n, prior=prior, n_labels=n_labels) for _ in range(simulations)]
    counts = np.stack([s["counts"].values for s in simulated])
    theta = np.stack([s["theta"].values for s in simulated])
    resolved = resolve(metrics, n_labels)
    base = concentrations(prior if fit_prior is None else fit_prior, story, n_labels)
    posterior = conjugate.posterior(counts, base)
    truths = compute(resolved, theta)
    drawn = conjugate.draw_batch(posterior, np.arange(simulations), 1, draws, seed, 9)[:, 0]
    variables: dict[str, Any] = {}
    for metric, truth in zip(resolved, truths, strict=True):
        law = laws.exact_law(metric, posterior)
        if law is not None:
            values = law.cdf(truth)
        else:
            below = (compute([metric], drawn)[0] < truth[:, None]).sum(1)
            values = (below + rng.uniform(size=below.shape)) / (draws + 1)
        dims: Sequence[str] = ("chain", "draw", *((LABEL,) if per_label(metric, n_labels) else ()))
        variables[metric.name] = (dims, values[None])
    coords = {"chain": [0], "draw": np.arange(simulations)}
    group = xr.Dataset(variables, coords=coords)
    if LABEL in group.dims:
        group = group.assign_coords({LABEL: np.arange(n_labels)})
    attrs = attributes(story=story, prior=prior, n=n, simulations=simulations, random_seed=seed)
    return tree({"prior_sbc": group}, attrs)
