"""Chain of thought, composition, regression: counts, brute force, matrices, known numbers."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import pytest
import sympy

from depthlaw.theory.least_depth.chain_of_thought import (
    WordFunction,
    decoder,
    iterated,
    kth_one,
    least_steps,
    ranks,
    task,
    truth_tables,
)
from depthlaw.theory.least_depth.composition import cells_read, composed, looked_up, sensitive_maps
from depthlaw.theory.least_depth.in_context_regression import (
    descended,
    excluded,
    powers,
    residual,
    within,
)

RNG = random.Random(7)


def tabled(table: tuple[int, ...], length: int) -> WordFunction:
    answers = dict(zip(product((0, 1), repeat=length), table, strict=True))
    return task(answers.__getitem__, length)


def test_functions_of_each_rank() -> None:
    """The counts of the reference; AND has rank 1, PARITY the number of its bits."""
    by_length = [{0: 2, 1: 2}, {0: 2, 1: 12, 2: 2}, {0: 2, 1: 94, 2: 158, 3: 2}]
    for length, counts in enumerate(by_length, 1):
        assert Counter(rank(tabled(table, length)) for table in truth_tables(length)) == counts
    assert rank(task(all, 5)) == 1
    assert [rank(task(lambda word: sum(word) % 2, n)) for n in range(5)] == [0, 1, 2, 3, 4]


def rank(the: WordFunction) -> int:
    return ranks(the)(the.everything)[0]


def test_functions_of_four_bits_are_counted_once_up_to_order_and_flips() -> None:
    assert len(list(truth_tables(4))) == 402


@pytest.mark.parametrize("heads", [1, 2])
def test_one_step_is_some_choice_of_orders(heads: int) -> None:
    """All orders of the six scores, for every function of three bits."""
    words = list(product((0, 1), repeat=3))
    pairs = list(product(range(3), (0, 1)))
    first = {
        tuple(next(pair for pair in order if word[pair[0]] == pair[1]) for word in words)
        for order in permutations(pairs)
    }
    for table in truth_tables(3):
        possible = any(
            len(
                {
                    (seen, answer)
                    for *seen_by, answer in zip(*several, table, strict=True)
                    for seen in [tuple(seen_by)]
                }
            )
            == len(set(zip(*several, strict=True)))
            for several in product(first, repeat=heads)
        )
        assert (least_steps(tabled(table, 3), heads) <= 1) == possible


def test_the_decoder_of_and_looks_for_a_zero_in_one_step() -> None:
    made = decoder(task(all, 3))
    ((order,),) = made.heads.values()
    assert {pair[-1] for pair in order[:3]} == {"0"}
    assert made.answer(("1", "0", "1")) == ("False", 1)


def test_more_heads_replace_steps_on_short_words() -> None:
    """Exact numbers of steps for the k-th one, k = 1..n, and for maps applied again."""
    rows = {(2, 6): [1, 2, 2, 2, 1, 1], (2, 8): [1, 2, 2, 3, 2, 2, 1, 1], (3, 5): [1, 1, 2, 1, 1]}
    for (heads, n), row in rows.items():
        assert [least_steps(task(kth_one(k), n), heads) for k in range(1, n + 1)] == row
    assert [least_steps(task(iterated(times), 4, 4), 2) for times in (1, 2, 3)] == [1, 2, 2]


def test_multiplexers() -> None:
    """The address selects a bit: rank 2 for one address bit, 3 for two."""
    assert least_steps(task(lambda w: w[1 + w[0]], 3)) == 2
    assert least_steps(task(lambda w: w[2 + 2 * w[0] + w[1]], 6)) == 3


def test_lookups_are_right_from_the_stated_layer_on_and_silent_before() -> None:
    for many in range(1, 6):
        needed = many.bit_length()
        for bits in product(((0, 1), (1, 0), (0, 0)), repeat=many):
            assert looked_up(bits, 1, needed) == composed(bits, 1)
            assert looked_up(bits, 1, needed + 1) == composed(bits, 1)
            assert looked_up(bits, 1, needed - 1) is None


def test_cells_read_and_maps_that_matter() -> None:
    assert [cells_read(layers) for layers in range(5)] == [0, 1, 3, 7, 15]
    assert [cells_read(layers, 2) for layers in range(4)] == [0, 2, 8, 26]
    assert [sensitive_maps(many, 2) for many in range(5)] == [0, 1, 2, 3, 4]
    assert sensitive_maps(3, 1) == 0


def drawn(*shape: int) -> sympy.Matrix:
    return sympy.Matrix(*shape, lambda *_: sympy.Rational(RNG.randint(-4, 4), RNG.randint(1, 3)))


def test_linear_attention_against_matrices() -> None:
    """A layer of one head is a gradient step; many heads hold powers of the covariance."""
    for _ in range(6):
        examples, size, many = RNG.randint(1, 4), RNG.randint(1, 3), RNG.randint(0, 3)
        x, w, query = drawn(examples, size), drawn(size, 1), drawn(size, 1)
        covariance = x.T * x / examples
        rows = [*(x.row(i) for i in range(examples)), query.T]
        tokens = [
            ([Fraction(str(e)) for e in row], Fraction(str(value)))
            for row, value in zip(rows, [*(x * w), 0], strict=True)
        ]
        steps = [Fraction(1, RNG.randint(1, 9)) for _ in range(many)]
        learnt = sympy.zeros(size, 1)
        for step in steps:
            learnt += sympy.Rational(step) * covariance * (w - learnt)
        assert sympy.Rational(descended(steps, tokens)) == (learnt.T * query)[0]
        held = [(w.T * covariance**m * query)[0] for m in range(14)]
        assert list(map(sympy.Rational, powers(3, tokens))) == [0, *held[1:]]


def test_degrees_are_excluded_up_to_the_number_of_steps() -> None:
    """The table of the reference, condition numbers 4, 9, 100 and one to three digits."""
    table = {4: (3, 5, 7), 9: (5, 8, 11), 100: (15, 27, 38)}
    for condition, row in table.items():
        for digits, steps in enumerate(row, 1):
            assert excluded(steps - 1, condition, digits)
            assert not excluded(steps, condition, digits)
    assert within(residual([Fraction(3, 2)]), 2, 0)
    assert not within(residual([Fraction(2)]), 2, 0)
