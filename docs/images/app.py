"""Take the pictures of docs/app.md of both pages, in Debian's Chromium: ``python docs/images/app.py``."""

import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import uvicorn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "app"))

from browsing import DESKTOP, PHONE, answered, browser, page_of  # noqa: E402

from bayescm.app import server  # noqa: E402

CELLS = {"tp": 26, "fn": 0, "fp": 2, "tn": 6, "model": "three_binomial", "prior": "laplace"}


def tables() -> tuple[str, str]:
    """Return twelve systems, and the scores of 120 items, as pasted."""
    rng = np.random.default_rng(30)
    items = 480 + np.arange(30)
    correct = rng.binomial(items, np.linspace(0.95, 0.6, 30))
    board = pd.DataFrame({"system": [f"team {i:02d}" for i in range(30)], "correct": correct, "wrong": items - correct})
    actual = np.repeat([0, 1], [80, 40])
    scores = pd.DataFrame({"actual": actual, "score": rng.normal(1.5 * actual, 1.0).round(2)})
    return board[:12].to_csv(index=False), scores.to_csv(index=False)


def main() -> None:
    """Serve the page, and take every picture."""
    board, scores = tables()
    running = uvicorn.Server(uvicorn.Config(server.create_app(), port=0, log_level="error"))
    threading.Thread(target=running.run, daemon=True).start()
    while not running.started:
        time.sleep(0.05)
    local = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/"
    file = (HERE.parent / "_static" / "bayescm.html").as_uri()
    shots = (
        ("app_page", file, CELLS | {"at": "2%"}, DESKTOP, "light"),
        ("app_page_phone", file, CELLS | {"at": "2%"}, PHONE, "dark"),
        ("app_leaderboard", local, {"tab": "leaderboard", "table": board}, DESKTOP, "light"),
        ("app_compare", local, {"tab": "compare"}, DESKTOP, "light"),
        ("app_phone", local, {"tab": "leaderboard", "table": board}, PHONE, "light"),
        ("app_nomogram", local, {"tab": "prevalences", "at": "2%, 10%"} | CELLS, DESKTOP, "light"),
        ("app_scores", local, {"tab": "curves", "table": scores}, DESKTOP, "dark"),
    )
    with browser() as started:
        for name, address, state, size, scheme in shots:
            with page_of(started, f"{address}#{urlencode(state)}", size, scheme) as page:
                answered(page)
                page.wait_for_selector("#pictures svg, #picture[src^='blob:']")
                page.wait_for_timeout(1200)
                page.screenshot(path=HERE / f"{name}.png", full_page=size == PHONE)


if __name__ == "__main__":
    main()
