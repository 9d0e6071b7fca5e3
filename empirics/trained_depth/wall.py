r"""The wall at 3^L: nets of one and two layers, trained for 60,000 and 240,000 updates, asked about
one row of cycles that they have not been trained on.

On a cycle every vertex looks like every other one, and both vertices of a question lie on the same
cycle, so that nothing but the distance tells them apart. Before anything here was recorded, trial
trainings of seeds 0 to 2 had been looked at; the nets of these claims have other seeds. These
claims were written while the first nets of two layers were being trained, before any of them had
ended, but for what `post_hoc` names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from sympy import Rational
from sympy.core.relational import Relational

from depthlaw.advisor.laws import reach
from depthlaw.theory.claims.definition import Ball, Case, Control, Proportion, Sample, at, claim
from depthlaw.theory.claims.relations import Eq, Ge, Gt, Lt
from depthlaw.theory.claims.symbols import depth, quantity

from ..signal_propagation.exponents import sample
from .cycle_views import SOURCE
from .experiment import NETS, TRAINED, accuracy, bar, noted

ON_ROWS: dict[str, Any] = TRAINED | {"source": SOURCE, "reads": ("asked", "distance")}
# Questions of one row, and those that compare connected with unconnected, see `wall_nets.asked`.
ASKED = ("row", "other")
FARTHEST = 13
# Seeds of the nets, each a case of its own. Smaller seeds were looked at in trials.
_SEEDS = tuple(range(10, 18))
_ALL = {"nets": len(_SEEDS), "first": _SEEDS[0]}
# Updates of suite long, by layers; and those of the curve.
_UPDATES = {1: 60_000, 2: 240_000}
_CURVE = {1: (1_000, 4_000, 15_000, 60_000), 2: (1_000, 4_000, 15_000, 240_000)}
# What a user trains in a minute.
_SHORT = {"net": "linearised", "depth": 1, "updates": 4_000, "nets": 2, "first": 10}
# How far from one half a share may lie and still be called chance (8,192 questions leave it open by
# 0.03), and the half step by which a reach may miss that of explicit weights.
_NEAR, _HALF = Fraction(5, 100), Rational(1, 2)

moved = quantity(
    "share_moved",
    r"\Delta a",
    "largest change of a share of right answers, from some updates to twice as many",
    "nonnegative real",
)

_HOW = (
    "One head, pre-norm; AdamW, linear warm-up over a tenth of the updates and linear decay, batch "
    "16, learning rate 0.0015 (softmax) or 0.001 (linearised); trained on all pairs of two cycles "
    "of 20. Asked of each net: 4,096 graphs of each kind, one source in each. Trials with seeds 0 "
    "to 2 had been looked at."
)
_PLAIN = f"Attention without MLP, width 80, where nothing else is said. {_HOW}"
_EACH = (
    "Asked of each net by itself: the verdict is about the worst of them. Intervals are those of "
    "Clopper and Pearson, of level $10^{-7}$ for each net. Seeds 10 to 17 were fixed beforehand; "
    "they were trained in this order and recorded as time allowed. If a net of this recipe misses "
    "with probability $p$, eight pass with probability $(1-p)^8$: eight exclude $p > 0.32$ at 95 %."
)
_BY_NET = (
    "We asked all nets of a kind together until we had seen them; now we ask each by itself, which "
    "is stricter."
)
_ROWS = (
    "A row question compares a vertex at the distance with one at distance 14 on the same cycle, "
    "of 40, 30 or 28 vertices; the other kind compares it with a vertex of the other cycle, of 10 "
    "or 12, which a net of reach 9 sees whole. Graphs of all lengths count together."
)


def _case(**fields: Any) -> Case:
    return Case(task="long cycles", cycles=2, around=20, **fields)


def _questions(nets: Iterable[dict[str, Any]], chosen: Callable[[Case], bool]) -> tuple[Case, ...]:
    """Every question that is chosen, of each net."""
    asked = (
        _case(**net, asked=asked, distance=distance)
        for net in nets
        for asked in ASKED
        for distance in range(1, FARTHEST + 1)
    )
    return tuple(filter(chosen, asked))


_LONG = [
    {"net": net, "depth": layers, "updates": updates, "nets": 1, "first": seed}
    for layers, updates in _UPDATES.items()
    for net in NETS
    for seed in _SEEDS
]
_ONE = {"nets": 1, "first": 10}
# A third layer; on a CPU asked only about what two cannot do.
_DEEP = [{"net": net, "depth": 3, "updates": 240_000, **_ONE} for net in NETS]
_WITH_MLP = [{"net": net, "depth": 2, "updates": 60_000, **_ONE, "mlp": 1} for net in NETS]


def _is_within(case: Case) -> bool:
    return bool(case.distance <= reach(case.depth))


def _is_beyond(case: Case) -> bool:
    return bool(case.distance > reach(case.depth))


def _shares(case: Case, device: str, folder: str) -> list[Proportion]:
    """How many questions of a case each net answers rightly, all unseen graphs together."""
    from .wall_nets import answers

    shares = []
    for seed in range(case.first, case.first + case.nets):
        answered = answers(case, seed, device, folder)
        counts = [
            by_distance[case.distance]
            for question, by_distance in answered.items()
            if question.startswith(case.asked) and not question.endswith("20+20")
        ]
        shares.append(
            Proportion(sum(count.right for count in counts), sum(count.asked for count in counts))
        )
    return shares


def _ends(case: Case, device: str, folder: str) -> list[tuple[Fraction, Fraction]]:
    """The interval of each net's share, rounded outwards to six digits."""
    from ..training.depth_search import LEVEL

    ends = [share.interval(LEVEL) for share in _shares(case, device, folder)]
    return [
        (Fraction(math.floor(low * 10**6), 10**6), Fraction(math.ceil(high * 10**6), 10**6))
        for low, high in ends
    ]


def _worst(case: Case, device: str, folder: str) -> Ball:
    """Of the net that is right least often."""
    low, high = zip(*_ends(case, device, folder), strict=True)
    return Ball(min(low), min(high))


def _all(case: Case, device: str, folder: str) -> Ball:
    """Around what every net is left open."""
    low, high = zip(*_ends(case, device, folder), strict=True)
    return Ball(min(low), max(high))


def _near(statement: Relational, case: Case) -> Ball:
    share = Fraction(str(at(statement.rhs, case)))
    return Ball(share - _NEAR, share + _NEAR)


_tiny = _case(**_SHORT, asked="row", distance=3)


def _but(case: Case, **changes: Any) -> Case:
    return Case(**case.fields() | changes)


@claim(
    Ge(accuracy, bar),
    cases={
        "full": _questions([_SHORT], _is_within),
        "long": _questions(_LONG, _is_within),
        "gpu": _questions(_DEEP, _is_within),
    },
    assumes={r"distance $\leq 3^L$": _is_within},
    control=Control(_but(_tiny, shuffled=True), "labels of other graphs teach nothing"),
    expected="FAILS",
    post_hoc=_BY_NET,
    headline="Whether training, given its time, finds the reach of explicit weights.",
    cited="Bears on whether a reach of $3^L$ may be forecast for trained nets.",
    **ON_ROWS,
)
@noted(_EACH, _ROWS, _PLAIN)
def wall_within(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """These nets are right up to $3^L$ after 60,000 or 240,000 updates.

    Each of our nets of one layer (60,000 updates) and of two layers (240,000 updates), trained on
    two cycles of 20, tells pairs at every distance up to $3^L$, on cycles that it has not been
    trained on, from farther ones and from unconnected ones in at least 95 % of the questions.
    Suite gpu asks it of three layers.

    In trials two layers were right on 94 % (linearised) and 98 % (softmax) at distance 9, and of
    two softmax nets of one layer one stayed at 88 % at distance 3 after 15,000 updates: so it was
    expected to fail for some. Whether more updates would do more, wall_is_trained_out says of two
    nets of one layer; of two layers it is open. Suite full trains for 4,000 updates only, for a
    first look.
    """
    return _worst(case, device, folder)


@claim(
    Eq(accuracy, Rational(1, 2)),
    predicted=_near,
    cases={"full": _questions([_SHORT], _is_beyond), "long": _questions(_LONG, _is_beyond)},
    assumes={"distance $> 3^L$": _is_beyond},
    control=Control(_but(_tiny, distance=1), "neighbours are answered"),
    post_hoc=_BY_NET,
    headline="Whether training on cycles of 20 passes the reach of explicit weights.",
    cited="Bears on whether a wall proved for explicit weights binds trained nets.",
    **ON_ROWS,
)
@noted(_EACH, _ROWS, _PLAIN)
def wall_beyond(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """Trained on cycles of 20, these nets are at chance beyond $3^L$.

    Each of our nets of one layer (60,000 updates) and of two layers (240,000 updates), trained on
    two cycles of 20, tells pairs at every distance from $3^L+1$ to 13, on cycles that it has not
    been trained on, from farther ones and from unconnected ones as often as a coin does, up to 5
    points in 100. In training nothing lies farther than 10.

    So for two layers the wall lies where the range of training ends: of the 40 entries of a row two
    lie at each distance from 1 to 9, one at 10, none beyond. A net without any limit of reach that
    learnt to tell distances up to 9 from the rest would meet this claim. That of one layer, at 3,
    lies inside the range.

    Weights that treat all vertices alike see no farther than $3^L$ (connectivity/reach). These nets
    know which vertex is which, have pre-norm, and some have softmax: for them it is a finding.
    """
    return _all(case, device, folder)


@claim(
    Gt(accuracy, Rational(55, 100)),
    cases={
        "full": _questions([_SHORT], _is_within),
        "long": (
            *_questions(_LONG, _is_within),
            *_questions(_WITH_MLP, lambda case: case.distance == reach(2) and case.asked == "row"),
        ),
    },
    assumes={r"distance $\leq 3^L$": _is_within},
    known="FAILS",
    post_hoc=(
        "Written after we saw the nets of seed 10; its softmax net of two layers is right on 77 % "
        f"at distance 9. {_BY_NET}"
    ),
    control=Control(_but(_tiny, distance=4), "one step beyond"),
    supports="trained_depth/wall_within",
    **ON_ROWS,
)
@noted(_EACH, _ROWS, _PLAIN)
def wall_seen(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """These nets see all distances to $3^L$ after 60,000 or 240,000 updates.

    Each of our nets of one layer (60,000 updates) and of two layers (240,000 updates), trained on
    two cycles of 20, tells pairs at every distance up to $3^L$, on cycles that it has not been
    trained on, from farther ones and from unconnected ones in more than 55 % of the questions, the
    share that wall_beyond allows beyond $3^L$. So do nets of two layers with an MLP of four times
    the width, at distance 9, after 60,000 updates.

    Fails: the softmax nets of two layers and seeds 12, 15 and 17 are right on all questions to
    distance 7 and at chance from 8 on. Where both hold, $3^L$ is the last of the distances up to 13
    at which a net is more than 5 points above chance.
    """
    return _worst(case, device, folder)


reach_in_row = quantity(
    "reach_in_row",
    r"r_{\mathrm{row}}",
    "sum over distances 1 to 13 of $2 a - 1$, for the share a of right answers against distance 14",
    "real",
)
reach_past = quantity(
    "reach_past", r"r_{> 3^L}", "the part of that sum from distances beyond $3^L$", "real"
)


def _reaches(case: Case, device: str, folder: str, beyond: int = 0) -> Sample:
    """Of each net the sum of 2 a - 1 over distances beyond the given one."""
    each = [
        _shares(_but(case, asked="row", distance=distance), device, folder)
        for distance in range(beyond + 1, FARTHEST + 1)
    ]
    return sample(
        [
            math.fsum(2 * share.right / share.trials - 1 for share in shares)
            for shares in zip(*each, strict=True)
        ]
    )


_OF_REACH = ON_ROWS | {"reads": (), "holds_for": "typical"}
_EIGHT = (
    "One number for each of eight nets, seeds 10 to 17; the interval is over seeds. Each number of "
    "updates is a training with its own warm-up and decay."
)
_shortest = _case(**_SHORT | _ALL)
_BY_UPDATES = tuple(
    _case(net=net, depth=layers, updates=updates, **_ALL)
    for layers, several in _CURVE.items()
    for updates in several
    for net in NETS
)


@claim(
    Gt(reach_in_row, 1),
    cases={"long": _BY_UPDATES},
    control=Control(
        _shortest, "more than three steps and a half", Gt(reach_in_row, Rational(7, 2))
    ),
    supports="trained_depth/wall_within",
    **_OF_REACH,
)
@noted(_EIGHT, _PLAIN)
def wall_by_updates(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """From 1,000 updates on nets see farther than their input, over seeds.

    The reach in a row of nets of one and of two layers, trained on two cycles of 20 for 1,000 to
    60,000, or 240,000, updates, is typically more than 1, that of the row of $A + I$ itself.

    The curve of reach against updates shows their means.
    """
    return _reaches(case, device, folder)


@claim(
    Gt(reach_in_row, 3**depth - _HALF),
    cases={"long": tuple(c for c in _BY_UPDATES if c.updates == _UPDATES[c.depth])},
    known="UNDECIDED",
    control=Control(_shortest, "half a step more than $3^L$", Gt(reach_in_row, 3**depth + _HALF)),
    supports="trained_depth/wall_within",
    **_OF_REACH,
)
@noted(
    "Undecided of softmax with two layers: of eight nets three stop at 7, two near 8, three at 9. "
    "Linearised nets of two layers come to 8.8.",
    _EIGHT,
    _PLAIN,
)
def wall_reached(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """After 60,000 or 240,000 updates training has reached $3^L$, over seeds.

    The reach in a row of nets of one layer (60,000 updates) and of two layers (240,000 updates),
    trained on two cycles of 20, is typically more than $3^L - 1/2$.
    """
    return _reaches(case, device, folder)


@claim(
    Lt(reach_past, _HALF),
    cases={"long": _BY_UPDATES},
    control=Control(
        _shortest,
        "from distance 3 on, not 4",
        measured=lambda case, device="cpu", folder="": _reaches(case, device, folder, beyond=2),
    ),
    supports="trained_depth/wall_beyond",
    **_OF_REACH,
)
@noted(_EIGHT, _PLAIN)
def wall_not_passed(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Trained on cycles of 20, nets do not see beyond $3^L$.

    Of the reach in a row of nets of one and of two layers, trained on two cycles of 20 for 1,000 to
    60,000, or 240,000, updates, the part from distances beyond $3^L$ is typically less than $1/2$.
    In training nothing lies farther than 10.

    Nets that are far from $3^L$ meet it too; wall_by_updates says how far each comes.
    """
    return _reaches(case, device, folder, beyond=reach(case.depth))


def _change(case: Case, device: str, folder: str) -> Ball:
    """The largest change of a share, over nets and distances, from the updates to twice as many."""
    least, most = Fraction(0), Fraction(0)
    for distance in range(1, FARTHEST + 1):
        asked = _but(case, asked="row", distance=distance)
        before = _ends(asked, device, folder)
        after = _ends(_but(asked, updates=2 * case.updates), device, folder)
        for (a, b), (c, d) in zip(before, after, strict=True):
            least, most = max(least, c - b, a - d), max(most, d - a, b - c)
    return Ball(least, most)


@claim(
    Lt(moved, Rational(1, 10)),
    cases={
        "long": tuple(
            _case(net=net, depth=1, updates=_UPDATES[1], nets=1, first=10) for net in NETS
        )
    },
    control=Control(_but(_shortest, updates=400, nets=1), "a tenth of the updates"),
    supports="trained_depth/wall_within",
    **_OF_REACH | {"holds_for": "these nets"},
)
@noted(_PLAIN)
def wall_is_trained_out(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """Twice 60,000 updates change these one-layer nets by under 0.1.

    For two nets of one layer and 60,000 updates, one of each attention, trained on two cycles of
    20, the share of right answers at each distance from 1 to 13 in a row differs from that after
    twice as many updates, with a schedule of their own, by less than 0.1.

    This is what is called trained out here. With so many questions, the difference of two shares
    near one half is known to within 0.048; the margin is about twice that. Both have seed 10 and
    were right to distance 3 already; two softmax nets, of seeds 11 and 15, were not, and were not
    asked. Nor were nets of two layers, whose 480,000 updates had no room in the hours of the
    recordings. Intervals are of level $10^{-7}$ for each share.
    """
    return _change(case, device, folder)


@claim(
    Ge(accuracy, bar),
    cases={"long": _questions(_DEEP, lambda case: case.distance > reach(2))},
    known="FAILS",
    post_hoc=(
        "The title said that these nets pass 9 until they were seen. The questions about "
        "unconnected vertices were added then."
    ),
    control=Control(_but(_tiny, distance=4), "one layer, at distance 4"),
    supports="trained_depth/wall_beyond",
    **ON_ROWS,
)
@noted(
    "In a row the softmax net is right on 95 % at 10 and 11, the linearised one nowhere, and both "
    "are above chance up to 13. Against unconnected vertices the softmax net is right on 99 % at "
    "10 and fewer beyond; the linearised one is at chance at 10 and below it beyond. 14 lies "
    "within 27: a net that connects everything need not rank 13 above it; the questions about "
    "unconnected vertices ask for no such thing.",
    _ROWS,
    _HOW,
)
def third_layer_passes(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """These three-layer nets are right from 10 to 13 after 240,000 updates.

    Our nets of three layers, one of each attention, trained on two cycles of 20 for 240,000
    updates, tell vertices at distances 10 to 13 of a source, on cycles that they have not been
    trained on, from those at distance 14 and from unconnected ones, in at least 95 % of the
    questions.

    Were they at chance there, the wall of two layers might be one of the task or of its training.
    Intervals are of level $10^{-7}$ for each net.
    """
    return _worst(case, device, folder)


@claim(
    Eq(accuracy, Rational(1, 2)),
    predicted=_near,
    cases={
        "long": _questions(_WITH_MLP, lambda case: case.distance > reach(2) and case.asked == "row")
    },
    control=Control(_but(_tiny, distance=1), "neighbours are answered"),
    supports="trained_depth/wall_beyond",
    **ON_ROWS,
)
@noted(_ROWS, _HOW)
def larger_nets_see_no_farther(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """Trained on cycles of 20, these MLP nets see no farther.

    Our nets of two layers with an MLP of four times the width, one of each attention, trained on
    two cycles of 20 for 60,000 updates, tell vertices at distances 10 to 13 from those at distance
    14 in the row of a source as often as a coin does, up to 5 points in 100. In training nothing
    lies farther than 10.

    Both see 9, says wall_seen. In trials with one seed of each attention, plain nets of two layers
    were right on about 60 % at 9 after as many updates. Intervals are of level $10^{-7}$ for each
    net.
    """
    return _all(case, device, folder)
