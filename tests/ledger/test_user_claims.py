"""A claim of one's own runs from its file, on every engine, and a file that cannot be used gets one
line."""

import json
import re
from pathlib import Path

import pytest

import depthlaw as library
from depthlaw.ledger.running.user_claims import own_claims

PRINTED = Path(__file__).parents[2] / "docs/how-to/add-a-theorem.md"
KEY = "walks/complete_graph"


@pytest.fixture
def example() -> str:
    """The complete file that the page prints."""
    (found,) = re.findall(r"^```python\n(.*?)^```$", PRINTED.read_text(), re.M | re.S)
    return found


@pytest.fixture
def proof() -> str:
    """What the page adds below it."""
    (found,) = re.findall(r"^```\n(from .*?)^```$", PRINTED.read_text(), re.M | re.S)
    return found


@pytest.fixture
def file(tmp_path, example) -> Path:
    path = tmp_path / "walks.py"
    path.write_text(example)
    return path


def test_the_example_runs_as_printed(file, tmp_path, monkeypatch, depthlaw):
    monkeypatch.chdir(tmp_path)
    done = depthlaw("verify --claims", file.name, *["--results", "r", "--json"])
    report = done.data
    assert [
        (c["key"], c["verdict"], c["decided"], c["control"]["fails"]) for c in report["claims"]
    ] == [(KEY, "HOLDS", 9, True)]
    assert not report["complete"]
    assert done.code == 0


def test_the_proof_as_printed_makes_it_argued(file, tmp_path, proof):
    file.write_text(file.read_text() + proof)
    found = library.verify(file=file, results=tmp_path / "r")[KEY]
    assert found.verdict == "ARGUED"
    assert KEY in library.claims(file)
    assert KEY not in library.claims()
    assert [step.holds for step in found.proof] == [True, True]


def test_records_are_resumed_whatever_the_engine_and_wherever_the_file(file, tmp_path, depthlaw):
    """The pool's processes load the file too; a copy elsewhere is the same file, and so is one
    with a comment more; one that measures otherwise is not."""
    results = ("--results", tmp_path / "r", "--engine")
    assert depthlaw("verify --claims", file, *results, "pool", "--processes", "1").code == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "r/runs").rglob("*.json")}
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / file.name
    copy.write_text(file.read_text() + "\n# a comment\n")
    code, _, err = depthlaw("verify --claims", copy, *results, "inline")
    assert code == 0
    assert f"{len(before)} runs, {len(before)} already recorded" in err
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "r/runs").rglob("*.json")}
    assert after == before
    copy.write_text(file.read_text().replace("int(x.max())", "int(x.max() + 0)"))
    assert "0 already recorded" in depthlaw("verify --claims", copy, *results, "inline").err


def test_the_same_file_at_two_paths_is_one_claim_in_one_process(file, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / file.name
    copy.write_text(file.read_text())
    assert own_claims(file).keys() == own_claims(copy).keys() == {KEY}


def test_a_wrong_claim_of_ones_own_is_exit_code_1(file, example, tmp_path, depthlaw):
    file.write_text(example.replace("3**depth - 1)", "3**depth - 2)"))
    code, out, _ = depthlaw(
        "verify --claims", file, "--results", tmp_path / "r", "--engine", "inline"
    )
    assert code == 1
    assert f"! {KEY}: FAILS at [" in out


def test_show_and_gc_know_the_file(file, tmp_path, depthlaw):
    results = tmp_path / "r"
    assert depthlaw("verify --claims", file, "--results", results, "--quiet")[0] == 0
    code, out, _ = depthlaw("show", KEY, "--claims", file, "--results", results)
    assert code == 0
    assert "HOLDS: 9 of 9 cases" in out
    assert "0 of 9 records" in depthlaw("records gc --claims", file, "--results", results)[1]
    assert "9 of 9 records" in depthlaw("records gc --results", results)[1]
    code, _, err = depthlaw("show", KEY, "--results", results)
    assert (code, err.count("\n")) == (2, 1)


def test_premises_of_the_file_are_run_along(file, example, tmp_path, depthlaw):
    second = '''

@claim(
    Eq(entry, (degree + 1) ** (3**depth - 1)), source=Source("ye2025", "Theorem 4.3"),
    cases={"quick": Case.grid(degree_of_graph=1, depth=1)}, premises=("walks/complete_graph",),
    control=Control(Case(degree_of_graph=2, depth=1), "wrong",
                    statement=Eq(entry, (degree + 1) ** 3**depth)))
def resting(case: Case) -> Exact:
    """Rests on the other.

    It rests."""
    return complete_graph.measured(case)
'''
    file.write_text(example + second)
    code, out, _ = depthlaw(
        "verify --claims", file, "--only", "walks/resting", "--results", tmp_path / "r", "--json"
    )
    assert code == 0
    assert {c["key"]: c["verdict"] for c in json.loads(out)["claims"]} == {
        "walks/resting": "CONDITIONAL",
        KEY: "HOLDS",
    }
    why = ("why walks/resting --claims", file, "--results", tmp_path / "r")
    said = depthlaw(*why).out
    assert f"because it rests on what is neither PROVED nor ARGUED: {KEY} (HOLDS)\n" in said
    assert f"premise {KEY}: HOLDS, " in said
    data = depthlaw(*why, "--json").data
    assert (data["suite"], data["verdict"], data["kind"]) == ("quick", "CONDITIONAL", "claim")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("case: Case)", "case: Case", r"line \d+: .*; it must be Python"),
        ("import numpy", "import no_such", r"cannot be loaded \(ModuleNotFoundError"),
        (
            "import numpy as np",
            "from depthlaw.theory.symbols import depth",
            r"since 0.3 it is depthlaw\.theory\.claims\.symbols\)",
        ),
        (
            "import numpy as np",
            "from depthlaw.theory import claim",
            r"since 0.3 it is depthlaw\.theory\.claims\)",
        ),
        ("import numpy as np", "raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("import numpy as np", "raise SystemExit(5)", r"cannot be loaded \(SystemExit: 5"),
        ("import numpy as np", "raise GeneratorExit", "cannot be loaded"),
        ("entries.\n\n", 'entries."""\n    r"""', "its docstring needs a title"),
        ('"degree_of_graph", r"', '"width", r"', "the name 'width' stands for another quantity"),
        (
            "Eq(entry, (degree + 1) ** (",
            "Eq(entry * quantity('more', 'm', 'more'), (degree + 1) ** (",
            "walks/complete_graph has a statement that cannot be used",
        ),
        ('"theory": Case', '"slow": Case', "has cases for 'slow'; suites are quick"),
        ("Eq(entry, (degree + 1) ** (3**depth - 1))", "entry == 1", "is no relation; write Eq"),
        (
            "Eq(entry, (degree + 1) ** (",
            "Eq(entry, (quantity('powr', 'p', 'misspelt') + 1) ** (",
            "has the symbol 'powr', which is no field of its cases",
        ),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_line(file, example, tmp_path, refused, old, new, why):
    assert example.count(old) == 1
    file.write_text(example.replace(old, new))
    assert re.search(why, refused("verify --claims", file, "--results", tmp_path / "r"))
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("added", "why"),
    [
        ('premises=("walks/no",)', "rests on the unknown claim 'walks/no'"),
        ('holds_for="most"', "has holds_for='most'; accepted: all, almost every, exists, typical"),
        ('wording="guessed"', "has wording='guessed'; accepted: printed, reported, recalled, deri"),
        ('evidence="certificate"', "asks for PROVED, which only certificates that come with depth"),
        ('supports="hops/doubling"', "supports 'hops/doubling', which is no cited claim"),
        (
            'cited="A.", supports="hops/depth_corrected"',
            "gives cited and supports; accepted is one",
        ),
        ('cited="two\\nlines"', "gives cited; accepted is one of"),
    ],
)
def test_a_field_that_cannot_be_used_gets_one_line(file, example, tmp_path, refused, added, why):
    file.write_text(example.replace("    control=", f"    {added}, control="))
    assert why in refused("verify --claims", file, "--results", tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_key_that_is_used_already_is_refused(example, tmp_path, refused):
    again = example + "\n\n" + example[example.index("@claim(") :]
    for name, text, key in (
        ("walks.py", again, "the key 'walks/complete_graph' is used twice"),
        ("connectivity.py", example, "depthlaw has a topic of that name; rename the file"),
    ):
        (tmp_path / name).write_text(text)
        said = refused("verify --claims", tmp_path / name, "--results", tmp_path / "r")
        assert key in said


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent.py", "No such file"),
        (".", "is no regular file"),
        ("/dev/zero", "is no regular file"),
        ("My-claims.py", "the name of the file is the topic"),
        ("empty.py", "has no function with the decorator @claim"),
    ],
)
def test_what_is_no_file_of_claims_gets_one_line(tmp_path, refused, name, why):
    for made in ("My-claims.py", "empty.py"):
        (tmp_path / made).write_text("")
    assert why in refused("verify --claims", tmp_path / name, "--results", tmp_path / "r")


def test_a_source_that_the_bibliography_lacks_is_printed_as_it_stands(
    file, example, depthlaw, tmp_path
):
    file.write_text(example.replace('"ye2025", "Theorem 4.3"', '"Horn and Johnson", "5.1"'))
    depthlaw("verify --claims", file, "--results", tmp_path / "r")
    given = ("--claims", file, "--results", tmp_path / "r")
    assert "Horn and Johnson" in depthlaw("why", KEY, *given)[1]
    assert depthlaw("appendix", tmp_path / "out", *given)[0] == 0
    written = (tmp_path / "out/appendix.md").read_text()
    assert "Horn and Johnson" in written
    assert f"depthlaw verify quick --claims {file.name}" in written


def test_a_claim_of_a_file_may_support_one_that_comes_with_depthlaw(file, example, depthlaw):
    file.write_text(
        example.replace("    control=", '    supports="connectivity/layers_for_diameter", control=')
    )
    _, shown, _ = depthlaw("show", KEY, "--claims", file)
    assert "supports    connectivity/layers_for_diameter: " in shown
    _, above, _ = depthlaw("show connectivity/layers_for_diameter --claims", file)
    assert f" {KEY}: " in above
