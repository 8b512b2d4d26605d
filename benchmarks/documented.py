"""What every documented call takes the first time: the examples of all docstrings, each object's in a new process.

Run `python benchmarks/documented.py`; ``--write`` writes results_documented.md. Each statement's seconds of the
processor, with the one thread that it is given, less what it takes to import modules.
"""

import argparse
import builtins
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bayescm

HERE = Path(__file__).parent
SHOWN = 0.2  # seconds
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BAYESCM_THREADS"), "1")


def examples(module: str) -> Iterator[doctest.DocTest]:
    """Give the docstrings of a module that have examples."""
    yield from (one for one in doctest.DocTestFinder().find(importlib.import_module(module), module) if one.examples)


def first(module: str, name: str) -> None:
    """Run the examples of one docstring, and print what each took."""
    (one,) = (one for one in examples(module) if one.name == name)
    names, imports, inside, load = dict(one.globs), [0.0], [False], builtins.__import__

    def timed(*given: Any, **options: Any) -> Any:
        if inside[0]:
            return load(*given, **options)
        start, inside[0] = time.process_time(), True
        try:
            return load(*given, **options)
        finally:
            imports[0], inside[0] = imports[0] + time.process_time() - start, False

    builtins.__import__ = timed
    for example in one.examples:
        start, imports[0] = time.process_time(), 0.0
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):  # some examples show errors
            exec(compile(example.source, name, "single"), names)
        print("TOOK", time.process_time() - start - imports[0], " ".join(example.source.split()), sep="\t")


def main() -> None:
    """Time all, and print or write those that take longest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        first(*options.one)
        return
    modules = [one.name for one in pkgutil.walk_packages(bayescm.__path__, "bayescm.") if "._" not in one.name]
    found = {(one.filename, one.lineno): (module, one.name) for module in modules for one in examples(module)}
    taken = []
    for module, name in found.values():
        done = subprocess.run(
            [sys.executable, __file__, "--one", module, name], env={**os.environ, **THREADS},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        rows = [line.split("\t")[1:] for line in done.stdout.splitlines() if line.startswith("TOOK")]
        taken += [(float(seconds), name.rpartition(".")[2], source) for seconds, source in rows]
    seconds = [row[0] for row in taken]
    lines = [
        "# The first run of every documented statement\n",
        f"`python benchmarks/documented.py --write`: {len(taken)} statements of the docstrings' examples, each "
        "docstring's in a new process; seconds of the processor beyond imports, one thread of a shared machine. The "
        f"median is {statistics.median(seconds):.3f}, {sum(each > 0.5 for each in seconds)} take more than .5.\n",
        "| s | of | statement |", "| --- | --- | --- |",
    ]  # fmt: skip
    lines += [f"| {s:.2f} | `{name}` | `{source}` |" for s, name, source in sorted(taken, reverse=True) if s > SHOWN]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        (HERE / "results_documented.md").write_text(text)


if __name__ == "__main__":
    main()
