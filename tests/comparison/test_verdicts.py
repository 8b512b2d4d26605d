"""One level: a verdict is where the printed interval lies, and P(better) is one number wherever it stands."""

import re

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

import bayescm
from bayescm.comparison.report import level_of_each
from bayescm.results.writing import probability

RNG = np.random.default_rng(20261123)
TRUE = RNG.integers(0, 2, 120)
GIVEN = {
    name: np.where(RNG.random(120) < share, TRUE, 1 - TRUE) for name, share in (("A", 0.9), ("B", 0.8), ("C", 0.6))
}
SEPARATE = {name: bayescm.confusion_matrix(TRUE, given) for name, given in GIVEN.items()}
METRICS = ["accuracy", "error_rate", "recall", "mcc"]  # of the error rate less is better


def comparisons(data, **options):
    design = {} if isinstance(data, tuple) else {"design": "independent"}
    data = data if isinstance(data, tuple) else (data,)
    return bayescm.compare_systems(*data, METRICS, random_seed=1, draws=500, **design, **options)


@pytest.mark.parametrize("data", [(TRUE, GIVEN), SEPARATE], ids=["same items", "other items"])
@pytest.mark.parametrize("options", [{}, {"rope": 0.03}, {"ci_prob": 0.99}, {"ci_kind": "hdi"}], ids=str)
def test_a_verdict_is_where_the_interval_lies(data, options):
    found = comparisons(data, **options)
    table = found["summary"].to_dataset()
    rope = options.get("rope", 0.0)
    sign = np.where(table.metric == "error_rate", -1.0, 1.0)[:, None]
    lower, upper = np.moveaxis(np.sort(sign * table.interval.values, axis=-1), -1, 0)
    meant = np.select(
        [lower > rope, upper < -rope, (lower >= -rope) & (upper <= rope)],
        ["better", "worse", "equivalent"],
        "undecided",
    )
    assert (table.verdict.values == meant).all()
    assert len(np.unique(meant)) > 1
    assert (table.probability_better == table.probability.sel(side="better")).all()
    if "ci_kind" not in options:  # then the same is said by the probabilities, to what draws and their quantiles leave
        sure, room = 0.5 + 0.5 * found.attrs["ci_prob_each"], 2e-3
        better = table.probability_better.values
        assert (better[meant == "better"] > sure - room).all()
        assert (better[meant != "better"] < sure + room).all()


def test_twelve_against_five_is_no_verdict():
    """P(better) is .952 there, and McNemar's p .143: one in seven."""
    first = np.repeat([1, 1, 0, 0], [60, 12, 5, 23])
    second = np.repeat([1, 0, 1, 0], [60, 12, 5, 23])
    found = bayescm.compare_systems(np.ones(100, int), {"A": first, "B": second})
    row = found["summary"].to_dataset().isel(comparison=0, metric=0)
    assert row.probability_better.item() == pytest.approx(0.952, abs=5e-4)
    assert row.interval[0] < 0 < row.interval[1]
    assert row.verdict == "undecided"
    assert found["tests"].p_value.sel(test="mcnemar_exact").item() == pytest.approx(0.143, abs=5e-4)
    assert "No verdict on A and B" in found.bayescm.sentence


@pytest.mark.parametrize("rope", [0.0, 0.02])
def test_the_probability_is_one_number_and_the_rope_is_printed(rope):
    pair = {name: SEPARATE[name] for name in "AB"}
    found = bayescm.compare_systems(pair, design="independent", rope=rope)
    row = found["summary"].to_dataset().isel(comparison=0, metric=0)
    better = float(row.probability_better)
    told = found.bayescm.sentence
    assert re.search(r"P\((A )?better.*?\) (= [\d.]+|> 0.999)", told)
    assert probability(better).lstrip("= ") in told
    shown = [text.get_text() for text in bayescm.plots.plot_difference(found).get_legend().get_texts()]
    assert any("better" in text and probability(better).lstrip("= ") in text for text in shown)
    assert any("0.02" in text for text in shown) == (rope > 0)
    assert ("by more than 2 points" in told) == (rope > 0)
    assert found.bayescm.table()["probability_better"].item() == better


def test_several_comparisons_say_how_many_they_are():
    found = bayescm.compare_systems(SEPARATE, design="independent")
    assert "of 3 comparisons" in found.bayescm.sentence
    assert "all at once at 95%" in found.bayescm.sentence
    one = found["summary"].to_dataset().sel(comparison="A - B")
    assert one.bayescm.sentence.endswith("; one of 3 comparisons that hold all at once at 95%.")
    board = bayescm.leaderboard(SEPARATE, design="independent")
    assert "each by itself" in board.bayescm.sentence or "at 95%" in board.bayescm.sentence


@pytest.mark.parametrize("systems", [2, 3, 6, 20])
@pytest.mark.parametrize("ci_prob", [0.8, 0.95, 0.999])
def test_the_level_of_each_interval_is_that_of_simulated_ranges(systems, ci_prob):
    means = np.random.default_rng(1).standard_normal((200_000, systems))
    pairs, reference = (
        2.0 * norm.sf(np.quantile(gaps, ci_prob) / np.sqrt(2.0))
        for gaps in (np.ptp(means, axis=1), np.abs(means[:, 1:] - means[:, :1]).max(1))
    )
    all_pairs = 1.0 - level_of_each(ci_prob, systems, systems * (systems - 1) // 2)
    assert all_pairs == pytest.approx(pairs, rel=0.1 if ci_prob > 0.99 else 0.03)
    to_reference = 1.0 - level_of_each(ci_prob, systems, systems - 1)
    assert to_reference == pytest.approx((1.0 - ci_prob) / (systems - 1), rel=0.7 * (1.0 - ci_prob))
    assert to_reference < reference * (1.1 if ci_prob > 0.99 else 1.03)  # Sidak's is cautious


def test_of_two_systems_the_level_is_that_asked_for():
    assert level_of_each(0.95, 2, 1) == 0.95
    found = bayescm.compare_systems({name: SEPARATE[name] for name in "AB"}, design="independent")
    assert found.attrs["ci_prob_each"] == 0.95


def test_of_three_systems_exact_and_drawn_intervals_have_the_level_of_each():
    exact = bayescm.compare_systems(SEPARATE, "accuracy", design="independent")
    posterior = bayescm.posterior(xr.concat(SEPARATE.values(), "system").assign_coords(system=list(SEPARATE)))
    drawn = bayescm.compare_systems(posterior, "accuracy", random_seed=1)
    assert exact["summary"].method.item(0) == "exact"
    assert drawn["summary"].method.item(0) == "draws"
    for found in (exact, drawn):
        assert found.attrs["ci_prob_each"] == pytest.approx(level_of_each(0.95, 3, 3))
    length = exact["summary"].interval.diff("ci_bound")
    np.testing.assert_allclose(drawn["summary"].interval, exact["summary"].interval, atol=0.05 * float(length.min()))
    alone = bayescm.compare_systems({name: SEPARATE[name] for name in "AB"}, "accuracy", design="independent")
    ratio = (length.isel(comparison=0) / alone["summary"].interval.diff("ci_bound").isel(comparison=0)).item()
    assert ratio == pytest.approx(2.3437 / 1.96, rel=0.02)
