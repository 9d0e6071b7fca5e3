"""One claim with the evidence recorded so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ..running.claims_index import claims_index, described, unknown
from .report import Report, as_path

# SymPy is loaded where a claim is shown, and not where a key is looked up.
if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

    from ..verdicts.record_source import RecordSource
    from ..verdicts.suite_verdicts import ClaimResult


@dataclass(frozen=True, repr=False)
class ClaimCard(Report):
    """A claim, judged on the records of one place, among those that the index knows; printed, it is
    what `depthlaw show` prints."""

    place: RecordSource
    known: Mapping[str, Mapping[str, str]]

    @property
    def result(self) -> ClaimResult:
        """The verdict with its cases."""
        return self.place.result

    def rows(self) -> list[dict[str, Any]]:
        """One for each case: its fields, what was measured, the verdict."""
        from ..verdicts.display import measured_side, prediction

        claim = self.result.claim
        return [
            row.case.fields()
            | {
                "measured": measured_side(claim, row),
                "stated": prediction(claim, row) if row.measured is not None else None,
                "verdict": row.verdict_name,
                "slack_log10": row.decision.slack,
            }
            for row in self.result.cases
        ]

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw show --json` prints."""
        from depthlaw.theory.claims.symbols import plain

        from ..verdicts.card import supporting
        from ..verdicts.display import judged, statement_latex
        from ..verdicts.suite_verdicts import as_json

        claim = self.result.claim
        return as_json(self.result) | {
            "supported_by": [row["key"] for row in supporting(claim.key, self.known)],
            "statement": plain(claim.statement),
            "latex": statement_latex(claim),
            "judged": judged(claim),
            "text": claim.plain.text,
            "assumes": list(claim.plain.assumes),
            "note": claim.plain.note,
        }

    def why(self) -> dict[str, Any]:
        """What the verdict rests on, as a tree: what `depthlaw why --json` prints."""
        from ..verdicts.evidence_tree import as_json, grounds

        root = self.place.store.root
        tree = grounds(self.result, self.place.judged, root if root.is_dir() else None)
        return {"records_in": str(root), "suite": self.result.suite} | as_json(tree)

    def summary(self) -> str:
        """Key and verdict."""
        from ..verdicts.suite_verdicts import marked

        return f"{self.result.claim.key} {marked(self.result)}"

    def __str__(self) -> str:
        from ..verdicts.card import card

        shown = card(self.result, self.known)
        return "\n".join([shown.heading, *(f"{name}: {text}" for name, text in shown.lead)])

    def _repr_html_(self) -> str:
        from ..notebook import result_html

        return result_html(self.result)


def show(
    key: str, *, file: str | Path | None = None, results: str | Path | None = None
) -> ClaimCard:
    """One claim with the evidence recorded so far, from your records, else from the ledger that
    comes with depthlaw: `depthlaw show`, and by `why()` `depthlaw why`.

    Args:
        key: of a claim; of a topic `claims()` knows the rows.
        file: a Python file with claims of one's own.
        results: the folder of your records.

    Raises:
        UsageError: for a topic, and for what is no key, with the nearest one.

    Cost: a second; imports SymPy.

    >>> card = show("hops/doubling")
    >>> card.result.claim.kind, card.to_json()["tier"], "measured" in card.rows()[0]
    ('identity', 'supporting', True)
    """
    from ..running.user_claims import all_claims
    from ..verdicts.record_source import evidence

    everything = None if file is None else all_claims(Path(file))
    place = evidence(claim_of(key, everything), as_path(results), everything)
    return ClaimCard(place, known_claims(everything))


def known_claims(everything: Mapping[str, Claim] | None) -> dict[str, dict[str, str]]:
    """What the index says of every claim; with those of a file of the user's."""
    return claims_index() | {k: described(c) for k, c in (everything or {}).items() if c.own}


def claim_of(key: str, everything: Mapping[str, Claim] | None = None) -> Claim:
    """The claim of a key, among all where a file of the user's adds some; a UsageError for a topic,
    and for what is no key, with the nearest one."""
    known = claims_index() if everything is None else everything
    if keys := of_topic(key, known):
        raise UsageError(
            f"{quoted(key)} is a topic of {plural(len(keys), 'claim')}; "
            f"`depthlaw show {key}` lists them; give one, such as {keys[0]}"
        )
    if key not in known:
        raise UsageError(unknown(key, known))
    from depthlaw.theory.claims.definition import find

    return find(key) if everything is None else everything[key]


def of_topic(key: str, known: Iterable[str]) -> list[str]:
    """The keys of a topic; none where there is no topic of that name."""
    return [k for k in known if k.startswith(f"{key.rstrip('/')}/")]
