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


def rows(family, prefix="methods_"):
    with (STUDIES / f"{prefix}{family}.csv").open(encoding="utf-8", newline="") as lines:
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


def peer_rows(**wanted):
    return [r for r in rows("peers", "") if all(r[k] == v for k, v in wanted.items())]


def test_peers_with_our_formula_have_our_coverage():
    ours = {(r["method"], r["n"], r["truth"]): r for r in rows("proportion") if r["quantity"] == "recall"}
    theirs = [r for r in peer_rows(package="statsmodels") if r["same"]]
    assert {r["same"] for r in theirs} == {"wald", "wilson", "agresti_coull", "clopper_pearson", "jeffreys"}
    for row in theirs:
        same = ours[row["same"], row["n"], row["truth"]]
        assert float(row["coverage"]) == pytest.approx(float(same["coverage"]), abs=2e-5), row
    for metric in ("precision", "f1"):
        for drawn, exact in zip(
            peer_rows(method="prior 1", quantity=metric, truth="average"),
            peer_rows(package="bayescm", quantity=metric, truth="average"),
            strict=True,
        ):
            assert drawn["n"] == exact["n"]
            assert float(drawn["coverage"]) == pytest.approx(float(exact["coverage"]), abs=0.005)
            # intervals of draws are shorter
            assert float(drawn["width"]) == pytest.approx(float(exact["width"]), abs=0.005)


@pytest.mark.slow
def test_resampled_cells_are_resampled_items():
    from sklearn.metrics import f1_score
    from sklearn.utils import resample

    peers, cells = study("peers"), np.array([12, 2, 2, 4])
    y_true, y_pred = peers.labels(cells)
    drawn = [f1_score(*resample(y_true, y_pred, random_state=i), zero_division=0) for i in range(1000)]
    (ends,) = peers.resampled(peers.f1)(cells[None])[0]
    assert max(np.mean(drawn < ends[0]), np.mean(drawn > ends[1])) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 500)
    assert np.mean((drawn <= ends[0]) | (drawn >= ends[1])) >= 0.05 - 3 * np.sqrt(0.05 * 0.95 / 500)


def test_the_table_of_peers_is_that_of_the_file():
    assert (STUDIES / "peers_table.inc").read_text(encoding="utf-8") == study("peers").table(peer_rows())
