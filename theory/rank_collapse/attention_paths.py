"""Paths through heads and skips: attention is a sum of H^L paths, with skips of binomial length."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import sympy
from flint import arb, arb_mat
from sympy import Symbol, binomial, simplify
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import equal
from ..claims.relations import Eq, Ge
from ..claims.symbols import depth as L, heads as H, quantity
from ..exact.enclosure import from_fraction
from .rational_matrices import rational_array, row_stochastic
from .softmax_attention import SoftmaxHead, attention, ball_composite_norm, centred, resolved

errors = quantity(
    "path_errors",
    r"\#_{err}",
    "entries in which a sum over paths differs from the forward pass, or a row of "
    r"$P_{\mathrm{path}}$ is no distribution",
    "nonnegative integer",
)
length = quantity(
    "path_length",
    r"\ell",
    "number of heads on a path; the other layers are skipped",
    "nonnegative integer",
)
count = quantity(
    "path_count", r"\#_\ell", "paths of a given length through all layers", "nonnegative integer"
)
growth = quantity(
    "residual_growth",
    "r_L/r_0",
    "composite norm of the residual after $L$ layers over that before them",
    "nonnegative real",
)

V2 = "arXiv:2103.03404v2"


def _layers(case: Case, rng: np.random.Generator) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """Attention and weights of every head."""
    n, d = case.tokens, case.width

    def head() -> tuple[np.ndarray, np.ndarray]:
        weights = rng.integers(1, 10, (n, n))
        return row_stochastic(weights), rational_array(rng.integers(-9, 10, (d, d)))

    return [[head() for _ in range(case.heads)] for _ in range(case.depth)]


def _errors_of_all(case: Case) -> int:
    """Against the forward pass of pure attention with biases, up to 1 b^T."""
    rng, d = case.rng(0), case.width
    layers = _layers(case, rng)
    biases = rational_array(rng.integers(-9, 10, (case.depth, d)))
    forward = start = rational_array(rng.integers(-9, 10, (case.tokens, d)))
    for layer, bias in zip(layers, biases, strict=True):
        forward = sum((P @ forward @ W for P, W in layer), bias)
    total, wrong_rows = 0 * start, 0
    for (P, W), *later in itertools.product(*layers):
        for Q, V in later:
            P, W = (P @ Q if case.get("order") == "reversed" else Q @ P), W @ V
        wrong_rows += int(((P.sum(axis=1) != 1) | (P < 0).any(axis=1)).sum())
        total = total + P @ start @ W
    # A term 1 b^T is allowed: every row is compared with the first one.
    rest = forward - total
    return wrong_rows + int((rest != rest[0]).sum())


def _errors_by_length(case: Case) -> int:
    """Of the recursion against all (1 + H)^L paths one by one, and of their sum against the pass
    with skips."""
    rng = case.rng(0)
    layers = _layers(case, rng)
    start = rational_array(rng.integers(-9, 10, (case.tokens, case.width)))

    def heads(layer: list[tuple[np.ndarray, np.ndarray]], tokens: np.ndarray) -> np.ndarray:
        return sum((P @ tokens @ W for P, W in layer), 0 * tokens)

    forward, zero = start, 0 * start
    states = [start, *[zero] * case.depth]
    for layer in layers:
        forward = forward + heads(layer, forward)
        before = [zero, *states[:-1]]
        states = [kept + heads(layer, moved) for kept, moved in zip(states, before, strict=True)]
    listed = [zero] * (case.depth + 1)
    for path in itertools.product(range(case.heads + 1), repeat=case.depth):
        tokens = start
        for head, layer in zip(path, layers, strict=True):
            if head:
                P, W = layer[head - 1]
                tokens = P @ tokens @ W
        length = sum(head > 0 for head in path)
        listed[length] = listed[length] + tokens
    wrong = sum(int((one != other).sum()) for one, other in zip(states, listed, strict=True))
    return wrong + int((sum(listed, zero) != forward).sum())


@claim(
    Eq(errors, 0),
    source=Source("dong2021", "Theorem 2.1", V2),
    wording="reported",
    cases={
        "quick": (
            *Case.grid(skips=False, tokens=3, width=2, depth=(1, 2, 3), heads=(1, 2, 3)),
            *Case.grid(skips=True, tokens=3, width=2, depth=(1, 2, 3), heads=(1, 2)),
        ),
        "theory": (
            *Case.grid(skips=False, tokens=5, width=4, depth=(4, 5), heads=3),
            *Case.grid(skips=True, tokens=4, width=3, depth=(4, 5), heads=2),
        ),
    },
    assumes={"later layers stand on the left": lambda c: c.get("order", "forward") == "forward"},
    control=Control(
        Case(skips=False, tokens=3, width=2, depth=2, heads=2, order="reversed"),
        "$P^1$ ... $P^L$ in place of $P^L$ ... $P^1$",
    ),
    supports="rank_collapse/short_paths_carry_half",
)
def path_decomposition(case: Case) -> Exact:
    r"""Attention is a sum over paths, and with skips by length.

    For all row-stochastic attention matrices, weights and biases, $\mathrm{SAN}(X) = \sum$ over
    paths in $[H]^L$ of $P_{\mathrm{path}} X W_{\mathrm{path}} + 1 b^T$ with
    $P_{\mathrm{path}} = P^L$ ... $P^1$ row-stochastic and $W_{\mathrm{path}} = W^1$ ... $W^L$. With
    skips (and no biases) the states $X_0^{(0)} = X$, $X_0^{(l)} = 0$ for $l > 0$ and
    $X_{i+1}^{(l)} = X_i^{(l)} + \mathrm{SA}_i(X_i^{(l-1)})$, with
    $\mathrm{SA}_i(X) = \sum_h P_h X W_h$, end in the sums of
    $P_{\mathrm{path}} X W_{\mathrm{path}}$ over all paths of length $l$ through heads and skips,
    and these add up to the forward pass.

    Exact, over the rationals. The attention matrices are those of the forward pass and depend on
    $X$, so this is no linear map. So $L + 1$ forward passes give what each length contributes. The
    authors' sampling code multiplies the matrices in increasing layer order, which is not
    $P_{\mathrm{path}}$.
    """
    return Exact(_errors_by_length(case) if case.skips else _errors_of_all(case))


@path_decomposition.argument(
    "Argument: induction on $L$ with symbols that do not commute. Prose: distributivity carries "
    "the checked step to all heads and paths."
)
def _(statement: Relational) -> Iterator[Step]:
    """A layer takes each path to one path per head, and 1 b^T to 1 b'^T."""
    X, ones, b, c = (Symbol(name, commutative=False) for name in ("X", "ones", "b", "c"))
    # The heads of the new layer are Q and V.
    P, Q, W, V = (sympy.symbols(f"{name}1:3", commutative=False) for name in "PQWV")
    before = sum((p * X * w for p, w in zip(P, W, strict=True)), ones * b)
    after = sum((q * before * v for q, v in zip(Q, V, strict=True)), ones * c)
    pairs = itertools.product(zip(P, W, strict=True), zip(Q, V, strict=True))
    rest = sympy.expand(after - sum((q * p) * X * (w * v) for (p, w), (q, v) in pairs))
    for q in Q:
        rest = rest.subs(q * ones, ones)
    constant = sympy.expand(ones * (sum((b * v for v in V), c)))
    yield Step(
        "step: two paths and two heads become four paths, later layers left of P and right "
        "of W; Q 1 = 1 keeps the rest equal in all rows",
        sympy.expand(rest - constant) == 0,
    )
    # The sums over all other paths and over all other heads.
    others, more = sympy.symbols("S T", commutative=False)
    (p, _), (w, _), (q, _), (v, _) = P, W, Q, V
    grown = q * (others + p * X * w) * v + more - (q * others * v + (q * p) * X * (w * v) + more)
    yield Step(
        "whatever the other paths and heads sum to, one more path through one more head "
        "adds exactly its own term",
        sympy.expand(grown) == 0,
    )
    row_sums = [(q * p * ones).subs(p * ones, ones).subs(q * ones, ones) for q in Q for p in P]
    yield Step(
        "the rows of a product of two attention matrices sum to 1: Q P 1 = Q 1 = 1, and its "
        "entries are sums of non-negative products",
        all(total == ones for total in row_sums),
    )
    yield from _length_steps()
    yield Step(
        "the induction starts with no layer and one path, of length 0, that gives X, so there is "
        "no error, as stated",
        statement.rhs == 0,
    )


def _length_steps() -> Iterator[Step]:
    """The generating function of the sums by length gains the factor 1 + z SA per layer."""
    z, SA = Symbol("z"), Symbol("SA", commutative=False)
    X = [Symbol(f"X{i}", commutative=False) for i in range(4)]
    before = sum((z**i * x for i, x in enumerate(X)), sympy.Integer(0))
    after = sympy.expand((1 + z * SA) * before)
    yield Step(
        "with skips a path is a shorter one and then a head or the skip: the coefficient of z^l in "
        "(1 + z SA) sum_l z^l X^(l) is X^(l) + SA X^(l-1)",
        all(sympy.expand(after.coeff(z, i) - (X[i] + SA * X[i - 1])) == 0 for i in range(1, 4))
        and after.coeff(z, 0) == X[0],
    )
    yield Step(
        "at z = 1 the factor is that of the forward pass with a skip, so the sums add up",
        sympy.expand((1 + z * SA).subs(z, 1) - (1 + SA)) == 0,
    )


# --- lengths ---

PATHS = binomial(L, length) * H**length


@claim(
    Eq(count, PATHS),
    wording="printed",
    source=Source("dong2021", "paths_counting.ipynb", "commit 38b5df6"),
    cases={
        "quick": tuple(
            Case(depth=k, heads=h, path_length=m)
            for k, h in ((1, 2), (3, 2), (4, 3))
            for m in range(k + 1)
        ),
        "theory": Case.grid(depth=7, heads=4, path_length=(3, 7)),
    },
    control=Control(
        Case(depth=3, heads=2, path_length=2), "order of heads counted twice", Eq(count, 2 * PATHS)
    ),
    supports="rank_collapse/short_paths_carry_half",
)
def path_count(case: Case) -> Exact:
    r"""Exactly $\binom{L}{l} H^l$ paths pass $l$ heads, where every layer has a skip.

    Among the $(1 + H)^L$ paths through $L$ layers with $H$ heads and a skip each, exactly
    $\binom{L}{l} H^l$ pass $l$ heads; so the length of a uniformly drawn path is Binomial(L,
    $H/(H + 1)$), its mean is $L H/(H + 1)$, and the largest of the most frequent lengths is
    $\lfloor (L + 1) H/(H + 1) \rfloor$.

    Paths are mostly long, and the share of short ones falls with $H$: that short paths dominate is
    a statement on effect, not count. Where $H + 1$ divides $L + 1$ the length before the most
    frequent one is as frequent. BERT-base (12 layers, 12 heads, attention heads and skips only):
    mean 11.077, 11 and 12 equally frequent, $P(12) = 0.3827$, P(at most 6) $= 1.27 \cdot 10^{-4}$;
    means of BERT-large (24, 16) 22.59, of GPT-3 (96, 96) 95.01, of DeiT-T (12, 3) 9.00.
    """
    paths = itertools.product(range(case.heads + 1), repeat=case.depth)
    return Exact(sum(sum(head > 0 for head in path) == case.path_length for path in paths))


@path_count.argument(
    "Argument: induction on $L$. Prose: the last layer is a skip or one of $H$ heads; the edges "
    "$l = 0$ and $l = L + 1$; shares do not fall up to the border."
)
def _(statement: Relational) -> Iterator[Step]:
    """At L + 1 layers length l is length l and a skip, or length l - 1 and one of H heads."""
    law = statement.rhs
    yield Step(
        "base: with no layer there is one path, of length 0", law.subs({L: 0, length: 0}) == 1
    )
    yield equal(
        "step: count(L + 1, l) = count(L, l) + H count(L, l - 1)",
        law.subs(L, L + 1) / law,
        1 + H * law.subs(length, length - 1) / law,
    )
    yield equal(
        "count(L, l) / (1 + H)^L is the binomial share",
        law / (1 + H) ** L,
        binomial(L, length) * (H / (H + 1)) ** length * (1 / (H + 1)) ** (L - length),
    )
    z = Symbol("z", positive=True)
    generating = (1 + H * z) ** L / (1 + H) ** L
    layer = sympy.powsimp(sympy.expand_power_exp(generating.subs(L, L + 1)) / generating)
    yield Step(
        "the generating function of the shares gains the factor (1 + H z) / (1 + H) per layer: H "
        "heads of length one and a skip",
        simplify(layer - (1 + H * z) / (1 + H)) == 0,
    )
    yield Step(
        "its derivative at 1 is the mean L H / (H + 1)",
        simplify(sympy.diff(generating, z).subs(z, 1) - L * H / (H + 1)) == 0,
    )
    border = (L + 1) * H / (H + 1)
    yield equal(
        "count(l) / count(l - 1) = H (L - l + 1) / l",
        law / law.subs(length, length - 1),
        H * (L - length + 1) / length,
    )
    yield equal(
        "H (L - l + 1) - l = (H + 1) (border - l) with border = (L + 1) H / (H + 1), so the last "
        "length at which counts do not fall is its whole part",
        H * (L - length + 1) - length,
        (H + 1) * (border - length),
    )


# --- skips ---


@claim(
    Ge(growth, 1),
    source=Source("dong2021", "Claim 3.1", V2),
    wording="reported",
    holds_for="exists",
    cases={
        "quick": (
            *Case.grid(instance="zero", tokens=4, width=3, depth=(1, 8), heads=2),
            *Case.grid(
                instance="orthogonal",
                tokens=4,
                width=3,
                depth=(1, 6),
                heads=2,
                beta=("1/10", "1/1000000"),
            ),
        )
    },
    assumes={"every layer has a skip": lambda c: c.instance != "none"},
    control=Control(
        Case(instance="none", tokens=4, width=3, depth=1, heads=2, beta="1/10"),
        "no skip",
        Ge(growth, 1),
    ),
    supports="rank_collapse/skips_keep_more",
)
def skip_existence(case: Case) -> Ball | Exact:
    r"""With skips some weights keep the residual at every depth.

    For any $L$ and $H$ there are infinitely many weights, of any size, with which attention layers
    with skips have $|\mathrm{res}(X^L)| \geq |\mathrm{res}(X)|$: $W_V = 0$, and values orthogonal
    to the input.

    Existence only: it says nothing on generic or trained weights, and the upper bound with skips is
    vacuous. A lower bound for generic weights is open in the paper. With $W_V = 0$ it holds by
    construction; the orthogonal values are the cases that could fail.
    """
    n, d, rng = case.tokens, case.width, case.rng(0)
    half = rng.integers(1, 10, (n // 2, d)) * rng.choice([-1, 1], (n // 2, d))
    # The tokens fill the first half of the features. There the logits read; the values write to the
    # second half, so that every contribution is orthogonal to the input.
    start = np.pad(np.vstack([half, -half]), ((0, 0), (0, d)))
    layers = rng.integers(-9, 10, (case.depth, case.heads, 2, d, d))
    if case.instance == "zero":
        tokens = rational_array(start)
        for matrix in layers.reshape(-1, d, d):
            attended = row_stochastic(np.resize(np.abs(matrix) + 1, (n, n))) @ tokens
            tokens = tokens + attended @ np.zeros((2 * d, 2 * d), int)
        return Exact(int((tokens == start).all()))

    def head(qk: np.ndarray, value: np.ndarray) -> SoftmaxHead:
        scale = from_fraction(Fraction(1, 81 * 81 * d * d))
        small = from_fraction(case.rational("beta"))
        return SoftmaxHead(
            arb_mat(np.pad(qk, ((0, d), (0, d))).tolist()) * scale,
            arb_mat(np.pad(value, ((0, d), (d, 0))).tolist()) * small,
        )

    def measured() -> arb:
        tokens = before = arb_mat(start.tolist())
        for layer in layers:
            moved = attention(tokens, [head(qk, value) for qk, value in layer])
            tokens = moved if case.instance == "none" else tokens + moved
        return ball_composite_norm(centred(tokens)) / ball_composite_norm(centred(before))

    return Ball.of(resolved(measured))
