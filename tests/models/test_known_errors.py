"""Error rates that another study measured: the model latent_class against a quadrature."""

import numpy as np
import pytest
import xarray as xr
from agreement import has_moments
from scipy import stats

import bayescm


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS")
@pytest.mark.long
def test_errors_measured_elsewhere_keep_a_prevalence_inside_its_range():
    """Rogan and Gladen's solution is negative for 120 of 2,000; the posterior is that of a quadrature all the same."""
    positives = 120
    sensitivity, specificity, share = (46, 6), (92, 10), (np.arange(120) + 0.5) / 120
    s, t = np.meshgrid(stats.beta(*sensitivity).ppf(share), stats.beta(*specificity).ppf(share))
    p = (np.arange(1000) + 0.5) / 1000
    density = np.array([stats.binom.pmf(positives, 2000, x * s + (1 - x) * (1 - t)).sum() for x in p])
    mean = float(p @ density / density.sum())
    sd = float(np.sqrt((p - mean) ** 2 @ density / density.sum()))
    judged = xr.DataArray([2000 - positives, positives], {"judge": [0, 1]}, name="counts")
    errors = {"sensitivity": {"judge": sensitivity}, "specificity": {"judge": specificity}}
    with pytest.warns(UserWarning, match="the posterior is the prior"):
        fit = bayescm.posterior(
            judged, model="latent_class", prior=errors, random_seed=1, progressbar=False, quiet=True
        )
    draws = fit.posterior["true_prevalence"].isel(population=0)
    has_moments(draws, mean, sd)
    assert float(draws.min()) > 0
    assert float(bayescm.inference.rogan_gladen(0.06, 46 / 52, 92 / 102)) == 0.0
