"""Facts about machine, installation and process that go into a record; never part of a hash that is
cited."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = "depthlaw numpy scipy sympy networkx python-flint tokenizers torch transformers"
_ROOT = Path(__file__).resolve().parents[2]
# The variables that fix the threads of linear algebra; none: the library's own choice.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@cache
def environment() -> dict[str, Any]:
    """Machine, Python, versions of the packages that compute, and the commit of a source
    checkout."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "packages": packages(),
        "commit": (commit := _commit()),
        "dirty": commit.endswith("+"),
    }


@cache
def packages() -> dict[str, str]:
    """The versions of the packages that compute, of those that are installed."""
    versions = {}
    for name in _PACKAGES.split():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def compute(device: str) -> dict[str, Any]:
    """What the process that has just done a run used: threads, float type, peak memory, and
    PyTorch's flags if it is loaded."""
    fixed = [
        int(value) for name in THREAD_VARIABLES if (value := os.environ.get(name, "")).isdecimal()
    ]
    unit = 1 if sys.platform == "darwin" else 1024
    facts: dict[str, Any] = {
        "device": device,
        "dtype": "float64",
        "threads": max(fixed, default=0),
        # The largest resident size so far.
        "peak_bytes_of_process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
    }
    torch = sys.modules.get("torch")
    if torch is None:
        return facts
    facts |= {
        "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "cublas_workspace": os.environ.get("CUBLAS_WORKSPACE_CONFIG", ""),
    }
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        facts |= {
            "gpu": torch.cuda.get_device_name(),
            "cuda": torch.version.cuda,
            "gpu_peak_bytes": torch.cuda.max_memory_allocated(),
        }
    return facts


def installing(extra: str = "") -> str:
    """The command that installs depthlaw with an extra: from the checkout that this is, so that pip
    asks no index for the name; else by name.

    >>> installing("hf").startswith("pip install '")
    True
    """
    here = "." if Path.cwd() == _ROOT else str(_ROOT)
    of = here if (_ROOT / "pyproject.toml").is_file() else "depthlaw"
    return f"pip install '{of}[{extra}]'" if extra else f"pip install --upgrade '{of}'"


def cores() -> int:
    """The cores that this process may use, which on a shared machine are fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_model() -> str:
    with suppress(OSError):
        known = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if match := re.search(r"model name\s*:\s*(.+)", known):
            return match[1]
    return platform.processor()


def _commit() -> str:
    """The commit of a source checkout, with + for uncommitted changes; empty for a wheel."""
    if not (_ROOT / ".git").exists():
        return ""
    # Without a lock, which would be in the way of the user's own git.
    asked = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    command = ["git", "--no-optional-locks", "-C", str(_ROOT), *asked]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.splitlines()
    head = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "")
    return head + ("+" if any(line[0] != "#" for line in lines) else "")
