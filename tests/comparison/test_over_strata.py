"""Systems over strata: Mantel-Haenszel, Breslow-Day and Tarone as statsmodels has them, and shares of the strata."""

import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.comparison.stratified import of_strata

RIGHT, ITEMS = [[80, 30, 20], [60, 60, 50]], [[100, 50, 50], [70, 80, 100]]


@pytest.mark.parametrize(
    ("k", "n", "expected"),
    [  # statsmodels 0.15, StratifiedTable: test_null_odds() and corrected, oddsratio_pooled_confint(),
        # oddsratio_pooled, test_equal_odds() and adjusted
        (
            RIGHT, ITEMS,
            [0.024496346727780338, 0.03234794604497737, 0.39362091648681186, 0.9395908700496645, 0.6081468732071142,
             0.830490417773827, 0.8305641497550446],
        ),
        (  # Bickel, Hammel and O'Connell 1975: admissions to six departments in Berkeley
            [[512, 353, 120, 138, 53, 22], [89, 17, 202, 131, 94, 24]],
            [[825, 560, 325, 417, 191, 373], [108, 25, 593, 375, 393, 341]],
            [0.21692369705551817, 0.23226346281704802, 0.7719073617593505, 1.0603297644366558, 0.9046968282586231,
             0.0020713903499175457, 0.0020714013978808676],
        ),
    ],
)  # fmt: skip
def test_tests_are_statsmodels_s(k, n, expected):
    np.testing.assert_allclose(of_strata(k, n, 0.95), expected, rtol=1e-11)
    other = of_strata(k[::-1], n[::-1], 0.95)  # the second system first
    np.testing.assert_allclose(
        other[[0, 1, 3, 2, 4, 5, 6]], [*expected[:2], *1 / np.array(expected[2:5]), *expected[5:]]
    )
    more = of_strata([[*k[0], 0, 5, 0], [*k[1], 3, 9, 0]], [[*n[0], 0, 5, 7], [*n[1], 4, 9, 2]], 0.95)
    np.testing.assert_allclose(more, expected, rtol=1e-11)  # strata that say nothing


def test_breslow_and_day_s_expected_counts_have_the_common_odds_ratio():
    """Two strata of ten and ten; expected x with x (n2 - m + x) = odds (m - x) (n1 - x) by bisection."""
    from scipy import optimize, stats

    k, n = np.array([[7, 2], [4, 5]]), np.full((2, 2), 10)
    odds = of_strata(k, n, 0.9)[4]
    chi2, gaps, spread = 0.0, 0.0, 0.0
    for a, c in k.T:
        x = optimize.brentq(
            lambda x, m=a + c: x * (10 - m + x) - odds * (m - x) * (10 - x), max(0, a + c - 10), min(10, a + c)
        )
        variance = 1 / sum(1 / cell for cell in (x, a + c - x, 10 - x, 10 - a - c + x))
        chi2, gaps, spread = chi2 + (a - x) ** 2 / variance, gaps + a - x, spread + variance
    assert of_strata(k, n, 0.9)[5:] == pytest.approx(stats.chi2.sf([chi2, chi2 - gaps**2 / spread], 1), rel=1e-10)


def test_edges_of_strata():
    assert np.isnan(of_strata([[0, 3], [0, 2]], [[5, 3], [4, 2]], 0.95)).all()
    perfect = of_strata([[5, 6], [3, 2]], [[5, 6], [5, 5]], 0.95)
    assert perfect[4] == np.inf
    assert perfect[0] < 0.05
    assert np.isnan(perfect[[2, 3, 5, 6]]).all()
    assert of_strata([[3, 3], [3, 3]], [[6, 6], [6, 6]], 0.95)[[0, 1, 4, 5]] == pytest.approx([1, 1, 1, 1])
    many = of_strata(1e12 * np.array(RIGHT), 1e12 * np.array(ITEMS), 0.95)
    assert many[[0, 1]].tolist() == [0.0, 0.0]
    assert many[4] == pytest.approx(of_strata(RIGHT, ITEMS, 0.95)[4])


def test_the_level_is_held():
    rng = np.random.default_rng(3)
    n, rates = np.array([[20, 40, 10], [30, 15, 25]]), np.array([0.3, 0.6, 0.85])
    found = np.array([of_strata(rng.binomial(n, rates), n, 0.95) for _ in range(2000)])
    assert (found[:, 0] < 0.05).mean() == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 2000) ** 0.5 + 0.01)
    assert (found[:, 6] < 0.05).mean() == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 2000) ** 0.5 + 0.01)
    assert ((found[:, 2] < 1) & (found[:, 3] > 1)).mean() == pytest.approx(0.95, abs=0.03)


def two_in_three():
    k, n = np.array(RIGHT), np.array(ITEMS)
    fp, controls = np.array([[5, 5, 5], [4, 8, 12]]), np.array([[100, 50, 50], [70, 80, 100]])
    counts = bayescm.from_cells(tp=k, fn=n - k, fp=fp, tn=controls - fp, dims=("system", "stratum"))
    return counts.assign_coords(system=["A", "B"], stratum=["x", "y", "z"])


def test_systems_over_strata_have_their_shares_and_tests():
    counts = two_in_three()
    found = bayescm.compare_systems(counts, ["recall", "specificity", "accuracy", "mcc"], random_seed=1)
    tests = found["tests"].sel(comparison="A - B")
    np.testing.assert_allclose(tests["p_value"].sel(metric="recall"), of_strata(RIGHT, ITEMS, 0.95)[:2])
    np.testing.assert_allclose(tests["odds_ratio"].sel(metric="recall"), of_strata(RIGHT, ITEMS, 0.95)[2:4])
    names = ["common_odds_ratio", "breslow_day", "breslow_day_tarone"]
    np.testing.assert_allclose([tests[name].sel(metric="recall") for name in names], of_strata(RIGHT, ITEMS, 0.95)[4:])
    assert np.isnan(tests["p_value"].sel(metric="matthews_correlation")).all()
    shares = counts.sum(["system", "actual", "predicted"]) / counts.sum()
    right = (counts.sel(actual=1, predicted=1) + counts.sel(actual=0, predicted=0)) / counts.sum(
        ["actual", "predicted"]
    )
    accuracy = (right * shares).sum("stratum")
    summary = found["summary"].sel(comparison="A - B", metric="accuracy")
    assert summary["point"].item() == pytest.approx(accuracy.values[0] - accuracy.values[1], abs=1e-12)
    assert str(summary["method"].item()) == "exact"
    assert "independent items of each stratum, whatever the verdict" in found.attrs["assumptions"]
    audits = {
        name: bayescm.audited(
            counts.sel(system=name, drop=True), counts.sum(["system", "actual", "predicted"]), of="population"
        )
        for name in "AB"
    }
    same = bayescm.compare_systems(audits, ["recall", "accuracy"], design="independent", random_seed=1)
    np.testing.assert_allclose(same["tests"]["p_value"], found["tests"]["p_value"].sel(metric=["recall", "accuracy"]))
    np.testing.assert_allclose(same["summary"]["mean"], found["summary"]["mean"].sel(metric=["recall", "accuracy"]))
    assert bayescm.leaderboard(counts, random_seed=1)["point"].sel(system="A").item() == pytest.approx(
        accuracy.values[0]
    )


def test_the_shares_of_strata_undo_simpson_s_paradox():
    counts = bayescm.from_cells(
        tp=[[45, 10], [9, 80]], fn=[[5, 10], [2, 100]], fp=[[0, 0], [0, 0]], tn=[[50, 20], [11, 180]],
        dims=("system", "stratum"),
    )  # fmt: skip
    crude = bayescm.compare_systems(counts.sum("stratum"), "accuracy", random_seed=1)["summary"]["point"].item()
    assert crude > 0.15
    found = bayescm.compare_systems(counts, "accuracy", random_seed=1)
    assert abs(found["summary"]["point"].item()) < 0.06
    assert found["tests"]["p_value"].values[0, 0, 0] > 0.05


def test_more_systems_and_classes_and_wrong_input():
    rng = np.random.default_rng(1)
    counts = xr.DataArray(
        rng.integers(1, 20, (3, 2, 3, 3)), dims=("system", "stratum", "actual", "predicted"),
        coords={"actual": ["a", "b", "c"], "predicted": ["a", "b", "c"]},
    )  # fmt: skip
    found = bayescm.compare_systems(counts, ["accuracy", "recall"], random_seed=1)["tests"]
    assert found["p_value_holm"].shape == (3, 4, 2)
    right = counts.values[:2, :, 1, 1]
    expected = of_strata(right, counts.values[:2, :, 1].sum(-1), 0.95)[:2]
    np.testing.assert_allclose(found["p_value"][0, 2], expected)  # recall of b
    with pytest.raises(ValueError, match="'paired' needs to know"):
        bayescm.compare_systems(two_in_three(), design="paired")
    with pytest.warns(UserWarning, match="class totals"):
        bayescm.compare_systems(counts.isel(system=[0, 0]).assign_coords(system=["A", "B"]), random_seed=1)
    empty = two_in_three()
    empty[0, 1] = 0
    with pytest.warns(UserWarning, match="none was checked"):
        bayescm.compare_systems(empty, random_seed=1)
    with pytest.raises(ValueError, match="may have one dim of strata"):
        bayescm.compare_systems(counts.expand_dims(fold=2), random_seed=1)
    one = bayescm.compare_systems(two_in_three().isel(stratum=[0]), random_seed=1)
    assert "tests" not in one.children
    checked = two_in_three()
    by_verdict = {
        name: bayescm.audited(checked.sel(system=name, drop=True), [[500] * 2] * 3) for name in "AB"
    }  # chosen by verdict, too
    assert "tests" not in bayescm.compare_systems(by_verdict, design="independent", random_seed=1).children


@pytest.mark.slow
def test_a_column_names_the_strata(tmp_path, capsys):
    """Of cells, counts, rows of items and right answers, as frames and files; a dim of counts as well."""
    import pandas as pd

    from bayescm.cli import main

    counts = two_in_three()
    long = counts.to_series().rename("n").reset_index().rename(columns={"stratum": "site"})
    cells = long.assign(cell=[f"{a}{p}" for a, p in zip(long.actual, long.predicted, strict=True)])
    cells = cells.pivot(index=["system", "site"], columns="cell", values="n").reset_index()
    cells = cells.rename(columns={"00": "tn", "01": "fp", "10": "fn", "11": "tp"})
    items = long.loc[long.index.repeat(long.n)].drop(columns="n")
    expected = bayescm.compare_systems(counts, random_seed=1)
    for given in (cells, long, items, counts.rename(stratum="site")):
        found = bayescm.compare_systems(given, stratum="site", random_seed=1)
        np.testing.assert_allclose(found["summary"]["interval"], expected["summary"]["interval"])
        np.testing.assert_allclose(found["tests"]["p_value"], expected["tests"]["p_value"])
        board = bayescm.leaderboard(given, stratum="site", random_seed=1)
        np.testing.assert_allclose(board["point"], bayescm.leaderboard(counts, random_seed=1)["point"])
    right = pd.DataFrame(
        {"system": [*"AAABBB"], "site": [*"xyzxyz"], "correct": np.ravel(RIGHT), "total": np.ravel(ITEMS)}
    )
    tests = bayescm.compare_systems(right, stratum="site", random_seed=1)["tests"]
    np.testing.assert_allclose(tests["p_value"].values[0, 0], of_strata(RIGHT, ITEMS, 0.95)[:2])
    cells.to_csv(tmp_path / "cells.csv", index=False)
    assert main(["compare", str(tmp_path / "cells.csv"), "--stratum", "site"]) == 0
    assert "mantel_haenszel" in capsys.readouterr().out
    assert main(["leaderboard", str(tmp_path / "cells.csv"), "--stratum", "site"]) == 0
    assert main(["compare", str(tmp_path / "cells.csv"), "--stratum", "sit"]) == 2
    assert "--stratum must name a column" in capsys.readouterr().err
    by_unit = bayescm.summary(cells[cells.system == "A"].drop(columns="system"), "recall", unit="site")
    assert by_unit.point.item() == pytest.approx(130 / 200)
    for more, words in (({"stratum": "sit"}, "`stratum` must name"), ({"stratum": "site", "unit": "site"}, "one of")):
        with pytest.raises(ValueError, match=words):
            bayescm.compare_systems(cells, **more)
    with pytest.raises(ValueError, match="items of their own"):
        bayescm.compare_systems([0, 1, 0], {"A": [0, 1, 1], "B": [0, 0, 1]}, stratum=["x", "x", "y"])
