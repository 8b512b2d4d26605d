"""Run the quick part of studies: ``python docs/verification/quick.py summary_coverage intervals``, as CI does of all.

Each runs in a process of its own, forked from one that has imported what all need. The first that fails ends it.
"""

import os
import runpy
import sys
import time
from pathlib import Path

import scipy.stats  # noqa: F401

import bayescm

if __name__ == "__main__":
    for name in bayescm.__all__:
        getattr(bayescm, name)
    for study in sys.argv[1:]:
        print(f"-- {study}", flush=True)
        start = time.perf_counter()
        if not (child := os.fork()):
            sys.argv = [study, "--quick"]
            runpy.run_path(str(Path(__file__).with_name(f"{study}.py")), run_name="__main__")
            sys.exit()
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(f"{study} failed")
        print(f"-- {study}: {time.perf_counter() - start:.0f} s", flush=True)
