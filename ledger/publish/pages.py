"""The pages of docs/, hand-written ones with what records fill in, and those that are generated.
Run `make docs`.

Everything is written from the claims and from records; no number is typed by hand. Marks in the
hand-written pages are filled: `<!-- table: KEY -->` by the table of a claim, `<!-- figure: NAME
-->` by a figure, `<!-- evidence: PART -->` by how rules of depth do on published grids,
`<!-- counting: PART -->` by listed models counted again, `<!-- measured: MODULE.NAME -->` by a
question of empirics, `<!-- numbers: MODULE.NAME -->` by its numbers and verdicts, `<!-- settings:
MODULE.NAME -->` by a table of how nets are trained,
`<!-- exercise: NAME -->` by an exercise, `<!-- picture: NAME -->` by a picture of measured curves,
`<!-- verdicts: KEY,KEY -->` and `<!-- values: KEY,KEY -->` by claims and their cases, and
`<!-- data -->` by a link to a CSV file of all cases of the claims that a page names so.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from depthlaw.empirics.separation_rank import entries
from depthlaw.empirics.separation_rank import table as frontier_table
from depthlaw.theory.budget import Table
from depthlaw.theory.claim import Claim, registry
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.symbols import TERMS, latex

from ..run.engines import THREADS
from ..run.plan import plan
from ..run.records import Store, manifest, open_store
from ..verdicts.display import duration, expectation, measured_side, prediction, slack
from ..verdicts.findings import groups, reason
from ..verdicts.mutation import Mutant, mutate
from ..verdicts.recorded import Recorded
from ..verdicts.reference import shipped
from ..verdicts.report import VERDICT_NAMES, CaseResult, ClaimResult, results, verdict_name
from . import counting, depth_evidence, figures, measured
from .typesetting import md, md_code, md_math, sentence

# Longer tables hide what matters; the records hold every case.
MOST_CASES = 12


def write(docs: Path, out: Path, store: Store, suite: str) -> list[Path]:
    """Write all pages into the folder `out`, which then holds nothing else, and return their paths:
    the same records give the same bytes. Where the records have none of a long suite, the ledger
    that comes with depthlaw is read.
    """
    claims = registry()
    judged = results(claims, suite, store)
    hash_ = str(manifest(r for run in plan(claims, suite) if (r := store.get(run.id)))["hash"])
    shutil.rmtree(out, ignore_errors=True)
    pages = {out / "claims" / f"{r.claim.key}.md": page(r, suite) for r in judged}
    pages[out / "claims" / "README.md"] = index(judged, suite, hash_)
    pages[out / "glossary.md"] = glossary(list(claims.values()))
    pages[out / "findings.md"] = findings(judged, suite, hash_)
    pages[out / "mutations.md"] = mutations([(r, mutate(r)) for r in judged], suite, hash_)
    places = [Recorded(claims, each) for each in (store, shipped()) if each is not None]
    for path in sorted(docs.rglob("*.md")):
        if out not in path.parents:
            text = filled(path.read_text(encoding="utf-8"), places, out, path.stem)
            text += _others(text, path.stem, claims) if path.parent.name == "coverage" else ""
            pages[out / path.relative_to(docs)] = text
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sorted(pages)


def _others(text: str, topic: str, claims: Mapping[str, Claim]) -> str:
    """The claims of a topic that its table of coverage does not name, as a list."""
    missing = [c for c in claims.values() if c.topic == topic and f"`{c.key}`" not in text]
    lines = [f"- [{c.key}](../claims/{c.key}.md): {md(c.title)}" for c in missing]
    return "\n".join(["\n## Further claims\n", *lines, ""]) if lines else ""


def filled(text: str, places: Sequence[Recorded], out: Path, name: str) -> str:
    """A hand-written page with its marks replaced, each by the first of the places that holds
    records of it; pictures go into the folder `figures`, and data into `data`.

    Args:
        name: of the page, which is that of its file of data.
    """
    figures_ = out / "figures"

    def fill(mark: re.Match[str]) -> str:
        kind, what = mark["kind"], mark["name"] or ""
        if kind in _OF_FILES:
            return _OF_FILES[kind](what)
        if kind == "data":
            file = out / "data" / f"{name}.csv"
            return measured.data(_keys(text), places, file) or NOTHING
        if kind in _OF_CLAIMS:
            return _first(places, lambda each: _OF_CLAIMS[kind](what.split(","), each))
        if kind in _WITH_PICTURE:
            return _first(places, lambda each: _WITH_PICTURE[kind](what, each, figures_))
        if kind == "table":
            return _first(places, lambda each: table(each.claims, what, each.store))
        return _first(places, lambda each: _frontier(
            each.claims, each.store, figures_ / f"{what}.png"))

    return _MARK.sub(fill, text)


NOTHING = "*Nothing is recorded for this yet.*"
_OF_FILES = {
    "evidence": depth_evidence.part, "counting": counting.part, "settings": measured.settings}
_OF_CLAIMS = {
    "verdicts": measured.verdicts, "values": measured.values, "numbers": measured.numbers}
_WITH_PICTURE = {
    "exercise": measured.exercise, "measured": measured.question, "picture": measured.figure}
_KINDS = "|".join(["table", "figure", "data", *_OF_FILES, *_OF_CLAIMS, *_WITH_PICTURE])
_MARK = re.compile(rf"<!-- (?P<kind>{_KINDS})(: (?P<name>\S+))? -->")


def _keys(text: str) -> list[str]:
    """The claims that the marks of a page name, in their order."""
    keys: list[str] = []
    for mark in _MARK.finditer(text):
        kind, name = mark["kind"], mark["name"] or ""
        if kind in ("verdicts", "values"):
            keys += name.split(",")
        if kind in ("exercise", "measured"):
            keys += measured.claims_of(kind, name)
    return list(dict.fromkeys(keys))


def _first(places: Sequence[Recorded], made: Callable[[Recorded], str]) -> str:
    """What the first place gives that holds something: one's own records, else the ledger that
    comes with depthlaw."""
    return next((text for each in places if (text := made(each))), NOTHING)


def table(claims: Mapping[str, Claim], key: str, store: Store) -> str:
    """The table that a claim brings along, in Markdown, with the rows of all claims that share it;
    empty where nothing is recorded."""
    maker = claims[key].table
    rows = _recorded(claims, maker, store) if maker is not None else []
    if maker is None or not rows:
        return ""
    made = maker(rows)
    lines = ["| " + " | ".join(md(heading) for heading in made.columns) + " |",
             "|" + "".join("---|" if heading in made.words else "--:|" for heading in made.columns)]
    for row in made.rows:
        cells = (duration(c.total_seconds()) if isinstance(c, timedelta) else md(c) for c in row)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *(md(line) + "  " for line in made.legend.splitlines())])


def _recorded(
    claims: Mapping[str, Claim], maker: Callable[..., Table], store: Store,
) -> list[CaseResult]:
    """The recorded cases of the claims that share a table, in any suite."""
    rows = [row for claim in claims.values() if claim.table is maker for suite in claim.grid
            for row in results({claim.key: claim}, suite, store)[0].cases if row.records]
    return list({row.case: row for row in rows}.values())


def _frontier(claims: Mapping[str, Claim], store: Store, file: Path) -> str:
    """The figure of exact separation ranks, as a link to it; empty where nothing is recorded."""
    if not figures.frontier(entries(_recorded(claims, frontier_table, store)), file):
        return ""
    return ("![Exact separation ranks against depth, with S, the bounds of Theorems 1 and 2 as "
            f"recalled, the threshold and the knee](figures/{file.name})")


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
    yield "; ".join(f"{md_math(latex(s))}: {md(TERMS[s.name].meaning)}" for s in symbols) + ".\n"
    yield "| | |\n|---|---|"
    yield f"| source | {md(str(claim.source))} |"
    check = " (from memory: check against the paper)" if claim.wording == "recalled" else ""
    yield f"| wording | {claim.wording}{check} |"
    yield f"| kind | {claim.kind}, quantifier: {claim.holds_for} |"
    if claim.assumes:
        yield f"| assumes | {'; '.join(md(name) for name in claim.assumes)} |"
    yield f"| verdict | **{verdict_name(result)}**{_as_known(result)} |"
    if claim.known:
        yield f"| expected | {expectation(claim)} |"
    if claim.rests_on:
        yield f"| rests on | {md(claim.rests_on)} |"
    for key, found in result.premises.items():
        yield f"| premise | [{md(key)}](../{key}.md): {found} |"
    yield f"| cases | {len(result.decided)} of {len(result.in_scope)} decided, suite {suite} |"
    if result.tightest is not None:
        yield f"| tightest slack | {md(slack(result.tightest, vacuous=result.vacuous))} |"
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
    sides = (f"{md_math(latex(result.claim.statement.lhs))} measured | "
             f"{md(result.claim.statement.rel_op)} stated")
    yield f"| case | {sides} | verdict |\n|---|---|---|---|"
    shown = _telling(result)
    for row in shown:
        predicted = prediction(result.claim, row)
        verdict = row.verdict_name + (f": {md(row.decision.reason)}" if row.decision.reason else "")
        yield (f"| {md_code(str(row.case))} | {md(measured_side(result.claim, row))} | "
               f"{md(predicted)} | {verdict} |")
    if len(shown) < len(result.cases):
        yield f"\n{len(result.cases) - len(shown)} further cases are in the records."


def _telling(result: ClaimResult) -> list[CaseResult]:
    """Failures first, then the tightest and the undecided ones, in grid order."""
    order = [Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS, Verdict.OUT_OF_SCOPE]
    ranked = sorted(enumerate(result.cases),
                    key=lambda c: (order.index(c[1].decision.verdict),
                                   c[1].decision.slack if c[1].decision.slack is not None else 0.0))
    return [row for _, row in sorted(ranked[:MOST_CASES], key=lambda c: c[0])]


def index(judged: list[ClaimResult], suite: str, hash_: str) -> str:
    """The table of all claims."""
    counts = Counter(verdict_name(r) for r in judged)
    total = ", ".join(f"{counts[v]} {v}" for v in VERDICT_NAMES if counts[v])
    lines = ["# Claims\n", f"{len(judged)} claims, suite {suite}: {total}.",
             f"Records: manifest `{hash_}`.\n"]
    for topic in dict.fromkeys(r.claim.topic for r in judged):
        lines += [f"## {topic}\n", "| claim | says | wording | verdict |", "|---|---|---|---|"]
        lines += [f"| [{r.claim.name}]({r.claim.key}.md) | {md(r.claim.title)} | "
                  f"{r.claim.source.key}, {r.claim.wording} | {verdict_name(r)}{_as_known(r)} |"
                  for r in judged if r.claim.topic == topic]
        lines.append("")
    return "\n".join(lines)


def _as_known(result: ClaimResult) -> str:
    return " as known" if result.claim.awaited == result.verdict == "FAILS" else ""


def glossary(claims: list[Claim]) -> str:
    """The symbols that the claims use, with how papers print them."""
    used = Counter(s.name for c in claims for s in c.statement.free_symbols)
    lines = ["# Glossary\n", "Every symbol of every statement, generated from the claims.\n",
             "| symbol | name in code | meaning | domain | claims |", "|---|---|---|---|---:|"]
    for name, entry in sorted(TERMS.items()):
        if used[name]:
            lines.append(f"| {md_math(entry.latex)} | `{name}` | {md(entry.meaning)} | "
                         f"{entry.domain} | {used[name]} |")
    return "\n".join(lines) + "\n"


def findings(judged: list[ClaimResult], suite: str, hash_: str) -> str:
    """What fails, rests on what fails, is undecided, vacuous or conditional: theorems first, the
    arithmetic of printed numbers last."""
    lines = [f"# Findings\n\nGenerated from the records of suite {suite}, manifest `{hash_}`.\n"
             "Each entry links to its page; a counterexample is re-checked by running the claim "
             "again, or by\n`depthlaw recheck` where a certificate is named."]
    for group in groups(judged):
        lines += [f"\n## {group.heading}\n", group.meaning if group.results else "None.", ""]
        for r in group.results:
            why = reason(r)
            why = f" {md(sentence(why[:1].upper() + why[1:]))}" if why else ""
            lines.append(f"- {_link(r)} ({r.claim.weight}; {r.claim.source.key}, "
                         f"{r.claim.wording}): {md(sentence(r.claim.text))}{why} "
                         f"{md(sentence(r.claim.note))}".rstrip())
            worst = r.counterexample
            if worst is not None and worst.measured is not None:
                lines.append(f"  Counterexample {md_code(str(worst.case))}: "
                             f"{md_math(latex(r.claim.statement.lhs))} measured "
                             f"{md(measured_side(r.claim, worst))}, stated "
                             f"{md(r.claim.statement.rel_op)} {md(prediction(r.claim, worst))}.")
    return "\n".join(lines) + "\n"


def mutations(judged: list[tuple[ClaimResult, list[Mutant]]], suite: str, hash_: str) -> str:
    """Which verdicts turn when a constant is changed, and why the survivors survive."""
    total = sum(len(found) for _, found in judged)
    fates = Counter(m.fate for _, found in judged for m in found)
    lines = ["# Mutations\n\nEvery numeric constant of every statement is changed by one "
             "(fractions by one per cent),\n"
             "Min and Max, floor and ceiling are swapped, relations are turned round;\n"
             "the recorded values are judged again and proofs are run again.\n"
             f"Of {total} mutants {fates['data']} turn a verdict by the data, {fates['proof']} "
             f"only break a proof, {fates['undecided']} turn a HOLDS "
             f"into UNDECIDED, {fates['survives']} survive (suite {suite}, manifest `{hash_}`). "
             "Those that turn no verdict, with the reason:\n"]
    for result, found in judged:
        survivors = [m for m in found if not m.turned]
        lines.append(f"- {_link(result)}: {len(found) - len(survivors)} of {len(found)} turn.")
        lines += [f"  - {md_code(m.change)}: {md(m.reason)}." for m in survivors]
    return "\n".join(lines) + "\n"


def _link(result: ClaimResult) -> str:
    return f"[{result.claim.key}](claims/{result.claim.key}.md)"


def main(arguments: list[str] | None = None) -> int:
    """Write the pages: python -m depthlaw.ledger.publish.pages DOCS OUT --results DIR --suite
    SUITE."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--results", type=Path, default=None)
    parser.add_argument("--suite", default="theory")
    chosen = parser.parse_args(arguments)
    # One thread, as where claims are measured: what a picture computes anew rounds as it did there,
    # and trainings are found again, which are stored by their number of threads.
    os.environ.update(THREADS)
    store = open_store(chosen.results, read_only=True)
    written = write(chosen.docs, chosen.out, store, chosen.suite)
    print(f"{len(written)} pages in {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
