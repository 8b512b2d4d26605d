"""What is said of kernels: to the log, or else to who sits before a prompt, a notebook or a terminal."""

import logging
import sys


def say(text: str) -> None:
    """Tell who listens."""
    logger = logging.getLogger("bayescm")
    if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
        logger.info(text)
    elif hasattr(sys, "ps1") or sys.stderr.isatty():
        print(f"bayescm: {text}", file=sys.stderr)
