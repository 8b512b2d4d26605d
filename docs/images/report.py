"""Take the picture of the report in docs/results.md on paper: ``python docs/images/report.py``."""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "app"))

from browsing import browser, page_of  # noqa: E402

import bayescm  # noqa: E402

SHEET = {"width": 750, "height": 1000}


def main() -> None:
    """Write the report, and take its picture on paper."""
    counts = bayescm.from_cells(tp=26, fn=2, fp=3, tn=6)
    metrics = ["accuracy", "recall", "specificity", "precision", "f1", "mcc"]
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        file = Path(folder, "report.html")
        bayescm.report(counts, metrics=metrics, file=file)
        with page_of(started, file.as_uri(), SHEET) as page:
            page.emulate_media(media="print")
            page.add_style_tag(content="body{padding:20px!important}")  # the margin of the sheet
            page.screenshot(path=HERE / "report.png", full_page=True)


if __name__ == "__main__":
    main()
