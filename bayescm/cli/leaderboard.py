"""``bayescm leaderboard``: which rank each system may have."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.inputs import systems_of
from bayescm.cli.options import add_command, add_model, add_systems, model_of
from bayescm.cli.output import Table, add_outputs, of_draws, tell
from bayescm.data import validate
from bayescm.results.systems import of_board

EPILOG = """examples:
  bayescm leaderboard systems.csv                             columns tp,fn,fp,tn, and one with names
  bayescm leaderboard published.csv --prize 10000 --prize 2000   columns correct,wrong, and one with names
  bayescm leaderboard passed.csv                              a row per item, 0 and 1 (pass, fail) per system
  bayescm leaderboard long.csv --by model --item question     columns model, question, correct
  bayescm leaderboard runs.csv                                columns system, item, run, correct: several runs
  bayescm leaderboard passes.csv --runs 4                     a row per item, how many of 4 runs passed per system
  bayescm leaderboard answers.csv --predicted A,B,C                           the same items
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "leaderboard", "which rank each system may have", EPILOG, _run)
    add_systems(p)
    p.add_argument("--metrics", dest="metric", metavar="NAME", help="by which systems are ranked (accuracy)")
    p.add_argument("--prize", action="append", type=float, metavar="X", help="of the next rank, from the first on")
    p.add_argument("--top", type=int, metavar="K", help="say P(among the K best) (default: 3)")
    p.add_argument("--design", help="independent or paired (default: paired for answers to the same items)")
    p.add_argument("--method", help="exact or draws (default: exact where it can be)")
    p.add_argument("--rows", dest="shown", type=int, default=30, metavar="N", help="systems in the table (30)")
    add_model(p, ci_kind=False)
    p.set_defaults(prior=None)  # learned from the systems, of five or more
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the leaderboard as a netCDF Dataset", "a heat map of the ranks")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm leaderboard``."""
    systems = systems_of(arguments, published=True)
    named = {name: getattr(arguments, name) for name in ("top", "metric")}
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
