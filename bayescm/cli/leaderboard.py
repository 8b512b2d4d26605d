"""``bayescm leaderboard``: which rank each system may have."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import systems_of
from bayescm.cli.options import add_command, add_model, add_systems, model_of, refuse
from bayescm.cli.output import Table, add_outputs, of_draws, tell
from bayescm.data import validate
from bayescm.data.files import replace
from bayescm.data.rankings import PLACKETT_LUCE
from bayescm.data.schema import ACTUAL, CELLS_OF_TWO, ITEM, ONE_CLASS, PREDICTED, RUN, SYSTEM, flatten_cells
from bayescm.results.systems import of_board

if TYPE_CHECKING:
    import pandas as pd

EPILOG = """examples:
  bayescm leaderboard systems.csv                             columns tp,fn,fp,tn, and one with names
  bayescm leaderboard published.csv --prize 10000 --prize 2000   columns correct,wrong, and one with names
  bayescm leaderboard passed.csv                              a row per item, 0 and 1 (pass, fail) per system
  bayescm leaderboard long.csv --by model --item question     columns model, question, correct
  bayescm leaderboard runs.csv                                columns system, item, run, correct: several runs
  bayescm leaderboard passes.csv --runs 4                     a row per item, how many of 4 runs passed per system
  bayescm leaderboard board.csv --unit task --average fixed_units   columns system, task, correct, wrong
  bayescm leaderboard answers.csv --predicted A,B,C                           the same items
  bayescm leaderboard votes.csv --model plackett_luce         columns winner, loser; or a row of ranks per judge
  bayescm leaderboard board.csv --append today.jsonl          a file that a repository keeps: adds today's systems
"""
_OF_ANSWERS = ("append", "item", "runs", "pos_label", "predicted", "by", "stratum", "unit", "sample_weight")


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "leaderboard", "which rank each system may have", EPILOG, _run)
    add_systems(p)
    p.add_argument("--append", metavar="NEW", help="add the systems of this file to the board's file, and rank all")
    p.add_argument("--metrics", dest="metric", metavar="NAME", help="by which systems are ranked (accuracy)")
    p.add_argument("--prize", action="append", type=float, metavar="X", help="of the next rank, from the first on")
    p.add_argument("--top", type=int, metavar="K", help="say P(among the K best) (default: 3)")
    p.add_argument("--design", help="independent or paired (default: paired for answers to the same items)")
    p.add_argument("--method", help="exact or draws (default: exact where it can be)")
    p.add_argument("--rows", dest="shown", type=int, default=30, metavar="N", help="systems in the table (30)")
    p.add_argument("--unranked", help="of rankings: missing (not compared, default) or worst (below all ranked)")
    add_model(p, ci_kind=False)
    p.set_defaults(prior=None)  # learned from the systems, of five or more
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the leaderboard as a netCDF Dataset", "a heat map of the ranks")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm leaderboard``."""
    ranked = arguments.model == PLACKETT_LUCE
    if ranked:
        refuse(arguments, _OF_ANSWERS, f"doesn't apply to --model {PLACKETT_LUCE}")
    if arguments.append:
        _append(arguments)
    systems = arguments.file if ranked else systems_of(arguments, published=True)
    named = {name: getattr(arguments, name) for name in ("top", "metric", "unranked")}
    board = bayescm.leaderboard(
        systems, method=arguments.method, design=arguments.design, prizes=arguments.prize,
        ci_prob=arguments.ci_prob, random_seed=arguments.seed, **model_of(arguments),
        **{name: value for name, value in named.items() if value is not None},
    )  # fmt: skip
    board = board.sortby("expected_rank")
    most, frame = validate.positive_integer("--rows", arguments.shown), board.bayescm.tables(all_rows=True)[0]
    if arguments.prize:
        frame = frame.assign(prize=[round(row["expected_prize"]) for row in of_board(board)])
    more = f"{len(frame) - most} more systems; " if len(frame) > most else ""
    note = f"{more}tie_group: not told apart from its first. {of_draws(board)}"
    tell(
        arguments, board, "systems", tables={"systems": Table(frame.head(most), note=note)},
        draw=lambda: bayescm.plots.plot_leaderboard(board),
    )  # fmt: skip


def _append(arguments: argparse.Namespace) -> None:
    """Add the systems of another file to the board's file, which is made where there is none."""
    import pandas as pd

    file, new = arguments.file, arguments.append
    tables = []
    for arguments.file in ([file] if Path(file).exists() else []) + [new]:
        tables.append(_table(systems_of(arguments, published=True), arguments.file))
    arguments.file = file
    kept, added = tables[0], tables[-1]
    of_items, of_kept = (table.index.name == ITEM for table in (added, kept))
    if of_items != of_kept or (of_items and set(added.index) != set(kept.index)):
        raise ValueError(
            f"--append: {new} and {file} must both have a row of counts for each system, or answers to the same items "
            f"by the same names; {file} has {len(kept)} {kept.index.name}s, {new} {len(added)} {added.index.name}s."
        )
    if of_items:
        kept, added = kept.T, added.T
    again = added.index.intersection(kept.index)
    other = (kept.loc[again] != added.loc[again, kept.columns]).any(axis=1)
    if other.any():
        raise ValueError(
            f"--append: {other.index[other][0]!r} is in {file} already, with other values than in {new}; give the new "
            "one another name, or take the old one out."
        )
    made = pd.concat([kept, added.drop(again)])
    made = made.T.rename_axis(ITEM) if of_items else made
    replace(Path(file), made.to_csv(index=made.index.dtype.kind != "i").encode())  # items without names have numbers


def _table(systems: Any, file: str) -> "pd.DataFrame":
    """Return a board as its file has it: each item's answers in a row, or each system's counts."""
    if RUN in systems.dims:
        raise ValueError(f"--append: {file} has several runs of an item, which a board's file has no columns for.")
    if ITEM in systems.dims:
        answers: pd.DataFrame = systems[PREDICTED].transpose(ITEM, SYSTEM).to_pandas()
        if ONE_CLASS not in systems.attrs:
            answers.insert(0, ACTUAL, systems[ACTUAL].values)
        return answers.rename_axis(ITEM)
    if hasattr(systems, "data_vars"):
        counts: pd.DataFrame = systems[["correct", "wrong"]].to_dataframe()
        return counts
    if systems.sizes[ACTUAL] != 2:
        raise ValueError(f"--append: {file} has matrices of more than two classes; keep answers item by item.")
    cells: pd.DataFrame = flatten_cells(systems).transpose(SYSTEM, ...).to_pandas()
    return cells.set_axis(list(CELLS_OF_TWO), axis=1)
