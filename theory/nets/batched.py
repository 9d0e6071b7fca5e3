"""Nets of `json_format` on many words at once, with the very answers of `net.answer`.

Attention over the rationals runs on arrays of all words of a length: whole numerators, and one
denominator for each word. They are 64-bit integers wherever the largest entries show that no result
passes 2^62, and Python's integers elsewhere. A recurrent net over any field is an automaton, since
`emit` lists finitely many states: each of its steps is computed once.

Run word by word are attention over an algebraic field; batches whose numbers have more than
`WIDEST` bits, which would fill the memory; and those where a word has no answer (softmax of a score
that is not whole, weights that are not above 0), so that the error names what it named. So do nets
whose numbers are no rationals, in balls (`balls`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, groupby, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ..atlas.tasks import Word
from . import balls
from .attention import LARGEST_SCORE, AttentionNet, Head, Layer
from .fields import Vector
from .recurrent import RecurrentNet

Whole = npt.NDArray[Any]  # of int64, or of Python's integers
Answer = str | bool
WIDEST = 4096
# Scores of one head in a batch.
_SCORES = 1 << 16


# Of numbers (p/q) 2^e with p and q odd: the most bits of p and of q, and the largest |e|; None
# where numbers were too long to be run together.
Sizes = dict[int, tuple[int, int, int] | None]


def answers(
    net: AttentionNet | RecurrentNet,
    words: Iterable[Word],
    sizes: Sizes | None = None,
    prefixes: bool = False,
) -> Iterator[tuple[Word, Answer]]:
    """Each word with what the net says of it, in the order of the words.

    Args:
        sizes: where to note, of attention over the rationals, how large the numbers of all states
            get, by the length of the words.
        prefixes: whether all prefixes of a word, of one letter or more, stand in its place. Where
            no token sees later ones and no mark stands behind a word, one run gives them all.

    Cost: for attention that of `net.answer` in whole numbers, by the batch of neighbours of one
    length, each batch run before its first answer is given. For recurrent nets a look-up for each
    letter, and a step of the layers for each new pair of their states and a letter.

    Raises:
        UsageError: for a word without an answer, once those before it are given.
    """
    if prefixes and not _at_every_token(net):
        words, prefixes = (prefix for word in words for prefix in _prefixes(word)), False
    if isinstance(net, RecurrentNet):
        return _by_automaton(net, words)
    if net.in_balls:
        return balls.answers(net, words)
    if net.field.domain is not None:
        return ((word, net.answer(word)) for word in words)
    if not prefixes:
        return _by_batches(net, words, sizes, _said, net.answer)
    runs = _by_batches(
        net, words, sizes, _said_of_prefixes, lambda word: [*map(net.answer, _prefixes(word))]
    )
    return (pair for word, said in runs for pair in zip(_prefixes(word), said, strict=True))


def _at_every_token(net: AttentionNet | RecurrentNet) -> bool:
    """Whether one run of a word in batches says what the net answers to each prefix."""
    return (
        isinstance(net, AttentionNet)
        and not (net.in_balls or net.by_length or net.thoughts or net.end)
        and net.field.domain is None
        and net.at == "last"
        and all(head.mask != "none" for layer in net.layers for head in layer.heads)
        and all(head.divide != "n" for layer in net.layers for head in layer.heads)
    )


def _prefixes(word: Word) -> list[Word]:
    return [word[:length] for length in range(1, len(word) + 1)]


def read_outs(net: AttentionNet, words: Iterable[Word]) -> Iterator[tuple[Word, Vector]]:
    """Each word with the products that the answer is read off; for attention over the rationals.

    Cost, Raises: as of `answers`.
    """
    return _by_batches(net, words, None, _fractions, net.read_out)


def thoughts(
    net: AttentionNet, groups: Iterable[Sequence[Word]]
) -> Iterator[Iterator[list[Vector]]]:
    """For each group of words of one length what they are read off after 0, 1, 2, ... thoughts.

    Cost: for each thought that of `answer` without thoughts, or where no token sees a later one of
    its last token alone.
    """
    made = _in_matrices(net)
    for words in groups:
        read = (last.through(made.read) for last in _thoughts(made, words))
        # Whole numbers, which are what most nets hold, are faster as integers.
        yield (
            each.top[:, 0].tolist() if (each.bottom == 1).all() else _fractions(made, each)
            for each in read
        )


# --- recurrent layers -----------------------------------------------------------------------------


def _by_automaton(net: RecurrentNet, words: Iterable[Word]) -> Iterator[tuple[Word, Answer]]:
    number, states = {net.start: 0}, [net.start]
    # For each tuple of states: by letter read the number of the next one, and the letter written.
    steps: list[dict[str, tuple[int, str]]] = [{}]
    for word in words:
        at, written = 0, ""
        for letter in word:
            if letter not in steps[at]:
                after, written = net.step(states[at], letter)
                if after not in number:
                    number[after] = len(states)
                    states.append(after)
                    steps.append({})
                steps[at][letter] = (number[after], written)
            at, written = steps[at][letter]
        yield word, written


# --- whole numbers --------------------------------------------------------------------------------


class _WordByWordError(Exception):
    """What a batch cannot answer."""


def _largest(a: Whole) -> int:
    return int(max(a.max(initial=0), -a.min(initial=0)))


def _fit(bound: int, *arrays: Whole) -> tuple[Whole, ...]:
    """The arrays, as Python's integers if a result below the bound may pass 2^62."""
    if bound < 1 << 62:
        return arrays
    if bound.bit_length() > WIDEST:
        raise _WordByWordError
    return tuple(a.astype(object) for a in arrays)


def _times(a: Whole, b: Whole) -> Whole:
    if (b == 1).all():
        return np.broadcast_to(a, np.broadcast_shapes(a.shape, b.shape))
    a, b = _fit(_largest(a) * _largest(b), a, b)
    return a * b


def _sum(a: Whole, b: Whole) -> Whole:
    """a + b; 64-bit integers hold it, since none of either passes 2^62."""
    if a.dtype == b.dtype == np.int64:
        added = a + b
        return added if _largest(added) < 1 << 62 else added.astype(object)
    return np.add(*_fit(_largest(a) + _largest(b), a, b))


def matmul(a: Whole, b: Whole) -> Whole:
    """The product of matrices of whole numbers, exactly; in floats where they hold every sum."""
    # Numbers that meet zeros alone must be held, too.
    bound = max(_largest(a), 1) * max(_largest(b), 1) * a.shape[-1]
    if 1 << 53 <= bound < 1 << WIDEST:
        pairs = ((a[..., k], b[..., k, :]) for k in range(a.shape[-1]))
        bound = sum(max(_largest(x), 1) * max(_largest(y), 1) for x, y in pairs)
    if bound < 1 << 53:
        kind = np.float32 if bound < 1 << 24 else np.float64
        rows = a if b.ndim > 2 else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        # BLAS may flag what stands beside the numbers in its registers; the bound holds all sums.
        with np.errstate(all="ignore"):
            product = rows.astype(kind) @ b.astype(kind)
        whole = product.astype(np.int64)
        return whole if b.ndim > 2 else whole.reshape(*a.shape[:-1], b.shape[-1])
    a, b = _fit(bound, a, b)
    return a @ b


def _lcm(a: Whole, b: Whole) -> Whole:
    return _times(a, b // np.gcd(a, b))


def _power(base: int, exponents: Whole) -> Whole:
    """base^exponents, for whole exponents that are not negative."""
    highest = max(_largest(exponents), 1) if base > 1 else 1
    if highest > WIDEST:
        raise _WordByWordError
    (exponents,) = _fit(base**highest, exponents)
    return np.power(np.full_like(exponents, base), exponents)


def small(a: Whole) -> Whole:
    """The array as 64-bit integers where its entries fit."""
    return a.astype(np.int64) if _largest(a) < 1 << 62 else a


def in_whole_numbers(rows: list[Vector] | Vector) -> tuple[Whole, Whole]:
    """Rows of rationals, or one, as whole numbers, and their denominator."""
    nested = isinstance(rows[0], list)
    flat = list(chain(*rows)) if nested else rows
    # A number that stands in many places is one object.
    entries = dict(zip(map(id, flat), flat, strict=True))
    bottom = math.lcm(*(entry.denominator for entry in entries.values()))
    whole = {at: e.numerator * (bottom // e.denominator) for at, e in entries.items()}
    fits = max(map(abs, whole.values()), default=0) < 1 << 62
    top = np.array(list(map(whole.__getitem__, map(id, flat))), dtype=np.int64 if fits else object)
    shape = (len(rows), len(rows[0])) if nested else (len(rows),)
    return top.reshape(shape), small(np.array([bottom], dtype=object))


@dataclass(frozen=True)
class _Matrix:
    """The whole numbers of a matrix over a denominator, transposed, for those inputs and outputs
    alone where some are not 0; all outputs are so many."""

    top: Whole
    inputs: Any
    outputs: Any
    width: int
    bottom: Whole

    @classmethod
    def of(cls, rows: list[Vector]) -> _Matrix:
        """The matrix of these rows."""
        top, bottom = in_whole_numbers(rows)
        some = [np.flatnonzero((top != 0).any(axis=axis)) for axis in (0, 1)]
        # Neighbours are taken without a copy.
        inputs, outputs = (
            slice(at[0], at[-1] + 1) if at.size and at[-1] - at[0] < at.size else at for at in some
        )
        return cls(top.T[inputs][:, outputs], inputs, outputs, len(top), bottom)


@lru_cache(8)
def _in_matrices(net: AttentionNet) -> Any:
    """The net with what `_made` makes; thoughts leave and get zeros where positions stand."""
    thoughts, zeros = net.thoughts, [0] * len(net.positions)
    if thoughts is not None:
        nothing = [[0] * len(thoughts.matrix[0])] * len(zeros)
        matrix, add = _made([*thoughts.matrix, *nothing]), _made([*thoughts.add, *zeros])
        thoughts = replace(thoughts, matrix=matrix, add=add)
    return replace(net.with_matrices(_made), thoughts=thoughts)


def _made(rows: list[Vector] | Vector) -> Any:
    """A matrix; or a vector, as `in_whole_numbers` has it."""
    return _Matrix.of(rows) if isinstance(rows[0], list) else in_whole_numbers(rows)


@dataclass(frozen=True)
class _Rationals:
    """`top` (words, tokens, width) over `bottom` (words,), which is positive. In either, what is
    the same for all words or tokens may stand once."""

    top: Whole
    bottom: Whole

    def through(self, matrix: _Matrix) -> _Rationals:
        """Every vector through a matrix."""
        part = matmul(self.top[..., matrix.inputs], matrix.top)
        if part.shape[-1] < matrix.width:
            top = np.zeros((*part.shape[:-1], matrix.width), dtype=part.dtype)
            top[..., matrix.outputs] = part
        else:
            top = part
        return _Rationals(top, _times(self.bottom, matrix.bottom))

    def plus_through(self, other: _Rationals, matrix: _Matrix) -> _Rationals:
        """The sum with what a matrix makes of others."""
        if self.top.dtype == object or not all(
            (bottom == 1).all() for bottom in (self.bottom, other.bottom, matrix.bottom)
        ):
            return self.plus(other.through(matrix))
        part = matmul(other.top[..., matrix.inputs], matrix.top)
        part = _sum(self.top[..., matrix.outputs], part)
        top = np.broadcast_to(self.top, (*part.shape[:-1], self.top.shape[-1])).astype(part.dtype)
        top[..., matrix.outputs] = part
        return _Rationals(top, self.bottom)

    def plus(self, other: _Rationals) -> _Rationals:
        """The sum, in lowest terms."""
        tops, bottom = self._with_common(other)
        top = _sum(*tops)
        if (bottom == 1).all():
            return _Rationals(top, bottom)
        common = np.gcd(np.gcd.reduce(top.reshape(len(top), -1), axis=1), bottom)
        return _Rationals(small(top // common[:, None, None]), small(bottom // common))

    def last(self, tokens: int = 1) -> _Rationals:
        """The vectors of the last tokens, so many of them; 0 for all."""
        return _Rationals(self.top[:, -tokens:], self.bottom)

    def chosen(self, words: npt.NDArray[np.intp]) -> _Rationals:
        """Those of words by their numbers."""
        bottom = self.bottom[words] if len(self.bottom) > 1 else self.bottom
        return _Rationals(self.top[words], bottom)

    def followed_by(self, other: _Rationals) -> _Rationals:
        """The tokens of both, one after the other."""
        tops, bottom = self._with_common(other)
        return _Rationals(np.concatenate(tops, axis=1), bottom)

    def _with_common(self, other: _Rationals) -> tuple[list[Whole], Whole]:
        """What both are over a common denominator, and it."""
        bottom = _lcm(self.bottom, other.bottom)
        both = (self, other)
        return [_times(each.top, (bottom // each.bottom)[:, None, None]) for each in both], bottom


# --- attention ------------------------------------------------------------------------------------


def _by_batches(
    net: AttentionNet,
    words: Iterable[Word],
    sizes: Sizes | None,
    by_products: Callable[[AttentionNet, _Rationals], Iterable[Any]],
    by_word: Callable[[Word], Any],
) -> Iterator[tuple[Word, Any]]:
    """Each word with what is said of it: by what all words of a batch are read off, or else one
    by one."""
    made = _in_matrices(net)
    more = len([*filter(None, [net.start, net.end])]) + (net.thoughts.steps if net.thoughts else 0)
    for length, neighbours in groupby(words, key=len):
        while batch := list(islice(neighbours, max(1, _SCORES // max(length + more, 1) ** 2))):
            try:
                every = by_products is _said_of_prefixes
                said = by_products(net, _products(made, batch, sizes, every))
            except _WordByWordError:
                said = map(by_word, batch)
                if sizes is not None:
                    sizes[length] = None
            yield from zip(batch, said, strict=True)


def _said(net: AttentionNet, products: _Rationals) -> list[Answer]:
    said = products.top[:, 0]
    if net.labels is None:
        return [bool(positive) for positive in said[:, 0] > 0]
    return [net.labels[k] for k in said.argmax(axis=1)]


def _said_of_prefixes(net: AttentionNet, products: _Rationals) -> Iterator[tuple[Answer, ...]]:
    """By words, at all tokens but the start."""
    tokens = range(net.start is not None, products.top.shape[1])
    said = [_said(net, _Rationals(products.top[:, [i]], products.bottom)) for i in tokens]
    return zip(*said, strict=True)


def _fractions(net: AttentionNet, products: _Rationals) -> list[Vector]:
    bottoms = np.broadcast_to(products.bottom, len(products.top)).tolist()
    return [
        [Fraction(top, bottom) for top in row]
        for row, bottom in zip(products.top[:, 0].tolist(), bottoms, strict=True)
    ]


def _products(net: Any, words: list[Word], sizes: Sizes | None, every: bool) -> _Rationals:
    """What the answers to words of one length are read off, at the token of the read-out or all."""
    if net.thoughts is not None:
        read = next(islice(_thoughts(net, words), net.thoughts.steps, None))
    else:
        for states in _states(net, words, not every and sizes is None and net.at == "last"):
            if sizes is not None:
                _note(sizes, len(words[0]), states)
        last = states.last() if net.at == "last" else _Rationals(states.top[:, [0]], states.bottom)
        read = states if every else last
    return read.through(net.read)


def _embedded(net: AttentionNet, words: Sequence[Word]) -> _Rationals:
    """The tokens of words of one length, with zeros for their positions."""
    letters = {letter: row for row, letter in enumerate(net.embedding)}
    start, end = ([letters[letter]] if letter else [] for letter in (net.start, net.end))
    tokens = np.array([[*start, *(letters[letter] for letter in word), *end] for word in words])
    if not tokens.size:
        raise _WordByWordError
    zeros = [0] * len(net.positions)
    top, bottom = in_whole_numbers([[*vector, *zeros] for vector in net.embedding.values()])
    return _Rationals(top[tokens], bottom)


def _thoughts(net: AttentionNet, words: Sequence[Word]) -> Iterator[_Rationals]:
    """The last token, with its positions, after each number of thoughts from 0 on."""
    assert net.thoughts is not None
    matrix: Any = net.thoughts.matrix
    add, below = net.thoughts.add
    masks = {head.mask for layer in net.layers for head in layer.heads}
    # Where later tokens change nothing, what is seen of earlier ones by each layer is kept.
    before: list[_Seen] = []
    keeps = "none" not in masks and not net.by_length
    first, vectors = 0, None
    if keeps and not net.end and len(words[0]) > 1:
        # What words begin with is run once.
        starts = {word[:-1]: None for word in words}
        number = {start: k for k, start in enumerate(starts)}
        if len(number) < len(words):
            states = _placed(net, _embedded(net, [*starts]))
            first = states.top.shape[1]
            chosen = np.array([number[word[:-1]] for word in words])
            for layer in net.layers:
                seen = _seen(layer, states)
                before.append([tuple(each.chosen(chosen) for each in pair) for pair in seen])
                if layer is not net.layers[-1] or _may_fail(layer):
                    states = _through(layer, states, seen)
            vectors = _embedded(net, [word[-1:] for word in words]).last()
    vectors = vectors or _embedded(net, words)
    while True:
        states = _placed(net, vectors, first)
        first += states.top.shape[1] if keeps else 0
        yield states.last()
        after = []
        for k, layer in enumerate(net.layers):
            after.append(_seen(layer, states, before[k] if before else None))
            alone = layer is net.layers[-1] and not _may_fail(layer)
            states = _through(layer, states.last() if alone else states, after[k])
        before = after if keeps else []
        last = states.last().through(matrix).plus(_Rationals(add[None, None], below))
        vectors = last if keeps else vectors.followed_by(last)


def _placed(net: AttentionNet, vectors: _Rationals, first: int = 0) -> _Rationals:
    """Vectors, which have zeros there, with what positions append from a place on."""
    n, width = vectors.top.shape[1:]
    before = width - len(net.positions)
    places = range(first, first + n)
    own, bottom = in_whole_numbers([[at(i, n) for at in net.positions] for i in places])
    top = np.zeros((n, width), dtype=own.dtype)
    top[:, before:] = own
    if any(c is not None for c in net.factors):
        factors = np.broadcast_to(vectors.bottom[:, None, None], vectors.top.shape).copy()
        for place, c in enumerate(net.factors, before):
            if c is not None:
                factors[:, :, place] = vectors.top[:, :, c]
        placed = _Rationals(_times(factors, top[None]), _times(vectors.bottom, bottom))
    else:
        placed = _Rationals(top[None], bottom)
    return vectors.plus(placed)


def _states(net: AttentionNet, words: Sequence[Word], last: bool) -> Iterator[_Rationals]:
    """The states of all tokens before the layers and after each; or in the end of the last one."""
    states = _placed(net, _embedded(net, words))
    yield states
    for layer in net.layers:
        alone = last and layer is net.layers[-1] and not _may_fail(layer)
        states = _through(layer, states.last() if alone else states, _seen(layer, states))
        yield states


def _note(sizes: Sizes, length: int, states: _Rationals) -> None:
    """Note how large the numbers of states of words of a length are, unless some were too long."""
    known = sizes.setdefault(length, (0, 0, 0))
    bottom = states.bottom[:, None, None]
    common = np.gcd(states.top, bottom)
    found = [0, 0, 0]
    for part, whole in enumerate((np.abs(states.top) // common, bottom // common)):
        power = np.where(whole == 0, 1, whole & -whole)
        found[part] = _largest(whole // power).bit_length()
        found[2] = max(found[2], _largest(power).bit_length() - 1)
    if known is not None:
        p, q, e = map(max, known, found)
        sizes[length] = p, q, e


# Keys and values of all tokens, by heads.
_Seen = list[tuple[_Rationals, ...]]


def _may_fail(layer: Layer) -> bool:
    """Whether tokens that are not read may make a batch fail."""
    return any(head.kind in ("softmax", "weights") for head in layer.heads)


def _seen(layer: Any, states: _Rationals, before: _Seen | None = None) -> _Seen:
    """What heads see of tokens, after what they have seen before."""
    seen: _Seen = [(states.through(head.key), states.through(head.value)) for head in layer.heads]
    if before is None:
        return seen
    return [
        (b.followed_by(x), c.followed_by(y)) for (b, c), (x, y) in zip(before, seen, strict=True)
    ]


def _through(layer: Any, own: _Rationals, seen: _Seen) -> _Rationals:
    """What a layer makes of the last tokens."""
    sums = own if layer.residual else _Rationals(0 * own.top, 0 * own.bottom + 1)
    for head, (keys, values) in zip(layer.heads, seen, strict=True):
        sums = sums.plus_through(_attended(head, own, keys, values), head.output)
    if layer.mlp is None:
        return sums
    first, (top, bottom), second = layer.mlp
    hidden = sums.through(first).plus(_Rationals(top[None, None], bottom))
    return sums.plus_through(_Rationals(np.maximum(hidden.top, 0), hidden.bottom), second)


def _attended(head: Any, own: _Rationals, keys: _Rationals, values: _Rationals) -> _Rationals:
    """What a head finds for the last tokens."""
    queries = own.through(head.query)
    scores = matmul(queries.top, keys.top.swapaxes(1, 2))
    n = scores.shape[2]
    seen = np.tri(n, k={"none": n, "causal": 0, "strict": -1}[head.mask], dtype=bool)[
        -own.top.shape[1] :
    ]
    weights, totals = _weights(head, scores, _times(queries.bottom, keys.bottom), seen)
    common = totals[:, 0]
    for i in range(1, totals.shape[1] if _largest(totals) > 1 else 0):
        common = _lcm(common, totals[:, i])
    top = _times(matmul(weights, values.top), (common[:, None] // totals)[..., None])
    return _Rationals(top, _times(common, values.bottom))


def _weights(head: Head, scores: Whole, bottom: Whole, seen: Whole) -> tuple[Whole, Whole]:
    """Whole weights (words, tokens, tokens) for scores over a denominator, and by what those of a
    token are divided (words, tokens or 1)."""
    if head.kind == "linear":
        by = seen.shape[1] if head.divide == "n" else head.divide
        if not by:
            raise _WordByWordError
        numerator, denominator = in_whole_numbers([1 / Fraction(by)])
        return _times(scores * seen, numerator), _times(bottom, denominator)[:, None]
    bound, n = _largest(scores), seen.shape[1]
    most = np.where(seen, scores, -bound).max(axis=2, keepdims=True)
    if head.kind == "softmax":
        bottom = bottom[:, None, None]
        if (scores % bottom * seen).any() or (abs(scores) * seen > LARGEST_SCORE * bottom).any():
            raise _WordByWordError
        least = np.where(seen, scores, bound).min(axis=2, keepdims=True)
        weights = _times(
            _power(head.base.numerator, np.where(seen, scores - least, 0) // bottom),
            _power(head.base.denominator, np.where(seen, most - scores, 0) // bottom),
        )
    elif head.kind == "weights":
        if ((scores <= 0) & seen).any():
            raise _WordByWordError
        weights = scores
    else:
        best = (scores == most) & seen
        if head.kind == "average":
            weights = best.astype(np.int64)
        else:
            right = head.kind == "hard-right"
            at = n - 1 - best[..., ::-1].argmax(axis=2) if right else best.argmax(axis=2)
            weights = np.zeros(best.shape, dtype=np.int64)
            np.put_along_axis(weights, at[..., None], 1, axis=2)
    weights = weights * seen
    totals = matmul(weights, np.ones((seen.shape[1], 1), dtype=np.int64))[..., 0]
    sees = seen.any(axis=1)
    if (totals[:, sees] == 0).any():
        raise _WordByWordError
    return weights, np.where(sees, totals, 1)
