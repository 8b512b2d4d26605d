"""What is said to options and commands that don't exist: which one was meant."""

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import NoReturn

from bayescm.data.options import INSTEAD, borrowed

_MEANT = {
    "by": "group groups system systems model_name strata",
    "ci-kind": "hdi eti interval kind",
    "claim": "prob",
    "costs": "cost loss utility",
    "config": "cfg settings",
    "correct": "right passed success k",
    "count": "n counts weight weights",
    "draws": "samples n_boot n_samples iterations",
    "markdown": "md",
    "metrics": "metric measure measures",
    "output": "out",
    "plot": "figure fig picture",
    "pos-label": "positive positive_class positive_label pos event_level",
    "prob": "claim claims probability",
    "rope": "margin epsilon",
    "runs": "trials repeats",
    "save": "out output file output_file",
    "score": "scores probs proba y_score",
    "seed": "random_seed random_state rng",
    "threshold": "cutoff thresholds",
    "unit": "cluster clusters subject patient question image id",
    "actual": "truth true target reference label labels y_true gold",
    "predicted": "pred preds prediction predictions predict y_pred estimate",
    "json": "format",
    "junit": "xml junit_xml",
    "margin": "delta tolerance non_inferiority",
    "min-accuracy": "min_score minimum floor threshold",
    "missing": "errors",
    "reference": "baseline base old",
}
"""Options, and what others call them."""
_COMMANDS = {
    "metrics": "summary", "metric": "summary", "interval": "summary", "ci": "summary", "evaluate": "summary",
    "compare_systems": "compare", "auc": "curve", "aucpr": "curve", "roc": "curve", "band": "curve",
    "reliability": "curve --reliability", "calibration": "curve --reliability", "rank": "leaderboard",
    "sample_size": "plan", "check": "gate", "assert": "gate", "power": "plan", "net_benefit": "decide",
}  # fmt: skip


_HABITS = {
    "-m": "--metrics", "-o": "--save", "--md": "--markdown", "--ci": "--ci-prob",
    "--prior flat": "--prior laplace", "--prior uniform": "--prior laplace",
    **{f"{option} {form}": f"--{name}" for option in ("--format", "--output", "--save", "-f")
       for form, name in {"json": "json", "csv": "csv", "md": "markdown", "markdown": "markdown"}.items()},
}  # fmt: skip
"""What is typed from habit, in one word or two, and what it says here."""


class NoFileError(ValueError):
    """No file was named where one is needed: what is piped in may be meant."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as all other errors are said."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        if message.endswith("required: file"):
            raise NoFileError(f"give a file (- for what is piped); see {self.prog} --help.")
        raise ValueError(f"{message.rstrip('.')}; see {self.prog} --help.")


def check(words: Sequence[str], commands: dict[str, argparse.ArgumentParser]) -> list[str]:
    """Return the words with options as they are called here; refuse what doesn't exist, and say which was meant."""
    name = words[0] if words else ""
    if not name or name.startswith("-"):
        return list(words)
    if name not in commands:
        near = _COMMANDS.get(name.replace("-", "_")) or next(iter(difflib.get_close_matches(name, commands, 1)), None)
        meant = f"did you mean bayescm {near}" if near else f"there are {', '.join(commands)}"
        raise ValueError(f"bayescm has no command {name!r}; {meant}?" if near else f"no command {name!r}; {meant}.")
    own = sorted(option[2:] for option in commands[name]._option_string_actions if option.startswith("--"))
    words = _without_habits(words, own)
    for word in words[1:]:
        option = word.partition("=")[0]
        if word == "--":
            break
        if re.match(r"--?[A-Za-z]", option) and option != "-h" and not _known(option, own):
            meant = _meant(option.lstrip("-").replace("-", "_"), own)
            raise ValueError(f"bayescm {name} has no option {option}; {meant or f'see bayescm {name} --help'}.")
    return words


def _without_habits(words: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return words with what is typed from habit as this command, which has these options, calls it."""
    made: list[str] = []
    for word in words:
        pair = " ".join([*made[-1:], word])
        typed = pair if pair in _HABITS else word.replace("=", " ")
        said = _HABITS.get(typed, "").split()
        if said and said[0][2:] in own:
            made[len(made) - (typed == pair) :] = said
        else:
            made.append(word)
    return made


def _known(option: str, own: Sequence[str]) -> bool:
    """Say whether an option is one of these, or the beginning of one."""
    return option.startswith("--") and any(name.startswith(option[2:]) for name in own)


def _meant(name: str, own: Sequence[str]) -> str:
    """Say which of a command's options was meant; nothing where that isn't known."""
    if name in INSTEAD and INSTEAD[name].replace("_", "-") in own:
        return f"say --{INSTEAD[name].replace('_', '-')}"
    near = [option for option, others in _MEANT.items() if name in others.split() and option in own]
    near += [name.replace("_", "-")] if name.replace("_", "-") in own else []
    if near:
        return f"say --{near[0]}"
    told = borrowed(name, [option.replace("-", "_") for option in own])
    if told and "bayescm." not in told and not told.startswith("the truth"):
        told = re.sub(r"`(\w+)`", lambda at: f"--{at[1].replace('_', '-')}", told)
        return re.sub(r"\b(\w+)=('?)([\w.]+)\2", lambda at: _as_option(at[1], at[3], own), told)
    near = difflib.get_close_matches(name.replace("_", "-"), own, 1)
    return f"did you mean --{near[0]}" if near else ""


def _as_option(name: str, value: str, own: Sequence[str]) -> str:
    """Write an argument of Python as the option that it is here."""
    option = name.replace("_", "-")
    return f"--{option} {value}" if option in own else f"{name}={value}"
