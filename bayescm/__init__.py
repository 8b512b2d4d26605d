"""How uncertain every metric of a confusion matrix is.

Every public name is imported on first use: ``import bayescm`` itself costs milliseconds.
"""

from importlib import import_module, util
from typing import Any

import lazy_loader

__version__ = "0.1.0"
_offered, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a public name; of any other say what is meant."""
    if name in __all__ or name.startswith("_"):
        return _offered(name)
    if util.find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    from bayescm.data.elsewhere import meant

    instead = meant(name)
    raise AttributeError(f"module 'bayescm' has no attribute {name!r}{f': take {instead}' if instead else ''}.")
