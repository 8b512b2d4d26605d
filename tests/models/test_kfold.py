"""Folds: three answers, each under its name, and how often the prior counts."""

import numpy as np
import pytest
from agreement import agree, hardly_diverges, log_density, proportional
from scipy import special, stats

import bayescm
from bayescm import models

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS"),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]

FOLDS = bayescm.from_cells(
    tp=[9, 7, 10, 5, 8], fn=[2, 3, 1, 6, 2], fp=[1, 4, 2, 3, 1], tn=[28, 26, 27, 26, 29], dims="fold"
)
NUTS = {"sampler": "nuts", "progressbar": False, "cores": 1, "chains": 2, "draws": 500, "tune": 500}
APART = bayescm.from_cells(tp=[20, 12, 19, 8], fn=[0, 8, 1, 12], fp=[1, 1, 2, 1], tn=[29, 29, 28, 29], dims="fold")


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


def test_the_average_is_the_thesis_distribution_and_counts_the_prior_k_times():
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


@pytest.fixture(scope="module")
def average(seed):
    options = {"pooling": "average", "metrics": ["recall", "precision"], "random_seed": seed(2)}
    return bayescm.posterior(FOLDS, model="kfold", **options, **NUTS)


@pytest.fixture(scope="module")
def partial(seed):
    """Folds that differ."""
    return bayescm.posterior(APART, model="kfold", metrics="recall", random_seed=seed(2), draws=5000)


@pytest.fixture(scope="module")
def nuts(seed):
    return bayescm.posterior(APART, model="kfold", metrics="recall", random_seed=seed(3), **NUTS)


@pytest.mark.long
def test_nuts_and_closed_form_agree(average):
    nuts = average
    exact = bayescm.posterior(
        FOLDS, model="kfold", pooling="average", metrics=["recall", "precision"], draws=20_000, random_seed=2
    )
    hardly_diverges(nuts.sample_stats)
    assert nuts.posterior.recall.dims == exact.posterior.recall.dims
    assert set(nuts.posterior.data_vars) == set(exact.posterior.data_vars)
    for name in ("recall", "precision", "theta_cell"):
        agree(nuts.posterior[name], exact.posterior[name])


@pytest.mark.parametrize("pooling", ["complete", "average"])
def test_programs_have_the_density_of_the_closed_form(pooling):
    program = models.load("kfold").model(FOLDS, pooling=pooling)
    counts = FOLDS.values.reshape(5, 4)
    alpha = 0.5 + (counts.sum(0)[None] if pooling == "complete" else counts)
    draws = np.random.default_rng(1).dirichlet(np.full(4, 5.0), (5, len(alpha)))
    points = [{"theta_cell": p[0] if pooling == "complete" else p} for p in draws]

    def closed(theta_cell):
        return sum(stats.dirichlet.logpdf(p, a) for p, a in zip(np.atleast_2d(theta_cell), alpha, strict=True))

    proportional(program, closed, points)


def test_partial_pooling_without_spread_is_complete_pooling():
    """The likelihood of equal folds, and a prior of the three rates that is the Dirichlet of the cells."""
    program = models.load("kfold").model(FOLDS)
    rates = {"prevalence": 0.3, "recall": 0.8, "specificity": 0.9}
    rest = {"fold_sd": np.full(2, 1e-12), "correlation_share": 0.7, "new_effect": np.ones(2)}
    standard = np.random.default_rng(1).normal(size=(5, 2))
    cells = np.array([0.7 * 0.9, 0.7 * 0.1, 0.3 * 0.2, 0.3 * 0.8])
    likelihood = log_density(program, vars=program.observed_RVs)(**rates, **rest, fold_effect=standard)
    counts = FOLDS.values.reshape(5, 4)
    assert likelihood == pytest.approx(stats.multinomial.logpmf(counts, counts.sum(1), cells).sum(), rel=1e-9)
    prior = log_density(program, vars=[program[name] for name in rates])(**rates)
    jacobian = np.log(0.3 * 0.7)  # of (prevalence, recall, specificity) to the cells
    assert prior == pytest.approx(stats.dirichlet.logpdf(cells, np.full(4, 0.5)) + jacobian, rel=1e-9)
    # folds scatter on the logit scale, recall with fold_sd[0]
    apart = log_density(program, vars=program.observed_RVs, sum=False)(
        **rates, **rest | {"fold_sd": np.array([0.5, 1e-12])}, fold_effect=standard
    )[0]
    recall = special.expit(special.logit(0.8) + 0.5 * standard[:, 0])
    each = np.stack([cells[0] + 0 * recall, cells[1] + 0 * recall, 0.3 * (1 - recall), 0.3 * recall], -1)
    np.testing.assert_allclose(apart, stats.multinomial.logpmf(counts, counts.sum(1), each), rtol=1e-9)


@pytest.mark.slow
def test_quadrature_of_partial_pooling_is_nuts(partial, nuts):
    assert partial.attrs["method"] == "quadrature"
    hardly_diverges(nuts.sample_stats)
    assert set(nuts.posterior.data_vars) == set(partial.posterior.data_vars)
    for name in nuts.posterior.data_vars:
        agree(nuts.posterior[name], partial.posterior[name])


@pytest.mark.parametrize("folds", [APART[:1], APART[:2], 0 * APART, APART * [[0, 0], [1, 1]]])
def test_few_folds_and_empty_ones(folds):
    fit = bayescm.posterior(folds, model="kfold", metrics="recall", random_seed=1)
    assert fit.attrs["method"] == "quadrature"
    alone = bayescm.posterior(folds.sum("fold"), metrics="recall", draws=4000, random_seed=1).posterior.recall
    assert float(fit.posterior.recall.std()) > 0.9 * float(alone.std())  # as sure as their sum at most
    assert float(fit.posterior.recall.mean()) == pytest.approx(float(alone.mean()), abs=0.05)


def test_folds_that_differ_tell_less_than_their_sum(partial):
    widths = {"partial": float(partial.posterior.recall.std())}
    for pooling in ("complete", "average"):
        fit = bayescm.posterior(APART, model="kfold", pooling=pooling, metrics="recall", random_seed=1)
        widths[pooling] = float(fit.posterior.recall.std())
    assert widths["partial"] > 1.3 * widths["complete"]
    assert widths["average"] < widths["partial"]


def test_three_labels_and_bad_folds():
    three = bayescm.from_array(np.arange(18).reshape(2, 3, 3), dims="fold")
    fit = bayescm.posterior(three, model="kfold", pooling="complete", metrics="recall", draws=100, random_seed=1)
    assert fit.posterior.recall.sizes["class_label"] == 3
    with pytest.raises(ValueError, match="'partial' takes two labels"):
        bayescm.posterior(three, model="kfold")
    with pytest.raises(ValueError, match="one dim beside"):
        bayescm.inference.choose([[6, 2], [0, 26]], model="kfold")
    with pytest.raises(ValueError, match="`pooling` must be one of"):
        bayescm.inference.choose(FOLDS, model="kfold", pooling="mean")
    with pytest.raises(ValueError, match="improper"):
        bayescm.inference.choose(FOLDS * 0, model="kfold", pooling="complete", prior="haldane")
    with pytest.raises(ValueError, match="improper"):
        bayescm.inference.choose(FOLDS, model="kfold", prior="haldane")
