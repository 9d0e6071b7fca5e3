"""What depth gains in language models of equal size, by number of updates.

Written before any of these nets was trained. Known before were the nets of `ablation`, after 300
updates at a constant rate, in which deeper nets had the larger losses; and one probe of one seed
and one rate, 8,000 updates: 3.716, 3.743, 3.785 and 3.872 nats for 1, 2, 3 and 6 layers.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Gt, Lt
from depthlaw.theory.claims.symbols import vocabulary

from ..exercises.corpus import STANDARD
from ..exercises.exercise import loss
from ..signal_propagation.exponents import sample
from ..trained_depth.experiment import noted
from .ablation import NETS, extra, gain, off_size
from .fixed_budgets import interpolated, training_operations, width_of

if TYPE_CHECKING:
    from .schedules import FinalLosses

# Weights in layers, 12 L d^2, and depths of the nets; updates, each a training of its own; seeds.
SIZE, DEPTHS, UPDATES = 82_000, (1, 2, 3, 4, 6, 12), (300, 1_000, 4_000, 18_000)
SEEDS = 8
_SOURCE = Source("depthlaw", "after levine2020: the best depth grows with size and training")
_OF_NETS: dict[str, Any] = NETS | {"source": _SOURCE}
_HOW = (
    "Nets of equal $12 L d^2 = 82{,}000$, the weights of their layers; embedding and read-out hold "
    "four times as many at one layer, as many at twelve. Text: the sources of Python's library, "
    "1.16 million tokens of 2,000 kinds, which 18,000 updates see eight times; batches of 8 "
    "windows of 64. Each number of updates is a training of its own: linear warm-up over a tenth, "
    "then linear decay; the learning rate, a power of 2 from $2^{-14}$ to $2^{-3}$, is chosen for "
    "each depth and each number of updates by two other seeds at a quarter of the updates, and "
    "more are tried until the best lies inside or at an end. Losses are on 64 windows of other "
    "files; gains are corrected for sizes that differ by a few per cent. Eight seeds; the interval "
    "is over seeds, which share texts and order with those of other depths."
)
_case = partial(
    Case,
    attention="softmax",
    corpus=STANDARD,
    vocabulary=2000,
    heads=2,
    marks=1,
    batch=8,
    length=64,
    parameters=SIZE,
    parametrisation="standard",
)


def _net(steps: int, **fields: int | str) -> Case:
    return _case(**{"steps": steps, "replicas": SEEDS, **fields})


def _final(case: Case, depth: int, steps: int, device: str, folder: str) -> FinalLosses:
    from .schedules import final_losses

    text = {name: case.get(name) for name in ("corpus", "vocabulary", "replicas")}
    return final_losses(_net(steps, **text), depth, device=device, folder=folder)


def _log_losses(case: Case, depth: int, steps: int, device: str, folder: str) -> np.ndarray:
    """ln of the losses of each seed, at the size that the case names."""
    losses = _final(case, depth, steps, device, folder).losses
    return np.log(np.array(losses)) + off_size(case, depth)


def _gains(case: Case, steps: int, device: str, folder: str) -> np.ndarray:
    """ln loss at `depth` minus that at `other`, seed by seed."""
    return _log_losses(case, case.depth, steps, device, folder) - _log_losses(
        case, case.other, steps, device, folder
    )


_MADE: dict[str, int | str] = {"corpus": "chains and brackets", "vocabulary": 48}
_MADE_DEPTHS = (1, 2, 3, 6)


@claim(
    Lt(loss, log(vocabulary) - 1),
    cases={
        "long": (
            *(_net(steps, depth=depth) for steps in UPDATES for depth in DEPTHS),
            *(_net(steps, depth=depth, **_MADE) for steps in UPDATES[2:] for depth in _MADE_DEPTHS),
        )
    },
    control=Control(
        _net(300, depth=1), "four nats below equal chances", statement=Lt(loss, log(vocabulary) - 4)
    ),
    supports="depth_width/depth_gains_by_updates",
    **_OF_NETS,
)
@noted(_HOW)
def losses_by_updates(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Precondition: language models of every depth learn, by each number of updates.

    The validation loss of language models of equal $12 L d^2$ is typically more than one nat per
    token below that of equal chances, $\log V$, after 300 to 18,000 updates.
    """
    return sample(np.array(_final(case, case.depth, case.steps, device, folder).losses))


_STEPS = {
    "long": tuple(
        _net(steps, depth=depth, other=other)
        for steps in UPDATES
        for depth, other in pairwise(DEPTHS)
    )
}


@claim(
    Gt(gain, 0),
    cases=_STEPS,
    expected="FAILS",
    control=Control(
        _net(300, depth=1, other=2), "a twentieth of the loss", statement=Gt(gain, Rational(1, 20))
    ),
    cited="Bears on whether a small language model should be deeper the longer it is trained.",
    **_OF_NETS,
)
@noted(_HOW)
def depth_gains_by_updates(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """At 82k weights each step of depth gains, however long trained.

    At equal $12 L d^2$ and equal updates, 300 to 18,000, the loss of language models of 1, 2, 3, 4
    and 6 layers is typically larger than that of the next deeper ones, of 2, 3, 4, 6 and 12.
    """
    return sample(_gains(case, case.steps, device, folder))


@claim(
    Gt(extra, 0),
    cases={
        "long": tuple(
            _net(later, depth=1, other=other, earlier=earlier)
            for earlier, later in pairwise(UPDATES)
            for other in DEPTHS[1:]
        )
    },
    control=Control(
        _net(1_000, depth=1, other=2, earlier=300, replicas=4),
        "a twentieth of the loss more",
        statement=Gt(extra, Rational(1, 20)),
    ),
    supports="depth_width/depth_gains_by_updates",
    **_OF_NETS,
)
@noted(_HOW)
def depth_gains_more_when_trained_longer(
    case: Case, device: str = "cpu", folder: str = ""
) -> Sample:
    """Longer training favours the deeper net.

    At equal $12 L d^2$, what language models of 2 to 12 layers gain over those of one layer, in ln
    loss, is typically more after 1,000, 4,000 and 18,000 updates than after 300, 1,000 and 4,000.
    """
    later = _gains(case, case.steps, device, folder)
    earlier = _gains(case, case.earlier, device, folder)
    return sample(later - earlier[: len(later)])


def _at_operations(case: Case, depth: int, device: str, folder: str) -> np.ndarray:
    """ln of the losses at so many operations as the cheaper of the two nets needs for all updates:
    between trainings of two numbers of updates, ln loss is taken as linear in ln updates."""
    cost = {}
    for layers in (case.depth, case.other):
        width = width_of(SIZE, layers, case.heads)
        cost[layers] = training_operations(
            layers, width, case.heads, case.vocabulary, case.length
        ) - (0 if case.readout else 6 * case.vocabulary * width)
    # The cheaper net makes all the updates, so that none is asked for more than were made.
    updates = case.steps * min(cost.values()) / cost[depth]
    known = [steps for steps in UPDATES if steps <= case.steps]
    curves = [_final(case, depth, steps, device, folder).losses for steps in known]
    seeds = len(curves[-1])
    return np.array(
        [
            np.log(interpolated(known, [losses[seed] for losses in curves], updates))
            for seed in range(seeds)
        ]
    ) + off_size(case, depth)


@claim(
    Gt(gain, 0),
    cases={
        "long": tuple(
            _net(steps, depth=depth, other=other, readout=readout)
            for readout in (True, False)
            for steps in UPDATES[1:]
            for depth, other in pairwise(DEPTHS)
        )
    },
    expected="FAILS",
    control=Control(
        _net(1_000, depth=1, other=2, readout=False),
        "a twentieth of the loss",
        statement=Gt(gain, Rational(1, 20)),
    ),
    supports="depth_width/depth_gains_by_updates",
    **_OF_NETS,
)
@noted(_HOW)
def depth_gains_at_equal_operations(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """At equal operations each step of depth gains at 82k weights.

    At equal $12 L d^2$ and equal operations of training, with those of the read-out of 2,000 tokens
    counted or not, the loss of language models of 1, 2, 3, 4 and 6 layers is typically larger than
    that of the next deeper ones.

    The wide net pays more for its read-out, so that counting it favours depth at such sizes; in
    large models it is next to nothing. The net whose update costs less makes all updates. The loss
    of the other at fewer, 82 % or more, is read between its trainings: ln loss linear in ln
    updates. Where that curve is convex the loss so read is too large, which favours the deeper net
    where the read-out counts, and the shallower one where it does not.
    """
    return sample(
        _at_operations(case, case.depth, device, folder)
        - _at_operations(case, case.other, device, folder)
    )


@claim(
    Gt(gain, 0),
    cases={
        "long": tuple(
            _net(steps, depth=depth, other=other, **_MADE)
            for steps in UPDATES[2:]
            for depth, other in pairwise(_MADE_DEPTHS)
        )
    },
    control=Control(
        _net(300, depth=1, other=2, **_MADE),
        "a fifth of the loss",
        statement=Gt(gain, Rational(1, 5)),
    ),
    supports="depth_width/depth_gains_by_updates",
    **_OF_NETS,
)
@noted(
    "The text is made here, 1.16 million tokens of 48 kinds: passages of six assignments to digits "
    "or to names assigned before, of which two are asked for, and words of 16 nested pairs of four "
    "kinds of brackets.",
    _HOW,
)
def depth_gains_where_text_needs_it(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""On chains of pointers and nested brackets each step of depth gains.

    At equal $12 L d^2 = 82{,}000$ and equal updates, 4,000 and 18,000, the loss of language models
    of 1, 2 and 3 layers on a text of pointer chains and nested brackets is typically larger than
    that of the next deeper ones, of 2, 3 and 6.

    Theory says that both need depth: a chain of $k$ pointers takes about $\log_2 k$ layers, and a
    bracket is closed by looking past those that are closed before it.
    """
    return sample(_gains(case, case.steps, device, folder))
