"""What a gate asks: of all items, and of each task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from bayescm.data import validate
from bayescm.data.labels import some

_NAMES = ("metrics", "margin", "rope", "require")
OTHERS = "*"
MOST = 1e9
"""Of a margin."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is asked.

    Attributes
    ----------
    metrics : tuple
        That are compared.
    margin : float or None
        By how much the new system may be worse.
    rope : float
    floors : tuple of str
        Claims that the new system must be shown to keep.
    """

    metrics: tuple[Any, ...]
    margin: float | None
    rope: float
    floors: tuple[str, ...]

    @classmethod
    def of(cls, metrics: Any, margin: Any, rope: Any, require: Any) -> Self:
        """Check what somebody asks."""
        margin = None if margin is None else _finite("margin", margin)
        return cls(_listed("metrics", metrics), margin, _finite("rope", rope), _listed("require", require))


def rules_of(whole: Rule, rules: Mapping[str, Mapping[str, Any]] | None, tasks: Sequence[str]) -> dict[str, Rule]:
    """Return what is asked of all items, and of each task: to be no worse, without a margin, unless rules say more."""
    rules = dict(rules or {})
    if unknown := [name for name in rules if name not in (*tasks, OTHERS, "all")]:
        raise ValueError(f"`rules` has a task {unknown[0]!r}, and the data have {some(list(tasks)) or 'no tasks'}.")
    for name, rule in rules.items():
        if odd := [word for word in rule if word not in _NAMES]:
            raise ValueError(f"`rules` of {name!r} may say {', '.join(_NAMES)}; got {odd[0]!r}.")
    asked = {"all": _changed(whole, rules.get("all", {}))}
    start = replace(whole, margin=None, floors=())
    return asked | {task: _changed(start, rules.get(task, rules.get(OTHERS, {}))) for task in tasks}


def _changed(rule: Rule, more: Mapping[str, Any]) -> Rule:
    """Return a rule with what is said of it alone."""
    said = {"metrics": rule.metrics, "margin": rule.margin, "rope": rule.rope, "require": rule.floors} | dict(more)
    return Rule.of(**said)


def _listed(name: str, given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) or callable(given) else tuple(validate.listed(name, given))


def _finite(name: str, value: object) -> float:
    return validate.number(name, value, 0.0, MOST, closed=True)
