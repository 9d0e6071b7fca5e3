"""How Sphinx makes the site of `make docs` from docs/_build, which `ledger/publish/site/pages.py`
writes: no request leaves a page, and nothing is fetched while it is built."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from depthlaw.ledger.address import address
from depthlaw.ledger.publish.site import heads

_HERE = Path(__file__).parent

project, author = "depthlaw", "The depthlaw developers"
version = release = version_of("depthlaw")
project_copyright = author
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_proof",
    "sphinxcontrib.bibtex",
]

# --- text ----------------------------------------------------------------------------------------
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# A claim's title may begin a section of its own.
suppress_warnings = ["myst.header"]
bibtex_bibfiles = [str(_HERE.parent / "theory/bibliography.bib")]
bibtex_default_style, bibtex_reference_style = "unsrtalpha", "author_year"

# --- programs: the tutorial runs in a folder of its own, with the commands installed here --------
nb_execution_mode, nb_execution_timeout, nb_execution_raise_on_error = "auto", 120, True
_HOME = tempfile.mkdtemp(prefix="depthlaw-docs-")
os.environ |= {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "XDG_DATA_HOME": _HOME,
    "IPYTHONDIR": _HOME,
    "JUPYTER_CONFIG_DIR": _HOME,
    "JUPYTER_DATA_DIR": _HOME,
}

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
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = ["katex/katex.min.js", "katex/auto-render.min.js", "maths.js"]
templates_path = [str(_HERE.parent / "ledger/publish/site/templates")]
html_baseurl = address().site
html_context = {"repository": address().repository}
html_favicon = "_static/favicon.svg"
html_use_index = html_domain_indices = False
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
html_math_renderer = "katex"


def setup(app: Sphinx) -> None:
    """Maths as LaTeX, which _static/maths.js sets with KaTeX."""
    app.add_html_math_renderer("katex", (_inline, None), (_display, None))
    app.connect("doctree-resolved", _anchors_once)
    app.connect("env-updated", _write_in_parallel)
    app.connect("html-page-context", _heads)


def _heads(app: Sphinx, name: str, template: str, context: dict[str, Any], page: Any) -> None:
    """What `heads` says of each page, and at the foot which depthlaw it is of."""
    meta = heads.head(context, context.get("body", ""), _HERE / "_static")
    context["metatags"] = context.get("metatags", "") + meta
    context["edition"] = (Path(app.srcdir) / heads.EDITION).read_text(encoding="utf-8")


def _anchors_once(app: Sphinx, page: nodes.document, name: str) -> None:
    """sphinx-proof gives all theorems of a page the same second anchor."""
    for section in page.findall(nodes.section):
        section["ids"] = [each for each in section["ids"] if each != "proof-content"]


def _write_in_parallel(app: Sphinx, env: BuildEnvironment) -> None:
    """Pages are read one by one, since sphinx-proof cannot merge what processes read."""
    app.parallel = os.cpu_count() or 1


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
