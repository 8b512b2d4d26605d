"""Where machine code is kept, and what is there. No numba here.

The folder's name is a hash of the sources of all kernels: numba itself watches only the file of the function called,
and would keep stale machine code of the ones it calls.
"""

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

_NO_KERNELS = (
    "__init__.py", "ahead.py", "arrays.py", "cache.py", "dispatch.py", "interpreted.py", "library.py", "notices.py",
    "patience.py",
)  # fmt: skip


@cache
def sources() -> str:
    """Return a hash of the sources of all kernels, and of what is linked with them."""
    every = sorted(file for file in Path(__file__).parent.iterdir() if file.suffix in (".py", ".c"))
    read = (file.read_bytes() for file in every if file.name not in _NO_KERNELS)
    return hashlib.sha256(b"".join(read)).hexdigest()[:16]


def cache_folder() -> str | None:
    """Return the folder for machine code, or None where none can be written (then nothing is kept).

    ``BAYESCM_CACHE_DIR``, else ``bayescm`` in ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(os.environ.get("BAYESCM_CACHE_DIR") or os.path.join(home, "bayescm")) / sources()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


@cache
def folder() -> str | None:
    """Return the folder of this process, chosen when it is first needed."""
    return cache_folder()


def noted(name: str, text: str) -> bool:
    """Say whether the folder has this note, of this Python, of Numba's version and of a processor like this one."""
    here = folder()
    return here is not None and (note := _note(here, name)).exists() and note.read_text() == text


def note(name: str, text: str) -> None:
    """Leave a note in the folder, if there is one."""
    here = folder()
    if here is not None:
        _note(here, name).write_text(text)


def _note(here: str, name: str) -> Path:
    from importlib.metadata import version

    from llvmlite import binding  # type: ignore[import-untyped]

    known = f"{sys.version_info.major}{sys.version_info.minor}-{version('numba')}-{binding.get_host_cpu_name()}"
    return Path(here, f"{name}-{known}.note")


def has(module: str, function: str) -> bool:
    """Say whether the folder has machine code of a kernel, for this version of Python."""
    here = folder()
    if here is None:
        return False
    return any(Path(here).glob(f"*/{module}.{function}-*.py{sys.version_info.major}{sys.version_info.minor}.nbi"))
