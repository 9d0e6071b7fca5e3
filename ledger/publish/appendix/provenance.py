"""What an appendix is made from, for those who cite it or check it: the citation of exactly this
ledger, and a checklist of reproducibility."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from depthlaw.theory.claims.proof_steps import counted
from depthlaw.theory.claims.rounding import LEVEL
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Ball, Exact, Proportion, Sample
from depthlaw.theory.claims.verdict import Verdict

from ...address import Address
from ...records.store import Record, canonical
from ...running.user_claims import OwnFile
from ...verdicts.reference_ledger import Agreement
from ...verdicts.suite_verdicts import VERDICT_NAMES, CaseResult, ClaimResult, verdict_name
from .data import rigorous
from .typesetting import escaped, template

# The day of this release: dates in files that must be the same whenever they are written.
DATE = "2026-11-24"
_TITLE = "depthlaw: executable theorems on transformer depth"
_AUTHORS = "The depthlaw developers"
_LICENCE = "Apache-2.0"
# Claims up to which the checklist names each.
_FEW = 40


@dataclass(frozen=True)
class Provenance:
    """Which ledger an appendix speaks of.

    Attributes:
        version: of depthlaw.
        claim_set, claims_hash: name and hash of the list of claims.
        manifest: hash over the ids and results of all records.
        records: how many there are.
        origin: where the records come from, as a phrase.
        command: what writes the appendix again.
        date: an ISO day, which no clock tells.
        repeated: how records of the user's own agree with the reference ledger; None where the
            records are the user's own.
        held: how many records lie there, with those that are not of today's code or of the suite.
        changed: the keys of the claims that say something else than in the claim set.
        commit: of the checkout, with + for uncommitted changes, where the claims are of no set.
        file: the user's file whose claims these are; None for claims of depthlaw.
        address: where depthlaw is published.
    """

    version: str
    claim_set: str
    claims_hash: str
    manifest: str
    records: int
    origin: str
    command: str
    date: str
    repeated: Agreement | None = None
    held: int = 0
    changed: tuple[str, ...] = ()
    commit: str = ""
    file: OwnFile | None = None
    address: Address = field(default_factory=Address)

    @property
    def claims(self) -> str:
        """What the claims are, in words: a claim set, or a user's file with its hash."""
        if self.file is None:
            return self.claim_set
        return f"claims of {self.file.name} (SHA-256 {self.file.digest[:12]}...)"

    @property
    def ledger(self) -> str:
        """The ledger in one line, without its hash."""
        return (
            f"depthlaw {self.version}, {'' if self.file else 'claim set '}{self.claims}, "
            f"{self.records:,} records of {self.origin}"
        )

    @property
    def software(self) -> str:
        """What is cloned, with its address where it has one, as a phrase in Markdown."""
        where = f" (<{self.address.repository}>)" if self.address.repository else ""
        return f"depthlaw {self.version}{where}"

    @property
    def at(self) -> str:
        """Which state of a clone holds these claims, as a phrase in Markdown."""
        if not self.changed:
            return f"at the tag `{self.claim_set}`"
        if not self.commit:
            return "that holds the claims as they were changed here"
        dirty = ", with changes that were not committed" if self.commit.endswith("+") else ""
        return f"at the commit `{self.commit.rstrip('+')}`{dirty}"

    @property
    def differs(self) -> str:
        """Which claims are not those of the claim set, as a sentence in Markdown; else nothing."""
        if not self.changed:
            return ""
        named = ", ".join(f"`{key}`" for key in self.changed[:_FEW])
        more = f" and {len(self.changed) - _FEW} more" if len(self.changed) > _FEW else ""
        return f"Changed since the set was released: {named}{more}."


# --- citation -------------------------------------------------------------------------------------


def citation_cff(source: Provenance) -> bytes:
    """CITATION.cff (format 1.2.0) of exactly this ledger."""
    facts = {"title": _TITLE, "authors": _AUTHORS, "licence": _LICENCE}
    form = "CITATION.cff" if source.file is None else "OWN_CITATION.cff"
    return template(form).render(source=source, **facts).encode()


def citation_bibtex(source: Provenance) -> str:
    """The BibTeX entry `depthlaw` of exactly this ledger; for a user's file that of depthlaw, and
    one of the file by its authors. Hashes are in groups of eight, so that they break in a narrow
    column."""
    facts = {"title": _TITLE, "authors": _AUTHORS, "escaped": escaped, "groups": _groups}
    return template("citation.bib").render(source=source, **facts)


def _groups(digest: str) -> str:
    return " ".join(digest[i : i + 8] for i in range(0, len(digest), 8))


# --- checklist ------------------------------------------------------------------------------------


def checklist(
    results: Sequence[ClaimResult], records: Sequence[Record], source: Provenance
) -> bytes:
    """checklist.md: items that venues ask about, answered from records, and what is left to the
    authors of the paper (`templates/checklist.md`).

    Args:
        results: the claims of the appendix.
        records: all records of the manifest.
    """
    used = list({r.id: r for result in results for r in result.records}.values())
    cases = [(result, row) for result in results for row in result.cases]
    recorded = [(result, row) for result, row in cases if row.records]
    samples = [row.measured for _, row in cases if isinstance(row.measured, Sample)]
    estimated = [(r, row) for r, row in cases if isinstance(row.measured, Sample | Proportion)]
    levels = sorted({result.alpha(row) for result, row in estimated})
    verdicts = Counter(map(verdict_name, results))
    wordings = Counter(result.claim.wording for result in results)
    proved = [result for result in results if result.verdict is Verdict.PROVED]
    assuming = [result for result in results if result.claim.assumes]
    machines, computed = ([r.facts.get(f, {}) for r in used] for f in ("environment", "compute"))
    text = template("checklist.md").render(
        source=source,
        results=results,
        used=len(used),
        records=len(records),
        many=len(results) > _FEW,
        verdicts=[(name, verdicts[name]) for name in VERDICT_NAMES if verdicts[name]],
        wordings=[f"{n} {word}" for word, n in sorted(wordings.items())],
        argued=_steps(results, Verdict.ARGUED),
        kernel=[r for r in proved if r.kernel_checked],
        certified=_steps([r for r in proved if not r.kernel_checked], Verdict.PROVED),
        refuted=sum(r.kernel_refuted for r in results if r.verdict is Verdict.FAILS),
        assumed=sorted((r.claim.key, "; ".join(r.claim.assumes)) for r in assuming),
        resting=sorted({premise for r in results for premise in r.weak}),
        cases={
            kind: sum(len(getattr(r, kind)) for r in results)
            for kind in ("cases", "decided", "undecided", "missing", "outside")
        },
        vacuous=sum(r.vacuous for r in results),
        moved=sum(not r.claim.portable for r in results),
        needs=sorted({r.claim.needs for r in results if r.claim.needs}),
        commands=list(_commands(results)),
        environments=list(environments(used)),
        corpora=sorted({str(row.case.corpus) for _, row in cases if "corpus" in row.case}),
        seeds=[len({record.inputs["seed"] for record in row.records}) for _, row in recorded],
        together=[nets for pair in recorded if (nets := _together(*pair)) > 1],
        kinds=Counter(filter(None, (_kind(*pair) for pair in cases))),
        observations=[len(sample.values) for sample in samples],
        confidence=f"{100 * (1 - LEVEL):.0f} %",
        budget=FALSE_ALARM_BUDGET,
        levels=list(dict.fromkeys(f"{alpha:.2g}" for alpha in levels[:1] + levels[-1:])),
        seconds=seconds(used),
        all_seconds=seconds(records),
        devices=[f"{n:,} runs on {name}" for name, n in sorted(devices(used).items())],
        machines=sorted(
            f"{cpu or 'unknown'}, {cores or '?'} cores"
            for cpu, cores in {(e.get("cpu"), e.get("cores")) for e in machines if e}
        ),
        peaks=[peak for facts in computed if (peak := facts.get("peak_bytes_of_process"))],
        controls=[r.control.fails for r in results if r.control is not None],
        unexpected=[(r.claim.key, r.unexpected) for r in results if r.unexpected],
        licence=_LICENCE,
    )
    return text.encode()


def _steps(results: Sequence[ClaimResult], verdict: Verdict) -> list[int]:
    """Of each claim with a verdict how many steps a machine confirmed."""
    return [len(counted(r.proof or ())) for r in results if r.verdict is verdict]


def _commands(results: Sequence[ClaimResult]) -> Iterator[str]:
    """What measures the claims anew."""
    own, few = from_file(results), results if len(results) <= _FEW else ()
    for suite in dict.fromkeys(result.suite for result in results if result.suite):
        only = [f"--only {r.claim.key}" for r in few if r.suite == suite]
        each = " \\\n  ".join((f".venv/bin/depthlaw verify {suite}", *only))
        yield f"depthlaw verify {suite}{own} --results DIR" if own else each


def from_file(results: Iterable[ClaimResult]) -> str:
    """The option for claims of a file of one's own, whose name is their topic; else nothing."""
    own = {r.claim.topic for r in results if r.claim.own}
    return "".join(f" --claims {topic}.py" for topic in sorted(own))


def environments(records: Iterable[Record]) -> Iterator[tuple[int, dict[str, Any], str]]:
    """The distinct environments of records, most runs first: how many, its facts, and its packages
    with their versions in one line."""
    machines = Counter(canonical(r.facts.get("environment", {})) for r in records)
    for written, runs in sorted(machines.items(), key=lambda entry: (-entry[1], entry[0])):
        facts = json.loads(written)
        packages = sorted(facts.get("packages", {}).items())
        yield runs, facts, ", ".join(f"{name} {number}" for name, number in packages)


def _together(result: ClaimResult, row: CaseResult) -> int:
    """How many nets one seed id of a case names, as far as the case or its sample say."""
    named = row.case.get("replicas")
    if isinstance(named, int):
        return named
    if result.claim.needs and isinstance(row.measured, Sample):
        return len(row.measured.values) // len({r.inputs["seed"] for r in row.records})
    return 1


def _kind(result: ClaimResult, row: CaseResult) -> str:
    """What was measured of a case."""
    ball = "enclosures" if rigorous(result.claim) else "intervals"
    kinds = {Sample: "means", Proportion: "shares", Exact: "exact values", Ball: ball}
    return kinds.get(type(row.measured), "")


def seconds(records: Iterable[Record]) -> list[float]:
    """Of wall-clock time, of each run that says it."""
    times = (record.facts.get("timing", {}).get("wall_s") for record in records)
    return [float(time) for time in times if isinstance(time, int | float)]


def devices(records: Iterable[Record]) -> Counter[str]:
    """How many runs each device did."""
    return Counter(str(record.inputs.get("device", "unknown")) for record in records)
