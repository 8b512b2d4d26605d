"""How many units a test needs: by simulation, and the intraclass correlation of a pilot."""

import numpy as np
import pytest

import bayescm
from bayescm.data.units import icc
from bayescm.inference.units import ByUnit
from bayescm.metrics import resolve


def matrices(rng, units, size, alike):
    """Draw units whose items are right with a chance of their own, .8 on average."""
    c = (1 - alike) / alike
    right = rng.binomial(size, rng.beta(0.8 * c, 0.2 * c, units))
    made = np.zeros((units, 2, 2))
    made[:, 1, 1], made[:, 0, 0] = right - right // 2, right // 2
    wrong = size - right
    made[:, 1, 0], made[:, 0, 1] = wrong - wrong // 2, wrong // 2
    return made


@pytest.mark.parametrize(("width", "size", "alike"), [(0.2, 10, 0.2), (0.15, 5, 0.1), (0.1, 20, 0.05)])
def test_as_many_units_give_the_width_that_was_asked_for(width, size, alike):
    how = {"width": width, "mode": 0.8, "concentration": None}
    found = bayescm.sample_size("accuracy", unit_size=size, icc=alike, **how)
    units, alone = int(found["n_units"].item()), bayescm.sample_size("accuracy", **how)["n_items"].item()
    assert found["n_items"].item() == units * size
    assert units * size >= alone * found.attrs["design_effect"]
    rng, widths = np.random.default_rng(1), []
    for i in range(60):
        block = ByUnit(matrices(rng, units, size, alike), np.asarray(0), None, "items", i, 1500)
        widths.append(np.ptp(np.quantile(block.draws(resolve("accuracy", 2))[0], [0.025, 0.975])))
    assert np.mean(np.array(widths) <= width) >= 0.83
    assert np.mean(widths) > 0.7 * width


def test_the_correlation_of_a_pilot():
    rng = np.random.default_rng(2)
    many = np.stack([matrices(rng, 60, 6, 0.3) for _ in range(300)])
    assert icc(many).mean() == pytest.approx(0.3, abs=0.02)
    counts = bayescm.from_array(many[0].astype(int), dims="unit").assign_attrs(unit="unit")
    found = bayescm.summary(counts, "accuracy", draws=1000, random_seed=1)
    assert found.attrs["icc"] == pytest.approx(icc(many[:1]).item())
    assert "more items" not in found.bayescm.sentence


def test_what_cant_be_planned_is_refused_in_words():
    for wrong in ({"unit_size": 5}, {"icc": 0.1}, {"unit_size": 0.5, "icc": 0.1}, {"unit_size": 5, "icc": 1.5}):
        with pytest.raises(ValueError, match="`unit_size`"):
            bayescm.sample_size("accuracy", width=0.1, **wrong)
    assert "of 196 units" in bayescm.sample_size("accuracy", width=0.1, unit_size=5, icc=0.3).bayescm.sentence
    one = bayescm.sample_size("accuracy", width=0.1, unit_size=1, icc=0.3)
    assert one.attrs["design_effect"] == 1.0


def test_two_systems_on_units():
    how = {"discordance": 0.1, "unit_size": 5, "icc": 0.3}
    plan = bayescm.planning.sample_size_to_compare(0.85, 0.80, **how)
    alone = bayescm.planning.sample_size_to_compare(0.85, 0.80, discordance=0.1)
    assert (int(plan.n_units), int(plan.n_items)) == (148, 740)
    assert int(plan.n_units) * 5 >= 2.2 * int(alone.n_items)
    assert float(plan.assurance) == float(alone.assurance)
    assert "740 items that both answer of 148 units (design effect 2.2)" in plan.bayescm.sentence
    one = bayescm.planning.sample_size_to_compare(0.85, 0.80, unit_size=1, icc=0.3, ratio=2)
    assert int(one.n_items_second) == 2 * int(one.n_items)
    for wrong in ({"unit_size": 5}, how | {"n_items": 100}, how | {"method": "connor"}):
        with pytest.raises(ValueError, match="`unit_size`"):
            bayescm.planning.sample_size_to_compare(0.85, 0.80, **wrong)
