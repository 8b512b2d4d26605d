"""``bayescm curve``, as a person types it."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.cli import main

RNG = np.random.default_rng(5)
Y = np.tile([0, 1], 30)
NEW, OLD = RNG.normal(1.5 * Y), RNG.normal(0.7 * Y)
FOLD = np.repeat(["a", "b"], 30)


@pytest.fixture
def scores(tmp_path):
    rows = [
        f"{y},{new!r},{old!r},{fold}" for y, new, old, fold in zip(Y, NEW.tolist(), OLD.tolist(), FOLD, strict=True)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("actual,score,old,fold\n" + "\n".join(rows) + "\n")
    return str(path)


def curve(capsys, *arguments):
    code = main(["curve", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys, *arguments):
    code, out, err = curve(capsys, *arguments, "--seed", "1", "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def quantities(made, method="posterior", **names):
    return {
        row["quantity"]: row
        for row in made["quantities"]
        if row["method"] == method and all(row[name] == value for name, value in names.items())
    }


def bounds(row):
    return {key: row[key] for key in ("estimate", "lower", "upper")}


def equal_tails(values, level=0.95, method="linear"):
    low, median, high = np.quantile(np.ravel(values), [(1 - level) / 2, 0.5, (1 + level) / 2], method=method)
    return {"estimate": pytest.approx(median), "lower": pytest.approx(low), "upper": pytest.approx(high)}


def test_areas_are_those_of_the_library(capsys, scores):
    made = told(capsys, scores)
    post = bayescm.curve_posterior(Y, NEW, random_seed=1)["posterior"]
    found = quantities(made)
    assert list(found) == ["auc", "average_precision"]
    for name, row in found.items():
        assert bounds(row) == equal_tails(post[name])
    want = bayescm.auc(Y, NEW, method="delong")
    delong = quantities(made, "DeLong")["auc"]
    assert delong["estimate"] == want["point"].item()
    assert [delong["lower"], delong["upper"]] == want["interval"].values.tolist()
    assert made["items"] == [{"cases": 30, "controls": 30}]
    assert made["settings"]["prior"] == "prior_item"
    assert "differences" not in made


@pytest.mark.parametrize(
    ("kind", "space", "within"),
    [("simultaneous", "roc", (0.1, 0.6)), ("pointwise", "pr", None), ("whole", "roc", None)],
)
def test_the_band_is_that_of_the_library(capsys, scores, kind, space, within):
    options = [] if within is None else ["--within", f"{within[0]},{within[1]}"]
    made = told(capsys, scores, "--band", kind, "--space", space, *options)["band"]
    tree = bayescm.curve_posterior(Y, NEW, random_seed=1)
    want = bayescm.curve_band(tree, method=kind, space=space, within=within)
    assert made["settings"]["statement"] == want.attrs["statement"]
    lower = [float(point["lower"]) for point in made["points"]]  # what isn't finite is text
    np.testing.assert_allclose(lower, want["band"].sel(ci_bound="lower"), rtol=1e-12)
    assert ("median" in made["points"][0]) == (kind != "whole")


def test_what_is_read_off_the_curve(capsys, scores):
    made = told(
        capsys, scores, "--at-specificity", ".9,.8", "--at-sensitivity", ".95", "--fpr-range", "0,.2", "--tpr-range",
        ".8,1", "--ci-prob", ".8", "--prior", "bootstrap", "--draws", "500",
    )  # fmt: skip
    post = bayescm.curve_posterior(
        Y, NEW, at_specificity=[0.9, 0.8], at_sensitivity=0.95, fpr_range=(0, 0.2), tpr_range=(0.8, 1),
        prior="bootstrap", draws=500, random_seed=1,
    )["posterior"]  # fmt: skip
    found = quantities(made)
    wanted = {
        "sensitivity_at_specificity[0.9]": post["sensitivity_at_specificity"].sel(specificity=0.9),
        "sensitivity_at_specificity[0.8]": post["sensitivity_at_specificity"].sel(specificity=0.8),
        "specificity_at_sensitivity[0.95]": post["specificity_at_sensitivity"].isel(sensitivity=0),
        **{name: post[name] for name in ("partial_auc_fpr", "partial_auc_fpr_corrected", "partial_auc_tpr")},
    }
    for name, values in wanted.items():
        assert bounds(found[name]) == equal_tails(values, 0.8)


def test_best_thresholds(capsys, scores):
    made = told(capsys, scores, "--metric", "f1", "--metric", "mcc,expected_cost(fn=5, fp=1)")
    tree = bayescm.curve_posterior(
        Y, NEW, over="threshold", metrics=["f1", "mcc", "expected_cost(fn=5, fp=1)"], random_seed=1
    )
    post = tree["posterior"]
    found = quantities(made)
    for metric in post["metric"].values:
        for name in ("best_threshold", "best_value", "regret"):
            row = found[f"{name}[{metric}]"]
            method = "inverted_cdf" if name == "best_threshold" else "linear"
            assert bounds(row) == equal_tails(post[name].sel(metric=metric), method=method)
    assert found["regret[f1]"]["threshold"] == tree["constant_data"]["chosen_threshold"].sel(metric="f1").item()
    code, out, _ = curve(capsys, scores, "--metric", "f1", "--seed", "1")
    assert code == 0
    assert f"regret[f1]: what threshold {found['regret[f1]']['threshold']:g} falls short" in " ".join(out.split())


def test_two_systems_on_the_same_items(capsys, scores):
    made = told(capsys, scores, "--score", "score", "--score", "old")
    post = bayescm.curve_posterior(Y, {"score": NEW, "old": OLD}, random_seed=1)["posterior"]
    assert [row["system"] for row in made["quantities"]] == ["score"] * 3 + ["old"] * 3
    first, second = (post["auc"].sel(system=name) for name in ("score", "old"))
    row = next(row for row in made["differences"] if row["difference"] == "auc" and row["method"] == "posterior")
    assert bounds(row) == equal_tails(first - second)
    assert row["probability"] == float((first > second).mean())
    assert (row["first"], row["second"]) == ("score", "old")
    delong = next(row for row in made["differences"] if row["method"] == "DeLong")
    want = bayescm.curves.auc_difference(Y, {"a": NEW, "b": OLD}, method="delong")
    assert (delong["estimate"], delong["p_value"]) == (want["point"].item(), want["p_value"].item())
    code, out, _ = curve(capsys, scores, "--score", "score", "--score", "old", "--seed", "1")
    assert code == 0
    assert "score minus old on the same items" in out
    assert [line.split()[0] for line in out.splitlines() if " 0.500 " in line] == ["score", "old"]


@pytest.mark.slow
def test_groups(capsys, scores):
    made = told(capsys, scores, "--group", "fold", "--metric", "f1")
    post = bayescm.curve_posterior(Y, NEW, by={"fold": FOLD}, random_seed=1)["posterior"]
    over = {"over": "threshold", "metrics": "f1"}
    best = bayescm.curve_posterior(Y, NEW, **over, by={"fold": FOLD}, random_seed=1)["constant_data"]
    assert made["items"] == [{"fold": f, "cases": 15, "controls": 15} for f in "ab"]
    for fold in "ab":
        row = quantities(made, fold=fold)["auc"]
        assert bounds(row) == equal_tails(post["auc"].sel(fold=fold))
        delong = quantities(made, "DeLong", fold=fold)["auc"]
        assert delong["estimate"] == bayescm.auc(Y[fold == FOLD], NEW[fold == FOLD])["point"].item()
        chosen = quantities(made, fold=fold)["regret[f1]"]["threshold"]
        assert chosen == best["chosen_threshold"].sel(fold=fold, metric="f1").item()
    both = told(capsys, scores, "--group", "fold", "--score", "score", "--score", "old")
    assert {(row["fold"], row["method"]) for row in both["differences"]} == {
        (fold, method) for fold in "ab" for method in ("posterior", "DeLong")
    }
    code, out, _ = curve(capsys, scores, "--group", "fold", "--score", "score", "--score", "old", "--seed", "1")
    assert code == 0
    assert "score minus old" in out


def test_a_group_named_system_is_no_system(capsys, tmp_path, scores):
    path = tmp_path / "named.csv"
    path.write_text(Path(scores).read_text().replace("fold", "system"))
    made = told(capsys, str(path), "--group", "system")
    assert "differences" not in made
    assert [row["system"] for row in made["quantities"]] == ["a"] * 3 + ["b"] * 3
    code, _, err = curve(capsys, str(path), "--group", "system", "--score", "score", "--score", "old")
    assert code == 2
    assert "--group can't be called 'system'" in err


def test_prevalence(capsys, scores):
    rare, usual = (
        quantities(told(capsys, scores, *extra))["average_precision"]["estimate"]
        for extra in (["--prevalence", ".01"], [])
    )
    assert rare < usual
    made = told(capsys, scores, "--prevalence", "2,198")
    post = bayescm.curve_posterior(Y, NEW, prevalence=[2, 198], random_seed=1)["posterior"]["average_precision"]
    assert quantities(made)["average_precision"]["upper"] == pytest.approx(float(post.quantile(0.975)))


def test_another_prevalence_is_smoothed_where_it_can_be(capsys, scores):
    assert told(capsys, scores, "--prevalence", ".01")["settings"]["prior"] == "smoothed"
    code, _, err = curve(capsys, scores, "--prevalence", ".01", "--score", "score", "--score", "old", "--seed", "1")
    assert code == 0
    assert "their intervals don't cover" in err


def test_direction(capsys, scores, tmp_path):
    path = tmp_path / "small.csv"
    rows = [f"{y},{-new!r}" for y, new in zip(Y, NEW.tolist(), strict=True)]
    path.write_text("actual,score\n" + "\n".join(rows) + "\n")
    large = told(capsys, scores, "--metric", "f1")
    small = told(capsys, str(path), "--metric", "f1", "--direction", "smaller")
    for method in ("posterior", "DeLong"):
        assert quantities(small, method)["auc"] == quantities(large, method)["auc"]
    best = [quantities(made)["best_threshold[f1]"] for made in (small, large)]
    assert best[0]["lower"] == pytest.approx(-best[1]["upper"])
    assert small["band"]["points"] == large["band"]["points"]
    regions = [
        json.loads(curve(capsys, file, "--band", "regions", "--grid", "41", "--mark", "0", "--json", *more)[1])
        for file, more in ((str(path), ["--direction", "smaller"]), (scores, []))
    ]
    assert regions[0]["band"] == regions[1]["band"]
    assert [row["tp"] for row in regions[0]["curve"]] == [row["tp"] for row in regions[1]["curve"]]
    assert regions[0]["curve"][3]["threshold"] == -regions[1]["curve"][3]["threshold"]


def test_positive_label(capsys, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text(
        "y,score\n" + "".join(f"{'bad' if y else 'good'},{s!r}\n" for y, s in zip(Y, NEW.tolist(), strict=True))
    )
    auc = {}
    for label in ("bad", "good"):
        code, out, err = curve(capsys, str(path), "--actual", "y", "--pos-label", label, "--seed", "1", "--json")
        assert code == 0
        assert ("direction='smaller'" in err) == (label == "good")
        made = json.loads(out)
        auc[label] = quantities(made, "DeLong")["auc"]["estimate"]
    assert auc["bad"] == bayescm.auc(Y, NEW)["point"].item()
    assert auc["good"] == pytest.approx(1 - auc["bad"])
    code, out, err = curve(
        capsys, str(path), "--actual", "y", "--pos-label", "bad", "--band", "regions", "--grid", "51"
    )
    assert (code, err) == (0, "")
    assert "wilks PR band of 60 thresholds" in out


def test_tables(capsys, scores):
    code, out, err = curve(capsys, scores, "--seed", "1", "--prior", "3")
    assert (code, err) == (0, "")
    assert "30 cases, 30 controls, 95% equal tails, prior item of weight 3" in " ".join(out.split())
    assert "simultaneous at 91 false positive rates from 0.05 to 0.95" in " ".join(out.split())
    assert "median of 4,000 draws" in out
    row = next(line for line in out.splitlines() if line.startswith("0.500 "))
    band = bayescm.curve_band(bayescm.curve_posterior(Y, NEW, prior=3.0, random_seed=1))
    low, high = band["band"].sel(fpr=0.5).values
    assert row.split()[-2:] == [f"{low:.3f}", f"{high:.3f}"]
    assert any(line.startswith("0.000") and line.endswith(" -") for line in out.splitlines())  # outside


@pytest.mark.slow
def test_save_and_plot(capsys, tmp_path, scores):
    nc, png = tmp_path / "tree.nc", tmp_path / "curve.png"
    code, _, err = curve(capsys, scores, "--seed", "1", "--metric", "f1", "--save", str(nc), "--plot", str(png))
    assert (code, err) == (0, "")
    assert png.read_bytes().startswith(b"\x89PNG")
    with xr.open_datatree(nc, engine="h5netcdf") as back:
        tree = back.load()
    assert {"posterior", "observed_data", "constant_data", "band", "posterior_over_thresholds"} == set(tree.children)
    want = bayescm.curve_posterior(Y, NEW, random_seed=1)
    np.testing.assert_array_equal(tree["posterior"]["auc"], want["posterior"]["auc"])
    np.testing.assert_array_equal(tree["band"]["band"], bayescm.curve_band(want)["band"])
    assert tree["posterior_over_thresholds"]["f1"].dims == ("chain", "draw", "threshold")


def test_perfect_separation_is_said(capsys, tmp_path):
    path = tmp_path / "perfect.csv"
    path.write_text("actual,score\n" + "".join(f"{int(i > 4)},{i}\n" for i in range(10)))
    code, out, err = curve(capsys, str(path), "--seed", "1", "--json")
    made = json.loads(out)
    assert code == 0
    assert "bayescm: warning: " in err
    assert quantities(made, "DeLong")["auc"]["lower"] == "nan"
    assert quantities(made)["auc"]["lower"] < 0.95


def test_a_group_without_cases(capsys, tmp_path):
    path = tmp_path / "alone.csv"
    path.write_text("actual,score,g\n" + "".join(f"{int(i % 2 and i < 6)},{i},{int(i > 5)}\n" for i in range(12)))
    made = told(capsys, str(path), "--group", "g")
    assert [row["cases"] for row in made["items"]] == [3, 0]
    assert "auc" not in quantities(made, "DeLong", g=1)
    assert quantities(made, g=1)["auc"]["lower"] < 0.1  # its posterior knows of controls only


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--band", "hull"], "`--band` must be one of 'simultaneous'"),
        (["--method", "exact"], "--method is for --band regions"),
        (["--mark", "1"], "--mark is for --band regions"),
        (["--mid-p"], "--mid-p is for --band regions"),
        (["--levels", ".5"], "--levels is for --band regions"),
        (["--band", "regions", "--group", "fold"], "--group doesn't apply to --band regions"),
        (["--band", "regions", "--fpr-range", "0,.1"], "--fpr-range doesn't apply to --band regions"),
        (["--band", "regions", "--ci-prob", ".9"], "--ci-prob doesn't apply to --band regions"),
        (["--band", "regions", "--score", "score", "--score", "old"], "takes one --score"),
        (["--band", "regions", "--levels", "high"], "`--levels`"),
        (["--score", "score", "--score", "score"], "`--score` has 'score' twice"),
        (["--score", "guess"], "no column 'guess'; it has actual, score, old, fold"),
        (["--group", "site"], "no column 'site'"),
        (["--within", ".1"], "`--within` must be 2 numbers with a comma; got '.1'"),
        (["--within", ".9,.1"], "`within`"),
        (["--at-specificity", "high"], "`--at-specificity` must be numbers with commas; got 'high'"),
        (["--at-specificity", "2"], "`at_specificity`"),
        (["--fpr-range", "0,x"], "`--fpr-range`"),
        (["--prior", "flat"], "`prior`"),
        (["--prior", "smoothed", "--score", "score", "--score", "old"], "`prior`='smoothed'"),
        (["--prevalence", "x"], "`--prevalence`"),
        (["--metric", "recal"], "'recal'"),
        (["--space", "det"], "`space`"),
        (["--ci-prob", "95"], "`--ci-prob`"),
        (["--draws", "0"], "`draws`"),
        (["--pos-label", "2"], "--pos-label must be one of 0, 1"),
        (["--save", "/nowhere/x.nc"], "/nowhere"),
    ],
)
def test_errors_are_one_line_and_exit_2(capsys, scores, extra, words):
    code, out, err = curve(capsys, scores, *extra)
    assert code == 2
    assert out == ""
    assert err.startswith("bayescm: error: ")
    assert len(err.splitlines()) == 1
    assert words in err


def test_labels_are_text_not_markup(capsys, tmp_path, scores):
    path = tmp_path / "markup.csv"
    path.write_text(Path(scores).read_text().replace("score,old", "[b],[/i]", 1))
    code, out, err = curve(capsys, str(path), "--score", "[b]", "--score", "[/i]", "--seed", "1")
    assert (code, err) == (0, "")
    assert "[b] minus [/i]" in out


@pytest.fixture
def chances(tmp_path):
    chance = np.random.default_rng(9).beta(1, 3, 400)
    came = (np.random.default_rng(8).uniform(size=400) < chance).astype(int)
    rows = [f"{y},{p!r},{p**2!r},x" for y, p in zip(came.tolist(), chance.tolist(), strict=True)]
    path = tmp_path / "chances.csv"
    path.write_text("actual,score,low,group\n" + "\n".join(rows) + "\n")
    return str(path), came, chance


def test_reliability_is_that_of_the_library(capsys, chances):
    path, came, chance = chances
    code, out, err = curve(
        capsys, path, "--reliability", "--bins", "4", "--method", "wilson", "--ci-prob", ".9", "--json"
    )
    assert (code, err) == (0, "")
    made, want = json.loads(out), bayescm.curves.reliability(came, chance, bins=4, method="wilson", ci_prob=0.9)
    for name, variable in (("share", "point"), ("mean_score", "mean_score"), ("items", "items"), ("to", "bin_upper")):
        assert [row[name] for row in made["bins"]] == pytest.approx(want[variable].values.tolist())
    assert [[row["lower"], row["upper"]] for row in made["bins"]] == pytest.approx(want["interval"].values)
    assert [[row["lower"], row["upper"]] for row in made["losses"]] == pytest.approx(want["loss_interval"].values)
    edges = json.loads(curve(capsys, path, "--reliability", "--bins", "0,.3,1", "--json")[1])
    assert [row["items"] for row in edges["bins"]] == [int((chance < 0.3).sum()), int((chance >= 0.3).sum())]


def test_reliability_of_two_systems_is_printed_saved_and_drawn(capsys, chances, tmp_path):
    path, came, chance = chances
    nc, png = tmp_path / "bins.nc", tmp_path / "bins.png"
    code, out, err = curve(
        capsys, path, "--reliability", "--bins", "3", "--score", "score", "--score", "low", "--save", str(nc),
        "--plot", str(png),
    )  # fmt: skip
    assert (code, err) == (0, "")
    off = bayescm.curves.reliability(came, chance**2, bins=3).attrs["off"]
    assert off > 0
    assert f"low: mean score outside in {off} of 3 bins" in out
    assert "Assumes: independent items" in out
    saved = xr.open_datatree(nc)
    np.testing.assert_allclose(saved["low"]["point"], bayescm.curves.reliability(came, chance**2, bins=3)["point"])
    assert png.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--reliability", "--group", "group"], "--group doesn't apply to --reliability"),
        (["--reliability", "--prior", "smoothed"], "--prior doesn't apply"),
        (["--reliability", "--band", "whole"], "--band is of curves"),
        (["--reliability", "--direction", "smaller"], "--direction doesn't apply"),
        (["--reliability", "--bins", "many"], "--bins must be a number"),
        (["--reliability", "--bins", "0,1,.5"], "from 0 to 1"),
        (["--reliability", "--method", "exact"], "`method` must be"),
        (["--bins", "3"], "--bins is for --reliability"),
    ],
)
def test_reliability_refuses_what_it_hasn_t(capsys, chances, extra, message):
    code, _, err = curve(capsys, chances[0], *extra)
    assert code == 2
    assert message in err
