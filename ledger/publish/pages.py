"""The generated part of docs/: a page per claim, the glossary, the findings, the mutations. Run `make docs`.

Everything is written from the claims and from the records of one suite; no number is typed by hand.
"""
from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from depthlaw.theory.claim import Claim, registry
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.symbols import latex, term

from ..cli import terminal
from ..cli.commands import open_store
from ..run.frontier import BELOW, KEY, Entry, entries, standing
from ..run.records import Store, manifest
from ..run.suite import plan
from ..verdicts.findings import groups, reason
from ..verdicts.mutation import Mutant, mutate
from ..verdicts.reference import shipped
from ..verdicts.report import VERDICT_NAMES, CaseResult, ClaimResult, results, verdict_name
from . import figures, trainings
from .typesetting import md, md_code, md_math, sentence

# Longer tables hide what matters; the records hold every case.
MOST_CASES = 12


def write(docs: Path, store: Store, suite: str) -> list[Path]:
    """Write the generated pages and return their paths. The same records give the same bytes."""
    claims = registry()
    judged = results(claims, suite, store)
    runs = [r for run in plan(claims, suite) if (r := store.get(run.id))]
    hash_ = str(manifest(runs)["hash"])
    pages = {docs / "claims" / f"{r.claim.key}.md": page(r, suite) for r in judged}
    pages[docs / "claims" / "README.md"] = index(judged, suite, hash_)
    pages[docs / "glossary.md"] = glossary(list(claims.values()))
    pages[docs / "findings.md"] = findings(judged, suite, hash_)
    pages[docs / "mutations.md"] = mutations([(r, mutate(r)) for r in judged], suite, hash_)
    stale = set((docs / "claims").rglob("*.md")) - set(pages)
    for path in stale:
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sorted(pages)


BEGIN, END = "<!-- begin: frontier table -->", "<!-- end -->"


def write_frontier(docs: Path, store: Store) -> Path | None:
    """Write the table of exact values into separation-rank.md and draw it, from records of suite frontier; None where there are none."""
    claims = registry()
    judged = results({key: claims[key] for key in (KEY, BELOW)}, "frontier", store)
    found = sorted((e for result in judged for e in entries(result, claims)), key=lambda e: (e.width, e.depth))
    file, text = docs / "separation-rank.md", (docs / "separation-rank.md").read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not found or not begin or not end:
        return None
    (docs / "figures").mkdir(exist_ok=True)
    figures.frontier(found, docs / "figures")
    file.write_text("".join([before, BEGIN, "\n", *_frontier_table(found), END, after]), encoding="utf-8")
    return file


def _frontier_table(found: list[Entry]) -> Iterator[str]:
    yield "| $d_x$ | $L$ | sep | $S(d_x,L)$ | | operations | time of all pieces | largest process | lower bound | upper bound |\n"
    yield "|---|---|--:|--:|---|--:|--:|--:|---|---|\n"
    for e in found:
        value, state = (str(e.rank), "exact") if e.settled else (f"≥ {e.rank}", "bound" if e.complete else f"{e.done} of {e.pieces} pieces")
        yield (f"| {e.width} | {e.depth} | {value} | {e.count} | {state} | {e.operations:.1e} | {terminal.duration(e.seconds)} "
               f"| {e.peak_bytes / 2**30:.1f} GB | {standing(e, 'lower')} | {standing(e, 'upper')} |\n")


def page(result: ClaimResult, suite: str) -> str:
    """One claim: statement, wording, source, conditions, verdict, cases."""
    return "\n".join(_page(result, suite)) + "\n"


def _page(result: ClaimResult, suite: str) -> Iterator[str]:
    claim = result.claim
    yield f"# {md(claim.title)}\n"
    yield f"`{claim.key}`\n"
    yield f"{md_math(latex(claim.statement))}\n"
    yield f"{md(sentence(claim.text))}\n"
    symbols = sorted(claim.statement.free_symbols, key=lambda s: s.name)
    yield "; ".join(f"{md_math(latex(s))}: {md(term(s.name).meaning)}" for s in symbols) + ".\n"
    yield "| | |\n|---|---|"
    yield f"| source | {md(str(claim.source))} |"
    yield f"| wording | {claim.wording}{' (from memory: check against the paper)' if claim.wording == 'recalled' else ''} |"
    yield f"| kind | {claim.kind}, quantifier: {claim.holds_for} |"
    if claim.assumes:
        yield f"| assumes | {'; '.join(md(name) for name in claim.assumes)} |"
    yield f"| verdict | **{verdict_name(result)}**{' as known' if claim.awaited == 'FAILS' and result.verdict == 'FAILS' else ''} |"
    if claim.known:
        yield f"| expected | {claim.expected} before anything was measured; known since: {claim.known} |"
    if claim.rests_on:
        yield f"| rests on | {md(claim.rests_on)} |"
    for key, found in result.premises.items():
        yield f"| premise | [{md(key)}](../{key}.md): {found} |"
    yield f"| cases | {len(result.decided)} of {len(result.in_scope)} decided, suite {suite} |"
    if result.tightest is not None:
        yield f"| tightest slack | {md(terminal.slack(result.tightest, vacuous=result.vacuous))} |"
    control = result.control.decision.verdict.value if result.control else "not run"
    yield f"| negative control | {md(claim.control.why)}: {control} |"
    if claim.note:
        yield f"\n{md(sentence(claim.note))}"
    if result.proof:
        yield "\n## Machine-checked argument\n"
        for place, step in enumerate(result.proof, 1):
            yield f"{place}. {md(step.says)} **{'confirmed' if step.holds else 'not confirmed'}**"
    yield from _cases(result)


def _cases(result: ClaimResult) -> Iterator[str]:
    yield "\n## Cases\n"
    sides = f"{md_math(latex(result.claim.statement.lhs))} measured | {md(result.claim.statement.rel_op)} stated"
    yield f"| case | {sides} | verdict |\n|---|---|---|---|"
    shown = _telling(result)
    for row in shown:
        predicted = terminal.prediction(result.claim, row)
        verdict = row.verdict_name + (f": {md(row.decision.reason)}" if row.decision.reason else "")
        yield f"| {md_code(str(row.case))} | {md(terminal.measured_side(result.claim, row))} | {md(predicted)} | {verdict} |"
    if len(shown) < len(result.cases):
        yield f"\n{len(result.cases) - len(shown)} further cases are in the records."


def _telling(result: ClaimResult) -> list[CaseResult]:
    """Failures first, then the tightest and the undecided ones, in grid order."""
    order = [Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS, Verdict.OUT_OF_SCOPE]
    ranked = sorted(enumerate(result.cases), key=lambda c: (order.index(c[1].decision.verdict),
                                                            c[1].decision.slack if c[1].decision.slack is not None else 0.0))
    return [row for _, row in sorted(ranked[:MOST_CASES], key=lambda c: c[0])]


def index(judged: list[ClaimResult], suite: str, hash_: str) -> str:
    """The table of all claims."""
    counts = Counter(verdict_name(r) for r in judged)
    total = ", ".join(f"{counts[v]} {v}" for v in VERDICT_NAMES if counts[v])
    lines = ["# Claims\n", f"{len(judged)} claims, suite {suite}: {total}.", f"Records: manifest `{hash_}`.\n"]
    for stem in topics():
        lines += [f"## {stem}\n", "| claim | says | wording | verdict |", "|---|---|---|---|"]
        lines += [f"| [{r.claim.key.partition('/')[2]}]({r.claim.key}.md) | {md(r.claim.title)} | {r.claim.source.key}, {r.claim.wording} "
                  f"| {verdict_name(r)}{' as known' if r.claim.awaited == 'FAILS' and r.verdict == 'FAILS' else ''} |"
                  for r in judged if r.claim.topic == stem]
        lines.append("")
    return "\n".join(lines)


def glossary(claims: list[Claim]) -> str:
    """The symbols that the claims use, with how papers print them."""
    used = Counter(s.name for c in claims for s in c.statement.free_symbols)
    lines = ["# Glossary\n", "Every symbol of every statement, generated from the claims.\n",
             "| symbol | name in code | meaning | domain | claims |", "|---|---|---|---|---:|"]
    for name, term_ in TERMS.items():
        if used[name]:
            lines.append(f"| {md_math(term.latex)} | `{name}` | {md(term.meaning)} | {term.domain} | {used[name]} |")
    return "\n".join(lines) + "\n"


def findings(judged: list[ClaimResult], suite: str, hash_: str) -> str:
    """What fails, rests on what fails, is undecided, vacuous or conditional: theorems first, the arithmetic of printed numbers last."""
    lines = ["# Findings\n", f"Generated from the records of suite {suite}, manifest `{hash_}`.",
             "Each entry links to its page; a counterexample is re-checked by running the claim again, or by",
             "`depthlaw recheck` where a certificate is named."]
    for group in groups(judged):
        lines += [f"\n## {group.heading}\n", group.meaning if group.results else "None.", ""]
        for r in group.results:
            why = reason(r)
            why = f" {md(sentence(why[:1].upper() + why[1:]))}" if why else ""
            lines.append(f"- {_link(r)} ({r.claim.weight}; {r.claim.source.key}, {r.claim.wording}): {md(sentence(r.claim.text))}{why} "
                         f"{md(sentence(r.claim.note))}".rstrip())
            worst = r.counterexample
            if worst is not None and worst.measured is not None:
                lines.append(f"  Counterexample {md_code(str(worst.case))}: {md_math(latex(r.claim.statement.lhs))} measured "
                             f"{md(terminal.measured_side(r.claim, worst))}, stated {md(r.claim.statement.rel_op)} "
                             f"{md(terminal.prediction(r.claim, worst))}.")
    return "\n".join(lines) + "\n"


def mutations(judged: list[tuple[ClaimResult, list[Mutant]]], suite: str, hash_: str) -> str:
    """Which verdicts turn when a constant is changed, and why the survivors survive."""
    total = sum(len(found) for _, found in judged)
    fates = Counter(m.fate for _, found in judged for m in found)
    lines = ["# Mutations\n", "Every numeric constant of every statement is changed by one (fractions by one per cent),",
             "Min and Max, floor and ceiling are swapped, relations are turned round;",
             "the recorded values are judged again and proofs are run again.",
             f"Of {total} mutants {fates['data']} turn a verdict by the data, {fates['proof']} only break a proof, {fates['undecided']} turn a HOLDS "
             f"into UNDECIDED, {fates['survives']} survive (suite {suite}, manifest `{hash_}`). Those that turn no verdict, with the reason:\n"]
    for result, found in judged:
        survivors = [m for m in found if not m.turned]
        lines.append(f"- {_link(result)}: {len(found) - len(survivors)} of {len(found)} turn.")
        lines += [f"  - {md_code(m.change)}: {md(m.reason)}." for m in survivors]
    return "\n".join(lines) + "\n"


def _link(result: ClaimResult) -> str:
    return f"[{result.claim.key}](claims/{result.claim.key}.md)"


def main(arguments: list[str] | None = None) -> int:
    """Write the pages: python -m depthlaw.ledger.publish.pages DOCS --results DIR --suite SUITE."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--results", type=Path, default=None)
    parser.add_argument("--suite", default="theory")
    chosen = parser.parse_args(arguments)
    for path in write(chosen.docs, open_store(chosen.results, read_only=True), chosen.suite):
        print(path)
    # Hours of work where it is not recorded: the ledger that comes with depthlaw holds it.
    for store in (open_store(chosen.results, read_only=True), shipped()):
        if store is not None and (table := write_frontier(chosen.docs, store)):
            print(table)
            break
    for store in (open_store(chosen.results, read_only=True), shipped()):
        if store is not None and (trained := trainings.write(chosen.docs, store)):
            print(trained)
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
