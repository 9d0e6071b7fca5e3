"""DeltaNet: a linear recurrence S <- S (I - beta k k^T) with one Householder factor a letter.

With |k| = 1 and beta in [0, 2]; a write adds beta v k^T. One layer tracks no group with an element
of order 3 or more. Two layers track every rotation group of a solid, which no number of diagonal
layers does for the icosahedron.

An orthogonal matrix of a finite reflection group is written as the permutation by which it maps the
roots, the vectors k of the group's reflections: exact, whatever the coordinates are.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from ..atlas.tasks import group_words
from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.formal import Formal
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.classes import in_class
from ..nets.right import right_on
from .group_nets import cube, octagon
from .group_words import AS_STATED, LENGTHS, LONGER, cascade, derived_length, products, solvable
from .groups import GROUPS, Element, closure, inverse, order, power, series, times

deltanet_layers = quantity(
    "deltanet_layers",
    r"L_\Delta",
    "least number of DeltaNet layers with finitely many states for a group; -1 if not shown",
    "integer",
)
deltanet_enough = quantity(
    "deltanet_enough",
    r"L_\Delta^+",
    "number of DeltaNet layers that track a group, as built here; -1 if a word is wrong",
    "integer",
)
longest_period = quantity(
    "longest_period", "p_{max}", "longest period of the states while one letter is repeated"
)

# Nets of figures whose coordinates are written down.
NETS = {"S4": cube, "D8": octagon}

# The states of the heads of every layer.
Heads = tuple[tuple[Element, ...], ...]

# a + b phi with phi = (1 + sqrt 5) / 2, so phi^2 = phi + 1.
Golden = tuple[int, int]
Root = tuple[Golden, ...]
# Of tetrahedron, cube and icosahedron: the rotations, and roots that make all others.
SOLIDS: dict[str, tuple[tuple[int | Golden, ...], ...]] = {
    "A4": ((1, -1, 0), (0, 1, -1), (0, 1, 1)),
    "S4": ((1, -1, 0), (0, 1, -1), (0, 0, 1)),
    "A5": ((2, 0, 0), (0, 2, 0), (1, (0, 1), (-1, 1))),
}


# --- roots and reflections ---


def polygon(n: int) -> list[Element]:
    """The reflections of the regular n-gon on its roots, 2n unit vectors at angles pi i/n.

    In the line across the vector of angle b a vector of angle a goes to 2 b + pi - a.
    """
    return [tuple((2 * j + n - i) % (2 * n) for i in range(2 * n)) for j in range(n)]


def roots(*some: Iterable[int | Golden]) -> list[Root]:
    """What reflections across some vectors make of these, sorted: all roots of their group."""
    start = [tuple(x if isinstance(x, tuple) else (x, 0) for x in each) for each in some]
    found = list(start)
    for z in found:
        for image in (reflected(z, k) for k in start):
            if image not in found:
                found.append(image)
    return sorted(found)


def reflections(listed: list[Root]) -> list[Element]:
    """By which permutation of all roots each of them reflects; its negative does by the same."""
    number = {x: i for i, x in enumerate(listed)}
    return [tuple(number[reflected(z, k)] for z in listed) for k in listed]


def golden_product(x: Golden, y: Golden) -> Golden:
    """The product in Z[phi]."""
    return x[0] * y[0] + x[1] * y[1], x[0] * y[1] + x[1] * y[0] + x[1] * y[1]


def _dot(z: Iterable[Golden], k: Iterable[Golden]) -> Golden:
    pairs = [golden_product(x, y) for x, y in zip(z, k, strict=True)]
    return sum(a for a, _ in pairs), sum(b for _, b in pairs)


def reflected(z: Root, k: Root) -> Root:
    """z - 2 <z, k> / <k, k> k; of roots, where <k, k> is an integer that divides 2 <z, k>."""
    (a, b), (norm, _) = _dot(z, k), _dot(k, k)
    share = 2 * a // norm, 2 * b // norm
    steps = [golden_product(share, y) for y in k]
    return tuple((x[0] - s[0], x[1] - s[1]) for x, s in zip(z, steps, strict=True))


def named(group: str) -> tuple[list[Element], frozenset[Element]]:
    """The reflections that DeltaNet may use, and the letters: all symmetries of the n-gon for "Dn",
    the rotations of a solid for "A4", "S4" and "A5".

    >>> [len(named(group)[1]) for group in ("D3", "A4", "S4", "A5")]
    [6, 12, 24, 60]
    """
    if group in SOLIDS:
        mirrors = list(dict.fromkeys(reflections(roots(*SOLIDS[group]))))
        return mirrors, closure([times(x, y) for x in mirrors for y in mirrors])
    mirrors = polygon(int(group.removeprefix("D")))
    return mirrors, closure(mirrors)


# --- layers ---


def factors(letter: Element, mirrors: Iterable[Element], layers: int) -> tuple[Element, ...]:
    """The letter as a product of so many reflections, or of fewer and 1 (beta = 0) in front; a
    ValueError where it is none."""
    one = power(letter, 0)
    if layers == 0:
        if letter != one:
            raise ValueError("the letter is a product of more reflections")
        return ()
    for mirror in (one, *mirrors):
        try:
            return (mirror, *factors(times(mirror, letter), mirrors, layers - 1))
        except ValueError:
            continue
    raise ValueError("the letter is a product of more reflections")


def tracked(mirrors: list[Element], letters: frozenset[Element]) -> bool:
    """Whether two layers are right on every word over a group, of whatever length.

    After a letter f h layer 1 multiplies its state S_1 by the reflection h, layer 2 its own by the
    reflection S_1 f S_1^{-1}, with S_1 as it was before the letter.

    Cost: the number of states, at most that of letters times that of the reflection group, times
    the number of letters.
    """
    group = sorted(closure(mirrors))
    number = {x: i for i, x in enumerate(group)}
    # Elements are their numbers from here on, since there are many states.
    by = [[number[times(x, y)] for y in group] for x in group]
    back = [number[inverse(x)] for x in group]
    allowed = {number[x] for x in (*mirrors, power(group[0], 0))}
    # Whatever the state of layer 1, it maps reflections to reflections.
    if any(by[by[g][f]][back[g]] not in allowed for g in range(len(group)) for f in allowed):
        return False
    split = {number[x]: tuple(number[f] for f in factors(x, mirrors, 2)) for x in sorted(letters)}

    def step(state: tuple[int, int], letter: int) -> tuple[int, int]:
        first, second = state
        f2, f1 = split[letter]
        return by[first][f1], by[second][by[by[first][f2]][back[first]]]

    one = number[power(group[0], 0)]
    found = products((one, one), step, one, lambda x, y: by[x][y], split)
    return found is not None and all(by[s2][s1] == x for (s1, s2), x in found.items())


def solvable_tracked(group: frozenset[Element], m: int, blind: bool = False) -> int:
    """The number of DeltaNet layers built for a solvable group, or -1 where a word is wrong.

    Layer 1 flips a sign at every letter. Above it stands one layer for each factor of the derived
    series, with a head of width 2 for each character. After an even number of letters the state of
    a head is a rotation by 2 pi a/m, after an odd number that rotation and a fixed reflection H. So
    each letter, which adds e to a, multiplies it by one reflection, R^e H or H R^e. The exponents a
    are those of the diagonal layers of `cascade`, for a multiple m of the exponent of the group.
    Where they are blind, layers do not read layer 1; for abelian groups.
    """
    layers, mirrors = cascade(series(group, m), m), polygon(m)
    fixed, one = mirrors[0], power(mirrors[0], 0)
    rotations = [power(times(mirrors[1], fixed), a) for a in range(m)]
    if not set(mirrors).issuperset(times(x, fixed) for x in rotations):
        return -1
    angle = {times(r, h): a for a, r in enumerate(rotations) for h in (one, fixed)}

    def step(state: tuple[int, Heads], letter: Element) -> tuple[int, Heads]:
        odd, states = state
        following = []
        for layer, heads in zip(layers, states, strict=True):
            turns = [rotations[e] for e in layer.exponents[letter]]
            after = tuple(
                times(s, times(fixed, r) if odd and not blind else times(r, fixed))
                for s, r in zip(heads, turns, strict=True)
            )
            # The letter for the layer above. Angles that stand for no coset occur only if blind.
            left, right = (
                layer.coset.get(tuple(angle[s] for s in each), unit) for each in (heads, after)
            )
            letter = times(times(left, letter), inverse(right))
            following.append(after)
        return 1 - odd, tuple(following)

    def decoded(states: Heads) -> Element:
        found = unit
        for layer, heads in zip(layers, states, strict=True):
            found = times(layer.coset[tuple(angle[s] for s in heads)], found)
        return found

    unit = power(min(group), 0)
    begin = tuple((one,) * len(layer.exponents[unit]) for layer in layers)
    found = products((0, begin), step, unit, times, group)
    if found is None or any(decoded(states) != x for (_, states), x in found.items()):
        return -1
    return 1 + len(layers)


def tracked_by_signs(letters: frozenset[Element]) -> bool:
    """Whether one layer tells it that flips a sign of its own for each letter: k is the unit vector
    of the letter, beta = 2."""
    listed = sorted(letters)

    def step(state: tuple[int, ...], letter: Element) -> tuple[int, ...]:
        return tuple(-s if x == letter else s for s, x in zip(state, listed, strict=True))

    one = power(listed[0], 0)
    return products((1,) * len(listed), step, one, times, listed) is not None


def periods(length: int, real: bool = True) -> set[int]:
    """The periods of one layer, on one letter repeated, if its state returns after so many steps.

    A row is constant across k, and along k it is s <- mu s + c with mu = 1 - beta. Its steps are d,
    mu d, mu^2 d, ..., so it returns after p of them iff d = 0 (period 1), or mu = 0 (period 1), or
    1 + mu + ... + mu^{p-1} = 0, for real mu, as one Householder factor has, or all complex ones.

    >>> periods(12), periods(3, real=False)
    ({1, 2}, {1, 3})
    """
    x = sympy.Symbol("x")
    total = sympy.Poly(sum(x**i for i in range(length)), x)
    found = {1}
    for factor, _ in total.factor_list()[1]:
        if factor.count_roots() or not real:
            # All roots of an irreducible factor have the same order.
            found.add(
                next(q for q in range(1, length + 1) if sympy.Poly(x**q - 1, x).rem(factor).is_zero)
            )
    return found


def _least_layers(case: Case) -> Exact:
    """1 if one layer of signs is right; 2 if two layers are, and no layer can have a period that
    some letter needs; else -1."""
    mirrors, letters = named(case.group)
    if tracked_by_signs(letters):
        return Exact(1)
    right = needs_two_layers(letters) and tracked(mirrors, letters)
    if case.group in NETS:
        net = NETS[case.group]()
        right &= bool(right_on(net, group_words(case.group))) and not in_class(net, "deltanet")
    return Exact(2 if right else -1)


def needs_two_layers(letters: frozenset[Element]) -> bool:
    """Whether no layer can have a period that some letter needs, see `deltanet_period`."""
    # The powers of a letter of order p are told apart only by states of a period that p divides;
    # the state may return after any multiple of p, of which the first four are tried.
    longest = max(map(order, letters))
    returns = range(longest, 4 * longest + 1, longest)
    return all(period % longest for length in returns for period in periods(length))


# --- claims ---


@claim(
    Eq(deltanet_layers, 2),
    source=Source("depthlaw", "after siems2025, arXiv:2502.10297v4, abstract"),
    cases={
        "quick": Case.grid(group=("D3", "D4", "D5", "D6", "A4", "S4", "A5")),
        "theory": Case.grid(group=("D7", "D8", "D12", "D16")),
    },
    assumes={"some element has order 3 or more": lambda case: case.group not in ("D1", "D2")},
    control=Control(Case(group="D2"), "where every element has order 2 one layer is enough"),
    supports="least_depth/diagonal_layers",
)
def deltanet_rotations(case: Case) -> Exact:
    r"""Finite-state DeltaNet tracks $D_n$, $A_4$, $S_4$, $A_5$ in exactly two layers.

    For the symmetries of every regular $n$-gon, $n \geq 3$, and for the rotations of tetrahedron,
    cube and icosahedron, that is $A_4$, $S_4$ and $A_5$, the least number of DeltaNet layers with
    one factor $I - \beta k k^T$, $\beta \in [0, 2]$, and finitely many states that give the product
    of every prefix of every word is 2; $\beta$, $k$, $v$, the start and the read-out are arbitrary:
    all but the start are functions of the letter and the states below.

    Upper side: write every letter as two reflections of the figure, $x = f h$. Layer 1 multiplies
    its state $S_1$ by $h$. Layer 2 multiplies $S_2$ by $S_1 f S_1^{-1}$, again a reflection, whose
    $k$ is that of $f$ mapped by the state of layer 1 before the letter. Then $S_2 S_1$ is the
    product of the word. The states start as the identity, nothing is written, and the search over
    all states closes, so words of every length are right. The class is words where letters are
    permutations of roots; of the cube and the octagon a net of the class is run too, with
    coordinates and the same two layers. From a zero start, one first token that
    writes does the same. With $r$ layers every group of products of at most $r$ reflections of a
    finite reflection group is tracked likewise: $S_5$ in four. Lower side:
    least_depth/deltanet_period. The abstract of the source says two layers for dihedral groups. The
    weights and the solids were derived here; that one layer is not enough follows from real
    eigenvalues, as in Grazzi and others. Diagonal layers take 2, 2 and 3 for $D_n$, $A_4$ and
    $S_4$, and no number of them does $A_5$ (least_depth/no_depth_is_enough).
    """
    return _least_layers(case)


@claim(
    Eq(deltanet_enough, derived_length + 1),
    source=Source("depthlaw", "after siems2025, arXiv:2502.10297v4, and shakerinava2026"),
    kind="construction",
    cases={"quick": solvable(LENGTHS), "theory": solvable(LONGER)},
    assumes=AS_STATED,
    control=Control(
        Case(group="C6", derived_length=1, roots=6),
        "the sign of layer 1 is not read",
        measured=lambda case: Exact(
            solvable_tracked(closure(GROUPS[case.group]), case.roots, blind=True)
        ),
    ),
    supports="least_depth/diagonal_layers",
)
def deltanet_solvable(case: Case) -> Exact:
    r"""Finite-state DeltaNet tracks a solvable group in derived length plus one.

    For every solvable finite group $G$ of derived length $d$ there are weights of $d + 1$ DeltaNet
    layers with one factor $I - \beta k k^T$, $\beta \in [0, 2]$, and finitely many states that give
    the product of every prefix of every word over $G$.

    A rotation by any angle is two reflections, and one of them may be the same for all letters; so
    the parity of the number of letters, in layer 1, is all that a layer needs to know besides its
    character. One layer more than with diagonal complex layers (least_depth/diagonal_layers), then,
    and not one for each of them. The class is words: heads are permutations of roots. The search
    over all states closes, so words of every length are right. It need not be the least number:
    $D_4$ takes two (least_depth/deltanet_rotations). From derived length 4 on it is not: four
    layers do every finite group, as two texts report of later versions of the source (v6 or v7);
    version 4 does not say so. For the group of order 39, 13:3, it is the least: that two layers are
    not enough is prose in docs/fewer-layers.md.
    """
    return Exact(solvable_tracked(closure(GROUPS[case.group]), case.roots))


@claim(
    Eq(longest_period, 2),
    source=Source("depthlaw", "after siems2025, arXiv:2502.10297v4"),
    cases={"quick": Case.grid(returns=(2, 4, 6, 12)), "theory": Case.grid(returns=(24, 36, 60))},
    assumes={"an even number of steps": lambda case: case.returns % 2 == 0},
    control=Control(
        Case(returns=12),
        "the complex eigenvalues of two Householder factors a letter",
        measured=lambda case: Exact(max(periods(case.returns, real=False))),
    ),
    supports="least_depth/diagonal_layers",
    formal=Formal(
        "Quaternion.longest_period",
        "Quaternion.repeated_period",
        "That a layer gives a repeated letter the same beta, k and v at every step, since no layer "
        "is below it.",
    ),
)
def deltanet_period(case: Case) -> Exact:
    r"""One DeltaNet layer has period at most 2 on a repeated letter.

    For every real $\beta$, $k$, $v$ and start, if the states $S \to S (I - \beta k k^T) + \beta v
    k^T$, $|k| = 1$, return while one letter is repeated, their period is 1 or 2 from some step on,
    and 2 is attained.

    So one layer with finitely many states tracks no group with an element of order 3 or more; a
    group without one, an elementary abelian 2-group, is tracked by a sign for each letter, so these
    are exactly the groups of one layer. The steps of a state along $k$ are
    $d, \mu d, \mu^2 d, \ldots$ with $\mu = 1 - \beta$, so it returns after $p$ steps iff $d = 0$,
    $\mu = 0$ or $1 + \mu + \ldots + \mu^{p-1} = 0$; the real roots of the factors of this
    polynomial are counted exactly. All $\beta$ at once, and each number of steps $p$ tried; that
    $\mu^p = 1$ has no real roots but 1 and $-1$ for other $p$ is plain. Letters are read with a
    window of fixed length at most, which does not matter when one letter is repeated. With
    infinitely many states nothing of this holds.
    """
    return Exact(max(periods(case.returns)))
