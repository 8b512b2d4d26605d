"""The kernels that are called from outside, with the types of what they take and give. No numba here.

A letter is a number (f: float64, i: int64, b: bool), a letter and a digit an array in C order of so many dimensions;
with A its strides may be anything. ``rng`` is a numpy.random.Generator, and what else has a name is of `RECORDS`.
"""

RECORDS = {
    "Formula": "i2 f2 f2 i f f",
    "Planes": "f2 f2 f2",
    "Ranking": "i1 i1 i1",
    "Steps": "i1 i1 i1",
    "Read2": "f2 f2 f2 f2 f2 f2 f2",
    "Read3": "f3A f3A f3A f3A f3A f3A f3A",
}
"""Named tuples of :mod:`bayescm._kernels.codes` (without the digit), or tuples where it has none of that name."""

ENTRIES = {
    "areas.leave_one_out": ("i1 i1 f i1 f2 f2", ""),
    "areas.resample": ("rng i2 i2 f2 i1 f i1 f3 f4", ""),
    "areas.samples": ("i2 i2 f i1 f2", ""),
    "density.look_up_many": ("f1 f1 f1 i1 f2", "f1"),
    "density.reduce": ("Planes f2 f1 f1 f2 f f2", ""),
    "density.tabulate": ("f2 b f1 f1", "f f"),
    "deviance.bounds": ("f1A f1 f1A f2A", ""),
    "deviance.convolve": ("f1 f1 f f1 f2 f2 f1 f2", "f f"),
    "deviance.direct_masses": ("f1 f1 f1 f1 f1 f1", ""),
    "deviance.mass": ("f f f f1 f2", "f"),
    "deviance.masses": ("f1 f f f1 f2 f1", ""),
    "deviance.scales": ("f3 f f1 f1 f2 f3 i1 i1 f1 f2 f2 b f2", ""),
    "distributions.probabilities": ("f2 f2 f2 Formula f", "f3"),
    "distributions.quantiles": ("f2 f2 f2 Formula f", "f3"),
    "distributions.summarise": ("f2 f2 i2 i1 f3 f3 i1 f1 f1 f b", "f3"),
    "exact_regions.points": ("i2 f1 f2 b b f1 f1 f1", ""),
    "exact_regions.reduce": ("Planes f2 i2 i2 b b f1 f1 f2", ""),
    "exact_regions.tables": ("i f1 f1", ""),
    "joint.joint": ("f1 f1 i1 f3 f3 i1 f1 b1 f", "f f"),
    "planes.outer_sum": ("f1 f1 f2", ""),
    "planes.reduce": ("Planes f2 i2 f f2", ""),
    "planes.reduce_mapped": ("Planes f2 i2 f1 f2 i1 f2 f f2", ""),
    "planes.reduce_quadratic": ("f1 f1 f2 f3 i2 f f2", ""),
    "rank_sums.add_ranks": ("f2 f2 i1 f2 i2 i i f2", ""),
    "rank_sums.beta_draws": ("f3 f2 f2", ""),
    "rank_sums.beta_paths": ("f1 f1 f3", ""),
    "rank_sums.beta_tables": ("f1 f1 f1 f3 f2 f2", ""),
    "rank_sums.beta_tails": ("f3 f2 f1 f1 i1 f1 f2 f2 i i", ""),
    "rank_sums.count_better": ("f2 i i1 f f1", ""),
    "rank_sums.count_ranks": ("f2 i2 f f2", ""),
    "rank_sums.fineness": ("f2 f1 f1 f1 f1", ""),
    "rank_sums.larger": ("f2 f2 i2 i i", "i"),
    "rank_sums.panels": ("f1 f1 f", "f1 f1"),
    "rate_pairs.integrate": ("f2A f2A f3 f2 f1 f1 f3", ""),
    "roc.joint": ("rng b1 i2 i1 f2 i1 f1 f2 f1 f1 f1 Read3", ""),
    "roc.single": ("rng Ranking Steps f2 f1 f1 f1 Read2", ""),
    "roc.smoothed": ("rng i1 i1 f1 f1 f1 f1 Read2", ""),
    "score_tests.bounds": ("i f1 f1 f1 f1 f f2", ""),
    "tables.possible": ("i1 f1 f2 f2 i f b f2", "i"),
}
"""What each kernel takes and gives."""
