"""What a release promises beside the code: locks that fit the ranges, a workflow that is the gate,
scripts of others with their version and licence."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from depthlaw.ledger.publish.appendix.provenance import DATE

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [
    line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.fullmatch(r".*:: 3\.\d+", line)
]
VENDORED = json.loads((ROOT / "requirements/vendored.json").read_text())
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text()) for path in ROOT.glob(".github/workflows/*.yml")
}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def locked(name: str) -> dict[str, Version]:
    """The versions of a lock file by package; every one has a hash."""
    found = {}
    for entry in re.split(r"\n(?=\S)", (ROOT / "requirements" / name).read_text()):
        if not entry.startswith("#"):
            package, version = re.match(r"([\w.-]+)==(\S+)", entry).groups()
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), package
            found[canonicalize_name(package)] = Version(version)
    return found


def asked(*extras: str) -> list[Requirement]:
    """What the project asks for with some extras, those of the extras included."""
    found = [Requirement(line) for line in PROJECT["dependencies"]]
    for extra in extras:
        for line in map(Requirement, PROJECT["optional-dependencies"][extra]):
            found += asked(*line.extras) if line.name == "depthlaw" else [line]
    return found


@pytest.mark.parametrize(
    ("file", "extras"), [("lock.txt", ("appendix",)), ("lock-dev.txt", ("dev", "site"))]
)
def test_every_range_is_locked_to_a_version_in_it(file: str, extras: tuple[str, ...]) -> None:
    versions = locked(file)
    needs = asked(*extras)
    assert len(needs) >= 12
    for need in needs:
        assert versions[canonicalize_name(need.name)] in need.specifier, need


def test_both_locks_have_the_same_versions() -> None:
    small, large = locked("lock.txt"), locked("lock-dev.txt")
    differing = {name for name, version in small.items() if large.get(name) != version}
    assert differing <= {"colorama"}, "but for what Windows alone needs"


def test_the_small_lock_has_no_torch_and_the_large_one_that_for_cpus() -> None:
    assert "torch" not in locked("lock.txt")
    large = locked("lock-dev.txt")
    assert large["torch"].local == "cpu"
    assert not [name for name in large if name.startswith("nvidia")]


def test_the_workflow_is_the_gate_on_every_python() -> None:
    workflow = WORKFLOWS["gate"]
    (job,) = workflow["jobs"].values()
    assert job["strategy"]["matrix"] == {"python": PYTHONS}
    commands = [step["run"] for step in job["steps"] if "run" in step]
    installing, gate = commands
    assert re.fullmatch(r"sudo apt-get update && sudo apt-get install [-\w ]+", installing)
    assert gate == ".ci/run"
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    assert workflow["permissions"] == {"contents": "read"}


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def unsafe(workflow: dict[str, Any]) -> list[str]:
    """Commands that nobody could run here, or in which a name of the forge is code, and actions
    that are not GitHub's own at a major version."""
    found = []
    for step in steps(workflow):
        if run := step.get("run"):
            target = re.fullmatch(r"make ([a-z-]+)", run)
            script = re.fullmatch(r"\.ci/([a-z]+)(?: \"\$[A-Z]+\"| --[a-z]+)*", run)
            there = script and (ROOT / ".ci" / script[1]).stat().st_mode & 0o111
            if not (target and target[1] in TARGETS) and not there:
                found.append(run)
        elif not re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]):
            found.append(step["uses"])
        elif "checkout" in step["uses"] and step["with"]["persist-credentials"] is not False:
            found.append("keeps its credentials")
    return found


def test_workflows_run_what_anyone_can_run() -> None:
    assert WORKFLOWS.keys() == {"gate", "release", "site"}
    for name in ("release", "site"):
        assert unsafe(WORKFLOWS[name]) == []
    # The same action has the same version in all.
    used = {
        step["uses"]
        for workflow in WORKFLOWS.values()
        for step in steps(workflow)
        if "uses" in step
    }
    assert len({action.partition("@")[0] for action in used}) == len(used)
    wrong = [
        {"run": "make no-such-target"},
        {"run": "make docs; curl x"},
        {"run": ".ci/attach ${{ github.ref_name }}"},
        {"uses": "somebody/action@v1"},
        {"uses": "actions/checkout@main"},
        {"uses": "actions/checkout@v4", "with": {"persist-credentials": True}},
    ]
    assert len(unsafe({"jobs": {"job": {"steps": wrong}}})) == len(wrong)


def test_workflows_may_write_what_they_publish_and_nothing_else() -> None:
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    allowed = {
        (name, job): right
        for name, workflow in WORKFLOWS.items()
        for job, is_ in workflow["jobs"].items()
        if (right := {k for k, v in is_.get("permissions", {}).items() if v == "write"})
    }
    assert allowed == {
        ("site", "deploy"): {"pages", "id-token"},
        ("release", "release"): {"contents"},
    }
    # YAML reads `on` as true.
    assert WORKFLOWS["site"][True] == {"push": {"branches": ["main"]}}
    assert WORKFLOWS["release"][True] == {"push": {"tags": ["v*"]}}


def commands(name: str) -> list[str]:
    return [step["run"].partition(' "')[0] for step in steps(WORKFLOWS[name]) if "run" in step]


def test_the_site_and_the_release_have_the_address_of_the_repository() -> None:
    assert commands("site") == [".ci/address", "make docs"]
    release = [".ci/address", "make docs", ".ci/address", "make release", ".ci/attach"]
    assert commands("release") == release
    for name in ("site", "release"):
        told = [s["env"] for s in steps(WORKFLOWS[name]) if ".ci/address" in s.get("run", "")]
        for facts in told:
            assert facts == {
                "SITE": "${{ steps.pages.outputs.base_url }}",
                "REPOSITORY": "${{ github.server_url }}/${{ github.repository }}",
            }


def test_a_release_carries_wheel_source_sbom_and_site(tmp_path: Path) -> None:
    version = PROJECT["version"]
    built = [f"depthlaw-{version}{end}" for end in (".tar.gz", "-py3-none-any.whl", ".cdx.json")]
    for folder in (".ci", "dist", "docs/_site", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    script = shutil.copy(ROOT / ".ci/attach", tmp_path / ".ci")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "docs/_site/index.html").write_text("page")
    for name in built:
        (tmp_path / "dist" / name).write_text(name)
    (tmp_path / "dist/other").write_text("")
    # A release that is not there yet; what is uploaded is kept.
    gh = tmp_path / "bin/gh"
    gh.write_text(
        f'#!/bin/sh\necho "$2 $3" >>{tmp_path}/said\ntest "$2" != view || exit 1\n'
        f'test "$2" != upload || cp $(dirname "$4")/* {tmp_path}/bin\n'
    )
    gh.chmod(0o755)
    facts = {"PATH": f"{gh.parent}:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": "0"}

    def attached(tag: str) -> int:
        return subprocess.run([script, tag], env=facts, capture_output=True).returncode

    assert attached("v0.0.0") == 2
    assert not (tmp_path / "said").exists()
    assert attached(f"v{version}") == 0
    told = (tmp_path / "said").read_text().splitlines()
    assert told == [f"{word} v{version}" for word in ("view", "create", "upload")]
    site = f"depthlaw-{version}-site.tar.gz"
    assert {path.name for path in gh.parent.iterdir()} == {*built, site, "SHA256SUMS", "gh"}
    sums = (gh.parent / "SHA256SUMS").read_text().splitlines()
    assert {line.split()[1] for line in sums} == {*built, site}
    with tarfile.open(gh.parent / site) as packed:
        assert "./index.html" in packed.getnames()


def test_pythons_are_those_that_are_promised() -> None:
    assert len(PYTHONS) >= 3
    assert all(SpecifierSet(PROJECT["requires-python"]).contains(f"{name}.0") for name in PYTHONS)
    assert not SpecifierSet(PROJECT["requires-python"]).contains("3.10.99")


def test_every_step_of_the_gate_is_a_target_of_make() -> None:
    run = re.search(r"for step in (.*); do", (ROOT / ".ci/run").read_text())[1].split()
    parts = "portable slow wheel oldest site paper prove"
    known = {"lint", "types", "test", *(f"{part}-test" for part in parts.split())}
    assert known == set(run) <= TARGETS


def test_every_script_of_others_is_listed_with_its_version_and_licence() -> None:
    there = {
        path.relative_to(ROOT).as_posix()
        for folder in ("ledger", "docs")
        for path in (ROOT / folder).rglob("*.min.js")
        if not {"_site", "_build", "auto-render.min.js"} & {*path.parts}
    }
    there |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/explorer/vendor/*.js")}
    assert {f"{entry['folder']}/{entry['main']}" for entry in VENDORED} == there
    for entry in VENDORED:
        folder = ROOT / entry["folder"]
        assert entry["version"] in (folder / entry["main"]).read_text(encoding="utf-8")
        texts = [path.read_text() for path in folder.glob("*LICENSE")]
        said = entry["license"], "Permission to use, copy, modify"
        assert any(words in text for text in texts for words in said)


def test_every_file_of_others_is_the_one_that_was_taken() -> None:
    """No byte differs, none is missing, and beside them lie only our notes on their origin."""
    listed = {
        f"{entry['folder']}/{name}": digest
        for entry in VENDORED
        for name, digest in entry["sha256"].items()
    }
    folders = {ROOT / entry["folder"] for entry in VENDORED}
    there = {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".md"
    }
    assert there == listed
    assert len(listed) >= 28


def test_the_licence_names_those_of_what_the_wheel_carries() -> None:
    carried = [entry for entry in VENDORED if entry["in the wheel"]]
    licences = sorted({entry["license"] for entry in carried})
    assert PROJECT["license"].split(" AND ") == ["Apache-2.0", *licences]
    files = {path for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)}
    folders = [ROOT, *(ROOT / entry["folder"] for entry in carried)]
    assert files == {folder / "LICENSE" for folder in folders}


def test_version_and_day_of_the_release_are_one() -> None:
    """In the change log, the citation of the software, and every citation of a ledger."""
    version, day = re.search(
        r"^## \[(\d[\d.]*)\] - (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    ).groups()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == version == cited["version"]
    assert str(cited["date-released"]) == DATE
    assert day in (DATE, "Unreleased")
