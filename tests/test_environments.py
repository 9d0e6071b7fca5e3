"""What each target of the Makefile runs is installed by what it depends on."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest

from depthlaw.theory.claims import definition as kernel

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOLDERS = {
    "api": "depthlaw",
    **{name: f"depthlaw.{name}" for name in ("advisor", "theory", "empirics", "ledger")},
}
# What is imported under another name than it is installed by, or comes with it at any time.
IMPORTED_AS = {
    "automata-lib": ["automata"],
    "axe-playwright-python": ["axe_playwright_python"],
    "cyclonedx-bom": ["cyclonedx"],
    "pypandoc_binary": ["pypandoc"],
    "python-flint": ["flint"],
    "pyyaml": ["yaml"],
    "rich": ["rich", "markdown_it"],
    "scikit-learn": ["sklearn"],
    "sphinx": ["sphinx", "docutils"],
    "sympy": ["sympy", "mpmath"],
    "typer": ["typer", "click"],
}
# The files that each target runs, besides every module that holds claims.
_TESTS = ["tests/*.py", *(f"tests/{folder}/*.py" for folder in FOLDERS if folder != "api")]
RUNS = {
    "verify": ["ledger/**/*.py"],
    "docs": ["ledger/publish/*.py", "docs/conf.py"],
    "test": _TESTS,
    "slow-test": [*_TESTS, "tests/portable/*.py"],
    "portable-test": [*_TESTS, "tests/portable/*.py", "benchmarks/latency_limits.py"],
    "wheel-test": [
        *("tests/arithmetics.py", "tests/conftest.py", "tests/test_packaging.py"),
        *("tests/test_python_api.py", "tests/ledger/conftest.py", "tests/ledger/faulty.py"),
        *("tests/ledger/test_cli.py", "tests/ledger/test_depth_command.py"),
    ],
    "oldest-test": [".ci/oldest.py"],
    "bench": ["benchmarks/test_*.py", "benchmarks/bench_*.py", "benchmarks/summary.py"],
    "site-test": ["tests/site/*.py"],
    "paper-test": ["tests/papers/*.py"],
    "prove": ["theory/formal/*.py"],
    "prove-mutants": ["tests/proofs/*.py"],
    "prove-test": ["theory/formal/*.py", "tests/proofs/*.py"],
    "transcripts": [
        *("ledger/publish/site/transcripts.py", "ledger/publish/site/filling.py"),
        "benchmarks/latency_limits.py",
    ],
    "reference": ["ledger/cli/*.py", "ledger/verdicts/*.py"],
    "release": [".ci/*.py", "tests/release/*.py"],
}


@cache
def source_of(module: str) -> Path | None:
    """The file of a module of the project; None for any other."""
    for folder, package in FOLDERS.items():
        if module == package or (module.startswith(f"{package}.") and folder != "api"):
            path = ROOT / folder / module.removeprefix(package).lstrip(".").replace(".", "/")
            files = path.with_suffix(".py"), path / "__init__.py"
            return next((file for file in files if file.is_file()), None)
    return None


def imports(nodes: list[ast.stmt], package: str, inner: bool) -> Iterator[str]:
    """What a module imports when it is loaded, and `inner`: also when its functions run; not for a
    type checker alone, nor where it can do without."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            base = resolve_name(name, package) if node.level else name
            yield base
            yield from (f"{base}.{each.name}" for each in node.names if base.startswith("depthlaw"))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from imports([*node.body, *node.orelse], package, inner)
        elif isinstance(node, ast.ClassDef | ast.With) or (
            inner and isinstance(node, ast.FunctionDef | ast.For)
        ):
            yield from imports(node.body, package, inner)


@cache
def loaded(path: Path, inner: bool) -> frozenset[str]:
    """The imports of a file, by module, without those that it is skipped without; `inner`: of its
    functions too."""
    parts = path.relative_to(ROOT).parent.parts
    package = ".".join((FOLDERS.get(parts[0], ""), *parts[1:])) if parts else ""
    text = path.read_text()
    skipped = set(re.findall(r"importorskip\(\"(\w+)", text))
    found = imports(ast.parse(text).body, package, inner)
    return frozenset(each for each in found if each.partition(".")[0] not in skipped)


def libraries(files: list[Path]) -> dict[str, Path]:
    """The libraries that files import, themselves or through the project, with who does. What is
    no part of the project, such as a test, runs whole."""
    found: dict[str, Path] = {}
    todo, seen = list(files), set(files)
    beside = {each.stem for each in files}
    while todo:
        path = todo.pop()
        for module in loaded(path, path.relative_to(ROOT).parts[0] in ("tests", "benchmarks")):
            # A package is loaded before what stands in it.
            parts = module.split(".")
            for inner in [".".join(parts[:n]) for n in range(1, len(parts) + 1)]:
                own = source_of(inner)
                if own is not None and own not in seen:
                    seen.add(own)
                    todo.append(own)
            if parts[0] not in {"depthlaw", *sys.stdlib_module_names, *beside}:
                found.setdefault(parts[0], path)
    return found


def installed(extras: list[str]) -> set[str]:
    """The libraries that extras of this project bring, by the names of their modules."""
    found: set[str] = set()
    todo = declared(extras)
    while todo:
        name, of_it = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", todo.pop()).groups()
        if name == "depthlaw":
            todo += of_extras(of_it.split(","))
        else:
            found |= modules_of(name)
    return found


def of_extras(extras: list[str]) -> list[str]:
    return [each for extra in extras for each in PROJECT["optional-dependencies"][extra]]


def declared(extras: list[str]) -> list[str]:
    """What the project asks for with some extras."""
    return [*PROJECT["dependencies"], *of_extras(extras)]


def modules_of(name: str) -> set[str]:
    """What a package is imported as."""
    return set(IMPORTED_AS.get(name, [name.replace("-", "_")]))


def extras_of(target: str) -> list[str]:
    """The extras in the environments that a target of the Makefile depends on."""
    needed = re.search(rf"^{target}: (.*)$", MAKEFILE, re.M)[1].split()
    found = []
    for each in needed:
        rule = re.search(rf"^{re.escape(each)}:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)
        found += re.findall(r"'\.\[(\w+)\]'", rule[1]) if rule else []
        before = re.search(rf"^{re.escape(each)}: (.*)$", MAKEFILE, re.M)
        if each.startswith("$") and before and "$(VENV)/.dev" in before[1].split():
            found.append("dev")
    return found


@pytest.mark.parametrize("target", RUNS)
def test_a_target_installs_what_it_imports(target: str) -> None:
    files = [path for pattern in RUNS[target] for path in sorted(ROOT.glob(pattern))]
    assert files
    claims = [path for module, _ in kernel._modules() if (path := source_of(module))]
    assert claims
    there, found = installed(extras_of(target)), libraries([*files, *claims])
    assert {name: str(path) for name, path in found.items() if name not in there} == {}


def unused(dependencies: list[str], imported: set[str]) -> set[str]:
    """The dependencies of which nothing is imported, by name."""
    names = {re.match(r"[\w-]+", each)[0] for each in dependencies} - {"depthlaw"}
    return {name for name in names if not imported & modules_of(name)}


def test_what_the_package_imports_is_installed_and_what_is_installed_is_imported() -> None:
    """Both directions, for every user and for the extras that the package itself asks for."""
    extras = ["empirics", "ray", "plot", "appendix", "hf"]
    imported = set[str]()
    for path in (path for each in FOLDERS for path in ROOT.glob(f"{each}/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).partition(".")[0])
    imported -= {"depthlaw", *sys.stdlib_module_names}
    assert {"numpy", "torch", "ray", "typst", "transformers"} < imported
    assert imported - installed(extras) == set()
    assert unused(declared(extras), imported) == set()
    assert unused([*declared(extras), "scikit-learn>=1.4"], imported) == {"scikit-learn"}


def recipe(target: str) -> str:
    """The commands of a target, and of the script that it starts."""
    lines = r"((?:(?:\t|if|else|end).*\n)*)"
    rule = re.search(rf"^{re.escape(target)}:.*\n{lines}", MAKEFILE, re.M)
    return rule[1] + "".join(
        (ROOT / script).read_text() for script in re.findall(r" (\.ci/\w+)\n", rule[1])
    )


def test_a_target_installs_the_tools_that_it_starts() -> None:
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)", MAKEFILE, re.M)[1]
    targets = phony.replace("\\\n", " ").split()
    started = {
        target: set(re.findall(r"(?:\$\(BIN\)|\"\$BIN\")/([\w-]+)", recipe(target)))
        - {"python", "pip", "depthlaw"}
        for target in targets
    }
    assert started["lock"] == {"uv"}
    assert started["release"] == {"twine", "pytest"}
    assert started["test"] == started["site-test"] == {"pytest"}
    assert {
        target: tools
        for target, tools in started.items()
        if tools and not tools <= installed(extras_of(target))
    } == {}
    # What starts Python files of the project or of the tests says which.
    starting = re.compile(r"(BIN\)|bin|\$BIN\")/(pytest|python|depthlaw)")
    assert {target for target in targets if starting.search(recipe(target))} <= {*RUNS}


def test_pages_need_no_torch() -> None:
    """What the pages load by name, which no import statement says."""
    code = """
import sys
from depthlaw.ledger.publish.site import page_blocks as measured
for library in ("torch", "tokenizers", "safetensors", "transformers"):
    sys.modules[library] = None
from depthlaw.empirics.exercises.exercise import exercises
assert len(exercises()) == 5
assert "8 vertices, D = 7" in measured.settings()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
