"""A text made here that needs depth: chains of pointers, and nested brackets of several kinds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# Ids: digits, names, signs, opening brackets, and the closing ones in the same order.
DIGITS, NAMES = range(10), range(10, 36)
ASSIGN, END, ASK = 36, 37, 38
OPEN, CLOSE = range(39, 43), range(43, 47)
VOCABULARY = 48
# Assignments and questions of a passage of pointers; pairs of a passage of brackets.
_ASSIGNED, _ASKED, _PAIRS = 6, 2, 16
# How many tokens there are to train on and to validate on.
_TRAINING, _VALIDATION = 1_160_000, 120_000


def pointers(rng: np.random.Generator) -> list[int]:
    """Six assignments `name = value ;`, each to a digit or, three times in four, to a name assigned
    before; then two questions `? name digit ;`, answered by the digit at the end of the chain."""
    names = [int(name) for name in rng.choice(NAMES, _ASSIGNED, replace=False)]
    ends: dict[int, int] = {}
    tokens: list[int] = []
    for place, name in enumerate(names):
        if place and rng.random() < 0.75:
            value = names[int(rng.integers(place))]
            ends[name] = ends[value]
        else:
            value = ends[name] = int(rng.integers(len(DIGITS)))
        tokens += [name, ASSIGN, value, END]
    for name in rng.choice(names, _ASKED, replace=False):
        tokens += [ASK, int(name), ends[int(name)], END]
    return tokens


def brackets(rng: np.random.Generator) -> list[int]:
    """A balanced word of 16 pairs of four kinds of brackets, in which a step up is as likely as a
    step down where both are possible, and a sign for its end."""
    stack: list[int] = []
    tokens: list[int] = []
    left = _PAIRS
    while left or stack:
        if left and (not stack or rng.random() < 0.5):
            stack.append(int(rng.integers(len(OPEN))))
            tokens.append(OPEN[stack[-1]])
            left -= 1
        else:
            tokens.append(CLOSE[stack.pop()])
    return [*tokens, END]


@lru_cache(maxsize=1)
def made_text() -> tuple[np.ndarray, np.ndarray]:
    """Tokens to train on and to validate on, uint16: passages of both kinds in turn by a fair coin,
    from a fixed seed."""
    parts = []
    for seed, length in ((0, _TRAINING), (1, _VALIDATION)):
        rng = np.random.default_rng([2711, seed])
        tokens: list[int] = []
        while len(tokens) < length:
            tokens += pointers(rng) if rng.random() < 0.5 else brackets(rng)
        parts.append(np.array(tokens[:length], dtype=np.uint16))
    return parts[0], parts[1]
