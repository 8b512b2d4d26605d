"""Class labels of any kind come to one type and one order."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescm import validate

Label = str | int | bool


def label_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return labels as an array of text, integers or booleans."""
    array = plain(name, values)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or (array != np.floor(array)).any():
            raise ValueError(
                f"`{name}` holds fractions, not labels; for scores use bayescm.counts_at_thresholds(y_true, y_score)."
            )
        if (np.abs(array) > 2**53).any():
            raise ValueError(f"`{name}` holds numbers too large for labels; use text.")
    if array.dtype.kind not in "iufbU":
        raise TypeError(f"`{name}` must hold integers, text or booleans; got values of type {array.dtype}.")
    return array if array.dtype.kind in "bU" else array.astype(np.int64)


def plain(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return values of one type, none of them missing."""
    array = validate.one_dimensional(name, values)
    if array.dtype.kind == "O":
        array = _from_objects(name, array)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"`{name}` has a missing label at position {int(np.argmax(np.isnan(array)))}.")
    return array


def _from_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Give an object array the one type that its values have."""
    kinds = {type(value) for value in array}
    missing = [i for i, v in enumerate(array) if v is None or type(v).__name__ == "NAType" or v != v]
    if missing:
        raise ValueError(f"`{name}` has a missing label at position {missing[0]}.")
    if all(issubclass(kind, str) for kind in kinds):
        return array.astype(np.str_)
    if any(issubclass(kind, str) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"`{name}` mixes labels of the types {names}; give all labels one type.")
    return np.array(array.tolist())


def class_order(
    given: Mapping[str, NDArray[Any]], labels: Sequence[Label] | None, pos_label: Label | None
) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Bring the label arrays to one type and return them with the order of the classes."""
    pools = dict(given)
    if labels is not None:
        pools["labels"] = label_array("labels", list(labels))
        validate.unique("labels", pools["labels"].tolist())
    if pos_label is not None:
        pools["pos_label"] = label_array("pos_label", [pos_label])
    text = [name for name, array in pools.items() if array.dtype.kind == "U"]
    if text and len(text) < len(pools):
        other = [name for name in pools if name not in text]
        raise ValueError(f"`{text[0]}` holds text and `{other[0]}` doesn't; give all labels one type.")
    if not text and len({array.dtype.kind == "b" for array in pools.values()}) == 2:
        pools = {name: array.astype(np.int64) for name, array in pools.items()}
    seen = np.unique(np.concatenate([pools[name] for name in given]))
    order = _order(seen, pools.get("labels"), pools.get("pos_label"))
    return [pools[name] for name in given], order


def _order(seen: NDArray[Any], labels: NDArray[Any] | None, pos_label: NDArray[Any] | None) -> NDArray[Any]:
    """Return the classes in order, of two the positive one last."""
    known = seen
    if pos_label is not None and labels is None:
        if len(seen) > 1 and pos_label[0] not in seen:
            raise ValueError(f"`pos_label` must be one of {seen.tolist()}; got {pos_label.tolist()[0]!r}.")
        known = np.unique(np.concatenate([seen, pos_label]))
    order = known if labels is None else labels
    unknown = [value for value in seen.tolist() if value not in order.tolist()]
    if unknown:
        raise ValueError(f"`labels` doesn't name {unknown[0]!r}, which is in the data; nothing is dropped, so add it.")
    if len(order) < 2:
        raise ValueError(f"`labels` is needed: the data have only the class {order.tolist()[0]!r}; name all classes.")
    if len(order) > 2:
        if pos_label is not None:
            raise ValueError(f"`pos_label` is for two classes; these are {len(order)}: leave it out.")
        return order
    values = order.tolist()
    if pos_label is None:
        positive = 1 if 1 in values else max(values)  # True == 1
    else:
        positive = pos_label.tolist()[0]
        if positive not in values:
            raise ValueError(f"`pos_label` must be one of {values}; got {positive!r}.")
    return order if values[1] == positive else order[::-1]


def codes(values: NDArray[Any], order: NDArray[Any], sorter: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of each value in `order`."""
    return sorter[np.searchsorted(order, values, sorter=sorter)]


def positions(labels: Sequence[Label], known: list[Any]) -> list[int]:
    """Return where each of `labels` stands among the labels that an array already has."""
    if len(labels) != len(known) or any(label not in known for label in labels):
        raise ValueError(f"`labels` may only reorder the labels that `array` has, {known}; got {list(labels)}.")
    return [known.index(label) for label in labels]
