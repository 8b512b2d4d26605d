"""``bayescm gate``: whether a new system may take the place of the old one, as a sentence and as an exit code."""

import argparse
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import bayescm
from bayescm.cli.hints import NoFileError
from bayescm.cli.options import add_command, metric_list
from bayescm.cli.output import Table, add_outputs, of_draws, tell
from bayescm.data.files import replace
from bayescm.results.escape import for_markdown
from bayescm.results.gates import CHECK, changes
from bayescm.results.writing import as_markdown

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm gate new.json old.json                     logs of inspect_ai, lm-eval, promptfoo, DeepEval, MLflow, ...
  bayescm gate new.jsonl old.jsonl --margin .02      shown not to be worse by more than 2 points, else it fails
  bayescm gate new.csv old.csv --by task --unit doc  each task too, none by chance; items of a document are alike
  bayescm gate new.csv old.csv --metrics f1,mcc --pos-label spam   columns actual and predicted
  bayescm gate new.csv old.csv --metrics auc         columns item, actual and score
  bayescm gate new.csv --min-accuracy .9             without an old system: a floor
  bayescm gate both.csv --by task --reference v1     columns system, item, correct: both in one file
  bayescm gate --correct 96 --n 120 --old-correct 90 --old-n 120
  bayescm gate --config gate.toml --junit gate.xml --summary "$GITHUB_STEP_SUMMARY"
exit code: 0 passes; 3 fails: worse, a floor missed, or undecided where --margin or a floor asks for proof
  (--undecided pass, or fail, says otherwise); 2 an error, said in one line: nothing was judged
"""
FAILED = 3
"""The exit code of a system that may not pass."""
_SHOWN = 10
_CONFIG = ("new", "old", "metrics", "margin", "rope", "require", "min_accuracy", "by", "unit", "item", "actual", "run",
           "predicted", "correct", "score", "pos_label", "missing", "reference", "undecided", "ci_prob",
           "seed")  # fmt: skip


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "gate", "may a new system take the place of the old one? An exit code", EPILOG, _run)
    p.add_argument("files", nargs="*", metavar="NEW [OLD]", help="answers of the new and of the old system")
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces (default: accuracy)")
    p.add_argument("--margin", type=float, metavar="D", help="show that it isn't worse by more than D (.02: 2 points)")
    p.add_argument("--rope", type=float, metavar="D", help="differences of at most D are neither better nor worse (0)")
    p.add_argument("--min-accuracy", type=float, metavar="P", help='a floor: --require "accuracy >= P"')
    p.add_argument("--require", action="append", metavar="CLAIM", help="a floor of the new system; repeatable")
    p.add_argument("--by", metavar="COLUMN", help="column of tasks, all of which are asked at once")
    p.add_argument("--unit", metavar="COLUMN", help="column of what was sampled, with several rows each")
    p.add_argument("--reference", metavar="SYSTEM", help="the old system, where one file has both")
    p.add_argument("--undecided", choices=("pass", "fail"), help="what undecided does (fail where proof is asked)")
    p.add_argument("--item", metavar="COLUMN", help="column that names the item of each row")
    p.add_argument("--run", dest="run_column", metavar="COLUMN", help="column that numbers several runs of an item")
    p.add_argument(
        "--correct", metavar="COLUMN|K", help="column of right and wrong, or a log's score; or K right of --n"
    )
    p.add_argument("--n", type=int, metavar="N", help="items, of which --correct were right")
    p.add_argument("--old-correct", type=int, metavar="K", help="the same of the old system")
    p.add_argument("--old-n", type=int, metavar="N", help="the same of the old system")
    p.add_argument("--actual", metavar="COLUMN", help="column of actual labels")
    p.add_argument("--predicted", metavar="COLUMN", help="column of predicted labels")
    p.add_argument("--score", metavar="COLUMN", help="column of scores, for --metrics auc or average_precision")
    p.add_argument("--pos-label", metavar="LABEL", help="the positive class")
    p.add_argument(
        "--missing", choices=("refuse", "wrong"), help="answers without a score: an error (default), or wrong"
    )
    p.add_argument("--config", metavar="FILE", help="gate.toml: these options, and [task.NAME] with rules of its own")
    p.add_argument("--ci-prob", type=float, metavar="P", help="with which all verdicts hold at once (0.95)")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws (default: always the same)")
    p.add_argument("--junit", metavar="FILE", help="write JUnit XML, a test case for each check")
    p.add_argument("--summary", metavar="FILE", help="append the Markdown to a file, as forges show it")
    add_outputs(p, "the result as a netCDF Dataset", None)


def _run(arguments: argparse.Namespace) -> int:
    """Carry out ``bayescm gate``."""
    said, rules = _settings(arguments)
    result = bayescm.gate(**_given(said), rules=rules or None)
    found = changes(result)
    markdown = _markdown(result, found)
    if arguments.summary:
        with Path(arguments.summary).open("a", encoding="utf-8") as file:
            file.write(markdown + "\n")
    if arguments.junit:
        replace(Path(arguments.junit), _junit(result).encode())
    if arguments.markdown:
        print(markdown, end="")
    else:
        document = {"verdict": result.attrs["verdict"], "passed": bool(result.attrs["passed"]), "items": found}
        names = Table(_names(found), "items by name") if any(found.values()) else None
        tables = {} if names is None else {"items": names}
        tell(arguments, result, "checks", document, tables, note=of_draws(result))
    return 0 if result.attrs["passed"] else FAILED


def _settings(arguments: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is asked, by the file of settings and by options, which come first; and the rules of tasks."""
    said: dict[str, Any] = {}
    if arguments.config:
        try:
            said = tomllib.loads(Path(arguments.config).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{arguments.config} can't be read as TOML: {error}.") from None
    rules = said.pop("task", {})
    if unknown := [name for name in said if name not in _CONFIG]:
        raise ValueError(f"{arguments.config} has {unknown[0]!r}; it may have {', '.join(_CONFIG)} and [task.NAME].")
    for name, file in zip(("new", "old"), arguments.files, strict=False):
        said[name] = file
    if len(arguments.files) > 2:
        raise ValueError(f"give one or two files, NEW and OLD; got {len(arguments.files)}.")
    known = dict(vars(arguments))
    known["run"] = known.pop("run_column")
    said |= {name: known[name] for name in (*_CONFIG, "n", "old_correct", "old_n") if known.get(name) is not None}
    for task, rule in rules.items():
        if not isinstance(rule, dict):
            raise ValueError(f"{arguments.config}: [task.{task}] must be a table of rules; got {rule!r}.")
        rules[task] = _floors(dict(rule))
    return _floors(said), rules


def _floors(said: dict[str, Any]) -> dict[str, Any]:
    """Return settings with their floors as claims."""
    least = said.pop("min_accuracy", None)
    given = said.pop("require", [])
    claims = [*([given] if isinstance(given, str) else given), *([] if least is None else [f"accuracy >= {least:g}"])]
    return said | ({"require": claims} if claims else {})


def _given(said: dict[str, Any]) -> dict[str, Any]:
    """Return what the library is asked."""
    correct = str(said.get("correct", ""))
    if correct.isdecimal() and "n" in said:
        if "new" in said:
            raise ValueError("--correct and --n are in place of a file; give one of them.")
        said["new"] = (int(said.pop("correct")), said.pop("n"))
        if "old_correct" in said and "old_n" in said:
            said["old"] = (said.pop("old_correct"), said.pop("old_n"))
    if odd := [name for name in ("n", "old_correct", "old_n") if name in said]:
        raise ValueError(f"--{odd[0].replace('_', '-')}: k of n is --correct 96 --n 120 --old-correct 90 --old-n 120.")
    if "new" not in said:
        raise NoFileError("give the file of the new system (- for what is piped), or --correct and --n.")
    said |= {"metrics": metric_list(said["metrics"])} if isinstance(said.get("metrics"), str) else {}
    named = ("item", "run", "correct", "actual", "predicted", "score")
    columns = {name: said.pop(name) for name in named if name in said}
    seed = {"random_seed": said.pop("seed")} if "seed" in said else {}
    return said | seed | ({"columns": columns} if columns else {})


def _names(found: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return a row for each way in which items changed."""
    rows = []
    for what, names in found.items():
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        rows += [{"items": what, "number": len(names), "which": ", ".join(names[:_SHOWN]) + more}] if names else []
    return rows


def _markdown(result: "xr.Dataset", found: dict[str, list[str]]) -> str:
    """Return what is shown on a forge: verdict, table, and the items that changed, folded."""
    passed = "passed" if result.attrs["passed"] else "failed"
    lines = [f"### Gate {passed}: {result.attrs['verdict']}", "", for_markdown(result.bayescm.sentence), ""]
    lines += [result.bayescm.to_markdown().rstrip("\n"), ""]
    if rows := _names(found):
        lines += ["<details><summary>Items by name</summary>", "", as_markdown(Table(rows).frame()).rstrip("\n"), ""]
        lines += ["</details>", ""]
    return "\n".join([*lines, for_markdown(" ".join(result.bayescm.assumptions.splitlines())), ""])


def _junit(result: "xr.Dataset") -> str:
    """Return JUnit XML: a test case for each check, which fails where it lets nothing pass."""
    cases, failures, skipped = [], 0, 0
    for one in (result.isel({CHECK: [i]}) for i in range(result.sizes[CHECK])):
        verdict, record = str(one["verdict"].item()), one.bayescm.table().iloc[0]
        values = {name: f"{record[name]:.4g}" for name in ("new", "old", "lower", "upper")}
        said = f"{verdict}: " + ", ".join(f"{name} {value}" for name, value in values.items() if value != "nan")
        body = ""
        if not bool(one["passes"].item()):
            failures, body = failures + 1, f"<failure message={quoteattr(said)}/>"
        elif verdict == "undecided":
            skipped, body = skipped + 1, f"<skipped message={quoteattr(said)}/>"
        name = quoteattr(str(one[CHECK].values[0]))
        cases.append(f'  <testcase classname="bayescm.gate" name={name}>{body}</testcase>')
    head = f'<testsuite name="bayescm gate" tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}">'
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *cases, "</testsuite>", ""])
