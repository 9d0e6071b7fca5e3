"""From records to verdicts: the report, its mutations, the falsifier, the reference ledger."""
