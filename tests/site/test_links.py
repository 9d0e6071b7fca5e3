"""Every link of every page, read without a browser: its target is there, and so is its anchor."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from browsing import SITE

from depthlaw.ledger.address import address

# Where the site stands while its links are read; no such host exists.
HERE = "http://site.invalid/"
# What a browser loads by itself, by tag.
LOADED = {
    **dict.fromkeys(("script", "img", "iframe", "source", "video", "audio"), "src"),
    "object": "data",
    "use": "href",
    "image": "href",
}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "prefetch"}


@dataclass
class Seen(HTMLParser):
    """What a page links to, loads and holds."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    language: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        said = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        self.tags["main"] += said.get("role") == "main" and tag != "main"
        if "id" in said:
            self.anchors[said["id"]] += 1
        if tag == "a" and "name" in said and said["name"] != said.get("id"):
            self.anchors[said["name"]] += 1
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if tag == "html":
            self.language = said.get("lang", "")
        if tag in LOADED and LOADED[tag] in said:
            self.loads.append(said[LOADED[tag]])
        if tag == "link" and LOADED_LINKS & set(said.get("rel", "").split()):
            self.loads.append(said["href"])


@cache
def seen(page: Path) -> Seen:
    """A page, read once."""
    found = Seen()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def pages(folder: Path) -> list[Path]:
    """Every page of a site."""
    return sorted(folder.rglob("*.html"))


def broken(page: Path, folder: Path) -> Iterator[str]:
    """The links and loads of a page that lead nowhere, and what it loads from elsewhere."""
    here = f"{HERE}{page.relative_to(folder).as_posix()}"
    loads = [(link, True) for link in seen(page).loads]
    for link, loaded in [(link, False) for link in seen(page).links] + loads:
        target = urlsplit(urljoin(here, link))
        if f"{target.scheme}://{target.netloc}/" != HERE:
            if loaded and target.scheme != "data":
                yield f"loads {link}"
            elif target.scheme not in ("http", "https", "mailto", "data"):
                yield f"links by {target.scheme}: {link}"
            continue
        file = folder / unquote(target.path).lstrip("/")
        file = file / "index.html" if target.path.endswith("/") else file
        if not file.is_file():
            yield f"no file: {link}"
        elif target.fragment and file.suffix == ".html":
            # An empty fragment, and "top", are the page itself.
            anchor = unquote(target.fragment)
            if anchor not in seen(file).anchors and anchor != "top":
                yield f"no anchor: {link}"


def reached(folder: Path) -> set[Path]:
    """The pages that links lead to from the front page."""
    todo, found = [folder / "index.html"], set()
    while todo:
        page = todo.pop()
        if page in found or page.suffix != ".html" or not page.is_file():
            continue
        found.add(page)
        here = f"{HERE}{page.relative_to(folder).as_posix()}"
        for link in seen(page).links:
            target = urlsplit(urljoin(here, link))
            if f"{target.scheme}://{target.netloc}/" == HERE:
                path = unquote(target.path).lstrip("/")
                path += "index.html" * (path.endswith("/") or not path)
                todo.append(folder / path)
    return found


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere() -> None:
    found = pages(SITE)
    assert len(found) > 350
    assert [f"{page}: {line}" for page in found for line in broken(page, SITE)] == []


def test_every_page_is_reached_from_the_front_page() -> None:
    # Indices, which the search box replaces.
    unlinked = {"search.html", "genindex.html", "py-modindex.html", "404.html"}
    alone = set(pages(SITE)) - reached(SITE)
    assert {page.relative_to(SITE).as_posix() for page in alone} - unlinked == set()


def test_every_page_has_language_title_and_one_heading_and_no_anchor_twice() -> None:
    wrong = {}
    for page in set(pages(SITE)) - {SITE / "search.html"}:  # whose heading a script writes
        it = seen(page)
        twice = [name for name, n in it.anchors.items() if n > 1]
        found = it.language, it.tags["title"] > 0, it.tags["h1"], it.tags["main"], twice
        if found != ("en", True, 1, 1, []):
            wrong[page.relative_to(SITE).as_posix()] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('<a href="there.html">x</a>', None),
        ('<a href="there.html#part">x</a>', None),
        ('<a href="#here">x</a>', None),
        ('<a href="https://example.org/">x</a>', None),
        ('<img src="data:image/png;base64,AA">', None),
        ('<a href="nowhere.html">x</a>', "no file: nowhere.html"),
        ('<a href="there.html#nothing">x</a>', "no anchor: there.html#nothing"),
        ('<a href="#nothing">x</a>', "no anchor: #nothing"),
        ('<a href="file:///etc/hosts">x</a>', "links by file: file:///etc/hosts"),
        ('<img src="gone.png">', "no file: gone.png"),
        ('<script src="https://example.org/a.js"></script>', "loads https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "loads //example.org/a.css"),
    ],
)
def test_what_is_broken_is_seen(tmp_path: Path, line: str, complaint: str | None) -> None:
    (tmp_path / "there.html").write_text('<h1 id="part">There</h1>')
    page = tmp_path / "index.html"
    page.write_text(f'<html lang="en"><h1 id="here">Here</h1>{line}</html>')
    assert list(broken(page, tmp_path)) == ([complaint] if complaint else [])


def test_a_page_that_nothing_links_to_is_seen(tmp_path: Path) -> None:
    for name, link in (("index", "a"), ("a", "index"), ("alone", "a")):
        (tmp_path / f"{name}.html").write_text(f'<a href="{link}.html#">x</a>')
    assert set(pages(tmp_path)) - reached(tmp_path) == {tmp_path / "alone.html"}


def test_the_files_of_open_questions_and_of_verdicts_are_where_others_name_them() -> None:
    """At addresses of their own, beside the downloads that pages link to."""
    graph = json.loads((SITE / "data/verdicts.jsonld").read_text(encoding="utf-8"))["@graph"]
    named = {each["url"].removeprefix(address().site) for each in graph if "url" in each}
    assert named
    assert [name for name in sorted(named) if not (SITE / name).is_file()] == []
    assert (SITE / "data/open/hops--one-causal-head.v").is_file()
    assert list((SITE / "data/notices").glob("*.txt"))
