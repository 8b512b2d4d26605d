"""Metrics of two labels as ratios of quadratic forms in the cells, from which their distributions are made."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Scale = Literal["identity", "square", "odds_square", "correlation"]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A metric as s(metric) = c'(num)c / c'(den)c with c = (tp, fn, fp, tn).

    Attributes
    ----------
    num, den : ndarray of shape (4, 4)
        Symmetric.
    scale : {"identity", "square", "odds_square", "correlation"}
        s: x, x^2, (x / (1 - x))^2; or the Matthews correlation, which isn't such a ratio and has its own inversion.
    """

    num: Array
    den: Array
    scale: Scale = "identity"

    def value(self, cells: Array) -> Array:
        """Return s(metric) of cells (..., 4)."""
        if self.scale == "correlation":
            squares = np.prod([cells @ margin for margin in (P, N, PP, PN)], axis=0)
            return np.asarray(np.einsum("...i,ij,...j", cells, self.num, cells) / np.sqrt(squares))
        num, den = (np.einsum("...i,ij,...j", cells, matrix, cells) for matrix in (self.num, self.den))
        return np.asarray(num / den)


TP, FN, FP, TN = np.eye(4)
P, N = TP + FN, FP + TN
PP, PN = TP + FP, FN + TN
ALL = P + N


def product(first: Array, second: Array) -> Array:
    """Return the quadratic form that is the product of two linear ones."""
    return 0.5 * (np.outer(first, second) + np.outer(second, first))


def ratio(num: Array, den: Array) -> Form:
    """Return the ratio of two linear forms."""
    return Form(product(num, ALL), product(den, ALL))


DETERMINANT = product(TP, TN) - product(FP, FN)


@cache  # one form per metric: what is known of it is kept too
def proportion(over: tuple[str, ...], under: tuple[str, ...], link: str) -> Form:
    """Return S / (S + T), or 2 S / (2 S + T) for the link "f1", of sums of named cells."""
    s, t = (sum((_CELLS[name] for name in names), np.zeros(4)) for names in (over, under))
    return ratio(2.0 * s, 2.0 * s + t) if link == "f1" else ratio(s, s + t)


_CELLS = {"tp": TP, "fn": FN, "fp": FP, "tn": TN}
