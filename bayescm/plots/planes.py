"""The PR and the ROC plane: which surfaces are shown under which names, the frame around them, and the legend."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.plots.checks import refuse
from bayescm.plots.densities import COLORS
from bayescm.plots.visuals import BLUE, coordinates, shades, surface, widths
from bayescm.regions.drawn import Pair, plane
from bayescm.regions.grid import smooth
from bayescm.results.writing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Surfaces = xr.Dataset | Mapping[str, xr.Dataset] | Sequence[xr.Dataset]

_OF_METHOD = {"wilks": BLUE, "exact": "#4D4D4D", "credible": "#009E73", "ellipse": "#D55E00", "simulate": "#CC79A7"}
LINE_STYLES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
_MARGIN = 0.04
_ROW = 75  # letters of a row of a legend, of which the mark of an entry takes as many as
_KEY = 8
CHANCE = "chance"


class Layer(NamedTuple):
    """One surface to be drawn, without batch dims."""

    name: str
    data: xr.Dataset
    color: str
    style: Any


def layers(
    data: Any, names: Sequence[str] | None, argument: str = "data", *, colors: Sequence[str] | None = None
) -> list[Layer]:
    """Return the surfaces that are shown, each with its name, colour and line style."""
    named = [pair for name, one in _named(data, argument) for pair in _singles(name, one, argument)]
    palette = COLORS if colors is None else colors
    if len(named) > len(palette):
        raise ValueError(
            f"`{argument}` has {len(named)} surfaces, and more than {len(palette)} can't be told apart; select some."
        )
    if len({one.attrs["space"] for _, one in named}) > 1:
        raise ValueError(f"`{argument}` mixes the PR and the ROC plane; draw them on axes of their own.")
    named = list(zip(renamed(names, [name for name, _ in named], "surface"), [one for _, one in named], strict=True))
    methods = [str(one.attrs["method"]) for _, one in named]
    fixed = 1 < len(named) == len(set(methods)) and colors is None
    styles = [
        LINE_STYLES[i % len(LINE_STYLES)] if len(named) > 1 and colors is None else "-" for i in range(len(named))
    ]
    return [
        Layer(name, one, _OF_METHOD[methods[i]] if fixed else palette[i], styles[i])
        for i, (name, one) in enumerate(named)
    ]


def renamed(names: Sequence[str] | None, own: list[str], what: str) -> list[str]:
    """Return the names that were given instead of their own, one for each thing in a picture."""
    if names is None:
        return own
    if isinstance(names, str) or len(names) != len(own):
        raise ValueError(f"`names` must be {len(own)} names, one for each {what}; got {names!r}.")
    return [str(name) for name in names]


def _named(data: Any, argument: str) -> list[tuple[str, xr.Dataset]]:
    """Return Datasets with names, which a sequence gets from its methods."""
    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset):
        pairs = [(_key(str(name), one), one) for name, one in data.items()]
    elif isinstance(data, Sequence) and not isinstance(data, str):
        pairs = [("", one) for one in data]
    else:
        pairs = [("", data)]
    if not pairs:
        raise ValueError(f"`{argument}` is empty; give at least one surface.")
    for _, one in pairs:
        made = isinstance(one, xr.Dataset) and {"level", "point"} <= set(one) and {"space", "levels"} <= set(one.attrs)
        if not made:
            refuse(
                argument,
                one,
                "what bayescm.region or bayescm.band returns, or several of these",
                "bayescm.plot_region(bayescm.region(counts))",
            )
    if len(pairs) > 1 and not isinstance(data, Mapping):
        pairs = [(words(one), one) for _, one in pairs]
        if len(dict(pairs)) < len(pairs):
            said = "; ".join(name for name, _ in pairs)
            raise ValueError(f"`{argument}` has several surfaces of one method ({said}); give a mapping of names.")
    return pairs


def _key(name: str, data: Any) -> str:
    """Return the name that a mapping gives, in words where it is that of the method."""
    return words(data) if isinstance(data, xr.Dataset) and name == data.attrs.get("method") else name


def _singles(name: str, data: xr.Dataset, argument: str) -> list[tuple[str, xr.Dataset]]:
    """Return the surfaces of a batch with their names."""
    space = plane(str(data.attrs["space"]))
    batch = [dim for dim in data["level"].dims if dim not in (space.y, space.x)]
    if len(batch) > 1:
        raise ValueError(f"`{argument}` must have at most one batch dim; got {batch}. Select or stack first.")
    data = data.compute()
    if not batch:
        return [(name, data)]
    if data.sizes[batch[0]] == 0:
        raise ValueError(f"`{argument}` has a batch dim of size 0; give at least one matrix.")
    return [
        (f"{name} {batch[0]} {label}".strip(), data.isel({batch[0]: i}))
        for i, label in enumerate(batch_labels(data[batch[0]].values))
    ]


def batch_labels(values: NDArray[Any]) -> list[str]:
    """Write the coordinates of a batch, numbers with as few digits as tell them apart."""
    if values.dtype.kind != "f":
        return [str(value) for value in values]
    for digits in (3, 6):
        found = [f"{value:.{digits}g}" for value in values]
        if len(set(found)) == len(set(values.tolist())):
            return found
    return [str(value) for value in values]


def words(data: xr.Dataset) -> str:
    """Return a method in words."""
    attrs = data.attrs
    method = str(attrs["method"])
    if method == "credible":
        prior = str(attrs.get("prior", "jeffreys"))
        said = f"{prior[0].upper()}{prior[1:]} prior" if prior[:1].isalpha() else f"prior {prior}"
        density = attrs.get("ordering") == "density"
        if "normal scores" in str(attrs.get("ordering")):
            said += ", by draws"
        return f"{'highest density' if density else 'credible'}, {said if prior[:1] not in '[{' else 'own prior'}"
    plain = {"wilks": "Wilks", "simulate": "simulated"}.get(method, method)
    if method == "exact" and str(attrs.get("mid_p", "false")).lower() == "true":
        return f"{plain}, mid-p"
    return f"{plain}, covariance added" if "extra_cov" in attrs else plain


def title_of(shown: list[Layer]) -> str:
    """Return what the methods of all surfaces have in common, in words."""
    said = {words(layer.data) for layer in shown}
    common = said if len(said) == 1 else {text.partition(",")[0] for text in said}
    return next(iter(common)) if len(common) == 1 else ""


def wanted_levels(levels: Sequence[float] | float | None, shown: list[Layer]) -> list[float]:
    """Return increasing levels, none beyond what all surfaces are complete to."""
    stored = [json.loads(str(layer.data.attrs["levels"])) for layer in shown]
    if levels is None:
        if any(one != stored[0] for one in stored):
            raise ValueError(f"`levels` must be given: the surfaces were made with different ones, {stored}.")
        levels = stored[0]
    given: list[Any] = [levels] if isinstance(levels, float | int) else validate.listed("levels", levels)
    found = sorted(validate.number("levels", level, 0, 1) for level in given)
    validate.unique("levels", found)
    if not found:
        raise ValueError("`levels` is empty; give at least one level such as 0.95.")
    complete = min(float(layer.data.attrs["complete_level"]) for layer in shown)
    if found[-1] > complete:
        raise ValueError(
            f"`levels` must not exceed {complete:g}, up to which the surface is complete; got {found[-1]:g}. "
            f"Make it with levels=[..., {found[-1]:g}]."
        )
    return found


def new_axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """Return the axes that were given, or those of a new figure."""
    import matplotlib.pyplot as plt

    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def extent(shown: list[Layer], levels: list[float], cloud: tuple[Array, Array] | None) -> Array:
    """Return limits (2, 2) of x and y around the largest contours, the estimates and a cloud."""
    found: list[list[Array]] = [[], []]
    for layer in shown:
        x, y, z = surface(layer.data["level"])
        inside = np.ma.filled(z <= smooth(levels[-1]), fill_value=False)
        for values, part, along in zip(coordinates(layer.data["point"]), (x, y), (0, 1), strict=True):
            found[along] += [part[inside.any(axis=along)], values[np.isfinite(values)]]
    for values, store in zip(cloud or (), found, strict=False):
        store.append(values)
    limits = np.empty((2, 2))
    for k, several in enumerate(found):
        every = np.concatenate(several)
        if len(every) == 0:  # neither a region nor an estimate
            every = np.concatenate([surface(layer.data["level"])[k] for layer in shown])
        limits[k] = every.min(), every.max()
    return _padded(limits)


def whole(shown: list[Layer]) -> Array:
    """Return limits (2, 2) of x and y around the grids."""
    grids = [surface(layer.data["level"])[:2] for layer in shown]
    ends = [[min(grid[k][0] for grid in grids), max(grid[k][-1] for grid in grids)] for k in (0, 1)]
    return _padded(np.array(ends, dtype=np.float64))


def _padded(limits: Array) -> Array:
    """Return limits with a margin, which is small beyond 0 and 1."""
    span = np.maximum(limits[:, 1] - limits[:, 0], 1e-6)[:, None]
    wide = limits + _MARGIN * span * [-1.0, 1.0]
    return np.clip(wide, -0.4 * _MARGIN * span, 1.0 + 0.4 * _MARGIN * span)


def frame(ax: "Axes", x: str, y: str, limits: Array) -> None:
    """Set labels and limits; axes that show something already keep that in sight."""
    if ax.has_data():
        old = np.array([ax.get_xlim(), ax.get_ylim()])
        limits = np.stack([np.minimum(old[:, 0], limits[:, 0]), np.maximum(old[:, 1], limits[:, 1])], -1)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)


def axis_labels(space: Pair, data: xr.Dataset) -> tuple[str, str]:
    """Return what the coordinates of a surface are called, x first."""
    return tuple(str(data[name].attrs.get("long_name", name)) for name in (space.x, space.y))  # type: ignore[return-value]


def draw_chance(ax: "Axes", name: str = CHANCE) -> None:
    """Draw the diagonal of a ROC plane, or another one, with its name; once."""
    if any(text.get_text() == name for text in ax.texts):
        return
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=0.9, linestyle=":", zorder=1.4)
    ax.text(
        0.98, 0.96, name, rotation=45.0, rotation_mode="anchor", transform_rotates_text=True, ha="right", va="top",
        fontsize="small", color="0.45", clip_on=True,
    )  # fmt: skip


def level_handles(shown: list[Layer], levels: list[float], *, shaded: bool) -> list[Any]:
    """Return what the legend shows of levels: shades of a single surface, else line widths."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    color = shown[0].color if len(shown) == 1 else "0.25"
    if shaded:
        tones = zip(levels, shades(color, len(levels)), strict=True)
        return [Patch(facecolor=tone, edgecolor=color, linewidth=0.7, label=percent(c)) for c, tone in tones]
    made = zip(levels, widths(len(levels)), strict=True)
    return [Line2D([], [], color=color, linewidth=width, label=percent(level)) for level, width in made]


def name_handles(shown: list[Layer]) -> list[Any]:
    """Return what the legend shows of names: nothing of a single surface that has none."""
    from matplotlib.lines import Line2D

    if len(shown) == 1 and not shown[0].name:
        return []
    missing = ["" if bool(s.data["level"].notnull().any()) else " (no region)" for s in shown]
    return [
        Line2D([], [], color=s.color, linestyle=s.style, linewidth=1.6, label=s.name + none)
        for s, none in zip(shown, missing, strict=True)
    ]


def draw_legend(ax: "Axes", title: str, *groups: list[Any]) -> None:
    """Put a legend above the axes, each group in columns of its own."""
    from matplotlib.lines import Line2D

    full = [group for group in groups if group]
    letters = sum(len(handle.get_label()) + _KEY for group in full for handle in group)
    short = len(full) == 1 and len(full[0]) <= 4
    rows = 1 + (letters > _ROW) if short else min(4, max(len(group) for group in full))
    handles: list[Any] = []
    for group in full:
        blanks = -len(group) % rows
        handles += [*group, *(Line2D([], [], linestyle="none", label=" ") for _ in range(blanks))]
    ax.legend(
        handles=handles, title=title or None, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles) // rows,
        frameon=False, fontsize="small", title_fontsize="small", handlelength=2.6, columnspacing=1.4,
        alignment="left", borderaxespad=0.3,
    )  # fmt: skip


def list_legend(ax: "Axes", title: str | None, **options: Any) -> None:
    """Put a legend of long lines above the axes."""
    ax.legend(
        title=title, frameon=False, fontsize="small", title_fontsize="small", handlelength=2.6, alignment="left",
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3, **options,
    )  # fmt: skip
