"""The advisor: intervals instead of averages, a source for every number, 80 columns, a light start, and one line for bad input."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.ledger import advice
from depthlaw.ledger.budget import UsageError
from depthlaw.ledger.cli import main
from depthlaw.theory import depth_choice as rules

HEAVY = ["flint", "matplotlib", "networkx", "numpy", "rich", "scipy", "sympy", "torch"]
BUDGETS = ["1K", "100K", "85M", "350M", "1.3B", "7e9", "175B", "1T", "1000T"]
TASKS = [["--task", "connectivity", "--diameter", "64"], ["--task", "hops", "--hops", "5"]]
BIBLIOGRAPHY = set(re.findall(r"^@\w+\{([^,]+),", (files("depthlaw.theory") / "bibliography.bib").read_text(), re.M))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a fresh interpreter, piped."""
    clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
    return subprocess.run([sys.executable, "-m", "depthlaw.ledger.cli", *arguments], capture_output=True, text=True, env=clean, timeout=60)


each_question = pytest.mark.parametrize(("ask", "value"), [
    *((advice.for_budget, n) for n in (10**3, 10**5, 10**8, 1_300_000_000, 7 * 10**9, 10**12, 10**15)),
    *((advice.for_connectivity, diameter) for diameter in (0, 1, 64, 10**15)),
    *((advice.for_hops, hops) for hops in (1, 5, 16, 10**15)),
])


# --- what is said -------------------------------------------------------------------------------------------------------------


def test_interval_for_1_3b_and_whose_number_is_at_each_end() -> None:
    said = advice.for_budget(1_300_000_000)
    assert said.headline == "Recommended minimum depth: 8 to 42 layers"
    assert (said.low.source.split(",")[0], said.high.source.split(",")[0]) == ("levine2020", "bigscience")
    assert {r.meaning: r.layers for r in said.recommendations if r.meaning in ("maximum", "default")} == {"maximum": 18, "default": 30}
    assert sorted(r.layers for r in said.recommendations if r.meaning == "optimum") == [42, 92]
    assert any("Contradiction" in remark for remark in said.remarks)


@given(st.integers(10**3, 10**15))
def test_ends_are_numbers_of_single_sources_and_nothing_is_averaged(parameters: int) -> None:
    said = advice.for_budget(parameters)
    minima = sorted([rules.threshold_layers(parameters), max(1, round(rules.transition_depth(parameters)))])
    assert [said.low.layers, said.high.layers] == minima
    assert all(r.layers >= 1 and abs(r.layers - r.depth) <= 1 for r in said.recommendations)
    assert [r.layers for r in said.recommendations] == sorted(r.layers for r in said.recommendations)


@each_question
def test_every_number_has_source_reading_regime_and_certainty(ask: Callable[[int], advice.Advice], value: int) -> None:
    for r in ask(value).recommendations:
        assert r.source.split(",")[0] in BIBLIOGRAPHY
        assert re.search("printed|reported|recalled|derived|seen", r.reading)
        assert min(len(r.regime), len(r.certainty), len(r.rule)) > 10
        if r.reading == "recalled":
            assert "check against the paper" in r.certainty


@each_question
def test_text_is_plain_and_fits_80_columns(ask: Callable[[int], advice.Advice], value: int) -> None:
    said = ask(value)
    text = said.as_text()
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    assert all(str(r.layers) in text for r in said.recommendations)
    assert said.headline in text


def test_extrapolation_is_said_where_it_happens() -> None:
    assert "EXTRAPOLATED" in advice.for_budget(7 * 10**9).as_text()
    assert "EXTRAPOLATED" not in advice.for_budget(5 * 10**8).as_text()


def test_models_near_the_budget_are_shown_as_a_range_or_named_missing() -> None:
    built = next(r for r in advice.for_budget(1_300_000_000).recommendations if r.meaning == "built")
    assert built.rule.startswith("28 dense decoders within a factor 2 of the budget: 16 (OLMo-1B) to 54 (MobileLLM-1.5B) layers")
    assert "No dense decoder" in advice.for_budget(10**14).as_text()


def test_tasks_use_the_theory() -> None:
    assert [advice.for_connectivity(d).low.layers for d in (1, 3, 4, 81, 82)] == [0, 1, 2, 4, 5]
    assert advice.for_connectivity(64).high.layers == 18 + 2 * 7
    assert [(advice.for_hops(k).low.layers, advice.for_hops(k).high.layers) for k in (1, 2, 3, 4, 5, 16)] == [
        (2, 2), (3, 3), (3, 4), (4, 4), (4, 5), (6, 6)]


@pytest.mark.parametrize(("arguments", "why"), [
    ((None, None, None, None), "nothing to answer"), ((None, "sorting", None, None), "unknown task 'sorting'"),
    ((None, "", None, None), "unknown task"), ((None, "hops", None, None), "needs --hops"),
    ((None, "connectivity", None, None), "needs --diameter"), ((None, "connectivity", "64", "3"), "--hops belongs to the task hops"),
    (("1B", None, "64", None), "--diameter belongs"), ((None, "connectivity", "-1", None), "whole number from 0"),
    ((None, "hops", None, "0"), "whole number from 1"), (("-1B", "hops", None, "3"), "negative"),
])
def test_what_is_missing_or_wrong_is_said_with_something_to_try(arguments: tuple[str | None, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        advice.answer(*arguments)
    assert re.search("try |give ", str(caught.value))


# --- the command --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", BUDGETS)
def test_depth_prints_and_exits_0(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["depth", budget]) == 0
    out, err = capsys.readouterr()
    assert "Recommended minimum depth" in out
    assert err == ""


def test_depth_answers_a_budget_and_a_task_together_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["depth", "1.3B", *TASKS[1], "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["answers"]
    assert (first["minimum_depth"]["low"], first["minimum_depth"]["high"]) == (8, 42)
    assert (second["minimum_depth"]["low"], second["minimum_depth"]["high"]) == (4, 5)
    assert {"layers", "depth", "source", "reading", "certainty", "regime", "meaning", "extrapolated"} <= set(first["numbers"][0])


@pytest.mark.parametrize("arguments", [
    ["depth", "-1"], ["depth", "-1.3B"], ["depth", "0"], ["depth", "nan"], ["depth", "inf"], ["depth", "1e40"], ["depth", "big"],
    ["depth", ""], ["depth"], ["depth", "1B", "2B"], ["depth", "--taks", "hops"], ["depth", "1B", "--frob"], ["depth", "--task"],
    ["depth", "--task", "x"], ["depth", "--task", "hops"], ["depth", "--task", "hops", "--hops", "-2"],
    ["depth", "--task", "connectivity", "--diameter", "-3"],
    ["depth", "--task", "connectivity", "--diameter", "x\ny"], ["depht"], ["--nope"],
])
def test_bad_input_is_one_line_on_stderr_and_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"error: [^\n]+\n", err)


def test_bad_input_gives_no_traceback_in_a_process_of_its_own() -> None:
    done = command("depth", "1e40")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: the budget '1e40' is more than 1e15 parameters[^\n]+\n", done.stderr)


def test_bare_command_and_help_say_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["depth", "--help"]):
        assert main(arguments) == 0
        assert "depth" in capsys.readouterr().out


def test_piped_output_is_what_a_terminal_shows() -> None:
    done = command("depth", "1.3B")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == advice.for_budget(1_300_000_000).as_text() + "\n"


@pytest.mark.parametrize("arguments", [["depth", "1.3B"], ["depth", "1e40"], *(["depth", *task] for task in TASKS)])
def test_depth_starts_without_heavy_libraries(arguments: list[str]) -> None:
    code = f"import sys; from depthlaw.ledger.cli import main; main({arguments!r}); print('LOADED', *({set(HEAVY)!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "LOADED", done.stderr
