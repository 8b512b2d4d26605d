"""Both pages in a browser, as a reader uses them: by keyboard, by mouse, on a phone, on paper."""

import csv
import io
import re
import threading
import time
from urllib.parse import urlencode

import browsing
import numpy as np
import page_scripts
import pandas as pd
import pytest
import xarray as xr
from browsing import DESKTOP, PHONE, answered, page_of, tab_to, typed, unfold, violations
from test_one_file import PAGE

import bayescm
from bayescm.app import server
from bayescm.app.inputs import MOST_SYSTEMS
from bayescm.app.questions import QUESTIONS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(page_scripts.BROWSER is None and not page_scripts.NEEDED, reason="no Chromium on this machine"),
]
TYPED = {"tp": 26, "fn": 0, "fp": 2, "tn": 6, "at": "2%", "prior": "laplace", "model": "three_binomial"}
FILE = f"{PAGE.as_uri()}#{urlencode(TYPED)}"
COUNTS = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
KNOWN = {"model": "three_binomial", "prior": "laplace"}


@pytest.fixture(scope="module")
def browser():
    with browsing.browser() as started:
        yield started


@pytest.fixture(scope="module")
def address():
    import uvicorn

    running = uvicorn.Server(uvicorn.Config(server.create_app(), port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    thread.join(10)


def drawn(page):
    """Wait for the picture of an answer of the local page."""
    page.wait_for_selector("#picture[src^='blob:']")
    page.wait_for_selector("#figure:not([data-stale])")


def interval(metric, **known):
    """Return what the library says, with two decimals, as the pages write it."""
    lower, upper = bayescm.summary(COUNTS, metric, **KNOWN, **known)["interval"].values.ravel()
    return f"({lower:.2f} to {upper:.2f})"


def test_a_pasted_matrix_of_several_classes_is_answered(browser, address):
    counts = [[24, 4, 2], [4, 25, 1], [2, 3, 25]]
    with page_of(browser, address) as page:
        unfold(page)
        page.fill("#table", "\n".join("\t".join(map(str, row)) for row in counts))
        page.click("button.main")
        assert answered(page).startswith("Accuracy is 0.82")
        drawn(page)
        tables = bayescm.summary(counts).bayescm.tables()
        assert page.locator("#numbers tr").count() == sum(len(one) + 1 for one in tables)
        assert not page.wrong


def test_what_takes_longer_than_the_server_waits_is_still_answered(browser, address, monkeypatch):
    real = QUESTIONS["summary"]

    def slow(form):
        time.sleep(4)
        return real(form)

    monkeypatch.setattr(server, "SECONDS", 1.0)
    monkeypatch.setitem(server.QUESTIONS, "summary", slow)
    with page_of(browser, address) as page:
        page.fill("#tp", "29")
        page.click("button.main")
        page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Still computing')")
        assert answered(page).startswith("Accuracy is 0.95")
        assert sum(one.endswith("/api/summary") for one in page.asked) > 1


def test_too_many_systems_are_refused_beside_their_table(browser, address):
    with page_of(browser, address) as page:
        page.click("#tab-leaderboard")
        page.fill("#systems", "\n".join(["system,correct,wrong", *(f"s{i},9,1" for i in range(MOST_SYSTEMS + 1))]))
        page.click("button.main")
        page.wait_for_selector("#systems-error:not([hidden])")
        assert page.inner_text("#systems-error").endswith("bayescm.leaderboard(data).")


def test_a_clinician_needs_a_keyboard_and_four_numbers(browser):
    with page_of(browser, PAGE.as_uri()) as page:
        for cell, count in (("tp", "26"), ("fn", "0"), ("fp", "2"), ("tn", "6")):
            tab_to(page, f"#{cell}")
            typed(page, count)
        tab_to(page, "#at")
        typed(page, "2%")
        tab_to(page, "form summary")
        page.keyboard.press("Enter")
        tab_to(page, "#model")
        page.keyboard.press("s")  # of separate rates
        tab_to(page, "#prior")
        page.keyboard.press("f")  # of flat
        page.keyboard.press("Enter")
        tab_to(page, "[type=submit]", most=4)
        page.keyboard.press("Enter")
        said = answered(page)
        assert f"specificity is 0.75 {interval('specificity')}" in said
        assert f"Where 2% are positive, ppv (precision) is 0.08 {interval('ppv', prevalence=0.02)}" in said
        assert page.locator("#pictures figure").count() == 11
        tab_to(page, "#print")
        printed(page, ["Specificity", "PPV", "Tötsch and Hoffmann (2021)", "TN / (TN + FP)"])
        assert all(url.startswith(("file:", "data:")) for url in page.asked)
        assert not page.wrong


def printed(page, wanted):
    """See that paper has the numbers, the words and their sources, and no buttons."""
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("button:visible").count()
    text = page.inner_text("body")
    for part in wanted:
        assert part in text, part
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="screen")


def test_the_same_path_on_the_local_page(browser, address):
    with page_of(browser, address) as page:
        tab_to(page, "[role=tab]")
        for _ in range(list(QUESTIONS).index("prevalences")):
            page.keyboard.press("ArrowRight")
        assert page.evaluate("() => document.activeElement.id") == "tab-prevalences"
        for name, text in (("tp", "26"), ("fn", "0"), ("fp", "2"), ("tn", "6"), ("at", "2%")):
            tab_to(page, f"#{name}")
            typed(page, text)
        unfold(page)
        tab_to(page, "#model")
        page.keyboard.press("s")
        tab_to(page, "#prior")
        typed(page, "laplace")
        page.keyboard.press("Enter")
        said = answered(page)
        drawn(page)
        lower, upper = bayescm.summary(COUNTS, "ppv", **KNOWN, prevalence=0.02, ci_kind="eti")["interval"].values[0]
        assert f"({lower:.2f} to {upper:.2f}) at a prevalence of 0.02" in said
        printed(page, ["Fagan 1975", "TP / (TP + FP)", "Assumes"])
        page.keyboard.press("Shift+Tab")
        page.evaluate("() => document.getElementById('tab-prevalences').focus()")
        page.keyboard.press("End")
        assert page.evaluate("() => document.activeElement.id") == f"tab-{list(QUESTIONS)[-1]}"
        page.keyboard.press("ArrowRight")
        assert page.evaluate("() => document.activeElement.id") == "tab-summary"


def thirty():
    """Return a table of 30 systems, of which some can't be told apart."""
    rng = np.random.default_rng(30)
    items = 480 + np.arange(30)
    correct = rng.binomial(items, np.linspace(0.95, 0.6, 30))
    return pd.DataFrame({"system": [f"team {i:02d}" for i in range(30)], "correct": correct, "wrong": items - correct})


def drop(page, selector, name, content):
    """Drop a file as a mouse does."""
    page.evaluate(
        """([selector, name, content]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([content], name, { type: "text/csv" }));
          for (const kind of ["dragover", "drop"]) {
            const event = new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
            document.querySelector(selector).dispatchEvent(event);
          }
        }""",
        [selector, name, content],
    )


def test_a_manager_drops_a_table_and_reads_who_leads(browser, address):
    table = thirty()
    board = bayescm.leaderboard(table, metric="accuracy", random_seed=0).sortby("expected_rank")
    with page_of(browser, f"{address}") as page:
        page.click("#tab-leaderboard")
        drop(page, ".drop", "board.csv", table.to_csv(index=False))
        said = answered(page)
        drawn(page)
        assert said == board.bayescm.sentence
        assert page.locator("#numbers tbody tr").count() == 30
        assert page.get_attribute("#picture", "alt") == said


def test_a_spreadsheet_is_read(browser, address):
    made = io.BytesIO()
    thirty().to_excel(made, index=False)
    with page_of(browser, f"{address}") as page:
        page.click("#tab-leaderboard")
        page.set_input_files(
            "#systems-file", {"name": "board.XLSX", "mimeType": "application/octet-stream", "buffer": made.getvalue()}
        )
        # until the file is read, the example's answer stands
        page.wait_for_function("() => document.querySelectorAll('#numbers tbody tr').length === 30")
        page.set_input_files("#systems-file", {"name": "no.xlsx", "mimeType": "text/csv", "buffer": b"a,b"})
        page.wait_for_selector("#systems-error:not([hidden])")
        assert "not an .xlsx file" in page.inner_text("#systems-error")


@pytest.mark.parametrize("tab", QUESTIONS)
def test_each_tab_answers_and_breaks_no_rule_of_accessibility(browser, address, tab):
    with page_of(browser, f"{address}/#tab={tab}") as page:
        assert answered(page).endswith(".")
        drawn(page)
        assert page.get_attribute("#picture", "alt")
        assert page.locator("#numbers td").count()
        assert "import bayescm" in page.inner_text("#code")
        assert violations(page) == []
        assert all(url.startswith((f"{address}/", f"blob:{address}/", "data:")) for url in page.asked)
        assert not page.wrong


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_is_broken_in_the_dark_or_on_a_phone(browser, address, size, scheme):
    for where in (FILE, f"{address}/#tab=prevalences"):
        with page_of(browser, where, size, scheme) as page:
            answered(page)
            page.wait_for_selector("#pictures svg, #picture[src^='blob:']")
            assert violations(page) == []
            assert page.evaluate("() => document.documentElement.scrollWidth") == size["width"]
            page.fill("#tp", "-3")
            page.click("[type=submit]")
            page.wait_for_selector("#tp[aria-invalid=true]")
            assert violations(page) == []


def test_what_is_wrong_is_said_at_its_field(browser, address):
    with page_of(browser, f"{PAGE.as_uri()}#{urlencode(TYPED | {'tp': '<b>x</b>'})}") as page:
        page.wait_for_selector("#tp[aria-invalid=true]")
        assert page.inner_text("#tp-error") == 'Write a whole number of items, 0 if there were none; got "<b>x</b>".'
        assert page.evaluate("() => document.activeElement.tagName") == "BODY"  # nobody asked by Enter
        page.keyboard.press("Tab")
        page.click("[type=submit]")
        assert page.evaluate("() => document.activeElement.id") == "tp"
        assert not page.locator("svg").count()
    with page_of(browser, f"{address}/#tab=summary&tp=-3") as page:
        page.wait_for_selector("#tp[aria-invalid=true]")
        assert page.inner_text("#tp-error") == 'Write a whole number of items, 0 if there were none; got "-3".'
    with page_of(browser, f"{address}/#tab=curves&table=a,b%0A1,2") as page:
        page.wait_for_selector("#scores[aria-invalid=true]")
        assert "no column “actual”" in page.inner_text("#scores-error")


def copied(page, what):
    """Press a button and return what is in the clipboard."""
    page.click(f"[data-copy={what}]")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Copied.'")
    text = page.evaluate("() => navigator.clipboard.readText()")
    page.evaluate("() => { document.getElementById('said').textContent = ''; }")
    return text


@pytest.mark.parametrize("where", ["file", "local"])
def test_what_is_copied_says_the_same_elsewhere(browser, address, where, capsys):
    local = where == "local"
    start = f"{address}/#tab=summary&model=three_binomial&prior=laplace&tp=26&fn=0&fp=2&tn=6" if local else FILE
    with page_of(browser, start) as page:
        said = answered(page)
        rows = list(csv.DictReader(io.StringIO(copied(page, "csv"))))
        recall = bayescm.summary(COUNTS, "recall", **KNOWN)["interval"].values[0, 0]
        assert float(next(row for row in rows if row["metric"] == "recall")["lower"]) == pytest.approx(recall)
        assert '"lower"' in copied(page, "json")
        exec(compile(copied(page, "code" if local else "python"), where, "exec"), {})
        assert f"{recall:.3f}" in capsys.readouterr().out
        link = copied(page, "link")
    with page_of(browser, link) as page:
        assert answered(page) == said


def test_each_kind_of_file_is_saved(browser, address, tmp_path):
    with page_of(browser, f"{address}/#tab=curves") as page:
        answered(page)
        drawn(page)
        for kind, begins in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("nc", b"\x89HDF")):
            with page.expect_download() as waiting:
                page.click(f"[data-save={kind}]")
            waiting.value.save_as(tmp_path / waiting.value.suggested_filename)
            assert (tmp_path / f"bayescm-curves.{kind}").read_bytes().startswith(begins)
    with xr.open_datatree(tmp_path / "bayescm-curves.nc") as tree:
        assert tree["posterior"]["auc"].sizes == {"chain": 4, "draw": 250}


def test_the_nomogram_of_the_file_is_the_librarys(browser):
    found = bayescm.planning.at_prevalences(COUNTS, prevalence=0.02, **KNOWN)
    ax = bayescm.plots.plot_prevalence(found, kind="nomogram")
    bottom, top = ax.get_ylim()
    with page_of(browser, FILE) as page:
        answered(page)
        page.wait_for_selector(".tall svg")
        points = page.eval_on_selector_all(".tall polygon", "(all) => all.map((one) => one.getAttribute('points'))")
    for wedge, patch in zip(points, ax.patches, strict=True):
        there = [float(pair.split(",")[1]) for pair in wedge.split()]
        here = (top - patch.get_xy()[:3, 1]) / (top - bottom) * (520 - 14 - 30) + 14
        assert sorted(there) == pytest.approx(sorted(here), abs=0.15)  # pixels


def test_nothing_is_sent_twice_or_lost_where_one_clicks_fast(browser, address):
    with page_of(browser, f"{address}/#tab=summary") as page:
        answered(page)
        for name in (*QUESTIONS, "summary"):
            page.click(f"#tab-{name}")
            page.click("[type=submit]")
        said = answered(page)
        assert re.match(r"\w+ is \d", said), said
        assert not page.wrong


FIELDS_OF = (
    "() => [...document.querySelectorAll('#form :is(input, select, textarea, button, summary)')].map((one) => one.id)"
)


def press_to(page, where):
    """Press Tab once, and see that the focus is there and shown."""
    page.keyboard.press("Tab")
    shown = page.evaluate("() => [document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]")
    assert shown[0] == where
    assert shown[1] != "none", f"{where} doesn't show its focus"


@pytest.mark.parametrize("tab", QUESTIONS)
def test_each_tab_is_reached_filled_sent_read_and_saved_by_keyboard(browser, address, tab):
    with page_of(browser, address) as page:
        press_to(page, "skip")
        press_to(page, "tab-summary")
        for _ in range(list(QUESTIONS).index(tab)):
            page.keyboard.press("ArrowRight")
        unfold(page)
        fields = page.evaluate(FIELDS_OF)
        for name in fields:
            press_to(page, name)
            if name == "ci_prob":
                typed(page, "90%")
        page.keyboard.press("Enter")  # on the last, which sends the form
        said = answered(page)
        drawn(page)
        assert page.evaluate("() => document.activeElement.type") == "submit"
        page.wait_for_function("() => document.getElementById('announced').textContent.length > 10")
        assert page.locator("#announced[role=status]").inner_text().startswith(said)
        assert "ci_prob" not in fields or "90%" in said or "0.9" in page.inner_text("#code")
        tab_to(page, "[data-save=svg]")
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert waiting.value.suggested_filename == f"bayescm-{tab}.svg"
        tab_to(page, "#numbers")
        tab_to(page, "#code")
        page.evaluate("() => document.body.focus()")
        page.focus("#skip")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "result"
        assert page.evaluate("() => location.hash").startswith(f"#tab={tab}&")
        assert not page.wrong


@pytest.mark.parametrize("where", ["file", "local"])
def test_what_is_wrong_is_read_out_by_keyboard_alone(browser, address, where):
    with page_of(browser, PAGE.as_uri() if where == "file" else address) as page:
        tab_to(page, "#fp")
        typed(page, "many")
        page.keyboard.press("Enter")
        wrong = "fp" if where == "local" else "tp"  # the first of those that are wrong
        page.wait_for_selector(f"#{wrong}[aria-invalid=true]")
        assert page.evaluate("() => document.activeElement.id") == wrong
        described = page.get_attribute("#fp", "aria-describedby").split()
        assert "Write a whole number of items" in " ".join(page.inner_text(f"#{one}") for one in described)
        assert 'got "many"' in page.inner_text("#fp-error")
        for name, text in (("tp", "26"), ("fn", "0"), ("fp", "2"), ("tn", "6")):
            page.focus(f"#{name}")
            typed(page, text)
        page.keyboard.press("Enter")
        assert answered(page)
        assert not page.locator("[aria-invalid=true]").count()
        assert not page.locator(".error:visible").count()


def test_the_file_is_left_through_every_button_by_keyboard(browser):
    with page_of(browser, FILE) as page:
        answered(page)
        page.focus("#skip")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "result"
        for where in (
            "#table",
            "[data-copy=csv]",
            "[data-copy=json]",
            "[data-copy=link]",
            "[data-copy=python]",
            "#print",
        ):
            tab_to(page, where, most=1)
            if "data-copy" in where:
                page.keyboard.press("Enter")
                page.wait_for_function("() => document.getElementById('said').textContent === 'Copied.'")
        tab_to(page, "#python", most=1)
        tab_to(page, "summary", most=1)
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.getElementById('words').open")


def test_an_answer_of_one_tab_is_not_shown_in_another(browser, address):
    with page_of(browser, f"{address}/#tab=compare") as page:
        answered(page)
        page.fill("#rope", "0.01")
        page.click("[type=submit]")
        page.click("#tab-items")
        assert page.inner_text("#sentence") == ""
        assert not page.is_visible("#filled")
        assert "items for accuracy" in answered(page)
        drawn(page)
        assert page.get_attribute("#picture", "alt") == page.inner_text("#sentence")


def test_what_takes_long_says_so(browser, address, monkeypatch):
    real = server.QUESTIONS["leaderboard"]
    monkeypatch.setitem(server.QUESTIONS, "leaderboard", lambda form: time.sleep(4) or real(form))
    with page_of(browser, f"{address}/#tab=leaderboard&metric=recall") as page:
        page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Computing')")
        page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Still computing')")
        assert " leads " in answered(page)


def test_both_pages_use_the_same_words(browser, address):
    words = """(names) => names.map((name) => [...document.querySelectorAll(`label[for=${name}], #${name}-help`)]
                 .map((one) => one.textContent))"""
    with page_of(browser, PAGE.as_uri()) as page:
        of_file = page.evaluate(words, ["tp", "fn", "fp", "tn", "ciProb", "ciKind", "model"])
        button = page.inner_text("[type=submit]")
    with page_of(browser, address) as page:
        here = page.evaluate(words, ["tp", "fn", "fp", "tn", "ci_prob", "ci_kind", "model"])
        assert [[text for text in one if text] for one in here] == of_file
        assert page.inner_text("[type=submit]") == button


@pytest.mark.parametrize("where", ["file", "local"])
def test_the_answer_stands_beside_the_form_and_follows_each_keystroke(browser, address, where):
    with page_of(browser, FILE if where == "file" else f"{address}/#tab=summary") as page:
        before = answered(page)
        page.wait_for_selector("#pictures svg, #picture[src^='blob:']")
        form, answer = page.locator("#form").bounding_box(), page.locator("#sentence").bounding_box()
        assert answer["x"] >= form["x"] + form["width"]
        for part in ("#form", "#sentence", "#table td >> nth=1" if where == "file" else "#numbers td >> nth=1"):
            box = page.locator(part).first.bounding_box()
            assert box["y"] < DESKTOP["height"]
            assert box["x"] + box["width"] <= DESKTOP["width"]
        page.focus("#fp")
        page.keyboard.press("End")
        page.keyboard.type("0")  # 20
        page.wait_for_selector("#result[data-stale]")  # what stands there is of 2
        after = answered(page)
        assert after != before
        assert page.evaluate("() => document.activeElement.id") == "fp"
        assert page.locator("[data-sum='fp tn']").inner_text() == "26"
        page.keyboard.type("x")
        page.wait_for_selector("#fp[aria-invalid=true]")
        page.wait_for_selector("#result[data-stale][aria-busy=false]")
        assert "typed before" in page.inner_text("#state")
        assert page.inner_text("#sentence") == after
        assert page.evaluate("() => document.activeElement.id") == "fp"
        assert page.input_value("#tp") == "26"
        assert page.locator("[data-sum='fp tn']").inner_text() == ""
        page.keyboard.press("Backspace")
        assert answered(page) == after
        assert not page.wrong


@pytest.mark.parametrize("where", ["file", "local"])
def test_the_grid_turns_and_keeps_its_numbers(browser, address, where):
    with page_of(browser, FILE if where == "file" else f"{address}/#tab=summary") as page:
        said = answered(page)
        page.select_option("#rows", "test")
        assert answered(page) == said
        assert page.inner_text(".grid tr:nth-child(2) th").split("\n")[0] == "Test positive"
        assert [page.input_value(f"#{cell}") for cell in ("tp", "fn", "fp", "tn")] == ["26", "0", "2", "6"]
        assert page.evaluate("() => document.activeElement.id") in ("rows", "")
        link = page.url
    with page_of(browser, link) as page:
        answered(page)
        assert page.input_value("#rows") == "test"


def test_a_screen_reader_is_not_spoken_to_at_every_keystroke(browser, address):
    with page_of(browser, f"{address}/#tab=summary") as page:
        answered(page)
        page.evaluate("""() => {
          window.spoken = [];
          new MutationObserver(() => spoken.push(document.getElementById("announced").textContent))
            .observe(document.getElementById("announced"), { childList: true });
        }""")
        page.wait_for_timeout(1800)
        spoken = len(page.evaluate("() => window.spoken"))
        page.focus("#tn")
        for letter in ("1", "2", "3"):
            page.keyboard.type(letter)
            page.wait_for_timeout(400)
        said = answered(page)
        page.wait_for_timeout(1800)
        assert page.evaluate("() => window.spoken")[spoken:] == [said]


def test_both_verdicts_on_two_tests_are_in_view(browser, address):
    with page_of(browser, f"{address}/#tab=compare") as page:
        said = answered(page)
        assert "sensitivity" in said
        assert "specificity" in said
        drawn(page)
        rows = page.locator("#numbers tbody tr")
        assert rows.count() == 2
        for row in rows.all():
            box = row.locator("td").last.bounding_box()
            assert box["x"] + box["width"] <= DESKTOP["width"]
            assert box["y"] + box["height"] <= DESKTOP["height"]
        assert page.locator("#picture").bounding_box()["y"] < DESKTOP["height"]
