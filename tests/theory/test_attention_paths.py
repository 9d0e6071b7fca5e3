"""Paths: mean and most frequent lengths of models, of which the note gives figures; skips."""

from fractions import Fraction
from math import comb

import pytest

from depthlaw.theory.claims.definition import Case, Exact
from depthlaw.theory.rank_collapse import attention_paths as paths


def shares(depth, heads):
    """Of paths of length 0..L: each of L layers is one of the heads or the skip."""
    return [
        Fraction(comb(depth, length) * heads**length, (heads + 1) ** depth)
        for length in range(depth + 1)
    ]


@pytest.mark.parametrize(
    ("depth", "heads", "figure"),
    [
        *((12, 12, "11.077"), (24, 16, "22.59"), (96, 96, "95.01"), (12, 3, "9.00")),
        *((1, 1, ""), (2, 4, ""), (5, 1, ""), (40, 2, "")),
    ],
)
def test_mean_and_most_frequent_length(depth, heads, figure):
    found = shares(depth, heads)
    mean = sum(length * share for length, share in enumerate(found))
    assert mean == Fraction(depth * heads, heads + 1)
    largest = max(length for length, share in enumerate(found) if share == max(found))
    assert largest == (depth + 1) * heads // (heads + 1)
    assert not figure or f"{float(mean):.{len(figure.partition('.')[2])}f}" == figure
    assert figure in paths.path_count.plain.note


def test_the_shares_of_bert_in_the_note():
    base = shares(12, 12)
    figures = f"P(12) = {float(base[-1]):.4f}, P(at most 6) = {float(sum(base[:7])):.2e}"
    assert figures.replace("e-04", "*10^-4") in paths.path_count.plain.note


def test_skips_keep_the_residual_and_pure_attention_does_not():
    shape = {"tokens": 4, "width": 3, "depth": 2, "heads": 1}
    growth = paths.skip_existence.measure
    assert growth(Case(instance="zero", **shape)) == Exact(1)
    assert growth(Case(instance="orthogonal", beta="1/100", **shape)).low > 1
    assert growth(Case(instance="none", beta="1/100", **shape)).high < Fraction(1, 10)
