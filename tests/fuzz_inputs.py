"""Random arguments for :mod:`fuzz`: valid ones, edges, and what nobody should give."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

import bayescm

Maker = Callable[[np.random.Generator], Any]


def pick(*values: Any) -> Maker:
    """Return a maker of one of the values; a value that makes values is asked for one."""

    def make(rng: np.random.Generator) -> Any:
        value = values[rng.integers(len(values))]
        return value(rng) if inspect.isfunction(value) and getattr(value, "maker", True) else value

    return make


def junk(rng: np.random.Generator) -> Any:
    """Return something that hardly any argument wants."""
    values = [
        None, np.nan, np.inf, -np.inf, -1, 0, 1, 2, 0.5, 1e9, 1e12, 1e300, 1e-300, "", "nonsense", "0.5", b"x", True,
        [],
        {}, (), [[]], ["a", "b"], [1, 2, 3], {"a": 1}, {1: 2}, object(), 1j, np.array(3), np.zeros((2, 3)),
        np.zeros((0, 2, 2)), np.array(["a", 1], dtype=object), np.ma.masked_array([1.0, 2.0], [0, 1]), xr.DataArray(3),
        xr.Dataset(), 10**30, -(10**30), range(3), {1, 2}, np.datetime64("2020-01-01"), float, np.float32(0.95),
        np.int8(3), np.bool_(True), "mcc > 0", slice(1),
    ]  # fmt: skip
    return values[rng.integers(len(values))]


def _size(rng: np.random.Generator) -> int:
    return int(
        rng.choice(
            [0, 0, 1, 2, 3, 10, 50, 1000, 10**6, 10**9], p=[0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.15, 0.08, 0.04, 0.03]
        )
    )


def cells_of_two(rng: np.random.Generator) -> dict[str, int]:
    """Return four counts, often with zeros."""
    return {name: _size(rng) for name in ("tp", "fn", "fp", "tn")}


def binary(rng: np.random.Generator) -> Any:
    """Return counts of two labels."""
    found = bayescm.from_cells(**cells_of_two(rng))
    kind = rng.integers(8)
    if kind < 4:
        return found.values.tolist() if kind == 0 else found
    edges = [[[0, 0], [0, 0]], [[5, 0], [0, 5]], [[0, 5], [5, 0]], [[0, 0], [3, 20]], [[9, 1], [0, 0]], [[8, 0], [9,
    0]],
             [[0, 7], [0, 4]], [[1, 0], [0, 0]], [[10**9, 10**9], [10**9, 10**9]], [[0, 0], [0, 10**9]]]  # fmt: skip
    return bayescm.from_array(edges[rng.integers(len(edges))])


def many(rng: np.random.Generator) -> Any:
    """Return counts of three to five labels."""
    k = int(rng.integers(3, 6))
    counts = rng.poisson(rng.choice([0.2, 3, 100]), (k, k)) + np.diag(rng.poisson(5, k))
    if rng.random() < 0.3:
        counts[rng.integers(k)] = 0
    return bayescm.from_array(counts, labels=list("abcde"[:k]) if rng.random() < 0.5 else None)


def batch(rng: np.random.Generator) -> Any:
    """Return a batch of counts of two labels."""
    n = int(rng.integers(1, 4))
    stacked = np.array([np.array(list(cells_of_two(rng).values())).reshape(2, 2) for _ in range(n)])
    return bayescm.from_array(stacked, dims=str(rng.choice(["system", "fold", "chunk", "threshold", "x"])))


def dimmed(dim: str) -> Maker:
    """Return a maker of a batch along one dim."""

    def make(rng: np.random.Generator) -> Any:
        n = int(rng.integers(1, 6))
        cells = [[_size(rng) if rng.random() < 0.2 else int(rng.integers(60)) for _ in range(4)] for _ in range(n)]
        return bayescm.from_array(np.array(cells).reshape(n, 2, 2), dims=dim)

    return make


def bad_counts(rng: np.random.Generator) -> Any:
    """Return what looks like counts and is none."""
    import pandas as pd
    import polars as pl

    values = [
        [[1, 2], [3]], [[1.5, 2], [3, 4]], [[np.nan, 2], [3, 4]], [[np.inf, 2], [3, 4]], [[-1, 2], [3, 4]], [1, 2, 3,
        4],
        [["a", "b"], ["c", "d"]], [["1", "2"], ["3", "4"]], [[1]], [[1, 2, 3], [4, 5, 6]], np.zeros((2, 2, 2, 2), int),
        [[10**12, 1], [1, 1]], [[10**30, 1], [1, 1]], np.ma.masked_array([[1, 2], [3, 4]], [[0, 1], [0, 0]]),
        xr.DataArray([[1, 2], [3, 4]]), xr.DataArray([[1, 2], [3, 4]], dims=("actual", "x")), [[None, 1], [2, 3]],
        xr.DataArray([[1, 2], [3, 4]], dims=("actual", "predicted"), coords={"actual": ["a", "b"]}),
        xr.DataArray([[1, 2], [3, 4]], dims=("actual", "predicted"), coords={"actual": ["a", "a"], "predicted": ["a",
        "a"]}),
        pd.DataFrame([[1, 2], [3, 4]]), pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pl.DataFrame({"a": [1, 2],
        "b": [3, 4]}),
        np.array([[True, False], [False, True]]), np.array([[1, 2], [3, 4]], dtype=np.uint8), np.array([[1j, 2], [3,
        4]]),
        xr.Dataset({"x": 1}), np.empty((0, 2, 2)), np.full((2, 2), 2**63, dtype=np.uint64),
        np.array([[1, 2], [3, 4]], dtype="timedelta64[s]"), xr.DataTree(), np.array([[5, 1], [2, 9]], dtype=np.float32),
    ]  # fmt: skip
    return values[rng.integers(len(values))]


any_counts = pick(binary, binary, binary, binary, many, batch, bad_counts)
two_counts = pick(binary, binary, binary, batch, bad_counts, many)

_ITEMS: dict[str, Any] = {"n": 20}


def truth(rng: np.random.Generator) -> Any:
    """Return actual labels; their number is kept for the other arguments."""
    n = _ITEMS["n"] = int(rng.choice([0, 1, 2, 3, 10, 40, 200], p=[0.03, 0.05, 0.1, 0.1, 0.3, 0.32, 0.1]))
    share = rng.choice([0.0, 0.05, 0.5, 1.0], p=[0.05, 0.2, 0.7, 0.05])
    values = (rng.random(n) < share).astype(int)
    kind = rng.integers(12)
    if kind == 0:
        return np.array(["neg", "pos"])[values].tolist()
    if kind == 1:
        return values.astype(bool)
    if kind == 2:
        return rng.integers(0, 4, n)
    if kind == 3:
        return np.ma.masked_array(values, rng.random(n) < 0.1)
    if kind == 4:
        odd = [np.nan, None, "x", 2.5, -1]
        return [*values.tolist()[:-1], odd[rng.integers(5)]]
    return values.tolist() if kind == 5 else values


def labels_for(rng: np.random.Generator) -> Any:
    """Return predicted labels of as many items."""
    return rng.integers(0, 2, _ITEMS["n"])


def score(rng: np.random.Generator) -> Any:
    """Return scores of about as many items."""
    n = _ITEMS["n"] if rng.random() < 0.95 else int(rng.integers(0, 9))
    kind = rng.integers(10)
    values = rng.normal(size=n)
    if kind == 0:
        return np.round(values)
    if kind == 1:
        return np.zeros(n)
    if kind == 2:
        return np.clip(values, -1.7, 1.7) * 1e308
    if kind == 3:
        return np.where(rng.random(n) < 0.2, rng.choice([np.inf, -np.inf]), values)
    if kind == 4:
        return np.where(rng.random(n) < 0.1, np.nan, values)
    if kind == 5:
        return ["a"] * n
    if kind == 6:
        return rng.random(n)
    if kind == 7:
        return np.ma.masked_array(values, rng.random(n) < 0.1)
    return values.tolist() if kind == 8 else values


def scores(rng: np.random.Generator) -> Any:
    """Return scores of one or several systems."""
    if rng.random() < 0.6:
        return score(rng)
    import pandas as pd

    made = {name: score(rng) for name in ("A", "B")}
    if rng.random() < 0.3:
        try:
            return pd.DataFrame({name: np.asarray(one) for name, one in made.items()})
        except ValueError:
            return made
    return made


def answers(rng: np.random.Generator) -> Any:
    """Return labels that systems gave to as many items."""
    n = _ITEMS["n"] if rng.random() < 0.95 else 3
    names = [["A", "B"], ["A", "B", "C"], ["A"], ["actual", "B"], ["A", "item"], [1, 2]][rng.integers(6)]
    made = {name: rng.integers(0, rng.choice([1, 2, 2, 2, 3]), n) for name in names}
    return list(made.values()) if rng.random() < 0.2 else made


def same_items(rng: np.random.Generator) -> Any:
    """Return answers of systems to the same items, as a table or one by one."""
    n, k = int(rng.choice([1, 2, 5, 30, 300])), int(rng.choice([2, 2, 2, 3]))
    actual = rng.integers(0, k, n)
    actual[: min(k, n)] = np.arange(k)[:n]
    names = "ABC"[: rng.integers(1, 4)]
    preds = {name: np.where(rng.random(n) < 0.8, actual, rng.integers(0, k, n)) for name in names}
    make = bayescm.data.paired_counts if rng.random() < 0.6 else bayescm.predictions
    return make(actual, preds, labels=list(range(k)))


def right_and_wrong(rng: np.random.Generator) -> Any:
    """Return numbers of right and wrong answers."""
    n = int(rng.integers(1, 8))
    right, wrong = ([_size(rng) if rng.random() < 0.2 else int(rng.integers(90)) for _ in range(n)] for _ in "ab")
    if rng.random() < 0.1:
        right[0] = rng.choice([-1, np.nan, 0.5])
    return xr.Dataset({"correct": ("system", right), "wrong": ("system", wrong)})


def thresholds_of(rng: np.random.Generator) -> Any:
    """Return counts at thresholds."""
    n = int(rng.integers(4, 40))
    true = rng.integers(0, 2, n)
    true[:2] = 0, 1
    return bayescm.curves.counts_at_thresholds(true, np.round(rng.random(n), int(rng.integers(1, 4))))


def metric(rng: np.random.Generator) -> Any:
    """Return a metric."""
    names = [*_names()]
    values = [
        "mcc", "f1", "ppv", "fbeta(beta=2)", "fbeta(beta=0)", "fbeta(beta=nan)", "fbeta(2)", "fbeta", "f1_macro",
        "nope", "",
        "recall[0]", lambda tp, fn: tp / (tp + fn), lambda tp, fp, tn: 1.0, lambda x: x, lambda m: m[..., 0, 0], len,
        lambda tp: "a", lambda tp: None, lambda tp, q: tp, bayescm.metrics.expected_cost({"fn": 10, "fp": 1}),
        bayescm.metrics.net_benefit(0.2), "fbeta(beta=1e300)", "f1(", "__class__",
    ]  # fmt: skip
    if rng.random() < 0.75:
        return names[rng.integers(len(names))]
    return values[rng.integers(len(values))]


def metrics(rng: np.random.Generator) -> Any:
    """Return one or several metrics."""
    kind = rng.integers(8)
    if kind < 4:
        return metric(rng)
    if kind == 4:
        return [metric(rng), metric(rng)]
    if kind == 5:
        return {"mine": metric(rng), "yours": "recall"}
    return (
        None if kind == 6 else [[], {}, ["recall", "recall"], "recall,f1", ("mcc",), {"recall": "f1"}][rng.integers(6)]
    )


def _names(found: list[str] = []) -> list[str]:  # noqa: B006
    if not found:
        found += [str(name) for name in bayescm.metrics.available()["name"]]
    return found


claims = pick(
    "mcc > 0",
    "recall > .8 and precision > .7",
    "f1 >= 0.5",
    ["mcc > 0", "accuracy < .9"],
    "recall > 2",
    "recall > nan",
    "recall > .5 and recall < .4",
    "nope > 1",
    "recall",
    "",
    [],
    "recall > .5 or f1 > .2",
    "0.5 < recall",
    "recall == 1",
    "lr+ > 1e9",
    "mcc > -1",
    "accuracy > 1",
    "accuracy > 0",
    "prevalence < .5",
    "recall >> 1",
    "f1_macro > 0.1",
    "mcc>0 and mcc>0",
)
prior = pick(
    "jeffreys",
    "laplace",
    "haldane",
    "legendre",
    "perks",
    "jeffreys_cell",
    "nope",
    0,
    1,
    0.5,
    1e-3,
    0.06,
    30,
    1e6,
    1e12,
    -1,
    np.nan,
    np.inf,
    [[1, 2], [3, 4]],
    [[1, 0], [0, 1]],
    [1, 1],
    (2, 8),
    {"recall": (45, 5)},
    {"recall": (45, 5), "specificity": "laplace", "prevalence": (1, 1)},
    {"recall": (0, 5)},
    {"nope": 1},
    {},
    {"prevalence": (2, 8)},
    bayescm.priors.LogitNormal(1.0, 0.5),
    True,
)
prevalence = pick(
    None,
    None,
    None,
    "fixed",
    0.01,
    0.5,
    0.999,
    0,
    1,
    -0.1,
    2,
    np.nan,
    (2, 8),
    (0, 1),
    (0.5, 0.5),
    (2, 198),
    (np.nan, 1),
    "nope",
    [0.2, 0.3, 0.5],
    [0.5, 0.5, 0.5],
    (1e9, 1e9),
    (1e-3, 1e-3),
    True,
    1e-9,
)
levels = pick(0.95, 0.95, 0.5, 0.999, 0, 1, np.nan, -1, 1.5, "0.95", None, 1e-12, 1 - 1e-12, True, 95)
seed = pick(0, 1, 2**63 - 1, -1, 1.5, "x", None, np.random.default_rng(3), np.int64(7))
model = pick("dirichlet_multinomial", "three_binomial", "three_binomial", "nope", None, 3)


def table(rng: np.random.Generator) -> Any:
    """Return a table of items or counts."""
    import pandas as pd
    import polars as pl

    n = int(rng.integers(1, 20))
    frame = {"actual": rng.integers(0, 2, n), "predicted": rng.integers(0, 2, n), "n": rng.integers(0, 9, n)}
    kind = rng.integers(8)
    if kind == 0:
        frame.pop(list(frame)[rng.integers(3)])
    if kind == 1:
        frame["n"] = np.array([np.nan, -1, 1.5, np.inf, 1e12])[rng.integers(0, 5, n)]
    if kind == 2:
        frame["actual"] = np.array(["a", None, np.nan], dtype=object)[rng.integers(0, 3, n)]
    if kind == 3:
        return {name: list(values) for name, values in frame.items()}
    if kind == 4:
        return [junk(rng)]
    return pl.DataFrame(frame) if kind == 5 else pd.DataFrame(frame)


def costs(rng: np.random.Generator) -> Any:
    """Return costs."""
    values = [
        {"fn": 10, "fp": 1}, {"fn": -1}, {}, {"nope": 1}, {"fn": np.nan}, {"fn": np.inf}, {"fn": 1e300,
        "fp": -1e300}, [[0, 1], [5, 0]],
        [[0, 0], [0, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]], "x", 3, {"fn": "x"}, {"fn": 0, "fp": 0}, {"a->b": 1},
        [[0, "x"], [1, 0]],
    ]  # fmt: skip
    return values[rng.integers(len(values))]


def stated(rng: np.random.Generator) -> dict[str, Any]:
    """Return three stated metrics."""
    if rng.random() < 0.5:
        values = bayescm.metrics.evaluate(
            bayescm.from_cells(**{n: int(rng.integers(1, 40)) for n in ("tp", "fn", "fp", "tn")}),
            ["recall", "accuracy", "f1"],
        )
        return {name: round(float(values[name]), 2) for name in values.data_vars}
    names = [n for n in _names() if n.isidentifier()]
    values = [0.5, 0.8, 0.93, 0, 1, -1, 2, np.nan, np.inf, "x", 0.111]
    return {names[rng.integers(len(names))]: values[rng.integers(len(values))] for _ in range(rng.integers(0, 5))}


def curve_tree(rng: np.random.Generator) -> Any:
    """Return a joint posterior of curves."""
    n = int(rng.integers(4, 40))
    true = rng.integers(0, 2, n)
    true[:2] = 0, 1
    systems = {name: np.round(rng.random(n), 2) for name in "AB"} if rng.random() < 0.5 else np.round(rng.random(n), 2)
    return (
        bayescm.curve_posterior(
            true,
            systems,
            over=str(rng.choice(["rate", "threshold"])),
            draws=50,
            chains=2,
            random_seed=1,
            points=11 if rng.random() < 0.5 else None,
        )
        if not isinstance(systems, dict)
        else bayescm.curve_posterior(true, systems, draws=50, chains=2, random_seed=1)
    )


def result(name: str) -> Maker:
    """Return a maker of what a function returns for valid arguments: what pictures draw."""

    def make(rng: np.random.Generator) -> Any:
        two, seed = bayescm.from_cells(**{n: int(rng.integers(0, 40)) for n in ("tp", "fn", "fp", "tn")}), 1
        systems = dimmed("system")(rng)
        made: dict[str, Callable[[], Any]] = {
            "summary": lambda: bayescm.summary(
                pick(binary, many, systems)(rng),
                [*["mcc", "recall"][: rng.integers(1, 3)], "accuracy"],
                random_seed=seed,
            ),
            "cells": lambda: bayescm.inference.cell_summary(pick(two, many)(rng)),
            "distribution": lambda: bayescm.metric_distribution(
                pick(two, systems)(rng), str(rng.choice(["mcc", "recall", "f1", "dor"]))
            ),
            "region": lambda: bayescm.region(two, grid=20, space=str(rng.choice(["pr", "roc"]))),
            "band": lambda: bayescm.band(thresholds_of(rng), grid=20),
            "board": lambda: bayescm.leaderboard(right_and_wrong(rng)),
            "compare": lambda: bayescm.compare_systems(same_items(rng), random_seed=seed),
            "curve": lambda: bayescm.curve_band(curve_tree(rng)),
            "tree": lambda: curve_tree(rng),
            "prevalence": lambda: bayescm.planning.at_prevalences(two),
            "decision": lambda: bayescm.planning.decision_curve(pick(two, thresholds_of)(rng)),
            "width": lambda: bayescm.planning.interval_width(n_items=[20, 50, 100]),
            "sequential": lambda: bayescm.planning.sequential(dimmed("chunk")(rng), ["accuracy", "recall"]),
            "hull": lambda: bayescm.curves.intervals([0, 0, 1, 1, 0], [0.1, 0.4, 0.3, 0.8, 0.2]),
            "auc": lambda: bayescm.auc([0, 0, 1, 1, 0], [0.1, 0.4, 0.3, 0.8, 0.2], method=["delong", "logit"]),
        }
        if rng.random() < 0.2:
            return pick(binary, junk, *made.values())(rng) if rng.random() < 0.5 else junk(rng)
        return made[name]()

    make.maker = True  # type: ignore[attr-defined]
    return make


cell = pick(
    3,
    3,
    0,
    5,
    10**9,
    10**12,
    10**30,
    -1,
    1.5,
    2.0,
    np.nan,
    np.inf,
    "x",
    None,
    [1, 2],
    [[1, 2]],
    True,
    [],
    {"a": 1},
    np.ma.masked_array([1, 2], [0, 1]),
    xr.DataArray([1, 2], dims="a"),
    xr.DataArray([1, 2, 3], dims="a"),
    "3",
)
