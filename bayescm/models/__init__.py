"""The door to ``models/`` (one program per file), and what binds a program to data, samples it and checks it."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import lazy_loader
import numpy as np
import xarray as xr

from bayescm.data.needs import need
from bayescm.models import programs

if TYPE_CHECKING:
    from bayescm.models.rope import rope_probabilities as rope_probabilities

_LATER = {"rope": ["rope_probabilities"]}  # imported on first use
__getattr__ = lazy_loader.attach(__name__, submod_attrs=_LATER)[0]
__all__ = ["Program", "data_of", "load", "names", "rope_probabilities"]


class Program(Protocol):
    """What every file of ``models/`` offers; one with a closed form has a function ``exact`` as well.

    ``exact(counts, *, prior, ...)`` takes what ``model`` takes and returns the posterior as
    :class:`~bayescm.priors.concentrations.Concentrations` of every matrix or as a
    :class:`~bayescm.models.closed_form.ClosedForm`; None where the options given leave none.
    """

    __name__: str

    def model(self, counts: Any, *, prior: Any = ...) -> Any:
        """Return the model as a PyMC model that observes ``counts`` (or ``scores``); more options as keywords."""
        ...

    def simulate(self, rng: np.random.Generator, *, prior: Any = ...) -> xr.Dataset:
        """Draw a truth from the prior and data from the truth; the design as further arguments."""
        ...


def names() -> list[str]:
    """Return the names of the models.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.models.names()
    ['binormal', 'dirichlet_multinomial', 'fold_scores', 'hierarchical', 'informative', 'kfold', 'latent_class',
     'overdispersed', 'paired', 'regression', 'stratified', 'three_binomial']
    """
    return sorted(
        {p.stem for folder in programs.__path__ for p in Path(folder).glob("*.py") if not p.stem.startswith("_")}
    )


def load(name: str) -> Program:
    """Return a model by name.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Program
        The module: ``model``, ``simulate`` and, where there is a closed form, ``exact``.
    """
    if name not in names():
        raise ValueError(f"`name` must be one of {', '.join(names())}; got {name!r}.")
    need("pymc", f"The model {name!r}")
    return cast(Program, importlib.import_module(f"{programs.__name__}.{name}"))


def data_of(simulated: xr.Dataset) -> xr.DataArray:
    """Return the data of a world that a model has simulated: its ``counts`` or ``scores``."""
    return simulated["counts"] if "counts" in simulated else simulated["scores"]
