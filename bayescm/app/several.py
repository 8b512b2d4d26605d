"""The questions about studies, groups, raters, and numbers that somebody printed."""

from functools import partial
from typing import Any

import bayescm
from bayescm.app import inputs
from bayescm.app.answers import Form, Found, call, forest, intervals_of, told, words_of
from bayescm.data import validate
from bayescm.data.recognisers import COUNTS, SYSTEMS
from bayescm.results import Answer

MOST_TOGETHER = 100
"""Studies, or groups: those that learn from one another take eight seconds."""
_MOST_CELLS = 4_000_000  # of pairs of ratings, subject by subject
_DRAWS = 4_000  # of studies: half the time of 10,000
_COLOURS = 6  # groups that a picture has side by side
_LINE = 0.3  # inches of a forest
_POOLED = {"auto": None, "yes": True, "no": False}
_PRINTED = ("precision", "recall", "f1", "accuracy")
_LEFT = ["sensitivity", "specificity", "ppv", "npv", "f1", "accuracy", "mcc"]


def synthesis(form: Form) -> Found:
    """Say what studies of one test say together."""
    covariates = inputs.words(form, "covariates")
    more = {"covariates": covariates} if covariates else {}
    studies, code = _of_several(form, SYSTEMS, "study", "studies", **more)
    share = validate.number("share", inputs.number(form, "share"), 0, 1) if inputs.text(form, "share") else None
    known = {"prevalence": share, "sampler": "quadrature", "draws": _DRAWS, "random_seed": 0}
    options: dict[str, Any] = intervals_of(form) | known | more
    found = bayescm.synthesis(studies, **options)
    return told(
        found, call("synthesis", code, options), lambda ax: bayescm.plots.plot_region(found, ax=ax), size=(5.2, 4.8),
        words=words_of(bayescm.synthesis, found["summary"].to_dataset()["metric"].values.tolist()),
    )  # fmt: skip


def gaps(form: Form) -> Found:
    """Say how far groups are apart, and draw each of them."""
    groups, code = _of_several(form, COUNTS, "group", "groups", by=inputs.text(form, "group") or None)
    options: dict[str, Any] = intervals_of(form) | {
        "metrics": inputs.listed(form, "metrics", "") or None,
        "rope": validate.number("within", inputs.number(form, "within", "0.05"), 0, 1),
        "pooled": _POOLED[validate.choice("pooled", inputs.text(form, "pooled", "auto"), _POOLED)],
        "random_seed": 0,
    }
    found = bayescm.gaps(groups, **options)
    named = [name for name in found["metric"].values.tolist() if name != "equalised_odds"]
    drawn = named[:1] if found.sizes["group"] > _COLOURS else named

    def draw(ax: Any) -> Any:
        model: Any = "hierarchical" if found.attrs["pooled"] else "dirichlet_multinomial"
        each = bayescm.summary(groups, drawn, model=model, random_seed=0, **intervals_of(form))
        return bayescm.plots.plot_forest(each, ax=ax)

    return told(
        found, call("gaps", code, options), draw, size=(4.8, 1.6 + 0.2 * len(drawn) * found.sizes["group"]),
        words=words_of(bayescm.gaps, named),
    )  # fmt: skip


def drift(form: Form) -> Found:
    """Say whether a series is worse than at its start, and draw it."""
    series, code = inputs.table(form, COUNTS)
    if "actual" in getattr(series.data, "dims", ()) and series.data.ndim != 3:
        raise inputs.FieldError("table", "Paste a row per period, with the columns week, correct and wrong.")
    metric = inputs.text(form, "metric", "accuracy")
    options: dict[str, Any] = {
        "rope": validate.number("loss", inputs.number(form, "loss", "0"), 0, 1, closed=True),
        "ci_prob": intervals_of(form)["ci_prob"],
        "random_seed": 0,
    }
    found = bayescm.drift(series, metric, **options)
    return told(
        found, call("drift", code, options, repr(metric)), lambda ax: found.bayescm.plot(ax=ax),
        words=words_of(bayescm.drift, [metric]),
    )  # fmt: skip


def _of_several(form: Form, about: str, what: str, called: str, **columns: Any) -> tuple[Any, str]:
    """Return a matrix for each row of cells, or for each name in a column, and the Python that reads them."""
    evidence, code = inputs.table(form, about, **columns)
    if evidence.kind != "counts" or evidence.data.ndim != 3:
        raise inputs.FieldError("table", f"Paste a row per {what}, with the columns {what}, tp, fn, fp and tn.")
    inputs.few(len(evidence.data), MOST_TOGETHER, called)
    return evidence, code


def agreement(form: Form) -> Found:
    """Say how far raters agree."""
    pasted, _, shown = inputs.pasted(form)
    options: dict[str, Any] = {name: inputs.text(form, name) or None for name in ("subject", "pos_label")}
    options["labels"] = inputs.words(form, "labels") or None
    with inputs.about("table"):
        try:
            ratings = bayescm.agreement(pasted, **options)
        except ValueError as error:
            if options["labels"] and "`labels`" in str(error):
                raise inputs.FieldError("labels", str(error).replace("`labels`", "The list")) from None
            raise
    inputs.few(ratings.size, _MOST_CELLS, "pairs of labels, subject by subject,")
    asked: dict[str, Any] = {"metrics": inputs.listed(form, "metrics", "") or None, **intervals_of(form)}
    found = bayescm.summary(ratings, **asked, random_seed=0)
    said = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    return told(
        found, call("summary", f"bayescm.agreement({shown}{said})", asked | {"random_seed": 0}),
        partial(forest, found, True), size=(4.8, 1.4 + _LINE * found.sizes["metric"]),
        words=words_of(bayescm.agreement, found["metric"].values.tolist(), ratings.shape[-1]),
    )  # fmt: skip


def reported(form: Form) -> Found:
    """Say whether printed numbers can be true, and draw what they leave of the metrics."""
    numbers: dict[Any, str] = {name: inputs.text(form, name) for name in _PRINTED if inputs.text(form, name)}
    for one in inputs.words(form, "others"):
        name, _, value = (part.strip() for part in one.partition("="))
        inputs.number({"others": value}, "others")
        with inputs.about("others"):
            numbers[bayescm.metrics.resolve([name], 2)[0].name] = value
    if not numbers:
        raise inputs.FieldError(_PRINTED[0], "Write one printed number at least.")
    options: dict[str, Any] = {
        "n_items": validate.positive_integer("n", inputs.whole(form, "n")),
        "positives": inputs.whole(form, "positives") if inputs.text(form, "positives") else None,
        "rounding": inputs.text(form, "rounding", "nearest"),
    }
    found = bayescm.from_reported(numbers, **options)
    code = call("from_reported", "", options, repr(numbers))
    words = words_of(bayescm.from_reported, found["metric"].values.tolist())
    if found.attrs["verdict"] == "impossible":
        return told(found, code, None, words=words)
    asked = intervals_of(form) | {"random_seed": 0}
    metrics = inputs.listed(form, "metrics", "") or _LEFT
    left = bayescm.summary(found, metrics, **asked)
    said = ", ".join(f"{name}={value!r}" for name, value in asked.items())
    return told(
        found, f"{code}print(bayescm.summary(found, {metrics!r}, {said}))\n", partial(forest, left, True),
        more=Answer(left).sentence, beside=left, words=words, size=(4.8, 1.4 + _LINE * left.sizes["metric"]),
    )  # fmt: skip
