"""Items that come in chunks: each chunk is reduced to its distinct rows and how often they occur, and forgotten."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.labels import label_array, no_missing
from bayescm.data.scores import Scores, check_scores, signed

Columns = dict[str, NDArray[Any]]

_WAITING = 1_000_000
"""So many distinct rows at least are kept before those of several chunks are put together."""


def is_stream(data: Any) -> bool:
    """Say whether data are an iterator over chunks."""
    return hasattr(data, "__next__")


def in_chunks(chunks: Iterable[Any], read: Callable[[Any], Columns]) -> Iterator[Columns]:
    """Read chunk after chunk, and say of an error in which it is.

    Parameters
    ----------
    chunks : iterable
    read : callable
        Returns the checked columns of a chunk.

    Yields
    ------
    dict of str to ndarray

    Raises
    ------
    ValueError, TypeError
        As `read`, and if there is no chunk.
    """
    number = -1
    for number, chunk in enumerate(chunks):
        try:
            yield read(chunk)
        except (ValueError, TypeError) as error:
            raise type(error)(f"In chunk {number}: {error}") from error
    if number < 0:
        raise ValueError("The stream has no chunk; an iterator that was read before is empty, so make a new one.")


def pair_of(chunk: Any, second: str, check: Callable[[str, Any], NDArray[Any]]) -> Columns:
    """Return the checked columns of a chunk that is a pair of arrays, the truth and what `second` names."""
    if isinstance(chunk, Mapping) or hasattr(chunk, "columns") or not hasattr(chunk, "__len__") or len(chunk) != 2:
        raise TypeError(
            f"a chunk must be a pair (y_true, {second}); got {type(chunk).__name__}. Of frames or record batches: "
            f"((batch['label'], batch['{second}']) for batch in batches)."
        )
    columns = {"y_true": label_array("y_true", chunk[0]), second: check(second, chunk[1])}
    validate.same_length(**columns)
    return columns


def distinct_rows(chunks: Iterator[Columns]) -> tuple[Columns, NDArray[np.int64]]:
    """Return the distinct rows of all chunks in order of appearance, and how often each occurs."""
    import pandas as pd

    kept: list[Any] = []
    least = 0
    names: list[str] = []
    for columns in chunks:
        names = list(columns)
        kept.append(pd.DataFrame(columns).groupby(names, sort=False, observed=True).size())
        if sum(map(len, kept)) > 2 * least + _WAITING:
            kept = [_together(kept)]
            least = len(kept[0])
    rows = _together(kept).reset_index(name="_n")
    return {name: rows[name].to_numpy() for name in names}, rows["_n"].to_numpy(np.int64)


def _together(parts: list[Any]) -> Any:
    """Add up how often rows occur in several parts."""
    import pandas as pd

    if len(parts) == 1:
        return parts[0]
    frames = [part.reset_index(name="_n") for part in parts]
    names = list(frames[0].columns[:-1])
    whole = pd.concat([frame.astype(dict.fromkeys(names, object)) for frame in frames] if _mixed(frames) else frames)
    return whole.groupby(names, sort=False, observed=True)["_n"].sum()


def _mixed(frames: list[Any]) -> bool:
    """Say whether a column has several types."""
    return any(frame.dtypes.ne(frames[0].dtypes).any() for frame in frames)


def scores_of(chunks: Iterable[Any], labels: Any, pos_label: Any, direction: str) -> Scores:
    """Return the distinct pairs of label and score in a stream of pairs, and how many items each stands for."""
    rows, n = distinct_rows(in_chunks(chunks, lambda chunk: pair_of(chunk, "y_score", validate.real_numbers)))
    return check_scores(rows["y_true"], rows["y_score"], labels, pos_label, direction)._replace(n=n)


def above_thresholds(
    chunks: Iterator[Columns], cut: NDArray[np.float64] | None, sign: float
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
    """Count the items of each label whose scores reach each threshold.

    Parameters
    ----------
    chunks : iterator of dict
        ``y_true`` and ``y_score``.
    cut : ndarray of shape (thresholds,) or None
        None: every distinct score, from the largest.
    sign : float
        -1 where smaller scores are positive; `cut` has it already.

    Returns
    -------
    labels : ndarray
    cut : ndarray of shape (thresholds,)
    counts : ndarray of shape (labels, thresholds + 1)
        The last column counts all items of the label.
    """
    if cut is None:
        rows, n = distinct_rows(chunks)
        cut = np.unique(signed(rows["y_score"], sign))[::-1]
        chunks, weights = iter([rows]), n.astype(np.float64)
    else:
        weights = None
    order = np.argsort(cut)
    edges = cut[order]
    found: dict[Any, NDArray[np.int64]] = {}
    for columns in chunks:
        place = np.searchsorted(edges, signed(columns["y_score"], sign), side="right")
        for label in np.unique(columns["y_true"]).tolist():
            mine = columns["y_true"] == label
            tally = np.bincount(place[mine], None if weights is None else weights[mine], len(edges) + 1)
            found[label] = found.get(label, 0) + tally.astype(np.int64)
        if len(found) > 2:
            no_missing("y_true", np.array(list(found)), items=np.array([tally.sum() for tally in found.values()]))
            raise ValueError(f"`y_true` must have two classes; got {list(found)}. Make one class against the rest.")
    tallies = np.stack(list(found.values()))
    reached = tallies[:, ::-1].cumsum(-1)[:, ::-1]  # items with at least so many edges below or at their scores
    counts = np.empty((len(found), len(cut) + 1), np.int64)
    counts[:, order], counts[:, -1] = reached[:, 1:], reached[:, 0]
    return label_array("y_true", np.array(list(found), object)), cut, counts
