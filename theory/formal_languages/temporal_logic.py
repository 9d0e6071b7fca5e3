"""Linear temporal logic of the past and the masked hard-attention layers that compute it.

One layer of rightmost unique hard attention under a strict future mask computes any number of
`since` formulas in parallel, so the nesting depth of a formula is its number of layers;
feed-forward networks between layers compute the Boolean connectives. A word is read at an extra
last position. `kinds` computes what every network of a given depth can tell apart: exact lower
bounds on the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    return max(map(depth, formula[1:]), default=0) + (formula[0] == "since")


def means(formula: Formula, word: str) -> bool:
    """Truth after a word by definition: y held at some earlier j, and x since then, for x since y.

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
        return any(
            holds(f[2], j) and all(holds(f[1], k) for k in range(j + 1, i)) for j in range(i)
        )

    return holds(formula, len(word))


def attend(scores: list[int], values: list[int]) -> list[int]:
    """A head of unique hard attention, by positions: the value at the last of the largest positive
    scores before i, or 0.

    >>> attend([1, 0, 1, 0], [0, 1, 1, 1])
    [0, 0, 0, 1]
    """
    attended = []
    for i in range(len(scores)):
        best = max(range(i), key=lambda j: (scores[j], j), default=None)
        attended.append(values[best] if best is not None and scores[best] > 0 else 0)
    return attended


# A number for every kind, so that deeper kinds stay small; compared within one process only.
_NUMBERS: dict[Any, int] = {}


def kinds(word: str, layers: int, strict: bool = True) -> Any:
    """What a nesting depth can tell of a word: equal kinds iff no formula tells two words apart.

    The kind of a position after one more layer is its kind before, and the kinds of the earlier
    positions in the order of their last occurrence: x since y asks whether the last y (a set of
    kinds) is followed only by kinds in x, and this order answers that. It also fixes which position
    a head attends to, whatever its scores, so the bound holds for networks and not only formulas.

    Args:
        word, layers: the word, and the nesting depth.
        strict: whether a position is hidden from itself; the word is then read at an extra last
            position. Without, x since y looks at j <= i and x must hold on (j, i].

    Cost: O(layers times length^2) set operations.
    """

    def recent(now: list[Any]) -> Iterator[Iterable[Any]]:
        return (dict.fromkeys(now[j] for j in range(i - strict, -1, -1)) for i in range(len(now)))

    return refined(word + END if strict else word, layers, recent)


def refined(text: str, layers: int, seen: Callable[[list[Any]], Iterable[Iterable[Any]]]) -> Any:
    """The kind of the last position after so many layers, or None without one.

    Args:
        text, layers: the letters of all positions, and the number of layers.
        seen: of the kinds of all positions, what each position sees of them: with its own kind
            before this is its kind after one more layer.
    """
    now: list[Any] = list(text)
    for _ in range(layers):
        further = [(kind, *order) for kind, order in zip(now, seen(now), strict=True)]
        now = [_NUMBERS.setdefault(kind, len(_NUMBERS)) for kind in further]
    return now[-1] if now else None


def leftmost_kinds(word: str, layers: int) -> object:
    """What so many layers of leftmost unique hard attention can tell of a word.

    The kind of a position after one more layer is its kind before, and the kinds of the earlier
    positions in the order of their first occurrence: it fixes what a head attends to, whatever its
    scores. It also fixes the set of kinds, and so the truth of every formula of `once`.
    """

    def first(now: list[object]) -> Iterable[Iterable[object]]:
        return (dict.fromkeys(now[:i]) for i in range(len(now)))

    return refined(word + END, layers, first)


def kinds_both_ways(word: str, layers: int) -> Any:
    """What so many layers of unique hard attention can tell of a word if heads look both ways.

    The kind of a position after one more layer is its kind before, and four orders: of the kinds
    before it and of those after it, by first and by last occurrence. A head that also sees its own
    position, or both sides, attends to the first or the last of what these orders list.

    Cost: O(layers times length times number of kinds).
    """

    def before(now: list[Any], last: bool) -> list[Any]:
        order: dict[Any, None] = {}
        orders = []
        for kind in now:
            orders.append(tuple(order))
            if last:
                order.pop(kind, None)
            order[kind] = None  # Where it is still listed, it keeps its place.
        return orders

    def both_ways(now: list[Any]) -> Iterator[Iterable[Any]]:
        listed = [before(now, last) for last in (False, True)]
        listed += [before(now[::-1], last)[::-1] for last in (False, True)]
        return zip(*listed, strict=True)

    return refined(word + END, layers, both_ways)
