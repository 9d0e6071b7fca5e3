"""Whether a net is right: on all words of a length, on those of every length, on all numbers."""

from __future__ import annotations

import pytest
import stored_nets

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.nets.json_format import changed, net_of
from depthlaw.theory.nets.relu import Maximum
from depthlaw.theory.nets.right import Mistake, right_on


def stored(name: str):
    body = stored_nets.stored(name)
    return net_of(body), body["task"], body.get("parameters", {})


@pytest.mark.parametrize(
    ("name", "words", "depth", "every_length"),
    [
        ("parity-one-head", 2**7, 2, False),
        ("blocks-hard", 0, 2, True),
        ("d8-signs", 0, 3, True),
        ("kth-one-thoughts", 2**4, 2, False),
    ],
)
def test_a_net_of_each_kind_is_right(name, words, depth, every_length) -> None:
    net, task, parameters = stored(name)
    found = right_on(net, word_task(task, parameters))
    assert found
    assert (found.words, found.depth, found.every_length) == (words, depth, every_length)


def test_a_maximum_is_compared_on_all_numbers() -> None:
    net, _, parameters = stored("maximum-of-four-integer")
    assert right_on(net, Maximum(**parameters))
    wrong = right_on(changed(net, "layers", 0, "matrix", 0, 0, to=2), Maximum(4))
    assert not wrong
    x = list(map(int, wrong.mistake.word))
    # max(2 x_1 - x_2, 0) + x_2 stands in the place of the first maximum.
    said = max(2 * x[0] - x[1], 0) + x[1], max(x[2], x[3])
    assert wrong.mistake == Mistake(tuple(map(str, x)), str(max(said)), str(max(x)))


def test_a_changed_weight_is_wrong_on_a_first_word() -> None:
    net, task, parameters = stored("parity-one-head")
    wrong = changed(net, "layers", 1, "heads", 0, "query", 0, 2, to=1)
    found = right_on(wrong, word_task(task, parameters))
    assert not found
    assert found.mistake is not None
    assert net.answer(found.mistake.word) == found.mistake.right != found.mistake.said
    # On words that are named it may be right.
    assert right_on(wrong, word_task(task, parameters), [("0",) * 7])


@pytest.mark.parametrize(
    ("name", "task", "says"),
    [
        ("parity", word_task("blocks", {"k": 2}), "that of the task is a b"),
        ("parity", word_task("parity", {}), "name those that are run"),
        ("parity", Maximum(3), "is compared with a maximum"),
        ("maximum-of-five", Maximum(3), "takes 5 numbers; the task has 3"),
    ],
)
def test_a_net_for_another_task_is_refused(name, task, says) -> None:
    with pytest.raises(UsageError) as error:
        right_on(stored(name)[0], task)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("way", "to", "says"),
    [
        (["read", 0], 0, "the entry read 0 of the net is 0 already"),
        (["layers", 7], 0, "the net has no entry layers 7"),
    ],
)
def test_a_change_of_nothing_is_no_control(way, to, says) -> None:
    with pytest.raises(UsageError) as error:
        changed(stored("parity-one-head")[0], *way, to=to)
    assert says in str(error.value)
