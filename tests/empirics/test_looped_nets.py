"""Looped nets in torch beside the limit of infinite width, computed by balls, and beside sums over
weights."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from depthlaw.empirics.nets.net import Factors
from depthlaw.empirics.signal_propagation.looped_nets import ends, step_exponents
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.signal_propagation.looped_limits import wide_square


@pytest.mark.parametrize("post", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_wide_nets_without_attention_have_the_streams_of_infinite_width(
    post: bool, power: int
) -> None:
    """At the claims' scale, power 2, and at that of passes with weights of their own."""
    own_layers, loops, norm = 2, 3, "post" if post else "pre"
    sizes = {"width": 256, "own_layers": own_layers, "loops": loops}
    case = Case(**sizes, tokens=4, replicas=8, norm=norm)
    share = Fraction(1, 2 * own_layers * loops**power)
    scale = float(share) ** 0.5
    mlp = Factors(skip=1 / scale) if post else Factors(branch=scale)
    first, last = ends(case, 0, "cpu", (Factors(branch=0.0), mlp), branches=2)
    measured = (first * last).mean().item() ** -2 if post else last.square().mean().item()
    with flint.ctx.workprec(64):
        limit = float(wide_square(own_layers, loops, share, post=post))
    assert measured == pytest.approx(limit, rel=0.1)


def test_what_attention_writes_of_equal_tokens_has_mean_square_1() -> None:
    """One token attends to itself alone: the stream of one pass doubles, as with two MLPs."""
    case = Case(width=256, own_layers=2, loops=1, tokens=1, replicas=8, norm="pre")
    branch = Factors(branch=4**-0.5)
    first, last = ends(case, 0, "cpu", (branch, branch))
    assert first.square().mean().item() == pytest.approx(1)
    assert last.square().mean().item() == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_a_step_follows_the_sum_over_weights(optimiser: str, power: int) -> None:
    """With DeepNorm of L R^power layers R^2 beta^2/alpha^2 for SGD, R beta/alpha for Adam."""
    case = Case(width=32, own_layers=1, loops=4, replicas=24, optimiser=optimiser)
    expected = 2 - power if optimiser == "sgd" else 1 - power / 2
    assert np.mean(step_exponents(case, 1, power=power).values) == pytest.approx(expected, abs=0.15)
