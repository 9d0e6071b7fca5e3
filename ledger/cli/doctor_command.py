"""`depthlaw doctor`: is everything here that the commands need, and is it in order?"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from platformdirs import user_cache_path, user_data_path
from rich.console import Console
from rich.table import Table
from rich.text import Text

from depthlaw.advisor.base.quantities import UsageError, binary, plural

from ..records.environment import THREAD_VARIABLES, cores, environment
from ..records.store import Store, broken_manifests, manifest, open_store
from ..running.claims_index import claims_index
from ..text import clean
from .output import dump, stdout

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


@dataclass(frozen=True)
class Check:
    """Something that was looked at.

    Attributes:
        group, name: what it is.
        says: what was found.
        state: "ok"; "note" for what may be as it is; "PROBLEM" for what keeps a command from its
            work, or makes its answer doubtful.
        remedy: what to do about it.
    """

    group: str
    name: str
    says: str
    state: Literal["ok", "note", "PROBLEM"] = "ok"
    remedy: str = ""


def doctor(folder: Path | None, json_output: bool) -> int:
    """Look at installation, devices, folders and records. Returns 1 when there is a problem.

    Cost: a second or two; imports PyTorch where a driver of a GPU is found, and reads every record.
    """
    checks = [*_installation(), *_packages(), *_machine(), *_folders(), *_ledgers(folder)]
    problems = [check for check in checks if check.state == "PROBLEM"]
    if json_output:
        dump({"healthy": not problems, "checks": [asdict(check) for check in checks]})
    else:
        _print(stdout(), checks)
        print(f"\n{plural(len(problems), 'problem')} found" if problems else "\nno problem found")
    return 1 if problems else 0


def _print(console: Console, checks: list[Check]) -> None:
    """A line for each check, whole when piped, below the headings of the groups."""
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            console.print(Text(group, style="bold"))
        told = clean(check.says + (f"; {check.remedy}" if check.remedy else ""))
        if not console.is_terminal:
            console.file.write(f"  {check.state:8}{check.name:14}{told}\n")
            continue
        row = Table.grid(padding=(0, 1))
        for width in (1, 7, 13):
            row.add_column(width=width)
        row.add_column(overflow="fold")
        row.add_row(
            "",
            Text(check.state, style=_STYLES[check.state]),
            Text(check.name, overflow="fold"),
            Text(told),
        )
        console.print(row)


def _installation() -> Iterator[Check]:
    facts, group = environment(), "depthlaw"
    home = Path(__file__).resolve().parents[2]
    commit = facts["commit"]
    where = (
        f"the checkout {home}, commit {commit.rstrip('+')[:12]}"
        + (" with uncommitted changes" if facts["dirty"] else "")
        if commit
        else f"{home}"
    )
    yield Check(group, "version", f"{version('depthlaw')}, from {where}")
    yield Check(group, "python", f"{facts['python']} ({sys.executable})")
    try:
        from ..verdicts.claim_set import claim_set

        newest = claim_set()
        yield Check(
            group,
            "claim set",
            f"{newest.name}, {plural(len(newest.claims), 'claim')}, SHA-256 {newest.hash}",
        )
    except UsageError as error:
        yield Check(group, "claim set", str(error), "PROBLEM", _AGAIN)
    try:
        claims = claims_index()
        yield Check(
            group,
            "claims",
            f"{plural(len(claims), 'claim')} of "
            f"{plural(len({key.partition('/')[0] for key in claims}), 'topic')}",
        )
    except UsageError as error:
        yield Check(group, "claims", str(error), "PROBLEM")


_AGAIN = "install depthlaw again"


def _packages() -> Iterator[Check]:
    """What the base installation needs, and each extra."""
    asked = [Requirement(text) for text in metadata("depthlaw").get_all("Requires-Dist") or ()]
    base = [
        requirement
        for requirement in asked
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]
    wrong = [text for requirement in base if (text := _wrong(requirement))]
    yield (
        Check("packages", "base", "; ".join(wrong), "PROBLEM", "pip install --upgrade depthlaw")
        if wrong
        else Check(
            "packages",
            "base",
            ", ".join(f"{requirement.name} {version(requirement.name)}" for requirement in base),
        )
    )
    for extra, use in _EXTRAS.items():
        own = [
            requirement
            for requirement in asked
            if requirement.marker is not None
            and requirement not in base
            and requirement.marker.evaluate({"extra": extra})
            and requirement.name != "depthlaw"
        ]
        wrong = [text for requirement in own if (text := _wrong(requirement))]
        if wrong:
            yield Check(
                "packages",
                extra,
                f"for {use}: {'; '.join(wrong)}",
                "note",
                f"pip install 'depthlaw[{extra}]'",
            )
        else:
            yield Check(
                "packages",
                extra,
                ", ".join(f"{requirement.name} {version(requirement.name)}" for requirement in own),
            )


def _wrong(requirement: Requirement) -> str:
    """What is wrong with an installed package; empty where nothing is."""
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed"
    if requirement.specifier.contains(installed, prereleases=True):
        return ""
    return f"{requirement.name} is {installed}, asked for is {requirement.specifier}"


def _machine() -> Iterator[Check]:
    facts, group = environment(), "machine"
    yield Check(group, "system", f"{platform.platform()}, {facts['cpu'] or facts['machine']}")
    yield Check(group, "cores", f"{cores()} of {facts['cores']} may be used")
    fixed = [f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if os.environ.get(name)]
    yield Check(group, "threads", ", ".join(fixed) or "left to the libraries")
    yield _devices()
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower()
    if not encoding.startswith("utf"):
        yield Check(
            group,
            "output",
            f"encoded as {encoding or 'unknown'}",
            "note",
            "PYTHONUTF8=1 prints every character",
        )


# What a driver of a GPU that PyTorch can use leaves behind: NVIDIA's, AMD's, and that of WSL.
_DRIVERS = ("/proc/driver/nvidia/version", "/dev/kfd", "/dev/dxg")


def _devices() -> Check:
    if not (shutil.which("nvidia-smi") or any(Path(device).exists() for device in _DRIVERS)):
        return Check("machine", "GPU", "none: no driver of NVIDIA's or AMD's was found", "note")
    try:
        import torch
    except ImportError:
        return Check("machine", "GPU", "not looked for: PyTorch is not installed", "note")
    except OSError as error:
        return Check(
            "machine",
            "GPU",
            f"PyTorch cannot be loaded ({error})",
            "PROBLEM",
            "pip install --force-reinstall torch",
        )
    if not torch.cuda.is_available():
        return Check("machine", "GPU", f"none that PyTorch {torch.__version__} can use", "note")
    devices = (
        torch.cuda.get_device_properties(device) for device in range(torch.cuda.device_count())
    )
    return Check(
        "machine",
        "GPU",
        ", ".join(f"{device.name} ({binary(device.total_memory)})" for device in devices)
        + f"; CUDA {torch.version.cuda}",
    )


def _folders() -> Iterator[Check]:
    of_user = {"data": user_data_path("depthlaw"), "cache": user_cache_path("depthlaw")}
    for name, path in of_user.items():
        held = path
        while not held.exists():
            held = held.parent
        if not os.access(held, os.W_OK):
            yield Check(
                "folders",
                name,
                f"{path} cannot be written",
                "PROBLEM",
                "give records another place by --results DIR"
                if name == "data"
                else "set XDG_CACHE_HOME; without it every command starts slowly",
            )
            continue
        free = shutil.disk_usage(held).free
        there = f"{path}{'' if path.exists() else ' (made when it is first used)'}"
        yield Check(
            "folders",
            name,
            f"{there}, {binary(free)} free",
            *(("note", "the disk is almost full") if free < _LITTLE else ()),
        )


def _ledgers(folder: Path | None) -> Iterator[Check]:
    """The ledger that comes with depthlaw, and the user's records, compared with it."""
    from ..verdicts.reference_ledger import compare, shipped

    reference: Store | None = None
    try:
        reference = shipped()
    except UsageError as error:
        yield Check("ledger", "reference", str(error), "PROBLEM", _AGAIN)
    else:
        yield (
            Check("ledger", "reference", "this installation holds none", "PROBLEM", _AGAIN)
            if reference is None
            else Check(
                "ledger",
                "reference",
                f"{len(reference)} records verify; manifest {manifest(reference)['hash']}",
            )
        )
    try:
        store = open_store(folder, read_only=True)
    except UsageError as error:
        yield Check("ledger", "your records", str(error), "PROBLEM")
        return
    broken = [(item.name, item.why) for item in store.set_aside] + [
        (name, why) for name, why in broken_manifests(store)
    ]
    if broken:
        name, why = broken[0]
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        yield Check(
            "ledger",
            "your records",
            f"{plural(len(broken), 'file')} in {store.root} "
            f"cannot be trusted: {name} ({why}){more}",
            "PROBLEM",
            "the next `depthlaw verify` sets records aside and measures them again",
        )
    yield Check(
        "ledger",
        "your records",
        f"{plural(len(store), 'record')} in {store.root}"
        + (" verify" if len(store) else "; `depthlaw verify quick` makes the first"),
        "ok" if len(store) else "note",
    )
    if reference is None or not len(store):
        return
    claims = claims_index()
    agreement = compare(
        store, reference, lambda key: key in claims and bool(claims[key]["portable"])
    )
    if agreement.compared:
        yield Check(
            "ledger",
            "agreement",
            agreement.line,
            *(
                ("PROBLEM", "`depthlaw records diff reference DIR` lists what differs")
                if agreement.disagreements
                else ()
            ),
        )
