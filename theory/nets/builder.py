"""Nets of attention by what is not zero in their matrices, with coordinates by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .attention import AttentionNet
from .json_format import attention_net

Body = dict[str, Any]
Rows = list[list[Any]]


def rows(width: int, *entries: Mapping[int, Any]) -> Rows:
    """Rows of a matrix by what is not zero.

    >>> rows(3, {0: 1}, {2: "1/2"})
    [[1, 0, 0], [0, 0, '1/2']]
    """
    matrix: Rows = [[0] * width for _ in entries]
    for row, entry in zip(matrix, entries, strict=True):
        for i, number in entry.items():
            row[i] = exact(number)
    return matrix


def exact(number: Any) -> Any:
    """A number as JSON has it.

    >>> exact(Fraction(1, 2)), exact(Fraction(2)), exact(3)
    ('1/2', 2, 3)
    """
    if not isinstance(number, Fraction):
        return number
    return int(number) if number.denominator == 1 else str(number)


def columns(width: int, *entries: Mapping[int, Any]) -> Rows:
    """The same by columns."""
    return [list(row) for row in zip(*rows(width, *entries), strict=True)]


# Rows of a matrix by the names of coordinates.
Named = Sequence[Mapping[str, Any]]


class Stream:
    """Coordinates by name, those of positions last, and what acts on them.

    Args:
        names: of coordinates of letters.
        positions: name -> expression of the position, or that and the name of a coordinate of
            letters that multiplies it.
    """

    def __init__(
        self, names: Sequence[str], positions: Mapping[str, str | tuple[str, str]]
    ) -> None:
        self._letters = len(names)
        self._positions = [
            given if isinstance(given, str) else [given[0], names.index(given[1])]
            for given in positions.values()
        ]
        self._place = {name: i for i, name in enumerate((*names, *positions))}

    def matrix(self, named: Named) -> Rows:
        """Rows, each by the names of what is not zero."""
        return rows(
            len(self._place),
            *({self._place[name]: entry for name, entry in row.items()} for row in named),
        )

    def head(
        self,
        attention: str,
        mask: str,
        query: Named,
        key: Named,
        copied: Mapping[str, str] | Sequence[tuple[Mapping[str, Any], str]],
        **rest: Any,
    ) -> Body:
        """A head that copies coordinates to others: from -> to, or sums of them, joined by +; or
        rows of its value, each with where it is written."""
        values = (
            [(dict.fromkeys(source.split("+"), 1), to) for source, to in copied.items()]
            if isinstance(copied, Mapping)
            else copied
        )
        return {
            "attention": attention,
            "mask": mask,
            "query": self.matrix(query),
            "key": self.matrix(key),
            "value": self.matrix([row for row, _ in values]),
            "output": columns(len(self._place), *({self._place[to]: 1} for _, to in values)),
        } | rest

    def mlp(self, units: Sequence[tuple[Mapping[str, Any], Any, str | Mapping[str, Any]]]) -> Body:
        """Units by what they add up, their bias, and where they write, perhaps times a number."""
        written = ({to: 1} if isinstance(to, str) else to for _, _, to in units)
        return {
            "in": self.matrix([summed for summed, _, _ in units]),
            "bias": [bias for _, bias, _ in units],
            "out": [list(row) for row in zip(*self.matrix(list(written)), strict=True)],
        }

    def net(
        self, alphabet: Sequence[str], embedding: Mapping[str, Mapping[str, Any]], **rest: Any
    ) -> AttentionNet:
        """The net over these coordinates, with its other fields."""
        body = {
            "family": "attention",
            "alphabet": list(alphabet),
            "embedding": {
                x: self.matrix([row])[0][: self._letters] for x, row in embedding.items()
            },
            "positions": self._positions,
        } | rest
        return attention_net(body)
