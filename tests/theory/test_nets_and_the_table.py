"""What `tasks check` says of nets against the table: no record where there is none."""

from __future__ import annotations

import copy
import itertools
from math import inf

import pytest
from stored_nets import stored, table_of

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.atlas import tasks as word_tasks
from depthlaw.theory.atlas.check import check
from depthlaw.theory.atlas.ends import Result
from depthlaw.theory.atlas.tasks import lengths_of, word_task
from depthlaw.theory.least_depth.groups import GROUPS, closure
from depthlaw.theory.nets import batched, every_length
from depthlaw.theory.nets.classes import in_class
from depthlaw.theory.nets.json_format import net_of
from depthlaw.theory.nets.right import Mistake

C2_NAMES = ("01", "10")
# h <- -h for the letter other than 1: one reflection, which tracks C2.
FLIP = {"start": [1], "step": {"01": {"diagonal": [1]}, "10": {"diagonal": [-1]}}}
FLIP["emit"] = {"letters": "01 10", "rows": [[[1], "01 01"], [[-1], "10 10"]]}
C2 = stored("c2-deltanet") | {"layers": [FLIP]}


def growing(longest: int) -> dict:
    """One layer whose state is a whole number and a sign: x -> e x + k modulo 3 for the letter with
    e and k."""
    maps = itertools.product((1, -1), range(3))
    letters = {"".join(str((e * x + k) % 3) for x in range(3)): (e, k) for e, k in maps}
    names = {value: name for name, value in letters.items()}
    states = itertools.product(range(-2 * longest, 2 * longest + 1), (1, -1))
    layer = {
        "start": [0, 1],
        "step": {name: {"diagonal": [e, e], "add": [k, 0]} for name, (e, k) in letters.items()},
        "emit": [[[k, e], name, names[e, k % 3]] for k, e in states for name in letters],
    }
    body = {"task": "group-words", "parameters": {"group": "S3"}, "class": "diagonal-ssm"}
    return body | {"family": "recurrent", "alphabet": sorted(letters), "layers": [layer]}


def last_letter(kind: str, attention: dict) -> dict:
    """One layer whose last token reads a letter: PARITY of words of one letter."""
    head = {"query": [[0, 0]], "key": [[0, 0]], "value": [[1, 0]], "output": [[1], [0]]}
    return {
        "task": "parity",
        "class": kind,
        "family": "attention",
        "alphabet": ["0", "1"],
        "end": "?",
        "embedding": {"0": [-2, 0], "1": [1, 0], "?": [0, 0]},
        "layers": [{"heads": [head | attention]}],
        "read": [1, 0],
    }


# --- the referee's files ---


@pytest.mark.parametrize("task", ["a5-words", "s4-words", "s5-words", "dihedral-words"])
def test_a_task_is_about_its_groups_alone(task) -> None:
    with pytest.raises(UsageError) as error:
        check(C2 | {"task": task})
    assert f"the task {task} is not about the group 'C2'; accepted are" in str(error.value)
    assert "try the task elementary-words or two-group-words or group-words" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("task", ["group-words", "elementary-words"])
def test_one_reflection_for_c2_is_as_many_as_the_table(task) -> None:
    found = check(C2 | {"task": task})
    assert (found.result, found.ends.suffices) == (Result.AS_MANY, 1)
    assert (found.found.every_length, found.found.states, found.found.layers) == (True, 2, 1)


@pytest.mark.parametrize("longest", [2, 4, 9])
def test_states_that_grow_are_not_of_the_finite_class(longest) -> None:
    with pytest.raises(UsageError) as error:
        check(growing(longest))
    said = str(error.value)
    assert "is not of the class diagonal-ssm: its states grow, or the file does not list" in said
    assert "layer 1 writes nothing in the state" in said
    assert "\n" not in said


def test_one_softmax_layer_on_one_letter_is_no_record() -> None:
    net = last_letter("softmax", {"attention": "softmax", "base": 2})
    found = check(net, length=1)
    assert (found.result, found.ends.needed) == (Result.CONTRADICTS_LOWER, 2)
    assert (found.right, found.found.whole, found.found.length) == (True, False, 1)
    assert check(net).result == Result.WRONG


@pytest.mark.parametrize(
    ("kind", "side", "source"),
    [("uhat-right", "hard-right", "yang2024masked"), ("uhat-left", "hard-left", "jerad2025")],
)
def test_where_no_depth_suffices_the_bound_is_named(kind, side, source, monkeypatch) -> None:
    net = last_letter(kind, {"attention": side, "mask": "strict"})
    # Its states close up, and show a longer word on which it is wrong.
    found = check(net, length=1)
    assert found.result == Result.WRONG
    assert len(found.found.wrong.word) > 1
    monkeypatch.setattr(every_length, "MOST_PAIRS", 0)
    found = check(net, length=1)
    assert (found.result, found.ends.needed) == (Result.CONTRADICTS_LOWER, inf)
    assert found.ends.lower.attribution == f"{source}, printed"


# --- what is right at every length ---


def test_the_end_of_a_run_is_no_end_of_a_recurrent_net() -> None:
    """The powers of 2 modulo 7 have period 3: right on words of two letters."""
    said_of = {1: "01", 2: "10", 4: "01"}
    layer = {"start": [1], "step": {"01": {"diagonal": [1]}, "10": {"diagonal": [2]}}}
    layer["emit"] = [[[state], letter, said_of[state]] for state in said_of for letter in C2_NAMES]
    loop = C2 | {"task": "group-words", "class": "diagonal-ssm", "modulus": 7, "layers": [layer]}
    found = check(loop, length=2)
    assert found.found.wrong == Mistake(("10", "10", "10"), "01", "10")
    assert (found.result, found.found.whole) == (Result.WRONG, False)


def test_shortest_wrong_word_of_the_automaton_is_that_of_the_run() -> None:
    net = stored("s3-diagonal")
    emit = net["layers"][1]["emit"]
    emit[7][2] = "012"
    changed, task = net_of(net), word_task("group-words", {"group": "S3"})
    run = (
        word for word, said in batched.answers(changed, task.words(4)) if said != task.answer(word)
    )
    found = every_length.automaton(changed, task)
    assert found is not None
    assert found.wrong == next(run)


def test_too_many_states_show_no_more_than_the_run(monkeypatch) -> None:
    monkeypatch.setattr(every_length, "MOST_PAIRS", 3)
    found = check(stored("s3-diagonal"))
    assert (found.result, found.found.every_length) == (Result.AS_MANY, False)
    assert (found.found.words, found.found.length) == (1_554, 4)


# --- a net with fewer layers than a table, made up or real ---


@pytest.mark.parametrize(
    ("lower", "upper", "result"),
    [
        ("2", "3", Result.CONTRADICTS_LOWER),
        ("none", "", Result.CONTRADICTS_LOWER),
        ("1", "2", Result.FEWER),
        ("", "2", Result.FEWER),
        ("none if TC0 is not NC1", "2", Result.FEWER),
        ("1", "order log n", Result.NO_UPPER),
        ("1", "", Result.NO_UPPER),
        ("2 if an element has order 3 or more, else 1", "Min(d, 4)", Result.AS_MANY),
        ("1", "1", Result.AS_MANY),
        ("", "0", Result.MORE),
    ],
)
def test_each_answer_at_every_length(lower, upper, result, monkeypatch) -> None:
    table_of(monkeypatch, "elementary-words", "deltanet", lower, upper)
    found = check(C2 | {"task": "elementary-words"})
    assert found.right
    assert found.result == result


def test_fewer_on_short_words_is_not_said_to_be_a_record(monkeypatch) -> None:
    table_of(monkeypatch, "elementary-words", "deltanet", "1", "2")
    monkeypatch.setattr(every_length, "MOST_PAIRS", 1)
    found = check(C2 | {"task": "elementary-words"})
    assert (found.result, found.found.length) == (Result.FEWER_ON_SHORT_WORDS, 10)


def test_no_row_is_no_record() -> None:
    found = check(stored("parity") | {"task": "parity-bits", "parameters": {"n": 4}})
    assert (found.right, found.result) == (True, Result.NO_ROW)


# --- groups, parameters, classes ---


def test_groups_of_a_task_are_what_it_says() -> None:
    assert word_task("group-words", {"group": "S3"}).answer(("120", "102")) == "021"
    for group in GROUPS:
        elements = closure(GROUPS[group])
        names, facts = set(word_tasks.tasks_of_group(group)), lengths_of(group)
        size = len(elements)
        assert ("group-words" in names) == ("d" in facts)
        assert ("two-group-words" in names) == ("s" in facts) == (size & (size - 1) == 0)
        assert ("elementary-words" in names) == (facts["e"] == 2)
        assert names
    # D_n has a cyclic half, and every other element is its own inverse and inverts that half.
    for group in word_tasks._ADMITTED["dihedral-words"]:
        elements = closure(GROUPS[group])
        assert lengths_of(group)["order"] == len(elements) // 2


@pytest.mark.parametrize(
    ("task", "parameters", "says"),
    [
        ("blocks", {"k": 0}, "the parameter k of the task blocks is '0'; accepted are whole"),
        ("blocks", {"k": "2"}, "accepted are whole numbers from 1 to 1,000"),
        ("dyck", {"k": True, "D": 1}, "the parameter k of the task dyck is 'True'"),
        ("dyck", {"k": 5, "D": 1}, "up to 4 types of brackets"),
        ("parity-bits", {"n": 0}, "the parameter n of the task parity-bits"),
        ("group-words", {"group": 3}, "not about the group '3'; accepted are C2, C3,"),
        ("group-words", {"group": "M11"}, "not about the group 'M11'; accepted are C2, C3,"),
        ("group-words", {"group": "A5"}, "try the task a5-words"),
        ("kgram", {"k": 1, "symbols": 2}, "words over 3 to 26 symbols here; got symbols = 2"),
        ("hops", {"k": 1, "symbols": 27}, "words over 2 to 26 symbols"),
        ("composition", {"k": 1, "N": 1}, "maps on 2 to 10 numbers"),
        ("ordered", {"n": 2}, "words of 3 letters or more"),
        ("connectivity", {"n": 7, "D": 2}, "graphs of 2 to 6 vertices"),
        ("stair", {"n": 2}, "takes the parameters k; got n"),
    ],
)
def test_parameters_that_a_task_does_not_take(task, parameters, says) -> None:
    with pytest.raises(UsageError) as error:
        word_task(task, parameters)
    assert says in str(error.value)


@pytest.mark.parametrize("length", [0, -1])
def test_no_words_show_nothing(length) -> None:
    with pytest.raises(UsageError, match=f"^--length is 1 or more; got {length}$"):
        check(stored("parity"), length=length)


def test_hard_attention_is_read_at_a_letter_after_the_word() -> None:
    net = last_letter("uhat-right", {"attention": "hard-right", "mask": "strict"})
    assert in_class(net_of(net), "uhat-right") == ""
    assert "read at a letter after the word" in in_class(net_of(net | {"end": None}), "uhat-right")
    assert "read at the last letter" in in_class(
        net_of(net | {"start": "?", "at": "first"}), "uhat-right"
    )


def test_weights_are_softmax_in_the_first_layer_with_a_fixed_query_and_above_zero() -> None:
    net = stored("parity-3-heads")
    assert in_class(net_of(net), "softmax-linear-readout", letters=3) == ""
    twice = net | {"layers": net["layers"] * 2}
    why = in_class(net_of(twice), "softmax-linear-readout", letters=3)
    assert "only in the first layer" in why
    asked = copy.deepcopy(net) | {"positions": ["i"], "read": [0, 0, 0, 0, -1, 0]}
    for head in asked["layers"][0]["heads"]:
        for name in ("query", "key", "value"):
            head[name] = [[*row, 0] for row in head[name]]
        head["output"].append([0])
    assert in_class(net_of(asked), "softmax-linear-readout", letters=3) == ""
    asked["layers"][0]["heads"][0]["query"][0][-1] = 1
    why = in_class(net_of(asked), "softmax-linear-readout", letters=3)
    assert "a query that no position enters" in why
    # A limit in a letter that nobody gave is not passed over.
    assert "bounds heads by n" in in_class(net_of(asked), "softmax-linear-readout")
    net["layers"][0]["heads"][0]["key"][0][2] = 0
    with pytest.raises(UsageError, match='attention "weights" takes scores above 0'):
        check(net)


@pytest.mark.parametrize(
    ("kind", "heads", "says"),
    [
        ("softmax-linear-readout", 3, ""),
        ("softmax-linear-readout", 2, "at least 3 heads, not 2"),
        ("linear-readout-few-heads", 2, ""),
        ("linear-readout-few-heads", 3, "at most 2 heads, not 3"),
        ("linear-readout-two-heads", 2, ""),
        ("linear-readout-two-heads", 1, "at least 2 heads, not 1"),
        ("linear-readout-one-head", 1, ""),
        ("linear-readout-one-head", 2, "at most 1 head, not 2"),
    ],
)
def test_heads_of_a_layer_are_those_of_the_class(kind, heads, says) -> None:
    net = stored("parity-3-heads")
    net["layers"][0]["heads"] = net["layers"][0]["heads"][:heads]
    why = in_class(net_of(net), kind, letters=3)
    assert why.endswith(says)
    assert bool(why) == bool(says)
