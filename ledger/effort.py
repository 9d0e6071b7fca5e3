"""Who does the work of a suite: the options of `depthlaw verify` as people type them, and the engine they ask for."""
from __future__ import annotations

import math
from dataclasses import dataclass

from .budget import UsageError, parse_bytes, quoted
from .engines import Engine, Inline, Pool, Ray

__all__ = ["Effort"]


@dataclass(frozen=True)
class Effort:
    """Who does the work of a suite, and how much of it: the options of `depthlaw verify` as they were typed."""

    engine: str = "pool"
    processes: int = 0
    timeout: float = 3600.0
    max_memory: str = ""
    minutes: float | None = None
    address: str = "local"
    gpus: str = ""
    gpus_per_run: float = 0.0
    memory: str = ""
    device: str = "cpu"

    def made(self) -> Engine:
        """The engine.

        Raises:
            UsageError: when an option makes no sense.
        """
        if self.processes < 0 or not self.timeout > 0 or (self.minutes is not None and not self.minutes > 0):
            raise UsageError("--processes must not be negative, --timeout and --minutes must be positive numbers")
        if self.engine == "inline":
            return Inline()
        gpus = tuple(g.strip() for g in self.gpus.split(",") if g.strip())
        if self.engine == "pool":
            memory = parse_bytes(self.max_memory) if self.max_memory else None
            return Pool(self.processes, self.timeout, memory, gpus=gpus)
        if self.engine == "ray":
            if not 0 <= self.gpus_per_run < math.inf:
                raise UsageError(f"--gpus-per-run {self.gpus_per_run} is no share of a GPU; try 0.25 or 1")
            return Ray(self.address, self.timeout, gpus_per_run=self.gpus_per_run)
        raise UsageError(f"unknown engine {quoted(self.engine)}; accepted: inline, pool, ray")
