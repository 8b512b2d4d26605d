"""What is shown of a result: sentence, table, assumptions; and the accessor ``.bayescm`` that gives them one by one."""

import json
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayescm.data.schema import ALIAS, CI_BOUND, METRIC
from bayescm.metrics import resolve
from bayescm.results import writing
from bayescm.results.escape import for_html, for_terminal
from bayescm.results.names import MOST_ROWS, NO_ITEMS, called
from bayescm.results.stamps import is_stamped, stamp, unchanged
from bayescm.results.views import VIEWS, View, main_variable, view_of

if TYPE_CHECKING:
    import pandas as pd

_FIRST = 20  # rows of a table that is cut
_WIDE = 80
NAMES = {
    "best": "P(best)",
    "probability_best": "P(least)",
    "probability_better": "P(better)",
    "rank_lower": "rank",
    "rank_upper": "to",
}
"""Columns whose names are shorter, or plainer, where they are shown."""
_STYLE = """<style>
.bayescm{color:var(--jp-content-font-color0,var(--pst-color-text-base,inherit))}
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
        :func:`bayescm.leaderboard`, :func:`bayescm.auc`, :func:`bayescm.aucpr`, :func:`bayescm.auc_difference`,
        :func:`bayescm.curve_intervals`, :func:`bayescm.reliability`,
        :func:`bayescm.sample_size`, :func:`bayescm.sample_size_to_compare`,
        :func:`bayescm.sample_size_of_auc` or :func:`bayescm.decide`.

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
            raise ValueError(
                f"`.bayescm` tells what {', '.join(view.source for view in VIEWS)} returned, whole and in memory; this "
                "isn't. Take the result as it came, with all its variables and attrs (`.compute()` if it is lazy)."
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
        empty = f" Note: {data.attrs[NO_ITEMS]}." if NO_ITEMS in data.attrs else ""
        return for_terminal(view.answer(data) + empty)

    @property
    def assumptions(self) -> str:
        """Return what the answer takes for granted, and how it was made."""
        _, data = self._known()
        return for_terminal(f"Assumes: {data.attrs['assumptions']}.\n{_how(data)}")

    def table(self) -> "pd.DataFrame":
        """Return a row per metric, system, pair or action, with the interval as `lower` and `upper`.

        Returns
        -------
        pandas.DataFrame
            Indexed by what tells rows apart. Numbers are not rounded.
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

    def to_csv(self) -> str:
        """Return the table as CSV, with all digits."""
        view, data = self._known()
        return writing.as_csv(view.records(data))

    def to_markdown(self) -> str:
        """Return the short table as Markdown, with the decimals that its intervals deserve."""
        return writing.as_markdown(self._short())

    def to_latex(self) -> str:
        r"""Return the short table as a LaTeX tabular, for ``\usepackage{booktabs}``."""
        return writing.as_latex(self._short())

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
        table = writing.as_text(self._short(), _WIDE) + self._more()
        about = "\n".join(textwrap.fill(line, _WIDE) for line in self.assumptions.splitlines())
        return textwrap.fill(self.sentence, _WIDE), table, about

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, folded: str = "") -> str:
        """Return sentence, table and assumptions as HTML, with something folded below."""
        about = "<br>".join(map(for_html, self.assumptions.splitlines()))
        more = f"<p class='how'>{for_html(self._more().strip())}</p>" if self._more() else ""
        name = f"xarray.{type(self._data).__name__}"
        details = f"<details><summary>{name}</summary>{folded}</details>" if folded else ""
        return (
            f'{_STYLE}<div class="bayescm"><p class="answer">{for_html(self.sentence)}</p>'
            f'{writing.as_html(self._short())}{more}<p class="how">{about}</p>{details}</div>'
        )

    def _short(self) -> "pd.DataFrame":
        """Return the columns and rows that are shown."""
        view, data = self._known()
        frame = _frame(view, _head(view, data))
        if ALIAS in frame and METRIC in frame.index.names:
            levels = frame.index.names
            frame = frame.reset_index()
            frame[METRIC] = [called(*names) for names in zip(frame[METRIC], frame[ALIAS], strict=True)]
            frame = frame.set_index(levels)
        wanted = [name for name in view.shown if name in frame]
        return frame[wanted].rename(columns=NAMES)

    def _more(self) -> str:
        """Say how many rows are left out."""
        view, data = self._known()
        left_out = _rows(data) - _rows(_head(view, data))
        return f"\n... and {left_out:,} more: .bayescm.table() has all" if left_out else ""


def _frame(view: View, data: xr.Dataset) -> "pd.DataFrame":
    """Return the records of a result as a frame."""
    import pandas as pd

    frame = pd.DataFrame(view.records(data))
    batch = [str(dim) for dim in data[main_variable(data)].dims if dim != CI_BOUND]
    index = [name for name in dict.fromkeys([*batch, *view.index]) if name in frame]
    constant = [name for name in index if name not in batch and len(index) > 1 and len(batch) > 0]
    frame = frame.drop(columns=constant)
    kept = [name for name in index if name not in constant]
    return frame.set_index(kept) if kept else frame


def _rows(data: xr.Dataset) -> int:
    """Return the number of rows of the table."""
    found = data[main_variable(data)]
    return int(found.size // found.sizes.get(CI_BOUND, 1))


def _head(view: View, data: xr.Dataset) -> xr.Dataset:
    """Return the first rows of a table that may be cut: of a leaderboard those of the best."""
    if not view.cut or _rows(data) <= MOST_ROWS:
        return data
    dim = view.index[0]
    if "expected_rank" in data:
        order = np.argsort(data["expected_rank"].values, kind="stable")[:_FIRST]
        return data.isel({dim: order})
    return data.isel({dim: slice(max(_FIRST * data.sizes[dim] // _rows(data), 1))})


def _how(data: xr.Dataset) -> str:
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
    return f"{positive}Made by: {', '.join(filter(None, parts))}."


def _methods(data: xr.Dataset) -> list[str]:
    """Return by which methods the rows were found: a variable says it, or an attr, which may be a list in JSON."""
    if "method" in data:
        found = sorted(set(data["method"].values.ravel().tolist()), key=lambda word: word == "draws")
    else:
        said = str(data.attrs.get("method", ""))
        found = json.loads(said) if said.startswith("[") else [said]
    drawn = f"{data.attrs['samples']:,} draws" if "samples" in data.attrs else "draws"
    return [drawn if word == "draws" else word for word in found]


def _contents(data: xr.Dataset | xr.DataTree) -> str:
    """Say in a line what xarray has of a result."""
    if isinstance(data, xr.DataTree):
        return f"xarray.DataTree of {', '.join(data.children)}"
    sizes = ", ".join(f"{name}: {n}" for name, n in data.sizes.items())
    return f"xarray.Dataset{f' ({sizes})' if sizes else ''} of {', '.join(map(str, data.data_vars))}"


def _made(data: xr.Dataset | xr.DataTree, tell: Callable[[Answer], str]) -> str | None:
    """Tell a result; None where xarray's own view is shown: of anything else, many rows, parts, other numbers."""
    found = view_of(data)
    if found is None or (_rows(found[1]) > MOST_ROWS and not found[0].cut):
        return None
    try:
        if not is_stamped(found[1]):  # it was lazy: nothing shows whether these are its numbers
            return None
        return tell(Answer(data))
    except (KeyError, IndexError, TypeError, ValueError):  # parts that no sentence fits; what is shown must not fail
        return None


def register() -> None:
    """Add the accessor to xarray's classes, and let results of bayescm be shown by it (decision 0017)."""
    for kind, add in ((xr.Dataset, xr.register_dataset_accessor), (xr.DataTree, xr.register_datatree_accessor)):
        if not hasattr(kind, "bayescm"):
            add("bayescm")(Answer)  # type: ignore[no-untyped-call]
            _wrap(kind)


def _wrap(kind: Any) -> None:
    """Show a result by its answer, and all else as before."""
    text, html = kind.__repr__, kind._repr_html_

    def __repr__(self: Any) -> str:
        shown = _made(
            self, lambda answer: f"{answer!r}\n{textwrap.shorten(_contents(self), _WIDE, placeholder=' ...')}"
        )
        return str(text(self)) if shown is None else shown

    def _repr_html_(self: Any) -> str:
        shown = _made(self, lambda answer: answer.html(folded=html(self)))
        return str(html(self)) if shown is None else shown

    kind.__repr__ = kind.__str__ = __repr__
    kind._repr_html_ = _repr_html_
