"""Claims whose statement a proof kernel has checked or refuted, and what of that is recorded.

A claim names its theorem and a term that computes the statement's right side. `make prove` compiles
every proof with the Rocq prover, compares both right sides in the kernel at each of the claim's
cases, and writes what it saw to `theory/formal/checked.json`. The record belongs to all that a
reader relies on: the statement with the words of its symbols, the text and the note, the cases, how
the left side is measured, what is said not to be formal, and the sources. Whoever changes any of
them loses PROVED until the prover has run again. Of a claim that FAILS the theorem says what the
left side is at some of its cases, and the kernel checks that the statement does not allow it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sympy import Symbol

from .code_version import code_version
from .symbols import TERMS

if TYPE_CHECKING:
    from .definition import Claim
    from .values import Case


# What becomes of the number of a theorem, by `number`, in words.
NUMBERS = {
    "compared": "compared with the statement in the kernel at every case",
    "a field": "whose number is a field of the case",
    "a constant": "whose number is a constant",
    "none": "which holds no number to compare",
}


@dataclass(frozen=True)
class Formal:
    """The theorem behind a claim.

    Attributes:
        theorem: its file and name, such as "Degree.degree".
        value: a term of binary numbers that computes the right side, of an interval both ends, with
            fields of a case in braces: "Degree.degree_value {depth}". A lemma of the file connects
            it with the theorem.
        informal: what is not formal about it, in one line, which a reader checks: which object of
            the theorem is the claim's net, and what of the statement the theorem leaves out.
        refutes: the cases at which the theorem contradicts the claim: there the term computes the
            left side, or a bound of it, which the statement does not allow.
        bound: "at least" or "at most" where the left side is not exactly so much.
        logarithm: whether the term computes what stands under the logarithm on the left; it is
            compared with the base to the power of the prediction, see `prove.power`.
    """

    theorem: str
    value: str
    informal: str
    refutes: tuple[Case, ...] = ()
    bound: str = ""
    logarithm: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The files of theorem and term, and all that these build on, without endings, sorted."""
        names = [term.partition(".")[0] for term in (self.theorem, self.head) if "." in term]
        return tuple(sorted({name for first in names for name in needed(first)}))

    @property
    def head(self) -> str:
        """The function of the term, or a number."""
        return self.value.split()[0]


def asked(claim: Claim) -> dict[str, Any]:
    """What the proof of a claim is compared with: theorem, statement, cases, words and sources."""
    formal = claim.formal
    assert formal is not None
    cases = [str(case) for case in claim.every_case if claim.broken(case) is None]
    names = sorted(symbol.name for symbol in claim.statement.atoms(Symbol))
    return {
        "theorem": formal.theorem,
        "value": " ".join(
            word for word in ("logarithm of" * formal.logarithm, formal.bound, formal.value) if word
        ),
        "refutes": [str(case) for case in formal.refutes],
        "statement": str(claim.statement),
        "words": _hash(claim.title, claim.text, claim.kind, claim.holds_for, *claim.assumes),
        "note": _hash(claim.note),
        "symbols": _hash(*(word for name in names for word in (name, *TERMS.get(name, ())))),
        "measurement": code_version(claim.measured) if claim.measured else "",
        "not-formal line": _hash(formal.informal),
        "cases": _hash(*cases),
        "sources": {name: digest(name) for name in formal.files},
    }


def _hash(*lines: str) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def number(claim: Claim) -> str:
    """What the kernel's comparison with the right side is worth, a key of `NUMBERS`: the term
    computes it from the case; or it is a field or a constant, and compared with itself; or the
    theorem holds no number."""
    assert claim.formal is not None
    right = claim.statement.rhs
    if "." not in claim.formal.head:
        return "none"
    if claim.formal.refutes:
        return "compared"
    return "a field" if right.is_Symbol else "a constant" if right.is_number else "compared"


def stale(claim: Claim) -> str:
    """Why the kernel's check does not speak for a claim as it stands, or an empty string."""
    if claim.formal is None:
        return "it names no theorem"
    seen = checked()["claims"].get(claim.key)
    if seen is None:
        return f"{claim.formal.theorem} has not been checked for it; run `make prove`"
    now = asked(claim)
    changed = [name for name in now if now[name] != seen.get(name)]
    if changed:
        return (
            f"its {changed[0]} changed since {claim.formal.theorem} was checked; run `make prove`"
        )
    return ""


def said(claim: Claim) -> str:
    """What the kernel checked of a claim and what is not formal, or why that is void, in one line.
    Empty without a theorem."""
    formal = claim.formal
    if formal is None:
        return ""
    if why := stale(claim):
        return f"void: {why}"
    compared = NUMBERS[number(claim)]
    if formal.refutes:
        cases = "; ".join(map(str, formal.refutes))
        compared = f"which contradicts the statement at {cases}" + (
            ", and holds no number to compare" * ("." not in formal.head)
        )
    if formal.logarithm:
        compared += (
            " (without logarithms: SymPy writes the base to the power of the prediction as q e^k, "
            "where k is not 0, 11/4 stands for e, see Refutation.euler_le)"
        )
    word = "refuted, and a kernel has checked the refutation: " if formal.refutes else ""
    return f"{word}{formal.theorem}, {compared}; not formal: {formal.informal}"


@cache
def checked() -> dict[str, Any]:
    """What `make prove` wrote; nothing where it never ran."""
    file = files("depthlaw.theory.formal") / "checked.json"
    if not file.is_file():
        return {"claims": {}}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@cache
def source(name: str) -> str:
    """The text of a file of proofs, by its name without ending; FileNotFoundError for another."""
    return (files("depthlaw.theory.formal") / f"{name}.v").read_text(encoding="utf-8")


def bare(text: str) -> str:
    """A source without its comments, which may nest, and of which strings hold none."""
    out, depth = [], 0
    for part in re.split(r"(\(\*|\*\)|\"[^\"]*\")", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        if depth == 0 and part != "*)":
            out.append(part)
    return "".join(out)


def sentences(text: str) -> list[str]:
    """The sentences of a source, each with its full stop, without comments."""
    return [part.strip() for part in re.split(r"(?<=\.)(?=\s)", bare(text)) if part.strip()]


@cache
def digest(name: str) -> str:
    """SHA-256 of a file of proofs."""
    return hashlib.sha256(source(name).encode()).hexdigest()


@cache
def needed(name: str) -> tuple[str, ...]:
    """A file of proofs and all that it builds on here, in alphabetical order."""
    found, waiting = set(), [name]
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            for line in re.findall(
                r"^From Depthlaw Require (?:Import |Export )?([^.]*)\.", source(one), re.M
            ):
                waiting += line.split()
    return tuple(sorted(found))
