"""A layer of softmax attention cubes the distance to rank one (Dong, Cordonnier, Loukas 2021)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sympy
from flint import arb, arb_mat
from sympy import Expr, Symbol, diff, exp, simplify, sqrt, symbols
from sympy.core.relational import Relational

from ..claims.counterexample_search import Search, SearchPoint
from ..claims.definition import Ball, Case, Control, Exact, Formal, Source, Step, claim
from ..claims.proof_steps import at_least
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity, residual
from ..exact.enclosure import from_fraction
from .cubic_step import chain_steps
from .rational_matrices import random_matrix
from .residual_norms import V1, V2, range_steps
from .softmax_attention import (
    SoftmaxHead,
    about_best_centre,
    attention,
    ball_composite_norm,
    ball_norms,
    centred,
    composite_norm,
    gamma,
    instance,
    residual_norm,
    resolved,
)
from .softmax_perturbation import LARGEST_RANGE

qk_width = quantity("qk_width", "d_{qk}", "query/key width of one head")
qk_norm = quantity(
    "qk_norm",
    r"\|W_{QK}\|_1",
    "largest column sum of |W_Q W_K^T|, the same for every head",
    "positive real",
)
value_norm = quantity(
    "value_norm",
    r"\|W_V\|_{1,\infty}",
    "composite norm of the value matrix of a head",
    "positive real",
)
residual_next = quantity(
    "residual_next",
    "r_1",
    "composite norm of the tokens minus their centre after one layer",
    "positive real",
)
residual_per_gamma = quantity(
    "residual_per_gamma",
    r"r_1/\gamma",
    r"composite norm of the residual after one layer, divided by $\gamma$",
    "positive real",
)
# Small, unit and large residuals: a wrong exponent of r_0 shows at the ends, a wrong constant
# everywhere.
SIZES = (("1/1000", "100"), ("1", "1/2"), ("100", "1/20000"))
_CUBIC = 4 * qk_norm * value_norm / sqrt(qk_width) * residual**3
_PAIR = Case(tokens=2, width=1, residual="1/1000", qk_norm="1", value_norm="1", qk_width=1, bias=0)


def _layers(
    shapes: Iterable[tuple[int, int]], sizes: Iterable[tuple[str, str]] = SIZES, qk_width: int = 1
) -> tuple[Case, ...]:
    return tuple(
        Case(tokens=n, width=d, residual=r, qk_norm=w, value_norm="1", qk_width=qk_width, bias=bias)
        for n, d in shapes
        for r, w in sizes
        for bias in (0, 1)
    )


def _after_layer(tokens: arb_mat, head: SoftmaxHead, per_gamma: bool) -> arb:
    """The residual after one layer, divided by gamma of its input where asked."""
    norm = residual_norm(attention(tokens, [head]))
    if not per_gamma:
        return norm
    one, infinity = head.gammas(centred(tokens))
    return norm / (one * infinity).sqrt()


def _after_one_layer(case: Case, *, per_gamma: bool = False) -> Ball:
    """`_after_layer` on the instance of the case."""

    def once() -> arb:
        tokens, [[head]] = instance(case)
        return _after_layer(tokens, head, per_gamma)

    return about_best_centre(resolved(once), case)


def _searches(per_gamma: bool) -> tuple[Search, ...]:
    """Small logits, where the law is exact to first order, and logits at the edge of its range."""
    return tuple(
        _search(
            Case(tokens=n, width=d, residual=r, qk_norm=w, value_norm="1", qk_width=1, bias=0),
            per_gamma,
        )
        for n, d in ((2, 1), (4, 1), (4, 2), (6, 3))
        for r, w in (("1/1000", "1"), ("1", "1/2"))
    )


def _search(case: Case, per_gamma: bool) -> Search:
    """Tokens R, -R, whose mean is the best centre, and one head, of the norms the case names."""
    n, d, r, w = case.tokens, case.width, case.rational("residual"), case.rational("qk_norm")
    half = n // 2 * d

    def split(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens, query-key matrix and value matrix, not yet scaled to their norms."""
        R = vector[:half].reshape(n // 2, d)
        qk, value = vector[half:].reshape(2, d, d)
        return np.vstack([R, -R]), qk, value

    def objective(vector: np.ndarray) -> float:
        R, qk, value = split(vector)
        sizes = composite_norm(R), np.abs(qk).sum(axis=0).max(), composite_norm(value)
        if min(sizes) == 0:
            return float("nan")
        R = R * (float(r) / sizes[0])
        E = R @ (qk * (float(w) / sizes[1])) @ R.T / np.sqrt(case.qk_width)
        # P - q with q uniform (the centre is zero), by expm1: the plain difference would lose all
        # digits of a small residual.
        low = np.expm1(E)
        mean = low.mean(axis=1, keepdims=True)
        moved = (low - mean) / (1 + mean) / n @ R @ (value / sizes[2])
        norm = float(composite_norm(moved - moved.mean(axis=0)))
        return norm / gamma(E) if per_gamma else norm

    def measured(point: SearchPoint) -> Ball:
        def once() -> arb:
            R, qk, value = (
                arb_mat([[from_fraction(v) for v in row] for row in matrix])
                for matrix in split(np.array(point, dtype=object))
            )
            R = R * (from_fraction(r) / ball_composite_norm(R))
            qk = qk * (from_fraction(w) / ball_norms(qk)[0])
            value = value * (1 / ball_composite_norm(value))
            return _after_layer(R, SoftmaxHead(qk, value, case.qk_width), per_gamma)

        return Ball.of(resolved(once))

    return Search(case, half + 2 * d * d, objective, measured)


LAW: dict[str, Any] = {
    "wording": "reported",
    # `instance` scales weights and tokens to exactly the norms of the case; see cubic_steps.
    "assumes": {
        r"$2 \|W_{QK}\|_1 r_0^2 \leq 1.256 \sqrt{d_{qk}}$, so that rows of $E$ range over at "
        "most 1.256": (
            lambda c: bool(
                (2 * c.rational("qk_norm") * c.rational("residual") ** 2) ** 2
                <= LARGEST_RANGE**2 * c.get("qk_width", 1)
            )
        )
    },
    "cases": {
        "quick": _layers([(2, 1), (4, 3), (8, 4)]),
        "theory": _layers([(16, 8), (6, 12)]) + _layers([(4, 4)], qk_width=4),
    },
}


@claim(
    Le(residual_per_gamma, _CUBIC),
    source=Source("dong2021", "one-layer, one-head lemma", V2),
    search=partial(_searches, per_gamma=True),
    headline="Why attention alone collapses: a layer cubes the residual, where logits are small.",
    control=Control(_PAIR, "0.4 in place of 4", Le(residual_per_gamma, _CUBIC / 10)),
    cited="Sets the constant and the range with which the cubic bound of one layer may be quoted.",
    formal=Formal(
        "Softmax.one_layer_cubic_checked",
        "Softmax.one_layer_cubic_value {qk_norm.numerator} {qk_norm.denominator} "
        "{value_norm.numerator} {value_norm.denominator} {qk_width} {residual.numerator} "
        "{residual.denominator}",
        "That key and value biases change neither side; $\\gamma$ is read as 0 where $E = 0$. "
        "Compared where the query/key width is a square.",
    ),
    **LAW,
)
def one_layer_cubic(case: Case) -> Ball:
    r"""One attention layer cubes the residual, constant $4 \gamma$.

    For every input and one head whose logits, less what all rows share, range over at most 1.256 in
    every row, the residual after a softmax attention layer is at most
    $4 \gamma \|W_{QK}\|_1 \|W_V\|_{1, \infty}/\sqrt{d_{qk}}$ times the cube of the residual before
    it, with $\gamma = \sqrt{\|D 1\|_1 \|D 1\|_\infty}/(2 \|E\|_1)$ of its logits.

    What all rows share drops out: the logits of $R = X - 1 c^T$ are $E$, and $E$ is what has to
    range over at most 1.256; the whole logits may range over more or less. Assumed is a condition
    on norms from which that follows. $\gamma$ is the value that the proof needs; the paper's
    wording of it is not available to us. The residual is the minimum over centres; inputs are
    chosen so that the token mean attains it.
    """
    return _after_one_layer(case, per_gamma=True)


@one_layer_cubic.argument(
    r"Argument: cubic_steps, residual, with $\|D 1\|_1 \|D 1\|_\infty = (2 \gamma \|E\|_1)^2$. "
    r"Prose: the joints of that claim; $\|E\|_1 \leq \|W_{QK}\|_1 |R|^2/\sqrt{d_{qk}}$."
)
def _(statement: Relational) -> Iterator[Step]:
    """The chain with constant 2, gamma's definition, |E|_1 <= |W_QK|_1 |R|^2 / sqrt(d_qk)."""
    yield from chain_steps(2)
    yield from range_steps()
    yield Step(
        "2 sqrt(|D1|_1 |D1|_inf) = 4 gamma |E|_1, and the stated bound is at least "
        "4 |W_QK|_1 |W_V| r^3 / sqrt(d_qk)",
        at_least(_constant(statement), 4),
    )


def _constant(statement: Relational) -> Expr:
    """The bound over |W_QK|_1 |W_V| r^3 / sqrt(d_qk): a number where it has that form."""
    return simplify(statement.rhs * sqrt(qk_width) / (qk_norm * value_norm * residual**3))


@claim(
    Le(residual_next, _CUBIC),
    source=Source("dong2021", "one-layer, one-head lemma", V1),
    search=partial(_searches, per_gamma=False),
    control=Control(_PAIR, "0.4 in place of 4", Le(residual_next, _CUBIC / 10)),
    supports="rank_collapse/one_layer_cubic",
    **LAW,
)
def one_layer_cubic_v1(case: Case) -> Ball:
    r"""One attention layer cubes the residual, constant 4.

    For every input and one head whose logits, less what all rows share, range over at most 1.256 in
    every row, the residual after a softmax attention layer is at most
    $4 \|W_{QK}\|_1 \|W_V\|_{1, \infty}/\sqrt{d_{qk}}$ times the cube of the residual before it.

    The proof of version 1 (as reported) has a gap: it needs $\|D 1\|_1 \leq 2 \|E\|_1$, which
    $E = I$ refutes for $n \geq 3$. No counterexample to the statement is known; for small logits
    there is an argument, see gamma_free_bound. The residual is the minimum over centres; inputs are
    chosen so that the token mean attains it.
    """
    return _after_one_layer(case)


nonzero_gradients = quantity(
    "nonzero_gradients",
    r"\#_{\nabla}",
    "non-zero derivatives of outputs in entries of $W_Q$ and $W_K$",
    "nonnegative integer",
)


@claim(
    Eq(nonzero_gradients, 0),
    wording="reported",
    source=Source("noci2022", "query/key gradients, at exact rank collapse", "arXiv:2206.03126"),
    assumes={"all tokens are equal": lambda case: case.instance == "collapsed"},
    cases={
        "quick": Case.grid(instance="collapsed", tokens=(2, 5), width=(1, 3)),
        "theory": (Case(instance="collapsed", tokens=8, width=4),),
    },
    control=Control(Case(instance="generic", tokens=3, width=2), "tokens that differ"),
    supports="signal_propagation/query_gradient",
)
def zero_query_key_gradient(case: Case) -> Exact:
    """Collapsed tokens give queries and keys no gradient.

    At $X = 1 x^T$ every derivative of a softmax attention layer's output in an entry of $W_Q$ or
    $W_K$ is zero, for all weights.

    The paper's statement is about expected gradients at initialisation; this is its exact case, and
    says nothing on $W_V$.
    """
    n, d = case.tokens, case.width
    Wq, Wk, Wv = (random_matrix(case, d, d, salt) for salt in (1, 2, 3))
    X = random_matrix(case, n, d)
    # The logits must be constant along every row: then the attention is uniform, and rational.
    if case.instance == "collapsed":
        X[1:] = X[0]
    else:
        Wq *= 0
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    if np.ptp(Q @ K.T, axis=1).any():
        raise ValueError(f"the logits of [{case}] differ along a row: the attention is irrational")
    count = 0
    for i, j in np.ndindex(d, d):
        dX = np.zeros_like(X)
        dX[:, j] = X[:, i]
        for dA in (dX @ K.T, Q @ dX.T):
            # Uniform attention 1/n has the derivative (dA - row mean of dA) / n.
            dP = (dA - dA.mean(axis=1, keepdims=True)) / n
            count += int(np.count_nonzero(dP @ V))
    return Exact(count)


@zero_query_key_gradient.argument(
    "Argument: the derivative in a logit is computed for a symbolic number of tokens. Prose: the "
    "chain rule through the logits."
)
def _(statement: Relational) -> Iterator[Step]:
    """At X = 1 x^T every output is a softmax average of n equal values."""
    n = Symbol("n", integer=True, positive=True)
    j, k = symbols("j k", integer=True)
    a, value = sympy.IndexedBase("a"), Symbol("v")
    total = sympy.Sum(exp(a[j]) * value, (j, 1, n))
    slope = simplify(diff(total / sympy.Sum(exp(a[j]), (j, 1, n)), a[k]))
    yield Step(
        "the derivative of sum_j e^(a_j) v / sum_j e^(a_j) in a_k is 0 for every number n "
        "of tokens and every k",
        slope == 0,
    )
    yield Step(
        "so by the chain rule through the logits no derivative differs from zero, as stated",
        statement.rhs == slope,
    )
