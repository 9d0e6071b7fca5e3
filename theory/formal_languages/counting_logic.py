"""Temporal logic that counts to the left, TL[count-left], which is C-RASP: what transformers with rounded soft attention compute.

At a position i a formula may compare sums of counts #x = |{j <= i : x holds at j}| with integers; the nesting depth of counts is the
number of layers. A word is read at its last position.
"""
from __future__ import annotations

from functools import cache
from typing import Any

# A formula: a letter, ("not", x), ("and", x, y, ...), or ("least", x, n): at least n positions up to here satisfy x.
Formula = str | tuple[Any, ...]


def depth(formula: Formula) -> int:
    """Nesting depth of counts.

    >>> depth(("least", ("and", "a", ("least", "b", 1)), 1))
    2
    """
    if isinstance(formula, str):
        return 0
    parts = formula[1:2] if formula[0] == "least" else formula[1:]
    return max(depth(x) for x in parts) + (formula[0] == "least")


def truths(formula: Formula, word: str) -> list[bool]:
    """Truth at every position of a word, left to right.

    >>> truths(("least", "a", 2), "aba")
    [False, False, True]
    """
    @cache
    def values(f: Formula) -> tuple[bool, ...]:
        if isinstance(f, str):
            return tuple(letter == f for letter in word)
        if f[0] == "not":
            return tuple(not v for v in values(f[1]))
        if f[0] == "and":
            return tuple(map(all, zip(*(values(x) for x in f[1:]), strict=True)))
        inner, count, result = values(f[1]), 0, []
        for v in inner:
            count += v
            result.append(count >= f[2])
        return tuple(result)

    return list(values(formula))


def in_block(m: int) -> Formula:
    """In a word that begins with a: this position lies in the m-th block of equal letters or later, and bears its letter. Depth m - 2,
    since the letter b alone shows the second block.

    >>> truths(in_block(3), "aabba")
    [False, False, False, False, True]
    """
    if m < 1:
        raise ValueError(f"blocks are numbered from 1, got {m}")
    if m <= 2:
        return "ab"[m - 1]
    return ("and", "ab"[(m - 1) % 2], ("least", in_block(m - 1), 1))


def blocks(k: int) -> Formula:
    """a+ b+ a+ ... with exactly k blocks, at depth k: the k-th block is reached, the next one is not, and no b stands before the first a.

    >>> depth(blocks(3)), truths(blocks(3), "aabba")[-1]
    (3, True)
    """
    parts: list[Formula] = [("least", in_block(k), 1), ("not", ("least", in_block(k + 1), 1))]
    if k > 1:
        parts.append(("not", ("least", ("and", "b", ("not", ("least", "a", 1))), 1)))
    return ("and", *parts)
