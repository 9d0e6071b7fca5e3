"""What 0.2.0 wrote is read: its records, a manifest that a paper cites, scripts that read its JSON.

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
