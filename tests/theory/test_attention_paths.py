"""Paths: lengths against enumeration and scipy, sums against forward passes."""

from fractions import Fraction

import pytest
from scipy.stats import binom

from depthlaw.theory.claims.definition import Case, Exact, at
from depthlaw.theory.rank_collapse import attention_paths as paths


def shares(depth, heads):
    counts = paths.length_counts(Case(depth=depth, heads=heads))
    return [Fraction(count, sum(counts)) for count in counts]


@pytest.mark.parametrize("depth", range(10))
@pytest.mark.parametrize("heads", range(1, 6))
def test_counts_layer_by_layer_agree_with_both_laws(depth, heads):
    cases = [Case(depth=depth, heads=heads, path_length=length) for length in range(depth + 1)]
    counts = [at(paths.path_count.statement.rhs, case) for case in cases]
    assert paths.length_counts(cases[0]) == counts
    assert sum(counts) == (heads + 1) ** depth
    assert shares(depth, heads) == [at(paths.path_length_law.statement.rhs, case) for case in cases]


def test_bert_base_agrees_with_scipy():
    law = binom(12, 12 / 13)
    found = shares(12, 12)
    assert all(abs(float(share) - law.pmf(m)) < 1e-12 for m, share in enumerate(found))
    assert found[11] == found[12]


def test_null_cases():
    assert shares(0, 5) == [1]
    assert shares(3, 0) == [1, 0, 0, 0]


def test_the_wrong_order_of_layers_is_seen():
    case = {"tokens": 3, "width": 2, "depth": 2, "heads": 2}
    assert paths.path_decomposition.measure(Case(**case)) == Exact(0)
    assert paths.path_decomposition.measure(Case(**case, order="reversed")).value > 0


def test_skips_keep_the_residual_and_pure_attention_does_not():
    shape = {"tokens": 4, "width": 3, "depth": 2, "heads": 1}
    growth = paths.skip_existence.measure
    assert growth(Case(instance="zero", **shape)) == Exact(1)
    assert growth(Case(instance="orthogonal", beta="1/100", **shape)).low > 1
    assert growth(Case(instance="none", beta="1/100", **shape)).high < Fraction(1, 10)
