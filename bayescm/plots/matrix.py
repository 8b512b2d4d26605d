"""The confusion matrix, each cell with its uncertainty."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.inputs import takes_counts
from bayescm.data.schema import ACTUAL, CI_BOUND, MATRIX, PREDICTED
from bayescm.inference.cells import cell_summary
from bayescm.plots.checks import asked, refuse
from bayescm.plots.frames import Axes, new_axes
from bayescm.plots.letters import as_written

_OF = {"actual": "actual class", "predicted": "predicted class", "all": "all items"}


@takes_counts
@as_written
def plot_confusion_matrix(data: Any, *, cmap: str = "Blues", ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix: count, posterior mean share and its interval in every cell.

    Parameters
    ----------
    data : xarray.Dataset, or counts
        From :func:`bayescm.cell_summary`, of one matrix; counts stand for what it says of them by default.
    cmap : str
        Colours of the posterior mean, from 0 to 1.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayescm
    >>> ax = bayescm.plot_confusion_matrix(bayescm.cell_summary([[6, 2], [0, 26]]))
    """
    data = _summarised(data)
    batch = [str(dim) for dim in data["counts"].dims if dim not in MATRIX]
    if batch:
        raise ValueError(f"`data` must be of one matrix; it also has the dims {batch}. Select one.")
    labels = [str(label) for label in data[ACTUAL].values]
    k = len(labels)
    side = max(4.2, 1.25 * k + 1.4)
    ax = new_axes(ax, (side, side))
    mean = data["mean"].transpose(ACTUAL, PREDICTED).values
    ax.imshow(mean, vmin=0.0, vmax=1.0, cmap=cmap)
    counts = data["counts"].transpose(ACTUAL, PREDICTED).values
    interval = data["interval"].transpose(ACTUAL, PREDICTED, CI_BOUND).values
    kinds = data["ci_kind"].transpose(ACTUAL, PREDICTED).values
    note = np.where(kinds == data.attrs["ci_kind"], "", " " + kinds.astype(object))
    for i, j in np.ndindex(k, k):
        low, high = 100 * interval[i, j]
        ax.text(
            j, i, f"{counts[i, j]}\n{100 * mean[i, j]:.1f}%\n[{low:.1f}, {high:.1f}]{note[i, j]}",
            ha="center", va="center",
            color="white" if mean[i, j] > 0.55 else "black", fontsize="medium" if k < 5 else "small",
        )  # fmt: skip
    ax.set_xticks(range(k), labels)
    ax.set_yticks(range(k), labels)
    ax.set_xlabel("predicted")
    ax.set_ylabel("actual")
    share = f"share of its {_OF[str(data.attrs['normalize'])]}"
    ax.set_title(
        f"count, posterior mean {share},\n{100 * float(data.attrs['ci_prob']):g}% {data.attrs['ci_kind'].upper()}",
        fontsize="medium",
    )
    return ax


def _summarised(cells: Any) -> xr.Dataset:
    """Return a summary of cells as it is, and that of counts."""
    if isinstance(cells, xr.Dataset) and {"counts", "mean", "interval", "ci_kind"} <= set(cells):
        return cells
    if not isinstance(cells, xr.DataArray | xr.DataTree | np.ndarray | list | tuple):
        refuse("cells", cells, "what bayescm.cell_summary returns, or counts")
    return asked(cell_summary, cells)  # type: ignore[no-any-return]
