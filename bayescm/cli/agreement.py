"""``bayescm agreement``: how raters agree, and whether a judge may stand in for one of them."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.options import add_command, metric_list, refuse
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.data.ratings import ANNOTATOR, ANNOTATORS
from bayescm.results.summaries import of_interval

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm agreement ratings.csv                                      a row per subject, a column per rater
  bayescm agreement ratings.csv --metrics krippendorff_alpha_ordinal,gwets_ac2_quadratic
  bayescm agreement long.csv --subject text --rater who --rating label
  bayescm agreement ratings.csv --judge gpt --margin 0.1             is it as good as a human annotator?
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "agreement", "how raters agree; whether a judge is as good as they are", EPILOG, _run)
    p.add_argument("file", help="CSV file with a row per subject and a column per rater; fields may be empty")
    p.add_argument("--subject", metavar="COLUMN", help="column that names the subjects")
    p.add_argument("--rater", metavar="COLUMN", help="column of raters, where a row is a rating")
    p.add_argument("--rating", metavar="COLUMN", help="column of ratings, where a row is one")
    p.add_argument("--labels", metavar="LIST", help="all labels in their order, with commas")
    p.add_argument("--pos-label", metavar="LABEL", help="the positive one of two labels")
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces (krippendorff_alpha, gwets_ac1, ...)")
    p.add_argument("--average", default="ratings", help="what counts alike: ratings (default) or subjects")
    p.add_argument("--judge", metavar="RATER", help="hold this one against each of the others")
    p.add_argument("--margin", type=float, default=0.0, metavar="D", help="how much worse --judge may be (0)")
    p.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="probability of the interval (0.95)")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the result as netCDF", None)


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm agreement``."""
    names = ("judge", "subject", "rater", "rating", "pos_label", "average")
    labels = None if arguments.labels is None else [part.strip() for part in arguments.labels.split(",")]
    ratings = bayescm.agreement(arguments.file, labels=labels, **{name: getattr(arguments, name) for name in names})
    if arguments.judge is not None:
        refuse(arguments, ["metrics", "average"], "isn't for a judge; leave it out")
        return _of_judge(arguments, ratings)
    refuse(arguments, ["margin"], "is for --judge")
    how: dict[str, Any] = {"ci_prob": arguments.ci_prob}
    found = bayescm.summary(ratings, metric_list(arguments.metrics), random_seed=arguments.seed, **how)
    asymptotic = of_interval(bayescm.interval(ratings, metric_list(arguments.metrics), "delta", **how))
    beside = {"asymptotic": Table(asymptotic, "Asymptotic, by the variance over subjects:")}
    tell(arguments, found, "metrics", {"asymptotic": asymptotic}, beside)


def _of_judge(arguments: argparse.Namespace, answers: "xr.Dataset") -> None:
    """Compare a judge with all annotators, and with each."""
    how = {"rope": arguments.margin, "ci_prob": arguments.ci_prob, "random_seed": arguments.seed}
    found = bayescm.compare_systems(answers, reference=ANNOTATORS, **how)
    who = answers[ANNOTATOR].values
    rows = []
    for name in dict.fromkeys(who.tolist()):
        own = answers.isel(item=who == name)
        judge, human = map(float, (own["predicted"].to_numpy() == 1).mean(1))
        one = bayescm.compare_systems(own, reference=ANNOTATORS, **how)["summary"].isel(comparison=0, metric=0)
        lower, upper = map(float, one["interval"])
        rows.append({
            ANNOTATOR: name, "subjects": own.sizes["item"], "judge": judge, "human": human, "lower": lower,
            "upper": upper, "as_good": 1.0 - float(one["probability"].sel(side="worse")),
        })  # fmt: skip
    title = "Advantage probabilities, their difference, and whether the judge is as good, less the margin:"
    wins = sum(row["as_good"] > arguments.ci_prob for row in rows)
    note = f"Surely as good ({arguments.ci_prob:.0%}) as {wins} of {len(rows)} annotators."
    tell(arguments, found, "comparisons", {"annotators": rows}, {"annotators": Table(rows, title, note)})
