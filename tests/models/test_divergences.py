"""No program of ``models/`` diverges at its defaults on its documented example, or where a cell is zero."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from agreement import hardly_diverges
from divergence_cases import CASES, ZERO
from scipy import stats

import bayescm
from bayescm.models import blocks
from bayescm.models.blocks import StickBreaking

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:Numba will use")
DEFAULT = ("three_binomial, zero",)
"""Looked at in every run; other files sample the rest, and `-m long` all."""


def statistics(case, seed, **options):
    model, data, own = CASES[case]
    sampler = {"sampler": "nuts", "progressbar": False, "cores": 1, "random_seed": seed, "metrics": None}
    return bayescm.posterior(data, model=model, **own, **sampler, **options)


@pytest.mark.slow
@pytest.mark.parametrize("case", DEFAULT)
@pytest.mark.filterwarnings("ignore:NUTS")
def test_hard_tables_hardly_diverge(case, seed):
    hardly_diverges(statistics(case, seed(1), chains=2, draws=500, tune=500).sample_stats)


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in CASES if "example" not in case])
@pytest.mark.filterwarnings("ignore:NUTS")
def test_no_table_diverges_at_the_defaults(case, seed):
    """Two chains of the four; the documented examples are run by test_models.py, as scripts."""
    hardly_diverges(statistics(case, seed(1), chains=2).sample_stats)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("few", [1, 4])
@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_stick_breaking_is_a_bijection_with_its_jacobian(shape, few, monkeypatch):
    monkeypatch.setattr(blocks, "_FEW_CELLS", few)
    change, logits = StickBreaking(shape[-1]), pt.tensor("x", shape=(*shape[:-1], shape[-1] - 1))
    cells = change.backward(logits)
    flat = pt.concatenate([cells[..., :-1].ravel()])
    jacobian = pt.stack([pt.grad(flat[i], logits).ravel() for i in range(int(np.prod(logits.type.shape)))])
    function = pytensor.function([logits], [cells, jacobian, change.log_jac_det(logits), change.forward(cells)])
    for at in np.random.default_rng(1).normal(0, 2, (5, *logits.type.shape)):
        probabilities, derivative, log_det, back = function(at)
        np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-14)
        np.testing.assert_allclose(back, at, rtol=1e-9)
        assert np.log(abs(np.linalg.det(derivative))) == pytest.approx(log_det.sum(), rel=1e-9)


@pytest.mark.usefixtures("interpreted")
def test_logits_of_sticks_are_independent_betas_under_a_dirichlet():
    alpha = np.array([0.5, 26.5, 3.0, 0.5])
    with pm.Model() as program:
        pm.Dirichlet("p", alpha, default_transform=StickBreaking(len(alpha)))
    logp = program.compile_logp()
    for x in np.random.default_rng(1).normal(0, 2, (5, 3)):
        share = 1 / (1 + np.exp(-x))
        dists = stats.beta(alpha[:-1], alpha[::-1].cumsum()[::-1][1:])
        want = (dists.logpdf(share) + np.log(share * (1 - share))).sum()
        assert logp({"p_sticks__": x}) == pytest.approx(want, rel=1e-9)


def test_the_acceptance_can_be_chosen(seed, monkeypatch):
    seen = []
    monkeypatch.setattr("bayescm.models.nuts._pymc", lambda program, seed, settings: seen.append(settings) or 1 / 0)
    for options in ({}, {"target_accept": 0.8}, {"nuts": {"target_accept": 0.9}}):
        with pytest.raises(ZeroDivisionError):
            bayescm.posterior(ZERO, model="three_binomial", sampler="nuts", **options)
    assert [settings["nuts"]["target_accept"] for settings in seen] == [0.95, 0.8, 0.9]
