"""Theorems with hypotheses have an instance that meets them, and all have words that say what they
state; read from the sources, without a prover."""

import re

import pytest

from depthlaw.ledger.publish.site.formal_proofs import in_words
from depthlaw.theory.claims.formal import bare, checked, source
from depthlaw.theory.formal import prove

# Theorems for which an instance can add nothing, with the reason.
NO_INSTANCE: dict[str, str] = {
    "Certificate.certificate_computed": "Exact.exact_2_2 is its instance",
    "Certificate.certificate_computed_exact": "Exact.exact_2_2 is its instance",
    "Exact.exact_2_2": "it is a concrete instance; the ring is any of characteristic 0",
}

_DECLARED = re.compile(
    r"^\s*(Theorem|Corollary|Lemma|Example|Definition|Fixpoint)\s+([\w']+)", re.M
)
_BINDER = re.compile(r"\((?:[\w']+ )+: ")


def premises(statement: str) -> str:
    """A statement without the types of what it quantifies over, which may be function types.

    >>> premises("forall (f : A -> B) (x : A), f x = f x")
    'forall  , f x = f x'
    >>> premises("forall g : A -> B, P g -> Q g")
    'forall , P g -> Q g'
    """
    while found := _BINDER.search(statement):
        end = depth = 0
        for end in range(found.start(), len(statement)):
            depth += {"(": 1, ")": -1}.get(statement[end], 0)
            if depth == 0:
                break
        statement = statement[: found.start()] + statement[end + 1 :]
    return re.sub(r"\b(forall|exists2?|fun) [\w' ]+ : [^,&]*?(?=,|=>|&)", r"\1 ", statement)


def instantiated(name: str) -> set[str]:
    """What the examples of a file name, and what the proofs of that name in turn."""
    text = bare(source(name))
    starts = list(_DECLARED.finditer(text))
    ends = [found.start() for found in starts[1:]] + [len(text)]
    reached: set[str] = set()
    words: set[str] = set()
    for found, end in reversed(list(zip(starts, ends, strict=True))):
        kind, this = found.groups()
        if kind == "Example" or this in words:
            reached.add(this)
            if kind not in ("Definition", "Fixpoint"):
                words |= set(re.findall(r"[\w']+", text[found.end() : end]))
    return reached


@pytest.mark.parametrize("name", prove.project())
def test_hypotheses_are_met_by_an_instance(name):
    given = [
        theorem
        for theorem in prove.theorems(name)
        if "->" in premises(checked()["theorems"][f"{name}.{theorem}"]["statement"])
    ]
    lacking = {f"{name}.{theorem}" for theorem in set(given) - instantiated(name)}
    assert lacking == {theorem for theorem in NO_INSTANCE if theorem.startswith(f"{name}.")}


@pytest.mark.parametrize("name", prove.project())
def test_every_theorem_is_said_in_words(name):
    said = {theorem: in_words(f"{name}.{theorem}") for theorem in prove.theorems(name)}
    assert [theorem for theorem, words in said.items() if len(words) < 20] == []
    assert not any("(*" in words or "*)" in words for words in said.values())


def test_what_no_example_reaches_is_found(monkeypatch):
    text = (
        "Theorem far : True -> True.\nProof. by []. Qed.\nLemma near : True.\n"
        "Proof. by apply: far. Qed.\nTheorem alone : True -> True.\nProof. by []. Qed.\n"
        "Example met : True.\nProof. (* alone *) exact: near. Qed.\n"
    )
    monkeypatch.setitem(globals(), "source", lambda name: text)
    assert instantiated("File") == {"met", "near", "far"}
