"""Questions have the answers that an independent reading gives, and answers are scored alone."""

from __future__ import annotations

import functools
import zlib
from collections import Counter
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.audit.ladder import (
    KEPT,
    LOST,
    NEVER,
    change_of,
    climb,
    right_answers,
    symbol_encoding,
)
from depthlaw.empirics.audit.layered import whole
from depthlaw.empirics.audit.records import Store
from depthlaw.empirics.audit.rungs import Question, Rung, baseline, ladder, questions, solved
from depthlaw.empirics.audit.statistics import proportion

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
        assert last not in [line.rpartition(" ")[0] for line in question.prompt.splitlines()[:-1]]
        assert READINGS[rung.ladder](word, rung.level) == question.candidates[question.right]
    assert asked == questions(rung, 60, seed=3) != questions(rung, 60, seed=4)
    assert len({question.candidates[question.right] for question in asked}) > 1


def _best(word: list[str], among: tuple[str, ...], worth: Callable[[str], float]) -> str:
    return max(
        sorted(among, key=lambda symbol: zlib.crc32(" ".join([*word, symbol]).encode())), key=worth
    )


def _shortcuts(word: list[str], among: tuple[str, ...]) -> dict[str, str]:
    """Answers by the look of a line alone."""
    count, half = Counter(word), word.index("|") if "|" in word else len(word)
    first = {symbol: word.index(symbol) for symbol in among if symbol in word}
    last = {symbol: word[::-1].index(symbol) for symbol in among if symbol in word}
    opened = [")" if symbol == "(" else "]" for symbol in word if symbol in "(["]
    said = {
        "most": _best(word, among, lambda s: count[s]),
        "least": _best(word, among, lambda s: -count[s]),
        "once": _best(word, among, lambda s: count[s] == 1),
        "stands": _best(word, among, lambda s: count[s] > 0),
        "earliest": _best(word, among, lambda s: -first.get(s, 99)),
        "latest": _best(word, among, lambda s: -last.get(s, 99)),
        "not the latest": _best(word, among, lambda s: last.get(s, 99) > 0),
        "most before the bar": _best(word, among, lambda s: word[:half].count(s)),
        "smallest": min(among),
        "greatest": max(among),
        "first opened": _best(word, among, lambda s: s in opened[:1]),
        "last opened": _best(word, among, lambda s: s in opened[-1:]),
        "most opened": _best(word, among, lambda s: opened.count(s)),
        "as its ends": "y" if word[0] == word[-1] else "n",
        "more ones": "y" if count["1"] > count["0"] else "n",
        "more letters": "y" if count["a"] > count["b"] else "n",
    }
    for place in (0, 1, 2, 3, -1, -2, -3, -4):
        if -len(word) <= place < len(word):
            said[f"place {place}"] = _best(word, among, word[place].__eq__)
    return said


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: f"{rung.ladder}-{rung.level}")
def test_no_shortcut_beats_the_baseline(rung: Rung) -> None:
    asked, hits = questions(rung, 400, seed=1), Counter[str]()
    for question in asked:
        word = question.prompt.splitlines()[-1].split()[1:-1]
        for name, answer in _shortcuts(word, question.candidates).items():
            hits[name] += answer == question.candidates[question.right]
    stated = baseline(asked)
    # 24 strategies of 28 rungs: at this level none exceeds it by chance.
    for name, found in hits.items():
        assert proportion(found, 400, 0.9999).low <= stated.share, (name, stated)
    # Strategies that were right on all questions once: the last letter, and one not yet repeated.
    if rung.ladder in ("hops", "copying", "recall", "composition"):
        assert stated.share <= (0.55 if rung.level == 1 else 0.5)


def test_the_baseline_is_the_best_strategy_of_its_questions() -> None:
    line = "hops a b c a ="
    asked = [Question(line, ("a", "b"), 0)] * 3 + [Question(line, ("a", "b"), 1)]
    assert baseline(asked).share == 0.75
    with pytest.raises(ValueError, match="one question at least"):
        baseline([])


def test_a_least_depth_holds_at_the_lengths_that_its_note_says() -> None:
    for rung in ladder():
        assert "in idealised nets" in rung.note or "at this n, without MLPs" in rung.note
        assert ("at some length" in rung.note) == (
            rung.ladder in ("brackets", "blocks", "copying", "recall")
        )
    # A row for each n, and not that of words of all lengths, which no finite run refutes.
    assert {r.task for r in ladder() if r.ladder == "parity"} == {"parity-bits"}


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
    results = climb(model, encode, route=(0,), count=200, rungs=rungs)  # type: ignore[arg-type]
    assert {r.rung.ladder: r.state for r in results} == {"recall": LOST, "parity": NEVER}
    whole = climb(model, encode, other=model, count=200, rungs=rungs[1:])  # type: ignore[arg-type]
    assert [r.state for r in whole] == [KEPT]
    assert [r.beyond for r in results] == [True, True]


def test_answers_are_kept_by_rung_and_route_and_not_asked_again(tmp_path: Path) -> None:
    class Net(Reader):
        """With weights that a hash is made of, and a count of what it was asked."""

        name, kinds, layers, asked = "reader", (), (), 0

        def __init__(self, bias: float) -> None:
            encode, known = _encoding()
            super().__init__(known, _recalled)
            self.encode, self.net = encode, torch.nn.Linear(1, 1)
            torch.nn.init.constant_(self.net.bias, bias)
            torch.nn.init.constant_(self.net.weight, 0.0)

        def logits(self, ids: list[tuple[int, ...]], route: object = None) -> torch.Tensor:
            self.asked += 1
            self.random.manual_seed(len(ids))
            return super().logits(ids, route)

    some = [rung for rung in ladder() if rung.ladder == "recall"]

    def climbed(net: Net, stop: int = 9, **more: Any) -> Any:
        def tick(what: str, done: int, total: int) -> None:
            if done == stop:
                raise KeyboardInterrupt

        options = {"route": whole(4)[:2], "count": 40, "rungs": some, "tick": tick}
        return climb(net, net.encode, **options | more)  # type: ignore[arg-type]

    kept = functools.partial(Store, tmp_path)
    expected = climbed(first := Net(0.0))
    with pytest.raises(KeyboardInterrupt):
        climbed(Net(0.0), stop=2, store=kept())
    rest, again = kept(), kept()
    assert climbed(second := Net(0.0), store=rest) == expected
    assert (len(rest.hits), len(rest.made)) == (4, 2)
    assert 0 < second.asked < first.asked
    assert climbed(third := Net(0.0), store=again) == expected
    assert (third.asked, again.made) == (0, [])
    for changed in ({"seed": 1}, {"count": 41}, {"route": whole(4)[:3]}):
        climbed(net := Net(0.0), store=kept(), **changed)
        assert net.asked, changed
    climbed(net := Net(1.0), store=kept())
    assert net.asked


def test_a_change_that_leaves_no_layer_is_refused() -> None:
    encode, known = _encoding()
    with pytest.raises(UsageError, match=r"^no layer of 4 is left; leave one"):
        climb(Reader(known, _recalled), encode, route=())  # type: ignore[arg-type]


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
