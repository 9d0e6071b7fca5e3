"""Linear regression in context: layers of linear attention against steps of gradient descent.

Tokens (x_i, y_i) with y_i = w x_i, and a query (x_q, 0) whose last coordinate must become -w x_q.
The eigenvalues of the covariance, the average of x_i x_i^T, lie in [1/kappa, 1]. A net has relative
error p if what it says differs from w x_q by at most p |w| |x_q|. The nets here err by
w p(covariance) x_q with a polynomial p, which is 1 at 0, where nothing can be learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from math import cos, isqrt, pi, prod

from sympy import Poly, Rational, acosh, ceiling, log, symbols

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity

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
# A layer: the step size of y, and that of x; 0 for plain gradient descent.
Layer = tuple[Fraction, Fraction]
Token = tuple[list[Fraction], Fraction]

# Steps found by a numerical search; that they do is checked exactly. Number of digits and of layers
# -> the largest condition number, and the layers as (step of y, step of x).
WEIGHTS = {
    (1, 2): (6, (("1.1", "0.955"), ("7.46", "0"))),
    (1, 3): (40, (("1.362", "1.345"), ("11.734", "6.235"), ("51.419", "0"))),
    (2, 2): (2, (("1.038", "0.528"), ("3.635", "0"))),
    (2, 3): (9, (("1.839", "0.692"), ("5.15", "2.772"), ("19.122", "0"))),
}


def linear_attention(layers: Sequence[Layer], tokens: Sequence[Token]) -> Fraction:
    """What the query, which is the last token, says after layers of linear attention.

    One head: the score of two tokens is the inner product of their x; the examples alone are
    attended to; the value is minus the token, x and y times the steps of the layer.

    Cost: O(layers N^2 d) rational operations.

    >>> linear_attention([(Fraction(1), Fraction(0))], [([Fraction(1)], Fraction(3)),
    ...     ([Fraction(2)], Fraction(0))])
    Fraction(6, 1)
    """
    state = [(list(x), y) for x, y in tokens]
    for step_y, step_x in layers:
        examples = state[:-1]

        def attended(asking: list[Fraction], seen: list[Token] = examples) -> Token:
            scores = [_inner(x, asking) / len(seen) for x, _ in seen]
            at = [_inner(scores, [x[d] for x, _ in seen]) for d in range(len(asking))]
            return at, _inner(scores, [y for _, y in seen])

        found = [attended(x) for x, _ in state]
        state = [
            ([a - step_x * b for a, b in zip(x, dx, strict=True)], y - step_y * dy)
            for (x, y), (dx, dy) in zip(state, found, strict=True)
        ]
    return -state[-1][1]


def _inner(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def residual(layers: Sequence[Layer]) -> Poly:
    """The relative error as a polynomial in an eigenvalue of the covariance.

    >>> residual([(Fraction(1), Fraction(1)), (Fraction(1), Fraction(0))]).degree()
    4
    """
    error, eigenvalue = Poly(1, _LAMBDA), Poly(_LAMBDA, _LAMBDA)
    for step_y, step_x in layers:
        error *= 1 - Rational(step_y) * eigenvalue
        eigenvalue *= (1 - Rational(step_x) * eigenvalue) ** 2
    return error


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
    weights = [prod(b / (b - a) for b in nodes if b != a) for a in nodes]
    return bool(sum(abs(weight) for weight in weights) < 10**digits)


def gradient_steps(steps: int, condition: int) -> list[Layer]:
    """Plain gradient steps whose inverses are near the roots of a Chebyshev polynomial."""
    low = Fraction(1, condition)
    angles = [(2 * i + 1) * pi / (2 * steps) for i in range(steps)]
    roots = [low + (1 - low) * Fraction(0.5 + cos(a) / 2).limit_denominator(10**4) for a in angles]
    return [(1 / root, Fraction(0)) for root in roots]


def learns(layers: Sequence[Layer], condition: int, digits: int) -> bool:
    """Whether a net is within 10^-j of the answer for all eigenvalues, and errs as its polynomial
    says where it is executed: on tasks of one example, x = 1/s for whole s up to root kappa."""
    error = residual(layers)
    for inverse in range(1, isqrt(condition) + 1):
        x = Fraction(1, inverse)
        answer = linear_attention(layers, [([x], 3 * x), ([Fraction(2)], Fraction(0))])
        if 1 - answer / 6 != Fraction(str(error.eval(Rational(1, inverse**2)))):
            return False
    return within(error, condition, digits)


# --- claims ---


def _step_layers(case: Case, looped: bool = False) -> Exact:
    """The first number of steps that suffices, or -1 where one fewer is not shown to fail."""
    condition = case.condition_number
    for steps in count(1):
        layers = gradient_steps(steps, condition)
        if looped:
            layers = [(Fraction(2 * condition, condition + 1), Fraction(0))] * steps
        if learns(layers, condition, case.digits):
            shown = looped or excluded(steps - 1, condition, case.digits)
            return Exact(steps if shown else -1)
    raise AssertionError("enough steps always suffice")


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
    r"""Regression by gradient steps: layers are an inverse Chebyshev number.

    For every condition number $\kappa \geq 2$ and $j \geq 1$, the least number of layers of linear
    attention, each of them one gradient step with a step size of its own, that learn every
    noiseless linear regression with eigenvalues in $[1/\kappa, 1]$ in context up to the relative
    error $10^{-j}$ is $\lceil \mathrm{arcosh}(10^j) / \mathrm{arcosh}((\kappa + 1)/(\kappa - 1))
    \rceil$, of order $j \sqrt{\kappa}$.

    Two certificates for each case, in rational numbers: step sizes whose error stays within the
    bound, by a count of roots, in a net that is executed; and weights by which no polynomial of
    smaller degree can be 1 at 0. The abstract has the order, for "restricted" attention, which was
    not read; the constant is Chebyshev's. Layers that also change the inputs do with fewer
    (least_depth/regression_layers), a loop of equal layers needs about the square of the root.
    """
    return _step_layers(case)


def _regression_depth(case: Case) -> Exact:
    """The first depth whose degree is not excluded, if weights for it are known, or else -1."""
    depth = 0
    while excluded((3**depth - 1) // 2, case.condition_number, case.digits):
        depth += 1
    most, steps = WEIGHTS.get((case.digits, depth), (0, ()))
    layers = [(Fraction(y), Fraction(x)) for y, x in steps]
    known = case.condition_number <= most and learns(layers, most, case.digits)
    return Exact(depth if known else -1)


@claim(
    Eq(regression_depth, ceiling(log(2 * _STEPS + 1) / log(3))),
    source=Source("depthlaw", r"after gatmiry2024, arXiv:2410.21698, abstract: $\log \kappa$"),
    kind="two-sided",
    cases={
        "quick": (
            *Case.grid(condition_number=(2, 3, 4, 5, 6, 8, 9, 16, 40), digits=1),
            *Case.grid(condition_number=(2, 3, 4, 9), digits=2),
        ),
        "theory": (
            *Case.grid(condition_number=(10, 12, 20, 25, 30, 35), digits=1),
            *Case.grid(condition_number=(5, 6, 7, 8), digits=2),
        ),
    },
    assumes={
        "weights are known for it": lambda c: (
            c.condition_number <= (40 if c.digits == 1 else 9)
            and (c.condition_number, c.digits) != (7, 1)
        )
    },
    control=Control(
        Case(condition_number=4, digits=1),
        "the degree $3^L$ in the tokens, as if all of it counted: one layer",
        statement=Eq(regression_depth, ceiling(log(_STEPS) / log(3))),
    ),
    supports="separation_rank/degree",
)
def regression_layers(case: Case) -> Exact:
    r"""Regression in context: $L$ layers are worth $(3^L - 1)/2$ gradient steps.

    For $\kappa \leq 40$ and relative error $1/10$, $\kappa \neq 7$, and for $\kappa \leq 9$ and
    $1/100$, the least number of layers of linear attention, whatever its heads and width, that
    learn every noiseless linear regression with eigenvalues in $[1/\kappa, 1]$ in context is the
    least $L$ for which $(3^L - 1)/2$ is at least the number of gradient steps: 2 or 3.

    Without softmax, MLPs or normalisation; with residual connections. Lower bound, for all $\kappa$
    and errors: on one example of dimension 1 the output, of degree at most $3^L$ in the tokens,
    must be a function of the example times $w x_q$, which leaves degree $3^L - 1$ in the example,
    even without loss; so the relative error is a polynomial in the eigenvalue of degree at most
    $(3^L - 1)/2$ that is 1 at 0. Such polynomials are excluded by weights as in
    least_depth/regression_steps. Upper bound: layers that also take a step on the inputs (known as
    GD++) have exactly that degree, though not every polynomial of it; their error is checked by a
    count of roots. At $\kappa = 7$ and $1/10$ the bound is 2 and no weights were found: 2 or 3.
    """
    return _regression_depth(case)
