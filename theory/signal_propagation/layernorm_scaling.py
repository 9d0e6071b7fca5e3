"""How fast the variance of a pre-LN stream can grow: the recursion of "the curse of depth".

Sun et al. 2025 say that the variance of a pre-LN stream grows exponentially with depth, from
sigma_l^2 = sigma_1^2 Theta(prod_(k<l) (1 + 1/sigma_k)). One step of that product adds sigma_k to
sigma_k^2, so at most 1/2 to sigma_k: the variance grows as l^2/4. With LayerNorm scaling a step
adds sigma_k/sqrt(k), and the variance grows as l.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import flint
import sympy
from flint import arb
from sympy import Rational, log, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Source, Step, claim
from ..claims.symbols import layer, quantity
from ..exact.enclosure import from_fraction
from .signal_symbols import Ge, Le

first_deviation = quantity(
    "first_deviation",
    r"\sigma_1",
    "standard deviation of the residual stream before the first step of a recursion",
    "positive real",
)
recursion_variance = quantity(
    "recursion_variance",
    r"\sigma_l^2",
    "variance of the residual stream at layer l by a recursion",
    "positive real",
)
least_constant = quantity(
    "least_constant", "c", "least constant that a Theta stands for", "positive real"
)
largest_constant = quantity(
    "largest_constant", "C", "largest constant that a Theta stands for", "positive real"
)
growth_rate = quantity(
    "growth_rate", "q", "factor per layer of an exponential growth", "positive real"
)

BITS = 128


def product_variance(layers: int, first: Fraction, least: Fraction, largest: Fraction) -> arb:
    """The largest sigma_l^2 with c <= sigma_k^2 / (sigma_1^2 prod_(j<k) (1 + 1/sigma_j)) <= C for
    all k.

    The product grows with every factor, so it is largest where all sigma_k before l are least.

    >>> round(float(product_variance(2, Fraction(1), Fraction(1), Fraction(1)).mid()), 9)
    2.0
    """
    with flint.ctx.workprec(BITS):
        deviation, grown = from_fraction(first), arb(1)
        start = deviation
        for _ in range(layers - 1):
            grown += grown / deviation
            deviation = start * (from_fraction(least) * grown).sqrt()
        return from_fraction(largest) * start**2 * grown if layers > 1 else start**2


def scaled_variance(layers: int, first: Fraction) -> arb:
    """sigma_l^2 of sigma_(k+1)^2 = sigma_k^2 + sigma_k/sqrt(k)."""
    with flint.ctx.workprec(BITS):
        variance = from_fraction(first) ** 2
        for k in range(1, layers):
            variance += (variance / k).sqrt()
        return variance


sun = partial(Source, "sun2025", version="arXiv:2502.05795")
_PRODUCT = "Lemma on the variance of pre-LN, as reported"


def _of_product(case: Case) -> Ball:
    return Ball.of(
        product_variance(
            case.layer,
            case.rational("first_deviation"),
            Fraction(case.get("least_constant", 1)),
            Fraction(case.get("largest_constant", 1)),
        )
    )


def _of_scaled(case: Case) -> Ball:
    return Ball.of(scaled_variance(case.layer, case.rational("first_deviation")))


_UNIT = partial(Case, first_deviation="1")


@claim(
    Ge(recursion_variance, growth_rate ** (layer - 1)),
    wording="universal",
    expected="FAILS",
    source=sun("abstract (printed); lemma on the variance of pre-LN (reported)"),
    weight="step",
    cases={
        "quick": (
            _UNIT(layer=2, growth_rate="11/10"),
            _UNIT(layer=200, growth_rate="11/10"),
            _UNIT(layer=2000, growth_rate="101/100"),
        ),
        "theory": (_UNIT(layer=40000, growth_rate="1001/1000"),),
    },
    control=Control(
        _UNIT(layer=2, growth_rate="11/10"),
        "twice as much",
        statement=Ge(recursion_variance, 2 * growth_rate ** (layer - 1)),
    ),
    cited="Decides whether exponential variance may be blamed for idle deep layers under pre-norm.",
)
def pre_ln_variance_exponential(case: Case) -> Ball:
    """The variance of a pre-LN stream grows exponentially.

    The recursion sigma_l^2 = sigma_1^2 prod_(k<l) (1 + 1/sigma_k) for the variance of a pre-LN
    stream grows exponentially: sigma_l^2 >= q^(l-1) for every l, from sigma_1 = 1, for some rate q
    > 1, here 1.1, 1.01 and 1.001.

    Checked sentence: "its output variance exponentially grows with the model depth"; the recursion
    and the bounds Theta(L) <= sigma_L^2 <= Theta(exp(L)) are as reported. As bounds they are true,
    but the upper one is never reached: the factor 1 + 1/sigma_k falls to 1 as sigma_k grows. By
    pre_ln_variance_quadratic_upper the recursion stays below C (sigma_1 + (l - 1)/(2 sqrt(c)))^2
    whatever constants Theta stands for, so every rate q fails at some depth. Nor can a pre-LN net
    do more: a LayerNormed row has one norm, so branches whose weights have bounded norm write at
    most s each, and the stream's norm is at most its start plus s per branch, even where every
    write points along the stream; with uncorrelated writes, as at initialisation, the variance is
    linear.
    """
    return _of_product(case)


_THETA = partial(Case, first_deviation="1", least_constant="1", largest_constant="1")


@claim(
    Le(
        recursion_variance,
        largest_constant
        * first_deviation**2
        * (1 + (layer - 1) / (2 * first_deviation * sqrt(least_constant))) ** 2,
    ),
    source=Source("depthlaw", "after sun2025, lemma on the variance of pre-LN"),
    assumes={
        "c <= 1 <= C, which l = 1 needs": lambda c: (
            c.rational("least_constant") <= 1 <= c.rational("largest_constant")
        )
    },
    cases={
        "quick": (
            *(_THETA(layer=n) for n in (1, 2, 12, 1000)),
            _THETA(layer=50, first_deviation="1/50"),
            _THETA(layer=50, least_constant="1/9", largest_constant="4"),
        ),
        "theory": (
            _THETA(layer=20000),
            _THETA(layer=5000, first_deviation="30"),
            _THETA(layer=2000, least_constant="1/100", largest_constant="100"),
        ),
    },
    control=Control(
        _THETA(layer=1000),
        "two fifths in place of a half",
        statement=Le(recursion_variance, (first_deviation + 2 * (layer - 1) / 5) ** 2),
    ),
    supports="signal_propagation/pre_ln_variance_exponential",
)
def pre_ln_variance_quadratic_upper(case: Case) -> Ball:
    """The recursion for pre-LN variance grows at most quadratically.

    Every sequence with c <= sigma_l^2 / (sigma_1^2 prod_(k<l) (1 + 1/sigma_k)) <= C for all l has
    sigma_l^2 <= C (sigma_1 + (l - 1)/(2 sqrt(c)))^2.

    With c = C = 1 that is the recursion sigma^2 + sigma, and the bound (sigma_1 + (l - 1)/2)^2.
    Measured is the largest of all such sequences. That the recursion describes a net is the
    source's statement: a write of standard deviation s with correlation r to a stream adds
    2 r s sigma + s^2 to the variance, so sigma^2 + sigma stands for writes that stay correlated
    with the stream.
    """
    return _of_product(case)


@pre_ln_variance_quadratic_upper.argument(
    "one step of the product's root, symbolic in all parameters; prose: the product is largest "
    "where every sigma_k is least; sums over the steps"
)
def _(statement: Relational) -> Iterator[Step]:
    """By sigma_k >= sigma_1 sqrt(c P_k): P_(k+1) <= P_k + b sqrt(P_k), b = 1/(sigma_1 sqrt(c))."""
    b = 1 / (first_deviation * sqrt(least_constant))
    root = sympy.Symbol("r", positive=True)  # sqrt(P_k)
    deviation = first_deviation * sqrt(least_constant) * root
    yield Step(
        "P_k (1 + 1/sigma_k) at the least sigma_k is P_k + b sqrt(P_k)",
        simplify(root**2 * (1 + 1 / deviation) - root**2 - b * root) == 0,
    )
    yield Step(
        "(sqrt(P) + b/2)^2 exceeds P + b sqrt(P) by b^2/4, so the root grows by at most b/2",
        simplify((root + b / 2) ** 2 - root**2 - b * root - b**2 / 4) == 0,
    )
    line = sympy.powdenest(sqrt(statement.rhs / largest_constant / first_deviation**2), force=True)
    yield Step(
        "at l = 1 the root of the bound over sqrt(C) sigma_1 is 1",
        simplify(line.subs(layer, 1) - 1) == 0,
    )
    yield Step(
        "and it grows by b/2 with every layer",
        simplify(line.subs(layer, layer + 1) - line - b / 2) == 0,
    )


_QUADRATIC = first_deviation + (layer - 1) / 2


@claim(
    Ge(recursion_variance, (_QUADRATIC - log(1 + (layer - 1) / (2 * first_deviation)) / 4) ** 2),
    source=Source("depthlaw", "after sun2025, lemma on the variance of pre-LN"),
    assumes={"sigma_1 >= 1/10": lambda c: c.rational("first_deviation") >= Fraction(1, 10)},
    cases={
        "quick": (*(_UNIT(layer=n) for n in (2, 12, 1000)), Case(layer=50, first_deviation="1/10")),
        "theory": (_UNIT(layer=20000), Case(layer=5000, first_deviation="30")),
    },
    control=Control(
        _UNIT(layer=1000), "without the logarithm", statement=Ge(recursion_variance, _QUADRATIC**2)
    ),
    supports="signal_propagation/pre_ln_variance_exponential",
)
def pre_ln_variance_quadratic_lower(case: Case) -> Ball:
    """The recursion for pre-LN variance grows as l^2/4.

    The recursion sigma_(k+1)^2 = sigma_k^2 + sigma_k from sigma_1 >= 1/10 has sigma_l^2 >= (sigma_1
    + (l - 1)/2 - log(1 + (l - 1)/(2 sigma_1))/4)^2.

    With pre_ln_variance_quadratic_upper the ratio of sigma_l^2 to l^2/4 tends to 1. The condition
    on sigma_1 keeps the inside of the square positive.
    """
    return _of_product(case)


@pre_ln_variance_quadratic_lower.argument(
    "one function of one variable and its derivative; prose: sums over the steps, the upper bound "
    "put into the logarithm, and the square of a positive number"
)
def _(statement: Relational) -> Iterator[Step]:
    """sigma + log(sigma)/4 grows by at least 1/2 with every step."""
    w = sympy.Symbol("w", positive=True)  # sigma_(k+1)/sigma_k = sqrt(1 + 1/sigma_k) > 1
    before = 1 / (w**2 - 1)
    yield Step(
        "sigma = 1/(w^2 - 1) goes to w sigma, since sigma^2 + sigma = w^2 sigma^2",
        simplify(before**2 + before - w**2 * before**2) == 0,
    )
    gain = 1 / (w + 1) + log(w) / 4 - Rational(1, 2)
    yield Step(
        "sigma + log(sigma)/4 grows by 1/2 + gain, gain = 1/(w + 1) + log(w)/4 - 1/2",
        simplify((w - 1) * before - 1 / (w + 1)) == 0,
    )
    yield Step(
        "the gain is 0 at w = 1 and its derivative (w - 1)^2/(4 w (w + 1)^2) is at least 0",
        gain.subs(w, 1) == 0
        and simplify(gain.diff(w) - (w - 1) ** 2 / (4 * w * (w + 1) ** 2)) == 0,
    )
    below = _QUADRATIC - log(_QUADRATIC / first_deviation) / 4
    gap = (statement.rhs.base if statement.rhs.is_Pow else sympy.nan) - below
    yield Step(
        "the bound is sigma_1 + (l - 1)/2 - log(sigma/sigma_1)/4 at sigma = sigma_1 + "
        "(l - 1)/2, which sigma_l does not exceed",
        simplify(gap.subs(layer, 1)) == 0 and simplify(gap.diff(layer)) == 0,
    )
    x, c = sympy.symbols("x c", positive=True)  # x >= c = sigma_1
    inside = x - log(x / c) / 4
    yield Step(
        "x - log(x/sigma_1)/4 is least at x = 1/4, where it is (1 + log(4 sigma_1))/4, or "
        "at x = sigma_1; positive for sigma_1 >= 1/10, where log(4/10) > -1",
        sympy.solve(inside.diff(x), x) == [Rational(1, 4)]
        and simplify(
            sympy.expand_log(inside.subs(x, Rational(1, 4)), force=True)
            - sympy.expand_log((1 + log(4 * c)) / 4, force=True)
        )
        == 0
        and bool(log(Rational(2, 5)) > -1),
    )


scaled = partial(
    claim,
    source=Source("depthlaw", "after sun2025, variance under LayerNorm scaling"),
    cases={
        "quick": (*(_UNIT(layer=n) for n in (2, 12, 1000)), Case(layer=50, first_deviation="5")),
        "theory": (_UNIT(layer=20000), Case(layer=5000, first_deviation="30")),
    },
)


@scaled(
    Le(recursion_variance, (first_deviation + sqrt(layer - 1)) ** 2),
    control=Control(
        _UNIT(layer=1000),
        "three quarters of the growth",
        statement=Le(recursion_variance, (first_deviation + 3 * sqrt(layer - 1) / 4) ** 2),
    ),
    cited="Decides between L and L^(2 - eps) as the upper end of growth under LayerNorm scaling.",
)
def layernorm_scaling_variance_upper(case: Case) -> Ball:
    """LayerNorm scaling: the same recursion grows at most linearly.

    With what enters a branch of layer k divided by sqrt(k), the recursion for the variance of a
    pre-LN stream reads sigma_(k+1)^2 = sigma_k^2 + sigma_k/sqrt(k), and sigma_l^2 <= (sigma_1 +
    sqrt(l - 1))^2.

    The paper's bounds, Theta(L) to Theta(L^(2 - eps)), are recalled; check against the paper. So
    LayerNorm scaling takes this recursion from l^2/4 to l, not from an exponential. It describes
    writes that stay correlated with the stream. Uncorrelated writes, as at initialisation, add
    s^2/k to the variance in layer k, which makes it logarithmic in l.
    """
    return _of_scaled(case)


@layernorm_scaling_variance_upper.argument(
    "one step of sigma and one of the sum of 1/sqrt(k); prose: sums over the steps"
)
def _(statement: Relational) -> Iterator[Step]:
    """A step adds at most 1/(2 sqrt(k)) to sigma, and these sum to at most sqrt(l - 1)."""
    s, a, n = sympy.symbols("s a n", positive=True)
    yield Step(
        "(sigma + a/2)^2 exceeds sigma^2 + a sigma by a^2/4",
        simplify((s + a / 2) ** 2 - s**2 - a * s - a**2 / 4) == 0,
    )
    yield Step(
        "sqrt(n) - sqrt(n - 1) - 1/(2 sqrt(n)) = (sqrt(n) - sqrt(n - 1))^2/(2 sqrt(n))",
        simplify(
            sqrt(n) - sqrt(n - 1) - 1 / (2 * sqrt(n)) - (sqrt(n) - sqrt(n - 1)) ** 2 / (2 * sqrt(n))
        )
        == 0,
    )
    root = sympy.powdenest(sqrt(statement.rhs), force=True)
    yield Step(
        "the bound is sigma_1 plus sqrt(l - 1)",
        simplify(root - first_deviation - sqrt(layer - 1)) == 0,
    )


_LINEAR_LOWER = first_deviation + sqrt(layer) - 1 - (1 + log(layer)) / (8 * first_deviation)


@scaled(
    Ge(recursion_variance, _LINEAR_LOWER**2),
    assumes={"sigma_1 >= 1": lambda c: c.rational("first_deviation") >= 1},
    control=Control(
        _UNIT(layer=1000),
        "without the logarithm, and one more",
        statement=Ge(recursion_variance, (first_deviation + sqrt(layer)) ** 2),
    ),
    supports="signal_propagation/layernorm_scaling_variance_upper",
)
def layernorm_scaling_variance_lower(case: Case) -> Ball:
    """LayerNorm scaling: the same recursion grows linearly.

    The recursion sigma_(k+1)^2 = sigma_k^2 + sigma_k/sqrt(k) from sigma_1 >= 1 has sigma_l^2 >=
    (sigma_1 + sqrt(l) - 1 - (1 + log l)/(8 sigma_1))^2.

    With layernorm_scaling_variance_upper the ratio of sigma_l^2 to l tends to 1.
    """
    return _of_scaled(case)


@layernorm_scaling_variance_lower.argument(
    "one step of sigma, one of each sum; prose: sums over the steps, sigma_k >= sigma_1, and the "
    "square of a positive number"
)
def _(statement: Relational) -> Iterator[Step]:
    """A step of a adds at least a/2 - a^2/(8 sigma) to sigma."""
    s, a, n = sympy.symbols("s a n", positive=True)
    step = a / 2 - a**2 / (8 * s)
    yield Step(
        "(sigma + a/2 - a^2/(8 sigma))^2 is sigma^2 + a sigma - a^3/(8 sigma) (1 - a/(8 "
        "sigma)), which is below sigma^2 + a sigma where a <= 8 sigma",
        simplify((s + step) ** 2 - s**2 - a * s + a**3 / (8 * s) * (1 - a / (8 * s))) == 0,
    )
    yield Step(
        "1/(2 sqrt(n)) - (sqrt(n + 1) - sqrt(n)) = (sqrt(n + 1) - sqrt(n))^2/(2 sqrt(n)), "
        "so the steps sum to at least sqrt(l) - 1",
        simplify(
            1 / (2 * sqrt(n)) - sqrt(n + 1) + sqrt(n) - (sqrt(n + 1) - sqrt(n)) ** 2 / (2 * sqrt(n))
        )
        == 0,
    )
    yield Step(
        "1 + 1/2 + ... + 1/(l - 1) <= 1 + log(l), as log(n + 1) - log(n) - 1/(n + 1) falls to 0",
        sympy.limit(log(1 + 1 / n) - 1 / (n + 1), n, sympy.oo) == 0
        and bool(simplify((log(1 + 1 / n) - 1 / (n + 1)).diff(n)).is_negative),
    )
    root = statement.rhs.base if statement.rhs.is_Pow else sympy.nan
    yield Step(
        "the bound is sigma_1 + sqrt(l) - 1 less (1 + log l)/(8 sigma_1), positive since "
        "sqrt(l) >= 1 + log(l)/2 and sigma_1 >= 1",
        simplify(
            root - first_deviation - sqrt(layer) + 1 + (1 + log(layer)) / (8 * first_deviation)
        )
        == 0,
    )
