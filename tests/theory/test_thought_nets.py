"""Chains of thought in files: every word, every step, and no record where there is none."""

from __future__ import annotations

import copy
import itertools

import pytest

from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.least_depth import chain_of_thought, two_heads
from depthlaw.theory.least_depth.written_nets import of_iteration, of_kth_one, of_parity, of_sorted
from depthlaw.theory.nets.thoughts import thought_net


def asked(body: dict, task: str, kind: str = "cot-one-head", **parameters: int) -> dict:
    return {"task": task, "parameters": parameters, "class": kind} | body


KTH_ONE = asked(of_kth_one(2, 4), "kth-one", k=2, n=4)


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_decoders_think_as_their_tables(k, n) -> None:
    net, task = thought_net(of_kth_one(k, n)), word_task("kth-one", {"k": k, "n": n})
    the = chain_of_thought.task(chain_of_thought.kth_one(k), n)
    made = chain_of_thought.decoder(the)
    for word in itertools.product((0, 1), repeat=n):
        said = net.answer([str(bit) for bit in word])
        answer, steps = chain_of_thought.think(made, the.everything, word)
        assert said == (str(answer), steps)
        assert said[0] == task.answer(tuple(map(str, word)))


def test_iterations_parities_and_sorted_words() -> None:
    iteration, task = thought_net(of_iteration(2, 3)), word_task("iteration", {"l": 2, "n": 3})
    assert all(iteration.answer(word)[0] == task.answer(word) for word in task.words(0))
    parity, ordered = thought_net(of_parity(5, 2)), thought_net(of_sorted(5))
    for word in itertools.product((0, 1), repeat=5):
        assert parity.answer([str(bit) for bit in word]) == (sum(word) % 2 == 1, 3)
        accepted = two_heads.accepts(word, "hard")
        assert ordered.answer([str(bit) for bit in word]) == (accepted, 1)


def test_a_table_changed_is_wrong_and_a_step_more_is_worse(checked) -> None:
    wrong = copy.deepcopy(KTH_ONE)
    wrong["answers"]["t9"] = "1"
    code, said = checked(wrong)
    assert code == 1
    assert "of the word '0 1 1 0', which has 3; 6 earlier words were right" in said
    longer = copy.deepcopy(KTH_ONE)
    longer["begin"] = "first"
    longer["thoughts"]["first"] = {
        "heads": ["0:0 0:1"],
        "next": dict.fromkeys(("0:0", "0:1"), "begin"),
    }
    code, said = checked(longer)
    assert code == 0
    assert "3 steps of thought: more than the table (2)" in said


def test_one_step_left_out_is_wrong(checked) -> None:
    """Answers by what is likeliest after one step."""
    body = copy.deepcopy(KTH_ONE)
    body["answers"] |= {"t1": "0", "t2": "3", "t3": "2"}
    code, said = checked(body)
    assert code == 1
    assert said.startswith("WRONG: ")


def test_what_the_table_does_not_call_the_least_is_no_record(checked) -> None:
    """Two heads find the second one of three bits in one step, as the table says itself."""
    pairs = {"0:0 2:0": 0, "0:0 1:0": 0, "0:0 0:0": 3, "1:0 2:0": 0, "1:0 0:1": 3}
    pairs |= {"0:1 2:0": 2, "0:1 0:1": 2}
    body = {
        "family": "thoughts",
        "alphabet": ["0", "1"],
        "begin": "begin",
        "thoughts": {
            "begin": {
                "heads": ["0:0 1:0 0:1 1:1 2:0 2:1", "2:0 0:1 1:0 0:0 1:1 2:1"],
                "next": {key: f"place {place}" for key, place in pairs.items()},
            }
        },
        "answers": {f"place {place}": str(place) for place in (0, 2, 3)},
    }
    code, said = checked(asked(body, "kth-one", "cot-heads", k=2, n=3))
    assert code == 0
    assert (
        "1 step of thought: fewer than the table (2), which says: not the least for every" in said
    )
    assert "record" not in said
    code, said = checked(asked(body, "kth-one", k=2, n=3))
    assert (code, "at most 1 head, not 2" in said) == (2, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"class": "softmax"}, "accepted are cot-one-head, cot-heads"),
        ({"task": "parity", "parameters": {}}, "are for the tasks parity-bits, ordered, kth-one"),
        ({"alphabet": ["a", "b"]}, "that of the task is 0 1"),
        ({"begin": "t99"}, "the thought 't99' is not in the file"),
        ({"answers": {}}, "is not in the file"),
        ({"thoughts": {"begin": {"heads": ["3:1"], "next": {"3:1": "t4"}}}}, "what follows on the"),
        ({"thoughts": {"begin": {"heads": ["0:0"]}}}, "the file lacks 'next'"),
        ({"thoughts": ["begin"]}, "a part of the wrong form"),
        (
            {"thoughts": {"begin": {"heads": [], "next": {"": "begin"}}}},
            "the thought 'begin' comes again on a word",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change, says, checked) -> None:
    code, said = checked(KTH_ONE | change)
    assert code == 2
    assert says in said
    assert said.count("\n") == 1
