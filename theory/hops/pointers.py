"""hop_k by its definition: k times the pointer "the token after the last earlier copy of me"."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any


def find1(sequence: Sequence[Hashable]) -> list[int]:
    """find^1(i) = max({0} u {j <= i : X_(j-1) = X_i}) for i = 1..N (sanford2024, Definition 4.1).

    >>> find1("abab")
    [0, 0, 2, 3]
    """
    after_last: dict[Hashable, int] = {}
    pointers = []
    for position, symbol in enumerate(sequence, start=1):
        pointers.append(after_last.get(symbol, 0))
        after_last[symbol] = position + 1
    return pointers


def find(sequence: Sequence[Hashable], hops: int) -> list[int]:
    """find^k(i) = find^1(find^(k-1)(i)) for i = 1..N, with find^0(i) = i and find^1(0) = 0.

    >>> find("ababab", 2)
    [0, 0, 0, 2, 3, 4]
    """
    if hops < 0:
        raise ValueError(f"hops={hops}: accepted are whole numbers from 0 on")
    once = [0, *find1(sequence)]
    pointers = list(range(1, len(once)))
    for _ in range(hops):
        pointers = [once[p] for p in pointers]
    return pointers


def hop_k(sequence: Sequence[Any], hops: int, missing: Any = None) -> list[Any]:
    """hop_k(X)_i = X_(find^k(i)), or `missing` where find^k(i) = 0, for i = 1..N.

    >>> [hop_k("baebcabebdea", hops)[-1] for hops in (0, 1, 2)]
    ['a', 'b', 'c']
    """
    return [sequence[p - 1] if p else missing for p in find(sequence, hops)]


def last_hop(sequence: Sequence[Any], hops: int, missing: Any = None) -> Any:
    """The last of `hop_k`. Cost: linear in the length and the number of hops."""
    at = len(sequence)
    for _ in range(hops if at else 0):
        symbol, at = sequence[at - 1], at - 1
        while at and sequence[at - 1] != symbol:
            at -= 1
        if not at:
            return missing
        at += 1
    return sequence[at - 1] if at else missing
