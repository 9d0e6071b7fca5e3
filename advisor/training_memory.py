"""Bytes that a training keeps on each GPU, by part, under data, tensor, pipeline and expert
parallelism and ZeRO: one function of a net and of a plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple

from .architecture import Architecture
from .base.quantities import UsageError, shown
from .counting import Stored, Weight, by_place, kept_by_attention, kept_by_mlp, per_token
from .shapes import stages

Recompute = Literal["none", "selective", "full"]
RECOMPUTE: tuple[Recompute, ...] = ("none", "selective", "full")
# Bytes of a number: activations in 16 bits; Adam's two moments with the weights in 32 bits.
_SIZE, _OPTIMISER = 2, 12


@dataclass(frozen=True)
class ParallelPlan:
    """How a training is divided over GPUs.

    Raises:
        UsageError: for numbers that do not divide each other as they must.

    >>> plan = ParallelPlan(64, tensor=4, pipeline=2, microbatch=2, batch=128)
    >>> plan.data, plan.microbatches
    (8, 8)
    """

    gpus: int = 1
    tensor: int = 1  # GPUs among which every matrix is divided
    pipeline: int = 1  # stages
    expert: int = 1  # GPUs of different data among which the experts of a layer are divided
    zero: int = 0  # 1: the optimiser is divided over GPUs of different data, 2: gradients, 3: all
    recompute: Recompute = "selective"
    microbatch: int = 1  # sequences that pass a stage together
    batch: int | None = None  # sequences of a step; None: one microbatch for each copy of the net
    chunks: int = 1  # parts of a stage, passed in turn (interleaved pipeline)
    sequence: bool = True  # what tensor parallelism leaves whole is divided along the sequence
    dropout: bool = False
    gradient_bytes: int = 2  # of one number; 4 where gradients are summed in 32 bits

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), int(field.name != "zero")
            if field.type.startswith("int") and value is not None and value < least:
                raise UsageError(
                    f"{field.name} = {shown(value)} in a parallel plan; accepted are whole "
                    f"numbers from {least} on"
                )
        if self.zero > 3:
            raise UsageError(f"ZeRO stage {self.zero}; accepted are 0 to 3")
        if self.recompute not in RECOMPUTE:
            raise UsageError(
                f"recomputation {shown(self.recompute)}; accepted are {', '.join(RECOMPUTE)}"
            )
        if self.gpus % (self.tensor * self.pipeline):
            raise UsageError(
                f"{self.gpus:,} GPUs are not a multiple of {self.tensor} x {self.pipeline} (tensor "
                "x pipeline); give divisors of the GPUs"
            )
        if self.data % self.expert:
            raise UsageError(
                f"experts divided over {self.expert} GPUs, of {self.data} with data of their "
                "own; give a divisor"
            )
        if self.sequences % (self.data * self.microbatch):
            raise UsageError(
                f"{self.sequences:,} sequences a step on {self.data:,} copies of the net, "
                f"{self.microbatch} at a time; give a multiple of {self.data * self.microbatch:,}"
            )

    @property
    def data(self) -> int:
        """Copies of the net, each with data of its own."""
        return self.gpus // (self.tensor * self.pipeline)

    @property
    def sequences(self) -> int:
        """Sequences of a step."""
        return self.data * self.microbatch if self.batch is None else self.batch

    @property
    def microbatches(self) -> int:
        """Microbatches that pass each stage in a step."""
        return self.sequences // (self.data * self.microbatch)

    def filled(self) -> ParallelPlan:
        """The same with a batch of four microbatches for each stage: the bubble is then less than a
        quarter of the work."""
        return replace(self, batch=4 * self.pipeline * self.data * self.microbatch)

    def in_flight(self, stage: int) -> Fraction:
        """Microbatches whose activations a stage holds when it holds most, in whole stages.

        One forward, one backward in turn (Narayanan et al. 2021, arXiv:2104.04473, section 2.2):
        stage k of p holds p - k of them. Interleaved in v chunks it has passed
        2 (p - k - 1) + (v - 1) p + 1 chunks (after Korthikanti et al. 2022, section 4.2.3: the
        first stage keeps 1 + (p - 1) / (p v) times the net's activations over p). Never more than
        there are.
        """
        p, v = self.pipeline, self.chunks
        ahead = p - stage if v == 1 else 2 * (p - stage - 1) + (v - 1) * p + 1
        return Fraction(min(ahead, v * self.microbatches), v)


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes on the fullest GPU, exact by the formulas of `training_memory`."""

    weights: Fraction
    gradients: Fraction
    optimiser: Fraction
    activations: Fraction
    logits: Fraction
    working: Fraction  # a layer that is computed again, and under ZeRO 3 its collected weights
    stage: int  # of the pipeline, from 0

    @property
    def total(self) -> Fraction:
        """All parts together."""
        return sum((getattr(self, name) for name in PARTS), Fraction())


PARTS = tuple(field.name for field in fields(TrainingMemory) if field.name != "stage")


def training_memory(a: Architecture, plan: ParallelPlan) -> TrainingMemory:
    """Bytes that training with AdamW in mixed precision keeps on the fullest GPU of a plan.

    With t GPUs of tensor parallelism, p stages, e of expert parallelism, d copies of the net:

    - A GPU holds its stage's layers, the first stage the input tables, the last the output layer,
      there also a copy of a tied table. A matrix of attention or of the MLP and a table are divided
      by t; by whole heads, rounded up, and key heads fewer than t are repeated; the routed experts
      by e besides. Norms, routers and compressions of keys are whole. A layer counts as the net's
      mean layer.
    - A parameter takes 2 bytes of weight, `gradient_bytes` of gradient, and 12 of optimiser: the
      weight and two moments in 32 bits (Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1).
      ZeRO 1 divides the optimiser by d, 2 gradients too, 3 weights too (there, section 5); of
      experts, which d / e GPUs share, by d / e. ZeRO 3 collects one layer or table to use it.
    - Activations of a layer, for each token of a microbatch, in 16 bits (Korthikanti et al. 2022,
      arXiv:2205.05198, sections 4.1 and 4.2): a plain net with d_ff = 4 d, as many key heads as
      heads, and dropout keeps 10 + 24 / t bytes times d, with the sequence divided 34 / t;
      `per_token` lists it for other nets. Without recomputation the probabilities of attention
      stay, 2 bytes for each head and token attended to (with dropout 5); selective recomputation,
      or a kernel like FlashAttention, keeps none; full recomputation keeps a layer's input, and
      one whole layer while it is computed again (derived). `in_flight` says of how many
      microbatches.
    - The last stage also keeps the inputs of the last norm and of the output layer, and the logits
      in 32 bits, divided by t (there, section 4.3).

    Not counted: buffers of communication, fragments, and what the driver takes.

    - A layer that mixes tokens otherwise keeps what layer_kinds.json says: results of its products,
      of its convolution and of its recurrence (derived; programs differ in what they keep).

    Raises:
        UsageError: for more stages than layers, a pipeline of an encoder-decoder, layers of which
            it is not known what they keep, and tensor parallelism of other layers than attention.

    Cost: some 0.1 ms.

    >>> a = Architecture(32, 4096, 32, 11008, 32000)
    >>> memory = training_memory(a, ParallelPlan(8, zero=1))
    >>> int(memory.weights) == 2 * 6738415616, memory.optimiser / memory.weights
    (True, Fraction(3, 4))
    """
    if a.encoder_layers and plan.pipeline > 1:
        raise UsageError(
            f"{plan.pipeline} stages of an encoder-decoder; accepted is 1, a pipeline is counted "
            "of one stack"
        )
    split = stages(a.own_layers, plan.pipeline)
    on_stages = [_stage(a, plan, k, own) for k, own in enumerate(split)]
    return max(on_stages, key=lambda memory: memory.total)


def _stage(a: Architecture, plan: ParallelPlan, stage: int, own: int) -> TrainingMemory:
    """What a GPU of a stage with so many layers holds."""
    last = stage == plan.pipeline - 1
    layers, experts, tables = _held(a, plan, Fraction(own, a.own_layers), stage == 0, last)
    kept, layer, ends, logits = _activations(a, plan)
    held = own * Fraction(a.layers, a.own_layers) * kept
    if a.encoder_layers:
        held += a.encoder_layers * _activations(a.with_(kind="encoder", encoder_layers=0), plan)[0]

    def bytes_of(one: int, divided_from: int) -> Fraction:
        copies = plan.data if plan.zero >= divided_from else 1
        each = plan.data // plan.expert if plan.zero >= divided_from else 1
        return one * ((layers + tables) / copies + experts / each)

    collected = max((layers + experts) / own, tables) if plan.zero == 3 else Fraction()
    return TrainingMemory(
        bytes_of(_SIZE, 3),
        bytes_of(plan.gradient_bytes, 2),
        bytes_of(_OPTIMISER, 1),
        plan.in_flight(stage) * held + (ends if last else 0),
        logits if last else Fraction(),
        _SIZE * collected + (layer if plan.recompute == "full" else 0),
        stage,
    )


class _Numbers(NamedTuple):
    """Parameters on one GPU of so many that divide the matrices, without stages."""

    layers: Fraction
    experts: Fraction
    input: Fraction
    output: Fraction
    table: Fraction  # of a tied table that the last stage holds too


@lru_cache(maxsize=256)
def _numbers(a: Architecture, tensor: int) -> _Numbers:
    places = by_place(a)
    sums = dict.fromkeys((*places, "expert"), Fraction())
    for place, there in places.items():
        for w in there:
            sums["expert" if w.role == "expert" else place] += w.copies * _divided(w, tensor)
    table = next(w for w in places["input"] if w.is_token_table)
    tied = _divided(table, tensor) if a.tied else Fraction()
    return _Numbers(sums["layers"], sums["expert"], sums["input"], sums["output"], tied)


def _held(
    a: Architecture, plan: ParallelPlan, share: Fraction, first: bool, last: bool
) -> tuple[Fraction, Fraction, Fraction]:
    """Parameters on a GPU: of its share of the layers, of the experts in them, and of the ends."""
    n = _numbers(a, plan.tensor)
    ends = first * n.input + last * n.output + (last and not first) * n.table
    return share * n.layers, share * n.experts / plan.expert, ends


def _divided(w: Weight, tensor: int) -> Fraction:
    """Numbers of one copy of a weight on one GPU of so many that divide it."""
    if w.cut == "unknown" and tensor > 1:
        raise UsageError(
            f"{tensor} GPUs of tensor parallelism for layers of {w.kind or 'mixed channels'}: how "
            "they divide is not known here; accepted is 1"
        )
    return math.prod(w.shape) * share(w.pieces, tensor)


def share(of: int, tensor: int) -> Fraction:
    """The largest share of so many equal parts that a GPU of so many gets; at least one part."""
    return Fraction(-(-of // tensor), of)


def kept_by_kind(a: Architecture) -> dict[str, Stored]:
    """Numbers that all layers of a decoder with layers of several kinds keep of a token, by what
    mixes tokens or a role.

    Raises:
        UsageError: for kinds of layers of which it is not known what they keep.
    """
    if unknown := a.kinds_unknown:
        raise UsageError(
            f"what training keeps of layers of {', '.join(unknown)} is not known here; accepted "
            "are nets without such layers"
        )
    kept: dict[str, Stored] = {}

    def add(kind: str, layers: int, one: Stored) -> None:
        before = kept.get(kind, Stored(0, 0, 0, 0))
        kept[kind] = Stored(*(x + layers * y for x, y in zip(before, one, strict=True)))

    add("attention", a.attending, kept_by_attention(a))
    # Layers that attend and mix otherwise share the norm before both.
    shared = max(0, a.attending + sum(p.layers for p in a.parts) - a.layers)
    for part in a.parts:
        add(part.kind, part.layers - shared, Stored(2 * a.width, 0, 0, 0))
        add(part.kind, part.layers, Stored(0, 0, 0, 0, part.kept or 0))
    add("mlp", a.dense_mlps, kept_by_mlp(a, a.d_ff))
    if e := a.experts:
        sparse = a.own_mlps - a.dense_mlps
        add("expert", sparse, kept_by_mlp(a, e.active * e.width))
        add("mlp", sparse, kept_by_mlp(a, e.shared_size)._replace(whole=0))
    return kept


def _activations(
    a: Architecture, plan: ParallelPlan
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Bytes of a microbatch: kept of a mean layer, the layer whole, kept after them, logits."""
    tokens, t = plan.microbatch * a.context, plan.tensor
    whole = Fraction(1, t if plan.sequence else 1)
    layers = [*kept_by_kind(a).values()] if a.mixed else [per_token(a)]
    n = Stored(*map(sum, zip(*layers, strict=True)))
    heads = share(a.heads, t) if a.attending else Fraction()
    keys = share(a.key_heads, t) if a.attending else Fraction()
    inner = a.experts.width if a.experts else a.d_ff
    numbers = whole * n.whole + heads * n.queries + keys * n.keys + n.mixing
    numbers += share(inner, t) * n.inner if n.inner else 0
    numbers /= a.layers if a.mixed else 1
    layer = tokens * (_SIZE * numbers + 2 * plan.dropout * whole * a.width)
    if plan.recompute == "none":
        near = min(a.window_layers, a.attending)
        reach = Fraction(a.attending - near, a.layers) * a.context
        reach += Fraction(near, a.layers) * min(a.context, a.window or a.context)
        layer += tokens * reach * heads * a.heads * (5 if plan.dropout else 2)
    kept = tokens * whole * _SIZE * a.width if plan.recompute == "full" else layer
    ends = tokens * whole * 2 * _SIZE * a.width
    return kept, layer, ends, 4 * tokens * a.vocabulary * share(a.vocabulary, t)


def divides(a: Architecture, plan: ParallelPlan) -> dict[str, Fraction]:
    """What of a net a plan does not divide evenly, each with the share of the work on it that is
    lost, as the fullest GPU sets the pace. Key heads that are repeated evenly are no loss.

    >>> net = Architecture(30, 2304, 18, 6144, 32000, kv_heads=6)
    >>> divides(net, ParallelPlan(16, tensor=4, pipeline=4))
    {'heads': Fraction(1, 10), 'key heads': Fraction(1, 4), 'layers': Fraction(1, 16)}
    """
    parts = {
        "heads": (a.heads, plan.tensor),
        "key heads": (a.key_heads, plan.tensor),
        "layers": (a.own_layers, plan.pipeline),
    }
    return {
        name: 1 - Fraction(of, n * -(-of // n))
        for name, (of, n) in parts.items()
        if of % n and not (name == "key heads" and n % of == 0)
    }


def simplest(a: Architecture, plan: ParallelPlan, room: float, free: set[str]) -> ParallelPlan:
    """The plan that fits into `room` bytes of each GPU and asks least of what is free: of
    recomputation, then of stages, of tensor parallelism, of ZeRO; where none fits, the one that
    holds least.

    Stages divide the layers, tensor parallelism the heads and key heads, up to the 8 GPUs that
    most machines join; a step then has four microbatches for each stage, unless the batch is given.

    Args:
        free: of "recompute", "pipeline", "tensor" and "zero" those that may differ from the plan.
    """
    joined = (1,) if a.parts else (1, 2, 4, 8)
    tensors = [t for t in joined if not (a.heads % t or a.key_heads % t)]
    depths = [p for p in range(1, min(a.own_layers, plan.gpus) + 1) if not a.own_layers % p]
    if a.encoder_layers:
        depths = [1]
    ways = product(
        RECOMPUTE[1:] if "recompute" in free else (plan.recompute,),
        depths if "pipeline" in free else (plan.pipeline,),
        tensors if "tensor" in free else (plan.tensor,),
        range(4) if "zero" in free else (plan.zero,),
    )

    def whole(plan: ParallelPlan) -> ParallelPlan:
        return plan.filled() if plan.batch is None and plan.pipeline > 1 else plan

    least = training_memory(a, whole(plan)).total, whole(plan)
    for recompute, pipeline, tensor, zero in ways:
        asked = {"recompute": recompute, "pipeline": pipeline, "tensor": tensor, "zero": zero}
        try:
            other = whole(replace(plan, **asked))  # type: ignore[arg-type]
        except UsageError:  # of GPUs or a batch that this does not divide
            continue
        total = training_memory(a, other).total
        if total <= room:
            return other
        least = min(least, (total, other), key=lambda held: held[0])
    return least[1]
