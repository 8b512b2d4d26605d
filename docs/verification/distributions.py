"""Check the distributions: ``python -m uv run python docs/verification/distributions.py --every 7`` (some 5 minutes).

Every metric x matrices x priors, models and prevalences against references that share nothing with the package: from
the definition of each metric, in mpmath at 30 digits or by adaptive Gauss rules in double precision. Writes
distributions_error.csv, distributions_moments.csv and distributions_error_table.inc. Without ``--every`` all of the
plan. ``--quick`` checks a few rows (seconds), writes nothing and fails if an error exceeds the promise;
``--exhaustive`` compares every matrix of at most 4 items with a million draws (10 minutes or more; writes
distributions_exhaustive.csv).
"""

import contextlib
import csv
import itertools
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special

import bayescm
from bayescm.distributions import Integral

Array = NDArray[np.float64]
Pair = tuple[float, float]

HERE = Path(__file__).parent


def f_score(beta: float) -> Callable[..., Any]:
    """Return F-beta of cells."""
    b = beta * beta
    return lambda tp, fn, fp, tn, sqrt: (1 + b) * tp / ((1 + b) * tp + b * fn + fp)


DEFINITIONS: dict[str, Callable[..., Any]] = {
    "prevalence": lambda tp, fn, fp, tn, sqrt: (tp + fn) / (tp + fn + fp + tn),
    "predicted_prevalence": lambda tp, fn, fp, tn, sqrt: (tp + fp) / (tp + fn + fp + tn),
    "recall": lambda tp, fn, fp, tn, sqrt: tp / (tp + fn),
    "specificity": lambda tp, fn, fp, tn, sqrt: tn / (tn + fp),
    "false_positive_rate": lambda tp, fn, fp, tn, sqrt: fp / (fp + tn),
    "false_negative_rate": lambda tp, fn, fp, tn, sqrt: fn / (fn + tp),
    "precision": lambda tp, fn, fp, tn, sqrt: tp / (tp + fp),
    "negative_predictive_value": lambda tp, fn, fp, tn, sqrt: tn / (tn + fn),
    "false_discovery_rate": lambda tp, fn, fp, tn, sqrt: fp / (fp + tp),
    "false_omission_rate": lambda tp, fn, fp, tn, sqrt: fn / (fn + tn),
    "accuracy": lambda tp, fn, fp, tn, sqrt: (tp + tn) / (tp + fn + fp + tn),
    "error_rate": lambda tp, fn, fp, tn, sqrt: (fp + fn) / (tp + fn + fp + tn),
    "balanced_accuracy": lambda tp, fn, fp, tn, sqrt: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "f1": f_score(1),
    "f2": f_score(2),
    "f0.5": f_score(0.5),
    "matthews_correlation": lambda tp, fn, fp, tn, sqrt: (
        (tp * tn - fp * fn) / (sqrt((tp + fn) * (fp + tn)) * sqrt((tp + fp) * (fn + tn)))
    ),
    "cohen_kappa": lambda tp, fn, fp, tn, sqrt: (
        2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
    ),
    "informedness": lambda tp, fn, fp, tn, sqrt: tp / (tp + fn) - fp / (fp + tn),
    "markedness": lambda tp, fn, fp, tn, sqrt: tp / (tp + fp) - fn / (fn + tn),
    "jaccard": lambda tp, fn, fp, tn, sqrt: tp / (tp + fn + fp),
    "fowlkes_mallows": lambda tp, fn, fp, tn, sqrt: sqrt(tp / (tp + fn)) * sqrt(tp / (tp + fp)),
    "geometric_mean": lambda tp, fn, fp, tn, sqrt: sqrt(tp / (tp + fn)) * sqrt(tn / (tn + fp)),
    "p4": lambda tp, fn, fp, tn, sqrt: 4 * tp * tn / (4 * tp * tn + (tp + tn) * (fp + fn)),
    "positive_likelihood_ratio": lambda tp, fn, fp, tn, sqrt: (tp / (tp + fn)) / (fp / (fp + tn)),
    "negative_likelihood_ratio": lambda tp, fn, fp, tn, sqrt: (fn / (tp + fn)) / (tn / (fp + tn)),
    "diagnostic_odds_ratio": lambda tp, fn, fp, tn, sqrt: (tp / fn) * (tn / fp),
    "prevalence_threshold": lambda tp, fn, fp, tn, sqrt: (
        sqrt(fp / (fp + tn)) / (sqrt(tp / (tp + fn)) + sqrt(fp / (fp + tn)))
    ),
    "expected_cost(fn=5)": lambda tp, fn, fp, tn, sqrt: (5 * fn + fp) / (tp + fn + fp + tn),
    "net_benefit(threshold=.2)": lambda tp, fn, fp, tn, sqrt: (tp - fp / 4) / (tp + fn + fp + tn),
    "fbeta(beta=3)": f_score(3),
}
"""From the cells; `sqrt` is NumPy's or mpmath's."""

OF_RATES = {
    "balanced_accuracy", "informedness", "geometric_mean", "positive_likelihood_ratio", "negative_likelihood_ratio",
    "diagnostic_odds_ratio", "prevalence_threshold",
}  # fmt: skip
BETAS = {  # name: cells of the numerator, of the rest
    "recall": ("tp", "fn"), "specificity": ("tn", "fp"), "false_positive_rate": ("fp", "tn"),
    "false_negative_rate": ("fn", "tp"), "precision": ("tp", "fp"), "negative_predictive_value": ("tn", "fn"),
    "false_discovery_rate": ("fp", "tp"), "false_omission_rate": ("fn", "tn"), "accuracy": ("tp tn", "fn fp"),
    "error_rate": ("fn fp", "tp tn"), "predicted_prevalence": ("tp fp", "fn tn"), "prevalence": ("tp fn", "fp tn"),
    "jaccard": ("tp", "fn fp"), "f1": ("tp", "fn fp"),
}  # fmt: skip
PROBABILITIES = np.array([1e-11, 1e-6, 0.025, 0.5, 0.975, 1 - 1e-6])
COUNTS = [  # tp, fn, fp, tn
    (26, 0, 2, 6), (65, 15, 35, 30), (3, 0, 2, 10**6), (500_000, 500_000, 1, 1), (0, 0, 0, 0), (10**6,) * 4,
    (0, 10**4, 10**4, 0), (0, 10**4, 0, 10**4), (0, 0, 7, 30), (12, 3, 0, 0),
    (9 * 10**8, 10**8, 5 * 10**7, 95 * 10**7),
    *(tuple(int(10 ** np.random.default_rng(s).uniform(-0.5, 6, 4)[i]) for i in range(4)) for s in range(5)),
]  # fmt: skip
SETTINGS: list[tuple[str, str, Any]] = [
    ("dirichlet_multinomial", "jeffreys", None), ("three_binomial", "jeffreys", None),
    ("dirichlet_multinomial", "laplace", (2, 8)), ("three_binomial", "laplace", 0.1),
    ("dirichlet_multinomial", "laplace", None), ("three_binomial", "laplace", None),
    ("three_binomial", "jeffreys", (2, 8)), ("dirichlet_multinomial", "jeffreys", "fixed"),
]  # fmt: skip
PROMISE = {0: 1e-8, 1: 1e-8, 2: 1e-6}
"""Relative error of cdf and sf by number of integrals."""
NEAR = 1e-7  # of an end of the range but 0 the references lose their own digits; such points are left out
LEAST = 1e-12  # probability down to which it is promised


# ---- posteriors, written out --------------------------------------------------------------------------------------


def posterior(cells: tuple[int, ...], model: str, prior: str, prevalence: Any) -> tuple[Any, Pair, Pair]:
    """Return the numbers of the Betas of prevalence (or its value), recall and specificity."""
    tp, fn, fp, tn = cells
    a = {"jeffreys": 0.5, "laplace": 1.0, "legendre": 2.0}[prior]
    if prevalence is None:
        add = 2 * a if model == "dirichlet_multinomial" else a
        phi: Any = (tp + fn + add, fp + tn + add)
    elif prevalence == "fixed":
        phi = (tp + fn) / (tp + fn + fp + tn)
    else:
        phi = tuple(map(float, prevalence)) if np.ndim(prevalence) else float(prevalence)
    return phi, (tp + a, fn + a), (tn + a, fp + a)


def by_class(phi: Any, recall: Any, specificity: Any) -> tuple[Any, ...]:
    """Return cells from pairs (p, 1 - p)."""
    (p, q), (r, rq), (s, sq) = phi, recall, specificity
    return p * r, p * rq, q * sq, q * s


def by_errors(_: Any, first: Any, second: Any) -> tuple[Any, ...]:
    """Return cells without true negatives: from the Jaccard index and FP / (FP + FN)."""
    (j, rest), (w, wq) = first, second
    return j, rest * wq, rest * w, 0.0 * j


def by_calls(phi: Any, first: Any, second: Any) -> tuple[Any, ...]:
    """Return cells from the predicted prevalence, the precision and the negative predictive value."""
    (p, q), (v, vq), (n, nq) = phi, first, second
    return p * v, q * nq, p * vq, q * n


def by_prediction(_: Any, first: Any, second: Any) -> tuple[Any, ...]:
    """Return cells from the precision and the predicted prevalence; the predicted negatives are one."""
    (v, vq), (b, bq) = first, second
    return b * v, bq, b * vq, 0.0 * b


def wrong_cells(_: Any, first: Any, second: Any) -> tuple[Any, ...]:
    """Return cells from the error rate and FP / (FP + FN); what is right is one."""
    (e, right), (w, wq) = first, second
    return right, e * wq, e * w, 0.0 * e


def tree(name: str, cells: tuple[int, ...], model: str, prior: str, prevalence: Any) -> tuple[Any, ...]:
    """Return the way from three (or two) independent Betas to cells, and the numbers of these Betas."""
    phi, recall, specificity = posterior(cells, model, prior, prevalence)
    if name in OF_RATES:
        return by_class, 0.5, recall, specificity
    if model == "dirichlet_multinomial" and prevalence is None:
        (tp, fn), (tn, fp) = recall, specificity
        if name in ("f2", "f0.5", "fbeta(beta=3)", "fowlkes_mallows"):
            return by_errors, 0.5, (tp, fp + fn), (fp, fn)
        if name == "markedness":
            return by_calls, 0.5, (tp, fp), (tn, fn)
        if name == "net_benefit(threshold=.2)":
            return by_prediction, 0.5, (tp, fp), (tp + fp, fn + tn)
        if name == "expected_cost(fn=5)":
            return wrong_cells, 0.5, (fp + fn, tp + tn), (fp, fn)
    return by_class, phi, recall, specificity


def one_beta(name: str, cells: tuple[int, ...], model: str, prior: str, prevalence: Any) -> Pair | None:
    """Return the numbers of the Beta that a metric is, or (f1) that it is a map of."""
    if name not in BETAS:
        return None
    phi, (tp, fn), (tn, fp) = posterior(cells, model, prior, prevalence)
    if name == "prevalence":
        return phi if isinstance(phi, tuple) else None
    one_row = set(" ".join(BETAS[name]).split()) in ({"tp", "fn"}, {"tn", "fp"})
    if not one_row and (model != "dirichlet_multinomial" or prevalence is not None):
        return None
    of = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    first, second = (sum(of[cell] for cell in part.split()) for part in BETAS[name])
    return first, second


# ---- double precision: adaptive Gauss rules in the log-odds --------------------------------------------------------

TINY = 1e-300  # stands for 0, so that 0/0 becomes its limit
FAR = 65.0  # log of density, below its mode, where a distribution ends
GAUSS = np.polynomial.legendre.leggauss(12)
AROUND = np.array([-1, -0.1, -0.01, 0, 0.01, 0.1, 1])  # panels around where a step may be


def share(z: Array) -> tuple[Array, Array]:
    """Return p and 1 - p at log-odds."""
    e = np.exp(-np.abs(z))
    small, large = e / (1 + e), 1 / (1 + e)
    return np.where(z < 0, small, large), np.where(z < 0, large, small)


def log_density(z: Array, a: float, b: float) -> Array:
    """Return the log density of the log-odds of a Beta, relative to its mode."""
    d = z - math.log(a / b)
    near = np.minimum(d, 1.0)
    below = a * near - (a + b) * np.log1p(a / (a + b) * np.expm1(near))
    above = -b * d - (a + b) * np.log(a / (a + b) + b / (a + b) * np.exp(-np.maximum(d, 1.0)))
    return np.where(d < 1.0, below, above)


@cache
def extent(a: float, b: float) -> tuple[float, float, float]:
    """Return where a density ends, and its integral relative to its mode (trapezoid rule)."""
    mode = math.log(a / b)
    ends = []
    for sign in (-1, 1):
        low, high = 0.0, 1e-6
        while log_density(np.array(mode + sign * high), a, b) > -FAR:
            low, high = high, 2 * high
        for _ in range(50):
            middle = 0.5 * (low + high)
            inside = log_density(np.array(mode + sign * middle), a, b) > -FAR
            low, high = (middle, high) if inside else (low, middle)
        ends.append(mode + sign * high)
    z, step = np.linspace(*ends, 20_001 if min(a, b) > 0.1 else 400_001, retstep=True)
    return ends[0], ends[1], float(np.exp(log_density(z, a, b)).sum() * step)


def density(z: Array, dist: Pair) -> Array:
    """Return the density of the log-odds."""
    return np.exp(log_density(z, *dist)) / extent(*dist)[2]


def tail(z: Array, dist: Pair, upper: bool) -> Array:
    """Return P(log-odds <= z), or > z."""
    a, b = dist[::-1] if upper else dist
    p, q = share(-z if upper else z)
    return np.where(p < q, special.betainc(a, b, np.minimum(p, 0.5)), special.betaincc(b, a, np.minimum(q, 0.5)))


def solve(f: Callable[[Any, Any], Any], x: float, sign: float) -> Array:
    """Return the log-odds where f(p, 1 - p) = x, f monotone; -inf (inf) where it is beyond x already (still not).

    Secants in log((f - f(0)) / (f(1) - f)), straight for a ratio of linear functions; bisection where they fail.
    """
    with np.errstate(all="ignore"):
        low, high = np.broadcast_arrays(f(np.array(TINY), np.array(1.0)), f(np.array(1.0), np.array(TINY)))
        before, beyond = sign * (low - x) >= 0, sign * (high - x) <= 0
        inside = ~(before | beyond)

        def level(m: Array) -> Array:
            below = 0.0 if np.isinf(low).any() else np.log(np.abs(m - low))
            above = 0.0 if np.isinf(high).any() else np.log(np.abs(high - m))
            return np.asarray(below - above)

        target = level(np.full(low.shape, x))
        z = np.zeros(low.shape)
        y = level(f(*share(z))) - target
        new = np.clip(-y, -690, 690)
        for _ in range(14):
            z_before, y_before, z = z, y, new
            y = level(f(*share(z))) - target
            slope = (y - y_before) / (z - z_before)
            step = np.where(inside, -y / np.where((slope > 0.02) & (slope < 50), slope, 1.0), 0.0)
            new = np.clip(z + np.where(np.isfinite(step), step, 0.0), -690, 690)
            if (np.abs(new - z) <= 1e-13 * (1 + np.abs(z))).all():
                break
        width, slack = 1e-12 * (1 + np.abs(new)), 4e-16 * abs(x)
        found = (sign * (f(*share(new - width)) - x) <= slack) & (sign * (f(*share(new + width)) - x) >= -slack)
        if (inside & ~found).any():
            a, b = np.where(found, new, -690.0), np.where(found, new, 690.0)
            for _ in range(64):
                middle = 0.5 * (a + b)
                up = sign * (f(*share(middle)) - x) > 0
                a, b = np.where(up, a, middle), np.where(up, middle, b)
            new = 0.5 * (a + b)
    return np.where(before, -np.inf, np.where(beyond, np.inf, new))


def adaptive(
    f: Callable[..., Array], panels: Array, owner: NDArray[np.int64], size: int, tol: float, floor: Array, dist: Pair
) -> Array:
    """Integrate f(z, owner) <= density of `dist` over panels (m, 2), by owner: halve until both halves agree."""
    total = np.zeros(size)

    def rule(p: Array, o: NDArray[np.int64]) -> Array:
        half = 0.5 * np.diff(p)[:, 0]
        return np.asarray((f(p.mean(1)[:, None] + half[:, None] * GAUSS[0], o) @ GAUSS[1]) * half)

    top = density(np.clip(math.log(dist[0] / dist[1]), panels[:, 0], panels[:, 1]), dist)
    width = panels[:, 1] - panels[:, 0]
    keep = (top * width > 1e-3 * floor[owner]) & (width > 2e-15 * np.abs(panels).max(1))
    panels, owner = panels[keep], owner[keep]
    whole = rule(panels, owner)
    for _ in range(60):
        if not len(panels):
            break
        middle = panels.mean(1)
        halves = np.stack([panels[:, 0], middle, middle, panels[:, 1]], 1).reshape(-1, 2)
        twice = np.repeat(owner, 2)
        parts = rule(halves, twice)
        new = parts.reshape(-1, 2).sum(1)
        bad = np.abs(new - whole) > tol * (total + np.bincount(owner, new, size))[owner] + floor[owner]
        total += np.bincount(owner[~bad], new[~bad], size)
        again = np.repeat(bad, 2)
        panels, owner, whole = halves[again], twice[again], parts[again]
    return total


class Reference:
    """P(metric <= x) by integrating P(recall or specificity beyond where the metric is x) over the other two.

    Parameters
    ----------
    name : str
    cells : callable
        From pairs (p, 1 - p) of three splits to tp, fn, fp, tn.
    phi, first, second : pair or number
        Numbers of the Betas; `phi` may be known.
    inner : {1, 2}, optional
        Which of `first` and `second` is not integrated; default the one that moves the metric more.
    """

    def __init__(
        self, name: str, cells: Callable[..., Any], phi: Any, first: Pair, second: Pair, inner: int | None = None
    ) -> None:
        self.definition, self.cells = DEFINITIONS[name], cells
        self.dists = [phi, first, second]
        self.centre = [math.log(v[0] / v[1]) if isinstance(v, tuple) else math.log(v / (1 - v)) for v in self.dists]
        moves = [abs(self._change(i, 0.5 * min(math.sqrt(sum(1 / v for v in self.dists[i])), 2.0))) for i in (1, 2)]
        self.inner = inner or (1 if moves[0] >= moves[1] else 2)
        self.sign, self.other_sign = np.sign(self._change(self.inner, 1.0)), np.sign(self._change(3 - self.inner, 1.0))

    def value(self, phi: Any, first: Any, second: Any, sqrt: Any = np.sqrt) -> Any:
        """Return the metric at pairs of the three splits."""
        return self.definition(*self.cells(phi, first, second), sqrt)

    def at(self, phi: Any, inner: Any, other: Any, sqrt: Any = np.sqrt) -> Any:
        """Return the metric by the role of the splits."""
        return self.value(phi, inner, other, sqrt) if self.inner == 1 else self.value(phi, other, inner, sqrt)

    def _change(self, i: int, by: float) -> float:
        ends = []
        for sign in (-1, 1):
            z = list(self.centre)
            z[i] += sign * by
            ends.append(float(self.value(*(share(np.array(v)) for v in z))))
        return ends[1] - ends[0]

    def _given(self, z_phi: Array, x: float, upper: bool, tol: float, floor: Array) -> Array:
        inner, other = self.dists[self.inner], self.dists[3 - self.inner]
        phi, n, (low, high, _) = share(z_phi), len(z_phi), extent(*other)
        usual = tuple(map(float, share(np.array(self.centre[self.inner]))))
        kinks = [
            solve(lambda p, q, end=end: self.at(phi, end, (p, q)), x, self.other_sign)
            for end in ((TINY, 1.0), (1.0, TINY), usual)
        ]
        sd = math.sqrt(sum(1 / v for v in other))
        near = sd * AROUND[:, None]
        marks = [self.centre[3 - self.inner] + k * sd for k in (-6, -2.5, 0, 2.5, 6)]
        parts = [
            np.broadcast_to(kinks[0], (1, n)),
            np.broadcast_to(kinks[1], (1, n)),
            np.broadcast_to(kinks[2], (1, n)) + near,
            np.repeat(np.array([low, *marks, high])[:, None], n, 1),
        ]
        edges = np.concatenate([np.clip(np.nan_to_num(v, nan=high), low, high) for v in parts])
        edges.sort(axis=0)
        panels = np.stack([edges[:-1], edges[1:]], -1).transpose(1, 0, 2).reshape(-1, 2)
        below = (self.sign > 0) != upper

        def integrand(z: Array, owner: NDArray[np.int64]) -> Array:
            here, there = (phi[0][owner][:, None], phi[1][owner][:, None]), share(z)
            edge = solve(lambda p, q: self.at(here, (p, q), there), x, self.sign)
            out = np.where((edge < 0) != below, 1.0, 0.0)
            inside = np.isfinite(edge)
            out[inside] = tail(edge[inside], inner, not below)
            return out * density(z, other)

        return adaptive(integrand, panels, np.repeat(np.arange(n), len(edges) - 1), n, tol, floor, other)

    def tail(self, x: float, upper: bool, scale: float, tol: float) -> float:
        """Return P(metric <= x), or > x, to about `tol` relatively where it is of the size `scale`."""
        phi = self.dists[0]
        if not isinstance(phi, tuple):
            return float(self._given(np.array([self.centre[0]]), x, upper, tol, np.array([tol * scale]))[0])
        low, high, _ = extent(*phi)
        points = [low, high, *(self._crossings(x, low, high))]
        sd = math.sqrt(sum(1 / v for v in phi))
        points += [z for k in (-6, -2.5, 0, 2.5, 6) if low < (z := self.centre[0] + k * sd) < high]
        edges = np.unique(points)

        def outer(z: Array, _: NDArray[np.int64]) -> Array:
            weight = density(z.ravel(), phi)
            floor = tol * scale / (np.maximum(weight, TINY) * (high - low))
            return np.asarray((weight * self._given(z.ravel(), x, upper, tol, floor)).reshape(z.shape))

        panels = np.stack([edges[:-1], edges[1:]], 1)
        owner = np.zeros(len(panels), np.int64)
        return float(adaptive(outer, panels, owner, 1, tol, np.array([tol * scale]), phi)[0])

    def _crossings(self, x: float, low: float, high: float) -> list[float]:
        """Return log-odds of the prevalence where the metric at the rates' edges or centres is x, and some around."""
        grid, points = np.linspace(low, high, 1001), []
        for first, second in (*itertools.product((-690.0, 690.0), repeat=2), (self.centre[1], self.centre[2])):
            rates = share(np.array(first)), share(np.array(second))
            with np.errstate(all="ignore"):
                excess = self.value(share(grid), *rates) - x
                for i in np.nonzero(excess[1:] * excess[:-1] < 0)[0]:
                    a, b = grid[i], grid[i + 1]
                    for _ in range(55):
                        middle = 0.5 * (a + b)
                        same = (self.value(share(np.array(middle)), *rates) - x) * excess[i] > 0
                        a, b = (middle, b) if same else (a, middle)
                    points += list(a + AROUND) if first == self.centre[1] else [a]
        return [z for z in points if low < z < high]


# ---- mpmath --------------------------------------------------------------------------------------------------------


def beta_tail(x: Any, rest: Any, a: Any, b: Any, upper: bool) -> Any:
    """Return P(X <= x) of a Beta, or > x, by the continued fraction (DLMF 8.17.22)."""
    if upper:
        x, rest, a, b = rest, x, b, a
    if x <= 0 or rest <= 0:
        return mpmath.mpf(0 if x <= 0 else 1)
    if x * (a + b) > a + 1:
        return 1 - beta_tail(x, rest, a, b, True)
    front = mpmath.exp(a * mpmath.log(x) + b * mpmath.log(rest) - _log_beta(a, b)) / a
    eps = mpmath.mpf(10) ** (2 - mpmath.mp.dps)
    value, c, d = mpmath.mpf(1), mpmath.mpf(1), mpmath.mpf(0)
    for m in itertools.count(1):  # Lentz
        k = m // 2
        up = -(a + k) * (a + b + k) if m % 2 else k * (b - k)
        t = up * x / ((a + m - 1) * (a + m))
        d = 1 / (1 + t * d)
        c = 1 + t / c
        value *= c * d
        if abs(c * d - 1) < eps:
            break
    return front / value


@cache
def _log_beta(a: Any, b: Any) -> Any:
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def beta_reference(name: str, dist: Pair, x: float, upper: bool) -> float:
    """Return a tail of a Beta, or of F1, at 30 digits."""
    with mpmath.workdps(40):
        at = mpmath.mpf(x)
        at = at / (2 - at) if name == "f1" else at
        return float(beta_tail(at, 1 - at, mpmath.mpf(dist[0]), mpmath.mpf(dist[1]), upper))


def integral_reference(reference: Reference, x: float, upper: bool) -> float:
    """Return the same as :meth:`Reference.tail` of a distribution by one integral, at 30 digits; roots by bisection."""
    with mpmath.workdps(30):
        return float(_integral_mp(reference, mpmath.mpf(x), upper))


def _integral_mp(reference: Reference, x: Any, upper: bool) -> Any:
    inner, other = reference.dists[reference.inner], reference.dists[3 - reference.inner]
    p = mpmath.mpf(reference.dists[0])
    phi = (p, 1 - p)
    a, b = map(mpmath.mpf, other)
    below = (reference.sign > 0) != upper

    ends = ((mpmath.mpf(10) ** -300, mpmath.mpf(1)), (mpmath.mpf(1), mpmath.mpf(10) ** -300))

    def pair(z: Any) -> tuple[Any, Any]:
        return 1 / (1 + mpmath.exp(-z)), 1 / (1 + mpmath.exp(z))

    def root(f: Callable[[Any], Any], rising: bool) -> Any:
        """As :func:`solve`: secants, then a check on both sides, else bisection."""
        low, high = f(ends[0]), f(ends[1])
        if (low >= x) == rising and low != x:
            return -mpmath.inf
        if (high <= x) == rising and high != x:
            return mpmath.inf
        if high - x == 0 or low - x == 0:
            return -mpmath.inf if low == x else mpmath.inf

        def level(z: Any) -> Any:
            m = f(pair(z))
            return mpmath.log((m - low) / (x - low) * (high - x) / (high - m))

        new = mpmath.mpf(0)
        with contextlib.suppress(ZeroDivisionError, ValueError):  # flat to 30 digits
            z, y = mpmath.mpf(0), level(mpmath.mpf(0))
            new = -y
            for _ in range(30):
                if new == z or abs(new) > 600:
                    break
                z_before, y_before, z = z, y, new
                y = level(z)
                new = z - y * (z - z_before) / (y - y_before) if y != y_before else z
        width = mpmath.mpf(10) ** -22 * (1 + abs(new))
        if (f(pair(new - width)) < x) == rising and (f(pair(new + width)) > x) == rising:
            return new
        a, b = mpmath.mpf(-690), mpmath.mpf(690)
        while b - a > width:
            middle = (a + b) / 2
            a, b = (a, middle) if (f(pair(middle)) > x) == rising else (middle, b)
        return a

    def edge_of(second: Any) -> Any:
        return root(lambda at: reference.at(phi, at, second, mpmath.sqrt), reference.sign > 0)

    def integrand(z: Any) -> Any:
        there = pair(z)
        z_inner = edge_of(there)
        if mpmath.isinf(z_inner):
            inside = mpmath.mpf(int((z_inner < 0) != below))
        else:
            inside = beta_tail(*pair(z_inner), mpmath.mpf(inner[0]), mpmath.mpf(inner[1]), not below)
        return inside * mpmath.exp(a * mpmath.log(there[0]) + b * mpmath.log(there[1]) - _log_beta(a, b))

    low, high, _ = extent(*other)
    usual = pair(mpmath.mpf(reference.centre[reference.inner]))
    rising = reference.other_sign > 0
    kinks = [root(lambda at, fixed=v: reference.at(phi, fixed, at, mpmath.sqrt), rising) for v in (*ends, usual)]
    sd = math.sqrt(sum(1 / v for v in other))
    marks = [reference.centre[3 - reference.inner] + k * sd for k in (-6, -3, 0, 3, 6)]
    points = sorted({mpmath.mpf(min(max(z, low), high)) for z in (low, high, *kinks, *marks)})
    return mpmath.quad(integrand, points, maxdegree=5)


# ---- the tables ----------------------------------------------------------------------------------------------------


def distribution(name: str, cells: tuple[int, ...], model: str, prior: str, prevalence: Any) -> Any:
    """Return the distribution under test."""
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    return bayescm.metric_distribution(counts, name, model=model, prior=prior, prevalence=prevalence)


def plan() -> list[tuple[str, tuple[int, ...], tuple[str, str, Any]]]:
    """Return metric, cells and setting of every distribution: each metric meets all matrices, settings recur."""
    dists = []
    for (i, name), (j, cells) in itertools.product(enumerate(DEFINITIONS), enumerate(COUNTS)):
        setting = SETTINGS[(i + 3 * j) % len(SETTINGS)]
        if setting[2] == "fixed" and not (cells[0] + cells[1] and cells[2] + cells[3]):
            setting = SETTINGS[1]
        if name == "prevalence" and setting[2] is not None and not isinstance(setting[2], tuple):
            setting = SETTINGS[4]  # else a known number
        dists.append((name, cells, setting))
    return dists


def rows(
    dist: tuple[str, tuple[int, ...], tuple[str, str, Any]], places: list[int], check: str | None = "coarse"
) -> list[dict]:
    """Compare one distribution with its reference at some of PROBABILITIES.

    `check` compares the reference itself with a coarser one, or ("mpmath", one integral) with 30 digits.
    """
    name, cells, setting = dist
    tested = distribution(name, cells, *setting)
    integrals = tested.dist.integrals if isinstance(tested.dist, Integral) else 0
    x = tested.ppf(PROBABILITIES).values
    cdf, sf, estimate = (getattr(tested, what)(x).values for what in ("cdf", "sf", "error"))
    found = []
    for i in places:
        upper = bool(sf[i] < cdf[i])
        got, start, at = float(min(cdf[i], sf[i])), time.perf_counter(), float(x[i])
        edges = [edge for edge in (tested.metric.lower, tested.metric.upper) if edge != 0.0]
        if min(abs(at - edge) for edge in edges) < NEAR:
            continue
        if (beta := one_beta(name, cells, *setting)) is not None:
            want, unsure, how = beta_reference(name, beta, at, upper), 0.0, "mpmath"
        else:
            reference = Reference(name, *tree(name, cells, *setting))
            tol = 1e-7 if isinstance(reference.dists[0], tuple) else 1e-11
            want, unsure, how = reference.tail(at, upper, max(got, LEAST), tol), math.nan, "double"
            if check == "coarse":
                unsure = _relative(reference.tail(at, upper, max(got, LEAST), 100 * tol), want)
            elif check == "mpmath" and not isinstance(reference.dists[0], tuple):
                exact = integral_reference(reference, at, upper)
                want, unsure, how = exact, _relative(want, exact), "mpmath"
        found.append({
            "metric": name, **dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)), "model": setting[0],
            "prior": setting[1], "prevalence": setting[2], "integrals": integrals,
            "probability": f"{PROBABILITIES[i]:.7g}", "x": f"{at:.17g}", "smaller_tail": f"{want:.12g}",
            "error": f"{_relative(got, want):.1e}", "estimate": f"{estimate[i]:.1e}",
            "complement": f"{abs(cdf[i] + sf[i] - 1):.1e}", "reference": how, "reference_error": f"{unsure:.1e}",
            "seconds": f"{time.perf_counter() - start:.2f}",
        })  # fmt: skip
    return found


def _relative(got: float, want: float) -> float:
    return abs(got / want - 1) if want else float(got != want)


def broken(row: dict) -> bool:
    """Say whether a row breaks the promise."""
    return float(row["smaller_tail"]) > LEAST and not float(row["error"]) <= PROMISE[row["integrals"]]


def table(results: list[dict], moments: list[dict]) -> str:
    """Return the summary for the page on theory."""
    heads = "integrals", "comparisons", "median error", "99%", "worst", "above the promise", "... unannounced"
    heads += "error above its estimate, and above 1e-9", "references agree to (median, worst)"
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for n in (0, 1, 2):
        part = [row for row in results if row["integrals"] == n]
        errors = sorted(float(row["error"]) for row in part)
        worst = [row for row in part if broken(row)]
        silent = [row for row in worst if float(row["estimate"]) < PROMISE[n]]
        low = sum(float(r["error"]) > max(float(r["estimate"]), 1e-9) for r in part) if n else 0
        sure = [u for row in part if not math.isnan(u := float(row["reference_error"]))]
        agreement = f"{statistics.median(sure):.0e}, {max(sure):.0e}" if n else "mpmath"
        values = (
            n, len(part), f"{statistics.median(errors):.0e}", f"{errors[int(0.99 * len(errors))]:.0e}",
            f"{errors[-1]:.0e}", f"{len(worst)} (of {PROMISE[n]:.0e})", len(silent), low, agreement,
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, values))} |")
    heads = "metric", "worst case (TP, FN, FP, TN)", "model, prior, prevalence", "probability", "error", "estimate"
    lines += ["", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for name in DEFINITIONS:
        row = max((r for r in results if r["metric"] == name), key=lambda r: float(r["error"]))
        cells = ", ".join(f"{row[c]:,}" for c in ("tp", "fn", "fp", "tn"))
        how = f"{row['model']}, {row['prior']}" + (f", {row['prevalence']}" if row["prevalence"] is not None else "")
        lines.append(f"| {name} | {cells} | {how} | {row['probability']} | {row['error']} | {row['estimate']} |")
    lines += ["", "| moment | comparisons | median error | worst | of |", "|---|---|---|---|---|"]
    for what in ("mean", "sd"):
        finite = [row for row in moments if math.isfinite(float(row[what]))]
        row = max(finite, key=lambda r: float(r[f"{what}_error"]))
        middle = statistics.median(float(r[f"{what}_error"]) for r in finite)
        cells = ", ".join(f"{row[c]:,}" for c in ("tp", "fn", "fp", "tn"))
        lines.append(
            f"| {what} (error in units of the sd) | {len(finite)} | {middle:.0e} | {row[f'{what}_error']} "
            f"| {row['metric']} at ({cells}), {row['model']}, {row['prior']} |"
        )
    return "\n".join(lines) + "\n"


def grid(a: float, b: float, n: int) -> tuple[Array, Array, Array]:
    """Return p, 1 - p and weights for means over a Beta: the trapezoid rule in the log-odds."""
    low, high, _ = extent(a, b)
    z = np.linspace(low, high, n)
    weight = np.exp(log_density(z, a, b))
    return *share(z), weight / weight.sum()


def moment_rows(
    names: Any = tuple(DEFINITIONS), matrices: Any = ((26, 0, 2, 6), (65, 15, 35, 30), (3, 0, 2, 1000), (0, 0, 7, 30))
) -> list[dict]:
    """Compare mean and sd: closed forms of expectations of products, else trapezoid rules over all three."""
    found = []
    for name, cells, setting in itertools.product(names, matrices, SETTINGS[:2]):
        if name == "prevalence":
            continue
        phi, recall, specificity = posterior(cells, *setting)
        splits = [grid(*dist, 241) for dist in (recall, specificity)]
        shape = (slice(None), None, None), (None, slice(None), None), (None, None, slice(None))
        half = np.full(1, 0.5), np.full(1, 0.5), np.ones(1)
        share_of_classes = half if name in OF_RATES else grid(*phi, 161)
        (p, q, w0), (r, rq, w1), (s, sq, w2) = (
            tuple(v[at] for v in split) for split, at in zip((share_of_classes, *splits), shape, strict=True)
        )
        value = DEFINITIONS[name](p * r, p * rq, q * sq, q * s, np.sqrt)
        weight = w0 * w1 * w2
        mean = float((value * weight).sum())
        sd = float(np.sqrt(((value - mean) ** 2 * weight).sum()))
        exact = closed_moments(name, recall, specificity)
        if exact is not None:
            mean, sd = exact
        dist = distribution(name, cells, *setting)
        got = float(dist.mean()), float(dist.std())
        unit = sd if math.isfinite(sd) else 1.0
        found.append({
            "metric": name, **dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)), "model": setting[0],
            "prior": setting[1], "mean": f"{mean:.12g}", "sd": f"{sd:.12g}",
            "mean_error": f"{_apart(got[0], mean) / unit:.1e}", "sd_error": f"{_apart(got[1], sd) / unit:.1e}",
        })  # fmt: skip
    return found


def _apart(got: float, want: float) -> float:
    same = got == want or (math.isnan(got) and math.isnan(want))
    return 0.0 if same else abs(got - want)


def closed_moments(name: str, recall: Pair, specificity: Pair) -> tuple[float, float] | None:
    """Return mean and sd of ratios of rates in mpmath; infinite (the sd NaN without a mean) where there is none."""
    (tp, fn), (tn, fp) = recall, specificity
    powers: dict[str, list[tuple[float, float, int, int]]] = {  # E X^i (1 - X)^j of Betas
        "positive_likelihood_ratio": [(tp, fn, 1, 0), (fp, tn, -1, 0)],
        "negative_likelihood_ratio": [(fn, tp, 1, 0), (tn, fp, -1, 0)],
        "diagnostic_odds_ratio": [(tp, fn, 1, -1), (tn, fp, 1, -1)],
        "geometric_mean": [(tp, fn, 0.5, 0), (tn, fp, 0.5, 0)],  # type: ignore[list-item]
    }
    if name not in powers:
        return None
    moments = []
    with mpmath.workdps(40):
        for order in (1, 2):
            moment = mpmath.mpf(1)
            for a, b, i, j in powers[name]:
                if a + order * i <= 0 or b + order * j <= 0:
                    moment = mpmath.inf
                    break
                moment *= mpmath.beta(a + order * i, b + order * j) / mpmath.beta(a, b)
            moments.append(moment)
        if mpmath.isinf(moments[0]):
            return math.inf, math.nan
        if mpmath.isinf(moments[1]):
            return float(moments[0]), math.inf
        return float(moments[0]), float(mpmath.sqrt(moments[1] - moments[0] ** 2))


# ---- draws ---------------------------------------------------------------------------------------------------------

POINTS = np.array([0.003, 0.1, 0.5, 0.9, 0.997])


def scores(matrices: list[tuple[int, ...]], settings: list[tuple[str, str]], draws: int, seed: int) -> Array:
    """Return (distribution - share of draws) / standard error at POINTS by setting, metric, matrix, point."""
    counts = np.array([[[tn, fp], [fn, tp]] for tp, fn, fp, tn in matrices])
    out = np.empty((len(settings), len(DEFINITIONS), len(matrices), len(POINTS)))
    for s, (model, prior) in enumerate(settings):
        batch = bayescm.from_array(counts)
        dists = [bayescm.metric_distribution(batch, name, model=model, prior=prior) for name in DEFINITIONS]
        x = [dist.ppf(POINTS) for dist in dists]
        cdf = [dist.cdf(at).transpose(..., "quantile").values for dist, at in zip(dists, x, strict=True)]
        x = [at.transpose(..., "quantile").values for at in x]
        for m, cells in enumerate(matrices):
            rng = np.random.default_rng([seed, s, m])
            pairs = []
            for a, b in posterior(cells, model, prior, None):
                first, second = rng.standard_gamma(a, draws), rng.standard_gamma(b, draws)
                pairs.append((first / (first + second), second / (first + second)))
            drawn = by_class(*pairs)
            for i, definition in enumerate(DEFINITIONS.values()):
                value = definition(*drawn, np.sqrt)
                below = np.array([np.count_nonzero(value <= at) for at in x[i][m]]) / draws
                p = cdf[i][m]
                out[s, i, m] = (below - p) / np.sqrt(p * (1 - p) / draws)
    return out


def small_matrices(largest: int) -> list[tuple[int, ...]]:
    """Return every (tp, fn, fp, tn) with at most `largest` items."""
    return [c for c in itertools.product(range(largest + 1), repeat=4) if sum(c) <= largest]


def exhaustive() -> None:
    """Compare all distributions of all small matrices with draws, and write the largest scores."""
    models, priors = ("dirichlet_multinomial", "three_binomial"), ("jeffreys", "laplace", "legendre")
    settings = list(itertools.product(models, priors))
    matrices, start = small_matrices(4), time.perf_counter()
    z = scores(matrices, settings, 1_000_000, 1)
    number = z.size
    expected = special.ndtri(1 - 0.5 / number * math.log(2) * 2)  # median of the largest of independent ones
    with (HERE / "distributions_exhaustive.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["metric", "model", "prior", "comparisons", "mean_square", "largest", "tp", "fn", "fp", "tn"])
        for (i, name), (s, (model, prior)) in itertools.product(enumerate(DEFINITIONS), enumerate(settings)):
            part = np.abs(z[s, i])
            worst = matrices[int(part.max(1).argmax())]
            squares = f"{np.square(part).mean():.3f}"
            writer.writerow([name, model, prior, part.size, squares, f"{part.max():.2f}", *worst])
    print(f"{number} comparisons: largest |z| {np.abs(z).max():.2f}, expected about {expected:.2f} if independent; "
          f"mean square {np.square(z).mean():.4f}; {time.perf_counter() - start:.0f} s")  # fmt: skip


def quick() -> int:
    """Check a few distributions of each class; return how many rows break the promise."""
    chosen = [dist for k, dist in enumerate(plan()) if k % 23 == 0 and max(dist[1]) <= 10**6]
    results = [row for k, dist in enumerate(chosen) for row in rows(dist, [k % 6], None)]
    bad = [row for row in results if broken(row)]
    for row in bad:
        print(row)
    worst = {n: max((float(r["error"]) for r in results if r["integrals"] == n), default=0.0) for n in PROMISE}
    print(f"{len(results)} comparisons, {len(bad)} above the promise; worst by number of integrals: {worst}")
    return len(bad)


def main() -> None:
    """Rebuild the files."""
    start, results = time.perf_counter(), []
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    for k, dist in enumerate(plan()):
        if k % every:
            continue
        if k % 50 == 0:
            print(f"{k} distributions, {time.perf_counter() - start:.0f} s", file=sys.stderr)
        tested = distribution(dist[0], dist[1], *dist[2]).dist
        integrals = tested.integrals if isinstance(tested, Integral) else 0
        if integrals == 2:
            results += rows(dist, [k % 6], "coarse") + rows(dist, [(k + 2) % 6], None)
            continue
        exact = integrals == 1 and dist[1] in ((65, 15, 35, 30), (0, 0, 7, 30))
        results += rows(dist, [k % 6], "mpmath" if exact else "coarse")
        results += rows(dist, [i for i in range(6) if i != k % 6])
    moments = moment_rows()
    write_rows(
        HERE / "distributions_error.csv", [{key: v for key, v in row.items() if key != "seconds"} for row in results]
    )
    write_rows(HERE / "distributions_moments.csv", moments)
    (HERE / "distributions_error_table.inc").write_text(table(results, moments), encoding="utf-8")
    print(table(results, moments))
    exact = sum(row["integrals"] == 1 and row["reference"] == "mpmath" for row in results)
    print(f"{exact} tails by one integral at 30 digits; {time.perf_counter() - start:.0f} s")
    for row in sorted(results, key=lambda r: -float(r["seconds"]))[:5]:
        print(row["seconds"], *(row[key] for key in ("metric", "tp", "fn", "fp", "tn", "model", "prevalence")))


if __name__ == "__main__":
    if "--exhaustive" in sys.argv:
        exhaustive()
    elif "--quick" in sys.argv:
        sys.exit(1 if quick() else 0)
    else:
        main()
