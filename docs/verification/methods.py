"""Coverage of every public method against n and the edge: ``python -m uv run python docs/verification/methods.py``.

One study over all methods, by :func:`bayescm.calibration.coverage_of` alone: every outcome is enumerated where there
are few enough, else simulated, with the standard error beside. Writes methods_<family>.csv, the tables
methods_<family>_table.inc with their verdicts, and methods_<family>.png. ``--family matrix`` runs one family,
``--resume`` keeps the parts that its csv has, ``--draw`` makes tables and pictures from the files, ``--quick`` runs a
small part, writes nothing and fails if a promise is broken.
"""

import argparse
import csv
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import methods_data as of
import methods_pages
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows

import bayescm
from bayescm.calibration import coverage_of
from bayescm.curves import pr_area, roc_area
from bayescm.curves.area_intervals import Areas
from bayescm.inference.intervals import FIXED_SAMPLE, METHODS
from bayescm.inference.multinomial import goodman, sison_glaz

Array = NDArray[np.float64]
Row = dict[str, Any]
Part = tuple[tuple[str, str, int], Callable[[], list[Row]]]
"""Quantity, methods and items; their rows."""

HERE = Path(__file__).parent
SIZES, QUICK = (5, 10, 20, 50, 100), (5,)
SUMMARIES = tuple(of.SUMMARIES)
AVERAGE, LEAST = "average", "least"
DRAWN, RATES_OF_BOTH = 200, (np.arange(15) + 0.5) / 15
FEW_CASES = (5, 10, 20, 50)


def row(quantity: str, method: str, n: int, truth: str, found: xr.Dataset, *, at: str = "") -> Row:
    """Return a row of one truth, or of the mean over all of `found`."""
    several = found.sizes["truth"] > 1
    by, size = found.attrs["answered_by"], found.sizes["truth"]
    values = {name: float(found[name].mean()) if name in found else np.nan
              for name in ("coverage", "mcse", "below", "above", "width", "unanswered")}  # fmt: skip
    if several and by == "simulation":  # of independent data sets
        values["mcse"] = float(np.sqrt((found["mcse"] ** 2).sum())) / size
    numbers = {name: "" if np.isnan(value) else round(value, 5) for name, value in values.items()}
    return {"quantity": quantity, "method": method, "n": n, "truth": truth, "at": at, **numbers, "by": by}


def rows(quantity: str, method: str, n: int, truths: Sequence[str], found: xr.Dataset) -> list[Row]:
    """Return a row per truth."""
    return [row(quantity, method, n, name, found.isel(truth=[i])) for i, name in enumerate(truths)]


def of_each(
    quantities: Sequence[tuple[str, str]], n: int, named: tuple[Sequence[str], xr.Dataset], average: xr.Dataset | None
) -> list[Row]:
    """Return the rows of (quantity, method) along the dim ``quantity``: of each truth, and of the average."""
    made: list[Row] = []
    for i, (quantity, method) in enumerate(quantities):
        one = (lambda d, i=i: d.isel(quantity=i)) if "quantity" in named[1].dims else (lambda d: d)
        made += rows(quantity, method, n, named[0], one(named[1]))
        if average is not None:
            made.append(row(quantity, method, n, AVERAGE, one(average)))
    return made


def proportion(sizes: Sequence[int]) -> Iterator[Part]:
    """Recall of n positives: rates from the middle to the edge, all rates, and the least between .01 and .99."""
    for n in sizes:
        for method in (*METHODS, *SUMMARIES[:4]):
            yield ("recall", method, n), lambda method=method, n=n: of_rates(method, n)


def of_rates(method: str, n: int) -> list[Row]:
    """Return the rows of one method and size."""
    bounds = of.of_positives(method, n, 2000)
    ends = np.concatenate(bounds(np.arange(n + 1)))
    everywhere = np.unique(np.clip(np.concatenate([ends - 1e-9, ends + 1e-9, np.arange(10, 991) / 1000]), 0.01, 0.99))
    everywhere = everywhere[~np.isnan(everywhere)]
    made = rows("recall", method, n, [f"rate {p:g}" for p in of.RATES], coverage_of(bounds, of.RATES, n))
    made.append(row("recall", method, n, AVERAGE, coverage_of(bounds, (np.arange(2000) + 0.5) / 2000, n)))
    found = coverage_of(bounds, everywhere, n)
    i = int(found["coverage"].values.round(9).argmin())  # of mirror images the first
    made.append(row("recall", method, n, LEAST, found.isel(truth=[i]), at=f"rate {everywhere[i]:.3f}"))
    return made


def matrix(sizes: Sequence[int]) -> Iterator[Part]:
    """Metrics of a matrix of n items: six classifiers, and the average over classifiers."""
    for n in sizes:
        for method in (*FIXED_SAMPLE, "delta", "bootstrap", *SUMMARIES):
            yield ("metrics", method, n), lambda method=method, n=n: of_matrices(method, n)


def of_matrices(method: str, n: int) -> list[Row]:
    """Return the rows of one method and size, all metrics that it serves."""
    names = of.served(method)
    most = 2_000 if method in (*of.SUMMARIES, *of.PEERS, "bootstrap") else 25_000
    options: dict[str, Any] = {"most_outcomes": most, "target": of.of_metrics(names), "random_seed": 1}
    bounds, truths = of.of_cells(method, names, 1000), of.classifiers()
    found = coverage_of(bounds, list(truths.values()), n, simulations=4000, **options)
    average = coverage_of(bounds, of.drawn_classifiers(DRAWN), n, simulations=20, **options)
    return of_each([(name, method) for name in names], n, (list(truths), found), average)


def difference(sizes: Sequence[int]) -> Iterator[Part]:
    """Difference of two proportions, of other items and of the same."""
    for n in (n for n in sizes if n <= 20):
        yield ("other items", "all", n), lambda n=n: of_other_items(n)
    for n in sizes:
        yield ("same items", "all", n), lambda n=n: of_same_items(n)


def of_other_items(n: int) -> list[Row]:
    """Return the rows of two samples of n items each."""
    names, bounds = of.of_difference("other items", n, ("hdi", "eti"))
    pairs = [[(1 - p, p) for p in pair] for pair in of.PAIRS]
    grid = [[(1 - p, p), (1 - q, q)] for p in RATES_OF_BOTH for q in RATES_OF_BOTH]
    found, average = (coverage_of(bounds, both, n, target=lambda t: np.full(len(names), t[0, 1] - t[1, 1]))
                      for both in (pairs, grid))  # fmt: skip
    titles = [f"{p:g} and {q:g}" for p, q in of.PAIRS]
    return of_each([("other items", name) for name in names], n, (titles, found), average)


def of_same_items(n: int) -> list[Row]:
    """Return the rows of n items that both systems answered."""
    names, bounds = of.of_difference("same items", n, ("hdi", "eti") if n <= 10 else ("eti",))
    truths = [of.same_items(*one) for one in of.DISCORDANT]
    u = np.random.default_rng(2).random((DRAWN, 3))
    discordant, side, right = 0.01 + 0.29 * u[:, 0], 1.6 * u[:, 1] - 0.8, 0.5 + 0.5 * u[:, 2]
    drawn = [of.same_items(*one) for one in zip(discordant, discordant * side, right, strict=True)]
    options: dict[str, Any] = {"target": lambda t: np.full(len(names), t[1] - t[2]), "most_outcomes": 2000,
                               "random_seed": 1}  # fmt: skip
    found = coverage_of(bounds, truths, n, simulations=2000, **options)
    average = coverage_of(bounds, drawn, n, simulations=10, **options)
    titles = [f"{share:g} discordant, difference {gap:g}" for share, gap in of.DISCORDANT]
    return of_each([("same items", name) for name in names], n, (titles, found), average)


def simultaneous(sizes: Sequence[int]) -> Iterator[Part]:
    """All shares of three cells; all bins of a reliability diagram; a whole curve."""
    for n in sizes:
        yield ("three cells", "all", n), lambda n=n: of_shares(n)
    for n in (n for n in sizes if n > 5):
        yield ("reliability", "all", n), lambda n=n: of_bands("reliability", n, 400)
        if n <= 50:
            yield ("roc curve", "all", n), lambda n=n: of_curves(n)


def of_shares(n: int) -> list[Row]:
    """Return the rows of simultaneous intervals of three shares."""
    made: list[Row] = []
    drawn = np.random.default_rng(3).dirichlet(np.ones(3), 500)
    for name, method in {"goodman": goodman, "sison_glaz": sison_glaz}.items():

        def bounds(counts: Array, method: Callable[..., Any] = method) -> tuple[Array, Array]:
            lower, upper = method(counts, of.LEVEL)
            return lower - of.EPS, upper + of.EPS

        titles = [" ".join(f"{p:.2g}" for p in shares) for shares in of.SHARES]
        found, average = (coverage_of(bounds, truths, n, simultaneous=True) for truths in (of.SHARES, drawn))
        made += of_each([("three cells", name)], n, (titles, found), average)
    return made


def of_bands(what: str, n: int, simulations: int, file: Path | None = None) -> list[Row]:
    """Return the rows of bands that hold all of something, or don't."""
    curves = what == "curve"
    truths: Mapping[str, Any] = of.CURVES if curves else of.CHANCES
    names = [(f"{space} curve", kind) for kind, space in of.BANDS] if curves else [(what, m) for m in of.RELIABILITY]
    found = coverage_of(
        of.in_bands if curves else of.in_reliability, list(truths.values()), simulations=simulations, contains=True,
        simulate=of.of_scores(n) if curves else of.of_chances(n), random_seed=1, file=file,
    )  # fmt: skip
    return of_each(names, n, (list(truths), found), None)


def of_curves(n: int) -> list[Row]:
    """Return the rows of bands of curves: those of docs/verification/curves.py where it has them."""
    with (HERE / "curves_bands.csv").open(encoding="utf-8") as lines:
        stands = [r for r in csv.DictReader(lines) if r["items"] == str(n) and r["prior"] != "smoothed"]
    made = [{
        "quantity": f"{r['space']} curve", "method": r["kind"], "n": n, "truth": r["scenario"].split(",")[0],
        "at": "", "coverage": float(r["coverage"]), "mcse": float(r["se"]), "below": "", "above": "",
        "width": float(r["width"]), "unanswered": 0.0, "by": "curves_bands.csv",
    } for r in stands if (r["kind"], r["space"]) in of.BANDS]  # fmt: skip
    return made or of_bands("curve", n, 200)


def region(sizes: Sequence[int]) -> Iterator[Part]:
    """Regions on the PR and the ROC plane."""
    for n in (n for n in sizes if n > 5 or len(sizes) == 1):
        for space in ("pr", "roc"):
            yield (space, "all", n), lambda space=space, n=n: of_regions(space, n)


def of_regions(space: str, n: int) -> list[Row]:
    """Return the rows of one plane."""
    names, inside = of.in_regions(space, n)
    truths = of.classifiers()
    options: dict[str, Any] = {"contains": True, "most_outcomes": 2000, "random_seed": 1}
    found = coverage_of(inside, list(truths.values()), n, simulations=4000, **options)
    average = coverage_of(inside, of.drawn_classifiers(64), n, simulations=100, **options)
    return of_each([(space, name) for name in names], n, (list(truths), found), average)


def area(sizes: Sequence[int]) -> Iterator[Part]:
    """Areas under curves of normal scores, few cases: 100 controls (AUC), nine a case (average precision)."""
    quick = len(sizes) == 1
    for what in ("auc", "average_precision"):
        for cases in FEW_CASES[:1] if quick else FEW_CASES:
            times = 1000 if (what, cases) == ("auc", 50) else 300  # methods are close together there
            options = what, cases, 20 if quick else times
            yield (what, "all", cases), lambda options=options: of_areas(*options)


def of_areas(what: str, cases: int, simulations: int, file: Path | None = None) -> list[Row]:
    """Return the rows of one number of cases: those of docs/verification/areas.py where it has them."""
    import areas  # reads its own arguments

    names = areas.AUC_METHODS if what == "auc" else areas.METHODS
    stands = {"auc": "areas_auc.csv", "average_precision": "areas_coverage.csv"}[what]
    with (HERE / stands).open(encoding="utf-8") as lines:
        mine = [r for r in csv.DictReader(lines) if r["cases"] == str(cases)
                and (what == "auc" or (r["scenario"], r["estimator"]) == ("binormal", what))]  # fmt: skip
    title = "binormal"
    if mine and simulations > 20:
        return [{
            "quantity": what, "method": r["method"], "n": cases, "truth": title, "at": "",
            "coverage": float(r["coverage"]), "mcse": float(r["se"]), "below": float(r["truth_above"]),
            "above": float(r["truth_below"]), "width": float(r["mean_width"]) if r["mean_width"] else "",
            "unanswered": float(r["no_interval"]), "by": stands,
        } for r in mine]  # fmt: skip
    controls = 100 if what == "auc" else 9 * cases
    truth = areas.true_area("binormal", 0.1) if what != "auc" else float(areas.stats.norm.cdf(2**-0.5))
    methods = roc_area.METHODS if what == "auc" else pr_area.METHODS

    def simulate(rng: np.random.Generator, _: float) -> tuple[Any, int]:
        return areas.draw(rng, "binormal", cases, controls), int(rng.integers(2**62))

    def bounds(data: tuple[Any, int]) -> Array:
        found = Areas(data[0], (what,), cases, of.LEVEL, areas.DRAWS, areas.FOLDS, data[1])
        answers = [methods[name](found, 0, 0) for name in names]
        return np.clip([[a.lower for a in answers], [a.upper for a in answers]], 0, 1)

    found = coverage_of(bounds, [truth], target=lambda t: np.full(len(names), t), simulate=simulate,
                        simulations=simulations, random_seed=1, file=file)  # fmt: skip
    return of_each([(what, name) for name in names], cases, ([title], found), None)


FAMILIES = {
    "proportion": proportion, "matrix": matrix, "difference": difference, "simultaneous": simultaneous,
    "region": region, "area": area,
}  # fmt: skip


def disagreements() -> list[str]:
    """Compare the distributions of differences with the answers of `compare_systems`."""
    said = []
    counts = {name: bayescm.from_cells(tp=k, fn=9 - k, fp=2, tn=5) for name, k in (("A", 8), ("B", 5))}
    y = np.ones(12)
    answers = {"A": y * (np.arange(12) < 10), "B": y * (np.arange(12) >= 3)}  # A alone 3, B alone 2
    for design, found, first, second, n in (
        ("other items", bayescm.compare_systems(
            counts, design="independent", metrics="recall", ci_kind="eti", random_seed=1), 8, 5, 9),
        ("same items", bayescm.compare_systems(
            y, answers, labels=[0.0, 1.0], metrics="accuracy", ci_kind="eti", random_seed=1), 3, 2, 12),
    ):  # fmt: skip
        wanted = of.posterior(design, first, second, n).interval(of.LEVEL, "eti")
        got = found["summary"]["interval"].values.ravel()
        if not np.allclose(got, wanted, atol=1e-6):
            said.append(f"{design}: compare_systems {got}, the study {wanted}")
    return said


def broken(made: Sequence[Row]) -> list[str]:
    """Return promises that rows don't keep: methods that never hold less often than they say."""
    sure = ("clopper_pearson", "exact")
    return [f"{r}" for r in made if r["method"] in sure and r["quantity"] in ("recall", "precision", "f1", "pr", "roc")
            and r["unanswered"] == 0 and float(r["coverage"]) < of.LEVEL - 1e-6 - 4 * float(r["mcse"])]  # fmt: skip


def read(family: str) -> list[Row]:
    """Return the rows that a run has written."""
    file = HERE / f"methods_{family}.csv"
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def run(family: str, *, resume: bool) -> list[Row]:
    """Run a family, part by part, each written as it comes."""
    made = read(family) if resume else []
    done = {(r["quantity"], r["method"], int(r["n"])) for r in made}
    known = {key for q, m, n in done for key in ((q, m, n), (q, "all", n), ("metrics", m, n))}
    for key, part in FAMILIES[family](SIZES):
        if key not in known:
            start = time.process_time()
            made += part()
            write_rows(HERE / f"methods_{family}.csv", made)
            print(family, *key, f"{time.process_time() - start:.1f} s of CPU", flush=True)
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for flag in ("--quick", "--draw", "--resume"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--family", choices=tuple(FAMILIES), default=None)
    chosen = parser.parse_args()
    said = disagreements()
    for family in FAMILIES if chosen.family is None else (chosen.family,):
        if chosen.quick:
            small = [one for _, part in FAMILIES[family](QUICK) for one in part()]
            print(methods_pages.table(family, small))
            said += broken(small)
            continue
        made = read(family) if chosen.draw else run(family, resume=chosen.resume)
        said += broken(made)
        methods_pages.write(family, made)
    if not chosen.quick:
        methods_pages.write_summary({family: read(family) for family in FAMILIES})
    raise SystemExit("\n".join(said) or None)
