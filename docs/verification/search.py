"""Search for the truth that each default holds least often: ``python -m uv run python docs/verification/search.py``.

For each public default a range of truths is declared (:data:`DEFAULTS`), and a seeded search looks for the truth whose
95% intervals, region or band hold it least often: random starts, the worst of them moved step by step on common random
numbers; then other random numbers choose, and others again give the coverage that is reported. At that truth single
data sets go through the public call until some miss it: what their results print is reported, too. Small tables are
enumerated, so that their coverage has no error. Writes search.csv, with two seeds each, and search_table.inc, in some
20 minutes of one core; with names of rows it searches these alone. ``--quick`` searches a part, writes nothing and
fails if one of the figures of :data:`LEAST` isn't held.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from rows import markdown, write_rows
from search_defaults import DEFAULTS, Default, Truth, estimated
from searching import worst

from bayescm.results.names import notes_of

HERE = Path(__file__).parent
SEEDS = (1, 2)
MISSES, ASKED, PATIENCE = 5, 60, 20.0
"""Data sets whose answers miss the worst truth, of which it is read what they print; how many are asked for them at
most, and for how many seconds."""

WITH_ERRORS = ", an item expected in every cell"
LEAST = {
    "a share of n items, wilson": 0.83, "a share of n items, summary": 0.86, f"F1, wilson{WITH_ERRORS}": 0.93,
    f"recall, summary{WITH_ERRORS}": 0.91, "precision, summary": 0.91, f"F1, summary{WITH_ERRORS}": 0.92,
    f"balanced accuracy, summary{WITH_ERRORS}": 0.92, "precision elsewhere": 0.88, "a point of the ROC plane": 0.91,
    "a point of the PR plane": 0.91, "all cells at once": 0.77, "no verdict on two equal systems, same items": 0.95,
    "no verdict on 3 to 20 equal systems, same items": 0.9,
}  # fmt: skip
"""Coverage below which a quick search must find none: that of the worst truths of the long search, search.csv, less .01
as another seed may find worse; of verdicts what is promised, at most .05 of tests of two and .1 of more."""


def printed(default: Default, truth: Truth, seed: int) -> tuple[str, str]:
    """Return what results that miss the truth print most often, and how many of them print something."""
    rng, missed, start = np.random.default_rng(seed), [], time.process_time()
    for _ in range(ASKED):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result, held = default.single(truth, rng)
        if not held:
            missed.append(
                " ".join([notes_of(result.attrs), *extra(result), *(str(one.message) for one in caught)]).strip()
            )
        if len(missed) == MISSES or time.process_time() - start > PATIENCE:
            break
    spoken = [one for one in missed if one]
    return (Counter(spoken).most_common(1)[0][0] if spoken else ""), f"{len(spoken)} of {len(missed)}"


def extra(result: Any) -> list[str]:
    """Return what a result says besides its notes: on what verdicts rest, and ends that were moved into the range."""
    summary = result["summary"] if isinstance(result, xr.DataTree) else result
    decided = [] if "reason" not in summary else summary["reason"].values[summary["verdict"].values != "undecided"]
    return [*decided[:1]] + ["clipped"] * bool("clipped" in summary and summary["clipped"].any())


def short(value: Any) -> str:
    """Return a number of a truth in three digits."""
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def searched(default: Default) -> dict[str, Any]:
    """Return the row of a default."""
    start = time.process_time()
    estimate, truths = estimated(default), default.truths
    found = [worst(estimate, truths.draw, truths.move, default.effort, seed) for seed in SEEDS]
    least, other = sorted(found, key=lambda one: one.chosen)
    truth, effort = truths.truth(least.truth), default.effort
    text, times = printed(default, truth, SEEDS[0])
    return {
        "what": default.name, "call": default.call,
        "worst truth found": ", ".join(f"{name} {short(v)}" for name, v in truth.items() if name),
        "coverage there": f"{least.coverage:.3f}", "standard error": f"{least.error:.3f}",
        "another seed": f"{other.coverage:.3f}", "mean": f"{np.mean([one.mean for one in found]):.3f}",
        "it prints": text, "printed where it misses": times,
        "truths": effort.starts + effort.kept * effort.moves, "data sets each": effort.runs or "all",
        "seconds": round(time.process_time() - start),
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    shown = [{
        "what": row["what"], "call": f"`{row['call']}`", "worst truth found": row["worst truth found"],
        "held there": row["coverage there"] + f" ± {row['standard error']}" * (float(row["standard error"]) > 0.0),
        "by another seed": row["another seed"], "mean": row["mean"],
        "printed where it misses": f"{row['it prints']} ({row['printed where it misses']})" * bool(row["it prints"]),
    } for row in rows]  # fmt: skip
    head, _, *lines = markdown(shown).splitlines()
    return "\n".join([head, "|" + " :--- |" * 3 + " ---: |" * 3 + " :--- |", *lines]) + "\n"


def ranges() -> str:
    """Return the table of the ranges that are searched."""
    over: dict[str, list[str]] = {}
    for default in DEFAULTS:
        over.setdefault(default.truths.text(), []).append(default.name.removesuffix(WITH_ERRORS))
    return markdown([{"searched": text, "for": "; ".join(names)} for text, names in over.items()]).replace(
        "---:", ":---"
    )


def main(arguments: list[str]) -> int:
    """Search all defaults, or those named, or check a part."""
    warnings.simplefilter("ignore")
    file = HERE / "search.csv"
    if "--quick" in arguments:
        return quick()
    kept = (
        {row["what"]: row for row in csv.DictReader(file.open(encoding="utf-8"))} if arguments and file.exists() else {}
    )
    for default in DEFAULTS:
        if arguments and default.name not in arguments:
            continue
        kept[default.name] = searched(default)
        print(*kept[default.name].values(), sep="; ", flush=True)
        rows = [kept[one.name] for one in DEFAULTS if one.name in kept]
        write_rows(file, rows)
        (HERE / "search_table.inc").write_text(table(rows))
        (HERE / "search_ranges.inc").write_text(ranges())
    return 0


def quick() -> int:
    """Search the defaults of :data:`LEAST` for a while."""
    low = 0
    for default in DEFAULTS:
        if default.name in LEAST:
            starts = 6 if default.effort.runs else 2  # enumeration takes longer
            effort = default.effort._replace(starts=starts, kept=1, moves=2, fresh=min(default.effort.fresh, 500))
            found = worst(estimated(default), default.truths.draw, default.truths.move, effort, 3)
            broken = found.coverage + 4.0 * found.error < LEAST[default.name]
            low += broken
            print(default.name, round(found.coverage, 3), "TOO LOW" if broken else "", flush=True)
    return int(low > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
