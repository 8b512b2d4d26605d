"""report(): sentence, matrix, metrics, pictures and assumptions together."""

import base64
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

import bayescm
from bayescm.data.counts import one_matrix
from bayescm.data.files import replace
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import ACTUAL, PREDICTED, labels_of
from bayescm.metrics import MetricsLike
from bayescm.results import Answer, writing
from bayescm.results.escape import for_html
from bayescm.results.summaries import of_matrix
from bayescm.results.views import view_of

Pictures = dict[str, Callable[[], Any]]

_MOST = 30  # classes of a matrix that is shown
_DPI = 130
_STYLE = """:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:CanvasText;background:Canvas}
h1{font-size:1.5em}h2{font-size:1.1em;margin-top:1.8em}
figure{display:inline-block;margin:.5em 1em .5em 0;vertical-align:top}
img{max-width:100%;background:#fff;border-radius:4px}
figcaption{font-size:.86em;opacity:.75}"""


@takes_counts
def report(data: Any, metrics: MetricsLike = None, *, file: str | Path | None = None, **options: Any) -> str:
    """Report what is known: a sentence, the matrix, metrics with intervals, pictures, and what all of it assumes.

    Parameters
    ----------
    data : xarray.DataArray, array_like, or what a function of bayescm returned
        ``counts(actual, predicted)``, or in its place ``y_true, y_pred``; or a result, fresh or loaded: of
        :func:`bayescm.summary`, :func:`bayescm.compare_systems`, :func:`bayescm.leaderboard` and the others that
        `.bayescm` knows.
    metrics : str, callable, sequence or mapping, optional
        As in :func:`bayescm.summary`.
    file : str or pathlib.Path, optional
        Where to write one HTML page, pictures included, that needs no other file.
    **options
        Of :func:`bayescm.summary`: `prior`, `model`, `prevalence`, `ci_prob` and others.

    Returns
    -------
    str
        The report as text, at most 80 columns wide where names are short.

    Raises
    ------
    ValueError
        If `file` doesn't end on .html, or `data` is several matrices.

    Examples
    --------
    >>> import bayescm
    >>> print(bayescm.report([[6, 2], [0, 26]], metrics=["accuracy", "recall"]))
    Accuracy is 0.94 (95%: 0.81 to 0.98).
    <BLANKLINE>
    actual  predicted 0  predicted 1  total
    0                 6            2      8
    1                 0           26     26
    total             6           28     34
    <BLANKLINE>
    metric    point   mean     sd  lower    upper  method
    accuracy  0.941  0.917  0.045  0.808    0.982  exact
    recall    1.000  0.981  0.025  0.909  0.99998  exact
    <BLANKLINE>
    Assumes: independent items of one population; uncertainty of the test set only,
    not of training.
    Positive class: 1 (TP 26, FP 2, FN 0, TN 6). Made by: model
    dirichlet_multinomial, prior jeffreys, exact, 95% ETI.
    """
    path = None if file is None else Path(file)
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"`file` must end on .html; got {str(file)!r}. Else print what report() returns.")
    frames: dict[str, pd.DataFrame] = {}
    if view_of(data) is not None:
        found, pictures = data, _of_result(data)
    else:
        counts = one_matrix(data)
        found = bayescm.summary(counts, metrics, **options)
        frames, pictures = _of_counts(counts, found, options)
    answer = Answer(found)
    if path is not None:
        replace(path, _page(answer, frames, pictures).encode())
    head, table, about = answer.paragraphs()
    return "\n\n".join([head, *map(writing.as_text, frames.values()), table, about])


def _of_counts(
    counts: xr.DataArray, found: xr.Dataset, options: dict[str, Any]
) -> tuple[dict[str, pd.DataFrame], Pictures]:
    """Return the tables and pictures of one matrix."""
    k = len(labels_of(counts))
    frames: dict[str, pd.DataFrame] = {}
    pictures: Pictures = {}
    if k <= _MOST:
        frames["Counts"] = pd.DataFrame(of_matrix(counts)).set_index(ACTUAL)
        known = {name: options[name] for name in ("model", "prior", "ci_prob", "ci_kind") if name in options}
        pictures["Shares of each actual class"] = lambda: bayescm.plots.plot_confusion_matrix(
            bayescm.inference.cell_summary(counts, **known)
        )
    if k == 2 and int(counts.sum(PREDICTED).min()) > 0:
        pictures["Where the true recall and precision may lie"] = lambda: bayescm.plots.plot_region(
            bayescm.region(counts)
        )
    return frames, pictures | _of_result(found)


def _of_result(data: Any) -> Pictures:
    """Return the picture of a result, where there is one."""
    source = view_of(data)[0].source  # type: ignore[index]
    drawn: dict[str, tuple[str, Callable[[], Any]]] = {
        "summary": ("Metrics with their intervals", lambda: bayescm.plots.plot_forest(data)),
        "compare_systems": ("The first difference", lambda: _difference(data)),
        "leaderboard": ("Probabilities of the ranks", lambda: bayescm.plots.plot_leaderboard(data)),
    }
    return dict([drawn[source]]) if source in drawn else {}


def _difference(tree: xr.DataTree) -> Any:
    table = tree["summary"].to_dataset()
    return bayescm.plots.plot_difference(tree, *(str(table[dim].values[0]) for dim in ("metric", "comparison")))


def _page(answer: Answer, frames: dict[str, pd.DataFrame], pictures: Pictures) -> str:
    """Return a page that needs no other file."""
    tables = "".join(
        f"<h2>{for_html(name)}</h2><div class='bayescm'>{writing.as_html(f)}</div>" for name, f in frames.items()
    )
    figures = "".join(f"<figure>{_image(name, draw)}</figure>" for name, draw in pictures.items())
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>bayescm report</title>'
        f"<style>{_STYLE}</style></head><body>{answer.html()}{tables}{figures}</body></html>\n"
    )


def _image(name: str, draw: Callable[[], Any]) -> str:
    """Draw, and return the picture within the page."""
    import matplotlib.pyplot as plt

    made = io.BytesIO()
    figure = draw().get_figure(root=True)
    figure.savefig(made, format="png", dpi=_DPI)
    plt.close(figure)
    data = base64.b64encode(made.getvalue()).decode()
    return f'<img alt="{for_html(name)}" src="data:image/png;base64,{data}"><figcaption>{for_html(name)}</figcaption>'
