"""Time the exact distributions beside prob-conf-mat, NumPy and credible, on one thread, in alternating rounds.

Run `python -m uv run --group peers --with credible python benchmarks/distributions.py`; ``--write`` writes
results_distributions.md too.
"""

import trunk  # first: it sets one thread before NumPy is imported

# isort: split
import argparse
import os
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from credible.bayesian import utils as credible
from peers import FIRST_PEER, FN, FP, PEER_REPORT, TN, TP
from prob_conf_mat import Study
from prob_conf_mat.metrics import get_metric
from scipy import special
from trunk import FIRST_OURS, NO_DASK, OURS, PEER, Array, Run, alternate, fresh, machine, ratio, table

import bayescm
from bayescm import distributions, metrics
from bayescm._kernels.cache import cache_folder
from bayescm.distributions import dirichlet
from bayescm.priors.concentrations import concentrations

DRAWS, BATCH, BATCH_OF_TWO, BATCH_DRAWN = 10**4, 10**5, 2000, 200
LACKS = ("error_rate", "fowlkes_mallows", "geometric_mean")
ALL = metrics.resolve(None, 2)
COMMON = tuple(metric for metric in ALL if metric.name not in LACKS)
PEER_OF = {metric.name: name for metric, name in zip(COMMON, PEER_REPORT.split(), strict=True)}
MODELS = {"dirichlet_multinomial": 1.0, "three_binomial": 0.5}  # the prior of the shares that "jeffreys" means
EMPTY = (  # and, as by default, Python runs what it has sooner done than compiled
    "import os, tempfile\nf = tempfile.TemporaryDirectory()\n"
    "os.environ |= {'BAYESCM_CACHE_DIR': f.name, 'BAYESCM_COMPILE': ''}\n"
)


def digits(value: float, n: int = 3) -> str:
    """Return a number with n digits, without an exponent."""
    return f"{float(f'{value:.{n}g}'):g}"


def distribution_of(name: str, cells: Any, model: str = "dirichlet_multinomial") -> Any:
    """Return the exact distribution of a metric of tp, fn, fp, tn under the Jeffreys prior."""
    tp, fn, fp, tn = cells
    posterior = dirichlet.posterior(np.array([[tn, fp], [fn, tp]]), concentrations("jeffreys", model, (0, 1)), None)
    return distributions.exact_distribution(*metrics.resolve([name], 2), posterior)


def report_peer(names: list[str], model: str, seed: int) -> dict[str, Any]:
    """Report metrics with prob-conf-mat: point, median, mode, HDI of 10^4 draws."""
    study = Study(seed=seed, num_samples=DRAWS, ci_probability=0.95)
    prior = {"prevalence_prior": MODELS[model], "confusion_prior": 0.5}
    study.add_experiment("a/a", confusion_matrix=[[TN, FP], [FN, TP]], **prior)
    for name in names:
        study.add_metric(PEER_OF[name])
    label = {name: None if get_metric(PEER_OF[name]).is_multiclass else 1 for name in names}
    report = study.report_metric_summaries
    return {name: report(PEER_OF[name], class_label=label[name], table_fmt="records")[0] for name in names}


def report_ours(names: list[str], model: str, _: int) -> Any:
    """Summarise metrics with bayescm, labels and all."""
    return bayescm.summary(bayescm.from_cells(tp=TP, fn=FN, fp=FP, tn=TN), names, model=model)


def numbers(these: list[Any]) -> list[Any]:
    """Compute the statistics of distributions without labels, as the summary does."""
    integrals = [one for one in these if isinstance(one, distributions.Integral)]
    closed = [one.statistics(0.95, "hdi") for one in these if one not in integrals]
    return closed + distributions.statistics(integrals, 0.95, "hdi")


def section_a(rounds: int) -> str:
    """Time the report of one matrix."""
    head = f"| | metrics | {PEER} / summary | {PEER} / kernel | {PEER}, ms | summary, ms | kernel, ms |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for model in MODELS:
        dist = {metric.name: distribution_of(metric.name, (TP, FN, FP, TN), model) for metric in COMMON}
        ours, peer = report_ours([*dist], model, 0), report_peer([*dist], model, 0)
        for name in dist:  # the median of draws is within 6 standard errors
            one = ours.sel(metric=name)
            allowed = 6 * 1.2533 * float(one.width) / 3.92 / np.sqrt(DRAWS)
            assert abs(float(one["median"]) - peer[name][3]) < allowed, (model, name)
        number = {name: getattr(one, "integrals", 0) for name, one in dist.items()}
        groups = {"no integral": (0,), "one": (1,), "at most one": (0, 1), "two": (2,), "all": (0, 1, 2)}
        for title, group in groups.items():
            names = [name for name in dist if number[name] in group]
            these = [dist[name] for name in names]
            runs: dict[str, Run] = {
                PEER: partial(report_peer, names, model),
                "summary": partial(report_ours, names, model),
                "kernel": lambda _, these=these: numbers(these),
            }
            times = alternate(runs, rounds)
            ratios = " | ".join(f"{ratio(times, PEER, side):.1f}" for side in ("summary", "kernel"))
            medians = " | ".join(f"{np.median(times[side]) * 1e3:.3g}" for side in runs)
            lines.append(f"| {model}, {title} | {len(names)} | {ratios} | {medians} |")
    title = f"## A. The summary of one matrix (TP {TP}, FN {FN}, FP {FP}, TN {TN}), HDI; {PEER}: {DRAWS:,} draws"
    return f"{title}\n\n" + "\n".join(lines)


def random_cells(n: int) -> Any:
    """Return n matrices of 20 to 1000 items, (4, n): the cells' probabilities are uniform."""
    rng = np.random.default_rng(1)
    return rng.multinomial(rng.integers(20, 1001, n), rng.dirichlet(np.ones(4), n)).T


def draw(name: str, rng: np.random.Generator, a: Array) -> Any:
    """Draw a metric the cheapest way."""
    tp, fn, fp, tn = a
    if name == "precision":
        return rng.beta(tp, fp, DRAWS)
    if name == "f1":
        jaccard = rng.beta(tp, fn + fp, DRAWS)
        return 2 * jaccard / (1 + jaccard)
    if name == "matthews_correlation":
        tp, fn, fp, tn = rng.dirichlet(a, DRAWS).T
        return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    recall, fall_out = rng.beta(tp, fn, DRAWS), rng.beta(fp, tn, DRAWS)
    return recall - fall_out if name == "informedness" else recall / fall_out


def summarise_draws(name: str, cells: Any, kind: str, seed: int) -> Array:
    """Return mean, sd, median and bounds of draws of each matrix."""
    rng, out = np.random.default_rng(seed), np.empty((cells.shape[1], 5))
    for i, a in enumerate(cells.T + 0.5):
        values = draw(name, rng, a)
        if kind == "eti":
            rest = np.quantile(values, [0.5, 0.025, 0.975])
        else:
            ordered = np.sort(values)
            start = int(np.argmin(ordered[9500:] - ordered[:500]))
            rest = np.array([ordered[5000], ordered[start], ordered[start + 9500]])
        out[i] = values.mean(), values.std(), *rest
    return out


def section_b(rounds: int) -> str:
    """Time many matrices."""
    head = f"| metric, interval | matrices | NumPy / {OURS} | {OURS}, µs per matrix | NumPy, µs per matrix |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: |"]
    for name in ("precision", "f1", "informedness", "positive_likelihood_ratio", "matthews_correlation"):
        cells = random_cells(BATCH_OF_TWO if name == "matthews_correlation" else BATCH)
        n, few = cells.shape[1], cells[:, :BATCH_DRAWN]
        counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
        for kind in ("eti", "hdi"):
            ours = partial(bayescm.summary, counts, [name], ci_kind=kind)
            if kind == "eti":  # the bound found has the right share of draws below it
                bound, values = ours().interval.values[0, 0, 0], draw(name, np.random.default_rng(5), few[:, 0] + 0.5)
                assert abs((values < bound).mean() - 0.025) < 6 * np.sqrt(0.025 * 0.975 / DRAWS), name
            runs: dict[str, Run] = {
                OURS: lambda _, ours=ours: ours(),
                "NumPy": partial(summarise_draws, name, few, kind),
            }
            times = alternate(runs, rounds)
            each = [np.median(times[OURS]) / n * 1e6, np.median(times["NumPy"]) / BATCH_DRAWN * 1e6]
            gain = ratio(times, "NumPy", OURS) * n / BATCH_DRAWN
            lines.append(
                f"| {name}, {kind} | {n:,} | {float(f'{gain:.2g}'):g} | {digits(each[0])} | {digits(each[1])} |"
            )
    title = f"## B. Many matrices of 20 to 1000 items; NumPy: {DRAWS:,} draws each, timed on {BATCH_DRAWN} and scaled"
    return f"{title}\n\n" + "\n".join(lines)


def section_c(rounds: int) -> str:
    """Time the equal-tailed interval of F1."""
    dist, counts = distribution_of("f1", (TP, FN, FP, TN)), bayescm.from_cells(tp=TP, fn=FN, fp=FP, tn=TN)

    def peer(seed: int) -> Any:
        values = credible.f1_posterior(TP, FP, FN, 0.5, 100_000, np.random.default_rng(seed))
        return credible.evaluate_statistics(values, 0.95, "auto")

    np.testing.assert_allclose(peer(0)[2:], dist.eti(0.95), atol=3e-3)
    runs: dict[str, Run] = {
        "distribution.statistics": lambda _: dist.statistics(0.95, "eti"),
        "distribution.eti alone": lambda _: dist.eti(0.95),
        "summary": lambda _: bayescm.summary(counts, ["f1"], ci_kind="eti"),
        "credible, 100,000 draws": peer,
    }
    errors = np.std([peer(seed)[2:] for seed in range(30)], axis=0)
    title = "## C. F1 of one matrix, equal tails, against credible (`f1_posterior`, `evaluate_statistics`)"
    note = f"Standard deviation of credible's bounds over 30 seeds: {errors[0]:.1e} and {errors[1]:.1e}."
    return "\n\n".join([title, table(alternate(runs, 5 * rounds), "distribution.statistics"), note])


def section_d(rounds: int) -> str:
    """Time the first summary in a fresh process."""
    closed = FIRST_OURS.replace("tn=6)", 'tn=6), ["recall", "f1"]')
    first = f"{OURS}, 28 metrics"
    runs: dict[str, Run] = {
        first: fresh(NO_DASK + FIRST_OURS),
        f"{OURS}, recall and F1 (no kernel needed)": fresh(NO_DASK + closed),
        "import bayescm, bayescm.summary": fresh(f"{NO_DASK}import bayescm\nbayescm.summary"),
        "import numba": fresh("import numba"),
        "import xarray, scipy.special": fresh(f"{NO_DASK}import xarray, scipy.special"),
        f"{PEER}, {len(COMMON)} metrics": fresh(FIRST_PEER),
    }
    few = max(1, rounds // 4)
    cold = alternate({first: runs[first], f"{OURS}, empty kernel cache": fresh(EMPTY + NO_DASK + FIRST_OURS)}, few)
    parts = [table(alternate(runs, rounds), first), f"With nothing compiled yet ({few} rounds):", table(cold, first)]
    return "\n\n".join(["## D. The first summary in a fresh process", *parts])


CLASSES = {
    "Beta (precision)": ("precision", "dirichlet_multinomial"),
    "F1": ("f1", "dirichlet_multinomial"),
    "one integral (informedness)": ("informedness", "dirichlet_multinomial"),
    "one integral (LR+)": ("positive_likelihood_ratio", "dirichlet_multinomial"),
    "one integral (F2)": ("f2", "dirichlet_multinomial"),
    "one integral (P4)": ("p4", "dirichlet_multinomial"),
    "two integrals (MCC)": ("matthews_correlation", "dirichlet_multinomial"),
    "two integrals (kappa)": ("cohen_kappa", "dirichlet_multinomial"),
    "two integrals (precision, three_binomial)": ("precision", "three_binomial"),
    "two integrals (F1, three_binomial)": ("f1", "three_binomial"),
}


def section_e(rounds: int) -> str:
    """Time one value of the cdf."""
    sizes, loops, base = (40, 1000, 10**6), range(20), "NumPy, share of 10^4 draws of MCC below"
    rng, columns, errors = np.random.default_rng(1), [], dict.fromkeys(CLASSES, 0.0)
    for size in sizes:
        cells = np.array([12, 3, 5, 20]) * size // 40
        a, b = cells[0] + 0.5, cells[2] + 0.5
        runs: dict[str, Run] = {
            base: lambda _, c=cells + 0.5: [(draw("matthews_correlation", rng, c) < 0.5).mean() for _ in loops],
            "special.betainc": lambda _, a=a, b=b: [special.betainc(a, b, 0.7) for _ in loops],
        }
        for title, (name, model) in CLASSES.items():
            dist = distribution_of(name, cells, model)
            at = float(dist.ppf(0.025))
            runs[title] = lambda _, dist=dist, at=at: [dist.cdf(at) for _ in loops]
            errors[title] = max(errors[title], float(dist.error(at)))
        times = alternate(runs, rounds)
        columns.append(
            {t: f"{digits(ratio(times, base, t), 2)} | {digits(np.median(times[t]) / 20 * 1e6)}" for t in runs}
        )
    lines = ["| | " + " | ".join(f"N = {s:,}: draws / it | µs" for s in sizes) + " | largest relative error |"]
    lines.append("| --- |" + " ---: |" * (2 * len(sizes) + 1))
    for t in columns[0]:
        error = {base: f"{np.sqrt(0.975 / 0.025 / DRAWS):.0e} (sd)"}.get(
            t, f"{errors[t]:.0e}" if errors.get(t) else "0"
        )
        lines.append("| " + " | ".join([t, *(column[t] for column in columns), error]) + " |")
    title = "## E. One value of the cdf, at the 2.5% quantile (TP : FN : FP : TN = 12 : 3 : 5 : 20)"
    return f"{title}\n\n" + "\n".join(lines)


def main() -> None:
    """Run the sections and print, or write, their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results_distributions.md too")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="rounds of each comparison (default: 9)")
    parser.add_argument("--sections", default="ABCDE", help="which to run (default: ABCDE; B takes a quarter as many)")
    arguments = parser.parse_args()
    more = ", ".join(f"{name} {version(name)}" for name in ("numba", "credible"))
    kernels = Path(cache_folder() or "").name
    command = "python -m uv run --group peers --with credible python benchmarks/distributions.py --write"
    parts = [
        "# Results of distributions.py",
        f"{machine()[:-1]}, {more}; kernels {kernels}.",
        f"Rebuild with `{command}`.",
    ]
    os.environ["BAYESCM_THREADS"] = "1"
    for letter, section in zip("ABCDE", (section_a, section_b, section_c, section_d, section_e), strict=True):
        if letter in arguments.sections.upper():
            parts.append(section(max(1, arguments.rounds // 4) if letter == "B" else arguments.rounds))
            print(parts[-1], end="\n\n", flush=True)
    if arguments.write:
        Path(trunk.__file__).with_name("results_distributions.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
