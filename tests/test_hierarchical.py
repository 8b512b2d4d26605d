"""Many units at once: the likelihood, shrinkage, the limits, recovery, and the classifiers of Toetsch and Hoffmann."""

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats

import bayescm
from bayescm import models

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
story = models.load("hierarchical")
QUICK = {"cores": 1, "progressbar": False, "nuts_sampler": "pymc", "quiet": True, "compute_convergence_checks": False}
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


def fitted(counts, draws=500, chains=2, seed=1, **options):
    with story.model(counts, **options):
        return pm.sample(draws, tune=700, chains=chains, random_seed=seed, **QUICK)


def rates(fit):
    """Return the draws of every unit's recall and specificity."""
    theta = fit.posterior["theta"]
    of = theta / theta.sum("predicted")
    return of.isel(actual=1, predicted=1), of.isel(actual=0, predicted=0)


def test_program_follows_the_contract():
    program = story.model(TABLE)
    assert [v.name for v in program.observed_RVs] == ["counts"]
    assert program.named_vars_to_dims["counts"] == ("hospital", "cell")
    assert program.named_vars_to_dims["theta"] == ("hospital", "actual", "predicted")
    named = set(program.named_vars) | set(program.coords)
    assert named <= {*story._TAKEN, *bayescm.results.RESERVED, "hospital"}


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


def test_the_prior_is_what_it_says():
    program = story.model(TABLE, prior={"prevalence": (2, 5), "recall": (8, 3), "specificity": (4, 1)}, scale=0.6)
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


def test_simulated_truths_follow_the_programs_prior():
    rng = np.random.default_rng(1)
    data = [story.simulate(rng, 3, [5, 20, 40]) for _ in range(1500)]
    with story.model(data[0]["counts"]):
        prior = pm.sample_prior_predictive(1500, random_seed=1).prior
    assert (data[0]["counts"].sum(("actual", "predicted")) == [5, 20, 40]).all()
    for name in ("theta", "prevalence", "mean_recall", "mean_specificity", "sd_logit", "correlation", "new_recall"):
        one = np.stack([d[name].values for d in data]).reshape(1500, -1)
        two = prior[name].values[0].reshape(1500, -1)
        for mine, other in zip(one.T, two.T, strict=True):
            assert stats.ks_2samp(mine, other).pvalue > 1e-4, name
    # logits of a unit's rates correlate as the truth says
    z = np.stack([special.logit([d["new_recall"], d["new_specificity"]]) for d in data])
    mean = np.stack([special.logit([d["mean_recall"], d["mean_specificity"]]) for d in data])
    standard = (z - mean) / np.stack([d["sd_logit"].values for d in data])
    rho = np.array([float(d["correlation"]) for d in data])
    assert (standard.prod(-1) * rho).mean() == pytest.approx((rho**2).mean(), abs=0.05)


def test_no_scatter_equals_pooling():
    """With scales near 0 the rates are those of the summed counts, Betas; the prevalences are Betas anyway."""
    fit = fitted(TABLE, scale=1e-4, draws=1000)
    positives, items = TABLE.sum("predicted").isel(actual=1).values, TABLE.sum(("actual", "predicted")).values
    for u in range(3):
        law = stats.beta(1 + positives[u], 1 + items[u] - positives[u])
        draws = fit.posterior["prevalence"].isel(hospital=u)
        assert float(draws.mean()) == pytest.approx(law.mean(), abs=0.2 * law.std())
        assert float(draws.std()) == pytest.approx(law.std(), rel=0.12)
    summed = TABLE.sum("hospital")
    for draws, (a, b) in zip(rates(fit), (summed[1, ::-1], summed[0]), strict=True):
        law = stats.beta(int(a) + 1, int(b) + 1)
        assert float(draws.std("hospital").max()) < 1e-3
        values = draws.isel(hospital=0).values
        assert values.mean() == pytest.approx(law.mean(), abs=0.25 * law.std())
        assert values.std() == pytest.approx(law.std(), rel=0.12)


def test_units_are_pulled_towards_the_mean_and_small_ones_more():
    counts = bayescm.from_cells(
        tp=[9, 90, 60, 65, 55, 62, 58], fn=[1, 10, 40, 35, 45, 38, 42], fp=10, tn=90, dims="system"
    )
    recall, _ = rates(fitted(counts))
    small, large = recall.mean(("chain", "draw")).values[:2]
    assert 0.6 < small < large < 0.9
    assert recall.std(("chain", "draw")).values[0] < stats.beta(10, 2).std()


def test_the_classifiers_of_toetsch_and_hoffmann():
    table = bayescm.datasets.toetsch2021()
    fit = fitted(table, draws=500, chains=2)
    assert int(fit.sample_stats["diverging"].sum()) == 0
    recall, specificity = rates(fit)
    assert 0.75 < float(fit.posterior["mean_recall"].mean()) < 0.95
    # a law of the next classifier is wider than that of the mean
    for name in ("recall", "specificity"):
        assert float(fit.posterior[f"new_{name}"].std()) > 2.5 * float(fit.posterior[f"mean_{name}"].std())
    # few positives and a low recall: pulled up; many positives: hardly moved
    alone = (table.isel(actual=1, predicted=1) + 1) / (table.isel(actual=1).sum("predicted") + 2)
    centre = float(fit.posterior["mean_recall"].median())
    shrunk = recall.mean(("chain", "draw"))
    few = table.isel(actual=1).sum("predicted") < 20
    low = few & (alone < 0.6)
    assert (shrunk > alone)[low].all()
    assert (abs(shrunk - alone)[~few] < 0.05).all()
    assert low.any()
    assert centre > 0.6
    assert specificity.sizes["system"] == 24


@pytest.mark.slow  # docs/verification/sbc.py does it at length, and CI a little
def test_recovery_by_ranks():
    """Simulation-based calibration, small: ranks of the truth among posterior draws are uniform; one program."""
    rng = np.random.default_rng(7)
    data = [story.simulate(rng, 8, 40) for _ in range(25)]
    names = ("mean_recall", "mean_specificity", "sd_logit", "correlation", "new_recall", "theta")
    ranks = []
    with story.model(data[0]["counts"]) as program:
        points, step = pm.init_nuts(chains=1, random_seed=[1], progressbar=False, target_accept=0.9)
        fresh = step.sampling_state
        for i, one in enumerate(data):
            pm.set_data({"counts_data": one["counts"].values.reshape(8, 4)}, model=program)
            step.sampling_state = fresh
            fit = pm.sample(100, tune=250, chains=1, step=step, initvals=points, random_seed=i, **QUICK).posterior
            ranks.append(np.concatenate([np.ravel((fit[n].values[0] < one[n].values).mean(0)) for n in names]))
    for mine in np.array(ranks).T:
        assert stats.kstest(mine, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: story.model([[6, 2], [0, 26]]), "one dim beside"),
        (lambda: story.model(np.ones((4, 3, 3), int)), "must have two labels"),
        (lambda: story.model(TABLE, scale=0), "`scale` must be a number"),
        (lambda: story.model(TABLE, prior="haldane"), "`prior` is improper"),
        (lambda: story.model(TABLE.rename(hospital="rate")), "story uses that name"),
        (lambda: story.simulate(np.random.default_rng(1), 0), "`units` must be a positive integer"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
