"""Claim sets: what every claim states and which verdict the shipped ledger gives it, under one name
and one hash, for papers to cite.

A set that was released is never written again; an erratum goes into the next one. Its file is
plain text: a header, then one line of canonical JSON for each claim. The hash is over those lines:

    tail -n +2 claims-v1.jsonl | sha256sum

    python -m depthlaw.ledger.verdicts.claim_set              # what has changed since the newest
    python -m depthlaw.ledger.verdicts.claim_set claims-v5    # write the next one
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError

from ..records.store import StoreError, canonical, write_file

if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

FOLDER = Path(__file__).parent
_NAME = re.compile(r"claims-v([1-9]\d*)")


@dataclass(frozen=True)
class Entry:
    """A claim as a set lists it; the fields are those of `Claim.plain`, in words.

    Attributes:
        statement: as SymPy writes it.
        verdict: in the shipped ledger, as reports print it; "not run" where it holds no run.
    """

    key: str
    title: str
    text: str
    statement: str
    source: str
    wording: str
    kind: str
    holds_for: str
    weight: str
    premises: tuple[str, ...]
    verdict: str


@dataclass(frozen=True)
class ClaimSet:
    """A released list of claims.

    Attributes:
        hash: SHA-256 of the lines of all claims, in hexadecimal.
        manifest: hash of the manifest of the ledger that the verdicts are of.
        claims: by key, in alphabetical order.
    """

    name: str
    hash: str
    manifest: str
    claims: Mapping[str, Entry]


def claim_sets(folder: Path = FOLDER) -> dict[str, Path]:
    """The file of every claim set that comes with depthlaw, by name, the oldest first."""
    named = ((_NAME.fullmatch(path.stem), path) for path in folder.glob("claims-v*.jsonl"))
    files = {int(match[1]): path for match, path in named if match}
    return {files[number].stem: files[number] for number in sorted(files)}


def claim_set(name: str = "", folder: Path = FOLDER) -> ClaimSet:
    """A claim set that comes with depthlaw; by default the newest.

    Raises:
        UsageError: when there is none of this name.
        StoreError: when its file does not match its hash.

    Cost: milliseconds; imports no claim.

    >>> claim_set("claims-v1").claims["hops/doubling"].wording
    'derived'
    """
    known = claim_sets(folder)
    name = name or next(reversed(known), "claims-v1")
    if name not in known:
        raise UsageError(
            f"unknown claim set {name!r}; the known ones are {', '.join(known) or 'none'}"
        )
    try:
        head, _, lines = known[name].read_bytes().partition(b"\n")
        header = json.loads(head)
        listed = [json.loads(line) for line in lines.splitlines()]
        claims = {row["key"]: Entry(**row | {"premises": tuple(row["premises"])}) for row in listed}
        loaded = ClaimSet(name, header["sha256"], header["manifest"], claims)
        facts = name, len(claims), hashlib.sha256(lines).hexdigest()
        sealed = (header["claim_set"], header["claims"], header["sha256"]) == facts
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"the claim set {known[name]} cannot be read ({error})"
        raise StoreError(f"{what}; get it again") from None
    if not sealed:
        what = (
            f"the claim set {known[name]} does not match its hash: a released set is never edited"
        )
        raise StoreError(f"{what}; get it again, and put an erratum into the next set")
    return loaded


def listing(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Rows of the index for machines, with the verdicts of the newest claim set, empty where a
    claim is not in it: `outcome` as reports print it, `verdict` whosever the sentence is."""
    words = {key: entry.verdict for key, entry in claim_set().claims.items()}
    fields = "key title wording kind holds_for source statement post_hoc tier cited supports at"
    return [
        {field: row[field] for field in fields.split()}
        | {"verdict": plain_verdict(word := words.get(row["key"], "")), "outcome": word}
        for row in rows
    ]


def plain_verdict(word: str) -> str:
    """The word of a verdict without whose sentence fails.

    >>> plain_verdict("READING FAILS"), plain_verdict("FAILS (as recalled)"), plain_verdict("HOLDS")
    ('FAILS', 'FAILS', 'HOLDS')
    """
    return "FAILS" if "FAILS" in word else word


def entry(claim: Claim, verdict: str) -> Entry:
    """A claim as a set would list it today."""
    claim = claim.plain
    names = "key title text wording kind holds_for weight premises"
    fields: dict[str, Any] = {name: getattr(claim, name) for name in names.split()}
    fields |= {"statement": str(claim.statement), "source": str(claim.source)}
    return Entry(**fields, verdict=verdict)


def changes(old: ClaimSet, today: Mapping[str, Entry]) -> dict[str, str]:
    """What differs from a set, by key: "new", "gone", or the names of the changed fields."""
    differences = dict.fromkeys(old.claims.keys() - today, "gone")
    differences |= dict.fromkeys(today.keys() - old.claims.keys(), "new")
    for key in old.claims.keys() & today:
        before, now = asdict(old.claims[key]), asdict(today[key])
        if changed := ", ".join(name for name in now if before[name] != now[name]):
            differences[key] = changed
    return dict(sorted(differences.items()))


def altered(old: ClaimSet, claims: Mapping[str, Claim]) -> set[str]:
    """The keys of a set whose claims say something else today, or are gone, whatever their
    verdicts."""
    return {
        key
        for key, listed in old.claims.items()
        if key not in claims or entry(claims[key], listed.verdict) != listed
    }


def hash_of(entries: Iterable[Entry]) -> str:
    """The hash that a set of these claims would have."""
    return hashlib.sha256(_lines(entries)).hexdigest()


def _lines(entries: Iterable[Entry]) -> bytes:
    ordered = sorted(entries, key=lambda e: e.key)
    return b"".join(canonical(asdict(e)) + b"\n" for e in ordered)


def write_claim_set(
    name: str, entries: Iterable[Entry], manifest: str, folder: Path = FOLDER
) -> ClaimSet:
    """Write the next claim set, whole or not at all; a UsageError for any other name."""
    _refuse_other_than_next(name, folder)
    lines = _lines(entries)
    header = {
        "claim_set": name,
        "claims": lines.count(b"\n"),
        "manifest": manifest,
        "sha256": hashlib.sha256(lines).hexdigest(),
    }
    write_file(folder / f"{name}.jsonl", canonical(header) + b"\n" + lines)
    return claim_set(name, folder)


def _refuse_other_than_next(name: str, folder: Path = FOLDER) -> None:
    known = claim_sets(folder)
    last = next(reversed(known), "claims-v0")
    after = f"claims-v{int(last.removeprefix('claims-v')) + 1}"
    if name in known:
        raise UsageError(f"the claim set {name} is never written again; the next one is {after}")
    if name != after:
        raise UsageError(f"{name!r} is not the next claim set; say {after}")


def _today() -> tuple[dict[str, Entry], str]:
    """Every claim with its verdict in the shipped ledger, and the ledger's manifest hash.

    Cost: about a minute.
    """
    from depthlaw.theory.claims.definition import registry

    from .record_source import Recorded
    from .reference_ledger import shipped
    from .suite_verdicts import NOT_RUN, verdict_name

    claims, ledger = registry(), shipped()
    if ledger is None:
        what = "there is no shipped ledger to take verdicts from"
        raise StoreError(f"{what}; `make reference` writes it")
    recorded, today = Recorded(claims, ledger), {}
    for key, claim in claims.items():
        result = recorded.judged(key)
        today[key] = entry(claim, verdict_name(result) if result else NOT_RUN)
    return today, ledger.header["manifest"]


def main(arguments: list[str] | None = None) -> None:
    """Say what has changed since the newest set, or write the next one."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", nargs="?", help="the set to write, such as claims-v2")
    name = parser.parse_args(arguments).name
    try:
        if name:
            _refuse_other_than_next(name)  # before the minute that judging takes
        today, manifest = _today()
        if name:
            written = write_claim_set(name, today.values(), manifest)
            print(f"{name}: {len(written.claims)} claims, SHA-256 {written.hash}")
            return
        newest = claim_set()
        differences = changes(newest, today)
        for key, what in differences.items():
            print(f"{key}: {what}")
        if manifest != newest.manifest:
            print("the shipped ledger is another one: its manifest differs")
        print(f"{len(differences)} of {len(today)} claims differ from {newest.name}")
        if differences or manifest != newest.manifest:
            raise SystemExit(1)
    except UsageError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
