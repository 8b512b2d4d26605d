"""How uncertain every metric of a confusion matrix is.

Every public name is imported on first use: ``import bayescm`` itself costs milliseconds.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
