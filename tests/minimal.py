"""What the environment of `requirements/minimal.txt` answers, and how it refuses the rest: run there."""

import os
import re
import subprocess
import sys
import warnings

import bayescm

GIVEN = {
    "C": [[6, 2], [0, 26]], "K": [[9, 1, 2], [3, 7, 1], [0, 1, 5]], "TRUE": [0, 0, 1, 1], "SCORE": [0.1, 0.4, 0.3, 0.8],
    "BOARD": {"a": [[30, 4], [5, 60]], "b": [[25, 2], [1, 44]]},
}  # fmt: skip
ANSWERED = """
summary(C); summary(K, 'f1_macro'); summary(K, prior='learned'); summary(C, model='three_binomial'); report(C)
probability(C, 'recall > .8'); interval(C, 'f1', 'delta'); interval(C, 'recall', 'wilson'); posterior(C, draws=100)
metric_distribution(C, 'mcc').hdi(); compare_systems(BOARD); leaderboard(BOARD); gate(BOARD['a'], BOARD['b'])
region(C); regions.area(region(C)); regions.contour(region(C)); band(TRUE, SCORE); auc(TRUE, SCORE); aucpr(TRUE, SCORE)
curve_band(TRUE, SCORE, draws=200); curves.reliability(TRUE, SCORE); sample_size('recall', width=.1); scorer('f1')
decide(C, {'fn': 5, 'fp': 1}); planning.replicate(C); read('system,tp,fn,fp,tn\\nA,26,0,2,6'); summary(C).to_netcdf()
"""
REFUSED = {
    "posterior(C, sampler='nuts')": "pymc", "models.load('kfold')": "pymc", "synthesis([C, C, C])": "pymc",
    "summary(C).bayescm.plot()": "matplotlib", "plots.plot_confusion_matrix(C)": "matplotlib",
    "CurveDisplay.from_predictions(TRUE, SCORE)": "matplotlib", "report(C, file='report.html')": "matplotlib",
}  # fmt: skip
COMMANDS = {
    "summary --tp 26 --fn 0 --fp 2 --tn 6": "", "summary --tp 26 --fn 0 --fp 2 --tn 6 --plot a.png": "matplotlib",
    "app": "starlette", "latent --help": "",
}  # fmt: skip


def run(*words, **environment):
    whole = os.environ | environment
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=whole)
    return done.returncode, done.stderr.strip()


def check(package, said):
    """Hold a refusal to one sentence that names the package and the command."""
    assert re.fullmatch(rf".* needs {package}, .* python -m pip install '{package}[^']*'\.", said), (package, said)


def main():
    """Go through all of them."""
    warnings.simplefilter("ignore")
    known = {name: getattr(bayescm, name) for name in dir(bayescm)} | GIVEN
    answered = ANSWERED.replace("\n", "; ").strip("; ").split("; ")
    for call in answered:
        eval(call, known)
    for call, package in REFUSED.items():
        try:
            eval(call, known)
            said = ""
        except ModuleNotFoundError as error:
            said = str(error)
        check(package, said)
    for command, package in COMMANDS.items():
        code, said = run("-m", "bayescm", *command.split())
        check(package, said) if package else None
        assert code == (2 if package else 0), (command, said)
    said = run("-c", "import bayescm; bayescm.region([[6, 2], [0, 26]])", BAYESCM_COMPILE="jit")[1]
    check("numba", said.splitlines()[-1])
    print(len(answered) + len(REFUSED) + len(COMMANDS) + 1, "passed, 0 failed")


if __name__ == "__main__":
    main()
