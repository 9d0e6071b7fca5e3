"""Negative controls come near: they miss by at most twice what the nearest case has to spare.

A control that asks for ten thousand times a bound shows that the code can print FAILS, and not that
a statement would be caught which is wrong by an interesting amount.

An equality that is judged within an interval has half the interval's width to spare, so that its
control lies at most two halves outside. An equality that is judged exactly is exempt, and so is an
inequality of the form a != b: any other number fails, and none is nearer than another. Exempt one
by one are controls that measure another instance. They show that the measurement tells it from
the claim's, which a control that only moves a constant does not: a coin would pass that.
"""

import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import isfinite, log as ln
from pathlib import Path

import pytest
from sympy import Abs, Expr, Max, log
from sympy.core.relational import Relational

from depthlaw.ledger.records.run import Run, control_run
from depthlaw.ledger.records.store import Store, decode
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.theory.claims import verdict
from depthlaw.theory.claims.definition import Ball, Case, Claim, Measured, Outside, registry
from depthlaw.theory.claims.verdict import FALSE_ALARM_BUDGET, Verdict, bounds, judge, level
from depthlaw.theory.exact.enclosure import enclose

# Beside their reasons: controls for which a factor of 2 has no meaning, or that come no nearer; and
# claims that say the same of several things, with the fields that choose among these.
TABLE = tomllib.loads(Path(__file__).with_name("controls.toml").read_text(encoding="utf-8"))
EXCEPTIONS = {key: row["why"] for row in TABLE["elsewhere"] for key in row["claims"]}

_CLAIMS = {key: claim for key, claim in registry().items() if claim.statement.rel_op != "!="}


@pytest.fixture(scope="module")
def store() -> Store:
    found = shipped()
    assert found is not None
    return found


def measured(store: Store, run: Run) -> Measured | None:
    record = store.get(run.id)
    value = decode(record.result) if record else None
    return None if isinstance(value, tuple | Outside) else value


@cache
def predicted(claim: Claim, case: Case) -> tuple[Expr, Expr]:
    return bounds(claim.predict(case))


left = cache(verdict._left)


def ends_of(claim: Claim, case: Case, value: Measured, alpha: float) -> list[Expr]:
    """Both ends of what was measured, as the left side."""
    return [left(claim, case, end) for end in verdict._interval(value, alpha)]


def gaps(claim: Claim, case: Case, value: Measured, alpha: float, *, ratio: bool) -> list[float]:
    """How far the two ends of what was measured lie from the prediction: factors, as their
    logarithms, or differences; positive on the side that is claimed."""
    low, high = predicted(claim, case)
    above, below = [(low, 1)], [(high, -1)]
    by_relation = {"<=": above, "<": above, ">=": below, ">": below, "in": [(low, -1), (high, 1)]}
    claimed = by_relation[claim.statement.rel_op]
    if claim.statement.rel_op == "in" and low.is_nonpositive:
        # A lower bound that bounds nothing.
        del claimed[0]
    base = verdict.log_base(claim.statement.lhs)

    def gap(bound: Expr, side: Expr) -> Expr:
        if base is not None:
            return (bound - side) * log(base)
        return log(bound) - log(side) if ratio else bound - side

    return [
        min(sign * float(enclose(gap(bound, side)).mid()) for bound, sign in claimed)
        for side in ends_of(claim, case, value, alpha)
    ]


def positive(claim: Claim, case: Case, value: Measured, alpha: float) -> bool:
    """Whether both sides are positive, so that their ratio has a meaning."""
    low, high = predicted(claim, case)
    sides = [*ends_of(claim, case, value, alpha), high]
    if claim.statement.rel_op != "in" or not low.is_nonpositive:
        sides.append(low)
    logarithm = verdict.log_base(claim.statement.lhs) is not None
    return logarithm or all(side.is_positive for side in sides)


def outside(claim: Claim, case: Case, value: Measured, alpha: float) -> float | None:
    """By how many halves of the predicted interval's width what was measured lies outside it; None
    where the prediction is one number."""
    low, high = predicted(claim, case)
    if low == high:
        return None
    least, most = ends_of(claim, case, value, alpha)
    return float(2 * max(low - most, least - high) / (high - low))


def distances(claim: Claim, store: Store) -> tuple[float, float, bool] | None:
    """By how much the control misses, and what the nearest case has to spare; whether these are
    logarithms of factors. None where nothing is recorded."""
    in_scope = sum(claim.broken(case) is None for case in claim.every_case)
    alpha, rows = FALSE_ALARM_BUDGET / max(in_scope, 1), rows_of(claim, store)
    run, control = control_run(claim), claim.control
    value = measured(store, run)
    if value is None or not rows:
        return None
    wrong = replace(claim, statement=control.statement) if control.statement is not None else claim
    if claim.statement.rel_op == "==":
        # At the level at which reports judge controls: there is one of each claim.
        assert judge(wrong, control.case, value, force=True).verdict is Verdict.FAILS, claim.key
        misses = outside(wrong, control.case, value, FALSE_ALARM_BUDGET)
        return None if misses is None else (misses, 1, False)
    assert judge(wrong, control.case, value, alpha=alpha, force=True).verdict is Verdict.FAILS
    ratio = positive(wrong, control.case, value, alpha) and any(
        positive(claim, *row, alpha) for row in rows
    )
    misses = -max(gaps(wrong, control.case, value, alpha, ratio=ratio))
    # A case that is undecided, or fails, is as near as the farther end of its interval.
    spare = min(
        max(map(abs, gaps(claim, *row, alpha, ratio=ratio)))
        for row in rows
        if not ratio or positive(claim, *row, alpha)
    )
    return misses, spare, ratio


@pytest.fixture(scope="module")
def found(store) -> dict[str, tuple[float, float, bool]]:
    rows = {key: distances(claim, store) for key, claim in _CLAIMS.items()}
    return {key: row for key, row in rows.items() if row is not None}


def near(misses: float, spare: float, ratio: bool) -> bool:
    """Within a factor of 2: of logarithms by their difference, else by their ratio."""
    assert isfinite(misses)
    return misses <= spare + ln(2) + 1e-9 if ratio else misses <= 2 * spare


def test_a_control_misses_by_at_most_twice_what_the_nearest_case_has_to_spare(found):
    far = {key: row for key, row in found.items() if key not in EXCEPTIONS and not near(*row)}
    assert far == {}
    assert len(found) > 180
    assert sum(_CLAIMS[key].statement.rel_op == "==" for key in found) > 30


def test_every_exception_is_one(found):
    assert [key for key in EXCEPTIONS if key in found and near(*found[key])] == []
    assert set(EXCEPTIONS) <= set(_CLAIMS)


def test_a_coin_in_place_of_nets_at_chance_is_caught_by_their_control(store):
    """Judged are all cases at chance, and the control, with what a coin would answer."""
    claim, coin = registry()["trained_depth/wall_beyond"], Ball(Fraction("0.48"), Fraction("0.52"))
    assert judge(claim, claim.cases("full")[0], coin, alpha=1e-5).verdict is Verdict.HOLDS
    control = claim.control
    wrong = claim if control.statement is None else replace(claim, statement=control.statement)
    judged = partial(judge, wrong, control.case, alpha=1e-5, force=True)
    assert judged(coin).verdict is Verdict.HOLDS, "the control fails for a coin too"
    assert judged(Ball(Fraction("0.99"), Fraction(1))).verdict is Verdict.FAILS
    value = measured(store, control_run(claim))
    if value is not None:
        assert judged(value).verdict is Verdict.FAILS


def rows_of(claim: Claim, store: Store) -> list[tuple[Case, Measured]]:
    """The recorded cases in scope, with what the seeds of each measured."""
    return [
        (case, value)
        for case in claim.every_case
        if claim.broken(case) is None
        if (value := measured(store, Run(claim, case))) is not None
    ]


def stricter(statement: Relational) -> Relational:
    """Half of an upper bound, twice a lower one, half more than an equality says, at least 1/2."""
    left, right = statement.args
    if statement.rel_op in ("<=", "<"):
        return statement.func(left, right - Abs(right) / 2, evaluate=False)
    if statement.rel_op in (">=", ">"):
        return statement.func(left, right + Abs(right), evaluate=False)
    return statement.func(left, right + Max(Abs(right), 1) / 2, evaluate=False)


@pytest.mark.parametrize(("key", "fields"), TABLE["parts"].items())
def test_each_part_of_a_claim_about_several_things_could_fail(key, fields, store):
    claim = registry()[key]
    wrong = replace(claim, statement=stricter(claim.statement))
    verdicts: dict[tuple, set[str]] = {}
    for case, value in rows_of(claim, store):
        part = tuple(case.get(field) for field in fields)
        decision = judge(wrong, case, value, alpha=level(claim, case), force=True)
        verdicts.setdefault(part, set()).add(decision.verdict)
    assert len(verdicts) > 1
    assert {part for part, judged in verdicts.items() if Verdict.FAILS not in judged} == set()


TWO_SIDED = [key for key, claim in _CLAIMS.items() if claim.statement.rel_op == "in"]


@pytest.mark.parametrize("key", TWO_SIDED)
def test_each_end_of_two_bounds_is_near_a_case(key, store):
    """Within a factor of 2, or a quarter of the interval's width where an end is not positive: else
    one end would say nothing."""
    claim = registry()[key]
    ends = set[str]()
    for case, value in rows_of(claim, store):
        low, high = predicted(claim, case)
        least, most = ends_of(claim, case, value, level(claim, case))
        # Of a logarithm a factor of 2 is a difference.
        logarithm = str(claim.statement.lhs).startswith("log_")
        room = 0 if low.is_positive and high.is_positive else (high - low) / 4
        room = max(room, ln(2)) if logarithm else room
        if least - low <= room or (low.is_positive and least <= 2 * low):
            ends.add("low")
        if high - most <= room or (high.is_positive and high <= 2 * most):
            ends.add("high")
    assert ends == {"low", "high"}
