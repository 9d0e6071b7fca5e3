"""Chains of thought in files: every word, every step, and no record where there is none."""

from __future__ import annotations

import copy
import itertools

import pytest

from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.claims.values import Case
from depthlaw.theory.least_depth import chain_of_thought
from depthlaw.theory.least_depth.chain_of_thought import bit_by_bit, decoder, iterated, kth_one
from depthlaw.theory.least_depth.two_heads import hard_heads
from depthlaw.theory.nets.right import right_on


def asked(body: dict, task: str, kind: str = "cot-one-head", **parameters: int) -> dict:
    return body | {"task": task, "parameters": parameters, "class": kind}


KTH_ONE = asked(dict(decoder(chain_of_thought.task(kth_one(2), 4)).body), "kth-one", k=2, n=4)


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_decoders_take_the_least_number_of_steps(k, n) -> None:
    the = chain_of_thought.task(kth_one(k), n)
    found = right_on(decoder(the), word_task("kth-one", {"k": k, "n": n}))
    assert found
    assert (found.words, found.depth) == (2**n, chain_of_thought.least_steps(the))


def test_iterations_parities_and_sorted_words() -> None:
    iteration = decoder(chain_of_thought.task(iterated(2), 3, 3))
    assert right_on(iteration, word_task("iteration", {"l": 2, "n": 3}))
    parity, ordered = bit_by_bit(Case(word_length=5, heads=2)), hard_heads(5)
    for word in itertools.product((0, 1), repeat=5):
        assert parity.answer([str(bit) for bit in word]) == (sum(word) % 2 == 1, 3)
        assert ordered.answer([str(bit) for bit in word]) == (list(word) == sorted(word), 1)


def test_a_table_changed_is_wrong_and_a_step_more_is_worse(checked) -> None:
    wrong = copy.deepcopy(KTH_ONE)
    # The thought of words that begin with 0 1 1.
    wrong["answers"]["t4"] = "1"
    code, said = checked(wrong)
    assert code == 1
    assert "of the word '0 1 1 0', which has 3; 6 earlier words were right" in said
    longer = copy.deepcopy(KTH_ONE)
    longer["begin"] = "first"
    longer["thoughts"]["first"] = {"heads": ["0:0 0:1"], "next": {"0:0": "begin", "0:1": "begin"}}
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
    heads = ["0:0 1:0 0:1 1:1 2:0 2:1", "2:0 0:1 1:0 0:0 1:1 2:1"]
    after = {key: f"place {place}" for key, place in pairs.items()}
    body = KTH_ONE | {"thoughts": {"begin": {"heads": heads, "next": after}}}
    body["answers"] = {f"place {place}": str(place) for place in (0, 2, 3)}
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
        ({"thoughts": ["begin"]}, "give an object"),
        ({"thoughts": {"begin": {"heads": [], "next": {"": "begin"}}}}, "comes again on a word"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change, says, checked) -> None:
    code, said = checked(KTH_ONE | change)
    assert code == 2
    assert says in said
    assert said.count("\n") == 1
