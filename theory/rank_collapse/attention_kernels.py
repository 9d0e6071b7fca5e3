"""Attention made to order: layers that carry a kernel through depth."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat
from sympy import Integer, Symbol, expand, factor, symbols
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.proof_steps import at_least, vanish
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..exact.enclosure import from_fraction

wrong_entries = quantity(
    "wrong_entries", r"\#_{bad}", "entries that differ from what is stated", "nonnegative integer"
)


def _levels(case: Case) -> list[Fraction]:
    return [Fraction(0), *(Fraction(level) for level in str(case.levels).split())]


KERNEL: dict[str, Any] = {
    "wording": "recalled",
    "kind": "construction",
    "assumes": {
        "correlations grow with depth and stay below 1": lambda c: (
            _levels(c) == sorted(_levels(c)) and _levels(c)[-1] < 1
        )
    },
}


def cholesky(matrix: Any, root: Callable[[Any], Any]) -> Any:
    """The lower triangular L with L L^T = matrix and positive diagonal, of fmpq_mat or arb_mat.

    >>> cholesky(fmpq_mat([[1, fmpq(3, 5)], [fmpq(3, 5), 1]]), rational_root).tolist()[1]
    [3/5, 4/5]
    """
    L = 0 * matrix
    for i in range(matrix.nrows()):
        for j in range(i + 1):
            left = matrix[i, j] - sum(L[i, k] * L[j, k] for k in range(j))
            L[i, j] = root(left) if i == j else left / L[j, j]
    return L


def rational_root(square: fmpq) -> fmpq:
    """The root of the square of a rational number."""
    root = fmpq(square.p.isqrt(), square.q.isqrt())
    if root * root != square:
        raise ValueError(f"the pivot {square} is not the square of a rational number")
    return root


@claim(
    Eq(wrong_entries, 0),
    source=Source("he2023", "E-SPA", "arXiv:2302.10322"),
    cases={
        "quick": Case.grid(tokens=(2, 6), levels=("3/5", "7/25 3/5 4/5", "5/13 5/13 12/13 24/25"))
    },
    control=Control(Case(tokens=4, levels="4/5 3/5"), "correlations that fall with depth"),
    cited="Decides whether E-SPA's matrices have no negative entry, as softmax requires.",
    formal=Formal(
        "Kernels.decay_kernel",
        "0%N",
        "The theorem holds no number. Over any real closed field: that $e^{-g}$ is a number "
        "between 0 and 1, and how a softmax realises such matrices. It takes Cholesky factors as "
        "given; decay_cholesky and cholesky_unique give them.",
    ),
    **KERNEL,
)
def decay_kernel(case: Case) -> Exact:
    r"""E-SPA: attention matrices of decaying kernels are non-negative.

    For $\Sigma_l(i, j) = e^{-g_l |i-j|}$ with decreasing $g_l$ and $\Sigma_0 = I$, every
    $A_l = L_l L_{l-1}^{-1}$ from Cholesky factors is non-negative and lower triangular, and $A_L$
    ... $A_1 A_1^T$ ... $A_L^T = \Sigma_L$.

    As recalled; check against the paper. Such matrices are realised as $D P$, $P$ a causal softmax
    with $W_Q = 0$ and a bias. Measured over the rationals, at $e^{-g}$ from Pythagorean triples.
    """
    n = range(case.tokens)
    # Rational where 1 - a^2 is the square of a rational number.
    kernels = [
        fmpq_mat([[fmpq(a.numerator, a.denominator) ** abs(i - j) for j in n] for i in n])
        for a in _levels(case)
    ]
    factors = [cholesky(kernel, rational_root) for kernel in kernels]
    errors, total = 0, factors[0]
    for before, after in itertools.pairwise(factors):
        A = after * before.inv()
        errors += sum(A[i, j] < 0 or (j > i and A[i, j] != 0) for i in n for j in n)
        total = A * total
    reached = total * total.transpose()
    return Exact(errors + sum(reached[i, j] != kernels[-1][i, j] for i in n for j in n))


@decay_kernel.argument(
    "Argument. Prose: the closed Cholesky factor and its bidiagonal inverse give every entry of "
    "$A_l$; the product telescopes."
)
def _(statement: Relational) -> Iterator[Step]:
    """L_i1 = a^(i-1), L_ij = s_a a^(i-j) and the inverse is bidiagonal, so every A_ij is closed."""
    b, gap = symbols("b gap", nonnegative=True)
    sa, sb, x = symbols("s_a s_b x", positive=True)
    a, k = b + gap, Symbol("k", integer=True, positive=True)
    yield vanish(
        "sum_k L_ik L_jk = a^(i-j): 1 a^(2j-2) + s_a^2 (a^0 + ... + a^(2j-4)) = 1, by the "
        "geometric sum",
        (1 - x**2) * ((1 - x ** (2 * k)) / (1 - x**2)) + x ** (2 * k) - 1,
    )
    # A_ij = (L(a)_ij - b L(a)_{i,j+1}) / s_b for j >= 2, with x = a^(i-j-1).
    inner = factor((sa * a * x - b * sa * x) / sb)
    yield Step(
        "off the first column and below the diagonal A_ij = s_a a^(i-j-1) (a - b) / "
        "s_b >= 0 for a >= b; on it s_a / s_b > 0",
        bool(inner.is_nonnegative and (sa / sb).is_positive),
    )
    first = expand(a**2 * (1 - b**2) - b**2 * (1 - a**2))
    yield Step(
        "in the first column A_i1 = a^(i-2) (a - b s_a / s_b) >= 0, since a^2 s_b^2 - b^2 "
        "s_a^2 = a^2 - b^2 >= 0",
        at_least(first, Integer(0)),
    )
    yield Step(
        "and the product telescopes to L_L, so no entry is wrong, as stated", statement.rhs == 0
    )


@claim(
    Eq(wrong_entries, 0),
    source=Source("he2023", "U-SPA", "arXiv:2302.10322"),
    cases={
        "quick": Case.grid(tokens=(2, 6), levels=("1/2", "1/10 1/5 9/10", "1/100 1/3 1/2 99/100")),
        "theory": (Case(tokens=24, levels="1/10 1/2 9/10"),),
    },
    control=Control(Case(tokens=4, levels="1/2 1/10"), "correlations that fall with depth"),
    supports="rank_collapse/decay_kernel",
    **KERNEL,
)
def uniform_kernel(case: Case) -> Exact:
    r"""U-SPA: attention matrices of uniform kernels are non-negative.

    For $\Sigma_l = (1 - \rho_l) I + \rho_l 11^T$ with increasing $\rho_l$ and $\Sigma_0 = I$, every
    $A_l = L_l L_{l-1}^{-1}$ from Cholesky factors is non-negative and lower triangular.

    As recalled, and realised as in decay_kernel. The product telescopes to $\Sigma_L$ by
    definition.
    """
    n, errors = range(case.tokens), 0
    with flint.ctx.workprec(192):
        kernels = [
            arb_mat([[1 if i == j else from_fraction(rho) for j in n] for i in n])
            for rho in _levels(case)
        ]
        factors = [cholesky(kernel, arb.sqrt) for kernel in kernels]
        for before, after in itertools.pairwise(factors):
            A = after * before.inv()
            for i, j in zip(*np.tril_indices(case.tokens), strict=True):
                if not (A[i, j] > 0 or A[i, j] < 0):
                    raise ArithmeticError(f"A[{i}, {j}] of [{case}] has no certain sign: {A[i, j]}")
                errors += bool(A[i, j] < 0)
    return Exact(errors)
