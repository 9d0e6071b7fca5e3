"""Proofs that a kernel checks: what is recorded of them belongs to the claims and files as they
are, and is void after any change."""

import csv
import dataclasses
import hashlib
import io
import json
import re
import shutil
from collections import Counter

import pytest
from sympy import Eq, Ge, Le

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.publish.site import formal_proofs
from depthlaw.ledger.publish.site.formal_proofs import proofs
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.verdicts.card import card
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.ledger.verdicts.suite_verdicts import as_json, results
from depthlaw.theory.claims import formal
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.claims.symbols import TERMS
from depthlaw.theory.claims.verdict import Verdict, worded
from depthlaw.theory.formal import prove
from depthlaw.theory.formal.rests_on import rests_on

LINKED = prove.linked()
REFUTED = [key for key, claim in LINKED.items() if claim.formal.refutes]


@pytest.mark.parametrize("key", LINKED)
def test_what_was_checked_is_what_the_claim_says(key):
    claim = LINKED[key]
    assert formal.stale(claim) == ""
    assert claim.predicted is None
    entry = formal.checked()["theorems"][claim.formal.theorem]
    assert set(entry["assumes"]) <= set(prove.REALS)
    # The term that is compared in the kernel computes what the theorem speaks of.
    head = claim.formal.head
    if "." in head:
        statement = formal.checked()["computed"][f"{head}E"]["statement"]
        assert head.partition(".")[2] in statement
        if key not in REFUTED:
            # The theorem itself speaks of the term.
            assert head.partition(".")[2] in entry["statement"]
    elif key not in REFUTED:
        assert claim.statement.rhs == int(head.removesuffix("%N"))


def test_the_file_of_comparisons_is_the_one_that_was_checked():
    text = prove.link_file(LINKED.values())
    assert hashlib.sha256(text.encode()).hexdigest() == formal.checked()["link"]
    assert text.count("Goal ") >= 3 * (len(LINKED) - len(REFUTED)) + len(REFUTED)
    assert text.count("Goal same ") == sum(
        len(list(prove.comparisons(claim))) for key, claim in LINKED.items() if key not in REFUTED
    )


def test_all_theorems_of_the_files_are_recorded_and_nothing_is_left_open():
    names = prove.project()
    assert {f"{name}.v" for name in names} == {path.name for path in prove.HERE.glob("*.v")}
    listed = {f"{name}.{theorem}" for name in names for theorem in prove.theorems(name)}
    assert listed == set(formal.checked()["theorems"])
    assert not any(prove.gaps(name) for name in names)


@pytest.fixture
def judged(tmp_path):
    """(claim) -> what becomes of it where nothing of it is recorded."""
    return lambda claim: results({claim.key: claim}, "quick", Store(tmp_path))[0]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("statement", lambda c: {"statement": Eq(c.statement.lhs, 2 * c.statement.rhs)}),
        ("cases", lambda c: {"grid": {"quick": c.cases("quick")[1:]}}),
        ("words", lambda c: {"text": f"{c.text} Or so."}),
        ("note", lambda c: {"note": f"{c.note} More or less."}),
        ("not-formal line", lambda c: {"formal": dataclasses.replace(c.formal, informal="Some.")}),
        ("measurement", lambda c: {"measured": find("separation_rank/moments_degree").measured}),
    ],
)
def test_what_a_reader_relies_on_voids_the_proof(monkeypatch, judged, name, change):
    claim = find("separation_rank/degree")
    recorded_now(monkeypatch, claim)
    assert judged(claim).verdict is Verdict.PROVED
    other = dataclasses.replace(claim, **change(claim))
    assert f"its {name} changed" in formal.stale(other)
    assert judged(other).verdict is not Verdict.PROVED


@pytest.mark.parametrize("field", ["meaning", "domain"])
def test_the_words_of_a_symbol_void_the_proof(monkeypatch, judged, field):
    claim = find("separation_rank/degree")
    recorded_now(monkeypatch, claim)
    term = TERMS["degree"]
    monkeypatch.setitem(TERMS, "degree", term._replace(**{field: "positive real"}))
    assert "its symbols changed" in formal.stale(claim)
    assert judged(claim).verdict is not Verdict.PROVED
    monkeypatch.setitem(TERMS, "degree", term)
    assert formal.stale(claim) == ""


def recorded_now(monkeypatch, claim):
    """As if the prover had just run."""
    seen = {"claims": {claim.key: formal.asked(claim)}}
    monkeypatch.setattr(formal, "checked", lambda: seen)


@pytest.mark.parametrize("key", sorted(set(LINKED) - set(REFUTED)))
def test_a_number_that_is_compared_with_itself_is_not_called_compared(monkeypatch, key):
    claim = LINKED[key]
    recorded_now(monkeypatch, claim)
    cases = [case for case in claim.every_case if claim.broken(case) is None]
    predicted = [claim.predict(case) for case in cases]
    same = [
        name
        for name in cases[0].fields()
        if all(str(case.get(name)) == str(p) for case, p in zip(cases, predicted, strict=True))
    ]
    alone = not claim.statement.rhs.free_symbols
    expected = "a field of the case" if same and not alone else "constant" if alone else "at every"
    if "." not in claim.formal.head:
        expected = "holds no number"
    assert expected in formal.said(claim)


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """The claims that name a theorem, as recorded, the page about them, and the folder of its
    files."""
    recorded, folder = Recorded(dict(LINKED), shipped()), tmp_path_factory.mktemp("formal")
    return recorded, proofs(recorded, folder), folder


def test_the_page_counts_what_is_compared(linked):
    kinds = Counter(map(formal.number, LINKED.values()))
    assert kinds.keys() == set(formal.NUMBERS)
    for kind, words in formal.NUMBERS.items():
        assert f"{words} | {kinds[kind]}" in linked[1]
    assert f"FAILS, and the kernel checked a refutation | {len(REFUTED)}" in linked[1]
    assert f"PROVED, by the kernel | {len(LINKED) - len(REFUTED)}" in linked[1]
    assert r"\$" not in linked[1], "formulas of titles are set"


def test_files_hold_every_theorem_as_it_is_stated(linked):
    _, page, folder = linked
    text = (folder / "theorems.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["theorem"] for row in rows] == list(formal.checked()["theorems"])
    for row in rows:
        file, _, name = row["theorem"].partition(".")
        text = (folder / f"{file}.v").read_text(encoding="utf-8")
        assert re.search(rf"^(Theorem|Corollary) {name}\b", text, re.M)
        assert f" {name}" in row["stated"]
        assert len(row["in words"]) >= 20
    linked_files = set(re.findall(r"/data/formal/([\w.]+)\)", page))
    assert linked_files <= {path.name for path in folder.iterdir()}


def test_the_verdict_follows_the_kernel(monkeypatch, judged):
    claim = find("separation_rank/degree")
    assert judged(claim).verdict is Verdict.PROVED
    with monkeypatch.context() as patch:
        patch.setattr(formal, "digest", lambda name: "0")
        assert "sources changed" in formal.stale(claim)
        assert judged(claim).verdict is not Verdict.PROVED
    monkeypatch.setattr(formal, "checked", lambda: {"claims": {}})
    assert judged(claim).verdict is not Verdict.PROVED


@pytest.mark.parametrize("key", REFUTED)
def test_a_refutation_leaves_the_verdict_and_is_said_everywhere(key, linked):
    (recorded, page, _), claim = linked, find(key)
    assert claim.awaited == "FAILS"
    result = recorded.judged(key)
    assert result.verdict is Verdict.FAILS
    assert (result.kernel_refuted, result.kernel_checked) == (True, False)
    # The reference ledger lacks cases of larger suites.
    verdicts = {c.case: c.decision.verdict for c in recorded.rows(key)}
    seen = [verdicts[case] for case in claim.formal.refutes if case in verdicts]
    assert seen
    assert set(seen) == {Verdict.FAILS}
    words = "refuted, and a kernel has checked the refutation"
    assert dict(card(result).facts)["kernel"].startswith(f"{words}: {claim.formal.theorem}")
    told = as_json(result)
    assert (told["verdict"], told["outcome"]) == ("FAILS", worded(claim, Verdict.FAILS))
    assert (told["formal"]["refutes"], told["formal"]["proves"]) == (True, False)
    assert told["formal"]["says"].startswith(words)
    (row,) = [line for line in page.splitlines() if f"](/claims/{key}.md), " in line]
    assert row.startswith(f"- **{worded(claim, Verdict.FAILS)}** [")
    assert row.endswith(f", refuted by `{claim.formal.theorem}`.")


def test_a_refutation_is_void_after_a_change_and_proves_nothing(monkeypatch, judged):
    claim = find(REFUTED[0])
    found = judged(claim)
    assert found.kernel_refuted
    assert found.verdict is not Verdict.PROVED
    fewer = dataclasses.replace(claim.formal, refutes=claim.formal.refutes[1:])
    assert "refutes changed" in formal.stale(dataclasses.replace(claim, formal=fewer))
    monkeypatch.setattr(formal, "digest", lambda name: "0")
    assert not judged(claim).kernel_refuted
    assert formal.said(claim).startswith("void: ")


def test_what_is_refuted_is_compared_on_the_wrong_side():
    claim = find("signal_propagation/product_vanishes")
    left, right = claim.statement.args
    signs = {Le: "above", Eq: "differs", Ge: "below"}
    for relation, word in signs.items():
        other = dataclasses.replace(claim, statement=relation(left, right, evaluate=False))
        first, _ = prove.comparisons(other)
        assert first == f"{word} (Signal.product_value 100) (1 # 2)"
    elsewhere = dataclasses.replace(claim.formal, refutes=(Case(depth=3),))
    with pytest.raises(UsageError, match="has no case"):
        list(prove.comparisons(dataclasses.replace(claim, formal=elsewhere)))


def test_of_an_interval_both_ends_are_compared_and_none_is_refuted():
    claim = find("signal_propagation/pre_ln_norm")
    found = list(prove.comparisons(claim))
    assert "same (Signal.pre_ln_norm_value 1) ((3 # 2), (5 # 2))" in found
    refuted = dataclasses.replace(claim.formal, refutes=claim.every_case[:1])
    with pytest.raises(UsageError, match="both ends"):
        list(prove.comparisons(dataclasses.replace(claim, formal=refuted)))
    # Under a logarithm, 3 to the power of each.
    first = next(prove.comparisons(find("separation_rank/count_bounds")))
    assert first == "same (Counts.count_bounds_value 1 1) ((1 # 1), (2 # 1))"


def test_comments_do_not_count_and_gaps_are_seen(monkeypatch, tmp_path):
    comment = "(* Theorem no : Admitted. (* nested *) *)\n"
    (tmp_path / "File.v").write_text(f"{comment}Theorem yes : True.\nProof. admit. Admitted.\n")
    monkeypatch.setattr(prove, "HERE", tmp_path)
    assert prove.theorems("File") == ["yes"]
    assert prove.gaps("File") == ["admit", "Admitted"]


def test_without_the_prover_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    # The Makefile sets it once `make prover` has unpacked one.
    monkeypatch.delenv("COQBIN", raising=False)
    assert prove.main([]) == 2
    assert capsys.readouterr().err.startswith("error: the prover coqc is not installed; on Debian")


@pytest.mark.parametrize(("version", "code"), [("8.16.1", 2), ("8.20.0", 0), ("9.0.1", 0)])
def test_a_prover_that_is_older_than_the_proofs_is_refused(monkeypatch, capsys, version, code):
    monkeypatch.setattr(prove, "tool", lambda name: f"/prover/{name}")
    monkeypatch.setattr(prove, "prover", lambda: version)
    assert prove.main(["--prover"]) == code
    said = capsys.readouterr()
    assert f"Coq {version}" in (said.err if code else said.out)
    assert said.err.count("\n") == (1 if code else 0)


def test_a_prover_that_does_not_run_or_is_not_where_it_is_said_to_be_is_named(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("COQBIN", str(tmp_path))
    assert prove.main([]) == 2
    assert f"the prover coqc is not in COQBIN={tmp_path}" in capsys.readouterr().err
    for name in ("coqc", "coqchk"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    assert prove.main(["--prover"]) == 2
    assert f"error: {tmp_path}/coqc does not run" in capsys.readouterr().err


def test_a_bound_of_the_left_side_contradicts_on_its_side_alone():
    assert prove._contrary("==", "at least") == "above"
    assert prove._contrary("==", "at most") == "below"
    assert prove._contrary("<=", "at least") == "above"
    with pytest.raises(UsageError, match="contradicts no <="):
        prove._contrary("<=", "at most")


def test_axioms_are_read_by_their_names():
    assert prove.assumptions(f"{prove.CLOSED}\n") == []
    axioms = "Axioms:\nsome.axiom : forall P : Prop, P\nother\n  : True ->\n    True\n"
    assert prove.assumptions(axioms) == ["some.axiom", "other"]


@pytest.mark.parametrize(
    "line",
    [
        "Guard.liar is assumed to be guarded.",
        "Positivity.liar is assumed to be positive.",
        "Universes.no relies on an unsafe hierarchy.",
        "Some.other relies on definitional UIP.",
        "Section Variables:",
    ],
)
# Not even beside an axiom that is allowed.
@pytest.mark.parametrize("axiom", ["", f"{prove.REALS[0]} : forall P : Prop, P\n"])
def test_whatever_else_is_assumed_is_an_error(line, axiom):
    with pytest.raises(UsageError, match=f"more than axioms is assumed: {line}"):
        prove.assumptions(f"Axioms:\n{axiom}{line}\n")


@pytest.mark.parametrize("printed", ["Error: anomaly", "", "Axioms:\n", f"liar. {prove.CLOSED}"])
def test_what_the_prover_does_not_say_is_not_nothing(printed):
    with pytest.raises(UsageError, match="does not say"):
        prove.assumptions(printed)


# What coqchk 8.20.1 prints of a file that assumes nothing, with one sealed name of a library.
REPORT = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Theory: Rewrite rules are not allowed

* Axioms:
    mathcomp.ssreflect.bigop.BigOp.bigopE

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints: <none>

* Inductives whose positivity is assumed: <none>

"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Axioms:", "Axioms:\n    Depthlaw.File.axiom", "Axioms: Depthlaw.File.axiom"),
        ("type-in-type: <none>", "type-in-type:\n    Depthlaw.F.no", "type-in-type: Depthlaw.F.no"),
        ("fixpoints: <none>", "fixpoints:\n    Depthlaw.F.l", r"fixpoints: Depthlaw.F.l"),
        ("assumed: <none>", "assumed:\n    Depthlaw.F.l", "positivity is assumed: Depthlaw.F.l"),
        ("Set is predicative", "Set is impredicative", "Theory: Set is impredicative"),
        ("are not allowed", "are allowed", "Theory: Rewrite rules are allowed"),
        ("* Axioms", "* Rules: <none>\n  \n* Axioms", "does not report"),
        ("CONTEXT", "ERROR", "does not report"),
    ],
)
def test_what_the_second_checker_names_is_an_error(old, new, says):
    prove.report("File", REPORT)
    with pytest.raises(UsageError) as error:
        prove.report("File", REPORT.replace(old, new))
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Unset Guard Checking.", "Unset Guard Checking"),
        ("#[local] Unset  Positivity\nChecking.", "Unset Positivity Checking"),
        ("Unset Universe Checking.", "Unset Universe Checking"),
        ("#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.", "bypass_check"),
        ("Axiom no : False.", "Axiom"),
        ("Parameters a b : nat.", "Parameters"),
        ("Conjecture no : False.", "Conjecture"),
        ('Declare ML Module "some".', "Declare ML"),
        ("Proof. native_compute. Qed.", "native_compute"),
        ("Load other.", "Load"),
        ("#[local] Hypothesis no : False.", "Hypothesis outside a section"),
        ('Definition a := "(*". Admitted. (* "*)" *)', "Admitted"),
    ],
)
def test_what_takes_something_on_trust_is_named(monkeypatch, tmp_path, line, named):
    monkeypatch.setattr(prove, "HERE", tmp_path)
    (tmp_path / "File.v").write_text(f"Section S.\nHypothesis h : True.\nEnd S.\n{line}\n")
    assert prove.gaps("File") == [named]
    (tmp_path / "File.v").write_text("(* {} *)\n".format(line.replace('"', "")))
    assert prove.gaps("File") == []


@pytest.fixture
def another_prover(monkeypatch):
    """A record that another prover made, and a prover that finds what is recorded."""
    made = formal.checked()
    here = {"Coq": "8.20.1", "mathcomp-field": "2.3.0"}
    then = made | {"versions": {"Coq": "8.16.1", "mathcomp-field": "1.15.0"}}
    monkeypatch.setattr(prove, "checked", lambda: then)
    monkeypatch.setattr(prove, "versions", lambda: here)
    monkeypatch.setattr(prove, "usable_prover", lambda: None)
    monkeypatch.setattr(prove, "prove", lambda: made | {"versions": here})
    return "made with Coq 8.16.1, mathcomp-field 1.15.0; this is Coq 8.20.1, mathcomp-field 2.3.0"


def test_other_versions_are_said_in_one_line_in_place_of_a_proof_error(
    another_prover, monkeypatch, capsys
):
    assert prove.main([]) == 0
    assert f"checked.json was {another_prover}: it says the same\n" in capsys.readouterr().out

    def refuses():
        raise prove.NotAcceptedError("Reach.v is not accepted: Error: no lemma ltr_paddl")

    monkeypatch.setattr(prove, "prove", refuses)
    assert prove.main([]) == 2
    assert capsys.readouterr().err == f"error: checked.json was {another_prover}\n"
    monkeypatch.setattr(prove, "checked", lambda: {"versions": prove.versions()})
    assert prove.main([]) == 2
    assert "ltr_paddl" in capsys.readouterr().err


def test_another_record_is_an_error_whatever_the_versions(another_prover, monkeypatch, capsys):
    other = prove.checked() | {"link": "0"}
    monkeypatch.setattr(prove, "checked", lambda: other)
    assert prove.main([]) == 2
    assert f"not what checked.json records, which was {another_prover}" in capsys.readouterr().err


def test_the_record_is_what_json_writes_with_versions_of_every_library():
    text = prove.RECORD.read_text(encoding="utf-8")
    assert text == json.dumps(formal.checked(), indent=1, sort_keys=True) + "\n"
    made = formal.checked()["versions"]
    assert list(made) == sorted(prove.versions())
    assert all(re.fullmatch(r"[\d.]+", version) for version in made.values())
    assert set(formal.checked()["checked again"]) | set(prove.COMPUTED) == set(prove.project())


def test_a_theorem_is_printed_with_the_hypotheses_of_its_section(monkeypatch):
    text = (
        "Section One.\nVariable n : nat. (* Hypothesis no : n = 2. *)\nSection Two.\n"
        "Hypothesis n0 : 0 < n.\nTheorem within : n.+1 = 2.\nProof. by []. Qed.\nEnd Two.\n"
        "Corollary without :\n  n = n.\nProof. by []. Qed.\nEnd One.\nTheorem last : 0 = 0.\n"
    )
    monkeypatch.setattr(formal_proofs, "source", lambda name: text)
    both = "Variable n : nat.\nHypothesis n0 : 0 < n.\nTheorem within : n.+1 = 2."
    assert formal_proofs.stated("File.within") == both
    one = "Variable n : nat.\nCorollary without :\n  n = n."
    assert formal_proofs.stated("File.without") == one
    assert formal_proofs.stated("File.last") == "Theorem last : 0 = 0."


def test_what_a_theorem_rests_on_is_read_from_what_the_prover_resolved(tmp_path):
    """A notation spelled like a definition hides nothing, and no lemma is listed."""
    (tmp_path / "File.v").write_text(
        "Definition net := 0. (* Definition no := 1. *)\nLocal Notation run := net.\n"
        "Definition twice := run + run.\nLemma half : 0 = 0. Qed.\nTheorem all : twice = 0.\n"
    )
    text = (tmp_path / "File.v").read_text()
    uses = [("net", "net.\n", "def"), ("run", "run + ", "abbrev"), ("twice", "twice = ", "def")]
    lines = [f"def {text.index('net')}:1 <> net", f"abbrev {text.index('run')}:1 <> run"]
    lines += [f"def {text.index('twice')}:1 <> twice", f"prf {text.index('all')}:1 <> all"]
    lines += [f"R{text.index(at)}:1 Depthlaw.File <> {name} {kind}" for name, at, kind in uses]
    (tmp_path / "File.glob").write_text("\n".join(lines) + "\n")
    found = rests_on(tmp_path, ["File.all"])["File.all"]
    assert found == {"reads": ["File.twice", "File.net"], "notations": []}


def test_the_record_lists_the_one_model_under_what_is_said_of_it():
    reads = formal.checked()["theorems"]["Bridges.parity_transformer_checked"]["reads"]
    assert {"Transformer.net", "Transformer.read", "Transformer.embedded"} <= set(reads)
    reads = formal.checked()["theorems"]["Parity.parity_heads"]["reads"]
    assert {name.partition(".")[0] for name in reads} == {"Parity", "Thoughts"}
