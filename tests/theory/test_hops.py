"""Hops: pointers against the definition, networks against pointers, claims against mutations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judging import claims, verdict

from depthlaw.advisor.laws import layers_for_hops, layers_for_hops_printed
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.hops import network
from depthlaw.theory.hops.network import BOTTOM, TIE, causal, right_answers
from depthlaw.theory.hops.pointers import find1, hop_k

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


# --- networks -------------------------------------------------------------------------------------


def test_integer_distances_choose_what_cosines_choose() -> None:
    rng = np.random.default_rng(0)
    n, alphabet, spacing = 12, 3, 2
    x = rng.integers(0, alphabet, n)
    found = [0, *find1(x.tolist())]
    angle = 2 * np.pi / (spacing * n * alphabet)
    for i in range(1, n + 1):
        scores = {
            j: np.cos(angle * (spacing * n * (x[i - 1] - x[j - 2]) + i - j))
            for j in range(2, i + 1)
        }
        scores[0] = np.cos(angle * (n - 0.5))
        assert max(scores, key=scores.__getitem__) == found[i]


def test_smallest_failure_of_the_printed_spacing() -> None:
    def wrong(alphabet: int, tokens: int) -> list[Sequence[int]]:
        return [
            s
            for s in network.all_sequences(tokens, alphabet)
            if (answer(s, alphabet) != right_answers(s, 1)).any()
        ]

    def answer(sequence: Sequence[int], alphabet: int) -> Any:
        return next(islice(causal(sequence, alphabet, 1, spacing=1), 2, None))

    assert wrong(2, 1) == wrong(2, 2) == wrong(3, 1) == wrong(3, 2) == []
    assert wrong(2, 3)[0] == (0, 0, 1)
    assert answer((0, 0, 1), 2).tolist() == [BOTTOM, 0, 0]
    assert right_answers((0, 0, 1), 1).tolist() == [BOTTOM, 0, BOTTOM]


def test_ties_are_never_right() -> None:
    tied = network._attend(np.array([[0, 0], [1, 1]]))
    assert tied.tolist() == [0, TIE]
    assert network._take(np.array([5, 5]), tied).tolist() == [5, TIE]


def test_sequences_are_refused_outside_the_alphabet_or_empty() -> None:
    for sequence in ([], [0, 4], [-1, 0]):
        with pytest.raises(ValueError, match="each from 0 to 3"):
            next(causal(sequence, 4, 1))


def test_settles_says_never_for_a_network_that_stays_wrong() -> None:
    case = Case(hops=2, tokens=30, alphabet=4, repeats=True)
    assert network.settles(lambda *a: causal(*a, induction="printed"), case) == -1


# --- claims ---------------------------------------------------------------------------------------


def sabotaged(net: network.Network) -> network.Network:
    """The same network, but it answers the first symbol on sequences that begin 1, 1, 0, 0."""

    def wrong(sequence: Sequence[int], alphabet: int, hops: int, **options: Any) -> Iterator[Any]:
        for answer in net(sequence, alphabet, hops, **options):
            misled = tuple(sequence[:4]) == (1, 1, 0, 0)
            yield np.full_like(answer, sequence[0]) if misled else answer

    return wrong


@pytest.mark.parametrize(
    ("name", "net"),
    [
        ("depth_corrected", "causal"),
        ("depth_carried_symbols", "symbol_carrying"),
        ("construction_printed_hops", "causal"),
    ],
)
def test_a_network_that_is_wrong_on_one_beginning_is_caught(
    name: str, net: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = CLAIMS[name]
    monkeypatch.setattr(network, net, sabotaged(getattr(network, net)))
    found = {case: verdict(claim, case) for case in claim.cases("quick") if case.get("exhaustive")}
    assert found == {case: Verdict.FAILS if case.tokens >= 4 else Verdict.HOLDS for case in found}
    assert Verdict.FAILS in found.values()


@pytest.mark.parametrize("topic", ["hops", "connectivity", "formal_languages"])
def test_what_is_ours_is_credited_to_us(topic: str) -> None:
    for claim in claims(topic).values():
        ours = claim.source.key == "depthlaw"
        assert ours == (claim.wording == "derived"), claim.key
        after = claim.source.place.startswith("after ")
        assert after or not ours or topic == "formal_languages", claim.key
