"""The frontier: exact separation ranks of one-head nets, graded piece by graded piece, decided for almost all weights.

A catalecticant modulo a prime, at one choice of weights, has at most the rank it has for almost all real weights, and that is at most its
shorter side, and at most what `count_loss` leaves of its columns. Where the rank found is its shorter side both ends meet, and no other claim is
needed; where it is what `count_loss` leaves, the upper end is that claim. The entries of the suites quick and theory come with certificates,
which `depthlaw recheck` decides from the file alone.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..claim import Case, Claim, Control, Source, at
from ..values import Exact, Step
from .count_loss import loss_of_columns, piece_bound
from .graded_pieces import PRIME, frontier_forms, piece_shape
from .piece_rank import graded_rank, piece_cost

if TYPE_CHECKING:
    import sympy

__all__ = ["CERTIFICATES", "ENTRIES", "MEMORY", "RANKS", "certificates_proof", "claims", "draws", "entry_cases", "measured_piece"]

# (d_x, L) of each suite. Those of suite gpu take hours on a few cores, and (3, 4) more than 64 GB.
_SMALL, _MEDIUM = ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2)), ((2, 4), (3, 3), (5, 1), (5, 2), (6, 1), (6, 2))
ENTRIES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "quick": _SMALL, "theory": _MEDIUM,
    "frontier": ((2, 5), *((d, L) for d in range(7, 17) for L in (1, 2))),
    "gpu": ((2, 6), (3, 4))}

# The certificate of each entry of the suites quick and theory, beside this file. Written out, so that a run's code hash covers them.
CERTIFICATES: Mapping[tuple[int, int], str] = {
    (2, 1): "certificates/exact-2-1.json", (2, 2): "certificates/exact-2-2.json", (2, 3): "certificates/exact-2-3.json",
    (2, 4): "certificates/exact-2-4.json", (3, 1): "certificates/exact-3-1.json", (3, 2): "certificates/exact-3-2.json",
    (3, 3): "certificates/exact-3-3.json", (4, 1): "certificates/exact-4-1.json", (4, 2): "certificates/exact-4-2.json",
    (5, 1): "certificates/exact-5-1.json", (5, 2): "certificates/exact-5-2.json", (6, 1): "certificates/exact-6-1.json",
    (6, 2): "certificates/exact-6-2.json"}

# Where one head stays below the dimension count, by `count_loss`. (5, 3) takes more than 64 GB.
_BELOW: Mapping[str, tuple[tuple[int, int], ...]] = {"frontier": ((4, 3),), "gpu": ((5, 3),)}

# The environment variable with the bytes that one process may take for a piece: it moves the matrix to disk and changes no result.
MEMORY = "DEPTHLAW_MEMORY"


def entry_cases(width: int, depth: int) -> tuple[Case, ...]:
    """The graded pieces of one entry, orders 0 to C(L)."""
    return Case.grid(width=width, depth=depth, heads=1, order=range((3**depth + 1) // 2))


def measured_piece(case: Case, seed: int) -> Exact:
    """The rank of one catalecticant at random weights modulo a prime: certain where no weights can have a larger one.

    Where it is less than that, other weights are tried until the chance that all of them missed is below 1e-5: a minor has degree 4 C(L) in
    the weights for each of its rows, so by Schwartz and Zippel over F_p one draw misses with at most that over p. This is the chance of missing
    the rank that weights modulo p can have; a minor whose coefficients are all multiples of p vanishes at every draw, and `misses` does not
    cover it. "Certain" rests on what bounds the rank from above: the size of the matrix, or for one head `count_loss.piece_bound`.
    """
    return rank_of_piece(case, seed)


def rank_of_piece(case: Case, seed: int, place: Callable[[Any], Any] = lambda matrix: matrix, *, most: int | None = None) -> Exact:
    """`measured_piece`, with the matrix moved by `place` to where the elimination is done.

    No rank exceeds `most`: `count_loss.piece_bound` where it is not given.
    """
    if most is None:
        most = piece_bound(case.width, case.depth, case.order) if case.heads == 1 else min(piece_shape(case.width, case.depth, case.order))
    memory, best, misses = _matrix_budget(case), 0, 1.0
    for draw in range(_DRAWS):
        forms = frontier_forms(case.width, case.depth, case.heads, seed + draw)
        best = max(best, graded_rank(forms, case.order, seed=seed + draw, memory=memory, place=place))
        if best == most:
            return Exact(best)
        # The larger rank that all draws would have missed is larger than the best of them.
        misses = _one_miss(case.depth, best) ** (draw + 1)
        if misses < _RARE:
            break
    return Exact(best, misses=misses)


def _one_miss(depth: int, rank: int) -> float:
    """The chance at most that weights with this rank miss a larger one: a minor of one row more has degree 4 C(L) for each row."""
    return min(1.0, (rank + 1) * 2 * (3**depth - 1) / PRIME)


def draws(width: int, depth: int, order: int) -> int:
    """How many choices of weights `measured_piece` takes for a piece: one where its rank is the bound, else as many as its rank needs.

    >>> draws(4, 3, 5), draws(4, 3, 6)
    (1, 1)
    """
    rank = RANKS.get((width, depth, order))
    if rank is None or rank == piece_bound(width, depth, order):
        return 1
    miss = _one_miss(depth, rank)
    return next((n for n in range(1, _DRAWS) if miss**n < _RARE), _DRAWS)


# A larger prime would miss more rarely at each draw, but needs many more reductions: more draws are cheaper.
_RARE, _DRAWS = 1e-5, 12


def _matrix_budget(case: Case) -> int | None:
    """What is left for the matrix, beside everything else that the piece needs."""
    text = os.environ.get(MEMORY, "")
    if not text:
        return None
    cost = piece_cost(case.width, case.depth, case.order)
    return max(0, int(text) - (cost.peak_bytes - cost.matrix_bytes))


# Ranks below the shorter side that were found, by (d_x, L, k). These tell the time that a piece takes; nothing that is measured or judged looks
# at them.
RANKS: Mapping[tuple[int, int, int], int] = {(4, 3, 6): 11436}


def claims() -> Iterator[Claim]:
    """The claims of the frontier."""
    yield _exact_claim()
    yield from _below_claims()


def _sizes() -> tuple[sympy.Symbol, tuple[sympy.Expr, sympy.Expr]]:
    """The rank of a catalecticant, and its rows and columns."""
    from sympy import binomial

    from ..glossary import symbol

    d, L, k = symbol("width"), symbol("depth"), symbol("order")
    D, C = d * (d + 1) / 2, (3**L - 1) / 2
    return symbol("catalecticant"), (d * binomial(D + k - 1, k), binomial(D + C - k - 1, C - k))


def _exact_claim() -> Claim:
    from sympy import Eq, Max, Min

    found, sizes = _sizes()
    return Claim(
        key="separation_rank/exact", title="exact ranks of the graded pieces of one head",
        text="For one head, almost all weights, each (d_x, L) of the table and every k from 0 to C, the catalecticant of order k has the rank "
              "min(d_x binom(D+k-1, k), binom(D+C-k-1, C-k)), its shorter side.",
        statement=Eq(found, Min(*sizes)), source=Source("depthlaw", "docs/separation-rank.md"), wording="derived", kind="two-sided",
        holds_for="almost every", measured=measured_piece, assumes={"H = 1": lambda c: c.heads == 1},
        proof=certificates_proof, evidence="certificate", certified=lambda c: (c.width, c.depth) in CERTIFICATES and c.heads == 1,
        rests_on="A stored certificate of every case of suites quick and theory: a minor of that size that is not 0 modulo a prime, decided by "
                 "python-flint on matrices that no code of the measurement builds. To be read: a minor that is not 0 at one choice of weights is 0 "
                 "on a null set only.",
        grid={suite: tuple(c for entry in entries for c in entry_cases(*entry)) for suite, entries in ENTRIES.items()},
        control=Control(Case(width=2, depth=2, heads=1, order=2), "max in place of min", statement=Eq(found, Max(*sizes))),
        note="About the entries of the table, not about all d_x and L: see separation_rank/exact_below_count. In suite frontier HOLDS: its larger "
             "entries have no stored certificate. That these ranks add up to the "
             "separation rank with N >= 2 (d_x + 1) tokens, so that sep = S(d_x, L), is separation_rank/graded_rank, not this. The lower half is a "
             "minor that is not zero modulo a prime, the upper half the size of the matrix. Random weights below a prime near 2^22, "
             "elimination over F_p; certificates of other shapes by `depthlaw certify`.")


def certificates_proof(statement: Any) -> Iterator[Step]:
    """Recheck the stored certificate of every entry: its pieces have orders 0 to C(L) and the sizes that the statement says.

    A certificate that stands shows that almost all weights reach these ranks; that they are a side of the matrix, that none exceeds them.
    """
    import sympy

    from ..certificates import finding, load, recheck
    from ..glossary import symbol

    yield Step("the statement says what the rank of a catalecticant is", isinstance(statement, sympy.Eq) and statement.lhs == symbol("catalecticant"))
    for (d, L), name in CERTIFICATES.items():
        data = load(Path(str(files(__package__) / name)))
        steps = recheck(data)
        yield Step(f"d_x = {d}, L = {L}: the certificate stands, in {len(steps)} steps; no chance is involved",
                   all(step.holds for step in steps) and not any("chance" in step.says for step in steps))
        yield Step(f"d_x = {d}, L = {L}: no code of the measurement took part", finding(data).independent == "yes")
        ranks = {part["order"]: len(part["rows"]) for part in data["pieces"]}
        orders, C, D = range((3**L + 1) // 2), (3**L - 1) // 2, d * (d + 1) // 2
        shape = (data["width"], data["depth"], data["heads"]) == (d, L, 1) and sorted(ranks) == list(orders)
        yield Step(f"d_x = {d}, L = {L}: it is about one head of this shape, and its pieces of order 0 to {C} have the sizes of the statement",
                   shape and all(at(statement.rhs, Case(width=d, depth=L, order=k)) == ranks[k] for k in orders))
        yield Step(f"d_x = {d}, L = {L}: each is the shorter side of its matrix, which no rank exceeds",
                   shape and all(ranks[k] == min(d * comb(D + k - 1, k), comb(D + C - k - 1, C - k)) for k in orders))


def _below_claims() -> Iterator[Claim]:
    from sympy import Eq, Max, Min

    found, sizes = _sizes()
    lost = Min(sizes[0], sizes[1] - loss_of_columns())
    yield Claim(
        key="separation_rank/exact_below_count", title="exact separation ranks below the dimension count",
        text="For one head, almost all weights, and each (d_x, L) of the table, the graded piece of order k has rank "
              "min(d_x binom(D+k-1, k), binom(D+C-k-1, C-k) - h) for every k, where h is the loss of separation_rank/count_loss for 2 k < C, and 0 "
              "for larger k.",
        statement=Eq(found, lost), source=Source("depthlaw", "docs/separation-rank.md"), wording="derived", kind="two-sided",
        holds_for="almost every", measured=measured_piece, assumes={"H = 1": lambda c: c.heads == 1, "d_x > L": lambda c: c.width > c.depth},
        premises=("separation_rank/count_loss",),
        grid={suite: tuple(c for entry in entries for c in entry_cases(*entry)) for suite, entries in _BELOW.items()},
        control=Control(Case(width=3, depth=2, heads=1, order=2), "one more column lost", statement=Eq(found, Min(sizes[0], sizes[1] - 1))),
        note="The upper half is separation_rank/count_loss, or the number of rows; the lower half is a minor that is not zero modulo a prime. "
             "By separation_rank/graded_rank the ranks at (4, 3) add up to sep = 31456 = S(4, 3) - 4. "
             "About the entries of the table: that it is so for odd L, all d_x > L and the largest k with 2 k < C is a conjecture; for even L >= 4 "
             "and that k it is false, as the page shows.")
    yield Claim(
        key="separation_rank/count_attained", title="one head attains the dimension count at width 4, depth 3",
        text="For one head and almost all weights, the graded pieces at d_x = 4, L = 3 have the rank of their shorter "
              "side, as they must if sep = S(4, 3) = 31460; asked at orders 0 and 6.",
        statement=Eq(found, Min(*sizes)), source=Source("depthlaw", "the pattern of separation_rank/exact, continued"), wording="derived",
        kind="identity", holds_for="almost every", measured=measured_piece, assumes={"H = 1": lambda c: c.heads == 1}, known="FAILS",
        premises=("separation_rank/count_loss",),
        grid={"frontier": Case.grid(width=4, depth=3, heads=1, order=(0, 6))},
        control=Control(Case(width=2, depth=2, heads=1, order=2), "max in place of min", statement=Eq(found, Max(*sizes))),
        note="Fails at order 6: no weights have a rank above 11436 by separation_rank/count_loss, and almost all have it "
             "(separation_rank/exact_below_count). The failure rests on count_loss, not on the measurement: that gives a rank modulo p, and a minor "
             "whose integer coefficients are all multiples of p would be missed by every draw.")
