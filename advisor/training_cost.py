"""What training a net takes on the GPUs that somebody has: a plan, memory by part, hours."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from .architecture import Architecture
from .base.quantities import UsageError, size
from .budgets import TOKENS_PER_PARAMETER, Resolved, trains
from .counting import count, flops, weights
from .hardware import gpu
from .latency import REACH
from .shapes import TRAINING_CONTEXT, Constraints, demands_of
from .step_time import (
    Efficiencies,
    Nearest,
    StepTime,
    efficiencies,
    efficiency_of,
    layer_seconds,
    nearest_training,
    overhead,
    step_time,
)
from .training_memory import PARTS, ParallelPlan, divides, kept_by_kind, simplest, training_memory

# What of a plan is chosen where it is not demanded, in the order in which it is spared.
_FREE = ("recompute", "pipeline", "tensor", "zero")
# The GPUs of a machine, all of which divide each matrix.
_MACHINE = ParallelPlan(8, tensor=8)


class KindCost(NamedTuple):
    """What the layers of one kind, or the weights of one role, take of a token in training."""

    layers: int | None  # None: of a role, such as the output layer
    operations: int  # forward and backward, of all of them
    bytes: int  # that they keep for the backward pass in 16 bits


@dataclass(frozen=True)
class TrainingCost:
    """A training on GPUs of one kind: how it is divided, what each GPU holds, how long it takes.

    Times are low, middle and high: by the efficiencies of published trainings, by measured steps
    with their 95 % intervals, or three times the same by a utilisation.
    """

    device: str
    plan: ParallelPlan
    chosen: tuple[str, ...]  # what of the plan nobody demanded
    memory: dict[str, int]  # bytes on the fullest GPU, by part
    bytes: int  # all parts together
    room: int | None  # bytes that a GPU has
    overhead: float  # how many times the counted memory programs mostly took
    most_overhead: float  # the most that one of them took
    fits: bool | None  # whether that is in the room; None where no room is known
    lost: dict[str, float]  # what the plan does not divide evenly: the share of its work lost
    lost_over_8: dict[str, float]  # the same where the 8 GPUs of a machine divided each matrix
    tokens: float
    assumed: bool  # the tokens: 20 a parameter, since none are given
    context: int  # tokens of a sequence
    steps: float
    step: StepTime  # at the middle
    seconds: tuple[float, float, float]  # of a step
    hours: tuple[float, float, float]  # of the training
    given: float | None  # hours that were given for it
    over: tuple[float, float, float] | None  # by which `hours` miss those; below 0: hours to spare
    utilisation: tuple[float, float, float]  # of the GPUs' peak, in the same order
    efficiencies: Efficiencies | None  # that published trainings reached, where times are by them
    nearest: Nearest | None  # the published training that is nearest in size, beside the model
    kinds: dict[str, KindCost]  # of a net with layers of other kinds than attention; else empty

    @property
    def kept(self) -> str | None:
        """Whether the hours given are kept: "yes"; "likely", by the middle; "unlikely", by the low
        alone; "no"; None where none are given."""
        if self.over is None:
            return None
        return ("no", "unlikely", "likely", "yes")[sum(hours <= 0 for hours in self.over)]


def training_cost(
    a: Architecture, done: Resolved, c: Constraints, known_by: int | None = None
) -> TrainingCost | None:
    """What it takes to train a net on the GPUs of a budget; None without GPUs that train.

    Sequences have the net's context, at most 4,096 tokens. What of the plan is not demanded is
    `simplest`, with room for what programs took besides.

    Raises:
        UsageError: for a plan that cannot be, a step of more tokens than the training, measured
            steps without a batch, and kinds of layers of which it is not known what training keeps.

    >>> from .budgets import Budget, resolve
    >>> done = resolve(Budget(total=1.1e9, gpu="A100", gpus=8), Constraints())
    >>> cost = training_cost(Architecture(24, 2048, 16, 5632, 32000), done, Constraints())
    >>> cost.plan.data, cost.fits, [round(hours) for hours in cost.hours]
    (8, True, [51, 57, 73])
    """
    b = done.budget
    device = gpu(b.gpu) if b.gpu else None
    if device is None or device.flops is None or not trains(b):
        return None
    net = a.with_(context=min(a.context, TRAINING_CONTEXT))
    factor, _, most = overhead()
    plan, free = _plan(net, done, c, math.inf if device.memory is None else device.memory / factor)
    held = training_memory(net, plan)
    memory = {part: math.ceil(getattr(held, part)) for part in PARTS}
    tokens = done.tokens or TOKENS_PER_PARAMETER * count(a).active
    if (each := plan.sequences * net.context) > tokens:
        raise UsageError(
            f"one step of {plan.sequences:,} sequences of {net.context:,} tokens has more tokens "
            f"than the training, {size(tokens)}; give fewer --batch, or more --tokens"
        )
    known = None
    if b.measured is None and b.utilisation is None:
        known = efficiencies(device, known_by=known_by, recompute=plan.recompute)
    if known is not None:
        times = [step_time(net, plan, device, e) for e in (known.high, known.middle, known.low)]
        seconds = tuple(time.seconds for time in times)
    else:
        work = each * flops(net, net.context).training
        seconds = _stated(net, done, work / (plan.gpus * device.flops))
        # What every layer took whatever its width.
        slope = b.measured.coefficients[1] if b.measured else 0.0
        kernels = layer_seconds(net, plan, slope / 1000)
        middle = efficiency_of(net, plan, device, seconds[1], kernels)
        times = [step_time(net, plan, device, middle, kernels)] * 3
    lost, lost_over_8 = (
        {name: float(part) for name, part in divides(net, each).items()}
        for each in (plan, plan if a.parts else _MACHINE)
    )
    steps = tokens / each
    low, middle, high = seconds
    share = times[1].utilisation * times[1].seconds
    fits = None if device.memory is None else factor * sum(memory.values()) <= device.memory
    hours = (steps * low / 3600, steps * middle / 3600, steps * high / 3600)
    over = None
    if (g := b.hours) is not None:
        over = (hours[0] - g, hours[1] - g, hours[2] - g)
    return TrainingCost(
        device.name,
        plan,
        free,
        memory,
        sum(memory.values()),
        None if device.memory is None else round(device.memory),
        factor,
        most,
        fits,
        lost,
        lost_over_8,
        tokens,
        done.tokens is None,
        net.context,
        steps,
        times[1],
        (low, middle, high),
        hours,
        b.hours,
        over,
        (share / low, share / middle, share / high),
        known,
        nearest_training(net, device, known_by),
        costs_by_kind(net, net.context) if net.mixed else {},
    )


def costs_by_kind(a: Architecture, context: int) -> dict[str, KindCost]:
    """What a token of a decoder takes in training by the kind of layer that mixes tokens, a key of
    layer_kinds.json or "attention" or "sliding-window", and for other weights by their role.

    Operations are those of `counting.flops`: a recurrence as it is written. Bytes are those of
    `training_memory.kept_by_kind`, and raise as these.
    """
    operations: Counter[str] = Counter()
    for w in weights(a):
        if len(w.shape) == 2:
            operations[w.kind or w.role] += 6 * w.passes * math.prod(w.shape)
    for part in a.parts:
        operations[part.kind] += 6 * part.layers * part.products
    kept = {kind: 2 * sum(stored) for kind, stored in kept_by_kind(a).items()}
    layers = a.layer_kinds
    pair = 6 * a.heads * (a.head_size + a.value_size)
    of_weights, of_keeping = operations.pop("attention", 0), kept.pop("attention", 0)
    for kind, reach in (("attention", context), ("sliding-window", min(context, a.window or 1))):
        if own := layers.get(kind):
            operations[kind] = of_weights * own // a.attending + own * pair * reach
            kept[kind] = of_keeping * own // a.attending
    return {
        kind: KindCost(layers.get(kind), number, kept.get(kind, 0))
        for kind, number in operations.items()
        if number
    }


def _plan(
    a: Architecture, done: Resolved, c: Constraints, room: float
) -> tuple[ParallelPlan, tuple[str, ...]]:
    """The plan of what is demanded, and the simplest of what is not; and what that is."""
    b = done.budget
    free = {name for name in _FREE if getattr(b, name) is None} - {*demands_of(c)}
    plan = ParallelPlan(
        int(b.gpus),
        c.tensor,
        c.pipeline,
        b.expert_parallel or 1,
        b.zero or 0,
        b.recompute or "selective",
        b.microbatch or 1,
        b.batch,
    )
    return simplest(a, plan, room, free), tuple(name for name in _FREE if name in free)


def _stated(a: Architecture, done: Resolved, at_peak: float) -> tuple[float, float, float]:
    """Seconds of a step by measured steps, or by a utilisation."""
    b = done.budget
    if b.measured is None:
        return (at_peak / b.share,) * 3
    if b.batch is None:
        raise UsageError(
            "--measured holds milliseconds of a training step: give the sequences of that step "
            "too, such as --batch 512"
        )
    if far := b.measured.outside(a, REACH):
        raise UsageError(f"the measured steps are too far from this net: {far}; measure nearer")
    low, middle, high = b.measured.ms(a)
    return low / 1000, middle / 1000, high / 1000
