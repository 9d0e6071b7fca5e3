"""Seconds of a training step on a plan, what of them depth costs, and published trainings beside.

    step = (products / efficiency + all-reduces + kernels) (1 + (p - 1) / (v m))

for m microbatches on p stages in v chunks: work of the busiest stage, and its wait for the first
and from the last microbatch. Nothing in it is fitted here but the efficiency, which is stated or
follows from published trainings (training_runs.csv) by this same formula.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from .architecture import Architecture
from .counting import by_place, flops
from .hardware import Hardware, gpu
from .huggingface import architecture_of
from .models import architecture, model
from .published import hybrids
from .shapes import stages
from .training_memory import ParallelPlan, Recompute, share, training_memory

# Bytes of a number in an all-reduce.
_SIZE = 2
# GPUs that the links of a machine join.
_MACHINE = 8


@dataclass(frozen=True)
class StepTime:
    """Seconds of one step by part, on the busiest stage; `seconds` is all of it."""

    products: float  # matrix products, at the efficiency
    reductions: float  # all-reduces of tensor parallelism; 0 where no link is known
    kernels: float  # what a layer takes besides; 0 where nobody says
    bubble: float  # waiting of a stage at the start and the end of a step
    utilisation: float  # the net's own operations over the peak of all GPUs in that time

    @property
    def seconds(self) -> float:
        """Of the whole step."""
        return self.products + self.reductions + self.kernels + self.bubble

    @property
    def of_depth(self) -> float:
        """The share that grows with the layers of a net and not with its size."""
        return (self.reductions + self.kernels + self.bubble) / self.seconds


def step_time(
    a: Architecture,
    plan: ParallelPlan,
    device: Hardware,
    efficiency: float,
    layer_seconds: float = 0.0,
) -> StepTime:
    """Seconds of a step of a net on a plan.

    - Products: three times the forward operations of `counting.flops` (masked scores included); a
      fourth time under full recomputation, and of attention alone under selective recomputation.
      The busiest stage counts, of which the last has the output layer. Where tensor parallelism
      does not divide heads or key heads, products of attention count as on the fullest GPU.
    - A layer reduces its input's gradients and outputs over t GPUs four times for each microbatch,
      six times under full recomputation (Shoeybi et al. 2019, arXiv:1909.08053, section 3); a ring
      passes 2 (t - 1) / t of the tokens' numbers (2 bytes each) over the device's link, where one
      is listed and the GPUs of a machine (8) suffice.
    - The bubble is (p - 1) / (v m) of the work (Narayanan et al. 2021, arXiv:2104.04473, section
      2.2): (p - 1) / (m + p - 1) of the whole for v = 1.

    Reducing gradients over data and moving experts' tokens is not counted: programs hide it behind
    the products, and what they do not hide is in the efficiency of published trainings.

    Args:
        efficiency: share of the peak that the products reach while a stage works.
        layer_seconds: of a layer for each microbatch, forward and backward, besides all this.

    >>> net, plan = Architecture(32, 4096, 32, 11008, 32000), ParallelPlan(8, zero=1, batch=64)
    >>> time = step_time(net, plan, gpu("H100"), 0.5)
    >>> round(time.seconds, 2), round(time.utilisation, 3), time.of_depth
    (3.19, 0.478, 0.0)
    """
    assert device.flops is not None
    f, tokens = flops(a, a.context), plan.microbatch * a.context
    peak = plan.gpus * device.flops
    scores = f.attention * (plan.tensor * share(a.heads, plan.tensor) if a.attending else 1)
    forward = f.weights + _uneven(a, plan.tensor) + scores
    again = {"none": 0, "selective": scores, "full": forward}[plan.recompute]
    split = stages(a.own_layers, plan.pipeline)
    output = 2 * a.width * a.vocabulary
    layer = Fraction(forward - output) / a.own_layers
    busiest = max(own * layer + output * (k == len(split) - 1) for k, own in enumerate(split))
    work = plan.sequences * a.context * (3 * forward + again)
    products = float(work * busiest * plan.pipeline / forward) / (peak * efficiency)
    passes = _passes(a, plan)
    moved = 2 * Fraction(plan.tensor - 1, plan.tensor) * tokens * a.width * _SIZE
    times = 6 if plan.recompute == "full" else 4
    link = device.link if plan.tensor <= _MACHINE else None
    reductions = float(times * moved) * passes / link if link else 0.0
    kernels = layer_seconds * passes
    bubble = (products + reductions + kernels) * (_waits(plan) - 1)
    total = products + reductions + kernels + bubble
    own_work = plan.sequences * a.context * f.training
    return StepTime(products, reductions, kernels, bubble, own_work / (peak * total))


def _uneven(a: Architecture, tensor: int) -> Fraction | int:
    """Operations of a token in products with weights of attention beyond an even share: on the
    fullest GPU, times the GPUs."""
    return sum(
        2 * w.passes * math.prod(w.shape) * (tensor * share(w.pieces, tensor) - 1)
        for w in by_place(a)["layers"]
        if w.role == "attention" and w.cut != "whole" and len(w.shape) == 2
    )


def _passes(a: Architecture, plan: ParallelPlan) -> float:
    """Layers that the microbatches of a step pass on the busiest stage."""
    return max(stages(a.own_layers, plan.pipeline)) * a.layers / a.own_layers * plan.microbatches


def _waits(plan: ParallelPlan) -> float:
    """A step's time over the work of its busiest stage: more than 1 by the bubble."""
    return 1 + (plan.pipeline - 1) / (plan.chunks * plan.microbatches)


def layer_seconds(a: Architecture, plan: ParallelPlan, step: float) -> float:
    """Seconds of a layer for each microbatch that lengthen a step, with the bubble, by so many
    seconds for each layer that a token passes: of the slope of measured steps in depth.
    """
    return step * a.layers / (_passes(a, plan) * _waits(plan))


def efficiency_of(
    a: Architecture,
    plan: ParallelPlan,
    device: Hardware,
    seconds: float,
    layer_seconds: float = 0.0,
) -> float:
    """The efficiency at which `step_time` gives so many seconds; at most infinity.

    >>> net, plan = Architecture(32, 4096, 32, 11008, 32000), ParallelPlan(8, zero=1, batch=64)
    >>> round(efficiency_of(net, plan, gpu("H100"), 3.19), 2)
    0.5
    """
    at_peak = step_time(a, plan, device, 1.0, layer_seconds)
    left = seconds / _waits(plan) - at_peak.reductions - at_peak.kernels
    return at_peak.products / left if left > 0 else float("inf")


# --- published trainings --------------------------------------------------------------------------


class PublishedTraining(NamedTuple):
    """A published training: a row of training_runs.csv."""

    set: str  # whose measurements
    name: str
    net: Architecture
    device: Hardware
    plan: ParallelPlan | None  # None: not published
    seconds: float | None  # of a step
    efficiency: float | None  # of its products, by `efficiency_of`; None without a plan
    memory: float | None  # bytes on the fullest GPU, as its program or driver says
    fits: bool  # False: it ran out of memory
    year: int  # of publication
    source: str
    place: str
    wording: str  # printed, reported, derived

    @property
    def family(self) -> str:
        """The device without its memory and socket."""
        return self.device.name.split()[0]


@cache
def training_runs() -> tuple[PublishedTraining, ...]:
    """The rows of training_runs.csv.

    >>> len({run.set for run in training_runs()}) >= 6
    True
    """
    with (Path(__file__).parent / "training_runs.csv").open(encoding="utf-8", newline="") as file:
        return tuple(map(_run, csv.DictReader(file)))


def _run(row: dict[str, str]) -> PublishedTraining:
    def whole(name: str) -> int | None:
        return int(row[name]) if row[name] else None

    if row["model"]:
        mixed = hybrids().get(row["model"])
        net = architecture_of(mixed["config"]) if mixed else architecture(model(row["model"]))
        net = net.with_(context=whole("context"))
    else:
        names = ("layers", "width", "heads", "kv_heads", "d_ff", "vocabulary", "context")
        sizes: dict[str, Any] = {name: whole(name) for name in names}
        net = Architecture(**sizes, gated=row["matrices"] == "3", tied=row["tied"] == "yes")
    numbers = (f.name for f in fields(ParallelPlan) if str(f.type).startswith("int"))
    given: dict[str, Any] = {name: whole(name) for name in numbers if row[name]}
    plan = None
    if row["recompute"]:
        plan = ParallelPlan(
            **given,
            recompute=row["recompute"],  # type: ignore[arg-type]
            sequence=row["sequence"] == "yes",
        )
    device, seconds = gpu(row["gpu"]), float(row["seconds"]) if row["seconds"] else None
    return PublishedTraining(
        row["set"],
        row["name"],
        net,
        device,
        plan,
        seconds,
        None if seconds is None or plan is None else efficiency_of(net, plan, device, seconds),
        float(row["gibibytes"]) * 2**30 if row["gibibytes"] else None,
        row["fits"] == "yes",
        int(row["year"]),
        row["source"],
        row["place"],
        row["wording"],
    )


class Efficiencies(NamedTuple):
    """What share of the peak the products of published nets reached on a kind of GPU, each by the
    best of its plans."""

    low: float
    middle: float  # median of the sources' medians
    high: float
    nets: int
    sources: tuple[str, ...]
    family: str  # of the GPU; empty: those of all, since none is known on this one
    recompute: str  # what they computed again; empty: whatever, since none is known like that


def efficiencies(
    device: Hardware,
    but: str = "",
    known_by: int | None = None,
    recompute: Recompute | None = None,
) -> Efficiencies | None:
    """The efficiencies of published trainings on a device's kind; of all where there is none; None
    where none with a plan was published by a year. They are those of plain transformers: nets with
    layers of other kinds than attention are left out.

    Args:
        but: a source that is left out.
        recompute: of those on that kind of GPU only the ones that compute this again, if any do.
    """
    known = [
        run
        for run in training_runs()
        if run.efficiency is not None and run.set != but and run.year <= (known_by or run.year)
        if not run.net.mixed
    ]
    if not known:
        return None
    family = device.name.split()[0]
    same = [run for run in known if run.family == family]
    among = same or known
    alike = [run for run in among if run.plan and run.plan.recompute == recompute]
    best: dict[tuple[str, Architecture, str], float] = {}
    for run in alike or among:
        net = run.set, run.net, run.device.name
        best[net] = max(best.get(net, 0.0), run.efficiency or 0.0)
    by_set: dict[str, list[float]] = {}
    for (source, _, _), value in best.items():
        by_set.setdefault(source, []).append(value)
    middle = median(median(values) for values in by_set.values())
    ends = min(best.values()), max(best.values())
    kinds = family if same else "", recompute if recompute and alike else ""
    return Efficiencies(ends[0], middle, ends[1], len(best), tuple(by_set), *kinds)


class Beside(NamedTuple):
    """The model beside a published training, as ratios of the model's number to the published."""

    run: PublishedTraining
    seconds: float | None  # at the middle efficiency of the other sources on the same kind of GPU
    memory: float | None


def beside(run: PublishedTraining) -> Beside:
    """The model beside a published training; no ratio where that publishes no number or no plan."""
    seconds = memory = None
    if run.plan is None:
        return Beside(run, None, None)
    if run.seconds is not None:
        others = efficiencies(run.device, but=run.set, recompute=run.plan.recompute)
        assert others is not None
        time = step_time(run.net, run.plan, run.device, others.middle)
        seconds = time.seconds / run.seconds
    if run.memory is not None:
        memory = float(training_memory(run.net, run.plan).total) / run.memory
    return Beside(run, seconds, memory)


class Nearest(NamedTuple):
    """The published training on a kind of GPU whose net is nearest in size."""

    name: str
    gpus: int
    seconds: float  # of a step, as published
    ratio: float  # of the model's seconds to them, by `beside`
    source: str


def nearest_training(
    a: Architecture, device: Hardware, known_by: int | None = None
) -> Nearest | None:
    """The nearest in L d^2 of those with experts or of those without, as the net, and of equal ones
    that of the best efficiency. Only nets with layers of other kinds than attention stand beside
    such a net. None where there are none, or where fewer than two sources on that kind of GPU were
    published by a year."""

    def order(run: PublishedTraining) -> tuple[bool, float, float]:
        off = math.log(run.net.layers * run.net.width**2 / (a.layers * a.width**2))
        return bool(run.net.experts) != bool(a.experts), abs(off), -(run.efficiency or 0.0)

    family = device.name.split()[0]
    same = [run for run in training_runs() if run.family == family and run.efficiency]
    same = [run for run in same if run.year <= (known_by or run.year)]
    if len({run.set for run in same}) < 2:
        return None
    run = min((run for run in same if run.net.mixed == a.mixed), key=order, default=None)
    if run is None:
        return None
    assert run.plan is not None
    ratio = beside(run).seconds or math.nan
    return Nearest(run.name, run.plan.gpus, run.seconds or math.nan, ratio, run.source)


@cache
def overhead() -> tuple[float, str, float]:
    """How many times the memory that `training_memory` counts programs took, by the published
    trainings of the source where that is most, at its median; that source; and the most that any
    training took.

    >>> middle, source, most = overhead()
    >>> round(middle, 1), source, round(most, 1)
    (1.4, 'BLOOM', 1.7)
    """
    by_set: dict[str, list[float]] = {}
    for one in map(beside, training_runs()):
        if one.memory is not None:
            by_set.setdefault(one.run.set, []).append(1 / one.memory)
    middle, source = max((median(factors), source) for source, factors in by_set.items())
    return middle, source, max(max(factors) for factors in by_set.values())
