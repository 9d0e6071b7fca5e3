"""What the project costs stays within tests/budgets.toml, counted without a clock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from depthlaw.ledger.records.store import canonical
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.reference_ledger import by_run, shipped
from depthlaw.theory.claims.code_version import write_cache
from depthlaw.theory.claims.definition import DEVICE_OF, registry

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "budgets.toml"
BUDGETS = tomllib.loads(TABLE.read_text(encoding="utf-8"))
SOURCES = ("advisor", "theory", "empirics", "ledger", "api")
COMMANDS = [command for command in BUDGETS["modules"] if command != "never"]


def exceeded(name: str, counted: Mapping[str, float]) -> list[str]:
    """What is more than a table of the budgets allows, and how it is raised."""
    allowed = BUDGETS[name]
    return [
        f"{name} of {what}: {number:,.0f}, of which tests/budgets.toml allows {most:,}; raising it "
        "is a line in docs/decisions that says what it buys"
        for what, number in counted.items()
        if number > (most := allowed[what] if what in allowed else allowed["each"])
    ]


def lines(folder: Path) -> int:
    return sum(len(file.read_text("utf-8").splitlines()) for file in folder.rglob("*.py"))


def words(page: Path) -> int:
    """Those that somebody wrote, and numbers: no comments, no tables that records fill in."""
    text = re.sub(r"(?<=-->)\n\n(?:(?!<!--).)*<!--/-->", "", page.read_text("utf-8"), flags=re.S)
    return len(re.sub(r"<!--.*?-->", "", text, flags=re.S).split())


def pages() -> dict[str, Path]:
    """Every page that is written by hand, but decisions, which are never written again."""
    found = {}
    for file in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        name = file.relative_to(ROOT)
        other = {"decisions", "vendor", "CHANGELOG.md"} & set(name.parts)
        if not other and not any(part.startswith("_") for part in name.parts):
            found[name.as_posix()] = file
    return found


def test_lines_by_folder() -> None:
    counted = {folder: lines(ROOT / folder) for folder in (*SOURCES, "tests")}
    source = sum(counted[folder] for folder in SOURCES)
    assert exceeded("lines", counted | {"source": source}) == []


def test_words_of_each_page() -> None:
    counted = {name: words(file) for name, file in pages().items()}
    assert {"README.md", "docs/maintaining.md"} < counted.keys()
    assert exceeded("words", counted) == []
    assert BUDGETS["words"].keys() - {"each"} <= counted.keys(), "a page that is gone"


def test_claims_that_papers_cite() -> None:
    cited = sum(row["tier"] == "cited" for row in claims_index().values())
    assert exceeded("claims", {"cited": cited}) == []


def test_recorded_seconds_of_each_suite() -> None:
    reference, claims = by_run(shipped() or ()), registry()
    counted = {}
    for suite in BUDGETS["seconds"]:
        runs = plan(claims, suite, DEVICE_OF.get(suite, "cpu"))
        cases = (canonical(run.case and run.case.fields()) for run in runs)
        keys = [(r.claim.key, case, r.seed, r.control) for r, case in zip(runs, cases, strict=True)]
        found = [reference[key] for key in keys if key in reference]
        counted[suite] = sum(record.facts["timing"]["wall_s"] or 0 for record in found)
    assert counted["quick"] > 1
    assert exceeded("seconds", counted) == []


# The answers that come with depthlaw are made last before a release; until then a change of the
# code makes `show` and `why` judge anew, which is not what is counted here.
FRESH = """
from depthlaw.ledger.verdicts import shipped_answers
head = shipped_answers.gzip.decompress(shipped_answers.FILE.read_bytes()).partition(b"\\n")[0]
shipped_answers.sources = head.decode
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folders, with the list of claims, which is built once after a change of the code."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder))
        write_cache("index", claims_index())
    return folder


def loaded(code: str, home: Path) -> set[str]:
    """The modules of a fresh process that runs this code."""
    last = "import sys; sys.stdout = sys.stderr; print('loaded', *sys.modules)"
    environment = os.environ | {"XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{last}"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split()[1:])


def counts(modules: set[str]) -> tuple[int, set[str]]:
    """How many are this project's, and which are heavy."""
    ours = {name for name in modules if name.partition(".")[0] == "depthlaw"}
    return len(ours), modules & set(BUDGETS["modules"]["never"])


@pytest.mark.parametrize("command", COMMANDS)
def test_modules_that_a_command_loads(command: str, cache: Path) -> None:
    code = FRESH if command.startswith(("show", "why")) else ""
    code += "from depthlaw.ledger.cli.arguments import main\n"
    ours, heavy = counts(loaded(f"{code}assert main({command.split()!r}) == 0", cache))
    assert heavy == set()
    assert exceeded("modules", {command: ours}) == []


def test_what_costs_more_is_seen(cache: Path) -> None:
    """Negative controls: one line, word, claim, second, module more than is allowed."""
    for name in ("lines", "claims", "seconds", "modules", "words"):
        what, most = next((k, v) for k, v in BUDGETS[name].items() if isinstance(v, int))
        assert exceeded(name, {what: most}) == []
        (message,) = exceeded(name, {what: most + 1})
        assert message.startswith(f"{name} of {what}: {most + 1:,}, ")
    (message,) = exceeded("words", {"docs/new.md": BUDGETS["words"]["each"] + 1})
    assert "docs/new.md" in message
    ours, heavy = counts(loaded("import sympy, depthlaw.ledger.cli.arguments", cache))
    assert "sympy" in heavy
    assert ours > 0
