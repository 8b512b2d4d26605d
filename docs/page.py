"""Write the page without a server from its sources in bayescm/app/page: python docs/page.py."""

from pathlib import Path

from bayescm.app.pages import single_file

if __name__ == "__main__":
    (Path(__file__).parent / "_static" / "bayescm.html").write_text(single_file(), encoding="utf-8")
