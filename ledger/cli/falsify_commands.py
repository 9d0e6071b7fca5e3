"""`depthlaw falsify`, `recheck`, `certify` and `mutate`: commands that try to break a claim."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, plural
from depthlaw.theory.claims.printing import text as written
from depthlaw.theory.claims.readable import readable

from ..functions.falsify import attacked, falsify as counterexample
from ..functions.mutate import mutate as mutations
from ..records.store import write_file
from ..running.user_claims import all_claims
from ..verdicts import falsify as search
from ..verdicts.display import number, slack
from .plain import dump, note, notes, refuse_place, report_set_aside, say, tell
from .terminal import waiting

# Seconds between two lines on a search that is not watched in a terminal.
_PAUSE = 10.0


def falsify(
    key: str,
    minutes: float,
    changes: list[str] | None,
    folder: Path | None,
    json_output: bool,
    own: Path | None = None,
) -> int:
    """Search for a counterexample of one claim. Returns 1 when one is found that nobody
    expected."""
    claim = attacked(key, own)
    doing = f"searching {claim.key} for a counterexample, {minutes:g} min at most (--minutes)"
    watched, started, last = notes().is_terminal, time.monotonic(), 0.0
    # Of what cannot be searched one line is said, why.
    begun = watched or json_output
    with waiting(notes(), doing, json_output) as going_on:

        def progress(tried: int) -> None:
            nonlocal begun, last
            if not begun:
                note(doing)
                begun = True
            passed = time.monotonic() - started
            if watched:
                going_on(f"{doing}: {tried:,} instances tried")
            elif not json_output and passed - last >= _PAUSE:
                last = passed
                note(f"{tried:,} instances tried in {passed:.0f} of {60 * minutes:.0f} s")

        found = counterexample(
            claim,
            minutes,
            changes or (),
            results=folder,
            closer=lambda line: None if json_output else note(line),
            progress=progress,
        )
    nearest, path = found.nearest, found.certificate
    if json_output:
        dump(found.to_json())
    else:
        far = slack(nearest.decision.slack)
        distance = f"; the two sides are apart by {far}" if far else ""
        # A refutation is said first, before what the search looked at.
        if path:
            tell(f"FAILS: a counterexample, judged rigorously{distance}")
            tell(f"fails at   {readable(str(nearest.instance))}")
        tell(f"statement  {written(nearest.claim.statement)}")
        # Where one side is not positive, or equality is stated, none is closer than another.
        which = "the last one" if path else "the closest to a counterexample" if far else ""
        tell(
            f"{plural(nearest.tried, 'instance')} tried"
            + (
                f"; {which}, at [{nearest.case}], has the measured value {number(nearest.value)}"
                if which
                else ""
            )
        )
        if path is None:
            tell(f"{nearest.decision.verdict.value}: no counterexample{distance}")
        else:
            say(f"certificate {path}")
            if own:
                file = quote(str(own))
                say(f"`depthlaw recheck {quote(str(path))} --claims {file}` measures it again")
    return int(found.unexpected)


def recheck(path: Path, json_output: bool, own: Path | None = None) -> int:
    """Verify a certificate from its file alone. Returns 0 when it stands, 1 when it does not."""
    known = None if own is None else all_claims(own)
    data, steps = search.recheck(path, known)
    stands = all(step.holds for step in steps)
    finding = search.finding(data, known) if stands else None
    if json_output:
        dump(
            {
                "kind": data["kind"],
                "claim": data["claim"],
                "stands": stands,
                "established": finding.says if finding else None,
                "independent": finding.independent if finding else None,
                "steps": [[s.says, s.holds] for s in steps],
            }
        )
    else:
        for step in steps:
            tell(f"[{'ok' if step.holds else 'BROKEN'}] {step.says}")
        if finding:
            tell(f"{finding.says}; independent of the measuring code: {finding.independent}")
        say("the certificate is valid" if stands else "the certificate is not valid")
    return 0 if stands else 1


def certify(width: int, depth: int, file: Path, heads: int, force: bool) -> None:
    """Write the certificate of a lower bound on the separation rank."""
    for name, value in (("width", width), ("depth", depth), ("heads", heads)):
        if value < 1:
            raise UsageError(f"{name} {value} is not positive; try certify 3 3 FILE")
    if width % heads:
        raise UsageError(f"{plural(heads, 'head')} do not divide width {width}; try --heads 1")
    if depth > 6:
        raise UsageError(f"depth {depth} is too large; accepted are 1 to 6")
    refuse_place(file, force)
    from depthlaw.theory.separation_rank.graded_pieces import piece_shape
    from depthlaw.theory.separation_rank.rank_certificate import LARGEST, certificate

    largest = max(min(piece_shape(width, depth, order)) for order in range((3**depth + 1) // 2))
    if largest > LARGEST:
        raise UsageError(
            f"width {width}, depth {depth}: the largest piece has {largest} rows, "
            f"accepted are {LARGEST}; try a smaller shape"
        )
    data = certificate(width, depth, heads=heads)
    text = json.dumps(data, separators=(",", ":"))
    write_file(file, (text + "\n").encode())
    tell(
        f"sep >= {data['rank']} for almost all weights; certificate {file} "
        f"({len(text) / 2**20:.1f} MB). To check it:"
    )
    say(f"depthlaw recheck {quote(str(file))}")


def mutate(
    keys: list[str] | None,
    suite: str,
    folder: Path | None,
    json_output: bool,
    own: Path | None = None,
) -> int:
    """Perturb every constant of the statements, and their form, and report what notices.

    Returns 1 when an exact or argued claim has a survivor without a reason.
    """
    with waiting(notes(), "judging claims and their mutants", json_output):
        found = mutations(keys, suite, file=own, results=folder)
    report_set_aside(found.store)
    rows = found.to_json()
    if json_output:
        dump(rows)
    else:
        for row, (result, mutants) in zip(rows, found.mutants, strict=True):
            tell(f"{result.claim.key}: {_fates(row)}")
            for m in mutants:
                if not m.turned:
                    survives = "survives: " if m.fate == "survives" else ""
                    tell(f"{survives}{m.change} ({m.reason})", "    ")
        names = ("mutants", "by_data", "by_proof", "turn_undecided", "forms", "forms_turned")
        total = {name: sum(row[name] for row in rows) for name in names}
        meaning = "a mutant is the statement with one constant or its form changed"
        # Of one claim its own line says the same.
        tell(
            (f"{_fates(total)} ({meaning})" if len(rows) > 1 else meaning)
            + f"; {plural(found.alarms, 'mutant')} of exact or argued claims survived without a "
            "known reason"
        )
    return int(found.alarms > 0)


def _fates(counts: Mapping[str, Any]) -> str:
    noticed = counts["by_data"] + counts["by_proof"]
    text = (
        f"{noticed} of {counts['mutants']} mutants noticed, {counts['by_data']} by data and "
        f"{counts['by_proof']} by proof"
    )
    if counts["forms"]:
        text += f"; {counts['forms_turned']} of {plural(counts['forms'], 'change')} of form"
    open_ = counts["turn_undecided"]
    return text + (f"; {open_} turn UNDECIDED, which verify would report" if open_ else "")
