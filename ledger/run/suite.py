"""Suites: which runs a suite needs, running the ones that have no record yet, and reading the records back."""
from __future__ import annotations

import hashlib
import importlib.util
import os
import pkgutil
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from depthlaw.theory.claim import ALONE, Case, Claim, registry
from depthlaw.theory.values import Measured

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

    @property
    def inputs(self) -> dict[str, Any]:
        """Everything that determines the result, as it goes into the record."""
        return {"claim": self.claim.key, "case": self.case.fields() if self.case else None, "seed": self.seed,
                "code": code_digest(self.claim), "device": self.device} | ({"control": True} if self.control else {})

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
            measure = self.claim.control.measured if self.control else self.claim.measured
            assert measure is not None
            result = encode(measure(self.case, self.seed))
        timing = {"wall_s": round(time.perf_counter() - started, 6), "cpu_s": round(time.process_time() - cpu, 6)}
        return Record(self.inputs, result, {"environment": environment(), "timing": timing, "compute": compute(self.inputs["device"])} | expected)


def load_claims() -> dict[str, Claim]:
    """Every claim by key. Where PyTorch is installed, claims that need `empirics` get their measurement from the module there that
    bears their stem; PyTorch itself is imported only when one of them is measured."""
    claims = registry()
    if importlib.util.find_spec("torch") is None:
        return claims
    return {key: replace(c, measured=partial(_measure_in_empirics, key)) if c.needs == "empirics" else c for key, c in claims.items()}


def on_gpu(claims: Mapping[str, Claim], suite: str) -> dict[str, Claim]:
    """The claims that a suite measures by training, with the training on the first GPU."""
    return {key: replace(c, measured=partial(_measure_in_empirics, key, device="cuda")) for key, c in claims.items() if c.reads and c.cases(suite)}


def _measure_in_empirics(key: str, case: Case, seed: int, **where: str) -> Measured:
    module = import_module(f"depthlaw.empirics.{key.partition('/')[0]}")
    return module.MEASURED[key](case, seed, **where)


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
        if claim.measured is not None:
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
def code_digest(claim: Claim) -> str:
    """A hash of the sources and data that a claim's measurement can depend on: every module of its stem's package, the module of
    `empirics` that measures it, and what they import from this project. The glossary holds names only and is left out, so that a new
    symbol does not invalidate every record; library versions are recorded, not hashed, so that machines can be compared."""
    stem = f"depthlaw.theory.{claim.topic}"
    modules = {stem, *(f"{stem}.{m.name}" for m in pkgutil.iter_modules(import_module(stem).__path__))}
    if claim.needs:
        modules.add(f"depthlaw.empirics.{claim.topic}")
    for function in (claim.measured, claim.predicted, claim.proof):
        name = getattr(function, "__module__", "") or ""
        if name.startswith("depthlaw."):
            modules.add(name)
    sources = _closure(frozenset(modules))
    return digest([[name, hashlib.sha256(source).hexdigest()] for name, source in sources])[:16]


@cache
def _closure(modules: frozenset[str]) -> tuple[tuple[str, bytes], ...]:
    """The sources of modules and of everything of this project that they import or name as a data file, by name."""
    found: dict[str, bytes] = {}
    todo = sorted(modules)
    while todo:
        name = todo.pop()
        spec = _spec(name)
        if name in found or spec is None or not spec.origin or name.endswith(".glossary"):
            continue
        path = Path(spec.origin)
        found[name] = path.read_bytes()
        text = found[name].decode()
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        todo += _imported(text, package)
        for data in re.findall(r'"([\w./-]+\.(?:csv|json))"', text):
            if (path.parent / data).is_file():
                found[f"{package}/{data}"] = (path.parent / data).read_bytes()
    return tuple(sorted(found.items()))


def _spec(name: str) -> ModuleSpec | None:
    """Where a module of this project stands, without executing the packages around it, some of which import PyTorch."""
    if name in sys.modules:
        return sys.modules[name].__spec__
    project, folder, *rest = name.split(".")
    spec = importlib.util.find_spec(f"{project}.{folder}")
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = PathFinder.find_spec(f"{spec.name}.{part}", spec.submodule_search_locations)
    return spec


def _imported(text: str, package: str) -> list[str]:
    """The project's modules that a source text imports, wherever in it the import stands."""
    names = []
    for dots, module, what in re.findall(r"^\s*from (\.+)([\w.]*) import \(?([\w ,]*)", text, re.M):
        base = package if len(dots) == 1 else package.rsplit(".", len(dots) - 1)[0]
        names += [f"{base}.{module}"] if module else [f"{base}.{name.split()[0]}" for name in what.split(",") if name.strip()]
    return names + re.findall(r"from (depthlaw\.\w+\.[\w.]+) import", text)


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
