"""The build of a wheel: the kernels compiled into it, or a wheel without them where that fails (then Numba does it).

An editable installation and ``BAYESCM_PURE=1`` leave them out. What is needed is in ``bayescm/_kernels/ahead.py``.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PLACE = "bayescm/_kernels/kernels.so"


class Kernels(BuildHookInterface[Any]):
    """Adds the library, and says for which machines the wheel is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile."""
        if version == "editable" or os.environ.get("BAYESCM_PURE", "") not in ("", "0"):
            return
        self.folder = tempfile.mkdtemp()
        file = Path(self.folder, "kernels.so")
        environment = os.environ | {"PYTHONPATH": self.root, "BAYESCM_CACHE_DIR": os.devnull + "/none"}
        command = [sys.executable, "-m", "bayescm._kernels.ahead", str(file)]
        failed = subprocess.run(command, cwd=self.folder, env=environment).returncode
        tag = None if failed else machines(file.read_bytes())
        if tag is None:
            self.app.display_warning("the kernels couldn't be compiled: the wheel is without them, for any machine")
            return
        build_data["force_include"][str(file)] = PLACE
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made."""
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)


class Readme(MetadataHookInterface):
    """Gives package indexes a README without links that break there."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the long description."""
        source = metadata.get("urls", {}).get("Source")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_index(text, source)}


def for_index(text: str, source: str | None) -> str:
    """Return a README with absolute links into a repository; without one with their words alone, and no pictures."""
    picture, link = r"!\[([^\]]*)\]\((?!http)([^)]+)\)", r"(?<!!)\[([^\]]*)\]\((?!http|#)([^)]+)\)"
    if source is None:
        return re.sub(link, r"\1", re.sub(picture, "", text))
    return re.sub(link, rf"[\1]({source}/blob/main/\2)", re.sub(picture, rf"![\1]({source}/raw/main/\2)", text))


def machines(library: bytes) -> str | None:
    """Return the platform tag: of the newest glibc that the library names, all that it needs; None without one."""
    named = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)]
    return "manylinux_{}_{}_{}".format(*max(named), platform.machine()) if named else None
