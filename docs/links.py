"""Check the links of the built pages, without a network: ``python docs/links.py docs/_build/html``.

Every link within the pages must lead to a file, and its fragment to an element there. Fails with the list of those that
don't. Links to other hosts are counted, not followed.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TEMPLATE = "webpack-macros.html"  # of the theme, which isn't a page


class Page(HTMLParser):
    """The links of a page and the names of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what points elsewhere, and what can be pointed at."""
        for name, value in attrs:
            if value and (name == "id" or (tag, name) == ("a", "name")):
                self.names.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def broken(root: Path) -> tuple[list[str], int, int]:
    """Return the links that lead nowhere, and how many there are within the pages and to other hosts."""
    files = [path for path in sorted(root.rglob("*.html")) if path.name != TEMPLATE]
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    found, inside, outside = [], 0, 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside += parts.scheme.startswith("http")
                continue
            inside += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            named = pages[target].names if target in pages else {unquote(parts.fragment)}
            if not target.is_file() or unquote(parts.fragment) not in named:
                found.append(f"{path.relative_to(root.resolve())}: {link}")
    return found, inside, outside


if __name__ == "__main__":
    found, inside, outside = broken(Path(sys.argv[1]))
    print(f"{inside} links within the pages, {len(found)} broken; {outside} to other hosts, not followed")
    sys.exit("\n".join(found) or None)
