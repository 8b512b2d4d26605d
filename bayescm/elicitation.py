"""Elicitation: intervals become Betas, and priors are drawn from before there are data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import optimize, special

from bayescm import conjugate, stories, told, validate, workflow
from bayescm.cells import constants, prior_draws, replicates, with_metrics
from bayescm.counts import from_array
from bayescm.metrics import MetricsLike, resolve
from bayescm.priors import LEAST, PrevalenceLike, concentrations, exchange
from bayescm.results import attributes, in_chains, labels_of, positive_class, tree

Array = NDArray[np.float64]


def beta_from_interval(lower: float, upper: float, *, prob: float = 0.9) -> tuple[float, float]:
    """Turn "between `lower` and `upper` with probability `prob`" into the two numbers of a Beta.

    Parameters
    ----------
    lower, upper : float in (0, 1)
        Ends of the interval.
    prob : float in (0, 1)
        Probability inside; the rest is halved between the two sides.

    Returns
    -------
    tuple of float
        (a, b) of Beta(a, b), that of the event first: for ``prior={"recall": (a, b), ...}`` under
        ``model="three_binomial"``, and for ``prevalence=(a, b)``.

    Notes
    -----
    Solves I_lower(a, b) = 1 - I_upper(a, b) = (1 - prob)/2 for log a and log b. The interval says all: a wide one with
    a high `prob` gives a U-shaped Beta (a, b below 1), so look at it. For the flattest Beta with `prob` inside but
    tails that may differ take ``preliz.maxent``, whose answer can be given as prior, too.

    Examples
    --------
    >>> import bayescm
    >>> a, b = bayescm.beta_from_interval(0.70, 0.95, prob=0.9)
    >>> round(a, 3), round(b, 3)
    (17.758, 3.287)
    """
    lower, upper = validate.ends(lower, upper)
    prob = validate.number("prob", prob, 0, 1)
    tail = (1 - prob) / 2

    def residual(logs: Array) -> Array:
        a, b = np.exp(logs)
        tails = np.log([special.betainc(a, b, lower), special.betaincc(a, b, upper)])
        away: Array = np.maximum(np.nan_to_num(tails, nan=-1e3), -1e3) - np.log(tail)
        return away

    mean, sd = (lower + upper) / 2, (upper - lower) / (-2 * special.ndtri(tail))
    with np.errstate(all="ignore"):  # what no float can hold is refused below
        total = max(mean * (1 - mean) / sd**2 - 1, 0.5)
        logs = optimize.root(residual, np.log([mean * total, (1 - mean) * total]), tol=1e-13).x
        a, b = (float(number) for number in np.exp(logs))
        solved = np.abs(residual(logs)).max() < 1e-9
    if not (solved and min(a, b) > LEAST and max(a, b) < validate.MAX_COUNT):
        raise ValueError(
            f"`lower` {lower:g} and `upper` {upper:g} with `prob` {prob:g} are no Beta that numbers can hold; "
            "take an interval that is less narrow and not so near to 0 or 1."
        )
    return a, b


def prior_predictive(
    metrics: MetricsLike = None,
    *,
    size: int,
    model: Any = "dirichlet_multinomial",
    prior: Any = None,
    prevalence: PrevalenceLike = None,
    labels: Sequence[Any] = (0, 1),
    chains: int = 4,
    draws: int = 1000,
    random_seed: int | np.random.Generator | None = None,
    **options: Any,
) -> xr.DataTree:
    """Draw what a prior expects of metrics and of a test set, before any data.

    Parameters
    ----------
    metrics
        As in :func:`bayescm.summary`.
    size : int
        Items of the test set.
    model, prior, prevalence, chains, draws, random_seed, **options
        As in :func:`bayescm.posterior`, of a story of one matrix; no ``prevalence="fixed"``, which needs counts.
    labels : sequence
        The classes; of two the last is positive.

    Returns
    -------
    xarray.DataTree
        ``prior``: ``theta(chain, draw, actual, predicted)`` and each metric of it. ``prior_predictive``:
        ``counts(chain, draw, cell)`` of test sets of `size` items. ``prior_replicate``: the metrics of these, NaN where
        a test set leaves one undefined. ``constant_data``: the prior's concentrations.

    Examples
    --------
    >>> import bayescm
    >>> prior = {"prevalence": (2, 8), "recall": bayescm.beta_from_interval(0.70, 0.95), "specificity": "laplace"}
    >>> dt = bayescm.prior_predictive("precision", size=40, model="three_binomial", prior=prior, random_seed=1)
    >>> dt.prior_replicate.precision.quantile([0.05, 0.5, 0.95]).values.round(2)
    array([0.03, 0.3 , 0.9 ])
    """
    labels = validate.listed("labels", labels)
    counts = from_array(np.zeros((len(labels), len(labels)), np.int64), labels=labels)
    size, seed = validate.positive_integer("size", size), validate.seed(random_seed)
    chains, draws = validate.positive_integer("chains", chains), validate.positive_integer("draws", draws)
    model = told.name_of(model)
    name = model if isinstance(model, str) else getattr(model, "__name__", "your own")
    settings = {"model": name, "prevalence": prevalence, "size": size, "random_seed": seed} | positive_class(counts)
    if not told.is_conjugate(model):
        counts[0, 0] = size  # a program knows the number of items from its counts
        story, rest = told.tell(model, counts, prior, options)
        _refuse(rest, story.name)
        with story.lent() as program:
            groups = workflow.before_data(program, seed, chains * draws)
        groups = {name: in_chains(group, chains) for name, group in groups.items()}
        groups["prior"] = stories.measured(groups["prior"], prevalence, metrics, None, seed, 1)
        groups |= stories.of_future(groups, metrics)
        return tree(groups, attributes(**settings, **story.arguments, inference_library="pymc"))
    _refuse(options, name)
    prior = "jeffreys" if prior is None else prior
    base = concentrations(prior, model, labels_of(counts))
    if conjugate.improper(exchange(base, prevalence)) is not None:
        raise ValueError("`prior` is improper, so nothing can be drawn before there are data; take prior='jeffreys'.")
    resolved = resolve(metrics, len(labels))
    theta = prior_draws(counts, base, prevalence, seed, chains, draws)
    future, metrics_of_future = replicates(theta, counts, resolved, None, seed, size)
    groups = {
        "prior": with_metrics(theta, resolved),
        "prior_predictive": future,
        "prior_replicate": metrics_of_future,
        "constant_data": constants(base, counts),
    }
    return tree(groups, attributes(**settings, prior=prior, inference_library="bayescm"))


def _refuse(options: dict[str, Any], name: str) -> None:
    if options:
        raise TypeError(f"`{next(iter(options))}` isn't an option of {name}.")
