"""readers(): several readers who all read the same cases, with one system or more."""

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import stats

from bayescm.comparison.reader_tests import COVARIANCES, METRICS, SAMPLED, Study, covariance, power, two_sided, weighted
from bayescm.curves.weighted import parts
from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.labels import Label
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.readings import CASE, READER, SCORE, Readings, readings
from bayescm.data.schema import ACTUAL, CI_BOUND, PREDICTED, SYSTEM, VERSUS, attributes, interval_coordinate
from bayescm.data.units import FEW
from bayescm.data.words import Direction
from bayescm.results.names import CARRIED_BY
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

_FEW = 5  # readers, below which their variance is hardly known
_ITEMS = "independent readers and independent items of each class, each of one population"
_LONG_NAMES = {
    "value": "Of every reader with every system",
    "point": "Mean over readers, or the difference of two of these",
    "se": "Standard error by Obuchowski and Rockette",
    "df": "Degrees of freedom by Hillis; infinite where readers are fixed",
    "interval": "Interval by Obuchowski and Rockette",
    "p_value": "Two-sided p-value of no difference",
    "credible": "Equal-tailed interval of the posterior, where readers and cases weigh at random",
    "probability_positive": "Posterior probability that a difference is above 0",
    "f": "F of no difference between all systems",
    "f_df": "Its denominator degrees of freedom",
    "f_p_value": "Its p-value",
    "component": "Error variance and covariances as cases are sampled",
    "mean_square": "Mean squares of systems, readers and both",
    "covariance": "Covariance as cases are sampled",
    "reader_difference": "Difference of two systems by reader",
    "reader_se": "Its standard error as cases are sampled",
    "power": "Chance that the F test finds a difference of that size",
}


@stamped
def readers(
    data: Any,
    y_score: Any = None,
    metric: Literal["auc", "accuracy", "recall", "specificity"] | None = None,
    *,
    actual: str | None = None,
    score: str | None = None,
    predicted: str | None = None,
    reader: str | None = None,
    case: str | None = None,
    system: str | None = None,
    covariances: Literal["delong", "jackknife", "bootstrap"] = "delong",
    difference: float | None = None,
    n_readers: Sequence[int] = (4, 6, 8, 10, 15, 20),
    n_cases: Sequence[int] = (50, 100, 200, 400),
    ci_prob: float = 0.95,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    direction: Direction = "larger",
) -> xr.Dataset:
    """Compare systems by what several readers say of the same cases (multi-reader multi-case studies).

    Parameters
    ----------
    data : data frame, xarray.Dataset, path or array_like of shape (n,)
        A table with a row for each reading: the actual label of the case, the score or the call, the reader, the case
        and, where there are several, the system (modality). Or the actual labels of cases, with `y_score`.
    y_score : mapping of mappings, or xarray.DataArray, optional
        ``{"CT": {"reader 1": scores, ...}, ...}``, a data frame of readers for each system too; or an array over
        ``system``, ``reader`` and ``item``. NaN where a reader didn't read a case.
    metric : {"auc", "accuracy", "recall", "specificity"}, optional
        Of each reader: the area under the ROC curve of scores, or a rate of calls. Default: "auc", of calls "accuracy".
    actual, score, predicted, reader, case, system : str, optional
        Names of columns. Default: the usual ones, such as truth, rating, call, rater, patient, modality.
    covariances : {"delong", "jackknife", "bootstrap"}
        How readers' metrics vary together as cases are sampled. "delong": by what each case adds, of rates the usual
        unbiased covariance; "jackknife": by leaving cases out, which makes the tests those of Dorfman, Berbaum and Metz
        (with the degrees of freedom of Hillis); "bootstrap": by resampling the cases of each class.
    difference : float, optional
        Of two systems: the power to find it with other numbers of readers and cases, where this study is the pilot.
    n_readers, n_cases : sequence of int
        These numbers. Cases keep the pilot's share of positive ones.
    ci_prob : float
        Level of intervals; 1 - `ci_prob` is that of the test of which the power is said.
    draws : int
        Of the posterior, and of the bootstrap.
    random_seed : int, numpy.random.Generator or None
    labels, pos_label, direction
        As in :func:`bayescm.auc`.

    Returns
    -------
    xarray.Dataset
        Over ``estimate``, each system and then each difference of two (a name such as ``"CT - MR"``), and ``sampled``,
        to what it generalises ("readers and cases", "cases": these readers, "readers": these cases): ``point``
        (the mean over readers), ``se``, ``df``, ``interval`` and, of differences, ``p_value`` by Obuchowski and
        Rockette; ``credible``, the interval of the posterior, and ``probability_positive``. Of all systems at once
        ``f``, ``f_df``, ``f_p_value``. ``value(system, reader)``; ``component`` (error variance, cov1: one reader with
        two systems, cov2: two readers with one, cov3: two with two) and ``mean_square``; ``covariance`` of all values;
        ``reader_difference`` and ``reader_se``. With `difference` ``power(n_readers, n_cases)``.

    Raises
    ------
    ValueError
        If a reading stands there twice, a reader didn't read with all systems, or read fewer than two cases of a class.

    Notes
    -----
    Obuchowski and Rockette's model of a metric is mean + system + reader + both + error, whose errors are correlated
    by cases that were read twice. Where readers and cases were sampled, F = MS(systems) / (MS(both) + r max(cov2 -
    cov3, 0)) with the degrees of freedom of Hillis (2007); of fixed readers the denominator is error - cov1 + (r - 1)
    (cov2 - cov3), with infinitely many; of fixed cases MS(both). Readings without a
    case in common have the covariance 0: the same formulas serve split plots.

    The posterior lets readers and cases weigh at random, each by a standard exponential, the weights of a reading
    multiplied: no normal distribution, and nothing of a prior. Of fixed cases there is none: a few readers' weights
    alone say too much.

    References
    ----------
    Obuchowski and Rockette 1995, Communications in Statistics 24; Dorfman, Berbaum and Metz 1992, Investigative
    Radiology 27; Hillis 2007, Statistics in Medicine 26; Hillis, Obuchowski and Berbaum 2011, Academic Radiology 18.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.readers(bayescm.datasets.van_dyke1993(), random_seed=1)
    >>> both = found.sel(estimate="1 - 2", sampled="readers and cases")
    >>> round(float(both.point), 4), round(float(both.p_value), 4), round(float(both.df), 2)
    (-0.0438, 0.0512, 15.07)
    """
    if metric is not None:
        validate.choice("metric", metric, METRICS)
    validate.choice("covariances", covariances, COVARIANCES)
    level, seed, n = validate.number("ci_prob", ci_prob, 0, 1), validate.seed(random_seed), validate.draws(draws)
    said = {ACTUAL: actual, SCORE: score, PREDICTED: predicted, READER: reader, CASE: case, SYSTEM: system}
    read = readings(data, y_score, said, None if metric is None else METRICS[metric], labels, pos_label, direction)
    metric = ("accuracy" if read.calls else "auc") if metric is None else metric
    _enough(read, metric)
    t, r, n_items = read.value.shape
    cov = covariance(read, metric, covariances, n, seed).reshape(t, r, t, r)
    value = weighted(read, metric, np.ones((1, n_items)))[0]
    study, posterior = Study(value, cov), _posterior(read, metric, n, seed)
    names = [*map(str, read.systems), *(f"{a} - {b}" for a, b in itertools.combinations(map(str, read.systems), 2))]
    pairs = list(itertools.combinations(range(t), 2))
    found = xr.concat([_estimates(study, posterior[name], name, pairs, level) for name in SAMPLED], "sampled")
    found = found.assign(_of_all(study, pairs)).assign_coords({
        "estimate": names, "comparison": names[t:], "sampled": list(SAMPLED),
        SYSTEM: read.systems, VERSUS: read.systems, READER: read.readers, "versus_reader": read.readers,
        CI_BOUND: interval_coordinate(level, "confidence"),
    })  # fmt: skip
    settings: dict[str, Any] = {}
    if difference is not None:
        found = found.assign(power=_power(study, difference, n_readers, n_cases, n_items, level))
        settings["difference"] = difference
    for variable in found.data_vars:
        found[variable].attrs = {"long_name": _LONG_NAMES[str(variable)], "units": "1"}
    if notes := _notes(read, study, cov):
        settings[CARRIED_BY] = "; ".join(notes)
    apart = () if read.read.all() else ("who reads which case depends on neither",)
    return found.transpose("estimate", "sampled", ...).assign_attrs(attributes(
        metric=metric, method=f"obuchowski_rockette, {covariances}", readers=r, cases=int(read.positive.sum()),
        controls=int((~read.positive).sum()), ci_prob=level, draws=n, random_seed=seed, direction=direction,
        labels=read.labels.tolist(), assumptions=assumed(None, *apart, items=_ITEMS), **settings,
    ))  # fmt: skip


def _enough(read: Readings, metric: str) -> None:
    """Refuse what shows no variance: readers with fewer than two cases of a class that the metric is of."""
    kinds = {"accuracy": [np.ones_like(read.positive)], "recall": [read.positive], "specificity": [~read.positive]}
    for kind in kinds.get(metric, [read.positive, ~read.positive]):
        if (few := read.read[..., kind].sum(-1) < 2).any():
            i, j = np.argwhere(few)[0]
            what = "cases" if metric == "accuracy" else f"cases of class {read.labels[int(kind is read.positive)]!s}"
            raise ValueError(
                f"every reader must have read two {what}; {read.readers[j]!s} with {read.systems[i]!s} didn't."
            )


def _posterior(read: Readings, metric: str, n: int, seed: int) -> dict[str, Array]:
    """Return draws (n, systems) of the mean over readers, by what was sampled; NaN where readers alone were.

    Of a few readers weights alone say too much: where all of five are better with one system, so is every draw.
    """
    rng, r, size = matrix_rng(seed, 1, Stream.READERS), len(read.readers), len(read.positive)
    each = np.concatenate([weighted(read, metric, rng.standard_exponential((m, size))) for m in parts(n, size)])
    weights = rng.standard_exponential((n, 1, r))
    whole = (each * weights).sum(-1) / weights.sum(-1)
    unknown = np.full_like(whole, np.nan)
    return dict(zip(SAMPLED, (whole if r > 1 else unknown, each.mean(-1), unknown), strict=True))


def _estimates(study: Study, drawn: Array, sampled: str, pairs: list[tuple[int, int]], level: float) -> xr.Dataset:
    """Return means of systems and their differences, by one choice of what was sampled."""
    t, r = study.size
    means = study.value.mean(1)
    alone = [study.of_system(i).error(sampled) for i in range(t)]
    square, df = study.error(sampled) if t > 1 else (np.nan, np.nan)
    first, second = np.array(pairs, int).reshape(-1, 2).T
    point = np.concatenate([means, means[first] - means[second]])
    squares = np.append([one / r for one, _ in alone], np.full(len(pairs), 2.0 * square / r))
    se = np.sqrt(np.where(squares > 0.0, squares, np.nan))  # no variance seen is not certainty
    dfs = np.append([one for _, one in alone], np.full(len(pairs), df))
    reach = stats.t.isf((1.0 - level) / 2.0, dfs) * se
    ends = np.stack([point - reach, point + reach], -1)
    ends[:t] = np.clip(ends[:t], 0.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.array([np.nan] * t + [two_sided(d, df) for d in point[t:] / se[t:]])
        f = float(np.divide(study.squares[0], square))
    shown = np.concatenate([drawn, drawn[:, first] - drawn[:, second]], 1)
    tails = np.quantile(shown, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0).T
    above = np.where(np.isnan(tails[:, 0]), np.nan, (shown > 0).mean(0) + (shown == 0).mean(0) / 2.0)
    above[:t] = np.nan
    return xr.Dataset({
        "point": ("estimate", point), "se": ("estimate", se), "df": ("estimate", dfs), "p_value": ("estimate", p),
        "interval": (("estimate", CI_BOUND), ends), "credible": (("estimate", CI_BOUND), tails),
        "probability_positive": ("estimate", above),
        "f": f, "f_df": df, "f_p_value": float(stats.f.sf(f, t - 1, df)) if np.isfinite(df) else
        float(stats.chi2.sf(f * (t - 1), t - 1)) if t > 1 else np.nan,
    })  # fmt: skip


def _of_all(study: Study, pairs: list[tuple[int, int]]) -> dict[str, Any]:
    """Return what doesn't depend on what was sampled."""
    first, second = np.array(pairs, int).reshape(-1, 2).T
    own = np.einsum("ijkj->ikj", study.covariance)
    spread = own[first, first] + own[second, second] - 2.0 * own[first, second]
    return {
        "value": ((SYSTEM, READER), study.value),
        "component": xr.DataArray(list(study.components), coords={"of": ["error", "cov1", "cov2", "cov3"]}, dims="of"),
        "mean_square": xr.DataArray(
            list(study.squares), coords={"source": ["system", "reader", "system x reader"]}, dims="source"
        ),
        "covariance": ((SYSTEM, READER, VERSUS, "versus_reader"), study.covariance),
        "reader_difference": (("comparison", READER), study.value[first] - study.value[second]),
        "reader_se": (("comparison", READER), np.sqrt(np.maximum(spread, 0.0))),
    }


def _power(
    study: Study, difference: float, n_readers: Sequence[int], n_cases: Sequence[int], pilot: int, level: float
) -> xr.DataArray:
    """Return the power to find a difference."""
    if min(study.size) < 2:
        raise ValueError("`difference` needs a pilot of two systems and two readers.")
    size = validate.number("difference", difference, -1, 1)
    numbers = {
        name: np.array([validate.positive_integer(name, one) for one in validate.listed(name, given)])
        for name, given in (("n_readers", n_readers), ("n_cases", n_cases))
    }
    if (numbers["n_readers"] < 2).any():
        raise ValueError("`n_readers` must be two or more: one doesn't show how readers vary.")
    found = power(study, size, numbers["n_readers"][:, None].astype(float), numbers["n_cases"] / pilot, 1.0 - level)
    return xr.DataArray(found, coords=numbers, dims=tuple(numbers))


def _notes(read: Readings, study: Study, cov: Array) -> list[str]:
    """Say what little the answer rests on."""
    notes, (t, r) = [], study.size
    if r == 1:
        notes.append("one reader alone doesn't show how readers vary: only 'cases' has an answer")
    elif r < _FEW:
        notes.append(f"{r} readers show little of how readers vary")
    if np.all(np.einsum("ijij->ij", cov) <= 0.0):
        notes.append("these cases show no variance, which is not certainty")
    elif t > 1 and study.error("cases")[0] <= 0.0:
        notes.append("all readers read alike with all systems, so that these cases show no difference")
    if (n := int(min(read.positive.sum(), (~read.positive).sum()))) < FEW:
        notes.append(f"{n} cases of a class are too few for the posterior")
    if not read.read.all():
        shared = (read.read.sum(1) > 1).any()
        notes.append(f"not every reader read every case{'' if shared else ': each case was read by one reader'}")
    return notes
