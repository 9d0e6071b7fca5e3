"""Shapes that can be built: for a size and a depth, the nearest width that satisfies constraints.

A net of L layers and width d has A d^2 + B d weights (A and B depend on L), and so many operations
per token; so the width of a given size is the root of a quadratic, rounded to whole heads. What
rounding adds or takes away, the inner width of the feed-forward networks gives back, as far as most
published nets go, unless its factor is demanded; then the key-value heads give what they can.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from .architecture import Architecture, ArchitectureKind, Experts
from .base.quantities import UsageError, plural, shown, size
from .counting import count, flops
from .grids import Norm, Parametrisation, Residual
from .practice import heads_built, kv_heads_built, practice
from .question import typed

Measure = Literal["total", "nonembedding", "active", "flops"]
NAMES: dict[Measure, str] = {
    "total": "parameters",
    "nonembedding": "parameters without embeddings",
    "active": "active parameters",
    "flops": "FLOPs per token",
}

# How far the inner width of experts, and that of a given configuration at another depth, may leave
# its factor: published gated nets span a wider range (tests/advisor/test_shapes.py compares).
LEAST_INNER, MOST_INNER = 0.7, 1.5
# d / L of the shapes that are listed; published nets have 19 to 205.
LEAST_ASPECT, MOST_ASPECT = 8, 512
# A size within this fraction of the target counts as reached.
CLOSE = 0.01
# Relative positions that the stacks of an encoder-decoder tell apart, as in T5.
RELATIVE_BUCKETS = 32
# The deepest net that is looked at, and how often a token may pass the same layers: published
# looped nets have at most some dozens of passes.
DEEPEST, MOST_LOOPS = 10**4, 64
# Tokens of a sequence behind FLOPs as a size. Few nets are trained at the longest context that they
# serve, and there attention would be most of the operations.
TRAINING_CONTEXT = 4096


class Target(NamedTuple):
    """A size: so many parameters (total, without embeddings, active), or forward FLOPs per token at
    the training context: TRAINING_CONTEXT, or the net's own where that is shorter.
    """

    value: float
    of: Measure = "total"


class Defaults(NamedTuple):
    """What nets of a size class have where nothing is demanded."""

    below: float  # total parameters
    head_width: int
    kv_ratio: int
    ff_factor: float
    multiple: int  # of the inner width
    vocabulary: int
    tied: bool


# Medians over the published dense gated decoders with grouped queries of each class in models.csv
# (tests/advisor/test_shapes.py derives them from there); `tied` is what most of them are. No such
# net has less than 1e8.
DEFAULTS = (
    Defaults(5e8, 64, 3, 8 / 3, 64, 49152, True),
    Defaults(4e9, 128, 4, 4.0, 128, 151936, True),
    Defaults(2e10, 128, 4, 3.5, 128, 131072, False),
    Defaults(math.inf, 128, 8, 3.5, 128, 131072, False),
)
# How far the ratio of query to key heads may be from what is aimed at, as a logarithm, for heads
# that GPUs can share.
_GROUPED = math.log(2) + 1e-9
# Of how many widths with heads of one width the best is sought.
_MOST_WIDTHS = 32
# Widths are multiples of it, as nearly all published ones are.
_MULTIPLE = 64
# Widths of heads that are looked at where no other reaches a size: multiples of 16, then of 8.
_HEAD_WIDTHS = (48, 112, 40, 56, 72, 88, 104, 120)
# Experts are narrow: multiples of 64 or 128 would round them by several per cent.
_EXPERT_MULTIPLE = 32


# What can be said of experts alone.
OF_EXPERTS = ("active_experts", "shared_experts", "expert_width", "dense_layers")


def _whole(default: int | None, least: int, most: int) -> Any:
    """A demand that is a whole number, with the least and the greatest that it may be."""
    return field(default=default, metadata={"limits": (least, most)})


@dataclass(frozen=True)
class Constraints:
    """What a shape must satisfy; None: not demanded, the default of its size class."""

    head_width: int | None = _whole(None, 1, 4096)
    multiple: int | None = _whole(None, 1, 65536)  # of the width
    kv_ratio: int | None = _whole(None, 1, 1024)  # query heads per key head
    gated: bool = True
    ff_factor: float | None = None  # d_ff / d
    vocabulary: int | None = _whole(None, 2, 10**8)
    tied: bool | None = None
    context: int = _whole(4096, 1, 10**9)
    experts: int = _whole(0, 0, 10**5)  # routed experts of a layer; 0: dense
    active_experts: int = _whole(0, 0, 10**5)
    shared_experts: int = _whole(0, 0, 10**3)
    expert_width: int | None = _whole(None, 1, 10**7)
    dense_layers: int = _whole(0, 0, 10**3)  # first layers of a net with experts that are dense
    loops: int = _whole(1, 1, MOST_LOOPS)  # how often a token passes the same layers
    kind: ArchitectureKind = "decoder"  # the two stacks of an encoder-decoder are equally deep
    tensor: int = _whole(1, 1, 1024)  # devices that share a layer
    pipeline: int = _whole(1, 1, 1024)  # stages
    layers: int | None = _whole(None, 1, DEEPEST)
    least_layers: int = _whole(1, 1, DEEPEST)
    most_layers: int = _whole(DEEPEST, 1, DEEPEST)
    width: int | None = _whole(None, 1, 10**7)
    parametrisation: Parametrisation = "standard"
    norm: Norm = "pre"
    residual: Residual = "plain"
    latency_matters: bool = False


def demands_of(c: Constraints) -> tuple[str, ...]:
    """The fields that are not what they are where nothing is demanded.

    >>> demands_of(Constraints(pipeline=4, tied=False))
    ('tied', 'pipeline')
    """
    return tuple(f.name for f in fields(c) if getattr(c, f.name) != f.default)


def without(c: Constraints, *names: str) -> Constraints:
    """The same without some demands; without experts also without what is said of them.

    >>> without(Constraints(pipeline=4, layers=30), "layers") == Constraints(pipeline=4)
    True
    >>> without(Constraints(experts=8, active_experts=2), "experts") == Constraints()
    True
    """
    names += OF_EXPERTS if "experts" in names else ()
    usual: dict[str, Any] = {name: getattr(Constraints, name) for name in names}
    return replace(c, **usual)


# Demands on how a layer is divided, which are no reason for another depth.
DIVIDING = ("head_width", "multiple", "kv_ratio", "gated", "ff_factor", "tensor")

# Demands on the embeddings, which are none either as far as the layers keep most of the size.
EMBEDDING = ("vocabulary", "tied")


def undivided(c: Constraints) -> Constraints:
    """The same without demands on how a layer is divided, and on its width.

    >>> undivided(Constraints(tensor=8, ff_factor=3.0, pipeline=4)) == Constraints(pipeline=4)
    True
    """
    return without(c, *DIVIDING, "width")


@dataclass(frozen=True)
class Template:
    """Constraints with all that they leave open filled in at a size: what `template` makes."""

    demanded: Constraints
    head_widths: tuple[int, ...]  # the one that is aimed at, then others
    usual: int  # how many of these are usual; the rest are for where no shape has those
    built: int  # how many of these somebody built; the rest are for where no shape has those either
    ratio: int  # of query to key heads, aimed at
    heads: int  # query heads are a multiple of it
    multiple: int  # and the width a multiple of this, or of narrower heads
    ff_factor: float
    ff_factors: tuple[float, float]  # what the inner width may be to reach a size
    further_factors: tuple[float, float]  # and where no shape reaches it with these
    ff_multiple: int
    expert_factor: float  # of one expert's inner width; 0 where its width is demanded
    vocabulary: int
    tied: bool

    @property
    def head_width(self) -> int:
        """The width of a head that is aimed at."""
        return self.head_widths[0]

    @property
    def step(self) -> int:
        """Every legal width with such heads is a multiple of it."""
        return self.step_of(self.head_width)

    def step_of(self, head: int) -> int:
        """The same for heads of another width."""
        c = self.demanded
        narrow = self.multiple if head in _HEAD_WIDTHS else min(self.multiple, head)
        return c.width or math.lcm(c.multiple or narrow, head * self.heads)


class Shape(NamedTuple):
    """A shape that can be built, and how far it is from what was asked."""

    architecture: Architecture
    value: float  # what the target measures
    mismatch: float  # value / target - 1
    # Numbers and widths of heads that nobody built; if any, also those that 4 GPUs cannot share.
    unbuilt: int = 0


# --- constraints ----------------------------------------------------------------------------------


def size_class(target: Target) -> Defaults:
    """The defaults at a size; FLOPs per token count as two per parameter.

    >>> size_class(Target(3e9)).head_width, size_class(Target(3.5e8)).head_width
    (128, 64)
    """
    parameters = target.value / 2 if target.of == "flops" else target.value
    return next(d for d in DEFAULTS if parameters < d.below)


def template(target: Target, c: Constraints) -> Template:
    """The constraints with the defaults of this size filled in, checked.

    Heads must divide among tensor-parallel devices, and a demanded ratio of query to key heads must
    divide the heads.

    Raises:
        UsageError: where demands contradict each other or no net can meet them.

    >>> t = template(Target(3e9), Constraints(vocabulary=32000))
    >>> t.head_width, t.step, t.ff_factor, t.vocabulary, t.tied
    (128, 128, 4.0, 32000, True)
    >>> template(Target(3e9), Constraints(kv_ratio=4, tensor=2)).step
    1024
    """
    _check_numbers(c)
    _check_kind_and_experts(c)
    default, built = size_class(target), practice()
    heads = c.tensor * (c.kv_ratio or 1)
    widths = (c.head_width,) if c.head_width else (default.head_width, *built.head_widths)
    usual = len({*built.usual_head_widths} & {*widths}) or 1
    if c.width is not None:
        legal = [h for h in widths if c.width % h == 0]
        widths = (*(h for h in legal if c.width // h % heads == 0), *legal, *widths)
        usual = len({*legal}) or 1
    widths = tuple(dict.fromkeys(widths))
    free = c.head_width is None and c.width is None
    _check_layers(c)
    _check_width(c, widths[0])
    # An encoder has no cache to save.
    ratio = c.kv_ratio or (default.kv_ratio if c.kind == "decoder" else 1)
    inner = _EXPERT_MULTIPLE if c.experts else c.multiple or default.multiple
    low, high = built.factors[c.gated]
    # As of gated nets: most plain ones have one factor, with which few sizes are reached.
    least, fixed = min(low, built.factors[True][0]), bool(c.ff_factor or c.experts)
    factor = c.ff_factor or min(max(default.ff_factor, low), high)
    used = c.active_experts + c.shared_experts
    return Template(
        c,
        (*widths, *(_HEAD_WIDTHS if free else ())),
        usual,
        len(widths),
        ratio,
        heads,
        c.multiple or (1 if c.head_width else _MULTIPLE),
        factor,
        (factor, factor) if fixed else (low, high),
        (factor, factor) if fixed else (least, high),
        math.lcm(inner, c.tensor),
        factor / used if used and not c.expert_width else 0.0,
        c.vocabulary or default.vocabulary,
        default.tied if c.tied is None else c.tied,
    )


def _check_numbers(c: Constraints) -> None:
    for demand in fields(c):
        value, limits = getattr(c, demand.name), demand.metadata.get("limits")
        if value is None or not limits:
            continue
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not limits[0] <= value <= limits[1]:
            why = "out of range" if whole else "not a whole number"
            raise UsageError(
                f"{typed(demand.name, value)} {shown(value)} is {why}; accepted are {limits[0]} to "
                f"{limits[1]:,}"
            )
    factor = c.ff_factor
    if factor is not None and not (isinstance(factor, int | float) and 0.1 <= factor <= 100):
        raise UsageError(
            f"--ff {shown(factor)} is out of range; accepted are 0.1 to 100, such as 2.67 (gated) "
            "or 4"
        )
    for name, choice, kinds in (
        ("the kind of net", c.kind, ArchitectureKind),
        ("--parametrisation", c.parametrisation, Parametrisation),
        ("--norm", c.norm, Norm),
        ("--residual", c.residual, Residual),
    ):
        if choice not in (accepted := get_args(kinds)):
            raise UsageError(
                f"{name} {shown(choice)} is unknown; accepted are {', '.join(accepted)}"
            )


def _check_kind_and_experts(c: Constraints) -> None:
    if c.kind == "encoder-decoder" and c.loops > 1:
        raise UsageError(
            "looped layers in an encoder-decoder: such a net is not known here; "
            "accepted are loops of a decoder; try --loops 1"
        )
    if c.kind != "encoder-decoder" and c.head_width and c.head_width % 2:
        raise UsageError(
            f"the head width {c.head_width} is odd; rotary positions turn pairs of "
            f"numbers: try {c.head_width + 1}"
        )
    if not c.experts:
        for name in OF_EXPERTS:
            if value := getattr(c, name):
                raise UsageError(
                    f"{typed(name, value)} without --experts; say how many experts a layer has, "
                    "such as 8 with 2 active"
                )
        return
    if not c.active_experts:
        raise UsageError(
            f"{c.experts} experts, none of them active; give --active-experts, such as "
            f"{min(8, c.experts)}"
        )
    if not 1 <= c.active_experts <= c.experts:
        raise UsageError(
            f"{c.active_experts} active of {c.experts} experts; accepted are 1 to {c.experts}"
        )
    if c.kind != "decoder":
        raise UsageError(f"experts in an {c.kind}; give experts for decoders only")
    if c.loops > 1 and c.dense_layers:
        raise UsageError("looped layers and first dense layers together; give one of them")
    if c.experts % c.tensor and c.tensor % c.experts:
        raise UsageError(
            f"{c.experts} experts on {c.tensor} devices; one of the two must divide the other"
        )


def _check_layers(c: Constraints) -> None:
    if c.loops * c.pipeline > DEEPEST - c.dense_layers:
        raise UsageError(
            f"{c.loops} loops on {c.pipeline:,} stages take at least {c.loops * c.pipeline:,} "
            f"layers; accepted are up to {DEEPEST:,}: give fewer of one of them"
        )
    if c.layers is not None:
        own, rest = divmod(c.layers, c.loops)
        if rest:
            near = " or ".join(str(n * c.loops) for n in (own, own + 1) if n)
            raise UsageError(
                f"{c.layers} layers in {c.loops} loops are no whole number of layers each; "
                f"try {near}"
            )
        if own < c.pipeline:
            raise UsageError(
                f"{plural(own, 'layer')} on {c.pipeline} stages leave stages empty; give "
                f"at least {c.pipeline * c.loops} layers or at most {own} stages"
            )
        if c.dense_layers >= c.layers:
            raise UsageError(
                f"{c.dense_layers} dense of {plural(c.layers, 'layer')} leave none with "
                f"experts; accepted are 0 to {c.layers - 1}"
            )
    if legal_depths(c, 1, DEEPEST):
        return
    # Demands without one of which some depth obeys the others.
    demands = demands_of(c)
    excluding = [name for name in demands if legal_depths(without(c, name), 1, DEEPEST)] or demands
    names = (f"{typed(name, value)} {value}" for name in excluding if (value := getattr(c, name)))
    raise UsageError(
        f"{' and '.join(names)} exclude each other: no depth up to {DEEPEST:,} obeys all demands; "
        "leave out one of them"
    )


def _check_width(c: Constraints, head: int) -> None:
    if c.width is None:
        return
    for name, part in (("multiple", c.multiple or 1), ("head width", head)):
        if c.width % part:
            below = c.width // part * part
            near = " or ".join(f"{w:,}" for w in (below, below + part) if w)
            raise UsageError(f"the {name} {part} does not divide the width {c.width:,}; try {near}")
    heads = c.width // head
    which = f"{plural(heads, 'head')} (width {c.width:,}, head width {head})"
    if heads % c.tensor:
        raise UsageError(f"{which} on {c.tensor} devices; the devices must divide the heads")
    if c.kv_ratio and heads % (c.kv_ratio * c.tensor):
        on = f" on {c.tensor} devices" if c.tensor > 1 else ""
        raise UsageError(
            f"{which} with {c.kv_ratio} queries per key head{on} do not divide; "
            f"{c.kv_ratio * c.tensor} must divide the heads"
        )


@cache
def key_heads(heads: int, ratio: int, devices: int) -> tuple[int, ...]:
    """Key heads for so many query heads, the best first: those that somebody built, with a ratio
    of the two within a factor of 2 of what is aimed at, that 4 GPUs can share, and then the nearest
    ratio. The devices share them evenly.

    >>> [key_heads(heads, 4, 1)[0] for heads in (9, 12, 16, 20, 24, 32, 56, 128)]
    [3, 4, 4, 4, 8, 8, 8, 16]
    """

    def order(keys: int) -> tuple[bool, bool, bool, float, int]:
        far = _apart(heads / keys, ratio)
        return not kv_heads_built(keys, heads), far > _GROUPED, keys % 4 > 0, far, keys

    small = [keys for keys in range(1, math.isqrt(heads) + 1) if heads % keys == 0]
    legal = {*small, *(heads // keys for keys in small)}
    return tuple(sorted((keys for keys in legal if keys % devices == 0), key=order))


def _apart(one: float, other: float) -> float:
    """How far two numbers are apart, as a logarithm that is equal where they are."""
    return round(abs(math.log(one / other)), 9)


def legal_depths(c: Constraints, least: int, most: int) -> range:
    """The depths from `least` to `most` that loops and pipeline stages divide and the demanded ends
    allow, which may be none; the demanded depth alone where there is one (`stages` then says how it
    is split).

    >>> [list(legal_depths(Constraints(pipeline=4), 22, most)) for most in (33, 23)]
    [[24, 28, 32], []]
    >>> list(legal_depths(Constraints(pipeline=4, layers=30), 1, 99))
    [30]
    """
    if c.layers is not None:
        return range(max(c.layers, c.least_layers), min(c.layers, c.most_layers) + 1)
    step = c.loops * c.pipeline
    first = -(-max(least, step, c.dense_layers + 1, c.least_layers) // step) * step
    return range(first, min(most, c.most_layers) + 1, step)


def nearest_depth(c: Constraints, depth: float) -> int:
    """The legal depth nearest by the ratio; of equally near ones the lower.

    >>> nearest_depth(Constraints(pipeline=4), 29.5), nearest_depth(Constraints(), 0.1)
    (28, 1)
    """
    depths = legal_depths(c, 1, DEEPEST)
    place = min(bisect_left(depths, depth), len(depths) - 1)
    return depths[place - (place > 0 and depth <= middle(depths[place - 1], depths[place]))]


def middle(below: float, above: float) -> float:
    """The number that is equally far from two, by the ratio."""
    return math.sqrt(float(below) * float(above))


def stages(layers: int, pipeline: int) -> tuple[int, ...]:
    """Layers of each pipeline stage: as even as they can be, the first and last stages, which also
    hold embeddings and output layer, not longer than the others.

    Raises:
        UsageError: for fewer layers than stages.

    >>> stages(32, 4), stages(30, 4)
    ((8, 8, 8, 8), (7, 8, 8, 7))
    >>> stages(40, 16)
    (2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2)
    """
    if not 1 <= pipeline <= layers:
        raise UsageError(
            f"{plural(layers, 'layer')} on {plural(pipeline, 'stage')}: accepted are "
            f"1 to {layers} stages"
        )
    short, longer = divmod(layers, pipeline)
    before = (pipeline - longer + 1) // 2
    return tuple(short + (before <= i < before + longer) for i in range(pipeline))


# --- sizes as polynomials -------------------------------------------------------------------------


class Terms(NamedTuple):
    """A size as `square d^2 + kv d k + inner d f + expert d e + linear d`, where k is the width of
    all keys, f that of the dense and e that of one expert network."""

    square: float
    kv: float
    inner: float
    expert: float
    linear: float

    def value(self, width: float, keys: float, inner: float, expert: float) -> float:
        """The size at these widths."""
        inside = self.square * width + self.kv * keys + self.inner * inner + self.expert * expert
        return width * (inside + self.linear)


def terms(t: Template, layers: float, of: Measure, head: int | None = None) -> Terms:
    """The size of nets of so many layers, as often as a token passes them, with heads as wide as is
    aimed at, or given; counting counts the same.
    """
    c, run = t.demanded, of == "flops"
    attention, mlps, norms, last = (3, 2, 5, 2) if c.kind == "encoder-decoder" else (1, 1, 2, 1)
    matrices = 3 if c.gated else 2
    own = layers if run else layers // c.loops
    # At most all layers are dense.
    dense = min(own, c.dense_layers) if c.experts else own
    sparse = own - dense
    used = c.active_experts if of in ("active", "flops") else c.experts
    square = 2 * attention * own
    inner = matrices * mlps * dense
    expert = matrices * sparse * (used + c.shared_experts)
    linear = sparse * c.experts
    if run:
        scores = 2 * attention * layers * min(c.context, TRAINING_CONTEXT)
        linear = linear + t.vocabulary + scores
        return Terms(2 * square, 2 * square, 2 * inner, 2 * expert, 2 * linear)
    linear = linear + norms * own + last
    if of != "nonembedding":
        linear = linear + t.vocabulary * (2 - t.tied)
        if c.kind == "encoder-decoder":  # one table of each stack, of a number for every head
            linear = linear + 2 * RELATIVE_BUCKETS / (head or t.head_width)
    return Terms(square, square, inner, expert, linear)


def real_width(value: float, s: Terms, t: Template, factor: float | None = None) -> float:
    """The real width at which a size is reached, with key heads and inner widths in proportion:
    the positive root of A d^2 + B d = value. The factor of d_ff is that of the template, or given.
    """
    a = s.square + s.kv / t.ratio + s.inner * (factor or t.ff_factor) + s.expert * t.expert_factor
    b = s.linear + s.expert * (t.demanded.expert_width or 0)
    # Without the difference of two near numbers that -b + sqrt(...) would be.
    return 2 * value / (b + (b * b + 4 * a * value) ** 0.5)


def unlooped(t: Template) -> Template:
    """The template with every layer passed once."""
    return t if t.demanded.loops == 1 else replace(t, demanded=replace(t.demanded, loops=1))


def squares(t: Template, layers: float, width: float) -> float:
    """The weights of a layer that a token uses, per squared width, at the factors of a template:
    c of N = c L d^2 before heads and inner widths are rounded.

    >>> squares(template(Target(3e9), Constraints()), 32, 2304)
    14.5
    """
    s = terms(unlooped(t), layers, "active")
    expert = t.expert_factor + (t.demanded.expert_width or 0) / width
    weights = s.square + s.kv / t.ratio + s.inner * t.ff_factor + s.expert * expert
    return float(weights / layers)


def rounded(number: float, multiple: int) -> int:
    """The nearest multiple of a number, at least one of them."""
    return max(multiple, int((number + multiple / 2) // multiple) * multiple)


def inner_widths(value: float, s: Terms, t: Template, width: int, keys: int) -> tuple[int, int]:
    """Inner widths of a dense and of an expert network with which a size is met best at a width.

    They are those of the factor, unless they are free: then what is missing or too much is divided
    among them, as far as the template allows. Of a net with experts these alone are free, from
    LEAST_INNER to MOST_INNER of what their factor gives.
    """
    c, multiple = t.demanded, t.ff_multiple
    inner = rounded(t.ff_factor * width, multiple)
    if not c.experts:
        low, high = (factor * width / multiple for factor in t.ff_factors)
        if low < high:
            free = (value - s.value(width, keys, 0, 0)) / (s.inner * width * multiple)
            inner = max(min(round(free), math.floor(high)), math.ceil(low), 1) * multiple
        return inner, 0
    expert = c.expert_width or rounded(t.expert_factor * width, multiple)
    if not c.expert_width:
        missing = value - s.value(width, keys, inner, expert)
        now = rounded(expert + missing / (s.expert * width), multiple)
        low, high = (rounded(share * expert, multiple) for share in (LEAST_INNER, MOST_INNER))
        expert = min(max(now, low), high)
    return inner, expert


# --- shapes ---------------------------------------------------------------------------------------


def nearest(target: Target, t: Template, layers: int) -> Shape | None:
    """The shape of so many legal layers that is best near a size; None where none has a legal
    width, or no layer would have experts.

    Its size is reached where it can be, with as many heads and key-value heads as somebody built,
    of a usual width, and about the ratio of both that is aimed at; of such shapes 4 GPUs share
    them, heads have the width that is aimed at, the ratio is the nearest to that which is aimed at,
    and the width to the real one: each as far as those before allow. Where nothing reaches the size
    so, what does has the fewest numbers of heads that nobody built or 4 GPUs cannot share.
    """
    if layers <= t.demanded.dense_layers:
        return None
    best: _Found | None = None
    first = 0
    for end in (t.usual, t.built, len(t.head_widths)):
        # The factor of most plain nets is one number: the others stand in where it is too coarse.
        for factors in dict.fromkeys((t.ff_factors, t.further_factors)):
            tried = replace(t, ff_factors=factors)
            for place, head in enumerate(t.head_widths[first:end]):
                others = _found(target, tried, layers, head, place)
                best = min(filter(None, (best, *others)), default=None)
            if best is not None and not best.off and not best.unbuilt:
                return best.shape(t, layers, target)
        first = end
    return None if best is None else best.shape(t, layers, target)


class _Found(NamedTuple):
    """A shape that is looked at; the least is the best."""

    off: float  # of the size, where it is not reached
    strange: int  # parts that nobody built so, and besides, numbers that 4 GPUs cannot share
    unshared: int  # of the numbers of heads, how many 4 GPUs cannot share
    place: int  # of the head width
    grouped: float  # distance of the ratio from what is aimed at
    far: float  # of the width from the real one
    unbuilt: int  # of the numbers of heads and their width, how many nobody built
    width: int
    head_width: int
    keys: int
    inner: int
    expert: int
    value: float

    def shape(self, t: Template, layers: int, target: Target) -> Shape:
        """The shape, and how far it is from the target."""
        mismatch = self.value / target.value - 1
        return Shape(self.net(t, layers), self.value, mismatch, self.unbuilt)

    def net(self, t: Template, layers: int) -> Architecture:
        c = t.demanded
        both, experts = c.kind == "encoder-decoder", None
        if c.experts:
            used, shared, dense = c.active_experts, c.shared_experts, c.dense_layers
            experts = Experts(c.experts, used, self.expert, shared, dense_layers=dense)
        return Architecture(
            layers,
            self.width,
            self.width // self.head_width,
            self.inner,
            t.vocabulary,
            c.kind,
            kv_heads=self.keys,
            head_width=self.head_width,
            gated=c.gated,
            tied=t.tied,
            context=c.context,
            unique_layers=layers // c.loops if c.loops > 1 else None,
            encoder_layers=layers if both else 0,
            experts=experts,
            relative_buckets=RELATIVE_BUCKETS if both else 0,
        )


def _found(target: Target, t: Template, layers: int, head: int, place: int) -> Iterator[_Found]:
    """Shapes of so many layers with heads of a width: of the widths at which the inner ones can
    reach a size, and of one beyond each end."""
    s, c, step = terms(t, layers, target.of, head), t.demanded, t.step_of(head)
    real = real_width(target.value, s, t)
    ends = (real_width(target.value, s, t, factor) for factor in reversed(t.ff_factors))
    below, above = (int(end // step) for end in ends)
    if c.width is None and not below and step > 2 * real:
        return  # the least width is too much
    # Of many widths those whose heads a power of two divides.
    every = 1 << ((above - below) // _MOST_WIDTHS).bit_length()
    numbers = range(max(below // every, 1) * every, above + every + 1, every)
    for width in (number * step for number in (numbers if c.width is None else (1,))):
        heads, rest = divmod(width, head)
        if rest or heads % t.heads:
            continue
        several = key_heads(heads, t.ratio, c.tensor)
        if c.kv_ratio or c.kind != "decoder":
            several = (heads // t.ratio,)
        for keys in several:
            inner, expert = inner_widths(target.value, s, t, width, keys * head)
            value = s.value(width, keys * head, inner, expert)
            off = abs(value / target.value - 1)
            off = off if off > CLOSE else 0.0
            unshared, grouped = (heads % 4 > 0) + (keys % 4 > 0), _apart(heads / keys, t.ratio)
            parts = heads_built(heads, width), kv_heads_built(keys, heads), head not in _HEAD_WIDTHS
            unbuilt = parts.count(False)
            unbuilt += unshared if unbuilt else 0
            odd = grouped > _GROUPED
            strange = unbuilt + (odd and 1 + unshared)
            order = off, strange, unshared, place, grouped, abs(width - real)
            yield _Found(*order, unbuilt, width, head, keys, inner, expert, value)
            if not off and not strange:
                break


def shapes(target: Target, c: Constraints, tolerance: float = 0.1) -> list[Shape]:
    """The nearest shape of every legal depth with 8 <= d / L <= 512, shallowest first, as far as
    its mismatch is within the tolerance; a demanded depth or width may leave that range of d / L.

    Raises:
        UsageError: for constraints that no shape of this size satisfies, with the nearest one.

    >>> found = shapes(Target(3e9), Constraints(pipeline=4))
    >>> {s.architecture.layers % 4 for s in found}, all(abs(s.mismatch) <= 0.1 for s in found)
    ({0}, True)
    """
    t = template(target, c)
    found = [s for layers in _depths(target, t) if (s := nearest(target, t, layers))]
    if candidates := [s for s in found if abs(s.mismatch) <= tolerance]:
        return candidates
    off = min(found, key=lambda s: abs(s.mismatch), default=None)
    raise UsageError(_no_shape(target, t, off))


def resized(a: Architecture, layers: int, of: Measure = "total") -> Architecture:
    """An architecture with another depth and, as nearly as rounding allows, the same size `of` a
    kind: what a layer more or less costs in width.

    The width goes to a multiple that keeps head width and ratio of query to key heads; heads that
    are not tied to the width stay. The inner width (with experts, theirs) takes up the rest, in
    multiples of a power of two that divides it now (8, or less than 1/40 of it). Both stacks of an
    encoder-decoder change.

    Raises:
        UsageError: for a depth that its loops or dense layers do not allow.
    """
    goal = measure(a, of)
    loops = a.layers // a.own_layers
    dense = a.experts.dense_layers if a.experts else 0
    if layers <= dense or layers % loops or a.layers % a.own_layers:
        raise UsageError(
            f"{layers} layers do not go with {dense} dense layers and {loops} loops; "
            f"accepted are multiples of {loops} above {dense}"
        )
    deep = a.with_(
        layers=layers,
        unique_layers=layers // loops if loops > 1 else a.unique_layers and layers,
        encoder_layers=layers if a.encoder_layers else 0,
    )
    bound = a.heads * a.head_size == a.width and not a.latent
    step = a.head_size * (a.heads // a.key_heads) if bound else min(128, a.width & -a.width)
    real = a.width * (a.layers / layers) ** 0.5
    widths = {max(1, int(real / step + part)) * step for part in (0, 1)} | {a.width}
    found = []
    for width in sorted(widths, key=lambda w: (abs(w - real), w)):
        heads = width // a.head_size if bound else a.heads
        keys = heads // (a.heads // a.key_heads) if bound else a.key_heads
        wide = deep.with_(width=width, heads=heads, kv_heads=keys, head_width=a.head_size)
        found.append(_with_inner_width(wide, width / a.width, goal, of))
    return min(found, key=lambda shape: max(abs(measure(shape, of) / goal - 1), CLOSE))


def _with_inner_width(a: Architecture, wider: float, goal: float, of: Measure) -> Architecture:
    """The architecture with the inner width at which a size is reached, within the usual range
    around what it is, `wider` times that of a net with other layers."""
    was = a.experts.width if a.experts else a.d_ff

    def inner(width: int) -> Architecture:
        if a.experts:
            dense = max(1, round(a.d_ff * wider / multiple)) * multiple
            return a.with_(experts=replace(a.experts, width=width), d_ff=dense)
        return a.with_(d_ff=width)

    multiple = min(128, was & -was)
    while multiple > 8 and multiple * 40 > was:
        multiple //= 2
    low, high = (rounded(share * was * wider, multiple) for share in (LEAST_INNER, MOST_INNER))
    if low == high:
        return inner(low)
    least, most = measure(inner(low), of), measure(inner(high), of)
    wanted = low + (high - low) * (goal - least) / (most - least)
    return inner(min(max(rounded(wanted, multiple), low), high))


def measure(a: Architecture, of: Measure) -> int:
    """The size of an architecture, by counting; FLOPs at the training context."""
    if of == "flops":
        return flops(a, min(a.context, TRAINING_CONTEXT)).forward
    return int(getattr(count(a), of))


def _depths(target: Target, t: Template) -> range:
    c = t.demanded
    if c.layers is not None:
        return legal_depths(c, 1, 1)
    most = int(depth_at_aspect(target, t, LEAST_ASPECT))
    least = math.ceil(depth_at_aspect(target, t, MOST_ASPECT))
    every = legal_depths(c, 1, DEEPEST)
    first = min(bisect_left(every, least), len(every) - 1)
    return legal_depths(c, least, min(most, DEEPEST)) or every[first : first + 1]


def depth_at_aspect(target: Target, t: Template, aspect: float) -> float:
    """The real depth at which a size has d / L = aspect, at least one; the inverse of `real_width`.

    >>> target = Target(3e9)
    >>> t = template(target, Constraints())
    >>> depth = depth_at_aspect(target, t, 64)
    >>> round(real_width(target.value, terms(t, depth, "total"), t) / depth, 6)
    64.0
    """

    def wider(layers: float) -> bool:
        width = t.demanded.width or real_width(target.value, terms(t, layers, target.of), t)
        return width > aspect * layers

    # A deeper net of equal size is narrower.
    low, high = 1.0, 2.0
    while wider(high) and high < 1e6:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if wider(middle) else (low, middle)
    return low


def _no_shape(target: Target, t: Template, off: Shape | None) -> str:
    sought = f"{size(target.value)} {NAMES[target.of]}"
    if t.demanded.width is None:  # as narrow as heads may be
        legal = [replace(t, head_widths=(head,)) for head in t.head_widths]
        t = min(legal, key=lambda narrow: narrow.step)
    if off is not None:
        a = off.architecture
        steps = "" if t.demanded.width else f"widths come in steps of {width_steps(t)}; "
        return (
            f"no shape that satisfies the constraints has {sought}; the nearest, "
            f"{plural(a.layers, 'layer')} of width {a.width:,}, has {size(off.value)}: {steps}"
            "relax a constraint or ask for that size"
        )
    c, width = t.demanded, f"{'' if t.demanded.width else 'least '}width {width_steps(t)}"
    embeddings = t.vocabulary * (2 - t.tied) * t.step
    if target.of in ("total", "active") and embeddings > target.value:
        return (
            f"no shape has {sought}: with a vocabulary of {t.vocabulary:,} and the {width} the "
            f"embeddings alone have {embeddings:,}; try a smaller vocabulary, "
            f"{narrower(t)}or a larger size"
        )
    layers, heads = _depths(target, t)[0], t.step // t.head_width
    s = terms(t, layers, target.of)
    keys = heads // c.kv_ratio if c.kv_ratio else key_heads(heads, t.ratio, 1)[0]
    inner, expert = inner_widths(1.0, s, t, t.step, keys * t.head_width)
    value = s.value(t.step, keys, inner, expert)
    experts = f" with {c.experts:,} experts of width {expert:,}" if c.experts else ""
    fewer = "fewer or narrower experts, " if c.experts else ""
    return (
        f"no shape has {sought}: the {width} takes {size(value)} in {plural(layers, 'layer')}"
        f"{experts}; try {fewer}{narrower(t)}or a larger size"
    )


def width_steps(t: Template) -> str:
    """The step of the widths, and what makes it.

    >>> width_steps(template(Target(3e9), Constraints(head_width=100, multiple=128)))
    '3,200 (head width 100, multiple 128)'
    >>> width_steps(template(Target(1e9), Constraints(head_width=64, kv_ratio=8, tensor=2)))
    '1,024 (head width 64 x 8 query heads a key head x 2 devices)'
    """
    c, ratio = t.demanded, t.demanded.kv_ratio or 1
    if c.width is not None:
        return f"{c.width:,}"
    factors = [f"head width {t.head_width}"]
    factors += [f"{ratio:,} query heads a key head"] * (ratio > 1)
    factors += [f"{c.tensor:,} devices"] * (c.tensor > 1)
    coarse = t.step != t.head_width * t.heads
    return f"{t.step:,} ({' x '.join(factors)}{f', multiple {t.multiple}' if coarse else ''})"


def narrower(t: Template) -> str:
    """What makes the widths of a template finer, as a list of things to try."""
    c, reason = t.demanded, ""
    if c.width is not None:
        return "a smaller width, "
    if t.step != (heads := t.head_width * t.heads):
        reason += f"a multiple of {math.gcd(heads, t.multiple)}, "
    if c.tensor > 1:
        reason += "fewer devices, "
    if c.kv_ratio and c.kv_ratio > 1:
        reason += "fewer queries a key head, "
    return f"{reason}a smaller head width, "
