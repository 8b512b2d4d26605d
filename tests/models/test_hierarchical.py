"""Many units at once: the likelihood, shrinkage, the limits, recovery, and the classifiers of Toetsch and Hoffmann."""

import numpy as np
import pymc as pm
import pytest
from agreement import OVER, agree, draw, hardly_diverges
from scipy import special, stats

import bayescm
from bayescm import models
from bayescm.distributions import importance

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]
story = models.load("hierarchical")
TABLE = bayescm.from_cells(tp=[26, 3, 0], fn=[0, 9, 4], fp=[2, 1, 5], tn=[6, 12, 0], dims="hospital")
POINT = {
    "mean_recall_logodds__": 1.2,
    "mean_specificity_logodds__": 0.4,
    "sd_logit_log__": np.log([0.7, 1.3]),
    "correlation_rescaled_logodds__": -0.8,
    "standard": np.array([[0.3, -1.0], [1.1, 0.2], [-0.4, 0.9]]),
    "standard_new": np.array([0.1, -0.2]),
    "prevalence_logodds__": np.array([0.5, -0.3, -1.0]),
}


@pytest.fixture(scope="module")
def classifiers(seed):
    return draw(story.model(bayescm.datasets.toetsch2021()), seed(1))


def test_program_follows_the_contract():
    program = story.model(TABLE)
    assert [v.name for v in program.observed_RVs] == ["counts"]
    assert program.named_vars_to_dims["counts"] == ("hospital", "cell")
    assert program.named_vars_to_dims["theta"] == ("hospital", "actual", "predicted")
    named = set(program.named_vars) | set(program.coords)
    assert named <= {*story._TAKEN, *bayescm.data.schema.RESERVED, "hospital"}


def test_the_likelihood_is_three_binomials_of_each_unit():
    program = story.model(TABLE)
    got = program.compile_logp(vars=program.observed_RVs, sum=False)(POINT)[0]
    rho, sd = 2 * special.expit(-0.8) - 1, np.array([0.7, 1.3])
    # by the Cholesky factor of the covariance, which the program doesn't use
    factor = np.linalg.cholesky(np.outer(sd, sd) * np.array([[1, rho], [rho, 1]]))
    tpr, tnr = special.expit(np.array([1.2, 0.4]) + POINT["standard"] @ factor.T).T
    prevalence = special.expit(POINT["prevalence_logodds__"])
    tn, fp, fn, tp = TABLE.values.reshape(3, 4).T
    want = (
        stats.binom.logpmf(tp + fn, tp + fn + tn + fp, prevalence)
        + stats.binom.logpmf(tp, tp + fn, tpr)
        + stats.binom.logpmf(tn, tn + fp, tnr)
    )
    np.testing.assert_allclose(got, want, rtol=1e-10)
    # without scatter every unit has the mean rates: the pooled table
    tight = POINT | {"sd_logit_log__": np.full(2, -40.0), "prevalence_logodds__": np.full(3, 0.3)}
    pooled = program.compile_logp(vars=program.observed_RVs)(tight)
    ways = [stats.binom.logpmf(k, n, p).sum() for k, n, p in (
        (tp + fn, tp + fn + tn + fp, special.expit(0.3)), (tp, tp + fn, special.expit(1.2)),
        (tn, tn + fp, special.expit(0.4)),
    )]  # fmt: skip
    assert pooled == pytest.approx(sum(ways), rel=1e-10)


def test_the_prior_is_what_it_says():
    program = story.model(TABLE, prior={"prevalence": (2, 5), "recall": (8, 3), "specificity": (4, 1)}, group_scale=0.6)
    names = ["mean_recall", "mean_specificity", "sd_logit", "correlation", "prevalence"]
    free = [program[n] if n != "correlation" else program["correlation_rescaled"] for n in names]
    got = program.compile_logp(vars=free, jacobian=False, sum=False)(POINT)
    want = [
        stats.beta.logpdf(special.expit(1.2), 8, 3),
        stats.beta.logpdf(special.expit(0.4), 4, 1),
        stats.halfnorm.logpdf([0.7, 1.3], scale=0.6),
        stats.beta.logpdf(special.expit(-0.8), 2, 2),
        stats.beta.logpdf(special.expit(POINT["prevalence_logodds__"]), 2, 5),
    ]
    for mine, other in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


@pytest.mark.slow
def test_simulated_truths_follow_the_programs_prior():
    rng = np.random.default_rng(1)
    data = [story.simulate(rng, 3, [5, 20, 40]) for _ in range(700)]
    with story.model(data[0]["counts"]):
        prior = pm.sample_prior_predictive(700, random_seed=1).prior
    assert (data[0]["counts"].sum(("actual", "predicted")) == [5, 20, 40]).all()
    for name in ("theta", "prevalence", "mean_recall", "mean_specificity", "sd_logit", "correlation", "new_recall"):
        one = np.stack([d[name].values for d in data]).reshape(700, -1)
        two = prior[name].values[0].reshape(700, -1)
        for mine, other in zip(one.T, two.T, strict=True):
            assert stats.ks_2samp(mine, other).pvalue > 1e-4, name
    # logits of a unit's rates correlate as the truth says
    z = np.stack([special.logit([d["new_recall"], d["new_specificity"]]) for d in data])
    mean = np.stack([special.logit([d["mean_recall"], d["mean_specificity"]]) for d in data])
    standard = (z - mean) / np.stack([d["sd_logit"].values for d in data])
    rho = np.array([float(d["correlation"]) for d in data])
    assert (standard.prod(-1) * rho).mean() == pytest.approx((rho**2).mean(), abs=0.07)


@pytest.mark.long
def test_the_classifiers_of_toetsch_and_hoffmann(classifiers):
    table = bayescm.datasets.toetsch2021()
    posterior, sampled = classifiers
    hardly_diverges(sampled)
    of = posterior["theta"] / posterior["theta"].sum("predicted")
    recall = of.isel(actual=1, predicted=1)
    assert 0.75 < float(posterior["mean_recall"].mean()) < 0.95
    # a distribution of the next classifier is wider than that of the mean
    for name in ("recall", "specificity"):
        assert float(posterior[f"new_{name}"].std()) > 2 * float(posterior[f"mean_{name}"].std())
    # few positives and a low recall: pulled up; many positives: hardly moved
    tp, positives = table.isel(actual=1, predicted=1), table.isel(actual=1).sum("predicted")
    alone = (tp + 1) / (positives + 2)
    shrunk = recall.mean(OVER)
    few = positives < 20
    low = few & (alone < 0.6)
    assert (shrunk > alone)[low].all()
    assert (abs(shrunk - alone)[~few] < 0.05).all()
    assert low.any()
    assert float(posterior["mean_recall"].median()) > 0.6


def test_quadrature_answers_unless_its_weights_fit_badly(monkeypatch):
    choice = bayescm.inference.choose(TABLE, model="hierarchical")
    assert choice.method == "quadrature"
    fit = bayescm.posterior(TABLE, model="hierarchical", metrics="recall", random_seed=1, draws=200)
    assert fit.attrs["method"] == "quadrature"
    assert fit.posterior.attrs["pareto_k"] < 0.7
    assert 0.1 < fit.posterior.attrs["effective_share"] < 1
    group = fit.posterior
    # the same draw everywhere: the logits of a unit are made of the mean, the scales and the standard normal pairs
    rho, sd, z = group.correlation, group.sd_logit, group.standard
    recall = special.logit(group.mean_recall) + sd.sel(rate="recall") * z.sel(rate="recall")
    np.testing.assert_allclose(special.expit(recall), group.recall.transpose(*recall.dims), rtol=1e-8)
    both = rho * z.sel(rate="recall") + np.sqrt(1 - rho**2) * z.sel(rate="specificity")
    specificity = special.expit(special.logit(group.mean_specificity) + sd.sel(rate="specificity") * both)
    of = group.theta.isel(actual=0, predicted=0) / group.theta.isel(actual=0).sum("predicted")
    np.testing.assert_allclose(specificity, of.transpose(*specificity.dims), rtol=1e-8)
    monkeypatch.setattr(importance, "_TRUSTED_K", -9.0)
    choice = bayescm.inference.choose(TABLE, model="hierarchical")
    assert choice.method == "nuts"
    assert "weights that fit badly (Pareto k" in choice.reason
    with pytest.warns(UserWarning, match="weights that fit badly.*sampler='nuts'"):
        bayescm.posterior(TABLE, model="hierarchical", sampler="quadrature", metrics="recall", draws=50)


@pytest.mark.slow
def test_the_prior_by_quadrature_is_that_of_simulated_truths():
    prior = {"prevalence": (2, 5), "recall": (8, 3), "specificity": (4, 1)}
    form = story.exact(TABLE, prior=prior, group_scale=0.6)
    drawn = form.prior(np.random.default_rng(1), 3000)
    truths = [story.simulate(np.random.default_rng(i), 3, 5, prior=prior, group_scale=0.6) for i in range(700)]
    for name in ("mean_recall", "sd_logit", "correlation", "prevalence", "new_recall", "new_specificity", "theta"):
        mine = drawn[name].transpose("sample", ...).values.reshape(3000, -1)
        other = np.stack([truth[name].values for truth in truths]).reshape(700, -1)
        for one, two in zip(mine.T, other.T, strict=True):
            assert stats.ks_2samp(one, two).pvalue > 1e-4, name


@pytest.fixture(scope="module")
def both(seed, request):
    counts = {
        "telomerase": bayescm.from_cells(
            tp=[25, 17, 88, 16, 40, 38, 23, 27, 14, 37], fn=[8, 4, 16, 10, 17, 9, 19, 6, 3, 7],
            fp=[1, 3, 16, 3, 1, 6, 0, 2, 3, 22], tn=[25, 11, 31, 80, 137, 24, 12, 18, 29, 7], dims="study",
        ),
        "three": TABLE,
    }[request.param]  # fmt: skip
    return counts, draw(story.model(counts), seed(2))[0]


@pytest.mark.parametrize(
    "both",
    [pytest.param("telomerase", marks=pytest.mark.slow), pytest.param("three", marks=pytest.mark.long)],
    indirect=True,
)
def test_quadrature_is_nuts(both):
    counts, nuts = both
    mine = bayescm.posterior(counts, model="hierarchical", random_seed=1, draws=5000, metrics="recall").posterior
    for name in ("mean_recall", "mean_specificity", "sd_logit", "correlation", "new_recall", "theta"):
        agree(nuts[name], mine[name].transpose(*nuts[name].dims))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: story.model([[6, 2], [0, 26]]), "one dim beside"),
        (lambda: story.model(np.ones((4, 3, 3), int)), "must have two labels"),
        (lambda: story.model(TABLE, group_scale=0), "`group_scale` must be a number"),
        (lambda: story.model(TABLE, prior="haldane"), "`prior` is improper"),
        (lambda: story.model(TABLE.rename(hospital="rate")), "model uses that name"),
        (lambda: story.simulate(np.random.default_rng(1), 0), "`units` must be a positive integer"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
