"""The page without a server: its numbers are the library's, and it asks nothing of anybody."""

import json
import os
import re
from pathlib import Path

import numpy as np
import page_scripts
import pytest
from page_numbers import FILE

import bayescm
from bayescm.app.pages import single_file
from bayescm.results import writing

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
INPUTS = int(os.environ.get("BAYESCM_PAGE_INPUTS", "150"))
"""Of the comparison to the digit: 1,000 take eight minutes."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what the page says of every case."""
    expression = ANSWERS.replace("CASES", json.dumps(CASES), 1)
    return page_scripts.run(expression, tmp_path_factory.mktemp("page"))


@pytest.mark.slow
def test_distributions_are_the_librarys(answers):
    for case, found in zip(CASES, answers, strict=True):
        for said, row in zip(case["rows"], sorted_as(case["rows"], found["rows"]), strict=True):
            assert row["below"] == pytest.approx(said["below"], abs=1e-9), (case["typed"], said["metric"])
        assert found["deceptive"] == pytest.approx(case["deceptive"], abs=1e-9)


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_python_that_is_shown_says_the_same(answers, capsys):
    exec(compile(answers[0]["python"], "page", "exec"), {})
    printed = capsys.readouterr().out
    assert "recall" in printed
    assert f"{answers[0]['rows'][0]['lower']:.3f}" in printed


@pytest.mark.slow
def test_what_is_copied_is_whole(answers):
    header, *lines = answers[0]["csv"].splitlines()
    assert header == "metric,prevalence,point,mean,lower,upper,ci_prob,ci_kind,how"
    assert len(lines) == 12
    made = json.loads(answers[0]["json"])
    assert made["counts"] == {"tp": 26, "fn": 0, "fp": 2, "tn": 6}
    assert made["metrics"][0]["lower"] == answers[0]["rows"][0]["lower"]
    assert answers[0]["sentence"].startswith("Sensitivity (recall) is 1.00 (95%: 0.93 to 1.00); specificity is 0.75")


CELLS = ("tp", "fn", "fp", "tn")
ASKED = ["sensitivity", "specificity", "ppv", "npv", "lr+", "lr-", "accuracy", "prevalence", "informedness"]
ELSEWHERE = ["ppv", "npv", "accuracy"]
NUMBERS = ["point", "mean", "lower", "upper"]
WRITTEN = """INPUTS.map((typed) => {
  const found = answer(read(typed).settings);
  const part = (rows) => [rows.map((row) => NUMBERS.map((name) => String(row[name]))), cells(rows),
    rows.map((row) => `${called(row.metric)} is ${estimate(row, found.settings.ciProb)}.`)];
  return [part(found.rows), part(found.elsewhere)];
})"""
SAME = 1e-9
"""Numbers that differ by less, and lie as near to where one is rounded up or down, may be written either way."""


def random_inputs(n):
    """Return counts from none to ten thousands, with prevalences, priors, models and levels, as they are typed."""
    rng = np.random.default_rng(34)
    for _ in range(n):
        cells = rng.integers(0, rng.integers(2, 10 ** rng.integers(1, 5), 4)).tolist()
        whole = rng.random() < 0.8
        yield dict(zip(CELLS, map(str, cells), strict=True)) | {
            "at": str(rng.choice([0.001, 0.02, 0.1, 0.3, 0.5, 0.9])), "ciKind": "eti", "strength": "1",
            "model": "dirichlet_multinomial" if whole else "three_binomial",
            "prior": str(rng.choice(["jeffreys", "laplace"])), "ciProb": str(rng.choice(["0.95", "0.8", "0.99"])),
        }  # fmt: skip


def written(typed):
    """Return the numbers, their digits and the sentences of the library, as the page has them."""
    counts = bayescm.from_cells(**{name: int(typed[name]) for name in CELLS})
    how = {"model": typed["model"], "prior": typed["prior"], "ci_prob": float(typed["ciProb"])}
    separate = typed["model"] == "three_binomial"  # of which accuracy is in Python only
    asked = [name for name in ASKED if not (separate and name == "accuracy")]
    for metrics, where in ((asked, {}), (ELSEWHERE, {"prevalence": float(typed["at"])})):
        found = bayescm.summary(counts, metrics, **how, **where)
        frame = found.bayescm.table()[NUMBERS]
        names, rows = writing.cells(frame)
        told = [found.bayescm[name].bayescm.sentence.partition(" Note:")[0] for name in found["metric"].values.tolist()]
        yield frame.values.tolist(), [[row[names.index(name)] for name in NUMBERS] for row in rows], told


def undecided(number, other, digits):
    """Say whether two numbers are the same, and so near to 0, 1 or a half of the last digit that both may be right."""
    scaled, near = float(number) * 10**digits, min(abs(float(number)), abs(float(number) - 1.0)) < SAME
    half = abs(abs(scaled % 1) - 0.5) < SAME * 10**digits * 2
    return abs(float(number) - float(other)) < SAME and (near or half)


def mean_of_an_integral(name, number, other):
    """Say whether both are a mean, which the library has from few nodes where a prevalence is extreme."""
    return name == "mean" and abs(float(number) - float(other)) < 2 * INTEGRAL


@pytest.mark.long
def test_random_inputs_are_written_to_the_digit_as_the_library_writes_them(tmp_path):
    inputs, wrong, near = list(random_inputs(INPUTS)), [], 0
    script = WRITTEN.replace("INPUTS", json.dumps(inputs), 1).replace("NUMBERS", json.dumps(NUMBERS), 1)
    for typed, page in zip(inputs, page_scripts.run(script, tmp_path, seconds=1200), strict=True):
        for (values, rows, told), (numbers, cells, sentences) in zip(written(typed), page, strict=True):
            numbers, cells, sentences = zip(
                *(one for one in zip(numbers, cells, sentences, strict=True) if one[0][2] != "NaN"), strict=True
            )
            for i, row in enumerate(rows):
                pairs = zip(NUMBERS, row, cells[i], values[i], numbers[i], strict=True)
                different = [
                    pair for name, *pair in pairs if pair[0] != pair[1] and not mean_of_an_integral(name, *pair[2:])
                ]
                digits = max(len(one.partition(".")[2]) for one in row)
                ties = all(undecided(here, there, digits) or abs(here) < SAME for *_, here, there in different)
                told_alike = told[i].casefold() == sentences[i].casefold()
                near += bool(different) and ties
                if not (ties and (told_alike or any(undecided(v, v, d) for v in values[i] for d in range(2, 7)))):
                    wrong.append((typed, told[i], sentences[i], different))
    assert not wrong, (len(wrong), wrong[:5])
    assert near < INPUTS / 10  # of 12 rows each


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


@pytest.mark.parametrize(("value", "digits", "text"), [
    (0.125, 2, "0.12"), (0.375, 2, "0.38"), (2.5, 0, "2"), (0.0005, 3, "0.0005"), (1234.5, 3, "1,234"),
    (1e-5, 3, "1e-05"),
    (0.99996, 3, "0.99996"), (2.3e8, 3, "2.3e+08"), (1e-17, 3, "0.000"), (-0.0625, 3, "-0.062"),
])  # fmt: skip
def test_numbers_are_rounded_as_python_rounds(tmp_path, value, digits, text):
    assert page_scripts.run(f"show({value}, {digits})", tmp_path) == writing.show(value, digits)
    if digits == 3:
        assert writing.show(value, digits) == text


@pytest.mark.parametrize("kind", ["cells", "pairs"])
@pytest.mark.parametrize("rows", ["truth", "test"])
def test_every_cell_of_a_grid_has_its_label_its_place_for_errors_and_its_margins(tmp_path, kind, rows):
    made, names = page_scripts.run(f'[grid("{kind}", "{rows}"), GRIDS["{kind}"].names.flat()]', tmp_path)
    sums = [set(one.split()) for one in re.findall(r'data-sum="([^"]*)"', made)]
    assert set(names) in sums
    for name in names:
        assert f'<label for="{name}">' in made
        assert f'id="{name}-error"' in made
        assert sum(name in one for one in sums) == 3  # its row, its column, all
    first = re.search(r"<th scope=\"row\">(.*?)<", made)[1]
    assert first == {"truth": "Diseased", "test": {"cells": "Test positive", "pairs": "Both positive"}[kind]}[rows]
