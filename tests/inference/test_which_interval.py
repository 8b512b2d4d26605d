"""What the verification page says to one who asks which interval of F1 to quote, and that the README leads there."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayescm

ROOT = Path(bayescm.__file__).parents[1]
PAGE = (ROOT / "docs" / "verification" / "index.md").read_text(encoding="utf-8")
CLASSIFIERS = list(itertools.product((0.5, 0.1), ((0.9, 0.9), (0.7, 0.7), (0.95, 0.6))))


def part():
    return PAGE.partition("(f1-of-40)=\n")[2].partition("## The studies")[0]


@pytest.mark.filterwarnings("ignore:The delta interval of f1 has no length")
def test_f1_of_40_items_is_held_as_the_page_says():
    n = 40
    cells = np.array(
        [
            (tp, fn, fp, n - tp - fn - fp)
            for tp in range(n + 1)
            for fn in range(n + 1 - tp)
            for fp in range(n + 1 - tp - fn)
        ]
    )
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells.T, strict=True)), dims="outcome")
    ends = {
        "wilson": bayescm.interval(counts, "f1", "wilson"), "delta": bayescm.interval(counts, "f1", "delta"),
        "summary": bayescm.summary(counts, "f1"),
    }  # fmt: skip
    held = {name: [] for name in ends}
    for prevalence, (recall, specificity) in CLASSIFIERS:
        shares = np.array([prevalence * recall, prevalence * (1 - recall), (1 - prevalence) * (1 - specificity), 0.0])
        shares[3] = 1 - shares.sum()
        chance = stats.multinomial.pmf(cells, n, shares)
        truth = 2 * shares[0] / (2 * shares[0] + shares[1] + shares[2])
        for name, found in ends.items():
            low, high = found["interval"].values.reshape(-1, 2).T
            some = np.isfinite(low)
            held[name].append(chance[some] @ ((low <= truth) & (truth <= high))[some] / chance[some].sum())
    said = re.findall(r"\.(\d{3}) to \.(\d{3})", part())
    assert [(int(a) / 1000, int(b) / 1000) for a, b in said] == [
        (round(min(held[name]), 3), round(max(held[name]), 3)) for name in ("wilson", "delta", "summary")
    ]


def test_a_reader_finds_it_in_two_clicks():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (first,) = [line for line in readme.splitlines() if "F1 with 40 test cases, and why" in line]
    assert "(docs/verification/index.md#which-interval-to-quote)" in first
    table = PAGE.partition("## Which interval to quote\n")[2].partition("###")[0]
    assert re.search(r"\| \[F1\]\(#f1-of-40\) of 20 to 50 items, so of 40 \| `interval\(\.\.\., \"wilson\"\)`", table)
    assert "**Why:**" in part()
