"""A claim of one's own runs from its file, on every engine, and a file that cannot be used gets one
line."""
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import depthlaw
from depthlaw.advisor.quantities import UsageError
from depthlaw.ledger.cli.arguments.arguments import main
from depthlaw.ledger.run.own_claims import own_claims
from depthlaw.ledger.run.suite import Run

PRINTED = Path(__file__).parents[2] / "CONTRIBUTING.md"
KEY = "walks/complete_graph"


@pytest.fixture
def example() -> str:
    """The complete file that CONTRIBUTING.md prints."""
    (found,) = re.findall(r"^```python\n(.*?)^```$", PRINTED.read_text(), re.M | re.S)
    return found


@pytest.fixture
def file(tmp_path, example) -> Path:
    path = tmp_path / "my_claims.py"
    path.write_text(example)
    return path


def said_by(capsys, *arguments) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_example_of_contributing_runs_as_printed(file, tmp_path):
    command = [sys.executable, "-m", "depthlaw", "verify", "--claims", file.name, "--results", "r",
               "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(c["key"], c["verdict"], c["decided"], c["control"]["fails"])
            for c in report["claims"]] == [(KEY, "HOLDS", 9, True)]
    assert not report["complete"]


def test_records_are_resumed_whatever_the_engine_and_wherever_the_file(file, tmp_path, capsys):
    """The pool's processes load the file too; a copy elsewhere is the same file, a changed one is
    not."""
    results = tmp_path / "r"
    assert said_by(capsys, "verify", "theory", "--claims", file, "--results", results,
                   "--processes", "2")[0] == 0
    before = {path: path.stat().st_mtime_ns for path in (results / "runs").rglob("*.json")}
    copy = tmp_path / "elsewhere.py"
    copy.write_bytes(file.read_bytes())
    code, _, err = said_by(capsys, "verify", "theory", "--claims", copy, "--results", results,
                           "--engine", "inline")
    assert code == 0
    assert f"{len(before)} runs, {len(before)} already recorded" in err
    assert {path: path.stat().st_mtime_ns for path in (results / "runs").rglob("*.json")} == before
    copy.write_text(file.read_text() + "\n# changed\n")
    assert "0 already recorded" in said_by(capsys, "verify", "theory", "--claims", copy,
                                           "--results", results)[2]


def test_a_wrong_claim_of_ones_own_is_exit_code_1(file, example, tmp_path, capsys):
    file.write_text(example.replace("3**layers - 1)", "3**layers - 2)"))
    code, out, _ = said_by(capsys, "verify", "--claims", file, "--results", tmp_path / "r")
    assert code == 1
    assert f"! {KEY}: FAILS at [" in out


def test_show_and_gc_know_the_file(file, tmp_path, capsys):
    results = tmp_path / "r"
    assert said_by(capsys, "verify", "--claims", file, "--results", results, "--quiet")[0] == 0
    code, out, _ = said_by(capsys, "show", KEY, "--claims", file, "--results", results)
    assert code == 0
    assert "HOLDS: 9 of 9 cases" in out
    assert "0 of 9 records" in said_by(capsys, "records", "gc", "--claims", file, "--results",
                                       results)[1]
    assert "9 of 9 records" in said_by(capsys, "records", "gc", "--results", results)[1]
    code, _, err = said_by(capsys, "show", KEY, "--results", results)
    assert (code, err.count("\n")) == (2, 1)


def test_premises_of_the_file_are_run_along(file, example, tmp_path, capsys):
    second = """
    yield Claim(
        key="walks/resting", title="rests on the other", text="It rests.", statement=Eq(entry, (degree + 1) ** (3**layers - 1)),
        source=Source("ye2025", "Theorem 4.3"), wording="derived", kind="identity", holds_for="all", measured=largest_entry,
        grid={"quick": Case.grid(max_degree=1, depth=1)}, premises=("walks/complete_graph",),
        control=Control(Case(max_degree=2, depth=1), "wrong", statement=Eq(entry, (degree + 1) ** 3**layers)))
"""
    file.write_text(example + second)
    code, out, _ = said_by(capsys, "verify", "--claims", file, "--only", "walks/resting",
                           "--results", tmp_path / "r", "--json")
    assert code == 0
    assert {c["key"]: c["verdict"]
            for c in json.loads(out)["claims"]} == {"walks/resting": "CONDITIONAL", KEY: "HOLDS"}


def test_a_topic_of_depthlaw_may_be_used_and_its_code_is_the_file(file, example):
    """Also where the measuring function is not of the file: a partial function, or one of
    depthlaw's."""
    text = example.replace(KEY, "connectivity/of_my_own").replace("measured=largest_entry",
                                                                  "measured=partial(largest_entry)")
    file.write_text("from functools import partial\n" + text)
    (claim,) = own_claims(file).values()
    first = Run(claim, claim.grid["quick"][0]).inputs["code"]
    file.write_text("from functools import partial\n" + text + "\n# changed\n")
    (claim,) = own_claims(file).values()
    assert Run(claim, claim.grid["quick"][0]).inputs["code"] != first


@pytest.mark.parametrize(("old", "new", "why"), [
    ("def claims()", "def no_claims()", r"has no function claims\(\)"),
    ("def claims()", "def claims(:", r"line 19: .*; it must be Python"),
    ("import numpy as np", "import no_such_module as np",
     r"cannot be loaded \(ModuleNotFoundError"),
    ("    yield Claim(", "    raise RuntimeError('two\\nlines')\n    yield Claim(",
     r"claims\(\) ends with RuntimeError: two lines"),
    ("    yield Claim(", "    yield 3\n    yield Claim(", "yields a int, accepted is"),
    ("    yield Claim(", "    return\n    yield Claim(", "yields nothing, accepted is"),
    (f'key="{KEY}"', 'key="Walks"', "is not of the form topic/name"),
    (f'key="{KEY}"', 'key="hops/doubling"', "depthlaw has a claim of this key"),
    (f'key="{KEY}"', 'key="glossary/x"', "the name of a module of depthlaw"),
    ("measured=largest_entry", "measured=None", "no function `measured`"),
    ("Eq(entry, (degree + 1) ** (", "Eq(entry * symbol('width'), (degree + 1) ** (",
     "the statement of walks/complete_graph cannot be used"),
    ('holds_for="all"', 'holds_for="all", premises=("walks/no",)', "rests on the unknown claim "
                                                                   "'walks/no'"),
    ("def claims()", "import sys\nsys.exit(5)\ndef claims()", r"cannot be loaded \(SystemExit: 5"),
    ('holds_for="all"', 'holds_for="most"', "has holds_for='most'; accepted: all, almost every, "
                                            "exists, typical"),
    ('wording="derived"', 'wording="guessed"', "has wording='guessed'; accepted: printed, "
                                               "reported, recalled, derived, universal"),
    ('holds_for="all"', 'holds_for="all", evidence="certificate"', "asks for PROVED, which only "
                                                                   "certificates that come with "
                                                                   "depthlaw give"),
    ('symbol("largest_entry")', 'symbol("no_such_symbol")', r"claims\(\) ends with KeyError"),
])
def test_a_file_that_cannot_be_used_gets_one_line(file, example, tmp_path, capsys, old, new, why):
    assert example.count(old) == 1
    file.write_text(example.replace(old, new))
    code, out, err = said_by(capsys, "verify", "--claims", file, "--results", tmp_path / "r")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(why, err), err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(("name", "why"),
                         [("absent.py", "No such file"), (".", "is no regular file"),
                          ("/dev/zero", "is no regular file")])
def test_what_is_no_file_gets_one_line(tmp_path, capsys, name, why):
    code, out, err = said_by(capsys, "verify", "--claims", tmp_path / name, "--results",
                             tmp_path / "r")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert why in err


def test_a_key_twice_in_the_file_is_refused(file, example):
    file.write_text(example + "\n\nonce = claims\n\n\ndef claims():\n    yield from once()\n    "
                              "yield from once()\n")
    with pytest.raises(UsageError, match="stands twice in the file"):
        own_claims(file)


def test_the_library_runs_a_file_too(file, tmp_path):
    found = depthlaw.verify(file=file, results=tmp_path / "r")
    assert {key: result.verdict.value for key, result in found.items()} == {KEY: "HOLDS"}
    assert KEY in depthlaw.claims(file)
    assert KEY not in depthlaw.claims()
