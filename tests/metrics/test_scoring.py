"""Scorers, in scikit-learn's own hands: points there, counts and intervals here."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    RocCurveDisplay,
    accuracy_score,
    confusion_matrix,
    f1_score,
    make_scorer,
    matthews_corrcoef,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

import bayescm

X, Y = load_breast_cancer(return_X_y=True)
FOLDS = StratifiedKFold(4)


@pytest.fixture(scope="module")
def results():
    return cross_validate(
        GaussianNB(), X, Y, cv=FOLDS, scoring=bayescm.scorer(["mcc", "error_rate"]), return_estimator=True,
        return_indices=True, return_train_score=True,
    )  # fmt: skip


def test_points_are_scikit_learn_s_and_counts_those_of_the_folds(results):
    counts = bayescm.read(results).data
    assert counts.dims == ("fold", "actual", "predicted")
    for i, (model, test) in enumerate(zip(results["estimator"], results["indices"]["test"], strict=True)):
        told = model.predict(X[test])
        assert results["test_mcc"][i] == pytest.approx(matthews_corrcoef(Y[test], told))
        assert results["test_neg_error_rate"][i] == pytest.approx(np.mean(told == Y[test]) - 1)
        assert np.array_equal(counts[i], confusion_matrix(Y[test], told))
    folds = np.empty(len(Y), int)
    for i, (_, test) in enumerate(FOLDS.split(X, Y)):
        folds[test] = i
    told = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS)
    assert counts.equals(bayescm.confusion_matrix(Y, told, fold=folds).drop_vars("fold"))


def test_every_function_takes_the_results(results):
    found = bayescm.summary(results, "mcc")
    assert found.point.values[:, 0] == pytest.approx(results["test_mcc"])
    assert found.identical(bayescm.summary(bayescm.read(results).data, "mcc", random_seed=found.attrs["random_seed"]))
    frame = pd.DataFrame({name: values for name, values in results.items() if name.startswith("test")})
    assert bayescm.read(frame).data.equals(bayescm.read(results).data)
    tree = bayescm.posterior(results, model="kfold", pooling="complete", metrics="mcc", draws=50, random_seed=1)
    assert tree["posterior"].matthews_correlation.shape == (4, 50)
    other = bayescm.read({"linear": results, "bayes": results}).data
    assert other.dims == ("system", "fold", "actual", "predicted")


def test_a_search_keeps_its_folds():
    actual = load_iris().target_names[load_iris().target]
    search = GridSearchCV(
        LogisticRegression(max_iter=500), {"C": [0.01, 1.0]}, scoring=bayescm.scorer("f1_macro"), refit="f1_macro", cv=3
    ).fit(load_iris().data, actual)
    counts = bayescm.read(search.cv_results_).data
    assert counts.system.values.tolist() == ["C=0.01", "C=1.0"]
    assert counts.actual.values.tolist() == ["setosa", "versicolor", "virginica"]
    assert counts.equals(bayescm.read(pd.DataFrame(search.cv_results_)).data)
    point = bayescm.metrics.evaluate(counts, "f1_macro").f1_macro.values
    split = np.array([search.cv_results_[f"split{i}_test_f1_macro"] for i in range(3)])
    np.testing.assert_allclose(point.T, split)
    _, test = next(StratifiedKFold(3).split(load_iris().data, actual))
    assert counts.sum(("fold", "actual", "predicted")).values.tolist() == [150, 150]
    best = search.best_estimator_
    assert bayescm.scorer("f1_macro")(best, load_iris().data[test], actual[test])["f1_macro"] == pytest.approx(
        f1_score(actual[test], best.predict(load_iris().data[test]), average="macro")
    )


def test_scorers_travel_between_processes_and_say_what_they_cannot():
    class Constant:
        classes_ = np.array([3, 7])

        def predict(self, rows):
            return np.full(len(rows), 7)

    made = pickle.loads(pickle.dumps(bayescm.scorer("accuracy")))
    found = made(Constant(), [[0], [1], [2]], [3, 7, 7])
    assert found == {"accuracy": pytest.approx(2 / 3), "3->3": 0, "3->7": 1, "7->3": 0, "7->7": 2}
    counts = bayescm.read({f"test_{name}": np.array([value]) for name, value in found.items()}).data
    assert counts.actual.values.tolist() == [3, 7]
    with pytest.raises(ValueError, match="roc_auc"):
        bayescm.scorer("roc_auc")
    with pytest.raises(ValueError, match="recall_macro"):
        bayescm.scorer("recall", labels=[1, 3, 7])(Constant(), [[0]], [3])
    with pytest.raises(ValueError, match="some are missing"):
        bayescm.summary({"test_tp": [1, 2], "test_fn": [1, 2]})
    with pytest.raises(ValueError, match="their fits failed"):
        bayescm.summary({f"test_{name}": [1, np.nan] for name in ("tn", "fp", "fn", "tp")})


def test_curves_of_folds(results):
    ours = bayescm.CurveDisplay.from_cv_results(results, X, Y, random_seed=1)
    theirs = RocCurveDisplay.from_cv_results(results, X, Y)
    areas = ours.posterior["posterior"]["auc"].median(("chain", "draw"))
    assert areas.dims == ("fold",)
    assert areas.values == pytest.approx(theirs.roc_auc, abs=0.02)
    framed = bayescm.CurveDisplay.from_cv_results(results, pd.DataFrame(X), pd.Series(Y), random_seed=1)
    assert framed.band.equals(ours.band)
    with pytest.raises(ValueError, match="return_estimator=True, return_indices=True"):
        bayescm.CurveDisplay.from_cv_results({"test_score": [1]}, X, Y)


@pytest.mark.slow
def test_no_scikit_learn_is_imported():
    code = (
        "import sys, bayescm; bayescm.scorer('mcc'); bayescm.summary({'test_tp': [4], 'test_fn': [1], 'test_fp': [2],"
    )
    code += "'test_tn': [3]}, 'recall'); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_sentence_a_table_and_a_picture_in_three_lines():
    found = bayescm.summary(Y, GaussianNB().fit(X, Y).predict(X), ["accuracy", "f1", "mcc"])
    print(found)
    ax = bayescm.plots.plot_forest(found)
    assert str(found).startswith("Accuracy is 0.94 (95%: 0.92 to 0.96).")
    assert found.bayescm.table().index.tolist() == ["accuracy", "f1", "matthews_correlation"]
    assert len(ax.get_yticklabels()) == 3


def test_one_number_where_scikit_learn_wants_one():
    points = cross_val_score(GaussianNB(), X, Y, cv=FOLDS, scoring=bayescm.scorer(["mcc", "f1"]))
    assert points == pytest.approx(cross_val_score(GaussianNB(), X, Y, cv=FOLDS, scoring="matthews_corrcoef"))
    grid, options = {"var_smoothing": [1e-9, 1e-3]}, {"cv": FOLDS}
    ours = GridSearchCV(GaussianNB(), grid, scoring=bayescm.scorer("mcc", cells=False), **options).fit(X, Y)
    theirs = GridSearchCV(GaussianNB(), grid, scoring="matthews_corrcoef", **options).fit(X, Y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.best_params_ == theirs.best_params_
    kept = GridSearchCV(GaussianNB(), grid, scoring=bayescm.scorer("mcc"), refit="mcc", **options).fit(X, Y)
    assert kept.best_params_ == theirs.best_params_
    assert bayescm.read(kept.cv_results_).data.sum() == 2 * len(Y)


def test_weights_are_routed_and_say_of_how_many_items_each_is_one():
    weight = np.arange(len(Y)) % 3
    with config_context(enable_metadata_routing=True):
        scored = bayescm.scorer("accuracy").set_score_request(sample_weight="seen")
        found = cross_validate(GaussianNB(), X, Y, cv=FOLDS, scoring=scored, params={"seen": weight})
        theirs = make_scorer(accuracy_score).set_score_request(sample_weight="seen")
        other = cross_validate(GaussianNB(), X, Y, cv=FOLDS, scoring=theirs, params={"seen": weight})
    assert found["test_accuracy"] == pytest.approx(other["test_score"])
    assert bayescm.read(found).data.sum() == weight.sum()
    model = GaussianNB().fit(X, Y)
    for wrong in ([0.5] * len(Y), [1, 2], -weight):
        with pytest.raises(ValueError, match="`sample_weight`"):
            bayescm.scorer()(model, X, Y, sample_weight=wrong)
