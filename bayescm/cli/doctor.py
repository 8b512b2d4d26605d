"""``bayescm doctor``: what a file holds, what it is taken for, and what is missing for which question."""

import argparse
from collections.abc import Callable
from typing import Any

import bayescm
from bayescm.cli.options import add_command
from bayescm.data.harnesses import logs_of
from bayescm.data.labels import MISSING
from bayescm.data.recognisers import ANSWERS, BOARD, COUNTS, SYSTEMS
from bayescm.data.schema import ACTUAL
from bayescm.data.sides import SCORES, columns_of_one, truth_among
from bayescm.data.tabular import Table, read_table
from bayescm.results.escape import for_terminal

EPILOG = """examples:
  bayescm doctor new.jsonl              columns, what they are taken for, and which questions can be asked
  bayescm doctor logs/                  a folder of logs
"""
_QUESTIONS = {"summary": COUNTS, "compare": SYSTEMS, "leaderboard": BOARD, "gate": ANSWERS}
_MOST = 12


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "doctor", "what a file holds, and which questions it can answer", EPILOG, _run)
    p.add_argument("file", help="a log, a folder of logs, or a table")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm doctor``."""
    file = arguments.file
    logs = logs_of(file)
    lines = [f"{log.path}: a log of {log.harness.name}" for log in (logs or [])[:_MOST]]
    table = read_table(file, {}) if logs is None else None
    lines += [] if table is None else _columns(file, table)
    said: dict[tuple[str, str], list[str]] = {}
    for command, ask in _asked(file, table).items():
        try:
            key = "yes", ask()
        except (ValueError, TypeError) as error:
            key = "no", " ".join(str(error).split())
        said.setdefault(key, []).append(command)
    able = [key for key in said if key[0] == "yes"]
    if table is not None and not able and (raters := _agreement(file, len(table.frame))):
        able, said = [("yes", raters)], {("yes", raters): ["agreement"]}
    shown = able + [key for key in said if key not in able and (not able or "gate" in said[key])]
    lines += [f"{answer}: bayescm {', '.join(said[answer, why])}: {why}" for answer, why in shown]
    print(for_terminal("\n".join(lines)))


def _asked(file: str, table: Table | None) -> dict[str, Callable[[], str]]:
    """Return what tries the file for each command, and says what it is read as."""

    def read(about: str, **columns: Any) -> Callable[[], str]:
        return lambda: "; ".join(repr(bayescm.read(file, about=about, columns=columns or None)).splitlines())

    asked = {command: read(about) for command, about in _QUESTIONS.items()}
    names = {} if table is None else table.columns
    if table is None or "reader" in names:
        return asked if table is None else asked | {"readers": lambda: _of_readers(file)}
    truth = table.get(ACTUAL) or truth_among(names)
    score = next((names[name] for name in SCORES if name in names), None)
    if truth is not None and score is not None:
        asked[f"curve --actual {truth} --score {score}"] = read(COUNTS, actual=truth, score=score)
    return asked


def _of_readers(file: str) -> str:
    """Say of how many readers there are readings."""
    sizes = bayescm.readers(file, draws=1000).sizes
    return f"readings of {sizes['reader']} readers with {sizes['system']} systems"


def _agreement(file: str, rows: int) -> str:
    """Say of how many subjects there are ratings, if labels come often enough to be such."""
    try:
        *subjects, labels, _ = bayescm.agreement(file).shape
    except (ValueError, TypeError):
        return ""
    return f"ratings of {subjects[0]} subjects with {labels} labels" if 2 * labels < rows else ""


def _columns(path: str, table: Table) -> list[str]:
    """Say of each column how many values it has, what it is taken for, and what may be wrong with it."""
    frame, taken = table.frame, {name: what for what, name in columns_of_one(table).items()}
    lines = [f"{path}: a table of {len(frame)} rows and {len(frame.columns)} columns"]
    for name in list(frame.columns)[:_MOST]:
        texts = [str(value).strip() for value in frame[name]]
        different, blank = len(set(texts)), sum(text.casefold() in MISSING for text in texts)
        told = [f"{different} different values", *([f"taken for {taken[name]}"] if name in taken else [])]
        told += [f"{blank} missing"] if blank else []
        folded = len({" ".join(text.casefold().split()) for text in texts})
        told += [f"{different - folded} differ in case or spaces alone"] if folded < different else []
        if taken.get(name) == "item" and different < len(texts):
            told.append(
                f"up to {max(map(texts.count, set(texts)))} rows of each: runs (--item {name}) or --unit {name}?"
            )
        lines.append(f"  {name}: {', '.join(told)}")
    if len(frame.columns) > _MOST:
        lines.append(f"  and {len(frame.columns) - _MOST} more columns")
    return lines
