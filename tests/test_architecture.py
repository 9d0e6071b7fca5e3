"""The architecture as tests: imports point one way, starting stays light, files and functions stay
short, nothing is skipped silently."""
from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("theory", "empirics", "ledger")
SOURCES = sorted(path for folder in (*FOLDERS, "api") for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
ALL = [*SOURCES, *TESTS, *sorted((ROOT / "benchmarks").rglob("*.py"))]

# What each folder may import besides the standard library and itself. Imports point one way: ledger
# -> empirics -> theory.
MATHEMATICS = {"automata", "flint", "networkx", "numpy", "scipy", "sympy"}
MAY_IMPORT = {
    "theory": MATHEMATICS,
    "empirics": {"safetensors", "theory", "sklearn", "torch", *MATHEMATICS},
    "api": {"ledger"},
    "ledger": {"theory", "empirics", "click", "jinja2", "matplotlib", "platformdirs", "pyarrow",
               "ray", "rich", "typer", *MATHEMATICS},
}
# Modules that the advisor and the exact integer routes need at start: importing one loads none of
# these libraries.
LIGHT = ("depth_choice", "connectivity", "hops")
HEAVY = {*MATHEMATICS, "matplotlib", "torch"}

FILE_LINES = 450
FUNCTION_LINES = 40
SAYS_NOTHING = {"common", "core", "helper", "helpers", "misc", "util", "utils"}
SKIPPING = {"importorskip", "skip", "skipIf", "skipUnless", "skipif", "SkipTest", "xfail",
            "expectedFailure"}


def name(path: Path) -> str:
    """The path as it is written in the lists and messages."""
    return path.relative_to(ROOT).as_posix()


def python(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that takes nothing from this one's surroundings."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean, **options)  # type: ignore[call-overload]


# --- imports point one way ------------------------------------------------------------------------


def wrong_imports(source: str, package: str) -> Iterator[str]:
    """The imports in a module of `package` (such as "depthlaw.theory") that the table does not
    allow."""
    folder = package.split(".")[1]
    for node in ast.walk(ast.parse(source)):
        for module, relative in imported(node, package):
            first, second, *_ = [*module.split("."), ""]
            if first == "depthlaw":
                target = second
                if target == folder and not relative:
                    yield f"line {node.lineno}: {module} (inside a folder imports are relative)"  # type: ignore[attr-defined]
            else:
                target = "bare " + first if first in FOLDERS else first
            if target != folder and target not in MAY_IMPORT[folder] and target not in sys.stdlib_module_names:
                yield f"line {node.lineno}: {module}"  # type: ignore[attr-defined]


def imported(node: ast.AST, package: str) -> Iterator[tuple[str, bool]]:
    """What a node imports, as absolute dotted names, and whether it was written relatively."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, False) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[:len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        # `from depthlaw import empirics` and `from .. import empirics` name the folder only after
        # `import`.
        yield from ((f"{base}.{alias.name}" if base == "depthlaw" else base, bool(node.level))
                    for alias in node.names)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        first = node.args[0] if node.args else None
        if called in ("import_module", "__import__") and isinstance(first,
                                                                    ast.Constant) and not str(first.value).startswith("."):
            yield str(first.value), False


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_imports_point_one_way(path: Path) -> None:
    package = ".".join(("depthlaw", *path.relative_to(ROOT).parent.parts))
    assert list(wrong_imports(path.read_text(), package)) == []


@pytest.mark.parametrize(("folder", "line"), [
    ("theory", "import torch"),
    ("theory", "from torch import nn"),
    ("theory", "from depthlaw.empirics import nets"),
    ("theory", "from depthlaw import ledger"),
    ("theory", "from .. import ledger"),
    ("theory", "from ..empirics.nets import build"),
    ("theory", "def f():\n    import torch.nn.functional as F"),
    ("theory", "import importlib\nimportlib.import_module('torch')"),
    ("theory", "import depthlaw.theory.claim"),
    ("theory", "import hypothesis"),
    ("empirics", "import theory"),
    ("empirics", "from depthlaw.ledger.run.records import Record"),
    ("ledger", "from theory.claim import Claim"),
    ("ledger", "import depthlaw"),
    ("api", "import rich"),
    ("api", "from depthlaw.theory.claim import Claim"),
])
def test_wrong_import_is_seen(folder: str, line: str) -> None:
    assert list(wrong_imports(line, f"depthlaw.{folder}")) != []


@pytest.mark.parametrize(("folder", "line"), [
    ("theory", "from .claim import Claim"),
    ("theory", "from . import claim"),
    ("empirics", "from depthlaw.theory.claim import Claim"),
    ("ledger", "from depthlaw import theory"),
])
def test_right_import_is_let_through(folder: str, line: str) -> None:
    assert list(wrong_imports(line, f"depthlaw.{folder}")) == []


# --- starting stays light -------------------------------------------------------------------------


def test_theory_works_without_torch_and_without_the_folders_above_it() -> None:
    done = python(f"""
import sys
from importlib import import_module
for name in ("torch", "depthlaw.empirics", "depthlaw.ledger"):
    sys.modules[name] = None
for stem in {sorted(path.stem for path in SOURCES if path.parent.name == "theory" and path.stem != "__init__")}:
    import_module("depthlaw.theory." + stem)
from depthlaw.theory.claim import registry
print(len(registry()))
""")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.parametrize("stem", LIGHT)
def test_import_loads_no_heavy_library(stem: str) -> None:
    done = python(f"import sys, depthlaw.theory.{stem}; print(*(sorted({HEAVY!r} & "
                  "sys.modules.keys())))")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_the_package_itself_loads_nothing_before_it_is_used() -> None:
    done = python(f"""
import sys, depthlaw
print(*(sorted({HEAVY | {'rich', 'typer', 'depthlaw.ledger'}!r} & sys.modules.keys())))
depthlaw.recommend("1.3B")
print(*(sorted({HEAVY!r} & sys.modules.keys())))
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_theory_works_in_a_bare_checkout() -> None:
    done = python("import theory.claim; print(theory.claim.__file__, len(theory.claim.registry()))",
                  cwd=ROOT)
    assert done.returncode == 0, done.stderr
    file, count = done.stdout.split()
    assert Path(file) == ROOT / "theory" / "claim.py"
    assert int(count) > 0


# --- files and functions stay short ---------------------------------------------------------------


@pytest.mark.parametrize("path", ALL, ids=name)
def test_file_is_short_and_its_name_says_something(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= FILE_LINES
    assert path.stem not in SAYS_NOTHING


def long_functions(source: str) -> dict[str, int]:
    """Functions of more than FUNCTION_LINES lines, docstrings not counted, by name."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            if lines > FUNCTION_LINES:
                found[node.name] = lines
    return found


def test_long_functions_may_only_become_fewer_and_shorter() -> None:
    listed: dict[str, int] = tomllib.loads((ROOT / "tests" / "long_functions.toml").read_text())
    found = {f"{name(path)}::{function}": lines for path in SOURCES
             for function, lines in long_functions(path.read_text()).items()}
    grown = {key: lines for key, lines in found.items() if lines > listed.get(key, 0)}
    assert grown == {}, "split these, or make them shorter again"
    assert listed == found, "good: now let tests/long_functions.toml say\n" + "\n".join(f'"{key}" '
                                                                                        f'= {n}'
                                                                                        for key, n in found.items())


def test_long_function_is_seen_and_its_docstring_not_counted() -> None:
    body = "    x = 1\n" * FUNCTION_LINES
    assert long_functions("def f():\n" + body) == {"f": FUNCTION_LINES + 1}
    assert long_functions('def f():\n    """One.\n\n    Two."""\n'
                          + body[len("    x = 1\n"):]) == {}


# --- nothing is skipped silently ------------------------------------------------------------------


def skips(source: str) -> Iterator[tuple[str, str]]:
    """(enclosing test, how) of each skip or expected failure in a test module, however it is
    spelled."""
    def visit(node: ast.AST, inside: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            here = child.name if isinstance(child,
                                            ast.FunctionDef
                                            | ast.ClassDef) and inside == "<module>" else inside
            if isinstance(child, ast.Attribute) and child.attr in SKIPPING and {"pytest",
                                                                                "unittest",
                                                                                "mark"} & names_in(child):
                yield here, child.attr
            elif isinstance(child, ast.ImportFrom) and child.module in ("pytest", "unittest"):
                yield from ((here, alias.name) for alias in child.names if alias.name in SKIPPING)
            yield from visit(child, here)

    def names_in(node: ast.AST) -> set[str]:
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr
                                                                            for n in ast.walk(node)
                                                                            if isinstance(n, ast.Attribute)}

    return visit(ast.parse(source), "<module>")


def test_every_skip_is_listed_with_reason_and_exit_condition() -> None:
    listed = tomllib.loads((ROOT / "tests" / "skips.toml").read_text()).get("skip", [])
    assert all(entry["reason"].strip() and entry["until"].strip() for entry in listed)
    found = Counter((name(path), test, how) for path in TESTS
                    for test, how in skips(path.read_text()))
    assert found == Counter((entry["file"], entry["test"], entry["how"]) for entry in listed)


@pytest.mark.parametrize(("source", "found"), [
    ("@pytest.mark.skip\ndef test_a(): pass", [("test_a", "skip")]),
    ("@pytest.mark.skipif(True, reason='r')\ndef test_a(): pass", [("test_a", "skipif")]),
    ("def test_a():\n    pytest.xfail('r')", [("test_a", "xfail")]),
    ("def test_a():\n    if x:\n        pytest.skip('r')", [("test_a", "skip")]),
    ("torch = pytest.importorskip('torch')", [("<module>", "importorskip")]),
    ("from pytest import skip", [("<module>", "skip")]),
    ("raise unittest.SkipTest", [("<module>", "SkipTest")]),
    ("x = [pytest.param(1, marks=pytest.mark.xfail)]", [("<module>", "xfail")]),
    ("def test_a():\n    records.skip()", []),
])
def test_skip_is_seen(source: str, found: list[tuple[str, str]]) -> None:
    assert list(skips(source)) == found


@pytest.mark.parametrize(("body", "code"),
                         [("assert True", 0), ("pytest.skip('unlisted')", 1),
                          ("pytest.xfail('unlisted')", 1)])
def test_run_with_an_unlisted_skip_is_red(tmp_path: Path, body: str, code: int) -> None:
    for file in ("conftest.py", "skips.toml"):
        (tmp_path / file).write_text((ROOT / "tests" / file).read_text())
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n\ndef test_it():\n    {body}\n")
    done = python("import pytest; raise SystemExit(pytest.main(['-p', 'no:cacheprovider', "
                  "'--rootdir', '.', '.']))", cwd=tmp_path)
    assert done.returncode == code, done.stdout
    assert ("SILENT SKIP" in done.stdout) == bool(code)
