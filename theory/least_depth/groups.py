"""Finite groups of permutations: their elements, subgroups and series."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from math import lcm

# Place i holds the image of i.
Element = tuple[int, ...]

# Generators.
GROUPS: dict[str, tuple[Element, ...]] = {
    "C2": ((1, 0),),
    "C3": ((1, 2, 0),),
    "C4": ((1, 2, 3, 0),),
    "C6": ((1, 2, 3, 4, 5, 0),),
    "C8": ((1, 2, 3, 4, 5, 6, 7, 0),),
    "C2xC4": ((1, 0, 2, 3, 4, 5), (0, 1, 3, 4, 5, 2)),
    "S3": ((1, 2, 0), (1, 0, 2)),
    "D4": ((1, 2, 3, 0), (0, 3, 2, 1)),
    "D8": ((1, 2, 3, 4, 5, 6, 7, 0), (0, 7, 6, 5, 4, 3, 2, 1)),
    # Right multiplication by i and by j on 1, -1, i, -i, j, -j, k, -k.
    "Q8": ((2, 3, 1, 0, 7, 6, 4, 5), (4, 5, 6, 7, 1, 0, 3, 2)),
    # x -> x + 1 and x -> 3 x modulo 13, of order 13 and 3.
    "C13:C3": (tuple((x + 1) % 13 for x in range(13)), tuple(3 * x % 13 for x in range(13))),
    "A4": ((1, 2, 0, 3), (1, 0, 3, 2)),
    "S4": ((1, 2, 3, 0), (1, 0, 2, 3)),
    # The matrices (1 0; 1 1), (1 1; 0 1) and (2 0; 0 1) on the eight vectors other than 0 over F_3.
    "SL(2,3)": ((3, 7, 2, 6, 1, 5, 0, 4), (0, 1, 3, 4, 2, 7, 5, 6)),
    "GL(2,3)": ((3, 7, 2, 6, 1, 5, 0, 4), (0, 1, 3, 4, 2, 7, 5, 6), (0, 1, 5, 6, 7, 2, 3, 4)),
    "A5": ((1, 2, 0, 3, 4), (1, 2, 3, 4, 0)),
    "S5": ((1, 0, 2, 3, 4), (1, 2, 3, 4, 0)),
}


def times(p: Element, q: Element) -> Element:
    """The product: first p, then q.

    >>> times((1, 2, 0), (1, 0, 2))
    (0, 2, 1)
    """
    return tuple(q[i] for i in p)


def power(p: Element, n: int) -> Element:
    """The n-th power, $n \\geq 0$.

    >>> power((1, 2, 0), 3)
    (0, 1, 2)
    """
    result = tuple(range(len(p)))
    for _ in range(n):
        result = times(result, p)
    return result


def inverse(p: Element) -> Element:
    """The inverse permutation.

    >>> inverse((1, 2, 0))
    (2, 0, 1)
    """
    return tuple(sorted(range(len(p)), key=p.__getitem__))


def closure(generators: Iterable[Element]) -> frozenset[Element]:
    """The group that permutations generate. Cost: its order times the number of generators."""
    listed = list(generators)
    found, new = {power(listed[0], 0)}, [power(listed[0], 0)]
    for p in new:
        for q in (times(p, generator) for generator in listed):
            if q not in found:
                found.add(q)
                new.append(q)
    return frozenset(found)


def order(p: Element) -> int:
    """The least n >= 1 for which the n-th power is 1."""
    return next(n for n in count(1) if power(p, n) == power(p, 0))


def exponent(group: Iterable[Element]) -> int:
    """The least n for which every n-th power is 1."""
    return lcm(*map(order, group))


def series(group: frozenset[Element], m: int) -> list[frozenset[Element]]:
    """The group and its descending subgroups G_{i+1} = G_i' G_i^m, down to 1 or to one that stays.

    If the exponent of the group divides m this is the derived series.
    """
    found = [group]
    while len(group := found[-1]) > 1:
        commutators = {
            times(times(inverse(p), inverse(q)), times(p, q)) for p in group for q in group
        }
        smaller = closure(commutators | {power(p, m) for p in group})
        if smaller == group:
            break
        found.append(smaller)
    return found


def series_length(name: str, m: int) -> int | None:
    """The least k with G_k = 1 in that series; None if there is none.

    >>> series_length("S4", 12), series_length("C8", 2), series_length("S3", 2)
    (3, 3, None)
    """
    parts = series(closure(GROUPS[name]), m)
    return len(parts) - 1 if len(parts[-1]) == 1 else None


def element_name(element: Element) -> str:
    """An element by the images of 0, 1, and so on, with spaces where there are more than ten.

    >>> element_name((1, 2, 0))
    '120'
    """
    return ("" if len(element) <= 10 else " ").join(map(str, element))
