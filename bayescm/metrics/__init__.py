"""Metrics: pure functions of cell probabilities, and the one place that turns names into them.

The same functions serve plug-in values of counts, posterior draws and exact distributions.
"""

import difflib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import ALIAS, LABEL, METRIC, RESERVED, check_matrix, labels_of
from bayescm.data.schema import MATRIX as MATRIX_DIMS
from bayescm.metrics import multiclass, passes
from bayescm.metrics.naming import named
from bayescm.metrics.quantities import KNOWN, Quantities, needs
from bayescm.metrics.table import (
    BINARY,
    FACTORIES,
    MATRIX,
    OF_MANY,
    OF_RATERS,
    OF_TWO,
    Kind,
    Metric,
    expected_cost,
    fbeta,
    net_benefit,
)

__all__ = [
    "OF_RATERS", "Metric", "available", "compute", "evaluate", "expected_cost", "fbeta", "net_benefit", "resolve",
]  # fmt: skip

type MetricLike = str | Metric | Callable[..., Any]
type MetricsLike = MetricLike | Iterable[MetricLike] | Mapping[str, MetricLike] | None

_BINARY = {name: m for m in BINARY for name in (m.name, *m.aliases)}
_MATRIX = {name: m for m in MATRIX for name in (m.name, *m.aliases)}
_BLOCK, _NUMBERS = 2**14, 2**19  # matrices at a time, and numbers: 4 MB


def available(n_labels: int = 2) -> list[Metric]:
    """Return the metrics that have a name, for a matrix of `n_labels`.

    For more than two labels every cell metric is also there per class, and as ``<name>_macro``, ``_micro`` and
    ``_weighted``.
    """
    if not isinstance(n_labels, int) or n_labels < 2:
        raise ValueError(f"`n_labels` must be a whole number of at least 2; got {n_labels!r}.")
    overall = [m for m in MATRIX if n_labels > 2 or m.name not in _BINARY]
    return [m for m in BINARY if n_labels == 2 or m.name not in _MATRIX] + overall


def resolve(metrics: MetricsLike, n_labels: int) -> list[Metric]:
    """Turn names, metrics and functions into metrics of a matrix with `n_labels`.

    Parameters
    ----------
    metrics : str, Metric, callable, an iterable of these, a mapping of names to these, or None
        None takes the usual ones. Names may be short (``"mcc"``), carry parameters (``"fbeta(beta=2)"``) and
        averages (``"f1_macro"``). A function takes by name any cells (``tp, fn, fp, tn``) and metrics (``recall``),
        or one array of shape (..., K, K), and must return one value per matrix; cells are shares, of counts, too.
    n_labels : int
        Number of classes K.

    Returns
    -------
    list of Metric

    Raises
    ------
    TypeError, ValueError
        If `metrics` names none, an unknown one or one twice, or `n_labels` isn't a number of classes.
    """
    validate.positive_integer("n_labels", n_labels)
    if metrics is None:
        metrics = OF_TWO if n_labels == 2 else OF_MANY
    if isinstance(metrics, Mapping):
        found = [replace(_one(metric, n_labels), name=str(name), alias="") for name, metric in metrics.items()]
    elif isinstance(metrics, str | Metric) or callable(metrics):
        found = [_one(metrics, n_labels)]
    elif isinstance(metrics, Iterable) and getattr(metrics, "ndim", None) != 0:
        found = [_one(metric, n_labels) for metric in metrics]
    else:
        raise TypeError(f"`metrics` takes names, functions of the cells and Metric objects; got {metrics!r}.")
    if not found:
        raise ValueError("`metrics` is empty; name at least one, or leave it out for the usual ones.")
    names = [metric.name for metric in found]
    reserved = next((name for name in names if name in RESERVED or "/" in name), None)
    if reserved is not None:
        raise ValueError(f"`metrics` can't call one {reserved!r}: results keep that name for something else.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"`metrics` has {twice!r} twice; every name must be different.")
    return found


def _one(metric: MetricLike, n_labels: int) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        found, alias = _named(metric, n_labels), metric.strip()
        return (
            found
            if alias.lower() == found.name or "(" in alias
            else replace(found, alias=alias, title=f"{found.title} ({alias})")
        )
    if callable(metric):
        return _from_function(metric)
    raise TypeError(
        f"`metrics` takes names, functions of the cells and Metric objects; got {metric!r}. Numbers go by name, such "
        "as prevalence=0.01."
    )


def _named(name: str, n_labels: int) -> Metric:
    """Look a name up: whole-matrix metrics, cell metrics, parametrised ones, averages."""
    word = name.strip().lower()
    if (of_runs := passes.named(word)) is not None:
        return of_runs
    if word not in _BINARY and "(" not in word:
        word = re.sub(r"[\s@-]+", "_", word)  # balanced accuracy, f1@macro
    if n_labels > 2 and word in _MATRIX:
        return _MATRIX[word]
    if word in _BINARY:
        return _BINARY[word]
    if word in _MATRIX:
        return _MATRIX[word]
    if word in FACTORIES:
        return replace(FACTORIES[word](), name=word)
    if match := re.fullmatch(r"(macro|micro|weighted)_(.+)|(.+)_(macro|micro|weighted)", word):
        average, base = (match[1], match[2]) if match[1] else (match[4], match[3])
        if base in _BINARY and _BINARY[base].name not in {m.name for m in MATRIX}:
            return _averaged(_BINARY[base], cast(Kind, average))
        if base.partition("(")[0] in FACTORIES:
            return _averaged(_named(base, n_labels), cast(Kind, average))
    if match := re.fullmatch(r"(\w+)\((.*)\)", word):
        return _parametrised(name, match[1], match[2])
    if "," in word:
        several = [part.strip() for part in name.split(",") if part.strip()]
        raise ValueError(f"`metrics` has no {name!r}; several go into a list: {several}.")
    raise ValueError(f"`metrics` has no {name!r}; {_near(word)}")


def _near(word: str) -> str:
    """Say which metric may be meant by a word that is none."""
    of_curves = {
        "auc": "auc", "roc_auc": "auc", "auroc": "auc", "roc_auc_score": "auc", "aucpr": "aucpr", "pr_auc": "aucpr",
        "auprc": "aucpr", "average_precision": "aucpr", "average_precision_score": "aucpr",
    }  # fmt: skip
    if word in of_curves:
        return f"areas are of scores, not of one matrix: bayescm.{of_curves[word]}(y_true, y_score)."
    if word == "far":
        return "say which: 'false_alarm_ratio' is FP / (TP + FP), 'false_alarm_rate' FP / (FP + TN)."
    names = list(dict.fromkeys([*_BINARY, *_MATRIX, *FACTORIES]))
    begun = [name for name in names if len(word) > 2 and name.startswith(word)]
    close = difflib.get_close_matches(word, names, 3)
    if near := (begun + [name for name in close if name not in begun])[:3]:
        return f"did you mean {' or '.join(map(repr, near))}? All names: bayescm.metrics.available()."
    known = ", ".join(sorted({*OF_TWO, *(m.name for m in MATRIX), *FACTORIES}))
    return f"it knows {known}, their short names, and <name>_macro and the like."


def _parametrised(name: str, factory: str, arguments: str) -> Metric:
    """Build a metric from text such as ``"fbeta(beta=2)"``."""
    if factory not in FACTORIES:
        raise ValueError(f"`metrics` has {name!r}, but only {', '.join(FACTORIES)} take parameters.")
    accepted = list(inspect.signature(FACTORIES[factory]).parameters)
    values: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in arguments.split(","))):
        key, _, value = (word.strip() for word in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            key = ""
        if key not in accepted or key in values:
            example = ", ".join(f"{word}=1" for word in accepted)
            raise ValueError(f"`metrics` can't read {name!r}; write it like {factory}({example}).")
        values[key] = number
    return FACTORIES[factory](**values)


def _averaged(base: Metric, average: Kind) -> Metric:
    """Return the macro, micro or weighted average of a cell metric over the classes."""
    pooled = average == "micro" and base.name in {"recall", "precision", "f1"}
    return replace(
        base,
        name=f"{base.name}_{average}",
        title=f"{base.title}, {average}",
        formula=f"{average} average of {base.formula}",
        undefined=f"{base.undefined}, in every class" if average != "micro" else base.undefined,
        ratio=(("diagonal",), ("off_diagonal",)) if pooled else None,
        link="identity",
        form=None,
        moments=base.moments,
        kind=average,
        aliases=(),
    )


def _from_function(function: Callable[..., Any]) -> Metric:
    """Wrap a user's function: of cells by name, or of the whole array."""
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(function, "__hash__", None) is None:  # needs() keeps functions in a dict
        function = partial(function)
    try:
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        required = needs(function)
    except ValueError:
        kinds, required = set(), ()
    if kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_KEYWORD} or not required:
        raise TypeError(f"`metrics` takes functions with named arguments (no *args, **kwargs or /); {name} has none.")
    known: dict[str, Any] = {
        "title": name,
        "formula": inspect.getdoc(function) or name,
        "lower": -np.inf,
        "upper": np.inf,
        "of_shares": True,
    }
    if set(required) <= KNOWN:
        return Metric(name=name, function=function, **known)
    if len(required) == 1:
        return Metric(name=name, function=function, kind="matrix", **known)
    raise TypeError(
        "`metrics` takes functions of cells named tp, fn, fp, tn, of metrics by name, or of one array; "
        f"{name} takes {', '.join(required)}."
    )


def per_label(metric: Metric, n_labels: int) -> bool:
    """Say whether a metric has one value for each class."""
    return metric.kind == "cells" and n_labels > 2


def of_one_class(metric: Metric, n_labels: int) -> bool:
    """Say whether a metric is a share of the items of one actual class, which no prevalence changes."""
    if metric.ratio is None:
        return False
    cells = {*metric.ratio[0], *metric.ratio[1]}
    return cells == {"tp", "fn"} or (n_labels == 2 and cells == {"fp", "tn"})


def check_of_answers(metrics: Sequence[Metric]) -> None:
    """Refuse metrics of two classes where only right and wrong answers are known."""
    shares = [_BINARY["accuracy"].ratio, _BINARY["error_rate"].ratio, _MATRIX["mean_score"].ratio]
    known = (metric.ratio in shares or passes.asked_of_runs(metric) is not None for metric in metrics)
    other = next((metric.name for metric, fits in zip(metrics, known, strict=True) if not fits), None)
    if other is not None:
        raise ValueError(
            f"`metric` must be 'accuracy' or 'error_rate' where only right and wrong answers are known; got {other!r}."
        )


def coordinates(metrics: Sequence[Metric], labels: Sequence[Any]) -> dict[str, Any]:
    """Return the coordinates of the dim ``metric``.

    They are the canonical names; for more than two labels ``class_label``, the class of each; and ``alias``, the names
    that the user gave, if any of these is another.
    """
    k = len(labels)
    entries = [(m, label) for m in metrics for label in (labels if per_label(m, k) else ("",))]
    ends = [f"[{label}]" if per_label(m, k) else "" for m, label in entries]
    names = [m.name + end for (m, _), end in zip(entries, ends, strict=True)]
    found: dict[str, Any] = {METRIC: named(names)}
    if any(m.alias for m in metrics):
        found[ALIAS] = METRIC, [(m.alias or m.name) + end for (m, _), end in zip(entries, ends, strict=True)]
    return found | ({LABEL: (METRIC, [str(label) for _, label in entries])} if k > 2 else {})


def joined(metrics: Sequence[Metric], values: Iterable[NDArray[Any]], k: int) -> NDArray[Any]:
    """Return the values of metrics, those of K classes one after another (..., metrics): see :func:`coordinates`."""
    columns = [v if per_label(m, k) else v[..., None] for m, v in zip(metrics, values, strict=True)]
    return np.concatenate(columns, -1)


def parts(metric: Metric, matrix: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return S and T of a metric that is S / (S + T), or a monotone map of it, of matrices (..., K, K)."""
    if metric.ratio is None:
        raise ValueError(f"`metric` must be a proportion of the items; {metric.name} is not.")
    k = matrix.shape[-1]
    if metric.ratio[0][0].endswith("diagonal"):
        off = 1 - np.eye(k, dtype=matrix.dtype)
        sums = {"diagonal": (matrix * (1 - off)).sum((-2, -1)), "off_diagonal": (matrix * off).sum((-2, -1))}
    else:
        sums = (multiclass.of_two(matrix) if k == 2 else multiclass.one_vs_rest(matrix))._asdict()
    over, under = (np.asarray(sum(sums[name] for name in names)) for names in metric.ratio)
    return over, under


def compute(metrics: Sequence[Metric], matrix: NDArray[Any]) -> list[NDArray[np.float64]]:
    """Evaluate metrics on plain arrays: the kernel under everything labelled.

    Parameters
    ----------
    metrics : sequence of Metric
    matrix : ndarray of shape (..., K, K)
        Counts or probabilities.

    Returns
    -------
    list of ndarray
        Shape (...) or, for metrics per class, (..., K).

    Notes
    -----
    Works through blocks that stay in cache; the memory of the result is all it needs.
    """
    k = matrix.shape[-1]
    batch = matrix.shape[:-2]
    cells_first = np.moveaxis(matrix, (-2, -1), (0, 1)).reshape(k, k, *(batch or (1,)))
    n, rest = math.prod(batch), math.prod(batch[1:])
    out = [np.empty((n, k) if per_label(metric, k) else n) for metric in metrics]
    most = min(_BLOCK, max(_NUMBERS // k**2, 1))
    step = max(most // max(rest, 1), 1)
    for first in range(0, cells_first.shape[2], step):
        some = cells_first[:, :, first : first + step].reshape(k, k, -1)
        for start in range(0, some.shape[-1], most):
            block = np.asarray(some[..., start : start + most], np.float64).view()
            block.flags.writeable = False  # a user's function may not change it
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # NaN and inf are answers here
                results = _block(metrics, np.moveaxis(block, (0, 1), (-2, -1)))
            place = first * rest + start
            for values, result in zip(out, results, strict=True):
                values[place : place + block.shape[-1]] = result
    return [values.reshape((*batch, *values.shape[1:])) for values in out]


class _Cells:
    """One block of matrices, (n, K, K), and what metrics take of it, worked out when it is first asked for."""

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self.matrix = matrix

    @cached_property
    def of_two(self) -> Quantities:
        return Quantities(multiclass.of_two(self.matrix))

    @cached_property
    def rest(self) -> Quantities:
        return Quantities(multiclass.one_vs_rest(self.matrix))

    @cached_property
    def shares(self) -> "_Cells":
        shares = self.matrix / self.matrix.sum((-2, -1), keepdims=True)
        shares.flags.writeable = False
        return _Cells(shares)


def _block(metrics: Sequence[Metric], matrix: NDArray[np.float64]) -> list[Any]:
    """Evaluate metrics on one block of matrices, (n, K, K)."""
    k, whole = matrix.shape[-1], _Cells(matrix)
    results = []
    for metric in metrics:
        cells = whole.shares if metric.of_shares else whole
        if metric.kind == "matrix":
            value = metric.function(cells.matrix)
        elif metric.kind == "cells" and k == 2:
            value = cells.of_two.call(metric.function)
        else:
            value = _per_class_or_average(metric, cells.rest)
        shape = (len(matrix), k) if per_label(metric, k) else (len(matrix),)
        if np.shape(value) != shape:
            raise ValueError(
                f"`metrics`: {metric.name} returned shape {np.shape(value)} for {len(matrix)} matrices, not {shape}; "
                "write it with array operations that keep the leading axes."
            )
        results.append(value)
    return results


def _per_class_or_average(metric: Metric, rest: Quantities) -> Any:
    """Evaluate a cell metric on the one-vs-rest cells, and average it if that is its kind."""
    if metric.kind == "micro":
        return Quantities(multiclass.Cells(*(cell.sum(-1) for cell in rest.cells))).call(metric.function)
    values = rest.call(metric.function)
    if metric.kind == "cells":
        return values
    return multiclass.average(values, np.ones_like(values) if metric.kind == "macro" else rest["positives"])


@takes_counts
def evaluate(cells: xr.DataArray, metrics: MetricsLike = None) -> xr.Dataset:
    """Evaluate metrics on labelled counts or probabilities: plug-in values, or metrics of draws.

    Parameters
    ----------
    cells : xarray.DataArray
        Anything with dims ``actual`` and ``predicted``: counts, or ``theta`` of a posterior. May be lazy (dask).
    metrics
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        One variable per metric over the other dims; metrics per class (more than two labels) also over ``class_label``.
        Undefined values are NaN.

    Raises
    ------
    ValueError
        For an unknown metric.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> float(bayescm.metrics.evaluate(counts, "mcc").matthews_correlation.round(4))
    0.8345
    """
    cells = check_matrix(cells, "cells")
    labels = labels_of(cells)
    resolved = resolve(metrics, len(labels))
    taken = [metric.name for metric in resolved if metric.name in {*cells.dims, *cells.coords}]
    if taken:
        raise ValueError(f"`metrics` has {taken[0]!r}, which is a dim or coordinate of the cells too; rename that one.")
    dims = [[LABEL] if per_label(metric, len(labels)) else [] for metric in resolved]
    results = xr.apply_ufunc(
        lambda matrix: tuple(compute(resolved, matrix)) if len(resolved) > 1 else compute(resolved, matrix)[0],
        cells,
        input_core_dims=[list(MATRIX_DIMS)],
        output_core_dims=dims,
        dask="parallelized",
        output_dtypes=[np.float64] * len(resolved),
        dask_gufunc_kwargs={"output_sizes": {LABEL: len(labels)} if [LABEL] in dims else {}},
        keep_attrs=False,
    )
    results = results if isinstance(results, tuple) else (results,)
    dataset = xr.Dataset({m.name: r.assign_attrs(describe(m)) for m, r in zip(resolved, results, strict=True)})
    return dataset.assign_coords({LABEL: labels}) if LABEL in dataset.dims else dataset


def describe(metric: MetricLike) -> dict[str, str]:
    """Return the attrs of the variable of a metric, which may be given by its name."""
    metric = _one(metric, 2)
    return {"long_name": metric.title, "units": "1", "formula": metric.formula}
