"""What a verdict rests on, as a tree: cases and their records, the steps of a proof, certificates,
premises with what they rest on, sources, and the negative control."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.formal import said
from depthlaw.theory.claims.proof_steps import counted
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.verdict import Verdict

from ..records.store import Record, manifest
from ..running.claims_index import claims_index
from . import suite_verdicts
from .citations import entries, reference, sources, words
from .display import duration, judged as judged_by, measured_side, slack, stated, statement_text
from .shipped_answers import Ground, GroundKind
from .sign_test import normality, sign_test
from .suite_verdicts import NOT_RUN, CaseResult, ClaimResult, outcome, verdict_name
from .undecided_advice import remedies

# The cases that decide a verdict come first, before them the smallest counterexample.
_ORDER = (Verdict.FAILS.value, Verdict.UNDECIDED.value, NOT_RUN, Verdict.HOLDS.value)


def grounds(
    result: ClaimResult, judged: Callable[[str], ClaimResult | None], folder: Path | None = None
) -> Ground:
    """What the verdict on a claim rests on.

    Args:
        judged: judges a premise by its key; None where nothing is recorded of it.
        folder: of the user's records, which may hold certificates of counterexamples.

    Cost: a prediction of every case, of the premises too, and for undecided cases what would decide
    them: seconds at most.
    """
    return _claim(result, "claim", judged, folder, ())


def as_json(ground: Ground) -> dict[str, Any]:
    """A tree for machines."""
    below = [as_json(child) for child in ground.below]
    return vars(ground) | {"says": readable(ground.says), "below": below}


def _claim(
    result: ClaimResult,
    kind: GroundKind,
    judged: Callable[[str], ClaimResult | None],
    folder: Path | None,
    above: tuple[str, ...],
) -> Ground:
    claim, held = result.claim, result.records
    says = statement_text(claim), judged_by(claim)
    counts = f"{plural(len(held), 'record')} in all"
    below = (
        Ground("statement", says="; ".join(filter(None, says))),
        Ground("reason", says=because(result)),
        *([Ground("attention", says=result.unexpected)] if result.unexpected else []),
        *([Ground("changed", says=claim.post_hoc)] if claim.post_hoc else []),
        *_cases(result),
        *_proof(result),
        *([Ground("formal proof", says=kernel)] if (kernel := said(claim)) else []),
        *_certificates(claim.key, folder),
        *(
            _premise(key, verdict, judged, folder, (*above, claim.key))
            for key, verdict in result.premises.items()
        ),
        *(Ground("assumption", says=name) for name in claim.assumes),
        *_sources(result),
        _control(result),
        *([Ground("records", manifest(held)["hash"], counts)] if held else []),
    )
    return Ground(kind, claim.key, claim.entitled, verdict_name(result), below)


# Whose sentence it is that fails.
_WHOSE = {
    "printed": "",
    "derived": "",
    "reported": "; another text reports the sentence so, and we did not read its source",
    "recalled": "; we quote it from memory, and did not read its source",
    "universal": "; they refute our reading of the sentence as one about all instances",
}


def because(result: ClaimResult) -> str:
    """Why a claim has this verdict and no stronger one, as a clause."""
    claim, word = result.claim, outcome(result)
    scope, decided = len(result.in_scope), len(result.decided)
    several = f"all {scope} cases" if decided == scope else f"{decided} of {scope} cases"
    of = "the one case" if scope == 1 else several
    agree = f"{of} {'agrees' if decided == 1 else 'agree'}"
    also = f"; {agree}" if decided else ""
    match word:
        case Verdict.PROVED if result.kernel_checked and claim.formal:
            checked = f"the kernel of the Rocq prover checked {claim.formal.theorem}"
            return f"{checked} for the whole domain{also}"
        case Verdict.PROVED:
            return f"checked certificates settle {of}, and the statement is about these alone"
        case Verdict.ARGUED:
            steps = plural(len(counted(result.proof or ())), "step")
            joints = f"a machine confirmed its {steps}, a reader must check their joints"
            return f"a written proof covers the whole domain: {joints}{also}"
        case Verdict.HOLDS:
            less = "; the steps of its proof cover a part of the statement"
            part = less if claim.proof and claim.evidence == "checks" else ""
            return f"{agree}{part}: evidence, not a proof"
        case Verdict.FAILS:
            failing = len(result.failing)
            fail = f"fail{'s' if failing == 1 else ''} (one is enough){_WHOSE[claim.wording]}"
            return f"{failing} of {plural(decided, 'decided case')} {fail}"
        case Verdict.OUT_OF_SCOPE:
            return "every case breaks an assumption of the statement"
        case Verdict.CONDITIONAL:
            what = f"on claims that are not proved: {', '.join(result.weak)}" if result.weak else ""
            return f"it rests {what or 'on a condition in its own statement'}"
    if word == suite_verdicts.NOT_COMPLETE:
        return suite_verdicts.incomplete(result)
    if word == suite_verdicts.PREMISE_REFUTED:
        return f"it rests on {result.premise_refuted}, which FAILS"
    if word == NOT_RUN:
        return "none of its cases is recorded"
    if result.undecided:
        one = len(result.undecided) == 1
        are = f"{len(result.undecided)} of {plural(scope, 'case')} {'is' if one else 'are'}"
        return f"{are} undecided (one is enough): {result.undecided[0].decision.reason}"
    if result.proof is not None and not result.confirmed:
        return "a step of the proof is not confirmed"
    return "no case is decided" if result.cases else f"it has no case in suite {result.suite}"


def _cases(result: ClaimResult) -> Iterator[Ground]:
    if not result.cases:
        return
    counts = Counter(row.verdict_name for row in result.cases)
    printed = ", ".join(f"{counts[name]} {name}" for name in counts)
    cure = {remedy.case: str(remedy) for remedy in remedies(result)} if result.undecided else {}
    of = f"{len(result.decided)} of {len(result.in_scope)} cases of suite {result.suite} decided"
    below = tuple(_case(result, row, cure.get(row.case, "")) for row in telling_first(result))
    yield Ground("cases", result.suite, f"{of}: {printed}", below=below)


def telling_first(result: ClaimResult) -> list[CaseResult]:
    """The cases in the order of what they say on the verdict: the smallest counterexample, then by
    verdict and slack."""
    return sorted(result.cases, key=lambda row: (row is not result.counterexample, *_telling(row)))


def _telling(row: CaseResult) -> tuple[int, float]:
    """By verdict, then the least slack first."""
    place = _ORDER.index(row.verdict_name) if row.verdict_name in _ORDER else len(_ORDER)
    return place, math.inf if row.decision.slack is None else row.decision.slack


def _case(result: ClaimResult, row: CaseResult, remedy: str) -> Ground:
    decision = row.decision
    parts = []
    if row.measured is not None:
        parts.append(f"measured {measured_side(result.claim, row)}")
        if not decision.no_value:
            parts.append(f"stated {stated(result.claim, row)}")
    if decision.slack is not None:
        parts.append(f"slack {slack(decision.slack)}")
    parts += [decision.reason] if decision.reason else ["settled"] if decision.certain else []
    if normality(result, row) and (test := sign_test(result.claim, row)):
        parts.append(str(test))
    below = [Ground("remedy", says=remedy)] if remedy and remedy != decision.reason else []
    below += [_record(record, result.claim) for record in row.records]
    return Ground("case", str(row.case), "; ".join(parts), row.verdict_name, tuple(below))


def _record(record: Record, claim: Claim) -> Ground:
    inputs, seconds = record.inputs, record.facts.get("timing", {}).get("wall_s")
    seed = "" if inputs["case"] is None else f"seed {inputs['seed']} "
    took = ""
    if isinstance(seconds, int | float):
        took = f", {duration(seconds)}" if seconds >= 1 else ", below 1 s"
        # Trainings are kept, and their time stands with the run that was the first to need them.
        if seconds < 1 and claim.accepts("folder"):
            took = ", no training in this run: what it reads of any was stored by another"
    return Ground("record", record.id, f"{seed}on {inputs.get('device', '')}{took}")


def _proof(result: ClaimResult) -> Iterator[Ground]:
    claim = result.claim
    if claim.proof is None:
        return
    steps, record = result.proof or (), result.proof_record
    counting = counted(steps)
    confirmed = sum(step.holds is True for step in counting)
    summary = f"{NOT_RUN}; `depthlaw verify theory --only {claim.key}`"
    if steps:
        summary = f"{confirmed} of {plural(len(counting), 'step')} confirmed by a machine"
    state = {True: "confirmed", False: "BROKEN", None: "open"}
    below = [Ground("reading", says=claim.rests_on)] if claim.rests_on else []
    below += [Ground("step", "", step.says, state[step.holds]) for step in steps]
    below += [_record(record, claim)] if record else []
    yield Ground("proof", says=summary, below=tuple(below))


def _certificates(key: str, folder: Path | None) -> Iterator[Ground]:
    yield from (Ground("certificate", *each) for each in _shipped_certificates().get(key, ()))
    for file in sorted((folder / "certificates").glob("*.json")) if folder else ():
        data = _read(file)
        if data.get("claim") == key:
            yield Ground("certificate", str(file), f"{data.get('verdict')} at {data.get('case')}")


@cache
def _shipped_certificates() -> Mapping[str, list[tuple[str, str]]]:
    """Those that come with depthlaw, by claim: where each lies below `depthlaw.theory`, and what it
    says."""
    certificates: dict[str, list[tuple[str, str]]] = {}
    root = Path(str(files("depthlaw.theory")))
    for file in sorted((*root.rglob("counterexamples/*.json"), *root.rglob("certificates/*.json"))):
        data, name = _read(file), f"theory/{file.relative_to(root).as_posix()}"
        certificates.setdefault(data["claim"], []).append((name, data["says"]))
    return certificates


def _read(file: Path) -> Mapping[str, Any]:
    """What a file holds; nothing where it cannot be read, for `recheck` to say why."""
    try:
        data = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _premise(
    key: str,
    verdict: str,
    judged: Callable[[str], ClaimResult | None],
    folder: Path | None,
    above: tuple[str, ...],
) -> Ground:
    if key in above:
        return Ground("premise", key, "above: the premises go in a circle", verdict)
    if (result := judged(key)) is None:
        return Ground("premise", key, "none of its cases is recorded here", verdict)
    return replace(_claim(result, "premise", judged, folder, above), verdict=verdict)


def _sources(result: ClaimResult) -> Iterator[Ground]:
    source = result.claim.source
    if source.key not in entries():
        where = source.place or f"a result of the file {result.claim.topic}.py"
        yield Ground("source", source.key, where, result.claim.wording)
    for key in sources(str(source)):
        own = key == source.key
        where = ", ".join(filter(None, (source.version, source.place))) if own else ""
        says = reference(key) + (f"; here: {where}" if where else "")
        yield Ground("source", key, says, result.claim.wording if own else "")
    for key in dict.fromkeys(words(str(source))):
        if key in claims_index():
            yield Ground("named", key, claims_index()[key]["title"])


def _control(result: ClaimResult) -> Ground:
    control, case, why = result.control, result.claim.control.case, result.claim.control.why
    if control is None:
        return Ground("control", str(case), why, NOT_RUN)
    below = tuple(_record(record, result.claim) for record in control.records)
    return Ground("control", str(case), why, control.decision.verdict.value, below)
