"""The page without a server: its numbers are the library's, and it asks nothing of anybody."""

import json
import re
from pathlib import Path

import page_scripts
import pytest
from page_numbers import FILE

from bayescm.app.pages import single_file

CASES = json.loads(FILE.read_text())
PAGE = Path(__file__).parents[2] / "docs" / "_static" / "bayescm.html"
ANSWERS = """CASES.map((one) => {
  const { settings, errors } = read(one.typed);
  if (Object.keys(errors).length) throw new Error(JSON.stringify(errors));
  const found = answer(settings);
  const plain = (list) => list.map(({ metric, point, mean, lower, upper, ciKind, how, distribution }) => {
    const said = one.rows.find((row) => row.metric === metric && (row.prevalence !== null) === (list !== found.rows));
    const below = said === undefined ? [] : said.places.map((x) => distribution.tails(x)[0]);
    return { metric, point, mean, lower, upper, ciKind, how, below };
  });
  return { rows: [...plain(found.rows).filter((row) => row.how), ...plain(found.elsewhere)],
    deceptive: found.deceptive, sentence: sentence(found), python: python(settings), csv: csv(found),
    json: json(found) };
})"""
CLOSED, INTEGRAL = 1e-9, 1e-6


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what the page says of every case."""
    expression = ANSWERS.replace("CASES", json.dumps(CASES), 1)
    return page_scripts.run(expression, tmp_path_factory.mktemp("page"))


def test_distributions_are_the_librarys(answers):
    for case, found in zip(CASES, answers, strict=True):
        for said, row in zip(case["rows"], sorted_as(case["rows"], found["rows"]), strict=True):
            assert row["below"] == pytest.approx(said["below"], abs=1e-9), (case["typed"], said["metric"])
        assert found["deceptive"] == pytest.approx(case["deceptive"], abs=1e-9)


def test_intervals_are_the_librarys(answers):
    for case, found in zip(CASES, answers, strict=True):
        for said, row in zip(case["rows"], sorted_as(case["rows"], found["rows"]), strict=True):
            where = (case["typed"], said["metric"], said["prevalence"])
            unseen = case["typed"]["fp"] == case["typed"]["tn"] == "0"
            if said["metric"] == "accuracy" and said["prevalence"] and unseen:  # flat: many intervals are as short
                assert row["upper"] - row["lower"] <= said["upper"] - said["lower"] + INTEGRAL, where
                assert row["mean"] == pytest.approx(said["mean"], abs=INTEGRAL), where
                continue
            near = CLOSED if row["how"] == "closed form" else INTEGRAL
            assert row["ciKind"] == said["ci_kind"], where
            for name in ("mean", "lower", "upper"):
                assert row[name] == pytest.approx(said[name], abs=near), (*where, name)


def sorted_as(wanted, rows):
    """Return the page's rows in the order of the library's: those at another prevalence are the last three."""
    first, last = rows[:-3], rows[-3:]
    return [
        next(row for row in (first if one["prevalence"] is None else last) if row["metric"] == one["metric"])
        for one in wanted
    ]


def test_the_python_that_is_shown_says_the_same(answers, capsys):
    exec(compile(answers[0]["python"], "page", "exec"), {})
    printed = capsys.readouterr().out
    assert "recall" in printed
    assert f"{answers[0]['rows'][0]['lower']:.3f}" in printed


def test_what_is_copied_is_whole(answers):
    header, *lines = answers[0]["csv"].splitlines()
    assert header == "metric,prevalence,point,mean,lower,upper,ci_prob,ci_kind,how"
    assert len(lines) == 10
    made = json.loads(answers[0]["json"])
    assert made["counts"] == {"tp": 26, "fn": 0, "fp": 2, "tn": 6}
    assert made["metrics"][0]["lower"] == answers[0]["rows"][0]["lower"]
    assert answers[0]["sentence"].startswith("Sensitivity (recall) is 1.00 (95%: 0.93 to 1.00); specificity is 0.75")


WRONG = [
    ("tp", ""), ("tp", "-1"), ("fn", "2.5"), ("fp", "1e3"), ("tn", "NaN"), ("tn", "1000000000000"), ("at", "0"),
    ("at", "1.5"), ("at", "x"), ("ciProb", "1"), ("ciProb", ""), ("prior", "haldane"), ("model", "other"),
    ("ciKind", "wald"), ("tp", "<b>"),
]  # fmt: skip


def test_errors_name_their_field(tmp_path):
    good = CASES[0]["typed"]
    wrong = [good | {name: value} for name, value in WRONG] + [good | {"prior": "number", "strength": "0"}]
    found = page_scripts.run(f"{json.dumps(wrong)}.map((typed) => Object.keys(read(typed).errors))", tmp_path)
    assert found == [*([name] for name, _ in WRONG), ["strength"]]


def test_percent_signs_are_understood(tmp_path):
    typed = CASES[0]["typed"] | {"at": "2%", "ciProb": "95%"}
    found = page_scripts.run(f"read({json.dumps(typed)}).settings", tmp_path)
    assert (found["at"], found["ciProb"]) == (0.02, 0.95)


def test_the_committed_page_is_made_of_its_sources():
    assert PAGE.read_text(encoding="utf-8") == single_file(), "python docs/page.py writes it anew"


def test_the_page_asks_nobody_for_anything():
    page = single_file()
    assert not re.search(r"https?:|//[a-z]+\.|fetch\(|XMLHttp|\bsrc=|<link|@import|url\(|\bimport .*\bfrom\b", page)
    assert "default-src 'none'" in page


def test_every_field_has_its_label_and_its_place_for_errors():
    page = single_file()
    fields = re.findall(r'<(?:input|select) id="(\w+)"', page)
    assert len(fields) == 10
    for name in fields:
        assert f'<label for="{name}">' in page
        assert f'id="{name}-error"' in page
