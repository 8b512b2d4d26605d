"""Functions of a Beta's concentrations, interpolated: worked out once at some hundred points, then read for millions.

With r = sqrt(1/a + 1/b), about the standard deviation of the log-odds, and c = (b - a) / (a + b), what is asked of a
Beta is r W(r, c) with W smooth, down to r = 0 where the log-odds are normal: all concentrations from the least one to
infinity lie in a rectangle. It is cut along r into a few patches, each with a product of Chebyshev polynomials. W is
kept as E + c O with E and O even in c, so that the mirrored Beta, with a and b exchanged, comes along: E - c O.

Every patch is held against the function itself, at points between its nodes, before it is used.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEW = 4096
"""Betas in a patch below which the function itself is called: to make one costs about as much as that many."""
_EDGES = np.array([0.0, 0.2475, 0.495, 0.778, 1.0, 1.2374, 2**0.5])
"""Of the patches: r times the root of the least concentration. From 1 on both a and b are bounded."""
_TERMS = (12, 6), (14, 8), (14, 10), (18, 14), (24, 18), (30, 24)
"""Numbers of polynomials in r, and in c^2."""
_FIRST = 0, 1, 2, 3, 3, 1
"""Of these, with which each patch is tried first."""
_CHECKS = 64
_GOAL, _ALLOWED = 1e-13, 1e-12
"""Error of r W at points between the nodes: above it more terms are tried; above it a patch isn't used."""
_OUTSIDE = 255
_GROUP, _BLOCK = 2**16, 2**13  # of Betas at a time: those sorted by patch, those in the processor's cache
_PRODUCT = 2**18  # multiplications up to which OpenBLAS takes one thread, and so one order


class Tabulable(Protocol):
    """Functions of (a, b), which are equal where their parameters are."""

    @property
    def least(self) -> float:
        """Return the smallest concentration that they are interpolated for."""

    @property
    def limits(self) -> tuple[float, ...]:
        """Return each function's limit of its value over r as r goes to 0."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return their values (functions, n)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Patch:
    """Coefficients of one patch."""

    low: float
    high: float
    least: float
    powers: Array
    """(powers of the place in r, functions, even and odd part, polynomials in c^2)"""

    def read(self, r: Array, c: Array) -> tuple[Array, Array]:
        """Return the functions (functions, n), and those of the mirrored Betas."""
        place = (2.0 * r - (self.low + self.high)) / (self.high - self.low)
        if self.high > self.least**-0.5:
            c = np.clip(c / _reach(r, self.least), -1.0, 1.0)
        terms, functions, _, even = self.powers.shape
        twice = 4.0 * c * c - 2.0
        basis = np.empty((even, len(r)))
        basis[0], basis[1] = 1.0, 0.5 * twice
        for k in range(2, even):
            np.multiply(twice, basis[k - 1], out=basis[k])
            basis[k] -= basis[k - 2]
        flat = self.powers.reshape(-1, even)
        found = np.empty((len(flat), len(r)))
        width = max(_PRODUCT // flat.size, 1)
        for start in range(0, len(r), width):
            here = slice(start, start + width)
            np.matmul(flat, basis[:, here], out=found[:, here])
        found = found.reshape(terms, functions, 2, len(r))
        parts = found[-1]
        for k in range(terms - 2, -1, -1):
            parts *= place
            parts += found[k]
        parts *= r
        parts[:, 1] *= c
        return parts[:, 0] + parts[:, 1], parts[:, 0] - parts[:, 1]


def read(function: Tabulable, a: Array, b: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return what a function is at concentrations (n,), and for the mirrored Betas, where it is interpolated.

    Returns
    -------
    values, mirrored : ndarray of shape (functions, n)
        NaN where it isn't.
    known : ndarray of bool, shape (n,)
        Where it is: patches with at least `FEW` of these Betas, and concentrations from the least one on.
    """
    values, mirrored = np.full((2, len(function.limits), len(a)), np.nan)
    places = np.empty(len(a), np.uint8)
    edges = _EDGES[1:-1] * function.least**-0.5
    groups = [slice(start, start + _GROUP) for start in range(0, len(a), _GROUP)]
    for group in groups:
        r = _coordinates(a[group], b[group])[0]
        inside = (np.minimum(a[group], b[group]) >= function.least) & (r > 0.0)
        places[group] = np.where(inside, sum((r >= edge).view(np.uint8) for edge in edges), _OUTSIDE)
    counted = np.bincount(places, minlength=_OUTSIDE + 1)
    patches = {i: _patch(function, i) for i in range(len(_EDGES) - 1) if counted[i] >= FEW}
    usable = {i: patch for i, patch in patches.items() if patch is not None}
    for group in groups:
        for i, patch in usable.items():
            here = group.start + np.flatnonzero(places[group] == i)
            for start in range(0, len(here), _BLOCK):
                block = here[start : start + _BLOCK]
                values[:, block], mirrored[:, block] = patch.read(*_coordinates(a[block], b[block]))
    return values, mirrored, np.isin(places, [*usable])


def _coordinates(a: Array, b: Array) -> tuple[Array, Array]:
    """Return r and c."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = 1.0 / a, 1.0 / b
        square = x + y
        return np.sqrt(square), (x - y) / square


def _reach(r: Array, least: float) -> Array:
    """Return the largest c at each r."""
    with np.errstate(divide="ignore"):
        return np.clip(2.0 / (least * r * r) - 1.0, 1e-300, 1.0)


def _concentrations(r: Array, c: Array) -> tuple[Array, Array]:
    return 2.0 / (r * r * (1.0 + c)), 2.0 / (r * r * (1.0 - c))


@lru_cache(maxsize=64)
def _patch(function: Tabulable, i: int) -> _Patch | None:
    """Return a patch, or None where polynomials aren't close to the function."""
    low, high = (float(edge) for edge in _EDGES[i : i + 2] * function.least**-0.5)
    rng = np.random.default_rng(i)
    r = np.sqrt(rng.uniform(low**2, high**2, _CHECKS))
    r[: _CHECKS // 4] = rng.uniform(low + 1e-3 * (high - low), high, _CHECKS // 4)
    c = np.sin(0.5 * np.pi * rng.uniform(-1.0, 1.0, _CHECKS)) * _reach(r, function.least)
    wanted = function(*_concentrations(r, c))
    best, least_error = None, _ALLOWED
    for terms in _TERMS[_FIRST[i] :]:
        patch = _Patch(low, high, function.least, _fitted(function, low, high, *terms))
        error = float(np.max(np.abs(patch.read(r, c)[0] - wanted)))
        if error <= least_error:
            best, least_error = patch, error
        if error <= _GOAL:
            break
    return best


def _fitted(function: Tabulable, low: float, high: float, terms: int, even: int) -> Array:
    """Return the coefficients of the polynomials through the function at Chebyshev's nodes."""
    x, c = np.cos(np.pi * np.arange(terms) / (terms - 1)), np.cos(np.pi * (np.arange(2 * even) + 0.5) / (2 * even))
    r = np.maximum(0.5 * (low + high) + 0.5 * (high - low) * x, 0.0)
    across = np.broadcast_to(r[:, None], (terms, 2 * even))
    inside = across > 1e-9 * high
    w = np.empty((len(function.limits), terms, 2 * even))
    w[:] = np.array(function.limits)[:, None, None]
    at = _concentrations(across[inside], (c * _reach(r, function.least)[:, None])[inside])
    w[:, inside] = function(*at) / across[inside]
    right, left = w[..., :even], w[..., :even - 1 : -1]
    parts = np.stack([0.5 * (right + left), 0.5 * (right - left) / c[:even]], 1)  # (functions, 2, terms, even)
    in_c = chebyshev.chebvander(2.0 * c[:even] ** 2 - 1.0, even - 1)
    in_r = chebyshev.chebvander(x, terms - 1)
    series = np.linalg.solve(in_r, np.linalg.solve(in_c, parts.swapaxes(-1, -2)).swapaxes(-1, -2))
    powers = np.zeros((terms, terms))
    for k in range(terms):
        powers[: k + 1, k] = chebyshev.cheb2poly(np.eye(terms)[k])[: k + 1]
    return np.ascontiguousarray(np.moveaxis(powers @ series, 2, 0))  # of the small coefficients: errors stay small
