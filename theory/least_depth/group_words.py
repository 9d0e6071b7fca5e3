"""Products of words over a finite group, which is state tracking, by diagonal layers.

A word is a sequence of group elements, and the task is the product of every prefix. A diagonal
layer multiplies each coordinate of its state by a number that depends on its input. With finitely
many states the numbers are roots of unity, and the weights here are their exponents modulo m.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import pairwise, product
from typing import Any, NamedTuple

from sympy import floor, isprime, n_order

from ..atlas.tasks import group_words
from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.formal import Formal
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.classes import in_class
from ..nets.json_format import recurrent_net
from ..nets.recurrent import RecurrentNet
from ..nets.right import right_on
from .groups import (
    GROUPS,
    Element,
    closure,
    element_name,
    exponent,
    inverse,
    power,
    series,
    series_length,
    times,
)

tracking_layers = quantity(
    "tracking_layers",
    "L_G",
    "least number of diagonal layers with finitely many states that track a group; -1 if not shown",
    "integer",
)
derived_length = quantity("derived_length", "d", "derived length of a group")
square_length = quantity(
    "square_length", "d_2", r"least $k$ with $G_k = 1$, where $G_{i+1} = G_i' G_i^2$"
)
told_apart = quantity(
    "words_told_apart",
    r"\#_{\neq}",
    "layers whose states differ after two words of different products",
    "integer",
)
largest_entry = quantity(
    "largest_entry", r"|z|_{max}", "largest entry of a state; -1 if a word is wrong", "integer"
)
polygon_sides = quantity("polygon_sides", "n", "number of sides of a regular polygon")
word_letters = quantity("word_letters", "T", "number of letters of a word")

GroupWord = tuple[Element, ...]

_DIAGONAL = Source("depthlaw", "after shakerinava2026, arXiv:2603.01959v1, abstract")

# --- diagonal layers that track a group ---


class DiagonalLayer(NamedTuple):
    """Weights of a layer h <- zeta^exponents[x] * h with zeta = exp(2 pi i / m), b = 0: of every x
    in N one exponent a coordinate, characters of N/M; and of every state, again as exponents, the
    element of N that stands for its coset of M."""

    exponents: dict[Element, tuple[int, ...]]
    coset: dict[tuple[int, ...], Element]


def characters(
    upper: frozenset[Element], lower: frozenset[Element], m: int
) -> dict[Element, tuple[int, ...]]:
    """Characters N -> Z/m that are 0 exactly on M, as one tuple of exponents for each element of N.

    Raises:
        ValueError: when the factor N/M is not abelian or its exponent does not divide m.

    Cost: m^r times the order of N for r generators.
    """
    generators: list[Element] = []
    while not generators or len(closure([*generators, *lower])) < len(upper):
        known = closure([*generators, *lower]) if generators else lower
        generators.append(min(upper - known))
    rows: dict[Element, tuple[int, ...]] = dict.fromkeys(upper, ())
    one = power(min(upper), 0)
    for values in product(range(m), repeat=len(generators)):
        images = [*zip(generators, values, strict=True), *((x, 0) for x in lower)]
        found = products(
            one, lambda p, x: times(p, x[0]), 0, lambda value, x: (value + x[1]) % m, images
        )
        if found is None:
            continue
        finer = {x: (*rows[x], found[x]) for x in upper}
        if len(set(finer.values())) > len(set(rows.values())):
            rows = finer
    if len(set(rows.values())) * len(lower) != len(upper):
        raise ValueError(f"roots of unity of order {m} do not tell the cosets apart")
    return rows


def cascade(parts: list[frozenset[Element]], m: int) -> list[DiagonalLayer]:
    """One diagonal layer for each factor of a descending series."""
    layers = []
    for upper, lower in pairwise(parts):
        exponents = characters(upper, lower, m)
        one = power(min(upper), 0)
        coset = {exponents[x]: x for x in sorted(upper, reverse=True)} | {exponents[one]: one}
        layers.append(DiagonalLayer(exponents, coset))
    return layers


def table(emitted: Mapping[tuple[Any, str], str]) -> Any:
    """What a recurrent layer writes, (state, letter read) -> letter written, as a file has it."""
    letters = list(dict.fromkeys(letter for _, letter in emitted))
    if any(" " in name for name in (*letters, *emitted.values())):
        return [[list(state), letter, written] for (state, letter), written in emitted.items()]
    states = dict.fromkeys(state for state, _ in emitted)
    return {
        "letters": " ".join(letters),
        "rows": [
            [list(state), " ".join(emitted.get((state, letter), "-") for letter in letters)]
            for state in states
        ],
    }


def diagonal_net(group: str, m: int) -> RecurrentNet:
    """The layers of `cascade`, over the m-th roots of unity: 1 and -1, or powers of one modulo a
    prime. A letter names an element of a subgroup and what the layers below stand for.

    A layer whose coset goes from t to t' hands x -> t x t'^{-1}, an element of the smaller group,
    to the layer above. The series of the group modulo m has to reach 1.
    """
    elements = closure(GROUPS[group])
    modulus = None if m == 2 else next(p for p in itertools.count(m + 1, m) if isprime(p))
    root = -1 if modulus is None else next(x for x in range(2, modulus) if n_order(x, modulus) == m)
    one = power(min(elements), 0)

    def number(exponent: int) -> int:
        return root**exponent if modulus is None else pow(root, exponent, modulus)

    read = {element_name(x): (x, one) for x in sorted(elements)}
    body_layers = []
    layers = cascade(series(elements, m), m)
    for at, layer in enumerate(layers, 1):
        wrote, emit = {}, {}
        for state, (letter, (x, below)) in product(layer.coset, read.items()):
            after = tuple((h + e) % m for h, e in zip(state, layer.exponents[x], strict=True))
            rest = times(times(layer.coset[state], x), inverse(layer.coset[after]))
            reached = times(layer.coset[after], below)
            name = element_name(reached)
            if at < len(layers):
                name = f"{element_name(rest)}.{name}"
            wrote[name] = (rest, reached)
            emit[tuple(map(number, state)), letter] = name
        body_layers.append(
            {
                "start": [1] * len(next(iter(layer.coset))),
                "before": True,
                "step": {
                    letter: {"diagonal": [number(e) for e in layer.exponents[x]]}
                    for letter, (x, _) in read.items()
                },
                "emit": table(emit),
            }
        )
        read = wrote
    return recurrent_net(
        {
            "family": "recurrent",
            **({} if modulus is None else {"modulus": modulus}),
            "alphabet": [element_name(x) for x in sorted(elements)],
            "layers": body_layers,
        }
    )


def products(
    begin: Hashable,
    step: Callable[[Any, Any], Any],
    unit: Hashable,
    multiply: Callable[[Any, Any], Any],
    letters: Iterable[Any],
) -> dict[Any, Any] | None:
    """The product that each state stands for; None if words of different products reach one state.

    The search closes over all states, so that it is about words of every length. It ends at the
    first conflict; without one its cost is the number of states times the number of letters.
    """
    listed = list(letters)
    found, new = {begin: unit}, [begin]
    for state in new:
        for letter in listed:
            after, value = step(state, letter), multiply(found[state], letter)
            if after not in found:
                found[after] = value
                new.append(after)
            elif found[after] != value:
                return None
    return found


# --- words that fewer layers cannot tell apart ---


def universal(words: Iterable[GroupWord], m: int, layers: int) -> list[list[frozenset[Any]]]:
    """For each word the states of layers that see no less than any stack of m-th roots of unity.

    Layer 1 counts modulo m how often each letter was read; layer l + 1 how often it was read in
    each state of the layers below. A coordinate of any such stack is a product of factors, one for
    each reading of a letter in a state of the layers below, so it is a function of these counts.
    Cost: length of the words times the number of counts.
    """
    # States get numbers when they are first seen, the same for all words.
    names: list[dict[Any, int]] = [{frozenset(): 0} for _ in range(layers)]
    ends = []
    for word in words:
        counts: list[dict[Any, int]] = [{} for _ in range(layers)]
        states = [0] * layers
        for letter in word:
            # Each layer reads the states below as they were before this letter.
            below = tuple(states)
            for level, count in enumerate(counts):
                edge = (*below[:level], letter)
                times_read = (count.pop(edge, 0) + 1) % m
                if times_read:
                    count[edge] = times_read
                if level < layers - 1:
                    name = names[level]
                    states[level] = name.setdefault(frozenset(count.items()), len(name))
        ends.append([frozenset(count.items()) for count in counts])
    return ends


def value(word: GroupWord, one: Element) -> Element:
    """The product of a word."""
    for letter in word:
        one = times(one, letter)
    return one


def look_alike(
    group: frozenset[Element], m: int, layers: int
) -> tuple[GroupWord, GroupWord] | None:
    """Two words of different products that so many diagonal layers cannot tell apart, or None.

    A word returns k layers if all their states are as before it. Letters return none. If u and v
    return k layers, then u^m and u^{m-1} v^{m-1} u v return k + 1, since they change the counts of
    layer k + 1 by multiples of m; and uv and vu, as well as u^m and the empty word, change these
    counts alike. Whether the words do what is said here is for the caller to check by `universal`.
    """
    one = power(min(group), 0)
    words: dict[Element, GroupWord] = {x: (x,) for x in sorted(group)}
    if layers == 0:
        return next((((x,), (one,)) for x in words if x != one), None)
    for _ in range(layers - 1):
        longer: dict[Element, GroupWord] = {}
        values = [value(u, one) for u in words.values()]
        listed = [(u, x, power(x, m - 1)) for u, x in zip(words.values(), values, strict=True)]
        for u, x, x_back in listed:
            longer.setdefault(times(x_back, x), u * m)
            for v, y, y_back in listed:
                product = times(times(x_back, y_back), times(x, y))
                if product not in longer:
                    longer[product] = u * (m - 1) + v * (m - 1) + u + v
        words = longer
    for x, u in words.items():
        if power(x, m) != one:
            return u * m, ()
        for y, v in words.items():
            if times(x, y) != times(y, x):
                return u + v, v + u
    return None


def least_layers(name: str, m: int) -> Exact:
    """The number of layers of the net over the m-th roots of unity, or -1 where it is wrong or
    no two words are found that look alike to one layer fewer."""
    group = closure(GROUPS[name])
    parts = series(group, m)
    if len(parts[-1]) > 1:
        return Exact(-1)
    net = diagonal_net(name, m)
    alike = look_alike(group, m, net.depth - 1)
    broken = in_class(net, "sign-ssm" if m == 2 else "diagonal-ssm")
    if alike is None or broken or not right_on(net, group_words(name)):
        return Exact(-1)
    one = power(min(group), 0)
    differ = value(alike[0], one) != value(alike[1], one)
    first, second = universal(alike, m, net.depth - 1)
    return Exact(net.depth if differ and first == second else -1)


def growing_layer(n: int, longest: int, bound: int | None = None) -> int:
    """The largest integer in the state of one diagonal layer that tracks the n-gon's symmetries.

    The layer reads r^a s^b, with a of least absolute value, and stores the inverse r^z s^c of the
    product: s <- (-1)^b s and z <- (-1)^b z - (-1)^b a, with s = (-1)^c. All words up to the length
    are run, as sets of (state, product); -1 if one is decoded wrongly. At a bound entries are cut
    off.
    """
    letters = [(a if 2 * a <= n else a - n, b) for a in range(n) for b in (0, 1)]
    reached, largest = {(1, 0, 0, 0)}, 0
    for _ in range(longest):
        following = set()
        for (s, z, p, q), (a, b) in product(reached, letters):
            sign = (-1) ** b
            z1, s1 = sign * z - sign * a, sign * s
            if bound is not None:
                z1 = max(-bound, min(bound, z1))
            # The product r^p s^q times r^a s^b.
            p1, q1 = (p + (-1) ** q * a) % n, (q + b) % 2
            if (-s1 * z1 % n, int(s1 < 0)) != (p1, q1):
                return -1
            largest = max(largest, abs(z1))
            following.add((s1, z1, p1, q1))
        reached = following
    return largest


# --- claims ---

LENGTHS = {"C6": 1, "S3": 2, "D4": 2, "Q8": 2, "A4": 2, "S4": 3}
LONGER = {"D8": 2, "C13:C3": 2, "SL(2,3)": 3, "GL(2,3)": 4}
_ROOTS = {
    "C6": 6, "S3": 6, "D4": 4, "Q8": 4, "A4": 6, "S4": 12, "D8": 8, "SL(2,3)": 12, "GL(2,3)": 24,
    "C13:C3": 39,
}  # fmt: skip


def solvable(lengths: dict[str, int], times_exponent: int = 1) -> tuple[Case, ...]:
    """Cases: groups with their derived lengths, and roots of the order of a multiple of their
    exponents."""
    return tuple(
        Case(group=name, derived_length=length, roots=times_exponent * _ROOTS[name])
        for name, length in lengths.items()
    )


AS_STATED: dict[str, Callable[[Case], bool]] = {
    "the roots are of an order that the exponent of the group divides": lambda case: (
        case.roots % exponent(closure(GROUPS[case.group])) == 0
    ),
    "the derived length is that of the group": lambda case: (
        series_length(case.group, case.roots) == case.derived_length
    ),
}


@claim(
    Eq(tracking_layers, derived_length),
    source=_DIAGONAL,
    cases={
        "quick": (*solvable(LENGTHS), *solvable({"S3": 2, "S4": 3}, 5)),
        "theory": (*solvable(LONGER), *solvable(LENGTHS, 7)),
    },
    assumes=AS_STATED,
    control=Control(
        Case(group="S3", derived_length=2, roots=6, polygon_sides=3),
        "one layer of the same kind whose state is an integer that grows with the length",
        measured=lambda case: Exact(1 if growing_layer(case.polygon_sides, 12) >= 0 else -1),
    ),
    cited="Decides how many diagonal layers with finitely many exact states a group needs at every "
    "length.",
    formal=Formal(
        "Diagonal.tracking_layers_checked",
        "Diagonal.tracking_value {derived_length}",
        "That the groups of the cases have these derived lengths. Layers that round after each "
        "update are not meant.",
    ),
)
def diagonal_layers(case: Case) -> Exact:
    r"""Finite-state diagonal layers track a solvable group in exactly its derived length.

    For every solvable finite group $G \neq 1$ the least number of layers $h \to \lambda h + b$ with
    diagonal complex $\lambda$ and finitely many states that give the product of every prefix of
    every word over $G$ is the derived length of $G$; $\lambda$, $b$ and the read-out are arbitrary
    functions of the letter and the states below.

    Upper side: a net with weights by characters of the factors of the derived series, without input
    term, its roots of unity residues modulo a prime; the search over its states closes, so every
    word of every length is right, not only short ones.
    Lower side: two words of different products after which the layers, one fewer, are in equal
    states, whatever their weights, so after one more letter, the same for both, every read-out says
    the same. The words are run through the counts modulo $m$ that every stack of $m$-th roots of
    unity is a function of. That every layer with finitely many states is one of such roots, for
    some $m$, is part of the theorem; $m$ is tried at the exponent of $G$ and
    multiples of it. The abstract of the source says: $k$ layers iff a subnormal series of length
    $k$ with abelian factors; the shortest such series has the derived length. With $O(\log T)$ bits
    for $T$ steps it is false (least_depth/growing_state).
    """
    return least_layers(case.group, case.roots)


_SIGNS = {"C2": 1, "C4": 2, "C8": 3, "C2xC4": 2, "D4": 2, "Q8": 2, "D8": 3}


@claim(
    Eq(tracking_layers, square_length),
    source=Source("depthlaw", "after shakerinava2026, arXiv:2603.01959v1"),
    cases={
        "quick": tuple(
            Case(group=name, square_length=length, roots=2) for name, length in _SIGNS.items()
        )
    },
    assumes={
        "the eigenvalues are 1 and -1": lambda case: case.roots == 2,
        "the length is that of the group": lambda case: (
            series_length(case.group, 2) == case.square_length
        ),
    },
    control=Control(
        Case(group="C8", square_length=3, roots=8), "complex eigenvalues do it in one layer"
    ),
    supports="least_depth/diagonal_layers",
    formal=Formal(
        "Diagonal.sign_layers_checked",
        "Diagonal.tracking_value {square_length}",
        "That the groups of the cases have these lengths; that every 2-group has one and no other "
        "group; that real layers with finitely many states and other eigenvalues, such as 0, track "
        "no more.",
    ),
)
def sign_layers(case: Case) -> Exact:
    r"""With eigenvalues $\pm 1$ a 2-group takes one layer for each factor $G / G' G^2$.

    For every finite 2-group $G \neq 1$ the least number of diagonal layers with eigenvalues $1$ and
    $-1$ and finitely many states that track $G$ is the least $k$ with $G_k = 1$, where $G_0 = G$
    and $G_{i+1} = G_i' G_i^2$.

    So the cyclic group of order $2^k$, one layer with complex eigenvalues, takes $k$. Both sides
    are as in least_depth/diagonal_layers with $m = 2$. A group that is no 2-group has no such $k$:
    no depth is enough. This is the class of real diagonal layers with negative eigenvalues and
    finitely many states.
    """
    return least_layers(case.group, case.roots)


def _told_apart(case: Case, more: int = 0) -> Exact:
    """Layers that tell two words apart which look alike to `depth` layers; -1 without such."""
    group = closure(GROUPS[case.group])
    one = power(min(group), 0)
    alike = look_alike(group, case.roots, case.depth)
    if alike is None or value(alike[0], one) == value(alike[1], one):
        return Exact(-1)
    ends = universal(alike, case.roots, case.depth + more)
    return Exact(sum(first != second for first, second in zip(*ends, strict=True)))


@claim(
    Eq(told_apart, 0),
    source=_DIAGONAL,
    holds_for="exists",
    cases={
        "quick": (
            *Case.grid(group="A5", depth=(1, 2), roots=30),
            *Case.grid(group="S5", depth=2, roots=60),
        ),
        "theory": (
            *Case.grid(group="A5", depth=3, roots=(2, 3, 5, 30)),
            *Case.grid(group="A5", depth=4, roots=(2, 3, 5)),
        ),
    },
    control=Control(
        Case(group="A5", depth=2, roots=30),
        "a third layer tells the two words apart",
        measured=lambda case: _told_apart(case, more=1),
    ),
    supports="least_depth/diagonal_layers",
    formal=Formal(
        "Diagonal.words_alike",
        "0%N",
        "The theorem holds no number: for every group that is not solvable, as the file shows of "
        "these two, it gives the words, whose length it does not say.",
    ),
)
def no_depth_is_enough(case: Case) -> Exact:
    r"""No number of finite-state diagonal layers tracks $A_5$ or $S_5$.

    For every $k$ and every $m$ there are two words over $A_5$ of different products after which
    every stack of $k$ diagonal layers with finitely many states, and with $m$-th roots of unity as
    eigenvalues, is in the same states, whatever its weights.

    The words are run through the counts that every such stack is a function of, as in
    least_depth/diagonal_layers. For all $k$ at once it is an induction: since $A_5$ equals its
    commutator subgroup, the products of words that return $k$ layers never become few. Longer words
    are needed for more layers, about $2 (2 m)^{k-1}$ letters, so it is no statement about words of
    bounded length.
    """
    return _told_apart(case)


@claim(
    Eq(largest_entry, word_letters * floor(polygon_sides / 2)),
    source=Source("depthlaw", "after shakerinava2026, arXiv:2603.01959v1, abstract"),
    cases={
        "quick": (
            *Case.grid(polygon_sides=(3, 4, 5, 8), word_letters=(1, 6, 20)),
            Case(polygon_sides=200, word_letters=1),
        ),
        "theory": Case.grid(polygon_sides=(3, 12), word_letters=100),
    },
    control=Control(
        Case(polygon_sides=3, word_letters=20),
        "an integer of fixed size, cut off at 8",
        measured=lambda case: Exact(growing_layer(case.polygon_sides, case.word_letters, bound=8)),
    ),
    supports="least_depth/diagonal_layers",
)
def growing_state(case: Case) -> Exact:
    r"""One diagonal layer tracks $D_n$ with $O(\log T)$ bits.

    For every $n$ one diagonal layer with eigenvalues $\pm 1$ gives the product of every prefix of
    every word of $T$ symmetries of the regular $n$-gon exactly, and the largest integer in its
    state is $T \lfloor n/2 \rfloor$.

    So logarithmically many bits replace a layer, and the necessity of the second
    (least_depth/diagonal_layers) says nothing about words of a length that the integers of the
    number format cover: for $S_3$ in single precision, about $2^{24}$ letters. The class is words,
    since a net lists its states: all words of the length are run, as sets of states. The layer
    stores the inverse of the product, since the sign that a new letter brings then acts on what is
    stored, and not the other way round.
    """
    return Exact(growing_layer(case.polygon_sides, case.word_letters))
