"""The atlas of least depth at numbers of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthlaw.theory.atlas.ends import Ends


def atlas(
    task: str | None = None,
    class_: str | None = None,
    *,
    tables: str | Path | None = None,
    **numbers: int | str,
) -> list[Ends]:
    """How many layers tasks need and how many suffice: `depthlaw tasks` at numbers of your own.

    Args:
        task, class_: keys of the atlas; by default all.
        tables: a folder with tables of your own (docs/how-to/add-a-task.md).
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
    from depthlaw.theory.atlas.ends import rows_at

    return rows_at(task, class_, tables, numbers)
