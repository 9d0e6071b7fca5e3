"""Nets of attention for tasks that everybody asks for: majority, counting, sorting, recall of a
key, copying, equality, brackets of one kind, Match3, addition, multiplication and circuits.

What a net holds is exact, and no claim rests on it: `depthlaw tasks check` runs the nets that are
stored, and tests run them at other sizes. docs/fewer-layers.md says why fewer layers fail.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from string import ascii_lowercase
from typing import Any

from sympy import Poly, Symbol, interpolate

from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream

_ONE: dict[str, Any] = {"1": 1}
_PLACE = {"i": "i", "i^2": "i^2"}


def through(values: Sequence[int]) -> str:
    """A position of these values at the places 0, 1 and so on: one polynomial in i.

    >>> through([0, 1, 4])
    '1*i^2'
    """
    place = Symbol("i")
    polynomial = Poly(interpolate([*enumerate(values)], place), place)
    terms = [f"{c}*i^{e}" if e else f"{c}" for (e,), c in polynomial.terms()]
    return " + ".join(terms)


def _averages(stream: Stream, mask: str, copied: Any) -> Body:
    """A head that attends to all alike."""
    return stream.head("softmax", mask, [{}], [{}], copied, base=2)


def _net(
    stream: Stream,
    letters: Mapping[str, Any],
    layers: Any,
    read: Any,
    labels: Any = (),
    **marks: str,
) -> AttentionNet:
    """A net of these letters and marks. A layer is its heads, or they and the units of its MLP. It
    is read by a vector, or by one for each label."""
    rows = stream.matrix(read if labels else [read])
    parts = (layer if isinstance(layer, tuple) else (layer, ()) for layer in layers)
    made = [{"heads": h} | ({"mlp": stream.mlp(units)} if units else {}) for h, units in parts]
    answers = {"labels": list(labels), "read": rows} if labels else {"read": rows[0]}
    alphabet = [x for x in letters if x not in marks.values()]
    return stream.net(alphabet, letters, **marks, layers=made, **answers)


def _at(stream: Stream, query: Sequence[Any], square: Any, copied: Any) -> Body:
    """A head that looks at one place p before, by scores such as 2 p j - j^2."""
    return stream.head("hard-right", "causal", query, [{"i": 1}, square], copied)


def majority() -> AttentionNet:
    """One uniform head: the mean of 1 for a one and -1 for a zero, and 0 for the end token."""
    stream = Stream(["sign", "mean"], {})
    letters: Body = {"0": {"sign": -1}, "1": {"sign": 1}, "?": {}}
    mean = _averages(stream, "none", {"sign": "mean"})
    return _net(stream, letters, [[mean]], {"mean": 1}, end="?")


def counting(n: int) -> AttentionNet:
    """One uniform head over n bits and an end token: the mean tells how many are ones, and v(2 x -
    v) is largest for the v nearest to x."""
    stream = Stream(["one", "mean"], {"1/n": "1/n"})
    letters: Body = {"0": {}, "1": {"one": 1}, "?": {}}
    mean, values = _averages(stream, "none", {"one": "mean"}), range(n + 1)
    read = [{"mean": 2 * v, "1/n": -v * v} for v in values]
    return _net(stream, letters, [[mean]], read, end="?", labels=[*map(str, values)])


# --- sorting ---


def sorted_by_counts(m: int) -> AttentionNet:
    """The k-th smallest of numbers from 1 to m in one layer; weights are the same for every n.

    One uniform head reads how often each number occurs. Let c and d be how many numbers are below
    a, and how many are at most a. Then the smaller of k - 1/2 - c and d - k + 1/2 is above 0 for
    the k-th smallest a, and below 0 for every other: one ReLU for each a. All is divided by the
    number of tokens. The token that asks is taken out of the counts, since it knows itself.
    """
    numbers = range(1, m + 1)
    is_, share, over = ([f"{name} {a}" for a in numbers] for name in ("is", "share", "over"))
    own = [f"own {a}" for a in numbers]
    places: dict[str, Any] = {o: ("1/n", i) for o, i in zip(own, is_, strict=True)}
    stream = Stream(["1", "k", *is_, *share, *over], {**places, "k/n": ("1/n", "k"), "1/n": "1/n"})

    def at_most(a: int, times: int = 1) -> dict[str, int]:
        return {**dict.fromkeys(share[:a], times), **dict.fromkeys(own[:a], -times)}

    def both(a: int) -> dict[str, int]:
        """2 k - 1 less how many are below a and how many are at most a."""
        below, up_to = at_most(a - 1, -1), at_most(a, -1)
        summed = {name: below.get(name, 0) + up_to[name] for name in up_to}
        return summed | {"k/n": 2, "1/n": -1}

    counts = _averages(stream, "none", dict(zip(is_, share, strict=True)))
    half: Body = {"k/n": 1, "1/n": Fraction(-1, 2)}
    return _net(
        stream,
        {str(a): {"1": 1, "k": a, is_[a - 1]: 1} for a in numbers},
        [([counts], [(both(a), 0, over[a - 1]) for a in numbers])],
        [at_most(a - 1, -1) | half | {over[a - 1]: -1} for a in numbers],
        labels=[str(a) for a in numbers],
    )


def sorted_by_slopes(
    n: int, values: Sequence[Any], attention: str = "softmax", places: Sequence[int] = ()
) -> AttentionNet:
    """The k-th smallest of n numbers in two layers, whose width and ReLUs do not grow with how many
    values there are: a number enters as itself.

    A uniform head reads all numbers, and n ReLUs add up F(x) = sum of max(0, x - x_j). F is convex,
    and its slope passes k - 1/2 at the k-th smallest number, so that (k - 1/2) x - F(x) is largest
    there, and nowhere else, whichever token asks. A head with this score finds it. With "average"
    that is exact for all real numbers; with softmax the rest weighs too little to move a number
    half the way to the next whole one.

    Args:
        n: how many numbers.
        values: that they may have: whole numbers, for softmax. Letters are the values as text.
        attention: of the second layer.
        places: letters that ask for a place; by default the numbers themselves.
    """
    # Of n others each at distance d has a weight of at most 2^(-sharp d): together below 1/2.
    tokens, sharp = n + 1, (2 * n).bit_length()
    read = [f"x{j}" for j in range(n)]
    units = [[int(i == j) for i in range(tokens)] for j in range(tokens)]
    at = {f"at {j}": (through(units[j]), "x") for j in range(n)}
    stream = Stream(["1", "x", "k", *read, "F", "found"], at)
    head = stream.head(
        attention,
        "none",
        [{"k": 2 * sharp, "1": -sharp}, {"1": 2 * sharp}],
        [{"x": 1}, {"F": -1}],
        {"x": "found"},
        **({"base": 2} if attention == "softmax" else {}),
    )
    letters = {str(value): {"1": 1, "x": value, "k": value} for value in values}
    letters |= {f">{place}": {"1": 1, "k": place} for place in places}
    return stream.net(
        [*letters],
        letters,
        layers=[
            {
                "heads": [_averages(stream, "none", dict(zip(at, read, strict=True)))],
                "mlp": stream.mlp([({"x": 1, x: -tokens}, 0, "F") for x in read]),
            },
            {"heads": [head]},
        ],
        labels=[str(value) for value in values],
        read=stream.matrix([{"found": 2 * value, "1": -value * value} for value in values]),
    )


# --- looking up ---


def recalled(keys: int, values: int) -> AttentionNet:
    """The value beside a key in one layer: a pair of the key that is asked for has the score n of
    all tokens, every other one 0, so that it weighs more than all others; the same for every n."""
    names, kinds = ascii_lowercase[:keys], [str(v) for v in range(1, values + 1)]
    stream = Stream(
        [*(f"key {a}" for a in names), *(f"asks {a}" for a in names), *kinds]
        + [f"found {v}" for v in kinds],
        {f"n asks {a}": ("n", f"asks {a}") for a in names},
    )
    head = stream.head(
        "softmax",
        "none",
        [{f"n asks {a}": 1} for a in names],
        [{f"key {a}": 1} for a in names],
        {v: f"found {v}" for v in kinds},
        base=2,
    )
    pairs = {f"{a}{v}": {f"key {a}": 1, v: 1} for a in names for v in kinds}
    asking = {f"{a}?": {f"asks {a}": 1} for a in names}
    read = [{f"found {v}": 1} for v in kinds]
    return _net(stream, pairs | asking, [[head]], read, labels=kinds)


def copied(n: int, symbols: int) -> AttentionNet:
    """The letter n places back in one layer: the score of the place j is 2 (i - n) j - j^2."""
    letters = ascii_lowercase[:symbols]
    found = {x: f"found {x}" for x in letters}
    stream = Stream(["1", *letters, *found.values()], _PLACE)
    head = _at(stream, [{"i": 2, "1": -2 * n}, _ONE], {"i^2": -1}, found)
    tokens = {x: {"1": 1, x: 1} for x in letters} | {"|": _ONE}
    return _net(stream, tokens, [[head]], [{to: 1} for to in found.values()], letters)


def copied_after_the_bar(symbols: int) -> AttentionNet:
    """The next letter of a copy in two layers, however long the word is: one finds the place of the
    bar, the other one the letter as far back."""
    letters = ascii_lowercase[:symbols]
    found = {x: f"found {x}" for x in letters}
    stream = Stream(["1", "|", *letters, "bar at", *found.values()], _PLACE)
    bar = stream.head("hard-right", "causal", [_ONE], [{"|": 1}], {"i": "bar at"})
    letter = _at(stream, [{"i": 2, "bar at": -2}, _ONE], {"i^2": -1}, found)
    tokens = {x: {"1": 1, x: 1} for x in (*letters, "|")}
    return _net(stream, tokens, [[bar], [letter]], [{to: 1} for to in found.values()], letters)


def equal_words(n: int, symbols: int) -> AttentionNet:
    """Whether two words of n letters are equal, in one layer: a letter at place i counts b^i times
    in the first word and -b^i times in the second one, and the sum is 0 for equal words alone."""
    letters, base = ascii_lowercase[:symbols], 2 * symbols - 1
    powers = [base**i for i in range(n)]
    place = through([*powers, *(-power for power in powers)])
    stream = Stream(["1", "digit", "sum", "off"], {"held": (place, "digit"), "1/n": "1/n"})
    embedding: Body = {x: {"1": 1, "digit": digit} for digit, x in enumerate(letters)}
    mean = _averages(stream, "none", {"held": "sum"})
    layer = ([mean], [({"sum": 1}, 0, "off"), ({"sum": -1}, 0, "off")])
    return _net(stream, embedding | {"?": _ONE}, [layer], {"1/n": 1, "off": -2}, end="?")


# --- brackets, numbers, circuits ---


def matched_brackets() -> AttentionNet:
    """Brackets of one kind to any depth in two layers without positions, at every length.

    Layer 1: the mean of 1 for ( and -1 for ) up to here, split into what is above 0 and below; and
    the share of the start token, 1/n at the end, for n tokens. Layer 2: the mean of what is below 0
    anywhere, and of the share of the end, 1/n^2. If some prefix closes too much, the first is 1/n^2
    or more; if the whole is not 0, its mean at the end is 1/n or more.
    """
    names = "sign", "start", "end", "mean", "share", "above", "below", "own", "ever", "least"
    stream = Stream(names, {})
    split: list[Any] = [({"mean": 1}, 0, "above"), ({"mean": -1}, 0, "below")]
    # Of the end token alone: no share is above 1.
    split.append(({"share": 1, "end": 1}, -1, "own"))
    letters: Body = {">": {"start": 1}, "(": {"sign": 1}, ")": {"sign": -1}, "?": {"end": 1}}
    here = _averages(stream, "causal", {"sign": "mean", "start": "share"})
    any_ = _averages(stream, "causal", {"below": "ever", "own": "least"})
    read = {"least": 1, "above": -2, "below": -2, "ever": -2}
    return _net(stream, letters, [([here], split), [any_]], read, start=">", end="?")


def added() -> AttentionNet:
    """Each bit of the sum of two numbers in one layer: a place looks at the last one before it
    whose two bits are equal, which are the carry. Of up to three ones the bit is t - 2 max(0, t -
    1) + 2 max(0, t - 2)."""
    stream = Stream(["1", "equal", "both", "ones", "bit"], {})
    head = stream.head("hard-right", "strict", [_ONE], [{"equal": 1}], {"both": "ones"})
    more = [({"ones": 1}, -least, {"bit": times}) for least, times in ((0, 1), (1, -2), (2, 2))]
    pairs = itertools.product((0, 1), repeat=2)
    letters: Body = {
        f"{a}{b}": {"1": 1, "equal": int(a == b), "both": a * b, "ones": a + b} for a, b in pairs
    }
    return _net(stream, letters, [([head], more)], {"bit": 1})


def three_found(M: int) -> AttentionNet:
    """Whether three numbers modulo M, at different places, have the sum 0: three layers of hard
    attention without positions, at every length. A number before makes a sum of two with the own
    one, a sum of two before one of three, and the end token looks for a sum of three that is 0."""
    numbers = range(M)
    is_, seen, two, held = ([f"{x} {a}" for a in numbers] for x in ("is", "seen", "two", "held"))
    stream = Stream(["1", *is_, *seen, *two, *held, "zero", "found"], {})

    def before(names: Sequence[str], found: Sequence[str]) -> list[Body]:
        pairs = zip(names, found, strict=True)
        return [stream.head("hard-right", "strict", [_ONE], [{x: 1}], {x: to}) for x, to in pairs]

    pairs = itertools.product(numbers, repeat=2)
    sums = [({is_[a]: 1, seen[b]: 1}, -1, two[(a + b) % M]) for a, b in pairs]
    zero = [({is_[a]: 1, held[-a % M]: 1}, -1, "zero") for a in numbers]
    layers = [(before(is_, seen), sums), (before(two, held), zero), before(["zero"], ["found"])]
    letters = {str(a): {"1": 1, is_[a]: 1} for a in numbers}
    return _net(stream, letters | {"?": _ONE}, layers, {"found": 1}, end="?")


def _three_counted(M: int) -> AttentionNet:
    """The same in two softmax layers of one head and of a width in proportion to M: the first one
    reads how often each number occurs. The least number a of three, at its own token, adds up the
    smaller one of the counts of the other two, b and c, itself left out; another token is too small
    by 1 for these ReLUs. The second one adds up what tokens have."""
    numbers = range(M)
    is_, share = ([f"{x} {a}" for a in numbers] for x in ("is", "share"))
    stream = Stream([*is_, *share, "both", "found"], {"1/n": "1/n"})
    units: list[Any] = []
    for a, b, c in itertools.combinations_with_replacement(numbers, 3):
        if (a + b + c) % M == 0:
            others = {is_[a]: 1, share[b]: 1, "1/n": -(a == b) - (b == c)}
            # For b = c the second one is idle.
            units += [(others, -1, "both"), (others | {share[c]: -1}, -1, {"both": -1})]
    letters: Body = {str(a): {is_[a]: 1} for a in numbers}
    counts = _averages(stream, "none", dict(zip(is_, share, strict=True)))
    adds_up = _averages(stream, "none", {"both": "found"})
    return _net(stream, letters | {"?": {}}, [([counts], units), [adds_up]], {"found": 1}, end="?")


def multiplied() -> AttentionNet:
    """Each bit of the product of two numbers in three layers, of one size for every length.

    The last one of L bits is 1 iff S = A B / 2^L is 1/2 or more above a whole number. The bit of A
    at the place L - i counts by what of B is below 2^i, over 2^i. Layer 1: i reads the latter,
    by weights 1 for the start token and 1, 2, 4, ...; a second head reads the former, up to
    3 e^(-3 n) for n tokens; a ReLU is their product. Layer 2 adds these up: S without whole parts,
    below L, over n. Layer 3: the whole number t below S has the largest score 2^(n + 1) (2 t (S +
    2^(-n) - 1/2) - t^2).
    """
    places = "i", "6*n*(n - i)", "3*n*i^2", "2^(n + 2)*n*i", "4*i - 2^(n + 1)*(i + i^2)"
    at = dict(zip(("i", "to end", "square", "S", "rest"), places, strict=True))
    at |= {"i/n": "i/n", "half": "(2^(-n) - 1/2)/n"}
    stream = Stream(["1", "start", "a", "b", "B", "A", "both", "S/n", "t/n"], at)
    softmax = partial(stream.head, "softmax")
    powers = softmax("causal", [_ONE], [{"i": 1, "start": 1, "1": -1}], {"b": "B"}, base=2)
    to_end = [{"to end": 1}, {"1": -1}]
    mirror = softmax("none", to_end, [{"i": 1}, {"square": 1}], {"a": "A"}, base="e")
    below = softmax("none", [{"S/n": 1}, _ONE], [{"S": 1}, {"rest": 1}], {"i/n": "t/n"}, base="e")
    letters: Body = {f"{a}{b}": {"1": 1, "a": a, "b": b} for a in (0, 1) for b in (0, 1)}
    letters[">"] = {"1": 1, "start": 1}
    first = ([powers, mirror], [({"A": 1, "B": 1}, -1, "both")])
    layers = [first, [_averages(stream, "none", {"both": "S/n"})], [below]]
    return _net(stream, letters, layers, {"S/n": 1, "t/n": -1, "half": 1}, start=">")


def evaluated(n: int, loops: int) -> AttentionNet:
    """Circuits of n letters in as many loops of one layer as they are deep.

    Two heads read what is held at the two places that a gate names, by the scores 2 p j - j^2. Then
    a gate holds 1 unless both hold 1, in place of what it held; what the heads read is taken back.
    """
    stream = Stream(["1", "gate", "one", "two", "held", "read one", "read two"], _PLACE)
    heads = [
        _at(stream, [{side: 2}, {"1": -1}], {"i^2": 1}, {"held": f"read {side}"})
        for side in ("one", "two")
    ]
    units = [
        ({"gate": 1}, 0, "held"),
        ({"gate": 2, "read one": 1, "read two": 1}, -3, {"held": -1}),
        ({"gate": 2, "held": 1}, -2, {"held": -1}),
        ({"read one": 1}, 0, {"read one": -1}),
        ({"read two": 1}, 0, {"read two": -1}),
    ]
    places = [(i, j) for j in range(1, n) for i in range(1, j + 1)]
    gates = {f"{i}{j}": {"1": 1, "gate": 1, "one": i - 1, "two": j - 1} for i, j in places}
    constants: Body = {"0": {"1": 1}, "1": {"1": 1, "held": 1}}
    return _net(stream, constants | gates, [(heads, units)] * loops, {"held": 1})
