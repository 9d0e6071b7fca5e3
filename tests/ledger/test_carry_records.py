"""Records are carried over a change of the code that changes no value: those of the listed version,
and no others."""

import importlib.util
import json
from pathlib import Path

from depthlaw.ledger.cli.arguments import main as depthlaw
from depthlaw.ledger.records.store import Record, open_store
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts import reference_ledger
from depthlaw.theory.claims.definition import find

KEY = "hops/doubling"

_SCRIPT = Path(__file__).parents[2] / ".ci/carry_records.py"
_SPEC = importlib.util.spec_from_file_location("carry_records", _SCRIPT)
carry_records = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(carry_records)
main, name, rekeyed = carry_records.main, carry_records.name, carry_records.rekeyed


def test_a_record_of_the_listed_version_gets_the_new_one() -> None:
    run, other = plan({KEY: find(KEY)}, "quick")[:2]
    result, facts = {"exact": "3"}, {"timing": {"wall_s": 1.0}}
    old = [
        Record(dict(each.inputs) | {"code": code}, result, facts)
        for each, code in ((run, "before"), (other, "older"))
    ]
    names = {name(each.inputs): each for each in (run, other)}
    carried = list(rekeyed(old, dict.fromkeys(names, "before"), names))
    assert [(each.inputs, each.result, each.facts) for each in carried] == [
        (run.inputs, result, facts)
    ]
    assert list(rekeyed(old, {}, names)) == []
    assert list(rekeyed(old, dict.fromkeys(names, "before"), {})) == []


def test_a_results_folder_is_carried_over_and_what_is_left_out_is_named(tmp_path, capsys) -> None:
    old, new, listed = tmp_path / "old", tmp_path / "new", tmp_path / "versions.json"
    assert depthlaw(["verify", "quick", "--only", KEY, "--results", str(old), "--quiet"]) == 0
    assert main([str(listed), "--list"]) == 0
    capsys.readouterr()
    assert main([str(listed), "--results", str(old), "--to", str(new)]) == 0
    there = {each.id: each.result for each in open_store(old)}
    assert there
    assert {each.id: each.result for each in open_store(new)} == there
    assert f"{len(there)} of {len(there)} records carried over" in capsys.readouterr().out
    # One run was measured by other code than the list says.
    versions = json.loads(listed.read_text())
    changed = next(each for each in open_store(old) if each.inputs["case"])
    versions[name(changed.inputs)] = "another"
    listed.write_text(json.dumps(versions))
    assert main([str(listed), "--results", str(old), "--to", str(tmp_path / "third")]) == 0
    said = capsys.readouterr().out
    assert f"left out: {KEY}" in said
    assert f"{len(there) - 1} of {len(there)} records carried over" in said
    assert changed.id not in {each.id for each in open_store(tmp_path / "third")}


def test_the_shipped_ledger_is_not_written_with_records_left_out(
    tmp_path, monkeypatch, capsys
) -> None:
    before, written = reference_ledger.SHIPPED.read_bytes(), tmp_path / "ledger.jsonl.gz"
    monkeypatch.setattr(carry_records, "SHIPPED", written)
    (tmp_path / "none.json").write_text("{}")
    assert main([str(tmp_path / "none.json")]) == 1
    said = capsys.readouterr().out
    assert "0 of " in said
    assert "the shipped ledger stays as it is" in said
    assert not written.exists()
    # With the versions of today nothing changes.
    assert main([str(tmp_path / "today.json"), "--list"]) == 0
    assert main([str(tmp_path / "today.json")]) == 0
    ours, theirs = (
        reference_ledger.Ledger(written),
        reference_ledger.Ledger(reference_ledger.SHIPPED),
    )
    assert ours.header["manifest"] == theirs.header["manifest"]
    assert reference_ledger.SHIPPED.read_bytes() == before
