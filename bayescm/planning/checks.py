"""Names and checks that the decisions share."""

import xarray as xr

from bayescm.inference.labelled import Posterior

ACTION = "action"
TWO = 2


def two_labels(posterior: Posterior) -> None:
    """Refuse matrices of more than two labels."""
    if len(posterior.labels) != TWO:
        raise ValueError(
            f"`counts` must have two labels here; got {len(posterior.labels)}. Merge the classes into two; "
            "bayescm.summary and bayescm.decide take more, with their K shares as `prevalence`."
        )


def no_dim(counts: xr.DataArray, name: str) -> None:
    """Refuse a batch dim with a name that the result keeps."""
    if name in counts.dims:
        raise ValueError(f"`counts` can't have a dim {name!r} here: the result keeps that name. Rename it.")
