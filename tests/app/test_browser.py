"""Both pages in a headless browser, where there is one: what a reader sees."""

import html
import re
import threading
import time
from urllib.parse import urlencode

import page_scripts
import pytest
from test_one_file import PAGE

from bayescm.app import server
from bayescm.app.questions import QUESTIONS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(page_scripts.BROWSER is None, reason="no Chromium on this machine")]
TYPED = {"tp": 26, "fn": 0, "fp": 2, "tn": 6, "at": "2%", "prior": "laplace", "model": "three_binomial"}


def seen(address, seconds=30):
    """Return the document after its scripts ran."""
    return html.unescape(page_scripts.browse(f"--virtual-time-budget={1000 * seconds}", "--dump-dom", address))


def sentence(document):
    return re.search(r'id="sentence">(.*?)</p>', document, re.DOTALL)[1]


def test_the_page_answers_from_a_file():
    document = seen(f"{PAGE.as_uri()}#{urlencode(TYPED)}")
    assert sentence(document).startswith("Recall is 1.00 (95%: 0.89 to 1.00); specificity is 0.75 (0.43 to 0.95)")
    assert "Where 2% have it, PPV is 0.08 (0.03 to 0.17)" in sentence(document)
    assert document.partition("<script")[0].count("<svg") == 8
    assert "NaN" not in document.partition("<script")[0]


def test_the_page_explains_what_is_wrong():
    document = seen(f"{PAGE.as_uri()}#{urlencode(TYPED | {'tp': '<b>x</b>'})}")
    assert 'A whole number of items, at least 0; got "<b>x</b>".' in document
    assert re.search(r'<input id="tp"[^>]*aria-invalid="true"', document)
    assert "<svg" not in document.partition("<script")[0]


@pytest.fixture(scope="module")
def address():
    import uvicorn

    running = uvicorn.Server(uvicorn.Config(server.create_app(), port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    server.warm()
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    thread.join(10)


@pytest.mark.parametrize("tab", QUESTIONS)
def test_each_tab_answers(address, tab):
    document = seen(f"{address}/#tab={tab}")
    assert sentence(document).endswith(".")
    assert re.search(r'id="picture" alt="[^"]+" src="blob:', document)
    assert "<td" in document
    assert "import bayescm" in document


def test_a_tab_explains_what_is_wrong(address):
    document = seen(f"{address}/#tab=summary&tp=-3")
    assert "Write a whole number of items" in document
    assert re.search(r'id="tp"[^>]*aria-invalid="true"', document)
