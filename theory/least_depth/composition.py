"""Composition of k maps in depth and in time: lookups that double, and steps of thought.

The input lists k maps of {0, ..., N-1} to itself, a token for each cell: map a, argument c, value
s_a(c); a last token, the reader, holds the start x and must hold s_k(...s_2(s_1(x))). Permutations
that stand in the weights between the maps change nothing, since every map is an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import count, product

from sympy import simplify
from sympy.core.relational import Relational

from ..atlas.tasks import composition
from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, quantity
from ..nets.attention import AttentionNet
from ..nets.builder import Stream
from ..nets.classes import in_class
from ..nets.right import right_on
from .chain_of_thought import BARCELO, Digits, least_steps, task, thought_steps

most_maps = quantity(
    "most_maps", "k_{max}", "most maps that so many layers of one lookup compose", "integer"
)
maps = quantity("maps", "k", "number of maps that are composed")

Maps = Sequence[Sequence[int]]
# A token knows that its path goes on from this argument of this map.
Place = tuple[int, int]


def composed(all_maps: Maps, start: int) -> int:
    """The maps applied one after the other."""
    return reduce(lambda at, one: one[at], all_maps, start)


def looked_up(all_maps: Maps, start: int, layers: int) -> int | None:
    """What the reader holds after so many layers of one lookup, or None while a map is missing.

    A cell knows where it leads: to its value, as an argument of the next map. In a layer every
    token attends to the cell where its path has arrived, by a key that is this place, and goes on
    by what that cell knew before the layer.
    """
    many = len(all_maps)
    leads: dict[Place, Place] = {
        (a, c): (a + 1, value) for a, one in enumerate(all_maps) for c, value in enumerate(one)
    }
    reader: Place = (0, start)
    for _ in range(layers):
        reader = leads.get(reader, reader)
        leads = {cell: leads.get(place, place) for cell, place in leads.items()}
    return reader[1] if reader[0] == many else None


def lookups(case: Case) -> AttentionNet:
    """The net that composes 2^L - 1 maps on 0 and 1, the one that is applied last written first. A
    value is a place among the values of the map that is applied next, which stand before it."""
    layers = case.depth
    stream = Stream(
        ["1", "value", *(f"place {t}" for t in range(1, layers + 1))],
        {"i": "i", "i^2": "i^2"} | {"next": "i - (1 - (-1)^i)/2 - 2"},
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
        read=stream.matrix([{}, {f"place {layers}": 2, "1": 3}]),
    )


def sensitive_maps(many: int, size: int) -> int:
    """Maps of a word of identities whose replacement alone changes what is composed.

    Their cells are disjoint: who does not know a cell of each cannot tell two words apart.
    """
    identity = tuple(range(size))
    return sum(
        any(
            composed([identity] * a + [other] + [identity] * (many - a - 1), 0)
            for other in product(range(size), repeat=size)
        )
        for a in range(many)
    )


def cells_read(layers: int, reads: int = 1) -> int:
    """The most cells on which the reader's state after so many layers depends, if each token
    attends to `reads` tokens, which its state names."""
    reader, cell = 0, 1
    for _ in range(layers):
        reader, cell = reader + reads * cell, cell + reads * cell
    return reader


# --- claims ---


def _net_right(case: Case, many: int, words: Iterable[Maps]) -> bool:
    """Whether the net composes so many maps on 0 and 1, and is of its class."""
    net = lookups(case)
    texts = (
        (*(str(value) for one in reversed(word) for value in one), str(start))
        for word in words
        for start in range(2)
    )
    return bool(right_on(net, composition(many, 2), texts)) and not in_class(net, "one-lookup")


@claim(
    Eq(most_maps, 2**depth - 1),
    source=Source(
        "depthlaw", r"after wang2025, arXiv:2505.23683, Theorem 1: $\log_2 k + 1$ layers"
    ),
    kind="two-sided",
    cases={
        "quick": (
            *Case.grid(depth=(0, 1), size=(2, 3), listed=800),
            *Case.grid(depth=2, size=(2, 3), listed=800),
            *Case.grid(depth=(3, 4), size=(2, 5), listed=60),
        ),
        "theory": (
            Case(depth=2, size=2, listed=2**16),
            Case(depth=2, size=3, listed=3**9),
            *Case.grid(depth=5, size=(2, 4), listed=60),
        ),
    },
    control=Control(
        Case(depth=2, size=2, listed=800),
        "the printed layers at the next power of two: three maps would need a third layer",
        statement=Eq(most_maps, 2 ** (depth - 1)),
    ),
    supports="least_depth/steps_are_rank",
    formal=Formal(
        "Lookups.composition_layers_checked",
        "Lookups.composition_value {depth}",
        "That one head of attention reads one token that its state names, and no more; domains "
        "are finite.",
    ),
)
def composition_layers(case: Case, seed: int) -> Exact:
    r"""$L$ layers of one lookup compose $2^L - 1$ maps.

    For every $L$ and every domain of at least two elements, $2^L - 1$ is the largest number $k$ of
    maps given in context that $L$ layers compose, each token attending in each layer to one token
    that its state names. So the least depth is $\lceil \log_2(k + 1) \rceil$, which is the printed
    $\log_2 k + 1$ where $k$ is a power of two, and a layer less than its ceiling for
    $k = 3, 5, 6, 7, ...$ .

    The lookups are run on all maps where these are few, and on random ones; on domains of two
    elements by a net of the class too. On others the class is words, since no position of such a
    net counts modulo more than 2. That more maps cannot
    be done: the reader's state depends on at most $2^L - 1$ cells, and replacing any one of the
    $k$ maps by another may change the answer. Attention whose choice depends on scores that several
    tokens set, as in least_depth/steps_are_rank, is not covered: a head may then learn from what it
    does not attend to. Nor is more than one head, which may read several guesses at once. Of the
    source a report was read, not the theorem; there, softmax attention has width of order $N k$.
    """
    rng = case.rng(seed)

    def words(many: int) -> Iterator[Maps]:
        if case.size ** (case.size * many) <= case.listed:
            yield from product(product(range(case.size), repeat=case.size), repeat=many)
        else:
            yield from rng.integers(0, case.size, (case.listed, many, case.size)).tolist()

    for many in count(1):
        right = all(
            looked_up(word, start, case.depth) == composed(word, start)
            for word in words(many)
            for start in range(case.size)
        )
        if not right:
            # No other network of the kind does: it does not read a cell of each map.
            known = sensitive_maps(many, case.size) > cells_read(case.depth)
            if case.size == 2 and case.depth:
                known &= _net_right(case, many - 1, words(many - 1))
            return Exact(many - 1 if known else -1)
    raise AssertionError("every network fails on more maps than it reads cells")


@composition_layers.argument(
    "Prose: the state of a cell depends on itself and on what it reads; lookups arrive where the "
    "cell that they read would; a word of which no cell of some map is known leaves two answers"
)
def _(statement: Relational) -> Iterator[Step]:
    right = statement.rhs
    yield Step("the statement is an equation", statement.rel_op == "==")
    yield Step("without a layer the reader knows no cell", right.subs(depth, 0) == 0)
    yield Step(
        "a layer adds 2^L cells to the reader: what a cell knows that doubles from 1",
        simplify(right.subs(depth, depth + 1) - right - 2**depth) == 0,
    )


@claim(
    Eq(thought_steps, maps),
    source=Source("depthlaw", rf"after barcelo2025, {BARCELO}, abstract: $\ell$ steps"),
    kind="two-sided",
    cases={
        "quick": (*Case.grid(maps=(1, 2, 3, 4), size=2), *Case.grid(maps=(1, 2), size=3)),
        "theory": (Case(maps=5, size=2), Case(maps=3, size=3)),
        "full": (Case(maps=6, size=2), Case(maps=2, size=4)),
    },
    control=Control(
        Case(maps=3, size=2),
        "two heads, which read both places where the path may go on",
        measured=lambda case: _composition_steps(case, heads=2),
    ),
    supports="least_depth/steps_are_rank",
    formal=Formal(
        "Thoughts.composition_steps",
        "Thoughts.composition_steps_value {maps}",
        "That attention to earlier thoughts tells nothing new; positions are cells, map by map, "
        "and the start is fixed.",
    ),
)
def composition_steps(case: Case) -> Exact:
    r"""One layer composes $k$ maps in exactly $k$ steps of thought.

    For every $k$ and $N \geq 2$ the least number of steps of thought in which one layer of hard
    attention with one head applies $k$ maps of $N$ elements, given by their cells, one after the
    other to a fixed start, is $k$.

    Over all decoders, by search: the class is words. The printed number of steps thus holds without
    a condition on the domain where the maps differ (not for one map applied again:
    least_depth/iteration_steps). Lower bound: where each map swaps 0 and 1 or does not, a cell
    tells one bit, and the answer is a parity of $k$ bits. The composition from a start in the input
    takes $\lceil \log_2(k + 1) \rceil$ layers of one lookup and no thought
    (least_depth/composition_layers): a layer doubles, a step adds one.
    """
    return _composition_steps(case)


@composition_steps.argument(
    "Prose: where each map swaps 0 and 1 or not, the cell of the highest score that is still "
    "possible tells of one map, and the rest is a composition of one map less; a step follows one "
    "map"
)
def _(statement: Relational) -> Iterator[Step]:
    right = statement.rhs
    yield Step("the statement is an equation", statement.rel_op == "==")
    yield Step("no maps take no step", right.subs(maps, 0) == 0)
    yield Step("a map more takes a step more", right.subs(maps, maps + 1) == right + 1)


def _composition_steps(case: Case, heads: int = 1) -> Exact:
    many, size = case.maps, case.size

    def of_cells(word: Digits) -> int:
        return composed([word[a * size :][:size] for a in range(many)], 0)

    return Exact(least_steps(task(of_cells, many * size, size), heads))
