"""Every public answer that is uncertain says what it assumes, where the reader looks."""

import numpy as np
import pytest
import xarray as xr
from public import PUBLIC

import bayescm
from bayescm.data import assumptions
from bayescm.data.assumptions import ITEMS, TEST_SET

TWO = bayescm.from_cells(tp=26, fn=3, fp=2, tn=16)
SYSTEMS = bayescm.from_cells(tp=[26, 20], fn=[3, 8], fp=[2, 5], tn=[16, 15], dims="system")
ACTUAL, SCORE = [0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.9]
TOGETHER = bayescm.data.paired_counts([0, 0, 1, 1], {"A": [0, 1, 1, 1], "B": [0, 1, 0, 1]})
AUDIT = bayescm.audited([[4, 2], [1, 5]], totals=[600, 400])


def curves():
    return bayescm.curve_posterior(ACTUAL, SCORE, draws=20, random_seed=1)


ANSWERS = {
    "allocate": lambda: bayescm.planning.allocate(AUDIT, 10),
    "at_prevalences": lambda: bayescm.planning.at_prevalences(TWO, "ppv", [0.1, 0.2]),
    "auc": lambda: bayescm.auc(ACTUAL, SCORE),
    "auc_difference": lambda: bayescm.curves.auc_difference(ACTUAL, {"a": SCORE, "b": SCORE[::-1]}),
    "aucpr": lambda: bayescm.aucpr(ACTUAL, SCORE),
    "band": lambda: bayescm.band(bayescm.curves.counts_at_thresholds(ACTUAL, SCORE), grid=10),
    "cell_summary": lambda: bayescm.inference.cell_summary(TWO),
    "compare_systems": lambda: bayescm.compare_systems(SYSTEMS, random_seed=1),
    "curve_band": lambda: bayescm.curve_band(curves()),
    "hull": lambda: bayescm.curves.hull(bayescm.curves.intervals(ACTUAL, SCORE)),
    "intervals": lambda: bayescm.curves.intervals(ACTUAL, SCORE),
    "curve_posterior": curves,
    "decide": lambda: bayescm.decide(TWO, {"fn": 10, "fp": 1}, draws=1000, random_seed=1),
    "decision_curve": lambda: bayescm.planning.decision_curve(TWO, [0.2]),
    "drift": lambda: bayescm.drift(SYSTEMS.rename(system="week"), "recall", random_seed=1),
    "gaps": lambda: bayescm.gaps(SYSTEMS.rename(system="group"), metrics="recall", random_seed=1),
    "gate": lambda: bayescm.gate((96, 120), (90, 110)),
    "interval": lambda: bayescm.interval(TWO, "recall"),
    "interval_width": lambda: bayescm.planning.interval_width("accuracy", [50]),
    "label_value": lambda: bayescm.planning.label_value(
        AUDIT, {"fn": 5, "fp": 2}, per_check=1, n_items=1000, n_checks=[5]
    ),
    "leaderboard": lambda: bayescm.leaderboard(SYSTEMS),
    "loo": lambda: bayescm.inference.loo(TWO),
    "metric_distribution": lambda: bayescm.metric_distribution(TWO, "recall"),
    "posterior": lambda: bayescm.posterior(TWO, draws=10, random_seed=1),
    "probability": lambda: bayescm.probability(TWO, "recall > .8"),
    "readers": lambda: bayescm.readers([0, 0, 1, 1], {"A": {"r": [1, 2, 2, 3], "s": [1, 3, 2, 2]}}),
    "region": lambda: bayescm.region(TWO, grid=10),
    "region_level": lambda: bayescm.regions.region_level(TWO, recall=0.8, precision=0.8),
    "reliability": lambda: bayescm.curves.reliability(ACTUAL, 1 / (1 + np.exp(-np.array(SCORE, float)))),
    "replicate": lambda: bayescm.planning.replicate(TWO, "recall"),
    "sample_size": lambda: bayescm.sample_size("accuracy", width=0.2),
    "sample_size_of_auc": lambda: bayescm.planning.sample_size_of_auc(0.8, width=0.1),
    "sample_size_to_compare": lambda: bayescm.planning.sample_size_to_compare(0.9, 0.7),
    "sequential": lambda: bayescm.planning.sequential(SYSTEMS.rename(system="chunk"), "recall"),
    "summary": lambda: bayescm.summary(TWO, "recall"),
    "MetricDistribution": lambda: bayescm.metric_distribution(TWO, "recall").to_dataset(),
}
NO_ANSWERS = {
    "synthesis": "of studies, which say what they assume: tests/inference/test_studies.py",
    "audited": "counts",
    "CurveDisplay": "draws what curve_band returned",
    "LogitNormal": "a prior",
    "beta_from_interval": "a prior",
    "prior_from_metrics": "a prior",
    "prior_predictive": "what a prior expects, before there are items",
    "rope_probabilities": "of a posterior, which says",
    "choose": "says which method answers",
    "confusion_matrix": "counts",
    "counts_at_thresholds": "counts",
    "counts_from_metrics": "counts",
    "evaluate": "a metric of given cells",
    "from_array": "counts",
    "from_cells": "counts",
    "from_reported": "counts",
    "agreement": "counts of pairs of ratings",
    "auc_from_reported": "as those of auc",
    "hidden_size": "numbers of items",
    "from_inspect": "answers",
    "from_lm_eval": "answers",
    "from_table": "counts",
    "margins": "counts",
    "paired_counts": "counts",
    "predictions": "counts",
    "read": "what was understood",
    "report": "a text of answers, each of which says",
    "rogan_gladen": "a plug-in estimate, a number",
    "sbc": "simulates its own data",
    "scorer": "a function that returns a point",
}


def public():
    return set(PUBLIC)


def test_every_public_function_is_listed():
    drawn = {name for name in public() if name.startswith("plot_")}
    assert public() - drawn == ANSWERS.keys() | NO_ANSWERS.keys()
    assert not ANSWERS.keys() & NO_ANSWERS.keys()


@pytest.mark.filterwarnings("ignore:`area` of a hull")
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_says_what_it_assumes(name):
    found = ANSWERS[name]()
    said = found.attrs["assumptions"]
    assert "independent items" in said
    assert said.endswith(TEST_SET)
    assert len(said) < 250
    if isinstance(found, xr.DataTree):
        assert all(group.attrs["assumptions"] == said for group in found.children.values())


def of(found):
    return found.attrs["assumptions"].split("; ")


def test_other_assumptions_are_said_where_they_hold():
    plain = [ITEMS, TEST_SET]
    assert of(bayescm.summary(TWO, "recall")) == plain
    assert of(bayescm.summary(TWO, "ppv", prevalence="fixed")) == [assumptions.FIXED, TEST_SET]
    assert of(bayescm.summary(TWO, "ppv", prevalence=0.1)) == [ITEMS, assumptions.EXCHANGED, TEST_SET]
    assert of(bayescm.summary(TWO, "ppv", prevalence=(1, 9))) == [ITEMS, assumptions.EXCHANGED, TEST_SET]
    assert assumptions.EXCHANGED in of(bayescm.probability(TWO, "ppv > .1", prevalence=0.1))
    exchanged = bayescm.aucpr(ACTUAL * 50, SCORE * 50, prevalence=0.4, method="smoothed", draws=1000, random_seed=1)
    assert assumptions.EXCHANGED in of(exchanged)
    apart = bayescm.curves.auc_difference(
        {"a": ACTUAL, "b": ACTUAL}, {"a": SCORE, "b": SCORE[::-1]}, design="independent"
    )
    assert assumptions.OWN_ITEMS in of(apart)
    assert assumptions.SAME_ITEMS in of(bayescm.compare_systems(TOGETHER, random_seed=1))
    assert assumptions.OWN_ITEMS in of(bayescm.compare_systems(SYSTEMS, random_seed=1))
    assert assumptions.SAME_ITEMS in of(bayescm.leaderboard(TOGETHER, random_seed=1))
    assert assumptions.SAME_ITEMS in of(bayescm.decide(TOGETHER, {"fn": 1}, draws=1000, random_seed=1))
    assert assumptions.OWN_ITEMS in of(bayescm.decide(SYSTEMS, {"fn": 1}, draws=1000, random_seed=1))
    assert assumptions.SAME_ITEMS in of(bayescm.planning.sample_size_to_compare(0.9, 0.7, discordance=0.3))
    assert assumptions.FIXED in of(bayescm.sample_size("recall", width=0.3, prevalence=0.5, fixed_totals=True))


@pytest.mark.parametrize("name", bayescm.models.names())
def test_every_model_says_what_it_assumes(name):
    said = assumptions.of_model(name, None, {"pooling": "complete"})
    assert said["assumptions"].startswith(assumptions.OF_MODELS.get(name, ITEMS))
    assert ("target" in said) == (name == "kfold")


@pytest.mark.parametrize("pooling", ["complete", "average"])
def test_folds_say_what_their_interval_is_for(pooling):
    folds = bayescm.from_array(np.array([[[30, 5], [4, 11]], [[28, 7], [3, 12]]]), dims="fold")
    fit = bayescm.posterior(folds, model="kfold", pooling=pooling, metrics="mcc", draws=20, random_seed=1)
    assert "fitted models" in fit.attrs["target"]
    assert "not that of the recipe" in fit.attrs["target"]
    systems = xr.concat([folds, folds[::-1]], xr.DataArray(["A", "B"], dims="system", name="system"))
    found = bayescm.compare_systems(systems, pooling=pooling, draws=100, random_seed=1)
    assert found.attrs["target"] == fit.attrs["target"]


def test_a_program_of_the_users_own_answers_for_itself():
    assert assumptions.of_model(None, None, {})["assumptions"] == "those of the program"
