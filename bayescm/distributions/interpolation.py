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

FEW = 2048
"""Betas in a patch below which the function itself is called: to make one costs about as much as that many."""
_EDGES = np.array([0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.2, 2**0.5, 1.6, 1.8, 2.0]) / 2**0.5
"""Of the patches: r times the root of the least concentration. From 1 on both a and b are bounded."""
_TERMS = (9, 5), (9, 6), (9, 6), (10, 7), (11, 9), (11, 10), (10, 11), (10, 14), (14, 13), (13, 10), (12, 7)
"""Numbers of polynomials in r, and in c^2, with which each patch is tried first."""
_MORE = (0, 0), (3, 4), (5, 8), (8, 16)
"""How many are added."""
_ZERO = 1e-13
"""Parts below are left out: the even part of the median."""
_CHECKS = 64
_GOAL, _ALLOWED = 1e-13, 1e-12
"""Error of r W at points between the nodes: above it more terms are tried; above it a patch isn't used."""
_OUTSIDE = 255
_GROUP, _BLOCK = 2**15, 2**12  # Betas at a time: sorted by patch, and within one
_PRODUCT = 2**18  # multiplications up to which OpenBLAS takes one thread, and so one order


class Tabulable(Protocol):
    """Functions of (a, b), which are equal where their parameters are."""

    @property
    def least(self) -> float:
        """Return the smallest concentration that they are interpolated for."""

    @property
    def limits(self) -> tuple[float, ...]:
        """Return each function's limit of its value over r as r goes to 0."""

    def __hash__(self) -> int:
        """Return the hash of the parameters."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return their values (functions, n)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Patch:
    """Coefficients of one patch."""

    low: float
    high: float
    least: float
    parts: tuple[tuple[int, bool], ...]
    """The function that each part belongs to, and whether it is the odd one; what is 0 is left out."""
    powers: Array
    """(powers of the place in r, parts, polynomials in c^2)"""

    def read(self, r: Array, c: Array, functions: int) -> tuple[Array, Array]:
        """Return the functions (functions, n), and those of the mirrored Betas."""
        place = (2.0 * r - (self.low + self.high)) / (self.high - self.low)
        if self.high > self.least**-0.5:
            c = np.clip(c / _reach(r, self.least), -1.0, 1.0)
        terms, n_parts, even = self.powers.shape
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
        places = np.empty((terms, len(r)))
        places[0] = 1.0
        for k in range(1, terms):
            np.multiply(places[k - 1], place, out=places[k])
        sums = np.einsum("tpn,tn->pn", found.reshape(terms, n_parts, len(r)), places)
        values, mirrored = np.zeros((2, functions, len(r)))
        odd = r * c
        for (i, is_odd), part in zip(self.parts, sums, strict=True):
            part *= odd if is_odd else r
            values[i] += part
            mirrored[i] += -part if is_odd else part
        return values, mirrored


class Interpolated:
    """A function of many Betas' concentrations, interpolated where the patches have enough of them."""

    def __init__(self, function: Tabulable, a: Array, b: Array) -> None:
        """Choose the patches for concentrations (n,): those with at least `FEW` of them."""
        self.function = function
        self._edges = _EDGES[1:-1] * function.least**-0.5
        counted = np.zeros(_OUTSIDE + 1, np.int64)
        for group in groups(len(a)):
            counted += np.bincount(self._places(a[group], b[group])[2], minlength=len(counted))
        patches = {i: _patch(function, i) for i in range(len(_EDGES) - 1) if counted[i] >= FEW}
        self._patches = {i: patch for i, patch in patches.items() if patch is not None}
        self._known = np.zeros(_OUTSIDE + 1, bool)
        self._known[[*self._patches]] = True

    def __call__(self, a: Array, b: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return what the function is at some of these concentrations (m,), and for the mirrored Betas.

        Returns
        -------
        values, mirrored : ndarray of shape (functions, m)
            NaN where it isn't interpolated.
        known : ndarray of bool, shape (m,)
            Where it is.
        """
        functions = len(self.function.limits)
        values, mirrored = np.full((2, functions, len(a)), np.nan)
        r, c, places = self._places(a, b)
        for i, patch in self._patches.items():
            here = np.flatnonzero(places == i)
            for start in range(0, len(here), _BLOCK):
                block = here[start : start + _BLOCK]
                values[:, block], mirrored[:, block] = patch.read(r[block], c[block], functions)
        return values, mirrored, self._known[places]

    def _places(self, a: Array, b: Array) -> tuple[Array, Array, NDArray[np.uint8]]:
        """Return r, c and the patch."""
        r, c = _coordinates(a, b)
        places = np.zeros(len(a), np.uint8)
        for edge in self._edges:
            places += r >= edge
        places[~((np.minimum(a, b) >= self.function.least) & (np.abs(c) < 1.0))] = _OUTSIDE
        return r, c, places


def read(function: Tabulable, a: Array, b: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return what :class:`Interpolated` is at all of these concentrations (n,), some at a time."""
    interpolated = Interpolated(function, a, b)
    values, mirrored = np.empty((2, len(function.limits), len(a)))
    known = np.empty(len(a), bool)
    for group in groups(len(a)):
        values[:, group], mirrored[:, group], known[group] = interpolated(a[group], b[group])
    return values, mirrored, known


def groups(n: int) -> list[slice]:
    """Return how n Betas are taken, some at a time, so that what is computed on the way stays in the cache."""
    return [slice(start, start + _GROUP) for start in range(0, n, _GROUP)]


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


@lru_cache(maxsize=256)
def _patch(function: Tabulable, i: int) -> _Patch | None:
    """Return a patch, or None where polynomials aren't close to the function, or its value isn't found."""
    try:
        with np.errstate(invalid="ignore"):
            return _checked(function, i)
    except ArithmeticError:
        return None


def _checked(function: Tabulable, i: int) -> _Patch | None:
    """Return a patch if it is close to the function between its nodes."""
    low, high = (float(edge) for edge in _EDGES[i : i + 2] * function.least**-0.5)
    rng = np.random.default_rng(i)
    r = np.sqrt(rng.uniform(low**2, high**2, _CHECKS))
    r[: _CHECKS // 4] = rng.uniform(low + 1e-3 * (high - low), high, _CHECKS // 4)
    c = np.sin(0.5 * np.pi * rng.uniform(-1.0, 1.0, _CHECKS)) * _reach(r, function.least)
    wanted = function(*_concentrations(r, c))
    best, least_error = None, _ALLOWED
    for more, even in _MORE:
        coefficients = _fitted(function, low, high, _TERMS[i][0] + more, _TERMS[i][1] + even)
        patch = _Patch(low, high, function.least, *coefficients)
        error = float(np.max(np.abs(patch.read(r, c, len(wanted))[0] - wanted)))
        if error <= least_error:
            best, least_error = patch, error
        if error <= _GOAL:
            break
    return best


def _fitted(
    function: Tabulable, low: float, high: float, terms: int, even: int
) -> tuple[tuple[tuple[int, bool], ...], Array]:
    """Return the parts and coefficients of the polynomials through the function at Chebyshev's nodes."""
    x, c = np.cos(np.pi * np.arange(terms) / (terms - 1)), np.cos(np.pi * (np.arange(2 * even) + 0.5) / (2 * even))
    if low == 0.0:  # which is known; near it the function, worked out at large a and b, is least precise
        x = np.append(0.25 + 0.75 * np.cos(np.pi * np.arange(terms - 1) / (terms - 2)), -1.0)
    r = np.maximum(0.5 * (low + high) + 0.5 * (high - low) * x, 0.0)
    across = np.broadcast_to(r[:, None], (terms, 2 * even))
    inside = across > 1e-9 * high
    w = np.empty((len(function.limits), terms, 2 * even))
    w[:] = np.array(function.limits)[:, None, None]
    at = _concentrations(across[inside], (c * _reach(r, function.least)[:, None])[inside])
    w[:, inside] = function(*at) / across[inside]
    right, left = w[..., :even], w[..., : even - 1 : -1]
    parts = np.stack([0.5 * (right + left), 0.5 * (right - left) / c[:even]], 1)  # (functions, 2, terms, even)
    in_c = chebyshev.chebvander(2.0 * c[:even] ** 2 - 1.0, even - 1)
    in_r = chebyshev.chebvander(x, terms - 1)
    series = np.linalg.solve(in_r, np.linalg.solve(in_c, parts.swapaxes(-1, -2)).swapaxes(-1, -2))
    powers = np.zeros((terms, terms))
    for k in range(terms):
        powers[: k + 1, k] = chebyshev.cheb2poly(np.eye(terms)[k])[: k + 1]
    whole = np.moveaxis(powers @ series, 2, 0)  # of the small coefficients: errors stay small
    kept = [(i, odd) for i in range(len(w)) for odd in (False, True) if np.abs(parts[i, int(odd)]).max() > _ZERO]
    return tuple(kept), np.stack([whole[:, i, int(odd)] for i, odd in kept], 1)
