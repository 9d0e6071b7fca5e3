"""Which code a measured value depends on: a hash over the syntax of every definition that a
function can reach.

Reached are the definitions of this project that a function names, those that they name, and so on,
through imports wherever they stand, and the data files whose names stand in them. A definition is
known by its syntax and by what it reaches, never by a name: modules, functions, classes and local
variables may be renamed and moved, and imported in another way, without another code version. The
names of parameters, attributes and methods stay. Comments, docstrings, annotations of functions and
layout are no part of the syntax, and neither is what no reached definition names: a new theorem,
even in the same module, changes the code version of no other claim. Libraries are not followed;
their versions stand in the record.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache, partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from depthlaw.advisor.base.quantities import UsageError

_PROJECT = "depthlaw"
_ROOTS = ("depthlaw.theory", "depthlaw.empirics", "depthlaw.advisor")
# Values that say by their text what they are.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, Fraction)
_DATA = re.compile(r"[\w./-]+\.(csv|json)")
# What says where a claim stands and what it states is no part of how it is measured, and neither is
# this module.
_STATING = ("Claim", "Control", "Source", "claim")
# Arguments of what makes claims that say what a claim is for. The code of another one may reach it,
# for its statement.
_LABELS = ("cited", "supports")
# SymPy's relations, but for when they are decided.
_RELATIONS = "depthlaw.theory.claims.relations"
# Annotations in a class that change what it does.
_ROLES = re.compile(r"ClassVar|InitVar|KW_ONLY")
# Statements that do more than define the names that they bind.
_BLOCKS = (ast.For, ast.While, ast.With, ast.Try, ast.If, ast.Match)
# Where a top-level statement stands: its module, and its number there.
_Place = tuple[str, int]


@dataclass(frozen=True)
class _Module:
    """A module: its top-level statements, those that define a name, what it imports (for type
    checkers alone, and all of whom), and those that are executed whenever it is imported."""

    path: Path
    package: str
    body: list[ast.stmt]
    definitions: dict[str, list[int]] = field(default_factory=dict)
    imports: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    typed: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    executed: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Definition:
    """A node of the graph of definitions: the hash of its syntax, in which numbers stand for names,
    and what they stand for, in their order."""

    syntax: str
    named: tuple[_Target, ...]


@dataclass(frozen=True)
class _Target:
    """What a name stands for: top-level statements of this project, with the name's number among
    those that each of them defines; and a text, for what is not followed, such as a library."""

    places: tuple[tuple[_Place, int], ...] = ()
    text: str = ""


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
    try:
        if _hash_of_tree() != tree_version():
            # Edited since the version was first asked for: the data may be of either.
            return
    except OSError:
        # A file went away meanwhile.
        return
    path = _cache_file(name)
    unfinished = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(data), encoding="utf-8")
        unfinished.replace(path)
        # Never this one, which other processes read at the same time.
        for old in set(path.parent.glob(f"{name}-*.json")) - {path}:
            old.unlink(missing_ok=True)
    except OSError:
        return


def _cache_file(name: str) -> Path:
    return user_cache_path("depthlaw") / f"{name}-{tree_version()}.json"


@cache
def _plain_name(function: Callable[..., Any]) -> object:
    """A text that tells a function apart in this version of the project; the function itself where
    none does."""
    name = _said(function)
    return function if name is None else name


def _said(value: Any) -> str | None:
    """A text that tells a value apart: a plain one, or a function of the project with plain values
    bound to it; None for anything else."""
    if isinstance(value, tuple | list | dict):
        parts = [_said(item) for item in (value.items() if isinstance(value, dict) else value)]
        return None if None in parts else json.dumps(parts)
    if isinstance(value, partial):
        return _said((value.func, value.args, value.keywords))
    code = getattr(value, "__code__", None)
    if code is not None:
        if hasattr(value, "__wrapped__") or getattr(value, "__self__", None) is not None:
            return None
        if not value.__module__.startswith(_ROOTS):
            return None
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        bound = _said((value.__defaults__, value.__kwdefaults__, cells))
        place = f"{value.__module__} {value.__qualname__} {code.co_firstlineno}"
        return None if bound is None else f"{place} {bound}"
    if type(value).__module__.startswith("sympy"):
        return f"{type(value).__name__} {_sympy_text(value)}"
    return f"{type(value).__name__} {value!r}" if type(value) in _PLAIN else None


def _sympy_text(value: Any) -> str:
    """An expression with the assumptions of its symbols. SymPy is loaded, since the value is."""
    return str(sys.modules["sympy"].srepr(value))


def _version(function: Callable[..., Any]) -> str:
    walk = _Walk()
    # What a case does for a function, such as drawing random numbers, is reached by no name.
    case = _resolve("depthlaw.theory.claims.values", "Case")
    return _digest([walk.function(function, itself=True), walk.target(case), walk.entries()])[:16]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def source_files() -> list[Path]:
    """The Python files of the folders that a measurement can depend on."""
    roots = [
        Path(root)
        for name in _ROOTS
        if (spec := importlib.util.find_spec(name))
        for root in spec.submodule_search_locations or ()
    ]
    return sorted(path for root in roots for path in root.rglob("*.py"))


@cache
def tree_version() -> str:
    """A hash over all files of `source_files`, data files beside them, and the version of Python,
    as they were when it was first asked for."""
    return _hash_of_tree()


def _hash_of_tree() -> str:
    whole = hashlib.sha256(sys.version.encode())
    files = source_files()
    folders = {path.parent for path in files}
    beside = {f for folder in folders for f in (*folder.glob("*.csv"), *folder.glob("*/*.json"))}
    for path in (*files, *sorted(beside)):
        whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:32]


class _Walk:
    """What a function reaches: every statement has the number of its first visit, so that names do
    not matter, and which statements are one and the same does."""

    def __init__(self) -> None:
        self._numbers: dict[_Place, int] = {}
        self._inside: list[Any] = []

    def entries(self) -> list[Any]:
        """Of every statement in the order of first visits: its syntax, and what it names."""
        listed: list[Any] = []
        while len(listed) < len(self._numbers):
            for place in list(self._numbers)[len(listed) :]:
                node = _node(place)
                listed.append([node.syntax, [self.target(part) for part in node.named]])
        return listed

    def target(self, target: _Target) -> list[Any]:
        """What a name stands for."""
        return [
            target.text,
            [
                [self._numbers.setdefault(place, len(self._numbers)), number]
                for place, number in target.places
            ],
        ]

    def function(self, function: Any, *, itself: bool = False) -> Any:
        """What a function or a class reaches. Of the one that is asked for, its own decorators are
        left out."""
        if isinstance(function, partial):
            return [
                "partial",
                self.function(function.func, itself=itself),
                self.bound(function.args),
                self.bound(function.keywords),
            ]
        function = inspect.unwrap(function) if itself else function
        home, code = function.__module__, getattr(function, "__code__", None)
        owner = getattr(function, "__self__", None)
        held = [] if owner is None or inspect.ismodule(owner) else [self.bound(owner)]
        if not _ours(home or ""):
            # The script that is started is `__main__` there, and has its name in every worker.
            return [function.__qualname__ if itself else f"{home}.{function.__qualname__}", *held]
        outer = function.__qualname__.partition(".")[0]
        around = _resolve(home, outer)
        if code is None or (function.__qualname__ == outer and not itself and around.places):
            return [*self.target(around), *held]
        if any(entry is function for entry in self._inside):
            return "itself"
        self._inside.append(function)
        inner = [self._inner(node, home, code) for node in _on_line(home, code)]
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        bound = [[self.bound(cells[name].cell_contents) for name in names] for _, names in inner]
        # The defaults of a top-level function stand in its syntax.
        if not (around.places and _is_function(around.places[0][0], outer, function)):
            bound.append(self.bound([function.__defaults__, function.__kwdefaults__]))
        self._inside.pop()
        reached = [] if function.__qualname__ == outer and inner else self.target(around)
        return ["function", [form for form, _ in inner], bound, reached, held]

    def _inner(self, node: ast.AST, home: str, code: Any) -> tuple[Any, list[str]]:
        """A function by its syntax and what it names; its free variables, in the order in which
        they stand there."""
        standing = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        free = [
            name
            for name in dict.fromkeys([*standing, *code.co_freevars])
            if name in code.co_freevars
        ]
        definition = _definition(node, home, free)
        executed = [self.target(_Target(((place, 0),))) for place in _executed(home)]
        return [definition.syntax, [self.target(part) for part in definition.named], executed], free

    def bound(self, value: Any) -> Any:
        """A value in the closure or the defaults of a function, or bound to it: what it says of
        itself, and what it reaches.

        Raises:
            UsageError: for a value that does not say what it is.
        """
        kind = type(value)
        if kind in _PLAIN:
            return [kind.__name__, repr(value)]
        if kind in (tuple, list):
            return [kind.__name__, [self.bound(item) for item in value]]
        if kind is dict:
            return ["dict", [[self.bound(key), self.bound(item)] for key, item in value.items()]]
        if kind in (set, frozenset):
            return [kind.__name__, sorted(json.dumps(self.bound(item)) for item in value)]
        if isinstance(value, type | partial) or (
            callable(value) and hasattr(value, "__qualname__")
        ):
            return self.function(value)
        if kind.__module__.startswith("sympy"):
            return [kind.__name__, _sympy_text(value)]
        if hasattr(value, "tobytes") and hasattr(value, "dtype"):
            return [str(value.dtype), list(value.shape), value.tobytes().hex()]
        home = self.function(kind)
        if is_dataclass(value):
            return [home, [self.bound(getattr(value, item.name)) for item in fields(value)]]
        raise UsageError(
            f"a function that measures holds a {kind.__qualname__}, which does not "
            "say what it is; accepted are numbers, texts, tuples, lists, dicts, "
            "functions, classes, dataclasses, arrays and SymPy's expressions"
        )


def _is_function(place: _Place, name: str, function: Any) -> bool:
    """Whether a place is the statement that defines a function, by itself and not in a loop."""
    node = _module(place[0]).body[place[1]]
    return isinstance(node, ast.FunctionDef) and node.name == name == function.__qualname__


def _executed(module: str) -> list[_Place]:
    return [(module, number) for number in _module(module).executed]


@cache
def _node(place: _Place) -> _Definition:
    module, number = place
    known = _module(module)
    if number < 0:  # all of a module, which is passed on as an object
        names = sorted({*known.definitions, *known.imports})
        return _Definition(_digest(["module", names]), tuple(_resolve(module, n) for n in names))
    statement = known.body[number]
    definition = _definition(statement, module)
    # The values that its names had before.
    others = tuple(
        _Target(tuple(((module, entry), 0) for entry in known.definitions[name] if entry != number))
        for name in _defined(statement)
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
    )
    executed = _Target(tuple((entry, 0) for entry in _executed(module) if entry != place))
    more = (*filter(lambda entry: entry.places, (*others, executed)),)
    return _Definition(definition.syntax, (*definition.named, *more))


@cache
def _resolve(module: str, name: str) -> _Target:
    """What a name of a module stands for; nothing where it is no name of the module."""
    if module == _RELATIONS:
        module = "sympy"
    if not _ours(module):
        return _Target(text=".".join(filter(None, (module, name))))
    if module == __name__ or (name in _STATING and module.startswith("depthlaw.theory.claim")):
        return _Target(text=name)
    if not name:
        return _Target((((module, -1), 0),))
    known = _module(module)
    targets = [
        _Target(
            tuple(
                ((module, index), list(_defined(known.body[index])).index(name))
                for index in known.definitions.get(name, ())
            )
        )
    ]
    targets += [_imported(origin) for origin in known.imports.get(name, ())]
    if not any(target != _Target() for target in targets):
        targets += [_imported(known.typed[name])] if name in known.typed else []
        targets += [_resolve(star, name) for star in known.stars]
        if _spec_path(f"{module}.{name}"):
            targets.append(_resolve(f"{module}.{name}", ""))
    return _Target(
        tuple(place for target in targets for place in target.places),
        " ".join(filter(None, (target.text for target in targets))),
    )


def _imported(target: tuple[str, str]) -> _Target:
    module, name = target
    if name and _ours(module) and _spec_path(f"{module}.{name}"):
        known = _module(module)
        if name not in known.definitions and name not in known.imports:
            module, name = f"{module}.{name}", ""
    return _resolve(module, name)


@cache
def _module(name: str) -> _Module:
    path, package = _module_path(name), _package(name)
    parsed = _Module(path, package, _tree(name).body)
    for number, node in enumerate(parsed.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for binding, target in _imports(node, package).items():
                if binding == "*":
                    parsed.stars.append(target[0])
                else:
                    parsed.imports.setdefault(binding, []).append(target)
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not node.orelse:
            # What a package hands out on demand stands there for type checkers, and for this.
            for inner in node.body:
                if isinstance(inner, ast.ImportFrom):
                    parsed.typed.update(_imports(inner, package))
            continue
        for binding in (names := list(_defined(node))):
            parsed.definitions.setdefault(binding, []).append(number)
        # A statement that does more than define its names is executed whatever is asked for.
        if (
            (not names or isinstance(node, _BLOCKS))
            and not _is_docstring(node)
            and (not _makes_claims(node, parsed))
        ):
            parsed.executed.append(number)
    return parsed


def _makes_claims(node: ast.stmt, module: _Module) -> bool:
    """Whether a top-level statement, such as a loop, makes claims: what they state is no part of
    how others are measured."""
    names = _names_in(node) - {"_"}
    makers = {
        name
        for name, targets in module.imports.items()
        if any(what == "claim" for _, what in targets)
    }
    grown = True
    while grown:
        more = {
            name
            for name, numbers in module.definitions.items()
            if any(makers & _names_in(module.body[number]) for number in numbers)
        }
        grown = not more <= makers
        makers |= more
    return bool(names & makers)


@cache
def _is_maker(module: str, name: str) -> bool:
    """Whether a name of a module is the decorator `claim`, or a partial of it."""
    if not _ours(module):
        return False
    known = _module(module)
    for home, what in known.imports.get(name, ()):
        if (what == "claim" and home.startswith("depthlaw.theory.claim")) or _is_maker(home, what):
            return True
    for number in known.definitions.get(name, ()):
        call = getattr(known.body[number], "value", None)
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "partial"
            and call.args
            and isinstance(call.args[0], ast.Name)
            and _is_maker(module, call.args[0].id)
        ):
            return True
    return False


def _names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


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


def _on_line(module: str, code: Any) -> list[Any]:
    """The function of a module that starts on the first line of a code object and bears its name;
    of several lambdas on one line, the innermost that holds all of the code."""
    nodes = _functions(module).get((code.co_name, code.co_firstlineno), [])
    if len(nodes) < 2:
        return nodes
    spans = [
        ((line, column), (end, until))
        for line, end, column, until in code.co_positions()
        if None not in (line, end, column, until) and until
    ]
    around = [
        node
        for node in nodes
        if all(
            (node.lineno, node.col_offset) <= first
            and last <= (node.end_lineno, node.end_col_offset)
            for first, last in spans
        )
    ]
    return [max(around, key=lambda node: (node.lineno, node.col_offset))] if around else nodes


@cache
def _functions(module: str) -> dict[tuple[str, int], list[Any]]:
    """Every function of a module by its name and first line; without decorators, which are no part
    of what it does."""
    functions: dict[tuple[str, int], list[Any]] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Lambda):
            functions.setdefault(("<lambda>", node.lineno), []).append(node)
        elif isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            bare = ast.FunctionDef(**dict(ast.iter_fields(node)) | {"decorator_list": []})
            functions.setdefault((node.name, first), []).append(ast.copy_location(bare, node))
    return functions


def _defined(node: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement defines; none for a mere expression."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif not isinstance(node, ast.Expr):
        seen = dict.fromkeys(_bindings([node]))
        yield from seen


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> dict[str, tuple[str, str]]:
    if isinstance(node, ast.Import):
        return {
            a.asname or a.name.partition(".")[0]: (
                a.name if a.asname else a.name.partition(".")[0],
                "",
            )
            for a in node.names
        }
    above = package.split(".")
    base = ".".join(above[: len(above) - node.level + 1]) if node.level else ""
    module = ".".join(part for part in (base, node.module or "") if part)
    return {a.asname or a.name: (module, a.name) for a in node.names}


def _bindings(statements: list[Any]) -> Iterator[str]:
    """The names that a scope binds itself, in their order: by assignments, loops, imports,
    definitions; not those of the functions, lambdas, classes and comprehensions inside."""
    for node in statements:
        if isinstance(node, ast.Constant | ast.expr_context | ast.operator):
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
            yield from _bindings(_outside(node))
        elif isinstance(node, ast.Lambda):
            yield from _bindings(_outside(node))
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # A walrus in a comprehension binds around it.
            yield from (
                part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)
            )
            yield from _bindings([node.generators[0].iter])
        else:
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from _imports(node, "")
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                yield node.name
            elif isinstance(node, ast.MatchMapping) and node.rest:
                yield node.rest
            yield from _bindings(list(ast.iter_child_nodes(node)))


def _outside(node: ast.FunctionDef | ast.ClassDef | ast.Lambda) -> list[Any]:
    """The parts that are evaluated where a function or class is defined: decorators, defaults,
    bases."""
    if isinstance(node, ast.ClassDef):
        # How many of each: a base is no decorator.
        counts = [ast.Constant(len(part)) for part in (node.decorator_list, node.bases)]
        return [*counts, *node.decorator_list, *node.bases, *node.keywords]
    defaults = [part for part in (*node.args.defaults, *node.args.kw_defaults) if part is not None]
    return [*(node.decorator_list if isinstance(node, ast.FunctionDef) else []), *defaults]


def _definition(node: ast.AST, module: str, free: Sequence[str] = ()) -> _Definition:
    form = _Form(module, free)
    syntax = form.of(node)
    data = tuple(_Target(text=name) for name in sorted(form.data))
    return _Definition(_digest(syntax), (*form.named, *data))


class _Form:
    """The syntax of a definition as nested lists that every Python version gives alike: no
    positions, no docstrings, no annotations of functions; a number for every name of the module and
    for every local one.

    Attributes:
        named: what the numbers of the module's names stand for.
        data: the hashes of the data files whose names stand in the definition.
    """

    def __init__(self, module: str, free: Sequence[str] = ()) -> None:
        self.module = module
        self.named: list[_Target] = []
        self.data: set[str] = set()
        # The scopes around, the innermost last: what each name stands for; whether it is a class.
        self._scopes: list[tuple[dict[str, Any], bool]] = [
            ({name: ["free", number] for number, name in enumerate(free)}, False)
        ]
        self._locals = 0
        # Imports whose names are followed; others are statements like any.
        self._followed: set[int] = set()

    def of(self, node: Any) -> Any:
        """The form of a top-level statement, or of a function or lambda inside one."""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return [type(node).__name__, *self._rest_of(node)]
        if isinstance(node, ast.stmt):
            # The names that it defines are known by their place among them.
            scope: dict[str, Any] = {n: ["defined", i] for i, n in enumerate(_defined(node))}
            self._scopes.append((scope, False))
        return self._form(node)

    def _form(self, node: Any) -> Any:
        if isinstance(node, list):
            return [
                self._form(part)
                for part in node
                if id(part) not in self._followed
                and not isinstance(part, ast.Global | ast.Nonlocal)
            ]
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.Call) and self._makes_a_claim(node.func):
            pairs = [
                ("func", node.func),
                ("args", node.args),
                ("keywords", [part for part in node.keywords if part.arg not in _LABELS]),
            ]
            return ["Call", [[name, self._form(part)] for name, part in pairs if part != []]]
        if isinstance(node, ast.Import | ast.ImportFrom):
            package = _module(self.module).package
            return [
                "Import",
                [
                    [self._name(name), self._number(_imported(target))]
                    for name, target in _imports(node, package).items()
                ],
            ]
        if isinstance(node, ast.Name):
            return self._name(node.id, read=isinstance(node.ctx, ast.Load))
        if isinstance(node, ast.Attribute) and (target := self._attribute(node)) is not None:
            return self._number(target)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return [type(node).__name__, self._name(node.name), *self._rest_of(node)]
        if isinstance(node, ast.Lambda):
            return ["Lambda", *self._rest_of(node)]
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            outer = self._form(node.generators[0].iter)
            parts = [part for name, part in ast.iter_fields(node) if name != "generators"]
            inside = [part for g in node.generators for part in (g.target, g.iter, g.ifs)]
            with_walrus = {
                part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)
            }
            bound = [n for g in node.generators for n in _bindings([g.target])]
            return [
                type(node).__name__,
                outer,
                self._inside(
                    [n for n in bound if n not in with_walrus], [inside[0], *inside[2:], *parts]
                ),
            ]
        if isinstance(node, ast.AnnAssign) and not _ROLES.search(ast.unparse(node.annotation)):
            # In a class it makes a field.
            kind = "AnnAssign" if self._scopes[-1][1] else "Assign"
            return [
                kind,
                [
                    ["targets", [self._form(node.target)]],
                    ["value", self._form(node.value) if node.value else None],
                ],
            ]
        if isinstance(node, ast.Constant):
            self._data(node.value)
        return [
            type(node).__name__,
            [
                # The name of an exception is a local one.
                [name, self._name(value) if name == "name" else self._form(value)]
                for name, value in ast.iter_fields(node)
                if value is not None and value != [] and name not in ("ctx", "kind", "type_comment")
            ],
        ]

    def _makes_a_claim(self, function: ast.expr) -> bool:
        """Whether a function makes claims: the decorator, or arguments bound to it."""
        return (
            isinstance(function, ast.Name)
            and not isinstance(self._meaning(function.id), list)
            and _is_maker(self.module, function.id)
        )

    def _rest_of(self, node: ast.FunctionDef | ast.ClassDef | ast.Lambda) -> list[Any]:
        """A function or class without its name."""
        outside = self._form(_outside(node))
        body: list[Any] = node.body if isinstance(node.body, list) else [node.body]
        body = [statement for statement in body if not _is_docstring(statement)]
        if isinstance(node, ast.ClassDef):
            # The names of what a class holds are what it is known by.
            names = {name: ["held", name] for name in _bindings(body)}
            self._scopes.append((names, True))
            inside = self._form(body)
            self._scopes.pop()
            return [outside, inside]
        a = node.args
        parameters = [statement.arg for statement in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        shape = [
            len(a.posonlyargs),
            len(a.args),
            len(a.kwonlyargs),
            len(a.defaults),
            [statement is not None for statement in a.kw_defaults],
            parameters,
            a.vararg is not None,
            a.kwarg is not None,
        ]
        more = [statement.arg for statement in (a.vararg, a.kwarg) if statement is not None]
        elsewhere = {
            name
            for statement in _own_statements(body)
            if isinstance(statement, ast.Global | ast.Nonlocal)
            for name in statement.names
        }
        given: dict[str, Any] = {name: ["parameter", name] for name in parameters}
        bound = [n for n in (*more, *_bindings(body)) if n not in elsewhere]
        times = Counter([*bound, *parameters])
        followed = [
            statement
            for statement in body
            if isinstance(statement, ast.Import | ast.ImportFrom)
            and all(times[name] == 1 for name in _imports(statement, ""))
        ]
        self._followed |= {id(statement) for statement in followed}
        given |= {
            name: target
            for statement in followed
            for name, target in _imports(statement, _module(self.module).package).items()
        }
        return [outside, shape, self._inside([n for n in bound if n not in given], body, given)]

    def _inside(
        self, bound: list[str], parts: list[Any], given: dict[str, Any] | None = None
    ) -> Any:
        """What stands in a scope that binds some names itself."""
        scope: dict[str, Any] = {}
        for name in dict.fromkeys(bound):
            scope[name] = ["local", self._locals]
            self._locals += 1
        self._scopes.append((scope | (given or {}), False))
        form = self._form(parts)
        self._scopes.pop()
        return form

    def _meaning(self, name: str) -> Any:
        """What a name stands for here: a list for a local one, else a target."""
        for depth, (scope, is_class) in enumerate(reversed(self._scopes)):
            if name in scope and not (is_class and depth > 0):
                meaning = scope[name]
                return _imported(meaning) if isinstance(meaning, tuple) else meaning
        return _resolve(self.module, name)

    def _name(self, name: str, *, read: bool = False) -> Any:
        meaning = self._meaning(name)
        if isinstance(meaning, list):
            if read and meaning[0] == "held" and self._scopes[-1][1]:
                # In the body of a class a name that it does not bind yet is that around.
                inner = self._scopes.pop()
                around = self._name(name)
                self._scopes.append(inner)
                return [*meaning, around]
            return meaning
        return self._number(meaning) if meaning != _Target() else ["Name", name]

    def _attribute(self, node: ast.Attribute) -> _Target | None:
        """What an attribute of an imported module stands for; None for other attributes."""
        if isinstance(node.value, ast.Attribute):
            meaning: Any = self._attribute(node.value)
        elif isinstance(node.value, ast.Name):
            meaning = self._meaning(node.value.id)
        else:
            meaning = None
        if meaning is None or isinstance(meaning, list) or meaning == _Target():
            return None
        if meaning.text and not meaning.places and " " not in meaning.text:
            # A name of what states claims, or of a library: `math.sqrt` is what `sqrt` is.
            return _Target(text=f"{meaning.text}.{node.attr}")
        if [number for (_, number), _ in meaning.places] != [-1] or meaning.text:
            return None
        target = _resolve(meaning.places[0][0][0], node.attr)
        return target if target != _Target() else None

    def _number(self, target: _Target) -> Any:
        if target not in self.named:
            self.named.append(target)
        return ["named", self.named.index(target)]

    def _data(self, text: Any) -> None:
        if not isinstance(text, str) or not (_DATA.fullmatch(text) or text.isidentifier()):
            return
        path = _module(self.module).path.parent / text
        files = [
            file for file in (path, *map(path.with_suffix, (".csv", ".json"))) if file.is_file()
        ]
        self.data |= {
            f"{file.suffix if files else file.name} of {text}: "
            f"{hashlib.sha256(file.read_bytes()).hexdigest()}"
            for file in files or path.glob("*.json")
        }


def _own_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a scope, without those of the functions and classes inside."""
    for node in nodes:
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield from _own_statements(ast.iter_child_nodes(node))


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
