"""Language tasks: is each prefix of a word in a regular language? Star-free languages by their automata, and the words of k blocks."""
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from depthlaw.theory.formal_languages.automaton import Automaton, block_language, minimal

from . import Batch, TokenIds

__all__ = ["Blocks", "Prefixes", "letter_odds", "walk"]

Negatives = Literal["near", "uniform"]


def walk(automaton: Automaton, letters: Tensor) -> Tensor:
    """The states of an automaton before, between and after the letters, for many words at once.

    Args:
        automaton: complete, start state 0.
        letters: indices into its alphabet, int64 (words, N).

    Returns:
        int64 (words, N + 1); the first state is 0.

    >>> walk(minimal("(ab)*"), torch.tensor([[0, 1, 0, 0]])).tolist()
    [[0, 1, 0, 1, 2]]

    Cost: N look-ups in a table of letters times states, each for all words.
    """
    table = torch.tensor(automaton.moves, device=letters.device)
    states = torch.zeros(letters.shape[0], letters.shape[1] + 1, dtype=torch.long, device=letters.device)
    for i in range(letters.shape[1]):
        states[:, i + 1] = table[letters[:, i], states[:, i]]
    return states


@cache
def letter_odds(automaton: Automaton, letters: int, inside: bool) -> Tensor:
    """How a uniformly random word of N letters goes on, among the words that the automaton accepts, or among those that it rejects.

    Args:
        automaton: complete, start state 0.
        letters: N.
        inside: accepted words, or rejected ones.

    Returns:
        float64 (N, states, letters of the alphabet): the probabilities of the next letter; zeros where no such word goes on from there.

    Raises:
        ValueError: where there is no such word of this length.

    >>> letter_odds(minimal("(ab)*"), 2, True)[0, 0].tolist()
    [1.0, 0.0]

    Cost: O(N states letters). Counts of words are scaled to at most 1 at each step, so that they do not overflow.
    """
    following = torch.tensor(automaton.moves).T
    weight = torch.tensor([(state in automaton.accepting) == inside for state in range(automaton.states)], dtype=torch.float64)
    odds = torch.zeros(letters, *following.shape, dtype=torch.float64)
    for i in reversed(range(letters)):
        each = weight[following]
        total = each.sum(-1)
        odds[i] = each / total.clamp(min=torch.finfo(torch.float64).tiny)[:, None]
        weight = total / total.max().clamp(min=torch.finfo(torch.float64).tiny)
    if not weight[0] > 0:
        raise ValueError(f"no word of {letters} letters is {'in' if inside else 'outside'} the language; try another length")
    return odds


@dataclass(frozen=True)
class _Words(TokenIds):
    """What language tasks share: a token for the beginning, then letters; the answer at each token is whether the word so far is in."""

    @property
    def outputs(self) -> int:
        """Outside, inside."""
        return 2


@dataclass(frozen=True)
class Prefixes(_Words):
    """Membership of every prefix in a regular language. Half of the words are in the language, uniformly among those of their length.

    Tokens are the letters 0, 1, ... after a token for the beginning. All prefixes are learned; scored are those of at least one letter,
    or the whole word alone, of which exactly half are inside in expectation. The group is the state of the minimal automaton.

    Args:
        expression: regular expression, with union |, star *, plus + and option ?; `theory.formal_languages` says which are star-free.
        letters: N, at least 1.
        alphabet: the letters.
        negatives: words outside: "near", a uniform word inside with two different letters exchanged, so that each letter is as frequent
            as in a word inside (uniform outside where the exchange leads inside again), or "uniform" among the words of N letters
            outside, which are often easy to tell.
        whole: score the whole word alone.

    Raises:
        ValueError: where no word of this length is inside, or none outside, and for an expression that cannot be read.

    >>> task = Prefixes("(ab)*", letters=4)
    >>> batch = task.batch(torch.Generator().manual_seed(0), replicas=1, size=20)
    >>> batch.inputs[batch.targets[..., -1] == 1].unique(dim=0).tolist(), task.expected(torch.tensor([2, 0, 1, 0, 1]))[0].tolist()
    ([[2, 0, 1, 0, 1]], [1, 0, 1, 0, 1])

    Cost: O(N) steps for all words at once. References: Yang, Chiang and Angluin 2024, arXiv:2310.13897v4 (star-free languages).
    """

    expression: str = "(ab)*"
    letters: int = 32
    alphabet: str = "ab"
    negatives: Negatives = "near"
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse a language without words of this length on both sides."""
        if self.letters < 1 or len(self.alphabet) < 2 or self.negatives not in ("near", "uniform"):
            raise ValueError(f"letters={self.letters}, alphabet={self.alphabet!r}, negatives={self.negatives!r}: accepted are at least 1, at "
                             "least two letters, and near or uniform")
        for inside in (True, False):
            letter_odds(self.automaton, self.letters, inside)

    @property
    def automaton(self) -> Automaton:
        """The minimal automaton."""
        return minimal(self.expression, self.alphabet)

    @property
    def name(self) -> str:
        """Task and options."""
        return f"prefixes: {self.expression}, {self.letters} letters, {self.negatives} negatives{', whole words' if self.whole else ''}"

    @property
    def length(self) -> int:
        """The beginning and the letters."""
        return self.letters + 1

    @property
    def vocabulary(self) -> int:
        """The letters and the beginning."""
        return len(self.alphabet) + 1

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw words; inputs and targets (R, B, letters + 1)."""
        count, device, automaton = replicas * size, generator.device, self.automaton
        inside = torch.rand(count, generator=generator, device=device) < 0.5
        away = self._uniform(generator, count, False)
        letters = self._uniform(generator, count, True)
        accepting = torch.tensor([state in automaton.accepting for state in range(automaton.states)], device=device)
        if self.negatives == "near":
            one = torch.randint(0, self.letters, (count, 1), generator=generator, device=device)
            keys = torch.rand(count, self.letters, generator=generator, device=device)
            other = keys.masked_fill_(letters == letters.gather(1, one), -1).argmax(-1, keepdim=True)
            changed = letters.scatter(1, one, letters.gather(1, other)).scatter(1, other, letters.gather(1, one))
            away = torch.where(accepting[walk(automaton, changed)[:, -1:]], away, changed)
        letters = torch.where(inside[:, None], letters, away)
        states = walk(automaton, letters)
        return _prefixes(letters, accepting[states], states, self.vocabulary - 1, self.whole, (replicas, size))

    def _uniform(self, generator: torch.Generator, count: int, inside: bool) -> Tensor:
        """Uniform words among those inside, or outside, int64 (count, letters): letter by letter with the odds of what can follow."""
        device = generator.device
        odds = letter_odds(self.automaton, self.letters, inside).to(device)
        # The last possible letter takes what is left, so that rounding never leads to a letter of probability 0.
        last = odds.shape[-1] - 1 - (odds.flip(-1) > 0).byte().argmax(-1)
        up_to = odds.cumsum(-1).masked_fill(torch.arange(odds.shape[-1], device=device) >= last[..., None], 2)
        drawn = torch.rand(count, self.letters, 1, generator=generator, device=device, dtype=torch.float64)
        table = torch.tensor(self.automaton.moves, device=device)
        state, letters = torch.zeros(count, dtype=torch.long, device=device), []
        for i in range(self.letters):
            letter = (up_to[i, state] <= drawn[:, i]).sum(-1)
            letters.append(letter)
            state = table[letter, state]
        return torch.stack(letters, dim=-1)

    def expected(self, example: Tensor) -> tuple[Tensor, Tensor]:
        """Targets by Python's regular expressions, states letter by letter."""
        word = "".join(self.alphabet[i] for i in example[1:].tolist())
        state, states = 0, [0]
        for letter in word:
            state = self.automaton.moves[self.alphabet.index(letter)][state]
            states.append(state)
        return _matches(self.expression, word), torch.tensor(states)


@dataclass(frozen=True)
class Blocks(_Words):
    """Words a+ b+ a+ ... : does the prefix have exactly k blocks? The group is the number of blocks so far.

    Args:
        blocks: k, at least 1.
        letters: N, at least k + 2.
        words: "published": every word has k blocks, with switches at uniformly random places, and every prefix of at least one letter is
            scored. "balanced": half of the words have k blocks, the others k - 2 or k + 2 (which begin and end with the same letters),
            and the whole word alone is scored. All prefixes are learned in both.
        shortest: fewest letters, at least k + 2: lengths are then even over shortest..letters, and token 3 fills what is missing, neither
            learned nor scored. 0: every word has all the letters.

    Raises:
        ValueError: for options outside these ranges.

    >>> task = Blocks(blocks=3, letters=6, words="published")
    >>> batch = task.batch(torch.Generator().manual_seed(0), replicas=1, size=20)
    >>> batch.targets[..., -1].unique().tolist(), batch.group.unique().tolist(), task.expected(torch.tensor([2, 0, 1, 1, 0]))[0].tolist()
    ([1], [0, 1, 2, 3], [0, 0, 0, 0, 1])

    Cost: O(N log N). References: Yang, Cadilhac and Chiang 2025, arXiv:2506.16055, whose strings have random lengths.
    """

    blocks: int = 3
    letters: int = 64
    words: Literal["published", "balanced"] = "balanced"
    shortest: int = 0

    def __post_init__(self) -> None:
        """Refuse what no word of this length can have."""
        if self.shortest and not self.blocks + 2 <= self.shortest <= self.letters:
            raise ValueError(f"shortest={self.shortest}: accepted are 0, and {self.blocks + 2} (two letters more than blocks) to "
                             f"{self.letters} (the letters)")
        if self.blocks < 1 or self.letters < self.blocks + 2 or self.words not in ("published", "balanced"):
            raise ValueError(f"blocks={self.blocks}, letters={self.letters}, words={self.words!r}: accepted are at least 1, at least two "
                             "letters more than blocks, and published or balanced")

    @property
    def name(self) -> str:
        """Task and options."""
        return f"blocks: {block_language(self.blocks)}, {f'{self.shortest} to ' if self.shortest else ''}{self.letters} letters, {self.words}"

    @property
    def length(self) -> int:
        """The beginning and the letters."""
        return self.letters + 1

    @property
    def vocabulary(self) -> int:
        """a, b, the beginning, and the padding of words that have fewer letters."""
        return 4 if self.shortest else 3

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw words; inputs and targets (R, B, letters + 1)."""
        count, device = replicas * size, generator.device
        number = torch.full((count, 1), self.blocks, device=device)
        if self.words == "balanced":
            coins = torch.rand(count, 2, generator=generator, device=device) < 0.5
            other = torch.where(coins[:, 1:], self.blocks - 2, self.blocks + 2) if self.blocks > 2 else self.blocks + 2
            number = torch.where(coins[:, :1], number, other)
        # The places of the number - 1 smallest of random keys: a uniform set of switches.
        key = torch.rand(count, self.letters - 1, generator=generator, device=device)
        ends = None
        if self.shortest:
            ends = torch.randint(self.shortest, self.letters + 1, (count, 1), generator=generator, device=device)
            key.add_(torch.arange(1, self.letters, device=device) >= ends)
        rank = key.argsort(-1).argsort(-1)
        so_far = torch.nn.functional.pad((rank < number - 1).long(), (2, 0)).cumsum(-1)
        so_far[:, 1:] += 1
        letters = (so_far[:, 1:] - 1) % 2
        return _prefixes(letters, so_far == self.blocks, so_far, 2, self.words == "balanced", (replicas, size), ends)

    def expected(self, example: Tensor) -> tuple[Tensor, Tensor]:
        """Targets by Python's regular expressions, blocks by its groups of equal letters."""
        word = "".join("ab"[i] for i in example[1:].tolist() if i < 2)
        runs = [sum(1 for _ in re.finditer(r"a+|b+", word[:i])) for i in range(len(word) + 1)]
        padding = (0, len(example) - len(runs))
        targets, group = _matches(block_language(self.blocks), word), torch.tensor(runs)
        return torch.nn.functional.pad(targets, padding), torch.nn.functional.pad(group, padding, value=-1)


def _prefixes(letters: Tensor, inside: Tensor, group: Tensor, beginning: int, whole: bool, shape: tuple[int, int],
              ends: Tensor | None = None) -> Batch:
    """A batch of words (count, N) with the answers and groups of all prefixes (count, N + 1); `ends` (count, 1) if some words end before.

    What follows a word becomes the padding, the id after the beginning's.
    """
    ids = torch.nn.functional.pad(letters, (1, 0), value=beginning)
    place = torch.arange(ids.shape[1], device=ids.device)
    last = ids.shape[1] - 1 if ends is None else ends
    learned = (place <= last).expand_as(ids)
    if ends is not None:
        ids, group = torch.where(learned, ids, beginning + 1), torch.where(learned, group, -1)
    scored = ((place == last) if whole else (place > 0) & learned).expand_as(ids)
    parts = (ids, inside.long(), scored, group, learned)
    return Batch(*(part.reshape(*shape, -1) for part in parts))


def _matches(expression: str, word: str) -> Tensor:
    """Which prefixes of a word match an expression, the empty one first."""
    return torch.tensor([int(re.fullmatch(expression, word[:i]) is not None) for i in range(len(word) + 1)])
