"""The programs: one generative model per file.

In an installed package they lie in this folder; in a checkout they lie in ``models/`` at its root, and this folder's
search path is extended by that one.
"""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
if (_ROOT / "pyproject.toml").is_file() and (_ROOT / "models").is_dir():
    __path__.append(str(_ROOT / "models"))
