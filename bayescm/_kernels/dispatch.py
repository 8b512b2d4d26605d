"""Kernels, loaded late: run in threads, for machine code releases the interpreter's lock; or run by Python at first.

No result depends on the number of threads. Between machine code and Python the last digits differ.
"""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bayescm._kernels import interpreted, library, patience
from bayescm._kernels.cache import folder as folder
from bayescm._kernels.cache import note as note
from bayescm._kernels.cache import noted as noted
from bayescm.data.needs import need


def ready() -> bool:
    """Say whether the kernels are compiled: a library of these sources serves them all."""
    return library.library() is not None


def load(name: str) -> Any:
    """Return a module of kernels that Numba compiles, whose import takes about a second."""
    need("numba", "This answer, where no compiled kernels came with the wheel,")
    return import_module(f"bayescm._kernels.{name}")


def kernel(name: str, function: str, seconds: float = math.inf) -> Callable[..., Any]:
    """Return a kernel: of the library, or else compiled here, or run by Python where that is sooner done.

    Parameters
    ----------
    name : str
        Of the module.
    function : str
    seconds : float, optional
        About how long Python takes for the job; without, Python never does it.
    """
    if (ready := library.get(f"{name}.{function}")) is not None:
        return ready
    if patience.compiled(name, function) or not patience.lasts(name, seconds):
        patience.keep(name, function)
        return getattr(load(name), function)  # type: ignore[no-any-return]
    return partial(_by_python, name, function)


def _by_python(name: str, function: str, *args: Any) -> Any:
    """Let Python run a kernel, with inf and NaN as machine code has them; or compile it, where Python can't go on."""
    try:
        with np.errstate(all="ignore"):
            return getattr(interpreted.load(name), function)(*args)
    except (ArithmeticError, ValueError):  # a number of Python's own divided by zero
        if name not in _AGAIN:
            raise
        return getattr(load(name), function)(*args)


_AGAIN = ("distributions",)
"""Modules whose kernels take nothing but numbers and give new arrays back: they can be called again."""


def threads() -> int:
    """Return the number of threads: the environment variable BAYESCM_THREADS, else that of the processors."""
    given = os.environ.get("BAYESCM_THREADS") or os.cpu_count() or 1
    try:
        return max(int(given), 1)
    except ValueError:
        raise ValueError(f"the environment variable BAYESCM_THREADS must be a whole number; got {given!r}.") from None


def in_blocks[T](function: Callable[[int, int], T], size: int, block: int) -> list[T]:
    """Call ``function(start, stop)`` on blocks of ``range(size)``, in any order; return what they gave, in order."""
    several = parts(size, block)
    if threads() < 2 or len(several) < 2:
        return [function(*part) for part in several]
    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(lambda part: function(*part), several))


def parts(size: int, block: int) -> list[tuple[int, int]]:
    """Return the start and the stop of every block of ``range(size)``."""
    return [(start, min(start + block, size)) for start in range(0, size, block)]
