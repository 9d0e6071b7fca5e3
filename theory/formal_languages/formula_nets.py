"""Formulas of the past as nets of unique hard attention, in the format of `nets.json_format`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream
from .temporal_logic import END, Formula, depth, neither

# Letters of which one stands here, or None for any; formulas of `since`, each with its truth.
Cube = tuple[frozenset[str] | None, tuple[tuple[Formula, bool], ...]]


def _since(formula: Formula) -> tuple[Formula, ...]:
    """The formulas of `since` of which, and of letters, a formula is a Boolean combination."""
    if formula[0] == "since":
        return (formula,)
    inner = () if isinstance(formula, str) else formula[1:]
    return tuple(dict.fromkeys(found for part in inner for found in _since(part)))


def _holds(formula: Formula, letter: str, truths: Mapping[Formula, bool]) -> bool:
    if isinstance(formula, str):
        return formula in ("1", letter)
    if formula[0] == "since":
        return truths[formula]
    parts = (_holds(part, letter, truths) for part in formula[1:])
    return not next(parts) if formula[0] == "not" else (all if formula[0] == "and" else any)(parts)


def cubes(formula: Formula, letters: Sequence[str]) -> tuple[Cube, ...]:
    """Conjunctions, no two of which are true at once, whose sum a formula is.

    Cost: exponential in the number of formulas of `since` of which it is made.

    >>> from depthlaw.theory.formal_languages.temporal_logic import once
    >>> cubes(("or", "a", once("b")), "ab") == (
    ...     (frozenset("a"), ()),
    ...     (frozenset("b"), ((once("b"), True),)),
    ... )
    True
    """
    # One order for all formulas, so that equal ones are equal sums.
    inner = tuple(sorted(_since(formula), key=repr))

    def split(table: tuple[bool, ...], over: tuple[Formula, ...]) -> Iterator[Any]:
        if all(table) or not any(table):
            yield from [()] if all(table) else []
            return
        halves = table[: len(table) // 2], table[len(table) // 2 :]
        if halves[0] == halves[1]:
            yield from split(halves[0], over[1:])
            return
        for truth, half in zip((True, False), halves, strict=True):
            yield from (((over[0], truth), *rest) for rest in split(half, over[1:]))

    alike: dict[tuple[bool, ...], list[str]] = {}
    for letter in letters:
        table = tuple(
            _holds(formula, letter, dict(zip(inner, truths, strict=True)))
            for truths in itertools.product((True, False), repeat=len(inner))
        )
        alike.setdefault(table, []).append(letter)
    return tuple(
        (None if len(alike) == 1 else frozenset(group), literals)
        for table, group in alike.items()
        for literals in split(table, inner)
    )


def of_formula(formula: Formula, alphabet: Sequence[str], side: str) -> AttentionNet:
    """The net of a formula: a layer of hard attention for each nesting of `since`.

    x since y copies y from the last earlier position where y holds or x does not: of the largest
    score, to the `side` given, "right" or "left" (to the left for `once` alone). A layer's MLP
    writes Boolean combinations, a unit for each conjunction. Formulas of `since` that look for the
    same share a head.

    Cost: that of `cubes` for each of its parts.
    """
    letters = [*alphabet, END]
    found: dict[tuple[Any, ...], None] = {}

    def list_parts(part: Formula) -> None:
        if not isinstance(part, str):
            for inner in part[1:]:
                list_parts(inner)
            if part[0] == "since":
                found[part] = None

    list_parts(formula)
    # A coordinate for each letter, each formula of `since`, and each combination that is needed.
    place: dict[Any, str] = {x: str(i) for i, x in enumerate((*letters, *found))}
    written: list[dict[tuple[Cube, ...], None]] = [{} for _ in range(depth(formula) + 1)]

    def truth(part: Formula) -> dict[str, int]:
        """What is 1 where a combination holds: its coordinate, or letters where it always does."""
        if part not in place:
            sum_of = cubes(part, letters)
            if sum_of in ((), ((None, ()),)):
                return everywhere if sum_of else {}
            written[depth(part)][sum_of] = None
            return {place.setdefault(sum_of, str(len(place))): 1}
        return {place[part]: 1}

    everywhere = dict.fromkeys((place[letter] for letter in letters), 1)
    # By layer and score the rows that heads copy; a score that is the same everywhere is none.
    copied: list[dict[tuple[str, ...], list[Any]]] = [{} for _ in range(depth(formula))]
    for part in found:
        x, y = part[1:]
        score = tuple(truth(("or", y, neither(x)) if x != "1" else y))
        heads = copied[depth(part) - 1].setdefault(score if len(score) == 1 else (), [])
        heads.append((truth(y), place[part]))
    answer, stream = truth(formula), Stream([*place.values()], {})

    def unit(cube: Cube, to: str) -> tuple[dict[str, int], int, str]:
        group, literals = cube
        summed = {place[letter]: 1 for letter in group or ()}
        summed |= {place[part]: 1 if holds else -1 for part, holds in literals}
        return summed, 1 - (group is not None) - sum(holds for _, holds in literals), to

    layers = []
    for scores, sums in zip(copied, written[1:], strict=True):
        attending = (f"hard-{side}", "strict", [everywhere])
        layer: Body = {
            "heads": [
                stream.head(*attending, [dict.fromkeys(score, 1)], rows)
                for score, rows in scores.items()
            ]
        }
        if sums:
            units = [unit(cube, place[sum_of]) for sum_of in sums for cube in sum_of]
            layer["mlp"] = stream.mlp(units)
        layers.append(layer)

    def at_first(name: Any, letter: str) -> bool:
        return name == letter or (name in written[0] and _any_of(name, letter))

    embedding = {x: {place[name]: 1 for name in place if at_first(name, x)} for x in letters}
    read = stream.matrix([answer])[0]
    return stream.net(alphabet, embedding, end=END, layers=layers, read=read)


def _any_of(sum_of: tuple[Cube, ...], letter: str) -> bool:
    return any(group is None or letter in group for group, _ in sum_of)
