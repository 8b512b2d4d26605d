"""The study of every method (docs/verification/methods.py): its numbers a second way, and its page as its files say."""

import csv

import numpy as np
import pytest
from scipy import stats
from studies import STUDIES, study

FAMILIES = ("proportion", "matrix", "difference", "simultaneous", "region", "area")


@pytest.fixture(scope="module")
def pages():
    return study("methods_pages")


def rows(family):
    with (STUDIES / f"methods_{family}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def covered(family, quantity, method, n, truth):
    (row,) = [
        r for r in rows(family) if (r["quantity"], r["method"], r["n"], r["truth"]) == (quantity, method, str(n), truth)
    ]
    return row


@pytest.mark.parametrize(("method", "scipys"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
@pytest.mark.parametrize("n", [5, 20, 100])
def test_shares_by_scipy(method, scipys, n):
    ends = [stats.binomtest(k, n).proportion_ci(method=scipys) for k in range(n + 1)]
    for p in (0.5, 0.9, 0.999):
        mass = stats.binom.pmf(np.arange(n + 1), n, p)
        row = covered("proportion", "recall", method, n, f"rate {p:g}")
        low, high = np.array(ends).T
        assert float(row["coverage"]) == pytest.approx(mass @ ((low <= p) & (p <= high)), abs=1e-5)
        assert float(row["below"]) == pytest.approx(mass @ (high < p), abs=1e-5)
        assert float(row["width"]) == pytest.approx(mass @ (high - low), abs=1e-5)


def test_precision_by_drawn_matrices():
    n, prevalence = 20, 0.1
    theta = [0.9 * 0.95, 0.9 * 0.05, 0.1 * 0.1, 0.1 * 0.9]
    drawn = np.random.default_rng(5).multinomial(n, theta, 20_000)
    truth = theta[3] / (theta[1] + theta[3])
    known = {}
    for _, fp, _, tp in drawn:
        if (tp, fp) not in known:
            low, high = stats.binomtest(tp, tp + fp).proportion_ci(method="wilson") if tp + fp else (0, 1)
            known[tp, fp] = low <= truth <= high
    share = np.mean([known[tp, fp] for _, fp, _, tp in drawn])
    row = covered("matrix", "precision", "wilson", n, f"good, prevalence {prevalence:g}")
    assert share == pytest.approx(float(row["coverage"]), abs=4 * np.sqrt(share * (1 - share) / 20_000))


def test_the_same_items_by_draws_of_the_posterior():
    n, discordant = 10, 0.1
    rng = np.random.default_rng(6)
    held = 0.0
    for first in range(n + 1):
        for second in range(n + 1 - first):
            rest = n - first - second
            mass = stats.multinomial.pmf([first, second, rest], n, [discordant / 2, discordant / 2, 1 - discordant])
            if mass > 1e-6:
                theta = rng.dirichlet([first + 1, second + 1, rest + 1], 20_000)
                below = np.mean(theta[:, 0] <= theta[:, 1])
                held += mass * (0.025 < below < 0.975)
    row = covered("difference", "same items", "compare_systems, eti", n, "0.1 discordant, difference 0")
    assert held == pytest.approx(float(row["coverage"]), abs=1e-4)


def test_exact_regions_never_hold_less():
    exact = [r for r in rows("region") if r["method"] == "exact"]
    assert len(exact) > 20
    assert all(float(r["coverage"]) >= 0.95 - 4 * float(r["mcse"]) - 1e-9 for r in exact)


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_are_those_of_the_files(pages, family):
    written = (STUDIES / f"methods_{family}_table.inc").read_text(encoding="utf-8")
    assert written == pages.table(family, rows(family))


def test_the_summary_is_that_of_the_files(pages):
    written = (STUDIES / "methods_summary_table.inc").read_text(encoding="utf-8")
    assert written == pages.summary({family: rows(family) for family in FAMILIES})


def test_a_verdict_follows_its_numbers(pages):
    def row(method, n, truth, coverage):
        return {"quantity": "recall", "method": method, "n": n, "truth": truth, "at": "", "coverage": coverage,
                "mcse": 0.0, "below": 0.02, "above": 0.02, "width": 0.3, "unanswered": 0.0, "by": ""}  # fmt: skip

    made = [
        row(method, n, truth, value)
        for method, values in {"good": (0.9, 0.95), "sure": (0.96, 0.985), "bad": (0.5, 0.9)}.items()
        for n in (10, 20)
        for truth, value in (("edge", values[0]), ("average", values[1]))
    ]
    assert pages.judged(made) == ("good", ["sure"], [("bad", None)])
    made += [row(method, 50, truth, 0.95) for method in ("good", "sure", "bad") for truth in ("edge", "average")]
    assert pages.judged(made)[2] == [("bad", 50)]
    assert pages.verdict(made).startswith("**Take `good`**: it holds the truth in .950 on average, at worst in .900")
