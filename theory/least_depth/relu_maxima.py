"""Hidden layers of ReLU nets for the maximum of n numbers, by explicit weights and finite algebra.

Depth is the number of hidden layers of a net of any width with real weights and biases that is
equal to MAX_n on all of R^n. A block is max(h, h') with h and h' sums of equally many terms m_ij =
max(x_i, x_j), where m_ii = x_i: the first layer gives the terms, the second one the maximum.

On the chamber x_1 >= ... >= x_n all terms are coordinates, so a block is (h + h')/2 + |h - h'|/2
with linear h and h'. Where h - h' keeps its sign it is linear; else it has a kink on a hyperplane
that cuts the chamber. Kinks on different hyperplanes are linearly independent. So a sum of blocks
is x_1 on the chamber iff the weights on every hyperplane cancel and the linear parts add up to x_1:
finite algebra, no sampling. For a symmetric sum one chamber is all of R^n.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray
from sympy import Min, ceiling, log
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.builder import exact
from ..nets.classes import in_class
from ..nets.relu import Maximum, ReluNet, relu_net
from ..nets.right import right_on

Integers = NDArray[np.int64]
Term = tuple[int, int]
# The terms of both sides.
Block = tuple[tuple[Term, ...], tuple[Term, ...]]
Lines = Sequence[tuple[Fraction, Block]]
# Up to so many numbers the weights of the net are written down: 632 units in the second layer.
WRITTEN = 6

n = quantity("maximands", "n", "numbers whose maximum is taken")
terms = quantity("block_terms", "t", "terms of each of the two sums that a block compares")
hidden_layers = quantity(
    "hidden_layers",
    r"L_{hid}",
    "least number of hidden layers of a ReLU net that is the function on all of $R^n$",
    "integer",
)
largest = quantity(
    "largest_by_blocks",
    r"n_{max}",
    "largest $n$ for which the maximum of $n$ numbers is a sum of weighted blocks of one kind",
    "integer",
)


def identity(size: int) -> Lines:
    """MAX_n as weighted blocks, each for its mean over all relabellings; indices from 0.

    The terms of both sums stand in maxima_weights.csv, "11" for x_1 and "12" for max(x_1, x_2). The
    lines for seven and eight were found by linear programming over all blocks, and solved over the
    rationals.

    Raises:
        ValueError: unless 3 <= n <= 8.

    >>> [(str(weight), block) for weight, block in identity(4)]
    [('1/2', (((0, 1), (0, 1)), ((2, 3), (2, 3))))]
    """
    with (Path(__file__).parent / "maxima_weights.csv").open(encoding="utf-8", newline="") as file:
        listed = [row[1:] for row in csv.reader(file) if row[0] == str(size)]
    if not listed:
        raise ValueError(f"n={size}: weights are listed for 3 <= n <= 8")
    return [(Fraction(weight), (_terms(one), _terms(other))) for weight, one, other in listed]


def _terms(listed: str) -> tuple[Term, ...]:
    return tuple((int(term[0]) - 1, int(term[1]) - 1) for term in listed.split())


@cache
def relabellings(size: int) -> Integers:
    """All permutations of the indices, array (n!, n)."""
    return np.array(list(itertools.permutations(range(size))))


# --- the chamber ----------------------------------------------------------------------------------


def kink(first: tuple[int, ...], second: tuple[int, ...], size: int) -> tuple[tuple[int, ...], int]:
    """The hyperplane of the open chamber on which the maximum of two linear forms bends, sums of
    the listed coordinates: coprime numbers a_k, the first one not 0 positive, and a factor c, where
    the difference of the forms is c sum_k a_k (x_k - x_{k+1}), up to sign. c = 0 if its sign is
    constant.

    >>> kink((0, 2), (1, 1), 3), kink((0, 0), (1, 2), 3)
    (((1, -1), 1), ((), 0))
    """
    gaps = [sum(i <= k for i in first) - sum(i <= k for i in second) for k in range(size - 1)]
    if min(gaps) >= 0 or max(gaps) <= 0:
        return (), 0
    factor = math.gcd(*gaps) * (1 if next(filter(None, gaps)) > 0 else -1)
    return tuple(gap // factor for gap in gaps), abs(factor)


def doubled(first: tuple[int, ...], second: tuple[int, ...], size: int) -> dict[object, int]:
    """Twice the maximum of two forms on the chamber: coordinate -> factor, hyperplane -> weight of
    its kink |sum_k a_k (x_k - x_{k+1})|. Forms must have the same number of coordinates.

    >>> doubled((0, 2), (1, 1), 3)
    {0: 1, 2: 1, 1: 2, (1, -1): 1}
    """
    total: dict[object, int] = defaultdict(int)
    plane, factor = kink(first, second, size)
    # Of two forms that do not cross the larger one comes first in the order of coordinates.
    for form in (first, second) if factor else 2 * (min(first, second),):
        for coordinate in form:
            total[coordinate] += 1
    if factor:
        total[plane] += factor
    return dict(total)


def symmetrised(block: Block, size: int) -> dict[object, int]:
    """2 n! times the mean of a block over all relabellings, on the chamber: as `doubled`.

    Cost: n! relabellings, of which as many as differ on the chamber are worked on.
    """
    # On the chamber a term is the coordinate of its lower index.
    names, half = relabellings(size), len(block[0])
    lower = np.stack([names[:, term].min(axis=1) for side in block for term in side], axis=1)
    lower = np.hstack([np.sort(lower[:, :half]), np.sort(lower[:, half:])])
    _, first, counts = np.unique(
        lower @ size ** np.arange(2 * half), return_index=True, return_counts=True
    )
    total: dict[object, int] = defaultdict(int)
    for form, count in zip(lower[first].tolist(), counts.tolist(), strict=True):
        for key, value in doubled(tuple(form[:half]), tuple(form[half:]), size).items():
            total[key] += value * count
    return dict(total)


def on_chamber(lines: Lines, size: int) -> dict[object, Fraction]:
    """A symmetric sum of weighted blocks on x_1 >= ... >= x_n: what is not zero of its linear part,
    by coordinate, and of its kinks, by hyperplane. It is {0: 1} of MAX_n."""
    total: dict[object, Fraction] = defaultdict(Fraction)
    for weight, block in lines:
        for key, value in symmetrised(block, size).items():
            total[key] += weight * value / (2 * math.factorial(size))
    return {key: value for key, value in total.items() if value}


# --- the net --------------------------------------------------------------------------------------


def blocks(case: Case) -> ReluNet:
    """ReLU(x_i - x_j) for all pairs, then ReLU(h - h') for each line and each relabelling, those of
    one direction as one unit.

    Numbers pass a layer as ReLU(t) - ReLU(-t): in the first one the sum of all inputs, in the
    second what is not under a ReLU there. So the net stays itself when its inputs are permuted.
    """
    size = case.maximands
    if size == 2:
        layer = {"matrix": [[1, -1], [0, 1], [0, -1]]}
        return relu_net({"family": "relu", "layers": [layer], "out": [1, 1, -1]})
    units = {pair: i for i, pair in enumerate(itertools.permutations(range(size), 2))}
    width = len(units) + 2
    first = [[(k == i) - (k == j) for k in range(size)] for i, j in units]
    first += [[1] * size, [-1] * size]

    def form(terms: Sequence[Term]) -> list[int]:
        """2 n times a sum of terms max(x_i, x_j), over the first layer's units.

        n x_i is the sum of all inputs and of all x_i - x_k; the larger of two numbers is half their
        sum and half their distance; and |t| = ReLU(t) + ReLU(-t), t = ReLU(t) - ReLU(-t).
        """
        total = [0] * width
        for i, j in terms:
            total[-2] += 2
            total[-1] -= 2
            for place, k in itertools.product((i, j), range(size)):
                if k != place:
                    total[units[place, k]] += 1
                    total[units[k, place]] -= 1
            if i != j:
                total[units[i, j]] += size
                total[units[j, i]] += size
        return total

    weights: dict[tuple[int, ...], Fraction] = {}
    straight = [Fraction(0)] * width
    names = relabellings(size).tolist()
    for (weight, block), new in itertools.product(identity(size), names):
        h, below = (form([(new[i], new[j]) for i, j in side]) for side in block)
        share = weight / (2 * size * len(names))
        unit = [x - y for x, y in zip(h, below, strict=True)]
        factor = math.gcd(*unit)
        small = tuple(x // factor for x in unit)
        weights[small] = weights.get(small, Fraction(0)) + factor * share
        straight = [x + share * y for x, y in zip(straight, below, strict=True)]
    # The second layer's straight unit in whole numbers.
    bottom = math.lcm(*(entry.denominator for entry in straight))
    passed = [int(entry * bottom) for entry in straight]
    return relu_net(
        {
            "family": "relu",
            "layers": [
                {"matrix": first},
                {"matrix": [*map(list, weights), passed, [-entry for entry in passed]]},
            ],
            "out": [*map(exact, weights.values()), f"1/{bottom}", f"-1/{bottom}"],
        }
    )


def output(size: int, x: Integers) -> tuple[Fraction, int]:
    """The output of `blocks` at an integer point, and how many hidden layers of ReLUs it went
    through, where the weights are too many to be written down: 42,422 units for n = 7."""
    term = x[None, :] + np.maximum(x[:, None] - x[None, :], 0)
    if size == 2:
        return Fraction(int(term[0, 1])), 1
    total, names = Fraction(0), relabellings(size)
    for weight, block in identity(size):
        h, below = (sum(term[names[:, i], names[:, j]] for i, j in side) for side in block)
        units = np.maximum(h - below, 0)
        total += weight * int((below + units).sum()) / len(names)
    return total, 2


def excluded_depth(size: int) -> int:
    """How many hidden layers MAX_n needs at least, as far as points with entries 0 and 1 show: 0, 1
    or 2.

    A net without hidden layers is additive up to a constant. With one, f = sum_i c_i ReLU(w_i x +
    b_i) + affine, and f(t x)/t for large t drops the biases and leaves MAX_n as it is; then
    f(x) - f(-x) = sum_i c_i w_i x + linear is additive.
    """
    points = [np.array(point) for point in itertools.product((0, 1), repeat=size)]
    pairs = list(itertools.product(points, repeat=2))

    def odd(x: Integers) -> int:
        return int(x.max() - (-x).max())

    if all(u.max() + v.max() == (u + v).max() for u, v in pairs):
        return 0
    return 1 if all(odd(u) + odd(v) == odd(u + v) for u, v in pairs) else 2


# --- all blocks at once ---------------------------------------------------------------------------


def block_orbits(size: int) -> Iterator[Block]:
    """One block with two terms a side of each orbit under relabelling of x_1..x_n.

    >>> [sum(1 for _ in block_orbits(size)) for size in (3, 4, 5)]
    [50, 100, 131]
    """
    # Eight places for indices. What matters is which of them hold the same index, up to the 128
    # ways to write a block: the order in a term, in a sum, and of the two sums.
    labels = [[0]]
    for _ in range(7):
        labels = [[*row, c] for row in labels for c in range(min(max(row) + 2, size))]
    rows, places = np.array(labels), list(itertools.combinations(range(8), 2))
    best = np.full(len(rows), np.iinfo(np.int64).max)
    for turned in itertools.product((0, 1), repeat=7):
        written = [(2 * t + turned[t], 2 * t + 1 - turned[t]) for t in range(4)]
        sides = [written[:2][:: 1 - 2 * turned[4]], written[2:][:: 1 - 2 * turned[5]]]
        order = [place for side in sides[:: 1 - 2 * turned[6]] for term in side for place in term]
        code = np.zeros(len(rows), dtype=np.int64)
        for bit, (p, q) in enumerate(places):
            code |= (rows[:, order[p]] == rows[:, order[q]]).astype(np.int64) << bit
        best = np.minimum(best, code)
    for a, b, c, d, e, f, g, h in rows[np.unique(best, return_index=True)[1]].tolist():
        yield ((a, b), (c, d)), ((e, f), (g, h))


def is_sum_of_blocks(size: int, terms: int) -> bool:
    """Whether MAX_n is a sum, with real weights, of blocks with one or two terms a side.

    MAX_n is symmetric, so it is such a sum iff it is one of means over all relabellings; those are
    compared on the chamber, by two ranks over Q.

    Cost: n! relabellings of each of at most 148 blocks.
    """
    blocks = [
        block
        for block in block_orbits(size)
        if terms == 2 or all(one == other for one, other in block)
    ]
    columns = [symmetrised(block, size) for block in blocks]
    keys = list({0: None} | {key: None for column in columns for key in column})
    rows = [[column.get(key, 0) for column in columns] for key in keys]
    beside = [[*row, int(key == 0)] for key, row in zip(keys, rows, strict=True)]
    return bool(fmpz_mat(rows).rank() == fmpz_mat(beside).rank())


# --- claims ---------------------------------------------------------------------------------------


def _least_hidden(case: Case) -> Exact:
    """Hidden layers of a net that is MAX_n, if fewer are excluded; -1 if either is not shown."""
    size = case.maximands
    if size <= WRITTEN:
        net = blocks(case)
        right, layers = right_on(net, Maximum(size)) and not in_class(net, "relu"), {net.depth}
    else:
        layers, right = set(), on_chamber(identity(size), size) == {0: 1}
        for x in case.rng(0).integers(-9, 10, (case.points, size)):
            value, hidden = output(size, x)
            layers.add(hidden)
            right &= value == x.max()
    return Exact(max(layers) if right and layers == {excluded_depth(size)} else -1)


_SIZES = {
    "quick": Case.grid(maximands=(2, 3, 4, 5, 6, 7), points=9),
    "theory": (Case(maximands=8, points=9), *Case.grid(maximands=(3, 4, 5, 6), points=200)),
}
_LISTED = {r"$2 \leq n \leq 8$": lambda c: 2 <= c.maximands <= 8}


@claim(
    Eq(hidden_layers, Min(n - 1, 2)),
    source=Source("ruess2026", r"Theorem 1.1, which has $n \leq 10$; weights are ours", "v1"),
    kind="two-sided",
    assumes=_LISTED,
    cases=_SIZES,
    control=Control(
        Case(maximands=7, points=9),
        r"what bakaev2025 has: $\lceil \log_3(n - 2) \rceil + 1$ hidden layers suffice",
        Eq(hidden_layers, ceiling(log(n - 2, 3)) + 1),
    ),
    cited="Decides how many hidden layers a ReLU net may be said to need for a maximum of eight.",
)
def maxima_hidden_layers(case: Case) -> Exact:
    r"""The maximum of three to eight numbers needs exactly two hidden layers.

    The least number of hidden layers of a ReLU net of any width, with real weights and biases, that
    is $\mathrm{MAX}_n$ on all of $R^n$ is 1 for $n = 2$ and 2 for $3 \leq n \leq 8$.

    Weights are explicit, 4 lines for $n = 6$, 21 for $n = 7$ and 36 for $n = 8$: $\mathrm{MAX}_6$
    is the mean over all relabellings of
    $-2 \max(m_{12} + m_{34}, m_{13} + m_{56}) + 2 \max(m_{12} + m_{13}, m_{14} + m_{56}) -
    \max(m_{12} + m_{13}, m_{45} + m_{46})/2 + \max(2 m_{12}, 2 m_{34})$,
    $m_{ij} = \max(x_i, x_j)$. Up to $n = 6$ the net is compared with the maximum on all of
    $R^n$. For 7 and 8, whose nets have more than 40,000 units, the class is words: the weights are
    checked on the chamber where $x_1$ to $x_n$ descend, where all kinks cancel and $x_1$ is left,
    and followed at random integer points. One hidden layer
    fails since $f(x) - f(-x)$ would be additive, which at the first two unit vectors it is not for
    $n \geq 3$. These weights were found here without those of ruess2026, which came first and reach
    $n = 10$ (in its second version, not read here, 12, as reported); bakaev2025 had $n \leq 5$, and
    three hidden layers for 6 to 8. Every continuous piecewise linear function on $R^d$ is a sum of
    multiples of maxima of $d + 1$ affine ones (koutschan2024, abstract), so that two hidden layers
    are enough for all of them up to $d = 7$. With one, two and three terms a side blocks reach
    $n = 4$, 6 and at least 8; whether two hidden layers are enough for every $n$ is open.
    """
    return _least_hidden(case)


@maxima_hidden_layers.argument(
    "Argument. Prose: for large $t$ the biases drop out of $f(t x)/t$; symmetric functions that "
    "agree on one chamber are equal; a block takes two hidden layers, units ReLU(x_i - x_j), then "
    "ReLU(h - h'): that number is written down, not counted; without biases f(x) - f(-x) of one "
    "hidden layer is linear."
)
def _(statement: Relational) -> Iterator[Step]:
    """Every n of the statement by itself, with the weights that are listed."""
    for size in range(2, 9):
        layers, hidden = statement.rhs.subs(n, size), output(size, np.arange(size))[1]
        yield Step(
            f"n = {size}: the net has the stated number of hidden layers",
            statement.rel_op == "==" and hidden == layers,
        )
        if size > 2:
            yield Step(
                f"n = {size}: on the chamber the kinks of the blocks cancel, and x_1 is left",
                on_chamber(identity(size), size) == {0: 1},
            )
        yield Step(
            f"n = {size}: fewer are excluded, since f or f(x) - f(-x) is not additive",
            bool(excluded_depth(size) >= layers),
        )


@claim(
    Eq(hidden_layers, ceiling(log(n, 2))),
    source=Source(
        "hertrich2021",
        r"conjecture: the maximum of $2^k + 1$ numbers needs $k + 1$ hidden layers",
        "arXiv:2105.14835",
    ),
    wording="reported",
    kind="two-sided",
    assumes=_LISTED,
    cases=_SIZES,
    control=Control(
        Case(maximands=3, points=9), "by base three", Eq(hidden_layers, ceiling(log(n, 3)))
    ),
    expected="FAILS",
    supports="least_depth/maxima_hidden_layers",
)
def maxima_tree_depth(case: Case) -> Exact:
    r"""No net for $\mathrm{MAX}_n$ is shallower than a tree, conjectured.

    The least number of hidden layers of a ReLU net that is $\mathrm{MAX}_n$ on all of $R^n$ is
    $\lceil \log_2 n \rceil$.

    As reported in the abstract of bakaev2025, which refutes it at $n = 5$; from there to $n = 8$
    the explicit nets of least_depth/maxima_hidden_layers have two hidden layers. That it is true
    for integer weights (haase2023, abstract) is not checked
    here; the weights of these nets are not integers.
    """
    return _least_hidden(case)


@claim(
    Eq(largest, 2 * terms + 2),
    source=Source("depthlaw", "after bakaev2025, arXiv:2505.14338; all blocks by elimination"),
    kind="threshold",
    assumes={r"$t \leq 2$": lambda c: c.block_terms <= 2},
    cases={
        "quick": (Case(block_terms=1, longest=6), Case(block_terms=2, longest=7)),
        "theory": (Case(block_terms=2, longest=8),),
    },
    control=Control(
        Case(block_terms=2, longest=7), "another term doubles it", Eq(largest, 2 ** (terms + 1))
    ),
    supports="least_depth/maxima_hidden_layers",
)
def maxima_by_blocks(case: Case) -> Exact:
    r"""Maxima of two sums of two maxima end at $\mathrm{MAX}_6$.

    The largest $n$ for which $\mathrm{MAX}_n$ is a sum, with real weights, of blocks $\max(h, h')$,
    where $h$ and $h'$ are sums of $t$ terms and each term is some $x_i$ or $\max(x_i, x_j)$, is 4
    for $t = 1$ and 6 for $t = 2$.

    Ranks over the rationals, with and without $\mathrm{MAX}_n$, of the means of all blocks over
    relabellings, on one chamber: 28 and 29 for the 147 orbits of blocks at $n = 7$, $t = 2$.
    Setting $x_{n+1} = x_n$ keeps blocks blocks, so that no larger $n$ is reached again. With
    $t = 3$ it is at least 8 (least_depth/maxima_hidden_layers), and modulo $2^{31} - 1$ the ranks
    at $n = 9$ were 482 and 483, in a run that is no part of this claim. That each term more reaches
    two numbers more, $2 t + 2$, is a guess for $t \geq 4$; it would give two hidden layers for
    every $n$. None of this is a lower bound on depth: there are other first layers.
    """
    solved = [is_sum_of_blocks(size, case.block_terms) for size in range(3, case.longest + 1)]
    once = solved == sorted(solved, reverse=True) and any(solved) and not all(solved)
    # Not a threshold, or one that was not reached: -1.
    return Exact(2 + sum(solved) if once else -1)
