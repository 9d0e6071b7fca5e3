"""Paths: lengths against enumeration and scipy, sums against forward passes."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from depthlaw.theory.claims.definition import Case, Exact, at
from depthlaw.theory.rank_collapse import attention_paths as paths


def length_counts(depth, heads):
    """Paths by length 0..L, a layer at a time: one grows by any of the heads or takes the skip."""
    counts = [1]
    for _ in range(depth):
        grown = [0, *(heads * count for count in counts)]
        counts = [skip + more for skip, more in zip([*counts, 0], grown, strict=True)]
    return counts


def shares(depth, heads):
    counts = length_counts(depth, heads)
    return [Fraction(count, sum(counts)) for count in counts]


@pytest.mark.parametrize("depth", range(10))
@pytest.mark.parametrize("heads", range(1, 6))
def test_counts_layer_by_layer_agree_with_both_laws(depth, heads):
    cases = [Case(depth=depth, heads=heads, path_length=length) for length in range(depth + 1)]
    counts = [at(paths.path_count.statement.rhs, case) for case in cases]
    assert length_counts(depth, heads) == counts
    assert sum(counts) == (heads + 1) ** depth
    law = binom(depth, heads / (heads + 1))
    assert np.abs(law.pmf(range(depth + 1)) - np.array(shares(depth, heads), float)).max() < 1e-12


@pytest.mark.parametrize(
    ("depth", "heads"),
    [(1, 1), (12, 12), (24, 16), (96, 96), (12, 3), (2, 4), (5, 1), (6, 2), (40, 2)],
)
def test_mean_and_most_frequent_length(depth, heads):
    found = shares(depth, heads)
    mean = sum(length * share for length, share in enumerate(found))
    assert mean == Fraction(depth * heads, heads + 1)
    largest = max(length for length, share in enumerate(found) if share == max(found))
    assert largest == (depth + 1) * heads // (heads + 1)


@pytest.mark.parametrize(
    ("depth", "heads", "mean"),
    [(12, 12, "11.077"), (24, 16, "22.59"), (96, 96, "95.01"), (12, 3, "9.00")],
)
def test_the_figures_of_models_in_the_note(depth, heads, mean):
    digits = len(mean.partition(".")[2])
    assert f"{depth * heads / (heads + 1):.{digits}f}" == mean
    assert mean in paths.path_count.plain.note
    base = shares(12, 12)
    figures = f"P(12) = {float(base[-1]):.4f}, P(at most 6) = {float(sum(base[:7])):.2e}"
    assert figures.replace("e-04", "*10^-4") in paths.path_count.plain.note


def test_the_wrong_order_of_layers_is_seen():
    case = {"skips": False, "tokens": 3, "width": 2, "depth": 2, "heads": 2}
    assert paths.path_decomposition.measure(Case(**case)) == Exact(0)
    assert paths.path_decomposition.measure(Case(**case, order="reversed")).value > 0


def test_skips_keep_the_residual_and_pure_attention_does_not():
    shape = {"tokens": 4, "width": 3, "depth": 2, "heads": 1}
    growth = paths.skip_existence.measure
    assert growth(Case(instance="zero", **shape)) == Exact(1)
    assert growth(Case(instance="orthogonal", beta="1/100", **shape)).low > 1
    assert growth(Case(instance="none", beta="1/100", **shape)).high < Fraction(1, 10)
