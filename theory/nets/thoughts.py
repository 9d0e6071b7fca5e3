"""Chains of thought given by tables in a file, and run step by step.

A file of the family `thoughts` is one layer of unique hard attention whose thoughts have names:
`alphabet`; `begin`, the first thought; `thoughts`, name -> `heads` and `next`; `answers`, name of a
last thought -> the answer. A head is a string of pairs position:letter, by falling score and with
spaces between them, "0:1 1:1 1:0 0:0": it attends to the first one that the word has. `next` says
for what all heads attend to, in their order, the thought that follows: {"0:1": "found", ...}; with
two heads the keys are pairs of pairs, "0:1 3:0". Positions count from 0. Depth is the number of
steps, the most that a word takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted

from .fields import letters_of

# Tasks whose words the table of this class means: all of one length, and nothing else is given.
TASKS = ("parity-bits", "ordered", "kth-one", "iteration")


@dataclass(frozen=True)
class ThoughtNet:
    """A chain of thought: heads and what follows, by thought, and answers of the last ones.

    `body` is its JSON."""

    alphabet: tuple[str, ...]
    begin: str
    heads: Mapping[str, tuple[tuple[str, ...], ...]]
    after: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, str | bool]
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def most_heads(self) -> int:
        """The most heads of a thought."""
        return max(map(len, self.heads.values()), default=0)

    def answer(self, word: Sequence[str]) -> tuple[str | bool, int]:
        """The answer to a word, and after how many steps.

        Raises:
            UsageError: where the file does not say how to go on, or a thought comes again.
        """
        has = {f"{position}:{letter}" for position, letter in enumerate(word)}
        thought, seen = self.begin, [self.begin]
        while thought not in self.answers:
            if thought not in self.heads:
                raise UsageError(f"the thought {quoted(thought)} is not in the file")
            attended = [
                next((pair for pair in head if pair in has), None) for head in self.heads[thought]
            ]
            key = " ".join(map(str, attended))
            if None in attended or key not in self.after[thought]:
                raise UsageError(
                    f"the thought {quoted(thought)} does not say what follows on the word "
                    + quoted(" ".join(word))
                )
            thought = self.after[thought][key]
            if thought in seen:
                raise UsageError(f"the thought {quoted(thought)} comes again on a word")
            seen.append(thought)
        return self.answers[thought], len(seen) - 1


def thought_net(body: Mapping[str, Any]) -> ThoughtNet:
    """The net that a JSON object describes.

    Raises:
        UsageError: for a thought that is not in the file; `net_of` says what is missing.
    """
    given = body["thoughts"]
    net = ThoughtNet(
        letters_of(body),
        body["begin"],
        {
            name: tuple(tuple(head.split()) for head in each["heads"])
            for name, each in given.items()
        },
        {name: dict(each["next"]) for name, each in given.items()},
        {
            name: answer if isinstance(answer, bool) else str(answer)
            for name, answer in body["answers"].items()
        },
        body,
    )
    named = [net.begin, *(name for each in net.after.values() for name in each.values())]
    for name in named:
        if not isinstance(name, str) or name not in {**net.heads, **net.answers}:
            raise UsageError(f"the thought {quoted(str(name))} is not in the file")
    return net
