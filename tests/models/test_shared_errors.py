"""Tests that err together: what the model without dependence says of itself."""

import numpy as np
import pytest
import xarray as xr

from bayescm import models

STORY = models.load("latent_class")


def answers(share, tests, prevalences, seed=5):
    """Count patterns of tests with rates .8 and .85, of which the first two share an error with a chance of `share`."""
    rng, parts = np.random.default_rng(seed), []
    for prevalence in prevalences:
        true = rng.random((600, 1)) < prevalence
        luck = rng.random((600, tests))
        luck[:, 1] = np.where(rng.random(600) < share, luck[:, 0], luck[:, 1])
        said = (true == (luck < np.where(true, 0.8, 0.85))).astype(int)
        parts.append(np.bincount(np.ravel_multi_index(said.T, (2,) * tests), minlength=2**tests))
    names = list("ABCD"[:tests])
    coords = {"population": [f"p{i}" for i in range(len(parts))], **{name: [0, 1] for name in names}}
    values = np.reshape(parts, (len(parts), *(2,) * tests))
    return xr.DataArray(values, dims=("population", *names), coords=coords, name="counts")


def draws(prevalences, tests, n=400):
    """Return draws that are nearly sure of the true rates."""
    rng = np.random.default_rng(1)
    near = {"true_prevalence": prevalences, "test_sensitivity": [0.8] * tests, "test_specificity": [0.85] * tests}
    return xr.Dataset(
        {name: (("chain", "draw", name), rng.normal(mean, 0.01, (1, n, len(mean)))) for name, mean in near.items()}
    )


def test_shared_errors_that_show_are_warned_of():
    with pytest.warns(UserWarning, match="don't fit tests that err independently"):
        told = STORY.carried_by(answers(0.8, 4, [0.3]), draws([0.3], 4))
    assert "in p0" in told
    assert "dependence=True" in told


def test_a_good_fit_is_no_proof():
    told = STORY.carried_by(answers(0.0, 4, [0.3]), draws([0.3], 4))
    assert "may do as well" in told


@pytest.mark.parametrize(("tests", "prevalences"), [(3, [0.3]), (2, [0.3, 0.6])])
def test_without_a_free_cell_nothing_can_show_them(tests, prevalences):
    for share in (0.0, 0.8):
        told = STORY.carried_by(answers(share, tests, prevalences), draws(prevalences, tests))
        assert "as many rates as free cells" in told


def test_dependence_and_one_test_say_nothing():
    counts = answers(0.8, 4, [0.3])
    assert STORY.carried_by(counts, draws([0.3], 4), dependence=True) == ""
    one = counts.sum(list("BCD"))
    assert STORY.carried_by(one, draws([0.3], 1), known={"A": (0.8, 0.85)}) == ""
