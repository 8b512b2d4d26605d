"""A browser that is driven: Debian's Chromium through Playwright, and axe-core's rules of accessibility."""

import os
from contextlib import contextmanager
from pathlib import Path

import page_scripts

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def browser():
    """Start Chromium, which has a clipboard and asks nobody but this machine."""
    from playwright.sync_api import sync_playwright

    environment = {name: value for name, value in os.environ.items() if name != "DBUS_SESSION_BUS_ADDRESS"}
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=page_scripts.BROWSER, args=arguments, env=environment, headless=True, timeout=120_000
        )
        yield started
        started.close()


@contextmanager
def page_of(started, address, size=DESKTOP, scheme="light"):
    """Open an address in a window of its own; `page.asked` lists what it asked for, `page.wrong` what failed."""
    context = started.new_context(viewport=size, color_scheme=scheme, accept_downloads=True)
    context.set_default_timeout(120_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.asked, page.wrong = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.goto(address)
    yield page
    context.close()


def answered(page):
    """Wait for an answer, pictures included, and return its sentence."""
    page.wait_for_function(
        """() => document.getElementById("result").getAttribute("aria-busy") === "false"
           && document.getElementById("sentence").textContent.endsWith(".")
           && !document.getElementById("result").hasAttribute("data-stale")
           && !document.getElementById("filled").hidden"""
    )
    return page.inner_text("#sentence")


def unfold(page):
    """Open all that is folded in the form."""
    page.evaluate("() => document.querySelectorAll('form details').forEach((one) => { one.open = true; })")


def violations(page):
    """Return what axe-core finds: its rule and where."""
    import axe_playwright_python

    page.evaluate((Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("(rules) => axe.run(document, rules)", RULES)
    assert len(found["passes"]) > 15  # it looked
    return [(one["id"], node["html"][:120]) for one in found["violations"] for node in one["nodes"]]


def typed(page, text):
    """Type over what stands in the field that has the focus."""
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def tab_to(page, selector, most=40):
    """Press the Tab key until the focus is there, and see that it is shown."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            style = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert style != "none", f"{selector} doesn't show its focus"
            return
    raise AssertionError(f"{selector} isn't reached by the Tab key")
