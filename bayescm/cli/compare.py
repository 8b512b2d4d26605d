"""``bayescm compare``: by how much one system is better than another."""

import argparse
from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import pos_label
from bayescm.cli.inputs import systems_of as read_systems
from bayescm.cli.options import add_command, add_model, add_systems, metric_list, model_of, refuse
from bayescm.cli.output import add_outputs, ends, finite, named, positive, print_assumptions, print_records
from bayescm.cli.saving import written
from bayescm.cli.understood import matrices_of, print_counts
from bayescm.cli.understood import records as understood
from bayescm.data import texts
from bayescm.results.names import of_metric
from bayescm.results.systems import of_differences
from bayescm.results.writing import bounds, each

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm compare answers.csv --predicted A,B               columns actual, A, B: the same items
  bayescm compare answers.csv --predicted A,B --metrics recall,mcc --rope .01 --require "recall > .8"
  bayescm compare long.csv --by model --item question          columns model, question, correct: a row per answer
  bayescm compare runs.csv                                     columns system, item, run, correct: several runs
  bayescm compare systems.csv                                  columns tp,fn,fp,tn: a row, and a test set, per system
  bayescm compare scores.csv --score A --score B               areas under the ROC curve
  bayescm compare scores.csv --score score --by site           the same of independent samples, one per site
"""
_NOT_OF_SCORES = (
    "predicted", "metrics", "reference", "design", "rope", "margin", "require", "model", "prior", "prevalence",
    "ci_kind", "item", "runs",
)  # fmt: skip
_FLIPS = ("both_right", "only_first_right", "only_second_right", "both_wrong")


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "compare", "by how much one system is better than another", EPILOG, _run)
    add_systems(p)
    p.add_argument("--score", action="append", metavar="COLUMN", help="column of a system's scores; repeatable")
    p.add_argument("--direction", default="larger", help="scores that mean positive: larger (default) or smaller")
    p.add_argument("--method", default="bayesian", help="of --score: bayesian (default), delong or bootstrap")
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces (default: accuracy)")
    p.add_argument("--reference", metavar="SYSTEM", help="compare the others with it (default: all pairs)")
    p.add_argument("--design", help="independent or paired (default: as the file has it)")
    p.add_argument("--rope", type=float, default=0.0, metavar="D", help="differences of at most D count as none (0)")
    p.add_argument("--margin", type=float, default=0.0, metavar="D", help="say P(better by more than D)")
    p.add_argument("--require", action="append", metavar="CLAIM", help="say P(CLAIM) of each system; repeatable")
    add_model(p)
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "draws and tables as a netCDF DataTree", "a picture of the first difference")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm compare``."""
    if arguments.score:
        _areas(arguments)
        return
    refuse(arguments, ["direction", "method"], "is for --score; leave it out")
    systems = read_systems(arguments)
    counts = matrices_of(systems)
    tree = bayescm.compare_systems(
        systems, metric_list(arguments.metrics) or "accuracy", reference=arguments.reference,
        design=arguments.design, rope=arguments.rope, margin=arguments.margin,
        require=arguments.require, ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind, random_seed=arguments.seed,
        **model_of(arguments),
    )  # fmt: skip
    parts = {name: tree.children[name].to_dataset() for name in ("summary", "tests", "flips") if name in tree.children}
    made = {
        "differences": of_differences(parts["summary"]), "requirements": _requirements(parts["summary"]),
        "flips": _flips(parts["flips"]) if "flips" in parts else [], "tests": _tests(parts["tests"]),
    }  # fmt: skip
    document = {"settings": dict(tree.attrs)} | {name: finite(records) for name, records in made.items() if records}
    document |= {} if counts is None else {"counts": understood(counts)}
    first = [str(parts["summary"][dim].values[0]) for dim in ("metric", "comparison")]
    picture = partial(bayescm.plot_difference, tree, *first)
    if not written(arguments, lambda: tree, lambda: document, "differences", picture):
        if counts is not None:
            print_counts(counts)
        _print(made, tree.attrs)


def _requirements(table: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per claim and system."""
    if "requirement" not in table:
        return []
    cells = each(table[["requirement"]], "requirement")
    return [names | {"probability": float(cell["requirement"])} for names, cell in cells]


def _flips(table: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per comparison and actual class."""
    cells = each(table, "both_right")
    return [names | {str(name): int(cell[name]) for name in cell.data_vars} for names, cell in cells]


def _tests(table: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per comparison, metric and test that there is."""
    records = []
    for names, cell in each(table, "p_value", "test"):
        values = {str(test): float(cell["p_value"].sel(test=test)) for test in cell["test"].values}
        values |= bounds(cell["paired_t" if "paired_t" in cell else "newcombe"])
        if any(value == value for value in values.values()):
            records.append(names | of_metric(cell) | values)
    return records


def _print(made: dict[str, list[dict[str, Any]]], attrs: Mapping[Any, Any]) -> None:
    """Print the tables: of differences one for each metric, or one for a single comparison."""
    differences = [named(record) for record in made["differences"]]
    alone = len({record["comparison"] for record in differences}) == 1
    title, row = ("comparison", "metric") if alone else ("metric", "comparison")
    for name in dict.fromkeys(record[title] for record in differences):
        _print_differences([one for one in differences if one[title] == name], name, row, attrs)
    if made["requirements"]:
        print_records(
            made["requirements"], "requirements", "probability: posterior" + positive(attrs), left=["claim", "system"]
        )
    if made["flips"]:
        rows = [{name: row[name] for name in ("comparison", "actual", *_FLIPS)} for row in made["flips"]]
        print_records(rows, "the same items", "how many were answered how", left=["comparison", "actual"])
    if made["tests"]:
        level = f"{100 * attrs['ci_prob']:g}%"
        whose = "the t-test's" if "paired_t" in made["tests"][0] else "Newcombe's"
        caption = f"p-values of no difference; lower, upper: {whose} {level} interval" + positive(attrs)
        print_records(made["tests"], "without a prior", caption, left=["comparison", "metric"])
    print_assumptions(attrs)


def _print_differences(records: list[dict[str, Any]], name: str, row: str, attrs: Mapping[Any, Any]) -> None:
    """Print the differences of a metric, or of a comparison."""
    sides = [side for side in ("worse", "equivalent", "better") if attrs["rope"] or side != "equivalent"]
    rows = []
    for record in records:
        found = {row: record[row], "point": record["point"]}
        found["interval"] = ends(record)
        found |= {side: record[side] for side in sides}
        found |= {f"> {attrs['margin']:g}": record["superiority"]} if attrs["margin"] else {}
        paired = "reason" in record
        found |= {"items": f"{record['only_first']} : {record['only_second']}"} if paired else {}
        few = f": {record['reason']}" if paired and record["reason"].startswith(("only", "no")) else ""
        rows.append(found | {"verdict": record["verdict"] + few})
    kind = str(attrs["ci_kind"]).upper()
    title = f"{name}, {attrs['design']}, prior {attrs['prior']}, {100 * attrs['ci_prob']:g}% {kind}"
    title += f", rope {attrs['rope']:g}" if attrs["rope"] else ""
    drawn = [record["mcse"] for record in records if record["method"] == "draws"]
    about = "computed without draws"
    if drawn:
        about = f"by draws{'' if len(drawn) == len(records) else ' or without'}, ±{max(drawn):.1g}"
    items = " items: for the first alone, and for the second." if "items" in rows[0] else ""
    caption = f"{', '.join(sides)}: {about}.{items} {attrs['meaning']}" + positive(attrs)
    print_records(rows, title, caption, left=[row, "verdict"])


def _areas(arguments: argparse.Namespace) -> None:
    """Compare areas under the ROC curve."""
    import xarray as xr

    refuse(arguments, ["plot"], "doesn't apply to --score; bayescm curve --plot draws them")
    refuse(arguments, _NOT_OF_SCORES, "doesn't apply to --score; leave it out")
    settings = {"method": arguments.method, "ci_prob": arguments.ci_prob, "direction": arguments.direction,
                "random_seed": arguments.seed}  # fmt: skip
    found = (_same_items if arguments.by is None else _samples)(arguments, settings)
    said = next(iter(found.values())).attrs
    kept = ("design", "positive_class", "assumptions", "random_seed")
    attrs = {name: said[name] for name in kept if name in said}
    last = "probability_better" if arguments.method == "bayesian" else "p_value"
    records = []
    for name, one in found.items():
        areas = dict(zip(("first", "second"), one["auc"].values.tolist(), strict=True))
        difference = {"difference": float(one["point"])} | bounds(one["interval"])
        records.append({"comparison": name} | areas | difference | {last: float(one[last])})
    made = {"settings": {"method": arguments.method, "ci_prob": arguments.ci_prob} | attrs, "areas": finite(records)}
    names = xr.DataArray(list(found), dims="comparison", name="comparison")
    if written(arguments, lambda: xr.concat(found.values(), names), lambda: made, "areas"):
        return
    title = f"areas under the ROC curve, {attrs['design']}, {arguments.method}, {100 * arguments.ci_prob:g}% interval"
    told = {"p_value": "p_value: of no difference", "probability_better": "probability_better: of the first"}[last]
    print_records(records, title, told + positive(attrs), left=["comparison"])
    print_assumptions(attrs)


def _same_items(arguments: argparse.Namespace, settings: dict[str, Any]) -> "dict[str, xr.Dataset]":
    """Return what is known of every pair of scores."""
    if len(set(arguments.score)) < max(2, len(arguments.score)):
        raise ValueError(
            "--score must name two different columns at least, one per system; or one column with --by, of independent "
            "samples."
        )
    frame = texts.read_text(arguments.file)
    texts.require(frame, arguments.file, [arguments.actual, *arguments.score])
    (true,), label = texts.labels(frame[arguments.actual]), pos_label(frame, arguments)
    scores = {name: texts.numbers(frame, name) for name in arguments.score}
    return {
        f"{a} - {b}": bayescm.auc_difference(true, {a: scores[a], b: scores[b]}, pos_label=label, **settings)
        for a, b in combinations(scores, 2)
    }


def _samples(arguments: argparse.Namespace, settings: dict[str, Any]) -> "dict[str, xr.Dataset]":
    """Return what is known of every pair of samples, which ``--by`` tells apart."""
    if len(arguments.score) != 1:
        raise ValueError("--by compares samples by one column of scores; give one --score.")
    frame = texts.read_text(arguments.file)
    texts.require(frame, arguments.file, [arguments.actual, arguments.by, *arguments.score])
    true, sample = (texts.labels(frame[name])[0] for name in (arguments.actual, arguments.by))
    score = texts.numbers(frame, arguments.score[0])
    names = list(dict.fromkeys(sample.tolist()))
    if len(names) < 2:
        raise ValueError(f"--by must tell two samples apart at least; {arguments.by!r} has only {names[0]!r}.")
    settings = settings | {"pos_label": pos_label(frame, arguments), "design": "independent"}
    found = {}
    for pair in combinations(names, 2):
        labels, scores = ({name: values[sample == name] for name in pair} for values in (true, score))
        found[" - ".join(map(str, pair))] = bayescm.auc_difference(labels, scores, **settings)
    return found
