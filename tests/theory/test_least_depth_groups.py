"""Words over groups: what the claims rest on, by other routes."""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
import sympy
from sympy.algebras import Quaternion
from sympy.combinatorics import Permutation, PermutationGroup

from depthlaw.theory.least_depth.fixed_reads import block_reads, readable
from depthlaw.theory.least_depth.group_words import cascade, diagonal_net, look_alike, value
from depthlaw.theory.least_depth.groups import (
    GROUPS,
    closure,
    element_name,
    exponent,
    inverse,
    power,
    series,
    times,
)
from depthlaw.theory.least_depth.householder import factors, named, periods
from depthlaw.theory.least_depth.icosians import icosahedral, icosians, tracked

ORDERS = {"C8": 8, "Q8": 8, "D8": 16, "SL(2,3)": 24, "GL(2,3)": 48, "A5": 60, "S5": 120}


@pytest.mark.parametrize("name", GROUPS)
def test_series_is_that_of_sympy(name: str) -> None:
    ours = [len(part) for part in series(closure(GROUPS[name]), exponent(closure(GROUPS[name])))]
    group = PermutationGroup([Permutation(g) for g in GROUPS[name]])
    theirs = [part.order() for part in group.derived_series()]
    assert ours == theirs
    assert ours[0] == ORDERS.get(name, ours[0])


def test_quaternions_have_one_element_of_order_two() -> None:
    group = closure(GROUPS["Q8"])
    assert sum(power(x, 2) == power(x, 0) for x in group) == 2
    assert any(times(x, y) != times(y, x) for x in group for y in group)


def test_two_layers_of_complex_numbers_track_s3() -> None:
    """Weights as numbers, by hand: signs, and third roots of unity turned by the sign before."""
    omega, r, s = complex(-0.5, math.sqrt(3) / 2), (1, 2, 0), (1, 0, 2)
    letters = {(a, b): times(power(r, a), power(s, b)) for a in range(3) for b in range(2)}
    for word in product(letters, repeat=4):
        sign, turn = 1, complex(1)
        for a, b in word:
            turn *= omega ** (a * sign)
            sign *= (-1) ** b
        a = min(range(3), key=lambda a: abs(turn - omega**a))
        x = value(tuple(letters[letter] for letter in word), power(r, 0))
        assert letters[a, int(sign < 0)] == x


def test_cascade_decodes_random_words() -> None:
    group, rng = closure(GROUPS["S4"]), random.Random(1)
    net, word = diagonal_net("S4", 12), tuple(rng.choices(sorted(group), k=200))
    assert net.depth == 3
    for n in range(1, len(word) + 1):
        letters = [element_name(x) for x in word[:n]]
        assert net.answer(letters) == element_name(value(word[:n], power(min(group), 0)))


def test_layers_of_m_need_roots_of_the_right_order() -> None:
    group = closure(GROUPS["S3"])
    with pytest.raises(ValueError, match="roots of unity of order 2"):
        cascade(series(group, 6), 2)


@pytest.mark.parametrize(("name", "m", "depth"), [("S3", 6, 1), ("S4", 12, 2), ("A5", 30, 3)])
def test_random_stacks_cannot_tell_the_words_apart(name: str, m: int, depth: int) -> None:
    """Weights drawn afresh for each letter in each state of the layers below."""
    group = closure(GROUPS[name])
    first, second = look_alike(group, m, depth)
    one = power(min(group), 0)
    assert value(first, one) != value(second, one)
    for seed in range(3):
        rng, weights, ends = random.Random(seed), {}, []
        for word in (first, second):
            states = (0,) * depth
            for letter in word:
                states = tuple(
                    (state + weights.setdefault((states[:level], letter), rng.randrange(m))) % m
                    for level, state in enumerate(states)
                )
            ends.append(states)
        assert ends[0] == ends[1]


def test_no_words_look_alike_where_the_cascade_tells_them_apart() -> None:
    for name, m in (("C6", 6), ("S3", 6), ("S4", 12), ("D8", 2), ("C8", 2)):
        group = closure(GROUPS[name])
        assert look_alike(group, m, len(series(group, m)) - 1) is None


def test_affine_maps_over_a_field_of_three_elements_are_s3() -> None:
    """Why states are complex numbers: over a finite field one affine layer is not commutative."""
    maps = {tuple((a * z + b) % 3 for z in range(3)) for a in (1, 2) for b in range(3)}
    assert maps == closure(GROUPS["S3"])


def test_affine_maps_of_a_finite_set_fix_its_mean() -> None:
    """z -> a z + b permutes a finite set: then it is a rotation about the mean of the set."""
    a, b, total, size = sympy.symbols("a b total size")
    mean = total / size
    permuted = sympy.solve(sympy.Eq(a * total + b * size, total), b)[0]
    assert sympy.simplify((a * mean + permuted) - mean) == 0


def test_fixed_reads_cover_no_more_than_their_count() -> None:
    for length, heads, layers in product((4, 6), (1, 2), (1, 2)):
        largest = max(bits.bit_count() for bits in readable(length, heads, layers)[-1])
        assert largest == min(length, (heads + 1) ** layers)
    assert block_reads(27, 2, 3) == tuple(range(27))
    assert block_reads(28, 2, 3) != tuple(range(28))


def test_reflections_are_those_of_the_group() -> None:
    assert [len(named(group)[0]) for group in ("D5", "A4", "S4", "A5")] == [5, 6, 9, 15]
    for group in ("A4", "S4", "A5"):
        derived = [len(part) for part in series(named(group)[1], 60)]
        assert derived == [len(part) for part in series(closure(GROUPS[group]), 60)]


def test_four_deltanet_layers_track_s5() -> None:
    letters, rng = sorted(closure(GROUPS["S5"])), random.Random(2)
    swaps = [x for x in letters if sum(i != p for i, p in enumerate(x)) == 2]
    states = (letters[0],) * 4
    x = letters[0]
    for letter in rng.choices(letters, k=40):
        after, below = [], letters[0]
        for state, mirror in zip(states, reversed(factors(letter, swaps, 4)), strict=True):
            after.append(times(state, times(times(below, mirror), inverse(below))))
            below = times(state, below)
        x = times(x, letter)
        assert all(
            any(times(old, f) == new for f in (letters[0], *swaps))
            for old, new in zip(states, after, strict=True)
        )
        states = after
        assert value(states[::-1], letters[0]) == x
    with pytest.raises(ValueError, match="more reflections"):
        factors((1, 2, 3, 4, 0), swaps, 3)


def test_one_householder_factor_in_fractions_has_period_two() -> None:
    """Orbits of s -> mu s + c, run: those that come back do so after at most two steps."""
    for numerator, c, s in product(range(-4, 5), (-1, 0, 2), (0, 1, 3)):
        mu, orbit = sympy.Rational(numerator, 4), [sympy.Integer(s)]
        for _ in range(8):
            orbit.append(mu * orbit[-1] + c)
        if orbit[-1] in orbit[:-1]:
            assert orbit[-1] == orbit[-3]
    assert periods(7) == {1}


def test_reflections_across_quaternions_track_s5() -> None:
    """The matrices of layer 2 in floating point on a random word: the products are read off it."""
    table, roots = icosahedral(), icosians()
    ours = [
        Quaternion(*(sympy.Rational(a, 2) + b * sympy.GoldenRatio / 2 for a, b in x)) for x in roots
    ]
    ours = [[float(x) for x in (q.a, q.b, q.c, q.d)] for q in ours]
    letters, rng = sorted(closure(GROUPS["S5"])), random.Random(3)
    swap, even = (1, 0, 2, 3, 4), closure(GROUPS["A5"])
    assert sorted(table.rotation) == sorted(2 * list(even))
    x, sign, state = letters[0], 0, np.eye(4)
    for count, letter in enumerate(rng.choices(letters, k=100)):
        after = sign ^ (letter not in even)
        turn = times(times(power(swap, sign), letter), power(swap, after))
        q = Quaternion(*ours[table.rotation.index(turn)])
        k = np.array((q if count % 2 else q.conjugate()).to_Matrix().T, dtype=float)[0]
        state, sign, x = state - 2 * np.outer(state @ k, k), after, times(x, letter)
        if count % 2:
            # s goes to l s r: what r does to i, j and k, by the states that started there.
            r = Quaternion(*ours[table.rotation.index(times(x, power(swap, sign)))])
            rows = [Quaternion(*row) for row in state]
            for row, unit in zip(rows, np.eye(4), strict=True):
                turned = r.conjugate() * Quaternion(*unit) * r - rows[0].conjugate() * row
                assert max(map(abs, turned.to_Matrix())) < 1e-9


def test_layer_2_needs_both_signs() -> None:
    group = closure(GROUPS["S5"])
    assert not tracked(group, reads_count=False)
    assert not tracked(group, reads_sign=False)


def test_what_two_deltanet_layers_cannot_do_of_order_39() -> None:
    """The two facts that the prose of docs/fewer-layers.md computes with."""
    x, y = GROUPS["C13:C3"]
    assert len(closure([x, y])) == 39
    eighth = power(y, 8)
    assert times(eighth, x) != times(x, eighth)
    assert 2 * math.sin(math.pi / 13) < 0.5 < 2 * math.sin(math.pi / 11)
