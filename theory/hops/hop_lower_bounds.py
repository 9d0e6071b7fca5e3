"""What hop_k costs: pointers that double, bits and width of a head, one cycle against two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from sympy import Integer, ceiling, floor, log

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import hops, quantity, tokens
from .construction import SANFORD, log2_k, only, ours, wrong_tokens
from .pointers import hop_k

Steps = tuple[tuple[int, ...], ...]
# Directions are searched among integer vectors up to this size; one found is an exact certificate.
_DIRECTIONS = 7

lookup_layers = quantity(
    "lookup_layers",
    r"L_{look}",
    r"least depth that holds $\mathrm{hop}_k$ when in each layer all tokens look up one pointer",
    "nonnegative integer",
)
strict = quantity(
    "strict",
    r"\sigma",
    "1 under the strict mask, which hides a token from itself; 0 under the causal mask",
    "nonnegative integer",
)
sums = quantity(
    "subset_sums", r"\#_{sums}", "different sums of subsets of the steps between consecutive keys"
)
cycles = quantity(
    "cycles", "c", "cycles of a 2-regular graph: one of length $k$ or two of length $k/2$"
)
walked = quantity(
    "walked",
    "d_w",
    r"distance on the cycle from the start vertex to the answer of $\mathrm{hop}_k$",
    "integer",
)


# --- pointers that double -------------------------------------------------------------------------


def lookup_depth(hops: int, strict: int) -> int:
    """The least number of layers, over all choices of one pointer a layer that all tokens look up.

    A token holds pointers find^p and symbols hop_s; a lookup at find^p adds find^(p + q) and
    hop_(p + s) for all that the token found there holds. The first layers are given: with a causal
    mask two, the previous token and find^1 with the symbol there; with a strict mask one, the last
    earlier copy, hence find^1, but not yet the symbol there.
    """
    start = (frozenset({0, 1}), frozenset({0} if strict else {0, 1}))
    depth, states = (1 if strict else 2), {start}
    while not any(hops in symbols for _, symbols in states):
        states = {
            (pointers | {at + p for p in pointers}, symbols | {at + s for s in symbols})
            for pointers, symbols in states
            for at in pointers
            if at
        }
        depth += 1
    return depth


@claim(
    Eq(lookup_layers, ceiling(log(hops + strict) / log(2)) + 2 - strict),
    source=ours("Theorem 4.2 and Corollary 4.3"),
    kind="threshold",
    assumes={r"$\sigma \leq 1$": lambda c: c.strict <= 1},
    cases={
        "quick": Case.grid(hops=range(1, 9), strict=(0, 1)),
        "theory": Case.grid(hops=(9, 12, 15, 16, 17), strict=(0, 1)),
    },
    control=Control(
        Case(hops=3, strict=0), "3 is not a power of two", Eq(lookup_layers, floor(log2_k) + 2)
    ),
    cited=r"Decides the depth that may be quoted for $\mathrm{hop}_k$ by sums of shared pointers "
    "alone.",
    formal=Formal(
        "Lookups.one_lookup_per_layer_checked",
        "Lookups.lookup_layers_value {hops} {strict}",
        "A net is the lists of hops that its tokens hold: the first one or two layers are "
        "given, in later ones all tokens look up the same pointer, and a hop counts as held "
        "only if it is listed (listed hops are right by look_sound). That attention works so is "
        "not formal.",
    ),
)
def one_lookup_per_layer(case: Case) -> Exact:
    r"""With one shared pointer a layer, doubling reaches $\mathrm{hop}_k$ in the fewest layers.

    If the first layers are given, after which every token holds $\mathrm{find}^1$, and in every
    later layer all tokens look up the same pointer $\mathrm{find}^p$, one that they hold, the least
    depth at which tokens hold $\mathrm{hop}_k$ is $\lceil \log_2 k \rceil + 2$ with two given
    layers (causal mask: the previous token, then $\mathrm{find}^1$ and the symbol there), and
    $\lceil \log_2(k + 1) \rceil + 1 = \lfloor \log_2 k \rfloor + 2$ with one (strict mask: the
    position of the last earlier copy).

    All choices of pointers are tried. It explains these constructions; it is no lower bound for
    attention, nor for nets of one lookup a layer: with one causal head that finds the last earlier
    copy in its first layer, $\lfloor \log_2 k \rfloor + 2$ layers are enough
    (hops/depth_printed_floating). Corollary 4.3 of sanford2024 is one, and conditional: if no MPC
    protocol tells one cycle from two in $o(\log N)$ rounds (the one-versus-two-cycle conjecture,
    for which there is no claim here), narrow masked transformers that compute $\mathrm{hop}_k$,
    $k = \Theta(N^\xi)$, $\xi$ in (0, 1/2], $m H = O(k^{1 - \epsilon})$, need $\Omega(\log k)$
    layers, with an unknown constant. One family of networks cannot test that.
    """
    return Exact(lookup_depth(case.hops, case.strict))


# --- precision ------------------------------------------------------------------------------------


def prefix_in_one_number(sequence: Sequence[int], base: int, hops: int) -> list[Any]:
    """hop_k by ONE causal layer with one head of width 1: uniform attention over base^j X_j.

    Exact with rational numbers when the base is at least the alphabet: token i holds its whole
    prefix, in about N log2(base) bits, and a map of its own reads it.
    """
    answers = []
    for i in range(1, len(sequence) + 1):
        average = Fraction(sum(base**j * sequence[j - 1] for j in range(1, i + 1)), i)
        prefix = [int(average * i) // base**j % base for j in range(1, i + 1)]
        answers.append(hop_k(prefix, hops)[-1])
    return answers


def _misread(case: Case, base: int) -> Exact:
    """Wrong tokens of `prefix_in_one_number` over all sequences."""
    wrong = 0
    for sequence in product(range(case.alphabet), repeat=case.tokens):
        answers = prefix_in_one_number(sequence, base, case.hops)
        wrong += sum(a != b for a, b in zip(answers, hop_k(sequence, case.hops), strict=True))
    return Exact(wrong)


@claim(
    Eq(wrong_tokens, 0),
    source=ours("Definition 2.1"),
    kind="construction",
    cases={
        "quick": Case.grid(hops=(1, 2, 3), alphabet=(2, 3), tokens=(1, 3, 5)),
        "theory": Case.grid(hops=(3, 5), alphabet=(2, 4), tokens=6),
    },
    control=Control(
        Case(hops=1, alphabet=3, tokens=3),
        "base 2 cannot hold three symbols",
        measured=lambda case: _misread(case, base=2),
    ),
    supports="hops/one_layer_index",
)
def one_layer_unbounded_precision(case: Case) -> Exact:
    r"""One layer computes $\mathrm{hop}_k$, given about $N \log_2 |\Sigma|$ bits.

    For every $N$, $k$ and alphabet, one causal layer with one head of width 1 computes
    $\mathrm{hop}_k$ on every sequence, if numbers may have about $N \log_2 |\Sigma|$ bits: uniform
    attention over $|\Sigma|^j X_j$ puts the whole prefix into one number.

    So no search at a fixed $N$ can refute a depth: lower bounds need the precision $O(\log N)$ as
    $N$ grows. Bits are not measured; the read-out is an arbitrary map of its own for each index;
    tested is that the prefix can be read. The class is words, since no class of nets has such a
    read-out.
    """
    return _misread(case, base=case.alphabet)


def key_steps(tokens: int, width: int, size: int) -> Iterator[Steps]:
    """Steps d_j = k_j - k_(j-1) between keys by which tokens skip themselves, entries up to `size`.

    For every i <= N some query ranks i-1 above ... above 1 above the start token above i itself:
    q d_j > 0 for j < i and q (d_1 + ... + d_i) < 0. Queries are searched among small integer
    vectors, steps exhaustively.
    """
    directions = np.array(list(product(range(-_DIRECTIONS, _DIRECTIONS + 1), repeat=width)))
    vectors = [v for v in product(range(-size, size + 1), repeat=width) if any(v)]

    def extend(steps: Steps, rising: Any, total: Any) -> Iterator[Steps]:
        if len(steps) == tokens:
            yield steps
            return
        for step in vectors:
            along = directions @ np.array(step)
            if (rising & (total + along < 0)).any() and (rising & (along > 0)).any():
                yield from extend((*steps, step), rising & (along > 0), total + along)

    everywhere = len(directions)
    yield from extend((), np.ones(everywhere, dtype=bool), np.zeros(everywhere, dtype=int))


@claim(
    Eq(sums, Integer(2) ** tokens),
    source=ours("Appendix F.4"),
    cases={
        "quick": (
            Case(tokens=1, width=1, key_size=2),
            Case(tokens=3, width=2, key_size=1),
            Case(tokens=4, width=2, key_size=2),
        ),
        "theory": (Case(tokens=3, width=3, key_size=1),),
        "full": (Case(tokens=4, width=2, key_size=3),),
    },
    control=Control(
        Case(tokens=3, width=2, key_size=1),
        "keys in a row, which skip nothing",
        measured=lambda case: Exact(case.tokens + 1),
    ),
    supports="hops/depth_corrected",
)
def self_skip_subset_sums(case: Case) -> Exact:
    r"""Keys that let every token skip itself have distinct subset sums.

    If with a causal mask some query for every $i \leq N$ scores $i-1$ above $i-2$ above ... above 1
    above the start token above $i$ itself, then the $N$ steps between consecutive keys have $2^N$
    different subset sums.

    If sum of $e_j d_j = 0$ with $e_j$ in {-1, 0, 1} and $i$ the last $e_i \neq 0$, the query of $i$
    gives $|q d_i|$ > sum over $j < i$ of $q d_j$, a contradiction. With integer keys, steps of size
    at most $S$, the sums fill at most $(N S + 1)^m$ places, so $m \geq N/\log_2(N S + 1)$: a head
    of width $O(1)$ and $O(\log N)$ bits in fixed point cannot find the last EARLIER copy under a
    causal mask by ranking all earlier tokens above itself. In floating point it can
    (hops/depth_printed_floating). In fixed point a head may find it another way; and found by
    search are only the small keys of the cases.
    """
    least = 2**case.tokens + 1
    for steps in key_steps(case.tokens, case.width, case.key_size):
        subset_sums = {(0,) * case.width}
        for step in steps:
            subset_sums |= {tuple(a + b for a, b in zip(s, step, strict=True)) for s in subset_sums}
        least = min(least, len(subset_sums))
    if least > 2**case.tokens:
        raise ValueError(
            f"no keys of this size skip {case.tokens} tokens; take larger keys or fewer tokens"
        )
    return Exact(least)


# --- one cycle against two ------------------------------------------------------------------------


Instance = tuple[list[tuple[int, int]], list[list[int]]]


def edge_sequence(edges: Sequence[tuple[int, int]], start: int, copies: int) -> list[Any]:
    """The reduction of Corollary 4.3: nine tokens an edge, the list repeated, the start vertex.

    >>> "".join(map(str, edge_sequence([(1, 2)], 1, 1)))
    '*1+21+2*_1'
    """
    once: list[Any] = []
    for u, v in edges:
        once += ["*", u, "+", v, u, "+", v, "*", "_"]
    return once * copies + [start]


def _instances(case: Case, seed: int) -> Iterator[Instance]:
    """Edge lists in cyclic order, reversed, and four times shuffled and turned; and their cycles.

    With `exhaustive` every order and orientation; a symmetry of the cycles takes any edge, either
    way round, to the first place.
    """
    k = case.hops

    def cut(order: list[int]) -> Instance:
        rings = [order] if case.cycles == 1 else [order[: k // 2], order[k // 2 :]]
        return [edge for r in rings for edge in zip(r, r[1:] + r[:1], strict=True)], rings

    if case.get("exhaustive"):
        (first, *others), rings = cut(list(range(k)))
        for rest in permutations(others):
            for turned in product((False, True), repeat=k - 1):
                pairs = zip(rest, turned, strict=True)
                yield [first, *((v, u) if turn else (u, v) for (u, v), turn in pairs)], rings
        return
    rng = case.rng(seed)
    for trial in range(6):
        edges, rings = cut(rng.permutation(k).tolist())
        if trial == 1:
            edges = edges[::-1]
        elif trial > 1:
            shuffled = rng.permutation(len(edges))
            edges = [edges[i] if rng.integers(2) else edges[i][::-1] for i in shuffled]
        yield edges, rings


def _distances(instances: Iterable[Instance], hops: int, copies: int) -> set[int]:
    """How far hop_k walks from every start vertex; -1 where it leaves the cycle."""
    distances = set()
    for edges, rings in instances:
        for ring, start in [(r, v) for r in rings for v in r]:
            end = hop_k(edge_sequence(edges, start, copies), hops)[-1]
            apart = (ring.index(end) - ring.index(start)) % len(ring) if end in ring else -1
            distances.add(min(apart, len(ring) - apart))
    return distances


@claim(
    Eq(walked, hops * (2 - cycles) / 2),
    assumes={
        "$k$ is even": lambda case: case.hops % 2 == 0,
        "cycles have at least 3 vertices": lambda case: case.hops >= 6,
    },
    source=Source("sanford2024", "Corollary 4.3", SANFORD),
    wording="printed",
    kind="construction",
    cases={
        "quick": Case.grid(hops=(6, 8), cycles=(1, 2)),
        "theory": (
            *Case.grid(hops=(10, 12, 16), cycles=(1, 2)),
            *Case.grid(hops=6, cycles=(1, 2), exhaustive=True),
        ),
    },
    control=Control(
        Case(hops=6, cycles=2), "three steps on a triangle come back", Eq(walked, hops / 2)
    ),
    cited=(
        "Decides whether the depth bound of sanford2024's Corollary 4.3 may rest on its reduction."
    ),
)
def cycle_reduction(case: Case, seed: int) -> Exact:
    r"""$\mathrm{hop}_k$ on the edge list tells one cycle from two.

    For every even $k \geq 6$ and every order, orientation and labelling of the edges,
    $\mathrm{hop}_k$ at the last token of $k/2$ copies of the edge list, followed by a vertex, is a
    vertex at distance $k/2$ on one $k$-cycle, and the vertex itself on two $k/2$-cycles.

    Nine tokens `* u + v u + v * _` for each edge: two hops walk one edge, from either end, and the
    next copy of a vertex met going back belongs to its other edge. At $k = 6$ all orders and
    orientations are tried, up to symmetry. The $9 k (k/2) + 1$ tokens are all needed (ours; tested
    at $k = 6$): with a copy less, edges listed along the walk are not walked. So $k = \Theta(\sqrt
    N)$ for this reduction; smaller $k$ pads the sequence. This executes the reduction; that
    $\mathrm{hop}_k$ then needs $\Omega(\log k)$ layers is conditional.
    """
    return only(_distances(_instances(case, seed), case.hops, case.hops // 2))
