"""The pages that are generated from claims and what is recorded of them: one for each claim, one
for each topic, the index, findings, glossary; and the table of least depths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from sympy import Symbol

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.printing import definitions, latex, symbols
from depthlaw.theory.claims.symbols import TERMS
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.claims.withdrawn import withdrawn

from ...verdicts.citations import sources
from ...verdicts.claim_set import claim_set, claim_sets
from ...verdicts.display import (
    expectation,
    judged as judged_by,
    measured_side,
    stated,
    statement_latex,
)
from ...verdicts.findings import TIERS, groups, reason
from ...verdicts.shipped_answers import Ground
from ...verdicts.suite_verdicts import (
    NOT_RUN,
    VERDICT_NAMES,
    CaseResult,
    ClaimResult,
    marked,
    verdict_name,
)
from ..appendix.printed_claims import Statement, sign
from ..appendix.typesetting import (
    cite,
    code,
    factor,
    maths,
    pipe_table,
    prose,
    template,
    told,
    value,
    verdict,
)
from ..tables import csv_rows
from .page_blocks import case_cells, compact

# Longer tables hide what matters; the file of data beside a claim holds every case.
MOST_CASES = 12


def page(
    result: ClaimResult, ground: Ground, data: str = "", below: Sequence[ClaimResult] = ()
) -> str:
    """One claim: statement, source, conditions, verdict, what the verdict rests on, cases.

    Args:
        ground: what the verdict rests on.
        data: a sentence with a link to every case.
        below: the claims that support it.
    """
    claim, cases, table = result.claim, _telling(result), ""
    if any(row.records for row in result.cases):
        left = maths(latex(claim.statement.lhs))
        rows = ((code(str(row.case)), *case_cells(result, row)) for row in cases)
        table = pipe_table(f"case | {left} measured | {sign(claim)} stated | verdict", rows)
    return template("claim.md", __package__).render(
        claim=claim,
        result=result,
        statement=statement_latex(claim),
        how=judged_by(claim),
        domain=Statement(result).domain,
        definitions=definitions(claim.statement),
        symbols=[(latex(s), TERMS[s.name].meaning) for s in symbols(claim.statement)],
        facts=_facts(result, ground),
        tree=_tree(ground),
        below=below,
        table=table,
        further=len(result.cases) - len(cases),
        data=data,
        marked=marked,
        as_known=_as_known,
        link=link,
    )


def _facts(result: ClaimResult, ground: Ground) -> dict[str, str]:
    claim = result.claim
    check = " (from memory: check against the paper)" if claim.wording == "recalled" else ""
    records = next((below for below in ground.below if below.kind == "records"), None)
    here = " (vacuous here)" if result.vacuous else ""
    return {
        "Source": f"{source(claim)}; wording: {claim.wording}{check}",
        "Kind": f"{claim.kind}; quantifier: {claim.holds_for}; weight: {claim.weight}",
        "Assumes": "; ".join(map(prose, claim.assumes)),
        "Expected": expectation(claim) if claim.known else "",
        "Cases": f"{len(result.decided)} of {len(result.in_scope)} decided, suite {result.suite}",
        "Records": f"{records.says}, manifest {code(records.name[:16])}" if records else "",
        "Tightest slack": maths(tight) + here if (tight := factor(result.tightest)) else "",
    }


def source(claim: Claim) -> str:
    """Where a claim's statement stands, with its citation."""
    text = prose(str(claim.source))
    for key in sources(str(claim.source)):
        if key != "depthlaw":
            text = text.replace(key, cite(key), 1)
    return text


def _key(claim: Claim) -> str:
    """The source of a claim, without the place."""
    key = claim.source.key
    return key if key == "depthlaw" else cite(key)


_cited = partial(told, citation=cite)
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


def _telling(result: ClaimResult) -> list[CaseResult]:
    """Failures first, then the tightest and the undecided ones, in grid order."""
    order = [Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS, Verdict.OUT_OF_SCOPE]

    def rank(place: int) -> tuple[int, float]:
        decision = result.cases[place].decision
        return order.index(decision.verdict), decision.slack or 0.0

    ranked = sorted(range(len(result.cases)), key=rank)
    return [result.cases[place] for place in sorted(ranked[:MOST_CASES])]


def index(judged: Sequence[ClaimResult], ledger: str) -> str:
    """The topics, with how many of their cited claims have which verdict, and how many others they
    hold."""
    cited = [r for r in judged if r.claim.tier == "cited"]
    words = [name for name in VERDICT_NAMES if any(verdict_name(r) == name for r in cited)]
    topics, rows = list(dict.fromkeys(r.claim.topic for r in judged)), []
    for topic in topics:
        counts = Counter(verdict_name(r) for r in cited if r.claim.topic == topic)
        others = sum(r.claim.tier == "supporting" for r in judged if r.claim.topic == topic)
        cells = (f"{n or ''}" for n in (*(counts[name] for name in words), others))
        rows.append((f"[{topic}]({topic}/index.md)", *cells))
    heading = " | ".join(["topic", *(f"{word}:" for word in (*words, "supporting"))])
    return template("claims.md", __package__).render(
        ledger=ledger,
        cited=cited,
        supporting=[r for r in judged if r.claim.tier == "supporting"],
        counted=_counted,
        table=compact(pipe_table(heading, rows)),
        topics=topics,
    )


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
            counts = f"{plural(len(own), 'cited claim')}: {_counted(own)}.\n"
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
            called = ("" if r.claim.tier == "cited" else "supporting ") + r.claim.weight
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
    return csv_rows(__package__, "least_depth.csv")


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
        who = ", ".join(map(cite, keys))
        word = f"[{verdict(marked(result))}](/claims/{claim.key}.md)"
        if row["bound"] == "printed":
            who, word = f"{who}, printed", "not checked here"
        elif claim.source.key == "depthlaw":
            who = f"here, after {who}" if who else "here"
        else:
            who = f"{who}, {claim.wording}"
        cells.append((prose(row["task"]), prose(row["nets"]), lower, upper, who, word))
    return compact(pipe_table("task | nets | lower bound | upper bound | who | verdict", cells))
