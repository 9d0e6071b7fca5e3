"""Nets of attention for tasks that everybody asks for: majority, counting, sorting, recall of a
key, copying, equality, brackets of one kind, addition and circuits.

What a net holds is exact, and no claim rests on it: `depthlaw tasks check` runs the nets that are
stored, and tests run them at other sizes. docs/coverage/least_depth.md says why fewer layers fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from string import ascii_lowercase
from typing import Any

from sympy import Poly, Symbol, interpolate

from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream

_ONE: dict[str, Any] = {"1": 1}


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


def majority() -> AttentionNet:
    """One uniform head: the mean of 1 for a one and -1 for a zero, and 0 for the end token."""
    stream = Stream(["sign", "mean"], {})
    return stream.net(
        "01",
        {"0": {"sign": -1}, "1": {"sign": 1}, "?": {}},
        end="?",
        layers=[{"heads": [_averages(stream, "none", {"sign": "mean"})]}],
        read=stream.matrix([{"mean": 1}])[0],
    )


def counting(n: int) -> AttentionNet:
    """One uniform head over n bits and an end token: the mean tells how many are ones, and v(2 x -
    v) is largest for the v nearest to x."""
    stream = Stream(["one", "mean"], {"1/n": "1/n"})
    return stream.net(
        "01",
        {"0": {}, "1": {"one": 1}, "?": {}},
        end="?",
        layers=[{"heads": [_averages(stream, "none", {"one": "mean"})]}],
        labels=[str(v) for v in range(n + 1)],
        read=stream.matrix([{"mean": 2 * v, "1/n": -v * v} for v in range(n + 1)]),
    )


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

    return stream.net(
        [str(a) for a in numbers],
        {str(a): {"1": 1, "k": a, is_[a - 1]: 1} for a in numbers},
        layers=[
            {
                "heads": [_averages(stream, "none", dict(zip(is_, share, strict=True)))],
                "mlp": stream.mlp([(both(a), 0, over[a - 1]) for a in numbers]),
            }
        ],
        labels=[str(a) for a in numbers],
        read=stream.matrix(
            [
                at_most(a - 1, -1) | {"k/n": 1, "1/n": Fraction(-1, 2), over[a - 1]: -1}
                for a in numbers
            ]
        ),
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
    return stream.net(
        [*pairs, *asking],
        pairs | asking,
        layers=[{"heads": [head]}],
        labels=kinds,
        read=stream.matrix([{f"found {v}": 1} for v in kinds]),
    )


def copied(n: int, symbols: int) -> AttentionNet:
    """The letter n places back in one layer: the score of the place j is 2 (i - n) j - j^2."""
    letters = ascii_lowercase[:symbols]
    stream = Stream(["1", *letters, *(f"found {x}" for x in letters)], {"i": "i", "i^2": "i^2"})
    head = stream.head(
        "hard-right",
        "causal",
        [{"i": 2, "1": -2 * n}, {"1": 1}],
        [{"i": 1}, {"i^2": -1}],
        {x: f"found {x}" for x in letters},
    )
    return stream.net(
        [*letters, "|"],
        {x: {"1": 1, x: 1} for x in letters} | {"|": _ONE},
        layers=[{"heads": [head]}],
        labels=[*letters],
        read=stream.matrix([{f"found {x}": 1} for x in letters]),
    )


def copied_after_the_bar(symbols: int) -> AttentionNet:
    """The next letter of a copy in two layers, however long the word is: one finds the place of the
    bar, the other one the letter as far back."""
    letters = ascii_lowercase[:symbols]
    stream = Stream(
        ["1", "|", *letters, "bar at", *(f"found {x}" for x in letters)], {"i": "i", "i^2": "i^2"}
    )
    bar = stream.head("hard-right", "causal", [_ONE], [{"|": 1}], {"i": "bar at"})
    letter = stream.head(
        "hard-right",
        "causal",
        [{"i": 2, "bar at": -2}, {"1": 1}],
        [{"i": 1}, {"i^2": -1}],
        {x: f"found {x}" for x in letters},
    )
    return stream.net(
        [*letters, "|"],
        {x: {"1": 1, x: 1} for x in (*letters, "|")},
        layers=[{"heads": [bar]}, {"heads": [letter]}],
        labels=[*letters],
        read=stream.matrix([{f"found {x}": 1} for x in letters]),
    )


def equal_words(n: int, symbols: int) -> AttentionNet:
    """Whether two words of n letters are equal, in one layer: a letter at place i counts b^i times
    in the first word and -b^i times in the second one, and the sum is 0 for equal words alone."""
    letters, base = ascii_lowercase[:symbols], 2 * symbols - 1
    powers = [base**i for i in range(n)]
    place = through([*powers, *(-power for power in powers)])
    stream = Stream(["1", "digit", "sum", "off"], {"held": (place, "digit"), "1/n": "1/n"})
    embedding = {x: {"1": 1, "digit": digit} for digit, x in enumerate(letters)}
    return stream.net(
        letters,
        embedding | {"?": _ONE},
        end="?",
        layers=[
            {
                "heads": [_averages(stream, "none", {"held": "sum"})],
                "mlp": stream.mlp([({"sum": 1}, 0, "off"), ({"sum": -1}, 0, "off")]),
            }
        ],
        read=stream.matrix([{"1/n": 1, "off": -2}])[0],
    )


# --- brackets, numbers, circuits ---


def matched_brackets() -> AttentionNet:
    """Brackets of one kind to any depth in two layers without positions, at every length.

    Layer 1: the mean of 1 for ( and -1 for ) up to here, split into what is above 0 and below; and
    the share of the start token, 1/n at the end, for n tokens. Layer 2: the mean of what is below 0
    anywhere, and of the share of the end, 1/n^2. If some prefix closes too much, the first is 1/n^2
    or more; if the whole is not 0, its mean at the end is 1/n or more.
    """
    stream = Stream(
        ["sign", "start", "end", "mean", "share", "above", "below", "own", "ever", "least"], {}
    )
    split = [
        ({"mean": 1}, 0, "above"),
        ({"mean": -1}, 0, "below"),
        # Of the end token alone: no share is above 1.
        ({"share": 1, "end": 1}, -1, "own"),
    ]
    return stream.net(
        "()",
        {">": {"start": 1}, "(": {"sign": 1}, ")": {"sign": -1}, "?": {"end": 1}},
        start=">",
        end="?",
        layers=[
            {
                "heads": [_averages(stream, "causal", {"sign": "mean", "start": "share"})],
                "mlp": stream.mlp(split),
            },
            {"heads": [_averages(stream, "causal", {"below": "ever", "own": "least"})]},
        ],
        read=stream.matrix([{"least": 1, "above": -2, "below": -2, "ever": -2}])[0],
    )


def added() -> AttentionNet:
    """Each bit of the sum of two numbers in one layer: a place looks at the last one before it
    whose two bits are equal, which are the carry. Of up to three ones the bit is t - 2 max(0, t -
    1) + 2 max(0, t - 2)."""
    stream = Stream(["1", "equal", "both", "ones", "bit"], {})
    head = stream.head("hard-right", "strict", [_ONE], [{"equal": 1}], {"both": "ones"})
    more = [({"ones": 1}, -least, {"bit": times}) for least, times in ((0, 1), (1, -2), (2, 2))]
    return stream.net(
        ["00", "01", "10", "11"],
        {
            f"{a}{b}": {"1": 1, "equal": int(a == b), "both": a * b, "ones": a + b}
            for a in (0, 1)
            for b in (0, 1)
        },
        layers=[{"heads": [head], "mlp": stream.mlp(more)}],
        read=stream.matrix([{"bit": 1}])[0],
    )


def evaluated(n: int, loops: int) -> AttentionNet:
    """Circuits of n letters in as many loops of one layer as they are deep.

    Two heads read what is held at the two places that a gate names, by the scores 2 p j - j^2. Then
    a gate holds 1 unless both hold 1, in place of what it held; what the heads read is taken back.
    """
    stream = Stream(
        ["1", "gate", "one", "two", "held", "read one", "read two"], {"i": "i", "i^2": "i^2"}
    )
    heads = [
        stream.head(
            "hard-right",
            "causal",
            [{side: 2}, {"1": -1}],
            [{"i": 1}, {"i^2": 1}],
            {"held": f"read {side}"},
        )
        for side in ("one", "two")
    ]
    mlp = stream.mlp(
        [
            ({"gate": 1}, 0, "held"),
            ({"gate": 2, "read one": 1, "read two": 1}, -3, {"held": -1}),
            ({"gate": 2, "held": 1}, -2, {"held": -1}),
            ({"read one": 1}, 0, {"read one": -1}),
            ({"read two": 1}, 0, {"read two": -1}),
        ]
    )
    gates = {
        f"{i}{j}": {"1": 1, "gate": 1, "one": i - 1, "two": j - 1}
        for j in range(1, n)
        for i in range(1, j + 1)
    }
    constants: dict[str, dict[str, Any]] = {"0": {"1": 1}, "1": {"1": 1, "held": 1}}
    return stream.net(
        ["0", "1", *gates],
        constants | gates,
        layers=[{"heads": heads, "mlp": mlp}] * loops,
        read=stream.matrix([{"held": 1}])[0],
    )
