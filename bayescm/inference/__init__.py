"""From counts to answers: posteriors, summaries, intervals and the distributions of metrics."""

import lazy_loader

from bayescm import results as results  # whose import registers the accessor .bayescm

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
