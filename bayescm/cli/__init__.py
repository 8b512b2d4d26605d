"""The command line: ``bayescm summary``, ``region``, ``curve``, ``compare`` and others."""

import argparse
import contextlib
import os
import re
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import bayescm
from bayescm.cli import (
    agreement,
    app,
    audit,
    compare,
    curve,
    decide,
    doctor,
    drift,
    gaps,
    gate,
    hints,
    latent,
    leaderboard,
    plan,
    prevalence,
    readers,
    region,
    replicate,
    reported,
    saving,
    summary,
    synthesis,
)
from bayescm.results.escape import PIPED, for_terminal

_NUMBERS = re.compile(rb"\d+([ \t]+\d+){1,3}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0, of a gate that is closed 3; 2 for an error said in one line, 141 for a closed pipe.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _say_what_takes_long()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # letters that the terminal doesn't have
    try:
        parser = build_parser()
        words = hints.check(words, _commands(parser))
        try:
            code = _answered(parser, words)
        except hints.NoFileError:
            if not _is_piped():
                raise
            code = _answered(parser, [words[0], "-", *words[1:]])
    except BrokenPipeError:  # who reads has seen enough, as of `head`
        _print_no_more()
        return 141
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        if isinstance(error, OSError) and error.strerror:
            error = OSError(f"{error.filename or 'the standard output'}: {error.strerror}.")
        print(for_terminal(f"bayescm: error: {' '.join(str(error).split())}"), file=sys.stderr)
        _print_no_more()
        return 2
    return code


def _answered(parser: argparse.ArgumentParser, words: Sequence[str]) -> int:
    """Carry out a command and return its exit code."""
    with _piped(words) as files, warnings.catch_warnings(record=True) as caught:
        arguments = parser.parse_args(files)
        warnings.simplefilter("always", UserWarning)
        saving.check(arguments)
        code = int(arguments.run(arguments) or 0)
        sys.stdout.flush()
    for warning in caught:
        print(for_terminal(f"bayescm: warning: {warning.message}"), file=sys.stderr)
    return code


def _is_piped() -> bool:
    """Say whether the standard input is a file or a pipe with something in it: not a terminal, nor nothing."""
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # there is none
        return False
    return (stat.S_ISFIFO(kind) or stat.S_ISREG(kind)) and bool(sys.stdin.buffer.peek(1))  # type: ignore[union-attr]


@contextlib.contextmanager
def _piped(words: Sequence[str]) -> Iterator[list[str]]:
    """Give the words of a command, in which a file holds what is piped into it where they say "-"; or two numbers."""
    content = sys.stdin.buffer.read() if "-" in words else b""
    if "-" not in words or _NUMBERS.fullmatch(content.strip()):
        named = [content.decode().split() if word == "-" else [word] for word in words]
        yield [word for part in named for word in part]
        return
    with tempfile.TemporaryDirectory(prefix=PIPED) as folder:
        file = Path(folder, f"standard-input{_kind_of(content)}")
        file.write_bytes(content)
        yield [str(file) if word == "-" else word for word in words]


def _kind_of(content: bytes) -> str:
    """Return the ending of the name of a file with such content."""
    lines = content.strip().split(b"\n", 2)
    if content[:4] == b"PAR1":
        return ".parquet"
    if lines[0][:1] == b"{" and (len(lines) > 1 and lines[1][:1] == b"{" or lines[0].rstrip()[-1:] == b"}"):  # noqa: RUF021
        return ".jsonl"
    return ".json" if lines[0][:1] in (b"{", b"[") else ".csv"


def _print_no_more() -> None:
    """Let what is still to be printed go nowhere, so that the end of the process doesn't fail on it again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_what_takes_long() -> None:
    """Send the library's notices (the first call on a machine compiles) to the standard error."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("bayescm: %(message)s"))
    logger = logging.getLogger("bayescm")
    logger.setLevel(logging.INFO)
    logger.handlers = [handler]


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands by their names."""
    return next(dict(one.choices) for one in parser._actions if isinstance(one, argparse._SubParsersAction))


class _Cite(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        inside = Path(bayescm.__file__).with_name("CITATION.cff")  # of a wheel; a checkout has it beside
        print((inside if inside.exists() else inside.parents[1] / inside.name).read_text("utf-8"))
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands, which shtab reads for the completion of a shell."""
    parser = hints.Parser(prog="bayescm", description="How uncertain is a confusion matrix?")
    parser.add_argument("--version", action="version", version=f"bayescm {bayescm.__version__}")
    parser.add_argument("--cite", nargs=0, action=_Cite, help="say how to cite bayescm and the papers behind it")
    commands = parser.add_subparsers(dest="command", required=True)
    modules = (
        summary, region, curve, compare, gate, leaderboard, plan, replicate, decide, prevalence, latent, audit,
        reported, agreement, synthesis, gaps, drift, readers, doctor, app,
    )  # fmt: skip
    for module in modules:
        module.add_parser(commands)
    return parser
