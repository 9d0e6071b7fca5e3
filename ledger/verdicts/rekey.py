"""Carrying records over a change of the code that changes no value: each gets the code version that
the same run has now, where it had the one that the run had before.

    python -m depthlaw.ledger.verdicts.rekey --list before.json              # with the old code
    python -m depthlaw.ledger.verdicts.rekey before.json [--results DIR --to DIR]    # with the new

With `--map FILE`, claims that became others take their records along: the file is a JSON list of
`{"old": key, "new": key, "carry": true, "fields": {...}, "drop": [...]}`, where `fields` are added
to each case and those of `drop` taken from it. What it names with `"carry": false` is left out, to
be measured again, and so are proofs of such claims and runs to which two different values would go.

Results are copied as they are; a record whose version is not the listed one was measured by other
code, and is left out and named. Without a folder the shipped ledger is rewritten, where none is
left out.
That the values are those that the new code measures is checked by measuring: `verify` in an empty
folder compares them with the reference.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from depthlaw.theory.claims.definition import DEVICE_OF, SUITES, registry

from ..records.run import Run
from ..records.store import Record, open_store
from ..running.plan import plan
from .reference_ledger import SHIPPED, Ledger, run_key, run_name, shipped, write_ledger

# A run without its code version: what `run_key` gives, and the device.
Name = str


def runs() -> dict[Name, Run]:
    """Every run of every suite that needs no GPU."""
    claims = registry()
    return {
        name(run.inputs): run
        for suite in SUITES
        if suite not in DEVICE_OF
        for run in plan(claims, suite)
    }


def name(inputs: Mapping[str, object]) -> Name:
    """What a run is called in the list: its inputs without the code version."""
    return json.dumps(
        {key: value for key, value in inputs.items() if key != "code"}, sort_keys=True
    )


def rekeyed(
    records: Iterable[Record],
    before: Mapping[Name, str],
    now: Mapping[Name, Run],
    merged: Sequence[Mapping[str, Any]] = (),
) -> Iterator[tuple[Record, Record]]:
    """The records of the listed versions, each with the record that its run has now.

    Args:
        records, before, now: what there is; versions by name; runs by name.
        merged: rows of a map of claims, as above. A claim with several rows goes by those that give
            a run that there is.
    """
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in merged:
        rows.setdefault(row["old"], []).append(row)
    for record in records:
        if record.inputs["code"] != before.get(name(record.inputs)):
            continue
        for row in rows.get(record.inputs["claim"], [{"carry": True}]):
            proof = record.inputs["case"] is None and "new" in row
            run = now.get(name(_mapped(record.inputs, row)))
            if row["carry"] and run is not None and not proof:
                yield record, Record(run.inputs, record.result, record.facts)


def _mapped(inputs: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a run under the claim that its claim became."""
    case = inputs["case"]
    if case is not None:
        case = {k: v for k, v in case.items() if k not in row.get("drop", ())}
        case |= row.get("fields", {})
    return {**inputs, "claim": row.get("new", inputs["claim"]), "case": case}


def _shipped() -> Ledger:
    ledger = shipped()
    assert ledger is not None
    return ledger


def _old(folder: Path | None) -> Iterable[Record]:
    return _shipped() if folder is None else open_store(folder, read_only=True)


def _torn(pairs: Iterable[tuple[Record, Record]]) -> dict[str, str]:
    """The runs to which records of different values would go: names by id."""
    values: dict[str, Any] = {}
    return {
        new.id: run_name(run_key(new))
        for _, new in pairs
        if values.setdefault(new.id, new.result) != new.result
    }


def main(arguments: list[str] | None = None) -> int:
    """List versions, or carry records over. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m depthlaw.ledger.verdicts.rekey")
    parser.add_argument("versions", type=Path, help="the list of the old code's versions")
    parser.add_argument("--list", action="store_true", help="write it, of this code")
    parser.add_argument("--results", type=Path, help="records; by default the shipped ledger")
    parser.add_argument("--to", type=Path, help="the folder that the records go to")
    parser.add_argument("--map", type=Path, help="which claims became which")
    options = parser.parse_args(arguments)
    if options.list:
        options.versions.write_text(json.dumps({k: run.code for k, run in runs().items()}))
        return 0
    before = json.loads(options.versions.read_text())
    merged = json.loads(options.map.read_text()) if options.map else []
    old = list(_old(options.results))
    pairs = list(rekeyed(old, before, runs(), merged))
    torn = _torn(pairs)
    new = {record.id: record for _, record in pairs if record.id not in torn}
    carried = {record.id for record, other in pairs if other.id in new}
    if options.results is not None or options.to is not None:
        store = open_store(options.to)
        for record in new.values():
            store.put(record)
    elif len(carried) == len(old):
        write_ledger(SHIPPED, new.values(), _shipped().header["suite"])
    for record in old:
        if record.id not in carried:
            print(f"left out: {run_name(run_key(record))}")
    for run in torn.values():
        print(f"two values, to be measured again: {run}")
    kept = options.results is None and options.to is None and len(carried) < len(old)
    print(
        f"{len(new)} of {len(old)} records carried over, results unchanged"
        + ("; the shipped ledger stays as it is" if kept else "")
    )
    return int(kept)


if __name__ == "__main__":
    sys.exit(main())
