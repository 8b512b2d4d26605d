"""``bayescm summary``."""

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli import resumable
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import CELLS, add_command, add_counts, add_model, add_stores, metric_list, model_of, refuse
from bayescm.cli.output import add_outputs, called, console, finite, positive, print_assumptions, print_records
from bayescm.cli.saving import with_draws, written
from bayescm.cli.understood import print_counts, records
from bayescm.data.schema import ACTUAL, ALIAS
from bayescm.results.escape import for_console
from bayescm.results.summaries import of_interval, of_summary
from bayescm.results.writing import each, show

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm summary --tp 26 --fn 0 --fp 2 --tn 6 --model three_binomial --prior laplace
  bayescm summary 45 50                               45 of 50: one proportion
  bayescm summary 45 50 --method wilson               a confidence interval
  bayescm summary counts.csv                          columns actual,predicted,n, or tp,fn,fp,tn, or a square matrix
  bayescm summary predictions.csv                     columns actual,predicted: one row per item
  bayescm summary scores.csv --score p --threshold 0.5   columns actual and p
  bayescm summary --input counts.zarr --output out.zarr  millions of matrices; started again it goes on
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "summary", "every metric with its uncertainty", EPILOG, run)
    add_counts(p)
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces, such as mcc,f1 (default: all)")
    p.add_argument(
        "--method", metavar="NAME", help="a confidence interval instead: wilson, clopper_pearson, bootstrap, ..."
    )
    add_model(p)
    p.set_defaults(proportion=False)
    p.add_argument("--prob", action="append", metavar="CLAIM", help="say P(CLAIM), such as 'mcc > 0.3'; repeatable")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws, for the metrics that need them")
    add_stores(p)
    add_outputs(p, "posterior draws and summary as a netCDF DataTree", "a picture of the intervals")


def run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm summary``."""
    if arguments.input or arguments.output:
        _stored(arguments)
        return
    counts = counts_of(arguments)
    if arguments.method is not None:
        _confidence(arguments, counts)
        return
    known = model_of(arguments)
    settings = known | {"random_seed": arguments.seed}
    asked = metric_list(arguments.metrics)
    metrics: Any = {"proportion": "recall"} if arguments.proportion else asked
    interval = {"ci_prob": arguments.ci_prob, "ci_kind": arguments.ci_kind}
    table = bayescm.summary(counts, metrics, **settings, **interval)
    found = None
    if arguments.prob:
        found = bayescm.probability(counts, arguments.prob, **settings)
    made = _as_json(table, counts, found)

    saved = partial(with_draws, table, counts, metrics, settings)
    if written(arguments, saved, lambda: made, "metrics", lambda: bayescm.plot_forest(table)):
        return
    print_counts(counts)
    _print(table, counts)
    if found is not None:
        _print_claims(found)
    print_assumptions(table.attrs)


def _confidence(arguments: argparse.Namespace, counts: "xr.DataArray") -> None:
    """Print frequentist intervals by the name of their method."""
    refuse(
        arguments, ("model", "prior", "prevalence", "ci_kind", "prob", "plot"),
        "doesn't apply to --method, a confidence interval; leave it out",
    )  # fmt: skip
    k = counts.sizes[ACTUAL]
    usual = bayescm.metrics.resolve(None, k)
    fits = [metric.name for metric in usual if metric.ratio is not None or arguments.method in ("delta", "bootstrap")]
    metrics: Any = {"proportion": "recall"} if arguments.proportion else metric_list(arguments.metrics) or fits
    found = bayescm.interval(counts, metrics, arguments.method, ci_prob=arguments.ci_prob, random_seed=arguments.seed)
    rows = of_interval(found)
    made = {"settings": dict(found.attrs), "counts": records(counts), "metrics": finite(rows)}
    if written(arguments, lambda: found, lambda: made, "metrics"):
        return
    print_counts(counts)
    title = f"{arguments.method}, {100 * arguments.ci_prob:g}% confidence interval"
    print_records(
        rows, title, "point: value of the counts" + positive(found.attrs), left=[*map(str, counts.dims), "metric"]
    )
    print_assumptions(found.attrs)


def _stored(arguments: argparse.Namespace) -> None:
    """Answer counts that needn't fit into memory, chunk by chunk, into a store."""
    refuse(
        arguments, (*CELLS, "score", "threshold", "side", "method", "prob", "json", "save", "plot"),
        "doesn't apply to --input and --output; leave it out",
    )  # fmt: skip
    if arguments.file or not arguments.input or not arguments.output:
        raise ValueError("--input and --output go together, without another file.")
    known = model_of(arguments) | {"ci_prob": arguments.ci_prob, "ci_kind": arguments.ci_kind}
    metrics = metric_list(arguments.metrics)
    resumable.answer(
        arguments, {"metrics": metrics, **known},
        lambda counts, seed: bayescm.summary(counts, metrics, **known, random_seed=seed),
    )  # fmt: skip


def _claims(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return one record per matrix and claim."""
    numbers = ["probability", "error", "mcse_probability"]
    return [names | {name: float(one[name]) for name in numbers} for names, one in each(found[numbers], "probability")]


def _print_claims(found: "xr.Dataset") -> None:
    """Print the probabilities of claims."""
    from rich.table import Table

    rows = _claims(found)
    about = "error: relative, estimated; ±: Monte Carlo standard error"
    sheet = Table(title="posterior probability", caption=about + for_console(positive(found.attrs)))
    for name in list(rows[0])[:-1]:
        sheet.add_column(name, justify="right" if name in ("probability", "error") else "left", no_wrap=True)
    for row in rows:
        *words, value, error, mcse = row.values()
        shown = f"1 - {1 - value:.2g}" if 0.999 < value < 1 else show(value)
        sheet.add_row(
            *(for_console(word) for word in words), shown, f"± {mcse:.1g}" if mcse else f"{error:.0e}" if error else "0"
        )
    console().print(sheet)


def _as_json(table: "xr.Dataset", counts: "xr.DataArray", found: "xr.Dataset | None") -> dict[str, Any]:
    """Return records and settings; what isn't finite becomes text, because JSON has no word for it."""
    made = {"settings": dict(table.attrs), "counts": records(counts), "metrics": finite(of_summary(table))}
    return made if found is None else {**made, "probabilities": finite(_claims(found))}


def _print(table: "xr.Dataset", counts: "xr.DataArray") -> None:
    """Print tables to the terminal."""
    from rich.table import Table

    attrs = table.attrs
    prior = attrs["prior"]
    at = "" if attrs["prevalence"] == "null" else f", prevalence {attrs['prevalence']}"
    level = f"{100 * attrs['ci_prob']:g}% {attrs['ci_kind'].upper()}"
    sheet = Table(
        title=f"{attrs['model']}, prior {for_console(str(prior) + at)}, {level}",
        caption="point: value of the counts" + _about_draws(table) + for_console(positive(attrs)),
    )
    rows = of_summary(table)
    batch = [name for name in rows[0] if name in counts.dims]
    for name in (*batch, "metric"):
        sheet.add_column(name, no_wrap=True)
    for name in ("point", "mean", "sd", "lower", "upper"):
        sheet.add_column(name, justify="right", no_wrap=True)
    sheet.add_column("how", no_wrap=True)
    for row in rows:
        how = "no draws" if row["method"] == "exact" else _with_error(row)
        if row["ci_kind"] != attrs["ci_kind"]:
            how += f", {row['ci_kind']}"
        numbers = [show(row[name]) for name in ("point", "mean", "sd", "lower", "upper")]
        words = [*(str(row[name]) for name in batch), called(row["metric"], row.get(ALIAS, ""))]
        sheet.add_row(*map(for_console, words), *numbers, how)
    console().print(sheet)


def _about_draws(table: "xr.Dataset") -> str:
    drawn = bool((table["method"] == "draws").any())
    return "; draws ±: largest Monte Carlo error of the row" if drawn else "; no draws: computed by formula"


def _with_error(row: dict[str, Any]) -> str:
    """Say how far the draws may be off: the largest error in the row."""
    errors = [row[name] for name in ("mcse_mean", "mcse_lower", "mcse_upper") if row[name] == row[name]]
    return f"draws ±{max(errors):.1g}" if errors else "draws"
