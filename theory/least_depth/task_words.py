"""Tasks on words whose answers are known exactly: what `depthlaw tasks check` runs a net on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted

from .group_words import GROUPS, Element, closure, exponent, series_length, times

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


def _group_words(group: str) -> WordTask:
    """Words over all elements, each written by the images of 0, 1, ...; the answer is the product
    from left to right."""
    elements = closure(_generators(group))
    names = {" ".join(map(str, element)): element for element in sorted(elements)}
    if max(map(len, elements)) <= 10:
        names = {name.replace(" ", ""): element for name, element in names.items()}
    written = {element: name for name, element in names.items()}

    @cache
    def product(left: str, right: str) -> str:
        return written[times(names[left], names[right])]

    return WordTask(tuple(names), lambda word: reduce(product, word), least=1)


def _generators(group: str) -> tuple[Element, ...]:
    if group not in GROUPS:
        raise UsageError(f"the group {quoted(str(group))}: accepted are {', '.join(GROUPS)}")
    return GROUPS[group]


def derived_length_of(group: str) -> int | None:
    """The derived length of a group by its name; None for one that is not solvable.

    >>> derived_length_of("S3"), derived_length_of("A5")
    (2, None)
    """
    return series_length(group, exponent(closure(_generators(group))))


_MADE: dict[str, tuple[Callable[..., WordTask], tuple[str, ...]]] = {
    "parity": (_parity, ()),
    "parity-bits": (_parity, ("n",)),
    "blocks": (_blocks, ("k",)),
    "dyck": (_dyck, ("k", "D")),
    "elementary-words": (_group_words, ("group",)),
    "group-words": (_group_words, ("group",)),
    "dihedral-words": (_group_words, ("group",)),
    "s4-words": (_group_words, ("group",)),
    "a5-words": (_group_words, ("group",)),
}
