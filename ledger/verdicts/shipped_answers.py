"""What `show` and `why` say of a claim, as plain text; and the file of it that comes with depthlaw,
judged on the reference ledger, with which neither command needs SymPy or a record.

The file begins with a hash over the sources that it follows from, so that an answer that is no
longer theirs is never given; `card` writes it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from ..records.store import write_file

FILE = Path(__file__).with_name("answers.jsonl.gz")
# What an answer follows from, and the kinds of files that it is read from there.
_ROOTS = ("advisor", "theory", "empirics", "ledger.records", "ledger.running", "ledger.verdicts")
_KINDS = (".py", ".csv", ".json", ".jsonl", ".gz", ".bib", ".v")
# So much of a run's id tells whether it may be recorded.
_DIGITS = 8

GroundKind = (
    Literal["claim", "statement", "reason", "attention", "changed", "cases", "case", "remedy"]
    | Literal["proof", "reading", "step", "formal proof", "certificate", "premise", "assumption"]
    | Literal["source", "named", "control", "records", "record", "left out"]
)


@dataclass(frozen=True)
class Ground:
    """Something that a verdict rests on, and what that rests on in turn.

    Attributes:
        kind: "reading" is what of a proof a reader must check, "changed" what was changed after
            data were seen, "named" a claim that a source names.
        name: the key of a claim or of the bibliography, a case in words, the id of a record, the
            name of a file; empty where there is none.
        says: in one line, with formulas as claims write them, which `readable` reads.
        verdict: of claims, premises, cases and the control, as every report prints it.
        below: what it rests on.
    """

    kind: GroundKind
    name: str = ""
    says: str = ""
    verdict: str = ""
    below: tuple[Ground, ...] = ()


@dataclass(frozen=True)
class OwnTable:
    """A table that a claim brings along: headings, those of columns with words, rows, legend."""

    columns: tuple[str, ...]
    words: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: str


@dataclass(frozen=True)
class Card:
    """One claim with its evidence.

    Attributes:
        heading: key and title.
        lead: names and texts: verdict, sentence, number, source.
        facts: the other ones, in the order in which a sceptical reader asks; a text without a name
            goes on with the fact before it.
        constant: what all cases have in common, or "".
        sides: of the statement, what is measured, and the relation; None where the cases are no
            table.
        cases: rows of the table of cases: case, measured, stated, verdict (in words), slack, and
            the verdict alone.
        own: the table of the claim's own, in the place of that of cases.
    """

    heading: str
    lead: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    constant: str = ""
    sides: tuple[str, str] | None = None
    cases: tuple[tuple[str, ...], ...] = ()
    own: OwnTable | None = None


@dataclass(frozen=True)
class ShippedAnswer:
    """Everything that both commands say of a claim on the reference ledger.

    Attributes:
        needs, verify: the extra that it is measured with, or "", and the command that does here.
        said: which records these are.
        runs: the first digits of the ids of all runs of its cases, on any device.
        card, tree: of `show` and of `why`.
    """

    key: str
    needs: str
    verify: str
    said: str
    runs: tuple[str, ...]
    card: Card
    tree: Ground


def shipped_answer(key: str, results: Path) -> ShippedAnswer | None:
    """The answer that comes with depthlaw; None where none does, where the sources or SymPy are not
    those that it was made with, and where a results folder may hold a case of the claim.

    Cost: 50 ms, most of them for hashing the sources.
    """
    try:
        head, _, lines = gzip.decompress(FILE.read_bytes()).partition(b"\n")
    except (OSError, EOFError, zlib.error):
        return None
    name = json.dumps(key).encode()
    start = (b"\n" + lines).find(b"\n[%s," % name)
    if start < 0 or head.decode() != sources():
        return None
    _, needs, verify, said, runs, card, tree = json.loads(lines[start : lines.index(b"\n", start)])
    recorded = {path.name[:_DIGITS] for path in (results / "runs").glob("*/*")}
    if not recorded.isdisjoint(runs):
        return None
    own = card.pop("own")
    whole = Card(**card, own=OwnTable(**own) if own else None)
    return ShippedAnswer(key, needs, verify, said, tuple(runs), whole, _ground(tree))


def write_answers(answers: Iterable[ShippedAnswer]) -> None:
    """Write the file that comes with depthlaw again: the same answers give the same bytes."""
    lines = []
    for of in answers:
        runs = [run[:_DIGITS] for run in of.runs]
        parts = [of.key, of.needs, of.verify, of.said, runs, asdict(of.card), _plain(of.tree)]
        lines.append(json.dumps(parts, ensure_ascii=False))
    text = "\n".join([sources(), *lines, ""])
    write_file(FILE, gzip.compress(text.encode(), mtime=0))


def _plain(ground: Ground) -> list[object]:
    # Of the id of a record, its first ten digits are printed.
    name = ground.name[:10] if ground.kind == "record" else ground.name
    return [ground.kind, name, ground.says, ground.verdict, [_plain(row) for row in ground.below]]


def _ground(plain: list[Any]) -> Ground:
    kind, name, says, verdict, below = plain
    return Ground(kind, name, says, verdict, tuple(map(_ground, below)))


def sources(roots: Iterable[str] = _ROOTS) -> str:
    """A hash over the files that answers follow from, and the version of SymPy, which prints
    statements and stands behind the ids of runs."""
    whole = hashlib.sha256(version("sympy").encode())
    for name in roots:
        spec = find_spec(f"depthlaw.{name}")
        for root in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(root).rglob("*")):
                if path.suffix in _KINDS and path != FILE:
                    whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
