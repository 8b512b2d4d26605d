"""How the kernels are compiled: on first use, or when :mod:`bayescm._kernels.dispatch` finds it worth while."""

from collections.abc import Callable
from typing import Any, cast

import numba
from numba.core import event as events

from bayescm._kernels.cache import folder
from bayescm._kernels.notices import say

FOLDER = folder()


class Notice(events.Listener):
    """Says once that a kernel is being compiled. What the cache has doesn't come here, and calls cost nothing more."""

    said = False

    def on_start(self, event: Any) -> None:
        """Tell who listens."""
        if self.said or not str(event.data["dispatcher"].py_func.__module__).startswith(__package__):
            return  # PyTensor compiles functions of no module
        self.said = True
        kept = "in every session: set BAYESCM_CACHE_DIR to a folder" if FOLDER is None else "once on this machine"
        say(f"compiling, about half a minute, {kept}")

    def on_end(self, event: Any) -> None:
        """Say nothing."""


OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Of every kernel; nobody calls them from C."""
NOTICE = Notice()
events.register("numba:compile", NOTICE)


def kernel[F: Callable[..., Any]](function: F, **options: Any) -> F:
    """Compile a function: it releases the interpreter's lock, and division by zero gives inf as in NumPy."""
    options |= OPTIONS
    if FOLDER is None:
        return cast(F, numba.njit(**options)(function))
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, FOLDER  # chosen when the function is decorated
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    finally:
        config.CACHE_DIR = before


def vector_kernel[F: Callable[..., Any]](function: F) -> F:
    """Compile a short loop over contiguous arrays without NaN so that it can use the processor's vectors.

    Products and sums may be fused and sums reordered, which the machine decides once, not the number of threads.
    """
    return kernel(function, fastmath={"contract", "nnan", "nsz", "reassoc"})
