"""scorer(): a metric in the habit of scikit-learn's scorers, with the counts behind it, which keep its interval."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayescm.data.counts import confusion_matrix
from bayescm.data.labels import Label
from bayescm.data.schema import flatten_cells, labels_of
from bayescm.metrics import evaluate, per_label, resolve

Scorer = Callable[[Any, Any, Any], dict[str, float]]


def scorer(
    metrics: str | Sequence[str] = "accuracy", *, labels: Sequence[Label] | None = None, pos_label: Label | None = None
) -> Scorer:
    """Return a scorer for scikit-learn's ``scoring=`` that keeps the counts of every fold.

    Parameters
    ----------
    metrics : str or sequence of str
        Metrics with one number for all classes. A loss, where smaller is better, comes out negative and with the name
        ``"neg_..."``, as scikit-learn has it.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`; by default `labels` are the ``classes_`` of the classifier.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)`` returns the metrics by their names as given and the cells of the confusion matrix:
        of the labels 0 and 1 ``tn``, ``fp``, ``fn`` and ``tp``, of others ``"actual->predicted"``. What
        ``cross_validate``, ``GridSearchCV`` and the like make of these (``cv_results``, ``search.cv_results_``) is
        taken as ``counts(fold, actual, predicted)``, of a search ``counts(system, fold, actual, predicted)``, by
        :func:`bayescm.summary`, :func:`bayescm.compare_systems` and every function that takes counts. A search needs
        ``refit="mcc"``, the name of the metric that it is to choose by.

    Raises
    ------
    ValueError
        When it is called: for a metric without one number for all classes.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescm
    >>> class Sign:
    ...     classes_ = np.array([0, 1])
    ...
    ...     def predict(self, X):
    ...         return (np.asarray(X) > 0).astype(int)
    >>> bayescm.scorer(["f1", "error_rate"])(Sign(), [-2, -1, 1, 2], [0, 1, 1, 1])
    {'f1': 0.8, 'neg_error_rate': -0.25, 'tn': 1, 'fp': 0, 'fn': 1, 'tp': 2}
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    resolve(names, 2)
    return partial(_score, names=names, labels=labels, pos_label=pos_label)


def _score(estimator: Any, X: Any, y: Any, *, names: list[str], labels: Any, pos_label: Any) -> dict[str, float]:
    """Return metrics and cells of what a classifier predicts."""
    known = np.asarray(getattr(estimator, "classes_", ()))
    labels = known.tolist() if labels is None and known.size else labels
    counts = confusion_matrix(np.asarray(y), np.asarray(estimator.predict(X)), labels=labels, pos_label=pos_label)
    order = labels_of(counts)
    resolved = resolve(names, len(order))
    for name, metric in zip(names, resolved, strict=True):
        if per_label(metric, len(order)):
            raise ValueError(f"`metrics`: {name} has a value for each of {len(order)} classes; take '{name}_macro'.")
    values = evaluate(counts, names)
    found = {
        f"neg_{name}" if metric.loss else name: (-1.0 if metric.loss else 1.0) * float(values[metric.name])
        for name, metric in zip(names, resolved, strict=True)
    }
    cells = flatten_cells(counts)
    named = cells["cell"].values.tolist() if order == [0, 1] else [f"{a}->{b}" for a in order for b in order]
    return found | dict(zip(named, cells.values.tolist(), strict=True))
