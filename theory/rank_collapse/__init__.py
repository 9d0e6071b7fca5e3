"""Rank collapse: a layer of pure softmax attention cubes the residual, so the tokens become equal doubly exponentially with depth."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..claim import Ball, Case, Claim, Control, Source
from .cubic_step_measured import prove_one_layer, prove_product_form
from .measured import (
    LARGEST_RANGE,
    WELL_CONDITIONED,
    around_slope,
    cubic_recurrence,
    halving_slope,
    last_residual,
    prove_recurrence,
    prove_root,
    prove_softmax,
    residual_after_one_layer,
    rounded_decimal,
    scaled_residual,
    softmax_ratio,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sympy.core.relational import Relational

__all__ = [
    "LARGEST_RANGE", "claims", "collapses", "layers_bound", "log_coefficient", "one_layer_bound", "product_bound", "softmax_constant",
]

# --- formulas ---


def softmax_constant() -> Ball:
    """The positive root of e^x = 1 + 2x, enclosed to 40 digits; e^x <= 1 + 2x exactly on [0, x*].

    In closed form x* = -1/2 - W_{-1}(-e^{-1/2} / 2) with Lambert's W; here it is enclosed by bisection, without that formula.

    >>> round(float(softmax_constant().low), 11)
    1.25643120863

    Cost O(1). Reference: Dong et al. 2021, appendix (printed there as 1.256, as reported).
    """
    import flint

    from ..exact.enclosure import from_fraction

    low, high = Fraction(1), Fraction(2)
    with flint.ctx.workprec(192):
        while high - low > Fraction(1, 10**40):
            x = (low + high) / 2
            below = bool(from_fraction(x).exp() < from_fraction(1 + 2 * x))
            low, high = (x, high) if below else (low, x)
    return Ball(low, high)


def log_coefficient(qk_norm: ArrayLike, value_norm: ArrayLike, qk_width: ArrayLike = 1, *,
                    heads: ArrayLike = 1, gamma: ArrayLike = 1) -> NDArray[Any]:
    """The logarithm of c = 4 gamma H ||W_QK||_1 ||W_V||_{1,inf} / sqrt(d_qk).

    For every input with logit ranges at most 1.256 the residual after a layer is at most c r^3.

    Args:
        qk_norm, value_norm: ||W_QK||_1 and ||W_V W_O^T||_{1,inf}, or their product beta and 1; arrays broadcast.
        qk_width: d_qk.
        heads: H.
        gamma: 1 for version 1 of the paper, whose proof has a gap there; at most sqrt(tokens), see `softmax_attention.gamma`.

    Returns:
        natural logarithms; -inf where a norm is zero.

    Raises:
        ValueError: for negative or non-finite input, or a width or head count below 1.

    >>> round(float(log_coefficient(1, 1, 16)), 12)
    0.0

    Cost O(1) per entry. Reference: Dong et al. 2021, Theorem 2.3, versions 1 and 2 (as reported).
    """
    factors = [np.asarray(f, dtype=float) for f in (qk_norm, value_norm, gamma)]
    counts = [np.asarray(f, dtype=float) for f in (heads, qk_width)]
    if any(not np.isfinite(f).all() or (f < 0).any() for f in factors) or any(not np.isfinite(f).all() or (f < 1).any() for f in counts):
        raise ValueError("norms and gamma must be finite and not negative, heads and qk_width at least 1")
    with np.errstate(divide="ignore"):
        return np.asarray(math.log(4) + sum(np.log(f) for f in factors) + np.log(counts[0]) - np.log(counts[1]) / 2)


def one_layer_bound(log_residual: ArrayLike, log_c: ArrayLike) -> NDArray[Any]:
    """The logarithm of the bound c r^3 on the residual after one layer; `layers_bound` at depth 1.

    >>> float(one_layer_bound(-2.0, 0.5))
    -5.5
    """
    return layers_bound(log_residual, log_c, 1)


def layers_bound(log_residual: ArrayLike, log_c: ArrayLike, depth: ArrayLike) -> NDArray[Any]:
    """The logarithm of c^((3^L - 1)/2) r_0^(3^L), the bound on the residual after L layers that keep logit ranges below 1.256.

    Args:
        log_residual: log r_0; -inf for tokens that are all equal.
        log_c: from `log_coefficient`, with one c that serves all layers.
        depth: L >= 0; arrays broadcast.

    Returns:
        natural logarithms; depth 0 gives log_residual. Finite at L = 200 although the bound itself is not a float.

    Raises:
        ValueError: for a depth that is negative or not a whole number, or input that is nan or +inf.

    >>> layers_bound(math.log(0.1), math.log(4.0), [0, 1, 2]).round(4).tolist()
    [-2.3026, -5.5215, -15.1781]

    Cost O(1) per entry. Reference: Dong et al. 2021, Theorems 2.2 and 2.3 (as reported).
    """
    r, c, L = (np.asarray(a, dtype=float) for a in (log_residual, log_c, depth))
    if (L < 0).any() or (np.floor(L) != L).any() or not np.isfinite(L).all():
        raise ValueError("depth must be a whole number of layers, at least 0")
    if any(np.isnan(a).any() or (a == np.inf).any() for a in (r, c)):
        raise ValueError("log_residual and log_c must be numbers or -inf; give logarithms, not the values")
    exponent = np.power(3.0, L)
    # 0 * -inf would be nan: at depth 0 the coefficient has no say.
    return np.asarray(np.where(L == 0, 0.0, (exponent - 1) / 2) * np.where(L == 0, 0.0, c) + exponent * r)


def product_bound(log_residual: float, log_cs: Iterable[float]) -> float:
    """The logarithm of prod_l c_l^(3^(L-l)) r_0^(3^L): the bound on the residual with one coefficient per layer, first layer first.

    >>> product_bound(-1.0, [0.5, 0.5]) == float(layers_bound(-1.0, 0.5, 2))
    True
    >>> product_bound(-1.0, [])
    -1.0
    """
    for log_c in log_cs:
        log_residual = log_c + 3 * log_residual
    return log_residual


def collapses(log_residual: ArrayLike, log_c: ArrayLike) -> NDArray[np.bool_]:
    """Whether sqrt(c) r_0 < 1, which makes the bound go to 0 with depth.

    The condition c < 1 (printed as 4 gamma beta H < sqrt(d_qk)) is neither enough nor needed.

    >>> collapses([math.log(0.1), math.log(10)], [math.log(4), math.log(0.5)]).tolist()
    [True, False]
    """
    return np.asarray(np.asarray(log_residual, dtype=float) + np.asarray(log_c, dtype=float) / 2 < 0)


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _softmax_claims()
    yield _softmax_constant_claim()
    yield from _one_layer_claims()
    yield _product_claim()
    yield _uniform_claim()
    yield _convergence_claim()
    yield from _recurrence_claims()
    yield _bert_claim()
    from . import (
        clustering,
        cubic_step,
        masked_attention,
        random_attention,
    )

    for topic in (cubic_step, masked_attention, clustering,
                  random_attention):
        yield from getattr(topic, "claims", tuple)()


V1, V2 = "arXiv:2103.03404v1", "arXiv:2103.03404v2"
SMALL_RANGE = "2 |W_QK|_1 r_0^2 <= 1.256 sqrt(d_qk), so that the logits range over at most 1.256"
CENTRE = "The residual is the minimum over centres; inputs are chosen so that the token mean attains it."


def _small_range(case: Case) -> bool:
    # A fact of the construction: `instance` scales the weights and the tokens to exactly the norms of the case; then see logit_range_chain.
    return (2 * case.rational("qk_norm") * case.rational("residual") ** 2) ** 2 <= LARGEST_RANGE**2 * case.get("qk_width", 1)


def _softmax_claims() -> Iterator[Claim]:
    from sympy import Le, Rational

    from ..glossary import symbol

    excess, shortfall = symbol("softmax_excess"), symbol("softmax_shortfall")
    cases = (Case(instance="two tokens", range="157/125"), Case(instance="two tokens", range="1/1000"),
             *Case.grid(instance="random", range=("1/2", "157/125"), tokens=(3, 8)))
    source = Source("dong2021", "appendix, softmax perturbation lemma", V2)
    more = Case.grid(instance="random", range=("1", "157/125"), tokens=(16, 32))
    # A fact of the construction: `softmax_instance` scales E so that its largest row range is the case's.
    condition: dict[str, Callable[[Case], bool]] = {"0 < D_ii <= 1.256": lambda c: 0 < c.rational("range") <= LARGEST_RANGE}
    upper = Le(excess, 2)
    yield Claim(
        key="rank_collapse/softmax_perturbation", title="small logit changes move softmax by at most 1 + 2D",
        text="For all logits A and E with D_ii = max_j E_ij - min_j E_ij <= 1.256 in every row, entrywise "
              "softmax(A) <= (I + 2D) softmax(A - E).",
        statement=upper, source=source, wording="reported", kind="upper", holds_for="all", assumes=condition,
        measured=lambda c, s: softmax_ratio(c, 1), grid={"quick": cases, "theory": more}, proof=lambda st: prove_softmax(st, 1),
        rests_on="Argument. Prose: P/Q is e^E over its mean under Q, so at most e^D; a concave gap that is >= 0 at both ends is >= 0 between.",
        control=Control(Case(instance="two tokens", range="13/10"), "D = 1.3 is beyond the root 1.2564 of e^x = 1 + 2x"))
    yield Claim(
        key="rank_collapse/softmax_perturbation_below", title="small logit changes move softmax by at least 1 - D",
        text="For all logits A and E, entrywise softmax(A) >= (I - D) softmax(A - E) with D_ii = max_j E_ij - min_j E_ij.",
        statement=Le(shortfall, 1), source=source, wording="reported", kind="upper", holds_for="all",
        assumes={"0 < D_ii": lambda c: c.rational("range") > 0},
        measured=lambda c, s: softmax_ratio(c, -1), grid={"quick": (*cases, Case(instance="two tokens", range="4")), "theory": more},
        proof=lambda st: prove_softmax(st, -1),
        rests_on="Argument. Prose: P/Q is e^E over its mean under Q, so at least e^-D; a convex gap that is zero and flat at 0 is >= 0.",
        note="Stated in the lemma for D <= 1.256 like the upper side, but needs no such condition.",
        control=Control(Case(instance="two tokens", range="1/1000"), "0.9 in place of 1", statement=Le(shortfall, Rational(9, 10))))


def _softmax_constant_claim() -> Claim:
    from sympy import Eq, Rational

    from ..glossary import symbol

    root = symbol("softmax_root")
    decimals = Eq(root, Rational("1.25643120863"))
    return Claim(
        key="rank_collapse/softmax_constant", title="where 1 + 2x stops bounding e^x",
        text="The positive root of e^x = 1 + 2x is 1.25643120863 to eleven decimals, and e^x <= 1 + 2x on the whole interval "
              "from 0 to it.",
        statement=decimals, source=Source("dong2021", "appendix, the constant 1.256", V2), wording="derived", kind="identity",
        holds_for="all",
        measured=lambda c, s: softmax_constant(), predicted=lambda st, c: rounded_decimal(st), proof=prove_root,
        rests_on="Argument. Prose: a concave gap that is zero at 0 has one positive root; its signs at both ends of the rounding are enclosed.",
        grid={"quick": (Case(decimals=11),)}, note="The paper's 1.256 (as reported) is this root, cut after three decimals.",
        control=Control(Case(decimals=11), "the tenth decimal off by one", statement=Eq(root, Rational("1.25643120873"))))


def _one_layer_claims() -> Iterator[Claim]:
    from sympy import Le, Rational, sqrt

    from ..glossary import symbol

    r, qk, value, width = (symbol(name) for name in ("residual", "qk_norm", "value_norm", "qk_width"))

    def grid(shapes: Iterable[tuple[int, int]], qk_width: int = 1) -> tuple[Case, ...]:
        return tuple(Case(tokens=n, width=d, residual=r, qk_norm=q, value_norm="1", qk_width=qk_width, bias=bias)
                     for n, d in shapes for r, q in SIZES for bias in (0, 1))

    pair = Case(tokens=2, width=1, residual="1/1000", qk_norm="1", value_norm="1", qk_width=1, bias=0)
    cubic = 4 * qk * value / sqrt(width) * r**3
    for name, left, version, gamma, meaning, proof, rests_on, measured, note in (
        ("one_layer_cubic", symbol("residual_per_gamma"), V2, "4 gamma", ", with gamma = sqrt(|D1|_1 |D1|_inf) / (2 |E|_1) of its logits",
         prove_one_layer,
         "Argument: residual_chain with |D1|_1 |D1|_inf = (2 gamma |E|_1)^2. Prose: the joints of that claim; |E|_1 <= |W_QK|_1 |R|^2 / sqrt(d_qk).",
         lambda c, s: residual_after_one_layer(c, s, per_gamma=True),
         "gamma is the value that the proof needs; the paper's wording of it is not available to us. "),
        ("one_layer_cubic_v1", symbol("residual_next"), V1, "4", "", None, "",
         lambda c, s: residual_after_one_layer(c, s, per_gamma=False),
         "The proof of version 1 (as reported) has a gap: it needs |D1|_1 <= 2 |E|_1, which E = I refutes for n >= 3. No counterexample to "
         "the statement is known; for small logits there is an argument, see one_layer_small_logits. "),
    ):
        yield Claim(
            key=f"rank_collapse/{name}", title=f"one attention layer cubes the residual, constant {gamma}",
            text="For every input whose logits range over at most 1.256 and one head, the residual after a softmax attention layer is at "
                  f"most {gamma} |W_QK|_1 |W_V|_(1,inf) / sqrt(d_qk) times the cube of the residual before it{meaning}.",
            statement=Le(left, cubic), source=Source("dong2021", "one-layer, one-head lemma", version), wording="reported", kind="upper",
            holds_for="all", assumes={SMALL_RANGE: _small_range}, note=note + CENTRE,
            measured=measured, proof=proof, rests_on=rests_on,
            grid={"quick": grid([(2, 1), (4, 3), (8, 4)]), "theory": grid([(16, 8), (6, 12)]) + grid([(4, 4)], qk_width=4)},
            control=Control(pair, "0.4 in place of 4", statement=Le(left, Rational(1, 10) * cubic)))


def _deep_cases(depths: Iterable[int], sizes: Iterable[tuple[str, str]]) -> tuple[Case, ...]:
    """Two tokens, for which the bounds are tightest, and two larger shapes; gamma is above what these instances have, or they are outside."""
    shapes = ((2, 1, 1, "5/7"), (4, 3, 2, "2"), (6, 2, 1, "5/2"))
    return tuple(Case(tokens=n, width=d, heads=h, gamma=g, residual=r, beta=b, qk_width=1, depth=k)
                 for n, d, h, g in shapes for r, b in sizes for k in depths)


# Small, unit and large residuals: a wrong exponent of r_0 shows at the ends, a wrong constant everywhere.
SIZES = (("1/1000", "100"), ("1", "1/2"), ("100", "1/20000"))


def _product_claim() -> Claim:
    from sympy import Le, Rational, log

    from ..glossary import symbol

    L, r, scaled = symbol("depth"), symbol("residual"), symbol("residual_scaled")

    def product(constant: Any) -> Relational:
        return Le(log(scaled), (3**L - 1) / 2 * log(constant) + 3**L * log(r))

    quick = _deep_cases((1, 2, 3), SIZES)
    return Claim(
        key="rank_collapse/layers_product", title="residual after L layers, with a coefficient per layer",
        text="For every network of L attention layers and every input whose logits range over at most 1.256 in each layer, the residual "
              "is at most prod_l (4 k_l)^(3^(L-l)) times the 3^L-th power of the input's, with "
              "k_l = sqrt(sum_h g_h a_h sum_h g'_h b_h) / sqrt(d_qk).",
        statement=product(4), source=Source("dong2021", "Theorem 2.3, repaired", V2), wording="derived", kind="upper", holds_for="all",
        measured=scaled_residual, proof=prove_product_form, grid={"quick": quick, "theory": _deep_cases((4, 5), SIZES[:2])},
        rests_on="Argument: induction on L. Prose: residual_chain per head; |.|_1 and |.|_inf each add over heads before the root of their product.",
        note="a_h = |W_QK|_1 |W_V|_1, b_h = |W_QK|_1 |W_V|_inf, g_h = |D1|_1 / (2|E|_1), g'_h = |D1|_inf / (2|E|_1). The composite "
             "norm has no triangle inequality, so heads are added inside its two factors. The logit ranges are computed on the network that "
             "is drawn; one beyond 1.256 is out of scope. " + CENTRE,
        control=Control(quick[0], "0.4 in place of 4", statement=product(Rational(2, 5))))


def _uniform_claim() -> Claim:
    from sympy import Le, Rational, log, sqrt

    from ..glossary import symbol

    names = ("depth", "heads", "qk_width", "residual", "beta", "gamma", "residual_end")
    L, H, width, r, beta, gamma, end = (symbol(name) for name in names)

    def uniform(constant: Any) -> Relational:
        return Le(log(end), (3**L - 1) / 2 * log(constant * gamma * beta * H / sqrt(width)) + 3**L * log(r))

    quick = _deep_cases((1, 2, 3), SIZES)
    return Claim(
        key="rank_collapse/layers_uniform", title="residual after L layers is at most a 3^L-th power",
        text="For every network of L attention layers with H heads and |W_QK|_1 |W_V|_(1,inf) <= beta in each, and every input with "
              "logit ranges at most 1.256 and computed gamma at most gamma in each layer and head, the residual after L layers is at most "
              "(4 gamma beta H / sqrt(d_qk))^((3^L-1)/2) times the 3^L-th power of the input's residual.",
        statement=uniform(4), source=Source("dong2021", "Theorems 2.2 and 2.3", V2), wording="reported", kind="upper", holds_for="all",
        measured=last_residual, grid={"quick": quick, "theory": _deep_cases((4, 5), SIZES[:2])},
        note="The paper's proof (as reported) adds heads by a triangle inequality that the composite norm lacks; no counterexample is known, "
             "and with one head it follows from layers_product. The smallness of the logits is needed by its lemma but missing from every "
             "restatement. Logit ranges and gamma are computed on the network that is drawn; one that exceeds 1.256 or the stated gamma is out "
             "of scope. " + CENTRE,
        control=Control(quick[0], "0.4 in place of 4", statement=uniform(Rational(2, 5))))


def _convergence_claim() -> Claim:
    from sympy import Le

    from ..glossary import symbol

    end, r = symbol("residual_end"), symbol("residual")
    below = {"4 gamma beta H < sqrt(d_qk)": lambda c: (4 * c.rational("gamma") * c.rational("beta") * c.heads) ** 2 < c.qk_width}
    return Claim(
        key="rank_collapse/convergence_as_reported", title="4 gamma beta H < sqrt(d_qk) forces collapse",
        text="Whenever 4 gamma beta H < sqrt(d_qk), the residual after L layers is at most that of the input, for every input.",
        statement=Le(end, r), source=Source("dong2021", "remark after Theorem 2.3", V2), wording="universal", kind="upper", holds_for="all",
        measured=lambda c, s: last_residual(c, s, any_range=True), known="FAILS", assumes=below,
        grid={"quick": Case.grid(tokens=2, width=1, heads=1, gamma="5/7", residual=("1", "100"), beta="1/10", value_norm="2000",
                                 qk_width=1, depth=(1, 2))},
        note='The sentence, as reported: convergence is guaranteed "when 4 gamma beta H < sqrt(d_qk)". "For every input" is ours: from memory '
             "the paper speaks of inputs of small residual, and for r_0 <= 1 nothing here contradicts it. Large inputs refute the hardened "
             "form, even with logits that range over 1/2 in the first layer: two tokens at +-70.7, W_QK = 1/20000, W_V = 2000, which layers "
             "of such weights take apart by 2000 tanh(w rho^2) each, as in pair_tanh. "
             "Collapse needs sqrt(c) r_0 < 1 with c = 4 gamma beta H / sqrt(d_qk), see collapse_condition.",
        control=Control(Case(tokens=2, width=1, heads=1, gamma="5/7", residual="1", beta="1/10", value_norm="2000", qk_width=1, depth=1),
                       "a thousand times smaller", statement=Le(end, r / 1000)))


def _recurrence_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    L, c, r, end, slope = (symbol(name) for name in ("depth", "cubic_coefficient", "residual", "residual_end", "cubic_slope"))
    three = Eq(slope, 3)
    shapes = ((2, 1, "9/4"), (4, 3, "6"), (6, 4, "8"))

    def grid(residuals: Iterable[str], shapes: Iterable[tuple[int, int, str]]) -> tuple[Case, ...]:
        return tuple(Case(tokens=n, width=d, condition=k, residual=r, qk_norm="1", value_norm="1", qk_width=1)
                     for n, d, k in shapes for r in residuals)

    yield Claim(
        key="rank_collapse/cubic_rate", title="one layer's residual is of third order in the input's",
        text="For almost every symmetric input and one head, log of the residual after a layer against log of the residual before it "
              "has slope 3 in the limit of small residuals, within the second-order remainder of the softmax.",
        statement=three, source=Source("depthlaw", "theory/rank_collapse/__init__.py, slope of one layer"), wording="derived", kind="rate",
        holds_for="almost every", measured=halving_slope, predicted=around_slope,
        # The norms are exact by construction; that `condition` bounds the network's own condition number is measured with the slope.
        assumes={"remainder below one: condition * |W_QK|_1 r^2 < 1/4": lambda c:
                     c.rational("condition") * c.rational("qk_norm") * c.rational("residual") ** 2 < Fraction(1, 4)},
        grid={"quick": grid(("1/20", "1/1000", "1/1000000"), shapes), "theory": grid(("1/1000", "1/10000000000"), ((8, 8, "12"),))},
        note="Every prediction is an interval around 3 whose width is proportional to the squared residual. Out of scope unless "
             f"{WELL_CONDITIONED}, which is computed on the layer that is drawn. The interval's width is derived in prose.",
        control=Control(grid(("1/1000",), shapes)[0], "slope 2", statement=Eq(slope, 2)))
    power = Eq(end, c ** ((3**L - 1) / 2) * r ** (3**L))
    yield Claim(
        key="rank_collapse/collapse_condition", title="the cubic recurrence collapses exactly below r_0 = c^(-1/2)",
        text="For all c, r_0 > 0 and all L the recurrence r_(l+1) = c r_l^3 gives r_L = c^(-1/2) (sqrt(c) r_0)^(3^L), which tends "
              "to 0 exactly when sqrt(c) r_0 < 1.",
        statement=power, source=Source("depthlaw", "theory/rank_collapse/__init__.py, recurrence"), wording="derived", kind="identity",
        holds_for="all", measured=cubic_recurrence, proof=prove_recurrence,
        rests_on="Argument: induction on L with both steps checked. Prose: x^(3^L) tends to 0 for 0 < x < 1 and for no other x > 0.",
        grid={"quick": Case.grid(cubic_coefficient=("1/2", "3"), residual=("1/2", "3/2"), depth=(1, 2, 3)),
              "theory": Case.grid(cubic_coefficient="5/7", residual="7/6", depth=(4, 5))},
        note="About the recurrence alone. Repairs the reported condition c < 1, which is enough when r_0 <= 1 and not beyond.",
        control=Control(Case(cubic_coefficient="3", residual="1/2", depth=2), "base 2 in the exponents",
                       statement=Eq(end, c ** ((2**L - 1) / 2) * r ** (2**L))))


def _bert_claim() -> Claim:
    from sympy import Eq, Piecewise, Rational, exp, log

    from ..glossary import symbol

    layer, relative = symbol("layer"), symbol("relative_residual")

    def curve(factor: Any) -> Relational:
        published = ("0.6118", "0.01758", "6.99e-7")
        return Eq(relative, factor * Piecewise(*((Rational(value), Eq(layer, index)) for index, value in enumerate(published))))

    def predicted(statement: Relational, case: Case) -> Ball:
        from ..claim import at
        from ..exact.enclosure import enclose

        # The published curve is one random initialisation. Relative standard deviation over initialisations: 0.02 of 0.60, 10 %, 30 %;
        # 3.29 of them is the two-sided normal quantile at a false-alarm rate of 1/1000.
        spread = Rational("3.29") * (Rational(1, 30), Rational(1, 10), Rational(3, 10))[case.layer]
        value = log(at(statement.rhs, case))
        return Ball(Ball.of(enclose(exp(value - spread))).low, Ball.of(enclose(exp(value + spread))).high)

    def cases(layers: Iterable[int]) -> tuple[Case, ...]:
        return Case.grid(tokens=128, width=768, heads=12, vocabulary=28996, replicas=24, layer=layers)

    return Claim(
        key="rank_collapse/bert_init_collapse", title="BERT's published residuals at initialisation agree with random nets",
        text="With skip connections and MLPs removed, the published relative residuals 0.6118, 0.01758 and 6.99e-7 of one random "
              "initialisation of BERT-base after layers 0, 1 and 2 are within factors of 1.12, 1.39 and 2.69 (3.29 standard deviations over "
              "initialisations) of the mean over such initialisations.",
        statement=curve(1), source=Source("dong2021", "figure residual_BERT_vert.pdf, curve SAN at initialisation", V1), wording="printed",
        kind="empirical fit", holds_for="typical", measured=None, needs="empirics", predicted=predicted,
        grid={"quick": cases((1,)), "theory": cases((0, 2))},
        note="The mean is over 24 initialisations of a net of our own with BERT-base's shape, random weights and Zipf-distributed token ids in "
             "place of Wikipedia text; that the nets agree otherwise is assumed. The attention layer normalisation stays, as in the authors' "
             "code. The tolerance is the spread of one initialisation, estimated from twelve seeds of ours, so this is a consistency check, "
             "neither a fit nor evidence for a rate of collapse; nothing beyond layer 2 is compared.",
        control=Control(cases((1,))[0], "the published value times ten", statement=curve(10)))
