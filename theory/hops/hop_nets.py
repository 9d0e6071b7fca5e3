"""Nets of hop_k: a head that finds find^1, then pointers that double, one lookup a layer.

A letter is the number 1, 2 and so on, and `says` nothing, 0, where there is no hop. The start token
stands for no letter. MLPs put what was looked up in the place of what was held, so that the width
is that of every k and every alphabet, and the first layers of a net are what it said earlier.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..atlas.tasks import Word, hops as hops_task
from ..claims.definition import Case, Exact
from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream
from ..nets.classes import in_class
from ..nets.fields import Vector, times
from ..nets.json_format import attention_net
from ..nets.right import right_on
from .pointers import hop_k

# Of scores whose place is in the exponent, and by what a token skips itself.
BASE, SKIP = 4, 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# What a token holds: the place that it points to, and the letter there.
_HELD = ("aim", "says")


def _stream(*more: str, **positions: Any) -> Stream:
    names = ["1", "letter", "x", "x^2", *more, *_HELD, *(f"{name} there" for name in _HELD)]
    return Stream(names, {"i": "i", "i^2": "i^2"} | positions)


def _net(
    stream: Stream, symbols: int, layers: list[Body], more: Any = lambda x: {}, says: bool = True
) -> AttentionNet:
    """The net of these layers. `more`: what else a letter x holds, the start being 0; `says`:
    whether a letter says itself at first."""
    codes = dict(enumerate(LETTERS[:symbols], 1))
    embedding = {
        letter: {"1": 1, "letter": 1, "x": x, "x^2": x * x, "says": x * says} | more(x)
        for x, letter in codes.items()
    }
    return stream.net(
        LETTERS[:symbols],
        embedding | {"^": {"1": 1} | more(0)},
        start="^",
        layers=layers,
        labels=[*codes.values(), "none"],
        read=stream.matrix([*({"says": 2 * x, "1": -x * x} for x in codes), {}]),
    )


def _last_equal(stream: Stream, mask: str, name: str, copied: dict[str, str]) -> Body:
    """A head that finds the last token whose number of this name is the own letter, by the score
    2 x y - y^2; the start, which scores x^2 - 1/2, where there is none."""
    query: list[dict[str, Any]] = [{"x": 1}, {"1": 1}, {"x^2": 1}]
    start = {"1": "-1/2", "letter": "1/2"}
    key: list[dict[str, Any]] = [{name: 2}, {f"{name}^2": -1} | start, {"1": 1, "letter": -1}]
    return stream.head("hard-right", mask, query, key, copied)


def _lookups(
    stream: Stream, digits: int, mask: str = "causal", kept: Mapping[str, int] | None = None
) -> list[Body]:
    """Layers that look up the token at the aim, by the score 2 aim j - j^2, and hold what it holds:
    its aim, and what it says where a binary digit is 1. `kept`: what keeps ReLUs from passing
    anything where a token keeps what it held."""
    layers, kept = [], kept or {}
    for t in range(digits.bit_length()):
        taken = _HELD if digits >> t & 1 else _HELD[:1]
        copied = {name: f"{name} there" for name in taken}
        head = stream.head(
            "hard-right", mask, [{"aim": 1}, {"1": 1}], [{"i": 2}, {"i^2": -1}], copied
        )
        # Nothing held is negative, so that a ReLU passes it.
        units: list[Any] = [({name: 1, **kept}, 0, {name: -1}) for name in taken]
        for name, there in copied.items():
            after = {name: 1} if kept else {name: 1, there: -1}
            units.append(({there: 1, **kept}, 0, after))
        units += [({there: 1}, 0, {there: -1}) for there in copied.values() if kept]
        layers.append({"heads": [head], "mlp": stream.mlp(units)})
    return layers


def causal_net(k: int, symbols: int, induction: str = "repaired") -> AttentionNet:
    """The construction of sanford2024: layer 1 fetches the letter before, layer 2 finds find^1, the
    last place after an equal letter, every later one doubles the pointer.

    Args:
        k, symbols: hops, at least 1, and letters.
        induction: "repaired": from find^1 on 2^t is added for each binary digit of k - 1.
            "printed": from find^(k mod 2) on 2^(t-1) for the digit t of k, one layer too early.
    """
    stream = _stream("before", "before^2")
    repaired = induction == "repaired"
    found = {"i": "aim"} | ({"x": "says"} if repaired or k % 2 else {})
    before = stream.head(
        "hard-right",
        "causal",
        # The score is -(j - (i - 1))^2, up to what is the same for all j.
        [{"i": 1}, {"1": 1}],
        [{"i": 2}, {"i": -2, "i^2": -1}],
        {"x": "before", "x^2": "before^2"},
    )
    heads = [before, _last_equal(stream, "causal", "before", found)]
    layers = [{"heads": [head]} for head in heads]
    layers += _lookups(stream, k - 1 if repaired else k >> 1)
    return _net(stream, symbols, layers, says="x" not in found)


def strict_net(k: int, symbols: int, longest: int) -> AttentionNet:
    """Under the strict mask layer 1 finds the last equal letter, hence find^1, one place after it;
    the letter there is taken over for each binary digit of k. A token that points to itself, which
    is hidden from it, keeps what it holds; its MLPs take words of up to `longest` letters."""
    stream = _stream("itself")
    # One more than its place; of the start 0.
    first = _last_equal(stream, "strict", "x", {"i+letter": "aim"})
    layers: list[Body] = [
        {"heads": [first], "mlp": stream.mlp([({"aim": 1, "i": -1}, 1, "itself")])}
    ]
    layers += _lookups(stream, k, "strict", {"itself": -max(longest, symbols)})
    return _net(stream, symbols, layers)


def self_skipping_net(k: int, symbols: int) -> AttentionNet:
    """A score whose place is in the exponent finds the last earlier copy in layer 1: of token j for
    token i 4^j (1 - 2 (x_i - x_j)^2) - 2 4^(2 j - i), for the start, which is a copy of every
    letter at place 0, without the square."""
    up, twice = f"{BASE}^i", f"{BASE * BASE}^i"
    lettered: dict[str, Any] = {f"{x} {up}": (up, x) for x in ("own", "across", "x")}
    stream = _stream("own", "across", down=f"{BASE}^(-i)", twice=twice, **lettered)
    first = stream.head(
        "hard-right",
        "causal",
        [{"1": 1}, {"x^2": 1}, {"x": 1}, {"down": 1}],
        [{f"own {up}": 1}, {f"across {up}": 1}, {f"x {up}": 4}, {"twice": -SKIP}],
        # One more than its place; of the start 0.
        {"i+letter": "aim"},
    )
    layers = [{"heads": [first]}, *_lookups(stream, k)]
    return _net(stream, symbols, layers, lambda x: {"own": 1 - 2 * x * x, "across": -2 * (x > 0)})


@dataclass(frozen=True)
class Lookup:
    """What the last letter of a word does in one layer of `causal_net`, or holds before the first.

    Attributes:
        looked: the place where its head looks, from 1; 0 for the start token; before the first
            layer its own.
        aim, says: the place that it points to afterwards, and the letter that it says; 0 and
            nothing for none.
    """

    looked: int
    aim: int
    says: str


def lookups(net: AttentionNet, words: Iterable[str]) -> dict[str, tuple[Lookup, ...]]:
    """By word what its last letter holds at first, and does in each layer of a `causal_net`; and so
    every other letter, which is the last one of a prefix.

    Cost: a run of the net for each word that begins no longer one.
    """
    held = _stream("before", "before^2").matrix([{name: 1} for name in _HELD])
    asked = dict.fromkeys(words)
    states: dict[str, list[Vector]] = {}
    for word in sorted(asked, key=len, reverse=True):
        if word not in states:
            layers = _states(net.in_integers, word)
            states |= {word[:n]: [layer[n] for layer in layers] for n in range(len(word) + 1)}

    def held_by(word: str, layers: int, looked: int) -> Lookup:
        aim, says = map(int, times(held, states[word][layers]))
        return Lookup(looked, aim, LETTERS[says - 1] if says else "")

    done: dict[str, tuple[Lookup, ...]] = {}
    done |= {word: (held_by(word, 0, len(word)),) for word in asked}
    for number, layer in enumerate(net.layers):
        (head,) = layer.heads
        for word in asked:
            keys = [times(head.key, states[word[:n]][number]) for n in range(len(word) + 1)]
            scores = times(keys, times(head.query, states[word][number]))
            # Hard attention to the right of what scores best.
            looked = max(range(len(scores)), key=lambda at: (scores[at], at))
            done[word] += (held_by(word, number + 1, looked),)
    return done


def _states(net: AttentionNet, word: str) -> list[list[Vector]]:
    """The states of the start and of every letter before the first layer and after each; causal
    attention gives them whatever letters follow."""
    tokens = [*filter(None, [net.start]), *word]
    states = [net._placed([list(net.embedding[token]) for token in tokens])]
    for layer in net.layers:
        states.append(net._through(layer, states[-1]))
    return states


def with_softmax(net: AttentionNet, factor: int) -> AttentionNet:
    """The net with softmax to the base e in place of hard attention, its scores multiplied."""
    body = copy.deepcopy(dict(net.body))
    for head in (head for layer in body["layers"] for head in layer["heads"]):
        query = [[factor * entry for entry in row] for row in head["query"]]
        head |= {"attention": "softmax", "base": "e", "query": query}
    return attention_net(body)


# --- what a net is run on -------------------------------------------------------------------------


def sequences_of(case: Case, seed: int) -> Iterable[Sequence[int]]:
    """All sequences of the case's length with `exhaustive`, otherwise `random_sequences`."""
    if case.get("exhaustive"):
        return product(range(case.alphabet), repeat=case.tokens)
    return random_sequences(case.rng(seed), case.tokens, case.alphabet, case.repeats)


def random_sequences(
    rng: np.random.Generator, tokens: int, alphabet: int, repeats: bool, count: int = 4
) -> list[list[int]]:
    """Sequences of uniform symbols; without repeats neighbours differ, as in the experiment.

    One alternating sequence 0, 1, 0, 1, ... is added, on which find^h(i) = i - h, so that no two
    numbers of hops agree.
    """
    sequences = [[i % 2 for i in range(tokens)]]
    for _ in range(count):
        steps = rng.integers(0 if repeats else 1, alphabet, tokens)
        sequences.append((np.cumsum(steps) % alphabet).tolist())
    return sequences


def words_of(case: Case, seed: int) -> Iterator[Word]:
    """The same as words."""
    return (tuple(LETTERS[x] for x in sequence) for sequence in sequences_of(case, seed))


def net_depth(case: Case, seed: int, net: AttentionNet, class_: str) -> Exact:
    """The layers of a net of a class that is right at every token of the case's sequences, and not
    without its last layer; else -1."""
    task, every = hops_task(case.hops, case.alphabet), not case.get("exhaustive")

    def right(net: AttentionNet) -> bool:
        # Prefixes of all words of a length are all shorter ones.
        words = words_of(case, seed) if every else task.words(case.tokens)
        return bool(right_on(net, task, words, prefixes=every))

    early = right(replace(net, layers=net.layers[:-1]))
    return Exact(-1 if early or not right(net) or in_class(net, class_) else net.depth)


def simulated_depth(
    case: Case, seed: int, simulate: Callable[[Sequence[int], int], Iterator[list[int]]]
) -> Exact:
    """The layers after which a simulation is right at every token of the case's sequences, and not
    a layer earlier; else -1.

    Args:
        case, seed: hops and sequences.
        simulate: the answers to a sequence after each layer, -1 for none.
    """
    early = right = True
    for sequence in sequences_of(case, seed):
        *before, last = simulate(sequence, case.hops)
        answers = hop_k(sequence, case.hops, missing=-1)
        early, right = early and before[-1] == answers, right and last == answers
    return Exact(len(before) + 1 if right and not early else -1)
