"""Which code a measured value depends on: a hash over the syntax of every definition that a
function can reach.

Reached are the definitions of this project that a function names, those that they name, and so on,
through imports wherever they stand, and the data files whose names stand in them. Comments,
docstrings and layout are no part of the syntax, and neither is what no reached definition names: a
new theorem, even in the same module, changes the code version of no other claim. Libraries are not
followed; their versions stand in the record.
"""
from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import re
import symtable
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

__all__ = ["code_version", "read_cache", "remember", "source_files", "write_cache"]

_PROJECT = "depthlaw"
_ROOTS = ("depthlaw.theory", "depthlaw.empirics", "depthlaw.advisor")
# Values that say by their text what they are.
_PLAIN = (type(None), bool, int, float, str, Fraction)
_DATA = re.compile(r"[\w./-]+\.(csv|json)")
# What a definition may be named by in `_Definition.names`: itself, or an attribute of a module.
_Name = tuple[str, str]


@dataclass(frozen=True)
class _Definition:
    """A top-level statement: the hash of its syntax, what it names, its own imports, and the data
    files it may read."""

    syntax: str
    names: frozenset[_Name]
    imports: dict[str, _Name]
    strings: frozenset[str]


@dataclass(frozen=True)
class _Module:
    """A module: its definitions by name, what it imports, and the statements that are executed
    whenever it is imported."""

    path: Path
    definitions: dict[str, list[_Definition]] = field(default_factory=dict)
    imports: dict[str, _Name] = field(default_factory=dict)
    executed: list[_Definition] = field(default_factory=list)


def code_version(function: Callable[..., Any]) -> str:
    """The code version of a function of this project, 16 hexadecimal digits.

    The decorators of the function itself are left out: what a claim states is no part of how it is
    measured. Versions are remembered from one process to the next, in the user's cache folder, for
    exactly these files.
    """
    known, name = _remembered(), _plain_name(function)
    if name not in known:
        known[name] = _version(function)
    return known[name]


def remember() -> None:
    """Keep what `code_version` found for the next process."""
    plain = {name: version for name, version in _remembered().items() if isinstance(name, str)}
    if plain != read_cache("code"):
        write_cache("code", plain)


@cache
def _remembered() -> dict[Any, str]:
    return read_cache("code") or {}


def read_cache(name: str) -> Any:
    """What was kept under a name for exactly this version of the project's files; None where
    nothing was."""
    try:
        return json.loads(_cache_file(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_cache(name: str, data: Any) -> None:
    """Keep what derives from the project's files, in the user's cache folder. One that cannot be
    written costs only time."""
    path = _cache_file(name)
    unfinished = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{name}-*.json"):
            old.unlink(missing_ok=True)
        unfinished.write_text(json.dumps(data), encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        return


def _cache_file(name: str) -> Path:
    return user_cache_path("depthlaw") / f"{name}-{tree_version()}.json"


def _plain_name(function: Callable[..., Any]) -> object:
    """A text that tells a function apart in this version of the project; the function itself where
    none does."""
    said = _said(function)
    return function if said is None else said


def _said(value: Any) -> str | None:
    """A text that tells a value apart: a plain one, or a function of the project with plain values
    bound to it; None for anything else."""
    if isinstance(value, tuple | list | dict):
        parts = [_said(each) for each in (value.items() if isinstance(value, dict) else value)]
        return None if None in parts else f"({' '.join(map(str, parts))})"
    if isinstance(value, partial):
        return _said((value.func, value.args, value.keywords))
    code = getattr(value, "__code__", None)
    if code is not None:
        if hasattr(value, "__wrapped__") or not value.__module__.startswith(_ROOTS):
            return None
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        bound = _said((value.__defaults__, value.__kwdefaults__, cells))
        place = f"{value.__module__} {value.__qualname__} {code.co_firstlineno}"
        return None if bound is None else f"{place} {bound}"
    plain = isinstance(value, _PLAIN) or type(value).__module__.startswith("sympy")
    return f"{type(value).__name__} {value}" if plain else None


def _version(function: Callable[..., Any]) -> str:
    found: dict[str, str] = {}
    _reach_function(function, found)
    # What a case does for a function, such as drawing random numbers, is reached by no name.
    _reach("depthlaw.theory.values", "Case", found)
    whole = json.dumps(sorted({value for value in found.values() if value}))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def source_files() -> list[Path]:
    """The Python files of the folders that a measurement can depend on."""
    roots = [Path(root) for name in _ROOTS if (spec := importlib.util.find_spec(name))
             for root in spec.submodule_search_locations or ()]
    return sorted(path for root in roots for path in root.rglob("*.py"))


@cache
def tree_version() -> str:
    """A hash over all files of `source_files`, data files beside them, and the version of
    Python."""
    whole = hashlib.sha256(sys.version.encode())
    for path in source_files():
        whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    data = sorted({each for folder in {path.parent for path in source_files()}
                   for each in (*folder.glob("*.csv"), *folder.glob("*/*.json"))})
    for path in data:
        whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:32]


def _reach_function(function: Callable[..., Any], found: dict[str, str]) -> None:
    if isinstance(function, partial):
        _reach_function(function.func, found)
        held: Any = (function.args, function.keywords)
        found["partial bound"] = f"partial {_said(held)}"
        _reach_values(held, function.func.__module__, found)
        return
    function = inspect.unwrap(function)
    home, code = function.__module__, getattr(function, "__code__", None)
    if not _ours(home):
        return
    outer = function.__qualname__.partition(".")[0]
    known = _module(home).definitions
    if code is not None and (outer not in known or function.__qualname__ != outer):
        for node in _on_line(home, code):
            inner = _definition(node, home)
            _reach_definition(home, f"{outer}:{code.co_name}", inner, found)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        bound = (cells, function.__defaults__, function.__kwdefaults__)
        found[f"{function.__qualname__} bound"] = f"{function.__qualname__} {_said(bound)}"
        _reach_values(bound, home, found)
        if outer in known:
            _reach(home, outer, found)
        return
    nodes = _on_line(home, code) if code is not None else []
    for node in nodes:
        _reach_definition(home, outer, _definition(node, home), found)
    if not nodes:
        _reach(home, outer, found)


def _reach_values(values: Any, home: str, found: dict[str, str]) -> None:
    """Values that a function holds in its closure or its defaults: plain ones as they are,
    functions by what they reach."""
    if isinstance(values, tuple | list):
        for value in values:
            _reach_values(value, home, found)
    elif isinstance(values, dict):
        _reach_values(sorted(values.items(), key=lambda item: str(item[0])), home, found)
    elif callable(values) and hasattr(values, "__qualname__"):
        _reach_function(values, found)
    elif isinstance(values, _PLAIN) or type(values).__module__.startswith(("sympy", _PROJECT)):
        found[f"{home} value {values!s}"] = f"value {values!s}"
    else:
        found[f"{home} whole"] = hashlib.sha256(_module(home).path.read_bytes()).hexdigest()


def _reach(module: str, name: str, found: dict[str, str]) -> None:
    """A name of a module: follow it to the definitions behind it."""
    if not _ours(module) or f"{module}:{name}" in found:
        return
    known = _module(module)
    if name == "":
        found[f"{module}:"] = ""
        for each in (*known.definitions, *known.imports):
            _reach(module, each, found)
        return
    if name in known.definitions:
        found[f"{module}:{name}"] = ""
        for definition in (*known.definitions[name], *known.executed):
            _reach_definition(module, name, definition, found)
    elif name in known.imports:
        _reach_import(known.imports[name], found)
    elif _spec_path(f"{module}.{name}"):
        _reach(f"{module}.{name}", "", found)


def _reach_import(target: _Name, found: dict[str, str], attribute: str = "") -> None:
    module, name = target
    if not _ours(module):
        return
    if name and _spec_path(f"{module}.{name}"):
        module, name = f"{module}.{name}", attribute
    _reach(module, name, found)


def _reach_definition(
    module: str, name: str, definition: _Definition, found: dict[str, str],
) -> None:
    key = f"{module}:{name} {definition.syntax}"
    if key in found:
        return
    found[key] = definition.syntax
    known = _module(module)
    for base, attribute in definition.names:
        imported = definition.imports.get(base) or known.imports.get(base)
        if imported is not None:
            # What a name stands for, in libraries too: another import is other code.
            found[f"{module}:{name} {base}"] = f"{base} is {'.'.join(filter(None, imported))}"
            _reach_import(imported, found, attribute)
        elif base in known.definitions:
            _reach(module, base, found)
    for text in definition.strings:
        path = known.path.parent / text
        named = [each for each in (path, *map(path.with_suffix, (".csv", ".json")))
                 if each.is_file()]
        for each in named or sorted(path.glob("*.json")):
            found[f"{module} {each.name}"] = hashlib.sha256(each.read_bytes()).hexdigest()


@cache
def _module(name: str) -> _Module:
    path, package = _module_path(name), _package(name)
    found = _Module(path)
    for node in _tree(name).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.update(_imports(node, package))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        elif names := list(_defined(node)):
            for each in names:
                found.definitions.setdefault(each, []).append(_definition(node, name))
        elif not _is_docstring(node) and not _makes_claims(node, found):
            found.executed.append(_definition(node, name))
    return found


def _makes_claims(node: ast.stmt, module: _Module) -> bool:
    """Whether a top-level statement, such as a loop, makes claims: what they state is no part of
    how others are measured."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - {"_"}
    makers = {name for name, (_, what) in module.imports.items() if what == "claim"}
    grown = True
    while grown:
        more = {name for name, parts in module.definitions.items()
                if any(makers & {base for base, _ in part.names} for part in parts)}
        grown = not more <= makers
        makers |= more
    return bool(names & makers)


@cache
def _tree(module: str) -> ast.Module:
    # By its name: that of a file of the user's own changes with what stands in the file.
    return ast.parse(_module_path(module).read_bytes())


def _module_path(module: str) -> Path:
    path = _spec_path(module)
    if path is None:
        raise ValueError(f"{module} is no module of {_PROJECT} with a source file")
    return path


def _package(module: str) -> str:
    path = _spec_path(module)
    return module if path is not None and path.name == "__init__.py" else module.rpartition(".")[0]


def _on_line(module: str, code: Any) -> list[ast.AST]:
    """The functions of a module that start on the first line of a code object and bear its name."""
    return _functions(module).get((code.co_name, code.co_firstlineno), [])


@cache
def _functions(module: str) -> dict[tuple[str, int], list[ast.AST]]:
    """Every function of a module by its name and first line; without decorators, which are no part
    of what it does."""
    found: dict[tuple[str, int], list[ast.AST]] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(node)
        elif isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            bare = ast.FunctionDef(**dict(ast.iter_fields(node)) | {"decorator_list": []})
            found.setdefault((node.name, first), []).append(ast.copy_location(bare, node))
    return found


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> dict[str, _Name]:
    if isinstance(node, ast.Import):
        return {a.asname or a.name.partition(".")[0]: (a.name, "") for a in node.names}
    above = package.split(".")
    base = ".".join(above[:len(above) - node.level + 1]) if node.level else ""
    module = ".".join(part for part in (base, node.module or "") if part)
    return {a.asname or a.name: (module, a.name) for a in node.names}


def _definition(node: ast.AST, module: str) -> _Definition:
    package = _package(module)
    names: set[_Name] = set()
    imports: dict[str, _Name] = {}
    strings: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            names.add((each.value.id, each.attr))
        elif isinstance(each, ast.Name):
            names.add((each.id, ""))
        elif isinstance(each, ast.Import | ast.ImportFrom):
            imports.update(_imports(each, package))
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and (
                _DATA.fullmatch(each.value) or each.value.isidentifier()):
            strings.add(each.value)
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        # What a function or a class binds itself is no name of its module.
        called = "lambda" if isinstance(node, ast.Lambda) else node.name
        outside = {each.id for part in _outside(node) for each in ast.walk(part)
                   if isinstance(each, ast.Name)}
        free = _globals(module).get((called, node.lineno), set()) | outside | set(imports)
        names = {(base, attribute) for base, attribute in names if base in free}
    # What is only reached through its attributes is followed there: `module.function` does not
    # reach all of the module.
    through = {base for base, attribute in names if attribute}
    names = {(base, attribute) for base, attribute in names if attribute or base not in through}
    syntax = hashlib.sha256(repr(_form(node)).encode()).hexdigest()
    return _Definition(syntax, frozenset(names), imports, frozenset(strings))


def _outside(node: ast.FunctionDef | ast.ClassDef | ast.Lambda) -> list[ast.expr]:
    """The parts that are evaluated where a function or class is defined: decorators, defaults,
    bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)]
    defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    return defaults + (node.decorator_list if isinstance(node, ast.FunctionDef) else [])


@cache
def _globals(module: str) -> dict[tuple[str, int], set[str]]:
    """Of every function and class of a file, by its name and line: the names of the module that it
    uses."""
    found: dict[tuple[str, int], set[str]] = {}

    def visit(table: symtable.SymbolTable) -> set[str]:
        own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        own = own.union(*(visit(child) for child in table.get_children()))
        found.setdefault((table.get_name(), table.get_lineno()), set()).update(own)
        return own

    path = _module_path(module)
    visit(symtable.symtable(path.read_text(encoding="utf-8"), str(path), "exec"))
    return found


def _form(node: Any) -> Any:
    """The syntax of a node as nested tuples that every Python version gives alike: no positions, no
    docstrings."""
    if isinstance(node, list):
        return tuple(_form(each) for each in node)
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            value = [each for each in value if not _is_docstring(each)]
        if value is not None and value != [] and name not in ("ctx", "kind", "type_comment"):
            fields.append((name, _form(value)))
    return type(node).__name__, tuple(fields)


def _is_docstring(node: ast.AST) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)


def _ours(module: str) -> bool:
    return module.partition(".")[0] == _PROJECT


@cache
def _spec_path(name: str) -> Path | None:
    """Where a module of this project stands, without executing the packages around it, some of
    which import PyTorch."""
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
        return Path(file) if file else None
    project, *rest = name.split(".")
    if len(rest) < 2:
        spec = importlib.util.find_spec(name)
    else:
        spec = importlib.util.find_spec(f"{project}.{rest[0]}")
        for part in rest[1:]:
            if spec is None or spec.submodule_search_locations is None:
                return None
            spec = PathFinder.find_spec(f"{spec.name}.{part}", spec.submodule_search_locations)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
