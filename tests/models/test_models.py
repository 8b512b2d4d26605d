"""The models: the door, the programs, and that NUTS and the closed form agree."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from agreement import ALARM, DIVERGENT, agree, has_moments, proportional
from scipy import stats

import bayescm
from bayescm import models
from bayescm.data.counts import from_array

ZERO = {2: [[6, 2], [0, 26]], 3: [[50, 3, 0], [0, 40, 0], [0, 0, 30]]}
STORIES = ("dirichlet_multinomial", "three_binomial")
TABLES = {2: [[35, 30], [30, 50]], 3: [[50, 3, 2], [4, 40, 1], [1, 6, 30]]}
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS")
NUTS = {"sampler": "nuts", "progressbar": False, "cores": 1, "chains": 2, "tune": 500}
interpreted = pytest.mark.usefixtures("interpreted")


def test_the_door():
    assert set(STORIES) < set(models.names())
    with pytest.raises(ValueError, match=r"dirichlet_multinomial, .*three_binomial"):
        models.load("k_folds")
    assert models.load("three_binomial") is models.load("three_binomial")
    assert models.load("three_binomial").__name__ == "bayescm.models.programs.three_binomial"


@interpreted
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


@interpreted
def test_the_observed_multinomial_is_the_three_binomials():
    program = models.load("three_binomial").model([[6, 2], [1, 26]])
    point = {"prevalence": 0.7, "recall": 0.9, "specificity": 0.6}
    unconstrained = {f"{n}_logodds__": np.log(v / (1 - v)) for n, v in point.items()}
    got = program.compile_logp(vars=program.observed_RVs)(unconstrained)
    want = stats.binom.logpmf(27, 35, 0.7) + stats.binom.logpmf(26, 27, 0.9) + stats.binom.logpmf(6, 8, 0.6)
    assert got == pytest.approx(want, rel=1e-12)


@interpreted
@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("tables", [TABLES, ZERO])
def test_programs_have_the_density_of_the_closed_form(name, k, tables):
    rng = np.random.default_rng(1)
    closed = models.load(name).exact(from_array(tables[k]))
    shares, rows = [rng.dirichlet(np.full(k, 3.0)) for _ in range(5)], rng.dirichlet(np.full(k, 3.0), (5, k))

    def log_closed(**point):
        if "theta_cell" in point:
            return stats.dirichlet.logpdf(point["theta_cell"], closed.rows.ravel())
        share = point["prevalence"] if k > 2 else np.array([1 - point["prevalence"], point["prevalence"]])
        recall, specificity = (point.get(name, 0.5) for name in ("recall", "specificity"))
        rates = point.get("rates", np.array([[specificity, 1 - specificity], [1 - recall, recall]]))
        each = [stats.dirichlet.logpdf(r, a) for r, a in zip(rates, closed.rows, strict=True)]
        return stats.dirichlet.logpdf(share, closed.shares) + sum(each)

    if name == "dirichlet_multinomial":
        points = [{"theta_cell": (s[:, None] * r).ravel()} for s, r in zip(shares, rows, strict=True)]
    elif k > 2:
        points = [{"prevalence": s, "rates": r} for s, r in zip(shares, rows, strict=True)]
    else:
        names = ("prevalence", "recall", "specificity")
        points = [dict(zip(names, rng.uniform(0.1, 0.9, 3), strict=True)) for _ in range(5)]
    proportional(models.load(name).model(tables[k]), log_closed, points)


@pytest.mark.parametrize(("name", "k"), [("dirichlet_multinomial", 3), ("three_binomial", 2)])
@pytest.mark.slow
def test_nuts_and_closed_form_agree(name, k, seed):
    """On tables with cells of zero items; the densities above leave but the sampling, alike for all."""
    common = {"model": name, "metrics": ["accuracy", "recall", "precision", "mcc"]}
    nuts = bayescm.posterior(ZERO[k], draws=1000, random_seed=seed(1), **NUTS, **common)
    exact = bayescm.posterior(ZERO[k], draws=25_000, random_seed=1, **common)
    assert nuts.attrs["method"] == "nuts"
    assert "sample_stats" in nuts.children
    assert set(nuts.posterior.data_vars) == set(exact.posterior.data_vars)
    for variable, draws in nuts.posterior.data_vars.items():
        agree(draws, exact.posterior[variable])


@pytest.mark.slow
def test_nuts_exchanges_prevalence_and_replicates(seed):
    common = {"model": "three_binomial", "metrics": ["precision", "prevalence"], "prevalence": (2, 98)}
    nuts = bayescm.posterior(TABLES[2], draws=500, replicate=50, random_seed=seed(3), **NUTS, **common)
    exact = bayescm.posterior(TABLES[2], draws=25_000, random_seed=3, **common)
    for name in ("prevalence", "precision"):
        want = exact.posterior[name]
        has_moments(nuts.posterior[name], float(want.mean()), float(want.std()))
    assert (nuts.posterior_predictive.counts.sum("cell") == 50).all()


@pytest.mark.slow
def test_nuts_is_reproducible_and_saves(tmp_path, seed):
    runs = [
        bayescm.posterior(TABLES[2], model="three_binomial", metrics="mcc", random_seed=seed(8), draws=200, **NUTS)
        for _ in range(2)
    ]
    xr.testing.assert_equal(runs[0]["posterior"].to_dataset(), runs[1]["posterior"].to_dataset())
    runs[0].to_netcdf(tmp_path / "n.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "n.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), runs[0])


@pytest.mark.slow
def test_a_bad_fit_says_what_to_try():
    with pytest.warns(UserWarning, match=r"NUTS: .*(R-hat|effective sample size).*try.*closed form"):
        bayescm.posterior(
            TABLES[2], model="three_binomial", sampler="nuts", draws=20, tune=5, progressbar=False, cores=1
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_simulate_then_exact_covers_the_truth(name):
    story = models.load(name)
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(200):
        world = story.simulate(rng, 60, prior="laplace")
        s = bayescm.summary(world["counts"], "recall", model=name, prior="laplace", ci_prob=0.9)
        truth = float(
            bayescm.metrics.evaluate(world["theta"].assign_coords(actual=[0, 1], predicted=[0, 1]), "recall").recall
        )
        hits += bool(s.interval[0, 0] <= truth <= s.interval[0, 1])
    assert abs(hits / 200 - 0.9) < 4 * np.sqrt(0.09 / 200)


@pytest.mark.parametrize("name", STORIES)
def test_simulate_counts_items(name):
    world = models.load(name).simulate(np.random.default_rng(1), 100, n_labels=4)
    assert int(world["counts"].sum()) == 100
    assert float(world["theta"].sum()) == pytest.approx(1)
    assert models.load(name).exact(from_array(world["counts"].values)).rows.shape == (4, 4)


QUICKEST = "hierarchical"  # by quadrature; other tests sample the others


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n == QUICKEST else pytest.mark.long) for n in models.names()],
)
def test_stories_run_as_scripts(name, tmp_path):
    """On their documented examples, at the library's defaults, where hardly a draw diverges."""
    script = Path(__file__).parents[2] / "models" / f"{name}.py"
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "eti95" in done.stdout
    diverged = [int(count) for count in re.findall(r"(\d+) of \d+ draws diverged", done.stderr)]
    assert sum(diverged) <= stats.binom.isf(ALARM, 4000, DIVERGENT), done.stderr
