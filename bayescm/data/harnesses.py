"""Logs of evaluations, told by what stands in them: whose they are, and which answers they hold."""

import contextlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

from bayescm.data import eval_logs
from bayescm.data.labels import some
from bayescm.data.logged import Answer, or_wrong, together
from bayescm.data.records import records_of

type Rows = list[dict[str, Any]]

MISSING = ("refuse", "wrong")
"""What becomes of an answer without a score."""
_LONG = 80  # letters of an item's name that was its input


class Log(NamedTuple):
    """A file, whose it is and what stands in it."""

    path: Path
    harness: "Harness"
    content: Any


class Harness(NamedTuple):
    """What writes logs of one format.

    Attributes
    ----------
    name : str
    rows : callable
        Takes what stands in a file; returns its rows, or None where the file is something else.
    answers : callable
        Takes a log and the name of the score that counts, or None; gives the answers.
    """

    name: str
    rows: Callable[[Any], Any]
    answers: Callable[[Log, str | None], Iterator[Answer]]


def logs_of(source: Any) -> list[Log] | None:
    """Return the logs at a path, or in a sequence of paths; None of anything else."""
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        several = [logs_of(one) for one in source]
        return [log for logs in several for log in logs or ()] if all(several) else None
    if not isinstance(source, str | PathLike) or "\n" in str(source) or not Path(source).exists():
        return None
    path = Path(source)
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.suffix in (".eval", ".json", ".jsonl"))
        found = [log for one in files if (log := _log(one)) is not None]
        if not found:
            raise ValueError(f"The folder {str(path)!r} has no log of {some([one.name for one in HARNESSES])}.")
        return found
    log = _log(path)
    return None if log is None else [log]


def from_logs(logs: Sequence[Log], score: str | None, missing: str | None, *, alone: bool = False) -> xr.Dataset:
    """Return which items each system got right, as :func:`bayescm.predictions`."""
    whose = {log.harness.name for log in logs}
    answers = (one for log in logs for one in log.harness.answers(log, score))
    return together(answers, " and ".join(sorted(whose)), or_wrong if missing == "wrong" else None, alone=alone)


def _log(path: Path) -> Log | None:
    """Return a file as a log, if it is one."""
    if zipfile.is_zipfile(path) and path.suffix == ".eval":
        return Log(path, HARNESSES[0], eval_logs.inspect_log(path))
    if path.suffix.casefold() not in (".json", ".jsonl"):
        return None
    content = records_of(path)
    for harness in HARNESSES:
        if rows := harness.rows(content):
            return Log(path, harness, rows)
    return None


def _rows_with(content: Any, *names: str) -> Rows | None:
    """Return rows that all have these entries; None of anything else."""
    known = isinstance(content, list) and content and all(isinstance(one, dict) for one in content)
    return content if known and all(name in one for one in content for name in names) else None


def _in(content: Any, *names: str) -> Any:
    """Return what stands below names, one in the other."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content


def _of_inspect(content: Any) -> Any:
    return content if isinstance(_in(content, "eval"), dict) and "status" in content else None


def _inspect(log: Log, score: str | None) -> Iterator[Answer]:
    checked = eval_logs.finished(log.content, log.path)
    return eval_logs.of_log(checked, None, score)


def _lm_eval(log: Log, score: str | None) -> Iterator[Answer]:
    metric, _, chosen = (score or "").partition(",")  # as the harness writes "exact_match,strict-match"
    return eval_logs.of_samples(log.path, log.content, None, metric or None, chosen or None)


def _of_promptfoo(content: Any) -> Rows | None:
    rows = _in(content, "results", "results") or _in(content, "results") or content
    return _rows_with(rows, "success", "provider", "vars")


def _promptfoo(log: Log, score: str | None) -> Iterator[Answer]:
    """Give a row each: an item is a test's variables, which come again where it is repeated."""
    prompts = {_in(row, "prompt", "label") for row in log.content}
    seen: dict[tuple[str, str], int] = {}
    for row in log.content:
        provider = row["provider"] if isinstance(row["provider"], dict) else {"id": row["provider"]}
        system = provider.get("label") or provider.get("id")
        system = f"{system}, {_in(row, 'prompt', 'label')}" if len(prompts) > 1 else system
        checks = _in(row, "gradingResult", "componentResults") or []
        each = {_in(one, "assertion", "metric"): one.get("pass") for one in checks if _in(one, "assertion", "metric")}
        value = None if row.get("failureReason") == 2 or row.get("error") and not checks else row["success"]  # noqa: RUF021
        value = value if score is None or value is None else _chosen(each, score, log)
        test = row.get("testCase") or {}
        item = test.get("description") or _short(row["vars"])
        system = str(system)
        yield Answer(system, _task(log), item, _run(seen, system, item), value, json.dumps(row["vars"], sort_keys=True))


def _of_deepeval(content: Any) -> Rows | None:
    content = content.get("testRunData", content) if isinstance(content, dict) else content
    rows = [*(_in(content, "testCases") or []), *(_in(content, "conversationalTestCases") or [])]
    return _rows_with(rows, "success", "name")


def _deepeval(log: Log, score: str | None) -> Iterator[Answer]:
    """Give a test case each, whose success is that of all its metrics."""
    seen: dict[tuple[str, str], int] = {}
    for row in log.content:
        each = {one["name"]: one.get("success") for one in row.get("metricsData") or []}
        value = row["success"] if score is None else _chosen(each, score, log)
        system = log.path.stem
        run = _run(seen, system, row["name"])
        yield Answer(system, _task(log), str(row["name"]), run, value, str(row.get("input")))


def _of_mlflow(content: Any) -> Rows | None:
    rows = content.get("traces", [content]) if isinstance(content, dict) else content
    rows = _rows_with(rows, "info")
    return rows if rows and all(isinstance(_in(row, "info", "assessments"), list) for row in rows) else None


def _mlflow(log: Log, score: str | None) -> Iterator[Answer]:
    """Give a trace each: an item is what was asked, since every trace has an id of its own."""
    seen: dict[tuple[str, str], int] = {}
    for row in reversed(log.content):  # a search gives the last first
        info = row["info"]
        each = {
            one.get("assessment_name") or one.get("name"): _in(one, "feedback", "value")
            for one in info["assessments"]
            if "feedback" in one and one.get("valid", True)
        }
        asked = info.get("request_preview") or _in(info, "trace_metadata", "mlflow.traceInputs")
        item = _short(asked or info.get("trace_id"))
        system = log.path.stem
        yield Answer(system, _task(log), item, _run(seen, system, item), _chosen(each, score, log), str(asked))


def _of_openai(content: Any) -> Rows | None:
    """Know the records of `oaieval`, and the output items of runs."""
    if isinstance(content, list) and any(isinstance(one, dict) and "spec" in one for one in content):
        return content
    rows = content.get("data", [content]) if isinstance(content, dict) else content
    return _rows_with(rows, "datasource_item_id", "status", "results")


def _openai(log: Log, score: str | None) -> Iterator[Answer]:
    rows, seen = log.content, dict[tuple[str, str], int]()
    if "datasource_item_id" in rows[0]:
        for row in rows:
            each = {one.get("name"): one.get("passed") for one in row["results"]}
            value = row["status"] if score is None else _chosen(each, score, log)
            item, system = str(row["datasource_item_id"]), str(_in(row, "sample", "model"))
            truth = json.dumps(row.get("datasource_item"), sort_keys=True)
            yield Answer(system, _task(log), item, _run(seen, system, item), None if value == "error" else value, truth)
        return
    spec = next(row["spec"] for row in rows if "spec" in row)
    system = ", ".join(spec.get("completion_fns") or [log.path.stem])
    name = score or ("correct" if any(row.get("type") == "match" for row in rows) else "score")
    found = [row for row in rows if row.get("type") in ("match", "metrics") and name in row["data"]]
    if not found:
        raise ValueError(f"{log.path.name!r} has no record with {name!r}: say which score counts.")
    for row in found:
        data, item = row["data"], str(row["sample_id"])
        truth = str(data.get("expected"))
        yield Answer(system, str(spec.get("eval_name")), item, _run(seen, system, item), data[name], truth)


def _chosen(each: Mapping[Any, Any], score: str | None, log: Log) -> Any:
    """Return the score that counts, which needs a name where there are several; None where this answer has none."""
    if score is None and len(each) > 1:
        raise ValueError(f"{log.path.name!r} has the scores {some(list(map(str, each)))}: say which counts.")
    if score is not None and each and score not in each:
        raise ValueError(f"{log.path.name!r} has no score {score!r}; it has {some(list(map(str, each)))}.")
    return each.get(score) if score is not None else next(iter(each.values()), None)


def _run(seen: dict[tuple[str, str], int], system: str, item: str) -> int:
    """Return the number of an answer of a system to an item, as they come."""
    seen[system, item] = seen.get((system, item), 0) + 1
    return seen[system, item]


def _task(log: Log) -> str:
    """Return what files of one task are called, which aren't called by it."""
    return log.harness.name


def _short(asked: Any) -> str:
    """Return a name for what was asked."""
    value = asked
    if isinstance(asked, str) and asked.startswith("{"):
        with contextlib.suppress(ValueError):
            value = json.loads(asked)
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    text: str = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[: _LONG - 9]}~{zlib.crc32(text.encode()):08x}"


HARNESSES = (
    Harness("inspect_ai", _of_inspect, _inspect),
    Harness("lm-evaluation-harness", lambda content: _rows_with(content, "doc_id", "metrics"), _lm_eval),
    Harness("promptfoo", _of_promptfoo, _promptfoo),
    Harness("DeepEval", _of_deepeval, _deepeval),
    Harness("MLflow", _of_mlflow, _mlflow),
    Harness("OpenAI evals", _of_openai, _openai),
)
