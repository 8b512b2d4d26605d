"""The stories: the door, the programs, and that NUTS and the closed form agree."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from agreement import agree

import bayescm
from bayescm import models
from bayescm.counts import from_array

STORIES = ("dirichlet_multinomial", "three_binomial")
TABLES = {2: [[35, 30], [30, 50]], 3: [[50, 3, 2], [4, 40, 1], [1, 6, 30]]}
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def test_the_door():
    assert set(STORIES) < set(models.names())
    with pytest.raises(ValueError, match=r"dirichlet_multinomial, .*three_binomial"):
        models.load("k_folds")
    assert models.load("three_binomial") is models.load("three_binomial")
    assert models.load("three_binomial").__name__ == "bayescm.models.three_binomial"


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("k", [2, 3])
def test_programs_follow_the_contract(name, k):
    program = models.load(name).model(TABLES[k])
    assert program["counts_data"].type.ndim == 1
    assert [v.name for v in program.observed_RVs] == ["counts"]
    assert program.named_vars_to_dims["counts"] == ("cell",)
    assert program.named_vars_to_dims["theta"] == ("actual", "predicted")


def test_programs_are_of_one_matrix():
    with pytest.raises(ValueError, match="must be one matrix"):
        models.load("three_binomial").model(bayescm.datasets.caelen2017())


def test_the_observed_multinomial_is_the_three_binomials():
    from scipy import stats

    program = models.load("three_binomial").model([[6, 2], [1, 26]])
    point = {"prevalence": 0.7, "recall": 0.9, "specificity": 0.6}
    unconstrained = {f"{n}_logodds__": np.log(v / (1 - v)) for n, v in point.items()}
    got = program.compile_logp(vars=program.observed_RVs)(unconstrained)
    want = stats.binom.logpmf(27, 35, 0.7) + stats.binom.logpmf(26, 27, 0.9) + stats.binom.logpmf(6, 8, 0.6)
    assert got == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("k", [2, 3])
def test_nuts_and_closed_form_agree(name, k):
    metrics = ["accuracy", "recall", "precision", "mcc", "prevalence"]
    common = {"model": name, "prior": "jeffreys", "metrics": metrics, "random_seed": 1}
    nuts = bayescm.posterior(TABLES[k], method="nuts", draws=2000, tune=1000, progressbar=False, cores=1, **common)
    exact = bayescm.posterior(TABLES[k], method="exact", draws=25_000, **common)
    assert nuts.attrs["method"] == "nuts"
    assert "sample_stats" in nuts.children
    assert set(nuts.posterior.data_vars) == set(exact.posterior.data_vars)
    for variable, draws in nuts.posterior.data_vars.items():
        agree(draws, exact.posterior[variable])


def test_nuts_exchanges_prevalence_and_replicates():
    common = {
        "model": "three_binomial",
        "metrics": ["precision", "prevalence"],
        "prevalence": (2, 98),
        "random_seed": 3,
    }
    nuts = bayescm.posterior(TABLES[2], method="nuts", progressbar=False, cores=1, replicate=50, **common)
    exact = bayescm.posterior(TABLES[2], method="exact", draws=25_000, **common)
    assert float(nuts.posterior.prevalence.mean()) == pytest.approx(0.02, abs=0.002)
    assert float(nuts.posterior.precision.mean()) == pytest.approx(float(exact.posterior.precision.mean()), abs=0.003)
    assert (nuts.posterior_predictive.counts.sum("cell") == 50).all()


def test_nuts_is_reproducible_and_saves(tmp_path):
    runs = [
        bayescm.posterior(TABLES[2], method="nuts", draws=600, tune=500, metrics="mcc", progressbar=False, cores=1,
                          random_seed=8, target_accept=0.9) for _ in range(2)
    ]  # fmt: skip
    xr.testing.assert_identical(runs[0]["posterior"].to_dataset(), runs[1]["posterior"].to_dataset())
    runs[0].to_netcdf(tmp_path / "n.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "n.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), runs[0])


def test_a_bad_fit_says_what_to_try():
    with pytest.warns(UserWarning, match=r"NUTS: .*(R-hat|effective sample size).*try.*closed form"):
        bayescm.posterior(TABLES[2], method="nuts", draws=20, tune=5, progressbar=False, cores=1, random_seed=1)


@pytest.mark.parametrize("name", STORIES)
def test_simulate_then_exact_covers_the_truth(name):
    story = models.load(name)
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(200):
        world = story.simulate(rng, 60, prior="laplace")
        s = bayescm.summary(world["counts"], "recall", model=name, prior="laplace", ci_prob=0.9)
        truth = float(bayescm.evaluate(world["theta"].assign_coords(actual=[0, 1], predicted=[0, 1]), "recall").recall)
        hits += bool(s.interval[0, 0] <= truth <= s.interval[0, 1])
    assert abs(hits / 200 - 0.9) < 4 * np.sqrt(0.09 / 200)


@pytest.mark.parametrize("name", STORIES)
def test_simulate_counts_items(name):
    world = models.load(name).simulate(np.random.default_rng(1), 100, n_labels=4)
    assert int(world["counts"].sum()) == 100
    assert float(world["theta"].sum()) == pytest.approx(1)
    assert models.load(name).exact(from_array(world["counts"].values)).rows.shape == (4, 4)


def script(name, folder):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, root / "models" / f"{name}.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_stories_run_as_scripts(tmp_path):
    for name in STORIES:
        assert script(name, tmp_path).count("recall") == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in models.names() if name not in STORIES])
def test_all_stories_run_as_scripts(name, tmp_path):
    assert "hdi95" in script(name, tmp_path)
