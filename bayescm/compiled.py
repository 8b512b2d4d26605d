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


def in_blocks(function: Callable[[int, int], object], size: int, block: int) -> None:
    """Call ``function(start, stop)`` on blocks that make up ``range(size)``, in any order."""
    parts = [(start, min(start + block, size)) for start in range(0, size, block)]
    if threads() < 2 or len(parts) < 2:
        for part in parts:
            function(*part)
        return
    with ThreadPoolExecutor(threads()) as pool:
        list(pool.map(lambda part: function(*part), parts))
