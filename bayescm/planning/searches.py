"""The least numbers of items that reach a goal, of proportions and of whole tests."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta_binomial import MOST
from bayescm.planning.beliefs import Beliefs
from bayescm.planning.protocols import Goal, most_probable
from bayescm.planning.whole_tests import Test, quantile
from bayescm.planning.widths import Bound, Proportion

Array = NDArray[np.float64]

_CLOSE = 1e-3  # relative, of a number of items that is searched by quadrature
_MOST_SCANNED = 4096


class Sizes(NamedTuple):
    """Items and the assurance they reach, of each metric and of all tests together; the same by formula."""

    sizes: list[tuple[int, float]]
    about: list[str]
    formula: list[float]
    by_formula: list[float]
    together: tuple[int, float] | tuple[()] = ()


def of_proportions(beliefs: Beliefs, goal: Goal, level: float) -> Sizes:
    """Plan every metric in items of its own."""
    plain, about = beliefs.proportions()
    stated = [most_probable(one.rate) for one in plain]
    formula = [goal.of_proportion(p, 1.0 - p) for p in stated]
    plans: Sequence[Proportion | Bound] = plain
    wanted = [goal.width] * len(plain)
    if goal.lower is not None:
        plans = [
            Bound(replace(one, ci_prob=goal.ci_prob, ci_kind="eti"), p) for one, p in zip(plain, stated, strict=True)
        ]
        wanted = [p - goal.lower for p in stated]
    each = list(zip(plans, wanted, strict=True))
    by_formula = [float(plan.assurance(np.array([n]), to)[0]) for n, (plan, to) in zip(formula, each, strict=True)]
    if beliefs.by_formula:
        return Sizes([(int(n), p) for n, p in zip(formula, by_formula, strict=True)], about, formula, by_formula)
    return Sizes([_of_proportion(plan, to, level) for plan, to in each], about, formula, by_formula)


def of_tests(beliefs: Beliefs, test: Test, goal: Goal, level: float) -> Sizes:
    """Plan whole tests."""
    if goal.lower is not None and not beliefs.by_formula:
        raise ValueError("`lower` with `prevalence` takes a formula, method='buderer'; else plan without `prevalence`.")
    about = ["items"] * len(test.metrics)
    cells = test.cells(most_probable(test.recall), most_probable(test.specificity))
    formula = [goal.items(metric, cells) for metric in test.metrics]
    some = [(replace(test, metrics=(metric,)), n) for metric, n in zip(test.metrics, formula, strict=True)]
    by_formula = [_reached(one, n, goal) for one, n in some]
    if not beliefs.by_formula:
        *sizes, together = _of_test(test, goal.width, level)
        return Sizes(sizes, about, formula, by_formula, together)
    sizes = [(int(n), p) for n, p in zip(formula, by_formula, strict=True)]
    most = max(formula)
    return Sizes(sizes, about, formula, by_formula, (int(most), _reached(test, most, goal)))


def _reached(test: Test, n: float, goal: Goal) -> float:
    """Return the probability that n items make the intervals of all metrics short enough; NaN where it isn't known."""
    if goal.lower is not None or np.isnan(n):
        return np.nan
    widths, p = test.widths(int(n))
    return float(p[(widths <= goal.width).all(0)].sum())


def _of_proportion(one: Proportion | Bound, width: float, assurance: float) -> tuple[int, float]:
    """Return the least number of items from which on a proportion's interval is narrow enough, and the assurance.

    The assurance rises with the number of items but for steps, as counts are whole: of the two limits between which
    the counts must not lie, each moves by one about every 1/(2 share) items, and the rise of as many items makes up
    for a step. So beyond a multiple of that the wanted assurance isn't lost again.
    """
    crossing = _search(lambda n: float(one.quantile(np.array([float(n)]), assurance)[0]), width, 0.0)
    reach = min(16 + int(8 * max(1.0, 4 / width**2 / crossing)), _MOST_SCANNED)
    while True:
        around = np.arange(max(crossing - reach, 1), min(crossing + reach, MOST) + 1, dtype=np.float64)
        reached = one.assurance(around, width)
        enough = reached >= assurance - 1e-12
        if enough[-1] or around[-1] == MOST:
            break
        crossing += reach
    first = len(enough) - int(np.argmin(enough[::-1])) if not enough.all() else 0
    if first == len(enough):
        raise _too_many(width)
    return int(around[first]), float(reached[first])


def _too_many(width: float) -> ValueError:
    """Return the error of a width that is out of reach."""
    return ValueError(
        f"{width:g} from end to end, or from the rate to its bound, takes more than {MOST:,} items, or isn't reached "
        "by any number with this assurance; ask for a wider interval or a lower bound."
    )


def _of_test(test: Test, width: float, assurance: float) -> list[tuple[int, float]]:
    """Return the number of items and the assurance for each metric, and for all together."""
    each = [replace(test, metrics=(metric,)) for metric in test.metrics]
    together = len(each)

    @cache
    def look(n: int, i: int) -> tuple[Array, Array]:
        """Return the widths of a metric, or the largest of all, and their probabilities."""
        if i < together:
            widths, weights = each[i].widths(n)
            return widths[0], weights
        found = [look(n, j) for j in range(together)]
        return np.stack([widths for widths, _ in found]).max(0), found[0][1]

    def size(i: int, low: int = 0) -> int:
        return _search(lambda n: quantile(*look(n, i), assurance), width, _CLOSE, low)

    sizes = [size(i) for i in range(together)]
    sizes.append(size(together, max(sizes) - 1))  # fewer can't be enough for all
    looks = [look(n, i) for i, n in enumerate(sizes)]
    return [(n, float(p[widths <= width].sum())) for n, (widths, p) in zip(sizes, looks, strict=True)]


def _search(reached: Callable[[int], float], width: float, close: float, low: int = 0) -> int:
    """Return a number of items above `low` that reaches a width where one less, or a little less, doesn't.

    Widths go like 1/sqrt(n), which gives the next number to try; each third time the bracket is halved.
    """
    high, turn = MOST + 1, 0
    n = low + 1 if low else int(min(max(4 / width**2, 1), MOST))
    while high - low > max(1.0, close * high):
        found = reached(n)
        low, high = (low, n) if found <= width else (n, high)
        if low >= MOST:
            raise _too_many(width)
        turn += 1
        guess = n * min(max(found / width, 0.1), 10.0) ** 2 * (1.0 + (close / 2 + 1e-9) * (1 if found > width else -1))
        guess = (low * high) ** 0.5 if turn % 3 == 0 and high <= MOST and low else guess
        n = int(min(max(round(guess), low + 1), high - 1))
    return high
