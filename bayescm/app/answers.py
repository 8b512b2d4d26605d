"""What every answer of the page consists of, and where its words come from."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayescm.app import inputs
from bayescm.data import validate
from bayescm.priors.concentrations import MODELS
from bayescm.results import Answer, glossary, writing
from bayescm.results.display import NAMES

Form = Mapping[str, Any]
Records = list[dict[str, Any]]
_MOST_ROWS = 200
_LEFT_OUT = re.compile("mcse|simultaneous|probability_better$")  # of the table, not of what is copied
_COLUMNS = NAMES | {one: f"P({one})" for one in ("worse", "equivalent", "better", "undefined")} | {
    "best_set": "may be the best", "tie_group": "group", "point": "measured", "ci_kind": "kind",
    "sd": "standard deviation",
}  # fmt: skip
_CLINICAL = {"recall": "sensitivity (recall)", "precision": "positive predictive value (precision)"}


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
    draw : callable
        Draws on the axes that it gets.
    size : tuple of float
        Inches of the picture.
    words : list of pairs of str
        Each term with its definition, then what the numbers are computed by.
    """

    sentence: str
    records: Records
    assumptions: str
    code: str
    data: Any
    draw: Callable[[Any], Any]
    size: tuple[float, float] = field(default=(7.0, 4.5))
    words: list[tuple[str, str]] = field(default_factory=list)


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
        "ci_prob": inputs.number(form, "ci_prob", "0.95"),
    }
    return options | ({"ci_kind": inputs.text(form, "ci_kind", "eti")} if kind else {})


def rows_of(answer: Answer) -> Records:
    """Return the table of an answer as records."""
    frame = answer.table()
    records: Records = (frame.reset_index() if frame.index.names != [None] else frame).to_dict("records")
    return records


def table_of(records: Records) -> str:
    """Return what is shown of records: a table of HTML, with the words and the digits of every other table."""
    import pandas as pd

    rows = [
        {
            _column(name): _word(value) if name in ("metric", "quantity") or isinstance(value, bool) else value
            for name, value in one.items() if not _LEFT_OUT.match(name)
        }
        for one in records[:_MOST_ROWS]
    ]  # fmt: skip
    return writing.as_html(pd.DataFrame(rows))


def _column(name: str) -> str:
    return f"P(top {name[4:]})" if name.startswith("top_") else _COLUMNS.get(name, name.replace("_", " "))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _CLINICAL.get(value, str(value).replace("_", " "))


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
