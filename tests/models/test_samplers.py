"""Samplers but the closed form and PyMC's NUTS: what they draw, what they say of it, and that options reach them."""

import sys
import types

import numpy as np
import pytest
import xarray as xr
from agreement import has_moments
from scipy import special, stats

import bayescm
from bayescm import models
from bayescm.models import nuts, samplers

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS", "ignore:SMC"
)
TABLE = bayescm.from_cells(tp=26, fn=4, fp=5, tn=16)
KNOWN = {"recall": stats.beta(27, 5), "specificity": stats.beta(17, 6), "prevalence": stats.beta(31, 22)}
COMMON = {"model": "three_binomial", "prior": "laplace", "random_seed": 1, "progressbar": False}


def holds_its_program(fit):
    program = models.load("three_binomial").model(TABLE, prior="laplace")
    assert {rv.name for rv in program.free_RVs} <= set(fit.posterior.data_vars)
    assert fit.posterior.attrs["sampling_time"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("interpreted")
def test_sequential_monte_carlo():
    fit = bayescm.posterior(TABLE, sampler="smc", chains=2, draws=60, cores=1, **COMMON)
    assert fit.attrs["method"] == "smc"
    assert fit.sample_stats.log_marginal_likelihood.dims == ("chain",)
    cells = TABLE.values.ravel()
    ways = special.gammaln(cells.sum() + 1) - special.gammaln(cells + 1).sum()
    evidence = ways + special.betaln(31, 22) + special.betaln(27, 5) + special.betaln(17, 6)
    np.testing.assert_allclose(fit.sample_stats.log_marginal_likelihood, evidence, atol=1.5)
    holds_its_program(fit)
    for name, beta in KNOWN.items():
        assert abs(float(fit.posterior[name].mean()) - beta.mean()) < beta.std()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "sampler", [pytest.param("advi", marks=pytest.mark.slow), pytest.param("fullrank_advi", marks=pytest.mark.long)]
)
def test_an_approximation_says_so(sampler):
    with pytest.warns(UserWarning, match=f"{sampler} approximates the posterior.*Pareto k is .*sampler='exact'"):
        fit = bayescm.posterior(TABLE, sampler=sampler, chains=2, draws=500, n=1500, **COMMON)
    assert fit.attrs["method"] == "advi"
    assert np.isfinite(fit.posterior.attrs["pareto_k"])
    assert "sample_stats" not in fit.children
    holds_its_program(fit)
    for name, beta in KNOWN.items():
        assert abs(float(fit.posterior[name].mean()) - beta.mean()) < beta.std()
        assert 0.5 < float(fit.posterior[name].std()) / beta.std() < 2


def test_pathfinder_asks_for_its_package_and_is_told_how_good_it_is(monkeypatch):
    run = nuts.Run(2, 5, 1, "pathfinder")
    monkeypatch.setitem(sys.modules, "pymc_extras", None)
    with pytest.raises(ImportError, match=r"`sampler`='pathfinder' needs pymc_extras.*install 'pymc-extras'"):
        samplers.draw("a program", run)
    asked = {}

    def fit(**options):
        asked.update(options)
        drawn = xr.Dataset({"recall": (("chain", "draw"), np.full((1, options["num_draws"]), 0.5))})
        return xr.DataTree.from_dict({"posterior": drawn, "pathfinder": xr.Dataset({"pareto_k": 0.9})})

    monkeypatch.setitem(sys.modules, "pymc_extras", types.SimpleNamespace(fit=fit))
    with pytest.warns(UserWarning, match=r"pathfinder approximates.*Pareto k is 0\.90, above 0\.7: it is no stand-in"):
        drawn = samplers.draw("a program", run)["posterior"]
    assert dict(drawn.sizes) == {"chain": 2, "draw": 5}
    assert asked == {"method": "pathfinder", "model": "a program", "random_seed": 1, "num_draws": 10,
                     "num_draws_per_path": 1000}  # fmt: skip


def test_nutpie_samples(seed):
    pytest.importorskip("nutpie")
    settings = COMMON | {"random_seed": seed(1)}
    fit = bayescm.posterior(TABLE, sampler="nutpie", chains=2, draws=500, tune=300, cores=1, **settings)
    assert fit.attrs["inference_library"] == "nutpie"
    holds_its_program(fit)
    for name, beta in KNOWN.items():
        has_moments(fit.posterior[name], beta.mean(), beta.std())


def test_options_reach_nutpie_and_its_compiler(monkeypatch):
    asked = {}

    def compile_pymc_model(program, **options):
        asked["compile"] = options
        return types.SimpleNamespace(with_data=lambda **data: asked.update(data=data))

    def sample(compiled, **options):
        asked["sample"] = options
        drawn = xr.Dataset({"recall": (("chain", "draw"), np.zeros((1, 1)))})
        return {"posterior": xr.DataTree(drawn), "sample_stats": xr.DataTree(drawn)}

    fake = types.SimpleNamespace(compile_pymc_model=compile_pymc_model, sample=sample)
    monkeypatch.setitem(sys.modules, "nutpie", fake)
    program = type("Program", (), {"data_vars": ()})()
    options = {"nuts_sampler_kwargs": {"maxdepth": 7}, "backend": "jax", "gradient_backend": "pytensor"}
    nuts.sample(program, nuts.Run(1, 9, 3, "nutpie", options | {"adaptation": "low_rank"}))
    assert asked["compile"] == {"backend": "jax", "gradient_backend": "pytensor"}
    assert "data" not in asked  # JAX has the data in its code: it is compiled anew
    want = {"draws": 9, "chains": 1, "seed": 3, "maxdepth": 7, "target_accept": 0.95, "adaptation": "low_rank",
            "progress_bar": True}  # fmt: skip
    assert asked["sample"] == want
    nuts.sample(program, nuts.Run(1, 9, 3, "nutpie", {"max_treedepth": 5, "progressbar": False}))
    assert asked["data"] == {}
    assert asked["sample"]["maxdepth"] == 5
    assert asked["sample"]["progress_bar"] is False


def test_options_of_nuts_reach_pymc(monkeypatch):
    asked = {}

    def sample(**options):
        asked.update(options)
        drawn = xr.Dataset({"recall": (("chain", "draw"), np.zeros((1, 1)))})
        return {"posterior": xr.DataTree(drawn), "sample_stats": xr.DataTree(drawn)}

    monkeypatch.setattr("pymc.sample", sample)
    for sampler, name in (("nuts", "pymc"), ("numpyro", "numpyro"), ("blackjax", "blackjax")):
        if sampler != "nuts":
            monkeypatch.setitem(sys.modules, sampler, None)
            with pytest.raises(ImportError, match=f"`sampler`='{sampler}' needs {sampler}.*install '{sampler}'"):
                nuts.sample("program", nuts.Run(1, 9, 3, sampler))
        monkeypatch.setitem(sys.modules, sampler, types.SimpleNamespace())
        nuts.sample("program", nuts.Run(1, 9, 3, sampler, {"nuts_sampler_kwargs": {"max_treedepth": 6}}))
        assert asked["nuts"] == {"target_accept": 0.95, "max_treedepth": 6}
        assert asked["nuts_sampler"] == name
