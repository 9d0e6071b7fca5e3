"""The rank of one graded piece over F_p within a memory budget: a square part first, the rest only
if that falls short.

The part is eliminated in place. Where it has not full rank, the few combinations of its lines that
vanish are kept, and the rest of the matrix is held against them, a few megabytes at a time: the
rank of the whole is found exactly and with no more memory than the part takes.
"""

from __future__ import annotations

import math
import mmap
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..claims.budget import Cost
from ..claims.values import Case, Exact
from ..exact.finite_field import elimination_cost, relations
from ..exact.residues import pieces
from .graded_pieces import (
    PRIME,
    SPARE,
    Forms,
    Piece,
    catalecticant_part,
    forms_bytes,
    forms_entries,
    frontier_forms,
    piece_shape,
    selection,
)

Floats = NDArray[np.float64]

# Bytes of the rest of a matrix that are looked at together.
CHUNK = 2**24

# A larger prime would miss more rarely at each draw, but needs many more reductions: more draws are
# cheaper.
_RARE, _DRAWS = 1e-5, 12


def rank_of_piece(
    case: Case,
    seed: int,
    *,
    most: int,
    memory: int | None = None,
    place: Callable[[Floats], Any] = lambda matrix: matrix,
) -> Exact:
    """The rank of a catalecticant at random weights modulo a prime: certain where it is `most`,
    which no weights exceed.

    Where it is less, other weights are tried until the chance that all of them missed is below
    1e-5: a minor has degree 4 C(L) in the weights for each of its rows, so by Schwartz and Zippel
    over F_p one draw misses with at most that over p. This is the chance of missing the rank that
    weights modulo p can have; a minor whose coefficients are all multiples of p vanishes at every
    draw, and `misses` does not cover it. `memory` and `place` are those of `graded_rank`.
    """
    best, misses = 0, 1.0
    for draw in range(_DRAWS):
        forms = frontier_forms(case.width, case.depth, case.heads, seed + draw)
        measured = graded_rank(forms, case.order, seed=seed + draw, memory=memory, place=place)
        best = max(best, measured)
        if best == most:
            return Exact(best)
        # The larger rank that all draws would have missed is larger than the best of them.
        misses = _one_miss(case.depth, best) ** (draw + 1)
        if misses < _RARE:
            break
    return Exact(best, misses=misses)


def _one_miss(depth: int, rank: int) -> float:
    """The chance at most that weights with this rank miss a larger one."""
    return min(1.0, (rank + 1) * 2 * (3**depth - 1) / PRIME)


def graded_rank(
    forms: Forms,
    order: int,
    *,
    seed: int = 0,
    memory: int | None = None,
    place: Callable[[Floats], Any] = lambda matrix: matrix,
) -> int:
    """The rank of the catalecticant of one order over F_p.

    Args:
        forms, order: from `scaled_forms`; k from 0 to the degree, else a ValueError.
        seed: of the choice of rows or columns that are looked at first; the result does not depend
            on it.
        memory: bytes that the matrix may take; a larger one is eliminated in a temporary file.
        place: moves the matrix to where the elimination is done, for instance to a GPU.

    Cost: `piece_cost`.

    >>> [graded_rank(frontier_forms(2, 2), k) for k in range(5)]
    [2, 6, 6, 3, 1]
    """
    shape = _shape(forms, order)
    if not forms.scaled.any():
        return 0
    piece = selection(shape, np.random.default_rng([seed, order, SPARE]))
    # catalecticant_part transposes for k > C - k; the relations are those among the lines of the
    # shorter side.
    axis = int((shape[0] >= shape[1]) == (2 * order <= forms.degree))
    first = catalecticant_part(forms, order, piece, _in_memory_or_file(memory))
    known = relations(place(first), forms.prime, axis=axis, overwrite=True)
    for rest in _rest(shape, piece):
        if not len(known.others):
            break
        known = known.refined(place(catalecticant_part(forms, order, rest)), forms.prime)
    return len(known.chosen)


def _rest(shape: tuple[int, int], piece: Piece) -> Iterator[Piece]:
    """What is left of the longer side, in parts of bounded size."""
    long = int(shape[1] > shape[0])
    for part in pieces(shape[long], max(1, CHUNK // (8 * min(shape)))):
        left = np.setdiff1d(np.arange(part.start, part.stop), piece[long], assume_unique=True)
        if len(left):
            yield Piece(piece.rows, left) if long else Piece(left, piece.columns)


def _shape(forms: Forms, order: int) -> tuple[int, int]:
    if not 0 <= order <= forms.degree:
        raise ValueError(f"order={order}: accepted are orders from 0 to the degree {forms.degree}")
    D, C = forms.variables, forms.degree
    return forms.width * math.comb(D + order - 1, order), math.comb(D + C - order - 1, C - order)


def _in_memory_or_file(memory: int | None) -> Callable[[tuple[int, int]], Floats]:
    def make(shape: tuple[int, int]) -> Floats:
        size = 8 * math.prod(shape)
        if memory is None or _with_relations(size) <= memory:
            return np.empty(shape)
        with tempfile.TemporaryFile() as file:
            file.truncate(size)
            # The mapping keeps the file, which has no name any more; its pages are the system's to
            # write out.
            return np.frombuffer(mmap.mmap(file.fileno(), size), dtype=np.float64).reshape(shape)

    return make


def _with_relations(size: int) -> int:
    """Bytes of a matrix and, beside it, r (n - r) coefficients of relations, or a triangle."""
    return size + size // 4


def piece_cost(width: int, depth: int, order: int, rank: int | None = None) -> Cost:
    """The cost of a piece of one head, for one choice of weights.

    Its work is operations of float64 matrix products, bytes moved by reductions, columns
    eliminated, numbers gathered for the entries of the matrix, and lines and steps down the tree of
    exponents that they are gathered for. Prepared are the numbers of the forms. Without
    `least_bytes` the matrix, and what stands beside it for relations, goes to disk. A rank that is
    known to be less than the shorter side says that the whole matrix is filled.

    >>> round(piece_cost(4, 3, 6).peak_bytes / 2**30, 1)
    1.5
    """
    shape = piece_shape(width, depth, order)
    short = min(shape)
    m, n = (min(size, short + SPARE) for size in shape)
    cost = elimination_cost(m, n, PRIME)
    operations, filled = cost.operations, (m, n)
    if rank is not None and rank < short:
        operations += 2 * rank * (short - rank) * (rank + max(shape))
        filled = shape
    gathers, lines = _look_ups(width, depth, order, *filled)
    # While the rest is looked at there are a few parts of it, as numbers and as residues.
    beside = cost.peak_bytes - 8 * m * n + (4 * CHUNK if m * n < math.prod(shape) else 0)
    least = beside + forms_bytes(width, depth)
    work = {
        "operations": operations,
        "bytes": cost.bytes_moved,
        "columns": min(m, n),
        "gathers": gathers,
        "lines": lines,
    }
    sizes = {"numbers": forms_entries(width, depth)}
    return Cost(work, sizes, least, least + _with_relations(8 * m * n))


def _look_ups(width: int, depth: int, order: int, rows: int, columns: int) -> tuple[int, int]:
    """(gathers, lines) of `catalecticant_part`: a vector for each line, and node of its tree."""
    degree, variables = (3**depth - 1) // 2, width * (width + 1) // 2
    low = min(order, degree - order)
    lines, others = (rows, columns) if order == low else (columns, rows)
    nodes = min(math.comb(variables + low, low) - 1, lines * low)
    return others * (lines + nodes), lines + nodes
