"""Linearised against softmax attention on the same tasks: what the linearised theory predicts, and
which of it trained softmax nets show too.

The theory of separation ranks is about linearised attention. No theorem carries it over to softmax;
the table here puts beside each prediction what was measured of nets of either kind, from equal
seeds. Data are equal but in its first row, where the claims on floors have grids of their own; in
the second the rank of linearised nets is exact, that of softmax nets numerical.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Ge, Gt
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.separation_rank.error_floor import rank_bound

from ..signal_propagation.exponents import sample
from .floors import MEASURED, floor
from .ranks_in_training import (
    ATTENTIONS,
    about_students,
    below_side,
    student_cases,
    students_of,
    teacher_of,
)

floor_share = quantity(
    "floor_share",
    r"\varepsilon/\varepsilon_S",
    "relative error of a student over the floor that linearised students of the "
    "same width and depth cannot beat",
    "nonnegative real",
)
error_gap = quantity(
    "error_gap",
    r"\Delta\varepsilon",
    "relative error of a softmax student minus that of the linearised student of "
    "the same width, depth and seed",
    "real",
)

PAIRED: dict[str, Any] = MEASURED | {"source": Source("depthlaw", "docs/what-training-finds.md")}


def _errors(case: Case, attention: str, device: str, folder: str) -> np.ndarray:
    """Of each seed, at the end; one that is not finite counts as that of the function 0."""
    asked = Case(**case.fields() | {"attention": attention})
    return np.nan_to_num(students_of(asked, device, folder).errors, nan=1.0)


@claim(
    Ge(floor_share, 1),
    cases=student_cases(below_side, ATTENTIONS, suites=("training",)),
    post_hoc="Linearised students were added after softmax ones had been recorded.",
    control=Control(
        student_cases(below_side, ATTENTIONS[1:])["full"][0],
        "ten times the floor",
        Ge(floor_share, 10),
    ),
    supports="trained_rank/floor_holds",
    **PAIRED,
)
@about_students
def students_respect_floor(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Softmax students, too, stay above the floor of linearised ones.

    For one teacher, the relative error of linearised and of softmax students is typically at least
    the tail of the teacher's singular values beyond the $S(\min(d_x, V), L)$-th, which no
    linearised student of the same width and depth can beat.

    For linearised students it is a theorem, so that their half checks our code. No theorem says so
    of softmax, whose rank is not bounded by $S$: where it holds, softmax students fall short of
    what rank $S$ allows, and that is no evidence for a bound. That it would hold was expected when
    errors of other seeds, far above this floor, had been seen.
    """
    bound = rank_bound(case.width, case.depth, teacher_of(case).tokens, case.vocabulary)
    least = floor(teacher_of(case), bound)
    return sample(_errors(case, case.attention, device, folder) / float(least.high))


def _against_nothing(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    return sample(_errors(case, "softmax", device, folder) - 1)


_PAIRS = {
    suite: [
        Case(**{name: value for name, value in case.fields().items() if name != "attention"})
        for case in cases
    ]
    for suite, cases in student_cases(attentions=ATTENTIONS[1:]).items()
}


@claim(
    Gt(error_gap, 0),
    known="UNDECIDED",
    cases={"training": _PAIRS["training"]},
    control=Control(
        _PAIRS["full"][0], "the function 0, not the linearised student", measured=_against_nothing
    ),
    supports="trained_rank/softmax_exceeds_count",
    **PAIRED,
)
@about_students
def softmax_fits_worse(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Softmax students fit one linearised teacher worse than linearised ones.

    After as many updates on the same teacher the relative error of a softmax student minus that of
    the linearised student of the same width, depth and seed is typically positive.

    Each kind of attention has a learning rate of its own, and no other was tried on these seeds;
    that of softmax was chosen on this teacher, that of linearised attention on others. The teacher
    is of the linearised kind: on softmax teachers it may be the other way round.
    """
    return sample(
        _errors(case, "softmax", device, folder) - _errors(case, "linearised", device, folder)
    )
