"""The same answer on every machine: other kernels of OpenBLAS, NumPy, torch, MKL, oneDNN and libm,
and other numbers of threads, imitated by settings of a process.

Everything is compared with the same work on this machine as it is. What a claim measures may differ
in its last digits only where the claim says so (`portable=False`); its verdicts may not. How far
records differ is printed, and bounded where nothing was trained.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# Parts of an answer that are compared as they stand; records have a rule of their own.
TEXTS = ("transcripts", "fit", "advice", "appendix", "verdicts")
# How far records may differ, over the largest number of each: samples of nets, which compute in
# single precision and are recorded to six digits, and all others. Trainings amplify rounding
# without a bound: in the rest of suite quick, where they are, the changes are printed only.
SIX_DIGITS, DOUBLE = 2e-5, 1e-9
Answer = Mapping[str, Any]


V3, V4 = frozenset({"X86_V3"}), frozenset({"X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"})


@dataclass(frozen=True)
class Machine:
    """An imitated machine.

    Attributes:
        needs: a feature of the CPU, as NumPy names it, without which its code would crash.
        threads: of all libraries.
        core: whose kernels OpenBLAS uses. numpy: those that NumPy may use. torch: its capability.
        isa, onednn: the most that oneDNN may use, and what it calls that.
        mkl: what MKL calls its reproducible mode.
        tunables: of the C library, so that it uses no fused multiplication.
    """

    name: str
    needs: str
    threads: int
    core: str
    numpy: frozenset[str]
    torch: str
    isa: str
    onednn: str
    mkl: str = ""
    tunables: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The environment of the process."""
        asked = {
            "OPENBLAS_CORETYPE": self.core,
            "NPY_DISABLE_CPU_FEATURES": " ".join(sorted(V4 - self.numpy)),
            "ATEN_CPU_CAPABILITY": self.torch,
            "MKL_CBWR": self.mkl,
            "ONEDNN_MAX_CPU_ISA": self.isa,
            "GLIBC_TUNABLES": self.tunables,
        }
        return {name: value for name, value in asked.items() if value}

    def wrong(self, observed: Mapping[str, Any], native: Mapping[str, Any]) -> list[str]:
        """The settings that did not take effect."""
        checks = {
            "OpenBLAS of NumPy and SciPy": observed["blas"]
            == dict.fromkeys(("numpy", "scipy"), self.core),
            "threads": observed["threads"] == [self.threads],
            "NumPy's kernels": set(observed["numpy"]) == set(native["numpy"]) & self.numpy,
            "torch's kernels": observed["torch"] == self.torch.upper(),
            "MKL": observed["mkl"] == (self.mkl or "OFF"),
            "oneDNN": self.onednn in observed["onednn"],
            "libm": (observed["libm"] != native["libm"]) is bool(self.tunables),
        }
        return [f"{self.name}: {what}: {observed}" for what, fine in checks.items() if not fine]


def numbers(value: Any) -> Iterator[Fraction | str]:
    """The numbers in a record's result, and what else it holds."""
    if isinstance(value, dict):
        for name, part in sorted(value.items()):
            yield name
            yield from numbers(part)
    elif isinstance(value, list):
        yield f"{len(value)} parts"
        for part in value:
            yield from numbers(part)
    elif isinstance(value, float) and not math.isfinite(value):
        yield str(value)
    else:
        try:
            yield Fraction(value)
        except (TypeError, ValueError):
            yield str(value)


def change(here: str, native: str) -> float:
    """The largest change of a number in a record's result, over the largest number there; infinite
    where more than numbers differ."""
    pairs = list(zip_longest(*(numbers(json.loads(text)) for text in (here, native))))
    values = [(a, b) for a, b in pairs if isinstance(a, Fraction) and isinstance(b, Fraction)]
    same = sum(
        a == b for a, b in pairs if not (isinstance(a, Fraction) and isinstance(b, Fraction))
    )
    if same + len(values) < len(pairs):
        return math.inf
    most = max((abs(number) for pair in values for number in pair), default=Fraction(0))
    return float(max(abs(a - b) for a, b in values) / most) if most else 0.0


def last_digits(native: str) -> float:
    """How far a record may differ where nothing was trained."""
    sample = (json.loads(native) or {}).get("sample", ())
    return SIX_DIGITS if sample and all(v == float(f"{v:.6g}") for v in sample) else DOUBLE


_OLD = ("Nehalem", frozenset[str](), "default", "SSE41", "SSE4.1", "COMPATIBLE")
_MIXED = ("Haswell", frozenset[str](), "default", "AVX", "AVX", "COMPATIBLE")
_NO_FMA = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"
MACHINES = (
    Machine("Nehalem", "X86_V2", 1, *_OLD, _NO_FMA),
    Machine("Haswell", "X86_V3", 1, "Haswell", V3, "avx2", "AVX2", "AVX2"),
    Machine("Haswell, 2 threads", "X86_V3", 2, *_MIXED),
    Machine(
        "Skylake-X, 2 threads", "X86_V4", 2, "SkylakeX", V4, "avx512", "AVX512_CORE", "AVX-512"
    ),
)


def answer(machine: Machine | None, *options: str) -> Answer:
    """What `machine.py` prints with the settings of a machine; None: as this one is."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENBLAS_", "NPY_", "ATEN_", "MKL_", "ONEDNN_"))
    }
    threads = str(machine.threads if machine else 1)
    libraries = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment |= dict.fromkeys(libraries, threads) | {"COLUMNS": "80"}
    environment |= machine.settings if machine else {}
    command = [sys.executable, HERE / "machine.py", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{machine}: {done.stderr[-3000:]}"
    found: Answer = json.loads(done.stdout)
    return found


def features() -> set[str]:
    from numpy._core._multiarray_umath import __cpu_features__

    return {name for name, present in __cpu_features__.items() if present}


@dataclass(frozen=True)
class Comparison:
    """Of all machines with this one."""

    native: Answer
    others: Mapping[str, Answer]
    machines: tuple[Machine, ...]
    impossible: tuple[Machine, ...]

    def table(self) -> str:
        """Of each machine its settings, and how many parts of the answer differ."""
        lines = [f"this one: {_settings(self.native)}"]
        for machine in self.machines:
            found = self.others[machine.name]
            counts = (
                f"{part} {_differing(found[part], self.native[part])} of {len(self.native[part])}"
                for part in (*TEXTS, "records")
                if part in self.native
            )
            lines.append(f"{machine.name}: {', '.join(counts)} differ; {_settings(found)}")
        lines += [
            f"SKIPPED: portable-test: {machine.name}: this CPU has no {machine.needs}"
            for machine in self.impossible
        ]
        return "\n".join(["", *lines, *self._records()])

    def moved(self) -> dict[str, dict[str, list[float]]]:
        """The claims whose records differ from those of this machine; by machine, how far each."""
        found: dict[str, dict[str, list[float]]] = {}
        for machine, there in self.others.items():
            for key, result in there["records"].items():
                if (native := self.native["records"].get(key, "null")) != result:
                    by_machine = found.setdefault(json.loads(key)["claim"], {})
                    by_machine.setdefault(machine, []).append(change(result, native))
        return found

    def _records(self) -> Iterator[str]:
        yield "Claims whose records differ, by how much at most of their largest number:"
        for claim, by_machine in sorted(self.moved().items()):
            far = ", ".join(f"{name} {max(there):.0e}" for name, there in by_machine.items())
            yield f"  {claim}: {far}"

    def differences(self) -> list[str]:
        """All that is not the same and should be, in words."""
        found = []
        for name, there in self.others.items():
            for part in TEXTS:
                for key, text in self.native.get(part, {}).items():
                    if (other := there[part].get(key)) != text:
                        both = text.splitlines(), str(other).splitlines()
                        files = ("this machine", name)
                        lines = difflib.unified_diff(*both, *files, n=0, lineterm="")
                        found.append("\n".join([f"{part}: {key}", *lines]))
            found += [
                f"{name}: {part} has other parts"
                for part in (*TEXTS, "records")
                if self.native.get(part, {}).keys() != there.get(part, {}).keys()
            ]
        return found + [
            f"{claim} is called portable, and its records differ"
            for claim in sorted(self.moved().keys() - set(self.native["not portable"]))
        ]

    def farther(self) -> list[str]:
        """The records that differ by more than their last digits."""
        records = self.native["records"]
        return [
            f"{name}: {key}: differs by {far:.0e}"
            for name, there in self.others.items()
            for key, result in there["records"].items()
            if key in records
            and result != records[key]
            and (far := change(result, records[key])) > last_digits(records[key])
        ]

    def check(self, show: Callable[[str], None], *, trained: bool) -> None:
        show(self.table())
        # What is refused compares nothing.
        advice = self.native.get("advice", {})
        assert [line for line, text in advice.items() if not text.endswith("[0]\n")] == []
        settings = self.native["settings"]
        wrong = [
            text
            for machine in self.machines
            for text in machine.wrong(self.others[machine.name]["settings"], settings)
        ]
        assert not wrong, "settings without effect:\n" + "\n".join(wrong)
        found = self.differences() + ([] if trained else self.farther())
        assert not found, "\n".join(found)


def _differing(here: Mapping[str, str], native: Mapping[str, str]) -> int:
    return sum(here.get(key) != native.get(key) for key in here.keys() | native.keys())


def _settings(found: Answer) -> str:
    its = found["settings"]
    return (
        f"OpenBLAS {'/'.join(sorted(set(its['blas'].values())))}; "
        f"NumPy {' '.join(its['numpy']) or 'X86_V2'}; torch {its['torch']}; MKL CNR "
        f"{its['mkl']}; oneDNN {its['onednn']}; libm {its['libm']}; threads "
        f"{' '.join(map(str, its['threads']))}"
    )


def compared(*options: str) -> Comparison:
    present = features()
    machines = tuple(machine for machine in MACHINES if machine.needs in present)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        native, *others = pool.map(lambda machine: answer(machine, *options), (None, *machines))
    named = {machine.name: other for machine, other in zip(machines, others, strict=True)}
    impossible = tuple(machine for machine in MACHINES if machine not in machines)
    return Comparison(native, named, machines, impossible)


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def shown(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"{text}\n")

    return shown


@pytest.mark.parametrize(
    ("here", "native", "far"),
    [
        ({"sample": [1.0, -2.0]}, {"sample": [1.5, -2.0]}, 0.25),
        ({"exact": "3/2"}, {"exact": "5/4"}, 1 / 6),
        ({"exact": "0"}, {"exact": "0"}, 0.0),
        ({"exact": "1", "misses": 0.5}, {"exact": "1"}, math.inf),
        ({"sample": [1.0]}, {"sample": [1.0, 1.0]}, math.inf),
        ({"proof": [["x", True]]}, {"proof": [["y", True]]}, math.inf),
        ({"proof": [["x", True]]}, {"proof": [["x", False]]}, 1.0),
        ({"outside": "a"}, None, math.inf),
    ],
)
def test_how_far_records_differ(here: object, native: object, far: float) -> None:
    assert change(json.dumps(here), json.dumps(native)) == pytest.approx(far)


def test_more_than_last_digits_is_no_rounding() -> None:
    def off(*samples: list[float]) -> list[str]:
        key = json.dumps({"claim": "topic/name"})
        native, there = ({"records": {key: json.dumps({"sample": each})}} for each in samples)
        return Comparison(native, {"Other": there}, (), ()).farther()

    assert off([1.0, 2.19836], [1.0, 2.19837]) == []
    assert off([1.0, 2.19836], [1.0, 2.19846]) != []
    assert off([1 / 3], [1 / 3 + 1e-15]) == []
    assert off([1 / 3], [1 / 3 + 1e-6]) != []


@pytest.mark.timeout(7200)
def test_the_same_is_printed_and_decided_on_other_machines(show: Callable[[str], None]) -> None:
    """The documented transcripts, the fit, the advisor, the numbers of an appendix, and a part of
    suite quick."""
    if platform.machine() not in ("x86_64", "AMD64"):
        show(f"SKIPPED: portable-test: no machines are known for {platform.machine()}")
        return
    compared().check(show, trained=False)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_rest_of_suite_quick_is_decided_alike_on_other_machines(
    show: Callable[[str], None],
) -> None:
    if platform.machine() in ("x86_64", "AMD64"):
        compared("--rest").check(show, trained=True)
