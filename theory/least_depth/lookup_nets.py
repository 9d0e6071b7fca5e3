"""Hops, k-grams, compositions, sorted words, parity and connectivity: nets in the format of
`nets.json_format`."""

from __future__ import annotations

import itertools

from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream, rows

_PLACES = {"i": "i", "i^2": "i^2"}


def hops_causal(k: int, symbols: int) -> AttentionNet:
    """`hops.network.causal`, repaired: the symbol before, the last place after an equal one, then
    pointers that double; the answer takes one over for each binary digit of k - 1."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:symbols]
    lookups = (k - 1).bit_length()
    answers = [[*(f"{x} {t}" for x in letters), f"none {t}"] for t in range(lookups + 1)]
    stream = Stream(
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
        read=stream.matrix([{name: 1} for name in held]),
    )


def hops_strict(k: int, symbols: int, longest: int) -> AttentionNet:
    """`hops.network.symbol_carrying` under the strict mask: the last equal symbol, then pointers
    that double; the answer takes one over for each binary digit of k. A token that points to itself
    keeps what it holds; its MLPs take integers up to `longest`, the tokens of a word."""
    letters = [*"abcdefghijklmnopqrstuvwxyz"[:symbols], "none"]
    lookups = k.bit_length()
    looked = [f"looked up {x}" for x in ("pointer", *letters)]
    steps = range(1, lookups + 1)
    stream = Stream(
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
        read=stream.matrix([{name: 1} for name in held]),
    )


def hops_self_skipping(k: int, symbols: int) -> AttentionNet:
    """`hops.self_skipping_lookup.self_skipping`: a score whose place is in the exponent finds the
    last earlier copy, then pointers double. Letters are the numbers 1, 2 and so on, and MLPs put
    what was looked up in the place of what was held, so that the width is that of every k."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:symbols]
    held = ("aim", "says")
    stream = Stream(
        ["1", "letter", "x", "x^2", "own", "across", *held, *(f"{name} there" for name in held)],
        {"i": "i", "i^2": "i^2", "4^-i": "4^(-i)", "16^i": "16^i"}
        | {f"{name} 4^i": ("4^i", name) for name in ("own", "across", "x")},
    )

    first = stream.head(
        "hard-right",
        "causal",
        [{"1": 1}, {"x^2": 1}, {"x": 1}, {"4^-i": 1}],
        [{"own 4^i": 1}, {"across 4^i": 1}, {"x 4^i": 4}, {"16^i": -2}],
        # One more than its place; of the start 0.
        {"i+letter": "aim"},
    )
    layers: list[Body] = [{"heads": [first]}]
    for t in range(k.bit_length()):
        taken = held if k >> t & 1 else held[:1]
        head = stream.head(
            "hard-right",
            "causal",
            [{"aim": 1}, {"1": 1}],
            [{"i": 2}, {"i^2": -1}],
            {name: f"{name} there" for name in taken},
        )
        # Nothing held is negative, so that a ReLU passes it.
        units = [({name: 1}, 0, {name: -1}) for name in taken] + [
            ({f"{name} there": 1}, 0, {name: 1, f"{name} there": -1}) for name in taken
        ]
        layers.append({"heads": [head], "mlp": stream.mlp(units)})
    codes = {letter: x for x, letter in enumerate(letters, 1)}
    embedding = {
        letter: {"1": 1, "letter": 1, "x": x, "x^2": x * x, "says": x}
        | {"own": 1 - 2 * x * x, "across": -2}
        for letter, x in codes.items()
    }
    return stream.net(
        letters,
        # The start is a copy of every letter.
        embedding | {"^": {"1": 1, "own": 1}},
        start="^",
        layers=layers,
        labels=[*letters, "none"],
        read=stream.matrix([*({"says": 2 * x, "1": -x * x} for x in codes.values()), {}]),
    )


def identity_weights(n: int, layers: int) -> Body:
    """X -> X X^T X on A + I, so many times, for n vertices; read where the rows of the first and
    the second one meet."""
    letters = ["".join(bits) for bits in itertools.product("01", repeat=n)]
    unit = rows(n, *({i: 1} for i in range(n)))
    head = {"attention": "linear", "query": unit, "key": unit, "value": unit, "output": unit}
    return {
        "family": "attention",
        "alphabet": letters,
        "embedding": {row: [*map(int, row)] for row in letters},
        "layers": [{"heads": [head], "residual": False}] * layers,
        "read": rows(n, {1: 1})[0],
        "at": "first",
    }
