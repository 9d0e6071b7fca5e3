"""The forms of one head as a word with few different constants.

Up to a mixing of the forms, the output of one head is the row a^T M s_1 M s_2 ... s_{C-1} M, with
C = (3^L - 1)/2 letters M. There are only L different separators: s_i is one of c_1, ..., c_L or a
transpose.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def separators(depth: int) -> tuple[int, ...]:
    """Which constants stand between the letters of one head: l for c_l, -l for its transpose.

    W_1 = M, W_{l+1} = W_l c_l W_l c_l^T W_l, and the word is W_L c_L W_{L-1} c_{L-1} ... c_2 W_1.
    A ValueError below depth 1.

    >>> separators(2)
    (1, -1, 2)
    """
    if depth < 1:
        raise ValueError(f"depth={depth}: accepted are positive depths")
    inner: tuple[int, ...] = ()
    word: tuple[int, ...] = ()
    for layer in range(1, depth + 1):
        word = (*inner, layer, *word) if layer > 1 else ()
        inner = (*inner, layer, *inner, -layer, *inner)
    return word


def kept_letters(word: Sequence[int], forbidden: Collection[int], first: bool) -> int:
    """The largest number of letters of a word of `separators` kept with no two neighbours joined by
    a forbidden one or its transpose; `first`: whether the first letter must go.

    >>> kept_letters(separators(3), {1, 2}, first=True)
    6
    """
    gone, kept = 0, 0 if first else 1
    for separator in word:
        before = gone if abs(separator) in forbidden else max(gone, kept)
        gone, kept = max(gone, kept), 1 + before
    return max(gone, kept)
