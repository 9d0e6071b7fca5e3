"""Masks and positions: logits that do not all pass through the tokens leave only an exponential collapse, with rates that are explicit."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ..claim import Case, Claim, Control, Source
from . import masked_attention_measured as measured_by

__all__ = ["basin_fraction", "claims"]

_MASKS, _BIAS = "arXiv:2405.18781", "arXiv:2502.01951"
_HERE = "theory/rank_collapse/masked_attention.py, "


def basin_fraction(feature_gain: float) -> float:
    """1/2 - arcsin(1/eta) / (2 pi): the share of start directions from which two tokens with rows of unit norm never meet.

    Causal attention with equal weights on two tokens of width two, the first at (0, 1), with the value matrix [[1, 0], [eta, 1]].

    Raises:
        ValueError: for eta < 1, where there is no second fixed point.

    >>> round(basin_fraction(2), 6)
    0.416667

    Cost O(1). Reference: derived, after the counterexample of Wu et al. 2024, arXiv:2405.18781, Fig. 1.
    """
    if not feature_gain >= 1:
        raise ValueError(f"feature_gain must be at least 1, got {feature_gain}")
    return 0.5 - math.asin(1 / feature_gain) / (2 * math.pi)


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield _position_claim()
    yield _causal_claim()
    yield from _bias_claims()
    yield _mask_claim()
    yield from _unit_row_claims()


def _position_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    L, p, q, start, end = (symbol(name) for name in ("depth", "first_weight", "second_weight", "difference", "difference_end"))
    cases = (*Case.grid(first_weight="3/4", second_weight="1/4", difference=("1/1000", "1"), depth=(1, 4)),
             *Case.grid(first_weight="1", second_weight=("1/2", "1/3"), difference=("1/1000000", "2"), depth=(1, 7)))
    return Claim(
        key="rank_collapse/position_logits_linear", title="two tokens, logits of position alone: linear in each layer",
        text="For two tokens with attention rows (p, 1 - p) and (q, 1 - q) that do not depend on the tokens, p > q, and W_V = I, the "
              "difference after L layers is (p - q)^L times the first: linear in it, whatever its size.",
        statement=Eq(end, (p - q) ** L * start), source=Source("depthlaw", _HERE + "position logits"), wording="derived", kind="identity",
        holds_for="all", assumes={"p > q": lambda c: c.rational("first_weight") > c.rational("second_weight")},
        measured=measured_by.position_difference, proof=measured_by.prove_position, grid={"quick": cases},
        rests_on="Argument: induction on L with both steps checked, for the two tokens and fixed rows of the words.",
        note="The cubic law needs all logits to pass through X, since otherwise P does not tend to equal rows. The causal mask with equal "
             "weights is p = 1, q = 1/2. So no cubic law can hold for all relative positions or masks.",
        control=Control(cases[3], "the cubic law", statement=Eq(end, (p - q) ** L * start**3 / 2)))


def _causal_claim() -> Claim:
    from sympy import Ge, exp, log

    from ..glossary import symbol

    names = ("depth", "qk_weight", "token_bound", "difference", "difference_end")
    L, w, B, start, end = (symbol(name) for name in names)
    cases = Case.grid(qk_weight=("1/10", "1"), token_bound="1", difference=("1/1000", "1"), depth=(1, 2, 8, 32))
    return Claim(
        key="rank_collapse/causal_exponential", title="a causal mask leaves two tokens only exponential collapse",
        text="For two causal tokens of width one with W_V = 1, |x_i| <= B, and logits w x_i x_j, the difference after L layers is at "
              "least "
              "(1 + e^S)^-L times the first, S = w B delta_0: its logarithm is linear in depth, not of order 3^L.",
        statement=Ge(log(end), log(start) - L * log(1 + exp(w * B * start))), source=Source("depthlaw", _HERE + "causal mask"),
        wording="derived", kind="lower", holds_for="all", measured=measured_by.causal_difference, proof=measured_by.prove_causal,
        # The tokens start at B - delta_0 and B.
        assumes={"w > 0, delta_0 > 0, both tokens in [-B, B]": lambda c: (
            c.rational("qk_weight") > 0 and 0 < c.rational("difference") <= 2 * c.rational("token_bound"))},
        rests_on="Argument. Prose: x_2 stays between x_1 and its start, so |w x_2 delta| <= S at every layer, and sigma grows.",
        grid={"quick": cases, "theory": Case.grid(qk_weight="1/3", token_bound="2", difference="1/100", depth=(64, 128))},
        note="For small differences the rate tends to 1/2 per layer. Equal tokens still have unequal rows of attention, so nothing is "
             "gained "
             "from the softmax as they meet.",
        control=Control(cases[2], "difference doubled at every layer", statement=Ge(log(end), log(start) + L * log(2))))


def _bias_claims() -> Iterator[Claim]:
    from sympy import Le, ceiling, floor

    from ..glossary import symbol

    L, N, j, w, least, tail = (symbol(name) for name in ("depth", "tokens", "position", "window", "least_weight", "tail_mass"))
    # That the entries are at least epsilon is a fact of the construction: `attention_matrix` pays it first and refuses what cannot be paid.
    possible: dict[str, Callable[[Case], bool]] = {
        "2 <= j <= N, N epsilon <= 1": lambda c: 2 <= c.position <= c.tokens and c.tokens * c.rational("least_weight") <= 1}
    cases = (*Case.grid(mask="causal", instance="tight", tokens=3, position=(2, 3), least_weight="1/5", depth=(1, 4)),
             *Case.grid(mask="prefix", instance="tight", tokens=4, position=3, least_weight="1/9", depth=(2, 5)),
             *Case.grid(mask="causal", instance="random", tokens=5, position=(2, 4), least_weight="1/10", depth=(3, 10)))
    yield Claim(
        key="rank_collapse/position_bias", title="causal attention ends on the first token",
        text="For all causal attention matrices with entries at least epsilon where a token may look, every row of the product of L of "
              "them "
              "puts at most (1 - (j - 1) epsilon)^L on the positions j and later; so P_i1 tends to 1. With a prefix of K tokens the same "
              "holds for j = K + 1.",
        statement=Le(tail, (1 - (j - 1) * least) ** L), source=Source("wu2025position", "Theorems 4.1-4.3", _BIAS), wording="reported",
        kind="upper", holds_for="all", assumes=possible, measured=measured_by.tail_mass, proof=measured_by.prove_tail,
        rests_on="Argument. Prose: rows before j have no tail; a row from j on gives at least epsilon to each of the j - 1 first positions.",
        grid={"quick": cases,
              "theory": Case.grid(mask="causal", instance="random", tokens=8, position=(2, 5), least_weight="1/16", depth=12)},
        note="Reported with an unspecified constant C for one P_ij; C = 1 and the whole tail are ours. Attained by tokens that pay the "
             "least to all but themselves. The lower bound on prefix weights (liminf >= kappa) has no explicit kappa and is not stated.",
        control=Control(cases[0], "twice the rate", statement=Le(tail, (1 - 2 * (j - 1) * least) ** L)))
    steps = ceiling((N - 1) / (w - 1))
    windows = (*Case.grid(mask="window", instance="tight", tokens=3, window=2, position=2, least_weight="1/4", depth=(1, 2, 3, 4)),
               Case(mask="window", instance="tight", tokens=4, window=3, position=2, least_weight="1/5", depth=1),
               Case(mask="window", instance="tight", tokens=4, window=3, position=2, least_weight="1/5", depth=2),
               *Case.grid(mask="window", instance="random", tokens=6, window=3, position=(2, 4), least_weight="1/6", depth=(4, 9)))
    yield Claim(
        key="rank_collapse/window_bias", title="sliding-window attention ends on the first token, more slowly",
        text="For all attention matrices with a window of w tokens and entries at least epsilon inside it, every row of the product of "
              "L of "
              "them puts at most (1 - (j - 1) epsilon^r)^floor(L/r) on the positions j and later, r = ceil((N - 1)/(w - 1)).",
        statement=Le(tail, (1 - (j - 1) * least**steps) ** floor(L / steps)), source=Source("wu2025position", "Theorems 4.1-4.3", _BIAS),
        wording="derived", kind="upper", holds_for="all", assumes=possible, measured=measured_by.tail_mass, grid={"quick": windows},
        note="Sharper than reported: C (1 - (j - 1) epsilon^r)^(t/(2r)) for one P_ij with an unspecified C.",
        control=Control(windows[1], "the causal rate", statement=Le(tail, (1 - (j - 1) * least) ** L)))


def _mask_claim() -> Claim:
    from sympy import Le, floor

    from ..glossary import symbol

    L, r, least, spread = (symbol(name) for name in ("depth", "radius", "least_weight", "spread_ratio"))
    cases = (*Case.grid(mask="chain", instance="tight", tokens=3, radius=2, least_weight="1/3", depth=(1, 2, 3, 4)),
             *Case.grid(mask="star", instance="tight", tokens=4, radius=1, least_weight="1/4", depth=(1, 5)),
             *Case.grid(mask="causal", instance="random", tokens=5, radius=1, least_weight="1/8", depth=(3, 9)),
             *Case.grid(mask="chain", instance="random", tokens=4, radius=3, least_weight="1/5", depth=(5, 12)))
    return Claim(
        key="rank_collapse/mask_exponential", title="masked attention collapses at least exponentially",
        text="For every mask with self-loops in which all tokens reach one centre within r steps, and attention at least epsilon along "
              "its "
              "edges, the spread of scalar tokens falls by (1 - epsilon^r)^floor(L/r) or more over L layers with W_V = 1.",
        statement=Le(spread, (1 - least**r) ** floor(L / r)),
        source=Source("wu2024masks", "collapse theorem for pure masked attention", _MASKS),
        wording="recalled", kind="upper", holds_for="all", measured=measured_by.spread_ratio,
        grid={"quick": cases, "theory": Case.grid(mask="chain", instance="random", tokens=6, radius=5, least_weight="1/4", depth=(9, 25))},
        note="As recalled; check against the paper. There the norm is Frobenius, value matrices have bounded products, and a constant C is "
             "left open; C = 1 for the spread is ours. Attained at depths 1 and 2 by a chain.",
        control=Control(cases[0], "radius one", statement=Le(spread, (1 - least) ** L)))


def _unit_row_claims() -> Iterator[Claim]:
    from sympy import Eq, Rational, asin, ceiling, floor, pi

    from ..glossary import symbol

    eta, K, count, digits = (symbol(name) for name in ("feature_gain", "start_angles", "basin_count", "limit_digits"))
    source = Source("wu2024masks", "counterexample with normalisation, after Fig. 1, with our parameters", _MASKS)
    exists: dict[str, Callable[[Case], bool]] = {"eta > 1": lambda c: c.rational("feature_gain") > 1}
    model = ("Two causal tokens of width two with equal weights, rows rescaled to unit norm, W_V = [[1, 0], [eta, 1]] on columns, "
             "x_1 = (0, 1)")
    yield Claim(
        key="rank_collapse/unit_rows_fixed_point", title="with unit rows two causal tokens can stay apart",
        text=model + ": for eta > 1 the second token has the attracting fixed point (-1/eta, -sqrt(1 - 1/eta^2)), so the rank stays two "
              "from starts near it; the statement compares floor(10^9/eta).",
        statement=Eq(digits, floor(10**9 / eta)), source=source, wording="derived", kind="identity", holds_for="exists", assumes=exists,
        measured=measured_by.limit_digits, proof=measured_by.prove_fixed, grid={"quick": Case.grid(feature_gain=("3/2", "7/3", "3"))},
        rests_on="Argument. Prose: a fixed point at which the angle's derivative lies in (0, 1) attracts the starts near it.",
        note="An example in which rescaling rows to unit norm, without centring, prevents collapse; that layer normalisation plays a role is "
             "said in the abstract of the source. Without rescaling the first coordinate halves at every layer and both tokens end at (0, 1).",
        control=Control(Case(feature_gain="3"), "the tokens meet", statement=Eq(digits, 0)))
    # The last two put the border of the basin just before and just after a start, at 20.5 -+ 0.002 spacings.
    cases = Case.grid(feature_gain=("3/2", "2", "3", "100000/60037", "100000/60047"), start_angles=200)
    yield Claim(
        key="rank_collapse/unit_rows_basin", title="two tokens, unit rows: which starts never collapse",
        text=model + ": of K equally spaced directions (i + 1/2) 2 pi/K of x_2, K even, exactly those between the angles "
              "arcsin(1/eta) and pi from x_1 stay apart for ever, K/2 - ceil(K arcsin(1/eta)/(2 pi) - 1/2) of them.",
        statement=Eq(count, K / 2 - ceiling(K * asin(1 / eta) / (2 * pi) - Rational(1, 2))), source=source, wording="derived",
        kind="identity", holds_for="all", assumes={**exists, "K is even": lambda c: c.start_angles % 2 == 0},
        measured=measured_by.basin_count, grid={"quick": cases, "theory": Case.grid(feature_gain=("11/10", "10"), start_angles=(50, 1000))},
        note="77, 83 and 89 of 200 directions at eta = 3/2, 2, 3; the share tends to 1/2 - arcsin(1/eta)/(2 pi) as K grows. A start counts "
             "once it is within 10^-6 of an attracting point after 90 layers; that it stays there is prose.",
        control=Control(cases[3], "one start more, where the border is 0.002 spacings from a start",
                       statement=Eq(count, K / 2 - ceiling(K * asin(1 / eta) / (2 * pi) - Rational(1, 2)) + 1)))
