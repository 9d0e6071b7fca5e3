"""Search for a counterexample to a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims.definition import Claim, find
from depthlaw.theory.claims.verdict import Verdict

from ..records.store import open_store
from ..running.claims_index import claims_index, select
from ..running.user_claims import all_claims, placed
from ..verdicts import falsify as search
from ..verdicts.falsify import NearestCase
from .report import Report, as_list, as_path


@dataclass(frozen=True, repr=False)
class Falsification(Report):
    """What a search came to: the counterexample with its file, or what came closest to one."""

    claim: Claim
    nearest: NearestCase
    certificate: Path | None

    @property
    def verdict(self) -> Verdict:
        """FAILS for a counterexample."""
        return self.nearest.decision.verdict

    @property
    def unexpected(self) -> bool:
        """Whether a counterexample was found that nobody expected."""
        return self.certificate is not None and self.claim.awaited != "FAILS"

    def rows(self) -> list[dict[str, Any]]:
        """The nearest case, in one row."""
        return [super().rows()[0] | self.nearest.case.fields()]

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw falsify --json` prints."""
        return self.nearest.certificate() | {
            "slack_log10": self.nearest.decision.slack,
            "tried": self.nearest.tried,
            "certificate": str(self.certificate) if self.certificate else None,
        }

    def summary(self) -> str:
        """The verdict and how many instances were tried."""
        return f"{self.claim.key} {self.verdict.value}, {self.nearest.tried:,} instances tried"


def attacked(key: str, file: str | Path | None = None) -> Claim:
    """The claim of a key, as a search measures it: of a user's file what raises is named, in a
    UsageError as for an unknown key and a file that cannot be used."""
    if file is None:
        return find(select([key], claims_index())[0])
    everything = all_claims(Path(file))
    claim = everything[select([key], everything)[0]]
    return placed(claim) if claim.own else claim


def falsify(
    claim: str | Claim,
    minutes: float = 1.0,
    weaken: str | Iterable[str] = (),
    *,
    file: str | Path | None = None,
    results: str | Path | None = None,
    closer: Callable[[str], None] = lambda line: None,
    progress: Callable[[int], None] = lambda tried: None,
) -> Falsification:
    """Search for a counterexample to a claim: `depthlaw falsify`. One that is found is stored.

    Args:
        claim: its key, or the claim.
        minutes: how long to search.
        weaken: constants to replace first, such as "4=0.4".
        file: a Python file with claims of one's own.
        results: the folder in which a counterexample is stored.
        closer: called with one line whenever the search comes closer.
        progress: called with the number of instances tried.

    Raises:
        UsageError: for what is unknown or cannot be measured here.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = falsify("rank_collapse/one_layer_cubic", 0.1, "4=0.4", results=folder)
    >>> found.verdict.value, found.certificate is not None
    ('FAILS', True)
    """
    if not 0 < minutes < 10**6:
        raise UsageError(f"--minutes {minutes} is not a positive number of minutes; try 1")
    claim = attacked(claim, file) if isinstance(claim, str) else claim
    nearest = search.falsify(claim, minutes, as_list(weaken), closer, progress)
    refuted = nearest.decision.verdict is Verdict.FAILS
    path = search.store(nearest, open_store(as_path(results)).root) if refuted else None
    return Falsification(claim, nearest, path)
