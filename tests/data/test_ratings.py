"""Agreement of raters of the same subjects: published examples, hand arithmetic and other packages' numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescm

NAN = np.nan
FOUR = np.array([  # Krippendorff 2011, section C: observers A to D of twelve units
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]).T  # fmt: skip
FLEISS = [  # Fleiss 1971, Table 1: six psychiatrists' diagnoses of thirty patients
    "000600", "030030", "014010", "000060", "030300", "204000", "004020", "203100", "200400", "000060", "100500",
    "110400", "033000", "100500", "020310", "005010", "300120", "510000", "020400", "102030", "000060", "010500",
    "020130", "200400", "100410", "050100", "400020", "020400", "105000", "000060",
]  # fmt: skip
DIAGNOSES = np.array([np.repeat(np.arange(5), [int(n) for n in row[:5]]) for row in FLEISS])
TWO = np.array([[9, 2, 0, 1], [1, 8, 3, 0], [0, 2, 15, 4], [0, 0, 1, 6]])


def points(ratings, metrics, **how):
    return bayescm.summary(bayescm.agreement(ratings, **how), metrics, random_seed=1)["point"].values


def of_pairs(matrix):
    return np.array([pair for pair, n in np.ndenumerate(np.asarray(matrix)) for _ in range(n)])


def test_krippendorffs_example_with_missing_ratings():
    names = ["krippendorff_alpha", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval"]
    found = points(FOUR, names)
    np.testing.assert_allclose(found, [0.743, 0.815, 0.849], atol=5e-4)  # as printed
    np.testing.assert_allclose(found, [0.743421052631579, 0.8153875037548814, 0.8491071428571428], rtol=1e-12)  # PyPI's


def test_fleiss_example():
    kappa, *of_classes = points(DIAGNOSES, ["fleiss_kappa", "specific_agreement"])
    assert kappa == pytest.approx(0.430, abs=5e-4)
    each = np.stack([(label == DIAGNOSES).sum(1) for label in range(5)], 1)
    np.testing.assert_allclose(of_classes, (each * (each - 1)).sum(0) / (5 * each.sum(0)))  # Fleiss' conditional P
    np.testing.assert_allclose(of_classes[:2], [0.354, 0.354], atol=0.1)


def test_gwets_coefficient_of_many_raters_by_his_formula():
    """Gwet 2008, (4): each subject counts alike, whatever the number of its ratings."""
    ratings = FOUR[:9]
    each = np.stack([(ratings == label).sum(1) for label in range(1, 5)], 1).astype(float)
    m = each.sum(1, keepdims=True)
    same = ((each * (each - 1)).sum(1) / (m[:, 0] * (m[:, 0] - 1))).mean()
    shares = (each / m).mean(0)
    chance = (shares * (1 - shares)).sum() / 3
    assert points(ratings, "gwets_ac1", average="subjects")[0] == pytest.approx((same - chance) / (1 - chance))
    assert points(ratings, "fleiss_kappa", average="subjects")[0] == pytest.approx(
        (same - (shares**2).sum()) / (1 - (shares**2).sum())
    )


def test_asymptotic_errors_of_two_raters_are_statsmodels():
    """statsmodels 0.14: cohens_kappa(TWO, wt=...).std_kappa (Fleiss, Cohen and Everitt 1969)."""
    found = bayescm.interval(bayescm.agreement(of_pairs(TWO)), ["kappa", "kappa_linear", "kappa_quadratic"], "delta")
    n = TWO.sum()
    np.testing.assert_allclose(found["point"], [0.6293279022403258, 0.7246856386499008, 0.7935763262360158], rtol=1e-12)
    error = np.array([0.08445863624949751, 0.07178194310809213, 0.08532316189603721])
    np.testing.assert_allclose(found["se"], error * np.sqrt(n / (n - 1)), rtol=1e-7)


def test_asymptotic_error_of_ac1_is_gwets():
    """Gwet 2008, (38): the variance over subjects of (p_i - chance) / (1 - chance) with the chance of each."""
    counts = bayescm.agreement(DIAGNOSES)
    each = np.stack([(label == DIAGNOSES).sum(1) for label in range(5)], 1).astype(float)
    n, same, shares = len(each), (each * (each - 1)).sum(1) / 30, each.mean(0) / 6
    chance = (shares * (1 - shares)).sum() / 4
    own = (same - chance) / (1 - chance)
    own -= 2 * (1 - own.mean()) * ((each / 6 * (1 - shares)).sum(1) / 4 - chance) / (1 - chance)
    found = bayescm.interval(counts, "ac1", "delta")
    assert float(found["se"].item()) == pytest.approx(own.std(ddof=1) / np.sqrt(n), rel=1e-6)


def test_two_raters_of_two_classes_answer_as_the_table_does():
    """With one pair per subject the process over subjects is the Dirichlet of the cells, which is exact."""
    matrix = [[20, 3], [5, 72]]
    names = ["kappa", "gwets_ac1", "negative_agreement"]
    drawn = bayescm.summary(bayescm.agreement(of_pairs(matrix)), names, draws=40_000, random_seed=2)
    exact = bayescm.summary(matrix, names)
    np.testing.assert_allclose(drawn["point"], exact["point"])
    assert (np.abs(drawn["mean"] - exact["mean"]) < 5 * drawn["mcse_mean"]).all()
    assert (np.abs(drawn["interval"] - exact["interval"]) < 5 * drawn["mcse_interval"]).all()


def test_every_form_of_the_same_ratings(tmp_path):
    wide = pd.DataFrame(FOUR, columns=list("abcd")).assign(patient=[f"p{i}" for i in range(12)])
    long = wide.melt("patient", var_name="who", value_name="says").sample(frac=1, random_state=1)
    file = tmp_path / "ratings.csv"
    wide.astype(dict.fromkeys("abcd", "Int64")).to_csv(file, index=False)
    wanted = bayescm.agreement(FOUR)
    forms = [
        bayescm.agreement(wide),
        bayescm.agreement(long.dropna(), subject="patient", rater="who", rating="says"),
        bayescm.agreement(str(file)),
        bayescm.agreement({name: [None if v != v else int(v) for v in wide[name]] for name in "abcd"}),
        bayescm.agreement(xr.DataArray(FOUR, dims=("patient", "rater"))),
    ]
    for found in forms:
        np.testing.assert_allclose(found.sum(found.dims[0]), wanted.sum("subject"))
        assert found["actual"].values.tolist() == [1, 2, 3, 4, 5]
    assert forms[0].dims[0] == "patient"
    assert "p10" in forms[0]["patient"].values
    assert "p11" not in forms[0]["patient"].values  # one rating


def test_every_question_follows():
    counts = bayescm.agreement(FOUR)
    found = bayescm.summary(counts, random_seed=1)
    assert found["alias"].values.tolist()[:4] == [
        "observed_agreement", "krippendorff_alpha", "fleiss_kappa", "gwets_ac1",
    ]  # fmt: skip
    assert "11 subjects and pairs of 4 raters" in found.bayescm.sentence
    chance = bayescm.probability(counts, "krippendorff_alpha > .667", random_seed=1)["probability"].item()
    dist = bayescm.metric_distribution(counts, "krippendorff_alpha", random_seed=1)
    assert chance == pytest.approx(float(dist.sf(0.667)), abs=0.02)
    both = xr.concat([counts, counts], "system", combine_attrs="override").assign_coords(system=["A", "B"])
    alike = bayescm.compare_systems(both, "gwets_ac1", random_seed=1)["summary"]
    assert float(alike["point"].item()) == 0.0


@pytest.mark.parametrize(
    ("ratings", "how", "words"),
    [
        ([[1], [2]], {}, "two raters"),
        ([], {}, "a row per subject"),
        ({}, {}, "no ratings"),
        ({"a": [1, 2], "b": [1]}, {}, "as many ratings of each"),
        ([[NAN, NAN]], {}, "no ratings"),
        ([[1, NAN], [NAN, 2]], {}, "no subject with two ratings"),
        ([[1, 1], [1, 1]], {}, "only the class 1"),
        ([[1.5, 1], [2, 1]], {}, "fractions"),
        ([[1, 2], [2, 1]], {"judge": "gpt"}, "one of the raters"),
        ([[1, 2, 1], [2, 1, 1]], {"judge": "rater_1"}, "three annotators"),
        ([[1, 2]], {"rater": "x"}, "no column 'x'"),
        ([[1, 2]], {"average": "macro"}, "average"),
        ([["a", 1]], {}, "one type"),
    ],
)
def test_what_is_no_ratings_is_refused(ratings, how, words):
    with pytest.raises((ValueError, TypeError), match=words):
        bayescm.agreement(ratings, **how)


def test_a_subject_rated_twice_by_one_rater_is_refused():
    long = pd.DataFrame({"who": ["a", "a", "b"], "what": [1, 1, 1], "says": [0, 1, 1]})
    with pytest.raises(ValueError, match="2 ratings of '1' by 'a'"):
        bayescm.agreement(long, subject="what", rater="who", rating="says")


def test_what_raters_dont_have_is_refused():
    with pytest.raises(ValueError, match="which raters don't tell"):
        bayescm.summary(bayescm.agreement(FOUR), "accuracy", prevalence=0.3)


def test_each_subject_may_have_a_vote():
    found = bayescm.summary(bayescm.agreement(FOUR), "accuracy", average="units", random_seed=1)
    alike = [np.mean([a == b for i, a in enumerate(r) for b in r[i + 1 :]]) for r in (x[x == x] for x in FOUR[:11])]
    assert float(found["point"].item()) == pytest.approx(np.mean(alike))
    assert "Mean over 11 subjects" in found.bayescm.sentence


def test_kappa_of_many_raters_isnt_cohens():
    with pytest.raises(ValueError, match="fleiss_kappa"):
        bayescm.summary(bayescm.agreement(FOUR), "kappa")


def test_labels_with_gaps_are_warned_of():
    with pytest.warns(UserWarning, match="evenly spaced"):
        bayescm.agreement([[1, 2], [2, 5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts = bayescm.agreement([[1, 2], [2, 5]], labels=range(1, 6))
    assert counts.sizes["actual"] == 5


def test_a_column_of_names_isnt_a_rater(tmp_path):
    wide = pd.DataFrame(DIAGNOSES, columns=list("abcdef")).assign(id=range(30))
    with pytest.raises(ValueError, match="subject='id'"):
        bayescm.agreement(wide)
    assert bayescm.agreement(wide, subject="id").sizes == {"id": 30, "actual": 5, "predicted": 5}


def test_labels_of_a_file_have_its_type(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("a,b\n1,2\n2,2\n5,1\n")
    counts = bayescm.agreement(str(file), labels=["1", "2", "3", "4", "5"])
    assert counts["actual"].values.tolist() == [1, 2, 3, 4, 5]
    two = tmp_path / "two.csv"
    two.write_text("a,b\n1,0\n0,0\n1,1\n")
    assert bayescm.agreement(str(two), pos_label="0")["actual"].values.tolist() == [1, 0]


def test_perfect_agreement():
    counts = bayescm.agreement([[0, 0, 0], [1, 1, 1]] * 5)
    found = bayescm.summary(counts, ["krippendorff_alpha", "ac1"], random_seed=1)
    assert found["point"].values.tolist() == [1, 1]
    assert (found["interval"].sel(ci_bound="upper") <= 1).all()
    assert (found["interval"].sel(ci_bound="lower") < 0.9).all()


def slow_advantage(ratings, judge, annotator):
    """Return the advantage probabilities of Calderon et al. 2025, section 3, subject by subject."""
    judged, human = [], []
    for row in ratings:
        rest = [a for place, a in enumerate(row) if place not in (judge, annotator) and a == a]
        if row[judge] != row[judge] or row[annotator] != row[annotator] or not rest:
            continue
        of_judge, of_human = (np.mean([row[who] == a for a in rest]) for who in (judge, annotator))
        judged.append(of_judge >= of_human)
        human.append(of_human >= of_judge)
    return np.mean(judged), np.mean(human)


def test_a_judge_is_held_against_each_annotator():
    rng = np.random.default_rng(2)
    true = rng.integers(0, 3, (60, 1))
    ratings = np.where(rng.random((60, 5)) < [0.9, 0.8, 0.7, 0.6, 0.8], true, rng.integers(0, 3, (60, 5))).astype(float)
    ratings[rng.random((60, 5)) < 0.1] = NAN
    answers = bayescm.agreement(ratings, judge="rater_1")
    for place in range(1, 5):
        own = answers.isel(item=answers["annotator"].values == f"rater_{place + 1}")
        found = (own["predicted"] == 1).mean("item")
        wanted = slow_advantage(ratings, 0, place)
        assert found.sel(system=["rater_1", "annotators"]).values.tolist() == pytest.approx(wanted)
    pooled = bayescm.compare_systems(answers, reference="annotators", random_seed=1)["summary"]
    judged, human = (answers["predicted"] == 1).mean("item").values
    assert float(pooled["point"].item()) == pytest.approx(judged - human)
    assert 0.5 < float(pooled["probability_better"].item()) < 0.9
    assert "subjects" in bayescm.summary(answers, "accuracy", random_seed=1).bayescm.sentence


def test_a_report_of_ratings_says_how_far_they_agree(tmp_path):
    made = bayescm.agreement({"A": [1, 1, 2, 3, 3, 1], "B": [1, 1, 2, 2, 3, 1], "C": [1, 2, 2, 3, 3, None]})
    text = bayescm.report(made, metrics=["accuracy", "fleiss_kappa"], random_seed=1, file=tmp_path / "report.html")
    assert "Over 6 subjects and pairs of 3 raters" in text
    assert "Counts" not in (tmp_path / "report.html").read_text()
