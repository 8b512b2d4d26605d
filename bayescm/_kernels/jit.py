"""How the kernels are compiled: on first use, or when :mod:`bayescm._kernels.dispatch` finds it worth while."""

import logging
import sys
from collections.abc import Callable
from typing import Any, cast

import numba
from numba.core import event as events

from bayescm._kernels.cache import folder

_FOLDER = folder()


class Notice(events.Listener):
    """Says once that a kernel is being compiled. What the cache has doesn't come here, and calls cost nothing more."""

    said = False

    def on_start(self, event: Any) -> None:
        """Tell who listens to the log, or else who sits before a prompt, a notebook or a terminal."""
        if self.said or not str(event.data["dispatcher"].py_func.__module__).startswith(__package__):
            return  # PyTensor compiles functions of no module
        self.said = True
        kept = "in every session: set BAYESCM_CACHE_DIR to a folder" if _FOLDER is None else "once on this machine"
        text, logger = f"compiling, about half a minute, {kept}", logging.getLogger("bayescm")
        if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
            logger.info(text)
        elif hasattr(sys, "ps1") or sys.stderr.isatty():
            print(f"bayescm: {text}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Say nothing."""


NOTICE = Notice()
events.register("numba:compile", NOTICE)


def kernel[F: Callable[..., Any]](function: F, **options: Any) -> F:
    """Compile a function: it releases the interpreter's lock, and division by zero gives inf as in NumPy."""
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # nobody calls them from C
    if _FOLDER is None:
        return cast(F, numba.njit(**options)(function))
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, _FOLDER  # chosen when the function is decorated
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    finally:
        config.CACHE_DIR = before


def vector_kernel[F: Callable[..., Any]](function: F) -> F:
    """Compile a short loop over contiguous arrays without NaN so that it can use the processor's vectors.

    Products and sums may be fused and sums reordered, which the machine decides once, not the number of threads.
    """
    return kernel(function, fastmath={"contract", "nnan", "nsz", "reassoc"})
