"""Logs of inspect_ai and of lm-evaluation-harness: which items each system got right, run by run."""

import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import xarray as xr

from bayescm.data.labels import some
from bayescm.data.logged import Answer, Right, together
from bayescm.data.needs import need
from bayescm.data.records import parsed, records_of

type Logs = str | PathLike[str] | Sequence[Any] | Mapping[str, Any]

_LOG = re.compile(r"\d{4}-\d\d-\d\dT.*\.(?:eval|json)")
_SAMPLES = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT.*\.jsonl")
_ZSTANDARD = 93
"""The compression that logs of inspect_ai have had since 2026, and that zipfile reads from Python 3.14 on."""


def from_inspect(logs: Logs, *, scorer: str | None = None, right: Right | None = None) -> xr.Dataset:
    """Read logs of inspect_ai: which samples each model got right, epoch by epoch.

    Parameters
    ----------
    logs : path, sequence of paths, or mapping of str to these
        Files ``.eval`` or ``.json``, or folders of them; what ``inspect_ai.log.read_eval_log`` returned is taken, too.
        A system is called as its log says (``eval.model``), in a mapping by its key. Several tasks of a system are put
        together, one item after the other.
    scorer : str, optional
        Which score counts, where samples have several.
    right : callable, optional
        Says whether the value of a score is that of a right answer, or how far (0 to 1); it is given None where a
        sample has no score. By default "C", 1 and True are right, "I", "N", 0 and False wrong, "P" is half right,
        numbers between are scores, and all else is refused.

    Returns
    -------
    xarray.Dataset
        As of :func:`bayescm.predictions`: ``actual(item)`` is 1 and ``predicted(system, item)`` 1 where the answer was
        right, of several epochs ``predicted(system, item, run)``; with the coordinates ``item`` and ``task(item)``.
        :func:`bayescm.leaderboard`, :func:`bayescm.compare_systems` and :func:`bayescm.summary` take it, for the
        accuracy and the error rate: right and wrong answers have no other metric.

    Raises
    ------
    ValueError
        For evaluations that didn't finish, samples without a score, several scorers and none named,
        systems that didn't answer the same items, a task that was run twice.
    ImportError
        For ``.eval`` files compressed with Zstandard before Python 3.14, where zipfile-zstd isn't installed.

    Notes
    -----
    Read are the fields that logs of the versions 0.3.100 and 0.3.285 have.

    Examples
    --------
    >>> import json, tempfile, pathlib, bayescm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.json"
    >>> samples = [{"id": i, "epoch": 1, "target": "4", "scores": {"match": {"value": v}}} for i, v in enumerate("CCI")]
    >>> log = {"status": "success", "eval": {"model": "mock/a", "task": "sums"}, "samples": samples}
    >>> _ = path.write_text(json.dumps(log))
    >>> bayescm.from_inspect(path).predicted.values
    array([[1, 1, 0]])
    """
    answers = []
    for system, source in _sources(logs, _LOG):
        answers += list(of_log(finished(inspect_log(source), source), system, scorer))
    return together(answers, "logs", right)


def from_lm_eval(
    samples: Logs, *, metric: str | None = None, filter: str | None = None, right: Right | None = None
) -> xr.Dataset:
    """Read sample files of lm-evaluation-harness: which documents each model got right.

    Parameters
    ----------
    samples : path, sequence of paths, or mapping of str to these
        Files ``samples_<task>_<date>.jsonl``, as ``lm_eval --log_samples`` writes them, or folders of them. A system is
        called as the folder of its files, in a mapping by its key. Several tasks of a system are put together.
    metric : str, optional
        Which metric of a document counts, such as "acc" or "exact_match", where there are several.
    filter : str, optional
        Which filter of the answers, such as "strict-match", where there are several.
    right : callable, optional
        Says whether the value of the metric is that of a right answer. By default 1 is right, 0 wrong, a number between
        (F1, ROUGE) a score, and all else (a log-likelihood) is refused.

    Returns
    -------
    xarray.Dataset
        As of :func:`bayescm.predictions`: ``actual(item)`` is 1 and ``predicted(system, item)`` 1 where the answer was
        right; with the coordinates ``item`` and ``task(item)``. :func:`bayescm.leaderboard`,
        :func:`bayescm.compare_systems` and :func:`bayescm.summary` take it, for the accuracy and the error rate.

    Raises
    ------
    ValueError
        For several metrics or filters and none named, values that aren't from 0 to 1, systems that didn't
        answer the same documents, a task that was run twice.

    Notes
    -----
    Read are the fields that files of version 0.4.13 have. The harness keeps one value of each document also where it
    asks several times (``repeats``). All documents weigh the same, as in the harness with ``weight_by_size``.

    Examples
    --------
    >>> import json, tempfile, pathlib, bayescm
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "model_a"
    >>> folder.mkdir()
    >>> rows = [{"doc_id": i, "filter": "none", "metrics": ["acc"], "acc": float(i != 1)} for i in range(4)]
    >>> path = folder / "samples_sums_2026-11-22T21-55-47.065003.jsonl"
    >>> _ = path.write_text("".join(json.dumps(row) + chr(10) for row in rows))
    >>> bayescm.from_lm_eval(folder).predicted.to_pandas()
    item     0  1  2  3
    system
    model_a  1  0  1  1
    """
    answers = []
    for system, path in _sources(samples, _SAMPLES):
        answers += list(of_samples(Path(path), records_of(Path(path)), system, metric, filter))
    return together(answers, "samples", right)


def _sources(logs: Any, pattern: re.Pattern[str]) -> Iterator[tuple[str | None, Any]]:
    """Return each file, or log that was read already, with the name that its system was given."""
    if isinstance(logs, Mapping):
        for system, one in logs.items():
            yield from ((str(system), source) for _, source in _sources(one, pattern))
    elif isinstance(logs, str | PathLike):
        path = Path(logs)
        if not path.exists():
            raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
        found = sorted(p for p in path.rglob("*") if pattern.fullmatch(p.name)) if path.is_dir() else [path]
        if not found:
            raise ValueError(f"The folder {str(path)!r} has no files that are called like logs; give the files.")
        yield from ((None, one) for one in found)
    elif isinstance(logs, Sequence) and len(logs):
        for one in logs:
            yield from _sources(one, pattern)
    elif hasattr(logs, "model_dump"):
        yield None, logs
    else:
        raise TypeError(f"Logs must be a path, a sequence of paths or a mapping of systems to paths; got {logs!r}.")


def _called(source: Any) -> str:
    return repr(Path(source).name) if isinstance(source, str | PathLike) else "a log"


def inspect_log(source: Any) -> dict[str, Any]:
    """Return `status`, `eval` and `samples` of a log; of an .eval file the summaries of its samples."""
    if hasattr(source, "model_dump"):
        log: Any = source.model_dump(mode="json")
    elif zipfile.is_zipfile(source):
        log = _unpacked(Path(source))
    else:
        log = parsed(Path(source), Path(source).read_text(encoding="utf-8"))
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise ValueError(f"`logs` has {_called(source)}, which is no log of inspect_ai: it has no 'eval'.")
    return log


def finished(log: dict[str, Any], source: Any) -> dict[str, Any]:
    """Return a log whose evaluation ended well."""
    if log.get("status") != "success":
        raise ValueError(
            f"`logs` has {_called(source)}, whose status is {log.get('status')!r}: what is left out may be what "
            "went wrong. Finish it with `inspect eval-retry`."
        )
    return log


def _unpacked(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if not {"header.json", "summaries.json"} <= names:
            raise ValueError(
                f"`logs` has {path.name!r} without a header and summaries: it isn't a log of inspect_ai, or the "
                "evaluation didn't finish. Finish it with `inspect eval-retry`."
            )
        if archive.getinfo("header.json").compress_type == _ZSTANDARD:
            _read_zstandard(path)
        header, samples = (parsed(path, archive.read(name)) for name in ("header.json", "summaries.json"))
    return {**header, "samples": samples}


def _read_zstandard(path: Path) -> None:
    """Let zipfile read Zstandard, as inspect_ai itself does."""
    if sys.version_info >= (3, 14):
        return
    need("zipfile_zstd", f"{path.name!r}, if not converted (inspect log convert LOG --to json --output-dir OUT),")


def of_log(log: Mapping[str, Any], system: str | None, scorer: str | None) -> Iterator[Answer]:
    """Return the answers of one log of inspect_ai."""
    run_of = log["eval"]
    name, task = system or str(run_of.get("model")), str(run_of.get("task"))
    for sample in log.get("samples") or []:
        scores = sample.get("scores") or {}
        if scores and scorer is None and len(scores) > 1:
            raise ValueError(f"`scorer` is needed: samples of {name!r} have the scores {some(list(scores))}.")
        if scores and scorer is not None and scorer not in scores:
            raise ValueError(f"`scorer` must be one of {some(list(scores))}; got {scorer!r}.")
        score = scores.get(scorer or next(iter(scores))) if scores else None
        value = None if score is None else score.get("value")
        yield Answer(name, task, str(sample["id"]), int(sample["epoch"]), value, json.dumps(sample.get("target")))


def of_samples(
    path: Path, rows: list[Any], system: str | None, metric: str | None, chosen: str | None
) -> Iterator[Answer]:
    """Return the answers of the lines of one sample file of lm-evaluation-harness."""
    if not rows or not all(isinstance(row, dict) and "doc_id" in row for row in rows):
        raise ValueError(f"`samples` has {path.name!r}, which is no file of samples: each line must have a 'doc_id'.")
    filters = list(dict.fromkeys(str(row.get("filter", "none")) for row in rows))
    if len(filters) > 1 and chosen is None:
        raise ValueError(f"`filter` is needed: {path.name!r} has the answers as of {some(filters)}.")
    if chosen is not None and chosen not in filters:
        raise ValueError(f"`filter` must be one of {some(filters)} in {path.name!r}; got {chosen!r}.")
    named = _SAMPLES.fullmatch(path.name)
    task, name = named["task"] if named else path.stem, system or path.resolve().parent.name
    for row in rows:
        if chosen in (None, str(row.get("filter", "none"))):
            value = row.get(_metric_of(row, metric, path))
            yield Answer(name, task, str(row["doc_id"]), 1, value, str(row.get("doc_hash", "")))


def _metric_of(row: Mapping[str, Any], metric: str | None, path: Path) -> str:
    """Return the name of the metric that counts."""
    known = [str(name) for name in row.get("metrics", [])]
    if metric is None and len(known) != 1:
        raise ValueError(f"`metric` is needed: {path.name!r} has {some(known) if known else 'no list of them'}.")
    found = known[0] if metric is None else metric
    if found not in row:
        raise ValueError(f"`metric` must be one of {some(known)} in {path.name!r}; got {found!r}.")
    return found
