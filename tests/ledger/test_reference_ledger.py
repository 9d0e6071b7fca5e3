"""Ledgers verify as a whole, refuse to be written to, and agree with fresh runs; the one that is
shipped too."""

import gzip
import hashlib
import json
from fractions import Fraction

import pytest
from made import record

from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Record, Store, StoreError, canonical, digest, manifest
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts import reference_ledger
from depthlaw.ledger.verdicts.reference_ledger import Ledger, agree, compare, write_ledger
from depthlaw.ledger.verdicts.suite_verdicts import results
from depthlaw.theory.claims.definition import Claim, registry
from depthlaw.theory.claims.values import Ball, Exact, Proportion, Sample, Step

DEGREE = "separation_rank/degree"

SOME = (
    record(n=1),
    record(Exact(Fraction(1, 3)), n=2),
    record((Step("one", True), Step("two", None))),
    record(Ball(Fraction(0), Fraction(1)), n=3),
    record(Sample((0.5, 0.25)), n=4),
)


def test_a_ledger_gives_back_its_records(tmp_path):
    header = write_ledger(tmp_path / "l.gz", SOME, "quick")
    ledger = Ledger(tmp_path / "l.gz")
    assert manifest(ledger) == manifest(SOME)
    assert header["manifest"] == manifest(SOME)["hash"]
    assert ledger.get(SOME[0].id).result == SOME[0].result
    assert ledger.get(SOME[0].id).facts["timing"] == {"wall_s": 0.12}
    assert list(tmp_path.iterdir()) == [tmp_path / "l.gz"]


def test_the_same_records_give_the_same_bytes(tmp_path):
    write_ledger(tmp_path / "a.gz", SOME, "quick")
    # A run that two suites share comes twice.
    write_ledger(tmp_path / "b.gz", [*reversed(SOME), SOME[0]], "quick")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def lines_of(path):
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


def resealed(header, lines):
    header = header | {"lines": hashlib.sha256(b"".join(lines)).hexdigest()}
    header.pop("seal")
    return [canonical(header | {"seal": digest(header)}) + b"\n", *lines]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[:-1],
        lambda lines: [lines[0], *reversed(lines[1:])],
        lambda lines: [b"".join(lines).replace(b'"exact":"1"', b'"exact":"2"')],
        lambda lines: [lines[0].replace(b'"records":5', b'"records":4'), *lines[1:]],
        lambda lines: resealed(json.loads(lines[0]), lines[1:-1]),
        lambda lines: resealed(json.loads(lines[0]) | {"ledger": 9}, lines[1:]),
        lambda lines: resealed(json.loads(lines[0]) | {"schema": 99}, lines[1:]),
        lambda lines: [b"[]\n"],
        lambda lines: [],
    ],
)
def test_whatever_was_done_to_a_ledger_is_noticed(tmp_path, spoil):
    path = tmp_path / "l.gz"
    write_ledger(path, SOME, "quick")
    path.write_bytes(gzip.compress(b"".join(spoil(lines_of(path)))))
    with pytest.raises(StoreError, match="does not verify"):
        Ledger(path)


def test_truncated_absent_and_enormous_ledgers_are_one_line(tmp_path, monkeypatch):
    path = tmp_path / "l.gz"
    write_ledger(path, SOME, "quick")
    whole = path.read_bytes()
    for data in (whole[:-9], whole[: len(whole) // 2], b"", b"not gzip"):
        path.write_bytes(data)
        with pytest.raises(StoreError, match="does not verify"):
            Ledger(path)
    with pytest.raises(StoreError, match="cannot be read"):
        Ledger(tmp_path / "absent")
    monkeypatch.setattr(reference_ledger, "LARGEST", 1000)
    path.write_bytes(gzip.compress(b"0" * 2000))
    with pytest.raises(StoreError, match="too large"):
        Ledger(path)


def test_a_ledger_cannot_be_written_to(tmp_path):
    write_ledger(tmp_path / "l.gz", SOME, "quick")
    ledger, before = Ledger(tmp_path / "l.gz"), (tmp_path / "l.gz").read_bytes()
    with pytest.raises(StoreError, match="read-only"):
        ledger.put(record(n=9))
    with pytest.raises(OSError, match="read-only"):
        ledger.write(tmp_path / "x", b"")
    assert (tmp_path / "l.gz").read_bytes() == before


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (Exact(9), Exact(9), True),
        (Exact(9, 1e-9), Exact(9), True),
        (Exact(9), Exact(10), False),
        (Ball(Fraction(0), Fraction(1)), Ball(Fraction(1), Fraction(2)), True),
        (Ball(Fraction(0), Fraction(1)), Ball(Fraction(101, 100), Fraction(2)), False),
        (Sample((1.0, 2.0, 3.0)), Sample((1.5, 2.5, 3.5)), True),
        (Sample((1.0, 1.1, 1.2)), Sample((9.0, 9.1, 9.2)), False),
        (Proportion(1, 2), Sample((1.0, 0.0)), False),
        (Proportion(3, 4), Proportion(1, 4), True),
        (Proportion(990, 1000), Proportion(500, 1000), False),
        ((Step("a", True),), (Step("in other words", True), Step("b", True)), True),
        ((Step("a", True),), (Step("a", False),), False),
        (Exact(9), (Step("a", True),), False),
    ],
)
def test_when_two_results_agree(ours, theirs, expected):
    assert agree(ours, theirs, 0.01) is expected
    assert agree(theirs, ours, 0.01) is expected


def test_comparison_ignores_code_and_names_what_differs():
    here = [
        record(Exact(1), n=1, code="new"),
        record(Exact(7), n=2, code="new"),
        record(Exact(5), n=5, code="new"),
    ]
    found = compare(here, SOME)
    said = "reference: 2 of 3 runs compared, 1 equal, 1 DIFFER; 1 not in the reference"
    assert found.line == said
    assert [
        (reference_ledger.run_name(key), mine, theirs) for key, mine, theirs in found.disagreements
    ] == [("a/b [n=2]", {"exact": "7"}, {"exact": "1/3"})]
    assert compare([record(n=99)], SOME).compared == 0


def test_samples_are_pooled_over_seeds_before_they_are_compared():
    def seeds(values):
        return [record(Sample((value,)), n=1, seed=seed) for seed, value in enumerate(values)]

    reference_runs = seeds([0.1, 0.2, 0.15, 0.12])
    assert compare(seeds([0.11, 0.19, 0.16, 0.13]), reference_runs).disagreements == ()
    assert len(compare(seeds([9.1, 9.2, 9.15, 9.12]), reference_runs).disagreements) == 4


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A ledger of one claim, in the place of the shipped one."""
    path, runs = tmp_path / "own.gz", plan({DEGREE: registry()[DEGREE]}, "quick")
    write_ledger(path, [run.execute() for run in runs], "quick")
    monkeypatch.setattr(reference_ledger, "SHIPPED", path)
    return path


def test_verify_names_a_disagreement_and_a_broken_reference(own, tmp_path, depthlaw):
    command = ("verify --quiet --only", DEGREE, "--results", tmp_path / "r")
    before = list(Ledger(own))
    wrong = [
        Record(r.inputs, {"exact": "0"} if "exact" in r.result else r.result, r.facts)
        for r in before
    ]
    write_ledger(own, wrong, "quick")
    out = depthlaw(*command).out
    assert f"differs: {DEGREE} [" in out
    untouched = sum(a.result == b.result for a, b in zip(Ledger(own), before, strict=True))
    compared = f"reference: {len(before)} of {len(before)} runs compared"
    assert f"{compared}, {untouched} equal, {len(before) - untouched} DIFFER" in out
    counted = depthlaw(*command, "--json").data["reference"]
    assert (counted["runs"], counted["equal"]) == (len(before), untouched)
    assert len(counted["disagreements"]) == len(before) - untouched
    own.write_bytes(b"broken")
    said = depthlaw(*command)
    assert said.code == 0
    assert "no comparison: the ledger" in said.err


def test_without_a_reference_it_says_so(tmp_path, refused, monkeypatch):
    monkeypatch.setattr(reference_ledger, "SHIPPED", tmp_path / "absent")
    assert "holds no reference ledger" in refused("appendix", tmp_path / "out")


def test_writing_the_reference_needs_the_whole_suite(tmp_path, capsys, monkeypatch):
    only = {DEGREE: registry()[DEGREE]}
    monkeypatch.setattr("depthlaw.theory.claims.definition.registry", lambda: only)
    arguments = ["--results", str(tmp_path / "r"), "--out", str(tmp_path / "l.gz")]
    store = Store(tmp_path / "r")
    assert reference_ledger.main(arguments) == 2
    assert "are not recorded in" in capsys.readouterr().err
    assert not (tmp_path / "l.gz").exists()
    for run in plan(only, "quick"):
        store.put(run.execute())
    assert reference_ledger.main(arguments) == 0
    assert manifest(Ledger(tmp_path / "l.gz")) == manifest(store)


def test_the_shipped_reference_verifies_and_agrees_with_fresh_runs():
    shipped = Ledger(reference_ledger.SHIPPED)
    assert shipped.root.stat().st_size < 10**6
    assert len(shipped) == shipped.header["records"] > 0
    quickest: dict[str, Run] = {}
    times = {reference_ledger.run_key(r): r.facts["timing"]["wall_s"] for r in shipped}
    for run in plan(registry(), "quick"):
        key = (run.claim.key, canonical(run.inputs["case"]), run.seed, run.control)
        # Trainings were read when these were recorded; here they would take their time, and they
        # are not compared.
        if times.get(key, 1.0) < 0.01 and not run.claim.reads:
            quickest.setdefault(run.claim.topic, run)
    found = compare([run.execute() for run in quickest.values()], shipped)
    assert found.compared == len(quickest) >= 5
    assert found.disagreements == ()


def test_what_the_reference_lacks_is_for_no_extra_to_mend(tmp_path, monkeypatch):
    store = Store(tmp_path / "r")
    write_ledger(tmp_path / "l.gz", SOME, "quick")
    key = "trained_rank/half_of_rank_matters"
    claim = registry()[key]
    suite = next(iter(claim.grid))
    monkeypatch.setattr(Claim, "measurable", property(lambda claim: False))
    for place, why in (
        (store, f"needs the extra {claim.needs}"),
        (Ledger(tmp_path / "l.gz"), "not in the reference ledger"),
    ):
        (result,) = results({key: claim}, suite, place)
        assert {row.decision.reason for row in result.missing} == {why}


def test_what_trained_nets_answer_is_not_compared():
    for claim, compared in (("trained_depth/hops_by_depth", 0), ("hops/doubling", 1)):
        ours, theirs = (record(Proportion(right, 1000), claim, n=1) for right in (990, 100))
        found = compare([ours], [theirs], lambda key: registry()[key].portable)
        assert (found.compared, len(found.disagreements)) == (compared, compared)
