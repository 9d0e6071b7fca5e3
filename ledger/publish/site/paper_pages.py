"""The pages of docs/papers: what was found of each paper whose statements are claims.

Marks: `<!-- paper: KEY -->` is the citation of a paper, a table of the claims on its statements,
and those in their support or derived here after it that the page does not link anyway;
`<!-- papers: pages -->` is a table of all papers with a page, and `<!-- papers: others -->` one of
the claims on papers without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from depthlaw.theory.claims.definition import Claim, Wording

from ...verdicts.citations import named, sources
from ...verdicts.suite_verdicts import VERDICT_NAMES, ClaimResult, marked, verdict_name
from ..appendix.typesetting import cite, pipe_table, prose, told, verdict
from .page_blocks import compact

# Whose claims follow no paper.
OURS = "depthlaw"
# How a sentence is known, where one's own word is too long for a column.
_WORDINGS: Mapping[Wording, str] = {"universal": "reading"}
_MARK = re.compile(r"<!-- papers?: (\S+) -->")
_LINKED = re.compile(r"\(/claims/(\w+/\w+)\.md\)")
_DISPUTE = "[Dispute a verdict](/open/index.md)"


def filled(text: str, docs: Path, judged: Sequence[ClaimResult]) -> str:
    """A page with its tables, and below them where verdicts are disputed.

    Args:
        docs: the folder whose `papers` holds the pages.

    Raises:
        ValueError: for a mark that names no source of a claim.
    """
    page = with_tables(text, text, docs, judged)
    return page if page == text else f"{page}\n{_DISPUTE}\n"


def with_tables(text: str, page: str, docs: Path, judged: Sequence[ClaimResult]) -> str:
    """A part of a page with its tables.

    Args:
        page: the whole of it; claims to which it links are in no table.
        docs: as `filled`, which raises the same.
    """
    linked = {*_LINKED.findall(page)}

    def table(mark: re.Match[str]) -> str:
        if mark[1] == "pages":
            return _pages(docs, judged)
        if mark[1] == "others":
            return _others(docs, judged)
        return _paper(mark[1], judged, linked)

    return _MARK.sub(table, text)


def with_pages(docs: Path) -> dict[str, Path]:
    """The page on which each paper is, by its key in the bibliography."""
    pages = sorted((docs / "papers").glob("*.md"))
    marks = {page: _MARK.findall(page.read_text(encoding="utf-8")) for page in pages}
    return {key: page for page, keys in marks.items() for key in keys if page.stem != "index"}


def _stated(key: str, judged: Iterable[ClaimResult]) -> list[ClaimResult]:
    """The claims on statements of a paper, failing and cited ones first. What was derived here in
    support of another claim is no statement of the paper."""
    own = [r for r in judged if r.claim.source.key == key]
    statements = [r for r in own if r.claim.wording != "derived" or _first(r)] or own
    return sorted(statements, key=lambda r: (r.verdict != "FAILS", not _first(r)))


def _first(result: ClaimResult) -> bool:
    return result.claim.tier == "cited" or result.verdict == "FAILS"


def _after(key: str, judged: Iterable[ClaimResult]) -> list[ClaimResult]:
    """The claims that were derived here after a paper, or name it beside another: the cited ones,
    which the others support, or all where none is cited."""
    named_ = [
        r for r in judged if key in sources(str(r.claim.source)) and r.claim.source.key != key
    ]
    return [r for r in named_ if r.claim.tier == "cited"] or named_


def _paper(key: str, judged: Sequence[ClaimResult], linked: Collection[str]) -> str:
    stated, after = _stated(key, judged), _after(key, judged)
    if not stated + after:
        raise ValueError(f"no claim names {key} as its source")

    def plain(found: Iterable[ClaimResult]) -> list[tuple[str, str]]:
        return [(_verdict(r), _title(r)) for r in found if r.claim.key not in linked]

    several = len({_version(r.claim) for r in stated}) > 1
    first = [r for r in stated if _first(r)] or stated
    rows = [(_verdict(r), f"{_title(r)}<br>{_place(r.claim, several)}") for r in first]
    derived = "more, derived here after it" if rows else f"derived here after {cite(key)}"
    tables = {
        cite(key): rows,
        "more, in support": plain(r for r in stated if r not in first),
        derived: plain(after),
    }
    parts = (compact(pipe_table(f"verdict | {h}", found)) for h, found in tables.items() if found)
    return "\n\n".join(parts) or f"Source: {cite(key)}"


def _pages(docs: Path, judged: Sequence[ClaimResult]) -> str:
    """Papers with pages: how many claims on them have which verdict."""
    keys: dict[Path, list[str]] = {}
    for key, page in with_pages(docs).items():
        keys.setdefault(page, []).append(key)
    rows = []
    for page, own in keys.items():
        found = [r for key in own for r in _stated(key, judged) + _after(key, judged)]
        counts = Counter(map(verdict_name, {r.claim.key: r for r in found}.values()))
        title = page.read_text(encoding="utf-8").removeprefix("# ").partition(": ")[0]
        told_ = ", ".join(f"{counts[v]} {verdict(v)}" for v in VERDICT_NAMES if counts[v])
        rows.append((told_, f"[{title}]({page.name})"))
    by_title = sorted(rows, key=lambda row: row[1].strip('["'))
    return compact(pipe_table("verdicts | paper", by_title))


def _others(docs: Path, judged: Sequence[ClaimResult]) -> str:
    """The claims on statements of papers without a page, and the cited ones derived here after
    them, each once, by paper."""
    paged = with_pages(docs)
    keys = {key: named(key) for r in judged for key in sources(str(r.claim.source))}
    seen = {r.claim.key for key in paged for r in _stated(key, judged) + _after(key, judged)}
    rows = []
    for key, name in sorted(keys.items(), key=lambda pair: pair[1]):
        found = [] if key in (OURS, *paged) else _stated(key, judged) + _after(key, judged)
        found = [
            r for r in found if r.claim.key not in seen and (r.claim.source.key == key or _first(r))
        ]
        seen |= {r.claim.key for r in found}
        rows += [(_verdict(r), _title(r), prose(name)) for r in found]
    return compact(pipe_table("verdict | statement | paper", rows))


def _verdict(result: ClaimResult) -> str:
    return verdict(marked(result))


def _title(result: ClaimResult) -> str:
    return f"[{prose(result.claim.entitled)}](/claims/{result.claim.key}.md)"


def _version(claim: Claim) -> str:
    """The version of a paper that a claim names: what follows the number of an arXiv paper."""
    found = re.search(r"v\d+$", claim.source.version)
    return found[0] if found else ""


def _place(claim: Claim, several: bool) -> str:
    """The first place where a statement stands, with names for keys, in which version if the claims
    on one paper name several, and how its wording is known."""
    version = _version(claim) if several else ""
    wording = _WORDINGS.get(claim.wording, claim.wording)
    place = ", ".join(filter(None, (claim.source.place.partition(";")[0], version)))
    return f"{told(place, named).removesuffix('.')} (*{wording}*)"
