"""What is known of the depth that a task needs: meanings kept apart, a source for every number."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given, strategies as st

from depthlaw.advisor import laws
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.task_depths import (
    TaskAnswer,
    answer_task,
    for_connectivity,
    for_hops,
    for_regular,
)
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.formal import stale
from depthlaw.theory.claims.values import Case

CITED = (files("depthlaw.theory") / "bibliography.bib").read_text()
BIBLIOGRAPHY = {*re.findall(r"^@\w+\{([^,]+),", CITED, re.M), "depthlaw"}
ALL = [
    for_connectivity(64),
    for_connectivity(1),
    for_connectivity(10**9, 10**10),
    for_hops(5),
    for_hops(16),
    for_hops(10**9),
    for_regular(1),
    for_regular(64),
    for_regular(10**9),
]


@pytest.mark.parametrize("said", ALL, ids=lambda said: said.question)
def test_every_number_has_source_wording_regime_and_certainty(said: TaskAnswer) -> None:
    for number in said.numbers:
        assert number.source.split(",")[0] in BIBLIOGRAPHY
        assert number.wording in ("printed", "derived")
        assert min(len(number.regime), len(number.certainty)) > 10
        assert not re.search("proved|machine-checked", number.certainty)
        assert number.claim is None or find(number.claim).key == number.claim
    for key in re.findall(r"\b[a-z]+20\d\d[a-z]*\b", " ".join(said.remarks)):
        assert key in BIBLIOGRAPHY
    for key in re.findall(r"claim ([a-z]+/\w+)", " ".join(said.remarks)):
        assert find(key).key == key


def test_connectivity_has_one_number_for_each_architecture() -> None:
    reach = [for_connectivity(d).numbers[0].layers for d in (0, 1, 3, 4, 81, 82)]
    assert reach == [0, 0, 1, 2, 4, 5]
    doubling = [for_connectivity(64, n).numbers[1].layers for n in (None, 65, 128, 129)]
    assert doubling == [32, 32, 32, 34]
    said = for_connectivity(64)
    assert said.headline == (
        "It depends on the architecture: (a) 4 layers, (b) 18 + 2 ceil(log_2 n) layers"
    )
    assert for_connectivity(28, 1000).headline.endswith("(a) 4 layers, (b) 38 layers")
    assert "18 + 2 ceil(log_2 n) = 32, at the least n for this diameter" in said.numbers[1].rule
    assert "--vertices" not in for_connectivity(64, 100).numbers[1].rule
    assert answer_task("connectivity", vertices="1000") == for_connectivity(999, 1000)
    assert "the input already shows it" in for_connectivity(1).numbers[0].rule
    assert "It comes without a constant" in said.remarks[0]


def test_hops_name_what_suffices_what_is_claimed_and_what_is_open() -> None:
    suffices = [for_hops(k).numbers[-1].layers for k in (1, 2, 3, 4, 5, 16)]
    assert suffices == [2, 3, 4, 4, 5, 6]
    said = for_hops(5)
    assert said.headline == "5 layers suffice for 5 hops: ceil(log_2 k) + 2"
    assert [(n.layers, n.meaning) for n in said.numbers] == [(4, "claimed"), (5, "suffices")]
    assert "hops/depth_carried_symbols" in said.remarks[0]
    assert "No unconditional lower bound is known here." in said.remarks[1]
    assert [n.meaning for n in for_hops(16).numbers] == ["suffices"]


@pytest.mark.parametrize("beyond", [False, True])
def test_no_number_of_hops_is_said_to_be_executed_that_was_not(beyond: bool) -> None:
    executed = laws.LARGEST_EXECUTED
    said = for_hops(executed + beyond)
    rule = said.numbers[-1].rule
    assert f"executed here without an error up to k = {executed}" in rule
    assert f"run up to k = {executed}. For every k it is a theorem" in said.sure
    # A verdict's word is no other word.
    assert "argue" not in said.headline + rule + said.numbers[-1].certainty


@pytest.mark.parametrize("beyond", [False, True])
def test_no_diameter_is_said_to_be_executed_that_was_not(beyond: bool) -> None:
    executed = laws.LARGEST_DIAMETER
    claim = find("connectivity/layers_for_diameter")
    assert max(case.diameter for case in claim.cases("quick")) == executed
    said = for_connectivity(executed + beyond)
    assert f"executed up to D = {executed}" in said.numbers[0].regime
    assert "for every D a theorem" in said.numbers[0].regime


def test_where_a_theorem_is_said_to_cover_every_size_the_kernel_checked_it() -> None:
    for said in (*for_connectivity(64).numbers, *for_hops(1000).numbers):
        if "theorem that Rocq's kernel checked" in said.rule + said.regime:
            claim = find(said.claim or "")
            assert claim.formal is not None
            assert not stale(claim)
    reach, hop = find("connectivity/layers_for_diameter"), find("hops/depth_corrected")
    # What is said of the rest of the theorem, or left unsaid, is what the claim says.
    assert reach.formal
    assert reach.formal.informal.startswith("Nothing")
    assert hop.formal
    assert hop.formal.informal.startswith("Cosines and softmax")


def test_regular_languages_have_two_constructions_and_a_measurement() -> None:
    said = for_regular(64)
    assert said.headline == (
        "Order log n: 29 layers suffice, 57 with one set of weights for all lengths"
    )
    assert [(n.layers, n.meaning) for n in said.numbers] == [
        (29, "suffices"),
        (57, "suffices"),
        (13, "measured"),
    ]
    measured = {n: for_regular(n).numbers[-1].extrapolated for n in (1, 16, 32, 256, 1024)}
    assert measured == {1: True, 16: True, 32: False, 256: False, 1024: True}
    assert for_regular(1).numbers[-1].layers == 1


@given(st.integers(0, 4), st.integers(0, 40), st.booleans())
def test_layers_for_regular_are_those_of_the_claim(below: int, power: int, shared: bool) -> None:
    claim = find("connectivity/log_depth_lengths")
    per, fixed = (8, 9) if shared else (4, 5)
    longest = claim.predict(Case(depth=fixed + per * power, per_doubling=per, fixed_layers=fixed))
    assert longest == 2**power
    length = max(1, 2**power - below)
    assert laws.layers_for_regular(length, shared) <= fixed + per * power
    assert laws.layers_for_regular(2**power + 1, shared) == fixed + per * (power + 1)


@pytest.mark.parametrize(
    ("task", "options", "why"),
    [
        ("knapsack", {}, "unknown task 'knapsack'"),
        ("hops", {}, "needs --hops"),
        ("connectivity", {"diameter": "64", "hops": "3"}, "--hops belongs to the task hops"),
        ("hops", {"hops": "3", "vertices": "9"}, "--vertices belongs to the task connectivity"),
        ("hops", {"hops": "3", "length": "9"}, "--length belongs to the task regular"),
        ("connectivity", {"diameter": "-1"}, "whole number of at least 0"),
        ("connectivity", {}, "needs --diameter"),
        ("connectivity", {"vertices": "0"}, "whole number of at least 1"),
        ("hops", {"hops": "0"}, "whole number of at least 1"),
        (
            "connectivity",
            {"diameter": "64", "vertices": "64"},
            "at least 65 vertices, not 64; try --vertices 65",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said_with_something_to_try(
    task: str, options: dict[str, str], why: str
) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        answer_task(task, **options)
    assert re.search("try |give ", str(caught.value))
