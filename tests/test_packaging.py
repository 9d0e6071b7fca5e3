"""The wheel holds the tree, the version is one, and the base installation stays light."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("api", "advisor", "theory", "empirics", "ledger")
INSTALLED = {"api": "depthlaw"} | {folder: f"depthlaw/{folder}" for folder in FOLDERS[1:]}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = "import setuptools.build_meta as backend; backend.build_wheel('.')"


def copy_of_the_tree(target: Path) -> Path:
    """What a wheel is built from, without anything an earlier build left behind."""
    target.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    return target


def expected_contents(tree: Path) -> dict[str, bytes]:
    """Every file of the folders under its installed name: api is the package depthlaw itself."""
    return {
        f"{INSTALLED[folder]}/{name}": content
        for folder in FOLDERS
        for name, content in files_below(tree / folder).items()
    }


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file by its path in the folder, but for what Python compiles."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def differing(some: dict[str, bytes], others: dict[str, bytes]) -> set[str]:
    """The files that only one of the two has, or that differ in a byte."""
    return {name for name in some.keys() | others.keys() if some.get(name) != others.get(name)}


def build(tree: Path) -> zipfile.ZipFile:
    """The wheel of a tree, built with warnings as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BUILD], cwd=tree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tree.glob("*.whl")
    return zipfile.ZipFile(wheel)


def contents(wheel: zipfile.ZipFile) -> dict[str, bytes]:
    """What the wheel installs, without its metadata."""
    return {name: wheel.read(name) for name in wheel.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    with build(copy_of_the_tree(tmp_path_factory.mktemp("wheel") / "tree")) as built:
        yield built


def metadata(wheel: zipfile.ZipFile, name: str) -> str:
    """A file of the wheel's dist-info folder."""
    (entry,) = (entry for entry in wheel.namelist() if entry.endswith(f".dist-info/{name}"))
    return wheel.read(entry).decode()


def test_wheel_holds_every_module_and_data_file_byte_for_byte(wheel: zipfile.ZipFile) -> None:
    assert differing(contents(wheel), expected_contents(ROOT)) == set()


def test_comparison_notices_one_changed_byte(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path / "tree")
    assert differing(contents(wheel), expected_contents(tree)) == set()
    name = "theory/bibliography.bib"
    changed = tree / name
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    assert differing(contents(wheel), expected_contents(tree)) == {f"depthlaw/{name}"}


@pytest.mark.parametrize("folder", FOLDERS[1:])
def test_what_is_imported_here_is_the_tree_byte_for_byte(folder: str) -> None:
    """In the development environment it is the tree itself; in that of `make wheel-test` it is the
    wheel."""
    (installed,) = import_module(f"depthlaw.{folder}").__path__
    assert differing(files_below(Path(installed)), files_below(ROOT / folder)) == set()


def test_comparison_notices_an_unlisted_package_and_an_unlisted_data_file(tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path / "tree")
    (tree / "empirics" / "unlisted").mkdir()
    (tree / "empirics" / "unlisted" / "__init__.py").touch()
    (tree / "theory" / "table.unlisted").touch()
    # An undeclared package only draws a warning from setuptools; here it must not hide behind one.
    missing = {"depthlaw/empirics/unlisted/__init__.py", "depthlaw/theory/table.unlisted"}
    expected = expected_contents(tree)
    with build(tree) as built:
        assert differing(expected, contents(built)) == missing


def test_depthlaw_is_a_package_of_typed_packages(wheel: zipfile.ZipFile) -> None:
    names = set(contents(wheel))
    at_top = {f"depthlaw/{name}" for name in ("__init__.py", "__main__.py", "py.typed")}
    assert {name for name in names if name.count("/") == 1} == at_top
    assert {f"depthlaw/{folder}/py.typed" for folder in FOLDERS[1:]} <= names


def test_the_wheel_works_as_module_and_as_library(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpacked elsewhere and in front of everything else: the package is found there, not in the
    tree."""
    wheel.extractall(tmp_path)
    code = (
        "import depthlaw; print(depthlaw.__file__, depthlaw.__version__, "
        "depthlaw.recommend('1.3B').floor.layers)"
    )
    for arguments, said in (
        (["-c", code], f"{tmp_path / 'depthlaw' / '__init__.py'} {PROJECT['version']} 8"),
        (["-m", "depthlaw", "--version"], f"depthlaw {PROJECT['version']}"),
    ):
        how = {"cwd": tmp_path, "env": {"PYTHONPATH": str(tmp_path)}}
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **how)
        assert done.stdout.strip() == said, done.stderr


def test_wheel_carries_the_licences_and_the_command(wheel: zipfile.ZipFile) -> None:
    for name in ("LICENSE", "ledger/publish/appendix/vendor/katex/LICENSE"):
        assert metadata(wheel, f"licenses/{name}") == (ROOT / name).read_text()
    assert metadata(wheel, "METADATA").count("\nLicense-Expression: Apache-2.0 AND MIT\n") == 1
    assert "depthlaw = depthlaw.ledger.cli.arguments:main" in metadata(wheel, "entry_points.txt")


def test_base_installation_is_light(wheel: zipfile.ZipFile) -> None:
    required = Parser().parsestr(metadata(wheel, "METADATA")).get_all("Requires-Dist", [])
    base = {re.split(r"[^\w-]", line)[0] for line in required if "extra ==" not in line}
    assert "numpy" in base
    assert not {"torch", "matplotlib", "jinja2"} & base
    assert any(line.startswith("torch") and 'extra == "empirics"' in line for line in required)
