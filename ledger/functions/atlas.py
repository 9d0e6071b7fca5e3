"""The atlas of least depth at numbers of one's own."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import NONE
from depthlaw.theory.atlas.ends import Ends, rows_at

from .report import Report


class AtlasAnswer(Report, list[Ends]):
    """For each class what is known of a task."""

    def rows(self) -> list[dict[str, Any]]:
        """One for each task and class: what is needed, what suffices, and who found it."""
        return [
            {"task": row.task, "class": row.class_}
            | {"needed": NONE if row.needed == inf else row.needed}
            | {"suffices": row.suffices, "gap": row.gap}
            | {
                f"{end}_{name}": getattr(getattr(row, end), name, None)
                for end in ("lower", "upper")
                for name in ("depth", "source", "verdict")
            }
            for row in self
        ]


def atlas(
    task: str | None = None,
    class_: str | None = None,
    *,
    atlas: str | Path | None = None,
    tables: str | Path | None = None,
    **numbers: int | str,
) -> AtlasAnswer:
    """List the layers that tasks need and those that suffice: `depthlaw tasks` at your own numbers.

    Args:
        task, class_: keys of the atlas; by default all.
        atlas, tables: a folder with tables of your own (docs/how-to/add-a-task.md).
        numbers: what the letters of formulas stand for (k=3, n=1000), or a `group`.

    Returns:
        For each class what is known: `needed`, `suffices` and `gap`, and of each end (`lower`,
        `upper`) its value, formula, source and verdict. A value that is no number says why.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) for an unknown task, class or letter.

    >>> [(row.class_, row.needed, row.suffices) for row in atlas("blocks", k=6)][:2]
    [('counting', 6, 6), ('counting-both', 4, 4)]
    >>> atlas("blocks", "counting")[0].lower.value
    NoNumber(why='letter', what='k')
    """
    return AtlasAnswer(rows_at(task, class_, atlas or tables, numbers))
