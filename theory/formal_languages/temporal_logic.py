"""Linear temporal logic of the past and the masked hard-attention layers that compute it.

One layer of rightmost unique hard attention under a strict future mask computes any number of `since` formulas in parallel, so the nesting
depth of a formula is its number of layers; feed-forward networks between layers compute the Boolean connectives. A word is read at an
extra last position. `kinds` computes what every network of a given depth can tell apart, which gives exact lower bounds on the depth.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

# A formula: a letter, "1" (true), or ("not", x), ("and" | "or", x, y), ("since", x, y).
Formula = str | tuple[Any, ...]

END = "$"


def neither(x: Formula) -> Formula:
    """Not x."""
    return ("not", x)


def once(x: Formula) -> Formula:
    """x held at some earlier position: true since x."""
    return ("since", "1", x)


def previous(x: Formula) -> Formula:
    """x held at the position just before: false since x."""
    return ("since", ("not", "1"), x)


def every(x: Formula, *more: Formula) -> Formula:
    """The conjunction of formulas."""
    return ("and", x, every(*more)) if more else x


def depth(formula: Formula) -> int:
    """Nesting depth of `since`: the number of attention layers.

    >>> depth(once(previous("a")))
    2
    """
    if isinstance(formula, str):
        return 0
    return max(depth(x) for x in formula[1:]) + (formula[0] == "since")


def means(formula: Formula, word: str) -> bool:
    """Truth at the extra position after a word, by the definition: x since y holds at i iff y holds at some j < i and x strictly between.

    >>> means(once("a"), "ba"), means(previous("a"), "ab")
    (True, False)
    """
    text = word + END

    @cache
    def holds(f: Formula, i: int) -> bool:
        if isinstance(f, str):
            return f in ("1", text[i])
        if f[0] == "not":
            return not holds(f[1], i)
        if f[0] in ("and", "or"):
            return (all if f[0] == "and" else any)(holds(x, i) for x in f[1:])
        return any(holds(f[2], j) and all(holds(f[1], k) for k in range(j + 1, i)) for j in range(i))

    return holds(formula, len(word))


def rightmost(scores: list[int], values: list[int]) -> list[int]:
    """One head of unique hard attention: position i attends to the rightmost maximum of the scores before i; 0 if none is positive.

    >>> rightmost([1, 0, 1, 0], [0, 1, 1, 1])
    [0, 0, 0, 1]
    """
    attended = []
    for i in range(len(scores)):
        best = max(range(i), key=lambda j: (scores[j], j), default=None)
        attended.append(values[best] if best is not None and scores[best] > 0 else 0)
    return attended


def leftmost(scores: list[int], values: list[int]) -> list[int]:
    """As `rightmost`, but ties go to the left: a different attention.

    >>> leftmost([1, 0, 1, 0], [0, 1, 1, 1])
    [0, 0, 0, 0]
    """
    attended = []
    for i in range(len(scores)):
        best = max(range(i), key=lambda j: (scores[j], -j), default=None)
        attended.append(values[best] if best is not None and scores[best] > 0 else 0)
    return attended


def run(formula: Formula, word: str, head: Callable[[list[int], list[int]], list[int]] = rightmost) -> tuple[bool, int]:
    """Run the formula as a network: layer after layer, all heads of a layer at once.

    Args:
        formula: what to compute.
        word: the input, without the extra position.
        head: how a head chooses among the largest scores.

    Returns:
        The output at the extra position, and the number of attention layers that were run.
    """
    text = word + END
    stream: dict[Formula, list[int]] = {letter: [int(letter == c) for c in text] for letter in set(text) | _letters(formula)}
    stream["1"] = [1] * len(text)
    layers = 0
    while True:
        _feed_forward(formula, stream)
        if formula in stream:
            return bool(stream[formula][-1]), layers
        # x since y: look at the rightmost earlier position where y holds or x does not, and copy y from there.
        ready = [f for f in _sinces(formula) if f not in stream and f[1] in stream and f[2] in stream]
        heads = {f: head([max(y, 1 - x) for x, y in zip(stream[f[1]], stream[f[2]], strict=True)], stream[f[2]]) for f in ready}
        stream |= heads
        layers += 1


def _feed_forward(formula: Formula, stream: dict[Formula, list[int]]) -> None:
    """Add every Boolean combination whose parts are known already, position by position."""
    if isinstance(formula, str) or formula in stream:
        return
    for part in formula[1:]:
        _feed_forward(part, stream)
    if formula[0] != "since" and all(part in stream for part in formula[1:]):
        rules: dict[str, Callable[..., int]] = {"not": lambda x: 1 - x, "and": min, "or": max}
        stream[formula] = [rules[formula[0]](*point) for point in zip(*(stream[part] for part in formula[1:]), strict=True)]


def _letters(formula: Formula) -> set[str]:
    return {formula} if isinstance(formula, str) else set().union(*(_letters(part) for part in formula[1:]))


def _sinces(formula: Formula) -> list[tuple[Any, ...]]:
    if isinstance(formula, str):
        return []
    inner = [f for part in formula[1:] for f in _sinces(part)]
    return [*inner, formula] if formula[0] == "since" else inner


def kinds(word: str, layers: int, strict: bool = True) -> Any:
    """What the formulas of a nesting depth can tell of a word: equal kinds iff no formula of this depth tells two words apart.

    The kind of a position after one more layer is its kind before, and the kinds of the earlier positions in the order of their last
    occurrence: x since y asks whether the last y (a set of kinds) is followed only by kinds in x, and this order answers that. It also
    fixes which position a head attends to, whatever its scores, so the bound holds for networks and not for formulas only.

    Args:
        word: the word; it is read at an extra last position under a strict mask, and at its last position otherwise.
        layers: nesting depth t.
        strict: whether a position is hidden from itself. Without, x since y looks at j <= i and x must hold on (j, i].

    Cost: O(layers times length^2) set operations.
    """
    text = word + END if strict else word
    now: list[Any] = list(text)
    for _ in range(layers):
        now = [_next(now, i, strict) for i in range(len(now))]
    return now[-1] if now else None


def _next(now: list[Any], i: int, strict: bool) -> Any:
    recent = dict.fromkeys(now[j] for j in range(i - strict, -1, -1))
    return _interned((now[i], tuple(recent)))


_NUMBERS: dict[Any, int] = {}


def _interned(kind: Any) -> int:
    """A number for a kind, so that deeper kinds stay small. Numbers are compared within one process only."""
    return _NUMBERS.setdefault(kind, len(_NUMBERS))
