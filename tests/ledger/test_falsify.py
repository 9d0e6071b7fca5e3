"""The falsifier finds what is false, reports its slack on what is true, and its certificates are checked from the file alone."""
import json
from pathlib import Path

import pytest

from depthlaw.ledger.budget import UsageError
from depthlaw.ledger.cli import main
from depthlaw.ledger.falsify import falsify, recheck, store, weaken
from depthlaw.ledger.suite import load_claims
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.search import searches

CUBIC = "rank_collapse/one_layer_cubic_v1"


def found(key: str, minutes: float, *changes: str):
    return falsify(load_claims()[key], minutes, list(changes), lambda line: None)


@pytest.mark.parametrize("key", [CUBIC, "rank_collapse/one_layer_cubic", "rank_collapse/softmax_perturbation"])
def test_a_weakened_constant_is_refuted_and_the_certificate_stands(key, tmp_path):
    constant = "2=1.9" if "softmax" in key else "4=0.4"
    result = found(key, 1, constant)
    assert result.decision.verdict is Verdict.FAILS
    assert result.decision.certain
    path = store(result, tmp_path)
    _, steps = recheck(path)
    assert len(steps) == 4
    assert all(step.holds for step in steps)


def test_the_true_constant_is_not_refuted_and_its_slack_is_the_known_supremum():
    """Two tokens of one coordinate give r' = tanh(w r^2) r, so the ratio to the bound with constant 4 tends to 1/8 ... from below."""
    result = found(CUBIC, 0.05)
    assert result.decision.verdict is Verdict.HOLDS
    assert result.tried > 100
    assert 8 <= 10**result.decision.slack < 8.2


def test_a_tampered_certificate_does_not_stand(tmp_path):
    path = store(found(CUBIC, 1, "4=0.4"), tmp_path)
    good = json.loads(path.read_text())

    def broken_steps(**changes) -> list[str]:
        path.write_text(json.dumps(good | changes))
        return [s.says for s in recheck(path)[1] if not s.holds]

    assert broken_steps() == []
    assert any("value measured" in s for s in broken_steps(point=["1", *good["point"][1:]], measured={"exact": "1"}))
    assert any("statement" in s for s in broken_steps(weakened=[["4", "1/2"]]))
    assert any("case" in s for s in broken_steps(case=good["case"] | {"tokens": 4}))
    assert any("judged" in s for s in broken_steps(verdict="HOLDS"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "falsification"}', '{"kind": "unheard of"}', "[" * 5000])
def test_what_is_no_certificate_is_one_line(text, tmp_path, capsys):
    path = tmp_path / "c.json"
    path.write_text(text)
    assert main(["recheck", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert main(["recheck", str(tmp_path / "absent.json")]) == 2


def test_a_claim_without_a_search_varies_the_seed():
    assert searches("separation_rank/degree") == ()
    result = found("separation_rank/degree", 0.02)
    assert result.decision.verdict is Verdict.HOLDS
    assert "seed" in result.where
    assert found("separation_rank/degree", 1, "3=2").decision.verdict is Verdict.FAILS


@pytest.mark.parametrize("change", ["4", "4=x", "=", "7=6", "4=1/0"])
def test_changes_that_make_no_sense(change):
    with pytest.raises(UsageError):
        weaken(load_claims()[CUBIC], [change])


def test_command_line(tmp_path, capsys):
    results = ["--results", str(tmp_path / "r")]
    assert main(["falsify", CUBIC, "--minutes", "0.5", "--weaken", "4=0.4", *results, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert main(["recheck", report["certificate"]]) == 0
    assert "stands" in capsys.readouterr().out
    Path(report["certificate"]).write_text(json.dumps(json.loads(Path(report["certificate"]).read_text()) | {"verdict": "HOLDS"}))
    assert main(["recheck", report["certificate"]]) == 1
    assert main(["falsify", CUBIC, "--minutes", "-1", *results]) == 2
    assert main(["falsify", "nothing", *results]) == 2
