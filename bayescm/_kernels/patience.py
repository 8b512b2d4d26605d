"""When kernels are compiled, and when Python runs them: compiling costs up to a minute, once on a machine.

A kernel that isn't compiled yet is run by Python as long as the jobs that came so far would have taken Python less
than compiling takes. So nobody waits more than twice as long as with the better choice, and a first answer comes at
once. What has been run is remembered in the cache folder, by files that grow.
"""

import os
from contextlib import suppress
from pathlib import Path

from bayescm._kernels import cache

TO_COMPILE = {"distributions": 40.0, "rank_sums": 6.0, "roc": 12.0, "deviance": 1.0, "planes": 1.0}
"""About how many seconds compiling a module's kernels takes."""
_UNIT = 0.01  # seconds that a byte of a file stands for
_spent: dict[str, float] = {}
_at_hand: set[tuple[str, str]] = set()


def compiled(module: str, function: str) -> bool:
    """Say whether machine code of a kernel is at hand."""
    if (module, function) not in _at_hand and cache.has(module, function):
        _at_hand.add((module, function))
    return (module, function) in _at_hand


def keep(module: str, function: str) -> None:
    """Note that a kernel is compiled in this process from now on."""
    _at_hand.add((module, function))


def lasts(module: str, seconds: float) -> bool:
    """Say whether a job of so many seconds is still to be run by Python; and if so, take it as run."""
    if os.environ.get("BAYESCM_COMPILE", "") not in ("", "0"):
        return False
    before = _so_far(module)
    if before + seconds > TO_COMPILE.get(module, 0.0):
        return False
    _spent[module] = before + seconds
    file = _file(module)
    if file is not None:
        with suppress(OSError), file.open("ab") as opened:  # else it is remembered in this process alone
            opened.write(b"." * max(round(seconds / _UNIT), 1))
    return True


def _so_far(module: str) -> float:
    """Return the seconds that Python has run kernels of a module: of all processes, where these can be known."""
    file, known = _file(module), 0.0
    if file is not None:
        with suppress(OSError):
            known = _UNIT * file.stat().st_size
    return max(known, _spent.get(module, 0.0))


def _file(module: str) -> Path | None:
    """Return the file whose size says what has been run."""
    here = cache.folder()
    return None if here is None else Path(here, f"{module}.run")
