"""Files that are there whole, or not at all."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any


def replace(path: Path, content: Any) -> None:
    """Write bytes beside the file and put them in its place, so that there is never half a file.

    Parameters
    ----------
    path : pathlib.Path
    content : bytes or memoryview
    """
    target = path.resolve()  # behind a link
    if target.exists() and not target.is_file():  # such as /dev/stdout, in whose place no file belongs
        target.write_bytes(content)
        return
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            beside.chmod(mode)
        beside.replace(target)
    except OSError as error:
        raise OSError(f"{path} was not written: {error.strerror or error}. What stood there is as it was.") from error
    finally:
        beside.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every system lets a folder be opened
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
