"""One attention layer, step by step: which constant the cubic law has without gamma, what heads and MLPs cost, and what is exact.

The proof of the cubic law writes the attention as P = 1 q^T plus a deviation that the softmax perturbation lemma bounds. The claims here
are the steps of that proof, as they hold and as they were written, and a bound for small logits that needs no gamma.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from ..claim import Case, Claim, Control, Source
from . import cubic_step_measured as measured_by

__all__ = ["claims", "gamma_free_constant", "pair_step"]

_V1, _V2 = "arXiv:2103.03404v1", "arXiv:2103.03404v2"
_HERE = "theory/rank_collapse/cubic_step.py, "
# Below the root of 2 e^M (e^M - 1)/M = 4; see the claim rank_collapse/gamma_free_range.
SMALL_LOGITS = Fraction(4563, 10000)


def gamma_free_constant(logit_max: float) -> float:
    """2 e^M (e^M - 1)/M: for all logits with |E_ij| <= M, |res(SA(X))| <= constant |E|_1 |R| |W_V|, with no factor gamma.

    Args:
        logit_max: M >= 0; the limit 2 at M = 0.

    Raises:
        ValueError: for a negative or non-finite M.

    >>> gamma_free_constant(0), gamma_free_constant(0.4563) < 4 < gamma_free_constant(0.4564)
    (2.0, True)

    Cost O(1). Reference: derived; see the claim rank_collapse/gamma_free_bound.
    """
    if not 0 <= logit_max < math.inf:
        raise ValueError(f"logit_max must be finite and not negative, got {logit_max}")
    return 2 * math.exp(logit_max) * (math.expm1(logit_max) / logit_max if logit_max else 1.0)


def pair_step(half: float, weight: float) -> float:
    """rho tanh(w rho^2): where one layer with W_V = 1 takes the first of two tokens rho, -rho of width one.

    >>> pair_step(1.0, 1.0) == math.tanh(1.0)
    True
    """
    return half * math.tanh(weight * half**2)


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _gamma_free_claims()
    yield _small_logits_claim()
    yield _pair_claim()
    yield from _signed_claims()
    yield _chain_claim()
    yield _heads_claim()
    yield _mlp_claim()
    yield _gradient_claim()


def _layers(sizes: Iterable[str], shapes: Iterable[tuple[int, int]]) -> tuple[Case, ...]:
    return tuple(Case(tokens=n, width=d, residual="1", qk_norm="1", value_norm="1", qk_width=1, bias=bias, logit_max=M)
                 for n, d in shapes for M in sizes for bias in (0, 1))


def _gamma_free_claims() -> Iterator[Claim]:
    from sympy import Eq, Le, exp

    from ..glossary import symbol

    M, ratio, digits = symbol("logit_max"), symbol("gamma_free_ratio"), symbol("gamma_free_digits")
    cases = _layers(("1/1000", "1/2", "3"), ((2, 1), (6, 3)))
    yield Claim(
        key="rank_collapse/gamma_free_bound", title="one layer without gamma: constant 2 e^M (e^M - 1)/M",
        text="For every input, head and bias with |E_ij| <= M for all i, j, the residual after a softmax attention layer is at most "
              "2 e^M ((e^M - 1)/M) |E|_1 |R| |W_V|, with E = R W_QK R^T / sqrt(d_qk).",
        statement=Le(ratio, 2 * exp(M) * (exp(M) - 1) / M), source=Source("depthlaw", _HERE + "one layer without gamma"),
        wording="derived", kind="upper", holds_for="all", measured=measured_by.gamma_free_ratio, proof=measured_by.prove_gamma_free,
        rests_on="Argument. Prose: |P - 1 q^T| bounded entry by entry, then the column and row sums of that bound times |R|, then |W_V|.",
        grid={"quick": cases, "theory": _layers(("1/10", "2"), ((12, 5), (4, 8)))},
        note="Repairs version 1 of the theorem for small logits; gamma is an artefact of the proof there.",
        control=Control(cases[0], "a tenth of the constant", statement=Le(ratio, exp(M) * (exp(M) - 1) / M / 5)))
    yield Claim(
        key="rank_collapse/gamma_free_range", title="the gamma-free constant is at most 4 up to M = 0.4563239156",
        text="For M > 0, 2 e^M (e^M - 1)/M <= 4 exactly when M is at most a number that begins with 0.4563239156; the constant tends to 2 "
              "as M tends to 0.",
        statement=Eq(digits, 4563239156), source=Source("depthlaw", _HERE + "one layer without gamma"), wording="derived", kind="identity",
        holds_for="all", measured=measured_by.gamma_free_digits, proof=measured_by.prove_digits,
        rests_on="Argument. Prose: a convex gap that is zero and falls at 0 has one positive root; its signs beside the digits are enclosed.",
        grid={"quick": (Case(interval="(0, 1]"),)},
        control=Control(Case(interval="(0, 1]"), "the last digit off by one", statement=Eq(digits, 4563239157)))


def _small_logits_claim() -> Claim:
    from sympy import Le, Rational, sqrt

    from ..glossary import symbol
    from .measured import residual_after_one_layer

    r, qk, value, width, after = (symbol(name) for name in ("residual", "qk_norm", "value_norm", "qk_width", "residual_next"))
    cubic = 4 * qk * value / sqrt(width) * r**3
    cases = tuple(Case(tokens=n, width=d, residual=size, qk_norm=w, value_norm="1", qk_width=1, bias=bias) for n, d in ((2, 1), (6, 4))
                  for size, w in (("1/1000", "1"), ("1/2", "9/5"), ("30", "1/2000")) for bias in (0, 1))
    return Claim(
        key="rank_collapse/one_layer_small_logits", title="version 1's cubic bound, for small logits",
        text="For every input and one head with |W_QK|_1 r_0^2 <= 0.4563 sqrt(d_qk), the residual after a softmax attention layer is at "
              "most 4 |W_QK|_1 |W_V| / sqrt(d_qk) times the cube of the residual before it: no gamma.",
        statement=Le(after, cubic), source=Source("dong2021", "one-layer, one-head lemma, small logits", _V1), wording="derived",
        kind="upper", holds_for="all", assumes={"|W_QK|_1 r_0^2 <= 0.4563 sqrt(d_qk), so that |E_ij| <= 0.4563": _small_logits},
        measured=lambda c, s: residual_after_one_layer(c, s, per_gamma=False), proof=measured_by.prove_small_logits,
        rests_on="Argument: gamma_free_bound at M = 0.4563. Prose: max |E_ij| <= |E|_1 <= |W_QK|_1 r_0^2 / sqrt(d_qk) <= M, and its joints.",
        grid={"quick": cases}, note="Beyond that range the statement of version 1 has neither an argument nor a counterexample: see "
                                    "one_layer_cubic_v1.",
        control=Control(cases[0], "0.4 in place of 4", statement=Le(after, Rational(1, 10) * cubic)))


def _small_logits(case: Case) -> bool:
    # A fact of the construction: `measured.instance` scales the weights and the tokens to exactly the norms of the case.
    return bool((case.rational("qk_norm") * case.rational("residual") ** 2) ** 2 <= SMALL_LOGITS**2 * case.qk_width)


def _pair_claim() -> Claim:
    from sympy import Eq, floor, sinh, tanh

    from ..glossary import symbol

    rho, w, digits = symbol("pair_half"), symbol("qk_weight"), symbol("pair_digits")
    cases = Case.grid(pair_half=("1/100", "1/3", "2"), qk_weight=("1/7", "1", "3"))
    return Claim(
        key="rank_collapse/pair_tanh", title="two opposite tokens: rho becomes rho tanh(w rho^2)",
        text="For all rho, w > 0, one attention layer of width one with W_QK = w and W_V = 1 takes the tokens rho, -rho to x, -x with "
              "x = rho tanh(w rho^2); the statement compares floor(10^12 x).",
        statement=Eq(digits, floor(10**12 * rho * tanh(w * rho**2))), source=Source("depthlaw", _HERE + "two tokens"), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.pair_digits, proof=measured_by.prove_pair,
        rests_on="Argument: the layer on both tokens is computed in symbols, for all rho and w.",
        grid={"quick": cases, "theory": Case.grid(pair_half=("1/1000", "7/5"), qk_weight=("1/50", "11/10"))},
        note="For small logits it is w rho^3, an eighth of what the constant 4 allows for this pair (residual sqrt(2) rho).",
        control=Control(cases[3], "sinh in place of tanh", statement=Eq(digits, floor(10**12 * rho * sinh(w * rho**2).rewrite("exp")))))


def _signed_claims() -> Iterator[Claim]:
    from sympy import Le

    from ..glossary import symbol
    from .measured import LARGEST_RANGE

    ratio, excess = symbol("signed_ratio"), symbol("signed_excess")
    # A fact of the construction: `measured.softmax_instance` scales E so that its largest row range is the case's.
    small: dict[str, Callable[[Case], bool]] = {"0 < D_ii <= 1.256": lambda c: 0 < c.rational("range") <= LARGEST_RANGE}
    cases = (Case(instance="two tokens", range="157/125"), Case(instance="two tokens", range="1/1000"),
             *Case.grid(instance="random", range=("1/2", "157/125"), tokens=(3, 8)))
    yield Claim(
        key="rank_collapse/signed_step", title="the softmax lemma times a signed matrix, repaired",
        text="For all logits A, E with row ranges D_ii <= 1.256 and every matrix R, entrywise |(P - Q) R| <= 2 D Q |R| with P = "
              "softmax(A) and Q = softmax(A - E).",
        statement=Le(ratio, 2), source=Source("depthlaw", _HERE + "signed step"), wording="derived", kind="upper", holds_for="all",
        assumes=small, measured=measured_by.signed_ratio, proof=measured_by.prove_signed,
        rests_on="Argument. Prose: both sides of the softmax lemma give |P - Q| <= 2 D Q; then the triangle inequality in each entry of (P - Q) R.",
        grid={"quick": cases, "theory": Case.grid(instance="random", range=("1", "157/125"), tokens=(12, 24))},
        note="|R| has the norms of R, so the repair costs nothing. Two tokens come within 0.03 % of the constant.",
        control=Control(Case(instance="two tokens", range="13/10"), "D = 1.3 is beyond the root 1.2564 of e^x = 1 + 2x"))
    written = (Case(instance="two tokens", range="1/1000"), Case(instance="two tokens", range="1/1000", direction=1),
               Case(instance="random", range="1/2", tokens=3))
    yield Claim(
        key="rank_collapse/signed_step_as_written", title="the softmax lemma times a signed matrix, as written",
        text="For all logits A, E with row ranges D_ii <= 1.256 and every matrix R, entrywise P R <= (I + 2D) Q R.",
        statement=Le(excess, 0), source=Source("dong2021", "proof of the one-layer lemma", _V2), wording="reported", kind="upper",
        holds_for="all", assumes=small, measured=measured_by.signed_excess, known="FAILS", weight="step", grid={"quick": written},
        note="An entrywise inequality may not be multiplied by a matrix with negative entries: R = -e_1 turns it round. The norms that the "
             "proof needs survive, see signed_step. The step stands in a restatement of the proof; the paper itself was not read.",
        control=Control(written[2], "at most minus 100", statement=Le(excess, -100)))


def _chain_claim() -> Claim:
    from sympy import Le, Rational

    from ..glossary import symbol

    ratio = symbol("chain_ratio")
    cases = _layers(("1/1000", "1/2", "157/250"), ((2, 1), (6, 3)))
    return Claim(
        key="rank_collapse/residual_chain", title="residual after a layer, from the row ranges of the logits",
        text="For every input and one head whose logit ranges D_ii are at most 1.256, |res(SA(X))| <= 2 sqrt(|D1|_1 |D1|_inf) |R| |W_V|.",
        statement=Le(ratio, 2), source=Source("dong2021", "proof of the one-layer lemma, first chain", _V2), wording="reported",
        kind="upper", holds_for="all",
        # A fact of the construction: `_scaled_layer` scales W_QK so that max |E_ij| is the case's.
        assumes={"2 max |E_ij| <= 1.256, so that D_ii <= 1.256": lambda c: 2 * c.rational("logit_max") <= Fraction(157, 125)},
        measured=measured_by.chain_ratio, proof=measured_by.prove_chain,
        rests_on="Argument. Prose: logits are 1 r^T + E up to constants per row; 1 q^T R W_V is one of the centres; norms factor by factor.",
        grid={"quick": cases, "theory": _layers(("1/4",), ((12, 5), (4, 8)))},
        control=Control(cases[0], "a twentieth of the constant", statement=Le(ratio, Rational(1, 10))))


def _heads_claim() -> Claim:
    from sympy import Le

    from ..glossary import symbol

    ratio = symbol("head_sum_ratio")
    cases = (Case(instance="identity/identity", tokens=16, balance="1/10"),
             Case(instance="both signs/both signs", tokens=4, balance="1/10"),
             Case(instance="identity/both signs", tokens=16, balance="1/10"))
    return Claim(
        key="rank_collapse/heads_common_gamma", title="one gamma for all heads in the sum over heads",
        text="When g_h g'_h <= gamma^2 for every head, with g_h = |D1|_1 / (2 |E|_1) and g'_h = |D1|_inf / (2 |E|_1), then "
              "sum_h g_h a_h sum_h g'_h b_h <= gamma^2 sum_h a_h sum_h b_h for all a_h, b_h > 0.",
        statement=Le(ratio, 1), source=Source("depthlaw", _HERE + "one gamma for all heads, after dong2021, Theorem 2.3"),
        wording="derived", kind="upper", holds_for="all", measured=measured_by.head_sum_ratio, known="FAILS", weight="step", grid={"quick": cases},
        note="A step that suggests itself for the sum over heads, not one of the paper. False: gamma bounds only the product g_h g'_h, and "
             "heads whose value matrices favour different norms pair the largest g with the largest g'. The step needs both factors per "
             "head, as in layers_product, or one bound for each of g and g'. The "
             "multi-head theorem itself is not refuted by this.",
        control=Control(cases[0], "half", statement=Le(2 * ratio, 1)))


def _mlp_claim() -> Claim:
    from sympy import Le, Rational, log, sqrt

    from ..glossary import symbol
    from .measured import last_residual

    names = ("depth", "heads", "qk_width", "residual", "beta", "gamma", "lipschitz", "residual_end")
    L, H, width, r, beta, gamma, lam, end = (symbol(name) for name in names)

    def bound(constant: object) -> object:
        return Le(log(end), (3**L - 1) / 2 * log(constant * gamma * beta * H * lam / sqrt(width)) + 3**L * log(r))

    shapes = ((2, 1, 1, "5/7"), (6, 2, 2, "5/2"))
    quick = tuple(Case(tokens=n, width=d, heads=h, gamma=g, residual=r, beta=b, lipschitz=lam, qk_width=1, depth=k)
                  for n, d, h, g in shapes for r, b, lam in (("1/1000", "100", "9"), ("1", "1/2", "1/3"), ("100", "1/20000", "3/2"))
                  for k in (1, 2, 3))
    return Claim(
        key="rank_collapse/mlp_lipschitz", title="a Lipschitz MLP after attention multiplies the base by lambda",
        text="For every network of L layers, each attention with H heads and then a map that is lambda-Lipschitz in the composite norm, "
              "and every input with logit ranges at most 1.256 and computed gamma at most gamma in each layer and head, the residual is at "
              "most (4 gamma beta H lambda / sqrt(d_qk))^((3^L-1)/2) times the 3^L-th power of the input's.",
        statement=bound(4), source=Source("dong2021", "Corollary 3.2", _V2), wording="reported", kind="upper", holds_for="all",
        measured=last_residual, grid={"quick": quick}, note="Measured with lambda (x + sin x)/2 on every entry. As for layers_uniform, the "
        "small logits that the lemma needs are an added condition, computed on the network that is drawn like gamma, and the sum over heads "
        "is not covered by the reported proof.",
        control=Control(quick[0], "0.4 in place of 4", statement=bound(Rational(2, 5))))


def _gradient_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    count = symbol("nonzero_gradients")
    cases = Case.grid(instance="collapsed", tokens=(2, 5), width=(1, 3))
    return Claim(
        key="rank_collapse/zero_query_key_gradient", title="collapsed tokens give queries and keys no gradient",
        text="At X = 1 x^T every derivative of a softmax attention layer's output in an entry of W_Q or W_K is zero, for all weights.",
        statement=Eq(count, 0), source=Source("noci2022", "vanishing query/key gradients, at exact rank collapse", "arXiv:2206.03126"),
        wording="reported", kind="identity", holds_for="all", measured=measured_by.nonzero_gradients, proof=measured_by.prove_gradient,
        grid={"quick": cases, "theory": (Case(instance="collapsed", tokens=8, width=4),)},
        assumes={"all tokens are equal": lambda c: c.instance == "collapsed"},
        rests_on="Argument: the derivative in a logit is computed for a symbolic number of tokens. Prose: the chain rule through the logits.",
        note="The paper's statement is about expected gradients at initialisation; this is its exact case, and says nothing on W_V.",
        control=Control(Case(instance="generic", tokens=3, width=2), "tokens that differ"))
