"""What a test set knows of precision at another prevalence than its own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.priors.concentrations import PrevalenceLike

FEW = 20.0
"""Effective controls, below which precision at the top of a ranking is mostly guessed."""


def is_exchanged(prevalence: PrevalenceLike) -> bool:
    """Return whether precision is taken at the prevalence of another population."""
    return prevalence is not None and not isinstance(prevalence, str)


def effective_controls(controls: int, prevalence: Any) -> float:
    """Return controls x prevalence / (1 - prevalence), of a Beta at its mean.

    The items have as many cases at their own prevalence. One control in front of all cases leaves precision below 1/2
    up to a recall of 1 / effective controls.
    """
    given = np.asarray(validate.beta_numbers("prevalence", prevalence), np.float64)
    odds = given[0] / given[1] if given.ndim else given / (1.0 - given)
    return float(controls * odds)


def described(controls: int, prevalence: Any) -> str:
    """Say what the controls count as."""
    effective = effective_controls(controls, prevalence)
    return f"At the given prevalence the {controls} controls say as much of precision as {effective:.3g} would"


def warn_of_ends(rates: Mapping[str, tuple[NDArray[np.float64], int, str]]) -> None:
    """Warn of rates that are nearer to 1 than one item of their class: items say nothing there."""
    for name, (values, items, kind) in rates.items():
        beyond = [float(value) for value in values if (1.0 - value) * items < 1.0 - 1e-9]
        if beyond:
            validate.warn(
                f"`{name}`={beyond[0]:g} is nearer to 1 than one of {items} {kind}: no item tells what is read there."
            )


def warn_of_few(prior: str, systems: int, controls: int, prevalence: PrevalenceLike) -> None:
    """Warn of a posterior that takes what lies above the largest control for free of controls."""
    if prior == "smoothed" or not is_exchanged(prevalence) or effective_controls(controls, prevalence) >= FEW:
        return
    cure = "'smoothed' does" if systems == 1 else "'smoothed' does, for each system alone"
    validate.warn(
        f"{described(controls, prevalence)}. Areas under the PR curve and precision at the top of the ranking are too "
        f"large by the draws of prior {prior!r}, and their intervals don't cover; {cure}."
    )
