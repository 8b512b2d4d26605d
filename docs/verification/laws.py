"""Check the exact laws: ``python -m uv run python docs/verification/laws.py`` (8 minutes on one core).

Every metric x matrices x priors, models and prevalences against references that share nothing with the package: from
the definition of each metric, in mpmath at 30 digits or by adaptive Gauss rules in double precision. Writes
laws_error.csv, laws_moments.csv and laws_error_table.inc. ``--quick`` checks a few rows (seconds), writes nothing and
fails if an error exceeds the promise; ``--exhaustive`` compares every matrix of at most 4 items with a million draws
(10 minutes; writes laws_exhaustive.csv).
"""

import csv
import itertools
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy import special

import bayescm
from bayescm.laws import IntegralLaw

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
FAR = 65.0  # log of density, below its mode, where a law ends
GAUSS = np.polynomial.legendre.leggauss(12)


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


@lru_cache(maxsize=None)
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


def density(z: Array, law: Pair) -> Array:
    """Return the density of the log-odds."""
    return np.exp(log_density(z, *law)) / extent(*law)[2]


def tail(z: Array, law: Pair, upper: bool) -> Array:
    """Return P(log-odds <= z), or > z."""
    a, b = law[::-1] if upper else law
    p, q = share(-z if upper else z)
    return np.where(p < q, special.betainc(a, b, np.minimum(p, 0.5)), special.betaincc(b, a, np.minimum(q, 0.5)))


def solve(f: Callable[[Any, Any], Any], x: float, sign: float) -> Array:
    """Return the log-odds where f(p, 1 - p) = x, f monotone; -inf (inf) where it is beyond x already (still not).

    Secants in log((f - f(0)) / (f(1) - f)), which is straight for a ratio of linear functions; bisection where they fail.
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
    f: Callable[..., Array], panels: Array, owner: NDArray[np.int64], size: int, tol: float, floor: Array, law: Pair
) -> Array:
    """Integrate f(z, owner) <= density of `law` over panels (m, 2), summed by owner: halve until both halves agree."""
    total = np.zeros(size)

    def rule(p: Array, o: NDArray[np.int64]) -> Array:
        half = 0.5 * np.diff(p)[:, 0]
        return np.asarray((f(p.mean(1)[:, None] + half[:, None] * GAUSS[0], o) @ GAUSS[1]) * half)

    top = density(np.clip(math.log(law[0] / law[1]), panels[:, 0], panels[:, 1]), law)
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
    """P(metric <= x) by integrating P(recall or specificity beyond where the metric is x) over the other two laws.

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
        self.laws = [phi, first, second]
        self.centre = [math.log(v[0] / v[1]) if isinstance(v, tuple) else math.log(v / (1 - v)) for v in self.laws]
        moves = [abs(self._change(i, 0.5 * min(math.sqrt(sum(1 / v for v in self.laws[i])), 2.0))) for i in (1, 2)]
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
        inner, other = self.laws[self.inner], self.laws[3 - self.inner]
        phi, n, (low, high, _) = share(z_phi), len(z_phi), extent(*other)
        usual = tuple(map(float, share(np.array(self.centre[self.inner]))))
        kinks = [
            solve(lambda p, q, end=end: self.at(phi, end, (p, q)), x, self.other_sign)
            for end in ((TINY, 1.0), (1.0, TINY), usual)
        ]
        sd = math.sqrt(sum(1 / v for v in other))
        near = np.concatenate([[0.0], *([d * sd * 5.0**-k] for k in range(5) for d in (-1, 1))])[:, None]
        marks = [self.centre[3 - self.inner] + k * sd for k in (-8, -4, -2, 0, 2, 4, 8)]
        parts = [
            np.broadcast_to(kinks[0], (1, n)), np.broadcast_to(kinks[1], (1, n)),
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
        phi = self.laws[0]
        if not isinstance(phi, tuple):
            return float(self._given(np.array([self.centre[0]]), x, upper, tol, np.array([tol * scale]))[0])
        low, high, _ = extent(*phi)
        points = [low, high, *(self._crossings(x, low, high))]
        sd = math.sqrt(sum(1 / v for v in phi))
        points += [z for k in (-8, -4, -2, 0, 2, 4, 8) if low < (z := self.centre[0] + k * sd) < high]
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
                    points += [a, *(a + sign * 5.0**-k for k in range(7) for sign in (-1, 1))]
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


@lru_cache(maxsize=None)
def _log_beta(a: Any, b: Any) -> Any:
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def beta_reference(name: str, law: Pair, x: float, upper: bool) -> float:
    """Return a tail of a Beta, or of F1, at 30 digits."""
    with mpmath.workdps(40):
        at = mpmath.mpf(x)
        at = at / (2 - at) if name == "f1" else at
        return float(beta_tail(at, 1 - at, mpmath.mpf(law[0]), mpmath.mpf(law[1]), upper))


def integral_reference(reference: Reference, x: float, upper: bool) -> float:
    """Return the same as :meth:`Reference.tail` of a law by one integral, at 30 digits; roots by bisection."""
    with mpmath.workdps(30):
        return float(_integral_mp(reference, mpmath.mpf(x), upper))


def _integral_mp(reference: Reference, x: Any, upper: bool) -> Any:
    inner, other = reference.laws[reference.inner], reference.laws[3 - reference.inner]
    p = mpmath.mpf(reference.laws[0])
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

        z, y, new = mpmath.mpf(0), level(mpmath.mpf(0)), -level(mpmath.mpf(0))
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
