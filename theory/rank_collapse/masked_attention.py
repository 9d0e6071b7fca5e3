"""Masks and positions: logits that do not all pass through tokens leave exponential collapse."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import sympy
from flint import arb
from sympy import Integer, Rational, asin, ceiling, cos, exp, floor, log, simplify, sin
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Outside, Source, Step, claim
from ..claims.proof_steps import at_least, sum_step, vanish
from ..claims.relations import Eq, Ge, Le
from ..claims.symbols import depth as L, position as j, quantity, tokens as N
from ..exact.enclosure import from_fraction
from .cubic_step import qk_weight as w
from .rational_matrices import rational_array, row_stochastic
from .softmax_attention import resolved, whole_part

p = quantity(
    "first_weight", "p", "attention of the first of two tokens to the first", "positive real"
)
q = quantity(
    "second_weight", "q", "attention of the second of two tokens to the first", "nonnegative real"
)
start = quantity("difference", r"\delta_0", "difference of two tokens", "positive real")
end = quantity(
    "difference_end", r"\delta_L", "difference of two tokens after $L$ layers", "positive real"
)
bound = quantity("token_bound", "B", "bound on the size of the tokens", "positive real")
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
digits = quantity(
    "limit_digits", "q", "whole part of $10^9$ times the size of a limit", "nonnegative integer"
)

MASKS = "arXiv:2405.18781"
HERE = "theory/rank_collapse/masked_attention.py, "

# --- two tokens ---


@claim(
    Eq(end, (p - q) ** L * start),
    source=Source("depthlaw", HERE + "position logits"),
    cases={
        "quick": (
            *Case.grid(
                first_weight="3/4", second_weight="1/4", difference=("1/1000", "1"), depth=(1, 4)
            ),
            *Case.grid(
                first_weight="1",
                second_weight=("1/2", "1/3"),
                difference=("1/1000000", "2"),
                depth=(1, 7),
            ),
        )
    },
    assumes={"$p > q$": lambda c: c.rational("first_weight") > c.rational("second_weight")},
    control=Control(
        Case(first_weight="3/4", second_weight="1/4", difference="1", depth=4),
        "the cubic law",
        Eq(end, (p - q) ** L * start**3 / 2),
    ),
    supports="rank_collapse/slower_with_positions_or_mask",
)
def position_logits_linear(case: Case) -> Exact:
    """Two tokens, logits of position alone: linear in each layer.

    For two tokens with attention rows $(p, 1 - p)$ and $(q, 1 - q)$ that do not depend on the
    tokens, $p > q$, and $W_V = I$, the difference after $L$ layers is $(p - q)^L$ times the first:
    linear in it, whatever its size.

    The cubic law needs all logits to pass through $X$, since otherwise $P$ does not tend to equal
    rows. The causal mask with equal weights is $p = 1$, $q = 1/2$. So no cubic law can hold for all
    relative positions or masks.
    """
    first, second = case.rational("first_weight"), case.rational("second_weight")
    x, y = case.rational("difference") + 5, Fraction(5)
    for _ in range(case.depth):
        x, y = first * x + (1 - first) * y, second * x + (1 - second) * y
    return Exact(x - y)


@position_logits_linear.argument(
    "Argument: induction on $L$ with both steps checked, for the two tokens and fixed rows of "
    "the words."
)
def _(statement: Relational) -> Iterator[Step]:
    """The rows take x + delta, x to two numbers that differ by (p - q) delta."""
    x, delta = sympy.symbols("x delta")
    after = (p * (x + delta) + (1 - p) * x) - (q * (x + delta) + (1 - q) * x)
    gained = simplify(sympy.powsimp(statement.rhs.subs(L, L + 1) / statement.rhs))
    yield Step(
        "base: with no layer the difference is that of the input", statement.rhs.subs(L, 0) == start
    )
    yield Step(
        "step: a layer multiplies the difference by what the stated right side gains from L "
        "to L + 1",
        sympy.expand(after - delta * (p - q)) == 0 and simplify(gained - (p - q)) == 0,
    )


@claim(
    Ge(log(end), log(start) - L * log(1 + exp(w * bound * start))),
    source=Source("depthlaw", HERE + "causal mask"),
    cases={
        "quick": Case.grid(
            qk_weight=("1/10", "1"),
            token_bound="1",
            difference=("1/1000", "1"),
            depth=(1, 2, 8, 32),
        ),
        "theory": Case.grid(qk_weight="1/3", token_bound="2", difference="1/100", depth=(64, 128)),
    },
    # The tokens start at B - delta_0 and B.
    assumes={
        r"$w > 0$, $\delta_0 > 0$, both tokens in $[-B, B]$": lambda c: (
            c.rational("qk_weight") > 0
            and 0 < c.rational("difference") <= 2 * c.rational("token_bound")
        )
    },
    control=Control(
        Case(qk_weight="1/10", token_bound="1", difference="1/1000", depth=1),
        "divided by 3/2 at every layer, and not by 2",
        Ge(log(end), log(start) - L * log(Rational(3, 2))),
    ),
    supports="rank_collapse/position_decay",
)
def causal_exponential(case: Case) -> Ball:
    r"""A causal mask leaves two tokens only exponential collapse.

    For two causal tokens of width one with $W_V = 1$, $|x_i| \leq B$, and logits $w x_i x_j$, the
    difference after $L$ layers is at least $(1 + e^S)^{-L}$ times the first, $S = w B \delta_0$:
    its logarithm is linear in depth, not of order $3^L$.

    For small differences the rate tends to 1/2 per layer. Equal tokens still have unequal rows of
    attention, so nothing is gained from the softmax as they meet.
    """

    def difference() -> arb:
        weight = from_fraction(case.rational("qk_weight"))
        first = from_fraction(case.rational("token_bound") - case.rational("difference"))
        second = from_fraction(case.rational("token_bound"))
        for _ in range(case.depth):
            to_first, to_second = (weight * second * first).exp(), (weight * second * second).exp()
            second = (to_first * first + to_second * second) / (to_first + to_second)
        return second - first

    return Ball.of(resolved(difference))


@causal_exponential.argument(
    r"Argument. Prose: $x_2$ stays between $x_1$ and its start, so $|w x_2 \delta| \leq S$ at "
    r"every layer, and $\sigma$ grows."
)
def _(statement: Relational) -> Iterator[Step]:
    """delta' = sigma(w x_2 delta) delta with sigma increasing, and |w x_2 delta| <= S for ever."""
    s, x, delta = sympy.symbols("s x delta", real=True)
    first, second = exp(w * x * (x - delta)), exp(w * x * x)
    moved = (first * (x - delta) + second * x) / (first + second) - (x - delta)
    sigma = 1 / (1 + exp(-s))
    yield vanish(
        "the second token moves to distance delta sigma(w x_2 delta) from the first",
        moved - delta * sigma.subs(s, w * x * delta),
    )
    yield Step(
        "sigma grows with s, and lies in (0, 1), so x_2 stays between its start and x_1 and "
        "|w x_2 delta| <= S",
        simplify(sympy.diff(sigma, s) * (1 + exp(-s)) ** 2 - exp(-s)) == 0,
    )
    yield Step(
        "base: with no layer the bound is at most the difference of the input",
        at_least(log(start), statement.rhs.subs(L, 0)),
    )
    gain = sympy.expand(statement.rhs.subs(L, L + 1) - statement.rhs)
    yield Step(
        "step: a layer multiplies by at least sigma(-S), and the bound gains no more than "
        "log sigma(-S)",
        at_least(-log(1 + exp(w * bound * start)), gain),
    )


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
    """A row-stochastic matrix with at least `least_weight` wherever the mask allows, over Q.

    `tight` pays exactly the least to all but the token itself.
    """
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
    source=Source("wu2024masks", "collapse theorem for pure masked attention", MASKS),
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

_UNIT_ROWS = Source(
    "wu2024masks", "counterexample with normalisation, after Fig. 1, with our parameters", MASKS
)


def _exists(case: Case) -> bool:
    return case.rational("feature_gain") > 1


def _steps(a: arb, b: arb, gain: arb, layers: int) -> tuple[arb, arb]:
    """The second token after layers: the first token (0, 1) added, the value matrix, unit norm."""
    for _ in range(layers):
        b = gain * a + b + 1
        size = (a * a + b * b).sqrt()
        a, b = a / size, b / size
    return a, b


@claim(
    Eq(digits, floor(10**9 / eta)),
    source=_UNIT_ROWS,
    holds_for="exists",
    assumes={r"$\eta > 1$": _exists},
    cases={"quick": Case.grid(feature_gain=("3/2", "7/3", "3"))},
    control=Control(Case(feature_gain="3"), "the tokens meet", Eq(digits, 0)),
    supports="rank_collapse/unit_rows_basin",
)
def unit_rows_fixed_point(case: Case) -> Exact:
    r"""With unit rows two causal tokens can stay apart.

    Two causal tokens of width two with equal weights, rows rescaled to unit norm,
    $W_V = [[1, 0], [\eta, 1]]$ on columns, $x_1 = (0, 1)$: for $\eta > 1$ the second token has the
    attracting fixed point $(-1/\eta, -\sqrt{1 - 1/\eta^2})$, so the rank stays two from starts near
    it; the statement compares $\lfloor 10^9/\eta \rfloor$.

    An example in which rescaling rows to unit norm, without centring, prevents collapse; that layer
    normalisation plays a role is said in the abstract of the source. Without rescaling the first
    coordinate halves at every layer and both tokens end at (0, 1).
    """
    with flint.ctx.workprec(4096):
        gain = from_fraction(case.rational("feature_gain"))
        a, _ = _steps(arb(-4) / 5, arb(-3) / 5, gain, 120)
        return Exact(whole_part(abs(a) * 10**9))


@unit_rows_fixed_point.argument(
    "Argument. Prose: a fixed point at which the angle's derivative lies in (0, 1) attracts the "
    "starts near it."
)
def _(statement: Relational) -> Iterator[Step]:
    """At a = -1/eta the second coordinate does not move: eta a + b + 1 = b, for both signs of b."""
    stated, s = statement.rhs.args[0] / Integer(10) ** 9, sympy.Symbol("b", real=True)
    yield vanish(
        "the stated size a makes (-a, b) a fixed point: eta (-a) + b + 1 = b", -eta * stated + 1
    )
    yield vanish(
        "it has unit norm for b = -sqrt(1 - a^2)", stated**2 + (-sympy.sqrt(1 - stated**2)) ** 2 - 1
    )
    # At (a, b) = (-sin s, cos s) a step takes the angle to atan2 of (sin s, cos s + 1 - eta sin s).
    slope = sympy.diff(sympy.atan2(sin(s), cos(s) + 1 - eta * sin(s)), s)
    root = sympy.sqrt(1 - 1 / eta**2)
    yield Step(
        "the point with b < 0 attracts: the angle's derivative there is 1 - sqrt(1 - 1/eta^2)",
        simplify(slope.subs({sin(s): 1 / eta, cos(s): -root}) - (1 - root)) == 0,
    )
    yield Step("and the statement takes its whole part", isinstance(statement.rhs, floor))


BASIN = angles / 2 - ceiling(angles * asin(1 / eta) / (2 * sympy.pi) - Rational(1, 2))


@claim(
    Eq(count, BASIN),
    source=_UNIT_ROWS,
    assumes={r"$\eta > 1$": _exists, "$K$ is even": lambda c: c.start_angles % 2 == 0},
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
    r"""Two tokens, unit rows: which starts never collapse.

    Two causal tokens of width two with equal weights, rows rescaled to unit norm,
    $W_V = [[1, 0], [\eta, 1]]$ on columns, $x_1 = (0, 1)$: of $K$ equally spaced directions
    ($i + 1/2$) $2 \pi/K$ of $x_2$, $K$ even, exactly those between the angles $\arcsin(1/\eta)$ and
    $\pi$ from $x_1$ stay apart for ever, $K/2 - \lceil K \arcsin(1/\eta)/(2 \pi) - 1/2 \rceil$ of
    them.

    77, 83 and 89 of 200 directions at $\eta = 3/2$, 2, 3; the share tends to
    $1/2 - \arcsin(1/\eta)/(2 \pi)$ as $K$ grows. A start counts once it is within $10^{-6}$ of an
    attracting point after 90 layers; that it stays there is prose.
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
