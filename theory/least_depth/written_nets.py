"""The project's constructions as nets in the format of `explicit_nets`: docs/examples/nets.

`python -m depthlaw.theory.least_depth.written_nets FOLDER` writes the files; a test compares them
with what is stored.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from pathlib import Path
from typing import Any

from ..formal_languages.fixed_precision import in_order
from ..formal_languages.hard_attention import blocks_formula
from ..formal_languages.temporal_logic import END, Formula, depth, neither, once
from .brackets import CLOSING, OPENING, climbed
from .explicit_nets import field_of
from .group_words import GROUPS, Element, cascade, closure, inverse, power, series, times
from .relu_maxima import Term, identity, relabellings

Body = dict[str, Any]
Rows = list[list[Any]]


def _rows(width: int, *entries: Mapping[int, Any]) -> Rows:
    """Rows of a matrix by what is not zero."""
    return [[row.get(i, 0) for i in range(width)] for row in entries]


def _columns(width: int, *entries: Mapping[int, Any]) -> Rows:
    """The same by columns."""
    return [list(row) for row in zip(*_rows(width, *entries), strict=True)]


# --- formulas of the past as hard attention -------------------------------------------------------

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


def of_formula(formula: Formula, alphabet: Sequence[str], side: str) -> Body:
    """The net of a formula: a layer of hard attention for each nesting of `since`.

    x since y copies y from the last earlier position where y holds or x does not: of the largest
    score, to the `side` given, "right" or "left" (to the left for `once` alone). A layer's MLP
    writes Boolean combinations, a unit for each conjunction. Formulas of `since` that look for the
    same share a head.

    Cost: that of `cubes` for each of its parts.
    """
    letters = [*alphabet, END]
    found: dict[Formula, None] = {}

    def list_parts(part: Formula) -> None:
        for inner in () if isinstance(part, str) else part[1:]:
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

    layers: list[dict[int | None, list[tuple[int | None, int]]]] = [
        {} for _ in range(depth(formula))
    ]
    for part in found:
        _, x, y = part
        score = coordinate(("or", y, neither(x)) if x != "1" else y)
        layers[depth(part) - 1].setdefault(score, []).append((coordinate(y), place[part]))
    answer = coordinate(formula)
    if answer is None:
        raise ValueError("the formula says the same of every word")
    width = len(place)
    everywhere = dict.fromkeys(range(len(letters)), 1)

    def head(score: int | None, copied: list[tuple[int | None, int]]) -> Body:
        return {
            "attention": f"hard-{side}",
            "mask": "strict",
            "query": _rows(width, everywhere),
            "key": _rows(width, {} if score is None else {score: 1}),
            "value": _rows(width, *({} if y is None else {y: 1} for y, _ in copied)),
            "output": _columns(width, *({to: 1} for _, to in copied)),
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
            "in": _rows(width, *first),
            "bias": bias,
            "out": _columns(width, *({to: 1} for _, to in units)),
        }

    return {
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
        "read": _rows(width, {answer: 1})[0],
    }


def _any_of(sum_of: tuple[Cube, ...], letter: str) -> bool:
    return any(group is None or letter in group for group, _ in sum_of)


def brackets_formula(types: int, deepest: int) -> Formula:
    """Brackets are matched and nested at most so deep: the stack of `brackets.network`, whose cells
    each copy what the last event of their level pushed.

    >>> depth(brackets_formula(2, 3))
    4
    """

    def either(formulas: Sequence[Formula]) -> Formula:
        return reduce(lambda x, y: ("or", x, y), formulas)

    push: list[Formula] = list(OPENING[:types])
    pop: list[Formula] = list(CLOSING[:types])
    wrong: list[Formula] = []
    left_open: list[Formula] = []
    for _ in range(deepest):
        event = either([*push, *pop])
        cell = [("since", neither(event), pushed) for pushed in push]
        pairs = itertools.permutations(range(types), 2)
        wrong += [("and", pop[one], cell[other]) for one, other in pairs]
        left_open += cell
        opening, full = either(push), either(cell)
        push = [("and", opening, held) for held in cell]
        pop = [("and", closing, neither(full)) for closing in pop]
    failed = once(either([*wrong, *push, *pop]))
    return neither(either([failed, *left_open]))


# --- lookups --------------------------------------------------------------------------------------

# Rows of a matrix by the names of coordinates.
Named = Sequence[Mapping[str, Any]]


class _Stream:
    """Coordinates by name, those of positions last, and heads over them."""

    def __init__(self, names: Sequence[str], positions: Mapping[str, str]) -> None:
        self.names, self.positions = [*names, *positions], dict(positions)
        self.place = {name: i for i, name in enumerate(self.names)}

    def rows(self, rows: Named) -> Rows:
        return _rows(
            len(self.names),
            *({self.place[name]: entry for name, entry in row.items()} for row in rows),
        )

    def head(
        self, attention: str, mask: str, query: Named, key: Named, copied: Mapping[str, str]
    ) -> Body:
        """A head that copies coordinates to others: from -> to, or sums of them, joined by +."""
        return {
            "attention": attention,
            "mask": mask,
            "query": self.rows(query),
            "key": self.rows(key),
            "value": self.rows([dict.fromkeys(source.split("+"), 1) for source in copied]),
            "output": [list(row) for row in zip(*self.rows([{to: 1} for to in copied.values()]))],
        }

    def mlp(self, units: Sequence[tuple[Mapping[str, Any], Any, str]]) -> Body:
        """Units by what they add up, their bias, and where they write."""
        return {
            "in": self.rows([summed for summed, _, _ in units]),
            "bias": [bias for _, bias, _ in units],
            "out": [list(row) for row in zip(*self.rows([{to: 1} for _, _, to in units]))],
        }

    def net(self, alphabet: Sequence[str], embedding: Mapping[str, Named], **rest: Any) -> Body:
        letters = len(self.names) - len(self.positions)
        return {
            "family": "attention",
            "alphabet": list(alphabet),
            "embedding": {x: self.rows([row])[0][:letters] for x, row in embedding.items()},
            "positions": list(self.positions.values()),
        } | rest


_PLACES = {"i": "i", "i^2": "i^2"}


def hops_causal(k: int, symbols: int) -> Body:
    """`hops.network.causal`, repaired: the symbol before, the last place after an equal one, then
    pointers that double; the answer takes one over for each binary digit of k - 1."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:symbols]
    lookups = (k - 1).bit_length()
    answers = [[*(f"{x} {t}" for x in letters), f"none {t}"] for t in range(lookups + 1)]
    stream = _Stream(
        [
            *letters,
            "none",
            *(f"before {x}" for x in letters),
            *(f"pointer {t}" for t in range(lookups + 1)),
            *itertools.chain(*answers),
        ],
        _PLACES,
    )
    everywhere = dict.fromkeys([*letters, "none"], 1)
    lookup = [{"i": 2}, {"i^2": -1}]
    heads = [
        # The score is -(j - (i - 1))^2, up to what is the same for all j.
        stream.head(
            "hard-right",
            "causal",
            [{"i": 1}, everywhere],
            [{"i": 2}, {"i": -2, "i^2": -1}],
            {x: f"before {x}" for x in letters},
        ),
        # The start wins where no symbol before is equal.
        stream.head(
            "hard-right",
            "causal",
            [*({x: 1} for x in letters), everywhere],
            [*({f"before {x}": 1} for x in letters), {"none": "1/2"}],
            {"i": "pointer 0", **dict(zip([*letters, "none"], answers[0], strict=True))},
        ),
    ]
    held = answers[0]
    for t in range(lookups):
        copied = {f"pointer {t}": f"pointer {t + 1}"}
        if (k - 1) >> t & 1:
            copied |= dict(zip(held, answers[t + 1], strict=True))
            held = answers[t + 1]
        heads.append(
            stream.head("hard-right", "causal", [{f"pointer {t}": 1}, everywhere], lookup, copied)
        )
    return stream.net(
        letters,
        {x: {x: 1} for x in letters} | {"^": {"none": 1}},
        start="^",
        layers=[{"heads": [head]} for head in heads],
        labels=[*letters, "none"],
        read=stream.rows([{name: 1} for name in held]),
    )


def hops_strict(k: int, symbols: int, longest: int) -> Body:
    """`hops.network.symbol_carrying` under the strict mask: the last equal symbol, then pointers
    that double; the answer takes one over for each binary digit of k. A token that points to itself
    keeps what it holds; its MLPs take integers up to `longest`, the tokens of a word."""
    letters = [*"abcdefghijklmnopqrstuvwxyz"[:symbols], "none"]
    lookups = k.bit_length()
    looked = [f"looked up {x}" for x in ("pointer", *letters)]
    steps = range(1, lookups + 1)
    stream = _Stream(
        [
            *letters,
            "pointer",
            "itself",
            *(f"{x} {t}" for t in steps for x in looked),
            *(f"{x} {t}" for t in steps for x in ("pointer", *letters)),
        ],
        _PLACES,
    )
    everywhere = dict.fromkeys(letters, 1)
    layers = [
        {
            "heads": [
                stream.head(
                    "hard-right",
                    "strict",
                    [*({x: 1} for x in letters[:-1]), everywhere],
                    [*({x: 1} for x in letters[:-1]), {"none": "1/2"}],
                    # One more than its place; of the start 0.
                    {"+".join(["i", *letters[:-1]]): "pointer"},
                )
            ],
            "mlp": stream.mlp([({"pointer": 1, "i": -1}, 1, "itself")]),
        }
    ]
    pointer, held = "pointer", letters
    for t in steps:
        takes = k >> (t - 1) & 1
        given = {pointer: f"looked up pointer {t}"}
        units = [
            ({f"looked up pointer {t}": 1, "itself": -longest}, 0, f"pointer {t}"),
            ({pointer: 1, "itself": longest}, -longest, f"pointer {t}"),
        ]
        if takes:
            for x, name in zip(letters, held, strict=True):
                given[name] = f"looked up {x} {t}"
                units += [
                    ({f"looked up {x} {t}": 1, "itself": -1}, 0, f"{x} {t}"),
                    ({name: 1, "itself": 1}, -1, f"{x} {t}"),
                ]
            held = [f"{x} {t}" for x in letters]
        head = stream.head(
            "hard-right",
            "strict",
            [{pointer: 1}, everywhere],
            [{"i": 2}, {"i^2": -1}],
            given,
        )
        layers.append({"heads": [head], "mlp": stream.mlp(units)})
        pointer = f"pointer {t}"
    return stream.net(
        letters[:-1],
        {x: {x: 1} for x in letters[:-1]} | {"^": {"none": 1}},
        start="^",
        layers=layers,
        labels=letters,
        read=stream.rows([{name: 1} for name in held]),
    )


def kgram(k: int, symbols: int) -> Body:
    """As `markov_order.network`, with a head for each of the k symbols before in place of one with
    weights in powers of 3: then the mean over all places behind the same k symbols."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:symbols]
    back = range(1, k + 1)
    stream = _Stream(
        [*letters, "start", *(f"{x} {r}" for r in back for x in letters), *(f"{x}?" for x in letters)],
        _PLACES,
    )
    everywhere = dict.fromkeys([*letters, "start"], 1)
    first = [
        stream.head(
            "average",
            "causal",
            [{"i": 1}, everywhere],
            [{"i": 2}, {"i": -2 * r, "i^2": -1}],
            {x: f"{x} {r}" for x in letters},
        )
        for r in back
    ]
    second = stream.head(
        "average",
        "causal",
        [{x if r == 1 else f"{x} {r - 1}": 1} for r in back for x in letters],
        [{f"{x} {r}": 1} for r in back for x in letters],
        {x: f"{x}?" for x in letters},
    )
    return stream.net(
        letters,
        {x: {x: 1} for x in letters} | {"^": {"start": 1}},
        start="^",
        layers=[{"heads": first}, {"heads": [second]}],
        labels=list(letters),
        read=stream.rows([{f"{x}?": 1} for x in letters]),
    )


def composition(layers: int) -> Body:
    """`composition.looked_up`: 2^layers - 1 maps on 0 and 1. A value is a place among the values of
    the map that is applied next, which stand before it."""
    stream = _Stream(
        ["1", "value", *(f"place {t}" for t in range(1, layers + 1))],
        _PLACES | {"next": "i - (1 - (-1)^i)/2 - 2"},
    )
    heads = []
    for t in range(1, layers + 1):
        at = {"next": 1, "value": 1} if t == 1 else {f"place {t - 1}": 1}
        heads.append(
            stream.head(
                "hard-right",
                "causal",
                [at, {"1": 1}],
                [{"i": 2}, {"i^2": -1}],
                {"+".join(at): f"place {t}"},
            )
        )
    return stream.net(
        "01",
        {"0": {"1": 1}, "1": {"1": 1, "value": 1}},
        layers=[{"heads": [head]} for head in heads],
        labels=["0", "1"],
        # The values of the last map are at the places -2 and -1.
        read=stream.rows([{}, {f"place {layers}": 2, "1": 3}]),
    )


def ordered(n: int) -> Body:
    """The logits of `two_heads`: one head finds the last zero, the other the first one."""
    found = ["zero at", "zero is", "one at", "one is"]
    stream = _Stream(["1", "one", *found], {"i": "i"})

    def head(sign: int, at: str, is_one: str) -> Body:
        return stream.head(
            "softmax",
            "strict",
            [{"1": 1}],
            [{"i": sign * n, "1": sign * n, "one": -sign * n * n}],
            {"i+1": at, "one": is_one},
        ) | {"base": 2}

    read = {"one at": 1, "zero at": -1, "zero is": n, "one is": -n, "1": f"{2 * n - 1}/2"}
    return stream.net(
        "01",
        {"0": {"1": 1}, "1": {"1": 1, "one": 1}, "?": {"1": 1}},
        end="?",
        layers=[{"heads": [head(1, "zero at", "zero is"), head(-1, "one at", "one is")]}],
        read=stream.rows([read])[0],
    )


# --- words of groups ------------------------------------------------------------------------------


def _name(element: Element) -> str:
    return "".join(map(str, element))


def _table(emitted: Mapping[tuple[Any, str], str]) -> Body:
    """What a layer writes, as a table: state -> letter read -> letter written."""
    letters = list(dict.fromkeys(letter for _, letter in emitted))
    states = dict.fromkeys(state for state, _ in emitted)
    return {
        "letters": " ".join(letters),
        "rows": [
            [list(state), " ".join(emitted.get((state, letter), "-") for letter in letters)]
            for state in states
        ],
    }


def by_cascade(group: str, m: int, modulus: int | None) -> Body:
    """The layers of `group_words.cascade`, over the m-th roots of unity: 1 and -1, or powers of one
    modulo a prime. A letter names an element of a subgroup and what the layers below stand for."""
    elements = closure(GROUPS[group])
    root = 1
    if modulus is None:
        if m != 2:
            raise ValueError("roots of an order above 2 take a modulus")
        root = -1
    else:
        root = next(x for x in range(2, modulus) if _order(x, modulus) == m)
    one = power(min(elements), 0)

    def number(exponent: int) -> int:
        return root**exponent if modulus is None else pow(root, exponent, modulus)

    read = {_name(x): (x, one) for x in sorted(elements)}
    body_layers = []
    layers = cascade(series(elements, m), m)
    for at, layer in enumerate(layers, 1):
        last, wrote = at == len(layers), {}
        emit = {}
        for state in layer.coset:
            for letter, (x, below) in read.items():
                after = tuple((h + e) % m for h, e in zip(state, layer.exponents[x], strict=True))
                rest = times(times(layer.coset[state], x), inverse(layer.coset[after]))
                product = times(layer.coset[after], below)
                name = _name(product) if last else f"{_name(rest)}.{_name(product)}"
                wrote[name] = (rest, product)
                emit[tuple(map(number, state)), letter] = name
        body_layers.append(
            {
                "start": [1] * len(next(iter(layer.coset))),
                "before": True,
                "step": {
                    letter: {"diagonal": [number(e) for e in layer.exponents[x]]}
                    for letter, (x, _) in read.items()
                },
                "emit": _table(emit),
            }
        )
        read = wrote
    return {
        "family": "recurrent",
        **({} if modulus is None else {"modulus": modulus}),
        "alphabet": [_name(x) for x in sorted(elements)],
        "layers": body_layers,
    }


def _order(x: int, modulus: int) -> int:
    return next(n for n in range(1, modulus) if pow(x, n, modulus) == 1)


Matrix = tuple[tuple[Any, ...], ...]


@cache
def _then(p: Matrix, q: Matrix) -> Matrix:
    """First p, then q."""
    return tuple(tuple(sum(a * b for a, b in zip(row, column)) for column in zip(*p)) for row in q)


def _moved(p: Matrix, vector: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in p)


def by_reflections(
    mirrors: Sequence[Sequence[Any]],
    first: Sequence[Sequence[Any]],
    figure: Sequence[Sequence[Any]],
    start: Sequence[Any],
    generator: Body | None = None,
) -> Body:
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
        return [tuple(field.number(entry) for entry in row) for row in rows]

    def reflection(k: Sequence[Any]) -> Matrix:
        norm = sum(entry * entry for entry in k)
        return tuple(
            tuple(one * (i == j) - 2 * one * k[i] * k[j] / norm for j in range(size))
            for i in range(size)
        )

    unit = tuple(tuple(one * (i == j) for j in range(size)) for i in range(size))
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
        written = {(tuple(map(_number, state)), x): wrote for (state, x), wrote in emits.items()}
        return {
            "start": [_number(entry) for entry in begin],
            "before": before,
            "step": {x: {"matrix": [list(map(_number, row)) for row in m]} for x, m in step.items()},
            "emit": _table(written),
        }

    return {
        "family": "recurrent",
        **({"generator": generator} if generator else {}),
        "alphabet": list(letters),
        "layers": [
            layer({x: h for x, (_, h) in letters.items()}, first_emits, True),
            layer(turned, second_emits, False),
        ],
    }


def _number(value: Any) -> Any:
    """A number as a file writes it."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else str(value)
    rest = [Fraction(int(c.numerator), int(c.denominator)) for c in value.to_list()]
    if len(rest) < 2:
        return _number(rest[0] if rest else Fraction(0))
    return " + ".join(f"{c}*x^{i}" for i, c in enumerate(reversed(rest)) if c).replace("*x^0", "")


def cube() -> Body:
    """The rotations of the cube, S4, by their permutations of its diagonals. Layer 1 uses five
    mirrors, of which each rotation axis is on one."""
    faces = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    first = [*faces, (1, -1, 0), (1, 1, 0)]
    mirrors = [*first, (1, 0, -1), (1, 0, 1), (0, 1, -1), (0, 1, 1)]
    diagonals = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)]
    return by_reflections(mirrors, first, diagonals, (1, 2, 3))


def octagon() -> Body:
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


# --- maxima ---------------------------------------------------------------------------------------


def maximum_of_blocks(n: int) -> Body:
    """`relu_maxima.net`: ReLU(x_i - x_j) for all pairs, then ReLU(h - h') for each block.

    Numbers pass a layer as ReLU(t) - ReLU(-t): in the first one x_1, in the second what is not
    under a ReLU there.
    """
    pairs = list(itertools.permutations(range(n), 2))
    units = {pair: i for i, pair in enumerate(pairs)}
    width = len(pairs) + 2
    first = [[(k == i) - (k == j) for k in range(n)] for i, j in pairs]
    first += [[int(k == 0) for k in range(n)], [-int(k == 0) for k in range(n)]]

    def form(terms: Sequence[Term]) -> list[int]:
        """A sum of terms max(x_i, x_j) over the first layer's units."""
        total = [0] * width
        for i, j in terms:
            # x_j = x_1 + ReLU(x_j - x_1) - ReLU(x_1 - x_j), and max(x_i, x_j) = x_j + ReLU(x_i - x_j).
            total[-2] += 1
            total[-1] -= 1
            if j:
                total[units[j, 0]] += 1
                total[units[0, j]] -= 1
            if i != j:
                total[units[i, j]] += 1
        return total

    weights: dict[tuple[int, ...], Fraction] = {}
    straight = [Fraction(0)] * width
    names = relabellings(n).tolist()
    for weight, block in identity(n):
        for new in names:
            h, below = (
                form([(min(a, b), max(a, b)) for a, b in ((new[i], new[j]) for i, j in side)])
                for side in block
            )
            share = weight / len(names)
            unit = tuple(x - y for x, y in zip(h, below, strict=True))
            weights[unit] = weights.get(unit, Fraction(0)) + share
            straight = [x + share * y for x, y in zip(straight, below, strict=True)]
    # The second layer's straight unit in whole numbers.
    bottom = math.lcm(*(entry.denominator for entry in straight))
    passed = [int(entry * bottom) for entry in straight]
    return {
        "family": "relu",
        "layers": [
            {"matrix": first},
            {"matrix": [*map(list, weights), passed, [-entry for entry in passed]]},
        ],
        "out": [*map(_number, weights.values()), f"1/{bottom}", f"-1/{bottom}"],
    }


def maximum_of_pairs() -> Body:
    """The maximum of four numbers as that of two maxima, with integer weights."""
    one = [[1, -1, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0]]
    two = [[row[2], row[3], row[0], row[1]] for row in one]
    left, right = [1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1]
    return {
        "family": "relu",
        "layers": [
            {"matrix": [*one, *two]},
            {
                "matrix": [
                    [x - y for x, y in zip(left, right, strict=True)],
                    right,
                    [-x for x in right],
                ]
            },
        ],
        "out": [1, 1, -1],
    }


# --- graphs ---------------------------------------------------------------------------------------


def identity_weights(n: int, layers: int) -> Body:
    """X -> X X^T X on A + I, so many times, for n vertices; read where the rows of the first and
    the second one meet."""
    rows = ["".join(bits) for bits in itertools.product("01", repeat=n)]
    unit = _rows(n, *({i: 1} for i in range(n)))
    head = {"attention": "linear", "query": unit, "key": unit, "value": unit, "output": unit}
    return {
        "family": "attention",
        "alphabet": rows,
        "embedding": {row: [*map(int, row)] for row in rows},
        "layers": [{"heads": [head], "residual": False}] * layers,
        "read": _rows(n, {1: 1})[0],
        "at": "first",
    }


# --- files ----------------------------------------------------------------------------------------


def by_signs(group: str) -> Body:
    """A sign for each letter, of which `householder.tracked_by_signs` flips that of the letter."""
    elements = sorted(closure(GROUPS[group]))
    one, names = power(elements[0], 0), [_name(x) for x in elements]
    emit = {}
    for signs in itertools.product((1, -1), repeat=len(elements)):
        read = (x for x, sign in zip(elements, signs, strict=True) if sign < 0)
        emit |= dict.fromkeys(((signs, name) for name in names), _name(reduce(times, read, one)))
    flipped = {x: [1 - 2 * (x == y) for y in names] for x in names}
    return {
        "family": "recurrent",
        "alphabet": names,
        "layers": [
            {
                "start": [1] * len(names),
                "step": {x: {"diagonal": signs} for x, signs in flipped.items()},
                "emit": _table(emit),
            }
        ],
    }


def at_least(k: int) -> Formula:
    """At least k letters a.

    >>> depth(at_least(3))
    3
    """
    return once(("and", "a", at_least(k - 1)) if k > 1 else "a")


# Of a file: task, parameters, class, and what writes the net.
FILES: dict[str, tuple[str, dict[str, Any], str, Callable[[], Body]]] = {
    "letters-hard": (
        "letters", {"k": 3}, "uhat-right", lambda: of_formula(at_least(3), "ab", "right")
    ),
    "stair-hard": (
        "stair", {"k": 3}, "uhat-right", lambda: of_formula(once(climbed(3)), "abc", "right")
    ),
    "blocks-hard": (
        "blocks", {"k": 3}, "uhat-right", lambda: of_formula(blocks_formula(3), "ab", "right")
    ),
    "blocks-hard-left": (
        "blocks",
        {"k": 3},
        "uhat-left",
        lambda: of_formula(("and", in_order("a", 3), neither(in_order("b", 3))), "ab", "left"),
    ),
    "dyck-hard": (
        "dyck",
        {"k": 2, "D": 2},
        "uhat-right",
        lambda: of_formula(brackets_formula(2, 2), "([)]", "right"),
    ),
    "c2-deltanet": ("elementary-words", {"group": "C2"}, "deltanet", lambda: by_signs("C2")),
    "d8-deltanet": ("dihedral-words", {"group": "D8"}, "deltanet", octagon),
    "s4-deltanet": ("s4-words", {"group": "S4"}, "deltanet", cube),
    "s4-diagonal": (
        "group-words", {"group": "S4"}, "diagonal-ssm", lambda: by_cascade("S4", 12, 13)
    ),
    "d8-signs": ("two-group-words", {"group": "D8"}, "sign-ssm", lambda: by_cascade("D8", 2, None)),
    "hops-causal": (
        "hops", {"k": 3, "symbols": 2}, "one-causal-head", lambda: hops_causal(3, 2)
    ),
    "hops-strict": (
        "hops", {"k": 3, "symbols": 2}, "one-strict-head", lambda: hops_strict(3, 2, 64)
    ),
    "kgram": ("kgram", {"k": 2, "symbols": 3}, "softmax-heads", lambda: kgram(2, 3)),
    "composition-lookups": (
        "composition", {"k": 3, "N": 2}, "one-lookup", lambda: composition(2)
    ),
    "ordered-two-heads": ("ordered", {"n": 5}, "linear-readout-two-heads", lambda: ordered(5)),
    "maximum-of-five": ("maximum", {"n": 5}, "relu", lambda: maximum_of_blocks(5)),
    "maximum-of-four-integer": ("maximum", {"n": 4}, "relu-integer", maximum_of_pairs),
    "connectivity-linear": (
        "connectivity",
        {"n": 5, "D": 4},
        "linear-attention-graph",
        lambda: identity_weights(5, 2),
    ),
}  # fmt: skip


def written(name: str) -> str:
    """The text of a file of docs/examples/nets, one of `FILES`."""
    task, parameters, kind, make = FILES[name]
    return _text({"task": task, "parameters": parameters, "class": kind} | make()) + "\n"


def _text(value: Any, indent: int = 0) -> str:
    """JSON with rows of numbers or letters in one line."""
    inner = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_text(each, indent + 1)}" for key, each in value.items()]
        return "{" + inner + ("," + inner).join(items) + "\n" + " " * indent + "}"
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list) or len(line) <= 98 - indent or _flat(value):
        return line
    return "[" + inner + ("," + inner).join(_text(each, indent + 1) for each in value) + "]"


def _flat(value: list[Any]) -> bool:
    return not any(isinstance(each, list | dict) for each in value)


if __name__ == "__main__":
    for each in FILES:
        (Path(sys.argv[1]) / f"{each}.json").write_text(written(each), encoding="utf-8")
