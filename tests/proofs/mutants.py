"""Wrong versions of theorems, put to the kernel of the Rocq prover."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from depthlaw.theory.formal import prove

_ANY = re.compile(
    r"^(?:Lemma|Theorem|Corollary|Definition|Fixpoint|Example|Record)\s+([\w']+)", re.M
)


@dataclass(frozen=True)
class Mutant:
    """A statement under a name of its own, what is defined before it, and what may not prove
    it."""

    name: str
    statement: str
    proof: str
    before: str = ""

    @property
    def script(self) -> str:
        """What the prover is told."""
        return (
            f'{self.before}\n{self.statement}\nidtac "stated {self.name}".\n{self.proof}\n'
            f"Abort All.\nLocate {self.name}.\n"
        )


def copies(
    text: str, of: str, versions: Iterable[tuple[str, str]], prefix: str
) -> tuple[int, list[Mutant]]:
    """Versions of a theorem, or of a term with the lemma on it, in each of which one passage is
    replaced; and the place in the file where the original ends.

    Raises:
        LookupError: without the theorem, or where the passage does not occur once.
    """
    if theorem := _declared("Theorem|Corollary", of, text):
        term, lemma = "", theorem
    else:
        term = (_declared("Definition", of, text) or [""])[0]
        lemma = _declared("Lemma|Theorem", f"{of}E", text)
        if not term or lemma is None:
            raise LookupError(f"there is no theorem {of}, and no term with a lemma {of}E")
    statement, word, proof = lemma[0].partition("\nProof.")
    head, sign, body = term.partition(":=")
    made = []
    for i, (old, new) in enumerate(versions):
        name = f"{prefix}_{i}"
        names = {of: f"{name}_term", f"{of}E": name} if term else {of: name}
        made.append(
            Mutant(
                name,
                _renamed(statement if term else mutated(statement, old, new), names),
                _renamed(word + proof, names),
                _renamed(head + sign + mutated(body, old, new), names) if term else "",
            )
        )
    return lemma.end(), made


def mutated(text: str, old: str, new: str) -> str:
    """A text with one passage replaced.

    Raises:
        LookupError: where the passage does not occur once.
    """
    if old and text.count(old) != 1:
        raise LookupError(f"{old!r} occurs {text.count(old)} times in {text!r}")
    return text.replace(old, new) if old else text


def _declared(word: str, name: str, text: str) -> re.Match[str] | None:
    end = "" if word == "Definition" else r"\bQed"
    return re.search(rf"^(?:{word})\s+{name}\b.*?{end}\.$", text, re.M | re.S)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = re.sub(rf"(?<![\w.]){old}\b(?!')", new, text)
    return text


def script(text: str, placed: Iterable[tuple[int, Iterable[Mutant]]]) -> str:
    """A file up to the last of some places, with mutants at each."""
    parts, began = ["Set Silent.\n"], 0
    for place, mutants in sorted(placed, key=lambda pair: pair[0]):
        parts += [text[began:place], "\n", *(each.script for each in mutants)]
        began = place
    return "".join(parts)


def judged(folder: Path, told: str) -> dict[str, str]:
    """What the kernel says of the mutants of a script: of each by its name "proved", "refused", or
    "no statement" where it means nothing.

    The prover goes on after an error: what follows it is read in the proof that is under way. So a
    statement may be proved in spite of it, but none is refused before the kernel has read it.
    """
    said = subprocess.run(
        [prove.tool("coqtop"), "-q", "-w", "none", "-Q", ".", prove.LIBRARY],
        cwd=folder,
        input=told,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    stated = re.findall(r"^stated (\w+)$", said, re.M)
    proved = re.findall(r"^Constant [\w.]*\b(\w+)$", said, re.M)
    return {
        name: "proved" if name in proved else "refused" if name in stated else "no statement"
        for name in re.findall(r"^Locate (\w+)\.$", told, re.M)
    }


def stops(compiled: Path, folder: Path, name: str, text: str) -> str:
    """The first declaration of a file that the kernel refuses in this version of it; empty where it
    accepts all.

    Args:
        compiled: where the files are compiled that it builds on.
        folder: an empty one, to compile it in.
        name, text: the file.
    """
    for file in compiled.glob("*.vo"):
        if file.stem != name:
            (folder / file.name).symlink_to(file)
    (folder / f"{name}.v").write_text(text, encoding="utf-8")
    try:
        prove.coqc(folder, name)
    except prove.NotAcceptedError as error:
        line = re.search(r"line (\d+)", str(error))
        assert line is not None
        before = "\n".join(text.splitlines()[: int(line[1])])
        return _ANY.findall(before)[-1]
    return ""


def up_to(text: str, theorem: str) -> str:
    """A file up to the end of a theorem.

    Raises:
        LookupError: without the theorem.
    """
    found = _declared("Theorem|Corollary|Lemma", theorem, text)
    if found is None:
        raise LookupError(f"there is no theorem {theorem}")
    return text[: found.end()] + "\n"
