"""Claims of one's own: a Python file with decorated functions, run and judged like the claims that
come with depthlaw.

The topic of its claims is the name of the file. A record names the version of the code that its
claim reaches, in the file and in depthlaw, so that the same file gives the same records wherever it
lies.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, get_args

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims import definition as kernel
from depthlaw.theory.claims.definition import SUITES, Claim, find, made_in, registry
from depthlaw.theory.claims.readable import readable

from .engines import LOADER, reason

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TRY = "docs/how-to/add-a-theorem.md has a complete file"
_FORMER = {
    "depthlaw.theory.claim": "depthlaw.theory.claims",
    "depthlaw.theory.symbols": "depthlaw.theory.claims.symbols",
}
# No file of claims comes near this.
_LARGEST = 2**20
_ACCEPTED = {
    "kind": get_args(kernel.Kind),
    "holds_for": get_args(kernel.Quantifier),
    "wording": get_args(kernel.Wording),
    "weight": get_args(kernel.ClaimWeight),
    "known": ("", "HOLDS", "FAILS", "UNDECIDED"),
}


@dataclass(frozen=True)
class OwnFile:
    """A user's file of claims, for those who cite it.

    Attributes:
        title: the first line of its docstring, else its name.
        authors: those of its `__author__`, else of its claims (`Source.own`).
        year: the last of its claims; 0 where none says it.
    """

    name: str
    content: bytes
    title: str
    authors: tuple[str, ...]
    year: int

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def by(self) -> str:
        """Its authors in words."""
        return " and ".join(self.authors) or kernel.UNNAMED


def own_file(file: Path) -> OwnFile:
    """A file of claims as a work with authors; raises what `own_claims` does."""
    claims = own_claims(file).values()
    module = sys.modules[kernel.made_by(next(iter(claims)))]
    named = getattr(module, "__author__", "") or " and ".join(
        dict.fromkeys(claim.source.author for claim in claims if claim.source.author)
    )
    first = readable((module.__doc__ or "").strip().partition("\n")[0])
    return OwnFile(
        file.name,
        file.read_bytes(),
        first.removesuffix(".") or file.name,
        tuple(dict.fromkeys(name for name in re.split(r"\s+and\s+", str(named)) if name)),
        max(claim.source.year for claim in claims),
    )


def all_claims(file: Path | None) -> dict[str, Claim]:
    """The claims that come with depthlaw, then those of a file."""
    return registry() | (own_claims(file) if file is not None else {})


def find_with(file: str, key: str) -> Claim:
    """One claim of a file, or one that comes with depthlaw: how a process of the pool finds it."""
    return own_claims(Path(file)).get(key) or find(key)


def loader_of(file: Path | None) -> str:
    """How processes of an engine find the claims, those of a file included."""
    return LOADER if file is None else f"{__name__}:{find_with.__name__}:{file.absolute()}"


def own_claims(file: Path) -> dict[str, Claim]:
    """The claims of a Python file by key; a UsageError where it cannot be loaded, or a claim in it
    cannot be run."""
    # First, so that a key that depthlaw uses is refused in the file.
    known = registry()
    claims = {claim.key: claim for claim in _loaded(file.absolute(), _content(file))}
    if not claims:
        raise UsageError(f"{file} has no function with the decorator @claim(...); {_TRY}")
    for claim in claims.values():
        for what in _wrong(claim, known | claims):
            raise UsageError(f"{file}: {claim.key} {what}")
    return claims


def _wrong(claim: Claim, everything: Mapping[str, Claim]) -> Iterator[str]:
    """What keeps a claim from being run and judged."""
    cases = [case for listed in claim.grid.values() for case in listed]
    if not cases:
        yield f"has no cases, so there is nothing to run; {_TRY}"
    for field, accepted in _ACCEPTED.items():
        if (value := getattr(claim, field)) not in accepted:
            yield f"has {field}={quoted(str(value))}; accepted: {', '.join(filter(None, accepted))}"
    if other := set(claim.grid) - set(SUITES):
        yield f"has cases for {quoted(str(min(other)))}; suites are {', '.join(SUITES)}"
    given = [name for name in ("cited", "supports") if getattr(claim, name)]
    lines = [getattr(claim, name) for name in given]
    if len(given) > 1 or not all(isinstance(line, str) and line.isprintable() for line in lines):
        advice = "accepted is one of cited and supports, a text of one line"
        yield f"gives {' and '.join(given)}; {advice}"
    if claim.evidence == "certificate":
        which = "which only certificates that come with depthlaw give"
        yield f"asks for PROVED, {which}; leave `evidence` out"
    names = Counter(symbol.name for symbol in claim.statement.free_symbols)
    for name in sorted(name for name, times in names.items() if times > 1):
        yield (
            f"has two quantities of the name {quoted(name)}, one declared in the file and one that "
            "it imports; give yours another name"
        )
    try:
        kernel.measured_symbol(claim.statement, cases[0])
        known = {name for case in cases for name in case.fields()}
    except Exception as error:
        yield f"has a statement that cannot be used ({_reason(error)}); {_TRY}"
    else:
        right = set() if claim.predicted else claim.statement.rhs.free_symbols
        for name in sorted({symbol.name for symbol in right} - known):
            yield f"has the symbol {quoted(name)}, which is no field of its cases"
    for key in (key for key in claim.premises if key not in everything):
        advice = "`depthlaw claims --all` lists the keys"
        yield f"rests on the unknown claim {quoted(key)}; {advice}"
    above = everything.get(claim.supports)
    if claim.supports and (above is None or above.tier != "cited"):
        advice = "`depthlaw claims` lists those"
        yield f"supports {quoted(claim.supports)}, which is no cited claim; {advice}"


def with_premises(chosen: Mapping[str, Claim], everything: Mapping[str, Claim]) -> dict[str, Claim]:
    """The chosen claims, and those of the file that they rest on."""
    needed, todo = dict(chosen), list(chosen.values())
    while todo:
        for key in todo.pop().premises:
            if key not in needed and everything[key].own:
                needed[key] = everything[key]
                todo.append(everything[key])
    return needed


def placed(claim: Claim) -> Claim:
    """The claim, whose function complains of what it raises with the line of its file."""
    measured = claim.measured
    assert measured is not None

    @wraps(measured)
    def measuring(*given: Any, **more: Any) -> kernel.Measured:
        try:
            return measured(*given, **more)
        except Exception as error:
            raise UsageError(f"{claim.key} at [{given[0]}] raised {reason(error)}") from error

    return replace(claim, measured=measuring)


def _content(file: Path) -> str:
    """A hash of what stands in the file."""
    name = quoted(str(file))
    try:
        if file.exists() and not file.is_file():
            raise UsageError(f"--claims {name} is not a regular file; give a Python file, {_TRY}")
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        why = f"cannot be read ({error.strerror})"
        raise UsageError(f"--claims {name} {why}; give a Python file, {_TRY}") from None
    if len(content) > _LARGEST:
        why = f"is larger than {_LARGEST} bytes"
        raise UsageError(f"--claims {name} {why}; give a Python file, {_TRY}")
    if not _NAME.fullmatch(file.stem):
        raise UsageError(
            f"--claims {name}: the name of the file is the topic of its claims; "
            "accepted are small letters, digits and underscores, such as my_claims.py"
        )
    if file.stem in kernel.topics():
        raise UsageError(f"--claims {name}: depthlaw has a topic of that name; rename the file")
    return hashlib.sha256(content).hexdigest()[:16]


@cache
def _loaded(file: Path, content: str) -> list[Claim]:
    """The claims of the file, as a module below `depthlaw` whose code version can be followed."""
    name = f"depthlaw.own.{file.stem}__{content}"
    loader = SourceFileLoader(name, str(file))
    spec = importlib.util.spec_from_loader(name, loader, origin=str(file))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(file)
    sys.modules[name] = module
    # The same content may have been loaded from another path before.
    for claim in made_in(name):
        del kernel._registered[claim.key], kernel._homes[claim.key]
    try:
        loader.exec_module(module)
    except SyntaxError as error:
        where = f"{file}, line {error.lineno}"
        raise UsageError(f"{where}: {error.msg}; it must be Python, {_TRY}") from None
    except KeyboardInterrupt:
        raise
    # A file may raise what is no Exception, such as SystemExit.
    except BaseException as error:
        raise UsageError(f"{file} cannot be loaded ({_reason(error)}); {_TRY}") from None
    return made_in(name)


def _reason(error: BaseException) -> str:
    reason = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    # `from depthlaw.theory import claim` names the package, and quotes the module.
    within = re.search("cannot import name '(\\w+)'", reason)
    name = f"{getattr(error, 'name', '')}{f'.{within[1]}' if within else ''}"
    known = isinstance(error, ImportError) and name in _FORMER
    return reason + (f"; since 0.3 it is {_FORMER[name]}" if known else "")
