"""Records are carried over a change of the code that changes no value: those of the listed version,
and no others."""

import json

from depthlaw.ledger.cli.arguments import main as depthlaw
from depthlaw.ledger.records.store import Record, open_store
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts import reference_ledger, rekey
from depthlaw.ledger.verdicts.rekey import main, name, rekeyed, runs
from depthlaw.theory.claims.definition import find

KEY = "hops/doubling"


def test_a_record_of_the_listed_version_gets_the_new_one() -> None:
    run, other = plan({KEY: find(KEY)}, "quick")[:2]
    result, facts = {"exact": "3"}, {"timing": {"wall_s": 1.0}}
    old = [
        Record(dict(each.inputs) | {"code": code}, result, facts)
        for each, code in ((run, "before"), (other, "older"))
    ]
    names = {name(each.inputs): each for each in (run, other)}
    carried = list(rekeyed(old, dict.fromkeys(names, "before"), names))
    assert [(each.inputs, each.result, each.facts) for _, each in carried] == [
        (run.inputs, result, facts)
    ]
    assert list(rekeyed(old, {}, names)) == []
    assert list(rekeyed(old, dict.fromkeys(names, "before"), {})) == []


def test_claims_that_became_one_take_their_records_along() -> None:
    """Two old claims of which one case each, with and without a field, is a case of the new one."""
    run, other = [run for run in plan({KEY: find(KEY)}, "quick") if run.case][:2]
    now = {name(each.inputs): each for each in (run, other)}
    field = "hops_then"
    short = {k: v for k, v in other.inputs["case"].items() if k != field}
    old = [
        Record(dict(run.inputs) | {"claim": "hops/lower"}, {"exact": "3"}, {}),
        Record(dict(run.inputs) | {"claim": "hops/upper"}, {"exact": "3"}, {}),
        Record(dict(other.inputs) | {"claim": "hops/special", "case": short}, {"exact": "5"}, {}),
        Record(dict(other.inputs) | {"claim": "hops/again"}, {"exact": "7"}, {}),
    ]
    before = {name(each.inputs): each.inputs["code"] for each in old}
    added = {field: other.inputs["case"][field]}
    rows = [
        {"old": "hops/lower", "new": KEY, "carry": True},
        {"old": "hops/upper", "new": KEY, "carry": True},
        {"old": "hops/special", "new": KEY, "carry": True, "fields": added},
        {"old": "hops/again", "new": KEY, "carry": False},
    ]
    pairs = list(rekeyed(old, before, now, rows))
    assert [(a.inputs["claim"], b.id, b.result) for a, b in pairs] == [
        ("hops/lower", run.id, {"exact": "3"}),
        ("hops/upper", run.id, {"exact": "3"}),
        ("hops/special", other.id, {"exact": "5"}),
    ]
    assert rekey._torn(pairs) == {}
    torn = [(old[0], pairs[0][1]), (old[3], Record(run.inputs, {"exact": "7"}, {}))]
    assert list(rekey._torn(torn)) == [run.id]


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
    monkeypatch.setattr(rekey, "SHIPPED", written)
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


def test_the_list_names_every_run_once() -> None:
    assert all(key == name(run.inputs) for key, run in runs().items())
