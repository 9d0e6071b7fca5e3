"""Witnesses: one choice of weights proves a lower bound for almost all, and products of linear forms contradict Theorem 2 as recalled.

A minor of the value matrix is a polynomial in the weights. If it is not zero at one choice of weights, for instance modulo a prime, it
is zero on a null set only, so the separation rank is at least its size for almost all weights.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..claim import Case, Claim, Control, Source
from . import witness_measured as measured_by
from .measured import measured_rank

if TYPE_CHECKING:
    import sympy

_V3 = "arXiv:2006.12467v3"
_RECALLED = "The bound is as recalled; check against the paper."
_OWN = Source("depthlaw", "weights whose layers multiply by linear forms of the moments")
_ALL_HEADS = {"H = d_x": lambda c: c.heads == c.width}
_HEADS = {"H divides d_x": lambda c: c.width % c.heads == 0}
_TOKENS = {"N >= 2 (d_x + 1)": lambda c: c.tokens >= 2 * c.width + 2}

# First depth of a violation by width, H = d_x; the width 16 with eight heads stands apart.
FIRST_VIOLATION = {2: 0, 3: 0, 4: 62, 5: 32, 6: 30, 8: 36, 16: 67, 32: 130, 64: 258}
FIRST_VIOLATION_ONE_HEAD = {4: 32, 6: 9, 16: 6, 64: 6, 1024: 8, 12288: 10}


def claims() -> Iterator[Claim]:
    """The claims of this module; they belong to separation_rank."""
    yield from _minor_claims()
    yield _finite_field_claim()
    yield _product_claim()
    yield _no_linear_bound_claim()
    yield from _violation_claims()
    yield _conflict_claim()


def _minor_claims() -> Iterator[Claim]:
    from sympy import Eq, Le

    from ..glossary import symbol

    L, R, p = symbol("depth"), symbol("minor_size"), symbol("prime")
    degree = 2 * R * (3**L - 1)
    yield Claim(
        key="separation_rank/minor_degree", title="a minor is a form in the weights",
        text="For all inputs, an R x R minor of the values of an output coordinate, as a polynomial in the weights, is 0 or a form of "
              "degree 4 C(L) R = 2 R (3^L - 1).",
        statement=Eq(symbol("minor_degree"), degree), source=Source("depthlaw", "after cohen2016, Lemma 5"), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.measured_minor_degree,
        grid={"quick": (*Case.grid(width=2, depth=1, heads=(1, 2), minor_size=(1, 2, 3)), Case(width=2, depth=2, heads=1, minor_size=2)),
              "theory": (*Case.grid(width=2, depth=(2, 3), heads=2, minor_size=(2, 3)),)},
        control=Control(Case(width=2, depth=1, heads=1, minor_size=2), "one weight per node in place of four",
                       statement=Eq(symbol("minor_degree"), R * (3**L - 1) / 2)))
    yield Claim(
        key="separation_rank/one_witness", title="a minor that is not zero once is rarely zero",
        text="Over F_p, an R x R minor that is not the zero polynomial in the weights vanishes for a share of at most 4 C(L) R / p of "
              "them.",
        statement=Le(symbol("zero_fraction"), degree / p), source=Source("caron2005", "zero set of a polynomial; Schwartz and Zippel"),
        wording="derived", kind="upper", holds_for="all", measured=measured_by.measured_zero_fraction,
        grid={"quick": (Case(width=1, depth=1, heads=1, minor_size=1, prime=7),
                        *Case.grid(width=2, depth=1, heads=(1, 2), minor_size=2, prime=199)),
              "theory": (Case(width=1, depth=1, heads=1, minor_size=1, prime=11),
                         *Case.grid(width=2, depth=2, heads=(1, 2), minor_size=3, prime=499))},
        control=Control(Case(width=1, depth=1, heads=1, minor_size=1, prime=7), "half the degree",
                       statement=Le(symbol("zero_fraction"), R * (3**L - 1) / p)),
        note="At width 1 every choice of weights over F_p is looked at, otherwise every point of one random line of weights. Over the reals "
             "the zeros of such a minor are a null set (Caron and Traynor), so that one witness gives sep >= R for almost all weights: cited, "
             "not measured.")


def _finite_field_claim() -> Claim:
    from sympy import Ge, Integer

    from ..glossary import symbol

    loss = symbol("rank_loss")
    return Claim(
        key="separation_rank/finite_field", title="a rank modulo a prime never exceeds the rational rank",
        text="For integer weights and inputs and every prime p, the rank of the value matrix modulo p is at most its rank over Q, so a "
              "rank modulo p is a lower bound on the separation rank, whatever p.",
        statement=Ge(loss, Integer(0)), source=Source("depthlaw", "a minor that is not 0 modulo p is not 0"), wording="derived",
        kind="lower",
        holds_for="all", measured=measured_by.measured_rank_loss,
        grid={"quick": (*Case.grid(width=2, depth=2, heads=(1, 2), minor_size=18, prime=(2, 3, 5, 2**31 - 1)),
                        *Case.grid(width=3, depth=(1, 2), heads=1, minor_size=12, prime=(2, 7, 2**31 - 1)))},
        control=Control(Case(width=2, depth=2, heads=1, minor_size=18, prime=2), "a prime as small as 2 loses rank: no equality",
                       statement=symbol("rank_loss") <= 0),
        note="Small primes lose rank: inputs and weights coincide modulo p, powers coincide (x^p = x), and binomial factors vanish for "
             "p <= C(L). 2^31 - 1 avoids all three in these cases. The rank modulo p is that of the net reduced modulo p, by its own token "
             "recursion.")


def _product_claim() -> Claim:
    from sympy import Ge, Min, Product

    from ..glossary import symbol

    L, H, sep, layer = (symbol(n) for n in ("depth", "heads", "sep", "layer"))

    def bound(factor: sympy.Expr) -> sympy.Expr:
        return Product(factor, (layer, 1, Min(L, H * (H + 1) / 2)))

    return Claim(
        key="separation_rank/product_lower_bound", title="lower bound by a product of linear forms",
        text="For almost all weights with H heads, N >= 2 (d_x + 1) and all L, sep >= prod_{l=1}^{min(L, D_H)} (3^(L-l) + 1) with D_H = "
              "H (H+1)/2.",
        statement=Ge(sep, bound(3 ** (L - layer) + 1)), source=_OWN, wording="derived", kind="lower", holds_for="almost every",
        measured=measured_rank, assumes={**_HEADS, **_TOKENS},
        grid={"quick": (*Case.grid(width=2, depth=(1, 2, 3, 5), heads=2, tokens=6, weights="coordinate"),
                        *Case.grid(width=4, depth=(2, 3, 4), heads=(2, 4), tokens=10, weights="coordinate"),
                        Case(width=2, depth=3, heads=2, tokens=6),
                        # Twice as many inputs as the bound asks for.
                        Case(width=2, depth=2, heads=2, tokens=6, weights="coordinate", inputs=16),
                        Case(width=2, depth=3, heads=2, tokens=6, weights="coordinate", inputs=160),
                        Case(width=4, depth=3, heads=2, tokens=10, weights="coordinate", inputs=160),
                        Case(width=6, depth=20, heads=6, tokens=14, weights="coordinate")),
              "theory": (Case(width=16, depth=36, heads=8, tokens=34, weights="coordinate"),
                         Case(width=10, depth=55, heads=10, tokens=22, weights="coordinate"))},
        control=Control(Case(width=2, depth=2, heads=2, tokens=6), "every exponent three times as large",
                       statement=Ge(sep, bound(3 ** (L - layer + 1) + 1))),
        note="In the cases weights=coordinate only the product form, the exponents and the independence of the forms are checked; that the "
             "rank is then prod (e + 1) is an argument in words. With inputs the values of these weights are ranked; without weights, those "
             "of random ones. For L <= D_H the explicit weights have this rank; beyond, the last form is repeated, which makes it larger.")


def _no_linear_bound_claim() -> Claim:
    from sympy import Gt, log

    from ..glossary import symbol

    c, d, L, sep = (symbol(n) for n in ("slope", "width", "depth", "sep"))
    return Claim(
        key="separation_rank/no_linear_bound", title="no bound c d_x L with an absolute constant",
        text="For every c > 0, H = d_x, 2 c d_x + 1 < L <= d_x (d_x + 1)/2, N >= 2 (d_x + 1) and almost all weights, log_3 sep > c d_x "
              "L: no absolute constant makes c d_x L an upper bound.",
        statement=Gt(log(sep) / log(3), c * d * L), source=_OWN, wording="derived", kind="lower", holds_for="almost every",
        measured=measured_rank, proof=measured_by.no_linear_bound_proof,
        rests_on="The weights are checked on three coordinates, exponents and gap for all c, d and L; prose: L <= D forms can be "
                 "independent, such a product has the rank prod (e_j + 1), and what one choice of weights reaches almost all reach.",
        assumes={**_ALL_HEADS, **_TOKENS, "L > 2 c d_x + 1": lambda k: k.depth > 2 * k.rational("slope") * k.width + 1,
                 "L <= D": lambda k: 2 * k.depth <= k.width * (k.width + 1)},
        grid={"quick": (Case(width=4, depth=6, heads=4, tokens=10, slope="1/2", weights="coordinate"),
                        Case(width=6, depth=14, heads=6, tokens=14, slope="1", weights="coordinate"),
                        Case(width=10, depth=42, heads=10, tokens=22, slope="2", weights="coordinate")),
              "theory": (Case(width=14, depth=86, heads=14, tokens=30, slope="3", weights="coordinate"),)},
        control=Control(Case(width=2, depth=2, heads=2, tokens=6, slope="1"), "c = 1 at a depth below 2 c d_x + 1"),
        note="Says nothing for fewer heads or tokens, and nothing at one fixed depth.")


def _table(entries: dict[int, int]) -> sympy.Expr:
    """A function of the width by its values."""
    import sympy

    from ..glossary import symbol

    d = symbol("width")
    return sympy.Piecewise(*((value, sympy.Eq(d, width)) for width, value in entries.items()))


def _violation_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    first, d = symbol("first_violation"), symbol("width")
    source = Source("levine2020", "Theorem 2, upper bound", _V3)
    yield Claim(
        key="separation_rank/first_violation", title="first depths that contradict Theorem 2 as recalled",
        text="With H = d_x, the first depth L > log_3 d_x at which prod_{l <= min(L, D)} (3^(L-l) + 1) exceeds the recalled upper bound is "
              "62 at width 4, 32 (5), 30 (6), 36 (8), 67 (16), 130 (32) and 258 (64); there is none (0) at widths 2 and 3.",
        statement=Eq(first, _table(FIRST_VIOLATION)), source=source, wording="derived", kind="threshold", holds_for="all",
        measured=measured_by.measured_first_violation, assumes=_ALL_HEADS,
        grid={"quick": tuple(Case(width=w, heads=w) for w in FIRST_VIOLATION if w <= 16),
              "theory": tuple(Case(width=w, heads=w) for w in FIRST_VIOLATION if w > 16)},
        control=Control(Case(width=8, heads=8), "the estimate 4 d_x + 3", statement=Eq(first, 4 * d + 3)),
        note=_RECALLED + " Repeating the last form at width 4 brings 62 down to 61. At H = d_x the constant b_2 of the recalled lower bound is "
                         "undefined; upper_bound_deep leads with a case of 2 H <= d_x.")
    yield Claim(
        key="separation_rank/conflict_one_head", title="first depth at which S exceeds Theorem 2's bound as recalled",
        text="The first depth L > log_3 d_x at which S(d_x, L) exceeds the recalled upper bound of Theorem 2 is 32 at width 4, 9 (6), "
              "6 (16), 6 (64), 8 (1024) and 10 (12288).",
        statement=Eq(first, _table(FIRST_VIOLATION_ONE_HEAD)), source=source, wording="derived", kind="threshold", holds_for="all",
        measured=measured_by.measured_first_violation,
        grid={"quick": tuple(Case(width=w, witness="count") for w in FIRST_VIOLATION_ONE_HEAD if w <= 1024),
              "theory": (Case(width=12288, witness="count"),)},
        control=Control(Case(width=6, witness="count"), "the depth of the product, 30", statement=Eq(first, _table(FIRST_VIOLATION))),
        note=_RECALLED + " About S alone. If one head attained S for all d_x and L, the bound would fail there for one head; that premise is "
                         "false: sep(4, 3) = S - 4 (count_attained). Whether one head comes near enough to S at these depths is open.")


def _conflict_claim() -> Claim:
    from sympy import Eq, Gt, Piecewise

    from ..glossary import symbol

    d, H, conflict = symbol("width"), symbol("heads"), symbol("conflict")

    def verdict(slope: sympy.Expr) -> sympy.Expr:
        return Piecewise((1, Gt(H * (H + 1) / 2, slope)), (0, True))

    return Claim(
        key="separation_rank/conflict_heads", title="heads that contradict Theorem 2 as recalled",
        text="The product lower bound with H heads exceeds the recalled upper bound at some depth L > log_3 d_x if and only if D_H = H (H+1)/2 > 2 "
              "d_x + 1; with H = d_x that is d_x >= 4, with H = d_x/2 it is d_x >= 16.",
        statement=Eq(conflict, verdict(2 * d + 1)), source=Source("levine2020", "Theorem 2, upper bound", _V3), wording="derived",
        kind="threshold", holds_for="all", measured=measured_by.measured_conflict, proof=measured_by.conflict_proof, assumes=_HEADS,
        rests_on="The growth for each layer and the gap, concave with positive ends, are checked for all d, H and L; prose: a larger slope wins "
                 "at some depth, a smaller one never does past D_H layers, and a concave gap is positive between positive ends.",
        grid={"quick": (*(Case(width=w, heads=w) for w in (1, 2, 3, 4, 5, 6)), Case(width=12, heads=6), Case(width=14, heads=7),
                        Case(width=16, heads=8))},
        control=Control(Case(width=4, heads=4), "slope 3 d_x", statement=Eq(conflict, verdict(3 * d))),
        note=_RECALLED + " At width 16 eight heads contradict it from depth 216 on.")
