"""The rank of one graded piece over F_p within a memory budget: a part with as many rows as columns first, the rest only if that falls short.

The part is eliminated in place. Where it has full rank, so has the whole, and nothing else is made. Where it has not, the few combinations of its
lines that vanish are kept, and the rest of the matrix is held against them, a few megabytes at a time: the rank of the whole is found exactly
and with no more memory than the part takes.
"""
from __future__ import annotations

import math
import mmap
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact.finite_field import elimination_cost, relations
from ..exact.residues import pieces
from .graded_pieces import PRIME, SPARE, Forms, Piece, catalecticant_part, forms_bytes, piece_shape, selection

__all__ = ["PieceCost", "graded_rank", "piece_cost"]

Floats = NDArray[np.float64]

# Bytes of the rest of a matrix that are looked at together.
CHUNK = 2**24


def graded_rank(forms: Forms, order: int, *, seed: int = 0, memory: int | None = None,
                place: Callable[[Floats], Any] = lambda matrix: matrix) -> int:
    """The rank of the catalecticant of one order over F_p.

    Args:
        forms: from `scaled_forms`.
        order: k.
        seed: of the choice of rows or columns that are looked at first, where one side is longer; the result does not depend on it.
        memory: bytes that the matrix may take; a larger one is kept in a temporary file and eliminated there, which is slow but exact.
        place: moves the matrix to where the elimination is done, for instance to a GPU.

    Raises:
        ValueError: for an order outside 0 to the degree.

    Cost: `piece_cost`.

    >>> from .graded_pieces import frontier_forms
    >>> [graded_rank(frontier_forms(2, 2), k) for k in range(5)]
    [2, 6, 6, 3, 1]
    """
    shape = _shape(forms, order)
    if not forms.scaled.any():
        return 0
    piece = selection(shape, np.random.default_rng([seed, order, SPARE]))
    # catalecticant_part transposes for k > C - k; the relations are those among the lines of the shorter side.
    axis = int((shape[0] >= shape[1]) == (2 * order <= forms.degree))
    known = relations(place(catalecticant_part(forms, order, piece, _in_memory_or_file(memory))), forms.prime, axis=axis, overwrite=True)
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
            # The mapping keeps the file, which has no name any more; its pages are the system's to write out.
            return np.frombuffer(mmap.mmap(file.fileno(), size), dtype=np.float64).reshape(shape)

    return make


def _with_relations(size: int) -> int:
    """Bytes of a matrix and, beside it, at most r (n - r) numbers: the coefficients of relations that were refined, or a triangle gathered."""
    return size + size // 4


class PieceCost(NamedTuple):
    """What `graded_rank` does for one piece.

    Attributes:
        operations: of float64 matrix products.
        bytes_moved: by the reductions of the elimination.
        columns: that are eliminated.
        gathers: numbers looked up for the entries of the matrix.
        lines: rows or columns, and steps down the tree of exponents, that these look-ups are done for.
        matrix_bytes: of the matrix and what stands beside it for relations.
        peak_bytes: of all memory, forms and tables included, whatever the rank is.
    """

    operations: int
    bytes_moved: int
    columns: int
    gathers: int
    lines: int
    matrix_bytes: int
    peak_bytes: int


def piece_cost(width: int, depth: int, order: int, prime: int = PRIME, rank: int | None = None) -> PieceCost:
    """The cost of a piece of one head whose forms are there already.

    Args:
        width, depth, order: which piece.
        prime: the modulus.
        rank: of the piece, where it is known to be less than the shorter side: then the whole matrix is filled.

    >>> round(piece_cost(4, 3, 6).peak_bytes / 2**30, 1)
    1.5

    Raises:
        ValueError: as `piece_shape`.
    """
    shape = piece_shape(width, depth, order)
    short = min(shape)
    m, n = (min(size, short + SPARE) for size in shape)
    cost, matrix = elimination_cost(m, n, prime), _with_relations(8 * m * n)
    operations, filled = cost.operations, (m, n)
    if rank is not None and rank < short:
        operations += 2 * rank * (short - rank) * (rank + max(shape))
        filled = shape
    gathers, lines = _look_ups(width, depth, order, *filled)
    # While the rest is looked at there are a few parts of it, as numbers and as residues.
    beside = cost.peak_bytes - 8 * m * n + (4 * CHUNK if m * n < math.prod(shape) else 0)
    return PieceCost(operations, cost.bytes_moved, min(m, n), gathers, lines, matrix, matrix + beside + forms_bytes(width, depth))


def _look_ups(width: int, depth: int, order: int, rows: int, columns: int) -> tuple[int, int]:
    """(gathers, lines) of `catalecticant_part`: one vector for each line and for each node of the tree of monomials of the smaller degree."""
    degree, variables = (3**depth - 1) // 2, width * (width + 1) // 2
    low = min(order, degree - order)
    lines, others = (rows, columns) if order == low else (columns, rows)
    nodes = min(math.comb(variables + low, low) - 1, lines * low)
    return others * (lines + nodes), lines + nodes
