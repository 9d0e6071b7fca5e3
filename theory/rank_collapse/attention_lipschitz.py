"""How far one layer can move tokens together or apart: Lipschitz constants of attention, and distances to equal tokens."""
from __future__ import annotations

import math
from collections.abc import Iterator

from ..claim import Case, Claim, Control, Source
from . import attention_lipschitz_measured as measured_by

__all__ = ["claims", "l2_attention_bound"]

_KIM, _SHI = "arXiv:2006.04710", "arXiv:2202.08625"
_RECALLED = "As recalled; check against the paper."


def l2_attention_bound(tokens: int, head_width: int) -> float:
    """4 phi^-1(N - 1) + 1/sqrt(D/H) with phi(x) = x e^(x+1): the factor of the weight norms in Lip_inf of L2 attention, as recalled.

    Args:
        tokens: N >= 1.
        head_width: D/H >= 1.

    Raises:
        ValueError: for counts below 1.

    One token needs no attention: the factor is 1/sqrt(D/H).

    >>> l2_attention_bound(1, 4), round(l2_attention_bound(2, 1), 4)
    (0.5, 2.1139)

    Cost O(1). Reference: Kim, Papamakarios, Mnih 2021, arXiv:2006.04710 (as recalled).
    """
    from scipy.special import lambertw

    if tokens < 1 or head_width < 1:
        raise ValueError(f"tokens and head_width must be at least 1, got {tokens} and {head_width}")
    return 4 * float(lambertw((tokens - 1) / math.e).real) + 1 / math.sqrt(head_width)


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield _dot_product_claim()
    yield from _l2_claims()
    yield from _distance_claims()


def _dot_product_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    N, s, entry = symbol("tokens"), symbol("key_size"), symbol("jacobian_entry")
    cases = Case.grid(tokens=(3, 7), key_size=("1/2", "1", "1000"))
    return Claim(
        key="rank_collapse/dot_product_not_lipschitz", title="dot-product attention has no Lipschitz constant",
        text="For attention of width one with unit weights at the tokens 0, s, -s, ..., s, -s (N odd), the derivative of the first "
              "output in "
              "the first token is ((N - 1) s^2 + 1)/N, which grows without bound.",
        statement=Eq(entry, ((N - 1) * s**2 + 1) / N), source=Source("kim2021", "dot-product attention is not Lipschitz", _KIM),
        wording="derived", kind="identity", holds_for="all",
        assumes={"N is odd": lambda c: c.tokens % 2 == 1}, measured=measured_by.dot_product_entry,
        proof=measured_by.prove_dot_product, grid={"quick": cases},
        rests_on="Argument: the derivative is computed for every n and s. Prose: the (N - 1)/2 pairs s, -s enter the softmax average alike.",
        note="The theorem (reported) says only that no constant exists, for any p-norm; a single entry suffices, since every operator norm "
             "bounds it. Counterexample: one token at 0 and growing key variance.",
        control=Control(cases[2], "bounded by the attention weights", statement=Eq(entry, 1 / N)))


def _l2_claims() -> Iterator[Claim]:
    from sympy import E, LambertW, Le, sqrt

    from ..glossary import symbol

    N, d, norm = symbol("tokens"), symbol("width"), symbol("jacobian_norm")
    inverse = LambertW((N - 1) / E)
    for name, place, bound, weaker in (
        ("infinity", "infinity norm", 4 * inverse + 1 / sqrt(d), inverse / 4 + 1 / sqrt(d) / 4),
        ("spectral", "2-norm", sqrt(N) / sqrt(d) * (4 * inverse + 1), sqrt(N) / sqrt(d) * (4 * inverse + 1) / 8),
    ):
        cases = (*Case.grid(norm=name, tokens=(2, 4), width=1, spread=("1/10", "5/4", "3")),
                 *Case.grid(norm=name, tokens=3, width=2, spread=("1/10", "1/2")))
        formula = "4 phi^-1(N - 1) + 1/sqrt(D)" if name == "infinity" else "sqrt(N/D) (4 phi^-1(N - 1) + 1)"
        yield Claim(
            key=f"rank_collapse/l2_attention_{name}", title=f"L2 attention is Lipschitz in the {place}",
            text=f"For one head of L2 attention with W_Q = W_K on N tokens of width D, the {place} of the Jacobian at every input is at "
                  f"most "
                  f"{formula} times the norms of its weights, phi(x) = x e^(x+1).",
            statement=Le(norm, bound), source=Source("kim2021", "Lipschitz bounds of L2 attention", _KIM),
            wording="recalled", kind="upper", holds_for="all", measured=measured_by.l2_jacobian,
            grid={"quick": cases, "theory": Case.grid(norm=name, tokens=5, width=3, spread=("1/8", "1"))},
            note=_RECALLED + " Measured with one head and W_O = I; phi^-1(y) = W_0(y/e) with Lambert's W is ours. Weight norms are "
                 + ("|W_Q|_inf |W_Q^T|_inf |W_V^T|_inf. The best case reaches 1/1.36 of the bound, so the constant 4 is not tested: with 3 "
                    "every case would hold too." if name == "infinity" else "|W_Q|_2^2 |W_V|_2."),
            control=Control(cases[1], "a fraction of the bound", statement=Le(norm, weaker)))


def _distance_claims() -> Iterator[Claim]:
    from sympy import Le, Rational

    from ..glossary import symbol

    ratio = symbol("distance_ratio")
    pairs, random = Case.grid(instance="pair", tokens=2, weight=("1/4", "9/10")), Case.grid(instance="random", tokens=(3, 6), width=(1, 3))
    yield Claim(
        key="rank_collapse/distance_attention", title="attention shrinks the distance to equal tokens by sqrt(lambda_max)",
        text="For all row-stochastic A and tokens H, d_M(A H)^2 <= lambda_max d_M(H)^2 with d_M(H) = min_C |H - 1 C|_F and lambda_max the "
              "top eigenvalue of A^T (I - 11^T/n) A.",
        statement=Le(ratio, 1), source=Source("shi2022", "lemma on attention", _SHI), wording="recalled", kind="upper", holds_for="all",
        measured=measured_by.attention_contraction, grid={"quick": (*pairs, *random)}, note=_RECALLED + " Attained by two tokens.",
        control=Control(pairs[0], "0.9 in place of 1", statement=Le(ratio, Rational(9, 10))))
    relu = (Case(instance="nonnegative", tokens=3, width=2), *Case.grid(instance="random", tokens=(3, 6), width=(1, 4)))
    yield Claim(
        key="rank_collapse/distance_relu", title="ReLU does not increase the distance to equal tokens",
        text="For all tokens H, d_M(ReLU H) <= d_M(H).",
        statement=Le(ratio, 1), source=Source("shi2022", "lemma on ReLU", _SHI), wording="recalled", kind="upper", holds_for="all",
        measured=measured_by.relu_contraction, proof=measured_by.prove_relu, grid={"quick": relu},
        rests_on="Argument. Prose: d_M^2 is a sum over pairs of tokens and coordinates, with its squares expanded; ReLU moves no pair apart.",
        note=_RECALLED + " Measured as squares. Attained by tokens without negative entries.",
        control=Control(relu[0], "0.9 in place of 1", statement=Le(ratio, Rational(9, 10))))
    values = (Case(instance="aligned", tokens=3, width=2), *Case.grid(instance="random", tokens=(3, 6), width=(2, 4)))
    yield Claim(
        key="rank_collapse/distance_values", title="a value matrix stretches the distance by its largest singular value",
        text="For all tokens H and matrices W with largest singular value s, d_M(H W) <= s d_M(H).",
        statement=Le(ratio, 1), source=Source("shi2022", "lemma on linear maps", _SHI), wording="recalled", kind="upper", holds_for="all",
        measured=measured_by.value_contraction, grid={"quick": values},
        note=_RECALLED + " Measured as squares. Attained by a diagonal W and tokens along its top direction.",
        control=Control(values[0], "0.9 in place of 1", statement=Le(ratio, Rational(9, 10))))
