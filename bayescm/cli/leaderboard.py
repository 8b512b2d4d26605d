"""``bayescm leaderboard``: which rank each system may have."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import systems_of
from bayescm.cli.options import add_command, add_model, add_systems, model_of
from bayescm.cli.output import add_outputs, ends, finite, positive, print_assumptions, print_records
from bayescm.cli.saving import written
from bayescm.data import validate
from bayescm.results.names import of_attrs
from bayescm.results.systems import of_board

if TYPE_CHECKING:
    import xarray as xr

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
    p.add_argument(
        "--metrics", dest="metric", default="accuracy", metavar="NAME", help="by which systems are ranked (accuracy)"
    )
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
    top = {} if arguments.top is None else {"top": arguments.top}
    board = bayescm.leaderboard(
        systems, metric=arguments.metric, method=arguments.method, design=arguments.design, prizes=arguments.prize,
        ci_prob=arguments.ci_prob, random_seed=arguments.seed, **top,
        **model_of(arguments),
    )  # fmt: skip
    board = board.sortby("expected_rank")
    made = {"settings": dict(board.attrs), "systems": finite(of_board(board))}
    if not written(arguments, lambda: board, lambda: made, "systems", lambda: bayescm.plot_leaderboard(board)):
        _print(board, validate.positive_integer("--rows", arguments.shown))


def _print(board: "xr.Dataset", most: int) -> None:
    """Print the first systems."""
    attrs = board.attrs
    rows = []
    for record in of_board(board.isel(system=slice(most))):
        tops = {f"P(top {name[4:]})": value for name, value in record.items() if name.startswith("top_")}
        prize = {"prize": f"{record['expected_prize']:,.0f}"} if "expected_prize" in record else {}
        rows.append({
            "system": record["system"], of_attrs(attrs): record["point"],
            "interval": ends(record), "P(best)": record["best"], **tops,
            "rank": f"{record['expected_rank']:.1f}", "from": record["rank_lower"], "to": record["rank_upper"],
            **prize, "group": record["tie_group"],
        })  # fmt: skip
    level = f"{100 * attrs['ci_prob']:g}%"
    how = "no draws" if attrs["method"] == "exact" else attrs["method"]
    title = f"{attrs['design']}, {how}, prior {attrs['prior']}, {level} intervals"
    caption = f"rank: expected, and its {level} interval; group: not told apart from its first at {level}"
    left_out = board.sizes["system"] - len(rows)
    caption += (f"; {left_out} more systems" if left_out else "") + positive(attrs)
    first = board.isel(system=0)
    if attrs["prior"] == "learned":
        name, point, mean = (first[key].item() for key in ("system", "point", "mean"))
        caption += (
            f"\n{name}: {point:.4g} as measured, {mean:.4g} corrected for being the first of {board.sizes['system']}"
        )
    caption += f"\nthe best is one of {int(board['best_set'].sum())} systems, with {level}"
    print_records(rows, title, caption, left=["system"])
    print_assumptions(attrs)
