"""Hops: the reference against the definition, the inverses against searches, the networks against the reference, the verdicts."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.glossary import symbol
from depthlaw.theory.hops import LARGEST_EXECUTED, claims, find, find1, hop_k, k_max_corrected, k_max_printed, layers_for_hops
from depthlaw.theory.hops import network as hop_network
from depthlaw.theory.hops.network import BOTTOM, TIE, all_sequences, causal, errors, random_sequences, settles, symbol_carrying
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {claim.key: claim for claim in claims()}
SEQUENCES = st.lists(st.integers(0, 3), min_size=1, max_size=24)
EXPECTED_TO_FAIL = {key for key, claim in CLAIMS.items() if claim.awaited == "FAILS"}


def verdicts(claim: Claim, suite: str = "quick") -> set[Verdict]:
    return {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases(suite)}


def truth(sequence: Sequence[int], hops: int) -> list[int]:
    return hop_k(sequence, hops, BOTTOM)


# --- reference ---------------------------------------------------------------------------------------------------------------


@given(SEQUENCES)
def test_find1_is_the_maximum_of_the_definition(sequence: list[int]) -> None:
    x = [None, *sequence]
    assert find1(sequence) == [max({0} | {j for j in range(2, i + 1) if x[j - 1] == x[i]}) for i in range(1, len(x))]


@given(SEQUENCES, st.integers(0, 9), st.integers(0, 9))
def test_hops_compose(sequence: list[int], a: int, b: int) -> None:
    first = [0, *find(sequence, a)]
    assert [first[p] for p in find(sequence, b)] == find(sequence, a + b)


def test_published_example_and_null_cases() -> None:
    assert [hop_k("baebcabebdea", k)[-1] for k in (0, 1, 2)] == ["a", "b", "c"]
    assert (hop_k("abc", 0), hop_k("", 3), find1([]), hop_k("abc", 1)) == (["a", "b", "c"], [], [], [None, None, None])


@pytest.mark.parametrize("bad", [-1, 1.5, "2", True, None])
@pytest.mark.parametrize("function", [layers_for_hops, k_max_printed, k_max_corrected, lambda k: hop_k("ab", k)])
def test_bad_numbers_are_refused(function: Any, bad: Any) -> None:
    with pytest.raises(ValueError, match="accepted are whole numbers from 0 on"):
        function(bad)


def test_unknown_reading_is_refused() -> None:
    with pytest.raises(ValueError, match="'corrected' and 'printed'"):
        layers_for_hops(3, "recalled")  # type: ignore[arg-type]


@given(st.integers(1, 10**60))
def test_layers_for_hops_are_the_logarithms(k: int) -> None:
    up, down = layers_for_hops(k) - 2, layers_for_hops(k, "printed") - 2
    assert 2 ** (up - 1) < k <= 2**up
    assert 2**down <= k < 2 ** (down + 1)


@given(st.integers(2, 400))
def test_k_max_is_the_last_that_fits(depth: int) -> None:
    for k_max, reading in ((k_max_printed, "printed"), (k_max_corrected, "corrected")):
        assert layers_for_hops(k_max(depth), reading) <= depth < layers_for_hops(k_max(depth) + 1, reading)


# --- networks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", [causal, symbol_carrying, lambda *a: symbol_carrying(*a, mask="causal")],
                         ids=["causal", "strict", "log heads"])
def test_networks_are_right_on_every_short_sequence(network: hop_network.Network) -> None:
    for alphabet, tokens in ((1, 5), (2, 7), (3, 5)):
        for k in (1, 2, 3, 5):
            assert errors(network, all_sequences(tokens, alphabet), alphabet, k, truth) == 0


@given(SEQUENCES, st.integers(1, 40))
def test_repaired_network_is_right_on_random_sequences(sequence: list[int], k: int) -> None:
    answer = next(islice(causal(sequence, 4, k), layers_for_hops(k), None))
    assert answer.tolist() == truth(sequence, k)


@given(SEQUENCES, st.integers(1, 40), st.sampled_from(["strict", "causal"]))
def test_symbol_carrying_networks_are_right_at_the_printed_depth(sequence: list[int], k: int, mask: Any) -> None:
    answer = next(islice(symbol_carrying(sequence, 4, k, mask=mask), layers_for_hops(k, "printed"), None))
    assert answer.tolist() == truth(sequence, k)


def test_integer_distances_choose_what_cosines_choose() -> None:
    rng = np.random.default_rng(0)
    n, alphabet, spacing = 12, 3, 2
    x = rng.integers(0, alphabet, n)
    found = [0, *find1(x.tolist())]
    for i in range(1, n + 1):
        angle = 2 * np.pi / (spacing * n * alphabet)
        scores = {j: np.cos(angle * (spacing * n * (x[i - 1] - x[j - 2]) + i - j)) for j in range(2, i + 1)}
        scores[0] = np.cos(angle * (n - 0.5))
        assert max(scores, key=scores.__getitem__) == found[i]


def test_smallest_failure_of_the_printed_spacing() -> None:
    def wrong(alphabet: int, tokens: int) -> list[Sequence[int]]:
        return [s for s in all_sequences(tokens, alphabet) if errors(lambda *a: causal(*a, spacing=1), [s], alphabet, 1, truth, layers=2)]

    assert wrong(2, 1) == wrong(2, 2) == wrong(3, 1) == wrong(3, 2) == []
    assert wrong(2, 3)[0] == (0, 0, 1)
    answer = next(islice(causal((0, 0, 1), 2, 1, spacing=1), 2, None))
    assert answer.tolist() == [BOTTOM, 0, 0]
    assert truth((0, 0, 1), 1) == [BOTTOM, 0, BOTTOM]


@given(SEQUENCES, st.integers(1, 33))
def test_printed_induction_step_computes_half_the_hops(sequence: list[int], k: int) -> None:
    digits = [int(d) for d in reversed(f"{k:b}")]
    h = digits[0] + sum(d * 2 ** (j - 1) for j, d in enumerate(digits) if j)
    answer = next(islice(causal(sequence, 4, k, induction="printed"), layers_for_hops(k), None))
    assert answer.tolist() == truth(sequence, h)


def test_ties_are_never_right() -> None:
    tied = hop_network._attend(np.array([[0, 0], [1, 1]]))
    assert tied.tolist() == [0, TIE]
    assert hop_network._take(np.array([5, 5]), tied).tolist() == [5, TIE]


def test_sequences_are_refused_outside_the_alphabet_or_empty() -> None:
    for sequence in ([], [0, 4], [-1, 0]):
        with pytest.raises(ValueError, match="each from 0 to 3"):
            next(causal(sequence, 4, 1))


def test_settles_says_never_for_a_network_that_stays_wrong() -> None:
    assert settles(lambda *a: causal(*a, induction="printed"), random_sequences(np.random.default_rng(0), 30, 4, True), 4, 2, truth) == -1


def test_random_sequences_without_repeats_have_no_equal_neighbours() -> None:
    for sequence in random_sequences(np.random.default_rng(1), 50, 3, repeats=False):
        assert all(a != b for a, b in pairwise(sequence))


# --- claims ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", sorted(key for key, claim in CLAIMS.items() if claim.awaited == "HOLDS"))
def test_quick_cases_hold(key: str) -> None:
    assert verdicts(CLAIMS[key]) == {Verdict.HOLDS}


@pytest.mark.parametrize("key", sorted(EXPECTED_TO_FAIL))
def test_what_is_known_to_be_wrong_fails(key: str) -> None:
    assert Verdict.FAILS in verdicts(CLAIMS[key])


def test_claims_of_the_submodules_are_offered_and_the_printed_construction_is_among_the_failures() -> None:
    assert {"hops/lookup_gap", "hops/one_layer_index", "hops/experiment_scored"} <= set(CLAIMS)
    assert {"hops/construction_printed_depth", "hops/construction_printed_spacing", "hops/lookup_angles_printed"} <= EXPECTED_TO_FAIL


def test_printed_depth_is_decided_at_powers_of_two_and_open_elsewhere() -> None:
    claim = CLAIMS["hops/depth_printed"]
    assert claim.known == "UNDECIDED"
    assert "it would be decided by" in claim.note
    found = {case.hops: judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")}
    assert found == {k: Verdict.HOLDS if k & (k - 1) == 0 else Verdict.UNDECIDED for k in found}


def test_one_layer_is_excluded_at_one_hop() -> None:
    from sympy import Le, floor, log

    claim = CLAIMS["hops/depth_printed"]
    for right, verdict in ((1, Verdict.FAILS), (2, Verdict.HOLDS)):
        statement = Le(symbol("layers_needed"), floor(log(symbol("hops")) / log(2)) + right)
        case = Case(hops=1, tokens=5, alphabet=2, exhaustive=True)
        assert judge(dataclasses.replace(claim, statement=statement), case, claim.measured(case, 0)).verdict is verdict


def sabotaged(network: hop_network.Network) -> hop_network.Network:
    """The same network, but it answers the first symbol everywhere on sequences that begin 1, 1, 0, 0."""
    def wrong(sequence: Sequence[int], alphabet: int, hops: int, **options: Any) -> Iterator[Any]:
        for answer in network(sequence, alphabet, hops, **options):
            yield np.full_like(answer, sequence[0]) if tuple(sequence[:4]) == (1, 1, 0, 0) else answer
    return wrong


@pytest.mark.parametrize(("key", "network"), [
    ("hops/depth_corrected", "causal"), ("hops/depth_strict_mask", "symbol_carrying"), ("hops/depth_log_heads", "symbol_carrying"),
    ("hops/construction_printed_hops", "causal"), ("hops/construction_corrected_spacing", "causal")])
def test_a_network_that_is_wrong_on_one_beginning_is_caught(key: str, network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = CLAIMS[key]
    monkeypatch.setattr(hop_network, network, sabotaged(getattr(hop_network, network)))
    found = {case: judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick") if case.get("exhaustive")}
    expected = {case: Verdict.FAILS if case.tokens >= 4 else Verdict.HOLDS for case in found}
    assert found == expected
    assert Verdict.FAILS in found.values()


def test_agreement_with_a_statement_about_all_sequences_is_no_certainty() -> None:
    claim, case = CLAIMS["hops/depth_corrected"], Case(hops=3, tokens=43, alphabet=4, repeats=True)
    decision = judge(claim, case, claim.measured(case, 0))
    assert (decision.verdict, decision.certain) == (Verdict.HOLDS, False)


def test_the_largest_executed_number_of_hops_is_that_of_the_grids() -> None:
    for name in ("depth_corrected", "depth_strict_mask", "depth_log_heads"):
        cases = CLAIMS[f"hops/{name}"].cases("theory")
        assert {case.hops for case in cases} == set(range(1, LARGEST_EXECUTED + 1))


def test_corrected_depth_up_to_64_hops() -> None:
    claim = CLAIMS["hops/depth_corrected"]
    for case in (c for c in claim.grid["theory"] if c.hops in (31, 32, 33, 63, 64)):
        assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("key", ["hops/depth_corrected", "hops/depth_strict_mask", "hops/depth_log_heads", "hops/k_max_printed",
                                 "hops/k_max_corrected", "hops/construction_printed_hops"])
def test_another_constant_fails(key: str) -> None:
    from sympy import Integer

    claim = CLAIMS[key]
    mutated = dataclasses.replace(claim, statement=claim.statement.func(claim.statement.lhs, claim.statement.rhs + Integer(1)))
    assert verdicts(mutated) == {Verdict.FAILS}


@pytest.mark.parametrize("key", ["hops/k_max_printed", "hops/k_max_corrected"])
def test_proof_confirms_the_inverse_and_breaks_on_mutations(key: str) -> None:
    from sympy import Eq, Integer, Ne

    claim, L, most = CLAIMS[key], symbol("depth"), symbol("hops_max")
    assert claim.proof is not None
    assert all(step.holds for step in claim.proof(claim.statement))
    two = Integer(2)
    for right in {two ** (L - 1) - 1, two ** (L - 2), two ** (L - 1), Integer(3) ** (L - 2), two ** (L - 2) - 1} - {claim.statement.rhs}:
        assert not all(step.holds for step in claim.proof(Eq(most, right)))
    assert not all(step.holds for step in claim.proof(Ne(most, claim.statement.rhs)))


def test_what_is_ours_is_credited_to_us() -> None:
    for claim in CLAIMS.values():
        assert (claim.source.key == "depthlaw") == (claim.wording == "derived"), claim.key
        assert claim.source.key != "depthlaw" or claim.source.place.startswith("after "), claim.key


def test_too_few_layers_are_out_of_scope() -> None:
    claim = CLAIMS["hops/k_max_corrected"]
    assert judge(claim, Case(depth=1), claim.measured(Case(depth=1), 0)).verdict is Verdict.OUT_OF_SCOPE


def test_what_was_executed_is_told_from_what_is_argued() -> None:
    named = {claim.key.partition("/")[2]: claim for claim in claims()}
    assert f"Executed up to k = {LARGEST_EXECUTED}" in named["depth_strict_mask"].note
    assert "hard attention" in named["depth_strict_mask"].title
    assert f"everything executed, up to k = {LARGEST_EXECUTED}" in named["depth_printed"].note
    assert "symbols 2N apart" in named["construction_printed_depth"].words
