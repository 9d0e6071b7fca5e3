"""Operations and memory of a pass: what 12 d^2 per token counts, what it leaves out, and what is kept for the backward pass.

The measured side runs a small net whose matrix products are carried out number by number with a meter (`Meter`), and allocates the arrays
that a layer keeps. Softmax, norms, activation functions and residual sums are not metered: the counts are those of matrix products.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..claim import Case, Claim, Control, Exact, Source, Step

if TYPE_CHECKING:
    import sympy

Matrix = list[list[int]]


class Meter:
    """Multiplies integer matrices, counts every multiplication and addition, and remembers the factors for a backward pass."""

    def __init__(self) -> None:
        self.multiplications = self.additions = self.by_weights = 0
        self.factors: list[tuple[Matrix, Matrix]] = []

    def times(self, a: Matrix, b: Matrix, *, weight: bool = False, entries: Iterable[tuple[int, int]] | None = None) -> Matrix:
        """The product a b; `entries` limits it to some entries (a causal mask), the others are zero."""
        inner, columns = len(b), len(b[0])
        product = [[0] * columns for _ in a]
        for i, j in entries if entries is not None else ((i, j) for i in range(len(a)) for j in range(columns)):
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
        """Scores times values; under a causal mask row i has i + 1 scores, and only these are multiplied."""
        if not causal:
            return self.times(scores, values)
        return [self.times([row[:i + 1]], values[:i + 1])[0] for i, row in enumerate(scores)]


def _transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def forward(case: Case, causal: bool = False) -> Meter:
    """One pass of N tokens through L layers of width d with H heads and feed-forward width 4 d, with every product metered."""
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
            qh, kh, vh = ([row[h:h + size] for row in m] for m in (q, k, v))
            parts.append(meter.mixed(meter.times(qh, _transposed(kh), entries=lower), vh, causal))
        attended = meter.times([[v for p in parts for v in p[i]] for i in range(n)], random(d, d), weight=True)
        x = [[(a + b) % 97 for a, b in zip(r, s, strict=True)] for r, s in zip(x, attended, strict=True)]
        x = meter.times(meter.times(x, random(d, 4 * d), weight=True), random(4 * d, d), weight=True)
    return meter


def training(case: Case) -> Meter:
    """Forward and backward: every product C = A B is followed by the two products dA = dC B^T and dB = A^T dC."""
    meter = forward(case)
    for a, b in reversed(meter.factors[:]):
        gradient = [[1] * len(b[0]) for _ in a]
        meter.times(gradient, _transposed(b))
        meter.times(_transposed(a), gradient)
    return meter


def products(n: Any, d: Any, heads: Any) -> list[tuple[Any, Any, Any, Any]]:
    """The matrix products of one layer as (how many, rows, inner, columns); sizes may be symbols."""
    size = d / heads
    return [(4, n, d, d), (heads, n, size, n), (heads, n, n, size), (1, n, d, 4 * d), (1, n, 4 * d, d)]


def kept(batch: int, tokens: int, width: int, heads: int) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays one layer keeps for the backward pass, 16-bit numbers and one byte per entry of a dropout mask.

    >>> sum(a.nbytes for a in kept(1, 2, 8, 2).values())
    584
    """
    rows, square = (batch, tokens, width), (batch, heads, tokens, tokens)
    numbers = {"norm 1 input": rows, "query-key-value input": rows, "query": rows, "key": rows, "value": rows, "softmax output": square,
               "attention after dropout": square, "projection input": rows, "norm 2 input": rows, "feed-forward input": rows,
               "activation input": (batch, tokens, 4 * width), "activation output": (batch, tokens, 4 * width)}
    masks = {"attention mask": square, "projection mask": rows, "feed-forward mask": rows}
    return {name: np.empty(shape, np.float16) for name, shape in numbers.items()} | \
        {name: np.empty(shape, np.bool_) for name, shape in masks.items()}


def _stored(case: Case) -> Exact:
    """Numbers kept and as many gradients: of everything a layer keeps, or of its input only (the rest being recomputed)."""
    arrays = kept(case.batch, case.tokens, case.width, case.heads) if case.kept == "all" else \
        {"input": np.empty((case.batch, case.tokens, case.width), np.float16)}
    return Exact(2 * case.depth * sum(a.size for a in arrays.values() if a.dtype == np.float16))


# --- claims -------------------------------------------------------------------------------------------------------------------

_PASSES = Case.grid(depth=(1, 2), width=(2, 4), heads=(1, 2), tokens=(1, 3, 5))


def claims() -> Iterator[Claim]:
    """The claims of this module; `counting` yields them."""
    yield from _forward_claims()
    yield _training_claim()
    yield _causal_claim()
    yield _textbook_flops_claim()
    yield from _memory_claims()


def _symbols() -> tuple[sympy.Symbol, ...]:
    from ..glossary import symbol

    return symbol("depth"), symbol("width"), symbol("tokens")


def _products_proof(factor: int, mask: bool = False) -> Any:
    """Sum over the list of products with symbolic sizes; `factor` operations per entry of the product cuboid."""
    def proof(statement: Any) -> Iterable[Step]:
        from sympy import Eq, Symbol, expand, summation

        from ..glossary import symbol

        L, d, n = _symbols()
        heads, i = symbol("heads"), Symbol("i", integer=True, positive=True)
        total = 0
        for count, rows, inner, columns in products(n, d, heads):
            scores = mask and (columns == n or inner == n)
            total += L * count * (summation(i, (i, 1, n)) * inner * columns / n if scores else rows * inner * columns)
        yield Step("the statement is an identity", isinstance(statement, Eq))
        yield Step("the products with symbolic sizes sum to the right side", expand(factor * total - statement.rhs) == 0)
    return proof


def _forward_claims() -> Iterator[Claim]:
    from fractions import Fraction

    from sympy import Eq, expand

    from ..glossary import symbol

    L, d, N = _symbols()
    macs, ratio = symbol("multiply_adds"), symbol("attention_ratio")
    source = Source("kaplan2020", "section 2.1; with attention, counted here", "arXiv:2001.08361")
    yield Claim(
        key="counting/forward_products", title="multiply-adds of a forward pass",
        text="The matrix products of a forward pass of N tokens through L layers of width d, feed-forward width 4 d and any number of "
              "heads take 12 L N d^2 multiply-adds with weights and 2 L N^2 d for scores and averages, each two operations.",
        statement=Eq(macs, 12 * L * N * d**2 + 2 * L * N**2 * d),
        source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(forward(case).multiplications), grid={"quick": _PASSES},
        control=Control(Case(depth=1, width=4, heads=2, tokens=5), "scores and averages forgotten", statement=Eq(macs, 12 * L * N * d**2)),
        proof=_products_proof(1),
        rests_on="machine: the listed products of a layer sum to the formula at all sizes; prose: that a layer has these products and no others")

    def ratio_proof(statement: Any) -> Iterable[Step]:
        square = [c * r * i * k for c, r, i, k in products(N, d, symbol("heads")) if N in (i, k)]
        weights = [c * r * i * k for c, r, i, k in products(N, d, symbol("heads")) if N not in (i, k)]
        yield Step("the statement is an identity", isinstance(statement, Eq))
        yield Step("scores and averages over weights is the right side", expand(sum(square) / sum(weights) - statement.rhs) == 0)

    def measured(case: Case, seed: int) -> Exact:
        meter = forward(case)
        return Exact(Fraction(meter.multiplications - meter.by_weights, meter.by_weights))

    yield Claim(
        key="counting/attention_ratio", title="share of the operations that 12 d^2 leaves out",
        text="In a forward pass without mask the products of attention scores and averages cost N / (6 d) times those with weights: "
              "22 % for GPT-2 small with 1024 tokens, and more than all weights beyond N = 6 d.",
        statement=Eq(ratio, N / (6 * d)), source=source, wording="derived", kind="identity", holds_for="all",
        measured=measured, grid={"quick": _PASSES[::2]},
        control=Control(Case(depth=1, width=4, heads=2, tokens=5), "scores without averages", statement=Eq(ratio, N / (12 * d))),
        proof=ratio_proof,
        rests_on="machine: the ratio of the two groups of listed products is N / (6 d); prose: that a layer has these products and no others")


def _training_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    L, d, N = _symbols()
    operations = symbol("operations")
    return Claim(
        key="counting/training_six", title="six operations per weight and token in training",
        text="Forward and backward pass of N tokens take 6 operations per weight and token, 72 L N d^2, and 12 L N^2 d for attention "
              "scores and averages, when the gradient with respect to the embedded input is computed too.",
        statement=Eq(operations, 72 * L * N * d**2 + 12 * L * N**2 * d),
        source=Source("kaplan2020", "section 2.1: about 6 N per token; counted here", "arXiv:2001.08361"), wording="derived", kind="identity",
        holds_for="all", measured=lambda case, seed: Exact(sum((m.multiplications + m.additions) for m in [training(case)])),
        grid={"quick": _PASSES[::3]},
        control=Control(Case(depth=1, width=4, heads=2, tokens=5), "a backward pass as dear as the forward pass",
                       statement=Eq(operations, 48 * L * N * d**2 + 8 * L * N**2 * d)),
        proof=_products_proof(6),
        rests_on="machine: six times the listed products is the formula; prose: they are a layer's, and the backward pass takes two for each",
        note="Printed there is about 6 N; N excludes embeddings. The term with N^2 tokens is ours.")


def _causal_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    L, d, N = _symbols()
    operations = symbol("operations")
    return Claim(
        key="counting/causal_forward", title="operations of a forward pass under a causal mask",
        text="When position i attends to the i positions up to itself only, a forward pass of N tokens takes 24 L N d^2 operations with "
              "weights and 2 L N (N + 1) d with scores and averages: about Kaplan's 2 L N d per token for attention.",
        statement=Eq(operations, 24 * L * N * d**2 + 2 * L * N * (N + 1) * d),
        source=Source("kaplan2020", "eq. (2.2): 2 N + 2 n_layer n_ctx d_attn per token, recalled", "arXiv:2001.08361"), wording="derived",
        kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(sum(m.multiplications + m.additions for m in [forward(case, causal=True)])),
        grid={"quick": _PASSES[::3]},
        control=Control(Case(depth=1, width=4, heads=2, tokens=5), "no mask",
                       statement=Eq(operations, 24 * L * N * d**2 + 4 * L * N**2 * d)),
        proof=_products_proof(2, mask=True),
        rests_on="machine: the listed products, row i of scores with i entries, sum to the formula; prose: that they are a layer's",
        note="Kaplan's formula is as recalled; check against the paper. Its n_ctx stands for n_ctx + 1 here; a net that computes the full square and "
             "masks it afterwards does twice as much.")


def _textbook_flops_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    L, d, N = _symbols()
    operations = symbol("operations")

    def measured(case: Case, seed: int) -> Exact:
        meter = forward(case)
        return Exact(meter.by_weights if case.what == "multiplications by weights" else meter.multiplications + meter.additions)

    cases = tuple(Case(what=what, depth=L, width=d, tokens=N) for what in ("multiplications by weights", "operations")
                  for L, d, N in ((1, 2, 3), (2, 4, 2), (3, 2, 5)))
    return Claim(
        key="counting/textbook_flops", title="the textbook's operations per layer",
        text="A forward pass takes 12 d_model^2 seq_len floating-point operations per layer.",
        statement=Eq(operations, 12 * L * d**2 * N),
        source=Source("deepnetworks63", "Section 6.3, Scaling Considerations, Compute"), wording="universal", kind="identity", holds_for="all",
        known="FAILS", weight="arithmetic", measured=measured, grid={"quick": cases},
        control=Control(Case(what="multiplications by weights", depth=1, width=2, tokens=3), "two operations per weight",
                       statement=Eq(operations, 24 * L * d**2 * N)),
        note='Checked sentence: "FLOPs per layer ≈ 12 × d_model² × seq_len  (approximate)", an approximation read here as an equality. '
             "It counts multiplications by weights, for which it is exact; operations are twice as many, and "
             "scores and averages add N / (6 d) of that.")


def _memory_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    L, d, N = _symbols()
    b, heads, memory, values = symbol("batch"), symbol("heads"), symbol("activation_bytes"), symbol("stored_values")
    cases = Case.grid(batch=(1, 2), tokens=(1, 3), width=(4, 8), heads=(1, 2), depth=(1, 3))
    yield Claim(
        key="counting/activation_bytes", title="activation bytes of a layer",
        text="A layer of a GPT-like net with dropout, feed-forward width 4 d, attention width d and scores stored keeps N b d (34 + 5 H N / d) "
              "bytes for the backward pass in 16-bit arithmetic, masks taking one byte per entry; L layers keep L times as much.",
        statement=Eq(memory, L * N * b * d * (34 + 5 * heads * N / d)),
        source=Source("korthikanti2022", "section 4", "arXiv:2205.05198"), wording="recalled", kind="identity", holds_for="all",
        weight="arithmetic", measured=lambda case, seed: Exact(sum(a.nbytes for _ in range(case.depth)
                                              for a in kept(case.batch, case.tokens, case.width, case.heads).values())),
        grid={"quick": cases},
        control=Control(cases[-1], "dropout masks of two bytes", statement=Eq(memory, L * N * b * d * (36 + 6 * heads * N / d))),
        note="as recalled; check against the paper. Measured on the list of arrays of such a layer, derived here: the list restates the "
             "count. Kernels that recompute "
             "scores keep less.")
    stored = tuple(Case(kept=kept_, **case.fields()) for kept_ in ("layer inputs", "all") for case in cases[::5])
    yield Claim(
        key="counting/textbook_memory", title="the textbook's activation memory",
        text="Training keeps 2 batch_size seq_len d_model n_layers numbers: activations and their gradients.",
        statement=Eq(values, 2 * b * N * d * L),
        source=Source("deepnetworks63", "Section 6.3, Scaling Considerations, Memory"), wording="universal", kind="identity", holds_for="all",
        known="FAILS", weight="arithmetic", measured=lambda case, seed: _stored(case), grid={"quick": stored},
        control=Control(stored[0], "four numbers", statement=Eq(values, 4 * b * N * d * L)),
        note='Checked sentence: "Memory ≈ batch_size × seq_len × d_model × n_layers × 2", with "(activations + gradients)" under the 2, an '
             "approximation read here as an equality. It is exact when each layer keeps its input only and recomputes the rest; without "
             "recomputation a layer keeps 16 + 2 H N / d numbers per token and coordinate in place of 1.")
