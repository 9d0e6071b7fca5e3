"""The softmax perturbation lemma: what small changes of the logits do to the attention matrix."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb, arb_mat
from sympy import IndexedBase, Piecewise, Rational, Symbol, diff, exp, simplify, symbols
from sympy.core.relational import Relational

from ..claims.counterexample_search import Search, SearchPoint
from ..claims.definition import Ball, Case, Control, Formal, Source, Step, claim
from ..claims.proof_steps import sum_step
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity
from ..exact.enclosure import enclose, from_fraction
from .residual_norms import V2
from .softmax_attention import largest, resolved, row_ranges, softmax_rows

# The largest range of a row of logit changes that the lemma allows: the root of e^x = 1 + 2x, cut.
LARGEST_RANGE = Fraction(1256, 1000)

softmax_deviation = quantity(
    "softmax_deviation",
    r"\varepsilon",
    "largest side $(P_{ij}/Q_{ij} - 1)/D_{ii}$ over entries, $P$ and $Q$ two attention matrices",
    "positive real",
)
side = quantity(
    "lemma_side", "s", "1 for the upper side of the lemma, -1 for the lower one", "integer"
)


def two_attentions(case: Case) -> tuple[arb_mat, arb_mat, list[arb]]:
    """P = softmax(A), Q = softmax(A - E) and the row ranges of E, whose largest is the case's.

    In `two tokens` nearly all attention is on the other token.
    """
    D = case.rational("range")
    if case.instance == "two tokens":
        E, base = [[D, Fraction(0)], [-D, Fraction(0)]], [[Fraction(0), Fraction(200)]] * 2
    else:
        rng, n = case.rng(0), case.tokens
        raw = [[int(v) for v in row] for row in rng.integers(-1000, 1001, (n, n))]
        widest = max(max(row) - min(row) for row in raw)
        E = [[v * D / widest for v in row] for row in raw]
        base = [[Fraction(int(v), 100) for v in row] for row in rng.normal(0, 300, (n, n)).round()]
    shift, start = (
        arb_mat([[from_fraction(v) for v in row] for row in rows]) for rows in (E, base)
    )
    return softmax_rows(start + shift), softmax_rows(start), row_ranges(shift)


def _ratio(case: Case, side: int) -> Ball:
    """The maximum over entries of side * (P_ij / Q_ij - 1) / D_ii."""

    def ratio() -> arb:
        P, Q, D = two_attentions(case)
        return largest(
            [
                side * (P[i, j] / Q[i, j] - 1) / D[i]
                for i in range(P.nrows())
                for j in range(P.ncols())
            ]
        )

    return Ball.of(resolved(ratio))


def _searches() -> tuple[Search, ...]:
    return tuple(
        _search(Case(instance="searched", lemma_side=side, range=r, tokens=n), side)
        for side in (1, -1)
        for n in (2, 3, 4)
        for r in ("1/1000", "1", "157/125")
    )


def _search(case: Case, side: int) -> Search:
    """A row of logits and a row of perturbations whose range is the one the case names."""
    n, D = case.tokens, case.rational("range")

    def objective(vector: np.ndarray) -> float:
        E, base = vector[:n], vector[n:] * 10
        width = E.max() - E.min()
        if width == 0:
            return float("nan")
        E = E * (float(D) / width)
        q = np.exp(base - base.max())
        q /= q.sum()
        mean = float(q @ np.expm1(E))
        return float(np.max(side * (np.expm1(E) - mean) / (1 + mean))) / float(D)

    def measured(point: SearchPoint) -> Ball:
        E, base = point[:n], point[n:]
        scale = D / (max(E) - min(E))

        def once() -> arb:
            shift = [from_fraction(v * scale) for v in E]
            weights = [from_fraction(10 * v).exp() for v in base]
            mean = sum(w * s.exp() for w, s in zip(weights, shift, strict=True)) / sum(weights)
            return largest([side * (s.exp() / mean - 1) / from_fraction(D) for s in shift])

        return Ball.of(resolved(once))

    return Search(case, 2 * n, objective, measured)


def small_range(case: Case) -> bool:
    """A fact of the construction: `two_attentions` scales E to the range of the case."""
    return 0 < case.rational("range") <= LARGEST_RANGE


_both_sides = partial(Case.grid, lemma_side=(1, -1))


@claim(
    Le(softmax_deviation, Piecewise((2, Eq(side, 1)), (1, True))),
    source=Source(
        "dong2021",
        "softmax perturbation lemma with its constant 1.256, which the first author printed on "
        "2 July 2023: github.com/twistedcubic/attention-rank-collapse, issue 1",
        V2,
    ),
    wording="reported",
    cases={
        "quick": (
            *_both_sides(instance="two tokens", range=("157/125", "1/1000")),
            *_both_sides(instance="random", range=("1/2", "157/125"), tokens=(3, 8)),
            # The lower side needs no small range.
            Case(instance="two tokens", lemma_side=-1, range="4"),
        ),
        "theory": _both_sides(instance="random", range=("1", "157/125"), tokens=(16, 32)),
    },
    assumes={
        r"$0 < D_{ii}$, and on the upper side $D_{ii} \leq 1.256$": lambda case: (
            small_range(case) or (case.lemma_side < 0 < case.rational("range"))
        )
    },
    search=_searches,
    control=Control(
        Case(instance="two tokens", lemma_side=1, range="13/10"),
        "$D = 1.3$ is beyond the root 1.2564 of $e^x = 1 + 2 x$",
    ),
    supports="rank_collapse/one_layer_cubic",
    formal=Formal(
        "Softmax.softmax_perturbation",
        "Softmax.softmax_perturbation_value ({lemma_side})",
        "Nothing: the theorem is about one row, and the lemma about each row.",
    ),
)
def softmax_perturbation(case: Case) -> Ball:
    r"""Logit changes move softmax between $1-D$ and $1+2D$.

    For all logits $A$ and $E$ with $D_{ii} = \max_j E_{ij} - \min_j E_{ij}$, entrywise
    $\mathrm{softmax}(A) \geq (I - D) \mathrm{softmax}(A - E)$, and
    $\mathrm{softmax}(A) \leq (I + 2 D) \mathrm{softmax}(A - E)$ where $D_{ii} \leq 1.256$ in every
    row.

    The first author announced this lemma with its condition, there $D < 1.256$, before version 2:
    version 1 had none, and needs one. The lower side holds without it. 1.256 is the root
    1.25643120863 of $e^x = 1 + 2 x$, cut after three decimals.
    """
    return _ratio(case, case.lemma_side)


@softmax_perturbation.argument(
    "Argument. Prose: P/Q is $e^E$ over its mean under $Q$, so within $e^{-D}$ and $e^D$; gaps "
    "that are concave or convex, and at least 0 where it matters."
)
def _(statement: Relational) -> Iterator[Step]:
    """1 - D <= e^-D <= P_ij / Q_ij <= e^D <= 1 + 2D."""
    for sign in (1, -1):
        yield from softmax_steps(statement.rhs.subs(side, sign), sign)


def softmax_steps(k: Any, side: int) -> Iterator[Step]:
    """P_j / Q_j lies between e^-D >= 1 - k D (side -1) and e^D <= 1 + k D (side 1).

    With s = sum_m e^{A_m} and s' = sum_m e^{A_m - E_m}: Q_m e^{E_m} = e^{A_m}/s' term by term, so
    the mean of e^E under Q is s/s'.
    """
    A, E = (IndexedBase(name, real=True) for name in "AE")
    j, m = symbols("j m", integer=True)
    s, s_less = symbols("s s_less", positive=True)
    term_of_mean = exp(A[m] - E[m]) / s_less * exp(E[m])
    ratio = (exp(A[j]) / s) / (exp(A[j] - E[j]) / s_less)
    yield Step(
        "P_j / Q_j = e^(E_j) / mean of e^E under Q, for any number of tokens: both sides "
        "agree term by term",
        simplify(term_of_mean - exp(A[m]) / s_less) == 0
        and simplify(ratio - exp(E[j]) / (s / s_less)) == 0,
    )
    yield sum_step("the mean of e^E under Q is at least the smallest e^E", -1)
    yield sum_step("and at most the largest")
    if side > 0:
        yield from _exponential_below_line(k, LARGEST_RANGE)
        return
    x = Symbol("x", nonnegative=True)
    gap = exp(-x) - 1 + k * x
    flat = gap.subs(x, 0) == 0 and diff(gap, x).subs(x, 0) >= 0
    yield Step(
        f"1 - {k} x <= e^-x for x >= 0: the gap is convex, zero and not decreasing at 0",
        bool(diff(gap, x, 2).is_positive and flat),
    )


def _exponential_below_line(k: Any, end: Fraction) -> Iterator[Step]:
    """e^x <= 1 + kx on [0, end]: the gap is concave, zero at 0, and positive at the end."""
    x = Symbol("x", real=True)
    gap = 1 + k * x - exp(x)
    yield Step(
        f"1 + {k} x - e^x is concave and zero at 0",
        bool((-diff(gap, x, 2)).is_positive and gap.subs(x, 0) == 0),
    )
    at_end = enclose(gap.subs(x, Rational(end.numerator, end.denominator)))
    yield Step(
        f"1 + {k} x - e^x > 0 at {float(end)}, so by concavity it is >= 0 on the whole of "
        f"[0, {float(end)}]",
        bool(at_end > 0),
    )
