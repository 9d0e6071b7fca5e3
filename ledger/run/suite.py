"""Suites: which runs a suite needs, running the ones that have no record yet, and reading the records back."""
from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from depthlaw.theory.claim import ALONE, Case, Claim
from depthlaw.theory.code_version import code_version

from .records import Record, digest, encode


@dataclass(frozen=True)
class Run:
    """One piece of work: measure a claim on one case with one seed, or (case None) check its proof.

    `control`: measure the case of the negative control as the control says, which may be another way than the claim's.
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
        return {"claim": self.claim.key, "case": self.case.fields() if self.case else None, "seed": self.seed,
                "code": self.code, "device": self.device} | ({"control": True} if self.control else {})

    @property
    def code(self) -> str:
        """The version of the code that the result depends on; a proof also depends on what is stated."""
        if self.case is None:
            assert self.claim.proof is not None
            return digest([code_version(self.claim.proof), str(self.claim.statement)])[:16]
        measured = self.claim.control.measured if self.control else self.claim.measured
        assert measured is not None
        return code_version(measured)

    @property
    def id(self) -> str:
        """SHA-256 of the inputs."""
        return digest(self.inputs)

    @property
    def measurement(self) -> Case:
        """The case without the fields that the claim only reads."""
        fields = self.case.fields() if self.case else {}
        return Case(**{name: value for name, value in fields.items() if name not in self.claim.reads})

    def __str__(self) -> str:
        return f"{self.claim.key} [{self.case if self.case else 'proof'}]" + (f" seed {self.seed}" if self.seed else "") \
            + (" (negative control)" if self.control else "")

    def execute(self) -> Record:
        """Do the work, in this process."""
        # What is expected of a training is written down before it starts.
        expected = {"expected": {"statement": str(self.claim.statement), "right_side": str(self.claim.predict(self.case))}} \
            if self.claim.needs and self.case is not None else {}
        started, cpu = time.perf_counter(), time.process_time()
        if self.case is None:
            assert self.claim.proof is not None
            result = encode(tuple(self.claim.proof(self.claim.statement)))
        else:
            result = encode(self.claim.measure(self.case, self.seed, control=self.control, **self.options))
        timing = {"wall_s": round(time.perf_counter() - started, 6), "cpu_s": round(time.process_time() - cpu, 6)}
        return Record(self.inputs, result, {"environment": environment(), "timing": timing, "compute": compute(self.inputs["device"])} | expected)


def control_run(claim: Claim) -> Run:
    """The run that measures a claim's negative control: a run like any other, but where the control sabotages the measurement."""
    twin = claim.control
    return Run(claim, twin.case, twin.seed, control=twin.measured is not None)


def plan(claims: Mapping[str, Claim], suite: str) -> list[Run]:
    """The runs of a suite, in reading order: cases, proofs, and the negative control of every claim that has cases there. Cases that break
    an assumption, and claims that cannot be measured here, need none."""
    return list(_plan(claims, suite))


def _plan(claims: Mapping[str, Claim], suite: str) -> Iterator[Run]:
    for claim in claims.values():
        cases = [c for c in claim.cases(suite) if all(holds(c) for holds in claim.assumes.values())]
        if claim.proof is not None and suite not in ALONE:
            yield Run(claim, None)
        if claim.measurable:
            runs = [Run(claim, case, seed) for case in cases for seed in range(claim.seeds)]
            yield from runs
            control = control_run(claim)
            if cases and (control.control or control.case not in cases or control.seed >= claim.seeds):
                yield control


@dataclass(frozen=True)
class Failure:
    """A run that raised instead of measuring: a defect of ours, or too little memory."""

    run: Run
    why: str


@cache
def environment() -> dict[str, Any]:
    """Facts about the machine and the installation, for the record; never part of a hash that is cited."""
    packages = {}
    for name in ("depthlaw", "numpy", "scipy", "sympy", "networkx", "python-flint", "torch"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"python": platform.python_version(), "platform": platform.platform(), "machine": platform.machine(),
            "cpu": _cpu_model(), "cores": os.cpu_count(), "packages": packages, "commit": _commit(), "dirty": _commit().endswith("+")}


# What the linear algebra libraries are told; 0: their own choice.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def compute(device: str) -> dict[str, Any]:
    """Facts about the process that has just done a run: threads, float type, peak memory so far, and PyTorch's flags if it is loaded."""
    told = [int(value) for name in _THREADS if (value := os.environ.get(name, "")).isdecimal()]
    facts: dict[str, Any] = {"device": device, "dtype": "float64", "threads": max(told, default=0), "peak_bytes_of_process": _peak_memory()}
    torch = sys.modules.get("torch")
    if torch is None:
        return facts
    facts |= {"dtype": str(torch.get_default_dtype()).removeprefix("torch."), "threads": torch.get_num_threads(),
              "deterministic": torch.are_deterministic_algorithms_enabled(), "cudnn_benchmark": torch.backends.cudnn.benchmark,
              "tf32": torch.backends.cuda.matmul.allow_tf32, "cublas_workspace": os.environ.get("CUBLAS_WORKSPACE_CONFIG", "")}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        facts |= {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda, "gpu_peak_bytes": torch.cuda.max_memory_allocated()}
    return facts


def _peak_memory() -> int:
    """The largest resident size of this process so far, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _cpu_model() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.processor()


@cache
def _commit() -> str:
    """The git commit of a source checkout, with + for uncommitted changes; empty for an installed wheel."""
    folder = Path(sys.modules[__name__].__file__ or ".").parent
    if not (folder.parent / ".git").exists():
        return ""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""
