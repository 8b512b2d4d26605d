"""What a model's `exact` returns where its posterior is more than concentrations of one matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from bayescm.priors.concentrations import Concentrations

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
