"""What scikit-learn's cross-validation returns, with the cells of every fold, becomes counts."""

import re
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CELLS_OF_TWO, FOLD, MATRIX, SYSTEM

_CELL = re.compile(r"(?:split(?P<fold>\d+)_)?test_(?P<cell>.+)")


def of_cv_results(results: Any) -> xr.DataArray | None:
    """Return the counts of every fold; None where there are no cells.

    Parameters
    ----------
    results : mapping or data frame
        Of ``cross_validate``, with ``test_tp`` and the other cells; or ``cv_results_`` of a search, with
        ``split0_test_tp``. Cells are those of :func:`bayescm.scorer`.

    Returns
    -------
    xarray.DataArray or None
        ``counts(fold, actual, predicted)``, of a search ``counts(system, fold, actual, predicted)``.
    """
    found: dict[str, dict[int, Any]] = {}
    for key in results:
        named = _CELL.fullmatch(key) if isinstance(key, str) else None
        if named and (named["cell"] in CELLS_OF_TWO or "->" in named["cell"]):
            found.setdefault(named["cell"], {})[int(named["fold"] or -1)] = np.asarray(results[key])
    if not found:
        return None
    of_two = set(found) <= set(CELLS_OF_TWO)
    cells = list(CELLS_OF_TWO) if of_two else list(found)
    names = [0, 1] if of_two else list(dict.fromkeys(cell.split("->")[0] for cell in cells))
    if set(found) != set(cells) or len(cells) != len(names) ** 2:
        raise ValueError(f"`counts` as results of cross-validation has the cells {', '.join(found)}; some are missing.")
    labels = names if of_two or not all(re.fullmatch(r"-?\d+", str(name)) for name in names) else list(map(int, names))
    one_by_one = np.stack([np.stack([found[cell][f] for f in sorted(found[cell])], axis=-1) for cell in cells], axis=-1)
    if np.isnan(one_by_one.astype(np.float64)).any():
        raise ValueError("`counts` as results of cross-validation has folds without counts: their fits failed.")
    values = validate.count_values("counts", one_by_one).reshape(*one_by_one.shape[:-1], len(labels), len(labels))
    counts = xr.DataArray(values, dims=(SYSTEM, FOLD, *MATRIX), coords=dict.fromkeys(MATRIX, labels), name="counts")
    if -1 in next(iter(found.values())):  # of one estimator, with the folds in a column
        return counts.isel({FOLD: 0}).rename({SYSTEM: FOLD})
    said = [", ".join(f"{name}={value}" for name, value in one.items()) for one in results.get("params", [])]
    return counts.assign_coords({SYSTEM: said}) if said else counts
