"""Linear regression in context: layers of linear attention against steps of gradient descent.

Tokens (x_i, y_i) with y_i = w x_i, and a query (x_q, 0) whose last coordinate must become -w x_q.
The eigenvalues of the covariance, the average of x_i x_i^T, lie in [1/kappa, 1]. A net has relative
error p if what it says differs from w x_q by at most p |w| |x_q|. The nets here err by
w p(covariance) x_q with a polynomial p, which is 1 at 0, where nothing can be learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import count
from math import cos, pi, prod

from sympy import (
    Poly,
    Rational,
    Symbol,
    acosh,
    ceiling,
    cosh,
    exp,
    expand_log,
    log,
    simplify,
    symbols,
)
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, quantity

step_layers = quantity(
    "step_layers",
    r"L_{\nabla}",
    "least number of layers for the relative error, each layer a gradient step",
    "integer",
)
regression_depth = quantity(
    "regression_depth",
    "L^*",
    "least number of layers of linear attention for the relative error",
    "integer",
)
condition_number = quantity(
    "condition_number", r"\kappa", "largest ratio of the eigenvalues of a covariance"
)
digits = quantity("digits", "j", "the relative error is at most $10^{-j}$")

_LAMBDA = symbols("lambda")
Token = tuple[list[Fraction], Fraction]


def descended(steps: Sequence[Fraction], tokens: Sequence[Token]) -> Fraction:
    """What the query, the last token, says after layers of linear attention with one head.

    The score of two tokens is the inner product of their x; the examples alone are attended to; the
    value is y, times minus the step of the layer. So each layer is a step of gradient descent.

    Cost: O(steps N^2 d) rational operations.
    """
    xs, ys = [x for x, _ in tokens], [y for _, y in tokens]
    scores = [[_inner(x, seen) / (len(xs) - 1) for seen in xs[:-1]] for x in xs]
    for step in steps:
        ys = [y - step * _inner(row, ys[:-1]) for y, row in zip(ys, scores, strict=True)]
    return -ys[-1]


def powers(layers: int, tokens: Sequence[Token]) -> list[Fraction]:
    """What the query holds after layers of linear attention with many heads: w S^m x_q for each m
    up to (3^layers - 1)/2, S the covariance; 0 for m = 0, since nothing tells w x_q.

    A token holds S^m x and w S^m x for m up to some C. A head whose keys, queries and values are
    those of the powers a, b and c adds the power a + b + c + 1, the middle one being the examples'
    covariance; heads for all powers from C + 1 to 3 C + 1 make the next layer.

    Cost: O(3^layers N^2 d) rational operations.
    """
    xs, ys = [[x] for x, _ in tokens], [[y] for _, y in tokens]
    many = len(tokens) - 1
    for _ in range(layers):
        held = len(ys[0]) - 1
        new_xs, new_ys = [list(x) for x in xs], [list(y) for y in ys]
        for power in range(held + 1, 3 * held + 2):
            value = min(held, power - 1)
            key = min(held, power - 1 - value)
            query = power - 1 - value - key
            for asking, new_x, new_y in zip(xs, new_xs, new_ys, strict=True):
                scores = [_inner(x[key], asking[query]) / many for x in xs[:-1]]
                coordinates = zip(*(x[value] for x in xs[:-1]), strict=True)
                new_x.append([_inner(scores, seen) for seen in coordinates])
                new_y.append(_inner(scores, [y[value] for y in ys[:-1]]))
        xs, ys = new_xs, new_ys
    return ys[-1]


def _inner(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def residual(steps: Sequence[Fraction]) -> Poly:
    """The error of gradient descent as a polynomial in an eigenvalue of the covariance."""
    factors = (Poly(1 - Rational(step) * _LAMBDA, _LAMBDA) for step in steps)
    return prod(factors, start=Poly(1, _LAMBDA))


def within(error: Poly, condition: int, digits: int) -> bool:
    """Whether a polynomial lies strictly within 10^-j of 0 on [1/kappa, 1]: it does at 1, and takes
    neither bound in between, by Sturm's count of roots."""
    bound = Rational(1, 10**digits)
    return bool(abs(error.eval(1)) < bound) and not any(
        (error + sign * bound).count_roots(Rational(1, condition), 1) for sign in (1, -1)
    )


def excluded(degree: int, condition: int, digits: int) -> bool:
    """Whether some weights show that no polynomial of the degree is 1 at 0 and within 10^-j of 0 on
    [1/kappa, 1].

    Its value at 0 is a combination of its values at any degree + 1 points. If the weights have
    absolute values of sum below 10^j, values within 10^-j cannot give 1. The points are rational
    numbers near the extrema of a Chebyshev polynomial, the best ones.
    """
    low = Fraction(1, condition)
    nodes = [
        low + (1 - low) * Fraction(0.5 - cos(pi * i / max(degree, 1)) / 2).limit_denominator(10**6)
        for i in range(degree + 1)
    ]
    weights = [abs(prod((b / (b - a) for b in nodes if b != a), start=Fraction(1))) for a in nodes]
    return sum(weights, Fraction(0)) < 10**digits


def first_steps(condition: int, digits: int, looped: bool = False) -> list[Fraction]:
    """The fewest steps of gradient descent whose error is within 10^-j for all eigenvalues: the
    best equal ones, or those whose inverses are near the roots of a Chebyshev polynomial."""
    low = Fraction(1, condition)
    for many in count(1):
        roots = [0.5 + cos((2 * i + 1) * pi / (2 * many)) / 2 for i in range(many)]
        near = (low + (1 - low) * Fraction(root).limit_denominator(10**4) for root in roots)
        steps = [2 / (1 + low)] * many if looped else [1 / root for root in near]
        if within(residual(steps), condition, digits):
            return steps
    raise AssertionError("enough steps always suffice")


def errs_as(error: Poly, says: Callable[[Sequence[Token]], Fraction]) -> bool:
    """Whether a net, executed on tasks of one example, errs as its polynomial does: x = 1/s, and so
    eigenvalue 1/s^2, at degree + 2 whole s, one more than tell polynomials of the degree apart."""
    return all(
        1 - says([([Fraction(1, s)], Fraction(3, s)), ([Fraction(2)], Fraction(0))]) / 6
        == Fraction(str(error.eval(Rational(1, s * s))))
        for s in range(1, error.degree() + 3)
    )


# --- claims ---


def _step_layers(case: Case, looped: bool = False) -> Exact:
    """The first number of steps that suffices, or -1 where one fewer is not shown to fail."""
    steps = first_steps(case.condition_number, case.digits, looped)
    executed = errs_as(residual(steps), partial(descended, steps))
    shown = looped or excluded(len(steps) - 1, case.condition_number, case.digits)
    return Exact(len(steps) if executed and shown else -1)


_STRETCH = (condition_number + 1) / (condition_number - 1)
_STEPS = ceiling(acosh(10**digits) / acosh(_STRETCH))


@claim(
    Eq(step_layers, _STEPS),
    source=Source("depthlaw", r"after gatmiry2024, arXiv:2410.21698, abstract: $\sqrt{\kappa}$"),
    kind="two-sided",
    cases={
        "quick": (
            *Case.grid(condition_number=(2, 4, 9), digits=(1, 2)),
            Case(condition_number=4, digits=3),
        ),
        "theory": (
            *Case.grid(condition_number=(16, 25), digits=(1, 2)),
            Case(condition_number=9, digits=3),
            *Case.grid(condition_number=100, digits=(1, 2, 3)),
        ),
    },
    control=Control(
        Case(condition_number=4, digits=1),
        "one step size for all layers, as in a looped net: the best needs 5 layers, not 3",
        measured=lambda case: _step_layers(case, looped=True),
    ),
    supports="separation_rank/degree",
)
def regression_steps(case: Case) -> Exact:
    r"""Regression by gradient steps takes exactly an inverse Chebyshev number of layers.

    For every condition number $\kappa \geq 2$ and $j \geq 1$, the least number of layers of linear
    attention, each of them one gradient step with a step size of its own, that learn every
    noiseless linear regression with eigenvalues in $[1/\kappa, 1]$ in context up to the relative
    error $10^{-j}$ is $\lceil \mathrm{arcosh}(10^j) / \mathrm{arcosh}((\kappa + 1)/(\kappa - 1))
    \rceil$, of order $j \sqrt{\kappa}$.

    The class is words, since tokens are numbers and no letters. Two certificates for each case, in
    rational numbers: step sizes whose error stays within the bound, by a count of roots, in a net
    that is executed; and weights by which no polynomial of smaller degree can be 1 at 0. The error
    is measured against $|w| |x_q|$. The abstract has the order, for "restricted" attention, which
    was not read; the constant is Chebyshev's. Layers that do more than a step need to be fewer
    (least_depth/regression_layers); a loop of equal layers takes of order $j \kappa$.
    """
    return _step_layers(case)


@regression_steps.argument(
    "Prose: of all polynomials of degree $n$ within 1 on $[-1, 1]$ Chebyshev's is largest outside; "
    "one layer of the class is a factor 1 - step times eigenvalue, and all roots of Chebyshev's "
    "polynomial are real"
)
def _(statement: Relational) -> Iterator[Step]:
    right = statement.rhs
    low = 1 / condition_number
    n, t = Symbol("n", integer=True, positive=True), Symbol("t", real=True)
    yield Step("the statement is an equation", statement.rel_op == "==")
    stretched = acosh(simplify(((1 + low) / 2) / ((1 - low) / 2)))
    yield Step(
        "the least n for which n arcosh of the image of 0 is at least arcosh of 10^j",
        right.func == ceiling and simplify(right.args[0] - acosh(10**digits) / stretched) == 0,
    )
    ahead = cosh((n + 1) * t) + cosh((n - 1) * t) - 2 * cosh(t) * cosh(n * t)
    yield Step(
        "cosh(n t) is Chebyshev's polynomial of cosh(t): one recursion",
        simplify(ahead.rewrite(exp).expand()) == 0,
    )


@claim(
    Eq(regression_depth, ceiling(log(2 * _STEPS + 1) / log(3))),
    source=Source("depthlaw", r"after gatmiry2024, arXiv:2410.21698, abstract: $\log \kappa$"),
    kind="two-sided",
    cases={
        "quick": (
            *Case.grid(condition_number=(2, 4, 6, 7, 8, 9), digits=(1, 2)),
            Case(condition_number=75, digits=1),
        ),
        "theory": (
            *Case.grid(condition_number=(16, 25, 64), digits=(1, 2)),
            *Case.grid(condition_number=100, digits=(1, 2, 3)),
        ),
    },
    control=Control(
        Case(condition_number=4, digits=1),
        "the degree $3^L$ in the tokens, as if all of it counted: one layer",
        statement=Eq(regression_depth, ceiling(log(_STEPS) / log(3))),
    ),
    premises=("least_depth/regression_steps",),
    supports="separation_rank/degree",
)
def regression_layers(case: Case) -> Exact:
    r"""$L$ layers of linear attention are worth $(3^L - 1)/2$ gradient steps.

    For every $\kappa \geq 2$ and $j \geq 1$, the least number of layers of linear attention with a
    linear read-out, whatever its heads and width, that learn every noiseless linear regression with
    eigenvalues in $[1/\kappa, 1]$ in context up to the relative error $10^{-j}$ is
    $\lceil \log_3(2 n + 1) \rceil$, where $n$ is the number of gradient steps of
    least_depth/regression_steps.

    Without softmax, MLPs or normalisation; with residual connections. The class is words, since
    tokens are numbers and no letters. Lower bound: on one example of dimension 1 the output, of
    degree at most $3^L$ in the tokens, must be a function of the example $x$ times $w x_q$, which
    leaves degree $3^L - 1$ in $x$ and, averaged over $x$ and $-x$, even powers alone; so the
    relative error is a polynomial in the eigenvalue $x^2$ of degree at most $(3^L - 1)/2$ that is 1
    at 0; in $d$ dimensions take $d$ orthogonal examples of equal length. Such polynomials are
    excluded by weights. Upper bound: with $2 C + 1$ heads a layer brings the powers of the
    covariance that tokens hold from $C$ to $3 C + 1$, so that after $L$ layers the read-out may be
    any polynomial of that degree; the net is executed, and its width is $(3^L + 1)/2$ times that of
    a token. So depth is of order $\log \kappa$, with this constant. GD++, with one head, has the
    degree but not every polynomial. That weights of such size are learnt, or stand noise and
    rounding, is not said.
    """
    layers = 0
    while excluded((3**layers - 1) // 2, case.condition_number, case.digits):
        layers += 1
    error = residual(first_steps(case.condition_number, case.digits))
    read_out = [-Fraction(str(part)) for part in reversed(error.all_coeffs())]

    def says(tokens: Sequence[Token]) -> Fraction:
        return _inner(read_out, powers(layers, tokens)[: len(read_out)])

    enough = error.degree() <= (3**layers - 1) // 2
    return Exact(layers if enough and errs_as(error, says) else -1)


@regression_layers.argument(
    "Prose: the two bounds of the note: the error is a polynomial of degree at most $(3^L - 1)/2$, "
    "and may be each that is 1 at 0; least_depth/regression_steps, which says the degree that is "
    "needed"
)
def _(statement: Relational) -> Iterator[Step]:
    n, more = Symbol("n", positive=True), Symbol("e", nonnegative=True)
    right = statement.rhs.subs(_STEPS, n)
    most = (3**depth - 1) / 2
    yield Step("the statement is an equation", statement.rel_op == "==")
    yield Step("it depends on the number of steps alone", right.free_symbols == {n})
    yield Step(
        "the largest degree of L layers takes L layers", expand_log(right.subs(n, most)) == depth
    )
    # 3^L = 1 + e.
    above = exp(right.args[0] * log(3)).subs(n, n + 1) if right.args else right
    yield Step(
        "one degree more takes L + 1: 3^L + 2 lies above 3^L and not above 3^(L + 1)",
        right.func == ceiling
        and (above.subs(n, more / 2) - (1 + more)).is_positive is True
        and (3 * (1 + more) - above.subs(n, more / 2)).expand().is_nonnegative is True,
    )
    yield Step(
        "a layer brings the degree from C to 3 C + 1",
        simplify(most.subs(depth, depth + 1) - 3 * most - 1) == 0 and most.subs(depth, 0) == 0,
    )
