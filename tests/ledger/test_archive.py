"""Records are listed, shown, verified, exported, cleared up and compared; errors are one line,
nothing is lost by looking."""

import csv
import json
import os
import subprocess
import sys
import time
from fractions import Fraction

import pytest
from made import record

from depthlaw.ledger.records.store import Record, Store, manifest
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.record_source import wanted
from depthlaw.ledger.verdicts.reference_ledger import write_ledger
from depthlaw.theory.claims.definition import Claim, registry
from depthlaw.theory.claims.values import Ball, Exact, Outside, Sample, Step

DEGREE = "separation_rank/degree"

SOME = (
    record(Exact(3**900), n=1),
    record(Exact(Fraction(1, 3)), "hops/x", 2, n=2),
    record((Step("one", True), Step("two", None), Step("three", True))),
    record(Ball(Fraction(0), Fraction(1)), n=3),
    record(Sample((0.5, 0.25)), n=4),
    record(Exact(9), claim="long/" + "name" * 20, n=10**40),
    record(Outside("gamma is not bounded"), n=5),
)


@pytest.fixture
def folder(tmp_path):
    store = Store(tmp_path / "r")
    for made in SOME:
        store.put(made)
    return tmp_path / "r"


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_list_has_a_whole_row_for_each_record_and_filters(folder, depthlaw):
    code, out, err = depthlaw("records list --results", folder)
    assert (code, err) == (0, "")
    *rows, last = out.splitlines()
    assert len(rows) == 1 + len(SOME)
    assert last == f"{len(SOME)} records in {folder}"
    for made in SOME:
        (row,) = (row for row in rows if row.startswith(made.id[:10]))
        assert made.inputs["claim"] in row
        assert all(f"{name}={value}" in row for name, value in (made.inputs["case"] or {}).items())
    assert len({row.split("  ", 1)[1] for row in rows}) == len(rows)
    assert "1 of 3 open" in out
    _, out, _ = depthlaw("records list --results", folder, "--claim", "HOPS")
    assert f"1 of {len(SOME)} records" in out
    rows = depthlaw("records list --results", folder, "--json").data
    assert {row["id"]: row["result"] for row in rows} == {made.id: made.result for made in SOME}


def test_show_finds_by_prefix_and_neutralises_controls(folder, depthlaw):
    made = SOME[1]
    code, out, _ = depthlaw("records show", made.id[:9].upper(), "--results", folder)
    assert code == 0
    assert "\x1b" not in out
    for part in (made.id, made.result_hash, "hops/x [n=2] seed 2", "1/3", f"{made.id}.json"):
        assert part in out
    _, out, _ = depthlaw("records show", made.id, "--results", folder, "--json")
    assert json.loads(out)["result"] == {"exact": "1/3"}


def test_verify_names_what_does_not_verify_and_touches_nothing(folder, depthlaw):
    store = Store(folder)
    store.write_manifest(manifest(store))
    assert depthlaw("records verify --results", folder).code == 0
    damaged, lying = store.file_of(SOME[0].id), store.write_manifest(manifest(SOME[:2]))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    lying.write_bytes(lying.read_bytes().replace(SOME[1].result_hash.encode(), b"0" * 64))
    store.write_manifest(manifest([Record(SOME[1].inputs, {"exact": "5"})]))
    before = snapshot(folder)
    code, out, _ = depthlaw("records verify --results", folder)
    assert code == 1
    assert damaged.name in out
    assert lying.name in out
    assert f"another result for the recorded run {SOME[1].id[:10]}" in out
    assert f"{len(SOME) - 1} records" in out
    assert snapshot(folder) == before
    assert len(depthlaw("records verify --results", folder, "--json").data["broken"]) == 3


def test_export_holds_every_record(folder, depthlaw, tmp_path):
    before = snapshot(folder)
    assert depthlaw("records export", tmp_path / "t.csv", "--results", folder)[0] == 0
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {row["id"]: json.loads(row["result"]) for row in rows}
    assert found == {made.id: made.result for made in SOME}
    values = {row["id"]: row["approximately"] for row in rows}
    middles = [values[made.id] and float(values[made.id]) for made in SOME]
    assert middles == ["", 1 / 3, "", 0.5, 0.375, 9.0, ""]
    assert snapshot(folder) == before
    again = (tmp_path / "t.csv").read_bytes()
    assert depthlaw("records export", tmp_path / "t.csv", "--results", folder, "--force")[0] == 0
    assert (tmp_path / "t.csv").read_bytes() == again


def temporary(folder, name, age):
    path = folder / "tmp" / name
    path.write_text("half")
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_gc_removes_old_debris_only_and_records_only_when_told(folder, depthlaw):
    run = next(r for r in plan(registry(), "quick") if r.claim.key == DEGREE)
    Store(folder).put(run.execute())
    (folder / "set-aside" / "x").mkdir(parents=True)
    aside = folder / "set-aside" / "x" / "kept"
    aside.write_text("theirs")
    old, young = temporary(folder, f"1-{'a' * 32}", 90_000), temporary(folder, f"2-{'b' * 32}", 60)
    foreign = temporary(folder, "notes.txt", 90_000)
    ahead = temporary(folder, f"3-{'c' * 32}", -90_000)
    listed = depthlaw("records list --results", folder, "--suite", "quick", "--json").data
    assert [row["id"] for row in listed] == [run.id]
    code, out, _ = depthlaw("records gc --results", folder)
    assert code == 0
    assert not old.exists()
    assert all(path.exists() for path in (young, foreign, ahead, aside))
    assert f"{len(SOME)} of {len(SOME) + 1} records" in out
    assert len(Store(folder)) == len(SOME) + 1
    assert depthlaw("records gc --results", folder, "--delete")[0] == 0
    assert [made.id for made in Store(folder)] == [run.id]
    assert aside.read_text() == "theirs"


def test_gc_keeps_what_only_another_machine_can_measure(monkeypatch):
    claims = registry()
    claim = claims[DEGREE]
    here = {run.id for run in plan({DEGREE: claim}, "full")}
    assert here <= wanted({DEGREE: claim})
    needing = {key: c for key, c in claims.items() if c.needs}
    known = wanted(needing)
    monkeypatch.setattr(Claim, "measurable", property(lambda claim: False))
    assert plan({DEGREE: claim}, "frontier") == []
    assert wanted(needing) == known


def test_diff_says_what_changed_whatever_the_code(tmp_path, depthlaw):
    claim = registry()[DEGREE]
    runs = [run.execute() for run in plan({DEGREE: claim}, "quick") if run.case is not None][:3]
    first, second = Store(tmp_path / "a"), Store(tmp_path / "b")
    for made in (*runs, record(n=1)):
        first.put(made)
    for place, made in enumerate(runs):
        inputs = made.inputs | {"code": "another"}
        second.put(Record(inputs, made.result if place else {"exact": "1000000007"}))
    second.put(record(n=2))
    code, out, _ = depthlaw("records diff", tmp_path / "a", tmp_path / "b")
    assert code == 1
    assert "2 runs the same, 1 changed (1 with another verdict), 1 added, 1 removed" in out
    assert "-> 1000000007; HOLDS -> FAILS" in out
    assert "added a/b [n=2]" in out
    assert "removed a/b [n=1]" in out
    code, out, _ = depthlaw("records diff", tmp_path / "a", tmp_path / "a", "--json")
    assert (code, json.loads(out)) == (0, {"same": 4, "changed": [], "added": [], "removed": []})


def test_diff_lists_the_first_twenty_of_a_kind(tmp_path, depthlaw):
    first, second = Store(tmp_path / "a"), Store(tmp_path / "b")
    second.put(record(n=0))
    for n in range(25):
        first.put(record(n=n))
    compared = "records diff", tmp_path / "a", tmp_path / "b"
    lines = depthlaw(*compared)[1].splitlines()
    assert sum(line.startswith("removed a/b") for line in lines) == 20
    assert "removed 4 more; --all lists them" in lines
    assert "0 added, 24 removed" in lines[-1]
    whole = depthlaw(*compared, "--all")[1].splitlines()
    assert sum(line.startswith("removed a/b") for line in whole) == 24
    assert len(whole) == 25


def test_every_command_reads_ledgers_too(folder, tmp_path, depthlaw):
    file = tmp_path / "l.gz"
    write_ledger(file, SOME, "quick")
    assert depthlaw("records verify --results", file)[0] == 0
    assert SOME[0].id[:10] in depthlaw("records list --results", file)[1]
    assert depthlaw("records show", SOME[0].id, "--results", file)[0] == 0
    code, out, _ = depthlaw("records diff", folder, file)
    assert code == 0
    assert f"{len(SOME)} runs the same, 0 changed" in out
    assert depthlaw("records verify --results reference")[0] == 0


def test_diff_calls_no_confirmed_steps_proved(tmp_path, depthlaw):
    """What steps amount to is a matter of the claim's evidence, which a record does not hold."""
    for name, holds in (("a", True), ("b", None)):
        Store(tmp_path / name).put(record((Step("one", holds),), claim=DEGREE))
    code, out, _ = depthlaw("records diff", tmp_path / "a", tmp_path / "b")
    assert code == 1
    assert "steps confirmed -> steps open" in out
    assert "PROVED" not in out


WITHOUT_TORCH = """
import contextlib, io, json, sys
sys.modules["torch"] = None  # neither found nor imported
from depthlaw.ledger.cli.arguments import main
for arguments in json.loads(sys.argv[1]):
    with (contextlib.redirect_stdout(io.StringIO()) as out,
          contextlib.redirect_stderr(io.StringIO()) as err):
        code = main(arguments)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def test_nothing_about_records_needs_torch(folder):
    """Also for the claims that PyTorch measures: their ids are hashes of sources, which nobody has
    to import."""
    commands = (
        f"records diff {folder} {folder}",
        f"records gc --results {folder}",
        f"records list --suite full --results {folder}",
        f"show trained_depth/connectivity_least_depth --all --results {folder}",
    )
    asked = json.dumps([command.split() for command in commands])
    command = [sys.executable, "-c", WITHOUT_TORCH, asked]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [code for code, _, _ in answers] == [0] * len(commands), answers
    # The reference ledger that comes with depthlaw speaks, and says where this can be measured.
    _, shown, said = answers[-1]
    assert "verdict     FAILS*: " in shown
    assert "cases       18 of 18 cases of suite full" in shown
    assert said.count("\n") == 1
    assert "to measure it here (needs the extra" in said
