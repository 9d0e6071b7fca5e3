"""Exercise: language models of 2, 4, 8 and 16 layers at equal width, and deep against wide at equal
size."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import Case, Control, Measured, Sample, Source, claim
from depthlaw.theory.claims.relations import Gt, Lt
from depthlaw.theory.claims.symbols import quantity, vocabulary

from ..figure_data import Found, Panel, Series, Table, curve, half_width, mean, written
from ..signal_propagation.exponents import sample
from ..trained_depth.experiment import FIT
from .corpus import STANDARD
from .exercise import Exercise, loss

gained = quantity(
    "loss_gained",
    "g",
    "validation loss of one net minus that of another, in nats per token",
    "real",
)
# Longest first, so that two processes end together. The wide net has as many weights in its layers
# as the deepest one: a quarter of the layers at twice the width, as the text's options A and B.
DEPTHS, WIDE = (16, 8, 4, 2), 4
# Updates: as many as two cores do in nine minutes.
_CPU = partial(Case, width=48, steps=450, vocabulary=512, replicas=8, corpus=STANDARD)
_DEEPEST, *_SHALLOWER = (_CPU(depth=depth) for depth in DEPTHS)

NETS: dict[str, Any] = {"portable": False, **FIT}
_text = partial(Source, "deepnetworks63")


def losses(
    case: Case, depth: int, width: int, device: str, folder: str, *, learns: bool = True
) -> np.ndarray:
    """Validation losses of a case's nets at a depth and a width, one per seed; without `learns`
    those of nets as they are initialised."""
    from .language_model import recipe, trained

    much: dict[str, Any] = {"steps": case.steps} if learns else {"steps": 1, "rate": 0.0}
    made = recipe(depth, width=width, vocabulary=case.vocabulary, seeds=case.replicas, **much)
    return np.array(trained(made, case.corpus, device=device, folder=folder).losses)


def _untrained(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    return sample(losses(case, case.depth, case.width, device, folder, learns=False))


@claim(
    Lt(loss, log(vocabulary) - 1),
    source=Source("depthlaw", "what the exercise rests on"),
    cases={
        "exercises": (
            _DEEPEST,
            _SHALLOWER[0],
            Case(**_DEEPEST.fields() | {"depth": DEPTHS[0] // WIDE, "width": 2 * _DEEPEST.width}),
            *_SHALLOWER[1:],
        )
    },
    control=Control(_CPU(depth=2), "nets as they are initialised", measured=_untrained),
    supports="exercises/deeper_is_better",
    **NETS,
)
def language_models_learn(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Precondition: language models learn within the budget, at every depth.

    After training, the validation loss of pre-norm language models of 2, 4, 8 and 16 layers, and of
    4 layers of twice the width, is typically more than one nat per token below that of equal
    chances, log V.

    Nets that learn nothing would say nothing of depth. Their losses are what the exercise's table
    and picture show. The interval is over seeds; the text, its tokens and the windows that a loss
    is the mean over are the same for all.
    """
    return sample(losses(case, case.depth, case.width, device, folder))


@claim(
    Gt(gained, 0),
    source=_text("Section 6.3, Why Depth?, Depth vs Width; Modern Model Depths; Exercises, 1"),
    wording="universal",
    known="FAILS",
    # And the deepest net against one of a quarter of its layers and twice the width.
    cases={"exercises": (*_SHALLOWER, Case(**_DEEPEST.fields() | {"against": "wide"}))},
    control=Control(
        _CPU(depth=2), "a doubling gains a tenth of a nat", statement=Gt(gained, Rational(1, 10))
    ),
    cited=(
        "Bears on a common exercise: which of two nets of equal size wins, the deep or the "
        "wide one."
    ),
    **NETS,
)
def deeper_is_better(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """The deeper net has the lower loss, at equal width or size.

    The validation loss of language models of L = 2, 4 and 8 layers minus that of 2 L layers, equal
    in width, data, learning rate and updates, is typically positive, seed by seed; and so is that
    of 4 layers of width 96 minus that of 16 layers of width 48, which have as many weights in their
    layers (12 L d^2).

    Checked sentences: "The trend: more layers, more parameters, more capability.", at equal width,
    where the deeper net has more parameters and takes more operations; and "Empirically, **depth
    wins** for most tasks:", at equal size, with the ratios of the text's options A and B (6 layers
    of 2048, 24 layers of 1024), where the wide net has twice the embeddings besides. All see the
    same tokens, about half a million. One learning rate serves all nets and is tuned for none: the
    verdict is one at this budget and rate. Nets that are trained for longer may order otherwise,
    and where it fails, that refutes no trend among nets that are trained out. Whether each doubling
    gains less than the one before is not asked, since none is shown to gain.
    """
    if case.get("against", "") == "wide":
        return sample(
            losses(case, case.depth // WIDE, 2 * case.width, device, folder)
            - losses(case, case.depth, case.width, device, folder)
        )
    return sample(
        losses(case, case.depth, case.width, device, folder)
        - losses(case, 2 * case.depth, case.width, device, folder)
    )


# --- what the exercise shows ---------------------------------------------------------------------


def _size(found: Found) -> Case:
    """Any case of the narrow nets that is recorded: all have the same sizes."""
    cases = [case for each in found.values() for case in each]
    return min(cases, key=lambda case: case.width, default=_CPU(depth=DEPTHS[-1]))


def _by_depth(found: Found, name: str) -> dict[int, Measured]:
    width = _size(found).width
    return {case.depth: value for case, value in found.get(name, {}).items() if case.width == width}


def _wide_net(found: Found) -> Measured | None:
    width = _size(found).width
    return next(
        (
            value
            for case, value in found.get("language_models_learn", {}).items()
            if case.width != width
        ),
        None,
    )


def _table(found: Found) -> Table:
    learnt, gains = (
        _by_depth(found, name) for name in ("language_models_learn", "deeper_is_better")
    )
    width, wide = _size(found).width, _wide_net(found)
    rows = [
        (
            depth,
            width,
            12 * depth * width**2,
            mean(learnt.get(depth)),
            half_width(learnt.get(depth)),
            mean(gains.get(depth // 2)),
            half_width(gains.get(depth // 2)),
        )
        for depth in sorted(DEPTHS)
    ]
    short = DEPTHS[0] // WIDE
    rows.append((short, 2 * width, 48 * short * width**2, mean(wide), half_width(wide), None, None))
    return Table(
        ("layers", "width", "weights", "validation loss", "+-", "gain by doubling", "+-"),
        tuple(rows),
    )


def _panels(found: Found) -> tuple[Panel, ...]:
    size, short = _size(found), DEPTHS[0] // WIDE
    losses_by_depth = [
        curve(f"width {size.width}", _by_depth(found, "language_models_learn")),
        curve(
            f"width {2 * size.width}, weights as {DEPTHS[0]} layers of {size.width}",
            {short: _wide_net(found)},
            kind="points",
        ),
    ]
    gains = curve(
        "measured",
        {
            2 * depth: value
            for depth, value in _by_depth(found, "deeper_is_better").items()
            if depth < DEPTHS[0]
        },
        kind="points",
    )
    nothing = Series("no gain", (2 * DEPTHS[-1], DEPTHS[0]), (0.0, 0.0), kind="reference")
    return (
        Panel(
            f"Loss against depth, {size.steps} updates",
            "layers",
            "validation loss, nats per token",
            tuple(filter(None, losses_by_depth)),
            x_scale="log",
        ),
        Panel(
            "What doubling the depth gains",
            "layers after doubling",
            "loss gained, nats per token",
            (*filter(None, [gains]), nothing),
            x_scale="log",
        ),
    )


def _says(found: Found) -> str:
    size = _size(found)
    learnt, gains = (
        _by_depth(found, name) for name in ("language_models_learn", "deeper_is_better")
    )
    # The deepest net is compared with the wide one alone.
    wide = gains.get(DEPTHS[0])
    depths, short = sorted(DEPTHS), DEPTHS[0] // WIDE
    return (
        f"At width {size.width}, after {size.steps} updates, {size.replicas} seeds each, nets of "
        f"{', '.join(map(str, depths))} layers have a validation loss of "
        f"{', '.join(written(learnt.get(depth)) for depth in depths)} nats per token (equal "
        f"chances: {math.log(size.vocabulary):.3f}; intervals of 95 % over seeds). Doubling gains "
        + ", ".join(f"{written(gains.get(a))} from {a} to {b}" for a, b in pairwise(depths))
        + f". With as many weights in its layers, a net of {short} layers and twice the width has "
        f"a loss of {written(_wide_net(found))}, that of {DEPTHS[0]} layers subtracted: "
        f"{written(wide)}."
    )


EXERCISE = Exercise(
    1,
    "depth-ablation",
    "loss of language models of 2, 4, 8 and 16 layers",
    '"Given a fixed parameter budget, should we go deep (more layers) or wide (larger '
    'dimensions)? ... Empirically, depth wins for most tasks"; and of models as they are used: '
    '"more layers, more parameters, more capability" (Section 6.3, Why Depth? and Modern Model '
    "Depths). So a deeper net should have the lower loss, at equal width and at an equal number of "
    "weights. How much is not said.",
    (
        "exercises/language_models_learn",
        "exercises/deeper_is_better",
    ),
    _table,
    _panels,
    _says,
    trains=("exercises/language_models_learn",),
)
