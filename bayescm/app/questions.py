"""The questions of the page: each takes a form, calls one function of the library, and says what came of it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import bayescm
from bayescm.app import inputs
from bayescm.app.answers import Form, Found, Records, call, model_of, rows_of, words_of
from bayescm.app.scores import curves, folds
from bayescm.data.recognisers import BOARD, SYSTEMS
from bayescm.results import Answer, writing
from bayescm.results.summaries import of_summary

_DECEPTIVE = "deceptive"
_SAMPLES, _LEAST_SAMPLES, _MOST_CELLS = 100_000, 10_000, 4_000_000
"""Of a second test: a second for 12 classes, as all draws of six take."""
_NO_INDEX = ("method", "mcse_mean", "mcse_lower", "mcse_upper")


def summary(form: Form) -> Found:
    """Say how uncertain every metric is."""
    counts, code = inputs.counts(form)
    options = model_of(form) | {"prevalence": inputs.prevalence(form), "random_seed": 0}
    metrics = inputs.listed(form, "metrics", "") or None
    found = bayescm.summary(counts, metrics, **options)
    answer = Answer(found)
    sentence = answer.sentence
    if counts.shape == (2, 2):
        known = {name: options[name] for name in ("model", "prior", "prevalence")}
        chance = float(bayescm.probability(counts, _DECEPTIVE, **known)["probability"][0])
        sentence += f" The probability that it is worse than chance is {writing.probability(chance)}."
    rows = of_summary(found)
    written = call("summary", code, options, *([] if metrics is None else [repr(metrics)]))
    return Found(
        sentence, rows, answer.assumptions, written, found, lambda ax: bayescm.plots.plot_forest(found, ax=ax),
        (7.0, 1.2 + 0.3 * len(rows)), words_of(bayescm.summary, _metrics(rows), counts.shape[-1]),
    )  # fmt: skip


def _metrics(rows: Records) -> list[str]:
    return list(dict.fromkeys(str(row["metric"]) for row in rows))


def region(form: Form) -> Found:
    """Say where recall and precision, or both rates, may lie together."""
    counts, code = inputs.counts(form)
    options: dict[str, Any] = {
        "space": inputs.text(form, "space", "pr"),
        "method": inputs.text(form, "method", "wilks"),
    }
    surface = bayescm.region(counts, **options)
    level = inputs.number(form, "ci_prob", "0.95")
    outline = bayescm.regions.area(surface, levels=[level])
    rows: Records = []
    for metric in outline["extent"]["metric"].values.tolist():
        lower, upper = np.ravel(outline["extent"].sel(metric=metric).values).tolist()
        point = float(surface["point"].sel(metric=metric))
        rows.append({"metric": str(metric), "point": point, "lower": lower, "upper": upper})
    ends = " and ".join(
        f"{row['metric'].replace('_', ' ')} from {row['lower']:.3f} to {row['upper']:.3f}" for row in rows
    )
    area = float(np.ravel(outline["area"].values)[0])
    sentence = f"The {writing.percent(level)} region ({options['method']}) holds {ends}; its area is {area:.3g}."
    written = call("region", code, options) + f"print(bayescm.regions.area(found, levels=[{level}]))\n"
    assumed = f"Assumes: {surface.attrs['assumptions']}.\nThe ends are of both together: wider than of each alone."
    return Found(
        sentence, rows, assumed, written, surface, lambda ax: bayescm.plots.plot_region(surface, ax=ax), (5.5, 5.0),
        words_of(bayescm.region, _metrics(rows)),
    )  # fmt: skip


def compare(form: Form) -> Found:
    """Say whether one system is better than another."""
    data, code = inputs.table(form, SYSTEMS)
    metric = inputs.text(form, "metric", "accuracy")
    options = model_of(form) | {"rope": inputs.number(form, "rope", "0"), "random_seed": 0}
    tree = bayescm.compare_systems(data, metric, **options)
    answer, first = Answer(tree), tree["summary"].to_dataset()
    names = [str(first[dim].values[0]) for dim in ("metric", "comparison")]
    rows = rows_of(answer)
    written = call("compare_systems", code, options, repr(metric))
    return Found(
        answer.sentence, rows, answer.assumptions, written, tree,
        lambda ax: bayescm.plots.plot_difference(tree, *names, ax=ax),
        words=words_of(bayescm.compare_systems, names[:1]),
    )  # fmt: skip


def leaderboard(form: Form) -> Found:
    """Say which rank each system may have."""
    data, code = inputs.table(form, BOARD)
    metric = inputs.text(form, "metric", "accuracy")
    options: dict[str, Any] = {"ci_prob": inputs.number(form, "ci_prob", "0.95"), "random_seed": 0}
    board = bayescm.leaderboard(data, metric=metric, **options).sortby("expected_rank")
    answer = Answer(board)
    groups = board["tie_group"].values
    together = [str(name) for name in board["system"].values[groups == groups[0]]]
    sentence = f"{answer.sentence} In the first group: {writing.listed(together, 12)}."
    rows = [{key: value for key, value in row.items() if key != "rank_probability"} for row in rows_of(answer)]
    tall = (8.0, 1.5 + 0.3 * min(board.sizes["system"], 20))
    return Found(
        sentence, rows, answer.assumptions, call("leaderboard", code, {"metric": metric} | options), board,
        lambda ax: bayescm.plots.plot_leaderboard(board, ax=ax), tall, words_of(bayescm.leaderboard, [metric]),
    )  # fmt: skip


def items(form: Form) -> Found:
    """Say how many items a test needs."""
    metrics = inputs.listed(form, "metrics", "accuracy")
    options: dict[str, Any] = {
        "mode": inputs.number(form, "mode", "0.8"),
        "concentration": inputs.number(form, "concentration", "10"),
        "prevalence": inputs.prevalence(form),
        "assurance": inputs.number(form, "assurance", "0.95"),
        **model_of(form),
    }
    width = inputs.number(form, "width", "0.1")
    found = bayescm.sample_size(metrics, width=width, **options)
    answer = Answer(found)
    most = int(np.max(found["n_items"].values))
    sizes = sorted({max(10, round(most * share)) for share in (0.1, 0.2, 0.4, 0.7, 1, 1.5)})
    code = call("sample_size", "", {"width": width} | options, repr(metrics))

    def draw(ax: Any) -> Any:
        drawn = bayescm.plots.plot_interval_width(bayescm.planning.interval_width(metrics, sizes, **options), ax=ax)
        for axis, write in ((drawn.xaxis, "{:,.0f}"), (drawn.yaxis, "{:g}")):
            axis.set_major_formatter(partial(_plain, write, ""))
            axis.set_minor_formatter(partial(_plain, write, "25"))
        return drawn

    words = words_of(bayescm.sample_size, metrics)
    return Found(answer.sentence, rows_of(answer), answer.assumptions, code, found, draw, words=words)


def _plain(write: str, first_digits: str, x: float, _: int) -> str:
    """Write a tick, where its first digit is wanted, as a plain number: a power of ten takes longer than all else."""
    return write.format(x) if f"{x:e}"[0] in (first_digits or "123456789") else ""


def prevalences(form: Form) -> Found:
    """Say what the predictive values are where the prevalence is another."""
    counts, code = inputs.counts(form)
    options = model_of(form, kind=False) | {"ci_kind": "eti"}
    at = inputs.numbers(form, "at", "1%, 2%, 5%, 10%, 20%, 50%")
    metrics = ["precision", "negative_predictive_value"]
    found = bayescm.planning.at_prevalences(counts, metrics, at, **options)
    rows = of_summary(found)
    negative = rows[1]["mean"], (rows[1]["lower"], rows[1]["upper"])
    values = [
        f"PPV is {writing.with_interval(row['mean'], (row['lower'], row['upper']))} where "
        f"{writing.percent(row['prevalence'])} are positive"
        for row in rows if row["metric"] == "precision"
    ]  # fmt: skip
    sentence = f"{values[0]}" + (f"; {values[-1].removeprefix('PPV is ')}" if len(values) > 1 else "") + "."
    sentence += f" NPV is {writing.with_interval(*negative)} where {writing.percent(at[0])} are positive."
    shown = [{key: value for key, value in row.items() if key not in _NO_INDEX} for row in rows]
    written = call("planning.at_prevalences", code, options, repr(metrics), repr(at))

    nomogram = inputs.text(form, "view", "nomogram") == "nomogram"

    def draw(ax: Any) -> Any:
        if nomogram:
            return bayescm.plots.plot_prevalence(found.isel(prevalence=[0]), kind="nomogram", ax=ax)
        return bayescm.plots.plot_prevalence(bayescm.planning.at_prevalences(counts, metrics, **options), ax=ax)

    return Found(
        sentence, shown, f"Assumes: {found.attrs['assumptions']}.", written, found, draw,
        (6.0, 6.0) if nomogram else (7.0, 4.5), words_of(bayescm.planning.at_prevalences, metrics),
    )  # fmt: skip


def replicate(form: Form) -> Found:
    """Say what a second test would show."""
    counts, code = inputs.counts(form)
    metrics = inputs.listed(form, "metrics", "recall specificity precision accuracy mcc")
    n_items = inputs.whole(form, "n_items") if inputs.text(form, "n_items") else None
    claim = inputs.text(form, "claim")
    draws = int(np.clip(_MOST_CELLS // counts.size, _LEAST_SAMPLES, _SAMPLES))
    options = model_of(form) | {
        "n_items": n_items, "claims": [claim] if claim else None, "draws": draws, "random_seed": 0,
    }  # fmt: skip
    found = bayescm.planning.replicate(counts, metrics, **options)
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
    written = call("planning.replicate", code, options, repr(metrics))
    return Found(
        sentence, rows, f"Assumes: {found.attrs['assumptions']}.", written, found,
        lambda ax: bayescm.plots.plot_forest(found, ax=ax), (7.0, 1.5 + 0.4 * len(rows)),
        words_of(bayescm.planning.replicate, _metrics(rows), counts.shape[-1]),
    )  # fmt: skip


QUESTIONS: dict[str, Callable[[Form], Found]] = {
    "summary": summary, "region": region, "curves": curves, "folds": folds, "compare": compare, "items": items,
    "prevalences": prevalences, "replicate": replicate, "leaderboard": leaderboard,
}  # fmt: skip
"""By the last part of their address."""

FIELDS = frozenset({
    *inputs.CELLS, "table", "model", "prior", "prevalence", "ci_prob", "ci_kind", "metrics", "metric", "space",
    "method", "rope", "mode", "concentration", "assurance", "width", "at", "n_items", "claim",
    "pooling", "view",
})  # fmt: skip
"""What a form may hold."""
