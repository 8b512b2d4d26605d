"""Building blocks of the models' PyMC programs that more than one of them needs."""

from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.logprob.transforms import Transform
from pytensor.graph.basic import Variable
from scipy import special

from bayescm.distributions.dirichlet import improper
from bayescm.priors.concentrations import Concentrations

_FEW_CELLS = 16
"""To so many, sums over a square of cells compile sooner than running sums: the first fit of three folds, averaged, in
26 s of CPU instead of 39. Gradients of 50 matrices take .85 of their time with 4 cells, .95 with 9, 1.4 with 16.
"""


class StickBreaking(Transform):  # type: ignore[misc]
    """Map probabilities (..., K) to the logits (..., K - 1) of what each takes of what those before it leave.

    Under a Dirichlet these shares are independent Betas, in any order of the cells, so the sampler's coordinates are
    independent, too, for a conjugate posterior: with PyMC's own logs of ratios to the mean the cells without items
    move all others (a posterior of nine cells, four of them zero, took 130 steps a draw; here 18).

    Parameters
    ----------
    cells : int
        K.
    """

    name = "sticks"
    ndim_supp = 1

    def __init__(self, cells: int) -> None:
        """Keep K, which variables needn't know."""
        self.cells = cells

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return logits."""
        left = pm.math.cumsum(value[..., ::-1], axis=-1)[..., ::-1]
        return pm.math.log(value[..., :-1]) - pm.math.log(left[..., 1:])

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return probabilities."""
        refused, k = -pm.math.log1pexp(value), self.cells
        if k > _FEW_CELLS:
            left = pm.math.cumsum(refused, axis=-1)
            return pm.math.exp(pm.math.concatenate([value + left, left[..., -1:]], axis=-1))
        # each cell's own logit, but the last's, and the logs of what it and those before it leave
        each = value[..., None, :] * np.eye(k, k - 1) + refused[..., None, :] * np.tri(k, k - 1)
        return pm.math.exp(each.sum(axis=-1))

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the log of the Jacobian's determinant: a triangle's, so a product."""
        return (value - pm.math.log1pexp(value) * np.arange(self.cells, 1, -1)).sum(axis=-1)


def dirichlet_variable(name: str, a: Any, dims: Any) -> Any:
    """Add probabilities with a Dirichlet prior, sampled by :class:`StickBreaking`."""
    coords = pm.modelcontext(None).coords[dims if isinstance(dims, str) else dims[-1]]
    return pm.Dirichlet(name, a=a, dims=dims, default_transform=StickBreaking(len(coords)))


def items_of(counts: Any) -> Any:
    """Return the number of items of each matrix of a program's data (..., cell).

    PyTensor adds up PyMC's 32-bit integers in a function of their own, and compiles it for nine seconds; numbers that
    are converted as they are added it adds up beside what else is done with them.
    """
    return counts.astype("int64").sum(axis=-1)


def namespace(*values: Any) -> Any:
    """Return the module whose functions serve these values: of PyMC for variables, of NumPy for arrays."""
    return pm.math if any(isinstance(value, Variable) for value in values) else np


def two_label_cells(prevalence: Any, recall: Any, specificity: Any) -> Any:
    """Stack `tn fp fn tp`, of arrays or variables, on a new last axis (Toetsch and Hoffmann 2021, eqs 8 to 11)."""
    cells = [
        (1 - prevalence) * specificity,
        (1 - prevalence) * (1 - specificity),
        prevalence * (1 - recall),
        prevalence * recall,
    ]
    return namespace(*cells).stack(cells, axis=-1)


def correlated_pairs(scale: Any, correlation: Any, standard: Any) -> tuple[Any, Any]:
    """Turn independent standard normal pairs (..., 2) into two variables (...) with two scales and a correlation."""
    first, second = standard[..., 0], standard[..., 1]
    return scale[0] * first, scale[1] * (correlation * first + pm.math.sqrt(1 - correlation**2) * second)


def draw_correlated_rates(
    rng: np.random.Generator, n: int, median: Any, scale: Any, correlation: float
) -> NDArray[np.float64]:
    """Draw pairs (n, 2) of rates whose logits are bivariate normal about those of `median`."""
    covariance = np.outer(scale, scale) * np.array([[1, correlation], [correlation, 1]])
    rates: NDArray[np.float64] = special.expit(rng.multivariate_normal(special.logit(median), covariance, n))
    return rates


def proper(prior: Concentrations) -> Concentrations:
    """Return the concentrations of a prior if they make it proper, as PyMC needs it."""
    if improper(prior) is not None:
        raise ValueError("`prior` is improper, and this model needs a proper one; use prior='jeffreys' or 'laplace'.")
    return prior
