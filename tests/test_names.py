"""One name for one thing: the arguments of all public functions, read together (decision 0016)."""

import inspect

import pytest
from public import PUBLIC

FUNCTIONS = {name: inspect.signature(function).parameters for name, function in PUBLIC.items()}
GONE = {"confidence", "prob", "size", "weight", "y_preds", "story", "tree", "board", "dataset", "repeats"}
ALONE = {
    "n": {"from_table", "audited"},  # a column
    "cells": {"evaluate", "scorer"},
    "first": {"sample_size_to_compare"},  # two rates
    "second": {"sample_size_to_compare"},
}
"""Names that mean something else elsewhere, and the functions where they are right."""
DEFAULTS = {
    "ci_prob": 0.95, "ci_kind": "eti", "decision_prob": 0.95, "prior": None, "prevalence": None, "random_seed": None,
    "chains": 4, "model": "dirichlet_multinomial", "pos_label": None, "direction": "larger", "ax": None,
}  # fmt: skip
OTHERWISE = {
    ("beta_from_interval", "ci_prob"): 0.9,  # what experts are asked for
    ("plot_distribution", "ci_prob"): None,  # that of the data
    ("plot_distribution", "ci_kind"): None,
}
MANY = {
    "curve_posterior", "compare_systems", "leaderboard", "posterior", "aucpr", "band", "region_level", "sample_size",
    "interval_width", "region", "replicate", "decide", "auc", "auc_difference", "gate", "read", "synthesis",
    "gaps", "readers", "sample_size_to_compare", "audited",
}  # fmt: skip
"""Functions of more than ten arguments, each a question of its own."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_have_the_names_that_they_have_elsewhere(name):
    assert not GONE & set(FUNCTIONS[name])
    for argument, owners in ALONE.items():
        assert argument not in FUNCTIONS[name] or name in owners


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_the_same_everywhere(name):
    for argument, parameter in FUNCTIONS[name].items():
        if argument in DEFAULTS and parameter.default is not parameter.empty:
            assert parameter.default == OTHERWISE.get((name, argument), DEFAULTS[argument]), argument


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.startswith("plot_")])
def test_pictures_take_data_and_return_axes(name):
    assert next(iter(FUNCTIONS[name])) == "data"
    assert FUNCTIONS[name]["ax"].kind is inspect.Parameter.KEYWORD_ONLY


def test_few_functions_ask_much():
    assert {name for name, parameters in FUNCTIONS.items() if len(parameters) > 10} <= MANY
