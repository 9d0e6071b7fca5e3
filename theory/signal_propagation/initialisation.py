"""Initial scales, products of derivatives, depth-wise learning rates, stochastic depth.

A textbook section on deep networks (key deepnetworks63) states much of this without conditions. Its
sentences are quoted with each claim, " / " standing for a new line; where one is read as a
statement about all instances, so that it can be tested, the wording says "universal", and what
fails is that reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

import sympy
from sympy import Max, Product, Rational, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.relations import Eq, Ge, Lt, between
from ..claims.symbols import depth, layer, quantity, stated
from .signal_symbols import fraction

layer_growth = quantity(
    "layer_growth", "g", "fan-in times the variance of a weight", "positive real"
)
layer_variance = quantity(
    "layer_variance",
    "v_l",
    "mean square of a coordinate of the output of layer $l$, when it is 1 after layer 1",
    "positive real",
)
kept_share = quantity(
    "kept_share",
    "k",
    "share of the mean square that an activation keeps: 1/2 for ReLU, 1 for none",
    "positive real",
)
printed_power = quantity(
    "printed_power", "b^n", "power of which a number is printed", "positive real"
)
half_digit = quantity("half_digit", "r", "half a unit of its last digit", "nonnegative real")
fan_in = quantity("fan_in", "n_{in}", "inputs of a linear layer")
fan_out = quantity("fan_out", "n_{out}", "outputs of a linear layer")
weight_variance = quantity(
    "weight_variance", r"\mathrm{Var}\,W", "variance of a weight", "positive real"
)
signal_gain = quantity(
    "signal_gain",
    "v_{out}/v_{in}",
    "mean square of an output coordinate of a linear layer over that of its input",
    "positive real",
)
branch_variance = quantity(
    "branch_variance",
    "s^2",
    "variance of what one residual branch writes before scaling",
    "positive real",
)
branch_factor = quantity(
    "branch_factor",
    "c^2",
    "square of what branches are multiplied by: 1, or 1/(2L) for GPT-2",
    "positive real",
)
stream_variance = quantity(
    "stream_variance",
    r"\mathrm{Var}\,x_L",
    "variance of the residual stream after all branches, when it starts at 1",
    "positive real",
)

textbook = partial(Source, "deepnetworks63")


def _signed_sums(x: tuple[int, ...]) -> list[int]:
    """+-x_1 +- ... +- x_n for all signs."""
    return [
        sum(s * v for s, v in zip(signs, x, strict=True))
        for signs in product((-1, 1), repeat=len(x))
    ]


_LINEAR = partial(Case.grid, activation="none", kept_share="1")
_RELU = partial(Case.grid, activation="relu", kept_share="1/2")


@claim(
    Eq(layer_variance, (layer_growth * kept_share) ** (layer - 1)),
    source=Source(
        "he2015", "section 2.2, equation 10, as four texts restate it", "arXiv:1502.01852"
    ),
    wording="reported",
    assumes={
        "a case keeps 1/2 of the mean square with ReLU, 1 with no activation": lambda c: (
            c.rational("kept_share") == {"relu": Fraction(1, 2), "none": 1}[c.activation]
        )
    },
    cases={
        "quick": (
            *_RELU(width=2, layer=(1, 2, 4), layer_growth=("1", "2", "3")),
            *_LINEAR(width=2, layer=(1, 2, 4), layer_growth=("2", "1/2")),
        ),
        "theory": (
            *_RELU(width=3, layer=(2, 3), layer_growth="2"),
            *_LINEAR(width=3, layer=(2, 3), layer_growth="3/2"),
        ),
    },
    control=Control(
        _RELU(width=2, layer=3, layer_growth="2")[0],
        "without the half",
        Eq(layer_variance, layer_growth ** (layer - 1)),
    ),
    cited=r"Decides whether weights of variance $2/n_{\mathrm{in}}$ keep the size through ReLU "
    "layers.",
    formal=Formal(
        "Signal.kaiming_variance_checked",
        "Signal.kaiming_value ({layer} - 1) ({layer_growth.numerator} * 2 * "
        "{kept_share.numerator} / {kept_share.denominator}) {layer_growth.denominator}",
        "Square layers that share one finite symmetric law; Gaussian or other continuous "
        "weights, other widths, and linear nets with weights that are not symmetric are not "
        "formal.",
    ),
)
def kaiming_variance(case: Case) -> Exact:
    r"""Variance grows as a power of $g$, through ReLU layers of $g/2$.

    With independent symmetric weights of variance $g/n_{\mathrm{in}}$, the mean square before the
    ReLU of layer $l$ is $(g/2)^{l-1}$ times that of layer 1; Kaiming's variance $2/n_{\mathrm{in}}$
    keeps it. In a linear net, whose weights need only mean zero, it is $g^{l-1}$ times that after
    layer 1.

    The formula $N(0, 2/n_{\mathrm{in}})$ is printed in the texts, the place in the paper as
    recalled; check against the paper. The linear net corrects a textbook's sentence, which
    printed_powers checks. Measured over all signs of weights +-1 times their scale, which have the
    moments of Gaussian ones that matter here.
    """
    # The mean square of a coordinate after layer l over all signs of weights.
    after: list[Fraction] = []
    relu = case.activation == "relu"
    states = Counter({tuple(range(1, case.width + 1)): 1})
    for _ in range(case.layer):
        following: Counter[tuple[int, ...]] = Counter()
        for state, count in states.items():
            inputs = tuple(max(v, 0) for v in state) if relu and after else state
            for row in product(_signed_sums(inputs), repeat=case.width):
                following[row] += count
        states = following
        squares = sum(count * sum(v * v for v in x) for x, count in states.items())
        after.append(Fraction(squares, case.width * states.total()))
    growth = case.rational("layer_growth") / case.width
    return Exact(after[-1] / after[0] * growth ** (case.layer - 1))


@kaiming_variance.argument(
    "induction over layers; prose: sums with independent symmetric weights "
    "are symmetric, and their terms, of mean zero, uncorrelated"
)
def _(statement: Relational) -> Iterator[Step]:
    """Induction on layers."""
    signs = sympy.Symbol("z", positive=True), sympy.Symbol("z", negative=True), sympy.Integer(0)
    yield Step(
        "ReLU(z)^2 + ReLU(-z)^2 = z^2, so a symmetric input loses half its mean square",
        all(Max(z, 0) ** 2 + Max(-z, 0) ** 2 == z**2 for z in signs),
    )
    value = statement.rhs
    grown = value.subs(layer, layer + 1)
    yield Step("base: at layer = 1 the right side is 1", simplify(value.subs(layer, 1) - 1) == 0)
    yield Step(
        "step: an output is a sum of n_in uncorrelated terms of variance g/n_in times the "
        "share of the mean square that comes in",
        simplify(grown - layer_growth * kept_share * value) == 0,
    )


def _printed(place: str, base: str, factors: int, stated: str, half_digit: str) -> Case:
    return Case(place=place, base=base, factors=factors, stated=stated, half_digit=half_digit)


@claim(
    between(stated - half_digit, printed_power, stated + half_digit),
    source=textbook(
        "Initialization: Starting Right, The Problem; Residual Connections Save the Day"
    ),
    wording="universal",
    known="FAILS",
    post_hoc="Layer 11, where 1024 is right, is ours: it was added when the others had failed.",
    weight="arithmetic",
    cases={
        "quick": (
            _printed("variance at layer 10, doubled", "2", 9, "1024", "0"),
            _printed("variance at layer 10, halved", "1/2", 9, "1/1000", "1/2000"),
            _printed("0.9^100", "9/10", 100, "13/500000", "1/2000000"),
            _printed("variance at layer 11, doubled", "2", 10, "1024", "0"),
        )
    },
    control=Control(_printed("0.9^100", "9/10", 99, "13/500000", "1/2000000"), "one factor fewer"),
    supports="signal_propagation/kaiming_variance",
)
def printed_powers(case: Case) -> Exact:
    r"""Powers that a textbook prints are what their sentences say.

    A variance of 1 after layer 1 that doubles with every layer is 1024 after layer 10; one that
    halves is 0.001, which stands for 0.0005 to 0.0015; and $0.9^{100}$ is $2.6 \times 10^{-5}$,
    which stands for $2.55 \times 10^{-5}$ to $2.65 \times 10^{-5}$. At layer 11 the first one is
    1024.

    Only the last, which is ours, holds. Checked sentence: "Layer 1 output: variance $= 1$ / Layer 2
    output: variance $= 2$ (grows!) / Layer 10 output: variance $= 1024$ (explodes!)" and "Layer 1
    output: variance $= 1$ / Layer 2 output: variance $= 0.5$ (shrinks!) / Layer 10 output: variance
    $= 0.001$ (vanishes!)" That every layer doubles (halves) is our reading. From 1 after layer 1 it
    is $2^9 = 512$ and $2^{-9} = 0.00195$; the printed numbers are $2^{10}$ and $2^{-10}$. The third
    is read as printed: "gradient $= 0.9^{100} = 2.6 \times 10^{-5}$ (vanishes!)" It is
    $2.656 \times 10^{-5}$; the printed digits are cut off, not rounded. That it vanishes is not in
    doubt.
    """
    value = Fraction(1)
    for _ in range(case.factors):
        value *= case.rational("base")
    return Exact(value)


@claim(
    Eq(weight_variance, 2 / (fan_in + fan_out)),
    source=textbook("Xavier/Glorot Initialization, after glorot2010"),
    wording="printed",
    cases={
        "quick": Case.grid(fan_in=(1, 512), fan_out=(1, 2048)),
        "theory": Case.grid(fan_in=(768, 4096), fan_out=3072),
    },
    control=Control(
        Case(fan_in=512, fan_out=2048), "Kaiming's variance", Eq(weight_variance, 2 / fan_in)
    ),
    supports="signal_propagation/kaiming_variance",
)
def xavier_uniform(case: Case) -> Exact:
    r"""Xavier's uniform and normal weights have one variance.

    The uniform distribution on $\pm \sqrt{6/(n_{\mathrm{in}} + n_{\mathrm{out}})}$ has variance
    $2/(n_{\mathrm{in}} + n_{\mathrm{out}})$, that of Xavier's normal distribution.

    Checked sentence: "Or uniformly: $W \sim \mathcal{U}\left(-\sqrt{\frac{6}{n_{in} + n_{out}}},
    \sqrt{\frac{6}{n_{in} + n_{out}}}\right)$" after $W \sim \mathcal{N}\left(0, \frac{2}{n_{in} +
    n_{out}}\right)$.
    """
    b = sqrt(Rational(6, case.fan_in + case.fan_out))
    return Exact(fraction(_uniform_variance(b).simplify()))


def _uniform_variance(b: sympy.Expr) -> sympy.Expr:
    """The integral of x^2 against the uniform density on [-b, b]."""
    x = sympy.Symbol("x", real=True)
    return sympy.integrate(x**2 / (2 * b), (x, -b, b))


@xavier_uniform.argument(
    r"one integral with a symbolic bound, for every $n_{\mathrm{in}}$ and $n_{\mathrm{out}}$; no "
    "prose beyond what a uniform density is"
)
def _(statement: Relational) -> Iterator[Step]:
    b = sympy.Symbol("b", positive=True)
    variance = _uniform_variance(b).subs(b, sqrt(6 / (fan_in + fan_out)))
    yield Step(
        "uniform on [-b, b] with b^2 = 6/(n_in + n_out) has the stated variance",
        simplify(variance - statement.rhs) == 0,
    )


@claim(
    Eq(signal_gain, 1),
    source=textbook("Xavier/Glorot Initialization"),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    cases={
        "quick": (*Case.grid(fan_in=2, fan_out=(2, 4)), Case(fan_in=1, fan_out=2)),
        "theory": (Case(fan_in=4, fan_out=2),),
    },
    control=Control(Case(fan_in=2, fan_out=2), "half of the gain", Eq(signal_gain, Rational(1, 2))),
    supports="signal_propagation/kaiming_variance",
)
def xavier_keeps_variance(case: Case) -> Exact:
    r"""Xavier's weights maintain variance, whatever $n_{\mathrm{in}}$ and $n_{\mathrm{out}}$.

    A linear layer with Xavier's variance $2/(n_{\mathrm{in}} + n_{\mathrm{out}})$ keeps the mean
    square of its input, for all $n_{\mathrm{in}}$ and $n_{\mathrm{out}}$.

    Checked sentence: "For linear layers, initialize weights to maintain variance:" To maintain is
    the aim there, and for all $n_{\mathrm{in}}$ and $n_{\mathrm{out}}$ is our reading. The gain is
    $2 n_{\mathrm{in}}/(n_{\mathrm{in}} + n_{\mathrm{out}})$, 1 only for
    $n_{\mathrm{in}} = n_{\mathrm{out}}$: 0.4 into a feed-forward layer of width $4 d$, 1.6 out of
    it; forward and backward gain, $2 n_{\mathrm{out}}/(n_{\mathrm{in}} + n_{\mathrm{out}})$, have
    mean 1. Measured as in kaiming_variance.
    """
    x = tuple(range(1, case.fan_in + 1))
    squares = [sum(v * v for v in row) for row in product(_signed_sums(x), repeat=case.fan_out)]
    output = Fraction(2 * sum(squares), len(squares) * case.fan_out * (case.fan_in + case.fan_out))
    return Exact(output / Fraction(sum(v * v for v in x), case.fan_in))


def _streams(**fields: Any) -> tuple[Case, ...]:
    """Branches as they are, and divided by sqrt(2L)."""
    return tuple(
        Case(**case.fields(), branch_factor=square)
        for case in Case.grid(**fields)
        for square in ("1", f"1/{2 * case.depth}")
    )


@claim(
    Eq(stream_variance, 1 + 2 * depth * branch_factor * branch_variance),
    source=textbook("Transformer-Specific Initialization, after radford2019"),
    cases={
        "quick": _streams(depth=(1, 2, 12, 48), branch_variance=("1", "1/4")),
        "theory": _streams(depth=96, branch_variance="3/7"),
    },
    control=Control(
        Case(depth=12, branch_variance="1", branch_factor="1/24"),
        "branches that are not divided",
        Eq(stream_variance, 1 + 2 * depth * branch_variance),
    ),
    supports="signal_propagation/norm_exponents",
    formal=Formal(
        "DepthScales.residual_stream_checked",
        "DepthScales.stream_value {depth} {branch_factor.numerator} {branch_factor.denominator} "
        "{branch_variance.numerator} {branch_variance.denominator}",
        "That writes are uncorrelated with the stream at initialisation; the stream is one number "
        "with a law of finitely many outcomes.",
    ),
)
def residual_stream(case: Case) -> Exact:
    r"""Scaling by $1/\sqrt{2 L}$ bounds the stream's variance, which else grows linearly.

    $2 L$ uncorrelated branch writes of variance $s^2$ on a stream of variance 1 give variance
    $1 + 2 L s^2$; scaled by $1/\sqrt{2 L}$ they give $1 + s^2$ at every depth.

    Checked sentence: "The $1/\sqrt{2 n_{\mathrm{layers}}}$ factor ensures that even with many
    layers, the output variance doesn't explode." Printed is the factor; both variances are ours.
    Radford et al. say $1/\sqrt{N}$, $N$ the number of residual layers, which is 0.144 for the 48
    blocks of GPT-2 XL and 0.102 for its 96 sublayers; they do not say which. At initialisation,
    where writes are uncorrelated with the stream; training makes them correlated.
    """
    return Exact(
        1
        + case.rational("branch_factor")
        * case.rational("branch_variance")
        * _walk_variance(2 * case.depth)
    )


def _walk_variance(steps: int) -> Fraction:
    """E W^2 of a walk of steps +-f(W), f = 1 or -1 by the state: the exact distribution of W."""
    walk = Counter({0: 1})
    for _ in range(steps):
        following: Counter[int] = Counter()
        for place, count in walk.items():
            branch = 1 if place >= 0 else -1
            for sign in (-1, 1):
                following[place + sign * branch] += count
        walk = following
    if sum(place * count for place, count in walk.items()):
        raise ArithmeticError("the branches correlate with the stream")
    return Fraction(sum(place**2 * count for place, count in walk.items()), walk.total())


@residual_stream.argument(
    "the machine checks $2 L$ times one variance; that variances of uncorrelated writes add is "
    "prose, so the cases decide",
    "checks",
)
def _(statement: Relational) -> Iterator[Step]:
    """2L branch writes with mean zero given the stream, so their variances add."""
    x, f = sympy.symbols("x f", real=True)
    average = ((x + f) ** 2).expand() / 2 + ((x - f) ** 2).expand() / 2
    yield Step(
        "a write f with a random sign adds f^2 to the mean of x^2",
        simplify(average - x**2 - f**2) == 0,
    )
    yield Step(
        "2L writes add 2L times one variance to the initial 1",
        simplify(statement.rhs - (1 + 2 * depth * branch_factor * branch_variance)) == 0,
    )
    yield Step(
        "with the factor 1/(2L) that is 1 + s^2",
        simplify(statement.rhs.subs(branch_factor, 1 / (2 * depth)) - 1 - branch_variance) == 0,
    )


gradient = quantity(
    "gradient", r"\partial x_n/\partial x_0", "product of the derivatives of all $n$ layers", "real"
)
gradient_level = quantity(
    "gradient_level", r"\delta", "level that a vanishing gradient falls below", "positive real"
)
learning_rate_ratio = quantity(
    "learning_rate_ratio",
    r"\eta_{l+1}/\eta_l",
    "learning rate of a layer over that of the layer before",
    "positive real",
)
survival = quantity(
    "survival", "p_L", "probability that stochastic depth keeps the last layer", "positive real"
)
kept = quantity(
    "expected_depth",
    r"\mathbb{E}\tilde L",
    "mean number of layers that stochastic depth keeps",
    "positive real",
)
branch_slope = quantity("branch_slope", "a", "slope of a linear residual branch", "real")
mean_output = quantity(
    "mean_output",
    r"\mathbb{E}x_L/x_0",
    "mean output of a residual net with linear branches over the layers dropped",
    "real",
)

# A vague sentence, hardened into one about all instances, which fails.
REFUTED_READING: dict[str, Any] = {"wording": "universal", "known": "FAILS"}


@claim(
    Lt(gradient, gradient_level),
    source=textbook("The Vanishing Gradient Problem"),
    cases={
        "quick": Case.grid(
            depth=(100, 1000), factors=("9/10", "1 - 1/(i+1)^2"), gradient_level="1/2"
        )
    },
    control=Control(Case(depth=100, factors="9999/10000", gradient_level="1/2"), "0.9999 each"),
    supports="exercises/gradients_vanish",
    formal=Formal(
        "Signal.product_vanishes_refuted",
        "Signal.product_value {depth}",
        "That the factors are derivatives of layers and lie between 0 and 1; that the product "
        "exceeds 1/2 at every depth is product_vanishes_fails.",
        refutes=Case.grid(depth=(100, 1000), factors="1 - 1/(i+1)^2", gradient_level="1/2"),
    ),
    **REFUTED_READING,
)
def product_vanishes(case: Case) -> Exact:
    """Factors below 1 make the gradient vanish.

    If the derivative of every layer lies in (0, 1), the product falls below every level, such as
    1/2, with enough layers; read here at 100 and 1000 layers.

    Checked sentence: "If each ∂$x_{i+1}$/∂$x_i < 1$, the product vanishes exponentially."
    Any level would do. The factors $1 - 1/(i+1)^2$, $i = 1$, ..., $n$, have product
    $(n + 2)/(2 (n + 1)) > 1/2$ for every $n$. Products of factors that stay below some $c < 1$ do
    vanish, at least as fast as $c^n$.
    """
    rising = case.factors == "1 - 1/(i+1)^2"
    value = Fraction(1)
    for i in range(1, case.depth + 1):
        value *= 1 - Fraction(1, (i + 1) ** 2) if rising else Fraction(case.factors)
    return Exact(value)


@claim(
    Ge(gradient, 1),
    source=textbook("Residual Connections Save the Day"),
    cases={"quick": Case.grid(depth=(1, 12), branch_slope=("1/10", "0", "-1/100", "-1/2", "-1"))},
    control=Control(Case(depth=1, branch_slope="1/10"), "at least 2", Ge(gradient, 2)),
    cited="Decides whether a lecture may say that the derivative of $x + f(x)$ is at least 1.",
    formal=Formal(
        "Signal.residual_gradient_refuted",
        "Signal.residual_gradient_value {depth}",
        "Nothing: the derivative of the same linear branches, at every point.",
        refutes=Case.grid(depth=(1, 12), branch_slope="-1/100"),
    ),
    **REFUTED_READING,
)
def residual_gradient_at_least_one(case: Case) -> Exact:
    r"""With residuals the gradient is at least 1, whatever the branch.

    For scalar $x$ and $x_{i+1} = x_i + f_i(x_i)$, $i = 0$, ..., $n - 1$, the derivative of $x_n$
    with respect to $x_0$ is at least 1, whatever $f_i$.

    Checked sentence: "Even if ∂$f_i$/∂$x_i$ is small, the gradient is at least 1!" That it
    holds for every $f_i$ is our reading. $1 + f'$ is below 1 wherever $f' < 0$, small or not:
    $f(x) = -x/100$ gives 0.99 per layer, $f(x) = -x/2$ gives 1/2, $f(x) = -x$ gives 0. Branches
    with $|f'| \leq \varepsilon \leq 1$ keep the gradient between $(1 - \varepsilon)^n$ and
    $(1 + \varepsilon)^n$. Measured are linear branches.
    """

    def net(x: Fraction) -> Fraction:
        for _ in range(case.depth):
            x = x + case.rational("branch_slope") * x
        return x

    return Exact(net(Fraction(1)) - net(Fraction(0)))


@claim(
    Lt(learning_rate_ratio, 1),
    source=textbook("Depth-wise Learning Rates"),
    weight="arithmetic",
    cases={"quick": Case.grid(depth=(12, 24), layer=(1, 11))},
    control=Control(Case(depth=12, layer=1), "the formula as it stands"),
    supports="signal_propagation/pre_norm_gradient_profile",
    **REFUTED_READING,
)
def later_layers_smaller_rate(case: Case) -> Exact:
    r"""The printed rule gives every later layer a smaller rate.

    The learning rate $\text{base} \cdot 0.9^{n_{\mathrm{layers}} - \text{layer}}$ of layer $l + 1$
    is smaller than that of layer $l$.

    Checked sentence: "`# Later layers might need smaller LR / return base_lr * (0.9 **
    (n_layers - layer_idx))`" That the formula does what its comment says is our
    reading. It gives every later layer a rate 10/9 times larger, and the first one the smallest.
    """

    def rate(layer: int) -> Fraction:
        return Fraction(3, 10**4) * Fraction(9, 10) ** (case.depth - layer)

    return Exact(rate(case.layer + 1) / rate(case.layer))


huang = partial(Source, "huang2016", version="arXiv:1603.09382")
_KEEP = 1 - layer / depth * (1 - survival)


def _keep_probabilities(case: Case) -> list[Fraction]:
    """Falling linearly to p_L."""
    return [
        1 - Fraction(layer, case.depth) * (1 - case.rational("survival"))
        for layer in range(1, case.depth + 1)
    ]


@claim(
    Eq(kept, depth - (depth + 1) * (1 - survival) / 2),
    source=huang("section 3, expected network depth"),
    wording="printed",
    cases={
        "quick": Case.grid(depth=(1, 2, 54), survival=("1/2", "1", "1/5")),
        "theory": Case.grid(depth=110, survival="1/2"),
    },
    control=Control(Case(depth=54, survival="1/2"), "$L p_L$", Eq(kept, depth * survival)),
    cited="Decides whether $(3 L - 1)/4$ may be quoted as the mean depth when $p_L$ is 1/2.",
    formal=Formal(
        "Signal.expected_depth_checked",
        "Signal.expected_depth_value {depth} {survival.numerator} {survival.denominator}",
        "Nothing: the mean over all patterns of kept layers, as in the claim.",
    ),
)
def expected_depth(case: Case) -> Exact:
    """Stochastic depth keeps $L - (L + 1)(1 - p_L)/2$ layers on average.

    With keep probabilities $1 - l/L (1 - p_L)$ the mean number of layers kept is
    $L - (L + 1)(1 - p_L)/2$, which is $(3 L - 1)/4$ at $p_L = 1/2$ and 40.25 for $L = 54$.

    Printed is the case $p_L = 1/2$.
    """
    chances = [Fraction(1)]  # of 0, 1, ... layers kept
    for keep in _keep_probabilities(case):
        padded = [Fraction(0), *chances, Fraction(0)]
        chances = [keep * fewer + (1 - keep) * same for fewer, same in pairwise(padded)]
    return Exact(sum((count * chance for count, chance in enumerate(chances)), Fraction(0)))


@expected_depth.argument(
    "the sum is closed for symbolic $L$ and $p_L$; prose: the mean of a count is the sum of the "
    "probabilities"
)
def _(statement: Relational) -> Iterator[Step]:
    total = sympy.summation(_KEEP, (layer, 1, depth))
    yield Step(
        "the mean count is the sum of the keep probabilities, and that sum is the right side",
        simplify(total - statement.rhs) == 0,
    )


def _mean_of_dropped(case: Case, keeps: list[Fraction]) -> Exact:
    """The mean of x_L/x_0 over all 2^L patterns of kept layers, each of which maps x to x + a x."""
    a, total = case.rational("branch_slope"), Fraction(0)
    for pattern in product((False, True), repeat=case.depth):
        weight, x = Fraction(1), Fraction(1)
        for stays, keep in zip(pattern, keeps, strict=True):
            weight *= keep if stays else 1 - keep
            x += a * x if stays else 0
        total += weight * x
    return Exact(total)


@claim(
    Eq(mean_output, Product(1 + _KEEP * branch_slope, (layer, 1, depth))),
    source=huang("equation 5"),
    wording="printed",
    cases={
        "quick": Case.grid(depth=(1, 3, 6), survival=("1/2", "4/5"), branch_slope=("1", "-1/3")),
        "theory": Case.grid(depth=10, survival="1/2", branch_slope="1/2"),
    },
    control=Control(
        Case(depth=3, survival="1/2", branch_slope="1"),
        "no rescaling",
        Eq(mean_output, (1 + branch_slope) ** depth),
    ),
    supports="signal_propagation/expected_depth",
    formal=Formal(
        "Signal.stochastic_depth_rescaled_checked",
        "Signal.rescaled_value {depth} {survival.numerator} {survival.denominator} "
        "(Z.to_N ({branch_slope.numerator})) (Z.to_N (- ({branch_slope.numerator}))) "
        "{branch_slope.denominator}",
        "Nothing of the mean over all patterns of kept layers, for every slope; the number is for "
        "slopes of -1 or more.",
    ),
)
def stochastic_depth_rescaled(case: Case) -> Exact:
    """Scaling branch $l$ by $p_l$ gives the mean output.

    For linear residual branches, the test-time net whose branch $l$ is scaled by its keep
    probability has the mean output of the training-time nets.

    Printed is the rule; that it reproduces the mean is exact for linear branches only.
    """
    return _mean_of_dropped(case, _keep_probabilities(case))


@stochastic_depth_rescaled.argument(
    "one factor for symbolic $l$, $L$, $p_L$, a; prose: layers are dropped independently, so "
    "the mean of the product is the product"
)
def _(statement: Relational) -> Iterator[Step]:
    """The mean of a product of independent factors is the product of their means."""
    right = statement.rhs
    over_layers = isinstance(right, Product) and right.limits == ((layer, 1, depth),)
    yield Step("the right side is a product over the layers 1 to L", over_layers)
    if over_layers:
        mean = _KEEP * (1 + branch_slope) + 1 - _KEEP
        yield Step(
            "a layer kept with probability p multiplies by 1 + a or 1, on average by "
            "p (1 + a) + 1 - p, and layers are independent",
            simplify(right.function - mean) == 0,
        )


@claim(
    Eq(mean_output, (1 + branch_slope) ** depth),
    source=textbook("Stochastic Depth, code"),
    weight="arithmetic",
    cases={"quick": Case.grid(depth=(1, 8), survival=("9/10", "1"), branch_slope=("1/4", "0"))},
    control=Control(Case(depth=1, survival="9/10", branch_slope="1/4"), "one dropped layer"),
    supports="signal_propagation/expected_depth",
    formal=Formal(
        "Signal.stochastic_depth_unscaled_refuted",
        "Signal.unscaled_value {depth} {survival.numerator} {survival.denominator} "
        "{branch_slope.numerator} {branch_slope.denominator}",
        "Nothing: the mean over all patterns of kept layers, as in the claim.",
        refutes=Case.grid(depth=(1, 8), survival="9/10", branch_slope="1/4"),
    ),
    **REFUTED_READING,
)
def stochastic_depth_unscaled(case: Case) -> Exact:
    """Dropping layers without rescaling keeps the mean output.

    With linear residual branches dropped at a fixed rate in training and none at test time, nothing
    rescaled, the test output is the mean of the training outputs.

    Checked sentence: "if training and random() < drop_prob: / continue # Skip this layer" The text
    does not say that the mean is kept: that is our reading of code which drops whole layers and
    rescales nothing. The mean is $(1 + p a)^L$, for one layer 1 + 0.9 a in place of $1 + a$.
    """
    return _mean_of_dropped(case, [case.rational("survival")] * case.depth)
