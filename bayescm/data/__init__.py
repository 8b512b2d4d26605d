"""What is given: counts, labels, scores, items of several systems, data sets; and how results are labelled."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
