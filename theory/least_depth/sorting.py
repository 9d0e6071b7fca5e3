"""Two layers sort: the k-th smallest of n numbers has the largest score, by half of a distance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from sympy import Rational, symbols
from sympy.core.relational import Relational

from ..atlas.tasks import sorting
from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import equal, remark
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.classes import in_class
from ..nets.right import right_on
from .everyday_nets import sorted_by_slopes

sorting_margin = quantity(
    "sorting_margin",
    "m",
    "least advantage in score of the k-th smallest number over another one, in units of their "
    "distance, over all words and places k; -1 where a net is wrong on a word or of another class",
    "real",
)


def score(x: int, numbers: tuple[int, ...], slope: Fraction) -> Fraction:
    """What layer 2 gives to a number x: slope x - F(x), F the sum of max(0, x - x_j).

    >>> [score(x, (1, 2, 5), Fraction(3, 2)) for x in (1, 2, 5)]
    [Fraction(3, 2), Fraction(2, 1), Fraction(1, 2)]
    """
    return slope * x - sum(max(0, x - other) for other in numbers)


def _margin(case: Case, lowered: Fraction = Fraction(1, 2)) -> Exact:
    """The least advantage for the slope k - lowered; -1 where one of both nets is wrong."""
    n, values = case.numbers, range(1, case.values + 1)
    for attention in ("softmax", "average"):
        net = sorted_by_slopes(n, values, attention)
        if in_class(net, "softmax-numbers") or net.depth != 2:
            return Exact(-1)
        if not right_on(net, sorting(n, case.values)):
            return Exact(-1)
    found = []
    for word in product(values, repeat=n):
        for k, right in enumerate(sorted(word), 1):
            best = score(right, word, k - lowered)
            found += [
                (best - score(x, word, k - lowered)) / abs(x - right) for x in {*word} - {right}
            ]
    return Exact(min(found))


@claim(
    Eq(sorting_margin, Rational(1, 2)),
    source=Source("depthlaw", "the scores of a net of two layers, against a public sentence"),
    kind="construction",
    cases={
        "quick": (*Case.grid(numbers=(2, 3), values=(3, 4)), Case(numbers=2, values=6)),
        "theory": (Case(numbers=4, values=4), Case(numbers=4, values=5)),
        "full": (Case(numbers=5, values=5),),
    },
    assumes={
        "two numbers or more, and no more of them than values": lambda case: (
            2 <= case.numbers <= case.values
        )
    },
    control=Control(
        Case(numbers=3, values=4),
        "of the scores alone: the slope k - 1 in place of k - 1/2, at which two numbers tie",
        measured=lambda case: _margin(case, Fraction(1)),
    ),
    cited="Decides whether a public sentence stands: that N layers cannot sort N + 1 elements.",
)
def sorting_two_layers(case: Case) -> Exact:
    r"""For every $n$ a net of two layers sorts $n$ numbers.

    For every $n \geq 2$ the k-th smallest $y$ of $n$ numbers has the largest of the scores $(k -
    1/2) x - F(x)$ with $F(x) = \sum_j \max(0, x - x_j)$, and exceeds that of another number $x$ by
    at least $|x - y|/2$, with equality for some words. So two layers of one head sort: the first
    reads all numbers by a uniform head, and $n$ ReLUs add up $F$; the second attends by the score.
    Each run answers one place $k$; a token that asks never has a larger score, so that all $k$ may
    ask in one pass.

    A public page (usesonicai.com/claims/d79d89a2-23c5-46b1-8924-1c0e8fb55ed4) claims: "A
    transformer model with N layers cannot perform an algorithm that requires more than N sequential
    steps, such as sorting a list of N+1 elements." Sorting is no such algorithm for $N \geq 2$. The
    page names no size, and width and ReLUs of these nets are in proportion to $n$, not to how many
    values there are. That some algorithms need more steps than there are layers is not disputed.
    That two layers sort is not new (Weiss and others 2021, in RASP, as recalled); the score is
    ours. With the average over maxima the net is exact for all real numbers, equal ones among them;
    with softmax, to a base of at most $16 n^2$, for whole numbers, after rounding. Measured on all
    words, by both nets. That one layer is too few in this class is not shown: where the width may
    grow with the number of values, one layer sorts (`sorted_by_counts`).
    """
    return _margin(case)


@sorting_two_layers.argument(
    "the slope of F at t is the number of x_j below t; at most k - 1 numbers are below the k-th "
    "smallest, y, and at least k are at most y; F is the integral of its slope"
)
def _half_a_distance(statement: Relational) -> Iterator[Step]:
    k, x, y = symbols("k x y", positive=True)
    half = Rational(1, 2)
    yield remark("below y the slope of F is at most k - 1, so F(y) - F(x) <= (k - 1)(y - x)")
    yield equal(
        "so the score rises from x to y by at least half of the distance",
        (k - half) * (y - x) - (k - 1) * (y - x),
        statement.rhs * (y - x),
    )
    yield remark("above y the slope of F is at least k, so F(x) - F(y) >= k (x - y)")
    yield equal(
        "so the score falls from y to x by at least half of the distance",
        k * (x - y) - (k - half) * (x - y),
        statement.rhs * (x - y),
    )
    yield remark("of two neighbours among different numbers the slope between is k - 1: equality")
