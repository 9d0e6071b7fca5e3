"""Recurrent nets over letters, layer upon layer, run exactly."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted

from .fields import Field, Number, Vector, plus, times

States = tuple[tuple[Number, ...], ...]


@dataclass(frozen=True)
class RecurrentLayer:
    """One layer over letters: h <- step[letter] h + add[letter]."""

    start: tuple[Number, ...]
    step: Mapping[str, tuple[list[Vector], Vector]]
    emit: Mapping[tuple[tuple[Number, ...], str], str]
    before: bool


@dataclass(frozen=True)
class RecurrentNet:
    """A net over letters; `body` is its JSON, whose form `json_format` says."""

    field: Field
    alphabet: tuple[str, ...]
    layers: tuple[RecurrentLayer, ...]
    body: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def depth(self) -> int:
        """Layers."""
        return len(self.layers)

    @property
    def start(self) -> States:
        """The states of all layers before a word."""
        return tuple(layer.start for layer in self.layers)

    def step(self, states: States, letter: str) -> tuple[States, str]:
        """The states of all layers after a letter, and the letter that the last one writes.

        Raises:
            UsageError: for a state and letter that the file says nothing of.
        """
        after = []
        for number, (layer, state) in enumerate(zip(self.layers, states, strict=True), 1):
            if letter not in layer.step:
                raise UsageError(f"layer {number} has no step for the letter {quoted(letter)}")
            matrix, add = layer.step[letter]
            after.append(tuple(plus(times(matrix, state), add)))
            read = state if layer.before else after[-1]
            if (read, letter) not in layer.emit:
                raise UsageError(
                    f"layer {number} writes nothing in the state {list(map(str, read))} for "
                    f"the letter {quoted(letter)}"
                )
            letter = layer.emit[read, letter]
        return tuple(after), letter

    def answer(self, word: Sequence[str]) -> str:
        """The last letter that the last layer writes.

        Raises:
            UsageError: as of `step`.
        """
        states, written = self.start, ""
        for letter in word:
            states, written = self.step(states, letter)
        return written
