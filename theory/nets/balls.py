"""Nets of `json_format` whose numbers are no rationals, run in balls that contain them.

Such a net has softmax heads alone. A base of softmax is e or rational, a position may have
logarithms, and scores are any real numbers. An answer is given where balls decide it; precision
grows until they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import flint
from flint import arb, arb_mat

from depthlaw.advisor.base.quantities import UsageError, quoted

from ..atlas.tasks import Word
from ..exact.enclosure import enclose, from_fraction
from .attention import AttentionNet

# Bits with which a word is run before the next are tried.
PRECISIONS = (64, 128, 512, 2048)

Matrix = Any  # of flint, which has no types


def answers(net: AttentionNet, words: Iterable[Word]) -> Iterator[tuple[Word, str | bool]]:
    """Each word with what the net says of it.

    Cost: for each head of each layer n^2 exponentials, for each precision that is tried.

    Raises:
        UsageError: for a word whose answer no precision decides.
    """
    ball_net = cache(partial(_BallNet, net))
    for word in words:
        found = (ball_net(bits).answer(word) for bits in PRECISIONS)
        said = next((answer for answer in found if answer is not None), None)
        if said is None:
            raise UsageError(
                f"balls of {PRECISIONS[-1]:,} bits do not decide the answer to the word "
                f"{quoted(' '.join(word))}, which may be a tie; move the read-out off it"
            )
        yield word, said


def read_out(net: AttentionNet, word: Word, bits: int = PRECISIONS[0]) -> list[arb]:
    """Balls around the products that the answer is read off."""
    return _BallNet(net, bits).read_out(word)


def _in_balls(rows: Any) -> Any:
    """A matrix that acts from the right; a vector as it is."""
    if isinstance(rows[0], list):
        return arb_mat([list(map(from_fraction, row)) for row in rows]).transpose()
    return list(map(from_fraction, rows))


class _BallNet:
    """A net at one precision."""

    def __init__(self, net: AttentionNet, bits: int) -> None:
        self._bits = bits
        with flint.ctx.workprec(bits):
            # Its layers and heads hold balls.
            self._net: Any = net.with_matrices(_in_balls)
        self._letter = cache(lambda token: list(map(from_fraction, net.embedding[token])))
        self._place = cache(self._features)

    def answer(self, word: Word) -> str | bool | None:
        """None where this precision decides nothing."""
        read, labels = self.read_out(word), self._net.labels
        with flint.ctx.workprec(self._bits):
            if labels is None:
                # A ball may be the number 0 itself, which is not positive.
                return True if read[0] > 0 else False if read[0] <= 0 else None
            for label, mine in zip(labels, read, strict=True):
                if all(mine is other or mine > other for other in read):
                    return label
        return None

    def read_out(self, word: Word) -> list[arb]:
        net = self._net
        tokens = [*filter(None, [net.start]), *word, *filter(None, [net.end])]
        with flint.ctx.workprec(self._bits):
            states = arb_mat(
                [
                    [*letter, *self._placed(letter, i, len(tokens))]
                    for i, letter in enumerate(map(self._letter, tokens))
                ]
            )
            row = len(tokens) - 1 if net.at == "last" else 0
            for layer in net.layers[:-1]:
                states = self._through(layer, states, range(len(tokens)))
            # After the last layer one token alone is read.
            for layer in net.layers[-1:]:
                states, row = self._through(layer, states, [row]), 0
            read = states * net.read
            return [read[row, k] for k in range(read.ncols())]

    def _placed(self, letter: list[arb], i: int, n: int) -> list[arb]:
        places = zip(self._place(i, n), self._net.factors, strict=True)
        return [at if c is None else at * letter[c] for at, c in places]

    def _features(self, i: int, n: int) -> list[arb]:
        return [
            from_fraction(value)
            if isinstance(value, Fraction)
            else enclose(value, precision=self._bits)
            for value in (position(i, n) for position in self._net.positions)
        ]

    def _through(self, layer: Any, states: Matrix, tokens: Sequence[int]) -> Matrix:
        """The states of some tokens after a layer."""
        table = states.tolist()
        asking = arb_mat([table[i] for i in tokens])
        sums = asking if layer.residual else 0 * asking
        for head in layer.heads:
            weights = self._weights(head, states, asking, tokens)
            sums = sums + weights * (states * head.value) * head.output
        if layer.mlp is None:
            return sums
        first, bias, second = layer.mlp
        hidden, zero = (sums * first).tolist(), arb(0)
        hidden = [[(h + b).max(zero) for h, b in zip(row, bias, strict=True)] for row in hidden]
        return sums + arb_mat(hidden) * second

    def _weights(self, head: Any, states: Matrix, asking: Matrix, tokens: Sequence[int]) -> Matrix:
        scores = (asking * head.query) * (states * head.key).transpose()
        if head.base != "e":
            scores = scores * from_fraction(head.base).log()
        rows = []
        for i, row in zip(tokens, scores.tolist(), strict=True):
            last = {"none": len(row), "causal": i + 1, "strict": i}[head.mask]
            # A common factor cancels: the largest weight is about 1.
            top = max((score.mid() for score in row[:last]), default=arb(0))
            powers = [(score - top).exp() for score in row[:last]]
            total = sum(powers, arb(0))
            rows.append([*(power / total for power in powers), *[arb(0)] * (len(row) - last)])
        return arb_mat(rows)
