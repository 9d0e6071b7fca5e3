"""The answers that come with depthlaw: what `show` and `why` would say without them, of these
sources alone, and never in the place of the user's records."""

import subprocess
import sys

import pytest

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.ledger.verdicts import shipped_answers
from depthlaw.ledger.verdicts.card import answers as of_reference
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.theory.claims.code_version import write_cache

# Undecided claims; with a table of its own; PROVED, with a list of certificates.
KEYS = (
    "hops/experiment_deeper_is_better",
    "depth_width/depth_gains_by_updates",
    "exercises/gradients_vanish",
    "separation_rank/exact",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file of answers of `KEYS` and of these sources."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            shipped_answers, "FILE", tmp_path_factory.mktemp("answers") / "answers.jsonl.gz"
        )
        shipped_answers.write_answers(of_reference(KEYS))
        yield shipped_answers.FILE


@pytest.mark.parametrize("key", KEYS)
def test_answers_are_what_is_judged_without_them(file, key, monkeypatch, capsys):
    commands = [[name, key, *more] for name in ("show", "why") for more in ([], ["--all"])]
    answered = [(main(command), capsys.readouterr()) for command in commands]
    monkeypatch.setattr(shipped_answers, "FILE", file.with_name("absent"))
    assert [(main(command), capsys.readouterr()) for command in commands] == answered
    assert "this is the reference ledger" in answered[0][1].err


def test_answers_need_no_mathematics(file, tmp_path, monkeypatch):
    # The list of claims is built once after a change of the code; another checkout may throw it
    # away meanwhile.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_cache("index", claims_index())
    code = f"""
import sys
from pathlib import Path
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.verdicts import shipped_answers
shipped_answers.FILE = Path({str(file)!r})
main(["show", "{KEYS[0]}"])
main(["why", "{KEYS[0]}"])
assert not {{"sympy", "numpy", "flint", "torch"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_answers_give_way_to_records_of_the_users(file, tmp_path):
    assert shipped_answers.shipped_answer(KEYS[0], tmp_path).key == KEYS[0]
    store = Store(tmp_path)
    store.put(next(r for r in shipped() if r.inputs["claim"] == KEYS[0] and r.inputs["case"]))
    assert shipped_answers.shipped_answer(KEYS[0], tmp_path) is None
    assert shipped_answers.shipped_answer(KEYS[1], tmp_path).key == KEYS[1]


@pytest.mark.parametrize("damage", [b"", b"no gzip", None])
def test_answers_of_other_sources_are_not_given(file, tmp_path, monkeypatch, damage):
    if damage is None:
        monkeypatch.setattr(shipped_answers, "_KINDS", (".py",))
    else:
        monkeypatch.setattr(shipped_answers, "FILE", tmp_path / "other")
        (tmp_path / "other").write_bytes(damage)
    assert shipped_answers.shipped_answer(KEYS[0], tmp_path) is None
