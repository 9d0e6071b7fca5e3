"""Tasks that everybody asks for: their nets at other sizes than those stored, what fewer layers
cannot do, and their answers by other routes."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from math import factorial

import pytest
from stored_nets import changed, stored

from depthlaw.advisor.atlas import atlas_rows
from depthlaw.theory.atlas.check import check
from depthlaw.theory.atlas.ends import Result
from depthlaw.theory.atlas.languages import depth_of_language
from depthlaw.theory.atlas.tasks import sorting, word_task
from depthlaw.theory.least_depth import everyday_nets as nets
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.classes import in_class
from depthlaw.theory.nets.json_format import net_of
from depthlaw.theory.nets.right import right_on

EVERYDAY = {
    *("majority", "count", "sorting", "recall", "copying", "equality", "dyck-one", "match-three"),
    *("copying-any", "addition", "multiplication", "circuit"),
}


def test_each_task_has_ends_with_a_source_or_a_reason() -> None:
    rows = [row for row in atlas_rows() if row.task.key in EVERYDAY]
    assert {row.task.key for row in rows} == EVERYDAY
    for row in rows:
        for end in filter(None, (row.lower, row.upper)):
            assert end.argument if end.ours else end.place, (row.task.key, row.class_.key)


# --- sorting: N layers sort more than N numbers ---


def orders(n: int) -> list[tuple[str, ...]]:
    """Every order of the numbers 2, 4, ..., 2 n, with every place that may be asked for."""
    numbers = [str(2 * i) for i in range(1, n + 1)]
    asked = [str(k) for k in range(1, n + 1)]
    return [(*order, k) for order in itertools.permutations(numbers) for k in asked]


@pytest.mark.parametrize("n", range(2, 7))
def test_one_layer_and_two_layers_sort_all_orders(n: int) -> None:
    task, words = sorting(n, 2 * n), orders(n)
    assert len(words) == n * factorial(n)
    both = nets.sorted_by_counts(2 * n), nets.sorted_by_slopes(n, range(1, 2 * n + 1))
    for depth, net in enumerate(both, 1):
        right = right_on(net, task, words)
        assert (bool(right), right.words, right.depth) == (True, len(words), depth)


def test_all_orders_of_seven_numbers_are_sorted() -> None:
    """By softmax a few of them, since it writes out weights of hundreds of digits."""
    words, by_slopes = orders(7), nets.sorted_by_slopes
    assert len(words) == 7 * factorial(7)
    for net in (nets.sorted_by_counts(14), by_slopes(7, range(1, 15), "average")):
        assert right_on(net, sorting(7, 14), words)
    assert right_on(by_slopes(7, range(1, 15)), sorting(7, 14), words[::997])


@pytest.mark.parametrize(("n", "m"), [(1, 3), (2, 5), (4, 4)])
def test_equal_numbers_are_sorted_too(n: int, m: int) -> None:
    assert right_on(nets.sorted_by_counts(m), sorting(n, m))
    for attention in ("softmax", "average"):
        assert right_on(nets.sorted_by_slopes(n, range(1, m + 1), attention), sorting(n, m))


def test_any_fractions_are_sorted_exactly_by_the_average_over_maxima() -> None:
    numbers = [Fraction(-7, 3), Fraction(0), Fraction(1, 2), Fraction(501, 1000), Fraction(40)]
    net = nets.sorted_by_slopes(3, numbers, "average", places=(1, 2, 3))
    asked = [(*w, f">{k}") for w in itertools.product(map(str, numbers), repeat=3) for k in "123"]
    for word, said in answers(net, asked):
        assert said == str(sorted(map(Fraction, word[:-1]))[int(word[-1][1:]) - 1])


# --- other sizes ---


@pytest.mark.parametrize(
    ("task", "parameters", "net"),
    [
        ("count", {"n": 9}, nets.counting(9)),
        *(("recall", {"n": n, "keys": 4, "values": 3}, nets.recalled(4, 3)) for n in (1, 2)),
        *(("copying", {"n": n, "symbols": 3}, nets.copied(n, 3)) for n in (1, 5)),
        ("copying-any", {"n": 6, "symbols": 2}, nets.copied_after_the_bar(2)),
        ("copying-any", {"n": 3, "symbols": 4}, nets.copied_after_the_bar(4)),
        *(
            ("equality", {"n": n, "symbols": s}, nets.equal_words(n, s))
            for n, s in ((1, 4), (2, 3), (5, 2))
        ),
        *(("match-three", {"M": M}, nets.three_found(M)) for M in (4, 6)),
        *(("circuit", {"n": n, "D": D}, nets.evaluated(n, D)) for n, D in ((4, 2), (5, 4))),
    ],
)
def test_nets_are_right_at_other_sizes(task, parameters, net) -> None:
    assert right_on(net, word_task(task, parameters))


@pytest.mark.parametrize(("M", "length"), [(4, 6), (5, 5), (7, 5), (9, 4)])
def test_two_wide_layers_find_three_numbers(M: int, length: int) -> None:
    """One layer says no to each word, and the answers are those of all threes."""
    net, task = nets._three_counted(M), word_task("match-three", {"M": M})
    words = list(task.words(length))[1:]
    threes = ([sum(map(int, x)) % M for x in itertools.combinations(word, 3)] for word in words)
    assert [0 in sums for sums in threes] == [task.answer(word) for word in words]
    assert in_class(net, "softmax-heads", {"k": 1}) == ""
    assert right_on(net, task, words)
    assert not right_on(replace(net, layers=net.layers[:1]), task, words)


def test_one_loop_less_does_not_evaluate_deeper_circuits() -> None:
    for D in (2, 3):
        task = word_task("circuit", {"n": 5, "D": D})
        assert right_on(nets.evaluated(5, D), task)
        assert not right_on(nets.evaluated(5, D - 1), task)


def test_loops_have_the_same_weights() -> None:
    body = stored("circuit-loops")
    assert in_class(net_of(body), "looped-two-heads") == ""
    other = changed(body, ["layers", 1, "mlp", "bias", 0], 1)
    assert "loops of one" in in_class(net_of(other), "looped-two-heads")


def test_no_positions_are_of_one_kind_too() -> None:
    for name, class_ in (("majority", "softmax-positions"), ("dyck-one", "softmax")):
        assert not stored(name).get("positions")
        assert check(stored(name) | {"class": class_}).result == Result.AS_MANY


def test_long_words_of_brackets_bits_and_products() -> None:
    rng = random.Random(0)
    deep = "(" * 30 + ")" * 30
    words = [deep, deep[1:], deep + ")(", deep[:-1], ")" + deep[1:], "()" * 30, "())(" * 15]
    words += ["".join(rng.choices("()", k=40)) for _ in range(20)]
    assert right_on(nets.matched_brackets(), word_task("dyck-one", {}), map(tuple, words))
    bits = [tuple("01" * 20 + one) for one in ("0", "1", "10", "110")]
    assert right_on(nets.majority(), word_task("majority", {}), bits)
    task = word_task("multiplication", {})
    pairs = [tuple(rng.choices(task.letters, k=n)) for n in (8, 16, 24, 40) for _ in range(9)]
    # The whole part is the largest there is; the rest is 1/2; 1/2 less the least that there is.
    pairs += [("11",) * 40, ("10", *["00"] * 38, "01"), ("11", *["10"] * 38, "00")]
    assert right_on(nets.multiplied(), task, pairs)


# --- why fewer layers fail ---


def block(alice: int, bob: int) -> str:
    """Four brackets in turn by two players; two of them close in a row iff both have a one."""
    (one, three), (two, four) = (")(" if bit else "()" for bit in (alice, bob))
    return one + two + three + four


@pytest.mark.parametrize("blocks", range(1, 5))
def test_brackets_hold_disjoint_sets(blocks: int) -> None:
    """Each set of blocks of one player is split off from the other's single blocks: no bound on
    the VC dimension, which one layer of a fixed size has."""
    answer, bounded = word_task("dyck-one", {}).answer, word_task("dyck", {"k": 1, "D": 3}).answer
    for alice, bob in itertools.product(itertools.product((0, 1), repeat=blocks), repeat=2):
        word = tuple("(" + "".join(map(block, alice, bob)) + ")")
        disjoint = not any(a and b for a, b in zip(alice, bob, strict=True))
        assert answer(word) == bounded(word) == disjoint


@pytest.mark.parametrize("more", range(8))
@pytest.mark.parametrize("elements", range(1, 5))
def test_three_numbers_hold_disjoint_sets(elements: int, more: int) -> None:
    """One number of each player and one more have the sum 0 iff both have that element: a remainder
    modulo 7 says whose a number is, and what is above it the element, or one that nobody shares.
    Three numbers have a sum of less than 63 elements in size, so that no modulus of the task wraps.
    """
    modulus = 32 * (2 * elements + 1) + more

    def held(bits: tuple[int, ...], sign: int, whose: int, nobody: int) -> list[int]:
        shown = (i if bit else nobody + i for i, bit in enumerate(bits))
        return [(7 * sign * i + whose) % modulus for i in shown]

    for alice, bob in itertools.product(itertools.product((0, 1), repeat=elements), repeat=2):
        numbers = held(alice, 1, 1, elements) + held(bob, -1, 2, 2 * elements) + [4 - 7]
        sums = {sum(three) % modulus for three in itertools.combinations(numbers, 3)}
        assert (0 in sums) == any(a and b for a, b in zip(alice, bob, strict=True))


def test_products_with_a_power_of_two_show_every_bit_of_the_first_half() -> None:
    """So one place splits the powers in every way, and no finite number of states tells where the
    one bit of a number stood."""
    answer = word_task("multiplication", {}).answer
    half = 6
    for number, place in itertools.product(range(2**half), range(1, half)):
        first = [f"{number >> i & 1}0" for i in range(half)]
        second = [f"0{int(half - place == i)}" for i in range(half)]
        # The power of two is at the place 2 half - place, and the answer at 2 half.
        assert answer((*first, *second, "00")) == bool(number >> place & 1)


def test_letters_and_the_last_one_tell_no_brackets() -> None:
    answer = word_task("dyck-one", {}).answer
    one, two = tuple("(())"), tuple(")(()")
    assert (sorted(one), one[-1]) == (sorted(two), two[-1])
    assert answer(one) != answer(two)


def test_the_bit_of_a_sum_is_in_no_class_of_the_past_alone() -> None:
    """Letters a, b and c stand for no, one and two ones: the bit at the last place is 1 for b after
    no carry, and for a and c after one."""
    carry, none = "(a|b|c)*cb*", "((a|b|c)*a)?b*"
    found = depth_of_language(f"{none}b|{carry}(a|c)", "abc")
    assert not found.monoid.r_trivial
    assert found.monoid.star_free


# --- answers by other routes ---


def test_sums_and_products_are_those_of_numbers() -> None:
    sums, products = word_task("addition", {}), word_task("multiplication", {})
    for word in itertools.product(sums.letters, repeat=5):
        one, two = (int("".join(x[side] for x in reversed(word)), 2) for side in (0, 1))
        assert sums.answer(word) == (f"{one + two:05b}"[-5] == "1")
        assert products.answer(word) == (f"{one * two:05b}"[-5] == "1")


def test_brackets_are_those_that_vanish_in_pairs() -> None:
    task = word_task("dyck-one", {})
    for word in task.words(9):
        left = "".join(word)
        while "()" in left:
            left = left.replace("()", "")
        assert task.answer(word) == (not left)


def test_circuits_are_those_of_expressions() -> None:
    task = word_task("circuit", {"n": 4, "D": 3})
    for word in task.words(0):
        texts: list[str] = []
        for letter in word:
            pair = [texts[int(place) - 1] for place in letter if letter[1:]]
            texts.append(f"(not ({pair[0]} and {pair[1]}))" if pair else str(letter == "1"))
        assert task.answer(word) == eval(texts[-1])


@pytest.mark.parametrize(
    ("task", "parameters", "words"),
    [
        ("sorting", {"n": 3, "m": 4}, 4**3 * 3),
        ("recall", {"n": 2, "keys": 3, "values": 2}, 6 * 4 * 2),
        ("copying", {"n": 3, "symbols": 2}, 2**3 * 3),
        ("copying-any", {"n": 3, "symbols": 2}, 2 + 2**2 * 2 + 2**3 * 3),
        ("equality", {"n": 2, "symbols": 3}, 3**4),
        # 2 constants, and j gates up to each place: a gate may name one letter twice.
        ("circuit", {"n": 4, "D": 3}, 2 * 3 * 5 * 8),
    ],
)
def test_as_many_words_are_asked_as_there_are(task, parameters, words) -> None:
    made = word_task(task, parameters)
    asked = list(made.words(0))
    assert len(asked) == len(set(asked)) == words
    assert {made.answer(word) for word in asked} != {made.answer(asked[0])}
