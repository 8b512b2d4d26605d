"""Options that a function doesn't have, and what is meant by them; functions that read their arguments first."""

import difflib
import inspect
import re
import types
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, cast, get_args

from bayescm.data import validate
from bayescm.data.evidence import SCORES, Evidence
from bayescm.data.schema import LABEL

BORROWED = {
    "alpha": "say ci_prob=0.95 where another library says alpha=0.05, and give a prior's concentrations as `prior`",
    "average": "averages are in the name of a metric, such as 'f1_macro', 'recall_micro' or 'precision_weighted'",
    "beta": "write it into the name: 'fbeta(beta=2)'",
    "ci": "say `ci_prob`, the probability of the interval, such as ci_prob=0.95",
    "confidence": "say `ci_prob`",
    "confidence_level": "say `ci_prob`",
    "conf_level": "say `ci_prob`",
    "credible_interval": "say `ci_prob`",
    "level": "say `ci_prob`",
    "hdi_prob": "say `ci_prob`",
    "cred_mass": "say `ci_prob`",
    "groups": "counts by group are made by bayescm.confusion_matrix(y_true, y_pred, group=groups)",
    "group": "counts by group are made by bayescm.confusion_matrix(y_true, y_pred, group=groups)",
    "fold": "counts by fold are made by bayescm.confusion_matrix(y_true, y_pred, fold=folds)",
    "k": "k of n items is summary(45, 50), and pass@2 of 4 runs is bayescm.summary(passes, 'pass@2', runs=4)",
    "labels": "name the classes where counts are made: bayescm.confusion_matrix(y_true, y_pred, labels=...) or "
    "bayescm.from_array(matrix, labels=...)",
    "pos_label": "say it where counts are made: bayescm.confusion_matrix(y_true, y_pred, pos_label=...) or "
    "bayescm.from_array(matrix, pos_label=...)",
    "rows": "say it where counts are made: bayescm.from_array(frame, rows='test')",
    "expected": "say `mode`, its most probable value",
    "max_fpr": "say `fpr_range`, such as fpr_range=(0, 0.1)",
    "n_boot": "say `draws`",
    "n_bootstrap": "say `draws`",
    "n_resamples": "say `draws`",
    "samples": "say `draws`",
    "n_draws": "say `draws`",
    "margin": "say `rope`",
    "superiority": "say `rope`",
    "n_samples": "say `draws`",
    "normalize": "shares of a matrix with intervals are bayescm.inference.cell_summary(counts, normalize='actual')",
    "paired": "say design='paired' or design='independent'",
    "random_state": "say `random_seed`",
    "rng": "say `random_seed`",
    "seed": "say `random_seed`",
    "sample_weight": "weights of items go beside labels into bayescm.predictions and the questions that take labels of "
    "items: summary, probability, metric_distribution, posterior, compare_systems, leaderboard",
    "test": "all tests are in the group `tests` of what compare_systems returns",
    "threshold": "cut scores: bayescm.curves.counts_at_thresholds(y_true, y_score, thresholds=[0.5]).isel(threshold=0)",
    "zero_division": "leave it out: 0/0 is NaN in the point, and the posterior is defined all the same",
} | dict.fromkeys(
    ("preds", "target", "reference", "truth", "estimate", "response", "predictor", "y_true", "y_pred", "data"),
    "the truth comes first, then the predictions or the scores, both as arrays",
)
BORROWED |= dict.fromkeys(
    ("actual", "predicted", "system", "item", "run", "correct", "score", "by"),
    "say what a table's columns are by `columns`, such as columns={'actual': 'label', 'predicted': ['a', 'b']}",
)
"""Names of other libraries, and what is meant here."""
_SHARES = {"prevalence", "ci_prob", "decision_prob", "assurance", "width", "rope"}
"""Options that take "5%" for 0.05."""
INSTEAD = {"group": "groups", "groups": "group", "metric": "metrics", "metrics": "metric", "plane": "space",
            "paired": "discordance", "n": "n_items"}  # fmt: skip


def plain_words[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function say what is meant by an option that it doesn't have."""
    known = explained(function)

    def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        known(options)
        return tuple(one.data if isinstance(one, Evidence) else one for one in given)

    return reading(read)(function)


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments, with those that its `**options` are typed to have."""
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            names += [key for typed in get_args(parameter.annotation) for key in typed.__annotations__]
        else:
            names.append(name)
    return names


def explained(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], None]:
    """Return a check that explains options which a function doesn't have."""
    parameters = inspect.signature(function).parameters
    own, named = set(arguments_of(function)), set(parameters)
    untyped = any(p.kind is p.VAR_KEYWORD and p.annotation is Any for p in parameters.values())
    more = untyped or "sampler" in own  # others are taken, by whom they are handed on to: a model of one's own

    def check(options: Mapping[str, Any]) -> None:
        of_model = bool({"model", "sampler"} & set(options))  # which may have an option of that name
        for name in options:
            ours = name in named or (name in own and (of_model or name not in BORROWED or name == "average"))
            if ours or (more and (of_model or name not in BORROWED | INSTEAD)):
                continue
            meant = _meant(name, own)
            if meant or not more:
                near = ", ".join(sorted(own))
                raise TypeError(f"{function.__name__}() has no argument `{name}`; {meant or f'it takes {near}'}.")

    return check


def borrowed(name: str, own: Collection[str]) -> str:
    """Say what another library's word is here; nothing for other words, or where what it is isn't taken."""
    told = BORROWED.get(name, "")
    named = re.match(r"say `(\w+)`", told)
    return "" if named and named[1] not in own else told


def _meant(name: str, own: set[str]) -> str:
    """Say which option was meant; nothing where that isn't known."""
    if INSTEAD.get(name) in own:
        return f"say `{INSTEAD[name]}`"
    if told := borrowed(name, own):
        return told
    near = difflib.get_close_matches(name, own, 1)
    return f"did you mean `{near[0]}`" if near else ""


def reading[**P, R](
    read: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function `read` its arguments first; to all who look it is the same function of the same module."""

    def dress(function: Callable[P, R]) -> Callable[P, R]:
        def call(*given: Any, **options: Any) -> Any:
            return function(*fits(read(places(given, options), percent(options)), options), **options)

        percent, places, fits = _percent, spread, _by_place(function)
        # doctest takes only functions whose globals are those of the module
        names = function.__globals__
        made = types.FunctionType(call.__code__, names, call.__name__, None, call.__closure__)
        return cast("Callable[P, R]", wraps(function)(made))

    return dress


def spread(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Put scores that were read in their places, and which class is positive."""
    if not given or not isinstance(given[0], Evidence) or given[0].kind != SCORES:
        return given
    options.setdefault("pos_label", given[0].data[LABEL].values.tolist()[1])
    return *given[0].places(), *given[1:]


def _by_place(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...]]:
    """Return a check that fewer or more arguments came by place than are needed, which names the call to make."""
    parameters = inspect.signature(function).parameters.values()
    places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    others = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    needed = [
        p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    named = [p.name for p in others if p.default is p.empty] or [p.name for p in others[:1]]
    call = f"{function.__name__}({', '.join([*places, *(f'{name}=...' for name in named)])})"

    def check(given: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Any, ...]:
        missing = [name for name in needed if name not in places[: len(given)] and name not in options]
        if missing:
            raise TypeError(f"{function.__name__}() needs `{'`, `'.join(missing)}`: {call}.")
        if len(given) > len(places):
            first = f"{len(places)} argument{'s' * (len(places) > 1)} by place and the others" if places else "all"
            raise TypeError(f"{function.__name__}() takes {first} by name: {call}.")
        return given

    return check


def _percent(options: dict[str, Any]) -> dict[str, Any]:
    """Read "1%" as 0.01."""
    options |= {name: validate.fraction(options[name]) for name in _SHARES & options.keys()}
    return options
