"""What 0.2.0 wrote is read: its records, a manifest that a paper cites, scripts that read its JSON;
and what was written for 0.5.0: a file of claims, scripts that read its JSON; and the first net.

`version_0_2_0/records.zip` is the folder, without its cache, that 0.2.0 left after `verify quick
--only hops/doubling`; `json_fields.json` holds, by command, the fields of what it printed.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.records.store import Store, decode, manifest
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.values import Case

HERE = Path(__file__).parent / "version_0_2_0"
CITED = "a855ca541f88b19ee55fa1e08a551dfa5482fcd8844bf5674ab72681f1906d8d"
FIELDS: dict[str, list[str]] = json.loads((HERE / "json_fields.json").read_text())
# What stands below these are names that a case, a machine or a question brings.
KEYED = {"case", "measured", "premises", "given", "optimiser", "question", "options"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with zipfile.ZipFile(HERE / "records.zip") as packed:
        packed.extractall(tmp_path / "records")
    return tmp_path / "records"


def test_records_are_read_and_say_what_is_measured_today(folder: Path) -> None:
    store = Store(folder, read_only=True)
    claim = registry()["hops/doubling"]
    inputs = [(record.inputs, decode(record.result)) for record in store]
    assert len(inputs) == 16
    compared = [
        claim.measured(Case(**of["case"]), of["seed"]) == value
        for of, value in inputs
        if not of.get("control")
    ]
    assert len(compared) >= 15
    assert all(compared)


def test_a_cited_manifest_verifies_and_a_changed_record_does_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert manifest(Store(folder, read_only=True))["hash"] == CITED
    assert main(["records", "verify", "--results", str(folder)]) == 0
    capsys.readouterr()
    file = next(path for path in folder.rglob("runs/*/*.json") if '"exact":"2"' in path.read_text())
    file.write_text(file.read_text().replace('"exact":"2"', '"exact":"3"'))
    assert main(["records", "verify", "--results", str(folder)]) == 1
    assert file.stem[:10] in capsys.readouterr().out


def _fields(data: Any, above: str = "") -> Iterator[str]:
    if isinstance(data, list):
        for entry in data:
            yield from _fields(entry, above + "[]")
    elif isinstance(data, dict):
        for name, value in data.items():
            path = f"{above}.{name}".lstrip(".")
            yield path
            if name not in KEYED:
                yield from _fields(value, path)


@pytest.mark.parametrize("command", FIELDS)
def test_every_json_field_of_then_is_there(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--results", str(folder)] if command.startswith(("verify", "records")) else []
    assert main([*command.split(), *place]) == 0
    printed = set(_fields(json.loads(capsys.readouterr().out)))
    assert not set(FIELDS[command]) - printed


# --- 0.5.0 ----------------------------------------------------------------------------------------

LATER = HERE.parent / "version_0_5_0"
LATER_FIELDS: dict[str, list[str]] = json.loads((LATER / "json_fields.json").read_text())
_OF_RECORDS = ("verify", "show", "why", "records")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `verify` leaves for `show`, `why` and `records`."""
    folder = tmp_path_factory.mktemp("later") / "records"
    assert main(["verify", "--only", "hops/doubling", "--results", str(folder), "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("command", LATER_FIELDS)
def test_a_script_that_reads_json_of_0_5_0_finds_every_field(
    command: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--results", str(records)] if command.split()[0] in _OF_RECORDS else []
    assert main([*command.split(), *place]) == 0
    printed = set(_fields(json.loads(capsys.readouterr().out)))
    assert not set(LATER_FIELDS[command]) - printed


def test_a_file_of_claims_of_0_5_0_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--claims", str(LATER / "walks.py"), "--results", str(tmp_path / "r")]
    assert main(["verify", *given, "--json"]) == 0
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert (claim["key"], claim["verdict"]) == ("walks/complete_graph", "HOLDS")
    assert main(["show", "walks/complete_graph", *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decided"] == claim["decided"] > 0


def test_what_0_5_0_took_and_is_gone_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tier of checks of one's own code, and the modules that were gone by then."""
    text = (LATER / "walks.py").read_text()
    changed = {
        'checks="the walks",\n    control=Control(': "checks",
        "supports='hops/none',\n    control=Control(": "supports 'hops/none'",
    }
    for new, said in changed.items():
        (tmp_path / "walks.py").write_text(text.replace("control=Control(", new, 1))
        assert main(["verify", "--claims", str(tmp_path / "walks.py")]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert said in line
    (tmp_path / "walks.py").write_text(text.replace("theory.claims import", "theory.claim import"))
    assert main(["verify", "--claims", str(tmp_path / "walks.py")]) == 2
    assert "since 0.3 it is depthlaw.theory.claims" in capsys.readouterr().err


def test_the_first_file_of_a_net_is_right_and_a_changed_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `tasks check` first read them, after 0.5.0, which had none."""
    assert main(["tasks", "check", str(LATER / "net.json"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["task"], printed["layers"], printed["wrong"]) == ("parity", 2, None)
    assert {"file", "parameters", "class", "words", "length", "table", "result"} <= set(printed)
    text = (LATER / "net.json").read_text()
    (tmp_path / "net.json").write_text(text.replace('"1": [1, 0', '"1": [0, 0', 1))
    assert main(["tasks", "check", str(tmp_path / "net.json"), "--json"]) == 1
