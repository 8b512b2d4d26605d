"""Compiled kernels, loaded late and run in threads: they release the interpreter's lock.

No result depends on the number of threads.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any


def load(name: str) -> Any:
    """Return a module of compiled kernels, whose import takes about a second."""
    return import_module(f"bayescm._kernels.{name}")


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
