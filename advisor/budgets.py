"""What somebody has (parameters, FLOPs, GPU-hours, tokens, memory, milliseconds) as one size.

Training FLOPs are C = 6 N D for N active parameters and D tokens (Kaplan et al. 2020,
arXiv:2001.08361; recalled), where those of looped layers count as often as a token passes them
(derived). For a net with tied embeddings that is the count of its matrix products
without attention (derived; a test counts them). Where tokens are open, D = 20 N, a rule of thumb
for the least loss of dense nets at given FLOPs (Hoffmann et al. 2022, arXiv:2203.15556; recalled).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .architecture import Architecture
from .base.quantities import LEAST, MOST, UsageError, binary, shown, size
from .counting import count, kv_numbers, passed
from .hardware import gpu, slowest_with
from .latency import REACH, Fit
from .shapes import (
    Constraints,
    Measure,
    Shape,
    Target,
    depth_at_aspect,
    legal_depths,
    measure,
    nearest,
    shapes,
    template,
)

if TYPE_CHECKING:
    from .training_memory import Recompute

FLOPS_PER_PARAMETER_AND_TOKEN = 6
TOKENS_PER_PARAMETER = 20
# Of the peak, where nobody says.
UTILISATION = 0.4
# What follows from two numbers may differ by so much from a third one.
_AGREE = 0.05
# Bytes of a number in the KV cache; weights may be stored in fewer.
_CACHE_BYTES = 2
# How far the target stays below the largest size that keeps the limits, where nothing else gives a
# size: shapes of other depths round to a little more.
_MARGIN = 0.02
# d / L of the shape by which shares of a size are estimated before a depth is known; nearly any
# does, as they hardly depend on it.
_ASPECT = 64


@dataclass(frozen=True)
class Budget:
    """The budget of a question; at least one entry must fix a size."""

    total: float | None = None  # parameters, all of them
    nonembedding: float | None = None  # without embeddings and output layer
    active: float | None = None  # that a token uses
    flops: float | None = None  # of the whole training
    gpu: str | None = None  # what it is trained on
    gpus: int = 1
    hours: float | None = None
    utilisation: float | None = None  # of the peak, with 16-bit numbers; None: UTILISATION
    tokens: float | None = None  # of the whole training, each counted once
    epochs: int = 1  # how often each is seen
    memory: float | None = None  # bytes for weights and KV cache where it is served
    milliseconds: float | None = None  # per token, one sequence
    latency: Fit | None = None  # measured
    kv_bytes: float | None = None  # for the KV cache of one sequence at full context
    bandwidth: float | None = None  # bytes per second of the memory where it is served
    layer_milliseconds: float | None = None  # of a layer beside its weights, where it is served
    bytes_per_weight: float = 2.0  # where it is served
    zero: int | None = None  # of its training: the stage of ZeRO
    recompute: Recompute | None = None
    microbatch: int | None = None  # sequences
    batch: int | None = None  # sequences of a step
    expert_parallel: int | None = None  # GPUs among which the experts of a layer are divided
    tensor: int | None = None  # what Constraints has, where it is demanded, be it 1
    pipeline: int | None = None
    measured: Fit | None = None  # milliseconds of a training step, at that batch

    @property
    def share(self) -> float:
        """The share of the peak at which GPU-hours are operations."""
        return UTILISATION if self.utilisation is None else self.utilisation

    @property
    def seen(self) -> float | None:
        """Training tokens, as often as they are seen."""
        return None if self.tokens is None else self.tokens * self.epochs

    @property
    def size(self) -> Target | None:
        """The number of parameters that is given."""
        sizes: dict[Measure, float | None]
        sizes = {"total": self.total, "nonembedding": self.nonembedding, "active": self.active}
        return next((Target(value, of) for of, value in sizes.items() if value is not None), None)


@dataclass(frozen=True)
class Resolved:
    """A budget as a target size, and the limits that every shape must keep."""

    target: Target
    budget: Budget
    tokens: float | None = None  # as often as they are seen
    flops: float | None = None  # of the whole training, as 6 N D or as given
    hours: float | None = None  # on all GPUs together, where a GPU is named
    notes: tuple[str, ...] = ()  # how the numbers follow, in words
    each: float | None = None  # tokens for each parameter that a token uses

    def keeps(self, a: Architecture) -> bool:
        """Whether an architecture keeps all limits."""
        return self.excludes(a) is None

    def excludes(self, a: Architecture) -> str | None:
        """Which limit an architecture breaks, in words; None where it keeps all of them."""
        b = self.budget
        cache = _CACHE_BYTES * kv_numbers(a, a.context)
        if b.kv_bytes is not None and cache > b.kv_bytes:
            return (
                f"needs {binary(cache)} for the KV cache of {a.context:,} tokens, more than "
                f"{binary(b.kv_bytes)}"
            )
        if b.memory is not None:
            needed = b.bytes_per_weight * count(a).total + cache
            if needed > b.memory:
                more = f"more than {binary(b.memory)}"
                return f"needs {binary(needed)} for weights and KV cache, {more}"
        if b.milliseconds is None:
            return None
        if b.latency is not None:
            if far := b.latency.outside(a, REACH):
                return f"is too far from the measured points to say how long it takes: {far}"
            _, _, high = b.latency.ms(a)
            if high > b.milliseconds:
                return (
                    f"may take {milliseconds(high)} ms a token (upper end of 95 % by the "
                    f"measured points), more than {milliseconds(b.milliseconds)} ms"
                )
        floor = _read_ms(b, a, read_bytes(a, b.bytes_per_weight)) if b.bandwidth else 0
        if floor > b.milliseconds:
            return (
                f"takes at least {milliseconds(floor)} ms a token to read its weights at "
                f"{_rates(b)}, more than {milliseconds(b.milliseconds)} ms"
            )
        return None


def read_bytes(a: Architecture, bytes_per_weight: float) -> float:
    """Bytes of weights that are read to write one token: all active ones, at each pass of looped
    layers again, but an input table that the output layer does not use, of which one row is read.
    """
    return bytes_per_weight * (passed(a) - (0 if a.tied else count(a).embedding))


def _read_ms(b: Budget, a: Architecture, read: float) -> float:
    """Milliseconds of a token for which so many bytes are read."""
    return 1000 * read / (b.bandwidth or math.inf) + a.layers * (b.layer_milliseconds or 0)


def _rates(b: Budget) -> str:
    a_layer = f" and {b.layer_milliseconds:g} ms a layer" if b.layer_milliseconds else ""
    return f"{_gb(b.bandwidth or 0)}/s{a_layer}"


def milliseconds(number: float) -> str:
    """Three digits, without an exponent.

    >>> milliseconds(2.8994), milliseconds(1574.4)
    ('2.9', '1,574')
    """
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"


def _gb(number: float) -> str:
    """What is read, in powers of 1000 as rates are given."""
    for unit, of in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= of:
            return f"{number / of:.3g} {unit}"
    return f"{number / 1e3:.3g} kB"


def resolve(budget: Budget, constraints: Constraints, net: Architecture | None = None) -> Resolved:
    """The size that a budget asks for, what training it takes, and the limits.

    A given size is the target. Else FLOPs and tokens give C / (6 D), FLOPs alone sqrt(C / 120),
    tokens alone D / 20 active parameters; else the largest size that keeps the limits of memory and
    bandwidth. For FLOPs, parameters of looped layers count as often as a token passes them.

    Args:
        net: whose active parameters the budget names, where it is known.

    Raises:
        UsageError: where nothing gives a size, what is given contradicts itself, or no shape of the
            size keeps the limits; with the largest size that does.

    >>> done = resolve(Budget(total=3e9, gpu="h100", gpus=64, hours=336), Constraints())
    >>> f"{done.target.value:.0f} {done.target.of} {done.flops:.3g} {done.tokens:.3g}"
    '3000000000 total 3.06e+22 1.7e+12'
    >>> f"{resolve(Budget(flops=1.2e22), Constraints()).target.value:.3g}"
    '1e+10'
    """
    _check(budget)
    notes: list[str] = []
    budget = b = _serving_budget(budget, notes)
    if b.layer_milliseconds is not None:
        if b.latency:
            raise UsageError(
                "--ms-per-layer and --latency do not go together: measured points "
                "have the time of a layer in them; leave one out"
            )
        missing = ["a limit (--ms-per-token 20)"] * (b.milliseconds is None)
        missing += ["a bandwidth (--bandwidth 50GB/s)"] * (b.bandwidth is None)
        if missing:
            raise UsageError(f"--ms-per-layer needs {' and '.join(missing)} too")
    have = _training_flops(budget, notes)
    target = budget.size or _size_of_means(budget, constraints, have, notes)
    if not LEAST <= target.value <= MOST:
        raise UsageError(
            f"the budget comes to {target.value:.3g} parameters; accepted are "
            f"{LEAST:g} to {MOST:g}: give more or less of it"
        )
    tokens, needed, each = budget.seen, have, None
    if have is not None or tokens is not None:
        active = target.value * _share(target, constraints, "active")
        used = passed(net) if net else _passed(target, constraints)
        per_token = FLOPS_PER_PARAMETER_AND_TOKEN * used
        looped = constraints.loops > 1 or (net is not None and net.own_layers < net.layers)
        counted = f"{size(used)} {'parameters passed' if looped else 'active parameters'}"
        if tokens is None and have is not None:
            tokens = have / per_token
            if tokens < 1:
                raise UsageError(
                    f"{have:.3g} training FLOPs do not pay for one token: "
                    f"{counted} take {per_token:.3g} FLOPs a "
                    "token (6 N); give more FLOPs or a smaller net"
                )
            if budget.size:
                notes.append(
                    f"at 6 FLOPs per {_counted(used, looped)} and token, that is {size(tokens)} "
                    f"tokens, {tokens / active:.3g} per parameter. About {TOKENS_PER_PARAMETER} "
                    "per parameter give dense nets the least loss at these FLOPs"
                )
        elif tokens is not None:
            needed = per_token * tokens
            if have is not None and needed > have * (1 + _AGREE):
                allowed = target.value * have / needed
                raise UsageError(
                    f"{counted} on {size(tokens)} tokens take "
                    f"{needed:.3g} FLOPs (6 N D), more than the {have:.3g} that are given; they "
                    f"allow {size(have / per_token)} tokens, or about {size(allowed)} parameters"
                )
            if have is None or needed < have / (1 + _AGREE):
                again = (
                    ""
                    if budget.epochs == 1
                    else f"{budget.epochs:,} x {size(tokens / budget.epochs)} = "
                )
                taken = "token takes" if tokens == 1 else "tokens take"
                rest = "" if have is None else f", {needed / have:.0%} of what is given"
                notes.append(
                    f"{again}{size(tokens)} {taken} {needed:.3g} FLOPs{rest}: 6 for each token "
                    f"and each of {counted}"
                )
        each = None if tokens is None else tokens / active
    hours = None
    if b.gpu is not None and needed is not None:
        hours = needed / (3600 * b.gpus * _trainer(b.gpu)[1] * b.share)
    done = Resolved(target, budget, tokens, needed, hours, tuple(notes), each)
    _feasible(done, constraints)
    return done


# --- what is given --------------------------------------------------------------------------------


def _check(b: Budget) -> None:
    for name, value, most, example in (
        ("number of parameters", b.total, MOST, "3e9"),
        ("number of parameters without embeddings", b.nonembedding, MOST, "3e9"),
        ("number of active parameters", b.active, MOST, "3e9"),
        ("number of training FLOPs", b.flops, 1e35, "1e22"),
        ("hours", b.hours, 1e7, "336"),
        ("number of GPUs", b.gpus, 1e7, "64"),
        ("utilisation", b.utilisation, 1, "0.4"),
        ("number of tokens", b.tokens, 1e18, "300e9"),
        ("number of epochs", b.epochs, 1e6, "4"),
        ("memory", b.memory, 1e18, "24e9"),
        ("limit of milliseconds", b.milliseconds, 1e9, "20"),
        ("limit of the KV cache", b.kv_bytes, 1e18, "1e9"),
        ("bandwidth", b.bandwidth, 1e18, "50e9"),
        ("time of a layer", b.layer_milliseconds, 1e9, "0.05"),
        ("number of bytes of a weight", b.bytes_per_weight, 16, "2"),
    ):
        if value is None:
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 < value <= most:
            accepted = f"accepted are positive numbers up to {most:g}, such as {example}"
            raise UsageError(f"the {name} is {shown(value)}; {accepted}")
    if b.tokens is not None and b.tokens < 1:
        raise UsageError(f"{b.tokens:.3g} training tokens; accepted are 1 to 1e+18, such as 300e9")
    if b.epochs > 1 and b.tokens is None:
        raise UsageError(
            "--epochs says how often training sees the tokens, and there are no tokens; "
            "try --tokens 100M --epochs 16"
        )
    if b.gpus != int(b.gpus):
        raise UsageError(f"{b.gpus:g} GPUs; accepted are whole numbers, such as 64")
    sizes = {"total": b.total, "without embeddings": b.nonembedding, "active": b.active}
    given = [name for name, value in sizes.items() if value]
    if len(given) > 1:
        raise UsageError(
            f"more than one number of parameters ({' and '.join(given)}); give one of them, the "
            "others follow from the shape"
        )
    if b.hours is not None and b.gpu is None:
        raise UsageError("hours of which GPU? name it, such as 64 x H100")
    if b.gpus > 1 and b.gpu is None:
        raise UsageError(f"{b.gpus:,} GPUs of which type? name it, such as H100")


def _serving_budget(b: Budget, notes: list[str]) -> Budget:
    """A GPU with a limit of milliseconds, nothing to train with, is what the net is served on."""
    training = b.hours or b.flops or b.tokens
    if b.gpu is None or b.milliseconds is None or training or b.bandwidth or b.latency:
        return b
    device = gpu(b.gpu)
    notes.append(
        f"served on one {device.name}, which reads {_gb(device.bandwidth)}/s (give hours "
        "to train on it)"
    )
    return replace(b, bandwidth=device.bandwidth)


def idle_gpu(b: Budget) -> bool:
    """Whether a GPU is named, and nothing is computed from it: it trains nothing (a phone), or a
    limit of milliseconds is known by measured points.
    """
    trains = b.gpu is not None and gpu(b.gpu).flops is not None
    serves = b.milliseconds is not None and b.latency is None
    known = b.hours or b.flops or b.tokens or (trains and b.milliseconds is None)
    return b.gpu is not None and not (known or serves)


def trains(b: Budget) -> bool:
    """Whether the GPU of a budget is one to train on, and not to serve on."""
    serves = b.milliseconds is not None and not (b.hours or b.flops or b.tokens)
    return b.gpu is not None and gpu(b.gpu).flops is not None and not serves


def _training_flops(b: Budget, notes: list[str]) -> float | None:
    """The FLOPs that may be spent, None where nothing says."""
    if b.gpu is None or b.hours is None:
        if b.gpu is not None:
            named = gpu(b.gpu).name
            if idle_gpu(b):
                notes.append(f"the {named} changes nothing: no net is trained on it here")
        return b.flops
    name, peak = _trainer(b.gpu)
    flops = b.gpus * b.hours * 3600 * peak * b.share
    assumed = "" if b.utilisation is not None else ", as assumed (--utilisation)"
    notes.append(
        f"{b.gpus:,} x {name} for {b.hours:,.4g} h at {b.share:.0%} of "
        f"{peak / 1e12:,.4g} TFLOP/s{assumed}: {flops:.3g} FLOPs"
    )
    if b.flops is not None and abs(flops / b.flops - 1) > _AGREE:
        raise UsageError(
            f"{b.flops:.3g} training FLOPs, but the GPU-hours come to {flops:.3g}; "
            "give one of them, or another utilisation"
        )
    return flops


def _trainer(name: str) -> tuple[str, float]:
    """The name of a GPU, and its peak in FLOPs per second."""
    device = gpu(name)
    if device.flops is None:
        raise UsageError(
            f"for the {device.name} no rate of training is listed; name a GPU that "
            "nets are trained on, such as H100, or give the training FLOPs"
        )
    return device.name, device.flops


def _size_of_means(b: Budget, c: Constraints, have: float | None, notes: list[str]) -> Target:
    of: Measure = "active" if c.experts else "total"
    ratio = TOKENS_PER_PARAMETER
    if have is not None:
        implied = _paid(have, b.seen, of, c)
        used = _counted(_passed(Target(implied, of), c), c.loops > 1)
        if b.seen is not None:
            each = f"{b.seen / implied:.3g} tokens for each"
            notes.append(
                f"at 6 FLOPs per {used} and token: {size(implied)} active parameters, {each}"
            )
            return Target(implied, of)
        pair = f"{used if c.loops > 1 else 'parameter'} and token"
        notes.append(
            f"dense nets have the least loss at {ratio} tokens a parameter: {size(implied)} "
            f"parameters, {size(ratio * implied)} tokens, at 6 FLOPs for each {pair}"
        )
        return Target(implied, of)
    if b.tokens is not None:
        notes.append(
            f"the size is that of a dense net with {ratio} tokens a parameter, which have the "
            "least loss at their FLOPs"
        )
        return Target(b.tokens / ratio, of)
    widths = b.latency.widths if b.latency else (0, 0)
    timed = b.milliseconds is not None and (b.bandwidth is not None or widths[0] < widths[1])
    if b.memory is None and not timed:
        raise UsageError(
            "nothing fixes a size; give parameters (3B), training FLOPs (1e22), GPU-hours, tokens, "
            "memory, or milliseconds with a bandwidth or with measured points of several widths"
        )
    largest = _largest(b, c, (_ASPECT, 2 * _ASPECT))
    if largest is None:
        raise UsageError(
            "no net keeps the limits: they leave less than "
            f"{LEAST:,.0f} parameters; give more memory, time or bandwidth"
        )
    less = f"{_MARGIN:.0%} less are aimed at, for rounding"
    notes.append(f"the limits allow about {size(largest)} parameters; {less}")
    return Target(largest * (1 - _MARGIN))


def _paid(have: float, tokens: float | None, of: Measure, c: Constraints) -> float:
    """The size that FLOPs train on so many tokens, by default 20 for each parameter."""
    pairs = have / FLOPS_PER_PARAMETER_AND_TOKEN
    high = pairs / tokens if tokens else math.sqrt(pairs / TOKENS_PER_PARAMETER)
    low = high / c.loops
    while high > 1.0005 * low:
        middle = math.sqrt(low * high)
        seen = tokens or TOKENS_PER_PARAMETER * middle
        kept = _passed(Target(middle, of), c) * seen <= pairs
        low, high = (middle, high) if kept else (low, middle)
    return low


def _counted(used: float, looped: bool) -> str:
    """What 6 FLOPs a token are for."""
    return f"parameter passed ({size(used)})" if looped else "active parameter"


# --- limits ---------------------------------------------------------------------------------------


def _at_aspect(target: Target, c: Constraints, aspect: float) -> Shape | None:
    """A legal shape with about this d / L."""
    t = template(target, c)
    layers = round(depth_at_aspect(target, t, aspect))
    depths = legal_depths(c, layers, layers + c.loops * c.pipeline + c.dense_layers)
    return nearest(target, t, depths[0]) if depths else None


def _share(target: Target, c: Constraints, of: Measure) -> float:
    """What a target measures, measured otherwise: a factor, at a shape of ordinary proportions."""
    if of == target.of or (not c.experts and {of, target.of} == {"total", "active"}):
        return 1.0
    shape = _at_aspect(target, c, _ASPECT) or shapes(target, c)[0]
    return measure(shape.architecture, of) / shape.value


def _passed(target: Target, c: Constraints) -> float:
    """The active parameters of a target, looped ones as often as a token passes them, at a shape
    of ordinary proportions."""
    if c.loops == 1:
        return target.value * _share(target, c, "active")
    shape = _at_aspect(target, c, _ASPECT) or shapes(target, c)[0]
    return target.value * passed(shape.architecture) / shape.value


def _keeps(done: Resolved, c: Constraints, aspects: tuple[float, ...]) -> bool:
    kept_shapes = (_at_aspect(done.target, c, aspect) for aspect in aspects)
    return any(s and done.keeps(s.architecture) for s in kept_shapes)


def _largest(b: Budget, c: Constraints, aspects: tuple[float, ...]) -> float | None:
    """The largest size of which a shape keeps the limits, to 1 %; None where none does.

    It is looked for from above: small sizes may have no shape at all.
    """

    def keeps(size: float) -> bool:
        return _keeps(Resolved(Target(size), b), c, aspects)

    high, low = float(MOST), MOST / 2
    while not keeps(low):
        high, low = low, low / 2
        if low < LEAST:
            return None
    while high > 1.005 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _feasible(done: Resolved, c: Constraints) -> None:
    """Raises where no legal shape of the size keeps the limits."""
    b = done.budget
    timing = b.milliseconds is not None and (b.latency is not None or b.bandwidth is not None)
    limited = timing or b.memory is not None or b.kv_bytes is not None
    if not limited or _keeps(done, c, (_ASPECT, 2 * _ASPECT)):
        return
    nets = [shape.architecture for shape in shapes(done.target, c)]
    if any(done.keeps(a) for a in nets):
        return
    if timed := b.latency:
        # The least time, of those that have one.
        nets.sort(key=lambda a: math.inf if timed.outside(a, REACH) else timed.ms(a)[2])
    a = nets[0]
    reason = f"one of {a.layers} layers and width {a.width:,} {done.excludes(a)}"
    rest = f"no size {'that the points reach ' if b.latency else ''}does"
    if largest := _largest(b, c, (_ASPECT / 2, _ASPECT, 2 * _ASPECT, 4 * _ASPECT)):
        rest = f"the largest that does has about {size(largest)} parameters"
    raise UsageError(
        f"no shape with {size(done.target.value)} parameters keeps the limits: {reason}; {rest}"
    )


def serving_note(b: Budget, c: Constraints, a: Architecture) -> str | None:
    """What a limit of milliseconds asks of the memory that serves a net: its weights, and up to all
    of its cache, are read for every token. Or what measured points say of it. None without such a
    limit."""
    if b.latency:
        return _fit_note(b, b.latency, a.context)
    if b.milliseconds is None:
        return None
    weights = read_bytes(a, b.bytes_per_weight)
    cache = _CACHE_BYTES * kv_numbers(a, a.context)
    note = (
        f"one token reads {_gb(weights)} of weights ({b.bytes_per_weight:g} bytes each: "
        f"--bits) and up to {_gb(cache)} of cache (16 bits, {a.context:,} tokens)"
    )
    if b.bandwidth:
        least, most = (_read_ms(b, a, read) for read in (weights, weights + cache))
        note += f". That takes {least:.1f} to {most:.1f} ms at {_rates(b)}"
        if not b.layer_milliseconds:
            note += (
                ", if nothing else took time. It bounds bytes, not depth: for the time of a layer "
                "give --ms-per-layer, or --latency"
            )
        if least <= b.milliseconds < most:
            note += (
                f". The limit of {milliseconds(b.milliseconds)} ms holds up to {_longest(b, a):,} "
                f"tokens of context only, and at {a.context:,} a token takes {most:.1f} ms. More "
                "bandwidth, fewer key heads (--gqa) or a smaller net would help"
            )
    else:
        listed = "no listed device has it"
        if device := slowest_with(rate := 1000 * weights / b.milliseconds):
            best = f"({_gb(device.bandwidth)}/s at best)"
            listed = f"the slowest listed device that has it is the {device.name} {best}"
        note += (
            f". {b.milliseconds:g} ms need at least {_gb(rate)}/s, and {listed}. No bandwidth and "
            "no measured points are given, so this excludes nothing"
        )
    return note if c.latency_matters else f"{note}. --latency-matters asks for fewer layers"


def _longest(b: Budget, a: Architecture) -> int:
    """The longest context at which the limit still holds, to three digits and rounded down; the
    empty cache keeps it."""
    assert b.bandwidth is not None
    assert b.milliseconds is not None
    left = b.milliseconds - a.layers * (b.layer_milliseconds or 0)
    room = left * b.bandwidth / 1000 - read_bytes(a, b.bytes_per_weight)
    # One layer keeps a window, another all, so the cache is no multiple of the context.
    tokens = bisect_right(range(a.context), room, key=lambda n: _CACHE_BYTES * kv_numbers(a, n)) - 1
    step = 10 ** max(0, len(str(tokens)) - 3)
    return max(0, tokens // step * step)


def _fit_note(b: Budget, fit: Fit, context: int) -> str:
    """The fit of measured points in words, and what it rests on."""
    token, layer, inside, output, cache = fit.coefficients
    parts = [f"{milliseconds(token)} ms"] * (token > 0)
    parts += [f"{milliseconds(layer)} ms a layer"] * (layer > 0)
    if inside:
        parts.append(f"weights in layers at {_rate(b, inside)}")
    if output and fit.knows.vocabulary:
        parts.append(f"output layer at {_rate(b, output)}")
    elif output:
        parts.append(f"{milliseconds(1000 * output)} ms per 1,000 of width")
    if cache:
        per_sequence = cache if fit.knows.context else cache / context
        parts.append(f"KV cache at {_gb(1000 * _CACHE_BYTES / per_sequence)}/s")
    label = f"{len(fit.points)} measured points: {' + '.join(parts)}"
    if fit.ambiguous:
        label += ". Other sums fit as well, and the slowest counts"
    if fit.assumed:
        label += f". Not in the table, so taken: {', '.join(fit.assumed)}"
        if not fit.knows.context:
            label += f" ({context:,} tokens: --context)"
    return label


def _rate(b: Budget, coefficient: float) -> str:
    return f"{_gb(1000 * b.bytes_per_weight / coefficient)}/s"
