"""Evidence on one attention layer: forward passes in ball arithmetic, exact derivatives, and the arguments behind the cubic step."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Ball, Case, Exact, Step
from .measured import arb_of, instance, prove_softmax, resolved, softmax_instance, whole_part
from .residual_norms_measured import (
    Matrix,
    at_least,
    logits,
    norms,
    product,
    product_steps,
    random_matrix,
    range_steps,
    ranges,
    sum_step,
)
from .softmax_attention import Head, attention, ball_composite_norm, ball_norms, centred, largest, perturbation, row_ranges, softmax_rows

if TYPE_CHECKING:
    import sympy
    from flint import arb, arb_mat
    from sympy.core.relational import Relational

# --- one layer ---


def _scaled_layer(case: Case) -> tuple[arb_mat, Head]:
    """Tokens and one head with max |E_ij| = case.logit_max, from an instance of norms one."""
    tokens, layers = instance(case)
    head = layers[0][0]
    size = largest([abs(entry) for row in perturbation(centred(tokens), head).tolist() for entry in row])
    return tokens, head._replace(qk=head.qk * (arb_of(case.rational("logit_max")) / size))


def _best_centre(norm: arb, case: Case) -> Ball:
    """The residual about the best centre: with a bias the outputs lose their symmetry, and the mean is only within 2 (1 - 1/n) of it."""
    return Ball.of(norm.union(norm / (2 - arb_of(Fraction(2, case.tokens)))) if case.get("bias", 0) else norm)


def gamma_free_ratio(case: Case, seed: int) -> Ball:
    """||R'|| / (||E||_1 ||R|| ||W_V||) by the plain forward pass."""
    def ratio() -> arb:
        tokens, head = _scaled_layer(case)
        R = centred(tokens)
        after = ball_composite_norm(centred(attention(tokens, [head])))
        return after / (ball_norms(perturbation(R, head))[0] * ball_composite_norm(R) * ball_composite_norm(head.value))

    return _best_centre(resolved(ratio), case)


def chain_ratio(case: Case, seed: int) -> Ball:
    """||R'|| / (sqrt(||D1||_1 ||D1||_inf) ||R|| ||W_V||) by the plain forward pass."""
    def ratio() -> arb:
        tokens, head = _scaled_layer(case)
        R = centred(tokens)
        D = row_ranges(perturbation(R, head))
        after = ball_composite_norm(centred(attention(tokens, [head])))
        return after / ((sum(D) * largest(D)).sqrt() * ball_composite_norm(R) * ball_composite_norm(head.value))

    return _best_centre(resolved(ratio), case)


def gamma_free_digits(case: Case, seed: int) -> Exact:
    """floor(10^10 M) of the only place in (0, 1] where 2 e^M (e^M - 1)/M crosses 4, by halving intervals whose sign is not decided.

    Every other interval is decided as a whole, so no sample points are involved; 4 - constant must be positive before and negative after.
    """
    from ..exact.enclosure import ball

    todo, undecided = [(Fraction(0), Fraction(1))], []
    before, after = Fraction(1), Fraction(0)
    while todo:
        low, high = todo.pop()
        M = ball(low, high)
        # (e^M - 1)/M lies between 1 and e^high on [0, high], which also covers the interval that begins at 0.
        quotient = (M.exp() - 1) / M if low else arb_of(1).union(M.exp())
        gap = 4 - 2 * M.exp() * quotient
        if gap > 0:
            after = max(after, high)
        elif gap < 0:
            before = min(before, low)
        elif high - low < Fraction(1, 10**14):
            undecided.append((low, high))
        else:
            todo += [(low, (low + high) / 2), ((low + high) / 2, high)]
    first, last = min(low for low, _ in undecided), max(high for _, high in undecided)
    if not after <= first < last <= before or int(first * 10**10) != int(last * 10**10):
        raise ArithmeticError(f"the crossing is not isolated: undecided on [{first}, {last}], decided up to {after} and from {before}")
    return Exact(int(first * 10**10))


def pair_digits(case: Case, seed: int) -> Exact:
    """floor(10^12 x) for the first token x after one layer on the tokens rho, -rho, by the plain forward pass."""
    import flint
    from flint import arb_mat

    with flint.ctx.workprec(192):
        rho, w = arb_of(case.rational("pair_half")), arb_of(case.rational("qk_weight"))
        after = attention(arb_mat([[rho], [-rho]]), [Head(arb_mat([[w]]), arb_mat([[1]]))])[0, 0]
        return Exact(whole_part(after * 10**12))


# --- the signed step ---


def _two_attentions(case: Case) -> tuple[arb_mat, arb_mat, list[arb], arb_mat]:
    """P, Q, the ranges D, and a signed matrix R: plus or minus the indicator of the first token, or random."""
    from flint import arb_mat

    E, base = softmax_instance(case)
    shift, start = (arb_mat([[arb_of(v) for v in row] for row in rows]) for rows in (E, base))
    n = len(E)
    R = arb_mat([[int(case.get("direction", -1)) * int(i == 0)] for i in range(n)]) if case.instance == "two tokens" else \
        arb_mat([[int(v) for v in row] for row in case.rng(1).integers(-9, 10, (n, 3))])
    return softmax_rows(start + shift), softmax_rows(start), row_ranges(shift), R


def signed_ratio(case: Case, seed: int) -> Ball:
    """The largest |((P - Q) R)_ik| / (D_ii (Q |R|)_ik)."""
    from flint import arb_mat

    def ratio() -> arb:
        P, Q, D, R = _two_attentions(case)
        moved, weight = (P - Q) * R, Q * arb_mat([[abs(v) for v in row] for row in R.tolist()])
        return largest([abs(moved[i, k]) / (D[i] * weight[i, k]) for i in range(R.nrows()) for k in range(R.ncols())])

    return Ball.of(resolved(ratio))


def signed_excess(case: Case, seed: int) -> Ball:
    """The largest entry of P R - (I + 2D) Q R."""
    def excess() -> arb:
        P, Q, D, R = _two_attentions(case)
        left, right = P * R, Q * R
        return largest([left[i, k] - (1 + 2 * D[i]) * right[i, k] for i in range(R.nrows()) for k in range(R.ncols())])

    return Ball.of(resolved(excess))


def head_sum_ratio(case: Case, seed: int) -> Exact:
    """Two heads: logits c I in the first, one row of both signs in the second; their value matrices favour different norms."""
    heads = [logits(Case(instance=name, tokens=case.tokens)) for name in str(case.instance).split("/")]
    small = case.rational("balance")
    a, b = [Fraction(1), small], [small, Fraction(1)]
    g = [[part / (2 * norms(E)[0]) for part in ranges(E)] for E in heads]
    columns, rows = (sum((g[h][k] * w[h] for h in range(2)), Fraction(0)) for k, w in ((0, a), (1, b)))
    return Exact(columns * rows / (max(one * infinity for one, infinity in g) * sum(a) * sum(b)))


# --- derivatives at rank one ---


def nonzero_gradients(case: Case, seed: int) -> Exact:
    """Non-zero derivatives of the outputs in the entries of W_Q and W_K, exactly; the logits must be constant along every row.

    `collapsed` tokens are all equal; `generic` ones differ, and W_Q = 0 keeps their attention rational.
    """
    n, d = case.tokens, case.width
    Wq, Wk, Wv = (random_matrix(case, d, d, salt) for salt in (1, 2, 3))
    X = random_matrix(case, n, d)
    if case.instance == "collapsed":
        X = [X[0]] * n
    else:
        Wq = [[Fraction(0)] * d for _ in range(d)]
    Q, K, V = product(X, Wq), product(X, Wk), product(X, Wv)
    A = product(Q, _transposed(K))
    if any(len(set(row)) > 1 for row in A):
        raise ValueError(f"the logits of [{case}] differ along a row, so the attention is not rational")
    count = 0
    for i in range(d):
        for j in range(d):
            unit = [[Fraction(int((r, c) == (i, j))) for c in range(d)] for r in range(d)]
            dX = product(X, unit)
            for dA in (product(dX, _transposed(K)), product(Q, _transposed(dX))):
                # Uniform attention 1/n has the derivative (dA - row mean of dA) / n.
                dP = [[(v - sum(row) / n) / n for v in row] for row in dA]
                count += sum(v != 0 for row in product(dP, V) for v in row)
    return Exact(count)


def _transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


# --- arguments ---


def prove_signed(statement: Relational) -> Iterator[Step]:
    """-D Q <= P - Q <= k D Q entrywise, so |P - Q| <= k D Q when k >= 1; the triangle inequality carries it over to signed R."""
    import sympy

    yield from prove_softmax(statement, 1)
    yield from prove_softmax(sympy.Le(statement.lhs, sympy.Integer(1)), -1)
    yield Step("the constant covers the lower side too", at_least(statement.rhs, sympy.Integer(1)))
    yield from product_steps()


def prove_chain(statement: Relational) -> Iterator[Step]:
    """|R'| <= k D 1 (q^T |R|) |W_V|, whose column sums are |D1|_1 q^T |R| and whose row sums are D_ii q^T |R| 1."""
    yield from prove_signed(statement)
    yield sum_step("a mean is at most the largest number, so (q^T |R|)_k <= |R|_1 and q^T |R| 1 <= |R|_inf")


def prove_gamma_free(statement: Relational) -> Iterator[Step]:
    """|P_ij - q_j| <= q_j e^M kappa (|E_ij| + sum_m q_m |E_im|); row and column sums of the right side are at most 2 e^M kappa |E|_1."""
    import sympy

    from ..glossary import symbol

    M = symbol("logit_max")
    kappa = sympy.simplify(statement.rhs / (2 * sympy.exp(M)))
    x = sympy.Symbol("x", nonnegative=True)
    gap = kappa * x - (sympy.exp(x) - 1)
    yield Step("e^x - 1 <= kappa x on [0, M]: the gap is concave and zero at 0",
               bool((-sympy.diff(gap, x, 2)).is_positive and gap.subs(x, 0) == 0))
    yield Step("and it is not negative at M", at_least(gap.subs(x, M), sympy.Integer(0)))
    rise = sympy.exp(x) - 1 - x
    yield Step("e^M - 1 >= M: the gap is convex, zero and flat at 0",
               bool(sympy.diff(rise, x, 2).is_positive and rise.subs(x, 0) == 0 and sympy.diff(rise, x).subs(x, 0) == 0))
    tail = x - 1 + sympy.exp(-x)
    yield Step("1 - e^-x <= x <= kappa x: the first gap is convex, zero and flat at 0, and kappa >= 1 since kappa M >= e^M - 1 >= M",
               bool(sympy.diff(tail, x, 2).is_positive and tail.subs(x, 0) == 0 and sympy.diff(tail, x).subs(x, 0) == 0))
    yield from prove_softmax_mean()
    q, e, r, b = sympy.symbols("q e r b", nonnegative=True)
    yield Step("column sums: q_j (sum_i |E_ij| + sum_m q_m sum_i |E_im|) <= q_j (e + e) with e = |E|_1; row sums: "
               "at most 2 max |E_ij| <= 2 e",
               sympy.expand(q * ((e - r) + (e - b)) - 2 * q * e + q * (r + b)) == 0)
    yield from product_steps()


def prove_softmax_mean() -> Iterator[Step]:
    """P_ij = q_j e^{E_ij} / Z_i with Z_i = sum_m q_m e^{E_im} >= e^-M, so P_ij - q_j = q_j (e^{E_ij} - Z_i) / Z_i."""
    import sympy

    q, a, Z = sympy.symbols("q a Z", positive=True)
    yield Step("P_ij - q_j = q_j ((e^{E_ij} - 1) - (Z_i - 1)) / Z_i", sympy.simplify(q * a / Z - q - q * ((a - 1) - (Z - 1)) / Z) == 0)
    yield sum_step("a mean of numbers that are at least e^-M is at least e^-M", -1)


def prove_digits(statement: Relational) -> Iterator[Step]:
    """e^{2M} - e^M - 2M is convex, zero and falling at 0, so it has one positive root; its sign at both ends of the stated digit."""
    import sympy

    from ..exact.enclosure import sign

    M = sympy.Symbol("M", positive=True)
    gap = sympy.exp(2 * M) - sympy.exp(M) - 2 * M
    constant = 2 * sympy.exp(M) * (sympy.exp(M) - 1) / M
    yield Step("the constant is at most 4 exactly where the gap is at most 0", sympy.simplify(gap - (constant - 4) * M / 2) == 0)
    curvature = sympy.exp(M) * (4 * sympy.exp(M) - 1)
    yield Step("the gap is convex: its second derivative e^M (4 e^M - 1) is positive",
               sympy.expand(sympy.diff(gap, M, 2) - curvature) == 0)
    yield Step("it is zero and falls at 0", gap.subs(M, 0) == 0 and sympy.diff(gap, M).subs(M, 0) == -1)
    low, high = statement.rhs / sympy.Integer(10) ** 10, (statement.rhs + 1) / sympy.Integer(10) ** 10
    yield Step("it is negative at the stated digits and positive one unit later",
               sign(gap.subs(M, low)) == -1 and sign(gap.subs(M, high)) == 1)
    yield Step("the constant tends to 2 as M tends to 0", sympy.limit(constant, M, 0) == 2)


def prove_one_layer(statement: Relational) -> Iterator[Step]:
    """The chain with constant 2, gamma's definition, and |E|_1 <= |W_QK|_1 |R|^2 / sqrt(d_qk)."""
    import sympy

    yield from prove_chain(sympy.Le(statement.lhs, sympy.Integer(2)))
    yield from range_steps()
    yield Step("2 sqrt(|D1|_1 |D1|_inf) = 4 gamma |E|_1, and the stated bound is at least 4 |W_QK|_1 |W_V| r^3 / sqrt(d_qk)",
               at_least(_cubic_factor(statement.rhs), sympy.Integer(4)))


def _cubic_factor(bound: sympy.Expr) -> sympy.Expr:
    """The bound over |W_QK|_1 |W_V| r^3 / sqrt(d_qk): a number, when the bound has the form of the cubic law."""
    import sympy

    from ..glossary import symbol

    r, qk, value, width = (symbol(name) for name in ("residual", "qk_norm", "value_norm", "qk_width"))
    return sympy.simplify(bound * sympy.sqrt(width) / (qk * value * r**3))


def prove_small_logits(statement: Relational) -> Iterator[Step]:
    """The gamma-free bound, and its constant at the largest logits allowed."""
    import sympy

    from ..exact.enclosure import enclose
    from ..glossary import symbol

    M = symbol("logit_max")
    yield from prove_gamma_free(sympy.Le(statement.lhs, 2 * sympy.exp(M) * (sympy.exp(M) - 1) / M))
    end = sympy.Rational(4563, 10000)
    largest_constant = enclose(2 * sympy.exp(end) * (sympy.exp(end) - 1) / end)
    stated = _cubic_factor(statement.rhs)
    yield Step("for 0 < M <= 0.4563 the constant grows with M and is below the stated one at the end",
               bool(stated.is_number) and bool(largest_constant < enclose(stated)))
    series = sympy.expand((M - 1) * sympy.exp(M) + 1)
    yield Step("(e^M - 1)/M grows with M: M^2 times its derivative is (M - 1) e^M + 1, zero at 0 with derivative M e^M",
               series.subs(M, 0) == 0 and sympy.simplify(sympy.diff(series, M) - M * sympy.exp(M)) == 0)


def prove_pair(statement: Relational) -> Iterator[Step]:
    """The layer on the tokens rho, -rho in symbols: logits w x_i x_j, a softmax of each row, and W_V = 1."""
    import sympy

    from ..glossary import symbol

    rho, w = symbol("pair_half"), symbol("qk_weight")
    tokens = (rho, -rho)
    weights = [[sympy.exp(w * own * other) for other in tokens] for own in tokens]
    first, second = (sum(e * x for e, x in zip(row, tokens, strict=True)) / sum(row) for row in weights)
    stated = statement.rhs.args[0] / sympy.Integer(10) ** 12
    yield Step("the two tokens stay opposite", sympy.simplify(first + second) == 0)
    yield Step("the stated token is the first one", sympy.simplify((first - stated).rewrite(sympy.exp)) == 0)
    yield Step("and the statement takes its whole part", isinstance(statement.rhs, sympy.floor))


def prove_product_form(statement: Relational) -> Iterator[Step]:
    """Induction on the number of layers: one layer by the chain, in which |.|_1 and |.|_inf each add over heads; then log k + 3 F(L)."""
    import sympy

    from ..glossary import symbol

    L, r, x = symbol("depth"), symbol("residual"), sympy.Symbol("x", positive=True)
    yield from prove_chain(sympy.Le(x, sympy.Integer(2)))
    bound = statement.rhs
    base = sympy.expand_log(sympy.simplify(bound.subs(L, 1) - 3 * sympy.log(r)), force=True)
    yield Step("base: one layer is bounded by 4 k r^3, and the stated bound is not below that", at_least(base, sympy.log(4)))
    step = sympy.simplify(sympy.expand_log(bound.subs(L, L + 1) - 3 * bound - base, force=True))
    yield Step("step: the bound at L + 1 is at least the constant plus three times the bound at L", bool(step.is_nonnegative))


def prove_gradient(statement: Relational) -> Iterator[Step]:
    """At X = 1 x^T every output is a softmax average of n equal values; its derivative in any logit is taken for a symbolic n."""
    import sympy

    n = sympy.Symbol("n", integer=True, positive=True)
    j, k = sympy.symbols("j k", integer=True)
    logits, value = sympy.IndexedBase("a"), sympy.Symbol("v")
    average = sympy.Sum(sympy.exp(logits[j]) * value, (j, 1, n)) / sympy.Sum(sympy.exp(logits[j]), (j, 1, n))
    slope = sympy.simplify(sympy.diff(average, logits[k]))
    yield Step("the derivative of sum_j e^(a_j) v / sum_j e^(a_j) in a_k is 0 for every number n of tokens and every k", slope == 0)
    yield Step("so by the chain rule through the logits no derivative differs from zero, as stated", statement.rhs == slope)


