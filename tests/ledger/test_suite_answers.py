"""`depthlaw verify` prints again what it printed of the very same records, and of no others."""

import json
import sys
from types import SimpleNamespace

import pytest

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.records.store import Record, Store, encode
from depthlaw.ledger.verdicts import reference_ledger, shipped_answers, suite_answers
from depthlaw.theory.claims.values import Exact

VERIFY = ["verify", "quick", "--only", "hops/doubling", "--engine", "inline", "--results"]


@pytest.fixture
def verified(tmp_path, capsys):
    assert main([*VERIFY, str(tmp_path / "r")]) == 0
    return tmp_path / "r", capsys.readouterr().out


def judged_again(monkeypatch, arguments):
    """Whether a command asks the module that judges, which cannot be imported meanwhile."""
    with monkeypatch.context() as patched:
        patched.delattr("depthlaw.ledger.cli.verify_command", raising=False)
        patched.setitem(sys.modules, "depthlaw.ledger.cli.verify_command", None)
        try:
            main(arguments)
        except ImportError:
            return True
        return False


def test_the_same_records_are_printed_again_unjudged(verified, capsys, monkeypatch):
    folder, before = verified
    assert not judged_again(monkeypatch, [*VERIFY, str(folder)])
    out, err = capsys.readouterr()
    assert out == before
    runs = len(Store(folder, read_only=True))
    assert f"suite quick, {runs} runs, {runs} already recorded in {folder}\n" in err


def test_what_was_said_beside_is_said_again(tmp_path, capsys, monkeypatch):
    damaged = tmp_path / "reference.jsonl.gz"
    damaged.write_bytes(b"no ledger")
    monkeypatch.setattr(reference_ledger, "SHIPPED", damaged)
    arguments = [*VERIFY, str(tmp_path / "r")]
    assert main(arguments) == 0
    first = capsys.readouterr().err.splitlines()
    assert not judged_again(monkeypatch, arguments)
    again = capsys.readouterr().err.splitlines()
    assert first[1:] == again[1:]
    assert again[-1].startswith("no comparison: ")


def test_another_question_is_judged(verified, monkeypatch):
    folder = str(verified[0])
    for more in (["--json"], ["--quiet"], ["--minutes", "5"]):
        assert judged_again(monkeypatch, [*VERIFY, folder, *more])
    assert judged_again(monkeypatch, ["verify", "theory", "--results", folder])


def test_other_code_and_other_libraries_are_judged(verified, monkeypatch):
    folder = str(verified[0])
    for name, value in (("sources", lambda roots: "edited"), ("packages", lambda: {"numpy": "0"})):
        with monkeypatch.context() as patched:
            patched.setattr(suite_answers, name, value)
            assert judged_again(monkeypatch, [*VERIFY, folder])
    assert not judged_again(monkeypatch, [*VERIFY, folder])


def test_other_records_are_judged(verified, monkeypatch):
    folder = verified[0]
    arguments, store = [*VERIFY, str(folder)], Store(folder, read_only=True)
    file = store.file_of(next(iter(store)).id)
    content = file.read_bytes()
    file.write_bytes(content[:-9])
    assert judged_again(monkeypatch, arguments)
    file.unlink()
    assert judged_again(monkeypatch, arguments)
    file.write_bytes(content)
    assert not judged_again(monkeypatch, arguments)
    record = next(iter(store))
    file.write_bytes(Record(record.inputs, encode(Exact(-1)), record.facts).to_bytes())
    assert judged_again(monkeypatch, arguments)


def test_an_edited_answer_is_not_printed(verified, monkeypatch):
    folder = verified[0]
    file = folder / "cache" / "verify.json"
    kept = json.loads(file.read_bytes())
    kept["answer"]["text"] = "PROVED"
    file.write_text(json.dumps(kept))
    assert judged_again(monkeypatch, [*VERIFY, str(folder)])
    file.write_bytes(b"{")
    assert judged_again(monkeypatch, [*VERIFY, str(folder)])


def test_another_place_is_judged(verified, tmp_path, monkeypatch):
    """`--json` names the folder."""
    moved = verified[0].rename(tmp_path / "moved")
    assert judged_again(monkeypatch, [*VERIFY, str(moved)])


def test_what_was_set_aside_is_said_once(verified, capsys):
    folder = verified[0]
    file = next((folder / "runs").glob("*/*"))
    file.write_bytes(b"{")
    said = []
    for _ in range(2):
        assert main([*VERIFY, str(folder), "--json"]) == 0
        said.append(json.loads(capsys.readouterr().out)["set_aside"])
    assert [len(each) for each in said] == [1, 0]


def test_an_answer_follows_from_the_formal_proofs(tmp_path, monkeypatch):
    """A proof that was edited is void."""
    (tmp_path / "Hops.v").write_text("one")
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(shipped_answers, "find_spec", lambda name: spec)
    before = shipped_answers.sources(["theory"])
    (tmp_path / "Hops.v").write_text("other")
    assert shipped_answers.sources(["theory"]) != before
