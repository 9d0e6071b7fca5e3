"""Two lemmas on counting logic, searched for what they promise.

Formulas may contain numerical predicates, which read the numbers of the letters in the word and the
position but no letter. A predicate or formula is constant on an interval of pairs (number of a,
number of b) if at all positions up to which the letters so counted lie in the interval, over all
words with the given numbers of letters, it has one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from sympy.utilities.iterables import multiset_permutations, subsets

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Ge, Le
from ..claims.symbols import quantity
from ..formal_languages.counting_logic import KNEE

promised = quantity(
    "promised",
    r"\#_{found}",
    "objects of the kind that a lemma promises, found among all of a size",
    "nonnegative integer",
)

Point = tuple[int, int]


def prefixes(a: int, b: int) -> Iterator[tuple[str, int, Point]]:
    """Every word with so many a and b, each of its positions, and the letters counted up to there.

    >>> list(prefixes(1, 0))
    [('a', 1, (1, 0))]
    """
    for letters in multiset_permutations("a" * a + "b" * b):
        word = "".join(letters)
        for i in range(1, len(word) + 1):
            yield word, i, (word[:i].count("a"), word[:i].count("b"))


def intervals(low: Point, high: Point) -> Iterator[tuple[Point, Point]]:
    """All intervals in one interval that have two points or more in either direction."""
    sides = [
        [(x, y) for x in range(low[k], high[k] + 1) for y in range(x + 1, high[k] + 1)]
        for k in (0, 1)
    ]
    for (left, right), (bottom, top) in product(*sides):
        yield (left, bottom), (right, top)


def _cropped(size: int, predicate: Callable[[int], bool]) -> int:
    """Intervals in [(1, 1), (size, size)] on which it is constant, for either letter, whether an
    a that satisfies the predicate occurs at or before a position."""
    positions = [
        (word[i - 1], any(word[j - 1] == "a" and predicate(j) for j in range(1, i + 1)), point)
        for word, i, point in prefixes(size, size)
    ]

    def constant(low: Point, high: Point) -> bool:
        seen = {
            (letter, value)
            for letter, value, (x, y) in positions
            if low[0] <= x <= high[0] and low[1] <= y <= high[1]
        }
        return len(seen) == len({letter for letter, _ in seen})

    return sum(constant(*each) for each in intervals((1, 1), (size, size)))


def _affix_checks() -> int:
    """Sets of kinds of positions that occur differently often in abab and in aabb.

    A kind is what formulas without counts read: the letter and the values of predicates that are
    constant on the middle [(1, 1), (2, 2)] of the words that begin with ab.
    """
    free = set(range(1, 5)) - {i for _, i, (x, y) in prefixes(2, 2) if x >= 1 and y >= 1}
    kinds = [
        [(letter, i if i in free else 0) for i, letter in enumerate(word, start=1)]
        for word in ("abab", "aabb")
    ]
    listed = sorted({*kinds[0], *kinds[1]})
    return sum(
        sum(k in chosen for k in kinds[0]) != sum(k in chosen for k in kinds[1])
        for chosen in subsets(listed)
    )


@claim(
    Ge(promised, 1),
    source=Source("yang2025knee", "Cropping and Reduction Lemmas, section 4.4", f"{KNEE}v3"),
    wording="reported",
    kind="lower",
    expected="FAILS",
    weight="step",
    cases={
        "quick": (*Case.grid(lemma="Cropping", size=(2, 3, 4)), Case(lemma="Reduction", size=2)),
        "theory": (Case(lemma="Cropping", size=5),),
    },
    control=Control(
        Case(lemma="Cropping", size=3),
        "for a formula without numerical predicate the search does find intervals",
        statement=Le(promised, 0),
        measured=lambda case: Exact(_cropped(case.size, lambda position: True)),
    ),
    supports="least_depth/parity_two_layers",
)
def cropping_and_reduction(case: Case) -> Exact:
    r"""The Cropping and Reduction Lemmas of the C-RASP hierarchy hold as reported.

    Cropping: if the numerical predicates of a formula with counts to the left are constant on a
    family of intervals, of which there are ones of every size, then so are its minimal subformulas
    of depth 1 on some such family inside, here intervals within $[(1, 1), (s, s)]$. Reduction, for
    depth 2: if moreover those subformulas are constant on the middle of an affix restriction, some
    formula of depth 1 whose predicates are constant there defines the restricted language.

    Both fail; both theorems that rest on them are proved otherwise in Lean
    (fxeqxmulfx/transformer), from which the lemmas were read, not from the paper. The second rests
    on the middle containing the last position of the affix. Cropping: the formula "no a at the
    first position" is of depth 1, and its predicate "the first position" is false wherever an a and
    a $b$ were seen, so constant on the intervals $[(1, 1), n]$; but every interval inside, two
    points wide in both directions, holds a position that follows a first letter a and one with the
    same letter that follows a first letter $b$. All intervals are searched, for words of $s$
    letters a and $s$ letters $b$. A count reads the positions before the interval too. Reduction:
    the words that begin with ab, and a formula that is always true. The middle begins where the
    affix ends, so predicates have one value at positions 2, 3 and 4 of abab and of aabb; all sets
    of letters and values are counted and occur equally often in both, and the last letters agree.
    """
    if case.lemma == "Reduction":
        return Exact(_affix_checks())
    return Exact(_cropped(case.size, lambda position: position == 1))
