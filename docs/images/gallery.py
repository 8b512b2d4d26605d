"""Draw the pictures of docs/gallery.md, each by the code below it: ``python docs/images/gallery.py``."""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(r"(?:!\[[^\]]*\]\((\S+\.png)\)\n\n)?```python\n(.*?)```", re.DOTALL)


def main() -> None:
    """Run the blocks one after another, and save what each has drawn."""
    names: dict[str, object] = {}
    for picture, code in BLOCK.findall((DOCS / "gallery.md").read_text(encoding="utf-8")):
        exec(compile(code, picture, "exec"), names)
        if picture:
            figure = np.ravel(names["ax"])[0].figure
            figure.savefig(DOCS / picture, dpi=100, pil_kwargs={"optimize": True})
            plt.close(figure)


if __name__ == "__main__":
    main()
