"""Several readers of the same cases: published numbers, and everything by a second way."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import bayescm
from bayescm.comparison.reader_tests import Study, covariance, power, weighted
from bayescm.data.readings import Readings

STUDY = bayescm.datasets.van_dyke1993()
TRUTH, RATING = STUDY.truth.values, STUDY.rating.values  # (system, reader, case)
LONG = STUDY.to_dataframe().reset_index().rename(columns={"system": "treatment", "item": "case"})
BOTH, CASES, READERS = "readers and cases", "cases", "readers"


@functools.cache
def published(covariances):
    """Return the result whose numbers others have printed."""
    return bayescm.readers(LONG, covariances=covariances, random_seed=1)


def test_van_dyke_is_what_others_have_printed():
    """By the jackknife: RJafroc (Chakraborty), as MRMCaov and OR-DBM MRMC (Smith, Hillis)."""
    found = published("jackknife")
    np.testing.assert_allclose(found.value, [[0.9196, 0.8588, 0.9039, 0.9731, 0.8298],
                                             [0.9478, 0.9053, 0.9217, 0.9994, 0.9300]], atol=5e-5)  # fmt: skip
    np.testing.assert_allclose(found.component, [0.0008023, 0.0003466, 0.0003441, 0.0002390], atol=5e-8)
    np.testing.assert_allclose(found.mean_square, [0.004796, 0.003836, 0.000551], atol=5e-7)
    both = found.sel(sampled=BOTH)
    np.testing.assert_allclose(both.point, [0.8970, 0.9408, -0.0438], atol=5e-5)
    np.testing.assert_allclose(both.se[:2], [0.03317, 0.02157], atol=5e-6)
    np.testing.assert_allclose(both.df, [12.74, 12.71, 15.26], atol=5e-3)
    np.testing.assert_allclose([both.f, both.f_p_value, both.p_value[2]], [4.456, 0.05167, 0.05167], rtol=2e-4)
    np.testing.assert_allclose(both.interval, [[0.8252, 0.9689], [0.8941, 0.9875], [-0.0879595, 0.0003589]], atol=5e-5)
    cases = found.sel(sampled=CASES)
    np.testing.assert_allclose([cases.f, cases.f_p_value], [5.476, 0.01928], rtol=2e-4)
    np.testing.assert_allclose(cases.se, [0.02429, 0.01678, 0.01872], atol=5e-6)
    np.testing.assert_allclose(cases.interval, [[0.8494, 0.9446], [0.9080, 0.9737], [-0.08049, -0.007115]], atol=5e-5)
    np.testing.assert_allclose(found.reader_se[0], [0.0255, 0.0263, 0.0312, 0.0173, 0.0441], atol=5e-5)


def by_pairs(values, truth):
    """Return areas and DeLong's covariance of them from all pairs of a case and a control, one after the other."""
    cases, controls = np.flatnonzero(truth == 1), np.flatnonzero(truth == 0)
    kernel = np.array(
        [[[(v[i] > v[j]) + 0.5 * (v[i] == v[j]) for j in controls] for i in cases] for v in values]
    )  # (k, n1, n0)
    area = kernel.mean((1, 2))
    first, second = kernel.mean(2) - area[:, None], kernel.mean(1) - area[:, None]
    n1, n0 = len(cases), len(controls)
    return area, first @ first.T / (n1 - 1) / n1 + second @ second.T / (n0 - 1) / n0


@functools.cache
def by_leaving_out():
    """Return areas of the study and their covariance by the jackknife, each area by scikit-learn."""
    values, truth, n = RATING.reshape(10, -1), TRUTH, len(TRUTH)
    area = np.array([roc_auc_score(truth, v) for v in values])
    without = np.array([[roc_auc_score(np.delete(truth, i), np.delete(v, i)) for v in values] for i in range(n)])
    return area, (n - 1) / n * (without - without.mean(0)).T @ (without - without.mean(0)), without


def by_hand(area, cov, t, r):
    """Return F, df and p of all three analyses, the formulas written out."""
    theta, cov = area.reshape(t, r), cov.reshape(t, r, t, r)
    ms_t = r * np.var(theta.mean(1), ddof=1)
    rest = theta - theta.mean(1)[:, None] - theta.mean(0) + theta.mean()
    ms_tr = (rest**2).sum() / ((t - 1) * (r - 1))
    pairs_t, pairs_r = list(itertools.permutations(range(t), 2)), list(itertools.permutations(range(r), 2))
    var = np.mean([cov[i, j, i, j] for i in range(t) for j in range(r)])
    cov1 = np.mean([cov[i, j, k, j] for i, k in pairs_t for j in range(r)])
    cov2 = np.mean([cov[i, j, i, k] for i in range(t) for j, k in pairs_r])
    cov3 = np.mean([cov[i, j, k, m] for i, k in pairs_t for j, m in pairs_r])
    whole = ms_tr + r * max(cov2 - cov3, 0)
    df = whole**2 / (ms_tr**2 / ((t - 1) * (r - 1)))
    fixed = var - cov1 + (r - 1) * (cov2 - cov3)
    return {
        BOTH: (ms_t / whole, df, stats.f.sf(ms_t / whole, t - 1, df), np.sqrt(2 * whole / r)),
        CASES: (ms_t / fixed, np.inf, stats.chi2.sf((t - 1) * ms_t / fixed, t - 1), np.sqrt(2 * fixed / r)),
        READERS: (ms_t / ms_tr, (t - 1) * (r - 1), stats.f.sf(ms_t / ms_tr, t - 1, (t - 1) * (r - 1)),
                  np.sqrt(2 * ms_tr / r)),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("covariances", ["delong", "jackknife"])
def test_all_is_right_to_ten_digits_by_other_code(covariances):
    found = published(covariances)
    area, cov = by_pairs(RATING.reshape(10, -1), TRUTH) if covariances == "delong" else by_leaving_out()[:2]
    np.testing.assert_allclose(found.value.values.ravel(), area, rtol=1e-13)
    np.testing.assert_allclose(found.covariance.values.reshape(10, 10), cov, rtol=1e-11, atol=1e-16)
    for sampled, (f, df, p, se) in by_hand(area, cov, 2, 5).items():
        one = found.sel(sampled=sampled)
        np.testing.assert_allclose([one.f, one.f_df, one.f_p_value], [f, df, p], rtol=1e-11)
        np.testing.assert_allclose([one.p_value[2], one.se[2]], [p, se], rtol=1e-11)  # of two systems t is F's root


def test_three_systems_and_one():
    """Another study, of drawn numbers: F of three systems; one system by its own covariances."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1], [30, 25])
    values = rng.standard_normal((3, 4, 55)) + truth + rng.standard_normal(55)
    scores = {f"s{i}": {f"r{j}": values[i, j] for j in range(4)} for i in range(3)}
    found = bayescm.readers(truth, scores, random_seed=1)
    area, cov = by_pairs(values.reshape(12, -1), truth)
    for sampled, (f, df, p, se) in by_hand(area, cov, 3, 4).items():
        one = found.sel(sampled=sampled)
        np.testing.assert_allclose([one.f, one.f_df, one.f_p_value], [f, df, p], rtol=1e-10)
        np.testing.assert_allclose(one.se[3:], se, rtol=1e-10)
    assert "all alike: p = " in found.bayescm.sentence
    alone = bayescm.readers(truth, {"s0": scores["s0"]}, random_seed=1)
    xr_of = found.isel(estimate=[0])
    for name in ("point", "se", "df", "interval"):
        np.testing.assert_allclose(alone[name], xr_of[name], rtol=1e-12)
    own, cov2 = area[:4], np.mean([cov[j, k] for j, k in itertools.permutations(range(4), 2)])
    square = np.var(own, ddof=1) + 4 * max(cov2, 0)
    np.testing.assert_allclose(alone.se.sel(sampled=BOTH), np.sqrt(square / 4), rtol=1e-10)
    assert np.isnan(alone.f).all()


@pytest.mark.slow
def test_dorfman_berbaum_and_metz_is_the_jackknife():
    """Their three-way analysis of pseudovalues gives the same F; Hillis' degrees of freedom go with it."""
    (area, _, without), n = by_leaving_out(), len(TRUTH)
    pseudo = (n * area - (n - 1) * without).T.reshape(2, 5, n)
    grand = pseudo.mean()
    t, r, c = (pseudo.mean(axis) - grand for axis in ((1, 2), (0, 2), (0, 1)))
    tr = pseudo.mean(2) - grand - t[:, None] - r
    tc = pseudo.mean(1) - grand - t[:, None] - c
    trc = (
        pseudo
        - grand
        - t[:, None, None]
        - r[:, None]
        - c
        - tr[..., None]
        - tc[:, None]
        - (pseudo.mean(0) - grand - r[:, None] - c)
    )
    ms_t, ms_tr = 5 * n * (t**2).sum(), n * (tr**2).sum() / 4
    ms_tc, ms_trc = 5 * (tc**2).sum() / (n - 1), (trc**2).sum() / (4 * (n - 1))
    found = published("jackknife").sel(sampled=BOTH)
    np.testing.assert_allclose(pseudo.mean(2).ravel(), area, rtol=1e-12)
    np.testing.assert_allclose(found.f, ms_t / (ms_tr + max(ms_tc - ms_trc, 0)), rtol=1e-9)


def test_the_bootstrap_agrees():
    drawn = bayescm.readers(LONG, covariances="bootstrap", draws=20_000, random_seed=2)
    np.testing.assert_allclose(drawn.component, published("delong").component, rtol=0.06)


def test_rates_of_calls():
    calls = LONG.assign(call=(LONG.rating >= 3).astype(int))
    right = {"recall": TRUTH == 1, "specificity": TRUTH == 0, "accuracy": TRUTH >= 0}
    for metric, kind in right.items():
        found = bayescm.readers(calls, metric=metric, predicted="call", random_seed=1)
        good = ((RATING >= 3) == TRUTH)[..., kind].reshape(10, -1)
        np.testing.assert_allclose(found.value.values.ravel(), good.mean(1), rtol=1e-14)
        np.testing.assert_allclose(
            found.covariance.values.reshape(10, 10), np.cov(good) / good.shape[1], rtol=1e-12, atol=1e-18
        )
        jackknife = bayescm.readers(calls, metric=metric, predicted="call", covariances="jackknife", random_seed=1)
        assert jackknife.component[0] == pytest.approx(float(found.component[0]), rel=0.02)
    assert bayescm.readers(calls, score=None, predicted="call", random_seed=1).attrs["metric"] == "accuracy"


def test_split_plots():
    """Cases of each reader: readers' covariances are 0; cases of each system: those of systems. Variances as before."""
    of_reader = LONG.assign(case=LONG.reader.astype(str) + "." + LONG.case.astype(str))
    of_system = LONG.assign(case=LONG.treatment.astype(str) + "." + LONG.case.astype(str))
    whole = published("delong")
    own, apart = (bayescm.readers(one, random_seed=1) for one in (of_reader, of_system))
    np.testing.assert_allclose(own.component, [*whole.component.values[:2], 0, 0], rtol=1e-12)
    np.testing.assert_allclose(apart.component, [whole.component[0], 0, whole.component[2], 0], rtol=1e-12)
    np.testing.assert_allclose(own.f_df.sel(sampled=BOTH), 4)
    assert "each case was read by one reader" in own.bayescm.sentence
    half = LONG[(LONG.reader <= 2) == (LONG.case % 2 == 1)]  # two groups of readers, each with cases of its own
    mixed = bayescm.readers(half, random_seed=1)
    cov = mixed.covariance.values
    np.testing.assert_array_equal(cov[:, :2, :, 2:], 0)
    # the variance of the difference of two means is that of fixed readers, whoever read what
    weights = np.array([1, -1])[:, None] * np.full((2, 5), 0.2)
    variance = np.einsum("ij,ijkl,kl", weights, cov, weights)
    np.testing.assert_allclose(mixed.sel(sampled=CASES).se[2], np.sqrt(variance), rtol=1e-12)


def test_partly_shared_cases_by_draws():
    """The covariance of two areas of which a third of the cases are common, by many samples."""
    rng, n = np.random.default_rng(5), 30
    read = np.array([[True] * 20 + [False] * 10, [False] * 10 + [True] * 20])
    areas, told = [], []
    for i in range(1200):
        truth = np.tile([0, 1], n // 2)
        values = truth + rng.standard_normal(n) + 0.7 * rng.standard_normal((2, n))
        kept = np.where(read, values, np.nan)[None]
        one = Readings(kept, truth == 1, np.array(["s"]), np.array(["a", "b"]), np.array([0, 1]), False)
        areas.append(weighted(one, "auc", np.ones((1, n)))[0, 0])
        if i < 400:
            told.append(covariance(one, "auc", "delong", 0, 0))
    np.testing.assert_allclose(np.mean(told, 0), np.cov(np.array(areas).T), rtol=0.2, atol=2e-4)


def test_power_by_simulation():
    """Studies drawn from Obuchowski and Rockette's model with known covariances reject as often as the F says."""
    rng, r, t, share = np.random.default_rng(7), 6, 2, 1.7
    found = published("delong")
    study = Study(found.value.values, found.covariance.values)
    error, cov1, cov2, cov3 = np.array(study.components) / share
    tr = max(
        study.squares[2] - study.components[0] + study.components[1] + study.components[2] - study.components[3], 0
    )
    same_t, same_r = np.eye(t, dtype=bool)[:, None, :, None], np.eye(r, dtype=bool)[None, :, None, :]
    cov = np.where(same_t & same_r, error + tr, np.where(same_r, cov1, np.where(same_t, cov2, cov3)))
    mean = np.repeat([0.0, 0.045], r)
    drawn = rng.multivariate_normal(mean, cov.reshape(t * r, t * r), 4000).reshape(-1, t, r)
    ms_t = r * drawn.mean(2).var(1, ddof=1)
    rest = drawn - drawn.mean(2, keepdims=True) - drawn.mean(1, keepdims=True) + drawn.mean((1, 2), keepdims=True)
    ms_tr = (rest**2).sum((1, 2)) / (r - 1)
    whole = ms_tr + r * (cov2 - cov3)
    rejected = (stats.f.sf(ms_t / whole, 1, whole**2 / (ms_tr**2 / (r - 1))) < 0.05).mean()
    told = power(study, 0.045, np.array([6.0]), share, 0.05)
    assert told == pytest.approx(rejected, abs=0.03)  # sd of the simulation .008
    planned = bayescm.readers(LONG, difference=0.045, n_readers=[6], n_cases=[round(share * 114)], random_seed=1)
    assert planned.power.item() == pytest.approx(told.item(), abs=0.002)


def test_the_posterior_of_these_readers_agrees_with_normal_theory():
    one = published("delong").sel(sampled=CASES, estimate="1 - 2")
    width = [float(np.diff(one[name])[0]) for name in ("interval", "credible")]
    assert width[1] == pytest.approx(width[0], rel=0.1)
    assert np.isnan(published("delong").credible.sel(sampled=READERS)).all()


def test_tables_files_and_arrays_are_the_same(tmp_path):
    path = tmp_path / "readings.csv"
    LONG.sample(frac=1, random_state=1).to_csv(path, index=False)
    ways = [
        bayescm.readers(LONG, random_seed=1),
        bayescm.readers(path, random_seed=1),
        bayescm.readers(LONG.rename(columns={"truth": "x", "rating": "y"}), actual="x", score="y", random_seed=1),
        bayescm.readers(STUDY.truth, STUDY.rating, random_seed=1),
        bayescm.readers(TRUTH, {s: pd.DataFrame(RATING[i].T) for i, s in enumerate("12")}, random_seed=1),
        bayescm.readers(LONG.assign(rating=-LONG.rating), direction="smaller", random_seed=1),
    ]
    for one in ways[1:]:
        for name in ("se", "p_value"):
            np.testing.assert_allclose(np.sort(one[name].values, None), np.sort(ways[0][name].values, None), rtol=1e-9)


def test_what_misleads_is_said():
    perfect = {s: {r: TRUTH.astype(float) for r in "abcde"} for s in "AB"}
    assert "these cases show no variance" in bayescm.readers(TRUTH, perfect, random_seed=1).bayescm.sentence
    one = bayescm.readers(STUDY.truth, STUDY.rating.sel(reader=[1]), random_seed=1)
    assert "one reader alone" in one.bayescm.sentence
    assert np.isnan(one.se.sel(sampled=BOTH)).all()
    single = bayescm.curves.auc_difference(TRUTH, {"1": RATING[0, 0], "2": RATING[1, 0]}, method="delong")
    np.testing.assert_allclose(one.sel(sampled=CASES).se[2], single.se, rtol=1e-12)
    three = bayescm.readers(STUDY.truth, STUDY.rating.sel(reader=[1, 2, 3]), random_seed=1)
    assert "3 readers show little" in three.bayescm.sentence
    alike = {s: {r: RATING[0, i].astype(float) for i, r in enumerate("abcde")} for s in "AB"}
    assert "show no difference" in bayescm.readers(TRUTH, alike, random_seed=1).bayescm.sentence


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayescm.readers(pd.concat([LONG, LONG[:1]])), "a reading stands in one row; system 1, reader 1"),
        (lambda: bayescm.readers(LONG[(LONG.reader > 1) | (LONG.treatment == 1)]), "1 didn't with 2"),
        (lambda: bayescm.readers(LONG.assign(truth=LONG.reader % 2)), "one class in all rows of a case"),
        (lambda: bayescm.readers(LONG.assign(truth=1)), "only the class 1"),
        (lambda: bayescm.readers(LONG.drop(columns="reader")), "no column for `reader`"),
        (lambda: bayescm.readers(LONG.assign(rating=np.nan)), "missing value"),
        (lambda: bayescm.readers(LONG.iloc[:0]), "empty|no rows"),
        (lambda: bayescm.readers(LONG, covariances="wald"), "`covariances` must be"),
        (lambda: bayescm.readers(LONG, metric="f1"), "`metric` must be"),
        (lambda: bayescm.readers(LONG[LONG.case.isin([1, 2, 3, 70])]), "must have read two cases of class|two classes"),
        (lambda: bayescm.readers(TRUTH, RATING), "must be what readers said"),
        (lambda: bayescm.readers(TRUTH, {"A": {"r": [1.0, 2.0]}}), "one value per case"),
        (lambda: bayescm.readers(TRUTH, {"A": {"r": TRUTH}}, reader="r"), "names of columns go with a table"),
        (lambda: bayescm.readers(LONG, difference=0.05, n_readers=[1]), "`n_readers` must be two or more"),
        (lambda: bayescm.readers(LONG[LONG.treatment == 1], difference=0.05), "a pilot of two systems"),
    ],
)
def test_nothing_is_silent(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
