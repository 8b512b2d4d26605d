"""``bayescm audit``: what a verdict on all items is worth, and how many are right, where people checked some."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import counts_of, pos_label
from bayescm.cli.options import add_command, add_labels, costs_of, metric_list, number_or_word, refuse
from bayescm.cli.output import Table, add_outputs, of_draws, tell
from bayescm.cli.summary import with_draws
from bayescm.data import strata, texts
from bayescm.data.schema import METRIC
from bayescm.results.summaries import of_summary

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm audit answers.csv --actual human --predicted judge   a row per item; human is empty where nobody looked
  bayescm audit counts.csv --count n                           columns actual,predicted,n; without actual: unchecked
  bayescm audit answers.csv --stratum site                     items were chosen by site, too
  bayescm audit matrix.csv --rows test --totals 200000,150000,3200000,6450000 --of population --unit 0.09
                                                               a map: error matrix, area of each class, hectares a pixel
  bayescm audit counts.csv --count n --allocate 40             of which verdicts to check the next 40
  bayescm audit counts.csv --count n --costs fn=5,fp=2 --per-check 1 --n-items 5000
                                                               what further labels are worth, 5000 decisions ahead;
                                                               with --plot value.png a picture of it
"""
_TOTALS = ("total_point", "total_lower", "total_upper")
_METRICS = "prevalence,accuracy,recall,precision"


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "audit", "all items, where the truth of some was checked", EPILOG, _run)
    p.add_argument("file", help="CSV file with a row per item, counts, or a square matrix of the checked items")
    add_labels(p)
    p.add_argument("--predicted", default="predicted", metavar="COLUMN", help="column of verdicts (default: predicted)")
    p.add_argument("--stratum", metavar="COLUMN", help="column by which, too, items were chosen to be checked")
    p.add_argument("--count", metavar="COLUMN", help="column of counts (default: every row is an item)")
    p.add_argument("--rows", dest="side", metavar="SIDE", help="truth or test: what the rows of a square matrix are")
    p.add_argument("--totals", metavar="LIST", help="all items of each class of a square matrix, with commas")
    p.add_argument("--of", default="process", help="process (default), population (shares are known) or items")
    p.add_argument("--unit", type=float, metavar="U", help="also say the total of each class, in U for one item")
    p.add_argument("--metrics", default=_METRICS, metavar="LIST", help=f"names with commas or spaces ({_METRICS})")
    p.add_argument("--prior", help="of every group's cells: a name such as jeffreys (default), or a number")
    p.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="probability of the interval (0.95)")
    p.add_argument("--ci-kind", default="eti", help="eti (default) or hdi")
    p.add_argument("--allocate", type=int, metavar="N", help="say of which group to check the next N, for a share")
    p.add_argument("--costs", metavar="LIST", help="say what further labels are worth: of each cell, such as fn=5,fp=2")
    p.add_argument("--per-check", type=float, metavar="P", help="of --costs: the price of a label")
    p.add_argument("--n-items", type=int, metavar="N", help="of --costs: items to be decided about")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws, for the metrics that need them")
    add_outputs(
        p, "posterior draws and summary as a netCDF DataTree", "a picture of the intervals, or of what labels are worth"
    )


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm audit``."""
    audit = _of_matrix(arguments) if arguments.totals is not None else _of_table(arguments)
    if arguments.allocate is not None or arguments.costs is not None:
        _next_labels(arguments, audit)
        return
    refuse(arguments, ["per_check", "n_items"], "is for --costs; give these")
    settings: dict[str, Any] = {"prior": None if arguments.prior is None else number_or_word(arguments.prior)}
    settings |= {"random_seed": arguments.seed}
    metrics = metric_list(arguments.metrics)
    table = bayescm.summary(audit, metrics, ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind, **settings)
    rows = of_summary(table)
    if arguments.unit is not None:
        _add_totals(rows, audit, arguments.unit)
    groups = _groups(audit)
    main, *of_classes = table.bayescm.tables(all_rows=True, by_class=arguments.unit is None)
    checked = f"{table.attrs['checked']:,} items checked, by what is known of all"
    if arguments.unit is not None:
        main = main.assign(**{name: [row.get(name, float("nan")) for row in rows] for name in _TOTALS})
    note = "point: the stratified estimate. " + of_draws(table)
    tell(
        arguments, table, "metrics", {"groups": groups, "metrics": rows},
        {"metrics": Table(main, note=note), "classes": Table((*of_classes, [])[0]), "groups": Table(groups, checked)},
        draw=lambda: bayescm.plots.plot_forest(table), data=lambda: with_draws(table, audit, metrics, settings),
    )  # fmt: skip


def _next_labels(arguments: argparse.Namespace, audit: "xr.DataArray") -> None:
    """Say where the next labels go, or what they are worth."""
    if arguments.allocate is not None and arguments.costs is not None:
        raise ValueError("give --allocate, to spend labels, or --costs, to see what they are worth; not both.")
    refuse(arguments, ["ci_prob", "ci_kind", "unit", "seed"], "is for a summary of metrics; leave it out")
    prior: Any = None if arguments.prior is None else number_or_word(arguments.prior)
    if arguments.allocate is not None:
        refuse(arguments, ["per_check", "n_items"], "is for --costs; leave it out")
        refuse(arguments, ["plot"], "is for a summary of metrics or --costs; leave it out")
        metrics = ["accuracy"] if arguments.metrics == _METRICS else metric_list(arguments.metrics)
        if metrics is None or len(metrics) != 1:
            raise ValueError("--allocate is for one share of all items; give one of --metrics, such as accuracy.")
        found = bayescm.planning.allocate(audit, arguments.allocate, metrics[0], prior=prior)
    else:
        refuse(arguments, ["metrics"], "is for a summary or --allocate; leave it out")
        if arguments.per_check is None or arguments.n_items is None:
            raise ValueError("--costs needs --per-check, the price of one, and --n-items, those to be decided about.")
        of = {"per_check": arguments.per_check, "n_items": arguments.n_items}
        found = bayescm.planning.label_value(audit, costs_of(arguments.costs), prior=prior, **of)
    tell(arguments, found, "labels", {"groups": _groups(audit)}, draw=lambda: _drawn(found))


def _drawn(found: "xr.Dataset") -> Any:
    """Draw what labels are worth."""
    from bayescm.plots.planning import draw_label_value  # late: it imports much

    return draw_label_value(found)


def _of_table(arguments: argparse.Namespace) -> "xr.DataArray":
    """Take rows of items, or counts of them, whose truth may be empty."""
    import pandas as pd

    refuse(arguments, ["side"], "is for a square matrix, with --totals; leave it out")
    frame = texts.read_text(arguments.file)
    names = [arguments.predicted, *(name for name in (arguments.stratum, arguments.count) if name)]
    for name in (arguments.actual, arguments.predicted):
        if name not in frame:
            texts.require(frame, arguments.file, [name])
    texts.require(frame, arguments.file, names)
    seen = (frame[arguments.actual] != "").to_numpy()
    if not seen.any():
        raise ValueError(f"column {arguments.actual!r} is empty in every row; wanted is the truth of some items.")
    true, verdict = texts.labels(frame[arguments.actual][seen], frame[arguments.predicted])
    actual = pd.Series([None] * len(frame), dtype=object)
    actual[seen] = true.tolist()
    columns = {arguments.actual: actual, arguments.predicted: verdict}
    columns |= {arguments.stratum: texts.labels(frame[arguments.stratum])[0]} if arguments.stratum else {}
    columns |= {arguments.count: texts.numbers(frame, arguments.count)} if arguments.count else {}
    checked = argparse.Namespace(**vars(arguments))
    label = pos_label(frame[seen], checked) if arguments.pos_label is not None else None
    return bayescm.audited(
        pd.DataFrame(columns), of=arguments.of, actual=arguments.actual, predicted=arguments.predicted,
        stratum=arguments.stratum, n=arguments.count, pos_label=label,
    )  # fmt: skip


def _of_matrix(arguments: argparse.Namespace) -> "xr.DataArray":
    """Take a square matrix of checked items, and the totals in its order."""
    refuse(arguments, ["stratum", "count"], "is for a table of items; leave it out, or leave out --totals")
    frame = texts.read_text(arguments.file)
    texts.require(frame, arguments.file, frame.columns)
    given = [word.rpartition("=") for word in arguments.totals.split(",")]
    try:
        values = [int(text) if text.strip().isdecimal() else float(text) for _, _, text in given]
    except ValueError:
        raise ValueError(f"--totals must be numbers with commas, or A=1,B=2; got {arguments.totals!r}.") from None
    others = ("tp", "fn", "fp", "tn", "unit", "by", "score", "threshold", "actual", "predicted", "count")
    whole = argparse.Namespace(**vars(arguments) | dict.fromkeys(others))
    whole.file, whole.parser = [arguments.file], argparse.ArgumentParser()
    counts = counts_of(whole)
    labels = counts["actual"].values.tolist()
    named = {name.strip(): value for (name, _, _), value in zip(given, values, strict=True) if name}
    if named and {str(label) for label in labels} != named.keys():
        raise ValueError(f"--totals must name {', '.join(map(str, labels))}; got {', '.join(named)}.")
    first = frame.iloc[:, 0].tolist()
    if not named and len(values) != len(labels):
        raise ValueError(f"--totals must have {len(labels)} numbers, one for each class; got {len(values)}.")
    totals = named or dict(zip(first, values, strict=False))
    return bayescm.audited(counts, [totals[str(label)] for label in labels], of=arguments.of)


def _groups(audit: "xr.DataArray") -> list[dict[str, Any]]:
    """Return a record per group of items: how many there are, and what was checked."""
    of, labels = strata.read(audit), audit["actual"].values.tolist()
    found = []
    for name, total, matrix in zip(of.names, of.totals, of.counts, strict=True):
        record = {
            "group": name or "all",
            "total": int(total) if total == int(total) else float(total),
            "checked": int(matrix.sum()),
        }
        truth = {f"actual {label}": int(n) for label, n in zip(labels, matrix.sum(1), strict=True)}
        found.append(record | (truth if len(labels) < 4 else {"right": int(matrix.trace())}))
    return found


def _add_totals(rows: list[dict[str, Any]], audit: "xr.DataArray", unit: float) -> None:
    """Add to every prevalence what it is in units, of all items."""
    whole = float(strata.read(audit).totals.sum()) * unit
    for row in rows:
        if str(row[METRIC]).startswith("prevalence"):
            row |= {name: row[name.partition("_")[2]] * whole for name in _TOTALS}
