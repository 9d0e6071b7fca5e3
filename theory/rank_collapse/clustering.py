"""Clustering: attention as a flow of tokens on the sphere, where equiangular tokens follow one equation for their cosine."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..claim import Case, Claim, Control, Source
from . import clustering_measured as measured_by

__all__ = ["claims", "cosine_velocity"]

_V = "arXiv:2312.10794"
_TOKENS = "Equiangular unit tokens with cosine rho under "
# The measurement sees the Gram matrix alone, and only for these cosines is it one of unit vectors.
_EXIST = {"n unit vectors with this cosine exist: -1/(n - 1) <= rho <= 1":
          lambda c: -1 <= (c.tokens - 1) * c.rational("common_cosine") <= c.tokens - 1}


def cosine_velocity(cosine: float, tokens: int, inverse_temperature: float) -> float:
    """d rho/dt = 2 e^(beta rho) (1 - rho) ((n - 1) rho + 1) / (e^beta + (n - 1) e^(beta rho)) for n equiangular tokens under SA.

    Args:
        cosine: rho in [-1/(n-1), 1]; both ends stand still.
        tokens: n >= 2.
        inverse_temperature: beta.

    Raises:
        ValueError: for a cosine that n equiangular vectors cannot have, or fewer than two tokens.

    >>> cosine_velocity(1.0, 16, 2.0), round(cosine_velocity(0.0, 2, 0.0), 12)
    (0.0, 1.0)

    Cost O(1). Reference: Geshkovski et al. 2023, arXiv:2312.10794 (as reported); derived in the claim rank_collapse/equiangular_sa.
    """
    if tokens < 2 or not -1 / (tokens - 1) <= cosine <= 1:
        raise ValueError(f"{tokens} equiangular unit vectors have a cosine from -1/(n-1) to 1, n >= 2; got {cosine}")
    pull = math.exp(inverse_temperature * (cosine - 1))
    return 2 * pull * (1 - cosine) * ((tokens - 1) * cosine + 1) / (1 + (tokens - 1) * pull)


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    for flow in ("SA", "USA"):
        yield _rate_claim(flow)
        yield _cluster_claim(flow)
    yield _figures_claim()
    yield _context_claim()
    yield _rescaled_claim()


def _rate(flow: str) -> Any:
    from ..glossary import symbol

    n, rho, B = symbol("tokens"), symbol("common_cosine"), symbol("exp_beta")
    return 2 * B**rho * (1 - rho) * ((n - 1) * rho + 1) / (B + (n - 1) * B**rho if flow == "SA" else n)


def _rate_claim(flow: str) -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    formula = "2 e^(beta rho) (1 - rho) ((n - 1) rho + 1) / " + ("(e^beta + (n - 1) e^(beta rho))" if flow == "SA" else "n")
    cases = (*Case.grid(flow=flow, tokens=(2, 5), common_cosine="1/2", exp_beta=("1", "4", "1/9")),
             *Case.grid(flow=flow, tokens=4, common_cosine=("-1/3", "0", "2/3"), exp_beta="27"))
    return Claim(
        key=f"rank_collapse/equiangular_{flow.lower()}", title=f"equation of the common cosine under {flow}",
        text=_TOKENS + f"{flow} on the sphere stay equiangular for all n and beta, and d rho/dt = {formula}.",
        statement=Eq(symbol("cosine_rate"), _rate(flow)), source=Source("geshkovski2023perspective", f"equiangular dynamics, {flow}", _V),
        wording="reported", kind="identity", holds_for="all", measured=measured_by.cosine_rate,
        proof=lambda statement: measured_by.prove_rate(statement, flow), grid={"quick": cases}, assumes=_EXIST,
        rests_on="Argument: inner products summed for a symbolic n. Prose: equal derivatives of all pairs keep the tokens equiangular (uniqueness).",
        note="Exact: e^beta and rho are chosen so that e^(beta rho) is rational.",
        control=Control(cases[4], "without the factor 2", statement=Eq(symbol("cosine_rate"), _rate(flow) / 2)))


def _cluster_claim(flow: str) -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    rate, B = symbol("cluster_rate"), symbol("exp_beta")
    value = 2 if flow == "SA" else 2 * B
    return Claim(
        key=f"rank_collapse/cluster_rate_{flow.lower()}", title=f"exponential rate of the last approach under {flow}",
        text=f"For equiangular tokens under {flow}, 1 - rho decays near the single cluster like "
              f"e^({'-2t' if flow == 'SA' else '-2 e^beta t'}) for all n and beta: "
              f"-d log(1 - rho)/dt tends to {'2' if flow == 'SA' else '2 e^beta'} as rho tends to 1.",
        statement=Eq(rate, value), source=Source("geshkovski2023perspective", f"equiangular dynamics, {flow}", _V), wording="reported",
        kind="rate", holds_for="all", measured=measured_by.cluster_rate,
        proof=lambda statement: measured_by.prove_cluster(statement, _rate(flow), flow),
        rests_on="Argument: the equation of the cosine is derived first. Prose: near rho = 1, rho' = (1 - rho) f(rho) decays at the rate f(1).",
        grid={"quick": Case.grid(flow=flow, tokens=(2, 5, 16), exp_beta=("1", "4", "1/3"))},
        note="Measured on the linearised flow of all tokens, not on the equation of the cosine.",
        control=Control(Case(flow=flow, tokens=5, exp_beta="4"), "half the rate", statement=Eq(rate, value / 2 if flow == "USA" else 1)))


def _figures_claim() -> Claim:
    from sympy import Eq, Piecewise

    from ..glossary import symbol

    figure, time = symbol("rounded_figure"), symbol("time")
    cases = tuple(Case(tokens=16, inverse_temperature=2, common_cosine="1/10", time=t, digits=digits) for t, digits in ((8, 10), (10, 12)))
    values = Piecewise((10609, Eq(time, 8)), (19431, Eq(time, 10)))
    return Claim(
        key="rank_collapse/equiangular_figures", title="16 tokens from cosine 0.1, at times 8 and 10",
        text="Under SA with n = 16, beta = 2 and rho(0) = 0.1, 1 - rho = 1.0609e-6 at t = 8 and 1.9431e-8 at t = 10; the statement "
              "holds the "
              "rounded digits.",
        statement=Eq(figure, values), source=Source("depthlaw", "theory/rank_collapse/clustering.py, from geshkovski2023perspective"),
        wording="derived",
        kind="identity", holds_for="all", measured=measured_by.cosine_figure, grid={"quick": cases}, weight="arithmetic",
        premises=("rank_collapse/equiangular_sa",),
        note="Measured is the equation of the premise, not 16 tokens: it is separable, and the time to a cosine is an integral that arb "
             "encloses rigorously.",
        control=Control(cases[0], "the last digit off by one", statement=Eq(figure, values + 1)))


def _context_claim() -> Claim:
    from sympy import Eq, Piecewise, Rational, floor

    from ..glossary import symbol

    cosine, rho, g = symbol("rounded_cosine"), symbol("common_cosine"), symbol("logit_growth")
    limit = Piecewise((1, g < 1 / (1 - rho)), (4 * rho / (1 + 3 * rho), Eq(g, 1 / (1 - rho))), (rho, True))
    cases = (*Case.grid(common_cosine="1/2", logit_growth=("1", "2", "3")), *Case.grid(common_cosine="1/4", logit_growth=("1", "4/3", "2")),
             # Two whose limits end in just less and just more than half a millionth.
             Case(common_cosine="303/383", logit_growth="383/80"), Case(common_cosine="121/241", logit_growth="241/120"))
    return Claim(
        key="rank_collapse/long_context", title="long context: the critical growth of beta is log n/(1 - rho)",
        text="For beta = g log n and n -> infinity one step takes equiangular tokens of cosine 0 < rho < 1 to the cosine 1 if g < 1/(1 "
              "- rho), 4 rho/(1 + 3 rho) at equality and rho above; the statement compares millionths at n = 2^480, where g is 1/(1 - rho) or "
              "n^|g (1 - rho) - 1| >= 2^40.",
        statement=Eq(cosine, floor(10**6 * limit + Rational(1, 2))),
        source=Source("rigollet2025", "long-context limit", "arXiv:2512.01868"),
        wording="reported", kind="threshold", holds_for="all", measured=measured_by.rounded_cosine, proof=measured_by.prove_context,
        evidence="checks", assumes={"0 < rho < 1, and n = 2^480 is close to the limit": _near_limit},
        rests_on="Checks: the limits are taken one after the other, n and then tau, and the statement compares digits at one n; the cases decide.",
        grid={"quick": cases}, note="Read as one normalised attention step; that reading reproduces the reported critical value.",
        control=Control(cases[1], "no exception at the border", statement=Eq(cosine, floor(10**6 * rho + Rational(1, 2)))))


def _near_limit(case: Case) -> bool:
    """Whether tau = n^(g (1 - rho) - 1) is 1, or at n = 2^480 at least 2^40 away from it on either side."""
    exponent = case.rational("logit_growth") * (1 - case.rational("common_cosine")) - 1
    return 0 < case.rational("common_cosine") < 1 and (exponent == 0 or abs(exponent) * 480 >= 40)


def _rescaled_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    errors = symbol("wrong_entries")
    cases = Case.grid(tokens=4, width=(2, 3), time=("0", "2/3"))
    return Claim(
        key="rank_collapse/rescaled_tokens", title="rescaled tokens follow differences alone",
        text="For z_i = e^(-tV) x_i and dx_i/dt = sum_j P_ij V x_j with row-stochastic P, dz_i/dt = sum_j P_ij V (z_j - z_i).",
        statement=Eq(errors, 0), source=Source("geshkovski2023clusters", "code borjanG/2023-transformers", "arXiv:2305.05465"),
        wording="printed", kind="identity", holds_for="all", measured=measured_by.rescaled_errors, grid={"quick": cases},
        assumes={"the rows of P sum to 1": lambda c: c.get("scale", 1) == 1},
        note="Exact, over the rationals, with a nilpotent V whose exponential is a polynomial.",
        control=Control(Case(tokens=4, width=3, time="2/3", scale=2), "rows of P that sum to 2"))
