"""Initial scales: Xavier and Kaiming, residual scaling by 1/sqrt(2L), products of derivatives, depth-wise rates, stochastic depth.

Part of the topic signal_propagation. A textbook section on deep networks (key deepnetworks63) states much of this
without conditions. Its sentences are quoted with each claim; where one is read as a statement about all instances, so
that it can be tested, the reading says "universal", and what fails is that reading.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..claim import Ball, Case, Claim, Control, Source
from . import initialisation_measured as measured_by
from .measured import fraction

if TYPE_CHECKING:
    from sympy.core.relational import Relational


def xavier_std(fan_in: int, fan_out: int) -> float:
    """Xavier/Glorot: sqrt(2/(n_in + n_out)), the standard deviation of a weight.

    It keeps the mean square of a forward signal only when n_in = n_out: the gain is 2 n_in/(n_in + n_out), backward 2 n_out/(n_in + n_out).

    >>> xavier_std(2, 6)
    0.5

    Raises:
        ValueError: for a number of inputs or outputs below 1.

    References: glorot2010.
    """
    return math.sqrt(2 / (_count("fan_in", fan_in) + _count("fan_out", fan_out)))


def kaiming_std(fan_in: int) -> float:
    """Kaiming/He for ReLU: sqrt(2/n_in).

    >>> kaiming_std(8)
    0.5

    References: he2015.
    """
    return math.sqrt(2 / _count("fan_in", fan_in))


def residual_std(depth: int, base: float = 0.02) -> float:
    """The standard deviation of output projections that write to the residual stream: base/sqrt(2L), two branches per layer.

    >>> round(residual_std(48), 6)
    0.002041

    References: radford2019; karpathy_nanogpt, model.py.
    """
    return base / math.sqrt(2 * _count("depth", depth))


def survival_probability(layer: int, depth: int, last: float = 0.5) -> float:
    """Stochastic depth: layer l of L is kept with probability 1 - l/L (1 - p_L).

    Raises:
        ValueError: for a layer outside 1..L or a probability outside (0, 1].

    >>> survival_probability(54, 54), survival_probability(27, 54)
    (0.5, 0.75)

    References: huang2016, arXiv:1603.09382, equation 4.
    """
    if not 1 <= layer <= depth or not 0 < last <= 1:
        raise ValueError(f"layer={layer} of depth={depth}, last={last}: accepted are layers 1 to depth and a probability in (0, 1]")
    return 1 - layer / depth * (1 - last)


def expected_depth(depth: int, last: float = 0.5) -> float:
    """The mean number of layers kept by stochastic depth, L - (L + 1)(1 - p_L)/2; (3L - 1)/4 at p_L = 1/2.

    >>> expected_depth(54)
    40.25

    References: huang2016, arXiv:1603.09382, section 3.
    """
    survival_probability(1, _count("depth", depth), last)
    return depth - (depth + 1) * (1 - last) / 2


def _count(what: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{what} must be a whole number from 1 on, got {value}")
    return value


# --- claims ----------------------------------------------------------------------------------------------------------------------

_STEM = "signal_propagation/"
_TEXT = "deepnetworks63"
_SIGNS = "Measured over all signs of weights +-1 times their scale, which have the moments of Gaussian ones that matter here."
_GROWS = "Layer 1 output: variance = 1 / Layer 2 output: variance = 2 (grows!) / Layer 10 output: variance = 1024 (explodes!)"
_SHRINKS = "Layer 1 output: variance = 1 / Layer 2 output: variance = 0.5 (shrinks!) / Layer 10 output: variance = 0.001 (vanishes!)"


def _checked(sentence: str) -> str:
    """The sentence of the textbook that a claim checks, verbatim up to white space; " / " stands for a new line."""
    return f'Checked sentence: "{sentence}" '


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _growth_claims()
    yield _printed_growth_claim()
    yield from _xavier_claims()
    yield from _stream_claims()
    yield from _gradient_claims()
    yield _rate_claim()
    yield from _stochastic_depth_claims()


def _growth_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    variance, g, layer = symbol("layer_variance"), symbol("layer_growth"), symbol("layer")
    yield Claim(
        key=_STEM + "linear_variance", title="variance through linear layers grows as a power",
        text="With independent weights of mean zero and variance g/n_in, the mean square after layer l of a linear net is g^(l-1) times "
              "that after layer 1.",
        statement=Eq(variance, g ** (layer - 1)), source=Source(_TEXT, "Initialization: The Problem, corrected"), wording="derived",
        kind="identity", holds_for="all", measured=lambda c, s: measured_by.layer_variance(c, s, relu=False),
        proof=lambda st: measured_by.prove_growth(st, relu=False), note=_checked(_GROWS) + _SIGNS,
        rests_on="induction over layers for every width; prose: terms with independent weights of mean zero are uncorrelated",
        grid={"quick": Case.grid(width=2, layer=(1, 2, 4), layer_growth=("2", "1/2")),
              "theory": Case.grid(width=3, layer=(2, 3), layer_growth="3/2")},
        control=Control(Case(width=2, layer=4, layer_growth="2"), "g^l", statement=Eq(variance, g**layer)))
    yield Claim(
        key=_STEM + "kaiming_variance", title="through ReLU layers it grows as a power of g/2",
        text="With independent symmetric weights of variance g/n_in, the mean square before the ReLU of layer l is (g/2)^(l-1) times that "
              "of layer 1; Kaiming's variance 2/n_in keeps it.",
        statement=Eq(variance, (g / 2) ** (layer - 1)), source=Source("he2015", "section 2.2, equation 10", "arXiv:1502.01852"),
        wording="recalled", kind="identity", holds_for="all", measured=lambda c, s: measured_by.layer_variance(c, s, relu=True),
        rests_on="induction over layers; prose: sums with independent symmetric weights are symmetric, and their terms uncorrelated",
        proof=lambda st: measured_by.prove_growth(st, relu=True), note="The formula N(0, 2/n_in) is printed in the texts, the place in "
        "the paper as recalled; check against the paper. " + _SIGNS,
        grid={"quick": Case.grid(width=2, layer=(1, 2, 4), layer_growth=("1", "2", "3")),
              "theory": Case.grid(width=3, layer=(2, 3), layer_growth="2")},
        control=Control(Case(width=2, layer=3, layer_growth="2"), "without the half", statement=Eq(variance, g ** (layer - 1))))


def _printed_growth_claim() -> Claim:
    from sympy import Eq, Piecewise, Rational

    from ..glossary import symbol

    g, variance = symbol("layer_growth"), symbol("layer_variance")

    def printed(doubling: int, halving: str) -> Eq:
        return Eq(variance, Piecewise((doubling, Eq(g, 2)), (Rational(halving), Eq(g, Rational(1, 2)))))

    return Claim(
        key=_STEM + "printed_layer_ten", title="variance 1, 2, ... is 1024 at layer 10",
        text="A variance of 1 after layer 1 that doubles with every layer is 1024 after layer 10, and one that halves is "
              "0.001, which stands for 0.0005 to 0.0015.",
        statement=printed(1024, "0.001"), source=Source(_TEXT, "Initialization: Starting Right, The Problem"),
        wording="universal", kind="identity", holds_for="all", measured=measured_by.grown_variance, known="FAILS",
        predicted=_one_digit, weight="arithmetic", grid={"quick": Case.grid(layer=10, layer_growth=("2", "1/2"))},
        note=_checked(_GROWS) + "and " + _checked(_SHRINKS).removeprefix("Checked sentence: ")
        + "That every layer doubles (halves) is our reading of the first two lines. From 1 after layer 1 it is 2^9 = 512 and "
          "2^-9 = 0.00195; the printed numbers are 2^10 and 2^-10, those of layer 11.",
        control=Control(Case(layer=10, layer_growth="2"), "one more layer", statement=printed(2048, "0.0005")))


def _one_digit(statement: Relational, case: Case) -> Ball:
    """The right side, where the printed 0.001 stands for every number that rounds to it."""
    from ..claim import at

    value = fraction(at(statement.rhs, case))
    half = Fraction(1, 2000) if case.layer_growth == "1/2" else Fraction(0)
    return Ball(value - half, value + half)


def _xavier_claims() -> Iterator[Claim]:
    from sympy import Eq, Rational

    from ..glossary import symbol

    i, o, variance, gain = (symbol(n) for n in ("fan_in", "fan_out", "weight_variance", "signal_gain"))
    yield Claim(
        key=_STEM + "xavier_uniform", title="Xavier's uniform and normal weights have one variance",
        text="The uniform distribution on +-sqrt(6/(n_in + n_out)) has variance 2/(n_in + n_out), that of Xavier's normal distribution.",
        note=_checked(r"Or uniformly: W \sim \mathcal{U}\left(-\sqrt{\frac{6}{n_{in} + n_{out}}}, \sqrt{\frac{6}{n_{in} + n_{out}}}\right)")
        + r"after W \sim \mathcal{N}\left(0, \frac{2}{n_{in} + n_{out}}\right).",
        rests_on="one integral with a symbolic bound, for every n_in and n_out; no prose beyond what a uniform density is",
        statement=Eq(variance, 2 / (i + o)), source=Source(_TEXT, "Xavier/Glorot Initialization, after glorot2010"), wording="printed",
        kind="identity", holds_for="all", measured=measured_by.uniform_variance, proof=measured_by.prove_uniform,
        grid={"quick": Case.grid(fan_in=(1, 512), fan_out=(1, 2048)), "theory": Case.grid(fan_in=(768, 4096), fan_out=3072)},
        control=Control(Case(fan_in=512, fan_out=2048), "Kaiming's variance", statement=Eq(variance, 2 / i)))
    yield Claim(
        key=_STEM + "xavier_keeps_variance", title="Xavier's weights maintain variance, whatever n_in and n_out",
        text="A linear layer with Xavier's variance 2/(n_in + n_out) keeps the mean square of its input, for all n_in and n_out.",
        statement=Eq(gain, 1), source=Source(_TEXT, "Xavier/Glorot Initialization"), wording="universal", kind="identity",
        holds_for="all", measured=measured_by.xavier_gain, known="FAILS", weight="arithmetic",
        grid={"quick": (*Case.grid(fan_in=2, fan_out=(2, 4)), Case(fan_in=1, fan_out=2)), "theory": (Case(fan_in=4, fan_out=2),)},
        note=_checked("For linear layers, initialize weights to maintain variance:") + "To maintain is the aim there, and for all n_in and "
             "n_out is our reading. The gain is 2 n_in/(n_in + n_out), 1 only for n_in = n_out: 0.4 into a feed-forward layer of width 4 d, "
             "1.6 out of it; forward and backward gain, 2 n_out/(n_in + n_out), have mean 1. " + _SIGNS,
        control=Control(Case(fan_in=2, fan_out=2), "half of the gain", statement=Eq(gain, Rational(1, 2))))


def _stream_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    variance, s2, L = symbol("stream_variance"), symbol("branch_variance"), symbol("depth")
    rows: tuple[tuple[Any, ...], ...] = (
        ("residual_unscaled", False, 1 + 2 * L * s2, 1 + L * s2, "an unscaled residual stream grows linearly",
         "2L uncorrelated branch writes of variance s^2 on a stream of variance 1 give variance 1 + 2 L s^2.",
         Source("depthlaw", "uncorrelated writes"), ""),
        ("residual_scaled", True, 1 + s2, 1 + 2 * L * s2, "scaling by 1/sqrt(2L) keeps the stream's variance",
         "2L uncorrelated branch writes of variance s^2, scaled by 1/sqrt(2L), on a stream of variance 1 give variance 1 + s^2 at every depth.",
         Source(_TEXT, "Transformer-Specific Initialization, after radford2019"),
         _checked("The 1/√(2n_layers) factor ensures that even with many layers, the output variance doesn't explode.")
         + "Printed is the factor; 1 + s^2 is ours. Radford et al. say 1/sqrt(N), N the number of residual layers, which is 0.144 for the 48 "
           "blocks of GPT-2 XL and 0.102 for its 96 sublayers; they do not say which. "),
    )
    for name, scaled, value, wrong, title, words, source, quoted in rows:
        yield Claim(
            key=_STEM + name, title=title, text=words, statement=Eq(variance, value), source=source, wording="derived",
            kind="identity", holds_for="all", evidence="checks",
            rests_on="the machine checks 2L times one variance; that variances of uncorrelated writes add is prose, so the cases decide",
            measured=lambda c, s, scaled=scaled: measured_by.stream_variance(c, s, scaled=scaled),  # type: ignore[misc]
            proof=lambda st, scaled=scaled: measured_by.prove_stream(st, scaled=scaled),  # type: ignore[misc]
            grid={"quick": Case.grid(depth=(1, 2, 12, 48), branch_variance=("1", "1/4")),
                  "theory": Case.grid(depth=96, branch_variance="3/7")},
            note=quoted + "At initialisation, where writes are uncorrelated with the stream; training makes them correlated.",
            control=Control(Case(depth=12, branch_variance="1"), "another number of branches", statement=Eq(variance, wrong)))


def _gradient_claims() -> Iterator[Claim]:
    from sympy import Eq, Ge, Lt, Rational

    from ..glossary import symbol

    gradient, level = symbol("gradient"), symbol("gradient_level")
    printed, half = Rational(26, 10**6), Fraction(5, 10**7)
    yield Claim(
        key=_STEM + "printed_decay", title="0.9^100 is 2.6 x 10^-5",
        text="(9/10)^100 is 2.6 x 10^-5, which stands for 2.55 x 10^-5 to 2.65 x 10^-5.", statement=Eq(gradient, printed),
        source=Source(_TEXT, "Residual Connections Save the Day"), wording="printed", kind="identity", holds_for="all",
        predicted=lambda st, case: Ball(fraction(st.rhs) - half, fraction(st.rhs) + half), weight="arithmetic",
        measured=measured_by.decay, known="FAILS", grid={"quick": (Case(depth=100),)},
        note=_checked("gradient = 0.9^100 = 2.6 × 10^-5 (vanishes!)") + "It is 2.656 x 10^-5; the printed digits are cut off, not rounded. "
             "That it vanishes is not in doubt.",
        control=Control(Case(depth=99), "one factor fewer"))
    yield Claim(
        key=_STEM + "product_vanishes", title="factors below 1 make the gradient vanish",
        text="If the derivative of every layer lies in (0, 1), the product falls below every level, such as 1/2, with enough layers; "
              "read here at 100 and 1000 layers.",
        statement=Lt(gradient, level), source=Source(_TEXT, "The Vanishing Gradient Problem"), wording="universal", kind="upper",
        holds_for="all", measured=measured_by.shrinking_product, known="FAILS",
        grid={"quick": Case.grid(depth=(100, 1000), factors=("9/10", "1 - 1/(i+1)^2"), gradient_level="1/2")},
        note=_checked("If each ∂x_{i+1}/∂x_i < 1, the product vanishes exponentially.") + "Any level would do. "
             "The factors 1 - 1/(i+1)^2 have product "
             "(n + 2)/(2 (n + 1)) > 1/2 for every n. Factors that stay below some c < 1 do vanish, at least as fast as c^n.",
        control=Control(Case(depth=100, factors="9999/10000", gradient_level="1/2"), "factors of 0.9999"))
    yield Claim(
        key=_STEM + "residual_gradient_at_least_one", title="with residuals the gradient is at least 1, whatever the branch",
        text="For x_(i+1) = x_i + f_i(x_i) the derivative of the output with respect to the input is at least 1, whatever f_i.",
        statement=Ge(gradient, 1), source=Source(_TEXT, "Residual Connections Save the Day"), wording="universal", kind="lower",
        holds_for="all", measured=measured_by.residual_gradient, known="FAILS",
        grid={"quick": Case.grid(depth=(1, 12), branch_slope=("1/10", "0", "-1/100", "-1/2", "-1"))},
        note=_checked("Even if ∂f_i/∂x_i is small, the gradient is at least 1!") + "That it holds for every f_i "
             "is our reading. 1 + f' is below 1 wherever f' < 0, small or not: f(x) = -x/100 gives 0.99 per layer, f(x) = -x/2 "
             "gives 1/2, f(x) = -x gives 0. Branches with |f'| <= eps keep the "
             "gradient between (1 - eps)^n and (1 + eps)^n.",
        control=Control(Case(depth=1, branch_slope="1/10"), "at least 2", statement=Ge(gradient, 2)))


def _rate_claim() -> Claim:
    from sympy import Lt

    from ..glossary import symbol

    ratio = symbol("learning_rate_ratio")
    return Claim(
        key=_STEM + "later_layers_smaller_rate", title="the printed rule gives every later layer a smaller rate",
        text="The learning rate base * 0.9^(n_layers - layer) of layer l + 1 is smaller than that of layer l.",
        statement=Lt(ratio, 1), source=Source(_TEXT, "Depth-wise Learning Rates"), wording="universal", kind="upper", holds_for="all",
        measured=measured_by.rate_ratio, known="FAILS", weight="arithmetic", grid={"quick": Case.grid(depth=(12, 24), layer=(1, 11))},
        note=_checked("# Later layers might need smaller LR / return base_lr * (0.9 ** (n_layers - layer_idx))") + "That the formula does what "
             "its comment says is our reading. It gives every later layer a rate 10/9 times larger, and the first one the smallest.",
        control=Control(Case(depth=12, layer=1), "the formula as it stands"))


def _stochastic_depth_claims() -> Iterator[Claim]:
    from sympy import Eq, Product

    from ..glossary import symbol

    L, last, layer, a = (symbol(n) for n in ("depth", "survival", "layer", "branch_slope"))
    kept, mean, huang = symbol("expected_depth"), symbol("mean_output"), "arXiv:1603.09382"
    yield Claim(
        key=_STEM + "expected_depth", title="mean depth under stochastic depth",
        text="With keep probabilities 1 - l/L (1 - p_L) the mean number of layers kept is L - (L + 1)(1 - p_L)/2, which is (3L - 1)/4 at "
              "p_L = 1/2 and 40.25 for L = 54.",
        statement=Eq(kept, L - (L + 1) * (1 - last) / 2), source=Source("huang2016", "section 3, expected network depth", huang),
        wording="printed", kind="identity", holds_for="all", measured=measured_by.kept_layers, proof=measured_by.prove_expected_depth,
        rests_on="the sum is closed for symbolic L and p_L; prose: the mean of a count is the sum of the probabilities",
        grid={"quick": Case.grid(depth=(1, 2, 54), survival=("1/2", "1", "1/5")), "theory": Case.grid(depth=110, survival="1/2")},
        note="Printed is the case p_L = 1/2.", control=Control(Case(depth=54, survival="1/2"), "L p_L", statement=Eq(kept, L * last)))
    rescaled = Product(1 + (1 - layer / L * (1 - last)) * a, (layer, 1, L))
    yield Claim(
        key=_STEM + "stochastic_depth_rescaled", title="scaling branch l by p_l gives the mean output",
        text="For linear residual branches, the test-time net whose branch l is scaled by its keep probability has the mean output of the "
              "training-time nets.",
        statement=Eq(mean, rescaled), source=Source("huang2016", "equation 5", huang), wording="printed", kind="identity", holds_for="all",
        measured=lambda c, s: measured_by.mean_of_dropped(c, s, falling=True), proof=measured_by.prove_mean_output,
        rests_on="one factor for symbolic l, L, p_L, a; prose: layers are dropped independently, so the mean of the product is the product",
        grid={"quick": Case.grid(depth=(1, 3, 6), survival=("1/2", "4/5"), branch_slope=("1", "-1/3")),
              "theory": Case.grid(depth=10, survival="1/2", branch_slope="1/2")},
        note="Printed is the rule; that it reproduces the mean is exact for linear branches only.",
        control=Control(Case(depth=3, survival="1/2", branch_slope="1"), "no rescaling", statement=Eq(mean, (1 + a) ** L)))
    yield Claim(
        key=_STEM + "stochastic_depth_unscaled", title="dropping layers without rescaling keeps the mean output",
        text="With linear residual branches dropped at a fixed rate in training and none at test time, nothing rescaled, the test output is "
              "the mean of the training outputs.",
        statement=Eq(mean, (1 + a) ** L), source=Source(_TEXT, "Stochastic Depth, code"), wording="universal", kind="identity",
        holds_for="all", measured=lambda c, s: measured_by.mean_of_dropped(c, s, falling=False), known="FAILS", weight="arithmetic",
        grid={"quick": Case.grid(depth=(1, 8), survival=("9/10", "1"), branch_slope=("1/4", "0"))},
        note=_checked("if training and random() < drop_prob: / continue # Skip this layer") + "The text does not say that the mean is kept: that "
             "is our reading of code which drops whole layers and rescales nothing. The mean is (1 + p a)^L, for one layer 1 + 0.9 a in "
             "place of 1 + a.",
        control=Control(Case(depth=1, survival="9/10", branch_slope="1/4"), "the mean of one dropped layer"))
