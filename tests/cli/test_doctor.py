"""What the doctor says of files."""

from pathlib import Path

import pandas as pd

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
    assert "gate (one system): no; " in said


def test_it_knows_logs_and_good_tables(tmp_path, capsys):
    assert main(["doctor", str(LOGS / "promptfoo" / "new.json")]) == 0
    said = capsys.readouterr().out
    assert "a log of promptfoo" in said
    assert "gate (one system): yes; right and wrong answers to the same items" in said
    pd.DataFrame({"id": range(5), "correct": [1, 0, 1, 1, 1]}).to_json(
        tmp_path / "t.jsonl", orient="records", lines=True
    )
    assert main(["doctor", str(tmp_path / "t.jsonl")]) == 0
    assert "gate (one system): yes" in capsys.readouterr().out
    assert main(["doctor", str(tmp_path / "none.csv")]) == 2
