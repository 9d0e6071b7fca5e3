"""Tasks on words whose answers are known exactly: what `depthlaw tasks check` runs a net on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted

Word = tuple[str, ...]


@dataclass(frozen=True)
class WordTask:
    """A task with its parameters filled in.

    Attributes:
        letters: the alphabet.
        answer: what a word has: True or False, or a label.
        least: length of the shortest word that is asked.
    """

    letters: tuple[str, ...]
    answer: Callable[[Word], bool | str]
    least: int = 0

    def words(self, length: int) -> Iterator[Word]:
        """Every word up to a length."""
        for size in range(self.least, length + 1):
            yield from itertools.product(self.letters, repeat=size)


def word_task(name: str, parameters: Mapping[str, Any]) -> WordTask:
    """A task by its name in the atlas.

    Raises:
        UsageError: for a task that has no words here, or parameters that it does not take.

    >>> task = word_task("parity", {})
    >>> [task.answer(word) for word in task.words(1)]
    [False, False, True]
    """
    if name not in _MADE:
        raise UsageError(
            f"the task {quoted(name)} cannot be checked from a file; accepted are "
            + ", ".join(sorted(_MADE))
        )
    made, needed = _MADE[name]
    if set(parameters) != set(needed):
        raise UsageError(
            f"the task {name} takes the parameters {', '.join(needed) or 'none'}; got "
            f"{', '.join(parameters) or 'none'}"
        )
    return made(**parameters)


def _parity(n: int | None = None) -> WordTask:
    return WordTask(("0", "1"), lambda word: word.count("1") % 2 == 1)


def _blocks(k: int) -> WordTask:
    """L_k: exactly k blocks of equal letters, a first."""

    def member(word: Word) -> bool:
        blocks = [letter for letter, _ in itertools.groupby(word)]
        return len(blocks) == k and blocks[0] == "a"

    return WordTask(("a", "b"), member)


def _dyck(k: int, D: int) -> WordTask:
    pairs = list(zip("([{<"[:k], ")]}>"[:k], strict=True))

    def member(word: Word) -> bool:
        stack: list[str] = []
        for letter in word:
            if letter in "([{<":
                stack.append(letter)
                if len(stack) > D:
                    return False
            elif not stack or (stack.pop(), letter) not in pairs:
                return False
        return not stack

    return WordTask(tuple(letter for pair in pairs for letter in pair), member)


_GROUPS: dict[str, tuple[tuple[int, ...], ...]] = {
    "C2": ((1, 0),),
    "C3": ((1, 2, 0),),
    "S3": ((1, 0, 2), (1, 2, 0)),
    "D4": ((1, 2, 3, 0), (0, 3, 2, 1)),
    "A4": ((1, 2, 0, 3), (1, 0, 3, 2)),
    "S4": ((1, 0, 2, 3), (1, 2, 3, 0)),
    "A5": ((1, 2, 0, 3, 4), (1, 2, 3, 4, 0)),
}


def _product(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """First one, then the other."""
    return tuple(other[i] for i in one)


def _group_words(group: str) -> WordTask:
    """Words over all elements, each written by the images of 0, 1, ...; the answer is the product
    from left to right."""
    if group not in _GROUPS:
        raise UsageError(f"the group {quoted(str(group))}: accepted are {', '.join(_GROUPS)}")
    generators = _GROUPS[group]
    elements = new = {tuple(range(len(generators[0])))}
    while new:
        new = {_product(a, g) for a in new for g in generators} - elements
        elements = elements | new
    names = {"".join(map(str, element)): element for element in sorted(elements)}

    def answer(word: Word) -> str:
        product = names[word[0]]
        for letter in word[1:]:
            product = _product(product, names[letter])
        return "".join(map(str, product))

    return WordTask(tuple(names), answer, least=1)


def _majority() -> WordTask:
    return WordTask(("0", "1"), lambda word: 2 * word.count("1") > len(word))


_MADE: dict[str, tuple[Callable[..., WordTask], tuple[str, ...]]] = {
    "parity": (_parity, ()),
    "parity-bits": (_parity, ("n",)),
    "blocks": (_blocks, ("k",)),
    "dyck": (_dyck, ("k", "D")),
    "group-words": (_group_words, ("group",)),
    "majority": (_majority, ()),
}
