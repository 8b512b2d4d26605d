"""What holds for every model and every program: contract, refits, programs of the user's own, workflow groups."""

import inspect
import threading

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr
from agreement import has_moments
from scipy import special, stats

import bayescm
from bayescm import models
from bayescm.models import nuts, predictive
from bayescm.priors.concentrations import concentrations

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning",
    "ignore::DeprecationWarning",
    "ignore:Variables counts:UserWarning",
    "ignore:Estimated shape parameter:UserWarning",
    "ignore:NUTS",
)
interpreted = pytest.mark.usefixtures("interpreted")
TABLE = bayescm.from_cells(tp=50, fn=30, fp=30, tn=35)
NUTS = {"sampler": "nuts", "progressbar": False, "cores": 1, "tune": 300, "draws": 300, "chains": 2}


def world(name):
    """A simulated world of a model, its data, and the prior that it was drawn from."""
    story = models.load(name)
    simulated = story.simulate(np.random.default_rng(1))
    data = models.data_of(simulated)
    prior = inspect.signature(story.simulate).parameters["prior"].default
    return simulated, data, "standard" if name == "fold_scores" else prior  # there None stands for it, too


@interpreted
@pytest.mark.parametrize("name", models.names())
def test_every_story_keeps_the_contract(name):
    story = models.load(name)
    for word in ("What happens", "In symbols", "~", f"models/{name}.py"):
        assert word in story.__doc__, word
    simulated, data, prior = world(name)
    observed = data.name
    program = story.model(data, prior=prior)
    assert [rv.name for rv in program.observed_RVs] == [observed]
    assert f"{observed}_data" in [data.name for data in program.data_vars]
    dims = program.named_vars_to_dims
    assert dims[observed][-1] in ("cell", "item", "fold")
    if "theta" in program.named_vars:
        assert dims["theta"][-2:] == ("actual", "predicted")
        assert simulated["theta"].dims == dims["theta"]
    known = {v.name for v in (*program.free_RVs, *program.deterministics)}
    assert set(simulated.data_vars) - {observed} <= known, "a truth that the program doesn't have"
    options = [list(inspect.signature(f).parameters)[1:] for f in (story.model, getattr(story, "exact", story.model))]
    assert options[0] == options[1]
    assert bayescm.inference.choose(data, model=name, prior=prior).method in ("exact", "quadrature", "nuts")


CONJUGATE = ("dirichlet_multinomial", "three_binomial")  # answered as concentrations


@interpreted
@pytest.mark.parametrize("name", [n for n in models.names() if hasattr(models.load(n), "exact") and n not in CONJUGATE])
def test_closed_forms_draw_every_variable_of_their_program(name):
    story = models.load(name)
    _, data, prior = world(name)
    options = {"pooling": "complete"} if name == "kfold" else {}
    options |= {"groups": data.dims[0]} if name == "regression" else {}
    options |= {"prior": prior}
    options |= {"prior": dict.fromkeys(["prevalence", "recall", "specificity"], 1)} if name == "informative" else {}
    form = story.exact(data, **options)
    drawn = form.draw(np.random.default_rng(1), 5)
    program = story.model(data, **options)
    have = {v.name: program.named_vars_to_dims.get(v.name, ()) for v in (*program.free_RVs, *program.deterministics)}
    assert {n: v.dims for n, v in drawn.data_vars.items()} == {n: ("sample", *d) for n, d in have.items()}
    again = pm.compute_deterministics(
        xr.Dataset({n: v.expand_dims("chain").rename(sample="draw") for n, v in drawn.data_vars.items()})[
            [v.name for v in program.free_RVs]
        ],
        model=program, progressbar=False,
    )  # fmt: skip
    for v in program.deterministics:
        np.testing.assert_allclose(again[v.name].values[0], drawn[v.name].values, rtol=1e-7, err_msg=v.name)


def program(counts, *, data=True):
    with pm.Model(coords={"actual": [0, 1], "predicted": [0, 1], "cell": ["tn", "fp", "fn", "tp"]}) as mine:
        values = counts.values.ravel()
        seen = pm.Data("counts_data", values, dims="cell") if data else values
        theta = pm.Dirichlet("p", np.ones(4), dims="cell")
        pm.Deterministic("theta", theta.reshape((2, 2)), dims=("actual", "predicted"))
        pm.Multinomial("counts", n=seen.sum(), p=theta, observed=seen, dims="cell")
    return mine


@pytest.mark.slow
def test_a_program_of_the_users_own_is_refitted_without_compiling(monkeypatch):
    mine = program(TABLE)
    first = bayescm.posterior(TABLE, model=mine, metrics="recall", random_seed=1, **NUTS)
    step = nuts._compiled[mine]
    other = bayescm.from_cells(tp=5, fn=75, fp=30, tn=35)
    with monkeypatch.context() as patched:
        patched.setattr(pm.Model, "compile_fn", lambda *_, **__: pytest.fail("compiled"))
        second = bayescm.posterior(other, model=mine, metrics="recall", random_seed=1, **NUTS)
    assert nuts._compiled[mine] is step
    assert len(step) == 1
    for fit, beta in ((first, stats.beta(51, 31)), (second, stats.beta(6, 76))):
        has_moments(fit.posterior.recall, beta.mean(), beta.std())
    assert second.observed_data.counts.values.tolist() == [35, 30, 75, 5]
    assert "p" in second.posterior
    own = bayescm.posterior(None, model=program(TABLE, data=False), metrics="f1", random_seed=1, **NUTS)
    f1 = bayescm.metric_distribution(TABLE, "f1", prior="laplace")
    has_moments(own.posterior.f1, f1.mean(), f1.std())


@pytest.mark.slow
def test_what_a_program_of_the_users_own_must_have():
    with pytest.raises(ValueError, match="can't be replaced"):
        bayescm.posterior(TABLE + 1, model=program(TABLE, data=False))
    with pytest.raises(ValueError, match="`prior` is part of"):
        bayescm.posterior(TABLE, model=program(TABLE), prior="laplace")
    with pytest.raises(ValueError, match="has the shape"):
        bayescm.posterior(np.ones((3, 3), int), model=program(TABLE))
    with pytest.raises(ValueError, match="no closed form"):
        bayescm.inference.choose(TABLE, model=program(TABLE), sampler="exact")
    with pm.Model() as unseen:
        pm.Normal("y", observed=1.0)
    with pytest.raises(ValueError, match="must observe one variable called 'counts'"):
        bayescm.posterior(TABLE, model=unseen)
    with pm.Model() as plain:
        pm.Binomial("counts", 10, pm.Beta("p", 1, 1), observed=3)
    fit = bayescm.posterior(None, model=plain, random_seed=1, **NUTS)
    has_moments(fit.posterior.p, stats.beta(4, 8).mean(), stats.beta(4, 8).std())
    with pytest.raises(ValueError, match="need a variable theta"):
        bayescm.posterior(None, model=plain, metrics="recall", random_seed=1, **NUTS)
    with pytest.raises(TypeError, match="`model` must be the name of a model"):
        bayescm.posterior(TABLE, model=3)


@pytest.mark.slow
def test_nuts_takes_a_batch_and_compiles_once():
    counts = bayescm.datasets.caelen2017()
    nuts = bayescm.posterior(counts, metrics="f1", random_seed=2, **NUTS)
    exact = bayescm.metric_distribution(counts, "f1")
    assert nuts.posterior.f1.dims == ("chain", "draw", "system")
    assert nuts.sample_stats.diverging.dims == ("system", "chain", "draw")
    has_moments(nuts.posterior.f1, exact.mean(), exact.std())
    assert nuts.posterior.system.values.tolist() == ["A", "B"]


@pytest.mark.slow
def test_refits_of_two_threads_do_not_mix():
    tables = [bayescm.from_cells(tp=tp, fn=100 - tp, fp=10, tn=90) for tp in (5, 95)]
    recall = {}

    def fit(i):
        dt = bayescm.posterior(tables[i], model="three_binomial", metrics="recall", random_seed=1, **NUTS)
        recall[i] = dt.posterior.recall

    threads = [threading.Thread(target=fit, args=(i,)) for i in (0, 1)]
    [t.start() for t in threads], [t.join() for t in threads]
    for i, beta in ((0, stats.beta(5.5, 95.5)), (1, stats.beta(95.5, 5.5))):
        has_moments(recall[i], beta.mean(), beta.std())


@interpreted
@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
def test_workflow_groups_of_cells_against_pymc(model):
    dt = bayescm.posterior(
        TABLE,
        model=model,
        prior="legendre",
        metrics=["recall", "specificity", "prevalence"],
        workflow=True,
        draws=50,
        random_seed=1,
    )
    assert {"prior_predictive", "posterior_predictive", "log_likelihood", "log_prior", "prior"} <= set(dt.children)
    story = models.load(model).model(TABLE, prior="legendre")
    free = dt["posterior"].to_dataset().drop_attrs()
    free["theta_cell"] = ("chain", "draw", "cell"), free.theta.values.reshape(4, 50, 4)
    tree = xr.DataTree.from_dict({"posterior": free[[v.name for v in story.free_RVs]]})
    theirs = pm.stats.compute_log_prior(tree, model=story, extend_inferencedata=False, progressbar=False)
    np.testing.assert_allclose(
        sum(v.values for v in theirs.data_vars.values()), dt["log_prior"]["theta"].values, rtol=1e-9
    )
    likelihood = pm.compute_log_likelihood(tree, model=story, extend_inferencedata=False, progressbar=False)[
        "counts"
    ].values
    ours = dt["log_likelihood"]["counts"]
    assert ours.dims == ("chain", "draw", "item")
    constant = likelihood - ours.sum("item").values  # the multinomial coefficient
    np.testing.assert_allclose(constant, constant[0, 0])
    assert dt["log_likelihood"].cell.values.tolist() == ["tn"] * 35 + ["fp"] * 30 + ["fn"] * 30 + ["tp"] * 50


@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
def test_exact_loo_against_psis_and_by_hand(model):
    dt = bayescm.posterior(
        TABLE, model=model, prior="laplace", metrics="recall", workflow=True, draws=5000, random_seed=1
    )
    psis = az.loo(dt)
    exact = bayescm.inference.loo(TABLE, model=model, prior="laplace")
    assert float(exact.elpd_loo) == pytest.approx(float(psis.elpd), abs=0.05)
    assert float(exact.se) == pytest.approx(float(psis.se), rel=0.01)
    assert float(exact.p_loo) == pytest.approx(float(psis.p), abs=0.05)
    # by hand: leave one true positive out, predict its cell
    without = TABLE.copy()
    without[1, 1] -= 1
    base = concentrations("laplace", model, 2)
    rows, shares = base.rows + without.values, base.shares + without.values.sum(-1)
    want = shares[1] / shares.sum() * rows[1, 1] / rows[1].sum()
    assert float(exact.elpd.sel(cell="tp")) == pytest.approx(np.log(want))
    batch = bayescm.inference.loo(bayescm.datasets.caelen2017(), model=model)
    assert batch.elpd_loo.dims == ("system",)
    assert np.isnan(bayescm.inference.loo(bayescm.from_cells(tp=3, fn=0, fp=1, tn=4)).elpd.sel(cell="fn"))


def test_arviz_reads_the_workflow():
    dt = bayescm.posterior(TABLE, prior="legendre", metrics=["recall", "mcc"], workflow=True, random_seed=1)
    assert {"prior", "likelihood"} <= set(az.psense_summary(dt, var_names=["recall"]).columns)
    assert az.plot_prior_posterior(dt, var_names=["recall"]) is not None
    assert az.plot_ppc_dist(dt, group="prior_predictive") is not None
    compared = az.compare({m: bayescm.posterior(TABLE, model=m, metrics="recall", workflow=True, random_seed=1)
                           for m in ("dirichlet_multinomial", "three_binomial")})  # fmt: skip
    assert compared.shape[0] == 2


@pytest.mark.slow
def test_workflow_of_a_program_and_of_a_closed_form_alike(tmp_path):
    folds = bayescm.from_cells(tp=[9, 7, 10], fn=[2, 3, 1], fp=[1, 4, 2], tn=[28, 26, 27], dims="fold")
    common = {"model": "kfold", "pooling": "complete", "metrics": ["recall", "f1"], "workflow": True, "random_seed": 1}
    common |= {"chains": 2, "draws": 300}
    trees = [bayescm.posterior(folds, **common | options) for options in ({}, NUTS)]
    assert set(trees[1].children) - set(trees[0].children) == {"sample_stats"}
    for name in ("log_likelihood", "log_prior", "posterior_predictive", "prior_predictive", "replicate", "prior"):
        ours, theirs = (dt[name].to_dataset() for dt in trees)
        assert {n: v.dims for n, v in ours.items()} == {n: v.dims for n, v in theirs.items()}, name
    items = trees[0]["log_likelihood"].counts
    assert items.dims == ("chain", "draw", "item")
    assert items.sizes["item"] == int(folds.sum())
    assert trees[0]["replicate"].recall.dims == ("chain", "draw", "fold")
    cells = trees[0].posterior.theta_cell[0, 0].values
    want = stats.multinomial.logpmf(folds[0].values.ravel(), 40, cells)
    ways = special.gammaln(41) - special.gammaln(folds[0].values + 1).sum()
    assert float(items[0, 0, items.fold == 0].sum()) + ways == pytest.approx(want)
    np.testing.assert_allclose(np.exp(items[0, 0, (items.fold == 2) & (items.cell == "fp")]), cells[1])
    assert float(az.loo(trees[0]).elpd) == pytest.approx(float(az.loo(trees[1]).elpd), abs=0.6)  # s.e. .05
    assert az.plot_ppc_dist(trees[1]) is not None
    trees[1].to_netcdf(tmp_path / "k.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "k.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), trees[1])


def test_prevalence_is_exchanged_in_any_story():
    folds = bayescm.from_cells(tp=[90, 70], fn=[20, 30], fp=[10, 40], tn=[280, 260], dims="fold")
    fit = bayescm.posterior(
        folds, model="kfold", pooling="complete", prevalence=0.01, metrics=["prevalence", "precision"], random_seed=1
    )
    np.testing.assert_allclose(fit.posterior.prevalence, 0.01)
    same = bayescm.posterior(folds.sum("fold"), prevalence=0.01, metrics="precision", random_seed=1)
    assert float(fit.posterior.precision.mean()) == pytest.approx(float(same.posterior.precision.mean()), abs=0.002)
    with pytest.raises(ValueError, match="give numbers"):
        bayescm.posterior(folds, model="kfold", pooling="complete", prevalence="fixed")


def test_limits_of_the_workflow():
    with pytest.raises(ValueError, match=r"bayescm\.inference\.loo, which needs none"):
        bayescm.posterior(TABLE * 10_000, workflow=True, metrics="recall")
    with pytest.raises(ValueError, match="takes one matrix"):
        bayescm.posterior(bayescm.datasets.caelen2017(), workflow=True)
    flat = predictive.log_prior(
        bayescm.posterior(TABLE, draws=3, metrics="f1").posterior.theta, concentrations(1, "dirichlet_multinomial", 2)
    )
    np.testing.assert_allclose(flat["theta"], special.gammaln(4))


def test_a_program_without_constants_of_its_own_keeps_its_data():
    mine = program(TABLE)
    assert predictive.observed(mine)["counts"].values.tolist() == [35, 30, 30, 50]
    assert not predictive.constants(mine).data_vars


@pytest.mark.slow
@interpreted
def test_densities_at_all_draws_at_once_are_those_of_pymc_one_by_one():
    options = {"extend_inferencedata": False, "progressbar": False}
    with pm.Model(coords={"unit": [1, 2, 3]}) as mine:
        effect, scale = pm.Normal("effect", dims="unit"), pm.Exponential("scale", 1.0)
        number, pair = pm.Poisson("number", 3.0), pm.MvNormal("pair", np.zeros(2), np.eye(2))
        of_data = pm.Data("x", np.arange(12.0).reshape(4, 3))
        pm.Normal("y", effect * of_data + pair[0] + number, scale, observed=np.ones((4, 3)))
        pm.Normal("alone", observed=[1.0, 2.0])  # depends on no variable
        drawn = pm.sample_prior_predictive(20, random_seed=1)["prior"].to_dataset()
        tree = xr.DataTree.from_dict({"posterior": drawn})
        before, after = pm.compute_log_prior(tree, **options), pm.compute_log_likelihood(tree, **options)
    for made, theirs in (
        (predictive.log_likelihood(drawn, mine), after),
        (predictive._log_density(mine, mine.free_RVs, drawn), before),
    ):
        xr.testing.assert_equal(made, theirs)
