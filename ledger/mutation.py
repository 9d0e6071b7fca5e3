"""Mutations of statements: would the check have noticed a wrong constant?

Every numeric constant of a statement is perturbed, Min and Max, floor and ceiling are swapped, and the relation is turned round. The
mutated statement is judged on the values that are already recorded, and its proof (if it has one) is run again. A mutant that no
verdict notices is a survivor; it is listed with its reason.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.glossary import plain
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.measurement import Ball

from .report import ClaimResult

if TYPE_CHECKING:
    import sympy
    from sympy.core.relational import Relational


@dataclass(frozen=True)
class Mutant:
    """One mutated statement and what became of it. `turned`: a verdict changed. `reason` says why a survivor survives."""

    change: str
    statement: Relational
    turned: bool
    reason: str = ""


def mutants(statement: Relational) -> Iterator[tuple[str, Relational]]:
    """Every single-place mutation of a relation, with a description.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> [change for change, _ in mutants(sympy.Le(x, 3))]
    ['3 -> 4', '3 -> 2', '<= -> >=']
    """
    import sympy

    for side in (0, 1):
        for change, mutated in _changes(statement.args[side]):
            sides = [*statement.args]
            sides[side] = mutated
            candidate = statement.func(*sides, evaluate=False)
            if candidate != statement:
                yield change, candidate
    flipped = {sympy.Le: sympy.Ge, sympy.Ge: sympy.Le, sympy.Lt: sympy.Gt, sympy.Gt: sympy.Lt, sympy.Eq: sympy.Ne, sympy.Ne: sympy.Eq}
    for relation, other in flipped.items():
        if statement.func is relation:
            yield f"{statement.rel_op} -> {other(*statement.args, evaluate=False).rel_op}", other(*statement.args, evaluate=False)


def _changes(node: sympy.Basic) -> Iterator[tuple[str, sympy.Basic]]:
    import sympy

    if isinstance(node, sympy.Rational):
        # An integer moves by one; a fraction by one per cent, so that a slip in its third digit is tried too.
        for changed in (node + 1, node - 1) if node.is_Integer else (node * sympy.Rational(101, 100), node * sympy.Rational(99, 100)):
            yield f"{node} -> {changed}", changed
        return
    swaps = {sympy.Min: sympy.Max, sympy.Max: sympy.Min, sympy.floor: sympy.ceiling, sympy.ceiling: sympy.floor}
    if node.func in swaps:
        yield f"{node.func.__name__} -> {swaps[node.func].__name__}", swaps[node.func](*node.args)
    for place, argument in enumerate(node.args):
        for change, mutated in _changes(argument):
            arguments = [*node.args]
            arguments[place] = mutated
            try:
                rebuilt = node.func(*arguments)
            except (ValueError, TypeError, ZeroDivisionError):
                continue
            if not rebuilt.has(sympy.zoo, sympy.nan):
                yield f"{change} in {plain(node)}" if isinstance(node, sympy.Pow) else change, rebuilt


def mutate(result: ClaimResult) -> list[Mutant]:
    """Judge every mutant of a claim's statement on the evidence of `result`."""
    found = mutants(result.claim.statement)
    if result.claim.predicted is not None:
        # Such a claim asks whether an interval lies inside another; "unequal" has no counterpart there.
        found = ((change, statement) for change, statement in found if change != "== -> !=")
    return [_judged(result, change, statement) for change, statement in found]


def _judged(result: ClaimResult, change: str, statement: Relational) -> Mutant:
    mutated = replace(result.claim, statement=statement)
    compared = looser = 0
    for row in result.decided:
        if row.measured is None:
            continue
        try:
            verdict = judge(mutated, row.case, row.measured, force=True).verdict
        except (ValueError, TypeError, ZeroDivisionError, KeyError, AttributeError):
            return Mutant(change, statement, True, "the mutated statement has no value at a case")
        # UNDECIDED is not counted: only a verdict that says the opposite shows that the constant matters.
        if {row.decision.verdict, verdict} == {Verdict.HOLDS, Verdict.FAILS}:
            return Mutant(change, statement, True)
        compared += 1
        looser += _not_stronger(result.claim, mutated, row.case)
    if result.claim.proof is not None and result.proof and _proof_breaks(mutated):
        return Mutant(change, statement, True)
    if compared == 0:
        return Mutant(change, statement, False, "no decided case")
    if result.verdict is Verdict.FAILS:
        return Mutant(change, statement, False, "the statement fails with this constant as well")
    if looser == compared:
        same = "gives the same number on every case" if statement.rel_op in ("==", "!=") else "a weaker statement on every case"
        return Mutant(change, statement, False, same)
    slack = result.tightest
    reason = f"the bound has room: tightest slack is a factor 10^{slack:.2g}" if slack else "the grid does not separate it"
    return Mutant(change, statement, False, reason)


def _not_stronger(original: Claim, mutated: Claim, case: Case) -> bool:
    """Whether the mutated bound allows at least what the original allows at this case."""
    from depthlaw.theory.enclosure import sign

    relation = original.statement.rel_op
    if mutated.statement.rel_op != relation or mutated.statement.lhs != original.statement.lhs:
        return False
    new, old = mutated.predict(case), original.predict(case)
    if isinstance(new, Ball) or isinstance(old, Ball):
        return new == old
    order = sign(new - old)
    return order in {"<=": (0, 1), "<": (0, 1), ">=": (0, -1), ">": (0, -1), "==": (0,), "!=": (0,)}[relation]


def _proof_breaks(mutated: Claim) -> bool:
    assert mutated.proof is not None
    try:
        return not all(step.holds for step in mutated.proof(mutated.statement))
    except Exception:
        return True


def unexplained(result: ClaimResult, found: list[Mutant]) -> list[Mutant]:
    """The survivors that should not exist: mutants of an exact equality or of a proved statement which are not simply weaker."""
    exact = result.claim.statement.rel_op == "==" and result.claim.quantifier != "typical" and result.verdict is Verdict.HOLDS
    strict = exact or result.verdict is Verdict.PROVED
    return [m for m in found if strict and not m.turned and not m.reason.startswith(("a weaker", "gives the same"))]
