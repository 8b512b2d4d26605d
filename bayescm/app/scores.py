"""The questions about scores and about folds, which are answered by draws."""

from typing import Any

import bayescm
from bayescm.app import inputs
from bayescm.app.answers import Form, Found, call, forest, of_draws, of_records, words_of
from bayescm.data import validate
from bayescm.data.recognisers import COUNTS
from bayescm.results import writing

_DRAWS = 250  # of each of four chains
_POINTS = 51  # thresholds
_READ = {"auc": "area under the ROC curve", "average_precision": "average precision"}
_FORMULAS = [
    ("Area under the ROC curve", "The probability that a positive item scores higher than a negative one."),
    ("Average precision", "The mean over positive items of the precision at their score."),
    ("Best threshold", "Where the metric is best in a draw; from this score on items are called positive."),
]


def curves(form: Form) -> Found:
    """Say what scores tell: areas, the best threshold, and the curve with its band."""
    units, unit_code = inputs.units(form)
    scores, code = inputs.table({**form, "unit": ""}, None, actual="actual", score="score")
    of_units = {} if units is None else {"unit": units}
    metric = inputs.text(form, "metric", "f1")
    level = inputs.number(form, "ci_prob", "0.95")
    space: Any = validate.choice("space", inputs.text(form, "space", "roc"), ("roc", "pr"))
    with inputs.about("metric"):
        best = bayescm.metrics.resolve([metric], 2)[0].name
    options: dict[str, Any] = {"draws": _DRAWS, "random_seed": 0}
    over: dict[str, Any] = {"over": "threshold", "metrics": [metric], "points": _POINTS} | options
    tree = bayescm.curve_posterior(scores, **over, **of_units)
    drawn = tree["posterior"].to_dataset()
    rows = of_draws(drawn, [*_READ, "best_threshold", "best_value"], level)
    positive = int(tree["observed_data"]["positive"].sum())
    said = [f"{_READ[row['quantity']]} is {_stated(row, level)}" for row in rows[:2]]
    chosen = float(tree["constant_data"].to_dataset()["chosen_threshold"][0])
    called = best.replace("_", " ")
    said.append(f"{called} is best at the threshold {chosen:.4g}, where it is expected to fall short of the best by "
                f"{float(drawn['regret'].mean()):.2g}")  # fmt: skip
    negative = scores.data.sizes["item"] - positive
    sentence = f"The {'; the '.join(said[:2])}; {said[2]}. From {positive:,} positive and {negative:,} negative items."
    more = ["unit=unit"] if of_units else []
    written = call("curve_posterior", code + unit_code, over, *more)
    written += f"plain = bayescm.curve_posterior({', '.join(['data', *more])}, draws={_DRAWS}, random_seed=0)\n"
    written += f"bayescm.plots.plot_curve(bayescm.curve_band(plain, space={space!r}, ci_prob={level}))\n"

    def draw(ax: Any) -> Any:
        plain = bayescm.curve_posterior(scores, **options, **of_units)
        return bayescm.plots.plot_curve(bayescm.curve_band(plain, space=space, ci_prob=level), ax=ax)

    words = _FORMULAS + words_of(bayescm.curve_posterior, [metric])
    assumed = f"Assumes: {tree.attrs['assumptions']}."
    return Found(sentence, rows, assumed, written, tree, draw, of_records(rows), (4.8, 4.4), words)


def _stated(row: Any, level: float) -> str:
    return writing.with_interval(row["mean"], (row["lower"], row["upper"]), level)


def folds(form: Form) -> Found:
    """Say how good the models of a cross-validation are."""
    evidence, code = inputs.table(form, COUNTS, by="fold")
    counts = evidence.data
    metrics = inputs.listed(form, "metrics", "recall specificity precision accuracy mcc")
    options: dict[str, Any] = {
        "model": "kfold",
        "pooling": inputs.text(form, "pooling", "complete"),
        "prior": inputs.prior(form),
    }
    if options["pooling"] == "partial":
        raise inputs.FieldError("pooling", "Partial pooling is sampled, for minutes: ask the library for it.")
    level = inputs.number(form, "ci_prob", "0.95")
    tree = bayescm.posterior(counts, **options, metrics=metrics, random_seed=0)
    names = [one.name for one in bayescm.metrics.resolve(metrics, counts.shape[-1])]
    rows = [_of_metric(**row) for row in of_draws(tree["posterior"].to_dataset(), names, level)]

    def draw(ax: Any) -> Any:  # each fold by itself
        alone = bayescm.summary(counts, metrics, prior=options["prior"], ci_prob=level, random_seed=0)
        named = alone.assign_coords(fold=[f"fold {name}" for name in alone["fold"].values])
        return forest(named, counts.shape[-1] == 2, ax)

    first = rows[0]
    sentence = f"Over {counts.sizes['fold']} folds {str(first['metric']).replace('_', ' ')} is {_stated(first, level)}."
    sentence += f" This is {tree.attrs['target'].split(';')[0]}."
    settings = options | {"metrics": metrics, "random_seed": 0}
    written = call("posterior", code, settings)
    assumed = f"Assumes: {tree.attrs['assumptions']}.\nAbout {tree.attrs['target']}."
    return Found(
        sentence, rows, assumed, written, tree, draw, of_records(rows),
        (4.8, 1.5 + 0.12 * (4 + counts.sizes["fold"]) * len(rows)),
        words_of(bayescm.posterior, metrics, counts.shape[-1]),
    )  # fmt: skip


def _of_metric(quantity: str, class_label: Any = None, **numbers: Any) -> dict[str, Any]:
    """Return a row with the class in the name of the metric, as all tables have it."""
    return {"metric": quantity if class_label is None else f"{quantity}[{class_label}]", **numbers}
