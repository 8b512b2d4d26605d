"""Run the page's modules: in node if there is one, else in a headless browser, else nowhere."""

import json
import os
import shutil
import subprocess

import pytest

from bayescm.app.pages import MODULES, text

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")
NEEDED = bool(os.environ.get("BAYESCM_NEED_BROWSER"))
"""Whether a machine without a browser fails, as in CI, rather than skip."""
HEADLESS = ("--headless", "--no-sandbox", "--disable-gpu")


def without_view():
    """Return the modules but the last, which needs a page, as one script."""
    lines = "\n".join(text(name) for name in MODULES[:-1]).splitlines()
    return "\n".join(line.removeprefix("export ") for line in lines if not line.startswith("import "))


def browse(*arguments, seconds=120):
    """Run the browser, and return what it printed."""
    if BROWSER is None:
        (pytest.fail if NEEDED else pytest.skip)("no Chromium on this machine")
    environment = {name: value for name, value in os.environ.items() if name != "DBUS_SESSION_BUS_ADDRESS"}
    done = subprocess.run(
        [BROWSER, *HEADLESS, *arguments], capture_output=True, text=True, timeout=seconds, check=False, env=environment
    )
    return done.stdout


def run(expression, tmp_path, seconds=120):
    """Return the value of an expression of the modules' functions."""
    if NODE is not None:
        script = tmp_path / "script.mjs"
        script.write_text(f"{without_view()}\nconsole.log(JSON.stringify({expression}));\n")
        done = subprocess.run([NODE, script], capture_output=True, text=True, timeout=seconds, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    if BROWSER is None:
        (pytest.fail if NEEDED else pytest.skip)("neither node nor Chromium on this machine")
    page = tmp_path / "page.html"
    body = f"{without_view()}\ndocument.body.textContent = encodeURIComponent(JSON.stringify({expression}));"
    page.write_text(f"<!DOCTYPE html><body></body><script type='module'>{body}</script>")
    from urllib.parse import unquote

    shown = browse("--virtual-time-budget=60000", "--dump-dom", page.as_uri(), seconds=seconds)
    return json.loads(unquote(shown.partition("<body>")[2].partition("</body>")[0]))
