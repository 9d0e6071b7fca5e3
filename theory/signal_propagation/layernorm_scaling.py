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
from sympy import Max, Rational, log, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Formal, Source, Step, claim
from ..claims.relations import Ge, between
from ..claims.symbols import layer, quantity
from ..exact.enclosure import from_fraction

first_deviation = quantity(
    "first_deviation",
    r"\sigma_1",
    "standard deviation of the residual stream before the first step of a recursion",
    "positive real",
)
recursion_variance = quantity(
    "recursion_variance",
    r"\sigma_l^2",
    "variance of the residual stream at layer $l$ by a recursion",
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
    all k: it is largest where all sigma_k before l are least.

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


def _of_product(case: Case) -> Ball:
    return Ball.of(
        product_variance(
            case.layer,
            case.rational("first_deviation"),
            Fraction(case.get("least_constant", 1)),
            Fraction(case.get("largest_constant", 1)),
        )
    )


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
        Ge(recursion_variance, 2 * growth_rate ** (layer - 1)),
    ),
    cited="Decides whether exponential variance may be blamed for idle deep layers under pre-norm.",
    formal=Formal(
        "Signal.pre_ln_variance_refuted",
        "Signal.pre_ln_value ({layer} - 1)",
        "The named theorem refutes $q = 1.1$ alone, at layer 200; that every other rate fails at "
        "some depth is pre_ln_variance_exponential_fails. That the recursion has a solution.",
        # Deeper cases take the prover minutes, to read their numbers.
        refutes=(_UNIT(layer=200, growth_rate="11/10"),),
    ),
)
def pre_ln_variance_exponential(case: Case) -> Ball:
    r"""The variance of a pre-LN stream grows exponentially.

    The recursion $\sigma_l^2 = \sigma_1^2 \prod_{k < l} (1 + 1/\sigma_k)$ for the variance of a
    pre-LN stream grows exponentially: $\sigma_l^2 \geq q^{l-1}$ for every $l$, from $\sigma_1 = 1$,
    for some rate $q > 1$, here 1.1, 1.01 and 1.001.

    Checked sentence: "its output variance exponentially grows with the model depth"; the recursion
    and the bounds $\Theta(L) \leq \sigma_L^2 \leq \Theta(\exp(L))$ are as reported. As bounds they
    are true, but the upper one is never reached: the factor $1 + 1/\sigma_k$ falls to 1 as
    $\sigma_k$ grows. By pre_ln_variance_quadratic the recursion stays below
    $C (\sigma_1 + (l - 1)/(2 \sqrt{c}))^2$ whatever constants $\Theta$ stands for, so every rate
    $q$ fails at some depth. Nor can a pre-LN net do more: a LayerNormed row has one norm, so
    branches whose weights have bounded norm write at most $s$ each, and the stream's norm is at
    most its start plus $s$ per branch, even where every write points along the stream; with
    uncorrelated writes, as at initialisation, the variance is linear.
    """
    return _of_product(case)


_THETA = partial(Case, first_deviation="1", least_constant="1", largest_constant="1")


# The least standard deviations of layers 1 and 2, and what they reach from the second on.
_FIRST = first_deviation * sqrt(least_constant)
_SECOND = sqrt(least_constant * (first_deviation**2 + first_deviation))
_REACHED = _SECOND + (layer - 2) / 2 - log(1 + (layer - 2) / (2 * _SECOND)) / 4
_SCALE = largest_constant / least_constant


@claim(
    between(
        _SCALE * Max(0, _REACHED) ** 2, recursion_variance, _SCALE * (_FIRST + (layer - 1) / 2) ** 2
    ),
    source=Source("depthlaw", "after sun2025, lemma on the variance of pre-LN"),
    assumes={
        r"$c \leq 1 \leq C$, which $l = 1$ needs": lambda c: (
            c.rational("least_constant") <= 1 <= c.rational("largest_constant")
        ),
        r"$l \geq 2$": lambda c: c.layer >= 2,
    },
    cases={
        "quick": (
            *(_THETA(layer=n) for n in (2, 12, 1000)),
            _THETA(layer=50, first_deviation="1/10"),
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
        "without the logarithm",
        between(_SCALE * (_FIRST + (layer - 1) / 2) ** 2, recursion_variance, _SCALE * layer**2),
    ),
    supports="signal_propagation/pre_ln_variance_exponential",
)
def pre_ln_variance_quadratic(case: Case) -> Ball:
    r"""The recursion for pre-LN variance grows as $l^2/4$.

    Every sequence with $c \leq \sigma_l^2/(\sigma_1^2 \prod_{k < l} (1 + 1/\sigma_k)) \leq
    C$ for all $l$ has, from $l = 2$ on, $\sigma_l^2 \leq C/c (\sqrt{c} \sigma_1 + (l -
    1)/2)^2$, and the largest of them has $\sigma_l^2 \geq C/c \max(0, t + (l - 2)/2 - \log(1 + (l -
    2)/(2 t))/4)^2$, $t^2 = c (\sigma_1^2 + \sigma_1)$.

    So the ratio of the largest to $C/c l^2/4$ tends to 1. With $c = C = 1$ that is the recursion
    $\sigma^2 + \sigma$. Measured is the largest of all such sequences. That the recursion describes
    a net is the source's statement: a write of standard deviation $s$ with correlation $r$ to a
    stream adds $2 r s \sigma + s^2$ to the variance, so $\sigma^2 + \sigma$ stands for writes that
    stay correlated with the stream.
    """
    return _of_product(case)


@pre_ln_variance_quadratic.argument(
    r"one step of the product's root and of $s + \log(s)/4$, symbolic; prose: the product is "
    r"largest where every $\sigma_k$ is least; sums over the steps"
)
def _(statement: Relational) -> Iterator[Step]:
    """By sigma_k >= s_k = sigma_1 sqrt(c P_k): P_(k+1) <= P_k + b sqrt(P_k), b = 1/(sigma_1
    sqrt(c)); and from k = 2 on, where sigma_k = s_k in the largest sequence, s + log(s)/4 grows by
    at least 1/2 with every step."""
    low, high = statement.rhs
    b = 1 / _FIRST
    root = sympy.Symbol("r", positive=True)  # sqrt(P_k)
    yield Step(
        "P_k (1 + 1/sigma_k) at the least sigma_k is P_k + b sqrt(P_k)",
        simplify(root**2 * (1 + 1 / (_FIRST * root)) - root**2 - b * root) == 0,
    )
    yield Step(
        "(sqrt(P) + b/2)^2 exceeds P + b sqrt(P) by b^2/4, so the root grows by at most b/2",
        simplify((root + b / 2) ** 2 - root**2 - b * root - b**2 / 4) == 0,
    )
    line = sqrt(largest_constant) * first_deviation * (1 + b * (layer - 1) / 2)
    yield Step(
        "the upper bound is the square of sqrt(C) sigma_1 (1 + (l - 1) b/2), which is sqrt(C) "
        "sigma_1 at l = 1 and over sqrt(C) sigma_1 grows by b/2 with every layer",
        simplify(high - line**2) == 0,
    )
    yield Step(
        "P_2 = 1 + 1/sigma_1 makes s_2^2 = c (sigma_1^2 + sigma_1)",
        simplify(_FIRST**2 * (1 + 1 / first_deviation) - _SECOND**2) == 0,
    )
    w = sympy.Symbol("w", positive=True)  # s_(k+1)/s_k = sqrt(1 + 1/s_k) > 1
    before = 1 / (w**2 - 1)
    yield Step(
        "s = 1/(w^2 - 1) goes to w s, since s^2 + s = w^2 s^2",
        simplify(before**2 + before - w**2 * before**2) == 0,
    )
    gain = 1 / (w + 1) + log(w) / 4 - Rational(1, 2)
    yield Step(
        "s + log(s)/4 grows by 1/2 + gain, gain = 1/(w + 1) + log(w)/4 - 1/2",
        simplify((w - 1) * before - 1 / (w + 1)) == 0,
    )
    yield Step(
        "the gain is 0 at w = 1 and its derivative (w - 1)^2/(4 w (w + 1)^2) is at least 0",
        gain.subs(w, 1) == 0
        and simplify(gain.diff(w) - (w - 1) ** 2 / (4 * w * (w + 1) ** 2)) == 0,
    )
    inside = next(iter(low.atoms(Max)), sympy.nan)
    below = _SECOND + (layer - 2) / 2 - log((_SECOND + (layer - 2) / 2) / _SECOND) / 4
    gap = inside.args[-1] - below if isinstance(inside, Max) else sympy.nan
    yield Step(
        "the lower bound is C/c times the square, where positive, of t + (l - 2)/2 - log(s_l/t)/4 "
        "at s_l = t + (l - 2)/2, which s_l does not exceed",
        simplify(low / inside**2 - _SCALE) == 0
        and simplify(gap.subs(layer, 2)) == 0
        and simplify(gap.diff(layer)) == 0,
    )


_LINEAR = first_deviation + sqrt(layer) - 1 - (1 + log(layer)) / (8 * first_deviation)


@claim(
    between(Max(0, _LINEAR) ** 2, recursion_variance, (first_deviation + sqrt(layer - 1)) ** 2),
    source=Source("depthlaw", "after sun2025, variance under LayerNorm scaling"),
    cases={
        "quick": (
            *Case.grid(layer=(2, 12, 1000), first_deviation=("1", "1/4")),
            Case(layer=50, first_deviation="5"),
        ),
        "theory": (_UNIT(layer=20000), Case(layer=5000, first_deviation="30")),
    },
    control=Control(
        _UNIT(layer=1000),
        "three quarters of the growth",
        between(
            first_deviation**2, recursion_variance, (first_deviation + 3 * sqrt(layer - 1) / 4) ** 2
        ),
    ),
    cited=r"Decides between $L$ and $L^{2 - \varepsilon}$ as the upper end of growth under "
    "LayerNorm scaling.",
)
def layernorm_scaling_variance(case: Case) -> Ball:
    r"""LayerNorm scaling: the same recursion grows linearly.

    With what enters a branch of layer $k$ divided by $\sqrt{k}$, the recursion for the variance of
    a pre-LN stream reads $\sigma_{k+1}^2 = \sigma_k^2 + \sigma_k/\sqrt{k}$, and for every
    $\sigma_1 > 0$, $\sigma_l^2$ is at most $(\sigma_1 + \sqrt{l - 1})^2$ and at least $\max(0,
    \sigma_1 + \sqrt{l} - 1 - (1 + \log l)/(8 \sigma_1))^2$.

    So the ratio of $\sigma_l^2$ to $l$ tends to 1. The paper's bounds, $\Theta(L)$ to
    $\Theta(L^{2 - \varepsilon})$, are reported. So LayerNorm scaling takes
    this recursion from $l^2/4$ to $l$, not from an exponential. It describes writes that stay
    correlated with the stream. Uncorrelated writes, as at initialisation, add $s^2/k$ to the
    variance in layer $k$, which makes it logarithmic in $l$.
    """
    return Ball.of(scaled_variance(case.layer, case.rational("first_deviation")))


@layernorm_scaling_variance.argument(
    r"one step of $\sigma$, one of each sum; prose: sums over the steps, and "
    r"$\sigma_k \geq \sigma_1$"
)
def _(statement: Relational) -> Iterator[Step]:
    """A step of a = 1/sqrt(k) adds at most a/2 to sigma, and at least a/2 - a^2/(8 sigma)."""
    low, high = statement.rhs
    s, a, n = sympy.symbols("s a n", positive=True)
    yield Step(
        "(sigma + a/2)^2 exceeds sigma^2 + a sigma by a^2/4",
        simplify((s + a / 2) ** 2 - s**2 - a * s - a**2 / 4) == 0,
    )
    yield Step(
        "sqrt(n) - sqrt(n - 1) - 1/(2 sqrt(n)) = (sqrt(n) - sqrt(n - 1))^2/(2 sqrt(n)), "
        "so the steps sum to at most sqrt(l - 1)",
        simplify(
            sqrt(n) - sqrt(n - 1) - 1 / (2 * sqrt(n)) - (sqrt(n) - sqrt(n - 1)) ** 2 / (2 * sqrt(n))
        )
        == 0,
    )
    root = sympy.powdenest(sqrt(high), force=True)
    yield Step(
        "the upper bound is sigma_1 plus sqrt(l - 1), squared",
        simplify(root - first_deviation - sqrt(layer - 1)) == 0,
    )
    step = a / 2 - a**2 / (8 * s)
    yield Step(
        "(sigma + a/2 - a^2/(8 sigma))^2 is sigma^2 + a sigma - a^3/(8 sigma) (1 - a/(8 "
        "sigma)), which is below sigma^2 + a sigma where a <= 8 sigma",
        simplify((s + step) ** 2 - s**2 - a * s + a**3 / (8 * s) * (1 - a / (8 * s))) == 0,
    )
    more = sympy.Symbol("m", positive=True)
    yield Step(
        "where a = 8 sigma + m, sigma + a/2 - a^2/(8 sigma) is negative",
        bool((s + step).subs(a, 8 * s + more).expand().is_negative),
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
    inside = low.base.args[-1] if low.is_Pow and isinstance(low.base, Max) else sympy.nan
    yield Step(
        "the lower bound is sigma_1 + sqrt(l) - 1 less (1 + log l)/(8 sigma_1), squared where "
        "positive",
        simplify(
            inside - first_deviation - sqrt(layer) + 1 + (1 + log(layer)) / (8 * first_deviation)
        )
        == 0,
    )
