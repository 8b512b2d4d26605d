"""Count the words of the built pages: ``python docs/words.py docs/_build/html --most 20 --limit 95500``.

Counted is what white space divides in the article of each page, so without sidebars, header and footer; numbers count,
too, and are told apart. ``--most N`` lists the longest pages; ``--limit N`` fails beyond N words.
"""

import argparse
from html.parser import HTMLParser
from pathlib import Path

NOT_PAGES = {"genindex.html", "py-modindex.html", "search.html", "webpack-macros.html"}  # of Sphinx and the theme
VOID = {"br", "img", "hr", "input", "meta", "link", "col", "source", "wbr"}


class Article(HTMLParser):
    """The text of a page's article."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.depth = 0
        self.parts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go one element down, or over a word's end."""
        if tag in VOID:
            self.handle_data(" ")
        elif self.depth or ("class", "bd-article") in attrs:
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        """Go one element up."""
        if tag not in VOID and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        """Keep what is read."""
        if self.depth:
            self.parts.append(data)


def words(root: Path) -> dict[str, list[str]]:
    """Return the words of each page."""
    pages = (
        path for path in sorted(root.rglob("*.html")) if path.name not in NOT_PAGES and "_static" not in path.parts
    )
    return {str(page.relative_to(root)): "".join(Article(page.read_text("utf-8")).parts).split() for page in pages}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    found = words(asked.root)
    for page in sorted(found, key=lambda page: -len(found[page]))[: asked.most]:
        print(f"{len(found[page]):7,} {page}")
    every = [word for page in found.values() for word in page]
    numbers = sum(not any(sign.isalpha() for sign in word) for word in every)
    print(f"{len(every):,} words in {len(found)} pages, {numbers:,} of them numbers and signs")
    if asked.limit and len(every) > asked.limit:
        raise SystemExit(f"more than {asked.limit:,}")
