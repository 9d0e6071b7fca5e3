"""Nets on many words at once: the answers and errors of the plain loop, in its order."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from stored_nets import stored

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.cli.arguments import main
from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.nets import batched
from depthlaw.theory.nets.attention import KINDS, MASKS, AttentionNet
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.classes import ExactNet
from depthlaw.theory.nets.json_format import net_of


def words(net: ExactNet, length: int) -> Iterator[tuple[str, ...]]:
    for size in range(1, length + 1):
        yield from itertools.product(net.alphabet, repeat=size)


def told(pairs: Iterable[tuple[Any, Any]]) -> list:
    """What is given before an error, and its text."""
    given_before: list = []
    try:
        given_before.extend(pairs)
    except UsageError as error:
        given_before.append(str(error))
    return given_before


def same(net: ExactNet, length: int) -> bool:
    one_by_one = ((word, net.answer(word)) for word in words(net, length))
    return told(answers(net, words(net, length))) == told(one_by_one)


@pytest.mark.parametrize(
    ("name", "length"),
    [("parity", 6), ("parity-3-heads", 7), ("s3-diagonal", 4), ("d4-deltanet", 3)],
)
def test_stored_nets_answer_as_word_by_word(name, length) -> None:
    assert same(net_of(stored(name)), length)


def test_stored_nets_of_attention_run_in_batches(monkeypatch) -> None:
    net = net_of(stored("parity"))
    monkeypatch.setattr(AttentionNet, "answer", None)
    assert all(
        said == word_task("parity", {}).answer(word) for word, said in answers(net, words(net, 9))
    )


WHOLE = st.sampled_from([0, 1, -1, 2, -3])
ENTRIES = st.sampled_from([0, 1, -1, 2, "1/2", "-2/3"])
LONG = st.sampled_from([0, 1, -1, "1/2", 10**21])
WIDTH = 3


def matrices(rows: int, columns: int, entries=ENTRIES):
    row = st.lists(entries, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


@st.composite
def heads(draw, kind: str) -> dict:
    entries = WHOLE if kind == "softmax" else ENTRIES
    size, inner = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    scores = [draw(matrices(size, WIDTH, entries)) for _ in range(2)]
    if kind == "weights" and draw(st.booleans()):
        scores = [[[str(entry).lstrip("-") for entry in row] for row in m] for m in scores]
    return {
        "attention": kind,
        "mask": draw(st.sampled_from(MASKS)),
        "base": draw(st.sampled_from([2, "3/2"])),
        "divide": draw(st.sampled_from([1, "n", "-2/3"])),
        "query": scores[0],
        "key": scores[1],
        "value": draw(matrices(inner, WIDTH, draw(st.sampled_from([ENTRIES, LONG])))),
        "output": draw(matrices(WIDTH, inner)),
    }


@st.composite
def attention_nets(draw, kind: str) -> ExactNet:
    layers = []
    # Later scores are seldom whole, or large.
    for this in [
        kind,
        *draw(st.lists(st.sampled_from(KINDS).filter("softmax".__ne__), max_size=1)),
    ]:
        layer: dict = {"heads": draw(st.lists(heads(this), min_size=1, max_size=2))}
        if draw(st.booleans()):
            first, second = draw(matrices(2, WIDTH)), draw(matrices(WIDTH, 2))
            layer["mlp"] = {"in": first, "bias": draw(matrices(1, 2))[0], "out": second}
        layers.append(layer | {"residual": draw(st.booleans())})
    positions = draw(st.sampled_from([[], ["i"], ["(-1)^i"], ["i/n"]]))
    # Weights that are negative or all 0 are errors, not all.
    positive = kind == "weights" and draw(st.booleans())
    entries = WHOLE if kind == "softmax" else st.sampled_from([1, "2/3"]) if positive else ENTRIES
    vectors = draw(matrices(4, WIDTH - len(positions), entries))
    labels = draw(st.sampled_from([None, ["x", "y", "z"]]))
    return net_of(
        {
            "family": "attention",
            "alphabet": ["a", "b"],
            "embedding": dict(zip("ab<>", vectors, strict=True)),
            "start": draw(st.sampled_from([None, "<"])),
            "end": draw(st.sampled_from([None, ">"])),
            "positions": positions,
            "layers": layers,
            "labels": labels,
            "read": draw(matrices(3, WIDTH)) if labels else draw(matrices(1, WIDTH))[0],
            "at": draw(st.sampled_from(["last", "first"])),
        }
    )


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_attention_of_each_kind_answers_as_word_by_word(kind, data) -> None:
    assert same(data.draw(attention_nets(kind)), 3)


@settings(max_examples=60)
@given(data=st.data())
def test_recurrent_nets_answer_as_word_by_word(data) -> None:
    """Residues modulo 3, of which states may lack what is written."""
    layers = []
    for _ in range(data.draw(st.integers(1, 2))):
        size, numbers = data.draw(st.integers(1, 2)), st.integers(0, 2)
        states = list(itertools.product(range(3), repeat=size))
        rows = [data.draw(matrices(size + 1, size, numbers)) for _ in "ab"]
        read = itertools.product(states, "ab")
        emit = [[state, letter, data.draw(st.sampled_from("ab"))] for state, letter in read]
        missing = data.draw(st.integers(0, 3 * len(emit)))
        layers.append(
            {
                "start": list(data.draw(st.sampled_from(states))),
                "before": data.draw(st.booleans()),
                "step": {
                    x: {"matrix": m, "add": add} for x, (*m, add) in zip("ab", rows, strict=True)
                },
                "emit": emit[:missing] + emit[missing + 1 :],
            }
        )
    net = {"family": "recurrent", "modulus": 3, "alphabet": ["a", "b"], "layers": layers}
    assert same(net_of(net), 5)


def test_numbers_too_long_for_a_batch_are_run_word_by_word(monkeypatch) -> None:
    monkeypatch.setattr(batched, "WIDEST", 63)
    assert same(net_of(stored("parity-3-heads")), 4)


def test_roots_are_run_word_by_word() -> None:
    changed = stored("parity-3-heads") | {"generator": {"polynomial": "x^2 - 2"}}
    changed["read"][4] = "-x"
    assert same(net_of(changed), 3)


def test_softmax_takes_whole_scores_also_where_the_file_names_a_root() -> None:
    plain = net_of(stored("parity"))
    named = net_of(stored("parity") | {"generator": {"polynomial": "x^2 - 2", "above": 0}})
    asked = list(words(plain, 3))
    assert [named.answer(word) for word in asked] == [plain.answer(word) for word in asked]


@pytest.mark.parametrize("at_once", [1, 1 << 16])
def test_the_first_wrong_word_is_that_of_the_plain_loop(
    at_once, tmp_path, capsys, monkeypatch
) -> None:
    changed = copy.deepcopy(stored("parity"))
    # Right on every word of at most three ones.
    changed["positions"][1] = "(-1)^(i*(i-1)*(i-2)*(i-3)/24 + i)"
    net, task = net_of(changed), word_task("parity", {})
    asked = list(words(net, 8))
    wrong = next(k for k, word in enumerate(asked) if net.answer(word) != task.answer(word))
    monkeypatch.setattr(batched, "_SCORES", at_once)
    file = tmp_path / "net.json"
    file.write_text(json.dumps(changed))
    assert main(["tasks", "check", str(file), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert wrong > 20
    assert said["words"] == wrong + 1
    assert said["wrong"] == {
        "word": " ".join(asked[wrong]),
        "said": net.answer(asked[wrong]),
        "right": task.answer(asked[wrong]),
    }


@pytest.mark.parametrize(
    ("query", "more", "says"),
    [
        ("x", {"generator": {"polynomial": "x^2 - 2", "above": 0}}, "softmax takes whole scores"),
        ("20000", {}, "softmax takes scores up to 10,000"),
        ("1/3", {}, "softmax takes whole scores"),
    ],
)
def test_softmax_refuses_scores_that_are_not_whole_or_too_large(query, more, says) -> None:
    made = stored("parity") | more
    head = made["layers"][0]["heads"][0]
    head["query"][0][2], head["key"][0][2] = query, 1
    net = net_of(made)
    with pytest.raises(UsageError, match=says):
        net.answer(("0", "1"))
    assert same(net, 2)


# --- how large numbers get ---


def powers(base: str) -> dict:
    """A net that looks up nothing, whose positions are powers."""
    zero = [[0, 0]]
    head = {"attention": "hard-right", "mask": "causal", "query": zero, "key": zero}
    return {
        "family": "attention",
        "alphabet": ["a", "b"],
        "embedding": {"a": ["3/4"], "b": ["-1/6"]},
        "positions": [f"({base})^i"],
        "layers": [{"heads": [head | {"value": zero, "output": [[0], [0]]}]}],
        "read": [[0, 0]],
        "labels": ["none"],
    }


@pytest.mark.parametrize(
    ("base", "sizes"),
    [
        ("2", {1: (2, 2, 2), 3: (2, 2, 2), 9: (2, 2, 8)}),
        ("10", {1: (2, 2, 2), 3: (5, 2, 2), 9: (19, 2, 8)}),
        ("1/3", {1: (2, 2, 2), 3: (2, 4, 2), 9: (2, 13, 2)}),
    ],
)
def test_sizes_are_those_of_the_largest_numbers(base, sizes) -> None:
    net, found = net_of(powers(base)), {}
    words = [word for length in sizes for word in (("a",) * length, ("b",) * length)]
    list(answers(net, words, found))
    assert found == sizes


def test_sizes_are_said_of_classes_with_so_many_bits(checked) -> None:
    net = stored("hops-causal")
    code, said = checked(net, "--length", "5")
    assert code == 0
    assert "in words of 5 letters p up to 5 bits, q up to 1 bit, |e| up to 4\n" in said
    sizes = checked(net, "--length", "5", "--json")[1]["sizes"]
    assert sizes["5"] == [5, 1, 4]
    assert set(sizes) == set("12345")
    assert "2^e" not in checked(stored("kgram"), "--length", "4")[1]


def test_numbers_too_long_to_be_run_together_are_not_counted() -> None:
    found: dict = {}
    list(answers(net_of(powers("9999999999")), [("a",) * 3, ("a",) * 130], found))
    assert found == {3: (67, 1, 2), 130: None}


@pytest.mark.parametrize(
    "name", ["hops-3", "hops-strict", "letters-hard", "d8-deltanet", "parity-softmax-positions"]
)
def test_all_prefixes_are_answered_as_by_themselves(name) -> None:
    """In one run where no mark stands behind a word, else one by one."""
    net = net_of(stored(name))
    words = list(itertools.product(net.alphabet[:2], repeat=4))
    prefixes = [word[:n] for word in words for n in range(1, 5)]
    each = list(answers(net, prefixes))
    assert list(answers(net, words, prefixes=True)) == each
    assert len({said for _, said in each}) > 1
