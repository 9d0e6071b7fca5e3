"""Norms of the residual: what the composite norm can and cannot do, mean against best centre, gamma, and layer normalisation.

The residual of tokens X is X - 1 x^T with the centre x that minimises the composite norm sqrt(|A|_1 |A|_inf); practice takes the token
mean for x. The claims say what that choice and that norm cost.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..claim import Case, Claim, Control, Source
from . import residual_norms_measured as measured_by

__all__ = ["claims", "largest_gamma", "mean_centre_factor"]

_V1, _V2 = "arXiv:2103.03404v1", "arXiv:2103.03404v2"


def mean_centre_factor(tokens: int) -> float:
    """2 (1 - 1/N): for all N tokens, the residual about the token mean is at most this factor above that about the best centre.

    Raises:
        ValueError: for fewer than one token.

    One token is its own mean, and the factor is 0. Attained by N unit vectors.

    >>> mean_centre_factor(4)
    1.5

    Cost O(1). Reference: derived; see the claim rank_collapse/mean_centre_factor.
    """
    if tokens < 1:
        raise ValueError(f"the number of tokens must be at least 1, got {tokens}")
    return 2 * (1 - 1 / tokens)


def largest_gamma(tokens: int) -> float:
    """sqrt(N/2), the largest gamma that logits between N tokens can have.

    Raises:
        ValueError: for fewer than one token.

    >>> largest_gamma(8)
    2.0

    Cost O(1). Reference: derived; see the claim rank_collapse/gamma_bound.
    """
    if tokens < 1:
        raise ValueError(f"the number of tokens must be at least 1, got {tokens}")
    return float((tokens / 2) ** 0.5)


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _norm_claims()
    yield _centre_claim()
    yield from _gamma_claims()
    yield from _range_claims()
    yield from _layer_norm_claims()


def _norm_claims() -> Iterator[Claim]:
    from sympy import Eq, Integer, Le, Rational

    from ..glossary import symbol

    N, triangle, ratio = symbol("tokens"), symbol("triangle_ratio"), symbol("product_ratio")
    yield Claim(
        key="rank_collapse/composite_norm_triangle", title="the composite norm violates the triangle inequality without bound",
        text="For the N x N matrix A whose first row is ones and its other rows zero, (|A + A^T| / (|A| + |A^T|))^2 = (N + 1)^2 / (4 N) "
              "in "
              "the composite norm, which is above 1 for every N > 1.",
        statement=Eq(triangle, (N + 1) ** 2 / (4 * N)), source=Source("dong2021", "remark on the composite norm", _V2), wording="derived",
        kind="identity", holds_for="exists", measured=measured_by.triangle_ratio,
        rests_on="Argument: the sums of entries are computed for a symbolic N. Prose: which row and column sums are the largest.",
        proof=measured_by.prove_triangle, grid={"quick": Case.grid(tokens=(2, 3, 5, 16))},
        note="That the inequality fails is as the paper says (reported); the family and its ratio are ours. At N = 2 the norms are "
             "3 > 2 sqrt(2).",
        control=Control(Case(tokens=2), "the triangle inequality", statement=Eq(triangle, Integer(1))))
    cases = (*Case.grid(instance="ones", tokens=(2, 5)), *Case.grid(instance="random", tokens=(2, 3, 8)))
    yield Claim(
        key="rank_collapse/composite_norm_product", title="the composite norm is sub-multiplicative",
        text="For all matrices A and B whose product exists, |AB| <= |A| |B| in the composite norm.",
        statement=Le(ratio, 1), source=Source("dong2021", "proof of the one-layer lemma", _V2), wording="derived", kind="upper",
        holds_for="all", measured=measured_by.product_ratio, proof=measured_by.prove_product,
        rests_on="Argument. Prose: the two sums in a column of |A| |B| exchanged, the triangle inequality for many terms, transposition for rows.",
        grid={"quick": cases, "theory": Case.grid(instance="random", tokens=(4, 16))}, note="All-ones matrices attain it.",
        control=Control(cases[0], "0.9 in place of 1", statement=Le(ratio, Rational(9, 10))))


def _centre_claim() -> Claim:
    from sympy import Le

    from ..glossary import symbol

    N, ratio = symbol("tokens"), symbol("centre_ratio")
    cases = (*Case.grid(instance="identity", tokens=(2, 3, 7)), *Case.grid(instance="random", tokens=(2, 5), width=(1, 4)))
    return Claim(
        key="rank_collapse/mean_centre_factor", title="token mean against best centre: a factor 2 (1 - 1/N)",
        text="For all N tokens X and every centre x, |X - 1 mean^T| <= 2 (1 - 1/N) |X - 1 x^T| in the composite norm; N unit vectors with "
              "x = 0 attain it.",
        statement=Le(ratio, 2 * (1 - 1 / N)),
        source=Source("dong2021", "definition of the residual, with the mean of the authors' code", _V1),
        wording="derived", kind="upper", holds_for="all", measured=measured_by.centre_ratio, proof=measured_by.prove_centre,
        rests_on="Argument. Prose: X - 1 mean^T = (I - J/N)(X - 1 x^T), whose row and column sums are read off; then composite_norm_product.",
        grid={"quick": cases, "theory": Case.grid(instance="random", tokens=(8, 32), width=8)},
        note="So the mean does not minimise the composite norm (it minimises the Frobenius norm), and |X - 1 mean^T| / |X| can exceed 1.",
        control=Control(cases[1], "no factor: the mean taken for the minimiser", statement=Le(ratio, 1)))


def _gamma_claims() -> Iterator[Claim]:
    from sympy import Eq, Le

    from ..glossary import symbol

    N, gamma2, ratio = symbol("tokens"), symbol("gamma_square"), symbol("range_sum_ratio")
    source = Source("dong2021", "the factor gamma of version 2", _V2)
    cases = (*Case.grid(instance="extremal", tokens=(2, 3, 8)), *Case.grid(instance="random", tokens=(2, 5, 9)))
    yield Claim(
        key="rank_collapse/gamma_bound", title="gamma is at most sqrt(N/2)",
        text="For every N x N logit matrix E, gamma^2 = |D1|_1 |D1|_inf / (4 |E|_1^2) <= N/2 with D_ii the range of row i; attained for "
              "every N >= 2.",
        statement=Le(gamma2, N / 2), source=source, wording="derived", kind="upper", holds_for="all", measured=measured_by.gamma_square,
        proof=measured_by.prove_gamma, grid={"quick": cases, "theory": Case.grid(instance=("extremal", "random"), tokens=(17, 40))},
        rests_on="Argument. Prose: a row's largest and smallest entry stand at two places, so its range is at most its absolute sum; sums exchanged.",
        note="So gamma <= sqrt(N) always, with room: a uniform gamma costs the factor sqrt(N/2) at most in the base of the power.",
        control=Control(cases[1], "a bound that does not grow with N", statement=Le(gamma2, 1)))
    yield Claim(
        key="rank_collapse/gamma_of_identity", title="gamma of logits c I is sqrt(N)/2",
        text="For E = c I_N with N >= 2 and c > 0, gamma^2 = N/4, so that gamma grows with the number of tokens.",
        statement=Eq(gamma2, N / 4), source=source, wording="derived", kind="identity", holds_for="all",
        measured=measured_by.gamma_square, proof=measured_by.prove_identity_gamma,
        rests_on="Argument: the sums are computed for a symbolic N. Prose: the range of a row of c and zeros is c.",
        grid={"quick": Case.grid(instance="identity", tokens=(2, 3, 16))},
        control=Control(Case(instance="identity", tokens=16), "gamma = 1, as version 1 has it", statement=Eq(gamma2, 1)))
    yield Claim(
        key="rank_collapse/column_ranges_v1", title="sum of row ranges at most 2 |E|_1, as version 1 needs",
        text="For every logit matrix E with row ranges D_ii, |D1|_1 <= 2 |E|_1.",
        statement=Le(ratio, 2), source=Source("dong2021", "step of the proof of the one-layer lemma", _V1), wording="derived", kind="upper",
        holds_for="all", measured=measured_by.range_sum_ratio, known="FAILS", weight="step",
        grid={"quick": (*Case.grid(instance="identity", tokens=(2, 3, 16)), Case(instance="random", tokens=5))},
        note="False: |D1|_1 sums over all rows, and E = I_3 gives 3 > 2. The proof of version 1, as reported, needs it; the factor gamma "
             "of version 2 repairs it. The statement of version 1 is not refuted by this, see one_layer_cubic_v1 and one_layer_small_logits.",
        control=Control(Case(instance="identity", tokens=2), "half the constant", statement=Le(ratio, 1)))


def _range_claims() -> Iterator[Claim]:
    from sympy import Le

    from ..glossary import symbol

    ratio = symbol("range_ratio")
    cases = (Case(instance="both signs", tokens=2), Case(instance="both signs", tokens=5),
             *Case.grid(instance="random", tokens=(2, 6), width=(1, 3)))
    yield Claim(
        key="rank_collapse/logit_range_chain", title="logit ranges are at most 2 |W_QK|_1 |R|^2",
        text="For all R and W with E = R W R^T, |D1|_inf <= 2 max |E_ij| <= 2 |E|_1 <= 2 |W|_1 |R|_1 |R|_inf; divide by sqrt(d_qk) on "
              "both "
              "sides.",
        statement=Le(ratio, 2), source=Source("dong2021", "proof of the one-layer lemma, second chain", _V2), wording="derived",
        kind="upper", holds_for="all", measured=measured_by.range_ratio, proof=measured_by.prove_range,
        rests_on="Argument. Prose: an entry is at most its column sum; |R W R^T|_1 <= |R|_1 |W|_1 |R^T|_1, and |R^T|_1 = |R|_inf.",
        grid={"quick": cases, "theory": Case.grid(instance="random", tokens=(12, 20), width=5)},
        note="Attained by R = I and one row of W of both signs.",
        control=Control(cases[0], "half the constant", statement=Le(ratio, 1)))


def _layer_norm_claims() -> Iterator[Claim]:
    from sympy import Eq, Le

    from ..glossary import symbol

    before, after, rank, rank_after = (symbol(n) for n in ("affine_rank", "affine_rank_after", "centred_rank", "centred_rank_after"))
    hulls = (Case(instance="simplex", affine_rank=2), Case(instance="multiples", affine_rank=1), Case(instance="collinear", affine_rank=1))
    yield Claim(
        key="rank_collapse/layernorm_right_multiplication", title="layer normalisation as a right multiplication",
        text="LN(Y) = Y W + 1 b^T for some matrix W and vector b, so that layer normalisation never raises the affine rank of the tokens.",
        statement=Le(after, before), source=Source("dong2021", "remark on layer normalisation", _V2), wording="reported", kind="upper",
        holds_for="all", measured=measured_by.affine_rank_after, known="FAILS", weight="step", grid={"quick": hulls},
        note="False: three tokens on a line, (1, 0), (1, 3/4), (1, 4/3) in an orthonormal basis, become (1, 0), (4/5, 3/5), (3/5, 4/5), "
             "and no affine map bends a line, so the formula has no W and b, not even ones that depend on Y. The statement measures what the "
             "formula implies. LN divides each row by its own deviation: a left multiplication by a diagonal matrix.",
        control=Control(hulls[0], "rank falls below", statement=Le(after, before - 1)))
    yield Claim(
        key="rank_collapse/layernorm_affine_rank", title="layer normalisation preserves the affine rank, read literally",
        text="For all tokens, layer normalisation keeps the dimension of their affine hull.",
        statement=Eq(after, before), source=Source("cirrincione2026", "abstract", "arXiv:2604.23681"), wording="universal", kind="identity",
        holds_for="all", measured=measured_by.affine_rank_after, known="FAILS", grid={"quick": hulls},
        note='The sentence: layer normalisation "preserves the affine rank of the token representation set exactly". "For all tokens" and '
             '"dimension of the affine hull" are ours: only the abstract is known to us, and its affine rank may mean something else. So read it '
             "fails in both directions: u and 2u become equal, and three tokens on a line become independent.",
        control=Control(hulls[0], "one more", statement=Eq(after, before + 1)))
    ranks = (Case(instance="simplex", centred_rank=3), Case(instance="multiples", centred_rank=1),
             Case(instance="collinear", centred_rank=2), Case(instance="shifted", centred_rank=1))
    yield Claim(
        key="rank_collapse/layernorm_centred_rank", title="layer normalisation keeps the rank of the centred tokens",
        text="For all tokens with positive deviations, LN without gain and bias, D^-1 X (I - 11^T/d), has the rank of X (I - 11^T/d).",
        statement=Eq(rank_after, rank), source=Source("depthlaw", "theory/rank_collapse/residual_norms.py, LN as row scaling"), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.centred_rank_after, grid={"quick": ranks},
        note="Matrix rank is blind to collapse in direction: u and 2u have rank one before and after, and are equal after.",
        control=Control(ranks[0], "one less", statement=Eq(rank_after, rank - 1)))
