"""Operations and memory of a pass: what 12 d^2 per token counts, what it leaves out, and what is
stored for the backward pass.

A small net is run whose matrix products are carried out number by number with a meter, and the
arrays that a layer stores are allocated. Softmax, norms, activation functions and residual sums are
not metered: the counts are those of matrix products.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sympy import Eq as Equality
from sympy import Symbol, expand, summation
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, heads, quantity, tokens, width

multiply_adds = quantity(
    "multiply_adds", r"\#_{mac}", "multiplications, each followed by an addition, of one pass"
)
operations = quantity(
    "operations",
    r"\#_{op}",
    "floating-point operations; a multiplication and an addition are two",
    "nonnegative integer",
)
ratio = quantity(
    "attention_ratio",
    r"\rho_{att}",
    "operations of attention scores and averages over those with weights",
    "positive real",
)
batch = quantity("batch", "b", "number of sequences")
memory = quantity(
    "activation_bytes", r"M_{act}", "bytes kept from the forward for the backward pass"
)
stored_values = quantity(
    "stored_values", r"\#_{val}", "numbers kept for the backward pass, and their gradients"
)

L, d, N = depth, width, tokens
Matrix = list[list[int]]


class Meter:
    """Multiplies integer matrices, counts every multiplication and addition, and remembers the
    factors for a backward pass."""

    def __init__(self) -> None:
        self.multiplications = self.additions = self.by_weights = 0
        self.factors: list[tuple[Matrix, Matrix]] = []

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return self.multiplications + self.additions

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
            self.additions += inner
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
    """A pass of N tokens through L layers of width d with H heads, with every product metered.

    Raises:
        ValueError: when the heads do not divide the width.
    """
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


def _products_sum(factor: int, statement: Relational, mask: bool = False) -> Iterator[Step]:
    """The list of products with symbolic sizes sums up; `factor` operations per multiplication."""
    i, total = Symbol("i", integer=True, positive=True), 0
    for count, rows, inner, columns in _PRODUCTS:
        masked = mask and N in (columns, inner)
        total += L * count * inner * columns * (summation(i, (i, 1, N)) / N if masked else rows)
    yield Step("the statement is an identity", isinstance(statement, Equality))
    yield Step(
        "the products with symbolic sizes sum to the right side",
        expand(factor * total - statement.rhs) == 0,
    )


_PASSES = Case.grid(depth=(1, 2), width=(2, 4), heads=(1, 2), tokens=(1, 3, 5))
_PASS = Case(depth=1, width=4, heads=2, tokens=5)
_kaplan = partial(Source, "kaplan2020", version="arXiv:2001.08361")


@claim(
    Eq(multiply_adds, 12 * L * N * d**2 + 2 * L * N**2 * d),
    cases={"quick": _PASSES},
    proof=partial(_products_sum, 1),
    rests_on="machine: the listed products of a layer sum to the formula at all sizes; "
    "prose: that a layer has these products and no others",
    source=_kaplan("section 2.1; with attention, counted here"),
    control=Control(_PASS, "scores and averages forgotten", Eq(multiply_adds, 12 * L * N * d**2)),
    supports="counting/training_six",
)
def forward_products(case: Case) -> Exact:
    """Multiply-adds of a forward pass.

    The matrix products of a forward pass of N tokens through L layers of width d, feed-forward
    width 4 d and any number of heads take 12 L N d^2 multiply-adds with weights and 2 L N^2 d for
    scores and averages, each two operations.
    """
    return Exact(forward(case).multiplications)


@claim(
    Eq(ratio, N / (6 * d)),
    cases={"quick": _PASSES[::2]},
    source=_kaplan("section 2.1; with attention, counted here"),
    control=Control(_PASS, "scores without averages", Eq(ratio, N / (12 * d))),
    supports="counting/training_six",
)
def attention_ratio(case: Case) -> Exact:
    """Share of the operations that 12 d^2 leaves out.

    In a forward pass without mask the products of attention scores and averages cost N / (6 d)
    times those with weights: 22 % for GPT-2 small with 1024 tokens, and more than all weights
    beyond N = 6 d.
    """
    meter = forward(case)
    return Exact(Fraction(meter.multiplications - meter.by_weights, meter.by_weights))


@attention_ratio.argument(
    "machine: the ratio of the two groups of listed products is N / (6 d); "
    "prose: that a layer has these products and no others"
)
def _(statement: Relational) -> Iterator[Step]:
    scores = sum(c * r * i * k for c, r, i, k in _PRODUCTS if N in (i, k))
    weights = sum(c * r * i * k for c, r, i, k in _PRODUCTS if N not in (i, k))
    yield Step("the statement is an identity", isinstance(statement, Equality))
    yield Step(
        "scores and averages over weights is the right side",
        expand(scores / weights - statement.rhs) == 0,
    )


@claim(
    Eq(operations, 72 * L * N * d**2 + 12 * L * N**2 * d),
    cases={"quick": _PASSES[::3]},
    proof=partial(_products_sum, 6),
    rests_on="machine: six times the listed products is the formula; prose: they are a layer's, "
    "and the backward pass takes two for each",
    source=_kaplan("section 2.1: about 6 N per token; counted here"),
    control=Control(
        _PASS,
        "a backward pass as dear as the forward pass",
        Eq(operations, 48 * L * N * d**2 + 8 * L * N**2 * d),
    ),
    cited=(
        "Decides from which context length 6 operations per weight and token need a term for "
        "attention."
    ),
)
def training_six(case: Case) -> Exact:
    """Six operations per weight and token in training.

    Forward and backward pass of N tokens take 6 operations per weight and token, 72 L N d^2, and
    12 L N^2 d for attention scores and averages, when the gradient with respect to the embedded
    input is computed too.

    Printed there is about 6 N; N excludes embeddings. The term with N^2 tokens is ours.
    """
    return Exact(training(case).operations)


@claim(
    Eq(operations, 24 * L * N * d**2 + 2 * L * N * (N + 1) * d),
    cases={"quick": _PASSES[::3]},
    proof=partial(_products_sum, 2, mask=True),
    rests_on="machine: the listed products, row i of scores with i entries, sum to the formula; "
    "prose: that they are a layer's",
    source=_kaplan("eq. (2.2): 2 N + 2 n_layer n_ctx d_attn per token, recalled"),
    control=Control(_PASS, "no mask", Eq(operations, 24 * L * N * d**2 + 4 * L * N**2 * d)),
    supports="counting/training_six",
)
def causal_forward(case: Case) -> Exact:
    """Operations of a forward pass under a causal mask.

    When position i attends to the i positions up to itself only, a forward pass of N tokens takes
    24 L N d^2 operations with weights and 2 L N (N + 1) d with scores and averages: about Kaplan's
    2 L N d per token for attention.

    Kaplan's formula is as recalled; check against the paper. Its n_ctx stands for n_ctx + 1 here; a
    net that computes the full square and masks it afterwards does twice as much.
    """
    return Exact(forward(case, causal=True).operations)


@claim(
    Eq(operations, 12 * L * d**2 * N),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    source=Source("deepnetworks63", "Section 6.3, Scaling Considerations, Compute"),
    cases={
        "quick": [
            Case(what=what, depth=layers, width=size, tokens=count)
            for what in ("multiplications by weights", "operations")
            for layers, size, count in ((1, 2, 3), (2, 4, 2), (3, 2, 5))
        ]
    },
    control=Control(
        Case(what="multiplications by weights", depth=1, width=2, tokens=3),
        "two operations per weight",
        Eq(operations, 24 * L * d**2 * N),
    ),
    cited=(
        "Decides whether deepnetworks63's 12 N d^2 operations per layer may be used to "
        "compare costs."
    ),
)
def textbook_flops(case: Case) -> Exact:
    """The textbook's operations per layer.

    A forward pass takes 12 d_model^2 seq_len floating-point operations per layer.

    Checked sentence: "FLOPs per layer ≈ 12 × d_model² × seq_len  (approximate)", an approximation
    read here as an equality. It counts multiplications by weights, for which it is exact;
    operations are twice as many, and scores and averages add N / (6 d) of that.
    """
    meter = forward(case)
    return Exact(meter.by_weights if case.what != "operations" else meter.operations)


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


_BATCHES = Case.grid(batch=(1, 2), tokens=(1, 3), width=(4, 8), heads=(1, 2), depth=(1, 3))


@claim(
    Eq(memory, L * N * batch * d * (34 + 5 * heads * N / d)),
    wording="recalled",
    source=Source("korthikanti2022", "section 4", "arXiv:2205.05198"),
    weight="arithmetic",
    cases={"quick": _BATCHES},
    control=Control(
        _BATCHES[-1],
        "dropout masks of two bytes",
        Eq(memory, L * N * batch * d * (36 + 6 * heads * N / d)),
    ),
    supports="counting/textbook_memory",
)
def activation_bytes(case: Case) -> Exact:
    """Activation bytes of a layer.

    A layer of a GPT-like net with dropout, feed-forward width 4 d, attention width d and scores
    stored keeps N b d (34 + 5 H N / d) bytes for the backward pass in 16-bit arithmetic, masks
    taking one byte per entry; L layers keep L times as much.

    as recalled; check against the paper. Measured on the list of arrays of such a layer, derived
    here: the list restates the count. Kernels that recompute scores keep less.
    """
    return Exact(
        sum(
            a.nbytes
            for _ in range(case.depth)
            for a in layer_arrays(case.batch, case.tokens, case.width, case.heads)
        )
    )


_STORED = [
    Case(kept=kept, **case.fields()) for kept in ("layer inputs", "all") for case in _BATCHES[::5]
]


@claim(
    Eq(stored_values, 2 * batch * N * d * L),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    cases={"quick": _STORED},
    source=Source("deepnetworks63", "Section 6.3, Scaling Considerations, Memory"),
    control=Control(_STORED[0], "four numbers", Eq(stored_values, 4 * batch * N * d * L)),
    cited="Decides whether deepnetworks63's formula for activations may be used to size a GPU.",
)
def textbook_memory(case: Case) -> Exact:
    """The textbook's activation memory.

    Training keeps 2 batch_size seq_len d_model n_layers numbers: activations and their gradients.

    Checked sentence: "Memory ≈ batch_size × seq_len × d_model × n_layers × 2", with "(activations +
    gradients)" under the 2, an approximation read here as an equality. It is exact when each layer
    keeps its input only and recomputes the rest; without recomputation a layer keeps
    16 + 2 H N / d numbers per token and coordinate in place of 1.
    """
    arrays = layer_arrays(case.batch, case.tokens, case.width, case.heads)
    # The first of them is the layer's input.
    used = arrays if case.kept == "all" else arrays[:1]
    return Exact(2 * case.depth * sum(a.size for a in used if a.dtype == np.float16))
