"""Rankings of systems, and votes, which are rankings of two: who was chosen from whom."""

from collections import Counter
from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayescm.data import validate
from bayescm.data.labels import some
from bayescm.data.schema import SYSTEM
from bayescm.data.tables import by_column
from bayescm.data.tabular import read_table

PLACKETT_LUCE = "plackett_luce"
UNRANKED = ("missing", "worst")
_JUDGES = ("judge", "rater", "annotator", "user", "voter", "ranking", "question", "item", "task")
"""What a first column is called that names the rankings, perhaps by numbers."""
_VOTES, _LONG, _SIDES = ("winner", "loser"), {SYSTEM, "rank"}, ("model_a", "model_b")


class Rankings(NamedTuple):
    """Choices of the best of those left, counted.

    Attributes
    ----------
    systems : list of str
    chosen : ndarray of shape (systems, sets)
        How often a system was chosen from a set, rows summed over being how often there was that choice.
    sets : sparse array of shape (sets, systems)
        Who could be chosen.
    number : int
        Of rankings with two systems at least.
    """

    systems: list[str]
    chosen: NDArray[np.float64]
    sets: Any
    number: int


def rankings(data: Any, unranked: str = "missing") -> Rankings:
    """Read rankings.

    Parameters
    ----------
    data
        As in :func:`bayescm.leaderboard` of ``model="plackett_luce"``.
    unranked : {"missing", "worst"}
        Whether a system without a rank wasn't there to be ranked, or is below all that have one.

    Raises
    ------
    ValueError
        For ties, ranks that aren't whole numbers from 1, and fewer than two systems.

    Examples
    --------
    >>> from bayescm.data.rankings import rankings
    >>> read = rankings([("A", "B"), ("A", "B", "C"), ("B", "A")])
    >>> read.systems, read.number, read.chosen.sum(1).tolist()
    (['A', 'B', 'C'], 3, [2.0, 2.0, 0.0])
    """
    validate.choice("unranked", unranked, UNRANKED)
    systems, orders = _orders(data, gaps=unranked == "missing")
    if len(systems) < 2:
        raise ValueError(f"`counts` must rank two systems at least; got {some(systems)}.")
    everyone = frozenset(range(len(systems)))
    choices: Counter[tuple[int, frozenset[int]]] = Counter()
    for order, times in orders.items():
        left = everyone if unranked == "worst" else frozenset(order)
        for one in order:
            if len(left) > 1:
                choices[one, left] += times
            left -= {one}
    if not choices:
        raise ValueError("`counts` has no ranking of two systems or more; give a row per ranking, with ranks from 1.")
    places = {left: i for i, left in enumerate(dict.fromkeys(left for _, left in choices))}
    chosen = np.zeros((len(systems), len(places)))
    for (one, left), times in choices.items():
        chosen[one, places[left]] = times
    members = [(i, one) for left, i in places.items() for one in left]
    sets = sparse.csr_array((np.ones(len(members)), np.transpose(members)), (len(places), len(systems)))
    least = 1 if unranked == "worst" else 2
    return Rankings(systems, chosen, sets, sum(n for order, n in orders.items() if len(order) >= least))


def _orders(data: Any, *, gaps: bool) -> tuple[list[str], Counter[tuple[int, ...]]]:
    """Return the systems, and how often each order of them was given, the best first."""
    import pandas as pd

    if isinstance(data, list | tuple) and data and all(isinstance(one, list | tuple) for one in data):
        if all(isinstance(name, str) for one in data for name in one):
            return _of_names(data)
        data = np.asarray(data, object)
    if isinstance(data, Mapping):
        data = pd.DataFrame(dict(data))
    data = by_column(data)
    if isinstance(data, str | PathLike):
        data = read_table(data, {}).frame
    if hasattr(data, "dims"):
        data = data.to_pandas()
    if not hasattr(data, "columns"):
        ranks = np.asarray(data, object)
        if ranks.ndim != 2:
            raise ValueError(f"`counts` must have a row per ranking and a column per system; got shape {ranks.shape}.")
        data = pd.DataFrame(ranks, columns=[str(i + 1) for i in range(ranks.shape[1])])
    frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(data.to_dict(as_series=False))
    frame = frame.rename(columns=str)
    if {*_SIDES, "winner"} <= {*frame.columns}:
        return _of_names(_of_arena(frame))
    if set(_VOTES) <= {*frame.columns}:
        if frame[[*_VOTES]].isna().any(axis=None):
            raise ValueError("`counts` has votes without a winner or a loser; leave them out, as ties are.")
        return _of_names(frame[[*_VOTES]].astype(str).itertuples(index=False, name=None))
    if set(frame.columns) > _LONG:
        judge = [name for name in frame.columns if name not in _LONG]
        if frame.duplicated([*judge, SYSTEM]).any():
            raise ValueError(f"`counts` ranks a system twice by the same {', '.join(judge)}; keep one.")
        frame = frame.pivot(index=judge, columns=SYSTEM, values="rank")
    elif frame.shape[1] and (frame.columns[0].casefold() in _JUDGES or _are_names(frame.iloc[:, 0])):
        frame = frame.set_index(frame.columns[0])
    return _of_ranks(frame, gaps=gaps)


def _of_arena(frame: Any) -> list[tuple[str, ...]]:
    """Return the winner and the loser of each vote in the log of an arena, which says in which column the winner is."""
    tied = ~frame["winner"].isin(_SIDES)
    if tied.any():
        raise ValueError(
            f"`counts` has {int(tied.sum())} votes for neither model_a nor model_b: Plackett-Luce has no ties. Leave "
            "them out: frame[frame.winner.isin(['model_a', 'model_b'])]."
        )
    pairs = frame[[*_SIDES]].astype(str).itertuples(index=False, name=None)
    return [pair if side == _SIDES[0] else pair[::-1] for pair, side in zip(pairs, frame["winner"], strict=True)]


def _are_names(column: Any) -> bool:
    """Say whether a column has words alone."""
    import pandas as pd

    return bool(column.notna().any() and pd.to_numeric(column, errors="coerce").isna().all())


def _of_names(given: Any) -> tuple[list[str], Counter[tuple[int, ...]]]:
    """Return orders of rankings by name, the best first."""
    counted = Counter(map(tuple, given))
    if twice := next((order for order in counted if len({*order}) < len(order)), None):
        raise ValueError(f"`counts` has a ranking that names a system twice: {', '.join(twice)}.")
    places = {name: i for i, name in enumerate(sorted({name for order in counted for name in order}))}
    return list(places), Counter({tuple(places[name] for name in order): n for order, n in counted.items()})


def _of_ranks(frame: Any, *, gaps: bool) -> tuple[list[str], Counter[tuple[int, ...]]]:
    """Return orders of a table of ranks, a row per ranking."""
    systems = [str(name) for name in frame.columns]
    validate.unique("`counts`", systems)
    try:
        ranks = frame.replace(["", "NA"], np.nan).to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(
            "`counts` must be ranks, 1 the best, a row per ranking and a column per system; or have the columns winner "
            "and loser; or system, rank and one that names the ranking; or be lists of names, the best first."
        ) from None
    known = ~np.isnan(ranks)
    if (ranks[known] < 1).any() or (ranks[known] % 1 != 0).any():
        raise ValueError("`counts` must be ranks, whole numbers from 1, the best; scores aren't ranks, nor are ties.")
    orders: Counter[tuple[int, ...]] = Counter()
    for name, row, there in zip(frame.index, ranks, known, strict=True):
        order = np.argsort(row, kind="stable")[: there.sum()]
        steps = np.diff(row[order])
        if (steps == 0).any():
            tied = [systems[i] for i in order[(steps == 0).argmax() :][:2]]
            raise ValueError(
                f"`counts` ranks {' and '.join(tied)} alike in row {name}: Plackett-Luce has no ties. Leave one of "
                "them out of that ranking, or ask the judge again."
            )
        if (there.all() or not gaps) and len(order) and row[order[-1]] > len(order):
            ranked = some(row[order].astype(int).tolist())
            raise ValueError(
                f"`counts` has the ranks {ranked} of {some([systems[i] for i in order])} in row {name}; none may be "
                "left out, where none is missing."
            )
        orders[tuple(order.tolist())] += 1
    return systems, orders
