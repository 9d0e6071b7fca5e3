"""The frontier: exact separation ranks of one-head nets, graded piece by graded piece, decided for
almost all weights.

A catalecticant modulo a prime, at one choice of weights, has at most the rank it has for almost all
real weights, and that is at most its shorter side, and at most what `count_loss` leaves of its
columns. Where the rank found is its shorter side both ends meet, and no other claim is needed;
where it is what `count_loss` leaves, the upper end is that claim. The entries of the suites quick
and theory come with certificates, which `depthlaw recheck` decides from the file alone.

The same code eliminates on the CPU, in NumPy's arrays, and on a GPU, in PyTorch's: the integers are
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import comb, log
from pathlib import Path

import numpy as np
from sympy import Equality, Min
from sympy.core.relational import Relational

from depthlaw.theory.certificates import recheck
from depthlaw.theory.claims.budget import ClaimTable, Cost, Plan, TableRow
from depthlaw.theory.claims.definition import Case, Claim, Control, Exact, Source, Step, at, claim
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import rank_certificate
from depthlaw.theory.separation_rank.count_loss import LOSS, piece_bound
from depthlaw.theory.separation_rank.dimension_count import dimension_count
from depthlaw.theory.separation_rank.lower_bounds import lower_bound_deep, lower_bound_shallow
from depthlaw.theory.separation_rank.piece_rank import piece_cost, rank_of_piece
from depthlaw.theory.separation_rank.rank_symbols import (
    COLUMNS,
    LONGER,
    ONE_HEAD,
    ROWS,
    SHORTER,
    Eq,
    catalecticant_rank,
)
from depthlaw.theory.separation_rank.upper_bounds import upper_bound_deep, upper_bound_shallow

# What an interpreter with NumPy, SymPy and the claims takes for a piece of no size: 0.1 GB in the
# records of the smallest entries, and 0.3 GB where PyTorch is loaded too.
BASE_BYTES = 320 * 2**20


# --- what a piece takes ---------------------------------------------------------------------------


def cost_of_piece(case: Case) -> Cost:
    """What the rank of a piece takes at one choice of weights, which is enough where the rank is
    its bound, as in every piece so far."""
    shape = case.width, case.depth, case.order
    one = piece_cost(*shape, rank=piece_bound(*shape))
    return Cost(one.work, one.prepared, BASE_BYTES + one.least_bytes, BASE_BYTES + one.peak_bytes)


# Units a second of one process where the shipped records were measured, whose times of a second or
# more they give up to a factor of two. A time limit needs the order of the entries, which another
# machine leaves as it is.
RATES = {
    "operations": 5e10,
    "bytes": 5e8,
    "columns": 2e4,
    "gathers": 2e8,
    "lines": 5e6,
    "numbers": 3e7,
}
PIECES = Plan(cost_of_piece, RATES, group=("width", "depth"))


# --- the table ------------------------------------------------------------------------------------

# The bounds of the literature that a value is held against: below, and above.
BOUNDS = ((lower_bound_shallow, lower_bound_deep), (upper_bound_shallow, upper_bound_deep))


@dataclass(frozen=True)
class BoundRatio:
    """A bound of the literature at one entry: the verdict on it, and log sep / log bound where that
    has a meaning."""

    verdict: Verdict
    ratio: float | None

    def __str__(self) -> str:
        ratio = f"{self.ratio:.2f}" if self.ratio is not None else "none"
        return ratio + ("!" if self.verdict is Verdict.FAILS else "")


@dataclass(frozen=True)
class RankEntry:
    """One (d_x, L): the sum of its graded pieces and what it cost.

    Attributes:
        done, pieces: pieces recorded, of how many.
        settled: whether every piece is as large as any weights allow, so that the value is exact
            for almost all of them.
        rank: the sum over the pieces recorded; a lower bound unless settled.
        count: S(d_x, L).
        operations: of the eliminations recorded, at one choice of weights each.
        seconds: that they took.
        peak_bytes: the largest process among them, or 0.
        bounds: where the literature stands below and above, for a complete entry.
    """

    width: int
    depth: int
    done: int
    pieces: int
    settled: bool
    rank: int
    count: int
    operations: float = 0.0
    seconds: float = 0.0
    peak_bytes: int = 0
    bounds: tuple[BoundRatio | None, ...] = (None, None)

    @property
    def complete(self) -> bool:
        """Whether all pieces are recorded."""
        return self.done == self.pieces


def entries(rows: Sequence[TableRow]) -> list[RankEntry]:
    """The entries that anything is recorded of, by width and depth."""
    by_shape: dict[tuple[int, int], dict[int, TableRow]] = {}
    for row in rows:
        if row.measured is not None:
            by_shape.setdefault((row.case.width, row.case.depth), {})[row.case.order] = row
    return [_entry_of(*shape, list(orders.values())) for shape, orders in sorted(by_shape.items())]


def _entry_of(width: int, depth: int, rows: list[TableRow]) -> RankEntry:
    pieces = (3**depth + 1) // 2
    settled = len(rows) == pieces and all(
        row.decision.certain and row.decision.verdict is Verdict.HOLDS for row in rows
    )
    total = sum(int(row.measured.value) for row in rows if isinstance(row.measured, Exact))
    facts = [record.facts for row in rows for record in row.records]
    return RankEntry(
        width,
        depth,
        len(rows),
        pieces,
        settled,
        total,
        dimension_count(width, depth),
        sum(cost_of_piece(row.case).work["operations"] for row in rows),
        sum(fact.get("timing", {}).get("wall_s", 0.0) for fact in facts),
        max((fact.get("compute", {}).get("peak_bytes_of_process", 0) for fact in facts), default=0),
        tuple(_bound(claims, width, depth, total) if settled else None for claims in BOUNDS),
    )


def _bound(claims: Sequence[Claim], width: int, depth: int, rank: int) -> BoundRatio | None:
    """The bound that applies at this width and depth, judged rigorously."""
    case = Case(width=width, depth=depth, heads=1, tokens=2 * width + 2)
    for theorem in claims:
        decision = judge(theorem, case, Exact(rank))
        if decision.verdict is not Verdict.OUT_OF_SCOPE:
            height = float(theorem.predict(case))
            # One of the four bounds the rank itself, the others its logarithm to base 3.
            if theorem.statement.lhs.is_Symbol:
                height = log(height) / log(3) if height > 0 else 0.0
            proved = height > 0 and rank > 1
            return BoundRatio(decision.verdict, log(rank) / log(3) / height if proved else None)
    return None


def table(rows: Sequence[TableRow]) -> ClaimTable:
    """The frontier at 80 columns: value, S, verdict, cost, and the bounds of Theorems 1 and 2."""
    return ClaimTable(
        title="exact separation ranks of one head",
        columns=(
            "$d_x$",
            "$L$",
            r"$\operatorname{sep}$",
            "$S(d_x, L)$",
            "pieces",
            "verdict",
            "operations",
            "time",
            "memory",
            "lower",
            "upper",
        ),
        rows=tuple(_cells(entry) for entry in entries(rows)),
        legend=LEGEND,
        words=("verdict", "lower", "upper"),
    )


def _cells(entry: RankEntry) -> tuple[str | timedelta, ...]:
    verdict = "exact" if entry.settled else "bound" if entry.complete else "part"
    rank_found = f"{'' if entry.settled else '>= '}{entry.rank}"
    memory = f"{entry.peak_bytes / 2**30:.1f} GB" if entry.peak_bytes else "-"
    bounds = ("-" if bound is None else str(bound) for bound in entry.bounds)
    return (
        str(entry.width),
        str(entry.depth),
        rank_found,
        str(entry.count),
        f"{entry.done}/{entry.pieces}",
        verdict,
        f"{entry.operations:.1e}",
        timedelta(seconds=entry.seconds),
        memory,
        *bounds,
    )


LEGEND = """sep: exact for almost all weights of one head, unless it says >=;
it is below S(d_x, L) where separation_rank/count_loss says so
time: of all pieces, one after the other; memory: the largest process
lower, upper: log sep / log of the bound of Theorem 1 or 2 as recalled (the one
that applies; none: it says nothing); ! violated"""


# --- the claims -----------------------------------------------------------------------------------

# (d_x, L) of each suite. Those of suite gpu take hours on a few cores, and (3, 4) more than 64 GB.
ENTRIES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "quick": ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2)),
    "theory": ((2, 4), (3, 3), (5, 1), (5, 2), (6, 1), (6, 2)),
    "frontier": ((2, 5), *((d, L) for d in range(7, 17) for L in (1, 2))),
    "gpu": ((2, 6), (3, 4)),
}
# Where one head stays below the dimension count, by `count_loss`. (5, 3) takes more than 64 GB.
BELOW: Mapping[str, tuple[tuple[int, int], ...]] = {"frontier": ((4, 3),), "gpu": ((5, 3),)}


def _pieces(sizes: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, list[Case]]:
    """The graded pieces of the entries of each suite, orders 0 to C(L)."""
    return {
        suite: [
            Case(width=d, depth=L, heads=1, order=k)
            for d, L in shapes
            for k in range((3**L + 1) // 2)
        ]
        for suite, shapes in sizes.items()
    }


def piece_rank(case: Case, seed: int, memory: int | None = None, device: str = "cpu") -> Exact:
    """The rank of a piece of one head.

    Args:
        case, seed: which piece, at which weights.
        memory: bytes that this process may take; a matrix that does not fit goes to disk.
        device: of PyTorch, where it is not "cpu".
    """
    most = piece_bound(case.width, case.depth, case.order)
    beside = BASE_BYTES + piece_cost(case.width, case.depth, case.order).least_bytes
    left = None if memory is None else max(0, memory - beside)
    if device == "cpu":
        return rank_of_piece(case, seed, most=most, memory=left)
    import torch

    def place(matrix: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(matrix).to(device)

    return rank_of_piece(case, seed, most=most, memory=left, place=place)


_PAGE = Source("depthlaw", "docs/separation-rank.md")


@claim(
    Eq(catalecticant_rank, SHORTER),
    headline=(
        "Exact ranks in place of bounds, each with a certificate that is rechecked from its file."
    ),
    source=_PAGE,
    kind="two-sided",
    holds_for="almost every",
    cases=_pieces(ENTRIES),
    assumes=ONE_HEAD,
    control=Control(
        Case(width=2, depth=2, heads=1, order=2),
        "max in place of min",
        statement=Eq(catalecticant_rank, LONGER),
    ),
    certified=lambda c: c.heads == 1 and (c.width, c.depth) in rank_certificate.STORED,
    plan=PIECES,
    table=table,
    needs="",
    cited=(
        "Decides whether exact ranks may replace bounds in an argument on nets of these small "
        "shapes."
    ),
)
def exact(case: Case, seed: int, memory: int | None = None, device: str = "cpu") -> Exact:
    r"""The graded pieces of one head have full rank at the listed shapes.

    For one head, almost all weights, each $(d_x, L)$ of the table and every $k$ from 0 to $C$, the
    catalecticant of order $k$ has the rank $\min(d_x \binom{D+k-1}{k}, \binom{D+C-k-1}{C-k})$, its
    shorter side.

    About the entries of the table, not about all $d_x$ and $L$: see
    separation_rank/exact_below_count. In suite frontier HOLDS: its larger entries have no stored
    certificate. That these ranks add up to the separation rank with $N \geq 2 (d_x + 1)$ tokens, so
    that $\operatorname{sep} = S(d_x, L)$, is separation_rank/graded_rank, not this. The lower half
    is a minor that is not zero modulo a prime, the upper half the size of the matrix. Random
    weights below a prime near $2^{22}$, elimination over $F_p$; certificates of other shapes by
    `depthlaw certify`. Of the small entries a test finds the ranks by another route, polynomials in
    the moments.
    """
    return piece_rank(case, seed, memory, device)


@exact.argument(
    "A stored certificate of every case of suites quick and theory: a minor of that size that is "
    "not 0 modulo a prime, decided by python-flint on matrices that no code of the measurement "
    "builds. To be read: a minor that is not 0 at one choice of weights is 0 on a null set only.",
    "certificate",
)
def certificates_proof(statement: Relational) -> Iterator[Step]:
    """Recheck the stored certificate of every entry: its pieces have orders 0 to C(L) and the sizes
    that the statement says.

    A certificate that stands shows that almost all weights reach these ranks; that they are a side
    of the matrix, that none exceeds them.
    """
    yield Step(
        "the statement says what the rank of a catalecticant is",
        isinstance(statement, Equality) and statement.lhs == catalecticant_rank,
    )
    folder = Path(rank_certificate.__file__).parent
    for (d, L), name in rank_certificate.STORED.items():
        data = recheck.load(folder / name)
        steps, entry = recheck.recheck(data), f"d_x = {d}, L = {L}"
        yield Step(
            f"{entry}: the certificate stands, in {len(steps)} steps; no chance is involved",
            all(step.holds and "chance" not in step.says for step in steps),
        )
        yield Step(
            f"{entry}: no code of the measurement took part",
            recheck.finding(data).independent == "yes",
        )
        ranks = {part["order"]: len(part["rows"]) for part in data["pieces"]}
        orders, C, D = range((3**L + 1) // 2), (3**L - 1) // 2, d * (d + 1) // 2
        shape = tuple(data[name] for name in ("width", "depth", "heads")) == (d, L, 1)
        shape = shape and sorted(ranks) == list(orders)
        yield Step(
            f"{entry}: it is about one head of this shape, and its pieces of order 0 to {C} have "
            "the sizes of the statement",
            shape
            and all(at(statement.rhs, Case(width=d, depth=L, order=k)) == ranks[k] for k in orders),
        )
        sides = [(d * comb(D + k - 1, k), comb(D + C - k - 1, C - k)) for k in orders]
        yield Step(
            f"{entry}: each is the shorter side of its matrix, which no rank exceeds",
            shape and all(ranks[k] == min(sides[k]) for k in orders),
        )


@claim(
    Eq(catalecticant_rank, Min(ROWS, COLUMNS - LOSS, evaluate=False)),
    source=_PAGE,
    kind="two-sided",
    holds_for="almost every",
    cases=_pieces(BELOW),
    assumes={**ONE_HEAD, "$d_x > L$": lambda c: c.width > c.depth},
    premises=("separation_rank/count_loss",),
    control=Control(
        Case(width=3, depth=2, heads=1, order=2),
        "one more column lost",
        statement=Eq(catalecticant_rank, Min(ROWS, COLUMNS - 1, evaluate=False)),
    ),
    plan=PIECES,
    table=table,
    needs="",
    cited="Decides between $S(d, L)$ and $S$ less a loss as the generic rank of one head.",
)
def exact_below_count(
    case: Case, seed: int, memory: int | None = None, device: str = "cpu"
) -> Exact:
    r"""At listed shapes one head's graded ranks are the count, or less by a known loss.

    For one head, almost all weights, and each $(d_x, L)$ of the table, the graded piece of order
    $k$ has rank $\min(d_x \binom{D+k-1}{k}, \binom{D+C-k-1}{C-k} - h)$ for every $k$, where $h$ is
    the loss of separation_rank/count_loss for $2 k < C$, and 0 for larger $k$.

    The upper half is separation_rank/count_loss, or the number of rows; the lower half is a minor
    that is not zero modulo a prime. By separation_rank/graded_rank the ranks at (4, 3) add up to
    $\operatorname{sep} = 31456 = S(4, 3) - 4$. So the pattern of separation_rank/exact, that one
    head attains $S$, ends there: at order 6 no weights have a rank above 11436, and almost all have
    it. That rests on count_loss, not on the measurement: that gives a rank modulo $p$, and a minor
    whose integer coefficients are all multiples of $p$ would be missed by every draw. About the
    entries of the table: that it is so for odd $L$, all $d_x > L$ and the largest $k$ with
    $2 k < C$ is a conjecture; for even $L \geq 4$ and that $k$ it is false, as the page shows.
    """
    return piece_rank(case, seed, memory, device)
