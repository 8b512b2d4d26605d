"""The regression's answers at other covariates, at groups to come, and for a population (the g-formula)."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.schema import CELL, CHAIN, DRAW, MATRIX, attributes, cell_names, tree
from bayescm.models.covariates import in_order, level_name

Array = NDArray[np.float64]

COVARIATE, RATE = "covariate", "rate"
_BLOCK = 2**22  # numbers at a time


def rate_names(labels: Sequence[Any], shares: str = "units") -> list[str]:
    """Name the log odds that depend on covariates: of right against wrong answers, then of the classes if they do."""
    if len(labels) == 2:
        return ["specificity", "recall", *(["prevalence"] if shares == "regression" else [])]
    k = len(labels)
    wrong = [name for i, name in enumerate(cell_names(labels)) if i % (k + 1)]
    return wrong + ([f"share[{label}]" for label in labels[1:]] if shares == "regression" else [])


def places(k: int) -> tuple[Array, Array]:
    """Return what puts log odds of wrong answers into their row (K, K - 1, K), and those of classes into (K - 1, K).

    A zero is where the right answer is, and the first class.
    """
    return np.stack([np.delete(np.eye(k), i, axis=0) for i in range(k)]), np.eye(k)[1:]


def at(
    fit: xr.DataTree,
    values: Mapping[str, Any] | None = None,
    *,
    weights: ArrayLike | None = None,
    random_seed: Any = None,
) -> xr.DataTree:
    """Return the posterior of a population all of whose items have the covariates or groups that are given.

    Everything else stays as it was observed: the units' other covariates, groups and class shares, averaged over the
    items. With all covariates given this is the answer at these; with some it is standardised over the others (the
    g-formula), so that levels of one covariate are compared among the same items.

    Parameters
    ----------
    fit : xarray.DataTree
        What :func:`bayescm.posterior` returned for this model, or :func:`pymc.sample` for its program.
    values : mapping of str to value or sequence of values, optional
        ``{"age": 70}`` or ``{"modality": ["CT", "MRI"]}``. Several values become a dim of that name, several names a
        grid. A group by its name; None is one that is yet to come. Without any: the population as observed.
    weights : array_like of shape (units,), optional
        How many items of each unit there are in the population, by default those observed.
    random_seed : int, numpy.random.Generator or None
        Of groups to come.

    Returns
    -------
    xarray.DataTree
        ``theta(chain, draw, ..., actual, predicted)``, which goes where counts go: :func:`bayescm.summary` and others.

    Warns
    -----
    UserWarning
        If a number lies outside of what was observed.
    """
    drawn, known = _groups_of(fit)
    unit = drawn["theta"].dims[2]
    asked = {name: value if _is_several(value) else [value] for name, value in (values or {}).items()}
    seed = validate.seed(random_seed)
    if empty := [name for name, several in asked.items() if not len(several)]:
        raise ValueError(f"`values` has nothing for {empty[0]!r}; give at least one value.")
    items: Any = fit["observed_data"]["counts"].sum(CELL).values if weights is None else in_order(weights, drawn[unit])
    share = validate.real_numbers("weights", items)
    if share.shape != (drawn.sizes[unit],) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise ValueError(
            f"`weights` must be {drawn.sizes[unit]} finite numbers from 0, not all 0, by default the items that were "
            f"observed; got {items}."
        )
    grid = [
        _average(drawn, known, dict(zip(asked, one, strict=True)), share / share.sum(), seed)
        for one in itertools.product(*asked.values())
    ]
    dims = [name for name in asked if _is_several((values or {})[name])]
    like = drawn["theta"].isel({unit: 0}, drop=True)
    shape = (*like.shape[:2], *(len(asked[name]) for name in dims), *like.shape[2:])
    theta = xr.DataArray(
        np.stack(grid, 2).reshape(shape), dims=(CHAIN, DRAW, *dims, *MATRIX),
        coords=dict(like.coords) | {name: _labels(asked[name]) for name in dims},
    )  # fmt: skip
    attrs = {str(k): v for k, v in fit.attrs.items()} | attributes(random_seed=seed)
    return tree({"posterior": theta.to_dataset(name="theta")}, attrs)


def _labels(values: Any) -> Any:
    """Return values as labels of a dim, each as it is; "new" is a group to come."""
    if all(value is not None for value in values):
        return list(values)
    labels = np.empty(len(values), object)
    labels[:] = ["new" if value is None else value for value in values]
    return labels


def _is_several(value: Any) -> bool:
    return np.iterable(value) and not isinstance(value, str | bytes)


def _groups_of(fit: xr.DataTree) -> tuple[xr.Dataset, xr.Dataset]:
    """Return the draws and the data of this model's program."""
    have = {name: fit[name].to_dataset() for name in ("posterior", "constant_data") if name in fit.children}
    if len(have) < 2 or not {"theta", "typical", "class_shares"} <= set(have["posterior"]):
        raise ValueError(
            "`fit` must be a posterior of the model 'regression' with all its variables (none at another `prevalence`: "
            f"exchange it afterwards, bayescm.summary(at(...), prevalence=)); got the groups {sorted(fit.children)}."
        )
    return have["posterior"].transpose(CHAIN, DRAW, ...), have["constant_data"]


def _average(drawn: xr.Dataset, known: xr.Dataset, asked: Mapping[str, Any], share: Array, seed: int) -> Array:
    """Return the cells (chain, draw, K, K) of the units together, each with so much of them, as `asked` for."""
    factors = [str(name).removesuffix("_index") for name in known if str(name).endswith("_index")]
    columns, covariates = _changed(known, {name: value for name, value in asked.items() if name not in factors})
    if unknown := [name for name in asked if name not in (*factors, *covariates)]:
        raise ValueError(f"`values` names {unknown[0]!r}; the model has {[*covariates, *factors]}.")
    effects = [_effect(drawn, known, name, asked, [seed, i]) for i, name in enumerate(factors)]
    typical, of_class = drawn["typical"].values, drawn["class_shares"].values
    k = typical.shape[-1]
    n_rates = drawn.sizes.get(RATE, k * (k - 1))
    total = np.zeros_like(typical)
    block = max(_BLOCK // typical.size, 1)
    for units in (slice(start, start + block) for start in range(0, len(share), block)):
        change = np.zeros((*typical.shape[:2], len(share[units]), n_rates))
        if covariates:
            change += columns[units] @ drawn["coefficient"].values
        for effect, place in effects:
            change += effect[:, :, place[units]]
        shares = of_class[:, :, units] if of_class.ndim == 4 else of_class[:, :, None]
        total += np.einsum("cdu...,u->cd...", cells(typical[:, :, None], shares, change), share[units])
    return total


def cells(typical: Array, shares: Array, change: Array) -> Array:
    """Return the cells (..., K, K) of typical rates (..., K, K), class shares (..., K) and changes (..., rates)."""
    k = typical.shape[-1]
    wrong, classes = places(k)
    with np.errstate(divide="ignore"):
        of_rates = change[..., : k * (k - 1)].reshape((*change.shape[:-1], k, k - 1))
        logits = np.log(typical) - (of_rates[..., None, :] @ wrong)[..., 0, :]
        if change.shape[-1] > k * (k - 1):
            shares = special.softmax(np.log(shares) + change[..., k * (k - 1) :] @ classes, axis=-1)
    theta: Array = shares[..., None] * special.softmax(logits, axis=-1)
    return theta


def _changed(known: xr.Dataset, asked: Mapping[str, Any]) -> tuple[Array, list[str]]:
    """Return the columns of all units with the covariates asked for, and the names of the covariates."""
    if "design" not in known:
        return np.zeros((0, 0)), []
    columns = known["design"].transpose(..., COVARIATE).values.copy()
    names = [str(name) for name in known[COVARIATE].values]
    of = [name.partition("[")[0] for name in names]
    mean, sd = known["covariate_mean"].values, known["covariate_sd"].values
    for name, value in asked.items():
        for i in (i for i, covariate in enumerate(of) if covariate == name):
            number = value if names[i] == name else _is_level(name, value, names)[i]
            number = float(number) if isinstance(number, bool | np.bool_) else number
            new = (validate.number("values", number, -np.inf, np.inf) - mean[i]) / sd[i]
            if not columns[:, i].min() - 1e-9 <= new <= columns[:, i].max() + 1e-9:
                validate.warn(f"`values`: {name} = {value!r} is outside of what was observed; the line is prolonged.")
            columns[:, i] = new
    return columns, list(dict.fromkeys(of))


def _is_level(name: str, value: Any, names: list[str]) -> list[float]:
    """Return for each column whether it is that of the level; all are 0 at the first level of the covariate."""
    level = [float(one.startswith(level_name(name, value, "")[:-1])) for one in names]
    if not any(level) and not any(one.startswith(f"{name}[") and one.endswith(f" vs {value}]") for one in names):
        mine = [one for one in names if one.startswith(f"{name}[")]
        raise ValueError(f"`values`: {name} = {value!r} is no level that was observed; the coefficients are {mine}.")
    return level


def _effect(
    drawn: xr.Dataset, known: xr.Dataset, name: str, asked: Mapping[str, Any], seed: list[int]
) -> tuple[Array, NDArray[np.int64]]:
    """Return the effects (chain, draw, group, rate) of a factor and the place of each unit's.

    A group to come is the same whatever else is asked for, so that a grid compares covariates in one group.
    """
    effect, place = drawn[f"{name}_effect"], known[f"{name}_index"].values
    if name not in asked:
        return effect.values, place
    value, levels = asked[name], effect[name].values.tolist()
    if value is not None:
        if value not in levels:
            raise ValueError(f"`values`: {name} = {value!r} was not observed, only {levels}; None is one to come.")
        return effect.values, np.full_like(place, levels.index(value))
    new = np.random.default_rng(seed).standard_normal((*effect.shape[:2], 1, effect.shape[-1]))
    if f"{name}_correlation" in drawn:
        rho = drawn[f"{name}_correlation"].values[..., None]
        new[..., 1] = rho * new[..., 0] + np.sqrt(1 - rho**2) * new[..., 1]
    return drawn[f"{name}_sd"].values[:, :, None] * new, np.zeros_like(place)
