"""The advisor: meanings kept apart, a source for every number, 80 columns, a light start."""
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

from depthlaw.advisor import answers, laws
from depthlaw.advisor.answers import Advice, for_budget, for_connectivity, for_hops
from depthlaw.advisor.quantities import UsageError
from depthlaw.ledger.cli.arguments import main

HEAVY = {"flint", "matplotlib", "networkx", "numpy", "rich", "scipy", "sympy", "torch"}
ABOVE = {"depthlaw.theory", "depthlaw.empirics", "depthlaw.ledger"}
TASKS = [["--task", "connectivity", "--diameter", "64"], ["--task", "hops", "--hops", "5"]]
CITED = (files("depthlaw.theory") / "bibliography.bib").read_text()
BIBLIOGRAPHY = set(re.findall(r"^@\w+\{([^,]+),", CITED, re.M))

each_question = pytest.mark.parametrize(("ask", "value"), [
    *((for_budget, n) for n in (10**3, 10**5, 10**8, 1_300_000_000, 7 * 10**9, 10**12, 10**15)),
    *((for_connectivity, diameter) for diameter in (0, 1, 64, 10**15)),
    *((for_hops, hops) for hops in (1, 5, 16, 10**15)),
])


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter, piped."""
    clean = {k: value for k, value in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=clean,
                          timeout=60)


def on_one_line(text: str) -> str:
    return " ".join(text.split())


# --- what is said --------------------------------------------------------------------------------


def test_the_headline_is_the_only_true_minimum_and_the_ends_of_the_interval_have_names() -> None:
    said = for_budget(1_300_000_000)
    assert said.headline == (
        "Recommended minimum depth: 8 layers (threshold L >= log_3(d), levine2020)")
    assert said.interval is not None
    ends = [(r.layers, r.meaning, r.source.split(",")[0]) for r in said.interval]
    assert ends == [(8, "minimum", "levine2020"), (42, "optimum", "bigscience")]
    found: dict[str, list[int]] = {}
    for r in said.numbers:
        found.setdefault(r.meaning, []).append(r.layers)
    assert found == {
        "minimum": [8], "optimum": [42, 42, 92], "default": [30], "maximum": [18], "built": [24]}


def test_each_meaning_has_a_line_of_its_own_above_the_sources() -> None:
    top = for_budget(1_300_000_000).as_text().partition("Who says what")[0]
    for line in (
            "Built: median 24 layers, from 16 (OLMo-1B) to 54 (MobileLLM-1.5B)",
            "8 to 42 layers, depending on whose criterion:", "  8, a minimum: ",
            "  42, an optimum: ",
            "Optimum: 42 (muP, recalled), 42 +- 0.4 (Levine's fit), 92 (CompleteP, recalled).",
            "Maximum: 18 by fahim2026 (Depth Delusion), in conflict with Levine's fit."):
        assert line in top
    assert "log_3(d) layers (claim depth_choice/threshold_never_binds)" in on_one_line(top)


@given(st.integers(10**3, 10**15))
def test_every_number_is_one_source_s_own_and_nothing_is_averaged(parameters: int) -> None:
    said = for_budget(parameters)
    assert said.minimum is not None
    assert said.minimum.layers == laws.threshold_layers(parameters)
    assert [r for r in said.numbers if r.meaning == "minimum"] == [said.minimum]
    assert all(r.layers >= 1 and abs(r.layers - r.depth) <= 1 for r in said.numbers)
    sources = [r.layers for r in said.numbers if r.meaning != "built"]
    assert sources == sorted(sources)
    asked = laws.transition_depth(parameters)
    fits = [r for r in said.numbers if r.name == "Levine's fit"]
    assert [r.layers for r in fits] == ([round(asked)] if asked >= 6 else [])
    assert said.interval == ((said.minimum, fits[0]) if fits else None)
    assert not fits or said.minimum.layers <= fits[0].layers


@each_question
def test_every_number_has_source_wording_regime_and_certainty(
        ask: Callable[[int], Advice], value: int) -> None:
    for r in ask(value).numbers:
        assert r.source.split(",")[0] in BIBLIOGRAPHY
        assert re.search("printed|reported|recalled|derived", r.wording)
        assert "seen" not in r.wording
        assert min(len(r.regime), len(r.certainty), len(r.source)) > 10
        assert r.rule
        assert r.wording != "recalled" or "check against the paper" in r.certainty


@each_question
def test_text_is_plain_and_fits_80_columns(ask: Callable[[int], Advice], value: int) -> None:
    said = ask(value)
    text = answers.as_text([said])
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 40
    assert all(str(r.layers) in text for r in said.numbers)
    for line in (said.headline, *said.remarks):
        assert on_one_line(line) in on_one_line(text)
    for word in ("printed", "reported", "recalled", "derived", "EXTRAPOLATED"):
        assert text.rpartition("\n\n")[2].count(word) == 1


@pytest.mark.parametrize(("parameters", "outside"), [
    (6 * 10**8, False), (6 * 10**8 + 1, True), (1_300_000_000, True), (7 * 10**9, True)])
def test_extrapolation_begins_where_the_trained_nets_end_in_text_and_json(
        parameters: int, outside: bool) -> None:
    said = for_budget(parameters)
    fit = next(r for r in said.as_json()["numbers"] if r["name"] == "Levine's fit")
    assert fit["extrapolated"] is outside
    assert said.as_json()["interval"]["high"]["extrapolated"] is outside
    assert ("(Levine's fit, EXTRAPOLATED)" in said.as_text()) is outside


def test_what_a_source_measured_is_known_or_not() -> None:
    ranges = {r.name: r.extrapolated for r in for_budget(10**12).numbers}
    assert ranges["fahim2026 (Depth Delusion)"] is ranges["nanochat"] is True
    assert ranges["muP"] is None


def test_a_source_far_outside_its_range_is_left_out_with_the_reason() -> None:
    for parameters in (10**3, 10**6):
        text = for_budget(parameters).as_text()
        assert "Left out: Levine's fit, because it asks for fewer than 6 layers" in text
        assert "+-" not in text
        assert "L = 0." not in text
    shallow = "Left out: nanochat, CompleteP, muP, because they ask for less than one layer."
    assert shallow in for_budget(10**3).remarks
    assert "Left out" not in for_budget(10**9).as_text()


def test_models_near_the_budget_are_shown_as_a_range_or_named_missing() -> None:
    built = next(r for r in for_budget(1_300_000_000).numbers if r.meaning == "built")
    assert (built.layers, built.range) == (24, (16, 54))
    assert built.wording == "25 printed, 2 reported, 1 recalled"
    assert "no dense decoder" in for_budget(10**14).as_text()


def test_connectivity_has_one_number_for_each_architecture_and_no_joint_interval() -> None:
    reach = [for_connectivity(d).numbers[0].layers for d in (0, 1, 3, 4, 81, 82)]
    assert reach == [0, 0, 1, 2, 4, 5]
    doubling = [for_connectivity(64, n).numbers[1].layers for n in (None, 65, 128, 129)]
    assert doubling == [32, 32, 32, 34]
    said = for_connectivity(64)
    assert said.headline == (
        "It depends on the architecture: (a) 4 layers, (b) 18 + 2 ceil(log2 n) layers")
    assert for_connectivity(64, 1000).headline.endswith("(a) 4 layers, (b) 38 layers")
    assert said.minimum is said.interval is None
    assert "18 + 2 ceil(log2 n) = 32, at the least n for this diameter" in said.numbers[1].rule
    assert "--vertices" not in for_connectivity(64, 100).as_text()
    assert "the input already shows it" in for_connectivity(1).numbers[0].rule
    assert "It comes without a constant" in said.remarks[0]


def test_hops_names_what_suffices_what_is_claimed_and_what_is_open() -> None:
    suffices = [for_hops(k).numbers[-1].layers for k in (1, 2, 3, 4, 5, 16)]
    assert suffices == [2, 3, 4, 4, 5, 6]
    said = for_hops(5)
    assert said.headline == "5 layers suffice for 5 hops: ceil(log2 k) + 2"
    assert [(r.layers, r.meaning) for r in said.numbers] == [(4, "claimed"), (5, "suffices")]
    assert "hops/depth_strict_mask" in said.remarks[0]
    assert "hops/depth_log_heads" in said.remarks[0]
    assert "No unconditional lower bound is known here." in said.remarks[1]
    assert [r.meaning for r in for_hops(16).numbers] == ["suffices"]
    assert said.minimum is said.interval is None
    assert "minimum" not in said.as_text()


@pytest.mark.parametrize("beyond", [False, True])
def test_no_number_of_hops_is_said_to_be_executed_that_was_not(beyond: bool) -> None:
    executed = laws.LARGEST_EXECUTED
    text = on_one_line(answers.as_text([for_hops(executed + beyond)]))
    assert f"executed here without an error up to k = {executed}" in text
    assert ("this k rests on the written argument" in text) is beyond
    assert (f"(executed up to k = {executed}, argued beyond)" in text) is beyond


@pytest.mark.parametrize("value", [1, 5, 17, 10**9])
def test_no_law_that_only_holds_is_called_proved(value: int) -> None:
    for said in (for_hops(value), for_connectivity(value), for_budget(10**9 + value)):
        assert "proved" not in answers.as_text([said]).lower()
        for r in said.numbers:
            assert not re.search("proved|machine-checked|true with", r.certainty)


@pytest.mark.parametrize(("task", "headline"), [
    (for_hops(5), "8 layers"), (for_hops(10**6), "22 layers"),
    (for_connectivity(64), "(a) 8 layers, (b) 32 layers"),
    (for_connectivity(10**6, 10**7), "(a) 13 layers, (b) 66 layers"),
])
def test_budget_and_task_together_are_the_greater_minimum(task: Advice, headline: str) -> None:
    said = answers.together(for_budget(10**9), task)
    assert said.headline == f"Depth that meets both: {headline}"
    assert "threshold at this budget" in said.remarks[0]
    assert max(map(len, said.as_text().splitlines())) <= 80


@pytest.mark.parametrize(("arguments", "why"), [
    ((None, None, None, None), "nothing to answer"),
    ((None, "sorting", None, None), "unknown task 'sorting'"),
    ((None, "", None, None), "unknown task"),
    ((None, "hops", None, None), "needs --hops"),
    ((None, "connectivity", None, None), "needs --diameter"),
    ((None, "connectivity", "64", "3"), "--hops belongs to the task hops"),
    (("1B", None, "64", None), "--diameter belongs"),
    ((None, "connectivity", "-1", None), "whole number from 0"),
    ((None, "hops", None, "0"), "whole number from 1"),
    (("-1B", "hops", None, "3"), "negative"),
    ((None, "hops", None, "3", "9"), "--vertices belongs to the task connectivity"),
    ((None, "connectivity", "64", None, "64"), "at least 65 vertices, not 64; try --vertices 65"),
    ((None, "connectivity", "64", None, "x"), "whole number from 1"),
])
def test_what_is_missing_or_wrong_is_said_with_something_to_try(
        arguments: tuple[str | None, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        answers.answer(*arguments)
    assert re.search("try |give ", str(caught.value))


def test_a_task_s_name_is_read_in_any_case() -> None:
    assert answers.answer(None, " HOPS", None, "5") == [for_hops(5)]
    connected = answers.answer(None, "Connectivity", "64", None, "100")
    assert connected == [for_connectivity(64, 100)]


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [
    "1K", "100K", "85M", "350M", "1.3B", "7e9", "175B", "1T", "1000T"])
def test_depth_prints_and_exits_0(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["depth", budget]) == 0
    out, err = capsys.readouterr()
    assert "Recommended minimum depth" in out
    assert err == ""


def test_depth_answers_a_budget_and_a_task_together_as_json(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["depth", "1.3B", *TASKS[1], "--json"]) == 0
    first, second, both = json.loads(capsys.readouterr().out)["answers"]
    assert first["minimum_depth"]["layers"] == 8
    assert [first["interval"][end]["layers"] for end in ("low", "high")] == [8, 42]
    assert second["minimum_depth"] is second["interval"] is None
    assert both["recommendation"] == "Depth that meets both: 8 layers"
    assert first["numbers"][0].keys() >= {
        "layers", "depth", "source", "wording", "certainty", "regime", "meaning", "extrapolated"}


@pytest.mark.parametrize("arguments", [
    ["depth", "-1"], ["depth", "-1.3B"], ["depth", "0"], ["depth", "nan"], ["depth", "inf"],
    ["depth", "1e40"], ["depth", "big"], ["depth", ""], ["depth"], ["depth", "1B", "2B"],
    ["depth", "--taks", "hops"], ["depth", "1B", "--frob"], ["depth", "--task"],
    ["depth", "--task", "x"], ["depth", "--task", "hops"],
    ["depth", "--task", "hops", "--hops", "-2"],
    ["depth", "--task", "connectivity", "--diameter", "-3"],
    ["depth", "--task", "connectivity", "--diameter", "x\ny"],
    ["depth", "--task", "connectivity", "--diameter", "9", "--vertices", "9"],
    ["depht"], ["--nope"],
])
def test_bad_input_is_one_line_on_stderr_and_exit_2(
        arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"error: [^\n]+\n", err)


def test_bad_input_gives_no_traceback_in_a_process_of_its_own() -> None:
    done = python("-m", "depthlaw", "depth", "1e40")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r"error: the budget '1e40' is more than 1e15 parameters[^\n]+\n", done.stderr)


def test_bare_command_and_help_say_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["depth", "--help"]):
        assert main(arguments) == 0
        assert "depth" in capsys.readouterr().out


def test_piped_output_is_what_a_terminal_shows() -> None:
    done = python("-m", "depthlaw", "depth", "1.3B")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == answers.as_text([for_budget(1_300_000_000)]) + "\n"


@pytest.mark.parametrize("arguments", [
    ["depth", "1.3B"], ["depth", "1e40"], *(["depth", *task] for task in TASKS)])
def test_depth_starts_without_heavy_libraries(arguments: list[str]) -> None:
    done = python("-c", "import sys; from depthlaw.ledger.cli.arguments import main; "
                  f"main({arguments!r}); print('LOADED', *({HEAVY!r} & sys.modules.keys()))")
    assert done.stdout.splitlines()[-1] == "LOADED", done.stderr


def test_the_advisor_works_without_the_other_folders() -> None:
    done = python("-c", f"import sys; sys.modules.update(dict.fromkeys({ABOVE | HEAVY!r})); "
                  "from depthlaw.advisor.answers import answer; "
                  "print(len(answer('1.3B', 'hops', None, '5')))")
    assert done.stdout == "3\n", done.stderr
