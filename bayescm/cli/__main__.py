"""``python -m bayescm.cli``."""

import sys

from bayescm.cli import main

sys.exit(main())
