"""The ladder of abilities: short questions of growing difficulty whose answers are known exactly
and whose least depth the atlas has, as lines of text for any causal language model."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np

from depthlaw.theory.atlas import tasks
from depthlaw.theory.atlas.ends import at
from depthlaw.theory.atlas.tasks import Word

Generator = np.random.Generator

# Solved lines of the same kind that stand before a question.
SHOTS = 2
# Letters of a word of hops, and of the pool that copies and keys are drawn from.
HOPS_LENGTH, LETTERS = 16, "abcdefghijklmnop"
YES, NO = "y", "n"


@dataclass(frozen=True)
class Rung:
    """One difficulty of one ladder.

    Attributes:
        ladder: its key, a row of `rungs.csv`.
        level: the number that makes it difficult, such as the depth of brackets.
        asks: in words.
        task, class_: keys of the atlas.
        needed, suffices: layers that are needed, and that suffice, in that class; None where the
            atlas has no number.
        note: how the question differs from that of the atlas.
    """

    ladder: str
    level: int
    asks: str
    task: str
    class_: str
    needed: int | float | None
    suffices: int | float | None
    note: str

    @property
    def least(self) -> int | float | None:
        """The least depth where the ends meet, else what is known to suffice."""
        return self.suffices if self.needed is None else self.needed


@dataclass(frozen=True)
class Question:
    """A line to be completed.

    Attributes:
        prompt: text that ends with "=".
        candidates: answers to choose from, one symbol each; the right one is among them.
        right: its place.
    """

    prompt: str
    candidates: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class _Line:
    symbols: Word
    answer: str
    candidates: tuple[str, ...]


@cache
def ladder() -> tuple[Rung, ...]:
    """Every rung, in the order of `rungs.csv`, by growing level.

    >>> [rung.needed for rung in ladder() if rung.ladder == "brackets"]
    [2, 3, 5, 9]
    """
    rungs = []
    text = files(__package__).joinpath("rungs.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        for level in map(int, row["levels"].split()):
            numbers: dict[str, int | str] = {row["letter"]: level} if row["letter"] else {}
            fixed = (part.split("=") for part in row["fixed"].split())
            numbers |= {letter: int(value) for letter, value in fixed}
            ends = at(row["task"], row["class"], tables=None, **numbers)
            rungs.append(
                Rung(
                    row["ladder"],
                    level,
                    row["asks"],
                    row["task"],
                    row["class"],
                    ends.needed,
                    ends.suffices,
                    row["note"],
                )
            )
    return tuple(rungs)


def questions(rung: Rung, count: int, seed: int = 0) -> tuple[Question, ...]:
    """Questions of a rung, each after `SHOTS` solved lines; the same for the same seed.

    Cost: linear in `count`.
    """
    lines = _lines(rung, seed, "questions")
    asked = []
    for _ in range(count):
        *shots, last = (next(lines) for _ in range(SHOTS + 1))
        prompt = "".join(f"{_text(rung, line)} {line.answer}\n" for line in shots)
        asked.append(
            Question(
                prompt + _text(rung, last), last.candidates, last.candidates.index(last.answer)
            )
        )
    return tuple(asked)


def solved(rung: Rung, seed: int = 0) -> Iterator[str]:
    """Solved lines without end, to train on; drawn apart from `questions` of any seed."""
    for line in _lines(rung, seed, "solved"):
        yield f"{_text(rung, line)} {line.answer}\n"


def _text(rung: Rung, line: _Line) -> str:
    return f"{rung.ladder} {' '.join(line.symbols)} ="


def _lines(rung: Rung, seed: int, use: str) -> Iterator[_Line]:
    keys = [*map(ord, rung.ladder), rung.level, *map(ord, use), seed]
    rng = np.random.default_rng(keys)
    while True:
        yield _DRAWN[rung.ladder](rng, rung.level)


def _pick(rng: Generator, symbols: str, count: int, *, distinct: bool = False) -> Word:
    places = rng.permutation(len(symbols)) if distinct else rng.integers(len(symbols), size=count)
    return tuple(symbols[place] for place in places[:count])


def _brackets(rng: Generator, depth: int) -> _Line:
    """Open `depth` brackets, with a closed pair here and there, close all but some."""
    partner = {"(": ")", "[": "]"}
    opened = _pick(rng, "([", depth)
    symbols: list[str] = []
    for bracket in opened:
        if rng.random() < 0.3:
            (pair,) = _pick(rng, "([", 1)
            symbols += [pair, partner[pair]]
        symbols.append(bracket)
    left = int(rng.integers(1, depth + 1))
    symbols += [partner[bracket] for bracket in reversed(opened[left:])]
    return _Line(tuple(symbols), partner[opened[left - 1]], (")", "]"))


def _hops(rng: Generator, k: int) -> _Line:
    letters = LETTERS[:4]
    answer = tasks.hops(k, 4).answer
    while True:
        word = _pick(rng, letters, HOPS_LENGTH)
        found = str(answer(word))
        if found in letters:
            return _Line(word, found, tuple(letters))


def _words(rng: Generator, length: int) -> _Line:
    task = tasks.group_words("S3")
    names = dict(zip(task.letters, LETTERS[: len(task.letters)], strict=True))
    word = tuple(task.letters[place] for place in rng.integers(len(names), size=length))
    return _Line(
        tuple(names[letter] for letter in word),
        names[str(task.answer(word))],
        tuple(names.values()),
    )


def _blocks(rng: Generator, k: int) -> _Line:
    """Exactly k blocks, or two more or fewer, so that both ends of the word say nothing."""
    yes = rng.random() < 0.5
    wrong = [number for number in (k - 2, k + 2) if number > 0]
    blocks = k if yes else int(rng.choice(wrong))
    length = k + 4
    cuts = [0, *sorted(1 + rng.permutation(length - 1)[: blocks - 1]), length]
    word = "".join("ab"[i % 2] * int(b - a) for i, (a, b) in enumerate(pairwise(cuts)))
    right = tasks.word_task("blocks", {"k": k}).answer(tuple(word))
    return _Line(tuple(word), YES if right else NO, (YES, NO))


def _composition(rng: Generator, k: int) -> _Line:
    numbers = 4
    word = _pick(rng, "0123", k * numbers + 1)
    symbols: list[str] = []
    for start in range(0, k * numbers, numbers):
        symbols += [*word[start : start + numbers], "|"]
    answer = tasks.composition(k, numbers).answer(word)
    return _Line((*symbols, word[-1]), str(answer), tuple("0123"))


def _parity(rng: Generator, length: int) -> _Line:
    word = _pick(rng, "01", length)
    odd = tasks.parity_bits(length).answer(word)
    return _Line(word, YES if odd else NO, (YES, NO))


def _copying(rng: Generator, length: int) -> _Line:
    word = _pick(rng, LETTERS, length, distinct=True)
    place = int(rng.integers(1, length))
    others = [letter for letter in word if letter != word[place]]
    wrong = [others[i] for i in rng.permutation(len(others))[:3]]
    return _Line((*word, "|", *word[:place]), word[place], tuple(sorted([word[place], *wrong])))


def _recall(rng: Generator, pairs: int) -> _Line:
    keys = _pick(rng, LETTERS, pairs, distinct=True)
    values = _pick(rng, "0123", pairs)
    place = int(rng.integers(pairs))
    symbols = [symbol for pair in zip(keys, values, strict=True) for symbol in pair]
    return _Line((*symbols, "|", keys[place]), values[place], tuple("0123"))


_DRAWN: dict[str, Callable[[Generator, int], _Line]] = {
    "brackets": _brackets,
    "hops": _hops,
    "words": _words,
    "blocks": _blocks,
    "composition": _composition,
    "parity": _parity,
    "copying": _copying,
    "recall": _recall,
}
