"""Data frames of any make, and tables of text: which column means what, and what stands in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import texts
from bayescm.data.crosstabs import side
from bayescm.data.needs import need
from bayescm.data.records import records_of
from bayescm.data.schema import ACTUAL, FOLD, GROUP, ITEM, PREDICTED, RUN, SYSTEM, THRESHOLD, column_key

CALLED = {
    SYSTEM: ("system", "model", "classifier", "study", "studyid", "study_id", "studynames"),
    ITEM: ("item", "question", "prompt", "task", "item_id", "question_id", "sample_id", "example_id", "doc_id",
           "test_id", "case", "example", "id", "input"),
    RUN: ("run", "trial", "attempt", "sample", "repeat", "epoch", "seed"),
    "correct": ("correct", "right", "passed", "passes", "score"),
    "n": ("n", "count", "freq", "frequency"),
    "score": ("score",),
}  # fmt: skip
"""What columns are called, by what they mean."""
COVARIATES = "covariates"
COLUMNS = (ACTUAL, PREDICTED, *CALLED, "by", COVARIATES)
"""What somebody may say of columns."""
OTHER_DIMS = (FOLD, GROUP, RUN, THRESHOLD, "chunk")
"""Columns that name another dim than systems."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A data frame, and what its columns mean.

    Attributes
    ----------
    frame : data frame
    said : mapping of str to str or list of str
        Columns by what they mean, as somebody says.
    source : str or None
        Where a frame of text was read; None of others, which have types already.
    """

    frame: Any
    said: Mapping[str, Any]
    source: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The names of the columns, by themselves in small letters."""
        return {column_key(name): name for name in self.frame.columns}

    @property
    def square(self) -> bool:
        """Whether a frame has the same labels on both sides."""
        return hasattr(self.frame, "index") and set(self.frame.index) == set(self.frame.columns)

    def get(self, what: str) -> Any:
        """Return the name of the column that means something; None where there is none, or several."""
        if self.said.get(what) is not None:
            return self.said[what]
        if what not in (ACTUAL, PREDICTED):
            return next((self.columns[name] for name in CALLED.get(what, ()) if name in self.columns), None)
        sided = [name for name in self.frame.columns if isinstance(name, str) and side(name) == what]
        exact = what in sided and self.source is not None
        return what if exact else sided[0] if len(sided) == 1 else None

    def scored(self, unasked: bool) -> bool:
        """Say whether there are scores, that somebody names or, unasked, that can be nothing else."""
        return self.said.get("score") is not None or (
            unasked and self.get("score") is not None and self.get(PREDICTED) is None
        )

    def labels(self, *names: Any) -> list[Any]:
        """Return columns of labels, those of text all of one type."""
        return list(texts.labels(*self.filled(names))) if self.source else [self.frame[name] for name in names]

    def numbers(self, name: Any) -> NDArray[Any]:
        """Return a column of numbers."""
        self.filled([name])
        return texts.numbers(self.frame, name) if self.source else np.asarray(self.frame[name])

    def names(self, name: Any) -> list[str]:
        """Return a column of names; of days without an hour."""
        return [str(value).removesuffix(" 00:00:00") for value in self.filled([name])[0]]

    def positive(self, given: Any, *names: Any) -> Any:
        """Return a positive class in the type of the columns."""
        return texts.positive_label(self.frame, names, given) if self.source else given

    def rows(self, *counted: Any, dims: tuple[str, ...] = ()) -> tuple[str, list[Any] | None]:
        """Return the dim of the rows, and their names: a column, or an index that isn't just numbers.

        Parameters
        ----------
        *counted : str
            Columns that hold no names.
        dims : tuple of str
            Columns that name another dim than systems.
        """
        index = [str(name) for name in getattr(self.frame, "index", ())]
        index = index if any(isinstance(name, str) for name in getattr(self.frame, "index", ())) else []
        by = self.said.get("by") or self.get(SYSTEM) or self.columns.get("name")
        others = [self.columns[name] for name in dims if name in self.columns]
        if by is None and not index:
            unknown = (name for name in self.frame.columns if name not in counted and self._names_rows(name))
            by = others[0] if len(others) == 1 else next(unknown, None)
        if by is None:
            return SYSTEM, index or None
        if by in others:
            return str(by).casefold(), np.asarray(self.labels(by)[0]).tolist()
        return SYSTEM, self.names(by)

    def _names_rows(self, name: Any) -> bool:
        """Say whether a column of an unknown name tells rows apart: the first one, or one of words."""
        values = self.names(name)
        apart = (self.source is not None or len(set(values)) == len(values)) and column_key(name) not in CALLED["n"]
        return apart and (name == self.frame.columns[0] or not all(map(texts.is_number, values)))

    def filled(self, names: Any) -> list[Any]:
        """Return columns, of text without an empty field."""
        if self.source:
            texts.require(self.frame, self.source, names)
        return [self.frame[name] for name in names]


def read_table(source: Any, said: Mapping[str, Any]) -> Table:
    """Return the table of a data frame, a file or pasted text."""
    made = Table(source, said) if hasattr(source, "columns") else _of_file(source, said)
    named = [name for one in said.values() if one is not None for name in (one if isinstance(one, list) else [one])]
    absent = [name for name in named if name not in list(made.frame.columns)]
    if absent:
        known = ", ".join(map(str, made.frame.columns))
        raise ValueError(f"{made.source or 'the frame'} has no column {absent[0]!r}; it has {known}.")
    return made


def _of_file(source: Any, said: Mapping[str, Any]) -> Table:
    """Return the table of a file, or of pasted text."""
    if texts.is_pasted(source):
        return Table(texts.read_text(source), said, "the table")
    kind = Path(source).suffix.casefold()
    if kind not in (".parquet", ".json", ".jsonl"):
        return Table(texts.read_text(source), said, str(source))
    return Table(_frame_of(Path(source), kind), said)


def _frame_of(path: Path, kind: str) -> Any:
    """Return the data frame of a file of Parquet or of JSON: records, below a name or line by line, or columns."""
    import pandas as pd

    if kind == ".parquet":
        need("pyarrow", f"{path}, if not saved as CSV,")
        return pd.read_parquet(path)
    content = records_of(path)
    if isinstance(content, dict):
        below = [one for one in content.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        content = below[0] if len(below) == 1 else content
    try:
        frame = pd.DataFrame(content)
    except ValueError as error:
        raise ValueError(f"{path} has no rows that can be read as a table: {error}.") from None
    if frame.empty:
        raise ValueError(f"{path} is empty.")
    return frame
