"""What docs/verification/methods.py measures: truths from the middle to the edge, and the methods by their names."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import bayescm
from bayescm.comparison import frequentist
from bayescm.distributions import Beta
from bayescm.distributions.contrast import Contrast
from bayescm.distributions.difference import Discordant, Independent
from bayescm.distributions.quadrature import Outer
from bayescm.inference.intervals import FIXED_SAMPLE
from bayescm.regions.credible import Credible
from bayescm.regions.grid import SPACES
from bayescm.regions.methods import Ellipse, Exact, Wilks

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]

LEVEL = 0.95
EPS = 1e-12
"""An end at the truth holds it; rounding may say otherwise."""

RATES = (0.5, 0.7, 0.9, 0.95, 0.99, 0.999)
METRICS = ("precision", "f1", "balanced_accuracy", "matthews_correlation", "cohen_kappa")
CLASSIFIERS = {"good": (0.9, 0.95), "poor": (0.7, 0.7)}
"""Recall and specificity."""
PREVALENCES = (0.5, 0.1, 0.02)
PAIRS = ((0.5, 0.5), (0.7, 0.8), (0.9, 0.9), (0.9, 0.95), (0.95, 0.99), (0.99, 0.99))
"""Rates of two systems on other items."""
DISCORDANT = ((0.4, 0.0), (0.2, 0.1), (0.1, 0.0), (0.05, 0.03), (0.05, 0.0), (0.02, 0.0))
"""Share of the items that one system alone gets right, and the difference of the two accuracies."""
SHARES = ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.3, 0.2), (0.8, 0.15, 0.05), (0.9, 0.09, 0.01), (0.98, 0.01, 0.01))
CHANCES = {"even": (1.0, 1.0), "mean .05": (1.0, 19.0), "mean .01": (1.0, 99.0)}
"""Beta of the items' chances to be positive."""
CURVES = {"weak": (1.0, 0.5), "strong": (2.0, 0.2)}
"""Distance of the normal scores' means, share of cases."""
SUMMARIES = {
    f"summary, {model} {prior}, {kind}": {"model": name, "prior": prior, "ci_kind": kind}
    for model, name, prior in (
        ("dirichlet", "dirichlet_multinomial", "jeffreys"), ("dirichlet", "dirichlet_multinomial", "laplace"),
        ("three binomials", "three_binomial", "jeffreys"),
    )
    for kind in ("hdi", "eti")
}  # fmt: skip


PEERS: dict[str, tuple[tuple[str, ...], Callable[[Array], Array]]] = {}
"""Of docs/verification/peers.py: metrics, and the ends (matrices, metrics, 2) of their intervals from the cells."""


def cells_of(prevalence: Any, recall: Any, specificity: Any) -> Array:
    """Return probabilities (..., 4) of TN, FP, FN and TP."""
    negative = 1.0 - prevalence
    return np.stack(
        [negative * specificity, negative * (1.0 - specificity), prevalence * (1.0 - recall), prevalence * recall], -1
    )


def classifiers() -> dict[str, Array]:
    """Return true classifiers by their names, from the middle to the edge."""
    return {f"{name}, prevalence {p:g}": cells_of(p, *rates)
            for p in PREVALENCES for name, rates in CLASSIFIERS.items()}  # fmt: skip


def drawn_classifiers(number: int) -> Array:
    """Return classifiers over which is averaged: prevalence from .02 to .5, recall and specificity from .6 to .99."""
    u = np.random.default_rng(1).random((number, 3)).T
    return cells_of(0.02 + 0.48 * u[0], 0.6 + 0.39 * u[1], 0.6 + 0.39 * u[2])


def of_metrics(names: Sequence[str]) -> Callable[[Any], Array]:
    """Return the true values of metrics as a function of the cells."""
    metrics = bayescm.metrics.resolve(list(names), 2)
    return lambda theta: np.array(bayescm.metrics.compute(metrics, np.asarray(theta).reshape(2, 2)), float).ravel()


def own(method: str, names: list[str], draws: int, cells: Array) -> Array:
    """Return the ends (matrices, metrics, 2) of a method of ours."""
    counts = bayescm.from_array(cells.reshape(-1, 2, 2), dims="matrix")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = (
            bayescm.summary(counts, names, ci_prob=LEVEL, **SUMMARIES[method])
            if method in SUMMARIES
            else bayescm.interval(counts, names, method, ci_prob=LEVEL, draws=draws, random_seed=1)
        )
    return np.asarray(found["interval"].transpose("matrix", "metric", "ci_bound").values)


def of_cells(method: str, names: Sequence[str], draws: int) -> Callable[[Array], Bounds]:
    """Return the bounds (matrices, metrics) of a method; each matrix is answered once."""
    known: dict[tuple[int, ...], Array] = {}
    ends = PEERS[method][1] if method in PEERS else partial(own, method, list(names), draws)

    def bounds(cells: Array) -> Bounds:
        rows = [tuple(map(int, row)) for row in cells]
        if new := [row for row in dict.fromkeys(rows) if row not in known]:
            known.update(zip(new, ends(np.array(new)), strict=True))
        lower, upper = np.moveaxis(np.array([known[row] for row in rows]), -1, 0)
        return lower - EPS, upper + EPS

    return bounds


def of_positives(method: str, n: int, draws: int) -> Callable[[Array], Bounds]:
    """Return the bounds of the recall of n positives, k of them found."""
    matrices = of_cells(method, ["recall"], draws)

    def bounds(k: Array) -> Bounds:
        nothing = np.zeros_like(k)
        lower, upper = matrices(np.stack([nothing, nothing, n - k, k], -1))
        return lower[:, 0], upper[:, 0]

    return bounds


def served(method: str) -> tuple[str, ...]:
    """Return the metrics of a matrix that a method serves."""
    if method in PEERS:
        return PEERS[method][0]
    return METRICS[:2] if method in FIXED_SAMPLE else METRICS


def of_difference(design: str, n: int, kinds: Sequence[str]) -> tuple[tuple[str, ...], Callable[[Array], Bounds]]:
    """Return names and bounds (samples, methods) of the difference of two accuracies.

    The tests' methods first, then `compare_systems` itself, by the distributions that it uses for the recall of other
    items and for the accuracy on the same: the study compares them with its answers.
    """
    same = design == "same items"
    names = frequentist.PAIRED_INTERVALS if same else frequentist.INDEPENDENT_INTERVALS
    own: dict[tuple[int, int], Array] = {}

    def intervals(counts: Array) -> list[Array]:
        first, second = map(int, counts[1:3] if same else counts[:, 1])
        turned = (first < second) if same else (first + second > n) or (first + second == n and first < second)
        mirrored = (second, first) if same else (n - first, n - second)
        key = mirrored if turned else (first, second)
        if key not in own:
            dist = posterior(design, *key, n)
            own[key] = np.array([dist.interval(LEVEL, kind) for kind in kinds]).reshape(-1, 2)
        values = -own[key][:, ::-1] if turned else own[key]
        tests = (
            frequentist.paired_intervals(frequentist.Agreement(*map(float, counts)), LEVEL)
            if same
            else frequentist.independent_intervals((float(first), float(second)), (float(n), float(n)), LEVEL)
        )
        return [*tests, *values]

    def bounds(counts: Array) -> Bounds:
        lower, upper = np.moveaxis(np.array([intervals(one) for one in counts]), -1, 0)
        return lower - EPS, upper + EPS

    return (*names, *(f"compare_systems, {kind}" for kind in kinds)), bounds


def posterior(design: str, first: float, second: float, n: int) -> Contrast:
    """Return the distribution of the difference that `compare_systems` uses by default."""
    if design == "same items":
        return Discordant(first + 1.0, second + 1.0, n - first - second + 1.0)
    both = (Outer(Beta(np.float64(k + 0.5), np.float64(n - k + 0.5)), 0.0, 1.0) for k in (first, second))
    return Independent(*both)  # type: ignore[arg-type]


def same_items(discordant: float, difference: float, right: float = 0.9) -> Array:
    """Return probabilities of: both right, only the first, only the second, none."""
    first, second = (discordant + difference) / 2, (discordant - difference) / 2
    return np.array([(1 - discordant) * right, first, second, (1 - discordant) * (1 - right)])


def in_regions(space_name: str, n: int) -> tuple[tuple[str, ...], Callable[[Array, Array], Array]]:
    """Return names, and of matrices and a true classifier whether the 95% regions hold its point."""
    space = SPACES[space_name]
    methods = {"wilks": Wilks(space), "exact": Exact(space, False), "exact, mid_p": Exact(space, True),
               "ellipse": Ellipse(space, np.zeros((2, 2)))}  # fmt: skip
    limits: dict[bytes, float] = {}
    credible = Credible(space, np.full(4, 0.5))

    def inside(counts: Array, theta: Array) -> Array:
        cells = np.ascontiguousarray(counts, np.float64)
        y, x = (np.full(len(cells), k / (k + other)) for k, other in (rate(theta) for rate in space.rates))
        held = [method.at(cells, y, x)[1] <= LEVEL + EPS for method in methods.values()]
        new = np.array([row for row in cells if row.tobytes() not in limits])
        if len(new):
            limits.update(zip((row.tobytes() for row in new), credible.limits(new, LEVEL), strict=True))
        own = np.array([limits[row.tobytes()] for row in cells])
        return np.stack([*held, Wilks(space).deviance(cells, y, x) <= own], -1)

    return (*methods, "credible"), inside


def of_scores(n: int) -> Callable[[np.random.Generator, Any], tuple[Array, Array]]:
    """Return a simulation of labels and normal scores, with a fixed number of cases."""

    def simulate(rng: np.random.Generator, curve: tuple[float, float]) -> tuple[Array, Array]:
        y = np.repeat([0.0, 1.0], [n - round(n * curve[1]), round(n * curve[1])])
        return y, rng.normal(curve[0] * y)

    return simulate


BANDS = (("simultaneous", "roc"), ("whole", "roc"), ("simultaneous", "pr"))


def in_bands(data: tuple[Array, Array], curve: Array) -> list[bool]:
    """Say whether each band holds the whole of a true curve."""
    mu, prevalence = curve
    drawn = bayescm.curve_posterior(*data, prevalence=float(prevalence), chains=1, draws=1000, random_seed=1)
    held = []
    for kind, space in BANDS:
        band = bayescm.curve_band(drawn, method=kind, space=space, ci_prob=LEVEL)["band"]
        axis = band["fpr" if space == "roc" else "recall"].values
        low, high = band.values.T
        if space == "roc":
            true = stats.norm.sf(stats.norm.isf(axis) - mu)
        else:
            fpr = stats.norm.sf(stats.norm.isf(axis) + mu)
            true = prevalence * axis / np.maximum(prevalence * axis + (1 - prevalence) * fpr, 1e-300)
        shown = ~np.isnan(low) & (axis >= 0.05) & (axis <= 0.95)
        held.append(bool(((low - 1e-9 <= true) & (true <= high + 1e-9))[shown].all()))
    return held


RELIABILITY = ("clopper_pearson", "wilson", "jeffreys")


def of_chances(n: int) -> Callable[[np.random.Generator, Any], tuple[Array, Array]]:
    """Return a simulation of items whose scores are their chances."""

    def simulate(rng: np.random.Generator, beta: tuple[float, float]) -> tuple[Array, Array]:
        chance = rng.beta(*beta, n)
        return (rng.random(n) < chance).astype(float), chance

    return simulate


def in_reliability(data: tuple[Array, Array], _: Array) -> list[bool]:
    """Say whether the bands of five bins hold the mean chance of every bin."""
    held = []
    for method in RELIABILITY:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = bayescm.curves.reliability(
                *data, bins=5, method=method, ci_prob=LEVEL, labels=[0.0, 1.0], pos_label=1.0
            )
        (lower, upper), mean = found["interval"].values.T, found["mean_score"].values
        held.append(bool(((lower - EPS <= mean) & (mean <= upper + EPS))[~np.isnan(mean)].all()))
    return held
