"""The metered net and the arrays a layer stores, against counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.counting.operation_count import Meter, forward, layer_arrays


def test_meter_multiplies_and_counts() -> None:
    meter = Meter()
    a, b = [[1, 2], [3, 4], [5, 6]], [[7, 8, 9], [1, 2, 3]]
    assert np.array_equal(np.array(meter.times(a, b)), np.array(a) @ np.array(b) % 97)
    assert (meter.multiplications, meter.operations) == (3 * 2 * 3, 2 * 3 * 2 * 3)
    assert meter.by_weights == 0


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="give a divisor"):
        forward(Case(depth=1, width=4, heads=3, tokens=2))


@pytest.mark.parametrize(
    ("batch", "tokens", "width", "heads"), [(1, 1, 4, 1), (2, 3, 8, 2), (1, 3, 4, 4)]
)
def test_stored_arrays_take_the_recalled_number_of_bytes(
    batch: int, tokens: int, width: int, heads: int
) -> None:
    """N b d (34 + 5 H N / d) bytes in a layer (Korthikanti et al. 2022, as recalled)."""
    stored = sum(a.nbytes for a in layer_arrays(batch, tokens, width, heads))
    assert stored == tokens * batch * (34 * width + 5 * heads * tokens)
