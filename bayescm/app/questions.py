"""The questions of the page: each takes a form, calls one function of the library, and says what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from bayescm import comparison, planning, plots, regions
from bayescm.app import inputs
from bayescm.data.counts import one_matrix
from bayescm.data.inputs import takes_counts
from bayescm.inference.claims import probability
from bayescm.inference.summaries import summary as summary_of
from bayescm.results import Answer, writing
from bayescm.results.summaries import of_summary

Form = Mapping[str, Any]
Records = list[dict[str, Any]]
_DECEPTIVE = "deceptive"
_NO_INDEX = ("method", "mcse_mean", "mcse_lower", "mcse_upper")


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
    draw : callable
        Draws on the axes that it gets.
    size : tuple of float
        Inches of the picture.
    """

    sentence: str
    records: Records
    assumptions: str
    code: str
    draw: Callable[[Any], Any]
    size: tuple[float, float] = field(default=(7.0, 4.5))


def _call(name: str, data: str, options: Mapping[str, Any], *more: str) -> str:
    """Return the Python of a call."""
    given = [f"{key}={value!r}" for key, value in options.items() if value is not None]
    lines = ["import bayescm", *(["import pandas as pd"] if "pd." in data else []), ""]
    lines += [f"data = {data}"] if data else []
    arguments = ", ".join([*(["data"] if data else []), *more, *given])
    return "\n".join([*lines, f"found = bayescm.{name}({arguments})", "print(found)", ""])


def _model(form: Form, *, kind: bool = True) -> dict[str, Any]:
    """Return the settings of the model and of its intervals."""
    options: dict[str, Any] = {
        "model": inputs.text(form, "model", "dirichlet_multinomial"),
        "prior": inputs.prior(form),
        "ci_prob": inputs.number(form, "ci_prob", "0.95"),
    }
    return options | ({"ci_kind": inputs.text(form, "ci_kind", "hdi")} if kind else {})


@takes_counts
def _matrix(data: Any) -> xr.DataArray:
    """Return one matrix of not too many classes."""
    found = one_matrix(data)
    if found.shape[-1] > inputs.MOST_ITEM_CLASSES:
        raise inputs.FieldError("table", f"At most {inputs.MOST_ITEM_CLASSES} classes here; the library takes more.")
    return found


def summary(form: Form) -> Found:
    """Say how uncertain every metric is."""
    data, code = inputs.counts(form)
    counts = _matrix(data)
    options = _model(form) | {"prevalence": inputs.prevalence(form)}
    metrics = inputs.listed(form, "metrics", "") or None
    found = summary_of(counts, metrics, **options, random_seed=0)
    answer = Answer(found)
    sentence = answer.sentence
    if counts.shape == (2, 2):
        known = {name: options[name] for name in ("model", "prior", "prevalence")}
        chance = float(probability(counts, _DECEPTIVE, **known)["probability"][0])
        sentence += f" The probability that it is worse than chance is {writing.probability(chance)}."
    rows = of_summary(found)
    written = _call("summary", code, options, *([] if metrics is None else [repr(metrics)]))
    tall = (7.0, 1.2 + 0.3 * len(rows))
    return Found(sentence, rows, answer.assumptions, written, lambda ax: plots.plot_forest(found, ax=ax), tall)


def region(form: Form) -> Found:
    """Say where recall and precision, or both rates, may lie together."""
    data, code = inputs.counts(form)
    options: dict[str, Any] = {
        "space": inputs.text(form, "space", "pr"),
        "method": inputs.text(form, "method", "wilks"),
    }
    counts = _matrix(data)
    surface = regions.region(counts, **options)
    level = inputs.number(form, "ci_prob", "0.95")
    outline = regions.area(surface, levels=[level])
    rows: Records = []
    for metric in outline["extent"]["metric"].values.tolist():
        lower, upper = np.ravel(outline["extent"].sel(metric=metric).values).tolist()
        point = float(surface["point"].sel(metric=metric))
        rows.append({"metric": str(metric), "point": point, "lower": lower, "upper": upper})
    ends = " and ".join(
        f"{row['metric'].replace('_', ' ')} from {row['lower']:.3f} to {row['upper']:.3f}" for row in rows
    )
    area = float(np.ravel(outline["area"].values)[0])
    sentence = f"The {writing.percent(level)} region ({options['method']}) reaches over {ends}; its area is {area:.3g}."
    written = _call("region", code, options) + f"print(bayescm.regions.area(found, levels=[{level}]))\n"
    assumed = f"Assumes: {surface.attrs['assumptions']}.\nThe ends are of both together: wider than of each alone."
    return Found(sentence, rows, assumed, written, lambda ax: plots.plot_region(surface, ax=ax), (5.5, 5.0))


def compare(form: Form) -> Found:
    """Say whether one system is better than another."""
    data, code = inputs.table(form)
    metric = inputs.text(form, "metric", "accuracy")
    options = _model(form) | {"rope": inputs.number(form, "rope", "0"), "random_seed": 0}
    tree = comparison.compare_systems(data, metric, **options)
    answer, first = Answer(tree), tree["summary"].to_dataset()
    names = [str(first[dim].values[0]) for dim in ("metric", "comparison")]
    rows = _rows(answer)
    written = _call("compare_systems", code, options, repr(metric))
    return Found(
        answer.sentence, rows, answer.assumptions, written, lambda ax: plots.plot_difference(tree, *names, ax=ax)
    )


def _rows(answer: Answer) -> Records:
    """Return the table of an answer as records."""
    frame = answer.table()
    records: Records = (frame.reset_index() if frame.index.names != [None] else frame).to_dict("records")
    return records


def leaderboard(form: Form) -> Found:
    """Say which rank each system may have."""
    data, code = inputs.table(form)
    metric = inputs.text(form, "metric", "accuracy")
    options: dict[str, Any] = {"ci_prob": inputs.number(form, "ci_prob", "0.95"), "random_seed": 0}
    board = comparison.leaderboard(data, metric=metric, **options).sortby("expected_rank")
    answer = Answer(board)
    groups = board["tie_group"].values
    together = [str(name) for name in board["system"].values[groups == groups[0]]]
    sentence = f"{answer.sentence} In the first group: {writing.listed(together, 12)}."
    rows = [{key: value for key, value in row.items() if key != "rank_probability"} for row in _rows(answer)]
    tall = (8.0, 1.5 + 0.3 * min(board.sizes["system"], 20))
    return Found(
        sentence, rows, answer.assumptions, _call("leaderboard", code, {"metric": metric} | options),
        lambda ax: plots.plot_leaderboard(board, ax=ax), tall,
    )  # fmt: skip


def items(form: Form) -> Found:
    """Say how many items a test needs."""
    metrics = inputs.listed(form, "metrics", "accuracy")
    options: dict[str, Any] = {
        "mode": inputs.number(form, "mode", "0.8"),
        "concentration": inputs.number(form, "concentration", "10"),
        "prevalence": inputs.prevalence(form),
        "assurance": inputs.number(form, "assurance", "0.95"),
        **_model(form),
    }
    width = inputs.number(form, "width", "0.1")
    found = planning.sample_size(metrics, width=width, **options)
    answer = Answer(found)
    most = int(np.max(found["n_items"].values))
    sizes = sorted({max(10, round(most * share)) for share in (0.1, 0.2, 0.4, 0.7, 1, 1.5)})
    code = _call("sample_size", "", {"width": width} | options, repr(metrics))

    def draw(ax: Any) -> Any:
        return plots.plot_interval_width(planning.interval_width(metrics, sizes, **options), ax=ax)

    return Found(answer.sentence, _rows(answer), answer.assumptions, code, draw)


def prevalences(form: Form) -> Found:
    """Say what the predictive values are where the prevalence is another."""
    data, code = inputs.counts(form)
    counts = _matrix(data)
    options = _model(form, kind=False) | {"ci_kind": "eti"}
    at = inputs.numbers(form, "at", "1%, 2%, 5%, 10%, 20%, 50%")
    metrics = ["precision", "negative_predictive_value"]
    found = planning.at_prevalences(counts, metrics, at, **options)
    rows = of_summary(found)
    values = [
        f"PPV is {writing.with_interval(row['mean'], (row['lower'], row['upper']))} where "
        f"{writing.percent(row['prevalence'])} have it"
        for row in rows if row["metric"] == "precision"
    ]  # fmt: skip
    sentence = f"{values[0]}" + (f"; {values[-1].removeprefix('PPV is ')}" if len(values) > 1 else "") + "."
    shown = [{key: value for key, value in row.items() if key not in _NO_INDEX} for row in rows]
    written = _call("at_prevalences", code, options, repr(metrics), repr(at))

    def draw(ax: Any) -> Any:
        return plots.plot_prevalence(planning.at_prevalences(counts, metrics, **options), ax=ax)

    return Found(sentence, shown, f"Assumes: {found.attrs['assumptions']}.", written, draw)


def replicate(form: Form) -> Found:
    """Say what a second test would show."""
    data, code = inputs.counts(form)
    counts = _matrix(data)
    metrics = inputs.listed(form, "metrics", "recall specificity precision accuracy mcc")
    n_items = inputs.whole(form, "n_items") if inputs.text(form, "n_items") else None
    claim = inputs.text(form, "claim")
    options = _model(form) | {"n_items": n_items, "claims": [claim] if claim else None, "random_seed": 0}
    found = planning.replicate(counts, metrics, **options)
    rows: Records = []
    for i, metric in enumerate(found["metric"].values.tolist()):
        one = found.isel(metric=i)
        lower, upper = one["interval"].values.tolist()
        numbers = {name: float(one[name]) for name in ("point", "mean", "sd")}
        rows.append({"metric": metric, **numbers, "lower": lower, "upper": upper, "undefined": float(one["undefined"])})
    first = rows[0]
    size = int(counts.sum()) if n_items is None else n_items
    ends = writing.with_interval(first["mean"], (first["lower"], first["upper"]), options["ci_prob"])
    sentence = f"A second test of {size:,} items would show {first['metric'].replace('_', ' ')} around {ends}."
    if claim:
        chance = float(np.ravel(found["probability"].values)[0])
        sentence += f" It shows {claim} with probability {writing.probability(chance)}."
    written = _call("replicate", code, options, repr(metrics))
    return Found(
        sentence, rows, f"Assumes: {found.attrs['assumptions']}.", written,
        lambda ax: plots.plot_forest(found, ax=ax), (7.0, 1.5 + 0.4 * len(rows)),
    )  # fmt: skip


QUESTIONS: dict[str, Callable[[Form], Found]] = {
    "summary": summary, "region": region, "compare": compare, "items": items, "prevalences": prevalences,
    "replicate": replicate, "leaderboard": leaderboard,
}  # fmt: skip
"""By the last part of their address."""

FIELDS = frozenset({
    *inputs.CELLS, "table", "model", "prior", "prevalence", "ci_prob", "ci_kind", "metrics", "metric", "space",
    "method", "rope", "mode", "concentration", "assurance", "width", "at", "n_items", "claim",
})  # fmt: skip
"""What a form may hold."""
