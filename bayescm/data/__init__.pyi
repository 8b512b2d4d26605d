from . import datasets as datasets
from .items import margins as margins
from .items import paired_counts as paired_counts
