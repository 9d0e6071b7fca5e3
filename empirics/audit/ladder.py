"""How far a causal language model climbs the ladder of abilities, and what a change of its depth
takes away: before and after are asked the same questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from depthlaw.advisor.base.quantities import UsageError

from .layered import LayeredModel, Route
from .rungs import Baseline, Question, Rung, baseline, ladder, questions
from .statistics import Estimate, proportion

if TYPE_CHECKING:
    from .records import Store

Encode = Callable[[str], list[int]]
# Of a question each candidate behind the prompt, and the token where the two part.
Encoded = list[tuple[list[int], int]]

# Questions of a rung; tokens of a batch at most.
QUESTIONS, TOKENS = 200, 16_384
# What a rung is after a change: its accuracy fell; the questions do not tell; it was not better
# than the baseline before.
LOST, UNDECIDED, KEPT, NEVER = "lost", "undecided", "kept", "never had"


@dataclass(frozen=True)
class RungResult:
    """A rung before and after a change of depth.

    Attributes:
        rung: which.
        baseline: the best of the strategies that do not solve the questions, measured on them.
        had: whether the model was surely better than the baseline, at a level divided by the rungs.
        before, after: share right, with Clopper-Pearson's interval; `after` is None without a
            change.
        change: after minus before; of the shares of questions lost and gained, each with half of
            the level.
        state: `lost` where the change is below zero, `kept` where it is above -margin, each at a
            level divided by the rungs; `never had` where the model was not better than the
            baseline.
        beyond: whether so many layers as are left are fewer than the task needs in its class of
            idealised nets; None without a change, and where no number is known. Where that depth
            holds at some length alone, theory forbids nothing at the length that is asked.
    """

    rung: Rung
    baseline: Baseline
    had: bool
    before: Estimate
    after: Estimate | None = None
    change: Estimate | None = None
    state: str | None = None
    beyond: bool | None = None


def symbol_encoding(vocabulary: int, seed: int = 0) -> Encode:
    """Every word of a text as one token drawn at random, for models without a tokenizer: then the
    solved lines are all that tells what is asked.

    Raises:
        ValueError: where there are more different words than tokens.
    """
    order = np.random.default_rng(seed).permutation(vocabulary)
    known: dict[str, int] = {}

    def encode(text: str) -> list[int]:
        ids = []
        for word in text.replace("\n", " \n ").split(" "):
            if word:
                if len(known) == vocabulary and word not in known:
                    raise ValueError(f"{vocabulary} tokens are fewer than the ladder has symbols")
                ids.append(int(order[known.setdefault(word, len(known))]))
        return ids

    return encode


def encoding(model: LayeredModel, tokenizer: Any = None) -> Encode:
    """How a text becomes tokens: by the tokenizer without special ids, else word by word."""
    if tokenizer is None:
        return symbol_encoding(model.accepted)
    if not hasattr(tokenizer, "encode"):
        return lambda text: list(tokenizer(text))
    return lambda text: list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def right_answers(
    model: LayeredModel, asked: Sequence[Question], encode: Encode, route: Route | None = None
) -> np.ndarray:
    """Of each question whether the right candidate has the largest log-probability, alone.

    Candidates of several tokens have the sum of theirs. Prompts of equal length run together: none
    is padded.
    """
    return _right(model, asked, _encoded(asked, encode), route)


def _encoded(asked: Sequence[Question], encode: Encode) -> list[Encoded]:
    found = []
    for question in asked:
        start = encode(question.prompt)
        ids = [encode(f"{question.prompt} {candidate}") for candidate in question.candidates]
        found.append([(whole, _common(start, whole)) for whole in ids])
    return found


def _right(
    model: LayeredModel,
    asked: Sequence[Question],
    encoded: Sequence[Encoded],
    route: Route | None,
) -> np.ndarray:
    jobs: dict[int, list[tuple[int, int, list[int], int]]] = defaultdict(list)
    scores: list[list[float]] = [[0.0] * len(question.candidates) for question in asked]
    for number, candidates in enumerate(encoded):
        for place, (whole, kept) in enumerate(candidates):
            jobs[len(whole) - 1].append((number, place, whole, kept))
    for length, of_length in jobs.items():
        by_prompt: dict[tuple[int, ...], list[tuple[int, int, list[int], int]]] = defaultdict(list)
        for job in of_length:
            by_prompt[tuple(job[2][:-1])].append(job)
        prompts = list(by_prompt)
        for first in range(0, len(prompts), max(1, TOKENS // length)):
            some = prompts[first : first + max(1, TOKENS // length)]
            logits = model.logits(some, route).float().log_softmax(-1)
            for row, prompt in enumerate(some):
                for number, place, whole, kept in by_prompt[prompt]:
                    scores[number][place] = sum(
                        float(logits[row, at - 1, whole[at]]) for at in range(kept, len(whole))
                    )
    return np.array(
        [
            all(of[q.right] > score for place, score in enumerate(of) if place != q.right)
            for of, q in zip(scores, asked, strict=True)
        ]
    )


def _common(one: list[int], other: list[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def climb(
    model: LayeredModel,
    encode: Encode,
    *,
    route: Route | None = None,
    other: LayeredModel | None = None,
    other_encode: Encode | None = None,
    count: int = QUESTIONS,
    seed: int = 0,
    level: float = 0.95,
    margin: float = 0.1,
    rungs: Sequence[Rung] | None = None,
    store: Store | None = None,
    tick: Callable[[str, int, int], object] = lambda what, done, total: None,
) -> tuple[RungResult, ...]:
    """Ask every rung; where `route` or `other` is given, once more of the model along that route,
    or of the other model.

    Args:
        model, encode: the model, and its tokens of a text.
        route: the layers that run after the change.
        other, other_encode: another model in its place.
        count, seed: questions of each rung, and their seed.
        level: of the intervals; the state of a rung has the level 1 - (1 - level) / rungs.
        margin: a fall by less counts as kept, where the interval shows it.
        rungs: by default all of `ladder`.
        store: where the answers to each rung are kept, and read from.
        tick: hears the rung, and how many are done of all.

    Raises:
        UsageError: where the route has no layer.
    """
    if route is not None and not route:
        raise UsageError(
            f"no layer of {model.depth} is left; leave one at least, such as --without 1"
            if model.depth > 1
            else "the model has one layer, and none is left; try --repeat 1"
        )
    chosen = ladder() if rungs is None else tuple(rungs)
    changed = route is not None or other is not None
    left = None
    if changed:
        left = len(route) if route is not None else other.depth if other else None
    ask = _asker(store)
    results = []
    for number, rung in enumerate(chosen):
        tick(f"{rung.ladder} {rung.level}", number, len(chosen))
        asked = questions(rung, count, seed)
        before = ask(model, asked, encode, None)
        best = baseline(asked)
        share = proportion(int(before.sum()), count, level)
        strict = 1 - (1 - level) / len(chosen)
        had = proportion(int(before.sum()), count, strict).low > best.share
        if not changed:
            results.append(RungResult(rung, best, had, share))
            continue
        after = ask(other or model, asked, other_encode or encode, route)
        results.append(
            RungResult(
                rung,
                best,
                had,
                share,
                proportion(int(after.sum()), count, level),
                change_of(before, after, level),
                _state(before, after, strict, margin) if had else NEVER,
                None if left is None or rung.needed is None else rung.needed > left,
            )
        )
    return tuple(results)


def _asker(
    store: Store | None,
) -> Callable[[LayeredModel, Sequence[Question], Encode, Route | None], np.ndarray]:
    """As `right_answers`; with a store what is known is read. A model is hashed once."""
    if store is None:
        return right_answers
    from .records import key_of, model_hash

    hashes: dict[int, str] = {}

    def ask(
        model: LayeredModel, asked: Sequence[Question], encode: Encode, route: Route | None
    ) -> np.ndarray:
        if id(model) not in hashes:
            hashes[id(model)] = model_hash(model)
        encoded = _encoded(asked, encode)
        told = key_of({"encoded": encoded, "right": [question.right for question in asked]})
        return store.answers(
            hashes[id(model)], told, route, lambda: _right(model, asked, encoded, route)
        )

    return ask


def change_of(before: np.ndarray, after: np.ndarray, level: float) -> Estimate:
    """The difference of two shares of the same questions: gained minus lost, each with
    Clopper-Pearson's interval at half of the level; so the interval holds at least at the level."""
    n, half = len(before), 1 - (1 - level) / 2
    gained = proportion(int((~before & after).sum()), n, half)
    lost = proportion(int((before & ~after).sum()), n, half)
    low, high = max(-1.0, gained.low - lost.high), min(1.0, gained.high - lost.low)
    return Estimate(gained.value - lost.value, low, high, level, n, "clopper-pearson")


def _state(before: np.ndarray, after: np.ndarray, level: float, margin: float) -> str:
    change = change_of(before, after, level)
    if change.high < 0:
        return LOST
    return KEPT if change.low >= -margin else UNDECIDED
