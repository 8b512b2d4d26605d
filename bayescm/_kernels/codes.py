"""Codes, sizes and records that the kernels share with those who call them. No numba here."""

from typing import Any, NamedTuple

# scales of a metric
IDENTITY, SQUARE, ODDS_SQUARE, CORRELATION = range(4)
SCALES = ("identity", "square", "odds_square", "correlation")

LEFT_INSIDE, ROOT_INSIDE = range(2)
"""Shapes of a tree of three Betas: which of them is integrated last."""
BETA, HALF, FIRST, PREVALENCE, KNOWN, PREVALENCE_REVERSED, KNOWN_REVERSED = range(7)
"""A split: Beta of its cells; without influence; only its first cell counts; the prevalence's Beta; a known number;
the last two for the share of the negative class."""
DIFFERENCE, RISK_RATIO, ODDS_RATIO, SAME_ITEMS = range(4)
"""What a score test compares: independent proportions, or those of the same items by their difference."""
STATISTICS = ("mean", "sd", "median", "lower", "upper", "is_hdi", "error")

AREAS = (
    "auc", "lower_trapezoid", "upper_trapezoid", "average_precision", "interpolated_max", "interpolated_mean",
    "interpolated_median", "interpolated_convex",
)  # fmt: skip
AUC, LOWER, UPPER, AVERAGE, MAX, MEAN, MEDIAN, CONVEX = range(len(AREAS))

DEGREE = 12
"""Of the polynomial that maps a statistic of the plane to another scale."""
COEFFICIENTS = DEGREE + 1
FITTED = COEFFICIENTS + 4
"""What is known of a matrix then: coefficients, error of the fit, error of the masses, mass reached, statistic."""
FIT_CELLS = 512
"""Of the table that does it where no polynomial is close."""
SERIES = 4
"""Room for a convolution: that many series."""
STEPS = 1024
"""Of the table of masses of a density, uniform in its logarithm."""

MAX_CELLS = 400
"""Of the table of a Beta, whose shape is `TABLE`."""
TABLE = (MAX_CELLS + 1, 8)
DESCRIPTION = 14
"""How many numbers describe it."""
COARSE = 25
"""Nodes of the first step of an integral over a Beta."""
PATH = (2 * (COARSE - 1), 8)
"""Of a Beta's quantile, as a function of the normal one: polynomials between these nodes and those amid them."""
NEVER = 1e-15
"""A probability that ranks take for 0."""
LANES = 64
"""Systems at a time, whose ranks stay in cache."""


class Formula(NamedTuple):
    """A metric: ways to hang its cells on a tree (t, 8), num / den as quadratic forms (4, 4), scale, range."""

    trees: Any
    num: Any
    den: Any
    kind: int
    lower: float
    upper: float


class Read(NamedTuple):
    """What is read from drawn curves: float64 arrays (draws, ...), or (systems, draws, ...), which kernels fill."""

    areas: Any
    """(..., 3): AUC; average precision, with the precision at each score and above; area under the PR curve."""
    tpr: Any
    """At each false positive rate asked for: the largest true positive rate."""
    under: Any
    """And the area under the curve to its left."""
    fpr: Any
    """At each true positive rate asked for: the least false positive rate."""
    left: Any
    """And the area to the left of the curve below it."""
    mark_tpr: Any
    mark_fpr: Any
    """Rates at the marks."""


class Ranking(NamedTuple):
    """Where S steps lie among K distinct scores: int64 arrays."""

    first: Any
    """(S + 1,) the distinct score that each step begins with; the last is their number."""
    above: Any
    """(K + 1,) controls above each distinct score: where a run is split by a prior case."""
    cuts: Any
    """(M,) steps before each place where the rates are to be read; no run passes one."""


class Steps(NamedTuple):
    """Items, or masses, of every step: the run of controls, the cases at the score behind it, the controls there."""

    run: Any
    cases: Any
    tied: Any
