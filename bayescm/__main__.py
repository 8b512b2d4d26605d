"""``python -m bayescm``: the command line."""

import sys

from bayescm.cli import main

if __name__ == "__main__":
    sys.exit(main())
