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
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.cli.understood import matrices_of
from bayescm.data import texts
from bayescm.data.schema import UNIT
from bayescm.results.display import NAMES
from bayescm.results.names import of_metric
from bayescm.results.writing import bounds, each, percent

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm compare answers.csv --predicted A,B               columns actual, A, B: the same items
  bayescm compare answers.csv --predicted A,B --metrics recall,mcc --rope .01 --require "recall > .8"
  bayescm compare long.csv --by model --item question          columns model, question, correct: a row per answer
  bayescm compare runs.csv                                     columns system, item, run, correct: several runs
  bayescm compare systems.csv                                  columns tp,fn,fp,tn: a row, and a test set, per system
  bayescm compare systems.csv --stratum site                   the same by site: at the sites' shares of all items
  bayescm compare scores.csv --score A --score B               areas under the ROC curve
  bayescm compare scores.csv --score score --by site           the same of independent samples, one per site
"""
_NOT_OF_SCORES = (
    "predicted", "metrics", "reference", "design", "rope", "require", "tests", "model", "prior", "prevalence",
    "ci_kind", "item", "runs", "average", "stratum",
)  # fmt: skip
_TITLES = {
    "requirements": "posterior probability of requirements",
    "flips": "the same items: how many were answered how",
    "tests": "without a prior: p-values of no difference, and an interval of it",
}
_NOT_PRINTED = (
    "mcnemar_chi2",
    "mcnemar_corrected",
    "boschloo_exact",
    "barnard_exact",
    "mantel_haenszel_corrected",
)  # unless asked for


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "compare", "by how much one system is better than another", EPILOG, _run)
    add_systems(p)
    p.add_argument("--score", action="append", metavar="COLUMN", help="column of a system's scores; repeatable")
    p.add_argument("--direction", default="larger", help="scores that mean positive: larger (default) or smaller")
    p.add_argument(
        "--method",
        default="bayesian",
        help="of --score: bayesian (default), delong, delong_t (of --by), bootstrap or venkatraman",
    )
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces (default: accuracy)")
    p.add_argument("--reference", metavar="SYSTEM", help="compare the others with it (default: all pairs)")
    p.add_argument("--design", help="independent or paired (default: as the file has it)")
    p.add_argument("--rope", type=float, default=0.0, metavar="D", help="differences of at most D count as none (0)")
    p.add_argument("--require", action="append", metavar="CLAIM", help="say P(CLAIM) of each system; repeatable")
    p.add_argument("--tests", action="store_true", help="all tests of no difference, also those that others print")
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
    metrics: dict[str, Any] = {"metrics": metric_list(arguments.metrics)} if arguments.metrics else {}
    tree = bayescm.compare_systems(
        systems, **metrics, reference=arguments.reference, design=arguments.design, rope=arguments.rope,
        require=arguments.require, ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind, random_seed=arguments.seed,
        **model_of(arguments),
    )  # fmt: skip
    parts = {name: tree.children[name].to_dataset() for name in ("summary", "tests", "flips") if name in tree.children}
    made = {
        "requirements": _requirements(parts["summary"]), "flips": _flips(parts["flips"]) if "flips" in parts else [],
        "tests": _tests(parts["tests"], arguments.tests) if "tests" in parts else [],
    }  # fmt: skip
    made = {name: rows for name, rows in made.items() if rows}
    tables = {name: Table(rows, _TITLES[name]) for name, rows in made.items()}
    first = [str(parts["summary"][dim].values[0]) for dim in ("metric", "comparison")]
    draw = partial(bayescm.plots.plot_difference, tree, *first)
    tell(arguments, tree, "differences", made, tables, counts=counts, note=str(tree.attrs["meaning"]), draw=draw)


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


def _tests(table: "xr.Dataset", every: bool) -> list[dict[str, Any]]:
    """Return a record per comparison, metric and test that there is, those that few ask for if `every` one is."""
    records = []
    for names, cell in each(table, "p_value", "test"):
        tests = [str(test) for test in cell["test"].values if every or test not in _NOT_PRINTED]
        values = {test: float(cell["p_value"].sel(test=test)) for test in tests}
        if "common_odds_ratio" in cell:  # over strata
            values |= {"breslow_day_tarone": float(cell["breslow_day_tarone"])} if every else {}
            values |= {"odds_ratio": float(cell["common_odds_ratio"])}
        values |= bounds(cell[next(name for name in ("paired_t", "newcombe", "odds_ratio") if name in cell)])
        if any(value == value for value in values.values()):
            records.append(names | of_metric(cell) | values)
    return records


def _areas(arguments: argparse.Namespace) -> None:
    """Compare areas under the ROC curve."""
    import pandas as pd
    import xarray as xr

    refuse(arguments, ["plot"], "doesn't apply to --score; bayescm curve --plot draws them")
    refuse(arguments, _NOT_OF_SCORES, "doesn't apply to --score; leave it out")
    settings = {"method": arguments.method, "ci_prob": arguments.ci_prob, "direction": arguments.direction,
                "random_seed": arguments.seed}  # fmt: skip
    found = (_same_items if arguments.by is None else _samples)(arguments, settings)
    names = xr.DataArray(list(found), dims="comparison", name="comparison")
    said = next(iter(found.values()))
    kept = ("design", "positive_class", "assumptions", "random_seed", UNIT, "units")
    settings = {"method": arguments.method, "ci_prob": arguments.ci_prob}
    settings |= {name: said.attrs[name] for name in kept if name in said.attrs}
    last = "probability_better" if arguments.method == "bayesian" else "p_value"
    rows = []
    for name, one in found.items():
        areas = dict(zip(("first", "second"), one["auc"].values.tolist(), strict=True))
        difference = {"difference": float(one["point"])} | bounds(one["interval"])
        rows.append({"comparison": name} | areas | difference | {last: float(one[last])})
    told = {"p_value": "p_value: of no difference", "probability_better": "P(better): that the first is larger"}[last]
    title = (
        f"areas under the ROC curve, {settings['design']}, {arguments.method}, {percent(arguments.ci_prob)} interval"
    )
    only = said if len(found) == 1 else xr.Dataset(attrs=settings)  # of one difference there is a sentence
    tables = {"areas": Table(pd.DataFrame(rows).rename(columns=NAMES), title, told)}
    document = {"settings": settings, "areas": rows}
    tell(arguments, only, "areas", document, tables, data=lambda: xr.concat(found.values(), names))


def _same_items(arguments: argparse.Namespace, settings: dict[str, Any]) -> "Mapping[str, xr.Dataset]":
    """Return what is known of every pair of scores."""
    if len(set(arguments.score)) < max(2, len(arguments.score)):
        raise ValueError(
            "--score must name two different columns at least, one per system; or one column with --by, of independent "
            "samples."
        )
    frame = texts.read_text(arguments.file)
    units = [] if arguments.unit is None else [arguments.unit]
    texts.require(frame, arguments.file, [arguments.actual, *arguments.score, *units])
    settings = settings | ({"unit": texts.labels(frame[arguments.unit])[0]} if units else {})
    (true,), label = texts.labels(frame[arguments.actual]), pos_label(frame, arguments)
    scores = {name: texts.numbers(frame, name) for name in arguments.score}
    return {
        f"{a} - {b}": bayescm.curves.auc_difference(true, {a: scores[a], b: scores[b]}, pos_label=label, **settings)
        for a, b in combinations(scores, 2)
    }


def _samples(arguments: argparse.Namespace, settings: dict[str, Any]) -> "Mapping[str, xr.Dataset]":
    """Return what is known of every pair of samples, which ``--by`` tells apart."""
    refuse(arguments, ["unit"], "doesn't apply to --by, samples of their own; leave it out")
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
        found[" - ".join(map(str, pair))] = bayescm.curves.auc_difference(labels, scores, **settings)
    return found
