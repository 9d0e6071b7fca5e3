"""`depthlaw doctor`: is everything here that the commands need, and is it in order?"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Literal, NamedTuple

from packaging.requirements import Requirement
from platformdirs import user_cache_path, user_data_path
from rich.console import Console
from rich.table import Table
from rich.text import Text

from depthlaw.advisor.base.quantities import UsageError, binary, plural

from ..records.environment import THREAD_VARIABLES, cores, environment, installing
from ..records.store import Store, broken_manifests, manifest, open_store
from ..running.claims_index import claims_index
from ..text import clean
from .output import dump, heading, stdout

# What each extra is for; those of developers are left out.
_EXTRAS = {
    "empirics": "claims measured on nets",
    "hf": "depthlaw measure, and counts of real models",
    "ray": "verify --engine ray",
    "appendix": "depthlaw appendix",
}
_STYLES = {"ok": "green", "note": "", "PROBLEM": "bold red"}
# Less room than this on the disk of the records is worth a word.
_LITTLE = 2**30
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


def doctor(folder: Path | None, json_output: bool) -> int:
    """Look at installation, devices, folders and records. Returns 1 when there is a problem.

    Cost: a second or two; imports PyTorch where a driver of a GPU is found, and reads every record.
    """
    groups = {
        "depthlaw": _installation(),
        "packages": _packages(),
        "machine": _machine(),
        "folders": _folders(),
        "ledger": _ledgers(folder),
    }
    checks = [(group, check) for group, found in groups.items() for check in found]
    problems = [check for _, check in checks if check.state == "PROBLEM"]
    if json_output:
        rows = [{"group": group} | check._asdict() for group, check in checks]
        dump({"healthy": not problems, "checks": rows})
    else:
        _print(stdout(), checks)
        print(f"\n{plural(len(problems), 'problem')} found" if problems else "\nno problem found")
    return 1 if problems else 0


def _print(console: Console, checks: list[tuple[str, Check]]) -> None:
    """A line for each check, whole when piped, below the headings of the groups."""
    before = ""
    for group, check in checks:
        if group != before:
            heading(group)
        before = group
        told = clean(check.says + (f"; {check.remedy}" if check.remedy else ""))
        if not console.is_terminal:
            console.file.write(f"  {check.state:8}{check.name:14}{told}\n")
            continue
        row = Table.grid(padding=(0, 1))
        for width in (1, 7, 13):
            row.add_column(width=width)
        row.add_column(overflow="fold")
        state = Text(check.state, style=_STYLES[check.state])
        row.add_row("", state, Text(check.name, overflow="fold"), Text(told))
        console.print(row)


_AGAIN = "install depthlaw again"


def _installation() -> Iterator[Check]:
    facts = environment()
    where = str(Path(__file__).resolve().parents[2])
    if commit := facts["commit"]:
        changed = " with uncommitted changes" if facts["dirty"] else ""
        where = f"the checkout {where}, commit {commit.rstrip('+')[:12]}{changed}"
    yield Check("version", f"{version('depthlaw')}, from {where}")
    yield Check("python", f"{facts['python']} ({sys.executable})")
    try:
        from depthlaw.theory.claims.definition import registry

        from ..verdicts.claim_set import altered, claim_set

        newest = claim_set()
        listed = f"{newest.name}, {plural(len(newest.claims), 'claim')}, SHA-256 {newest.hash}"
        if since := sorted(altered(newest, registry())):
            more = f" and {len(since) - _NAMED} more" if len(since) > _NAMED else ""
            listed += f"; changed here since: {', '.join(since[:_NAMED])}{more}"
        yield Check("claim set", listed, "note" if since else "ok")
    except UsageError as error:
        yield Check("claim set", str(error), "PROBLEM", _AGAIN)
    try:
        topics = {key.partition("/")[0] for key in claims_index()}
        count = plural(len(claims_index()), "claim")
        yield Check("claims", f"{count} of {plural(len(topics), 'topic')}")
    except UsageError as error:
        yield Check("claims", str(error), "PROBLEM")


def _packages() -> Iterator[Check]:
    """What the base installation needs, and each extra."""
    asked = [Requirement(text) for text in metadata("depthlaw").get_all("Requires-Dist") or ()]

    def needed(extra: str) -> list[Requirement]:
        return [r for r in asked if r.marker is None or r.marker.evaluate({"extra": extra})]

    base = needed("")
    if wrong := _wrong(base):
        yield Check("base", wrong, "PROBLEM", installing())
    else:
        yield Check("base", _installed(base))
    for extra, use in _EXTRAS.items():
        own = [r for r in needed(extra) if r not in base and r.name != "depthlaw"]
        if wrong := _wrong(own):
            yield Check(extra, f"for {use}: {wrong}", "note", installing(extra))
        else:
            yield Check(extra, _installed(own))


def _installed(requirements: list[Requirement]) -> str:
    return ", ".join(
        f"{requirement.name} {version(requirement.name)}" for requirement in requirements
    )


def _wrong(requirements: list[Requirement]) -> str:
    """What is wrong with installed packages; empty where nothing is."""
    wrong = []
    for asked in requirements:
        try:
            installed = version(asked.name)
        except PackageNotFoundError:
            wrong.append(f"{asked.name} is not installed")
            continue
        if not asked.specifier.contains(installed, prereleases=True):
            wrong.append(f"{asked.name} is {installed}, asked for is {asked.specifier}")
    return "; ".join(wrong)


def _machine() -> Iterator[Check]:
    facts = environment()
    yield Check("system", f"{platform.platform()}, {facts['cpu'] or facts['machine']}")
    yield Check("cores", f"{cores()} of {facts['cores']} may be used")
    fixed = [f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if os.environ.get(name)]
    yield Check("threads", ", ".join(fixed) or "left to the libraries")
    yield _devices()


# What a driver of a GPU that PyTorch can use leaves behind: NVIDIA's, AMD's, and that of WSL.
_DRIVERS = ("/proc/driver/nvidia/version", "/dev/kfd", "/dev/dxg")


def _devices() -> Check:
    if not (shutil.which("nvidia-smi") or any(Path(device).exists() for device in _DRIVERS)):
        return Check("GPU", "none: no driver of NVIDIA's or AMD's was found", "note")
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


def _ledgers(folder: Path | None) -> Iterator[Check]:
    """The ledger that comes with depthlaw, and the user's records, compared with it."""
    from ..verdicts.reference_ledger import compare, shipped

    reference: Store | None = None
    try:
        reference = shipped()
    except UsageError as error:
        yield Check("reference", str(error), "PROBLEM", _AGAIN)
    else:
        if reference is None:
            yield Check("reference", "this installation holds none", "PROBLEM", _AGAIN)
        else:
            hashed = manifest(reference)["hash"]
            yield Check("reference", f"{len(reference)} records verify; manifest {hashed}")
    try:
        store = open_store(folder, read_only=True)
    except UsageError as error:
        yield Check("your records", str(error), "PROBLEM")
        return
    broken = [[item.name, item.why] for item in store.set_aside] + broken_manifests(store)
    if broken:
        name, why = broken[0]
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
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
    claims = claims_index()
    agreement = compare(
        store, reference or (), lambda key: key in claims and bool(claims[key]["portable"])
    )
    if agreement.compared:
        remedy = "`depthlaw records diff reference DIR` lists what differs"
        wrong = ("PROBLEM", remedy) if agreement.disagreements else ()
        yield Check("agreement", agreement.line, *wrong)
