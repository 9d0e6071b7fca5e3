"""Evidence for the witness arguments: ranks over Q and modulo primes, minors as polynomials in the weights, products of linear forms."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..proof_steps import equal, logarithm_step, nonnegative
from ..values import Ball, Case, Exact, Step
from .linear_attention import AttentionNet, measured_degree, random_net, random_tokens, value_matrix
from .measured import rank_mod

if TYPE_CHECKING:
    from flint import arb

_NAMES = ("query", "key", "value", "output")

# Depth up to which a search for a violation goes on before it gives up with an error.
_DEEPEST = 10_000


def measured_rank_loss(case: Case, seed: int) -> Exact:
    """The rank over Q of the value matrix of an integer net, minus that of the net reduced modulo a prime, whose token recursion is modular."""
    import flint

    rng, p = case.rng(seed), case.prime
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=None)
    left, right = (random_tokens(rng, net, case.minor_size, 1) for _ in range(2))
    rational = flint.fmpz_mat(case.minor_size, case.minor_size, [int(v) for v in value_matrix(net, left, right).ravel()]).rank()
    query, key, value, output, left, right = ((a % p).astype(np.int64) for a in (*(getattr(net, name) for name in _NAMES), left, right))
    modular = rank_mod(value_matrix(AttentionNet(query, key, value, output, prime=p), left, right), p)
    return Exact(int(rational - modular))


def measured_minor_degree(case: Case, seed: int) -> Exact | Ball:
    """The degree of a minor of value matrices in the weights, along a line and by doubling the weights, over Z."""
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=None)
    left, right = (rng.integers(1, 2**15, (case.minor_size, 1, case.width)).astype(object) for _ in range(2))
    shapes = [getattr(net, name).shape for name in _NAMES]
    cuts = np.cumsum([math.prod(shape) for shape in shapes])

    def minor(weights: NDArray[Any]) -> Any:
        query, key, value, output = (p.reshape(s) for p, s in zip(np.split(weights, cuts[:-1]), shapes, strict=True))
        return _determinant(value_matrix(AttentionNet(query, key, value, output, prime=None), left, right))

    base, direction = (rng.integers(1, 2**31, int(cuts[-1])).astype(object) for _ in range(2))
    found = measured_degree(minor, base, direction)
    # Schwartz and Zippel, for a degree below 2^11 and 2^31 values of each coordinate.
    return Exact(found.value, misses=2.0**-20) if isinstance(found, Exact) else found


def _determinant(matrix: NDArray[Any]) -> Any:
    size = len(matrix)
    if size == 1:
        return matrix[0, 0]
    total = 0
    for row in range(size):
        minor = matrix[row, 0] * _determinant(np.delete(matrix, row, axis=0)[:, 1:])
        total = total + minor if row % 2 == 0 else total - minor
    return total


def measured_zero_fraction(case: Case, seed: int) -> Exact:
    """The share of weights over F_p at which a fixed minor vanishes: all weights at width 1, otherwise all of a random line.

    Raises:
        ArithmeticError: when the minor vanishes at every weight looked at, so that it may be the zero polynomial.
    """
    import flint

    p, size, rng = case.prime, case.minor_size, case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=p)
    left, right = (rng.permutation(p ** case.width)[:size] for _ in range(2))
    tokens = [np.stack([s // p**i % p for i in range(case.width)], axis=-1)[:, None, :] for s in (left, right)]
    zeros = total = 0
    for weights in _weights(net, p, rng):
        matrix = value_matrix(weights, *tokens)
        zeros += int(flint.nmod_mat(size, size, [int(v) for v in matrix.ravel()], p).det()) == 0
        total += 1
    if zeros == total:
        raise ArithmeticError(f"[{case}]: the minor vanishes everywhere it was looked at; use other inputs")
    return Exact(Fraction(zeros, total))


def _weights(net: AttentionNet, p: int, rng: np.random.Generator) -> Iterator[AttentionNet]:
    if net.width == 1 and net.depth == 1:
        for entries in itertools.product(range(p), repeat=4):
            query, key, value, output = (np.array(e).reshape(1, 1, 1, 1) for e in entries)
            yield AttentionNet(query, key, value, output, p)
        return
    direction = random_net(rng, width=net.width, depth=net.depth, heads=net.heads, prime=p)
    for t in range(p):
        query, key, value, output = ((getattr(net, n) + t * getattr(direction, n)) % p for n in _NAMES)
        yield AttentionNet(query, key, value, output, p)


# --- products of linear forms against the recalled bound --------------------------------------------------------------------------


def measured_first_violation(case: Case, seed: int) -> Exact:
    """The first L > log_3 d_x at which prod_{l <= min(L, D_H)} (3^(L-l) + 1) exceeds the recalled upper bound, or 0 if none does.

    A case with witness=count asks about S(d_x, L) in place of the product.
    """
    if case.get("witness") == "count":
        return Exact(_first_violation(case.width, _count_above))
    return Exact(_first_violation(case.width, _product_above(case.heads), case.heads * (case.heads + 1) // 2))


def measured_conflict(case: Case, seed: int) -> Exact:
    """1 if some depth contradicts the recalled upper bound by a product of linear forms of H heads, otherwise 0."""
    forms = case.heads * (case.heads + 1) // 2
    return Exact(int(_first_violation(case.width, _product_above(case.heads), forms) > 0))


def _first_violation(d: int, above: Callable[[int, int, arb], bool], forms: int | None = None) -> int:
    """Depth by depth, until the bound is exceeded or, for a product of so many forms, until that can happen no more.

    Past D_H layers the logarithm to base 3 of the product grows by less than D_H with each layer, since a factor grows by less than 3.
    The bound is linear in the depth, so that one difference is its growth at every layer.

    Raises:
        ArithmeticError: when neither has happened at depth `_DEEPEST`.
    """
    import flint

    with flint.ctx.workprec(192):
        for depth in range(1, _DEEPEST + 1):
            if 3**depth <= d:
                continue
            bound = _recalled(d, depth)
            if above(d, depth, bound):
                return depth
            if forms is not None and depth >= forms and _recalled(d, depth + 1) - bound > forms:
                return 0
    raise ArithmeticError(f"width {d}: no violation up to depth {_DEEPEST}, and none excluded; try other heads or a larger _DEEPEST")


def _product_above(heads: int) -> Callable[[int, int, arb], bool]:
    def above(d: int, depth: int, bound: arb) -> bool:
        from flint import arb, fmpz

        product = math.prod(3 ** (depth - layer) + 1 for layer in range(1, min(depth, heads * (heads + 1) // 2) + 1))
        return _decided(arb(fmpz(product)).log() / arb(3).log(), bound)

    return above


def _count_above(d: int, depth: int, bound: arb) -> bool:
    from ..exact.enclosure import ball
    from .dimension_count import log3_dimension_count

    low, high = log3_dimension_count(d, depth)
    return _decided(ball(Fraction(float(low)), Fraction(float(high))), bound)


def _decided(value: arb, bound: arb) -> bool:
    if not (value > bound or value <= bound):
        raise ArithmeticError("the enclosures of the rank and of the bound overlap; use more bits")
    return bool(value > bound)


def _recalled(d: int, depth: int) -> arb:
    from flint import arb

    log3 = arb(3).log()
    return 2 * d * depth + depth - 2 * d * ((arb(d) / (2 * arb(2).sqrt())).log() - 1) / log3 + arb(d).log() / log3


# --- arguments -------------------------------------------------------------------------------------------------------------------


def no_linear_bound_proof(statement: Any) -> Iterator[Step]:
    """log_3 sep >= sum_{l<=L} log_3(3^(L-l) + 1) > L (L-1)/2, which exceeds c d L as soon as L > 2 c d + 1."""
    import sympy

    from ..glossary import symbol

    c, d, L = symbol("slope"), symbol("width"), symbol("depth")
    layer, more = sympy.Symbol("l", integer=True, positive=True), sympy.Symbol("t", positive=True)
    yield logarithm_step(statement, "sep")
    yield _one_head_step()
    # Layer l multiplies the scalar c_l of M_l = c_l M into the output once, and into later layers through c_{l+1} = c_l^3 f_l^2.
    yield equal("the exponent of f_l in the output of L layers is 1 + sum_{m=1}^{L-l} 2 3^(m-1) = 3^(L-l)",
                1 + sympy.summation(2 * 3 ** (layer - 1), (layer, 1, L)), 3**L)
    yield equal("log_3 of prod_{l<=L} 3^(L-l) is L (L-1)/2", sympy.summation(L - layer, (layer, 1, L)), L * (L - 1) / 2)
    start = 2 * c * d + 1 + more
    gap = (L * (L - 1) / 2 - statement.rhs).subs(L, start)
    yield Step("L (L-1)/2 exceeds the right side for every L > 2 c d + 1", bool(sympy.factor(sympy.expand(gap)).is_positive))
    yield nonnegative("the relation is strict or not, the gap is positive", sympy.expand(gap))


def _one_head_step() -> Step:
    """e_h (v^T M k) e_h^T, added up over the heads, is (v^T M k) times the identity; here with three coordinates."""
    import sympy

    v, k = (sympy.Matrix(3, 1, sympy.symbols(f"{name}:3")) for name in "vk")
    M = sympy.Matrix(3, 3, lambda a, b: sympy.Symbol(f"m{min(a, b)}{max(a, b)}"))
    units = [sympy.eye(3)[:, h] for h in range(3)]
    total = sum((e * v.T * M * k * e.T for e in units), sympy.zeros(3, 3))
    return Step("heads W^O = e_h, W^Q = e_h^T, W^V = v^T, W^K = k^T give T(M) = (v^T M k) I",
                sympy.expand(total - (v.T * M * k)[0] * sympy.eye(3)) == sympy.zeros(3, 3))


def conflict_proof(statement: Any) -> Iterator[Step]:
    """D_H forms give the slope D_H in the depth, the recalled bound has slope 2 d + 1; with no more forms the bound is never exceeded."""
    import sympy

    from ..glossary import symbol

    d, H, L = symbol("width"), symbol("heads"), symbol("depth")
    branches: tuple[Any, ...] = statement.rhs.args if isinstance(statement.rhs, sympy.Piecewise) else ((0, sympy.true),)
    (value, condition), slope = branches[0], sympy.diff(2 * d * L + L, L)
    strict = isinstance(condition, sympy.StrictGreaterThan | sympy.StrictLessThan)
    ratio = sympy.simplify((condition.gts - condition.lts) / (H * (H + 1) / 2 - slope)) if strict else sympy.Integer(0)
    yield Step("the right side is 1 if D_H > 2 d + 1 and 0 otherwise", value == 1 and bool(ratio.is_Number and ratio.is_positive)
               and len(branches) == 2 and branches[1][0] == 0 and branches[1][1] == sympy.true)
    x = sympy.Symbol("x", positive=True)
    yield Step("from L to L + 1 each factor 3^(L-l) + 1 grows by less than 3", bool((3 * (x + 1) - (3 * x + 1)).is_positive))
    yield equal("and by a factor that tends to 3", sympy.limit((3 * x + 1) / (x + 1), x, sympy.oo), sympy.Integer(3))
    yield from _no_conflict_steps()


def _no_conflict_steps() -> Iterator[Step]:
    """For log_3 d <= L <= D_H <= 2 d + 1 the bound minus log_3 of the product is concave in L and positive at both ends."""
    import sympy

    d, L, u, s = sympy.symbols("d L u s", positive=True)  # u = log_3 d
    two_thirds, three_halves = sympy.Rational(2, 3), sympy.Rational(3, 2)
    yield Step("log_3 2 < 2/3 and log_3(2 sqrt(2) e) > 3/2: 8 < 9, and (2 sqrt(2) e)^2 = 8 e^2 > 27",
               8 < 9 and bool((8 * sympy.E**2 - 27).is_positive))
    # log_3 of the product is at most L (L-1)/2 + L log_3 2, since 3^m + 1 <= 2 3^m.
    gap = 2 * d * (L - u) + L + 2 * d * three_halves + u - L * (L - 1) / 2 - two_thirds * L
    yield Step("the gap is concave in L", sympy.diff(gap, L, 2) == -1)
    yield nonnegative("at L = u: positive, with d = 3^u >= 1 + u + u^2/2 as log 3 > 1",
                      sympy.expand(gap.subs(L, u).subs(d, 1 + u + u**2 / 2 + s)))
    yield nonnegative("at L = 2 d + 1: positive, with u <= d", sympy.expand(gap.subs(L, 2 * d + 1).subs(d, u + s)))
