"""One run: what it measures, what it is known by, and doing it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from depthlaw.theory.claims.code_version import code_version
from depthlaw.theory.claims.definition import Case, Claim

from .environment import compute, environment
from .store import Record, digest, encode


@dataclass(frozen=True)
class Run:
    """One piece of work: measure a claim on one case with one seed, or (case None) check its proof.

    Attributes:
        device: "cpu" or "cuda"; part of what is recorded.
        control: measure in the way of the negative control, where that is another.
        options: how, see `Claim.measure`; no part of the record, and no result changes by them.
    """

    claim: Claim
    case: Case | None
    seed: int = 0
    device: str = "cpu"
    control: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def inputs(self) -> dict[str, Any]:
        """Everything that determines the result, as it goes into the record."""
        return {
            "claim": self.claim.key,
            "case": self.case.fields() if self.case else None,
            "seed": self.seed,
            "code": self.code,
            "device": self.device,
        } | ({"control": True} if self.control else {})

    @cached_property
    def code(self) -> str:
        """The version of the code that the result depends on; a proof also depends on what is
        stated."""
        if self.case is None:
            assert self.claim.proof is not None
            return digest([code_version(self.claim.proof), stated(self.claim.statement)])[:16]
        measured = self.claim.control.measured if self.control else self.claim.measured
        assert measured is not None
        return code_version(measured)

    @cached_property
    def id(self) -> str:
        """SHA-256 of the inputs."""
        return digest(self.inputs)

    @property
    def measurement(self) -> Case:
        """The case without the fields that the claim only reads."""
        fields = self.case.fields() if self.case else {}
        return Case(**{k: v for k, v in fields.items() if k not in self.claim.reads})

    def __str__(self) -> str:
        seed = f" seed {self.seed}" if self.seed else ""
        control = " (negative control)" if self.control else ""
        return f"{self.claim.key} [{self.case or 'proof'}]{seed}{control}"

    def execute(self) -> Record:
        """Do the work, in this process."""
        facts: dict[str, Any] = {}
        if self.claim.needs and self.case is not None:
            # What is expected of a training is written down before it starts.
            right = str(self.claim.predict(self.case))
            facts["expected"] = {"statement": stated(self.claim.statement), "right_side": right}
        started, cpu = time.perf_counter(), time.process_time()
        if self.case is None:
            assert self.claim.proof is not None
            result = encode(tuple(self.claim.proof(self.claim.statement)))
        else:
            how = {"control": self.control, "device": self.device, **self.options}
            result = encode(self.claim.measure(self.case, self.seed, **how))
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        timing = {"wall_s": round(wall, 6), "cpu_s": round(cpu, 6)}
        facts |= {"environment": environment(), "timing": timing, "compute": compute(self.device)}
        return Record(self.inputs, result, facts)


@cache
def stated(statement: object) -> str:
    """A statement as text. SymPy takes as long to print one as to read ten records."""
    return str(statement)


def control_run(claim: Claim, device: str = "cpu") -> Run:
    """The run that measures a claim's negative control."""
    control = claim.control
    return Run(claim, control.case, control.seed, device, control=control.measured is not None)


@dataclass(frozen=True)
class Failure:
    """A run that raised instead of measuring: a defect of ours, or too little memory; `error` is
    what it raised, where that was in this process."""

    run: Run
    why: str
    error: Exception | None = None
