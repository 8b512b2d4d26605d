"""What every public function looks like and answers: a change of one is seen, and meant.

``python tests/test_snapshot.py`` writes snapshot.json anew. Read its diff: each line is what a user will notice.
"""

import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from public import PUBLIC
from scipy import stats

import bayescm

STORED = Path(__file__).with_name("snapshot.json")
LOGS = Path(__file__).parent / "data" / "logs"
KEPT = 12  # numbers of a variable, evenly spread over it
PASSING = {"creation_library_version", "created_at", "sampling_time", "fitted_at", "inference_library_version", "stamp"}

RNG = np.random.default_rng(11)
TRUE = (RNG.random(60) < 0.4).astype(int)
SCORES = {name: np.round(TRUE + RNG.normal(0.0, sd, 60), 1) for name, sd in (("a", 0.8), ("b", 1.5))}
PREDICTED = {name: (score > 0.5).astype(int) for name, score in SCORES.items()}
ONE = bayescm.from_cells(tp=26, fn=2, fp=3, tn=6)
SEVERAL = bayescm.from_cells(tp=[26, 20, 24], fn=[2, 8, 4], fp=[3, 1, 0], tn=[6, 8, 9], dims="system")
SEVERAL = SEVERAL.assign_coords(system=["x", "y", "z"])
SEED: dict[str, Any] = {"random_seed": 5}


def curves(**options):
    return bayescm.curve_posterior(TRUE, SCORES["a"], chains=2, draws=40, **options, **SEED)


def both_systems():
    return bayescm.compare_systems(SEVERAL, ["f1", "recall"], design="independent", draws=200, **SEED)


def areas():
    return bayescm.auc(TRUE, SCORES, method=["delong", "bayesian"], draws=1000, **SEED)


def risks():
    p = 1.0 / (1.0 + np.exp(-SCORES["a"]))
    return bayescm.planning.decision_curve(
        bayescm.curves.counts_at_thresholds(TRUE, p, thresholds=[0.2, 0.5, 0.6]), **SEED
    )


def hull():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bayescm.curves.hull(bayescm.curves.intervals(TRUE, SCORES["a"], method="wilson"))


def board(**options):
    return bayescm.leaderboard(SEVERAL, design="independent", **options, **SEED)


def looks():
    return bayescm.planning.sequential(bayescm.from_cells(tp=[3, 5, 9], fn=[1, 2, 2], fp=[0, 1, 1], tn=[4, 9, 15],
    dims="chunk"),
                              "accuracy", **SEED)  # fmt: skip


CALLS = {
    "at_prevalences": lambda: bayescm.planning.at_prevalences(ONE, "precision", [0.1, 0.5], **SEED),
    "auc": areas,
    "auc_difference": lambda: bayescm.curves.auc_difference(TRUE, {"a": SCORES["a"], "b": SCORES["b"]}, **SEED),
    "aucpr": lambda: bayescm.aucpr(TRUE, SCORES, method=["logit", "bayesian"], draws=1000, **SEED),
    "band": lambda: bayescm.band(bayescm.curves.counts_at_thresholds(TRUE, SCORES["a"]), grid=25),
    "beta_from_interval": lambda: bayescm.priors.beta_from_interval(0.7, 0.9),
    "cell_summary": lambda: bayescm.inference.cell_summary(ONE),
    "choose": lambda: (
        vars(bayescm.inference.choose(ONE))
        if hasattr(bayescm.inference.choose(ONE), "__dict__")
        else str(bayescm.inference.choose(ONE))
    ),
    "compare_systems": both_systems,
    "compare_systems of the same items": lambda: bayescm.compare_systems(
        bayescm.data.paired_counts(TRUE, PREDICTED), ["accuracy", "f1"], draws=200, **SEED
    ),
    "confusion_matrix": lambda: bayescm.confusion_matrix(TRUE, PREDICTED["a"], pos_label=1),
    "counts_at_thresholds": lambda: bayescm.curves.counts_at_thresholds(TRUE, SCORES["a"], thresholds=[0.0, 0.5, 1.0]),
    "counts_from_metrics": lambda: bayescm.priors.counts_from_metrics(
        n_items=100, recall=0.8, precision=0.5, prevalence=0.2
    ),
    "curve_band": lambda: bayescm.curve_band(curves(), method="pointwise"),
    "hull": hull,
    "intervals": lambda: bayescm.curves.intervals(TRUE, SCORES["a"]),
    "curve_posterior": curves,
    "reliability": lambda: bayescm.curves.reliability(TRUE, 1 / (1 + np.exp(-np.asarray(SCORES["a"])))),
    "curve_posterior over thresholds": lambda: curves(over="threshold", metrics=["f1", "mcc"]),
    "decide": lambda: bayescm.decide(SEVERAL, {"fn": 5, "fp": 1}, design="independent", **SEED),
    "decision_curve": risks,
    "evaluate": lambda: bayescm.metrics.evaluate(ONE, ["f1", "mcc"]),
    "from_array": lambda: bayescm.from_array([[6, 3], [2, 26]], labels=["well", "ill"], pos_label="ill"),
    "allocate": lambda: bayescm.planning.allocate(bayescm.audited([[17, 1], [3, 19]], [100, 1900]), 30),
    "label_value": lambda: bayescm.planning.label_value(
        bayescm.audited([[4, 2], [1, 5]], [600, 400]), {"fn": 5, "fp": 2}, per_check=1, n_items=5000
    ),
    "audited": lambda: bayescm.audited([[17, 1], [3, 19]], [100, 1900]),
    "from_cells": lambda: ONE,
    "from_inspect": lambda: bayescm.from_inspect(LOGS / "inspect_0.3.100", scorer="match"),
    "from_lm_eval": lambda: bayescm.from_lm_eval(sorted((LOGS / "lm_eval_0.4.13").rglob("*_sums_*")), metric="acc"),
    "from_table": lambda: bayescm.from_table(
        pd.DataFrame({"actual": [0, 0, 1, 1], "predicted": [0, 1, 0, 1], "n": [6, 3, 2, 26]}), n="n"
    ),
    "interval": lambda: bayescm.interval(ONE, ["recall", "f1"], **SEED),
    "interval_width": lambda: bayescm.planning.interval_width("recall", [20, 50], mode=0.8, concentration=10),
    "leaderboard": lambda: board(prizes=[3, 2, 1]),
    "loo": lambda: bayescm.inference.loo(ONE),
    "leaderboard of several runs": lambda: bayescm.leaderboard(
        {"a": [4, 1, 0, 3, 4, 2], "b": [2, 2, 0, 4, 3, 1]}, runs=4, draws=1000, **SEED
    ),
    "compare_systems of several runs": lambda: bayescm.compare_systems(
        {"a": [4, 1, 0, 3, 4, 2], "b": [2, 2, 0, 4, 3, 1]}, runs=4, draws=100, **SEED
    )["summary"].to_dataset(),
    "summary of several runs": lambda: bayescm.summary([4, 1, 0, 3, 4, 2], runs=4, draws=1000, **SEED),
    "margins": lambda: bayescm.data.margins(bayescm.data.paired_counts(TRUE, PREDICTED)),
    "metric_distribution": lambda: bayescm.metric_distribution(ONE, "f1").to_dataset(points=5),
    "paired_counts": lambda: bayescm.data.paired_counts(TRUE, PREDICTED),
    "plot_areas": lambda: bayescm.plots.plot_areas(curves()),
    "plot_band": lambda: bayescm.plots.plot_band(bayescm.region(ONE, grid=30)),
    "plot_confusion_matrix": lambda: bayescm.plots.plot_confusion_matrix(bayescm.inference.cell_summary(ONE)),
    "plot_curve": lambda: bayescm.plots.plot_curve(bayescm.curve_band(curves())),
    "plot_curve of reliability": lambda: bayescm.plots.plot_curve(
        bayescm.curves.reliability(TRUE, 1 / (1 + np.exp(-np.asarray(SCORES["a"]))))
    ),
    "plot_decision_curve": lambda: bayescm.plots.plot_decision_curve(risks()),
    "plot_difference": lambda: bayescm.plots.plot_difference(both_systems(), "f1", "x - y"),
    "plot_distribution": lambda: bayescm.plots.plot_distribution(bayescm.metric_distribution(ONE, "f1")),
    "plot_forest": lambda: bayescm.plots.plot_forest(bayescm.summary(SEVERAL, "f1")),
    "plot_interval_width": lambda: bayescm.plots.plot_interval_width(
        bayescm.planning.interval_width("recall", [20, 50, 90])
    ),
    "plot_leaderboard": lambda: bayescm.plots.plot_leaderboard(board()),
    "plot_metric_uncertainty": lambda: bayescm.plots.plot_metric_uncertainty(bayescm.summary(SEVERAL, "f1")),
    "plot_pairwise": lambda: bayescm.plots.plot_pairwise(board(pairwise=True)),
    "plot_prevalence": lambda: bayescm.plots.plot_prevalence(
        bayescm.planning.at_prevalences(ONE, "precision", [0.1, 0.3, 0.5], **SEED)
    ),
    "plot_region": lambda: bayescm.plots.plot_region(bayescm.region(ONE, grid=30)),
    "plot_sequential": lambda: bayescm.plots.plot_sequential(looks()),
    "plot_thresholds": lambda: bayescm.plots.plot_thresholds(curves(over="threshold", metrics=["f1", "mcc"])),
    "posterior": lambda: bayescm.posterior(ONE, metrics=["f1"], chains=2, draws=10, **SEED),
    "predictions": lambda: bayescm.predictions(TRUE, PREDICTED),
    "prior_from_metrics": lambda: bayescm.priors.prior_from_metrics(
        n_items=20, recall=0.8, precision=0.5, prevalence=0.2
    ),
    "prior_predictive": lambda: bayescm.inference.prior_predictive(n_items=20, draws=10, chains=2, **SEED),
    "probability": lambda: bayescm.probability(SEVERAL, "f1 > 0.8"),
    "region": lambda: bayescm.region(ONE, grid=9),
    "region_level": lambda: bayescm.regions.region_level(ONE, recall=[0.8, 0.9], precision=0.9),
    "replicate": lambda: bayescm.planning.replicate(ONE, "f1", **SEED),
    "report": lambda: bayescm.report(ONE, metrics=["accuracy", "recall"]),
    "rogan_gladen": lambda: bayescm.inference.rogan_gladen([0.1, 0.3], 0.9, 0.95),
    "rope_probabilities": lambda: bayescm.models.rope_probabilities(stats.t(9, loc=1.0, scale=0.5), rope=0.5),
    "sample_size": lambda: bayescm.sample_size("recall", width=0.2, mode=0.8, concentration=10),
    "sample_size_of_auc": lambda: bayescm.planning.sample_size_of_auc(0.85, 0.8, correlation=0.6),
    "sample_size_to_compare": lambda: bayescm.planning.sample_size_to_compare(0.9, 0.8, discordance=0.2),
    "sequential": looks,
    "summary": lambda: bayescm.summary(SEVERAL, ["recall", "f1", "mcc"], **SEED),
    "summary of an audit": lambda: bayescm.summary(
        bayescm.audited([[17, 1], [3, 19]], [100, 1900]), ["accuracy", "recall", "balanced_accuracy"], **SEED
    ),
    "summary of three classes": lambda: bayescm.summary(
        [[9, 1, 0], [2, 7, 1], [0, 3, 12]], ["accuracy", "f1_macro"], **SEED
    ),
}
UNCALLED = {
    "CurveDisplay": "draws what plot_curve draws",
    "LogitNormal": "a prior, called in tests of the informative model",
    "MetricDistribution": "what metric_distribution returns",
    "agreement": "tests/data/test_ratings.py",
    "auc_from_reported": "tests/curves/test_printed_areas.py",
    "hidden_size": "tests/priors/test_hidden.py",
    "from_reported": "tests/priors/test_reported.py",
    "gate": "tests/comparison/test_gates.py",
    "drift": "tests/comparison/test_drift.py",
    "gaps": "tests/comparison/test_groups.py",
    "readers": "tests/comparison/test_readers.py",
    "synthesis": "tests/inference/test_studies.py",
    "read": "what it understood is in tests/data/test_reading.py",
    "scorer": "returns a function, which tests/metrics/test_scoring.py calls",
    "sbc": "compiles a program for seconds: tests/calibration/test_simulation.py",
}


def signatures() -> dict[str, list[str]]:
    """Return the parameters of every public function, defaults included."""
    return {name: [str(p).split(":")[0] + (f" = {p.default!r}" if p.default is not p.empty else "")
                   for p in inspect.signature(PUBLIC[name]).parameters.values()]
            for name in sorted(PUBLIC)}  # fmt: skip


def shown(value: Any) -> Any:
    """Return what a user sees of a result, as JSON."""
    if isinstance(value, Axes | Figure):
        return picture(value if isinstance(value, Figure) else value.figure)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return picture(value.ravel()[0].figure)
    if isinstance(value, xr.DataTree):
        return {node.path: shown(node.to_dataset(inherit=False)) for node in value.subtree}
    if isinstance(value, xr.DataArray):
        return shown(value.to_dataset(name="values"))
    if isinstance(value, xr.Dataset):
        return {
            "attrs": {k: str(v) for k, v in value.attrs.items() if k not in PASSING},
            "coords": {str(k): variable(v) for k, v in value.coords.items()},
            "variables": {str(k): variable(v) for k, v in value.data_vars.items()},
        }
    if isinstance(value, dict):
        return {str(k): shown(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [shown(v) for v in value]
    return numbers(np.asarray(value))[0] if isinstance(value, int | float | np.generic) else str(value)


def variable(values: xr.DataArray) -> dict[str, Any]:
    found: dict[str, Any] = {
        "dims": list(map(str, values.dims)), "shape": list(values.shape), "kind": values.dtype.kind,
        "values": numbers(values.values),
    }  # fmt: skip
    attrs = {k: str(v) for k, v in values.attrs.items()}
    return found | ({"attrs": attrs} if attrs else {})


def numbers(values: np.ndarray) -> list[Any]:
    flat = values.ravel()
    flat = flat[np.unique(np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int))] if flat.size else flat
    if values.dtype.kind == "f":
        return [float(f"{x:.6g}") if np.isfinite(x) else str(x) for x in flat.tolist()]
    return [x if isinstance(x, int | bool | str) else str(x) for x in flat.tolist()]


def picture(figure: Any) -> list[dict[str, Any]]:
    found = [
        {"title": ax.get_title(), "x": ax.get_xlabel(), "y": ax.get_ylabel(), "lines": len(ax.lines),
         "collections": len(ax.collections), "patches": len(ax.patches), "texts": [t.get_text() for t in ax.texts][:8],
         "legend": [t.get_text() for t in ax.get_legend().get_texts()] if ax.get_legend() else []}
        for ax in figure.axes
    ]  # fmt: skip
    plt.close(figure)
    return found


def taken(name: str) -> Any:
    return json.loads(json.dumps(shown(CALLS[name]())))


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Return where two snapshots differ; numbers may by 2e-5, as processors do."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [line for key in sorted(old.keys() | new.keys(), key=str)
                for line in differences(old.get(key, "nothing"), new.get(key, "nothing"), f"{path}/{key}")]  # fmt: skip
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return differences(dict(enumerate(old)), dict(enumerate(new)), path)
    if isinstance(old, float) and isinstance(new, float):
        return [] if abs(old - new) <= 2e-5 * max(abs(old), abs(new), 1e-3) else [f"{path}: {old!r} -> {new!r}"]
    return [] if old == new else [f"{path}: {old!r} -> {new!r}"]


@pytest.fixture(scope="module")
def stored():
    return json.loads(STORED.read_text())


def test_signatures(stored):
    assert not differences(stored["signatures"], json.loads(json.dumps(signatures())))


def test_every_public_function_is_called():
    called = {name.split()[0] for name in CALLS}
    assert called | set(UNCALLED) == PUBLIC.keys()


@pytest.mark.parametrize("name", CALLS)
def test_answers(name, stored):
    assert not differences(stored["answers"][name], taken(name))


if __name__ == "__main__":
    mpl.use("agg")
    fresh = {"signatures": signatures(), "answers": {name: taken(name) for name in CALLS}}
    STORED.write_text(json.dumps(fresh, indent=1, sort_keys=True) + "\n")
    print(f"{STORED.name}: {len(CALLS)} calls", file=sys.stderr)
