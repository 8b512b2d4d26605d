"""Numbers, records and frames as text: what tables, sentences and pictures share."""

import csv
import io
import itertools
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayescm.results.escape import for_html, for_latex, for_markdown, for_sheet, for_terminal

if TYPE_CHECKING:
    import pandas as pd

_MOST_DECIMALS = 6
_NOISE = 1e-15
"""A number that is as near to 0, 1 or -1 is one of these with a rounding error."""
_ESTIMATE = re.compile(r"-?[\d.,]+(e[+-]\d+)? \(|undefined|-$")
"""A number with its interval, in a column of these."""
_SHORTEST = 8
"""Columns of a terminal that a column of words, or the head of one of numbers, keeps."""
_LESS = ("method", "ci_kind", "how", "mcse_mean", "mcse", "error", "rule", "sd", "se", "median", "to", "rank", "mean")
"""Columns that are left out first where a table is too wide."""
_CHANCES = re.compile(r"P\(|top_\d|(probability(_\w+)?|best|worse|equivalent|better|larger|equal|undefined|assurance)$")
"""Names of columns that hold probabilities."""


def show(value: float, digits: int = 3) -> str:
    """Format a number for a table, with more decimals where it would be a false 1."""
    nearest = float(round(value)) if abs(value) < 1.5 else value
    value = nearest if abs(value - nearest) < _NOISE else value
    while digits < _MOST_DECIMALS and abs(value) != 1.0 == abs(round(value, digits)):
        digits += 1
    if value != value:
        return "-"
    if value in (float("inf"), float("-inf")):
        return str(value)
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}" if 10.0**-digits <= abs(value) < 1000 or value == 0 else f"{value:.2g}"


def percent(level: float) -> str:
    """Write a level."""
    return f"{round(100.0 * level, 9):g}%"


def decimals_of(lower: float, upper: float) -> int:
    """Return the decimals that an interval deserves: two, three steps from end to end, and no end a false 0 or 1."""
    width = upper - lower
    if not 0 < width < np.inf:
        return 3
    decimals = max(2, int(np.ceil(-np.log10(width / 3) - 1e-9)))
    while decimals < _MOST_DECIMALS and any(
        round(value, decimals) in (0.0, 1.0) and value not in (0.0, 1.0) for value in (lower, upper)
    ):
        decimals += 1
    return min(decimals, _MOST_DECIMALS)


def probability(value: float, of: str = "", *, certain: bool = False) -> str:
    """Write a probability, on request that of something, so that it is never a false 0 or 1.

    Draws that all agree, and numbers that round to 1, leave room beyond, unless nothing is uncertain.
    """
    if certain:
        return f"{of} = {value:g}" if of else f"{value:g}"
    if 0.001 <= value <= 0.999:
        return f"{of} = {value:.3f}" if of else f"{value:.3f}"
    bound = "< 0.001" if value < 0.001 else "> 0.999"
    return f"{of} {bound}" if of else bound


def with_interval(value: float, interval: Iterable[float], level: Any = None, bound: str = "both") -> str:
    """Write a number with its interval, such as "0.93 (95%: 0.77 to 0.98)", or with one bound: "at least 0.79"."""
    lower, upper = map(float, interval)
    if lower != lower:
        return f"{show(value)} (no interval)"
    digits = decimals_of(lower, upper)
    tiny = 10.0**-_MOST_DECIMALS if digits == _MOST_DECIMALS else 0.0
    texts = [f"{one:.{digits}f}" if tiny <= abs(one) < 1000 else show(one) for one in (value, lower, upper)]
    texts[0] = "undefined" if value != value else texts[0]
    said = {"lower": f"at least {texts[1]}", "upper": f"at most {texts[2]}"}.get(bound, f"{texts[1]} to {texts[2]}")
    return f"{texts[0]} ({'' if level is None else f'{percent(float(level))}: '}{said})"


def estimate(one: xr.Dataset, level: Any = None) -> str:
    """Write the point of a result with its interval."""
    return with_interval(float(one["point"]), one["interval"].values, level, str(one.attrs.get("bound", "both")))


def without_common_method(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table without the column of the method where all rows have one, which is said beside the table."""
    return frame.drop(columns="method") if "method" in frame and frame["method"].nunique() == 1 else frame


def bounds(interval: Any, what: str = "") -> dict[str, Any]:
    """Return the ends of an interval, as a record has them."""
    lower, upper = interval.values.tolist()
    return {f"{what}lower": lower, f"{what}upper": upper}


def moments(one: xr.Dataset) -> dict[str, float]:
    """Return point, mean, median, sd and the ends of the interval, as a record has them."""
    return {name: float(one[name]) for name in ("point", "mean", "median", "sd")} | bounds(one["interval"])


def each(data: xr.Dataset, name: str, *core: str) -> list[tuple[dict[str, Any], xr.Dataset]]:
    """Return what names each place in the dims of a variable but the core ones, and the part that belongs there."""
    batch = [dim for dim in data[name].dims if dim not in core]
    data = data.assign_coords({dim: np.arange(data.sizes[dim]) for dim in batch if dim not in data.coords})
    stacked = data.stack(row=batch, create_index=False) if batch else data.expand_dims("row")
    parts = [stacked.isel(row=i) for i in range(stacked.sizes["row"])]
    return [({str(dim): part[dim].values.item() for dim in batch}, part) for part in parts]


def as_csv(records: Iterable[Mapping[str, Any]]) -> str:
    """Return records as lines with commas below a line of names, without lists, which no cell can hold.

    Text that a spreadsheet would take for a formula stands behind an apostrophe.
    """
    flat = [{for_sheet(key): for_sheet(value) for key, value in one.items()} for one in _flat_records(records)]
    made = io.StringIO()
    writer = csv.DictWriter(made, dict.fromkeys(name for one in flat for name in one), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return made.getvalue()


def as_xlsx(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return records as a spreadsheet, without lists; no text in it is a formula."""
    import pandas as pd

    flat = [{name: _cell_of_sheet(value) for name, value in one.items()} for one in _flat_records(records)]
    made = io.BytesIO()
    with pd.ExcelWriter(made, engine="openpyxl") as writer:
        pd.DataFrame(flat).rename(columns=for_terminal).to_excel(writer, index=False)
        for row in next(iter(writer.sheets.values())).iter_rows():
            for one in row:
                one.data_type = "s" if one.data_type == "f" else one.data_type
    return made.getvalue()


def _flat_records(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if not isinstance(value, list)} for one in records]


def _cell_of_sheet(value: Any) -> Any:
    """Return what a cell of a spreadsheet can hold: what isn't finite came as text, as in JSON, and NaN is empty."""
    if isinstance(value, str):
        return None if value == "nan" else for_terminal(value)
    return value


def cells(frame: "pd.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Return the names and the rows of a frame as text, with the decimals that its narrowest interval deserves."""
    flat = _flat(frame)
    digits = 3
    if {"lower", "upper"} <= set(flat):
        widths = (flat["upper"] - flat["lower"]).to_numpy(np.float64)
        widths = widths[np.isfinite(widths) & (widths > 0)]
        digits = int(np.clip(1 - np.floor(np.log10(widths.min())), 3, _MOST_DECIMALS)) if widths.size else 3
    names = [str(name) for name in flat]
    rows = flat.astype(object).to_numpy().tolist()
    return names, [[cell(value, name, digits) for name, value in zip(names, row, strict=True)] for row in rows]


def _flat(frame: "pd.DataFrame") -> "pd.DataFrame":
    return frame.reset_index(drop=frame.index.names == [None])


def cell(value: Any, name: str, digits: int = 3) -> str:
    """Write a cell of a table below the name of its column: a probability is never a false 0 or 1, nor 5.3e-15."""
    if isinstance(value, float):
        return probability(value) if _CHANCES.match(name) and 0.0 <= value <= 1.0 else show(value, digits)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def words(frame: "pd.DataFrame") -> list[bool]:
    """Say which columns hold words, which stand to the left."""
    return [kind.kind not in "biuf" for kind in _flat(frame).dtypes]


def as_text(frame: "pd.DataFrame", width: int = 80, more: str = ".bayescm.table() has them") -> str:
    """Return a frame as lines of text no wider than `width`, in which numbers are whole.

    Names give way first, as far as they stay distinguishable, then whole columns, which a last line names.
    """
    names, rows = cells(frame)
    left = words(frame)
    columns = [[_one_line(text) for text in column] for column in zip(names, *rows, strict=True)]
    gives = [side and not all(map(_ESTIMATE.match, column[1:])) for column, side in zip(columns, left, strict=True)]
    narrow = [
        min(_SHORTEST, columns_of(column)) if is_name else max(columns_of(column[1:]), _head_width(column[0]))
        for column, is_name in zip(columns, gives, strict=True)
    ]
    kept = list(range(len(columns)))
    if _width(map(columns_of, columns)) > width and "method" in names:
        method = names.index("method")
        if len(set(columns[method][1:])) == 1:  # which is said below the table, too
            kept.remove(method)
    dropped = []
    while _width(narrow[i] for i in kept) > width and len(kept) > 1:
        least = min(kept, key=lambda i: (_LESS.index(names[i]) if names[i] in _LESS else len(_LESS), -i))
        kept.remove(least)
        dropped.append(names[least])
    sizes = {i: columns_of(columns[i]) for i in kept}
    while _width(sizes.values()) > width and any(sizes[i] > narrow[i] for i in kept):
        sizes[max((i for i in kept if sizes[i] > narrow[i]), key=lambda i: (sizes[i], gives[i]))] -= 1
    heads = {size: shortened((columns[i][0] for i in kept), size) for size in set(sizes.values())}
    sheet = []
    for i in kept:
        size, short = sizes[i], shortened(columns[i][1:], sizes[i]) if gives[i] else {}
        head = _two_lines(columns[i][0], size) or ["", heads[size][columns[i][0]]]
        cut = [*head, *(short.get(text, text) for text in columns[i][1:])]
        gaps = [" " * (size - wide(text)) for text in cut]
        sheet.append([text + gap if left[i] else gap + text for text, gap in zip(cut, gaps, strict=True)])
    lines = ["  ".join(row).rstrip() for row in zip(*sheet, strict=True)]
    lines += textwrap.wrap(f"Not shown: {', '.join(dropped)}; {more}.", width) if dropped else []
    return "\n".join(lines[not lines[0] :])


def _width(sizes: Iterable[int]) -> int:
    """Return how wide columns of these sizes are together."""
    return sum(size + 2 for size in sizes) - 2


def _head_width(name: str) -> int:
    """Return how narrow the head of a column can be: as its wider half, or shortened."""
    halves = _two_lines(name, _SHORTEST + 2)
    return columns_of(halves) if halves else min(_SHORTEST, wide(name))


def _two_lines(name: str, size: int) -> list[str]:
    """Return a head cut in two at a space or an underscore; nothing where it fits whole, or not even so."""
    if wide(name) <= size:
        return []
    cuts = [[name[: at.start()] + at[0].strip(), name[at.end() :]] for at in re.finditer("[ _]", name)]
    return min((cut for cut in cuts if columns_of(cut) <= size), key=columns_of, default=[])


def _one_line(text: str) -> str:
    return for_terminal(text).replace("\n", " ")


def wide(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(one) else 1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def columns_of(texts: Iterable[str]) -> int:
    """Return how many columns the widest of some texts takes."""
    return max(map(wide, texts), default=0)


def shortened(names: Iterable[str], size: int) -> dict[str, str]:
    """Return names with an ellipsis for what is left out of them, so that each has `size` columns and is still its own.

    The middle is left out, or else what all have in common; names that differ within what is left out get a number.
    """
    distinct = list(dict.fromkeys(names))
    pairs = [name.split(" - ") for name in distinct]
    if max(map(wide, distinct), default=0) > size >= 2 * _SHORTEST - 1 and all(len(pair) == 2 for pair in pairs):
        sides = shortened((side for pair in pairs for side in pair), (size - 3) // 2)
        return {name: " - ".join(sides[side] for side in pair) for name, pair in zip(distinct, pairs, strict=True)}
    for head in sorted(range(size), key=lambda head: abs(2 * head - size)):
        made = [_without_middle(name, head, size) for name in distinct]
        if len(set(made)) == len(made):
            return dict(zip(distinct, made, strict=True))
    ends = {name: f"…{i}" for i, name in enumerate(distinct, 1) if wide(name) > size}
    return {name: _start(name, size - len(ends[name])) + ends[name] if name in ends else name for name in distinct}


def _without_middle(name: str, head: int, size: int) -> str:
    if wide(name) <= size:
        return name
    return f"{_start(name, head)}…{_start(name[::-1], size - 1 - head)[::-1]}"


def _start(name: str, size: int) -> str:
    """Return as much of the beginning of a name as fits."""
    return "".join(one for one, end in zip(name, itertools.accumulate(map(wide, name)), strict=True) if end <= size)


def as_html(frame: "pd.DataFrame") -> str:
    """Return a frame as a table of HTML, its words to the left by class "l"."""
    names, rows = cells(frame)
    sides = [' class="l"' if is_left else "" for is_left in words(frame)]
    head, *body = (
        "".join(f"<{tag}{side}>{for_html(text)}</{tag[:2]}>" for text, side in zip(row, sides, strict=True))
        for tag, row in [('th scope="col"', names), *(("td", row) for row in rows)]
    )
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def as_markdown(frame: "pd.DataFrame") -> str:
    """Return a frame as a Markdown table."""
    names, rows = cells(frame)
    rule = [":---" if is_left else "---:" for is_left in words(frame)]
    lines = [list(map(for_markdown, names)), rule, *(list(map(for_markdown, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n"


def as_latex(frame: "pd.DataFrame") -> str:
    """Return a frame as a LaTeX tabular with the rules of booktabs."""
    names, rows = cells(frame)
    header, *lines = [" & ".join(map(for_latex, row)) for row in (names, *rows)]
    body = "\n".join(f"{line} \\\\" for line in lines)
    columns = "".join("l" if is_left else "r" for is_left in words(frame))
    rows_of = ["\\toprule", f"{header} \\\\", "\\midrule", body, "\\bottomrule", "\\end{tabular}\n"]
    return "\n".join([f"\\begin{{tabular}}{{{columns}}}", *rows_of])


def listed(names: Sequence[str], most: int = 4) -> str:
    """Join names with commas, and say how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
