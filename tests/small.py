"""All small two-class tables."""

import numpy as np


def tables(largest: int) -> np.ndarray:
    """Return every matrix [[tn, fp], [fn, tp]] with at most `largest` items."""
    grid = np.indices([largest + 1] * 4).reshape(4, -1).T
    return grid[grid.sum(1) <= largest].reshape(-1, 2, 2)
