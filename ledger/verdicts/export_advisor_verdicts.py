"""The verdicts that the advisor shows beside laws, from the ledger that comes with depthlaw.

python -m depthlaw.ledger.verdicts.export_advisor_verdicts    # write advisor/verdicts.csv
"""

from __future__ import annotations

import csv
import io

from depthlaw.advisor.claim_verdicts import FILE
from depthlaw.advisor.rules import rules
from depthlaw.advisor.task_depths import answer_task
from depthlaw.theory.claims.definition import find

from ..records.store import write_file
from .record_source import from_reference, largest_recorded_suite
from .suite_verdicts import results


def advised_verdicts() -> dict[str, tuple[str, str]]:
    """Verdict and title of every claim that a rule or a task of the advisor names, by key, as the
    shipped ledger has it. What is not recorded there is left out.

    Cost: some seconds.
    """
    tasks = (
        answer_task("connectivity", diameter="64"),
        answer_task("hops", hops="5"),
        answer_task("regular", length="64"),
    )
    named = {rule.claim for rule in rules()} | {n.claim for task in tasks for n in task.numbers}
    verdicts = {}
    for claim in map(find, sorted(key for key in named if key)):
        if known := from_reference(claim):
            suite = largest_recorded_suite(claim, known[0])
            (judged,) = results({claim.key: claim}, suite, known[0])
            verdicts[claim.key] = str(judged.verdict), claim.plain.title
    return verdicts


def main() -> None:
    """Write the file that the advisor reads."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("claim", "verdict", "title"))
    table.writerows((claim, *verdict) for claim, verdict in advised_verdicts().items())
    write_file(FILE, text.getvalue().encode())
    print(f"{FILE} written")


if __name__ == "__main__":
    main()
