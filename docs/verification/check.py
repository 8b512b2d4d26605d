"""Check a random tenth of committed numbers: ``python -m uv run python docs/verification/check.py``.

Parts of studies are drawn at random, computed anew, and compared with the committed rows: words must be the same, and
numbers to one unit of the last decimal written (another processor rounds halves otherwise). With ``--quick`` a
thirtieth of those that take seconds is drawn; ``--seed 3`` draws the same again, ``--all`` takes every part.
Studies that aren't here need minutes for a single row: each has a ``--quick`` of its own.
"""

import argparse
import csv
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import intervals
import methods
import numpy as np
import partial_areas
import proportion_differences
import simultaneous

HERE = Path(__file__).parent


class Part(NamedTuple):
    """Rows of a study that are computed together."""

    file: str
    keys: tuple[str, ...]
    """Columns that tell its rows apart."""
    quick: bool
    rows: Callable[[], list[dict[str, Any]]]


def parts() -> list[Part]:
    """Return what can be computed on its own."""
    differences, of_binomials = ("design", "items", "interval"), ("interval", "trials")
    return [
        *(Part("simultaneous.csv", ("cells", "items", "method"), n * k < 100,
               lambda k=k, n=n: simultaneous.coverage(k, n)) for k, n in simultaneous.SAMPLES),
        *(Part("proportion_differences.csv", differences, max(n) < 50,
               lambda n=n: proportion_differences.of_independent(*n)) for n in proportion_differences.SAMPLES),
        *(Part("proportion_differences.csv", differences, n < 40, lambda n=n: proportion_differences.of_paired(n))
          for n in proportion_differences.ITEMS),
        *(Part("intervals.csv", of_binomials, n <= 20, lambda name=name, method=method, n=n: [
            intervals.row(name, method, n)
        ]) for name, (_, method) in (intervals.METHODS | intervals.F1).items() for n in intervals.TRIALS),
        *(Part("partial_areas.csv", ("area", "cases", "method"), False,
               lambda name=name, n=n: partial_areas.coverage(name, n))
          for name in partial_areas.QUESTIONS for n in partial_areas.CASES),
        *(Part(f"methods_{family}.csv", ("quantity", "method", "n", "truth"), key[2] <= 10, rows)
          for family in ("proportion", "matrix", "difference", "region")
          for key, rows in methods.FAMILIES[family]((5, 10, 20)) if key[2] <= 20),
    ]  # fmt: skip


def same(one: str, other: str) -> bool:
    """Whether two texts are one, or numbers that are a unit of the last decimal apart at most."""
    try:
        decimals = max(len(f"{Decimal(text):f}".partition(".")[2]) for text in (one, other))
        return one == other or (decimals > 0 and abs(Decimal(one) - Decimal(other)) <= Decimal(10) ** -decimals)
    except InvalidOperation:  # words
        return one == other


def differences(part: Part) -> list[str]:
    """Return what isn't as it was committed."""
    with (HERE / part.file).open(newline="", encoding="utf-8") as lines:
        committed = {tuple(row[key] for key in part.keys): row for row in csv.DictReader(lines)}
    found = []
    for row in part.rows():
        texts = {name: str(value) for name, value in row.items()}
        key = tuple(texts[name] for name in part.keys)
        stands = committed.get(key, {})
        if stands.keys() != texts.keys() or not all(same(text, stands[name]) for name, text in texts.items()):
            found.append(f"{part.file}: {texts} now, {stands} committed")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=None)
    chosen = parser.parse_args()
    known = [part for part in parts() if part.quick or not chosen.quick]
    rng = np.random.default_rng(chosen.seed)
    size = len(known) if chosen.all else max(len(known) // (30 if chosen.quick else 10), 1)
    wrong: list[str] = []
    for i in rng.choice(len(known), size, replace=False):
        found = differences(known[i])
        print(known[i].file, "differs" if found else "is as committed", flush=True)
        wrong += found
    if wrong:
        raise SystemExit("\n".join(wrong))
