"""Claims of one's own: a Python file with a function `claims()`, run and judged like the claims that come with depthlaw.

The file stands in for a module of `theory`: it is loaded under a name that holds the hash of its content, and takes the place of
`theory/<topic>` where its claims have a topic of their own. So the code version in a record covers the file's content (and the
modules of depthlaw that it imports), and the same file gives the same records wherever it lies.
"""
from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, wraps
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from depthlaw.advisor.quantities import UsageError, quoted
from depthlaw.theory.claim import SUITES, Claim, Kind, Quantifier, Weight, Wording, measured_symbol, registry

from .engines import LOADER

__all__ = ["all_claims", "loader_of", "only_own", "own_claims", "with_premises"]

_KEY = re.compile(r"([a-z][a-z0-9_]*)/[a-z0-9_]+")
_TRY = "CONTRIBUTING.md has a complete file"
# No file of claims comes near this.
_LARGEST = 2**20
# The words that a field of a claim may hold.
_WORDS = {"kind": get_args(Kind), "holds_for": get_args(Quantifier), "wording": get_args(Wording), "weight": get_args(Weight),
          "known": ("", "HOLDS", "FAILS", "UNDECIDED")}


def all_claims(file: str) -> dict[str, Claim]:
    """The claims that come with depthlaw, then those of a file: what a process of the pool loads."""
    return registry() | own_claims(Path(file))


def loader_of(file: Path | None) -> str:
    """How processes of an engine find the claims, those of a file included."""
    return LOADER if file is None else f"{__name__}:{all_claims.__name__}:{file.absolute()}"


def own_claims(file: Path) -> dict[str, Claim]:
    """The claims of a Python file by key, checked as far as running them needs.

    Raises:
        UsageError: when the file cannot be loaded, or a claim in it cannot be run.
    """
    found: dict[str, Claim] = {}
    known, module = registry(), _loaded(file)
    for claim in _offered(file, module):
        if claim.key in known or claim.key in found:
            where = "depthlaw has a claim of this key" if claim.key in known else "it stands twice in the file"
            raise UsageError(f"{file}: the key {quoted(claim.key)} is taken ({where}); keys are permanent, choose another")
        found[claim.key] = _bound(_checked(file, claim), module)
    for claim in found.values():
        unknown = [key for key in claim.premises if key not in known and key not in found]
        if unknown:
            raise UsageError(f"{file}: {claim.key} rests on the unknown claim {quoted(unknown[0])}; `depthlaw claims` lists the keys")
    return found


def with_premises(chosen: Mapping[str, Claim], everything: Mapping[str, Claim]) -> dict[str, Claim]:
    """The chosen claims and the premises that they rest on, as far as these come from a file too."""
    known, found = registry(), dict(chosen)
    todo = list(chosen.values())
    while todo:
        for key in todo.pop().premises:
            if key not in found and key not in known:
                found[key] = everything[key]
                todo.append(everything[key])
    return found


def _loaded(file: Path) -> ModuleType:
    try:
        if file.exists() and not file.is_file():
            raise UsageError(f"--claims {quoted(str(file))} is no regular file; give a Python file, {_TRY}")
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UsageError(f"--claims {quoted(str(file))} is larger than {_LARGEST} bytes; give a Python file, {_TRY}")
    except OSError as error:
        raise UsageError(f"--claims {quoted(str(file))} cannot be read ({error.strerror}); give a Python file, {_TRY}") from None
    return _module(file.absolute(), hashlib.sha256(content).hexdigest()[:16])


@cache
def _module(file: Path, version: str) -> ModuleType:
    """The file as a module, executed once for each version of its content."""
    name = f"depthlaw.claims_{version}"
    spec = importlib.util.spec_from_loader(name, SourceFileLoader(name, str(file)), origin=str(file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__path__ = []
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        del sys.modules[name]
        raise UsageError(f"{file}, line {error.lineno}: {error.msg}; it must be Python, {_TRY}") from None
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(f"{file} cannot be loaded ({_reason(error)}); {_TRY}") from None
    return module


def _offered(file: Path, module: ModuleType) -> list[Claim]:
    function = getattr(module, "claims", None)
    if not callable(function):
        raise UsageError(f"{file} has no function claims() that yields claims; {_TRY}")
    try:
        found = list(function())
    except (Exception, SystemExit) as error:
        raise UsageError(f"{file}: claims() ends with {_reason(error)}; {_TRY}") from None
    foreign = next((item for item in found if not isinstance(item, Claim)), None)
    if not found or foreign is not None:
        what = "nothing" if not found else f"a {type(foreign).__name__}"
        raise UsageError(f"{file}: claims() yields {what}, accepted is one Claim or more; {_TRY}")
    return found


def _checked(file: Path, claim: Claim) -> Claim:
    """The claim, if it can be run and judged."""
    form = _KEY.fullmatch(claim.key)
    if form is None:
        raise UsageError(f"{file}: the key {quoted(claim.key)} is not of the form topic/name, in small letters, digits and underscores")
    topic = form[1]
    if topic not in STEMS and f"depthlaw.theory.{topic}" not in _STAND_INS and importlib.util.find_spec(f"depthlaw.theory.{topic}"):
        raise UsageError(f"{file}: the topic {quoted(topic)} is the name of a module of depthlaw; choose another word")
    cases = [case for listed in claim.grid.values() for case in listed]
    if claim.measured is None or not cases:
        what = "no case in its grid" if claim.measured else "no function `measured`"
        raise UsageError(f"{file}: {claim.key} has {what}, so there is nothing to run; {_TRY}")
    for field, accepted in _WORDS.items():
        if getattr(claim, field) not in accepted:
            raise UsageError(f"{file}: {claim.key} has {field}={quoted(str(getattr(claim, field)))}; accepted: {', '.join(filter(None, accepted))}")
    if not set(claim.grid) <= set(SUITES):
        raise UsageError(f"{file}: {claim.key} has cases for {quoted(str(min(set(claim.grid) - set(SUITES))))}; suites are {', '.join(SUITES)}")
    if claim.evidence == "certificate":
        raise UsageError(f"{file}: {claim.key} asks for PROVED, which only certificates that come with depthlaw give; leave `evidence` out")
    try:
        measured_symbol(claim.statement, cases[0])
    except Exception as error:
        raise UsageError(f"{file}: the statement of {claim.key} cannot be used ({_reason(error)}); {_TRY}") from None
    return claim


# The topics that files of claims stand in for.
_STAND_INS: set[str] = set()


def _bound(claim: Claim, module: ModuleType) -> Claim:
    """The claim, with the file as the code that its records name, wherever its functions come from."""
    if claim.topic not in STEMS:
        stand_in = f"depthlaw.theory.{claim.topic}"
        _STAND_INS.add(stand_in)
        sys.modules[stand_in] = module
    assert claim.measured is not None
    return replace(claim, measured=_written_in(module.__name__, claim.measured))


def _written_in(module: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, as one of a module: `functools.partial` and functions of depthlaw itself are not of the file that uses them."""
    @wraps(function, assigned=("__doc__",), updated=())
    def measured(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    measured.__module__ = module
    return measured


def _reason(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def only_own(everything: Iterable[str]) -> list[str]:
    """The keys that no claim of depthlaw has."""
    known = registry()
    return [key for key in everything if key not in known]
