"""The grid engine: statistics that are sums of products with shared planes, reduced over matrices row by row.

At row i and column j of a grid a matrix with the weights w has the statistic

    w0 + w1 rows[0, i] + w2 rows[1, i] + w3 full[i, j] + w4 columns[0, j] + w5 columns[1, j],

where ``full`` may be one row for all i; only densities have a w5. The ellipse is a quadratic form in the axes instead,
written about its centre, or its digits would be lost where a rate is near 1. One row of the plane and of the output
stay in the first-level cache while all matrices pass over them; the memory doesn't depend on their number.
"""

import math

from bayescm._kernels.codes import DEGREE, FIT_CELLS
from bayescm._kernels.jit import kernel, vector_kernel

if DEGREE != 12:
    raise NotImplementedError(f"`powers` is written out for degree 12; got DEGREE={DEGREE}. Write it out anew.")


@vector_kernel
def outer_sum(x, y, out):
    """Put x_i + y_j into `out`."""
    for i in range(x.size):
        for j in range(y.size):
            out[i, j] = x[i] + y[j]


@vector_kernel
def _lower(out, full, column, constant, of_full, of_column):
    for j in range(out.size):
        out[j] = min(out[j], constant + of_full * full[j] + of_column * column[j])


@vector_kernel
def powers(c, t):
    """Return the polynomial with the coefficients c at t; written out so that it can be inlined into loops."""
    low = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * (c[5] + t * c[6])))))
    return low + t**7 * (c[7] + t * (c[8] + t * (c[9] + t * (c[10] + t * (c[11] + t * c[12])))))


@vector_kernel
def _lower_mapped(out, full, column, constant, of_full, of_column, most, c, cap):
    scale = 2.0 / most
    for j in range(out.size):
        q = constant + of_full * full[j] + of_column * column[j]
        z = powers(c, min(q, most) * scale - 1.0)
        out[j] = min(out[j], z if q < most else cap)


@vector_kernel
def to_log_rest(row):
    """Turn values on the scale of chi-squared, 2 degrees of freedom, into the logarithm of what lies beyond them."""
    for j in range(row.size):
        row[j] = min(-0.5 * row[j], 0.0)


@kernel
def tabulated(q, most, table):
    """Return the value at q by cubic interpolation in a table that is uniform in the square root of q."""
    s = math.sqrt(max(min(q, most), 0.0) / most) * FIT_CELLS
    k = min(max(int(s), 1), FIT_CELLS - 2)
    t = s - k
    a, b, c, d = table[k - 1], table[k], table[k + 1], table[k + 2]
    third = (d - 3.0 * c + 3.0 * b - a) / 6.0
    return b + t * ((c - b) + (t - 1.0) * ((a - 2.0 * b + c) / 2.0 + (t + 1.0) * third))


@kernel
def reduce(planes, weights, windows, cap, out):
    """Put log(1 - level) of the least statistic over all matrices into `out`; it is `cap` where no window is."""
    rows, full, columns = planes
    column = columns[0]
    for i in range(len(out)):
        row = out[i]
        row[:] = cap
        plane = full[min(i, len(full) - 1)]
        for t in range(len(weights)):
            top, bottom, left, right = windows[t]
            if top <= i < bottom:
                w = weights[t]
                constant = w[0] + w[1] * rows[0, i] + w[2] * rows[1, i]
                _lower(row[left:right], plane[left:right], column[left:right], constant, w[3], w[4])
        to_log_rest(row)


@vector_kernel
def _lower_quadratic(out, x, centre, constant, slope, curve):
    for j in range(out.size):
        d = x[j] - centre
        out[j] = min(out[j], constant + d * (slope + curve * d))


@kernel
def reduce_quadratic(y, x, centres, precisions, windows, cap, out):
    """Put log(1 - level) of the least squared Mahalanobis distance into `out`; it is `cap` where no window is."""
    for i in range(len(out)):
        row = out[i]
        row[:] = cap
        for t in range(len(centres)):
            top, bottom, left, right = windows[t]
            if top <= i < bottom:
                d, p = y[i] - centres[t, 0], precisions[t]
                _lower_quadratic(
                    row[left:right], x[left:right], centres[t, 1], d * d * p[0, 0], 2.0 * d * p[0, 1], p[1, 1]
                )  # fmt: skip
        to_log_rest(row)


@kernel
def reduce_mapped(planes, weights, windows, most, coefficients, which, tables, cap, out):
    """Put log(1 - level) of the least of monotone functions of the statistics into `out`; `cap` where no window is.

    The function of a matrix is a polynomial in 2 q / most - 1, or `tables[which]` where `which` isn't negative; from
    `most` on it is `cap`.
    """
    rows, full, columns = planes
    column = columns[0]
    for i in range(len(out)):
        row = out[i]
        row[:] = cap
        plane = full[min(i, len(full) - 1)]
        for t in range(len(weights)):
            top, bottom, left, right = windows[t]
            if top <= i < bottom:
                w = weights[t]
                constant = w[0] + w[1] * rows[0, i] + w[2] * rows[1, i]
                if which[t] < 0:
                    _lower_mapped(
                        row[left:right], plane[left:right], column[left:right],
                        constant, w[3], w[4], most[t], coefficients[t], cap,
                    )  # fmt: skip
                else:
                    table = tables[which[t]]
                    for j in range(left, right):
                        q = constant + w[3] * plane[j] + w[4] * column[j]
                        row[j] = min(row[j], tabulated(q, most[t], table) if q < most[t] else cap)
        to_log_rest(row)
