"""What several people or judges said of the same subjects: pairs of ratings, counted subject by subject."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import texts, validate
from bayescm.data.items import right_answers, with_units
from bayescm.data.labels import MISSING, Label, class_order, codes, label_array, some
from bayescm.data.schema import ITEM, MATRIX, RATERS, UNIT, batch_names
from bayescm.data.tabular import read_table
from bayescm.data.units import names_units

AVERAGES = ("ratings", "subjects")
_FEW = 5
"""Rows up to which ratings may all differ by chance."""
ANNOTATOR, ANNOTATORS = "annotator", "annotators"


class _Ratings(NamedTuple):
    """Ratings one by one, of subjects and raters by their places among the names."""

    subject: NDArray[np.intp]
    rater: NDArray[np.intp]
    value: NDArray[Any]
    subjects: NDArray[Any]
    raters: list[str]
    unit: str


def agreement(
    ratings: Any,
    *,
    judge: str | None = None,
    subject: str | None = None,
    rater: str | None = None,
    rating: str | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    average: str = "ratings",
) -> Any:
    """Count how raters agree on the same subjects, or how a judge stands among annotators.

    What comes back goes into every question: ``summary(agreement(ratings))``, ``probability``, ``compare_systems``,
    ``interval(..., method="delta")``. What was sampled are the subjects.

    Parameters
    ----------
    ratings : data frame, path, str, mapping or array_like of shape (subjects, raters)
        A row per subject and a column per rater. Missing ratings (NaN, None, "", "NA") are left out, and so are
        subjects that have fewer than two.
    judge : str, optional
        The rater, such as a model, that is held against each of the others, the annotators.
    subject : str, optional
        Column that names the subjects; by default one that is called like a unit of sampling, such as "patient".
    rater, rating : str, optional
        Columns of a long table, with a row per rating; `subject` is needed then.
    labels, pos_label
        As in :func:`confusion_matrix`. Weighted coefficients take labels as evenly spaced: `labels` has to name those
        in between that nobody gave.
    average : {"ratings", "subjects"}
        Whether each rating counts alike, as Krippendorff has it, or each subject, as Fleiss and Gwet: a difference
        where some have more ratings than others.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        ``counts(subject, actual, predicted)``: of two raters one pair per subject, rows by the first; of more the pairs
        of different raters either way round, half as many as ratings. With a `judge` answers as of
        :func:`predictions`, of the systems `judge` and "annotators" to every subject and annotator: whether it agrees
        with as many of the other annotators as the other one of the two does, so that accuracy is the advantage
        probability.

    Raises
    ------
    ValueError
        For fewer than two raters (with a `judge` three others), no subject with two ratings, a subject that one rater
        rated twice, an unknown column, or ratings with fractions.

    Notes
    -----
    The Dirichlet process over subjects of ``unit=`` answers; its prior weighs as much as one or two. Of many raters
    ``scotts_pi`` is Fleiss' kappa, and F1 of a class the agreement on it. Of a population Krippendorff's alpha is
    Scott's pi; its point has the correction for the number of ratings.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's alpha-reliability; Fleiss 1971, Psychological Bulletin 76; Gwet 2014,
    Handbook of inter-rater reliability; Calderon, Reichart and Dror 2025, The alternative annotator test.

    Examples
    --------
    >>> import bayescm
    >>> ratings = {"A": [1, 1, 2, 3, 3, 1], "B": [1, 1, 2, 2, 3, 1], "C": [1, 2, 2, 3, 3, None]}
    >>> found = bayescm.summary(bayescm.agreement(ratings), ["krippendorff_alpha", "accuracy"], random_seed=1)
    >>> found["point"].values.round(3)
    array([0.663, 0.765])
    """
    validate.choice("average", average, AVERAGES)
    given, typed = _read(ratings, subject, rater, rating)
    order, given = _ordered(given, typed, labels, pos_label)
    batch_names("subject", [given.unit])
    if judge is not None:
        return _of_judge(given, judge)
    if len(given.raters) < 2:
        raise ValueError(f"`ratings` must be of two raters at least; got {given.raters}.")
    counts = _of_two(given, len(order)) if len(given.raters) == 2 else _of_many(given, len(order), average)
    kept = counts.any((1, 2))
    if not kept.any():
        raise ValueError("`ratings` has no subject with two ratings.")
    coords = {given.unit: given.subjects[kept], **dict.fromkeys(MATRIX, order)}
    attrs = {UNIT: given.unit, RATERS: len(given.raters)}
    return xr.DataArray(counts[kept], dims=(given.unit, *MATRIX), coords=coords, name="counts", attrs=attrs)


def _read(ratings: Any, subject: Any, rater: Any, rating: Any) -> tuple[_Ratings, bool]:
    """Return the ratings that aren't missing, and whether they have types already."""
    import pandas as pd

    frame, typed = _frame(ratings)
    if unknown := [name for name in (subject, rater, rating) if name is not None and name not in frame.columns]:
        raise ValueError(f"`ratings` has no column {unknown[0]!r}; it has {some(list(frame.columns))}.")
    named = [name for name in (rater, rating) if name is not None]
    if named and None in (subject, rater, rating):
        raise ValueError("`subject`, `rater` and `rating` name the columns of a long table together; give all three.")
    if not named:
        subject = next(filter(names_units, frame.columns), None) if subject is None else subject
        columns = [name for name in frame.columns if name != subject]
        _no_names(frame[columns])
        rows, raters = np.indices((len(frame), len(columns))).reshape(2, -1)
        values = frame[columns].to_numpy(object).reshape(-1)
        names, subjects = [str(name) for name in columns], (frame.index if subject is None else frame[subject])
        own, subjects = pd.factorize(np.asarray(subjects))
        rows = own[rows]
    else:
        rows, subjects = pd.factorize(np.asarray(frame[subject]))
        raters, levels = pd.factorize(np.asarray(frame[rater]))
        names, values = [str(name) for name in levels], frame[rating].to_numpy(object)
    validate.unique("ratings", names)
    known = ~validate.missing(values) & np.array(
        [not isinstance(value, str) or value.strip().casefold() not in MISSING for value in values], bool
    )
    known &= (rows >= 0) & (raters >= 0)
    if not known.any():
        raise ValueError("`ratings` has no ratings; give a row per subject and a column per rater.")
    rows, raters, values = rows[known], raters[known], values[known]
    once, times = np.unique(rows * len(names) + raters, return_counts=True)
    if times.max() > 1:
        which, who = divmod(int(once[times.argmax()]), len(names))
        raise ValueError(
            f"`ratings` has {times.max()} ratings of {str(subjects[which])!r} by {names[who]!r}; keep one."
        )
    unit = str(subject) if subject is not None else "subject"
    return _Ratings(rows, raters, values, np.asarray(subjects), names, unit), typed


def _no_names(frame: Any) -> None:
    """Refuse a column that seems to name the rows: other values in each of them, and more than all others have."""
    distinct = {name: set(map(str, frame[name].dropna())) for name in frame.columns}
    for name, own in distinct.items():
        others: set[str] = set().union(*(values for other, values in distinct.items() if other != name))
        if len(own) == len(frame) > max(len(others), _FEW):
            raise ValueError(
                f"column {name!r} has another value in each of {len(own)} rows, as names of subjects have: say "
                f"subject={name!r} (--subject), or give such ratings as a long table."
            )


def _frame(ratings: Any) -> tuple[Any, bool]:
    """Return a data frame of pandas, and whether its values have types already."""
    import pandas as pd

    if isinstance(ratings, xr.DataArray):
        ratings = ratings.to_pandas()
    if isinstance(ratings, Mapping):
        columns = {name: list(values) for name, values in ratings.items()}
        if len(lengths := {len(values) for values in columns.values()}) > 1:
            raise ValueError(
                f"`ratings` needs as many ratings of each rater (None where one lacks); got {some(sorted(lengths))}."
            )
        return pd.DataFrame(columns, dtype=object), True
    if hasattr(ratings, "columns") or isinstance(ratings, str | PathLike):
        table = read_table(ratings, {})
        made = table.frame
        return made if isinstance(made, pd.DataFrame) else made.to_pandas(), table.source is None
    array = np.asarray(ratings, object)
    if array.ndim != 2:
        raise ValueError(f"`ratings` must have a row per subject and a column per rater; got shape {array.shape}.")
    return pd.DataFrame(array, columns=[f"rater_{i + 1}" for i in range(array.shape[1])]), True


def _ordered(given: _Ratings, typed: bool, labels: Any, pos_label: Any) -> tuple[NDArray[Any], _Ratings]:
    """Return the labels in order, and the ratings as places among them."""
    values = given.value
    if not typed:
        written = [str(value) for value in [*values, *(labels or ()), *([] if pos_label is None else [pos_label])]]
        meant = dict(zip(written, texts.labels(written)[0].tolist(), strict=True))
        values = np.array([meant[str(value)] for value in values])
        labels = None if labels is None else [meant[str(label)] for label in labels]
        pos_label = None if pos_label is None else meant[str(pos_label)]
    (values,), order = class_order({"ratings": label_array("ratings", values)}, labels, pos_label)
    steps = np.diff(order) if order.dtype.kind in "iu" and len(order) > 2 else np.ones(1)
    if (steps != steps[0]).any():
        validate.warn(
            f"`ratings` has the labels {some(order.tolist())}, which aren't evenly spaced; weighted coefficients take "
            "them so. Name those in between that nobody gave in `labels`, too."
        )
    return order, given._replace(value=codes(values, order, np.argsort(order)))


def _of_two(given: _Ratings, k: int) -> NDArray[Any]:
    """Return the pair (subject, K, K) of every subject that both rated."""
    answers = _answers(given)
    both = (answers >= 0).all(1)
    counts = np.zeros((len(answers), k, k), np.int64)
    counts[np.flatnonzero(both), answers[both, 0], answers[both, 1]] = 1
    return counts


def _of_many(given: _Ratings, k: int, average: str) -> NDArray[np.float64]:
    """Return the coincidences (subject, K, K) of ratings, half of Krippendorff's, which go both ways."""
    each = np.zeros((len(given.subjects), k))
    np.add.at(each, (given.subject, given.value), 1.0)
    m = each.sum(1)
    pairs = each[:, :, None] * each[:, None, :]
    pairs[:, np.arange(k), np.arange(k)] -= each
    weight = 1.0 if average == "subjects" else 0.5 * m
    return np.asarray(pairs * (weight / np.maximum(m * (m - 1.0), 1.0))[:, None, None])


def _answers(given: _Ratings) -> NDArray[np.intp]:
    """Return the table (subject, rater) of ratings, -1 where there is none."""
    table = np.full((len(given.subjects), len(given.raters)), -1)
    table[given.subject, given.rater] = given.value
    return table


def _of_judge(given: _Ratings, judge: str) -> xr.Dataset:
    """Return for every subject and annotator whether the judge, and whether the annotator, is as near to the others."""
    if judge not in given.raters:
        raise ValueError(f"`judge` must be one of the raters, {some(given.raters)}; got {judge!r}.")
    others = [name for name in given.raters if name != judge]
    if len(others) < 3:
        raise ValueError(f"`judge` is held against three annotators at least, with two others each; got {others}.")
    answers = _answers(given)
    its, people = answers[:, given.raters.index(judge)], np.delete(answers, given.raters.index(judge), 1)
    rows = []
    for place in range(len(others)):
        own, rest = people[:, place], np.delete(people, place, 1)
        near, nearer = (((one[:, None] == rest) & (rest >= 0)).sum(1) for one in (own, its))
        which = np.flatnonzero((its >= 0) & (own >= 0) & (rest >= 0).any(1))
        rows.append(
            np.stack([which, np.full(len(which), place), nearer[which] >= near[which], near[which] >= nearer[which]])
        )
    which, place, as_good, as_near = np.concatenate(rows, 1)
    if not len(which):
        raise ValueError("`ratings` has no subject that the judge and two annotators rated.")
    kept = right_answers({judge: as_good, ANNOTATORS: as_near})
    kept = kept.assign_coords({ANNOTATOR: (ITEM, np.array(others)[place])})
    return with_units(kept, given.unit, given.subjects[which])
