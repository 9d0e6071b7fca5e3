"""What the kernel of the Rocq prover has checked, for docs/proofs.md: the theorems that claims name
as a list, and files that hold all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from depthlaw.theory.claims.formal import NUMBERS, checked, number, sentences, source, stale

from ...verdicts.record_source import Recorded
from ...verdicts.suite_verdicts import verdict_name
from ..appendix.typesetting import code, pipe_table, prose, verdict
from ..tables import csv_text

# What of a section belongs to its theorems.
_IN_SCOPE = ("Variable", "Variables", "Hypothesis", "Hypotheses", "Context", "Let")


def proofs(recorded: Recorded, folder: Path) -> str:
    """The theorems that claims name, by topic; then two tables: how many claims rest on which kind
    of proof, and how many are compared with the number of their theorem.

    Args:
        folder: where the files go that the page links: those of the prover, and a table of every
            theorem with its statement and what it assumes and rests on.
    """
    formal = {key: c for key, c in recorded.claims.items() if c.formal is not None}
    void = {key for key, claim in formal.items() if stale(claim)}
    by_theorem: dict[str, list[str]] = {}
    for key, claim in formal.items():
        if claim.formal is not None:
            by_theorem.setdefault(claim.formal.theorem, []).append(key)
    words = Counter(_verdict(recorded, key) for key in recorded.claims if key not in formal)
    refuted = sum(bool(c.formal and c.formal.refutes) for k, c in formal.items() if k not in void)
    proved = len(formal) - len(void) - refuted
    kinds = pipe_table(
        "kind of proof | claims:",
        [
            ("PROVED, by the kernel", str(proved)),
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
    listed = _by_topic(recorded, by_theorem, void)
    _write(by_theorem, folder)
    table = (
        f"{proved} claims are PROVED by theorems of the kernel, and {refuted} are refuted by one. "
        f"The files hold {len(checked()['theorems'])} theorems in all. "
        "Every theorem, with its statement, what it assumes and which definitions to read first: "
        "[theorems.csv](/data/formal/theorems.csv)."
    )
    return "\n\n".join(
        (table, _files(by_theorem), *listed, "## What was checked", _made_with(), kinds, held)
    )


def _made_with() -> str:
    """With which prover the record was made, and what its second checker read."""
    made = ", ".join(f"{name} {version}" for name, version in checked()["versions"].items())
    again = checked()["checked again"]
    rest = sorted({name.partition(".")[0] for name in checked()["theorems"]} - set(again))
    return (
        f"Checked with {made}. The second checker, `coqchk`, has checked {len(again)} of the files "
        f"again, but for {', '.join(map(code, rest))}, which compute much in the VM."
    )


def _by_topic(
    recorded: Recorded, by_theorem: Mapping[str, Sequence[str]], void: set[str]
) -> list[str]:
    """The theorems that claims name, a line each, below the topic of the claim."""
    topics: dict[str, list[str]] = {}
    for theorem, keys in by_theorem.items():
        for key in keys:
            claim = recorded.claims[key]
            word = "void" if key in void else verdict(_verdict(recorded, key))
            how = "refuted by" if claim.formal and claim.formal.refutes else "by"
            title = f"[{prose(claim.entitled)}](/claims/{key}.md)"
            line = f"- **{word}** {title}, {how} {code(theorem)}."
            topics.setdefault(claim.topic, []).append(line)
    return [
        f"## {topic.replace('_', ' ').capitalize()}\n\n" + "\n".join(lines)
        for topic, lines in topics.items()
    ]


def _files(by_theorem: Mapping[str, Sequence[str]]) -> str:
    """The files that hold these theorems."""
    sizes = Counter(name.partition(".")[0] for name in checked()["theorems"])
    files = sorted({theorem.partition(".")[0] for theorem in by_theorem})
    named = (f"[{file}.v](/data/formal/{file}.v) ({sizes[file]})" for file in files)
    return f"Files, with the number of their theorems: {', '.join(named)}."


def _write(by_theorem: Mapping[str, Sequence[str]], folder: Path) -> None:
    """The files of the prover and the table of all theorems."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in {name.partition(".")[0] for name in checked()["theorems"]}:
        (folder / f"{file}.v").write_text(source(file), encoding="utf-8")
    rows = (
        (
            name,
            in_words(name),
            " ".join(by_theorem.get(name, ())),
            " ".join(entry["assumes"]) or "nothing",
            " ".join(entry["reads"]),
            "\n".join([*entry["notations"], stated(name)]),
        )
        for name, entry in checked()["theorems"].items()
    )
    columns = ("theorem", "in words", "claims", "assumes", "read first", "stated")
    (folder / "theorems.csv").write_text(csv_text(columns, rows), encoding="utf-8")


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
