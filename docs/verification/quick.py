"""Run the quick part of studies: ``python docs/verification/quick.py summary_coverage intervals``, as CI does of most.

Each runs in a process of its own, forked from one that has imported what all need. The first that fails ends it.
"""

import os
import resource
import runpy
import sys
from pathlib import Path

# Before NumPy is imported: where the tests keep the other cores, threads of BLAS wait for one another.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import scipy.stats  # noqa: F401

import bayescm


def used() -> float:
    """Return the seconds of CPU that ended children have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    for name in bayescm.__all__:
        getattr(bayescm, name)
    for study in sys.argv[1:]:
        print(f"-- {study}", flush=True)
        start = used()
        if not (child := os.fork()):
            sys.argv = [study, "--quick"]
            runpy.run_path(str(Path(__file__).with_name(f"{study}.py")), run_name="__main__")
            sys.exit()
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(f"{study} failed")
        print(f"-- {study}: {used() - start:.0f} s of CPU", flush=True)
