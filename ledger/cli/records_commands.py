"""What one can do with records besides judging them: list, show, verify, export, clear up, and
compare two collections of them."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims.definition import Case, Claim, registry
from depthlaw.theory.claims.values import Ball, Measured, Outside, Statistical, joined
from depthlaw.theory.claims.verdict import judge

from ..records.store import (
    MARKER,
    Record,
    Result,
    Store,
    broken_manifests,
    canonical,
    decode,
    open_store,
    write_file,
)
from ..running.plan import plan
from ..running.user_claims import all_claims
from ..suite import check_suite
from ..text import clean
from ..verdicts.display import number
from ..verdicts.record_source import wanted
from ..verdicts.reference_ledger import Ledger, RunKey, agree, by_run, collection, run_key, run_name
from .plain import dump, refuse_place, report_set_aside, say, stdout

# Writing takes milliseconds: a temporary file of this age belongs to a process that was killed.
STALE = 24 * 3600.0
_TEMPORARY = re.compile(r"\d+-[0-9a-f]{32}")


def _opened(place: Path | None) -> Store:
    store = collection(place)
    report_set_aside(store)
    return store


# --- list, show, verify ---------------------------------------------------------------------------


def list_records(place: Path | None, claim: str, suite: str, json_output: bool) -> None:
    """List records, of claims whose key contains a text, or of those that a suite asks for now."""
    store = _opened(place)
    chosen = [record for record in store if claim.lower() in record.inputs["claim"].lower()]
    if suite:
        asked = {run.id for run in plan(registry(), check_suite(suite))}
        chosen = [record for record in chosen if record.id in asked]
    chosen.sort(key=run_key)
    controls = _controls(chosen)
    if json_output:
        return dump(
            [
                _row(record)
                | {"case": record.inputs["case"], "result": record.result}
                | {"control": record.id in controls}
                for record in chosen
            ]
        )
    _print_records(chosen, controls)
    of = f" of {len(store)}" if len(chosen) != len(store) else ""
    say(f"{len(chosen)}{of} records in {store.root}")


def _controls(records: Iterable[Record]) -> frozenset[str]:
    """The ids of those that were measured for a negative control alone, whatever code did it."""
    claims = registry()

    def alone(key: str, case: object) -> bool:
        """Whether the case of a control is no case of the claim."""
        control = claims[key].control.case if key in claims else None
        return (
            control is not None
            and control.fields() == case
            and not any(control in listed for listed in claims[key].grid.values())
        )

    return frozenset(
        record.id
        for record in records
        if record.inputs.get("control") or alone(record.inputs["claim"], record.inputs["case"])
    )


def _print_records(chosen: Iterable[Record], controls: frozenset[str] = frozenset()) -> None:
    """A row for each record, whole: piped as it is, wrapped in a terminal."""
    rows = [("id", "claim", "case", "value")]
    for record in chosen:
        key, case, seed, _ = run_key(record)
        claim, _, rest = run_name((key, case, seed, record.id in controls)).partition(" [")
        words, _, more = rest.rpartition("]")
        rows.append((record.id[:10], clean(claim), clean(words + more), _short(record.result)))
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    console = stdout()
    lines = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]).rstrip() for row in rows]
    if console.is_terminal and max(map(len, lines)) > console.width:
        # Thousands of rows: the standard library wraps them a hundred times faster than a table of
        # rich.
        wrap = partial(textwrap.wrap, subsequent_indent=" " * 12, break_on_hyphens=False)
        lines = [line for row in rows for line in wrap("  ".join(row), console.width)]
    sys.stdout.write("\n".join([*lines, ""]))


def _short(result: Mapping[str, Any]) -> str:
    value = decode(result)
    if isinstance(value, tuple):
        open_steps = sum(step.holds is not True for step in value)
        return f"{open_steps} of {len(value)} open" if open_steps else f"{len(value)} steps ok"
    return "out of scope" if isinstance(value, Outside) else clean(number(value))


def show_record(start: str, place: Path | None, json_output: bool) -> None:
    """Show one record whole, found by the beginning of its id."""
    store = _opened(place)
    matching = [record for record in store if record.id.startswith(start.lower())]
    if len(matching) != 1 or not start:
        what = (
            f"{len(matching)} records have ids that begin with {quoted(start)}; type more of it"
            if matching
            else f"no record has the id {quoted(start)}"
        )
        raise UsageError(f"{what}; `depthlaw records list` shows ids")
    record, file = matching[0], store.file_of(matching[0].id)
    if json_output:
        return dump({"file": str(file)} | json.loads(record.to_bytes()))
    key, case, seed, _ = run_key(record)
    rows = [
        ("id", record.id),
        ("run", run_name((key, case, seed, bool(_controls([record]))))),
        ("result", json.dumps(dict(record.result), ensure_ascii=False)),
        ("result hash", record.result_hash),
        ("code", str(record.inputs.get("code", ""))),
        ("device", str(record.inputs.get("device", ""))),
    ]
    for group, facts in sorted(record.facts.items()):
        values = facts if isinstance(facts, dict) else {"": facts}
        lines = [f"{k} {json.dumps(v, ensure_ascii=False)}" for k, v in values.items()]
        rows += zip_longest([group][: len(lines)], lines, fillvalue="")
    rows.append(("file", str(file)))
    sys.stdout.write("".join(f"{name:12}{clean(text)}\n" for name, text in rows))


def verify_records(place: Path | None, json_output: bool) -> int:
    """Verify every hash in a results folder or ledger. Returns 1 when something does not verify."""
    store = collection(place)
    broken = [[item.name, item.why] for item in store.set_aside]
    broken += [] if isinstance(store, Ledger) else broken_manifests(store)
    if json_output:
        dump({"place": str(store.root), "verified": len(store), "broken": broken})
    else:
        for name, why in broken:
            say(f"does not verify: {name} ({why})")
        say(
            f"{len(store)} records in {store.root} verify"
            + (f"; {len(broken)} files do not" if broken else "")
        )
    return 1 if broken else 0


# --- export ---------------------------------------------------------------------------------------

_COLUMNS = "id claim case seed code device form result approximately result_hash wall_s cpu_s facts"


def _row(record: Record) -> dict[str, Any]:
    """A record as one flat row: exact values stay text, `approximately` is for plots."""
    inputs, timing = record.inputs, record.facts.get("timing", {})
    forms = ("exact", "ball", "sample", "proportion", "outside", "proof")
    return {
        "id": record.id,
        "claim": inputs["claim"],
        "case": canonical(inputs["case"]).decode(),
        "seed": inputs["seed"],
        "code": inputs.get("code", ""),
        "device": inputs.get("device", ""),
        "form": next(name for name in forms if name in record.result),
        "result": canonical(record.result).decode(),
        "approximately": _approximately(decode(record.result)),
        "result_hash": record.result_hash,
        "wall_s": timing.get("wall_s"),
        "cpu_s": timing.get("cpu_s"),
        "facts": canonical(record.facts).decode(),
    }


def _approximately(value: Result) -> float | None:
    if isinstance(value, tuple | Outside):
        return None
    if isinstance(value, Statistical):
        return value.mean
    middle = (value.low + value.high) / 2 if isinstance(value, Ball) else Fraction(value.value)
    try:
        return float(middle)
    except OverflowError:
        return None


def export(file: Path, place: Path | None, force: bool, json_output: bool) -> None:
    """Write all records as one table in CSV. It is derived: delete it and export again at any
    time."""
    refuse_place(file, force)
    if file.suffix.lower() != ".csv":
        raise UsageError(f"records are exported as CSV; {quoted(file.name)} must end with .csv")
    store = _opened(place)
    rows = [_row(record) for record in sorted(store, key=run_key)]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS.split(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_file(file, text.getvalue().encode())
    if json_output:
        dump({"file": str(file), "format": "csv", "records": len(rows)})
    else:
        say(f"{len(rows)} records of {store.root} written to {file}")


# --- clearing up ----------------------------------------------------------------------------------


def gc(folder: Path | None, delete: bool, json_output: bool, own: Path | None = None) -> None:
    """Remove what killed writers left behind, and list the records that no claim asks for now; with
    `delete`, remove these too.

    What was set aside is never removed. The records of somebody's own claims are asked for when
    their file `own` is given.
    """
    store = open_store(folder, read_only=True)
    if not (store.root / MARKER).is_file():
        raise UsageError(
            f"{store.root} is not a results folder (no {MARKER} in it); give one with --results DIR"
        )
    report_set_aside(store)
    # Those that no living writer can still be at.
    temporary = [
        path
        for path in sorted((store.root / "tmp").glob("*"))
        if _TEMPORARY.fullmatch(path.name)
        and path.is_file()
        and not path.is_symlink()
        and time.time() - path.lstat().st_mtime > STALE
    ]
    asked = wanted(all_claims(own))
    unasked = sorted((record for record in store if record.id not in asked), key=run_key)
    files = [store.file_of(record.id) for record in unasked]
    size = sum(file.stat().st_size for file in files if file.exists())
    try:
        for file in [*temporary, *(files if delete else [])]:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot remove {error.filename} ({error.strerror})") from None
    if json_output:
        return dump(
            {
                "temporary_removed": [str(p) for p in temporary],
                "unasked": [record.id for record in unasked],
                "bytes": size,
                "deleted": delete,
            }
        )
    if unasked:
        _print_records(unasked)
    say(f"{len(temporary)} stale temporary files removed")
    fate = ": removed" if delete else ": kept; --delete removes them"
    say(
        f"{len(unasked)} of {len(store)} records ({size} bytes) are of claims, cases or "
        f"code that no suite asks for now{fate if unasked else ''}"
    )


# --- comparing two collections --------------------------------------------------------------------

# How many runs of each kind are listed without --all.
_LISTED = 20


def diff(first: Path, second: Path, json_output: bool, *, everything: bool = False) -> int:
    """Say which runs were added, removed or came out differently between two results folders or
    ledgers; `everything`: all of them, however many. Returns 1 when any did."""
    stores = _opened(first), _opened(second)
    claims = registry()
    asked = wanted(claims)
    a, b = (by_run(store, asked) for store in stores)
    judged = partial(_verdict, claims)
    changed = []
    for key in sorted(k for k in a if k in b and a[k].result != b[k].result):
        before, after = decode(a[key].result), decode(b[key].result)
        changed.append(
            {
                "run": run_name(key),
                "before": a[key].result,
                "after": b[key].result,
                "verdict_before": judged(key, a),
                "verdict_after": judged(key, b),
                "compatible": agree(before, after, 0.01),
            }
        )
    added, removed = (
        [run_name(key) for key in sorted(keys)]
        for keys in (b.keys() - a.keys(), a.keys() - b.keys())
    )
    same = len(a.keys() & b.keys()) - len(changed)
    if json_output:
        dump({"same": same, "changed": changed, "added": added, "removed": removed})
    else:
        _print_diff(changed, added, removed, same, None if everything else _LISTED)
    return 1 if changed or added or removed else 0


def _print_diff(
    changed: list[dict[str, Any]], added: list[str], removed: list[str], same: int, most: int | None
) -> None:
    """The first `most` lines of each kind, all where it is None, and the counts."""
    lines = {"changed": [_changed(row) for row in changed], "added": added, "removed": removed}
    for word, listed in lines.items():
        for line in listed[:most]:
            say(f"{word} {line}")
        if left := len(listed[most:]) if most else 0:
            say(f"{word} {left} more; --all lists them")
    turned = sum(row["verdict_before"] != row["verdict_after"] for row in changed)
    say(
        f"{same} runs the same, {len(changed)} changed ({turned} with another verdict), "
        f"{len(added)} added, {len(removed)} removed"
    )


def _changed(row: Mapping[str, Any]) -> str:
    verdicts = [row["verdict_before"], row["verdict_after"]]
    verdict = verdicts[0] if len(set(verdicts)) == 1 else " -> ".join(verdicts)
    fits = " (within their uncertainty)" if row["compatible"] else ""
    return f"{row['run']}: {_short(row['before'])} -> {_short(row['after'])}{fits}; {verdict}"


def _verdict(claims: Mapping[str, Claim], key: RunKey, records: Mapping[RunKey, Record]) -> str:
    """What today's claim says of a run's value; samples are pooled over the seeds of the case."""
    claim, result = claims.get(key[0]), decode(records[key].result)
    if claim is None:
        return "no such claim now"
    if isinstance(result, tuple):
        # What confirmed steps amount to depends on the claim and its cases; here is only said
        # whether they are confirmed.
        return "steps confirmed" if all(step.holds for step in result) else "steps open"
    value: Measured = result
    if isinstance(result, Statistical):
        seeds = [decode(r.result) for k, r in records.items() if (k[:2], k[3]) == (key[:2], key[3])]
        value = joined([seed for seed in seeds if isinstance(seed, type(result))])[0]
    try:
        return judge(claim, Case(**json.loads(key[1])), value).verdict.value
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return "cannot be judged now"
