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
FOLDS = bayescm.from_array([[[15, 2], [1, 12]], [[14, 3], [2, 11]], [[16, 1], [3, 10]]], dims="fold")
AUDIT = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
STRATA = bayescm.from_array([[[17, 1], [3, 19]], [[9, 2], [1, 12]]], dims="stratum")


def draws(*batch):
    theta = RNG.dirichlet([20, 3, 2, 15], (4, 250, *batch)).reshape(4, 250, *batch, 2, 2)
    dims = ("chain", "draw", *(["system"] if batch else []), "actual", "predicted")
    names = {"system": ["a", "b"]} if batch else {}
    data = xr.Dataset({"theta": (dims, theta)}, coords={"actual": [0, 1], "predicted": [0, 1]} | names)
    return xr.DataTree.from_dict({"posterior": data})


EVIDENCE = {
    "counts": lambda: bayescm.from_cells(tp=26, fn=3, fp=2, tn=16),
    "classes": lambda: bayescm.from_array([[10, 1, 2], [0, 8, 1], [2, 1, 9]]),
    "systems": lambda: bayescm.from_cells(tp=[26, 20], fn=[3, 6], fp=[2, 3], tn=[16, 15], dims="system"),
    "folds": lambda: FOLDS,
    "audit": lambda: AUDIT,
    "strata": lambda: bayescm.audited(STRATA, [[100, 900], [300, 700]]),
    "audits": lambda: {"a": AUDIT, "b": bayescm.audited([[16, 1], [3, 19]], [120, 1900])},
    "right": lambda: {"correct": [45], "wrong": [5]},
    "paired": lambda: bayescm.paired_counts(TRUTH, ANSWERS),
    "predictions": lambda: bayescm.predictions(TRUTH, ANSWERS),
    "draws": draws,
    "draws of systems": lambda: draws(2),
    "kfold": lambda: bayescm.posterior(FOLDS, model="kfold", pooling="complete", random_seed=1),
    "average": lambda: bayescm.posterior(FOLDS, model="kfold", pooling="average", random_seed=1),
}
QUESTIONS = {
    "summary": lambda data: bayescm.summary(data, random_seed=1),
    "metric_distribution": lambda data: bayescm.metric_distribution(data, "accuracy", random_seed=1).eti(),
    "probability": lambda data: bayescm.probability(data, "accuracy > .8", random_seed=1),
    "two claims": lambda data: bayescm.probability(data, "accuracy > .8 and mcc > .5", random_seed=1),
    "posterior": lambda data: bayescm.posterior(data, metrics="accuracy", draws=20, random_seed=1),
    "cell_summary": bayescm.cell_summary,
    "interval": lambda data: bayescm.interval(data, "accuracy"),
    "region": lambda data: bayescm.region(data, method="credible", grid=20),
    "replicate": lambda data: bayescm.replicate(data, "accuracy"),
    "decide": lambda data: bayescm.decide(data, {"fn": 5, "fp": 1}, random_seed=1),
    "at_prevalences": lambda data: bayescm.at_prevalences(data, "precision", [0.1, 0.3], random_seed=1),
    "compare_systems": lambda data: bayescm.compare_systems(data, "accuracy", random_seed=1),
    "leaderboard": lambda data: bayescm.leaderboard(data, random_seed=1),
    "loo": bayescm.loo,
}
REFUSED = {
    "probability": "right",
    "two claims": "right",
    "posterior": "audits, paired, predictions, draws, draws of systems, kfold, average",
    "cell_summary": "audit, strata, audits, right, paired, predictions, draws, draws of systems, kfold, average",
    "interval": "audit, strata, audits, paired, predictions, draws, draws of systems, kfold, average",
    "region": "classes, audits, right, paired, predictions, draws of systems",
    "replicate": "audit, strata, audits, paired, predictions, draws, draws of systems, kfold, average",
    "decide": "classes, right",
    "at_prevalences": "classes, audits, right, paired, predictions",
    "compare_systems": "counts, classes, folds, audit, strata, right, draws, kfold, average",
    "leaderboard": "counts, classes, folds, audit, strata, draws, kfold, average",
    "loo": "audit, strata, audits, right, paired, predictions, draws, draws of systems, kfold, average",
}
"""What has no answer: a matrix where systems are compared, one class of many where two are meant, or not yet."""


@pytest.mark.parametrize("kind", EVIDENCE)
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
    assert len(EVIDENCE) * len(QUESTIONS) - refused == 119
