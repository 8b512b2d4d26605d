"""What stands on a terminal of 80 columns: names give way, numbers never."""

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bayescm.cli import build_parser, main
from bayescm.results.writing import cell, shortened, wide

NAMES = [f"evaluation-of-a-large-language-model-fine-tuned-on-task-no-{i:02d}" for i in range(20)]
CLASSES = [f"a class with quite a long name that nobody shortens, nr {i:02d}" for i in range(12)]
MOST = 10**9
FEW = ["--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6"]
MANY = f"--tp {MOST} --fn 1 --fp 0 --tn {MOST}".split()
SEED = ["--seed", "1"]
COMMANDS = {
    "summary": (["summary", *FEW], "metrics"),
    "summary of many items": (["summary", *MANY], "metrics"),
    "summary of systems": (["summary", "systems.csv", "--metrics", "mcc,f1"], "metrics"),
    "summary of classes": (["summary", "classes.csv", "--metrics", "f1,accuracy"], "metrics"),
    "summary of large costs": (["summary", *FEW, "--metrics", "expected_cost(fn=1e9,fp=1e-9)"], "metrics"),
    "summary of claims": (["summary", *FEW, "--metrics", "mcc", "--prob", "mcc > .3 and recall > .2"], "metrics"),
    "interval": (["summary", "classes.csv", "--method", "wilson"], "metrics"),
    "prevalence": (["prevalence", "two.csv"], "metrics"),
    "prevalence of 1e-9": (["prevalence", *MANY, "--at", "1e-9,.5"], "metrics"),
    "region": (["region", "two.csv", "--grid", "30", "--recall", ".8", "--precision", ".8"], "regions"),
    "region of many items": (["region", *MANY, "--space", "roc", "--grid", "30"], "regions"),
    "compare": (["compare", "answers.csv", "--predicted", ",".join(NAMES[:3]), "--metrics", "recall,mcc", *SEED,
                 "--require", "recall > .8"], "differences"),
    "compare 20 systems": (["compare", "systems.csv", "--reference", NAMES[0], *SEED], "differences"),
    "compare many items": (["compare", "many.csv", *SEED], "differences"),
    "compare areas": (["compare", "scores.csv", "--score", NAMES[0], "--score", NAMES[1], *SEED], "areas"),
    "leaderboard": (["leaderboard", "systems.csv", "--prize", "1e9", *SEED], "systems"),
    "leaderboard of many items": (["leaderboard", "many.csv", *SEED], "systems"),
    "decide": (["decide", "systems.csv", "--costs", "fn=1e9,fp=1e-9", *SEED], "actions"),
    "decide by net benefit": (["decide", "two.csv", "--thresholds", ".05,.5", *SEED], "actions"),
    "plan": (["plan", "recall,specificity", "--width", ".1", "--mode", "recall=.8,specificity=.95"], "plan"),
    "plan of 1e-9": (["plan", "--width", "1e-4", "--mode", ".000000001", "--concentration", "none"], "plan"),
    "plan widths": (["plan", "--n-items", f"100,{MOST}"], "plan"),
    "plan a difference": (["plan", "--difference", ".05", "--mode", ".85", "--discordance", ".1"], "plan"),
    "replicate": (["replicate", "two.csv", "--metrics", "mcc,positive_likelihood_ratio", "--claim", "mcc > .3", *SEED],
                  "metrics"),
    "curve": (["curve", "scores.csv", "--score", NAMES[0], "--score", NAMES[1], "--draws", "50", *SEED], "quantities"),
    "curve of groups": (["curve", "scores.csv", "--group", "fold", "--draws", "50", *SEED], "quantities"),
    "curve regions": (["curve", "scores.csv", "--band", "regions", "--mark", ".5", "--grid", "30"], "band"),
    "reliability": (["curve", "scores.csv", "--reliability", "--bins", "4"], "bins"),
    "audit": (["audit", "audit.csv", "--stratum", "group", "--count", "n", "--pos-label", "yes", "--unit", "9e-2",
               *SEED], "metrics"),
    "audit, next labels": (["audit", "audit.csv", "--stratum", "group", "--count", "n", "--pos-label", "yes",
                            "--allocate", "40"], "labels"),
    "audit, worth": (["audit", "audit.csv", "--count", "n", "--pos-label", "yes", "--costs", "fn=5,fp=2",
                      "--per-check", "1", "--n-items", "5000"], "labels"),
}  # fmt: skip


def write_files(folder):
    """Write files with long names, many systems and classes, and large counts."""
    rng = random.Random(1)

    def write(name, head, rows):
        (folder / name).write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")

    cells = "name,tp,fn,fp,tn"
    write("systems.csv", cells, [(name, 80 + i % 7, 20 - i % 7, 10 + i, 190 - i) for i, name in enumerate(NAMES)])
    write("two.csv", cells, [(name, 80 + 5 * i, 20 - 5 * i, 10, 190) for i, name in enumerate(NAMES[:2])])
    write("many.csv", cells, [(name, MOST - i * 10**8, MOST, 3, MOST) for i, name in enumerate(NAMES[:3])])
    quoted = [f'"{name}"' for name in CLASSES]
    write(
        "classes.csv", ",".join(["truth", *quoted]),
        [(name, *(MOST if i == j else (i + j) % 7 for j in range(12))) for i, name in enumerate(quoted)],
    )  # fmt: skip
    answers = []
    for _ in range(90):
        actual = rng.randint(0, 1)
        answers.append((actual, *(actual if rng.random() < share else 1 - actual for share in (0.9, 0.8, 0.7))))
    write("answers.csv", ",".join(["actual", *NAMES[:3]]), answers)
    scores = []
    for actual in [0, 1] * 50:
        one, other, chance = (f"{rng.gauss(actual, sd):.4f}" for sd in (0.7, 1.2, 1))
        chance = f"{min(max(0.3 + 0.2 * float(chance), 0.001), 0.999):.4f}"
        scores.append((actual, NAMES[rng.randint(3, 4)], one, other, chance))
    write("scores.csv", ",".join(["actual", "fold", *NAMES[:2], "score"]), scores)
    known = [("yes", "yes", 30), ("no", "yes", 6), ("yes", "no", 3), ("no", "no", 61), ("", "yes", 9 * 10**7)]
    write("audit.csv", "actual,predicted,group,n", [(a, p, name, n) for name in NAMES[:2] for a, p, n in known])
    tests = [(NAMES[10 + i % 2], int(rng.random() < 0.5), int(rng.random() < 0.5)) for i in range(80)]
    write("tests.csv", ",".join(["site", *NAMES[:2]]), tests)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("awkward")
    write_files(made)
    return made


def ask(folder, commands, **more):
    """Return what commands print, and their exit codes."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("terminal.py"))], cwd=folder, input=json.dumps(commands),
        capture_output=True, text=True, check=True, env=os.environ | {"MPLBACKEND": "agg"} | more,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told(folder):
    """Return what every command prints on a terminal, piped, and as JSON."""
    words = [command for command, _ in COMMANDS.values()]
    piped = [["|", *one] for one in words]  # before terminals, which then begin with all imported
    found = ask(folder, [*piped, *([*one, "--json"] for one in piped), *words])
    n = len(words)
    return {name: (found[2 * n + i], found[i], found[n + i]) for i, name in enumerate(COMMANDS)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_of_80_columns(told, name):
    (out, code), (piped, _), (document, _) = told[name]
    assert code == 0, out
    assert max(map(wide, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert piped == out
    rows = json.loads(document)[COMMANDS[name][1]]
    left_out = " ".join(re.findall(r"Not shown: (.*?); --json", " ".join(out.split())))
    for column in ("point", "mean", "estimate", "lower", "upper", "share", "width", "net"):
        for row in rows if column not in left_out and re.search(rf"(^|  ){column}(  |$)", out, re.MULTILINE) else []:
            value = row.get(column)
            if isinstance(value, float):
                assert any(f" {cell(value, column, digits)}" in out for digits in range(3, 7)), (column, value)


@pytest.mark.parametrize("name", COMMANDS)
def test_names_stay_distinguishable(told, name):
    (out, _), _, (document, _) = told[name]
    rows = json.loads(document)[COMMANDS[name][1]]
    for column in ("system", "action", "comparison", "group"):
        names = {str(row[column]) for row in rows if column in row}
        table = re.search(rf"^{column}  .*\n((?:.+\n)+)", out, re.MULTILINE)
        if names and table:
            shown = {line.split("  ")[0] for line in table[1].splitlines()}
            assert len({one for one in shown if one in names or "…" in one}) == len(names)


@pytest.mark.slow
def test_colours_are_never_printed(folder):
    (out, code), (other, _) = ask(folder, [COMMANDS["summary"][0], COMMANDS["leaderboard"][0]], NO_COLOR="1")
    assert code == 0
    assert "\x1b" not in out + other


@pytest.mark.long
def test_latent_on_a_terminal(folder):
    words = ["latent", "tests.csv", "--tests", ",".join(NAMES[:2]), "--by", "site", *SEED]
    ((out, code),) = ask(folder, [words])
    assert code == 0, out
    assert max(map(wide, out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["summary", "region", "compare areas", "leaderboard", "decide", "plan", "replicate"])
def test_the_table_alone(folder, name, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    words, table = COMMANDS[name]
    printed = {}
    for form in ("json", "csv", "markdown"):
        assert main([*words, f"--{form}"]) == 0
        printed[form] = capsys.readouterr().out
    rows = json.loads(printed["json"])[table]
    read = list(csv.DictReader(io.StringIO(printed["csv"])))
    assert len(read) == len(rows)
    for row, line in zip(rows, read, strict=True):
        assert {key: str(value) for key, value in row.items() if not isinstance(value, list | str)} == {
            key: line[key] for key, value in row.items() if not isinstance(value, list | str)
        }
    lines = printed["markdown"].splitlines()
    assert len(lines) == len(rows) + 2
    assert all(line.startswith("| ") and line.count(" | ") == lines[0].count(" | ") for line in lines)


@pytest.mark.slow
def test_what_is_piped_into_a_command(folder):
    words = ["summary", "--metrics", "f1", "--json", *SEED]
    done = [
        subprocess.run(
            [sys.executable, "-m", "bayescm", *words, file], cwd=folder, input=(folder / "two.csv").read_bytes(),
            capture_output=True, check=True,
        ).stdout
        for file in ("-", "two.csv")
    ]  # fmt: skip
    assert done[0] == done[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["summary", *FEW, "--confidence", ".9"], "say --ci-prob"),
        (["summary", *FEW, "--alpha=.1"], "say --ci-prob 0.95 where another library says alpha=0.05"),
        (["summary", "x.csv", "--positive", "yes"], "say --pos-label"),
        (["summary", *FEW, "--metrics", "mcc", "--random-state", "1"], "say --seed"),
        (["summary", *FEW, "--pior", "laplace"], "did you mean --prior"),
        (["summary", *FEW, "--average", "macro"], "in the name of a metric"),
        (["curve", "x.csv", "--n-boot", "100"], "say --draws"),
        (["compare", "x.csv", "--paired"], "say --design"),
        (["summary", *FEW, "--zzz"], "see bayescm summary --help"),
        (["sumary"], "did you mean bayescm summary"),
        (["auc", "x.csv"], "did you mean bayescm curve"),
        (["zzz"], "there are summary, region"),
        (["compare"], "give a file"),
        (["summary", *FEW, "--json", "--csv"], "not allowed with"),
    ],
)
def test_what_was_meant(capsys, words, said):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert said in err


def test_every_option_that_is_meant_exists():
    from bayescm.cli.hints import _COMMANDS, _MEANT

    parsers = next(one.choices for one in build_parser()._actions if one.choices)
    options = {name for parser in parsers.values() for name in parser._option_string_actions}
    assert {f"--{name}" for name in _MEANT} <= options
    assert {name.split()[0] for name in _COMMANDS.values()} <= set(parsers)


@pytest.mark.parametrize(
    ("names", "size", "wanted"),
    [
        (["short"], 8, ["short"]), (["model-a-v1", "model-a-v2"], 8, ["mode…-v1", "mode…-v2"]),
        (["xxxxxAyyyyy", "xxxxxByyyyy", "x"], 6, ["xxxx…1", "xxxx…2", "x"]),
        (["漢字漢字漢字", "abc"], 8, ["漢字…字", "abc"]),
        (["first-long-name - other-long-name"], 19, ["firs…ame - othe…ame"]),
    ],
)  # fmt: skip
def test_names_are_shortened_in_the_middle(names, size, wanted):
    found = shortened(names, size)
    assert list(found.values()) == wanted
    assert all(wide(name) <= size for name in found.values())
