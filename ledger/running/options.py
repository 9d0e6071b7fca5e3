"""Who does the work of a suite: the options of `depthlaw verify` as people type them, and the
engine they ask for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from depthlaw.advisor.base.quantities import UsageError, parse_bytes, quoted

from ..records.environment import cores
from .engines import LOADER, Engine, Inline, ProcessPool, Ray

# More processes than this per core only wait for each other, and each takes its own memory.
PROCESSES_PER_CORE = 16
# Two years: a longer limit is no limit, and the system's alarm clock cannot be set to every number.
MOST_MINUTES = 10**6
# Bytes: what Python takes with SymPy, NumPy and all claims.
LEAST_MEMORY = 500 * 10**6
# What CUDA_VISIBLE_DEVICES takes: an index, or the id that nvidia-smi prints.
_GPU = re.compile(r"\d{1,4}|(GPU|MIG)-[0-9A-Za-z/-]+", re.ASCII)


@dataclass(frozen=True)
class Options:
    """Who does the work of a suite, and how much of it: the options of `depthlaw verify` as they
    were typed."""

    engine: str = "pool"
    processes: int = 0
    timeout: float = 3600.0
    max_memory: str = ""
    minutes: float | None = None
    address: str = "local"
    gpus: str | None = None
    gpus_per_run: float = 0.0
    memory: str = ""
    device: str = "cpu"

    def made(self, loader: str = LOADER) -> Engine:
        """The engine, whose processes find the claims by `loader`; a UsageError for an option that
        makes no sense."""
        self._check_numbers()
        gpus = self._gpus()
        if self.engine != "ray" and self.address != "local":
            raise UsageError(
                f"--address {quoted(self.address)} belongs to --engine ray, not to "
                f"{quoted(self.engine)}; leave one of them out"
            )
        if self.engine == "inline":
            return Inline()
        if self.engine == "pool":
            memory = parse_bytes(self.max_memory) if self.max_memory else None
            if memory is not None and memory < LEAST_MEMORY:
                raise UsageError(
                    f"--max-memory {quoted(self.max_memory)} is less than a process "
                    "needs to start; give 500MB or more, such as 4GB"
                )
            return ProcessPool(self.processes, self.timeout, memory, gpus=gpus, loader=loader)
        if self.engine == "ray":
            if not 0 <= self.gpus_per_run < math.inf:
                raise UsageError(
                    f"--gpus-per-run {self.gpus_per_run} is not a share of a GPU; try 0.25 or 1"
                )
            return Ray(self.address, self.timeout, gpus_per_run=self.gpus_per_run, loader=loader)
        raise UsageError(f"unknown engine {quoted(self.engine)}; accepted: inline, pool, ray")

    def _check_numbers(self) -> None:
        most, longest = PROCESSES_PER_CORE * cores(), 60 * MOST_MINUTES
        if not 0 <= self.processes <= most:
            accepted = f"accepted are 1 to {most} on this machine, or 0 for one per core"
            raise UsageError(f"--processes {self.processes} is out of range; {accepted}")
        if not 0 < self.timeout <= longest:
            accepted = f"is not a number of seconds above 0, at most {longest}; try 3600"
            raise UsageError(f"--timeout {self.timeout:g} {accepted}")
        if self.minutes is not None and not 0 < self.minutes <= MOST_MINUTES:
            accepted = f"is not a number of minutes above 0, at most {MOST_MINUTES}"
            raise UsageError(f"--minutes {self.minutes:g} {accepted}; leave it out for no limit")

    def _gpus(self) -> tuple[str, ...]:
        if self.gpus is None:
            return ()
        if not self.gpus.strip():
            how = "give ids, such as --gpus 0,1, or leave it out"
            raise UsageError(f"--gpus names no device; {how}")
        ids = tuple(g.strip() for g in self.gpus.split(","))
        for name in (name for name in ids if not _GPU.fullmatch(name)):
            raise UsageError(
                f"--gpus {quoted(self.gpus)}: {quoted(name)} is not a device id; accepted are "
                "numbers and the ids that nvidia-smi -L prints, separated by commas; try --gpus 0,1"
            )
        if self.engine != "pool":
            what = f"--gpus belongs to --engine pool, not to {quoted(self.engine)}"
            raise UsageError(f"{what}; leave one of them out")
        return ids
