"""Attention made to order: layers that carry a prescribed kernel through depth without skips, and attention that starts as the identity."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from ..claim import Case, Claim, Control, Source
from . import attention_kernels_measured as measured_by

__all__ = ["claims"]

_SPA, _SIMPLE = "arXiv:2302.10322", "arXiv:2311.01906"


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _kernel_claims()
    yield _identity_claim()


def _growing(case: Case) -> bool:
    levels = [Fraction(0), *(Fraction(level) for level in str(case.levels).split())]
    return levels == sorted(levels) and levels[-1] < 1


def _kernel_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    errors = symbol("wrong_entries")
    growing: dict[str, Callable[[Case], bool]] = {"correlations grow with depth and stay below 1": _growing}
    note = "As recalled; check against the paper. Such matrices are realised as D P, P a causal softmax with W_Q = 0 and a bias."
    yield Claim(
        key="rank_collapse/decay_kernel", title="E-SPA: attention matrices of decaying kernels are non-negative",
        text="For Sigma_l(i, j) = e^(-g_l |i-j|) with decreasing g_l and Sigma_0 = I, every A_l = L_l L_{l-1}^-1 from Cholesky factors is "
              "non-negative and lower triangular, and A_L ... A_1 A_1^T ... A_L^T = Sigma_L.",
        statement=Eq(errors, 0), source=Source("he2023", "E-SPA", _SPA), wording="recalled", kind="construction", holds_for="all",
        assumes=growing, measured=measured_by.kernel_errors, proof=measured_by.prove_decay_kernel,
        rests_on="Argument. Prose: the closed Cholesky factor and its bidiagonal inverse give every entry of A_l; the product telescopes.",
        grid={"quick": Case.grid(tokens=(2, 6), levels=("3/5", "7/25 3/5 4/5", "5/13 5/13 12/13 24/25"))},
        note=note + " Measured over the rationals, at e^-g from Pythagorean triples.",
        control=Control(Case(tokens=4, levels="4/5 3/5"), "correlations that fall with depth"))
    yield Claim(
        key="rank_collapse/uniform_kernel", title="U-SPA: attention matrices of uniform kernels are non-negative",
        text="For Sigma_l = (1 - rho_l) I + rho_l 11^T with increasing rho_l and Sigma_0 = I, every A_l = L_l L_{l-1}^-1 from Cholesky "
              "factors is non-negative and lower triangular.",
        statement=Eq(errors, 0), source=Source("he2023", "U-SPA", _SPA), wording="recalled", kind="construction", holds_for="all",
        assumes=growing, measured=measured_by.uniform_kernel_errors,
        grid={"quick": Case.grid(tokens=(2, 6), levels=("1/2", "1/10 1/5 9/10", "1/100 1/3 1/2 99/100")),
              "theory": (Case(tokens=24, levels="1/10 1/2 9/10"),)},
        note=note + " The product telescopes to Sigma_L by definition.",
        control=Control(Case(tokens=4, levels="1/2 1/10"), "correlations that fall with depth"))


def _identity_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    errors = symbol("wrong_entries")
    cases = (*Case.grid(variant="shaped", tokens=(2, 5), gamma="1"), *Case.grid(variant="value-skipinit", tokens=(2, 5)))
    return Claim(
        key="rank_collapse/identity_attention", title="Value-SkipInit and Shaped attention start as the identity",
        text="At initialisation alpha I + beta A(X) with alpha = 1, beta = 0, and alpha I + beta A(X) - gamma C with W_Q = 0, "
              "alpha = beta = gamma = 1 and C the uniform causal matrix, are the identity for every input, so the residual is kept.",
        statement=Eq(errors, 0), source=Source("he2023simplifying", "Value-SkipInit and Shaped attention", _SIMPLE), wording="printed",
        kind="construction", holds_for="all", measured=measured_by.identity_errors, grid={"quick": cases},
        assumes={"alpha = beta = gamma = 1 in Shaped attention": lambda c: c.variant != "shaped" or c.rational("gamma") == 1},
        note="With beta = 0 it holds by definition; for Shaped attention the cases check that W_Q = 0 makes A(X) the uniform causal matrix.",
        control=Control(Case(variant="shaped", tokens=3, gamma="0"), "no centring"))
