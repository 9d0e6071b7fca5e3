"""What the statement of a theorem rests on, by the names that the prover resolved in compiling it.

`coqc` writes beside each file a .glob: where it declares a name, and what each name stands for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

# A name in use: its place, library, section, name and kind; and a declaration.
_USED = re.compile(r"R(\d+):\d+ (\S+) (\S+) (\S+) (\S+)")
_DECLARED = re.compile(r"(\w+) (\d+):\d+ (\S+) (\S+)")
_NOTATIONS = {"not", "abbrev", "syndef"}
_PROVED = re.compile(r"(?:Local |Global |#\[\w+\] ?)*(?:Lemma|Theorem|Corollary|Example|Fact)\b")
_DEFINED = re.compile(
    r"(?:Local |Global |#\[\w+\] ?)*(?:Definition|Fixpoint|Inductive|Variant|Record)\s+([\w']+)"
)


class Globbed:
    """A file's sentences, the names used in each, and which sentence declares a name; a name and a
    notation may be spelled alike."""

    def __init__(self, folder: Path, name: str) -> None:
        data = (folder / f"{name}.v").read_bytes()
        spans = list(_spans(data))
        starts = [start for start, _ in spans]
        self.sentences = [" ".join(data[a:b].decode().split()) for a, b in spans]
        self.used: dict[int, list[tuple[str, str, bool]]] = defaultdict(list)
        self.declared: dict[tuple[str, bool], int] = {}
        for line in (folder / f"{name}.glob").read_text(encoding="utf-8").splitlines():
            if used := _USED.fullmatch(line):
                place, library, section, word, kind = used.groups()
                if library.startswith("Depthlaw.") and kind not in ("binder", "lib", "sec"):
                    whole = word if section == "<>" else f"{section}.{word}"
                    sentence = bisect_right(starts, int(place)) - 1
                    self.used[sentence].append((library[9:], whole, kind in _NOTATIONS))
            elif declared := _DECLARED.fullmatch(line):
                kind, place, section, word = declared.groups()
                whole = word if section == "<>" else f"{section}.{word}"
                sentence = bisect_right(starts, int(place)) - 1
                self.declared.setdefault((whole, kind in _NOTATIONS), sentence)
                self.declared.setdefault((word, kind in _NOTATIONS), sentence)

    def sentence_of(self, name: str, notation: bool) -> int | None:
        """Where a name is declared; a constructor or field by its last part."""
        for word in (name, name.rpartition(".")[2]):
            if (found := self.declared.get((word, notation))) is not None:
                return found
        return None


def _spans(data: bytes) -> Iterator[tuple[int, int]]:
    """The sentences of a source that stand outside comments, by their bytes."""
    depth, start = 0, -1
    for part in re.finditer(rb"\(\*|\*\)|(\.)(?=\s|\Z)|\S", data):
        depth += {b"(*": 1, b"*)": -1}.get(part[0], 0)
        if depth == 0 and part[0] != b"*)":
            start = part.start() if start < 0 else start
            if part[1]:
                yield start, part.end()
                start = -1


def rests_on(folder: Path, names: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Of theorems "File.name" that a folder has compiled: all definitions of the library that the
    statement rests on, directly or through others, and the notations that it is written with."""

    @cache
    def file(name: str) -> Globbed:
        return Globbed(folder, name)

    found = {}
    for theorem in names:
        of, _, word = theorem.partition(".")
        stated = file(of).sentence_of(word, False)
        assert stated is not None, theorem
        waiting, seen, reads, notations = [(of, stated)], {(of, stated)}, [], []
        while waiting:
            place, sentence = waiting.pop(0)
            for library, name, notation in file(place).used[sentence]:
                at = file(library).sentence_of(name, notation)
                if at is None or (library, at) in seen:
                    continue
                text = file(library).sentences[at]
                if _PROVED.match(text):
                    continue
                seen.add((library, at))
                waiting.append((library, at))
                if defined := _DEFINED.match(text):
                    reads.append(f"{library}.{defined[1]}")
                elif notation and (place, sentence) == (of, stated):
                    notations.append(text)
        found[theorem] = {"reads": reads, "notations": notations}
    return found
