"""Hidden layers of ReLU nets for the maximum of n numbers, by explicit weights and finite algebra.

Depth is the number of hidden layers of a net of any width with real weights and biases that is
equal to MAX_n on all of R^n. A block is max(h, h') with h and h' sums of two terms m_ij =
max(x_i, x_j), where m_ii = x_i: the first layer gives the terms, the second one the maximum.

On the chamber x_1 >= ... >= x_n all terms are coordinates, so a block is (h + h')/2 + |h - h'|/2
with linear h and h'. Where h - h' keeps its sign it is linear; else it has a kink on a hyperplane
that cuts the chamber. Kinks on different hyperplanes are linearly independent. So a sum of blocks
is x_1 on the chamber iff the weights on every hyperplane cancel and the linear parts add up to x_1:
finite algebra, no sampling. For a symmetric sum one chamber is all of R^n.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray
from sympy import Min, ceiling, log
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity

Integers = NDArray[np.int64]
Term = tuple[int, int]
Block = tuple[tuple[Term, Term], tuple[Term, Term]]

n = quantity("maximands", "n", "numbers whose maximum is taken")
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

# A line: the weight of a block, and its four terms, two for each side. It stands for the mean of
# the block over all n! relabellings of x_1..x_n: "11" is x_1, and "12" is max(x_1, x_2).
IDENTITIES = {
    3: (("1/2", "12 12 33 33"),),
    4: (("1/2", "12 12 34 34"),),
    5: (("1/2", "11 11 23 45"), ("-1", "12 13 23 45"), ("1", "12 12 34 34")),
    6: (
        ("-2", "12 34 13 56"),
        ("2", "12 13 14 56"),
        ("-1/2", "12 13 45 46"),
        ("1", "12 12 34 34"),
    ),
}


def weighted_blocks(size: int) -> dict[Block, Fraction]:
    """The identity for MAX_n as a sum of weighted blocks, each of them once; indices from 0.

    Raises:
        ValueError: unless 3 <= n <= 6.

    >>> len(weighted_blocks(5)), set(weighted_blocks(4).values())
    (60, {Fraction(1, 6)})
    """
    if size not in IDENTITIES:
        raise ValueError(f"n={size}: blocks of two hidden layers are listed for 3 <= n <= 6")
    total: dict[Block, Fraction] = defaultdict(Fraction)
    for weight, text in IDENTITIES[size]:
        pairs = [tuple(int(index) - 1 for index in term) for term in text.split()]
        for names in itertools.permutations(range(size)):
            terms = [tuple(sorted((names[i], names[j]))) for i, j in pairs]
            sides = sorted((tuple(sorted(terms[:2])), tuple(sorted(terms[2:]))))
            total[tuple(sides)] += Fraction(weight) / math.factorial(size)  # type: ignore[index]
    return dict(total)


# --- the chamber ----------------------------------------------------------------------------------


def kink(first: tuple[int, ...], second: tuple[int, ...], size: int) -> tuple[tuple[int, ...], int]:
    """The hyperplane of the open chamber on which the maximum of two linear forms bends.

    Args:
        first, second: the forms, each as the list of the coordinates that it adds up.

    Returns:
        Coprime numbers a_k, the first one not 0 positive, and a factor c: the difference of the
        forms is c sum_k a_k (x_k - x_{k+1}), up to sign. c = 0 if its sign is constant.

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


def on_chamber(blocks: dict[Block, Fraction], size: int) -> dict[object, Fraction]:
    """A sum of weighted blocks on x_1 >= ... >= x_n: what is not zero of its linear part, by
    coordinate, and of its kinks, by hyperplane.

    >>> on_chamber(weighted_blocks(5), 5)
    {0: Fraction(1, 1)}
    """
    total: dict[object, Fraction] = defaultdict(Fraction)
    for sides, weight in blocks.items():
        # On the chamber max(x_i, x_j) is x_i for i <= j.
        forms = [tuple(sorted(min(term) for term in side)) for side in sides]
        for key, value in doubled(*forms, size).items():
            total[key] += weight * value / 2
    return {key: value for key, value in total.items() if value}


# --- the net --------------------------------------------------------------------------------------


def network(size: int) -> tuple[list[Integers], int]:
    """Integer weight matrices of a ReLU net without biases whose output is D times MAX_n, and D.

    One hidden layer for two numbers, two for up to six: first a unit x_i - x_j for each pair, then
    a unit h - h' for each block. What has to pass a layer unchanged passes as t and -t.

    >>> [matrix.shape for matrix in network(5)[0]]
    [(20, 5), (62, 20), (1, 62)]
    """
    pairs = list(itertools.combinations(range(size), 2))
    unit = np.eye(size, dtype=np.int64)
    first = np.vstack([[unit[i] - unit[j] for i, j in pairs], unit, -unit])
    # max(x_i, x_j) = x_j + ReLU(x_i - x_j), as a row over the units of the first layer.
    passed = np.hstack([np.zeros((size, len(pairs)), dtype=np.int64), unit, -unit])
    term = {(i, i): passed[i] for i in range(size)}
    for unit_of_pair, (i, j) in enumerate(pairs):
        term[i, j] = passed[j].copy()
        term[i, j][unit_of_pair] += 1
    if size == 2:
        return [first, term[0, 1][None]], 1
    blocks = weighted_blocks(size)
    common = math.lcm(*(weight.denominator for weight in blocks.values()))
    units, weights, rest = [], [], np.zeros(first.shape[0], dtype=np.int64)
    for (left, right), weight in blocks.items():
        below = term[right[0]] + term[right[1]]
        units.append(term[left[0]] + term[left[1]] - below)
        weights.append(int(weight * common))
        rest += weights[-1] * below
    return [first, np.array([*units, rest, -rest]), np.array([[*weights, 1, -1]])], common


def outputs(matrices: list[Integers], points: Integers) -> Integers:
    """The outputs of a ReLU net without biases at integer points, an array (..., n); ReLU after all
    matrices but the last.

    >>> outputs(network(3)[0], np.array([[1, -2, 5]])).item() // network(3)[1]
    5
    """
    for matrix in matrices[:-1]:
        points = np.maximum(points @ matrix.T, 0)
    return (points @ matrices[-1].T)[..., 0]


def excluded_depth(size: int) -> int:
    """How many hidden layers MAX_n needs at least, as far as points with entries 0 and 1 show: 0, 1
    or 2.

    A net without hidden layers is additive up to a constant. With one, f = sum_i c_i ReLU(w_i x +
    b_i) + affine, and f(t x)/t for large t drops the biases and leaves MAX_n as it is; then
    f(x) - f(-x) = sum_i c_i w_i x + linear is additive.

    >>> [excluded_depth(size) for size in (1, 2, 3)]
    [0, 1, 2]
    """
    points = [np.array(point) for point in itertools.product((0, 1), repeat=size)]
    pairs = list(itertools.product(points, repeat=2))

    def odd(x: Integers) -> int:
        return int(x.max() - (-x).max())

    if all(u.max() + v.max() == (u + v).max() for u, v in pairs):
        return 0
    return 1 if all(odd(u) + odd(v) == odd(u + v) for u, v in pairs) else 2


# --- all blocks at once ---------------------------------------------------------------------------


def block_orbits(size: int) -> Iterator[tuple[Term, ...]]:
    """One block of each orbit under relabelling of x_1..x_n, as its four terms (i, j).

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
        terms = [(2 * t + turned[t], 2 * t + 1 - turned[t]) for t in range(4)]
        sides = [terms[:2][:: 1 - 2 * turned[4]], terms[2:][:: 1 - 2 * turned[5]]]
        order = [place for side in sides[:: 1 - 2 * turned[6]] for term in side for place in term]
        code = np.zeros(len(rows), dtype=np.int64)
        for bit, (p, q) in enumerate(places):
            code |= (rows[:, order[p]] == rows[:, order[q]]).astype(np.int64) << bit
        best = np.minimum(best, code)
    for row in rows[np.unique(best, return_index=True)[1]].tolist():
        yield tuple((row[k], row[k + 1]) for k in (0, 2, 4, 6))


def is_sum_of_blocks(size: int, terms: int = 2) -> bool:
    """Whether MAX_n is a sum of blocks with real weights, blocks with sums of one or two terms.

    MAX_n is symmetric, so it is such a sum iff it is one of means over all relabellings; those are
    compared on the chamber, by two ranks over Q.

    Args:
        terms: 2, or 1 for blocks max(m_ij, m_kl) alone.

    Cost: n! relabellings of each of at most 148 blocks.

    >>> is_sum_of_blocks(4, terms=1), is_sum_of_blocks(5, terms=1)
    (True, False)
    """
    names = np.array(list(itertools.permutations(range(size))))
    powers = size ** np.arange(4)
    columns = []
    for block in block_orbits(size):
        if terms == 1 and (block[0] != block[1] or block[2] != block[3]):
            continue
        # On the chamber a term is the coordinate of its lower index.
        lower = np.stack([names[:, list(term)].min(axis=1) for term in block], axis=1)
        codes, counts = np.unique(lower @ powers, return_counts=True)
        column: dict[object, int] = defaultdict(int)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            i, j, k, m = (code // size**power % size for power in range(4))
            forms = tuple(sorted((i, j))), tuple(sorted((k, m)))
            for key, value in doubled(*forms, size).items():
                column[key] += value * count
        columns.append(column)
    keys = list({0: None} | {key: None for column in columns for key in column})
    rows = [[column.get(key, 0) for column in columns] for key in keys]
    beside = [[*row, int(key == 0)] for key, row in zip(keys, rows, strict=True)]
    return bool(fmpz_mat(rows).rank() == fmpz_mat(beside).rank())


# --- claims ---------------------------------------------------------------------------------------


def _least_hidden(case: Case) -> Exact:
    """The hidden layers of a net that is MAX_n, if fewer are excluded; -1 if one of them is not
    shown."""
    size = case.maximands
    matrices, factor = network(size)
    points = np.array(list(itertools.product(range(case.levels), repeat=size)))
    right = (outputs(matrices, points) == factor * points.max(axis=1)).all()
    if size > 2:
        right &= on_chamber(weighted_blocks(size), size) == {0: 1}
    layers = len(matrices) - 1
    return Exact(layers if right and excluded_depth(size) == layers else -1)


_SIZES = {
    "quick": Case.grid(maximands=(2, 3, 4, 5, 6), levels=3),
    "theory": Case.grid(maximands=(3, 4, 5, 6), levels=5),
}


@claim(
    Eq(hidden_layers, Min(n - 1, 2)),
    source=Source(
        "depthlaw", r"after bakaev2025, arXiv:2505.14338, for $n \leq 5$; weights are ours"
    ),
    kind="two-sided",
    assumes={r"$2 \leq n \leq 6$": lambda c: 2 <= c.maximands <= 6},
    cases=_SIZES,
    control=Control(
        Case(maximands=6, levels=3),
        "a tree of maxima of two, which integer weights are said to need",
        Eq(hidden_layers, ceiling(log(n, 2))),
    ),
    cited="Decides how many hidden layers a ReLU net may be said to need for a maximum of six.",
)
def maxima_hidden_layers(case: Case) -> Exact:
    r"""The maximum of three to six numbers needs exactly two hidden layers.

    The least number of hidden layers of a ReLU net of any width, with real weights and biases, that
    is $\mathrm{MAX}_n$ on all of $R^n$ is 1 for $n = 2$ and 2 for $n = 3$, 4, 5 and 6.

    Weights are explicit. $\mathrm{MAX}_6$ is the mean over all relabellings of
    $-2 \max(m_{12} + m_{34}, m_{13} + m_{56}) + 2 \max(m_{12} + m_{13}, m_{14} + m_{56}) -
    \max(m_{12} + m_{13}, m_{45} + m_{46})/2 + \max(2 m_{12}, 2 m_{34})$,
    $m_{ij} = \max(x_i, x_j)$. It is checked on the chamber $x_1 \geq \dots \geq x_n$, where all
    kinks cancel and $x_1$ is left, and the net is run on all points with entries below the number
    of levels. One hidden layer fails since $f(x) - f(-x)$ would be additive; at the first two unit
    vectors it is not for $n \geq 3$. That biases drop out of $f(t x)/t$ for large $t$ is prose.
    Published are two hidden layers for $n \leq 5$ and $\lceil \log_3(n - 2) \rceil + 1$ for
    $n \geq 4$, which is 3 at $n = 6$ (bakaev2025, abstract). Every continuous piecewise linear
    function on $R^d$ is a weighted sum of maxima of $d + 1$ affine ones (koutschan2024, abstract),
    so that two hidden layers suffice for all of them up to $d = 5$; published for $d = 5$ are 3.
    """
    return _least_hidden(case)


@maxima_hidden_layers.argument(
    "Argument. Prose: for large $t$ the biases drop out of $f(t x)/t$; symmetric functions that "
    "agree on one chamber are equal."
)
def _(statement: Relational) -> Iterator[Step]:
    """Every n of the statement by itself, with the weights listed above."""
    for size in range(2, 7):
        layers = statement.rhs.subs(n, size)
        yield Step(
            f"n = {size}: the net has the stated number of hidden layers",
            statement.rel_op == "==" and len(network(size)[0]) - 1 == layers,
        )
        if size > 2:
            yield Step(
                f"n = {size}: on the chamber the kinks of the blocks cancel, and x_1 is left",
                on_chamber(weighted_blocks(size), size) == {0: 1},
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
    assumes={r"$2 \leq n \leq 6$": lambda c: 2 <= c.maximands <= 6},
    cases=_SIZES,
    control=Control(
        Case(maximands=3, levels=3), "by base three", Eq(hidden_layers, ceiling(log(n, 3)))
    ),
    expected="FAILS",
    supports="least_depth/maxima_hidden_layers",
)
def maxima_tree_depth(case: Case) -> Exact:
    r"""No net for $\mathrm{MAX}_n$ is shallower than a tree, conjectured.

    The least number of hidden layers of a ReLU net that is $\mathrm{MAX}_n$ on all of $R^n$ is
    $\lceil \log_2 n \rceil$.

    As reported in the abstract of bakaev2025, which refutes it at $n = 5$; at $n = 5$ and 6 the
    explicit nets of least_depth/maxima_hidden_layers have two hidden layers. That it is true
    for integer weights (Haase, Hertrich and Loho, arXiv:2302.12553, as recalled) is not checked
    here; the weights of these nets are not integers.
    """
    return _least_hidden(case)


def _threshold(case: Case, terms: int) -> Exact:
    """The largest n up to `longest` for which MAX_n is a sum of blocks; -1 if none or all are, or
    if a smaller one is not."""
    solved = [is_sum_of_blocks(size, terms) for size in range(3, case.longest + 1)]
    once = solved == sorted(solved, reverse=True) and any(solved) and not all(solved)
    return Exact(2 + sum(solved) if once else -1)


@claim(
    Eq(largest, 6),
    source=Source("depthlaw", "after bakaev2025, arXiv:2505.14338; all blocks by elimination"),
    kind="threshold",
    cases={"quick": (Case(longest=7),), "theory": (Case(longest=8),)},
    control=Control(
        Case(longest=7),
        r"only blocks $\max(m_{ij}, m_{kl})$: a tree, which ends at four",
        measured=lambda case: _threshold(case, terms=1),
    ),
    supports="least_depth/maxima_hidden_layers",
)
def maxima_by_blocks(case: Case) -> Exact:
    r"""Maxima of two sums of two end at $\mathrm{MAX}_6$.

    The largest $n$ for which $\mathrm{MAX}_n$ is a sum, with real weights, of blocks
    $\max(m_a + m_b, m_c + m_d)$, where each $m$ is some $x_i$ or $\max(x_i, x_j)$, is 6.

    Ranks over the rationals of the means of all blocks over relabellings, on one chamber, are those
    with and without $\mathrm{MAX}_n$: 147 orbits of blocks at $n = 7$, 28 and 29. Setting
    $x_{n+1} = x_n$ keeps blocks blocks, so that none above 7 can be one either. It is not a lower
    bound on depth for $\mathrm{MAX}_7$: other first layers and sums of three terms remain, and
    whether two hidden layers suffice there is open. A maxout layer of rank 3 and one of rank 2 are
    said to be enough for $\mathrm{MAX}_7$ (grillo2025, abstract).
    """
    return _threshold(case, terms=2)
