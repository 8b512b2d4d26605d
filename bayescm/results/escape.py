"""Names as every outlet can show them: what is a command there becomes the letters that it is written with.

One function per outlet: HTML, Markdown, LaTeX, the terminal, spreadsheets. Pictures have theirs in
``plots/letters.py``.
"""

import re
import unicodedata
from html import escape as for_html
from typing import Any

__all__ = ["for_html", "for_latex", "for_markdown", "for_sheet", "for_terminal"]

_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_UNSEEN = ("Cc", "Cs")
"""Categories of letters that terminals obey, as ESC, or that no file can hold: half characters."""
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Letters that turn the order of those that follow."""
PIPED = "bayescm-piped-"
"""How the folder is called of the file that holds what was piped in, and has no name of its own."""
_PIPED = re.compile(rf"[^\s'\"]*{PIPED}\w+[^\s'\":;,]*")
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d*$)")
"""What a spreadsheet takes for a formula: not a sign alone, nor a number."""


def for_terminal(text: str) -> str:
    r"""Return text whose control characters are written out, but for line breaks: "\x1b[31m"."""
    text = _PIPED.sub("standard input", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter == "\n" or not _obeyed(letter) else ascii(letter)[1:-1] for letter in text)


def _obeyed(letter: str) -> bool:
    return letter in _TURNING or unicodedata.category(letter) in _UNSEEN


def for_markdown(text: str) -> str:
    """Return text for a cell of a Markdown table, in which HTML is text, too."""
    return for_html(for_terminal(text), quote=False).replace("|", "\\|").replace("\n", " ")


def for_latex(text: str) -> str:
    """Return text for a cell of a LaTeX table."""
    return "".join(_LATEX.get(letter, letter) for letter in for_terminal(text))


def for_sheet(value: Any) -> Any:
    """Return a cell of a CSV file: text that a spreadsheet would compute stands behind an apostrophe."""
    if not isinstance(value, str):
        return value
    return f"'{for_terminal(value)}" if _FORMULA.match(value) else for_terminal(value)
