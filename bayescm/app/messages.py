"""Errors and warnings of the library in words of the page, which has no arguments, calls or options."""

import re
from collections.abc import Callable

_WORDS = (
    dict.fromkeys(("counts", "data", "systems", "array", "table"), "the table")
    | dict.fromkeys(("actual", "y_true"), "the truth")
    | dict.fromkeys(("predicted", "y_pred"), "the predictions")
    | {"ci_prob": "the level", "levels": "the level", "claims": "the claim", "rope": "the difference",
       "pos_label": "the positive class", "n_items": "the number of items"}
)  # fmt: skip
_OF_PYTHON = re.compile(r"bayescm\.|\w=|--\w|`columns`|`labels`|\bdims?\b|\bmapping\b|<name>")
_REWRITTEN: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\s+", " "),
    (r" \([^()]*(--\w|\w=|bayescm\.)[^()]*\)", ""),
    (r"(; )?(if they are classes of one list, )?name all (classes|of it|of them) (in|with) `labels`( or )?", ""),
    (r"(, their short names,)? and <name>_macro and the like", " and others"),
    (r"(,? or|,|:) (such as bayescm\.|say (which|\w+=)|give \w+=)[^;.]*(\([^)]*\)|\.\d|[^;.])*", ""),
    (r" in \(0, 1\)", " between 0 and 1"),
    (r" in \[0, 1\]", " from 0 to 1"),
    (r" in \(0, inf[)\]]", " above 0"),
    (r" in \[0, inf[)\]]", " of at least 0"),
    (r" at position \((\d+), (\d+)\)", lambda found: f" in row {int(found[1]) + 1}, column {int(found[2]) + 1}"),
    (r" at position (\d+)", lambda found: f" in row {int(found[1]) + 1}"),
)
_NAME = re.compile(r"`(\w+)(?:\['([^']*)'\])?`")
_QUOTED = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
UNKNOWN = "This can't be answered as it stands: see below the field what it takes."


def plain(message: str) -> str:
    """Return a message without names of arguments, calls and options; what is said in these alone is left out."""
    for pattern, words in _REWRITTEN:
        message = re.sub(pattern, words, message)
    sentences = (one.rstrip(".").split("; ") for one in re.split(r"(?<=[.?]) (?=[A-Z\"])", message))
    kept = ["; ".join(one for one in clauses if not _OF_PYTHON.search(one)) for clauses in sentences]
    told = [_named(one) for one in kept if one and not one.startswith("got ")]
    return " ".join(f"{one[:1].upper()}{one[1:]}{'' if one.endswith('?') else '.'}" for one in told) or UNKNOWN


def _named(clause: str) -> str:
    """Write names of arguments in words, and quotes as print has them."""
    clause = _NAME.sub(lambda found: found[2] or _WORDS.get(found[1], found[1].replace("_", " ")), clause)
    return _QUOTED.sub(r"“\1”", clause)
