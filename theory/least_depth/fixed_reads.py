"""Attention to fixed positions: a tree of reads, which multiplies all elements of a word."""

from __future__ import annotations

import itertools

from sympy import ceiling, log

from ..atlas.tasks import group_product
from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import heads, quantity, tokens
from ..nets.attention import AttentionNet
from ..nets.builder import Stream
from ..nets.classes import in_class
from ..nets.right import right_on
from .groups import GROUPS, closure, element_name, power, times

reading_layers = quantity(
    "reading_layers",
    "L_{read}",
    "least number of layers of attention to fixed positions for a product; -1 if not shown",
    "integer",
)

# Up to so many letters a net is run on all words over S3.
RUN = 4


def block_reads(length: int, readers: int, layers: int) -> tuple[int, ...]:
    """What the last position holds after so many layers that read blocks, each head one position.

    In layer l (from 0) position i reads i - h (H + 1)^l for h = H, ..., 1 and itself, and joins
    what they hold, in this order. Letters are the positions themselves, so the result says which
    factors the product has, in which order, in every group.
    """
    held: list[tuple[int, ...]] = [(i,) for i in range(length)]
    for layer in range(layers):
        block = (readers + 1) ** layer
        held = [
            sum((held[i - h * block] for h in range(readers, -1, -1) if i >= h * block), ())
            for i in range(length)
        ]
    return held[-1]


def doubling_net(group: str, layers: int) -> AttentionNet:
    """`block_reads` of one head, for the products of a group; the start stands for 1."""
    elements = {element_name(x): x for x in sorted(closure(GROUPS[group]))}
    one = next(name for name, x in elements.items() if x == power(x, 0))
    held = itertools.product(range(1, layers + 1), ("read", "now"), elements)
    stream = Stream(
        ["1", *elements, *(f"{x} {what} {t}" for t, what, x in held)], {"i": "i", "i^2": "i^2"}
    )
    everywhere = {"1": 1}
    made = []
    for t in range(1, layers + 1):
        own = {x: x if t == 1 else f"{x} now {t - 1}" for x in elements}
        back = 2 ** (t - 1)
        head = stream.head(
            "hard-right",
            "causal",
            [{"i": 1}, everywhere],
            [{"i": 2}, {"i": -2 * back, "i^2": -1}],
            {own[x]: f"{x} read {t}" for x in elements},
        )
        units = [
            (
                {f"{x} read {t}": 1, own[y]: 1},
                -1,
                f"{element_name(times(elements[x], elements[y]))} now {t}",
            )
            for x, y in itertools.product(elements, repeat=2)
        ]
        made.append({"heads": [head], "mlp": stream.mlp(units)})
    return stream.net(
        list(elements),
        {x: {"1": 1, x: 1} for x in elements} | {"^": {"1": 1, one: 1}},
        start="^",
        layers=made,
        labels=list(elements),
        read=stream.matrix([{f"{x} now {layers}": 1} for x in elements]),
    )


def readable(length: int, readers: int, layers: int) -> list[set[int]]:
    """For each position the sets of letters, as bits, that it can depend on, by any choice of the
    positions that the heads read.

    Each position keeps what it held; a head adds what any position held. Cost: 4^N.
    """
    sets = [{1 << i} for i in range(length)]
    for _ in range(layers):
        anywhere = set().union(*sets)
        for _ in range(readers):
            sets = [{mine | other for mine in own for other in anywhere} for own in sets]
    return sets


@claim(
    Eq(reading_layers, ceiling(log(tokens, heads + 1))),
    source=Source("depthlaw", "after fagnou2024, arXiv:2410.05565, Theorem 1, as reported"),
    kind="threshold",
    cases={
        "quick": Case.grid(tokens=(1, 2, 3, 4, 5, 7), heads=(1, 2, 3)),
        "theory": Case.grid(tokens=(8, 9, 10), heads=(1, 2, 3)),
    },
    control=Control(
        Case(tokens=4, heads=3),
        "a layer would only double what is read, whatever the number of heads",
        statement=Eq(reading_layers, ceiling(log(tokens, 2))),
    ),
    supports="least_depth/diagonal_layers",
    formal=Formal(
        "Lookups.fixed_reads_checked",
        "Lookups.fixed_reads_value {heads} {tokens}",
        "That a head at a fixed position reads one token whole, and that a position keeps its "
        "own state.",
    ),
)
def fixed_reads(case: Case) -> Exact:
    r"""Attention to fixed positions multiplies $N$ elements in $\lceil \log_{H+1} N \rceil$ layers.

    For every non-trivial group and every $N$ and $H$ the least number of layers of hard attention
    whose $H$ heads read one position each, which depends on the position only, that give the
    product of $N$ elements at the last position is $\lceil \log_{H+1} N \rceil$.

    Upper side: blocks of length $(H+1)^l$, run on letters without relations, so the factors and
    their order are right in every group. The class is words there, since the weights of a net are
    for one group; with one head a net is run on all words of up to four elements of $S_3$. Lower
    side: all choices of positions are searched for one that lets the last position depend on all
    $N$ letters; a product changes with each of its factors. Where heads choose positions by content
    the lower side is not claimed: the choice itself tells something about the letters that are not
    read. Solvable groups take a depth that
    does not grow with $N$ by wide soft attention, as reported of liu2022.
    """
    everything, layers = (1 << case.tokens) - 1, 0
    while everything not in readable(case.tokens, case.heads, layers)[-1]:
        layers += 1
    ordered = block_reads(case.tokens, case.heads, layers) == tuple(range(case.tokens))
    if case.heads == 1 and 1 < case.tokens <= RUN:
        net = doubling_net("S3", layers)
        ordered &= bool(right_on(net, group_product("S3", case.tokens)))
        ordered &= not in_class(net, "fixed-positions")
    return Exact(layers if ordered else -1)
