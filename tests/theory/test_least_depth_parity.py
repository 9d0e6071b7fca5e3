"""Least depth of parity and of blocks: other routes to what the claims build on."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import groupby, product
from math import prod
from typing import Any

import numpy as np
import pytest

from depthlaw.theory.claims.values import Case
from depthlaw.theory.formal_languages import counting_logic
from depthlaw.theory.formal_languages.automaton import words
from depthlaw.theory.formal_languages.counting_logic import depth, truths
from depthlaw.theory.least_depth.collapse_cap import common_states, excluded, kinds_of_one_layer
from depthlaw.theory.least_depth.counting_both_ways import alike, exact_blocks, kinds
from depthlaw.theory.least_depth.parity import (
    least_order,
    one_head,
    one_layer,
    sign,
)
from depthlaw.theory.least_depth.printed_lemmas import intervals, prefixes
from depthlaw.theory.least_depth.uniform_parity import output


@pytest.mark.parametrize(("heads", "bits"), [(1, 2), (2, 3), (3, 4), (3, 3), (4, 4)])
def test_outputs_of_random_nets_cancel_exactly_where_bits_outnumber_heads(
    heads: int, bits: int
) -> None:
    """Weights and values that depend on position, bit and head; the denominators are cleared."""
    rng = np.random.default_rng(heads + 10 * bits)
    size = (heads, bits + 1, 2)
    weights, values = rng.integers(1, 50, size), rng.integers(-50, 50, size)

    def cleared(word: tuple[int, ...]) -> int:
        seen = [(i, bit) for i, bit in enumerate((*word, 0))]
        below = [sum(int(weights[h, i, b]) for i, b in seen) for h in range(heads)]
        above = [
            sum(int(weights[h, i, b]) * int(values[h, i, b]) for i, b in seen) for h in range(heads)
        ]
        return sum(above[h] * prod(below[g] for g in range(heads) if g != h) for h in range(heads))

    total = sum(sign(word) * cleared(word) for word in product((0, 1), repeat=bits))
    assert (total == 0) == (heads < bits) == (heads < least_order(bits))


@pytest.mark.parametrize(("bits", "margin"), [(1, 4), (2, 24), (3, 160), (4, 896)])
def test_the_net_of_one_layer_outputs_its_partial_fractions(bits: int, margin: int) -> None:
    outputs = {}
    for word in product((0, 1), repeat=bits):
        c = sum(word)
        stated = prod(Fraction(2 * (c - m) - 1, 2) for m in range(bits)) * (-1) ** bits
        outputs[c] = stated / prod(c + j for j in range(1, bits + 1))
        (output,) = one_layer(Case(bits=bits)).read_out(list(map(str, word)))
        # The query token has a weight of 10^-12.
        assert -float(output) == pytest.approx(float(outputs[c]), rel=1e-9)
    assert min(map(abs, outputs.values())) == Fraction(1, margin)


def test_one_head_a_layer_outputs_an_alternating_sum_of_gaussians() -> None:
    """The formula of the docstring, in floating point, up to a length that no search reaches."""
    for n, ones in ((2, 1), (7, 0), (7, 7), (30, 11), (30, 30)):
        word = [1] * ones + [0] * (n - ones)
        weights = [math.exp(-math.log(4) * (i - ones) ** 2) for i in range(n + 1)]
        signed = sum((-1) ** (i - ones) * w for i, w in enumerate(weights))
        assert signed > 0.4999
        (found,) = one_head(Case(bits=n)).read_out(list(map(str, word)))
        assert -float(found) == pytest.approx((-1) ** ones * signed / sum(weights))


def test_zeros_have_to_weigh_less_than_a_share_of_the_length() -> None:
    assert output((0,) * 6, zeros=1) < 0


def test_counts_to_both_sides_are_as_defined() -> None:
    formula = ("counts", ((2, "<", "a"), (-1, ">", ("and", "b", ("not", "a")))), 1)
    for word in words(6):
        for i, true in enumerate(truths(formula, word)):
            assert true == (2 * word[: i + 1].count("a") - word[i:].count("b") >= 1)


@pytest.mark.parametrize(("bound", "levels"), [(1, 4), (2, 3), (3, 2)])
def test_a_formula_reaches_as_far_on_one_letter_as_the_kinds_say(bound: int, levels: int) -> None:
    formula: Any = ("not", "a")
    for _ in range(levels):
        terms = ((bound, "<", formula), (-1, "<", ("not", formula)))
        formula = ("counts", terms, -bound)
    length = 2 * (bound + 1) ** levels
    found = truths(formula, "a" * length)
    assert depth(formula) == levels
    assert found == [n < (bound + 1) ** levels for n in range(1, length + 1)]
    numbers = kinds(length, levels, bound)
    assert [n == numbers[-1] for n in numbers] == [not true for true in found]


@pytest.mark.parametrize(("sides", "blocks"), [(1, 3), (2, 4), (2, 5), (2, 6)])
def test_random_formulas_of_depth_two_do_not_tell_the_words_apart(sides: int, blocks: int) -> None:
    """Inner comparisons with weights and thresholds up to 1, outer ones up to 30. Depth 3 or 4
    does."""
    rng = np.random.default_rng(sides)
    first, second = alike(2, blocks, sides)
    assert [len([*groupby(w)]) for w in (first, second)] == [blocks, blocks + 2]

    def comparison(inner: list[Any], weight: int) -> Any:
        terms = tuple(
            (int(rng.integers(-weight, weight + 1)), "<>"[rng.integers(sides)], x) for x in inner
        )
        return ("counts", terms, int(rng.integers(-weight, weight + 1)))

    for _ in range(60):
        level = [comparison(["a", "b"], 1) for _ in range(3)]
        level = [("and", "ab"[rng.integers(2)], ("not", x)) for x in level]
        formula = comparison(level, 30)
        assert depth(formula) == 2
        assert truths(formula, first)[-1] == truths(formula, second)[-1]
    if sides == 1:
        three = counting_logic.with_blocks(3)
        assert [truths(three, w)[-1] for w in (first, second)] == [True, False]
    else:
        found = [truths(exact_blocks(blocks), w)[-1] for w in (first, second)]
        assert found == [True, False]


@pytest.mark.parametrize("blocks", range(1, 7))
def test_the_formula_for_blocks_is_one_state_of_all_positions(blocks: int) -> None:
    assert depth(exact_blocks(blocks)) == blocks // 2 + 1
    for word in filter(None, words(8)):
        inside = len([*groupby(word)]) == blocks and word[0] == "a"
        assert set(truths(exact_blocks(blocks), word)) == {inside}


def test_comparisons_on_which_all_positions_agree_are_one_on_words_of_one_common_state() -> None:
    """Every comparison of one layer with weights and thresholds from -1 to 1, on all short
    words. Four are not constant: that there is an a, or a b, or none."""
    listed = [word for word in words(6) if word]
    groups = common_states(listed, kinds_of_one_layer)
    collapsing = []
    for *weights, least in product((-1, 0, 1), repeat=5):
        sides = product("<>", "ab")
        terms = tuple((c, side, x) for c, (side, x) in zip(weights, sides, strict=True))
        found = {word: set(truths(("counts", terms, least), word)) for word in listed}
        if all(len(values) == 1 for values in found.values()):
            collapsing.append(len({min(values) for values in found.values()}))
            assert all(len({min(found[word]) for word in group}) == 1 for group in groups)
    assert collapsing.count(2) == 4


def test_with_a_mask_to_one_side_a_collapse_leaves_nothing() -> None:
    """All positions agree with the first, which has seen its own letter."""
    listed = [word for word in words(7) if word]
    assert excluded(listed, kinds_of_one_layer, range(1, 6)) == [2, 3, 4, 5]
    causal = excluded(listed, lambda w: [k[:3] for k in kinds_of_one_layer(w)], range(1, 6))
    assert causal == [1, 2, 3, 4, 5]


def test_the_predicate_of_the_counterexample_is_constant_and_its_formula_is_not() -> None:
    """Words found by hand: both points of a position agree, the first letters differ."""
    reached = {i for _, i, (x, y) in prefixes(3, 3) if min(x, y) >= 1}
    assert 1 not in reached
    for low, high in intervals((1, 1), (3, 3)):
        x, y = high
        assert low != high
        first, second = "a" * x + "b" * y, "b" + "a" * x + "b" * (y - 1)
        assert first[-1] == second[-1] == "b"
        assert (first.count("a"), first.count("b")) == (second.count("a"), second.count("b"))
        assert first[0] != second[0]
