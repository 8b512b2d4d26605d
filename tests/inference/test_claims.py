"""Claims without an exact answer: by draws, with their Monte Carlo error; the others stay exact beside them."""

import numpy as np
import pytest

import bayescm
from bayescm.distributions import dirichlet, joint_probability
from bayescm.inference.claims import read_claim
from bayescm.priors.concentrations import concentrations

THREE = np.array([[17, 2, 1], [0, 6, 0], [3, 1, 12]])


def test_claims_by_draws_say_so():
    claims = ["f1_macro > .7", "recall_macro > .7", "accuracy > .8 and f1_macro > .7"]
    found = bayescm.probability(THREE, claims, random_seed=1)
    assert found.method.values.tolist() == ["draws", "exact", "draws"]
    assert found.probability.shape == (3,)
    drawn = np.random.default_rng(2).dirichlet(np.where(np.eye(3), 0.5, 0.25).ravel() + THREE.ravel(), 100_000)
    values = bayescm.metrics.compute(bayescm.metrics.resolve(["f1_macro", "accuracy"], 3), drawn.reshape(-1, 3, 3))
    wanted = [(values[0] > 0.7).mean(), ((values[0] > 0.7) & (values[1] > 0.8)).mean()]
    p, mcse = found.probability.values[[0, 2]], found.mcse_probability.values[[0, 2]]
    plain = np.sqrt(p * (1 - p) / 40_000)
    np.testing.assert_allclose(mcse[1], plain[1], rtol=0.01)
    assert 0 < mcse[0] < 0.1 * plain[0]  # a Beta is integrated out
    assert (np.abs(p - wanted) < 6 * np.hypot(mcse, np.sqrt(p * (1 - p) / 100_000))).all()
    assert np.isnan(found.error.values[[0, 2]]).all()
    assert found.mcse_probability[1] == 0
    assert bayescm.probability(THREE, claims, random_seed=1).identical(found)


def test_claims_per_class_and_over_a_batch():
    counts = bayescm.from_array(np.stack([THREE, THREE.T]), dims="system")
    found = bayescm.probability(counts, ["f1 > .8 and mcc > .5", "f1 > .8", "f1_macro < .9"], random_seed=3, draws=4000)
    assert dict(found.probability.sizes) == {"system": 2, "class_label": 3, "claim": 3}
    both, one, _ = np.moveaxis(found.probability.values, -1, 0)
    assert (both <= one + 0.05).all()
    assert found.method.values.tolist() == ["draws", "exact", "draws"]


def test_a_claim_that_no_draw_meets_has_an_error():
    found = bayescm.probability(THREE, ["mcc < -.5 and f1_macro < .05", "f1_macro < .05"], random_seed=1, draws=1000)
    assert found.probability[0] == 0
    assert 0 < found.mcse_probability[0] < 0.002
    assert 0 < found.probability[1] < 1e-7  # at most what lies beyond the nodes
    assert 0 < found.mcse_probability[1] < 1e-7


def test_draws_must_be_counted():
    with pytest.raises(ValueError, match="`draws` must be"):
        bayescm.probability(THREE, "f1_macro > .7", draws=0)


@pytest.mark.parametrize("prevalence", ["fixed", 0.5])
def test_a_known_prevalence_meets_a_claim_or_does_not(prevalence):
    counts = bayescm.from_cells(tp=[9, 16], fn=[1, 4], fp=[2, 4], tn=[8, 16])

    def chance(*claims):
        return bayescm.probability(counts, list(claims), prevalence=prevalence).probability.values.T

    assert chance("prevalence >= .5", "prevalence <= 50%", "prevalence > .4", "prevalence < .6").min() == 1.0
    assert chance("prevalence > .5", "prevalence < .5", "prevalence >= .6").max() == 0.0
    recall, *true, false = chance(
        "recall > .8", "recall >= .8 and prevalence >= .5", "prevalence <= .5 and recall > .8",
        "recall > .8 and prevalence > .5",
    )  # fmt: skip
    both, with_it = chance("recall > .8 and mcc > .5", "recall > .8 and prevalence < .6 and mcc > .5")
    np.testing.assert_array_equal(true, [recall, recall])
    np.testing.assert_array_equal(with_it, both)
    assert (false == 0.0).all()


def test_known_shares_of_three_classes_meet_claims_class_by_class():
    found = bayescm.probability(
        THREE, ["prevalence >= .3", "accuracy > .7 and prevalence >= .3", "accuracy > .7", "prevalence < .5"],
        prevalence=(0.5, 0.3, 0.2),
    )  # fmt: skip
    shares, both, accuracy, small = found.probability.values.T
    np.testing.assert_array_equal(shares, [1, 1, 0])
    np.testing.assert_array_equal(both, accuracy * shares)
    np.testing.assert_array_equal(small, [0, 1, 1])
    assert (found.method == "exact").all()


def test_metrics_without_a_form_are_claimed_together_by_draws():
    counts = bayescm.from_cells(tp=9, fn=1, fp=2, tn=8)
    found = bayescm.probability(counts, "accuracy > .7 and cohen_kappa_linear > .4", random_seed=1)
    wanted = bayescm.probability(counts, "accuracy > .7 and cohen_kappa > .4")  # the same for two labels
    assert (found.method.item(), wanted.method.item()) == ("draws", "exact")
    assert abs(float(found.probability.item() - wanted.probability.item())) < 6 * found.mcse_probability.item()


def test_claims_together_keep_within_what_each_leaves():
    """Draws of both beside exact probabilities of each: more often than not P(A and B) exceeded P(A) without bounds."""
    rng = np.random.default_rng(1)
    counts = bayescm.from_array(
        rng.multinomial(60, [0.2, 0.05, 0.05, 0.1, 0.2, 0.05, 0.05, 0.1, 0.2], 20).reshape(20, 3, 3)
    )
    easy, hard = "accuracy > .05", "balanced_accuracy > .6"
    found = bayescm.probability(counts, [hard, f"{easy} and {hard}"], draws=1000, random_seed=1).probability
    assert (found[:, 1] <= found[:, 0]).all()
    low = bayescm.probability(counts, ["accuracy > .3", hard, f"accuracy > .3 and {hard}"], draws=1000, random_seed=1)
    p = low.probability.values
    assert (p[:, 2] >= p[:, 0] + p[:, 1] - 1.0 - 1e-12).all()


@pytest.mark.parametrize("claim", ["precision > .8 and npv < .9", "recall >= .5 and specificity > .99"])
@pytest.mark.parametrize("cells", [(26, 4, 20, 150), (0, 3, 2, 10_000), (0, 0, 0, 5)])
def test_shares_without_a_cell_in_common_are_independent(claim, cells):
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    together = bayescm.probability(counts, claim)
    alone = bayescm.probability(counts, claim.split(" and ")).probability
    np.testing.assert_allclose(together.probability.item(), alone.prod().item(), rtol=1e-15)
    parts = read_claim(claim, 2)
    which = dirichlet.posterior(counts.values, concentrations("jeffreys", "dirichlet_multinomial", [0, 1]))
    above = np.array([sign[0] == ">" for _, sign, _ in parts])
    numbers = np.array([number for _, _, number in parts])
    dense, _ = joint_probability([metric for metric, _, _ in parts], numbers, above, which)
    np.testing.assert_allclose(together.probability.item(), dense, rtol=1e-6, atol=1e-15)
