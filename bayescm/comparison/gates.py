"""gate(): whether a new system is good enough to take the place of the old one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayescm.comparison import area_gates, inputs, report
from bayescm.comparison.evidence import read as read_systems
from bayescm.comparison.posteriors import Posteriors, SameItems
from bayescm.comparison.rules import Rule, rules_of
from bayescm.data import validate
from bayescm.data.assumptions import OWN_ITEMS, SAME_ITEMS
from bayescm.data.logged import TASK
from bayescm.data.reading import read as read_data
from bayescm.data.recognisers import BOARD
from bayescm.data.schema import (
    ACTUAL,
    ASKS,
    CI_BOUND,
    ITEM,
    LABEL,
    MEAN_SCORE,
    METRIC,
    PREDICTED,
    RUN,
    SYSTEM,
    UNIT,
    attributes,
    interval_coordinate,
)
from bayescm.data.shapes import is_list, is_scored
from bayescm.data.units import independent, plural
from bayescm.inference.claims import of_posterior, read_claim
from bayescm.inference.read import read as read_posterior
from bayescm.inference.summaries import of_posterior as summarised
from bayescm.metrics import MetricsLike, resolve
from bayescm.models.same_items import answered_together
from bayescm.results.gates import CHECK
from bayescm.results.objects import stamped

ALL, NEW, OLD = "all", "new", "old"
_DRAWS, _IN_TAIL = (10_000, 100_000), 200
"""Least and most draws, and how many lie beyond either end of an interval."""

Checks = list[dict[str, Any]]


@stamped
def gate(
    new: Any,
    old: Any = None,
    metrics: MetricsLike = None,
    *,
    margin: float | None = None,
    rope: float = 0.0,
    require: str | Sequence[str] | None = None,
    by: str | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    undecided: Literal["pass", "fail"] | None = None,
    ci_prob: float = 0.95,
    random_seed: int | None = None,
    **reading: Any,
) -> xr.Dataset:
    """Say whether a new system may take the place of the old one: better, not worse, worse, or undecided.

    Parameters
    ----------
    new, old : path, array_like, (k, n), xarray.DataArray or xarray.Dataset
        Answers of either system, in anything that :func:`bayescm.read` takes: logs, tables with a row per item, 0 and
        1, k right of n, counts. The same items are compared item by item, by their names. Both may be in `new`, which
        then has two systems of which `reference` is the old one (or ``{"new": ..., "old": ...}``), or in `old` where
        `new` is the truth. Without an old system there are only `require`.
    metrics
        As in :func:`bayescm.summary`. Default: accuracy, of scores from 0 to 1 their mean. Or "auc" and
        "average_precision" of a classifier's scores: tables with the columns ``actual`` and ``score``, a row per item;
        floors are written "auc >= .8".
    margin : float, optional
        By how much the new system may be worse, in the unit of the metric: then it must be shown not to be worse by
        more. Without it only what is shown to be worse fails.
    rope : float
        Differences from -`rope` to `rope` are neither better nor worse.
    require : str or sequence of str, optional
        Floors that the new system must be shown to keep, such as ``"accuracy >= .9"``, as in
        :func:`bayescm.probability`.
    by : str, optional
        The column of tasks ("task" where the data have tasks), each of which is asked besides all items together. They
        have no margin of their own but by `rules`: a task fails where it is shown to be worse.
    rules : mapping of str to mapping, optional
        `margin`, `rope`, `require` and `metrics` of a task by its name, ``"*"`` of all that aren't named.
    undecided : {"pass", "fail"}, optional
        What an undecided check does. By default it fails where a margin or a floor asks for proof, else it passes.
    ci_prob : float
        With this probability all verdicts on differences hold at once, all on margins, and each on a floor.
    random_seed : int, optional
        Of the draws. Always the same where it isn't said: the same files get the same verdict.
    **reading
        `unit`, `columns`, `pos_label` and `missing` as in :func:`bayescm.read`, and `reference`.

    Returns
    -------
    xarray.Dataset
        Over ``check``, one question each, with ``task``, ``metric`` and ``rule`` (in words): ``new`` and ``old``
        (values of the items tested), ``point`` (of the difference, of a floor the value), ``mean``, ``sd``,
        ``interval``, ``probability`` (of the rule), ``n_items``, ``more`` (items more of which would decide, four times
        in five; NaN where it is decided or none would), ``passes`` and ``verdict``: "better", "not worse", "worse",
        "undecided", of floors "met", "missed", "undecided". The attrs ``verdict`` and ``passed`` (1, 0) are those of
        all. Of answers item by item ``share(system, item)``: which share of an item's runs was right.

    Raises
    ------
    ValueError
        If nothing is asked, the systems have no item in common, or a task of `rules` isn't there.

    Notes
    -----
    In this order: "better" where the interval of new - old lies above the rope, "not worse" where P(new - old >
    -margin) is at least the level, "worse" where the interval lies below the rope, else "undecided". Of m differences
    each interval has the probability ``ci_prob ** (1 / m)`` (Sidak): two equal systems get a false verdict on any task
    in at most 1 - `ci_prob` of the tests. The posteriors are those of :func:`bayescm.compare_systems`: exact for
    proportions of the same items, with one prior item for either system; by units where there are some.

    Undecided passes without a margin and fails with one, since who sets a margin asks for proof.

    References
    ----------
    Sidak 1967, JASA 62; Bonett and Price 2012, Journal of Educational and Behavioral Statistics 37; Piaggio et
    al. 2012, JAMA 308 (non-inferiority).

    Examples
    --------
    >>> import bayescm
    >>> old, new = [1] * 85 + [0] * 15, [1] * 92 + [0] * 8
    >>> found = bayescm.gate(new, old, margin=0.02)
    >>> found.attrs["verdict"], found.attrs["passed"], float(found.probability.round(3)[0])
    ('better', 1, 1.0)
    >>> bayescm.gate(new, require="accuracy >= .9").attrs["verdict"]
    'undecided'
    """
    validate.number("ci_prob", ci_prob, 0, 1)
    if undecided is not None:
        validate.choice("undecided", undecided, ("pass", "fail"))
    seed = 0 if random_seed is None else validate.seed(random_seed)
    rule = Rule.of(metrics, margin, rope, require)
    areas = area_gates.are_asked(rule)
    data = _sides(new, old, by, reading, areas)
    systems = _systems(data, reading.get("reference"))
    tasks = _tasks(data, by)
    if metrics is None:
        rule = replace(rule, metrics=("auc" if areas else MEAN_SCORE if is_scored(data) else "accuracy",))
    asked = rules_of(rule, rules, list(tasks)[1:])
    if not any(rule.floors or (rule.metrics and len(systems) > 1) for rule in asked.values()):
        raise ValueError(
            "Nothing is asked: give an old system (OLD), or floors by `require` (--min-accuracy, --require)."
        )
    area_gates.are_asked(*asked.values())
    numbers = [(_entries(data, rule), rule.margin is not None) for rule in asked.values()]
    each, sure = (
        ci_prob ** (1.0 / max(n, 1)) for n in (sum(n for n, _ in numbers), sum(n for n, margin in numbers if margin))
    )
    checks: Checks = []
    for task, rule in asked.items():
        part = tasks[task]
        n = int(np.clip(_IN_TAIL / (1.0 - each) * 2.0, *_DRAWS)) // 4
        compare, keep = (area_gates.differences, area_gates.floor) if areas else (_differences, _floor)
        if len(systems) > 1 and rule.metrics:
            checks += compare(part, systems, task, rule, each, sure, n, seed)
        checks += [keep(part, systems[0], task, claim, ci_prob, n, seed) for claim in rule.floors]
    for one in checks:
        lets = math.isnan(one["margin"]) if undecided is None else undecided == "pass"
        one["passes"] = one["verdict"] not in ("worse", "missed") and (one["verdict"] != "undecided" or lets)
    made = _dataset(checks, ci_prob)
    by_item = answered_together(data)
    if by_item:
        made["share"] = _shares(data, systems)
    verdict, passed = _of_all(checks), all(one["passes"] for one in checks)
    asks = {ASKS: data.attrs[ASKS]} if data.attrs.get(ASKS) else {}
    if len(systems) > 1 and not (by_item or areas):
        asks[ASKS] = "of the same items, answers item by item would tell more: easy and hard ones cancel"
    unit = str(data.attrs.get(UNIT, ""))
    same = (by_item or areas) and len(systems) > 1
    items = independent(plural(unit or ITEM))
    about = [items, *([SAME_ITEMS if same else OWN_ITEMS] if len(systems) > 1 else [])]
    return made.assign_attrs(
        attributes(
            verdict=verdict, passed=int(passed), checks=len(checks), ci_prob=ci_prob, ci_prob_each=each,
            ci_prob_margin=sure, new=systems[0], old=systems[-1] if len(systems) > 1 else "", random_seed=seed,
            assumptions="; ".join([*about, "uncertainty of the test set only, not of training"]), **asks,
        )
    )  # fmt: skip


def _sides(new: Any, old: Any, by: str | None, reading: Mapping[str, Any], areas: bool) -> Any:
    """Return the answers, the counts or, for areas, the scores of both systems."""
    options = {name: value for name, value in reading.items() if value is not None and name != "reference"}
    columns = dict(options.pop("columns", None) or {})
    if unknown := set(options) - {"unit", "pos_label", "missing", "labels"}:
        raise TypeError(f"gate() got an unexpected argument {sorted(unknown)[0]!r}.")
    if by not in (None, TASK):
        columns["by"] = by
    if old is None and isinstance(new, Mapping) and set(new) == {NEW, OLD}:
        new, old = new[NEW], new[OLD]
    given = {NEW: new} if old is None else {NEW: new, OLD: old}
    if areas:
        return area_gates.sides(given, columns, options)
    for name, one in given.items():
        if isinstance(one, tuple) and len(one) == 2 and not 0 <= one[0] <= one[1] > 1:
            raise ValueError(f"`{name}` as k right of n must be two whole numbers, k at most n; got {one!r}.")
    truth = isinstance(old, Mapping) and is_list(new) and all(map(is_list, old.values()))
    if truth or (old is None and (hasattr(new, "dims") or reading.get("reference") is not None)):
        return read_data(new, old, about=BOARD, columns=columns or None, **options).data
    if all(hasattr(one, "data") and not hasattr(one, "dims") for one in given.values()):
        given = {name: one.data for name, one in given.items()}
    return read_data(given, about=BOARD, columns=columns or None, **options).data


def _systems(data: Any, reference: str | None) -> list[Any]:
    """Return the names of the new and, if there is one, of the old system."""
    if SYSTEM not in getattr(data, "dims", ()):
        raise ValueError("`new` must be answers or counts of systems; see bayescm.read.")
    names = data[SYSTEM].values.tolist() if SYSTEM in data.coords else list(range(data.sizes[SYSTEM]))
    if reference is not None and reference not in names:
        raise ValueError(f"`reference` must be one of the systems {', '.join(map(str, names))}; got {reference!r}.")
    if len(names) == 1:
        return names
    reference = OLD if reference is None and {*names} == {NEW, OLD} else reference
    others = [name for name in names if name != reference]
    if reference is None or len(others) != 1:
        raise ValueError(
            f"`new` has the systems {', '.join(map(str, names))}; a gate compares two: leave the others out, and say "
            "which is the old one by `reference` (--reference)."
        )
    return [others[0], reference]


def _tasks(data: Any, by: str | None) -> dict[str, Any]:
    """Return the data of all items, and by task."""
    if by is None:
        return {ALL: data}
    if not isinstance(data, xr.Dataset) or TASK not in data.coords:
        raise ValueError(f"`by` needs answers item by item with a column {by!r}, or logs of several tasks.")
    of = data[TASK].values
    names = list(dict.fromkeys(of.tolist()))
    if ALL in names:
        raise ValueError(f"`by`: a task can't be called {ALL!r}, which is what all together are called.")
    return {ALL: data} | ({name: data.isel({ITEM: np.flatnonzero(of == name)}) for name in names} if names[1:] else {})


def _entries(data: Any, rule: Rule) -> int:
    """Return how many numbers a rule compares: of several classes some metrics have one for each."""
    if area_gates.are_asked(rule):
        return len(rule.metrics)
    labels = data[LABEL].values.tolist() if LABEL in data.coords else [0, 1]
    labels = data[ACTUAL].values.tolist() if isinstance(data, xr.DataArray) else labels
    return len(inputs.entries_of(resolve(list(rule.metrics), len(labels)), labels)) if rule.metrics else 0


def _differences(
    data: Any, systems: Sequence[Any], task: str, rule: Rule, each: float, sure: float, n: int, seed: int
) -> Checks:
    """Compare the two systems, in every metric."""
    pair = data.sel({SYSTEM: list(systems)}) if SYSTEM in data.coords else data
    design = None if answered_together(data) else "independent"
    evidence = read_systems(pair, "data", design, chains=4, draws=4 * n, random_seed=seed)
    compared = inputs.compared(evidence, None, list(rule.metrics))
    kind = Posteriors if compared.answers is None else SameItems
    posteriors = kind(compared, 4, n, seed)
    if compared.answers is not None and all(one for (one,) in posteriors.contrasts(compared.entries)):
        posteriors = kind(compared, 4, 100, seed)  # all is exact: draws are for nothing
    question = report.Question(rule.margin or 0.0, each, "eti", each)
    found = report.summary(posteriors, report.differences(posteriors), question).isel(comparison=0)
    size = _size(pair)
    rows = []
    for i, entry in enumerate(compared.entries):
        one = found.isel({METRIC: i})
        sign = -1.0 if entry.metric.loss else 1.0
        lower, upper = sorted(sign * one["interval"].values)
        chances = {str(side): float(one["probability"].sel(side=side)) for side in one["side"].values}
        at_margin = 1.0 - chances["worse"]
        mean, sd = sign * float(one["mean"]), float(one["sd"])
        values = posteriors.points[entry.metric.name]
        values = values if entry.place is None else values[:, entry.place]
        rows.append({
            TASK: task, METRIC: entry.name, "rule": _words(entry, rule), NEW: float(values[0]), OLD: float(values[1]),
            "point": float(one["point"]), "mean": float(one["mean"]), "sd": sd, "interval": one["interval"].values,
            "probability": chances["better"] if rule.margin is None else at_margin, "n_items": size,
            **rule.verdict(lower, upper, at_margin, (each, sure), (mean, sd, size)),
            "method": str(one["method"].item()), "margin": math.nan if rule.margin is None else rule.margin,
        })  # fmt: skip
    return rows


def _words(entry: inputs.Entry, rule: Rule) -> str:
    """Return what is asked of a difference."""
    sign, way = ("<", "+") if entry.metric.loss else (">", "-")
    return f"{entry.name} {sign} old" + (f" {way} {rule.margin:g}" if rule.margin else "")


def _floor(data: Any, system: Any, task: str, claim: str, ci_prob: float, n: int, seed: int) -> dict[str, Any]:
    """Ask the new system for a floor."""
    one = data.sel({SYSTEM: [system]}) if SYSTEM in data.coords else data
    posterior = read_posterior(one, random_seed=seed)
    asked = of_posterior(posterior, claim, "require", {})
    chance = float(asked["probability"].values.ravel()[0])
    parts = read_claim(claim, len(list(posterior.labels)))
    found: dict[str, Any] = dict.fromkeys(("point", "mean", "sd"), math.nan) | {"interval": [math.nan] * 2}
    size, gap = _size(one), math.nan
    if len(parts) == 1:
        ((metric, _, value),) = parts
        told = summarised(posterior, metric.name, ci_prob, "eti", {}).isel({SYSTEM: 0, METRIC: 0})
        found = {name: float(told[name]) for name in ("point", "mean", "sd")} | {"interval": told["interval"].values}
        gap = found["mean"] - value
    return {
        TASK: task, METRIC: parts[0][0].name, "rule": claim, NEW: found["point"], OLD: math.nan, "probability": chance,
        "n_items": size, "method": str(asked["method"].values.ravel()[0]), "margin": 0.0, **found,
        **Rule.kept(chance, ci_prob, (gap, found["sd"], size)),
    }  # fmt: skip


def _size(data: Any) -> int:
    """Return the number of items, of systems with items of their own that of the smaller test."""
    if ITEM in data.dims:
        return int(data.sizes[ITEM])
    counts = data["correct"] + data["wrong"] if isinstance(data, xr.Dataset) else data.sum([ACTUAL, PREDICTED])
    return int(counts.min())


def _of_all(checks: Checks) -> str:
    """Return the verdict on all checks: the worst; tasks that are undecided, and have no margin, don't count."""
    verdicts = [one["verdict"] for one in checks]
    for bad in ("worse", "missed"):
        if bad in verdicts:
            return bad
    asked = [one for one in checks if one[TASK] == ALL or not math.isnan(one["margin"])]
    if any(one["verdict"] == "undecided" for one in asked):
        return "undecided"
    compared = [one["verdict"] for one in asked if not math.isnan(one[OLD])]
    return "met" if not compared else "better" if set(compared) == {"better"} else "not worse"


def _dataset(checks: Checks, ci_prob: float) -> xr.Dataset:
    """Put the checks into one table."""
    numbers = (NEW, OLD, "point", "mean", "sd", "probability", "more")
    made = xr.Dataset({name: (CHECK, np.array([one[name] for one in checks], np.float64)) for name in numbers})
    made["interval"] = (CHECK, CI_BOUND), np.array([one["interval"] for one in checks], np.float64)
    made["n_items"] = CHECK, np.array([one["n_items"] for one in checks], np.int64)
    made["passes"] = CHECK, np.array([one["passes"] for one in checks], bool)
    words = {name: (CHECK, [str(one[name]) for one in checks]) for name in (TASK, METRIC, "rule", "verdict", "method")}
    several = len({one[TASK] for one in checks}) > 1
    names = [f"{one[TASK]}: {one['rule']}" if several else one["rule"] for one in checks]
    validate.unique("require", names)
    return made.assign(words).assign_coords({CHECK: names, CI_BOUND: interval_coordinate(ci_prob, "eti")})


def _shares(data: xr.Dataset, systems: Sequence[Any]) -> xr.DataArray:
    """Return which share of its runs each system got right, item by item."""
    right = data[PREDICTED] if is_scored(data) else data[PREDICTED] == data[ACTUAL]
    right = right.sel({SYSTEM: list(systems)})
    share = right.mean(RUN) if RUN in right.dims else right.astype(np.float64)
    share = (
        share if ITEM in share.coords else share.assign_coords({ITEM: [str(i + 1) for i in range(share.sizes[ITEM])]})
    )
    kept: xr.DataArray = share.transpose(SYSTEM, ITEM).reset_coords(drop=True)
    return kept.assign_attrs(long_name="Share of an item's runs that were right", units="1")
