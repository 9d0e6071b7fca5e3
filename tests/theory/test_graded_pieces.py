"""Graded pieces over F_p: forms against polynomials of python-flint, catalecticants against the dictionary route, parts, memory, devices."""
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.separation_rank import dimension_count
from depthlaw.theory.separation_rank import graded_pieces as graded
from depthlaw.theory.separation_rank.linear_attention import random_net
from depthlaw.theory.separation_rank.measured import rank_mod
from depthlaw.theory.separation_rank.moment_forms import catalecticant, moment_forms

SHAPES = [(1, 2, 1), (2, 1, 1), (2, 2, 1), (2, 3, 1), (2, 3, 2), (3, 2, 1), (3, 2, 3), (4, 2, 2)]


def net_of(width: int, depth: int, heads: int, prime: int = graded.PRIME):
    return random_net(np.random.default_rng([width, depth, heads]), width=width, depth=depth, heads=heads, prime=prime)


def numbered(variables: int, degree: int) -> list[tuple[int, ...]]:
    """The exponents of all monomials in the order of their numbers."""
    sums = graded.partial_sums(variables, degree, np.arange(math.comb(variables + degree - 1, degree))).T.tolist()
    return [tuple(b - a for a, b in zip([0, *s], [*s, degree], strict=True)) for s in sums]


@given(st.integers(1, 5), st.integers(0, 5))
def test_numbers_run_through_all_monomials_once(variables, degree):
    found = numbered(variables, degree)
    assert len(set(found)) == len(found) == math.comb(variables + degree - 1, degree)
    assert all(sum(e) == degree and min(e) >= 0 for e in found)


@given(st.integers(1, 5), st.integers(0, 4))
def test_products_with_variables(variables, degree):
    before, after = numbered(variables, degree), numbered(variables, degree + 1)
    table = graded.products_with_variables(variables, degree)
    for v in range(variables):
        for n, exponents in enumerate(before):
            assert after[table[v, n]] == (*exponents[:v], exponents[v] + 1, *exponents[v + 1:])


@pytest.mark.parametrize(("width", "depth", "heads"), SHAPES)
def test_forms_are_those_of_polynomial_arithmetic(width, depth, heads):
    net = net_of(width, depth, heads)
    monomials = numbered(width * (width + 1) // 2, (3**depth - 1) // 2)
    for form, row in zip(moment_forms(net), graded.dense_forms(net), strict=True):
        assert [form.get(e, 0) for e in monomials] == [int(c) % graded.PRIME for c in row]


def test_forms_of_other_weights_differ():
    one, other = (graded.dense_forms(net_of(2, 2, 1)), graded.dense_forms(random_net(np.random.default_rng(7), width=2, depth=2,
                                                                                    prime=graded.PRIME)))
    assert (one != other).any()


@pytest.mark.parametrize(("width", "depth", "heads"), SHAPES[1:])
def test_ranks_are_those_of_the_dictionary_route(width, depth, heads):
    net = net_of(width, depth, heads)
    forms, slow = graded.scaled_forms(net), moment_forms(net)
    for order in range(forms.degree + 1):
        assert graded.graded_rank(forms, order) == rank_mod(catalecticant(slow, order, graded.PRIME), graded.PRIME)


@given(st.data())
def test_a_part_holds_the_entries_chosen(data):
    forms, order = graded.frontier_forms(3, 2), data.draw(st.integers(0, 4))
    rows, columns = (np.array(sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=9))))
                     for size in graded.piece_shape(3, 2, order))
    part = graded.catalecticant_part(forms, order, graded.Piece(rows, columns))
    part = part if order <= forms.degree - order else part.T
    count, monomials = math.comb(6 + order - 1, order), numbered(6, 4)
    place = {e: n for n, e in enumerate(monomials)}
    mu, nu = numbered(6, order), numbered(6, 4 - order)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            both = tuple(a + b for a, b in zip(mu[row % count], nu[column], strict=True))
            assert part[i, j] == forms.scaled[row // count, place[both]]


def test_a_short_choice_is_not_the_last_word():
    """Of many rows only those of one form are not zero: the first choice of them may fall short, larger ones follow."""
    forms = graded.frontier_forms(6, 2)
    one = graded.Forms(np.concatenate([forms.scaled[:1], np.zeros_like(forms.scaled[1:])]), forms.degree, forms.prime)
    whole = graded.Piece(np.arange(1386), np.arange(231))
    exact = rank_mod(graded.catalecticant_part(one, 2, whole).astype(np.int64), forms.prime)
    first = graded.selection((1386, 231), np.random.default_rng([0, 2, graded.SPARE]))
    assert rank_mod(graded.catalecticant_part(one, 2, first).astype(np.int64), forms.prime) < exact
    assert graded.graded_rank(one, 2) == exact


def test_a_net_of_zeros_has_rank_zero():
    net = net_of(2, 2, 1)
    zero = type(net)(0 * net.query, net.key, net.value, net.output, net.prime)
    assert [graded.graded_rank(graded.scaled_forms(zero), order) for order in range(5)] == [0] * 5


def test_a_prime_that_the_degree_reaches_is_refused():
    with pytest.raises(ValueError, match="p=13 does not exceed the degree 13"):
        graded.scaled_forms(net_of(2, 3, 1, prime=13))
    assert graded.scaled_forms(net_of(2, 3, 1, prime=17)).degree == 13


def test_a_composite_modulus_is_refused():
    with pytest.raises(ValueError, match="not prime"):
        graded.scaled_forms(net_of(2, 2, 1, prime=4194289 - 4194289 % 15))


def test_residual_nets_have_no_forms():
    with pytest.raises(ValueError, match="without residual"):
        graded.dense_forms(random_net(np.random.default_rng(0), width=2, depth=2, prime=graded.PRIME, residual=True))


@pytest.mark.parametrize("order", [-1, 5])
def test_orders_outside_are_refused(order):
    with pytest.raises(ValueError, match="0 to"):
        graded.graded_rank(graded.frontier_forms(2, 2), order)
    with pytest.raises(ValueError, match="0 to 4"):
        graded.piece_shape(2, 2, order)


def test_shapes_add_up_to_the_dimension_count():
    for width, depth in ((2, 3), (3, 3), (5, 2), (12, 2)):
        assert sum(min(graded.piece_shape(width, depth, k)) for k in range((3**depth + 1) // 2)) == dimension_count(width, depth)


def test_a_matrix_on_disk_gives_the_same_rank():
    forms = graded.frontier_forms(3, 3)
    assert graded.graded_rank(forms, 6, memory=1) == graded.graded_rank(forms, 6) == 792


WITHIN = """
import resource, sys
import numpy as np
from depthlaw.theory.separation_rank import graded_pieces as graded
forms = graded.frontier_forms(2, 5)
graded.graded_rank(forms, 3)
free = int(sys.argv[1])
used = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmData"))) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + free, used + free))
print(graded.graded_rank(forms, 50, memory=int(sys.argv[2])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on anonymous memory are Linux's")
@pytest.mark.parametrize(("memory", "said"), [(1 << 20, ["2628"]), (1 << 40, [])])
def test_memory_stays_within_the_budget(memory, said):
    """The matrix of 56 MB and what the elimination takes do not fit into 80 MB of memory; without the matrix it does."""
    found = subprocess.run([sys.executable, "-c", WITHIN, str(80 << 20), str(memory)], capture_output=True, text=True, timeout=300,
                           env={"PATH": "", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    assert found.stdout.split() == said, found.stderr
