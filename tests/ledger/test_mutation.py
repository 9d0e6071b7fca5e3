"""The mutation harness notices wrong constants, and says why the survivors survive."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest
import sympy

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts import mutation
from depthlaw.ledger.verdicts.mutation import Mutant, forms, mutants, mutate, unexplained
from depthlaw.ledger.verdicts.suite_verdicts import results
from depthlaw.theory.claims.definition import Case, Claim, registry
from depthlaw.theory.claims.symbols import depth as L
from depthlaw.theory.claims.values import Exact, Step
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.separation_rank.degree import deg
from depthlaw.theory.separation_rank.value_rank import sep


def judged(claim: Claim, folder):
    store = Store(folder)
    assert execute(plan({claim.key: claim}, "quick"), store, Inline()) == []
    return results({claim.key: claim}, "quick", store)[0]


def test_every_place_is_changed_once():
    least = sympy.Min(3**L, sympy.Rational(1, 2) * L, evaluate=False)
    changes = [change for change, _ in mutants(sympy.Le(sep, least, evaluate=False))]
    assert changes[0] == "Min -> Max"
    constants = {"3 -> 2 in 3^L", "3 -> 4 in 3^L", "1/2 -> 101/200 in L/2", "1/2 -> 99/200 in L/2"}
    assert constants | {"<= -> >="} <= set(changes)
    assert len(changes) == len(set(changes))


@pytest.mark.parametrize("key", ["separation_rank/degree", "rank_collapse/collapse_condition"])
def test_every_mutant_of_an_exact_claim_turns_a_verdict(key, tmp_path):
    result = judged(registry()[key], tmp_path)
    found = mutate(result)
    assert len(found) >= 3
    assert [m.change for m in found if not m.turned] == []


def test_a_grid_that_is_too_small_leaves_survivors_and_is_named(tmp_path):
    """What the harness must notice: at depth 1 alone, nobody can tell 3^L from 3 L."""
    claim = registry()["separation_rank/degree"]
    shallow = {"quick": tuple(c for c in claim.grid["quick"] if c.depth == 1)}
    made = replace(claim, statement=sympy.Eq(deg, 3 * L**2), grid=shallow, proof=None)
    result = judged(made, tmp_path)
    survivors = [m for m in mutate(result) if not m.turned]
    assert [m.change for m in survivors if "L^2" in m.change]
    assert unexplained(result, survivors) == [
        m for m in survivors if not m.reason.startswith("gives the same")
    ]


def test_the_form_is_changed_too():
    bound = sympy.Le(sep, 5**L - 3, evaluate=False)
    changes = [change for change, _ in forms(bound, Case.grid(depth=(2, 3)))]
    powers = ["5^L -> 2^L", "5^L -> 1 + 4*L", "5^L -> 25"]
    assert changes == ["-3 -> 0 in -3 + 5^L", *powers, "<= -> =="]
    # What a changed constant gives already is not tried again: 3 -> 2, and -1 -> 0.
    assert [change for change, _ in forms(sympy.Eq(sep, 3**L - 1))] == ["3^L -> 1 + 2*L"]


def test_one_depth_cannot_tell_a_power_from_a_line(tmp_path):
    """3^L, 2 L + 1 and 3 are one number at depth 1; depths 2 and 3 tell them apart."""
    power = sympy.Eq(sep, 3**L, evaluate=False)
    measured = {"value": lambda case: Exact(3**case.depth), "kind": "identity"}
    shallow = judged(made(power, **measured, grid={"quick": Case.grid(depth=1)}), tmp_path / "one")
    mutant = by_change(shallow)["3^L -> 1 + 2*L"]
    assert (mutant.form, mutant.fate) == (True, "survives")
    assert mutant.reason == "gives the same number on every case"
    deep = by_change(judged(made(power, **measured), tmp_path / "three"))
    assert deep["3^L -> 1 + 2*L"].fate == deep["3^L -> 3"].fate == "data"
    assert not deep["3 -> 2 in 3^L"].form


def test_a_bound_that_is_not_attained_is_no_equality(tmp_path):
    bound = made(sympy.Le(sep, 3**L, evaluate=False), lambda case: Exact(3), kind="upper")
    assert by_change(judged(bound, tmp_path))["<= -> =="].fate == "data"


def made(statement, value, **changes) -> Claim:
    """A claim whose measurement is a function of the case, so that what a mutant does is known in
    advance."""
    template = registry()["separation_rank/degree"]
    plain = {
        "assumes": {},
        "proof": None,
        "premises": (),
        "predicted": None,
        "grid": {"quick": Case.grid(depth=(1, 2, 3))},
        "kind": "lower",
        "holds_for": "all",
        "measured": lambda case, seed: value(case),
        "control": replace(template.control, case=Case(depth=1)),
    }
    return replace(template, statement=statement, **{**plain, **changes})


def by_change(result) -> dict[str, Mutant]:
    return {m.change: m for m in mutate(result)}


def test_what_a_truncated_measurement_leaves_open_says_so(tmp_path):
    """Measured 8 of 8 inputs at depth 2: twice the 4 that the statement asks for. A larger bound is
    not decided by it."""
    claim = made(
        sympy.Ge(sep, 2 * L, evaluate=False),
        lambda case: Exact(4 * case.depth, misses=1.0, truncated=True),
    )
    result = judged(claim, tmp_path)
    assert result.verdict is Verdict.HOLDS
    mutant = by_change(result)["2 -> 3 in 2*L"]
    assert (mutant.fate, mutant.turned) == ("undecided", False)
    assert mutant.reason == "turns UNDECIDED at [depth=1]: measurement truncated"
    assert mutant not in unexplained(result, [mutant])


def test_a_mutant_is_judged_before_its_survival_is_explained(tmp_path):
    """The slack in the reason is that of the mutant, not that of the statement."""
    result = judged(made(sympy.Le(sep, 2 * L, evaluate=False), lambda case: Exact(1)), tmp_path)
    mutant = by_change(result)["2 -> 1 in 2*L"]
    assert (mutant.fate, mutant.reason) == ("survives", "the grid does not separate it")
    result = judged(made(sympy.Le(sep, 20 * L, evaluate=False), lambda case: Exact(1)), tmp_path)
    assert (
        by_change(result)["20 -> 19 in 20*L"].reason
        == "the mutant holds on every case too: its tightest slack is a factor 10^1.3"
    )


def test_data_and_proof_kill_apart(tmp_path):
    """A bound with room: only the proof tells 2 from 1; the data tell nothing, and a weaker
    statement is no kill."""

    def proof(statement):
        yield Step("the right side is 2 L", statement.rhs == 2 * L)

    claim = made(
        sympy.Le(sep, 2 * L, evaluate=False), lambda case: Exact(1), proof=proof, kind="upper"
    )
    result = judged(claim, tmp_path)
    assert result.verdict is Verdict.ARGUED
    found = by_change(result)
    assert found["2 -> 1 in 2*L"].fate == "proof"
    assert found["<= -> >="].fate == "data"
    weaker = found["2 -> 3 in 2*L"]
    assert weaker.fate == "survives"
    assert weaker.reason == (
        "a weaker statement on every case; its proof breaks only since it "
        "compares the statement with a typed formula"
    )
    assert unexplained(result, [weaker]) == []


def test_argued_claims_have_no_survivor_without_a_reason(tmp_path):
    """A proof that looks at nothing lets a stronger statement through."""
    claim = made(
        sympy.Le(sep, 2 * L, evaluate=False),
        lambda case: Exact(1),
        proof=lambda statement: [Step("1 = 1", True)],
        kind="upper",
    )
    result = judged(claim, tmp_path)
    assert result.verdict is Verdict.ARGUED
    assert [m.change for m in unexplained(result, mutate(result))] == ["2 -> 1 in 2*L"]


def test_command_line_on_records_that_cannot_be_written(tmp_path, capsys):
    claim = registry()["separation_rank/degree"]
    execute(plan({claim.key: claim}, "quick"), Store(tmp_path), Inline())
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    command = ["mutate", claim.key, "--suite", "quick", "--results", str(tmp_path)]
    assert main([*command, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[0]
    assert row["by_data"] + row["by_proof"] == row["turned"] == row["mutants"] == 5
    after = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
    assert [path for path in {*before} ^ after if "cache" not in str(path)] == []
    assert main(command) == 0
    assert "5 of 5 mutants noticed, 5 by data and 0 by proof" in capsys.readouterr().out


def test_a_mutant_that_counts_parts_of_things_has_no_value():
    """SymPy would compute factorials of numbers such as 3^30 for it."""
    for count, whole in ((L / 2, True), (L * sympy.Rational(101, 200), False)):
        statement = sympy.Le(sep, sympy.binomial(3**L, count), evaluate=False)
        with nullcontext() if whole else pytest.raises(ValueError, match="no integer"):
            mutation._counts_whole_things(statement, Case(depth=30))
