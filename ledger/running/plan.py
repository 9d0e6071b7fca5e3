"""Which runs a suite asks for."""

from __future__ import annotations

from collections.abc import Mapping

from depthlaw.theory.claims.definition import ALONE, DEVICE_OF, Claim

from ..records.run import Run, control_run


def plan(claims: Mapping[str, Claim], suite: str, device: str = "cpu") -> list[Run]:
    """The runs of a suite: cases, proofs, and the negative control of every claim that has cases
    there.

    None are needed for cases that break an assumption and claims that cannot be measured here. A
    suite that is for a GPU asks on a CPU for no claim that could use one.
    """
    runs: list[Run] = []
    for claim in claims.values():
        if claim.proof is not None and suite not in ALONE:
            runs.append(Run(claim, None))
        elsewhere = DEVICE_OF.get(suite, device) != device and claim.accepts("device")
        cases = [c for c in claim.cases(suite) if claim.broken(c) is None]
        if not claim.measurable or elsewhere or not cases:
            continue
        where = device if claim.accepts("device") else "cpu"
        runs += (Run(claim, case, seed, where) for case in cases for seed in range(claim.seeds))
        control = control_run(claim, where)
        if control.control or control.case not in cases or control.seed >= claim.seeds:
            runs.append(control)
    return runs
