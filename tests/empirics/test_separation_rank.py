"""Graded pieces with PyTorch's arrays: the integers of NumPy's."""
import pytest

from depthlaw.empirics.separation_rank import piece_on
from depthlaw.theory.claim import Case
from depthlaw.theory.separation_rank.exact import measured_piece


@pytest.mark.parametrize("order", [0, 3, 6, 7, 13])
def test_torch_gives_the_same_rank(order):
    case = Case(width=3, depth=3, heads=1, order=order)
    assert piece_on("cpu", case, 0) == measured_piece(case, 0)
