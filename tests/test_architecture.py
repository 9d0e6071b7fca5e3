"""The architecture as tests: imports point one way and in no circle, starting stays light, nothing
public is without a user, nothing is skipped silently."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("advisor", "theory", "empirics", "ledger")
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for folder in (*FOLDERS, "api")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
TESTS = sorted((ROOT / "tests").rglob("*.py"))
EVERY_FILE = [*SOURCES, *TESTS, *sorted((ROOT / "benchmarks").rglob("*.py"))]

# What each folder may import besides the standard library and itself: the table of
# docs/architecture.md.
MATHEMATICS = {"automata", "flint", "networkx", "numpy", "scipy", "sympy"}
NETS = {"safetensors", "tokenizers", "torch", "transformers"}
COMMANDS = {"click", "packaging", "platformdirs", "ray", "rich", "torch", "typer"}
PUBLISHING = {"jinja2", "matplotlib", "pyarrow", "pypandoc", "typst"}
MAY_IMPORT = {
    "advisor": set[str](),
    "theory": {"advisor", "platformdirs", *MATHEMATICS},
    "empirics": {"advisor", "theory", *NETS, *MATHEMATICS},
    "ledger": {"advisor", "theory", "empirics", *COMMANDS, *PUBLISHING, *MATHEMATICS},
    "api": {"ledger"},
}
HEAVY = {*MATHEMATICS, "matplotlib", "torch"}
SAYS_NOTHING = {"common", "core", "helper", "helpers", "misc", "util", "utils"}
SKIPPING = {"importorskip", "skip", "skipIf", "skipUnless", "skipif"}
SKIPPING |= {"SkipTest", "xfail", "expectedFailure"}


def name(path: Path) -> str:
    """The path as it is written in the lists and messages."""
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    """The name under which a file is installed."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = ("depthlaw", *(parts[1:] if parts[0] == "api" else parts))
    return ".".join(parts).removesuffix(".__init__")


@cache
def parsed(source: str) -> ast.Module:
    """The syntax tree, which several tests walk and none changes."""
    return ast.parse(source)


def python(code: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that takes nothing from this one's surroundings."""
    clean = {k: v for k, v in os.environ.items() if k[:6] != "PYTHON" or k == "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, env=clean
    )


# --- imports point one way ------------------------------------------------------------------------


def wrong_imports(source: str, package: str) -> Iterator[str]:
    """The imports in a module of `package` (such as "depthlaw.theory") that the table does not
    allow."""
    folder = package.split(".")[1] if "." in package else "api"
    for module, names, relative in imports_of(source, package):
        # `from depthlaw import empirics` names the folder only after `import`.
        below = names if module == "depthlaw" else []
        for whole in [f"{module}.{each}" for each in below] or [module]:
            first, second, *_ = [*whole.split("."), ""]
            if first == "depthlaw":
                target = second
                if target == folder and not relative:
                    yield f"{whole} (inside a folder imports are relative)"
            else:
                target = "bare " + first if first in FOLDERS else first
            known = target in MAY_IMPORT[folder] or target in sys.stdlib_module_names
            if target != folder and not known:
                yield whole


def imports(tree: ast.AST, package: str) -> Iterator[tuple[str, list[str], bool]]:
    """(module, names taken from it, whether it was written relatively) of every import, those in
    functions included; what stands under `if TYPE_CHECKING` is none."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, [], False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base, [alias.name for alias in node.names], bool(node.level)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            first = node.args[0] if node.args else None
            by_name = called in ("import_module", "__import__") and isinstance(first, ast.Constant)
            if by_name and not str(first.value).startswith("."):
                yield str(first.value), [], False
        yield from imports(node, package)


@cache
def imports_of(source: str, package: str) -> tuple[tuple[str, list[str], bool], ...]:
    """Of a module: two tests ask."""
    return tuple(imports(parsed(source), package))


def package_of(path: Path) -> str:
    module = module_of(path)
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


def test_imports_point_one_way() -> None:
    wrong = {name(path): [*wrong_imports(text, package_of(path))] for path, text in SOURCES.items()}
    assert {path: found for path, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("folder", "wrong"),
    [
        ("advisor", ["import numpy", "from depthlaw.theory.claims import definition as claim"]),
        ("theory", ["import torch", "from torch import nn", "import hypothesis"]),
        ("theory", ["from depthlaw.empirics.nets import net as nets"]),
        ("theory", ["from depthlaw import ledger", "from .. import ledger"]),
        ("theory", ["from ..empirics.nets import build"]),
        ("theory", ["def f():\n    import torch.nn.functional as F"]),
        ("theory", ["import importlib\nimportlib.import_module('torch')"]),
        ("theory", ["import depthlaw.theory.claims.definition"]),
        ("empirics", ["import theory", "from depthlaw.ledger.records.store import Record"]),
        ("ledger", ["from theory.claim import Claim", "import depthlaw"]),
    ],
)
def test_a_wrong_import_is_seen(folder: str, wrong: list[str]) -> None:
    for line in wrong:
        assert list(wrong_imports(line, f"depthlaw.{folder}")) != []


# --- no circles -----------------------------------------------------------------------------------


def circles(modules: Mapping[str, tuple[str, str]]) -> list[list[str]]:
    """The modules that import each other in circles, imports in functions included.

    Args:
        modules: name -> (package, source).
    """
    graph = networkx.DiGraph()
    for module, (package, source) in modules.items():
        for base, names, _ in imports_of(source, package):
            for target in {f"{base}.{each}" for each in names} & modules.keys() or {base}:
                if target in modules and target != module:
                    graph.add_edge(module, target)
    return sorted(
        sorted(part) for part in networkx.strongly_connected_components(graph) if len(part) > 1
    )


def test_no_module_imports_in_a_circle() -> None:
    modules = {module_of(path): (package_of(path), source) for path, source in SOURCES.items()}
    assert circles(modules) == []


def test_a_circle_is_seen() -> None:
    modules = {
        "depthlaw.theory.a": ("depthlaw.theory", "from .b import x"),
        "depthlaw.theory.b": ("depthlaw.theory", "def x():\n    from . import c"),
        "depthlaw.theory.c": ("depthlaw.theory", "from depthlaw.theory import a"),
    }
    assert circles(modules) == [sorted(modules)]
    modules["depthlaw.theory.c"] = ("depthlaw.theory", "if TYPE_CHECKING:\n    from . import a")
    assert circles(modules) == []


# --- starting stays light -------------------------------------------------------------------------


def test_theory_works_without_torch_and_without_the_folders_above_it() -> None:
    done = python("""
import sys
for name in ("torch", "depthlaw.ledger"):
    sys.modules[name] = None
from depthlaw.theory.claims.definition import registry
print(len(registry()))
""")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_the_package_loads_nothing_before_it_is_used_and_nothing_heavy_to_recommend() -> None:
    """What each command loads is held by tests/budgets.toml."""
    done = python(f"""
import sys, depthlaw
print("loaded:", *({ {*HEAVY, "rich", "typer", "depthlaw.ledger"}!r} & sys.modules.keys()))
depthlaw.recommend("1.3B")
print("loaded:", *({HEAVY!r} & sys.modules.keys()))
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["loaded:"] * 2


# --- nothing public without a user ----------------------------------------------------------------


def unused(sources: Iterable[str]) -> list[str]:
    """Public functions and classes at the top of modules that nothing names outside themselves: in
    code, in a text such as `getattr(module, "name")`, or as a command line that a file runs.

    Claims and commands are decorated, and found by whoever walks the packages.
    """
    trees = [parsed(source) for source in sources]
    counts = {
        node: Counter(word for inner in ast.walk(node) for word in _names(inner))
        for tree in trees
        for node in tree.body
    }
    named = Counter[str]()
    for count in counts.values():
        named.update(count)
    found = []
    for tree in trees:
        listed = _listed(tree)
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            uses = named[node.name] - counts[node][node.name] - (node.name in listed)
            decorated = [ast.unparse(d) for d in node.decorator_list]
            if uses <= 0 and not any("(" in d and "dataclass" not in d for d in decorated):
                found.append(node.name)
    return found


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100:
        return set(re.findall(r"\w+", node.value))
    return set()


def _listed(tree: ast.Module) -> set[str]:
    """What `__all__` lists, which is no use."""
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    lists = (node for node in assigned if ast.unparse(node.targets[0]) == "__all__")
    return {word for node in lists for inner in ast.walk(node.value) for word in _names(inner)}


def test_every_public_function_and_class_has_a_user_outside_the_tests() -> None:
    files = [*(ROOT / ".ci").glob("*.py"), *(ROOT / "benchmarks").glob("[!t]*.py")]
    scripts = [path.read_text(encoding="utf-8") for path in files]
    assert unused([*SOURCES.values(), *scripts]) == []


def test_what_nobody_uses_is_seen() -> None:
    one = "__all__ = ['alone', 'used']\ndef alone(): return alone()\ndef used(): pass\n"
    two = "from .one import used\nused()\n@claim(1)\ndef found_by_walking(): pass\n"
    assert unused([one, two]) == ["alone"]


# Classes whose names stand in two modules, and why neither of them is misread.
SAME_NAME = {
    "Answers": "of trained nets, as a training records them; of a model to the ladder",
    "Call": "a function in a formula of the atlas; and what an interval says of a layer",
    "Case": "a point of a claim's domain; what was asked, within advisor/decide",
    "Comparison": "a node of a formula, how rules are compared, and what compares nets",
    "Decision": "what judge says of a claim; what decide says of a net, which theory never sees",
    "Estimate": "a mean of seeds with what its verdict rests on; a mean of documents",
    "Leaning": "where a recommendation leans, and where an interval does",
    "Question": "what `depth` is asked, in advisor; a line of the ladder that a model completes",
    "Rung": "a size with its shape, in advisor; a difficulty of the ladder of abilities",
    "Search": "of counterexamples to a claim; of the block of layers that is cheapest to remove",
    "Statement": "of a claim, in theory; a published sentence that audits put to the test",
    "Step": "of an argument, in theory; one layer on a route through a model, in empirics",
    "Store": "of the records of claims, in ledger; of an audit's measurements, in empirics",
    "Table": "of numbers under a picture, in ledger; a measure of all layers, in empirics",
    "Words": "a clause of a formula of the atlas that is prose; and tokens of a task that trains",
}


def homonyms(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """The public classes whose name stands in two modules, with these."""
    homes: dict[str, list[str]] = {}
    for module, source in sources.items():
        for node in parsed(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_no_name_of_a_class_stands_in_two_modules_but_for_those_with_a_reason() -> None:
    two = {"a": "class Net: ...\nclass _Own: ...", "b": "class Net: ...\nclass _Own: ..."}
    assert homonyms(two) == {"Net": ["a", "b"]}
    assert set(homonyms({name(path): text for path, text in SOURCES.items()})) == set(SAME_NAME)


def test_the_name_of_a_file_says_something() -> None:
    assert [name(path) for path in EVERY_FILE if path.stem in SAYS_NOTHING] == []


# --- nothing is skipped silently ------------------------------------------------------------------


def skips(source: str) -> Iterator[tuple[str, str]]:
    """(enclosing test, how) of each skip or expected failure in a test module, however it is
    spelled."""

    def visit(node: ast.AST, inside: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            outer = isinstance(child, ast.FunctionDef | ast.ClassDef) and inside == "<module>"
            here = child.name if outer else inside  # type: ignore[attr-defined]
            if isinstance(child, ast.Attribute) and child.attr in SKIPPING:
                words = {*re.findall(r"\w+", ast.unparse(child))}
                if {"pytest", "unittest", "mark"} & words:
                    yield here, child.attr
            elif isinstance(child, ast.ImportFrom) and child.module in ("pytest", "unittest"):
                yield from ((here, alias.name) for alias in child.names if alias.name in SKIPPING)
            yield from visit(child, here)

    return visit(ast.parse(source), "<module>")


def test_every_skip_is_listed_with_reason_and_exit_condition() -> None:
    listed = tomllib.loads((ROOT / "tests" / "skips.toml").read_text()).get("skip", [])
    assert all(entry["reason"].strip() and entry["until"].strip() for entry in listed)
    found = Counter(
        (name(path), test, how)
        for path, source in ((path, path.read_text()) for path in TESTS)
        if any(word in source for word in SKIPPING)
        for test, how in skips(source)
    )
    assert found == Counter((entry["file"], entry["test"], entry["how"]) for entry in listed)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("@pytest.mark.skip\ndef test_a(): pass", [("test_a", "skip")]),
        ("@pytest.mark.skipif(True, reason='r')\ndef test_a(): pass", [("test_a", "skipif")]),
        ("def test_a():\n    if x:\n        pytest.skip('r')", [("test_a", "skip")]),
        ("torch = pytest.importorskip('torch')", [("<module>", "importorskip")]),
        ("from pytest import skip", [("<module>", "skip")]),
        ("raise unittest.SkipTest", [("<module>", "SkipTest")]),
        ("x = [pytest.param(1, marks=pytest.mark.xfail)]", [("<module>", "xfail")]),
        ("def test_a():\n    records.skip()", []),
    ],
)
def test_skip_is_seen(source: str, found: list[tuple[str, str]]) -> None:
    assert list(skips(source)) == found


@pytest.mark.parametrize(("body", "code"), [("assert True", 0), ("pytest.skip('unlisted')", 1)])
def test_run_with_an_unlisted_skip_is_red(tmp_path: Path, body: str, code: int) -> None:
    for file in ("conftest.py", "skips.toml"):
        (tmp_path / file).write_text((ROOT / "tests" / file).read_text())
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n\ndef test_it():\n    {body}\n")
    asked = ["-p", "no:cacheprovider", "--rootdir", ".", "."]
    done = python(f"import pytest; raise SystemExit(pytest.main({asked}))", cwd=tmp_path)
    assert done.returncode == code, done.stdout
    assert ("SILENT SKIP" in done.stdout) == bool(code)
