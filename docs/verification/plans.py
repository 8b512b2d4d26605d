"""What plans from pilots are worth: ``python -m uv run python docs/verification/plans.py`` (some 20 minutes).

Two systems answer the same 100 items; from that pilot ``sample_size_to_compare`` plans the test that is to show the
better one with probability .80. The true assurance is the probability that so many items do show it, at the true rates:
on average over pilots, and over those that said "better" already. Pilots are enumerated, but for the least probable;
where the true shares come from the prior, and for systems with items of their own, they are simulated. Three plans: the
gap that was seen, taken for the truth, at P(better) of .95 (as it was until 0.2) and at the 95% interval; and the
posterior of the pilot averaged over. Then gaps as stated, true and false ones: by 20,000 tests each.

Writes plans.csv and plans_table.inc. ``--quick`` does a small part, writes nothing, and fails if what is averaged over
the prior, or stated truly, misses its assurance.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
from rows import markdown, write_rows
from scipy import stats

import bayescm
from bayescm.distributions.beta_binomial import Rate
from bayescm.planning.contests import Apart, Together

Row = dict[str, object]

HERE = Path(__file__).parent
ITEMS, WANTED, RARE = 100, 0.80, 3e-4  # pilots below are left out
PLANS = {"seen, P(better) .95": 0.9, "seen, 95% interval": 0.95, "averaged over": 0.95}
PAIRS = {
    ".85 and .80, .1 discordant": (0.05, 0.1),
    ".85 and .80, .2 discordant": (0.05, 0.2),
    ".90 and .86, .12 discordant": (0.04, 0.12),
    ".85 and .83, .1 discordant": (0.02, 0.1),
    "worst: .85 and .845, .1 discordant": (0.005, 0.1),
}
STATED = {".05, truly": (0.05, 0.05), ".05, and it is .03": (0.05, 0.03), ".03, and it is .05": (0.03, 0.05)}


def pilot(b: int, c: int) -> object:
    """Return the comparison of two systems, of which b items speak for the first and c for the second."""
    right = [1] * (ITEMS // 2)
    others = ITEMS - b - c
    table = bayescm.data.paired_counts(
        [1] * ITEMS, {"A": [1] * b + [0] * c + (right * 2)[:others], "B": [0] * b + [1] * c + (right * 2)[:others]}
    )
    return bayescm.compare_systems(table, design="paired", draws=40, random_seed=1)


@cache
def planned(kind: str, b: int, c: int) -> int:
    """Return the items of a plan; 0 where there is none, as no gap was seen."""
    if kind == "averaged over":
        return int(bayescm.planning.sample_size_to_compare(pilot(max(b, c), min(b, c)), assurance=WANTED).n_items)
    if b == c:
        return 0
    gap, share = abs(b - c) / ITEMS, (b + c) / ITEMS
    first = min(1.0 - (share - gap) / 2.0, 1.0)
    plan = bayescm.planning.sample_size_to_compare(
        first, first - gap, discordance=share, assurance=WANTED, ci_prob=PLANS[kind]
    )  # fmt: skip
    return int(plan.n_items)


def told(kind: str, scenario: str, found: list[tuple[float, int, float, bool]]) -> Row:
    """Return a row of pilots: how probable each is, the items planned, their true assurance, and if it said better."""
    weight, items, right, better = (np.array(column) for column in zip(*found, strict=True))
    some = items > 0
    order = np.argsort(items[some])
    middle = order[np.searchsorted(np.cumsum(weight[some][order]), weight[some].sum() / 2)]
    sure = some & better
    return {
        "systems": scenario, "plan": kind, "items (median)": int(items[some][middle]),
        "true assurance": round(float(np.average(right[some], weights=weight[some])), 3),
        'where the pilot said "better"': round(float(np.average(right[sure], weights=weight[sure])), 3)
        if sure.any() else "",
        "no plan": round(float(weight[~some].sum() / weight.sum()), 3),
    }  # fmt: skip


def said_better(b: int, c: int, kind: str) -> bool:
    """Say whether a pilot found the first better, by the rule of the plan."""
    return bool(stats.beta.sf(0.5, b + 1, c + 1) > (1.0 + PLANS[kind]) / 2.0)


def of_pair(kind: str, scenario: str, rare: float) -> Row:
    """Return a row for fixed true rates."""
    gap, share = PAIRS[scenario]
    b, c = np.mgrid[: ITEMS + 1, : ITEMS + 1]
    cells = np.stack([b, c, ITEMS - b - c], -1)[b + c <= ITEMS]
    weight = stats.multinomial.pmf(cells, ITEMS, [(share + gap) / 2, (share - gap) / 2, 1.0 - share])
    contest = Together(Rate(0, 0, share), Rate(0, 0, (1 + gap / share) / 2), 1.0, (1.0 + PLANS[kind]) / 2.0)
    found = []
    for (first, second, _), chance in zip(cells[weight > rare].tolist(), weight[weight > rare].tolist(), strict=True):
        n = planned(kind, first, second)
        found.append((chance, n, contest.right(n) if n else 0.0, said_better(first, second, kind)))
    return told(kind, scenario, found)


def of_prior(kind: str, pilots: int) -> Row:
    """Return a row for true shares drawn from the prior, in which all three are equally probable."""
    rng, found = np.random.default_rng(1), []
    for only_first, only_second, others in rng.dirichlet(np.ones(3), pilots):
        b, c, _ = rng.multinomial(ITEMS, [only_first, only_second, others]).tolist()
        if only_first < only_second:
            b, c, only_first, only_second = c, b, only_second, only_first
        share = only_first + only_second
        contest = Together(
            Rate(0, 0, share), Rate(0, 0, only_first / share), 1.0, (1.0 + PLANS[kind]) / 2.0
        )  # fmt: skip
        n = planned(kind, b, c)
        found.append((1.0, n, contest.right(n) if n else 0.0, said_better(b, c, kind)))
    return told(kind, f"shares from the prior ({pilots} pilots)", found)


def of_own_items(kind: str, pilots: int) -> Row:
    """Return a row for two systems with 100 items each of their own, of .85 and .80."""
    rng, found, sure = np.random.default_rng(2), [], (1.0 + PLANS[kind]) / 2.0
    contest = Apart(Rate(0, 0, 0.85), Rate(0, 0, 0.80), (1.0, 1.0), sure)
    for first, second in rng.binomial(ITEMS, [0.85, 0.80], (pilots, 2)).tolist():
        n = 0
        if kind == "averaged over":
            counts = {name: [[0, 0], [ITEMS - k, k]] for name, k in (("A", first), ("B", second))}
            seen = bayescm.compare_systems(counts, design="independent", prior="laplace", draws=40)
            n = int(bayescm.planning.sample_size_to_compare(seen, assurance=WANTED).n_items)
        elif first != second:
            rates = max(first, second) / ITEMS, min(first, second) / ITEMS
            n = int(bayescm.planning.sample_size_to_compare(*rates, assurance=WANTED, ci_prob=PLANS[kind]).n_items)
        z = (first - second) / max(first * (ITEMS - first) + second * (ITEMS - second), 1) ** 0.5 * ITEMS**0.5
        found.append((1.0, n, contest.right(n) if n else 0.0, bool(z > stats.norm.ppf(sure))))
    return told(kind, f".85 and .80, items of their own ({pilots} pilots)", found)


def of_stated(name: str, share: float = 0.1, tests: int = 20_000) -> Row:
    """Return a row for a gap as stated: the share of simulated tests whose verdict is right."""
    stated, gap = STATED[name]
    plan = bayescm.planning.sample_size_to_compare(0.85, 0.85 - stated, discordance=share, assurance=WANTED)
    n, rng = int(plan.n_items), np.random.default_rng(3)
    b, c, _ = rng.multinomial(n, [(share + gap) / 2, (share - gap) / 2, 1.0 - share], tests).T
    right = float((stats.beta.sf(0.5, b + 1, c + 1) > 0.975).mean())
    return {
        "systems": f"gap stated: {name}", "plan": "stated", "items (median)": n, "true assurance": round(right, 3),
        'where the pilot said "better"': "", "no plan": 0.0,
    }  # fmt: skip


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    rows = [of_stated(name) for name in STATED]
    print(*rows, sep="\n", flush=True)
    failed = [row for row in rows[:1] if abs(float(str(row["true assurance"])) - WANTED) > 0.02]
    kinds = list(PLANS)[-1:] if quick else list(PLANS)
    for kind in kinds:
        rows.append(of_prior(kind, 12 if quick else 150))
        print(rows[-1], flush=True)
    error = 4.5 * 0.4 / (12 if quick else 150) ** 0.5
    failed += [row for row in rows[-1:] if abs(float(str(row["true assurance"])) - WANTED) > error]
    for scenario in list(PAIRS)[: 1 if quick else None]:
        for kind in kinds:
            rows.append(of_pair(kind, scenario, 2e-2 if quick else RARE))
            print(rows[-1], flush=True)
    for kind in () if quick else PLANS:
        rows.append(of_own_items(kind, 60))
        print(rows[-1], flush=True)
    if failed:
        raise SystemExit(f"these miss their assurance of {WANTED}: {failed}")
    if not quick:
        write_rows(HERE / "plans.csv", rows)
        (HERE / "plans_table.inc").write_text(markdown(rows))
