"""Commands in this process, the faulty claim, and the log of what faults did, from which the table
of docs/reliability.md is written."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

# Before any test: loaded first after tests of the command line, PyTorch 2.13 fails with "bad call
# flags" or "module functions cannot set METH_CLASS".
import torch  # noqa: F401

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Store, manifest
from depthlaw.ledger.running import engines
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.theory.claims.definition import registry

HERE = Path(__file__).parent


class Answer(NamedTuple):
    """What a command answers."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def depthlaw(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command in this process; words of its first argument are arguments of their own."""

    def command(first: str | Path, *more: object) -> Answer:
        words = first.split() if isinstance(first, str) and first else [first]
        code = main([str(word) for word in (*words, *more)])
        return Answer(code, *capsys.readouterr())

    return command


@pytest.fixture
def on_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Run a command as in a terminal of so many columns, which no line of the answer exceeds;
    without the colours."""

    def command(columns: int, *words: object) -> Answer:
        monkeypatch.setenv("COLUMNS", str(columns))
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: True)
        code = main([str(word) for word in words])
        texts = (re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", text) for text in capsys.readouterr())
        answer = Answer(code, *texts)
        assert max(map(len, (answer.out + answer.err).splitlines())) <= columns
        return answer

    return command


@pytest.fixture
def refused(depthlaw: Callable[..., Answer]) -> Callable[..., str]:
    """Run a command that must be refused in one line, which is returned."""

    def command(*arguments: object) -> str:
        answer = depthlaw(*arguments)
        assert (answer.code, answer.out) == (2, "")
        assert re.fullmatch(r"error: [^\n]+\n", answer.err)
        return answer.err

    return command


@pytest.fixture(scope="session")
def recorded() -> Recorded:
    """Every claim, judged on the ledger that comes with depthlaw."""
    store = shipped()
    assert store is not None
    return Recorded(registry(), store)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module, importable here and in processes that are started."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    import faulty

    yield faulty
    sys.modules.pop("faulty", None)


@pytest.fixture
def only_what_hangs_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool waits for every other run as long as this machine needs, however short its
    timeout."""
    left = engines._Slot.left

    def left_of(slot: engines._Slot) -> float:
        return left(slot) if "hang" in slot.runs[0][0].case else float("inf")

    monkeypatch.setattr(engines._Slot, "left", left_of)


@dataclass
class Fault:
    """One fault, injected for some rounds: every record present after a round must still be there
    after the next."""

    name: str
    injected: str
    rounds: int = 0
    lost: int = 0
    accepted: int = 0
    _present: set[str] = field(default_factory=set)

    def survived(self, folder: Path) -> int:
        """A round is over: count what was lost. Returns how many records it added."""
        present = {path.name for path in (folder / "runs").rglob("*.json")}
        added = len(present - self._present)
        self.rounds += 1
        self.lost += len(self._present - present)
        self._present = present
        return added

    def ended(self, folder: Path, runs: Sequence[Run], said: str) -> None:
        """The suite was finished after the fault: nothing lost, nothing wrong accepted, the
        manifest of an undisturbed run."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FAULTY_MILLISECONDS", "0")
            truth = {run.id: run.execute() for run in runs}
        store = Store(folder, read_only=True)
        self.accepted += sum(
            record.id not in truth or record.result_hash != truth[record.id].result_hash
            for record in store
        )
        same = manifest(store)["hash"] == manifest(truth.values())["hash"]
        assert self.rounds > 0
        assert (self.lost, self.accepted, same, store.set_aside) == (0, 0, True, [])
        if log := os.environ.get("DEPTHLAW_FAULT_LOG"):
            row = {"fault": self.name, "injected": self.injected, "rounds": self.rounds}
            row |= {"records": len(store), "lost": self.lost, "accepted": self.accepted}
            row |= {"same": same, "said": said.replace(str(folder), "DIR")}
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


@pytest.fixture
def fault() -> Callable[[str, str], Fault]:
    """Start the count of a fault."""
    return Fault
