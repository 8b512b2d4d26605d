"""``bayescm region``, and the regions around a curve: joint uncertainty on the PR and the ROC plane."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import at_thresholds, counts_of
from bayescm.cli.options import add_command, add_counts, number_or_word, numbers
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.results.writing import each

if TYPE_CHECKING:
    import xarray as xr

REGION_EPILOG = """examples:
  bayescm region --tp 203 --fn 41 --fp 55 --tn 201 --method exact
  bayescm region --tp 203 --fn 41 --fp 55 --tn 201 --recall .85 --precision .75      test a point
  bayescm region systems.csv --space roc --plot regions.png                        columns tp,fn,fp,tn
"""
_ENDS = "the estimate, and the ends of each region along both axes"


def add_parser(commands: Any) -> None:
    """Add ``bayescm region`` to the parser."""
    p = add_command(commands, "region", "where recall and precision, or both rates, may lie", REGION_EPILOG, _region)
    add_counts(p)
    _add_method(p)
    for name in ("recall", "precision", "tpr", "fpr"):
        p.add_argument(f"--{name}", type=float, metavar="P", help="a hypothesised value, to be tested in a pair")
    add_outputs(p, "the level surface as a netCDF Dataset", "a picture of the regions")


def _add_method(parser: argparse.ArgumentParser) -> None:
    """Add the options of the method."""
    parser.add_argument("--space", default="pr", help="pr (default) or roc")
    parser.add_argument("--method", help="wilks (default; by --unit credible), exact, ellipse, anytime or simulate")
    parser.add_argument("--levels", default=".683,.954,.997", metavar="LIST", help="levels with commas")
    parser.add_argument("--prior", help="of credible and anytime: a name such as jeffreys, or a number")
    parser.add_argument("--ordering", help="of credible: relative_belief (default), density or kde (by draws)")
    parser.add_argument("--mid-p", action="store_true", default=None, help="of exact: count ties half")
    parser.add_argument("--draws", type=int, metavar="N", help="of simulate: simulations per point")
    parser.add_argument("--seed", type=int, metavar="N", help="of simulate: seed of the draws")
    parser.add_argument("--grid", type=int, metavar="N", help="points per axis")


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the method that were given."""
    given = {
        "method": arguments.method, "prior": None if arguments.prior is None else number_or_word(arguments.prior),
        "ordering": arguments.ordering, "mid_p": arguments.mid_p, "draws": arguments.draws,
        "random_seed": arguments.seed,
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


def _region(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm region``."""
    counts = counts_of(arguments)
    settings = _settings(arguments)
    point = {name: getattr(arguments, name) for name in ("recall", "precision", "tpr", "fpr")}
    point = {name: value for name, value in point.items() if value is not None}
    surface = bayescm.region(
        counts, space=arguments.space, levels=numbers("--levels", arguments.levels), grid=arguments.grid, **settings
    )  # fmt: skip
    outline = bayescm.regions.area(surface)
    test = bayescm.regions.region_level(counts, **point, **settings) if point else None
    records = _extents(surface, outline)
    tested = [] if test is None else _tested(test)
    document = {"point": _points(surface), "regions": records} | ({"test": tested} if tested else {})
    tables = {"regions": Table(records, f"{_name(surface)} regions: {_ENDS}")}
    if tested:
        title = "hypothesised point; level: of the smallest region that contains it"
        tables["test"] = Table(tested, title)
    tell(
        arguments, surface, "regions", document, tables, counts=counts,
        draw=lambda: bayescm.plots.plot_region(surface),
    )  # fmt: skip


def of_curve(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm curve --band regions``."""
    counts = at_thresholds(arguments.file, arguments, None)
    settings, levels = _settings(arguments), numbers("--levels", arguments.levels)
    band = bayescm.band(counts, space=arguments.space, levels=levels, grid=arguments.grid, **settings)
    marked = None
    if arguments.mark:
        chosen = at_thresholds(arguments.file, arguments, arguments.mark)
        marked = bayescm.region(chosen, space=arguments.space, levels=levels, **settings)
    areas = bayescm.regions.area(band)
    records = [
        {"level": float(level), "area": float(areas["area"].sel(level=level))} for level in areas["level"].values
    ]  # fmt: skip
    of_marked = [] if marked is None else _extents(marked, bayescm.regions.area(marked))
    document = {"band": records, "regions": of_marked} | _curve(counts, band)
    title = f"{_name(band)} band of {counts.sizes['threshold']} thresholds, pointwise"
    tables = {
        "band": Table(records, title, "area: share of the plane that no threshold excludes"),
        "regions": Table(of_marked, f"regions of single thresholds: {_ENDS}"),
    }
    tell(
        arguments, band, "band", document, tables, draw=lambda: bayescm.plots.plot_band(band, regions=marked)
    )  # fmt: skip


def _curve(counts: "xr.DataArray", band: "xr.Dataset") -> dict[str, list[dict[str, Any]]]:
    """Return a record per threshold: its counts and its place on the plane."""
    cells = bayescm.data.schema.flatten_cells(counts)
    points = [
        {"threshold": float(one["threshold"])}
        | {str(cell): int(one.sel(cell=cell)) for cell in one["cell"].values}
        | {str(m): float(band["point"].sel(metric=m)[i]) for m in band["metric"].values}
        for i, one in enumerate(cells.transpose("threshold", ...))
    ]
    return {"curve": points}


def _name(data: "xr.Dataset") -> str:
    return f"{data.attrs['method']} {data.attrs['space'].upper()}"


def _points(surface: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per matrix: its estimates."""
    return [
        {**names, **{str(m): float(one["point"].sel(metric=m)) for m in one["metric"].values}}
        for names, one in each(surface[["point"]], "point", "metric")
    ]


def _extents(surface: "xr.Dataset", outline: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per matrix and level: the estimate, and the area and the ends of the region."""
    y, x = (str(name) for name in surface["metric"].values)
    records = []
    estimates = _points(surface)
    for estimate, (names, one) in zip(estimates, each(outline, "area", "level"), strict=True):
        for i, level in enumerate(one["level"].values.tolist()):
            mine = one.isel(level=i)
            ends = {
                f"{m} {bound}": float(mine["extent"].sel(metric=m, ci_bound=bound))
                for m in (y, x)
                for bound in ("lower", "upper")
            }
            records.append({**names, "level": level, **{m: estimate[m] for m in (y, x)}, **ends,
                            "area": float(mine["area"])})  # fmt: skip
    return records


def _tested(test: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per matrix of a tested point."""
    shown = ("statistic", "level", "p_value")
    return [
        {**names, **{name: float(one[name]) for name in shown}} for names, one in each(test[list(shown)], "level")
    ]  # fmt: skip
