"""What the kernel of the Rocq prover has checked, as the tables of docs/proofs.md."""

from __future__ import annotations

import re
from collections import Counter

from depthlaw.theory.claims.formal import NUMBERS, checked, number, sentences, source, stale

from ...verdicts.record_source import Recorded
from ...verdicts.suite_verdicts import verdict_name
from ..appendix.typesetting import code, md, pipe_table, prose

# What of a section belongs to its theorems.
_IN_SCOPE = ("Variable", "Variables", "Hypothesis", "Hypotheses", "Context", "Let")
_REFUTED = "; refuted, and a kernel has checked the refutation"


def proofs(recorded: Recorded) -> str:
    """Three tables: how many claims rest on which kind of proof, how many are compared with the
    number of their theorem, and claims with their theorems; then every theorem."""
    formal = {key: c for key, c in recorded.claims.items() if c.formal is not None}
    void = {key: why for key, claim in formal.items() if (why := stale(claim))}
    claims = pipe_table(
        "claim, by theorem | not formal | verdict",
        [
            (
                f"[{code(key)}](/claims/{key}.md) by {code(claim.formal.theorem)}",
                prose(claim.formal.informal),
                f"void: {md(void[key])}"
                if key in void
                else _verdict(recorded, key) + (_REFUTED if claim.formal.refutes else ""),
            )
            for key, claim in formal.items()
            if claim.formal is not None
        ],
    )
    words = Counter(_verdict(recorded, key) for key in recorded.claims if key not in formal)
    refuted = sum(bool(c.formal and c.formal.refutes) for k, c in formal.items() if k not in void)
    kinds = pipe_table(
        "kind of proof | claims:",
        [
            ("PROVED, by the kernel", str(len(formal) - len(void) - refuted)),
            ("PROVED, by exact decision of every case", str(words["PROVED"])),
            ("ARGUED, in words with steps that a machine confirmed", str(words["ARGUED"])),
            ("FAILS, and the kernel checked a refutation", str(refuted)),
        ],
    )
    numbers = Counter(number(claim) for claim in formal.values())
    held = pipe_table(
        "the number of the theorem | claims:",
        [(words, str(numbers[kind])) for kind, words in NUMBERS.items()],
    )
    return "\n\n".join((kinds, held, _made_with(), claims, *_theorems(recorded)))


def _made_with() -> str:
    """With which prover the record was made, and what its second checker read."""
    made = ", ".join(f"{name} {version}" for name, version in checked()["versions"].items())
    again = checked()["checked again"]
    rest = sorted({name.partition(".")[0] for name in checked()["theorems"]} - set(again))
    return (
        f"Checked with {made}. The second checker, `coqchk`, has checked {len(again)} of the files "
        f"again, but for {', '.join(map(code, rest))}, which compute much in the VM."
    )


def _theorems(recorded: Recorded) -> list[str]:
    """Every theorem, folded by files: in words, as it is stated, and what it assumes."""
    backs: dict[str, list[str]] = {}
    for key, claim in recorded.claims.items():
        if claim.formal is not None:
            backs.setdefault(claim.formal.theorem, []).append(f"[{code(key)}](/claims/{key}.md)")
    by_file: dict[str, list[str]] = {}
    for name in checked()["theorems"]:
        by_file.setdefault(name.partition(".")[0], []).append(name)
    parts = [f"## The {sum(map(len, by_file.values()))} theorems"]
    for file, names in by_file.items():
        parts.append(f"<details><summary>{file}.v: {len(names)} theorems</summary>")
        for name in names:
            assumes = ", ".join(map(code, checked()["theorems"][name]["assumes"]))
            words = [md(in_words(name)), f"Assumes {assumes or 'nothing'}."]
            if name in backs:
                words.append(f"Named by {', '.join(backs[name])}.")
            entry = checked()["theorems"][name]
            words.append(f"Read first: {', '.join(map(code, entry['reads'])) or 'nothing'}.")
            text, written = " ".join(filter(None, words)), "\n".join(entry["notations"])
            parts.append(f"**{code(name)}**: {text}\n\n```coq\n{written}\n{stated(name)}\n```")
        parts.append("</details>")
    return parts


def _verdict(recorded: Recorded, key: str) -> str:
    result = recorded.judged(key)
    return verdict_name(result) if result else "not recorded"


def in_words(theorem: str) -> str:
    """The comment above a theorem in its file, without what is addressed to tools."""
    file, _, name = theorem.partition(".")
    before = re.split(rf"^(?:Theorem|Corollary)\s+{name}\b", source(file), flags=re.M)[0]
    comment = re.search(r"\(\*+((?:(?!\(\*).)*?)\*+\)\s*\Z", before.rpartition("Qed.")[2], re.S)
    text = " ".join(comment[1].split()) if comment else ""
    text = re.sub(r"\s*\(?Claims?: \w+/\w+(?:(?:,| and) \w+/\w+)*\)?[.,:]?", "", text).strip()
    return text[:1].upper() + text[1:]


def stated(theorem: str) -> str:
    """A theorem as its file states it, after the variables and hypotheses of its sections."""
    file, _, name = theorem.partition(".")
    scopes: list[tuple[str, list[str]]] = []
    for sentence in sentences(source(file)):
        first, *rest = sentence.replace(":", " ").split()
        if first == "Section":
            scopes.append((rest[0], []))
        elif first == "End" and scopes and scopes[-1][0] == rest[0]:
            scopes.pop()
        elif first in _IN_SCOPE and scopes:
            scopes[-1][1].append(sentence)
        elif first in ("Theorem", "Corollary") and rest[0] == name:
            return "\n".join([*(line for _, lines in scopes for line in lines), sentence])
    raise ValueError(f"{theorem} is stated nowhere in {file}.v")
