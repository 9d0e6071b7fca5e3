"""The options of a question, as type checkers and editors see them. What each is, what it takes and
how that is read stands in `advisor.question`; a test compares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from depthlaw.advisor.architecture import Architecture
    from depthlaw.advisor.checkpoint import GivenNet
    from depthlaw.advisor.latency import Fit


class SizeOptions(TypedDict, total=False):
    """Those that a range of sizes takes: of the shape, and of its training."""

    count: Literal["total", "non-embedding", "active"] | None
    head_width: float | str | None
    multiple: float | str | None
    gqa: float | str | None
    gated: bool | None
    ff: float | str | None
    tied: bool | None
    vocabulary: float | str | None
    context: float | str | None
    layers: float | str | None
    least_layers: float | str | None
    most_layers: float | str | None
    width: float | str | None
    loops: float | str | None
    encoder_decoder: bool | None
    experts: float | str | None
    active_experts: float | str | None
    shared_experts: float | str | None
    expert_width: float | str | None
    dense_layers: float | str | None
    tensor: float | str | None
    pipeline: float | str | None
    parametrisation: Literal["standard", "mup", "completep"] | None
    norm: Literal["pre", "post", "lns"] | None
    residual: Literal["plain", "attnres"] | None
    latency_matters: bool | None
    known_by: float | str | None


class QuestionOptions(SizeOptions, total=False):
    """All: also what there is to spend, and a task."""

    mixer: Literal["gated-deltanet", "hgrn2", "deltanet", "mamba2", "linear-attention"] | None
    flops: float | str | None
    tokens: float | str | None
    epochs: float | str | None
    gpu: str | None
    gpus: float | str | None
    hours: float | str | None
    time: float | str | None
    utilisation: float | str | None
    memory: float | str | None
    bits: float | str | None
    ms_per_token: float | str | None
    tokens_per_second: float | str | None
    latency: Fit | str | Path | None
    bandwidth: float | str | None
    ms_per_layer: float | str | None
    kv_cache: float | str | None
    hf: GivenNet | Architecture | str | Path | None
    safetensors: GivenNet | str | Path | None
    zero: float | str | None
    recompute: Literal["none", "selective", "full"] | None
    microbatch: float | str | None
    batch: float | str | None
    expert_parallel: float | str | None
    measured: Fit | str | Path | None
    task: str | None
    atlas: str | Path | None
    diameter: float | str | None
    vertices: float | str | None
    hops: float | str | None
    length: float | str | None
