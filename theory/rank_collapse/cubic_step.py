"""The steps of the proof of the cubic law, as they hold and as they were written.

The proof writes the attention as P = 1 q^T plus a deviation that the softmax perturbation lemma
bounds. Beside its steps stands a bound for small logits that needs no gamma.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import sympy
from flint import arb, arb_mat
from sympy import Expr, Rational, Symbol, diff, exp, expand, simplify, symbols
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import at_least, sum_step
from ..claims.relations import Le
from ..claims.symbols import quantity
from ..exact.enclosure import from_fraction, sign
from .rational_matrices import norms, random_matrix, rational_array, root, squared_norm
from .residual_norms import V2, logits, product_steps, range_steps, ranges
from .softmax_attention import (
    SoftmaxHead,
    about_best_centre,
    attention,
    ball_composite_norm,
    ball_norms,
    centred,
    instance,
    largest,
    residual_norm,
    resolved,
    row_ranges,
)
from .softmax_perturbation import LARGEST_RANGE, small_range, softmax_steps, two_attentions

_HERE = "theory/rank_collapse/cubic_step.py, "

logit_max = quantity(
    "logit_max",
    "M",
    "largest |E_ij|, E the part of the logits that differs between rows",
    "positive real",
)
gamma_free_ratio = quantity(
    "gamma_free_ratio",
    r"\phi",
    r"residual after one layer over $\|E\|_1 |R| |W_V|$",
    "positive real",
)
step_ratio = quantity(
    "step_ratio",
    r"\chi",
    "left side of a step over its right side without the factor, the largest over entries",
    "nonnegative real",
)
step_factor = quantity("step_factor", "k", "factor on the right side of a step", "positive real")
step_excess = quantity(
    "step_excess", r"\varsigma", "left side of a step minus its right side", "real"
)
# --- the step of the proof ---


def _signed(case: Case, excess: bool) -> Ball:
    """The largest P R - (1 + 2 D) Q R, or |(P - Q) R| over D Q |R|, of all entries, for a signed R:
    plus or minus the first unit vector, or random."""

    def measured() -> arb:
        P, Q, D = two_attentions(case)
        if case.instance == "two tokens":
            rows = [[int(case.get("direction", -1)) * int(i == 0)] for i in range(len(D))]
        else:
            rows = case.rng(1).integers(-9, 10, (len(D), 3)).tolist()
        left, right = P * arb_mat(rows), Q * arb_mat(rows)
        weight = Q * arb_mat([[abs(v) for v in row] for row in rows])
        return largest(
            [
                left[i, k] - (1 + 2 * D[i]) * right[i, k]
                if excess
                else abs(left[i, k] - right[i, k]) / (D[i] * weight[i, k])
                for i, k in np.ndindex(weight.nrows(), weight.ncols())
            ]
        )

    return Ball.of(resolved(measured))


# --- one layer, from its logits ---


def _grid(sizes: Iterable[str], shapes: Iterable[tuple[int, int]]) -> tuple[Case, ...]:
    unit = partial(Case.grid, residual="1", qk_norm="1", value_norm="1", qk_width=1)
    return tuple(
        case for n, d in shapes for case in unit(tokens=n, width=d, logit_max=sizes, bias=(0, 1))
    )


_SMALLEST = _grid(("1/1000",), ((2, 1),))[0]


def scaled_layer(case: Case) -> tuple[arb_mat, SoftmaxHead]:
    """Tokens and one head with max |E_ij| = case.logit_max, from an instance of norms one."""
    tokens, [[head]] = instance(case)
    size = largest([abs(entry) for entry in head.perturbation(centred(tokens)).entries()])
    return tokens, head._replace(qk=head.qk * (from_fraction(case.rational("logit_max")) / size))


def _residual_over(case: Case, size: Callable[[arb_mat], arb]) -> Ball:
    """The residual after the scaled layer over size(E) |R| |W_V|."""

    def ratio() -> arb:
        tokens, head = scaled_layer(case)
        R = centred(tokens)
        before = size(head.perturbation(R)) * ball_composite_norm(R)
        after = residual_norm(attention(tokens, [head]))
        return after / (before * ball_composite_norm(head.value))

    return about_best_centre(resolved(ratio), case)


def _logits_ratio(case: Case) -> Exact:
    n = case.tokens
    if case.instance == "random":
        R = random_matrix(case, n, case.width)
        W = random_matrix(case, case.width, case.width, 1)
    else:
        R, W = rational_array(np.eye(n, dtype=int)), logits(case)
    return Exact(ranges(R @ W @ R.T)[1] / (norms(W)[0] * squared_norm(R)))


def _product_ratio(case: Case) -> Exact | Ball:
    n = case.tokens
    A = B = rational_array(np.ones((n, n), int))
    if case.instance == "random":
        A, B = random_matrix(case, n, n), random_matrix(case, n, n, 1)
    return root(squared_norm(A @ B) / (squared_norm(A) * squared_norm(B)))


def _of_step(step: str, factor: int, *cases: Iterable[Case]) -> tuple[Case, ...]:
    return tuple(
        Case(step=step, step_factor=factor, **case.fields()) for part in cases for case in part
    )


@claim(
    Le(step_ratio, step_factor),
    source=Source("dong2021", "proof of the one-layer lemma, its signed step repaired", V2),
    wording="reported",
    # Facts of the constructions: `two_attentions` and `scaled_layer` scale to the case.
    assumes={
        r"row ranges $D_{ii} \leq 1.256$ in the steps signed and residual": lambda c: (
            2 * c.rational("logit_max") <= LARGEST_RANGE
            if c.step == "residual"
            else c.step != "signed" or small_range(c)
        )
    },
    cases={
        "quick": (
            *_of_step(
                "signed",
                2,
                Case.grid(instance="two tokens", range=("157/125", "1/1000")),
                Case.grid(instance="random", range=("1/2", "157/125"), tokens=(3, 8)),
            ),
            *_of_step("residual", 2, _grid(("1/1000", "1/2", "157/250"), ((2, 1), (6, 3)))),
            *_of_step(
                "logits",
                2,
                Case.grid(instance="both signs", tokens=(2, 5)),
                Case.grid(instance="random", tokens=(2, 6), width=(1, 3)),
            ),
            *_of_step(
                "product",
                1,
                Case.grid(instance="ones", tokens=(2, 5)),
                Case.grid(instance="random", tokens=(2, 3, 8)),
            ),
        ),
        "theory": (
            *_of_step(
                "signed", 2, Case.grid(instance="random", range=("1", "157/125"), tokens=(12, 24))
            ),
            *_of_step("residual", 2, _grid(("1/4",), ((12, 5), (4, 8)))),
            *_of_step("logits", 2, Case.grid(instance="random", tokens=(12, 20), width=5)),
            *_of_step("product", 1, Case.grid(instance="random", tokens=(4, 16))),
        ),
    },
    control=Control(
        Case(step="signed", step_factor=2, instance="two tokens", range="13/10"),
        "$D = 1.3$ is beyond the root 1.2564 of $e^x = 1 + 2 x$",
    ),
    supports="rank_collapse/one_layer_cubic",
)
def cubic_steps(case: Case) -> Ball | Exact:
    r"""Four steps of the proof that one layer cubes hold as we restate them.

    signed: $|(P - Q) R| \leq 2 D Q |R|$ entrywise, for all logits $A$, $E$ with row ranges
    $D_{ii} \leq 1.256$ and every matrix $R$, $P = \mathrm{softmax}(A)$,
    $Q = \mathrm{softmax}(A - E)$; residual: $|\mathrm{res}(\mathrm{SA}(X))| \leq 2 \sqrt{\|D 1\|_1
    \|D 1\|_\infty} |R| |W_V|$ for every input and one head with $D_{ii} \leq 1.256$; logits: $\|D
    1\|_\infty \leq 2 \max |E_{ij}| \leq 2 \|E\|_1 \leq 2 \|W\|_1 \|R\|_1
    \|R\|_\infty$ for all $R$ and $W$ with $E = R W
    R^T$ (divide by $\sqrt{d_{qk}}$ on both sides); product: $|A B| \leq |A| |B|$ in the composite
    norm for all matrices whose product exists.

    The signed step is repaired: $|R|$ has the norms of $R$, so that costs nothing; two tokens come
    within 0.03 % of its constant. $R = I$ and one row of $W$ of both signs attain the logits' step,
    all-ones matrices the product's. As written, without repairs: steps_as_written.
    """
    if case.step == "signed":
        return _signed(case, excess=False)
    if case.step == "residual":
        # sqrt(|D1|_1 |D1|_inf)
        return _residual_over(case, lambda E: (sum(D := row_ranges(E)) * largest(D)).sqrt())
    return _logits_ratio(case) if case.step == "logits" else _product_ratio(case)


@cubic_steps.argument(
    r"Argument. Prose: $|P - Q| \leq 2 D Q$ from both sides of the lemma; $1 q^T R W_V$ is a "
    "centre; an entry is at most its column sum; sums exchanged."
)
def _(statement: Relational) -> Iterator[Step]:
    """The chain holds the signed step and the product; the logits' step adds the row ranges."""
    two, one = (statement.rhs.subs(step_factor, value) for value in (2, 1))
    yield from chain_steps(two)
    yield from range_steps()
    yield Step("the logits' step has the factor 2, the stated one is not below", at_least(two, 2))
    yield Step("the product's has the factor 1, and the stated one is not below", at_least(one, 1))


def chain_steps(k: Expr | int) -> Iterator[Step]:
    """-D Q <= P - Q <= k D Q entrywise, so |P - Q| <= k D Q; the triangle inequality does R; and
    what a mean of rows is at most."""
    yield from softmax_steps(k, 1)
    yield from softmax_steps(1, -1)
    yield Step("the constant covers the lower side too", at_least(k, 1))
    yield from product_steps()
    yield sum_step(
        "a mean is at most the largest number, so (q^T |R|)_k <= |R|_1 and q^T |R| 1 <= |R|_inf"
    )


_GAMMA_FREE = 2 * exp(logit_max) * (exp(logit_max) - 1) / logit_max


@claim(
    Le(gamma_free_ratio, _GAMMA_FREE),
    source=Source("depthlaw", _HERE + r"one layer without $\gamma$"),
    cases={
        "quick": _grid(("1/1000", "1/2", "3"), ((2, 1), (6, 3))),
        "theory": _grid(("1/10", "2"), ((12, 5), (4, 8))),
    },
    control=Control(_SMALLEST, "a tenth of the constant", Le(gamma_free_ratio, _GAMMA_FREE / 10)),
    supports="rank_collapse/steps_as_written",
)
def gamma_free_bound(case: Case) -> Ball:
    r"""Without $\gamma$ one layer cubes the residual: $2 e^M (e^M - 1)/M$ for logits up to $M$.

    For every input, head and bias with $|E_{ij}| \leq M$ for all $i$, $j$, the residual after a
    softmax attention layer is at most $2 e^M ((e^M - 1)/M) \|E\|_1 |R| |W_V|$, with
    $E = R W_{QK} R^T/\sqrt{d_{qk}}$; the constant tends to 2 as $M$ tends to 0, and is at most 4
    exactly up to an $M$ that begins with 0.4563239156.

    So version 1 of the theorem holds for small logits, since $\max |E_{ij}| \leq \|E\|_1 \leq
    \|W_{QK}\|_1 r_0^2/\sqrt{d_{qk}}$: where the last is at most 0.4563, the residual is at most $4
    \|W_{QK}\|_1 |W_V|/\sqrt{d_{qk}}$ times the cube of $r_0$, and $\gamma$ is an artefact of the
    proof. Beyond that range version 1 has neither an argument nor a counterexample:
    one_layer_cubic_v1.
    """
    return _residual_over(case, lambda E: ball_norms(E)[0])


@gamma_free_bound.argument(
    "Argument. Prose: $|P - 1 q^T|$ bounded entry by entry, then its column and row sums times "
    "$|R|$, then $|W_V|$; a convex gap falling at 0 has one root."
)
def _(statement: Relational) -> Iterator[Step]:
    """The steps with the stated constant, and where it is at most 4."""
    yield from _gamma_free_steps(statement.rhs)
    yield from _below_four(statement.rhs)


def _gamma_free_steps(constant: Expr) -> Iterator[Step]:
    """|P_ij - q_j| <= q_j e^M kappa (|E_ij| + sum_m q_m |E_im|), kappa = constant / (2 e^M)."""
    M, x = logit_max, Symbol("x", nonnegative=True)
    kappa = simplify(constant / (2 * exp(M)))
    gap = kappa * x - (exp(x) - 1)
    yield Step(
        "e^x - 1 <= kappa x on [0, M]: the gap is concave and zero at 0",
        bool((-diff(gap, x, 2)).is_positive and gap.subs(x, 0) == 0),
    )
    yield Step("and it is not negative at M", at_least(gap.subs(x, M), 0))
    yield Step(
        "e^M - 1 >= M: the gap is convex, zero and flat at 0",
        _convex_zero_and_flat(exp(x) - 1 - x, x),
    )
    yield Step(
        "1 - e^-x <= x <= kappa x: the first gap is convex, zero and flat at 0, and "
        "kappa >= 1 since kappa M >= e^M - 1 >= M",
        _convex_zero_and_flat(x - 1 + exp(-x), x),
    )
    q, a, Z = symbols("q a Z", positive=True)
    yield Step(
        "P_ij - q_j = q_j ((e^{E_ij} - 1) - (Z_i - 1)) / Z_i",
        simplify(q * a / Z - q - q * ((a - 1) - (Z - 1)) / Z) == 0,
    )
    yield sum_step("a mean of numbers that are at least e^-M is at least e^-M", -1)
    q, e, r, b = symbols("q e r b", nonnegative=True)
    yield Step(
        "column sums: q_j (sum_i |E_ij| + sum_m q_m sum_i |E_im|) <= q_j (e + e) with "
        "e = |E|_1; row sums: at most 2 max |E_ij| <= 2 e",
        expand(q * ((e - r) + (e - b)) - 2 * q * e + q * (r + b)) == 0,
    )
    yield from product_steps()


def _convex_zero_and_flat(gap: Expr, x: Symbol) -> bool:
    slope = diff(gap, x)
    return bool(diff(slope, x).is_positive and gap.subs(x, 0) == 0 and slope.subs(x, 0) == 0)


def _below_four(constant: Expr) -> Iterator[Step]:
    """e^{2M} - e^M - 2M has one positive root; its signs beside the digits are enclosed."""
    M = logit_max
    gap = exp(2 * M) - exp(M) - 2 * M
    yield Step(
        "the constant is at most 4 exactly where the gap is at most 0",
        simplify(gap - (constant - 4) * M / 2) == 0,
    )
    yield Step(
        "the gap is convex: its second derivative e^M (4 e^M - 1) is positive",
        expand(diff(gap, M, 2) - exp(M) * (4 * exp(M) - 1)) == 0,
    )
    yield Step("it is zero and falls at 0", gap.subs(M, 0) == 0 and diff(gap, M).subs(M, 0) == -1)
    ends = [sign(gap.subs(M, Rational(4563239156 + unit, 10**10))) for unit in (0, 1)]
    yield Step("it is negative at M = 0.4563239156 and positive one unit later", ends == [-1, 1])
    yield Step("the constant tends to 2 as M tends to 0", sympy.limit(constant, M, 0) == 2)


# --- steps without their repairs ---


def _heads_excess(case: Case) -> Exact:
    # The value matrices of the two heads favour different norms.
    small = case.rational("balance")
    a, b = (Fraction(1), small), (small, Fraction(1))
    heads = [logits(Case(instance=name, tokens=case.tokens)) for name in case.instance.split("/")]
    g = [[part / (2 * norms(E)[0]) for part in ranges(E)] for E in heads]
    columns, rows = (g[0][k] * w[0] + g[1][k] * w[1] for k, w in ((0, a), (1, b)))
    return Exact(columns * rows - max(one * other for one, other in g) * sum(a) * sum(b))


_UPRIGHT = Case(step="signed", instance="two tokens", range="1/1000", direction=1)


@claim(
    Le(step_excess, 0),
    known="FAILS",
    weight="step",
    source=Source("depthlaw", "after restatements of dong2021's lemma (v1, v2); heads: our own"),
    assumes={r"if signed, $0 < D_{ii} \leq 1.256$": lambda c: c.step != "signed" or small_range(c)},
    cases={
        "quick": (
            Case(step="signed", instance="two tokens", range="1/1000"),
            _UPRIGHT,
            Case(step="signed", instance="random", range="1/2", tokens=3),
            *Case.grid(step="columns", instance="identity", tokens=(2, 3, 16)),
            Case(step="columns", instance="random", tokens=5),
            *Case.grid(
                step="heads", instance="identity/both signs", tokens=(4, 16), balance="1/10"
            ),
            Case(step="heads", instance="identity/identity", tokens=16, balance="1/10"),
            Case(step="heads", instance="both signs/both signs", tokens=4, balance="1/10"),
        )
    },
    control=Control(_UPRIGHT, r"by $2 \cdot 10^{-90}$ less", Le(step_excess, -Rational(2, 10**90))),
    cited="Decides which steps of dong2021's proof, as restated, may be quoted without repairs.",
)
def steps_as_written(case: Case) -> Ball | Exact:
    r"""Two restated steps of the cubing proof, and one of ours, hold without repairs.

    columns (version 1): $\|D 1\|_1 \leq 2 \|E\|_1$ for every logit matrix $E$ with row ranges
    $D_{ii}$; signed (version 2): $P R \leq (I + 2 D) Q R$ entrywise for all logits $A$, $E$ with
    $D_{ii} \leq 1.256$, $P = \mathrm{softmax}(A)$, $Q = \mathrm{softmax}(A - E)$, and every matrix
    $R$; heads: when $g_h g'_h \leq \gamma^2$ for every head, with $g_h = \|D 1\|_1/(2 \|E\|_1)$ and
    $g'_h = \|D 1\|_\infty/(2 \|E\|_1)$, then $\sum_h g_h a_h \sum_h g'_h b_h \leq \gamma^2 \sum_h
    a_h \sum_h b_h$ for all $a_h$, $b_h > 0$.

    Each fails. columns: $\|D 1\|_1$ sums over all rows, and $E = I_3$ gives $3 > 2$; the factor
    $\gamma$ of version 2 repairs it, and version 1 itself is not refuted by this
    (one_layer_cubic_v1, gamma_free_bound). signed: an entrywise inequality may not be multiplied by
    a matrix with negative entries, $R = -e_1$ turns it round; the norms that the proof needs
    survive (cubic_steps). heads: a step that suggests itself for the sum over heads, not one of the
    paper; $\gamma$ bounds only the product $g_h g'_h$, and heads whose value matrices favour
    different norms pair the largest $g$ with the largest $g'$, so that both factors are needed per
    head, as in layers_product; the multi-head theorem is not refuted by this. The first two stand
    in restatements of the proof; the paper itself was not read.
    """
    if case.step == "signed":
        return _signed(case, excess=True)
    if case.step == "heads":
        return _heads_excess(case)
    E = logits(case)
    return Exact(ranges(E)[0] - 2 * norms(E)[0])
