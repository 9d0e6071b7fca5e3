"""Whether a net is right on words of every length, where finitely many states decide that.

Recurrent layers are an automaton where their states close up. So is unique hard attention under a
mask that hides the future, without positions: each head remembers, in order of occurrence, the keys
that it has seen, each with the value that it would give now, and there are finitely many of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, plural

from ..atlas.tasks import Word, WordTask
from .attention import AttentionNet, Head
from .fields import plus, times
from .recurrent import RecurrentNet

# Pairs of a net's states and a state of the task that are followed at most; of attention, each of
# whose steps takes longer, a tenth.
MOST_PAIRS = 200_000

Step = Callable[[Any, str], tuple[Any, Any]]


class StatesGrow(UsageError):
    """A state is reached that the file says nothing of: finitely many states are not shown."""


@dataclass(frozen=True)
class EveryLength:
    """What a net is on words of every length.

    Attributes:
        states: how many states of all its layers together are reached.
        compared: whether its answers were compared with the task's all along.
        wrong: a shortest word on which it is wrong.
    """

    states: int
    compared: bool
    wrong: Word | None


def automaton(net: AttentionNet | RecurrentNet, task: WordTask) -> EveryLength | None:
    """Follow a net's states and the task's together until nothing new is reached; None where there
    are more than `MOST_PAIRS` pairs, or the net is none that this is known of.

    Cost: a step of the layers for each pair and letter.

    Raises:
        StatesGrow: where a state is reached that the file says nothing of.
    """
    start: Any
    step: Step
    most = MOST_PAIRS if isinstance(net, RecurrentNet) else MOST_PAIRS // 10
    if isinstance(net, RecurrentNet):
        start, step = net.start, net.step
    elif task.machine and _reads_on(net):
        start, step = _hard_attention(net.in_integers)
    else:
        return None
    machine = task.machine
    first = (start, machine.start if machine else "")
    # How each pair was first reached: the pair before, and the letter.
    reached: dict[Any, tuple[Any, str] | None] = {first: None}

    def word(pair: Any, *letters: str) -> Word:
        found = list(reversed(letters))
        while (way := reached[pair]) is not None:
            pair, letter = way
            found.append(letter)
        return tuple(reversed(found))

    todo = [first]
    for pair in todo:
        for letter in task.letters:
            try:
                after, said = step(pair[0], letter)
            except UsageError as error:
                raise StatesGrow(
                    "its states grow, or the file does not list all that are reached: in a word of "
                    f"{plural(len(word(pair, letter)), 'letter')} {error}"
                ) from None
            right = machine.step(pair[1], letter) if machine else ""
            if machine and said != machine.said(right):
                return EveryLength(len({states for states, _ in todo}), True, word(pair, letter))
            if (after, right) not in reached:
                reached[after, right] = (pair, letter)
                todo.append((after, right))
        if len(todo) > most:
            return None
    return EveryLength(len({states for states, _ in todo}), machine is not None, None)


def _reads_on(net: AttentionNet) -> bool:
    """Whether all that a net says of a longer word is a matter of what its heads remember."""
    return (
        not net.positions
        and net.thoughts is None
        and net.at == "last"
        and all(
            head.kind in ("hard-right", "hard-left") and head.mask != "none"
            for layer in net.layers
            for head in layer.heads
        )
    )


# What a head remembers: keys in order of occurrence, each with what it would add to a state.
Memory = tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]


def _remembered(head: Head, memory: Memory, state: Sequence[Any]) -> Memory:
    """What a head remembers after one token more. Of equal keys the one of the last token wins, to
    the left that of the first."""
    key = tuple(times(head.key, state))
    if head.kind == "hard-left" and any(key == other for other, _ in memory):
        return memory
    kept = tuple(pair for pair in memory if pair[0] != key)
    return (*kept, (key, tuple(times(head.output, times(head.value, state)))))


def _hard_attention(net: AttentionNet) -> tuple[Any, Step]:
    """The start and the step of a net of unique hard attention; a state is a number for each head's
    memory, by layers."""
    memories: dict[tuple[Memory, ...], int] = {}
    listed: list[tuple[Memory, ...]] = []

    def number(heads: tuple[Memory, ...]) -> int:
        if heads not in memories:
            memories[heads] = len(listed)
            listed.append(heads)
        return memories[heads]

    @cache
    def through(layer: int, memory: int, state: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]]:
        given = net.layers[layer]
        total = list(state) if given.residual else [0 * entry for entry in state]
        after = []
        for head, old in zip(given.heads, listed[memory], strict=True):
            new = _remembered(head, old, state)
            after.append(new)
            if seen := new if head.mask == "causal" else old:
                # To the right a later key wins a tie.
                order = seen[::-1] if head.kind == "hard-right" else seen
                scores = times([key for key, _ in order], times(head.query, state))
                total = plus(total, order[net.field.largest(scores)][1])
        return number(tuple(after)), tuple(net.after_mlp(given, total))

    def token(states: tuple[int, ...], letter: str) -> tuple[tuple[int, ...], tuple[Any, ...]]:
        state, after = tuple(net.embedding[letter]), []
        for layer, memory in enumerate(states):
            new, state = through(layer, memory, state)
            after.append(new)
        return tuple(after), state

    def step(states: tuple[int, ...], letter: str) -> tuple[tuple[int, ...], Any]:
        after, state = token(states, letter)
        if net.end is not None:
            _, state = token(after, net.end)
        return after, net.said(list(state))

    start = tuple(number(((),) * len(layer.heads)) for layer in net.layers)
    return (start if net.start is None else token(start, net.start)[0]), step
