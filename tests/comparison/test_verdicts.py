"""One level: a verdict is where the printed interval lies, and P(better) is one number wherever it stands."""

import re

import numpy as np
import pytest

import bayescm
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
    table = comparisons(data, **options)["summary"].to_dataset()
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
        sure, room = 0.5 + 0.5 * options.get("ci_prob", 0.95), 2e-3
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
    assert "each by itself at 95%" in found.bayescm.sentence
    one = found["summary"].to_dataset().sel(comparison="A - B")
    assert one.bayescm.sentence.endswith("; one of 3 comparisons.")
    board = bayescm.leaderboard(SEPARATE, design="independent")
    assert "each by itself" in board.bayescm.sentence or "at 95%" in board.bayescm.sentence
