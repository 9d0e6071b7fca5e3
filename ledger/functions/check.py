"""Explicit weights or a lower bound against the atlas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import NONE
from depthlaw.theory.atlas.check import Compared, NetRun, check as compared
from depthlaw.theory.nets.classes import ExactNet

from .report import Report


@dataclass(frozen=True, repr=False)
class Checked(Report, Compared):
    """A net or a bound, and the file that it was read from, beside the atlas."""

    file: str | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw tasks check --json` prints."""
        run, needed = self.found, self.ends.needed
        if isinstance(run, NetRun):
            names = ("layers", "words", "length", "whole", "states", "wrong", "sizes")
            facts = {name: getattr(run, name) for name in names}
            if run.wrong:
                facts["wrong"] = asdict(run.wrong) | {"word": " ".join(run.wrong.word)}
        else:
            facts = {"layers": run.layers, "words": [list(word) for word in run.words]}
            facts |= {"answers": list(run.answers), "verified": run.verified}
            facts["told_apart_by"] = run.separated_by
        return {
            "file": self.file,
            "task": self.task or None,
            "language": self.language or None,
            "parameters": dict(self.parameters),
            "class": self.class_,
            **facts,
            "lower": NONE if needed == inf else needed,
            "table": self.ends.suffices,
            "result": self.result,
        }

    def summary(self) -> str:
        """What it is about, and how it compares."""
        return f"{self.task or self.language}, {self.class_}: {self.result}"


def check(
    given: str | Path | Mapping[str, Any] | ExactNet,
    task: str | None = None,
    class_: str | None = None,
    *,
    length: int | None = None,
    atlas: str | Path | None = None,
    tables: str | Path | None = None,
    **parameters: Any,
) -> Checked:
    """Run explicit weights, or verify a lower bound, and compare with the atlas: `depthlaw tasks
    check`. Arguments, costs and what is raised are those of `depthlaw.theory.atlas.check.check`,
    whose `tables` are the folder `atlas`.

    >>> head = {"attention": "hard-right", "mask": "strict", "query": [[1, 1, 1]],
    ...         "key": [[0, 1, 0]], "value": [[0, 1, 0]], "output": [[0], [0], [1]]}
    >>> net = {"family": "attention", "alphabet": ["a", "b"], "end": "$",
    ...        "embedding": {"a": [0, 1, 0], "b": [0, 0, 0], "$": [1, 0, 0]},
    ...        "layers": [{"heads": [head]}], "read": [0, 0, 1]}
    >>> check(net, "letters", "uhat-right", k=1)
    <Checked: letters, uhat-right: as many as the table>
    """
    found = compared(given, task, class_, length=length, tables=atlas or tables, **parameters)
    return Checked(**vars(found), file=str(given) if isinstance(given, str | Path) else None)
