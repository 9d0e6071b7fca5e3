"""The bibliography behind claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from depthlaw.advisor.base.quantities import UsageError

from ..verdicts.citations import bibtex_for, reference
from .report import Report, as_list


@dataclass(frozen=True, repr=False)
class Citations(Report):
    """Entries of the bibliography by key; printed, they are BibTeX."""

    entries: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Key, reference in a line, and BibTeX of each."""
        return [
            {"key": key, "reference": reference(key), "bibtex": entry}
            for key, entry in self.entries.items()
        ]

    def to_json(self) -> dict[str, str]:
        """What `depthlaw cite --json` prints."""
        return dict(self.entries)

    def summary(self) -> str:
        """The keys."""
        return ", ".join(self.entries)

    def __str__(self) -> str:
        return "\n\n".join(self.entries.values())


def cite(*keys: str | Iterable[str]) -> Citations:
    """The BibTeX entries behind claims or keys of the bibliography: `depthlaw cite`.

    Args:
        keys: one by one or in a list. Of a source "depthlaw, after X" the entry of X comes too.

    Raises:
        UsageError: for a key that is neither, with the nearest one.

    Cost: milliseconds.

    >>> cite("hops/depth_corrected", "levine2020")
    <Citations: depthlaw, sanford2024, levine2020>
    >>> print(cite("levine2020"))  # doctest: +ELLIPSIS
    @inproceedings{levine2020,
    ...
    """
    try:
        return Citations(bibtex_for(key for given in keys for key in as_list(given)))
    except KeyError as unknown_key:
        raise UsageError(unknown_key.args[0]) from None
