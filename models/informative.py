"""What is known beforehand of prevalence, recall and specificity, in priors that need not be conjugate.

What happens
    As in ``three_binomial``: nature decides which items are positive, the classifier calls each positive item positive
    with probability recall and each negative item negative with probability specificity. What is known of the three
    comes from experts, earlier studies or regulation, as an interval on a scale of its own; and who knows of a
    threshold that may be eager or cautious knows that recall and specificity go together, one up and the other down.

In symbols, two labels
    prevalence, recall, specificity, each
        ~ Beta(a, b)                       a name, a number or two numbers, as in three_binomial
        or logit ~ Normal(mu, sigma)       a LogitNormal, made from an interval by LogitNormal.from_interval
        or any distribution on (0, 1)      of PyMC (pm.TruncatedNormal.dist(...)) or PreliZ
    corr(logit recall, logit specificity) = correlation, a number you give (both logit-normal; 0 by default)
    counts ~ Multinomial(N, cells(prevalence, recall, specificity))     Toetsch and Hoffmann 2021, eqs 8 to 11

    With three Betas it is ``three_binomial``, and the closed form answers. A logit-normal prior has none: the posterior
    of a rate is Normal(logit; mu, sigma) times p^k (1 - p)^(n - k). Under such priors ``three_binomial`` is this model.

Run ``python models/informative.py`` to see what two experts' intervals do to a small test set.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.compile.sharedvalue import shared
from pytensor.tensor.random.type import RandomType
from scipy import special

from bayescm.data import validate
from bayescm.data.counts import from_array, one_matrix
from bayescm.data.schema import ACTUAL, CELL, MATRIX, PREDICTED, flatten_cells, labels_of
from bayescm.distributions import dirichlet
from bayescm.metrics import evaluate
from bayescm.models.blocks import correlated_pairs, proper, two_label_cells
from bayescm.models.closed_form import SAMPLE, ClosedForm
from bayescm.priors.concentrations import RATES, Concentrations, LogitNormal, concentrations, not_conjugate

DEFAULT = {"prevalence": "jeffreys", "recall": LogitNormal(0.0, 1.5), "specificity": LogitNormal(0.0, 1.5)}
"""LogitNormal(0, 1.5) is nearly uniform on (0, 1): its density falls to 0 only beyond .02 and .98."""

_UNCOMPILED = "FAST_COMPILE"
"""How a prior is asked for a few values: compiling takes four seconds, and numba warns of what it can't compile."""


def model(counts: Any, *, prior: Any = DEFAULT, correlation: float = 0.0) -> pm.Model:
    """Return the model as a PyMC model of one matrix.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (2, 2)
    prior : mapping
        Some of ``prevalence``, ``recall`` and ``specificity``, each a :class:`bayescm.priors.LogitNormal`, a
        distribution of PyMC or PreliZ or what ``three_binomial`` takes (a name, a number, the two numbers of a Beta);
        what isn't named is ``jeffreys``.
    correlation : float in (-1, 1)
        Of the logits of recall and specificity beforehand.

    Returns
    -------
    pymc.Model
        ``prevalence``, ``recall``, ``specificity`` (from ``recall_z`` and so on where logit-normal), ``theta(actual,
        predicted)``; the observed ``counts(cell)``; data ``counts_data`` and each rate's prior.
    """
    counts = one_matrix(counts)
    known = _known(prior, correlation, counts.sizes[ACTUAL])
    observed = flatten_cells(counts)
    labels = counts[ACTUAL].values
    coords = {ACTUAL: labels, PREDICTED: labels, CELL: observed[CELL].values}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=CELL)
        standard = {name: pm.Normal(f"{name}_z") for name, (kind, _) in known.items() if kind == "logit_normal"}
        if correlation != 0:
            pair = pm.math.stack([standard["recall"], standard["specificity"]])
            standard["specificity"] = correlated_pairs(np.ones(2), correlation, pair)[1]
        rates = [_rate(name, value, standard.get(name)) for name, (_, value) in known.items()]
        theta_cell = pm.Deterministic("theta_cell", two_label_cells(*rates), dims=CELL)
        pm.Deterministic("theta", theta_cell.reshape((2, 2)), dims=MATRIX)
        pm.Multinomial("counts", n=counts_data.sum(), p=theta_cell, observed=counts_data, dims=CELL)
    return program


def _rate(name: str, value: Any, standard: Any) -> Any:
    """Return one rate: Beta, logit-normal from a standard normal, or of a distribution of the user's own."""
    if not isinstance(value, np.ndarray):
        inputs = [  # with a stream of its own, though another rate may have the same distribution
            shared(np.random.default_rng()) if isinstance(one.type, RandomType) else one  # type: ignore[no-untyped-call]
            for one in value.owner.inputs
        ]
        copy = value.owner.clone_with_new_inputs(inputs).outputs[value.owner.outputs.index(value)]
        return pm.modelcontext(None).register_rv(copy, name)
    numbers = pm.Data(f"{name}_prior", value)
    if standard is None:
        return pm.Beta(name, numbers[0], numbers[1])
    return pm.Deterministic(name, pm.math.sigmoid(numbers[0] + numbers[1] * standard))


def exact(counts: Any, *, prior: Any = DEFAULT, correlation: float = 0.0) -> ClosedForm | None:
    """Return the closed form of three Betas; None where a prior is logit-normal."""
    counts = one_matrix(counts)
    known = _known(prior, correlation, counts.sizes[ACTUAL])
    if any(kind != "beta" for kind, _ in known.values()):
        return None
    base = concentrations(prior, "three_binomial", labels_of(counts))
    which = dirichlet.posterior(counts.values, base)

    def draw(of: Concentrations) -> Any:
        def drawn(rng: np.random.Generator, n: int) -> xr.Dataset:
            values = np.moveaxis(dirichlet.draw_theta(of, rng, n), -1, 0)
            theta = xr.DataArray(values, dims=(SAMPLE, *MATRIX), coords=counts.coords)
            return evaluate(theta, list(RATES)).assign(theta=theta, theta_cell=flatten_cells(theta))

        return drawn

    return ClosedForm(
        draw=draw(which),
        prior=draw(base),
        observed=flatten_cells(counts),
        reason="prevalence, recall and specificity have Beta priors, which are conjugate",
        cells=which,
    )


def simulate(rng: np.random.Generator, n: int = 50, *, prior: Any = DEFAULT, correlation: float = 0.0) -> xr.Dataset:
    """Draw a truth from the prior and a matrix of `n` items from the truth.

    Returns
    -------
    xarray.Dataset
        ``counts``, ``theta(actual, predicted)``, ``prevalence``, ``recall`` and ``specificity``.
    """
    known = _known(prior, correlation, 2)
    standard = rng.multivariate_normal(np.zeros(2), [[1, correlation], [correlation, 1]])
    truth: dict[str, Any] = {}
    for name, (kind, value) in known.items():
        z = standard[RATES.index(name) - 1] if name != "prevalence" else rng.standard_normal()
        if kind == "own":
            truth[name] = float(pm.draw(value, random_seed=rng, mode=_UNCOMPILED))
        else:
            truth[name] = special.expit(value[0] + value[1] * z) if kind == "logit_normal" else rng.beta(*value)
    theta = two_label_cells(*(truth[name] for name in RATES)).reshape(2, 2)
    counts = from_array(rng.multinomial(n, theta.ravel()).reshape(2, 2))
    return xr.Dataset({"counts": counts, "theta": (MATRIX, theta), **truth})


def _known(prior: Any, correlation: float, k: int) -> dict[str, tuple[str, Any]]:
    """Return the kind of each rate's prior, and its two numbers, that of the event first, or its distribution."""
    validate.number("correlation", correlation, -1, 1)
    if k != 2:
        raise ValueError(f"`counts` must have two labels for this model; got {k}. Take one class against the rest.")
    if not isinstance(prior, Mapping) or not prior or not set(prior) <= set(RATES):
        raise ValueError(f"`prior` must be a mapping with some of the keys {', '.join(RATES)}; got {prior!r}.")
    others = {name: value for name, value in prior.items() if not_conjugate({name: value})}
    known = {name: _other(name, value) for name, value in others.items()}
    normal = {name for name, (kind, _) in known.items() if kind == "logit_normal"}
    if correlation != 0 and not {"recall", "specificity"} <= normal:
        raise ValueError("`correlation` is one of logits: give recall and specificity as LogitNormal.")
    betas = proper(concentrations({**prior, **dict.fromkeys(others, 1.0)}, "three_binomial", 2))
    numbers = {"prevalence": betas.shares[::-1], "recall": betas.rows[1, ::-1], "specificity": betas.rows[0]}
    return {name: known.get(name, ("beta", numbers[name].copy())) for name in RATES}


def _other(name: str, value: Any) -> tuple[str, Any]:
    """Return the kind of a prior that is no Beta, and its numbers or its distribution in PyMC."""
    if isinstance(value, LogitNormal):
        return "logit_normal", np.array([value.mu, value.sigma])
    own = value.to_pymc() if hasattr(value, "to_pymc") else value
    drawn = pm.draw(own, draws=200, random_seed=1, mode=_UNCOMPILED)
    inside = np.shape(drawn) == (200,) and ((drawn >= 0) & (drawn <= 1)).all()
    outside = [pm.logp(own, beyond).eval(mode=_UNCOMPILED) for beyond in (-1e-6, 1.0 + 1e-6)]
    if not inside or np.isfinite(outside).any():
        raise ValueError(f"`prior` must give {name} a distribution of one number from 0 to 1; truncate it.")
    return "own", own


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    experts = {
        "prevalence": "jeffreys",
        "recall": bayescm.priors.LogitNormal.from_interval(0.80, 0.98),
        "specificity": bayescm.priors.LogitNormal.from_interval(0.60, 0.95),
    }
    for belief in (dict.fromkeys(RATES, "jeffreys"), experts):
        fit = bayescm.posterior(
            table, model="informative", prior=belief, metrics=["recall", "specificity", "mcc"], random_seed=1
        )
        print(
            fit.attrs["reason"],
            az.summary(fit, var_names=["recall", "specificity", "matthews_correlation"], ci_prob=0.95, ci_kind="eti"),
            sep="\n",
        )
