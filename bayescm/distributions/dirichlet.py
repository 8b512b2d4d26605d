"""Closed-form posteriors: counts plus concentrations, and independent draws of the cell probabilities.

A Dirichlet over the cells is a Dirichlet of class shares times one Dirichlet per row (for two labels three Betas),
so both models are :class:`bayescm.priors.concentrations.Concentrations` and one sampler serves them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data.random import matrix_rng
from bayescm.metrics import Metric, of_one_class
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, exchange

Array = NDArray[np.float64]

_BLOCK = 8192
_MOST = 2**22
"""Numbers in a block: 32 MB."""
_TINY = 0.02
"""Below this concentration gamma draws may underflow together, so they are made in logarithms, unless one is large."""


def posterior(counts: NDArray[np.int64], prior: Concentrations, prevalence: PrevalenceLike = None) -> Concentrations:
    """Add counts to prior concentrations (Caelen 2017, eq. 6; Toetsch and Hoffmann 2021, eqs 8 to 11).

    Parameters
    ----------
    counts : ndarray of shape (..., K, K)
    prior : Concentrations
        Unbatched.
    prevalence
        As in :func:`bayescm.priors.concentrations.exchange`.

    Returns
    -------
    Concentrations
        Batched like `counts`.
    """
    totals = counts.sum(-1)
    updated = Concentrations(prior.rows + counts, prior.shares + totals, one_dirichlet=prior.one_dirichlet)
    return exchange(updated, prevalence, totals.astype(np.float64))


def improper(which: Concentrations) -> NDArray[np.bool_] | None:
    """Return which rows' cells make a distribution improper, or None if it is proper.

    The shares count too, where they are estimated: their zero marks the whole row.
    """
    bad = which.rows <= 0
    if not which.known and not which.one_dirichlet:
        bad = bad | (which.shares <= 0)[..., None]
    return bad if bad.any() else None


def check_proper(posterior: Concentrations, labels: Sequence[Any], metrics: Sequence[Metric] = ()) -> None:
    """Raise a ValueError that names the first cell without a proper posterior.

    Of `metrics` that all are shares of the items of one class of two, only that class has to have one.
    """
    bad = improper(posterior)
    if bad is None:
        return
    if metrics and len(labels) == 2 and all(of_one_class(metric, 2) for metric in metrics):
        classes = {int(metric.ratio is not None and "tp" in {*metric.ratio[0], *metric.ratio[1]}) for metric in metrics}
        bad[..., [i for i in (0, 1) if i not in classes], :] = False
        if not bad.any():
            return
    *batch, i, j = (int(index) for index in np.argwhere(bad)[0])
    where = f" of matrix {batch[0] if len(batch) == 1 else tuple(batch)}" if batch else ""
    if posterior.rows[(*batch, i, j)] > 0:
        what = f"the class {labels[i]}{where} has no items and its share"
    else:
        name = (("TN", "FP"), ("FN", "TP"))[i][j] if len(labels) == 2 else f"{labels[i]}->{labels[j]}"
        what = f"the cell {name}{where} has no items and"
    raise ValueError(
        f"`prior` leaves the posterior improper: {what} a concentration of 0. "
        "Take prior='jeffreys', or any prior with positive concentrations."
    )


def plug_in(counts: NDArray[np.int64], posterior: Concentrations, prevalence: PrevalenceLike) -> Array:
    """Return the cells whose metrics are the point estimates: the counts, or their rates at another prevalence."""
    if prevalence is None:
        return counts.astype(np.float64)
    shares = posterior.shares / posterior.shares.sum(-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(-1, keepdims=True) * shares[..., None])


def draw_theta(which: Concentrations, rng: np.random.Generator, n: int, out: Array | None = None) -> Array:
    """Draw cell probabilities of one matrix, into `out` (K, K, n) if it is given.

    Returns
    -------
    ndarray of shape (K, K, n)
        Cells first, so that each cell's draws are contiguous.
    """
    k = which.rows.shape[-1]
    theta = np.empty((k, k, n)) if out is None else out
    if which.one_dirichlet:
        draw_dirichlet(which.rows.reshape(-1), rng, [theta[i, j] for i in range(k) for j in range(k)])
        return theta
    shares = draw_shares(which, rng, n)
    for row in range(k):
        draw_dirichlet(which.rows[row], rng, list(theta[row]))
        theta[row] *= shares[row]
    return theta


def theta_in_blocks(which: Concentrations, rng: np.random.Generator, n: int) -> Iterator[Array]:
    """Give the draws of :func:`draw_theta` in blocks (K, K, some) whose size doesn't grow with the labels.

    They are the same numbers where one Dirichlet is drawn, or where one block holds all.
    """
    k = which.rows.shape[-1]
    whole = max(_MOST // k**2, 1)
    size = whole // _BLOCK * _BLOCK or whole
    for start in range(0, n, size):
        yield draw_theta(which, rng, min(size, n - start))


def theta_and_rows(which: Concentrations, rng: np.random.Generator, most: int) -> tuple[Array, Array]:
    """Draw cells (K, K, n), at most `most`, and gammas (K, n) of rows that are Dirichlets apart."""
    totals = which.rows.sum(1)
    n = min(most, max(_MOST // which.rows.size, 1))
    theta = draw_theta(which, rng, n)
    return theta, np.empty(0) if which.one_dirichlet else rng.standard_gamma(totals, (n, len(totals))).T


def draw_shares(which: Concentrations, rng: np.random.Generator, n: int) -> Array:
    """Draw class shares, (K, n)."""
    if which.known:
        return np.repeat(which.shares[:, None], n, axis=1)
    shares = np.empty((len(which.shares), n))
    draw_dirichlet(which.shares, rng, list(shares))
    return shares


def draw_dirichlet(concentration: Array, rng: np.random.Generator, out: list[Array]) -> None:
    """Draw from a Dirichlet into one contiguous array per cell, block by block while it is in cache."""
    n = len(out[0])
    logarithmic = concentration.min() < _TINY and concentration.max() < 1.0
    many = len(concentration) * _BLOCK > _MOST
    most = max(_MOST // len(concentration), 1) if many else _BLOCK
    block = np.empty((len(concentration), min(most, n)))
    for start in range(0, n, most):
        block = block[:, : min(most, n - start)]
        size = block.shape[1]
        for cell, a in enumerate(concentration):
            if logarithmic:
                block[cell] = _log_gamma_draws(a, rng, size)
            elif many and a == 0.5:  # Jeffreys, of most cells of many labels: half a squared normal, in a quarter
                np.square(rng.standard_normal(out=block[cell]), out=block[cell])
                block[cell] *= 0.5
            else:
                rng.standard_gamma(a, out=block[cell])
        if logarithmic:
            np.exp(block - block.max(0), out=block)
        total = block.sum(0)
        for gamma, target in zip(block, out, strict=True):
            np.divide(gamma, total, out=target[start : start + size])


def _log_gamma_draws(a: float, rng: np.random.Generator, size: int) -> Array:
    """Draw logarithms of gamma variables: G(a) is G(a + 1) U^(1/a) in distribution."""
    return np.log(rng.standard_gamma(a + 1.0, size)) - rng.standard_exponential(size) / a


def replicate_counts(
    theta: Array, class_totals: NDArray[np.int64], rng: np.random.Generator, size: int, keep_totals: bool
) -> NDArray[np.int64]:
    """Draw a future matrix for each draw of theta.

    Parameters
    ----------
    theta : ndarray of shape (n, K, K)
    class_totals : ndarray of shape (K,)
        Of the observed matrix.
    rng : numpy.random.Generator
    size : int
        Items of the future matrix.
    keep_totals : bool
        Whether the class totals are fixed by design, in the observed proportions.

    Returns
    -------
    ndarray of int64, shape (n, K, K)
    """
    n, k, _ = theta.shape
    if not keep_totals:
        flat = theta.reshape(n, k * k)
        return rng.multinomial(size, flat / flat.sum(1, keepdims=True)).reshape(n, k, k)
    totals = fixed_totals(class_totals, size)
    rates = theta / theta.sum(2, keepdims=True)
    return np.stack([rng.multinomial(totals[row], rates[:, row]) for row in range(k)], axis=1)


def fixed_totals(class_totals: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the class totals of a test of another size with the same shares."""
    smallest = class_totals // np.gcd.reduce(class_totals)  # the smallest test set with these shares
    times, rest = divmod(size, int(smallest.sum()))
    if rest:
        raise ValueError(
            f"A replicate of {size} items can't keep the class shares {class_totals.tolist()} that prevalence='fixed' "
            f"fixes; give a multiple of {int(smallest.sum())} as its size, or leave it that of the counts."
        )
    return np.asarray(smallest * times)


def single(which: Concentrations, index: tuple[Any, ...]) -> Concentrations:
    """Return the concentrations of one matrix of a batch."""
    rows = which.rows if which.rows.ndim == 2 else which.rows[index]
    shares = which.shares if which.shares.ndim == 1 else which.shares[index]
    return Concentrations(rows, shares, which.known, which.one_dirichlet)


def draw_batch(
    which: Concentrations, index: NDArray[np.int64], chains: int, draws: int, seed: int, stream: int
) -> Array:
    """Draw cell probabilities of a batch of matrices.

    Parameters
    ----------
    which : Concentrations
        Batched like `index`.
    index : ndarray of int64
        Running number of each matrix, which seeds its draws.
    chains, draws, seed, stream : int

    Returns
    -------
    ndarray of shape (*index.shape, chains, draws, K, K)
        A view of cells-first memory.
    """
    k = which.rows.shape[-1]
    out = np.empty((k, k, index.size, chains, draws))
    for position in range(index.size):
        one = single(which, np.unravel_index(position, index.shape))
        rng = matrix_rng(seed, int(index.flat[position]), stream)
        draw_theta(one, rng, chains * draws, out.reshape(k, k, index.size, chains * draws)[:, :, position])
    return np.moveaxis(out.reshape(k, k, *index.shape, chains, draws), (0, 1), (-2, -1))
