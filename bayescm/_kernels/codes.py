"""Codes and sizes that the kernels share with those who call them. No numba here."""

# scales of a metric
IDENTITY, SQUARE, ODDS_SQUARE, CORRELATION = range(4)
SCALES = ("identity", "square", "odds_square", "correlation")

LEFT_INSIDE, ROOT_INSIDE = range(2)
"""Shapes of a tree of three Betas: which of them is integrated last."""
BETA, HALF, FIRST, PREVALENCE, KNOWN, PREVALENCE_REVERSED, KNOWN_REVERSED = range(7)
"""A split: Beta of its cells; without influence; only its first cell counts; the prevalence's Beta; a known number;
the last two for the share of the negative class."""
STATISTICS = ("mean", "sd", "median", "lower", "upper", "is_hdi", "error")

AREAS = (
    "auc", "lower_trapezoid", "upper_trapezoid", "average_precision", "interpolated_max", "interpolated_mean",
    "interpolated_median", "interpolated_convex",
)  # fmt: skip
AUC, LOWER, UPPER, AVERAGE, MAX, MEAN, MEDIAN, CONVEX = range(len(AREAS))

DEGREE = 12
"""Of the polynomial that maps a statistic of the plane to another scale."""
COEFFICIENTS = DEGREE + 1
TABLE = 512
"""Cells of the table that does it where no polynomial is close."""
STEPS = 1024
"""Of the table of masses of a density, uniform in its logarithm."""
