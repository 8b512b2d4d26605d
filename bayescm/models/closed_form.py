"""What a model's `exact` returns where its posterior is more than concentrations of one matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.distributions.two_rates import PairsPosterior, factor_of, spread_of
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

SAMPLE = "sample"


@dataclass(frozen=True, slots=True, eq=False)
class ClosedForm:
    """A posterior that can be drawn from directly, and the distributions known exactly.

    Attributes
    ----------
    draw : callable
        Takes a generator and a number n; returns a Dataset of n independent draws over ``sample`` (first dim): every
        free and every deterministic variable of the model's program under its name, with its dims.
    prior : callable or None
        The same for the prior; None where it is improper.
    observed : xarray.DataArray
        What the program observes, under its name (``counts``) and over its dims (``(..., cell)``).
    reason : str
        Why there is a closed form, in words, as the end of "closed form: ...".
    distributions : mapping of str to distribution
        Exact distributions of variables: anything with ``cdf``, over the variable's dims.
    cells : Concentrations or None
        The distribution of ``theta``, batched over its dims before ``(actual, predicted)``; the distributions of
        metrics follow from it.
    averaged : str or None
        Dim over which metrics are averaged, draw by draw.
    constants : xarray.Dataset or None
        What else is known: the group ``constant_data``.
    has_program : bool
        Whether there is a PyMC program of the same posterior, too; with an improper prior there is none.
    method : {"exact", "quadrature"}
        How it is known: "quadrature" where integrals are numerical and draws are weighted points drawn anew.
    doubt : str
        Of a quadrature: why it can't stand in for the posterior, so that NUTS answers by default. Empty if it can.
    """

    draw: Callable[[np.random.Generator, int], xr.Dataset]
    prior: Callable[[np.random.Generator, int], xr.Dataset] | None
    observed: xr.DataArray
    reason: str
    distributions: Mapping[str, Any] = field(default_factory=dict)
    cells: Concentrations | None = None
    averaged: str | None = None
    constants: xr.Dataset | None = None
    has_program: bool = True
    method: str = "exact"
    doubt: str = ""


class Scatter(NamedTuple):
    """What programs of units that scatter about one mean name, of n draws.

    Attributes
    ----------
    mean, sd, correlation : ndarray of shape (n, 2), (n, 2) and (n,)
        Rates at the mean logits, and how the logits scatter.
    rates, standard : ndarray of shape (n, 2, units)
        Rates of each unit, and its independent standard normal effects.
    new, standard_new : ndarray of shape (n, 2)
        The same of the next unit.
    """

    mean: Array
    sd: Array
    correlation: Array
    rates: Array
    standard: Array
    new: Array
    standard_new: Array

    @classmethod
    def of(cls, rng: np.random.Generator, parameters: Array, logits: Array) -> "Scatter":
        """Return it of parameters (n, 5) and pairs' logits (n, 2, units)."""
        mean, (sd, rho) = parameters[:, :2, None], spread_of(parameters)
        factor, standard_new = factor_of(sd, rho), rng.standard_normal((len(sd), 2, 1))
        standard, new = np.linalg.solve(factor, logits - mean), special.expit(mean + factor @ standard_new)
        whole = special.expit(mean[..., 0]), sd, rho, special.expit(logits), standard
        return cls(*whole, new[..., 0], standard_new[..., 0])


def by_quadrature(
    known: PairsPosterior,
    variables: Callable[..., xr.Dataset],
    shares: Array,
    totals: Array,
    observed: xr.DataArray,
    constants: xr.Dataset | None = None,
) -> ClosedForm:
    """Return the posterior of units whose two rates scatter, and whose prevalences stand apart.

    Parameters
    ----------
    known : PairsPosterior
    variables : callable
        Takes a generator, parameters, logits of recall and specificity (n, 2, units) and prevalences (n, units or 1);
        returns the program's variables.
    shares : ndarray of shape (2,)
        Of the prior of each unit's prevalence, the negative class first.
    totals : ndarray of shape (units, 2)
        Items of each class; of all units together, (1, 2), where they have one prevalence.
    observed, constants
        As in :class:`ClosedForm`.
    """

    def draw(rng: np.random.Generator, n: int) -> xr.Dataset:
        parameters, logits, found = known.draw(rng, n)
        if found.doubt:
            validate.warn(f"quadrature: {found.doubt}. Take sampler='nuts'.")
        prevalence = rng.beta(shares[1] + totals[:, 1], shares[0] + totals[:, 0], (n, len(totals)))
        told = {"pareto_k": found.k, "effective_share": float(found.share)}
        return variables(rng, parameters, logits, prevalence).assign_attrs(told)

    def before(rng: np.random.Generator, n: int) -> xr.Dataset:
        parameters, logits = known.before(rng, n)
        return variables(rng, parameters, logits, rng.beta(shares[1], shares[0], (n, len(totals))))

    return ClosedForm(
        draw, before, observed, "no closed form, but units are integrated out one by one, and points of the "
        f"{len(known.told)} parameters weighted: draws are independent; `pareto_k` and `effective_share` say how "
        "good they are", constants=constants, method="quadrature", doubt=known.doubt,
    )  # fmt: skip
