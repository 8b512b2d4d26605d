"""What the doctor says of files."""

from pathlib import Path

import pandas as pd
import pytest

from bayescm.cli import main

LOGS = Path(__file__).parents[1] / "data" / "logs"


def test_it_says_what_a_table_holds_and_what_is_missing(tmp_path, capsys):
    frame = pd.DataFrame({"question_id": ["a", "a", "b", "B"], "correct": [1, 0, 1, None], "note": list("xyzw")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["doctor", str(tmp_path / "t.csv")]) == 0
    said = capsys.readouterr().out
    assert "a table of 4 rows and 3 columns" in said
    assert "question_id: 3 different values, taken for item, 1 differ in case or spaces alone, up to 2 rows" in said
    assert "1 missing" in said
    assert "no: bayescm gate: " in said


def test_it_knows_logs_and_good_tables(tmp_path, capsys):
    assert main(["doctor", str(LOGS / "promptfoo" / "new.json")]) == 0
    said = capsys.readouterr().out
    assert "a log of promptfoo" in said
    assert "yes: bayescm compare, leaderboard, gate: right and wrong answers to the same items" in said
    pd.DataFrame({"id": range(5), "correct": [1, 0, 1, 1, 1]}).to_json(
        tmp_path / "t.jsonl", orient="records", lines=True
    )
    assert main(["doctor", str(tmp_path / "t.jsonl")]) == 0
    assert "yes: bayescm gate: " in capsys.readouterr().out
    assert main(["doctor", str(tmp_path / "none.csv")]) == 2


def rows(header, row, n=24):
    return "\n".join([header, *(row(i) for i in range(n))])


CELLS = "yes: bayescm summary, compare, leaderboard, gate: counts, read from cells by name"
LABELS = "yes: bayescm summary, compare, leaderboard: counts, read from columns of labels"
SYSTEMS = "yes: bayescm compare, leaderboard, gate: answers to the same items"
PUBLISHED = "yes: bayescm summary, compare, leaderboard, gate: right and wrong answers"
LAYOUTS = {
    "labels": (rows("y_true,y_pred", lambda i: f"{i % 2},{i % 3 // 2}"), LABELS),
    "words, semicolons": (rows("truth;prediction", lambda i: f"{'spam' if i % 2 else 'ham'};ham"), "ham, spam"),
    "a byte order mark": (rows("\ufeffactual,predicted", lambda i: f"{i % 2},{i % 3 // 2}"), LABELS),
    "probabilities": (rows("label,prob", lambda i: f"{i % 2},0.{i + 10}"), "curve --actual label --score prob: scores"),
    "logits": (rows("target,logit", lambda i: f"{i % 2},{i / 3 - 4:.2f}"), "--actual target --score logit: scores"),
    "decimal commas": (rows("label;score", lambda i: f"{i % 2};0,{i + 10}"), "summary, gate: are 'score' scores of"),
    "percents": (rows("label,score", lambda i: f"{i % 2},{i}.5%"), "'0.5%' in row 1 of the table; wanted is a number"),
    "systems and ids": (rows("id\tgold\tA\tB", lambda i: f"q{i}\t{'abc'[i % 3]}\ta\t{'abc'[i % 3]}"), SYSTEMS),
    "systems": (rows("y_true,pred_1,pred_2", lambda i: f"{i % 3},{i % 2},{i % 3}"), SYSTEMS),
    "studies": ("Study,TP,FP,FN,TN,year\nSmith 2001,10,2,3,40,2001\nLee 2004,8,1,5,30,2004", CELLS),
    "rows without names": ("TP,FN,FP,TN\n47,9,101,738\n126,51,272,1543", CELLS),
    "folds": ("fold,tp,fp,fn,tn\n1,9,1,1,9\n2,8,2,2,8", "over fold (2: 1, 2)"),
    "a square": (",cat,dog\ncat,10,2\ndog,3,12", "doesn't say whether its rows are the truth or the test"),
    "epidemiology": (",Disease +,Disease -\nTest +,90,30\nTest -,10,170", "(TP 90, FP 30, FN 10, TN 170)"),
    "accuracies": ("team,accuracy\nalpha,0.912\nbeta,0.887", "needs the number of items behind them"),
    "accuracies of n": ("model,accuracy,n\nalpha,0.912,500\nbeta,0.888,500", PUBLISHED),
    "right of a total": ("model,correct,total\nalpha,456,500\nbeta,444,500", PUBLISHED),
    "partial credit": (rows("item,score", lambda i: f"{i},{i % 4 / 4}"), "yes: bayescm summary: scores from 0 to 1"),
    "runs": (rows("task,run,passed", lambda i: f"t{i // 4},{i % 4},{i % 2}"), "gate: right and wrong answers"),
    "one name twice": ("id,actual,predicted\nq1,1,1\nq1,1,1\nq2,0,0", "has up to 2 rows of each 'id'"),
    "an empty field": ("actual,predicted\n1,1\n0,\n1,0", "column 'predicted' is empty in row 2"),
    "raters": (rows("subject,r1,r2,r3", lambda i: f"s{i},{i % 3},{i % 3},{i % 2}"), "agreement: ratings of 24"),
    "readers": (
        rows("reader,system,case,truth,rating", lambda i: f"{i // 12},{i // 6 % 2},{i % 6},{i % 2},{i % 5}"),
        "yes: bayescm readers: readings of 2 readers with 2 systems",
    ),
    "classes' probabilities": (
        rows("label,p_cat,p_dog", lambda i: f"{'cd'[i % 2]},0.{i + 10},0.{89 - i}"), "no: bayescm summary"
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_other_people(layout, tmp_path, capsys):
    text, words = LAYOUTS[layout]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert main(["doctor", str(tmp_path / "t.csv")]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "a,b\n", "hello world\nthis is no table\n", "Matrix,,\n,0,1\n0,50,5\n1,8,37"])
def test_what_is_no_table_is_refused(text, tmp_path, capsys):
    (tmp_path / "t.csv").write_text(text)
    assert main(["doctor", str(tmp_path / "t.csv")]) == 2
    assert capsys.readouterr().err.startswith("bayescm: error: ")
