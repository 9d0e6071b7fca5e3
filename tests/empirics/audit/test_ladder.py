"""Questions have the answers that an independent reading gives, and answers are scored alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
import torch

from depthlaw.empirics.audit.ladder import (
    KEPT,
    LOST,
    NEVER,
    change_of,
    climb,
    right_answers,
    symbol_encoding,
)
from depthlaw.empirics.audit.rungs import Question, Rung, ladder, questions, solved

# The permutations of S3 by the letters that stand for them, in the order of their images.
S3 = dict(
    zip("abcdef", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], strict=True)
)


def _closing(word: list[str], level: int) -> str:
    stack: list[str] = []
    deepest = 0
    for symbol in word:
        if symbol in "([":
            stack.append(symbol)
        else:
            assert {"(": ")", "[": "]"}[stack.pop()] == symbol
        deepest = max(deepest, len(stack))
    assert level <= deepest <= level + 1
    return {"(": ")", "[": "]"}[stack[-1]]


def _hops(word: list[str], level: int) -> str:
    at = len(word) - 1
    for _ in range(level):
        at = max(j for j in range(at) if word[j] == word[at]) + 1
    return word[at]


def _product(word: list[str], level: int) -> str:
    assert len(word) == level
    whole = reduce(lambda p, q: tuple(q[i] for i in p), [S3[letter] for letter in word])
    return next(letter for letter, element in S3.items() if element == whole)


def _blocks(word: list[str], level: int) -> str:
    changes = sum(a != b for a, b in pairwise(word))
    return "y" if word[0] == "a" and changes + 1 == level else "n"


def _composition(word: list[str], level: int) -> str:
    *maps, start = " ".join(word).split(" | ")
    assert len(maps) == level
    return reduce(lambda at, values: values.split()[int(at)], reversed(maps), start)


def _parity(word: list[str], level: int) -> str:
    assert len(word) == level
    return "y" if sum(map(int, word)) % 2 else "n"


def _copying(word: list[str], level: int) -> str:
    whole, begun = (part.split() for part in (" ".join(word) + " ").split("|"))
    assert len(set(whole)) == level
    assert whole[: len(begun)] == begun
    return whole[len(begun)]


def _recall(word: list[str], level: int) -> str:
    assert len(word) == 2 * level + 2
    return dict(zip(word[0:-2:2], word[1:-2:2], strict=True))[word[-1]]


READINGS: dict[str, Callable[[list[str], int], str]] = {
    "brackets": _closing,
    "hops": _hops,
    "words": _product,
    "blocks": _blocks,
    "composition": _composition,
    "parity": _parity,
    "copying": _copying,
    "recall": _recall,
}


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: f"{rung.ladder}-{rung.level}")
def test_answers_are_those_of_an_independent_reading(rung: Rung) -> None:
    asked = questions(rung, 60, seed=3)
    for question in asked:
        *_, last = question.prompt.splitlines()
        tag, *word, end = last.split()
        assert (tag, end) == (rung.ladder, "=")
        assert READINGS[rung.ladder](word, rung.level) == question.candidates[question.right]
    assert asked == questions(rung, 60, seed=3) != questions(rung, 60, seed=4)
    assert len({question.candidates[question.right] for question in asked}) > 1


def test_lines_to_train_on_are_solved_and_no_questions() -> None:
    rung = ladder()[0]
    lines = solved(rung)
    for _ in range(20):
        tag, *word, equals, answer = next(lines).split()
        assert (tag, equals, answer) == (rung.ladder, "=", _closing(word, rung.level))


class Reader:
    """A model that reads its tokens back as text and answers by a function, or at random."""

    accepted, causal, depth = 64, True, 4

    def __init__(self, known: dict[int, str], answer: Callable[[str], str] | None) -> None:
        self.known, self.answer = known, answer
        self.random = torch.Generator().manual_seed(0)

    def logits(self, ids: list[tuple[int, ...]], route: object = None) -> torch.Tensor:
        shape = (len(ids), len(ids[0]), self.accepted)
        if self.answer is None or route is not None:
            return torch.randn(shape, generator=self.random)
        said = torch.zeros(shape)
        symbols = {symbol: token for token, symbol in self.known.items()}
        for row, prompt in enumerate(ids):
            text = " ".join(self.known[token] for token in prompt)
            said[row, -1, symbols[self.answer(text)]] = 9
        return said


def _encoding() -> tuple[Callable[[str], list[int]], dict[int, str]]:
    encode, known = symbol_encoding(64), {}

    def kept(text: str) -> list[int]:
        words = [word for word in text.replace("\n", " \n ").split(" ") if word]
        ids = encode(text)
        known.update(zip(ids, words, strict=True))
        return ids

    return kept, known


def _recalled(text: str) -> str:
    last = text.split("\n")[-1].split()
    return _recall(last[1:-1], (len(last) - 4) // 2)


def test_a_model_that_recalls_is_right_and_one_that_guesses_is_at_chance() -> None:
    rung = next(rung for rung in ladder() if (rung.ladder, rung.level) == ("recall", 4))
    encode, known = _encoding()
    asked = questions(rung, 300)
    assert right_answers(Reader(known, _recalled), asked, encode).all()  # type: ignore[arg-type]
    guessed = right_answers(Reader(known, None), asked, encode)  # type: ignore[arg-type]
    # 300 guesses among 4: mean 75, standard deviation 7.5.
    assert 75 - 34 < guessed.sum() < 75 + 34


def test_what_a_route_takes_away_is_lost_and_what_was_never_had_is_not() -> None:
    rungs = [rung for rung in ladder() if rung.ladder in ("recall", "parity") and rung.level == 4]
    encode, known = _encoding()

    def answer(text: str) -> str:
        recall = text.split("\n")[-1].split()[0] == "recall"
        return _recalled(text) if recall else ("y" if zlib.crc32(text.encode()) % 2 else "n")

    model = Reader(known, answer)
    results = climb(model, encode, route=(), count=200, rungs=rungs)  # type: ignore[arg-type]
    assert {r.rung.ladder: r.state for r in results} == {"recall": LOST, "parity": NEVER}
    whole = climb(model, encode, other=model, count=200, rungs=rungs[1:])  # type: ignore[arg-type]
    assert [r.state for r in whole] == [KEPT]
    assert [r.beyond for r in results] == [True, True]


def test_candidates_of_several_tokens_have_the_sum_of_theirs() -> None:
    question = Question("a =", ("x y", "x z"), 1)
    ids = {"a": 0, "=": 1, "x": 2, "y": 3, "z": 4}

    class Model:
        def logits(self, some: list[tuple[int, ...]], route: object = None) -> torch.Tensor:
            said = torch.zeros(len(some), len(some[0]), 5)
            for row, prompt in enumerate(some):
                if prompt[-1] == 2:
                    said[row, -1, 4] = 1.0
            return said

    encode = lambda text: [ids[word] for word in text.split()]  # noqa: E731
    assert right_answers(Model(), [question], encode).tolist() == [True]  # type: ignore[arg-type]


def test_a_change_has_an_interval_that_holds_both_shares() -> None:
    before, after = np.ones(100, bool), np.zeros(100, bool)
    lost = change_of(before, after, 0.95)
    assert (lost.value, lost.high < -0.9, lost.low) == (-1.0, True, -1.0)
    after[:50] = True
    half = change_of(before, after, 0.95)
    assert half.low < -0.5 < half.high < -0.3
    same = change_of(before, before, 0.95)
    assert same.low < 0 < same.high
    assert same.value == 0
