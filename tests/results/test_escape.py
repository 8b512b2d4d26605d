"""Names that are commands somewhere: every outlet shows them as letters."""

import io
import zipfile

import matplotlib.pyplot as plt
import numpy as np
import openpyxl
import pytest

import bayescm
from bayescm.cli import main
from bayescm.results import escape
from bayescm.results.writing import as_csv, as_xlsx

NAMES = ["a$b", "$x$ $\\foo$", "<b>&|", "=1+1", "\x1b[31mred"]


@pytest.fixture(scope="module")
def counts():
    cells = {"tp": [40, 35, 30, 38, 33], "fn": [5, 10, 15, 7, 12], "fp": [4, 6, 8, 5, 9], "tn": [50, 48, 46, 49, 45]}
    return bayescm.from_cells(**cells).assign_coords(system=NAMES)


@pytest.fixture(scope="module")
def classes():
    return bayescm.from_array(np.random.default_rng(1).integers(3, 30, (5, 5)), labels=NAMES)


@pytest.mark.parametrize("text", ["\x1b[31m", "a\x07", "a\x00b", "\x9b1m", "\u202eevil", "\r", "\ud800"])
def test_the_terminal_gets_no_commands(text):
    shown = escape.for_terminal(text)
    assert shown.isprintable()
    assert "\\x" in shown or "\\u" in shown or "\\r" in shown


@pytest.mark.parametrize("text", ["", "plain", "Zürich, 東京", "two\nlines", "1 < 2 [bold]", "$x$"])
def test_other_text_stays_as_it_is(text):
    assert escape.for_terminal(text) == text


@pytest.mark.parametrize("text", ["=1+1", "=cmd|'/c calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"])
def test_csv_has_no_formulas(text):
    assert as_csv([{"name": text, "n": -1.5}]).splitlines()[1].lstrip('"').startswith("'")


@pytest.mark.parametrize("text", ["+", "-", "-1", "+2.5", "a=b", "cat"])
def test_csv_keeps_what_is_no_formula(text):
    assert as_csv([{"name": text}]) == f"name\n{text}\n"


def test_a_spreadsheet_has_no_formulas():
    records = [{"system": name, "=point": 0.5, "n": 3, "far": "inf", "ratio": "nan"} for name in NAMES]
    sheet = openpyxl.load_workbook(io.BytesIO(as_xlsx(records))).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "inlineStr", "n"}
    assert [row[0].value for row in sheet.iter_rows(min_row=2)] == [*NAMES[:4], "\\x1b[31mred"]
    assert [cell.value for cell in sheet[2]][1:] == [0.5, 3, "inf", None]


def test_the_command_line(capsys, tmp_path):
    path = tmp_path / "systems.csv"
    rows = "\n".join(f"{name},{40 - i},{5 + i},5,50" for i, name in enumerate([*NAMES, "[bold]x[/bold]"]))
    path.write_text(f"system,tp,fn,fp,tn\n{rows}\n")
    for command in (["leaderboard"], ["compare", "--reference", "=1+1"], ["summary", "--metrics", "recall"]):
        sheet = tmp_path / "out.xlsx"
        assert main([command[0], str(path), *command[1:], "--save", str(sheet)]) == 0
        shown = capsys.readouterr()
        assert "\x1b" not in shown.out + shown.err
        assert "\\x1b[31mred" in shown.out
        assert "[bold]x[/bold]" in shown.out
        with zipfile.ZipFile(sheet) as parts:
            assert b"<f>" not in parts.read("xl/worksheets/sheet1.xml")
    path.write_text("system,tp,fn,fp,tn\n\x1b[31m,1,2,3,x\n")
    assert main(["leaderboard", str(path)]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_answers_and_reports(counts, classes, tmp_path):
    board = bayescm.leaderboard(counts, design="independent")
    tree = bayescm.compare_systems(counts, design="independent", random_seed=1)
    table = bayescm.summary(classes, ["recall", "f1_macro"], random_seed=1)
    for found in (board, tree, table):
        answer = found.bayescm
        for text in (repr(found), answer.sentence, answer.assumptions, repr(answer), answer.to_markdown()):
            assert "\x1b" not in text
        for html in (answer.html(), answer.to_markdown()):
            assert "<b>" not in html
            assert "&lt;b&gt;&amp;" in html
        assert r"\$x\$" in answer.to_latex()
    assert "'=1+1," in board.bayescm.to_csv()
    bayescm.report(board, file=tmp_path / "page.html")
    assert "<b>&" not in (tmp_path / "page.html").read_text()


def pictures(counts, classes):
    board = bayescm.leaderboard(counts, design="independent")
    tree = bayescm.compare_systems(counts, design="independent", random_seed=1)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    bands = {
        name: bayescm.curve_band(bayescm.curve_posterior(y, y + rng.normal(size=100), draws=100, random_seed=1))
        for name in (*NAMES[1:3], NAMES[4])
    }
    dists = {name: bayescm.metric_distribution(counts.sel(system=name), "recall") for name in NAMES}
    return {
        "forest": lambda ax: bayescm.plots.plot_forest(bayescm.summary(counts, ["recall", "f1"]), ax=ax),
        "forest of classes": lambda ax: bayescm.plots.plot_forest(bayescm.summary(classes, ["recall"]), ax=ax),
        "matrix": lambda ax: bayescm.plots.plot_confusion_matrix(bayescm.inference.cell_summary(classes), ax=ax),
        "leaderboard": lambda ax: bayescm.plots.plot_leaderboard(board, ax=ax),
        "pairs": lambda ax: bayescm.plots.plot_pairwise(board, ax=ax),
        "difference": lambda ax: bayescm.plots.plot_difference(
            tree, "accuracy", str(tree["summary"].comparison.values[0]), ax=ax
        ),
        "region": lambda ax: bayescm.plots.plot_region(bayescm.region(counts), ax=ax),
        "distribution": lambda ax: bayescm.plots.plot_distribution(dists, ax=ax),
        "curve": lambda ax: bayescm.plots.plot_curve(bands, ax=ax),
        "uncertainty": lambda ax: bayescm.plots.plot_metric_uncertainty(bayescm.summary(counts, "recall"), ax=ax),
        "display": lambda ax: bayescm.CurveDisplay(
            bayescm.curve_posterior(y, y + rng.normal(size=100), draws=100, random_seed=1)
        ).plot(ax, name=" ".join(NAMES)).ax_,
    }  # fmt: skip


@pytest.mark.slow
def test_pictures_draw_names_as_they_are_written(counts, classes):
    for what, draw in pictures(counts, classes).items():
        figure, ax = plt.subplots()
        ax.annotate("$\\alpha$", (0.5, 0.5))  # the user's own
        draw(ax)
        figure.canvas.draw()  # invalid mathtext, and glyphs that no font has, fail here
        texts = [text for text in figure.findobj(plt.Text) if "$" in text.get_text()]
        assert [text.get_text() for text in texts if text.get_parse_math()] == ["$\\alpha$"], what
        shown = " ".join(text.get_text() for text in figure.findobj(plt.Text))
        assert "\x1b" not in shown, what
        assert "$x$ $\\foo$" in shown, what
        plt.close(figure)
