"""Masks: products of attention matrices collapse exponentially, and unit rows keep tokens apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import sympy
from flint import arb
from sympy import Integer, Rational, asin, ceiling, cos, floor, simplify, sin
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Outside, Source, Step, claim
from ..claims.proof_steps import at_least, sum_step, vanish
from ..claims.relations import Eq, Le
from ..claims.symbols import depth as L, position as j, quantity, tokens as N
from ..exact.enclosure import from_fraction
from .rational_matrices import rational_array, row_stochastic

least = quantity(
    "least_weight",
    r"\epsilon",
    "least attention that a token pays to a token it may see",
    "positive real",
)
window = quantity("window", "w", "tokens that a token sees: itself and those just before it")
radius = quantity(
    "radius", "r", "steps after which one token has reached all others through the mask"
)
tail = quantity(
    "tail_mass",
    r"P_{\geq j}",
    "largest total weight that a row of the product of attention matrices puts on positions $j$ "
    "and later",
    "nonnegative real",
)
spread = quantity(
    "spread_ratio",
    r"s_L/s_0",
    "largest minus least token after $L$ layers over that before them, width one",
    "nonnegative real",
)
eta = quantity(
    "feature_gain",
    r"\eta",
    "entry below the diagonal of a value matrix with unit diagonal",
    "positive real",
)
angles = quantity("start_angles", "K", "equally spaced directions in which the second token starts")
count = quantity(
    "basin_count",
    "k",
    "directions from which two tokens stay different for ever",
    "nonnegative integer",
)
MASKS = "arXiv:2405.18781"

# --- products of attention matrices ---


def _masked(kind: str, tokens: int, least_weight: str, **more: Any) -> tuple[Case, ...]:
    name, instance = kind.split()
    return Case.grid(mask=name, instance=instance, tokens=tokens, least_weight=least_weight, **more)


def mask(case: Case) -> np.ndarray:
    """Whether token i may look at position k, both from 0."""
    i, k = np.indices((case.tokens, case.tokens))
    if case.mask == "window":
        return (k <= i) & (k > i - case.window)
    if case.mask == "prefix":
        return k < np.maximum(i + 1, case.position - 1)
    if case.mask == "chain":
        return (k == i) | (k == i - 1)
    if case.mask == "star":
        return (k == i) | (k == 0)
    return k <= i if case.mask == "causal" else k >= 0


def attention_matrix(case: Case, layer: int) -> np.ndarray:
    """A row-stochastic matrix with at least `least_weight` wherever the mask allows, over Q;
    `tight`: exactly the least for all but the token itself."""
    n, epsilon, seen = case.tokens, case.rational("least_weight"), mask(case)
    rest = 1 - epsilon * seen.sum(axis=1, keepdims=True)
    if (rest < 0).any():
        raise ValueError(f"a token of [{case}] sees too many others and cannot pay each {epsilon}")
    extra = np.eye(n, dtype=int)
    if case.instance == "random":
        extra = case.rng(layer).integers(0, 10, (n, n))
    weights = np.where((extra * seen).any(axis=1, keepdims=True), extra, 1) * seen
    return epsilon * seen + rest * row_stochastic(weights)


steps = ceiling((N - 1) / (window - 1))
_TAIL = (1 - (j - 1) * least**steps) ** floor(L / steps)


@claim(
    Le(tail, _TAIL),
    wording="reported",
    source=Source("wu2025position", "Theorems 4.1-4.3", "arXiv:2502.01951"),
    # That the entries are at least epsilon is a fact of `attention_matrix`, which pays it first.
    assumes={
        r"$2 \leq j \leq N$, $N \epsilon \leq 1$": lambda c: (
            2 <= c.position <= c.tokens and c.tokens * c.rational("least_weight") <= 1
        ),
        "but for a window all tokens before are seen": lambda c: (
            c.mask == "window" or c.window == c.tokens
        ),
    },
    cases={
        "quick": (
            *_masked("causal tight", 3, "1/5", window=3, position=(2, 3), depth=(1, 4)),
            *_masked("prefix tight", 4, "1/9", window=4, position=3, depth=(2, 5)),
            *_masked("causal random", 5, "1/10", window=5, position=(2, 4), depth=(3, 10)),
            *_masked("window tight", 3, "1/4", window=2, position=2, depth=(1, 2, 3, 4)),
            *_masked("window tight", 4, "1/5", window=3, position=2, depth=(1, 2)),
            *_masked("window random", 6, "1/6", window=3, position=(2, 4), depth=(4, 9)),
        ),
        "theory": _masked("causal random", 8, "1/16", window=8, position=(2, 5), depth=12),
    },
    control=Control(
        _masked("window tight", 3, "1/4", window=2, position=2, depth=2)[0],
        "the causal rate",
        Le(tail, (1 - (j - 1) * least) ** L),
    ),
    cited="Bears on whether attention sinks may be explained by the causal mask alone.",
    formal=Formal(
        "Collapse.position_bias_checked",
        "Collapse.position_bias_value {depth} (({tokens} + {window} - 3) / ({window} - 1)) "
        "({position} - 1) {least_weight.numerator} {least_weight.denominator}",
        "Masks with a prefix are position_bias_prefix, and that it is attained is "
        "position_bias_attained; that the weight on the first token tends to 1 is not formal.",
    ),
)
def position_bias(case: Case) -> Exact:
    r"""Causal and sliding-window attention end on the first token.

    For all attention matrices with a causal window of $w$ tokens and entries at least $\epsilon$
    inside it, every row of the product of $L$ of them puts at most
    $(1 - (j - 1) \epsilon^r)^{\lfloor L/r \rfloor}$ on the positions $j$ and later,
    $r = \lceil (N - 1)/(w - 1) \rceil$; so $P_{i1}$ tends to 1. A causal mask is the window of all
    $N$ tokens, where $r = 1$; there a prefix of $K$ tokens may see each other, with $j = K + 1$.

    Reported with an unspecified constant $C$ for one $P_{ij}$, and with a window as
    $C (1 - (j - 1) \epsilon^r)^{t/(2 r)}$; $C = 1$, the sharper exponent and the whole tail are
    ours. Attained by tokens that pay the least to all but themselves. The lower bound on prefix
    weights (liminf $\geq \kappa$) has no explicit $\kappa$ and is not stated.
    """
    total = rational_array(np.eye(case.tokens, dtype=int))
    for layer in range(case.depth):
        total = attention_matrix(case, layer) @ total
    return Exact(total[:, case.position - 1 :].sum(axis=1).max())


@position_bias.argument(
    "Argument. Prose: rows before $j$ have no tail; in $r$ layers, $w - 1$ places or none in "
    "each, a row from $j$ on reaches each of the first $j - 1$ positions."
)
def _(statement: Relational) -> Iterator[Step]:
    """T(i), the weight of row i from j on, is 0 for i < j; a layer sums A_im T(m), m >= j.

    A path of r steps inside the window weighs at least epsilon^r, so a product of r layers has
    entries of at least epsilon^r wherever position m <= i.
    """
    yield sum_step("sum_m A_im T(m) <= max T sum_{m >= j} A_im")
    yield Step(
        "r = ceil((N - 1)/(w - 1)) steps of w - 1 places cover the N - 1 places of the farthest",
        statement.rhs.has(steps) and at_least(steps.args[0] * (window - 1), N - 1),
    )
    block, r = sympy.symbols("block r", integer=True, positive=True)
    bound = statement.rhs.subs(steps, r)
    yield Step(
        "base: with no layer the bound is at least 1", at_least(bound.subs(L, 0), Integer(1))
    )
    ratio = simplify(bound.subs(L, (block + 1) * r) / bound.subs(L, block * r))
    yield Step(
        "step: in r more layers row i keeps at most 1 - (j - 1) epsilon^r for the positions >= j, "
        "and the bound falls by no more than that factor",
        statement.rhs.has(floor(L / steps)) and at_least(ratio, 1 - (j - 1) * least**r),
    )


@claim(
    Le(spread, (1 - least**radius) ** floor(L / radius)),
    wording="recalled",
    source=Source(
        "wu2024masks",
        "collapse theorem for pure masked attention; v2's abstract prints that it is exponential, "
        "the rate is recalled",
        MASKS,
    ),
    cases={
        "quick": (
            *_masked("chain tight", 3, "1/3", radius=2, depth=(1, 2, 3, 4)),
            *_masked("star tight", 4, "1/4", radius=1, depth=(1, 5)),
            *_masked("causal random", 5, "1/8", radius=1, depth=(3, 9)),
            *_masked("chain random", 4, "1/5", radius=3, depth=(5, 12)),
        ),
        "theory": _masked("chain random", 6, "1/4", radius=5, depth=(9, 25)),
    },
    control=Control(
        _masked("chain tight", 3, "1/3", radius=2, depth=1)[0],
        "radius one",
        Le(spread, (1 - least) ** L),
    ),
    cited="Decides whether a sparse mask may be said to prevent collapse or only to delay it.",
    formal=Formal(
        "Collapse.mask_exponential_checked",
        "Collapse.mask_exponential_value {depth} {radius} {least_weight.numerator} "
        "{least_weight.denominator}",
        "Nothing of the claim; the Frobenius norm, value matrices and constant of the paper are "
        "not in it.",
    ),
)
def mask_exponential(case: Case) -> Exact | Outside:
    r"""Masked attention collapses at least exponentially.

    For every mask with self-loops in which all tokens reach one centre within $r$ steps, and
    attention at least $\epsilon$ along its edges, the spread of scalar tokens falls by
    $(1 - \epsilon^r)^{\lfloor L/r \rfloor}$ or more over $L$ layers with $W_V = 1$.

    As recalled; check against the paper. There the norm is Frobenius, value matrices have bounded
    products, and a constant $C$ is left open; $C = 1$ for the spread is ours. Attained at depths 1
    and 2 by a chain.
    """
    reached = np.arange(case.tokens) == 0
    for _ in range(case.radius):
        reached = (mask(case) & reached).any(axis=1)
    if not reached.all():
        return Outside("all tokens reach the centre within r steps")
    tokens = rational_array([0, *[1] * (case.tokens - 1)])
    for layer in range(case.depth):
        tokens = attention_matrix(case, layer) @ tokens
    return Exact(tokens.max() - tokens.min())


# --- causal attention with rows of unit norm ---


def _steps(a: arb, b: arb, gain: arb, layers: int) -> tuple[arb, arb]:
    """The second token after layers: the first token (0, 1) added, the value matrix, unit norm."""
    for _ in range(layers):
        b = gain * a + b + 1
        size = (a * a + b * b).sqrt()
        a, b = a / size, b / size
    return a, b


BASIN = angles / 2 - ceiling(angles * asin(1 / eta) / (2 * sympy.pi) - Rational(1, 2))


@claim(
    Eq(count, BASIN),
    source=Source(
        "wu2024masks", "counterexample with normalisation, after Fig. 1, with our parameters", MASKS
    ),
    assumes={
        r"$\eta > 1$": lambda c: c.rational("feature_gain") > 1,
        "$K$ is even": lambda c: c.start_angles % 2 == 0,
    },
    # The last two of quick put the border of the basin 0.002 spacings before and after a start.
    cases={
        "quick": Case.grid(
            feature_gain=("3/2", "2", "3", "100000/60037", "100000/60047"), start_angles=200
        ),
        "theory": Case.grid(feature_gain=("11/10", "10"), start_angles=(50, 1000)),
    },
    control=Control(
        Case(feature_gain="100000/60037", start_angles=200),
        "one start more, where the border is 0.002 spacings from a start",
        Eq(count, BASIN + 1),
    ),
    cited="Decides how many starts unit rows may be said to keep apart in a counterexample.",
)
def unit_rows_basin(case: Case) -> Exact:
    r"""Of two causal tokens with unit rows a known share of starts never collapses.

    Two causal tokens of width two with equal weights, rows rescaled to unit norm,
    $W_V = [[1, 0], [\eta, 1]]$ on columns, $x_1 = (0, 1)$: of $K$ equally spaced directions
    ($i + 1/2$) $2 \pi/K$ of $x_2$, $K$ even, exactly those between the angles $\arcsin(1/\eta)$ and
    $\pi$ from $x_1$ stay apart for ever, $K/2 - \lceil K \arcsin(1/\eta)/(2 \pi) - 1/2 \rceil$ of
    them.

    77, 83 and 89 of 200 directions at $\eta = 3/2$, 2, 3; the share tends to
    $1/2 - \arcsin(1/\eta)/(2 \pi)$ as $K$ grows. A start counts once it is within $10^{-6}$ of an
    attracting point after 90 layers; that it stays there is prose. The points are (0, 1), where
    the tokens meet, and $(-1/\eta, -\sqrt{1 - 1/\eta^2})$: an example in which rescaling rows to
    unit norm, without centring, prevents collapse; that layer normalisation plays a role is said in
    the abstract of the source. Without rescaling the first coordinate halves at every layer and
    both tokens end at (0, 1).
    """
    total = 0
    with flint.ctx.workprec(256):
        gain = from_fraction(case.rational("feature_gain"))
        for index in range(case.start_angles):
            angle = from_fraction(Fraction(2 * index + 1, case.start_angles))
            a, b = _steps(-angle.sin_pi(), angle.cos_pi(), gain, 90)
            apart, together = abs(a + 1 / gain) < 1e-6 and b < 0, abs(a) < 1e-6 and b > 0
            if not (apart or together):
                raise ArithmeticError(f"start {index} of [{case}] is not decided: ({a}, {b})")
            total += apart
    return Exact(total)


@unit_rows_basin.argument(
    "Checks: the point at which the starts stay apart is fixed and attracts; which starts it "
    "attracts the cases decide.",
    evidence="checks",
)
def _(statement: Relational) -> Iterator[Step]:
    """At a = -1/eta the second coordinate does not move: eta a + b + 1 = b, for both signs of b."""
    a, s, root = -1 / eta, sympy.Symbol("s", real=True), sympy.sqrt(1 - 1 / eta**2)
    yield vanish(
        "(-1/eta, b) is a fixed point, of unit norm for b = -sqrt(1 - 1/eta^2)",
        eta * a + 1,
        a**2 + root**2 - 1,
    )
    # At (a, b) = (-sin s, cos s) a step takes the angle to atan2 of (sin s, cos s + 1 - eta sin s).
    slope = sympy.diff(sympy.atan2(sin(s), cos(s) + 1 - eta * sin(s)), s)
    yield Step(
        "it attracts: the angle's derivative there is 1 - sqrt(1 - 1/eta^2)",
        simplify(slope.subs({sin(s): 1 / eta, cos(s): -root}) - (1 - root)) == 0,
    )
