"""How many items are behind the scores of a board: numbers that all of them can be shares of."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import attributes
from bayescm.priors.reported import Rounding, ends_of, number_as_printed, usual_decimals
from bayescm.results.objects import stamped

N_ITEMS = "n_items"
_TOLERANCE = 1e-9


@stamped
def hidden_size(
    scores: Mapping[Any, Any],
    *,
    decimals: int | None = None,
    rounding: Rounding = "nearest",
    most: int = 10_000,
) -> xr.Dataset:
    """Find the numbers of items that all printed accuracies of a board can come from.

    Parameters
    ----------
    scores : mapping of system to number or str
        Accuracies, or other shares of the same items, as they are printed: 0.634, "63.4%".
    decimals, rounding
        As in :func:`bayescm.from_reported`.
    most : int
        Largest number that is tried.

    Returns
    -------
    xarray.Dataset
        Over ``n_items``, the numbers that fit all: ``probability``, if every number of right answers of a system was as
        probable and that of items has a prior of 1 / n up to `most`. ``smallest``, ``likeliest``: two of them.

    Raises
    ------
    ValueError
        If no number fits.

    Notes
    -----
    Ten scores of three decimals fit a wrong number of 200 items with a chance of about .2 to the power of 10, and any
    of more than 1000. Scores that are means over tasks or seeds fit none, or a multiple.

    Examples
    --------
    >>> import bayescm
    >>> board = {"A": 0.787, "B": 0.762, "C": 0.701, "D": 0.652, "E": 0.585, "F": 0.5}
    >>> found = bayescm.priors.hidden_size(board)
    >>> int(found.smallest), round(float(found.probability.sel(n_items=164)), 2)
    (164, 0.98)
    """
    if not isinstance(scores, Mapping) or not scores:
        raise TypeError(f"`scores` must be a mapping of systems to accuracies; got {scores!r}.")
    most = validate.positive_integer("most", most)
    shared = usual_decimals(scores.values()) if decimals is None else decimals
    stated = {name: number_as_printed(str(name), score, shared) for name, score in scores.items()}
    n = np.arange(1, most + 1)
    log, fits = -np.log(n), np.ones(most, bool)
    for value, unit in stated.values():
        low, high = ends_of(value, unit, rounding)
        number = np.floor(np.minimum(high, 1.0) * n + _TOLERANCE) - np.ceil(np.maximum(low, 0.0) * n - _TOLERANCE) + 1
        fits &= number > 0
        log = log + np.log(np.maximum(number, 1)) - np.log(n + 1.0)
    if not fits.any():
        raise ValueError(
            f"`scores`: no number of items up to {most:,} has all of these scores; they are means over tasks or seeds, "
            "of other items each, or rounded otherwise."
        )
    chance = np.exp(log[fits] - log[fits].max())
    known = n[fits]
    return xr.Dataset(
        {
            "probability": (N_ITEMS, chance / chance.sum()),
            "smallest": ((), int(known[0])),
            "likeliest": ((), int(known[chance.argmax()])),
        },
        coords={N_ITEMS: known},
        attrs=attributes(
            scores=len(stated), most=most, rounding=rounding,
            assumptions="every score is a share of the same number of items, rounded as said",
        ),
    )  # fmt: skip
