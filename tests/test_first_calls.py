"""What people try first, with the habits of scikit-learn and pandas, of the clinic and of evaluation: each call is
answered, or refused with a message that has the call to make."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from public import PUBLIC

import bayescm

TRUE, PRED = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 0]
OTHER = [0, 1, 0, 1, 1, 0, 1, 0]
SICK, TESTED = ["sick", "well", "sick", "well", "sick"], ["sick", "well", "well", "sick", "sick"]
SCORE = [0.1, 0.2, 0.3, 0.7, 0.6, 0.8, 0.9, 0.4]
A, B = [[40, 10], [5, 45]], [[38, 12], [9, 42]]
RIGHT = pd.DataFrame(
    {"gpt": [1, 1, 0, 1], "llama": [1, 0, 0, 1], "random": [0, 0, 1, 0]}, index=["q1", "q2", "q3", "q4"]
)
LONG = RIGHT.rename_axis("item").reset_index().melt("item", var_name="system", value_name="correct")
TRIALS = pd.concat([LONG.assign(run=1), LONG.assign(run=2, correct=LONG.correct.eq(1) & LONG.system.eq("gpt"))])
TRIALS.loc[TRIALS.system == "random", "correct"] = [0, 0, 1, 1, 0, 0, 1, 0]
SCREENING = pd.DataFrame([[45, 10], [5, 90]], ["Test+", "Test-"], ["Disease+", "Disease-"])
MARGINS = pd.DataFrame([[45, 10, 55], [5, 90, 95], [50, 100, 150]], ["Test+", "Test-", "Total"], ["D+", "D-", "Total"])
WORDS = pd.DataFrame([[45, 10], [5, 90]], ["positive", "negative"], ["diseased", "healthy"])
ODD = pd.DataFrame([[45, 10], [5, 90]], ["reactive", "dull"], ["syphilis", "other"])
GRADES = pd.Categorical(["low", "high", "mid", "low"], categories=["low", "mid", "high"], ordered=True)
GRADED = pd.Categorical(["low", "mid", "mid", "low"], categories=["low", "mid", "high"], ordered=True)
ENUM = pl.Enum(["low", "mid", "high"])
ONE_HOT, TAGS = np.eye(2, dtype=int), np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
PEOPLE = pd.DataFrame({"y_true": TRUE, "y_pred": PRED})
SCORED = pd.DataFrame({"label": TRUE, "prob": SCORE, "patient": list("aabbccdd")})
RECORDS = LONG.to_dict("records")
ASKED = LONG.rename(columns={"item": "id", "system": "model"})
WIDE = (
    pd.DataFrame({"id": range(8), "label": TRUE, "a": PRED, "b": OTHER})
    .replace({1: "cat", 0: "dog"})
    .assign(id=range(8))
)
AUDITS = {"a": bayescm.audited(A, [900, 1000]), "b": bayescm.audited(B, [800, 1000])}
CELLS = {"tp": 45, "fn": 5, "fp": 10, "tn": 90}
NAMES = {name: getattr(bayescm, name) for name in dir(bayescm)} | PUBLIC | {
    name: value for name, value in globals().items() if name.isupper()
} | {"np": np, "pd": pd, "pl": pl, "xr": xr}  # fmt: skip

SCIKIT_LEARN = {  # a data scientist
    "summary(TRUE, PRED).point.sel(metric='accuracy')": 0.75,
    "summary(TRUE, PRED, 'accuracy').point": 0.75,
    "summary(A, 'accuracy_score').point": 0.85,
    "summary(TRUE, PRED, ['sens', 'spec', 'Youden', 'precision_score']).point": [0.75, 0.75, 0.5, 0.75],
    "summary(TRUE, PRED, metrics=['accuracy', 'f1']).point": [0.75, 0.75],
    "summary(y_true=TRUE, y_pred=PRED, metrics='recall').point": 0.75,
    "summary(TRUE, y_pred=PRED, metrics='recall').point": 0.75,
    "summary(counts={'a': A}, metrics='accuracy').point": 0.85,
    "decision_curve(y_true=TRUE, y_score=SCORE, thresholds=[.25, .5]).threshold": [0.25, 0.5],
    "summary(np.array(TRUE), np.array(PRED), 'recall').point": 0.75,
    "summary(PEOPLE.value_counts(), 'accuracy').point": 0.75,
    "summary(PEOPLE.value_counts(), 'recall', pos_label=0).point": 0.75,
    "leaderboard(pd.DataFrame({'y': TRUE})).sizes['system']": 1,
    "summary(PEOPLE.groupby(['y_true', 'y_pred']).size(), 'accuracy').point": 0.75,
    "summary(TP=45, FN=5, FP=10, TN=90, metrics='accuracy').point": 0.9,
    "leaderboard(pd.DataFrame({'model': ['a', 'b'], 'correct': [9, 6], 'n': 10})).point": [
        0.9,
        0.6,
    ],
    "probability(A, 'recall \u2265 .8').probability - probability(A, 'recall >= .8').probability": 0,
    "gate(TRUE, {'old': OTHER, 'new': PRED}).attrs['old']": "old",
    "auc(SCORED).point": 7 / 8,
    "auc(SCORED.to_csv(index=False)).point": 7 / 8,
    "auc(SCORED, unit='patient').attrs['units']": 4,
    "auc(pl.DataFrame(SCORED).rename({'prob': 'net'})).point": 7 / 8,
    "auc_difference(SCORED.rename(columns={'prob': 'net'}).assign(tree=-SCORED.prob)).point": 3 / 4,
    "auc({'y': TRUE, 'score': SCORE}).point": 7 / 8,
    "auc(pd.concat([SCORED.assign(model=name, item=range(8)) for name in 'ab'])).sizes['system']": 2,
    "curve_band(SCORED, draws=1000).area": 7 / 8,
    "summary(WIDE, 'recall', columns={'actual': 'label', 'predicted': 'a'}, pos_label='cat').point": 0.75,
    "summary(pd.crosstab(WIDE.label, WIDE.a), 'recall', rows='truth', pos_label='cat').point": 0.75,
    "summary({'true_positives': 3, 'False Negatives': 1, 'fp': 1, 'true negative': 3}, 'mcc').point": 0.5,
    "gaps(WIDE.rename(columns={'label': 'truth', 'a': 'test'}).replace({'cat': 1, 'dog': 0}), "
    "sensitive_features='b').group": [0, 1],
    "summary(pd.Series(TRUE), pd.Series(PRED), 'recall').point": 0.75,
    "summary(PEOPLE.y_true, PEOPLE.y_pred, 'recall').point": 0.75,
    "summary(PEOPLE, 'recall').point": 0.75,
    "summary(SICK, TESTED, 'recall').point": 2 / 3,
    "summary(SICK, TESTED, 'recall', pos_label='well').point": 0.5,
    "summary([[3, 1], [1, 3]], 'mcc').point": 0.5,
    "summary(np.array([[3, 1], [1, 3]]), 'mcc').point": 0.5,
    "summary(pd.crosstab(PEOPLE.y_true, PEOPLE.y_pred), 'mcc').point": 0.5,
    "summary([A, B], 'accuracy').point": [[0.85], [80 / 101]],
    "summary({'a': A, 'b': B}, 'accuracy').point.sel(system='b')": 80 / 101,
    "summary([confusion_matrix(TRUE, PRED), confusion_matrix(TRUE, OTHER)], 'accuracy').point": [[0.75], [0.5]],
    "interval(TRUE, PRED, 'accuracy').point": 0.75,
    "interval(TRUE, PRED, 'accuracy', 'wilson', ci_prob=.9).point": 0.75,
    "probability(TRUE, PRED, 'accuracy > .5').probability > .5": True,
    "metric_distribution(TRUE, PRED, 'accuracy').mean()": 0.7,
    "posterior(TRUE, PRED, metrics='accuracy', draws=50)['posterior'].accuracy.shape": [4, 50],
    "cell_summary(TRUE, PRED).point": [[0.75, 0.25], [0.25, 0.75]],
    "evaluate(confusion_matrix(TRUE, PRED), 'f1').f1": 0.75,
    "confusion_matrix(TRUE, PRED, fold=[0, 0, 1, 1, 0, 0, 1, 1]).sum('fold')": [[3, 1], [1, 3]],
    "confusion_matrix(TRUE, PRED, group=list('mfmfmfmf')).sel(group='f')": [[1, 1], [1, 1]],
    "confusion_matrix(TRUE, np.column_stack([PRED, OTHER])).isel(run=1)": [[2, 2], [2, 2]],
    "decide(TRUE, PRED, {'fn': 5, 'fp': 1}).attrs['positive_class']": 1,
    "decision_curve(TRUE, SCORE).sizes['threshold']": 99,
    "decision_curve(TRUE, SCORE, [.25, .5]).threshold": [0.25, 0.5],
    "decision_curve(TRUE, PRED).sizes['threshold']": 99,
    "curve_band(TRUE, SCORE, draws=200, random_seed=1).sizes['ci_bound']": 2,
    "compare_systems(TRUE, {'a': PRED, 'b': OTHER})['summary'].point": [[0.25]],
    "compare_systems(TRUE, [PRED, OTHER])['summary'].point": [[0.25]],
    "compare_systems(TRUE, PRED, OTHER)['summary'].point": [[0.25]],
    "compare_systems(TRUE, pd.DataFrame({'a': PRED, 'b': OTHER}))['summary'].point": [[0.25]],
    "compare_systems(TRUE, np.column_stack([PRED, OTHER]), 'recall')['summary'].point": [[0.25]],
    "compare_systems({'a': A, 'b': B})['summary'].point": [[0.85 - 80 / 101]],
    "compare_systems([A, B])['summary'].point": [[0.85 - 80 / 101]],
    "summary(TRUE, PRED, 'balanced accuracy').point": 0.75,
    "summary(TRUE, PRED, ('precision', 'f1_score')).point": [0.75, 0.75],
    "summary(TRUE, [s > .5 for s in SCORE], 'accuracy').point": 0.75,
    "summary(TRUE, PRED, 'accuracy', ci_prob='95%').point": 0.75,
    "summary(pd.Series(SICK, dtype='category'), pd.Series(TESTED, dtype='category'), 'recall').point": 2 / 3,
    "summary(TRUE, PRED).bayescm['accuracy'].point": 0.75,
    "summary([0, 1, 2], [0, 2, 2], 'f1_macro').point": 5 / 9,
    "summary(TAGS, 1 - TAGS, 'accuracy').point": [[0.0]] * 3,
    "compare_systems(TRUE, a=PRED, b=OTHER)['summary'].point": [[0.25]],
    "choose(posterior(TRUE, PRED, draws=10)).method": "exact",
    "summary(np.array(A, float), 'accuracy').point": 0.85,
    "auc(TRUE, SCORE).point": 0.875,
}
CLINIC = {
    "summary(45, 50).point": 0.9,
    "summary(45, 50)['mean'].sel(metric='proportion')": 45.5 / 51,
    "interval(45, 50).interval": [[0.786398, 0.956524]],
    "interval(45, 50, method='clopper_pearson').interval": [[0.781864, 0.966724]],
    "metric_distribution(45, 50).mean()": 45.5 / 51,
    "summary(CELLS, ['sensitivity', 'ppv']).point": [0.9, 45 / 55],
    "summary(from_cells(**CELLS), 'sensitivity').point": 0.9,
    "summary(SCREENING, 'sensitivity').point": 0.9,
    "evaluate(from_array(SCREENING), 'recall').recall": 0.9,
    "summary(WORDS, 'recall').point": 0.9,
    "evaluate(from_array(ODD, rows='test', pos_label=('syphilis', 'reactive')), 'recall').recall": 0.9,
    "at_prevalences(SCREENING, prevalence=[.01]).sizes['prevalence']": 1,
    "summary(SCREENING, 'ppv', prevalence=.01).point": 0.01 * 0.9 / (0.01 * 0.9 + 0.99 * 0.1),
    "summary(SCREENING, 'ppv', prevalence='1%').point": 0.01 * 0.9 / (0.01 * 0.9 + 0.99 * 0.1),
    "rogan_gladen(.42, sensitivity=.9, specificity=.9)": 0.4,
    "summary(tp=45, fn=5, fp=10, tn=90, metrics='sensitivity').point": 0.9,
    "summary({'TP': 45, 'FN': 5, 'FP': 10, 'TN': 90}, 'sensitivity').point": 0.9,
    "summary(SCREENING, ['LR+', 'LR-']).point": [9, 1 / 9],
    "summary(SCREENING, 'positive predictive value').point": 45 / 55,
    "summary(SCREENING, 'odds ratio').point": 81,
    "at_prevalences(SCREENING, prevalence='1%').prevalence": 0.01,
    "probability(SCREENING, 'sensitivity > 80%').probability > .9": True,
    "summary(0, 20).point": 0,
    "sample_size('sensitivity', width=.1, prevalence='10%').n_items > 3000": True,
    "summary(audited(SCREENING, [1000, 100]), 'prevalence').point": (1000 * 5 / 95 + 100 * 45 / 55) / 1100,
    "decide(SCREENING, {'fn': 10, 'fp': 1}).best.item()": "classifier",
    "compare_systems(AUDITS)['summary'].method.item()": "exact",
}
EVALUATION = {
    "leaderboard(RIGHT).point.sel(system='gpt')": 0.75,
    "leaderboard(RIGHT.values).point": [0.75, 0.5, 0.25],
    "leaderboard(RIGHT.astype(bool)).point": [0.75, 0.5, 0.25],
    "leaderboard(LONG).point.sel(system='llama')": 0.5,
    "leaderboard({'correct': [90, 80], 'wrong': [10, 20]}, design='independent').point": [0.9, 0.8],
    "leaderboard(pd.DataFrame({'correct': [90, 80], 'wrong': [10, 20]}, ['a', 'b']), design='independent')"
    ".point.sel(system='b')": 0.8,
    "leaderboard(pd.DataFrame({'model': ['a', 'b'], 'correct': [90, 80], 'wrong': [10, 20]}), design='independent')"
    ".point.sel(system='b')": 0.8,
    "leaderboard({'a': .9, 'b': .8}, n_items=100, design='independent').point.sel(system='b')": 0.8,
    "leaderboard(pd.Series({'a': .9, 'b': .8}), n_items=[100, 50]).point.sel(system='b')": 0.8,
    "leaderboard(pd.DataFrame({'system': ['a', 'b'], 'accuracy': [.9, .8], 'n': [100, 50]})).point": [0.9, 0.8],
    "leaderboard(xr.DataArray(RIGHT, dims=('item', 'system'))).point": [0.75, 0.5, 0.25],
    "leaderboard(RIGHT.replace({1: 'pass', 0: 'fail'})).point": [0.75, 0.5, 0.25],
    "leaderboard(TRUE, {'a': PRED, 'b': OTHER}).point": [0.75, 0.5],
    "leaderboard({'a': A, 'b': B}).point": [0.85, 80 / 101],
    "compare_systems(LONG, reference='gpt').attrs['design']": "paired",
    "leaderboard(2 * RIGHT, runs=2, draws=1000).point": [0.75, 0.5, 0.25],
    "leaderboard(2 * RIGHT.values, runs=4, draws=1000).point": [0.375, 0.25, 0.125],
    "leaderboard(TRIALS, draws=1000).point": [0.75, 0.25, 0.375],
    "leaderboard(TRIALS.drop(columns='run').assign(run=TRIALS.run), draws=1000).attrs['runs']": 2,
    "compare_systems(2 * RIGHT[['gpt', 'llama']], runs=4)['summary'].point": [[0.125]],
    "compare_systems(TRUE, {'a': np.column_stack([PRED, OTHER]), 'b': OTHER})['summary'].point": [[0.125]],
    "leaderboard({'a': np.ones((8, 2)), 'b': np.zeros((8, 2))}, draws=1000).point": [1, 0],
    "leaderboard(xr.DataArray(np.ones((8, 2, 3)), dims=('item', 'system', 'run'), coords={'system': ['a', 'b']}), "
    "draws=1000).point": [1, 1],
    "summary(2 * RIGHT, runs=4, draws=1000).sel(metric='accuracy').point": [0.375, 0.25, 0.125],
    "summary([4, 3, 0, 4], runs=4, draws=1000).point": [[11 / 16]],
    "leaderboard(RECORDS).point.sel(system='llama')": 0.5,
    "leaderboard(ASKED).point.sel(system='llama')": 0.5,
    "leaderboard(ASKED.to_dict('records')).point.sel(system='llama')": 0.5,
    "compare_systems(WIDE.rename(columns={'label': 'truth'}), pos_label='cat')['summary'].point": [[0.25]],
    "compare_systems(WIDE, columns={'actual': 'label'}, pos_label='cat')['summary'].point": [[0.25]],
    "compare_systems(WIDE, columns={'actual': 'label', 'predicted': ['b', 'a']}, pos_label='cat')['summary'].point": [
        [-0.25]
    ],
    "leaderboard({'a': (90, 100), 'b': (80, 100)}, design='independent').point": [0.9, 0.8],
    "leaderboard(LONG.rename(columns={'correct': 'score', 'system': 'model'})).point.sel(system='llama')": 0.5,
    "leaderboard([[1, 0], [1, 1], [0, 0]]).point": [2 / 3, 1 / 3],
    "leaderboard({'gpt': [True, True, False], 'llama': [True, False, False]}).point": [2 / 3, 1 / 3],
    "leaderboard(RIGHT, metric='acc', ci_prob='90%').attrs['ci_prob']": 0.9,
    "leaderboard(AUDITS, metric='prevalence').sizes['system']": 2,
    "sample_size_to_compare(compare_systems(TRUE, a=PRED, b=OTHER)).attrs['design']": "paired",
    "sample_size_to_compare(leaderboard({'a': .9, 'b': .8}, n_items=[100, 110])).attrs['design']": "independent",
    "compare_systems(RIGHT[['gpt', 'llama']], runs=1)['summary'].point": [[0.25]],
    "summary(AUDITS['a'], 'accuracy').method.item()": "exact",
}
KAPPA = 1 - 1 / (16 / 4)  # squared steps apart, seen and expected, of low < mid < high; by the alphabet 0
OTHERS = {
    "summary(GRADES, GRADED, 'kappa_quadratic').point": KAPPA,
    "summary(pd.DataFrame({'truth': GRADES, 'test': GRADED}), 'kappa_quadratic').point": KAPPA,
    "summary(pl.Series(list(GRADES), dtype=ENUM), pl.Series(list(GRADED), dtype=ENUM), 'kappa_quadratic').point": KAPPA,
    "compare_systems(GRADES, a=GRADED, b=GRADES, metrics='kappa_quadratic', draws=200)['summary'].point": KAPPA - 1,
    "summary(np.array(TRUE, np.uint8), np.array(PRED, np.uint8), 'f1').point": 0.75,
    "summary(xr.DataArray(TRUE, dims='item'), xr.DataArray(PRED, dims='item'), 'f1').point": 0.75,
    "summary(pd.crosstab(PEOPLE.y_true, PEOPLE.y_pred, margins=True), 'f1').point": 0.75,
    "summary(TRUE, np.column_stack([PRED, OTHER]), 'accuracy').point": [[0.75], [0.5]],
    "summary([0, 1, 2], [0, 2, 2], 'f1@macro').point": 5 / 9,
    "summary(45, 50, prior='haldane')['mean']": 0.9,
    "metric_distribution(45, 50, prior='haldane').std()": (0.9 * 0.1 / 51) ** 0.5,
    "probability(from_cells(tp=9, fn=1, fp=0, tn=5), 'recall > .8', prior='haldane').probability": 1 - 0.8**9,
    "at_prevalences(A, 'precision', ['1%', .05]).prevalence": [0.01, 0.05],
    "at_prevalences(A, 'precision', '1%').prevalence": 0.01,
    "sample_size('recall', width='10%').n_items == sample_size('recall', width=.1).n_items": True,
}
ANSWERED = SCIKIT_LEARN | CLINIC | EVALUATION | OTHERS
REFUSED = {
    "summary(TRUE)": r"bayescm.confusion_matrix\(y_true, y_pred\)",
    "auc(TRUE, SCORE, max_fpr=.1)": "`fpr_range`",
    "auc(SCORED[:0])": "needs rows",
    "auc(SCORED.assign(model=list('abababab'), net=SCORE).rename(columns={'prob': 'tree'}))": "one column of scores",
    "auc(TRUE)": "`y_score` is missing",
    "auc(RIGHT)": "true labels and one of scores",
    "sample_size('recall', width=.1, expected=.9)": "`mode`",
    "compare_systems(WIDE, actual='label')": r"columns=\{'actual': 'label'",
    "gaps(TRUE, PRED, group=OTHER)": r"confusion_matrix\(y_true, y_pred, group=",
    "summary([45, 5, 10, 90])": r"bayescm.from_cells\(tp=",
    "summary([45, 5, 10, 90], ['recall', 'precision'])": r"confusion_matrix\(y_true, y_pred\).*from_cells\(tp=",
    "summary(45, 5, 10, 90)": r"bayescm.from_cells\(tp=",
    "summary(50, 45)": r"summary\(k, n\)",
    "summary(.9, 50)": r"bayescm.from_cells\(tp=",
    "summary(TRUE, SCORE)": r"bayescm.curves.counts_at_thresholds\(y_true, y_score",
    "summary(TRUE, PRED[:-1])": "`y_true` has 8 and `y_pred` has 7 items",
    "summary({'tp': 45, 'fn': 5})": "tp, fn, fp and tn",
    "summary('counts.csv')": r"'counts.csv'",
    "summary(None)": r"bayescm.from_cells\(tp=",
    "summary([[.9, .1], [.1, .9]])": "whole numbers of items",
    "summary([[1, 2, 3], [4, 5, 6]])": "shape",
    "summary({'a': A, 'b': [[1, 2, 3], [3, 4, 5], [5, 6, 7]]})": "labels",
    "summary(ODD)": "from_array",
    "summary(pd.DataFrame({'p': SCORE, 'y': TRUE}))": "from_table",
    "summary(RIGHT)": "leaderboard",
    "summary(A, 'sensi')": "sensitivity",
    "summary(A, 'roc_auc')": r"bayescm.auc\(y_true, y_score\)",
    "summary(A, 'f1', average='macro')": "f1_macro",
    "summary(A, ci=.9)": "ci_prob",
    "summary(A, alpha=.05)": "ci_prob=0.95",
    "summary(A, metric='f1')": "`metrics`",
    "summary(A, hdi_prob=.9)": "ci_prob",
    "summary(A, random_state=1)": "random_seed",
    "summary(A, groups=[1, 2])": r"confusion_matrix\(y_true, y_pred, group=",
    "confusion_matrix(TRUE, PRED, groups=TRUE)": "`group`",
    "confusion_matrix(TRUE, PRED, sample_weight=SCORE)": "bayescm.predictions",
    "confusion_matrix(TRUE, PRED, normalize='true')": r"cell_summary\(counts, normalize=",
    "region(A, plane='roc')": "`space`",
    "summary(TRUE, 2 * np.array(PRED) - 1)": r"labels=\[-1, 0, 1\]",
    "auc(TRUE, SCORE, alpha=.05)": "ci_prob",
    "auc(TRUE, np.column_stack([SCORE, SCORE]))": r"y_score\[:, 1\]",
    "leaderboard({'a': .9, 'b': .8})": "n_items=",
    "leaderboard({'a': 90, 'b': 80}, n_items=100)": "'correct'",
    "leaderboard(A)": "counts",
    "leaderboard(3 * RIGHT)": r"leaderboard\(passes, runs=4\).*scores > 2",
    "leaderboard(3 * RIGHT, runs=2)": "3 passes, and `runs` is 2",
    "leaderboard(LONG, runs=[2, 3])": "`runs`",
    "leaderboard({'a': A, 'b': B}, runs=4)": "`runs` is no option",
    "leaderboard({'a': np.eye(4), 'b': np.eye(4)})": "predictions.*from_array",
    "compare_systems(TRUE, {'a': np.ones((3, 2)), 'b': PRED})": r"\(8, runs\)",
    "leaderboard(RIGHT.reindex(['q1', 'q9']))": r"dropna\(\)",
    "confusion_matrix(TRUE, [PRED, OTHER])": r"\(8, runs\)",
    "compare_systems(TRUE, [PRED, OTHER[:-1]])": "`y_true` has 8 and",
    "compare_systems(RIGHT)": r"\(y_true, predictions\).*\(\[1\] \* len\(right\), right\)",
    "leaderboard(pd.concat([LONG, LONG]))": "q1",
    "compare_systems(PRED, OTHER)": r"compare_systems\(y_true, \{",
    "compare_systems(TRUE, {'a': PRED})": "two systems",
    "compare_systems({'a': PRED, 'b': OTHER}, TRUE)": r"\(y_true, \{'a': ..., 'b': ...\}\)",
    "leaderboard({'a': PRED, 'b': OTHER}, TRUE)": r"\(y_true, \{'a': ..., 'b': ...\}\)",
    "leaderboard(RIGHT.rename(columns={'gpt': 'label'}))": r"'label', 'predicted': \['llama', 'random'\]",
    "compare_systems(RIGHT.rename(columns={'gpt': 'y'}))": r"'actual': 'y'",
    "compare_systems({'a': .9, 'b': .8})": "n_items",
    "compare_systems(A, B)": r"compare_systems\(\{",
    "compare_systems(A)": r"mapping of systems",
    "compare_systems({'a': A, 'b': B}, paired=True)": "design",
    "predictions(TRUE, {'a': SCORE})": "counts_at_thresholds",
    "curve_band(A)": r"curve_band\(y_true, y_score\)",
    "decision_curve(TRUE, [9.5 * s for s in SCORE])": "probabilities",
    "summary(A, 'precision, recall')": r"\['precision', 'recall'\]",
    "summary(A, ci_prob=95)": "0.95",
    "summary(A, 'acuracy')": "'accuracy'",
    "summary(A, prior='uniform')": "'laplace'",
    "plot_region(A)": r"bayescm.plots.plot_region\(bayescm.region\(counts\)\)",
    "from_cells(45, 5, 10, 90)": r"from_cells\(tp=",
    "sample_size('sensitivity', .1)": r"sample_size\(metrics, width=",
    "decide(SCREENING)": r"`costs`: decide\(counts, costs",
    "at_prevalences(SCREENING, [.01, .1])": "prevalence=0.01",
    "probability(SCREENING, 'sensitivity', .8)": r"probability\(counts, claims",
    "leaderboard(RIGHT, 'accuracy')": r"leaderboard\(counts, metric=",
    "compare_systems(LONG, 'gpt', 'llama')": "reference=",
    "compare_systems(RIGHT.gpt, RIGHT.llama)": r"compare_systems\(y_true, \{",
    "leaderboard(2 * RIGHT, runs=4, k=2)": r"summary\(passes, 'pass@2', runs=4\)",
    "sample_size_to_compare(.05)": r"sample_size_to_compare\(0.85, 0.80\)",
    "sample_size_to_compare(.9, .85, paired=True)": "`discordance`",
    "interval(A)": "metrics",
    "interval(A, 'mcc')": "bootstrap",
    "summary(TRUE, ONE_HOT[PRED])": r"y_pred.argmax\(1\)",
    "summary(ONE_HOT[TRUE], ONE_HOT[PRED])": r"y_true.argmax\(1\)",
    "summary(TRUE, [3, 1, 2, 6, 5, 8, 9, 4])": "y_score >= 5.*counts_at_thresholds",
    "summary(['yes', 'no', ''], ['yes', 'no', 'no'])": "written '', at position 2",
    "summary(np.array(['yes', 'no', np.nan]), ['yes', 'no', 'no'])": "'nan', at position 2",
    "summary(['yes', 'no', 'yes '], ['yes', 'no', 'no'])": "spaces or capitals",
    "summary(['Yes', 'no', 'yes'], ['yes', 'no', 'no'])": "spaces or capitals",
    "probability(A, 'recall > .8 and f1 > 1.2')": "f1 lies between 0 and 1, .*'f1 > 1.2'",
    "probability(A, 'f1 > 80')": "written 80%",
    "replicate(A, 'mcc', claims='mcc > -2')": "between -1 and 1",
    "probability(45, 50, 'proportion > .8')": r"metric_distribution\(k, n\).sf",
    "sample_size('recall', width=10)": "at most 1, .* 10% is 0.1",
    "sample_size_to_compare({'mine': 'accuracy'})": r"sample_size_to_compare\(0.85, 0.80\)",
    "summary(k=45, n=50)": r"summary\(45, 50\)",
    "summary(preds=PRED, target=TRUE)": "the truth comes first",
    "auc(response=TRUE, predictor=SCORE)": "the truth comes first",
    "auc(TRUE, SCORE, conf_level=.9)": "ci_prob",
    "compare_systems(TRUE, {'a': PRED, 'b': OTHER}, test='mcnemar')": "group `tests`",
    "interval_width('recall', ci=.9)": "ci_prob",
    "summary(from_cells(tp=9, fn=0, fp=0, tn=5), 'recall', prior='haldane')": "the cell FN",
    "summary(from_cells(tp=9, fn=1, fp=0, tn=5), 'precision', prior='haldane')": "the cell FP",
    "interval(A, 'f1', method='gauss')": "wald",
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("call", "want"), ANSWERED.items(), ids=ANSWERED)
def test_what_people_try_is_answered(call, want):
    got = eval(call, dict(NAMES))
    if isinstance(want, str):
        assert got == want
    else:
        np.testing.assert_allclose(np.squeeze(np.asarray(got, float)), np.squeeze(want), atol=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("call", "told"), REFUSED.items(), ids=REFUSED)
def test_or_refused_with_the_call_to_make(call, told):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=told) as caught:
        eval(call, dict(NAMES))
    assert len(str(caught.value)) < 600


def test_days_are_named_without_an_hour():
    weeks = pd.date_range("2024-01-07", periods=3, freq="7D")
    board = bayescm.read(pd.DataFrame({"week": weeks, "correct": [9, 8, 7], "total": 10})).data
    assert board.system.values.tolist() == ["2024-01-07", "2024-01-14", "2024-01-21"]


def test_folds_of_groups_without_items_are_said():
    with pytest.warns(UserWarning, match="No items in 2 matrices, the first fold 0, group b"):
        counts = bayescm.confusion_matrix(TRUE, PRED, fold=[0, 0, 1, 1, 0, 0, 1, 1], group=list("aabbaabb"))
    assert counts.sel(fold=0, group="b").sum() == 0
    assert counts.sum() == 8


def test_letters_of_either_case_are_classes():
    assert bayescm.confusion_matrix(list("aAbBc"), list("aAbbc")).sizes["actual"] == 5


def test_they_are_enough():
    assert len(ANSWERED | REFUSED) >= 60
