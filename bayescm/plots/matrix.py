"""The confusion matrix, each cell with its uncertainty."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.inputs import takes_counts
from bayescm.data.schema import ACTUAL, CI_BOUND, MATRIX, PREDICTED
from bayescm.inference.cells import cell_summary
from bayescm.plots.checks import asked, refuse
from bayescm.plots.frames import Axes
from bayescm.plots.heat import draw_heat, draw_totals
from bayescm.plots.letters import as_written
from bayescm.results.writing import percent

_SAID = 20  # classes whose shares stand in the cells
_OF = {"actual": "its actual class", "predicted": "its predicted class", "all": "all items"}


@takes_counts
@as_written
def plot_confusion_matrix(data: Any, *, cmap: str = "Blues", ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix: count, share and its posterior interval in every cell, as far as they can be read.

    Parameters
    ----------
    data : xarray.Dataset, or counts
        From :func:`bayescm.inference.cell_summary`, of one matrix; counts stand for what it says of them by default.
    cmap : str
        Colours of the share, from 0 to 1.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Cells of many classes hold count and share only, then the count only; the title says what they hold. Beside the rows
    stands how many items the shares are of.

    Examples
    --------
    >>> import bayescm
    >>> ax = bayescm.plots.plot_confusion_matrix(bayescm.inference.cell_summary([[6, 2], [0, 26]]))
    """
    data = _summarised(data)
    batch = [str(dim) for dim in data["counts"].dims if dim not in MATRIX]
    if batch:
        raise ValueError(f"`data` must be of one matrix; it also has the dims {batch}. Select one.")
    labels = [str(label) for label in data[ACTUAL].values]
    counts = data["counts"].transpose(ACTUAL, PREDICTED).values
    share = data["point"].transpose(ACTUAL, PREDICTED).values
    interval = data["interval"].transpose(ACTUAL, PREDICTED, CI_BOUND).values
    kinds = data["ci_kind"].transpose(ACTUAL, PREDICTED).values
    count, rate, full = (np.full(counts.shape, "", dtype=object) for _ in range(3))
    for i, j in np.ndindex(counts.shape):
        n, part = counts[i, j], _percent(share[i, j])
        low, high = 100 * interval[i, j]
        note = "" if kinds[i, j] == data.attrs["ci_kind"] else f" {kinds[i, j]}"
        count[i, j], rate[i, j] = (f"{n}", f"{n}\n{part}") if n else ("", "")
        full[i, j] = f"{n}\n{part}\n[{low:.1f}, {high:.1f}]{note}"
    ax, room = draw_heat(
        ax, share, (labels, labels), [full, rate, count], cell=1.25, bar="share" if len(labels) > _SAID else "",
        cmap=cmap, vmin=0.0, vmax=1.0
    )  # fmt: skip
    of = str(data.attrs["normalize"])
    if of != "all":
        axis = int(of == "actual")
        draw_totals(ax, "right" if axis else "top", [f"{n}" for n in counts.sum(axis)], "items", room)
    ax.set_xlabel("predicted")
    ax.set_ylabel("actual")
    shown = f"share of {_OF[of]}"
    title = {
        3: f"count, {shown},\n{percent(float(data.attrs['ci_prob']))} {data.attrs['ci_kind'].upper()}",
        2: f"count, {shown};\nempty: 0",
        1: f"count; colour: {shown};\nempty: 0",
    }.get(ax.texts[-1].get_text().count("\n") + 1 if ax.texts else 0, f"colour: {shown}")
    ax.set_title(title, fontsize="medium")
    return ax


def _percent(share: float) -> str:
    """Write a share as a percentage, never as a false 0 or 100."""
    if not np.isfinite(share):
        return "-"
    return "<0.1%" if 0 < share < 0.0005 else ">99.9%" if 0.9995 <= share < 1 else f"{100 * share:.1f}%"


def _summarised(cells: Any) -> xr.Dataset:
    """Return a summary of cells as it is, and that of counts."""
    if isinstance(cells, xr.Dataset) and {"counts", "point", "interval", "ci_kind"} <= set(cells.variables):
        return cells
    if not isinstance(cells, xr.DataArray | xr.DataTree | np.ndarray | list | tuple):
        refuse("cells", cells, "what bayescm.inference.cell_summary returns, or counts")
    return asked(cell_summary, cells)  # type: ignore[no-any-return]
