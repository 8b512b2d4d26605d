"""The studies of docs/verification, for tests that hold the library, or the studies themselves, against them."""

import importlib.util
import sys
from pathlib import Path

import bayescm

STUDIES = Path(bayescm.__file__).parents[1] / "docs" / "verification"


def study(name):
    """Return a study as a module, imported as when it runs as a script: its neighbours are found."""
    spec = importlib.util.spec_from_file_location(f"verification_of_{name}", STUDIES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(STUDIES))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(STUDIES))
    return module
