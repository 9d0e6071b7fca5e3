"""Mutations of statements: would the check have noticed a wrong constant?

Every numeric constant of a statement is perturbed, Min and Max, floor and ceiling are swapped, and
the relation is turned round. The mutated statement is judged on the values that are already
recorded, and its proof (if it has one) is run again. What then becomes of a mutant:

- killed by data: a case says the opposite;
- killed by proof: the data do not tell, but the proof breaks, and the mutant is not simply a weaker
  statement (a proof that compares the statement with a typed formula breaks there too, which shows
  nothing);
- turns UNDECIDED: no case says the opposite, but one that was decided no longer is, which `verify`
  would report;
- survives, with its reason.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.judgement import TRUNCATED, Decision, Verdict, judge
from depthlaw.theory.symbols import plain
from depthlaw.theory.values import Ball

from .report import ClaimResult

if TYPE_CHECKING:
    import sympy
    from sympy.core.relational import Relational

Fate = Literal["data", "proof", "undecided", "survives"]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
             "tenth")
_NO_VALUE = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Mutant:
    """One mutated statement and what became of it: what killed it, or why it is alive."""

    change: str
    statement: Relational
    fate: Fate
    reason: str = ""

    @property
    def turned(self) -> bool:
        """Whether a verdict says the opposite, or the proof breaks for good."""
        return self.fate in ("data", "proof")


@dataclass(frozen=True)
class _Change:
    """One replaced node: its place, what it was and is, and what it stands in."""

    place: tuple[int, ...]
    old: str
    new: str
    inside: str
    mutated: sympy.Basic


def mutants(statement: Relational) -> Iterator[tuple[str, Relational]]:
    """Every single-place mutation of a relation, with a description that says which occurrence of a
    constant was changed.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> [change for change, _ in mutants(sympy.Le(x, 3))]
    ['3 -> 4', '3 -> 2', '<= -> >=']
    >>> [change for change, _ in mutants(sympy.Le(x, y**2 + 2*x))][2:4]
    ['2 -> 3, second occurrence, in 2*x', '2 -> 1, second occurrence, in 2*x']
    """
    import sympy

    found: list[tuple[_Change, Relational]] = []
    for side in (0, 1):
        for change in _changes(statement.args[side], (side,), None):
            sides = [*statement.args]
            sides[side] = change.mutated
            candidate = statement.func(*sides, evaluate=False)
            if candidate != statement:
                found.append((change, candidate))
    places: dict[str, list[tuple[int, ...]]] = {}
    for change, _ in found:
        if change.place not in places.setdefault(change.old, []):
            places[change.old].append(change.place)
    for change, candidate in found:
        yield _described(change, places[change.old]), candidate
    flipped = {sympy.Le: sympy.Ge, sympy.Ge: sympy.Le, sympy.Lt: sympy.Gt, sympy.Gt: sympy.Lt,
               sympy.Eq: sympy.Ne, sympy.Ne: sympy.Eq}
    if statement.func in flipped:
        other = flipped[statement.func](*statement.args, evaluate=False)
        yield f"{statement.rel_op} -> {other.rel_op}", other


def _described(change: _Change, places: list[tuple[int, ...]]) -> str:
    number = places.index(change.place)
    which = _ORDINALS[number] if number < len(_ORDINALS) else f"{number + 1}th"
    parts = [f"{change.old} -> {change.new}", *([f"{which} occurrence"] if len(places) > 1 else [])]
    if not change.inside:
        return ", ".join(parts)
    return f"{', '.join(parts)}{',' if len(parts) > 1 else ''} in {change.inside}"


def _changes(node: sympy.Basic, place: tuple[int, ...],
             parent: sympy.Basic | None) -> Iterator[_Change]:
    import sympy

    inside = plain(parent) if parent is not None else ""
    inside = inside if len(inside) <= 48 else ""
    if isinstance(node, sympy.Rational):
        # An integer moves by one; a fraction by one per cent, so that a slip in its third digit is
        # tried too.
        percent = sympy.Rational(1, 100)
        step = sympy.Integer(1) if node.is_Integer else node * percent
        for changed in (node + step, node - step):
            yield _Change(place, str(node), str(changed), inside, changed)
        return
    swaps = {sympy.Min: sympy.Max, sympy.Max: sympy.Min, sympy.floor: sympy.ceiling,
             sympy.ceiling: sympy.floor}
    if node.func in swaps:
        yield _Change(place, node.func.__name__, swaps[node.func].__name__, "",
                      swaps[node.func](*node.args))
    for number, argument in enumerate(node.args):
        # The limits of a sum are a tuple, which is named by the sum.
        around = parent if isinstance(node, sympy.Tuple) else node
        for change in _changes(argument, (*place, number), around):
            arguments = [*node.args]
            arguments[number] = change.mutated
            try:
                rebuilt = node.func(*arguments)
            except (ValueError, TypeError, ZeroDivisionError):
                continue
            if not rebuilt.has(sympy.zoo, sympy.nan):
                yield replace(change, mutated=rebuilt)


def mutate(result: ClaimResult) -> list[Mutant]:
    """Judge every mutant of a claim's statement on the evidence of `result`."""
    found = mutants(result.claim.statement)
    if result.claim.predicted is not None:
        # Such a claim asks whether an interval lies inside another; "unequal" has no counterpart
        # there.
        found = ((change, statement) for change, statement in found if change != "== -> !=")
    return [_judged(result, change, statement) for change, statement in found]


def _judged(result: ClaimResult, change: str, statement: Relational) -> Mutant:
    mutated = replace(result.claim, statement=statement)
    decisions: list[Decision] = []
    undecided = ""
    for row in result.decided:
        if row.measured is None:
            continue
        try:
            decision = judge(mutated, row.case, row.measured, alpha=result.alpha(row.measured),
                             force=True)
        except _NO_VALUE:
            return Mutant(change, statement, "data", "the mutated statement has no value at a case")
        if {row.decision.verdict, decision.verdict} == {Verdict.HOLDS, Verdict.FAILS}:
            return Mutant(change, statement, "data")
        if decision.verdict is Verdict.UNDECIDED:
            why = TRUNCATED if decision.reason.startswith(TRUNCATED) else decision.reason
            undecided = undecided or f"turns UNDECIDED at [{row.case}]: {why}"
        decisions.append(decision)
    weaker = (bool(result.in_scope)
              and all(_not_stronger(result.claim, mutated, row.case) for row in result.in_scope))
    breaks = bool(result.claim.proof is not None and result.proof and _proof_breaks(mutated))
    if breaks and not weaker:
        return Mutant(change, statement, "proof")
    # Where another case still fails the verdict is FAILS as before, and nobody would notice.
    if undecided and not any(decision.verdict is Verdict.FAILS for decision in decisions):
        return Mutant(change, statement, "undecided", undecided)
    return Mutant(change, statement, "survives",
                  _why_alive(statement, decisions, weaker=weaker, breaks=breaks))


def _why_alive(statement: Relational, decisions: list[Decision], *, weaker: bool,
               breaks: bool) -> str:
    """Why a mutant survives, from how the mutant itself was judged."""
    if any(decision.verdict is Verdict.FAILS for decision in decisions):
        return "the statement fails with this constant as well"
    if weaker:
        same = ("gives the same number on every case" if statement.rel_op in ("==", "!=")
                else "a weaker statement on every case")
        return (f"{same}; its proof breaks only since it compares the statement with a typed "
                "formula" if breaks else same)
    if not decisions:
        return "no decided case"
    slacks = [decision.slack for decision in decisions if decision.slack is not None]
    if slacks and min(slacks) > 0:
        return ("the mutant holds on every case too: its tightest slack is a factor "
                f"10^{min(slacks):.2g}")
    return "the grid does not separate it"


def _not_stronger(original: Claim, mutated: Claim, case: Case) -> bool:
    """Whether the mutated bound allows at least what the original allows at this case."""
    from depthlaw.theory.exact.enclosure import sign

    relation = original.statement.rel_op
    if mutated.statement.rel_op != relation or mutated.statement.lhs != original.statement.lhs:
        return False
    try:
        new, old = mutated.predict(case), original.predict(case)
        if isinstance(new, Ball) and isinstance(old, Ball):
            # The ends that `judgement` compares with: a bound from above with the lower one, from
            # below with the upper one.
            weaker = {"<=": new.low >= old.low, "<": new.low >= old.low, ">=": new.high <= old.high,
                      ">": new.high <= old.high, "==": new.low <= old.low and old.high <= new.high}
            return weaker.get(relation, new == old)
        if isinstance(new, Ball) or isinstance(old, Ball):
            return False
        order = sign(new - old)
    except _NO_VALUE:
        return False
    return order in {"<=": (0, 1), "<": (0, 1), ">=": (0, -1), ">": (0, -1), "==": (0,),
                     "!=": (0,)}[relation]


def _proof_breaks(mutated: Claim) -> bool:
    assert mutated.proof is not None
    try:
        return not all(step.holds for step in mutated.proof(mutated.statement))
    except Exception:
        return True


def unexplained(result: ClaimResult, found: list[Mutant]) -> list[Mutant]:
    """The survivors that should not exist: mutants of an exact equality, or of a statement that is
    PROVED or ARGUED, which no verdict notices (UNDECIDED would be noticed) and which are not simply
    weaker.
    """
    exact = (result.claim.statement.rel_op == "==" and result.claim.holds_for != "typical"
             and result.verdict is Verdict.HOLDS)
    strict = exact or result.verdict in (Verdict.PROVED, Verdict.ARGUED)
    return [m for m in found if strict and m.fate == "survives"
            and not m.reason.startswith(("a weaker", "gives the same"))]
