"""Sequence tasks: k-hop retrieval as published, of which induction is the case of one hop."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from . import Batch, TokenIds, smallest_type

# Symbols up to which a search for each beats a sort on a CPU.
FEW = 8


def draw_symbols(
    generator: torch.Generator, shape: tuple[int, ...], alphabet: int, repeats: bool
) -> Tensor:
    """Uniform symbols 0..alphabet-1, int64; without repeats the first is uniform and each next one
    uniform over the other symbols."""
    if repeats:
        return torch.randint(0, alphabet, shape, generator=generator, device=generator.device)
    # A step of 1..alphabet-1 around the circle leads to each other symbol with the same
    # probability.
    steps = torch.randint(1, alphabet, shape, generator=generator, device=generator.device)
    steps[..., 0] = torch.randint(
        0, alphabet, shape[:-1], generator=generator, device=generator.device
    )
    # Of numbers that are not negative this is the remainder, at half its cost.
    return steps.cumsum(-1).fmod_(alphabet)


def last_copies(symbols: Tensor) -> Tensor:
    """For each position, counted from 1, the last earlier position with the same symbol, or 0;
    int64 of the shape (..., N) of symbols.

    >>> last_copies(torch.tensor([0, 1, 0, 1, 1])).tolist()
    [0, 0, 1, 2, 4]

    Cost: O(N log N) per sequence: sorted by symbol, then position, the last earlier copy is the
    neighbour before. On a CPU, where sorting is slow, O(N log N) maxima of small numbers for each
    of up to eight symbols.
    """
    n = symbols.shape[-1]
    if symbols.device.type == "cpu" and symbols.numel():
        low, high = symbols.aminmax()
        if high - low < FEW:
            return _last_copies_of_few(symbols - low, int(high - low) + 1)
    ordered = (symbols * n + torch.arange(n, device=symbols.device)).sort(-1).values
    symbol, position = ordered // n, ordered % n
    before = torch.zeros_like(position)
    before[..., 1:] = torch.where(symbol[..., 1:] == symbol[..., :-1], position[..., :-1] + 1, 0)
    return torch.empty_like(before).scatter_(-1, position, before)


def _last_copies_of_few(symbols: Tensor, kinds: int) -> Tensor:
    """For each of the symbols 0..kinds-1 the largest position with it so far, by doubling how far
    back is looked, read one place before.

    Positions come first, sequences last, so that each step runs over contiguous numbers, as small
    as they can be.
    """
    n = symbols.shape[-1]
    small = smallest_type(n)
    along = symbols.reshape(-1, n).to(small).t().contiguous()
    # Written as numbers at once: bools are computed one by one.
    here = torch.eq(
        along,
        torch.arange(kinds, dtype=small)[:, None, None],
        out=torch.empty(kinds, *along.shape, dtype=small),
    )
    latest = here * torch.arange(1, n + 1, dtype=small)[:, None]
    wider, back = torch.empty_like(latest), 1
    while back < n:
        wider[:, :back] = latest[:, :back]
        torch.maximum(latest[:, back:], latest[:, :-back], out=wider[:, back:])
        latest, wider, back = wider, latest, 2 * back
    last = torch.zeros_like(along)
    last[1:] = (here[:, 1:].mul_(latest[:, :-1])).sum(0, dtype=small)
    return last.t().contiguous().long().view(symbols.shape)


def find(symbols: Tensor, hops: Tensor, hops_max: int) -> Tensor:
    """find^k: k times the pointer to the position after the last earlier copy, positions counted
    from 1, 0 where there is none; int64 (sequences, N), as the symbols. `hops` are the k of each
    sequence, none larger than hops_max.

    >>> find(torch.tensor([[0, 1, 0, 1, 0, 1]]), torch.tensor([2]), 2).tolist()
    [[0, 0, 0, 2, 3, 4]]

    Cost: O(N (log N + log k)): powers of the pointer by squaring, one composition for each binary
    digit of k. References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Definition 4.1;
    `theory.hops.pointers.find` goes hop by hop.
    """
    last = last_copies(symbols)
    power = torch.nn.functional.pad(last.add_(last.sign()), (1, 0))
    # Where no hop leads, and one; all further ones come to lie in the same memory, since fresh
    # memory costs as much as what fills it.
    here, there = (
        torch.arange(1, symbols.shape[-1] + 1, device=symbols.device).repeat(len(symbols), 1),
        power[:, 1:].clone(),
    )
    squared = torch.empty_like(power)
    for digit in range(hops_max.bit_length()):
        if digit:
            power, squared = torch.gather(power, -1, power, out=squared), power
            torch.gather(power, -1, here, out=there)
        # x ^ ((y ^ x) & mask) is y where all bits of the mask are set, and x where none is: a
        # selection without branches.
        there.bitwise_xor_(here).bitwise_and_(-(hops >> digit & 1)[:, None])
        here.bitwise_xor_(there)
    return here


def _after(first: int | bool, rest: Tensor) -> Tensor:
    """(sequences, N) with one more entry before each row."""
    return torch.nn.functional.pad(rest, (1, 0), value=first)


@dataclass(frozen=True)
class HopK(TokenIds):
    """hop_k as published: the token of k, then symbols; each symbol answers with the symbol that k
    hops lead to.

    Ids are k for 0 <= k <= k_max, then the symbols, then "missing" and "blank". The first answer is
    blank, an answer that does not exist is missing; both are learned and neither is scored. k is
    uniform over k_min..k_max, the group is k, -1 where there is no answer. The published sequences
    have 100 symbols of which the last two are cut off; 98 are drawn here, which is the same
    distribution.

    Args:
        symbols: how many, at least 2.
        alphabet: different symbols, at least 2.
        k_max, k_min: largest and smallest k.
        repeats: whether neighbours may be equal.
        vocabulary: number of token ids and of classes; 0 for as many as there are. Published: 30,
            of which 23 occur.

    >>> task = HopK()
    >>> task.length, task.vocabulary, task.missing, task.blank
    (99, 30, 21, 22)

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Section 4.2 and Appendix G.
    """

    symbols: int = 98
    alphabet: int = 4
    k_max: int = 16
    k_min: int = 0
    repeats: bool = False
    vocabulary: int = 30

    def __post_init__(self) -> None:
        """Refuse options that describe no sequences, and fill in the vocabulary."""
        if self.symbols < 2 or self.alphabet < 2 or not 0 <= self.k_min <= self.k_max:
            raise ValueError(
                f"symbols={self.symbols}, alphabet={self.alphabet}, k from "
                f"{self.k_min} to {self.k_max}: accepted are at least "
                "2 symbols of at least 2 kinds, and 0 <= k_min <= k_max"
            )
        if self.vocabulary == 0:
            object.__setattr__(self, "vocabulary", self.blank + 1)
        if self.vocabulary <= self.blank:
            raise ValueError(
                f"vocabulary={self.vocabulary}: the ids go up to {self.blank}; take "
                f"at least {self.blank + 1}, or 0"
            )

    @property
    def name(self) -> str:
        """Task and options."""
        return (
            f"hop_k: k {self.k_min} to {self.k_max}, {self.symbols} symbols of {self.alphabet}"
            f"{', repeats' if self.repeats else ''}"
        )

    @property
    def length(self) -> int:
        """The token of k and the symbols."""
        return self.symbols + 1

    @property
    def outputs(self) -> int:
        """One class per id."""
        return self.vocabulary

    @property
    def missing(self) -> int:
        """The id that stands for an answer that does not exist, published as "~"."""
        return self.k_max + 1 + self.alphabet

    @property
    def blank(self) -> int:
        """The id of the first answer, published as "_"."""
        return self.missing + 1

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw sequences; inputs and targets (R, B, symbols + 1)."""
        count, device = replicas * size, generator.device
        k = torch.randint(
            self.k_min, self.k_max + 1, (count, 1), generator=generator, device=device
        )
        symbols = draw_symbols(generator, (count, self.symbols), self.alphabet, self.repeats)
        pointer = find(symbols, k[:, 0], self.k_max)
        # In the place of k stands what a pointer to nowhere finds, until all have looked.
        inputs = _after(self.missing, symbols.add_(self.k_max + 1))
        targets = _after(self.blank, inputs.gather(-1, pointer))
        inputs[:, :1] = k
        exists = _after(False, pointer.bool())
        parts = (inputs, targets, exists, torch.where(exists, k, -1), torch.ones_like(exists))
        return Batch(*(part.view(replicas, size, self.length) for part in parts))
