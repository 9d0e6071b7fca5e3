"""The mutation harness notices wrong constants, and says why the survivors survive."""
from dataclasses import replace

import pytest
import sympy

from depthlaw.ledger.driver import execute
from depthlaw.ledger.engines import Inline
from depthlaw.ledger.mutation import mutants, mutate, unexplained
from depthlaw.ledger.records import Store
from depthlaw.ledger.report import results
from depthlaw.ledger.suite import load_claims, plan
from depthlaw.theory.claim import Claim
from depthlaw.theory.glossary import symbol

L, sep = symbol("depth"), symbol("sep")


def judged(claim: Claim, folder):
    store = Store(folder)
    assert execute(plan({claim.key: claim}, "quick"), store, Inline()) == []
    return results({claim.key: claim}, "quick", store)[0]


def test_every_place_is_changed_once():
    changes = [change for change, _ in mutants(sympy.Le(sep, sympy.Min(3**L, sympy.Rational(1, 2) * L, evaluate=False), evaluate=False))]
    assert changes[0] == "Min -> Max"
    assert {"3 -> 2 in 3^L", "3 -> 4 in 3^L", "1/2 -> 101/200", "1/2 -> 99/200", "<= -> >="} <= set(changes)
    assert len(changes) == len(set(changes))


@pytest.mark.parametrize("key", ["separation_rank/degree", "separation_rank/moments_degree", "connectivity/reach", "hops/k_max_corrected",
                                 "rank_collapse/collapse_condition", "depth_choice/threshold_inverse"])
def test_every_mutant_of_an_exact_claim_turns_a_verdict(key, tmp_path):
    result = judged(load_claims()[key], tmp_path)
    found = mutate(result)
    assert len(found) >= 3
    assert [m.change for m in found if not m.turned] == []


def test_swapping_min_and_max_in_the_dimension_count_turns_a_verdict(tmp_path):
    result = judged(load_claims()["separation_rank/generic_one_head"], tmp_path)
    swapped = [m for m in mutate(result) if m.change in ("Min -> Max", "Max -> Min")]
    assert swapped
    assert all(m.turned for m in swapped)


def test_a_grid_that_is_too_small_leaves_survivors_and_is_named(tmp_path):
    """The failing twin of the harness: at depth 1 alone, nobody can tell 3^L from 3 L."""
    claim = load_claims()["separation_rank/degree"]
    shallow = {"quick": tuple(c for c in claim.grid["quick"] if c.depth == 1)}
    made = replace(claim, statement=sympy.Eq(symbol("degree"), 3 * L ** 2), grid=shallow, proof=None)
    result = judged(made, tmp_path)
    survivors = [m for m in mutate(result) if not m.turned]
    assert [m.change for m in survivors if "L^2" in m.change]
    assert unexplained(result, survivors) == [m for m in survivors if not m.reason.startswith("gives the same")]


def test_weaker_bounds_survive_with_that_reason(tmp_path):
    result = judged(load_claims()["connectivity/entry_bound"], tmp_path)
    reasons = {m.change: m.reason for m in mutate(result) if not m.turned}
    assert reasons
    assert all(reason for reason in reasons.values())
    assert any(reason.startswith("a weaker") for reason in reasons.values())
