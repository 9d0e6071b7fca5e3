"""Recurrent nets over letters, layer upon layer, run exactly."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted

from .fields import Field, Number, Vector, times


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

    def answer(self, word: Sequence[str]) -> str:
        """The last letter that the last layer writes.

        Raises:
            UsageError: for a state and letter that the file says nothing of.
        """
        letters = list(word)
        for number, layer in enumerate(self.layers, 1):
            state, written = layer.start, []
            for letter in letters:
                if letter not in layer.step:
                    raise UsageError(f"layer {number} has no step for the letter {quoted(letter)}")
                matrix, add = layer.step[letter]
                after = tuple(a + b for a, b in zip(times(matrix, list(state)), add, strict=True))
                key = (state if layer.before else after, letter)
                if key not in layer.emit:
                    raise UsageError(
                        f"layer {number} writes nothing in the state {list(map(str, key[0]))} for "
                        f"the letter {quoted(letter)}"
                    )
                written.append(layer.emit[key])
                state = after
            letters = written
        return letters[-1]
