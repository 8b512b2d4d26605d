"""``bayescm doctor``: what a file holds, what it is taken for, and what is missing for which question."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.options import add_command
from bayescm.data.harnesses import logs_of
from bayescm.data.recognisers import ANSWERS, COUNTS, SYSTEMS
from bayescm.data.sides import columns_of_one
from bayescm.data.tabular import read_table
from bayescm.results.escape import for_terminal

EPILOG = """examples:
  bayescm doctor new.jsonl              columns, what they are taken for, and which questions can be asked
  bayescm doctor logs/                  a folder of logs
"""
_QUESTIONS = {ANSWERS: "bayescm gate (one system)", SYSTEMS: "bayescm compare, gate --reference",
              COUNTS: "bayescm summary"}  # fmt: skip
_MOST = 12


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "doctor", "what a file holds, and which questions it can answer", EPILOG, _run)
    p.add_argument("file", help="a log, a folder of logs, or a table")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm doctor``."""
    logs = logs_of(arguments.file)
    lines = [f"{log.path}: a log of {log.harness.name}" for log in (logs or [])[:_MOST]]
    lines += _columns(arguments.file) if logs is None else []
    for about, question in _QUESTIONS.items():
        if logs is not None and about == COUNTS:
            continue
        try:
            found = bayescm.read(arguments.file, about=about)
            lines.append(f"{question}: yes; {'; '.join(repr(found).splitlines())}")
        except (ValueError, TypeError) as error:
            lines.append(f"{question}: no; {' '.join(str(error).split())}")
    print(for_terminal("\n".join(lines)))


def _columns(path: str) -> list[str]:
    """Say of each column how many values it has, what it is taken for, and what may be wrong with it."""
    table = read_table(path, {})
    frame, taken = table.frame, {name: what for what, name in columns_of_one(table).items()}
    lines = [f"{path}: a table of {len(frame)} rows and {len(frame.columns)} columns"]
    for name in list(frame.columns)[:_MOST]:
        texts = [str(value).strip() for value in frame[name]]
        different, blank = len(set(texts)), sum(text in ("", "nan", "None", "NaN", "<NA>") for text in texts)
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
