"""Hops: pointers against the definition, heads against pointers, claims against mutations."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judging import claims, verdict

from depthlaw.advisor.laws import layers_for_hops, layers_for_hops_printed
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.hops import construction
from depthlaw.theory.hops.construction import by_angles, by_digits
from depthlaw.theory.hops.hop_nets import causal_net, net_depth, strict_net
from depthlaw.theory.hops.pointers import find1, hop_k, last_hop
from depthlaw.theory.nets.json_format import changed

CLAIMS = claims("hops")
SEQUENCES = st.lists(st.integers(0, 3), min_size=1, max_size=24)


# --- pointers -------------------------------------------------------------------------------------


@given(SEQUENCES)
def test_find1_is_the_maximum_of_the_definition(sequence: list[int]) -> None:
    x = [None, *sequence]
    n = len(x)
    assert find1(sequence) == [
        max({0} | {j for j in range(2, i + 1) if x[j - 1] == x[i]}) for i in range(1, n)
    ]


def test_published_example_and_null_cases() -> None:
    assert [hop_k("baebcabebdea", k)[-1] for k in (0, 1, 2)] == ["a", "b", "c"]
    assert (hop_k("abc", 0), hop_k("", 3)) == (["a", "b", "c"], [])
    assert (find1([]), hop_k("abc", 1)) == ([], [None, None, None])


@pytest.mark.parametrize(
    "function", [layers_for_hops, layers_for_hops_printed, lambda k: hop_k("ab", k)]
)
def test_bad_numbers_are_refused(function: Any) -> None:
    with pytest.raises(ValueError, match="accepted are whole numbers from 0 on"):
        function(-1)
    for bad in (1.5, "2", None):
        with pytest.raises((TypeError, AttributeError)):
            function(bad)


@given(st.integers(2, 400))
def test_k_max_is_the_last_that_fits(depth: int) -> None:
    for down, layers in enumerate((layers_for_hops, layers_for_hops_printed)):
        most = 2 ** (depth - 2 + down) - down
        assert layers(most) <= depth < layers(most + 1)


@given(SEQUENCES, st.integers(0, 20))
def test_the_last_hop_is_the_last_of_all(sequence: list[int], hops: int) -> None:
    assert last_hop(sequence, hops, "none") == hop_k(sequence, hops, "none")[-1]


# --- heads ----------------------------------------------------------------------------------------


def test_integer_distances_choose_what_cosines_choose() -> None:
    rng = np.random.default_rng(0)
    n, alphabet, spacing = 12, 3, 2
    x = rng.integers(0, alphabet, n)
    found = [0, *by_angles(x.tolist(), alphabet, spacing)]
    assert found[1:] == find1(x.tolist())
    angle = 2 * np.pi / (spacing * n * alphabet)
    for i in range(1, n + 1):
        scores = {
            j: np.cos(angle * (spacing * n * (x[i - 1] - x[j - 2]) + i - j))
            for j in range(2, i + 1)
        }
        scores[0] = np.cos(angle * (n - 0.5))
        assert max(scores, key=scores.__getitem__) == found[i]


def test_smallest_failure_of_the_printed_spacing() -> None:
    def wrong(alphabet: int, tokens: int) -> list[tuple[int, ...]]:
        words = product(range(alphabet), repeat=tokens)
        return [s for s in words if by_angles(s, alphabet, spacing=1) != find1(s)]

    assert wrong(2, 1) == wrong(2, 2) == wrong(3, 1) == wrong(3, 2) == []
    assert wrong(2, 3)[0] == (0, 0, 1)


def test_two_keys_as_near_are_no_answer() -> None:
    """Three steps back an equal symbol, and two steps back, five and two of ten around, another."""
    assert by_angles([0, 1, 1, 1, 0], 2, spacing=1)[-1] == -1


# --- claims ---------------------------------------------------------------------------------------


def found(name: str) -> set[Verdict]:
    """Of the short cases of a claim on all sequences."""
    listed = (case for case in CLAIMS[name].cases("quick") if case.get("exhaustive"))
    return {verdict(CLAIMS[name], case) for case in listed if case.get("mask") != "causal"}


@pytest.mark.parametrize(
    ("name", "net", "way", "to"),
    [
        ("depth_corrected", "causal_net", ("layers", 1, "heads", 0, "key", 0, 4), 1),
        ("depth_carried_symbols", "strict_net", ("layers", 0, "mlp", "bias", 0), 0),
        ("construction_printed_hops", "causal_net", ("layers", 0, "heads", 0, "key", 1, -2), -4),
    ],
)
def test_a_net_with_one_weight_changed_fails(
    name: str, net: str, way: Any, to: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(name) == {Verdict.HOLDS}
    real = getattr(construction, net)
    monkeypatch.setattr(construction, net, lambda *given: changed(real(*given), *way, to=to))
    assert Verdict.FAILS in found(name)


def test_heads_that_are_wrong_on_one_beginning_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(sequence: Any, hops: int) -> Any:
        for answer in by_digits(sequence, hops):
            yield [sequence[0]] * len(sequence) if sequence[:4] == (1, 1, 0, 0) else answer

    claim = CLAIMS["depth_carried_symbols"]
    case = Case(mask="causal", hops=3, tokens=5, alphabet=2, exhaustive=True)
    assert verdict(claim, case) is Verdict.HOLDS
    monkeypatch.setattr(construction, "by_digits", wrong)
    assert verdict(claim, case) is Verdict.FAILS


def test_an_angle_that_is_wrong_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        construction, "by_angles", lambda each, symbols, spacing: by_angles(each, symbols, 1)
    )
    assert found("depth_corrected") == {Verdict.FAILS}


def test_a_net_that_stays_wrong_or_is_of_another_class_has_no_depth() -> None:
    case = Case(hops=2, tokens=30, alphabet=4, repeats=True)
    fixed = "one-causal-head-fixed"
    assert net_depth(case, 0, causal_net(2, 4), fixed).value == 3
    assert net_depth(case, 0, causal_net(2, 4, "printed"), fixed).value == -1
    assert net_depth(case, 0, strict_net(2, 4, 30), fixed).value == -1


@pytest.mark.parametrize("topic", ["hops", "connectivity", "formal_languages"])
def test_what_is_ours_is_credited_to_us(topic: str) -> None:
    for claim in claims(topic).values():
        ours = claim.source.key == "depthlaw"
        assert ours == (claim.wording == "derived"), claim.key
        after = claim.source.place.startswith("after ")
        assert after or not ours or topic == "formal_languages", claim.key


# --- instances to check by eye --------------------------------------------------------------------


def test_what_fails_shows_it_on_a_word_and_the_repaired_net_does_not() -> None:
    printed = construction.construction_printed_depth.instance
    spaced = construction.construction_printed_spacing.instance
    assert printed is not None
    assert spaced is not None
    assert (printed().asked[:7], printed().expected, printed().got) == ("`ababa`", "`a`", "`b`")
    assert (hop_k("ababa", 2)[-1], causal_net(2, 2).answer("ababa")) == ("a", "a")
    assert (spaced().expected, spaced().got) == ("none", "`a`")
    assert (hop_k("aab", 1)[-1], by_angles([0, 0, 1], 2, spacing=2)[-1]) == (None, 0)
