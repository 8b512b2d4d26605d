"""What a gate asks: of all items, and of each task."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from scipy.special import ndtri

from bayescm.data import validate
from bayescm.data.labels import some

_NAMES = ("metrics", "margin", "rope", "require")
OTHERS = "*"
MOST = 1e9
"""Of a margin."""
_POWER = float(ndtri(0.8))
"""Of the items that would decide: four times in five."""
_MOST_MORE = 10**7
"""Items that nobody will answer."""
_ROUNDING = 1e-13


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

    def verdict(
        self, lower: float, upper: float, at_margin: float, levels: tuple[float, float], about: tuple[float, float, int]
    ) -> dict[str, Any]:
        """Return the verdict on a difference, and how many more items would decide it.

        Parameters
        ----------
        lower, upper : float
            Its interval, larger for a better new system.
        at_margin : float
            Probability that it isn't worse by more than the margin.
        levels : pair of float
            Of the interval, and of what the margin asks for.
        about : float, float, int
            Mean and standard deviation, and number of items.
        """
        found = "undecided"
        if lower > self.rope + _ROUNDING:
            found = "better"
        elif self.margin is not None and at_margin >= levels[1]:
            found = "not worse"
        elif upper < -self.rope - _ROUNDING:
            found = "worse"
        mean, sd, n = about
        gaps = [(abs(mean) - self.rope, ndtri(0.5 + 0.5 * levels[0]))]
        gaps += [] if self.margin is None else [(mean + self.margin, ndtri(levels[1]))]
        return {"verdict": found, "more": _more(n, sd, gaps) if found == "undecided" else math.nan}

    @staticmethod
    def kept(chance: float, ci_prob: float, about: tuple[float, float, int]) -> dict[str, Any]:
        """Return the verdict on a floor that is kept with a probability: `about` are gap, standard deviation, items."""
        found = "met" if chance >= ci_prob else "missed" if chance <= 1.0 - ci_prob else "undecided"
        gap, sd, n = about
        return {
            "verdict": found,
            "more": _more(n, sd, [(abs(gap), ndtri(ci_prob))]) if found == "undecided" else math.nan,
        }


def _more(n: int, sd: float, gaps: Sequence[tuple[float, float]]) -> float:
    """Return how many more items would decide, if the difference is what it is here; NaN where no number would."""
    needed = [n * ((z + _POWER) * sd / gap) ** 2 - n for gap, z in gaps if gap > 0.0]
    least = max(math.ceil(min(needed)), 1) if needed else math.inf
    return float(least) if least < _MOST_MORE else math.nan


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
