"""Words of groups by DeltaNet layers of reflections, as nets."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any

from ..nets.builder import Body
from ..nets.fields import field_of, integers
from ..nets.json_format import recurrent_net
from ..nets.recurrent import RecurrentNet
from .group_words import table
from .groups import GROUPS, closure, element_name, power, times

Matrix = tuple[tuple[Any, ...], ...]


@cache
def _then(p: Matrix, q: Matrix) -> Matrix:
    """First p, then q."""
    columns = [*zip(*p, strict=True)]
    return tuple(
        tuple(sum(a * b for a, b in zip(row, column, strict=True)) for column in columns)
        for row in q
    )


def _moved(p: Matrix, vector: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in p)


def by_reflections(
    mirrors: Sequence[Sequence[Any]],
    first: Sequence[Sequence[Any]],
    figure: Sequence[Sequence[Any]],
    start: Sequence[Any],
    generator: Body | None = None,
) -> RecurrentNet:
    """The two layers of `householder.read`: a letter is f, then h, for reflections f and h, or 1;
    layer 1 multiplies by h, layer 2 by f turned by the state of layer 1.

    Args:
        mirrors: vectors k across them. Letters are the rotations among the products, in the plane
            all products.
        first: vectors across the mirrors that h may be of.
        figure: the points that letters permute, or one of each pair of opposite ones.
        start: a vector that no symmetry but 1 leaves in place.
        generator: of the field, as a file names it.

    Cost: the number of pairs of states times that of letters.
    """
    field = field_of({"generator": generator} if generator else {})
    one, size = field.number(1), len(start)

    def vectors(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        return [tuple(integers([field.number(entry) for entry in row])) for row in rows]

    def reflection(k: Sequence[Any]) -> Matrix:
        norm = sum(entry * entry for entry in k)
        return tuple(
            tuple(integers([unit[i][j] - 2 * one * k[i] * k[j] / norm for j in range(size)]))
            for i in range(size)
        )

    unit = tuple(tuple(integers([one * (i == j) for j in range(size)])) for i in range(size))
    fs, hs = ([unit, *map(reflection, vectors(each))] for each in (mirrors, first))
    points, (begin,) = vectors(figure), vectors([start])

    @cache
    def name(letter: Matrix) -> str:
        moved = [_moved(letter, point) for point in points]
        opposite = [tuple(-entry for entry in point) for point in points]
        return "".join(str((points + opposite).index(point) % len(points)) for point in moved)

    letters: dict[str, tuple[Matrix, Matrix]] = {}
    for h, f in itertools.product(hs, fs):
        if size == 2 or (h == unit) == (f == unit):
            letters.setdefault(name(_then(f, h)), (f, h))
    tag = {f: f"f{i}" for i, f in enumerate(fs)}
    below: dict[Matrix, str] = {unit: "0"}
    first_emits, second_emits = {}, {}
    turned: dict[str, Matrix] = {}
    seen, todo = {(unit, unit)}, [(unit, unit)]
    for lower, upper in todo:
        for letter, (f, h) in letters.items():
            back = tuple(zip(*lower, strict=True))
            across, lower_after = _then(_then(lower, f), back), _then(lower, h)
            upper_after = _then(upper, across)
            between = f"{tag[across]}.{below.setdefault(lower_after, str(len(below)))}"
            turned[between] = across
            first_emits[_moved(lower, begin), letter] = between
            second_emits[_moved(upper_after, begin), between] = name(
                _then(upper_after, lower_after)
            )
            if (lower_after, upper_after) not in seen:
                seen.add((lower_after, upper_after))
                todo.append((lower_after, upper_after))

    def layer(step: Mapping[str, Matrix], emits: Mapping[Any, str], before: bool) -> Body:
        written = {
            (tuple(map(number_text, state)), x): wrote for (state, x), wrote in emits.items()
        }
        return {
            "start": [number_text(entry) for entry in begin],
            "before": before,
            "step": {
                x: {"matrix": [list(map(number_text, row)) for row in m]} for x, m in step.items()
            },
            "emit": table(written),
        }

    return recurrent_net(
        {
            "family": "recurrent",
            **({"generator": generator} if generator else {}),
            "alphabet": list(letters),
            "layers": [
                layer({x: h for x, (_, h) in letters.items()}, first_emits, True),
                layer(turned, second_emits, False),
            ],
        }
    )


def number_text(value: Any) -> Any:
    """A number as a file writes it."""
    if isinstance(value, Fraction | int):
        return int(value) if value.denominator == 1 else str(value)
    rest = [Fraction(int(c.numerator), int(c.denominator)) for c in value.to_list()]
    if len(rest) < 2:
        return number_text(rest[0] if rest else Fraction(0))
    return " + ".join(f"{c}*x^{i}" for i, c in enumerate(reversed(rest)) if c).replace("*x^0", "")


def cube() -> RecurrentNet:
    """The rotations of the cube, S4, by their permutations of its diagonals. Layer 1 uses five
    mirrors, of which each rotation axis is on one."""
    faces = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    first = [*faces, (1, -1, 0), (1, 1, 0)]
    mirrors = [*first, (1, 0, -1), (1, 0, 1), (0, 1, -1), (0, 1, 1)]
    diagonals = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)]
    return by_reflections(mirrors, first, diagonals, (1, 2, 3))


def octagon() -> RecurrentNet:
    """The symmetries of the regular octagon, D8. Layer 1 uses one mirror."""
    half = "1/2*x"
    corners = [(1, 0), (half, half), (0, 1), (f"-{half}", half)]
    corners += [(-1, 0), (f"-{half}", f"-{half}"), (0, -1), (half, f"-{half}")]
    # Across the mirrors are the corners and the sums of neighbours.
    between = [("1 + 1/2*x", half), (half, "1 + 1/2*x"), (f"-{half}", "1 + 1/2*x")]
    between.append(("-1 - 1/2*x", half))
    mirrors = [*corners[:4], *between]
    generator = {"polynomial": "x^2 - 2", "above": 0}
    return by_reflections(mirrors, mirrors[:1], corners, (1, 2), generator)


def by_signs(group: str) -> RecurrentNet:
    """A sign for each letter, of which `householder.tracked_by_signs` flips that of the letter."""
    elements = sorted(closure(GROUPS[group]))
    one, names = power(elements[0], 0), [element_name(x) for x in elements]
    emit: dict[tuple[Any, str], str] = {}
    for signs in itertools.product((1, -1), repeat=len(elements)):
        read = (x for x, sign in zip(elements, signs, strict=True) if sign < 0)
        emit |= dict.fromkeys(
            ((signs, name) for name in names), element_name(reduce(times, read, one))
        )
    flipped = {x: [1 - 2 * (x == y) for y in names] for x in names}
    return recurrent_net(
        {
            "family": "recurrent",
            "alphabet": names,
            "layers": [
                {
                    "start": [1] * len(names),
                    "step": {x: {"diagonal": signs} for x, signs in flipped.items()},
                    "emit": table(emit),
                }
            ],
        }
    )
