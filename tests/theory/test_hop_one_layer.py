"""One layer: the reduction on all words, the searches against arithmetic."""

from __future__ import annotations

from itertools import product

import pytest

from depthlaw.theory.hops.one_layer import hops_ask_for_every_bit, index_sequence
from depthlaw.theory.hops.pointers import hop_k


def test_induction_reads_off_the_bit_asked_for() -> None:
    for bits in product((0, 1), repeat=5):
        for i in range(5):
            sequence = index_sequence(bits, i)
            assert hop_k(sequence, 1)[-1] == bits[i]
            assert tuple(sequence[1::2]) == bits
            assert set(sequence) <= {0, 1, 2}


@pytest.mark.parametrize("hops", [1, 2, 3, 6, 17])
def test_more_hops_ask_for_the_same_bits_behind_a_tail_of_their_own(hops: int) -> None:
    assert hops_ask_for_every_bit(hops)
    asked = [index_sequence(bits, i, hops) for bits in product((0, 1), repeat=3) for i in range(3)]
    assert {len(sequence) for sequence in asked} == {7 + 2 * (hops - 1)}
    assert len({tuple(sequence[6:]) for sequence in asked}) == 1
