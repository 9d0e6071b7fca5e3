"""The verdicts that the advisor shows beside laws, from the ledger that comes with depthlaw.

    python -m depthlaw.ledger.verdicts.advised     # write advisor/verdicts.csv again
"""
from __future__ import annotations

from depthlaw.advisor.rules import rules
from depthlaw.advisor.tasks import answer_task
from depthlaw.advisor.verdicts import FILE
from depthlaw.theory.claim import find

from ..run.records import write_file
from .report import results
from .shown import from_reference, largest_recorded_suite


def advised_verdicts() -> dict[str, str]:
    """The verdict on every claim that a rule or a task of the advisor names, by key, as the shipped
    ledger has it. What is not recorded there is left out.

    Cost: some seconds.
    """
    tasks = (answer_task("connectivity", diameter="64"), answer_task("hops", hops="5"),
             answer_task("regular", length="64"))
    named = {rule.claim for rule in rules()} | {n.claim for task in tasks for n in task.numbers}
    found = {}
    for claim in map(find, sorted(key for key in named if key)):
        if known := from_reference(claim):
            suite = largest_recorded_suite(claim, known[0])
            found[claim.key] = str(results({claim.key: claim}, suite, known[0])[0].verdict)
    return found


def main() -> None:
    """Write the file that the advisor reads."""
    rows = [f"{claim},{verdict}\n" for claim, verdict in advised_verdicts().items()]
    write_file(FILE, "".join(["claim,verdict\n", *rows]).encode())
    print(f"{FILE}: {len(rows)} verdicts")


if __name__ == "__main__":
    main()
