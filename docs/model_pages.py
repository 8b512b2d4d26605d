"""Pages of the models, written from their docstrings, signatures and programs while the documentation is built."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphs
import numpy as np
from numpydoc.docscrape import FunctionDoc

import bayescm
from bayescm import models

DRAWN: dict[str, list[dict[str, Any]]] = {
    "fold_scores": [{"prior": "standard"}, {"n_datasets": 5}],
    "latent_class": [{}, {"tests": 3, "dependence": True}],
    "overdispersed": [{}, {"overdispersion": "rates"}],
    "paired": [{}, {"systems": 3}],
    "regression": [{"covariates": "x + (1 | site)"}],
}
"""Options of ``simulate`` and ``model`` under which a model is drawn, where the defaults don't show it all."""
ASKED: dict[str, list[dict[str, Any]]] = {
    "fold_scores": [{"n_datasets": 5}],
    "informative": [{"prior": {"recall": (45, 5), "specificity": "laplace", "prevalence": "laplace"}}],
    "kfold": [{"pooling": "complete"}, {"pooling": "average"}],
    "paired": [{"systems": 3}, {"dependence": "difficulty"}],
}
"""Options under which it is said, beside the defaults, what answers a model."""
LAWS: dict[tuple[Any, ...], dict[str, str]] = {
    ("fold_scores",): {"scores": "normal, equally correlated"},
    ("latent_class",): {"rates": "Betas, better than chance"},
    ("overdispersed",): {"counts": "DirichletMultinomial"},
    ("overdispersed", "rates"): {"counts": "Dirichlet-multinomial tree"},
}
"""What PyMC calls a custom distribution: by model and options."""


# --- reStructuredText of docstrings becomes Markdown ------------------------------------------------------------------


def markdown(text: str) -> str:
    """Return one paragraph of a docstring as one line of Markdown."""
    text = " ".join(text.split())
    marked = r"(:(?:py:)?\w+:`[^`]+`|``.+?``|`[^`]+`|\b\w+=(?:\"\w+\"|True|False))"
    return "".join(_code(part) if i % 2 else _plain(part) for i, part in enumerate(re.split(marked, text)))


def _code(part: str) -> str:
    if role := re.fullmatch(r":(?:py:)?(\w+):`([^`]+)`", part):
        return f"{{py:{role[1]}}}`{role[2]}`"
    return f"`{part.strip('`')}`"


def _plain(part: str) -> str:
    return re.sub(r"([\\*<$\[\]|])", r"\\\1", part)


def _literal(lines: list[str]) -> str:
    return _code_block("text", inspect.cleandoc("\n".join(["", *lines])))


def _code_block(language: str, code: str) -> str:
    return f"```{{code-block}} {language}\n:class: small-code\n\n{code.rstrip()}\n```"


_ALIGNED = re.compile(r"\S {2,}\S")
_FORMULA = re.compile(r"^[^.:;]{1,40}? [~=] |\S {2,}\S")
_TERM = re.compile(r"^(\S+(?: \S+){0,2}) {2,}(\S.*)$")


def _body(lines: list[str], symbols: bool) -> list[str]:
    """Return the blocks of a section: prose, formulas as they stand, terms with what they mean."""
    blocks = []
    chunks = [chunk.splitlines() for chunk in re.split(r"\n\s*\n", "\n".join(lines)) if chunk.strip()]
    for i, chunk in enumerate(chunks):
        margin = min(len(line) - len(line.lstrip()) for line in chunk)
        chunk = [line[margin:] for line in chunk]
        base = [line for line in chunk if not line.startswith(" ")]
        if symbols and i == 0:
            blocks.append(_literal(chunk))
        elif len(base) > 1 and all(map(_TERM.match, base)):
            blocks.append(_terms(chunk))
        else:
            blocks.extend(_mixed(chunk))
    return blocks


def _terms(chunk: list[str]) -> str:
    """Return a definition list."""
    terms: list[list[str]] = []
    for line in chunk:
        if (term := _TERM.match(line)) and not line.startswith(" "):
            terms.append([term[1], term[2]])
        else:
            terms[-1].append(line)
    return "\n\n".join(f"{markdown(t)}\n: {markdown(' '.join(meaning))}" for t, *meaning in terms)


def _mixed(chunk: list[str]) -> list[str]:
    """Split a paragraph into prose and formulas: lines that are indented, or between the first and last aligned one."""
    formula = [line.startswith(" ") for line in chunk]
    if any(_ALIGNED.search(line) for line in chunk if not line.startswith(" ")):
        found = [i for i, line in enumerate(chunk) if _FORMULA.search(line)]
        formula = [a or min(found) <= i <= max(found) for i, a in enumerate(formula)]
    blocks, start = [], 0
    for i in range(1, len(chunk) + 1):
        if i == len(chunk) or formula[i] != formula[start]:
            part = chunk[start:i]
            blocks.append(_literal(part) if formula[start] else markdown(" ".join(part)))
            start = i
    return blocks


def sections(docstring: str) -> tuple[str, list[tuple[str, list[str]]], str]:
    """Return a model's title, its sections (head, blocks of Markdown; no head for notes) and the command that runs it.

    A head is a line at the margin whose next line is indented or underlined.
    """
    title, *rest = re.split(r"\n\s*\n", inspect.cleandoc(docstring), maxsplit=1)
    lines = "".join(rest).splitlines()
    parts: list[tuple[str, list[str]]] = []
    i = 0
    while i < len(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if not lines[i].strip():
            i += 1
        elif re.fullmatch(r"-{3,}|={3,}", following):
            parts.append((lines[i], []))
            i += 2
        elif not lines[i].startswith(" ") and following.startswith(" "):
            end = next((j for j in range(i + 1, len(lines)) if lines[j] and not lines[j].startswith(" ")), len(lines))
            symbols = bool(re.match(r"in symbols|for (K|many|two)\b", lines[i], re.IGNORECASE))
            parts.append((lines[i], _body(lines[i + 1 : end], symbols)))
            i = end
        else:
            end = next((j for j in range(i, len(lines)) if not lines[j].strip()), len(lines))
            parts.append(("", [markdown(" ".join(lines[i:end]))]))
            i = end
    run = [(j, text[0]) for j, (head, text) in enumerate(parts) if not head and text[0].startswith("Run `python")]
    for j, _ in run:
        parts.pop(j)
    return " ".join(title.split()).rstrip("."), parts, run[0][1] if run else ""


# --- a page -----------------------------------------------------------------------------------------------------------


def _taken(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in list(inspect.signature(function).parameters)[1:]}


def _shown(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items()).replace("'", '"')


def _defaults(story: Any) -> dict[str, str]:
    """Return the defaults of ``model`` as they are written, constants of the model resolved."""
    tree = ast.parse(inspect.getsource(story))
    constants = {n.targets[0].id: n.value for n in tree.body
                 if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}  # fmt: skip
    arguments = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "model").args
    given = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {
        argument.arg: ast.unparse(constants.get(getattr(value, "id", ""), value)).replace("'", '"')
        for argument, value in given
        if value is not None
    }


def _options(story: Any) -> list[str]:
    """Return the table of the arguments of ``model``."""
    doc, defaults = FunctionDoc(story.model), _defaults(story)
    lines = ["| argument | default | meaning |", "|---|---|---|"]
    for entry in doc["Parameters"]:
        for name in entry.name.split(", "):
            meaning = " ".join(filter(None, [f"{markdown(entry.type)}.", markdown(" ".join(entry.desc))]))
            default = f"`{defaults[name]}`" if name in defaults else ""
            lines.append(f"| `{name}` | {default} | {meaning} |")
    returned = " ".join(" ".join(entry.desc) for entry in doc["Returns"])
    return ["\n".join(lines), *([f"Variables of the program: {markdown(returned)}"] if returned else [])]


def _worlds(story: Any, variants: list[dict[str, Any]]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield each variant's name, simulated data and options of ``model``."""
    for options in variants:
        world = story.simulate(np.random.default_rng(1), **_taken(story.simulate, options))
        yield f"`{_shown(options)}`" if options else "defaults", models.data_of(world), _taken(story.model, options)


def _figures(name: str, story: Any, folder: Path) -> list[str]:
    """Draw a model under each of its variants."""
    figures = []
    for i, (under, data, asked) in enumerate(_worlds(story, DRAWN.get(name, [{}]))):
        picture = folder / f"{name}{f'_{i + 1}' if i else ''}.svg"
        dists = LAWS.get((name, *asked.values()), LAWS.get((name,), {}))
        words = graphs.draw(story.model(data, **asked), picture, dists)
        caption = f"Drawn for {under.replace('defaults', 'the defaults')}." if name in DRAWN else ""
        figures.append(f":::{{figure}} {picture.name}\n:alt: {words}\n:class: model-graph\n\n{caption}\n:::")
    return figures


def _choices(name: str, story: Any) -> str:
    """Say what would answer a model under each of its variants."""
    lines = []
    for under, data, asked in _worlds(story, [{}, *ASKED.get(name, [])]):
        choice = bayescm.inference.choose(data, model=name, **asked)
        why = "" if choice.method == "nuts" else f"; {markdown(choice.reason.rstrip('.'))}"
        lines.append(f"* {under}: **{choice.method}**{why}.")
    return "\n".join(lines)


def page(name: str, folder: Path) -> str:
    """Draw a model into a folder; return its page."""
    story = models.load(name)
    title, parts, run = sections(story.__doc__ or "")
    drawing = [
        "## The graph",
        *_figures(name, story, folder),
    ]
    blocks = [f"# {name}", f"{markdown(title)}."]
    for i, (head, body) in enumerate(parts):
        short, _, rest = head.partition(" (") if len(head) > 60 and head.endswith(")") else (head, "", "")
        blocks += [f"## {markdown(short)}"] if head else []
        blocks += [f"{markdown(rest[:1].upper() + rest[1:-1])}."] if rest else []
        blocks += body
        if i == 0:
            blocks += drawing
    blocks += [
        run,
        "## Closed form or NUTS",
        _choices(name, story),
        "## Arguments",
        *_options(story),
        f"[The program](../../models/{name}.py). [Is it calibrated?](../verification/models.md)",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def write(folder: Path, index: Path) -> None:
    """Write the page and the picture of every model whose file, or this one, is newer."""
    folder.mkdir(exist_ok=True)
    names = models.names()
    for old in folder.iterdir():
        if old.suffix == ".md" and old.stem not in names:
            old.unlink()
    table = index.read_text(encoding="utf-8")
    if absent := [name for name in names if f"(models/{name}.md)" not in table]:
        raise ValueError(f"{index.name} has no link to the models {', '.join(absent)}.")
    makers = [Path(__file__), Path(graphs.__file__)]
    for name in names:
        target = folder / f"{name}.md"
        sources = [Path(inspect.getfile(models.load(name))), *makers]
        if not target.exists() or target.stat().st_mtime < max(source.stat().st_mtime for source in sources):
            target.write_text(page(name, folder), encoding="utf-8")
