"""`depthlaw doctor`: is everything here that the commands need, and is it in order?"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Literal, NamedTuple

from packaging.requirements import Requirement
from platformdirs import user_cache_path, user_data_path

from depthlaw.advisor.base.quantities import UsageError, binary, plural

from ..records.environment import THREAD_VARIABLES, cores, environment, installing
from ..records.store import broken_manifests, open_store
from ..text import clean
from .plain import columns, dump, paragraph

# What each extra is for; those of developers are left out.
_EXTRAS = {
    "empirics": "claims measured on nets",
    "hf": "depthlaw measure, and counts of real models",
    "ray": "verify --engine ray",
    "plot": "--plot of depthlaw sweep, fit, measure and exercise",
    "appendix": "depthlaw appendix",
}
# Less room than this on the disk of the records is worth a word.
_LITTLE = 2**30
# In fewer columns, lines go on below the state, and not beside the name.
_NARROW = 60
# Of the claims that were changed, so many are named.
_NAMED = 5


class Check(NamedTuple):
    """Something that was looked at.

    Attributes:
        name: what it is.
        says: what was found.
        state: "ok"; "note" for what may be as it is; "PROBLEM" for what keeps a command from its
            work, or makes its answer doubtful.
        remedy: what to do about it.
    """

    name: str
    says: str
    state: Literal["ok", "note", "PROBLEM"] = "ok"
    remedy: str = ""


def doctor(folder: Path | None, load: bool, json_output: bool) -> int:
    """Look at installation, devices, folders and records; `load`: import the claims, and PyTorch
    where a driver of a GPU is found. Returns 1 when there is a problem.

    Cost: half as long as it takes to import SymPy, and one read of every record in the folder;
    two seconds more with `load`.
    """
    groups = {
        "depthlaw": _installation(load),
        "packages": _packages(),
        "machine": _machine(load),
        "folders": _folders(),
        "ledger": _ledgers(folder, load),
    }
    checks = [(group, check) for group, found in groups.items() for check in found]
    problems = [check for _, check in checks if check.state == "PROBLEM"]
    if json_output:
        rows = [{"group": group} | check._asdict() for group, check in checks]
        dump({"healthy": not problems, "checks": rows})
    else:
        _print(checks)
        print(f"\n{plural(len(problems), 'problem')} found" if problems else "\nno problem found")
    return 1 if problems else 0


def _print(checks: list[tuple[str, Check]]) -> None:
    """Each check below the heading of its group: as wide as a terminal, piped in one line."""
    before = ""
    for group, check in checks:
        if group != before:
            print(group)
        before, start = group, f"  {check.state:8}{check.name:14}"
        text = "; ".join(filter(None, (check.says, check.remedy)))
        if sys.stdout.isatty():
            paragraph(text, start, " " * (len(start) if columns() >= _NARROW else 4))
        else:
            print(start + clean(text))


_AGAIN = "install depthlaw again"


def _installation(load: bool) -> Iterator[Check]:
    facts = environment()
    where = str(Path(__file__).resolve().parents[2])
    if commit := facts["commit"]:
        changed = " with uncommitted changes" if facts["dirty"] else ""
        where = f"the checkout {where}, commit {commit.rstrip('+')[:12]}{changed}"
    yield Check("version", f"{version('depthlaw')}, from {where}")
    yield Check("python", f"{facts['python']} ({sys.executable})")
    try:
        from ..verdicts.claim_set import claim_set

        newest = claim_set()
    except UsageError as error:
        yield Check("claim set", str(error), "PROBLEM", _AGAIN)
        return
    yield Check(
        "claim set", f"{newest.name}, {plural(len(newest.claims), 'claim')}, SHA-256 {newest.hash}"
    )
    if not load:
        return
    try:
        from depthlaw.theory.claims.definition import registry

        from ..verdicts.claim_set import altered

        claims = registry()
    except UsageError as error:
        yield Check("claims", str(error), "PROBLEM")
        return
    topics = {key.partition("/")[0] for key in claims}
    listed = f"{plural(len(claims), 'claim')} of {plural(len(topics), 'topic')}"
    if since := sorted(altered(newest, claims)):
        more = f" and {len(since) - _NAMED} more" if len(since) > _NAMED else ""
        listed += f"; changed since {newest.name}: {', '.join(since[:_NAMED])}{more}"
    yield Check("claims", listed, "note" if since else "ok")


def _packages() -> Iterator[Check]:
    """What the base installation needs, and each extra."""
    asked = [Requirement(text) for text in metadata("depthlaw").get_all("Requires-Dist") or ()]

    def needed(extra: str) -> list[Requirement]:
        own = [r for r in asked if r.marker is None or r.marker.evaluate({"extra": extra})]
        # An extra may ask for another one.
        more = [m for r in own if r.name == "depthlaw" for other in r.extras for m in needed(other)]
        return [r for r in own if r.name != "depthlaw"] + more

    installed = {name: _version(name) for name in {requirement.name for requirement in asked}}
    base = needed("")
    if wrong := _wrong(base, installed):
        yield Check("base", wrong, "PROBLEM", installing())
    else:
        yield Check("base", _listed(base, installed))
    for extra, use in _EXTRAS.items():
        own = [r for r in needed(extra) if r not in base]
        if wrong := _wrong(own, installed):
            yield Check(extra, f"for {use}: {wrong}", "note", installing(extra))
        else:
            yield Check(extra, _listed(own, installed))


def _version(name: str) -> str:
    """The version of a package; empty where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _listed(requirements: list[Requirement], installed: Mapping[str, str]) -> str:
    return ", ".join(f"{asked.name} {installed[asked.name]}" for asked in requirements)


def _wrong(requirements: list[Requirement], installed: Mapping[str, str]) -> str:
    """What is wrong with installed packages; empty where nothing is."""
    wrong = []
    for asked in requirements:
        if not (there := installed[asked.name]):
            wrong.append(f"{asked.name} is not installed")
        elif not asked.specifier.contains(there, prereleases=True):
            wrong.append(f"{asked.name} is {there}, asked for is {asked.specifier}")
    return "; ".join(wrong)


def _machine(load: bool) -> Iterator[Check]:
    facts = environment()
    yield Check("system", f"{platform.platform()}, {facts['cpu'] or facts['machine']}")
    yield Check("cores", f"{cores()} of {facts['cores']} may be used")
    fixed = [f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if os.environ.get(name)]
    yield Check("threads", ", ".join(fixed) or "left to the libraries")
    yield _devices(load)


# What a driver of a GPU that PyTorch can use leaves behind: NVIDIA's, AMD's, and that of WSL.
_DRIVERS = ("/proc/driver/nvidia/version", "/dev/kfd", "/dev/dxg")


def _devices(load: bool) -> Check:
    if not (shutil.which("nvidia-smi") or any(Path(device).exists() for device in _DRIVERS)):
        return Check("GPU", "none: no driver of NVIDIA's or AMD's was found", "note")
    if not load:
        return Check("GPU", "a driver was found; `depthlaw doctor --load` asks PyTorch", "note")
    try:
        import torch
    except ImportError:
        return Check("GPU", "not looked for: PyTorch is not installed", "note")
    except OSError as error:
        remedy = "pip install --force-reinstall torch"
        return Check("GPU", f"PyTorch cannot be loaded ({error})", "PROBLEM", remedy)
    if not torch.cuda.is_available():
        return Check("GPU", f"none that PyTorch {torch.__version__} can use", "note")
    devices = (
        torch.cuda.get_device_properties(device) for device in range(torch.cuda.device_count())
    )
    named = ", ".join(f"{device.name} ({binary(device.total_memory)})" for device in devices)
    return Check("GPU", f"{named}; CUDA {torch.version.cuda}")


def _folders() -> Iterator[Check]:
    for name, path, remedy in (
        ("data", user_data_path("depthlaw"), "give records another place by --results DIR"),
        (
            "cache",
            user_cache_path("depthlaw"),
            "set XDG_CACHE_HOME; without it every command starts slowly",
        ),
    ):
        held = next(folder for folder in (path, *path.parents) if folder.exists())
        if not os.access(held, os.W_OK):
            yield Check(name, f"{path} cannot be written", "PROBLEM", remedy)
            continue
        free = shutil.disk_usage(held).free
        there = f"{path}{'' if path.exists() else ' (made when it is first used)'}"
        full = ("note", "the disk is almost full") if free < _LITTLE else ()
        yield Check(name, f"{there}, {binary(free)} free", *full)


def _ledgers(folder: Path | None, load: bool) -> Iterator[Check]:
    """The ledger that comes with depthlaw, and the user's records; compared with it, where claims
    may be loaded, which say what of them every machine measures alike."""
    from ..verdicts.reference_ledger import compare, sealed, shipped

    try:
        header = sealed()
    except UsageError as error:
        yield Check("reference", str(error), "PROBLEM", _AGAIN)
    else:
        says = f"{header['records']} records, sealed; manifest {header['manifest']}"
        yield Check("reference", says)
    try:
        store = open_store(folder, read_only=True)
    except UsageError as error:
        yield Check("your records", str(error), "PROBLEM")
        return
    broken = [[item.name, item.why] for item in store.set_aside] + broken_manifests(store)
    if broken:
        (name, why), *others = broken
        more = f", and {len(others)} more" if others else ""
        yield Check(
            "your records",
            f"{plural(len(broken), 'file')} in {store.root} "
            f"cannot be trusted: {name} ({why}){more}",
            "PROBLEM",
            "the next `depthlaw verify` sets records aside and measures them again",
        )
    counted = f"{plural(len(store), 'record')} in {store.root}"
    if not len(store):
        yield Check("your records", f"{counted}; `depthlaw verify quick` makes the first", "note")
        return
    yield Check("your records", f"{counted} verify")
    if not load:
        return
    from depthlaw.theory.claims.definition import registry

    claims = registry()
    try:
        reference = shipped() or ()
    except UsageError as error:
        yield Check("agreement", str(error), "PROBLEM", _AGAIN)
        return
    agreement = compare(store, reference, lambda key: key in claims and claims[key].portable)
    if agreement.compared:
        remedy = "`depthlaw records diff reference DIR` lists what differs"
        wrong = ("PROBLEM", remedy) if agreement.disagreements else ()
        yield Check("agreement", agreement.line, *wrong)
