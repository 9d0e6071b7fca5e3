"""Where one head falls short of the dimension count: the word of constants, the pigeonholes, the ideal, and what a wrong constant does."""
import dataclasses
import itertools
import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from depthlaw.theory.claim import Case
from depthlaw.theory.exact.finite_field import rank
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.separation_rank import count_loss, count_loss_proof, exact
from depthlaw.theory.separation_rank.count_loss import corrected_count, ideal_codimension, kept_letters, loss, piece_bound, separators, word_forms
from depthlaw.theory.separation_rank.dimension_count import dimension_count, moments_degree
from depthlaw.theory.separation_rank.graded_pieces import PRIME, piece_shape, scaled_forms
from depthlaw.theory.separation_rank.linear_attention import random_net
from depthlaw.theory.separation_rank.piece_rank import graded_rank
from depthlaw.theory.values import Exact

CLAIMS = {claim.key.split("/")[1]: claim for part in (count_loss, exact) for claim in part.claims()}
ARGUED = ["count_loss", "word_loss"]


def matrices(rng, *shape):
    return rng.integers(0, PRIME, shape).astype(object)


def constants_of(left, right, word):
    """c_l = P_l^T B_l P_l with P_l = A_{l-1} ... A_1, in the order of the word, for layers M -> A M B."""
    ahead, found = np.eye(len(left[0]), dtype=object), []
    for A, B in zip(left, right, strict=True):
        found.append(ahead.T @ B @ ahead % PRIME)
        ahead = A @ ahead % PRIME
    return ahead, [found[s - 1] if s > 0 else found[-s - 1].T for s in word]


# --- the word ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_word_is_the_net(depth):
    rng = np.random.default_rng(depth)
    left, right, M = matrices(rng, depth, 3, 3), matrices(rng, depth, 3, 3), matrices(rng, 3, 3)
    M = M + M.T
    ahead, constants = constants_of(left, right, separators(depth))
    word = ahead @ M % PRIME
    for constant in constants:
        word = word @ constant % PRIME @ M % PRIME
    net, moments = np.eye(3, dtype=object), M
    for A, B in zip(left, right, strict=True):
        layer = A @ moments % PRIME @ B % PRIME
        net, moments = layer @ net % PRIME, layer @ moments % PRIME @ layer.T % PRIME
    assert (word @ right[0] % PRIME == net).all()
    # One transpose left out is another polynomial.
    if depth > 1:
        _, wrong = constants_of(left, right, [abs(s) for s in separators(depth)])
        other = ahead @ M % PRIME
        for constant in wrong:
            other = other @ constant % PRIME @ M % PRIME
        assert not (other == word).all()


def test_a_depth_below_one_has_no_word():
    with pytest.raises(ValueError, match="positive depths"):
        separators(0)


@given(word=st.lists(st.integers(-3, 3).filter(bool), max_size=9), forbidden=st.sets(st.integers(1, 3)), first=st.booleans())
@settings(max_examples=100)
def test_kept_letters_by_trying_all_choices(word, forbidden, first):
    best = max(sum(kept) for kept in itertools.product((0, 1), repeat=len(word) + 1)
               if not (first and kept[0]) and not any(kept[i] and kept[i + 1] and abs(s) in forbidden for i, s in enumerate(word)))
    assert kept_letters(word, forbidden, first) == best


@pytest.mark.parametrize("depth", range(1, 8))
def test_no_half_of_the_letters_can_be_kept_for_nothing(depth):
    forbidden, first = count_loss_proof._forbidden(depth)
    assert kept_letters(separators(depth), forbidden, first) == moments_degree(depth) // 2
    # With a separator less, or without a^T where it is needed, more can be kept.
    assert depth < 3 or kept_letters(separators(depth), forbidden - {1}, first) > moments_degree(depth) // 2
    assert depth % 2 == 0 or kept_letters(separators(depth), forbidden, False) > moments_degree(depth) // 2


@pytest.mark.parametrize("on_the_zeros", [True, False])
def test_the_degree_of_a_net_in_the_direction_of_a_common_zero(on_the_zeros):
    """F(N + t v v^T) at width 4 and depth 3 has degree 6 in t, not 13, where a.v = v^T c_1 v = v^T c_2 v = 0: derivatives of order 6 vanish there."""
    rng = np.random.default_rng(5)
    left, right, N, v = matrices(rng, 3, 4, 4), matrices(rng, 3, 4, 4), matrices(rng, 4, 4), matrices(rng, 4)
    if on_the_zeros:
        u = v
        for layer in range(2):
            right[layer, 0, 0] -= u @ right[layer] @ u * pow(int(u[0]) ** 2, -1, PRIME)
            u = left[layer] @ u % PRIME
        left[2, 0, 0] -= left[2, 0] @ u * pow(int(u[0]), -1, PRIME)
    ahead, constants = constants_of(left, right, separators(3))
    values = []
    for t in range(14):
        M = N + N.T + t * np.outer(v, v)
        row = ahead[0] @ M % PRIME
        for constant in constants:
            row = row @ constant % PRIME @ M % PRIME
        values.append(row)
    differences, found = np.array(values), -1
    for degree in range(14):
        found = degree if differences[0].any() else found
        differences = (differences[1:] - differences[:-1]) % PRIME
    assert found == (6 if on_the_zeros else 13)


# --- the ideal --------------------------------------------------------------------------------------------------------------------


def codimension(forms, variables, degree):
    """Of the ideal of some forms {exponents: coefficient} in one degree, modulo a prime."""
    def monomials(n):
        return [tuple(np.bincount(m, minlength=variables)) for m in map(list, itertools.combinations_with_replacement(range(variables), n))]

    places = {m: i for i, m in enumerate(monomials(degree))} if degree else {(0,) * variables: 0}
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
    return {tuple(np.bincount(list(m), minlength=variables)): int(rng.integers(1, PRIME)) for m in monomials}


@pytest.mark.parametrize(("d", "q", "j", "degree"), [
    (2, 1, 0, 4), (3, 2, 1, 6), (3, 1, 1, 5), (4, 2, 1, 6), (4, 3, 1, 7), (4, 2, 0, 5), (5, 3, 1, 4)])
def test_no_forms_leave_less_than_monomials(d, q, j, degree):
    rng, bound = np.random.default_rng([d, q, j]), ideal_codimension(d, q, j, degree)
    forms = [random_form(rng, d, 2) for _ in range(q)] + [random_form(rng, d, 1) for _ in range(j)]
    assert codimension(forms, d, degree) == bound
    assert codimension([forms[0], *forms[:-1]], d, degree) >= bound
    assert q + j == d or codimension([*forms, random_form(rng, d, 2)], d, degree) < bound, "a form more is another matter"


def test_four_points_at_width_four_and_depth_three():
    """a, B and X random, in degree 14 = 2 * 7: what is not in the ideal are the values at the four points."""
    rng = np.random.default_rng(0)
    assert codimension([random_form(rng, 4, 1), random_form(rng, 4, 2), random_form(rng, 4, 2)], 4, 14) == 4 == loss(4, 3, 6)


def test_more_squares_than_variables_are_refused():
    with pytest.raises(ValueError, match="more than there are"):
        ideal_codimension(3, 3, 1, 4)


# --- words over a prime field -----------------------------------------------------------------------------------------------------


def test_forms_of_a_word_written_out():
    x, y, z = sympy.symbols("x y z")
    M, s = sympy.Matrix([[x, y], [y, z]]), [sympy.Matrix([[1, 2], [3, 4]]), sympy.Matrix([[5, 6], [7, 8]])]
    row = sympy.Matrix([[2, 3]]) * M * s[0] * M * s[1] * M
    forms = word_forms(np.array([2, 3]), [np.array(c.tolist(), dtype=np.int64) for c in s])
    scaled = sorted(int(c) * math.prod(map(math.factorial, m)) for form in row for m, c in sympy.Poly(form, x, y, z).terms())
    assert sorted(forms.scaled[forms.scaled != 0].astype(int).tolist()) == scaled
    assert forms.degree == 3


@pytest.mark.parametrize(("width", "depth"), [(2, 2), (3, 2), (2, 3)])
def test_pieces_of_a_net_and_of_its_word_have_equal_ranks(width, depth):
    net = random_net(np.random.default_rng(1), width=width, depth=depth, prime=PRIME)
    left, right = ([a[layer, 0].astype(object) @ b[layer, 0] % PRIME for layer in range(depth)]
                   for a, b in ((net.output, net.value), (np.swapaxes(net.key, 2, 3), net.query)))
    ahead, constants = constants_of(left, right, separators(depth))
    forms, word = scaled_forms(net), word_forms(ahead[0].astype(np.int64), [c.astype(np.int64) for c in constants])
    assert [graded_rank(forms, k) for k in range(forms.degree + 1)] == [graded_rank(word, k) for k in range(forms.degree + 1)]


def test_a_prime_below_the_letters_is_refused():
    with pytest.raises(ValueError, match="does not exceed the 3 letters"):
        word_forms(np.array([1, 1]), [np.eye(2, dtype=np.int64)] * 2, prime=3)


@pytest.mark.parametrize(("width", "letters", "shared", "rank_found"), [(4, 5, 1, 205), (4, 7, 1, 696), (4, 7, 2, 711), (3, 7, 1, 124)])
def test_words_lose_with_fewer_matrices_than_the_width_less_one(width, letters, shared, rank_found):
    case = Case(width=width, word_letters=letters, shared_separators=shared, order=(letters - 1) // 2)
    bound = CLAIMS["word_loss"].predict(case)
    assert count_loss.measured_word(case, 0).value == rank_found <= bound
    rows, columns = (width * math.comb(width * (width + 1) // 2 + case.order - 1, case.order),
                     math.comb(width * (width + 1) // 2 + letters - case.order - 1, letters - case.order))
    # At five letters and width four there are only two even places, and two matrices lose four.
    free = 216 if (width, letters) == (4, 5) else columns
    assert count_loss.measured_free_word(case, 0).value == min(rows, free) > bound


# --- the count --------------------------------------------------------------------------------------------------------------------


def test_losses_at_depth_three_and_four():
    assert [dimension_count(d, 3) - corrected_count(d, 3) for d in range(2, 15)] == [
        0, 0, 4, 56, 421, 2255, 9640, 34952, 111588, 321708, 852720, 0, 0]
    assert [dimension_count(d, 4) - corrected_count(d, 4) for d in range(2, 10)] == [0, 0, 0, 16, 656, 13784, 197792, 0]
    assert [dimension_count(d, 2) - corrected_count(d, 2) for d in range(1, 20)] == [0] * 19


@given(width=st.integers(1, 9), depth=st.integers(1, 4), data=st.data())
@settings(max_examples=100)
def test_loss_is_what_the_statement_takes_off(width, depth, data):
    order = data.draw(st.integers(0, moments_degree(depth)))
    rows, columns = piece_shape(width, depth, order)
    found = loss(width, depth, order)
    assert 0 <= found <= columns
    assert piece_bound(width, depth, order) == min(rows, columns - found)
    if width <= depth or 2 * order >= moments_degree(depth):
        assert found == 0
    else:
        assert columns - CLAIMS["count_loss"].predict(Case(width=width, depth=depth, order=order)) == found >= 1


@pytest.mark.parametrize("order", [-1, 14])
def test_orders_out_of_range_are_refused(order):
    with pytest.raises(ValueError, match="from 0 to 13"):
        loss(4, 3, order)


# --- claims and their proofs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ARGUED)
def test_quick_cases_hold_and_one_less_fails(key):
    claim = CLAIMS[key]
    lower = dataclasses.replace(claim, statement=sympy.Le(claim.statement.lhs, claim.statement.rhs - 1, evaluate=False))
    verdicts = []
    for case in claim.grid["quick"]:
        value = claim.measured(case, 0)
        assert judge(claim, case, value, alpha=1e-6).verdict is Verdict.HOLDS
        verdicts.append(judge(lower, case, value, alpha=1e-6).verdict)
    assert verdicts.count(Verdict.FAILS) >= 3, "where the bound is attained"
    twin = claim.control
    assert judge(claim, twin.case, (twin.measured or claim.measured)(twin.case, 0), force=True).verdict is Verdict.FAILS


@pytest.mark.parametrize("key", ARGUED)
def test_every_step_is_confirmed_and_no_other_statement_is(key):
    claim = CLAIMS[key]
    assert all(step.holds for step in claim.proof(claim.statement))
    off = claim.statement.func(claim.statement.lhs, claim.statement.rhs - 1, evaluate=False)
    assert [step.says for step in claim.proof(off) if not step.holds] == [next(claim.proof(off)).says]


@pytest.mark.parametrize(("name", "wrong"), [
    ("separators", lambda L: (separators(L)[-1:] + separators(L)[1:]) if L > 1 else ()),
    ("kept_letters", lambda *a: kept_letters(*a) + 1),
    ("_forbidden", lambda L: (set(range(1, L)), L % 2 == 0)),
    ("ideal_codimension", lambda d, q, j, n: ideal_codimension(d, q, j, n) + (n == 6)),
    ("transposed", lambda word: word)])
def test_the_proof_breaks_where_a_part_of_it_is_wrong(name, wrong, monkeypatch):
    monkeypatch.setattr(count_loss_proof, name, wrong)
    claim = CLAIMS["count_loss"]
    assert not all(step.holds for step in claim.proof(claim.statement))


@pytest.mark.parametrize("wrong", [lambda L: (set(range(1, L)), L % 2 == 0), lambda L: (set(range(1, L + 1)), L % 2 == 1)])
def test_the_count_takes_its_forms_from_those_that_give_a_factor(wrong, monkeypatch):
    claim = CLAIMS["count_loss"]
    assert list(claim.proof(claim.statement))[-1].holds
    monkeypatch.setattr(count_loss_proof, "_forbidden", wrong)
    assert not list(claim.proof(claim.statement))[-1].holds


def test_a_bound_on_words_that_is_another_sum_breaks_a_step(monkeypatch):
    """Even where the statement is changed with it, so that the first step holds."""
    claim, lower = CLAIMS["word_loss"], count_loss.word_bound() - 1000
    monkeypatch.setattr(count_loss_proof, "word_bound", lambda: lower)
    steps = list(claim.proof(sympy.Le(claim.statement.lhs, lower, evaluate=False)))
    assert steps[0].holds
    assert not steps[-1].holds
    assert all(step.holds for step in steps[:-1])


def test_more_matrices_than_even_places_are_out_of_scope():
    """With q > 2e the binomials of the statement have negative arguments, and the sum is not the number of monomials."""
    claim, case = CLAIMS["word_loss"], Case(width=6, word_letters=1, shared_separators=4, order=0)
    found = claim.measured(case, 0)
    assert (claim.predict(case), found.value, 21 - ideal_codimension(6, 4, 1, 2)) == (5, 6, 10)
    assert judge(claim, case, found).verdict is Verdict.OUT_OF_SCOPE
    assert judge(claim, case, found, force=True).verdict is Verdict.FAILS
    # As many as there are even places are not too many.
    assert judge(claim, Case(width=4, word_letters=5, shared_separators=2, order=2), Exact(216)).verdict is Verdict.HOLDS
    assert judge(claim, Case(width=4, word_letters=4, shared_separators=2, order=1), Exact(0)).verdict is Verdict.OUT_OF_SCOPE


@pytest.mark.parametrize("depth", [2, 4, 6])
def test_at_even_depth_three_choices_of_separators_leave_half_of_the_letters(depth):
    most, word = moments_degree(depth) // 2, separators(depth)
    choices = [(set(range(1, depth + 1)), False), (set(range(1, depth)), True), ({*range(1, depth - 1), depth}, True)]
    assert [kept_letters(word, *choice) for choice in choices] == [most] * 3
    # None of them without one of its separators, or without a^T.
    assert all(kept_letters(word, chosen - {c}, first) > most for chosen, first in choices[1 if depth == 2 else 0:] for c in chosen)
    assert all(kept_letters(word, chosen, False) > most for chosen, _ in choices[1:])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_half_of_the_letters_is_not_enough(depth):
    """Six of thirteen letters can be kept without a factor; seven cannot."""
    word, half = separators(depth), moments_degree(depth) // 2
    terms = [count_loss_proof._term(word, set(kept)) for kept in itertools.combinations(range(len(word) + 1), half)]
    assert not all(count_loss_proof._has_factor(term, *count_loss_proof._forbidden(depth)) for term in terms)
    assert count_loss_proof._always_a_factor(word, *count_loss_proof._forbidden(depth))
    # Neither is it enough without c_1, or without a^T.
    assert depth < 3 or not count_loss_proof._always_a_factor(word, {2}, True)
    assert depth < 3 or not count_loss_proof._always_a_factor(word, {1, 2}, False)


# --- the piece of order 6 at width 4 and depth 3 ----------------------------------------------------------------------------------


PIECE = Case(width=4, depth=3, heads=1, order=6)


def test_the_value_is_exact_with_the_loss_and_refutes_the_count_without_it():
    below, attained = CLAIMS["exact_below_count"], CLAIMS["count_attained"]
    assert [judge(below, PIECE, Exact(n)).verdict for n in (11435, 11436, 11437, 11440)] == [
        Verdict.FAILS, Verdict.HOLDS, Verdict.FAILS, Verdict.FAILS]
    assert judge(below, PIECE, Exact(11436)).certain
    assert not judge(below, PIECE, Exact(11436, misses=1e-9)).certain
    found = judge(attained, PIECE, Exact(11436))
    assert (found.verdict, found.certain) == (Verdict.FAILS, True)
    assert sum(below.predict(case) for case in below.grid["frontier"]) == corrected_count(4, 3) == 31456 == dimension_count(4, 3) - 4


@pytest.mark.parametrize(("found", "most", "draws"), [(11436, None, 1), (11435, None, 4), (11436, 11440, 4)])
def test_one_choice_of_weights_is_enough_at_the_bound_and_at_no_other_rank(found, most, draws, monkeypatch):
    seen = []
    monkeypatch.setattr(exact, "frontier_forms", lambda *a: seen.append(a))
    monkeypatch.setattr(exact, "graded_rank", lambda *a, **k: found)
    value = exact.rank_of_piece(PIECE, 0, most=most)
    assert value.value == found
    assert (value.misses == 0.0) == (draws == 1) == (len(seen) == 1)
    assert len(seen) >= draws


def test_a_word_of_free_matrices_is_a_control_and_no_case():
    """The control draws a word outside the claim; no field of a case can."""
    claim = CLAIMS["word_loss"]
    assert claim.control.measured is count_loss.measured_free_word
    assert not [case for suite in claim.grid.values() for case in (*suite, claim.control.case) if "shared" in case]
    case = claim.control.case
    assert count_loss.measured_word(case, 0).value == 54 < count_loss.measured_free_word(case, 0).value == 56


@pytest.mark.parametrize("key", ARGUED)
def test_the_number_of_monomials_is_argued_for_all_sizes(key):
    claim = CLAIMS[key]
    assert sum(step.says.startswith("all sizes") for step in claim.proof(claim.statement)) == 2
