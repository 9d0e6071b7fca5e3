"""The verdicts that the advisor shows are those of the ledger that comes with depthlaw."""

from __future__ import annotations

import csv

from depthlaw.advisor.claim_verdicts import FILE, title, verdict
from depthlaw.advisor.rules import rules
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.ledger.verdicts.card import advised_verdicts


def test_the_file_holds_what_the_reference_ledger_says() -> None:
    """Where this fails: `python -m depthlaw.ledger.verdicts.card`."""
    with FILE.open(encoding="utf-8", newline="") as file:
        written = {row["claim"]: (row["verdict"], row["title"]) for row in csv.DictReader(file)}
    assert written == advised_verdicts()
    assert len(written) >= 8
    assert all((verdict(claim), title(claim)) == said for claim, said in written.items())


def test_every_claim_that_a_rule_names_exists() -> None:
    assert {rule.claim for rule in rules() if rule.claim} <= claims_index().keys()
