"""Files that prove False by switching a check off: each is refused by the name of the switch, by
what the prover says of its assumptions, and by the second checker."""

from __future__ import annotations

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.formal import prove

pytestmark = pytest.mark.timeout(7200)

_LOOP = (
    "Fixpoint liar (n : nat) : False := liar n.\nTheorem no : False. Proof. exact (liar 0). Qed."
)
# By the switch: the file, what Print Assumptions says, and what coqchk says.
LIARS = {
    "Unset Guard Checking": (
        f"Unset Guard Checking.\n{_LOOP}\n",
        "Liar.liar is assumed to be guarded",
        r"unsafe \(co\)fixpoints: Depthlaw.Liar.liar",
    ),
    "bypass_check": (
        f"#[bypass_check(guard)] {_LOOP}\n",
        "Liar.liar is assumed to be guarded",
        r"unsafe \(co\)fixpoints: Depthlaw.Liar.liar",
    ),
    "Unset Positivity Checking": (
        "Unset Positivity Checking.\nInductive liar := Liar (_ : liar -> False).\n"
        "Theorem no : False.\nProof.\n"
        "assert (never : liar -> False) by (intro l; destruct l as [f]; exact (f (Liar f))).\n"
        "exact (never (Liar never)).\nQed.\n",
        "Liar.liar is assumed to be positive",
        "positivity is assumed: Depthlaw.Liar.liar",
    ),
    "Unset Universe Checking": (
        "Require Import Coq.Logic.Hurkens.\nUnset Universe Checking.\n"
        "Theorem no : False. Proof. exact (TypeNeqSmallType.paradox Type eq_refl). Qed.\n",
        "Liar.no relies on an unsafe hierarchy",
        "type-in-type: Depthlaw.Liar.no",
    ),
}


@pytest.fixture
def liar(tmp_path, monkeypatch):
    """A folder in which a file of one theorem, which states False, is compiled."""

    def write(text):
        (tmp_path / "Liar.v").write_text(text)
        prove.coqc(tmp_path, "Liar")
        monkeypatch.setattr(prove, "HERE", tmp_path)
        monkeypatch.setattr(prove, "project", lambda: ["Liar"])
        assert prove.theorems("Liar") == ["no"]
        return tmp_path

    return write


@pytest.mark.parametrize("switch", LIARS)
def test_a_proof_of_false_is_refused(liar, switch, capsys):
    text, assumed, checked = LIARS[switch]
    folder = liar(text)
    assert prove.main(["--write"]) == 2
    assert f"takes on trust what a proof must show: {switch}" in capsys.readouterr().err
    with pytest.raises(UsageError, match=f"more than axioms is assumed: .*{assumed}"):
        prove.asked_of(folder, ["Liar.no"])
    with pytest.raises(UsageError, match=checked):
        prove.coqchk(folder, "Liar")


def test_an_axiom_is_named_and_what_is_proved_passes(liar):
    folder = liar("Axiom trusted : False.\nTheorem no : False. Proof. exact trusted. Qed.\n")
    assert prove.gaps("Liar") == ["Axiom"]
    assert prove.asked_of(folder, ["Liar.no"])["Liar.no"]["assumes"] == ["Liar.trusted"]
    with pytest.raises(UsageError, match="Axioms: Depthlaw.Liar.trusted"):
        prove.coqchk(folder, "Liar")
    folder = liar("Theorem no : True. Proof. exact I. Qed.\n")
    assert prove.gaps("Liar") == []
    assert prove.asked_of(folder, ["Liar.no"])["Liar.no"]["assumes"] == []
    prove.coqchk(folder, "Liar")
