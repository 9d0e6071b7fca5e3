"""What hops cost: an independent network on short sequences, searches against plain counting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.hops import score_gaps
from depthlaw.theory.hops.hop_lower_bounds import (
    edge_sequence,
    key_steps,
)
from depthlaw.theory.hops.network import BOTTOM, symbol_carrying
from depthlaw.theory.hops.pointers import hop_k
from depthlaw.theory.hops.score_gaps import (
    different_keys,
    gap_of_last_match,
    head_gaps,
)


def strictly_masked(sequence: Sequence[int], alphabet: int, hops: int) -> list[int]:
    """floor(log2 k) + 2 layers with the mask j < i, written anew from vectors on the circle.

    The largest inner product wins, and there are no ties.
    """
    n, x = len(sequence), [BOTTOM, *sequence]

    def head(query: float, keys: dict[int, float]) -> int:
        scores = {
            j: math.cos(query) * math.cos(a) + math.sin(query) * math.sin(a)
            for j, a in keys.items()
        }
        best = max(scores, key=lambda j: scores[j])
        # Scores differ by at least 1 - cos(pi/(N |Sigma|)) > 1e-3; float64 errs by less than 1e-14.
        assert all(j == best or scores[best] - s > 1e-9 for j, s in scores.items())
        return best

    step = math.pi / (n * alphabet)
    pointer = [0] * (n + 1)
    for i in range(1, n + 1):
        own = step * (2 * n * x[i] + i)
        keys = {j: step * (2 * n * x[j] + j) for j in range(1, i)}
        found = head(own, {0: own + step * (n - 0.5), **keys})
        pointer[i] = found + 1 if found else 0
    answer, digits = x, hops
    for _ in range(math.floor(math.log2(hops)) + 1):
        angle = 2 * math.pi / (n + 1)
        source = [
            i if p == i else head(angle * p, {j: angle * j for j in range(i)})
            for i, p in enumerate(pointer)
        ]
        answer = [answer[s] if digits % 2 else a for a, s in zip(answer, source, strict=True)]
        pointer, digits = [pointer[s] for s in source], digits // 2
    return answer[1:]


@pytest.mark.parametrize(("alphabet", "longest"), [(2, 5), (3, 3)])
def test_a_strict_mask_needs_floor_log2_layers_on_every_short_sequence(
    alphabet: int, longest: int
) -> None:
    for n in range(1, longest + 1):
        for sequence in product(range(alphabet), repeat=n):
            for hops in (1, 2, 3, 4, 5, 7):
                truth = hop_k(sequence, hops, BOTTOM)
                assert strictly_masked(sequence, alphabet, hops) == truth
                for mask in ("strict", "causal"):
                    layers = symbol_carrying(sequence, alphabet, hops, mask=mask)
                    assert next(islice(layers, hops.bit_length() + 1, None)).tolist() == truth


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


def test_two_triangles_come_back_and_a_hexagon_does_not() -> None:
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    hexagon = [(i, (i + 1) % 6) for i in range(6)]
    assert [hop_k(edge_sequence(edges, 1, 3), 6)[-1] for edges in (triangles, hexagon)] == [1, 4]
    # 9 k (k/2) + 1 tokens, and a copy less does not do for edges that are listed along the walk.
    assert len(edge_sequence(hexagon, 1, 3)) == 9 * 6 * 3 + 1
    assert hop_k(edge_sequence(hexagon, 1, 2), 6)[-1] != 4


def test_gaps_against_floats() -> None:
    for found, angle in (
        (head_gaps.measure(Case(head="lookup", tokens=9)), math.pi / 5),
        (head_gaps.measure(Case(head="last occurrence", tokens=4, alphabet=3)), math.pi / 12),
    ):
        assert abs(found.value / 1e9 - (1 - math.cos(angle))) < 2e-9


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
