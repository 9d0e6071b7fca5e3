"""The appendix of a paper: verdicts, findings and how to reproduce them, written from records and
from nothing else."""
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from depthlaw.theory.judgement import Verdict
from depthlaw.theory.symbols import TERMS, latex

from ..run.records import Record, Store, canonical
from ..run.records import manifest as manifest_of
from ..verdicts.display import measured_side, prediction
from ..verdicts.findings import groups, reason
from ..verdicts.reference import Ledger
from ..verdicts.report import NOT_RUN, VERDICT_NAMES, CaseResult, ClaimResult, verdict_name
from . import typesetting
from .citations import bibtex_for
from .delivery import DeliveryError, deliver
from .figures import Caption, separation_rank

if TYPE_CHECKING:
    import jinja2

SHORT = 8


class AppendixError(Exception):
    """The appendix cannot be written; the message is one line for people."""


@dataclass(frozen=True)
class CaseLine:
    """One case in print: the left side of the statement as measured and as stated, and the records
    behind it."""

    case: str
    measured: str
    predicted: str
    verdict: str
    certain: bool
    reason: str
    slack: str
    records: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One claim in print. Maths are LaTeX without dollars; everything else is plain text and not
    yet escaped."""

    result: ClaimResult
    statement: str
    left: str
    symbols: tuple[tuple[str, str], ...]
    verdict: str
    slack: str
    cases: tuple[CaseLine, ...]
    counterexample: CaseLine | None

    @property
    def claim(self) -> Any:
        """The claim itself."""
        return self.result.claim

    @property
    def name(self) -> str:
        """The key without its topic."""
        return self.claim.name

    @property
    def place(self) -> str:
        """Version and place of the source, without its key."""
        return ", ".join(part for part in (self.claim.source.version, self.claim.source.place)
                         if part)

    @property
    def anchor(self) -> str:
        """The key as an HTML id."""
        return str(self.claim.key).replace("/", "-").replace("_", "-")

    @property
    def relation(self) -> str:
        """The sign between the two sides, as maths."""
        return {"==": "=", "<=": r"\leq", "<": "<", ">=": r"\geq", ">": ">",
                "!=": r"\neq"}[self.claim.statement.rel_op]

    @property
    def holds_for(self) -> str:
        """For which weights or inputs the claim speaks, as a phrase after "for"."""
        return ("some choice of weights (existence)" if self.claim.holds_for == "exists"
                else str(self.claim.holds_for))

    @property
    def control(self) -> str:
        """What became of the negative control; what nothing ran is not said to have failed."""
        control, why = self.result.control, self.claim.control.why
        if control is None:
            return f"{NOT_RUN} ({why})"
        if control.decision.verdict is Verdict.FAILS:
            return f"fails, as it must, by record {control.records[0].id[:SHORT]} ({why})"
        return f"{control.decision.verdict.value}, where it must fail ({why})"

    @property
    def decided(self) -> str:
        """Decided cases out of those in scope."""
        return f"{len(self.result.decided)}/{len(self.result.in_scope)}"


@dataclass(frozen=True)
class Finding:
    """Something a reader must know about a claim, with the case that shows it."""

    row: Row
    why: str
    case: CaseLine | None = None


def write_appendix(directory: Path, results: list[ClaimResult], suite: str,
                   manifest: Mapping[str, Any], store: Store) -> list[Path]:
    """Write the appendix of a suite: the same records give the same bytes.

    The folder, new, empty, or with an unedited earlier appendix and nothing else, receives
    `appendix.md`, `appendix.tex` (a fragment to \\input), `values.tex` (one macro per claim),
    `references.bib`, `figures/`, `manifest.json` and `SHA256SUMS`, moved in whole. Returns them.

    Raises:
        AppendixError: when nothing is recorded, when records and manifest disagree, or when the
            folder cannot be used.
    """
    records = _trusted(results, suite, manifest, store)
    rows = [_row(result) for result in results]
    with TemporaryDirectory() as folder:
        # The temporary folder itself is closed to others; what is delivered gets the user's usual
        # permissions.
        workshop = Path(folder) / "appendix"
        workshop.mkdir()
        try:
            _write(workshop, rows, records, suite, manifest)
            return deliver(workshop, directory)
        except DeliveryError as error:
            raise AppendixError(str(error)) from None
        except OSError as error:
            raise AppendixError(f"cannot write the appendix ({error.strerror}); nothing in "
                                f"{directory} was changed") from None


def _write(workshop: Path, rows: list[Row], records: list[Record], suite: str,
           manifest: Mapping[str, Any]) -> None:
    (workshop / "figures").mkdir()
    caption = separation_rank([row.result for row in rows], workshop / "figures")
    if caption is None:
        (workshop / "figures").rmdir()
    context = _context(rows, records, suite, manifest, caption)
    for name in ("appendix.md", "appendix.tex", "values.tex"):
        text = _templates().get_template(name).render(context)
        (workshop / name).write_text(text, encoding="utf-8", newline="\n")
    entries = "\n\n".join(_references(rows)) + "\n"
    (workshop / "references.bib").write_text(entries, encoding="utf-8", newline="\n")
    (workshop / "manifest.json").write_bytes(canonical(manifest) + b"\n")


def _trusted(results: list[ClaimResult], suite: str, manifest: Mapping[str, Any],
             store: Store) -> list[Record]:
    """The records of the manifest, which must be what the results rest on."""
    listed = [store.get(run) for run, _ in manifest["runs"]]
    records = [record for record in listed if record]
    if not records or not any(result.records for result in results):
        older = isinstance(store, Ledger)
        remedy = ("another version of the code wrote it: leave --reference out" if older
                  else f"run `depthlaw verify {suite}` first")
        raise AppendixError(f"nothing is recorded for suite {suite} in {store.root}; {remedy}")
    if len(records) < len(listed) or dict(manifest_of(records)) != dict(manifest):
        raise AppendixError(f"the manifest does not match the records in {store.root}; run "
                            f"`depthlaw verify {suite}` again")
    known = {record.id for record in records}
    if any(record.id not in known for result in results for record in result.records):
        raise AppendixError("the verdicts rest on records that the manifest does not list; run "
                            f"`depthlaw verify {suite}` again")
    return records


def _row(result: ClaimResult) -> Row:
    claim = result.claim
    symbols = sorted({s.name for s in claim.statement.free_symbols if s.name in TERMS})
    lines = tuple(_line(result, case) for case in result.cases)
    worst = result.counterexample
    return Row(result, latex(claim.statement), latex(claim.statement.lhs),
               tuple((TERMS[s].latex, TERMS[s].meaning) for s in symbols), verdict_name(result),
               typesetting.factor(result.tightest), lines,
               lines[result.cases.index(worst)] if worst else None)


def _line(result: ClaimResult, case: CaseResult) -> CaseLine:
    decision = case.decision
    predicted = prediction(result.claim, case) if case.measured is not None else "-"
    # Both columns show the left side of the statement, so that they can be compared.
    return CaseLine(str(case.case), measured_side(result.claim, case), predicted, case.verdict_name,
                    decision.certain, decision.reason, typesetting.factor(decision.slack),
                    tuple(record.id[:SHORT] for record in case.records))


def _context(rows: list[Row], records: list[Record], suite: str, manifest: Mapping[str, Any],
             caption: Caption | None) -> dict[str, Any]:
    counts = Counter(row.verdict for row in rows)
    return {"suite": suite, "version": version("depthlaw"), "manifest": manifest["hash"],
            "runs": len(records),
            "topics": [(topic.replace("_", " "), list(group))
                       for topic, group in groupby(rows, key=lambda row: row.claim.topic)],
            "rows": rows,
            "counts": [(verdict, counts[verdict]) for verdict in VERDICT_NAMES if counts[verdict]],
            "findings": _findings(rows), "missing": sum(len(row.result.missing) for row in rows),
            "environments": _environments(records),
            "devices": sorted({str(record.inputs.get("device", "unknown")) for record in records}),
            "cpu_seconds": round(sum(float(record.facts.get("timing", {}).get("cpu_s", 0))
                                     for record in records), 1), "figure": caption,
            "macros": _macros(rows, suite, manifest, len(records))}


def _findings(rows: list[Row]) -> list[tuple[str, str, list[Finding]]]:
    """(heading, what it means, findings); an empty list says that there is none."""
    row_of = {row.claim.key: row for row in rows}
    return [(group.heading, group.meaning, [
        Finding(row, reason(result), row.counterexample if row.verdict == "FAILS" else None)
        for result in group.results for row in [row_of[result.claim.key]]])
        for group in groups([row.result for row in rows])]


def _environments(records: Iterable[Record]) -> list[dict[str, Any]]:
    """The distinct environments of the records and their runs, most runs first."""
    found = Counter(canonical(record.facts.get("environment", {})) for record in records)
    listed = []
    for written, runs in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        facts = json.loads(written)
        commit = str(facts.get("commit") or "")
        packages = sorted(facts.get("packages", {}).items())
        listed.append({"runs": runs, "commit": commit.rstrip("+"), "edited": commit.endswith("+"),
                       "packages": ", ".join(f"{name} {number}" for name, number in packages)}
                      | {name: str(facts.get(name) or "unknown")
                         for name in ("python", "platform", "cpu", "cores")})
    return listed


def _macros(rows: list[Row], suite: str, manifest: Mapping[str, Any],
            runs: int) -> list[tuple[str, str]]:
    """(name, LaTeX) of every macro; names are letters only and unique."""
    macros = [(r"\dlSuite", typesetting.tex(suite)),
              (r"\dlVersion", typesetting.tex(version("depthlaw"))), (r"\dlRuns", str(runs)),
              (r"\dlClaims", str(len(rows))),
              (r"\dlManifest", typesetting.tex_hash(manifest["hash"])),
              (r"\dlManifestShort", rf"\texttt{{{manifest['hash'][:SHORT]}}}")]
    for row in rows:
        name = typesetting.macro(row.claim.key)
        macros += [(name, row.verdict.replace("_", " ")),
                   (f"{name}Decided", str(len(row.result.decided))),
                   (f"{name}InScope", str(len(row.result.in_scope))),
                   (f"{name}Slack", rf"\ensuremath{{{row.slack}}}" if row.slack else "--")]
    twice = [name for name, count in Counter(name for name, _ in macros).items() if count > 1]
    if twice:
        raise AppendixError(
            f"two claims would share the macro {twice[0]}; rename one of their keys")
    return macros


def _references(rows: list[Row]) -> list[str]:
    """The entries that the appendix cites, sorted by key."""
    try:
        cited = bibtex_for(sorted({row.claim.source.key for row in rows} | {"depthlaw"}))
    except KeyError as error:
        raise AppendixError(error.args[0]) from None
    return list(cited.values())


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    # Delimiters that LaTeX and Markdown do not use; a name that is missing is an error, never an
    # empty place.
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(
            lambda name: (files(__package__) / "templates" / name).read_text(encoding="utf-8")),
        block_start_string="<%", block_end_string="%>", variable_start_string="<<",
        variable_end_string=">>", comment_start_string="<#", comment_end_string="#>",
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined, autoescape=False)
    for name in ("tex", "tex_code", "tex_hash", "tex_value", "prose", "sentence", "verdict_tex",
                 "md", "md_code", "md_math", "md_value", "verdict_md"):
        environment.filters[name] = getattr(typesetting, name)
    environment.filters["prose"] = typesetting.tex_prose
    return environment
