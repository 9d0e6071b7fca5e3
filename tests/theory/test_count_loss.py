"""Where one head falls short of the dimension count: the word, the pigeonholes, the ideal, and what
a wrong constant does."""

import itertools
import math

import numpy as np
import pytest
from flint import Ordering, nmod_mpoly_ctx
from hypothesis import given, settings, strategies as st
from judging import claims

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.exact.finite_field import centred, rank
from depthlaw.theory.separation_rank import count_loss, graded_pieces as graded
from depthlaw.theory.separation_rank.count_loss import ideal_codimension, piece_bound
from depthlaw.theory.separation_rank.dimension_count import dimension_count, moments_degree
from depthlaw.theory.separation_rank.head_word import kept_letters, separators
from depthlaw.theory.separation_rank.piece_rank import graded_rank

CLAIMS = claims("separation_rank")
PRIME = graded.PRIME


def matrices(rng, *shape):
    return rng.integers(0, PRIME, shape).astype(object)


def constants_of(left, right, word):
    """c_l = P_l^T B_l P_l with P_l = A_{l-1} ... A_1, in the order of the word, for M -> A M B."""
    ahead, found = np.eye(len(left[0]), dtype=object), []
    for A, B in zip(left, right, strict=True):
        found.append(ahead.T @ B @ ahead % PRIME)
        ahead = A @ ahead % PRIME
    return ahead, [found[s - 1] if s > 0 else found[-s - 1].T for s in word]


def written_out(row, M, constants):
    """row M s_1 M ... s_{C-1} M."""
    row = row @ M % PRIME
    for constant in constants:
        row = row @ constant % PRIME @ M % PRIME
    return row


# --- the word -------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_word_is_the_net(depth):
    rng = np.random.default_rng(depth)
    left, right, M = matrices(rng, depth, 3, 3), matrices(rng, depth, 3, 3), matrices(rng, 3, 3)
    M = M + M.T
    ahead, constants = constants_of(left, right, separators(depth))
    word = written_out(ahead, M, constants)
    net, moments = np.eye(3, dtype=object), M
    for A, B in zip(left, right, strict=True):
        layer = A @ moments % PRIME @ B % PRIME
        net, moments = (
            layer @ net % PRIME,
            layer @ moments % PRIME @ layer.T % PRIME,
        )
    assert (word @ right[0] % PRIME == net).all()
    # One transpose left out is another polynomial.
    _, wrong = constants_of(left, right, [abs(s) for s in separators(depth)])
    assert depth == 1 or not (written_out(ahead, M, wrong) == word).all()


@given(
    word=st.lists(st.integers(-3, 3).filter(bool), max_size=9),
    forbidden=st.sets(st.integers(1, 3)),
    first=st.booleans(),
)
@settings(max_examples=100)
def test_kept_letters_by_trying_all_choices(word, forbidden, first):
    best = max(
        sum(kept)
        for kept in itertools.product((0, 1), repeat=len(word) + 1)
        if not (first and kept[0])
        and not any(kept[i] and kept[i + 1] and abs(s) in forbidden for i, s in enumerate(word))
    )
    assert kept_letters(word, forbidden, first) == best


@pytest.mark.parametrize("on_the_zeros", [True, False])
def test_the_degree_of_a_net_in_the_direction_of_a_common_zero(on_the_zeros):
    """F(N + t v v^T) at width 4 and depth 3 has degree 6 in t, not 13, where a.v = v^T c_1 v =
    v^T c_2 v = 0: derivatives of order 6 vanish there."""
    rng = np.random.default_rng(5)
    left, right, N, v = (matrices(rng, *shape) for shape in ((3, 4, 4), (3, 4, 4), (4, 4), (4,)))
    if on_the_zeros:
        u = v
        for layer in range(2):
            right[layer, 0, 0] -= u @ right[layer] @ u * pow(int(u[0]) ** 2, -1, PRIME)
            u = left[layer] @ u % PRIME
        left[2, 0, 0] -= left[2, 0] @ u * pow(int(u[0]), -1, PRIME)
    ahead, constants = constants_of(left, right, separators(3))
    moments = (N + N.T + t * np.outer(v, v) for t in range(14))
    differences, found = np.array([written_out(ahead[0], M, constants) for M in moments]), -1
    for degree in range(14):
        found = degree if differences[0].any() else found
        differences = (differences[1:] - differences[:-1]) % PRIME
    assert found == (6 if on_the_zeros else 13)


# --- the ideal ------------------------------------------------------------------------------------


def codimension(forms, variables, degree):
    """Of the ideal of some forms {exponents: coefficient} in one degree, modulo a prime."""

    def monomials(n):
        chosen = itertools.combinations_with_replacement(range(variables), n)
        return [tuple(np.bincount(m, minlength=variables)) for m in map(list, chosen)]

    zero = (0,) * variables
    places = {m: i for i, m in enumerate(monomials(degree))} if degree else {zero: 0}
    rows = []
    for form in forms:
        for m in monomials(degree - sum(next(iter(form)))):
            row = np.zeros(len(places))
            for exponents, coefficient in form.items():
                row[places[tuple(np.add(m, exponents))]] += coefficient
            rows.append(row)
    return len(places) - rank(np.array(rows), PRIME)


def random_form(rng, variables, degree):
    monomials = itertools.combinations_with_replacement(range(variables), degree)
    return {
        tuple(np.bincount(list(m), minlength=variables)): int(rng.integers(1, PRIME))
        for m in monomials
    }


@pytest.mark.parametrize(
    ("d", "q", "j", "degree"),
    [(2, 1, 0, 4), (3, 2, 1, 6), (3, 1, 1, 5), (4, 2, 1, 6), (4, 3, 1, 7), (5, 3, 1, 4)],
)
def test_no_forms_leave_less_than_monomials(d, q, j, degree):
    rng, bound = np.random.default_rng([d, q, j]), ideal_codimension(d, q, j, degree)
    forms = [random_form(rng, d, 2) for _ in range(q)] + [random_form(rng, d, 1) for _ in range(j)]
    assert codimension(forms, d, degree) == bound
    assert codimension([forms[0], *forms[:-1]], d, degree) >= bound
    # A form more is another matter.
    assert q + j == d or codimension([*forms, random_form(rng, d, 2)], d, degree) < bound


# --- words over a prime field ---------------------------------------------------------------------


def word_rank(width, letters, order, separators_of):
    """The rank of the derivatives of a^T M s_1 M ... s_{C-1} M, multiplied out by python-flint."""
    rng, pairs = np.random.default_rng(3), [(a, b) for a in range(width) for b in range(a, width)]
    names = [f"m{a}{b}" for a, b in pairs]
    ring = nmod_mpoly_ctx.get(names, modulus=PRIME, ordering=Ordering.degrevlex)
    M = np.empty((width, width), dtype=object)
    for (a, b), variable in zip(pairs, ring.gens(), strict=True):
        M[a, b] = M[b, a] = variable
    row = matrices(rng, width) @ M
    for separator in separators_of(rng):
        row = row @ separator @ M
    forms = [{tuple(map(int, m)): int(c) for m, c in form.to_dict().items()} for form in row]
    numbers = np.arange(math.comb(len(pairs) + letters - 1, letters))
    scaled = [
        [form.get(e, 0) * math.prod(map(math.factorial, e)) for form in forms]
        for e in map(tuple, graded.exponents_of(len(pairs), letters, numbers).T.tolist())
    ]
    return graded_rank(graded.Forms(centred(np.array(scaled).T, PRIME), letters, PRIME), order)


@pytest.mark.parametrize(
    ("width", "letters", "shared", "bound", "found"),
    [
        *((3, 5, 1, 54, 54), (3, 5, 2, None, 56), (3, 7, 1, 124, 124), (4, 5, 1, 207, 205)),
        *((4, 5, 2, 216, 216), (4, 7, 1, 698, 696), (4, 7, 2, 711, 711)),
    ],
)
def test_words_lose_with_fewer_matrices_at_even_places_than_the_width_less_one(
    width, letters, shared, bound, found
):
    """The table of docs/separation-rank.md, the small model of what happens at (4, 3)."""

    def few(rng):
        chosen, fresh = matrices(rng, shared, width, width), matrices(rng, letters, width, width)
        for place in range(1, letters):
            matrix = fresh[place] if place % 2 else chosen[place // 2 % shared]
            yield matrix.T if rng.integers(2) else matrix

    order, D = (letters - 1) // 2, width * (width + 1) // 2
    assert word_rank(width, letters, order, few) == found
    if bound:
        columns = math.comb(D + letters - order - 1, letters - order)
        assert bound == columns - ideal_codimension(width, shared, 1, 2 * (letters - order))


@pytest.mark.parametrize(("width", "depth"), [(2, 2), (3, 2), (2, 3)])
def test_pieces_of_a_net_and_of_a_word_of_its_kind_have_equal_ranks(width, depth):
    letters = moments_degree(depth)

    def of_a_net(rng):
        constants = matrices(rng, depth + 1, width, width)
        return [constants[s] if s > 0 else constants[-s].T for s in separators(depth)]

    forms = graded.frontier_forms(width, depth)
    for order in range(letters + 1):
        assert graded_rank(forms, order) == word_rank(width, letters, order, of_a_net)


def test_what_has_no_word_no_ideal_or_no_piece_is_refused():
    with pytest.raises(ValueError, match="positive depths"):
        separators(0)
    with pytest.raises(ValueError, match="more than there are"):
        ideal_codimension(3, 3, 1, 4)
    for order in (-1, 14):
        with pytest.raises(ValueError, match="from 0 to 13"):
            piece_bound(4, 3, order)


# --- the count ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7])
def test_bound_on_a_piece_is_the_statement_where_that_speaks(width):
    for depth, order in ((1, 0), (2, 1), (2, 3), (3, 5), (3, 6), (3, 7), (4, 19)):
        rows, columns = graded.piece_shape(width, depth, order)
        if width > depth and 2 * order < moments_degree(depth):
            stated = count_loss.count_loss.predict(Case(width=width, depth=depth, order=order))
            assert 0 < stated < columns
            columns = stated
        assert piece_bound(width, depth, order) == min(rows, columns)


# --- claims and their proofs ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("separators", lambda L: (separators(L)[-1:] + separators(L)[1:]) if L > 1 else ()),
        ("kept_letters", lambda *a: kept_letters(*a) + 1),
        ("_forbidden", lambda L: (set(range(1, L)), L % 2 == 0)),
        ("ideal_codimension", lambda d, q, j, n: ideal_codimension(d, q, j, n) + (n == 6)),
        ("transposed", lambda word: word),
    ],
)
def test_the_proof_breaks_where_a_part_of_it_is_wrong(name, wrong, monkeypatch):
    monkeypatch.setattr(count_loss, name, wrong)
    claim = count_loss.count_loss
    assert not all(step.holds for step in claim.proof(claim.statement))


# --- the piece of order 6 at width 4 and depth 3 --------------------------------------------------


PIECE = Case(width=4, depth=3, heads=1, order=6)


def test_the_value_refutes_the_count_without_the_loss():
    below, attained = CLAIMS["exact_below_count"], CLAIMS["exact"]
    assert judge(below, PIECE, Exact(11436)).certain
    assert not judge(below, PIECE, Exact(11436, misses=1e-9)).certain
    found = judge(attained, PIECE, Exact(11436))
    assert (found.verdict, found.certain) == (Verdict.FAILS, True)
    total = sum(below.predict(case) for case in below.grid["frontier"])
    assert total == 31456 == dimension_count(4, 3) - 4
