"""The first hours of strangers of five trades, by the wheel alone: their first page as written, then data of their own.

``python tests/first_hours.py`` in an environment of the wheel and scikit-learn; CI runs it there.
"""

import doctest
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bayescm

DOCS = Path(__file__).parents[1] / "docs"
FIRST = "import bayescm; print(bayescm.summary(bayescm.from_cells(tp=26, fn=0, fp=2, tn=6), 'f1').bayescm.sentence)"
ANSWER = "F1 is 0.96 (95%: 0.87 to 0.99)."
OWN = {
    "data_scientist": (
        "actual,predicted\nspam,spam\nspam,ham\nham,ham\nham,ham\nspam,spam\nham,spam\n",
        "summary own.csv --pos-label spam --metrics f1,mcc --plot own.png",
    ),
    "clinician": (
        "ward,tp,fn,fp,tn\nnorth,45,5,10,90\nsouth,20,4,2,70\n",
        "summary own.csv --metrics sensitivity --plot own.png",
    ),
    "evaluation_engineer": (
        "item,system,correct\n" + "".join(f"q{i},a,{int(i % 5 > 0)}\nq{i},b,{int(i % 3 > 0)}\n" for i in range(60)),
        "leaderboard own.csv --plot own.png",
    ),
    "pymc_user": (
        "fold,tp,fn,fp,tn\n1,45,5,10,90\n2,40,9,12,80\n",
        "summary own.csv --metrics recall --save own.nc --plot own.png",
    ),
    "remote_sensing": (
        ",forest,other\nforest,90,10\nother,5,95\n",
        "audit own.csv --rows test --pos-label forest --totals 2000,8000 --of population --metrics prevalence "
        "--plot own.png",
    ),
}
"""A file of each trade and its command."""


def follow(text, name):
    """Run the examples of a page as test_docs does; return how they failed."""
    text = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    known = {"bayescm": bayescm, "counts": bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)}
    parsed = doctest.DocTestParser().get_doctest(text, known, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report: list[str] = []
    runner.run(parsed, out=report.append)
    return "".join(report) if runner.summarize(verbose=False).failed else ""


def run(*words, folder=None):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.strip()


def main():
    """Go through the hours, and say how long each took."""
    assert "site-packages" in bayescm.__file__, bayescm.__file__
    start = time.perf_counter()
    assert run("-c", FIRST) == ANSWER
    print(f"first answer {time.perf_counter() - start:.1f} s after the interpreter's start")
    for trade, (content, command) in OWN.items():
        start = time.perf_counter()
        page = DOCS / f"start_{trade}.md"
        failed = follow(page.read_text(), page.name) if page.exists() else ""
        assert not failed, failed
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "own.csv").write_text(content)
            assert "95%" in run("-m", "bayescm", *command.split(), folder=folder)
            assert Path(folder, "own.png").read_bytes().startswith(b"\x89PNG")
        print(f"{trade.replace('_', ' ')}: {time.perf_counter() - start:.0f} s")
    assert f"version: {bayescm.__version__}" in run("-m", "bayescm", "--cite")
    print(len(OWN) + 2, "passed, 0 failed")


if __name__ == "__main__":
    main()
