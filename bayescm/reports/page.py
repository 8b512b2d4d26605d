"""report(): sentence, pictures, metrics, matrix, assumptions and sources together."""

import base64
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

import bayescm
from bayescm.data.counts import one_matrix
from bayescm.data.inputs import takes_counts
from bayescm.data.needs import need
from bayescm.data.schema import ACTUAL, PREDICTED, RATERS, labels_of
from bayescm.data.units import unit_of, without_units
from bayescm.metrics import MetricsLike
from bayescm.reports import files
from bayescm.results import Answer, glossary, writing
from bayescm.results.display import STYLE, how
from bayescm.results.escape import for_html
from bayescm.results.summaries import of_matrix
from bayescm.results.views import view_of

Pictures = Mapping[str, Callable[[], Any]]
Frames = dict[str, pd.DataFrame]

_MOST = 30  # classes of a matrix that is shown
_MOST_BESIDE = 9  # rows of a matrix that a page has besides the picture of it
_DPI = 130
_TALL = 1.3  # times as high as wide is a picture that may fill a sheet
_CAPTIONS = {
    "plot_curve": "The curve with its band",
    "plot_difference": "How much better the first is",
    "plot_forest": "Metrics with their intervals",
    "plot_leaderboard": "Probabilities of the ranks",
    "plot_region": "Where the true values may lie",
}
_STYLE = """<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:CanvasText;background:Canvas}
h1{font-size:1.5em;line-height:1.3}h2{font-size:1.1em;margin:1.6em 0 .3em}p{margin:.3em 0}
.row{display:flex;flex-wrap:wrap;gap:0 1.5em;align-items:flex-start}.row>.bayescm{min-width:0;max-width:100%}
figure{margin:.5em 0;flex:1 1 20em;max-width:max-content}
img{max-width:100%;background:#fff;border-radius:4px}
figcaption{font-size:.86em;opacity:.8}
.bayescm table{font-size:.88em}.bayescm th,.bayescm td{padding:.15em .5em}
dl{margin:.3em 0;columns:2 26em;column-gap:2em}dl div{break-inside:avoid}dt,dd{display:inline;margin:0}
dt{font-weight:600}dt::after{content:": "}
@page{margin:14mm}
@media print{:root{color-scheme:light}body{font-size:9pt;line-height:1.35;margin:0;padding:0;max-width:none}
h1{font-size:15pt;margin:0 0 .5em}h2{break-after:avoid;margin-top:1em}figure,tr{break-inside:avoid}
figure{flex-basis:16em}img{max-height:74mm}figure:only-child img{max-height:110mm}
.main img{max-height:120mm}.main .tall img{max-height:225mm}dl{columns:2;font-size:8pt}
.bayescm{overflow:visible}.bayescm table{font-size:8pt;margin:.3em 0}.bayescm th,.bayescm td{padding:.05em .45em}}
</style>"""


@takes_counts
def report(data: Any, metrics: MetricsLike = None, *, file: str | Path | None = None, **options: Any) -> str:
    """Report what is known: a sentence, pictures, metrics with intervals, the matrix, and what all of it rests on.

    Parameters
    ----------
    data : xarray.DataArray, array_like, or what a function of bayescm returned
        ``counts(actual, predicted)``, or in its place ``y_true, y_pred``; or a result, fresh or loaded: of
        :func:`bayescm.summary`, :func:`bayescm.compare_systems`, :func:`bayescm.leaderboard`,
        :func:`bayescm.curve_band` and the others that `.bayescm` knows; or of :func:`bayescm.curve_posterior` over
        rates, whose bands are taken.
    metrics : str, callable, sequence or mapping, optional
        As in :func:`bayescm.summary`.
    file : str or pathlib.Path, optional
        Where to write one HTML page, pictures included, that needs no other file, and that prints on two sheets. Or,
        if a browser (Chromium, Chrome, Edge) is on the PATH, a .pdf; or, if pandoc is, .docx, .odt or .md.
    **options
        Of :func:`bayescm.summary`: `prior`, `model`, `prevalence`, `ci_prob` and others; for draws of a curve those of
        :func:`bayescm.curve_band` but the plane.

    Returns
    -------
    str
        The report as text, at most 80 columns wide where names are short.

    Raises
    ------
    ValueError
        If `file` has another ending, or one that needs a program that isn't there; or `data` is several matrices.
    RuntimeError
        If that program fails.

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
    if path is not None:
        files.check_ending(path)
    found, frames, pictures = _found(data, metrics, options)
    answer = Answer(found)
    if path is not None:
        files.write(path, _page(answer, found, frames, pictures))
    head, table, about = answer.paragraphs()
    return "\n\n".join([head, *map(writing.as_text, frames.values()), table, about])


def _found(data: Any, metrics: MetricsLike, options: dict[str, Any]) -> tuple[Any, Frames, Pictures]:
    """Return a result, and the tables and pictures beside its own; counts and draws of a curve are asked first."""
    if view_of(data) is not None:
        return data, {}, {}
    if isinstance(data, xr.DataTree) and "posterior" in data and "auc" in data["posterior"]:
        more = {"Precision at each recall": lambda: bayescm.curve_band(data, space="pr", **options).plot()}
        return bayescm.curve_band(data, **options), {}, more
    if RATERS in getattr(data, "attrs", {}):  # pairs of ratings, no items of either's
        return bayescm.summary(data, metrics, **options), {}, {}
    counts = one_matrix(without_units(data))
    data = data if unit_of(data) else counts
    k = len(labels_of(counts))
    frames: Frames = {}
    pictures: dict[str, Callable[[], Any]] = {}
    if k <= _MOST:
        frames["Counts"] = pd.DataFrame(of_matrix(counts)).set_index(ACTUAL)
        known = {name: options[name] for name in ("model", "prior", "ci_prob", "ci_kind") if name in options}
        pictures["Shares of each actual class"] = lambda: bayescm.plots.plot_confusion_matrix(
            bayescm.inference.cell_summary(data, **known)
        )
    if k == 2 and int(counts.sum(PREDICTED).min()) > 0:
        pictures["Where the true recall and precision may lie"] = lambda: bayescm.region(data).plot()
    return bayescm.summary(data, metrics, **options), frames, pictures


def _page(answer: Answer, found: Any, frames: Frames, pictures: Pictures) -> str:
    """Return a page that needs no other file: the answer first, what it was made by last."""
    view, data = view_of(found)  # type: ignore[misc]
    own = {_CAPTIONS.get(view.picture, "The answer as a picture"): answer.plot} if view.picture else {}
    tables = [writing.without_common_method(table) for table in answer.tables()]
    columns = dict.fromkeys(str(name) for table in tables for name in (*table.index.names, *table))
    sources = glossary.sources(*view.source.split(", "))
    made = [how(data), f"Sources: {sources}" if sources else "", f"bayescm {data.attrs['creation_library_version']}."]
    parts = [
        f"<h1>{for_html(answer.sentence)}</h1>",
        f'<div class="row main">{_figures(own)}{_tables(tables, answer.more())}</div>',
        *(_section(name, _tables([frame]) if len(frame) <= _MOST_BESIDE else "") for name, frame in frames.items()),
        f'<div class="row">{_figures(pictures)}</div>',
        _section("How to read it", _list(glossary.of_columns(columns, data))),
        _section("Assumptions", _text(f"Assumed: {data.attrs['assumptions']}.")),
        _section("Definitions", _list(glossary.of_result(data))),
        _section("Method and references", "".join(map(_text, filter(None, made)))),
    ]
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>bayescm report</title>'
        f'<meta name="viewport" content="width=device-width">{STYLE}{_STYLE}</head>'
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _tables(tables: list[pd.DataFrame], more: str = "") -> str:
    return f"<div class='bayescm'>{''.join(map(writing.as_html, tables))}{_text(more) if more else ''}</div>"


def _section(title: str, body: str) -> str:
    return f"<h2>{title}</h2>{body}" if body else ""


def _list(pairs: glossary.Pairs) -> str:
    found = "".join(f"<div><dt>{for_html(word)}</dt><dd>{for_html(meaning)}</dd></div>" for word, meaning in pairs)
    return f"<dl>{found}</dl>" if found else ""


def _text(text: str) -> str:
    return f"<p>{for_html(text)}</p>"


def _figures(pictures: Pictures) -> str:
    return "".join(_figure(for_html(name), draw) for name, draw in pictures.items())


def _figure(name: str, draw: Callable[[], Any]) -> str:
    """Draw on white, whatever the style in use, and return the picture within the page."""
    plt = need("matplotlib.pyplot", "A picture of the report")
    import numpy as np

    made = io.BytesIO()
    with plt.style.context("default"):
        figure = np.ravel(draw())[0].get_figure(root=True)
        figure.savefig(made, format="png", dpi=_DPI)
        plt.close(figure)
    data = base64.b64encode(made.getvalue()).decode()
    shape = ' class="tall"' if figure.get_figheight() > _TALL * figure.get_figwidth() else ""
    return (
        f'<figure{shape}><img alt="{name}" src="data:image/png;base64,{data}"><figcaption>{name}</figcaption></figure>'
    )
