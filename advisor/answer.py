"""What an answer of the advisor holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .architecture import Architecture
    from .counting import Count, Flops, Memory
    from .rule_scores import Interval
    from .task_depths import TaskAnswer


@dataclass(frozen=True)
class Candidate:
    """A shape that can be built as it stands, and why it is shown."""

    architecture: Architecture
    counts: Count
    why: str  # of the recommended shape: why this one; of a runner-up: what it trades
    milliseconds: tuple[float, float, float] | None = None  # per token: low, middle, high


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
    hours: float | None = None  # of the whole training on all GPUs together
    # Per token at no more than 4,096 tokens, of `shape`.
    flops: Flops | None = None
    memory: Memory | None = None  # of the same, with the weights in the bytes of the budget
    stages: tuple[int, ...] = ()  # layers of each pipeline stage
    limits: tuple[str, ...] = ()  # how size and limits follow from the budget, in words
    tasks: tuple[TaskAnswer, ...] = ()
    rule_brief: str = ""  # rule_why in a line or two
    together: str = ""  # what the size and the tasks ask for together
    # Layers by that rule, where the answer has fewer since extrapolated losses do not differ.
    rule_layers: int | None = None

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


def percents(change: tuple[float, float]) -> str:
    """A relative change as an interval. Below 0.1 % the sign is that of an interpolation, and no
    source tells such shapes apart.

    >>> percents((-0.001, 0.0034)), percents((0.002, 0.002)), percents((-1e-6, 1e-4))
    ('-0.1 to +0.3 %', '+0.2 %', 'within 0.1 %')
    """
    if max(map(abs, change)) < 0.001:
        return "within 0.1 %"
    low, high = (f"{round(100 * x, 1) + 0.0:+.1f}" for x in change)
    low, high = (x.lstrip("+") if float(x) == 0 else x for x in (low, high))
    return f"{low} %" if low == high else f"{low} to {high} %"
