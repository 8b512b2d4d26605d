"""Rates that depend on what is known of the items (site, scanner, reader, age): logistic regression, partly pooled.

What happens
    Items are counted by what is known of them: a matrix per hospital, or per reader and scanner, or per combination of
    age and sex (``patterns``). How often a class is recognised changes with these covariates, each class's rates in a
    way of their own, and differs between groups (hospitals, readers) that are of one kind: what the groups have in
    common is learned from all, and a group with few items is pulled towards it.

In symbols, for unit u, actual class i and answer j
    typical_i       ~ Dirichlet               rates of class i at the mean covariates, in a typical group
    coefficient_cij ~ Normal(0, scale)        of covariate c, centred and in standard deviations; j is not i
    sd_ij           ~ HalfNormal(group_scale) of the groups, one for every factor
    effect_gij      = sd_ij e_gij,  e ~ Normal(0, 1)
    log rates_uij / rates_uii = log typical_ij / typical_ii - sum_c x_uc coefficient_cij - effect_g(u)ij
    class_shares_u  ~ Dirichlet               the prevalence
    counts_u        ~ Multinomial(N_u, class_shares_ui rates_uij)

    A multinomial logit whose reference is the right answer. For two labels these are two logistic regressions, of
    `recall` and of `specificity`: a positive coefficient makes the right answer likelier. With two rates the groups'
    effects correlate, (correlation + 1)/2 ~ Beta(2, 2), as in the model ``hierarchical``, which this is without
    covariates where each unit is a group; with more rates they are independent.

Class shares
    "units"       every unit has its own, a Dirichlet each, which say nothing of the rates: studies, sites (default).
    "common"      all units have the same: items of one population.
    "regression"  they depend on covariates and groups as the rates do: logits against the first class, so that a
                  positive coefficient of `prevalence` makes positives likelier.

Priors
    "laplace" makes the typical rates uniform. A covariate is centred at its mean over items and divided by its standard
    deviation, both kept (``covariate_mean``, ``covariate_sd``). At scale 0.5 one standard deviation multiplies the odds
    of being right by 0.38 to 2.7 (95%), which holds what covariates do, without pushing rates to 0 and 1: a recall at
    two standard deviations is outside of (0.01, 0.99) with probability 0.03, where a uniform one is with 0.02 and one
    under the "vague" scale 2.5 with 0.39. HalfNormal(1) of the groups' scatter is that of ``hierarchical``.

Quadrature
    Where every unit is a group of its own, its two rates are integrated out, as in ``hierarchical``: a meta-regression
    in a second. NUTS answers all else.

Gelman, Jakulin, Pittau and Su 2008, Annals of Applied Statistics 2:1360 (scaled covariates); Gelman and Hill 2007, Data
Analysis Using Regression and Multilevel/Hierarchical Models; Robins 1986, Mathematical Modelling 7:1393 (``at``).

Run ``python models/regression.py`` to see readers, two modalities, and a reader to come.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from scipy import special

from bayescm.data import validate
from bayescm.data.counts import from_cells
from bayescm.data.schema import ACTUAL, CELL, MATRIX, PREDICTED, flatten_cells, labels_of
from bayescm.distributions.two_rates import (
    PairsPosterior,
    TwoRates,
    coefficients_of,
    factor_of,
    recall_first,
    spread_of,
)
from bayescm.models.blocks import correlated_pairs, dirichlet_variable, items_of, proper, two_label_cells
from bayescm.models.closed_form import SAMPLE, ClosedForm, by_quadrature
from bayescm.models.covariates import UNIT, Design, design_of, formula, patterns, units_of
from bayescm.models.standardised import COVARIATE, RATE, at, cells, places, rate_names
from bayescm.priors.concentrations import PriorLike, concentrations

__all__ = ["at", "exact", "model", "patterns", "simulate"]

SHARES = ("units", "common", "regression")
_TAKEN = (RATE, COVARIATE, "typical", "coefficient", "class_shares", "design", "covariate_mean", "covariate_sd",
          "counts_data", "a_shares", "a_rows")  # fmt: skip


def model(
    counts: Any,
    *,
    covariates: Any = None,
    groups: Any = None,
    shares: str = "units",
    prior: PriorLike = "laplace",
    scale: float = 0.5,
    group_scale: float = 1.0,
) -> pm.Model:
    """Return the model as a PyMC model of several matrices.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (units, K, K)
        ``counts(..., actual, predicted)``. Several dims beside these two become one, ``unit``, and coordinates of it.
    covariates : str, sequence of str or mapping, optional
        Names of coordinates of `counts`; or a formula of them as bambi has it, ``"age + modality + (1 | reader)"``,
        intercept included, without interactions; or values by name, in the order of the units or labelled by them.
        Numbers act linearly; of texts each level but the first has a coefficient, its difference from the first.
    groups : str, sequence of str or mapping, optional
        The same for factors whose levels are partly pooled; the name of the dim of units makes each one a group.
    shares : {"units", "common", "regression"}
        What the class shares depend on.
    prior : str, number or mapping
        Of the typical rates and of the class shares: see :func:`bayescm.priors.concentrations.concentrations`, as
        under ``three_binomial``.
    scale, group_scale : float
        Of the normal priors of coefficients, and of the half-normal ones of the groups' standard deviations.

    Returns
    -------
    pymc.Model
        ``typical(actual, predicted)``, ``class_shares``, ``theta(<unit>, actual, predicted)``; with covariates
        ``coefficient(covariate, rate)``; for a factor called g ``g_sd(rate)``, ``g_effect(g, rate)`` and, of two rates,
        ``g_correlation``; the observed ``counts(<unit>, cell)``; data ``counts_data``, ``design``, ``covariate_mean``,
        ``covariate_sd``, ``g_index``, ``a_shares``, ``a_rows``.
    """
    counts, unit = units_of(counts, _TAKEN)
    labels = labels_of(counts)
    validate.choice("shares", shares, SHARES)
    base = proper(concentrations(prior, "three_binomial", labels))
    scale = validate.number("scale", scale, 0, np.inf)
    group_scale = validate.number("group_scale", group_scale, 0, np.inf)
    design = design_of(counts, unit, covariates, groups, _TAKEN)
    rates = rate_names(labels, shares)
    k = len(labels)
    wrong, classes = places(k)
    observed = flatten_cells(counts)
    coords = {unit: counts[unit].values, ACTUAL: labels, PREDICTED: labels, CELL: observed[CELL].values, RATE: rates}
    coords |= {name: levels for name, (levels, _) in design.groups.items()}
    with pm.Model(coords=coords | ({COVARIATE: design.names} if design.names else {})) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=(unit, CELL))
        typical = dirichlet_variable("typical", a=pm.Data("a_rows", base.rows, dims=MATRIX), dims=MATRIX)
        of = (unit, ACTUAL) if shares == "units" else (ACTUAL,)
        share = dirichlet_variable("class_shares", a=pm.Data("a_shares", base.shares, dims=ACTUAL), dims=of)
        change = _change(design, unit, len(rates), scale, group_scale)
        of_rates = change[:, : k * (k - 1)].reshape((-1, k, k - 1))
        if shares == "regression":
            share = pm.math.softmax(pm.math.log(share) + _product(change[:, k * (k - 1) :], classes), axis=-1)
        theta = share[..., None] * pm.math.softmax(pm.math.log(typical) - _product(of_rates, wrong), axis=-1)
        pm.Deterministic("theta", theta, dims=(unit, *MATRIX))
        flat = theta.reshape((-1, observed.sizes[CELL]))
        pm.Multinomial("counts", n=items_of(counts_data), p=flat, observed=counts_data, dims=(unit, CELL))
    return program


def exact(
    counts: Any,
    *,
    covariates: Any = None,
    groups: Any = None,
    shares: str = "units",
    prior: PriorLike = "laplace",
    scale: float = 0.5,
    group_scale: float = 1.0,
) -> ClosedForm | None:
    """Return the posterior by quadrature where each unit is a group of its own, with two labels and class shares.

    See :mod:`bayescm.distributions.two_rates`. Options as in :func:`model`.
    """
    counts, unit = units_of(counts, _TAKEN)
    labels = labels_of(counts)
    design = design_of(counts, unit, covariates, groups, _TAKEN)
    if len(labels) != 2 or shares != "units" or list(design.groups) != [unit]:
        return None
    base = proper(concentrations(prior, "three_binomial", labels))
    scale = validate.number("scale", scale, 0, np.inf)
    group_scale = validate.number("group_scale", group_scale, 0, np.inf)
    table = counts.values.astype(np.float64)  # (units, 2, 2)
    known = PairsPosterior(TwoRates.of(table, design.columns), recall_first(base.rows), group_scale, scale)
    coords = {unit: counts[unit].values, RATE: rate_names(labels), **dict.fromkeys(MATRIX, labels)}
    index = design.groups[unit][1].astype(np.int32)  # as the program stores it: PyMC reads a tree's constants back
    constants = xr.Dataset({f"{unit}_index": (unit, index)})
    if design.names:
        coords[COVARIATE] = design.names
        parts = {"covariate_mean": (COVARIATE, design.mean), "covariate_sd": (COVARIATE, design.sd)}
        constants = constants.assign(parts | {"design": ((unit, COVARIATE), design.columns)})

    def variables(rng: np.random.Generator, parameters: Any, logits: Any, prevalence: Any) -> xr.Dataset:
        """Return the program's variables of parameters, logits and prevalences (n, units); specificity comes first."""
        coefficient, (sd, rho), rates = coefficients_of(parameters), spread_of(parameters), special.expit(logits)
        typical = special.expit(coefficient[..., 0])
        cells = two_label_cells(prevalence, *rates.swapaxes(0, 1)).reshape(*prevalence.shape, 2, 2)
        effect = (logits - known.data.means(parameters))[:, ::-1]
        standard = np.linalg.solve(factor_of(sd[:, ::-1], rho), effect)
        each: dict[str, Any] = {
            "typical": (MATRIX, 2.0 * two_label_cells(0.5, *typical.T).reshape(-1, 2, 2)),
            "class_shares": ((unit, ACTUAL), np.stack([1.0 - prevalence, prevalence], -1)),
            "theta": ((unit, *MATRIX), cells), f"{unit}_sd": ((RATE,), sd[:, ::-1]), f"{unit}_correlation": ((), rho),
            f"{unit}_correlation_share": ((), 0.5 * (1.0 + rho)),
            f"{unit}_standard": ((unit, RATE), standard.swapaxes(1, 2)),
            f"{unit}_effect": ((unit, RATE), effect.swapaxes(1, 2)),
        }  # fmt: skip
        if design.names:
            each["coefficient"] = (COVARIATE, RATE), coefficient[:, ::-1, 1:].swapaxes(1, 2)
        return xr.Dataset({name: ((SAMPLE, *dims), value) for name, (dims, value) in each.items()}, coords=coords)

    return by_quadrature(known, variables, base.shares, table.sum(-1), flatten_cells(counts), constants)


def _product(values: Any, matrix: Any) -> Any:
    """Return a product over the last dim of values, by a sum: matrices' PyTensor compiles for half a minute each."""
    return (values[..., None] * matrix).sum(-2)


def _change(design: Design, unit: str, n_rates: int, scale: float, group_scale: float) -> Any:
    """Return how far the log odds of every unit are from the typical ones, (units, rates)."""
    change = pm.math.zeros_like(np.zeros((len(design.columns), n_rates)))
    if design.names:
        pm.Data("covariate_mean", design.mean, dims=COVARIATE)
        pm.Data("covariate_sd", design.sd, dims=COVARIATE)
        columns = pm.Data("design", design.columns, dims=(unit, COVARIATE))
        coefficient = pm.Normal("coefficient", 0, scale, dims=(COVARIATE, RATE))
        change += _product(columns, coefficient)
    for name, (_, place) in design.groups.items():
        sd = pm.HalfNormal(f"{name}_sd", group_scale, dims=RATE)
        effect = pm.Normal(f"{name}_standard", dims=(name, RATE))
        if n_rates == 2:
            correlation = pm.Deterministic(f"{name}_correlation", 2 * pm.Beta(f"{name}_correlation_share", 2, 2) - 1)
            effect = pm.math.stack(correlated_pairs(sd, correlation, effect), axis=-1)
        else:
            effect = sd * effect
        effect = pm.Deterministic(f"{name}_effect", effect, dims=(name, RATE))
        change += effect[pm.Data(f"{name}_index", place, dims=unit)]
    return change


def simulate(
    rng: np.random.Generator,
    units: int = 12,
    size: int | Sequence[int] = 50,
    *,
    covariates: Any = None,
    groups: Any = None,
    shares: str = "units",
    prior: PriorLike = "laplace",
    scale: float = 0.5,
    group_scale: float = 1.0,
) -> xr.Dataset:
    """Draw a truth from the prior and the units' matrices, of two labels, from the truth.

    Parameters
    ----------
    rng : numpy.random.Generator
    units : int
    size : int or sequence of length `units`
        Items of each unit.
    covariates, groups : str or sequence of str, optional
        Names, or a formula; covariates are standard normal, and three units each make a group.
    shares, prior, scale, group_scale
        As in :func:`model`.

    Returns
    -------
    xarray.Dataset
        ``counts(unit, actual, predicted)``, covariates and groups as its coordinates, and the truth under the names of
        the program.
    """
    units = validate.positive_integer("units", units)
    validate.choice("shares", shares, SHARES)
    base = proper(concentrations(prior, "three_binomial", 2))
    names, factors = formula(covariates) if isinstance(covariates, str) else (list(covariates or []), [])
    factors = [*factors, *([groups] if isinstance(groups, str) else groups or [])]
    items = np.broadcast_to(np.asarray(size, np.int64), units)
    counts = from_cells(tp=items, fn=0, fp=0, tn=0, dims=UNIT).assign_coords({UNIT: np.arange(units)})
    counts = counts.assign_coords({name: (UNIT, rng.standard_normal(units)) for name in names})
    counts = counts.assign_coords({name: (UNIT, np.arange(units) // 3) for name in factors if name != UNIT})
    design = design_of(counts, UNIT, names, factors, _TAKEN)
    rates = rate_names([0, 1], shares)
    change = np.zeros((units, len(rates)))
    truth: dict[str, Any] = {}
    if names:
        coefficient = rng.normal(0, scale, (len(names), len(rates)))
        truth["coefficient"] = (COVARIATE, RATE), coefficient
        change += design.columns @ coefficient
    for name, (levels, place) in design.groups.items():
        sd, rho = np.abs(rng.normal(0, group_scale, len(rates))), 2 * rng.beta(2, 2) - 1
        correlation = np.array([[1, rho], [rho, 1]]) if len(rates) == 2 else np.eye(len(rates))
        effect = rng.multivariate_normal(np.zeros(len(rates)), np.outer(sd, sd) * correlation, len(levels))
        truth |= {f"{name}_sd": (RATE, sd)} | ({f"{name}_correlation": ((), rho)} if len(rates) == 2 else {})
        change += effect[place]
    typical = np.stack([rng.dirichlet(row) for row in base.rows])
    of_class = rng.dirichlet(base.shares, units if shares == "units" else None)
    theta = cells(typical, of_class, change)
    counts = counts.copy(data=rng.multinomial(items, theta.reshape(units, 4)).reshape(theta.shape))
    truth |= {"typical": (MATRIX, typical), "theta": ((UNIT, *MATRIX), theta)}
    truth |= {"class_shares": ((UNIT, ACTUAL) if shares == "units" else (ACTUAL,), of_class)}
    return xr.Dataset({"counts": counts, **truth}, coords={RATE: rates})


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = bayescm.from_cells(
        tp=[30, 34, 25, 31, 38, 40, 28, 35], fn=[15, 11, 20, 14, 7, 5, 17, 10], fp=[9, 6, 12, 7, 14, 8, 5, 3],
        tn=[60, 63, 57, 62, 55, 61, 64, 66], dims="reading",
    ).assign_coords(reader=("reading", list("aabbccdd")), modality=("reading", ["old", "new"] * 4))  # fmt: skip
    fit = bayescm.posterior(table, model="regression", covariates="modality + (1 | reader)", random_seed=1)
    print(az.summary(fit, var_names=["typical", "coefficient", "reader_sd"], ci_prob=0.95, ci_kind="eti"))
    modalities = at(fit, {"modality": ["old", "new"], "reader": None}, random_seed=1)
    print(bayescm.summary(modalities, ["recall", "specificity"])["interval"].to_dataframe())
