"""What comes back is ArviZ's, from both methods; and netCDF gives the same object."""

import arviz as az
import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.results.objects import as_result

pytestmark = pytest.mark.filterwarnings(
    "ignore:Variables counts:UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS"
)


@pytest.fixture(scope="module", params=["exact", pytest.param("nuts", marks=pytest.mark.slow)])
def fit(request, seed):
    counts = bayescm.from_array([[50, 3, 2], [4, 40, 1], [1, 6, 30]], labels=["a", "b", "c"])
    options = {"progressbar": False, "cores": 1, "tune": 500, "chains": 2} if request.param == "nuts" else {}
    return bayescm.posterior(
        counts,
        sampler=request.param,
        metrics=["recall", "mcc"],
        replicate=True,
        random_seed=seed(1),
        draws=500,
        **options,
    )


@pytest.mark.slow
def test_summary(fit):
    table = az.summary(fit, ci_prob=0.95, ci_kind="hdi", round_to="none")
    assert "recall[a]" in table.index
    assert table.loc["matthews_correlation", "mean"] == pytest.approx(0.81, abs=0.03)


def test_eti_has_the_layout_of_summary(fit):
    theirs = az.eti(fit.posterior["matthews_correlation"], prob=0.95)
    ours = bayescm.summary([[50, 3, 2], [4, 40, 1], [1, 6, 30]], "mcc", random_seed=1).interval[0]
    assert theirs.dims == ours.dims
    assert theirs.ci_bound.values.tolist() == ours.ci_bound.values.tolist()
    assert dict(theirs.ci_bound.attrs) == dict(ours.ci_bound.attrs)
    np.testing.assert_allclose(theirs, ours, atol=0.02)


@pytest.mark.parametrize("plot", ["plot_forest", "plot_dist", "plot_prior_posterior"])
def test_plots(fit, plot):
    assert getattr(az, plot)(fit, var_names=["recall", "matthews_correlation"]) is not None


def test_ppc_plots(fit):
    assert az.plot_ppc_dist(fit) is not None
    assert az.plot_ppc_tstat(fit, t_stat="max") is not None


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True], ["ja", "näh"]])
def test_netcdf_round_trip_is_identical(tmp_path, labels):
    counts = bayescm.from_cells(tp=[20, 3], fn=[5, 4], fp=[10, 0], tn=[40, 9], labels=labels)
    settings = [
        {"prior": "laplace"},
        {"prior": [[1, 2], [3, 4]], "prevalence": 0.2},
        {"model": "three_binomial", "prior": {"prevalence": 1, "rows": 0.5}, "prevalence": (1, 2)},
    ]
    for i, setting in enumerate(settings if labels == [0, 1] else settings[2:]):
        dt = bayescm.posterior(counts, replicate=True, random_seed=1, draws=30, metrics=["recall", "mcc"], **setting)
        dt.to_netcdf(tmp_path / f"{i}.nc", engine="h5netcdf")
        with xr.open_datatree(tmp_path / f"{i}.nc", engine="h5netcdf") as back:
            xr.testing.assert_identical(back.load(), dt)
        s = bayescm.summary(counts, ["recall", "f0.5", "fbeta(beta=3)"], random_seed=1, **setting)
        s.to_netcdf(tmp_path / f"s{i}.nc", engine="h5netcdf")
        with xr.open_dataset(tmp_path / f"s{i}.nc", engine="h5netcdf") as back:
            xr.testing.assert_identical(as_result(back.load()), s)


def test_groups_survive_selection():
    counts = bayescm.datasets.caelen2017()
    dt = bayescm.posterior(counts, metrics="mcc", random_seed=1, draws=50)
    assert dt.sel(system="B").posterior.matthews_correlation.dims == ("chain", "draw")
