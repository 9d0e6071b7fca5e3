"""Nets of attention over vectors, run exactly; `json_format` says what their files hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from depthlaw.advisor.base.quantities import UsageError

from .fields import Field, Number, Vector, integers, plus, times

# Of softmax: base^score has about as many digits.
LARGEST_SCORE = 10_000
KINDS = ("hard-right", "hard-left", "average", "softmax", "weights", "linear")
MASKS = ("none", "causal", "strict")


@dataclass(frozen=True)
class Head:
    """One head: four matrices, the kind of attention, the mask, and what goes with the kind."""

    query: list[Vector]
    key: list[Vector]
    value: list[Vector]
    output: list[Vector]
    kind: str
    mask: str
    base: Number = None
    divide: Any = None


@dataclass(frozen=True)
class Layer:
    """Heads side by side, then perhaps an MLP."""

    heads: tuple[Head, ...]
    mlp: tuple[list[Vector], Vector, list[Vector]] | None
    residual: bool


@dataclass(frozen=True)
class Thoughts:
    """Tokens that a net writes itself: how many, and matrix x + add for the state x of the last."""

    steps: int
    matrix: list[Vector]
    add: Vector


@dataclass(frozen=True)
class AttentionNet:
    """A net over vectors, whose form `json_format` says.

    Attributes:
        factors: for each position the coordinate of the letter that multiplies it; None for none.
        by_length: whether a position depends on n.
        polynomial: whether each position is bounded by a polynomial in the place, as its expression
            shows: i is in no exponent but one of 1 or -1.
        in_balls: whether its numbers are no rationals; then `answer` is not for it.
        body: its JSON.
    """

    field: Field
    alphabet: tuple[str, ...]
    start: str | None
    end: str | None
    embedding: Mapping[str, Vector]
    positions: tuple[Callable[[int, int], Number], ...]
    factors: tuple[int | None, ...]
    by_length: bool
    polynomial: bool
    in_balls: bool
    layers: tuple[Layer, ...]
    read: list[Vector]
    labels: tuple[str, ...] | None
    at: str
    thoughts: Thoughts | None = None
    body: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    def __hash__(self) -> int:
        return hash((self.alphabet, self.start, self.end, len(self.layers), self.labels, self.at))

    @property
    def depth(self) -> int:
        """Layers, or thoughts where there are some."""
        return self.thoughts.steps if self.thoughts else len(self.layers)

    def with_matrices(self, made: Callable[[Any], Any]) -> AttentionNet:
        """The net with what is made of each matrix, and of the biases of MLPs, in its place."""

        def head(given: Head) -> Head:
            names = ("query", "key", "value", "output")
            return replace(given, **{name: made(getattr(given, name)) for name in names})

        def layer(given: Layer) -> Layer:
            mlp: Any = given.mlp and tuple(map(made, given.mlp))
            return replace(given, heads=tuple(map(head, given.heads)), mlp=mlp)

        return replace(self, layers=tuple(map(layer, self.layers)), read=made(self.read))

    @cached_property
    def in_integers(self) -> AttentionNet:
        """The net with its whole rationals as integers, which are faster."""
        embedding = {letter: integers(vector) for letter, vector in self.embedding.items()}
        return replace(self.with_matrices(integers), embedding=embedding)

    def answer(self, word: Sequence[str]) -> str | bool:
        """What the net says of a word: a label, or whether the read-out is positive.

        Cost: for each head of each layer n^2 scores, in exact arithmetic; so for each thought.
        """
        return self.in_integers.said(self.in_integers._last_state(word))

    def read_out(self, word: Sequence[str]) -> Vector:
        """The products that the answer to a word is read off.

        Cost: as of `answer`.
        """
        return times(self.read, self.in_integers._last_state(word))

    def _last_state(self, word: Sequence[str]) -> Vector:
        tokens = [*filter(None, [self.start]), *word, *filter(None, [self.end])]
        vectors = [list(self.embedding[token]) for token in tokens]
        if self.thoughts is None:
            return self._states(vectors)[-1 if self.at == "last" else 0]
        for _ in range(self.thoughts.steps):
            last = self._states(vectors)[-1]
            vectors.append(plus(times(self.thoughts.matrix, last), self.thoughts.add))
        return self._placed(vectors)[-1]

    def _placed(self, vectors: list[Vector]) -> list[Vector]:
        n, places = len(vectors), list(zip(self.positions, self.factors, strict=True))
        return [
            integers([*vector, *(at(i, n) * (1 if c is None else vector[c]) for at, c in places)])
            for i, vector in enumerate(vectors)
        ]

    def _states(self, vectors: list[Vector]) -> list[Vector]:
        """The states of all tokens after the layers."""
        states = self._placed(vectors)
        for layer in self.layers:
            states = self._through(layer, states)
        return states

    def said(self, state: Vector) -> str | bool:
        """The answer that is read off a state."""
        read = times(self.read, state)
        if self.labels is None:
            return self.field.sign(read[0]) > 0
        return self.labels[self.field.largest(read)]

    def _through(self, layer: Layer, states: list[Vector]) -> list[Vector]:
        zero = [0 * value for value in states[0]]
        sums = [list(state) if layer.residual else list(zero) for state in states]
        for head in layer.heads:
            for i, given in enumerate(self._attended(head, states)):
                if given is not None:
                    sums[i] = plus(sums[i], times(head.output, given))
        return [self.after_mlp(layer, state) for state in sums]

    def after_mlp(self, layer: Layer, state: Vector) -> Vector:
        """A state with what the layer's MLP adds to it."""
        if layer.mlp is None:
            return state
        first, bias, second = layer.mlp
        hidden = plus(times(first, state), bias)
        return plus(state, times(second, [h if self.field.sign(h) > 0 else 0 * h for h in hidden]))

    def _attended(self, head: Head, states: list[Vector]) -> list[Vector | None]:
        queries, keys, values = (
            [times(matrix, state) for state in states]
            for matrix in (head.query, head.key, head.value)
        )
        found: list[Vector | None] = []
        for i, query in enumerate(queries):
            last = {"none": len(states), "causal": i + 1, "strict": i}[head.mask]
            scores = times(keys[:last], query)
            weights = self._weights(head, scores, len(states)) if scores else []
            parts = [[w * x for x in values[j]] for j, w in enumerate(weights) if w]
            found.append(integers(reduce(plus, parts)) if parts else None)
        return found

    def _weights(self, head: Head, scores: Vector, tokens: int) -> Vector:
        sign = self.field.sign
        if head.kind == "linear":
            by = self.field.number(tokens) if head.divide == "n" else head.divide
            return [score / by for score in scores]
        if head.kind in ("softmax", "weights"):
            if head.kind == "softmax":
                powers = [_whole(self.field, score) for score in scores]
                if any(abs(power) > LARGEST_SCORE for power in powers):
                    raise UsageError(
                        f"softmax takes scores up to {LARGEST_SCORE:,}, since base^score is "
                        "written out"
                    )
                scores = [head.base**power for power in powers]
            # Softmax gives no token the weight 0.
            if any(sign(score) <= 0 for score in scores):
                raise UsageError('attention "weights" takes scores above 0')
            total = sum(scores, self.field.number(0))
            return [score / total for score in scores]
        best = scores[self.field.largest(scores)]
        where = [j for j, score in enumerate(scores) if score == best]
        if head.kind == "average":
            share = integers(self.field.number(f"1/{len(where)}"))
            return [share if score == best else 0 for score in scores]
        chosen = where[-1 if head.kind == "hard-right" else 0]
        return [int(j == chosen) for j in range(len(scores))]


def _whole(field: Field, score: Number) -> int:
    """A score of softmax as an integer, also where the file names a generator."""
    exact = score if field.domain is None else field.domain.to_sympy(score)
    # A rational number of SymPy has a denominator, any other one has none.
    if getattr(exact, "denominator", None) != 1:
        raise UsageError("softmax takes whole scores, so that base^score is exact")
    return int(exact)
