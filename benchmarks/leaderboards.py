"""A leaderboard of 1,000 systems: exact, our draws, plain NumPy and prob-conf-mat, in one run, on one thread.

``python -m uv run --group peers python benchmarks/leaderboards.py`` (a minute or two); ``--write`` puts the tables into
results_leaderboards.md too. All sides rank the same Beta posteriors of accuracies; those that draw draw 10,000 times.
prob-conf-mat compares draws, and gets NumPy's.
"""

import argparse
import os
import platform
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BAYESCM_THREADS"), "1")
os.environ["BAYESCM_COMPILE"] = "1"

import numpy as np
import xarray as xr
from curves import rounds
from prob_conf_mat.experiment_comparison import listwise_compare

import bayescm
from bayescm.comparison import rank_draws, ranks
from bayescm.distributions import Beta

N, DRAWS, ROUNDS = 1000, 10_000, 5


def crowds() -> dict[str, xr.Dataset]:
    """Return leaderboards: right and wrong answers."""
    rng = np.random.default_rng(1)
    spread = rng.binomial(15_123, rng.uniform(0.5, 0.99, N)), 15_123
    close = rng.binomial(1000, rng.beta(90, 10, N)), 1000
    sizes = 10 ** rng.integers(1, 8, N)
    mixed = rng.binomial(sizes, rng.uniform(0.5, 0.99, N)), sizes
    made = {
        "15,123 items, accuracies from .5 to .99": spread,
        "1000 items, accuracies near .9": close,
        "10 to 10^7 items": mixed,
        "all identical": (np.full(N, 900), 1000),
    }
    return {name: xr.Dataset({"correct": ("system", k), "wrong": ("system", m - k)}) for name, (k, m) in made.items()}


def by_numpy(data: xr.Dataset) -> Any:
    """Draw, sort and count."""
    rng = np.random.default_rng(1)
    order = np.argsort(-rng.beta(data.correct.values + 0.5, data.wrong.values + 0.5, (DRAWS, N)), axis=1)
    return np.bincount((order * N + np.arange(N)).ravel(), minlength=N * N).reshape(N, N) / DRAWS


def by_peer(data: xr.Dataset) -> Any:
    """Draw with NumPy, and compare with prob-conf-mat."""
    rng = np.random.default_rng(1)
    drawn = rng.beta(data.correct.values + 0.5, data.wrong.values + 0.5, (DRAWS, N))
    return listwise_compare({str(i): drawn[:, i] for i in range(N)}, metric=None)


def dist(data: xr.Dataset) -> Beta:
    """Return the posteriors that all sides rank."""
    return Beta(data.correct.values + 0.5, data.wrong.values + 0.5)


def floor(data: xr.Dataset) -> Any:
    """Draw as many normal variables, and sort them: what our draws can't do without."""
    rng = np.random.Generator(np.random.SFC64(1))
    for _ in range(40):
        np.argsort(rng.standard_normal((DRAWS // 40, data.sizes["system"])), axis=1)


def error(data: xr.Dataset) -> tuple[float, float]:
    """Return the error that the answer states, and its distance from one by panels a third as long."""
    found, before = ranks.of_betas(dist(data)), ranks._SHARE
    try:
        ranks._SHARE = before / 3
        return found.error, float(np.abs(ranks.of_betas(dist(data)).ranks - found.ranks).max())
    finally:
        ranks._SHARE = before


def main(write: bool) -> None:
    """Print the table."""
    head = "exact", "draws", "draws, ranks alone", "floor of draws", "NumPy", "prob-conf-mat"
    lines = [
        f"{N} systems, {DRAWS:,} draws, one thread, {ROUNDS} rounds in turns, medians; bayescm {bayescm.__version__}, "
        f"NumPy {np.__version__}, prob-conf-mat {version('prob-conf-mat')}, Python {platform.python_version()}. "
        "Time / time of 10,000 draws with NumPy, and ms in brackets. Exact and draws are whole answers, with intervals "
        "and tie groups; the floor is as many normal variables, sorted.",
        "",
        f"| systems | {' | '.join(head)} | error as stated | against finer panels |",
        "| --- |" + " ---: |" * (len(head) + 2),
    ]
    for name, data in crowds().items():
        board = partial(bayescm.leaderboard, data, prior="jeffreys", draws=DRAWS, random_seed=1)
        sides = {
            "NumPy": partial(by_numpy, data), "exact": partial(board, method="exact"),
            "draws": partial(board, method="draws"), "prob-conf-mat": partial(by_peer, data),
            "draws, ranks alone": partial(rank_draws.of_betas, dist(data), DRAWS, 1),
            "floor of draws": partial(floor, data),
        }  # fmt: skip
        times = rounds(sides, ROUNDS)
        stated, finer = error(data)
        cells = " | ".join(f"{times[side][1]:.2f} ({times[side][0]:.0f})" for side in head)
        lines.append(f"| {name} | {cells} | {stated:.0e} | {finer:.0e} |")
    text = "\n".join(lines)
    print(text)
    if write:
        Path(__file__).with_name("results_leaderboards.md").write_text(f"# Leaderboards\n\n{text}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    main(parser.parse_args().write)
