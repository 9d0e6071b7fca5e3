"""What can be asked: every option of the advisor once, with its name, help, unit, reader.

From the fields of `Question` follow the options of `depthlaw depth` and `depthlaw sweep`, the
keywords of `depthlaw.recommend` and their JSON schema. What an option is worth where nobody gives
it stands in `Budget` and `Constraints`, which a question is turned into.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .base.quantities import (
    UsageError,
    parse_bandwidth,
    parse_budget,
    parse_bytes,
    parse_count,
    parse_factor,
    parse_flops,
    parse_hours,
    parse_milliseconds,
    parse_ratio,
    parse_share,
    parse_tokens,
    quoted,
    shown,
)

if TYPE_CHECKING:
    from .architecture import Architecture
    from .checkpoint import GivenNet
    from .latency import Fit

_Function = TypeVar("_Function", bound=Callable[..., Any])
_KEYWORD = inspect.Parameter.KEYWORD_ONLY

# What else a range of sizes can have.
_OF_SIZES = ("count", "known_by")
HAVE, TASK = "What you have (at least one, or a task)", "A task instead of a size, or beside it"
MIXERS = ("gated-deltanet", "hgrn2", "deltanet", "mamba2", "linear-attention")  # of mixers.csv
SPLIT, USED = "Parallel training", "How it is trained and used"
TRAINING = "Training on the GPUs"


def _option(
    heading: str | None,
    text: str,
    unit: str | None = None,
    read: Callable[[str], Any] | None = None,
    *,
    of: str | None = None,
    **more: Any,
) -> Any:
    """An option that is typed, with its line of the help, the heading there (None: with the options
    of the output) and what stands there for its value, which is read from text.

    Args:
        of: the field of Budget or Constraints that it is, if that has another name.
        more: `example`, of a whole number; `choices`; `what`, the value in words; `flags`, where
            they are not the name; `needs`, the options without one of which it changes nothing;
            `alone`, of one net, not of a range of sizes.
    """
    facts = {"heading": heading, "text": text, "unit": unit, "read": read, "of": of, **more}
    return field(default=None, metadata=facts)


def _bytes_of(bits: str) -> float:
    return parse_count(bits, "number of bits", "--bits 8") / 8


def _of_rate(tokens: str) -> float:
    return float(parse_milliseconds(tokens if "/" in tokens else f"{tokens}/s"))


def _latencies(file: str) -> Fit:
    from .latency import read_latency

    return read_latency(Path(file))


def _configuration(path: str) -> GivenNet:
    from .checkpoint import read_net

    return read_net(Path(path))


def _tensors(path: str) -> GivenNet:
    from .checkpoint import read_stored

    return read_stored(Path(path))


def _listed(name: str) -> GivenNet:
    """The net of a published model; where its shape was not read in its source, that is said."""
    from .checkpoint import GivenNet
    from .published import published

    found, seen = published(name), ("seen", "printed")
    unread = f"the shape of {found.architecture.name} was not read in its source"
    known = () if found.mark in seen else (unread,)
    remarks = (*found.architecture.remarks, *known)
    return GivenNet(found.architecture.with_(remarks=remarks), named=quoted(name))


def _year(text: str) -> int:
    year = parse_count(text, "year", "--known-by 2023")
    if not 2017 <= year <= 2100:
        raise UsageError(
            f"the year {quoted(text)} is out of range; accepted are years from 2017, "
            "when the transformer appeared, to 2100; try --known-by 2023"
        )
    return year


_have, _task = partial(_option, HAVE), partial(_option, TASK)
_shape = partial(_option, "What the shape must obey")
_experts = partial(_option, "Mixture of experts")
_split = partial(_option, SPLIT)
_on_gpus = partial(_option, TRAINING, needs=("gpu",))
_trained = partial(_option, USED)
_TIMED = ("ms_per_token", "tokens_per_second")
_STORED = (*_TIMED, "memory", "hf", "safetensors")


@dataclass(frozen=True, kw_only=True)
class Question:
    """Every option of a question; None: not given. Values are those of Budget and Constraints, so
    that `bits` holds bytes and `tokens_per_second` milliseconds.

    >>> question = Question.read(budget="3B", gqa="4:1", bits="4", hours="2 weeks")
    >>> question.gqa, question.bits, question.hours
    (4, 0.5, 336.0)
    """

    budget: float | None = _have(
        "Parameters, such as 3B, 350M or 7e9; or a listed model to judge.", "BUDGET", parse_budget
    )
    count: str | None = _have(
        "Which parameters BUDGET counts: total (default), non-embedding or active.",
        "WHICH",
        choices=("total", "non-embedding", "active"),
    )
    flops: float | None = _have("Training FLOPs, such as 1e21.", "FLOPS", parse_flops)
    tokens: float | None = _have("Training tokens, such as 300B.", "TOKENS", parse_tokens)
    epochs: int | None = _have(
        "How often training sees each token (1).",
        "TIMES",
        example=4,
        what="number of epochs",
    )
    gpu: str | None = _have("GPU type, such as H100.", "NAME")
    gpus: int | None = _have(
        "How many GPUs (1).", "COUNT", example=64, what="number of GPUs", needs=("gpu",)
    )
    hours: float | None = _have("Hours of training.", "HOURS", parse_hours, needs=("gpu",))
    time: float | None = _have(
        'Time of training, such as "2 weeks".', "TIME", parse_hours, of="hours", needs=("gpu",)
    )
    utilisation: float | None = _have(
        "Share of the GPUs' peak that training reaches (0.4).", "SHARE", parse_share, needs=("gpu",)
    )
    memory: float | None = _have(
        "Memory of the device that runs the net, such as 8GB.", "BYTES", parse_bytes
    )
    bits: float | None = _have(
        "Bits of a weight on that device (16).",
        "BITS",
        _bytes_of,
        of="bytes_per_weight",
        needs=_STORED,
    )
    ms_per_token: float | None = _have(
        "Latency limit for one token of one sequence.", "MS", parse_milliseconds, of="milliseconds"
    )
    tokens_per_second: float | None = _have(
        "Least speed, in tokens per second.", "TOKENS", _of_rate, of="milliseconds"
    )
    latency: Fit | None = _have(  # noqa: RUF009
        "Measured latencies: a CSV file with columns L, d, ms, and optionally d_ff and more.",
        "FILE",
        _latencies,
    )
    bandwidth: float | None = _have(
        "Memory bandwidth of that device, such as 50GB/s.", "RATE", parse_bandwidth, needs=_TIMED
    )
    ms_per_layer: float | None = _have(
        "Time of a layer in addition to reading its weights.",
        "MS",
        parse_milliseconds,
        of="layer_milliseconds",
        needs=_TIMED,
    )
    kv_cache: float | None = _have(
        "Limit of one sequence's KV cache at full context, such as 1GB.",
        "BYTES",
        parse_bytes,
        of="kv_bytes",
    )
    hf: GivenNet | Architecture | None = _have(  # noqa: RUF009
        "A Hugging Face config.json or its folder, to count and judge.",
        "PATH",
        _configuration,
        of="config",
    )
    safetensors: GivenNet | None = _have(  # noqa: RUF009
        "A .safetensors file, or an index of several, to count from the header.",
        "FILE",
        _tensors,
    )

    zero: int | None = _on_gpus("Stage of ZeRO, 0 to 3.", "STAGE", example=1, least=0)
    recompute: str | None = _on_gpus(
        "Parts of a layer to compute again: none, selective or full.",
        "WHICH",
        choices=("none", "selective", "full"),
    )
    microbatch: int | None = _on_gpus("Sequences in a microbatch.", "COUNT", example=1)
    batch: int | None = _on_gpus("Sequences in a training step.", "COUNT", example=512)
    expert_parallel: int | None = _on_gpus(
        "GPUs that share the experts of a layer.", "GPUS", example=8
    )
    measured: Fit | None = _on_gpus(  # noqa: RUF009
        "Measured training steps: a CSV file as for --latency, with ms of a step of --batch.",
        "FILE",
        _latencies,
    )

    head_width: int | None = _shape("Width of one head.", "WIDTH", example=128)
    multiple: int | None = _shape(
        "A number that must divide the width, such as 128.", "NUMBER", example=128
    )
    gqa: int | None = _shape(
        "Query heads per key-value head, such as 4 (or 4:1).", "RATIO", parse_ratio, of="kv_ratio"
    )
    gated: bool | None = _shape("Use three matrices in the MLP, or two.", flags="--gated/--plain")
    ff: float | None = _shape(
        "Width of the MLP divided by the width of the net.", "FACTOR", parse_factor, of="ff_factor"
    )
    tied: bool | None = _shape(
        "Share weights of input and output embeddings, or not.", flags="--tied/--untied"
    )
    vocabulary: int | None = _shape("Size of the vocabulary.", "SIZE", example=32000)
    context: int | None = _shape(
        "Context length; training FLOPs count at most 4096 of it.", "TOKENS", example=4096
    )
    layers: int | None = _shape("Fix the depth.", "LAYERS", example=32)
    least_layers: int | None = _shape("Fewest layers allowed.", "LAYERS", example=16)
    most_layers: int | None = _shape("Most layers allowed.", "LAYERS", example=32)
    width: int | None = _shape("Fix the width.", "WIDTH", example=4096)
    loops: int | None = _shape(
        "Passes through the same layers; BUDGET counts them once.", "TIMES", example=2
    )
    mixer: str | None = _shape(
        "The other layers of a hybrid: how many are attention, and which the others are.",
        "WHICH",
        choices=MIXERS,
        alone=True,
    )
    encoder_decoder: bool | None = _shape("Two stacks, as in T5.", of="kind")

    experts: int | None = _experts("Experts in a layer.", "COUNT", example=64)
    active_experts: int | None = _experts("Experts that each token uses.", "COUNT", example=6)
    shared_experts: int | None = _experts("Experts that every token uses.", "COUNT", example=2)
    expert_width: int | None = _experts("Inner width of one expert.", "WIDTH", example=1408)
    dense_layers: int | None = _experts(
        "How many of the first layers have no experts.", "LAYERS", example=1
    )
    tensor: int | None = _split("Tensor-parallel size.", "GPUS", example=8)
    pipeline: int | None = _split("Pipeline stages.", "STAGES", example=4)

    parametrisation: str | None = _trained(
        "standard, mup or completep.", "WHICH", choices=("standard", "mup", "completep")
    )
    norm: str | None = _trained(
        "pre, post, or lns (scaled by 1/sqrt(layer)).", "WHERE", choices=("pre", "post", "lns")
    )
    residual: str | None = _trained(
        "plain, or attnres (attention over earlier layers).", "WHICH", choices=("plain", "attnres")
    )
    latency_matters: bool | None = _trained("Prefer the shallowest of depths with similar loss.")

    task: str | None = _task(
        "connectivity, hops, regular, or a task that `depthlaw tasks` lists.", "TASK"
    )
    atlas: Path | None = _task(  # noqa: RUF009
        "A folder with tables of your own (docs/how-to/add-a-task.md), for --task.", "DIR", Path
    )
    diameter: int | str | None = _task("connectivity: largest diameter of a component.", "NUMBER")
    vertices: int | str | None = _task("connectivity: vertices of the graph.", "NUMBER")
    hops: int | str | None = _task("hops: number of hops k.", "NUMBER")
    length: int | str | None = _task("regular: length of the input.", "NUMBER")
    known_by: int | None = _option(
        None, "Answer as of a year, by what was published by then.", "YEAR", _year
    )

    @classmethod
    def read(cls, **options: Any) -> Question:
        """A question from options: what is typed, as text or as a number; None is not given.

        Raises:
            UsageError: for an unknown name, a value that cannot be read, and options that say the
                same.
        """
        values: dict[str, Any] = {}
        names: dict[str, str] = {}
        for name, value in options.items():
            if name not in BY_NAME:
                near = [BY_FIELD[name].name] if name in BY_FIELD else []
                near += get_close_matches(re.sub("^min", "least", name), BY_NAME, n=1)
                raise UsageError(
                    f"no option {quoted(name)}; "
                    + (f"did you mean {near[0]}? " if near else "")
                    + "Accepted are the fields of Question, such as gpus=64 or pipeline=4"
                )
            if value is None:
                continue
            option = BY_NAME[name]
            if name == "budget" and isinstance(value, str) and re.match(r"\s*[^\W\d_]", value):
                name, value = "hf", _listed(value)
                option = BY_NAME[name]
            if (same := names.setdefault(_field_of(option), name)) != name:
                raise UsageError(f"{same} and {name} say the same; give one of them")
            values[option.name] = _value(option, name, value)
        if "count" in values and "budget" not in values:
            raise UsageError(
                "--count says what the budget counts, and there is no budget; try depthlaw "
                "depth 3B --count non-embedding"
            )
        return cls(**values)

    def of(self, kind: type) -> dict[str, Any]:
        """The answers to the fields of a class, Budget or Constraints, by their names."""
        values = {
            _field_of(option): value
            for option in OPTIONS
            if (value := getattr(self, option.name)) is not None
        }
        if self.budget is not None:
            values[(self.count or "total").replace("-", "")] = self.budget
        if values.pop("kind", False):
            values["kind"] = "encoder-decoder"
        return {known.name: values[known.name] for known in fields(kind) if known.name in values}


def flag(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"


def typed(name: str, value: Any) -> str:
    """A demand, by its field of Constraints, as the option that makes it, without its value.

    >>> typed("kv_ratio", 4), typed("gated", False), typed("kind", "encoder-decoder")
    ('--gqa', '--plain', '--encoder-decoder')
    """
    if name == "kind":
        return flag(value)
    option = BY_FIELD[name]
    names = option.metadata.get("flags", flag(option.name)).split("/")
    return str(names[-1] if value is False else names[0])


def schema() -> dict[str, Any]:
    """The JSON schema of a question: the keywords of `depthlaw.recommend`."""
    properties = {}
    for option in OPTIONS:
        kind: dict[str, Any] = {"type": "string"}
        if choices := option.metadata.get("choices"):
            kind = {"enum": list(choices)}
        elif "bool" in option.type:
            kind = {"type": "boolean"}
        elif "int" in option.type or "float" in option.type:
            kind = {"type": ["number", "string"]}
        properties[option.name] = {"description": option.metadata["text"], **kind}
    return {
        "description": "What can be asked: the keywords of depthlaw.recommend and, with hyphens, "
        "the options of depthlaw depth. Quantities are numbers, or text as it is typed.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def completed(wanted: Callable[[Field[Any]], bool]) -> Callable[[_Function], _Function]:
    """Decorator: the signature of a function that hands its `**options` to a Question names those
    that are wanted, so that prompts complete them."""

    def named(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = {p.name: p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD}
        for option in filter(wanted, OPTIONS):
            choices = option.metadata.get("choices")
            kind = Literal[choices] | None if choices else option.type
            parameter = inspect.Parameter(option.name, _KEYWORD, default=None, annotation=kind)
            own.setdefault(option.name, parameter)
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=list(own.values())
        )
        return function

    return named


def of_sizes(option: Field[Any]) -> bool:
    """Whether a range of sizes can have it: it is about the shape or its training, not about what
    there is to spend."""
    facts = option.metadata
    of_one = facts.get("heading") in (HAVE, TASK, TRAINING, None) or facts.get("alone", False)
    return not of_one or option.name in _OF_SIZES


def _field_of(option: Field[Any]) -> str:
    """The field of Budget or Constraints that an option is, else its own name."""
    return option.metadata.get("of") or option.name


OPTIONS = fields(Question)
BY_NAME = {option.name: option for option in OPTIONS}
# By the field of Budget or Constraints: the first option that is it.
BY_FIELD = {_field_of(option): option for option in reversed(OPTIONS)}


def _value(option: Field[Any], name: str, value: Any) -> Any:
    """What was given for an option, read if it is text. A number is in the unit of what is typed,
    such as bits."""
    facts, value = option.metadata, _number(option, name, value)
    if isinstance(value, Collection) and not isinstance(value, str):
        raise UsageError(f"{name} takes one value, not several: {shown(value)}; give one")
    if "bool" in option.type and value not in (False, True):
        raise UsageError(f"{name} is True or False, not {shown(value)}; try {name}=True")
    typed = facts["of"] and isinstance(value, int | float)
    if isinstance(value, Path) or (typed and not isinstance(value, bool)):
        value = str(value)
    if not isinstance(value, str):
        return value
    if example := facts.get("example"):
        what = facts.get("what", f"value of {flag(option.name)}")
        least = facts.get("least", 1)
        return parse_count(value, what, f"{flag(option.name)} {example}", least)
    if accepted := facts.get("choices"):
        choice = value.strip().lower()
        if choice not in accepted:
            near = get_close_matches(choice, accepted, n=1)
            raise UsageError(
                f"unknown {flag(option.name)} {quoted(value)}; accepted are {', '.join(accepted)}; "
                f"try {flag(option.name)} {(*near, accepted[0])[0]}"
            )
        return choice
    if not (read := facts["read"]):
        return value
    return float(read(value)) if option.type.startswith("float") else read(value)


def _number(option: Field[Any], name: str, value: Any) -> Any:
    """A number as notebooks have it (4.0, a fraction, a decimal, a scalar of NumPy) as Python's own
    of the option's kind; anything else as it is."""
    # Scalars of NumPy and of torch.
    value = value.item() if hasattr(value, "item") and not value.ndim else value
    if not isinstance(value, Number) or isinstance(value, bool | complex):
        return value
    try:
        whole = int(value) == value  # type: ignore[call-overload]
    except (ValueError, OverflowError):
        whole = False
    # A whole number, whatever it is typed for: 4.0 layers, a ratio of 4.0.
    if whole and ("int" in option.type or option.metadata["of"]):
        return int(value)  # type: ignore[call-overload]
    if option.type.startswith("int"):
        raise UsageError(f"{name} is a whole number; got {value}")
    return float(value)  # type: ignore[arg-type]
