"""What somebody has becomes evidence: read once, by one table of all that can be read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data import frames, validate
from bayescm.data.answers import (
    TOTALS,
    as_right,
    of_accuracies,
    of_passes,
    of_right,
    published,
    refuse_marks,
    refuse_numbers,
)
from bayescm.data.counts import check_counts, confusion_matrix, from_array, from_cells
from bayescm.data.cross_validation import of_cv_results
from bayescm.data.evidence import Evidence
from bayescm.data.harnesses import from_logs, logs_of
from bayescm.data.items import predictions, with_units, with_weights
from bayescm.data.labels import some
from bayescm.data.reports import of_report
from bayescm.data.schema import (
    ACTUAL,
    CELLS_OF_TWO,
    ITEM,
    LABEL,
    MATRIX,
    PREDICTED,
    RUN,
    SYSTEM,
    WEIGHT,
    column_key,
    labels_of,
)
from bayescm.data.scores import check_scores
from bayescm.data.shapes import (
    are_answers,
    are_labels,
    are_passes,
    frame_of,
    has_fractions,
    is_list,
    is_matrix,
    is_number,
    is_reported,
    only_matrix,
)
from bayescm.data.sides import beside, columns_of_one, has_scores, of_one_system, truth_among
from bayescm.data.strata import batch_dims, is_audit, singles
from bayescm.data.tables import by_column
from bayescm.data.tabular import CALLED, Table, read_table
from bayescm.data.units import asking, marked, named_units

COUNTS, SYSTEMS, BOARD, ANSWERS = "counts", "systems", "board", "answers"
"""What a question may be about: matrices; several systems; several, of which right and wrong answers are enough; one
system's answers, item by item where they are known, beside which another's may be put."""
K_OF_N = "k of n"
_METRICS = {"accuracy", "precision", "recall", "f1", "f1-score", "auc", "sensitivity", "specificity"}
"""Columns that aren't scores of items."""


@dataclass(frozen=True, eq=False)
class Given:
    """What somebody gave: one thing or two, what was said about it, and what the question is about, if it is known."""

    data: Any
    second: Any = None
    about: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", by_column(self.data))

    @property
    def how(self) -> tuple[Any, Any]:
        """The labels, and which one is positive, where they were given."""
        return self.options.get("labels"), self.options.get("pos_label")

    @property
    def several(self) -> bool:
        """Whether the question is about systems."""
        return self.about in (SYSTEMS, BOARD)

    @cached_property
    def by_name(self) -> Mapping[str, Any]:
        """What was given by name, by the names in small letters; nothing of anything but a mapping."""
        known = isinstance(self.data, Mapping) and not isinstance(self.data, xr.Dataset | xr.DataTree)
        named = self.data if known else {}
        return {column_key(name): value for name, value in named.items()}

    @cached_property
    def names(self) -> set[str]:
        """The names in a mapping or a table, in small letters."""
        return set(self.by_name) or (set() if self.table is None else set(self.table.columns))

    @cached_property
    def table(self) -> Table | None:
        """The data as a table: a frame, a file, pasted text, records, lists by name; None of anything else."""
        data = self.data
        called = {*CALLED[SYSTEM]}
        if isinstance(data, list) and data and all(isinstance(one, Mapping) and called & {*one} for one in data):
            data = frame_of({name: [one.get(name) for one in data] for name in data[0]})
        elif isinstance(data, xr.DataArray) and set(data.dims) == {ITEM, SYSTEM}:
            data = data.transpose(ITEM, SYSTEM).to_pandas()
        elif self.by_name and all(map(is_list, self.by_name.values())):
            data = frame_of(data)
        framed = hasattr(data, "columns") or (isinstance(data, str | PathLike) and self.second is None)
        return read_table(data, self.columns) if framed else None


class Recogniser(NamedTuple):
    """One thing that can be read.

    Attributes
    ----------
    name : str
        What it is called where it is shown or refused.
    read : callable
        Takes what was given; returns the data, or None where it is something else.
    uses : str
        Options and columns that apply.
    about : tuple of str or None
        Questions that it is for; None where the question isn't known.
    """

    name: str
    read: Callable[[Given], Any]
    uses: str = ""
    about: tuple[str | None, ...] = (None, COUNTS, SYSTEMS, BOARD, ANSWERS)


def understood(given: Given) -> Evidence | None:
    """Return what the first recogniser that knows it makes of what was given; None if none does."""
    validate.columns_once("data", given.data)
    if isinstance(given.data, Evidence):
        unit = given.options.get("unit")
        _refuse([name for name in (*given.options, *given.columns) if name != "unit"], "what was read already")
        return given.data if unit is None else Evidence(marked(given.data.data, unit), given.data.how)
    for one in RECOGNISERS:
        if given.about in one.about and (data := one.read(given)) is not None:
            _refuse([name for name in (*given.options, *given.columns) if name not in one.uses.split()], one.name)
            return Evidence(data, one.name)
    return None


def _refuse(names: Sequence[str], what: str) -> None:
    """Refuse options that don't apply."""
    if names:
        raise ValueError(f"`{names[0]}` doesn't apply to {what}; leave it out.")


def _logs(given: Given) -> xr.Dataset | None:
    """Read logs of evaluations."""
    found = None if given.second is not None or given.about == COUNTS else logs_of(given.data)
    score, missing = given.columns.get("correct"), given.options.get("missing")
    return from_logs(found, score, missing, alone=given.about == ANSWERS) if found else None


def _each_by_itself(given: Given) -> Any:
    """Read a file, or a frame with a row per item, of each system, and put side by side what they answered."""
    data = given.data
    if not isinstance(data, Mapping) or not data or not all(map(_is_file, data.values())):
        return None
    found = {str(name): understood(replace(given, data=one, about=ANSWERS)) for name, one in data.items()}
    if unknown := [name for name, one in found.items() if one is None]:
        file = data[unknown[0]]
        raise ValueError(f"{file} is no log, nor a table with answers: see bayescm doctor {file}.")
    each = {name: one.data for name, one in found.items() if one is not None}
    if all(isinstance(one, xr.DataArray) for one in each.values()):
        return _stacked(each)
    return beside(each)


def _is_file(data: Any) -> bool:
    """Say whether data are in a file, or in a frame like one that has a row per item."""
    if not hasattr(data, "columns"):
        return isinstance(data, str | PathLike)
    known = columns_of_one(Table(data, {}))
    return "correct" in known or {ACTUAL, PREDICTED} <= set(known)


def _one_system(given: Given) -> xr.Dataset | None:
    """Read a table with a row per item, or per run of it, of one system: scores, or what is put beside another's."""
    table = given.table
    unit, missing = given.options.get("unit"), given.options.get("missing")
    several = isinstance(given.columns.get(PREDICTED), list)
    if table is None or several or (given.about != ANSWERS and not has_scores(table, unit)):
        return None
    kept = of_one_system(table, unit, given.how[1], missing)
    if kept is None or given.about == ANSWERS:
        return kept
    item = columns_of_one(table, unit).get(ITEM)
    others = [name for name in table.frame.columns if unit is None and name != item]
    return asking(kept.isel({SYSTEM: 0}, drop=True), others, table.names)


def _passes(given: Given) -> xr.Dataset | None:
    """Read how many of an item's runs passed."""
    data, runs = given.data, given.options.get("runs")
    if runs is None or not are_passes(data):
        return None
    table = given.table
    if table is not None and table.get(SYSTEM) is not None and table.get(ITEM) is not None:
        return frames.of_long(table, runs, None)
    if table is not None and not isinstance(data, Mapping):
        return frames.of_columns_of_passes(table, runs)
    if not isinstance(data, Mapping):
        values = np.asarray(data)
        if values.ndim not in (1, 2):
            raise ValueError(f"`runs` is for numbers of passes, items by systems; got the shape {values.shape}.")
        data = {f"system_{i + 1}": column for i, column in enumerate(np.reshape(values, (len(values), -1)).T)}
    return of_passes(data, runs)


def _audits(given: Given) -> dict[str, Any] | None:
    """Read audits by system: of a mapping, or over systems."""
    data = given.data
    if any(map(is_audit, given.by_name.values())):
        return {str(name): one for name, one in data.items()}
    if not is_audit(data) or SYSTEM not in data.dims or not given.several:
        return None
    if batch_dims(data) != [SYSTEM]:
        raise ValueError(
            "`data` are one audit whose strata are systems; for an audit of each say so: bayescm.audited(..., "
            "dims='system')."
        )
    return {str(where[SYSTEM]): one for where, one in singles(data)}


def _reports(given: Given) -> Any:
    """Read reports by system; beside matrices each has to leave one."""
    reports = [is_reported(one) for one in given.by_name.values()]
    if not any(reports):
        return None
    if not all(reports):
        named = given.data.items()
        return _stacked({name: only_matrix(one, f" of {name!r}") if is_reported(one) else one for name, one in named})
    return {str(name): one for name, one in given.data.items()}


def _labelled(given: Given) -> Any:
    """Take an object of xarray as it is; right and wrong answers over runs become predictions."""
    data = given.data
    if not isinstance(data, xr.DataArray | xr.Dataset | xr.DataTree) or given.second is not None:
        return None
    if given.table is not None or not isinstance(data, xr.DataArray) or set(data.dims) != {ITEM, SYSTEM, RUN}:
        return marked(data, given.options.get("unit")) if given.table is None else None
    return of_right({str(name): data.sel({SYSTEM: name}).transpose(ITEM, RUN).values for name in data[SYSTEM].values})


def _k_of_n(given: Given) -> xr.Dataset | None:
    """Read k right answers of n, of one or by system."""
    k, n, pairs = given.data, given.second, list(given.by_name.values())
    if is_number(k) and is_number(n):
        if not all(isinstance(one, int | np.integer) for one in (k, n)) or not 0 <= k <= n:
            refuse_numbers(k, n)
        return published({"correct": k, "wrong": n - k}, None).isel({SYSTEM: 0})
    whole = [one for one in pairs if isinstance(one, tuple) and len(one) == 2 and all(isinstance(n, int) for n in one)]
    if not pairs or len(whole) < len(pairs) or not all(1 < of >= passed >= 0 for passed, of in whole):
        return None  # (1, 0) may be the answers to two items
    passed, of = np.array(pairs).T
    return published({"correct": passed, "wrong": of - passed}, [str(name) for name in given.data])


def _scores(given: Given) -> xr.Dataset | None:
    """Read labels and scores, of a table where they are named or can be nothing else."""
    true, score, (labels, pos_label) = given.data, given.second, given.how
    if score is None:
        table = given.table
        if table is None or not (actual := table.get(ACTUAL)) or not table.scored(given.about is None):
            return None
        true, score = table.labels(actual)[0], table.numbers(table.get("score"))
        pos_label = table.positive(pos_label, actual)
    elif given.about is not None or not has_fractions(score):
        return None
    checked = check_scores(true, score, labels, pos_label)
    made = xr.Dataset(
        {ACTUAL: (ITEM, checked.labels[checked.positive.astype(int)]), "score": ((checked.dim, ITEM), checked.score)},
        coords={LABEL: checked.labels},
    )
    return (
        made.isel({checked.dim: 0}) if checked.systems is None else made.assign_coords({checked.dim: checked.systems})
    )


def _labels(given: Given) -> xr.DataArray | xr.Dataset | None:
    """Read actual and predicted labels."""
    if not are_labels(given.data, given.second):
        return None
    unit, weight, (labels, pos_label) = given.options.get("unit"), given.options.get(WEIGHT), given.how
    if weight is not None:
        return _weighted(given.data, given.second, labels=labels, pos_label=pos_label, unit=unit, sample_weight=weight)
    return confusion_matrix(given.data, given.second, labels=labels, pos_label=pos_label, unit=unit)


def _weighted(true: Any, answers: Any, **how: Any) -> xr.Dataset:
    """Keep the answers of one system, whose items have weights."""
    return predictions(true, {"answers": answers}, **how).isel({SYSTEM: 0}, drop=True)


def _answers(given: Given) -> xr.Dataset | None:
    """Read the truth and the predictions of several systems."""
    true, answers = given.data, given.second
    if answers is None or not is_list(true) or not are_answers(answers):
        return None
    if hasattr(answers, "columns"):
        answers = {str(name): answers[name] for name in answers.columns}
    elif is_list(answers):
        raise ValueError(
            "`data` are two arrays of labels: the truth and one system, or two systems without the truth? Give both: "
            "bayescm.compare_systems(y_true, {'A': y_pred_a, 'B': y_pred_b})."
        )
    elif isinstance(answers, np.ndarray):
        n = len(true)
        if answers.shape == (n, n) or n not in answers.shape:
            raise ValueError(
                f"`y_pred` has the shape {answers.shape} for {n} items; give {{'A': y_pred_a, 'B': y_pred_b}}."
            )
        answers = list(answers.T if len(answers) == n else answers)
    options = {name: given.options.get(name) for name in ("unit", WEIGHT)}
    return predictions(true, answers, labels=given.how[0], pos_label=given.how[1], **options)


def _counted(reader: Callable[[Any], Any]) -> Callable[[Given], Any]:
    """Return a recogniser of mappings, frames and text."""

    def read_counted(given: Given) -> Any:
        known = isinstance(given.data, str) or bool(given.by_name) or hasattr(given.data, "columns")
        return reader(given.data) if known and given.second is None else None

    return read_counted


def _published(given: Given) -> xr.Dataset | xr.DataArray | None:
    """Read numbers of right and wrong answers."""
    by_item = given.table is not None and given.table.get(ITEM) is not None  # a number beside may be a weight
    totals = TOTALS[:1] if by_item else TOTALS
    unit, counted = given.options.get("unit"), "correct" in given.names and {"wrong", *totals} & given.names
    if not counted or (unit is None and (given.by_name or given.table is None)):
        return published(given.by_name, None) if counted else None
    return None if given.table is None else frames.of_published(given.table, unit)


def _cells(given: Given) -> xr.DataArray | None:
    """Read four cells by name, or of a row each in a table."""
    found = {name: given.by_name[name] for name in CELLS_OF_TWO if name in given.by_name}
    if found and len(found) < len(CELLS_OF_TWO):
        raise ValueError(f"`counts` has the cells {', '.join(found)}; all of tp, fn, fp and tn are needed.")
    unit = given.options.get("unit")
    if found:
        made: xr.DataArray = marked(from_cells(**found), unit)
        return made
    of_table = given.table is not None and set(CELLS_OF_TWO) <= given.names
    return frames.of_cells(given.table, systems=given.several, unit=unit) if of_table else None  # type: ignore[arg-type]


def _accuracies(given: Given) -> Any:
    """Read accuracies by system, that come with the number of their items or in a table."""
    n_items = given.options.get("n_items")
    if given.table is not None:
        return frames.of_accuracy(given.table, n_items) if "accuracy" in given.names else None
    return None if n_items is None else of_accuracies(given.data, n_items)


def _columns(given: Given) -> xr.Dataset | None:
    """Read a column of predictions per system beside the truth."""
    said, table = isinstance(given.columns.get(PREDICTED), list), given.table
    if table is None or (not said and (given.about == COUNTS or (given.about is None and table.get(PREDICTED)))):
        return None
    unit = given.options.get("unit")
    names = frames.columns_of_systems(table, unit)
    return frames.of_columns(table, names, *given.how, unit) if names else None


def _row_per_answer(given: Given) -> xr.Dataset | None:
    """Read a table with a row per system and item."""
    table = given.table
    said = isinstance(given.columns.get(PREDICTED), list)  # predictions of a system each
    known = table is not None and table.get(SYSTEM) is not None and table.get(ITEM) is not None and not said
    if not known:
        return None
    return frames.of_long(table, None, given.how[1], given.options.get("unit"))  # type: ignore[arg-type]


def _row_per_item(given: Given) -> xr.DataArray | xr.Dataset | None:
    """Read a table with a column of actual and one of predicted labels."""
    table = given.table
    if table is None or table.square or table.get(ACTUAL) is None or table.get(PREDICTED) is None:
        return None
    unit, weight = given.options.get("unit"), given.options.get(WEIGHT)
    if weight is None:
        return frames.of_labels(table, *given.how, systems=given.several, unit=unit)
    others = (table.said.get("by"), table.get(SYSTEM) if given.several else table.said.get(SYSTEM), table.get("n"))
    if given.several or others != (None, None, None):
        raise ValueError(f"`{WEIGHT}` is for a row per item of one system; of several give bayescm.predictions.")
    sides, (labels, pos_label) = (table.get(ACTUAL), table.get(PREDICTED)), given.how
    units = None if unit is None else frames.column_of(table, unit)[1]
    return _weighted(*table.labels(*sides), labels=labels, pos_label=table.positive(pos_label, *sides), unit=units,
                     sample_weight=table.numbers(weight))  # fmt: skip


def _matrices(given: Given) -> xr.DataArray | None:
    """Read matrices by the name of their system, or in a list."""
    data = given.data
    if isinstance(data, Mapping):
        return _stacked(data) if data and all(map(is_matrix, data.values())) else None
    several = isinstance(data, list | tuple) and any(
        isinstance(one, xr.DataArray | Mapping | Evidence) or hasattr(one, "columns") for one in data
    )
    return _stacked(dict(enumerate(data))) if several else None


def _stacked(matrices: Mapping[Any, Any]) -> xr.DataArray:
    """Put matrices of several systems into one array, all in the order of the first one's labels."""
    shapes = {np.shape(one) if isinstance(one, list | tuple | np.ndarray) else () for one in matrices.values()}
    if len(shapes) == 1 and len(shape := shapes.pop()) == 2 and shape[0] == shape[1]:  # labelled once, not each
        return _named(from_array(np.stack([np.asarray(one) for one in matrices.values()]), dims=SYSTEM), matrices)
    known = {name: understood(Given(one, about=COUNTS)) for name, one in matrices.items()}
    each = {name: check_counts(one.data if one else matrices[name]) for name, one in known.items()}
    (first, labels), *_others = ((name, labels_of(counts)) for name, counts in each.items())
    made = []
    for name, counts in each.items():
        of_one = labels_of(counts)
        if sorted(map(str, of_one)) != sorted(map(str, labels)) or (len(labels) == 2 and of_one != labels):
            raise ValueError(
                f"`counts` has the labels {some(labels)} in {first!r} and {some(of_one)} in {name!r}; give all the "
                "same, of two the positive one last: bayescm.from_array(matrix, labels=...)."
            )
        if counts.ndim > 2 and SYSTEM in counts.dims:
            raise ValueError(f"`counts` of {name!r} has a dim 'system' already; give one matrix for each system.")
        made.append(counts if of_one == labels else counts.sel(dict.fromkeys(MATRIX, labels)))
    joined: xr.DataArray = xr.concat(made, SYSTEM, join="exact").transpose(SYSTEM, ..., *MATRIX)
    return _named(joined, each)


def _named(joined: xr.DataArray, names: Iterable[Any]) -> xr.DataArray:
    """Name the systems, unless they only are the places in a list."""
    each = list(names)
    unnamed = each == list(range(len(each)))
    return joined if unnamed else joined.assign_coords({SYSTEM: [str(name) for name in each]})


def _runs(given: Given) -> xr.Dataset | None:
    """Read right and wrong answers, or scores, by system, items by runs, that can be no matrices."""
    values = list(given.by_name.values())
    plain = [np.asarray(one) for one in values if isinstance(one, list | tuple | np.ndarray)]
    if not plain or len(plain) < len(values) or any(one.ndim != 2 for one in plain):
        return None
    if given.about == COUNTS and not any(map(has_fractions, plain)):
        return None
    square = all(one.shape[0] == one.shape[1] for one in plain)
    if square and len(plain[0]) > 2 and all(np.isin(one, [0, 1]).all() for one in plain):
        raise ValueError(
            "`counts` of 0 and 1 may be matrices, or the runs of as many items. Runs: bayescm.predictions([1] * n, "
            "{'A': runs_a, 'B': runs_b}, labels=[0, 1]); matrices: {'A': bayescm.from_array(matrix), ...}."
        )
    return None if square else of_right(given.data)


def _marks(given: Given) -> xr.Dataset | None:
    """Read right and wrong answers of every system to the same items, 0 and 1 or words, items by systems, or scores."""
    table, marks, unit = given.table, {}, given.options.get("unit")
    if table is not None:
        values, marks = np.asarray(table.frame), frames.marks_of(table, unit)
    else:
        try:
            values = np.asarray(given.data if hasattr(given.data, "__len__") and not given.by_name else 0)
        except ValueError:  # rows of different lengths
            return None
        if values.ndim == 1 and given.second is None and has_fractions(values):
            marks = {"scores": values.tolist()}
        matrix = values.ndim != 2 or not values.size
        matrix |= values.shape[:1] == values.shape[1:] and (not given.several or has_fractions(values))
        right = None if matrix else as_right(values.ravel().tolist())
        columns: Any = [] if right is None else np.reshape(right, values.shape).T
        marks |= {f"system_{i + 1}": column for i, column in enumerate(columns)}
    fractions = list(map(has_fractions, marks.values()))
    unnamed = given.about == COUNTS and not given.by_name  # 0 and 1 beside them may be labels
    scored = any(fractions) and (all(fractions) or not unnamed)
    if (given.about == COUNTS and not scored) or (scored and _METRICS & given.names):
        return None
    typed = table is None or not (table.square or table.source)
    asks = table is not None and len(marks) > 1
    truth = truth_among({column_key(name): name for name in marks}) if asks else None
    if truth is not None:
        columns = {ACTUAL: truth, PREDICTED: [name for name in marks if name != truth]}
        raise ValueError(
            f"{truth!r} may be the truth, of which the other columns are scores, or predictions: then say {columns=} "
            f"(--actual {truth} --predicted {','.join(columns[PREDICTED])}). If it is a system's answers, rename it."
        )
    if marks and given.about == SYSTEMS and not scored and (table is None or table.source is None):
        raise ValueError(
            "`data` of 0 and 1 may be predictions, or right answers. Predictions: bayescm.compare_systems(y_true, "
            "predictions); right answers: bayescm.compare_systems([1] * len(right), right); other counts: "
            "bayescm.compare_systems({'A': counts_a, 'B': counts_b})."
        )
    if not marks and typed and given.several and values.ndim == 2 and values.size:
        refuse_marks(values, given.about == BOARD)
    if not marks:
        return None
    kept = of_right(marks) if table is None else frames.with_names(table, of_right(marks))
    if (weight := given.options.get(WEIGHT)) is not None:
        kept = with_weights(kept, table.numbers(weight) if isinstance(weight, str) and table is not None else weight)
    if unit is not None:
        named = table is not None and isinstance(unit, str)
        kept = with_units(kept, *(frames.column_of(table, unit) if named else named_units(unit)))  # type: ignore[arg-type]
    return kept.isel({SYSTEM: 0}, drop=True) if values.ndim == 1 else kept


def _square(given: Given) -> xr.DataArray | None:
    """Read a matrix with labels."""
    table = given.table
    if table is None or (table.source is not None and not frames.looks_square(table.frame)):
        return None
    return frames.of_square(table, given.options.get("rows"), *given.how)


_SEVERAL = (SYSTEMS, BOARD)
_LABELS = "labels pos_label"
RECOGNISERS = (
    Recogniser("logs of evaluations", _logs, "correct missing", (None, *_SEVERAL, ANSWERS)),
    Recogniser(
        "a file of each system",
        _each_by_itself,
        f"{_LABELS} unit missing actual predicted item run correct by",
        (None, *_SEVERAL),
    ),
    Recogniser("results of cross-validation", _counted(of_cv_results)),
    Recogniser("a classification report", _counted(of_report)),
    Recogniser("numbers of passes", _passes, "runs system item correct"),
    Recogniser("audits by system", _audits),
    Recogniser("printed metrics by system", _reports),
    Recogniser("an xarray object", _labelled, "unit"),
    Recogniser(K_OF_N, _k_of_n),
    Recogniser("labels and scores", _scores, f"{_LABELS} actual score", (None,)),
    Recogniser("actual and predicted labels", _labels, f"{_LABELS} unit sample_weight", (None, COUNTS)),
    Recogniser("the truth and answers of systems", _answers, f"{_LABELS} unit sample_weight", (None, *_SEVERAL)),
    Recogniser("numbers of right and wrong answers", _published, "by system unit"),
    Recogniser("cells by name", _cells, "by system unit covariates"),
    Recogniser("accuracies by system", _accuracies, "n_items by system"),
    Recogniser("columns of labels and scores", _scores, f"{_LABELS} actual score"),
    Recogniser(
        "a row per system and item", _row_per_answer, "pos_label unit actual predicted system item run correct by"
    ),
    Recogniser(
        "a row per item of one system",
        _one_system,
        f"{_LABELS} unit missing actual predicted item run correct by",
        (None, COUNTS, ANSWERS),
    ),
    Recogniser("a column of predictions per system", _columns, f"{_LABELS} unit actual predicted item"),
    Recogniser("columns of labels", _row_per_item, f"{_LABELS} unit sample_weight actual predicted n by system"),
    Recogniser("right and wrong answers, items by runs", _runs, "", (None, COUNTS, *_SEVERAL)),
    Recogniser("matrices of systems", _matrices),
    Recogniser(
        "right and wrong answers, or scores, items by systems",
        _marks,
        "item unit sample_weight",
        (None, COUNTS, *_SEVERAL),
    ),
    Recogniser("a square matrix", _square, f"{_LABELS} rows"),
)
"""All that can be read, in the order in which it is tried."""
