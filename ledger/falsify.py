"""Looking for counterexamples: the falsifier, the certificates it stores, and their independent re-check.

Optimisers push a float estimate of the measured quantity towards the forbidden side; only a rigorous value at a rational point
refutes. What is found is stored as a certificate that `depthlaw recheck` verifies from the file alone.
"""
from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from depthlaw.theory.claim import SUITES, Case, Claim
from depthlaw.theory.glossary import plain
from depthlaw.theory.judgement import FALSE_ALARM_BUDGET, Decision, Verdict, judge
from depthlaw.theory.measurement import Measured, Step
from depthlaw.theory.search import Search, searches

from .budget import UsageError
from .records import canonical, encode


@dataclass(frozen=True)
class Found:
    """The closest approach to a violation that the search saw, judged rigorously.

    Attributes:
        decision: its verdict; FAILS is a counterexample.
        where: the search's point or the seed that gives it.
        tried: how many instances were evaluated.
    """

    claim: Claim
    case: Case
    value: Measured
    decision: Decision
    where: dict[str, Any]
    tried: int
    weakened: tuple[tuple[str, str], ...]

    def certificate(self) -> dict[str, Any]:
        """Everything that is needed to evaluate this instance again."""
        return {"kind": "falsification", "claim": self.claim.key, "statement": plain(self.claim.statement),
                "weakened": list(map(list, self.weakened)), "case": self.case.fields(), **self.where, "measured": encode(self.value),
                "verdict": self.decision.verdict.value, "depthlaw": version("depthlaw")}


def weaken(claim: Claim, changes: list[str]) -> tuple[Claim, tuple[tuple[str, str], ...]]:
    """The claim with constants of its right side replaced: "4=0.4" turns every 4 into 2/5.

    Raises:
        UsageError: when a change cannot be read or its constant does not occur.
    """
    import sympy

    pairs = []
    right = claim.statement.rhs
    for change in changes:
        old, equals, new = change.partition("=")
        try:
            a, b = Fraction(old.strip()), Fraction(new.strip())
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"cannot read the change {change!r}; write OLD=NEW with numbers, such as 4=0.4") from None
        number = sympy.Rational(a.numerator, a.denominator)
        if not equals or not right.has(number):
            raise UsageError(f"the constant {old} does not stand in the right side {plain(right)}; choose one that does")
        right = right.xreplace({number: sympy.Rational(b.numerator, b.denominator)})
        pairs.append((str(a), str(b)))
    if not pairs:
        return claim, ()
    statement = claim.statement.func(claim.statement.lhs, right, evaluate=False)
    return replace(claim, statement=statement, proof=None), tuple(pairs)


def falsify(claim: Claim, minutes: float, changes: list[str], seen: Callable[[str], None]) -> Found:
    """Search for a counterexample until one is found or the time is over.

    Args:
        claim: what to attack.
        minutes: time limit.
        changes: constants to replace first, as for `weaken`.
        seen: called with one line whenever the search comes closer.

    Returns:
        The counterexample, or the closest approach.

    Raises:
        UsageError: when the claim cannot be measured here.
    """
    attacked, weakened = weaken(claim, changes)
    if attacked.measured is None:
        raise UsageError(f"{claim.key} cannot be measured here; pip install 'depthlaw[{claim.needs}]'")
    deadline = time.monotonic() + 60 * minutes
    best: Found | None = None
    tried = 0
    for case, value, where, evaluations in _instances(attacked, deadline):
        tried += evaluations
        decision = judge(attacked, case, value, alpha=FALSE_ALARM_BUDGET)
        found = Found(attacked, case, value, decision, where, tried, weakened)
        if decision.verdict is Verdict.FAILS:
            return found
        if best is None or _closer(decision, best.decision):
            best = found
            slack = "no slack defined" if decision.slack is None else f"slack x{10 ** decision.slack:.6g}"
            seen(f"[{case}] {decision.verdict.value}, {slack}")
        if time.monotonic() > deadline:
            break
    if best is None:
        raise UsageError(f"{claim.key} has no case in scope to search")
    return replace(best, tried=tried)


def _closer(new: Decision, old: Decision) -> bool:
    return new.slack is not None and (old.slack is None or new.slack < old.slack)


def _instances(claim: Claim, deadline: float) -> Iterator[tuple[Case, Measured, dict[str, Any], int]]:
    families = searches(claim.key)
    if not families:
        yield from _by_seed(claim)
        return
    sense = -1.0 if claim.statement.rel_op in (">=", ">") else 1.0
    generator = families[0].case.rng(0)
    for start in itertools.count():
        for place, family in enumerate(families):
            vector, evaluations = _climb(family, sense, generator, wide=start % 2 == 1, deadline=deadline)
            # Sixteen binary digits say all an optimiser knows; a short point makes a small certificate.
            point = tuple(Fraction(round(float(x) * 2**16), 2**16) for x in vector)
            try:
                value = family.measured(point)
            except (ZeroDivisionError, ValueError, ArithmeticError):
                continue
            yield family.case, value, {"search": place, "point": [str(x) for x in point]}, evaluations
            if time.monotonic() > deadline:
                return


def _climb(family: Search, sense: float, generator: Any, *, wide: bool, deadline: float) -> tuple[Any, int]:
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
    try:
        if wide:
            bounds = [(-2.0, 2.0)] * family.size
            result = optimize.differential_evolution(loss, bounds, maxiter=60, popsize=12, seed=generator, polish=False)
        else:
            result = optimize.minimize(loss, best, method="Nelder-Mead", options={"maxiter": 400 * family.size, "adaptive": True})
        best = result.x
    except TimeoutError:
        pass
    return best, calls


def _by_seed(claim: Claim) -> Iterator[tuple[Case, Measured, dict[str, Any], int]]:
    assert claim.measured is not None
    cases = [c for suite in SUITES for c in claim.grid.get(suite, ()) if all(holds(c) for holds in claim.assumes.values())]
    for seed in itertools.count():
        for case in cases:
            try:
                value = claim.measured(case, seed)
            except ArithmeticError:
                # An unlucky draw, such as a polynomial that vanishes at the chosen point, says nothing about the claim.
                continue
            yield case, value, {"seed": seed}, 1


def recheck(path: Path) -> tuple[dict[str, Any], tuple[Step, ...]]:
    """Verify a certificate from its file alone.

    Returns:
        The certificate and the steps of its verification; it stands when every step holds.

    Raises:
        UsageError: when the file is not a certificate.
    """
    try:
        data = json.loads(path.read_bytes())
        kind = data["kind"]
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path} is not a certificate: it is not a JSON object with a kind") from None
    try:
        if kind == "falsification":
            return data, _recheck_falsification(data)
        from depthlaw.theory.certificates import recheck as recheck_theory

        return data, tuple(recheck_theory(data))
    except (ValueError, KeyError, TypeError, IndexError, ZeroDivisionError) as error:
        raise UsageError(f"{path} is not a complete certificate: {error}") from None


def _recheck_falsification(data: dict[str, Any]) -> tuple[Step, ...]:
    from .suite import load_claims

    claim = load_claims()[data["claim"]]
    attacked, _ = weaken(claim, [f"{old}={new}" for old, new in data["weakened"]])
    case = Case(**data["case"])
    if "point" in data:
        family = searches(claim.key)[data["search"]]
        same_case = family.case == case
        value: Measured = family.measured(tuple(Fraction(x) for x in data["point"]))
    else:
        assert attacked.measured is not None
        same_case = all(holds(case) for holds in attacked.assumes.values())
        value = attacked.measured(case, data["seed"])
    decision = judge(attacked, case, value)
    return (Step("the statement is the one in the certificate", plain(attacked.statement) == data["statement"]),
            Step("the case satisfies the assumptions of the claim", same_case),
            Step("the value measured again is the one in the certificate", encode(value) == data["measured"]),
            Step(f"judged again it says {data['verdict']}", decision.verdict.value == data["verdict"]))


def store(found: Found, folder: Path) -> Path:
    """Write the certificate of a counterexample beside the records, named by its hash."""
    from .records import Store, digest

    certificate = found.certificate()
    path = folder / "certificates" / f"{digest(certificate)[:16]}.json"
    keeper = Store(folder)
    path.parent.mkdir(exist_ok=True)
    keeper.write(path, canonical(certificate) + b"\n")
    return path
