"""Priors: names, numbers and arrays become concentrations.

Two models, one object (:class:`Concentrations`): the class shares are Dirichlet, each row of rates is Dirichlet.
Under ``dirichlet_multinomial`` the concentration of a share is the sum of its row's, which makes the cells one
Dirichlet; under ``three_binomial`` shares and rows have priors of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.schema import ACTUAL, PREDICTED

MODELS = ("dirichlet_multinomial", "three_binomial")
RATES = ("prevalence", "recall", "specificity")

type PriorLike = str | float | ArrayLike | xr.DataArray | Mapping[str, Any]
type PrevalenceLike = str | float | Sequence[float] | None

Array = NDArray[np.float64]
LEAST = 1e-100
"""Smallest concentration but 0: below it gamma draws lose their logarithms."""


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


@dataclass(frozen=True, slots=True)
class LogitNormal:
    """A prior of a rate whose logit is normal: it is not conjugate, and needs a model that takes it.

    Parameters
    ----------
    mu : float
        Mean of the logit: 0 is a median of one half.
    sigma : float
        Standard deviation of the logit, positive.

    Examples
    --------
    >>> import bayescm
    >>> prior = bayescm.priors.LogitNormal.from_interval(0.70, 0.95, ci_prob=0.9)
    >>> round(prior.mu, 2), round(prior.sigma, 2)
    (1.9, 0.64)
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        validate.number("mu", self.mu, -np.inf, np.inf)
        validate.number("sigma", self.sigma, 0, np.inf)

    @classmethod
    def from_interval(cls, lower: float, upper: float, *, ci_prob: float = 0.9) -> "LogitNormal":
        """Return the one between `lower` and `upper` with probability `ci_prob`, the rest halved between the sides."""
        low, high = special.logit(validate.ends(lower, upper))
        z = special.ndtri((1 + validate.number("ci_prob", ci_prob, 0, 1)) / 2)
        return cls(float(low + high) / 2, float((high - low) / (2 * z)))


DEFAULT_PRIOR = "jeffreys"
LEARNED = "learned"
"""The prior of many classes that is learned from these classes: see :mod:`bayescm.distributions.learned`."""


def resolved_prior(prior: PriorLike | None) -> PriorLike:
    """Return a prior; where none is given, that of the whole library, which is known here alone."""
    return DEFAULT_PRIOR if prior is None else prior


def concentrations(prior: PriorLike, model: str, labels: int | Sequence[Any]) -> Concentrations:
    """Return the prior concentrations of a model.

    Parameters
    ----------
    prior : str, number, array_like of shape (K, K) or mapping
        A name (``jeffreys``, ``laplace``, ``haldane``, ``legendre``, ``perks``, ``jeffreys_cell``); one number for
        every concentration; concentrations per cell (rows actual); or, for ``three_binomial``, a mapping with
        one or more of ``prevalence`` and either ``rows`` or (two labels) ``recall`` and ``specificity``, each a name, a
        number or the two numbers of a Beta, first that of the event it is named after; a Beta of PreliZ or PyMC is
        taken for its numbers. What isn't named is ``jeffreys``.
    model : {"dirichlet_multinomial", "three_binomial"}
    labels : sequence or int
        The classes, or their number. A labelled prior (DataArray) is put into their order.

    Returns
    -------
    Concentrations
        Unbatched.
    """
    if not isinstance(model, str) or model not in MODELS:
        raise ValueError(
            f"`model` must be one of {', '.join(map(repr, MODELS))} here; got {model!r}. "
            "Other models are answered by bayescm.posterior, and az.summary makes a table of its draws."
        )
    classes = list(labels) if np.iterable(labels) else list(range(validate.positive_integer("labels", labels)))
    n_labels = len(classes)
    prior = _in_order(prior, classes)
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


def _in_order(prior: PriorLike, labels: list[Any]) -> PriorLike:
    """Put labelled concentrations into the order of the classes, and drop the labels."""
    if isinstance(prior, Mapping):
        return {key: _in_order(value, labels) for key, value in prior.items()}
    if not isinstance(prior, xr.DataArray):
        return prior
    if set(prior.dims) != {ACTUAL, PREDICTED}:
        raise ValueError(
            f"`prior` as a DataArray must have the dims 'actual' and 'predicted'; got {prior.dims}. "
            "Give other concentrations as plain numbers."
        )
    for dim in {ACTUAL, PREDICTED} & set(prior.coords):
        known = prior[dim].values.tolist()
        if sorted(map(repr, known)) != sorted(map(repr, labels)):
            raise ValueError(f"`prior` has the labels {known} and `counts` has {labels}; give both the same, or none.")
        prior = prior.isel({dim: [known.index(label) for label in labels]})
    ordered: NDArray[Any] = prior.transpose(ACTUAL, PREDICTED).values
    return ordered


def _row_model(rows: Array, shares: Array) -> Concentrations:
    return Concentrations(rows, shares, one_dirichlet=bool(np.allclose(rows.sum(-1), shares, rtol=1e-12, atol=0)))


def _separate(prior: Mapping[str, Any], n_labels: int) -> Concentrations:
    """Read separate priors of the prevalence and the rows."""
    keys, value = set(prior), prior.get("prevalence", DEFAULT_PRIOR)
    if keys and keys <= {"prevalence", "rows"}:
        rows = _rows("prior['rows']", prior.get("rows", DEFAULT_PRIOR), n_labels)
    elif keys and keys <= set(RATES) and n_labels == 2:
        specificity, recall = (pair(f"prior[{key!r}]", prior.get(key, DEFAULT_PRIOR)) for key in RATES[:0:-1])
        rows = np.stack([specificity, recall[::-1]])
    else:
        wanted = "'prevalence' and 'rows'" + (", or 'prevalence', 'recall' and 'specificity'" if n_labels == 2 else "")
        raise ValueError(f"`prior` as a mapping must have some of the keys {wanted}; got {sorted(map(str, keys))}.")
    shares = pair("prior['prevalence']", value)[::-1] if n_labels == 2 else _shares("prior", value, n_labels)
    return _row_model(rows, shares)


def not_conjugate(prior: Any) -> bool:
    """Say whether a mapping gives a rate a prior that is no Beta: a logit-normal, or another of PreliZ or PyMC."""
    return isinstance(prior, Mapping) and any(map(_no_beta, prior.values()))


def _no_beta(value: Any) -> bool:
    of_preliz = hasattr(value, "to_pymc") and type(value).__name__ != "Beta"
    node = getattr(value, "owner", None)  # of a random variable of PyMC
    return isinstance(value, LogitNormal) or of_preliz or (node is not None and type(node.op).__name__ != "BetaRV")


def pair(name: str, value: Any) -> Array:
    """Return the two numbers of a Beta, of the event first, from a name, a number, a pair or a distribution."""
    value = validate.beta_numbers(name, value)
    if isinstance(value, str) or np.ndim(value) == 0:
        return _shares(name, value, 2)
    return _checked(name, value, (2,))


_NAMED: dict[str, tuple[Callable[[int], float], Callable[[int], float], Callable[[int], float]]] = {
    # name: concentration on the diagonal, off it, and of a class share, for K classes
    "jeffreys": (lambda k: 0.5, lambda k: 0.5 / (k - 1), lambda k: 0.5),
    "laplace": (lambda k: 1.0, lambda k: 1.0, lambda k: 1.0),
    "haldane": (lambda k: 0.0, lambda k: 0.0, lambda k: 0.0),
    "legendre": (lambda k: 2.0, lambda k: 2.0, lambda k: 2.0),
    "perks": (lambda k: 1 / k**2, lambda k: 1 / k**2, lambda k: 1 / k),
    "jeffreys_cell": (lambda k: 0.5, lambda k: 0.5, lambda k: 0.5),
}
NAMES = tuple(_NAMED)


def of_pairs(rows: Array) -> float:
    """Return how many items a prior (K, K) adds to a side of what two systems' answers to the same items can differ in.

    It says how good either is, not how often they err together. So of the items that count one goes to those that only
    the first gets right, one to those of the second and one to all others, whatever the classes; of "haldane", none.
    """
    return float(np.any(rows > 0))


def _rows(name: str, value: Any, k: int) -> Array:
    """Return concentrations of the K x K cells."""
    if isinstance(value, str):
        diagonal, off, _ = _NAMED[_known(name, value)]
        return np.where(np.eye(k, dtype=bool), diagonal(k), off(k))
    return np.full((k, k), float(_checked(name, value, ()))) if np.ndim(value) == 0 else _checked(name, value, (k, k))


def _shares(name: str, value: Any, k: int) -> Array:
    """Return concentrations of the K class shares."""
    if isinstance(value, str):
        return np.full(k, _NAMED[_known(name, value)][2](k))
    return np.full(k, float(_checked(name, value, ()))) if np.ndim(value) == 0 else _checked(name, value, (k,))


def _checked(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return non-negative finite concentrations of a shape."""
    array = validate.array_of(name, value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must be a name, a number or numbers of shape {shape}; got {value!r}.")
    array = array.astype(np.float64)
    if array.shape != shape:
        raise ValueError(f"`{name}` must have shape {shape} here; got {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"`{name}` must hold finite concentrations of at least 0; got {array.tolist()}.")
    if (array > validate.MAX_COUNT).any() or ((array > 0) & (array < LEAST)).any():
        raise ValueError(
            f"`{name}` must hold 0 or concentrations from {LEAST:g} to {validate.MAX_COUNT:g}; got {array.tolist()}."
        )
    return array


def exchange(base: Concentrations, prevalence: PrevalenceLike, class_totals: Array | None = None) -> Concentrations:
    """Replace what is known of the class shares.

    Parameters
    ----------
    base : Concentrations
    prevalence : None, "fixed", number, or sequence
        None leaves it estimated; "fixed" takes the shares of `class_totals`, fixed by design; for two labels a number
        is the prevalence and a pair (a, b) or a PreliZ Beta its Beta; for K labels K shares that add up to 1.
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
        if prevalence != "fixed":
            raise ValueError(f"`prevalence` as text must be 'fixed'; got {prevalence!r}. Give numbers as numbers.")
        if class_totals is None:
            raise ValueError("`prevalence` can't be 'fixed' where there are no counts; give a number.")
        if not (class_totals > 0).all():
            raise ValueError(
                "`prevalence`='fixed' needs items of every class in every matrix; one has none. Give a number."
            )
        return Concentrations(base.rows, class_totals / class_totals.sum(-1, keepdims=True), known=True)
    given: Any = prevalence
    if isinstance(given, xr.DataArray):
        raise TypeError("`prevalence` must be plain numbers, in the order of the labels; got an xarray.DataArray.")
    prevalence = validate.beta_numbers("prevalence", given)
    values = validate.array_of("prevalence", prevalence)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"`prevalence` must be None, 'fixed' or numbers; got {prevalence!r}.")
    values = values.astype(np.float64)
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


def _known(name: str, value: str) -> str:
    """Return the name of a prior that is concentrations."""
    if value == LEARNED:
        raise ValueError(
            f"`{name}`='learned' learns the recall of one class from those of the others, of one classifier's matrix "
            "with more than two classes; systems compared on the same items, and what else needs concentrations, take "
            "'jeffreys' or another name or number."
        )
    if value in ("uniform", "flat"):
        raise ValueError(f"`{name}`={value!r} of what? One for every cell is 'laplace', one for all together 'perks'.")
    return validate.choice(name, value, NAMES)
