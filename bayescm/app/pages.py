"""Files of the pages, and the page that is one file."""

import re
from functools import cache
from importlib.resources import files

MODULES = ("numbers.mjs", "distributions.mjs", "common.mjs", "answers.mjs", "nomogram.mjs", "view.mjs")
"""Of the page without a server, from the bottom up."""
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


@cache
def text(name: str) -> str:
    """Return a file of the folder `page`."""
    return (files("bayescm.app") / "page" / name).read_text(encoding="utf-8")


@cache
def single_file() -> str:
    """Return the page without a server: style and modules inside, so that it opens from a file manager."""
    modules = "\n".join(_EXPORT.sub("", _IMPORT.sub("", text(name))) for name in MODULES)
    return text("page.html").replace("/*style*/", text("page.css")).replace("/*script*/", modules)
