"""Hand-written pages as they are committed: behind each mark stands what fills it, so that they
read whole where no site was built. A test holds every filling to the records.

`<!-- law: advisor.laws.reach 2 -->9<!--/-->` is a number in running text. Tables and pictures stand
on lines of their own between their mark and the same end, with the pictures in docs/figures; of
data, which go with the site, a line says where they are. A verdict is a word without its link,
since the page of its claim is on the site alone.

    python -m depthlaw.ledger.publish.site.filling .     # fill in every page of a clone again
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path

from depthlaw.theory.claims.definition import registry

from ...running.engines import THREADS
from ...verdicts.citations import reference
from ...verdicts.record_source import Recorded
from ...verdicts.reference_ledger import shipped
from . import front_page, heads, inline, interactive, pages, paper_pages

_BLOCK = re.compile(r"^<!-- (?P<kind>[a-z-]+)(?:: (?P<name>\S+))? -->$", re.MULTILINE)
# Marks of one kind on lines one below the other.
_RUN = re.compile(
    r"^<!-- (?P<kind>[a-z-]+)(?:: \S+)? -->(?:\n<!-- (?P=kind)(?:: \S+)? -->)*$", re.MULTILINE
)
_WIDTH = 100


@dataclass(frozen=True)
class Filling:
    """Fills pages of a clone.

    Attributes:
        root: the clone.
        recorded: what the numbers and verdicts are of.
        figures: the folder for pictures.
    """

    root: Path
    recorded: Recorded
    figures: Path

    @cached_property
    def _words(self) -> inline.MarkSource:
        judged = {key: self.recorded.judged(key) for key in self.recorded.claims}
        return inline.MarkSource(judged, len(self.recorded.store))

    def filled(self, page: Path, text: str) -> str:
        """A page with every mark filled; what was filled already is filled again.

        Args:
            page: its file below the root, by which links are relative.
            text: of the page.

        Raises:
            ValueError: where nothing is recorded for a mark.
        """
        text = _not_first(inline.unfilled(text))
        text = _BLOCK.sub(lambda mark: self._block(mark, page), text)
        text = _RUN.sub(_sent, text)
        text = self._words.filled(text, lambda said: self._as_read(said, page))
        return _fitted(text)

    def _block(self, mark: re.Match[str], page: Path) -> str:
        """A table or picture behind its mark; pictures are written where they belong."""
        if mark["kind"] == "data":
            return mark[0]
        if mark["kind"] == "interactive":
            return self._still(mark, page)
        with tempfile.TemporaryDirectory() as folder:
            out, docs = Path(folder), self.root / "docs"
            said = pages.with_blocks(mark[0], self.recorded, docs, out, page.stem)
            if mark["kind"] in ("paper", "papers"):
                said = self._table_of_paper(mark, docs)
            said = _seen(said)
            for name in re.findall(r"\(/figures/([^)]+\.(?:svg|png))\)", said):
                self.figures.mkdir(exist_ok=True)
                (self.figures / name).write_bytes((out / "figures" / name).read_bytes())
        if said == mark[0]:
            return said
        blocks = re.split(r"\n\s*\n", self._as_read(said, page))
        return "\n\n".join([mark[0], *map(_wrapped, blocks), inline.END])

    def _still(self, mark: re.Match[str], page: Path) -> str:
        """The still picture of an interactive figure, where it is a file, and its caption."""
        file = self.root / "docs" / "figures" / f"{mark['name']}.svg"
        if not file.is_file():
            return mark[0]
        caption = heads.plain(interactive.FIGURES[mark["name"]].caption)
        picture = f"![{caption.partition('. ')[0]}]({os.path.relpath(file, page.parent)})"
        return "\n\n".join([mark[0], picture, _wrapped(f"*{caption}*"), inline.END])

    def _table_of_paper(self, mark: re.Match[str], docs: Path) -> str:
        page = self._words.spoken(mark.string)
        judged = [result for result in self._words.judged.values() if result]
        return paper_pages.with_tables(mark[0], page, docs, judged)

    def _as_read(self, said: str, page: Path) -> str:
        """What the site says, for a reader of the file: links to files that are there, sources by
        their authors, nothing that only Sphinx understands."""

        def link(found: re.Match[str]) -> str:
            there = self.root / "docs" / found[3]
            if found[1] or there.is_file():
                return f"{found[1]}[{found[2]}]({os.path.relpath(there, page.parent)})"
            return found[2]

        said = re.sub(r" Download: [^.]*(?:\.\w+[^.]*)*\.$", "", said, flags=re.MULTILINE)
        said = re.sub(r"</?span[^>]*>", "", said)
        said = re.sub(r"^:::.*\n?", "", said, flags=re.MULTILINE).strip()
        said = re.sub(r"\{cite:\w\}`([^`]+)`", lambda key: _author_year(key[1]), said)
        return re.sub(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(/([^)\s]+)\)", link, said)


# Panels in a page of the site, and the link to the same picture as a file that follows them.
_PANELS = re.compile(
    r'<div class="panels" role="group" aria-label="([^"]*)">.*?</div>\n\n'
    r"(?=.*?\[picture\]\(([^)]+)\))",
    re.DOTALL,
)


def _seen(said: str) -> str:
    """What the site shows, as whoever reads a file can see it: pictures from files, and the card of
    the front page in words."""
    said = _PANELS.sub(lambda of: f"![{unescape(of[1])}]({of[2]})\n\n", said)
    return front_page.card_in_words() if said.startswith("<form") else said


def _author_year(key: str) -> str:
    """A source as running text names it.

    >>> _author_year("sanford2024")
    'Sanford and others (2024)'
    """
    who, _, year = reference(key).partition(":")[0].rpartition(" ")
    return f"{who} ({year})" if who else year


def _not_first(text: str) -> str:
    r"""A page none of whose lines begins with a mark of running text: there a comment would begin a
    block of HTML, in which nothing else is Markdown. Before one that begins a paragraph or a point
    of a list comes a space without width. What an author broke over lines is one line again.

    >>> _not_first("is\n  <!-- law: a.b -->\n- <!-- law: a.b -->")
    'is <!-- law: a.b -->\n- &#8203;<!-- law: a.b -->'
    """
    text = inline.MARK.sub(lambda mark: " ".join(mark[0].split()), text)
    mark = rf"(?=<!--\s+{inline.KINDS}:)"
    text = re.sub(rf"(?<=\S)\n[ \t]*{mark}", " ", text)
    text = re.sub(rf"^(>.*\S)\n> ?{mark}", r"\1 ", text, flags=re.MULTILINE)
    begins = rf"^([ \t]*(?:(?:[-*>]|\d+\.)[ \t]+)?){mark}"
    return re.sub(begins, rf"\1{inline.NO_WIDTH}", text, flags=re.MULTILINE)


def _sent(marks: re.Match[str]) -> str:
    """Marks of blocks with where to see what they stand for, unless it follows them already."""
    follows = inline.FILLING.match(marks.string, marks.end())
    if marks["kind"] not in pages.BLOCKS or follows:
        return marks[0]
    said = {"data": "*Data: on the site that `make docs` builds.*", "numbers": ""}
    blocks = [marks[0], said.get(marks["kind"], pages.NOTHING), inline.END]
    return "\n\n".join(filter(None, blocks))


def _wrapped(block: str) -> str:
    """A paragraph in lines; tables, lists and pictures as they are."""
    if re.match(r"[|!<#>-]|\* |\d+\.", block) or "  \n" in block:
        return block
    return textwrap.fill(block, _WIDTH, break_long_words=False, break_on_hyphens=False)


# Before the words of a line.
_MARGIN = re.compile(r"(?:> )?\s*(?:[-*+]\s+|\d+[.)]\s+)?")
# Comments in which no line ends if it can end elsewhere, and those in which none ever does.
_COMMENT, _LINK = re.compile(r"<!--.*?-->"), re.compile(r"<!-- page: \S+ -->")
# What would begin something else than a line of a paragraph.
_BEGINS = re.compile(r"[-+*]\s|[#>=|:%]|---|\$\$|`{3}|~{3}|\d+[.)]\s|<")


def _fitted(text: str) -> str:
    """A page without lines that their fillings make too long: they are broken at spaces, and what
    is left goes before the next line of the paragraph."""
    lines, fitted, moved = text.split("\n"), list[str](), False
    while lines:
        line = lines.pop(0)
        at = _break(line) if moved or inline.FILLING.search(line) else 0
        moved = bool(at)
        fitted.append(line[:at] if at else line)
        if at:
            margin = _margin(line)
            quoted = line.startswith(">")
            rest, below = line[at + 1 :], lines[0] if lines else ""
            words = below.lstrip("> " if quoted else " ")
            same = below.startswith(">") == quoted
            if words and same and not _BEGINS.match(words):
                lines[0] = f"{below[: -len(words)]}{rest} {words}"
            else:
                lines.insert(0, ("> " if quoted else "").ljust(margin) + rest)
    return "\n".join(fitted)


def _margin(line: str) -> int:
    """How many characters stand before the words of a line."""
    found = _MARGIN.match(line)
    return found.end() if found else 0


def _break(line: str) -> int:
    """Where to end a line of text that is too long; 0 where it is not, or cannot be broken."""
    if len(line) <= _WIDTH or re.match(r"\s*\||#", line):
        return 0
    for whole in (_COMMENT, _LINK):
        text = whole.sub(lambda comment: "x" * len(comment[0]), line)
        spaces = [
            space.start()
            for space in re.finditer(r"(?<=\S) (?=\S)", text)
            if not _BEGINS.match(line, space.end()) and _margin(line) <= space.start() <= _WIDTH
        ]
        # In a quotation each line has a sign before it, which a comment would hold.
        if spaces or line.startswith(">"):
            break
    return max(spaces, default=0)


def of_clone(root: Path) -> Iterator[Path]:
    """The hand-written pages of a clone."""
    yield root / "README.md"
    for page in sorted((root / "docs").rglob("*.md")):
        if not page.relative_to(root / "docs").parts[0].startswith("_"):
            yield page


def main(folder: str) -> None:
    """Fill the pages of a clone."""
    root = Path(folder).resolve()
    # One thread, as where the site is built.
    os.environ.update(THREADS)
    store = shipped()
    assert store is not None
    filling = Filling(root, Recorded(registry(), store), root / "docs" / "figures")
    for page in of_clone(root):
        text = page.read_text(encoding="utf-8")
        if (new := filling.filled(page, text)) != text:
            page.write_text(new, encoding="utf-8", newline="\n")
            print(page.relative_to(root))


if __name__ == "__main__":
    main(*sys.argv[1:])
