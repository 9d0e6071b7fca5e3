"""Correlation of tokens with depth: uniform attention with residuals, vanishing query gradients, and maps of (q, p) at large width.

Part of the topic signal_propagation. q is the mean square of a token's coordinate and p the mean product of two tokens' coordinates; the
correlation p/q rises with depth, and where it is 1 the gradient of queries and keys vanishes.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from ..claim import Case, Claim, Control, Source
from . import token_correlation_measured as measured_by
from .measured import nine_decimals


def uniform_correlation(layers: int, tokens: int, attention_square: float) -> float:
    """The correlation of orthogonal tokens of one norm after L layers X + a A X W_V of uniform attention, in expectation.

    Args:
        layers: L >= 0; 0 gives 0.
        tokens: n >= 2.
        attention_square: a^2, for instance 1 or 1/L.

    Raises:
        ValueError: for fewer than two tokens or a negative argument.

    >>> uniform_correlation(1, 2, 1.0), round(uniform_correlation(24, 64, 1 / 24), 4)
    (0.3333333333333333, 0.0253)

    References: after noci2022, arXiv:2206.03126.
    """
    if layers < 0 or tokens < 2 or attention_square < 0:
        raise ValueError(f"layers={layers}, tokens={tokens}, attention_square={attention_square}: accepted are L >= 0, n >= 2, a^2 >= 0")
    exponent = layers * math.log1p(attention_square)
    if exponent > 700:  # the power overflows and the correlation is 1 to the last digit
        return 1.0
    return math.expm1(exponent) / (tokens + math.expm1(exponent))


def relu_kernel(cosine: float) -> float:
    """k(c) = (sqrt(1 - c^2) + c (pi - arccos c))/pi: the cosine of two vectors after a wide He-initialised ReLU layer.

    Raises:
        ValueError: outside [-1, 1].

    >>> relu_kernel(1.0), round(relu_kernel(0.0), 6), relu_kernel(-1.0)
    (1.0, 0.31831, 0.0)
    """
    if not -1 <= cosine <= 1:
        raise ValueError(f"a cosine lies in [-1, 1], got {cosine}")
    return (math.sqrt(1 - cosine**2) + cosine * (math.pi - math.acos(cosine))) / math.pi


def condensation(q: float, p: float, beta: float) -> float:
    """Y = max(0, 1 - beta_c/beta), beta_c = sqrt(2/(q (q - p))): the sum of squared attention weights for many tokens.

    Args:
        q, p: mean square and overlap, q > p.
        beta: W_Q and W_K have standard deviation sqrt(beta) (ln T)^(1/4)/sqrt(d_head).

    Raises:
        ValueError: unless q > 0, q > p and beta > 0.

    >>> round(condensation(1.0, 0.0, 2.0), 3), condensation(1.0, 0.2, 0.1)
    (0.293, 0.0)

    References: giorlandino2026, arXiv:2505.24333.
    """
    if q <= 0 or p >= q or beta <= 0:
        raise ValueError(f"q={q}, p={p}, beta={beta}: accepted are q > 0, p < q and beta > 0")
    return max(0.0, 1 - math.sqrt(2 / (q * (q - p))) / beta)


# --- claims ----------------------------------------------------------------------------------------------------------------------

_STEM = "signal_propagation/"
_NOCI, _GG, _COWSIK = "arXiv:2206.03126", "arXiv:2505.24333", "arXiv:2403.02579"
_SIGNS = "Measured over all signs of weights +-1 times their scale, which have the second moments of Gaussian ones."


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _moment_claims()
    yield _correlation_claim()
    yield _limit_claim()
    yield from _kernel_claims()
    yield _relu_branch_claim()
    yield from _gradient_claims()
    yield _first_layer_claim()
    yield _participation_claim()
    yield from _contraction_claims()


def _case(tokens: Sequence[Sequence[int]], **more: Any) -> Case:
    """Tokens as a case, with the invariants that the statements use."""
    n, d = len(tokens), len(tokens[0])
    columns = list(zip(*tokens, strict=True))
    gram = [[n * sum(u * v for u, v in zip(x, y, strict=True)) - sum(x) * sum(y) for y in columns] for x in columns]
    common, total = sum(sum(c) ** 2 for c in columns), sum(v * v for x in tokens for v in x)
    return Case(rows="; ".join(" ".join(map(str, x)) for x in tokens), tokens=n, width=d, common_start=common, total_start=total,
                gram_square=f"{sum(v * v for row in gram for v in row)}/{n * n}", **more)


def _spread(tokens: Sequence[Sequence[int]]) -> Case:
    """Tokens as a case, with their mean square and mean correlation."""
    c = _case(tokens)
    return Case(**c.fields(), token_variance=f"{c.total_start}/{c.tokens * c.width}",
                start_correlation=f"{c.common_start - c.total_start}/{(c.tokens - 1) * c.total_start}")


def _consistent(case: Case) -> bool:
    """Whether what a case says of its tokens is true of them."""
    true = _spread(measured_by.tokens_of(case)).fields()
    return all(case.rational(name) == Fraction(value) for name, value in true.items() if name in case and name != "rows")


_OF_TOKENS = {"sizes and norms are those of the tokens": _consistent}
_TWO, _THREE, _LINE = ((1, 2), (3, -1)), ((1, 0), (2, 1), (-1, 2)), ((2,), (-1,), (3,))


def _moment_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    a, m, layer, C, N, n = (symbol(x) for x in ("attention_square", "mlp_square", "layer", "common_start", "total_start", "tokens"))
    common, total = symbol("common"), symbol("total")
    quick = (*(_case(t, attention_square=s, mlp_square="0", layer=k) for t in (_TWO, _THREE) for s in ("2", "1/2") for k in (0, 1, 2)),
             *(_case(_LINE, attention_square="4", mlp_square=m2, layer=k) for m2 in ("1", "1/4") for k in (1, 2, 3)))
    more = (_case(_TWO, attention_square="2", mlp_square="1/2", layer=1), _case(_TWO, attention_square="2", mlp_square="1/2", layer=2),
            _case(((1, 0, 2), (0, -1, 1)), attention_square="3", mlp_square="0", layer=1))
    source = Source("noci2022", "section 3, in the uniform-attention model; derived here", _NOCI)
    for name, quantity, value, wrong, words, measured, is_common in (
        ("common_growth", common, ((1 + a) * (1 + m)) ** layer * C, (1 + a + m) ** layer * C,
         "E ||sum_k X_k||^2 after l layers is ((1 + a^2)(1 + a_2^2))^l times that of the input.", measured_by.common_norm, True),
        ("total_growth", total, (1 + m) ** layer * (N + C / n * ((1 + a) ** layer - 1)), ((1 + a) * (1 + m)) ** layer * N,
         "E ||X||_F^2 after l layers is (1 + a_2^2)^l (N_0 + C_0/n ((1 + a^2)^l - 1)).", measured_by.total_norm, False),
    ):
        yield Claim(
            key=_STEM + name, title=f"uniform attention: growth of the {'common part' if is_common else 'total norm'}",
            text="In layers X + a A X W_V with uniform attention, each followed by a linear branch of weight a_2, weights of variance 1/d, "
                  + words,
            statement=Eq(quantity, value), source=source, wording="derived", kind="identity", holds_for="all", measured=measured, note=_SIGNS,
            assumes=_OF_TOKENS,
            rests_on="induction over layers for the pair (C, N); prose: what one layer adds, from weights of mean zero and variance 1/d",
            proof=lambda st, is_common=is_common: measured_by.prove_moments(st, common=is_common),  # type: ignore[misc]
            grid={"quick": quick, "theory": more},
            control=Control(_case(_LINE, attention_square="4", mlp_square="1", layer=2), "another growth", statement=Eq(quantity, wrong)))


def _correlation_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    a, layer, n, rho = (symbol(x) for x in ("attention_square", "layer", "tokens", "correlation"))
    power = (1 + a) ** layer
    pair, triple = ((1, 0), (0, 1)), ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    return Claim(
        key=_STEM + "uniform_correlation", title="orthogonal tokens correlate under uniform attention",
        text="From orthogonal tokens of one norm, uniform attention with residuals gives correlation ((1 + a^2)^l - 1)/(n - 1 + (1 + "
              "a^2)^l) after l layers, in expectation; for a = 1 it tends to 1.",
        statement=Eq(rho, (power - 1) / (n - 1 + power)), source=Source("noci2022", "section 3; derived here", _NOCI), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.correlation, proof=measured_by.prove_correlation,
        assumes=_OF_TOKENS | {"tokens are orthogonal and of one norm": measured_by.orthogonal},
        rests_on="the pair (C, N) by induction, then algebra and a limit; prose: what one layer adds to the pair",
        grid={"quick": (*(_case(pair, attention_square=s, mlp_square="0", layer=k) for s in ("2", "1/2", "1/8") for k in (0, 1, 2, 3)),
                        _case(triple, attention_square="3", mlp_square="0", layer=1),
                        _case(((3, 0, 0), (0, -3, 0)), attention_square="3/4", mlp_square="0", layer=1)),
              "theory": (_case(triple, attention_square="3/4", mlp_square="0", layer=1),)},
        note=_SIGNS + " The ratio of the two expectations, not the expectation of the ratio.",
        control=Control(_case(pair, attention_square="2", mlp_square="0", layer=2), "without the tokens' own norm",
                       statement=Eq(rho, (power - 1) / power)))


def _limit_claim() -> Claim:
    from sympy import Eq, exp

    from ..glossary import symbol

    t2, n, rho = symbol("scaled_square"), symbol("tokens"), symbol("limit_correlation")
    return Claim(
        key=_STEM + "scaled_correlation_limit", title="residual scaling by 1/sqrt(L) stops the correlation below 1",
        text="With a = t/sqrt(L) the correlation of orthogonal tokens tends, as L grows, to (e^(t^2) - 1)/(n - 1 + e^(t^2)); for t = 1 "
              "that is (e - 1)/(n + e - 1). To nine decimals, rounded down.",
        statement=Eq(rho, nine_decimals((exp(t2) - 1) / (n - 1 + exp(t2)))), source=Source("noci2022", "section 3; derived here", _NOCI),
        wording="derived", kind="identity", holds_for="all", measured=measured_by.limit_correlation, proof=measured_by.prove_limit,
        rests_on="one limit for symbolic t^2, put into uniform_correlation; prose: the correlation is continuous in that power",
        grid={"quick": Case.grid(scaled_square=("1", "1/2", "4"), tokens=(2, 8, 128)),
              "theory": Case.grid(scaled_square=("1", "2", "25"), tokens=(3, 1024))},
        note="Measured at L = 2^100, whose correlation differs from the limit by less than 10^-25.",
        control=Control(Case(scaled_square="1", tokens=8), "a = 1: the correlation tends to 1", statement=Eq(rho, 1)))


def _kernel_claims() -> Iterator[Claim]:
    from sympy import Eq, Gt, acos, pi, sqrt

    from ..glossary import symbol

    c, source = symbol("cosine"), Source("giorlandino2026", "ReLU MLP", _GG)
    inside = {"-1 < c < 1": lambda case: -1 < case.rational("cosine") < 1}
    points = ("-99/100", "-1/2", "0", "1/5", "1/2", "4/5", "99/100", "9999/10000")
    digits = symbol("relu_kernel_digits")
    yield Claim(
        key=_STEM + "relu_kernel", title="the ReLU kernel in closed form",
        text="For standard Gaussians of correlation c, 2 E ReLU(u) ReLU(v) = (sqrt(1 - c^2) + c (pi - arccos c))/pi; to nine decimals, "
              "rounded down.",
        statement=Eq(digits, nine_decimals((sqrt(1 - c**2) + c * (pi - acos(c))) / pi)), source=source, wording="printed", kind="identity",
        holds_for="all", measured=measured_by.kernel_digits, proof=measured_by.prove_kernel, assumes=inside,
        rests_on="both integrals are symbolic; prose: a Gaussian pair in polar coordinates, and where both coordinates are positive",
        grid={"quick": Case.grid(cosine=points), "theory": Case.grid(cosine=[f"{k}/10" for k in (-9, -7, -3, -1, 1, 3, 6, 7, 9)])},
        control=Control(Case(cosine="1/2"), "the cosine itself", statement=Eq(digits, c)))
    value = symbol("relu_kernel")
    yield Claim(
        key=_STEM + "relu_kernel_above", title="a wide ReLU layer brings every two tokens closer",
        text="k(c) > c for every c in [-1, 1): in the limit of infinite width a He-initialised ReLU layer raises the cosine of any two vectors "
              "of different directions.",
        statement=Gt(value, c), source=Source("noci2022", "correlation under a ReLU branch; derived here", _NOCI), wording="derived",
        kind="lower", holds_for="all", measured=measured_by.kernel_value, proof=measured_by.prove_kernel_above,
        rests_on="the derivative is symbolic on the whole interval; prose: what falls strictly to 0 is positive before",
        assumes={"c < 1": lambda case: -1 <= case.rational("cosine") < 1},
        grid={"quick": Case.grid(cosine=points), "theory": Case.grid(cosine=("-1", "999999/1000000"))},
        note="Near c = 1 the gap closes as (1 - c)^(3/2), so samples alone could not decide the end of the interval; the proof does.",
        control=Control(Case(cosine="1/2"), "above 2c", statement=Gt(value, 2 * c)))


def _relu_branch_claim() -> Claim:
    from sympy import Gt

    from ..glossary import symbol

    growth, m = symbol("common_growth"), symbol("mlp_square")
    return Claim(
        key=_STEM + "relu_branch_common", title="a ReLU branch raises the common part by more than the total",
        text="A He-initialised ReLU branch of weight a_2 multiplies E ||sum_k X_k||^2 by more than 1 + a_2^2, its factor on E ||X||^2, "
              "unless all tokens point the same way.",
        statement=Gt(growth, 1 + m), source=Source("noci2022", "correlation under a ReLU branch; derived here", _NOCI), wording="derived",
        kind="lower", holds_for="all", measured=measured_by.relu_branch_growth,
        assumes=_OF_TOKENS | {"two tokens differ in direction": measured_by.directions_differ},
        grid={"quick": tuple(_case(t, mlp_square=s) for t in (_TWO, _THREE, ((1, 0), (0, 1)), ((50, 50), (50, 51))) for s in ("1", "1/24"))},
        control=Control(_case(_TWO, mlp_square="1"), "as much as twice the branch", statement=Gt(growth, 1 + 2 * m)),
        note="Exact at any width: the mean over Gaussian weights is a sum of values of the ReLU kernel.")


def _gradient_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    n, d, N, gram = (symbol(x) for x in ("tokens", "width", "total_start", "gram_square"))
    query, value, v, rho = (symbol(x) for x in ("query_gradient", "value_gradient", "token_variance", "start_correlation"))
    same, wide = ((1, 2), (1, 2), (1, 2)), ((1, 2, 0), (0, 1, -1))
    quick = tuple(map(_case, (_TWO, _THREE, _LINE, same)))
    yield Claim(
        key=_STEM + "query_gradient", title="query gradients vanish as tokens align",
        text="At W_Q = 0 with W_K and W_V of variance 1/d and logits over sqrt(d), E ||dS/dW_Q||^2 = ||X||^2 ||X_c^T X_c||^2/(n^2 d), "
              "X_c the centred tokens: it is zero when all tokens are equal.",
        statement=Eq(query, N * gram / (n**2 * d)), source=Source("noci2022", "vanishing query and key gradients; derived here", _NOCI),
        wording="derived", kind="identity", holds_for="all", measured=measured_by.query_gradient, note=_SIGNS, assumes=_OF_TOKENS,
        grid={"quick": quick, "theory": (_case(((2, 1), (0, 3), (1, 1), (-2, 5))), _case(((3,), (1,), (4,), (1,), (5,))))},
        control=Control(_case(_TWO), "not centred: ||X^T X||", statement=Eq(query, N * N**2 / (n**2 * d))))
    yield Claim(
        key=_STEM + "value_gradient", title="value gradients do not vanish",
        text="With uniform attention ||dS/dW_V||^2 = d^2 sigma_x^2 (1 + rho (n - 1)), which grows with the correlation rho of the tokens.",
        statement=Eq(value, d**2 * v * (1 + rho * (n - 1))), source=Source("noci2022", "value gradient; derived here", _NOCI),
        wording="derived", kind="identity", holds_for="all", measured=measured_by.value_gradient, assumes=_OF_TOKENS,
        grid={"quick": tuple(_spread(t) for t in (_TWO, _THREE, _LINE, same, wide)),
              "theory": (_spread(((2, 1, 0, 1), (0, 3, 1, 1), (1, 1, -1, -4))),)},
        control=Control(_spread(_TWO), "without the other tokens", statement=Eq(value, d**2 * v)))


def _first_layer_claim() -> Claim:
    from sympy import Eq, Piecewise, Rational

    from ..glossary import symbol

    rho, pre, gc = (symbol(x) for x in ("first_correlation", "pre_norm", "gain_controlled"))

    def table(post_plain: str) -> Eq:
        return Eq(rho, Piecewise((Rational("0.2047"), Eq(gc, 1)), (Rational("0.3363"), Eq(pre, 1)), (Rational(post_plain), True)))

    return Claim(
        key=_STEM + "reference_first_layer", title="correlation after one layer of the reference run",
        text="From q = 1, p = 0.2 with beta = 0.1, alpha = 1, sigma_v^2 = 1, sigma_w^2 = 0.2, sigma_b = 0.02 the correlation after the first "
              "layer, by the paper's maps of (q, p), is 0.3369 (post-LN), 0.3363 (pre-LN) and 0.2047 with gain-controlled attention, to four "
              "decimals.",
        statement=table("0.3369"), source=Source("giorlandino2026", "Fig. 4 notebook", _GG), wording="derived", kind="identity",
        holds_for="all", measured=measured_by.first_correlation, weight="arithmetic",
        grid={"quick": Case.grid(pre_norm=(False, True), gain_controlled=(False, True))},
        note="The maps are printed, the four values are ours. beta = 0.1 lies below beta_c = 1.58, so attention is uniform.",
        control=Control(Case(pre_norm=False, gain_controlled=False), "a third", statement=table("0.3333")))


def _participation_claim() -> Claim:
    from sympy import Eq, Integer, Max, sqrt

    from ..glossary import symbol

    y, p, beta = symbol("participation"), symbol("overlap"), symbol("sharpness")
    return Claim(
        key=_STEM + "condensed_attention", title="Poisson-Dirichlet attention condenses beyond beta_c",
        text="If the attention weights of many LayerNormed tokens (q = 1) have the Poisson-Dirichlet law of parameter beta_c/beta, with "
              "beta_c = sqrt(2/(1 - p)), then for beta > beta_c their mean sum of squares is 1 - beta_c/beta; at p = 0, beta = 2 that is "
              "1 - sqrt(2)/2 = 0.293. To nine decimals, rounded down; up to beta_c it is 0.",
        statement=Eq(y, nine_decimals(Max(Integer(0), 1 - sqrt(2 / (1 - p)) / beta))), source=Source("giorlandino2026", "beta_c and Y", _GG),
        wording="printed", kind="identity", holds_for="all", measured=measured_by.participation,
        assumes={"p < 1": lambda c: c.rational("overlap") < 1},
        grid={"quick": Case.grid(overlap=("0", "1/5", "1/2"), sharpness=("1/10", "2", "3", "7")),
              "theory": Case.grid(overlap=("-1/2", "9/10"), sharpness=("5", "100"))},
        note="Exponentials of many independent Gaussians have these weights in the limit; neither that limit theorem nor its use for the scores "
             "of attention is checked, and up to beta_c the 0 is taken as given. Finite numbers of tokens approach the limit slowly.",
        control=Control(Case(overlap="0", sharpness="2"), "beta_c = 1/sqrt(1 - p)",
                       statement=Eq(y, nine_decimals(Max(Integer(0), 1 - 1 / sqrt(1 - p) / beta)))))


def _contraction_claims() -> Iterator[Claim]:
    from sympy import Eq, sqrt

    from ..glossary import symbol

    a, m, s2, M, D = (symbol(x) for x in ("attention_square", "mlp_square", "weight_square", "activation_moment", "derivative_moment"))
    factor = symbol("contraction")
    note = "The paper's exact formulas are not available to us; q = 1, infinite width."
    yield Claim(
        key=_STEM + "attention_exponent", title="uniform attention contracts nearly equal tokens by 1 - a^2",
        text="At infinite width the block sqrt(1 - a^2) x + a Attn(LN x) with uniform attention multiplies 1 - p/q by 1 - a^2 when p is close "
              "to q: lambda = ln(1 - a^2).",
        statement=Eq(factor, 1 - a), source=Source("cowsik2024", "angle exponent; derived here", _COWSIK), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.attention_contraction, note=note,
        grid={"quick": Case.grid(attention_square=("1/10", "1/2", "9/10"), tokens=(2, 64))},
        control=Control(Case(attention_square="1/2", tokens=2), "the amplitude sqrt(1 - a^2)", statement=Eq(factor, sqrt(1 - a))))
    value = (1 - m + m * s2 * D) / (1 - m + m * M)

    def case(activation: str, square: str, weight: str, moment: str, slope: str) -> Case:
        return Case(activation=activation, mlp_square=square, weight_square=weight, activation_moment=moment, derivative_moment=slope)

    cases = tuple(case(*row) for row in (
        ("relu", "1/2", "2", "1", "1/2"), ("relu", "1/10", "1", "1/2", "1/2"), ("x^1", "1/2", "3", "3", "1"), ("x^2", "1/2", "1", "3", "4"),
        ("x^2", "1/10", "1/2", "3/4", "2"), ("x^3", "1/3", "1", "15", "27"), ("x^3", "1/3", "2", "120", "108"), ("x^4", "1/5", "1", "105", "240")))
    yield Claim(
        key=_STEM + "mlp_exponent", title="an MLP's exponent near equal tokens",
        text="At infinite width the block sqrt(1 - a^2) x + a MLP(LN x) with first-layer weights of standard deviation s/sqrt(d) multiplies "
              "1 - p/q by (1 - a^2 + a^2 s^2 E phi'(sz)^2)/(1 - a^2 + a^2 E phi(sz)^2) when p is close to q; for ReLU that is 1.",
        statement=Eq(factor, value), source=Source("cowsik2024", "angle exponent; derived here", _COWSIK), wording="derived", kind="identity",
        holds_for="all", measured=measured_by.mlp_contraction, proof=measured_by.prove_mlp_contraction, grid={"quick": cases},
        assumes={"the moments are those of the activation": measured_by.moments_of_activation},
        rests_on="one Hermite term and the ratio are symbolic; prose: Hermite polynomials are orthogonal, and the series may be differentiated",
        note=note + " For every phi with a Hermite series. A ReLU MLP is marginal at every weight scale: its exponent is 0.",
        control=Control(cases[3], "without the skip", statement=Eq(factor, s2 * D / M)))
