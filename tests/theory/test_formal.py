"""Proofs that a kernel checks: what is recorded of them belongs to the claims and files as they
are, and is void after any change."""

import dataclasses
import hashlib
import json
import shutil

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
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.formal import prove

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


def test_a_changed_statement_case_or_file_voids_the_proof(monkeypatch):
    claim = find("separation_rank/degree")
    other = dataclasses.replace(claim, statement=Eq(claim.statement.lhs, 2 * claim.statement.rhs))
    assert "statement changed" in formal.stale(other)
    fewer = dataclasses.replace(claim, grid={"quick": claim.cases("quick")[1:]})
    assert "cases changed" in formal.stale(fewer)
    monkeypatch.setattr(formal, "digest", lambda name: "0")
    assert "sources changed" in formal.stale(claim)


def test_the_verdict_follows_the_kernel(monkeypatch, tmp_path):
    claim = find("separation_rank/degree")
    (judged,) = results({claim.key: claim}, "quick", Store(tmp_path))
    assert judged.verdict is Verdict.PROVED
    monkeypatch.setattr(formal, "checked", lambda: {"claims": {}})
    (judged,) = results({claim.key: claim}, "quick", Store(tmp_path))
    assert judged.verdict is not Verdict.PROVED


@pytest.mark.parametrize("key", REFUTED)
def test_a_refutation_leaves_the_verdict_and_is_said_everywhere(key):
    store, claim = shipped(), find(key)
    assert claim.awaited == "FAILS"
    recorded = Recorded({key: claim}, store)
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
    assert (told["verdict"], told["formal"]["refutes"], told["formal"]["proves"]) == (
        "FAILS",
        True,
        False,
    )
    assert told["formal"]["says"].startswith(words)
    page = proofs(recorded)
    assert f"FAILS; {words}" in page
    assert "FAILS, and the kernel checked a refutation | 1" in page
    assert "PROVED, by the kernel | 0" in page
    assert r"\$" not in page, "formulas of what is not formal are set"


def test_a_refutation_is_void_after_a_change_and_proves_nothing(monkeypatch, tmp_path):
    claim = find(REFUTED[0])
    (judged,) = results({claim.key: claim}, "quick", Store(tmp_path))
    assert judged.kernel_refuted
    assert judged.verdict is not Verdict.PROVED
    fewer = dataclasses.replace(claim.formal, refutes=claim.formal.refutes[1:])
    assert "refutes changed" in formal.stale(dataclasses.replace(claim, formal=fewer))
    monkeypatch.setattr(formal, "digest", lambda name: "0")
    (judged,) = results({claim.key: claim}, "quick", Store(tmp_path))
    assert not judged.kernel_refuted
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


def test_comments_do_not_count_and_gaps_are_seen(monkeypatch, tmp_path):
    text = (
        "(* Theorem no : Admitted. (* nested *) *)\nTheorem yes : True.\nProof. admit. Admitted.\n"
    )
    (tmp_path / "File.v").write_text(text)
    monkeypatch.setattr(prove, "HERE", tmp_path)
    assert prove.theorems("File") == ["yes"]
    assert prove.gaps("File") == ["admit", "Admitted"]


def test_without_the_prover_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert prove.main([]) == 2
    assert capsys.readouterr().err.startswith("error: the prover coqc is not installed; on Debian")


def test_the_record_is_what_json_writes():
    text = prove.RECORD.read_text(encoding="utf-8")
    assert text == json.dumps(formal.checked(), indent=1, sort_keys=True) + "\n"


def test_a_bound_of_the_left_side_contradicts_on_its_side_alone():
    assert prove._contrary("==", "at least") == "above"
    assert prove._contrary("==", "at most") == "below"
    assert prove._contrary("<=", "at least") == "above"
    with pytest.raises(UsageError, match="contradicts no <="):
        prove._contrary("<=", "at most")


def test_what_the_prover_does_not_say_is_not_nothing():
    assert prove.assumptions(f"{prove.CLOSED}\n") == []
    axioms = "Axioms:\nsome.axiom : forall P : Prop, P\nother : True\n"
    assert prove.assumptions(axioms) == ["some.axiom", "other"]
    with pytest.raises(UsageError, match="does not say"):
        prove.assumptions("Error: anomaly")


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
