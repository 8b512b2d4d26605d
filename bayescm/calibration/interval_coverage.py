"""Frequentist calibration: how often the intervals hold a fixed truth."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import from_array
from bayescm.data.schema import METRIC, attributes
from bayescm.data.words import CiKind
from bayescm.distributions import dirichlet
from bayescm.inference.summaries import summary
from bayescm.metrics import MetricsLike, compute, per_label, resolve
from bayescm.priors.concentrations import PriorLike, concentrations, resolved_prior

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
    k = validate.positive_integer("k", k)
    if k < 2:
        raise ValueError(f"`k` must be at least 2, the number of classes; got {k}.")
    accuracy = validate.number("accuracy", accuracy, 0, 1, closed=True)
    skew = validate.number("skew", skew, 0, np.inf)
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
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
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
    prior = resolved_prior(prior)
    truth = from_probabilities(theta)
    repeats = validate.positive_integer("repeats", repeats)
    k = truth.shape[0]
    seed = validate.seed(random_seed)
    rng = np.random.default_rng(seed)
    tables = rng.multinomial(validate.positive_integer("n", n), truth.ravel(), size=repeats).reshape(-1, k, k)
    base = concentrations(prior, model, k)
    bad = dirichlet.improper(dirichlet.posterior(tables, base))
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
            "length": s["width"].mean("repeat"),
        },
        attrs=attrs,
    )


def from_probabilities(theta: Any) -> Array:
    """Return valid cell probabilities as an array."""
    values = validate.array_of("theta", theta)
    if values.dtype.kind not in "iufb":
        raise TypeError(f"`theta` must be numbers, the cell probabilities; got {theta!r}.")
    values = values.astype(np.float64)
    if (
        values.ndim != 2
        or values.shape[0] != values.shape[1]
        or not np.isclose(values.sum(), 1.0)
        or (values < 0).any()
    ):
        raise ValueError("`theta` must be a square array of probabilities that add up to 1.")
    return np.asarray(values / values.sum())
