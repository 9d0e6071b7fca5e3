"""`depthlaw exercise` as people type it: what it lists and refuses, records that are read again, a
corpus of one's own, and kills in the middle."""

import argparse
import inspect
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from depthlaw.empirics.exercises import corpus, language_model
from depthlaw.ledger import suite
from depthlaw.ledger.cli import exercise_command as command
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.records.environment import installing
from depthlaw.ledger.running.interrupts import Stopped
from depthlaw.ledger.running.options import Options
from depthlaw.ledger.suite import Work, on_input
from depthlaw.theory.claims.definition import Case, find

SIZES = {"width": 8, "replicas": 3, "vocabulary": 300}


def tiny(claim, field, digest, steps):
    """The claim with nets that take a moment, wide ones twice as wide."""
    moved = on_input(claim, field, digest)

    def small(case):
        fields = case.fields() | {name: size for name, size in SIZES.items() if name in case}
        if case.get("width", 48) > 48:
            fields["width"] *= 2
        return Case(**fields | ({"steps": steps} if "steps" in case else {}))

    return replace(
        moved,
        control=replace(moved.control, case=small(moved.control.case)),
        grid={suite: tuple(map(small, cases)) for suite, cases in moved.grid.items()},
    )


@pytest.fixture
def here(monkeypatch):
    """Tiny nets, in this process, with little text to validate on."""
    monkeypatch.setattr(suite, "on_input", partial(tiny, steps=2))
    monkeypatch.setattr(
        language_model, "validation_losses", partial(language_model.validation_losses, windows=4)
    )
    monkeypatch.setattr(command, "Options", lambda **given: Options(engine="inline"))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("texts") / "text.py"
    file.write_text(inspect.getsource(inspect) + inspect.getsource(argparse), encoding="utf-8")
    return file


def test_they_are_listed(depthlaw):
    names = "depth-ablation initialisation gradient-flow layer-probing remove-layer"
    assert [line.split()[0] for line in depthlaw("exercise").out.splitlines()[1:6]] == names.split()
    assert [each["number"] for each in depthlaw("exercise --json").data] == [1, 2, 3, 4, 5]


def test_without_a_package_the_extra_is_named(refused, monkeypatch):
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: name != "torch" or None)
    assert f"need torch; {installing('empirics')}" in refused("exercise all")


@pytest.mark.train
def test_records_carry_the_corpus_and_are_read_again(here, text, tmp_path, depthlaw):
    run = ["exercise depth-ablation --corpus", text, "--results", tmp_path / "r"]
    done = depthlaw(*run, "--json")
    assert done.code == 1  # so little training decides nothing
    first = done.data
    digest = corpus.own(text).digest
    records = [json.loads(file.read_text()) for file in (tmp_path / "r" / "runs").rglob("*.json")]
    assert (
        {record["inputs"]["case"]["corpus"] for record in records} == {digest} == {first["corpus"]}
    )
    narrow, wide = first["exercises"][0]["panels"][0]["series"]
    assert (narrow["x"], wide["x"]) == ([2, 4, 8, 16], [4])
    assert all(4 < loss < 6 for loss in narrow["y"] + wide["y"]), "nats per token of 300 ids"
    picture = tmp_path / "curve.svg"
    printed = depthlaw(*run, "--plot", picture)
    assert printed.code == 1
    assert f"{len(records)} already recorded" in printed.err
    assert "Predicted: " in printed.out
    assert "UNDECIDED  exercises/deeper_is_better" in printed.out
    assert "seeds leave it open" in printed.out
    assert max(map(len, printed.out.splitlines()[:-3])) <= 80
    assert picture.read_text().startswith("<?xml")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["curve.svg", "r"]


# While the file `hold` is there, a process trains from one checkpoint to the next and waits: it is
# killed between two of them, however long it takes to send the signal.
SCRIPT = """
import sys, time
from functools import partial
from pathlib import Path
sys.path.insert(0, {folder!r})
import test_exercise_command as tests
from depthlaw.empirics.training import checkpoints
tests.suite.on_input = partial(tests.tiny, steps=20)
tests.command.cores = lambda: 1
write, written = checkpoints.write, []
def held(*arguments):
    while written and Path({hold!r}).exists():
        time.sleep(0.01)
    write(*arguments)
    written.append(arguments)
checkpoints.write = held
if __name__ == "__main__":
    sys.exit(tests.main(sys.argv[1:]))
"""


def test_suites_take_a_corpus_too(text, tmp_path, depthlaw, refused, monkeypatch):
    """The cases that name a corpus move to it; where none does that is said, and stores nothing."""
    digest = corpus.own(text).digest
    trains, counts = (
        on_input(find(key), "corpus", digest)
        for key in ("depth_width/losses_by_updates", "depth_choice/threshold_budget")
    )
    assert {case.corpus for case in (*trains.cases("training"), trains.control.case)} == {digest}
    assert counts.cases("quick") == find(counts.key).cases("quick")
    asked = ["--corpus", text, "--results", tmp_path]
    said = refused("verify --only", counts.key, *asked)
    assert "none of the claims asked for trains on a text" in said
    assert not (tmp_path / "cache").exists()

    seen = []
    monkeypatch.setattr(corpus, "encoded", lambda *given: seen.append(given))
    monkeypatch.setattr(Work, "execute", lambda *_: (_ for _ in ()).throw(Stopped("enough")))
    assert depthlaw("verify training --only", trains.key, *asked).code == 130
    assert seen == [(digest, 2000, str(tmp_path / "cache"))]
    assert [file.stem for file in (tmp_path / "cache" / "corpora").iterdir()] == [digest]


@pytest.mark.slow
@pytest.mark.train
def test_killed_it_goes_on_and_ends_the_same(text, tmp_path, capsys, monkeypatch):
    script, hold = tmp_path / "script.py", tmp_path / "hold"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent), hold=str(hold)))
    hold.touch()
    trainings = tmp_path / "killed" / "cache" / "language_models"

    run = ["exercise", "depth-ablation", "--corpus", str(text), "--json", "--results"]

    def started():
        return subprocess.Popen(
            [sys.executable, str(script), *run, str(tmp_path / "killed")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def steps():
        return {
            file.parts[-3]: file.stat().st_mtime_ns
            for file in trainings.glob("*/training/checkpoint.json")
        }

    for number, said in ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")):
        before, process = steps(), started()
        while steps().items() <= before.items() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, ""), err
        assert said in err
        assert "the same command goes on from there" in err
    unfinished = steps()
    assert unfinished
    hold.unlink()
    resumed = json.loads(started().communicate()[0])
    monkeypatch.setattr(suite, "on_input", partial(tiny, steps=20))
    monkeypatch.setattr(command, "Options", lambda **given: Options(engine="inline"))
    main([*run, str(tmp_path / "undisturbed")])
    assert resumed["exercises"] == json.loads(capsys.readouterr().out)["exercises"]
    assert all((trainings / name / "net").is_dir() for name in unfinished)
