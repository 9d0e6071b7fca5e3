"""Graded pieces over F_p: forms against polynomials of python-flint, catalecticants against their
derivatives, parts, memory."""

import dataclasses
import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from flint import Ordering, nmod_mpoly_ctx
from hypothesis import given, strategies as st

from depthlaw.theory.claims.definition import Case, Exact
from depthlaw.theory.exact.finite_field import rank
from depthlaw.theory.separation_rank import (
    graded_pieces as graded,
    linear_attention as la,
    piece_rank,
)
from depthlaw.theory.separation_rank.dimension_count import dimension_count
from depthlaw.theory.separation_rank.value_rank import rank_mod

SHAPES = [(1, 2, 1), (2, 1, 1), (2, 3, 1), (2, 3, 2), (3, 2, 3)]


def net_of(width: int, depth: int, heads: int, prime: int = graded.PRIME):
    rng = np.random.default_rng([width, depth, heads])
    return la.random_net(rng, width=width, depth=depth, heads=heads, prime=prime)


def numbered(variables: int, degree: int) -> list[tuple[int, ...]]:
    """The exponents of all monomials in the order of their numbers."""
    numbers = np.arange(math.comb(variables + degree - 1, degree))
    sums = graded.partial_sums(variables, degree, numbers).T.tolist()
    return [tuple(b - a for a, b in zip([0, *s], [*s, degree], strict=True)) for s in sums]


@pytest.mark.parametrize(("width", "depth", "heads"), SHAPES)
def test_forms_and_ranks_are_those_of_polynomials_and_their_derivatives(width, depth, heads):
    """The normal form at a matrix of variables, by python-flint."""
    net = net_of(width, depth, heads)
    pairs = [(a, b) for a in range(width) for b in range(a, width)]
    names, degree = [f"m{a}{b}" for a, b in pairs], (3**depth - 1) // 2
    ring = nmod_mpoly_ctx.get(names, modulus=net.prime, ordering=Ordering.degrevlex)
    moment = np.empty((width, width), dtype=object)
    for (a, b), variable in zip(pairs, ring.gens(), strict=True):
        moment[a, b] = moment[b, a] = variable
    weights = (net.query, net.key, net.value, net.output)
    lifted = la.LinearAttentionNet(
        *(np.array(w.tolist(), dtype=object) for w in weights), prime=None
    )
    units = np.array(np.eye(width, dtype=int).tolist(), dtype=object)
    polynomials = [la.normal_form(lifted, moment, unit).item() for unit in units]

    def coefficients(polynomial, monomials):
        found = {tuple(map(int, e)): int(c) for e, c in polynomial.to_dict().items()}
        return [found.get(e, 0) for e in monomials]

    dense = (graded.dense_forms(net) % net.prime).astype(int).tolist()
    assert [coefficients(p, numbered(len(pairs), degree)) for p in polynomials] == dense
    forms, derivatives = graded.scaled_forms(net), dict(enumerate(polynomials))
    for order in range(degree + 1):
        monomials = numbered(len(pairs), degree - order)
        rows = np.array([coefficients(p, monomials) for p in derivatives.values()])
        assert piece_rank.graded_rank(forms, order) == rank_mod(rows, net.prime)
        # Each derivative once: by the variables in their order.
        derivatives = {
            (key, place): polynomial.derivative(names[place])
            for key, polynomial in derivatives.items()
            for place in range(key[1] if isinstance(key, tuple) else 0, len(pairs))
        }


@given(st.data())
def test_a_part_holds_the_entries_chosen(data):
    forms, order = graded.frontier_forms(3, 2), data.draw(st.integers(0, 4))
    rows, columns = (
        np.array(sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=9))))
        for size in graded.piece_shape(3, 2, order)
    )
    part = graded.catalecticant_part(forms, order, graded.Piece(rows, columns))
    part = part if order <= forms.degree - order else part.T
    count, monomials = math.comb(6 + order - 1, order), numbered(6, 4)
    place = {e: n for n, e in enumerate(monomials)}
    mu, nu = numbered(6, order), numbered(6, 4 - order)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            both = tuple(a + b for a, b in zip(mu[row % count], nu[column], strict=True))
            assert part[i, j] == forms.scaled[row // count, place[both]]


# --- parts, and the rest where they fall short ----------------------------------------------------


def first_form_alone(width: int, depth: int) -> graded.Forms:
    """Forms of which all but one are zero, so that a random choice of rows mostly has a smaller
    rank than all of them."""
    forms = graded.frontier_forms(width, depth)
    alone = np.concatenate([forms.scaled[:1], np.zeros_like(forms.scaled[1:])])
    return graded.Forms(alone, forms.degree, forms.prime)


def whole(forms: graded.Forms, order: int, shape: tuple[int, int]):
    return graded.catalecticant_part(forms, order, graded.Piece(*map(np.arange, shape)))


def test_a_short_choice_is_not_the_last_word():
    forms, shape = first_form_alone(6, 2), graded.piece_shape(6, 2, 2)
    exact = rank_mod(whole(forms, 2, shape).astype(np.int64), forms.prime)
    first = graded.selection(shape, np.random.default_rng([0, 2, graded.SPARE]))
    part = graded.catalecticant_part(forms, 2, first).astype(np.int64)
    assert rank_mod(part, forms.prime) < exact
    assert piece_rank.graded_rank(forms, 2) == exact


@pytest.mark.parametrize("chunk", [2**14, 2**40])
def test_the_rest_in_parts_gives_the_rank_of_the_whole(chunk, monkeypatch):
    """Rows or columns may be the longer side, and the matrix may be stored either way round."""
    monkeypatch.setattr(piece_rank, "CHUNK", chunk)
    forms, kinds = first_form_alone(6, 2), set()
    for order in range(5):
        shape = graded.piece_shape(6, 2, order)
        exact = rank_mod(whole(forms, order, shape).astype(np.int64), forms.prime)
        assert piece_rank.graded_rank(forms, order) == exact
        kinds.add((shape[0] > shape[1], 2 * order > forms.degree, exact == min(shape)))
    assert {(True, False, False), (False, False, False), (True, True, True)} <= kinds


def peak(work):
    tracemalloc.start()
    try:
        result = work()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("chunk", "within"), [(2**20, True), (2**40, False)])
def test_memory_of_a_piece_that_falls_short(chunk, within, monkeypatch):
    """9315 rows and 1035 columns, of which 1099 rows are taken first: predicted is less than
    what all rows take."""
    forms, shape = first_form_alone(9, 2), (9315, 1035)
    monkeypatch.setattr(piece_rank, "CHUNK", 2**20)
    allowed = piece_rank.piece_cost(9, 2, 2).peak_bytes - graded.forms_bytes(9, 2)
    assert 8 * 1099 * 1035 < allowed < 8 * math.prod(shape)
    monkeypatch.setattr(piece_rank, "CHUNK", chunk)
    found, used = peak(lambda: piece_rank.graded_rank(forms, 2))
    assert found == rank(whole(forms, 2, shape), forms.prime) < 1035
    assert (used <= allowed) == within


@pytest.mark.parametrize(("width", "depth"), [(3, 3), (10, 2), (4, 3)])
def test_memory_of_the_forms(width, depth):
    graded.frontier_forms.cache_clear()
    graded.products_with_variables.cache_clear()
    forms, used = peak(lambda: graded.frontier_forms(width, depth))
    assert forms.scaled.nbytes < used <= graded.forms_bytes(width, depth) + 2**20


def test_what_has_no_forms_or_no_piece_is_refused():
    with pytest.raises(ValueError, match="p=13 does not exceed the degree 13"):
        graded.scaled_forms(net_of(2, 3, 1, prime=13))
    assert graded.scaled_forms(net_of(2, 3, 1, prime=17)).degree == 13
    with pytest.raises(ValueError, match="not prime"):
        graded.scaled_forms(net_of(2, 2, 1, prime=4194289 - 4194289 % 15))
    with pytest.raises(ValueError, match="without residual"):
        graded.dense_forms(dataclasses.replace(net_of(2, 2, 1), residual=True))
    for order in (-1, 5):
        with pytest.raises(ValueError, match="0 to"):
            piece_rank.graded_rank(graded.frontier_forms(2, 2), order)
        with pytest.raises(ValueError, match="0 to 4"):
            graded.piece_shape(2, 2, order)


def test_shapes_add_up_to_the_dimension_count():
    for width, depth in ((2, 3), (3, 3), (5, 2), (12, 2)):
        sizes = [min(graded.piece_shape(width, depth, k)) for k in range((3**depth + 1) // 2)]
        assert sum(sizes) == dimension_count(width, depth)


@pytest.mark.parametrize("order", [4, 6])
def test_a_matrix_on_disk_gives_the_same_rank(order):
    for forms in (graded.frontier_forms(3, 3), first_form_alone(3, 3)):
        on_disk = piece_rank.graded_rank(forms, order, memory=1)
        assert on_disk == piece_rank.graded_rank(forms, order)


# --- cost -----------------------------------------------------------------------------------------


def test_a_piece_known_to_fall_short_costs_more():
    full, short = piece_rank.piece_cost(4, 3, 6), piece_rank.piece_cost(4, 3, 6, rank=11436)
    assert short.peak_bytes == full.peak_bytes
    assert short.work["gathers"] > full.work["gathers"]
    more = short.work["operations"] - full.work["operations"]
    assert more == 2 * 11436 * 4 * (11436 + 20020)
    assert piece_rank.piece_cost(4, 3, 6, rank=11440) == full


def test_every_draw_may_have_missed_the_rank_found_last(monkeypatch):
    """A first choice of weights with a smaller rank has the chance to miss that the final rank has,
    which is larger."""
    ranks = iter([3, *[5] * 20])
    monkeypatch.setattr(piece_rank, "graded_rank", lambda *_, **__: next(ranks))
    case = Case(width=2, depth=2, heads=1, order=2)
    found = piece_rank.rank_of_piece(case, 0, most=6)
    miss = 6 * 16 / graded.PRIME
    assert found.value == 5
    assert found.misses == pytest.approx(miss**2)
    # At the most that any weights have, one choice of them is enough.
    monkeypatch.setattr(piece_rank, "graded_rank", lambda *_, **__: 6)
    assert piece_rank.rank_of_piece(case, 0, most=6) == Exact(6)


WITHIN = """
import resource
from depthlaw.theory.separation_rank import graded_pieces as graded, piece_rank
forms = graded.frontier_forms(2, 5)
piece_rank.graded_rank(forms, 3)
lines = [line.split() for line in open("/proc/self/status")]
used = int(next(line[1] for line in lines if line[0] == "VmData:")) * 1024 + (70 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (used, used))
for memory in (1 << 20, 1 << 40):
    print(piece_rank.graded_rank(forms, 50, memory=memory), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on anonymous memory are Linux's")
def test_memory_stays_within_the_budget():
    """The matrix of 56 MB takes 100 MB with what its elimination needs beside it, and 47 MB where
    it is kept in a file: of the two ranks the second ends the process."""
    found = subprocess.run(
        [sys.executable, "-c", WITHIN],
        capture_output=True,
        text=True,
        env={"PATH": "", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert found.stdout.split() == ["2628"], found.stderr
    assert found.returncode
