"""`depthlaw verify`, of which what was printed before is printed again, where nothing has changed
since; `verify_command` does all else."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..records.store import open_store
from ..verdicts.suite_answers import recorded_answer
from .plain import note


def verify(
    suite: str, folder: Path | None, *, own: Path | None, corpus: Path | None, **typed: Any
) -> int:
    """See `verify_command.verify`, which takes the same parameters.

    Cost: less than twice the time that SymPy takes to import, where an answer is printed again.
    """
    asked = {"suite": suite, **typed}
    answer = None if own or corpus else recorded_answer(folder, asked)
    if answer is None:
        from . import verify_command

        return verify_command.verify(suite, folder, own=own, corpus=corpus, **typed)
    if not (typed["quiet"] or typed["json_output"]):
        root = open_store(folder, read_only=True, lazy=True).root
        note(
            f"depthlaw {version('depthlaw')}: suite {suite}, {answer.runs} runs, "
            f"{answer.runs} already recorded in {root}"
        )
    for line in answer.notes:
        note(line)
    sys.stdout.write(answer.text)
    return answer.code
