"""How the kernels are compiled, and where machine code is kept.

They are compiled on first use and kept in one cache folder whose name is a hash of all their sources: numba itself
watches only the file of the function called, and would keep stale machine code of the ones it calls.
"""

import hashlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numba
from numba.core import event as events


def cache_folder() -> str | None:
    """Return the folder for machine code, or None where none can be written (then nothing is kept).

    ``BAYESCM_CACHE_DIR``, else ``bayescm`` in ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    key = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(os.environ.get("BAYESCM_CACHE_DIR") or os.path.join(home, "bayescm")) / key
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


_FOLDER = cache_folder()


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
    if _FOLDER is None:
        return cast(F, numba.njit(nogil=True, error_model="numpy", **options)(function))
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, _FOLDER  # chosen when the function is decorated
    try:
        return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        config.CACHE_DIR = before


def vector_kernel[F: Callable[..., Any]](function: F) -> F:
    """Compile a short loop over contiguous arrays without NaN so that it can use the processor's vectors.

    Products and sums may be fused and sums reordered, which the machine decides once, not the number of threads.
    """
    return kernel(function, fastmath={"contract", "nnan", "nsz", "reassoc"})
