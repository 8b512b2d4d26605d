"""scorer(): a metric in the habit of scikit-learn's scorers, with the counts behind it, which keep its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import confusion_matrix
from bayescm.data.labels import Label
from bayescm.data.needs import need
from bayescm.data.schema import flatten_cells, labels_of
from bayescm.metrics import evaluate, per_label, resolve


class Scores(dict[str, float]):
    """Metrics and cells by name; where scikit-learn wants one number (``cross_val_score``), the first metric."""

    def item(self) -> float:
        """Return the first metric."""
        return next(iter(self.values()))


@dataclass
class Scorer:
    """What :func:`scorer` returns, with what scikit-learn's metadata routing asks of scorers."""

    names: list[str]
    labels: Sequence[Label] | None
    pos_label: Label | None
    cells: bool
    sample_weight: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Scores | float:
        """Return metrics and cells of what a classifier predicts."""
        known = np.asarray(getattr(estimator, "classes_", ()))
        labels = known.tolist() if self.labels is None and known.size else self.labels
        items = _repeated(sample_weight, len(y))
        told = np.asarray(y)[items], np.asarray(estimator.predict(X))[items]
        counts = confusion_matrix(*told, labels=labels, pos_label=self.pos_label)
        order = labels_of(counts)
        resolved = resolve(self.names, len(order))
        for name, metric in zip(self.names, resolved, strict=True):
            if per_label(metric, len(order)):
                raise ValueError(
                    f"`metrics`: {name} has a value for each of {len(order)} classes; take '{name}_macro'."
                )
        values = evaluate(counts, self.names)
        found = Scores({
            f"neg_{name}" if metric.loss else name: (-1.0 if metric.loss else 1.0) * float(values[metric.name])
            for name, metric in zip(self.names, resolved, strict=True)
        })  # fmt: skip
        if not self.cells:
            return found.item()
        cells = flatten_cells(counts)
        named = cells["cell"].values.tolist() if order == [0, 1] else [f"{a}->{b}" for a in order for b in order]
        return Scores(found | dict(zip(named, cells.values.tolist(), strict=True)))

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> Self:
        """Ask metadata routing for `sample_weight`, or for what has this name."""
        self.sample_weight = sample_weight
        return self

    def get_metadata_routing(self) -> Any:
        """Return what metadata routing is asked for."""
        routing = need("sklearn.utils.metadata_routing", "metadata routing")
        request = routing.MetadataRequest(owner="bayescm.scorer")
        request.score.add_request(param="sample_weight", alias=self.sample_weight)
        return request


def scorer(
    metrics: str | Sequence[str] = "accuracy",
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    cells: bool = True,
) -> Scorer:
    """Return a scorer for scikit-learn's ``scoring=`` that keeps the counts of every fold.

    Parameters
    ----------
    metrics : str or sequence of str
        Metrics with one number for all classes. A loss, where smaller is better, comes out negative and with the name
        ``"neg_..."``, as scikit-learn has it.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`; by default `labels` are the ``classes_`` of the classifier.
    cells : bool
        Whether the cells come out, too. Without them the first metric is all, as one number: what searches with
        ``refit=True`` and learning curves want.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)`` returns the metrics by their names as given and the cells of
        the confusion matrix: of the labels 0 and 1 ``tn``, ``fp``, ``fn`` and ``tp``, of others
        ``"actual->predicted"``. What ``cross_validate``, ``GridSearchCV`` and the like make of these (``cv_results``,
        ``search.cv_results_``) is taken as ``counts(fold, actual, predicted)``, of a search
        ``counts(system, fold, actual, predicted)``, by :func:`bayescm.summary`, :func:`bayescm.compare_systems` and
        every function that takes counts. A search needs
        ``refit="mcc"``, the name of the metric that it is to choose by. ``cross_val_score`` takes the first metric.
        `sample_weight` says of how many items each is one; ``scorer(...).set_score_request(sample_weight=True)`` asks
        scikit-learn's metadata routing for it.

    Raises
    ------
    ValueError
        When it is called: for a metric without one number for all classes; weights that are no whole numbers.

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
    return Scorer(names, labels, pos_label, cells)


def _repeated(weight: Any, n: int) -> NDArray[np.intp]:
    """Return the places of n items, each as often as its weight says: counts have no fractions."""
    if weight is None:
        return np.arange(n)
    times = validate.count_values("sample_weight", weight)
    validate.same_length(y=(places := np.arange(n)), sample_weight=times)
    return np.repeat(places, times)
