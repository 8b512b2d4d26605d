"""Lazy counts: every public function that takes counts gives the same numbers, and those of a fixed shape stay lazy.

A new public function fails here until it stands in one of the tables.
"""

import os
import signal
import time

import dask
import numpy as np
import pytest
import xarray as xr
from public import PUBLIC

import bayescm
from bayescm import calibration, regions

RNG = np.random.default_rng(7)
TWO = bayescm.from_array(RNG.integers(0, 25, (3, 2, 2, 2)), dims=("tile", "system"))
THREE = bayescm.from_array(RNG.integers(0, 25, (3, 2, 3, 3)), dims=("tile", "system"))
CUT = bayescm.curves.counts_at_thresholds(RNG.permutation([0, 1] * 30), RNG.random(60), thresholds=[0.2, 0.5, 0.8])
CUTS = xr.concat([CUT, CUT[:, ::-1, ::-1].assign_coords(CUT.coords)], "tile").assign_coords(tile=["a", "b"])
SEED = {"random_seed": 3}
DRAWN = {"draws": 1000, **SEED}


def scalar_of_draws(tp, fn, fp, tn):
    """Return a metric that no exact distribution is known of: not monotone."""
    return np.abs(tp / (tp + fn) - tn / (tn + fp))


LAZY = {
    "at_prevalences": lambda c: bayescm.planning.at_prevalences(c(TWO), ["precision", "mcc"], [0.1, (2, 8)]),
    "calibration.dispersion": lambda c: calibration.dispersion(c(TWO), ["recall"], dim="tile", **DRAWN),
    "cell_summary": lambda c: bayescm.inference.cell_summary(c(THREE)),
    "cell_summary: simultaneous": lambda c: bayescm.inference.cell_summary(c(THREE), simultaneous="goodman"),
    "decide": lambda c: bayescm.decide(c(TWO.rename(system="x")), {"fn": 10, "fp": 1}, **DRAWN),
    "decide: systems": lambda c: bayescm.decide(c(THREE), np.ones((3, 3)) - np.eye(3), design="independent", **DRAWN),
    "decide: small prior": lambda c: bayescm.decide(c(TWO), {"fn": 1}, prior=0.01, design="independent", **DRAWN),
    "decision_curve": lambda c: bayescm.planning.decision_curve(c(TWO), [0.1, 0.5], **SEED),
    "decision_curve: own thresholds": lambda c: bayescm.planning.decision_curve(c(CUTS), **SEED),
    "evaluate": lambda c: bayescm.metrics.evaluate(c(THREE), ["f1_macro", "accuracy"]),
    "from_array": lambda c: bayescm.from_array(c(THREE), labels=[2, 0, 1]),
    "from_cells": lambda c: bayescm.from_cells(**{n: c(TWO)[..., i, j].drop_vars(["actual", "predicted"]) for n, i, j in
                                                  (("tn", 0, 0), ("fp", 0, 1), ("fn", 1, 0), ("tp", 1, 1))}),
    "interval": lambda c: bayescm.interval(c(TWO), ["recall", "f1"], method="delta"),
    "interval: bootstrap": lambda c: bayescm.interval(c(TWO), "f1", method="bootstrap", **DRAWN),
    "loo": lambda c: bayescm.inference.loo(c(THREE), model="three_binomial"),
    "metric_distribution": lambda c: bayescm.metric_distribution(c(TWO), "f1").hdi(),
    "posterior": lambda c: bayescm.posterior(c(TWO), chains=2, draws=20, **SEED),
    "posterior: replicate": lambda c: bayescm.posterior(c(THREE), chains=1, draws=20, replicate=True, **SEED),
    "probability": lambda c: bayescm.probability(c(TWO), ["mcc > .2", "recall > .5 and precision > .4"]),
    "probability: draws": lambda c: bayescm.probability(c(THREE), ["f1_macro > .3", "f1 < .5 and mcc > 0"], **DRAWN),
    "probability: small prior": lambda c: bayescm.probability(c(TWO), "mcc > .2", prior=0.01, **DRAWN),
    "band": lambda c: bayescm.band(c(CUTS)),
    "regions.bootstrap": lambda c: regions.bootstrap(c(TWO), **DRAWN),
    "regions.contains": lambda c: regions.contains(c(TWO), recall=0.5, precision=[0.2, 0.5]),
    "region": lambda c: bayescm.region(c(TWO), grid=(np.linspace(0.1, 0.9, 9),) * 2),
    "region_level": lambda c: bayescm.regions.region_level(c(TWO), recall=0.5, precision=0.4,
                                                                        method="credible"),
    "replicate": lambda c: bayescm.planning.replicate(c(TWO), ["mcc", "recall"], claims="mcc > 0"),
    "replicate: draws": lambda c: bayescm.planning.replicate(c(THREE.rename(system="x")), ["f1", "f1_macro"], **DRAWN),
    "replicate: systems": lambda c: bayescm.planning.replicate(c(THREE), ["accuracy", "f1_macro"], n_items=30, **DRAWN),
    "rogan_gladen": lambda c: bayescm.inference.rogan_gladen(c(TWO)[..., 0, 0] / 100, 0.9, 0.8),
    "sequential": lambda c: bayescm.planning.sequential(c(TWO), ["accuracy", "mcc"], dim="tile"),
    "summary": lambda c: bayescm.summary(c(TWO), ["recall", "f1", "mcc", scalar_of_draws], **DRAWN),
    "summary: classes": lambda c: bayescm.summary(c(THREE), ["f1", "f1_macro"], prevalence=[0.2, 0.3, 0.5], **DRAWN),
    "summary: draws": lambda c: bayescm.summary(c(THREE), "f1_macro", **DRAWN),
}  # fmt: skip
"""Functions whose result stays lazy."""

COMPUTED = {
    "choose": lambda c: (
        bayescm.inference.choose(c(TWO[:, 0].rename(tile="fold")), model="kfold", pooling="complete").method
    ),
    "compare_systems": lambda c: bayescm.compare_systems(c(TWO[0]), ["recall"], draws=100, **SEED),
    "leaderboard": lambda c: bayescm.leaderboard(c(TWO[0]), metric="accuracy", **SEED),
    "interval_width": lambda c: bayescm.planning.interval_width("recall", n_items=[50, 100], pilot=c(TWO[0, 0])),
    "regions.area": lambda c: regions.area(c(TWO[:, 0]), levels=[0.9]),
    "regions.contour": lambda c: regions.contour(c(TWO[0, 0]), levels=[0.9]),
    "report": lambda c: bayescm.report(c(TWO[0, 0]), "recall"),
    "drift": lambda c: bayescm.drift(c(TWO[0]), "recall", draws=1000, **SEED),
    "gaps": lambda c: bayescm.gaps(c(TWO[0]), metrics=["recall"], draws=1000, **SEED),
    "synthesis": lambda c: bayescm.synthesis(c(TWO[0]), ["recall"], draws=1000, **SEED),
    "sample_size": lambda c: bayescm.sample_size("recall", width=0.2, pilot=c(TWO[0, 0])),
}
"""Functions that compute lazy counts: a text, an object, a ragged result, systems held against each other."""

WITHOUT = {
    "CurveDisplay", "LogitNormal", "MetricDistribution", "agreement", "allocate", "auc", "auc_difference",
    "auc_from_reported",
    "aucpr", "audited", "beta_from_interval", "confusion_matrix", "counts_at_thresholds", "counts_from_metrics",
    "curve_band", "hidden_size", "hull", "intervals", "curve_posterior", "from_inspect", "from_lm_eval",
    "from_reported", "from_table", "gate",
    "label_value", "margins", "paired_counts", "predictions", "prior_from_metrics", "prior_predictive", "read",
    "readers", "reliability",
    "rope_probabilities",
    "sample_size_of_auc", "sample_size_to_compare", "sbc", "scorer", "calibration.confusion_probabilities",
    "calibration.coverage", "calibration.coverage_of", "calibration.from_probabilities", "regions.axis",
}  # fmt: skip
"""Functions of labels, scores, answers to the same items, draws, audits or numbers: nothing that is lazy by matrix."""

CHUNKS = {
    "one matrix": {"tile": 1, "system": 1},
    "uneven": {"tile": 2, "system": 2},
    "matrices cut": {"tile": 3, "actual": 1, "predicted": 2},
}


def public():
    """Return the names of all public functions but pictures, which draw what is in memory."""
    rooms = {"calibration.": calibration, "regions.": regions}
    further = {f"{room}{name}" for room, module in rooms.items() for name in module.__all__ if name not in PUBLIC}
    return {name for name in PUBLIC.keys() | further if not name.startswith("plot_")}


def chunked(chunks):
    return lambda counts: counts.chunk({dim: size for dim, size in chunks.items() if dim in counts.dims})


def refuse(*args, **options):
    raise AssertionError("computed")


def variables(found):
    parts = found.values() if isinstance(found, xr.DataTree) else [found]
    if isinstance(found, xr.DataTree):
        return {f"{n.path}/{name}": v for n in found.subtree for name, v in n.dataset.variables.items()}
    return {str(i): part for i, part in enumerate(parts)} if isinstance(found, xr.DataArray) else dict(found.variables)


def assert_same(found, wanted, exact=()):
    """Assert equal text, attrs, dims and coordinates, and numbers to 1e-12; of draws bit for bit."""
    if isinstance(wanted, str):
        assert found == wanted
        return
    assert type(found) is type(wanted)
    ours, theirs = variables(found), variables(wanted)
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        assert ours[name].dims == value.dims, name
        assert ours[name].attrs == value.attrs, name
        assert ours[name].dtype.kind == value.dtype.kind, name
        if value.dtype.kind == "f" and not name.endswith(exact):
            np.testing.assert_allclose(ours[name].values, value.values, rtol=1e-12, atol=1e-14, err_msg=name)
        else:
            np.testing.assert_array_equal(ours[name].values, value.values, err_msg=name)


def test_every_public_function_is_in_one_table():
    tables = [{name.split(":")[0] for name in table} for table in (LAZY, COMPUTED, WITHOUT)]
    assert set.union(*tables) == public()
    assert sum(map(len, tables)) == len(public())


@pytest.fixture(scope="module", params=LAZY)
def eager(request):
    return request.param, LAZY[request.param](lambda counts: counts)


@pytest.mark.parametrize("chunks", CHUNKS)
def test_results_stay_lazy_and_are_the_same(eager, chunks):
    name, wanted = eager
    with dask.config.set(scheduler=refuse):
        found = LAZY[name](chunked(CHUNKS[chunks]))
    lazy = [variable for variable in variables(found).values() if variable.chunks is not None]
    assert lazy, name
    with dask.config.set(scheduler="threads", num_workers=2):
        assert_same(found.compute(), wanted, exact=drawn(name))


def drawn(name):
    """Return the variables that must agree bit for bit: draws, and all that kernels make of draws of one matrix."""
    if name.startswith("posterior"):
        return ("theta", "counts")  # metrics of these are sums over arrays of another layout
    return ("",) if "draws" in name or "bootstrap" in name or "prior" in name else ()


@pytest.mark.long
def test_two_processes_of_a_cluster_say_the_same():
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster):
        for name, call in LAZY.items():
            wanted = call(lambda counts: counts)
            for chunks in CHUNKS.values():
                assert_same(call(chunked(chunks)).compute(), wanted, exact=drawn(name))


@pytest.mark.slow
def test_a_worker_that_is_killed_in_mid_run_changes_nothing():
    from distributed import Client, LocalCluster

    many = bayescm.from_array(RNG.integers(0, 25, (120, 3, 3)), dims="tile")
    wanted = bayescm.summary(many, "f1_macro", **DRAWN)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        running = client.compute(bayescm.summary(many.chunk(tile=8), "f1_macro", **DRAWN))
        while not any(client.run(lambda dask_worker: dask_worker.state.executed_count).values()):
            time.sleep(0.01)
        assert running.status == "pending"
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        assert_same(running.result(), wanted, exact=("",))


@pytest.mark.parametrize("name", COMPUTED)
def test_others_compute_and_say_the_same(name):
    assert_same(COMPUTED[name](chunked(CHUNKS["one matrix"])), COMPUTED[name](lambda counts: counts))


@pytest.mark.parametrize(
    "name", ["sequential", "loo", "probability", "replicate", "decide", "decision_curve: own thresholds"]
)
@pytest.mark.parametrize(("bad", "words"), [(-1.0, "negative"), (np.nan, "missing"), (0.5, "whole numbers")])
def test_bad_lazy_counts_are_refused_when_they_are_computed(name, bad, words):
    def spoiled(counts):
        values = counts.astype(np.float64)
        values[(0,) * values.ndim] = bad
        return chunked(CHUNKS["uneven"])(values)

    with pytest.raises(ValueError, match=words):
        LAZY[name](spoiled).compute(scheduler="synchronous")
