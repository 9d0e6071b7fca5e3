"""Hand-written pages read whole where no site was built: every mark is filled, with what records
say. Where a test of a page fails: `make transcripts`."""

import re
from pathlib import Path

import pytest

from depthlaw.ledger.publish.site import filling, inline, page_blocks, pages

ROOT = Path(__file__).parents[2]
PAGES = {page.relative_to(ROOT).as_posix(): page for page in filling.of_clone(ROOT)}
MARKED = [name for name, page in PAGES.items() if "<!-- " in page.read_text(encoding="utf-8")]
KINDS = "|".join(pages.BLOCKS)
# A figure has its still picture before it.
EMPTY = re.compile(
    rf"<!--\s+(?:{inline.KINDS}:\s(?:(?!-->).)*?|(?<!\)<!--\s)(?:{KINDS})(?:: \S+)?)\s+-->"
    rf"(?!(?:(?!<!--).)*{inline.END}|\n<!-- )",
    re.DOTALL,
)


@pytest.fixture
def fill(recorded, tmp_path, monkeypatch):
    """Without drawing: pictures are files whose names are compared."""
    monkeypatch.setattr(page_blocks, "inline_svg", lambda *args: '<svg viewBox="0 0 1 1"></svg>')
    filler = filling.Filling(ROOT, recorded, tmp_path / "figures")
    return lambda page, text: filler.filled(page, text)


def test_marks_are_filled_in_text_tables_and_pictures_and_again_the_same(fill, tmp_path):
    page, (plain, other) = ROOT / "docs/index.md", ("separation_rank/degree", "hops/doubling")
    text = (
        "Sees\n<!-- law: advisor.laws.reach 2 --> steps ([laws](depth.md)), *a*<!-- page: /x -->.\n"
        f"\n| <!-- verdict: {plain} --> | a |\n\n<!-- verdicts: {plain},{other} -->\n\n"
        "<!-- measured: doubly-exponential -->\n\n<!-- navigation -->\n"
    )
    new = fill(page, text)
    assert new.startswith(
        "Sees <!-- law: advisor.laws.reach 2 -->9<!--/--> steps ([laws](depth.md)), "
        f"*a*<!-- page: /x -->.\n\n| <!-- verdict: {plain} -->PROVED<!--/--> | a |\n\n"
        f"<!-- verdicts: {plain},{other} -->\n\n"
    )
    assert new.endswith("\n\n<!--/-->\n\n<!-- navigation -->\n")
    assert "](figures/doubly-exponential.svg)" in new
    assert (tmp_path / "figures/doubly-exponential.svg").is_file()
    assert "Download" not in new
    assert "](/" not in new
    assert fill(page, new) == new
    assert inline.unfilled(new).split() == text.split()
    changed = new.replace("-->9<", "-->8<")
    assert changed != new == fill(page, changed), "a changed digit is found"
    papers = ROOT / "docs/papers/sanford2024.md"
    told = fill(papers, "<!-- interactive: khop -->\n\n<!-- paper: sanford2024 -->\n")
    assert "](../figures/khop.svg)\n\n*A box holds" in told
    assert "\n| FAILS | The printed induction step" in told
    elsewhere = fill(ROOT / "docs/exercises.md", text)
    assert "](figures/doubly-exponential.svg)" in elsewhere
    data = fill(page, "<!-- data -->\n")
    assert "*Data: on the site that `make docs` builds.*" in data


def test_no_mark_begins_a_paragraph(fill):
    """There a code host reads the rest of the line as HTML."""
    for before in ("", "- ", "1. "):
        text = f"Words.\n\n{before}<!-- law: advisor.laws.reach 2 --> **steps**\n"
        new = fill(PAGES["README.md"], text)
        assert f"\n{before}&#8203;<!-- law: advisor.laws.reach 2 -->9<!--/--> **" in new
        assert inline.unfilled(new) == text
        assert fill(PAGES["README.md"], new) == new


def test_long_lines_end_where_nothing_changes(fill):
    long = " ".join(["sees <!-- law: advisor.laws.reach 2 --> *of*<!-- page: /x --> 16"] * 3)
    new = fill(PAGES["README.md"], f"- {long}\n  [more](docs/depth.md)\n")
    assert all(len(line) <= 100 for line in new.splitlines())
    assert not re.search(r"^\s*(<!--|\d+[.)] )", new, re.MULTILINE)
    assert new.count("*of*<!-- page: /x -->") == 3
    assert re.search(r"\n  .* 16 \[more\]\(docs/depth.md\)\n$", new)
    quoted = fill(PAGES["README.md"], f"> {long}\n> [more](docs/depth.md)\n")
    assert all(line.startswith("> ") for line in quoted.splitlines())
    assert not re.search(r"<!--[^>]*\n> ", quoted), "no comment over two lines"


def test_no_mark_is_empty():
    assert len(MARKED) >= 10
    assert EMPTY.search("is <!-- law: a.b 1 -->, <!-- law: a.b 1 -->1<!--/-->")
    assert EMPTY.search("\n<!-- table: a/b -->\n\nmore <!-- law: a.b 1 -->1<!--/-->")
    assert not EMPTY.search("![a](b.svg)<!-- interactive: ring -->")
    assert not EMPTY.search("<!-- law:\na.b 1 -->1<!--/-->\n\n<!-- table: a/b -->\n\n|\n\n<!--/-->")
    empty = {name: EMPTY.findall(PAGES[name].read_text(encoding="utf-8")) for name in MARKED}
    assert {name: marks for name, marks in empty.items() if marks} == {}


def test_no_line_is_a_comment_to_the_site_and_no_maths_is_shown_raw():
    """There Markdown has comments that begin with a percent sign."""
    blocks = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    texts = {name: blocks.sub("", page.read_text("utf-8")) for name, page in PAGES.items()}
    assert [name for name, text in texts.items() if re.search(r"^\s*%", text, re.MULTILINE)] == []
    assert [name for name, text in texts.items() if r"\$\\" in text] == []


@pytest.mark.parametrize("name", MARKED)
def test_what_fills_a_page_is_what_the_records_say(fill, name):
    text = PAGES[name].read_text(encoding="utf-8")
    assert fill(PAGES[name], text) == text, "make transcripts"


def test_pictures_of_pages_are_there_and_no_others():
    texts = [page.read_text(encoding="utf-8") for page in PAGES.values()]
    named = {name for text in texts for name in re.findall(r"\]\(\S*\bfigures/([\w.-]+)\)", text)}
    assert {file.name for file in ROOT.glob("docs/figures/*")} == named
