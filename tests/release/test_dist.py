"""What `make release` wrote into dist/ is what is committed, and says so of itself; run by it
alone."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from depthlaw.ledger.verdicts import shipped_answers

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = f"depthlaw-{PROJECT['version']}"
INSTALLED = {"api": "depthlaw"} | {
    folder: f"depthlaw/{folder}" for folder in ("advisor", "theory", "empirics", "ledger")
}
# What building adds to the tree.
ADDED = re.compile(r"PKG-INFO|setup\.cfg|[^/]*\.egg-info/.*")


@pytest.fixture(scope="module")
def tree() -> dict[str, bytes]:
    """Every committed file."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return {name: (ROOT / name).read_bytes() for name in listed.split("\0") if name}


@pytest.fixture(scope="module")
def source() -> dict[str, bytes]:
    with tarfile.open(DIST / f"{NAME}.tar.gz") as packed:
        return {
            member.name.partition("/")[2]: file.read()
            for member in packed
            if (file := packed.extractfile(member))
        }


@pytest.fixture(scope="module")
def wheel() -> dict[str, bytes]:
    with zipfile.ZipFile(DIST / f"{NAME}-py3-none-any.whl") as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def test_answers_of_show_and_why_are_of_these_sources() -> None:
    head = gzip.decompress(shipped_answers.FILE.read_bytes()).partition(b"\n")[0].decode()
    assert head == shipped_answers.sources(), (
        "python -m depthlaw.ledger.verdicts.card writes them again"
    )


def test_dist_holds_one_source_one_wheel_and_one_sbom() -> None:
    ours = {f"{NAME}{end}" for end in (".tar.gz", "-py3-none-any.whl", ".cdx.json")}
    assert {path.name for path in DIST.iterdir()} - {"SHA256SUMS"} == ours


def test_the_source_distribution_is_the_committed_tree(
    source: dict[str, bytes], tree: dict[str, bytes]
) -> None:
    assert {name: data for name, data in source.items() if not ADDED.fullmatch(name)} == tree


def test_the_wheel_is_the_packages_of_the_committed_tree(
    wheel: dict[str, bytes], tree: dict[str, bytes]
) -> None:
    packages = {}
    for name, data in tree.items():
        folder, _, rest = name.partition("/")
        if folder in INSTALLED:
            packages[f"{INSTALLED[folder]}/{rest}"] = data
    assert {name: data for name, data in wheel.items() if ".dist-info/" not in name} == packages


def test_nothing_names_the_machine_that_built_it(
    source: dict[str, bytes], wheel: dict[str, bytes]
) -> None:
    home = re.compile(rb"/(home|Users)/\w+/|" + re.escape(bytes(ROOT)))
    named = {
        name
        for files in (source, wheel)
        for name, data in files.items()
        if home.search(data) and not name.endswith((".gz", ".woff2"))
    }
    assert named == {"tests/release/test_dist.py"}


def test_the_sbom_lists_every_locked_package_and_every_carried_script() -> None:
    text = (DIST / f"{NAME}.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bom = json.loads(text)
    assert bom["metadata"]["component"]["version"] == PROJECT["version"]
    listed = {(plain(part["name"]), part["version"]) for part in bom["components"]}
    lock = (ROOT / "requirements/lock.txt").read_text()
    locked = set(re.findall(r"^([\w.-]+)==(\S+) \\$", lock, re.MULTILINE))
    scripts = json.loads((ROOT / "requirements/vendored.json").read_text())
    vendored = {(script["name"], script["version"]) for script in scripts if script["in the wheel"]}
    assert len(locked) > 20
    assert listed - {("pandoc", version) for name, version in listed} == locked | vendored
    assert "pandoc" in {name for name, _ in listed}
    refs = [node["ref"] for node in bom["dependencies"]]
    assert len(refs) == len(set(refs)) == len(bom["components"]) + 1


def plain(name: str) -> str:
    """The name of a package as indices compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
