"""Threads for kernels that release the interpreter's lock. No result depends on their number."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def number() -> int:
    """Return the number of threads: the environment variable BAYESCM_THREADS, else that of the processors."""
    return int(os.environ.get("BAYESCM_THREADS") or os.cpu_count() or 1)


def over(function: Callable[[int, int], object], size: int, block: int) -> None:
    """Call ``function(start, stop)`` on blocks that make up ``range(size)``, in any order."""
    parts = [(start, min(start + block, size)) for start in range(0, size, block)]
    if number() < 2 or len(parts) < 2:
        for part in parts:
            function(*part)
        return
    with ThreadPoolExecutor(number()) as pool:
        list(pool.map(lambda part: function(*part), parts))
