"""What is in the head of every page of the site, for search engines and for links that are shared,
and at its foot, which depthlaw it is of. docs/conf.py hands pages over."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from html import escape, unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.readable import readable

from ...address import address
from ...verdicts.claim_set import altered, claim_set

# The file of the sources that says which depthlaw they are of.
EDITION = "edition.txt"
# The picture of shared links, below docs/_static.
CARD = "social-card.png"
# Letters of a description, of which search engines show about so many, and of the least one.
_MOST, _LEAST = 200, 60
# What no sentence is read from.
_APART = re.compile(r"<(table|pre|figure|script|style|h\d)\b.*?</\1>", re.DOTALL)
_FORMULA = re.compile(r'<(span|div) class="math[^"]*"[^>]*>(.*?)</\1>', re.DOTALL)


def head(context: Mapping[str, Any], body: str, static: Path) -> str:
    """The meta elements of a page, as HTML.

    Args:
        context: of the page, as Sphinx gives it to templates; `description` of the page's front
            matter goes before its first sentences.
        body: of the page, as HTML.
        static: the folder docs/_static.
    """
    given = (context.get("meta") or {}).get("description")
    said = given or description(body)
    properties = {"og:title": plain(context.get("title") or "depthlaw"), "og:type": "website"}
    names = {"description": said, "twitter:card": ""}
    properties["og:description"] = said
    site = address().site
    properties["og:url"] = context.get("pageurl") or "" if site else ""
    if (static / CARD).is_file():
        picture = f"_static/{CARD}"
        properties["og:image"] = site + picture if site else context["pathto"](picture, 1)
        names["twitter:card"] = "summary_large_image"
    return "".join(
        f'<meta {kind}="{name}" content="{escape(content)}">\n'
        for kind, facts in (("name", names), ("property", properties))
        for name, content in facts.items()
        if content
    )


def description(body: str) -> str:
    """The first sentences of a page, as many as a description holds.

    >>> description("<h1>Reach</h1><p>One layer sees <em>three</em> steps. Two see nine.</p>")
    'One layer sees three steps. Two see nine.'
    """
    said = ""
    for paragraph in re.findall(r"<p[^>]*>(.*?)</p>", _APART.sub("", body), re.DOTALL):
        said = f"{said} {plain(paragraph)}".strip()
        if len(said) >= _LEAST:
            break
    if len(said) <= _MOST:
        return said
    sentences = re.match(rf".{{{_LEAST},{_MOST - 1}}}[.?!](?= )", said)
    return sentences[0] if sentences else f"{said[:_MOST].rpartition(' ')[0]} ..."


def plain(html: str) -> str:
    """HTML as a line of text; formulas of LaTeX as a terminal shows them.

    >>> plain('at <b>most</b> <span class="math">3^L</span> &amp; more')
    'at most 3^L & more'
    """
    html = _FORMULA.sub(lambda found: escape(readable(f"${unescape(found[2])}$")), html)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def edition(claims: Mapping[str, Claim], root: Path) -> str:
    """Which depthlaw a site is of: version, claim set, and the tags of the commit, if it has any.

    Args:
        claims: of the site.
        root: the clone or the source distribution that it is built from.
    """
    known = claim_set()
    changed = len(altered(known, claims))
    set_ = known.name + (f" with {plural(changed, 'changed claim')}" if changed else "")
    return ", ".join([f"depthlaw {version('depthlaw')}", f"claim set {set_}", *_tags(root)])


def _tags(root: Path) -> list[str]:
    if not (root / ".git").exists():
        return []
    command = ["git", "-C", str(root), "tag", "--points-at", "HEAD"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    return [f"tag {name}" for name in said.split()]


def write_sitemap(folder: Path) -> None:
    """Tell search engines every page of a site, in its file sitemap.xml, where it has an address.

    Args:
        folder: of the site as it was built.
    """
    if not (site := address().site):
        return
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    urls = (f"<url><loc>{escape(site + name)}</loc></url>\n" for name in sorted(files))
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{"".join(urls)}'
    (folder / "sitemap.xml").write_text(f"{text}</urlset>\n", encoding="utf-8")
