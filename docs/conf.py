"""How Sphinx makes the site of `make docs` from docs/_build, which `ledger/publish/site/pages.py`
writes: no request leaves a page, and nothing is fetched while it is built."""

from __future__ import annotations

import gc
import re
from functools import cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import pybtex.plugin
from docutils import nodes
from sphinx.application import Sphinx

from depthlaw.ledger.address import address
from depthlaw.ledger.publish.site import heads
from depthlaw.ledger.verdicts.suite_verdicts import VERDICT_NAMES

_HERE = Path(__file__).parent
# A quarter of the time would go into looking for garbage, of which there is a hundred MB.
gc.disable()

project, author = "depthlaw", "The depthlaw developers"
version = release = version_of("depthlaw")
project_copyright = author
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
]

# For each citation pybtex would look through all packages that are installed.
pybtex.plugin._load_entry_point = cache(pybtex.plugin._load_entry_point)

# --- text ----------------------------------------------------------------------------------------
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# A claim's title may begin a section of its own.
suppress_warnings = ["myst.header"]
bibtex_bibfiles = [str(_HERE.parent / "theory/bibliography.bib")]
bibtex_default_style, bibtex_reference_style = "unsrtalpha", "author_year"

# --- signatures ----------------------------------------------------------------------------------
autodoc_typehints, autodoc_member_order = "signature", "bysource"
autodoc_typehints_format, python_use_unqualified_type_names = "short", True
napoleon_google_docstring, napoleon_numpy_docstring, napoleon_use_rtype = True, False, False
# Docstrings put code between single backquotes.
default_role = "code"

# --- pages ---------------------------------------------------------------------------------------
html_theme, html_title = "furo", "depthlaw"
# The folder `vendor` holds KaTeX, for the appendix too.
html_static_path = ["_static", str(_HERE.parent / "ledger/publish/appendix/vendor")]
html_css_files = ["katex/katex.min.css", "site.css", "figures/still.css", "figures/figures.css"]
html_js_files = ["katex/katex.min.js", "katex/auto-render.min.js", "maths.js"]
templates_path = [str(_HERE.parent / "ledger/publish/site/templates")]
exclude_patterns = ["explorer"]  # a page of its own, copied as it is
html_baseurl = address().site
html_context = {"repository": address().repository}
html_search_scorer = str(_HERE / "_static/search-scorer.js")
html_favicon = "_static/favicon.svg"
html_use_index = html_domain_indices = False
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
html_math_renderer = "katex"


def setup(app: Sphinx) -> dict[str, bool]:
    """Maths as LaTeX, which _static/maths.js sets with KaTeX."""
    app.add_html_math_renderer("katex", (_inline, None), (_display, None))
    app.connect("builder-inited", _scripts_of_figures)
    app.connect("html-page-context", _heads)
    app.connect("html-page-context", _one_tree_a_folder, priority=400)
    app.connect("html-page-context", _here, priority=900)
    app.connect("doctree-resolved", _verdicts_in_colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _heads(app: Sphinx, name: str, template: str, context: dict[str, Any], page: Any) -> None:
    """What `heads` says of each page, and at the foot which depthlaw it is of."""
    meta = heads.head(context, context.get("body", ""), _HERE / "_static")
    context["metatags"] = context.get("metatags", "") + meta
    context["edition"] = (Path(app.srcdir) / heads.EDITION).read_text(encoding="utf-8")


_TREES: dict[str, str] = {}


def _one_tree_a_folder(
    app: Sphinx, name: str, template: str, context: dict[str, Any], page: Any
) -> None:
    """Pages of a folder share the navigation of one that no table of contents names: the theme
    would make it anew for each."""
    of, folder = app.builder._get_local_toctree, name.rpartition("/")[0]

    def tree(**options: Any) -> str:
        if folder not in _TREES:
            _TREES[folder] = of(f"{folder}/none".lstrip("/"), **options)
        return _TREES[folder]

    context["toctree"] = tree


def _here(app: Sphinx, name: str, template: str, context: dict[str, Any], page: Any) -> None:
    """In the navigation the page itself is marked, and what it is below is open; of a claim, which
    the navigation does not name, the list of all claims."""
    tree = context["furo_navigation_tree"]
    above = {below: each for each, pages in app.env.toctree_includes.items() for below in pages}
    at, mark = name, " current-page"
    if name.startswith("claims/") and name not in above:
        at, mark = "claims/index", ""
    while at in above:
        to = app.builder.get_relative_uri(name, at) or f"{name.rpartition('/')[2]}.html"
        item = r'(<li class="toctree-l\d+)((?: has-children)?)">(<a class="reference internal" '
        item += rf'href="{re.escape(to)}">.*?</a>)(<input aria-label="[^"]*" )?'
        found = re.search(item, tree)
        if found:
            link = found[3]
            if mark:
                link = link.replace('"reference', '"current reference', 1).replace(to, "#", 1)
            opened = f'{found[4]}checked="" ' if found[4] else ""
            new = f'{found[1]} current{found[2]}{mark}">{link}{opened}'
            tree = tree[: found.start()] + new + tree[found.end() :]
        at, mark = above[at], ""
    context["furo_navigation_tree"] = tree


def _scripts_of_figures(app: Sphinx) -> None:
    """What figures read is written beside the pages, not here."""
    if (written := Path(app.srcdir) / "_static").is_dir():
        app.config.html_static_path.append(str(written))


# In capitals a verdict is never another word; the longest first.
_VERDICT = re.compile(
    "|".join(
        rf"\b{re.escape(name.replace('_', ' '))}(?!\w)"
        for name in sorted(VERDICT_NAMES, key=len, reverse=True)
        if name[0].isupper()
    )
)
_NO_PROSE = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw)


def _verdicts_in_colour(app: Sphinx, page: nodes.document, name: str) -> None:
    """Every verdict in running text, links and tables has the classes `verdict` and its own, such
    as `reading-fails`, which site.css colours; the word stays."""
    for text in list(page.findall(nodes.Text)):
        words = list(_VERDICT.finditer(text.astext()))
        if not words or isinstance(text.parent, _NO_PROSE):
            continue
        parts: list[nodes.Node] = []
        done = 0
        for word in words:
            own = word[0].partition(" (")[0].lower().replace(" ", "-")
            parts.append(nodes.Text(text[done : word.start()]))
            parts.append(nodes.inline("", word[0], classes=["verdict", own]))
            done = word.end()
        text.parent.replace(text, [*parts, nodes.Text(text[done:])])


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(
        writer.starttag(node, "span", "", CLASS="math") + writer.encode(node.astext()) + "</span>"
    )
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({node["number"]})')
        writer.add_permalink_ref(node, "Permalink to this equation")
        writer.body.append("</span>")
    writer.body.append(f'<span class="display">{writer.encode(node.astext())}</span></div>\n')
    raise nodes.SkipNode
