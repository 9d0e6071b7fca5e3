"""Every claim of the registry, held to the same rules."""
import dataclasses
import re
from importlib.resources import files

import pytest
import sympy

from depthlaw.theory.claim import SUITES, Claim, at, find, measured_symbol, registry, topics
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.notation import latex
from depthlaw.theory.symbols import TERMS, depth, plain
from depthlaw.theory.values import Case, Exact
from depthlaw.theory.withdrawn import WITHDRAWN

CLAIMS = list(registry().values())
IDS = [c.key for c in CLAIMS]
BIBLIOGRAPHY = set(re.findall(
    r"^@\w+\{([^,]+),", (files("depthlaw.theory") / "bibliography.bib").read_text(), re.M))

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
# Trainings take minutes: tests/empirics/test_trained_depth.py has the negative controls of that
# topic, and suites beyond theory those of others that have no smaller case.
QUICK = [c for c in CLAIMS if c.topic != "trained_depth" and (not c.needs or c.cases("theory"))]
# Where the smallest case is one of suite theory, dozens of nets are drawn, or trained.
each_quick_claim = pytest.mark.parametrize("claim", [
    pytest.param(c, id=c.key, marks=[pytest.mark.slow] if c.needs and not c.cases("quick") else [])
    for c in QUICK])


def first_decidable(claim: Claim) -> Case:
    return next(c for suite in SUITES for c in claim.grid.get(suite, ())
                if all(holds(c) for holds in claim.assumes.values()))


def test_every_topic_has_claims():
    assert sorted({c.topic for c in CLAIMS}) == topics()


@each_claim
def test_form(claim: Claim):
    assert re.fullmatch(r"[a-z_]+/[a-z0-9_]+", claim.key)
    assert claim.source.key in BIBLIOGRAPHY, f"{claim.source.key} is not in bibliography.bib"
    assert claim.source.place
    assert claim.title
    assert len(claim.title.split()) <= 12
    assert not claim.title.endswith(".")
    assert claim.text.endswith("."), "the statement in words is made of sentences"
    assert set(claim.grid) <= set(SUITES)
    assert claim.control.why
    if claim.wording == "recalled":
        assert "recalled" in claim.note, "a recalled wording must say so in its note"


@each_claim
def test_what_the_verdict_may_say_is_declared(claim: Claim):
    """The ladder of docs/decisions/0007."""
    assert bool(claim.proof) == bool(claim.rests_on), (
        "a proof says in one line what of it a reader must check; nothing else does")
    assert len(claim.rests_on) <= 300
    assert "\n" not in claim.rests_on
    assert (claim.evidence == "certificate") == (claim.certified is not None)
    assert claim.evidence != "certificate" or (claim.proof and claim.kind == "two-sided")
    assert claim.evidence == "argument" or claim.proof
    assert claim.key not in claim.premises
    assert set(claim.premises) <= set(IDS)
    assert claim.known != claim.expected, "known is what is known since, where it differs"
    if claim.wording == "universal":
        assert '"' in claim.note, "a universal reading quotes the sentence that it hardens"
    if claim.kind == "conditional":
        assert claim.note, "what it is conditional on"


def test_withdrawn_keys_are_not_used_again_and_say_where_their_content_went():
    assert not set(WITHDRAWN) & set(IDS)
    for where in WITHDRAWN.values():
        assert where
        assert all(key in IDS for key in re.findall(r"\b[a-z_]+/[a-z0-9_]+\b", where))


@each_claim
def test_grid_has_cases_and_one_in_scope(claim: Claim):
    cases = [c for suite in SUITES for c in claim.grid.get(suite, ())]
    assert cases
    assert len(set(cases)) == len(cases), "a case stands twice in the grid"
    assert first_decidable(claim) in cases
    measured_symbol(claim.statement, cases[0])


@each_claim
def test_statement_uses_declared_symbols_and_prints(claim: Claim):
    assert {s.name for s in claim.statement.free_symbols} <= set(TERMS)
    assert plain(claim.statement)
    assert latex(claim.statement)


def without_the_prediction(claim: Claim, patch: pytest.MonkeyPatch) -> None:
    """Until the patch is undone, whoever asks what the claim predicts is refused."""
    def forbidden(*_: object) -> None:
        raise AssertionError("measured used the prediction")

    patch.setattr(Claim, "predict", forbidden)
    patch.setattr("depthlaw.theory.claim.at", forbidden)
    patch.setattr("depthlaw.theory.judgement.at", forbidden)
    if claim.predicted is not None:
        module, name = claim.predicted.__module__, claim.predicted.__qualname__
        if name.isidentifier():
            patch.setattr(f"{module}.{name}", forbidden)


@each_quick_claim
def test_negative_control_fails_and_is_measured_without_the_prediction(
        claim: Claim, monkeypatch: pytest.MonkeyPatch):
    if not claim.measurable and claim.control.measured is None:
        pytest.skip("needs the extra " + claim.needs)
    control = claim.control
    wrong = (claim if control.statement is None
             else dataclasses.replace(claim, statement=control.statement))
    without_the_prediction(claim, monkeypatch)
    value = claim.measure(control.case, control.seed, control=control.measured is not None)
    monkeypatch.undo()
    decision = judge(wrong, control.case, value, force=True)
    assert decision.verdict is Verdict.FAILS, decision


@each_quick_claim
def test_first_case_is_measured_without_the_prediction_and_does_not_refute(
        claim: Claim, monkeypatch: pytest.MonkeyPatch):
    if not claim.measurable:
        pytest.skip("needs the extra " + claim.needs)
    without_the_prediction(claim, monkeypatch)
    case = first_decidable(claim)
    value = claim.measure(case)
    monkeypatch.undo()
    # A control FAILS by what is wrong in it alone: the true statement passes on its first case.
    if claim.awaited != "FAILS":
        assert judge(claim, case, value).verdict is not Verdict.FAILS


def test_the_check_of_negative_controls_can_fail():
    """The test above would notice a control that does not fail."""
    decision = judge(find("separation_rank/degree"), Case(depth=2, width=2), Exact(9), force=True)
    assert decision.verdict is Verdict.HOLDS


def test_at_is_exact():
    assert at(3 ** depth, Case(depth=200)) == sympy.Integer(3**200)
