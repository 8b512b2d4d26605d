"""Two integrals by lattices, without tables of Betas: against the nested quadrature, which serves cdf and sf."""

import numpy as np
import pytest
from scipy import special

from bayescm._kernels import interpreted
from bayescm._kernels.nodes import NEAR
from bayescm.distributions import dirichlet, exact_distribution
from bayescm.metrics import resolve
from bayescm.priors.concentrations import concentrations

LARGE, SMALL = (10, 10_000), (2, 30)
WAYS = [("mcc", "dirichlet_multinomial"), ("kappa", "dirichlet_multinomial"), ("f1", "three_binomial")]


def distributions(name, model, least, most, n):
    counts = np.exp(np.random.default_rng(most).uniform(np.log(least), np.log(most), (n, 2, 2))).astype(int)
    posterior = dirichlet.posterior(counts, concentrations("jeffreys", model, (0, 1)), None)
    return exact_distribution(resolve(name, 2)[0], posterior)


@pytest.mark.parametrize(("name", "model"), WAYS)
@pytest.mark.parametrize(("cells", "off"), [(LARGE, 2e-5), (SMALL, 1e-4)])
@pytest.mark.parametrize("prob", [0.5, 0.999])
def test_intervals_hold_what_they_should(name, model, cells, off, prob):
    dist = distributions(name, model, *cells, 12)
    found, shortest = dist.statistics(prob, "eti"), dist.statistics(prob, "hdi")
    tail = 0.5 * (1.0 - prob)
    np.testing.assert_allclose(dist.cdf(found["lower"]), tail, rtol=off)
    np.testing.assert_allclose(dist.sf(found["upper"]), tail, rtol=off)
    np.testing.assert_allclose(dist.cdf(found["median"]), 0.5, rtol=off)
    assert shortest["is_hdi"].all()
    np.testing.assert_allclose(dist.cdf(shortest["lower"]) + dist.sf(shortest["upper"]), 1.0 - prob, rtol=2 * off)
    assert (shortest["upper"] - shortest["lower"] <= found["upper"] - found["lower"]).all()


@pytest.mark.parametrize(("name", "model"), WAYS)
@pytest.mark.parametrize("cells", [LARGE, SMALL])
def test_moments_are_those_of_many_quantiles(name, model, cells):
    dist = distributions(name, model, *cells, 4)
    place, weight = np.polynomial.hermite_e.hermegauss(21)
    x = dist.ppf(special.ndtr(place)[:, None])
    weight /= weight.sum()
    found = dist.statistics(0.95, "eti")
    np.testing.assert_allclose(weight @ x, found["mean"], atol=1e-6)
    np.testing.assert_allclose(weight @ x**2 - (weight @ x) ** 2, found["sd"] ** 2, rtol=1e-4)


@pytest.mark.parametrize(("name", "model"), WAYS)
def test_a_table_is_as_right_as_differences_ask(name, model):
    dist = distributions(name, model, 2, 500, 8)
    x = dist.ppf(np.array([1e-12, 0.001, 0.3, 0.8, 0.9999])[:, None])
    rough = dist.to_tabulate()
    np.testing.assert_allclose(rough.cdf(x), dist.cdf(x), atol=3e-9)
    np.testing.assert_allclose(rough.sf(x), dist.sf(x), atol=3e-9)
    np.testing.assert_allclose(rough.cdf(x[0]), 1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["mcc", "kappa"])
def test_what_the_first_lattice_gave_last_serves_that_value_of_that_matrix_alone(name):
    dist = distributions(name, "dirichlet_multinomial", *LARGE, 2)
    (_, cells, shares), kernels = dist._flat(), interpreted.load("distributions")
    x, room = float(dist.ppf(0.5)[0]), kernels.workspace()

    def hung(i, room):
        return kernels._prepared(dist._formula(), cells[i], shares[i], kernels.LATTICES, room)[0]

    def asked(x, goal, one):
        return interpreted.load("integrals").distribution(x, one, goal, NEAR)

    for i in (0, 1):  # in the same room, both at the same value at first
        one = hung(i, room)
        for value, goal in ((x, 1.0), (x, 1e-5), (x, 1e-5), (x + 0.001, 1.0), (x, 1e-5), (x, 1.0)):
            anew = kernels.workspace()._replace(kept=np.full(4, np.nan))  # what memory holds might fit
            assert asked(value, goal, one) == asked(value, goal, hung(i, anew))
