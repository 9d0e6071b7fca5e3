"""Every claim by key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthlaw.theory.claims.definition import Claim

from ..notebook import show_claims
from ..running.claims_index import claims_index, described, mentioning, unknown
from ..running.user_claims import all_claims
from ..verdicts.claim_set import listing
from .report import Report, as_path


class Claims(Report, dict[str, Claim]):
    """Claims by key, which know the nearest key to one that there is none of."""

    def rows(self) -> list[dict[str, Any]]:
        """One for each: what `depthlaw claims --all --json` prints."""
        index = claims_index()
        return listing(index[key] if key in index else described(c) for key, c in self.items())

    def summary(self) -> str:
        """How many there are, by tier."""
        tiers = [claim.tier for claim in self.values()]
        return f"{tiers.count('cited')} cited, {tiers.count('supporting')} supporting"

    def __missing__(self, key: str) -> Claim:
        raise KeyError(unknown(str(key), self))


def claims(words: str | Path | None = None, *, file: str | Path | None = None) -> Claims:
    """Every claim by key, in reading order; those that mention some words, as `depthlaw claims`
    lists them; with those of a Python file of one's own.

    Args:
        words: such as "sanford" or "rank upper", or the Python file.
        file: a Python file with claims of one's own.

    Raises:
        UsageError: when the file cannot be used, or no claim mentions the words, in one line.
        KeyError: by the result, for what is no key, with the nearest one.

    Cost: about a second; imports SymPy.

    >>> claims()["hops/depth_corrected"]  # doctest: +ELLIPSIS
    <Claim: hops/depth_corrected, ...>
    >>> float(claims("levine threshold")["depth_choice/threshold_never_binds"].at(width=81))
    4.0
    """
    show_claims()
    if isinstance(words, Path) or (words is not None and (".py" in words or Path(words).is_file())):
        words, file = None, words
    every = Claims(all_claims(as_path(file)))
    if words is None:
        return every
    return Claims({row["key"]: every[row["key"]] for row in mentioning(words.split())[1]})
