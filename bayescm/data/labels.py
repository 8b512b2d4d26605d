"""Class labels of any kind come to one type and one order."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate

Label = str | int | bool

WELL_KNOWN = frozenset({
    ("+", "-"), ("1", "0"), ("1", "-1"), ("positive", "negative"), ("pos", "neg"), ("yes", "no"), ("y", "n"),
    ("true", "false"), ("t", "f"), ("present", "absent"), ("case", "control"), ("cases", "controls"),
    ("disease", "healthy"), ("diseased", "healthy"), ("diseased", "nondiseased"), ("sick", "healthy"),
    ("sick", "well"), ("ill", "healthy"), ("ill", "well"), ("abnormal", "normal"), ("disease", "normal"),
    ("malignant", "benign"), ("infected", "uninfected"), ("anomaly", "normal"), ("spam", "ham"),
    ("fraud", "legitimate"), ("fraud", "legit"), ("fraud", "genuine"), ("fraudulent", "legitimate"),
    ("krank", "gesund"), ("erkrankt", "gesund"), ("positiv", "negativ"),
})  # fmt: skip
"""Pairs of words, in small letters, of which the first is the positive class. Words that both labels begin with don't
count ("Test+", "Test-"), and of a word and its negation ("disease", "no disease") the word is positive."""
OF_PEOPLE = frozenset({
    "disease", "diseased", "no disease", "nondiseased", "healthy", "sick", "ill", "well", "infected", "uninfected",
    "not diseased", "not infected", "krank", "erkrankt", "gesund",
})  # fmt: skip
OF_TESTS = frozenset({"positive", "negative", "pos", "neg", "positiv", "negativ", "+", "-"})
"""Words of a truth where those of the other side are of tests."""
_NEGATIONS = ("no", "not", "non", "without")
MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "nat", "none", "null", "?"})
"""What files and other programs write for a missing label, in small letters: "NA" is R's."""


def label_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return labels as an array of text, integers or booleans."""
    array = plain(name, values)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or (array != np.floor(array)).any():
            raise ValueError(
                f"`{name}` holds fractions, not labels. Scores go into bayescm.auc, curve_band, curves.auc_difference, "
                "or by threshold bayescm.curves.counts_at_thresholds(y_true, y_score); labels are y_score >= .5."
            )
        if (np.abs(array) > 2**53).any():
            raise ValueError(f"`{name}` holds numbers too large for labels; use text.")
    if array.dtype.kind not in "iufbU":
        raise TypeError(f"`{name}` must hold integers, text or booleans; got values of type {array.dtype}.")
    return array if array.dtype.kind in "bU" else array.astype(np.int64)


def no_missing(
    name: str, values: NDArray[Any], meant: Collection[Any] = (), items: NDArray[np.int64] | None = None
) -> None:
    """Refuse missing labels that came as text, unless they are `meant` as classes, and text that can't be written.

    Parameters
    ----------
    name : str
    values : ndarray
        Labels of any type.
    meant : collection of labels
        What the user named as classes.
    items : ndarray, optional
        How many items each of `values` stands for.
    """
    for label in np.unique(values).tolist() if values.dtype.kind == "U" else []:
        if any("\ud800" <= letter <= "\udfff" for letter in label):
            raise ValueError(
                f"`{name}` has the label {label!r} with half a character (a lone surrogate), which no file can hold: "
                "read the data in their own encoding, such as UTF-8."
            )
        if label.strip().casefold() not in MISSING or (label in meant and label.strip()):
            continue
        its = values == label
        n = int(its.sum() if items is None else items[its].sum())
        many, cure = ("1 item", "it") if n == 1 else (f"{n:,} items", "them")
        where = "" if items is not None else f", {'at' if n == 1 else 'the first at'} position {int(np.argmax(its))}"
        meaning = f", or, if {label!r} is a class, name all classes in `labels` or write this one in another word"
        raise ValueError(
            f"`{name}` has {many} whose label is missing, written {label!r}{where}: drop {cure}"
            f"{meaning if label.strip() else ''}."
        )


def declared(labels: Sequence[Label] | None, values: Any) -> Sequence[Label] | None:
    """Return `labels`, where they aren't given those of an ordered categorical in their order."""
    dtype: Any = getattr(values, "dtype", None)
    if labels is None and (getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"):  # pandas, polars
        return list(dtype.categories)
    return labels


def plain(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return values of one type, none of them missing."""
    array = validate.one_dimensional(name, values)
    if (absent := validate.missing(array)).any():
        n, at = int(absent.sum()), int(np.argmax(absent))
        what = f"a missing label at position {at}: drop that item" if n == 1 else f"{n:,} missing labels, the first at "
        raise ValueError(f"`{name}` has {what}{'' if n == 1 else f'position {at}: drop these items'}.")
    return _from_objects(name, array) if array.dtype.kind == "O" else array


def _from_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Give an object array the one type that its values have."""
    kinds = {type(value) for value in array}
    if all(issubclass(kind, str) for kind in kinds):
        return array.astype(np.str_)
    if any(issubclass(kind, str) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"`{name}` mixes labels of the types {names}; give all labels one type.")
    return np.array(array.tolist())


def class_order(
    given: Mapping[str, NDArray[Any]],
    labels: Sequence[Label] | None,
    pos_label: Label | None,
    items: NDArray[np.int64] | None = None,
) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Bring the label arrays to one type and return them with the order of the classes.

    The first of `given` are the actual labels; the others are predicted ones. Each stands for one item, or for `items`.
    """
    if labels is None and pos_label is None:
        given = _in_words_of_people(given)
    pools = dict(given)
    if labels is not None:
        pools["labels"] = class_names(labels)
    for name, array in given.items():
        no_missing(name, array, [] if labels is None else pools["labels"].tolist(), items)
    if pos_label is not None:
        pools["pos_label"] = label_array("pos_label", [pos_label])
    text = [name for name, array in pools.items() if array.dtype.kind == "U"]
    if text and len(text) < len(pools):
        other = [name for name in pools if name not in text]
        raise ValueError(f"`{text[0]}` holds text and `{other[0]}` doesn't; give all labels one type.")
    if not text and len({array.dtype.kind == "b" for array in pools.values()}) == 2:
        pools = {name: array.astype(np.int64) for name, array in pools.items()}
    distinct = {name: np.unique(pools[name]) for name in given}
    if labels is None:
        _same_words(distinct)
        _one_spelling(distinct)
    order = _order(np.unique(np.concatenate(list(distinct.values()))), pools.get("labels"), pools.get("pos_label"))
    return [pools[name] for name in given], order


def class_names(labels: Sequence[Label]) -> NDArray[Any]:
    """Return different labels that the user named as classes."""
    names = label_array("labels", validate.listed("labels", labels))
    if names.dtype.kind == "U" and (np.char.strip(names) == "").any():
        raise ValueError(f"`labels` has an empty name; name every class. Got {some(names.tolist())}.")
    no_missing("labels", names, names.tolist())
    validate.unique("labels", names.tolist())
    return names


def _in_words_of_people(given: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    """Return positive and negative answers of tests in the words of the truth, where that is of people."""
    (name, truth), *others = given.items()
    if truth.dtype.kind != "U":
        return given
    words = [_small(array) for array in (truth, *(array for _, array in others))]
    people, tests = (np.unique(np.concatenate(side)).tolist() for side in (words[:1], words[1:] or words[:1]))
    if len(people) != 2 or len(tests) != 2 or not (set(people) <= OF_PEOPLE and set(tests) <= OF_TESTS):
        return given
    sick, positive = positive_of(people), positive_of(tests)
    written = {sick: truth[words[0] == sick][0], None: truth[words[0] != sick][0]}
    answers = {
        other: np.where(word == positive, written[sick], written[None])
        for (other, _), word in zip(others, words[1:], strict=True)
    }
    return {name: truth} | answers


def _small(labels: NDArray[Any]) -> NDArray[Any]:
    return np.char.lower(np.char.strip(labels)) if labels.dtype.kind == "U" else labels


def _same_words(distinct: Mapping[str, NDArray[Any]]) -> None:
    """Refuse predictions in other words than the truth's."""
    (name, truth), *others = ((name, array.tolist()) for name, array in distinct.items())
    for other, found in others:
        if sorted([truth, found]) == [[-1, 1], [0, 1]]:
            raise ValueError(
                f"`{name}` and `{other}` call the negative class {truth[0]} and {found[0]}: recode one of them, or say "
                "labels=[-1, 0, 1] if these are three classes."
            )
        if not set(truth) & set(found) and len(truth) + len(found) > 2:
            two = len(truth) == len(found) == 2
            pair = f", or say which are positive: pos_label=({truth[1]!r}, {found[1]!r})" if two else ""
            raise ValueError(
                f"`{name}` has the labels {some(truth)} and `{other}` has {some(found)}: none in common. Write one "
                f"in the words of the other{pair}; if they are classes of one list, name all of it with `labels`."
            )


def several_labels(y_true: Any, y_pred: Any) -> list[Any]:
    """Return the names of labels that have a column of 0 and 1 each; refuse one-hot columns of one label."""
    values = np.asarray(y_pred) if np.ndim(y_pred) == 2 else np.empty((0, 0))
    if values.shape[1] > 1 and np.shape(y_true) == values.shape:
        both = np.stack([np.asarray(y_true), values])
        if not np.isin(both, (0, 1)).all() or (both.sum(-1) == 1).all():
            raise ValueError(
                "`y_true` must have one dimension, or of items with several labels a column of 0 and 1 for each; got "
                f"{values.shape}. One class per item, one-hot: y_true.argmax(1) and y_pred.argmax(1)."
            )
        return list(getattr(y_true, "columns", range(values.shape[1])))
    if len(values) < 8 or values.shape[1] < 2:  # runs of few items may be so by chance
        return []
    if np.isin(values, (0, 1)).all() and (np.count_nonzero(values, axis=1) == 1).all():
        raise ValueError(
            f"`y_pred` of shape {values.shape} is one-hot, a column per class: give y_pred.argmax(1). Runs of the same "
            "items have an answer in every column."
        )
    return []


def no_scores(true: NDArray[Any], pred: NDArray[Any]) -> None:
    """Refuse whole numbers of many kinds where the truth has 0 and 1."""
    kinds = true.dtype.kind in "bi" and pred.dtype.kind == "i" and bool(np.isin(true, (0, 1)).all())
    strange = np.setdiff1d(pred, (0, 1)).tolist() if kinds else []
    if len(strange) > 2:
        raise ValueError(
            f"`y_pred` has the numbers {some(strange)} and `y_true` only 0 and 1. Scores: y_score >= 5, or "
            "bayescm.curves.counts_at_thresholds(y_true, y_score); classes: name all of them with `labels`."
        )


def _one_spelling(distinct: Mapping[str, NDArray[Any]]) -> None:
    """Refuse labels that are the same but for spaces around them or, of two classes, for capitals."""
    words = sorted({str(label) for array in distinct.values() for label in array.tolist()})
    folded = [word.strip().casefold() for word in words]
    spelled = folded if len(set(folded)) <= 2 else [word.strip() for word in words]
    twice = [word for word, one in zip(words, spelled, strict=True) if spelled.count(one) > 1]
    if twice:
        raise ValueError(f"The labels {some(twice)} differ by spaces or capitals alone: write each class in one way.")


def in_words_of(true: NDArray[Any], pred: NDArray[Any], positives: Sequence[Label]) -> NDArray[Any]:
    """Return predictions in the truth's words, of which and of the test's the positive ones are given."""
    words = [np.unique(one).tolist() for one in (true, pred)]
    others = [[word for word in of_one if word != one] for of_one, one in zip(words, positives, strict=False)]
    if len(positives) != 2 or len(others[0]) != 1 or len(others[1]) > 1:
        raise ValueError(
            "`pos_label` as a pair, that of the truth and that of the test, needs two labels on either side; got "
            f"{some(list(positives))} for {some(words[0])} and {some(words[1])}."
        )
    return np.where(pred == positives[1], positives[0], others[0][0])


def some(labels: list[Any]) -> str:
    """Write a list of labels, cut where it is long."""
    return ", ".join(map(repr, labels[:8])) + (", ..." if len(labels) > 8 else "")


def _order(seen: NDArray[Any], labels: NDArray[Any] | None, pos_label: NDArray[Any] | None) -> NDArray[Any]:
    """Return the classes in order, of two the positive one last."""
    known = seen
    if pos_label is not None and labels is None:
        if len(seen) > 1 and pos_label[0] not in seen:
            raise ValueError(f"`pos_label` must be one of {some(seen.tolist())}; got {pos_label.tolist()[0]!r}.")
        known = np.unique(np.concatenate([seen, pos_label]))
    order = known if labels is None else labels
    unknown = [value for value in seen.tolist() if value not in order.tolist()]
    if unknown:
        raise ValueError(f"`labels` doesn't name {unknown[0]!r}, which is in the data; nothing is dropped, so add it.")
    if len(order) < 2:
        raise ValueError(f"`labels` is needed: the data have only the class {order.tolist()[0]!r}; name all classes.")
    return order[positive_last(order.tolist(), None if pos_label is None else pos_label.tolist()[0])]


def positive_last(values: list[Any], pos_label: Any = None, *, last: bool = False) -> list[int]:
    """Return the places of the classes in order, of two the positive one last.

    Parameters
    ----------
    values : list
        The classes.
    pos_label : label, optional
        Default: 1 or True, else the positive one of a well-known pair of words, of two other numbers the larger.
    last : bool
        Take the last of another pair of words for the positive one, because its order was given; else it is refused.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        If `pos_label` isn't one of two classes, or is needed.
    """
    places = list(range(len(values)))
    if len(values) != 2:
        if pos_label is not None:
            raise ValueError(f"`pos_label` is for two classes; these are {len(values)}: leave it out.")
        return places
    if pos_label is not None and pos_label not in values:
        raise ValueError(f"`pos_label` must be one of {values}; got {pos_label!r}.")
    positive = positive_of(values) if pos_label is None else pos_label
    if positive is None and not last:
        raise ValueError(
            f"`pos_label` is needed: which of {values[0]!r} and {values[1]!r} is the positive class? Say "
            f"pos_label={values[0]!r} or pos_label={values[1]!r} (--pos-label on the command line). Only pairs of "
            "words such as 'yes' and 'no' are recognised, and `labels` only orders and completes."
        )
    return places if positive is None or values[1] == positive else places[::-1]


def positive_of(values: list[Any]) -> Any:
    """Return the positive one of two classes, or None where it can't be known."""
    if not isinstance(values[0], str):
        return 1 if 1 in values else max(values)  # True == 1
    for positive, negative in (values, values[::-1]):
        one, other = _words(positive), _words(negative)
        if any(other == [negation, *one] for negation in _NEGATIONS):
            return positive
        while len(one) > 1 and len(other) > 1 and one[0] == other[0]:
            one, other = one[1:], other[1:]
        if (" ".join(one), " ".join(other)) in WELL_KNOWN:
            return positive
    return None


def _words(label: str) -> list[str]:
    """Return the words of a label in small letters, a sign at its end apart."""
    text = label.strip().casefold().replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-")
    body, sign = (text[:-1], [text[-1]]) if text[-1:] in ("+", "-") else (text, [])
    return [word for word in re.split(r"[\s_]+|(?<=\w)-(?=\w)", body) if word] + sign


def grouped(groups: Sequence[str], columns: Mapping[str, NDArray[Any]]) -> tuple[list[Any], list[Any]]:
    """Return the levels of each named column in order of appearance, and every row's place among them."""
    levels, level_codes = [], []
    for name in groups:
        values = plain(name, columns[name])
        found, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        levels.append(found[by_appearance])
        level_codes.append(np.argsort(by_appearance)[inverse])
    return levels, level_codes


def codes(values: NDArray[Any], order: NDArray[Any], sorter: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of each value in `order`."""
    return sorter[np.searchsorted(order, values, sorter=sorter)]


def coded(
    given: Mapping[str, NDArray[Any]],
    labels: Sequence[Label] | None,
    pos_label: Label | tuple[Label, Label] | None,
    items: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
    """Return actual and predicted labels as positions in the order of the classes, and that order.

    A pair as `pos_label` names the positive class of the truth and that of the predictions, in words of their own.
    Each label stands for one item, or for `items`.
    """
    true, pred = given.values()
    if isinstance(pos_label, tuple):
        pred, pos_label = in_words_of(true, pred, pos_label), pos_label[0]
    (true, pred), order = class_order(dict(zip(given, (true, pred), strict=True)), labels, pos_label, items)
    sorter = np.argsort(order)
    return codes(true, order, sorter), codes(pred, order, sorter), order


def positions(labels: Sequence[Label], known: list[Any]) -> list[int]:
    """Return where each of `labels` stands among the labels that an array already has."""
    labels = validate.listed("labels", labels)
    if len(labels) != len(known) or any(label not in known for label in labels):
        raise ValueError(f"`labels` may only reorder the labels that `array` has, {some(known)}; got {some(labels)}.")
    return [known.index(label) for label in labels]
