"""ReLU nets against the maximum on all of R^n: by finite algebra, and by points."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claims.values import Case
from depthlaw.theory.least_depth import relu_maxima
from depthlaw.theory.least_depth.written_nets import maximum_of_pairs
from depthlaw.theory.nets.relu import ReluNet, relu_net, symmetric, where_no_maximum


def maximum_of_blocks(n: int) -> dict:
    return copy.deepcopy(dict(relu_maxima.blocks(Case(maximands=n)).body))


def shifted(n: int) -> dict:
    """The maximum of n numbers, whose sum passes the first layer as 7 + ReLU(s - 7) - ReLU(7 - s),
    so that this layer's units cut the cones of orders."""
    body = maximum_of_blocks(n)
    first, second = body["layers"]
    first["bias"] = [0] * (len(first["matrix"]) - 2) + [-7, 7]
    # 7 times what the layer above made of the number that passed.
    second["bias"] = [7 * row[-2] for row in second["matrix"]]
    return body


def padded(body: dict) -> dict:
    """One hidden layer more, which passes on what is not negative anyhow."""
    units = len(body["layers"][-1]["matrix"])
    same = [[int(i == j) for j in range(units)] for i in range(units)]
    return body | {"layers": [*body["layers"], {"matrix": same}]}


BODIES = {
    "blocks of three": maximum_of_blocks(3),
    "blocks of four": maximum_of_blocks(4),
    "pairs": maximum_of_pairs(),
    "shifted": shifted(3),
    "three hidden layers": padded(maximum_of_pairs()),
    "three, shifted": padded(shifted(3)),
}


def points(seed: int, many: int, inputs: int) -> list[list[int]]:
    return np.random.default_rng(seed).integers(-20, 21, (many, inputs)).tolist()


def no_maximum(net: ReluNet) -> tuple[Fraction, ...]:
    """A point at which it is said to be none, and is none."""
    point = where_no_maximum(net)
    assert point is not None
    assert net.value(point) != max(point)
    return point


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_maxima_are_maxima_at_points_and_everywhere(body) -> None:
    net = relu_net(body)
    assert all(net.value(x) == max(x) for x in points(0, 50, net.inputs))
    assert where_no_maximum(net) is None


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_every_weight_that_matters_is_seen(body) -> None:
    """Each weight in turn: a point is given iff points show a difference, and it is one."""
    weights = [
        (layer, row, column)
        for layer, each in enumerate(body["layers"])
        for row, entries in enumerate(each["matrix"])
        for column in range(len(entries))
    ]
    drawn = points(1, 200, relu_net(body).inputs)
    seen = 0
    for layer, row, column in weights[:: 1 + len(weights) // 24]:
        changed = copy.deepcopy(body)
        changed["layers"][layer]["matrix"][row][column] -= 1
        net = relu_net(changed)
        if where_no_maximum(net) is None:
            assert all(net.value(x) == max(x) for x in drawn)
        else:
            seen += bool(no_maximum(net))
    assert seen > 5


@pytest.mark.parametrize("at", [3, 1000, Fraction(1, 1000)])
def test_a_bump_of_width_two_anywhere_is_found(at) -> None:
    """Units of x - at, x - at - 1, x - at - 2, weighted 1, -2, 1, are 0 outside an interval."""
    body = maximum_of_blocks(3)
    first, second = body["layers"]
    zeros, size = [0] * 3, len(second["matrix"])
    first["matrix"] = [*first["matrix"], *([1, 0, 0] for _ in zeros)]
    first["bias"] = [0] * (len(first["matrix"]) - 3) + [str(-at - k) for k in range(3)]
    second["matrix"] = [[*row, *zeros] for row in second["matrix"]]
    second["matrix"] += [[0] * (len(first["matrix"]) - 3) + [1, -2, 1]]
    body["out"] = [*body["out"], "1/5"]
    assert at < no_maximum(relu_net(body))[0] < at + 2
    body["out"][-1] = 0
    assert len(second["matrix"]) == size + 1
    assert where_no_maximum(relu_net(body)) is None


def test_one_order_is_enough_for_a_symmetric_net() -> None:
    """Six numbers have 720 orders and 632 units; one weight of them breaks the symmetry, and the
    maximum."""
    body = maximum_of_blocks(6)
    assert symmetric(relu_net(body))
    assert where_no_maximum(relu_net(body)) is None
    body["out"][3] = str(Fraction(body["out"][3]) + 1)
    assert not symmetric(relu_net(body))
    no_maximum(relu_net(body))


def test_a_symmetric_net_that_is_no_maximum_is_found() -> None:
    """All weights of one kind of unit are doubled."""
    body = maximum_of_blocks(5)
    weight = body["out"][0]
    body["out"] = [str(2 * Fraction(w)) if w == weight else w for w in body["out"]]
    assert symmetric(relu_net(body))
    no_maximum(relu_net(body))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_symmetry_is_that_of_the_function(body) -> None:
    """A net that is called symmetric says the same of permuted inputs."""
    for row in range(len(body["layers"][0]["matrix"])):
        changed = copy.deepcopy(body)
        changed["layers"][0]["matrix"][row][0] += 1
        net = relu_net(changed)
        if symmetric(net):
            assert all(net.value(x) == net.value(sorted(x)) for x in points(2, 50, net.inputs))
    assert symmetric(relu_net(body)) == (len(body["out"]) not in (3,))


def test_one_layer_left_out_is_wrong() -> None:
    body = maximum_of_blocks(3)
    first, second = body["layers"]
    # Of ReLU(h - h') without the ReLU.
    columns = [*zip(*second["matrix"], strict=True)]
    out = [
        str(sum(Fraction(a) * Fraction(b) for a, b in zip(column, body["out"], strict=True)))
        for column in columns
    ]
    no_maximum(relu_net({"layers": [first], "out": out}))


# --- the command ---


def asked(body: dict, n: int, kind: str = "relu", task: str = "maximum") -> dict:
    return {"task": task, "parameters": {"n": n}, "class": kind} | body


NINE = {"family": "relu", "layers": [], "out": [1] * 8 + [2]}


def test_a_wrong_maximum_is_shown_by_numbers(checked) -> None:
    body = maximum_of_pairs()
    body["out"][0] = "3/2"
    code, said = checked(asked(body, 4))
    assert code == 1
    assert said.startswith("WRONG: ")
    assert "says 5 of the numbers '4 3 2 1', whose maximum is 4" in said
    assert checked(asked(body, 4), "--json")[1]["wrong"]["right"] == "4"


def test_a_layer_more_is_worse_and_no_net_is_a_record(checked) -> None:
    code, said = checked(asked(padded(maximum_of_pairs()), 4))
    assert code == 0
    assert said.startswith("right on all of R^4, exactly; 3 hidden layers: more than the table (2)")
    # Integer weights take three hidden layers for five numbers; these are no integers.
    code, said = checked(asked(maximum_of_blocks(5), 5, "relu-integer"))
    assert (code, "of the class relu-integer: a weight is no integer" in said) == (2, True)


@pytest.mark.parametrize(
    ("net", "says"),
    [
        (asked(maximum_of_pairs(), 5), "takes 4 numbers; the task has 5"),
        (asked(maximum_of_pairs(), 4, "softmax"), "accepted are relu, relu-integer"),
        (asked(maximum_of_pairs(), 4, task="parity"), "for the tasks maximum and maximum-large"),
        (asked(maximum_of_pairs(), 4, task="maximum-large"), "not about the maximum of 4 numbers"),
        (asked(maximum_of_pairs(), 9), "the task maximum is not about the maximum of 9 numbers"),
        (asked(NINE, 9, task="maximum-large"), "up to 7 of them"),
        (asked(maximum_of_pairs() | {"out": [1]}, 4), "do not fit the 3 units of layer 2"),
        (asked(maximum_of_pairs() | {"out": ["x"] * 3}, 4), "cannot read the number 'x'"),
        (asked({"family": "relu", "out": [1]}, 4), "the file lacks 'layers'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(net, says, checked) -> None:
    code, said = checked(net)
    assert code == 2
    assert says in said
    assert said.count("\n") == 1


def test_a_length_is_for_words(checked) -> None:
    code, said = checked(asked(maximum_of_pairs(), 4), "--length", "3")
    assert (code, "--length is for words" in said) == (2, True)
