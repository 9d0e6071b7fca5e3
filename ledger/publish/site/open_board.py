"""The board of open questions: each open row of the atlas with how to answer it, how to dispute a
verdict, texts to send to authors whose printed sentence fails, and what a reader could settle."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.verdict import Verdict

from ...address import address
from ...verdicts.citations import reference
from ...verdicts.failing_case import failing_instance
from ...verdicts.findings import importance
from ...verdicts.suite_verdicts import ClaimResult, marked, verdict_name
from ..appendix.typesetting import cite, prose, template
from .claim_pages import link
from .open_questions import OpenQuestion, questions

# Where files lie below the folder of the site's sources, and below the site itself.
FILES, NOTICES = "data/open", "data/notices"
# How many claims a reader is asked to settle, of each of the two kinds.
_FOR_READERS = 5


def write(judged: Sequence[ClaimResult], out: Path) -> str:
    """Write the files of the board below `out`, and return its page.

    Cost: below a second.
    """
    asked, notices = questions(), printed_failures(judged)
    for name, text in (files(asked) | notice_files(notices)).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
    ordered = sorted(judged, key=lambda r: importance(r.claim))
    recalled = sorted(
        (r for r in ordered if r.claim.wording == "recalled"),
        key=lambda r: r.verdict is not Verdict.FAILS,
    )
    argued = [r for r in ordered if verdict_name(r) == Verdict.ARGUED]
    return template("open_board.md", __package__).render(
        questions=asked,
        by_machine=[q for q in asked if files([q])],
        by_reader=[q for q in asked if not files([q])],
        row=_row,
        notices=[(r, f"/{NOTICES}/{_file_name(r)}.txt") for r in notices],
        recalled=recalled[:_FOR_READERS],
        argued=argued[:_FOR_READERS],
        link=link,
        place=lambda claim: f"{cite(claim.source.key)}, {prose(_place(claim))}",
        marked=marked,
    )


def files(asked: Iterable[OpenQuestion]) -> dict[str, str]:
    """The file of a net, and that of a theorem, of each question that has one, by path."""
    made: dict[str, str] = {}
    for question in asked:
        if net := question.file():
            made[f"{FILES}/{question.name}.json"] = net
        if question.theorem:
            made[f"{FILES}/{question.name}.v"] = question.theorem.file(question.name)
    return made


def words_of(question: OpenQuestion) -> str:
    """A question in one or two sentences of Markdown, with formulas."""
    task, class_ = question.row.task, question.row.class_
    what = f"[{prose(task.name)}](/tasks/{task.key}.md), {prose(class_.name)}"
    return f"**{what}.** {prose(question.fewer)}, or {prose(question.more)}."


def _row(question: OpenQuestion) -> str:
    kinds = {"json": "net", "v": "theorem"}
    there = [name.rpartition(".")[2] for name in files([question])]
    links = "".join(f" [{kinds[end]}](/{FILES}/{question.name}.{end})" for end in there)
    return f"- {words_of(question)} `{question.name}`{links}"


def printed_failures(judged: Iterable[ClaimResult]) -> list[ClaimResult]:
    """The claims whose sentence was read in its source, and fails."""
    return [r for r in judged if r.verdict is Verdict.FAILS and r.claim.wording == "printed"]


def notice_files(failures: Iterable[ClaimResult]) -> dict[str, str]:
    """A text for the authors of each sentence, ready to send, by path."""
    return {f"{NOTICES}/{_file_name(r)}.txt": _notice(r) for r in failures}


def _file_name(result: ClaimResult) -> str:
    return result.claim.key.replace("/", "-")


def _notice(result: ClaimResult) -> str:
    claim, plain = result.claim, result.claim.plain
    place = _place(claim)
    parts = [
        f"Subject: A counterexample to a sentence of {claim.source.key} ({place})",
        f"To the authors of {reference(claim.source.key)}",
        f"We read the following sentence in your work ({place}). In our words:",
        _indented(readable(plain.text)),
        "The sentence fails as we read it. This instance shows it:",
        "\n".join(_indented(f"{name}: {readable(text)}") for name, text in _parts(result)),
        "These commands measure it again and print everything that we know of it:",
        f"    depthlaw verify {result.suite} --only {claim.key}\n"
        f"    depthlaw show {claim.key} --all",
        *([f"Its page: {site}claims/{claim.key}.html"] if (site := address().site) else []),
        *([readable(plain.note)] if plain.note else []),
        "If we misread the sentence, please tell us where. We will then correct the claim, and "
        "list the correction with its verdict.",
    ]
    return "\n\n".join(part if "    " in part else textwrap.fill(part, 72) for part in parts) + "\n"


def _parts(result: ClaimResult) -> Iterator[tuple[str, str]]:
    if found := failing_instance(result):
        yield from (("input", found.asked), ("expected", found.expected), ("got", found.got))


def _place(claim: Claim) -> str:
    """Where a sentence is in its source, without the source."""
    return ", ".join(filter(None, (claim.source.version, claim.source.place)))


def _indented(text: str) -> str:
    return textwrap.fill(text, 72, initial_indent="    ", subsequent_indent="    ")
