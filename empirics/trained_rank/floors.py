"""Do trained nets respect the floor that their separation rank sets, and do they reach it?

Each cell of a grid is one input: with one token a side and as many rows and columns as there are
ids, the grid is the whole domain, and the relative error on it is that of the function. The floor
of students of rank at most r is the tail of the teacher's singular values beyond the r-th, known
before any training.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Integer
from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Ball, Case, Control, Exact, Sample, Source, claim
from depthlaw.theory.claims.relations import between
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.exact.singular_values import Tails, tails
from depthlaw.theory.separation_rank.error_floor import rank_bound
from depthlaw.theory.separation_rank.rank_symbols import Ge, Le, Lt

from ..trained_depth.experiment import FIT
from . import teachers
from .teachers import Teacher

if TYPE_CHECKING:
    from .students import StudentRecipe, Students

trained_error = quantity(
    "trained_error",
    r"\varepsilon",
    r"relative L2 error of a trained student on the grid, $\|F - G\|_F/\|F\|_F$",
    "nonnegative real",
)
error_floor = quantity(
    "error_floor",
    r"\varepsilon_r",
    "tail of the teacher's singular values beyond the student's largest rank, relative to "
    r"$\|F\|_F$",
    "nonnegative real",
)
error_ratio = quantity(
    "error_ratio",
    r"\varepsilon / \varepsilon_r",
    "error of a trained student divided by its floor",
    "nonnegative real",
)
factor = quantity("factor", "c", "factor between an error and its floor", "positive real")
trained_width = quantity(
    "trained_width",
    r"d_\varepsilon",
    "least of the tried widths at which a trained student's error is at most the level",
)
floor_width = quantity(
    "floor_width", "d_r", "least of the tried widths at which the floor is at most the level"
)

# --- the experiment -------------------------------------------------------------------------------

# Learning rates by depth, from tries on teachers of other seeds than any here.
RATES = {1: 0.1, 2: 0.1, 3: 0.03}
# Of 8 seeds, tried first, half the intervals were too wide to decide. That was when all claims of a
# suite shared one level; a claim has its own since, and the seeds stayed as they had been recorded.
SEEDS = 16
_MORE_SEEDS = (
    "Sixteen seeds in place of eight, which are among them, since a first run, in which half the "
    "intervals decided nothing."
)
# Widths by depth: the floor is visible in most of the first; in the last it is small with one layer
# (gone from V - 1 on, which is not trained), and gone with several.
WIDTHS = {1: (1, 2, 4, 8, 16, 32, 48), 2: (1, 2, 3, 4, 8), 3: (1, 2, 4)}
_TINY = partial(Case, teacher_width=3, teacher_depth=2, vocabulary=12, tokens=1, steps=200)
_CPU = partial(Case, teacher_width=4, teacher_depth=2, vocabulary=64, tokens=1, steps=2000)
_GPU = partial(Case, teacher_width=6, teacher_depth=2, vocabulary=128, tokens=1, steps=20000)


def teacher_of(case: Case) -> Teacher:
    """The teacher of a case, on its whole domain for one token a side."""
    size = case.vocabulary
    return Teacher(case.teacher_width, case.teacher_depth, size, case.tokens, size, size)


def recipe_of(case: Case) -> StudentRecipe:
    """How the students of a case are trained."""
    from .students import StudentRecipe

    return StudentRecipe(
        teacher_of(case),
        case.width,
        case.depth,
        seeds=tuple(range(SEEDS)),
        rates=(RATES[case.depth],),
        steps=case.steps,
    )


@lru_cache(maxsize=16)
def _tails(teacher: Teacher) -> Tails:
    return tails(teachers.values(teacher))


def floor(teacher: Teacher, rank: int) -> Ball:
    """The least relative error on the teacher's grid of any function of this separation rank.

    >>> found = floor(Teacher(width=2, depth=1, rows=6, columns=6), 3)
    >>> bool(found.low == 0 and found.high < 1e-12)
    True
    """
    return _tails(teacher).at(rank)


def _floor_at(case: Case, width: int, depth: int) -> Ball:
    return floor(teacher_of(case), rank_bound(width, depth, case.tokens, case.vocabulary))


def floor_of(case: Case) -> Ball:
    """The floor of the students of a case."""
    return _floor_at(case, case.width, case.depth)


def _students(case: Case, device: str, folder: str) -> Students:
    from .students import trained

    return trained(recipe_of(case), device, folder)


def _least_error(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """The least error of the replicas, with all rounding of its evaluation enclosed."""
    from .students import enclosed_error

    students = _students(case, device, folder)
    return enclosed_error(students, int(np.nanargmin(students.errors)))


def trained_errors(case: Case, device: str, folder: str) -> np.ndarray:
    """The errors of all replicas; one that is not finite counts as that of the best constant 0."""
    return np.nan_to_num(_students(case, device, folder).errors, nan=1.0)


# --- no student beats its floor -------------------------------------------------------------------

MEASURED: dict[str, Any] = FIT | {"portable": False}
OURS = Source("depthlaw", "after eckart1936 and separation_rank/dimension_count")


def _grid(depths: Sequence[int], device: Any = _CPU, most: int = 1000) -> list[Case]:
    # The longest trainings first, so that two processes end together.
    return [
        device(depth=depth, width=width)
        for depth in sorted(depths, reverse=True)
        for width in WIDTHS[depth]
        if width <= most
    ]


def _deeper(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """A student of one layer more and eight times the width, judged by the floor of this one."""
    other = case.fields() | {"depth": case.depth + 1, "width": 8 * case.width}
    return _least_error(Case(**other), device, folder)


@claim(
    Ge(trained_error, error_floor),
    source=OURS,
    predicted=lambda _, case: _floor_at(case, case.width, case.depth),
    weight="measurement",
    portable=False,
    premises=("separation_rank/error_floor", "separation_rank/two_tokens_upper"),
    headline="A floor from exact ranks and singular values: one training below it would refute it.",
    cases={
        "full": [_TINY(depth=1, width=2), _TINY(depth=2, width=1)],
        "training": _grid((3, 2, 1)),
        "gpu": _grid((3, 2, 1), _GPU),
    },
    control=Control(
        _TINY(depth=1, width=1), "a wider two-layer student, by the floor of one", measured=_deeper
    ),
    cited="One training below the floor would refute the bound from which it comes.",
)
def floor_holds(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    r"""Every student stays above a floor that no training can beat.

    The relative error of every linearised student of width $d$ and depth $L$ on its teacher's grid
    is at least the root of the share that the teacher's squared singular values beyond the
    $\binom{d+C}{C}$-th have in their sum, $C = (3^L-1)/2$ (one token a side, $d$ at most the
    vocabulary), whatever its weights.

    It follows from two theorems, so no training can do otherwise: a violation would be a fault of
    the code or of one of them, and that there is none is no finding about training. Measured is the
    error of the best of 16 seeds, all with one teacher, with the rounding of its evaluation
    enclosed. Floors of 0 say nothing and hold always: from there on the rank excludes no exact
    student. One token a side was chosen after tries with two, on teachers of other seeds, in which
    students stayed far above their floors.
    """
    return _least_error(case, device, folder)


# --- who reaches it -------------------------------------------------------------------------------


def _ratios(case: Case, device: str, folder: str) -> Sample:
    low = _floor_at(case, case.width, case.depth).low
    return Sample(tuple(map(float, trained_errors(case, device, folder) / float(low))))


# Where the floor lies well above rounding.
_VISIBLE = {
    r"floor $\geq 0.001$": lambda c: _floor_at(c, c.width, c.depth).low >= Fraction(1, 1000)
}
_ONE = _grid((1,), most=16)
_DEEP = [*_grid((3,), most=1), *_grid((2,), most=2)]


@claim(
    Le(error_ratio, factor),
    source=OURS,
    assumes=_VISIBLE,
    reads=("factor",),
    expected="FAILS",
    post_hoc=_MORE_SEEDS,
    cases={
        "training": [
            Case(**case.fields() | {"factor": value})
            for listed, value in (([*_ONE, *_DEEP], "11/10"), (_ONE, "2"), (_DEEP, "10"))
            for case in listed
        ]
    },
    control=Control(
        _CPU(depth=1, width=4, factor="2"), "errors below the floor", Le(error_ratio, factor / 2)
    ),
    cited="Bears on whether the floor from exact ranks may forecast the trained error.",
    **MEASURED,
)
def floor_attained(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Students of one teacher come within 1.1, 2 or 10 times their floor.

    For one teacher, the mean error over seeds of students is typically at most 1.1 times the floor,
    where that is 0.001 or more; at most twice the floor for students of one layer; and at most ten
    times for narrow deep ones, of two layers and width 1 and 2, and of three layers and width 1.

    None comes within a tenth, no one-layer student within twice the floor, and of the narrow deep
    ones that of two layers and width 1 alone within ten times. A net of rank $r$ is no arbitrary
    matrix of rank $r$: it has fewer weights, and both sides share one embedding. At ids $i$ and $j$
    one layer computes $(E K)_{ij} + (E K)_{ii}$ with $K = B E^T$ diag(E $w$), $E$ the embedding, so
    with one token a side it is nearly a free factorisation of a matrix; but the term of $i$ alone
    is not free, and both factors use one embedding, for which up to twice the width may be needed.
    A narrow deep net has $V d$ weights in its embedding, far fewer than a matrix of its rank has
    degrees of freedom. Shapes and seeds share one teacher, and "typically" is about seeds of
    students. In a trial, three other teachers gave factors that differ by up to 2.4: from 2.7 to
    6.5 for one layer, above 2 for all, as here; from 18 to 30 for two layers and width 2; and for
    two layers and width 1, the one comparison that holds here, about 11 for two of them, where 10
    is asked for (benchmarks/teacher_seeds.py). Three layers were not tried. The factors 1.1, 2 and
    10 were chosen before any training on this teacher; what is expected rests on tries with a
    teacher of another seed.
    """
    return _ratios(case, device, folder)


# --- widths at which the error is gone ------------------------------------------------------------


def _at_width(case: Case, width: int) -> Case:
    fields = {k: v for k, v in case.fields().items() if k not in ("level", "factor")}
    return Case(**fields | {"width": width})


def _first_floor(statement: Relational, case: Case) -> Any:
    level, widths = Fraction(case.level), WIDTHS[case.depth]
    first = next(w for w in widths if _floor_at(case, w, case.depth).high <= level)
    return statement.rhs.xreplace({floor_width: Integer(first)})


def _first_trained(case: Case, device: str, folder: str) -> Exact:
    level, widths = float(Fraction(case.level)), WIDTHS[case.depth]
    for width in widths:
        if np.min(trained_errors(_at_width(case, width), device, folder)) <= level:
            return Exact(width)
    # Beyond all widths tried: nothing says how far.
    return Exact(widths[-1] + 1, misses=1.0, truncated=True)


@claim(
    between(floor_width, trained_width, 4 * floor_width),
    source=Source("depthlaw", "the floor's width read as a forecast"),
    predicted=_first_floor,
    reads=("level",),
    cases={
        "training": [
            _CPU(depth=depth, level=level) for depth in (2, 1) for level in ("1/20", "1/10", "1/5")
        ]
    },
    known="FAILS",
    control=Control(
        _CPU(depth=1, level="1/5"),
        "at three times the width",
        between(floor_width, trained_width, 3 * floor_width),
    ),
    post_hoc=_MORE_SEEDS,
    supports="trained_rank/floor_attained",
    **(MEASURED | {"holds_for": "these nets"}),
)
def width_forecast(case: Case, device: str = "cpu", folder: str = "") -> Exact:
    """These students' width is one to four times that of the floor.

    The least tried width at which the best of 16 students, all of one teacher, has a relative error
    of at most the level (0.05, 0.1, 0.2) is at least the least tried width at which the floor is at
    most that, and at most four times as large.

    That it is at least that width follows from floor_holds and says nothing of training. Where no
    tried width is enough, more than the largest is counted. Corollaries 1 and 2 say nothing of
    these sizes; see separation_rank/width_without_floor. It was expected to hold. With 16 seeds two
    layers fail at 0.05 and 0.1, and one layer holds at all three levels. In a first run with 8
    seeds one layer came to 0.2 at width 8, where the floor does at 1.
    """
    return _first_trained(case, device, folder)


# --- what a second layer earns --------------------------------------------------------------------


shallow_floor = quantity(
    "shallow_floor",
    r"\varepsilon_{d'+1}",
    "floor of every one-layer student of width shallow_width or less",
    "nonnegative real",
)


@claim(
    Lt(trained_error, shallow_floor),
    source=OURS,
    predicted=lambda _, case: _floor_at(case, case.shallow_width, 1),
    post_hoc=_MORE_SEEDS,
    reads=("shallow_width",),
    known="FAILS",
    cases={"training": [_CPU(depth=2, width=8, shallow_width=width) for width in (2, 4, 8)]},
    control=Control(_CPU(depth=1, width=4, shallow_width=4), "students of one layer"),
    cited="Bears on whether a gain of depth over width may be shown by training.",
    **MEASURED,
)
def two_layers_beat_every_shallow(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Two trained layers beat every one-layer net of a given width.

    For one teacher, the mean error over seeds of two-layer students of width 8 is typically below
    the floor of all one-layer students of a width, asked of width 2, 4 and 8.

    What is compared is a trained net with a bound on all weights of the other, so the optimiser of
    the shallow net plays no part. A first run with 8 seeds left all cases undecided, with means
    above the floors of widths 4 and 8: training within 2000 updates does not take what rank allows.
    It was expected to hold.
    """
    return Sample(tuple(map(float, trained_errors(_at_shape(case), device, folder))))


def _at_shape(case: Case) -> Case:
    return Case(**{k: v for k, v in case.fields().items() if k != "shallow_width"})
