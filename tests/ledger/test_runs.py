"""Plans, execution, resume, and what belongs to a run's identity."""

import signal
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

from depthlaw.ledger.records import run as run_module
from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Store, manifest
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.interrupts import Stopped
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.running.scheduling import Stage, estimate
from depthlaw.ledger.suite import Work
from depthlaw.ledger.verdicts import decision_cache, suite_verdicts
from depthlaw.ledger.verdicts.suite_verdicts import as_json, results, verdict_name
from depthlaw.theory.claims.definition import Case, Claim, Control, Exact, Source, Step, registry
from depthlaw.theory.claims.symbols import depth as L, quantity
from depthlaw.theory.claims.values import Ball, Outside, Sample
from depthlaw.theory.claims.verdict import Verdict

degree = quantity("degree_of_fake", r"\deg", "degree of a fake")


def cube(case: Case, seed: int) -> Exact:
    return Exact(3**case.depth)


def fake(**changes) -> Claim:
    made = Claim(
        key="separation_rank/fake",
        title="fake",
        text="Fake.",
        statement=sympy.Eq(degree, 3**L),
        source=Source("levine2020", "x"),
        wording="derived",
        kind="identity",
        holds_for="all",
        measured=cube,
        control=Control(Case(depth=1), "another power", statement=sympy.Eq(degree, 8)),
        grid={"quick": Case.grid(depth=(1, 2)), "theory": Case.grid(depth=(3, 4))},
    )
    return replace(made, **changes)


def run_all(claim: Claim, store: Store, suite: str = "quick"):
    done = []
    failures = execute(plan({claim.key: claim}, suite), store, Inline(), finished=done.append)
    return done, results({claim.key: claim}, suite, store, failures)[0]


def test_suites_are_nested():
    runs = {s: [r.case for r in plan({"x": fake()}, s)] for s in ("quick", "theory", "full", "gpu")}
    assert runs["theory"][:2] == runs["quick"]
    assert runs["full"] == runs["theory"]
    assert runs["gpu"] == []


def test_second_run_skips_everything(tmp_path):
    done, result = run_all(fake(), Store(tmp_path))
    assert len(done) == 2
    assert result.verdict is Verdict.HOLDS
    done, again = run_all(fake(), Store(tmp_path))
    assert done == []
    assert again.verdict is Verdict.HOLDS
    assert [r.facts for r in again.records] == [r.facts for r in result.records]


def test_interruption_keeps_what_is_finished_and_ends_in_the_same_manifest(tmp_path):
    def interrupted(case: Case, seed: int) -> Exact:
        if case.depth == 3:
            signal.raise_signal(signal.SIGINT)
        return cube(case, seed)

    # The digest follows the module of the function, so both versions are the same code to the
    # records.
    broken = fake(measured=interrupted)
    store = Store(tmp_path / "a")
    with pytest.raises(Stopped, match="interrupted"):
        run_all(broken, store, "theory")
    assert len(Store(tmp_path / "a")) == 2
    run_all(fake(), Store(tmp_path / "a"), "theory")
    _, undisturbed = run_all(fake(), Store(tmp_path / "b"), "theory")
    resumed = Store(tmp_path / "a")
    again = manifest(resumed.get(r.id) for r in undisturbed.records)
    assert again == manifest(undisturbed.records)


STEPS = {"proof": lambda s: [Step("base", True)], "rests_on": "Prose: the induction."}
BROKEN = {"proof": lambda s: [Step("base", True), Step("step", None)]}
CASES = {"kind": "two-sided", "holds_for": "exists"}
COVERS = {"evidence": "certificate", "certified": lambda c: True}
SEVEN = {"measured": lambda c, seed: Exact(7)}
ONE_SEED = {"measured": lambda c, seed: Exact(3**c.depth + (seed == 2)), "seeds": 3}


@pytest.mark.parametrize(
    ("changes", "verdict", "unexpected"),
    [
        (SEVEN, "FAILS", "FAILS at [depth=1]"),
        (SEVEN | {"known": "FAILS"}, "FAILS", ""),
        ({"known": "FAILS"}, "HOLDS", "known to be FAILS, but is HOLDS"),
        ({"kind": "conditional"}, "CONDITIONAL", ""),
        (BROKEN, "UNDECIDED", "the proof breaks at: step"),
        (STEPS, "ARGUED", ""),
        # A proof that names no joints is no argument.
        (STEPS | {"rests_on": ""}, "HOLDS", ""),
        (STEPS | {"evidence": "checks"}, "HOLDS", ""),
        (CASES, "HOLDS", ""),
        (CASES | STEPS | COVERS, "PROVED", ""),
        # One case without a certificate; not only its cases; no recheck.
        (CASES | STEPS | COVERS | {"certified": lambda c: c.depth == 1}, "HOLDS", ""),
        (STEPS | COVERS, "HOLDS", ""),
        (CASES | COVERS, "HOLDS", ""),
        # The worst seed decides.
        (ONE_SEED, "FAILS", "FAILS"),
    ],
)
def test_the_ladder(changes, verdict, unexpected, tmp_path):
    """A verdict says no more than its evidence."""
    result = run_all(fake(**changes), Store(tmp_path))[1]
    assert result.verdict.value == verdict
    assert result.unexpected.startswith(unexpected)
    assert bool(result.unexpected) == bool(unexpected)


def test_a_case_that_breaks_an_assumption_is_not_counted(tmp_path):
    scope = run_all(fake(assumes={"shallow": lambda c: c.depth < 2}), Store(tmp_path))[1]
    assert (len(scope.decided), len(scope.in_scope), len(scope.cases)) == (1, 1, 2)


def test_a_premise_that_is_not_proved_makes_a_claim_conditional(tmp_path):
    def both(name: str, **changes):
        premise = fake(key="separation_rank/premise", **changes)
        claims, store = (premise, fake(premises=(premise.key,))), Store(tmp_path / name)
        found = {claim.key: claim for claim in claims}
        execute(plan(found, "quick"), store, Inline())
        return results(found, "quick", store)[1]

    held, refuted = both("held"), both("refuted", **SEVEN, known="FAILS")
    assert dict(held.premises) == {"separation_rank/premise": "HOLDS"}
    assert (held.premise_refuted, verdict_name(held)) == ("", "CONDITIONAL")
    assert refuted.premise_refuted == "separation_rank/premise"
    assert verdict_name(refuted) == as_json(refuted)["verdict"] == "PREMISE REFUTED"
    assert held.verdict is refuted.verdict is Verdict.CONDITIONAL
    assert both("argued", **STEPS).verdict is Verdict.HOLDS


def test_a_holds_that_becomes_undecided_is_unexpected(tmp_path):
    def wide(case: Case, seed: int) -> Ball | Exact:
        return cube(case, seed) if case.depth == 1 else Ball(Fraction(1), Fraction(100))

    result = run_all(fake(measured=wide), Store(tmp_path / "new"))[1]
    assert result.verdict is Verdict.UNDECIDED
    assert result.unexpected.startswith("UNDECIDED at [depth=2], where HOLDS was expected")
    known = run_all(fake(measured=wide, known="UNDECIDED"), Store(tmp_path / "known"))[1]
    assert known.unexpected == ""
    settled = run_all(fake(known="UNDECIDED"), Store(tmp_path / "decided"))[1]
    assert (settled.unexpected, settled.news) == ("", "known to be UNDECIDED, but is HOLDS")


def test_negative_controls_are_runs_and_must_fail(tmp_path):
    elsewhere = fake(control=Control(Case(depth=3), "base 2", statement=sympy.Eq(degree, 2**L)))
    done, result = run_all(elsewhere, Store(tmp_path / "a"))
    assert [str(run) for run in done][-1] == "separation_rank/fake [depth=3]"
    assert (result.control.decision.verdict, result.unexpected) == (Verdict.FAILS, "")

    # A sabotaged measurement of a case of the grid is a run of its own, which never stands in for
    # the case's.
    sabotaged = Control(Case(depth=2), "base 2", measured=lambda c, seed: Exact(2**c.depth))
    done, result = run_all(fake(control=sabotaged), Store(tmp_path / "b"))
    assert [str(run) for run in done][-1] == "separation_rank/fake [depth=2] (negative control)"
    assert (result.verdict, result.control.measured) == (Verdict.HOLDS, Exact(4))
    assert result.cases[1].measured == Exact(9)

    toothless = fake(control=Control(Case(depth=1), "nothing is changed"))
    said = run_all(toothless, Store(tmp_path / "c"))[1].unexpected
    assert said == "the negative control HOLDS, where it must fail: nothing is changed"


def test_an_instance_that_breaks_an_assumption_is_out_of_scope(tmp_path):
    def drawn(case: Case, seed: int) -> Exact | Outside:
        return cube(case, seed) if case.depth == 1 else Outside("the norm is at most 1")

    result = run_all(fake(measured=drawn), Store(tmp_path))[1]
    assert [c.decision.verdict for c in result.cases] == [Verdict.HOLDS, Verdict.OUT_OF_SCOPE]
    assert result.cases[1].decision.reason == "assumption broken: the norm is at most 1"
    assert (result.verdict, len(result.in_scope), result.missing) == (Verdict.HOLDS, 1, [])


def test_a_seed_outside_the_assumptions_hides_no_counterexample(tmp_path):
    def drawn(case: Case, seed: int) -> Exact | Outside:
        return Exact(7) if seed == 0 else Outside("the norm is at most 1")

    result = run_all(fake(measured=drawn, seeds=2), Store(tmp_path))[1]
    assert (result.verdict, result.counterexample.case) == (Verdict.FAILS, Case(depth=1))


@pytest.mark.parametrize(
    "changes",
    [
        {"measured": lambda c, seed: cube(c, seed) if c.depth == 3 else Outside("too large")},
        {"assumes": {"never": lambda c: False}},
    ],
)
def test_a_claim_without_a_case_in_scope_is_out_of_scope_and_unexpected(changes, tmp_path):
    elsewhere = Control(Case(depth=3), "another power", statement=sympy.Eq(degree, 8))
    result = run_all(fake(control=elsewhere, **changes), Store(tmp_path))[1]
    assert verdict_name(result) == "OUT_OF_SCOPE"
    assert result.unexpected == "every case is outside the assumptions"


def test_a_premise_that_was_not_run_has_no_verdict(tmp_path):
    premise = fake(key="separation_rank/premise", known="FAILS")
    claim, store = fake(premises=(premise.key,)), Store(tmp_path)
    execute(plan({claim.key: claim}, "quick"), store, Inline())
    result = results({claim.key: claim, premise.key: premise}, "quick", store)[0]
    assert (result.verdict, result.premise_refuted) == (Verdict.CONDITIONAL, "")
    assert dict(result.premises) == {premise.key: "not run here; known: FAILS"}


def test_a_decision_is_known_by_its_statement_and_the_assumptions_of_its_symbols(tmp_path):
    real = sympy.Symbol(L.name, real=True)
    assert L.is_positive
    keys = {
        decision_cache._statement_hash(fake(statement=sympy.Eq(degree, right, evaluate=False)))
        for right in (3**L, 3**real, 2**L, 3 ** (L - 1), 1 - 3**L)
    }
    assert len(keys) == 5
    assert decision_cache._statement_hash(fake()) == decision_cache._statement_hash(fake())


def test_a_case_is_decided_once_as_soon_as_its_last_seed_is_measured(tmp_path, monkeypatch):
    judged, measured = [], []
    judge = suite_verdicts.judge

    def noted(claim, case, *more, **options):
        judged.append((case.depth, "force" in options, len(measured)))
        return judge(claim, case, *more, **options)

    monkeypatch.setattr(suite_verdicts, "judge", noted)
    control = Control(Case(depth=1), "another measurement", measured=lambda c, seed: Exact(4))
    claim, store = fake(seeds=2, control=control), Store(tmp_path)
    runs = plan({claim.key: claim}, "quick")
    stages = [Stage(runs, Inline())]
    work = Work("quick", {claim.key: claim}, runs, runs, store, stages, estimate(runs, store), "")
    assert work.execute(measured.append) == []
    ends = {(run.case.depth, run.control): n for n, run in enumerate(runs)}
    # Each value of two seeds is judged; only then is the last run reported as finished.
    assert sorted(set(judged)) == sorted((d, c, n) for (d, c), n in ends.items())
    count = len(judged)
    result = work.judged()[0]
    assert (result.verdict, result.control.fails, len(judged)) == (Verdict.HOLDS, True, count)


def test_what_has_no_record_is_not_run(tmp_path):
    result = results({"x": fake()}, "quick", Store(tmp_path))[0]
    assert [c.verdict_name for c in result.cases] == ["not run"] * 2
    assert verdict_name(result) == as_json(result)["verdict"] == "not run"
    assert result.undecided == []


def test_a_measurement_that_raises_or_returns_no_value_is_named_and_not_recorded(tmp_path):
    def raising(case: Case, seed: int) -> Exact:
        raise MemoryError("too big")

    store = Store(tmp_path)
    assert "MemoryError: too big" in run_all(fake(measured=raising), store)[1].unexpected
    said = run_all(fake(measured=lambda c, seed: 5), store)[1].unexpected
    assert "a measurement returned int; accepted are Exact, Ball" in said
    assert len(store) == 0


def test_samples_of_several_seeds_are_merged(tmp_path):
    claim = fake(
        measured=lambda c, seed: Sample((3.0**c.depth + seed % 2,)),
        seeds=8,
        statement=sympy.Ge(degree, 3**L - 1),
        holds_for="typical",
    )
    _, result = run_all(claim, Store(tmp_path))
    assert [len(c.measured.values) for c in result.cases] == [8, 8]


def test_identity_of_a_run_depends_on_the_code_that_measures(monkeypatch):
    real = registry()["separation_rank/degree"]
    case = real.cases("quick")[0]
    before = Run(real, case).id
    monkeypatch.setattr(run_module, "code_version", lambda function: "other")
    assert Run(real, case).id != before


def test_what_a_claim_asks_for_is_passed_on():
    seen = {}

    def measured(case: Case, seed: int, device: str, folder: str = "") -> Exact:
        seen.update(device=device, folder=folder)
        return Exact(3**case.depth)

    claim = fake(measured=measured, grid={"gpu": Case.grid(depth=(1, 2))})
    (run, *_) = plan({claim.key: claim}, "gpu", "cuda")
    assert (run.device, claim.accepts("device"), claim.accepts("memory")) == ("cuda", True, False)
    replace(run, options={"folder": "here", "memory": 5}).execute()
    assert seen == {"device": "cuda", "folder": "here"}
    # A suite for a GPU asks on a CPU for no claim that could use one, and there is no other claim
    # in it.
    assert plan({claim.key: claim}, "gpu", "cpu") == []
    assert len(plan({claim.key: fake(grid={"gpu": Case.grid(depth=1)})}, "gpu", "cpu")) == 1
