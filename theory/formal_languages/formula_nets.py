"""Formulas of the past as nets of unique hard attention, in the format of `nets.json_format`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..nets.attention import AttentionNet
from ..nets.builder import Body, columns, rows
from ..nets.json_format import attention_net
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
    place: dict[Any, int] = {x: i for i, x in enumerate((*letters, *found))}
    written: list[dict[tuple[Cube, ...], None]] = [{} for _ in range(depth(formula) + 1)]

    def coordinate(part: Formula) -> int | None:
        """Where a combination stands; None for one that is the same everywhere."""
        if part in place:
            return place[part]
        sum_of = cubes(part, letters)
        if sum_of in ((), ((None, ()),)):
            return None
        written[depth(part)][sum_of] = None
        return place.setdefault(sum_of, len(place))

    everywhere = dict.fromkeys(range(len(letters)), 1)

    def copied_from(part: Formula) -> dict[int, int]:
        at = coordinate(part)
        if at is None:
            return everywhere if cubes(part, letters) else {}
        return {at: 1}

    layers: list[dict[int | None, list[tuple[dict[int, int], int]]]] = [
        {} for _ in range(depth(formula))
    ]
    for part in found:
        x, y = part[1:]
        score = coordinate(("or", y, neither(x)) if x != "1" else y)
        layers[depth(part) - 1].setdefault(score, []).append((copied_from(y), place[part]))
    answer = copied_from(formula)
    width = len(place)

    def head(score: int | None, copied: list[tuple[dict[int, int], int]]) -> Body:
        return {
            "attention": f"hard-{side}",
            "mask": "strict",
            "query": rows(width, everywhere),
            "key": rows(width, {} if score is None else {score: 1}),
            "value": rows(width, *(row for row, _ in copied)),
            "output": columns(width, *({to: 1} for _, to in copied)),
        }

    def mlp(sums: Mapping[tuple[Cube, ...], None]) -> Body:
        units = [(cube, place[sum_of]) for sum_of in sums for cube in sum_of]
        first, bias = [], []
        for (group, literals), _ in units:
            first.append(
                {place[letter]: 1 for letter in group or ()}
                | {place[part]: 1 if truth else -1 for part, truth in literals}
            )
            bias.append(1 - (group is not None) - sum(truth for _, truth in literals))
        return {
            "in": rows(width, *first),
            "bias": bias,
            "out": columns(width, *({to: 1} for _, to in units)),
        }

    body = {
        "family": "attention",
        "alphabet": list(alphabet),
        "end": END,
        "embedding": {
            letter: [
                int(letter == name or (name in written[0] and _any_of(name, letter)))
                for name in place
            ]
            for letter in letters
        },
        "layers": [
            {"heads": [head(*of) for of in heads.items()]} | ({"mlp": mlp(sums)} if sums else {})
            for heads, sums in zip(layers, written[1:], strict=True)
        ],
        "read": rows(width, answer)[0],
    }
    return attention_net(body)


def _any_of(sum_of: tuple[Cube, ...], letter: str) -> bool:
    return any(group is None or letter in group for group, _ in sum_of)
