"""Every kind of evidence and every question: answered, or refused in words; the answers are tested elsewhere."""

import warnings

import numpy as np
import pytest
import xarray as xr

import bayescm

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 60)
ANSWERS = {
    "a": np.where(RNG.random(60) < 0.85, TRUTH, 1 - TRUTH),
    "b": np.where(RNG.random(60) < 0.75, TRUTH, 1 - TRUTH),
}
UNITS = np.arange(60) // 5
FOLDS = bayescm.from_array([[[15, 2], [1, 12]], [[14, 3], [2, 11]], [[16, 1], [3, 10]]], dims="fold")
AUDIT = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
STRATA = bayescm.from_array([[[17, 1], [3, 19]], [[9, 2], [1, 12]]], dims="stratum")


def draws(*batch):
    theta = RNG.dirichlet([20, 3, 2, 15], (4, 250, *batch)).reshape(4, 250, *batch, 2, 2)
    dims = ("chain", "draw", *(["system"] if batch else []), "actual", "predicted")
    names = {"system": ["a", "b"]} if batch else {}
    data = xr.Dataset({"theta": (dims, theta)}, coords={"actual": [0, 1], "predicted": [0, 1]} | names)
    return xr.DataTree.from_dict({"posterior": data})


COUNTS = bayescm.from_cells(tp=26, fn=3, fp=2, tn=16)

EVIDENCE = {
    "counts": lambda: COUNTS,
    "closed form": lambda: bayescm.posterior(COUNTS, random_seed=1),
    "classes": lambda: bayescm.from_array([[10, 1, 2], [0, 8, 1], [2, 1, 9]]),
    "systems": lambda: bayescm.from_cells(tp=[26, 20], fn=[3, 6], fp=[2, 3], tn=[16, 15], dims="system"),
    "folds": lambda: FOLDS,
    "audit": lambda: AUDIT,
    "strata": lambda: bayescm.audited(STRATA, [[100, 900], [300, 700]]),
    "audits": lambda: {"a": AUDIT, "b": bayescm.audited([[16, 1], [3, 19]], [120, 1900])},
    "right": lambda: {"correct": [45], "wrong": [5]},
    "paired": lambda: bayescm.data.paired_counts(TRUTH, ANSWERS),
    "predictions": lambda: bayescm.predictions(TRUTH, ANSWERS),
    "units": lambda: bayescm.confusion_matrix(TRUTH, ANSWERS["a"], unit=UNITS),
    "crossed units": lambda: bayescm.confusion_matrix(TRUTH, ANSWERS["a"], unit=(UNITS, np.arange(len(UNITS)) % 4)),
    "answers by unit": lambda: bayescm.predictions(TRUTH, ANSWERS, unit=UNITS),
    "draws": draws,
    "draws of systems": lambda: draws(2),
    "kfold": lambda: bayescm.posterior(FOLDS, model="kfold", pooling="complete", random_seed=1),
    "average": lambda: bayescm.posterior(FOLDS, model="kfold", pooling="average", random_seed=1),
    "synthesis": lambda: bayescm.synthesis(FOLDS, sampler="quadrature", draws=1000, random_seed=1),
}
QUESTIONS = {
    "summary": lambda data: bayescm.summary(data, random_seed=1),
    "metric_distribution": lambda data: bayescm.metric_distribution(data, "accuracy", random_seed=1).eti(),
    "probability": lambda data: bayescm.probability(data, "accuracy > .8", random_seed=1),
    "two claims": lambda data: bayescm.probability(data, "accuracy > .8 and mcc > .5", random_seed=1),
    "posterior": lambda data: bayescm.posterior(data, metrics="accuracy", draws=20, random_seed=1),
    "cell_summary": bayescm.inference.cell_summary,
    "interval": lambda data: bayescm.interval(data, "accuracy"),
    "region": lambda data: bayescm.region(data, method="credible", grid=20),
    "replicate": lambda data: bayescm.planning.replicate(data, "accuracy", n_items=50, draws=1000),
    "decide": lambda data: bayescm.decide(data, {"fn": 5, "fp": 1}, random_seed=1),
    "at_prevalences": lambda data: bayescm.planning.at_prevalences(data, "precision", [0.1, 0.3], random_seed=1),
    "compare_systems": lambda data: bayescm.compare_systems(data, "accuracy", random_seed=1),
    "leaderboard": lambda data: bayescm.leaderboard(data, random_seed=1),
    "decision_curve": lambda data: bayescm.planning.decision_curve(data, [0.2, 0.5], random_seed=1),
    "loo": bayescm.inference.loo,
    "synthesis": lambda data: bayescm.synthesis(data, sampler="quadrature", draws=1000, random_seed=1),
    "gaps": lambda data: bayescm.gaps(data, draws=1000, random_seed=1),
    "drift": lambda data: bayescm.drift(data, draws=1000, random_seed=1),
}
_NO_SERIES = (
    "counts, closed form, classes, audit, strata, audits, right, paired, predictions, answers by unit, draws, "
    "draws of systems, kfold, average, synthesis"
)
REFUSED = {
    "probability": "right",
    "two claims": "right",
    "posterior": "synthesis, closed form, audits, paired, predictions, draws, draws of systems, kfold, average",
    "cell_summary": "right",
    "interval": "audit, strata, audits, draws, draws of systems, kfold, average, units, crossed units, "
    "answers by unit, synthesis",
    "region": "synthesis, classes, audits, right, paired, predictions, draws of systems, answers by unit",
    "decide": "classes, right, synthesis",
    "at_prevalences": "classes, right",
    "decision_curve": "classes, right",
    "compare_systems": "counts, closed form, classes, folds, audit, strata, right, draws, kfold, "
    "average, units, crossed units",
    "leaderboard": "counts, closed form, classes, folds, audit, strata, draws, kfold, average, units, crossed units",
    "replicate": "units, crossed units, answers by unit",
    "synthesis": _NO_SERIES,
    "drift": _NO_SERIES,
    "gaps": f"{_NO_SERIES}, units, crossed units",
    "loo": "synthesis, audit, strata, audits, right, draws, draws of systems, kfold, average, units, "
    "crossed units, answers by unit",
}
"""What has no answer: a matrix where systems are compared, one class of many where two are meant, or not yet."""
SLOW = {"crossed units": pytest.mark.slow}


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=SLOW.get(kind, ())) for kind in EVIDENCE])
def test_every_question_is_answered_or_refused_in_words(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of equal totals, of few answers: tested where they belong
        data = EVIDENCE[kind]()
        for question, ask in QUESTIONS.items():
            if kind not in REFUSED.get(question, "").split(", "):
                assert ask(data) is not None
                continue
            with pytest.raises((ValueError, TypeError), match="`") as refusal:
                ask(data)
            assert len(str(refusal.value)) < 600, question


def test_how_many_are_answered():
    refused = sum(len(kinds.split(", ")) for kinds in REFUSED.values())
    assert (len(EVIDENCE) * len(QUESTIONS), len(EVIDENCE) * len(QUESTIONS) - refused) == (342, 219)


MODEL = {"model": "three_binomial", "prior": "laplace"}
SAME = {
    "summary": lambda data, how: bayescm.summary(data, ["recall", "mcc"], **how),
    "claims": lambda data, how: bayescm.probability(data, ["recall > .8 and precision > .7", "mcc > .5"], **how),
    "distribution": lambda data, how: bayescm.metric_distribution(data, "f1", **how).hdi().to_dataset(name="hdi"),
    "cells": lambda data, how: bayescm.inference.cell_summary(data, **how),
    "replicate": lambda data, how: bayescm.planning.replicate(data, ["accuracy", "mcc"], claims="mcc > .4", **how),
    "prevalences": lambda data, how: bayescm.planning.at_prevalences(data, "precision", [0.1, (2, 8)], **how),
    "benefit": lambda data, how: bayescm.planning.decision_curve(data, [0.2, 0.5], **how),
    "loo": lambda data, how: bayescm.inference.loo(data, **how),
}


@pytest.mark.parametrize("question", SAME)
def test_draws_of_a_closed_form_answer_as_the_counts_do(question):
    tree = bayescm.posterior(COUNTS, draws=50, random_seed=1, **MODEL)
    xr.testing.assert_equal(SAME[question](tree, {}), SAME[question](COUNTS, MODEL))


def test_draws_of_a_closed_form_that_were_changed_answer_by_themselves(tmp_path):
    tree = bayescm.posterior(COUNTS, draws=100, random_seed=1, metrics="recall")
    tree.to_netcdf(tmp_path / "tree.nc")
    with xr.open_datatree(tmp_path / "tree.nc") as stored:
        xr.testing.assert_equal(bayescm.summary(stored.load(), "recall"), bayescm.summary(COUNTS, "recall"))
    thinned = tree.isel(draw=slice(None, None, 2))
    assert bayescm.summary(thinned, "recall").method.item() == "draws"
    changed = tree.copy(deep=True)
    changed["posterior"]["theta"].values[0, 0] = 0.25
    assert bayescm.summary(changed, "recall").method.item() == "draws"
    lies = tree.copy(deep=True)
    lies["observed_data"]["counts"].values[0] += 1
    assert bayescm.summary(lies, "recall").method.item() == "draws"


def near(found, truth, error):
    assert (abs(found - truth) < 6 * error + 1e-12).all()


@pytest.mark.parametrize("batch", [(), (2,)])
def test_cells_and_second_tests_of_draws_are_those_of_the_counts(batch):
    counts = EVIDENCE["systems"]() if batch else COUNTS
    tree = bayescm.posterior(counts, draws=5000, random_seed=1)
    tree.attrs.pop("draws_stamp")
    for normalize in ("actual", "predicted", "all"):
        found = bayescm.inference.cell_summary(tree, normalize=normalize)
        exact = bayescm.inference.cell_summary(counts, normalize=normalize)
        near(found["mean"], exact["mean"], found["mcse_mean"])
        near(found["interval"], exact["interval"], found["mcse_interval"])
        xr.testing.assert_equal(found["point"], exact["point"])
    found, exact = (
        bayescm.planning.replicate(one, "accuracy", claims="mcc > .5", random_seed=2) for one in (tree, counts)
    )
    near(found["mean"], exact["mean"], found["mcse_mean"])
    near(found["probability"], exact["probability"], found["mcse_probability"])
    if batch:
        near(found["probability_larger"], exact["probability_larger"], 0.5 / np.sqrt(20_000))


def test_second_tests_of_an_audit_are_those_of_its_draws():
    found = bayescm.planning.replicate(
        AUDIT, "recall", n_items=100, claims="accuracy > .8", draws=40_000, random_seed=1
    )
    theta = bayescm.posterior(AUDIT, metrics="accuracy", draws=10_000, random_seed=2).posterior.theta.values
    future = RNG.multinomial(100, theta.reshape(-1, 4))
    held = (future[:, 0] + future[:, 3] > 80).mean()
    near(found["probability"], held, 1.5 * found["mcse_probability"])
    assert bayescm.planning.replicate(AUDIT, "recall", draws=1000).attrs["model"] == "stratified"
    exact = bayescm.summary(AUDIT, "recall")
    cells = bayescm.inference.cell_summary(AUDIT, random_seed=1)
    near(cells["mean"].sel(actual=1, predicted=1), exact["mean"].item(), cells["mcse_mean"].sel(actual=1, predicted=1))


@pytest.mark.parametrize("question", ["hdi", "eti", "mean", "to_dataset", "cdf", "ppf"])
def test_distributions_of_lazy_counts_are_lazy(question):
    counts = bayescm.from_array(RNG.integers(0, 25, (4, 3, 2, 2)), dims=("tile", "system"))
    asked = {"cdf": ([0.2, 0.5],), "ppf": (0.3,)}.get(question, ())
    lazy, eager = (
        getattr(bayescm.metric_distribution(one, "f1"), question)(*asked) for one in (counts.chunk(tile=2), counts)
    )
    assert lazy.chunks
    xr.testing.assert_equal(lazy.compute(), eager)
