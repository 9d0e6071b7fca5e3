"""The residual after L layers: at most a 3^L-th power, and what that needs.

The networks are drawn with the norms that a case names and run forward in ball arithmetic. One that
breaks an assumption, such as on the ranges of the logits in a later layer, is out of scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache

from flint import arb, arb_mat
from sympy import Expr, Rational, expand_log, log, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Formal, Outside, Source, Step, claim
from ..claims.proof_steps import at_least
from ..claims.relations import Eq, Le
from ..claims.symbols import beta, depth, heads, quantity, residual
from ..exact.enclosure import from_fraction
from .cubic_law import SIZES, qk_width
from .cubic_step import chain_steps
from .residual_norms import V2
from .softmax_attention import (
    SoftmaxHead,
    attention,
    ball_composite_norm,
    ball_norms,
    centred,
    instance,
    largest,
    lies_above,
    resolved,
    row_ranges,
)
from .softmax_perturbation import LARGEST_RANGE

gamma = quantity(
    "gamma",
    r"\gamma",
    r"bound on $\sqrt{\|D 1\|_1 \|D 1\|_\infty}/(2 \|E\|_1)$ over all heads and layers",
    "positive real",
)
residual_end = quantity(
    "residual_end",
    "r_L",
    "composite norm of the tokens minus their centre after $L$ layers",
    "positive real",
)
residual_scaled = quantity(
    "residual_scaled",
    r"\hat r_L",
    "$r_L$ divided by the product over layers $l$ of $k_l^{3^{L-l}}$, $k_l$ the head sum of "
    "layer $l$",
    "positive real",
)
lipschitz = quantity(
    "lipschitz", r"\lambda", "Lipschitz constant of the MLP in the composite norm", "positive real"
)
cubic_coefficient = quantity(
    "cubic_coefficient",
    "c",
    "coefficient of the cubic recurrence r_(l+1) = c r_l^3",
    "positive real",
)

SMALL_RANGES = "logit ranges at most 1.256 at every layer and head"
GAMMA_BOUNDS = "gamma bounds the computed gamma at every layer and head"


# --- networks ---


def _forward(case: Case) -> Iterator[tuple[arb_mat, list[SoftmaxHead]]]:
    """The residual before each layer with that layer's heads, then the last one with no heads."""
    tokens, layers = instance(case)
    for layer in layers:
        yield centred(tokens), layer
        tokens = attention(tokens, layer)
        if "lipschitz" in case:
            # lambda (x + sin x) / 2 of every entry: odd, and lambda-Lipschitz in every norm of
            # absolute values, with nothing to spare at 0.
            constant = from_fraction(case.rational("lipschitz"))
            tokens = arb_mat(
                [[constant * (x + x.sin()) / 2 for x in row] for row in tokens.tolist()]
            )
    yield centred(tokens), []


@cache
def largest_over_layers(case: Case, what: str) -> Ball:
    """The largest "gamma" or logit "range" over all layers and heads of the case's network."""

    def measure(residual: arb_mat, head: SoftmaxHead) -> arb:
        if what == "range":
            return largest(row_ranges(head.perturbation(residual)))
        one, infinity = head.gammas(residual)
        return (one * infinity).sqrt()

    return Ball.of(
        resolved(
            lambda: largest(
                [measure(residual, head) for residual, layer in _forward(case) for head in layer]
            )
        )
    )


def _outside_ranges(case: Case) -> Outside | None:
    beyond = lies_above(largest_over_layers(case, "range"), LARGEST_RANGE)
    return Outside(SMALL_RANGES) if beyond else None


def _outside_gamma(case: Case) -> Outside | None:
    beyond = lies_above(largest_over_layers(case, "gamma"), case.rational("gamma"))
    return Outside(GAMMA_BOUNDS) if beyond else None


def _last_residual(case: Case) -> Ball:
    return Ball.of(resolved(lambda: [ball_composite_norm(R) for R, _ in _forward(case)][-1]))


def _cases(
    depths: Iterable[int],
    sizes: Iterable[tuple[str, str]] = SIZES,
    shapes: Iterable[tuple[int, int, int, str]] = (
        *((2, 1, 1, "5/7"), (4, 3, 2, "2"), (6, 2, 1, "5/2")),
    ),
) -> tuple[Case, ...]:
    """Of two tokens, for which the bounds are tightest, and two larger shapes, with room in
    gamma."""
    return tuple(
        Case(tokens=n, width=d, heads=h, gamma=g, residual=r, beta=b, qk_width=1, depth=k)
        for n, d, h, g in shapes
        for r, b in sizes
        for k in depths
    )


_GRID = {"quick": _cases((1, 2, 3)), "theory": _cases((4, 5), SIZES[:2])}
_FIRST = _GRID["quick"][0]


def _power(left: Expr, base: Expr | int) -> Relational:
    """log of the left side is at most that of base^((3^L - 1)/2) r_0^(3^L)."""
    return Le(log(left), (3**depth - 1) / 2 * log(base) + 3**depth * log(residual))


# --- bounds ---


@claim(
    _power(residual_scaled, 4),
    source=Source("dong2021", "Theorem 2.3, repaired", V2),
    cases=_GRID,
    control=Control(_FIRST, "0.4 in place of 4", _power(residual_scaled, Rational(2, 5))),
    cited="Decides which constant a collapse bound for several layers and heads may quote.",
    formal=Formal(
        "Softmax.layers_product_checked",
        "Softmax.layers_product_value {residual.numerator} {residual.denominator} {depth}",
        "That best centres exist, and that key and value biases change neither side; the claim "
        "divides by the head sums, which the theorem multiplies with.",
        logarithm=True,
    ),
)
def layers_product(case: Case) -> Ball | Outside:
    r"""For small logits the residual after $L$ layers is at most $r_0^{3^L}$ times a product.

    For every network of $L$ attention layers and every input whose logits $E$ range over at most
    1.256 in each layer, the residual is at most $\prod_l (4 k_l)^{3^{L-l}}$ times the $3^L$-th
    power of the input's, with $k_l = \sqrt{\sum_h g_h a_h \sum_h g'_h b_h}/\sqrt{d_{qk}}$.

    $a_h = \|W_{QK}\|_1 \|W_V\|_1$, $b_h = \|W_{QK}\|_1 \|W_V\|_\infty$,
    $g_h = \|D 1\|_1/(2 \|E\|_1)$, $g'_h = \|D 1\|_\infty/(2 \|E\|_1)$. The composite norm has no
    triangle inequality, so heads are added inside its two factors. The logit ranges are computed on
    the network that is drawn; one beyond 1.256 is out of scope. The residual is the minimum over
    centres; inputs are chosen so that the token mean attains it.
    """

    def scaled() -> arb:
        *before, (last, _) = _forward(case)
        product = from_fraction(1)
        for R, layer in before:
            columns, rows = from_fraction(0), from_fraction(0)
            for head in layer:
                (one, infinity), qk = head.gammas(R), ball_norms(head.qk)[0]
                a, b = ball_norms(head.value)
                columns, rows = columns + one * qk * a, rows + infinity * qk * b
            product = product**3 * (columns * rows / case.get("qk_width", 1)).sqrt()
        return ball_composite_norm(last) / product

    return _outside_ranges(case) or Ball.of(resolved(scaled))


@layers_product.argument(
    r"Argument: induction on $L$. Prose: cubic_steps, residual, per head; $\|.\|_1$ and "
    r"$\|.\|_\infty$ each add over heads before the root of their product."
)
def _(statement: Relational) -> Iterator[Step]:
    """One layer by the chain, with |.|_1 and |.|_inf added over heads; then log k + 3 F(L)."""
    yield from chain_steps(2)
    bound = statement.rhs
    base = expand_log(simplify(bound.subs(depth, 1) - 3 * log(residual)), force=True)
    yield Step(
        "base: one layer is bounded by 4 k r^3, and the stated bound is not below that",
        at_least(base, log(4)),
    )
    step = simplify(expand_log(bound.subs(depth, depth + 1) - 3 * bound - base, force=True))
    yield Step(
        "step: the bound at L + 1 is at least the constant plus three times the bound at L",
        bool(step.is_nonnegative),
    )


def _uniform(constant: Expr | int) -> Relational:
    return _power(residual_end, constant * gamma * beta * heads * lipschitz / sqrt(qk_width))


def _without_mlp(cases: Iterable[Case]) -> tuple[Case, ...]:
    return tuple(Case(**case.fields(), lipschitz="1", mlp=False) for case in cases)


_MLP = tuple(
    Case(**case.fields(), lipschitz=lam)
    for n, d, h, g in ((2, 1, 1, "5/7"), (6, 2, 2, "5/2"))
    for size, lam in zip(SIZES, ("9", "1/3", "3/2"), strict=True)
    for case in _cases((1, 2, 3), (size,), ((n, d, h, g),))
)


@claim(
    _uniform(4),
    source=Source("dong2021", "Theorems 2.2 and 2.3, Corollary 3.2", V2),
    wording="reported",
    cases={
        "quick": (*_without_mlp(_GRID["quick"]), *_MLP),
        "theory": _without_mlp(_GRID["theory"]),
    },
    control=Control(_without_mlp([_FIRST])[0], "0.4 in place of 4", _uniform(Rational(2, 5))),
    supports="rank_collapse/layers_product",
)
def layers_uniform(case: Case) -> Ball | Outside:
    r"""Residual after $L$ layers is at most a $3^L$-th power.

    For every network of $L$ layers, each attention with $H$ heads and
    $\|W_{QK}\|_1 \|W_V\|_{1, \infty} \leq \beta$, and then a map that is $\lambda$-Lipschitz in the
    composite norm, or none ($\lambda = 1$), and every input whose logits, less what all rows share,
    range over at most 1.256 in each layer and head, and whose computed $\gamma$ is at most $\gamma$
    there, the residual after $L$ layers is at most
    $(4 \gamma \beta H \lambda/\sqrt{d_{qk}})^{(3^L-1)/2}$ times the $3^L$-th power of the input's
    residual.

    The paper's proof (as reported) adds heads by a triangle inequality that the composite norm
    lacks; no counterexample is known, and with one head and no map it follows from layers_product.
    The smallness of the logits is needed by its lemma but missing from every restatement. Logit
    ranges and $\gamma$ are computed on the network that is drawn; one that exceeds 1.256 or the
    stated $\gamma$ is out of scope. The residual is the minimum over centres; inputs are chosen so
    that the token mean attains it. The map, an MLP in the corollary, is $\lambda (x + \sin x)/2$ on
    every entry.
    """
    if not case.get("mlp", True):
        fields = case.fields()
        case = Case(**{name: fields[name] for name in fields if name not in ("lipschitz", "mlp")})
    return _outside_ranges(case) or _outside_gamma(case) or _last_residual(case)


# --- when it collapses ---


_LARGE = Case.grid(
    tokens=2,
    width=1,
    heads=1,
    gamma="5/7",
    residual=("1", "100"),
    beta="1/10",
    value_norm="2000",
    qk_width=1,
    depth=(1, 2),
)


@claim(
    Le(residual_end, residual),
    source=Source("dong2021", "remark after Theorem 2.3", V2),
    wording="universal",
    known="FAILS",
    cases={"quick": _LARGE},
    assumes={
        r"$4 \gamma \beta H < \sqrt{d_{qk}}$": lambda c: bool(
            (4 * c.rational("gamma") * c.rational("beta") * c.heads) ** 2 < c.qk_width
        )
    },
    control=Control(_LARGE[0], "forty times smaller", Le(residual_end, residual / 40)),
    cited="Decides whether weights alone tell if a net collapses, whatever the size of its input.",
)
def convergence_as_reported(case: Case) -> Ball | Outside:
    r"""$4 \gamma \beta H < \sqrt{d_{qk}}$ forces collapse.

    Whenever $4 \gamma \beta H < \sqrt{d_{qk}}$, the residual after $L$ layers is at most that of
    the input, for every input.

    The sentence, as reported: convergence is guaranteed "when $4 \gamma \beta H < \sqrt{d_{qk}}$".
    "For every input" is ours: from memory the paper speaks of inputs of small residual, and for
    $r_0 \leq 1$ nothing here contradicts it. Large inputs refute the stronger form, even with
    logits that range over 1/2 in the first layer: two tokens at +-70.7, $W_{QK} = 1/20000$,
    $W_V = 2000$; each layer of such weights separates them by $2000 \tanh(w \rho^2)$.
    Collapse needs $\sqrt{c} r_0 < 1$ with $c = 4 \gamma \beta H/\sqrt{d_{qk}}$, see
    collapse_condition.
    """
    return _outside_gamma(case) or _last_residual(case)


@claim(
    Eq(residual_end, cubic_coefficient ** ((3**depth - 1) / 2) * residual ** (3**depth)),
    source=Source("depthlaw", "theory/rank_collapse/__init__.py, recurrence"),
    cases={
        "quick": Case.grid(
            cubic_coefficient=("1/2", "3"), residual=("1/2", "3/2"), depth=(1, 2, 3)
        ),
        "theory": Case.grid(cubic_coefficient="5/7", residual="7/6", depth=(4, 5)),
    },
    control=Control(
        Case(cubic_coefficient="3", residual="1/2", depth=2),
        "base 2 in the exponents",
        Eq(residual_end, cubic_coefficient ** ((2**depth - 1) / 2) * residual ** (2**depth)),
    ),
    supports="rank_collapse/convergence_as_reported",
    formal=Formal(
        "Collapse.collapse_condition_checked",
        "Collapse.collapse_value {cubic_coefficient.numerator} {cubic_coefficient.denominator} "
        "{residual.numerator} {residual.denominator} {depth}",
        r"Nothing, over every Archimedean ordered field: $\sqrt{c} r_0 < 1$ is said as "
        "$c r_0^2 < 1$, and the closed form with a root is collapse_root.",
    ),
)
def collapse_condition(case: Case) -> Exact:
    r"""The cubic recurrence collapses exactly below $r_0 = c^{-1/2}$.

    For all $c$, $r_0 > 0$ and all $L$ the recurrence $r_{l+1} = c r_l^3$ gives
    $r_L = c^{-1/2} (\sqrt{c} r_0)^{3^L}$, which tends to 0 exactly when $\sqrt{c} r_0 < 1$.

    About the recurrence alone. Repairs the reported condition $c < 1$, which is enough when
    $r_0 \leq 1$ and not beyond.
    """
    r: Fraction = case.rational("residual")
    for _ in range(case.depth):
        r = case.rational("cubic_coefficient") * r**3
    return Exact(r)


@collapse_condition.argument(
    "Argument: induction on $L$ with both steps checked. Prose: $x^{3^L}$ tends to 0 for "
    "$0 < x < 1$ and for no other $x > 0$."
)
def _(statement: Relational) -> Iterator[Step]:
    """Induction on the number of layers, for every c and r_0."""
    L, c, r, stated = depth, cubic_coefficient, residual, statement.rhs

    def same(left: Expr, right: Expr) -> bool:
        return bool(simplify(expand_log(log(left) - log(right), force=True)) == 0)

    yield Step("base: at L = 0 the right side is r_0", same(stated.subs(L, 0), r))
    yield Step(
        "step: c times the cube of the right side at L is the right side at L + 1",
        same(c * stated**3, stated.subs(L, L + 1)),
    )
    yield Step(
        "the right side is c^(-1/2) (sqrt(c) r_0)^(3^L), so it tends to 0 exactly when "
        "sqrt(c) r_0 < 1",
        same(stated, (sqrt(c) * r) ** (3**L) / sqrt(c)),
    )
