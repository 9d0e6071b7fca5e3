"""Evidence on tokens that flow on the sphere: Gram matrices over the rationals, a rigorous integral, and the symbolic reductions.

Tokens move by x_i' = Proj_{x_i} sum_j w_ij x_j with w_ij = e^{beta <x_i, x_j>}, divided by sum_j w_ij (SA) or by n (USA). Only inner
products enter, so the Gram matrix follows a closed system; with e^beta = b^q and cosines p/q it stays rational.
"""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Case, Exact, Step
from .residual_norms_measured import Matrix, product, random_matrix

if TYPE_CHECKING:
    import sympy
    from flint import arb
    from sympy.core.relational import Relational

# --- the flow of Gram matrices ---


def cosine_rate(case: Case, seed: int) -> Exact:
    """The derivative of every off-diagonal entry of the Gram matrix of equiangular tokens; they must all be the same."""
    n, rho, B = case.tokens, case.rational("common_cosine"), case.rational("exp_beta")
    G = [[Fraction(1) if i == j else rho for j in range(n)] for i in range(n)]
    weights = [[B if i == j else rational_power(B, rho) for j in range(n)] for i in range(n)]
    sums = [sum(row) if case.flow == "SA" else Fraction(n) for row in weights]
    P = [[w / total for w in row] for row, total in zip(weights, sums, strict=True)]
    towards = product(P, G)  # <y_i, x_j> for y_i = sum_k P_ik x_k
    projected = [[towards[i][j] - towards[i][i] * G[i][j] for j in range(n)] for i in range(n)]
    rates = {projected[i][j] + projected[j][i] for i in range(n) for j in range(n) if i != j}
    if len(rates) != 1 or any(projected[i][i] for i in range(n)):
        raise ArithmeticError(f"the tokens of [{case}] do not stay equiangular on the sphere")
    return Exact(rates.pop())


def rational_power(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent where that is rational.

    >>> rational_power(Fraction(4), Fraction(-1, 2))
    Fraction(1, 2)
    """
    powers = []
    for whole in (base.numerator, base.denominator):
        root = round(whole ** (1 / exponent.denominator))
        if root**exponent.denominator != whole:
            raise ValueError(f"{base}^({exponent}) is irrational; choose a base that is a power of {exponent.denominator}")
        powers.append(Fraction(root) ** exponent.numerator)
    return powers[0] / powers[1]


def cluster_rate(case: Case, seed: int) -> Exact:
    """The rate of 1 - cosine at the single cluster: tokens (1, eps u_i) to first order in eps, as truncated power series over Q.

    There <x_i, x_j> - 1 is of second order, so the weights are e^beta, a rational number by choice; 1 - cosine is half of the squared
    distance, whose rate is twice that of the differences u_i - u_j.
    """
    from flint import fmpq, fmpq_series

    n, B = case.tokens, case.rational("exp_beta")
    u = [1, -1, *[0] * (n - 2)]
    tokens = [(fmpq_series([1], prec=2), fmpq_series([0, v], prec=2)) for v in u]

    def dot(x: tuple[fmpq_series, fmpq_series], y: tuple[fmpq_series, fmpq_series]) -> fmpq_series:
        return x[0] * y[0] + x[1] * y[1]

    if any((dot(x, y) - 1).coeffs() for x in tokens for y in tokens):
        raise ArithmeticError("inner products at the cluster must not change to first order")
    weight = fmpq(B.numerator, B.denominator)
    total = weight * n if case.flow == "SA" else fmpq(n)
    share = fmpq_series([weight / total], prec=2)
    pull = tuple(sum((x[k] * share for x in tokens), fmpq_series([0], prec=2)) for k in (0, 1))
    moved = [pull[1] - dot((pull[0], pull[1]), x) * x[1] for x in tokens]
    slopes = [velocity[1] for velocity in moved]
    rate = -slopes[0] / u[0]
    if slopes != [-rate * v for v in u]:
        raise ArithmeticError("the differences of the tokens do not decay at one rate")
    return Exact(2 * Fraction(int(rate.p), int(rate.q)))


def cosine_figure(case: Case, seed: int) -> Exact:
    """(1 - rho(t)) 10^digits, rounded: the time to reach 1 - rho = e^{-s} is an integral over s, enclosed by arb and inverted."""
    import flint
    from flint import acb

    from .measured import arb_of

    n, beta, t = case.tokens, case.inverse_temperature, arb_of(case.rational("time"))

    def density(s: acb, _: bool) -> acb:
        """dt/ds with 1 - rho = e^-s: (1 - rho) over rho'."""
        rho = 1 - (-s).exp()
        return (acb(beta).exp() + (n - 1) * (beta * rho).exp()) / (2 * (beta * rho).exp() * ((n - 1) * rho + 1))

    with flint.ctx.workprec(96):
        start = -(1 - arb_of(case.rational("common_cosine"))).log()

        def time_to(one_minus: Fraction) -> arb:
            return acb.integral(density, acb(start), acb(-arb_of(one_minus).log())).real

        low, high = 0, 10**case.digits
        while high - low > 1:
            middle = (low + high) // 2
            # Time grows with s, so 1 - rho(t) is above a value exactly when that value is reached later than t.
            later = _decided(time_to(Fraction(2 * middle - 1, 2 * 10**case.digits)) - t)
            low, high = (middle, high) if later else (low, middle)
    return Exact(low)


def _decided(gap: arb) -> bool:
    if not (gap > 0 or gap < 0):
        raise ArithmeticError(f"{gap} does not say on which side of the value the cosine lies")
    return bool(gap > 0)


# --- one step with many tokens, and rescaled tokens ---


def rounded_cosine(case: Case, seed: int) -> Exact:
    """The cosine of two tokens after one step from equiangular tokens, n = 2^480 of them, beta = g log n, in rounded millionths."""
    g, rho, bits = case.rational("logit_growth"), case.rational("common_cosine"), 480
    if (g * bits).denominator != 1 or (g * rho * bits).denominator != 1:
        raise ValueError(f"n^g and n^(g rho) must be whole: use denominators that divide {bits}")
    n, own, other = Fraction(2**bits), Fraction(2 ** int(g * bits)), Fraction(2 ** int(g * rho * bits))
    # y_i = own x_i + other sum_{k != i} x_k; products of sums of equiangular unit vectors, counted pair by pair.
    square = own**2 + 2 * own * other * (n - 1) * rho + other**2 * ((n - 1) + (n - 1) * (n - 2) * rho)
    mixed = own**2 * rho + 2 * own * other * (1 + (n - 2) * rho) + other**2 * ((n - 2) + ((n - 1) ** 2 - (n - 2)) * rho)
    return Exact((2 * 10**6 * mixed / square + 1).__floor__() // 2)


def rescaled_errors(case: Case, seed: int) -> Exact:
    """Entries of dz_i/dt - sum_j P_ij V (z_j - z_i) that are not 0, for z = e^{-tV} x, dx_i/dt = sum_j P_ij V x_j, V nilpotent.

    Over Q: e^{-tV} of a nilpotent matrix is a polynomial. `scale` multiplies the rows of P, 1 for attention.
    """
    n, d, t = case.tokens, case.width, case.rational("time")
    raw = random_matrix(case, n, n)
    P = [[(abs(v) + 1) * case.get("scale", 1) / sum(abs(w) + 1 for w in row) for v in row] for row in raw]
    V = [[v if j > i else Fraction(0) for j, v in enumerate(row)] for i, row in enumerate(random_matrix(case, d, d, 1))]
    X = random_matrix(case, n, d, 2)
    power = flow = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    for k in range(1, d):
        power = [[-t * v / k for v in row] for row in product(power, V)]
        flow = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(flow, power, strict=True)]

    def act(matrix: Matrix, tokens: Matrix) -> Matrix:
        return product(tokens, [list(column) for column in zip(*matrix, strict=True)])

    dX, VX = product(P, act(V, X)), act(V, X)
    dZ = act(flow, [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(dX, VX, strict=True)])
    VZ = act(V, act(flow, X))
    pulled = [[sum((P[i][j] * (VZ[j][k] - VZ[i][k]) for j in range(n)), Fraction(0)) for k in range(d)] for i in range(n)]
    return Exact(sum(a != b for x, y in zip(dZ, pulled, strict=True) for a, b in zip(x, y, strict=True)))


# --- arguments ---


def prove_rate(statement: Relational, flow: str) -> Iterator[Step]:
    """From the flow on the sphere: <x_i', x_j> = <y_i, x_j> - <y_i, x_i> rho with y_i = sum_k w_ik x_k / Z, summed for a symbolic n >= 2."""
    import sympy

    from ..glossary import symbol

    rho, B = symbol("common_cosine"), symbol("exp_beta")
    n = sympy.Symbol("others", integer=True, positive=True) + 1
    far, k = B**rho, sympy.Symbol("k", integer=True)
    first, second = sympy.KroneckerDelta(k, 1), sympy.KroneckerDelta(k, 2)
    weight = far + (B - far) * first  # that token 1 gives to token k; any other token gives the same ones, permuted

    def total(term: sympy.Expr) -> sympy.Expr:
        return sympy.summation(sympy.expand(term), (k, 1, n))

    Z = total(weight) if flow == "SA" else n
    yield Step("the weights of a row sum to e^beta + (n - 1) e^(beta rho) for every n", sympy.expand(total(weight) - B - (n - 1) * far) == 0)
    own, other = (total(weight * (rho + (1 - rho) * to)) / Z for to in (first, second))
    yield Step("every pair has the same derivative 2 (<y_i, x_j> - rho <y_i, x_i>), and it is the stated one, for all n, beta and rho",
               sympy.simplify(2 * (other - rho * own) - statement.rhs.subs(symbol("tokens"), n)) == 0)


def prove_cluster(statement: Relational, rate: sympy.Expr, flow: str) -> Iterator[Step]:
    """The equation of the cosine, and the limit of rho' / (1 - rho) at rho = 1."""
    import sympy

    from ..glossary import symbol

    rho = symbol("common_cosine")
    yield from prove_rate(sympy.Eq(statement.lhs, rate), flow)
    ratio = sympy.simplify(rate / (1 - rho))
    yield Step("rho' / (1 - rho) tends to the stated rate at the cluster", sympy.simplify(ratio.subs(rho, 1) - statement.rhs) == 0)


def prove_context(statement: Relational) -> Iterator[Step]:
    """With tau = (n^g - n^(g rho)) / n^(1 + g rho) the cosine tends to a function of tau, and tau tends to 0, 1 or infinity."""
    import sympy

    from ..glossary import symbol

    rho, g = symbol("common_cosine"), symbol("logit_growth")
    n, tau = sympy.symbols("n tau", positive=True)
    s = 1 + (n - 1) * rho
    own = tau * n
    mixed, square = own**2 * rho + 2 * own * s + n * s, own**2 + 2 * own * s + n * s
    limit = sympy.limit(sympy.together(mixed / square), n, sympy.oo)
    yield Step("for n -> infinity at fixed tau the cosine tends to rho (1 + tau)^2 / (tau^2 + 2 tau rho + rho)",
               sympy.simplify(limit - rho * (1 + tau) ** 2 / (tau**2 + 2 * tau * rho + rho)) == 0)
    stated = [value for value, _ in statement.rhs.find(sympy.Piecewise).pop().args]
    limits = [limit.subs(tau, 0), limit.subs(tau, 1), sympy.limit(limit, tau, sympy.oo)]
    yield Step("its values at tau = 0, 1 and infinity are the stated ones",
               len(stated) == 3 and all(sympy.simplify(a - b) == 0 for a, b in zip(limits, stated, strict=True)))
    exponent = g * (1 - rho) - 1
    first, second, _ = (condition for _, condition in statement.rhs.find(sympy.Piecewise).pop().args)
    border = 1 / (1 - rho)
    yield Step("tau is n^(g (1 - rho) - 1) up to a factor that tends to 1, and the exponent is 0 at the stated border, negative below it",
               sympy.simplify(exponent.subs(g, border)) == 0 and first == (g < border) and second == sympy.Eq(g, border))
