"""What an answer of the advisor holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from .architecture import Architecture
    from .checkpoint import Checkpoint
    from .counting import Count, Flops, Memory
    from .grids import OtherRange
    from .hybrids import HybridAdvice
    from .initialisation_advice import Advice
    from .loops import LoopWorth
    from .regimes import Beyond, Phone, Second, Tokens
    from .rule_scores import Interval
    from .task_depths import TaskAnswer
    from .trades import Trade
    from .training_cost import TrainingCost

SCHEMA = Path(__file__).with_name("schema.json")


class Bound(NamedTuple):
    """What bounds the depth from below where latency matters."""

    # The rule's own depth, or that where no grid says more; the range within 1 %; the shallowest of
    # published models; comparisons of sources.
    code: Literal["rule", "no-grid", "interval", "models", "comparisons"]
    layers: int | None = None  # of the models
    sources: tuple[str, ...] = ()  # of the comparisons


class Otherwise(NamedTuple):
    """The choice without one demand."""

    demand: str  # its keyword
    option: str  # that makes it
    layers: int
    width: int


class OwnLaw(NamedTuple):
    """The depth of a net by a law that is fitted to somebody's own losses."""

    form: Literal["exponential", "power"]
    layers: tuple[float, float, float]  # low, middle, high


class OwnNearest(NamedTuple):
    """The budget of somebody's own losses whose size is nearest to a net."""

    parameters: float  # 12 L d^2
    layers: tuple[float | None, float, float | None]  # ends of the interval, and best between them


class OwnLosses(NamedTuple):
    """What somebody's own losses say of a net, beside published grids."""

    parameters: float  # of the net, in its layers
    budget: Literal["parameters", "flops", "hours"]  # what compared nets have in common
    beyond: float  # how many times as large as the largest budget
    laws: tuple[OwnLaw, ...]
    nearest: OwnNearest | None
    rule: float  # layers by the published rule
    within: str | None  # the layers that lose at most 1 % by published grids


@dataclass(frozen=True)
class Reason:
    """Why a net has its depth, as data."""

    kind: Literal["rule", "demand", "step", "limit", "trade", "given"]
    # Of a rule: "rule", or "rest-of-size" where a demand leaves the layers another number of
    # parameters. Of a demand its name. Of steps of the width: "width-steps", or
    # "coarse-widths" where none near the rule can be built. Of a limit: latency, memory, kv-cache.
    # Of another shape: why it is shown.
    code: str
    demands: tuple[str, ...] = ()  # the demands or limits that decided, by their keywords
    dropped: tuple[str, ...] = ()  # all demands without which `against` is the choice
    against: tuple[int, int] | None = None  # layers and width of that choice
    cost: Trade | None = None  # of the net against it; of another shape against the recommended
    also: tuple[Otherwise, ...] = ()  # other demands without one of which the depth would differ
    bound: Bound | None = None  # where latency matters


@dataclass(frozen=True)
class Candidate:
    """A shape that can be built as it stands, and why it is shown."""

    architecture: Architecture
    counts: Count
    why: str  # of the recommended shape: why this one; of a runner-up: what it trades
    milliseconds: tuple[float, float, float] | None = None  # per token: low, middle, high
    reason: Reason | None = None  # the same as `why`, as data
    layer_kinds: dict[str, int] = field(default_factory=dict)  # layers by what mixes tokens
    by_part: dict[str, int] = field(default_factory=dict)  # parameters by what they are of


@dataclass(frozen=True)
class Neighbour:
    """The recommended shape with one legal depth less, the same, or one more."""

    layers: int
    equal: Literal["parameters", "FLOPs"]  # what it has in common with the recommended shape
    architecture: Architecture
    counts: Count
    loss_change: tuple[float, float] | None  # relative to the recommended shape; 0.01: 1 % worse
    loss_source: str  # whose grid, or why nothing is known
    speedup: tuple[float, float] | None = None  # factor of compute for equal loss, low and high
    milliseconds: tuple[float, float, float] | None = None  # per token: low, middle, high
    second_change: float | None = None  # of the loss, by Liu's fit, which is of other nets


@dataclass(frozen=True)
class LawNumber:
    """What one law says about this budget, and whose it is."""

    key: str  # of the rule
    name: str
    layers: int
    depth: float  # before rounding
    width: int | None  # that spends the budget on so many layers
    meaning: str  # floor, optimum, default, maximum, ...
    formula: str
    source: str
    wording: str  # printed, reported, recalled, derived
    extrapolated: bool  # outside what its source measured
    domain: tuple[float, float] | None  # sizes 12 L d^2 that its source measured
    error: float | None = None  # standard error of the depth, where the source gives one
    claim: str | None = None  # key of the claim about it
    verdict: str | None = None  # of that claim, where somebody has run it
    claim_about: str = ""  # what of the number that claim checks, where it is not all of it
    parametrisation: str = "standard"
    norm: str = "pre"
    residual: str = "plain"
    year: int | None = None
    remark: str = ""


@dataclass(frozen=True)
class Built:
    """The depths of real models near the budget."""

    low: int
    middle: int
    high: int
    models: int
    recipes: int  # different shapes: copies are counted once
    factor: float  # how far from the budget they may be
    nearest: tuple[tuple[str, int, int], ...]  # name, layers, width of the nearest few
    wording: str  # how their shapes are known
    among: str = ""  # where the depth stands among them, in words
    outside: bool = False  # it is deeper or shallower, or so for its width, than all of them
    place: str = ""  # the same: deeper, shallower, narrower, wider, among


class Said(NamedTuple):
    """A sentence of the first screen."""

    slot: str  # where it stands
    code: str  # what it says there
    text: str


@dataclass(frozen=True)
class Answer:
    """One question answered. Everything about a size is None or empty if only a task is asked."""

    question: str  # as it was understood
    # What everything else is about: the recommended shape, or the given configuration.
    shape: Candidate | None = None
    rule: str = ""  # key of the rule that chose the depth
    rule_why: str = ""  # by what evidence it is the one
    interval: Interval | None = None
    runners_up: tuple[Candidate, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    floor: LawNumber | None = None  # log_3(d): every listed model above 1e8 is deeper
    laws: tuple[LawNumber, ...] = ()  # every rule's number, shallowest first, the floor included
    built: Built | None = None
    given: Candidate | None = None  # the configuration that the question is about
    # Another shape in its place, where its depth is known to be worse or breaks a demand.
    instead: Candidate | None = None
    verdicts: tuple[str, ...] = ()  # on that configuration, most important first
    warnings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()  # of the recommendation, the biggest first
    initialisation: tuple[str, ...] = ()  # advice for this depth
    tokens: float | None = None
    training_flops: float | None = None  # of the whole training
    hours: float | None = None  # of the whole training on all GPUs together, by `hours_by`
    # Per token at no more than 4,096 tokens, of `shape`.
    flops: Flops | None = None
    memory: Memory | None = None  # of the same, with the weights in the bytes of the budget
    stages: tuple[int, ...] = ()  # layers of each pipeline stage
    limits: tuple[str, ...] = ()  # how size and limits follow from the budget, in words
    tasks: tuple[TaskAnswer, ...] = ()
    rule_brief: str = ""  # how sure the depth is, as the first screen says it
    together: str = ""  # what the size and the tasks ask for together
    # Layers by that rule, where the answer has fewer since extrapolated losses do not differ.
    rule_layers: int | None = None
    training: TrainingCost | None = None  # of `shape` on the GPUs that are given
    # What each verdict, warning and doubt is about, in their order.
    verdict_codes: tuple[str, ...] = ()
    warning_codes: tuple[str, ...] = ()
    doubt_codes: tuple[str, ...] = ()
    data: Tokens | None = None  # the training tokens, beside those of the grids
    second: Second | None = None  # the depths within 1 % by a second source
    others: tuple[OtherRange, ...] = ()  # and by nets that trade depth for feed-forward width
    beyond: Beyond | None = None  # above all grids: what is built, and what the rule says
    phone: Phone | None = None  # what is published of nets for phones
    # The sentences with which the first screen opens: the answer, how sure it is, what would change
    # it, and so on.
    screen: tuple[Said, ...] = ()
    budget: float | None = None  # parameters that were asked for, or that all else pays for
    recipe: tuple[Advice, ...] = ()  # what to set for a net of this depth
    snippet: str = ""  # the same as lines of PyTorch, where a scale is published
    loops: LoopWorth | None = None  # what its loops are worth
    hybrid: HybridAdvice | None = None  # how many of its layers are attention, where it was asked
    # The tensors of a given net; without `shape` they are all that is known of it.
    stored: Checkpoint | None = None
    losses: OwnLosses | None = None  # what losses of somebody's own say of the net
    # By what `hours` are counted: training.hours, or the training FLOPs alone where none are known.
    hours_by: Literal["training", "operations"] | None = None

    if TYPE_CHECKING:  # what `depthlaw.recommend` adds (ledger.notebook)

        def rows(self) -> list[dict[str, Any]]: ...  # noqa: D102
        def to_json(self) -> dict[str, Any]: ...  # noqa: D102

    @property
    def layers(self) -> int | None:
        """The depth of `shape`; None if only a task is asked."""
        return None if self.shape is None else self.shape.architecture.layers

    @property
    def width(self) -> int | None:
        """The width of `shape`."""
        return None if self.shape is None else self.shape.architecture.width

    @property
    def heads(self) -> int | None:
        """The query heads of `shape`."""
        return None if self.shape is None else self.shape.architecture.heads


# --- for machines --------------------------------------------------------------------------------


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as plain data, as schema.json describes it."""
    data: dict[str, Any] = plain_data(answer)
    if answer.flops:
        data["flops"] |= {"forward": answer.flops.forward, "training": answer.flops.training}
    if answer.memory:
        data["memory"] |= {"training": answer.memory.training, "serving": answer.memory.serving}
    return data


def plain_data(value: Any) -> Any:
    """Dataclasses and named tuples as dictionaries without what starts with an underscore; no
    infinities."""
    if is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    elif hasattr(value, "_asdict"):  # a named tuple
        value = value._asdict()
    if isinstance(value, dict):
        return {name: plain_data(item) for name, item in value.items() if name[:1] != "_"}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
