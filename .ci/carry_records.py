"""Carrying records over a change of the code that changes no value: each gets the code version that
the same run has now, where it had the one that the run had before.

    .venv/bin/python .ci/carry_records.py before.json --list    # with the old code
    .venv/bin/python .ci/carry_records.py before.json [--results DIR --to DIR]    # new

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
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Record, open_store
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.reference_ledger import (
    SHIPPED,
    run_key,
    run_name,
    shipped,
    write_ledger,
)
from depthlaw.theory.claims.definition import DEVICE_OF, SUITES, registry

# A run without its code version: what `run_key` gives, and the device.
Name = str


@cache
def runs() -> dict[Name, Run]:
    """Every run of every suite that needs no GPU."""
    asked = (plan(registry(), suite) for suite in SUITES if suite not in DEVICE_OF)
    return {name(run.inputs): run for suite in asked for run in suite}


def name(inputs: Mapping[str, object]) -> Name:
    """What a run is called in the list: its inputs without the code version."""
    return json.dumps(
        {key: value for key, value in inputs.items() if key != "code"}, sort_keys=True
    )


def rekeyed(
    records: Iterable[Record], before: Mapping[Name, str], now: Mapping[Name, Run]
) -> Iterator[Record]:
    """The records of the listed versions (by name), each as its run has it now."""
    for record in records:
        called = name(record.inputs)
        if record.inputs["code"] == before.get(called) and called in now:
            yield Record(now[called].inputs, record.result, record.facts)


def main(arguments: list[str] | None = None) -> int:
    """List versions, or carry records over. Returns the exit code."""
    parser = argparse.ArgumentParser(prog=".ci/carry_records.py")
    parser.add_argument("versions", type=Path, help="the list of the old code's versions")
    parser.add_argument("--list", action="store_true", help="write it, of this code")
    parser.add_argument("--results", type=Path, help="records; by default the shipped ledger")
    parser.add_argument("--to", type=Path, help="the folder that the records go to")
    options = parser.parse_args(arguments)
    if options.list:
        options.versions.write_text(json.dumps({k: run.code for k, run in runs().items()}))
        return 0
    before = json.loads(options.versions.read_text())
    ledger = shipped()
    assert ledger is not None
    # A folder may be empty, which is not to ask for the ledger.
    asked = options.results is not None
    old = list(open_store(options.results, read_only=True) if asked else ledger)
    new = list(rekeyed(old, before, runs()))
    carried = {name(record.inputs) for record in new}
    left_out = [record for record in old if name(record.inputs) not in carried]
    to_folder = asked or options.to is not None
    shipped_stays = not to_folder and bool(left_out)
    if to_folder:
        store = open_store(options.to)
        for record in new:
            store.put(record)
    elif not left_out:
        write_ledger(SHIPPED, new, ledger.header["suite"])
    for record in left_out:
        print(f"left out: {run_name(run_key(record))}")
    stays = "; the shipped ledger stays as it is" if shipped_stays else ""
    print(f"{len(new)} of {len(old)} records carried over, results unchanged{stays}")
    return int(shipped_stays)


if __name__ == "__main__":
    sys.exit(main())
