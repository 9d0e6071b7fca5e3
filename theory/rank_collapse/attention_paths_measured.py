"""Evidence on paths: sums over every choice of heads in rational arithmetic, counts layer by layer, and skips that keep the residual."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Ball, Case, Exact, Step
from .residual_norms_measured import Matrix, product

if TYPE_CHECKING:
    import sympy
    from flint import arb
    from sympy.core.relational import Relational


def path_errors(case: Case, seed: int) -> Exact:
    """Compare the forward pass with the sum over [H]^L, for random row-stochastic attention, weights and biases, over Q.

    Counts the entries that differ once one row is subtracted from all (a term 1 b^T is allowed), and the rows of every P_path that are
    no probability distribution. `order` "reversed" multiplies the attention matrices the wrong way round.
    """
    n, d, L, H = case.tokens, case.width, case.depth, case.heads
    rng = case.rng(0)

    def matrix(rows: int, columns: int, low: int) -> Matrix:
        return [[Fraction(int(v)) for v in row] for row in rng.integers(low, 10, (rows, columns))]

    def distribution() -> Matrix:
        return [[v / sum(row) for v in row] for row in matrix(n, n, 1)]

    layers = [[(distribution(), matrix(d, d, -9)) for _ in range(H)] for _ in range(L)]
    biases, start = matrix(L, d, -9), matrix(n, d, -9)
    forward = start
    for heads, bias in zip(layers, biases, strict=True):
        parts = [product(product(P, forward), W) for P, W in heads]
        forward = [[sum((p[i][j] for p in parts), bias[j]) for j in range(d)] for i in range(n)]
    total, errors = [[Fraction(0)] * d for _ in range(n)], 0
    for path in itertools.product(range(H), repeat=L):
        P, W = _path(layers, path, str(case.get("order", "forward")))
        errors += sum(sum(row) != 1 or min(row) < 0 for row in P)
        term = product(product(P, start), W)
        total = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(total, term, strict=True)]
    left = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(forward, total, strict=True)]
    return Exact(errors + sum(a != b for row in left for a, b in zip(row, left[0], strict=True)))


def _path(layers: list[list[tuple[Matrix, Matrix]]], path: tuple[int, ...], order: str) -> tuple[Matrix, Matrix]:
    """P_path = P^L ... P^1 and W_path = W^1 ... W^L."""
    P, W = layers[0][path[0]]
    for heads, h in zip(layers[1:], path[1:], strict=True):
        P = product(heads[h][0], P) if order == "forward" else product(P, heads[h][0])
        W = product(W, heads[h][1])
    return P, W


def enumerated_paths(case: Case, seed: int) -> Exact:
    """Paths of the given length, by listing every choice of a head or the skip in every layer."""
    choices = itertools.product(range(case.heads + 1), repeat=case.depth)
    return Exact(sum(sum(h > 0 for h in path) == case.path_length for path in choices))


def length_counts(depth: int, heads: int) -> list[int]:
    """Paths by length 0..L, one layer at a time: a path grows by any of the heads or takes the skip.

    >>> length_counts(2, 3)
    [1, 6, 9]
    """
    counts = [1]
    for _ in range(depth):
        counts = [skip + heads * grown for skip, grown in zip([*counts, 0], [0, *counts], strict=True)]
    return counts


def path_share(case: Case, seed: int) -> Exact:
    """The share of the paths with the given length."""
    counts = length_counts(case.depth, case.heads)
    return Exact(Fraction(counts[case.path_length], sum(counts)))


def path_mean(case: Case, seed: int) -> Exact:
    """The mean length of all paths."""
    return Exact(_mean(length_counts(case.depth, case.heads)))


def _mean(counts: list[int]) -> Fraction:
    return Fraction(sum(length * count for length, count in enumerate(counts)), sum(counts))


def path_mode(case: Case, seed: int) -> Exact:
    """The largest of the most frequent lengths."""
    counts = length_counts(case.depth, case.heads)
    return Exact(max(length for length, count in enumerate(counts) if count == max(counts)))


def path_figure(case: Case, seed: int) -> Exact:
    """The mean length, the share of the longest paths, or that of paths of at most half the layers, rounded to units of 10^-digits."""
    counts = length_counts(case.depth, case.heads)
    value = {"mean": lambda: _mean(counts), "longest": lambda: Fraction(counts[-1], sum(counts)),
             "half": lambda: Fraction(sum(counts[:case.depth // 2 + 1]), sum(counts))}[case.what]()
    return Exact(int(value * 10**case.digits + Fraction(1, 2)))


# --- skips ---


def residual_growth(case: Case, seed: int) -> Ball | Exact:
    """The residual after L attention layers with skips over that before them.

    `zero`: W_V = 0. `orthogonal`: the tokens fill the first half of the features, W_V maps them to the second half, and the logits
    read the first half, so that every contribution is orthogonal to the input. `none` is the layer without its skip.
    """
    from flint import arb_mat

    from .measured import arb_of, resolved
    from .softmax_attention import Head, attention, ball_composite_norm, centred

    n, d, rng = case.tokens, case.width, case.rng(0)
    half = rng.integers(1, 10, (n // 2, d)) * rng.choice([-1, 1], (n // 2, d))
    rows = [[int(v) for v in row] + [0] * d for row in (*half, *(-half))]
    mixing = [[[int(v) for v in row] for row in rng.integers(-9, 10, (d, d))] for _ in range(2 * case.depth * case.heads)]
    if case.instance == "zero":
        return Exact(1) if _unchanged_without_values(rows, mixing) else Exact(0)

    def block(matrix: list[list[int]], corner: bool) -> list[list[int]]:
        """A d x d block in the upper left (logits) or upper right (values) corner of a 2d x 2d matrix of zeros."""
        return [*([0] * d + row if corner else row + [0] * d for row in matrix), *([0] * (2 * d) for _ in range(d))]

    def growth() -> arb:
        scale, small = arb_of(Fraction(1, 81 * 81 * d * d)), arb_of(case.rational("beta"))
        tokens = start = arb_mat(rows)
        for layer in range(case.depth):
            part = mixing[2 * layer * case.heads:2 * (layer + 1) * case.heads]
            heads = [Head(arb_mat(block(part[2 * h], False)) * scale, arb_mat(block(part[2 * h + 1], True)) * small)
                     for h in range(case.heads)]
            moved = attention(tokens, heads)
            tokens = moved if case.instance == "none" else tokens + moved
        return ball_composite_norm(centred(tokens)) / ball_composite_norm(centred(start))

    return Ball.of(resolved(growth))


def _unchanged_without_values(rows: list[list[int]], mixing: list[list[list[int]]]) -> bool:
    """Run the layers X <- X + P X 0 with rational attention matrices and compare the tokens at the end."""
    n, X = len(rows), [[Fraction(v) for v in row] for row in rows]
    start, zero = X, [[Fraction(0)] * len(rows[0]) for _ in rows[0]]
    for matrix in mixing:
        weights = [abs(v) + 1 for row in matrix for v in row]
        P = [[Fraction(weights[(i * n + j) % len(weights)], 1) for j in range(n)] for i in range(n)]
        P = [[v / sum(row) for v in row] for row in P]
        moved = product(product(P, X), zero)
        X = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(X, moved, strict=True)]
    return start == X


# --- arguments ---


def _same(left: sympy.Expr, right: sympy.Expr) -> bool:
    import sympy

    return bool(sympy.simplify(sympy.gammasimp((left - right).rewrite(sympy.gamma))) == 0)


def prove_decomposition(statement: Relational) -> Iterator[Step]:
    """Induction on L, with symbols that do not commute: a layer takes each path to one path per head, and 1 b^T to 1 b'^T."""
    import sympy

    X, ones, b, c = (sympy.Symbol(name, commutative=False) for name in ("X", "ones", "b", "c"))
    P, Q, W, V = (sympy.symbols(f"{name}1:3", commutative=False) for name in "PQWV")  # heads of the new layer: Q and V
    before = sum((p * X * w for p, w in zip(P, W, strict=True)), ones * b)
    after = sum((q * before * v for q, v in zip(Q, V, strict=True)), ones * c)
    paths = sum(((q * p) * X * (w * v) for q, v in zip(Q, V, strict=True) for p, w in zip(P, W, strict=True)), sympy.Integer(0))
    rest = sympy.expand(after - paths)
    for q in Q:
        rest = rest.subs(q * ones, ones)
    constant = sympy.expand(ones * (sum((b * v for v in V), c)))
    yield Step("step: two paths and two heads become four paths, later layers left of P and right of W; Q 1 = 1 keeps the rest equal in all rows",
               sympy.expand(rest - constant) == 0)
    others, more = sympy.symbols("S T", commutative=False)  # the sums over all other paths and over all other heads
    (p, _), (w, _), (q, _), (v, _) = P, W, Q, V
    grown = sympy.expand(q * (others + p * X * w) * v + more - (q * others * v + (q * p) * X * (w * v) + more))
    yield Step("whatever the other paths and heads sum to, one more path through one more head adds exactly its own term", grown == 0)
    row_sums = [(q * p * ones).subs(p * ones, ones).subs(q * ones, ones) for q in Q for p in P]
    yield Step("the rows of a product of two attention matrices sum to 1: Q P 1 = Q 1 = 1, and its entries are sums of non-negative products",
               all(total == ones for total in row_sums))
    yield Step("the induction starts with no layer and one path, so there is no error, as stated", statement.rhs == 0)


def prove_mode(statement: Relational) -> Iterator[Step]:
    """P(l) / P(l - 1) = H (L - l + 1) / l is at least 1 exactly for l <= (L + 1) H / (H + 1)."""
    import sympy

    from ..glossary import symbol

    L, H, length = symbol("depth"), symbol("heads"), symbol("path_length")
    count = sympy.binomial(L, length) * H**length
    ratio = H * (L - length + 1) / length
    yield Step("count(l) / count(l - 1) = H (L - l + 1) / l", _same(count / count.subs(length, length - 1), ratio))
    border = (L + 1) * H / (H + 1)
    yield Step("H (L - l + 1) - l = (H + 1) (border - l) with border = (L + 1) H / (H + 1)",
               sympy.simplify(H * (L - length + 1) - length - (H + 1) * (border - length)) == 0)
    yield Step("so the last length at which counts do not fall is the whole part of the border, as stated",
               isinstance(statement.rhs, sympy.floor) and sympy.simplify(statement.rhs.args[0] - border) == 0)


def prove_count(statement: Relational) -> Iterator[Step]:
    """Induction on L: a path of length l at L + 1 layers is one of length l with a skip, or one of length l - 1 with one of H heads."""
    from ..glossary import symbol

    L, H, length = symbol("depth"), symbol("heads"), symbol("path_length")
    count = statement.rhs
    yield Step("base: with no layer there is one path, of length 0", count.subs({L: 0, length: 0}) == 1)
    yield Step("step: count(L + 1, l) = count(L, l) + H count(L, l - 1)",
               _same(count.subs(L, L + 1) / count, 1 + H * count.subs(length, length - 1) / count))


def prove_share(statement: Relational) -> Iterator[Step]:
    """The same induction with each of the H + 1 choices of a layer equally likely."""
    from ..glossary import symbol

    L, H, length = symbol("depth"), symbol("heads"), symbol("path_length")
    share = statement.rhs
    yield Step("base: with no layer all paths have length 0", share.subs({L: 0, length: 0}) == 1)
    yield Step("step: share(L + 1, l) = (share(L, l) + H share(L, l - 1)) / (H + 1)",
               _same((H + 1) * share.subs(L, L + 1) / share, 1 + H * share.subs(length, length - 1) / share))


def prove_mean(statement: Relational) -> Iterator[Step]:
    """The derivative at 1 of the generating function ((1 + H z) / (1 + H))^L of the lengths."""
    import sympy

    from ..glossary import symbol

    L, H, z = symbol("depth"), symbol("heads"), sympy.Symbol("z", positive=True)
    generating = (1 + H * z) ** L / (1 + H) ** L
    layer = sympy.powsimp(sympy.expand_power_exp(generating.subs(L, L + 1)) / generating)
    yield Step("the generating function gains the factor (1 + H z) / (1 + H) per layer: H heads of length one and a skip",
               sympy.simplify(layer - (1 + H * z) / (1 + H)) == 0)
    yield Step("its derivative at 1 is the stated mean", sympy.simplify(sympy.diff(generating, z).subs(z, 1) - statement.rhs) == 0)


