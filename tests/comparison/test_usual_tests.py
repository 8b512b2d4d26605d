"""The usual tests of two systems or more: numbers of statsmodels 0.15 and SciPy, sums by hand, edges."""

import itertools

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.comparison import frequentist, score_intervals

ANSWERS = np.array([[20, 5, 2], [9, 30, 4], [1, 7, 22.0]])  # of two raters


def test_tables_of_answers_as_statsmodels_has_them():  # SquareTable(...).symmetry(), .homogeneity()
    assert frequentist.bowker(ANSWERS) == pytest.approx(0.5135998832392554, rel=1e-12)
    assert frequentist.stuart_maxwell(ANSWERS) == pytest.approx(0.7082358169631094, rel=1e-12)
    never = np.insert(np.insert(ANSWERS, 1, 0, 0), 1, 0, 1)  # an answer that nobody gave
    apart = [[5, 2, 0, 0], [3, 4, 0, 0], [0, 0, 6, 1], [0, 0, 0, 2.0]]  # two tests in one
    found = frequentist.stuart_maxwell(np.array([never, apart]))
    np.testing.assert_allclose(found, [0.7082358169631094, np.nan], rtol=1e-12)
    assert frequentist.stuart_maxwell(np.diag([3.0, 4.0])) == 1.0


def test_cochran_q_as_statsmodels_has_it():
    got = (np.random.default_rng(1).random((40, 3)) < [0.8, 0.7, 0.5]).astype(float)
    assert frequentist.cochran_q(got, np.ones(40, int)) == pytest.approx(0.0036715445132779233, rel=1e-12)
    two = got[:, :2]
    b, c = (two[:, 0] > two[:, 1]).sum(), (two[:, 0] < two[:, 1]).sum()
    assert frequentist.cochran_q(two, np.ones(40, int)) == pytest.approx(frequentist.mcnemar(b, c)[3])
    assert frequentist.cochran_q(np.ones((5, 3)), np.ones(5, int)) == 1.0


def test_mcnemar_with_and_without_correction():  # statsmodels mcnemar(exact=False)
    assert frequentist.mcnemar(22, 7)[3:] == pytest.approx([0.005345676872654248, 0.00932958471977156], rel=1e-12)
    assert frequentist.mcnemar(0, 0).tolist() == [1.0] * 5
    assert frequentist.mcnemar(3, 3)[4] == 1.0


def test_holm_as_statsmodels_has_it():  # multipletests(method="holm")
    assert frequentist.holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert frequentist.holm(np.array([0.01, np.nan, 0.03]))[[0, 2]] == pytest.approx([0.02, 0.03])


@pytest.mark.parametrize(
    ("table", "of_odds", "expected"),
    [  # statsmodels confint_proportions_2indep(method="score", correction=True)
        ((40, 50, 30, 50), False, (1.0289316227887026, 1.7796988764673627)),
        ((40, 50, 30, 50), True, (1.097508042184274, 6.462867272992631)),
        ((9, 10, 3, 12), False, (1.5253700326947217, 10.506587941092057)),
        ((9, 10, 3, 12), True, (2.6687010291777247, 238.0548271653483)),
        ((0, 20, 4, 25), False, (0.0, 1.1126688511722425)),
    ],
)
def test_score_intervals_of_ratios(table, of_odds, expected):
    a, b, c, d = table
    found = score_intervals.ratio((a, c), (b, d), 0.95, of_odds=of_odds)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert score_intervals.ratio((c, a), (d, b), 0.95, of_odds=of_odds)[::-1] == pytest.approx(
        [1 / x if x else np.inf for x in found], rel=1e-6
    )


@pytest.mark.parametrize("of_odds", [False, True])
def test_bounds_of_ratios_are_those_of_the_sides_exchanged(of_odds):
    # every table of up to five items a side: where all of the second succeed, an odds ratio once had an upper end of 0
    n = np.array(list(itertools.product(range(1, 6), repeat=2)))
    for size in n:
        k = np.array(list(itertools.product(*(range(one + 1) for one in size))))
        low, high = score_intervals.ratio(k, size, 0.95, of_odds=of_odds).T
        known = (k.sum(1) > 0) & ((k.sum(1) < size.sum()) | (not of_odds))
        assert (np.isnan(low) == ~known).all()
        assert (low[known] < high[known]).all()
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = k / (size - k) if of_odds else k / size
            estimate = (odds[:, 0] / odds[:, 1])[known]
            mirrored = score_intervals.ratio(k[:, ::-1], size[::-1], 0.95, of_odds=of_odds)[known, ::-1]
            np.testing.assert_allclose(np.stack([low, high], 1)[known], 1.0 / mirrored, rtol=1e-9)
        assert ((low[known] <= estimate) & (estimate <= high[known])).all()


@pytest.mark.parametrize("of_odds", [False, True])
def test_bounds_of_ratios_are_where_the_likeliest_samples_are_z_away(of_odds):
    for k1, n1, k2, n2 in ((7, 7, 3, 9), (1, 30, 5, 20), (5, 9, 6, 9)):
        for bound in score_intervals.ratio((k1, k2), (n1, n2), 0.9, of_odds=of_odds):
            if not np.isfinite(bound):
                assert k1 == n1
                continue
            p2 = np.linspace(1e-6, 1 - 1e-6, 400_001)
            p1 = p2 * bound / (1 + p2 * (bound - 1)) if of_odds else p2 * bound
            p1, p2 = p1[p1 < 1], p2[p1 < 1]
            likely = np.argmax(stats.binom.logpmf(k1, n1, p1) + stats.binom.logpmf(k2, n2, p2))
            one, two = p1[likely], p2[likely]
            gap, variance = k1 / n1 - bound * k2 / n2, one * (1 - one) / n1 + bound**2 * two * (1 - two) / n2
            if of_odds:
                gap, variance = k1 - n1 * one, 1 / (1 / (n1 * one * (1 - one)) + 1 / (n2 * two * (1 - two)))
            z = abs(gap) / np.sqrt(variance * (n1 + n2) / (n1 + n2 - 1))
            assert z == pytest.approx(stats.norm.ppf(0.95), abs=2e-3)


def test_they_stand_beside_a_comparison():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 200)
    given = {
        name: np.where(rng.random(200) < right, truth, 1 - truth)
        for name, right in zip("abc", (0.9, 0.8, 0.7), strict=True)
    }
    tests = bayescm.compare_systems(truth, given, ["accuracy", "recall", "f1"], draws=200, random_seed=1)["tests"]
    right = np.stack([given[name] == truth for name in "abc"], 1)
    q = frequentist.cochran_q(right.astype(float), np.ones(200, int))
    assert tests.cochran_q.sel(metric="accuracy").item() == pytest.approx(q)
    assert np.isnan(tests.cochran_q.sel(metric="f1").item())
    assert tests.p_value_holm.sel(metric="recall", test="mcnemar_chi2").values == pytest.approx(
        frequentist.holm(tests.p_value.sel(metric="recall", test="mcnemar_chi2").values)
    )
    for place, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        squares = 0.0
        for actual in (0, 1):
            one, two = right[truth == actual][:, [i, j]].T
            b, c = (one & ~two).sum(), (two & ~one).sum()
            squares += (b - c) ** 2 / (b + c)
        assert tests.both_classes.values[place] == pytest.approx(stats.chi2.sf(squares, 2))
        table = np.array([[((given["abc"[i]] == x) & (given["abc"[j]] == y)).sum() for y in (0, 1)] for x in (0, 1)])
        assert tests.bowker.values[place] == pytest.approx(frequentist.mcnemar(table[0, 1], table[1, 0])[3])
    apart = bayescm.compare_systems(
        {"a": bayescm.confusion_matrix(truth, given["a"]), "b": bayescm.confusion_matrix(truth[:90], given["b"][:90])},
        draws=200, random_seed=1,
    )["tests"]  # fmt: skip
    k, n = (right[:, 0].sum(), right[:90, 1].sum()), (200, 90)
    assert apart.risk_ratio.values.ravel() == pytest.approx(score_intervals.ratio(k, n, 0.95))
    assert apart.odds_ratio.values.ravel() == pytest.approx(score_intervals.ratio(k, n, 0.95, of_odds=True))
    assert "cochran_q" not in apart


def test_many_comparisons_leave_out_the_slow_tests_and_say_so():
    rng = np.random.default_rng(1)
    systems = {f"s{i}": rng.integers(1, 9, (2, 2)) for i in range(8)}
    many, few = (bayescm.compare_systems(dict(list(systems.items())[:n]), draws=100, random_seed=1) for n in (8, 3))
    slow = {"test": ["boschloo_exact", "barnard_exact"]}
    p_values = many["tests"].p_value
    assert np.isnan(p_values.sel(slow)).all()
    assert np.isfinite(p_values.sel(test="score")).all()
    assert "Boschloo's and Barnard's tests are left out" in many["summary"].attrs["left_out"]
    assert "left out" in repr(many)
    assert np.isfinite(few["tests"].p_value.sel(slow)).all()
    assert "left_out" not in few.attrs
