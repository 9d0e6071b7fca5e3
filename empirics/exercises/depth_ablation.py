"""Exercise: language models of 2, 4, 8 and 16 layers at equal width, and deep against wide at equal
size."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Gt, Lt
from depthlaw.theory.claims.symbols import quantity, vocabulary

from ..signal_propagation.exponents import sample
from ..trained_depth.experiment import FIT
from .corpus import STANDARD
from .exercise import loss

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
    model = recipe(depth, width=width, vocabulary=case.vocabulary, seeds=case.replicas, **much)
    return np.array(trained(model, case.corpus, device=device, folder=folder).losses)


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
    r"""Precondition: language models learn within the budget, at every depth.

    After training, the validation loss of pre-norm language models of 2, 4, 8 and 16 layers, and of
    4 layers of twice the width, is typically more than one nat per token below that of equal
    chances, $\log V$.

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

    The validation loss of language models of $L = 2$, 4 and 8 layers minus that of $2 L$ layers,
    equal in width, data, learning rate and updates, is typically positive, seed by seed; and so is
    that of 4 layers of width 96 minus that of 16 layers of width 48, which have as many weights in
    their layers ($12 L d^2$).

    Checked sentences: "The trend: more layers, more parameters, more capability.", at equal width,
    where the deeper net has more parameters and takes more operations; and "Empirically, depth wins
    for most tasks:", at equal size, with the ratios of the text's options A and B (6 layers of
    2048, 24 layers of 1024), where the wide net has twice the embeddings besides. All see the same
    tokens, about half a million. One learning rate serves all nets and is tuned for none: the
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
