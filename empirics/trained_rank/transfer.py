"""Linearised against softmax attention on the same tasks: what the linearised theory predicts, and
which of it trained softmax nets show too.

The theory of separation ranks is about linearised attention. No theorem carries it over to softmax;
the table here puts beside each prediction what was measured of nets of either kind, from equal
seeds. Data are equal but in its first row, where the claims on floors have grids of their own; in
the second the rank of linearised nets is exact, that of softmax nets numerical.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from depthlaw.theory.claims.definition import (
    Ball,
    Case,
    Claim,
    Control,
    Exact,
    Measured,
    Outside,
    Sample,
    Source,
    claim,
    find,
)
from depthlaw.theory.claims.relations import Ge, Gt
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.claims.verdict import judge
from depthlaw.theory.separation_rank.error_floor import rank_bound

from ..figure_data import Found, Panel, Question, Series, Table, written
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
    "relative error of a student over the floor of linearised ones of its shape",
    "nonnegative real",
)
error_gap = quantity(
    "error_gap",
    r"\Delta\varepsilon",
    "relative error of a softmax student minus that of the linearised one of equal seed",
    "real",
)

PAIRED: dict[str, Any] = MEASURED | {"source": Source("depthlaw", "docs/trained-depth.md")}


def _errors(case: Case, attention: str, device: str, folder: str) -> np.ndarray:
    """Of each seed, at the end; one that is not finite counts as that of the function 0."""
    asked = Case(**case.fields() | {"attention": attention})
    return np.nan_to_num(students_of(asked, device, folder).errors, nan=1.0)


@claim(
    Ge(floor_share, 1),
    cases=student_cases(below_side, ATTENTIONS, suites=("training",)),
    post_hoc="Linearised students were added after softmax ones had been recorded.",
    control=Control(
        student_cases(below_side, ATTENTIONS[1:])["full"][0], "ten times it", Ge(floor_share, 10)
    ),
    supports="trained_rank/floor_holds",
    **PAIRED,
)
@about_students
def students_respect_floor(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Softmax students, too, stay above the floor of linearised ones.

    The relative error of linearised and of softmax students is typically at least the tail of the
    teacher's singular values beyond the S(min(d_x, V), L)-th, which no linearised student of the
    same width and depth can beat.

    For linearised students it is a theorem, so that their half checks our code. No theorem says so
    of softmax, whose rank is not bounded by S: where it holds, softmax students fall short of what
    rank S allows, and that is no evidence for a bound. That it would hold was expected when errors
    of other seeds, far above this floor, had been seen.
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
    """Softmax students fit a linearised teacher worse than linearised ones.

    After as many updates on the same teacher the relative error of a softmax student minus that of
    the linearised student of the same width, depth and seed is typically positive.

    Each kind of attention has a learning rate of its own, and no other was tried on these seeds;
    that of softmax was chosen on this teacher, that of linearised attention on others. The teacher
    is of the linearised kind: on softmax teachers it may be the other way round.
    """
    return sample(
        _errors(case, "softmax", device, folder) - _errors(case, "linearised", device, folder)
    )


# --- the table ------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A prediction of the linearised theory, and the claim that asks it of each kind of nets."""

    prediction: str
    linearised: str
    softmax: str


def _both(prediction: str, key: str) -> _Row:
    return _Row(prediction, key, key)


_ROWS = (
    _both("no error below the floor of rank S", "trained_rank/students_respect_floor"),
    _Row(
        "the rank is S, and never more",
        "trained_rank/rank_stays_generic",
        "trained_rank/softmax_exceeds_count",
    ),
    _both("effective rank below half of min(S, side)", "trained_rank/half_of_rank_matters"),
    _both("a layer adds more rank where 3^L < d", "trained_rank/wide_nets_gain_more_by_layers"),
    _both("one layer sees 3 steps", "trained_depth/cycles_wall_one_layer"),
    _both("L layers see 3^L steps", "trained_depth/cycles_wall"),
    _both("no more than 3^L steps", "trained_depth/cycles_at_chance"),
    _both("sight grows by layers", "trained_depth/reach_grows_with_depth"),
    _both("ceil(log_3 D) layers are enough and needed", "trained_depth/connectivity_least_depth"),
    _both("ceil(log2 k) + 2 layers are enough", "trained_depth/hops_enough"),
    _both("depth gains more in larger models", "depth_width/depth_gains_more_when_larger"),
)
# Chance of a false alarm of each verdict: no more than that of the verdicts on the page.
_ALPHA = 1e-7


def table(found: Found) -> Table:
    """Where the linearised theory transfers to softmax nets, and where not.

    A row for each prediction of which anything is recorded. The verdicts are those of the claim
    that is named, on cases of that kind of attention alone; a claim may state the opposite of the
    prediction, as its title says. None stands where nothing is recorded of nets of that kind.

    Args:
        found: by the name of a claim, what is recorded of its cases.
    """
    rows = []
    for row in _ROWS:
        cells = [
            _cells(found, key, attention)
            for key, attention in ((row.linearised, "linearised"), (row.softmax, "softmax"))
        ]
        if any(cell[1] for cell in cells):
            rows.append((row.prediction, *cells[0], *cells[1]))
    return Table(
        (
            "prediction of the linearised theory",
            *(
                f"{head}, {attention}"
                for attention in ATTENTIONS
                for head in ("asked", "verdicts", "measured")
            ),
        ),
        tuple(rows),
    )


def _cells(found: Found, key: str, attention: str) -> tuple[str | None, ...]:
    """Title of the claim, verdicts by how many cases, and the range of what was measured."""
    cases = _of_attention(found.get(key.partition("/")[2], {}), key, attention)
    if not cases:
        return None, None, None
    asked = find(key)
    counts = Counter(_verdict(asked, case, value) for case, value in cases.items())
    middles = [middle for value in cases.values() if (middle := _middle(value)) is not None]
    span = sorted({f"{middle:.3g}" for middle in (min(middles), max(middles))}) if middles else []
    return (
        asked.title,
        ", ".join(f"{verdict} {count}" for verdict, count in counts.items()),
        " to ".join(sorted(span, key=float)) or None,
    )


def _of_attention(cases: Mapping[Case, Measured], key: str, attention: str) -> dict[Case, Measured]:
    """Those of one kind of attention; cases that do not say are linearised where the floors of
    linearised students are asked about, and softmax elsewhere."""
    silent = "linearised" if key.startswith("trained_rank/") else "softmax"
    return {
        case: value
        for case, value in cases.items()
        if case.get("attention", case.get("net", silent)) == attention
    }


def _verdict(asked: Claim, case: Case, value: Measured) -> str:
    return str(judge(asked, case, value, alpha=_ALPHA).verdict)


def _middle(value: Measured) -> float | None:
    if isinstance(value, Exact):
        return float(value.value)
    if isinstance(value, Ball):
        return float(value.low + value.high) / 2
    return None if isinstance(value, Outside) else value.mean


# --- what is shown --------------------------------------------------------------------------------


def _panels(found: Found) -> tuple[Panel, ...]:
    """Softmax minus linearised error, by the width of the students."""
    gaps: dict[int, dict[int, Sample]] = {}
    for case, value in found.get("softmax_fits_worse", {}).items():
        if isinstance(value, Sample):
            gaps.setdefault(case.depth, {})[case.width] = value
    if not gaps:
        return ()
    series = []
    for depth, points in sorted(gaps.items()):
        widths = sorted(points)
        ends = [points[width].interval(0.05) for width in widths]
        series.append(
            Series(
                f"{depth} layer{'s' * (depth > 1)}",
                tuple(widths),
                tuple(points[width].mean for width in widths),
                tuple(low for low, _ in ends),
                tuple(high for _, high in ends),
            )
        )
    ends_of_axis = (min(min(p) for p in gaps.values()), max(max(p) for p in gaps.values()))
    zero = Series("equal errors", ends_of_axis, (0.0, 0.0), kind="reference")
    return (
        Panel(
            "Softmax minus linearised error on a linearised teacher",
            "width of the students",
            "difference of relative errors",
            (*series, zero),
            x_scale="log",
        ),
    )


def _says(found: Found) -> str:
    """Two sentences, on the numbers of cases."""
    said = []
    gaps = {
        case: value
        for case, value in found.get("softmax_fits_worse", {}).items()
        if isinstance(value, Sample)
    }
    if gaps:
        worst = max(gaps.values(), key=lambda value: value.mean)
        least = min(gaps.values(), key=lambda value: value.mean)
        said.append(
            f"On a linearised teacher the relative error of softmax students minus that of "
            f"linearised ones is {written(least)} to {written(worst)}."
        )
    above = found.get("softmax_exceeds_count", {})
    if above:
        asked = find("trained_rank/softmax_exceeds_count")
        more = sum(_verdict(asked, case, value) == "HOLDS" for case, value in above.items())
        said.append(
            f"In {more} of {len(above)} shapes softmax students have a larger numerical "
            "rank than any linearised net of their shape."
        )
    return " ".join(said)


# Whose verdicts stand in this section; those of the other claims of the table stand elsewhere.
_OWN = tuple(
    f"trained_rank/{name}"
    for name in ("softmax_exceeds_count", "students_respect_floor", "softmax_fits_worse")
)
TRANSFER = Question(
    "linearised-against-softmax",
    "Where the linearised theory transfers to softmax nets",
    _OWN,
    _panels,
    _says,
    table,
    beside=tuple(
        dict.fromkeys(
            key for row in _ROWS for key in (row.linearised, row.softmax) if key not in _OWN
        )
    ),
)
