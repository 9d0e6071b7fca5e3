"""The atlas of least depth as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import AtlasBound, AtlasRow, atlas as known_atlas
from depthlaw.advisor.base.quantities import UsageError

from .report import Report, as_path


@dataclass(frozen=True, repr=False)
class TaskTable(Report):
    """What is known of tasks, by class of models: rows of the atlas."""

    known: tuple[AtlasRow, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One for each task and class: what is needed, what suffices, and who found it."""
        return [
            {"task": row.task.key, "class": row.class_.key, "needed": row.needed}
            | {"suffices": row.suffices, "gap": row.gap, "checked": row.checked}
            | {
                f"{end}_{name}": getattr(bound, name, None)
                for end, bound in (("lower", row.lower), ("upper", row.upper))
                for name in ("source", "year", "claim")
            }
            for row in self.known
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """What `depthlaw tasks list --json` prints."""
        return [
            {"task": row.task.key, "class": row.class_.key}
            | {end: _end(getattr(row, end)) for end in ("lower", "upper")}
            | {"gap": row.gap}
            for row in self.known
        ]

    def summary(self) -> str:
        """How many tasks and rows."""
        return f"{len({row.task.key for row in self.known})} tasks, {len(self.known)} rows"


def _end(bound: AtlasBound | None) -> dict[str, Any] | None:
    if bound is None:
        return None
    fields = {k: v for k, v in asdict(bound).items() if k not in ("task", "class_")}
    return fields | {"verdict": bound.verdict, "quote": bound.quote or None}


def tasks(
    task: str | None = None,
    *,
    known_by: int | None = None,
    atlas: str | Path | None = None,
    tables: str | Path | None = None,
) -> TaskTable:
    """The depths known to be needed and to suffice, by task and class of models: `depthlaw tasks`.

    Args:
        task: one of the atlas; by default all.
        known_by: as it was known at the end of a year.
        atlas, tables: a folder with tables of your own, which extend the atlas.

    Raises:
        UsageError: for an unknown task, with the nearest one, and a year before anything was known.

    Cost: milliseconds; loads neither NumPy nor SymPy.

    >>> tasks("parity").rows()[0]["task"]
    'parity'
    >>> tasks("parity", atlas="nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    depthlaw.advisor.base.quantities.UsageError: 'nowhere' holds no tables; give a folder with ...
    """
    rows = tuple(known_atlas(as_path(atlas or tables)).rows(task, known_by))
    if not rows:
        raise UsageError(f"no bound of these tasks was known by {known_by}; try a later year")
    return TaskTable(rows)
