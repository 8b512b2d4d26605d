"""First fit and refit of the models: ours, plain PyMC and nutpie, in one run; and the closed form beside NUTS.

``python -m uv run --extra nutpie python benchmarks/models.py`` (some minutes; one core for every sampler). Each way of
fitting runs in a process of its own, twice: the second run, with PyTensor's cache on disk warm, is the one that counts.
"First fit" starts after the imports and holds building, compiling and sampling; a refit is the same model with other
counts.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

REFITS = 5
SETTINGS = {"draws": 1000, "tune": 1000, "chains": 4, "cores": 1, "random_seed": 1}
STORIES: dict[str, dict[str, Any]] = {
    "three_binomial": {},
    "kfold, complete": {"pooling": "complete"},
    "kfold, partial": {"pooling": "partial"},
    "hierarchical": {},
}
NO_CLOSED_FORM = ("kfold, partial", "hierarchical")
WAYS = (
    "plain PyMC, model rebuilt",
    "plain PyMC, pm.set_data",
    "ours, pymc",
    "nutpie itself, with_data",
    "ours, nutpie",
    "ours, closed form",
)


def worlds(story: str) -> list[Any]:
    """Return the counts of the first fit and of the refits."""
    import bayescm

    rng = np.random.default_rng(1)
    if story == "hierarchical":
        counts = bayescm.datasets.toetsch2021()
        return [counts, *[counts.copy(data=rng.permutation(counts.values)) for _ in range(REFITS)]]
    told = bayescm.models.load(story.split(", ")[0])
    return [told.simulate(rng, prior="laplace", **STORIES[story])["counts"] for _ in range(REFITS + 1)]


def fit(way: str, story: str) -> list[float]:
    """Time one way: the first fit and every refit, in seconds."""
    import arviz  # noqa: F401  (bayescm's diagnostics need it, which aren't timed with the imports)
    import pymc as pm

    import bayescm
    from bayescm import models

    name = story.split(", ")[0]
    options = STORIES[story]
    told = models.load(name)
    data = worlds(story)
    program: Any = None
    compiled: Any = None
    times = []
    for counts in data:
        start = time.perf_counter()
        if way.startswith("ours"):
            more: dict[str, Any] = {"sampler": "exact", "draws": 1000, "random_seed": 1}
            if way != "ours, closed form":
                more = SETTINGS | {"sampler": way.split(", ")[1].replace("pymc", "nuts"), "progressbar": False}
                more |= {"target_accept": 0.8}
            bayescm.posterior(counts, model=name, metrics="recall", **options, **more)
        elif way.startswith("nutpie"):
            import nutpie

            fresh = told.model(counts, **options)
            if compiled is None:
                compiled = nutpie.compile_pymc_model(fresh)
            values = {v.name: v.get_value() for v in fresh.data_vars}
            nutpie.sample(
                compiled.with_data(**values), draws=1000, tune=1000, chains=4, cores=1, seed=1, progress_bar=False
            )
        else:
            if program is None or way.endswith("rebuilt"):
                program = told.model(counts, **options)
            else:
                fresh = told.model(counts, **options)
                pm.set_data({v.name: v.get_value() for v in fresh.data_vars}, model=program)
            pm.sample(model=program, nuts_sampler="pymc", quiet=True, compute_convergence_checks=False, **SETTINGS)
        times.append(time.perf_counter() - start)
    return times


def run(story: str, way: str) -> list[float] | None:
    """Time one way in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--fit", way, story], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"  {way}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    values: list[float] = json.loads(done.stdout.strip().splitlines()[-1])
    return values


def main() -> None:
    """Run every way for every model, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fit", nargs=2)
    asked = parser.parse_args()
    if asked.fit:
        print(json.dumps(fit(*asked.fit)))
        return
    lines = ["| model | way | first fit, s | refit, s | refit, plain PyMC rebuilt = 1 |", "|---|---|---|---|---|"]
    for story in STORIES:
        base = None
        for way in WAYS:
            if way.endswith("closed form") and story in NO_CLOSED_FORM:
                continue
            run(story, way)  # fills the caches on disk
            times = run(story, way)
            if times is None:
                continue
            refit = float(np.median(times[1:]))
            base = base or refit
            lines.append(f"| {story} | {way} | {times[0]:.2f} | {refit:.3f} | {base / refit:.1f}x faster |")
            print(lines[-1], flush=True)
    about = f"4 chains of 1000 + 1000 draws, one core; refit: median of {REFITS} with other counts."
    table = "\n".join(lines)
    text = f"# {__doc__.splitlines()[0]}\n\n`python benchmarks/models.py`: {about}\n\n{table}\n"
    (Path(__file__).parent / "results_models.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
