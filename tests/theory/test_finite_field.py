"""Linear algebra over F_p against python-flint, a second prime, and matrices whose rank is
known."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import flint
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from depthlaw.theory.exact import finite_field as ff, panel_elimination, residues

# Small primes make minors vanish; the largest allows eight terms without a reduction, so that small
# matrices run through every branch.
PRIMES = (3, 5, 7, 101, 65521, 4194287, 67108859)
PRIME = 4194287


def nmod(a: Any, p: int) -> flint.nmod_mat:
    rows = [[int(v) % p for v in row] for row in a]
    return flint.nmod_mat(len(rows), np.shape(a)[1], [v for row in rows for v in row], p)


def entries(m: flint.nmod_mat) -> list[list[int]]:
    return [[int(v) for v in row] for row in m.table()]


def modulo(a: Any, p: int) -> list[list[int]]:
    return [[int(v) % p for v in row] for row in a]


def first_independent_columns(m: flint.nmod_mat) -> list[int]:
    form, r = m.rref()
    return [next(j for j in range(form.ncols()) if int(form[i, j])) for i in range(r)]


def agrees_with_flint(a: Any, p: int) -> None:
    peer, profile = nmod(a, p), ff.rank_profile(a, p)
    assert ff.rank(a, p) == peer.rank() == len(profile.rows) == len(profile.columns)
    assert profile.columns.tolist() == first_independent_columns(peer)
    assert profile.rows.tolist() == first_independent_columns(peer.transpose())
    if len(profile.rows):
        assert int(nmod(np.asarray(a)[profile.rows][:, profile.columns], p).det()) != 0
    found = ff.ple(a, p)
    r = len(found.columns)
    assert sorted(found.order) == list(range(len(a)))
    assert sorted(found.order[:r]) == profile.rows.tolist()
    assert found.columns.tolist() == profile.columns.tolist()
    assert (found.lower[:r] == np.tril(found.lower[:r], -1) + np.eye(r)).all()
    assert all(
        not found.upper[i, :c].any() and found.upper[i, c] for i, c in enumerate(found.columns)
    )
    assert (ff.matmul(found.lower, found.upper, p) == ff.centred(a, p)[found.order]).all()


@st.composite
def matrices(draw: st.DrawFn, largest: int = 90) -> tuple[np.ndarray, int]:
    """Products of bounded inner length, with entries, rows and columns struck out or repeated."""
    p = draw(st.sampled_from(PRIMES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n = draw(st.integers(0, largest)), draw(st.integers(0, largest))
    if draw(st.booleans()):
        inner = draw(st.integers(0, 1 + min(m, n)))
        a = rng.integers(0, p, (m, inner)) @ rng.integers(0, min(p, 1000), (inner, n))
    else:
        dense = draw(st.sampled_from([0.02, 0.1, 0.5, 1]))
        a = rng.integers(-p, p, (m, n)) * (rng.random((m, n)) < dense)
    if m and n:
        a = a[rng.integers(0, m, m)] if draw(st.booleans()) else a
        a[:, rng.random(n) < draw(st.sampled_from([0, 0.3, 0.9]))] = 0
    return a, p


@given(matrices(), st.integers(0, 2**32), st.booleans())
@settings(max_examples=60)
def test_elimination_agrees_with_flint(
    drawn: tuple[np.ndarray, int], seed: int, narrow: bool
) -> None:
    """In panels of the usual width, and in narrow ones, of which small matrices have many."""
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setattr(residues, "PANEL", 1 + seed % 7)
            patch.setattr(residues, "TILE", 5)
            patch.setattr(residues, "CACHED", 16)
        agrees_with_flint(*drawn)


@given(st.sampled_from(PRIMES), st.tuples(*[st.integers(0, 50)] * 3), st.integers(0, 2**32))
@settings(max_examples=30)
def test_product_agrees_with_flint(p: int, sizes: tuple[int, ...], seed: int) -> None:
    rng, (m, k, n) = np.random.default_rng(seed), sizes
    a, b = rng.integers(-(2**62), 2**62, (m, k)), rng.integers(-p, p, (k, n))
    c = ff.matmul(a, b, p)
    assert c.shape == (m, n)
    assert modulo(c, p) == entries(nmod(a, p) * nmod(b, p)) if min(m, n, k) else not c.any()
    assert (abs(c) <= p // 2).all()


@given(st.sampled_from(PRIMES), st.integers(0, 150), st.integers(0, 20), st.integers(0, 2**32))
@settings(max_examples=30)
def test_triangular_solve_agrees_with_flint(p: int, n: int, k: int, seed: int) -> None:
    rng, lower, unit = np.random.default_rng(seed), bool(seed & 1), bool(seed & 2)
    t, b = rng.integers(0, p, (n, n)), rng.integers(0, p, (n, k))
    np.fill_diagonal(t, rng.integers(1, p, n))
    x = ff.triangular_solve(t, b, p, lower=lower, unit=unit)
    triangle = np.tril(t) if lower else np.triu(t)
    if unit:
        np.fill_diagonal(triangle, 1)
    assert x.shape == (n, k)
    assert modulo(x, p) == entries(nmod(triangle, p).solve(nmod(b, p))) if n and k else not x.size


def are_relations(found: Any, a: Any, p: int) -> None:
    """As many lines chosen as the rank is, hence independent if the others are combinations of
    them; and these are."""
    a = np.asarray(a) if found.axis else np.asarray(a).T
    assert sorted([*found.chosen, *found.others]) == list(range(a.shape[1]))
    assert len(found.chosen) == nmod(a, p).rank()
    combined = ff.matmul(a[:, found.chosen], found.coefficients, p)
    assert (combined == ff.centred(a[:, found.others], p)).all()


@given(matrices(), st.sampled_from([0, 1]), st.lists(st.integers(0, 90), max_size=4))
@settings(max_examples=40)
def test_relations_of_a_matrix_in_parts_are_those_of_the_whole(
    drawn: tuple[np.ndarray, int], axis: int, cuts: list[int]
) -> None:
    a, p = drawn
    parts = np.split(a, sorted(min(cut, a.shape[1 - axis]) for cut in cuts), axis=1 - axis)
    found = ff.relations(parts[0], p, axis=axis)
    for part in parts[1:]:
        found = found.refined(part, p)
    are_relations(found, a, p)
    work = np.asarray(ff.centred(a, p))
    are_relations(ff.relations(work, p, axis=axis, overwrite=True), a, p)


def test_relations_that_are_not_refined_do_not_hold() -> None:
    """The check can say no: these three rows have rank two, and the first of them alone leaves two
    relations."""
    a = np.array([[1, 2, 3], [1, 2, 4], [2, 4, 7]])
    are_relations(ff.relations(a[:1], 101).refined(a[1:], 101), a, 101)
    with pytest.raises(AssertionError):
        are_relations(ff.relations(a[:1], 101), a, 101)
    with pytest.raises(ValueError, match="needed are 3 along axis 1"):
        ff.relations([[1, 2, 3]], 101).refined([[1, 2]], 101)


# --- exactness at the limits ----------------------------------------------------------------------


@pytest.mark.parametrize("p", PRIMES)
def test_largest_entries_are_multiplied_exactly_beyond_the_room(p: int) -> None:
    m, room = p // 2 + 2, residues.room(p)
    assert room >= 8
    assert m + room * m * m <= 2**53 - p
    k, half = min(room, 5000) * 2 + 1, p // 2
    a, b = (np.full((2, k), half) for _ in range(2))
    # An odd sum, which float64 would round beyond 2^53.
    a[:, 0] -= 1
    for sign in (-1, 1):
        expected = sign * (k * half - 1) * half % p
        assert modulo(ff.matmul(a, sign * b.T, p), p) == [[expected] * 2] * 2


@given(st.sampled_from(PRIMES), st.integers(-(2**53) + 2**26, 2**53 - 2**26), st.booleans())
def test_reduction_is_exact_and_bounded(p: int, value: int, halves: bool) -> None:
    if halves:  # next to the half-integers, where the quotient rounds either way
        value = (2 * ((2**53 - 2**28) // (2 * p)) - 2 * (value % 1000) - 1) * p // 2 + value % 2
    field, x = residues.PrimeField(p, np.empty(0)), np.array([float(value)])
    field.reduce(x)
    assert (int(x[0]) - value) % p == 0
    assert abs(x[0]) <= p // 2 + 2
    field.reduce(x)
    assert abs(x[0]) <= p // 2


# --- matrices made to mislead ---------------------------------------------------------------------

N = 140


def structured() -> list[tuple[Any, int]]:
    rng = np.random.default_rng(5)
    i, j = np.indices((N, N))
    points = np.arange(1, N + 1)
    powers = np.array([[pow(int(x), k, PRIME) for k in range(2 * N)] for x in points])
    low = rng.integers(0, 1000, (N, 30)) @ rng.integers(0, 1000, (30, N))
    return [
        (np.zeros((N, N), int), 0),
        (np.eye(N, dtype=int)[rng.permutation(N)], N),
        (np.eye(N, dtype=int)[::-1], N),
        (rng.integers(0, PRIME, (20, N))[rng.integers(0, 20, N)], 20),
        ((j >= 3 * (i // 2)) * (i % 2 == 0) * 1, 47),
        (PRIME * low, 0),
        (powers[:, :N], N),
        (powers[np.arange(N) % 50, :N], 50),
        (powers[:37].sum(0)[i + j], 37),
        ((j == N - 1) * (i + 1), 1),
        ((i == N - 1) * (j + 1), 1),
        ((i < N // 2) * (j >= N // 2) * powers[:, :N], N // 2),
        ((j == i + 1) * 1, N - 1),
        (np.minimum(i, j), N - 1),
        (points[None], 1),
        (points[:, None], 1),
        (np.array([[0]]), 0),
    ]


def test_structured_matrices() -> None:
    for a, expected in structured():
        assert ff.rank(a, PRIME) == expected
        agrees_with_flint(a, PRIME)
    for shape in ((0, 7), (7, 0), (0, 0)):
        assert ff.rank(np.zeros(shape, int), PRIME) == 0


# --- kinds of arrays, memory, cost ----------------------------------------------------------------


@given(matrices(largest=80))
@settings(max_examples=15)
def test_torch_agrees_with_numpy(drawn: tuple[np.ndarray, int]) -> None:
    a, p = drawn
    tensor = torch.as_tensor(a)
    for given_ in (tensor, torch.as_tensor(np.asarray(ff.centred(a, p)))):
        mine, other = ff.rank_profile(given_, p), ff.rank_profile(a, p)
        assert mine.rows.tolist() == other.rows.tolist()
        assert mine.columns.tolist() == other.columns.tolist()
    assert ff.rank(tensor, p) == len(mine.columns)
    mine, other = ff.ple(tensor, p), ff.ple(a, p)
    assert (mine.order == other.order).all()
    assert isinstance(mine.lower, torch.Tensor)
    assert mine.lower.tolist() == other.lower.tolist()
    assert mine.upper.tolist() == other.upper.tolist()
    products = [ff.matmul(found.lower, found.upper, p).tolist() for found in (mine, other)]
    assert products[0] == products[1]
    for axis in (0, 1):
        some, same = (ff.relations(x[:40], p, axis=axis) for x in (tensor, a))
        if axis:
            some, same = (found.refined(x[40:], p) for found, x in ((some, tensor), (same, a)))
        assert some.chosen.tolist() == same.chosen.tolist()
        assert some.coefficients.tolist() == same.coefficients.tolist()
    r = len(mine.columns)
    solved = [ff.triangular_solve(found.lower[:r], found.upper, p) for found in (mine, other)]
    assert solved[0].tolist() == solved[1].tolist()


@pytest.mark.parametrize(
    "a",
    [
        [[1, -2], [0, 2**53 + 1]],
        np.array([[1, -2], [0, 2**53 + 1]]),
        np.array([[1, 5], [0, 2**64 - 1]], dtype=np.uint64),
        [[10**30, 1], [7, 0]],
        np.array([[True, False], [False, True]]),
        np.array([[1, -2], [3, 4]], dtype=np.int8),
        np.array([[1.0, 2.0**52], [-(2.0**52), 0]]),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
    ],
)
def test_every_integer_type_has_its_residues(a: Any) -> None:
    assert modulo(ff.centred(a, 101), 101) == [[int(v) % 101 for v in row] for row in a]


def test_argument_is_kept_unless_it_may_be_overwritten() -> None:
    a = ff.centred(np.random.default_rng(0).integers(0, PRIME, (300, 300)), PRIME)
    kept = a.copy()
    assert ff.rank(a, PRIME) == 300
    assert (a == kept).all()
    assert ff.rank(a, PRIME, overwrite=True) == 300
    assert not (a == kept).all()


@pytest.mark.parametrize("flip", [1, -1])
def test_memory_stays_within_the_stated_cost(flip: int) -> None:
    # Upside down the first rows are zero, and every panel needs pivots.
    a = np.triu(np.random.default_rng(1).integers(0, PRIME, (1500, 1500)).astype(float))[::flip]
    tracemalloc.start()
    try:
        found = ff.rank(a, PRIME)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == 1500
    assert a.nbytes < peak <= ff.elimination_cost(*a.shape, PRIME).peak_bytes


def test_nothing_of_the_matrix_stays_in_memory() -> None:
    """Not even until the next collection of cycles: a matrix kept by one would stand beside the
    next one."""
    a = np.random.default_rng(4).integers(0, 1000, (300, 300)).astype(float)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        for call in (ff.rank, ff.ple, ff.relations):
            call(a, PRIME)
            assert tracemalloc.get_traced_memory()[0] < a.nbytes / 10
        ff.triangular_solve(np.triu(a) + np.eye(len(a)), a, PRIME, lower=False)
        assert tracemalloc.get_traced_memory()[0] < a.nbytes / 10
    finally:
        tracemalloc.stop()
        gc.enable()


@pytest.mark.parametrize(
    ("m", "n", "r"), [(320, 320, 320), (200, 500, 200), (256, 256, 130), (100, 100, 0)]
)
def test_predicted_operations_are_those_done(
    m: int, n: int, r: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = 0
    genuine = residues.PrimeField.subtract_product

    def counted(self: residues.PrimeField, c: Any, a: Any, b: Any, *rest: Any) -> int:
        nonlocal done
        done += 2 * c.shape[0] * c.shape[1] * b.shape[0]
        return genuine(self, c, a, b, *rest)

    monkeypatch.setattr(residues.PrimeField, "subtract_product", counted)
    rng = np.random.default_rng(2)
    a = ff.matmul(rng.integers(0, PRIME, (m, r)), rng.integers(0, PRIME, (r, n)), PRIME)
    done = 0
    assert ff.rank(a, PRIME) == r
    predicted = ff.elimination_cost(m, n, PRIME, r).operations
    # Products of panels and of diagonal blocks are not counted here: of width 64, they are at most
    # 64 (m + n) r each way.
    assert done <= predicted <= done + 4 * 64 * (m + n) * max(r, 1)
    assert predicted <= 2 * (m * n * r - (m + n) * r * r / 2 + r**3 / 3) + 4 * 64 * (m + n) * r


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "why"),
    [
        *((p, "not prime") for p in (4194303, 561, 9)),
        (67108879, "try default_prime"),
        *((p, "odd primes") for p in (2, 1, 0, -7, 7.5)),
    ],
)
def test_modulus_that_is_no_accepted_prime_is_refused(p: int, why: str) -> None:
    for call in (ff.rank, ff.ple):
        with pytest.raises(ValueError, match=why) as caught:
            call([[1]], p)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [[[0.5]], [[float("nan")]], [[float("inf")]], [[2.0**53]], [["a"]], [[1j]], [1, 2], 3, [[[1]]]],
)
def test_bad_matrix_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"entries|dimensions"):
        ff.rank(bad, 101)


def test_bad_shapes_and_singular_triangles_are_refused() -> None:
    with pytest.raises(ValueError, match="inner lengths differ"):
        ff.matmul(np.ones((2, 3)), np.ones((2, 3)), 7)
    with pytest.raises(ValueError, match="needed are"):
        ff.triangular_solve(np.ones((2, 3)), np.ones((2, 1)), 7)
    with pytest.raises(ValueError, match="row 1"):
        ff.triangular_solve([[1, 0], [3, 7]], [[1], [1]], 7)
    with pytest.raises(ValueError, match="overwritten"):
        ff.rank(np.ones((2, 2), int), 7, overwrite=True)
    with pytest.raises(ValueError, match="rank from 0 to 2"):
        ff.elimination_cost(2, 3, 7, 3)
    with pytest.raises(ValueError, match="0 or more"):
        ff.default_prime(-1)


def test_default_prime_is_the_largest_with_the_room() -> None:
    for n in (0, 1, 9, 64, 2048, 10**7):
        p, terms = ff.default_prime(n), min(max(n, 1), 2048)
        assert flint.fmpz(p).is_prime()
        assert residues.room(p) >= terms
        larger = next(q for q in range(p + 1, p + 10**4) if flint.fmpz(q).is_prime())
        assert residues.room(larger) < terms or larger >= 2**26


# --- two routes to a rank -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "n"),
    [(1, 1), (0, 5), (3, ff.FLINT_SIDE), (ff.FLINT_SIDE + 1, 3), (ff.FLINT_SIDE + 1,) * 2],
)
@pytest.mark.parametrize("p", [3, PRIME, 67108859])
def test_swapping_the_routes_changes_no_rank(m: int, n: int, p: int) -> None:
    rng = np.random.default_rng([m, n, p])
    for r in {0, min(m, n) // 2, min(m, n)}:
        a = rng.integers(0, p, (m, r)) @ rng.integers(0, 2**20, (r, n)) % p
        for matrix in (a.tolist() if a.size else a, ff.centred(a, p), a.astype(object), a - p):
            # The route that a matrix of this size takes, and the other one.
            found = {ff.rank(matrix, p)}
            with pytest.MonkeyPatch.context() as patch:
                side = -1 if max(m, n) <= ff.flint_side(p) else max(m, n)
                patch.setattr(ff, "FLINT_SIDE", side)
                found.add(ff.rank(matrix, p))
            assert found == {len(ff.rank_profile(matrix, p).columns)}


def test_wrong_pivot_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can say no: with an elimination that forgets the reduction of its panels the
    comparison fails."""
    a = np.random.default_rng(3).integers(0, PRIME, (130, 130))
    monkeypatch.setattr(panel_elimination, "_factor_square", lambda d, p: True)
    with pytest.raises((AssertionError, ValueError)):
        agrees_with_flint(a, PRIME)
