"""Every public function by its own name, wherever it lives."""

import bayescm

WHOLE = ("planning", "plots", "curves", "priors", "inference", "data")
FURTHER = {
    "calibration": ["sbc"],
    "metrics": ["evaluate"],
    "models": ["rope_probabilities"],
    "regions": ["region_level"],
}
"""Rooms with tools beside the questions, and which of their functions are questions."""
ROOMS = {room: getattr(bayescm, room).__all__ for room in WHOLE} | FURTHER
PUBLIC = {
    name: thing
    for module, names in [*((getattr(bayescm, room), names) for room, names in ROOMS.items()), (bayescm, dir(bayescm))]
    for name in names
    if callable(thing := getattr(module, name)) and name != "arviz_options"
}
