"""What every answer of the page consists of, and where its words come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import bayescm
from bayescm.app import inputs
from bayescm.data import validate
from bayescm.plots.frames import list_legend
from bayescm.priors.concentrations import MODELS
from bayescm.results import Answer, glossary, writing

Form = Mapping[str, Any]
Records = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """What is shown of an answer.

    Attributes
    ----------
    sentence : str
    records : list of dict
        A row each of the table.
    assumptions : str
    code : str
        The Python that says the same.
    data : xarray.Dataset or xarray.DataTree
        What the library returned.
    draw : callable or None
        Draws on the axes that it gets; of several panels on an array of them. None: there is no picture.
    table : str
        HTML.
    size : tuple of float
        Inches of the picture.
    words : list of pairs of str
        Each term with its definition, then what the numbers are computed by.
    panels : int
        Axes of the picture, one above the other.
    """

    sentence: str
    records: Records
    assumptions: str
    code: str
    data: Any
    draw: Callable[[Any], Any] | None
    table: str
    size: tuple[float, float] = field(default=(4.8, 3.8))
    words: list[tuple[str, str]] = field(default_factory=list)
    panels: int = field(default=1)


def told(
    data: Any,
    code: str,
    draw: Callable[[Any], Any] | None,
    sentence: str = "",
    more: str = "",
    beside: Any = None,
    **others: Any,
) -> Found:
    """Return what the library says of its result, with a sentence more, or another one, and the table of another."""
    answer = Answer(data)
    frame = answer.table()
    flat = frame.reset_index() if frame.index.names != [None] else frame
    records = [
        {name: value for name, value in row.items() if not isinstance(value, list)} for row in flat.to_dict("records")
    ]
    tables = [*answer.tables(), *([] if beside is None else Answer(beside).tables())]
    table = "".join(writing.as_html(_in_words(one)) for one in tables)
    left_out = answer.left_out()
    table += f"<p class='soft'>... and {left_out:,} rows more: copy the CSV.</p>" if left_out else ""
    said = f"{sentence or answer.sentence} {more}".strip()
    return Found(said, records, answer.assumptions, code, data, draw, table, **others)


def _in_words(frame: Any) -> Any:
    """Return a table whose names have spaces."""
    frame = writing.without_common_method(frame)
    return frame.rename(lambda name: str(name).replace("_", " ")).rename(lambda name: name.replace("_", " "), axis=1)


def of_records(records: Records) -> str:
    """Return records that aren't those of a result of the library as a table of HTML."""
    import pandas as pd

    return writing.as_html(_in_words(pd.DataFrame(records).set_index(next(iter(records[0])))))


def forest(found: Any, brief: bool, ax: Any) -> None:
    """Draw a line per metric; the canonical names behind those that were asked for stand in the table beside it."""
    bayescm.plots.plot_forest(found, ax=ax)
    list_legend(ax, handles=ax.get_legend().legend_handles, ncols=2)
    if brief:
        names = [label.get_text().partition(" (")[0] for label in ax.get_yticklabels()]
        ax.set_yticks(ax.get_yticks(), names)


def call(name: str, data: str, options: Mapping[str, Any], *more: str, first: str = "data") -> str:
    """Return the Python of a call, whose first arguments are read from the data."""
    given = [f"{key}={value!r}" for key, value in options.items() if value is not None]
    lines = ["import bayescm", *(["import pandas as pd"] if "pd." in data else []), ""]
    lines += [f"data = {data}"] if data else []
    arguments = ", ".join([*([first] if data else []), *more, *given])
    return "\n".join([*lines, f"found = bayescm.{name}({arguments})", "print(found)", ""])


def model_of(form: Form, *, kind: bool = True) -> dict[str, Any]:
    """Return the settings of the model and of its intervals."""
    options: dict[str, Any] = {
        "model": validate.choice("model", inputs.text(form, "model", "dirichlet_multinomial"), MODELS),
        "prior": inputs.prior(form),
    }
    return options | intervals_of(form, kind=kind)


def intervals_of(form: Form, *, kind: bool = True) -> dict[str, Any]:
    """Return the settings of intervals."""
    level = {"ci_prob": inputs.number(form, "ci_prob", "0.95")}
    return level | ({"ci_kind": inputs.text(form, "ci_kind", "eti")} if kind else {})


def of_draws(posterior: Any, names: list[str], level: float) -> Records:
    """Return a row per quantity with the mean, the sd and the equal tails of its draws."""
    rows: Records = []
    for name in names:
        for where, one in writing.each(posterior[[name]], name, "chain", "draw"):
            drawn = one[name]
            lower, upper = drawn.quantile([(1 - level) / 2, (1 + level) / 2], method="inverted_cdf").values.tolist()
            numbers = {"mean": float(drawn.mean()), "sd": float(drawn.std()), "lower": lower, "upper": upper}
            rows.append({"quantity": name, **where, **numbers})
    return rows


def words_of(function: Callable[..., Any], metrics: list[str], k: int = 2) -> list[tuple[str, str]]:
    """Return the definitions of metrics, each once for all classes, and the sources that a function names."""
    named = glossary.sources(function)
    return glossary.of_metrics(metrics, k) + ([("Sources", named)] if named else [])
