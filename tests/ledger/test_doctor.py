"""`depthlaw doctor` is content with what is in order, and names what is not."""

import sys
from importlib.metadata import requires

import pytest

from depthlaw.ledger.cli import doctor_command as module
from depthlaw.ledger.records import environment
from depthlaw.ledger.records.environment import installing
from depthlaw.ledger.records.store import Record, Store, encode
from depthlaw.ledger.verdicts import reference_ledger
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.values import Exact


@pytest.fixture
def own(tmp_path, monkeypatch):
    for name in ("DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setattr(module, "_devices", lambda load: module.Check("GPU", "not asked"))
    store = Store(tmp_path / "r")
    reference = next(iter(shipped()))
    store.put(reference)
    return tmp_path / "r", reference


@pytest.fixture
def checks(depthlaw):
    def run(*words):
        answer = depthlaw("doctor --json", *words)
        assert answer.data["healthy"] == (answer.code == 0)
        return answer.code, {check["name"]: check for check in answer.data["checks"]}

    return run


def test_a_sound_installation_has_no_problem(own, checks, depthlaw):
    code, found = checks("--results", own[0])
    assert code == 0, found
    assert found["your records"]["says"] == f"1 record in {own[0]} verify"
    assert found["reference"]["says"].startswith(f"{len(shipped())} records, sealed")
    assert "agreement" not in found
    assert "claims" not in found
    base = [needed for needed in requires("depthlaw") or () if "extra ==" not in needed]
    assert found["base"]["says"].count(", ") == len(base) - 1 > 5
    # What the extra asks of another one, too.
    assert "matplotlib" in found["appendix"]["says"]
    *lines, last = depthlaw("doctor --results", own[0]).out.splitlines()
    assert last == "no problem found"
    assert any(line.startswith("  ok      reference     ") for line in lines)


def test_only_what_is_asked_to_load_compares_values_and_claims(own, checks):
    code, found = checks("--load", "--results", own[0])
    assert code == 0, found
    assert found["agreement"]["says"].startswith("reference: 1 of 1 runs compared, all equal")
    assert found["claims"]["says"].startswith(f"{len(registry())} claims of ")


def test_a_damaged_reference_is_a_problem(own, checks, monkeypatch, tmp_path):
    damaged = tmp_path / "reference.jsonl.gz"
    damaged.write_bytes(reference_ledger.SHIPPED.read_bytes()[:-500])
    monkeypatch.setattr(reference_ledger, "SHIPPED", damaged)
    code, found = checks("--results", own[0])
    assert (code, found["reference"]["state"]) == (1, "PROBLEM")
    damaged.unlink()
    assert checks("--results", own[0])[0] == 1


def test_a_damaged_record_is_a_problem(own, checks, depthlaw):
    folder, reference = own
    file = Store(folder, read_only=True).file_of(reference.id)
    file.write_bytes(file.read_bytes()[:-20])
    assert checks("--results", folder)[0] == 1
    code, out, _ = depthlaw("doctor --results", folder)
    assert code == 1
    assert "PROBLEM your records  1 file in" in out
    assert out.endswith("1 problem found\n")
    assert file.exists()


def test_another_result_than_the_reference_is_a_problem(own, checks):
    folder, _ = own
    other = next(r for r in shipped() if r.inputs["claim"] == "hops/doubling")
    Store(folder).put(Record(other.inputs, encode(Exact(10**9)), other.facts))
    code, found = checks("--load", "--results", folder)
    assert (code, found["agreement"]["state"]) == (1, "PROBLEM")
    assert found["agreement"]["says"].endswith("1 equal, 1 DIFFER")


def test_packages_that_lack_or_do_not_fit_are_named(own, checks, monkeypatch):
    known = {"numpy": "1.0"}

    def version(name):
        if name == "torch":
            raise module.PackageNotFoundError(name)
        return known.get(name) or real(name)

    real = module.version
    monkeypatch.setattr(module, "version", version)
    code, found = checks("--results", own[0])
    assert (code, found["base"]["says"]) == (1, "numpy is 1.0, asked for is >=1.26")
    assert found["empirics"]["state"] == "note"
    assert found["empirics"]["remedy"] == installing("empirics")


def test_from_a_checkout_pip_is_not_sent_to_an_index(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "_ROOT", tmp_path)
    assert installing("hf") == "pip install 'depthlaw[hf]'"
    (tmp_path / "pyproject.toml").touch()
    assert installing("hf") == f"pip install '{tmp_path}[hf]'"
    monkeypatch.chdir(tmp_path)
    assert installing("hf") == "pip install '.[hf]'"


def test_pytorch_is_loaded_only_where_there_is_a_driver(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)  # to import it fails
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    monkeypatch.setattr(module, "_DRIVERS", (str(tmp_path / "driver"),))
    assert module._devices(True).says == "none: no driver of NVIDIA's or AMD's was found"
    (tmp_path / "driver").touch()
    assert module._devices(True).says == "not looked for: PyTorch is not installed"
    assert module._devices(False).says.startswith("a driver was found")
