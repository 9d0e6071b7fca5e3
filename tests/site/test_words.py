"""How many words the built site has, as tests/budgets.toml allows: those of every page's article,
folded ones too, labels inside pictures apart."""

from __future__ import annotations

import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browsing import ROOT, SITE

ALLOWED = tomllib.loads((ROOT / "tests/budgets.toml").read_text("utf-8"))["site_words"]
# What begins no word; what is drawn with its caption, or runs.
WITHIN = {"a", "abbr", "b", "code", "em", "i", "span", "strong", "sub", "sup"}
APART = {"figure", "svg", "script", "style", "button", "select", "template"}


class Article(HTMLParser):
    """The text of what stands in the article of a page, or in its main part."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.apart, self.text = "", 0, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an article, or what is not counted."""
        if not self.inside and (tag == "main" or ("role", "main") in attrs):
            self.inside = tag
        self.apart += tag in APART
        self.text += " " * (tag not in WITHIN)

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        self.apart -= tag in APART
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data: str) -> None:
        """Keep what is counted."""
        if self.inside and not self.apart:
            self.text += data


def words(page: Path) -> int:
    """Of one page."""
    article = Article()
    article.feed(page.read_text(encoding="utf-8"))
    return len(article.text.split())


def test_the_site_and_its_main_pages_are_as_short_as_they_must_be() -> None:
    counted = {
        page.relative_to(SITE).with_suffix("").as_posix(): words(page)
        for page in SITE.rglob("*.html")
    }
    assert len(counted) > 100
    counted["site"] = sum(counted.values())
    assert {name: counted[name] for name in ALLOWED if counted[name] > ALLOWED[name]} == {}


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("<article role='main'>one two<details>three</details></article>four", 3),
        ("<article role='main'>one <svg><text>two</text></svg><b>thr</b>ee</article>", 2),
        ("<main>one <table><tr><td>two </td><td>three</td></tr></table></main>", 3),
    ],
)
def test_words_are_counted(tmp_path: Path, body: str, count: int) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<html><body>zero {body}</body></html>")
    assert words(page) == count
