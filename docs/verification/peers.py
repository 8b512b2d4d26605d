"""Coverage of other packages' intervals, on the truths of docs/verification/methods.py.

``python -m uv run --group peers --with credible python docs/verification/peers.py`` writes peers.csv, with the
versions, and peers_table.inc, in a quarter of an hour. ``--quick`` runs five items and writes nothing.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import methods
import methods_data as of
import numpy as np
from methods_pages import Row, found, share
from numpy.typing import NDArray
from rows import write_rows

Array = NDArray[np.float64]
Ends = Callable[[Array], Array]
"""Of cells (matrices, 4), TN, FP, FN and TP: the ends (matrices, 1, 2) of the interval of one metric."""

HERE = Path(__file__).parent
SIZES, RESAMPLES = (5, 10, 20, 50), 1000
FLAT = "summary, three binomials laplace, hdi"


def labels(cells: Array) -> tuple[Array, Array]:
    """Return labels and predictions of TN, FP, FN and TP items."""
    return np.repeat([0, 0, 1, 1], cells), np.repeat([0, 1, 0, 1], cells)


def each(call: Callable[[Array], Any], rows: Array) -> Array:
    """Return what a call says of each matrix, NaN where it raises."""
    made = []
    for row in rows:
        try:
            made.append(call(row))
        except (ValueError, IndexError, ZeroDivisionError):
            made.append((np.nan, np.nan))
    return np.array(made, float)[:, None]


def statsmodels(method: str) -> Ends:
    """Return the intervals of a recall, k of n."""
    from statsmodels.stats.proportion import proportion_confint

    return lambda rows: np.stack(proportion_confint(rows[:, 3], rows[:, 2] + rows[:, 3], method=method), -1)[:, None]


def confidenceinterval(name: str, **options: Any) -> Ends:
    """Return its intervals by labels and predictions."""
    import confidenceinterval as package

    return partial(each, lambda row: getattr(package, name)(*labels(row), **options)[1])


def credible(name: str) -> Ends:
    """Return its posterior intervals with equal tails by labels and predictions, flat prior."""
    from credible.bayesian import metrics

    options: dict[str, Any] = {"rng": np.random.default_rng(1)} if name == "f1_score" else {}
    return partial(each, lambda row: getattr(metrics, name)(*labels(row), **options)[-2:])


def resampled(metric: Callable[[Array, Array, Array, Array], Array]) -> Ends:
    """Return percentiles over resampled items, 0/0 as 0: scikit-learn's ``resample`` and ``zero_division=0``.

    The cells of resampled items are multinomial, and drawn as such.
    """
    rng = np.random.default_rng(1)

    def ends(row: Array) -> Array:
        cells = rng.multinomial(row.sum(), row / row.sum(), RESAMPLES).astype(float)
        return np.asarray(np.quantile(np.nan_to_num(metric(*cells.T)), [0.025, 0.975]))

    return partial(each, ends)


def prob_conf_mat(metric: str, prior: float) -> Ends:
    """Return its highest-density intervals of 10,000 draws, as its reports have them."""
    from prob_conf_mat.experiment import Experiment, SamplingMethod
    from prob_conf_mat.metrics.collection import MetricCollection
    from prob_conf_mat.stats.summary import summarize_posterior
    from prob_conf_mat.utils.rng import RNG

    def ends(row: Array) -> Any:
        one = Experiment("e", RNG(1), row.astype(int).reshape(2, 2), prevalence_prior=prior, confusion_prior=prior)
        drawn = one.sample_metrics(MetricCollection([metric]), SamplingMethod.POSTERIOR, 10_000)
        return summarize_posterior(next(iter(drawn.values())).values[:, -1], 0.95).hdi

    return partial(each, ends)


def precision(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    """Return TP/(TP + FP)."""
    return tp / (tp + fp)


def f1(tn: Array, fp: Array, fn: Array, tp: Array) -> Array:
    """Return 2 TP/(2 TP + FP + FN)."""
    return 2 * tp / (2 * tp + fp + fn)


def peers() -> dict[tuple[str, str, str], tuple[str, Ends]]:
    """Return by package, call and metric: our method with the same formula, and the intervals."""
    ours = {"normal": "wald", "beta": "clopper_pearson", "binom_test": ""}
    shares = ("normal", "wilson", "agresti_coull", "beta", "jeffreys", "binom_test")
    of.SUMMARIES[FLAT] = {"model": "three_binomial", "prior": "laplace"}
    return {
        **{("bayescm", call, metric): ("", partial(of.own, call, [metric], 1000))
           for call, metric in ((FLAT, "precision"), (FLAT, "f1"), ("delta", "f1_macro"))},
        **{("statsmodels", f'proportion_confint(method="{m}")', "recall"): (ours.get(m, m), statsmodels(m))
           for m in shares},
        ("confidenceinterval", 'precision_score(average="binary", method="wilson")', "precision"):
            ("wilson", confidenceinterval("precision_score", average="binary", method="wilson")),
        ("confidenceinterval", 'f1_score(average="binary")', "f1"):
            ("delta", confidenceinterval("f1_score", average="binary")),
        ("confidenceinterval", 'f1_score(average="macro")', "f1_macro"):
            ("delta", confidenceinterval("f1_score", average="macro")),
        ("scikit-learn", "resample, percentiles", "precision"): ("bootstrap", resampled(precision)),
        ("scikit-learn", "resample, percentiles", "f1"): ("bootstrap", resampled(f1)),
        **{("credible", f"bayesian.metrics.{metric}_score", metric): ("summary, dirichlet laplace, eti",
            credible(f"{metric}_score")) for metric in ("precision", "f1")},
        **{("prob-conf-mat", f"prior {prior}", metric): (FLAT if prior else "", prob_conf_mat(metric, prior))
           for prior in (0, 1) for metric in ("precision", "f1")},
    }  # fmt: skip


def coverage(package: str, call: str, metric: str, sizes: tuple[int, ...]) -> list[Row]:
    """Return the rows of one peer."""
    same, ends = peers()[package, call, metric]
    of.PEERS[call] = (metric,), ends
    made = []
    for n in sizes:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            these = methods.of_rates(call, n) if package == "statsmodels" else methods.of_matrices(call, n)
        made += [{"package": package, "version": version(package), "same": same} | row for row in these]
    return made


def table(rows: list[Row]) -> str:
    """Return the table of the page."""
    heads = ["", "call", "of", *(f"n = {n}" for n in SIZES), "no answer, n = 10", "width, n = 20", "here"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for package, call, metric in dict.fromkeys((r["package"], r["method"], r["quantity"]) for r in rows):
        mine = [r for r in rows if (r["package"], r["method"], r["quantity"]) == (package, call, metric)]
        sizes = found(mine)[call]
        cells = [f"{share(sizes[n].mean)} / {share(sizes[n].worst)}" for n in SIZES]
        cells += [share(sizes[10].unanswered), f"{sizes[20].width:.2f}", f"`{mine[0]['same']}`" * bool(mine[0]["same"])]
        lines.append(f"| {package} {mine[0]['version']} | `{call}` | {metric} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    rows: list[Row] = []
    for key in peers():
        rows += coverage(*key, sizes=(5,) if "--quick" in sys.argv else SIZES)
        print(*key, rows[-1]["coverage"], flush=True)
        if "--quick" not in sys.argv:
            write_rows(HERE / "peers.csv", rows)
    if "--quick" not in sys.argv:
        (HERE / "peers_table.inc").write_text(table(rows), encoding="utf-8")
