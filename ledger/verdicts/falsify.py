"""Looking for counterexamples: the falsifier, the certificates it stores, and their independent
re-check.

Optimisers push a float estimate of the measured quantity towards the forbidden side; only a
rigorous value at a rational point refutes. What is found is stored as a certificate that `depthlaw
recheck` verifies from the file alone, by measuring again: it shows that nothing was changed since,
not that the measuring code is right, which only the certificates of `theory.certificates` do.
"""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sympy

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.certificates import recheck as certificates
from depthlaw.theory.certificates.recheck import Finding
from depthlaw.theory.claims.counterexample_search import Search
from depthlaw.theory.claims.definition import SUITES, Case, Claim, at, registry
from depthlaw.theory.claims.symbols import plain
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Instance, Measured, Step
from depthlaw.theory.claims.verdict import Decision, Verdict, bounds, judge
from depthlaw.theory.exact.enclosure import enclose

from ..records.environment import installing
from ..records.store import Store, canonical, decode, digest, encode
from .display import number, slack
from .failing_case import instance_at
from .suite_verdicts import NO_VALUE, CaseResult

# What a statement with a changed constant may not exceed: it must still be evaluated exactly, in
# seconds.
_MOST_BITS, _MOST_TERMS = 10**7, 10**5
_GROWING = (sympy.Pow, sympy.exp, sympy.binomial, sympy.factorial, sympy.gamma, sympy.LambertW)
# A judgement of a changed statement that has no value ends in one of these.
_NO_VALUE = (*NO_VALUE, MemoryError, RecursionError)


@dataclass(frozen=True)
class NearestCase:
    """The closest approach to a violation that the search saw, judged rigorously.

    Attributes:
        decision: its verdict; FAILS is a counterexample.
        where: the search's point or the seed that gives it.
        place: the how manieth instance that was judged; its false-alarm level follows from it.
        tried: how many instances were evaluated.
    """

    claim: Claim
    case: Case
    value: Measured
    decision: Decision
    where: dict[str, Any]
    place: int
    tried: int
    weakened: tuple[tuple[str, str], ...]

    @property
    def instance(self) -> Instance:
        """The counterexample in words: of the claim's own statement the one that it brings."""
        if self.claim.instance and not self.weakened:
            return self.claim.instance()
        return instance_at(self.claim, CaseResult(self.case, self.value, self.decision))

    def certificate(self) -> dict[str, Any]:
        """Everything that is needed to evaluate this instance again."""
        return {
            "kind": "falsification",
            "claim": self.claim.key,
            "statement": plain(self.claim.statement),
            "weakened": list(map(list, self.weakened)),
            "case": self.case.fields(),
            **self.where,
            "place": self.place,
            "measured": encode(self.value),
            "verdict": self.decision.verdict.value,
            "depthlaw": version("depthlaw"),
        }


def weaken(claim: Claim, changes: list[str]) -> tuple[Claim, tuple[tuple[str, str], ...]]:
    """The claim with constants of its right side replaced: "4=0.4" turns every 4 into 2/5. A
    UsageError for a change that cannot be read, or whose constant does not occur."""
    pairs = []
    right = claim.statement.rhs
    for change in changes:
        old, _, new = change.partition("=")
        a, b = _constant(old), _constant(new)
        if a is None or b is None:
            how = "write OLD=NEW with numbers of at most 30 digits, such as 4=0.4"
            raise UsageError(f"cannot read the change {quoted(change)}; {how}")
        number = sympy.Rational(a)
        if not right.has(number):
            what = f"the constant {quoted(old)} is not in the right side {plain(right)}"
            raise UsageError(f"{what}; choose one that does")
        swap = {number: sympy.Rational(b)}
        if not _bits(right, None, swap) <= _MOST_BITS:
            what = f"with {quoted(change)} the right side is too large to evaluate"
            raise UsageError(f"{what}; choose another number")
        try:
            # Every part of it: a logarithm to base 0 would vanish in the whole.
            every = sympy.preorder_traversal(right)
            parts = [part.xreplace(swap) for part in every if part.has(number)]
        except _NO_VALUE:
            parts = [sympy.nan]
        if any(part.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I) for part in parts):
            what = f"with {quoted(change)} the right side has no real value"
            raise UsageError(f"{what}; choose another number")
        right = right.xreplace(swap)
        pairs.append((str(a), str(b)))
    if not pairs:
        return claim, ()
    statement = claim.statement.func(claim.statement.lhs, right, evaluate=False)
    return replace(claim, statement=statement, proof=None), tuple(pairs)


def _constant(text: str) -> Fraction | None:
    """A number between 1e-30 and 1e30 in size, or 0; None for anything else."""
    form = r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,2})?|[+-]?\d{1,30}/\d{1,30}"
    try:
        match = re.fullmatch(form, text.strip(), re.ASCII | re.IGNORECASE)
        value = Fraction(match[0] if match else "none")
    except (ValueError, ZeroDivisionError):
        return None
    return value if value == 0 or Fraction(1, 10**30) <= abs(value) <= 10**30 else None


def _bits(
    node: sympy.Basic, case: Case | None, swap: Mapping[sympy.Basic, sympy.Basic] | None = None
) -> float:
    """A bound on log2 of the size of an expression and of its parts; inf: too large. Without a case
    symbols stay, and of what holds one only a power with a number as exponent is evaluated."""
    node = (swap or {}).get(node, node)
    if isinstance(node, sympy.Rational):
        return float(max(abs(int(node.p)), int(node.q)).bit_length())
    if isinstance(node, sympy.Symbol):
        if case is None:
            return 1.0
        value = case.get(node.name)
        if value is None or isinstance(value, bool):
            return 8.0
        return _bits(sympy.Rational(str(value)), case)
    parts = [_bits(argument, case, swap) for argument in node.args]
    largest = max(parts, default=8.0)
    if largest > _MOST_BITS:
        return math.inf
    raised = isinstance(node, sympy.Pow) and node.args[1].is_Rational
    if case is None and not raised and node.atoms(sympy.Symbol):
        return largest
    if isinstance(node, sympy.Add):
        return largest + len(parts)
    if isinstance(node, sympy.Mul):
        return sum(parts)
    if isinstance(node, _GROWING):
        # At most the base to a power no larger than the largest argument.
        power = parts[1] if isinstance(node, sympy.Pow) else largest
        bits = (parts[0] + 1) * 2.0 ** min(power, 64.0)
        return bits if bits <= _MOST_BITS else math.inf
    if isinstance(node, sympy.Sum | sympy.Product):
        ends = (bound for limits in node.args[1:] for bound in limits.args[1:])
        terms = sum(2.0 ** min(_bits(end, case, swap), 64.0) for end in ends)
        times = terms if isinstance(node, sympy.Product) else 1.0
        return largest * times + 64 if terms <= 4 * _MOST_TERMS else math.inf
    return largest + 8


def falsify(
    claim: Claim,
    minutes: float,
    changes: list[str],
    seen: Callable[[str], None],
    going_on: Callable[[int], None] = lambda tried: None,
) -> NearestCase:
    """Search for a counterexample until one is found or the time is over; what came closest.

    The false-alarm budget of a claim is divided over all instances that the search may ever judge,
    see `level_at`: of a true claim chance makes a counterexample with at most that probability,
    however long the search.

    Args:
        changes: constants to replace first, as for `weaken`.
        seen: called with one line whenever the search comes closer.
        going_on: called with the number of instances tried, whenever one was judged.

    Raises:
        UsageError: when the claim cannot be measured here.
    """
    attacked, weakened = weaken(claim, changes)
    if not attacked.measurable:
        raise UsageError(f"{claim.key} cannot be measured here; {installing(claim.needs)}")
    deadline = time.monotonic() + 60 * minutes
    best: NearestCase | None = None
    tried, skipped, closest = 0, 0, math.inf
    hopeless = len(_cases(attacked)) + 4 * len(_searches(claim))
    for place, (case, value, where, evaluations) in enumerate(_instances(attacked, deadline), 1):
        tried += evaluations
        decision = _decision(attacked, case, value, place, changed=bool(weakened))
        if decision is None:
            skipped += 1
        else:
            going_on(tried)
            nearest = NearestCase(attacked, case, value, decision, where, place, tried, weakened)
            if decision.verdict is Verdict.FAILS:
                return nearest
            near = math.inf if decision.slack is None else decision.slack
            if best is None or near < closest:
                best, closest = nearest, near
                # Where equality is stated no instance is closer than another.
                if decision.slack is not None:
                    seen(f"closest so far: slack {slack(decision.slack)} at [{case}]")
        if time.monotonic() > deadline or (best is None and skipped >= hopeless):
            break
    if best is None and skipped:
        what = f"{claim.key} with {', '.join(changes)} has no real value, or one too large to"
        raise UsageError(f"{what} evaluate, at any case tried; choose other numbers")
    if best is None:
        raise UsageError(f"{claim.key} has no case in scope to search")
    return replace(best, tried=tried)


def level_at(place: int) -> float:
    """The false-alarm level of the instance that a search judges as its first, second, third: they
    add up to the budget of a claim, however many there are.

    >>> sum(map(level_at, range(1, 10_000))) < FALSE_ALARM_BUDGET
    True
    """
    return FALSE_ALARM_BUDGET / (place * (place + 1))


def _decision(
    claim: Claim, case: Case, value: Measured, place: int, *, changed: bool
) -> Decision | None:
    """The judgement; None where a statement with a changed constant has no value at the case."""
    try:
        if changed and _bits(claim.statement.rhs, case) > _MOST_BITS:
            return None
        return judge(claim, case, value, alpha=level_at(place))
    except _NO_VALUE:
        if not changed:
            raise
        return None


def _searches(claim: Claim) -> tuple[Search, ...]:
    return claim.search() if claim.search else ()


def _instances(
    claim: Claim, deadline: float
) -> Iterator[tuple[Case, Measured, dict[str, Any], int]]:
    families = _searches(claim)
    if not families:
        yield from _by_seed(claim)
        return
    sense = -1.0 if claim.statement.rel_op in (">=", ">") else 1.0
    generator = families[0].case.rng(0)
    for start in itertools.count():
        for place, family in enumerate(families):
            vector, evaluations = _climb(family, sense, generator, start % 2 == 1, deadline)
            # Sixteen binary digits say all an optimiser knows; a short point makes a small
            # certificate.
            point = tuple(Fraction(round(float(x) * 2**16), 2**16) for x in vector)
            try:
                value = family.measured(point)
            except UsageError:
                raise
            except (ValueError, ArithmeticError):
                continue
            where = {"search": place, "point": [str(x) for x in point]}
            yield family.case, value, where, evaluations
            if time.monotonic() > deadline:
                return


def _climb(
    family: Search, sense: float, generator: Any, wide: bool, deadline: float
) -> tuple[Any, int]:
    """One start: gradient steps from a random point, or an evolutionary search."""
    import numpy as np
    from scipy import optimize

    calls = 0

    def loss(vector: Any) -> float:
        nonlocal calls
        calls += 1
        if time.monotonic() > deadline:
            raise TimeoutError
        with np.errstate(all="ignore"):
            value = sense * family.objective(vector)
        # Finite, since the simplex method subtracts losses.
        return -math.log(value) if value > 0 else 1e9

    best = generator.standard_normal(family.size)
    with suppress(TimeoutError):
        if wide:
            within = [(-2.0, 2.0)] * family.size
            how = {"maxiter": 60, "popsize": 12, "seed": generator, "polish": False}
            best = optimize.differential_evolution(loss, within, **how).x
        else:
            options = {"maxiter": 400 * family.size, "adaptive": True}
            best = optimize.minimize(loss, best, method="Nelder-Mead", options=options).x
    return best, calls


def _cases(claim: Claim) -> list[Case]:
    """Every case of the claim that satisfies its assumptions."""
    return [c for suite in SUITES for c in claim.grid.get(suite, ()) if claim.broken(c) is None]


def _by_seed(claim: Claim) -> Iterator[tuple[Case, Measured, dict[str, Any], int]]:
    cases = _cases(claim)
    for seed in itertools.count() if cases else ():
        for case in cases:
            try:
                value = claim.measure(case, seed)
            except ArithmeticError:
                # An unlucky draw, such as a polynomial that vanishes at the chosen point, says
                # nothing about the claim.
                continue
            yield case, value, {"seed": seed}, 1


def recheck(
    path: Path, known: Mapping[str, Claim] | None = None
) -> tuple[dict[str, Any], tuple[Step, ...]]:
    """Verify a certificate from its file alone, and what is known of claims; it stands when every
    step holds. A UsageError where the file is no certificate."""
    try:
        data = certificates.load(path)
        if data.get("kind") != "falsification":
            return data, certificates.recheck(data)
        return data, _recheck_falsification(data, registry() if known is None else known)
    except UsageError:
        raise
    except (*_NO_VALUE, IndexError) as error:
        why = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        if str(path) not in why:
            why = f"{path} is not a complete certificate: {why}"
        raise UsageError(f"{why}; `depthlaw certify 3 3 FILE` writes one") from None


def finding(data: dict[str, Any], known: Mapping[str, Claim] | None = None) -> Finding:
    """What a certificate that `recheck` has confirmed establishes, and whether that is independent
    of the code that measured it."""
    if data["kind"] != "falsification":
        return certificates.finding(data)
    claim, weakened = _attacked(data, registry() if known is None else known)
    case, value = Case(**data["case"]), decode(data["measured"])
    assert not isinstance(value, tuple)
    changed = f" with {', '.join(f'{old} -> {new}' for old, new in weakened)}" if weakened else ""
    try:
        # The right side, or both bounds of a pair, to six digits.
        ends = [float(enclose(end).mid()) for end in bounds(at(claim.statement.rhs, case))]
        stated = " and ".join(f"{end:.6g}" for end in dict.fromkeys(ends))
    except _NO_VALUE:
        stated = plain(claim.statement.rhs)
    left = f"{plain(claim.statement.lhs)} {claim.statement.rel_op}"
    outcome = "refutes the changed statement" if weakened else "refutes the claim as worded"
    says = f"{claim.key}{changed} at [{case}]: measured {number(value)}, stated {left} {stated}"
    return Finding(f"{says}; {outcome}", "no, it repeats the measurement")


_FIELDS = "kind claim statement weakened case place measured verdict depthlaw"


def _attacked(
    data: dict[str, Any], claims: Mapping[str, Claim]
) -> tuple[Claim, tuple[tuple[str, str], ...]]:
    weakened = data["weakened"]
    if not isinstance(data["claim"], str) or data["claim"] not in claims:
        raise ValueError("there is no claim of the name it gives")
    pairs = isinstance(weakened, list) and all(isinstance(pair, list) for pair in weakened)
    if not pairs or any([*map(type, pair)] != [str, str] for pair in weakened):
        raise ValueError("weakened must be a list of pairs of numbers, as text")
    return weaken(claims[data["claim"]], [f"{old}={new}" for old, new in weakened])


def _recheck_falsification(data: dict[str, Any], claims: Mapping[str, Claim]) -> tuple[Step, ...]:
    where = {"search", "point"} if "point" in data else {"seed"}
    if wrong := sorted(ascii(field)[:40] for field in set(data) ^ where.union(_FIELDS.split())):
        raise ValueError(f"fields missing or unknown: {', '.join(wrong[:4])}")
    attacked, weakened = _attacked(data, claims)
    fields, place = data["case"], data["place"]
    if not isinstance(fields, dict) or {*map(type, fields.values())} - {int, str, bool}:
        raise ValueError("case must be an object of whole numbers, texts and booleans")
    case, families = Case(**fields), _searches(attacked)
    if type(data.get("seed", data.get("search"))) is not int:
        raise ValueError("seed or search must be a whole number")
    if type(place) is not int or place < 1:
        raise ValueError("place must be a whole number from 1 on")
    if "point" in data:
        if not 0 <= data["search"] < len(families):
            raise ValueError(f"search must be a number from 0 to {len(families) - 1}")
        family, point = families[data["search"]], data["point"]
        short = isinstance(point, list) and all(
            isinstance(x, str) and re.fullmatch(r"-?\d{1,40}(/\d{1,40})?", x, re.ASCII)
            for x in point
        )
        if not short or len(point) != family.size:
            raise ValueError(f"point must be {family.size} fractions, as text")
        inside = family.case == case
        value = family.measured(tuple(map(Fraction, point))) if inside else None
    else:
        # A case of our own grids only: another could take for ever to measure.
        inside = case in _cases(attacked) and 0 <= data["seed"] < 2**63
        able = inside and attacked.measurable
        value = attacked.measure(case, data["seed"]) if able else None
    changed = bool(weakened)
    decision = None if value is None else _decision(attacked, case, value, place, changed=changed)
    same = plain(attacked.statement) == data["statement"]
    again = value is not None and encode(value) == data["measured"]
    fails = decision is not None and decision.verdict is Verdict.FAILS
    asked = "the case is one of the claim's, and satisfies its assumptions"
    judged = f"it says {ascii(data['verdict'])[1:-1][:12]}, and judged again the case FAILS"
    return (
        Step("the statement is the one in the certificate", same),
        Step(asked, inside),
        Step("the value measured again is the one in the certificate", again),
        Step(judged, data["verdict"] == "FAILS" and fails),
    )


def store(nearest: NearestCase, folder: Path) -> Path:
    """Write the certificate of a counterexample beside the records, named by its hash."""
    certificate = nearest.certificate()
    path = folder / "certificates" / f"{digest(certificate)[:16]}.json"
    keeper = Store(folder)
    path.parent.mkdir(exist_ok=True)
    keeper.write(path, canonical(certificate) + b"\n")
    return path
