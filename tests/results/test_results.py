"""Results say what they found, and stay what xarray makes of them."""

import copy
import html
import pickle
import re

import arviz as az
import numpy as np
import pytest
import xarray as xr
from sklearn.metrics import classification_report
from xarray.core import formatting

import bayescm
from bayescm.cli import main
from bayescm.results import writing
from bayescm.results.objects import as_result
from bayescm.results.views import VIEWS, view_of

RNG = np.random.default_rng(3)
TRUE = (RNG.random(200) < 0.4).astype(int)
SCORES = {name: np.round(TRUE + RNG.normal(0.0, sd, 200), 2) for name, sd in (("a", 0.6), ("b", 1.0))}
PREDICTED = {name: (score > 0.5).astype(int) for name, score in SCORES.items()}
ONE = bayescm.from_cells(tp=26, fn=2, fp=3, tn=6)
SEVERAL = bayescm.from_cells(tp=[26, 20, 24], fn=[2, 8, 4], fp=[3, 1, 0], tn=[6, 8, 9], dims="system")
READINGS = bayescm.datasets.van_dyke1993()
SEVERAL = SEVERAL.assign_coords(system=["x", "y", "z"])
THREE = bayescm.data.paired_counts(TRUE, PREDICTED | {"c": (SCORES["a"] > 0.1).astype(int)})
CLASSES = [[9, 1, 0], [2, 7, 1], [0, 3, 12]]
SCORES_OF_3 = np.random.default_rng(1).random((200, 3)) + 0.3 * np.eye(3)[np.arange(200) % 3]
AUDIT = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900])
MANY = 500


def pairs(data, metrics="accuracy", **options):
    return bayescm.compare_systems(data, metrics, draws=200, random_seed=1, **options)


MAKE = {
    "summary": lambda: bayescm.summary(ONE),
    "summary of systems": lambda: bayescm.summary(SEVERAL, "f1"),
    "summary of classes": lambda: bayescm.summary(CLASSES, draws=1000, random_seed=1),
    "interval": lambda: bayescm.interval(ONE, ["recall", "f1"]),
    "comparison": lambda: pairs(
        bayescm.data.paired_counts(TRUE, PREDICTED), ["accuracy", "mcc"], require="recall > .8"
    ),
    "comparisons": lambda: pairs(THREE, ["error_rate", "recall"], rope=0.01),
    "leaderboard": lambda: bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent", prizes=[3, 2, 1]),
    "gate": lambda: bayescm.gate((96, 120), (90, 110), margin=0.05, require="accuracy > .7"),
    "area": lambda: bayescm.auc(TRUE, SCORES["a"]),
    "bound": lambda: bayescm.interval(ONE, ["recall", "f1"], bound="lower"),
    "partial area": lambda: bayescm.auc(TRUE, SCORES["a"], fpr_range=(0, 0.2)),
    "areas of classes": lambda: bayescm.auc(
        np.arange(200) % 3, {name: SCORES_OF_3**n for name, n in (("a", 1), ("b", 3))}
    ),
    "area of classes": lambda: bayescm.auc(np.arange(200) % 3, SCORES_OF_3),
    "areas": lambda: bayescm.auc(TRUE, SCORES, method=["delong", "hanley_mcneil"]),
    "PR areas": lambda: bayescm.aucpr(TRUE, SCORES["a"], estimator=["average_precision", "interpolated_median"]),
    "band": lambda: bayescm.curve_band(TRUE, SCORES["a"], draws=200, random_seed=1),
    "bands of systems": lambda: bayescm.curve_band(TRUE, SCORES, draws=200, random_seed=1, space="pr"),
    "difference of areas": lambda: bayescm.curves.auc_difference(TRUE, SCORES),
    "reliability": lambda: bayescm.curves.reliability(TRUE, 1 / (1 + np.exp(-SCORES["a"]))),
    "rates": lambda: bayescm.curves.intervals(TRUE, SCORES["a"], thresholds=[0.2, 0.5]),
    "size": lambda: bayescm.sample_size(["recall", "specificity"], width=0.1, prevalence=0.3, fixed_totals=True),
    "allocation": lambda: bayescm.planning.allocate(AUDIT, 40),
    "value of labels": lambda: bayescm.planning.label_value(AUDIT, {"fn": 5, "fp": 2}, per_check=1, n_items=5000),
    "size for an area": lambda: bayescm.planning.sample_size_of_auc(0.8, width=0.1),
    "size for two areas": lambda: bayescm.planning.sample_size_of_auc(0.85, 0.8, correlation=0.6),
    "size of a contest": lambda: bayescm.planning.sample_size_to_compare(0.85, 0.8, discordance=0.1),
    "claims": lambda: bayescm.probability(ONE, ["mcc > 0.5", "recall > .9 and specificity > .6"]),
    "second test": lambda: bayescm.planning.replicate(ONE, ["mcc", "recall"], n_items=20),
    "prevalences": lambda: bayescm.planning.at_prevalences(ONE, ["precision", "npv"], [0.5, 0.01, (2, 98)]),
    "region": lambda: bayescm.region(ONE, grid=33),
    "cells": lambda: bayescm.inference.cell_summary(CLASSES, random_seed=1),
    "stated": lambda: bayescm.priors.counts_from_metrics(n_items=34, accuracy=0.94, specificity=0.75, precision=0.93),
    "reported": lambda: bayescm.from_reported(precision=0.84, recall=0.80, n_items=100, positives=40),
    "hidden size": lambda: bayescm.priors.hidden_size({"A": 0.787, "B": 0.762, "C": 0.701, "D": 0.652}, most=500),
    "area as printed": lambda: bayescm.curves.auc_from_reported("0.87", cases=40, controls=60),
    "synthesis": lambda: bayescm.synthesis(SEVERAL, draws=1000, random_seed=1),
    "readers": lambda: bayescm.readers(READINGS.truth, READINGS.rating, draws=1000, random_seed=1),
    "drift": lambda: bayescm.drift(SEVERAL, "recall", draws=1000, random_seed=1),
    "gaps": lambda: bayescm.gaps(SEVERAL, metrics=["recall", "accuracy"], draws=1000, random_seed=1),
    "decision": lambda: bayescm.decide(SEVERAL, {"fn": 10, "fp": 1}, design="independent", draws=1000, random_seed=1),
}


@pytest.fixture(scope="module")
def made():
    kept = {}

    def get(name):
        if name not in kept:
            kept[name] = MAKE[name]()
        return kept[name]

    return get


each_result = pytest.mark.parametrize("name", MAKE)


def told_by(data):
    return data["summary"].to_dataset() if isinstance(data, xr.DataTree) else data


def own(data):
    return formatting.dataset_repr(data)


@each_result
def test_text_has_sentence_table_and_assumptions_in_80_columns(name, made):
    data = made(name)
    text = repr(data)
    assert str(data) == text
    assert max(map(len, text.splitlines())) <= 80
    sentence, *tables, about = text.split("\n\n")
    assert sentence.replace("\n", " ") == data.bayescm.sentence
    assert about.startswith("Assumes: ")
    assert "Made by: " in about or name in ("stated", "reported", "hidden size", "area as printed")
    assert f"xarray.{type(data).__base__.__name__}" in about
    lines = [[line for line in table.splitlines() if not line.startswith("... and")] for table in tables]
    assert [len(table) - 1 for table in lines] == list(map(len, data.bayescm.tables()))


@each_result
def test_html_has_all_of_it_and_what_xarray_shows_folded(name, made):
    data = made(name)
    page = data._repr_html_()
    shown, folded = page.split("<details>", 1)
    assert html.escape(data.bayescm.sentence) in shown
    assert shown.count("<tr>") == sum(1 + len(table) for table in data.bayescm.tables())
    assert folded.startswith(f"<summary>xarray.{type(data).__base__.__name__}</summary>")
    assert "xr-wrap" in folded
    assert "http" not in shown


@each_result
def test_stored_loaded_copied_results_are_the_same_and_say_the_same(name, made, tmp_path):
    data = made(name)
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    tree = isinstance(data, xr.DataTree)
    with (xr.open_datatree if tree else xr.open_dataset)(tmp_path / "a.nc", engine="h5netcdf") as file:
        back = file.load()
    for other in (back, data.copy(deep=True), copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        assert type(other) is ((xr.DataTree if tree else xr.Dataset) if other is back else type(data))
        xr.testing.assert_identical(as_result(other), data)
        assert other.bayescm.sentence == data.bayescm.sentence
        assert other.bayescm.to_markdown() == data.bayescm.to_markdown()
        assert "Assumes: " in repr(other.bayescm)


@each_result
def test_the_table_has_a_row_for_each_interval_and_its_numbers(name, made):
    data = told_by(made(name))
    frame = made(name).bayescm.table()
    assert frame.index.is_unique
    if "interval" not in data:
        return
    bounds = data["interval"].transpose("ci_bound", *data["mean" if "mean" in data else "interval"].isel(
        ci_bound=0, missing_dims="ignore").dims).values.reshape(2, -1)  # fmt: skip
    np.testing.assert_array_equal(frame[["lower", "upper"]].to_numpy().T, bounds)
    assert ((frame["lower"] <= frame["upper"]) | frame["lower"].isna()).all()


@each_result
def test_the_table_as_text(name, made):
    data = made(name)
    tables = data.bayescm.to_markdown().strip().split("\n\n")
    for lines in (table.splitlines() for table in tables):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    latex = data.bayescm.to_latex().splitlines()
    assert latex[0].startswith(r"\begin{tabular}{")
    assert len([line for line in latex if line]) == sum(len(table.splitlines()) - 2 + 6 for table in tables)
    assert not re.search(r"(?<!\\)[_%#$]", "\n".join(latex))
    assert len(data.bayescm.to_csv().splitlines()) == 1 + len(data.bayescm.table())


@each_result
def test_what_is_no_longer_whole_is_shown_as_xarray_shows_it(name, made):
    view, data = view_of(made(name))
    for variable in view.variables:
        assert repr(data.drop_vars(variable)) == own(data.drop_vars(variable)) or view_of(data.drop_vars(variable))
    for attr in (*view.attrs, "assumptions", "creation_library"):
        less = data.copy()
        del less.attrs[attr]
        assert view_of(less) is None or view_of(less)[0] is not view
    for variable in data.variables:
        assert repr(data.drop_vars(variable))


@each_result
def test_parts_can_be_shown_whatever_is_selected(name, made):
    data = told_by(made(name))
    for dim in data.dims:
        for part in (data.isel({dim: 0}), data.isel({dim: [0]}), data.isel({dim: []}), data.isel({dim: [0, 0]})):
            assert repr(part)
            assert part._repr_html_()


@each_result
def test_lazy_results_are_not_computed_to_be_shown(name, made):
    data = told_by(made(name)).expand_dims("run").chunk()
    assert repr(data) == own(data)


def test_what_is_computed_with_results_is_shown_as_xarray_shows_it(made):
    data = made("summary of systems")
    for other in (data.mean("system"), data[["point", "mean"]], data["point"].to_dataset(), made("area") * 2):
        assert repr(other) == own(other)
    both = xr.concat([made("area"), made("area")], "run")
    assert len(both.bayescm.table()) == 2
    assert xr.merge([made("area"), xr.Dataset({"more": 1})])["more"] == 1
    assert az.summary(made("comparison"), round_to="none").shape[0] == 2


def test_others_are_left_alone():
    data = xr.Dataset({"x": ("a", [1, 2])})
    assert repr(data) == own(data)
    assert "<details>" not in data._repr_html_().split("xr-wrap")[0]
    tree = bayescm.posterior(ONE, metrics="f1", chains=2, draws=10, random_seed=1)
    assert repr(tree).startswith("<xarray.DataTree>")
    with pytest.raises(ValueError, match=r"summary, compare_systems, .* returned"):
        data.bayescm.table()


def test_many_rows():
    data = bayescm.summary(ONE.expand_dims(run=30), ["f1", "recall"])
    assert "... and 30 more" in repr(data)
    assert len(data.bayescm.table()) == 60
    many = bayescm.summary(ONE.expand_dims(run=41), ["f1", "recall"])
    assert repr(many) == own(many)
    claims = bayescm.probability(ONE.expand_dims(run=50), ["f1 > .8", "recall > .8"])
    assert "... and 80 more" in repr(claims)
    n = 60
    board = bayescm.leaderboard(
        xr.Dataset({"correct": ("system", np.arange(n) * 3 + 100), "wrong": ("system", 400 - np.arange(n) * 3)}),
        design="independent",
    )
    text = repr(board)
    assert "40 more" in text
    assert text.startswith(f"{n} leads {n} systems")
    assert text.split("\n\n")[1].splitlines()[1].startswith(f"{n} ")
    assert len(board.bayescm.table()) == n


@pytest.mark.parametrize("metric", ["accuracy", "error_rate", "mcc"])
def test_the_better_of_two_is_named_first_by_how_much_whatever_the_order(metric):
    told = []
    for order in ("ab", "ba"):
        table = bayescm.data.paired_counts(TRUE, {name: PREDICTED[name] for name in order})
        told.append(pairs(table, metric, ci_kind="eti").bayescm.sentence)
    first, second = (re.match(r"a is better than b in .* by (-?[\d.]+)", sentence) for sentence in told)
    assert float(first[1]) > 0
    assert float(first[1]) == pytest.approx(float(second[1]), abs=0.2 if metric != "mcc" else 0.02)


def test_a_comparison_says_what_decides_it(made):
    cell = made("comparison")["summary"].to_dataset().isel(comparison=0, metric=0)
    right, wrong = cell["discordant"].values
    sentence = made("comparison").bayescm.sentence
    assert sentence.startswith(f"a is better than b in accuracy by {100 * float(cell['mean']):.1f} points (95%: ")
    assert sentence.endswith(f"{right} items against {wrong} decide it.")
    few = pairs(bayescm.data.paired_counts([0, 1] * 10, {"a": [0, 1] * 10, "b": [0, 1] * 9 + [1, 1]})).bayescm.sentence
    assert few.startswith("No verdict on a and b in accuracy: a is ahead by ")
    assert few.endswith("only 1 item tells them apart.")
    same = pairs(bayescm.data.paired_counts(TRUE, {"a": TRUE, "b": TRUE}), rope=0.05).bayescm.sentence
    assert same.startswith("a and b are equivalent in accuracy, within 5 points: ")


@pytest.mark.parametrize("metric", ["recall", "false_negative_rate"])
def test_nobody_is_ahead_by_less_than_nothing(metric):
    """Of 9 in 10 and 44 in 50 the mean difference, 9.5/11 - 44.5/51, has the other sign than the likelier one."""
    few = bayescm.from_cells(tp=[9, 44], fn=[1, 6], fp=1, tn=9, dims="system").assign_coords(system=["A", "B"])
    table = bayescm.compare_systems(few, metric, random_seed=1)
    assert float(table["summary"]["probability_better"].squeeze()) > 0.5
    words = f"B is ahead by {100 * (44.5 / 51 - 9.5 / 11):.1f} points on average (95%: "
    assert words in table.bayescm.sentence
    assert "P(B better) = 0.4" in table.bayescm.sentence


def test_a_leaderboard_counts_those_that_are_tied_with_its_first(made):
    board = made("leaderboard")
    tied = int((board["tie_group"] == 1).sum()) - 1
    assert tied == 1
    assert f"but {tied} other can't be told apart from it at 95%" in board.bayescm.sentence
    assert board.isel(system=slice(None, None, -1)).bayescm.sentence == board.bayescm.sentence


def test_areas_that_differ_surely_and_not(made):
    assert made("difference of areas").bayescm.sentence.startswith("The area of a is larger than that of b by 0.")
    near = bayescm.curves.auc_difference(TRUE, {"a": SCORES["a"], "b": SCORES["a"] + 0.1 * RNG.normal(size=200)})
    assert "can't be told apart at 95%" in near.bayescm.sentence


def test_per_class_is_scikit_learns_report():
    matrix = np.array(CLASSES)
    actual, predicted = (np.repeat(index.ravel(), matrix.ravel()) for index in np.indices(matrix.shape))
    metrics = [name + average for name in ("precision", "recall", "f1") for average in ("", "_macro", "_weighted")]
    frame = bayescm.summary(matrix, metrics, draws=1000, random_seed=1).bayescm.per_class()
    report = classification_report(actual, predicted, output_dict=True)
    assert frame.index.tolist() == ["0", "1", "2", "macro", "weighted"]
    for row in frame.index:
        for ours, theirs in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
            key = row if row.isdigit() else f"{row} avg"
            assert frame.loc[row, (ours, "point")] == pytest.approx(report[key][theirs])
    with pytest.raises(ValueError, match="per_class"):
        bayescm.summary(ONE, "f1").bayescm.per_class()


def test_a_metric_by_any_of_its_names():
    found = bayescm.summary(ONE, ["sensitivity", "mcc"]).bayescm
    for name in ("sensitivity", "recall", "tpr"):
        assert found[name]["metric"] == "recall"
    with pytest.raises(ValueError, match="no 'f1'; it has recall, matthews_correlation"):
        found["f1"]
    classes = bayescm.summary(CLASSES, ["sensitivity", "accuracy"]).bayescm["tpr"]
    assert classes["metric"].values.tolist() == ["recall[0]", "recall[1]", "recall[2]"]


def test_what_is_undefined_is_called_so():
    found = bayescm.summary([[0, 0], [3, 9]], "specificity")
    assert found.bayescm.sentence.startswith("Specificity is undefined (95%: 0.")
    with pytest.warns(UserWarning, match="no interval"):
        area = bayescm.auc([0, 1, 1], [0.1, 0.5, 0.6], method="delong")
    assert "(no interval)" in area.bayescm.sentence


def test_how_it_was_made(made):
    assert (
        "Made by: design paired, model dirichlet_multinomial, prior jeffreys, "
        in made("comparison").bayescm.assumptions
    )
    assert "delong and hanley_mcneil, 95% confidence interval" in made("areas").bayescm.assumptions
    assert "exact and 1,000 draws" in made("summary of classes").bayescm.assumptions
    assert "prevalence 0.3, mode 0.8, concentration 10.0" in made("size").bayescm.assumptions


def test_names_are_escaped():
    counts = SEVERAL.assign_coords(system=["<b>", "a|b", "50%_#"])
    found = bayescm.summary(counts, "f1").bayescm
    assert "<b>" not in found._repr_html_()
    assert r"a\|b" in found.to_markdown()
    assert r"50\%\_\#" in found.to_latex()


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.500"), (1e-4, "0.0001"), (2e4, "20,000"), (3e9, "3e+09"),
                                             (np.nan, "-"), (np.inf, "inf"), (0.0, "0.000")])  # fmt: skip
def test_numbers(value, text):
    assert writing.show(value) == text


def test_every_view_is_shown_here(made):
    assert {view_of(made(name))[0].source for name in MAKE} == {view.source for view in VIEWS}


def of_three(*rows):
    return bayescm.from_array(np.array(rows), labels=["a", "B", "c"])


EMPTY = of_three([50, 3, 0], [0, 0, 0], [4, 1, 40])


def test_a_class_without_items_is_named_beside_the_averages_that_it_enters(capsys, tmp_path):
    table = bayescm.summary(EMPTY, ["accuracy", "f1_macro", "recall_weighted", "mcc", "recall"], draws=1000)
    said = "class 'B' has no items: its recall is the prior's, which enters f1_macro, recall_weighted"
    assert table.attrs["no_items"] == said
    assert f"Note: {said}. Note: with prior='learned', from the other classes, f1_macro is 0." in table.bayescm.sentence
    assert "class 'B' has no items" in table.bayescm.html().replace("&#x27;", "'")
    assert "class 'B' has no items" in bayescm.report(table)
    path = tmp_path / "square.csv"
    path.write_text("truth,a,B,c\na,50,3,0\nB,0,0,0\nc,4,1,40\n")
    assert main(["summary", str(path), "--metrics", "f1_macro"]) == 0
    assert (
        "Note: class 'B' has no items: its recall is the prior's, which enters f1_macro."
        in capsys.readouterr().out.replace("\n", " ")
    )
    alone = bayescm.summary(EMPTY, "recall").sel(metric="recall[B]")  # the prior's: Beta(1/2, 1/2)
    assert float(alone["mean"]) == pytest.approx(0.5)
    assert float(alone["sd"]) == pytest.approx(np.sqrt(1 / 8))


@pytest.mark.parametrize(
    ("counts", "metrics", "said"),
    [
        (EMPTY, ["accuracy", "mcc", "f1_micro"], None),
        (EMPTY, "recall", "class 'B' has no items: its recall is the prior's"),
        (of_three([9, 0, 0], [0, 0, 0], [0, 0, 0]), "recall_macro",
         "classes 'B', 'c' have no items: their recalls are the prior's, which enter recall_macro"),
        (of_three([9, 0, 0], [0, 4, 0], [0, 1, 5]), "f1_macro", None),
        (bayescm.from_cells(tp=26, fn=4, fp=0, tn=0), ["recall", "accuracy", "prevalence"], None),
        (bayescm.from_cells(tp=26, fn=4, fp=0, tn=0), ["recall", "specificity", "precision", "mcc"],
         "class 0 has no items: its recall is the prior's, which enters precision, mcc"),
        (bayescm.from_cells(tp=[26, 3], fn=4, fp=[0, 1], tn=[0, 2]), "f1",
         "class 0 has no items in 1 of 2 matrices: its recall is the prior's, which enters f1"),
        ({"correct": 45, "wrong": 5}, "accuracy", None),
        (bayescm.predictions([1, 1, 1], {"A": [1, 0, 1]}, labels=[0, 1]), "f1",
         "class 0 has no items: its recall is the prior's, which enters f1"),
    ],
)  # fmt: skip
def test_which_classes_without_items_are_named(counts, metrics, said):
    assert bayescm.summary(counts, metrics, draws=1000).attrs.get("no_items") == said
    assert "no_items" not in bayescm.summary([2, 1, 0], runs=2, draws=1000).attrs
