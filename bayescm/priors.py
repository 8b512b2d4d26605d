"""Priors: names, numbers, arrays and stated rates become concentrations.

Two models, one object (:class:`Concentrations`): the class shares are Dirichlet, each row of rates is Dirichlet.
Under ``dirichlet_multinomial`` the concentration of a share is the sum of its row's, which makes the cells one
Dirichlet; under ``three_binomial`` shares and rows have priors of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm import validate
from bayescm.results import ACTUAL, PREDICTED

MODELS = ("dirichlet_multinomial", "three_binomial")
NAMES = ("jeffreys", "laplace", "haldane", "legendre", "perks", "jeffreys_cell")

PriorLike = str | float | ArrayLike | xr.DataArray | Mapping[str, Any]
PrevalenceLike = str | float | Sequence[float] | None

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Concentrations:
    """Concentrations of the class shares and of every row of rates.

    Attributes
    ----------
    rows : ndarray of shape (..., K, K)
        Each row is the concentration of one class's rates.
    shares : ndarray of shape (..., K)
        Concentration of the class shares; or, if `known`, the shares themselves.
    known : bool
        Whether the class shares are known numbers.
    one_dirichlet : bool
        Whether the K x K cells together are one Dirichlet with concentrations `rows`.
    """

    rows: Array
    shares: Array
    known: bool = False
    one_dirichlet: bool = False


def concentrations(prior: PriorLike, model: str, n_labels: int) -> Concentrations:
    """Return the prior concentrations of a model.

    Parameters
    ----------
    prior : str, number, array_like of shape (K, K) or mapping
        A name (``jeffreys``, ``laplace``, ``haldane``, ``legendre``, ``perks``, ``jeffreys_cell``); one number for
        every concentration; concentrations per cell (rows actual); or, for ``three_binomial``, a mapping with
        ``prevalence`` and either ``rows`` or (two labels) ``recall`` and ``specificity``, each a name, a number or
        the two numbers of a Beta, first that of the event it is named after.
    model : {"dirichlet_multinomial", "three_binomial"}
    n_labels : int

    Returns
    -------
    Concentrations
        Unbatched.
    """
    validate.choice("model", model, MODELS)
    if isinstance(prior, Mapping):
        if model == "dirichlet_multinomial":
            raise ValueError("`prior` as a mapping is for model='three_binomial'; a cell Dirichlet has one array.")
        return _separate(prior, n_labels)
    rows = _rows("prior", prior, n_labels)
    if model == "dirichlet_multinomial":
        return Concentrations(rows, rows.sum(-1), one_dirichlet=True)
    if not isinstance(prior, str) and np.ndim(prior) > 0:
        raise ValueError(
            "`prior` as an array says nothing of the prevalence under model='three_binomial'; "
            "give prior={'prevalence': ..., 'rows': array}."
        )
    return _row_model(rows, _shares("prior", prior, n_labels))


def _row_model(rows: Array, shares: Array) -> Concentrations:
    return Concentrations(rows, shares, one_dirichlet=bool(np.allclose(rows.sum(-1), shares, rtol=1e-12, atol=0)))


def _separate(prior: Mapping[str, Any], n_labels: int) -> Concentrations:
    """Read separate priors of the prevalence and the rows."""
    keys = set(prior)
    if keys == {"prevalence", "rows"}:
        rows = _rows("prior['rows']", prior["rows"], n_labels)
    elif keys == {"prevalence", "recall", "specificity"} and n_labels == 2:
        positive = _pair("prior['recall']", prior["recall"])
        rows = np.stack([_pair("prior['specificity']", prior["specificity"]), positive[::-1]])
    else:
        wanted = "'prevalence' and 'rows'" + (", or 'prevalence', 'recall' and 'specificity'" if n_labels == 2 else "")
        raise ValueError(f"`prior` as a mapping must have the keys {wanted}; got {sorted(map(str, keys))}.")
    value = prior["prevalence"]
    shares = _pair("prior['prevalence']", value)[::-1] if n_labels == 2 else _shares("prior", value, n_labels)
    return _row_model(rows, shares)


def _pair(name: str, value: Any) -> Array:
    """Return the two numbers of a Beta: of the event first."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return _shares(name, value, 2)
    return _checked(name, value, (2,))


def _rows(name: str, value: Any, k: int) -> Array:
    """Return concentrations of the K x K cells."""
    if isinstance(value, str):
        off = 1.0 / (k - 1)
        diagonal = np.eye(k, dtype=bool)
        named = {
            "jeffreys": np.where(diagonal, 0.5, 0.5 * off),
            "laplace": np.ones((k, k)),
            "haldane": np.zeros((k, k)),
            "legendre": np.full((k, k), 2.0),
            "perks": np.full((k, k), 1.0 / k**2),
            "jeffreys_cell": np.full((k, k), 0.5),
        }
        return named[validate.choice(name, value, NAMES)]
    if isinstance(value, xr.DataArray):
        value = value.transpose(ACTUAL, PREDICTED).values
    return np.full((k, k), float(_checked(name, value, ()))) if np.ndim(value) == 0 else _checked(name, value, (k, k))


def _shares(name: str, value: Any, k: int) -> Array:
    """Return concentrations of the K class shares."""
    if isinstance(value, str):
        named = {
            "jeffreys": 0.5,
            "laplace": 1.0,
            "haldane": 0.0,
            "legendre": 2.0,
            "perks": 1.0 / k,
            "jeffreys_cell": 0.5,
        }
        return np.full(k, named[validate.choice(name, value, NAMES)])
    return np.full(k, float(_checked(name, value, ()))) if np.ndim(value) == 0 else _checked(name, value, (k,))


def _checked(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return non-negative finite concentrations of a shape."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a name, a number or numbers of shape {shape}; got {value!r}.") from None
    if array.shape != shape:
        raise ValueError(f"`{name}` must have shape {shape} here; got {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"`{name}` must hold finite concentrations of at least 0; got {array.tolist()}.")
    return array


def prior_from_metrics(*, precision: float, recall: float, accuracy: float, weight: float) -> xr.DataArray:
    """Turn a stated precision, recall and accuracy into concentrations of the four cells.

    Parameters
    ----------
    precision, recall, accuracy : float in (0, 1)
        What one believes beforehand. They must leave room for true negatives:
        ``1/recall + 1/precision - 1/accuracy > 1``.
    weight : float
        Number of items that the belief is worth, the sum of the concentrations.

    Returns
    -------
    xarray.DataArray
        ``concentration(actual, predicted)``, to be given as ``prior=``.

    References
    ----------
    Caelen 2017, eq. 8 (its recall is TP / (TP + FN); the text misprints it).

    Examples
    --------
    >>> import bayescm
    >>> prior = bayescm.prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=72.5)
    >>> prior.values.round(3)
    array([[19.436, 16.043],
           [12.957, 24.064]])
    """
    p = validate.number("precision", precision, 0, 1)
    r = validate.number("recall", recall, 0, 1)
    a = validate.number("accuracy", accuracy, 0, 1)
    m = validate.number("weight", weight, 0, np.inf)
    if not 1 / r + 1 / p - 1 / a > 1:
        raise ValueError(
            f"`precision` {p:g}, `recall` {r:g} and `accuracy` {a:g} leave no true negatives: "
            "1/recall + 1/precision - 1/accuracy must exceed 1; state a higher accuracy."
        )
    wrong_share = m * (1 - a) / (p + r - 2 * r * p)
    tp, fp, fn = wrong_share * r * p, wrong_share * r * (1 - p), wrong_share * (1 - r) * p
    cells = np.array([[a * m - tp, fp], [fn, tp]])
    return xr.DataArray(
        cells, dims=(ACTUAL, PREDICTED), coords={ACTUAL: [0, 1], PREDICTED: [0, 1]}, name="concentration"
    )


def exchange(base: Concentrations, prevalence: PrevalenceLike, class_totals: Array | None = None) -> Concentrations:
    """Replace what is known of the class shares.

    Parameters
    ----------
    base : Concentrations
    prevalence : None, "fixed", number, or sequence
        None leaves it estimated; "fixed" takes the shares of `class_totals`, fixed by design; for two labels a number
        is the prevalence and a pair (a, b) its Beta; for K labels K shares that add up to 1.
    class_totals : ndarray of shape (..., K), optional
        Needed for "fixed".

    Returns
    -------
    Concentrations
    """
    if prevalence is None:
        return base
    k = base.rows.shape[-1]
    if isinstance(prevalence, str):
        validate.choice("prevalence", prevalence, ("fixed",))
        if class_totals is None:
            raise ValueError("`prevalence` can't be 'fixed' where there are no counts; give a number.")
        if not (class_totals > 0).all():
            raise ValueError(
                "`prevalence`='fixed' needs items of every class in every matrix; one has none. Give a number."
            )
        return Concentrations(base.rows, class_totals / class_totals.sum(-1, keepdims=True), known=True)
    values = np.asarray(prevalence, dtype=np.float64)
    if values.ndim == 0 and k == 2:
        share = validate.number("prevalence", prevalence, 0, 1)
        return Concentrations(base.rows, np.array([1 - share, share]), known=True)
    if values.shape == (2,) and k == 2:
        if not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(f"`prevalence` as a Beta needs two positive numbers; got {values.tolist()}.")
        return Concentrations(base.rows, values[::-1].copy())
    if values.shape == (k,) and (values > 0).all() and abs(values.sum() - 1) < 1e-9:
        return Concentrations(base.rows, values, known=True)
    wanted = "a number or the two numbers of a Beta" if k == 2 else f"{k} positive shares that add up to 1"
    raise ValueError(f"`prevalence` must be None, 'fixed', {wanted}; got {prevalence!r}.")
