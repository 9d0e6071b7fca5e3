"""Operations and memory of a pass: what 12 d^2 per token counts, what it leaves out, and what is
stored for the backward pass.

A small net is run whose matrix products are carried out number by number with a meter, and the
arrays that a layer stores are allocated. Only matrix products are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Eq as Equality, Expr, Symbol, expand, summation
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, heads, quantity, tokens, width

operations = quantity(
    "operations",
    r"\#_{op}",
    "floating-point operations; a multiplication and an addition are two",
    "nonnegative integer",
)
per_product = quantity(
    "per_product",
    "c",
    "operations for each multiplication of the forward pass: 2 in it, 6 with the backward pass",
)
seen = quantity("seen", "n", "positions that a token attends to, on average", "positive real")

L, d, N = depth, width, tokens
Matrix = list[list[int]]


class Meter:
    """Multiplies integer matrices, counts every multiplication and addition, and remembers the
    factors for a backward pass."""

    def __init__(self) -> None:
        self.operations = self.multiplications = self.by_weights = 0
        self.factors: list[tuple[Matrix, Matrix]] = []

    def times(
        self,
        a: Matrix,
        b: Matrix,
        *,
        weight: bool = False,
        entries: Iterable[tuple[int, int]] | None = None,
    ) -> Matrix:
        """The product a b; `entries` limits it to some (a causal mask), the others are zero."""
        inner = len(b)
        product = [[0] * len(b[0]) for _ in a]
        for i, j in np.ndindex(len(a), len(b[0])) if entries is None else entries:
            total = 0
            for k in range(inner):
                total += a[i][k] * b[k][j]
            product[i][j] = total % 97  # keeps numbers small; not metered
            self.multiplications += inner
            self.operations += 2 * inner
            self.by_weights += inner * weight
        self.factors.append((a, b))
        return product

    def mixed(self, scores: Matrix, values: Matrix, causal: bool) -> Matrix:
        """Scores times values; under a causal mask row i has i + 1 scores, and no others count."""
        if not causal:
            return self.times(scores, values)
        return [self.times([row[: i + 1]], values[: i + 1])[0] for i, row in enumerate(scores)]


def _transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def forward(case: Case, causal: bool = False) -> Meter:
    """A pass of N tokens through L layers of width d with H heads, which divide it, with every
    product metered."""
    rng, meter = case.rng(0), Meter()
    d, heads, n = case.width, case.get("heads", 1), case.tokens
    if d % heads:
        raise ValueError(f"{heads} heads do not divide the width {d}; give a divisor")

    def random(rows: int, columns: int) -> Matrix:
        return [[int(v) for v in row] for row in rng.integers(0, 97, (rows, columns))]

    x, size = random(n, d), d // heads
    lower = [(i, j) for i in range(n) for j in range(i + 1)] if causal else None
    for _ in range(case.depth):
        q, k, v = (meter.times(x, random(d, d), weight=True) for _ in range(3))
        parts = []
        for h in range(0, d, size):
            qh, kh, vh = ([row[h : h + size] for row in m] for m in (q, k, v))
            parts.append(meter.mixed(meter.times(qh, _transposed(kh), entries=lower), vh, causal))
        attended = [[v for p in parts for v in p[i]] for i in range(n)]
        attended = meter.times(attended, random(d, d), weight=True)
        x = [
            [(a + b) % 97 for a, b in zip(r, s, strict=True)]
            for r, s in zip(x, attended, strict=True)
        ]
        x = meter.times(x, random(d, 4 * d), weight=True)
        x = meter.times(x, random(4 * d, d), weight=True)
    return meter


def training(case: Case) -> Meter:
    """Forward and backward: C = A B is followed by the products dA = dC B^T and dB = A^T dC."""
    meter = forward(case)
    for a, b in reversed(meter.factors[:]):
        gradient = [[1] * len(b[0]) for _ in a]
        meter.times(gradient, _transposed(b))
        meter.times(_transposed(a), gradient)
    return meter


# The matrix products of one layer: how many, rows, inner size, columns.
_PRODUCTS = [
    (4, N, d, d),
    (heads, N, d / heads, N),
    (heads, N, N, d / heads),
    (1, N, d, 4 * d),
    (1, N, 4 * d, d),
]


def _products_sum(factor: int, right: Expr, mask: bool) -> Step:
    """The list of products with symbolic sizes sums up; `factor` operations per multiplication."""
    i, total = Symbol("i", integer=True, positive=True), 0
    for count, rows, inner, columns in _PRODUCTS:
        masked = mask and N in (columns, inner)
        total += L * count * inner * columns * (summation(i, (i, 1, N)) / N if masked else rows)
    return Step(
        f"{factor} times the products{' under a causal mask' if mask else ''} are the right side",
        expand(factor * total - right) == 0,
    )


_PASSES = Case.grid(depth=(1, 2), width=(2, 4), heads=(1, 2), tokens=(1, 3, 5))


def _as(run: str, mask: str, passes: Iterable[Case]) -> tuple[Case, ...]:
    return tuple(
        Case(
            run=run,
            mask=mask,
            per_product=6 if run == "training" else 2,
            seen=str(Fraction(case.tokens + 1, 2)) if mask == "causal" else case.tokens,
            **case.fields(),
        )
        for case in passes
    )


@claim(
    Eq(operations, per_product * L * N * d * (12 * d + 2 * seen)),
    cases={
        "quick": (
            *_as("forward", "none", _PASSES),
            *_as("forward", "causal", _PASSES),
            *_as("training", "none", _PASSES),
        )
    },
    source=Source(
        "kaplan2020",
        "section 2.1: about $6 N$ per token; eq. (2.2), recalled; with attention, counted here",
        "arXiv:2001.08361",
    ),
    assumes={"no mask in training": lambda c: c.run == "forward" or c.mask == "none"},
    control=Control(
        _as("forward", "causal", [Case(depth=1, width=4, heads=2, tokens=5)])[0],
        "a full square of scores, where a causal mask leaves half",
        Eq(operations, per_product * L * N * d * (12 * d + 2 * N)),
    ),
    cited=(
        "Decides from which context length 6 operations per weight and token need a term for "
        "attention."
    ),
)
def pass_operations(case: Case) -> Exact:
    r"""The matrix products of a pass take $c L N d (12 d + 2 n)$ operations.

    The matrix products of $N$ tokens in $L$ layers of width $d$, feed-forward width $4 d$ and any
    number of heads take $c L N d (12 d + 2 n)$ operations: $12 d$ with weights and $2 n$ with
    scores and averages. A forward pass has $c = 2$; without a mask a token attends to $n = N$
    positions, under a causal mask to $n = (N + 1)/2$ on average. Forward and backward pass together
    have $c = 6$, without a mask, when the gradient with respect to the embedded input is computed
    too.

    So training takes 6 operations per weight and token, $72 L N d^2$, and $12 L N^2 d$ for
    attention. Without a mask attention costs $N/(6 d)$ times the products with weights: 22 % for
    GPT-2 small with 1024 tokens, and more than all weights beyond $N = 6 d$. Printed there is about
    $6 N$ for training; $N$ excludes embeddings, and the term with $N^2$ tokens is ours. Kaplan's
    $2 L N d$ per token for attention is as recalled; check against the paper. Its
    $n_{\mathrm{ctx}}$ stands for $n_{\mathrm{ctx}} + 1$ here; a net that computes the full square
    and masks it afterwards does twice as much.
    """
    meter = training(case) if case.run == "training" else forward(case, case.mask == "causal")
    return Exact(meter.operations)


@pass_operations.argument(
    "machine: the listed products of a layer, masked or not, sum to the formula at all sizes; "
    "prose: these are a layer's, and backward takes two for each"
)
def _(statement: Relational) -> Iterator[Step]:
    for factor, positions in ((2, N), (2, (N + 1) / 2), (6, N)):
        right = statement.rhs.subs({per_product: factor, seen: positions})
        yield _products_sum(factor, right, mask=positions != N)
    yield Step("the statement is an identity", isinstance(statement, Equality))
    scores = sum(c * r * i * k for c, r, i, k in _PRODUCTS if N in (i, k))
    by_weights = sum(c * r * i * k for c, r, i, k in _PRODUCTS if N not in (i, k))
    yield Step("scores and averages over weights is N / (6 d)", scores / by_weights == N / (6 * d))


def layer_arrays(batch: int, tokens: int, width: int, heads: int) -> list[np.ndarray[Any, Any]]:
    """The arrays that one layer stores for the backward pass, 16-bit numbers and one byte per entry
    of a dropout mask.

    >>> sum(a.nbytes for a in layer_arrays(1, 2, 8, 2))
    584
    """
    rows, square = (batch, tokens, width), (batch, heads, tokens, tokens)
    # Inputs of norm 1, the query-key-value product, query, key, value, the projection, norm 2 and
    # the feed-forward net; softmax and attention after dropout; inputs and outputs of activation.
    numbers = [rows] * 8 + [square] * 2 + [(batch, tokens, 4 * width)] * 2
    # Of attention, projection and feed-forward net.
    masks = [square, rows, rows]
    return [np.empty(shape, np.float16) for shape in numbers] + [
        np.empty(shape, np.bool_) for shape in masks
    ]
