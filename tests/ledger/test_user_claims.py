"""A claim of one's own runs from its file, on every engine, and a file that cannot be used gets one
line."""

import hashlib
import json
import pickle
import re
import shlex
from pathlib import Path

import pytest
import yaml

import depthlaw as library
from depthlaw.ledger.cli import falsify_commands
from depthlaw.ledger.notebook import claim_html
from depthlaw.ledger.running.user_claims import own_claims, own_file
from depthlaw.ledger.verdicts.claim_set import claim_set
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.symbols import TERMS, term_of

WORDS = '''"""Two random words differ in at most half of their places."""

from sympy import Le

from depthlaw.theory.claims import Case, Control, Exact, Source, claim, quantity

bits = quantity("bits", "n", "length of two words")
distance = quantity("distance", "h", "places in which the words differ", "nonnegative integer")


@claim(
    Le(distance, bits / 2),
    source=Source.own("Jane Doe", 2026),
    holds_for="almost every",
    cases={"quick": Case.grid(bits=(2, 4, 8))},
    control=Control(Case(bits=8), "words are equal", statement=Le(distance, 0)),
)
def half(case: Case, seed: int) -> Exact:
    """Random words differ in at most half of their places.

    All pairs of random words of $n$ bits differ in at most $n/2$ places."""
    first, second = case.rng(seed).integers(0, 2, size=(2, case.bits))
    return Exact(int((first != second).sum()))
'''
USED = "depthlaw.theory.claims import Case, Control, Exact, Source, claim, quantity"
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


@pytest.fixture
def words(tmp_path) -> Path:
    """A false claim about random instances, with names that depthlaw uses for other quantities."""
    path = tmp_path / "words.py"
    path.write_text(WORDS)
    return path


@pytest.fixture
def depthlaw(depthlaw):
    """Commands; what is verified is measured in this process, unless an engine is named."""

    def command(*words):
        named = "--engine" in words or not str(words[0]).startswith("verify")
        return depthlaw(*words, *([] if named else ["--engine", "inline"]))

    return command


def test_the_example_runs_as_printed(file, tmp_path, monkeypatch, depthlaw):
    monkeypatch.chdir(tmp_path)
    done = depthlaw("verify --claims", file.name, *["--results", "r", "--json"])
    (claim,) = done.data["claims"]
    assert (claim["key"], claim["verdict"], claim["decided"]) == (KEY, "HOLDS", 9)
    assert claim["control"]["fails"] is True
    assert not done.data["complete"]
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
    code, out, _ = depthlaw("verify --claims", file, "--results", tmp_path / "r")
    assert code == 1
    assert f"! {KEY}: FAILS at [" in out


def test_show_and_gc_know_the_file(file, tmp_path, depthlaw):
    results = tmp_path / "r"
    code, out, _ = depthlaw("verify --claims", file, "--results", results, "--quiet")
    assert code == 0
    # What is not random is measured once.
    assert own_claims(file)[KEY].seeds == 1
    assert "draw" not in out.replace("drawn", "")
    code, out, _ = depthlaw("show", KEY, "--all", "--claims", file, "--results", results)
    assert code == 0
    assert "HOLDS: all 9 cases agree" in out
    assert "9 of 9 cases of suite" in out
    assert "0 of 9 records" in depthlaw("records gc --claims", file, "--results", results)[1]
    assert "9 of 9 records" in depthlaw("records gc --results", results)[1]
    code, _, err = depthlaw("show", KEY, "--results", results)
    assert (code, err.count("\n")) == (2, 1)


def test_a_value_of_ones_own_goes_with_ones_own_verdict(words, tmp_path, depthlaw):
    at = ["show words/half --at bits=9 --claims", words]
    before = depthlaw(*at)
    assert before.out == "bits=9: h <= 9/2\n"
    assert "words/half: no verdict here" in before.err
    results = ["--results", tmp_path / "r"]
    assert depthlaw("verify --claims", words, *results).code == 1
    err = depthlaw(*at, *results).err
    assert "words/half: FAILS" in err
    # What is advised is a command that works.
    advised = shlex.split(re.findall("`depthlaw (.+)`", err)[0])
    assert depthlaw(*advised, *results).out.startswith("words/half: ")


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
    assert f"because it rests on claims that are not proved: {KEY} (HOLDS)\n" in said
    assert f"premise {KEY}: HOLDS, " in said
    data = depthlaw(*why, "--json").data
    assert (data["suite"], data["verdict"], data["kind"]) == ("quick", "CONDITIONAL", "claim")


# What is replaced in the example, by what, and what is said; a plus stands before a field more.
MISTAKES = r"""
case: Case) >> case: Case >> line \d+: .*; it must be Python
import numpy >> import no_such >> cannot be loaded \(ModuleNotFoundError
as np >> as np; from depthlaw.theory.symbols import L >> it is depthlaw\.theory\.claims\.symbols\)
as np >> as np; from depthlaw.theory import claim >> since 0.3 it is depthlaw\.theory\.claims\)
import numpy as np >> raise RuntimeError('two\nlines') >> RuntimeError: two lines
import numpy as np >> raise SystemExit(5) >> cannot be loaded \(SystemExit: 5
import numpy as np >> raise GeneratorExit >> cannot be loaded
"degree_of_graph", r" >> "depth", r" >> has two quantities of the name 'depth', one declared
"theory": Case >> "slow": Case >> has cases for 'slow'; suites are quick
Eq(entry, (degree + 1) ** (3**depth - 1)) >> entry == 1 >> is no relation; write Eq
+premises=("walks/no",) >> rests on the unknown claim 'walks/no'
+holds_for="most" >> has holds_for='most'; accepted: all, almost every, exists, typical
+wording="guessed" >> has wording='guessed'; accepted: printed, reported, recalled, deri
+evidence="certificate" >> asks for PROVED, which only certificates that come with depth
+supports="hops/doubling" >> supports 'hops/doubling', which is no cited claim
+cited="A.", supports="hops/depth_corrected" >> gives cited and supports; accepted is one
+cited="two\nlines" >> gives cited; accepted is one of
"""
PUBLISHED, STATED = (
    'Source("ye2025", "Theorem 4.3", "arXiv:2510.19753")',
    "Eq(entry, (degree + 1) ** (",
)
LONGER_MISTAKES = [
    ("entries.\n\n", 'entries."""\n    r"""', "its docstring needs a title"),
    (
        "entry = quantity(",
        "quantity('largest_walk', 'y', 'another'); entry = quantity(",
        "the name 'largest_walk' stands for another quantity already: another",
    ),
    (PUBLISHED, 'Source.own("", 2026)', "Source.own takes an author, such as"),
    (PUBLISHED, 'Source.own("Jane Doe", "2026")', "Source.own takes a year of four digits"),
    (
        STATED,
        "Eq(entry * quantity('more', 'm', 'more'), (degree + 1) ** (",
        "walks/complete_graph has a statement that cannot be used",
    ),
    (
        STATED,
        "Eq(entry, (quantity('powr', 'p', 'misspelt') + 1) ** (",
        "has the symbol 'powr', which is no field of its cases",
    ),
]


def mistakes():
    for line in MISTAKES.strip().splitlines():
        if line.startswith("+"):
            field, why = line[1:].split(" >> ")
            line = f"    control= >>     {field}, control= >> {why}"
        yield line.split(" >> ")
    yield from LONGER_MISTAKES


@pytest.mark.parametrize(("old", "new", "why"), [*mistakes()])
def test_a_file_that_cannot_be_used_gets_one_line(file, example, tmp_path, refused, old, new, why):
    assert example.count(old) == 1
    file.write_text(example.replace(old, new))
    assert re.search(why, refused("verify --claims", file, "--results", tmp_path / "r"))
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
        (".", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
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
    _, shown, _ = depthlaw("show", KEY, "--all", "--claims", file)
    assert "supports    connectivity/layers_for_diameter: " in shown
    _, above, _ = depthlaw("show connectivity/layers_for_diameter --all --claims", file)
    assert f" {KEY}: " in above


def test_a_statement_that_is_false_for_many_draws_fails_by_default(words, tmp_path, depthlaw):
    """It is false for a quarter to a third of all draws, so that one draw a case often misses it:
    then it HOLDS, and the screen says that there was one."""
    given = ("--claims", words, "--results", tmp_path / "r")
    code, out, _ = depthlaw("verify", *given)
    assert code == 1
    assert "1 claim judged: 1 FAILS" in out
    assert "random instances: 20 draws a case (words/half)" in out
    assert (
        "quantifier: almost every; 20 draws a case" in depthlaw("show words/half --all", *given).out
    )
    words.write_text(WORDS.replace("    source=", "    seeds=1,\n    source="))
    assert own_claims(words)["words/half"].seeds == 1
    assert "1 draw a case" in depthlaw("verify", *given).out
    assert library.claims()["hops/doubling"].seeds == 1


def test_names_of_a_file_are_its_own_in_every_print(words, tmp_path, depthlaw):
    """Depthlaw calls other quantities by these names, and goes on to do so."""
    library.claims()
    taken = {name: TERMS[name].meaning for name in ("bits", "distance")}
    shown = depthlaw("show words/half --all --claims", words).out
    assert "where       h: places in which the words differ; n: length of two words\n" in shown
    assert "statement   h <= n/2\n" in shown
    assert {name: TERMS[name].meaning for name in taken} == taken
    assert "length of two words" in claim_html(own_claims(words)["words/half"])
    copied = pickle.loads(pickle.dumps(own_claims(words)["words/half"].statement))
    assert copied == own_claims(words)["words/half"].statement
    assert {term_of(symbol).latex for symbol in copied.free_symbols} == {"h", "n"}


def test_falsify_recheck_and_mutate_take_the_file(words, tmp_path, depthlaw, refused):
    given = ("--claims", words, "--results", tmp_path / "r")
    code, out, err = depthlaw("falsify words/half", *given)
    assert code == 1
    assert "FAILS: a counterexample" in out
    assert "(--minutes)" in err
    (certificate,) = (tmp_path / "r/certificates").iterdir()
    assert depthlaw("recheck", certificate, "--claims", words).code == 0
    assert "there is no claim of the name it gives" in refused("recheck", certificate)
    depthlaw("verify", *given)
    mutated = depthlaw("mutate --suite quick", *given)
    assert mutated.out.count("words/half: ") == 1
    assert mutated.out.count("mutants noticed") == 1
    assert mutated.code == 0
    # The command that goes on names the file.
    out = depthlaw("why words/half", *given).out
    assert depthlaw(re.search("`depthlaw (why .* --all .*)`", out)[1]).code == 0


def test_an_equation_has_no_nearest_case_and_a_search_says_how_far_it_is(
    file, tmp_path, depthlaw, monkeypatch
):
    monkeypatch.setattr(falsify_commands, "_PAUSE", 0.0)
    given = ("--minutes", "0.002", "--claims", file, "--results", tmp_path / "r")
    code, out, err = depthlaw("falsify", KEY, *given)
    assert code == 0
    assert re.search(r"^[\d,]+ instances? tried\nHOLDS: no counterexample\n", out, re.M)
    assert "slack" not in out + err
    assert re.search(r"^[\d,]+ instances tried in \d+ of 0 s$", err, re.M)
    assert not depthlaw("falsify", KEY, *given, "--json").err


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "range(case",
            "rnage(case",
            r"NameError: name 'rnage' is not defined \(walks.py, line 3\d\)",
        ),
        # What names the case differs from run to run.
        ("case.depth", "case.dpeth", r"AttributeError: the case .* has no field 'dpeth' \(walks"),
        ("Exact(int(x.max()))", "Exact(1.0)", r"TypeError: Exact and Ball take an int.*; got 1\.0"),
        (
            "Exact(int(x.max()))",
            "1.0",
            "TypeError: a measurement returned float; accepted are Exact",
        ),
    ],
)
@pytest.mark.parametrize("engine", ["inline", "pool"])
def test_what_a_body_raises_is_said_once_with_its_line(
    file, example, tmp_path, depthlaw, old, new, why, engine
):
    file.write_text(example.replace(old, new))
    given = ("--claims", file, "--results", tmp_path / "r", "--engine", engine)
    code, out, _ = depthlaw("verify", *given)
    assert code == 1
    failed = [line for line in out.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 1
    assert re.search(f" and 8 more runs: {why}", failed[0])
    assert "cite" not in out
    if "rnage" in new:
        error = depthlaw("falsify", KEY, *given[:4]).err.splitlines()[-1]
        assert re.search(f"error: {KEY} at .* raised {why}", error)


def test_a_theorem_of_ones_own_is_not_published_as_ours(words, tmp_path, depthlaw):
    given = ("--claims", words, "--results", tmp_path / "r")
    verified = depthlaw("verify", *given).out
    assert "Jane Doe 2026 derived" in verified
    assert "our own" not in verified
    shown = depthlaw("show words/half --all", *given).out
    assert "source      Jane Doe 2026 (wording derived)\n" in shown
    assert "source Jane Doe 2026 (wording derived): " in depthlaw("why words/half", *given).out
    assert "(Jane Doe 2026)" in depthlaw("show words", *given).out
    written = tmp_path / "out"
    assert depthlaw("appendix", written, *given).code == 0
    names = ("appendix.md", "appendix.html", "appendix.tex", "CITATION.cff", "values.tex")
    others = ("references.bib", "checklist.md")
    texts = {name: (written / name).read_text() for name in (*names, *others)}
    for name, text in texts.items():
        assert claim_set().name not in text, name
        assert "at the tag" not in text, name
    title = "Two random words differ in at most half of their places"
    for name in ("appendix.md", "appendix.html", "appendix.tex", "CITATION.cff", "references.bib"):
        assert "Jane Doe" in texts[name], name
    for name in ("appendix.html", "appendix.tex", "CITATION.cff", "references.bib"):
        assert title in texts[name], name
    digest = hashlib.sha256(words.read_bytes()).hexdigest()
    assert (written / "words.py").read_bytes() == words.read_bytes()
    for name in ("appendix.md", "CITATION.cff", "values.tex"):
        assert digest in texts[name], name
    cff = yaml.safe_load(texts["CITATION.cff"])
    assert (cff["title"], cff["authors"]) == (title, [{"name": "Jane Doe"}])
    # What a PDF says of itself stands in it as it is.
    said = (written / "appendix.pdf").read_bytes()
    assert re.search(rb"<dc:creator>.{,60}Jane Doe", said)
    assert re.search(rb"<dc:title>.{,80}" + title.encode(), said)
    command = "^(depthlaw verify quick --claims words.py) --results DIR$"
    again = re.search(command, texts["appendix.md"], re.M)
    results = ("--results", tmp_path / "again")
    command = shlex.split(again[1])[1:-1]
    assert depthlaw(*command, written / "words.py", *results).code == 1
    runs, same = (
        {path.name for path in (tmp_path / at / "runs").rglob("*.json")} for at in ("r", "again")
    )
    assert runs == same != set()


def test_authors_of_a_file_are_its_own_word_for_them(words, file):
    found = own_file(words)
    assert (found.authors, found.year) == (("Jane Doe",), 2026)
    words.write_text(
        WORDS.replace("from sympy", '__author__ = "Ann Roe and Ed Poe"\nfrom sympy', 1)
    )
    assert own_file(words).authors == ("Ann Roe", "Ed Poe")
    assert (own_file(file).authors, own_file(file).by) == ((), "no author named")


def test_depthlaw_is_not_the_author_of_a_users_claim(words, tmp_path, depthlaw):
    """A page of ours used to say so."""
    words.write_text(
        WORDS.replace('Source.own("Jane Doe", 2026)', 'Source("depthlaw", "after ye2025")')
    )
    given = ("--claims", words, "--results", tmp_path / "r")
    _, out, err = depthlaw("verify", *given)
    assert "words/half names no author" in err
    assert "no author named derived" in out
    assert "depthlaw derived" not in out
    why = depthlaw("why words/half", *given).out
    assert "source no author named (wording derived): after ye2025" in why
    assert "The depthlaw developers" not in why
    assert depthlaw("appendix", tmp_path / "out", *given).code == 0
    cff = yaml.safe_load((tmp_path / "out/CITATION.cff").read_text())
    assert cff["authors"] == [{"name": "no author named"}]


def test_a_folder_of_somebody_else_is_no_results_folder(tmp_path, refused):
    (tmp_path / "notes.txt").write_text("mine")
    said = refused("verify quick --only hops/doubling --results", tmp_path)
    assert "holds 'notes.txt', which depthlaw did not write" in said
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_source_lists_its_claims_and_a_wrong_key_the_nearest(depthlaw):
    out = depthlaw("show levine2020").out
    assert "depth_choice/gpt3_projection" in out
    assert "hops/doubling" not in out
    with pytest.raises(KeyError, match="did you mean hops/doubling"):
        library.claims()["hops/doublin"]


def test_every_word_of_depthlaw_is_free_in_a_file(tmp_path, depthlaw):
    """A file declares every name that depthlaw has for a quantity, with another meaning, LaTeX and
    domain, and states something of each pair."""
    registry()
    ours = dict(TERMS)
    names = sorted(ours)
    head = ["from fractions import Fraction", "from sympy import Eq", f"from {USED}", ""]
    quantities = [
        f'{name} = quantity("{name}", "q_{{{place}}}", "my {name}", "positive real")'
        for place, name in enumerate(names)
    ]
    pairs = list(zip(names[::2], names[1::2], strict=False))
    claims = [
        f"""
@claim(Eq({left}, 2 * {right}), source=Source.own("Jane Doe", 2026),
       cases={{"quick": Case.grid({right}="3/2")}},
       control=Control(Case({right}=1), "not doubled", statement=Eq({left}, {right})))
def doubles_{right}(case):
    "It doubles.\\n\\nIt doubles."
    return Exact(2 * Fraction(case.{right}))
"""
        for left, right in pairs
    ]
    file = tmp_path / "every_word.py"
    file.write_text("\n".join([*head, *quantities, *claims]))
    results = library.verify(file=file, results=tmp_path / "r")
    assert len(results) == len(pairs) > 190
    for (left, right), (key, result) in zip(pairs, results.items(), strict=True):
        assert key == f"every_word/doubles_{right}"
        assert (result.verdict.value, result.unexpected) == ("HOLDS", ""), key
        meanings = {term_of(s).meaning for s in result.claim.statement.free_symbols}
        assert meanings == {f"my {left}", f"my {right}"}
    assert ours == TERMS
    shown = depthlaw("show", key, "--all", "--claims", file, "--results", tmp_path / "r").out
    assert f"my {right}" in shown
    assert ours[right].meaning not in shown
