"""Explicit weights or a lower bound against the atlas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.theory.atlas.check import Compared
    from depthlaw.theory.nets.classes import ExactNet


def check(
    given: str | Path | Mapping[str, Any] | ExactNet,
    task: str | None = None,
    class_: str | None = None,
    *,
    length: int | None = None,
    tables: str | Path | None = None,
    **parameters: Any,
) -> Compared:
    """Check explicit weights or a lower bound against the atlas: `depthlaw tasks check` as data.

    Args:
        given: a file (docs/how-to/check-a-net.md), its JSON object, or a net.
        task, class_, parameters: of a net that is no file; of a file they take the place of its
            own.
        length: of the longest word that is run.
        tables: a folder with tables of your own, which extend the atlas.

    Returns:
        `right`, `result` (how the depth compares), `found` (what was run, and the first wrong word)
        and `ends` (what is known).

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) for what cannot be read, is not of its class,
            or belongs to no task.

    Cost: that of the words that are run.

    >>> bound = {"family": "bound", "language": "a*b*", "alphabet": "ab", "class": "uhat-left",
    ...          "layers": 1, "words": ["ab", "aba"]}
    >>> found = check(bound)
    >>> found.right, found.result.value, found.ends.needed
    (True, 'equal', 2)
    """
    from depthlaw.theory.atlas import check as of_atlas

    return of_atlas.check(given, task, class_, length=length, tables=tables, **parameters)
