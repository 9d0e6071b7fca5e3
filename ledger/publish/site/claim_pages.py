"""The pages that are generated from claims and what is recorded of them: one for each claim, one
for each topic, the index, findings, what is most wanted, glossary; and the table of least
depths."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files

from sympy import Symbol

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.printing import definitions, latex, symbols
from depthlaw.theory.claims.symbols import TERMS
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.claims.withdrawn import withdrawn

from ...verdicts.citations import entries, sources
from ...verdicts.claim_set import claim_set, claim_sets
from ...verdicts.display import (
    expectation,
    judged as judged_by,
    measured_side,
    stated,
    statement_latex,
)
from ...verdicts.findings import TIERS, groups, importance, reason
from ...verdicts.shipped_answers import Ground
from ...verdicts.suite_verdicts import (
    NOT_RUN,
    VERDICT_NAMES,
    CaseResult,
    ClaimResult,
    marked,
    verdict_name,
)
from ..appendix.printed_claims import DATED, Statement, sign
from ..appendix.typesetting import code, factor, maths, pipe_table, prose, sentence, value, verdict
from .page_blocks import case_cells, compact, undecided

# Longer tables hide what matters; the file of data beside a claim holds every case.
MOST_CASES = 12
# Pages that no menu lists, of which there are hundreds: topics list them.
_UNLISTED = "---\norphan: true\n---\n"


def page(
    result: ClaimResult, ground: Ground, data: str = "", below: Sequence[ClaimResult] = ()
) -> str:
    """One claim: statement, source, conditions, verdict, what the verdict rests on, cases.

    Args:
        ground: what the verdict rests on.
        data: a sentence with a link to every case.
        below: the claims that support it.
    """
    return "\n".join(_page(result, ground, data, below)) + "\n"


def _page(
    result: ClaimResult, ground: Ground, data: str, below: Sequence[ClaimResult]
) -> Iterator[str]:
    claim = result.claim
    # Tabs of browsers and lists of search results have no formulas.
    yield f"{_UNLISTED}```{{title}} {claim.plain.entitled}\n```\n# {prose(claim.entitled)}\n"
    yield (
        f"{code(claim.key)} in [{claim.topic}](index.md). Verdict: "
        f"**{verdict(marked(result))}**{_as_known(result)}.\n"
    )
    if claim.post_hoc and result.measured:
        yield f"\\* Changed after data were seen: {_cited(claim.post_hoc)}\n"
    if claim.cited:
        yield f"{prose(claim.cited)}\n"
    elif claim.supports:
        yield f"Supports [{code(claim.supports)}](/claims/{claim.supports}.md).\n"
    yield f"$$\n{statement_latex(claim)}\n$$\n"
    if how := judged_by(claim):
        yield f"{prose(sentence(how[:1].upper() + how[1:]))}\n"
    yield f"{_cited(claim.text)}\n"
    if domain := Statement(result).domain:
        yield f"About {domain}.\n"
    yield from _terms(claim)
    if claim.note:
        yield f"{_cited(claim.note)}\n"
    yield from _facts(result, ground)
    yield "\n## What the verdict rests on\n"
    yield from _tree(ground)
    if below:
        yield "\n## Steps, parts and variations\n"
        yield from (
            f"- {link(r.claim)}, {prose(r.claim.entitled)}: **{verdict(marked(r))}**{_as_known(r)}"
            for r in below
        )
    yield from _cases(result, data)
    yield "\n## Do it again\n"
    yield (
        f"```console\n$ depthlaw show {claim.key}\n$ depthlaw why {claim.key}\n"
        f"$ depthlaw falsify {claim.key}\n$ depthlaw cite {claim.key}\n```"
    )


def _terms(claim: Claim) -> Iterator[str]:
    """What the statement's letters and names mean."""
    for term in definitions(claim.statement):
        yield f"Where {maths(term.latex)}{f' ({prose(term.meaning)})' if term.meaning else ''}.\n"
    for symbol in symbols(claim.statement):
        yield f"* {maths(latex(symbol))}: {prose(TERMS[symbol.name].meaning)}"
    yield ""


def _facts(result: ClaimResult, ground: Ground) -> Iterator[str]:
    claim = result.claim
    check = " (from memory: check against the paper)" if claim.wording == "recalled" else ""
    records = next((below for below in ground.below if below.kind == "records"), None)
    here = " (vacuous here)" if result.vacuous else ""
    for name, text in {
        "Source": f"{source(claim)}; wording: {claim.wording}{check}",
        "Kind": f"{claim.kind}; quantifier: {claim.holds_for}; weight: {claim.weight}",
        "Assumes": "; ".join(map(prose, claim.assumes)),
        "Expected": expectation(claim) if claim.known else "",
        "Cases": f"{len(result.decided)} of {len(result.in_scope)} decided, suite {result.suite}",
        "Records": records and f"{records.says}, manifest {code(records.name[:16])}",
        "Tightest slack": maths(tight) + here if (tight := factor(result.tightest)) else "",
    }.items():
        if text:
            yield f"{name}\n: {text}\n"


def source(claim: Claim) -> str:
    """Where a claim's statement stands, with its citation."""
    text = prose(str(claim.source))
    for key in sources(str(claim.source)):
        if key != "depthlaw":
            text = text.replace(key, f"{{cite:t}}`{key}`", 1)
    return text


def _cited(text: str) -> str:
    """Sentences whose keys of the bibliography become citations; empty for none."""

    def citation(match: re.Match[str]) -> str:
        return f"{{cite:t}}`{match[0]}`" if match[0] in entries() else match[0]

    return DATED.sub(citation, prose(sentence(text)))


def _key(claim: Claim) -> str:
    """The source of a claim, without the place."""
    key = claim.source.key
    return key if key == "depthlaw" else f"{{cite:t}}`{key}`"


# Of a tree: what the page says elsewhere, or `depthlaw why` prints.
_ELSEWHERE = ("statement", "cases", "changed", "record", "records", "assumption", "source")
_CALLED = {
    "reason": "Why this verdict",
    "attention": "Needs attention",
    "proof": "Argument",
    "formal proof": "Kernel",
    "reading": "To be read",
    "certificate": "Certificate",
    "premise": "Premise",
    "named": "Named by the source",
    "control": "Negative control",
}


def _tree(ground: Ground, level: int = 0) -> Iterator[str]:
    """What a verdict rests on, as a list of lists."""
    for below in ground.below:
        if below.kind in _ELSEWHERE:
            continue
        name = f" {code(below.name)}" if below.name else ""
        if below.kind in ("premise", "named"):
            name = f" [{code(below.name)}](/claims/{below.name}.md)"
        suffix = f" **{below.verdict}**" if below.verdict else ""
        called = f"{_CALLED[below.kind]}{name}: " if below.kind in _CALLED else ""
        yield f"{'  ' * level}- {called}{prose(below.says)}{suffix}"
        yield from _tree(below, level + 1)


def _cases(result: ClaimResult, data: str) -> Iterator[str]:
    yield "\n## Cases\n"
    if not any(row.records for row in result.cases):
        yield "Nothing is recorded for them."
        return
    left, rows = maths(latex(result.claim.statement.lhs)), _telling(result)
    yield pipe_table(
        f"case | {left} measured | {sign(result.claim)} stated | verdict",
        ((code(str(row.case)), *case_cells(result, row)) for row in rows),
    )
    if len(rows) < len(result.cases):
        yield f"\n{len(result.cases) - len(rows)} further cases are in the file below."
    yield f"\n{data}" if data else ""


def _telling(result: ClaimResult) -> list[CaseResult]:
    """Failures first, then the tightest and the undecided ones, in grid order."""
    order = [Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS, Verdict.OUT_OF_SCOPE]

    def rank(place: int) -> tuple[int, float]:
        decision = result.cases[place].decision
        return order.index(decision.verdict), decision.slack or 0.0

    ranked = sorted(range(len(result.cases)), key=rank)
    return [result.cases[place] for place in sorted(ranked[:MOST_CASES])]


# What the claims of a tier are called.
_TIERS = {
    "cited": (
        "cited claim",
        "Something outside depthlaw hangs on each verdict; the page says what.",
    ),
    "supporting": (
        "supporting claim",
        "Steps, conditions, parts and variations of a cited claim, which lists them.",
    ),
}


def index(judged: Sequence[ClaimResult], ledger: str) -> str:
    """The topics, with how many of their cited claims have which verdict, and how many others they
    hold."""
    cited = [r for r in judged if r.claim.tier == "cited"]
    words = [name for name in VERDICT_NAMES if any(verdict_name(r) == name for r in cited)]
    lines = [f"# Claims\n\n{ledger}.\n"]
    for tier in TIERS:
        own = [r for r in judged if r.claim.tier == tier]
        one, meaning = _TIERS[tier]
        if own:
            lines.append(f"* **{plural(len(own), one)}**: {_counted(own)}. {meaning}")
    lines.append("\nVerdicts of the cited claims, and how many others there are:\n")
    names, rows = list(dict.fromkeys(r.claim.topic for r in judged)), []
    for topic in names:
        counts = Counter(verdict_name(r) for r in cited if r.claim.topic == topic)
        others = sum(r.claim.tier == "supporting" for r in judged if r.claim.topic == topic)
        cells = (f"{n or ''}" for n in (*(counts[name] for name in words), others))
        rows.append((f"[{topic}]({topic}/index.md)", *cells))
    heading = " | ".join(["topic", *(f"{word}:" for word in (*words, "supporting"))])
    lines += [compact(pipe_table(heading, rows)), ""]
    lines += ["Claims of earlier versions: [what became of them](former.md)."]
    menu = "\n".join(["former", *(f"{topic}/index" for topic in names)])
    return "\n".join([*lines, "", f"```{{toctree}}\n:hidden:\n\n{menu}\n```", ""])


def former(judged: Sequence[ClaimResult]) -> str:
    """What became of every claim that a released set lists: where it went, or which verdict it had
    and has."""
    today = {r.claim.key: r for r in judged}
    lines = [
        "# What became of released claims\n",
        "A [claim set](/how-to/cite.md) that was released never changes. A key that it lists is "
        "never used for another claim: it names the same claim today, or says what that became.",
    ]
    for name in claim_sets():
        listed = claim_set(name).claims
        gone = [key for key in listed if key in withdrawn()]
        turned = [key for key in listed if key in today and _now(today[key]) != listed[key].verdict]
        lines += [
            f"\n## {name}\n",
            f"Of {len(listed)} claims {len(listed) - len(gone)} are here under the same key, "
            f"{len(listed) - len(gone) - len(turned)} of them with the same verdict.",
        ]
        then = {key: verdict(listed[key].verdict) for key in listed}
        if turned:
            now = ((link(today[key].claim), then[key], verdict(_now(today[key]))) for key in turned)
            lines += ["", pipe_table("claim | verdict then | now", now)]
        if gone:
            became = ((code(key), then[key], _went(key, today)) for key in gone)
            lines += ["", pipe_table("claim then | verdict then | what became of it", became)]
    return "\n".join(lines) + "\n"


def _now(result: ClaimResult) -> str:
    """Its verdict, as claim sets list it."""
    return verdict_name(result) if result.measured else NOT_RUN


def _went(key: str, today: Mapping[str, ClaimResult]) -> str:
    """Where a withdrawn claim's content is, with the verdicts of the claims that hold it."""

    def part(text: str) -> str:
        if text in today:
            return f"{link(today[text].claim)} ({verdict(_now(today[text]))})"
        return prose(text) if text.strip(" ,;:.") else text

    return "".join(map(part, re.split(r"\b([a-z_]+/[a-z0-9_]+)\b", withdrawn()[key])))


def topic_page(topic: str, judged: Sequence[ClaimResult], about: str) -> str:
    """The claims of one topic: each cited one with what supports it here; then what supports claims
    of other topics."""
    lines = [f"# {topic}\n", f"{about}\n"]
    here = {r.claim.key for r in judged}
    for tier in TIERS:
        own = [r for r in judged if r.claim.tier == tier and r.claim.supports not in here]
        if not own:
            continue
        heading, counts = "In support of claims of other topics", ""
        if tier == "cited":
            heading = "Cited"
            counts = f"{plural(len(own), _TIERS[tier][0])}: {_counted(own)}.\n"
        listed = []
        for r in own:
            under = (_row(s, "↳ ") for s in judged if s.claim.supports == r.claim.key)
            listed += [_row(r), *under]
        lines += [f"\n## {heading}\n", counts, pipe_table("claim | source | verdict", listed)]
    return "\n".join(lines) + "\n"


def _row(result: ClaimResult, before: str = "") -> tuple[str, str, str]:
    claim = result.claim
    why = f"<br>{prose(claim.cited)}" if claim.cited else ""
    if claim.supports and not before:
        why = f"<br>supports [{code(claim.supports)}](/claims/{claim.supports}.md)"
    return (
        f"{before}[{prose(claim.entitled)}]({claim.name}.md){why}",
        f"{_key(claim)}, {claim.wording}",
        f"{verdict(marked(result))}{_as_known(result)}",
    )


def _counted(judged: Iterable[ClaimResult]) -> str:
    counts = Counter(map(verdict_name, judged))
    return ", ".join(f"{counts[v]} {v}" for v in VERDICT_NAMES if counts[v])


def _as_known(result: ClaimResult) -> str:
    return " as known" if result.claim.awaited == result.verdict == "FAILS" else ""


def glossary(claims: Iterable[Claim]) -> str:
    """The symbols that the claims use, with how papers print them."""
    used = Counter(s.name for c in claims for s in c.statement.free_symbols)
    rows = (
        (maths(it.latex), f"{prose(it.meaning)} ({it.domain})", code(name), f"{used[name]}")
        for name, it in sorted(TERMS.items())
        if used[name]
    )
    title = "# Glossary\n\nEvery symbol of every statement, generated from the claims."
    return f"{title}\n\n{pipe_table('symbol | meaning | name in code | claims:', rows)}\n"


def findings(judged: Iterable[ClaimResult], ledger: str) -> str:
    """What fails, rests on what fails, is undecided, vacuous or conditional: cited claims first,
    and of these theorems before measurements."""
    lines = [
        f"# Findings\n\n{ledger}. Each entry links to its page; a counterexample is checked "
        "by running the claim again, or by `depthlaw recheck` where a certificate is named."
    ]
    for group in groups(judged):
        lines += [f"\n## {group.heading}\n", group.meaning if group.results else "None.", ""]
        for r in group.results:
            why = reason(r)
            why = f" {_cited(why[:1].upper() + why[1:])}" if why else ""
            called = "supporting " * (r.claim.tier != "cited") + r.claim.weight
            lines.append(
                f"- {link(r.claim)} ({called}; {_key(r.claim)}, "
                f"{r.claim.wording}): {_cited(r.claim.text)}{why} "
                f"{_cited(r.claim.note)}".rstrip()
            )
            if (worst := r.counterexample) and worst.measured is not None:
                left = f"{maths(latex(r.claim.statement.lhs))} measured"
                right = f"stated {prose(stated(r.claim, worst))}"
                measured = f"{left} {value(measured_side(r.claim, worst))}, {right}"
                lines.append(f"  Counterexample {code(str(worst.case))}: {measured}.")
    return "\n".join(lines) + "\n"


def most_wanted(judged: Sequence[ClaimResult], ledger: str) -> str:
    """What would settle the open claims: undecided ones, wordings from memory, arguments whose
    joints are prose."""
    words = {r.claim.key: verdict_name(r) for r in judged}

    def of(word: str, what: Callable[[ClaimResult], str]) -> list[tuple[ClaimResult, str]]:
        return [(r, what(r)) for r in judged if words[r.claim.key] == word]

    recalled = [
        (r, f"compare with {source(r.claim)}; the verdict here is {words[r.claim.key]}")
        for r in judged
        if r.claim.wording == "recalled"
    ]
    lines = ["# Most wanted\n", f"Open questions, and what would settle each. {ledger}."]
    for heading, meaning, claims in (
        (
            "Undecided",
            "Measured, and neither side is certain. What would decide each case, if mean "
            "and spread stayed as they are:",
            of(Verdict.UNDECIDED, _settled_by),
        ),
        (
            "Recalled wordings",
            "The statement was written down from memory. Somebody who has the "
            "source can settle whether it says so: compare the statement with the place named.",
            recalled,
        ),
        (
            "Argued, not proved",
            "Every algebraic step is confirmed by a machine; the joints are "
            "prose. A formal proof, or a careful reader, would settle it. What to read:",
            of(Verdict.ARGUED, lambda r: _cited(r.claim.rests_on)),
        ),
        (
            "Conditional",
            "Rests on what is itself neither proved nor argued.",
            of(Verdict.CONDITIONAL, lambda r: _cited(reason(r))),
        ),
    ):
        lines += [f"\n## {heading}\n", f"{len(claims)} claims. {meaning}\n"]
        for r, what in sorted(claims, key=lambda claim: importance(claim[0].claim)):
            lines.append(
                f"- **{prose(sentence(r.claim.entitled))}** {link(r.claim)}"
                f"{f': {sentence(what)}' if what else '.'}"
            )
    return "\n".join(lines) + "\n"


def _settled_by(result: ClaimResult) -> str:
    """What would decide an undecided claim; of theorems their notes say more."""
    more = result.claim.note if result.claim.weight in ("theorem", "step") else ""
    return _cited(f"{sentence('; '.join(undecided(result)))} {more}")


def link(claim: Claim) -> str:
    """A claim by its key, linked to its page."""
    return f"[{code(claim.key)}](/claims/{claim.key}.md)"


# --- least depths ---------------------------------------------------------------------------------


def least_depths() -> list[dict[str, str]]:
    """The rows of least_depth.csv, which says which claims speak of which task: task, nets, bound
    (lower, upper or exact; printed: an upper one that no claim checks, whose printed count the
    claim inverts; measured: what the claim measured, by the field of its cases that layers names),
    claim, and in layers the bound where the claim's statement is about something else.

    >>> least_depths()[0]["bound"]
    'exact'
    """
    text = (files(__package__) / "least_depth.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def least_depth(judged: Mapping[str, ClaimResult | None]) -> str:
    """The least depth of a task: for each kind of net what is known from below and from above, who
    says so, and what came of it. Two tables in Markdown, of statements about nets and of trainings;
    what is not recorded is left out."""
    pairs = [(row, r) for row in least_depths() if (r := judged[row["claim"]]) is not None]
    theory = [row for row in pairs if row[1].claim.weight != "measurement"]
    trained = [row for row in pairs if row not in theory]
    after = (
        "Trained nets, at the sizes, tasks and numbers of updates that were tried: what the "
        "best or the worst of our seeds reached, no bound for others."
    )
    return "\n\n".join([_bounds(theory), after, _bounds(trained)])


def _depths(result: ClaimResult, name: str) -> tuple[str, str]:
    """The least and the largest number of layers that a claim measured, over seeds and kinds of
    nets, for each value of a field of its cases."""
    measured: dict[int, list[Ball]] = {}
    for row in result.cases:
        if isinstance(row.measured, Ball):
            measured.setdefault(row.case.get(name), []).append(row.measured)
    at_ = f"at {maths(latex(Symbol(name)))} ="
    by_size = sorted(measured.items())
    least = (f"{int(min(ball.low for ball in balls))} {at_} {size}" for size, balls in by_size)
    most = (f"{int(max(ball.high for ball in balls))} {at_} {size}" for size, balls in by_size)
    return ", ".join(least), ", ".join(most)


def _bounds(rows: Iterable[tuple[dict[str, str], ClaimResult]]) -> str:
    cells = []
    for row, result in rows:
        claim = result.claim
        bound = prose(row["layers"]) or maths(latex(claim.statement.rhs))
        lower = bound if row["bound"] in ("lower", "exact") else "\u2013"
        upper = bound if row["bound"] in ("upper", "exact", "printed") else "\u2013"
        if row["bound"] == "measured":
            lower, upper = _depths(result, row["layers"])
        keys = [key for key in sources(str(claim.source)) if key != "depthlaw"]
        who = ", ".join(f"{{cite:t}}`{key}`" for key in keys)
        word = f"[{verdict(marked(result))}](/claims/{claim.key}.md)"
        if row["bound"] == "printed":
            who, word = f"{who}, printed", "not checked here"
        elif claim.source.key == "depthlaw":
            who = f"here, after {who}" if who else "here"
        else:
            who = f"{who}, {claim.wording}"
        cells.append((prose(row["task"]), prose(row["nets"]), lower, upper, who, word))
    return compact(pipe_table("task | nets | lower bound | upper bound | who | verdict", cells))
