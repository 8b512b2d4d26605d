"""Scores become counts at thresholds."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.counts import labelled
from bayescm.data.labels import Label
from bayescm.data.options import plain_words
from bayescm.data.schema import THRESHOLD
from bayescm.data.scores import check_scores, signed


@plain_words
def counts_at_thresholds(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    pos_label: Label | None = None,
    labels: Sequence[Label] | None = None,
    direction: str = "larger",
) -> xr.DataArray:
    """Count the two-class matrix at every threshold: predicted positive where ``score >= threshold``.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    y_score : array_like of shape (n,)
        Any real scores: probabilities, logits, also infinite ones. Equal scores stay together; nothing is compared
        with a tolerance.
    thresholds : array_like, optional
        Default: every distinct score, from the one that calls the fewest items positive.
    pos_label, labels
        As in :func:`confusion_matrix`.
    direction : {"larger", "smaller"}
        Scores that mean positive: "smaller" predicts it where ``score <= threshold``.

    Returns
    -------
    xarray.DataArray
        ``counts(threshold, actual, predicted)``.

    Examples
    --------
    >>> import bayescm
    >>> c = bayescm.counts_at_thresholds([0, 1, 1], [-1.5, 0.0, 2.0])
    >>> c.sel(threshold=0.0).values
    array([[1, 0],
           [0, 2]])
    """
    scores = check_scores(y_true, y_score, labels, pos_label, direction)
    positive, (score, *others) = scores.positive, scores.score
    if others:
        raise ValueError("`y_score` must be the scores of one system; got several.")
    if thresholds is None:
        cut = np.unique(score)[::-1]
    else:
        given = validate.real_numbers("thresholds", np.atleast_1d(validate.array_of("thresholds", thresholds)))
        cut = signed(given, scores.sign)
    validate.unique("thresholds", cut.tolist())
    tp, fp = (_at_least(score[mask], cut) for mask in (positive, ~positive))
    tn, fn = (~positive).sum() - fp, positive.sum() - tp
    counts = np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2)
    return labelled(counts, scores.labels, [THRESHOLD]).assign_coords({THRESHOLD: signed(cut, scores.sign)})


def _at_least(scores: NDArray[np.float64], cut: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the scores that reach each threshold."""
    return (len(scores) - np.searchsorted(np.sort(scores), cut, side="left")).astype(np.int64)
