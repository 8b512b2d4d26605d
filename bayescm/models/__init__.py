"""The door to ``models/``: one generative story per file.

In an installed package the stories lie in this folder; in a checkout they lie in ``models/`` at its root, and this
folder's search path is extended by that one.
"""

import importlib
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import xarray as xr

from bayescm.priors import Concentrations, PriorLike

_ROOT = Path(__file__).resolve().parents[2]
if (_ROOT / "pyproject.toml").is_file() and (_ROOT / "models").is_dir():
    __path__.append(str(_ROOT / "models"))


class Story(Protocol):
    """What every file of ``models/`` offers."""

    def model(self, counts: Any, *, prior: PriorLike = ...) -> Any:
        """Return the story as a PyMC model."""
        ...

    def exact(self, counts: Any, *, prior: PriorLike = ...) -> Concentrations:
        """Return the posterior in closed form."""
        ...

    def simulate(self, rng: np.random.Generator, n: int, *, prior: PriorLike = ..., n_labels: int = ...) -> xr.Dataset:
        """Draw a truth from the prior and a matrix of `n` items from the truth."""
        ...


def names() -> list[str]:
    """Return the names of the stories.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.models.names()
    ['dirichlet_multinomial', 'three_binomial']
    """
    return sorted({p.stem for folder in __path__ for p in Path(folder).glob("*.py") if not p.stem.startswith("_")})


def load(name: str) -> Story:
    """Return a story by name.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Story
        The module: ``model``, ``exact``, ``simulate``.
    """
    if name not in names():
        raise ValueError(f"`name` must be one of {', '.join(names())}; got {name!r}.")
    return cast(Story, importlib.import_module(f"{__name__}.{name}"))
