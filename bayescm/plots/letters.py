"""Text in pictures as it is written: a `$` in a name begins no formula, and a control character has no glyph."""

import re
import textwrap
import types
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, cast

import numpy as np

from bayescm.data.needs import need
from bayescm.results.escape import for_terminal

_OWN = "\\mathdefault"
"""What matplotlib's formatters of numbers write formulas with."""


class _Names(textwrap.TextWrapper):
    """Breaks lines at spaces, and within a word behind what joins its parts."""

    wordsep_re = re.compile(r"(\s+|(?<=\w[/_:,;+\-=@|])(?=\w))")


def wrapped(text: str, width: int = 36) -> str:
    """Break text that is longer than a line into few lines of like length; no letter of it is lost."""
    few = len(_Names(width).wrap(text))
    broken = (_Names(narrow).wrap(text) for narrow in range(max(1, len(text) // max(few, 1)), width + 1))
    return text if few <= 1 else "\n".join(next(lines for lines in broken if len(lines) == few))


def as_written[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that returns axes draw all text as it is written; what stood on them before is left as it was."""

    def call(*given: Any, **options: Any) -> Any:
        asked("matplotlib", "A picture")
        before = before_of(options.get("ax"))
        drawn: Any = function(*given, **options)
        finish(drawn, before)
        return drawn

    # doctest takes only functions whose globals are those of the module, so these come by the closure
    before_of, finish, asked = formulas, write, need
    made = types.FunctionType(call.__code__, function.__globals__, call.__name__, None, call.__closure__)
    return cast("Callable[P, R]", wraps(function)(made))


def write(drawn: Any, before: Sequence[Any]) -> None:
    """Take text with a `$` for letters, but for what stood there before, and write out control characters."""
    for text in formulas(drawn):
        if text not in before:
            text.set_parse_math(False)
    figure = _figure(drawn)
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            labels = [label.get_text() for label in axis.get_ticklabels()]
            if (seen := list(map(for_terminal, labels))) != labels:
                axis.set_ticks(axis.get_ticklocs(), seen)
    for text in _texts(figure):
        if (seen_text := for_terminal(text.get_text())) != text.get_text():
            text.set_text(seen_text)


def formulas(drawn: Any) -> list[Any]:
    """Return the text of the figure of axes that matplotlib would take for formulas."""
    figure = _figure(drawn)
    texts = [] if figure is None else _texts(figure)
    return [text for text in texts if "$" in text.get_text() and _OWN not in text.get_text()]


def _texts(figure: Any) -> list[Any]:
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_text()]


def _figure(made: Any) -> Any:
    """Return the figure of axes, or of several axes; None of anything else."""
    first: Any = made if hasattr(made, "get_figure") or not np.iterable(made) else next(iter(made), None)
    return first.get_figure(root=True) if hasattr(first, "get_figure") else None
