"""The questions of the page: each takes a form, calls one function of the library, and says what came of it."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import bayescm
from bayescm.app import inputs, pages
from bayescm.app.answers import Form, Found, call, forest, model_of, told, words_of
from bayescm.app.scores import curves, folds
from bayescm.app.several import agreement, drift, gaps, reported, synthesis
from bayescm.data.recognisers import BOARD
from bayescm.data.units import unit_of
from bayescm.results import Answer, writing

_OF_TEST = ["sensitivity", "specificity", "ppv", "npv", "lr+", "lr-", "accuracy", "prevalence", "informedness", "mcc"]
"""What is asked of two classes if nothing is said: what fits beside the form."""
_BOTH_RATES = ["sensitivity", "specificity"]
_DECEPTIVE = "deceptive"
_SAMPLES, _LEAST_SAMPLES, _MOST_CELLS = 100_000, 10_000, 4_000_000
"""Of a second test: a second for 12 classes, as all draws of six take."""
_MOST_PANELS = 3  # metrics of a comparison that are drawn
_LINE = 0.28  # inches of a forest


def summary(form: Form) -> Found:
    """Say how uncertain every metric is."""
    counts, code = inputs.counts(form)
    options = model_of(form) | {"prevalence": inputs.prevalence(form), "random_seed": 0}
    of_two = counts.shape[-2:] == (2, 2)
    metrics = inputs.listed(form, "metrics", "") or (_OF_TEST if of_two else None)
    found = bayescm.summary(counts, metrics, **options)
    chance = ""
    if of_two:
        known = {name: options[name] for name in ("model", "prior", "prevalence")}
        deceptive = float(bayescm.probability(counts, _DECEPTIVE, random_seed=0, **known)["probability"][0])
        chance = f"The probability that it is worse than chance is {writing.probability(deceptive)}."
    written = call("summary", code, options, *([] if metrics is None else [repr(metrics)]))
    return told(
        found, written, partial(forest, found, of_two), more=chance, size=_size(found),
        words=words_of(bayescm.summary, found["metric"].values.tolist(), counts.shape[-1]),
    )  # fmt: skip


def _size(found: Any) -> tuple[float, float]:
    """Return the size of the picture of a line per metric."""
    return 4.8, 1.4 + _LINE * found.sizes["metric"]


def region(form: Form) -> Found:
    """Say where recall and precision, or both rates, may lie together."""
    counts, code = inputs.counts(form)
    if unit_of(counts) and inputs.text(form, "method", "wilks") != "credible":
        raise inputs.FieldError("method", "Of units the region is the posterior's: choose credible (Bayesian).")
    options: dict[str, Any] = {
        "space": inputs.text(form, "space", "pr"),
        "method": inputs.text(form, "method", "wilks"),
        "levels": [inputs.number(form, "ci_prob", "0.95")],
    }
    found = bayescm.region(counts, **options)
    return told(
        found, call("region", code, options), lambda ax: bayescm.plots.plot_region(found, ax=ax), size=(4.6, 4.4),
        words=words_of(bayescm.region, found["metric"].values.tolist()),
    )  # fmt: skip


def compare(form: Form) -> Found:
    """Say whether one system is better than another, and draw the pair that is named first."""
    data, code = inputs.pairs(form)
    metrics = inputs.listed(form, "metrics", "") or (["accuracy"] if inputs.text(form, "table") else _BOTH_RATES)
    options = model_of(form) | {"rope": inputs.number(form, "rope", "0"), "random_seed": 0}
    tree = bayescm.compare_systems(data, metrics, **options)
    first = tree["summary"].to_dataset()
    named = int(
        np.argmax(first["verdict"].isel(metric=0).values != "undecided")
    )  # the first that is decided, or the first
    pair, drawn = str(first["comparison"].values[named]), first["metric"].values.tolist()[:_MOST_PANELS]

    def draw(axes: Any) -> None:
        for metric, ax in zip(drawn, np.ravel(axes), strict=True):
            bayescm.plots.plot_difference(tree, metric, pair, ax=ax)

    both = _of_each(tree, drawn) if first.sizes["comparison"] == 1 else ""
    return told(
        tree, call("compare_systems", code, options, repr(metrics)), draw, both, size=(4.2, 3.1 * len(drawn)),
        panels=len(drawn), words=words_of(bayescm.compare_systems, drawn),
    )  # fmt: skip


def _of_each(data: Any, metrics: list[str]) -> str:
    """Say what the library says of each metric by itself."""
    return " ".join(Answer(Answer(data)[name]).sentence for name in metrics)


def leaderboard(form: Form) -> Found:
    """Say which rank each system may have."""
    data, code = inputs.table(form, BOARD)
    metric = inputs.text(form, "metric", "accuracy")
    options: dict[str, Any] = {"ci_prob": inputs.number(form, "ci_prob", "0.95"), "random_seed": 0}
    board = bayescm.leaderboard(data, metric=metric, **options)
    return told(
        board, call("leaderboard", code, {"metric": metric} | options),
        lambda ax: bayescm.plots.plot_leaderboard(board, ax=ax),
        size=(5.4, 1.5 + 0.3 * min(board.sizes["system"], 20)), words=words_of(bayescm.leaderboard, [metric]),
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
    most = int(np.max(found["n_items"].values))
    sizes = sorted({max(10, round(most * share)) for share in (0.1, 0.2, 0.4, 0.7, 1, 1.5)})
    code = call("sample_size", "", {"width": width} | options, repr(metrics))

    def draw(ax: Any) -> Any:
        drawn = bayescm.plots.plot_interval_width(bayescm.planning.interval_width(metrics, sizes, **options), ax=ax)
        for axis, write in ((drawn.xaxis, "{:,.0f}"), (drawn.yaxis, "{:g}")):
            axis.set_major_formatter(partial(_plain, write, ""))
            axis.set_minor_formatter(partial(_plain, write, "25"))
        return drawn

    return told(found, code, draw, words=words_of(bayescm.sample_size, metrics))


def _plain(write: str, first_digits: str, x: float, _: int) -> str:
    """Write a tick, where its first digit is wanted, as a plain number: a power of ten takes longer than all else."""
    return write.format(x) if f"{x:e}"[0] in (first_digits or "123456789") else ""


def prevalences(form: Form) -> Found:
    """Say what the predictive values are where the prevalence is another."""
    counts, code = inputs.counts(form)
    options = model_of(form, kind=False) | {"ci_kind": "eti"}
    options |= {"random_seed": 0} if unit_of(counts) else {}
    at = inputs.numbers(form, "at", "1%, 2%, 5%, 10%, 20%, 50%")
    metrics = ["ppv", "npv"]
    found = bayescm.planning.at_prevalences(counts, metrics, at, **options)
    nomogram = inputs.text(form, "view", "nomogram") == "nomogram"

    def draw(ax: Any) -> Any:
        if nomogram:
            return bayescm.plots.plot_prevalence(found.isel(prevalence=[0]), kind="nomogram", ax=ax)
        return bayescm.plots.plot_prevalence(bayescm.planning.at_prevalences(counts, metrics, **options), ax=ax)

    return told(
        found, call("planning.at_prevalences", code, options, repr(metrics), repr(at)), draw,
        _of_each(found, metrics), size=(4.8, 5.2) if nomogram else (5.2, 4.0),
        words=words_of(bayescm.planning.at_prevalences, metrics),
    )  # fmt: skip


def replicate(form: Form) -> Found:
    """Say what a second test would show."""
    counts, code = inputs.counts(form)
    metrics = inputs.listed(form, "metrics", "recall specificity precision accuracy mcc")
    claim = inputs.text(form, "claim")
    options = model_of(form) | {
        "n_items": inputs.whole(form, "n_items") if inputs.text(form, "n_items") else None,
        "claims": [claim] if claim else None,
        "draws": int(np.clip(_MOST_CELLS // counts.size, _LEAST_SAMPLES, _SAMPLES)), "random_seed": 0,
    }  # fmt: skip
    found = bayescm.planning.replicate(counts, metrics, **options)
    shows = f"P(it shows {claim})"
    return told(
        found, call("planning.replicate", code, options, repr(metrics)),
        partial(forest, found, counts.shape == (2, 2)), size=_size(found),
        more=f"{writing.probability(float(np.ravel(found['probability'].values)[0]), shows)}." if claim else "",
        words=words_of(bayescm.planning.replicate, found["metric"].values.tolist(), counts.shape[-1]),
    )  # fmt: skip


QUESTIONS: dict[str, Callable[[Form], Found]] = {
    "summary": summary, "region": region, "curves": curves, "folds": folds, "compare": compare, "items": items,
    "prevalences": prevalences, "replicate": replicate, "leaderboard": leaderboard, "synthesis": synthesis,
    "gaps": gaps, "drift": drift, "agreement": agreement, "reported": reported,
}  # fmt: skip
"""By the last part of their address, in the order of their tabs."""

_GRIDS: dict[str, tuple[str, ...]] = {"cells": inputs.CELLS, "pairs": inputs.PAIRS}
_OF_PAGE = json.loads(pages.text("tabs.json"))
_OF_BOTH_PAGES = (*_OF_PAGE["counts"], "rows", "model", "ci_prob", "ci_kind")
_SENT: dict[str, str] = {name: name for name in _OF_BOTH_PAGES}
_SENT |= {name: "table" if "area" in field else name for name, field in _OF_PAGE["fields"].items()}
_FIRST: dict[str, str] = _OF_PAGE["counts"] | {name: field[1] for name, field in _OF_PAGE["fields"].items()}
FORMS: dict[str, dict[str, str]] = {
    tab: {_SENT[name]: _FIRST[name] for one in fields for name in _GRIDS.get(one, (one,)) if _FIRST.get(name)}
    for tab, (_, fields, *_) in _OF_PAGE["tabs"].items()
}
"""What the page asks at first, by question, without empty fields and those of both pages."""
FIELDS = frozenset(_SENT.values())
"""What a form may hold."""
