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

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ..least_depth import chain_of_thought, two_heads
from ..least_depth.chain_of_thought import decoder, kth_one, task
from .builder import Body
from .json_format import letters_of

# Tasks whose words the table of this class means: all of one length, and nothing else is given.
TASKS = ("parity-bits", "ordered", "kth-one", "iteration")


@dataclass(frozen=True)
class ThoughtNet:
    """A chain of thought: heads and what follows, by thought, and answers of the last ones."""

    alphabet: tuple[str, ...]
    begin: str
    heads: Mapping[str, tuple[tuple[str, ...], ...]]
    after: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, str | bool]

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
        UsageError: for what is missing or of the wrong form.
    """
    try:
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
        )
        named = [net.begin, *(name for each in net.after.values() for name in each.values())]
    except KeyError as missing:
        raise UsageError(f"the file lacks {missing} where it is needed") from None
    except UsageError:
        raise
    except (TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"the file has a part of the wrong form: {error}") from None
    for name in named:
        if not isinstance(name, str) or name not in {**net.heads, **net.answers}:
            raise UsageError(f"the thought {quoted(str(name))} is not in the file")
    return net


def breaks(net: ThoughtNet, kind: str, asked: str) -> str:
    """What of a class of the atlas a net breaks; "" for nothing.

    Raises:
        UsageError: for a class of other nets, or a task that such nets are not compared in.
    """
    if kind not in ("cot-one-head", "cot-heads"):
        raise UsageError(
            f"whether a net is of the class {kind} does not show in such a file; accepted are "
            "cot-one-head and cot-heads"
        )
    if asked not in TASKS:
        raise UsageError(
            f"nets of the family thoughts are for the tasks {', '.join(TASKS)}, not {quoted(asked)}"
        )
    if kind == "cot-one-head" and net.most_heads > 1:
        return f"it has one head, not {plural(net.most_heads, 'head')}"
    return ""


# --- the constructions ----------------------------------------------------------------------------


def of_decoder(the: chain_of_thought.Task) -> Body:
    """`chain_of_thought.decoder`: a tree of least rank, with as many steps as the rank."""
    made = decoder(the)
    names = {the.everything: "begin"}
    for thought in (*made.scores, *made.answers):
        names.setdefault(thought, f"t{len(names)}")
    return {
        "family": "thoughts",
        "alphabet": sorted({str(letter) for _, letter in the.tests}),
        "begin": "begin",
        "thoughts": {
            names[thought]: {
                # Ties go to the left.
                "heads": [_pairs(sorted(scores, key=lambda pair: (-scores[pair], pair)))],
                "next": {
                    _pairs([pair]): names[after] for pair, after in made.after[thought].items()
                },
            }
            for thought, scores in made.scores.items()
        },
        "answers": {names[thought]: str(answer) for thought, answer in made.answers.items()},
    }


def _pairs(pairs: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{position}:{letter}" for position, letter in pairs)


def of_kth_one(k: int, n: int) -> Body:
    """The decoder that finds the k-th one among n bits; 0 where there is none."""
    return of_decoder(task(kth_one(k), n))


def of_iteration(times: int, n: int) -> Body:
    """The decoder that applies a map on n numbers so often to 0."""
    return of_decoder(task(chain_of_thought.iterated(times), n, n))


def of_parity(n: int, heads: int) -> Body:
    """Each head reads one bit more in each step, and the thought is the parity so far."""
    thoughts = {}
    for at, odd in itertools.product(range(0, n, heads), (0, 1)):
        read = range(at, min(at + heads, n))
        thoughts[f"{at} {odd}"] = {
            "heads": [_pairs([(position, 0), (position, 1)]) for position in read],
            "next": {
                _pairs([*zip(read, bits, strict=True)]): (
                    f"{min(at + heads, n)} {(odd + sum(bits)) % 2}"
                )
                for bits in itertools.product((0, 1), repeat=len(read))
            },
        }
    return {
        "family": "thoughts",
        "alphabet": ["0", "1"],
        "begin": "0 0",
        "thoughts": thoughts,
        "answers": {f"{n} 0": False, f"{n} 1": True},
    }


def of_sorted(n: int) -> Body:
    """The two heads of `two_heads`, which find the last zero and the first one, in one step."""
    pairs = list(itertools.product(range(n), (0, 1)))
    words = list(itertools.product((0, 1), repeat=n))

    def score(pair: tuple[int, int], head: int) -> int:
        word = [0] * n
        word[pair[0]] = pair[1]
        return two_heads.logits(tuple(word))[head][pair[0]]

    orders = [sorted(pairs, key=lambda pair: -score(pair, head)) for head in (0, 1)]
    follows = {}
    for word in words:
        attended = [next(pair for pair in order if word[pair[0]] == pair[1]) for order in orders]
        follows[_pairs(attended)] = "sorted" if two_heads.accepts(word, "hard") else "not sorted"
    return {
        "family": "thoughts",
        "alphabet": ["0", "1"],
        "begin": "begin",
        "thoughts": {"begin": {"heads": [*map(_pairs, orders)], "next": follows}},
        "answers": {"sorted": True, "not sorted": False},
    }
