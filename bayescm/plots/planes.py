"""The PR and the ROC plane: which surfaces are shown under which names, and what the legend says of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy.ndimage import gaussian_filter

from bayescm.data import validate
from bayescm.plots.checks import asked, require
from bayescm.plots.frames import Axes, name_handles
from bayescm.plots.layers import LINE_STYLES, Array, Layer, batch_labels, parts, renamed, tell_apart
from bayescm.plots.style import palette, tone
from bayescm.plots.visuals import coordinates, shades, surface, widths
from bayescm.regions.drawn import Pair, plane
from bayescm.regions.grid import smooth
from bayescm.regions.surfaces import region
from bayescm.results.writing import percent

type Surfaces = xr.Dataset | xr.DataTree | Mapping[str, xr.Dataset | xr.DataTree] | Sequence[xr.Dataset | xr.DataTree]

_OF_METHOD = {"wilks": 0, "credible": 2, "ellipse": 1, "simulate": 3, "anytime": 4}  # others are dark grey
_MARGIN = 0.04
_SMOOTHED = 0.015  # of a grid: over how much the edges of exact regions are smoothed
CHANCE = "chance"


def surfaces(
    data: Any,
    names: Sequence[str] | None,
    argument: str = "data",
    *,
    levels: Sequence[float] | float | None = None,
    colors: Sequence[str] | None = None,
) -> list[Layer]:
    """Return the surfaces that are shown, each with its name, colour and line style; draws are asked for theirs."""
    pairs = [pair for name, one in _named(data, argument, levels) for pair in _singles(name, one, argument)]
    hues = palette() if colors is None else colors
    tell_apart(len(pairs), "surfaces", len(hues), argument)
    one_plane((one for _, one in pairs), argument)
    called = renamed(names, [name for name, _ in pairs], "surface")
    methods = [str(one.attrs["method"]) for _, one in pairs]
    fixed = 1 < len(pairs) == len(set(methods)) and colors is None
    styles = LINE_STYLES if len(pairs) > 1 and colors is None else ("-",)
    return [
        Layer(name, one, _hue(methods[i], hues) if fixed else hues[i], styles[i % len(styles)])
        for i, (name, (_, one)) in enumerate(zip(called, pairs, strict=True))
    ]


def _hue(method: str, hues: Sequence[str]) -> str:
    """Return the colour of a method beside others."""
    return tone(0.7) if method == "exact" else hues[_OF_METHOD[method]]


def one_plane(data: Iterable[xr.Dataset], argument: str = "data") -> None:
    """Refuse things of different planes."""
    if len({one.attrs["space"] for one in data}) > 1:
        raise ValueError(f"`{argument}` mixes the PR and the ROC plane; draw them on axes of their own.")


def _named(data: Any, argument: str, levels: Any) -> list[tuple[str, xr.Dataset]]:
    """Return Datasets with names, which a sequence gets from its methods."""
    own = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    several = isinstance(data, Sequence) and not isinstance(data, str)
    pairs = list(data.items()) if own else [("", one) for one in (data if several else [data])]
    if not pairs:
        raise ValueError(f"`{argument}` is empty; give at least one surface.")
    pairs = [(str(name), _surface(one, argument, levels)) for name, one in pairs]
    if own:
        return [(words(one) if name == one.attrs["method"] else name, one) for name, one in pairs]
    if len(pairs) > 1:
        pairs = [(words(one), one) for _, one in pairs]
        if len(dict(pairs)) < len(pairs):
            said = "; ".join(name for name, _ in pairs)
            raise ValueError(f"`{argument}` has several surfaces of one method ({said}); give a mapping of names.")
    return pairs


def _surface(data: Any, argument: str, levels: Any) -> xr.Dataset:
    """Return a surface as it is, and that of draws."""
    if isinstance(data, xr.DataTree):
        wanted = [levels] if isinstance(levels, float) else levels
        return asked(region, data, levels=wanted)  # type: ignore[no-any-return]
    call = "bayescm.plots.plot_region(bayescm.region(counts))"
    require(argument, data, "bayescm.region or bayescm.band", ("level", "point"), ("space", "levels"), call=call)
    return data  # type: ignore[no-any-return]


def _singles(name: str, data: xr.Dataset, argument: str) -> list[tuple[str, xr.Dataset]]:
    """Return the surfaces of a batch with their names."""
    space = plane(str(data.attrs["space"]))

    def labels(batch: xr.DataArray) -> list[str]:
        return [f"{batch.name} {label}" for label in batch_labels(batch.values)]

    several = parts(name, data, "level", (space.y, space.x), argument, labels)
    return [(called, _even(one, space) if one.attrs["method"] == "exact" else one) for called, one in several]


def _even(data: xr.Dataset, space: Pair) -> xr.Dataset:
    """Smooth the edges of exact regions, which are torn because the p-value jumps where the order of tables changes."""
    level = data["level"].transpose(space.y, space.x)
    known, scale = level.notnull().values, smooth(level.values)
    filled = np.where(known, scale, scale[known].max(initial=0.0))
    even = gaussian_filter(filled, _SMOOTHED * np.array(filled.shape), mode="nearest")
    return data.assign(level=level.copy(data=np.where(known, -np.expm1(-0.5 * even**2), np.nan)))


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


def axis_labels(space: Pair, data: xr.Dataset) -> tuple[str, str]:
    """Return what the coordinates of a surface are called, x first."""
    return tuple(str(data[name].attrs.get("long_name", name)) for name in (space.x, space.y))  # type: ignore[return-value]


def draw_chance(ax: Axes, name: str = CHANCE, level: float | None = None) -> None:
    """Draw the diagonal of a ROC plane, or another one, with its name; once. Or a level on the PR plane."""
    if any(text.get_text() == name for text in ax.texts):
        return
    ends = (0.0, 1.0) if level is None else (level, level)
    ax.plot([0.0, 1.0], ends, color=tone(0.6), linewidth=0.9, linestyle=":", zorder=1.4)
    how: dict[str, Any] = {"x": 0.98, "y": 0.96, "rotation": 45.0, "ha": "right", "va": "top"}
    if level is not None:
        how = {"x": 0.02, "y": level + 0.01, "ha": "left", "va": "bottom"}
    ax.text(
        s=name, rotation_mode="anchor", transform_rotates_text=True, fontsize="small", color=tone(0.75), clip_on=True,
        **how,
    )  # fmt: skip


def level_handles(shown: list[Layer], levels: list[float], *, shaded: bool) -> list[Any]:
    """Return what the legend shows of levels: shades of a single surface, else line widths."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    color = shown[0].color if len(shown) == 1 else tone(0.75)
    if shaded:
        tones = zip(levels, shades(color, len(levels)), strict=True)
        return [Patch(facecolor=tone, edgecolor=color, linewidth=0.7, label=percent(c)) for c, tone in tones]
    made = zip(levels, widths(len(levels)), strict=True)
    return [Line2D([], [], color=color, linewidth=width, label=percent(level)) for level, width in made]


def surface_handles(shown: Sequence[Layer]) -> list[Any]:
    """Return what the legend shows of names, and that a surface has no region."""
    missing = ["" if bool(one.data["level"].notnull().any()) else " (no region)" for one in shown]
    return name_handles(shown, [one.name + none for one, none in zip(shown, missing, strict=True)])
