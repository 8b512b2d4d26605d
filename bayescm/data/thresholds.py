"""Scores become counts at thresholds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.counts import labelled
from bayescm.data.labels import Label, class_order
from bayescm.data.options import plain_words
from bayescm.data.schema import THRESHOLD
from bayescm.data.scores import check_scores, sign_of, signed
from bayescm.data.streams import above_thresholds, in_chunks, is_stream, pair_of
from bayescm.data.words import Direction

Array = NDArray[np.float64]


@plain_words
def counts_at_thresholds(
    y_true: Any,
    y_score: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    pos_label: Label | None = None,
    labels: Sequence[Label] | None = None,
    direction: Direction = "larger",
) -> xr.DataArray:
    """Count the two-class matrix at every threshold: predicted positive where ``score >= threshold``.

    Parameters
    ----------
    y_true : array_like of shape (n,), or iterator
        Actual labels, two classes. Or, without `y_score`, an iterator over chunks, pairs of labels and scores: of given
        thresholds only the counts are kept, else the distinct scores.
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

    Raises
    ------
    ValueError
        For numbers of labels and scores that differ, or a missing score.

    Examples
    --------
    >>> import bayescm
    >>> c = bayescm.curves.counts_at_thresholds([0, 1, 1], [-1.5, 0.0, 2.0])
    >>> c.sel(threshold=0.0).values
    array([[1, 0],
           [0, 2]])
    >>> chunks = iter([([0, 1], [-1.5, 0.0]), ([1], [2.0])])
    >>> bayescm.curves.counts_at_thresholds(chunks, thresholds=[0.0]).values
    array([[[1, 0],
            [0, 2]]])
    """
    if is_stream(y_true) and y_score is None:
        return _of_stream(y_true, thresholds, pos_label, labels, direction)
    if y_score is None:
        raise TypeError("`y_score` is missing: give y_true and y_score, or an iterator over such pairs.")
    scores = check_scores(y_true, y_score, labels, pos_label, direction)
    positive, (score, *others) = scores.positive, scores.score
    if others:
        raise ValueError("`y_score` must be the scores of one system; got several.")
    cases, controls = np.sort(score[positive]), np.sort(score[~positive])
    if thresholds is None:
        cut, tp, fp = _at_each(cases, controls)
    else:
        cut = _checked(thresholds, scores.sign)
        tp, fp = _at_least(cases, cut), _at_least(controls, cut)
    return _labelled(len(controls), fp, len(cases), tp, scores.labels, signed(cut, scores.sign))


def _checked(thresholds: ArrayLike, sign: float) -> Array:
    """Return different thresholds, with the sign of the scores."""
    given = validate.real_numbers("thresholds", np.atleast_1d(validate.array_of("thresholds", thresholds)))
    cut = signed(given, sign)
    validate.unique("thresholds", cut.tolist())
    return cut


def _of_stream(
    chunks: Any, thresholds: ArrayLike | None, pos_label: Label | None, labels: Sequence[Label] | None, direction: str
) -> xr.DataArray:
    """Count the items of chunks at every threshold."""
    sign = sign_of(direction)
    cut = None if thresholds is None else _checked(thresholds, sign)
    pairs = in_chunks(chunks, lambda chunk: pair_of(chunk, "y_score", validate.real_numbers))
    seen, cut, found = above_thresholds(pairs, cut, sign)
    (seen,), order = class_order({"y_true": seen}, labels, pos_label, found[:, -1])
    if len(order) != 2:
        raise ValueError(f"`y_true` must have two classes; got {order.tolist()}. Make one class against the rest.")
    by_class = np.zeros((2, len(cut) + 1), np.int64)
    for label, row in zip(seen, found, strict=True):
        by_class[order == label] += row
    (fp, negatives), (tp, positives) = ((row[:-1], row[-1]) for row in by_class)
    return _labelled(negatives, fp, positives, tp, order, signed(cut, sign))


def _labelled(negatives: Any, fp: Any, positives: Any, tp: Any, order: NDArray[Any], thresholds: Array) -> xr.DataArray:
    """Return counts(threshold, actual, predicted)."""
    counts = np.empty((len(thresholds), 2, 2), np.int64)
    counts[:, 0, 0], counts[:, 0, 1], counts[:, 1, 0], counts[:, 1, 1] = negatives - fp, fp, positives - tp, tp
    return labelled(counts, order, [THRESHOLD]).assign_coords({THRESHOLD: thresholds})


def _at_least(ordered: Array, cut: Array) -> NDArray[np.int64]:
    """Count the scores, in order, that reach each threshold."""
    return (len(ordered) - np.searchsorted(ordered, cut, side="left")).astype(np.int64)


def _at_each(cases: Array, controls: Array) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct scores of both, which are in order, from the largest, and how many of either reach each."""
    both = np.concatenate([cases, controls])
    order = np.argsort(both, kind="stable")  # merges what is in order
    both = both[order]
    first = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]]))
    cut = both[first][::-1]
    del both
    is_control = order >= len(cases)
    del order
    fp = len(controls) - (np.cumsum(is_control)[first] - is_control[first])[::-1]
    return cut, len(cases) + len(controls) - first[::-1] - fp, fp
