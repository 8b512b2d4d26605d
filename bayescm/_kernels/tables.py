"""All 2 x 2 tables of a number of items that a posterior thinks possible, with their probabilities."""

from bayescm._kernels.jit import kernel


@kernel
def possible(positives, before, recall, specificity, size, least, edges, out):
    """Fill TN, FP, FN, TP and probability (5, room) of the tables that are more probable than `least`; return how many.

    Parameters
    ----------
    positives : ndarray of shape (rows,)
        Numbers of items of the positive class.
    before : ndarray of shape (rows,)
        Their probabilities.
    recall, specificity : ndarray of shape (rows, size + 1)
        The probability of every number of right answers in either class.
    edges : bool
        Take those with an empty cell, however improbable.
    """
    n = 0
    for row in range(len(positives)):
        p, q, most = positives[row], size - positives[row], specificity[row].max()
        for tp in range(p + 1):
            chance, edge = before[row] * recall[row, tp], edges and (tp == 0 or tp == p)
            if not edges and chance * most <= least:
                continue
            for tn in range(q + 1):
                both = chance * specificity[row, tn]
                if both > least or edge or (edges and (tn == 0 or tn == q)):
                    if n < out.shape[1]:
                        out[0, n], out[1, n], out[2, n], out[3, n], out[4, n] = tn, q - tn, p - tp, tp, both
                    n += 1
    return n
