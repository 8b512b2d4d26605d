"""Draw the pictures of the page on audits: ``python docs/images/audits.py``."""

from pathlib import Path

import bayescm
from bayescm.plots.planning import draw_label_value

HERE = Path(__file__).parent


def main() -> None:
    """Draw what labels are worth against their number, and the region of a judge."""
    trial = bayescm.audited([[4, 2], [1, 5]], totals=[600, 405])
    found = bayescm.planning.label_value(trial, {"fn": 5, "fp": 2}, per_check=1, n_items=5000)
    ax = draw_label_value(found)
    ax.figure.savefig(HERE / "label_value.png", dpi=110)
    audit = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900])
    ax = bayescm.plots.plot_region(bayescm.region(audit, method="credible", random_seed=1))
    ax.figure.savefig(HERE / "audit_region.png", dpi=110)


if __name__ == "__main__":
    main()
