"""What an appendix is made from, for those who cite it, check it, or archive it: the citation of
exactly this ledger, a checklist of reproducibility, and an RO-Crate that describes the files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthlaw.empirics.figure_data import LEVEL
from depthlaw.theory.claims.proof_steps import counted
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Ball, Exact, Proportion, Sample
from depthlaw.theory.claims.verdict import Verdict

from ...records.store import Record, canonical
from ...verdicts.report import NOT_RUN, VERDICT_NAMES, CaseResult, ClaimResult, verdict_name
from .data import COLUMNS, rigorous
from .typesetting import md

__all__ = [
    "DATE",
    "Provenance",
    "checklist",
    "citation_bibtex",
    "citation_cff",
    "environments",
    "ro_crate",
]

# The day of this release: dates in files that must be the same whenever they are written.
DATE = "2026-11-23"
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
        repeated: how many records of the reference ledger were repeated here, and how many of them
            agree; None for records of one's own.
    """

    version: str
    claim_set: str
    claims_hash: str
    manifest: str
    records: int
    origin: str
    command: str
    date: str
    repeated: tuple[int, int] | None = None

    @property
    def ledger(self) -> str:
        """The ledger in one line, without its hash."""
        return (
            f"depthlaw {self.version}, claim set {self.claim_set}, {self.records:,} records "
            f"of {self.origin}"
        )


# --- citation -------------------------------------------------------------------------------------


def citation_cff(source: Provenance) -> bytes:
    """CITATION.cff (format 1.2.0) of exactly this ledger."""
    lines = [
        "cff-version: 1.2.0",
        _yaml(
            "message",
            "Cite this ledger by its manifest and claim set, and the papers whose "
            "theorems are judged (references.bib).",
        ),
        "type: dataset",
        _yaml("title", f"{_TITLE}: ledger of {source.claim_set}"),
        "authors:",
        _yaml("  - name", _AUTHORS),
        _yaml("version", f"{source.version}, {source.claim_set}"),
        f"date-released: {source.date}",
        f"license: {_LICENCE}",
        "identifiers:",
        "  - type: other",
        _yaml("    value", f"sha256:{source.manifest}"),
        _yaml(
            "    description",
            f"Manifest of {source.records:,} records: {source.origin}; manifest.json lists them",
        ),
        "  - type: other",
        _yaml("    value", f"sha256:{source.claims_hash}"),
        _yaml("    description", f"Claim set {source.claim_set}"),
        "references:",
        "  - type: software",
        _yaml("    title", _TITLE),
        "    authors:",
        _yaml("      - name", _AUTHORS),
        _yaml("    version", source.version),
        f"    license: {_LICENCE}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _yaml(name: str, text: str) -> str:
    """A line of YAML; a JSON string is one of YAML too."""
    return f"{name}: {json.dumps(text, ensure_ascii=False)}"


def citation_bibtex(source: Provenance) -> str:
    """The BibTeX entry `depthlaw` of exactly this ledger. The hash stands in groups of eight, so
    that it breaks in a narrow column."""
    groups = " ".join(source.manifest[i : i + 8] for i in range(0, len(source.manifest), 8))
    return (
        f"@misc{{depthlaw,\n  author = {{{{{_AUTHORS}}}}},\n  title = {{{_TITLE}}},\n"
        f"  year = {{{source.date[:4]}}},\n"
        f"  note = {{Version {source.version}, claim set {source.claim_set}, ledger of "
        f"{source.records} records with the manifest (SHA-256) {groups}}},\n}}\n"
    )


# --- checklist ------------------------------------------------------------------------------------


def checklist(
    results: Sequence[ClaimResult], records: Sequence[Record], source: Provenance
) -> bytes:
    """checklist.md: items that venues ask about, answered from records, and what is left to the
    authors of the paper.

    Args:
        results: the claims of the appendix.
        records: all records of the manifest.
    """
    used = list({r.id: r for result in results for r in result.records}.values())
    blocks = [
        f"# Reproducibility checklist\n\nFilled from records: {md(source.ledger)}, manifest "
        f"`{source.manifest}`. It speaks of the {len(results)} claims of this appendix, which rest "
        f"on {len(used):,} of the records. **Authors** marks what no record can answer.",
        *(
            f"## {place}. {title}\n\n{text}"
            for place, (title, text) in enumerate(
                (
                    ("Claims and what is shown of them", _of_claims(results)),
                    ("Assumptions and proofs", _of_proofs(results)),
                    ("Limits", _of_limits(results)),
                    ("How to run it again", _of_commands(results, used, source)),
                    ("Data and code", _of_data(results, source)),
                    ("Settings", _of_settings(results, used)),
                    ("Statistics", _of_statistics(results)),
                    ("Compute", _of_compute(used, records)),
                    ("Checks that the checks work", _of_controls(results)),
                    ("Licences and citation", _of_licences(source)),
                    ("Left to the authors", _LEFT),
                ),
                1,
            )
        ),
    ]
    return ("\n\n".join(blocks) + "\n").encode()


_LEFT = """**Authors.** Records say nothing of these:

- how the paper uses each claim, and whether its text is no stronger than the verdict;
- statements marked *recalled*: compare them with their sources;
- proofs marked ARGUED: read the joints that are named;
- people, their data, ethics review: depthlaw measures nets and formulas, and involves none;
- broader impact, safeguards for released models or data, use of language models in the research."""


def _of_claims(results: Sequence[ClaimResult]) -> str:
    counts = Counter(map(verdict_name, results))
    words = Counter(result.claim.wording for result in results)
    rows = [f"| {name} | {counts[name]} |" for name in VERDICT_NAMES if counts[name]]
    return "\n".join(
        (
            "**Yes.** Each claim names its source, its quantifier and its verdict; the verdict "
            "says "
            "what kind of evidence there is.",
            "",
            "| verdict | claims |",
            "|---|--:|",
            *rows,
            "",
            "Wording: " + ", ".join(f"{n} {word}" for word, n in sorted(words.items())) + ".",
        )
    )


def _of_proofs(results: Sequence[ClaimResult]) -> str:
    argued = [r for r in results if r.verdict is Verdict.ARGUED]
    proved = [r for r in results if r.verdict is Verdict.PROVED]
    steps, checks = (sum(len(counted(r.proof or ())) for r in each) for each in (argued, proved))
    assumed = sorted(
        f"`{r.claim.key}`: {md('; '.join(r.claim.assumes))}" for r in results if r.claim.assumes
    )
    resting = sorted(
        {
            f"{key} ({verdict})"
            for r in results
            for key, verdict in r.premises.items()
            if verdict not in (Verdict.PROVED, Verdict.ARGUED)
        }
    )
    lines = [
        f"Claims with a written proof (ARGUED): {len(argued)}; steps of these proofs that a "
        f"machine confirmed: {steps}. Claims decided case by case by certificates (PROVED): "
        f"{len(proved)}; checks of these certificates that a machine confirmed: {checks}. Joints "
        "of proofs are prose: `depthlaw show KEY` names what a reader must check."
    ]
    if assumed and len(results) > _FEW:
        lines.append(
            "Cases that break an assumption are out of scope. Claims with assumptions: "
            f"{len(assumed)}; `depthlaw show KEY` prints them."
        )
    elif assumed:
        lines.append(
            "Cases that break an assumption are out of scope. Assumptions:\n\n"
            + "\n".join(f"- {line}" for line in assumed)
        )
    lines.append(
        "Premises that are neither PROVED nor ARGUED: "
        + (md("; ".join(resting)) if resting else "none")
        + "."
    )
    return "\n\n".join(lines)


def _of_limits(results: Sequence[ClaimResult]) -> str:
    def cases(kind: str) -> int:
        return sum(len(getattr(result, kind)) for result in results)

    outside = sum(len(r.cases) - len(r.in_scope) for r in results)
    vacuous = sum(r.vacuous for r in results)
    return (
        f"Cases: {cases('cases'):,}; decided {cases('decided'):,}, undecided "
        f"{cases('undecided'):,}, without a record {cases('missing'):,}, outside the assumptions "
        f"{outside:,}. Bounds that hold by more than a factor of a million on every case, and so "
        f"say nothing of these cases: {vacuous}. HOLDS is agreement of the cases that were run, "
        "not a proof. "
        f"{_portable(results)}"
    )


def _portable(results: Sequence[ClaimResult]) -> str:
    moved = sum(not r.claim.portable for r in results)
    return (
        f"Claims measured on nets whose rounding differs from machine to machine: {moved}. "
        "Equal seeds give other nets there, and intervals, not digits, are compared."
        if moved
        else "Every value is the same on every machine."
    )


def _of_commands(results: Sequence[ClaimResult], used: Sequence[Record], source: Provenance) -> str:
    needs = sorted({result.claim.needs for result in results if result.claim.needs})
    lines = [
        f"**Yes.** In a clone of depthlaw {source.version} at the tag `{source.claim_set}`:",
        "",
        "```",
        "make verify",
        f".venv/bin/{source.command}",
        "```",
        "",
        "The last writes these files again, byte for byte with equal versions of Typst, "
        "pandoc, matplotlib and pyarrow, but for the sentence that says how many records were "
        "repeated here. To measure anew"
        f"{' (extras ' + ', '.join(f'`{name}`' for name in needs) + ')' if needs else ''}:",
        "",
        "```",
    ]
    for suite in dict.fromkeys(result.suite for result in results if result.suite):
        only = [
            f"--only {r.claim.key}" for r in results if r.suite == suite and len(results) <= _FEW
        ]
        lines.append(" \\\n  ".join((f".venv/bin/depthlaw verify {suite}", *only)))
    lines += [
        "```",
        "",
        "It says how far your machine agrees with the reference ledger, run by "
        "run. Software of the runs:",
        "",
        *_environments(used),
    ]
    return "\n".join(lines)


def environments(records: Iterable[Record]) -> Iterator[tuple[int, dict[str, Any], str]]:
    """The distinct environments of records, most runs first: how many, its facts, and its packages
    with their versions in one line."""
    found = Counter(canonical(r.facts.get("environment", {})) for r in records)
    for written, runs in sorted(found.items(), key=lambda each: (-each[1], each[0])):
        facts = json.loads(written)
        yield (
            runs,
            facts,
            ", ".join(
                f"{name} {number}" for name, number in sorted(facts.get("packages", {}).items())
            ),
        )


def _environments(records: Iterable[Record]) -> Iterator[str]:
    for runs, facts, packages in environments(records):
        yield (
            f"- {runs:,} runs: Python {md(str(facts.get('python', 'unknown')))}, "
            f"{md(packages or 'packages unknown')}; {md(str(facts.get('platform', 'unknown')))};"
            f" commit `{facts.get('commit') or 'unknown'}`"
        )


def _of_data(results: Sequence[ClaimResult], source: Provenance) -> str:
    corpora = sorted(
        {str(case.case.corpus) for r in results for case in r.cases if "corpus" in case.case}
    )
    text = (
        "Language models are trained on Python's standard library or a text of one's own, "
        "known by the first digits of its SHA-256: "
        f"{', '.join(f'`{digest}`' for digest in corpora)}. "
        if corpora
        else ""
    )
    return (
        f"**Yes.** Code, claims and records come with depthlaw {source.version}. Tasks and weights "
        f"are drawn from the case and the seed alone. {text}`results.csv` and `results.parquet` "
        "hold every case of this appendix, `manifest.json` the id and the hash of every record."
    )


def _of_settings(results: Sequence[ClaimResult], used: Sequence[Record]) -> str:
    seeds = sorted(
        len({record.inputs["seed"] for record in case.records})
        for result in results
        for case in result.cases
        if case.records
    )
    together = sorted(
        {
            nets
            for result in results
            for case in result.cases
            if case.records and (nets := _together(result, case)) > 1
        }
    )
    return (
        f"**Yes.** Each of the {len(used):,} runs is fixed by claim, case, seed, version of the "
        "code and device class, and named by the hash of these. Sizes, numbers of updates and "
        "learning rates, where one is chosen, are fields of the case or constants of its code. A "
        f"case has {_range(seeds)} seed {'id' if seeds[-1:] == [1] else 'ids'}. "
        + (
            f"Nets that are drawn or trained together stand under one seed id: {_range(together)} "
            "of them, where their number is a field of the case (`replicas`) or that "
            "of the observations; elsewhere the words of the claim say it."
            if together
            else "No case names more than one net to a seed id."
        )
    )


def _together(result: ClaimResult, row: CaseResult) -> int:
    """How many nets one seed id of a case stands for, as far as the case or its sample say."""
    named = row.case.get("replicas")
    if isinstance(named, int):
        return named
    if result.claim.needs and isinstance(row.measured, Sample):
        return len(row.measured.values) // len({r.inputs["seed"] for r in row.records})
    return 1


def _of_statistics(results: Sequence[ClaimResult]) -> str:
    kinds: Counter[str] = Counter()
    observations: list[int] = []
    for claim, row in ((result.claim, row) for result in results for row in result.cases):
        if isinstance(row.measured, Sample | Proportion):
            kinds["means" if isinstance(row.measured, Sample) else "shares"] += 1
        if isinstance(row.measured, Sample):
            observations.append(len(row.measured.values))
        kinds["exact values"] += isinstance(row.measured, Exact)
        if isinstance(row.measured, Ball):
            kinds["enclosures" if rigorous(claim) else "intervals"] += 1
    others = (
        f", intervals of other kinds (of trained nets, or the rounding of published "
        f"numbers: see the claim) {kinds['intervals']:,}"
        if kinds["intervals"]
        else ""
    )
    if not kinds["means"] + kinds["shares"] + kinds["intervals"]:
        return (
            "**Not applicable.** Nothing here is estimated. Cases by what was measured: exact "
            f"values {kinds['exact values']:,}, rigorous enclosures {kinds['enclosures']:,}."
        )
    levels = sorted(
        {
            r.alpha(row)
            for r in results
            for row in r.cases
            if isinstance(row.measured, Sample | Proportion)
        }
    )
    said = " to ".join(dict.fromkeys(f"{alpha:.2g}" for alpha in levels[:1] + levels[-1:]))
    return (
        f"**Yes.** Cases by what was measured: exact values {kinds['exact values']:,}, rigorous "
        f"enclosures {kinds['enclosures']:,}, means {kinds['means']:,}, shares "
        f"{kinds['shares']:,}{others}. Error "
        f"bars in figures and data are {100 * (1 - LEVEL):.0f} % intervals: Student's for means "
        f"(of {_range(sorted(observations))} observations), which supposes nearly normal means, "
        "and Clopper and Pearson's for shares. Observations differ in what is drawn, initial "
        "weights, data or both: `depthlaw show KEY` says which. Verdicts use wider intervals: "
        f"a claim divides the chance {FALSE_ALARM_BUDGET:g} of a false alarm over its cases, which "
        f"leaves one comparison {said}."
    )


def _of_compute(used: Sequence[Record], records: Sequence[Record]) -> str:
    def timed(part: Sequence[Record]) -> list[float]:
        return [
            float(seconds)
            for record in part
            if isinstance(seconds := record.facts.get("timing", {}).get("wall_s"), int | float)
        ]

    mine, every = timed(used), timed(records)
    devices = Counter(str(record.inputs.get("device", "unknown")) for record in used)
    machines = sorted(
        {
            f"{facts.get('cpu', 'unknown')}, {facts.get('cores', '?')} cores"
            for r in used
            if (facts := r.facts.get("environment", {}))
        }
    )
    peaks = [
        peak for r in used if (peak := r.facts.get("compute", {}).get("peak_bytes_of_process"))
    ]
    memory = (
        f"The largest process took {max(peaks) / 2**30:.1f} GB."
        if peaks
        else "Peak memory is not in these records."
    )
    return (
        f"The runs of this appendix took {_hours(mine)} of wall-clock time one after the other"
        f"{f', the longest {_hours([max(mine)])}' if mine else ''}; all {len(records):,} records "
        f"of the manifest {_hours(every)}. A training that several runs read is counted with the "
        "first, which may be of a claim outside this appendix; trials that were not recorded are "
        "not counted. "
        f"Devices: {', '.join(f'{n:,} runs on {name}' for name, n in sorted(devices.items()))}. "
        f"Machines: {md('; '.join(machines) or 'unknown')}. {memory}"
    )


def _hours(seconds: Sequence[float]) -> str:
    total = sum(seconds)
    return (
        f"{total / 3600:.1f} hours"
        if total >= 5400
        else f"{total / 60:.0f} minutes"
        if total >= 90
        else f"{total:.0f} seconds"
    )


def _of_controls(results: Sequence[ClaimResult]) -> str:
    run = [r.control for r in results if r.control is not None]
    fails = sum(control.decision.verdict is Verdict.FAILS for control in run)
    unexpected = [r for r in results if r.unexpected]
    return (
        "Each claim has a negative control, a version of it that must be judged FAILS. Recorded: "
        f"{len(run)}; of these judged FAILS: {fails}; {NOT_RUN}: {len(results) - len(run)}. "
        + (
            f"**Claims that need attention: {len(unexpected)}.** "
            + "; ".join(f"`{r.claim.key}` {md(r.unexpected)}" for r in unexpected)
            + "."
            if unexpected
            else "No verdict differs from what is known of its claim."
        )
    )


def _of_licences(source: Provenance) -> str:
    return (
        f"depthlaw, its records and these files: {_LICENCE}. The papers whose statements are "
        "judged are cited in `references.bib`; none of their text or code is part of these files. "
        "`appendix.html` contains KaTeX (MIT licence), which sets its formulas. "
        f"`CITATION.cff` cites exactly this ledger ({source.claim_set}, manifest "
        f"`{source.manifest[:16]}...`)."
    )


def _range(ordered: Sequence[int]) -> str:
    if not ordered:
        return "no"
    return " to ".join(dict.fromkeys(f"{n:,}" for n in (ordered[0], ordered[-1])))


# --- RO-Crate -------------------------------------------------------------------------------------

_FORMATS = {
    "pdf": "application/pdf",
    "html": "text/html",
    "tex": "application/x-tex",
    "bib": "application/x-bibtex",
    "md": "text/markdown",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "json": "application/json",
    "cff": "application/yaml",
}
_DESCRIBED = {
    "appendix.pdf": "The appendix in print",
    "appendix.html": "The appendix for a browser",
    "appendix.tex": "The appendix as a fragment for LaTeX",
    "appendix.md": "The text that the other forms are written from",
    "values.tex": "LaTeX macros with the verdict and the counts of each claim",
    "references.bib": "The sources that are cited",
    "results.csv": "Every case: measured, predicted, verdict, records",
    "results.parquet": "The same rows with types",
    "checklist.md": "Reproducibility checklist, filled from the records",
    "manifest.json": "Id and result hash of every record",
    "CITATION.cff": "How to cite exactly this ledger",
}
_SOFTWARE = "#depthlaw"


def ro_crate(
    files: Mapping[str, bytes],
    results: Sequence[ClaimResult],
    records: Sequence[Record],
    source: Provenance,
) -> bytes:
    """ro-crate-metadata.json (RO-Crate 1.1) of a folder.

    Args:
        files: the other files by their names in the folder, with slashes.
        results, records: what the folder speaks of.
    """
    devices = sorted({str(record.inputs.get("device", "unknown")) for record in records})
    keywords = ["transformer", "depth", *sorted({r.claim.topic.replace("_", " ") for r in results})]
    graph: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"{_TITLE}: appendix of {source.claim_set}",
            "description": f"Verdicts on {len(results)} claims on transformer depth, with the data "
            f"behind them, from {source.ledger}.",
            "datePublished": source.date,
            "license": {"@id": _licence_page()},
            "author": {"@id": "#developers"},
            "publisher": {"@id": "#developers"},
            "version": f"{source.version}, {source.claim_set}",
            "keywords": ", ".join(keywords),
            "identifier": [{"@id": "#manifest"}, {"@id": "#claims"}],
            "hasPart": [{"@id": name} for name in sorted(files)],
            "mentions": {"@id": "#written"},
        },
        *(_file(name, files[name]) for name in sorted(files)),
        {"@id": "#developers", "@type": "Organization", "name": _AUTHORS},
        {
            "@id": _licence_page(),
            "@type": "CreativeWork",
            "name": "Apache License 2.0",
            "identifier": _LICENCE,
        },
        {
            "@id": _SOFTWARE,
            "@type": "SoftwareApplication",
            "name": "depthlaw",
            "version": source.version,
            "softwareVersion": source.version,
            "description": _TITLE,
            "license": {"@id": _licence_page()},
        },
        _hash("#manifest", "SHA-256 of the manifest", source.manifest),
        _hash("#claims", f"SHA-256 of the claim set {source.claim_set}", source.claims_hash),
        {
            "@id": "#written",
            "@type": "CreateAction",
            "name": "Writing the appendix",
            "description": f"{source.command}; records of runs on {', '.join(devices)}",
            "instrument": {"@id": _SOFTWARE},
            "agent": {"@id": "#developers"},
            "object": {"@id": "manifest.json" if "manifest.json" in files else "#manifest"},
            "result": [{"@id": name} for name in sorted(files) if name != "manifest.json"],
        },
    ]
    if "results.csv" in files:
        graph += [
            {"@id": f"#column-{name}", "@type": "PropertyValue", "name": name, "description": holds}
            for name, (_, holds) in COLUMNS.items()
        ]
    body = {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}
    return (json.dumps(body, indent=1, ensure_ascii=False) + "\n").encode()


def _file(name: str, content: bytes) -> dict[str, Any]:
    stem, _, ending = name.rpartition(".")
    said = _DESCRIBED.get(name) or f"Figure {stem.rpartition('/')[2].replace('-', ' ')}"
    made: dict[str, Any] = {
        "@id": name,
        "@type": "File",
        "name": said,
        "contentSize": str(len(content)),
        "encodingFormat": _FORMATS.get(ending, "application/octet-stream"),
    }
    if name.startswith("results."):
        made["variableMeasured"] = [{"@id": f"#column-{column}"} for column in COLUMNS]
    return made


def _hash(place: str, name: str, value: str) -> dict[str, Any]:
    return {
        "@id": place,
        "@type": "PropertyValue",
        "name": name,
        "propertyID": "SHA-256",
        "value": value,
    }


def _licence_page() -> str:
    return f"https://spdx.org/licenses/{_LICENCE}"
