"""How a posterior is made, as every question takes it: the options, typed, and what they are where nothing is said."""

from typing import Any, Literal, TypedDict

import numpy as np

from bayescm.data import validate
from bayescm.data.words import CiKind, Sampler
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

DRAWS = 40_000
"""Of what has no exact distribution, where a question isn't told how many."""


class ModelOptions(TypedDict, total=False):
    """What models and their samplers take; a program of your own may take more, by :func:`bayescm.posterior`."""

    chains: int
    sampler: Sampler
    tune: int
    target_accept: float
    cores: int
    progressbar: bool
    pooling: str
    runs: int
    covariates: Any
    groups: Any
    shares: str
    scale: float
    group_scale: float
    fold_sd_scale: float
    correlation: float
    overdispersion: str
    rho_prior: Any
    known: Any
    unit: Any
    average: Literal["items", "units", "fixed_units"]
    dependence: Any
    correction: bool | float


class AnalysisOptions(TypedDict, total=False):
    """How counts to come will be analysed: see :func:`bayescm.summary`."""

    model: str
    prior: PriorLike | None
    ci_prob: float
    ci_kind: CiKind


class PosteriorOptions(ModelOptions, total=False):
    """How a posterior is made: see :func:`bayescm.summary`."""

    model: Any
    prior: PriorLike | None
    prevalence: PrevalenceLike
    draws: int | None
    random_seed: int | np.random.Generator | None


def number_of_draws(draws: int | None, otherwise: int = DRAWS) -> int:
    """Return how many draws a question makes of what has no exact distribution."""
    return validate.draws(otherwise if draws is None else draws)
