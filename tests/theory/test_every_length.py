"""Right on words of every length: what is followed are the answers of the plain loop."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.theory.atlas.tasks import Machine, WordTask, word_task
from depthlaw.theory.formal_languages.formula_nets import of_formula
from depthlaw.theory.formal_languages.temporal_logic import in_order, means, neither, once, previous
from depthlaw.theory.nets import every_length
from depthlaw.theory.nets.every_length import automaton
from depthlaw.theory.nets.json_format import net_of

WIDTH = 2
ENTRIES = st.sampled_from([0, 0, 1, -1, 2, "1/2"])


def matrices(rows: int, columns: int):
    row = st.lists(ENTRIES, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


@st.composite
def nets(draw) -> dict:
    """Up to two layers of hard heads to either side, under either mask."""
    layers = []
    for _ in range(draw(st.integers(1, 2))):
        names = ("query", "key", "value", "output")
        heads = [
            {
                "attention": draw(st.sampled_from(["hard-right", "hard-left"])),
                "mask": draw(st.sampled_from(["strict", "causal"])),
                **{name: draw(matrices(WIDTH, WIDTH)) for name in names},
            }
            for _ in range(draw(st.integers(1, 2)))
        ]
        mlp = {"in": draw(matrices(1, WIDTH)), "bias": [-1], "out": draw(matrices(WIDTH, 1))}
        layers.append({"heads": heads, "mlp": mlp, "residual": draw(st.booleans())})
    return {
        "family": "attention",
        "alphabet": ["a", "b"],
        "embedding": {letter: draw(matrices(1, WIDTH))[0] for letter in "ab<>"},
        "start": draw(st.sampled_from([None, "<"])),
        "end": draw(st.sampled_from([None, ">"])),
        "layers": layers,
        "read": draw(matrices(1, WIDTH))[0],
    }


@settings(max_examples=80, deadline=None)
@given(nets(), st.integers(0, 3))
def test_the_first_wrong_word_is_that_of_the_plain_loop(body, ones) -> None:
    """The task asks for at least so many letters a; most nets do something else."""
    net, task = net_of(body), word_task("letters", {"k": ones + 1})
    words = [word for n in range(1, 6) for word in itertools.product("ab", repeat=n)]
    wrong = next((word for word in words if net.answer(word) != task.answer(word)), None)
    found = automaton(net, task)
    assert found is not None
    if wrong is None:
        assert found.wrong is None or len(found.wrong) > 5
    else:
        assert found.wrong == wrong


def test_a_net_that_is_wrong_on_long_words_alone_is_found_wrong() -> None:
    """Twelve layers see twelve letters a; thirteen are asked for. No word to the default length
    shows it."""
    net = of_formula(in_order("a" * 12), "ab", "right")
    found = automaton(net, word_task("letters", {"k": 13}))
    assert found is not None
    assert found.wrong == ("a",) * 12


@pytest.mark.parametrize("change", [{}, {"positions": ["i"]}, {"at": "first"}, {"mask": "none"}])
def test_nets_whose_states_do_not_close_up_are_left_to_the_run(change) -> None:
    mask, rest = change.get("mask", "strict"), [] if "positions" in change else [0]
    head = {"attention": "hard-right", "mask": mask, "output": [[0], [1]]}
    head |= {name: [[1, 0]] for name in ("query", "key", "value")}
    body = {"family": "attention", "alphabet": ["a", "b"], "layers": [{"heads": [head]}]}
    body |= {"embedding": {"a": [1, *rest], "b": [0, *rest]}, "read": [0, 1]}
    net = net_of(body | {name: to for name, to in change.items() if name != "mask"})
    assert (automaton(net, word_task("letters", {"k": 1})) is None) == bool(change)


def test_too_many_states_are_given_up(monkeypatch) -> None:
    net = of_formula(in_order("aaa"), "ab", "right")
    monkeypatch.setattr(every_length, "MOST_PAIRS", 2)
    assert automaton(net, word_task("letters", {"k": 3})) is None


FORMULAS = [
    neither(once("a")),
    previous("b"),
    ("since", "a", "b"),
    ("and", ("since", ("or", "a", once("b")), previous("a")), neither(previous("b"))),
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_net_of_a_formula_says_what_it_means(formula) -> None:
    net = of_formula(formula, "ab", "right")
    words = [word for n in range(7) for word in itertools.product("ab", repeat=n)]
    assert all(net.answer(word) == means(formula, "".join(word)) for word in words if word)
    # Of a machine that is the net itself on all words, and on no other.
    task = WordTask(
        ("a", "b"), net.answer, machine=Machine("", lambda w, x: (w + x)[-6:], lambda w: False)
    )
    found = automaton(net, task)
    assert found is not None
    assert found.wrong == next((word for word in words if word and net.answer(word)), None)


@pytest.mark.parametrize("formula", [("or", "1", "a"), ("and", neither("1"), once("a"))])
def test_a_formula_that_says_nothing_has_a_net_that_says_so(formula) -> None:
    net = of_formula(formula, "ab", "right")
    words = [word for n in range(4) for word in itertools.product("ab", repeat=n)]
    assert {net.answer(word) for word in words} == {formula[0] == "or"}
