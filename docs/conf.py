"""Configuration of the documentation: everything is built offline, and no page asks another host for anything."""

import base64
import functools
import inspect
import json
import shutil
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from numpydoc.xref import DEFAULT_LINKS
from sphinx.errors import ExtensionError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GENERATED = HERE / "reference" / "generated"
sys.path[:0] = [str(ROOT), str(HERE)]

import model_pages  # noqa: E402
import related  # noqa: E402

import bayescm  # noqa: E402
from bayescm import distributions, metrics  # noqa: E402
from bayescm.priors import concentrations  # noqa: E402

project = "bayescm"
author = "The bayescm developers"
copyright = author
version = release = bayescm.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "index"
exclude_patterns = [
    "_build",
    "_templates",
    "decisions",  # for contributors
    "verification/coverage_table.md",
    "verification/papers_*.md",  # offered as text
]
nitpicky = False

# MyST; notebooks are offered as files
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

# API reference
autosummary_generate = True
# a function and a class differ by case only, and some file systems don't see it
autosummary_filename_map = {
    "bayescm.priors.concentrations.Concentrations": "bayescm.priors.concentrations.Concentrations_class"
}
autodoc_typehints = "none"  # numpydoc's Parameters section says it
autodoc_default_options = {"member-order": "bysource"}
numpydoc_show_class_members = False
ELSEWHERE = {
    "xarray.Dataset": "https://docs.xarray.dev/en/stable/generated/xarray.Dataset.html",
    "xarray.DataArray": "https://docs.xarray.dev/en/stable/generated/xarray.DataArray.html",
    "xarray.DataTree": "https://docs.xarray.dev/en/stable/generated/xarray.DataTree.html",
    "numpy.random.Generator": "https://numpy.org/doc/stable/reference/random/generator.html",
    "matplotlib.axes.Axes": "https://matplotlib.org/stable/api/_as_gen/matplotlib.axes.Axes.html",
    "pandas.DataFrame": "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.html",
}  # the types of nearly all that is taken and returned: in place of inventories, which would be downloaded
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | {name: f"elsewhere.{name}" for name in ELSEWHERE}
add_module_names = False

# HTML
html_theme = "pydata_sphinx_theme"
html_title = "bayescm"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_sidebars = {"**": ["pages.html"]}
html_css_files = ["bayescm.css"]
html_search_scorer = str(HERE / "scorer.js")  # else it is looked for where the build is started
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        **{f"models/{name}": [] for name in bayescm.models.names()},  # formulas and programs take the whole width
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_context = {"default_mode": "auto"}  # as the reader's system is set
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


# --- mathematics: TeX becomes MathML while the pages are built, so that no page needs JavaScript for it ---------------


def _mathml(node, as_block):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        raise ExtensionError(f"{node.source}:{node.line}: can't read the formula {node.astext()!r}: {error}") from error


def _visit_inline(self, node):
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _visit_block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    if node["number"]:
        number = self.builder.env.domains["math"].get_equation_number_for(node["label"])
        self.body.append(f'<span class="eqno">({number})</span>')
    self.body.append(_mathml(node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


# --- pages written at build time ------------------------------------------------------------------------------------


def _range(metric):
    low, high = ("∞" if abs(x) == float("inf") else f"{x:g}" for x in (metric.lower, metric.upper))
    left = "(−" if metric.lower == -float("inf") else "["
    return f"{left}{low}, {high}{')' if metric.upper == float('inf') else ']'}"


def _moments(metric):
    """Return when moments exist, where not always."""
    cells = " and ".join(cell.upper() for cell in metric.moments)
    return f"; r-th moment: concentration of {cells} above r" if cells else ""


def _dist(metric, n_labels):
    if metric.name == "balanced_accuracy" and n_labels > 2:
        return "sum of Betas"
    if metric.ratio is None and (n_labels > 2 or metric.kind != "cells"):
        return "draws"
    if metric.ratio is None:
        which = concentrations.concentrations("jeffreys", "dirichlet_multinomial", 2)
        integrals = distributions.exact_distribution(metric, which).integrals
        return f"{integrals} integral{'s' if integrals > 1 else ''}"
    name = {"diagonal": "right", "off_diagonal": "wrong"}
    over, under = (" + ".join(name.get(cell, cell.upper()) for cell in part) for part in metric.ratio)
    beta = f"Beta({over}; {under})"
    return f"2J/(1 + J), J ~ {beta}" if metric.link == "f1" else beta


def _metric_table(n_labels):
    """Return the table of metrics; of more than two labels what differs from that of two."""
    header = ["name", "also called", "formula", "range", "undefined (NaN) when", "exact distribution"]
    if n_labels > 2:
        header = ["name", "of", "formula, where another", "exact distribution"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    of_two = {m.name: m.formula for m in metrics.available(2)}
    for m in sorted(metrics.available(n_labels), key=lambda m: m.kind == "cells" and n_labels > 2):
        formula = m.formula.replace("|", "\\|")
        row = [f"**`{m.name}`**", _dist(m, n_labels) + (_moments(m) if n_labels == 2 else "")]
        if n_labels > 2:
            other = "" if of_two.get(m.name) == m.formula else formula
            if m.name not in of_two:
                also = ", ".join(f"`{alias}`" for alias in m.aliases)
                other += f"; in {_range(m)}; NaN when {m.undefined}" + (f"; also {also}" if also else "")
            row[1:1] = ["matrix" if m.kind == "matrix" else "class", other]
        else:
            row[1:1] = [", ".join(f"`{alias}`" for alias in m.aliases), formula, _range(m), m.undefined]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _thumbnail(notebook):
    """Write the picture of a notebook that holds most, for the page of notebooks."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    pictures = [data["image/png"] for data in outputs if "image/png" in data]
    (GENERATED / f"{notebook.stem}.png").write_bytes(base64.b64decode(max(pictures, key=len)))


def linkcode_resolve(domain, info):
    """Return where the source stands as text (`_sources` copies it), from the pages of objects, two folders down."""
    found = sys.modules.get(info["module"], bayescm)
    try:
        for name in info["fullname"].split("."):
            found = getattr(found, name)
        found = inspect.unwrap(found)
        file = Path(inspect.getsourcefile(found)).relative_to(ROOT)
    except (AttributeError, TypeError, ValueError):  # a property, or made by a decorator
        return None
    return f"../../source/{file}.txt#:~:text={found.__name__}("


def _elsewhere(app, env, node, contnode):
    """Resolve a type of another package."""
    url = ELSEWHERE.get(node.get("reftarget", "").removeprefix("elsewhere."))
    return nodes.reference("", "", contnode, internal=False, refuri=url) if url else None


def _see_also(app, what, name, obj, options, lines):
    """Add to a docstring what belongs to it, before numpydoc reads it."""
    if "See Also" not in lines:
        lines.extend(related.lines_of(name.removeprefix("bayescm.")))


def _navigation_once(app, pagename, templatename, context, doctree):
    """Keep a page's navigation: the theme renders it to see whether it is empty, and again to show it."""
    context["toctree"] = functools.cache(context["toctree"])


def _sources(app, exception):
    """Copy the package's sources as text, to which the pages of functions link."""
    if exception is None and app.builder.format == "html":
        for file in (ROOT / "bayescm").glob("**/*.py"):
            target = Path(app.outdir) / "source" / f"{file.relative_to(ROOT)}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _generate(app):
    """Write the tables, the models' pages and the notebooks' pictures."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for n_labels in (2, 3):
        _write_if_changed(GENERATED / f"metrics_{n_labels}.inc", _metric_table(n_labels))
    table = HERE / "verification" / "coverage_table.md"
    absent = "The study hasn't been run in this checkout: `python docs/verification/summary_coverage.py`.\n"
    _write_if_changed(GENERATED / "coverage.inc", table.read_text(encoding="utf-8") if table.exists() else absent)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        _thumbnail(notebook)
    model_pages.write(HERE / "models", HERE / "models.md")


def setup(app):
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.connect("builder-inited", _generate)
    app.connect("html-page-context", _navigation_once, priority=400)
    app.connect("build-finished", _sources)
    app.connect("missing-reference", _elsewhere)
    app.connect("autodoc-process-docstring", _see_also, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
