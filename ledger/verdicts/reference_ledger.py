"""Ledgers: many records in one file, sealed as a whole. A small one is shipped, so that there is
something to show, and to agree with, before anything was measured.

The file holds canonical JSON lines, compressed: a header (how many records, their manifest, a hash
over the lines, the environment they come from, a seal), then the inputs, the result and the time of
each record. Ids and result hashes are computed again when it is read.

    python -m depthlaw.ledger.verdicts.reference_ledger --results DIR   # write the shipped one
"""

from __future__ import annotations

import argparse
import errno
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims.values import (
    FALSE_ALARM_BUDGET,
    Ball,
    Exact,
    Proportion,
    Sample,
    Statistical,
    joined,
)

from ..records.store import (
    LARGEST,
    MALFORMED,
    SCHEMA,
    Record,
    Result,
    Store,
    StoreError,
    canonical,
    check_schema,
    decode,
    digest,
    manifest,
    open_store,
    write_file,
)
from .known_verdicts import Known, known, write_known

if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

SHIPPED = Path(__file__).with_name("reference.jsonl.gz")
FORMAT = 1

# What a run is, apart from the code and the device that did it: claim key, canonical case, seed,
# whether it is a negative control.
RunKey = tuple[str, bytes, int, bool]


class Ledger(Store):
    """The records of one ledger file, read like a results folder that nothing can be written to.

    Attributes:
        header: what the file says about itself.

    Raises:
        StoreError: when the file cannot be read, or does not verify.
    """

    lacks = "not in the reference ledger"

    def __init__(self, file: Path) -> None:
        self.root = file
        self.read_only = True
        self.set_aside = []
        try:
            self.header, lines = _parts(file)
            self._records = {record.id: record for record in self._lines(lines)}
            listed = manifest(self)
            if listed["hash"] != self.header["manifest"] or len(self) != self.header["records"]:
                raise ValueError("its records do not match its manifest")
        except OSError as error:
            why = error.strerror or error
            raise StoreError(f"the ledger {file} cannot be read ({why})") from None
        except MALFORMED as error:
            why = f"({error}); get it again, or write it again"
            raise StoreError(f"the ledger {file} does not verify {why}") from None

    def _lines(self, lines: bytes) -> Iterator[Record]:
        listed, environment = lines.splitlines(), self.header["environment"]
        for line, body in zip(listed, json.loads(b"[%s]" % b",".join(listed)), strict=True):
            facts = {"environment": environment, "timing": {"wall_s": body["wall_s"]}}
            record = Record(body["inputs"], body["result"], facts)
            # The line is canonical, as its hash says, so that its parts need not be encoded again.
            inputs, _, rest = line.partition(b',"result":{')
            record.encoded_as(inputs[len(b'{"inputs":') :], b"{" + rest.rpartition(b",")[0])
            decode(record.result)
            yield record

    def file_of(self, run_id: str) -> Path:
        """The ledger's file, which holds every record."""
        return self.root

    def put(self, record: Record, *, settle: bool = True) -> None:
        """Refused: a ledger is written as a whole."""
        what = f"{self.root} is a ledger, which is read-only"
        raise StoreError(f"{what}; records go to a results folder")

    def write(self, path: Path, data: bytes, *, settle: bool = True) -> None:
        """Refused, as by a read-only disk."""
        raise OSError(errno.EROFS, "a ledger is read-only")


def _parts(file: Path) -> tuple[dict[str, Any], bytes]:
    """The verified header and the lines below it."""
    try:
        # The cap is on what is unpacked: a small file may unpack to anything.
        with gzip.open(file) as stream:
            text = stream.read(LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError("truncated, damaged, or not a ledger") from None
    if len(text) > LARGEST:
        raise ValueError("too large for a ledger")
    head, _, lines = text.partition(b"\n")
    header = json.loads(head)
    if header.pop("seal") != digest(header) or header["lines"] != hashlib.sha256(lines).hexdigest():
        raise ValueError("its content does not match its seal")
    if header["ledger"] != FORMAT:
        raise ValueError(f"its form is {header['ledger']!r}, known is {FORMAT}")
    check_schema(header["schema"])
    return header, lines


def write_ledger(file: Path, records: Iterable[Record], suite: str) -> dict[str, Any]:
    """Write records as a ledger, whole or not at all; the same records give the same bytes but for
    times and environment. Returns the header."""
    # Suites of one claim share its proof and its negative control.
    ordered = sorted({record.id: record for record in records}.values(), key=run_key)
    bodies = ({"inputs": r.inputs, "result": r.result, "wall_s": _seconds(r)} for r in ordered)
    lines = b"".join(canonical(body) + b"\n" for body in bodies)
    environments = (r.facts["environment"] for r in ordered if "environment" in r.facts)
    header: dict[str, Any] = {
        "ledger": FORMAT,
        "schema": SCHEMA,
        "suite": suite,
        "records": len(ordered),
        "manifest": manifest(ordered)["hash"],
        "lines": hashlib.sha256(lines).hexdigest(),
        "environment": next(environments, {}),
    }
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as stream:
        stream.write(canonical(header | {"seal": digest(header)}) + b"\n" + lines)
    write_file(file, packed.getvalue())
    return header


def _seconds(record: Record) -> float | None:
    """The wall time of a run to two digits: enough for an estimate on another machine."""
    seconds = record.facts.get("timing", {}).get("wall_s")
    return float(f"{seconds:.2g}") if isinstance(seconds, int | float) else None


def sealed() -> dict[str, Any]:
    """The header of the ledger that comes with depthlaw, whose lines match the hash in it; ids and
    results are not computed again.

    Raises:
        StoreError: when it is missing or damaged.

    Cost: a tenth of what `shipped` takes.
    """
    try:
        return _parts(SHIPPED)[0]
    except (OSError, *MALFORMED) as error:
        raise StoreError(f"the ledger {SHIPPED} does not verify ({error}); get it again") from None


def shipped() -> Ledger | None:
    """The ledger that comes with depthlaw, or None where it is missing.

    Raises:
        StoreError: when it does not verify.

    Cost: a second; nothing for the second time while its file is the same.
    """
    if not SHIPPED.is_file():
        return None
    facts = SHIPPED.stat()
    return _read(SHIPPED, (facts.st_mtime_ns, facts.st_size))


@cache
def _read(file: Path, version: tuple[int, int]) -> Ledger:
    return Ledger(file)


def collection(place: Path | None) -> Store:
    """The records of a results folder, of a ledger file, or (the word "reference") of the ledger
    that comes with depthlaw; read-only."""
    if place is None:
        return open_store(None, read_only=True)
    if str(place) == "reference" and not place.exists():
        ledger = shipped()
        if ledger is None:
            raise UsageError("this installation holds no reference ledger")
        return ledger
    return Ledger(place) if place.is_file() else open_store(place, read_only=True)


def run_key(record: Record) -> RunKey:
    """Which run a record belongs to, whatever code and device did it."""
    return (
        record.inputs["claim"],
        canonical(record.inputs["case"]),
        record.inputs["seed"],
        bool(record.inputs.get("control", False)),
    )


def run_name(key: RunKey) -> str:
    """A run in words, as the progress bar and the messages write it."""
    claim, case, seed, control = key
    fields = json.loads(case)
    words = " ".join(f"{k}={v}" for k, v in fields.items()) if fields else "proof"
    of = f"{claim} [{words}]" + (f" seed {seed}" if seed else "")
    return f"{of} (negative control)" if control else of


def by_run(records: Iterable[Record], asked: frozenset[str] = frozenset()) -> dict[RunKey, Record]:
    """One record for every run: where several versions of the code did it, the one that is asked
    for, else the one with the least id."""
    # The last one of a key stays.
    ordered = sorted(records, key=lambda r: (r.id not in asked, r.id), reverse=True)
    return {run_key(record): record for record in ordered}


@dataclass(frozen=True)
class Agreement:
    """How the runs of this machine compare with those of a reference.

    Attributes:
        runs: how many runs there are here.
        compared: how many of them were compared with the reference, value by value.
        equal: how many of those have the very same value.
        disagreements: the runs that differ by more than their uncertainty: (run, here, reference),
            the values encoded.
        by_verdict: how many runs the reference holds too whose values depend on how a machine
            rounds, such as those of trained nets: only their verdicts are compared.
    """

    runs: int
    compared: int
    equal: int
    disagreements: tuple[tuple[RunKey, Mapping[str, Any], Mapping[str, Any]], ...]
    by_verdict: int = 0

    @property
    def agreeing(self) -> int:
        """How many of those that were compared do not differ."""
        return self.compared - len(self.disagreements)

    @property
    def absent(self) -> int:
        """How many runs the reference does not hold."""
        return self.runs - self.compared - self.by_verdict

    @property
    def line(self) -> str:
        """The agreement in one line; every run is in one of its parts."""
        near, differ = self.agreeing - self.equal, len(self.disagreements)
        values = f"{self.equal} equal" if self.equal < self.compared else "all equal"
        by_verdict = f"{self.by_verdict} whose digits depend on rounding, compared by verdict"
        return (
            f"reference: {self.compared} of {self.runs} runs compared"
            + (f", {values}" if self.compared else "")
            + (f", {near} within their intervals" if near else "")
            + (f", {differ} DIFFER" if differ else "")
            + (f"; {by_verdict}" if self.by_verdict else "")
            + (f"; {self.absent} not in the reference" if self.absent else "")
        )

    def as_json(self) -> dict[str, Any]:
        """The agreement for machines."""
        return {
            "runs": self.runs,
            "compared": self.compared,
            "equal": self.equal,
            "agree": self.agreeing,
            "by_verdict": self.by_verdict,
            "without_reference": self.absent,
            "disagreements": [
                {"run": run_name(key), "here": here, "reference": there}
                for key, here, there in self.disagreements
            ],
        }


def compare(
    records: Iterable[Record],
    reference: Iterable[Record],
    portable: Callable[[str], bool] = lambda key: True,
) -> Agreement:
    """Compare records with a reference run by run, whatever code did them.

    Exact values must be equal, rigorous intervals must overlap, and so must the confidence
    intervals of samples, pooled over the seeds of a case. `portable`: whether the values of a
    claim, by its key, are compared; rounding makes other nets of the same seeds on another machine,
    of which only verdicts are.
    """
    ours = by_run(records)
    claims = {key[0] for key in ours}
    theirs = by_run(record for record in reference if record.inputs["claim"] in claims)
    held = [key for key in ours if key in theirs]
    common = [key for key in held if portable(key[0])]
    unequal = [key for key in common if ours[key].result != theirs[key].result]
    # The seeds of one case are pooled.
    pools: dict[tuple[str, bytes, bool], list[RunKey]] = defaultdict(list)
    for key in common if unequal else ():
        pools[key[0], key[1], key[3]].append(key)
    statistical = [k for k in unequal if not {"sample", "proportion"}.isdisjoint(ours[k].result)]
    comparisons = len({(claim, case, control) for claim, case, _, control in statistical})
    alpha, wrong = FALSE_ALARM_BUDGET / max(comparisons, 1), []
    for key in unequal:
        pool = pools[key[0], key[1], key[3]]
        if not agree(_pooled(key, pool, ours), _pooled(key, pool, theirs), alpha):
            wrong.append((key, ours[key].result, theirs[key].result))
    equal = len(common) - len(unequal)
    return Agreement(len(ours), len(common), equal, tuple(wrong), len(held) - len(common))


def _pooled(key: RunKey, pool: list[RunKey], records: Mapping[RunKey, Record]) -> Result:
    own = decode(records[key].result)
    if not isinstance(own, Statistical):
        return own
    values = (decode(records[k].result) for k in pool)
    return joined([value for value in values if isinstance(value, type(own))])[0]


def agree(ours: Result, theirs: Result, alpha: float) -> bool:
    """Whether two results of one run can both be right.

    >>> from fractions import Fraction
    >>> around = Ball(Fraction(8), Fraction(10))
    >>> [agree(Exact(9), other, 0.01) for other in (Exact(9), Exact(8), around)]
    [True, False, False]
    """
    match ours, theirs:
        case Exact(), Exact():
            return ours.value == theirs.value
        case Ball(), Ball():
            return ours.low <= theirs.high and theirs.low <= ours.high
        case (Sample() as one, Sample() as other) | (Proportion() as one, Proportion() as other):
            (a, b), (c, d) = one.interval(alpha), other.interval(alpha)
            return one == other or (a <= d and c <= b)
        case tuple(), tuple():
            # The wording of the steps may change; whether the argument stands may not.
            return all(step.holds for step in ours) == all(step.holds for step in theirs)
    return False


def main(arguments: list[str] | None = None) -> int:
    """Write the shipped ledger from the records of a suite, and what they say of each case. Returns
    the exit code."""
    from depthlaw.theory.claims.definition import ALONE, AS_IT_COMES, DEVICE_OF, SUITES, registry

    from ..running.plan import plan

    smallest, *_, largest = (suite for suite in SUITES if suite not in ALONE)
    alone = [suite for suite in ALONE if suite not in DEVICE_OF]
    parser = argparse.ArgumentParser(
        prog="python -m depthlaw.ledger.verdicts.reference_ledger",
        description="Write the reference ledger from a suite's records.",
    )
    where = "results folder; by default depthlaw's folder among your data"
    parser.add_argument("--results", type=Path, help=where)
    parser.add_argument("--out", type=Path, default=SHIPPED, help="by default the shipped file")
    accept = "accept cases that are decided otherwise than is known"
    parser.add_argument("--turned", action="store_true", help=accept)
    options = parser.parse_args(arguments)
    try:
        store = open_store(options.results, read_only=True)
        claims = registry()
        of_suite = {suite: plan(claims, suite) for suite in (smallest, largest, *alone)}
        # Special suites and trainings take many minutes: whoever has no time for them finds their
        # values here.
        trained = {key: claim for key, claim in claims.items() if claim.needs}
        parts = (*(of_suite[suite] for suite in (smallest, *alone)), plan(trained, largest))
        runs = {run.id: run for part in parts for run in part}
        # What takes days is recorded as it comes.
        may_miss = {run.id for suite in AS_IT_COMES for run in of_suite.pop(suite)}
        may_miss -= {run.id for part in of_suite.values() for run in part}
        records = [record for run in runs if (record := store.get(run))]
        missing = runs.keys() - {record.id for record in records}
        if missing - may_miss or not runs:
            of = f"{len(missing - may_miss)} of {len(runs)} runs of suite {smallest}"
            where = f"and of what comes with it are not recorded in {store.root}"
            raise UsageError(f"{of} {where}; `make reference` records them first")
        if options.out == SHIPPED:
            fresh = _known_of(claims, store)
            if (turned := _changes(fresh, claims)) and not options.turned:
                what = f"{len(turned)} cases are decided otherwise than is known"
                raise UsageError(f"{what}, first {turned[0]}; find out why, then add --turned")
            write_known(fresh)
        header = write_ledger(options.out, records, smallest)
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    if missing:
        print(f"{len(missing)} runs of suite {', '.join(AS_IT_COMES)} are not recorded yet")
    size = f"{header['records']} records, {options.out.stat().st_size} bytes"
    print(f"{options.out}: {size}, manifest {header['manifest']}")
    return 0


def _known_of(claims: Mapping[str, Claim], store: Store) -> dict[str, Known]:
    """What the records of a folder say of every claim in every suite of this device; what was known
    of cases without a record stays."""
    from depthlaw.theory.claims.definition import DEVICE_OF, SUITES

    from .suite_verdicts import NOT_RUN, outcome, results

    words: dict[str, dict[str, str]] = {key: {} for key in claims}
    verdicts = {
        key: {c: word for c, word in (known(key) or Known()).cases.items() if c in claim.every_case}
        for key, claim in claims.items()
    }
    for suite in (suite for suite in SUITES if suite not in DEVICE_OF):
        mine = {key: claim for key, claim in claims.items() if claim.cases(suite)}
        for result in results(mine, suite, store):
            key, rows = result.claim.key, result.cases
            verdicts[key] |= {r.case: r.verdict_name for r in rows if r.verdict_name != NOT_RUN}
            if result.measured and not result.missing:
                words[key][result.suite] = outcome(result)
    return {
        key: Known(words[key], cases if set(cases.values()) - {"HOLDS"} else {})
        for key, cases in verdicts.items()
    }


def _changes(fresh: Mapping[str, Known], claims: Mapping[str, Claim]) -> list[str]:
    """Each case of a claim that was decided one way and now is the other."""
    return [
        f"{key} [{case}]: {before}, now {after}"
        for key, record in fresh.items()
        for case, before in (known(key) or Known()).cases.items()
        if case in claims[key].every_case
        if {before, after := record.cases.get(case, "HOLDS")} == {"HOLDS", "FAILS"}
    ]


if __name__ == "__main__":
    sys.exit(main())
