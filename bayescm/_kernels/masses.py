"""Random masses of the items of a ranking: gamma variables, and the sticks of those of small shapes."""

from bayescm._kernels.jit import kernel

FEW = 8  # exponentials, whose sum is faster than a gamma variable
_NOTHING = 1e-12  # share of a stick that is left unbroken
_GAPS = 12  # gamma variables, which are faster than the sticks of the same distribution


@kernel
def masses(rng, items, shape, noise, filled):
    """Fill gamma variables of `shape` for each item; `noise` has room for the exponentials of small numbers of items.

    Those of shape 1 are drawn in one plain loop and then added up: three times faster than number by number.
    """
    if shape != 1.0:
        for s in range(len(items)):
            filled[s] = rng.standard_gamma(shape * items[s]) if items[s] > 0 else 0.0
        return
    small = 0
    for s in range(len(items)):
        small += items[s] if items[s] <= FEW else 0
    for i in range(small):
        noise[i] = rng.standard_exponential()
    i = 0
    for s in range(len(items)):
        k = items[s]
        if k == 1:
            filled[s] = noise[i]
            i += 1
        elif k <= FEW:
            total = 0.0
            for _ in range(k):
                total += noise[i]
                i += 1
            filled[s] = total
        else:
            filled[s] = rng.standard_gamma(float(k))


@kernel
def spread(rng, items, gaps, atoms):
    """Fill the masses of one class: a unit of weight between neighbours, evenly over the gaps there, the rest in ties.

    Parameters
    ----------
    rng : numpy.random.Generator
    items : int64 array (K,)
        Of the class at each distinct score.
    gaps, atoms : float64 arrays (K + 1,) and (K,), filled
        Gamma variables; not normalised.
    """
    start = 0
    for k in range(len(items) + 1):
        if k < len(items):
            atoms[k] = rng.standard_gamma(items[k] - 1.0) if items[k] > 1 else 0.0
            if items[k] == 0:
                continue
        number = k + 1 - start
        if number == 1:
            gaps[k] = rng.standard_exponential()
        elif number <= _GAPS:
            for g in range(start, k + 1):
                gaps[g] = rng.standard_gamma(1.0 / number)
        else:  # the same distribution by sticks
            gaps[start : k + 1] = 0.0
            left = rng.standard_exponential()
            stop = left * _NOTHING
            while left > stop:
                rest = left * rng.random()
                gaps[start + int(rng.random() * number)] += left - rest
                left = rest
            gaps[start] += left
        start = k + 1
