"""The pages that are generated from claims and what is recorded of them: one for each claim, one
for each topic, the index, findings, glossary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.printing import definitions, latex, symbols
from depthlaw.theory.claims.rounding import interval as in_print
from depthlaw.theory.claims.symbols import TERMS
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.claims.withdrawn import withdrawn

from ...verdicts.citations import sources
from ...verdicts.claim_set import claim_set, claim_sets
from ...verdicts.display import (
    judged as judged_by,
    measured_side,
    stated,
    statement_latex,
)
from ...verdicts.estimates import CONFIDENCE, estimate, middle
from ...verdicts.failing_case import failing_instance
from ...verdicts.findings import TIERS, FindingKind, groups, reason
from ...verdicts.shipped_answers import Ground
from ...verdicts.suite_verdicts import (
    NOT_RUN,
    VERDICT_NAMES,
    CaseResult,
    ClaimResult,
    marked,
    verdict_name,
)
from ..appendix.printed_claims import Statement
from ..appendix.typesetting import (
    cite,
    code,
    maths,
    pipe_table,
    prose,
    sentence,
    template,
    told,
    value,
    verdict,
)
from ..tables import csv_text
from .page_blocks import undecided

# Words of a note that the page of a cited claim shows, and that of a step which does not hold;
# `depthlaw show` has all of it.
_NOTE, _SHORT_NOTE = 30, 20
# How the wording of a statement is known.
_WORDINGS = {
    "printed": "as printed",
    "reported": "as another text reports it",
    "recalled": "as recalled, not compared with the paper",
    "universal": "hardened here into a sentence about all instances",
}


def page(
    result: ClaimResult,
    ground: Ground,
    data: str = "",
    below: Sequence[ClaimResult] = (),
    above: Claim | None = None,
) -> str:
    """One claim: verdict and reason, why it matters, statement, source, the case that tells most;
    folded: notes, what the verdict rests on, cases.

    Args:
        ground: what the verdict rests on.
        data: a link to every case.
        below: the claims that support it.
        above: the claim that it supports.
    """
    claim = result.claim
    return template("claim.md", __package__).render(
        claim=claim,
        result=result,
        evidence=_evidence(result),
        why=_why(claim),
        above=above,
        statement=statement_latex(claim),
        how=judged_by(claim),
        here=_here(claim),
        source=source(claim),
        example=_example(result),
        below=below,
        note=_note(result),
        grounds=list(_grounds(result, ground)),
        data=data,
        marked=marked,
        link=link,
    )


def _evidence(result: ClaimResult) -> str:
    """What the verdict rests on, in a line: premises that are not proved first."""
    said = Statement(result).evidence.removeprefix("proved ")
    if verdict_name(result) == Verdict.CONDITIONAL:
        on = ", ".join(result.weak) or "a condition in its own statement"
        return f"rests on {prose(on)}, not proved; {said}"
    return said


def _why(claim: Claim) -> str:
    """What hangs on the verdict of a cited claim, as a sentence."""
    if not re.match("Decides|Bears|Sets", claim.cited):
        return claim.cited
    return f"The verdict {claim.cited[0].lower()}{claim.cited[1:]}"


def _note(result: ClaimResult) -> str:
    """What is said of a claim beyond its statement, briefly; of a step that holds nothing."""
    claim = result.claim
    short = claim.tier == "supporting"
    if short and result.verdict not in (Verdict.FAILS, Verdict.UNDECIDED):
        return ""
    return first_sentences(claim.note, _SHORT_NOTE if short else _NOTE)


def first_sentences(text: str, words: int) -> str:
    """The first sentences of a text, at most so many words of them, but one at least.

    >>> first_sentences("It holds. For $n = 2$. It is not about 3.", 6)
    'It holds. For $n = 2$.'
    """
    kept = ""
    for part in re.split(r"(?<=[^.]{3}[.?!]) (?=[A-Z$])", text):
        if kept and len(f"{kept} {part}".split()) > words:
            break
        kept = f"{kept} {part}".strip()
    return kept


def _here(claim: Claim) -> list[str]:
    """What stands behind the letters of a statement, briefly; the glossary says more."""
    made = [
        maths(it.latex) + (f" ({prose(_brief(it.meaning))})" if it.meaning else "")
        for it in definitions(claim.statement)
    ]
    # The words of a step say what it is about; what is measured, they may not.
    of = claim.statement if claim.tier == "cited" else claim.statement.lhs
    named = ((latex(s), TERMS[s.name].meaning) for s in symbols(of))
    return [*made, *(f"{maths(letter)}: {_cited(_brief(it))[:-1]}" for letter, it in named)]


def _brief(meaning: str) -> str:
    """The first part of the meaning of a symbol."""
    return re.split(r"[;:] ", meaning)[0]


def source(claim: Claim) -> str:
    """Where a claim's statement is from, with its citation, and how its wording is known."""
    # A step is of the same version as the claim that it supports.
    of = claim.source if claim.tier == "cited" else replace(claim.source, version="")
    text = prose(str(of))
    for key in sources(str(claim.source)):
        if key != "depthlaw":
            text = text.replace(key, cite(key), 1)
    if claim.wording != "derived":
        return f"Source: {text}; {_WORDINGS[claim.wording]}"
    own = re.sub(r"^depthlaw(, |$)", "", text).removesuffix("; derived here")
    if own == text.removesuffix("; derived here"):
        own = f"after {own}"
    return f"Derived here{', ' if own else ''}{own}"


def _example(result: ClaimResult) -> str:
    """A counterexample, or else the case whose two sides come nearest to each other."""
    said = Statement(result)
    if failing := failing_instance(result):
        return f"**Counterexample**: {prose(str(failing))}."
    rows = [row for row in result.decided if row.measured is not None and row.records]
    slacks = [row.decision.slack or 0.0 for row in rows]
    meet = all(row.decision.slack == 0 for row in rows)
    settled = verdict_name(result) in (Verdict.PROVED, Verdict.ARGUED)
    # A step that is proved, or whose sides meet everywhere, says so above.
    if not rows or (result.claim.tier == "supporting" and (settled or meet)):
        return ""
    # Where no case is nearer than another, the largest says most.
    row = rows[slacks.index(min(slacks))] if any(slacks) else rows[-1]
    of = f"{'Tightest' if any(slacks) else 'One'} of {plural(len(rows), 'case')}"
    called = of if len(rows) > 1 else "The one case"
    return f"**{called}**, {said.place(row.case)}: {_sides(result, row)}."


def _sides(result: ClaimResult, row: CaseResult) -> str:
    """Measured, with the interval of an estimate, and stated, of one case."""
    left = maths(latex(result.claim.statement.lhs))
    measured, found = measured_side(result.claim, row), estimate(result, row)
    ends = ""
    if re.fullmatch(r"-?\d+/\d{5,}", measured):
        measured = f"{float(Fraction(measured)):.6g}"
    if found and found.ends:
        measured = middle(found.value)
        ends = f" ({CONFIDENCE} interval {value(in_print(*found.ends))})"
    return f"{left} is {value(measured)}{ends}, stated {prose(stated(result.claim, row))}"


_cited = partial(told, citation=cite)


def _grounds(result: ClaimResult, ground: Ground) -> Iterator[str]:
    """What the verdict rests on, a line each."""
    claim = result.claim
    kinds: dict[str, list[Ground]] = {}
    for it in ground.below:
        kinds.setdefault(it.kind, []).append(it)
    if claim.post_hoc and result.measured:
        changed = first_sentences(claim.post_hoc, _SHORT_NOTE)
        yield f"\\* Changed after data were seen: {_cited(changed)}"
    yield from (f"Needs attention: {_cited(it.says)}" for it in kinds.get("attention", ()))
    if claim.assumes:
        yield f"Assumes {sentence('; '.join(map(prose, claim.assumes)))}"
    if domain := Statement(result).domain:
        yield f"About {domain}."
    if claim.formal:
        less = not claim.formal.informal.startswith("Nothing")
        part = f" Not formal: {_cited(claim.formal.informal)}" if less else ""
        yield f"Theorem {code(claim.formal.theorem)}.{part}"
    if claim.rests_on and claim.tier == "cited":
        yield f"Argument: {_cited(claim.rests_on.removeprefix('Argument: '))}"
    if certificates := kinds.get("certificate"):
        first, rest = certificates[0], len(certificates) - 1
        more = f" {plural(rest, 'further certificate')} of this form." if rest else ""
        yield f"Certificate {code(first.name)}: {_cited(first.says)}{more}"
    if premises := kinds.get("premise", []):
        named = (
            f"{verdict(it.verdict)} [{prose(it.says)}](/claims/{it.name}.md)" for it in premises
        )
        yield f"Rests on {'; '.join(named)}."
    yield from islice(map(_cited, undecided(result)), 1)
    if claim.known and claim.weight == "measurement" and claim.wording == "derived":
        yield f"Expected before it was measured: {claim.expected}."
    # One that fails, as it must, is no news.
    for it in kinds.get("control", ()):
        if it.verdict != Verdict.FAILS:
            yield f"Negative control, {prose(it.says)}: {verdict(it.verdict)}."


def _key(claim: Claim) -> str:
    """The source of a claim, without the place."""
    key = claim.source.key
    return key if key == "depthlaw" else cite(key)


def index(judged: Sequence[ClaimResult], ledger: str) -> str:
    """The topics, with how many of their cited claims have which verdict, and how many others they
    hold."""
    topics, rows = list(dict.fromkeys(r.claim.topic for r in judged)), []
    for topic in topics:
        own = [r for r in judged if r.claim.topic == topic]
        cited, others = ([r for r in own if r.claim.tier == tier] for tier in TIERS)
        rows.append(
            (f"[{topic.replace('_', ' ')}]({topic}/index.md)", _counted(cited), f"{len(others)}")
        )
    return template("claims.md", __package__).render(
        ledger=ledger,
        cited=[r for r in judged if r.claim.tier == "cited"],
        supporting=[r for r in judged if r.claim.tier == "supporting"],
        counted=_counted,
        table=pipe_table("topic | cited claims | supporting:", rows),
        topics=topics,
    )


def every(judged: Iterable[ClaimResult]) -> str:
    """All claims with their verdicts, as CSV."""
    heading = "claim,title,tier,source,wording,verdict,cases,decided"
    rows = (
        (
            r.claim.key,
            r.claim.plain.entitled,
            r.claim.tier,
            str(r.claim.source),
            r.claim.wording,
            marked(r),
            len(r.in_scope),
            len(r.decided),
        )
        for r in judged
    )
    return csv_text(heading.split(","), rows)


def former(judged: Sequence[ClaimResult]) -> str:
    """What became of every claim that a released set lists, where its verdict is another one today
    or it is gone, as CSV: where it went, or which verdict it had and has."""
    today = {r.claim.key: r for r in judged}
    rows = []
    for name in claim_sets():
        for key, listed in claim_set(name).claims.items():
            if key in withdrawn():
                rows.append((name, key, listed.verdict, "", _went(key, today)))
            elif key in today and _now(today[key]) != listed.verdict:
                rows.append((name, key, listed.verdict, _now(today[key]), ""))
    return csv_text(("claim set", "claim", "verdict then", "verdict now", "became"), rows)


def _now(result: ClaimResult) -> str:
    """Its verdict, as claim sets list it."""
    return verdict_name(result) if result.measured else NOT_RUN


def _went(key: str, today: Mapping[str, ClaimResult]) -> str:
    """Where a withdrawn claim's content is, with the verdicts of the claims that hold it."""

    def part(named: re.Match[str]) -> str:
        there = today.get(named[0])
        return f"{named[0]} ({_now(there)})" if there else named[0]

    return re.sub(r"\b[a-z_]+/[a-z0-9_]+\b", part, withdrawn()[key])


def topic_page(topic: str, judged: Sequence[ClaimResult], about: str) -> str:
    """The cited claims of one topic, whose pages list what supports them; then what supports claims
    of other topics."""
    lines = [f"# {topic.replace('_', ' ')}\n", f"{about}\n"]
    here = {r.claim.key for r in judged}
    if cited := [r for r in judged if r.claim.tier == "cited"]:
        below = sum(r.claim.supports in here for r in judged)
        steps = f" Their pages list {plural(below, 'step')}." if below else ""
        lines += [f"{plural(len(cited), 'cited claim')}: {_counted(cited)}.{steps}\n", _rows(cited)]
    supporting = (r for r in judged if r.claim.tier == "supporting")
    if elsewhere := [r for r in supporting if r.claim.supports not in here]:
        lines += ["\n## In support of claims of other topics\n", _rows(elsewhere)]
    return "\n".join(lines) + "\n"


def _rows(judged: Sequence[ClaimResult]) -> str:
    cells = []
    for result in judged:
        claim = result.claim
        who = "" if claim.source.key == "depthlaw" else f", {_key(claim)}"
        title = f"[{prose(claim.entitled)}](/claims/{claim.key}.md)"
        cells.append((verdict(marked(result)), f"{title}{who}"))
    return pipe_table("verdict | claim", cells)


def _counted(judged: Iterable[ClaimResult]) -> str:
    counts = Counter(map(verdict_name, judged))
    return ", ".join(f"{counts[v]} {v}" for v in VERDICT_NAMES if counts[v])


def glossary(claims: Iterable[Claim]) -> str:
    """The symbols of cited claims that another claim uses too, by the topic that uses them most."""
    by_topic: dict[str, list[tuple[str, str]]] = {}
    for name, of in sorted(_users(claims).items()):
        if len(of) > 1 and any(claim.tier == "cited" for claim in of):
            (topic, _), *_ = Counter(claim.topic for claim in of).most_common(1)
            it = TERMS[name]
            by_topic.setdefault(topic, []).append((maths(it.latex), _cited(it.meaning)[:-1]))
    parts = [
        f"## {topic.replace('_', ' ')}\n\n{pipe_table('symbol | meaning', rows)}\n"
        for topic, rows in sorted(by_topic.items())
    ]
    title = "# Glossary\n\nLetters that two claims or more share, one of them cited"
    return "\n".join([f"{title}; [every letter](/data/symbols.csv).\n", *parts])


def every_symbol(claims: Iterable[Claim]) -> str:
    """The symbols that the claims use, with how papers print them, as CSV."""
    rows = (
        (TERMS[name].latex, TERMS[name].meaning, TERMS[name].domain, name, len(of))
        for name, of in sorted(_users(claims).items())
    )
    return csv_text(("symbol", "meaning", "domain", "name in code", "claims"), rows)


def _users(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """The claims that use each symbol, by its name."""
    used: dict[str, list[Claim]] = {}
    for claim in claims:
        for symbol in claim.statement.free_symbols:
            if symbol.name in TERMS:
                used.setdefault(symbol.name, []).append(claim)
    return used


# Groups of which the page of findings gives only the number.
_COUNTED = {
    FindingKind.FAILS_AS_OURS: "failing statements of our own",
    FindingKind.IN_PART: "claims decided in only some cases",
}


def findings(judged: Iterable[ClaimResult], ledger: str) -> str:
    """What fails, rests on what fails, is undecided, vacuous or conditional, a line each: cited
    claims first, and of these theorems before measurements."""
    lines = [f"# Findings\n\n{ledger}. Each line links to its claim."]
    found = {group.heading: group for group in groups(judged)}
    counts = [f"{len(found[kind].results)} {words}" for kind, words in _COUNTED.items()]
    lines += [f"Not listed: {' and '.join(counts)} ([all claims](/data/claims.csv))."]
    for kind, group in found.items():
        if kind not in _COUNTED and group.results:
            lines += [f"\n## {group.heading}\n", group.meaning, ""]
            lines += map(_finding, group.results)
    return "\n".join(lines) + "\n"


def _finding(result: ClaimResult) -> str:
    """A claim in a line: verdict, sentence, source, and the instance or reason that tells why."""
    claim = result.claim
    who = "" if claim.source.key == "depthlaw" else f", {_key(claim)}"
    line = (
        f"- **{verdict(marked(result))}** [{prose(claim.entitled)}](/claims/{claim.key}.md){who}."
    )
    if failing := failing_instance(result):
        return f"{line} Counterexample: {prose(str(failing))}."
    why = next(undecided(result), "") if result.undecided else reason(result)
    return f"{line} {_cited(why[:1].upper() + why[1:])}" if why else line


def link(claim: Claim) -> str:
    """A claim by its key, linked to its page."""
    return f"[{code(claim.key)}](/claims/{claim.key}.md)"
