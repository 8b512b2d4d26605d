"""How uncertain every metric of a confusion matrix is.

Every public name is imported on first use: ``import bayescm`` itself costs milliseconds.
"""

import warnings
from importlib import import_module, util
from operator import attrgetter
from typing import Any

import lazy_loader

__version__ = "0.1.0"
_offered, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a public name, with a warning one that has a new name; of any other say what is meant."""
    if name in __all__ or name.startswith("_"):
        return _offered(name)
    if util.find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    from bayescm.data.elsewhere import RENAMED, meant

    if name in RENAMED:
        warnings.warn(f"bayescm.{name} is now bayescm.{RENAMED[name]}.", DeprecationWarning, stacklevel=2)
        return attrgetter(RENAMED[name])(import_module(__name__))
    instead = meant(name)
    raise AttributeError(f"module 'bayescm' has no attribute {name!r}{f': take {instead}' if instead else ''}.")
