"""Colours of the matplotlib style in use: ink and paper, the tones between them, and hues that tell things apart."""

from typing import Any

import numpy as np

_OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Which colour-blind people tell apart, without the yellow; for black and grey see :func:`palette`."""
_READABLE = 4.5  # contrast of text with what it stands on, at least, by the guidelines for web pages
_VISIBLE = 1.5  # contrast of a line
_DARK = 0.2  # luminance of dark paper
_DEEPER = 2.0  # of a shade on dark paper, as often as on white
MOST_COLORS = len(_OKABE_ITO) + 2


def paper() -> str:
    """Return the colour that axes stand on."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex, to_rgba

    faces = map(str, (rcParams["axes.facecolor"], rcParams["figure.facecolor"]))
    return to_hex(next((face for face in faces if to_rgba(face)[3] > 0), "white"))


def ink() -> str:
    """Return the colour of marks and words on axes: the style's own of text, where it can be read there."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex

    own, on = str(rcParams["text.color"]), paper()
    return to_hex(own) if contrast(own, on) >= _READABLE else ink_on(on)


def ink_on(color: Any) -> str:
    """Return black or white, whichever is read better on a colour."""
    return max(("#ffffff", "#000000"), key=lambda one: contrast(one, color))


def tone(depth: float) -> str:
    """Return a tone between paper (0) and ink (1)."""
    return mixed(ink(), depth)


def mixed(color: Any, depth: float) -> str:
    """Return an opaque shade of a colour: nothing of it (0) is paper."""
    from matplotlib.colors import to_hex, to_rgb

    below = np.array(to_rgb(paper()))
    return to_hex(below + depth * (np.array(to_rgb(color)) - below))


def on_paper(alpha: float, pad: float) -> dict[str, Any]:
    """Return the box of words that stand on lines."""
    return {"facecolor": paper(), "edgecolor": "none", "alpha": alpha, "pad": pad}


def fade(alpha: float) -> float:
    """Return how opaque a shade must be to be seen as well as on white paper."""
    return min(_DEEPER * alpha, 0.9) if _luminance(paper()) < _DARK else alpha


def palette() -> tuple[str, ...]:
    """Return eight colours: six hues, of the style if it has its own, then ink and a grey."""
    from matplotlib import rcParams, rcParamsDefault
    from matplotlib.colors import to_hex

    cycle, usual = (rc["axes.prop_cycle"].by_key().get("color", []) for rc in (rcParams, rcParamsDefault))
    own = [] if cycle == usual else [to_hex(color) for color in cycle]
    seen = [color for color in dict.fromkeys((*own, *_OKABE_ITO)) if contrast(color, paper()) >= _VISIBLE]
    return (*seen[: len(_OKABE_ITO)], ink(), tone(0.5))


def contrast(color: Any, other: Any) -> float:
    """Return the contrast of two colours, from 1 (none) to 21 (black on white)."""
    low, high = sorted((_luminance(color), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Any) -> float:
    from matplotlib.colors import to_rgb

    parts = np.array(to_rgb(color))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
