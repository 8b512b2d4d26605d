"""``bayescm latent``: how good tests are, and how frequent the disease is, where nobody knows the truth."""

import argparse
import contextlib
import logging
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import bayescm
from bayescm.cli.inputs import pos_label
from bayescm.cli.options import add_command, numbers, refuse
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.data import texts
from bayescm.distributions.sample import Draws
from bayescm.results.writing import each, percent, show

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm latent answers.csv --tests tine,mantoux --by site    a row per item: two tests, two populations or more
  bayescm latent answers.csv --tests A,B,C                     three tests need one population
  bayescm latent answers.csv --tests A,B --known B=.9,.95      one of them with known sensitivity and specificity
  bayescm latent 30 300 --known .9,.95                         30 of 300 positive by a test of known errors
"""
_RATES = ("true_prevalence", "test_sensitivity", "test_specificity")


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "latent", "prevalence and errors of tests without a gold standard", EPILOG, _run)
    p.add_argument("file", nargs="+", help="CSV file with a row per item; or two numbers: positives of n")
    p.add_argument("--tests", metavar="LIST", help="columns with the answers of the tests, with commas")
    p.add_argument("--by", metavar="COLUMN", help="column that names the population of each row")
    p.add_argument("--pos-label", metavar="LABEL", help="the positive answer (default: 1, or that of yes, no)")
    p.add_argument("--known", action="append", metavar="TEST=SE,SP", help="a test's sensitivity, specificity")
    p.add_argument("--dependence", action="store_true", help="tests may err together, on the same difficult items")
    p.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="probability of the interval (0.95)")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the posterior as a netCDF DataTree", None)


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm latent``."""
    counts = _of_numbers(arguments) if len(arguments.file) == 2 else _of_answers(arguments)
    tests = [str(dim) for dim in counts.dims if dim != "population"]
    known = dict(_known(text, tests) for text in arguments.known or [])
    logging.getLogger("bayescm").info("compiling and sampling with NUTS, about half a minute")
    with contextlib.redirect_stdout(sys.stderr):  # where the progress bar goes
        tree = bayescm.posterior(
            counts, model="latent_class", known=known, dependence=arguments.dependence, random_seed=arguments.seed,
            progressbar=sys.stderr.isatty(), quiet=True,
        )  # fmt: skip
    rows = _records(tree["posterior"].to_dataset(), arguments.ci_prob)
    one = len(tests) == 1 and None not in next(iter(known.values()), (None,))
    plug_in = bayescm.inference.rogan_gladen(counts.values[1] / counts.values.sum(), *known[tests[0]]) if one else None
    document: dict[str, Any] = {"rates": rows}
    note = ""
    if plug_in is not None:
        document["rogan_gladen"] = float(plug_in)
        note = f"Rogan and Gladen's plug-in prevalence: {show(float(plug_in))}"
    title = f"latent_class, prior {tree.attrs['prior']}, {percent(arguments.ci_prob)} ETI, draws of NUTS"
    tell(arguments, tree, "rates", document, {"rates": Table(rows, title, note)})


def _of_numbers(arguments: argparse.Namespace) -> "xr.DataArray":
    """Take two numbers for the positive answers of one test, and all its answers."""
    import xarray as xr

    refuse(arguments, ["tests", "by", "pos_label"], "is of a file; leave it out")
    if not all(word.isdecimal() for word in arguments.file) or int(arguments.file[0]) > int(arguments.file[1]):
        raise ValueError(f"give one CSV file, or two whole numbers: positives of n; got {' '.join(arguments.file)}.")
    k, n = map(int, arguments.file)
    return xr.DataArray([n - k, k], {"the test": [0, 1]}, name="counts")


def _of_answers(arguments: argparse.Namespace) -> "xr.DataArray":
    """Count how often each pattern of answers occurred, in each population."""
    import xarray as xr

    if len(arguments.file) > 1 or arguments.tests is None:
        raise ValueError(
            "give one CSV file, and --tests, the columns with the answers; or two numbers: positives of n."
        )
    frame, tests = texts.read_text(arguments.file[0]), [name.strip() for name in arguments.tests.split(",")]
    texts.require(frame, arguments.file[0], [*tests, *([arguments.by] if arguments.by else [])])
    positive = pos_label(frame, argparse.Namespace(actual=tests[0], predicted=tests, pos_label=arguments.pos_label))
    answers = texts.labels(*(frame[name] for name in tests))
    where = frame[arguments.by].to_numpy() if arguments.by else np.full(len(frame), "all")
    labels = bayescm.confusion_matrix(np.concatenate(answers), np.concatenate(answers), pos_label=positive)["actual"]
    parts = []
    for name in (populations := list(dict.fromkeys(where))):
        codes = [(one[where == name] == labels.values[1]).astype(int) for one in answers]
        parts.append(np.bincount(np.ravel_multi_index(codes, (2,) * len(tests)), minlength=2 ** len(tests)))
    values = np.reshape(parts, (len(populations), *(2,) * len(tests)))
    coords = {"population": populations} | dict.fromkeys(tests, labels.values)
    return xr.DataArray(values, coords, name="counts")


def _known(text: str, tests: list[str]) -> tuple[str, tuple[Any, ...]]:
    """Read the sensitivity and the specificity of a test."""
    name, equals, pair = text.rpartition("=")
    if not equals and len(tests) > 1:
        raise ValueError(f"--known must name the test, such as {tests[0]}=.9,.95; got {text!r}.")
    rates = tuple(None if part.strip() == "" else numbers("--known", part)[0] for part in pair.split(","))
    if len(rates) != 2:
        raise ValueError(f"--known must have a sensitivity and a specificity, such as .9,.95; got {text!r}.")
    return (name if equals and len(tests) > 1 else tests[0]), rates


def _records(posterior: "xr.Dataset", ci_prob: float) -> list[dict[str, Any]]:
    """Return a record per rate."""
    records = []
    for rate in _RATES:
        for names, one in each(posterior[[rate]], rate, "chain", "draw"):
            draws = one[rate].values.ravel()
            found = Draws(draws).statistics(ci_prob, "eti") | ({"sd": 0.0} if np.ptp(draws) == 0 else {})  # known
            numbers = {name: float(found[name]) for name in ("mean", "sd", "lower", "upper")}
            records.append({"rate": rate.partition("_")[2], "of": str(*names.values())} | numbers)
    return records
