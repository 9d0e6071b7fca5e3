"""What hops cost: searches against plain counting, gaps against floats, one layer on all words."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.hops import score_gaps
from depthlaw.theory.hops.hop_lower_bounds import edge_sequence, key_steps
from depthlaw.theory.hops.one_layer import hops_ask_for_every_bit, index_sequence
from depthlaw.theory.hops.pointers import hop_k
from depthlaw.theory.hops.score_gaps import different_keys, gap_of_last_match


def test_every_step_found_has_its_queries() -> None:
    found = list(key_steps(3, 2, 1))
    assert found
    for steps in found:
        for i in range(1, 4):
            d = np.array(steps)
            assert any(
                (d[: i - 1] @ q > 0).all() and d[:i].sum(axis=0) @ q < 0
                for q in product(range(-7, 8), repeat=2)
            )
    assert list(key_steps(4, 1, 3)) == []


def test_a_copy_less_does_not_do_for_edges_that_are_listed_along_the_walk() -> None:
    hexagon = [(i, (i + 1) % 6) for i in range(6)]
    assert [hop_k(edge_sequence(hexagon, 1, copies), 6)[-1] == 4 for copies in (3, 2)] == [1, 0]
    assert len(edge_sequence(hexagon, 1, 3)) == 9 * 6 * 3 + 1


def test_last_match_gap_against_floats_over_every_sequence() -> None:
    """The start token counts: another place of it changes the smallest gap."""

    def smallest(n: int, a: int, start: float) -> float:
        gaps = []
        for x in product(range(a), repeat=n):
            for i in range(2, n + 1):
                steps = [2 * n * (x[i - 1] - x[j - 2]) + i - j for j in range(2, i + 1)]
                scores = [math.cos(math.pi / (n * a) * step) for step in (start, *steps)]
                best, following, *_ = sorted(scores, reverse=True)
                gaps.append(best - following)
        return min(gaps)

    changed = 0
    for n, a in ((3, 2), (4, 3), (5, 2), (6, 2)):
        stated = 1 - math.cos(math.pi / (n * a))
        case = Case(tokens=n, alphabet=a)
        for less in ("-1/2", "-199/100", "199/100", str(Fraction(201, 100) - n)):
            found = gap_of_last_match(case, Fraction(less)).value / 1e9
            assert abs(found - smallest(n, a, n + float(Fraction(less)))) < 2e-9, (n, a, less)
            changed += abs(found - stated) > 1e-3
        assert abs(gap_of_last_match(case).value / 1e9 - stated) < 2e-9
    assert changed >= 8


def test_beyond_six_tokens_pairs_of_distances_bound_the_gap_of_sequences_from_below() -> None:
    for n, a in ((3, 2), (4, 3), (5, 2), (6, 2)):
        first = Fraction(2 * n - 1, 2)
        seen = score_gaps._seen_pairs(n, a, first)
        following = dict(score_gaps._next_pairs(n, a, first))
        assert all(best in following and following[best] <= other for best, other in seen)
        assert (0, 1) in seen
    pairs = score_gaps._next_pairs(8, 2, Fraction(15, 2))
    assert {best for best, _ in pairs} == {*range(7), Fraction(15, 2)}


def test_one_angle_more_separates_the_tokens_and_steps_of_two_need_not() -> None:
    for n in (1, 2, 5, 100):
        assert different_keys(n, n + 1).value == n + 1
    # A control that can hold: where N + 1 is odd, steps of two are as good.
    assert different_keys(4, 5, 2).value == 5
    assert different_keys(5, 6, 2).value == 3


@pytest.mark.parametrize("hops", [1, 2, 3, 6, 17])
def test_hops_read_off_the_bit_asked_for_behind_a_tail_of_their_own(hops: int) -> None:
    assert hops_ask_for_every_bit(hops)
    tails = set()
    for bits, i in product(product((0, 1), repeat=5), range(5)):
        sequence = index_sequence(bits, i, hops)
        assert (hop_k(sequence, hops)[-1], tuple(sequence[1:10:2])) == (bits[i], bits)
        assert set(sequence[:10]) <= {0, 1, 2}
        tails.add(tuple(sequence[10:]))
    assert len(tails) == 1
    assert len(tails.pop()) == 2 * hops - 1
