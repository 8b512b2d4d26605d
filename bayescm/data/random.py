"""The streams of random numbers: what is drawn from one seed for different ends has different numbers."""

import enum

import numpy as np


@enum.unique
class Stream(enum.IntEnum):
    """Number of each stream, the first key of :func:`bayescm.data.random.matrix_rng`.

    The number decides which draws a fixed seed gives: a new use takes a new number, and none is used again.
    """

    POSTERIOR = 0
    PRIOR = 1
    REPLICATE = 2
    SHARES = 3
    INTERVAL_BOOTSTRAP = 4
    REGION_BOOTSTRAP = 5
    CURVE = 6
    CURVE_PREVALENCE = 7
    SAME_ITEMS = 8
    RANKS = 10
    FUTURE = 11
    ACTIONS = 12
    AREA_BOOTSTRAP = 13
    AREA_FOLDS = 14
    SECOND_SAMPLE = 15
    PAIRED_PROPORTIONS = 16
    AUDIT = 17
    MULTICLASS_BOOTSTRAP = 18
    PARTIAL_BOOTSTRAP = 19
    HOLD_OUTS = 26
    COVERAGE = 33
    SPLIT = 34
    MULTICLASS_POSTERIOR = 35
    LEARNED = 36
    UNITS = 37
    GROUPS = 39
    PASSES = 40
    REPORTED = 41
    READERS = 43
    DRIFT = 44
    EACH_UNIT = 45
    RELIABILITY = 46
    PERMUTATIONS = 47
    NEXT_STUDY = 49


def matrix_rng(seed: int, index: int, stream: int) -> np.random.Generator:
    """Return the generator of one position of a batch: the same however the batch is cut into blocks.

    SFC64 is the fastest of NumPy's bit generators for gamma variables (a tenth less time than the default's).
    """
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(stream, index))))
