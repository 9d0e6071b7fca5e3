"""The algebra behind Levine's bounds: Theorems 1 and 2 from a multiset coefficient, and what they say about depth against width.

With n = (d_x - H)/2 and k = 3^(L-2), the witness of both lower bounds has rank binom(n+k-1, k). The upper bounds count products: of
choices at every attention node (Theorem 1), or of the exponents of 2 d_x coordinates (Theorem 2, as recalled).
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..claim import Case, Claim, Control, Source
from . import bounds_measured as measured_by
from .measured import measured_rank

if TYPE_CHECKING:
    import sympy

_V3 = "arXiv:2006.12467v3"
_RECALLED = "As recalled; check against the paper."
_SPARE_WIDTH = {"H < d_x": lambda c: c.heads < c.width}
_LAYERS = {"L >= 2": lambda c: c.depth >= 2}
_DEEP = {"3^L >= d_x": lambda c: 3**c.depth >= c.width}
_TWO_TOKENS = {"N = 2": lambda c: c.tokens == 2}
_A_NET = {"H divides d_x": lambda c: c.width % c.heads == 0}
_SHALLOW_LOWER, _DEEP_LOWER = "separation_rank/lower_bound_shallow", "separation_rank/lower_bound_deep"
_COUNT = "separation_rank/dimension_count"


def claims() -> Iterator[Claim]:
    """The claims of this module; they belong to separation_rank."""
    yield from _multiset_claims()
    yield _witness_claim()
    yield from _exponent_claims()
    yield from _two_token_claims()
    yield _corollary_1_claim()
    yield from _corollary_2_claims()
    yield from _reading_claims()


def _log3(x: sympy.Expr) -> sympy.Expr:
    import sympy

    return sympy.log(x) / sympy.log(3)


def _recalled_upper() -> sympy.Expr:
    from sympy import E, sqrt

    from ..glossary import symbol

    d, L = symbol("width"), symbol("depth")
    return 2 * d * L + L - 2 * d * _log3(d / (2 * sqrt(2) * E)) + _log3(d)


def _multiset_claims() -> Iterator[Claim]:
    from sympy import Ge

    from ..glossary import symbol

    d, L, H, multiset = (symbol(n) for n in ("width", "depth", "heads", "multiset"))
    rate = _log3(d - H) - L + 2 - _log3(2)
    yield Claim(
        key="separation_rank/multiset_shallow", title="from the multiset coefficient to Theorem 1",
        text="For every H < d_x and L >= 2, binom(n+k-1, k) >= (n/k)^k with n = (d_x - H)/2 and k = 3^(L-2), and log_3 (n/k)^k is "
              "exactly the lower bound of Theorem 1 as recalled.",
        statement=Ge(_log3(multiset), 3 ** (L - 2) * rate), source=Source("levine2020", "proof of Theorem 1, lower bound", _V3),
        wording="derived", kind="lower", holds_for="all", measured=measured_by.measured_multiset,
        proof=measured_by.multiset_shallow_proof, assumes={**_SPARE_WIDTH, **_LAYERS},
        rests_on="Every factor and the right side are checked for all n > 0 and k; prose: the coefficient is the product of its k factors.",
        grid={"quick": Case.grid(width=(4, 12, 30), depth=(2, 3, 4), heads=(1, 2)),
              "theory": Case.grid(width=(100, 1000), depth=(5, 6), heads=4)},
        control=Control(Case(width=12, depth=3, heads=2), "3^L in place of 3^(L-2)", statement=Ge(_log3(multiset), 3**L * rate)))
    constants = -L * (H / 2 + 1) - d * (1 + _log3((d - H) / 2) / 2)
    yield Claim(
        key="separation_rank/multiset_deep", title="from the multiset coefficient to Theorem 2",
        text="For every H < d_x and L >= 2, log_3 binom(n+k-1, k) >= d_x L/2 + b_1 + b_2: for n >= 1 since the coefficient is at least "
              "(k/n)^(n-1), whose logarithm is this bound (of Theorem 2, as recalled) plus (H/2 + 1)(2 + log_3 n) >= 0.",
        statement=Ge(_log3(multiset), d * L / 2 + constants), source=Source("levine2020", "proof of Theorem 2, lower bound", _V3),
        wording="derived", kind="lower", holds_for="all", measured=measured_by.measured_multiset, proof=measured_by.multiset_deep_proof,
        rests_on="Every factor is checked for all k; prose: that n = 1/2, half-integers from 3/2 on and whole n are all cases, the "
                 "coefficient as a product of its factors, and the induction over k at n = 1/2.",
        assumes={**_SPARE_WIDTH, **_LAYERS},
        grid={"quick": (*Case.grid(width=(3, 4, 8, 30), depth=(2, 3, 5), heads=(1, 2)), *Case.grid(width=2, depth=(2, 3), heads=1)),
              "theory": Case.grid(width=(100,), depth=(5, 8), heads=(1, 4))},
        control=Control(Case(width=8, depth=5, heads=1), "the slope d_x of the width", statement=Ge(_log3(multiset), d * L + constants)),
        note="The step binom(n+k-1, k) >= (k/n)^(n-1) is false at n = 1/2, that is d_x = H + 1; there the dropped term makes up for it.")


def _witness_claim() -> Claim:
    from sympy import Ge, binomial

    from ..glossary import symbol

    d, L, H, sep = (symbol(n) for n in ("width", "depth", "heads", "sep"))
    n, k = (d - H) / 2, 3 ** (L - 2)
    return Claim(
        key="separation_rank/lower_bound_multiset", title="lower bound before simplification",
        text="For almost all weights, sep >= binom(n+k-1, k) with n = (d_x - H)/2 and k = 3^(L-2), for L >= 2, H < d_x and even d_x - H.",
        statement=Ge(sep, binomial(n + k - 1, k)), source=Source("levine2020", "proof of Theorems 1 and 2, lower bounds", _V3),
        wording="recalled", kind="lower", holds_for="almost every", measured=measured_rank,
        assumes={**_SPARE_WIDTH, **_LAYERS, "d_x - H even": lambda c: (c.width - c.heads) % 2 == 0},
        # The bounds are 1, 3, 10, 20 and 55, then 220 and 20; where `inputs` is given it is twice that or more, so that a rank below shows.
        grid={"quick": (Case(width=4, depth=2, heads=2, tokens=4), Case(width=8, depth=2, heads=2, tokens=4, inputs=32),
                        Case(width=8, depth=3, heads=2, tokens=4, inputs=40), Case(width=10, depth=3, heads=2, tokens=4, inputs=80),
                        Case(width=8, depth=4, heads=2, tokens=4, inputs=120)),
              "theory": (Case(width=10, depth=4, heads=2, tokens=4, inputs=480), Case(width=12, depth=3, heads=4, tokens=2, inputs=60))},
        control=Control(Case(width=4, depth=2, heads=2, tokens=2), "the power 3^L and n = d_x", statement=Ge(sep, binomial(d + 3**L - 1,
            3**L), evaluate=False)),
        note=_RECALLED + " Each case has at least twice the inputs that the bound asks for, so that a smaller rank would have shown. A "
                         "rank modulo a prime at one choice of weights decides its case for almost all weights, whatever is not seen.")


_EXPONENTS = ("Each inequality of the chain and n! >= (n/e)^n by induction are checked for all sizes; prose: that they make a chain, and "
              "binom(m, n) <= m^n / n!, factor by factor.")


def _exponent_claims() -> Iterator[Claim]:
    from sympy import E, Le

    from ..glossary import symbol

    d, L, count = symbol("width"), symbol("depth"), symbol("exponent_count")
    grid = {"quick": (*Case.grid(width=(1, 2, 3), depth=(1, 2, 3, 5)), *Case.grid(width=(9, 27), depth=(3, 5))),
            "theory": Case.grid(width=(81, 200), depth=(5, 6, 8))}
    source = Source("levine2020", "proof of Theorem 2, upper bound", _V3)
    yield Claim(
        key="separation_rank/exponent_count", title="size of the exponent count",
        text="For 3^L >= d_x, log_3 of d_x 3^L binom(2 d_x + 3^L - 1, 3^L) is at most 2 d_x L + L + log_3 d_x - 2 d_x log_3(2 d_x / (3 "
              "e)).",
        statement=Le(_log3(count), 2 * d * L + L + _log3(d) - 2 * d * _log3(2 * d / (3 * E))), source=source, wording="derived",
        kind="upper",
        holds_for="all", measured=measured_by.measured_exponent_count, proof=measured_by.exponent_count_proof, assumes=_DEEP, grid=grid,
        rests_on=_EXPONENTS,
        control=Control(Case(width=9, depth=5), "half the slope", statement=Le(_log3(count), d * L + L + _log3(d))),
        note="How the recalled proof counts monomials is itself only recalled, with low confidence.")
    yield Claim(
        key="separation_rank/exponent_count_recalled", title="exponent count below the recalled bound of Theorem 2",
        text="For 3^L >= d_x, log_3 of d_x 3^L binom(2 d_x + 3^L - 1, 3^L) is at most 2 d_x L + L - 2 d_x log_3(d_x / (2 sqrt(2) e)) + "
              "log_3 d_x.",
        statement=Le(_log3(count), _recalled_upper()), source=source, wording="recalled", kind="upper", holds_for="all",
        measured=measured_by.measured_exponent_count, proof=measured_by.exponent_count_recalled_proof, assumes=_DEEP, grid=grid,
        rests_on=_EXPONENTS,
        control=Control(Case(width=9, depth=5), "half the slope", statement=Le(_log3(count), d * L + L + _log3(d))),
        note=_RECALLED + " So the bound has room by 2 d_x log_3(4 sqrt(2)/3); where its constant 2 sqrt(2) e comes from is not known to "
                         "us. The count bounds the separation rank with one token on each side only; see upper_bound_deep.")


_BIDEGREES = ("One layer, the smaller degrees and the sum are checked; prose: the induction over layers, the parts by bidegree, and that a "
              "part has at most the rank of its smaller space of forms.")


def _two_token_claims() -> Iterator[Claim]:
    from sympy import Le, binomial

    from ..glossary import symbol

    d, L, sep = symbol("width"), symbol("depth"), symbol("sep")
    C = (3**L - 1) / 2
    yield Claim(
        key="separation_rank/two_tokens_upper", title="one token on each side, any heads",
        text="For two tokens, all weights and any number of heads, sep <= binom(d_x + C(L), C(L)).",
        statement=Le(sep, binomial(d + C, C)), source=Source("depthlaw", "docs/separation-rank-dimension-count.md"), wording="derived",
        kind="upper", holds_for="all", measured=measured_rank, proof=measured_by.two_tokens_upper_proof, assumes=_TWO_TOKENS,
        rests_on=_BIDEGREES,
        grid={"quick": (*Case.grid(width=2, depth=(1, 2), heads=(1, 2), tokens=2), *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=2)),
              "theory": (*Case.grid(width=3, depth=(2, 3), heads=(1, 3), tokens=2), *Case.grid(width=5, depth=2, heads=(1, 5), tokens=2))},
        control=Control(Case(width=2, depth=2, heads=1, tokens=4), "more tokens on each side: the rank is 18, not 15"))
    yield Claim(
        key="separation_rank/upper_bound_deep_two_tokens", title="Theorem 2's upper bound holds for two tokens",
        text="For two tokens, 3^L >= d_x, all weights and any number of heads, log_3 sep <= 2 d_x L + L - 2 d_x log_3(d_x / (2 sqrt(2) "
              "e)) + log_3 d_x, the upper bound of Theorem 2 as recalled.",
        statement=Le(_log3(sep), _recalled_upper()), source=Source("levine2020", "Theorem 2, upper bound", _V3), wording="recalled",
        kind="upper", holds_for="all", measured=measured_rank, proof=measured_by.two_tokens_deep_proof, assumes={**_TWO_TOKENS, **_DEEP},
        rests_on=_BIDEGREES + " The chain from the binomial coefficient to the bound is checked inequality by inequality.",
        grid={"quick": (*Case.grid(width=2, depth=(1, 2, 3), heads=(1, 2), tokens=2), Case(width=4, depth=2, heads=1, tokens=2)),
              "theory": (*Case.grid(width=3, depth=(1, 2, 3), heads=(1, 3), tokens=2), *Case.grid(width=5, depth=2, heads=(1, 5),
              tokens=2))},
        control=Control(Case(width=2, depth=3, heads=1, tokens=2), "no slope", statement=Le(_log3(sep), _log3(d) + L)),
        note=_RECALLED + " Argued here through binom(d_x + C, C), not by the recalled proof.")


def _corollary_1_claim() -> Claim:
    from sympy import Ge, Rational

    from ..glossary import symbol

    d, L, H, shallow, widened = (symbol(n) for n in ("width", "depth", "heads", "shallow_depth", "widened"))
    rate = _log3(d - H) - L + 2 - _log3(2)
    statement = Ge(_log3(widened), Rational(2, 9) * 3 ** (L - shallow) * rate)
    return Claim(
        key="separation_rank/corollary_1", title="width that a shallower net needs",
        text="If the lower bound of Theorem 1 holds as recalled, then for almost all weights a net of width d_x > 3^L and depth L is the "
              "same function as a net of depth L' < L, width d'_x and H' heads only if log_3(d'_x + H') >= (2/9) 3^(L-L') (log_3(d_x - H) "
              "- L + 2 - log_3 2).",
        statement=statement, source=Source("levine2020", "Corollary 1; blog version 4.2", _V3), wording="recalled", kind="lower",
        holds_for="almost every", measured=measured_by.measured_widened, proof=measured_by.corollary_1_proof,
        premises=(_SHALLOW_LOWER, _COUNT, "separation_rank/count_below_theorem_1"),
        rests_on="The algebra from the two bounds of Theorem 1 to the width is checked for all sizes; the bounds themselves are premises.",
        assumes={**_LAYERS, **_A_NET, "d_x > 3^L": lambda c: c.width > 3**c.depth, "L' < L": lambda c: c.shallow_depth < c.depth,
                 "d_x - H > 2 3^(L-2)": lambda c: c.width - c.heads > 2 * 3 ** (c.depth - 2)},
        grid={"quick": (Case(width=10, depth=2, heads=1, shallow_depth=1), Case(width=100, depth=4, heads=4, shallow_depth=2),
                        Case(width=1000, depth=6, heads=8, shallow_depth=3), Case(width=1000, depth=6, heads=8, shallow_depth=1)),
              "theory": (*Case.grid(width=3000, depth=7, heads=(1, 100), shallow_depth=(2, 3, 5)),
                         *Case.grid(width=12288, depth=7, heads=(1, 96), shallow_depth=(2, 3, 5)))},
        control=Control(Case(width=1000, depth=6, heads=8, shallow_depth=3), "3^L in place of 3^(L-L')",
                       statement=Ge(_log3(widened), Rational(2, 9) * 3**L * rate)),
        note=_RECALLED + " This is what follows from the lower and the upper bound of Theorem 1: with L = delta L', doubly exponential in "
             "(delta - 1) L'. The recalled wording is w proportional to exp(exp(delta)), which fits at fixed L' and cannot at fixed L, where "
             "3^(L-L') stays below 3^L. The upper bound it uses is (d'_x + 1)^C, by the dimension count; the lower bound is recalled. No net "
             "is built: computed is the least d'_x + H' that both bounds allow. The blog's d'_x = w d'_x must read d'_x = w d_x.")


def _corollary_2_claims() -> Iterator[Claim]:
    from sympy import Le

    from ..glossary import symbol

    d, ratio, factor = symbol("width"), symbol("depth_ratio"), symbol("width_factor")
    long_enough = {**_A_NET, "delta divides L": lambda c: c.depth % c.depth_ratio == 0, "L >= 100 delta": lambda c: c.depth >= 100 * c.depth_ratio,
                   "3 <= d_x <= 16": lambda c: 3 <= c.width <= 16, "H <= d_x/2": lambda c: 2 * c.heads <= c.width}
    grid = {"quick": (Case(width=4, depth=200, depth_ratio=2, heads=1), Case(width=4, depth=300, depth_ratio=3, heads=1),
                      Case(width=4, depth=400, depth_ratio=4, heads=2), Case(width=8, depth=300, depth_ratio=3, heads=2)),
            "theory": (*Case.grid(width=6, depth=480, depth_ratio=(2, 4), heads=1), Case(width=16, depth=400, depth_ratio=2, heads=1))}
    yield Claim(
        key="separation_rank/corollary_2", title="beyond the threshold, a linear factor in width would do",
        text="If the lower bound of Theorem 2 holds as recalled, then for L >= 100 delta, 3 <= d_x <= 16 and 2 H <= d_x, in every case "
              "computed, there is a factor w <= (d_x + 2) delta such that almost all nets delta times shallower and w times wider have a "
              "separation rank of at least S(d_x, L), so of at least the deep net's.",
        statement=Le(factor, (d + 2) * ratio), source=Source("levine2020", "Corollary 2", _V3), wording="derived", kind="upper",
        holds_for="almost every", measured=measured_by.measured_width_factor, premises=(_DEEP_LOWER, _COUNT), assumes=long_enough,
        grid=grid,
        control=Control(Case(width=4, depth=200, depth_ratio=2, heads=1), "only delta times wider", statement=Le(factor, ratio)),
        note="The form w proportional to delta survives the failure of Theorem 2's upper bound, with the factor d_x + 2 in place of 6. "
             "Computed is the least factor at which the lower bound reaches S; no net is built.")
    recalled = tuple(Case(**{**case.fields(), "bound": "recalled"}) for case in grid["quick"])
    yield Claim(
        key="separation_rank/corollary_2_recalled", title="Corollary 2 as recalled: width factor six delta",
        text="If both bounds of Theorem 2 held as recalled, a net delta times shallower and at most 6 delta times wider would reach the "
              "upper one, for L >= 100 delta, 3 <= d_x <= 16 and 2 H <= d_x, in every case computed.",
        statement=Le(factor, 6 * ratio), source=Source("levine2020", "Corollary 2", _V3), wording="recalled", kind="conditional",
        holds_for="almost every", measured=measured_by.measured_width_factor, assumes=long_enough, grid={"quick": recalled},
        premises=("separation_rank/upper_bound_deep", _DEEP_LOWER),
        control=Control(recalled[0], "only delta times wider", statement=Le(factor, ratio)),
        note=_RECALLED + " Recalled is w proportional to delta; the factor 6 is ours. It compares separation ranks, not functions, and "
                         "rests on an upper bound that fails as recalled; see corollary_2.")


def _reading_claims() -> Iterator[Claim]:
    from sympy import Le, ceiling

    from ..glossary import symbol

    d, L, beta = (symbol(n) for n in ("width", "depth", "beta_two"))
    yield Claim(
        key="separation_rank/corollary_43", title="a wider net at its threshold would reach the count",
        text="If the multiset lower bound holds, then for d_x a power of 3, d_x >= 3, H dividing d_x, L >= log_3 d_x and almost all "
              "weights, the net of depth log_3(d_x) + beta_2 and width 3^beta_2 d_x has a separation rank of at least S(d_x, L) for some "
              "beta_2 <= ceil(log_3(9 (d_x + 1) L / 2)).",
        statement=Le(beta, ceiling(_log3(9 * (d + 1) * L / 2))), source=Source("notthatdeep2024", "Corollary 4.3"), wording="derived",
        kind="upper", holds_for="almost every", measured=measured_by.measured_beta_two, proof=measured_by.beta_two_proof,
        premises=("separation_rank/lower_bound_multiset", "separation_rank/multiset_shallow", _COUNT),
        rests_on="The inequalities from the multiset bound to S are checked for all sizes; the bounds themselves are premises. d_x - H is "
                 "even, as the multiset bound asks, since both are powers of 3.",
        # A power of 3 has only powers of 3 as divisors, so the width 3^beta_2 d_x less H is even as well.
        assumes={**_DEEP, **_A_NET, "d_x = 3^m >= 3": lambda c: c.width in {3**m for m in range(1, 40)}},
        grid={"quick": Case.grid(width=(3, 9, 81), depth=(6, 24, 96), heads=1),
              "theory": Case.grid(width=(729, 6561), depth=(12, 96), heads=(1, 9))},
        control=Control(Case(width=9, depth=24, heads=1), "no extra layers or width", statement=Le(beta, 0, evaluate=False)),
        note="So Corollary 4.3, read as width 3^beta_2 d_x, is consistent with the recalled multiset bound and with S(d, L) in place of "
             "Theorem 2's upper bound, and a beta_2 that grows like log(d_x L) is enough. The corollary says that the shallower net's rank "
             "is higher; this says at least as high as a bound on the deeper net's. No net is built.")


