"""posterior(): the closed form where the model has one, else PyMC, and why.

:func:`choose` says which would be taken; :func:`posterior` takes it. Both return the same DataTree.
"""

from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data import strata, validate
from bayescm.data.assumptions import of_model
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import (
    ACTUAL,
    CHAIN,
    DRAW,
    MATRIX,
    POSSIBLE,
    UNIT,
    as_set,
    attributes,
    flatten_cells,
    labels_of,
    positive_class,
    tree,
)
from bayescm.data.shapes import is_reported
from bayescm.data.strata import of_data
from bayescm.data.units import by_unit, check_average, without_units
from bayescm.data.words import Sampler
from bayescm.distributions import dirichlet
from bayescm.inference import learned
from bayescm.inference.blocks import Block
from bayescm.inference.labelled import Posterior
from bayescm.inference.reported import of_reported
from bayescm.inference.units import of_units, of_units_alone, refuse_models
from bayescm.metrics import MetricsLike, resolve
from bayescm.models import answers, cell_draws, fit, nuts, predictive, samplers
from bayescm.models.cell_draws import PRIOR_DRAWS, with_metrics, with_variables
from bayescm.models.closed_form import ClosedForm
from bayescm.priors.concentrations import (
    MODELS,
    Concentrations,
    PrevalenceLike,
    PriorLike,
    concentrations,
    resolved_prior,
)
from bayescm.results.names import CARRIED_BY
from bayescm.results.stamps import DRAWS_STAMP, digest

_NEEDLESS = " This model has a closed form: sampler='exact' needs none of it."


class Choice(NamedTuple):
    """The method that would be taken."""

    method: str
    reason: str

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


@takes_counts
def choose(
    counts: Any,
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    sampler: Sampler = "auto",
    **options: Any,
) -> Choice:
    """Say in words how :func:`posterior` would answer, and why.

    Parameters
    ----------
    counts, model, prior, prevalence, sampler, **options
        As in :func:`posterior`. Of a posterior's DataTree: how it was answered.

    Returns
    -------
    Choice
        ``method`` ("exact", "quadrature", "nuts", "smc", "pathfinder" or "advi") and ``reason``, which names what
        draws.

    Raises
    ------
    ValueError
        If the sampler asked for can't answer, with what to do.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.inference.choose([[6, 2], [0, 26]]).method
    'exact'
    >>> folds = bayescm.from_array([[[30, 5], [4, 11]], [[28, 7], [3, 12]]], dims="fold")
    >>> bayescm.inference.choose(folds, model="kfold", pooling="partial").method
    'quadrature'
    """
    if isinstance(counts, xr.DataTree):
        return _chosen(counts)
    if by_unit(counts) is not None:
        return _choose_units(sampler)
    model = of_data(counts, fit.name_of(model, prior))
    if not fit.is_conjugate(model):
        return _choose_bound(fit.bind(model, counts, prior, options, sampler)[0], sampler)[0]
    counts = check_counts(counts)
    if learned.asked(model, prior):
        return _choose_learned(sampler)
    base = concentrations(resolved_prior(prior), model, labels_of(counts))
    return _choose_conjugate(counts, base, model, prevalence, sampler)


def _chosen(tree: xr.DataTree) -> Choice:
    """Return the method by which a posterior was found."""
    if not {"method", "reason"} <= set(tree.attrs):
        raise ValueError(
            "`counts` as a DataTree must be what bayescm.posterior returned, which says its method; of counts ask "
            "bayescm.inference.choose(counts)."
        )
    return Choice(str(tree.attrs["method"]), str(tree.attrs["reason"]))


def _choose_conjugate(
    counts: xr.DataArray, base: Concentrations, model: str, prevalence: PrevalenceLike, sampler: str
) -> Choice:
    """Choose for a conjugate model, checked counts and a known prior."""
    if counts.chunks is None:  # lazy counts are checked when they are computed
        dirichlet.check_proper(dirichlet.posterior(counts.values, base, prevalence), labels_of(counts))
    family = "one Dirichlet over the cells" if base.one_dirichlet else "a Dirichlet per row and one for the classes"
    choice = _choose(
        f"the model models/{model}.py",
        f"the prior is conjugate ({family}), so the posterior is the prior's concentrations plus the counts, "
        "and its draws are independent: no sampler, no diagnostics, any batch of matrices.",
        sampler,
    )
    if choice.method != "exact" and dirichlet.improper(base) is not None:
        raise ValueError("`prior` is improper, and PyMC needs a proper one; use sampler='exact' or prior='jeffreys'.")
    return choice


def _choose_bound(bound: fit.BoundModel, sampler: str) -> tuple[Choice, ClosedForm | None]:
    """Choose for any other model."""
    form = bound.closed_form()
    if form is None or (form.doubt and sampler == "auto"):
        return _choose(bound.name, None, sampler, "" if form is None else form.doubt), form
    said = f"closed form: {form.reason}." if form.method == "exact" else f"{form.reason}."
    return _choose(bound.name, said, sampler, method=form.method), form


def _choose(name: str, directly: str | None, sampler: str, doubt: str = "", method: str = "exact") -> Choice:
    """Choose between a closed form or quadrature, for the reason given, and a sampler."""
    validate.choice("sampler", sampler, samplers.CHOICES)
    if directly is not None and sampler in ("auto", method):
        return Choice(method, directly)
    also = {"exact": "closed form", "quadrature": "quadrature"}
    if sampler in also:
        instead = "nuts" if directly is None else method
        raise ValueError(
            f"`sampler`={sampler!r} can't answer: {name} has no {also[sampler]} with these options; use "
            f"sampler={instead!r}."
        )
    if sampler == "auto":
        return Choice("nuts", f"{name} has {doubt or 'no closed form with these options'}; PyMC samples it.")
    which = samplers.SAMPLERS[sampler]
    return Choice(
        which.method,
        f"asked for; {which.does} {name}{'' if directly is None else f', which also has a {also[method]}'}.",
    )


@takes_counts
def posterior(
    counts: Any,
    *,
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    prevalence: PrevalenceLike = None,
    metrics: MetricsLike = None,
    sampler: Sampler = "auto",
    chains: int = 4,
    draws: int = 1000,
    random_seed: int | np.random.Generator | None = None,
    replicate: bool | int = False,
    workflow: bool = False,
    **options: Any,
) -> xr.DataTree:
    """Draw from the posterior of the cell probabilities and of every metric.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``. Those of :func:`audited` are answered for all items, by the model
        ``stratified``. The closed form of ``dirichlet_multinomial`` and ``three_binomial`` takes any batch dims, also
        lazy ones (dask); a sampler refits their compiled program to one matrix after the other. Other models say what
        they take. None for a program with data of its own.
    model : str, module or pymc.Model
        A model of ``models/`` by name (:func:`bayescm.models.names`), a model of your own (an object with a function
        ``model``), or a program of your own that observes a variable ``counts``. A program with a variable
        ``theta(..., actual, predicted)`` gets every metric; one whose ``counts`` observe a ``pymc.Data`` called
        ``counts_data`` is refitted to other counts without compiling anew.
    prior : str, number, array_like or mapping
        See :func:`bayescm.priors.concentrations.concentrations`, and the model; by default the model's (``jeffreys``).
    prevalence : None, "fixed", number or sequence
        Estimated; fixed by design; exchanged for a number or for a Beta's two numbers (positives first).
    metrics
        As in :func:`bayescm.summary`.
    sampler : str
        "auto": the closed form where there is one, else a quadrature (of ``hierarchical``) that can be trusted, else
        "nuts". "exact" insists on the closed form, "quadrature" on that. What samples the
        PyMC program: "nuts" (PyMC's own), "nutpie", "numpyro", "blackjax" (other implementations of NUTS), "smc"
        (:func:`pymc.sample_smc`, also for several modes). What approximates it by normal distributions, and warns how
        well: "advi", "fullrank_advi" (:func:`pymc.fit`), "pathfinder" (of pymc-extras). See :func:`choose`. PyMC's and
        nutpie's NUTS keep a compiled program for later fits of the same model, options and shape.
    chains, draws : int
        Draws are independent under "exact" and of approximations; the shape is the one that ArviZ expects.
    random_seed : int, numpy.random.Generator or None
        The seed used is stored in the attrs.
    replicate : bool or int
        Also draw a future matrix for each draw: of the observed size if True, else of that many items (conjugate
        models). Its class totals are those observed (or a multiple) under ``prevalence="fixed"``.
    workflow : bool
        Also make the groups ``prior_predictive``, ``posterior_predictive``, ``log_likelihood`` and ``log_prior``, so
        that ``az.loo``, ``az.psense_summary`` and ``az.plot_ppc_*`` run. The log likelihood is per item: see
        :func:`bayescm.models.predictive.log_likelihood`. Predictive plots that want one dim of observations
        (``az.plot_ppc_interval``) need one matrix selected.
    **options
        Of the model (``pooling="partial"``), else of the sampler: of :func:`pymc.sample` (``tune``, ``target_accept``,
        by default .95, ``progressbar``, ``cores``, ``nuts``), of nutpie and its compiler (``backend="jax"``), of
        :func:`pymc.sample_smc` (``threshold``) or :func:`pymc.fit` (``n``, by default 20,000 steps).

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior``: ``theta(chain, draw, ..., actual, predicted)`` and each metric (also over
        ``class_label`` where it is per class), with all free variables of the model's program, so that
        :func:`pymc.sample_posterior_predictive` and :func:`pymc.compute_log_likelihood` take the tree; no ``prior`` for
        an improper one, nor, unless `workflow`, for a program without closed form. ``observed_data``:
        ``counts(..., cell)``.
        ``constant_data``: the prior's numbers (conjugate models, and programs). With `replicate`,
        ``posterior_predictive``: ``counts``, and ``replicate``: the metrics of the future matrix. ``sample_stats`` of
        NUTS and "smc". At another `prevalence` other models return theta and its metrics only, which is no posterior
        of their program. The attr ``reason`` says how the answer came about; ``pareto_k``, of the group ``posterior``,
        how good an approximation is.

    Raises
    ------
    ValueError
        For an unknown model, sampler or metric, or ``chains`` that aren't a positive integer.

    Warns
    -----
    UserWarning
        If NUTS diverged, R-hat exceeds 1.01 or an effective sample size is below 100 per chain; of any approximation;
        or if draws leave a metric undefined.

    References
    ----------
    Caelen 2017, algorithm 1 (whose draws are the ``replicate`` ones); Toetsch and Hoffmann 2021.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=50, fn=30, fp=30, tn=35)
    >>> dt = bayescm.posterior(counts, prior="haldane", metrics="mcc", draws=25_000, random_seed=1)
    >>> round(float((dt.posterior.matthews_correlation > 0).mean()), 2)
    0.98
    """
    seed = validate.seed(random_seed)
    drawing = sampler if validate.choice("sampler", sampler, samplers.CHOICES) in samplers.SAMPLERS else "nuts"
    run = nuts.Run(
        validate.positive_integer("chains", chains), validate.positive_integer("draws", draws), seed, drawing, options
    )
    units = by_unit(counts)
    if check_average(options.pop("average", "items")) != "items":
        raise ValueError("`average`='units' is no metric of cells, which this draws; bayescm.summary answers.")
    counts = without_units(counts)
    reported = counts if is_reported(counts) else None
    counts = counts if reported is None else counts["counts"].isel({POSSIBLE: 0}, drop=True)
    model = of_data(counts, fit.name_of(model, prior))
    settings: dict[str, Any] = {"model": model if isinstance(model, str) else getattr(model, "__name__", "your own")}
    settings |= strata.settings(counts) if strata.is_audit(counts) else {}
    known: Posterior | None = None
    if units is not None or reported is not None or learned.asked(model, prior):
        n = run.chains * run.draws
        if reported is not None:
            known = of_reported(reported, model, resolved_prior(prior), prevalence, n, seed)
            choice = _choose("printed metrics", f"{known.settings[CARRIED_BY]}: one exact posterior for each.", sampler)
        elif units is None:
            counts, choice = check_counts(counts), _choose_learned(sampler)
            known = learned.of_learned(counts, prevalence, n, seed)
        else:
            refuse_models(model, prior)
            counts, choice = units.sum(str(units.dims[-3])), _choose_units(sampler)
            known = of_units(units, prevalence, "items", n, seed)
        settings |= {"model": known.settings["model"], "prior": known.settings["prior"]}
        choice, groups = _independent(known, counts, choice, metrics, run, replicate, workflow)
        groups.pop("observed_data" if reported is not None else "", None)
    elif fit.is_conjugate(model):
        prior = resolved_prior(prior)
        choice, groups = _conjugate(counts, model, prior, prevalence, metrics, sampler, run, replicate, workflow)
    else:
        bound, sample_options = fit.bind(model, counts, prior, options, sampler)
        choice, form = _choose_bound(bound, sampler)
        if not isinstance(replicate, bool):
            raise ValueError(f"`replicate` must be True or False for {bound.name}; got {replicate!r}.")
        if isinstance(prevalence, str):
            raise ValueError(f"`prevalence`='fixed' is for the models {', '.join(MODELS)}; give numbers.")
        if choice.method in samplers.DIRECT:
            _refuse(sample_options)
        groups = answers.answer(
            bound, form, exact=choice.method in samplers.DIRECT, prevalence=prevalence, metrics=metrics,
            run=replace(run, options=sample_options), replicate=replicate, full=workflow,
        )  # fmt: skip
        tells = getattr(bound.module, "carried_by", None)
        told = tells(bound.data, groups["posterior"], **bound.arguments) if tells and prevalence is None else ""
        settings |= {CARRIED_BY: told} if told else {}
        settings |= bound.arguments | ({} if form is None or form.averaged is None else {"averaged": form.averaged})
    settings |= of_model(model if isinstance(model, str) else None, prevalence, settings)
    settings |= {} if known is None else of_units_alone(known.settings)
    settings |= {
        "prior": settings.get("prior", prior), "prevalence": prevalence, "method": choice.method,
        "reason": choice.reason, "random_seed": seed,
    }  # fmt: skip
    conjugate = choice.method == "exact" and fit.is_conjugate(model) and "observed_data" in groups
    if conjugate and _is_told(settings["prior"], model, groups["posterior"]):
        settings[DRAWS_STAMP] = digest({name: groups[name] for name in ("posterior", "observed_data")})
    library = "bayescm" if choice.method in samplers.DIRECT else samplers.SAMPLERS[run.sampler].library
    return as_arviz(groups, settings, library)


def _is_told(prior: PriorLike, model: str, drawn: xr.Dataset) -> bool:
    """Say whether draws aren't lazy, and the attr of their prior tells it whole: not labels of an array."""
    labels = drawn[ACTUAL].values.tolist()
    if drawn["theta"].chunks is not None:
        return False
    try:
        told, base = (concentrations(one, model, labels) for one in (as_set(attributes(prior=prior)["prior"]), prior))
    except (TypeError, ValueError):
        return False
    return np.array_equal(told.rows, base.rows) and np.array_equal(told.shares, base.shares)


def as_arviz(groups: dict[str, xr.Dataset], settings: dict[str, Any], library: str) -> xr.DataTree:
    """Return the groups as a tree, with the attrs of ArviZ's schema at every group, as PyMC has them."""
    ours = attributes()["creation_library_version"]
    stamp: dict[str, Any] = {
        "created_at": datetime.now(UTC).isoformat(), "creation_library_language": "Python",
        "inference_library_version": ours if library == "bayescm" else version(library),
    }  # fmt: skip
    stamped = {}
    for name, group in groups.items():
        drawn = {"sample_dims": [CHAIN, DRAW]} if {CHAIN, DRAW} <= set(group.dims) else {}
        stamped[name] = group.assign_attrs(stamp | drawn)
    settings = settings | {"inference_library": library} | positive_class(*groups.values())
    return tree(stamped, attributes(**settings))


def _refuse(options: dict[str, Any]) -> None:
    if options:
        raise TypeError(
            f"`{next(iter(options))}` goes to pymc.sample, and this answer needs no sampler: leave it out, or take "
            "sampler='nuts'."
        )


def _conjugate(
    counts: Any,
    model: str,
    prior: PriorLike,
    prevalence: PrevalenceLike,
    metrics: MetricsLike,
    sampler: str,
    run: nuts.Run,
    replicate: bool | int,
    full: bool,
) -> tuple[Choice, dict[str, xr.Dataset]]:
    """Answer for a model whose posterior is concentrations of every matrix."""
    counts = check_counts(counts)
    base = concentrations(prior, model, labels_of(counts))
    choice = _choose_conjugate(counts, base, model, prevalence, sampler)
    resolved = resolve(metrics, counts.sizes[ACTUAL])
    size = _replicate_size(replicate)
    if full and (counts.ndim > 2 or prevalence is not None):
        raise ValueError(
            "`workflow`=True takes one matrix, at the prevalence that it was drawn from: select one, and leave "
            "`prevalence` out."
        )
    groups: dict[str, xr.Dataset] = {}
    fit.sampler_options(run.options, model, [], sampler)
    if choice.method != "exact":
        groups = _sampled(counts, model, prior, prevalence, run)
        theta = cell_draws.label_theta(groups["posterior"]["theta"], counts)
    else:
        _refuse(run.options)
        theta = cell_draws.posterior_draws(counts, base, prevalence, run.chains, run.draws, run.seed)
    told = groups["posterior"].attrs if "posterior" in groups else {}
    groups["posterior"] = with_variables(with_metrics(theta, resolved), model).assign_attrs(told)
    if size != 0 or full:
        future = cell_draws.replicates(theta, counts, resolved, prevalence, run.seed, size or -1)
        groups |= dict(zip(("posterior_predictive", "replicate"), future, strict=True))
    if dirichlet.improper(base) is None:
        before = cell_draws.prior_draws(counts, base, prevalence, run.seed, 1, PRIOR_DRAWS)
        groups["prior"] = with_variables(with_metrics(before, resolved), model)
        if full:
            groups["log_prior"] = predictive.log_prior(theta, base)
            future = cell_draws.replicates(before, counts, resolved, prevalence, run.seed + 1, -1)
            groups |= dict(zip(("prior_predictive", "prior_replicate"), future, strict=True))
    if full:
        groups["log_likelihood"] = predictive.of_items(flatten_cells(theta), flatten_cells(counts))
    groups["observed_data"] = flatten_cells(counts).to_dataset()
    groups["constant_data"] = cell_draws.constants(base, counts, model)
    return choice, groups


def _choose_learned(sampler: str) -> Choice:
    return _choose(
        "the learned prior's posterior",
        "given its hyperparameters, which are on a grid, the learned prior is conjugate: draws are independent",
        sampler,
    )


def _choose_units(sampler: str) -> Choice:
    return _choose("units' posterior", "units weigh at random, with one prior unit: draws are independent", sampler)


def _independent(
    known: Posterior, counts: xr.DataArray, choice: Choice, metrics: MetricsLike, run: nuts.Run, replicate: bool | int,
    full: bool,
) -> tuple[Choice, dict[str, xr.Dataset]]:  # fmt: skip
    """Answer by independent draws of a posterior without a program."""
    size, prevalence = _replicate_size(replicate), known.settings["prevalence"]
    if choice.method != "exact" or full:
        what = f"`sampler`={run.sampler!r}" if choice.method != "exact" else "`workflow`=True"
        raise ValueError(f"{what} needs a PyMC program, and the prior {known.settings['prior']!r} has none.")
    if size != 0 and UNIT in known.settings:
        raise ValueError("`replicate` is for items that are independent, and units to come aren't drawn; leave it out.")
    _refuse(run.options)

    resolved = resolve(metrics, counts.sizes[ACTUAL])
    theta = cells_of(known, counts, run.chains, run.draws)
    groups = {"posterior": with_metrics(theta, resolved), "observed_data": flatten_cells(counts).to_dataset()}
    if isinstance(known, learned.OfManyClasses):
        nothing = counts * 0  # what is learned from no items is what was known before there were any
        before = learned.of_learned(nothing, prevalence, PRIOR_DRAWS, run.seed + 1)
        groups["prior"] = with_metrics(cells_of(before, nothing, 1, PRIOR_DRAWS), resolved)
    if size != 0:
        future = cell_draws.replicates(theta, counts, resolved, prevalence, run.seed, size)
        groups |= dict(zip(("posterior_predictive", "replicate"), future, strict=True))
    return choice, groups


def cells_of(known: Posterior, counts: xr.DataArray, chains: int, draws: int) -> xr.DataArray:
    """Return draws of cells, ``theta(chain, draw, ..., actual, predicted)``."""

    def kernel(block: Block) -> Any:
        theta = np.concatenate(list(block.theta_blocks()), -3)
        return theta.reshape((*block.shape, chains, draws, block.k, block.k))

    return cell_draws.label_theta(known.map(kernel, cell_draws.sizes_of(counts, chains, draws)), counts)


def _sampled(
    counts: xr.DataArray, model: str, prior: PriorLike, prevalence: PrevalenceLike, run: nuts.Run
) -> dict[str, xr.Dataset]:
    """Fit a conjugate model's program to one matrix after the other, compiled once."""
    batch = [dim for dim in counts.dims if dim not in MATRIX]
    fits = []
    for position, index in enumerate(np.ndindex(*(counts.sizes[dim] for dim in batch))):
        one = counts.isel(dict(zip(batch, index, strict=True)), drop=True)
        with fit.bind(model, one, prior, {})[0].compiled() as program:
            drawn = samplers.draw(program, replace(run, seed=run.seed + position), hint=_NEEDLESS)
        theta = drawn["posterior"]["theta"].transpose(CHAIN, DRAW, *MATRIX)
        if prevalence is not None:
            rng = matrix_rng(run.seed, position, Stream.SHARES)
            theta = nuts.exchange_draws(theta, one.values.sum(-1).astype(np.float64), prevalence, rng)
        fits.append(drawn | {"posterior": theta.to_dataset(name="theta").assign_attrs(drawn["posterior"].attrs)})
    return {name: _stacked([one[name] for one in fits], counts) for name in fits[0]}


def _stacked(parts: list[xr.Dataset], counts: xr.DataArray) -> xr.Dataset:
    """Put results of one matrix after the other together over the batch dims of the counts."""
    batch = [dim for dim in counts.dims if dim not in MATRIX]
    shape = [counts.sizes[dim] for dim in batch]
    stacked = {
        name: ((*batch, *v.dims), np.stack([part[name].values for part in parts]).reshape(*shape, *v.shape))
        for name, v in parts[0].data_vars.items()
    }
    own = {name: c for name, c in counts.coords.items() if not set(c.dims) & set(MATRIX)}
    worst = {name: max(part.attrs[name] for part in parts) for name in parts[0].attrs}
    worst["sampling_time"] = sum(part.attrs["sampling_time"] for part in parts)
    return xr.Dataset(stacked, coords={**parts[0].coords, **own}, attrs=worst)


def _replicate_size(replicate: bool | int) -> int:
    """Return the size of a future matrix: 0 for none, -1 for the observed one."""
    if isinstance(replicate, bool):
        return -1 if replicate else 0
    return validate.positive_integer("replicate", replicate)
