"""Exercise: remove layers from a trained language model, one at a time, all below and all above a
depth.

A net without some of its layers is a net with the parameters of the others; nothing is trained
again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Gt, Le, Lt
from depthlaw.theory.claims.symbols import quantity, vocabulary

from ..signal_propagation.exponents import sample
from ..trained_depth.experiment import FIT
from .corpus import STANDARD
from .exercise import loss

if TYPE_CHECKING:
    from ..nets.net import Net
    from .language_model import Models

increase = quantity(
    "loss_increase",
    r"\Delta\mathcal{L}",
    "validation loss without some layers minus that of the whole net, in nats per token",
    "real",
)
share = quantity(
    "lost_share",
    r"\Delta\mathcal{L}/(\ln V-\mathcal{L})",
    "loss added by removing layers, over what training took off the loss of equal chances",
    "real",
)
excess = quantity(
    "excess_increase",
    r"\Delta\mathcal{L}-\Delta\mathcal{L}'",
    "loss added by removing some layers minus that by removing others, in nats per token",
    "real",
)

# Also probed by `layer_probing`, and trained once for both.
LAYERS, STEPS = 12, 500
# Windows in a step, half as many as in other exercises, for twice as many nets: what a middle layer
# adds is small, and 8 nets do not tell it from nothing.
BATCH, REPLICAS = 8, 16
# Windows of the validation text.
WINDOWS = 128
# The layer that the text asks about.
MIDDLE = 6

_QUESTION = Source("deepnetworks63", "Exercises, 5: Remove a layer")
_LEARNS = Source("deepnetworks63", "What Each Layer Learns")
LAYERS_REMOVED: dict[str, Any] = {
    **FIT,
    "wording": "universal",
    "portable": False,
    "reads": ("first", "last"),
}
whole_net = partial(
    Case, layers=LAYERS, width=48, steps=STEPS, vocabulary=512, replicas=REPLICAS, corpus=STANDARD
)
_SINGLE = tuple((place, place) for place in range(1, LAYERS + 1))
# All layers up to a depth, and all above it.
_LOWER = tuple((1, place) for place in range(2, LAYERS))
_UPPER = tuple((place + 1, LAYERS) for place in range(1, LAYERS - 1))


def _cases(*removed: tuple[int, int]) -> dict[str, tuple[Case, ...]]:
    """By the first and the last of the layers that are removed; 0 and 0: none."""
    return {"exercises": tuple(whole_net(first=first, last=last) for first, last in removed)}


def without(net: Net, first: int, last: int) -> Net:
    """A net without its layers first, ..., last, counted from 1: its other weights are shared.

    Args:
        net: its shape is not looped.
        first, last: the layers that go; at least one must stay.

    Raises:
        ValueError: where there are no such layers, none would stay, or layers are looped.

    >>> import numpy as np
    >>> from depthlaw.empirics.nets.net import Net, NetShape
    >>> net = Net(NetShape(width=4, depth=3), rng=np.random.default_rng(0))
    >>> shorter = without(net, 2, 2)
    >>> shorter.shape.depth, shorter.qkv[1] is net.qkv[2]
    (2, True)
    """
    from ..nets.net import Net

    shape = net.shape
    if not 1 <= first <= last <= shape.depth or last - first + 1 == shape.depth or shape.loops > 1:
        raise ValueError(
            f"layers {first} to {last} of {shape.depth}, run {shape.loops} times: "
            "accepted are layers from 1 on that leave at least one, of nets run once"
        )
    stay = [place for place in range(shape.depth) if not first <= place + 1 <= last]
    of_layer = shape.sublayers if shape.factors else 0
    factors = tuple(
        factor
        for place in stay
        for factor in shape.factors[place * of_layer : (place + 1) * of_layer]
    )
    some = next(net.parameters())
    shorter = Net(
        replace(shape, depth=len(stay), factors=factors),
        replicas=net.replicas,
        dtype=some.dtype,
        device=some.device,
    )
    for name, _ in list(shorter.named_parameters()):
        kind, _, place = name.partition(".")
        if place:
            getattr(shorter, kind)[int(place)] = getattr(net, kind)[stay[int(place)]]
        else:
            setattr(shorter, kind, getattr(net, kind))
    return shorter.train(net.training)


def trained_net(case: Case, device: str, folder: str, *, learns: bool = True) -> Models:
    """The language models of a case; without `learns` as they are initialised."""
    from .language_model import recipe, trained

    much = {"steps": case.steps} if learns else {"steps": 1, "rate": 0.0}
    model = recipe(
        case.layers,
        width=case.width,
        batch=BATCH,
        vocabulary=case.vocabulary,
        seeds=case.replicas,
        **much,
    )
    return trained(model, case.corpus, device=device, folder=folder)


@lru_cache(maxsize=256)
def _losses(case: Case, device: str, folder: str, learns: bool) -> np.ndarray:
    """Validation loss of each replica without the layers first, ..., last of a case; first = 0
    removes none."""
    from .language_model import validation_losses

    models = trained_net(case, device, folder, learns=learns)
    net = without(models.net, case.first, case.last) if case.first else models.net
    return np.array(validation_losses(net, models.validation, device, windows=WINDOWS))


def increases(case: Case, device: str, folder: str, *, learns: bool = True) -> np.ndarray:
    """What removing a case's layers adds to the validation loss of each replica."""
    whole = Case(**case.fields() | {"first": 0, "last": 0})
    without, full = (_losses(of, device, folder, learns) for of in (case, whole))
    return without - full


@claim(
    Lt(loss, log(vocabulary) - 1),
    source=Source("depthlaw", "check of the exercise"),
    cases=_cases((0, 0)),
    control=Control(
        whole_net(first=0, last=0),
        "nets as they are initialised",
        measured=lambda case, device="cpu", folder="": sample(_losses(case, device, folder, False)),
    ),
    supports="exercises/together_costs_more",
    **LAYERS_REMOVED | {"wording": "derived"},
)
def twelve_layers_learn(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Precondition: language models of twelve layers learn.

    The nets that layers are removed from have a validation loss at least 1 nat per token below that
    of equal chances for all tokens, $\ln V$.
    """
    return sample(_losses(case, device, folder, True))


@claim(
    Gt(increase, 0),
    cases=_cases(*_SINGLE, *_LOWER, *_UPPER),
    source=_LEARNS,
    post_hoc=(
        "Sixteen nets in place of eight since a trial, in which eight did not tell what a middle "
        "layer adds."
    ),
    control=Control(
        whole_net(first=MIDDLE, last=MIDDLE),
        "a middle layer adds more than 1/200 nat",
        statement=Gt(increase, Rational(1, 200)),
    ),
    supports="exercises/together_costs_more",
    **LAYERS_REMOVED,
)
def every_layer_matters(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Removing any layer of a trained net of twelve raises its loss.

    Trained language models of twelve layers have a larger validation loss without any one of their
    layers, without all up to a depth, and without all above a depth: none is idle.

    Our reading of "Different layers learn different things", which says nothing of losses. Sixteen
    nets are trained since in a trial eight did not tell what a middle layer adds from nothing.
    """
    return sample(increases(case, device, folder))


@claim(
    Le(share, Rational(1, 10)),
    source=_QUESTION,
    cases=_cases(*_SINGLE[3:9]),
    control=Control(whole_net(first=1, last=LAYERS - 1), "all layers but the last are removed"),
    supports="exercises/together_costs_more",
    **LAYERS_REMOVED | {"wording": "derived"},
)
def middle_layers_are_spared(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""A middle layer costs at most a tenth of what was learned.

    Removing any one of the layers 4 to 9 of trained language models of twelve layers, such as layer
    6, adds at most a tenth of $\ln V$ minus their validation loss, what training took off the loss
    of equal chances.

    The text asks "What happens if you remove layer 6 from a trained 12-layer model?", and does not
    answer; the tenth is ours. An equal share of twelve layers would be a twelfth.
    """
    whole = Case(**case.fields() | {"first": 0, "last": 0})
    learned = math.log(case.vocabulary) - _losses(whole, device, folder, True)
    return sample(increases(case, device, folder) / learned)


def _lower_over_others(case: Case, device: str, folder: str) -> np.ndarray:
    """What removing the lowest layers adds, minus what removing as many others does: those of the
    case, or the highest where the case's are the lowest."""
    count = case.last - case.first + 1
    lowest = Case(**case.fields() | {"first": 1, "last": count})
    highest = Case(**case.fields() | {"first": case.layers - count + 1, "last": case.layers})
    others = highest if case == lowest else case
    return increases(lowest, device, folder) - increases(others, device, folder)


@claim(
    Gt(excess, 0),
    cases=_cases(*_SINGLE[1:], (1, 2), (1, 4), (1, 6)),
    source=_LEARNS,
    control=Control(
        whole_net(first=1, last=2),
        "the highest in the place of the lowest",
        measured=lambda case, device="cpu", folder="": sample(
            -_lower_over_others(case, device, folder)
        ),
    ),
    supports="exercises/together_costs_more",
    **LAYERS_REMOVED,
)
def lower_layers_cost_more(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Removing the lowest layers costs more than removing as many others.

    In trained language models of twelve layers, removing the first layer adds more to the
    validation loss than removing any other one layer, and removing the 2, 4 or 6 lowest more than
    removing as many of the highest: the others build on what these do.

    Our reading: the text calls what early layers learn "Low-level patterns", on which later layers
    build, and says nothing of what removing them costs.
    """
    return sample(_lower_over_others(case, device, folder))


def _together_over_sum(case: Case, device: str, folder: str) -> np.ndarray:
    alone = sum(
        increases(Case(**case.fields() | {"first": place, "last": place}), device, folder)
        for place in range(case.first, case.last + 1)
    )
    return np.asarray(increases(case, device, folder) - alone)


@claim(
    Gt(excess, 0),
    cases=_cases((4, 9), (5, 8), (6, 7)),
    source=_LEARNS,
    control=Control(
        whole_net(first=4, last=9),
        "the sum in the place of what all cost together",
        measured=lambda case, device="cpu", folder="": sample(
            -_together_over_sum(case, device, folder)
        ),
    ),
    cited="Bears on whether the cost of removing layers may be added up from single removals.",
    **LAYERS_REMOVED,
)
def together_costs_more(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Removing middle layers together costs more than the sum of removing each.

    In trained language models of twelve layers, removing the layers 6 and 7, 5 to 8, or 4 to 9
    together adds more to the validation loss than what removing each of them alone adds, summed up:
    layers stand in for one another.

    Our reading: the text says that layers "compose these computations hierarchically", and nothing
    of sums.
    """
    return sample(_together_over_sum(case, device, folder))
