"""Levine's fit ln d = a + b L of the width from which depth L pays at equal size. Statements take
its constants from `advisor.laws`, measurements from the copies typed here: neither can drift."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import flint
from flint import arb
from sympy import Expr, LambertW, Rational, Symbol, exp, floor, simplify, symbols
from sympy.core.relational import Relational

from depthlaw.advisor import laws
from depthlaw.advisor.rule_scores import projection_rows

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq, Lt
from ..claims.symbols import depth, parameters, quantity, rounding_gap
from ..exact.enclosure import from_fraction
from .inversion import inversion_steps, nine_decimals, root

transition_depth = quantity(
    "transition_depth",
    r"L_{tr}",
    r"depth whose transition size in Levine's fit is $N_{\mathrm{par}}$",
    "positive real",
)
transition_variance = quantity(
    "transition_variance",
    r"v_{tr}",
    "squared relative standard error of the transition size in Levine's fit",
    "positive real",
)
projected_depth = quantity(
    "projected_depth",
    r"L_{opt}",
    "projected optimal depth of a trained model, to the nearest integer",
)

A, B = Fraction("5.039"), Fraction("5.55e-2")
VAR_A, VAR_B, COV = Fraction("9.4e-4"), Fraction("1.74e-6"), Fraction("-3.74e-5")

_a, _b, _var_a, _var_b, _cov = (
    Rational(repr(constant))
    for constant in (laws.FIT_A, laws.FIT_B, laws.FIT_VAR_A, laws.FIT_VAR_B, laws.FIT_COV)
)
_half = Rational(1, 2)
_README = "math/README.md, after levine2020"
levine_2020 = partial(Source, "levine2020", version="arXiv:2006.12467v3")


def _fitted(a: Expr, b: Expr, budget: Expr = parameters) -> Expr:
    return LambertW(b * budget / (6 * exp(2 * a))) / (2 * b)


@claim(
    Eq(transition_depth, nine_decimals(_fitted(_a, _b))),
    source=Source("bigscience", f"{_README}; the inversion is derived here"),
    cases={
        "quick": Case.grid(parameters=(10**6, 10**8, 1_300_000_000, 7 * 10**9, 175 * 10**9)),
        "theory": Case.grid(parameters=(10**3, 10**10, 10**12, 10**15)),
    },
    control=Control(
        Case(parameters=10**8),
        "a factor 2 lost in $W$'s argument",
        statement=Eq(transition_depth, nine_decimals(_fitted(_a, _b, parameters / 2))),
    ),
    weight="measurement",
    supports="depth_choice/gpt3_projection",
)
def levine_fit_depth(case: Case) -> Exact:
    r"""Lambert's function solves Levine's fit for a budget.

    For every budget $N$ the depth $L$ with $N = 12 L \exp(2 a + 2 b L)$ is
    $W(b N/(6 e^{2 a}))/(2 b)$, $a = 5.039$, $b = 0.0555$; stated to nine decimals, rounded down.

    An algebraic fact about the fit, which extrapolates beyond 48 layers or about $6 \cdot 10^8$
    parameters: in it the width from which a net of depth $L$ stops losing to shallower ones of
    equal size is $\exp(a + b L)$, in the other published form $L = (\ln d - a)/b$. Nets of 6 to 48
    layers are behind it. By its slope it asks for 18.0 more layers when the width grows by a factor
    $e$, and for 19.8 by a factor 3.
    """

    def size(x: arb) -> arb:
        width = (from_fraction(A) + from_fraction(B) * x).exp()
        return 12 * x * width * width

    return Exact(root(size, case.parameters))


@levine_fit_depth.argument(
    r"machine: the closed form solves $12 L \exp(2 a + 2 b L) = N$, which grows with $L$; the "
    "constants are those published"
)
def _(statement: Relational) -> Iterator[Step]:
    """The closed form solves 12 L e^(2 a + 2 b L) = N."""
    L = Symbol("L", positive=True)
    yield from inversion_steps(statement, 12 * L * exp(2 * (Rational(A) + Rational(B) * L)), L)


def _through_covariance(da: Expr, db: Expr) -> Expr:
    return Rational(VAR_A) * da**2 + Rational(VAR_B) * db**2 + 2 * Rational(COV) * da * db


@claim(
    Eq(transition_variance, 4 * (_var_a + depth**2 * _var_b + 2 * depth * _cov)),
    source=levine_2020("the fit of the transition sizes"),
    wording="recalled",
    cases={"quick": Case.grid(depth=(1, 6, 12, 24, 48)), "theory": Case.grid(depth=(80, 118))},
    control=Control(
        Case(depth=24),
        "the covariance counted once",
        statement=Eq(transition_variance, 4 * (_var_a + depth**2 * _var_b + depth * _cov)),
    ),
    weight="measurement",
    supports="depth_choice/gpt3_projection",
)
def levine_fit_error(case: Case) -> Exact:
    r"""The published error of the transition size is right to first order.

    For every depth $L$ the squared relative error of $N = 12 L \exp(2 a + 2 b L)$ is, to first
    order, $4 (\mathrm{var}_a + L^2 \mathrm{var}_b + 2 L \mathrm{cov})$; its root is the published
    $2$ sqrt(...).

    as recalled; check against the paper. The variances too are recalled; their roots agree with the
    recalled errors 0.030 and $1.3 \cdot 10^{-3}$.
    """
    a, b = symbols("a b", real=True)
    size = 12 * case.depth * exp(2 * a) * exp(2 * b * case.depth)
    value = simplify(_through_covariance(size.diff(a), size.diff(b)) / size**2)
    return Exact(Fraction(int(value.p), int(value.q)))


@levine_fit_error.argument(
    r"machine: gradient of $\ln N$ through the covariance, for every $L$; recalled: the three "
    "entries of the covariance"
)
def _(statement: Relational) -> Iterator[Step]:
    """The squared relative error is the gradient of ln N through a positive definite covariance."""
    a, b = symbols("a b", real=True)
    size = 12 * depth * exp(2 * a + 2 * b * depth)
    yield Step("the covariance matrix is positive definite", VAR_A > 0 and VAR_A * VAR_B > COV**2)
    da, db = (simplify(size.diff(s) / size) for s in (a, b))
    yield Step(
        "the statement is the gradient of ln N through the covariance",
        simplify(_through_covariance(da, db) - statement.rhs) == 0,
    )


# Every row of Levine's table of projected shapes, as recalled, and the depth on the authors' page.
PROJECTIONS = projection_rows()
_ROWS = [
    Case(model=r["model"], stated_in=r["stated_in"], parameters=int(r["parameters"]))
    for r in PROJECTIONS
]
_STATED_WIDTH = {r["model"]: int(r["projected_width"]) for r in PROJECTIONS if r["projected_width"]}
_SHAPES = [
    Case(**row.fields(), projected_depth=int(r["projected_depth"]), width=_STATED_WIDTH[row.model])
    for row, r in zip(_ROWS, PROJECTIONS, strict=True)
]


@claim(
    Eq(projected_depth, floor(_fitted(_a, _b) + _half)),
    source=levine_2020("Table 1, all nine rows; and the authors' page"),
    wording="recalled",
    kind="empirical fit",
    known="FAILS",
    cases={"quick": _ROWS},
    control=Control(
        next(row for row in _ROWS if row.model == "GPT-3 13B"),
        "$a = 5.1$",
        statement=Eq(projected_depth, floor(_fitted(Rational("5.1"), _b) + _half)),
    ),
    weight="measurement",
    cited=(
        "Bears on whether Levine's fit, as recalled, gives the depths that Table 1 projects "
        "for GPT-3."
    ),
)
def gpt3_projection(case: Case) -> Exact:
    """Projected depths of GPT-3's models and $10^{12}$ parameters solve Levine's fit.

    Every projected depth in Table 1, and the one that the authors' page gives for $10^{12}$
    parameters, is the solution of Levine's fit at $N = 12 L d^2$ of the trained shape (or at
    $10^{12}$), rounded to an integer.

    as recalled; check against the paper. Measured: the entries of the table. GPT-3 Large is given
    38 layers where the fit gives 37.4; the rounding of a and $b$ moves that by less than 0.04, and
    the fit's own standard error there is 0.35. For $10^{12}$ the table's 95 is the rounded 94.7,
    the page's 92 is not: the two contradict each other. The other eight rows agree; within one
    layer all but the 92 do.
    """
    return Exact(
        next(
            int(r["projected_depth"])
            for r in PROJECTIONS
            if (r["model"], r["stated_in"]) == (case.model, case.stated_in)
        )
    )


@claim(
    Lt(rounding_gap, 1),
    known="FAILS",
    cases={"quick": _SHAPES},
    source=levine_2020("Table 1, all nine rows; how it was computed is our reconstruction"),
    control=Control(_SHAPES[4], "an eighth of a unit", statement=Lt(rounding_gap, Rational(1, 8))),
    weight="arithmetic",
    supports="depth_choice/gpt3_projection",
)
def projected_widths(case: Case) -> Ball:
    r"""Projected widths spend the budget at the projected depth.

    In every row the projected width is $\sqrt{N/(12 L)}$ at the projected integer depth $L$, to
    less than one unit of its third digit, whether rounded or cut off; the depth of the authors'
    page is taken with the table's width.

    The entries are as recalled. In the row of $10^{12}$ parameters a depth of 95 would go with a
    width of 29,618; the recalled 30,100 goes with the 92 layers of the authors' page. As recalled,
    that row contradicts itself.
    """
    unit = 10 ** (len(str(case.width)) - 3)
    with flint.ctx.workprec(128):
        spent = from_fraction(Fraction(case.parameters, 12 * case.projected_depth)).sqrt()
        return Ball.of(abs(spent - case.width) / unit).widened()
