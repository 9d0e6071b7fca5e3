"""Nets in balls: the parity net of `softmax-positions`, and what balls do not decide."""

from __future__ import annotations

import itertools
from math import ceil, log2

import flint
import pytest
from flint import arb, fmpz
from stored_nets import changed, stored

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.least_depth.uniform_parity import SHARPNESS, counted, output, uniform
from depthlaw.theory.nets import balls, batched
from depthlaw.theory.nets.classes import in_class
from depthlaw.theory.nets.json_format import net_of

KIND, PARITY = "softmax-positions", "parity-softmax-positions"


def words(longest: int):
    for length in range(1, longest + 1):
        yield from itertools.product("01", repeat=length)


def long_words():
    """Ones in front, behind and every other one."""
    for length, ones in ((30, 13), (60, 0), (60, 60), (100, 37)):
        zeros = length - ones
        yield tuple("1" * ones + "0" * zeros)
        yield tuple("0" * zeros + "1" * ones)
        yield tuple("01" * min(ones, zeros) + "0" * (length - 2 * min(ones, zeros)))


def test_the_file_is_the_net_of_the_claim() -> None:
    """What is read off it is minus what the claim's own formulas give."""
    net = net_of(stored(PARITY))
    for word in [*words(6), *long_words()]:
        (read,) = balls.read_out(net, word, bits=256)
        with flint.ctx.workprec(256):
            assert (read + output(tuple(map(int, word)))).contains(0)
        assert abs(read) > 0.7
        assert read.rad() < 1e-9


@pytest.mark.parametrize(
    ("way", "to"),
    [
        # A zero weighs 1/N of a one; the place that is looked for is moved; a flat score.
        (["layers", 0, "heads", 0, "key", 1, 1], -1),
        (["layers", 1, "heads", 0, "query", 0, 5], 7),
        (["layers", 1, "heads", 0, "query", 0, 5], 0),
        (["layers", 0, "heads", 0, "base"], 2),
        (["positions", 0], "log(i + 2)"),
        (["positions", 4], "(-1)^(i + 1)"),
    ],
)
def test_another_coefficient_is_wrong(way, to, checked) -> None:
    code, said = checked(changed(stored(PARITY), way, to))
    assert code == 1
    assert said.startswith("WRONG: ")


def test_balls_say_what_exact_numbers_say() -> None:
    """A rational net, with an MLP and no mask, by both routes."""
    net = net_of(stored("parity"))
    assert not net.in_balls
    exact = list(batched.answers(net, words(5)))
    assert list(balls.answers(net, words(5))) == exact
    assert len({said for _, said in exact}) == 2


def test_a_mask_changes_nothing_but_strict_is_none_of_the_class() -> None:
    body = uniform().body
    for layer in body["layers"]:
        layer["heads"][0]["mask"] = "none"
    net, causal = net_of(body), net_of(stored(PARITY))
    assert list(balls.answers(net, words(5))) == list(balls.answers(causal, words(5)))
    assert in_class(net, KIND) == in_class(causal, KIND) == ""


def tied(read: list[int]) -> dict:
    """One head in which a letter's number comes back as a sum of shares that is no rational."""
    head = {"attention": "softmax", "base": "e", "output": [[1], [-1]]}
    head |= {name: [[1, 0]] for name in ("query", "key", "value")}
    return {
        "family": "attention",
        "alphabet": ["0", "1"],
        "end": "?",
        "embedding": {"0": [1, 0], "1": [1, 1], "?": [0, 1]},
        "layers": [{"heads": [head]}],
        "read": read,
    }


def test_a_tie_that_balls_do_not_decide_is_refused() -> None:
    """The read-out is (1 + s) - (1 + s) for an irrational s, which no ball around s shows."""
    net = net_of(tied([1, 1]))
    said = balls.answers(net, [("0",)])
    assert list(said) == [(("0",), True)]
    net = net_of(tied([1, 1]) | {"embedding": {"0": [2, 0], "1": [1, 1], "?": [1, -1]}})
    with pytest.raises(UsageError, match="2,048 bits do not decide the answer to the word '0'"):
        next(balls.answers(net, [("0",)]))
    # What is zero without a rounding is decided.
    none = net_of(tied([0, 0]))
    assert list(balls.answers(none, [("0",)])) == [(("0",), False)]


@pytest.mark.parametrize(
    ("read", "said"), [([[1, 0], [0, 1]], ["x", "y"]), ([[0, 1], [1, 0]], ["y", "x"])]
)
def test_the_largest_label_wins_where_balls_part_them(read, said) -> None:
    letters = {"embedding": {"0": [2, 0], "1": [-9, 0], "?": [1, 4]}, "labels": ["x", "y"]}
    body = tied([]) | letters
    found = balls.answers(net_of(body | {"read": read}), [("0",), ("1",)])
    assert [answer for _, answer in found] == said
    with pytest.raises(UsageError, match="a tie"):
        next(balls.answers(net_of(body | {"read": [[1, 0], [1, 0]]}), [("0",)]))


@pytest.mark.parametrize(
    ("position", "says"),
    [
        ("log(i)", "is no real number at i = 0"),
        ("log(-1 - i)", "is no real number at i = 0"),
        ("log i", "cannot read the position 'log i'"),
        ("exp(i)", "cannot read the position 'exp(i)'"),
        ("log(i + 1", "cannot read the position"),
    ],
)
def test_what_is_no_number_is_said(position, says) -> None:
    with pytest.raises(UsageError) as error:
        next(balls.answers(net_of(changed(stored(PARITY), ["positions", 0], position)), words(1)))
    assert says in str(error.value)


def test_hard_attention_and_roots_compare_no_balls() -> None:
    logarithm = changed(stored("hops-causal"), ["positions", 0], "log(i + 1)")
    for body in (logarithm, tied([1, 0]) | {"generator": {"polynomial": "x^2 - 2"}}):
        with pytest.raises(UsageError, match="has softmax heads alone, no generator and no"):
            net_of(body)


@pytest.mark.parametrize(
    ("way", "to", "says"),
    [
        (["positions", 1], "2^i", "or has i in an exponent"),
        (["positions", 1], "10^(2*i)", "or has i in an exponent"),
        (["positions", 1], "i/n", "no position depends on n"),
        (["positions", 2], ["i", 0], "is added to what is of the letter"),
        (["layers", 0, "heads", 0, "mask"], "strict", "the class has none or causal"),
        (["layers", 0, "residual"], False, "the input of a layer is added"),
    ],
)
def test_what_breaks_the_class(way, to, says) -> None:
    body = stored(PARITY)
    assert in_class(net_of(body), KIND) == ""
    assert says in in_class(net_of(changed(body, way, to)), KIND)


def test_weights_of_letter_and_place_at_once_are_no_sum() -> None:
    why = in_class(net_of(stored("parity-3-heads")), KIND)
    assert "attention weights; the class has softmax" in why


def test_so_many_bits_are_enough() -> None:
    """Both numbers that layer 1 writes, rounded to 2 log2(N) + 9 bits behind the point, leave an
    output of 69/100; with 2 log2(N) - 3 bits some word is wrong."""

    def rounded(word: tuple[int, ...], more: int) -> arb:
        step = fmpz(2) ** (ceil(2 * log2(len(word) + 2)) + more)
        a, b = (arb(fmpz(round(x * int(step)))) / arb(step) for x in counted(word))
        scores = [SHARPNESS * (2 * a * i - b * i**2) for i in range(len(word) + 2)]
        powers = [(score - scores[sum(word)]).exp() for score in scores]
        signed = sum(((-1) ** i * w for i, w in enumerate(powers)), arb(0))
        return (-1) ** (sum(word) % 2) * signed / sum(powers, arb(0))

    some = [tuple(map(int, word)) for word in [*words(6), *long_words()]]
    assert all(rounded(word, 9) > 0.69 for word in some)
    assert any(rounded(word, -3) < 0 for word in some)
