"""Every question of items in units, from arrays, frames and files: it answers by unit, or says why it doesn't."""

import numpy as np
import pandas as pd
import pytest

import bayescm
from bayescm.cli import main
from bayescm.data.units import design_effect

RNG = np.random.default_rng(5)
DOC = np.repeat(np.arange(12), RNG.integers(2, 9, 12))
N = len(DOC)
Y = np.where(RNG.random(N) < 0.5, 1, 0)
HARD = RNG.beta(2, 0.7, 12)[DOC]
A, B = (np.where(RNG.random(N) < HARD, Y, 1 - Y) for _ in "ab")
P, P2 = (1 / (1 + np.exp(-(2 * Y - 1 + RNG.normal(size=N) + RNG.normal(size=12)[DOC]))) for _ in "ab")
GROUP = RNG.choice(["x", "y"], N)
FRAME = pd.DataFrame({"doc": DOC, "actual": Y, "predicted": A})
TWO = pd.DataFrame({"doc": DOC, "actual": Y, "a": A, "b": B})
SCORED = pd.DataFrame({"doc": DOC, "item": np.arange(N), "actual": Y, "score": P})
COUNTS = bayescm.confusion_matrix(Y, A, unit=DOC)
COSTS = {"fn": 10, "fp": 1}
ANSWERS = {
    "summary of arrays": lambda: bayescm.summary(Y, A, "f1", unit=DOC),
    "summary of a frame": lambda: bayescm.summary(FRAME, "f1", unit="doc"),
    "probability of arrays": lambda: bayescm.probability(Y, A, "f1 > .5", unit=DOC),
    "probability of a frame": lambda: bayescm.probability(FRAME, "f1 > .5", unit="doc"),
    "interval by the delta method": lambda: bayescm.interval(Y, A, "f1", "delta", unit=DOC),
    "region of arrays": lambda: bayescm.region(Y, A, method="credible", unit=DOC),
    "region of a frame": lambda: bayescm.region(FRAME, unit="doc"),
    "compare arrays": lambda: bayescm.compare_systems(Y, {"a": A, "b": B}, unit=DOC)["summary"],
    "compare a frame": lambda: bayescm.compare_systems(TWO, unit="doc")["summary"],
    "leaderboard of arrays": lambda: bayescm.leaderboard(Y, {"a": A, "b": B}, unit=DOC),
    "leaderboard of a frame": lambda: bayescm.leaderboard(TWO, unit="doc"),
    "auc": lambda: bayescm.auc(Y, P, unit=DOC),
    "aucpr": lambda: bayescm.aucpr(Y, P, unit=DOC),
    "auc_difference": lambda: bayescm.curves.auc_difference(Y, {"a": P, "b": P2}, unit=DOC),
    "curve_band": lambda: bayescm.curve_band(bayescm.curve_posterior(Y, P, unit=DOC)),
    "audit": lambda: bayescm.summary(bayescm.audited(COUNTS.drop_attrs(), [200, 300], unit="unit"), "f1"),
    "reliability": lambda: bayescm.curves.reliability(Y, P, bins=3, unit=DOC),
    "decide on arrays": lambda: bayescm.decide(Y, A, costs=COSTS, unit=DOC),
    "decide on a frame": lambda: bayescm.decide(FRAME, costs=COSTS, unit="doc"),
    "at_prevalences of arrays": lambda: bayescm.planning.at_prevalences(Y, A, "precision", 0.1, unit=DOC),
    "at_prevalences of a frame": lambda: bayescm.planning.at_prevalences(FRAME, "precision", 0.1, unit="doc"),
    "cell_summary": lambda: bayescm.inference.cell_summary(COUNTS),
    "classes": lambda: bayescm.summary(np.where(Y, DOC % 2, 2), np.where(A, DOC % 2, 2), "f1", unit=DOC),
    "gaps": lambda: bayescm.gaps(Y, A, sensitive_features=GROUP, unit=DOC),
    "gate": lambda: bayescm.gate(FRAME, FRAME.assign(predicted=B), unit="doc"),
    "gate of areas": lambda: bayescm.gate(SCORED, SCORED.assign(score=P2), "auc", unit="doc"),
}
REFUSED = {
    "takes items for independent": lambda: bayescm.interval(Y, A, "recall", "wilson", unit=DOC),
    "needs the four cells": lambda: bayescm.region(Y, A, method="wilks", unit=DOC),
    "`dim` must be": lambda: bayescm.band(COUNTS),
    "a second test would have others": lambda: bayescm.planning.replicate(COUNTS, "f1"),
    "`pooled` groups": lambda: bayescm.gaps(Y, A, sensitive_features=GROUP, unit=DOC, pooled=True),
    "one matrix here": lambda: bayescm.report(bayescm.confusion_matrix(Y, A, unit=DOC, group=GROUP)),
}
COMMANDS = {
    "summary items.csv": "12 docs", "summary items.csv --average units": "12 docs", "region items.csv": "12 docs",
    "compare two.csv": "12 docs", "leaderboard two.csv": "12 docs", "curve scored.csv": "12 units",
    "decide items.csv --costs fn=10,fp=1": "12 docs", "prevalence items.csv": "12 docs",
    "gaps groups.csv --by group": "12 docs", "gate items.csv other.csv": "docs",
    "gate scored.csv scored2.csv --metrics auc": "docs",
    "summary items.csv --method wilson": "takes items for independent",
    "curve scored.csv --reliability --bins 3": "12 units", "curve scored.csv --band regions": "--unit doesn't apply",
    "replicate items.csv": "a second test would have others",
}  # fmt: skip


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_answers_by_unit(question):
    found = ANSWERS[question]()
    assert "doc" in f"{found.attrs['assumptions']}" or "units" in found.attrs["assumptions"]


@pytest.mark.parametrize("why", REFUSED)
def test_or_it_says_why_it_does_not(why):
    with pytest.raises(ValueError, match=why):
        REFUSED[why]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("units")
    frames = {"items": FRAME, "other": FRAME.assign(predicted=B), "two": TWO, "scored": SCORED,
              "scored2": SCORED.assign(score=P2), "groups": FRAME.assign(group=GROUP)}  # fmt: skip
    for name, frame in frames.items():
        frame.to_csv(made / f"{name}.csv", index=False)
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_so_do_commands(command, folder, capsys):
    words = [str(folder / word) if word.endswith(".csv") else word for word in command.split()]
    code = main([*words, "--unit", "doc"])
    out, err = capsys.readouterr()
    said = COMMANDS[command]
    assert said in " ".join(f"{out}{err}".split())
    assert (code == 2) == (said in err)


def test_a_report_is_of_units(tmp_path):
    text = bayescm.report(COUNTS, ["recall", "f1"], file=tmp_path / "report.html")
    assert "Over all items of 12 units" in text
    assert f"{N}\n" in text
    assert "12 units" in (tmp_path / "report.html").read_text()


def test_a_gap_is_that_of_draws_by_unit():
    found = bayescm.gaps(Y, A, metrics="accuracy", sensitive_features=GROUP, unit=DOC, draws=40_000, random_seed=1)
    counts = bayescm.confusion_matrix(Y, A, group=GROUP, unit=DOC).values.reshape(2, 12, 4)
    rng, n = np.random.default_rng(2), 40_000
    weights, extra = rng.exponential(size=(n, 12)), rng.exponential(size=(n, 2))
    right = []
    for one in counts:
        prior = rng.dirichlet(np.full(4, 0.5), n)
        cells = weights @ one + (extra[:, :1] * one.sum() / (one.sum(1) > 0).sum() + extra[:, 1:]) * prior
        right.append((cells[:, 0] + cells[:, 3]) / cells.sum(1))
    gap = np.abs(right[0] - right[1])
    assert found["interval"].values[0] == pytest.approx(np.quantile(gap, [0.025, 0.975]), abs=0.01)


def test_the_design_effects_of_rao_and_scott():
    """Pups of 2 x 16 litters that lived to day 21, of those alive at day 4 (Weil 1970; Rao and Scott 1992, table 1).

    The documentation of the R package PF prints 1.232495 and 3.952861.
    """
    alive = [
        [13, 12, 9, 9, 8, 8, 13, 12, 10, 10, 9, 13, 5, 7, 10, 10],
        [12, 11, 10, 9, 11, 10, 10, 9, 9, 5, 9, 7, 10, 6, 10, 7],
    ]
    lived = [
        [13, 12, 9, 9, 8, 8, 12, 11, 9, 9, 8, 11, 4, 5, 7, 7],
        [12, 11, 10, 9, 10, 9, 9, 8, 8, 4, 7, 4, 5, 3, 3, 0],
    ]
    right = np.array(lived)
    cells = np.stack([np.zeros_like(right), np.zeros_like(right), np.array(alive) - right, right], -1)
    assert design_effect(cells.reshape(2, 16, 2, 2).astype(float)) == pytest.approx([1.232495, 3.952861], abs=1e-6)
