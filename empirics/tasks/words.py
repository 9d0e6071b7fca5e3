"""Words whose last letter is asked for an exact answer, by one pass over each word: parity and
products in a group, blocks, letters, brackets, maps in context, conditional k-grams.

Answers are those of the tasks of the same names in the atlas of least depth. Their words are drawn
so that answers of both kinds are about as frequent where a uniform word would hardly ever have one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from . import Batch, TokenIds


class Drawn(NamedTuple):
    """Words and what they answer.

    Attributes:
        letters, answers: int64 (words, N); an answer for every prefix.
        known: bool (words, N): where there is an answer.
    """

    letters: Tensor
    answers: Tensor
    known: Tensor


def _known(letters: Tensor, answers: Tensor) -> Drawn:
    return Drawn(letters, answers.long(), torch.ones_like(letters, dtype=torch.bool))


def _uniform(rng: torch.Generator, top: int, *shape: int) -> Tensor:
    return torch.randint(0, top, shape, generator=rng, device=rng.device)


def _chosen(rng: torch.Generator, count: Tensor, places: int) -> Tensor:
    """bool (words, places): `count` places of each word, any as likely as any other."""
    keys = torch.rand(len(count), places, generator=rng, device=rng.device)
    return keys.argsort(dim=-1, stable=True).argsort(dim=-1) < count[:, None]


def _products(group: str) -> Callable[[torch.Generator, int, int, int], Drawn]:
    """All prefix products of a word over the elements of a group."""

    def draw(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
        table = _table(group).to(rng.device)
        letters = _uniform(rng, len(table), words, length)
        products = letters.clone()
        for i in range(1, length):
            products[:, i] = table[products[:, i - 1], letters[:, i]]
        return _known(letters, products)

    return draw


@lru_cache
def _table(group: str) -> Tensor:
    """The products of elements: first the row, then the column; the identity is 0."""
    from depthlaw.theory.least_depth.groups import GROUPS, closure, times

    elements = sorted(closure(GROUPS[group]))
    number = {element: i for i, element in enumerate(elements)}
    return torch.tensor([[number[times(p, q)] for q in elements] for p in elements])


def _letters(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
    """Whether there are at least k letters 1: between 0 and 2 k - 1 of them, at any places."""
    count = _uniform(rng, 2 * size, words)
    letters = _chosen(rng, count, length).long()
    return _known(letters, letters.cumsum(-1) >= size)


def _blocks(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
    """Whether there are exactly k blocks of equal letters, the first of zeros: half of the words
    have k blocks, the others 1 to 2 k; three in four begin with a zero."""
    other = 1 + _uniform(rng, 2 * size, words)
    count = torch.where(_uniform(rng, 2, words) == 1, size, other)
    starts = torch.nn.functional.pad(_chosen(rng, count - 1, length - 1).long(), (1, 0), value=1)
    block = starts.cumsum(-1)
    first = (_uniform(rng, 4, words) == 0).long()[:, None]
    return _known((block - 1 + first) % 2, (block == size) & (first == 0))


def _stair(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
    """Whether k letters 0 follow one another when the letters 2 are struck out."""
    letters = _uniform(rng, 3, words, length)
    run, seen = letters.new_zeros(words), letters.new_zeros(words)
    answers = []
    for letter in letters.unbind(-1):
        run = torch.where(letter == 2, run, torch.where(letter == 0, run + 1, 0))
        seen = torch.maximum(seen, run)
        answers.append(seen >= size)
    return _known(letters, torch.stack(answers, -1))


# Kinds of brackets: k opening ones, then the closing ones in the same order.
KINDS = 2


def _brackets(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
    """Whether brackets of two kinds are balanced and never deeper than D. In half of the words two
    closing ones of different kinds, each after a closing one, change places: so neither the counts
    of the letters nor an opening bracket before a closing one of the other kind tells."""
    letters = _nested(rng, words, length, size)
    later = _after_closing(letters)
    while len(short := torch.nonzero(~(later == 0).any(1) | ~(later == 1).any(1))[:, 0]):
        letters[short] = _nested(rng, len(short), length, size)
        later = _after_closing(letters)
    keys = torch.rand(words, length, generator=rng, device=rng.device)
    wrong = torch.nonzero(_uniform(rng, 2, words) == 1)[:, 0]
    for kind in range(KINDS):
        place = torch.where(later == kind, keys, -1.0).argmax(-1)
        letters[wrong, place[wrong]] = 2 * KINDS - 1 - kind
    return _known(letters, _balanced(letters, size))


def _nested(rng: torch.Generator, words: int, length: int, size: int) -> Tensor:
    """int64 (words, N): balanced brackets, never deeper than D."""
    height, stack = (torch.zeros(words, dtype=torch.int64, device=rng.device) for _ in range(2))
    letters = torch.empty(words, length, dtype=torch.int64, device=rng.device)
    for i in range(length):
        # As many steps are left as lead back to the ground, or two more.
        can_open = (height < size) & (height + 1 <= length - i - 1)
        opens = can_open & ((height == 0) | (_uniform(rng, 2, words) == 1))
        kind = _uniform(rng, KINDS, words)
        letters[:, i] = torch.where(opens, kind, KINDS + stack % KINDS)
        stack = torch.where(opens, KINDS * stack + kind, stack // KINDS)
        height = height + torch.where(opens, 1, -1)
    return letters


def _after_closing(letters: Tensor) -> Tensor:
    """int64 like letters: the kind of a closing bracket that comes after a closing one, else -1."""
    closing = letters >= KINDS
    after = torch.nn.functional.pad(closing[:, :-1], (1, 0), value=False)
    return torch.where(closing & after, letters - KINDS, -1)


def _balanced(letters: Tensor, deepest: int) -> Tensor:
    """bool like letters: whether a prefix is balanced and never deeper than allowed."""
    height, stack = torch.zeros_like(letters[:, 0]), torch.zeros_like(letters[:, 0])
    alive = torch.ones_like(height, dtype=torch.bool)
    answers = []
    for letter in letters.unbind(-1):
        opens = letter < KINDS
        alive &= torch.where(
            opens, height < deepest, (height > 0) & (stack % KINDS == letter - KINDS)
        )
        stack = torch.where(opens, KINDS * stack + letter, stack // KINDS)
        height = height + torch.where(opens, 1, -1)
        answers.append(alive & (height == 0))
    return torch.stack(answers, -1)


# Values that a map in context takes.
VALUES = 4


def _composition(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
    """k maps on four values by their values, the last one first, then an argument, of which the
    composition is asked there: so every lookup goes back, as a causal mask demands."""
    maps = _uniform(rng, VALUES, words, size, VALUES)
    argument = _uniform(rng, VALUES, words)
    value = argument
    for one in maps.flip(1).unbind(1):
        value = one.gather(1, value[:, None])[:, 0]
    letters = torch.cat([maps.flatten(1), (VALUES + argument)[:, None]], 1)
    answers, known = torch.zeros_like(letters), torch.zeros_like(letters, dtype=torch.bool)
    answers[:, -1], known[:, -1] = value, True
    return Drawn(letters, answers, known)


# Symbols of a conditional k-gram.
SYMBOLS = 3


def _kgram(rng: torch.Generator, words: int, length: int, size: int) -> Drawn:
    """Which symbol followed the last k symbols most often so far, where one did more often than
    any other."""
    letters = _uniform(rng, SYMBOLS, words, length)
    context = torch.zeros_like(letters)
    for back in range(size):
        context[:, size - 1 :] = (
            SYMBOLS * context[:, size - 1 :] + letters[:, size - 1 - back : length - back]
        )
    # followers[w, j, s]: letter j + 1 of the word is s; it counts for all later positions.
    follows = torch.nn.functional.one_hot(letters[:, 1:], SYMBOLS)
    same = context[:, :, None] == context[:, None, :-1]
    place = torch.arange(length, device=rng.device)
    earlier = (place[None, :-1] < place[:, None]) & (place[None, :-1] >= size - 1)
    counts = (same & earlier).to(torch.float32) @ follows.to(torch.float32)
    best = counts.topk(2, dim=-1)
    known = (best.values[..., 0] > best.values[..., 1]) & (place >= size - 1)
    return Drawn(letters, best.indices[..., 0], known)


class _Kind(NamedTuple):
    draw: Callable[[torch.Generator, int, int, int], Drawn]
    letters: int
    answers: int


_KINDS: dict[str, _Kind] = {
    "parity": _Kind(_products("C2"), 2, 2),
    "S3 words": _Kind(_products("S3"), 6, 6),
    "A5 words": _Kind(_products("A5"), 60, 60),
    "letters": _Kind(_letters, 2, 2),
    "blocks": _Kind(_blocks, 2, 2),
    "stair": _Kind(_stair, 3, 2),
    "brackets": _Kind(_brackets, 2 * KINDS, 2),
    "composition": _Kind(_composition, 2 * VALUES, VALUES),
    "kgram": _Kind(_kgram, SYMBOLS, SYMBOLS),
}


_FINE_PRINT = {"composition": " symbols, and no more", "brackets": " symbols, size at least 2"}


@dataclass(frozen=True)
class Words(TokenIds):
    """A task on words; the last letter is scored, every prefix that has an answer is learned.

    Args:
        task: which; see the error for the names.
        symbols: letters of a word, at least 2; of maps in context there are as many as they take.
        size: the k or D of tasks that have one: letters, blocks, stairs, maps, symbols of context,
            depth of brackets.

    Raises:
        ValueError: for a task that is not known, or sizes that leave no words.

    >>> Words("parity", 3).batch(torch.Generator().manual_seed(0), 1, 1).targets.shape
    torch.Size([1, 1, 3])

    Cost: O(N) per word; of kgram O(N^2).
    """

    task: str
    symbols: int
    size: int = 0

    def __post_init__(self) -> None:
        """Refuse what has no words."""
        if self.task not in _KINDS:
            raise ValueError(f"task={self.task!r}: accepted are {', '.join(_KINDS)}")
        least = {
            "composition": VALUES * self.size + 1,
            "kgram": self.size + 2,
            "blocks": 2 * self.size,
            "letters": 2 * self.size,
            "brackets": 8,
        }.get(self.task, 2)
        if (
            self.symbols < least
            or (self.task == "brackets" and (self.symbols % 2 or self.size < 2))
            or (self.task == "composition" and self.symbols != least)
        ):
            raise ValueError(
                f"{self.task} of size {self.size} with {self.symbols} symbols: accepted are "
                f"{'even numbers from' if self.task == 'brackets' else 'at least'} {least}"
                f"{_FINE_PRINT.get(self.task, '')}"
            )

    @property
    def name(self) -> str:
        """Task and options."""
        return f"{self.task}: {self.symbols} letters" + (f", size {self.size}" * bool(self.size))

    @property
    def length(self) -> int:
        """The letters."""
        return self.symbols

    @property
    def vocabulary(self) -> int:
        """One id for each letter."""
        return _KINDS[self.task].letters

    @property
    def outputs(self) -> int:
        """One class for each answer."""
        return _KINDS[self.task].answers

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw words; inputs and targets (R, B, N)."""
        drawn = _KINDS[self.task].draw(generator, replicas * size, self.symbols, self.size)
        last = torch.zeros_like(drawn.known)
        last[:, -1] = drawn.known[:, -1]
        parts = (drawn.letters, drawn.answers, last, last.long() - 1, drawn.known)
        return Batch(*(part.view(replicas, size, self.symbols) for part in parts))
