"""Class shares behind verdicts with errors that are known from elsewhere: Rogan and Gladen's for any number of classes.

Each actual class has a row of error rates, Dirichlet by the items of it that were checked and one item of the prior.
Verdicts on other items are multinomial with the shares q = rates' shares. A priori the shares are uniform.
"""

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate

Array = NDArray[np.float64]

_MOST, _BLOCK = 4_000_000, 2**15
"""Proposals, in all and at a time."""
_SINGULAR = 1e-9
_ENOUGH, _LEAST = 4_000, 100
"""Draws by weight below which that is said, and below which there is no answer."""


def adjusted(rates: Array, called: Array) -> Array:
    """Return the shares (K,) that solve rates' shares = called, the adjusted count; NaN where some would be below 0."""
    if not np.isfinite(rates).all() or abs(np.linalg.det(rates)) < _SINGULAR:
        return np.full(len(called), np.nan)
    shares = np.linalg.solve(rates.T, called)
    return np.asarray(np.where((shares >= -_SINGULAR).all(), shares, np.nan))


def draw(checked: Array, totals: Array, rng: np.random.Generator, n: int) -> Array:
    """Draw cells (n, K, K) of the items of the totals.

    Rates come from their Dirichlet and q from that of the totals under a uniform prior; the shares that go with both
    have the density of the posterior where they are none below 0, but for |det rates|: weights are its inverse, and
    draws are made anew by these. Tests as good as chance, and worse, are left out: det rates > 0.
    """
    k = len(totals)
    found, weights, effective = [], np.empty(0), 0.0
    for _ in range(0, _MOST, _BLOCK):
        rates = rng.standard_gamma(checked + 1.0 / k, (_BLOCK, k, k))
        rates /= rates.sum(-1, keepdims=True)
        called = rng.standard_gamma(totals + 1.0, (_BLOCK, k))
        called /= called.sum(-1, keepdims=True)
        size = np.linalg.det(rates)
        rates, called, size = (one[size > _SINGULAR] for one in (rates, called, size))
        shares = np.linalg.solve(rates.swapaxes(-1, -2), called[..., None])[..., 0]
        inside = (shares >= 0.0).all(-1)
        found.append(shares[inside, :, None] * rates[inside])
        weights = np.concatenate([weights, 1.0 / size[inside]])
        effective = weights.sum() ** 2 / (weights**2).sum() if len(weights) else 0.0
        if effective >= n:
            break
    if effective < _LEAST:
        raise ValueError(
            f"`totals` are at odds with the error rates of the checked items: none of {_MOST:,} draws of both fits, or "
            "few. The rates don't carry over, or a class has too few items; check some of these items instead."
        )
    if effective < min(n, _ENOUGH):
        validate.warn(
            f"answers rest on {effective:.0f} draws by weight, as the totals are nearly at odds with the rates."
        )
    places = rng.choice(len(weights), n, p=weights / weights.sum())
    return np.concatenate(found)[places]
