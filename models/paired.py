"""Two or more classifiers on the same items: one table of all their answers.

What happens
    Every item has an actual class, and each classifier gives its answer to the same item. Items that are hard for one
    classifier tend to be hard for the other, so their confusion matrices are not independent. What is counted is the
    joint table: how many items had the actual class i and the answers j1, j2, ...

In symbols, dependence="dirichlet" (the default for two classifiers)
    joint  ~ Dirichlet(a)             over the K x K x K cells (actual, answer of A, answer of B)
    counts ~ Multinomial(N, joint)
    a[i, j1, j2] = a[i, j1] a[i, j2] / sum_j a[i, j]

    Sums of a Dirichlet's cells are a Dirichlet whose concentrations are sums. With these a, the margin of each
    classifier has exactly the prior of the model dirichlet_multinomial, hence exactly its posterior: a paired analysis
    changes nothing that is said of one classifier, only what is said of their difference.

    So P(A better than B) has a closed form as well. In accuracy the two differ by the items that only one of them gets
    right. Merge those cells: "only A right" has concentration b and "only B right" c, both SUMS of the posterior's
    concentrations. Of the two, the share of A is Beta(b, c), and P(A more accurate | counts) = P(Beta(b, c) > 1/2), the
    Bayesian form of McNemar's test (McNemar 1947). For recall take the cells of the positive class alone.

    The prior's parts of b and c follow from those margins: under "jeffreys" 1/4 in every class, K/4 for the accuracy of
    K classes. That is what this model says, and too little to call a system better on two or three items of one class.
    bayescm.compare_systems, which is for verdicts, has one item a side instead for whatever is compared.

In symbols, dependence="difficulty" (two labels; the default for three or more classifiers)
    positive_share   ~ Beta             share of the positive class
    right[s, i]      ~ Beta             chance that classifier s is right on an item of class i: recall, specificity
    difficulty_sd[i] ~ HalfNormal(1.5)  how much the items of class i differ in difficulty, on the logit scale
    u                ~ Normal(0, 1)     ease of an item
    P(s is right on an item of class i and ease u) = sigmoid(b[s, i] + difficulty_sd[i] u), independently given u
    counts ~ Multinomial(N, joint), the ease integrated out (bayescm/models/patterns.py): no parameter per item

    The intercept b[s, i] solves E sigmoid(b + difficulty_sd[i] u) = right[s, i], so the prior of right is that of
    recall and specificity themselves, whatever difficulty_sd: again each classifier's margin has the prior of the
    single model. A prior stated on b would draw recall towards 1/2 as difficulty_sd grows. The saturated table of S
    classifiers has 2^(S+1) - 1 parameters, this one 2 S + 3. It can't say that classifiers avoid each other's errors.

Run ``python models/paired.py`` to compare two classifiers by both methods, and three by their items' difficulty.
"""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from scipy import stats

from bayescm.data import validate
from bayescm.data.items import check_joint, joint_cells, margins, systems_of
from bayescm.data.schema import ACTUAL, CELL, MATRIX, PREDICTED, SYSTEM
from bayescm.models.blocks import dirichlet_variable, proper
from bayescm.models.closed_form import SAMPLE, ClosedForm
from bayescm.models.patterns import LOAD_SCALE, pattern_probabilities
from bayescm.priors.concentrations import DEFAULT_PRIOR, Concentrations, PriorLike, concentrations

DEPENDENCE = ("dirichlet", "difficulty")
MAX_SYSTEMS = 5
"""Most systems of a saturated table."""


def model(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR, dependence: str | None = None) -> pm.Model:
    """Return the model as a PyMC model of one joint table.

    Parameters
    ----------
    counts : xarray.DataArray
        Over ``("actual", <one dim per system>)``; see :func:`bayescm.data.paired_counts`.
    prior : str, number, array_like of shape (K, K) or (K, ..., K), or mapping
        A name, number or K x K array is each system's prior, as in ``dirichlet_multinomial``; an array of the table's
        shape is the joint concentrations themselves; a mapping, for "difficulty" alone, is as in ``three_binomial``.
    dependence : {"dirichlet", "difficulty"}, optional
        Default: "dirichlet" for two systems or more than two labels, else "difficulty".

    Returns
    -------
    pymc.Model
        ``theta(system, actual, predicted)``, ``joint(actual, <systems>)``, the observed ``counts(cell)``, and either
        ``joint_cell(cell)`` or ``positive_share``, ``right(system, actual)``, ``difficulty_sd(actual)``.
    """
    counts = check_joint(counts, least=2)
    systems, labels, observed = systems_of(counts), counts[ACTUAL].values, joint_cells(counts)
    kind = _dependence(counts, dependence)
    coords = {dim: counts[dim].values for dim in counts.dims}
    coords |= {SYSTEM: systems, PREDICTED: labels, CELL: observed[CELL].values}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=CELL)
        if kind == "dirichlet":
            concentration = _joint_concentrations(prior, counts).ravel()
            if not (concentration > 0).all():
                raise ValueError("`prior` is improper, and PyMC needs a proper one; use sampler='exact' or 'jeffreys'.")
            alpha = pm.Data("alpha", concentration, dims=CELL)
            cells = dirichlet_variable("joint_cell", a=alpha, dims=CELL)
        else:
            cells = _difficulty(proper(_single(prior, counts)), len(systems))
        joint = pm.Deterministic("joint", cells.reshape(counts.shape), dims=counts.dims)
        others = [[axis for axis in range(1, counts.ndim) if axis != kept] for kept in range(1, counts.ndim)]
        theta = pm.math.stack([joint.sum(axis=axes) for axes in others])
        pm.Deterministic("theta", theta, dims=(SYSTEM, *MATRIX))
        pm.Multinomial("counts", n=counts_data.sum(), p=cells, observed=counts_data, dims=CELL)
    return program


def _difficulty(base: Concentrations, n_systems: int) -> Any:
    """Build the cells of two labels from the systems' rates and the items' difficulty."""
    shares = pm.Data("a_shares", base.shares, dims=ACTUAL)
    rows = pm.Data("a_rows", base.rows, dims=MATRIX)
    share = pm.Beta("positive_share", shares[1], shares[0])
    a = pm.math.stack([rows[0, 0], rows[1, 1]])
    b = pm.math.stack([rows[0, 1], rows[1, 0]])
    right = pm.Beta("right", a[None, :], b[None, :], shape=(n_systems, 2), dims=(SYSTEM, ACTUAL))
    load = pm.HalfNormal("difficulty_sd", LOAD_SCALE, dims=ACTUAL)
    negative, positive = (pattern_probabilities(right[:, i], load[i]) for i in range(2))
    # an answer to a negative item is right where it is 0: the patterns in reverse order
    return pm.math.concatenate([(1 - share) * negative[::-1], share * positive])


def exact(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR, dependence: str | None = None) -> ClosedForm | None:
    """Return the posterior in closed form, or None under dependence="difficulty".

    Its `cells` are the systems' own posteriors, one Dirichlet each; its distribution of ``joint_cell`` is that of each
    cell.
    """
    counts = check_joint(counts, least=2)
    if _dependence(counts, dependence) != "dirichlet":
        return None
    alpha = _joint_concentrations(prior, counts)
    posterior = alpha + counts.values
    if (posterior <= 0).any():
        cell = joint_cells(counts)[CELL].values[int(np.argmin(posterior))]
        raise ValueError(
            f"`prior` leaves the posterior improper: the cell {cell} has no items and a concentration of 0. "
            "Take prior='jeffreys', or any prior with positive concentrations."
        )
    rows = margins(counts.copy(data=posterior)).values
    flat, total = posterior.ravel(), posterior.sum()
    return ClosedForm(
        draw=lambda rng, n: _draws(rng.dirichlet(flat, n), counts),
        prior=None if (alpha <= 0).any() else lambda rng, n: _draws(rng.dirichlet(alpha.ravel(), n), counts),
        observed=joint_cells(counts),
        reason="the joint table is one Dirichlet, whose concentrations are the prior's plus the counts",
        distributions={"joint_cell": stats.beta(flat, total - flat), "joint": stats.beta(posterior, total - posterior)},
        cells=Concentrations(rows, rows.sum(-1), one_dirichlet=True),
    )


def simulate(
    rng: np.random.Generator,
    n: int = 200,
    *,
    prior: PriorLike = DEFAULT_PRIOR,
    dependence: str | None = None,
    systems: int = 2,
    n_labels: int = 2,
) -> xr.Dataset:
    """Draw a truth from the prior and the joint table of `n` items from the truth.

    Returns
    -------
    xarray.Dataset
        ``counts(actual, predicted_1, ...)``, ``theta``, ``joint`` and the free variables.
    """
    dims = (ACTUAL, *(f"{PREDICTED}_{i}" for i in range(1, systems + 1)))
    empty = np.zeros((n_labels,) * len(dims), np.int64)
    table = check_joint(xr.DataArray(empty, dims=dims), least=2)
    if _dependence(table, dependence) == "dirichlet":
        truth = _draws(rng.dirichlet(_joint_concentrations(prior, table).ravel(), 1), table).isel({SAMPLE: 0})
    else:
        base = _single(prior, table)
        share = rng.beta(base.shares[1], base.shares[0])
        right = rng.beta(np.diag(base.rows), np.diag(base.rows[:, ::-1]), (systems, 2))
        load = np.abs(rng.normal(0, LOAD_SCALE, 2))
        negative, positive = (pattern_probabilities(right[:, i], load[i]) for i in range(2))
        cells = np.concatenate([(1 - share) * negative[::-1], share * positive])
        truth = _draws(cells[None], table).isel({SAMPLE: 0}).drop_vars("joint_cell")
        truth = truth.assign(positive_share=share, right=((SYSTEM, ACTUAL), right), difficulty_sd=(ACTUAL, load))
    counts = rng.multinomial(n, truth["joint"].values.ravel()).reshape(table.shape)
    return truth.assign(counts=table.copy(data=counts))


def _dependence(counts: xr.DataArray, dependence: str | None) -> str:
    """Return how the answers depend on each other, or say why it can't be."""
    systems, k = counts.ndim - 1, counts.sizes[ACTUAL]
    kind = dependence
    if kind is None:
        kind = "dirichlet" if systems == 2 or k > 2 else "difficulty"
    validate.choice("dependence", kind, DEPENDENCE)
    if kind == "difficulty" and k > 2:
        raise ValueError(f"`dependence`='difficulty' is for two labels; these are {k}. Take 'dirichlet'.")
    if kind == "dirichlet" and systems > MAX_SYSTEMS:
        instead = "'difficulty'" if k == 2 else f"at most {MAX_SYSTEMS} systems at a time"
        raise ValueError(
            f"`dependence`='dirichlet' has a parameter for each of {counts.size:,} cells; with {systems} systems take "
            f"{instead}."
        )
    return kind


def _single(prior: PriorLike, counts: xr.DataArray) -> Concentrations:
    """Return the prior of each system."""
    program = "three_binomial" if isinstance(prior, Mapping) else "dirichlet_multinomial"
    return concentrations(prior, program, counts[ACTUAL].values.tolist())


def _joint_concentrations(prior: PriorLike, counts: xr.DataArray) -> np.ndarray:
    """Return concentrations of the joint cells, whose margins are the prior of each system."""
    if not isinstance(prior, str | Mapping) and np.ndim(prior) == counts.ndim:
        return _full(prior, counts)
    rows = concentrations(prior, "dirichlet_multinomial", counts[ACTUAL].values.tolist()).rows
    systems = counts.ndim - 1
    product = reduce(lambda joint, _: joint[..., None] * rows.reshape(len(rows), *[1] * (joint.ndim - 1), -1),
                     range(systems - 1), rows)  # fmt: skip
    total = rows.sum(-1).reshape(-1, *[1] * systems) ** (systems - 1)
    return np.divide(product, total, out=np.zeros(counts.shape), where=total > 0)


def _full(prior: Any, counts: xr.DataArray) -> np.ndarray:
    """Check concentrations given for every cell of the joint table."""
    if isinstance(prior, xr.DataArray):
        if set(prior.dims) != set(counts.dims):
            raise ValueError(f"`prior` as a DataArray must have the dims {counts.dims}; got {prior.dims}.")
        labelled = check_joint(prior.copy(data=np.zeros(prior.shape, np.int64))).transpose(*counts.dims)
        if labelled[ACTUAL].values.tolist() != counts[ACTUAL].values.tolist():
            raise ValueError("`prior` must have the labels of `counts`, in the same order.")
        prior = prior.transpose(*counts.dims)
    values = np.asarray(prior, np.float64)
    if values.shape != counts.shape:
        raise ValueError(f"`prior` must have the shape {counts.shape} of the joint table; got {values.shape}.")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError("`prior` must hold finite concentrations of at least 0.")
    return values


def _draws(cells: np.ndarray, counts: xr.DataArray) -> xr.Dataset:
    """Label draws (n, cells) of the joint table, and add what follows from them."""
    coords = {dim: counts[dim].values for dim in counts.dims}
    joint = xr.DataArray(cells.reshape(-1, *counts.shape), dims=(SAMPLE, *counts.dims), coords=coords)
    flat = xr.DataArray(cells, dims=(SAMPLE, CELL), coords={CELL: joint_cells(counts)[CELL].values})
    return xr.Dataset({"joint_cell": flat, "joint": joint, "theta": margins(joint)})


if __name__ == "__main__":
    import arviz as az

    import bayescm

    rng = np.random.default_rng(1)
    actual = rng.integers(0, 2, 300)
    ease = rng.normal(size=300)
    answers = {
        name: np.where(rng.random(300) < 1 / (1 + np.exp(-b - 1.5 * ease)), actual, 1 - actual)
        for name, b in {"A": 2.0, "B": 1.5, "C": 1.0}.items()
    }
    from bayescm.data.items import paired_counts

    two = paired_counts(actual, {name: answers[name] for name in "AB"})
    for sampler in ("exact", "nuts"):
        fit = bayescm.posterior(two, model="paired", metrics=["accuracy", "recall"], sampler=sampler, random_seed=1)
        print(sampler, az.summary(fit, var_names=["accuracy", "recall"], ci_prob=0.95, ci_kind="eti"), sep="\n")
    joint = fit["posterior"]["joint"]
    only_a = joint.sel(actual=0, A=0, B=1) + joint.sel(actual=1, A=1, B=0)
    only_b = joint.sel(actual=0, A=1, B=0) + joint.sel(actual=1, A=0, B=1)
    print("P(A more accurate than B) =", float((only_a > only_b).mean()))
    three = paired_counts(actual, answers)
    fit = bayescm.posterior(three, model="paired", metrics=["accuracy", "recall"], random_seed=1)
    print(az.summary(fit, var_names=["accuracy", "recall", "difficulty_sd"], ci_prob=0.95, ci_kind="eti"))
