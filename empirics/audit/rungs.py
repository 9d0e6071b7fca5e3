"""The ladder of abilities: short questions of growing difficulty whose answers are known exactly
and whose least depth the atlas has, as lines of text for any causal language model."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
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
# Letters of a word of hops at least and for each hop; the pool of copies and keys.
HOPS_LENGTH, EACH_HOP, LETTERS = 16, 3, "abcdefghijklmnop"
PARTNER = {"(": ")", "[": "]"}
YES, NO = "y", "n"


@dataclass(frozen=True)
class Rung:
    """One difficulty of one ladder.

    Attributes:
        ladder: its key, a row of `rungs.csv`.
        level: the number that makes it difficult, such as the depth of brackets.
        asks: in words.
        task, class_: keys of the atlas.
        needed, suffices: layers that are needed, and that suffice, in that class of idealised nets,
            at the lengths that the note says; None where the atlas has no number.
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
class Baseline:
    """What a rung gives without being solved.

    Attributes:
        share: mean share right of the best strategy of `baseline`.
        strategy: which that is, in words.
    """

    share: float
    strategy: str


@dataclass(frozen=True)
class _Line:
    symbols: Word
    answer: str
    candidates: tuple[str, ...]


@cache
def ladder() -> tuple[Rung, ...]:
    """Every rung, in the order of `rungs.csv`, by growing level.

    >>> [rung.needed for rung in ladder() if rung.ladder == "brackets"]
    [3, 5, 9]
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
    """Questions of a rung, each after `SHOTS` solved lines of which none is its own; the same for
    the same seed.

    Cost: linear in `count`.
    """
    lines = _lines(rung, seed, "questions")
    asked = []
    for _ in range(count):
        shots = [next(lines) for _ in range(SHOTS)]
        shown = {line.symbols for line in shots}
        last = next(line for line in lines if line.symbols not in shown)
        prompt = "".join(f"{_text(rung, line)} {line.answer}\n" for line in shots)
        asked.append(
            Question(
                prompt + _text(rung, last), last.candidates, last.candidates.index(last.answer)
            )
        )
    return tuple(asked)


def baseline(asked: Sequence[Question]) -> Baseline:
    """The best of the strategies that look at the question's own line and do not solve it.

    A strategy keeps some candidates and guesses evenly among them, or among all where it keeps
    none. It is measured on the questions themselves, so the best one's share errs upwards.

    Raises:
        ValueError: without a question.
    """
    if not asked:
        raise ValueError("a baseline is measured on one question at least")
    shares: dict[str, float] = defaultdict(float)
    constants = sorted({candidate for question in asked for candidate in question.candidates})
    for question in asked:
        word = question.prompt.rpartition("\n")[2].split()[1:-1]
        kept = _kept(word, question.candidates)
        kept |= {f"always {symbol}": {symbol} for symbol in constants}
        for strategy, some in kept.items():
            among = some.intersection(question.candidates) or set(question.candidates)
            if question.candidates[question.right] in among:
                shares[strategy] += 1 / len(among)
    strategy, total = max(shares.items(), key=lambda item: item[1])
    return Baseline(total / len(asked), strategy)


def _kept(word: Sequence[str], candidates: tuple[str, ...]) -> dict[str, set[str]]:
    """The candidates that each strategy keeps of a line."""
    often = Counter(symbol for symbol in word if symbol in candidates)
    here = [symbol for symbol in word if symbol in candidates]
    opened = [PARTNER[symbol] for symbol in word if symbol in PARTNER]
    most, least = max(often.values(), default=0), min(often.values(), default=0)
    kept = {
        "a guess": set(candidates),
        "a candidate of the line": set(here),
        "the most frequent candidate of the line": {s for s in often if often[s] == most},
        "the rarest candidate of the line": {s for s in often if often[s] == least},
        "the first candidate of the line": set(here[:1]),
        "the last candidate of the line": set(here[-1:]),
        "any but the last candidate of the line": set(candidates) - set(here[-1:]),
        "the partner of the first open bracket": set(opened[:1]),
        "the partner of the last open bracket": set(opened[-1:]),
        "the partner of the most open brackets": {
            s for s, n in Counter(opened).items() if n == max(Counter(opened).values())
        },
    }
    for place in range(1, 5):
        kept[f"symbol {place} of the line"] = set(word[place - 1 : place])
        kept[f"symbol {place} from the end"] = set(word[-place:][:1])
    if set(candidates) == {YES, NO}:
        for symbol in "ab01":
            kept[f"{YES} where the line ends in {symbol}"] = {YES if word[-1] == symbol else NO}
            more = 2 * word.count(symbol) > len(word)
            kept[f"{YES} where {symbol} stands more often"] = {YES if more else NO}
    return kept


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
    opened = _pick(rng, "([", depth)
    symbols: list[str] = []
    for bracket in opened:
        if rng.random() < 0.3:
            (pair,) = _pick(rng, "([", 1)
            symbols += [pair, PARTNER[pair]]
        symbols.append(bracket)
    left = int(rng.integers(1, depth + 1))
    symbols += [PARTNER[bracket] for bracket in reversed(opened[left:])]
    return _Line(tuple(symbols), PARTNER[opened[left - 1]], (")", "]"))


def _hops(rng: Generator, k: int) -> _Line:
    """No letter twice in a row; the last letter and the answer are drawn first, so that the one
    says nothing of the other. They differ after one hop."""
    letters, length = LETTERS[:4], max(HOPS_LENGTH, EACH_HOP * k)
    answer = tasks.hops(k, 4).answer
    last, wanted = (int(place) for place in rng.integers(4, size=2))
    if k == 1 and last == wanted:
        wanted = (last + int(rng.integers(1, 4))) % 4
    while True:
        steps = rng.integers(1, 4, size=length)
        places = (last + np.cumsum(steps) - steps.sum()) % 4
        word = tuple(letters[place] for place in places)
        if answer(word) == letters[wanted]:
            return _Line(word, letters[wanted], tuple(letters))


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
    """The map that is applied last is one to one, so that no number stands in it more often."""
    numbers = 4
    word = _pick(rng, "0123", numbers, distinct=True) + _pick(rng, "0123", (k - 1) * numbers + 1)
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
    """Of the three wrong candidates none, one or two are already repeated, so that neither being
    the earliest nor being not yet repeated tells the right one."""
    word = _pick(rng, LETTERS, length, distinct=True)
    place, repeated = int(rng.integers(2, length - 3)), int(rng.integers(3))
    before, after = word[:place], word[place + 1 :]
    wrong = [before[i] for i in rng.permutation(len(before))[:repeated]]
    wrong += [after[i] for i in rng.permutation(len(after))[: 3 - repeated]]
    return _Line((*word, "|", *before), word[place], tuple(sorted([word[place], *wrong])))


def _recall(rng: Generator, pairs: int) -> _Line:
    """Each of the four values stands as often as the others, to one."""
    keys = _pick(rng, LETTERS, pairs, distinct=True)
    values = tuple("0123"[number % 4] for number in rng.permutation(pairs))
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
