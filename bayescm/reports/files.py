"""Where a report goes: one HTML page, or what a program on this computer makes of that page."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bayescm.data.files import replace

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
             "microsoft-edge")  # fmt: skip
_PAGES = (".html", ".htm")
_BY_PANDOC = (".docx", ".odt", ".md")
_SECONDS = 120  # that a browser which starts for the first time may take


def check_ending(path: Path) -> None:
    """Refuse a file that can't be written here, before anything is computed."""
    ending = path.suffix.lower()
    if ending not in (*_PAGES, ".pdf", *_BY_PANDOC):
        raise ValueError(
            f"`file` must end on .html, .pdf, {' or '.join(_BY_PANDOC)}; got {str(path)!r}. Else print what report() "
            "returns."
        )
    if ending not in _PAGES and _program(ending) is None:
        needed = "a browser (Chromium, Chrome or Edge)" if ending == ".pdf" else "pandoc"
        raise ValueError(
            f"`file`: {ending} needs {needed} on the PATH, and there is none. Take .html, which needs none."
        )


def write(path: Path, page: str) -> None:
    """Write a page as the ending of the file says."""
    if path.suffix.lower() in _PAGES:
        replace(path, page.encode())
        return
    program = _program(path.suffix.lower())
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "report.html"), Path(folder, f"made{path.suffix.lower()}")
        source.write_text(page, encoding="utf-8")
        _run(
            _printing(program, folder, made) if path.suffix.lower() == ".pdf" else [program, f"--output={made}"], source
        )
        replace(path, made.read_bytes())


def _program(ending: str) -> str | None:
    """Return where the program is that makes such files."""
    names = _BROWSERS if ending == ".pdf" else ("pandoc",)
    return next(filter(None, map(shutil.which, names)), None)


def _printing(browser: str | None, folder: str, made: Path) -> list[str | None]:
    """Return the command that prints a page, with a profile of its own and without the network."""
    root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    return [
        browser, "--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run", *root,
        f"--user-data-dir={folder}/profile", "--no-pdf-header-footer", f"--print-to-pdf={made}",
    ]  # fmt: skip


def _run(command: Sequence[str | None], source: Path) -> None:
    """Run a program on the page, and say what it said where it failed."""
    program, *options = map(str, command)
    try:
        done = subprocess.run(
            [program, *options, str(source)], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{program} took more than {_SECONDS} seconds; write the report as .html.") from None
    if done.returncode:
        raise RuntimeError(f"{program} failed; write the report as .html. It said: {done.stderr.strip()[-300:]}")
