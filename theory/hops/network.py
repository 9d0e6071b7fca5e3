"""Hard-attention networks for hop_k, executed in integers: as printed, repaired, and two variants.

A head scores query against key by the cosine of the angle between them, so it attends to the key at
the least circular distance; angles are multiples of a full turn over `period`, and distances are
doubled, because the start token lies between two of them. Positions run from 1 to N, position 0 is
the start token. Every layer of every network here is one attention step, with one head unless it
says otherwise, and all else happens token by token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..claims.values import Case
from .pointers import hop_k

Array = NDArray[np.int64]
Network = Callable[[Sequence[int], int, int], Iterator[Array]]

# The answer where no k-th hop exists, and of a head that averages two tokens: never right.
BOTTOM, TIE = -1, -2
# Enough for every k up to 2^10 in each construction.
_LAYERS = 12
_NEVER = np.iinfo(np.int64).max


def causal(
    sequence: Sequence[int],
    alphabet: int,
    hops: int,
    *,
    spacing: int = 2,
    induction: Literal["repaired", "printed"] = "repaired",
) -> Iterator[Array]:
    """Answers after each layer of the construction with causal mask j <= i, without end.

    Layer 1 fetches X_(i-1), layer 2 the last j with X_(j-1) = X_i, every later one looks up the
    token at find^(2^t) of i, doubling t.
    repaired: start from find^1 and add 2^t for each binary digit of k - 1, which is exact after
    ceil(log2 k) + 2 layers.
    printed: start from find^(k mod 2) and add 2^(t-1) for the digit t of k, one layer too early.

    Symbols are 0..alphabet-1, k is at least 1; `spacing` is the angle between two symbols in units
    of N: 1 as printed, 2 is exact.

    >>> [row.tolist() for row in islice(causal([0, 1, 0, 1, 1, 0], 2, 2), 4)][-1]
    [-1, -1, -1, 1, 1, 0]
    """
    symbols, positions = tokens_of(sequence, alphabet)
    yield symbols[1:]
    previous = _take(symbols, _lookup(positions - 1))
    yield symbols[1:]
    pointer = _last_match(symbols, previous, alphabet, spacing)
    starts_at_find = induction == "repaired" or hops % 2 == 1
    answer = _take(symbols, pointer) if starts_at_find else symbols
    digits = hops - 1 if induction == "repaired" else hops >> 1
    while True:
        yield answer[1:]
        source = _lookup(pointer)
        answer = _take(answer, source) if digits & 1 else answer
        pointer, digits = _take(pointer, source), digits >> 1


def symbol_carrying(
    sequence: Sequence[int],
    alphabet: int,
    hops: int,
    *,
    mask: Literal["strict", "causal"] = "strict",
) -> Iterator[Array]:
    """Answers after each layer of a construction that finds find^1 in its FIRST layer, without end.

    find^1(i) is one more than the last j < i with X_j = X_i. A strict mask j < i finds that j with
    one head. With the causal mask a token would find itself, so one head for each binary digit of
    the position attends only to tokens that differ there. Layer t + 2 looks up the token at
    find^(2^t): its symbol hop_(k mod 2^t) is taken over when digit t of k is 1, one layer before a
    pointer could be. So hop_k takes floor(log2 k) + 2 layers.

    >>> [row.tolist() for row in islice(symbol_carrying([0, 1, 0, 1, 1, 0], 2, 3), 4)][-1]
    [-1, -1, -1, -1, 1, 1]
    """
    symbols, positions = tokens_of(sequence, alphabet)
    yield symbols[1:]
    if mask == "strict":
        last = _last_match(symbols, symbols, alphabet, spacing=2, strict=True, first=1)
    else:
        last = _last_same_by_digits(symbols, positions, alphabet)

    # A token that points to itself holds what it would look up, which a strict mask hides.
    def look_up(pointer: Array) -> Array:
        looked_up = _lookup(pointer, strict=mask == "strict")
        return np.where(pointer == positions, positions, looked_up)

    yield from doubling(symbols, np.where(last > 0, last + 1, 0), hops, look_up)


def doubling(
    symbols: Array, pointer: Array, hops: int, look_up: Callable[[Array], Array]
) -> Iterator[Array]:
    """Answers after the layer that gives find^1 as `pointer`, and after each later one, without
    end: a layer looks up the token at find^(2^t), doubles the pointer, and takes over the symbol
    there where digit t of k is 1."""
    answer, digits = symbols, hops
    while True:
        yield answer[1:]
        source = look_up(pointer)
        answer = _take(answer, source) if digits & 1 else answer
        pointer, digits = _take(pointer, source), digits >> 1


def right_answers(sequence: Sequence[int], hops: int) -> Array:
    """hop_k by its definition, BOTTOM where there is none."""
    return np.array(hop_k(sequence, hops, missing=BOTTOM))


def answers(
    network: Network, sequence: Sequence[int], alphabet: int, hops: int, layers: int = _LAYERS
) -> Array:
    """The answers of a network after `layers` layers."""
    return next(islice(network(sequence, alphabet, hops), layers, None))


def settles(network: Network, case: Case, seed: int = 0) -> int:
    """The first layer from which on every token is right; -1 when the last of 12 still errs."""
    last_wrong = -1
    for sequence in sequences_of(case, seed):
        right = right_answers(sequence, case.hops)
        layers = islice(network(sequence, case.alphabet, case.hops), _LAYERS + 1)
        wrong = [layer for layer, answer in enumerate(layers) if (answer != right).any()]
        last_wrong = max([last_wrong, *wrong])
    return -1 if last_wrong == _LAYERS else last_wrong + 1


def errors(network: Network, case: Case, seed: int = 0, layers: int = _LAYERS) -> int:
    """How many tokens of all sequences of a case are wrong after `layers` layers."""
    wrong = 0
    for sequence in sequences_of(case, seed):
        given = answers(network, sequence, case.alphabet, case.hops, layers)
        wrong += int((given != right_answers(sequence, case.hops)).sum())
    return wrong


def sequences_of(case: Case, seed: int) -> Iterable[Sequence[int]]:
    """All sequences of the case's length with `exhaustive`, otherwise `random_sequences`."""
    if case.get("exhaustive"):
        return all_sequences(case.tokens, case.alphabet)
    return random_sequences(case.rng(seed), case.tokens, case.alphabet, case.repeats)


def random_sequences(
    rng: np.random.Generator, tokens: int, alphabet: int, repeats: bool, count: int = 4
) -> list[list[int]]:
    """Sequences of uniform symbols; without repeats neighbours differ, as in the experiment.

    One alternating sequence 0, 1, 0, 1, ... is added, on which find^h(i) = i - h, so that no two
    numbers of hops agree.
    """
    sequences = [[i % 2 for i in range(tokens)]]
    for _ in range(count):
        steps = rng.integers(0 if repeats else 1, alphabet, tokens)
        sequences.append((np.cumsum(steps) % alphabet).tolist())
    return sequences


def all_sequences(tokens: int, alphabet: int) -> Iterator[Sequence[int]]:
    """Every sequence of that length, in lexicographic order."""
    return product(range(alphabet), repeat=tokens)


def tokens_of(sequence: Sequence[int], alphabet: int) -> tuple[Array, Array]:
    """The symbols behind the start token, which is BOTTOM, and their positions from 0.

    Raises:
        ValueError: unless there are some, all in the alphabet.
    """
    symbols = np.array([BOTTOM, *sequence], dtype=np.int64)
    if len(symbols) < 2 or symbols[1:].min() < 0 or symbols[1:].max() >= alphabet:
        last = alphabet - 1
        raise ValueError(f"accepted are sequences of at least one symbol, each from 0 to {last}")
    return symbols, np.arange(len(symbols))


def _take(values: Array, source: Array) -> Array:
    return np.where(source == TIE, TIE, values[source])


def _attend(distance: Array, strict: bool = False) -> Array:
    """The visible token at the least distance; TIE where hard attention averages two."""
    size = len(distance)
    visible = np.tri(size, k=-1 if strict else 0, dtype=bool)
    visible[0, 0] = True
    distance = np.where(visible, distance, _NEVER)
    tied = (distance == distance.min(axis=1, keepdims=True)).sum(axis=1) > 1
    return np.where(tied, TIE, distance.argmin(axis=1))


def _circular(query: Array, key: Array, period: int) -> Array:
    """Doubled distances between angles; larger means a smaller cosine."""
    apart = (query[:, None] - key[None, :]) % period
    return 2 * np.minimum(apart, period - apart)


def _lookup(target: Array, strict: bool = False) -> Array:
    """The token at a given position: N + 1 angles, since with N positions 0 and N coincide."""
    positions = np.arange(len(target))
    source = _attend(_circular(np.maximum(target, 0), positions, len(target)), strict)
    return np.where(target == TIE, TIE, source)


def _last_match(
    query: Array, key: Array, alphabet: int, spacing: int, strict: bool = False, first: int = 2
) -> Array:
    """The last visible j >= first with key_j = query_i, or the start token.

    Angles put symbols `spacing` N steps and positions one step apart; the start token lies N - 1/2
    steps from every query. A true match is at most N - 1 steps away. At spacing 2 a wrong symbol is
    at least N + 1 steps away, at spacing 1 perhaps only one.
    """
    n = len(query) - 1
    offset = np.arange(n + 1)
    unit = spacing * n
    distance = _circular(unit * query + offset, unit * key + offset, unit * alphabet)
    distance[:, 0] = 2 * n - 1
    distance[:, 1:first] = _NEVER
    return _attend(distance, strict)


def _last_same_by_digits(symbols: Array, positions: Array, alphabet: int) -> Array:
    """The last earlier copy under a causal mask: one head for each binary digit of positions."""
    last = np.zeros_like(positions)
    for digit in range(int(positions[-1]).bit_length()):
        bit = positions >> digit & 1
        query, key = 2 * symbols + 1 - bit, 2 * symbols + bit
        last = np.maximum(last, _last_match(query, key, 2 * alphabet, spacing=2, first=1))
    return last
