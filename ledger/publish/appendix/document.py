"""The appendix of a paper: what was claimed, what came of it and how it was found, written from
records and from nothing else.

One text in Markdown (`templates/appendix.md`) becomes PDF, HTML and LaTeX (`formats`); figures,
data and citation come from `appendix_figures`, `data` and `provenance`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from depthlaw.advisor.base.quantities import UsageError, plural, quoted
from depthlaw.advisor.layout import listed
from depthlaw.theory.claims.definition import SUITES, Claim
from depthlaw.theory.claims.printing import latex, symbols
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Ball, Proportion, Sample
from depthlaw.theory.claims.verdict import Verdict

from ...address import address
from ...records.environment import environment
from ...records.store import Record, Store, canonical, manifest as manifest_of
from ...running.user_claims import OwnFile
from ...verdicts.citations import bibtex_for, entries
from ...verdicts.claim_set import altered, claim_set, entry, hash_of
from ...verdicts.display import duration, statement_latex
from ...verdicts.findings import FindingKind, groups, reason
from ...verdicts.record_source import Recorded, largest_recorded_suite, runs_of
from ...verdicts.reference_ledger import Agreement, Ledger
from ...verdicts.suite_verdicts import (
    NOT_RUN,
    VERDICT_NAMES,
    ClaimResult,
    chance,
    marked,
    verdict_name,
)
from ..site.inline import MarkSource
from ..tables import csv_rows
from . import data, provenance
from .appendix_figures import Plate, plates
from .formats import Document
from .output_folder import DeliveryError, deliver
from .printed_claims import Statement, explained
from .typesetting import code, factor, macro, prose, template, tex, told, value, verdict

if TYPE_CHECKING:
    from sympy import Symbol

Shown = Literal["headlines", "claims", "all"]
# Groups of findings that the statements themselves, and their counts, tell.
_TOLD_ELSEWHERE = (FindingKind.VACUOUS, FindingKind.NOT_RUN, FindingKind.IN_PART)
# Symbols of so many statements are explained once.
_OFTEN = 3
# Chapters up to which a title names each, and claims up to which their counts say nothing new.
_NAMED = 3
# A sentence of a note, which several notes may share; shorter ones are printed wherever they are.
_SENTENCE, _LONG = re.compile(r"(?<=[.:]) (?=[A-Z$])"), 40
# Topics whose theorems are about attention without softmax.
_LINEARISED = ("separation_rank", "connectivity", "trained_rank")
_MARK = re.compile(r"<!-- (verdict|failing): (\S+) -->")
_MEANINGS = {row["verdict"]: row["meaning"] for row in csv_rows(__package__, "verdicts.csv")}


def write_appendix(
    directory: Path,
    claims: Mapping[str, Claim],
    store: Store,
    *,
    keys: Sequence[str] = (),
    everything: bool = False,
    suite: str = "",
    repeated: Agreement | None = None,
    command: str = "depthlaw appendix FOLDER",
    file: OwnFile | None = None,
    doing: Callable[[str], None] = lambda what: None,
) -> list[Path]:
    """Write the appendix: the same records give the same bytes.

    Args:
        directory: new, empty, or with an unedited earlier appendix and nothing else.
        claims: every claim, by key.
        store: of the records.
        keys: the claims in print; by default the headlines.
        everything: all claims.
        suite: as which the claims are judged; by default the longest that is recorded of each.
        repeated: how records of the user's own agree with the store's, where that is the reference
            ledger; None: the store holds the user's own.
        command: what writes the same again.
        file: of the user's, whose claims these are: they are not published as depthlaw's.
        doing: called with what is being done.

    Returns:
        The files.

    Raises:
        UsageError: in one line, when nothing is recorded or the folder cannot be used; nothing in
            it was changed.
    """
    tier: Shown = "all" if everything else "claims" if keys else "headlines"
    asked = keys or [key for key, claim in claims.items() if everything or claim.headline]
    recorded = Recorded(claims, store)
    # A user cites, of a folder of records, only those behind the claims of the file.
    behind = _with_premises(keys, claims) if file else claims
    suites = (suite,) if suite else SUITES
    runs = sorted({run.id for key in behind for run in runs_of(claims[key], suites)})
    records = [record for run in runs if (record := store.get(run)) is not None]
    doing(f"judging {plural(len(asked), 'claim')}")
    judged = {key: _judged(recorded, key, suite, named=bool(keys)) for key in asked}
    if not any(result.records for result in judged.values()):
        raise UsageError(
            f"nothing is recorded of these claims in {store.root}; run `depthlaw "
            f"verify {suite or 'quick'}` first"
        )
    with TemporaryDirectory() as folder:
        # The temporary folder itself is closed to others; what is delivered gets the user's usual
        # permissions.
        workshop = Path(folder) / "appendix"
        workshop.mkdir()
        try:
            for name, content in _files(
                recorded, judged, records, tier, suite, repeated, command, file, doing
            ).items():
                (workshop / name).parent.mkdir(exist_ok=True)
                (workshop / name).write_bytes(content)
            return deliver(workshop, directory)
        except DeliveryError as error:
            raise UsageError(str(error)) from None
        except OSError as error:
            raise UsageError(
                f"cannot write the appendix ({error.strerror}); nothing in {directory} was changed"
            ) from None


def _with_premises(keys: Sequence[str], claims: Mapping[str, Claim]) -> list[str]:
    """The keys and those of all premises below them."""
    found = list(keys)
    for key in found:
        found += [premise for premise in claims[key].premises if premise not in found]
    return found


def _judged(recorded: Recorded, key: str, suite: str, *, named: bool) -> ClaimResult:
    claim = recorded.claims[key]
    if suite and named and not claim.cases(suite):
        raise UsageError(f"{quoted(key)} has no cases in suite {suite}; leave --suite out")
    where = suite if suite and claim.cases(suite) else ""
    result = recorded.of(where, key) if where else recorded.judged(key)
    result = result or recorded.of(largest_recorded_suite(claim, recorded.store), key)
    assert result is not None
    return result


def _files(
    recorded: Recorded,
    judged: Mapping[str, ClaimResult],
    records: Sequence[Record],
    shown: Shown,
    suite: str,
    repeated: Agreement | None,
    command: str,
    file: OwnFile | None,
    doing: Callable[[str], None],
) -> dict[str, bytes]:
    """Every file by name."""
    printed = _in_order(judged)
    verdicts = {} if file else _verdicts(recorded, judged, suite)
    drawn = plates(recorded, None if shown == "all" else judged)
    behind = [*printed, *_cited_besides(recorded, verdicts, judged, shown, suite)]
    counted = verdicts if shown != "claims" else {k: verdict_name(r) for k, r in judged.items()}
    source = _source(recorded, verdicts, records, suite, command, repeated, file)
    statements = [Statement(result, number) for number, result in enumerate(printed, 1)]
    shared = _shared(statements)
    chapters = _chapters(statements, drawn)
    topics = _topics(chapters)
    findings = _findings(
        [r for r in behind if shown == "claims" or r.unexpected or r.claim.tier == "cited"], judged
    )
    context = {
        "shown": shown,
        "statements": statements,
        "topics": topics,
        "found": _found(judged, len(recorded.store)) if shown == "headlines" else [],
        "summary": _summary(counted, recorded.claims) if len(counted) > _NAMED else "",
        "notes": _notes(statements) if shown != "headlines" else {},
        "recipes": _recipes(statements) if shown == "headlines" else [],
        "carried": any(s.carried for s in statements),
        "uses": _uses(printed),
        "shared": shared,
        "explained": [explained(symbol) for symbol in shared.values()],
        "chapters": chapters,
        "verdicts": _counts(counted, recorded.claims),
        "total": len(counted),
        "cited": sum(recorded.claims[key].tier == "cited" for key in counted),
        "of_what": f"the claim set {source.claim_set}" if shown != "claims" else "this appendix",
        "wordings": dict(Counter(recorded.claims[key].wording for key in counted).most_common()),
        "findings": findings,
        "methods": 4 if findings["failing"] or findings["others"] else 3,
        "trained": any(r.claim.needs for r in printed),
        "budget": FALSE_ALARM_BUDGET,
        "levels": _levels(printed),
        "chance": chance(printed),
        "controls": [r.control.fails for r in behind if r.control is not None],
        "seeds": [
            len(row.measured.values)
            for r in printed
            if r.claim.needs and r.suite in ("long", "training", "exercises", "full")
            for row in r.cases
            if isinstance(row.measured, Sample)
        ],
        "failing": [r for r in behind if r.failing],
        "source": source,
        "compute": duration(sum(provenance.seconds(records))),
        "devices": _devices(records),
        "environments": _environments(records),
        "commands": _commands(behind, shown),
        "runs": len(records),
    }
    text = template("appendix.md").render(context, statement_latex=statement_latex)
    references = _references(text, source)
    doing(f"drawing {plural(len(drawn), 'figure')}")
    pictures = {
        f"{plate.name}.{form}": plate.drawn(form) for plate in drawn for form in ("pdf", "svg")
    }
    lettered = {f"{plate.name}.svg": plate.drawn("letters") for plate in drawn}
    document = Document(
        text,
        file.title if file else _title(topics, statements, shown),
        f"Claims of {file.name} ({file.by}), judged by depthlaw {source.version}"
        if file
        else f"Evidence from depthlaw {source.version}, claim set {source.claim_set}",
        f"depthlaw {source.version}, {source.claims}, manifest {source.manifest[:12]}",
        # No clock: a user's file names only its year.
        f"{file.year}-01-01" if file and file.year else source.date,
        references,
        {name: content for name, content in pictures.items() if name.endswith(".svg")},
        lettered,
        author=file.by if file else "depthlaw",
    )
    rows = data.rows(behind)
    doing("writing PDF, HTML and LaTeX")
    return {
        "appendix.md": text.encode(),
        "appendix.pdf": document.pdf(),
        "appendix.html": document.html().encode(),
        "appendix.tex": document.latex().encode(),
        "values.tex": _values(statements, source).encode(),
        "references.bib": references.encode(),
        "results.csv": data.results_csv(rows),
        "results.parquet": data.results_parquet(rows),
        "checklist.md": provenance.checklist(behind, records, source),
        "CITATION.cff": provenance.citation_cff(source),
        "manifest.json": canonical(manifest_of(records)) + b"\n",
        **({file.name: file.content} if file else {}),
        **{f"figures/{name}": content for name, content in pictures.items()},
    }


# --- what was found -------------------------------------------------------------------------------


def _topics(chapters: Sequence[Mapping[str, Any]]) -> str:
    """The chapters in running text."""
    return listed([chapter["title"][0].lower() + chapter["title"][1:] for chapter in chapters])


def _title(topics: str, statements: Sequence[Statement], shown: Shown) -> str:
    """By the claims in print: their topics, where these are few, and how many they are."""
    few = shown == "claims" and len({s.claim.topic for s in statements}) <= _NAMED
    about = topics[0].upper() + topics[1:] if few else "Depth of transformers"
    return f"{about}: {plural(len(statements), 'claim')}, judged"


def _found(judged: Mapping[str, ClaimResult], records: int) -> list[str]:
    """The lines of found.csv whose claims have the verdicts that their sentences speak of."""
    source = MarkSource(judged, records)

    def filled(mark: re.Match[str]) -> str:
        result = judged[mark[2]]
        if mark[1] == "verdict":
            return f"[{verdict(marked(result))}]{{.verdict}}"
        return f"{len(result.failing)} of {len(result.in_scope)}"

    lines = []
    for row in csv_rows(__package__, "found.csv"):
        spoken = dict(claim.split("=") for claim in row["claims"].split())
        if all(key in judged and verdict_name(judged[key]) == spoken[key] for key in spoken):
            lines.append(source.spoken(_MARK.sub(filled, row["says"])))
    return lines


def _notes(statements: Sequence[Statement]) -> dict[str, str]:
    """The notes by key, in Markdown; a long sentence that several share is printed once."""
    notes: dict[str, str] = {}
    first: dict[str, int] = {}
    for statement in statements:
        own = _SENTENCE.split(statement.claim.note)
        again = [said for said in own if len(said) > _LONG and said in first]
        kept = " ".join(said for said in own if said not in again)
        numbers = sorted({first[said] for said in again})
        shared = [f"The rest as in Statement {listed([*map(str, numbers)])}."] if again else []
        notes[statement.claim.key] = " ".join(filter(None, (told(kept) if kept else "", *shared)))
        first = dict.fromkeys(own, statement.number) | first
    return notes


def _recipes(statements: Sequence[Statement]) -> list[dict[str, str]]:
    """How the nets of statements were trained: the rows of recipes.csv, with their numbers."""
    recipes = []
    for row in csv_rows(__package__, "recipes.csv"):
        keys = row["claims"].split()
        if numbers := [str(s.number) for s in statements if s.claim.key in keys]:
            recipes.append(row | {"numbers": ", ".join(numbers)})
    return recipes


def _uses(printed: Sequence[ClaimResult]) -> frozenset[str]:
    """Which methods the claims in print rest on."""
    measured = [(r, row.measured) for r in printed for row in r.cases if row.measured is not None]
    of = {
        "ranks": any(r.claim.topic == "separation_rank" for r in printed),
        "enclosures": any(isinstance(m, Ball) and data.rigorous(r.claim) for r, m in measured),
        "means": any(isinstance(m, Sample) for _, m in measured),
        "shares": any(isinstance(m, Proportion) for _, m in measured),
        "nets": any(isinstance(m, Ball) and not data.rigorous(r.claim) for r, m in measured),
        "chance": any(r.by_chance for r in printed),
        "kernel": any(r.kernel_checked or r.kernel_refuted for r in printed),
        "certificates": any(r.verdict is Verdict.PROVED and not r.kernel_checked for r in printed),
        "linearised": any(r.claim.topic in _LINEARISED for r in printed),
        "slack": any(r.tightest for r in printed),
    }
    verdicts = {str(r.verdict.value) for r in printed}
    return frozenset(name for name, used in of.items() if used) | verdicts


# --- what is told, in which order -----------------------------------------------------------------


def _chapter_rows(met: Iterable[str]) -> list[tuple[str, tuple[str, ...], str]]:
    """The chapters of chapters.csv: title, topics that are told together, and what a reader must
    know before the first claim; topics that none names follow, each in one of its own."""
    listed = [
        (row["title"], tuple(row["topics"].split()), row["says"])
        for row in csv_rows(__package__, "chapters.csv")
    ]
    named = {topic for _, topics, _ in listed for topic in topics}
    rest = dict.fromkeys(topic for topic in met if topic not in named)
    return listed + [(topic.replace("_", " ").capitalize(), (topic,), "") for topic in rest]


def _in_order(judged: Mapping[str, ClaimResult]) -> list[ClaimResult]:
    """The results in the order of the chapters; in each those that fail come last."""
    ordered = []
    for _, topics, _ in _chapter_rows(r.claim.topic for r in judged.values()):
        own = (r for topic in topics for r in judged.values() if r.claim.topic == topic)
        ordered += sorted(own, key=lambda r: r.verdict is Verdict.FAILS)
    return ordered


def _chapters(statements: Sequence[Statement], drawn: Sequence[Plate]) -> list[dict[str, Any]]:
    """With each figure in the first chapter that holds a claim or a topic that it draws."""
    left, chapters = list(drawn), []
    for title, topics, says in _chapter_rows(s.claim.topic for s in statements):
        if inside := [s for s in statements if s.claim.topic in topics]:
            own = {key for plate in left for key in plate.claims if key.split("/")[0] in topics}
            fitting = [plate for plate in left if not own.isdisjoint(plate.claims)]
            left = [plate for plate in left if plate not in fitting]
            chapter = {"title": title, "name": topics[0].replace("_", "-"), "says": says}
            chapters.append(chapter | {"statements": inside, "plates": fitting})
    return chapters


def _shared(statements: Sequence[Statement]) -> dict[str, Symbol]:
    """The symbols that several statements use, by name: they are explained once, but for those
    whose letter means something else in another statement."""
    used = Counter(s for statement in statements for s in symbols(statement.claim.statement))
    letters = Counter(map(latex, used))
    return {s.name: s for s, n in used.items() if n >= _OFTEN and letters[latex(s)] == 1}


# --- verdicts and findings ------------------------------------------------------------------------


def _verdicts(recorded: Recorded, judged: Mapping[str, ClaimResult], suite: str) -> dict[str, str]:
    """The verdict of every claim: of the reference ledger as the claim set lists them, which costs
    nothing, where a claim says what it says there; else by judging it."""
    known, ledger = claim_set(), recorded.store
    listed = {key: verdict_name(result) for key, result in judged.items()}
    if not suite and isinstance(ledger, Ledger) and ledger.header["manifest"] == known.manifest:
        changed = altered(known, recorded.claims)
        same = {key: of.verdict for key, of in known.claims.items() if key not in changed}
        listed = same | listed
    return {
        key: listed.get(key) or verdict_name(_judged(recorded, key, suite, named=False))
        for key in recorded.claims
    }


def _cited_besides(
    recorded: Recorded,
    verdicts: Mapping[str, str],
    judged: Mapping[str, ClaimResult],
    shown: Shown,
    suite: str,
) -> list[ClaimResult]:
    """For the headlines: the cited claims, besides those in print, of which a reader must know more
    than that they hold."""
    fine = (Verdict.PROVED, Verdict.ARGUED, Verdict.HOLDS, NOT_RUN)
    return [
        _judged(recorded, key, suite, named=False)
        for key, claim in recorded.claims.items()
        if shown == "headlines" and claim.tier == "cited" and key not in judged
        if verdicts[key] not in fine
    ]


def _counts(
    verdicts: Mapping[str, str], claims: Mapping[str, Claim]
) -> list[tuple[str, str, int, int]]:
    """Of every verdict: its name, what it means, how many cited claims have it, and how many in
    all."""
    every = Counter(verdicts.values())
    cited = Counter(verdict for key, verdict in verdicts.items() if claims[key].tier == "cited")
    return [
        (name.replace("_", " "), _MEANINGS[name], cited[name], every[name])
        for name in VERDICT_NAMES
        if every[name]
    ]


def _findings(behind: Sequence[ClaimResult], printed: Collection[str]) -> dict[str, Any]:
    """What a reader must know besides the statements in print, which have their counterexamples
    beside them: the claims that fail, how many strict readings do, and in short the rest."""
    ordered = groups(behind)
    failing = {r.claim.key: r for group in ordered for r in group.results if r.failing}
    besides = [r for key, r in failing.items() if key not in printed]
    strict = [r for r in besides if r.claim.wording == "universal"]
    others = []
    for group in (group for group in ordered if group.heading not in _TOLD_ELSEWHERE):
        attention = group.heading is FindingKind.ATTENTION
        rest = [
            r
            for r in group.results
            if attention or not (r.failing or r.unexpected or r.claim.key in printed)
        ]
        if rest:
            others.append((group.heading, group.meaning, [*map(_line, rest)]))
    return {
        "failing": [Statement(r) for r in besides if r not in strict],
        "readings": len(strict),
        "others": others,
    }


def _line(result: ClaimResult) -> str:
    why, whence = reason(result), Statement(result).whence
    says = told(why[:1].upper() + why[1:])
    return f"{prose(result.claim.entitled)} ({whence}). {says}".rstrip()


def _summary(verdicts: Mapping[str, str], claims: Mapping[str, Claim]) -> str:
    """Of how many claims of each tier what came."""
    sentences = []
    for tier, one, several in (
        ("cited", "cited claim", "cited claims"),
        ("supporting", "claim that supports a cited one", "claims that support cited ones"),
    ):
        counted = Counter(verdicts[key] for key in verdicts if claims[key].tier == tier)
        if total := counted.total():
            names = (name for name in VERDICT_NAMES if counted[name])
            parts = [f"{counted[name]} {name.replace('_', ' ')}" for name in names]
            sentences.append(f"{total} {one if total == 1 else several}: {listed(parts)}")
    return f"{'; '.join(sentences)}." if sentences else ""


# --- methods, compute, limits ---------------------------------------------------------------------


def _levels(results: Sequence[ClaimResult]) -> str:
    levels = sorted({r.alpha(row) for r in results if r.by_chance for row in r.cases})
    ends = " to ".join(dict.fromkeys(value(f"{end:.1e}") for end in levels[:1] + levels[-1:]))
    return f". One comparison of a mean or a share has the level {ends}" if levels else ""


def _devices(records: Sequence[Record]) -> str:
    names = {"cpu": "CPUs", "cuda": "a GPU (CUDA)"}
    return listed([names.get(device, device) for device in sorted(provenance.devices(records))])


def _environments(records: Iterable[Record]) -> list[str]:
    """The distinct environments of the records, most runs first."""
    lines = []
    for runs, facts, packages in provenance.environments(records):
        ran = facts.get("packages", {}).get("depthlaw")
        names = ("commit", "platform", "cpu", "cores", "python")
        commit, platform, cpu, cores, python = (str(facts.get(n) or "unknown") for n in names)
        edited = ", with uncommitted changes" if commit.endswith("+") else ""
        others = packages.replace(f"depthlaw {ran}, ", "") or "packages unknown"
        lines.append(
            f"{plural(runs, 'run')} by depthlaw {prose(str(ran or 'unknown'))} at commit "
            f"{code(commit.rstrip('+')[:12])}{edited} on {prose(f'{platform}, {cpu}')}, {cores} "
            f"cores; Python {prose(python)}; {prose(others)}."
        )
    return lines


def _commands(results: Sequence[ClaimResult], shown: Shown) -> list[str]:
    used = [suite for suite in SUITES if any(r.suite == suite for r in results)]
    # Each of these includes those before.
    chain = [suite for suite in ("quick", "theory", "full") if suite in used]
    keys = "".join(f" --only {r.claim.key}" for r in results) if shown == "claims" else ""
    rest = (suite for suite in used if suite not in chain)
    if own := provenance.from_file(results):
        keys = " --results DIR"
    return [f"depthlaw verify {suite}{own}{keys}" for suite in (*chain[-1:], *rest)]


# --- the other files ------------------------------------------------------------------------------


def _source(
    recorded: Recorded,
    verdicts: Mapping[str, str],
    records: Sequence[Record],
    suite: str,
    command: str,
    repeated: Agreement | None,
    file: OwnFile | None,
) -> provenance.Provenance:
    known, store, number = claim_set(), recorded.store, version("depthlaw")
    name, hash_ = known.name, known.hash
    # A set that was changed here is not the one that its hash names.
    if changed := [] if file else sorted(altered(known, recorded.claims)):
        name += f" with {plural(len(changed), 'changed claim')}"
        hash_ = hash_of(entry(claim, verdicts[key]) for key, claim in recorded.claims.items())
    ours = f"the reference ledger that comes with depthlaw {number}"
    origin = ours if isinstance(store, Ledger) else "a results folder, not of the reference ledger"
    return provenance.Provenance(
        version=number,
        claim_set=name,
        claims_hash=hash_,
        manifest=str(manifest_of(records)["hash"]),
        records=len(records),
        origin=origin + (f", suite {suite}" if suite else ""),
        command=command,
        date=provenance.DATE,
        repeated=repeated,
        held=len(store),
        changed=tuple(changed),
        commit=environment()["commit"] if changed else "",
        file=file,
        address=address(),
    )


def _references(text: str, source: provenance.Provenance) -> str:
    """The entries that the text cites, sorted by key, and the software's own."""
    cited = set(re.findall(r"@([a-z][\w-]*)", text)) & entries().keys() - {"depthlaw"}
    listed = bibtex_for(sorted(cited)).values()
    return "\n\n".join([*listed, provenance.citation_bibtex(source).strip()]) + "\n"


def _values(statements: Sequence[Statement], source: provenance.Provenance) -> str:
    """One macro for each number that a paper may quote; names are letters only and unique."""
    macros = [
        (r"\dlVersion", tex(source.version)),
        *(
            [(r"\dlFile", tex(source.file.name)), (r"\dlFileHash", source.file.digest)]
            if source.file
            else [(r"\dlClaimSet", tex(source.claim_set))]
        ),
        (r"\dlRecords", f"{source.records:,}".replace(",", "{,}")),
        (r"\dlManifestShort", rf"\texttt{{{source.manifest[:12]}}}"),
    ]
    for statement in statements:
        name, result = macro(statement.claim.key), statement.result
        slack = factor(result.tightest)
        macros += [
            (name, tex(marked(result).replace("_", " "))),
            (f"{name}Decided", str(len(result.decided))),
            (f"{name}InScope", str(len(result.in_scope))),
            (f"{name}Slack", rf"\ensuremath{{{slack}}}" if slack else "--"),
        ]
    twice = [name for name, count in Counter(name for name, _ in macros).items() if count > 1]
    if twice:
        raise UsageError(f"two claims would share the macro {twice[0]}; rename one of their keys")
    return template("values.tex").render(
        macros=macros, version=source.version, manifest=source.manifest
    )
