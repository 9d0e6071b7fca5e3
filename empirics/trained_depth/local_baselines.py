"""A rule in the place of trained nets: the local baseline."""

from __future__ import annotations

from typing import Any

from depthlaw.theory.claims.definition import Case, Control, Proportion, claim
from depthlaw.theory.claims.relations import Lt

from .experiment import FIT, GRAPHS, READS, accuracy, bar, noted

# Radii at which the local baseline is published beside the nets.
RADII = range(1, 10)

_TASK: dict[str, Any] = {"task": "connectivity", "vertices": 24, "diameter": 23}
_LOCAL = Case.grid(**_TASK, net="bounded", radius=RADII, distance=range(1, 21))
_ASKED = (
    "A rule in the place of trained nets, on 20480 graphs. Asked is whether 95 % of the "
    "choices between a connected pair and another are right (chance: one half): one choice "
    "from each graph that has a pair at the distance and one that is not connected, so at "
    "most as many as there are graphs."
)


def _is_out_of_sight(case: Case) -> bool:
    return bool(case.distance > case.radius)


@claim(
    Lt(accuracy, bar),
    cases={"full": tuple(filter(_is_out_of_sight, _LOCAL))},
    post_hoc=(
        "Written after the second recording, knowing that it fails; radii other than $3^L$ were "
        "added after the third."
    ),
    assumes={"distance $> r$": _is_out_of_sight},
    expected="FAILS",
    control=Control(Case(**_TASK, net="bounded", radius=3, distance=3), "within $r$"),
    source=GRAPHS,
    reads=READS,
    cited="Bears on whether right answers beyond $r$ on random paths show that a net sees beyond "
    "$r$.",
    **FIT,
)
@noted(_ASKED)
def local_baseline_misses(case: Case) -> Proportion:
    r"""The local baseline of radius $r$ misses pairs beyond $r$.

    On random paths of 24 vertices, the local baseline of radius $r = 1$, ..., 9, which says
    connected iff $d(u, v) \leq r$ and otherwise compares only the sizes of the two balls and
    whether each holds a whole path, tells pairs $u$, $v$ at no distance $r < d(u, v) \leq 20$ from
    pairs that are not connected. It does not intersect the balls, which would decide up to $2 r$.

    Fails, at $r = 8$ and 9 for every distance beyond $r$, at 3 to 7 for the farthest: who sees both
    ends of a path knows that nothing else is connected to it, and of 24 vertices one sees most. So
    nets of two layers that fail between 7 and 9, or beyond, do not fail for want of information
    within 9. net=bounded says no where both ends of a path are at a distance less than $r$ from $u$
    or from $v$, and otherwise counts what lies within $r$ of each.
    """
    return _right_at(case, case.radius)


def _right_at(case: Case, size: int) -> Proportion:
    from .net_answers import by_rule

    return by_rule(case.net, case.vertices, case.diameter, size).chosen_at(case.distance)
