"""What is shown of a result: sentence, table, assumptions; and the accessor ``.bayescm`` that gives them one by one."""

import importlib
import json
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.schema import ALIAS, CI_BOUND, LABEL, METRIC
from bayescm.metrics import resolve
from bayescm.results import writing
from bayescm.results.escape import for_html, for_terminal
from bayescm.results.names import MOST_ROWS, called, notes_of
from bayescm.results.stamps import is_stamped, stamp, unchanged
from bayescm.results.views import VIEWS, View, main_variable, view_of

if TYPE_CHECKING:
    import pandas as pd

_FIRST = 20  # rows of a table that is cut
_MOST_CUT = 5000  # matrices, systems or pairs of which a table that is cut, and its sentence, are made: in a second
_MOST_COLUMNS = 3  # metrics of a class with their intervals, which fill 80 columns
WIDE = 80
NAMES = {
    "best": "P(best)",
    "probability_best": "P(least)",
    "probability_better": "P(better)",
    "probability_within": "P(within)",
    "probability_positive": "P(> 0)",
    "rank_lower": "rank",
    "rank_upper": "to",
}
"""Columns whose names are shorter, or plainer, where they are shown."""
STYLE = """<style>
.bayescm{overflow-x:auto;color:var(--jp-content-font-color0,var(--pst-color-text-base,inherit))}
.bayescm table{border-collapse:collapse;margin:.6em 0;color:inherit;font-variant-numeric:tabular-nums}
.bayescm th,.bayescm td{padding:.15em .7em;text-align:right;background:transparent;color:inherit;border:0}
.bayescm tr{background:transparent}
.bayescm th{font-weight:600;border-bottom:1px solid currentColor}
.bayescm .l{text-align:left}
.bayescm p{margin:.4em 0}
.bayescm .answer{font-size:1.08em;font-weight:600}
.bayescm .how{font-size:.86em;opacity:.75;max-width:60em}
.bayescm summary{cursor:pointer;font-size:.86em;opacity:.75}
</style>"""


class Answer:
    """What a result says: one sentence, one table, and what both assume.

    The accessor ``.bayescm`` of every xarray.Dataset and xarray.DataTree; it answers for what bayescm returned, also
    after it was stored and loaded.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        From :func:`bayescm.summary`, :func:`bayescm.interval`, :func:`bayescm.compare_systems`,
        :func:`bayescm.leaderboard`, :func:`bayescm.auc`, :func:`bayescm.aucpr`, :func:`bayescm.curves.auc_difference`,
        :func:`bayescm.curves.intervals`, :func:`bayescm.curves.reliability`,
        :func:`bayescm.sample_size`, :func:`bayescm.planning.sample_size_to_compare`,
        :func:`bayescm.planning.sample_size_of_auc` or :func:`bayescm.decide`.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.summary(bayescm.from_cells(tp=26, fn=2, fp=3, tn=6), ["recall", "specificity"])
    >>> found.bayescm.sentence
    'Recall is 0.93 (95%: 0.79 to 0.98); least certain of 2 metrics: specificity, 0.67 (0.35 to 0.90).'
    >>> found.bayescm.table()[["lower", "upper"]].round(2)
                 lower  upper
    metric
    recall        0.79   0.98
    specificity   0.35   0.90
    """

    def __init__(self, data: xr.Dataset | xr.DataTree) -> None:
        self._data = data

    def _known(self) -> tuple[View, xr.Dataset]:
        """Return how the result is told, and the Dataset that says it."""
        found = view_of(self._data)
        if found is None:
            known = ", ".join(dict.fromkeys(view.source for view in VIEWS))
            raise ValueError(
                f"`.bayescm` tells what {known} returned, whole and in memory; this isn't. Take the "
                "result as it came, with all its variables and attrs (`.compute()` if it is lazy)."
            )
        if is_stamped(found[1]) and not unchanged(*found):
            raise ValueError(
                "`.bayescm` tells the numbers that bayescm returned, or a selection of their rows; these were changed "
                "(a mean, rounding, arithmetic?). Ask the result as it came, and change what `.table()` gives."
            )
        return found

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence."""
        view, data = self._known()
        return for_terminal(f"{view.answer(data)} {notes_of(data.attrs)}".strip())

    @property
    def assumptions(self) -> str:
        """Return what the answer takes for granted, and how it was made."""
        _, data = self._known()
        return for_terminal(f"Assumes: {data.attrs['assumptions']}.\n{how(data)}".strip())

    def table(self) -> "pd.DataFrame":
        """Return a row per metric, system, pair or action, with the interval as `lower` and `upper`.

        Returns
        -------
        pandas.DataFrame
            Indexed by what tells rows apart; point, lower and upper come first. Numbers are not rounded.
        """
        return _frame(*self._known())

    def per_class(self) -> "pd.DataFrame":
        """Return the metrics of every class side by side, with their averages, as scikit-learn's report has them.

        Returns
        -------
        pandas.DataFrame
            Of a summary of more than two classes: a row per class and average; for every metric that has a value per
            class, the columns point, lower and upper.
        """
        import pandas as pd

        frame = self.table()
        parts = (
            frame.index.to_series()
            .astype(str)
            .str.extract(r"^(?P<name>.+?)(?:\[(?P<label>.*)\]|_(?P<mean>macro|micro|weighted))$")
        )
        of_classes = parts["name"].isin(parts.loc[parts["label"].notna(), "name"])
        if not of_classes.any():
            raise ValueError(
                "`.per_class()` needs metrics of more than two classes, such as summary(counts, ['f1', 'f1_macro'])."
            )
        chosen = frame.loc[of_classes, ["point", "lower", "upper"]]
        rows = parts["label"].fillna(parts["mean"])[of_classes]
        keys = pd.MultiIndex.from_arrays([rows, parts["name"][of_classes]], names=["class", None])
        wide = chosen.set_axis(keys).unstack().swaplevel(axis=1)
        order = [(name, column) for name in dict.fromkeys(keys.get_level_values(1)) for column in chosen]
        averages = parts["mean"].dropna().unique()
        return wide.loc[sorted(dict.fromkeys(rows), key=lambda row: row in averages), order]

    def plot(self, **options: Any) -> Any:
        """Draw the picture that this kind of result has.

        Parameters
        ----------
        **options
            Of the picture's function in :mod:`bayescm.plots`, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        view, _ = self._known()
        if not view.picture:
            raise ValueError(f"`.plot()` has no picture of what bayescm.{view.source} returns; see bayescm.plots.")
        return getattr(importlib.import_module("bayescm.plots"), view.picture)(self._data, **options)

    def to_csv(self) -> str:
        """Return the table as CSV, with all digits."""
        view, data = self._known()
        return writing.as_csv(view.records(data))

    def to_markdown(self) -> str:
        """Return the short tables as Markdown, with the decimals that their intervals deserve."""
        return "\n".join(map(writing.as_markdown, self.tables()))

    def to_latex(self) -> str:
        r"""Return the short tables as LaTeX tabulars, for ``\usepackage{booktabs}``."""
        return "\n".join(map(writing.as_latex, self.tables()))

    def __getitem__(self, metric: str) -> xr.Dataset:
        """Return the part of a metric, by any of its names; of a metric per class that of all classes."""
        _, data = self._known()
        names = [str(name) for name in data[METRIC].values] if METRIC in data.dims else []
        if metric not in names:
            metric = resolve([metric], 3)[0].name
        found = [i for i, name in enumerate(names) if name == metric or name.startswith(f"{metric}[")]
        if not found:
            raise ValueError(f"The result has no {metric!r}; it has {', '.join(names) or 'one metric only'}.")
        part = data.isel({METRIC: found[0] if len(found) == 1 else found})
        return stamp(part) if is_stamped(data) else part

    def __repr__(self) -> str:
        return "\n\n".join(self.paragraphs())

    def paragraphs(self) -> tuple[str, str, str]:
        """Return sentence, table and assumptions as lines of text."""
        table = "\n\n".join(writing.as_text(one, WIDE) for one in self.tables())
        table = "\n".join(filter(None, (table, self.more())))
        about = "\n".join(textwrap.fill(line, WIDE) for line in self.assumptions.splitlines())
        return textwrap.fill(self.sentence, WIDE), table, about

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, folded: str = "") -> str:
        """Return sentence, table and assumptions as HTML, with something folded below."""
        about = "<br>".join(map(for_html, self.assumptions.splitlines()))
        left_out = self.more()
        more = f"<p class='how'>{for_html(left_out)}</p>" if left_out else ""
        name = f"xarray.{'DataTree' if isinstance(self._data, xr.DataTree) else 'Dataset'}"
        details = f"<details><summary>{name}</summary>{folded}</details>" if folded else ""
        return (
            f'{STYLE}<div class="bayescm"><p class="answer">{for_html(self.sentence)}</p>'
            f'{"".join(map(writing.as_html, self.tables()))}{more}<p class="how">{about}</p>{details}</div>'
        )

    def tables(self, *, all_rows: bool = False, by_class: bool = True) -> list["pd.DataFrame"]:
        """Return what is shown: the short table and, of one matrix with more than two classes, that of its classes."""
        view, data = self._known()
        whole = _whole(data) if by_class else [data]
        shown = [_shown(view, one if all_rows else _head(view, one)) for one in whole]
        return shown + (_by_class(data) if by_class else [])

    def left_out(self) -> int:
        """Return how many rows :meth:`tables` leaves out."""
        view, data = self._known()
        return sum(_rows(one) - _rows(_head(view, one)) for one in _whole(data))

    def more(self) -> str:
        """Say how many rows :meth:`tables` leaves out."""
        left_out = self.left_out()
        return f"... and {left_out:,} more: .bayescm.table() has all" if left_out else ""


def _frame(view: View, data: xr.Dataset) -> "pd.DataFrame":
    """Return the records of a result as a frame."""
    import pandas as pd

    frame = pd.DataFrame(view.records(data))
    batch = [str(dim) for dim in data[main_variable(data)].dims if dim != CI_BOUND]
    index = [name for name in dict.fromkeys([*batch, *view.index]) if name in frame]
    constant = [name for name in index if name not in batch and len(index) > 1 and len(batch) > 0]
    frame = frame.drop(columns=constant)
    kept = [name for name in index if name not in constant]
    first = [name for name in ("point", "lower", "upper") if name in frame]
    frame = frame[[*first, *(name for name in frame if name not in first)]]
    return frame.set_index(kept) if kept else frame


def _shown(view: View, data: xr.Dataset) -> "pd.DataFrame":
    """Return the columns that are shown."""
    frame = _frame(view, data)
    if ALIAS in frame and METRIC in frame.index.names:
        levels = frame.index.names
        frame = frame.reset_index()
        frame[METRIC] = [called(*names) for names in zip(frame[METRIC], frame[ALIAS].fillna(""), strict=True)]
        frame = frame.set_index(levels)
    wanted = [name for name in view.shown if name in frame]
    return frame[wanted].rename(columns=NAMES)


def _labels(data: xr.Dataset) -> NDArray[np.str_]:
    """Return the class of each row of one matrix, empty for rows of the whole; of several matrices none has one."""
    of_one = LABEL in data.coords and "interval" in data and data["interval"].dims == (METRIC, CI_BOUND)
    return data[LABEL].values.astype(str) if of_one else np.array([], str)


def _whole(data: xr.Dataset) -> list[xr.Dataset]:
    """Return the rows that no table of classes has; nothing where there are none."""
    labels = _labels(data)
    if not (labels != "").any():
        return [data]
    return [data.isel({METRIC: labels == ""})] if (labels == "").any() else []


def _by_class(data: xr.Dataset) -> list["pd.DataFrame"]:
    """Return a table of the classes of a matrix, the worst first, if the result has metrics of these."""
    import pandas as pd

    labels = _labels(data)
    own = np.flatnonzero(labels != "")
    if not own.size:
        return []
    values = {
        (labels[i], str(data[METRIC].values[i]).removesuffix(f"[{labels[i]}]")): data.isel({METRIC: i}) for i in own
    }
    columns = sorted(dict.fromkeys(name for _, name in values), key=lambda name: name == "prevalence")  # counts tell it
    ranking = next((name for name in ("f1", "recall") if name in columns), columns[0])
    points = {label: float(one["point"]) for (label, name), one in values.items() if name == ranking}
    order = sorted(
        dict.fromkeys(labels[own].tolist()), key=lambda label: np.nan_to_num(points.get(label, np.nan), nan=-np.inf)
    )
    table = {
        name: [writing.estimate(values[label, name]) if (label, name) in values else "-" for label in order]
        for name in columns[:_MOST_COLUMNS]
    }
    title = f"class, {_FIRST} worst of {len(order)}" if len(order) > _FIRST else "class"
    return [pd.DataFrame(table, index=pd.Index(order, name=title))[:_FIRST]]


def _rows(data: xr.Dataset) -> int:
    """Return the number of rows of the table."""
    found = data[main_variable(data)]
    return int(found.size // found.sizes.get(CI_BOUND, 1))


def _matrices(data: xr.Dataset) -> int:
    """Return of how many matrices the rows are."""
    return _rows(data) // data.sizes.get(METRIC, 1)


def _head(view: View, data: xr.Dataset) -> xr.Dataset:
    """Return the first rows of a table that may be cut: of a leaderboard those of the best."""
    dim = next((name for name in view.index if name in data.dims), "")
    if _rows(data) <= MOST_ROWS or not dim:
        return data
    if _rows(data) > MOST_ROWS * data.sizes[dim]:  # the batch is what is long
        dim = max(map(str, data[main_variable(data)].dims), key=lambda name: data.sizes[name])
    if "band" in data:
        return data.sel({dim: np.arange(1, 10) / 10}, method="nearest").drop_duplicates(dim)
    if "expected_rank" in data:
        order = np.argsort(data["expected_rank"].values, kind="stable")[:_FIRST]
        return data.isel({dim: order})
    return data.isel({dim: slice(max(_FIRST * data.sizes[dim] // _rows(data), 1))})


def how(data: Any) -> str:
    """Say how a result was made, from its attrs."""
    attrs = data.attrs
    parts = [f"{name} {attrs[name]}" for name in ("design", "model", "prior") if name in attrs]
    if attrs.get("pilot", "null") != "null":
        parts.append("rates of a pilot")
    else:
        given = ("prevalence", "mode", "concentration")
        parts += [f"{name} {attrs[name]}" for name in given if attrs.get(name, "null") != "null"]
    parts.append(" and ".join(_methods(data)))
    if "ci_prob" in attrs:
        kind = str(attrs.get("ci_kind", data[CI_BOUND].attrs.get("ci_kind", "") if CI_BOUND in data.coords else ""))
        named = kind.upper() if kind in ("hdi", "eti") else f"{kind} interval".strip()
        parts.append(f"{writing.percent(float(attrs['ci_prob']))} {named}")
    counts = f" ({attrs['counts']})" if "counts" in attrs else ""
    positive = f"Positive class: {attrs['positive_class']}{counts}. " if "positive_class" in attrs else ""
    made = ", ".join(filter(None, parts))
    return (positive + (f"Made by: {made}." if made else "")).strip()


def _methods(data: xr.Dataset) -> list[str]:
    """Return by which methods the rows were found: a variable says it, or an attr, which may be a list in JSON."""
    if "method" in data:
        found = sorted(set(data["method"].values.ravel().tolist()), key=lambda word: word == "draws")
    else:
        said = str(data.attrs.get("method", ""))
        found = json.loads(said) if said.startswith("[") else [said]
    drawn = f"{data.attrs['draws']:,} draws" if "draws" in data.attrs else "draws"
    return [drawn if word == "draws" else word for word in found]


def contents(data: xr.Dataset | xr.DataTree) -> str:
    """Say in a line what xarray has of a result."""
    if isinstance(data, xr.DataTree):
        return f"xarray.DataTree of {', '.join(data.children)}"
    sizes = ", ".join(f"{name}: {n}" for name, n in data.sizes.items())
    return f"xarray.Dataset{f' ({sizes})' if sizes else ''} of {', '.join(map(str, data.data_vars))}"


def told(data: xr.Dataset | xr.DataTree, tell: Callable[[Answer], str]) -> str | None:
    """Tell a result; None where xarray's own view is shown: of anything else, many rows, parts, other numbers."""
    found = view_of(data)
    if found is None or _matrices(found[1]) > (_MOST_CUT if found[0].cut else MOST_ROWS):
        return None
    try:
        if not is_stamped(found[1]):  # it was lazy: nothing shows whether these are its numbers
            return None
        return tell(Answer(data))
    except (KeyError, IndexError, TypeError, ValueError):  # parts that no sentence fits; what is shown must not fail
        return None


def register() -> None:
    """Add the accessor to xarray's classes."""
    for kind, add in ((xr.Dataset, xr.register_dataset_accessor), (xr.DataTree, xr.register_datatree_accessor)):
        if not hasattr(kind, "bayescm"):
            add("bayescm")(Answer)  # type: ignore[no-untyped-call]
