"""Items of which only some were checked: a judge's verdicts, a map, a test whose negatives are seldom verified.

What happens
    A cheap verdict is known of every item (a judge model's, a classifier's, a map's class, a screening test's). The
    truth of some is found out, more often in some strata than in others: all positives and a tenth of the negatives,
    as many points in a rare map class as in a common one. So the checked items are no sample of all items, but within
    a group that is sampled by itself (a verdict, or a stratum and a verdict) they are. The groups' totals are known,
    and put them together again.

In symbols, for group g with N_g items, of which n_g were checked
    truth_g  ~ Dirichlet(alpha_g)               over the cells that its items can be in
    counts_g ~ Multinomial(n_g, truth_g)
    shares   ~ Dirichlet(A + N),                A_g the sum of alpha_g; of="process"
    shares   = N / sum N                        of="population" and of="items"
    theta    = sum_g shares_g truth_g

    Several strata share one prior: alpha_g is a part of it, and a part of where all strata's items lie; and the n_g
    items count as n_g - 1, but for the stratum's part of all (`discount`). A prior of its own in each would decide
    about many strata of few items.

    Which items of a group were checked has nothing to do with their truth (the truth is missing at random given the
    group): so the likelihood of the checked ones is that of a sample of the group.

    With A the sums of alpha the model is dirichlet_multinomial where every item was checked. With many items
    and flat priors the means are those of the stratified estimator (Cochran 1977, section 5A.12; Olofsson et al. 2014)
    and of Begg and Greenes (1983).

What is asked about
    of="process"      Further items from where these came from: the totals are a sample, too.
    of="population"   A population whose strata have exactly these shares, such as the area of a map.
    of="items"        These items and no others: theta is the mean of the checked and of a draw of the others (a finite
                      population), and doesn't vary once all are checked.

Cochran 1977, Sampling Techniques; Begg and Greenes 1983, Biometrics 39:207; Olofsson et al. 2014, Remote Sensing of
Environment 148:42; Tenenbein 1970, JASA 65:1350, for totals that are a sample.

Run ``python models/stratified.py`` to see 2,000 answers of which people checked 40.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import ACTUAL, CELL, GROUP, MATRIX, OF, PREDICTED, TOTALS, cell_names, labels_of
from bayescm.data.strata import TARGETS, Strata, audited, read
from bayescm.distributions import strata as groups
from bayescm.models.blocks import dirichlet_variable, items_of
from bayescm.models.closed_form import SAMPLE, ClosedForm
from bayescm.priors.concentrations import DEFAULT_PRIOR, PriorLike

Array = np.ndarray


def model(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR) -> pm.Model:
    """Return the model as a PyMC model.

    Parameters
    ----------
    counts : xarray.DataArray
        Of checked items, with the totals of all: see :func:`bayescm.audited`. For ``of="items"`` there is the closed
        form only.
    prior : str, number or array_like of shape (K, K)
        Of the cells of every group, as in ``dirichlet_multinomial``: those that its items can be in.

    Returns
    -------
    pymc.Model
        ``truth(group, actual)``, or ``truth(group, cell)`` where the verdict, too, is known of checked items only;
        ``shares(group)`` for ``of="process"``; ``theta(actual, predicted)``; the observed ``counts(group, cell)``.
    """
    strata = read(counts)
    if strata.of == "items":
        raise ValueError("`counts` of these items alone (of='items') have a closed form only; use sampler='exact'.")
    labels, k = labels_of(counts), counts.sizes[ACTUAL]
    base = groups.prior_of(strata, prior, labels)
    groups.check_proper(base, strata)
    last = ACTUAL if strata.by_verdict else CELL
    coords = {GROUP: strata.names, CELL: cell_names(labels), ACTUAL: labels, PREDICTED: labels}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", strata.counts.reshape(-1, k * k), dims=(GROUP, CELL))
        alpha = pm.Data("alpha", base.cells[strata.possible].reshape(len(strata.names), -1), dims=(GROUP, last))
        truth = dirichlet_variable("truth", a=alpha, dims=(GROUP, last))
        cells = truth[..., None] * strata.possible.any(1)[:, None, :] if strata.by_verdict else truth
        if strata.of == "process":
            sizes = pm.Data("a_shares", base.shares + strata.totals, dims=GROUP)
            shares = dirichlet_variable("shares", a=sizes, dims=GROUP)
        else:
            shares = pm.Data("known_shares", base.shares, dims=GROUP)
        cells = cells.reshape((len(strata.names), k * k))
        pm.Deterministic("theta", (shares[:, None] * cells).sum(axis=0).reshape((k, k)), dims=MATRIX)
        if base.weight is not None:
            seen = strata.counts[strata.possible].reshape(len(strata.names), -1)
            pm.Potential("discount", ((base.weight[:, None] - 1.0) * seen * pm.math.log(truth)).sum())
        pm.Multinomial("counts", n=items_of(counts_data), p=cells, observed=counts_data, dims=(GROUP, CELL))
    return program


def exact(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR) -> ClosedForm:
    """Return the closed form: a Dirichlet for every group, and one for the shares or the shares themselves."""
    strata, labels = read(counts), labels_of(counts)
    base = groups.prior_of(strata, prior, labels)
    posterior = groups.posterior_of(strata, base)
    groups.check_proper(posterior, strata)
    cells = strata.counts.reshape(len(strata.names), -1)
    proper = bool((base.cells[strata.possible] > 0.0).all())
    coords = {GROUP: strata.names, CELL: cell_names(labels)}
    what = {"process": "one for their shares", "population": "known shares", "items": "the other items predicted"}
    sizes = xr.DataArray(strata.totals, dims=GROUP, coords={GROUP: strata.names})
    return ClosedForm(
        draw=lambda rng, n: _draws(posterior, strata, labels, rng, n),
        prior=(lambda rng, n: _draws(base, strata, labels, rng, n)) if proper else None,
        observed=xr.DataArray(cells, dims=(GROUP, CELL), coords=coords, name="counts"),
        reason=f"a Dirichlet for the cells of every group, and {what[strata.of]}",
        constants=xr.Dataset({TOTALS: sizes, "checked": sizes.copy(data=strata.checked)}),
        has_program=strata.of != "items",
    )


def _draws(of: groups.Groups, strata: Strata, labels: list[Any], rng: np.random.Generator, n: int) -> xr.Dataset:
    """Label draws of every variable of the program."""
    shares, cells, theta = groups.draw(of, rng, n)
    last = ACTUAL if strata.by_verdict else CELL
    truth = cells.sum(-1) if strata.by_verdict else cells.reshape(n, len(strata.names), -1)
    coords = {GROUP: strata.names, ACTUAL: labels, PREDICTED: labels}
    coords |= {} if strata.by_verdict else {CELL: cell_names(labels)}
    made: dict[str, Any] = {"truth": ((SAMPLE, GROUP, last), truth), "theta": ((SAMPLE, *MATRIX), theta)}
    made |= {} if of.known else {"shares": ((SAMPLE, GROUP), shares)}
    return xr.Dataset(made, coords=coords)


def simulate(
    rng: np.random.Generator,
    n: int = 500,
    *,
    prior: PriorLike = "laplace",
    checked: int = 20,
    of: str = "process",
    n_labels: int = 2,
) -> xr.Dataset:
    """Draw a truth from the prior, `n` items from the truth, and check at most `checked` of every verdict.

    Returns
    -------
    xarray.Dataset
        ``counts(actual, predicted)`` with their totals, ``theta`` and the program's variables; for ``of="items"`` the
        theta of these items.
    """
    validate.choice("of", of, TARGETS)
    k = n_labels
    some = audited(np.ones((k, k), np.int64), np.full(k, k), of="process")
    base = groups.prior_of(read(some), prior, labels_of(some))
    shares = rng.dirichlet(base.shares)
    totals = rng.multinomial(n, shares)
    truth = np.stack([rng.dirichlet(base.cells[j, :, j]) for j in range(k)])
    sizes = np.minimum(totals, checked)
    seen = np.stack([rng.multinomial(*one) for one in zip(sizes, truth, strict=True)])
    rest = np.stack([rng.multinomial(*one) for one in zip(totals - sizes, truth, strict=True)])
    theta = (shares if of == "process" else totals / totals.sum())[:, None] * truth
    theta = (seen + rest) / totals.sum() if of == "items" else theta
    counts = audited(seen.T, totals, of=of)
    made = {"counts": counts, "theta": (MATRIX, theta.T), "truth": ((GROUP, ACTUAL), truth)}
    made |= {"shares": (GROUP, shares)} if of == "process" else {}
    return xr.Dataset(made, coords={GROUP: read(counts).names})


if __name__ == "__main__":
    import arviz as az

    import bayescm

    answers = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900])
    print(answers.attrs[OF], bayescm.summary(answers, ["prevalence", "accuracy", "recall"]), sep="\n")
    for sampler in ("exact", "nuts"):
        fit = bayescm.posterior(answers, metrics=["prevalence", "accuracy", "recall"], sampler=sampler, random_seed=1)
        print(sampler, az.summary(fit, var_names=["~theta"], ci_prob=0.95, ci_kind="eti"), sep="\n")
