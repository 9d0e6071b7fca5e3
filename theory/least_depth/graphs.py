"""Directed graphs as lists of edges: all of them, and distances in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations

Edge = tuple[int, int]


def all_graphs(vertices: int) -> Iterator[list[Edge]]:
    """Every directed graph without loops."""
    pairs = list(permutations(range(vertices), 2))
    for many in range(len(pairs) + 1):
        for some in combinations(pairs, many):
            yield list(some)


def distances(vertices: int, edges: Iterable[Edge]) -> list[list[int]]:
    """The distance from each vertex to each, by breadth-first search; -1 where no path leads.

    >>> distances(3, [(0, 1), (1, 2)])
    [[0, 1, 2], [-1, 0, 1], [-1, -1, 0]]
    """
    after: list[list[int]] = [[] for _ in range(vertices)]
    for source, target in edges:
        after[source].append(target)
    rows = []
    for root in range(vertices):
        row = [-1] * vertices
        row[root], queue = 0, [root]
        for vertex in queue:
            for target in after[vertex]:
                if row[target] < 0:
                    row[target] = row[vertex] + 1
                    queue.append(target)
        rows.append(row)
    return rows
