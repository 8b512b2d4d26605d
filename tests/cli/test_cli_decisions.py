"""``bayescm compare``, ``leaderboard``, ``plan`` and ``replicate``, as a person types them."""

import json

import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.cli import main

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1], [60, 30])
A = np.where(RNG.random(90) < 0.12, 1 - Y, Y)
B = np.where(RNG.random(90) < 0.1, 1 - A, A)
SCORES = {name: np.round(RNG.normal(gain * Y), 3) for name, gain in (("one", 1.5), ("two", 0.7), ("three", 0.2))}
CELLS = {"tp": [30, 41, 20], "fn": [10, 4, 15], "fp": [8, 9, 3], "tn": [60, 70, 33]}
NAMES = ["old", "new", "other"]
_PILOT = ["--tp", "3", "--fn", "1", "--fp", "1", "--tn", "9"]


def table(path, columns):
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    return str(path)


@pytest.fixture
def answers(tmp_path):
    return table(tmp_path / "answers.csv", {"actual": Y, "A": A, "B": B} | SCORES)


@pytest.fixture
def systems(tmp_path):
    return table(tmp_path / "systems.csv", {"name": NAMES} | CELLS)


@pytest.fixture
def published(tmp_path):
    return table(tmp_path / "published.csv", {"team": list("XYZ"), "correct": [980, 978, 900], "wrong": [20, 22, 100]})


@pytest.fixture
def counts():
    return bayescm.from_cells(**CELLS).assign_coords(system=NAMES)


def run(capsys, *arguments):
    code = main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def refused(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("bayescm: error: ")
    return err


# compare


def test_the_same_items_are_compared_as_pairs(capsys, answers):
    options = ["--predicted", "A", "--predicted", "B", "--metric", "accuracy,mcc", "--rope", ".01"]
    made = told(capsys, "compare", answers, *options, "--require", "recall > .8", "--seed", "1")
    want = bayescm.compare_systems(
        bayescm.data.paired_counts(Y, {"A": A, "B": B}), ["accuracy", "mcc"], rope=0.01, random_seed=1,
        require="recall > .8",
    )  # fmt: skip
    summary = want["summary"].to_dataset()
    assert made["settings"]["design"] == "paired"
    assert [row["metric"] for row in made["differences"]] == ["accuracy", "matthews_correlation"]
    for row in made["differences"]:
        one = summary.sel(comparison=row["comparison"], metric=row["metric"])
        assert row["point"] == pytest.approx(one["point"].item())
        assert [row["lower"], row["upper"]] == pytest.approx(one["interval"].values.tolist())
        sides = [row[side] for side in ("worse", "equivalent", "better")]
        assert sides == pytest.approx(one["probability"].values.tolist())
        assert (row["verdict"], row["reason"]) == (one["verdict"].item(), one["reason"].item())
        assert [row["only_first"], row["only_second"]] == one["discordant"].values.tolist()
    assert [row["probability"] for row in made["requirements"]] == summary["requirement"].values.ravel().tolist()
    flips = {row["actual"]: row for row in made["flips"]}
    assert flips[0]["only_first_right"] == ((Y == 0) & (A == Y) & (B != Y)).sum()
    assert sum(sum(row[name] for name in row if "right" in name or "both" in name) for row in made["flips"]) == 90
    assert made["tests"][0]["metric"] == "accuracy"
    assert len(made["tests"]) == 1


def test_a_row_per_system_is_compared_as_independent(capsys, systems, counts):
    made = told(capsys, "compare", systems, "--metric", "f1", "--reference", "new", "--ci-kind", "hdi")
    want = bayescm.compare_systems(counts, "f1", reference="new", ci_kind="hdi", random_seed=1)["summary"].to_dataset()
    assert [row["comparison"] for row in made["differences"]] == want["comparison"].values.tolist()
    for row, interval in zip(made["differences"], want["interval"].values[:, 0], strict=True):
        assert [row["lower"], row["upper"]] == pytest.approx(interval.tolist())
    assert "flips" not in made


def test_a_long_table_with_names(capsys, tmp_path, counts):
    rows = [(name, a, p, int(counts.sel(system=name)[a, p])) for name in NAMES for a in (0, 1) for p in (0, 1)]
    columns = dict(zip(("who", "actual", "predicted", "n"), zip(*rows, strict=True), strict=True))
    long = table(tmp_path / "long.csv", columns)
    made = told(capsys, "compare", long, "--by", "who")
    want = bayescm.compare_systems(counts, random_seed=1)["summary"].to_dataset()
    found = {row["comparison"]: row["better"] for row in made["differences"]}
    assert len(found) == 3
    for names, better in found.items():
        one, other = names.split(" - ")
        known = f"{one} - {other}" in want["comparison"]
        exact = want["probability_better"].sel(comparison=names if known else f"{other} - {one}").item()
        assert better == pytest.approx(exact if known else 1 - exact)


def test_the_tables_of_compare(capsys, answers, systems):
    code, out, err = run(capsys, "compare", answers, "--predicted", "A", "--predicted", "B", "--require", "recall > .8")
    assert (code, err) == (0, "")
    for words in (
        "A - B",
        "design paired",
        "requirements",
        "the same items",
        "without a prior",
        "verdict",
        "mcnemar_mid_p",
    ):
        assert words in out
    _, out, _ = run(capsys, "compare", answers, "--predicted", "A,B", "--tests", "--json")
    assert {"mcnemar_chi2", "mcnemar_corrected"} <= set(json.loads(out)["tests"][0])
    code, out, _ = run(capsys, "compare", systems, "--metric", "f1 mcc", "--rope", ".02")
    assert code == 0
    for words in ("f1", "mcc (matt", "design independent", "old - new"):
        assert words in out


def test_areas_under_the_curve(capsys, answers):
    three = ["--score", "one", "--score", "two", "--score", "three"]
    made = told(capsys, "compare", answers, *three, "--method", "delong")
    assert [row["comparison"] for row in made["areas"]] == ["one - two", "one - three", "two - three"]
    pair = {"a": SCORES["one"], "b": SCORES["three"]}
    want = bayescm.curves.auc_difference(Y, pair, method="delong")
    row = made["areas"][1]
    assert row["difference"] == pytest.approx(want["point"].item())
    assert [row["lower"], row["upper"]] == pytest.approx(want["interval"].values.tolist())
    assert row["p_value"] == pytest.approx(want["p_value"].item())
    made = told(capsys, "compare", answers, *three, "--seed", "1")
    want, row = bayescm.curves.auc_difference(Y, pair, random_seed=1), made["areas"][1]
    assert [row["lower"], row["upper"]] == pytest.approx(want["interval"].values.tolist())
    assert row["probability_better"] == pytest.approx(want["probability_better"].item())
    code, out, _ = run(capsys, "compare", answers, "--score", "one", "--score", "two")
    assert code == 0
    assert "paired, bayesian" in out


def test_areas_of_independent_samples(capsys, tmp_path):
    site = np.tile(["x", "y", "y"], 30)
    file = table(tmp_path / "sites.csv", {"actual": Y, "score": -SCORES["one"], "site": site})
    made = told(capsys, "compare", file, "--score", "score", "--by", "site", "--direction", "smaller", "--seed", "1")
    (row,) = made["areas"]
    x, y = site == "x", site == "y"
    want = bayescm.curves.auc_difference(
        {"a": Y[x], "b": Y[y]}, {"a": SCORES["one"][x], "b": SCORES["one"][y]}, design="independent", random_seed=1
    )
    assert (row["comparison"], made["settings"]["design"]) == ("x - y", "independent")
    assert row["difference"] == pytest.approx(want["point"].item())
    assert [row["lower"], row["upper"]] == pytest.approx(want["interval"].values.tolist())
    assert "independent, bayesian" in run(capsys, "compare", file, "--score", "score", "--by", "site")[1]


def test_files_of_compare(capsys, answers, tmp_path):
    pair = ["--predicted", "A", "--predicted", "B", "--seed", "1", "--metric", "recall,f1"]
    code, _, _ = run(capsys, "compare", answers, *pair, "--save", f"{tmp_path}/d.nc", "--plot", f"{tmp_path}/d.png")
    assert code == 0
    with xr.open_datatree(tmp_path / "d.nc") as tree:
        assert {"posterior", "summary", "tests", "flips"} <= set(tree.children)
    assert (tmp_path / "d.png").stat().st_size > 5000
    assert run(capsys, "compare", answers, "--score", "one", "--score", "two", "--save", f"{tmp_path}/a.nc")[0] == 0
    with xr.open_dataset(tmp_path / "a.nc") as areas:
        assert areas["comparison"].values.tolist() == ["one - two"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "holds fractions"), (["--predicted", "A"], "must have the dim 'system'"),
        (["--predicted", "A", "--predicted", "A"], "two different columns"), (["--score", "one"], "two different"),
        (["--predicted", "A", "--predicted", "zz"], "no column 'zz'"), (["--by", "A"], "predicted"),
        (["--score", "one", "--score", "two", "--prior", "laplace"], "--prior doesn't apply to --score"),
        (["--score", "one", "--score", "two", "--rope", ".1"], "--rope doesn't apply to --score"),
        (["--score", "one", "--score", "two", "--plot", "a.png"], "bayescm curve"),
        (["--score", "one", "--score", "two", "--by", "A"], "give one --score"),
        (["--score", "one", "--score", "two", "--direction", "auto"], "every area too large"),
        (["--predicted", "A", "--predicted", "one"], "fractions, not labels"),
        (["--predicted", "A", "--predicted", "B", "--by", "one"], "--by doesn't apply"),
        (["--predicted", "A", "--predicted", "B", "--pos-label", "7"], "must be one of 0, 1"),
    ],
)  # fmt: skip
def test_what_compare_refuses(capsys, answers, options, words):
    assert words in refused(capsys, "compare", answers, *options)


def test_right_and_wrong_answers_alone_have_an_accuracy(capsys, published, systems):
    found = told(capsys, "compare", published, "--design", "independent")
    assert {row["metric"] for row in found["differences"]} == {"accuracy"}
    assert "--pos-label doesn't apply" in refused(capsys, "compare", systems, "--pos-label", "1")
    assert "old, new, other" in refused(capsys, "compare", systems, "--reference", "zz")


# leaderboard


def test_ranks_are_those_of_the_library(capsys, systems, counts):
    made = told(capsys, "leaderboard", systems, "--metric", "f1", "--prize", "100", "--prize", "20", "--top", "2")
    want = bayescm.leaderboard(counts, metric="f1", prizes=[100, 20], top=2)
    names = [row["system"] for row in made["systems"]]
    assert names == ["new", "old", "other"]
    for row in made["systems"]:
        one = want.sel(system=row["system"])
        assert row["best"] == pytest.approx(one["probability_best"].item())
        assert row["top_2"] == pytest.approx(one["top_probability"].values.tolist()[0])
        assert row["rank_probability"] == pytest.approx(one["rank_probability"].values.tolist())
        assert row["expected_prize"] == pytest.approx(one["expected_prize"].item())
        assert [row["rank_lower"], row["rank_upper"]] == one["rank_interval"].values.tolist()
    assert made["settings"]["method"] == "exact"


def test_published_accuracies_and_answers_to_the_same_items(capsys, published, answers):
    made = told(capsys, "leaderboard", published, "--prior", "laplace", "--design", "independent")
    data = xr.Dataset({"correct": ("system", [980, 978, 900]), "wrong": ("system", [20, 22, 100])})
    want = bayescm.leaderboard(data.assign_coords(system=list("XYZ")), prior="laplace", design="independent")
    assert [row["best"] for row in made["systems"]] == pytest.approx(want["probability_best"].values.tolist())
    same = told(capsys, "leaderboard", answers, "--predicted", "A", "--predicted", "B", "--seed", "1")
    assert same["settings"]["design"] == "paired"
    board = bayescm.leaderboard(bayescm.predictions(Y, {"A": A, "B": B}), random_seed=1)
    assert same["systems"][0]["best"] == pytest.approx(board["probability_best"].max().item())


def test_the_table_of_the_leaderboard(capsys, published):
    _, _, err = run(capsys, "leaderboard", published)
    assert "same number of items" in err
    assert "design='independent'" in err
    independent = ["--design", "independent"]
    code, out, err = run(capsys, "leaderboard", published, *independent, "--prize", "1000", "--rows", "2")
    assert (code, err) == (0, "")
    assert "1 more systems" in out
    assert "\nX  " in out
    assert "\nZ  " not in out
    assert "prize" in out
    assert "must be a positive integer" in refused(capsys, "leaderboard", published, *independent, "--rows", "0")
    assert "accuracy" in refused(capsys, "leaderboard", published, "--metric", "f1")


def test_the_score_of_the_first_is_corrected(capsys, tmp_path):
    right = [441, 435, 430, 428, 420, 418]
    several = table(tmp_path / "six.csv", {"team": list("abcdef"), "correct": right, "wrong": [500 - k for k in right]})
    _, out, _ = run(capsys, "leaderboard", several, "--design", "independent")
    board = bayescm.leaderboard(
        xr.Dataset({"correct": ("system", right), "wrong": ("system", [500 - k for k in right])}), design="independent"
    )
    assert "prior learned" in out
    row = next(line.split() for line in out.splitlines() if line.startswith("a  "))
    assert row[1:3] == ["0.882", f"{board['mean'].item(0):.3f}"]


APPENDED = {
    "counts": ("system,tp,fp,fn,tn\na,40,5,10,45\nb,30,5,19,45", "system,tp,fp,fn,tn\nc,45,5,5,47"),
    "published": ("system,correct,wrong\na,85,15\nb,75,24", "system,correct,wrong\nc,90,11"),
    "named items": ("item,a,b\nq1,1,1\nq2,0,1\nq3,1,1", "system,item,correct\nc,q3,1\nc,q1,0\nc,q2,0"),
    "labels": ("actual,a,b\nspam,spam,ham\nham,ham,ham", "actual,c,d\nspam,spam,spam\nham,spam,ham"),
}


@pytest.mark.parametrize("kind", APPENDED)
def test_a_board_in_a_file_grows_by_what_is_appended_once(capsys, tmp_path, kind):
    board, first, second = (tmp_path / name for name in ("board.csv", "first.csv", "second.csv"))
    for path, text in zip((first, second), APPENDED[kind], strict=True):
        path.write_text(text)
    for file in (first, second, second):
        made = told(capsys, "leaderboard", board, "--append", file)
    assert len(made["systems"]) == (4 if kind == "labels" else 3)
    again = told(capsys, "leaderboard", board)["systems"]
    assert {row["system"]: row["point"] for row in made["systems"]} == {row["system"]: row["point"] for row in again}
    written = board.read_text()
    second.write_text(APPENDED[kind][1].replace(",45,5,5", ",44,5,5").replace("90", "80").replace("q2,0", "q2,1")
                      .replace("ham,spam", "ham,ham"))  # fmt: skip
    words = refused(capsys, "leaderboard", board, "--append", second)
    assert "'c' is in" in words
    assert "with other values" in words
    assert board.read_text() == written


def test_what_is_no_part_of_a_board_is_not_appended(capsys, tmp_path):
    board, other = tmp_path / "board.csv", tmp_path / "other.csv"
    board.write_text("item,a,b\nq1,1,1\nq2,0,1")
    for text in ("system,correct,wrong\nc,9,1", "item,c,d\nq1,1,1\nq3,0,1"):
        other.write_text(text)
        assert "by the same names" in refused(capsys, "leaderboard", board, "--append", other)
    assert board.read_text() == "item,a,b\nq1,1,1\nq2,0,1"


def test_one_column_of_answers_and_one_that_names_the_systems(capsys, tmp_path):
    rows = {"model": ["A"] * 90 + ["B"] * 90, "actual": [*Y, *Y], "passed": [*A, *B]}
    made = told(capsys, "leaderboard", table(tmp_path / "long.csv", rows), "--by", "model", "--predicted", "passed",
                "--method", "exact", "--design", "independent")  # fmt: skip
    assert {row["system"] for row in made["systems"]} == {"A", "B"}
    nothing = table(tmp_path / "passed.csv", {"model": ["A", "B"], "passed": [1, 0]})
    message = refused(capsys, "leaderboard", nothing, "--by", "model", "--predicted", "passed")
    assert "wanted are actual and predicted" in message
    assert "several" not in message


def test_files_of_the_leaderboard(capsys, systems, tmp_path):
    code, _, _ = run(capsys, "leaderboard", systems, "--save", f"{tmp_path}/b.nc", "--plot", f"{tmp_path}/b.png")
    assert code == 0
    with xr.open_dataset(tmp_path / "b.nc") as board:
        assert board["rank_probability"].dims == ("system", "rank")
    assert (tmp_path / "b.png").stat().st_size > 5000


@pytest.mark.parametrize("command", ["compare", "leaderboard", "replicate"])
def test_empty_cells_are_named(capsys, tmp_path, command):
    nameless = table(tmp_path / "names.csv", {"name": ["old", "", "other"]} | CELLS)
    assert "column 'name' is empty in row 2" in refused(capsys, command, nameless)
    missing = table(tmp_path / "cells.csv", {"name": NAMES} | CELLS | {"fp": [8, 9, ""]})
    assert "column 'fp' is empty in row 3" in refused(capsys, command, missing)


def test_published_answers_know_no_prevalence(capsys, published, tmp_path):
    assert "don't apply" in refused(capsys, "leaderboard", published, "--prevalence", ".3")
    missing = table(tmp_path / "published.csv", {"team": ["X", "Y"], "correct": [980, ""], "wrong": [20, 22]})
    assert "column 'correct' is empty in row 2" in refused(capsys, "leaderboard", missing)


def test_rows_without_names_are_numbered(capsys, tmp_path):
    bare = table(tmp_path / "bare.csv", {"correct": [9, 5], "wrong": [1, 6]})
    assert [row["system"] for row in told(capsys, "leaderboard", bare)["systems"]] == ["1", "2"]


# plan


def test_items_are_those_of_the_library(capsys):
    made = told(capsys, "plan", "--metric", "accuracy,recall", "--width", ".15", "--mode", ".9", "--ci-kind", "eti")
    want = bayescm.sample_size(["accuracy", "recall"], width=0.15, mode=0.9, ci_kind="eti")
    assert [row["items"] for row in made["plan"]] == want["n_items"].values.tolist()
    assert [row["about"] for row in made["plan"]] == ["items", "actual positives"]
    assert made["plan"][0]["assurance"] == pytest.approx(want["assurance"].values[0])


@pytest.mark.slow
def test_whole_tests_rates_of_their_own_and_pilots(capsys):
    rates = ["--mode", "recall=.8,specificity=.95", "--concentration", "none"]
    made = told(capsys, "plan", "--metric", "recall,specificity", "--width", ".2", "--prevalence", ".3", *rates)
    want = bayescm.sample_size(
        ["recall", "specificity"], width=0.2, prevalence=0.3, mode={"recall": 0.8, "specificity": 0.95},
        concentration=None,
    )  # fmt: skip
    assert [row["items"] for row in made["plan"]] == [*want["n_items"].values.tolist(), want["n_items_together"].item()]
    cells = {"tp": 20, "fn": 4, "fp": 3, "tn": 60}
    options = [text for name, n in cells.items() for text in (f"--{name}", str(n))]
    made = told(capsys, "plan", "--metric", "recall", "--width", ".2", "--prevalence", "3,7", *options)
    want = bayescm.sample_size("recall", width=0.2, prevalence=(3, 7), pilot=bayescm.from_cells(**cells))
    assert [row["items"] for row in made["plan"]] == want["n_items"].values.tolist()


def test_widths_are_those_of_the_library(capsys, tmp_path):
    made = told(capsys, "plan", "--n-items", "50,100", "--assurance", ".8", "--save", f"{tmp_path}/w.nc")
    want = bayescm.planning.interval_width("accuracy", [50, 100], assurance=0.8)
    assert [row["width"] for row in made["plan"]] == pytest.approx(want["width"].values[0].tolist())
    with xr.open_dataset(tmp_path / "w.nc") as found:
        assert found["width"].dims == ("metric", "n_items")
    assert run(capsys, "plan", "--n-items", "50,100", "--plot", f"{tmp_path}/w.png")[0] == 0
    assert (tmp_path / "w.png").stat().st_size > 5000


@pytest.mark.slow
def test_items_to_see_a_difference(capsys):
    made = told(capsys, "plan", "--difference", ".1", "--mode", ".9", "--prior", "laplace", "--assurance", ".7")
    want = bayescm.planning.sample_size_to_compare(0.9, 0.8, prior="laplace", assurance=0.7)
    assert made["plan"][0]["items"] == want["n_items"].item()
    assert made["plan"][0]["second"] == 0.8
    options = ["--difference", ".1", "--mode", ".9", "--discordance", ".2", "--ci-prob", ".9"]
    made = told(capsys, "plan", *options, "--metric", "recall")
    want = bayescm.planning.sample_size_to_compare(0.9, 0.8, discordance=0.2, ci_prob=0.9, metric="recall")
    assert made["plan"][0]["items"] == want["n_items"].item()
    assert {name: made["plan"][0][name] for name in ("discordant", "error_rate")} == {
        name: pytest.approx(want[name].item()) for name in ("discordant", "error_rate")
    }
    assert "`error_rate`" in refused(capsys, "plan", *options, "--error-rate", "2")
    sentence = " ".join(run(capsys, "plan", *options, "--metric", "recall")[1].split())
    assert sentence.startswith(want.bayescm.sentence)
    assert "items for each system" in run(capsys, "plan", "--difference", ".2", "--concentration", "200")[1]


def test_the_tables_of_plan(capsys):
    code, out, err = run(capsys, "plan", "--width", ".1")
    assert (code, err) == (0, "")
    for words in ("with probability 95%", "mode 0.8, concentration 10", " 400 "):
        assert " ".join(words.split()) in " ".join(out.split())
    assert "2 / sqrt(items)" in run(capsys, "plan", "--n-items", "1000")[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give one of"), (["--width", ".1", "--n-items", "5"], "give one of"),
        (["--width", ".1", "--discordance", ".1"], "--discordance is for --difference"),
        (["--width", ".1", "--error-rate", ".1"], "--error-rate is for --difference"),
        (["--difference", ".1", "--tp", "3"], "--tp doesn't apply to --difference"),
        (["--difference", ".1", "--ci-kind", "hdi"], "--ci-kind doesn't apply"),
        (["--width", ".1", "--plot", "a.png"], "--n-items"), (["--n-items", "1.5"], "whole numbers"),
        (["--width", ".1", "--tp", "3"], "missing: --fn, --fp, --tn"),
        (["--width", ".1", *_PILOT, "--mode", ".7"], "--mode doesn't apply"),
        (["--width", ".1", "--mode", "x"], "--mode"),
        (["--width", ".1", "--metric", "mcc"], "prevalence"), (["--width", "0"], "`width`"),
    ],
)  # fmt: skip
def test_what_plan_refuses(capsys, options, words):
    assert words in refused(capsys, "plan", *options)


# replicate


def test_a_second_test_is_that_of_the_library(capsys, systems, counts):
    options = ["--metrics", "f1", "--n-items", "60", "--claim", "f1 > .7", "--claim", "recall > .8 and precision > .7"]
    made = told(capsys, "replicate", systems, *options, "--prior", "laplace", "--seed", "1")
    claims = ["f1 > .7", "recall > .8 and precision > .7"]
    want = bayescm.planning.replicate(counts, "f1", n_items=60, claims=claims, prior="laplace", random_seed=1)
    assert [row["system"] for row in made["metrics"]] == NAMES
    for row in made["metrics"]:
        one = want.sel(system=row["system"], metric="f1")
        assert [row["lower"], row["upper"]] == pytest.approx(one["interval"].values.tolist())
        assert row["mean"] == pytest.approx(one["mean"].item())
        assert row["method"] == "exact"
    for row in made["claims"]:
        one = want["probability"].sel(system=row["system"], claim=row["claim"])
        assert row["probability"] == pytest.approx(one.item())
    pair = next(row for row in made["pairs"] if (row["system"], row["versus"]) == ("new", "old"))
    assert pair["larger"] == pytest.approx(want["probability_larger"].sel(system="new", versus="old").item())
    assert len(made["pairs"]) == 6


def test_the_tables_of_replicate(capsys, systems):
    cells = ["--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6", "--metrics", "mcc"]
    code, out, err = run(capsys, "replicate", *cells, "--claim", "mcc > .5")
    assert (code, err) == (0, "")
    for words in ("a second test of as many items", "undefined", "mcc > .5"):
        assert words in out
    assert "one system and another" not in out
    code, out, _ = run(capsys, "replicate", systems, "--metrics", "mcc", "--n-items", "500", "--seed", "1")
    assert code == 0
    for words in ("a second test of 500 items", "Monte Carlo error", "one system and another", "versus"):
        assert words in out
    assert "undefined" not in out


def test_matrices_without_names_are_numbered(capsys, tmp_path):
    code, out, _ = run(capsys, "replicate", table(tmp_path / "bare.csv", CELLS), "--metrics", "f1", "--n-items", "30")
    assert code == 0
    assert all(f"\n{i:6} " in out or f"\n{i} " in out for i in (1, 2, 3))


def test_files_of_replicate(capsys, systems, tmp_path):
    files = ["--save", f"{tmp_path}/r.nc", "--plot", f"{tmp_path}/r.png"]
    assert run(capsys, "replicate", systems, "--metrics", "f1,recall", "--n-items", "50", *files)[0] == 0
    with xr.open_dataset(tmp_path / "r.nc") as found:
        assert found["interval"].dims == ("system", "metric", "ci_bound")
    assert (tmp_path / "r.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--claim", "good"], "can't read 'good'"), (["--n-items", "0"], "`n_items`"), (["--metrics", "zz"], "'zz'"),
        (["--prior", "haldane"], "improper"),
    ],
)  # fmt: skip
def test_what_replicate_refuses(capsys, options, words):
    assert words in refused(capsys, "replicate", "--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6", *options)


def test_the_second_of_two_error_rates_is_the_larger(capsys):
    plans = []
    for options in (["--metric", "error_rate", "--mode", ".15"], ["--mode", ".85"]):
        assert main(["plan", "--difference", ".05", "--json", *options]) == 0
        plans += json.loads(capsys.readouterr().out)["plan"]
    assert (plans[0]["first"], plans[0]["second"]) == (0.15, 0.2)
    assert plans[0]["items"] == plans[1]["items"]


def test_a_prior_of_right_and_wrong_answers_is_two_numbers(published, capsys):
    assert main(["leaderboard", published, "--prior", "90,10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["prior"] == "[90.0, 10.0]"


TEST = ("--tp", "26", "--fn", "4", "--fp", "20", "--tn", "150")


def test_decide_by_costs(capsys):
    code, out, err = run(capsys, "decide", *TEST, "--costs", "fn=10, fp=1", "--seed", "1", "--json")
    assert (code, err) == (0, "")
    wanted = bayescm.decide(bayescm.from_cells(tp=26, fn=4, fp=20, tn=150), {"fn": 10, "fp": 1}, random_seed=1)
    actions = json.loads(out)["actions"]
    assert [row["action"] for row in actions] == wanted.action.values.tolist()
    np.testing.assert_allclose([row["mean"] for row in actions], wanted["mean"])
    code, out, _ = run(capsys, "decide", *TEST, "--costs", "fn=10,fp=1", "--seed", "1")
    assert code == 0
    assert "Best of 3 actions: 'classifier'" in out


def test_decide_by_net_benefit(capsys, tmp_path):
    code, out, err = run(capsys, "decide", *TEST, "--thresholds", ".05,.2", "--json")
    assert (code, err) == (0, "")
    wanted = bayescm.planning.decision_curve(bayescm.from_cells(tp=26, fn=4, fp=20, tn=150), [0.05, 0.2])
    made = json.loads(out)
    np.testing.assert_allclose([row["mean"] for row in made["actions"]], wanted["mean"].values.ravel())
    np.testing.assert_allclose([row["probability_useful"] for row in made["thresholds"]], wanted["probability_useful"])
    scores = tmp_path / "scores.csv"
    scores.write_text("actual,p\n0,.1\n0,.3\n1,.2\n1,.8\n")
    code, out, err = run(capsys, "decide", str(scores), "--score", "p", "--thresholds", ".15,.5")
    assert (code, err) == (0, "")
    assert "probability_useful" in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "give --costs, such as fn=10,fp=1, or --thresholds"),
        (("--costs", "fn=10", "--thresholds", ".1"), "give --costs"),
        (("--costs", "xx=1"), "must name cells, some of tn, fp, fn, tp"),
        (("--costs", "10"), "must name cells"),
        (("--costs", "fn=ten"), "`--costs` must be numbers"),
        (("--costs", "fn=1", "--plot", "a.png"), "--plot draws the net benefit"),
        (("--thresholds", ".1", "--decision-prob", ".9"), "--decision-prob is for --costs"),
        (("--thresholds", "2"), "threshold probabilities in (0, 1)"),
    ],
)
def test_what_decide_refuses(capsys, options, told):
    code, out, err = run(capsys, "decide", *TEST, *options)
    assert (code, out) == (2, "")
    assert told in err


def test_prevalence(capsys):
    code, out, err = run(capsys, "prevalence", *TEST, "--at", "1%,.5", "--json")
    assert (code, err) == (0, "")
    counts = bayescm.from_cells(tp=26, fn=4, fp=20, tn=150)
    wanted = bayescm.planning.at_prevalences(counts, ["precision", "npv"], [0.01, 0.5])
    rows = json.loads(out)["metrics"]
    assert [(row["prevalence"], row["alias"]) for row in rows] == [(p, m) for p in (0.01, 0.5) for m in ("PPV", "NPV")]
    np.testing.assert_allclose([row["lower"] for row in rows], wanted.interval.sel(ci_bound="lower").values.ravel())
    assert "PPV (precision)" in run(capsys, "prevalence", *TEST)[1]
    assert "`--at` must be" in run(capsys, "prevalence", *TEST, "--at", "one")[2]
    assert "in (0, 1)" in run(capsys, "prevalence", *TEST, "--at", "101%")[2]


@pytest.fixture
def sampled(monkeypatch):
    """Keep the counts that are asked about, and answer with draws: no NUTS."""
    asked = []

    def posterior(counts, **options):
        asked.append((counts, options))
        draw = xr.DataArray(np.linspace(0.1, 0.2, 800).reshape(4, 200), dims=("chain", "draw"))
        tests = [dim for dim in counts.dims if dim != "population"]
        rates = {f"test_{rate}": draw.expand_dims(test=tests) for rate in ("sensitivity", "specificity")}
        populations = counts.population.values if "population" in counts.dims else ["all"]
        dataset = xr.Dataset({"true_prevalence": draw.expand_dims(population=populations)} | rates)
        tree = xr.DataTree.from_dict({"posterior": dataset})
        tree.attrs = {"prior": "laplace", "assumptions": "that of the test"}
        return tree

    monkeypatch.setattr(bayescm, "posterior", posterior)
    return asked


def test_latent_counts_patterns_of_answers(capsys, sampled, tmp_path):
    table = bayescm.datasets.hui_walter1980()
    rows = [(*key, n) for key, n in table.to_series().items()]
    lines = [",".join(map(str, key)) for *key, n in rows for _ in range(n)]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join([",".join(map(str, table.dims)), *lines]) + "\n")
    tests = [str(dim) for dim in table.dims if dim != "population"]
    code, out, err = run(capsys, "latent", str(path), "--tests", ",".join(tests), "--by", "population", "--seed", "1")
    assert code == 0, err
    xr.testing.assert_equal(sampled[0][0].drop_vars(sampled[0][0].coords), table.drop_vars(table.coords))
    assert sampled[0][0].population.values.tolist() == table.population.values.tolist()
    assert "prevalence" in out


def test_latent_of_one_test_with_known_errors(capsys, sampled):
    code, out, err = run(capsys, "latent", "30", "300", "--known", ".9,.95", "--json")
    assert code == 0, err
    counts, options = sampled[0]
    assert counts.values.tolist() == [270, 30]
    assert options["known"] == {"the test": (0.9, 0.95)}
    assert json.loads(out)["rogan_gladen"] == pytest.approx(0.05 / 0.85)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("30", "20"), "two whole numbers: positives of n"),
        (("a", "b"), "two whole numbers: positives of n"),
        (("30", "300", "--known", "9"), "must have a sensitivity and a specificity"),
        (("30", "300", "--by", "x"), "--by is of a file"),
        (("1", "2", "3"), "give one CSV file"),
        (("answers.csv",), "--tests, the columns"),
        (("answers.csv", "--tests", "A,C"), "no column 'C'"),
        (("answers.csv", "--tests", "A,B", "--known", ".9,.9"), "must name the test, such as A=.9,.95"),
    ],
)
def test_what_latent_refuses(capsys, sampled, tmp_path, monkeypatch, given, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text("A,B\n1,0\n0,0\n")
    code, out, err = run(capsys, "latent", *given)
    assert (code, out) == (2, "")
    assert told in err


def test_printed_metrics(capsys):
    code, out, _ = run(
        capsys, "reported", "accuracy=0.94", "specificity=75%", "precision=.93", "--n-items", "34", "--json"
    )
    told = json.loads(out)
    assert code == 0
    assert (told["verdict"], told["matches"]) == ("unique", 1)
    words = ["precision=.85", "recall=.81", "--n-items", "1000", "--positives", "300", "--metrics", "recall"]
    code, out, _ = run(capsys, "reported", *words)
    assert code == 0
    assert "Recall is 0.81" in out
    code, out, _ = run(
        capsys, "reported", "precision=.85", "recall=.81", "f1=.9", "--n-items", "1000", "--metrics", "f1"
    )
    assert code == 0
    assert out.startswith("Impossible")
    for wrong in (["f1:0.8"], ["f1=0.8", "f1=0.9"], ["f1=8"], ["nothing=0.8"]):
        code, _, err = run(capsys, "reported", *wrong, "--n-items", "10")
        assert code == 2
        assert err.count("\n") == 1
