"""`depthlaw exercise`: the exercises of the text on a corpus that every machine has, or on one's
own."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rich.text import Text

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.empirics.exercises.exercise import Exercise, exercises

from ..publish.drawing.panels import Panel, written
from ..publish.questions import QUESTIONS
from ..records.environment import cores, installing
from ..records.run import Run
from ..running.interrupts import Stopped
from ..running.options import Options
from ..running.scheduling import Stage
from ..suite import prepare
from ..verdicts.suite_verdicts import ClaimResult, as_json, marked
from ..verdicts.undecided_advice import remedies
from .plain import (
    draw,
    dump,
    heading,
    note,
    paragraph,
    picture_format,
    report_set_aside,
    say,
    stdout,
    tell,
)
from .tables import data_table, names_table, print_table
from .terminal import STYLES

# A training may take hours where the machine is slow.
_LONGEST = 24 * 3600.0
# Seconds between two lines on how far the trainings are.
_LINE = 15.0


def exercise(
    name: str,
    *,
    folder: Path | None,
    corpus: Path | None,
    plot: Path | None,
    force: bool,
    json_output: bool,
) -> int:
    """List the exercises, or do one, or all of them; the exit code is 0, 1 (something unexpected)
    or 130 (interrupted: the same command goes on from there)."""
    known = exercises()
    if not name:
        if corpus is not None or plot is not None or force or folder is not None:
            raise UsageError(f"no exercise is named; accepted: {', '.join(known)}, all")
        _list(known, json_output)
        return 0
    chosen = _chosen(name, known)
    _check_installed()
    # Of several pictures each has its exercise's name behind the file's.
    several = len(chosen) > 1
    pictures = {
        entry.name: plot.with_stem(f"{plot.stem}-{entry.name}") if several else plot
        for entry in chosen
        if plot is not None
    }
    for file in pictures.values() or (None,):
        form = picture_format(file, force)
    work = prepare(
        "exercises",
        folder,
        only=[k for e in chosen for k in e.claims],
        options=Options(processes=cores(), timeout=_LONGEST),
        given={"corpus": corpus},
    )
    first = {key for entry in chosen for key in entry.trains}
    work = replace(
        work,
        stages=[
            Stage(runs, stage.engine)
            for stage in work.stages
            for early in (True, False)
            if (runs := [run for run in stage.runs if (run.claim.key in first) is early])
        ],
    )
    report_set_aside(work.store)
    cache = work.store.root / "cache"
    digest = next(c.corpus for run in work.runs if (c := run.case) is not None and "corpus" in c)
    if not json_output:
        note(
            f"corpus {digest} ({corpus or 'the standard library of this Python'}); "
            f"{len(work.runs)} runs, {len(work.runs) - len(work.todo)} already recorded "
            f"in {work.store.root}"
        )
    try:
        with _progress(cache, len(work.todo), quiet=json_output) as finished:
            failures = work.execute(finished)
    except Stopped as stop:
        note(work.left_by(stop))
        return 130
    judged = {result.claim.key: result for result in work.judged(failures)}
    for entry in chosen:
        if pictures:
            draw(pictures[entry.name], _panels(entry, judged), form)
    if json_output:
        dump(
            {
                "corpus": digest,
                "results_folder": str(work.store.root),
                "exercises": [_as_data(entry, judged) for entry in chosen],
            }
        )
    else:
        for entry in chosen:
            _print(entry, judged)
        for failure in failures:
            say(f"failed: {failure.run}: {failure.why}")
        say(
            f"records: {work.store.root}; intervals of measured numbers: 95 % over "
            "seeds; those of verdicts are wider (depthlaw show KEY --all)"
        )
    return 1 if any(result.unexpected for result in judged.values()) else 0


# --- what was asked for --------------------------------------------------------------------------


def _list(known: dict[str, Exercise], json_output: bool) -> None:
    if json_output:
        fields = ("number", "name", "title", "predicts", "claims")
        dump([{field: getattr(e, field) for field in fields} for e in known.values()])
        return
    named = {entry.name: entry.title for entry in known.values()}
    print_table(stdout(), names_table("exercise", "what it measures", named))
    say("")
    tell("`depthlaw exercise NAME` does one, in minutes; `depthlaw exercise all` does every one.")


def _chosen(name: str, known: dict[str, Exercise]) -> list[Exercise]:
    if name == "all":
        return list(known.values())
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"accepted: {', '.join(known)}, all"
        raise UsageError(f"unknown exercise {quoted(name)}; {hint}")
    return [known[name]]


def _check_installed() -> None:
    needed = ("torch", "tokenizers", "safetensors")
    if missing := [what for what in needed if importlib.util.find_spec(what) is None]:
        raise UsageError(
            f"the exercises train nets and need {' and '.join(missing)}; {installing('empirics')}"
        )


# --- while it runs -------------------------------------------------------------------------------


@contextmanager
def _progress(cache: Path, runs: int, *, quiet: bool) -> Iterator[Callable[[Run], None]]:
    """Now and then a line on stderr: runs done, and the step of each training, which its process
    writes to a small file."""
    if quiet or not runs:
        yield lambda run: None
        return
    done, over, began = list[Run](), threading.Event(), time.time()

    def follow() -> None:
        said = ""
        while not over.wait(_LINE):
            steps = (f"{e['label']}: step {e['step']} of {e['steps']}" for e in _news(cache, began))
            line = "; ".join([f"{len(done)} of {runs} runs", *steps])
            if line != said:
                note(line)
            said = line

    teller = threading.Thread(target=follow, daemon=True)
    teller.start()
    try:
        yield done.append
    finally:
        over.set()
        teller.join(2.0)


def _news(cache: Path, began: float) -> Iterator[dict[str, Any]]:
    from depthlaw.empirics.exercises.language_model import FOLDER, NEWS

    for file in sorted((cache / FOLDER).glob(f"*/{NEWS}")):
        try:
            # What a killed process left is older.
            if file.stat().st_mtime >= began:
                yield json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue


# --- what came of it -----------------------------------------------------------------------------


def _panels(exercise: Exercise, judged: dict[str, ClaimResult]) -> tuple[Panel, ...]:
    results = {
        key: {row.case: row.measured for row in judged[key].cases if row.measured is not None}
        for key in exercise.claims
        if key in judged
    }
    return QUESTIONS[exercise.name].panels(results)


def _as_data(exercise: Exercise, judged: dict[str, ClaimResult]) -> dict[str, Any]:
    names = ("number", "name", "title", "predicts")
    return {
        **{name: getattr(exercise, name) for name in names},
        "panels": [asdict(panel) for panel in _panels(exercise, judged)],
        "claims": [as_json(judged[key]) for key in exercise.claims if key in judged],
    }


def _print(exercise: Exercise, judged: dict[str, ClaimResult]) -> None:
    heading(f"{exercise.number}. {exercise.name}: {exercise.title}")
    paragraph("Predicted: " + exercise.predicts)
    print()
    for title, table in written(_panels(exercise, judged)):
        heading(title)
        print_table(stdout(), data_table(table))
        print()
    for result in (judged[key] for key in exercise.claims if key in judged):
        verdict = Text(marked(result), style=STYLES[result.verdict])
        stdout().print(Text.assemble(verdict, f"  {result.claim.key}"), soft_wrap=True)
        counts = f"{len(result.decided)} of {len(result.in_scope)} cases decided"
        facts = [
            f"{result.claim.plain.entitled} ({counts})",
            *(f"{remedy.where}: {remedy}" for remedy in remedies(result)),
        ]
        if result.unexpected:
            facts.append(f"ATTENTION: {result.unexpected}")
        for line in facts:
            paragraph(line, "   ")
    print()
