"""A load on the local page: python benchmarks/app.py [--rate 200] [--seconds 60] [--write].

A server of its own process answers requests at a steady rate over loopback: pages, questions that were asked before,
questions that are new, pictures, netCDF, and forms with random text in their fields. What comes back is counted by
status, and the server's memory is read from /proc.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

from bayescm.app.questions import FIELDS, FORMS, QUESTIONS

CELLS = {"tp": "26", "fn": "0", "fp": "2", "tn": "6"}
TEXTS = ("", "0", "-3", "1e309", "nan", "abc", "\x00", "7%", "1,2", "a\tb\n1\t2", "[[1]]", None, 3, [], {}, "9" * 400)
SHARES = {"page": 2, "asked before": 3, "new": 2, "picture": 1, "file": 1, "random": 1}
CLEAR = {400, 404, 413, 415, 429}
LIMITS = httpx.Limits(max_connections=400, keepalive_expiry=2)  # the server closes an idle connection after 5 s
RESULTS = Path(__file__).with_name("results_app.md")


def form(kind: str, question: str, rng: random.Random) -> dict:
    """Return what is sent for a question."""
    made = dict(FORMS[question])
    if kind == "new" and "tp" in made:
        made |= {name: str(rng.randrange(200)) for name in CELLS}
    if kind == "random":
        made |= {name: rng.choice(TEXTS) for name in rng.sample(sorted(FIELDS - {"n_items"}), 4)}
    return made


def request(rng: random.Random) -> tuple[str, str, dict | None]:
    """Return the kind of a request, its path and its form."""
    kind = rng.choices(list(SHARES), SHARES.values())[0]
    if kind == "page":
        return kind, rng.choice(("/", "/page.css", "/app.mjs", "/common.mjs", "/tabs.json", "/none")), None
    question = rng.choice(list(QUESTIONS))
    ending = {"picture": "/" + rng.choice(("svg", "png")), "file": "/nc"}.get(kind, "")
    return kind, f"/api/{question}{ending}", form(kind, question, rng)


def memory(pid: int, name: str) -> float:
    """Return the memory of a process in MB: VmRSS now, VmHWM at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[1]) / 1024


async def load(address: str, pid: int, rate: float, seconds: float, seed: int = 0) -> dict:
    """Send requests at a steady rate, whether or not earlier ones were answered."""
    rng, codes, took, lost = random.Random(seed), Counter(), {}, []
    sizes = [memory(pid, "VmRSS")]

    async with httpx.AsyncClient(base_url=address, timeout=120, limits=LIMITS) as client:

        async def one() -> None:
            kind, path, sent = request(rng)
            start = time.perf_counter()
            try:
                got = await (client.get(path) if sent is None else client.post(path, json=sent))
            except httpx.HTTPError as error:
                lost.append(repr(error))
                return
            codes[got.status_code] += 1
            if got.is_success:
                took.setdefault(kind, []).append(1000 * (time.perf_counter() - start))
            elif "json" in got.headers.get("content-type", ""):
                assert json.loads(got.text)["message"]

        start, tasks = time.perf_counter(), set()
        for i in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, start + i / rate - time.perf_counter()))
            task = asyncio.create_task(one())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            if i % int(max(rate * seconds / 6, 1)) == 0:
                sizes.append(memory(pid, "VmRSS"))
        sent_in = time.perf_counter() - start
        await asyncio.gather(*tasks)
    sizes.append(memory(pid, "VmRSS"))
    return {
        "codes": codes,
        "took": took,
        "lost": lost,
        "sizes": sizes,
        "peak": memory(pid, "VmHWM"),
        "sent_in": sent_in,
    }


def start(port: int) -> tuple[subprocess.Popen, float, float]:
    """Start the server; return it with the seconds to its address and to the first answer after it."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "bayescm", "app", "--port", str(port)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in running.stdout:
        if "open http" in line:
            break
    else:
        raise SystemExit("the server didn't start")
    ready = time.perf_counter() - begun
    httpx.post(f"http://127.0.0.1:{port}/api/summary", json=CELLS, timeout=120).raise_for_status()
    first = time.perf_counter() - begun
    last = "all questions are ready"
    next(line for line in running.stdout if last in line)
    return running, ready, first


def answers(address: str, repeats: int = 5) -> list[str]:
    """Return a line per question: milliseconds of answers to new forms, and of their pictures."""
    lines = []
    for question in QUESTIONS:
        took, drawn = [], []
        for i in range(repeats):
            made = FORMS[question] | {"ci_prob": f"0.{900 + i}"}
            for path, times in ((f"/api/{question}", took), (f"/api/{question}/svg", drawn)):
                begun = time.perf_counter()
                httpx.post(address + path, json=made, timeout=120).raise_for_status()
                times.append(1000 * (time.perf_counter() - begun))
        lines.append(f"| {question} | {np.median(took):.0f} | {np.median(drawn):.0f} |")
    return lines


def main() -> None:
    """Start a server, load it, and say what came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--port", type=int, default=8799)
    parser.add_argument("--write", action="store_true", help="write results_app.md")
    wanted = parser.parse_args()
    running, ready, first = start(wanted.port)
    address = f"http://127.0.0.1:{wanted.port}"
    try:
        quick = answers(address)
        found = asyncio.run(load(address, running.pid, wanted.rate, wanted.seconds))
    finally:
        running.terminate()
        running.wait()
    text = report(wanted, found, quick, ready, first)
    print(text)
    if wanted.write:
        RESULTS.write_text(text)
    wrong = {code: n for code, n in found["codes"].items() if not (200 <= code < 300 or code in CLEAR)}
    if wrong or found["lost"]:
        raise SystemExit(f"neither 2xx nor a clear 4xx: {wrong}, {found['lost'][:3]}")


def report(wanted: argparse.Namespace, found: dict, quick: list[str], ready: float, first: float) -> str:
    """Return the results as a page."""
    codes = ", ".join(f"{n:,} of {code}" for code, n in sorted(found["codes"].items()))
    sizes = ", ".join(f"{size:.0f}" for size in found["sizes"])
    rows = [
        f"| {kind} | {len(times):,} | {np.median(times):.0f} | {np.quantile(times, 0.99):.0f} |"
        for kind, times in sorted(found["took"].items())
    ]
    return "\n".join([
        "# The local page under load", "",
        f"`python benchmarks/app.py --write`, {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; load average of the machine at the end {os.getloadavg()[0]:.1f}.", "",
        f"The server listened after {ready:.0f} s and gave the first answer after {first:.0f} s.", "",
        f"{sum(found['codes'].values()):,} requests in {found['sent_in']:.0f} s, wanted {wanted.rate:g} a second: "
        f"{codes}; {len(found['lost'])} lost.", "",
        f"Memory of the server (MB) before, at six times during, and after: {sizes}; peak {found['peak']:.0f}.", "",
        "Answers that were given, milliseconds:", "",
        "| request | answered | median | 99% |", "|---|---|---|---|", *rows, "",
        "One question after another, each not asked before, milliseconds (median of 5; the picture is drawn of the",
        "answer that is remembered):", "", "| question | answer | picture |", "|---|---|---|", *quick, "",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
