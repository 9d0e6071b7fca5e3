"""The site that `make docs` builds: hand-written pages of docs/ with what records fill in, and
generated ones. Sphinx makes HTML of them, by docs/conf.py.

Everything is written from the claims and from records; no number is typed by hand. Marks in the
hand-written pages are filled: those of running text by `inline`, `<!-- table: KEY -->` by the table
of a claim, `<!-- figure: NAME -->` by a figure, `<!-- evidence: PART -->` by how rules of depth do
on published grids, `<!-- counting: PART -->` by listed models counted again (`PART.csv`: by
a link to a file of that table, in both), `<!-- audit:
PART -->` by tables of audits, `<!-- paper: KEY -->` by the claims on a paper, `<!-- measured:
NAME -->` by the picture of a question, `<!-- numbers: NAME -->` by its numbers and verdicts,
`<!-- settings -->` by a table of how nets are trained, `<!-- proofs -->` by what a proof kernel has
checked, `<!-- bounds -->` by the bounds that sources are known for, `<!-- verdicts: KEY,KEY -->`
and `<!-- values: KEY,KEY -->` by claims and their cases,
`<!-- interactive: NAME -->` and `<!-- still: NAME -->` by the figures of `interactive`,
`<!-- front: PART -->` by a part of the front page, and `<!-- data -->` by a link
to a CSV file of all cases of the claims that a page names so. What `filling` has written behind a
mark, for whoever reads the file, is left out. `*words*<!-- page: /claims/index.md -->` becomes a
link to a page that no hand wrote: where a file is read as it stands, there is none to link to.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import Any

from depthlaw.empirics.separation_rank.frontier import entries
from depthlaw.theory.claims.code_version import remember
from depthlaw.theory.claims.definition import SUITES, Claim, registry

from ...records.store import manifest
from ...running.claims_index import claims_index
from ...running.engines import THREADS
from ...verdicts.display import duration
from ...verdicts.evidence_tree import grounds
from ...verdicts.record_source import Recorded
from ...verdicts.reference_ledger import shipped
from ...verdicts.suite_verdicts import ClaimResult, results
from ..appendix.appendix_figures import on_frontier
from ..appendix.typesetting import pipe_table, prose
from ..drawing.rank_panels import exact_ranks_say, rank_panels
from ..questions import QUESTIONS
from ..tables import markdown_as_csv
from . import (
    atlas_pages,
    audit_tables,
    claim_pages,
    count_comparison,
    depth_evidence,
    explorer,
    formal_proofs,
    front_page,
    heads,
    inline,
    interactive,
    linked_data,
    open_board,
    page_blocks,
    paper_pages,
)

# What of docs/ is no source of pages: the files of Sphinx, what is built, pictures for who reads
# the files, of which the site draws its own, and what only those read who change the code, in a
# clone.
_FOR_MAINTAINERS = ("decisions", "architecture.md", "maintaining.md")
_APART = {"conf.py", "_static", "_build", "_site", "explorer", "figures", *_FOR_MAINTAINERS}
# What tasks write beside the pages.
_BESIDE = ("figures", "data", "explorer")
# What the site has as it is written.
_COPIED = ("explorer", open_board.FILES, open_board.NOTICES)
# Files of the project that are pages too.
_OF_THE_PROJECT = {"CONTRIBUTING.md": "contributing.md"}


def write(docs: Path, out: Path, recorded: Recorded, processes: int = 1) -> list[Path]:
    """Write the sources of all pages into the folder `out`, which then holds nothing else, and
    return their paths: the same records give the same bytes, and what has not changed is not
    written again.

    Args:
        processes: how many make pages at the same time; with several this process is forked.

    Cost: a minute and a half of one core.
    """
    claims, figures = recorded.claims, interactive.FigureSource(docs)
    for folder in _BESIDE:
        shutil.rmtree(out / folder, ignore_errors=True)
    results_by_key, drawn = _judged_and_drawn(docs, out, recorded, processes)
    judged = [result or _not_run(claims[key], recorded) for key, result in results_by_key.items()]
    words = inline.MarkSource(results_by_key, len(recorded.store))

    def linked(pages: dict[Path, str]) -> dict[Path, str]:
        return {path: _linked(text, claims, docs) for path, text in pages.items()}

    def topic(name: str) -> dict[Path, str]:
        pages = linked(_topic(name, judged, recorded, out))
        for result in judged:
            if result.claim.topic == name:
                pages[out / "claims" / f"{result.claim.key}.md"] += linked_data.block(result)
        return pages

    def hand_written(path: Path) -> dict[Path, str]:
        name, text = path.relative_to(docs), path.read_text(encoding="utf-8")
        if path.suffix != ".md":
            return {out / name: text}
        text = words.spoken(_to_pages(inline.unfilled(text)))
        text = paper_pages.filled(figures.filled(text, name), docs, judged)
        return {
            out / name: with_blocks(text, recorded, docs, out, path.stem, drawn),
            **figures.files(out),
        }

    def explored() -> dict[Path, str]:
        return explorer.write(docs / "explorer", out / "explorer", recorded)

    sources = _sources(docs)
    topics = dict.fromkeys(claim.topic for claim in claims.values())
    # What takes longest first.
    tasks: list[Task] = [
        *([explored] if (docs / "explorer").is_dir() else []),
        *(partial(hand_written, path) for path in sorted(sources, key=_pictures, reverse=True)),
        *(partial(topic, name) for name in topics),
        lambda: linked(_generated(judged, recorded, out)),
    ]
    pages: dict[Path, str] = {}
    for made in _made(tasks, processes):
        pages |= made
    for file, page in _OF_THE_PROJECT.items():
        pages[out / page] = _moved((docs.parent / file).read_text(encoding="utf-8"))
    pages[out / heads.EDITION] = heads.edition(claims, docs.parent)
    pages[out / "bibliography.md"] = "# Bibliography\n\n```{bibliography}\n:all:\n```\n"
    for path in [path for path in out.rglob("*.*") if path.is_file()]:
        if path not in pages and path.relative_to(out).parts[0] not in _BESIDE:
            path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return sorted(pages)


def _sources(docs: Path) -> list[Path]:
    files = (path for path in sorted(docs.rglob("*")) if path.is_file())
    return [path for path in files if path.relative_to(docs).parts[0] not in _APART]


def _judged_and_drawn(
    docs: Path, out: Path, recorded: Recorded, processes: int
) -> tuple[dict[str, ClaimResult | None], dict[str, str]]:
    """The verdict on every claim; meanwhile, in another process, which judges what it needs, the
    pictures that pages show, by their marks: they take as long."""
    texts = [path.read_text("utf-8") for path in _sources(docs) if path.suffix == ".md"]
    marks = dict.fromkeys(mark for text in texts for mark in _DRAWN.findall(text))
    _TASKS[:] = [lambda: {mark: _picture(mark, recorded, out) for mark in marks}]
    with ProcessPoolExecutor(1, get_context("fork")) as other:
        pictures = other.submit(_task, 0) if processes > 1 and marks else None
        found = {key: recorded.judged(key) for key in recorded.claims}
        # What other processes would compute again.
        remember()
        claims_index()
        drawn = pictures.result() if pictures else {}
    return found, drawn


def _picture(mark: str, recorded: Recorded, out: Path) -> str:
    kind, _, what = mark.partition(": ")
    if kind == "figure":
        return _FIGURES[what](recorded, out / "figures" / what)
    return page_blocks.question(what, recorded, out / "figures")


# Marks of pictures.
_DRAWN = re.compile(r"^<!-- ((?:measured|figure): \S+) -->$", re.MULTILINE)

Task = Callable[[], dict[Path, str]]
# Of a process that is forked, since functions do not travel between two.
_TASKS: list[Callable[[], dict[Any, str]]] = []


def _made(tasks: Sequence[Task], processes: int) -> Iterator[dict[Path, str]]:
    """What each task makes."""
    if processes == 1:
        yield from (task() for task in tasks)
        return
    _TASKS[:] = tasks
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        yield from pool.map(_task, range(len(tasks)))


def _task(place: int) -> dict[Any, str]:
    return _TASKS[place]()


def _pictures(page: Path) -> int:
    """How many pictures are drawn for a page."""
    return len(_DRAWN.findall(page.read_text("utf-8"))) if page.suffix == ".md" else 0


def build(docs: Path, sources: Path, out: Path) -> int:
    """Make the site of its sources, in the folder `out`, which then holds nothing else, and return
    Sphinx's exit status: a warning is an error, and nothing is replaced.

    What Sphinx keeps for the next time stays beside the sources.
    """
    html = sources.parent / "html"
    shutil.rmtree(html, ignore_errors=True)
    options = ["-q", "-W", "--keep-going", "-j", "auto", "-d", sources.parent / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *options, "-c", docs, sources, html]
    status = subprocess.run(list(map(str, command)), check=False).returncode
    if status == 0:
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(html, out, ignore=shutil.ignore_patterns(".buildinfo*", "objects.inv"))
        # What others name by its address: Sphinx puts a hash of the content into that of a
        # download.
        (out / "data").mkdir()
        shutil.copy(sources / linked_data.FILE, out / linked_data.FILE)
        for folder in filter(Path.is_dir, map(sources.joinpath, _COPIED)):
            shutil.copytree(folder, out / folder.relative_to(sources))
    return status


def _not_run(claim: Claim, recorded: Recorded) -> ClaimResult:
    """A claim of which nothing is recorded, in the first suite that has cases of it."""
    suite = next(suite for suite in SUITES if claim.cases(suite))
    return results({claim.key: claim}, suite, recorded.store)[0]


def _generated(judged: Sequence[ClaimResult], recorded: Recorded, out: Path) -> dict[Path, str]:
    """The pages that no hand wrote, by their paths."""
    ledger = _named(recorded)
    pages = {
        out / "claims/index.md": claim_pages.index(judged, ledger),
        out / "findings.md": claim_pages.findings(judged, ledger),
        out / "open/index.md": open_board.write(judged, out),
        out / "glossary.md": claim_pages.glossary([r.claim for r in judged]),
    }
    files = {
        "claims.csv": claim_pages.every(judged),
        "former-claims.csv": claim_pages.former(judged),
        "symbols.csv": claim_pages.every_symbol([r.claim for r in judged]),
        Path(linked_data.FILE).name: linked_data.document(judged, ledger),
    }
    (out / "data").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / "data" / name).write_text(text, encoding="utf-8")
    by_key = {r.claim.key: r for r in judged}.get
    pages |= atlas_pages.pages(by_key, out / "tasks")
    return pages


def _topic(
    topic: str, judged: Sequence[ClaimResult], recorded: Recorded, out: Path
) -> dict[Path, str]:
    """The pages of the claims of a topic, and its own."""
    by_key = {r.claim.key: r for r in judged}.get
    (out / "data").mkdir(parents=True, exist_ok=True)
    pages = {}
    own = [r for r in judged if r.claim.topic == topic]
    for r in own:
        file = out / "data" / f"{r.claim.topic}-{r.claim.name}.csv"
        there = page_blocks.data([r.claim.key], recorded, file)
        data = f"[All cases](/data/{file.name})." if there else ""
        below = [result for result in judged if result.claim.supports == r.claim.key]
        above = recorded.claims.get(r.claim.supports)
        page = claim_pages.page(r, grounds(r, by_key), data, below, above)
        pages[out / "claims" / f"{r.claim.key}.md"] = page
    page = claim_pages.topic_page(topic, own, prose(_about(topic)))
    return pages | {out / "claims" / topic / "index.md": page}


def _named(recorded: Recorded) -> str:
    """Which records these are, in words."""
    hash_ = manifest(recorded.store)["hash"]
    return f"{len(recorded.store):,} records of the reference ledger, manifest `{hash_[:16]}`"


def _about(topic: str) -> str:
    """The first sentence of a topic's package."""
    names = (f"depthlaw.{folder}.{topic}" for folder in ("theory", "empirics"))
    name = next(filter(find_spec, names))
    return " ".join((import_module(name).__doc__ or "").split("\n\n")[0].split())


def _moved(text: str) -> str:
    """A file of the project's root as a page: links go where the pages are."""
    text = re.sub(r"\]\(docs/", "](/", _files_named(text))
    for name, page in _OF_THE_PROJECT.items():
        text = text.replace(f"]({name}", f"](/{page}")
    return text


def _files_named(text: str) -> str:
    """A page that names the files of the project that are no pages, where it links to them.

    >>> _files_named("[why](../decisions/0007-the-ladder-of-verdicts.md#two), [how](../depth.md)")
    'why (docs/decisions/0007-the-ladder-of-verdicts.md), [how](../depth.md)'
    """
    files = "|".join(map(re.escape, _FOR_MAINTAINERS))
    link = rf"\[([^]]+)\]\((?:\.\./|docs/)*((?:{files})[^)#]*)(?:#[^)]*)?\)"
    return re.sub(link, r"\1 (docs/\2)", text)


def _to_pages(text: str) -> str:
    """A hand-written page with links to pages that no hand wrote, and to those of the project.

    >>> _to_pages("the *atlas*<!-- page: /tasks/index.md -->, [how](../../CONTRIBUTING.md)")
    'the [atlas](/tasks/index.md), [how](/contributing.md)'
    """
    text = re.sub(r"\*([^*]+)\*<!-- page: (\S+) -->", r"[\1](\2)", _files_named(text))
    for name, page in _OF_THE_PROJECT.items():
        text = re.sub(rf"\]\((?:\.\./)+{name}", f"](/{page}", text)
    return text


def _linked(text: str, claims: Mapping[str, Claim], docs: Path) -> str:
    """A generated page whose prose names claims by their keys, and pages by their files: with links
    to them."""

    def claim(named: re.Match[str]) -> str:
        key = named[0].replace("\\_", "_")
        return claim_pages.link(claims[key]) if key in claims else named[0]

    def page(named: re.Match[str]) -> str:
        there = (docs / named[1]).is_file()
        return f"[{named[0]}](/{named[1]})" if there else named[0]

    # Prose escapes the underscores.
    topics = "|".join({claim.topic: 0 for claim in claims.values()}).replace("_", r"\\?_")
    keys = rf"(?<![\w/`\[])(?<!falsify )(?<!show )(?:{topics})/(?:\w|\\_)+(?![\w-]|\.\w)"

    def line(text: str) -> str:
        if text.startswith("$ "):
            return text
        return re.sub(r"(?<![\w/`\[])docs/([\w/-]+\.md)\b", page, re.sub(keys, claim, text))

    return "\n".join(map(line, text.split("\n")))


def with_blocks(
    text: str,
    recorded: Recorded,
    docs: Path,
    out: Path,
    name: str,
    drawn: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A hand-written page with its tables, lists and pictures in place of their marks; pictures
    and data go into folders of `out`.

    Args:
        docs: the folder of the pages, which holds the files of audits.
        name: of the page.
        drawn: pictures that are there already, by their marks.
    """
    return filled(audit_tables.filled(text, docs), recorded, out, name, drawn)


def filled(
    text: str,
    recorded: Recorded,
    out: Path,
    name: str,
    drawn: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A hand-written page with its marks replaced; pictures go into the folder `figures`, and data
    into `data`. A section below the title of whose marks nothing is recorded is left out.

    Args:
        name: of the page, which is that of its file of data.
        drawn: pictures that are there already, by their marks.
    """

    def picture(mark: str) -> str:
        return drawn[mark] if mark in drawn else _picture(mark, recorded, out)

    parts: dict[str, Callable[[str], str]] = {
        "evidence": lambda what: _shown(depth_evidence.part, what, out / "data"),
        "counting": lambda what: _shown(count_comparison.part, what, out / "data"),
        "settings": lambda _: page_blocks.settings(),
        "trained": lambda _: page_blocks.trained(recorded),
        "bounds": lambda _: page_blocks.bounds(recorded),
        "proofs": lambda _: formal_proofs.proofs(recorded, out / "data" / "formal"),
        "data": lambda _: page_blocks.data(_keys(text), recorded, out / "data" / f"{name}.csv"),
        "verdicts": lambda keys: page_blocks.verdicts(keys.split(","), recorded),
        "values": lambda keys: page_blocks.values(keys.split(","), recorded),
        "numbers": lambda what: page_blocks.numbers(what, recorded),
        "measured": lambda what: picture(f"measured: {what}"),
        "table": lambda key: table(recorded, key),
        "front": lambda what: front_page.part(what, recorded.judged),
        "figure": lambda what: picture(f"figure: {what}"),
    }

    def section(part: str) -> str:
        found = [parts[mark["kind"]](mark["name"] or "") for mark in _MARK.finditer(part)]
        if part.startswith("##") and found and not any(found):
            return ""
        blocks, instead = iter(found), "" if any(found) else NOTHING
        # A blank line ends a block, though the next mark be on the next line.
        return _MARK.sub(lambda _: f"{next(blocks) or instead}\n", part)

    return "".join(map(section, re.split(r"^(?=##+ )", text, flags=re.M)))


def _shown(part: Callable[[str], str], what: str, folder: Path) -> str:
    """A table of a page; for `NAME.csv` a link to the file with the table NAME, written here."""
    name = what.removesuffix(".csv")
    if name == what:
        return part(name)
    text = markdown_as_csv(part(name))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / what).write_text(text, encoding="utf-8")
    return f"[{what}](/data/{what}): {len(text.splitlines()) - 1} rows."


NOTHING = "*Nothing is recorded for this yet.*"
_KINDS = (
    "table|figure|data|settings|trained|proofs|bounds|measured|evidence|counting|verdicts|values"
    "|numbers|front"
)
# Marks that stand on lines of their own.
BLOCKS = (*_KINDS.split("|"), "audit", "paper", "papers")
_MARK = re.compile(rf"<!-- (?P<kind>{_KINDS})(: (?P<name>\S+))? -->")


def _keys(text: str) -> list[str]:
    """The claims that the marks of a page name, in their order."""
    keys: list[str] = []
    for mark in _MARK.finditer(text):
        kind, name = mark["kind"], mark["name"] or ""
        if kind in ("verdicts", "values"):
            keys += name.split(",")
        if kind == "numbers":
            keys += QUESTIONS[name].claims
    return list(dict.fromkeys(keys))


def table(recorded: Recorded, key: str) -> str:
    """The table that a claim brings along, in Markdown, with the rows of all claims that share it;
    empty where nothing is recorded."""
    maker = recorded.claims[key].table
    rows = recorded.rows(*(key for key, c in recorded.claims.items() if maker and c.table is maker))
    if maker is None or not rows:
        return ""
    text = maker(rows)
    heading = " | ".join(prose(name) + ("" if name in text.words else ":") for name in text.columns)
    cells = (
        (duration(c.total_seconds()) if isinstance(c, timedelta) else prose(c) for c in row)
        for row in text.rows
    )
    legend = (prose(line) + "  " for line in text.legend.splitlines())
    return "\n".join([pipe_table(heading, cells), "", *legend])


def _frontier(recorded: Recorded, file: Path) -> str:
    """What exact separation ranks are, and their picture; empty where nothing is recorded."""
    every = entries(recorded.rows(*on_frontier(recorded)))
    panels, found = rank_panels(every), exact_ranks_say(every)
    title = "Exact separation ranks of one head, beside the count S and the bounds as recalled"
    shown = [found and f"**{found}**", page_blocks.picture(title, panels, file)] if panels else []
    return "\n\n".join(filter(None, shown))


def _regrets(_: Recorded, file: Path) -> str:
    """How much each rule of depth loses on each source."""
    title = "Regret of each rule on each source, and its mean"
    return page_blocks.picture(title, [depth_evidence.regrets()], file)


_FIGURES = {"frontier": _frontier, "regret": _regrets}


def main(docs: Path, out: Path) -> int:
    """Write the site: python -m depthlaw.ledger.publish.site.pages DOCS OUT."""
    # One thread, as where claims are measured: what a picture computes anew rounds as it did there,
    # and trainings are found again, which are stored by their number of threads.
    os.environ.update(THREADS)
    gc.disable()  # in processes that end soon, and copy what the collector looks at
    workshop, store = out.parent / "_build", shipped()
    assert store is not None
    recorded = Recorded(registry(), store)
    written = write(docs, workshop / "source", recorded, os.cpu_count() or 1)
    print(f"{len(written)} pages, which Sphinx sets in a minute or two", flush=True)
    status = build(docs, workshop / "source", out)
    if status == 0:
        heads.write_sitemap(out)
    print(f"{'the site is' if status == 0 else 'nothing new'} in {out}")
    return status


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
