"""Mutations of statements: would the check have noticed a wrong constant, or another form?

Every numeric constant of a statement is perturbed, Min and Max, floor and ceiling are swapped, and
the relation is turned round. The form is changed too: a power such as 3^L becomes 2^L, its chord
2 L + 1, or a constant; a constant term is dropped; a bound becomes an equality. The mutated
statement is judged on the values that are already recorded, and its proof (if it has one) is run
again. What then becomes of a mutant:

- killed by data: a case says the opposite;
- killed by proof: the data do not tell, but the proof breaks, and the mutant is not simply a weaker
  statement (a proof that compares the statement with a typed formula breaks there too, which shows
  nothing);
- turns UNDECIDED: no case says the opposite, but one that was decided no longer is, which `verify`
  would report;
- survives, with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import sympy
from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Case, Claim, at
from depthlaw.theory.claims.symbols import plain
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.claims.verdict import TRUNCATED, Decision, Verdict, bounds, judge
from depthlaw.theory.exact.enclosure import sign

from .suite_verdicts import NO_VALUE, ClaimResult

Fate = Literal["data", "proof", "undecided", "survives"]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True)
class Mutant:
    """One mutated statement and what became of it: what killed it, or why it is alive.

    Attributes:
        form: whether the form was changed, such as 3^L to 2 L + 1, and not only a constant.
        weaker: it survives since it allows on every case what the original allows.
    """

    change: str
    statement: Relational
    fate: Fate
    reason: str = ""
    form: bool = False
    weaker: bool = False

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

    >>> x, y = sympy.symbols("x y")
    >>> [change for change, _ in mutants(sympy.Le(x, 3))]
    ['3 -> 4', '3 -> 2', '<= -> >=']
    >>> [change for change, _ in mutants(sympy.Le(x, y**2 + 2*x))][2:4]
    ['2 -> 3, second occurrence, in 2*x', '2 -> 1, second occurrence, in 2*x']
    """
    yield from _described(_candidates(statement, lambda node, side: _changes(node, (side,), None)))
    # Two bounds have no reverse.
    pairs = ((sympy.Le, sympy.Ge), (sympy.Lt, sympy.Gt), (sympy.Eq, sympy.Ne))
    flipped = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    if statement.func in flipped:
        other = flipped[statement.func](*statement.args, evaluate=False)
        yield f"{statement.rel_op} -> {other.rel_op}", other


def forms(statement: Relational, cases: Iterable[Case] = ()) -> Iterator[tuple[str, Relational]]:
    """Every single-place change of form that `mutants` does not make, in the same words.

    Args:
        cases: where it is judged; the smallest value of a power there is its constant.

    >>> x, L = sympy.symbols("x L")
    >>> [change for change, _ in forms(sympy.Le(x, 3**L / 2 - sympy.Rational(1, 2)))]
    ['-1/2 -> 0 in -1/2 + 3^L/2', '3^L -> 1 + 2*L', '<= -> ==']
    """
    cases = list(cases)
    changes = _candidates(statement, lambda node, side: _form_changes(node, (side,), cases))
    known = [other for _, other in mutants(statement)]
    fresh: list[tuple[_Change, Relational]] = []
    for change, other in changes:
        if other not in [*known, *(relation for _, relation in fresh)]:
            fresh.append((change, other))
    yield from _described(fresh)
    if statement.func in (sympy.Le, sympy.Ge, sympy.Lt, sympy.Gt):
        yield f"{statement.rel_op} -> ==", sympy.Eq(*statement.args, evaluate=False)


def _inside(node: sympy.Basic | None) -> str:
    """What a change stands in, where it is short."""
    text = "" if node is None else plain(node)
    return text if len(text) <= 48 else ""


def _form_changes(
    node: sympy.Basic, place: tuple[int, ...], cases: list[Case]
) -> Iterator[_Change]:
    if isinstance(node, sympy.Pow) and node.base.is_Integer and node.exp.free_symbols:
        old, base, exponent = plain(node), node.base, node.exp
        # The chord agrees with the power at the exponents 0 and 1.
        others = [2**exponent, (base - 1) * exponent + 1]
        values = [at(node, case) for case in cases]
        if values and all(value.is_number and value.is_real for value in values):
            others.append(min(values))
        for other in (other for other in others if other != node):
            yield _Change(place, old, plain(other), "", other)
    if isinstance(node, sympy.Add):
        for number, term in enumerate(node.args):
            if term.is_Rational:
                yield _Change((*place, number), str(term), "0", _inside(node), node - term)
    yield from _rebuilt(node, lambda i, argument: _form_changes(argument, (*place, i), cases))


def _candidates(
    statement: Relational, changes: Callable[[sympy.Basic, int], Iterator[_Change]]
) -> list[tuple[_Change, Relational]]:
    """The statement with each change of one of its sides."""
    left, right = statement.args
    both = [(change, (change.mutated, right)) for change in changes(left, 0)]
    both += [(change, (left, change.mutated)) for change in changes(right, 1)]
    made = [(change, statement.func(*sides, evaluate=False)) for change, sides in both]
    return [(change, candidate) for change, candidate in made if candidate != statement]


def _described(changes: list[tuple[_Change, Relational]]) -> Iterator[tuple[str, Relational]]:
    """Each candidate with its change in words, which say the occurrence where there are several."""
    places: dict[str, list[tuple[int, ...]]] = {}
    for change, _ in changes:
        if change.place not in places.setdefault(change.old, []):
            places[change.old].append(change.place)
    for change, candidate in changes:
        several = places[change.old]
        number = several.index(change.place)
        which = _ORDINALS[number] if number < len(_ORDINALS) else f"{number + 1}th"
        where = f" in {change.inside}" if change.inside else ""
        if len(several) > 1:
            where = f", {which} occurrence" + (f",{where}" if where else "")
        yield f"{change.old} -> {change.new}{where}", candidate


def _changes(
    node: sympy.Basic, place: tuple[int, ...], parent: sympy.Basic | None
) -> Iterator[_Change]:
    if isinstance(node, sympy.Rational):
        # An integer moves by one; a fraction by one per cent, so that a slip in its third digit is
        # tried too.
        step = sympy.Integer(1) if node.is_Integer else node * sympy.Rational(1, 100)
        for changed in (node + step, node - step):
            yield _Change(place, str(node), str(changed), _inside(parent), changed)
        return
    for pair in ((sympy.Min, sympy.Max), (sympy.floor, sympy.ceiling)):
        for old, new in (pair, pair[::-1]):
            if node.func == old:
                changed = new(*node.args, evaluate=False)
                yield _Change(place, old.__name__, new.__name__, "", changed)
    # The limits of a sum are a tuple, which is named by the sum.
    around = parent if isinstance(node, sympy.Tuple) else node
    yield from _rebuilt(node, lambda i, argument: _changes(argument, (*place, i), around))


def _rebuilt(
    node: sympy.Basic, changes: Callable[[int, sympy.Basic], Iterator[_Change]]
) -> Iterator[_Change]:
    """The changes of a node's arguments, as changes of the node."""
    for number, argument in enumerate(node.args):
        for change in changes(number, argument):
            arguments = [*node.args]
            arguments[number] = change.mutated
            try:
                # SymPy compares what a least or greatest is taken of, for seconds: the value at
                # numbers is the same.
                as_it_is = {"evaluate": False} if isinstance(node, sympy.Min | sympy.Max) else {}
                rebuilt = node.func(*arguments, **as_it_is)
            except (ValueError, TypeError, ZeroDivisionError):
                continue
            if not rebuilt.has(sympy.zoo, sympy.nan):
                yield replace(change, mutated=rebuilt)


def mutate(result: ClaimResult) -> list[Mutant]:
    """Judge every mutant of a claim's statement on the evidence of `result`."""
    claim, statement = result.claim, result.claim.statement
    cases = [row.case for row in result.decided if row.measured is not None]
    kept = [(change, mutant, False) for change, mutant in mutants(statement)]
    kept += [(change, mutant, True) for change, mutant in forms(statement, cases)]
    if claim.predicted is not None:
        # Such a claim asks whether an interval lies inside another; "unequal" has no counterpart
        # there, and "equal" would be "inside".
        others = {sympy.Eq, sympy.Ne} - {statement.func}
        kept = [row for row in kept if row[1].func not in others]

    @cache
    def predicted(statement: Relational, case: Case) -> Any:
        return replace(claim, statement=statement).predict(case)

    # What a mutant says of a case is compared with the value and with the original: computed once.
    result = replace(result, claim=replace(claim, predicted=predicted))
    return [replace(_judged(result, change, mutant), form=form) for change, mutant, form in kept]


def _judged(result: ClaimResult, change: str, statement: Relational) -> Mutant:
    mutated = replace(result.claim, statement=statement)
    decisions: list[Decision] = []
    undecided = ""
    for row in result.decided:
        if row.measured is None:
            continue
        try:
            _counts_whole_things(statement, row.case)
            decision = judge(mutated, row.case, row.measured, alpha=result.alpha(row), force=True)
        except NO_VALUE:
            return Mutant(change, statement, "data", "the mutated statement has no value at a case")
        if {row.decision.verdict, decision.verdict} == {Verdict.HOLDS, Verdict.FAILS}:
            return Mutant(change, statement, "data")
        if decision.verdict is Verdict.UNDECIDED:
            why = TRUNCATED if decision.truncated else decision.reason
            undecided = undecided or f"turns UNDECIDED at [{row.case}]: {why}"
        decisions.append(decision)
    weaker = bool(result.in_scope) and all(
        _not_stronger(result.claim, mutated, row.case) for row in result.in_scope
    )
    breaks = bool(mutated.proof is not None and result.proof and _proof_breaks(mutated))
    if breaks and not weaker:
        return Mutant(change, statement, "proof")
    # Where another case still fails the verdict is FAILS as before, and nobody would notice.
    fails = any(decision.verdict is Verdict.FAILS for decision in decisions)
    if undecided and not fails:
        return Mutant(change, statement, "undecided", undecided)
    if fails:
        return Mutant(
            change, statement, "survives", "the statement fails with this constant as well"
        )
    why = _why_weaker(_equal(result, mutated), breaks) if weaker else _why_alive(decisions)
    return Mutant(change, statement, "survives", why, weaker=weaker)


def _counts_whole_things(statement: Relational, case: Case) -> None:
    """Refuse, by a ValueError, a binomial coefficient of what is no integer, for which SymPy would
    compute factorials of numbers such as 3^90."""
    for coefficient in statement.atoms(sympy.binomial):
        if any(at(argument, case).is_integer is False for argument in coefficient.args):
            raise ValueError("a binomial coefficient of a number that is no integer")


def _why_weaker(equal: bool, breaks: bool) -> str:
    """Why a mutant survives that allows what the original allows."""
    same = ("gives the same number" if equal else "a weaker statement") + " on every case"
    proof = "; its proof breaks only since it compares the statement with a typed formula"
    return same + proof * breaks


def _why_alive(decisions: list[Decision]) -> str:
    """Why another mutant survives, from how it was itself judged."""
    slack = min((d.slack for d in decisions if d.slack is not None), default=0.0)
    holds = "the mutant holds on every case too: its tightest slack is a factor"
    if not decisions:
        return "no decided case"
    return f"{holds} 10^{slack:.2g}" if slack > 0 else "the grid does not separate it"


def _not_stronger(original: Claim, mutated: Claim, case: Case) -> bool:
    """Whether the mutated bound allows at least what the original allows at this case."""
    relation = original.statement.rel_op
    if mutated.statement.rel_op != relation or mutated.statement.lhs != original.statement.lhs:
        return False
    try:
        new, old = mutated.predict(case), original.predict(case)
        if isinstance(new, Ball) and isinstance(old, Ball):
            # The ends that `judgement` compares with: a bound from above with the lower one, from
            # below with the upper one.
            if relation == "==":
                return new.low <= old.low and old.high <= new.high
            if relation == "!=":
                return new == old
            return new.low >= old.low if relation[0] == "<" else new.high <= old.high
        if isinstance(new, Ball) or isinstance(old, Ball):
            return False
        if relation == "in":
            (low, high), (old_low, old_high) = bounds(new), bounds(old)
            return sign(low - old_low) in (0, -1) and sign(high - old_high) in (0, 1)
        order = sign(new - old)
    except NO_VALUE:
        return False
    larger = {"<=": (0, 1), "<": (0, 1), ">=": (0, -1), ">": (0, -1)}
    return order in larger.get(relation, (0,))


def _equal(result: ClaimResult, mutated: Claim) -> bool:
    """Whether both statements predict the same on every case."""
    return mutated.statement.rel_op in ("==", "!=") or all(
        mutated.predict(row.case) == result.claim.predict(row.case) for row in result.in_scope
    )


def _proof_breaks(mutated: Claim) -> bool:
    assert mutated.proof is not None
    try:
        return not all(step.holds for step in mutated.proof(mutated.statement))
    except Exception:
        return True


def unexplained(result: ClaimResult, mutants: Iterable[Mutant]) -> list[Mutant]:
    """The survivors that should not exist: mutants of an exact equality, or of a statement that is
    PROVED or ARGUED, which no verdict notices (UNDECIDED would be noticed) and which are not simply
    weaker."""
    sampled = result.claim.holds_for in ("typical", "these nets")
    exact = result.claim.statement.rel_op == "==" and not sampled
    strict = (Verdict.PROVED, Verdict.ARGUED, *([Verdict.HOLDS] if exact else []))
    alive = [m for m in mutants if m.fate == "survives" and not m.weaker]
    return alive if result.verdict in strict else []
