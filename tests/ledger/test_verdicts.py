"""A verdict depends on the records of its own claim alone, and says what is known of each case."""

import json
import re
from dataclasses import replace
from functools import cache

import pytest
import sympy

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.appendix.printed_claims import Statement
from depthlaw.ledger.records.run import Failure, Run
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts import known_verdicts, suite_verdicts
from depthlaw.ledger.verdicts.card import card
from depthlaw.ledger.verdicts.display import by_chance
from depthlaw.ledger.verdicts.estimates import estimate
from depthlaw.ledger.verdicts.evidence_tree import grounds
from depthlaw.ledger.verdicts.findings import groups, reason
from depthlaw.ledger.verdicts.known_verdicts import Known, known_at
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import Agreement, shipped
from depthlaw.ledger.verdicts.sign_test import SignTest, sign_test
from depthlaw.ledger.verdicts.suite_verdicts import ClaimResult, as_json, results, verdict_name
from depthlaw.theory.claims.definition import DEVICE_OF, SUITES, Claim, Control, Source, registry
from depthlaw.theory.claims.rounding import interval
from depthlaw.theory.claims.symbols import depth as L, quantity
from depthlaw.theory.claims.values import Ball, Case, Exact, Sample
from depthlaw.theory.claims.verdict import FALSE_ALARM_BUDGET, Verdict, level

mean = quantity("mean_of_noise", r"\mu", "mean of noise", "real")
HALF = sympy.Rational(1, 2)
CPU = [suite for suite in SUITES if suite not in DEVICE_OF]


def noise(case: Case, seed: int) -> Sample:
    """Observations of mean 1 and standard deviation 0.1, one per seed."""
    return Sample((1 + float(case.rng(seed).normal()) * 0.1,))


def sampled(**changes) -> Claim:
    made = Claim(
        key="separation_rank/noise",
        title="noise",
        text="Noise.",
        statement=sympy.Gt(mean, HALF),
        source=Source("levine2020", "x"),
        wording="derived",
        kind="empirical fit",
        holds_for="typical",
        measured=noise,
        control=Control(Case(depth=1), "nothing at all", measured=lambda case, seed: Exact(0)),
        grid={"quick": Case.grid(depth=(1, 2)), "full": Case.grid(depth=(3, 4))},
        seeds=8,
    )
    return replace(made, **changes)


def judged(claims: dict[str, Claim], store: Store, suite: str = "quick") -> list[ClaimResult]:
    execute(plan(claims, suite), store, Inline())
    return results(claims, suite, store)


def decisions(result: ClaimResult) -> list[tuple]:
    return [(row.decision.verdict, row.decision.slack) for row in result.cases]


def test_no_other_claim_and_no_suite_moves_a_verdict(tmp_path):
    """Others beside it would have divided the level of a suite."""
    store, claim = Store(tmp_path), sampled()
    keys = [f"separation_rank/noise_{n}" for n in range(5)]
    others = {key: sampled(key=key) for key in keys}
    alone = judged({claim.key: claim}, store)[0]
    beside = judged({claim.key: claim} | others, store)[0]
    larger = judged({claim.key: claim}, store, "full")[0]
    assert decisions(beside) == decisions(alone) == decisions(larger)[:2]
    assert alone.verdict is Verdict.HOLDS


def test_the_level_of_a_claim_is_divided_over_its_own_cases():
    claim = sampled()
    assert [level(claim, case) for case in claim.every_case] == [FALSE_ALARM_BUDGET / 4] * 4
    scoped = sampled(assumes={"shallow": lambda case: case.depth < 4})
    assert level(scoped, Case(depth=1)) == FALSE_ALARM_BUDGET / 3
    # Cases for a GPU have a budget of their own, which nobody without one spends.
    larger = sampled(grid=dict(claim.grid) | {"gpu": Case.grid(depth=range(10, 20))})
    assert level(larger, Case(depth=1)) == FALSE_ALARM_BUDGET / 4
    assert level(larger, Case(depth=10)) == FALSE_ALARM_BUDGET / 10


def test_every_claim_stays_within_its_budget():
    for claim in registry().values():
        cases = {case for suite in CPU for case in claim.grid.get(suite, ())}
        spent = sum(level(claim, case) for case in cases if claim.broken(case) is None)
        assert spent <= FALSE_ALARM_BUDGET * (1 + 1e-9)


def test_a_verdict_by_chance_names_interval_level_number_and_sign_test(tmp_path):
    result = judged({"x": sampled()}, Store(tmp_path))[0]
    row = result.cases[0]
    assert sign_test(result.claim, row) == SignTest(8, 8, 2 / 2**8, 0.5)
    low, high = row.measured.interval(FALSE_ALARM_BUDGET / 4)
    written = interval(low, high)
    assert by_chance(result, row) == f"{written} if normal; 8 of 8 seeds, p = .008"
    # At best 12 observations have p = 2^-11, more than a quarter of 1 in 1,000; 13 have 2^-12.
    more = [replace(row, measured=Sample((1.0, *[1.5] * (n - 1)))) for n in (12, 13)]
    assert ["level" in by_chance(result, each) for each in more] == [False, True]
    open_ = replace(row, decision=replace(row.decision, verdict=Verdict.UNDECIDED))
    assert by_chance(result, open_) == (
        f"{written} at level 0.00025; n = 8, sign test against 0.5: p = 0.0078"
    )
    assert sign_test(result.claim, replace(row, measured=Sample((0.5, 0.5)))) is None


def test_the_sign_test_counts_the_seeds_on_the_decided_side(tmp_path):
    result = judged({"x": sampled()}, Store(tmp_path))[0]
    row = replace(result.cases[0], measured=Sample((0.1, *[0.9] * 6, 0.5)))
    # By hand: one of seven below the bound, one at it: 2 (1 + 7) / 2^7.
    assert sign_test(result.claim, row) == SignTest(6, 8, 16 / 2**7, 0.5)
    below = replace(row, measured=Sample((0.9, *[0.1] * 7)))
    assert str(sign_test(result.claim, below)) == "7 of 8 seeds, p = .07"


def test_seeds_and_p_stand_wherever_a_level_rests_on_normality(tmp_path):
    told = "8 of 8 seeds, p = .008"
    enough = sampled(seeds=16)
    for claim, stands in ((sampled(), True), (enough, False)):
        result = judged({claim.key: claim}, Store(tmp_path))[0]
        row = result.cases[0]
        cases = next(g for g in grounds(result, lambda key: None).below if g.kind == "cases")
        places = (
            card(result).cases[0][3],
            cases.below[0].says,
            estimate(result, row).decided_by.replace("$", ""),
            Statement(result).evidence,
            Statement(result).compared(row),
        )
        assert [told in place for place in places] == [stands] * len(places)
        printed = as_json(result)["results"][0]
        assert printed["rests_on_normality"] is stands
        assert printed["sign_test"]["agreeing"] == claim.seeds


def test_claims_that_were_split_share_one_level_and_expect_no_more_false_alarms(tmp_path):
    whole, part = sampled(), sampled(shares=("separation_rank/other",))
    case = Case(depth=1)
    assert level(part, case) == level(whole, case) / 2 == FALSE_ALARM_BUDGET / 8
    pair = judged({"a": part, "b": replace(part, key="separation_rank/other")}, Store(tmp_path))
    assert suite_verdicts.chance(pair).alarms_fixed == pytest.approx(FALSE_ALARM_BUDGET)
    both = [*pair, *judged({"x": sampled(post_hoc="more seeds")}, Store(tmp_path))]
    expected = suite_verdicts.chance(both)
    assert (expected.fixed, expected.starred) == (2, 1)
    assert expected.alarms_starred == pytest.approx(FALSE_ALARM_BUDGET)


def test_sharing_is_mutual_and_of_claims_that_say_what_was_changed():
    claims, sharing = registry(), 0
    for key, claim in claims.items():
        for other in claim.shares:
            sharing += 1
            family = {key, *claim.shares}
            assert {other, *claims[other].shares} == family
            assert any(claims[member].post_hoc for member in family)
    assert sharing >= 6


# --- whose sentence fails -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wording", "word", "heading"),
    [
        ("printed", "FAILS", "Fails as printed, reported or recalled"),
        ("derived", "FAILS", "Fails, and was our own"),
        ("reported", "FAILS (as reported)", "Fails as printed, reported or recalled"),
        ("recalled", "FAILS (as recalled)", "Fails as printed, reported or recalled"),
        ("universal", "READING FAILS", "Reading fails"),
    ],
)
def test_a_refuted_claim_says_whose_sentence_fails(wording, word, heading, tmp_path):
    claim = sampled(wording=wording, statement=sympy.Gt(mean, 2), known="FAILS")
    result = judged({"x": claim}, Store(tmp_path))[0]
    # The decision on a case, the exit code and what is known by case stay what they are.
    assert {row.verdict_name for row in result.cases} == {"FAILS"}
    assert (result.verdict, result.unexpected) == (Verdict.FAILS, "")
    assert verdict_name(result) == word
    assert word in suite_verdicts.VERDICT_NAMES
    printed = as_json(result)
    assert [printed[name] for name in ("verdict", "outcome", "wording")] == ["FAILS", word, wording]
    assert dict(card(result).lead)["verdict"].startswith(f"{word}:")
    assert grounds(result, lambda key: None).verdict == word
    assert Statement(result).verdict == word
    listed = [g.heading for g in groups([result]) if g.results and "ails" in g.heading]
    assert listed == [heading]
    # One that holds has no such word.
    holds = judged({"x": sampled(wording=wording)}, Store(tmp_path))[0]
    assert verdict_name(holds) == "HOLDS"


def test_a_claim_with_a_failed_run_does_not_say_that_it_holds(tmp_path):
    claim, store = sampled(), Store(tmp_path)
    judged({"x": claim}, store)
    failure = Failure(Run(claim, Case(depth=1), 0), "it raised")
    broken = results({claim.key: claim}, "quick", store, [failure])[0]
    assert verdict_name(broken) == "not complete"
    # Sixteen of the cases, one of the control, and the failed one.
    assert dict(card(broken).lead)["verdict"].startswith("not complete: 1 of 18 runs failed:")
    # A counterexample is one whatever else failed.
    fails = replace(claim, statement=sympy.Gt(mean, 2))
    assert verdict_name(results({"x": fails}, "quick", store, [failure])[0]) == "FAILS"


# --- what is known, by case -----------------------------------------------------------------------


@pytest.fixture
def known_cases(monkeypatch):
    """Write what is known of claims in the place of the file that comes with depthlaw."""

    def write(verdicts: dict[str, dict[Case, str]], **words: str) -> None:
        listed = {key: Known(words, cases) for key, cases in verdicts.items()}
        monkeypatch.setattr(known_verdicts, "_listed", cache(lambda: listed))

    return write


def exact(**changes) -> Claim:
    """0 <= 2 - L, which fails at depth 3, in suite full alone."""
    return sampled(
        **{
            "statement": sympy.Le(mean, 2 - L),
            "known": "FAILS",
            "holds_for": "all",
            "measured": lambda case, seed: Exact(0),
            "seeds": 1,
            "grid": {"quick": Case.grid(depth=(1, 2)), "full": Case.grid(depth=(3,))},
            "control": Control(Case(depth=1), "5", measured=lambda case, seed: Exact(5)),
        }
        | changes
    )


EXACT = {Case(depth=1): "HOLDS", Case(depth=2): "HOLDS", Case(depth=3): "FAILS"}


def test_a_smaller_suite_that_holds_does_not_surprise_where_a_larger_fails(tmp_path, known_cases):
    claim, store = exact(), Store(tmp_path)
    known_cases({claim.key: EXACT})
    assert [
        (r.verdict, r.unexpected, r.news)
        for suite in ("quick", "full")
        for r in judged({claim.key: claim}, store, suite)
    ] == [(Verdict.HOLDS, "", ""), (Verdict.FAILS, "", "")]
    known_cases({claim.key: EXACT | {Case(depth=1): "FAILS"}})
    said = judged({claim.key: claim}, store)[0].unexpected
    assert said == "HOLDS at [depth=1], where FAILS was known"


def test_a_counterexample_that_leaves_the_domain_is_unexpected(tmp_path, known_cases):
    claim = exact(assumes={"shallow": lambda case: case.depth < 3})
    known_cases({claim.key: EXACT})
    result = judged({claim.key: claim}, Store(tmp_path), "full")[0]
    assert result.verdict is Verdict.HOLDS
    assert result.unexpected.startswith("OUT_OF_SCOPE at [depth=3], where FAILS was known")
    known_cases({claim.key: EXACT | {Case(depth=3): "OUT_OF_SCOPE"}})
    assert judged({claim.key: claim}, Store(tmp_path), "full")[0].unexpected == ""
    known_cases({})
    assert judged({claim.key: claim}, Store(tmp_path), "full")[0].unexpected.startswith(
        "known to be FAILS"
    ), "of a claim of one's own its known word is all there is"


def test_chance_that_leaves_a_case_undecided_is_news_and_rounding_none(tmp_path, known_cases):
    few = sampled(seeds=2, measured=lambda case, seed: Sample((0.1 if seed else 2.0,)))
    known_cases({few.key: {Case(depth=1): "HOLDS", Case(depth=2): "UNDECIDED"}})
    result = judged({few.key: few}, Store(tmp_path / "sample"))[0]
    assert (result.unexpected, result.news) == ("", "UNDECIDED at [depth=1], where HOLDS was known")
    sharp = sampled(measured=lambda case, seed: Ball(-1, 1), seeds=1)
    result = judged({sharp.key: sharp}, Store(tmp_path / "ball"))[0]
    assert result.unexpected.startswith("UNDECIDED at [depth=1], where HOLDS was known")


def test_a_lost_seed_and_a_statement_without_a_value_are_no_chance(tmp_path, known_cases):
    one = sampled(seeds=1)
    known_cases({one.key: dict.fromkeys(one.every_case, "HOLDS")})
    lost = judged({one.key: one}, Store(tmp_path / "one"))[0]
    assert "too few seeds for an interval" in lost.unexpected

    def raising(statement, case):
        if case.depth == 2:
            raise TypeError("no value")
        return HALF

    broken = sampled(predicted=raising)
    known_cases({broken.key: dict.fromkeys(broken.every_case, "HOLDS")})
    assert "cannot be judged" in judged({broken.key: broken}, Store(tmp_path / "b"))[0].unexpected


def test_an_exact_case_that_was_undecided_is_not_decided_by_chance(tmp_path, known_cases):
    claim = exact(grid={"quick": Case.grid(depth=(1, 2))}, known="UNDECIDED")
    known_cases({claim.key: {Case(depth=1): "HOLDS", Case(depth=2): "UNDECIDED"}})
    assert judged({claim.key: claim}, Store(tmp_path))[0].unexpected == (
        "HOLDS at [depth=2], where UNDECIDED was known"
    )


def test_a_word_that_falls_is_unexpected():
    """What was ARGUED or PROVED, and no longer is, in the shipped ledger."""
    store, claims = shipped(), registry()
    for key, change in (
        ("rank_collapse/doubly_exponential_slope", {"rests_on": ""}),
        ("rank_collapse/doubly_exponential_slope", {"proof": None}),
        ("separation_rank/exact", {"certified": None}),
    ):
        claim = claims[key]
        assert results({key: claim}, "quick", store)[0].unexpected == ""
        fallen = replace(claim, **change)
        assert "was known" in results({key: fallen}, "quick", store)[0].unexpected, key


def test_the_shipped_ledger_judged_alone_surprises_nobody():
    """One after the other: suites share cases, and what was decided is not decided again."""
    for suite in CPU:
        claims = {key: claim for key, claim in registry().items() if claim.cases(suite)}
        recorded = [result for result in results(claims, suite, shipped()) if result.measured]
        assert len(recorded) > (0 if suite in ("frontier", "long") else 15)
        said = {result.claim.key: result.unexpected or result.news for result in recorded}
        assert {key: why for key, why in said.items() if why} == {}, suite


def test_a_wrong_word_on_one_case_would_be_seen_in_the_shipped_ledger(known_cases):
    """The check above can fail: a word that is wrong for one case."""
    claim = registry()["trained_depth/connectivity_within"]
    case = claim.cases("full")[0]
    assert known_at(claim, case) == "HOLDS"
    known_cases({claim.key: {case: "FAILS"}})
    assert results({claim.key: claim}, "full", shipped())[0].unexpected


def test_what_is_known_of_a_claim_follows_from_its_cases():
    for key, claim in registry().items():
        listed = known_verdicts.known(key)
        assert listed is not None, key
        assert set(listed.cases) <= set(claim.every_case), key
        words = (word for word in ("FAILS", "UNDECIDED") if word in listed.cases.values())
        worst = next(words, "HOLDS")
        assert not listed.words or claim.awaited == worst, key


# --- recorded as it comes -------------------------------------------------------------------------


def test_what_is_recorded_as_it_comes_is_undecided_until_it_is_whole(tmp_path):
    """One case that holds is no verdict on four; one that fails is. Of other suites a case without
    a record does not count, as ever."""
    store = Store(tmp_path)
    claim = sampled(grid={"long": Case.grid(depth=(1, 2, 3, 4))})
    runs = plan({claim.key: claim}, "long")
    execute([run for run in runs if run.control or run.case.depth == 1], store, Inline())
    (part,) = results({claim.key: claim}, "long", store)
    assert (part.verdict, len(part.missing)) == (Verdict.UNDECIDED, 3)
    assert reason(part) == "3 cases: no record"
    assert not part.unexpected
    wrong = replace(claim, statement=sympy.Gt(mean, 2))
    assert results({claim.key: wrong}, "long", store)[0].verdict is Verdict.FAILS
    full = replace(claim, grid={"full": claim.grid["long"]})
    assert results({claim.key: full}, "full", store)[0].verdict is Verdict.HOLDS
    execute(runs, store, Inline())
    assert results({claim.key: claim}, "long", store)[0].verdict is Verdict.HOLDS


def test_what_is_recorded_of_the_longest_suite_is_told_first(tmp_path):
    """The cases of a first look do not stand for those that are being trained."""
    store = Store(tmp_path)
    claim = sampled(grid={"full": Case.grid(depth=(1,)), "long": Case.grid(depth=(2, 3))})
    execute(plan({claim.key: claim}, "full"), store, Inline())
    told = Recorded({claim.key: claim}, store).judged(claim.key)
    assert (told.suite, told.verdict) == ("full", Verdict.HOLDS)
    runs = plan({claim.key: claim}, "long")
    execute([run for run in runs if run.case == Case(depth=2)], store, Inline())
    told = Recorded({claim.key: claim}, store).judged(claim.key)
    assert (told.suite, told.verdict) == ("long", Verdict.UNDECIDED)


# --- marks ----------------------------------------------------------------------------------------


def test_what_was_changed_after_data_carries_its_mark(tmp_path, capsys):
    result = judged({"x": sampled(post_hoc="more seeds")}, Store(tmp_path))[0]
    assert suite_verdicts.marked(result) == "HOLDS*"
    assert as_json(result)["post_hoc"] == "more seeds"
    empty = results({"x": sampled(post_hoc="x")}, "quick", Store(tmp_path / "e"))[0]
    assert suite_verdicts.marked(empty) == "not run"
    assert main(["show", "trained_rank/half_of_rank_matters"]) == 0
    out = capsys.readouterr().out
    assert "HOLDS*" in out
    assert "changed after data were seen" in out


# --- the line of agreement ------------------------------------------------------------------------


def test_the_line_of_agreement_accounts_for_every_run():
    assert Agreement(10, 10, 10, ()).line == "reference: 10 of 10 runs compared, all equal"
    assert Agreement(10, 4, 3, (), 2).line == (
        "reference: 4 of 10 runs compared, 3 equal, 1 within their intervals; "
        "2 whose digits depend on rounding, compared by verdict; 4 not in the reference"
    )


def test_verify_leads_with_its_answer(tmp_path, capsys):
    command = ["verify", "--only", "separation_rank/degree", "--results", str(tmp_path)]
    assert main(command) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "1 claim judged: 1 PROVED; nothing unexpected"
    assert any(line.startswith("reference: ") for line in rest[:3])
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expected = {"fixed": 1, "starred": 0, "alarms_fixed": 1e-3, "alarms_starred": 0}
    assert answer["false_alarms_expected"] == expected
    assert answer["claims"][0]["results"][0]["level"] > 0


FAILING_FILE = """
from depthlaw.theory.claims.definition import Case, Control, Exact, Source, claim
from depthlaw.theory.claims.relations import Le
from depthlaw.theory.claims.symbols import quantity

worth = quantity("worth_of_one", "w", "a number", "positive integer")


@claim(
    Le(worth, 2),
    source=Source("nobody", "nowhere"),
    cases={"quick": Case.grid(one=(3, 4))},
    control=Control(Case(one=9), "nine"),
)
def small(case: Case) -> Exact:
    '''Small.

    The number is small.
    '''
    return Exact(case.one)


@claim(
    Le(worth, 9),
    source=Source("nobody", "nowhere"),
    cases={"quick": Case.grid(one=(3, 4, 5))},
    control=Control(Case(one=10), "ten"),
)
def raises(case: Case) -> Exact:
    '''Raises.

    The number is below ten, or so it seems.
    '''
    return Exact(case.one // (case.one != 5))
"""


def test_the_screen_says_which_numbers_fail_and_which_runs(tmp_path, capsys):
    file = tmp_path / "owned_by_someone.py"
    file.write_text(FAILING_FILE)
    assert main(["verify", "--claims", str(file), "--results", str(tmp_path / "r")]) == 1
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith(" ")}
    assert " FAILS! " in rows["small"]
    assert "2 of 2 fail" in rows["small"]
    assert "2/2" not in rows["small"]
    (said,) = [line for line in lines if line.startswith("owned_by_someone/small fails")]
    assert re.fullmatch(r".* fails at input: one 3; expected: [\w ]+, w <= 2; got: 3", said)
    assert "not complete: 1 of 4 runs failed" in rows["raises"]
    assert "HOLDS" not in rows["raises"]
    assert lines[0].startswith("2 claims judged: 1 FAILS, 1 not complete; 2 UNEXPECTED")
