"""Whether two ROC curves are the same at every point, by permutations (Venkatraman).

The curves of two samples are the same where their error rates are, at every share that is called negative: classes are
mixed alike for both, and the area between the two lines of errors is what permutations are compared by. Of the same
items it is the sum of absolute differences of error counts (Venkatraman and Begg 1996, Biometrika 83, 835-848), and
each item's places in both rankings are exchanged at random; of two samples (Venkatraman 2000, Biometrics 56,
1134-1138) the places of cases, and of controls, are dealt out anew. Ties are broken at random.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
Sample = tuple[Array, NDArray[np.bool_]]
"""Scores, and whether each is a case's."""

_ROUNDING = 1e-9


def p_value(samples: Sequence[Sample], rng: np.random.Generator, draws: int, *, paired: bool) -> float:
    """Return the share of permutations whose curves are as far apart as those of two samples, itself added to it."""
    cases = [positive for _, positive in samples]
    share = float(np.concatenate(cases).mean())
    ranks = [stats.rankdata(score) for score, _ in samples]

    def untied() -> list[Array]:
        return [one + rng.uniform(-0.5, 0.5, len(one)) for one in ranks]

    def permuted() -> list[Array]:
        if paired:
            both = np.array(untied())
            return list(np.where(rng.random(both.shape[1]) < 0.5, both, both[::-1]))
        places = [_errors(one, positive, share)[0][1:][np.argsort(np.argsort(one))]
                  for one, positive in zip(untied(), cases, strict=True)]  # fmt: skip
        dealt = [np.empty(len(one)) for one in places]
        for kind in (True, False):
            pool = rng.permutation(np.concatenate([one[of == kind] for one, of in zip(places, cases, strict=True)]))
            first = int((cases[0] == kind).sum())
            for one, of, part in zip(dealt, cases, np.split(pool, [first]), strict=True):
                one[of == kind] = part
        return [one + _ROUNDING * rng.random(len(one)) for one in dealt]

    seen = apart(untied(), cases, share) * (1.0 - _ROUNDING)
    return (1.0 + sum(apart(permuted(), cases, share) >= seen for _ in range(draws))) / (1.0 + draws)


def apart(scores: Sequence[Array], cases: Sequence[NDArray[np.bool_]], share: float) -> float:
    """Return the area between the error rates of two samples without ties, mixed with such a share of cases."""
    lines = [_errors(score, positive, share) for score, positive in zip(scores, cases, strict=True)]
    at = np.unique(np.concatenate([negative for negative, _ in lines]))
    first, second = (np.interp(at, *line) for line in lines)
    return float(np.trapezoid(np.abs(first - second), at))


def _errors(score: Array, positive: NDArray[np.bool_], share: float) -> tuple[Array, Array]:
    """Return the share called negative below each threshold, from the lowest up, and the error rate there."""
    ordered = positive[np.argsort(score)]
    of_cases, of_controls = (np.append(0.0, np.cumsum(kind) / kind.sum()) for kind in (ordered, ~ordered))
    return share * of_cases + (1.0 - share) * of_controls, share * of_cases + (1.0 - share) * (1.0 - of_controls)
