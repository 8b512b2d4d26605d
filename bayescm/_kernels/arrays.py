"""Short loops over arrays as NumPy does them, for kernels that Python runs.

Each does what the kernel of its name does, for all elements at once. Sums are in another order, so that last digits
differ.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm._kernels.codes import CORRELATION, ODDS_SQUARE, ROOT_INSIDE, SQUARE

Array = NDArray[np.float64]

_TINY, _HUGE = 1e-140, 1e140  # as in `lattice`


def edges(x: float, value: float, slope: float, of_root: bool, n: int, nodes: Array, out: Array) -> float:
    """Do as `lattice._edges`."""
    sign = -1.0 if of_root and x < 0.0 else 1.0
    a, b, c = sign * (nodes[:3, :n] - value * nodes[3:6, :n])
    if of_root:
        sure = (nodes[6, :n] <= 0.0) == (x >= 0.0)
        a, b, c = np.where(sure, -sign, a), np.where(sure, 0.0, b), np.where(sure, -sign, c)
    square = b * b - 4.0 * a * c
    root = np.sqrt(np.maximum(square, 0.0))
    q = -0.5 * (b + np.copysign(root, b))
    r1, r2 = q / np.where(a != 0.0, a, 1e-300), c / np.where(q != 0.0, q, 1e-300)
    there = square > 0.0
    scale = np.where(there, abs(slope) / np.maximum(root, 1e-150), 0.0)
    for k, ends in enumerate((np.maximum(r1, r2), np.minimum(r1, r2))):
        odds = np.where(there, np.clip(ends, _TINY, _HUGE), _TINY)
        steep = scale * np.abs(nodes[3, :n] * odds + nodes[4, :n] + nodes[5, :n] / odds)
        out[k, :n], out[2 + k, :n] = odds, np.where((odds > _TINY) & (odds < _HUGE), steep, 0.0)
    out[4, :n] = a < 0.0
    return float((out[1, :n] > _TINY).sum())


def edges_of_correlation(x: float, n: int, nodes: Array, out: Array) -> None:
    """Do as `lattice._edges_of_correlation`."""
    odds_root, inverse, s, sq, half, product = nodes[:6, :n]
    k = x * odds_root
    spread, size = np.sqrt(product + 0.25 * k * k), np.abs(k)
    lean = np.where(k > 0.0, half, -half)
    stable = size * (size * lean + spread) / (1.0 + k * k)
    shift = np.copysign(np.where(lean >= 0.0, stable, size * product / (spread - size * lean)), k)
    recall, miss = sq + shift * inverse, s - shift * inverse
    inside = (recall > 0.0) & (miss > 0.0)
    out[0, :n] = np.where(inside, np.clip(recall / miss, _TINY, _HUGE), np.where(recall <= 0.0, _TINY, _HUGE))
    bias, rest = sq + shift, s - shift
    root = np.sqrt(np.maximum(bias * rest, 1e-300))
    steep = odds_root * root * inverse / ((1.0 - k * (rest - bias) / (2.0 * root)) * (recall * miss))
    out[2, :n], out[4, :n] = np.where(inside, np.abs(steep), 0.0), 0.0


def logarithms(odds: Array, n: int, left: float, rate: float, parts: Array, powers: Array, out: Array) -> None:
    """Do as `lattice._logarithms`."""
    powers[:n] = np.frexp(odds[:n] * 2.0**0.5)[1] - 1
    parts[:n] = odds[:n] / 2.0 ** powers[:n]
    out[:n] = (np.log(odds[:n]) - left) * rate


def inside(odds: Array, weights: Array, n: int) -> float:
    """Do as `lattice._inside`."""
    return float(weights[:n][(odds[:n] > _TINY) & (odds[:n] < _HUGE)].sum())


def sums(
    places: Array, factors: Array, outside: Array, weights: Array, n: int, last: float, half: float, direct: Array
) -> tuple[float, float, float]:
    """Do as `lattice._sums`."""
    place = np.clip(places[:n], 0.0, last)
    k = place.astype(np.int64)
    t, c = place - k, direct[k].T
    value, slope = c[7].copy(), 7.0 * c[7]
    for i in range(6, -1, -1):
        value = c[i] + t * value
        slope = i * c[i] + t * slope if i else slope
    above, out, weight = place >= half, outside[:n] > 0.0, weights[:n]
    below, rest = value + above, ~above - value
    density = weights[:n] * np.where(place == places[:n], slope * factors[:n], 0.0)
    low, high = (weight * np.where(out, rest, below)).sum(), (weight * np.where(out, below, rest)).sum()
    return float(low), float(high), float(density.sum())


def summed(
    shape: int, kind: int, num: Array, den: Array, nodes: Array, weights: Array, sizes: NDArray[np.int64]
) -> tuple[float, ...]:
    """Do as `moments._summed`."""
    from bayescm._kernels.interpreted import load

    inner, middle, outer = (int(size) for size in sizes)
    (u, uq), (v, vq) = nodes[0, :, None, :inner], nodes[1, :, :middle, None]
    centre = sizes // 2
    far = 1.0 - ((np.arange(middle) - centre[1]) / max(centre[1], 1)) ** 2
    steps = np.abs(np.arange(inner) - centre[0])
    total = np.zeros(5)
    m, mq = nodes[2]
    half = v[centre[1]], vq[centre[1]]
    pivot = _metric(shape, kind, num, den, m[centre[2]], mq[centre[2]], *half, u, uq)[0, centre[0]]
    for i in range(outer):
        left = far - ((i - centre[2]) / max(centre[2], 1)) ** 2
        rows = left >= 0.0
        if not rows.any():
            continue
        span = (centre[0] * np.sqrt(left[rows])).astype(np.int64)
        weight = np.where(steps <= span[:, None], weights[0, :inner] * weights[1, :middle][rows, None], 0.0)
        value = _metric(shape, kind, num, den, m[i], mq[i], v[rows], vq[rows], u, uq) - pivot
        total += weights[2, i] * np.array([(weight * value**power).sum() for power in range(5)])
    found: tuple[float, ...] = load("moments").standardised(pivot, total)
    return found


def _metric(shape: int, kind: int, num: Array, den: Array, m: Any, mq: Any, v: Any, vq: Any, u: Any, uq: Any) -> Any:
    """Return the metric at the inner split u, the right one v and the outer one m."""
    if shape == ROOT_INSIDE:
        u, uq, m, mq = m, mq, u, uq
    cells = c0, c1, c2, c3 = np.broadcast_arrays(m * u, m * uq, mq * v, mq * vq)
    if kind == CORRELATION:
        return (c0 * c3 - c1 * c2) / np.sqrt((c0 + c1) * (c2 + c3) * ((c0 + c2) * (c1 + c3)))
    value = _form(num, cells) / _form(den, cells)
    if kind not in (SQUARE, ODDS_SQUARE):
        return value
    root = np.sqrt(value)
    return root if kind == SQUARE else np.where(np.isinf(root), 1.0, root / (1.0 + root))


def _form(a: Array, c: Any) -> Any:
    """Return the quadratic form c'Ac, without the cells that it doesn't have."""
    total: Any = 0.0
    for i in range(4):
        for j in range(i, 4):
            if a[i, j] != 0.0:
                total = total + (a[i, j] if i == j else 2.0 * a[i, j]) * c[i] * c[j]
    return total


def prepare_form(left: bool, c: Array, n: int, points: Array, out: Array) -> None:
    """Do as `lattice._prepare_form`."""
    m, mq, v, vq = points[:4, :n]
    if left:
        c2, c3 = mq * v, mq * vq
        rest = c[2, 2] * c2 * c2 + 2.0 * c[2, 3] * c2 * c3 + c[3, 3] * c3 * c3
        one, two = 2.0 * m * (c[0, 2] * c2 + c[0, 3] * c3), 2.0 * m * (c[1, 2] * c2 + c[1, 3] * c3)
        out[0, :n] = c[0, 0] * m * m + one + rest
        out[1, :n] = 2.0 * c[0, 1] * m * m + one + two + 2.0 * rest
        out[2, :n] = c[1, 1] * m * m + two + rest
    else:
        out[0, :n] = c[0, 0] * m * m + 2.0 * c[0, 1] * m * mq + c[1, 1] * mq * mq
        out[1, :n] = 2.0 * (m * (c[0, 2] * v + c[0, 3] * vq) + mq * (c[1, 2] * v + c[1, 3] * vq))
        out[2, :n] = c[2, 2] * v * v + 2.0 * c[2, 3] * v * vq + c[3, 3] * vq * vq


def outer_sum(x: Array, y: Array, out: Array) -> None:
    """Do as `planes.outer_sum`."""
    np.add(x[:, None], y, out=out)


def lower(out: Array, full: Array, column: Array, constant: float, of_full: float, of_column: float) -> None:
    """Do as `planes._lower`."""
    np.minimum(out, constant + of_full * full + of_column * column, out=out)


def lower_quadratic(out: Array, x: Array, centre: float, constant: float, slope: float, curve: float) -> None:
    """Do as `planes._lower_quadratic`."""
    d = x - centre
    np.minimum(out, constant + d * (slope + curve * d), out=out)


def to_log_rest(row: Array) -> None:
    """Do as `planes.to_log_rest`."""
    np.minimum(-0.5 * row, 0.0, out=row)


def without(total: float, p: Array, rest: Array, weight: Array, state: Array, out: Array) -> None:
    """Do as `rank_sums._without`."""
    state[:] = (total - p * state) * rest
    out += weight * state


def count_better(values: Array, system: int, others: NDArray[np.intp], near: float, out: Array) -> None:
    """Do as `rank_sums.count_better`."""
    gap = values[:, others] - values[:, [system]]
    out += 0.5 * (gap > near).sum(0) + 0.5 * (gap >= -near).sum(0)


OF = {
    "lattice._edges": edges,
    "lattice._edges_of_correlation": edges_of_correlation,
    "lattice._logarithms": logarithms,
    "lattice._inside": inside,
    "lattice._sums": sums,
    "lattice._prepare_form": prepare_form,
    "moments._summed": summed,
    "planes.outer_sum": outer_sum,
    "planes._lower": lower,
    "planes._lower_quadratic": lower_quadratic,
    "planes.to_log_rest": to_log_rest,
    "rank_sums._without": without,
    "rank_sums.count_better": count_better,
}
"""By the kernel whose place each takes."""
