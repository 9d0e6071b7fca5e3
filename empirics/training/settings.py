"""How nets are trained: everything that fixes a training run besides shape, task and device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from ..nets.net import Deviations
from .adamw import Decayed, RateFactors, Schedule

Precision = Literal["float32", "float64", "bf16"]


@dataclass(frozen=True)
class Settings:
    """How nets are trained; with shape, task and device it determines the result.

    Attributes:
        steps: budget of updates.
        batch: examples per replica and step.
        learning_rates, seeds: one of each per replica. A seed fixes the initial weights and all
            examples, so that replicas of one seed differ in the learning rate alone.
        weight_decay, decayed: decoupled weight decay, and of which tensors: "all", as
            torch.optim.AdamW does with all parameters, or "matrices", which spares biases, gains
            and shifts.
        betas, epsilon: of Adam.
        warmup, schedule: see `adamw.schedule_factor`.
        clip: largest norm of a replica's gradient; 0 for no clipping.
        precision: float32, float64, or bf16 (float32 weights, products in bfloat16; on a GPU
            alone).
        evaluate_every: steps between evaluations; 0: at the end alone.
        validation: fresh examples per replica and evaluation.
        success: a replica whose validation accuracy reaches this at two evaluations in a row has
            succeeded and stops; None: none stops.
        std, output_std: of the initial weights, see `Net`.
        rate_factors: factors on the learning rate of parameters by name, see
            `adamw.rate_columns`; what has factor 0 is frozen, and clipping does not see it.
        drawn: steps whose examples are drawn at once: more costs memory and saves overhead. The
            examples depend on it.
        compiled: run forward and backward through torch.compile.
        graphed: replay the step as a CUDA graph.

    Raises:
        ValueError: where a number is out of range.
    """

    steps: int
    batch: int = 64
    learning_rates: tuple[float, ...] = (1e-3,)
    seeds: tuple[int, ...] = (0,)
    weight_decay: float = 0.01
    decayed: Decayed = "all"
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    warmup: int = 0
    schedule: Schedule = "constant"
    clip: float = 1.0
    precision: Precision = "float32"
    evaluate_every: int = 0
    validation: int = 256
    success: float | None = None
    std: float | Deviations = 0.02
    output_std: float | None = None
    drawn: int = 16
    compiled: bool = False
    graphed: bool = False
    rate_factors: RateFactors = ()

    def __post_init__(self) -> None:
        for name, least in (
            ("steps", 1),
            ("batch", 1),
            ("drawn", 1),
            ("validation", 1),
            ("warmup", 0),
            ("evaluate_every", 0),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: at least {least} is accepted")
        if len(self.learning_rates) != len(self.seeds) or not self.seeds:
            raise ValueError(
                f"{len(self.learning_rates)} learning rates and {len(self.seeds)} "
                "seeds: give one of each per replica"
            )
        # Within this range an update is bounded, so that weights never overflow before a loss or
        # gradient does.
        if (
            not all(
                0 <= rate <= 1e6 and rate * self.weight_decay <= 1 for rate in self.learning_rates
            )
            or not self.weight_decay >= 0
        ):
            raise ValueError(
                "learning rates lie between 0 and 1e6 and weight decay is at least 0 and at most "
                f"1/rate; got {self.learning_rates} and {self.weight_decay}"
            )
        if not (all(0 <= b < 1 for b in self.betas) and self.epsilon > 0 and self.clip >= 0):
            raise ValueError(
                "betas lie in [0, 1), epsilon is positive, clip at least 0; got "
                f"{self.betas}, {self.epsilon} and {self.clip}"
            )
        if not all(math.isfinite(factor) and factor >= 0 for _, factor in self.rate_factors):
            raise ValueError(
                f"factors on the learning rate are at least 0; got {self.rate_factors}"
            )
        for name, accepted in (
            ("schedule", Schedule),
            ("precision", Precision),
            ("decayed", Decayed),
        ):
            if getattr(self, name) not in get_args(accepted):
                raise ValueError(
                    f"{name}={getattr(self, name)!r}: accepted are {', '.join(get_args(accepted))}"
                )

    @property
    def replicas(self) -> int:
        """R, how many nets are trained together."""
        return len(self.seeds)

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return torch.float64 if self.precision == "float64" else torch.float32
