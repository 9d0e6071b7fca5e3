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

# A formula: a letter, "1" (true), or ("not", x), ("and" | "or", x, y), ("since", x, y), or of the
# future ("until", x, y).
Formula = str | tuple[Any, ...]

END = "$"


def neither(x: Formula) -> Formula:
    """Not x."""
    return ("not", x)


def once(x: Formula) -> Formula:
    """x held at some earlier position: true since x."""
    return ("since", "1", x)


def in_order(letters: str) -> Formula:
    """The letters, 1 for any, occur in this order, one `once` for each.

    >>> in_order("11") == once(once("1")), depth(in_order("aba"))
    (True, 3)
    """
    formula = once(letters[0])
    for letter in letters[1:]:
        formula = once(formula if letter == "1" else ("and", letter, formula))
    return formula


def previous(x: Formula) -> Formula:
    """x held at the position just before: false since x."""
    return ("since", ("not", "1"), x)


def every(x: Formula, *more: Formula) -> Formula:
    """The conjunction of formulas."""
    return ("and", x, every(*more)) if more else x


def depth(formula: Formula) -> int:
    """Nesting depth of `since` and `until`: the number of attention layers.

    >>> depth(once(previous("a")))
    2
    """
    return max(map(depth, formula[1:]), default=0) + (formula[0] in ("since", "until"))


def means(formula: Formula, word: str) -> bool:
    """Truth after a word by definition: y held at some earlier j, and x since then, for x since y;
    for x until y it will hold at some later one, and x up to there.

    >>> means(once("a"), "ba"), means(previous("a"), "ab")
    (True, False)
    """
    text = word + END
    places = range(len(text))

    @cache
    def truths(f: Formula) -> list[bool]:
        if isinstance(f, str):
            return [f in ("1", letter) for letter in text]
        parts = [truths(part) for part in f[1:]]
        if f[0] == "not":
            return [not truth for truth in parts[0]]
        if f[0] in ("and", "or"):
            return [*map(all if f[0] == "and" else any, zip(*parts, strict=True))]
        x, y = parts
        if f[0] == "since":
            return [any(y[j] and all(x[j + 1 : i]) for j in range(i)) for i in places]
        return [any(y[j] and all(x[i + 1 : j]) for j in places[i + 1 :]) for i in places]

    return truths(formula)[-1]


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
