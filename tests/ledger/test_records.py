"""Records survive everything that happens to files, and nothing that does not verify is trusted."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.ledger.records.store import (
    Record,
    Store,
    StoreError,
    canonical,
    decode,
    digest,
    encode,
    manifest,
    open_store,
)
from depthlaw.theory.claims.values import Ball, Exact, Proportion, Sample, Step

finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(
    st.builds(Exact, st.integers(), st.floats(0, 1)),
    st.builds(Exact, st.fractions().filter(lambda f: f.denominator > 1)),
    st.tuples(st.fractions(), st.fractions()).map(lambda ends: Ball(min(ends), max(ends))),
    st.builds(Sample, st.lists(finite, min_size=1).map(tuple)),
    st.integers(0, 10**6).flatmap(
        lambda right: st.builds(Proportion, st.just(right), st.integers(max(1, right), 2 * 10**6))
    ),
    st.lists(st.builds(Step, st.text(), st.sampled_from([True, False, None])), min_size=1).map(
        tuple
    ),
)


def record(n: int, facts: dict | None = None) -> Record:
    return Record({"claim": "a/b", "case": {"n": n}, "seed": 0}, encode(Exact(n)), facts or {})


def path_of(root: Path, made: Record) -> Path:
    return root / "runs" / made.id[:2] / f"{made.id}.json"


@settings(max_examples=40)
@given(values, st.integers(0, 5))
def test_a_record_reads_back_as_itself(value, seed):
    made = Record(
        {"claim": "a/b", "case": {"x": "1/3"}, "seed": seed}, encode(value), {"wall": 0.1}
    )
    assert Record.from_bytes(made.to_bytes(), f"{made.id}.json") == made
    assert decode(made.result) == value


@given(st.integers(0), st.integers(1, 255))
def test_any_changed_byte_is_noticed(position, flip):
    made = record(7, {"host": "x"})
    data = bytearray(made.to_bytes())
    data[position % len(data)] ^= flip
    with pytest.raises(ValueError, match=r"record|edited|schema|sealed|match|canonical"):
        Record.from_bytes(bytes(data), f"{made.id}.json")


def test_ids_and_hashes_ignore_times_and_machines():
    slow, fast = record(1, {"wall_s": 9.0, "cpu": "a"}), record(1, {"wall_s": 0.1, "cpu": "b"})
    assert (slow.id, slow.result_hash) == (fast.id, fast.result_hash)
    assert manifest([slow, record(2)]) == manifest([record(2), fast])
    assert manifest([slow])["hash"] != manifest([record(2)])["hash"]


def test_nan_never_gets_into_a_record():
    with pytest.raises(ValueError, match="finite"):
        Sample((float("nan"),))
    with pytest.raises(ValueError, match="JSON compliant"):
        Record({"claim": "a/b"}, {"sample": [float("nan")], "statistic": "mean"}).to_bytes()


def test_integers_of_any_length_survive():
    assert decode(json.loads(canonical(encode(Exact(7**20000))))) == Exact(7**20000)
    assert decode(encode(Exact(Fraction(-(3**30000), 2**9)))) == Exact(Fraction(-(3**30000), 2**9))


@pytest.mark.parametrize("text", ["1e999999999", "nan", "1/0x", " 1", "1_0", "--1", 3])
def test_numbers_have_one_form(text):
    with pytest.raises((ValueError, TypeError)):
        decode({"exact": text})


def test_a_folder_of_another_program_is_refused(tmp_path):
    (tmp_path / "runs" / "tensorboard").mkdir(parents=True)
    (tmp_path / "runs" / "tensorboard" / "events").write_text("theirs")
    with pytest.raises(StoreError, match="another program"):
        Store(tmp_path)
    assert (tmp_path / "runs" / "tensorboard" / "events").read_text() == "theirs"


def test_a_linked_folder_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.tex").write_text("theirs")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "runs").symlink_to(tmp_path / "theirs")
    with pytest.raises(StoreError, match="is a link"):
        Store(tmp_path / "store")
    assert (tmp_path / "theirs" / "thesis.tex").exists()


def test_reading_creates_and_moves_nothing(tmp_path):
    assert len(Store(tmp_path / "absent", read_only=True)) == 0
    assert not (tmp_path / "absent").exists()
    Store(tmp_path).put(record(1))
    path_of(tmp_path, record(1)).write_bytes(b"{")
    before = sorted(p for p in tmp_path.rglob("*"))
    store = Store(tmp_path, read_only=True)
    assert [item.name for item in store.set_aside] == [
        str(path_of(tmp_path, record(1)).relative_to(tmp_path))
    ]
    assert sorted(p for p in tmp_path.rglob("*")) == before


def test_store_keeps_and_finds(tmp_path):
    store = Store(tmp_path)
    store.put(record(1))
    store.put(record(1, {"later": True}))
    again = Store(tmp_path)
    assert len(again) == 1
    assert again.get(record(1).id) == record(1)
    assert again.get(record(2).id) is None
    assert list((tmp_path / "tmp").iterdir()) == []


def spoil_symlink(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text(json.dumps(json.loads(path.read_text()), indent=1)),
        lambda path: path.write_bytes(b"[" * 100_000),
        spoil_symlink,
    ],
    ids=["empty", "reformatted", "nested", "a link"],
)
def test_what_does_not_verify_is_set_aside_and_kept(tmp_path, spoil):
    """More ways, each many times, in test_faults.py."""
    store = Store(tmp_path)
    store.put(record(1))
    store.put(record(2))
    spoil(path_of(tmp_path, record(1)))
    again = Store(tmp_path)
    assert record(1).id not in again
    assert record(2).id in again
    assert again.set_aside
    for item in again.set_aside:
        assert item.why
        assert item.name.startswith("runs/")
        assert os.path.lexists(item.moved_to)
    assert Store(tmp_path).set_aside == []


def test_foreign_files_and_copies_are_set_aside(tmp_path):
    store = Store(tmp_path)
    store.put(record(1))
    (tmp_path / "thesis.tex").write_text("beside the store")
    (tmp_path / "runs" / "notes.txt").write_text("mine")
    (tmp_path / "runs" / "copy").mkdir()
    copy = tmp_path / "runs" / "copy" / f"{record(1).id}.json"
    copy.write_bytes(path_of(tmp_path, record(1)).read_bytes())
    again = Store(tmp_path)
    assert sorted(item.name for item in again.set_aside) == [
        f"runs/copy/{record(1).id}.json",
        "runs/notes.txt",
    ]
    assert [
        item.moved_to.read_text() for item in again.set_aside if item.name == "runs/notes.txt"
    ] == ["mine"]
    assert record(1).id in again
    assert (tmp_path / "thesis.tex").read_text() == "beside the store"


def test_another_schema_or_form_is_set_aside_with_a_reason(tmp_path):
    Store(tmp_path)
    for number, (schema, form) in enumerate(((99, "exact"), (-2, "exact"), (1, "unknown"))):
        old = Record({"claim": "a/b", "case": {"n": number}}, {form: "1"})
        body = json.loads(old.to_bytes()) | {"schema": schema}
        del body["seal"]
        path_of(tmp_path, old).parent.mkdir(exist_ok=True)
        path_of(tmp_path, old).write_bytes(canonical(body | {"seal": digest(body)}) + b"\n")
    why = {item.why for item in Store(tmp_path).set_aside}
    assert why == {
        "schema 99, while this version of depthlaw reads schema 1; a newer depthlaw "
        "wrote it: upgrade, then move it back",
        "schema -2, while this version of depthlaw reads schema 1",
        "sealed, but its result is not of a known form",
    }


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, monkeypatch):
    """Else its records would pass for missing and be measured again."""
    Store(tmp_path).put(record(1))
    real = os.scandir

    def scandir(path):
        if str(path).endswith(record(1).id[:2]):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(StoreError, match="Permission denied"):
        Store(tmp_path)


def test_a_pipe_and_a_linked_folder_are_not_waited_for_or_followed(tmp_path):
    Store(tmp_path / "s").put(record(1))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "x.json").write_text("theirs")
    (tmp_path / "s" / "runs" / "link").symlink_to(tmp_path / "theirs")
    os.mkfifo(tmp_path / "s" / "runs" / f"{'0' * 64}.json")
    store = Store(tmp_path / "s")
    assert {item.why for item in store.set_aside} == {"not a regular file"}
    assert len(store.set_aside) == 2
    assert (tmp_path / "theirs" / "x.json").read_text() == "theirs"


def test_a_lazy_store_reads_what_is_asked_for_and_writes_nothing(tmp_path):
    first, second = record(1), record(2)
    store = Store(tmp_path)
    store.put(first)
    store.put(second)
    store.file_of(second.id).write_text("spoiled")
    before = sorted(tmp_path.rglob("*"))
    lazy = open_store(tmp_path, lazy=True)
    assert lazy.get(first.id) == first
    assert first.id in lazy
    assert lazy.set_aside == []
    assert lazy.get(second.id) is None
    assert [item.why for item in lazy.set_aside] == ["not a record: truncated or foreign"]
    assert "0" * 64 not in lazy
    assert sorted(tmp_path.rglob("*")) == before
