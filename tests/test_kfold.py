"""Folds: three answers, each under its name, and how often the prior counts."""

import numpy as np
import pytest
from agreement import agree
from scipy import stats

import bayescm
from bayescm import models

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

FOLDS = bayescm.from_cells(
    tp=[9, 7, 10, 5, 8], fn=[2, 3, 1, 6, 2], fp=[1, 4, 2, 3, 1], tn=[28, 26, 27, 26, 29], dims="fold"
)
NUTS = {"method": "nuts", "progressbar": False, "cores": 1}


def test_complete_pooling_is_the_sum_and_counts_the_prior_once():
    folds = bayescm.posterior(
        FOLDS, model="kfold", pooling="complete", metrics=["recall", "f1"], draws=20_000, random_seed=1
    )
    one = bayescm.summary(FOLDS.sum("fold"), ["recall", "f1"])
    for metric in ("recall", "f1"):
        draws = folds.posterior[metric]
        assert float(draws.mean()) == pytest.approx(float(one["mean"].sel(metric=metric)), abs=0.001)
        assert float(draws.std()) == pytest.approx(float(one["sd"].sel(metric=metric)), rel=0.02)
    assert "counts once" in folds.attrs["reason"]


def test_the_average_is_the_thesis_law_and_counts_the_prior_k_times():
    """Mean and variance of a mean of independent Betas (Morais 2023, section 6), prior in every fold."""
    fit = bayescm.posterior(
        FOLDS, model="kfold", pooling="average", prior="jeffreys", metrics="recall", draws=50_000, random_seed=1
    )
    tp, fn = (FOLDS.sel(actual=1, predicted=i).values + 0.5 for i in (1, 0))
    beta = stats.beta(tp, fn)
    assert fit.posterior.theta.dims == ("chain", "draw", "fold", "actual", "predicted")
    assert fit.posterior.recall.dims == ("chain", "draw")
    assert float(fit.posterior.recall.mean()) == pytest.approx(beta.mean().mean(), abs=4e-4)
    assert float(fit.posterior.recall.std()) == pytest.approx(np.sqrt(beta.var().sum()) / 5, rel=0.01)
    assert "5 times" in fit.attrs["reason"]
    # with empty folds the prior is all there is: k priors' mean, narrower than one
    empty = bayescm.posterior(FOLDS * 0, model="kfold", pooling="average", metrics="recall", draws=5000, random_seed=1)
    assert float(empty.posterior.recall.std()) == pytest.approx(np.sqrt(1 / 8 / 5), rel=0.03)
    once = bayescm.posterior(FOLDS * 0, model="kfold", pooling="complete", metrics="recall", draws=5000, random_seed=1)
    assert float(once.posterior.recall.std()) == pytest.approx(np.sqrt(1 / 8), rel=0.03)


@pytest.mark.parametrize("pooling", ["complete", "average"])
def test_nuts_and_closed_form_agree(pooling):
    common = {"model": "kfold", "pooling": pooling, "metrics": ["recall", "precision", "mcc"], "random_seed": 2}
    exact = bayescm.posterior(FOLDS, draws=20_000, **common)
    nuts = bayescm.posterior(FOLDS, draws=1500, **NUTS, **common)
    assert nuts.posterior.recall.dims == exact.posterior.recall.dims
    assert set(nuts.posterior.data_vars) == set(exact.posterior.data_vars)
    for name in ("recall", "precision", "matthews_correlation", "theta_cell"):
        agree(nuts.posterior[name], exact.posterior[name])


def test_partial_pooling_without_spread_is_complete_pooling():
    common = {"model": "kfold", "metrics": ["recall", "specificity"], "random_seed": 3}
    tight = bayescm.posterior(FOLDS, pooling="partial", fold_sd_scale=1e-4, draws=1500, **NUTS, **common)
    whole = bayescm.posterior(FOLDS, pooling="complete", draws=20_000, **common)
    for name in ("recall", "specificity"):
        agree(tight.posterior[name], whole.posterior[name])


def test_folds_that_differ_tell_less_than_their_sum():
    apart = bayescm.from_cells(tp=[20, 12, 19, 8], fn=[0, 8, 1, 12], fp=[1, 1, 2, 1], tn=[29, 29, 28, 29], dims="fold")
    widths = {
        pooling: float(
            bayescm.posterior(apart, model="kfold", pooling=pooling, metrics="recall", random_seed=1,
                              **(NUTS if pooling == "partial" else {})).posterior.recall.std()
        )
        for pooling in ("partial", "complete", "average")
    }  # fmt: skip
    assert widths["partial"] > 1.3 * widths["complete"]
    assert widths["average"] < widths["partial"]


def test_three_labels_and_bad_folds():
    three = bayescm.from_array(np.arange(18).reshape(2, 3, 3), dims="fold")
    fit = bayescm.posterior(three, model="kfold", pooling="complete", metrics="recall", draws=100, random_seed=1)
    assert fit.posterior.recall.sizes["class_label"] == 3
    with pytest.raises(ValueError, match="'partial' takes two labels"):
        bayescm.posterior(three, model="kfold")
    with pytest.raises(ValueError, match="one dim beside"):
        bayescm.choose([[6, 2], [0, 26]], model="kfold")
    with pytest.raises(ValueError, match="`pooling` must be one of"):
        bayescm.choose(FOLDS, model="kfold", pooling="mean")
    with pytest.raises(ValueError, match="improper"):
        bayescm.choose(FOLDS * 0, model="kfold", pooling="complete", prior="haldane")
    assert bayescm.choose(FOLDS, model="kfold").method == "nuts"
    assert models.load("kfold").exact(FOLDS) is None
